/* slice.h - arrays cut from one block of memory, or pushed on a workspace. A function that cuts is asked once to count
 * and once to give, so that the two cannot disagree. */
#ifndef PERP_SRC_SOLVER_SLICE_H
#define PERP_SRC_SOLVER_SLICE_H

#include "base/arena.h"

typedef struct perp_slice {
    unsigned char *memory; /* NULL: count only */
    size_t bytes;
} perp_slice;

/* `count` elements, at the start of a cache line. */
static inline void *perp_slice_cut(perp_slice *s, size_t count, size_t size)
{
    void *start = s->memory ? s->memory + s->bytes : NULL;
    s->bytes += (count * size + 63) / 64 * 64;
    return start;
}

/* Arrays of doubles, of one length each. */
static inline void perp_slice_cut_each(perp_slice *s, size_t length, size_t count, double **const arrays[])
{
    for (size_t k = 0; k < count; k++) {
        *arrays[k] = perp_slice_cut(s, length, sizeof(double));
    }
}

typedef struct perp_sizer {
    perp_workspace *memory; /* NULL: count only */
    size_t bytes;
} perp_sizer;

static inline void *perp_sizer_take(perp_sizer *s, size_t count, size_t size)
{
    s->bytes += perp_workspace_bytes(count, size);
    return s->memory ? perp_workspace_push(s->memory, count, size) : NULL;
}

#endif
