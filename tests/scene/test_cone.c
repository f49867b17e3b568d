/* The friction cones: names, and the section D that their corners span. */
#include "scene/cone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const double EXACT = 4e-16; /* a few roundings of numbers about 1 */

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(perp_cone_name(PERP_CONE_UNSET), "none");
    for (int i = 0; i < PERP_CONE_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(perp_cone_name((perp_cone)i), perp_cone_name((perp_cone)j));
        }
    }
    assert_string_equal(perp_cone_name(PERP_CONE_COUNT), "unknown");
}

/* A facet is 1 at both of its corners and less at all others; the measure of a corner is 1 and grows with it. */
static void test_polygons(void **state)
{
    (void)state;
    for (int kind = 0; kind < PERP_CONE_COUNT; kind++) {
        for (int rays = 4; rays <= 12; rays += 2) {
            const perp_cone cone = (perp_cone)kind;
            const int count = perp_cone_corner_count(cone, rays);
            for (int j = 0; j < count; j++) {
                double facet[2];
                perp_cone_facet(cone, rays, j, facet);
                for (int i = 0; i < count; i++) {
                    double corner[2];
                    perp_cone_corner(cone, rays, i, corner);
                    const double on = facet[0] * corner[0] + facet[1] * corner[1];
                    if (i == j || i == (j + 1) % count) {
                        assert_true(fabs(on - 1.0) <= EXACT);
                    } else {
                        assert_true(on < 0.9);
                    }
                    const double far[2] = {3.0 * corner[0], 3.0 * corner[1]};
                    assert_true(fabs(perp_cone_measure(cone, rays, far) - 3.0) <= 3.0 * EXACT);
                }
            }
        }
    }
}

static void test_sections(void **state)
{
    (void)state;
    const double d[2] = {3.0, -4.0};
    assert_int_equal(perp_cone_corner_count(PERP_CONE_QUADRATIC, 6), 0);
    assert_int_equal(perp_cone_corner_count(PERP_CONE_RAYS, 6), 6);
    assert_int_equal(perp_cone_corner_count(PERP_CONE_BOX, 6), 4);
    assert_true(perp_cone_measure(PERP_CONE_UNSET, 4, d) == 5.0);
    assert_true(perp_cone_measure(PERP_CONE_QUADRATIC, 4, d) == 5.0);
    assert_true(perp_cone_measure(PERP_CONE_RAYS, 4, d) == 7.0);
    assert_true(perp_cone_measure(PERP_CONE_BOX, 4, d) == 4.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
