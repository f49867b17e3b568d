#include "step/common/memory_block.h"

#include <string.h>

void *perp_block_take(memory_block *block, size_t count, size_t size)
{
    enum { LINE = 64 };
    const size_t bytes = (count * size + LINE - 1) / LINE * LINE;
    void *place = block->memory ? block->memory + block->used : NULL;
    block->used += bytes;
    return place;
}

perp_status perp_block_hold(const perp_allocator *allocator, memory_block *block, perp_error *error)
{
    const size_t needed = block->used;
    block->used = 0;
    if (needed <= block->bytes) {
        return PERP_STATUS_OK;
    }
    perp_block_free(allocator, block);
    block->memory = allocator->allocate(allocator->context, needed);
    if (!block->memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a step with many contacts");
    }
    block->bytes = needed;
    memset(block->memory, 0, needed);
    return PERP_STATUS_OK;
}

perp_status perp_block_arrays(const perp_allocator *allocator, memory_block *block, const block_array *arrays,
                              size_t count, perp_error *error)
{
    memory_block needed = {0};
    for (size_t i = 0; i < count; i++) {
        perp_block_take(&needed, arrays[i].count, arrays[i].size);
    }
    block->used = needed.used;
    const perp_status status = perp_block_hold(allocator, block, error);
    for (size_t i = 0; i < count && status == PERP_STATUS_OK; i++) {
        void *const place = perp_block_take(block, arrays[i].count, arrays[i].size);
        memcpy(arrays[i].pointer, &place, sizeof place);
    }
    return status;
}

void perp_block_free(const perp_allocator *allocator, memory_block *block)
{
    if (block->memory) {
        allocator->release(allocator->context, block->memory);
    }
    *block = (memory_block){0};
}
