#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 20, CACHE_LINE = 64, SMALL_ALIGNMENT = 16 };

struct perp_arena_chunk {
    perp_arena_chunk *next;
    size_t size; /* usable bytes behind the header */
    size_t used;
};

static void *default_allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void default_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

perp_allocator perp_allocator_default(void)
{
    perp_allocator r = {default_allocate, default_release, NULL};
    return r;
}

void perp_arena_init(perp_arena *arena, const perp_allocator *allocator)
{
    arena->allocator = allocator ? *allocator : perp_allocator_default();
    arena->chunks = NULL;
    arena->total = 0;
    arena->limit = SIZE_MAX;
}

void perp_arena_clear(perp_arena *arena)
{
    perp_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        perp_arena_chunk *next = chunk->next;
        arena->allocator.release(arena->allocator.context, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->total = 0;
}

static void *take_from(perp_arena_chunk *chunk, size_t bytes, size_t alignment)
{
    const uintptr_t base = (uintptr_t)(chunk + 1);
    const size_t start = (size_t)(((base + chunk->used + alignment - 1) & ~(uintptr_t)(alignment - 1)) - base);
    if (start > chunk->size || chunk->size - start < bytes) {
        return NULL;
    }
    chunk->used = start + bytes;
    return (unsigned char *)(chunk + 1) + start;
}

static perp_arena_chunk *add_chunk(perp_arena *arena, size_t bytes)
{
    size_t size = arena->chunks ? 2 * arena->chunks->size : CHUNK_FIRST;
    if (size > CHUNK_LARGEST) {
        size = CHUNK_LARGEST;
    }
    if (size < bytes + CACHE_LINE) {
        size = bytes + CACHE_LINE;
    }
    const size_t whole = size + sizeof(perp_arena_chunk);
    if (whole > arena->limit || arena->total > arena->limit - whole) {
        return NULL;
    }
    perp_arena_chunk *chunk = arena->allocator.allocate(arena->allocator.context, whole);
    if (!chunk) {
        return NULL;
    }
    chunk->size = size;
    chunk->used = 0;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->total += whole;
    return chunk;
}

void *perp_arena_push(perp_arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 4) / size) {
        return NULL;
    }
    const size_t bytes = count > 0 && size > 0 ? count * size : 1;
    const size_t alignment = bytes >= CACHE_LINE ? CACHE_LINE : SMALL_ALIGNMENT;
    void *memory = arena->chunks ? take_from(arena->chunks, bytes, alignment) : NULL;
    if (!memory) {
        perp_arena_chunk *chunk = add_chunk(arena, bytes);
        if (!chunk) {
            return NULL;
        }
        memory = take_from(chunk, bytes, alignment);
    }
    memset(memory, 0, bytes);
    return memory;
}

char *perp_arena_text(perp_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        return NULL;
    }
    char *copy = perp_arena_push(arena, length + 1, 1);
    if (copy && length) {
        memcpy(copy, text, length);
    }
    return copy;
}

void *perp_arena_grow(perp_arena *arena, void *array, int count, int *capacity, size_t element_size)
{
    if (count < *capacity) {
        return array;
    }
    if (*capacity > INT32_MAX / 2) {
        return NULL;
    }
    const int larger = *capacity ? 2 * *capacity : 8;
    void *memory = perp_arena_push(arena, (size_t)larger, element_size);
    if (!memory) {
        return NULL;
    }
    if (count) {
        memcpy(memory, array, (size_t)count * element_size);
    }
    *capacity = larger;
    return memory;
}

size_t perp_workspace_bytes(size_t count, size_t size)
{
    return (count * size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

perp_status perp_workspace_init(perp_workspace *workspace, const perp_allocator *allocator, size_t size)
{
    workspace->allocator = allocator ? *allocator : perp_allocator_default();
    workspace->used = 0;
    workspace->size = 0;
    workspace->memory = workspace->allocator.allocate(workspace->allocator.context, size + CACHE_LINE);
    if (!workspace->memory) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    workspace->size = size + CACHE_LINE;
    /* Room for aligning the first push; every later one stays aligned because sizes are whole cache lines. */
    workspace->used = (size_t)(-(uintptr_t)workspace->memory & (CACHE_LINE - 1));
    return PERP_STATUS_OK;
}

void perp_workspace_free(perp_workspace *workspace)
{
    if (workspace->memory) {
        workspace->allocator.release(workspace->allocator.context, workspace->memory);
        workspace->memory = NULL;
        workspace->size = workspace->used = 0;
    }
}

void *perp_workspace_push(perp_workspace *workspace, size_t count, size_t size)
{
    const size_t bytes = perp_workspace_bytes(count, size);
    assert(bytes <= workspace->size - workspace->used);
    void *memory = workspace->memory + workspace->used;
    workspace->used += bytes;
    memset(memory, 0, bytes);
    return memory;
}
