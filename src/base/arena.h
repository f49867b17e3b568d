/* arena.h - memory that is given back all at once, and fixed workspaces that never grow.
 *
 * Invariant of an arena: everything pushed stays at its address until perp_arena_clear. So a scene or a model is one
 * arena: building it is many pushes, freeing it is one clear, and a failure half-way leaks nothing.
 *
 * Invariant of a workspace: the block is allocated once, from a size computed beforehand; pushing never allocates.
 * Running over the end is a caller's bug (the sizing function and the user disagree) and asserts.
 */
#ifndef PERP_SRC_BASE_ARENA_H
#define PERP_SRC_BASE_ARENA_H

#include <perp/base.h>

typedef struct perp_arena_chunk perp_arena_chunk;

typedef struct perp_arena {
    perp_allocator allocator;
    perp_arena_chunk *chunks; /* newest first */
    size_t total;             /* bytes taken from the allocator */
    size_t limit;             /* refuse to grow beyond this many bytes; SIZE_MAX: no limit */
} perp_arena;

/* `allocator` NULL: malloc. Takes no memory yet. */
void perp_arena_init(perp_arena *arena, const perp_allocator *allocator);
void perp_arena_clear(perp_arena *arena);

/* count * size zeroed bytes, aligned to 64 (a cache line, so that arrays never share one by accident of order) if the
 * request is that large, else 16. NULL on overflow, at the limit, or when the allocator has none. count = 0 returns a
 * valid, unusable address. */
void *perp_arena_push(perp_arena *arena, size_t count, size_t size);
#define PERP_ARENA_NEW(arena, type, count) ((type *)perp_arena_push((arena), (count), sizeof(type)))

/* A copy of `length` bytes with a terminating zero; NULL as above. */
char *perp_arena_text(perp_arena *arena, const char *text, size_t length);

/* Makes room for one more element in a growable array that lives in the arena and returns the array: when `count` has
 * reached `*capacity` it moves to a block twice as large (the old one stays in the arena until that is cleared). NULL
 * without room; the array is then as it was. */
void *perp_arena_grow(perp_arena *arena, void *array, int count, int *capacity, size_t element_size);

typedef struct perp_workspace {
    unsigned char *memory;
    size_t size;
    size_t used;
    perp_allocator allocator;
} perp_workspace;

/* Bytes that one push of `count` elements of `size` takes, for sizing. */
size_t perp_workspace_bytes(size_t count, size_t size);
perp_status perp_workspace_init(perp_workspace *workspace, const perp_allocator *allocator, size_t size);
void perp_workspace_free(perp_workspace *workspace);
void *perp_workspace_push(perp_workspace *workspace, size_t count, size_t size);

#endif
