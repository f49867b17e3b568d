/* Hulls: closed forms for boxes and spheres, identities for random points, refusals, lack of memory. */
#include <perp/geometry.h>
#include <perp/geometry_hull.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "geometry_hull/mesh_parse.h"
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

/* Plates, ribbons and needles, some of points on a grid, down to where they are flat: whatever has a hull can be made
 * ready for distances, what is ten times as thick as the limit has one (but for needles), and what is a tenth of it has
 * none. */
static void flat_hulls_are_refused_and_others_can_be_prepared(void **state)
{
    (void)state;
    perp_random random = {21};
    perp_vec3 points[100];
    int accepted = 0, refused = 0;
    for (int round = 0; round < 6000; round++) {
        const double thin = pow(10.0, perp_random_uniform(&random, -16, -6));
        const double narrow =
            round % 3 == 0 ? 1.0 : pow(10.0, perp_random_uniform(&random, round % 3 == 1 ? -16 : -8, 0));
        const int count = 8 + (int)perp_random_uniform(&random, 0, round % 5 == 0 ? 92 : 8);
        const perp_vec3 far = random_point(&random, round % 2 ? 0.0 : 3.0);
        const perp_quat turn = perp_quat_exp(random_point(&random, round % 4 ? 2.0 : 0.0));
        for (int i = 0; i < count; i++) {
            perp_vec3 p = random_point(&random, 1);
            p = round % 7 < 3 ? perp_vec3_make(rint(2 * p.x) / 2, rint(2 * p.y) / 2, rint(p.z)) : p;
            p = i < 8 ? perp_vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1) : p;
            points[i] = perp_vec3_add(far, perp_quat_rotate(turn, perp_vec3_make(p.x, narrow * p.y, thin * p.z)));
        }
        perp_hull hull;
        perp_error error;
        const double least = fmin(thin, narrow);
        if (perp_hull_build(points, count, NULL, &hull, &error) != PERP_STATUS_OK) {
            assert_non_null(strstr(error.message, "lie in a plane"));
            /* of needles qhull itself gives up on a few: 1 of 6000 here */
            assert_true(least < 1e-10 || fmax(thin, narrow) < 1e-8);
            refused++;
            continue;
        }
        perp_spatial_hull ready;
        assert_true(least > 1e-12);
        assert_int_equal(perp_spatial_hull_prepare(hull.points, hull.point_count, hull.triangles, hull.triangle_count,
                                                   NULL, &ready, &error),
                         PERP_STATUS_OK);
        perp_spatial_hull_free(&ready);
        perp_hull_free(&hull);
        accepted++;
    }
    assert_true(accepted > 1500 && refused > 1500);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void check_refused(perp_mesh_format format, const char *bytes, size_t length, const char *why)
{
    perp_vec3 *points;
    perp_error error;
    int count;
    assert_int_equal(perp_mesh_parse(format, bytes, length, NULL, &points, &count, &error), PERP_STATUS_BAD_INPUT);
    if (!strstr(error.message, why)) {
        print_error("`%s` does not say `%s`\n", error.message, why);
        fail();
    }
}

static void files_say_what_is_wrong_with_them(void **state)
{
    (void)state;
    static const char hidden[] = "v 0 0 0\nv 1 0 0\0 garbage\nv 0 1 0\nv 0 0 1\n";
    check_refused(PERP_MESH_OBJ, hidden, sizeof hidden - 1, "line 2: has a zero byte");
    char line[1000];
    memset(line, ' ', sizeof line); /* beyond what is read of a line */
    memcpy(line, "v 0 0 0", 7);
    line[900] = '\0';
    check_refused(PERP_MESH_OBJ, line, sizeof line, "line 1: has a zero byte");
    enum { TRIANGLES = 2, EXACT = 84 + 50 * TRIANGLES };
    for (int solid = 0; solid < 2; solid++) { /* a binary file may call itself solid */
        char stl[EXACT + 60] = {0};
        memcpy(stl, solid ? "solid" : "thing", 5);
        stl[80] = TRIANGLES;
        perp_vec3 *points;
        int count;
        assert_int_equal(perp_mesh_parse(PERP_MESH_STL, stl, EXACT, NULL, &points, &count, NULL), PERP_STATUS_OK);
        assert_int_equal(count, 3 * TRIANGLES);
        free(points);
        check_refused(PERP_MESH_STL, stl, EXACT + 4, "4 bytes follow them: too long");
        check_refused(PERP_MESH_STL, stl, EXACT + 50, "50 bytes follow them: too long");
        check_refused(PERP_MESH_STL, stl, EXACT - 1, "bytes for 1: cut off");
    }
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
        cmocka_unit_test(flat_hulls_are_refused_and_others_can_be_prepared),
        cmocka_unit_test(files_say_what_is_wrong_with_them),
        cmocka_unit_test(mass_properties_approach_the_ellipsoid),
        cmocka_unit_test(every_allocation_failing_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
