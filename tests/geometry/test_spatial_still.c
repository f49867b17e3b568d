/* Manifolds whose points stand still: perp_spatial_manifold_still. */
#include "geometry/spatial_mirror.h"
#include "geometry/spatial_still.h"
#include "spatial_manifold_test.h"

static const double DEPTH = 1e-3, RADIUS = 0.1;

static body standing(double tilt, double azimuth)
{
    const perp_quat lean = perp_quat_from_axis_angle(vec(cos(azimuth), sin(azimuth), 0), tilt);
    return cylinder(vec(0, 0, 0.05 - DEPTH), lean, 0.1, RADIUS);
}

/* As long as the end overlaps as a whole, the same points as untilted, of gaps that change as their places do: by no
 * more than the tilt times the radius, the rest being of second order; and the same whichever shape is a. */
static void names_stay(void **state)
{
    (void)state;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    const body table = box(vec(0, 0, -0.5), perp_quat_identity(), 1, 1, 1),
               disc = cylinder(vec(0, 0, -0.5), about_z(0.1), 1, 0.3);
    const perp_spatial_shape *const others[] = {&plane, &table.shape, &disc.shape};
    for (int k = 0; k < 3; k++) {
        const body upright = standing(0, 0);
        const perp_manifold level = perp_spatial_manifold_still(&upright.shape, others[k], INFINITY);
        assert_int_equal(level.count, k == 0 ? 6 : 8);
        for (int i = 0; i < 200; i++) {
            const double tilt = DEPTH / RADIUS * pow(10, -6.0 * i / 200) / 2, azimuth = 0.37 * i;
            const body c = standing(tilt, azimuth);
            const perp_manifold m = perp_spatial_manifold_still(&c.shape, others[k], INFINITY),
                                w = perp_spatial_manifold_still(others[k], &c.shape, INFINITY);
            assert_int_equal(m.count, level.count);
            assert_int_equal(w.count, level.count);
            for (int p = 0; p < m.count; p++) {
                assert_int_equal(m.points[p].feature_a, level.points[p].feature_a);
                assert_int_equal(m.points[p].feature_b, level.points[p].feature_b);
                NEAR(m.points[p].at.phi, -DEPTH, 1.01 * tilt * RADIUS + 1e-12);
                int same = 0;
                for (int q = 0; q < w.count; q++) {
                    same += w.points[q].feature_b == m.points[p].feature_a &&
                            w.points[q].feature_a == m.points[p].feature_b &&
                            fabs(w.points[q].at.phi - m.points[p].at.phi) <= 1e-9;
                }
                assert_int_equal(same, 1);
            }
        }
    }
}

/* Where fewer than three overlap, where nothing does, and of shapes whose points all stand still: the others, and
 * beside the lowest point of an end on a plane the fixed place that it is at, 1e-9 m being what that is worth. */
static void else_as_ever(void **state)
{
    (void)state;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    const body table = box(vec(0, 0, -0.5), perp_quat_identity(), 1, 1, 1),
               cases[] = {cylinder(vec(0, 0, 0.06), about_x(0.1), 0.1, RADIUS),
                          cylinder(vec(0, 0, 0.06), about_y(1e-3), 0.1, RADIUS),
                          box(vec(0, 0, 0.049), about_y(1e-4), 0.2, 0.2, 0.1),
                          cylinder(vec(0, 0, 0.099), about_x(pi / 2), 0.1, RADIUS)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 2; k++) {
            const perp_spatial_shape *other = k == 0 ? &plane : &table.shape;
            const perp_manifold m = perp_spatial_manifold_still(&cases[i].shape, other, INFINITY),
                                n = perp_spatial_manifold_build(&cases[i].shape, other, INFINITY);
            int more = 0;
            for (int p = 0; p < m.count; p++) {
                const int q = p - more;
                if (q < n.count && m.points[p].feature_a == n.points[q].feature_a) {
                    NEAR(m.points[p].at.phi, n.points[q].at.phi, 0);
                } else {
                    NEAR(m.points[p].at.phi, perp_manifold_least_gap(&n), 1e-9);
                    more++;
                }
            }
            assert_int_equal(m.count, n.count + more);
            assert_int_equal(more, i < 2 && k == 0 ? 1 : 0); /* about x and y the lowest point is at a place */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay),
        cmocka_unit_test(else_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
