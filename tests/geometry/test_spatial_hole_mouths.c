/* A hole turned upside down is the same hole: what it has at one mouth it has at the other. Names and angles there. */
#include "geometry/spatial_hole.h"
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

/* A box that lies across a mouth touches the face of the plate at that mouth. */
static void faces_have_their_names(void **state)
{
    (void)state;
    const perp_spatial_shape hole = hole_of(1, 1.5);
    for (int mouth = 0; mouth < 2; mouth++) {
        const perp_spatial_shape box = {.kind = PERP_SPATIAL_BOX,
                                        .position = {0, 0, mouth == 1 ? 0.95 : -0.95},
                                        .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                        .half_lengths = {2, 2, 0.1}};
        const perp_manifold m = perp_spatial_manifold_build(&box, &hole, INFINITY);
        assert_true(m.count >= 4);
        for (int i = 0; i < m.count; i++) {
            assert_true(fabs(m.points[i].at.phi - 0.1) <= 1e-9);
            const perp_vec3 p = m.points[i].at.point_a;
            if (hypot(p.x, p.y) > 1.1) { /* not on the rim */
                assert_int_equal(m.points[i].feature_b, perp_feature(PERP_FEATURE_FACE, mouth));
            }
        }
    }
}

/* A pin that leans in y: the points of its end that are level with the end's middle lie beside that in x. */
static void ends_of_a_leaning_pin(void **state)
{
    (void)state;
    const perp_spatial_shape pin = {.kind = PERP_SPATIAL_CYLINDER, .radius = 0.3, .half_length = 1};
    const spatial_hole_pair pair = {.x = &pin, .turn = {{1, 0, 0, 0, 0.8, 0.6, 0, -0.6, 0.8}}, .at = {0.1, 0.2, 0}};
    double angles[2];
    assert_int_equal(perp_spatial_hole_end_angles(&pair, 1, angles), 2);
    assert_true(fabs(angles[0] - atan2(0.8, 0.4)) <= 1e-15 && fabs(angles[1] - atan2(0.8, -0.2)) <= 1e-15);
    assert_int_equal(perp_spatial_hole_end_angles(&pair, -1, angles), 2);
    assert_true(fabs(angles[0] - atan2(-0.4, 0.4)) <= 1e-15 && fabs(angles[1] - atan2(-0.4, -0.2)) <= 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(upside_down), cmocka_unit_test(faces_have_their_names),
                                       cmocka_unit_test(ends_of_a_leaning_pin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
