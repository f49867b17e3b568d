/* memory_block.h - a block of memory that only grows, for arrays whose sizes change from step to step. */
#ifndef PERP_SRC_STEP_MEMORY_BLOCK_H
#define PERP_SRC_STEP_MEMORY_BLOCK_H

#include <perp/base.h>

typedef struct memory_block {
    unsigned char *memory;
    size_t bytes, used;
} memory_block;

/* An array of a block: where its pointer stands, and what it is to hold. */
typedef struct block_array {
    void *pointer;
    size_t count, size;
} block_array;

#define PERP_ARRAY(array, entries)                                                                                     \
    {                                                                                                                  \
        &(array), (size_t)(entries), sizeof *(array)                                                                   \
    }

/* Makes the block hold these arrays and points them to their places. Memory that is taken for it is zero; the contents
 * stay where the block is large enough. */
perp_status perp_block_arrays(const perp_allocator *allocator, memory_block *block, const block_array *arrays,
                              size_t count, perp_error *error);
/* Laying out arrays in a block one by one takes two passes: with `memory` NULL it only counts. */
void *perp_block_take(memory_block *block, size_t count, size_t size);
/* Makes the block hold what was counted in `used`, and rewinds it; its contents are lost if it has to grow. */
perp_status perp_block_hold(const perp_allocator *allocator, memory_block *block, perp_error *error);
void perp_block_free(const perp_allocator *allocator, memory_block *block);

#endif
