/* Hulls by an oracle: of points and rays that are known, those come back that no others make up.
 *
 * Tolerance 1e-9: what an oracle answers is exact here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/polyhedron_hull.h"

enum { N_MOST = 6, COUNT_MOST = 80 };

static const double CLOSE = 1e-9;

static uint64_t seed;

static double chance(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

/* Points first, then rays. */
typedef struct known {
    int n, points, rays;
    double x[COUNT_MOST][N_MOST];
    int asked;
} known;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

static perp_polyhedron_answer farthest(void *context, const double *direction, double *x)
{
    known *s = context;
    int best = 0;
    s->asked++;
    for (int i = 0; i < s->rays; i++) {
        if (dot(s->n, direction, s->x[s->points + i]) > 1e-12) {
            memcpy(x, s->x[s->points + i], (size_t)s->n * sizeof *x);
            return PERP_POLYHEDRON_RAY;
        }
    }
    for (int i = 1; i < s->points; i++) {
        best = dot(s->n, direction, s->x[i]) > dot(s->n, direction, s->x[best]) ? i : best;
    }
    memcpy(x, s->x[best], (size_t)s->n * sizeof *x);
    return PERP_POLYHEDRON_POINT;
}

static perp_polyhedron find(known *s, const double *start, perp_arena *arena)
{
    const perp_polyhedron_oracle oracle = {s->n, s, farthest};
    perp_polyhedron hull;
    bool complete;
    perp_arena_init(arena, NULL);
    assert_int_equal(perp_polyhedron_find(&oracle, start, arena, &hull, &complete), PERP_STATUS_OK);
    assert_true(complete);
    for (int i = 0; i < s->points + s->rays; i++) { /* no facet cuts anything off */
        for (int f = 0; f < hull.facet_count; f++) {
            const double *a = hull.facets + (ptrdiff_t)f * (s->n + 1);
            assert_true(dot(s->n, a, s->x[i]) <= (i < s->points ? a[s->n] : 0.0) + CLOSE);
        }
    }
    return hull;
}

static bool is_among(int n, const double *list, int count, const double *x)
{
    for (int i = 0; i < count; i++) {
        double far = 0.0;
        for (int k = 0; k < n; k++) {
            far = fmax(far, fabs(list[(ptrdiff_t)i * n + k] - x[k]));
        }
        if (far < CLOSE) {
            return true;
        }
    }
    return false;
}

/* Points of a sphere in a flat of d dimensions are all vertices; those inside are not. */
static void test_points(void **unused)
{
    (void)unused;
    seed = 1;
    for (int d = 1; d <= 4; d++) {
        for (int round = 0; round < 8; round++) {
            known s = {.n = d + round % 3, .points = d == 1 ? 2 : 12};
            double frame[4][N_MOST], middle[N_MOST];
            const int shell = s.points;
            for (int k = 0; k < s.n; k++) {
                middle[k] = chance(-3, 3);
                for (int i = 0; i < d; i++) {
                    frame[i][k] = chance(-1, 1);
                }
            }
            for (int i = 0; i < s.points; i++) {
                double y[4], size = 0.0;
                for (int k = 0; k < d; k++) {
                    y[k] = d == 1 ? (i == 0 ? 1.0 : -1.0) : chance(-1, 1);
                    size += y[k] * y[k];
                }
                for (int k = 0; k < s.n; k++) {
                    s.x[i][k] = middle[k];
                    for (int j = 0; j < d; j++) {
                        s.x[i][k] += y[j] / sqrt(size) * frame[j][k];
                    }
                }
            }
            for (int i = 0; i < 5; i++, s.points++) { /* half-way to the middle */
                for (int k = 0; k < s.n; k++) {
                    s.x[s.points][k] = 0.5 * (s.x[i % shell][k] + s.x[(i + 1) % shell][k]);
                }
            }
            perp_arena arena;
            const perp_polyhedron hull = find(&s, s.x[shell], &arena);
            assert_int_equal(hull.dimensions, d);
            assert_int_equal(hull.vertex_count, shell);
            assert_int_equal(hull.ray_count, 0);
            for (int i = 0; i < shell; i++) {
                assert_true(is_among(s.n, hull.vertices, hull.vertex_count, s.x[i]));
            }
            perp_arena_clear(&arena);
        }
    }
}

/* A cube: 8 vertices, 6 facets; started from its middle, which is not one. */
static void test_cube(void **unused)
{
    (void)unused;
    known s = {.n = 3, .points = 8};
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            s.x[i][k] = i >> k & 1 ? 2.0 : -1.0;
        }
    }
    perp_arena arena;
    const perp_polyhedron hull = find(&s, (const double[3]){0.5, 0.5, 0.5}, &arena);
    assert_int_equal(hull.vertex_count, 8);
    assert_int_equal(hull.facet_count, 6);
    assert_true(s.asked < 60);
    perp_arena_clear(&arena);
}

/* A square with a ray up and a line across it: a strip without end, of two edges; what a ray makes needless is gone,
 * and vertices have nothing of the line. */
static void test_rays_and_lines(void **unused)
{
    (void)unused;
    known s = {.n = 4,
               .points = 4,
               .rays = 4,
               .x = {{1, 1, 5, 0},
                     {-1, 1, 5, 0},
                     {1, -1, 5, 0},
                     {-1, -1, 5, 0},
                     {0, 0, 2, 0},
                     {0, 0, 0, 3},
                     {0, 0, 0, -3},
                     {0, 0, 2, 1}}};
    perp_arena arena;
    const perp_polyhedron hull = find(&s, s.x[0], &arena);
    assert_int_equal(hull.dimensions, 4);
    assert_int_equal(hull.vertex_count, 4);
    assert_int_equal(hull.ray_count, 3);
    assert_true(is_among(4, hull.rays, 3, (const double[4]){0, 0, 1, 0}));
    assert_true(is_among(4, hull.rays, 3, (const double[4]){0, 0, 0, 1}));
    assert_true(is_among(4, hull.rays, 3, (const double[4]){0, 0, 0, -1}));
    perp_arena_clear(&arena);
    known all = {.n = 2, .points = 1, .rays = 3, .x = {{7, 7}, {1, 0}, {-1, 1}, {-1, -2}}}; /* the whole plane */
    const perp_polyhedron plane = find(&all, all.x[0], &arena);
    assert_int_equal(plane.facet_count, 0);
    assert_int_equal(plane.vertex_count, 1);
    assert_int_equal(plane.ray_count, 4);
    perp_arena_clear(&arena);
}

static void test_contains(void **unused)
{
    (void)unused;
    known wedge = {.n = 2, .points = 1, .rays = 2, .x = {{0, 0}, {1, 1}, {1, -1}}};
    known inside = {.n = 2, .points = 2, .rays = 1, .x = {{1, 0}, {2, 1.5}, {1, 0.5}}};
    known across = {.n = 2, .points = 2, .rays = 0, .x = {{1, 0}, {1, 1.0 + 1e-5}}};
    known steep = {.n = 2, .points = 1, .rays = 1, .x = {{1, 0}, {1, 1.0 + 1e-5}}};
    perp_arena arenas[4];
    const perp_polyhedron a = find(&wedge, wedge.x[0], &arenas[0]), b = find(&inside, inside.x[0], &arenas[1]),
                          c = find(&across, across.x[0], &arenas[2]), d = find(&steep, steep.x[0], &arenas[3]);
    assert_true(perp_polyhedron_contains(&a, &b) && perp_polyhedron_contains(&a, &a));
    assert_false(perp_polyhedron_contains(&b, &a) || perp_polyhedron_contains(&a, &c) ||
                 perp_polyhedron_contains(&a, &d));
    for (int i = 0; i < 4; i++) {
        perp_arena_clear(&arenas[i]);
    }
}

static perp_polyhedron_answer in_trouble(void *context, const double *direction, double *x)
{
    int *left = context;
    (void)direction;
    memset(x, 0, 2 * sizeof *x);
    x[0] = 1.0 / (1.0 + *left);
    return (*left)-- > 0 ? PERP_POLYHEDRON_POINT : PERP_POLYHEDRON_TROUBLE;
}

/* What the oracle cannot say is not called complete. */
static void test_trouble(void **unused)
{
    (void)unused;
    for (int answers = 0; answers < 4; answers++) {
        int left = answers;
        const perp_polyhedron_oracle oracle = {2, &left, in_trouble};
        perp_arena arena;
        perp_polyhedron hull;
        bool complete = true;
        perp_arena_init(&arena, NULL);
        assert_int_equal(perp_polyhedron_find(&oracle, (const double[2]){0, 0}, &arena, &hull, &complete),
                         PERP_STATUS_OK);
        assert_false(complete);
        perp_arena_clear(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),   cmocka_unit_test(test_cube),    cmocka_unit_test(test_rays_and_lines),
        cmocka_unit_test(test_contains), cmocka_unit_test(test_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
