/* The search for cells, on hyperplanes in general position: of m of them in d dimensions it is known how many faces
 * of every dimension they cut the space into. And largest values on boxes and simplices.
 *
 * Entries are random; that no d + 1 of the planes meet in one point, or nearly, holds for the seed at hand and is seen
 * by the counts. */
#include "failing_allocator.h"

#include "solver/cell_search.h"

#include <math.h>

enum { MOST = 9, DIMENSIONS = 4 };

typedef struct planes {
    double a[MOST * DIMENSIONS], b[MOST], size[MOST];
    int row[MOST], column[DIMENSIONS];
    unsigned char always[MOST];
    perp_cell_table table;
    perp_cell_choice choices[MOST];
    perp_cell_problem problem;
} planes;

/* On which side of a plane, or on it. */
static const unsigned char SIDES[3] = {PERP_CELL_BELOW, PERP_CELL_EQUAL, PERP_CELL_ABOVE};

static double chance(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void make_planes(planes *p, int m, int d, uint64_t seed)
{
    *p = (planes){.table = {.rows = m, .columns = d, .a = p->a, .b = p->b}};
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < d; j++) {
            p->a[i * d + j] = ldexp(chance(&seed), i % 5); /* rows of any size: they are scaled */
        }
        p->b[i] = ldexp(chance(&seed), i % 5);
        p->size[i] = 1.0;
        p->choices[i] = (perp_cell_choice){i, 1, 3, SIDES};
    }
    assert_true(perp_cell_scale(&p->table, p->size, p->row, p->column));
    p->problem = (perp_cell_problem){&p->table, p->always, m, p->choices};
}

typedef struct tally {
    const planes *p;
    int by_dimension[DIMENSIONS + 1];
    perp_status status; /* to return */
} tally;

/* Counts a face, and looks whether the point that came with it is on its closure. */
static perp_status note(void *context, perp_cell_dictionary *d, const int *modes)
{
    tally *t = context;
    const perp_cell_table *table = &t->p->table;
    double x[DIMENSIONS];
    int dimension = table->columns;
    assert_int_equal(perp_cell_rebuild(d), PERP_CELL_YES);
    perp_cell_point(d, x);
    for (int i = 0; i < table->rows; i++) {
        double value = table->b[i];
        for (int j = 0; j < table->columns; j++) {
            value += table->a[i * table->columns + j] * x[j];
        }
        assert_true(SIDES[modes[i]] != PERP_CELL_EQUAL || fabs(value) < 1e-10);
        assert_true(SIDES[modes[i]] != PERP_CELL_ABOVE || value > -1e-10);
        assert_true(SIDES[modes[i]] != PERP_CELL_BELOW || value < 1e-10);
        dimension -= SIDES[modes[i]] == PERP_CELL_EQUAL;
    }
    assert_true(dimension >= 0);
    t->by_dimension[dimension]++;
    return t->status;
}

static int choose(int n, int k)
{
    int value = 1;
    for (int i = 0; i < k; i++) {
        value = value * (n - i) / (i + 1);
    }
    return k > n ? 0 : value;
}

/* Of dimension k: where d - k planes meet, the others cut a space of k dimensions into sum_j C(others, j) cells. */
static int face_count(int m, int d, int k)
{
    int cells = 0;
    for (int j = 0; j <= k; j++) {
        cells += choose(m - (d - k), j);
    }
    return choose(m, d - k) * cells;
}

static perp_cell_search search_of(const planes *p, tally *t, perp_arena *arena)
{
    *t = (tally){.p = p};
    return (perp_cell_search){
        .problem = &p->problem, .max_work = INT64_MAX, .arena = arena, .found = note, .context = t};
}

static void test_faces(void **unused)
{
    (void)unused;
    for (int d = 1; d <= DIMENSIONS; d++) {
        for (int m = 0; m <= (d == DIMENSIONS ? 6 : MOST); m++) {
            planes p;
            tally t;
            perp_arena arena;
            make_planes(&p, m, d, (uint64_t)(100 * d + m));
            perp_arena_init(&arena, NULL);
            perp_cell_search s = search_of(&p, &t, &arena);
            assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_OK);
            assert_true(s.complete);
            for (int k = 0; k <= d; k++) {
                assert_int_equal(t.by_dimension[k], m < d - k ? 0 : face_count(m, d, k));
            }
            perp_arena_clear(&arena);
        }
    }
}

/* With one plane's side given in any case the faces on it and on the other side are gone. */
static void test_given(void **unused)
{
    (void)unused;
    planes p;
    tally all, half[3];
    perp_arena arena;
    make_planes(&p, 7, 3, 5);
    perp_arena_init(&arena, NULL);
    perp_cell_search s = search_of(&p, &all, &arena);
    assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_OK);
    static const unsigned char given[3] = {PERP_CELL_AT_LEAST, PERP_CELL_AT_MOST, PERP_CELL_EQUAL};
    for (int i = 0; i < 3; i++) {
        p.always[0] = given[i];
        s = search_of(&p, &half[i], &arena);
        assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_OK);
    }
    for (int k = 0; k <= 3; k++) { /* both closed halves have what lies on the plane */
        assert_int_equal(half[0].by_dimension[k] + half[1].by_dimension[k] - half[2].by_dimension[k],
                         all.by_dimension[k]);
    }
    perp_arena_clear(&arena);
}

static void test_limits(void **unused)
{
    (void)unused;
    planes p;
    tally t;
    perp_arena arena;
    make_planes(&p, 7, 3, 5);
    perp_arena_init(&arena, NULL);
    perp_cell_search s = search_of(&p, &t, &arena);
    s.max_work = 10000; /* all take 100 times that */
    assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_OK);
    assert_false(s.complete);
    const bool cancel = true;
    s = search_of(&p, &t, &arena);
    s.cancel = &cancel;
    assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_CANCELLED);
    s = search_of(&p, &t, &arena);
    t.status = PERP_STATUS_CAPACITY; /* what the caller says ends it */
    assert_int_equal(perp_cell_search_run(&s), PERP_STATUS_CAPACITY);
    assert_int_equal(t.by_dimension[0] + t.by_dimension[1] + t.by_dimension[2] + t.by_dimension[3], 1);
    perp_arena_clear(&arena);
    int refused = 0;
    for (int grants = 0; grants < 100; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        perp_arena_init(&arena, &allocator);
        s = search_of(&p, &t, &arena);
        const perp_status status = perp_cell_search_run(&s);
        perp_arena_clear(&arena);
        assert_int_equal(f.standing, 0);
        refused += status == PERP_STATUS_OUT_OF_MEMORY;
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_OUT_OF_MEMORY);
    }
    assert_true(refused > 0 && refused < 100);
}

/* ---- largest values -----------------------------------------------------------------------------------------------
 */

/* The box -1 <= x_j <= j + 1: a sum over it is largest where each term is; the corner where it is, is all that is left
 * when one stays there. Without one side it has no end, and a function that would have to leave the box has no point.
 */
static void test_largest(void **unused)
{
    (void)unused;
    enum { N = 3 };
    double a[2 * N * N] = {0}, b[2 * N], x[N];
    perp_cell_table table = {.rows = 2 * N, .columns = N, .a = a, .b = b};
    perp_cell_dictionary d;
    perp_arena arena;
    int64_t work = 0;
    for (int j = 0; j < N; j++) {
        a[2 * j * N + j] = 1.0;
        b[2 * j] = 1.0;
        a[(2 * j + 1) * N + j] = -1.0;
        b[2 * j + 1] = j + 1;
    }
    perp_arena_init(&arena, NULL);
    assert_true(perp_cell_dictionary_create(&d, &table, &work, &arena));
    for (int corner = 0; corner < 1 << N; corner++) {
        double weights[N];
        perp_cell_dictionary_start(&d);
        for (int i = 0; i < 2 * N; i++) {
            assert_int_equal(perp_cell_ask(&d, i, PERP_CELL_AT_LEAST), PERP_CELL_YES);
        }
        for (int j = 0; j < N; j++) {
            weights[j] = (corner >> j & 1) ? 0.5 + j : -2.0;
        }
        assert_int_equal(perp_cell_largest(&d, weights, true), PERP_CELL_YES);
        perp_cell_point(&d, x);
        for (int j = 0; j < N; j++) {
            assert_true(fabs(x[j] - ((corner >> j & 1) ? j + 1 : -1)) < 1e-12);
            assert_true(perp_cell_is_constant(&d, 2 * j));
        }
        /* where it is at one end of a side the other end is not reached any more */
        assert_int_equal(perp_cell_ask(&d, (corner & 1) ? 0 : 1, PERP_CELL_EQUAL), PERP_CELL_NO);
    }
    perp_cell_dictionary_start(&d);
    for (int i = 1; i < 2 * N; i++) {
        assert_int_equal(perp_cell_ask(&d, i, PERP_CELL_AT_LEAST), PERP_CELL_YES);
    }
    const double out[N] = {-1.0, 0.0, 0.0}, in[N] = {1.0, 0.0, 0.0};
    assert_int_equal(perp_cell_largest(&d, in, false), PERP_CELL_YES);
    assert_int_equal(perp_cell_largest(&d, out, false), PERP_CELL_WITHOUT_END);
    assert_int_equal(perp_cell_can_be_positive(&d, 0, -1.0), PERP_CELL_YES); /* x_0 below -1 */
    assert_int_equal(perp_cell_can_be_positive(&d, 2, -1.0), PERP_CELL_NO);
    perp_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
