/* Convex polygons in a plane: intersections with a name for every vertex, segments over a polygon, thinning. */
#include "spatial_manifold_test.h"

#include "geometry/spatial_clip.h"

static const double tolerance = 1e-8;

/* The plane is z = level + x. */
static spatial_polygon polygon(const double (*corners)[2], int count, double level)
{
    spatial_polygon p = {.count = count, .plane_count = 1, .planes = {{.level = level, .slope_x = 1}}};
    for (int i = 0; i < count; i++) {
        p.x[i] = corners[i][0];
        p.y[i] = corners[i][1];
        p.z[i] = level + p.x[i];
    }
    return p;
}

static void check_vertex(const spatial_vertex *v, double x, double y, int part_p, int part_q)
{
    NEAR(v->x, x, 1e-15);
    NEAR(v->y, y, 1e-15);
    NEAR(v->z_p, 1 + x, 1e-15);
    NEAR(v->z_q, 3 + x, 1e-15);
    assert_int_equal(v->part_p, part_p);
    assert_int_equal(v->part_q, part_q);
}

static const double square[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

/* A corner in the middle of a side says nothing that its neighbours do not. */
static void straight_borders(void **state)
{
    (void)state;
    const double split[6][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 1}, {0.5, 1 + 1e-9}, {-1, 1}};
    const spatial_polygon p = polygon(square, 4, 1), q = polygon(split, 6, 3);
    spatial_vertex v[SPATIAL_VERTICES_MAX];
    assert_int_equal(perp_spatial_polygons_meet(&p, &q, tolerance, v), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(v[i].part_p % 2, 0);
        assert_int_equal(v[i].part_q % 2, 0);
        NEAR(fabs(v[i].x) + fabs(v[i].y), 2, 1e-15);
    }
}

static void without_area(void **state)
{
    (void)state;
    const double beside[4][2] = {{1, -0.5}, {2, -0.5}, {2, 0.5}, {1, 0.5}}, touching[3][2] = {{1, 1}, {2, 1}, {2, 2}};
    const double apart[3][2] = {{1.1, 1}, {2, 1}, {2, 2}};
    const spatial_polygon p = polygon(square, 4, 1);
    spatial_polygon q = polygon(beside, 4, 3);
    spatial_vertex v[SPATIAL_VERTICES_MAX];
    assert_int_equal(perp_spatial_polygons_meet(&p, &q, tolerance, v), 2);
    const int low = v[0].y < v[1].y ? 0 : 1;
    check_vertex(&v[low], 1, -0.5, SPATIAL_INSIDE, 0);
    check_vertex(&v[1 - low], 1, 0.5, SPATIAL_INSIDE, 6);
    q = polygon(touching, 3, 3);
    assert_int_equal(perp_spatial_polygons_meet(&p, &q, tolerance, v), 1);
    check_vertex(&v[0], 1, 1, 4, 0);
    q = polygon(apart, 3, 3);
    assert_int_equal(perp_spatial_polygons_meet(&p, &q, tolerance, v), 0);
}

static void segments(void **state)
{
    (void)state;
    const spatial_polygon q = polygon(square, 4, 3);
    spatial_vertex v[2];
    const double x[2] = {-0.5, 3}, y[2] = {0, 0}, z[2] = {0.5, 4}; /* z = 1 + x */
    assert_int_equal(perp_spatial_segment_meets(x, y, z, &q, tolerance, v), 2);
    check_vertex(&v[0], -0.5, 0, 0, SPATIAL_INSIDE);
    check_vertex(&v[1], 1, 0, 1, 3); /* edge 1 is x = 1 */
    const double diagonal_x[2] = {-2, 0.5}, diagonal_y[2] = {-2, 0.5}, diagonal_z[2] = {-1, 1.5};
    assert_int_equal(perp_spatial_segment_meets(diagonal_x, diagonal_y, diagonal_z, &q, tolerance, v), 2);
    check_vertex(&v[0], -1, -1, 1, 0); /* through the corner 0 */
    check_vertex(&v[1], 0.5, 0.5, 2, SPATIAL_INSIDE);
    const double outside_y[2] = {1.1, 1.1}, border_y[2] = {1 + 1e-9, 1 + 1e-9};
    assert_int_equal(perp_spatial_segment_meets(x, outside_y, z, &q, tolerance, v), 0);
    assert_int_equal(perp_spatial_segment_meets(x, border_y, z, &q, tolerance, v), 2);
}

/* Heights over several planes: the lowest seen from above, the highest from below. */
static void bent_faces(void **state)
{
    (void)state;
    const double small[3][2] = {{-0.5, 0}, {0.5, 0}, {0, 0.5}};
    spatial_polygon p = polygon(square, 4, 1), q = polygon(small, 3, 3);
    p.plane_count = 2;
    p.planes[1] = (spatial_plane){.level = 1, .slope_x = -1};
    for (int k = 0; k < 2; k++) {
        spatial_vertex v[SPATIAL_VERTICES_MAX];
        p.from_below = k == 1;
        assert_int_equal(perp_spatial_polygons_meet(&p, &q, tolerance, v), 3);
        for (int i = 0; i < 3; i++) {
            NEAR(v[i].z_p, k == 0 ? 1 - fabs(v[i].x) : 1 + fabs(v[i].x), 1e-15);
        }
    }
}

static void thinning(void **state)
{
    (void)state;
    enum { COUNT = 16 };
    double x[COUNT], y[COUNT];
    int left[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = cos(2 * pi * i / COUNT);
        y[i] = sin(2 * pi * i / COUNT);
    }
    spatial_thinning t = {.x = x, .y = y, .kept = 0};
    assert_int_equal(perp_spatial_thin(&t, COUNT, 8, left), 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(left[i], 2 * i);
    }
    t.kept = 3; /* stays, whatever is lost */
    assert_int_equal(perp_spatial_thin(&t, COUNT, 4, left), 4);
    bool found = false;
    for (int i = 0; i < 4; i++) {
        found = found || left[i] == 3;
        assert_true(i == 0 || left[i] > left[i - 1]);
    }
    assert_true(found);
    const int64_t rank[COUNT] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    t = (spatial_thinning){.x = x, .y = y, .rank = rank, .kept = 15};
    assert_int_equal(perp_spatial_thin(&t, COUNT, 8, left), 8);
    for (int i = 0; i < 8; i++) { /* the other half */
        assert_int_equal(left[i], 2 * i + 1);
    }
    /* a short edge: one of its ends goes before any other corner */
    x[5] = cos(2 * pi * 4.1 / COUNT);
    y[5] = sin(2 * pi * 4.1 / COUNT);
    t = (spatial_thinning){.x = x, .y = y, .kept = 0};
    assert_int_equal(perp_spatial_thin(&t, COUNT, COUNT - 1, left), COUNT - 1);
    assert_true(left[4] != 4 || left[5] != 5);
}

/* A narrow polygon whose corners are known to 1e-9 only: triangles that are equal by design stay so. */
static void thinning_of_noise(void **state)
{
    (void)state;
    enum { COUNT = 16 };
    perp_random random = {4};
    double x[COUNT], y[COUNT];
    int left[COUNT];
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < COUNT; i++) {
            x[i] = cos(2 * pi * i / COUNT) + perp_random_uniform(&random, -1e-9, 1e-9);
            y[i] = 1e-4 * sin(2 * pi * i / COUNT) + perp_random_uniform(&random, -1e-9, 1e-9);
        }
        const spatial_thinning t = {.x = x, .y = y, .kept = 0, .noise = tolerance};
        assert_int_equal(perp_spatial_thin(&t, COUNT, 8, left), 8);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(left[i], 2 * i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_borders), cmocka_unit_test(without_area), cmocka_unit_test(segments),
        cmocka_unit_test(bent_faces),       cmocka_unit_test(thinning),     cmocka_unit_test(thinning_of_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
