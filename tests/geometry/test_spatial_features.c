/* The names of places on hulls and of contacts between them, and whose memory a hull takes. */
#include <perp/geometry.h>

#include "failing_allocator.h"
#include "geometry/spatial_features.h"

static const perp_vec3 CORNERS[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int TRIANGLES[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};

static perp_spatial_hull tetrahedron(const perp_allocator *allocator)
{
    perp_spatial_hull hull;
    assert_int_equal(perp_spatial_hull_prepare(CORNERS, 4, TRIANGLES, 4, allocator, &hull, NULL), PERP_STATUS_OK);
    return hull;
}

static perp_vec3 between(perp_vec3 a, perp_vec3 b, double t)
{
    return perp_vec3_add_scaled(a, t, perp_vec3_sub(b, a));
}

static void every_place_has_its_name(void **state)
{
    (void)state;
    perp_spatial_hull hull = tetrahedron(NULL);
    const perp_spatial_shape shape = {
        .kind = PERP_SPATIAL_HULL, .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, .position = {1, 2, 3}, .hull = &hull};
    const double tolerance = 1e-9; /* far above rounding, far below the distance of any two places here */
    assert_int_equal(hull.corner_count, 4);
    assert_int_equal(hull.edge_count, 6);
    assert_int_equal(hull.face_count, 4);
    for (int i = 0; i < hull.corner_count; i++) {
        const perp_vec3 x = perp_vec3_add(shape.position, hull.corners[i]);
        assert_int_equal(perp_spatial_feature_at(&shape, x, tolerance), perp_feature(PERP_FEATURE_CORNER, i));
    }
    for (int i = 0; i < hull.edge_count; i++) {
        const int *ends = hull.edges[i].corners;
        const perp_vec3 x = perp_vec3_add(shape.position, between(hull.corners[ends[0]], hull.corners[ends[1]], 0.3));
        assert_int_equal(perp_spatial_feature_at(&shape, x, tolerance), perp_feature(PERP_FEATURE_EDGE, i));
    }
    for (int i = 0; i < hull.face_count; i++) {
        const int *loop = &hull.loops[hull.faces[i].start];
        const perp_vec3 side = between(hull.corners[loop[0]], hull.corners[loop[1]], 0.5);
        const perp_vec3 x = perp_vec3_add(shape.position, between(side, hull.corners[loop[2]], 0.3));
        assert_int_equal(perp_spatial_feature_at(&shape, x, tolerance), perp_feature(PERP_FEATURE_FACE, i));
    }
    perp_spatial_hull_free(&hull);
}

/* A roof whose ridge lies along x, and one upside down above it, with a shorter ridge: the ends of that one stand above
 * the edge of the other. */
static void an_edge_along_an_edge(void **state)
{
    (void)state;
    const perp_vec3 low[4] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, -1}, {0, 1, -1}};
    const perp_vec3 high[4] = {{-0.5, 0, 0.1}, {0.5, 0, 0.1}, {0, -1, 1.1}, {0, 1, 1.1}};
    const int sides[2][12] = {{0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2}, {0, 1, 2, 0, 3, 1, 1, 3, 2, 0, 2, 3}};
    perp_spatial_hull hulls[2];
    perp_spatial_shape shapes[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(perp_spatial_hull_prepare(i == 0 ? low : high, 4, sides[i], 4, NULL, &hulls[i], NULL),
                         PERP_STATUS_OK);
        shapes[i] = (perp_spatial_shape){
            .kind = PERP_SPATIAL_HULL, .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, .hull = &hulls[i]};
    }
    const perp_manifold m = perp_spatial_manifold_build(&shapes[0], &shapes[1], INFINITY);
    assert_int_equal(m.count, 2);
    for (int i = 0; i < 2; i++) {
        const perp_manifold_point *p = &m.points[i];
        assert_int_equal(perp_feature_kind_of(p->feature_a), PERP_FEATURE_EDGE);
        const int *ends = hulls[0].edges[perp_feature_index(p->feature_a)].corners;
        assert_true(hulls[0].corners[ends[0]].z == 0.0 && hulls[0].corners[ends[1]].z == 0.0);
        assert_int_equal(perp_feature_kind_of(p->feature_b), PERP_FEATURE_CORNER);
        assert_true(hulls[1].corners[perp_feature_index(p->feature_b)].x == p->at.point_b.x);
    }
    perp_spatial_hull_free(&hulls[0]);
    perp_spatial_hull_free(&hulls[1]);
}

static void memory_is_the_callers(void **state)
{
    (void)state;
    failing_allocator memory = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&memory);
    perp_spatial_hull hull = tetrahedron(&allocator);
    assert_true(memory.standing > 0);
    perp_spatial_hull_free(&hull);
    assert_int_equal(memory.standing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_has_its_name),
        cmocka_unit_test(an_edge_along_an_edge),
        cmocka_unit_test(memory_is_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
