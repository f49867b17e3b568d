/* Arenas and workspaces: alignment, zeroing, limits, overflow, and an allocator that fails at each request in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "failing_allocator.h"

/* ---- an unkind allocator ------------------------------------------------------------------------------------------
 * A failing_allocator (which hands out rubbish) whose memory stands at an address that is 16 mod 64, so that an arena
 * which relies on lucky alignment shows. */
typedef struct unkind {
    failing_allocator source;
    size_t bytes; /* asked for and granted, ever */
} unkind;

static void *unkind_allocate(void *context, size_t size)
{
    unkind *u = context;
    unsigned char *block = failing_allocate(&u->source, size + 144);
    if (!block) {
        return NULL;
    }
    unsigned char *line = block + (64 - (uintptr_t)block % 64); /* 1 to 64 bytes on */
    memcpy(line, &block, sizeof block);
    u->bytes += size;
    return line + 16;
}

static void unkind_release(void *context, void *memory)
{
    unkind *u = context;
    assert_non_null(memory); /* the contract: never NULL */
    unsigned char *block;
    memcpy(&block, (unsigned char *)memory - 16, sizeof block);
    failing_release(&u->source, block);
}

static perp_allocator unkind_allocator(unkind *u)
{
    perp_allocator r = {unkind_allocate, unkind_release, u};
    return r;
}

static bool all_bytes(const void *memory, size_t size, unsigned char value)
{
    const unsigned char *p = memory;
    for (size_t i = 0; i < size; i++) {
        if (p[i] != value) {
            return false;
        }
    }
    return true;
}

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

/* Every block is zeroed and aligned, and stays what the caller made of it until the end: blocks never overlap and never
 * move. */
static void test_push_aligned_zeroed_disjoint(void **state)
{
    (void)state;
    enum { BLOCKS = 600 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_arena arena;
    perp_arena_init(&arena, &allocator);
    assert_int_equal(u.source.requests, 0); /* takes no memory yet */
    perp_random random = {1};
    for (int i = 0; i < BLOCKS; i++) {
        const size_t size = i < 200 ? (size_t)i : (size_t)(perp_random_bits(&random) % 3000);
        unsigned char *block = perp_arena_push(&arena, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (size >= 64 ? 64 : 16), 0);
        assert_true(all_bytes(block, size, 0));
        memset(block, i % 251 + 1, size);
        blocks[i] = block;
        sizes[i] = size;
    }
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(all_bytes(blocks[i], sizes[i], (unsigned char)(i % 251 + 1)));
    }
    assert_int_equal(arena.total, u.bytes);
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
    assert_int_equal(arena.total, 0);
}

/* Chunks double from 4 KiB to 1 MiB (9 of them, 2 MiB in all) and then stay at 1 MiB, so n bytes take at most
 * 9 + n / 1 MiB requests (and one for what a chunk's end wastes); a single larger request gets a chunk of its own. */
static void test_growth(void **state)
{
    (void)state;
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_arena arena;
    perp_arena_init(&arena, &allocator);
    for (int i = 0; i < 5 * 1024; i++) {
        assert_non_null(perp_arena_push(&arena, 1, 1024));
    }
    assert_true(u.source.requests >= 5 && u.source.requests <= 9 + 5 + 1);
    assert_true(u.bytes < 2u * 5 * 1024 * 1024 + (1u << 20));
    const int before = u.source.requests;
    double *large = PERP_ARENA_NEW(&arena, double, 1 << 18); /* 2 MiB */
    assert_non_null(large);
    assert_int_equal((uintptr_t)large % 64, 0);
    assert_int_equal(u.source.requests, before + 1);
    large[0] = large[(1 << 18) - 1] = 1.0; /* the sanitizer watches the ends */
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
    assert_non_null(perp_arena_push(&arena, 1, 8)); /* a cleared arena can be used again */
    perp_arena_clear(&arena);
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
}

/* A request of about a chunk's size: the chunk must have room for aligning it too. */
static void test_push_as_large_as_a_chunk(void **state)
{
    (void)state;
    for (size_t size = 4096 - 200; size < 4096 + 200; size++) {
        unkind u = {.source = {.grants = INT_MAX}};
        const perp_allocator allocator = unkind_allocator(&u);
        perp_arena arena;
        perp_arena_init(&arena, &allocator);
        unsigned char *block = perp_arena_push(&arena, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        block[size - 1] = 1;
        perp_arena_clear(&arena);
        assert_int_equal(u.source.standing, 0);
    }
}

static void test_limit(void **state)
{
    (void)state;
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_arena arena;
    perp_arena_init(&arena, &allocator);
    arena.limit = 20000; /* room for the chunks of 4096 and 8192 and their headers, not for one of 16384 more */
    int pushed = 0;
    while (pushed < 1000 && perp_arena_push(&arena, 1, 100)) {
        pushed++;
        assert_true(arena.total <= arena.limit);
    }
    /* Blocks of 100 bytes stand on cache lines, so 128 each: 12288 / 128 = 96, less one that a chunk's end may lose. */
    assert_in_range(pushed, 94, 96);
    assert_int_equal(u.source.requests, 2); /* a refusal asks nobody */
    assert_null(perp_arena_push(&arena, 1, 30000));
    arena.limit = 60000;
    assert_non_null(perp_arena_push(&arena, 1, 30000)); /* the refusals left it sound */
    assert_true(arena.total <= arena.limit);
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
}

static void test_overflow(void **state)
{
    (void)state;
    static const size_t requests[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX, SIZE_MAX}, {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX / 8 + 2, 8}, {SIZE_MAX, 1}, {1, SIZE_MAX},
    };
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_arena arena;
    perp_arena_init(&arena, &allocator);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        assert_null(perp_arena_push(&arena, requests[i][0], requests[i][1]));
    }
    assert_null(perp_arena_text(&arena, "", SIZE_MAX));
    assert_null(perp_arena_text(&arena, "", SIZE_MAX - 1));
    assert_int_equal(u.source.requests, 0);
    void *none = perp_arena_push(&arena, 0, 8), *empty = perp_arena_push(&arena, 8, 0);
    assert_non_null(none); /* count 0: an address, not a failure */
    assert_non_null(empty);
    assert_non_null(perp_arena_push(&arena, SIZE_MAX, 0));
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
}

static void test_text(void **state)
{
    (void)state;
    perp_arena arena;
    perp_arena_init(&arena, NULL); /* malloc */
    char *copy = perp_arena_text(&arena, "a\0bcd", 4);
    assert_memory_equal(copy, "a\0bc", 5); /* four bytes and the zero that ends them */
    char *empty = perp_arena_text(&arena, NULL, 0);
    assert_string_equal(empty, "");
    perp_arena_clear(&arena);
}

static void test_grow(void **state)
{
    (void)state;
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_arena arena;
    perp_arena_init(&arena, &allocator);
    int *array = NULL, capacity = 0, moves = 0;
    for (int count = 0; count < 1000; count++) {
        const int before = capacity;
        int *grown = perp_arena_grow(&arena, array, count, &capacity, sizeof *array);
        assert_non_null(grown);
        assert_true(capacity > count);
        if (before > count) {
            assert_ptr_equal(grown, array); /* there was room */
            assert_int_equal(capacity, before);
        } else {
            assert_true(before == 0 || capacity == 2 * before);
            assert_true(all_bytes(grown + count, (size_t)(capacity - count) * sizeof *grown, 0));
            moves++;
        }
        array = grown;
        array[count] = 7 * count;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(array[i], 7 * i);
    }
    assert_in_range(moves, 2, 10); /* doubling: at most log2(1000) */

    int full = INT32_MAX / 2 + 1; /* twice this is not an int */
    assert_null(perp_arena_grow(&arena, array, full, &full, 1));
    assert_int_equal(full, INT32_MAX / 2 + 1);
    perp_arena_clear(&arena);
    assert_int_equal(u.source.standing, 0);
}

/* Builds something of everything; false at the first NULL. */
static bool build(perp_arena *arena)
{
    int capacity = 0;
    double *array = NULL;
    for (int i = 0; i < 300; i++) {
        double *grown = perp_arena_grow(arena, array, i, &capacity, sizeof *array);
        if (!grown || !perp_arena_push(arena, 3, 100) || !perp_arena_text(arena, "text", 4)) {
            return false;
        }
        array = grown;
        array[i] = i;
    }
    return perp_arena_push(arena, 1, 3 << 20) != NULL;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    int failures = 0;
    for (int fail_at = 0;; fail_at++) {
        unkind u = {.source = {.grants = fail_at, .once = true}};
        const perp_allocator allocator = unkind_allocator(&u);
        perp_arena arena;
        perp_arena_init(&arena, &allocator);
        const bool built = build(&arena);
        assert_int_equal(built, u.source.requests <= fail_at); /* NULL from the allocator is NULL for the caller */
        if (!built) {
            failures++;
            assert_non_null(perp_arena_push(&arena, 1, 16)); /* and the arena is still sound */
        }
        assert_int_equal(arena.total, u.bytes);
        perp_arena_clear(&arena);
        assert_int_equal(u.source.standing, 0);
        if (built) {
            break;
        }
    }
    assert_true(failures >= 5); /* chunks of 4, 8, 16, 32, 64 KiB hold the 100 KB that are asked for, and 3 MiB */
}

/* ---- workspaces -------------------------------------------------------------------------------------------------- */

/* The sum of perp_workspace_bytes is exactly what the pushes take, wherever the allocator put the block. */
static void test_workspace(void **state)
{
    (void)state;
    static const size_t requests[][2] = {{1, 1}, {0, 8}, {8, 8}, {9, 8}, {3, 100}, {1, 64}, {7, 24}};
    enum { COUNT = sizeof requests / sizeof *requests };
    unkind u = {.source = {.grants = INT_MAX}};
    const perp_allocator allocator = unkind_allocator(&u);
    size_t size = 0;
    for (int i = 0; i < COUNT; i++) {
        const size_t bytes = perp_workspace_bytes(requests[i][0], requests[i][1]);
        assert_int_equal(bytes % 64, 0);
        assert_true(bytes >= requests[i][0] * requests[i][1]);
        assert_true(bytes < requests[i][0] * requests[i][1] + 64);
        size += bytes;
    }
    perp_workspace workspace;
    assert_int_equal(perp_workspace_init(&workspace, &allocator, size), PERP_STATUS_OK);
    unsigned char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const size_t bytes = requests[i][0] * requests[i][1];
        blocks[i] = perp_workspace_push(&workspace, requests[i][0], requests[i][1]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        assert_true(all_bytes(blocks[i], bytes, 0));
        memset(blocks[i], i + 1, bytes);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_true(all_bytes(blocks[i], requests[i][0] * requests[i][1], (unsigned char)(i + 1)));
    }
    assert_int_equal(u.source.requests, 1); /* pushing never allocates */
    assert_true(workspace.size - workspace.used < 64);
    perp_workspace_free(&workspace);
    perp_workspace_free(&workspace); /* harmless */
    assert_int_equal(u.source.standing, 0);
}

static void test_workspace_without_memory(void **state)
{
    (void)state;
    unkind u = {.source = {.grants = 0, .once = true}};
    const perp_allocator allocator = unkind_allocator(&u);
    perp_workspace workspace;
    assert_int_equal(perp_workspace_init(&workspace, &allocator, 1000), PERP_STATUS_OUT_OF_MEMORY);
    perp_workspace_free(&workspace);
    assert_int_equal(u.source.standing, 0);
    assert_int_equal(perp_workspace_init(&workspace, NULL, 0), PERP_STATUS_OK); /* malloc; nothing to push */
    perp_workspace_free(&workspace);
}

static void test_default_allocator(void **state)
{
    (void)state;
    const perp_allocator allocator = perp_allocator_default();
    unsigned char *memory = allocator.allocate(allocator.context, 100);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 16, 0);
    memset(memory, 1, 100);
    allocator.release(allocator.context, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_aligned_zeroed_disjoint),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_push_as_large_as_a_chunk),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_workspace_without_memory),
        cmocka_unit_test(test_default_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
