/* Hulls: closed forms for boxes and spheres, identities for random points, refusals, lack of memory. */
#include <perp/geometry_hull.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"

static double volume_of(const perp_hull *hull)
{
    double volume = 0.0;
    for (int i = 0; i < hull->triangle_count; i++) {
        const int *t = &hull->triangles[3 * i];
        volume += perp_vec3_dot(perp_vec3_cross(hull->points[t[0]], hull->points[t[1]]), hull->points[t[2]]) / 6.0;
    }
    return volume;
}

/* Largest distance by which a point lies outside a triangle's plane; slivers, which have no plane, are passed over. */
static double outside(const perp_hull *hull, const perp_vec3 *points, int count)
{
    double worst = 0.0;
    for (int i = 0; i < hull->triangle_count; i++) {
        const int *t = &hull->triangles[3 * i];
        const perp_vec3 a = hull->points[t[0]];
        const perp_vec3 normal =
            perp_vec3_cross(perp_vec3_sub(hull->points[t[1]], a), perp_vec3_sub(hull->points[t[2]], a));
        const double size = perp_vec3_norm(normal);
        for (int k = 0; k < count && size > 1e-9; k++) {
            worst = fmax(worst, perp_vec3_dot(normal, perp_vec3_sub(points[k], a)) / size);
        }
    }
    return worst;
}

/* Euler: a triangulated sphere has F = 2 V - 4, and every directed edge has its opposite exactly once. */
static void check_closed(const perp_hull *hull)
{
    assert_int_equal(hull->triangle_count, 2 * hull->point_count - 4);
    for (int i = 0; i < hull->triangle_count; i++) {
        for (int e = 0; e < 3; e++) {
            const int a = hull->triangles[3 * i + e], b = hull->triangles[3 * i + (e + 1) % 3];
            int opposite = 0;
            for (int j = 0; j < 3 * hull->triangle_count; j++) {
                const int next = j % 3 == 2 ? j - 2 : j + 1;
                opposite += hull->triangles[j] == b && hull->triangles[next] == a;
            }
            assert_int_equal(opposite, 1);
        }
    }
}

static perp_vec3 random_point(perp_random *random, double size)
{
    const double x = perp_random_uniform(random, -size, size), y = perp_random_uniform(random, -size, size);
    return perp_vec3_make(x, y, perp_random_uniform(random, -size, size));
}

static void a_box_has_eight_corners_and_its_volume(void **state)
{
    (void)state;
    perp_vec3 points[8 + 20];
    perp_random random = {1};
    for (int i = 0; i < 8; i++) {
        points[i] = perp_vec3_make(i & 1 ? 1 : -1, i & 2 ? 2 : -2, i & 4 ? 0.003 : -0.003);
    }
    for (int i = 8; i < 28; i++) { /* inside: left out */
        points[i] = random_point(&random, 0.002);
    }
    perp_hull hull;
    assert_int_equal(perp_hull_build(points, 28, NULL, &hull, NULL), PERP_STATUS_OK);
    assert_int_equal(hull.point_count, 8);
    check_closed(&hull);
    assert_true(fabs(volume_of(&hull) - 2 * 4 * 0.006) < 1e-15);
    perp_hull_free(&hull);
}

/* Every point lies inside every face to 1e-12 of the size (qhull's facets may merge points within about 1e-15 of the
 * size per coordinate sum); outward orientation shows in a positive volume. */
static void random_points_lie_inside_their_hull(void **state)
{
    (void)state;
    perp_random random = {7};
    static perp_vec3 points[300];
    for (int round = 0; round < 60; round++) {
        const double size = pow(10.0, perp_random_uniform(&random, -4, 3));
        const int count = 4 + (int)perp_random_uniform(&random, 0, 290);
        const perp_vec3 far = random_point(&random, 3 * size);
        for (int i = 0; i < count; i++) {
            perp_vec3 p = random_point(&random, size);
            if (round % 3 == 0) { /* on a sphere: every point is a corner */
                p = perp_vec3_scale(size, perp_vec3_normalise(p));
            }
            points[i] = perp_vec3_add(p, far);
        }
        perp_hull hull;
        assert_int_equal(perp_hull_build(points, count, NULL, &hull, NULL), PERP_STATUS_OK);
        assert_true(outside(&hull, points, count) <= 1e-12 * size);
        assert_true(volume_of(&hull) > 0.0);
        check_closed(&hull);
        if (round % 3 == 0) {
            assert_int_equal(hull.point_count, count);
        }
        perp_hull_free(&hull);
    }
}

static void points_without_volume_are_refused(void **state)
{
    (void)state;
    perp_random random = {3};
    perp_vec3 points[50];
    perp_hull hull;
    perp_error error;
    const perp_vec3 u = random_point(&random, 1), v = random_point(&random, 1);
    for (int i = 0; i < 50; i++) { /* a plane that no axis sees */
        const double a = perp_random_uniform(&random, -1, 1), b = perp_random_uniform(&random, -1, 1);
        points[i] = perp_vec3_add(perp_vec3_scale(a, u), perp_vec3_scale(b, v));
    }
    assert_int_equal(perp_hull_build(points, 50, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "no volume"));
    assert_int_equal(perp_hull_build(points, 3, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    points[4].y = NAN;
    assert_int_equal(perp_hull_build(points, 50, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.message, "point 4"));
    for (int i = 0; i < 50; i++) {
        points[i] = perp_vec3_make(1, 2, 3);
    }
    assert_int_equal(perp_hull_build(points, 50, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    assert_null(hull.points);
}

/* A hull's mass properties against those of the ellipsoid it approaches. 4000 points on a sphere miss a share of about
 * 4 pi / (sqrt(3) n) of the volume (the cap above each of 2n triangles), and 5/3 as much of the inertia: 0.2 %, 0.3 %.
 */
static void mass_properties_approach_the_ellipsoid(void **state)
{
    (void)state;
    enum { N = 4000 };
    static perp_vec3 points[N];
    const perp_vec3 axes = {0.3, 0.2, 0.5};
    const double golden = 2.399963229728653;
    for (int i = 0; i < N; i++) { /* a Fibonacci lattice: even spacing */
        const double z = 1.0 - (2.0 * i + 1.0) / N, r = sqrt(1.0 - z * z);
        points[i] = perp_vec3_make(axes.x * r * cos(golden * i), axes.y * r * sin(golden * i), axes.z * z);
    }
    perp_hull hull;
    assert_int_equal(perp_hull_build(points, N, NULL, &hull, NULL), PERP_STATUS_OK);
    perp_shape mesh = {.kind = PERP_SHAPE_MESH, .pose = perp_placement_default(), .scale = 1.0};
    mesh.hull_points = hull.points;
    mesh.hull_point_count = hull.point_count;
    mesh.hull_triangles = hull.triangles;
    mesh.hull_triangle_count = hull.triangle_count;
    const perp_shape ellipsoid = {.kind = PERP_SHAPE_ELLIPSOID, .pose = perp_placement_default(), .size = axes};
    perp_mass_properties found, limit;
    assert_int_equal(perp_shape_mass_properties(&mesh, false, &found), PERP_STATUS_OK);
    assert_int_equal(perp_shape_mass_properties(&ellipsoid, false, &limit), PERP_STATUS_OK);
    assert_true(found.mass < limit.mass && found.mass > 0.996 * limit.mass);
    for (int e = 0; e < 9; e += 4) {
        assert_true(found.inertia.m[e] < limit.inertia.m[e] && found.inertia.m[e] > 0.993 * limit.inertia.m[e]);
    }
    assert_true(perp_vec3_norm(found.com) < 1e-4);
    perp_hull_free(&hull);
}

static void every_allocation_failing_in_turn(void **state)
{
    (void)state;
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    int granted = 0;
    for (perp_status status = PERP_STATUS_OUT_OF_MEMORY; status != PERP_STATUS_OK; granted++) {
        failing_allocator f = {.grants = granted};
        const perp_allocator allocator = allocator_of(&f);
        perp_vec3 *points = NULL;
        perp_hull hull = {0};
        int count;
        status = perp_mesh_parse(PERP_MESH_OBJ, obj, sizeof obj - 1, &allocator, &points, &count, NULL);
        if (status == PERP_STATUS_OK) {
            status = perp_hull_build(points, count, &allocator, &hull, NULL);
            failing_release(&f, points);
        }
        if (status == PERP_STATUS_OK) {
            perp_hull_free(&hull);
        } else {
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        }
        assert_int_equal(f.standing, 0);
    }
    assert_true(granted >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_has_eight_corners_and_its_volume),
        cmocka_unit_test(random_points_lie_inside_their_hull),
        cmocka_unit_test(points_without_volume_are_refused),
        cmocka_unit_test(mass_properties_approach_the_ellipsoid),
        cmocka_unit_test(every_allocation_failing_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
