/* Broad phase: equal to comparing every box with every other, whatever the workspace saw before; filters; order;
 * limits; memory. Everything is compared exactly: no arithmetic stands between a box and its pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/geometry.h>

enum { MAX_BOXES = 300, MAX_PAIRS = MAX_BOXES * MAX_BOXES / 2, MAX_EXCLUDED = 200 };

typedef struct scene {
    int count, excluded_count;
    perp_broad_phase_box boxes[MAX_BOXES];
    perp_index_pair excluded[MAX_EXCLUDED];
} scene;

/* ---- an allocator that counts, and fails at request number `fail_at` (from 0; -1: never) --------------------------
 */

typedef struct counting {
    int requests, fail_at, live;
} counting;

static void *counting_allocate(void *context, size_t size)
{
    counting *c = context;
    if (c->requests++ == c->fail_at) {
        return NULL;
    }
    void *memory = malloc(size);
    assert_non_null(memory);
    memset(memory, 0xa5, size);
    c->live++;
    return memory;
}

static void counting_release(void *context, void *memory)
{
    assert_non_null(memory);
    ((counting *)context)->live--;
    free(memory);
}

/* ---- the reference ------------------------------------------------------------------------------------------------
 */

static bool overlap(const perp_broad_phase_box *a, const perp_broad_phase_box *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool is_excluded(const scene *s, int a, int b)
{
    for (int k = 0; k < s->excluded_count; k++) {
        const perp_index_pair e = s->excluded[k];
        if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) {
            return true;
        }
    }
    return false;
}

/* In the order that the result promises. */
static int brute_force(const scene *s, perp_index_pair *pairs)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        for (int j = i + 1; j < s->count; j++) {
            const perp_broad_phase_box *a = &s->boxes[i], *b = &s->boxes[j];
            if (overlap(a, b) && a->body != b->body && !(a->fixed && b->fixed) && !is_excluded(s, a->body, b->body)) {
                pairs[count++] = (perp_index_pair){i, j};
            }
        }
    }
    return count;
}

static perp_status find(perp_broad_phase *w, const scene *s, perp_broad_phase_result *result, perp_error *error)
{
    return perp_broad_phase_find(w, s->boxes, s->count, s->excluded, s->excluded_count, result, error);
}

static perp_broad_phase_result assert_as_brute_force(perp_broad_phase *w, const scene *s)
{
    static perp_index_pair expected[MAX_PAIRS];
    const int count = brute_force(s, expected);
    perp_broad_phase_result result;
    assert_int_equal(find(w, s, &result, NULL), PERP_STATUS_OK);
    assert_int_equal(result.count, count);
    if (count > 0) {
        assert_memory_equal(result.pairs, expected, (size_t)count * sizeof *expected);
    }
    return result;
}

static perp_broad_phase *workspace_of(const perp_allocator *allocator)
{
    perp_broad_phase *w;
    assert_int_equal(perp_broad_phase_create(NULL, allocator, &w, NULL), PERP_STATUS_OK);
    return w;
}

/* ---- random scenes ------------------------------------------------------------------------------------------------
 */

typedef enum kind {
    UNIFORM,
    CLUSTERED,
    MIXED_SIZES, /* 1 mm to 10 m */
    LATTICE,     /* small whole numbers: faces, edges and corners meet exactly, boxes without thickness */
    IDENTICAL,   /* all the same box */
    POINTS,      /* no size at all, on few places */
    FLAT,        /* one axis degenerate: planar scenes */
    UNBOUNDED,   /* some coordinates infinite */
    EXTREME,     /* sums and differences of the coordinates overflow, or are subnormal */
    KINDS
} kind;

static double uniform(perp_random *random, double low, double high)
{
    return perp_random_uniform(random, low, high);
}

static int below(perp_random *random, int limit)
{
    return (int)(perp_random_bits(random) % (uint64_t)limit);
}

/* One coordinate's interval. */
static void interval(kind k, perp_random *random, double size, double *low, double *high)
{
    static const double extremes[] = {-1.7e308, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-310, 1.0, 1e300, 1.7e308};
    double a = uniform(random, 0.0, 4.0);
    double b = a + size * uniform(random, 0.5, 1.0);
    if (k == CLUSTERED) {
        const double shift = 100.0 * below(random, 2) - 0.8 * a; /* eight clusters, each 1.2 m wide */
        a += shift;
        b += shift;
    } else if (k == LATTICE || k == POINTS) {
        a = below(random, k == POINTS ? 5 : 8);
        b = k == POINTS ? a : a + below(random, 3);
    } else if (k == IDENTICAL) {
        a = 1.0;
        b = 2.0;
    } else if (k == UNBOUNDED && below(random, 40) == 0) {
        a = below(random, 2) ? -INFINITY : a;
        b = below(random, 2) ? INFINITY : b;
    } else if (k == EXTREME) {
        a = extremes[below(random, 10)];
        b = extremes[below(random, 10)];
    }
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

static void fill_box(kind k, perp_random *random, perp_broad_phase_box *box)
{
    const double size = k == MIXED_SIZES ? pow(10.0, uniform(random, -3.0, 1.0)) : uniform(random, 0.1, 1.0);
    interval(k, random, size, &box->low.x, &box->high.x);
    interval(k, random, size, &box->low.y, &box->high.y);
    interval(k, random, size, &box->low.z, &box->high.z);
    if (k == FLAT) {
        box->low.y = box->high.y = 0.0;
    }
}

static int by_pair(const void *x, const void *y)
{
    const perp_index_pair *a = x, *b = y;
    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

/* Ascending pairs without repetition, many of them of boxes that are near. */
static void fill_excluded(scene *s, perp_random *random, int wanted)
{
    perp_index_pair all[MAX_EXCLUDED];
    int count = 0;
    for (int k = 0; k < wanted && s->count > 0; k++) {
        const int a = s->boxes[below(random, s->count)].body, b = s->boxes[below(random, s->count)].body;
        if (a != b) {
            all[count++] = (perp_index_pair){a < b ? a : b, a < b ? b : a};
        }
    }
    qsort(all, (size_t)count, sizeof *all, by_pair);
    s->excluded_count = 0;
    for (int k = 0; k < count; k++) {
        if (k == 0 || by_pair(&all[k - 1], &all[k]) < 0) {
            s->excluded[s->excluded_count++] = all[k];
        }
    }
}

/* Compounds share a body; the world (-1) and bodies with index 3 mod 5 are fixed in every other scene. */
static void fill_scene(scene *s, kind k, perp_random *random, int count)
{
    const int bodies = 1 + count / (1 + below(random, 3));
    const bool some_fixed = below(random, 2), filtered = below(random, 2);
    s->count = count;
    for (int i = 0; i < count; i++) {
        perp_broad_phase_box *box = &s->boxes[i];
        fill_box(k, random, box);
        box->body = below(random, bodies + 1) - 1;
        box->fixed = some_fixed && (box->body < 0 || box->body % 5 == 3);
    }
    fill_excluded(s, random, filtered ? below(random, MAX_EXCLUDED) : 0);
}

static int random_count(perp_random *random)
{
    return below(random, 4) == 0 ? below(random, MAX_BOXES + 1) : below(random, 40);
}

/* ---- tests ---------------------------------------------------------------------------------------------------------
 */

/* A new workspace and one that has seen all scenes before, for each. */
static void test_random_scenes(void **state)
{
    (void)state;
    static scene s;
    perp_random random = {11};
    perp_broad_phase *old = workspace_of(NULL);
    int64_t pairs[KINDS] = {0};
    for (int trial = 0; trial < 1000 * KINDS; trial++) {
        const kind k = (kind)(trial % KINDS);
        fill_scene(&s, k, &random, random_count(&random));
        perp_broad_phase *fresh = workspace_of(NULL);
        pairs[k] += assert_as_brute_force(fresh, &s).count;
        assert_as_brute_force(old, &s);
        perp_broad_phase_free(fresh);
    }
    for (int k = 0; k < KINDS; k++) {
        assert_true(pairs[k] > 10000); /* no kind is empty talk */
    }
    perp_broad_phase_free(old);
}

/* A moving scene: small steps keep the tree, jumps make it slow and then new; boxes become unbounded and bounded
 * again, bodies fixed and free, the filter changes; always the answer of a workspace without a past. */
static void test_history_does_not_show(void **state)
{
    (void)state;
    static scene s;
    perp_random random = {12};
    int kept = 0, rebuilt = 0;
    for (int trial = 0; trial < 60; trial++) {
        perp_broad_phase *w = workspace_of(NULL);
        fill_scene(&s, trial % 2 ? MIXED_SIZES : UNIFORM, &random, 50 + below(&random, 150));
        for (int step = 0; step < 40; step++) {
            const perp_broad_phase_result result = assert_as_brute_force(w, &s);
            kept += !result.rebuilt;
            rebuilt += result.rebuilt;
            for (int i = 0; i < s.count; i++) {
                const double reach = step % 10 == 9 ? 3.0 : 0.02;
                const perp_vec3 d = perp_vec3_make(uniform(&random, -reach, reach), uniform(&random, -reach, reach),
                                                   uniform(&random, -reach, reach));
                s.boxes[i].low = perp_vec3_add(s.boxes[i].low, d);
                s.boxes[i].high = perp_vec3_add(s.boxes[i].high, d);
            }
            if (step % 7 == 6) { /* as many bounded boxes as before, but others */
                const int i = below(&random, s.count), j = below(&random, s.count);
                s.boxes[i].high.z = INFINITY;
                s.boxes[j].high = isfinite(s.boxes[j].low.x) ? perp_vec3_add(s.boxes[j].low, perp_vec3_make(1, 1, 1))
                                                             : s.boxes[j].high;
                s.boxes[i].fixed = !s.boxes[i].fixed;
                fill_excluded(&s, &random, 50);
            }
        }
        perp_broad_phase_free(w);
    }
    assert_true(kept > 60 * 20);
    assert_true(rebuilt > 2 * 60); /* beyond the first search of each, so the jumps were noticed */
}

/* A tree of old places must not cost more than the allowance over a new one. */
static void test_slow_tree_is_replaced(void **state)
{
    (void)state;
    static scene s;
    perp_random random = {13};
    perp_broad_phase *w = workspace_of(NULL);
    fill_scene(&s, UNIFORM, &random, MAX_BOXES);
    assert_true(assert_as_brute_force(w, &s).rebuilt);
    assert_false(assert_as_brute_force(w, &s).rebuilt);
    for (int i = 0; i < s.count; i++) { /* every box somewhere else */
        fill_box(UNIFORM, &random, &s.boxes[i]);
    }
    const perp_broad_phase_result moved = assert_as_brute_force(w, &s);
    assert_true(moved.rebuilt);
    perp_broad_phase *fresh = workspace_of(NULL);
    assert_true(assert_as_brute_force(fresh, &s).tests == moved.tests);
    perp_broad_phase_free(fresh);
    const perp_vec3 low = s.boxes[5].low;
    s.boxes[5].low.z = -INFINITY;
    assert_true(assert_as_brute_force(w, &s).rebuilt);
    s.boxes[5].low = low; /* else it would be compared with all others for ever */
    assert_true(assert_as_brute_force(w, &s).rebuilt);
    perp_broad_phase_free(w);
}

/* Boxes in another order: the same pairs under their new names. */
static void test_permutation(void **state)
{
    (void)state;
    static scene s, t;
    static perp_index_pair renamed[MAX_PAIRS];
    perp_random random = {14};
    perp_broad_phase *w = workspace_of(NULL), *v = workspace_of(NULL);
    for (int trial = 0; trial < 300; trial++) {
        int name[MAX_BOXES];
        fill_scene(&s, (kind)(trial % KINDS), &random, random_count(&random));
        t = s;
        for (int i = 0; i < s.count; i++) {
            const int j = below(&random, i + 1);
            name[i] = i;
            name[i] = name[j];
            name[j] = i;
        }
        for (int i = 0; i < s.count; i++) {
            t.boxes[name[i]] = s.boxes[i];
        }
        perp_broad_phase_result a, b;
        assert_int_equal(find(w, &s, &a, NULL), PERP_STATUS_OK);
        assert_int_equal(find(v, &t, &b, NULL), PERP_STATUS_OK);
        assert_int_equal(a.count, b.count);
        for (int k = 0; k < a.count; k++) {
            const int i = name[a.pairs[k].a], j = name[a.pairs[k].b];
            renamed[k] = (perp_index_pair){i < j ? i : j, i < j ? j : i};
        }
        qsort(renamed, (size_t)a.count, sizeof *renamed, by_pair);
        if (a.count > 0) {
            assert_memory_equal(renamed, b.pairs, (size_t)a.count * sizeof *renamed);
        }
    }
    perp_broad_phase_free(w);
    perp_broad_phase_free(v);
}

static perp_broad_phase_box box_of(double low, double high, int body, bool fixed)
{
    perp_broad_phase_box r = {{low, low, low}, {high, high, high}, body, fixed};
    return r;
}

static void test_by_hand(void **state)
{
    (void)state;
    static scene s;
    perp_broad_phase *w = workspace_of(NULL);
    s.count = 0;
    assert_int_equal(assert_as_brute_force(w, &s).count, 0);
    s.boxes[s.count++] = box_of(-INFINITY, 0.0, -1, true); /* 0: a fixed half-space, closed at 0 */
    assert_int_equal(assert_as_brute_force(w, &s).count, 0);
    s.boxes[s.count++] = box_of(0.0, 1.0, 4, false);               /* 1: touches 0 and 2 */
    s.boxes[s.count++] = box_of(1.0, 1.0, 2, false);               /* 2: a point, a corner of 1 and of 3 */
    s.boxes[s.count++] = box_of(1.0, 2.0, 4, false);               /* 3: of the body of 1 */
    s.boxes[s.count++] = box_of(-1.0, 2.0, 9, true);               /* 4: fixed, so not with 0 */
    s.boxes[s.count++] = box_of(nextafter(2.0, 3.0), 3, 5, false); /* 5: misses 3 and 4 by one bit */
    s.excluded[0] = (perp_index_pair){4, 9};
    s.excluded_count = 1;
    const perp_index_pair expected[] = {{0, 1}, {1, 2}, {2, 3}, {2, 4}};
    const perp_broad_phase_result result = assert_as_brute_force(w, &s);
    assert_int_equal(result.count, 4);
    assert_memory_equal(result.pairs, expected, sizeof expected);
    perp_broad_phase_free(w);
}

/* Scale invariance of the cost: a body that fell away does not change how the others are searched. */
static void test_outlier_costs_nothing(void **state)
{
    (void)state;
    static scene s;
    perp_random random = {15};
    perp_broad_phase *w = workspace_of(NULL);
    fill_scene(&s, UNIFORM, &random, MAX_BOXES);
    const int64_t before = assert_as_brute_force(w, &s).tests;
    s.boxes[0].low = perp_vec3_make(-1e9, -1e9, -1e9);
    s.boxes[0].high = perp_vec3_make(-1e9, -1e9, -1e9);
    perp_broad_phase *v = workspace_of(NULL);
    const int64_t after = assert_as_brute_force(v, &s).tests;
    assert_true(4 * after < 5 * before); /* a few nodes more; a grid over the range would put all into one cell */
    perp_broad_phase_free(w);
    perp_broad_phase_free(v);
}

static void test_bad_input(void **state)
{
    (void)state;
    static scene s, good;
    perp_random random = {16};
    perp_broad_phase *w = workspace_of(NULL);
    perp_broad_phase_result result;
    fill_scene(&good, UNIFORM, &random, 30);
    good.excluded[0] = (perp_index_pair){0, 1};
    good.excluded[1] = (perp_index_pair){0, 2};
    good.excluded_count = 2;
    for (int bad = 0; bad < 12; bad++) {
        s = good;
        double *const coordinates[] = {&s.boxes[17].low.x,  &s.boxes[17].low.y,  &s.boxes[17].low.z,
                                       &s.boxes[17].high.x, &s.boxes[17].high.y, &s.boxes[17].high.z};
        if (bad < 6) {
            *coordinates[bad] = NAN;
        } else if (bad < 9) {
            *coordinates[bad - 3] = nextafter(*coordinates[bad - 6], -INFINITY);
        } else if (bad == 9) {
            s.excluded[1] = s.excluded[0]; /* repeated */
        } else if (bad == 10) {
            s.excluded[1] = (perp_index_pair){-1, 3}; /* not ascending */
        } else {
            s.excluded[1] = (perp_index_pair){2, 1}; /* turned */
        }
        perp_error error = {0};
        assert_int_equal(find(w, &s, &result, &error), PERP_STATUS_BAD_INPUT);
        assert_int_equal(error.status, PERP_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.message, bad < 9 ? "box 17" : "excluded pair 1"));
        assert_int_equal(result.count, 0);
        assert_as_brute_force(w, &good);
    }
    perp_broad_phase_free(w);
}

static void test_capacity(void **state)
{
    (void)state;
    static scene s;
    static perp_index_pair expected[MAX_PAIRS];
    perp_random random = {17};
    for (int trial = 0; trial < 200; trial++) {
        fill_scene(&s, trial % 2 ? UNIFORM : UNBOUNDED, &random, random_count(&random));
        const int count = brute_force(&s, expected);
        for (int spare = -1; spare <= 0 && count + spare >= 0; spare++) {
            const perp_broad_phase_settings settings = {count + spare};
            perp_broad_phase *w;
            perp_broad_phase_result result;
            perp_error error = {0};
            assert_int_equal(perp_broad_phase_create(&settings, NULL, &w, NULL), PERP_STATUS_OK);
            if (trial % 3 == 0) { /* room beyond the limit does not lift it */
                assert_int_equal(perp_broad_phase_reserve(w, 0, count + 1, NULL), PERP_STATUS_OK);
            }
            for (int again = 0; again < 2; again++) {
                const perp_status status = find(w, &s, &result, &error);
                assert_int_equal(status, spare < 0 ? PERP_STATUS_CAPACITY : PERP_STATUS_OK);
                assert_int_equal(result.count, spare < 0 ? 0 : count);
                assert_int_equal(error.status, status);
            }
            s.count = spare < 0 && s.count > 1 ? 1 : s.count; /* after the error a smaller scene is answered */
            assert_int_equal(find(w, &s, &result, NULL), PERP_STATUS_OK);
            perp_broad_phase_free(w);
            if (s.count == 1) {
                break;
            }
        }
    }
}

/* Each request for memory fails once: a typed error, the old workspace intact, nothing leaked; and at last success. */
static void test_out_of_memory(void **state)
{
    (void)state;
    static scene small, large;
    perp_random random = {18};
    fill_scene(&small, UNIFORM, &random, 20);
    fill_scene(&large, UNIFORM, &random, MAX_BOXES);
    small.excluded_count = large.excluded_count = 0;
    int failures = 0;
    for (bool failed = true; failed; failures++) {
        counting c = {0, failures, 0};
        const perp_allocator allocator = {counting_allocate, counting_release, &c};
        const scene *const scenes[] = {&small, &large};
        perp_broad_phase *w;
        perp_broad_phase_result result;
        perp_error error = {0};
        failed = perp_broad_phase_create(NULL, &allocator, &w, &error) != PERP_STATUS_OK;
        if (failed) {
            assert_null(w);
        }
        for (int k = 0; k < 2 && w; k++) {
            if (find(w, scenes[k], &result, &error) != PERP_STATUS_OK) {
                failed = true;
                assert_int_equal(result.count, 0);
                assert_as_brute_force(w, scenes[k]); /* the next request is granted */
            }
        }
        if (w && perp_broad_phase_reserve(w, 2 * MAX_BOXES, 50000, &error) != PERP_STATUS_OK) {
            failed = true;
            assert_as_brute_force(w, &large);
        }
        if (failed) {
            assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
        }
        perp_broad_phase_free(w);
        assert_int_equal(c.live, 0);
    }
    assert_true(failures > 6); /* the workspace; twice boxes and pairs; the reserve's two; and the success */
}

static void test_steady_state_takes_no_memory(void **state)
{
    (void)state;
    static scene s;
    perp_random random = {19};
    counting c = {0, -1, 0};
    const perp_allocator allocator = {counting_allocate, counting_release, &c};
    perp_broad_phase *w = workspace_of(&allocator);
    assert_int_equal(perp_broad_phase_reserve(w, MAX_BOXES, MAX_PAIRS, NULL), PERP_STATUS_OK);
    const int reserved = c.requests;
    for (int trial = 0; trial < 200; trial++) { /* any scene within what was reserved, rebuilds included */
        fill_scene(&s, (kind)(trial % KINDS), &random, random_count(&random));
        assert_false(assert_as_brute_force(w, &s).grew);
    }
    assert_int_equal(c.requests, reserved);
    perp_broad_phase_free(w);

    w = workspace_of(&allocator); /* nothing reserved: the first search takes memory and says so, repeats do not */
    fill_scene(&s, UNIFORM, &random, 200);
    assert_true(assert_as_brute_force(w, &s).grew);
    const int taken = c.requests;
    for (int step = 0; step < 50; step++) {
        assert_false(assert_as_brute_force(w, &s).grew);
    }
    assert_int_equal(c.requests, taken);
    for (int i = 0; i < 201; i++) { /* one box more, no pairs: that is said as well */
        s.boxes[i].low = s.boxes[i].high = perp_vec3_make(i, 0, 0);
    }
    s.count = 201;
    assert_true(assert_as_brute_force(w, &s).grew);
    assert_int_equal(c.requests, taken + 1);
    s.count = 202; /* grown by half as much again, so the next one fits */
    assert_false(assert_as_brute_force(w, &s).grew);
    perp_broad_phase_free(w);
    perp_broad_phase_free(NULL);
    assert_int_equal(c.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scenes),
        cmocka_unit_test(test_history_does_not_show),
        cmocka_unit_test(test_slow_tree_is_replaced),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_outlier_costs_nothing),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_steady_state_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
