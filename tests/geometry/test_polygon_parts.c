/* Convex parts: they tile the polygon, use its edges once, and are few. */
#include <perp/geometry.h>

#include "geometry/polygon_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

enum { MAX = PERP_POLYGON_MAX_CORNERS };
static const double two_pi = 6.283185307179586;
static int starts[MAX], indices[3 * MAX];

static perp_status split(const perp_vec3 *p, int n, perp_polygon_parts *parts)
{
    *parts = (perp_polygon_parts){.starts = starts, .corners = indices};
    void *scratch = malloc(perp_polygon_split_scratch(n) + 1); /* exactly, so that sanitizers see an overrun */
    const perp_status status = perp_polygon_split(p, n, scratch, parts, NULL);
    free(scratch);
    return status;
}

static double cross(perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static double area(const perp_vec3 *p, const int *list, int n)
{
    double sum = 0.0;
    for (int i = 1; i + 1 < n; i++) {
        sum += list ? cross(p[list[0]], p[list[i]], p[list[i + 1]]) : cross(p[0], p[i], p[i + 1]);
    }
    return sum / 2.0;
}

static bool inside(const perp_vec3 *p, const int *list, int n, double x, double y)
{
    bool in = false;
    for (int i = 0; i < n; i++) {
        const perp_vec3 a = p[list ? list[i] : i], b = p[list ? list[(i + 1) % n] : (i + 1) % n];
        if ((a.y > y) != (b.y > y) && x < a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y)) {
            in = !in;
        }
    }
    return in;
}

static double size_of(const perp_vec3 *p, int n, perp_vec3 *low, perp_vec3 *high)
{
    *low = *high = p[0];
    for (int i = 1; i < n; i++) {
        low->x = fmin(low->x, p[i].x), low->y = fmin(low->y, p[i].y);
        high->x = fmax(high->x, p[i].x), high->y = fmax(high->y, p[i].y);
    }
    return fmax(high->x - low->x, high->y - low->y);
}

/* Convex, with positive area; every edge that joins neighbours of the polygon is used once, every other one twice. */
static void check_edges(const perp_vec3 *p, int n, const perp_polygon_parts *parts, double size)
{
    int *uses = calloc((size_t)n, sizeof *uses);
    int outer = 0, inner = 0;
    for (int k = 0; k < parts->count; k++) {
        const int *list = &indices[starts[k]], m = starts[k + 1] - starts[k];
        assert_true(m >= 3 && area(p, list, m) > 0.0);
        for (int i = 0; i < m; i++) {
            const int u = list[i], v = list[(i + 1) % m], w = list[(i + 2) % m];
            assert_true(cross(p[u], p[v], p[w]) >=
                        -1e-13 * size * size); /* bends of 1e-14, and this product's rounding */
            if ((u + 1) % n == v || (v + 1) % n == u) {
                uses[(u + 1) % n == v ? u : v]++;
                outer++;
            } else {
                inner++;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(uses[i], 1);
    }
    assert_int_equal(outer, n);
    assert_int_equal(inner, 2 * (parts->count - 1)); /* parts joined by diagonals make a tree */
    free(uses);
}

static int check(const perp_vec3 *p, int n, int points)
{
    perp_polygon_parts parts;
    perp_vec3 low, high;
    assert_int_equal(split(p, n, &parts), PERP_STATUS_OK);
    const double size = size_of(p, n, &low, &high), whole = fabs(area(p, NULL, n));
    check_edges(p, n, &parts, size);
    double sum = 0.0;
    int reflex = 0;
    const double sense = area(p, NULL, n) > 0 ? 1 : -1;
    for (int i = 0; i < n; i++) {
        reflex += sense * cross(p[i], p[(i + 1) % n], p[(i + 2) % n]) < -1e-15 * size * size;
    }
    for (int k = 0; k < parts.count; k++) {
        sum += area(p, &indices[starts[k]], starts[k + 1] - starts[k]);
    }
    assert_true(fabs(sum - whole) <= 1e-12 * whole);
    perp_random random = {(uint64_t)n};
    for (int i = 0; i < points; i++) { /* a random point is on an edge with probability 0 */
        const double x = perp_random_uniform(&random, low.x, high.x), y = perp_random_uniform(&random, low.y, high.y);
        int in = 0;
        for (int k = 0; k < parts.count; k++) {
            in += inside(p, &indices[starts[k]], starts[k + 1] - starts[k], x, y);
        }
        assert_int_equal(in, inside(p, NULL, n, x, y));
    }
    /* At least reflex / 2 + 1 parts are needed; at most 4 times as many may be used. */
    assert_true(parts.count <= 4 * ((reflex + 1) / 2 + 1) && parts.count <= 2 * reflex + 1 + n / 1000);
    return parts.count;
}

static int check_both_ways(perp_vec3 *p, int n, int points)
{
    const int parts = check(p, n, points);
    for (int i = 0; i < n / 2; i++) {
        const perp_vec3 swap = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = swap;
    }
    check(p, n, points);
    return parts;
}

static void convex_is_one_part(void **state)
{
    (void)state;
    static perp_vec3 p[MAX];
    for (int n = 3; n <= MAX; n = n * 3 / 2 + 1) {
        for (int i = 0; i < n; i++) {
            p[i] = perp_vec3_make(3 + 2 * cos(two_pi * i / n), sin(two_pi * i / n), 0);
        }
        assert_int_equal(check_both_ways(p, n, 20), 1);
    }
    perp_vec3 square[12]; /* with corners along its sides */
    for (int i = 0; i < 12; i++) {
        const double x[5] = {0, 1, 1, 0, 0}, y[5] = {0, 0, 1, 1, 0}, s = (i % 3) / 3.0;
        const int k = i / 3;
        square[i] = perp_vec3_make(x[k] + s * (x[k + 1] - x[k]), y[k] + s * (y[k + 1] - y[k]), 0);
    }
    assert_int_equal(check_both_ways(square, 12, 100), 1);
}

static void small_shapes(void **state)
{
    (void)state;
    perp_vec3 ell[] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}};
    perp_vec3 cup[] = {{0, 0, 0}, {3, 0, 0}, {3, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
    perp_vec3 dart[] = {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {0.5, 1, 0}};
    perp_vec3 plus[] = {{1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {3, 1, 0}, {3, 2, 0}, {2, 2, 0},
                        {2, 3, 0}, {1, 3, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}, {1, 1, 0}};
    assert_int_equal(check_both_ways(ell, 6, 1000), 2);
    assert_int_equal(check_both_ways(dart, 4, 1000), 2);
    assert_true(check_both_ways(cup, 8, 1000) <= 4);   /* 3 at best */
    assert_true(check_both_ways(plus, 12, 1000) <= 5); /* 3 at best */
}

static void stars_combs_spirals(void **state)
{
    (void)state;
    static perp_vec3 p[MAX];
    for (int n = 10; n <= MAX; n = n < MAX && n * 5 > MAX ? MAX : n * 5) {
        for (int i = 0; i < n; i++) {
            const double r = i & 1 ? 0.4 : 1.0;
            p[i] = perp_vec3_make(r * cos(two_pi * i / n), r * sin(two_pi * i / n), 0);
        }
        check_both_ways(p, n, 200);
        for (int i = 0; i < n - 2; i++) { /* a comb: teeth on a bar, their feet collinear */
            p[i] = perp_vec3_make(n - i, i & 1 ? 3 : 1, 0);
        }
        p[n - 2] = perp_vec3_make(2, 0, 0);
        p[n - 1] = perp_vec3_make(n, 0, 0);
        check_both_ways(p, n, 200);
        for (int i = 0; i < n / 2; i++) { /* a spiral of three turns, out along one side and back along the other */
            const double t = 3 * two_pi * i / (n / 2), r = 0.3 + t;
            p[i] = perp_vec3_make((r + 1.5) * cos(t), (r + 1.5) * sin(t), 0);
            p[n - 1 - i] = perp_vec3_make(r * cos(t), r * sin(t), 0);
        }
        if (n >= 50) {
            check_both_ways(p, n, 200);
        }
        if (n == MAX) {
            break;
        }
    }
}

static bool segments_meet(perp_vec3 a, perp_vec3 b, perp_vec3 c, perp_vec3 d)
{
    return (cross(a, b, c) > 0) != (cross(a, b, d) > 0) && (cross(c, d, a) > 0) != (cross(c, d, b) > 0);
}

/* Random points joined at random, then uncrossed: each reversal shortens the tour, so it ends. */
static void random_simple(perp_vec3 *p, int n, perp_random *random)
{
    for (int i = 0; i < n; i++) {
        p[i] = perp_vec3_make(perp_random_uniform(random, -5, 5), perp_random_uniform(random, -5, 5), 0);
    }
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < n; i++) {
            for (int j = i + 2; j < n; j++) {
                if ((j + 1) % n != i && segments_meet(p[i], p[i + 1], p[j], p[(j + 1) % n])) {
                    for (int u = i + 1, v = j; u < v; u++, v--) {
                        const perp_vec3 swap = p[u];
                        p[u] = p[v];
                        p[v] = swap;
                    }
                    again = true;
                }
            }
        }
    }
}

static void random_polygons(void **state)
{
    (void)state;
    static perp_vec3 p[MAX];
    perp_random random = {11};
    for (int i = 0; i < 400; i++) {
        const int n = 3 + i % 90;
        random_simple(p, n, &random);
        check_both_ways(p, n, 100);
    }
    for (int i = 0; i < 40; i++) { /* round an inner point, radii at random: many long thin ears */
        const int n = 10 + 50 * i;
        for (int k = 0; k < n && k < MAX; k++) {
            const double r = perp_random_uniform(&random, 0.1, 1.0);
            p[k] = perp_vec3_make(1e3 + r * cos(two_pi * k / n), r * sin(two_pi * k / n), 0);
        }
        check_both_ways(p, n < MAX ? n : MAX, 50);
    }
}

/* Corners put on a concave polygon's edges: collinear but for rounding, which bends them in or out at random. */
static void nearly_collinear(void **state)
{
    (void)state;
    const perp_vec3 cup[] = {{0, 0, 0}, {3, 0, 0}, {3, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
    static perp_vec3 p[MAX];
    perp_random random = {12};
    for (int i = 0; i < 200; i++) {
        const double angle = perp_random_uniform(&random, 0, two_pi), c = cos(angle), s = sin(angle);
        const int per_edge = 1 + i % 12, n = 8 * per_edge;
        for (int k = 0; k < n; k++) {
            const perp_vec3 u = cup[k / per_edge], v = cup[(k / per_edge + 1) % 8];
            const double t = (double)(k % per_edge) / per_edge, x = u.x + t * (v.x - u.x), y = u.y + t * (v.y - u.y);
            p[k] = perp_vec3_make(c * x - s * y + 1.0 / 3, s * x + c * y, 0);
        }
        perp_polygon_parts parts;
        assert_int_equal(split(p, n, &parts), PERP_STATUS_OK);
        check_edges(p, n, &parts, 3.0);
        assert_true(parts.count <= 5); /* 2 reflex corners: rounding costs no parts, */
        for (int k = 0; k < parts.count; k++) {
            assert_true(area(p, &indices[starts[k]], starts[k + 1] - starts[k]) > 0.1); /* and makes no slivers */
        }
    }
}

static void refusals(void **state)
{
    (void)state;
    perp_polygon_parts parts;
    static perp_vec3 p[MAX + 1];
    perp_vec3 line[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, bad[] = {{0, 0, 0}, {1, 0, 0}, {NAN, 1, 0}};
    perp_vec3 bow[] = {{0, 0, 0}, {2, 2, 0}, {2, 0, 0}, {0, 2, 0}};
    assert_int_equal(split(line, 2, &parts), PERP_STATUS_BAD_INPUT);
    assert_int_equal(split(line, 3, &parts), PERP_STATUS_BAD_INPUT);
    assert_int_equal(split(bad, 3, &parts), PERP_STATUS_BAD_INPUT);
    assert_int_equal(split(bow, 4, &parts), PERP_STATUS_BAD_INPUT);
    assert_int_equal(split(p, 4, &parts), PERP_STATUS_BAD_INPUT);
    assert_int_equal(split(p, MAX + 1, &parts), PERP_STATUS_CAPACITY);
    assert_int_equal(parts.count, 0);
    perp_random random = {13};
    for (int i = 0; i < 2000; i++) { /* crossing at random: an answer or a refusal, never an overrun */
        const int n = 3 + i % 30;
        for (int k = 0; k < n; k++) {
            p[k] =
                perp_vec3_make(floor(perp_random_uniform(&random, 0, 6)), floor(perp_random_uniform(&random, 0, 6)), 0);
        }
        const perp_status status = split(p, n, &parts);
        assert_true(status == PERP_STATUS_OK || (status == PERP_STATUS_BAD_INPUT && parts.count == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_is_one_part), cmocka_unit_test(small_shapes),     cmocka_unit_test(stars_combs_spirals),
        cmocka_unit_test(random_polygons),    cmocka_unit_test(nearly_collinear), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
