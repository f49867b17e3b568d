/* Names to indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/name_table.h"

enum { MANY = 3000 };

static char names[MANY][24];

static void make_names(void)
{
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], i % 2 ? "link_%d" : "body-%d-with-a-tail", i);
    }
}

/* Every name that was added is found, no other one, for tables from empty to full. */
static void test_find_what_was_added(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 2, 4, 5, 8, 9, 100, MANY / 2};
    make_names();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int n = sizes[k];
        perp_arena arena;
        perp_arena_init(&arena, NULL);
        perp_name_table table;
        assert_true(perp_name_table_init(&table, &arena, (size_t)n));
        for (int i = 0; i < n; i++) {
            assert_int_equal(perp_name_table_find(&table, names[i]), -1);
            assert_int_equal(perp_name_table_add(&table, names[i], 10 * i), 10 * i);
        }
        for (int i = 0; i < n; i++) {
            char copy[24]; /* found by what it says, not by its address */
            strcpy(copy, names[i]);
            assert_int_equal(perp_name_table_find(&table, copy), 10 * i);
        }
        for (int i = n; i < MANY && i < 2 * n + 10; i++) {
            assert_int_equal(perp_name_table_find(&table, names[i]), -1);
        }
        perp_arena_clear(&arena);
    }
}

/* The load stays at most one half, so that a search always meets an empty place and ends. */
static void test_load(void **state)
{
    (void)state;
    make_names();
    for (int n = 0; n < 70; n++) {
        perp_arena arena;
        perp_arena_init(&arena, NULL);
        perp_name_table table;
        assert_true(perp_name_table_init(&table, &arena, (size_t)n));
        const size_t size = table.mask + 1;
        assert_true(size >= 2 * (size_t)n && size > 0);
        assert_int_equal(size & table.mask, 0); /* a power of two */
        perp_arena_clear(&arena);
    }
}

static void test_second_name_is_refused(void **state)
{
    (void)state;
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    perp_name_table table;
    assert_true(perp_name_table_init(&table, &arena, 4));
    char first[] = "cup", second[] = "cup";
    assert_int_equal(perp_name_table_add(&table, first, 0), 0);
    assert_int_equal(perp_name_table_add(&table, second, 3), 0); /* the index that was there before */
    assert_int_equal(perp_name_table_find(&table, "cup"), 0);
    second[0] = 'x'; /* the table kept the first key */
    assert_int_equal(perp_name_table_find(&table, "cup"), 0);
    assert_int_equal(perp_name_table_find(&table, "cu"), -1);
    assert_int_equal(perp_name_table_find(&table, "cups"), -1);
    assert_int_equal(perp_name_table_add(&table, "", 2), 2); /* the empty name is a name */
    assert_int_equal(perp_name_table_find(&table, ""), 2);
    assert_int_equal(perp_name_table_find(&table, NULL), -1);
    perp_arena_clear(&arena);
}

/* Names whose hashes fall on one place of the table are still told apart. The names are found by search: with 16 places
 * one in 16 falls on each. */
static void test_collisions(void **state)
{
    (void)state;
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    perp_name_table table;
    assert_true(perp_name_table_init(&table, &arena, 8));
    assert_int_equal(table.mask, 15);
    static char found[8][16];
    int count = 0;
    for (int i = 0; count < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        perp_hash hash = perp_hash_begin();
        perp_hash_bytes(&hash, name, strlen(name));
        if ((hash.value & 15) == 14) { /* the search runs round the end of the table */
            strcpy(found[count], name);
            assert_int_equal(perp_name_table_add(&table, found[count], count), count);
            count++;
        }
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(perp_name_table_find(&table, found[i]), i);
    }
    perp_arena_clear(&arena);
}

static void test_without_memory(void **state)
{
    (void)state;
    perp_arena arena;
    perp_arena_init(&arena, NULL);
    arena.limit = 100;
    perp_name_table table;
    assert_false(perp_name_table_init(&table, &arena, 1000));
    assert_int_equal(perp_name_table_find(&table, "cup"), -1); /* an empty table, not a broken one */
    perp_arena_clear(&arena);
    const perp_name_table none = {NULL, 0};
    assert_int_equal(perp_name_table_find(&none, "cup"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_what_was_added),    cmocka_unit_test(test_load),
        cmocka_unit_test(test_second_name_is_refused), cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
