/* A hole turned upside down is the same hole: what it has at one mouth it has at the other. */
#include "spatial_hole_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static int by_gap(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* The gaps of a manifold, ascending. */
static int gaps_of(const body *b, const perp_spatial_shape *hole, double *gaps)
{
    perp_spatial_shape x = b->shape;
    x.hull = &b->hull;
    const perp_manifold m = perp_spatial_manifold_build(&x, hole, INFINITY);
    for (int i = 0; i < m.count; i++) {
        gaps[i] = m.points[i].at.phi;
        for (int k = 0; k < i; k++) { /* names occur once */
            assert_true(m.points[i].feature_a != m.points[k].feature_a ||
                        m.points[i].feature_b != m.points[k].feature_b);
        }
    }
    qsort(gaps, (size_t)m.count, sizeof *gaps, by_gap);
    return m.count;
}

static void upside_down(void **state)
{
    (void)state;
    perp_random random = {29};
    const perp_spatial_shape hole = hole_of(1, 1.5);
    const perp_spatial_shape turned = hole_at((perp_pose){about(1, 0, 0, pi), vec(0, 0, 0)}, 1, 1.5);
    int compared = 0;
    for (int i = 0; i < 2000; i++) {
        body b = random_shape(&random, i % 6);
        double p[PERP_MANIFOLD_MAX], q[PERP_MANIFOLD_MAX];
        const int count = gaps_of(&b, &hole, p);
        if (count != gaps_of(&b, &turned, q)) {
            fail_msg("case %d: %d points, and upside down another number", i, count);
        }
        for (int k = 0; k < count; k++) {
            if (!(fabs(p[k] - q[k]) <= 1e-9)) {
                fail_msg("case %d: gap %d is %.12g, and upside down %.12g", i, k, p[k], q[k]);
            }
            compared++;
        }
        drop(&b);
    }
    assert_true(compared > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(upside_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
