/* Spatial manifolds: hand-derived patches and labels that last. */
#include "spatial_manifold_test.h"

typedef struct expected {
    perp_vec3 on_a;
    double gap;
    int feature_a, feature_b;
} expected;

/* Rounding of unit-sized shapes through a few rotations stays below 1e-13. */
static void check_points(const perp_manifold *m, const expected *e, int count, int line)
{
    if (m->count != count) {
        print_error("line %d: %d points\n", line, m->count);
        fail();
    }
    for (int i = 0; i < count; i++) {
        const perp_manifold_point *p = &m->points[i];
        near_(p->at.point_a.x, e[i].on_a.x, 1e-13, line);
        near_(p->at.point_a.y, e[i].on_a.y, 1e-13, line);
        near_(p->at.point_a.z, e[i].on_a.z, 1e-13, line);
        near_(p->at.phi, e[i].gap, 1e-13, line);
        if (p->feature_a != e[i].feature_a || p->feature_b != e[i].feature_b) {
            print_error("line %d: point %d has features %d %d\n", line, i, p->feature_a, p->feature_b);
            fail();
        }
        const perp_vec3 off =
            perp_vec3_add_scaled(perp_vec3_sub(p->at.point_b, p->at.point_a), -p->at.phi, p->at.normal);
        near_(perp_vec3_norm(off), 0, 1e-14, line);
    }
}
#define CHECK(m, ...)                                                                                                  \
    do {                                                                                                               \
        const expected list[] = {__VA_ARGS__};                                                                         \
        check_points(m, list, (int)(sizeof list / sizeof list[0]), __LINE__);                                          \
    } while (0)

/* ---- boxes and hulls --------------------------------------------------------------------------------------------- */

static void stacks(void **state)
{
    (void)state;
    const perp_quat id = perp_quat_identity();
    const body a = box(vec(0, 0, 0), id, 1, 1, 1), equal = box(vec(0, 0, 1), id, 1, 1, 1);
    const body small = box(vec(0.1, 0.2, 0.75), id, 0.4, 0.4, 0.4), shifted = box(vec(0.3, 0.2, 1.01), id, 1, 1, 1);
    const body turned = box(vec(0, 0, 1), about_z(pi / 4), 1, 1, 1);
    perp_manifold m = manifold(&a, &equal);
    CHECK(&m, {{-0.5, -0.5, 0.5}, 0, corner(4), corner(0)}, {{0.5, -0.5, 0.5}, 0, corner(5), corner(1)},
          {{0.5, 0.5, 0.5}, 0, corner(7), corner(3)}, {{-0.5, 0.5, 0.5}, 0, corner(6), corner(2)});
    m = manifold(&a, &small);
    CHECK(&m, {{-0.1, 0, 0.5}, 0.05, face(4), corner(0)}, {{0.3, 0, 0.5}, 0.05, face(4), corner(1)},
          {{0.3, 0.4, 0.5}, 0.05, face(4), corner(3)}, {{-0.1, 0.4, 0.5}, 0.05, face(4), corner(2)});
    m = manifold(&a, &shifted);
    CHECK(&m, {{-0.2, 0.5, 0.5}, 0.01, edge(3), edge(4)}, {{-0.2, -0.3, 0.5}, 0.01, face(4), corner(0)},
          {{0.5, -0.3, 0.5}, 0.01, edge(7), edge(0)}, {{0.5, 0.5, 0.5}, 0.01, corner(7), face(5)});
    m = manifold(&a, &turned);
    assert_int_equal(m.count, 8);
    for (int i = 0; i < 8; i++) { /* |x| or |y| is 1/2, the other sqrt(1/2) - 1/2 */
        const perp_vec3 p = m.points[i].at.point_a;
        NEAR(fmax(fabs(p.x), fabs(p.y)), 0.5, 1e-15);
        NEAR(fmin(fabs(p.x), fabs(p.y)), half_root - 0.5, 1e-15);
        NEAR(m.points[i].at.phi, 0, 1e-15);
        assert_int_equal(perp_feature_kind_of(m.points[i].feature_a), PERP_FEATURE_EDGE);
        assert_int_equal(perp_feature_kind_of(m.points[i].feature_b), PERP_FEATURE_EDGE);
    }
    NEAR(polygon_area(&m), 2 * sqrt(2.0) - 2, 1e-14);
}

/* Labels, number and order of exact stacks hold under motions of 1e-9 m and rad. */
static void stacks_hold_still(void **state)
{
    (void)state;
    perp_random random = {3};
    const perp_vec3 offsets[] = {{0, 0, 1}, {0.5, 0, 1}, {0.5, 0.5, 1}, {0.25, 0.5, 1}, {1, 0, 1}};
    for (int k = 0; k < 10; k++) {
        const perp_quat turn = k < 5 ? perp_quat_identity() : about_z(pi / 4);
        const body a = box(vec(0, 0, 0), perp_quat_identity(), 1, 1, 1), b = box(offsets[k % 5], turn, 1, 1, 1);
        const perp_manifold m = manifold(&a, &b);
        assert_true(m.count >= 2);
        for (int i = 0; i < 100; i++) {
            body moved = b;
            moved.pose.position = perp_vec3_add_scaled(b.pose.position, 0.5e-9, random_vec(&random));
            moved.pose.rotation =
                perp_quat_mul(perp_quat_exp(perp_vec3_scale(0.5e-9, random_vec(&random))), b.pose.rotation);
            place(&moved);
            const perp_manifold n = manifold(&a, &moved);
            assert_int_equal(n.count, m.count);
            for (int p = 0; p < m.count; p++) {
                assert_int_equal(n.points[p].feature_a, m.points[p].feature_a);
                assert_int_equal(n.points[p].feature_b, m.points[p].feature_b);
                NEAR(perp_vec3_norm(perp_vec3_sub(n.points[p].at.point_a, m.points[p].at.point_a)), 0, 1e-7);
            }
        }
    }
}

/* Half of each cube's top beyond the other: edges or corners in line. */
static void touching_borders(void **state)
{
    (void)state;
    const body a = box(vec(0, 0, 0), perp_quat_identity(), 1, 1, 1);
    const body beside = box(vec(1, 0.25, 1), perp_quat_identity(), 1, 1, 1);
    const perp_manifold m = manifold(&a, &beside); /* a line: x = 1/2, y from -1/4 to 1/2 */
    assert_int_equal(m.count, 2);
    NEAR(fabs(m.points[0].at.point_a.y - m.points[1].at.point_a.y), 0.75, 1e-15);
    const body diagonal = box(vec(1, 1, 1), perp_quat_identity(), 1, 1, 1);
    const perp_manifold d = manifold(&a, &diagonal);
    CHECK(&d, {{0.5, 0.5, 0.5}, 0, corner(7), corner(0)});
}

/* A cube over the corner of another, tilted down towards +x and -y: its edge at -y crosses the border x = 1/2, and n is
 * square to these two and to none of the faces. Over the patch of 1/2 x 1/2 the gap grows by the tilt along x and y. */
static void tilted_stack(void **state)
{
    (void)state;
    const double tilt = 1e-3, gap = 1e-4;
    const body a = box(vec(0, 0, 0), perp_quat_identity(), 1, 1, 1);
    body b = box(vec(0.5, 0.5, 1.01), perp_quat_mul(about_x(tilt), about_y(tilt)), 1, 1, 1);
    b.pose.position.z += gap - perp_spatial_distance(&a.shape, &b.shape).phi;
    place(&b);
    const perp_manifold m = manifold(&a, &b);
    assert_int_equal(m.count, 4);
    NEAR(least_gap(&m), perp_spatial_distance(&a.shape, &b.shape).phi, 1e-14);
    for (int i = 0; i < 4; i++) { /* to the square of the tilt, times sizes of 1 */
        const perp_vec3 p = m.points[i].at.point_a;
        NEAR(m.points[i].at.phi, gap + tilt * (0.5 - p.x) + tilt * p.y, 4 * tilt * tilt);
        assert_true(m.points[i].at.normal.z < 1 - 1e-8);
    }
    NEAR(polygon_area(&m), 0.25, 4 * tilt);
    assert_int_equal(m.points[0].feature_a, edge(3)); /* the borders at +y and +x with b's edges, a's corner, b's */
    assert_int_equal(m.points[1].feature_b, corner(0));
    assert_int_equal(m.points[2].feature_a, edge(7));
    assert_int_equal(m.points[3].feature_a, corner(7));
}

static void box_on_plane(void **state)
{
    (void)state;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    for (int k = 0; k < 3; k++) {
        const double angle = k == 0 ? 0 : k == 1 ? 0.3 : -0.7;
        const body b = box(vec(0.1, 0.2, 3), about_y(angle), 2, 1, 0.5);
        const perp_manifold m = perp_spatial_manifold_build(&b.shape, &plane, INFINITY);
        const double c = cos(angle), s = sin(angle);
        /* face 5 has the corners 0, 2, 3, 1, seen from below counter-clockwise */
        const double x0 = -c - 0.25 * s, x1 = c - 0.25 * s, z0 = 3 + s - 0.25 * c, z1 = 3 - s - 0.25 * c;
        CHECK(&m, {{0.1 + x0, -0.3, z0}, z0, corner(0), surface}, {{0.1 + x0, 0.7, z0}, z0, corner(2), surface},
              {{0.1 + x1, 0.7, z1}, z1, corner(3), surface}, {{0.1 + x1, -0.3, z1}, z1, corner(1), surface});
        NEAR(m.points[0].at.normal.z, -1, 1e-15);
        const perp_manifold w = perp_spatial_manifold_build(&plane, &b.shape, INFINITY);
        assert_int_equal(w.count, 4);
        NEAR(w.points[1].at.point_b.z, z1, 1e-13); /* the other way round, seen from b */
        assert_int_equal(w.points[1].feature_b, corner(1));
        NEAR(w.points[0].at.normal.z, 1, 1e-15);
    }
    /* on an edge at 45 degrees: the lower index, and it stays */
    for (int k = -1; k <= 1; k++) {
        const body b = box(vec(0, 0, 1), about_y(pi / 4 + k * 1e-9), 1, 1, 1);
        const perp_manifold m = perp_spatial_manifold_build(&b.shape, &plane, INFINITY);
        assert_int_equal(m.count, 4);
        assert_int_equal(m.points[0].feature_a, corner(1)); /* face 0: corners 1, 3, 7, 5 */
    }
}

/* A cube in a groove of two planes, and of two boxes, at 45 degrees: four points on each, raised by 0.1. */
static void groove(void **state)
{
    (void)state;
    const body cube = box(vec(0, 0, half_root + 0.1), about_x(pi / 4), 1, 1, 1);
    for (int k = 0; k < 4; k++) {
        const double s = k & 1 ? 1 : -1;
        const perp_spatial_shape plane = halfspace(vec(0, s * half_root, half_root), 0);
        /* the top of a thick plate is the plane */
        const double shift = -2 * half_root;
        const body plate = box(vec(0, s * shift, shift), about_x(-s * pi / 4), 6, 6, 4);
        const perp_manifold m = perp_spatial_manifold_build(&cube.shape, k < 2 ? &plane : &plate.shape, INFINITY);
        assert_int_equal(m.count, 4);
        for (int i = 0; i < 4; i++) {
            NEAR(m.points[i].at.phi, 0.1 * half_root, 1e-14);
            NEAR(m.points[i].at.normal.y, -s * half_root, 1e-14);
            NEAR(fabs(m.points[i].at.point_a.x), 0.5, 1e-14);
            assert_int_equal(perp_feature_kind_of(m.points[i].feature_a), PERP_FEATURE_CORNER);
        }
        NEAR(polygon_area(&m), 1, 1e-13);
    }
}

static void edges(void **state)
{
    (void)state;
    const double top = half_root;
    const body a = box(vec(0, 0, 0), about_x(pi / 4), 1, 1, 1); /* an edge along x on top: +y, +z: edge 3 */
    const body crossing = box(vec(0.2, 0.1, 2 * top + 0.1), about_y(pi / 4), 1, 1, 1);
    const body in_line = box(vec(0.3, 0, 2 * top + 0.1), about_x(pi / 4), 1, 1, 1);
    const body equal = box(vec(0, 0, 2 * top + 0.1), about_x(pi / 4), 1, 1, 1);
    perp_manifold m = manifold(&a, &crossing); /* b's lowest edge is along y, at -z and +x: 4 + 1 */
    CHECK(&m, {{0.2, 0, top}, 0.1, edge(3), edge(5)});
    m = manifold(&a, &in_line); /* b's is edge 0 */
    CHECK(&m, {{-0.2, 0, top}, 0.1, edge(3), corner(0)}, {{0.5, 0, top}, 0.1, corner(7), edge(0)});
    m = manifold(&a, &equal);
    CHECK(&m, {{-0.5, 0, top}, 0.1, corner(6), corner(0)}, {{0.5, 0, top}, 0.1, corner(7), corner(1)});
    /* crossing at a small angle: at the ends, sin(0.02) / 2 aside, the edges are still what is nearest, and the
     * crossing itself is nearer by more than the tolerance */
    body skew = equal;
    skew.pose.rotation = perp_quat_mul(about_z(0.02), skew.pose.rotation);
    place(&skew);
    m = manifold(&a, &skew);
    const double s = 0.5 * sin(0.02), far = sqrt(0.01 + 0.5 * (1 - cos(0.02)));
    assert_int_equal(m.count, 3);
    for (int k = 0; k < 2; k++) { /* corner to corner */
        NEAR(m.points[k].at.phi, far, 1e-14);
        NEAR(m.points[k].at.point_a.x, k == 0 ? -0.5 : 0.5, 1e-14);
        NEAR(m.points[k].at.normal.y, (k == 0 ? -s : s) / far, 1e-13);
    }
    NEAR(m.points[2].at.phi, 0.1, 1e-14);
    /* at the ends 0.06 aside and 0.03 up, which is in front of a face beside the edge */
    skew.pose.rotation = perp_quat_mul(about_z(0.12), equal.pose.rotation);
    skew.pose.position.z = 2 * top + 0.03;
    place(&skew);
    m = manifold(&a, &skew);
    CHECK(&m, {{0, 0, top}, 0.03, edge(3), edge(0)});
    skew = equal;
    skew.pose.rotation = perp_quat_mul(about_z(0.02), skew.pose.rotation);
    /* near enough that a face beside the edge is nearer to the ends */
    skew.pose.position.z -= 0.1;
    place(&skew);
    m = manifold(&a, &skew);
    CHECK(&m, {{0, 0, top}, 0, edge(3), edge(0)});
}

static void hulls(void **state)
{
    (void)state;
    perp_vec3 p[14];
    for (int i = 0; i < 8; i++) {
        p[i] = vec(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
    }
    p[8] = vec(0, 0, 0.5); /* in faces, in an edge, inside */
    p[9] = vec(0.2, 0.1, -0.5);
    p[10] = vec(0, 0.5, 0.5);
    p[11] = vec(0.1, 0.1, 0.1);
    p[12] = vec(0.5, 0.3, 0.2);
    p[13] = vec(-0.5, -0.25, -0.5);
    body hull;
    assert_true(hull_of(p, 14, &hull));
    const body cube = box(vec(0, 0, 0), perp_quat_identity(), 1, 1, 1);
    const perp_spatial_shape plane = halfspace(vec(0.1, 0, sqrt(0.99)), -2);
    const body others[] = {box(vec(0, 0, 1), perp_quat_identity(), 1, 1, 1),
                           box(vec(0.3, 0.2, 1.1), about_z(0.4), 1, 1, 1),
                           box(vec(0.3, 0.2, 1.1), perp_quat_from_rpy(0.1, 0.2, 0.3), 1, 1, 1),
                           capsule(vec(0.3, 0.2, 0.8), about_y(1.5), 2, 0.25), sphere(vec(0.3, 0.4, 0.8), 0.25)};
    for (int k = 0; k < 6; k++) {
        const perp_spatial_shape *other = k < 5 ? &others[k].shape : &plane;
        const perp_manifold m = perp_spatial_manifold_build(&hull.shape, other, INFINITY);
        const perp_manifold n = perp_spatial_manifold_build(&cube.shape, other, INFINITY);
        assert_int_equal(m.count, n.count);
        for (int i = 0; i < m.count; i++) { /* the hull numbers its corners in its own way */
            double nearest = INFINITY;
            for (int j = 0; j < n.count; j++) {
                const perp_vec3 da = perp_vec3_sub(m.points[i].at.point_a, n.points[j].at.point_a);
                const perp_vec3 db = perp_vec3_sub(m.points[i].at.point_b, n.points[j].at.point_b);
                nearest = fmin(nearest, perp_vec3_norm(da) + perp_vec3_norm(db));
            }
            NEAR(nearest, 0, 1e-9);
        }
    }
    drop(&hull);
    /* a regular tetrahedron on its face z = 0 */
    const perp_vec3 t[4] = {{1, 0, 0}, {-0.5, sqrt(0.75), 0}, {-0.5, -sqrt(0.75), 0}, {0, 0, sqrt(2.0)}};
    assert_true(hull_of(t, 4, &hull));
    const perp_spatial_shape floor_ = halfspace(vec(0, 0, 1), -0.5);
    const body table = box(vec(0, 0, -1), perp_quat_identity(), 4, 4, 1);
    for (int k = 0; k < 2; k++) {
        const perp_manifold m = perp_spatial_manifold_build(&hull.shape, k == 0 ? &floor_ : &table.shape, INFINITY);
        assert_int_equal(m.count, 3);
        for (int i = 0; i < 3; i++) {
            NEAR(m.points[i].at.phi, 0.5, 1e-14);
            NEAR(perp_vec3_norm(m.points[i].at.point_a), 1, 1e-14);
        }
        NEAR(polygon_area(&m), 0.75 * sqrt(3.0), 1e-13);
    }
    drop(&hull);
}

/* A cube whose corners are off by 1e-8, as those of a file of single precision: its faces are two triangles each, and
 * the patch is the whole face for all that. */
static void nearly_flat_faces(void **state)
{
    (void)state;
    perp_random random = {9};
    const body table = box(vec(0, 0, -1), perp_quat_identity(), 4, 4, 1);
    for (int k = 0; k < 20; k++) {
        perp_vec3 p[8];
        for (int i = 0; i < 8; i++) {
            const perp_vec3 q = vec(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
            p[i] = perp_vec3_add_scaled(q, 1e-8, random_vec(&random));
        }
        body cube;
        assert_true(hull_of(p, 8, &cube));
        assert_true(cube.hull.face_count > 6);
        cube.pose.rotation = about_x(k < 10 ? 0 : 1e-3);
        cube.pose.position = vec(0, 0, 0.1);
        place(&cube);
        const perp_manifold m = manifold(&cube, &table);
        assert_in_range(m.count, 4, 5); /* the witness too, where it is on a diagonal */
        double sizes[2] = {0, 0};
        for (int i = 0; i < 4; i++) {
            sizes[0] += fabs(m.points[i].at.point_a.x) / 4;
            sizes[1] += fabs(m.points[i].at.point_a.y) / 4;
        }
        NEAR(sizes[0], 0.5, 1e-3);
        NEAR(sizes[1], 0.5, 1e-3);
        drop(&cube);
    }
}

/* ---- many corners ------------------------------------------------------------------------------------------------ */

/* A regular prism on the plane z = 0. */
typedef struct prism {
    perp_spatial_hull hull;
    perp_spatial_shape shape;
} prism;

static void make_prism(prism *p, int sides, double radius, double height)
{
    perp_vec3 corners[256];
    perp_hull h;
    assert_in_range(sides, 3, 128);
    for (int i = 0; i < sides; i++) {
        const double angle = 2 * pi * i / sides;
        corners[2 * i] = vec(radius * cos(angle), radius * sin(angle), 0);
        corners[2 * i + 1] = vec(corners[2 * i].x, corners[2 * i].y, height);
    }
    assert_int_equal(perp_hull_build(corners, 2 * sides, NULL, &h, NULL), PERP_STATUS_OK);
    assert_int_equal(
        perp_spatial_hull_prepare(h.points, h.point_count, h.triangles, h.triangle_count, NULL, &p->hull, NULL),
        PERP_STATUS_OK);
    perp_hull_free(&h);
    p->shape =
        (perp_spatial_shape){.kind = PERP_SPATIAL_HULL, .rotation = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, .hull = &p->hull};
}

/* A prism of 60 sides, standing: a regular polygon thinned to 8. */
static void many_corners(void **state)
{
    (void)state;
    prism p;
    make_prism(&p, 60, 1, 1);
    const perp_spatial_shape floor_ = halfspace(vec(0, 0, 1), 0), slope = halfspace(vec(0.6, 0, 0.8), -2);
    const body table = box(vec(0, 0, -1), perp_quat_identity(), 4, 4, 2);
    perp_manifold m = perp_spatial_manifold_build(&p.shape, &floor_, INFINITY);
    assert_int_equal(m.count, 8);
    /* an octagon with corners on a circle has at most 2 sqrt(2); the thinned one no less than 95 % of it */
    assert_true(fabs(polygon_area(&m)) > 0.95 * 2 * sqrt(2.0));
    m = perp_spatial_manifold_build(&p.shape, &table.shape, INFINITY);
    assert_int_equal(m.count, 8);
    assert_true(polygon_area(&m) > 0.95 * 2 * sqrt(2.0));
    m = perp_spatial_manifold_build(&p.shape, &slope, INFINITY);
    double least = INFINITY;
    for (int i = 0; i < m.count; i++) {
        least = fmin(least, m.points[i].at.phi);
    }
    NEAR(least, 2 - 0.6, 1e-14); /* its corner (-1, 0, 0) */
    perp_spatial_hull_free(&p.hull);
}

/* The pair moved by up to 1e-9 m and rad against each other. */
static perp_manifold moved_manifold(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_random *random)
{
    perp_spatial_shape c = *a;
    const perp_quat turn = perp_quat_exp(perp_vec3_scale(0.5e-9, random_vec(random)));
    const perp_mat3 r = perp_quat_to_mat3(turn), old = a->rotation;
    c.position = perp_vec3_add_scaled(a->position, 0.5e-9, random_vec(random));
    c.rotation = perp_mat3_mul(&r, &old);
    return perp_spatial_manifold_build(&c, b, INFINITY);
}

/* Every label of m is one of w's, seen from the other side if `swapped`. */
static void check_labels(const perp_manifold *m, const perp_manifold *w, bool swapped, int line)
{
    int found = 0;
    for (int i = 0; i < m->count; i++) {
        for (int j = 0; j < w->count; j++) {
            const perp_manifold_point *p = &m->points[i], *q = &w->points[j];
            found += p->feature_a == (swapped ? q->feature_b : q->feature_a) &&
                     p->feature_b == (swapped ? q->feature_a : q->feature_b);
        }
    }
    if (m->count != w->count || found != m->count) {
        print_error("line %d: %d of %d labels are among %d\n", line, found, m->count, w->count);
        fail();
    }
}

/* A patch of many corners is thinned to the same 8 under motions of 1e-9 and when a and b change roles. */
static void thinned_patches_hold_still(void **state)
{
    (void)state;
    perp_random random = {5};
    static const int sides[] = {64, 16, 24, 100};
    for (int k = 0; k < 4; k++) {
        prism p, q;
        make_prism(&p, sides[k], 0.05, 0.08);
        make_prism(&q, 64, 0.05, 0.08);
        q.shape.position.z = -0.08;
        const body table = box(vec(0.01, 0, -0.1), perp_quat_identity(), 0.3, 0.3, 0.2);
        const body drum = cylinder(vec(0, 0, -0.1), perp_quat_identity(), 0.2, 0.05);
        const body large = cylinder(vec(0.01, 0, -0.1), perp_quat_identity(), 0.2, 0.1);
        const body strip = box(vec(0, 0, -0.1), perp_quat_identity(), 0.3, 0.002, 0.2);
        const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
        const perp_spatial_shape *others[] = {&plane, &table.shape, &drum.shape, &large.shape, &q.shape, &strip.shape};
        for (int i = 0; i < 6; i++) {
            const perp_manifold m = perp_spatial_manifold_build(&p.shape, others[i], INFINITY);
            const perp_manifold w = perp_spatial_manifold_build(others[i], &p.shape, INFINITY);
            assert_true(m.count >= 4);
            check_labels(&m, &w, true, 1000 * k + i);
            for (int n = 0; n < 100; n++) {
                const perp_manifold moved = moved_manifold(&p.shape, others[i], &random);
                check_labels(&m, &moved, false, 1000 * k + i);
            }
        }
        perp_spatial_hull_free(&p.hull);
        perp_spatial_hull_free(&q.hull);
    }
}

/* ---- capsules ---------------------------------------------------------------------------------------------------- */

static void capsules(void **state)
{
    (void)state;
    const perp_quat lie = about_y(pi / 2); /* local z along x */
    const body table = box(vec(0, 0, -0.5), perp_quat_identity(), 4, 4, 1);
    const body on = capsule(vec(0.5, 0.3, 0.35), lie, 2, 0.25), over = capsule(vec(1.5, 0.3, 0.35), lie, 2, 0.25);
    perp_manifold m = manifold(&on, &table);
    CHECK(&m, {{-0.5, 0.3, 0.1}, 0.1, corner(0), face(4)}, {{1.5, 0.3, 0.1}, 0.1, corner(1), face(4)});
    m = manifold(&over, &table); /* beyond x = 2: the border's edge along y at +x, +z is 4 + 3 */
    CHECK(&m, {{0.5, 0.3, 0.1}, 0.1, corner(0), face(4)}, {{2, 0.3, 0.1}, 0.1, edge(0), edge(7)});
    const double tilt = 0.3;
    const body tilted = capsule(vec(0, 0, 1), about_y(pi / 2 + tilt), 2, 0.25);
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    for (int k = 0; k < 2; k++) {
        m = perp_spatial_manifold_build(&tilted.shape, k == 0 ? &plane : &table.shape, INFINITY);
        const double c = cos(tilt), high = 1 + sin(tilt) - 0.25, low = 1 - sin(tilt) - 0.25;
        const int to = k == 0 ? surface : face(4);
        CHECK(&m, {{-c, 0, high}, high, corner(0), to}, {{c, 0, low}, low, corner(1), to});
    }
    const body a = capsule(vec(0, 0, 0), lie, 2, 0.25), equal = capsule(vec(0, 0, 1), lie, 2, 0.25);
    const body shifted = capsule(vec(0.5, 0, 1), lie, 2, 0.25);
    const body crossed = capsule(vec(0.5, 0.2, 1), about_x(pi / 2), 2, 0.25);
    m = manifold(&a, &equal);
    CHECK(&m, {{-1, 0, 0.25}, 0.5, corner(0), corner(0)}, {{1, 0, 0.25}, 0.5, corner(1), corner(1)});
    m = manifold(&a, &shifted);
    CHECK(&m, {{-0.5, 0, 0.25}, 0.5, edge(0), corner(0)}, {{1, 0, 0.25}, 0.5, corner(1), edge(0)});
    m = manifold(&a, &crossed);
    CHECK(&m, {{0.5, 0, 0.25}, 0.5, edge(0), edge(0)});
    body skew = equal;
    skew.pose.rotation = perp_quat_mul(about_z(0.1), lie);
    place(&skew);
    m = manifold(&a, &skew); /* end to end, along (c - 1, s, 1); the crossing is nearer */
    const double c = cos(0.1), s = sin(0.1), far = sqrt(3 - 2 * c), q = 0.25 / far;
    CHECK(&m, {{-1 + q * (1 - c), -q * s, q}, far - 0.5, corner(0), corner(0)},
          {{1 - q * (1 - c), q * s, q}, far - 0.5, corner(1), corner(1)}, {{0, 0, 0.25}, 0.5, edge(0), edge(0)});
    skew.shape.half_length = 0.5; /* b's ends are over a */
    m = manifold(&a, &skew);
    const double near_end = sqrt(1 + 0.25 * s * s), p = 0.25 / near_end;
    CHECK(&m, {{-0.5 * c, -0.5 * p * s, p}, near_end - 0.5, edge(0), corner(0)},
          {{0.5 * c, 0.5 * p * s, p}, near_end - 0.5, edge(0), corner(1)}, {{0, 0, 0.25}, 0.5, edge(0), edge(0)});
    const body ball = sphere(vec(0, 0, 1), 0.5);
    m = manifold(&a, &ball);
    CHECK(&m, {{0, 0, 0.25}, 0.25, edge(0), corner(0)});
    m = manifold(&table, &ball);
    CHECK(&m, {{0, 0, 0}, 0.5, face(4), corner(0)});
    /* along a sharp edge at 45 degrees */
    const body ridge = box(vec(0, 0, -half_root), about_x(pi / 4), 1, 1, 1),
               ridden = capsule(vec(0, 0, 0.3), lie, 2, 0.25);
    m = manifold(&ridge, &ridden);
    CHECK(&m, {{-0.5, 0, 0}, 0.05, corner(6), edge(0)}, {{0.5, 0, 0}, 0.05, corner(7), edge(0)});
}

/* An end of a capsule counts as a ball: its point is that of the ball, which is on the surface for the end that points
 * to the other shape and inside it by r (1 - cos tilt) for the one that points away. When the capsule lies down the gap
 * of either end has become what touches. */
static void capsule_ends_are_balls(void **state)
{
    (void)state;
    const double r = 0.25, tilt = 0.4;
    const body table = box(vec(0, 0, -0.5), perp_quat_identity(), 6, 6, 1),
               c = capsule(vec(0, 0, 2), about_y(pi / 2 + tilt), 2, r);
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    for (int k = 0; k < 2; k++) {
        const perp_manifold m = perp_spatial_manifold_build(&c.shape, k == 0 ? &plane : &table.shape, INFINITY);
        assert_int_equal(m.count, 2);
        for (int i = 0; i < 2; i++) {
            const perp_vec3 x = perp_quat_rotate(perp_quat_conjugate(c.pose.rotation),
                                                 perp_vec3_sub(m.points[i].at.point_a, c.pose.position));
            const double z = fmin(fmax(x.z, -1), 1), depth = r - perp_vec3_norm(vec(x.x, x.y, x.z - z));
            NEAR(depth, i == 0 ? r * (1 - cos(tilt)) : 0, 1e-13); /* end 1, at +z, is the lower one */
            NEAR(m.points[i].at.phi, 2 + (i == 0 ? 1 : -1) * sin(tilt) - r, 1e-13);
        }
    }
}

/* ---- cylinders --------------------------------------------------------------------------------------------------- */

static void cylinder_on_plane(void **state)
{
    (void)state;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    const double tilts[] = {0, 1e-12, 1e-3, 40 * pi / 180}, r = 0.5, h = 1;
    for (int k = 0; k < 4; k++) { /* tilted about a direction between two places of the rim */
        const perp_quat turn = perp_quat_from_axis_angle(vec(sin(0.2), -cos(0.2), 0), -tilts[k]);
        const body c = cylinder(vec(0, 0, 2), turn, 2 * h, r);
        const perp_manifold m = perp_spatial_manifold_build(&c.shape, &plane, INFINITY);
        /* six places; tilted also those half-way between them whose rim is lower than its centre, and the lowest */
        assert_int_equal(m.count, k < 2 ? 6 : 6 + 3 + 1);
        int six = 0;
        double before = 7;
        for (int i = 0; i < m.count - (k < 2 ? 0 : 1); i++) {
            const int at = perp_feature_index(m.points[i].feature_a);
            assert_in_range(at, 0, 11);
            const double angle = at < 6 ? at * pi / 3 : (at - 5.5) * pi / 3;
            assert_true(at < 6 || cos(angle - 0.2) > 0);
            assert_true(i == 0 ? at == 0 : angle < before); /* counter-clockwise seen from below */
            before = i == 0 ? 7 : angle;
            six += at < 6;
            assert_int_equal(m.points[i].feature_b, surface);
            /* the axis leans away from the direction 0.2, so that the rim there goes down */
            const double z = 2 - h * cos(tilts[k]) - r * cos(angle - 0.2) * sin(tilts[k]);
            NEAR(m.points[i].at.phi, z, 1e-14);
        }
        assert_int_equal(six, 6);
        if (k >= 2) {
            assert_int_equal(m.points[m.count - 1].feature_a, rim(32));
        }
        NEAR(least_gap(&m), 2 - h * cos(tilts[k]) - r * sin(tilts[k]), k == 1 ? 1e-12 : 1e-14);
    }
    const body lying = cylinder(vec(0.1, 0, 0.7), about_y(pi / 2 + 0.2), 2, 0.5);
    const perp_manifold m = perp_spatial_manifold_build(&lying.shape, &plane, INFINITY);
    const double c = cos(0.2), s = sin(0.2);
    CHECK(&m, {{0.1 - c - r * s, 0, 0.7 + s - r * c}, 0.7 + s - r * c, side(0), surface},
          {{0.1 + c - r * s, 0, 0.7 - s - r * c}, 0.7 - s - r * c, side(1), surface});
}

static void cylinder_on_box(void **state)
{
    (void)state;
    const perp_quat id = perp_quat_identity(), lie = about_y(pi / 2);
    const body table = box(vec(0, 0, -0.5), id, 4, 4, 1);
    const double tilts[] = {0, 1e-12, 1e-3, 40 * pi / 180};
    for (int k = 0; k < 4; k++) {
        const double c = cos(tilts[k]), s = sin(tilts[k]), gap = 0.01;
        const body stands =
            cylinder(vec(0, 0, c + 0.5 * s + gap), perp_quat_mul(about_z(0.1), about_y(tilts[k])), 2, 0.5);
        const perp_manifold m = manifold(&table, &stands);
        assert_int_equal(m.count, k < 2 ? 8 : 12);
        NEAR(least_gap(&m), gap, k == 1 ? 1e-12 : 1e-9);
        for (int i = 0; i < m.count; i++) {
            assert_int_equal(m.points[i].feature_a, face(4));
            assert_int_equal(perp_feature_kind_of(m.points[i].feature_b), PERP_FEATURE_RIM);
            const int place = perp_feature_index(m.points[i].feature_b);
            assert_true(place < 16 || place == 32); /* the end at -z */
        }
        if (k < 2) { /* every second place: a regular octagon */
            NEAR(polygon_area(&m), 2 * sqrt(2.0) * 0.25, 1e-9);
            for (int i = 0; i < 8; i++) {
                assert_int_equal(m.points[i].feature_b, rim(2 * i));
            }
        } else {
            assert_true(polygon_area(&m) > 0.95 * 2 * sqrt(2.0) * 0.25 * c);
        }
    }
    const body lies = cylinder(vec(0.5, 0.3, 0.35), lie, 2, 0.25), over = cylinder(vec(1.5, 0.3, 0.35), lie, 2, 0.25);
    perp_manifold m = manifold(&lies, &table);
    CHECK(&m, {{-0.5, 0.3, 0.1}, 0.1, side(0), face(4)}, {{1.5, 0.3, 0.1}, 0.1, side(1), face(4)});
    m = manifold(&over, &table);
    CHECK(&m, {{0.5, 0.3, 0.1}, 0.1, side(0), face(4)}, {{2, 0.3, 0.1}, 0.1, side(1), edge(7)});
    /* standing, half beyond the border x = 2: half of the 16-gon, from place 4 over 8 to 12 */
    const body half = cylinder(vec(2, 0, 1.1), id, 2, 0.5);
    m = manifold(&table, &half);
    assert_int_equal(m.count, 8);
    bool ends[2] = {false, false};
    for (int i = 0; i < 8; i++) {
        NEAR(m.points[i].at.phi, 0.1, 1e-14);
        assert_true(m.points[i].at.point_a.x <= 2 + 1e-14);
        ends[0] = ends[0] || m.points[i].feature_b == rim(4);
        ends[1] = ends[1] || m.points[i].feature_b == rim(12);
    }
    assert_true(ends[0] && ends[1]); /* what decides whether it falls is kept */
    /* only a sliver of the end, thinner than what the 16-gon leaves out, is over the table */
    const body sliver = cylinder(vec(2.495, 0.05, 1.1), id, 2, 0.5);
    m = manifold(&table, &sliver);
    assert_int_equal(m.count, 3); /* a place of the rim and two crossings */
    NEAR(least_gap(&m), 0.1, 1e-13);
    assert_true(polygon_area(&m) > 0);
    /* lying along a ridge */
    const body ridge = box(vec(0, 0, -half_root), about_x(pi / 4), 1, 1, 1);
    const body ridden = cylinder(vec(0.2, 0, 0.3), lie, 1, 0.25);
    m = manifold(&ridge, &ridden);
    CHECK(&m, {{-0.3, 0, 0}, 0.05, edge(3), side(0)}, {{0.5, 0, 0}, 0.05, corner(7), side(1)});
    /* across a ridge */
    const body across_ = cylinder(vec(0.2, 0, 0.3), about_x(pi / 2), 1, 0.25);
    m = manifold(&ridge, &across_);
    CHECK(&m, {{0.2, 0, 0}, 0.05, edge(3), side(2)});
}

static void cylinder_pairs(void **state)
{
    (void)state;
    const perp_quat id = perp_quat_identity(), lie = about_y(pi / 2);
    const body a = cylinder(vec(0, 0, 0), lie, 2, 0.25), beside = cylinder(vec(0.5, 0, 1), lie, 2, 0.5);
    perp_manifold m = manifold(&a, &beside);
    CHECK(&m, {{-0.5, 0, 0.25}, 0.25, side(0), side(0)}, {{1, 0, 0.25}, 0.25, side(1), side(1)});
    const body rod = capsule(vec(0.5, 0, 1), lie, 2, 0.5);
    m = manifold(&a, &rod);
    CHECK(&m, {{-0.5, 0, 0.25}, 0.25, side(0), corner(0)}, {{1, 0, 0.25}, 0.25, side(1), edge(0)});
    const body low = cylinder(vec(0, 0, 0), id, 1, 0.5), high = cylinder(vec(0, 0, 1.1), id, 1, 0.5);
    const body wide = cylinder(vec(0.1, 0, 1.1), id, 1, 1);
    m = manifold(&low, &high); /* places over places */
    assert_int_equal(m.count, 8);
    NEAR(polygon_area(&m), 2 * sqrt(2.0) * 0.25, 1e-14);
    assert_int_equal(m.points[0].feature_a, rim(16));
    assert_int_equal(m.points[0].feature_b, rim(0));
    m = manifold(&low, &wide);
    assert_int_equal(m.count, 8);
    NEAR(polygon_area(&m), 2 * sqrt(2.0) * 0.25, 1e-14);
    NEAR(least_gap(&m), 0.1, 1e-14);
    /* a capsule over an end, beyond the rim at both sides: the 16-gon's chord through the centre, from place 0 to 8 */
    const body over = capsule(vec(0, 0, 0.8), lie, 3, 0.25);
    m = manifold(&low, &over);
    assert_int_equal(m.count, 2);
    NEAR(fabs(m.points[0].at.point_a.x), 0.5, 1e-14);
    NEAR(m.points[0].at.phi, 0.05, 1e-14);
    const body egg = ellipsoid(vec(0, 0, 1), id, vec(0.2, 0.3, 0.4));
    m = manifold(&low, &egg);
    CHECK(&m, {{0, 0, 0.5}, 0.1, face(1), surface});
}

/* A point of c's rim, by its label: where the places are that stand still (over a halfspace 6, and 6 between them). */
static double from_place(const body *c, perp_vec3 x, int index, bool on_plane)
{
    const int k = index % 16;
    const double angle = !on_plane ? k * pi / 8 : k < 6 ? k * pi / 3 : (k - 5.5) * pi / 3;
    const double z = index < 16 ? -c->shape.half_length : c->shape.half_length;
    const perp_vec3 local = vec(c->shape.radius * cos(angle), c->shape.radius * sin(angle), z);
    const perp_vec3 at = perp_vec3_add(c->pose.position, perp_quat_rotate(c->pose.rotation, local));
    return perp_vec3_norm(perp_vec3_sub(x, at));
}

/* The lowest point of a tilted rim runs around it under one name, past places that keep theirs. */
static void one_name_around_the_rim(void **state)
{
    (void)state;
    enum { STEPS = 720 };
    const double r = 0.05, step = 2 * pi / STEPS;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    const body table = box(vec(0, 0, -0.5), perp_quat_identity(), 4, 4, 1);
    const body drum = cylinder(vec(0, 0, -0.5), perp_quat_identity(), 1, 1);
    const perp_spatial_shape *others[] = {&plane, &table.shape, &drum.shape};
    for (int k = 0; k < 12; k++) {
        const perp_spatial_shape *other = others[k / 2 % 3];
        const double tilt = k < 6 ? 0.3 : 0.001;
        perp_vec3 before = {0, 0, 0};
        for (int i = 0; i <= STEPS; i++) { /* the first direction is over a place, as are 15 others */
            const perp_quat lean = perp_quat_from_axis_angle(vec(sin(i * step), -cos(i * step), 0), -tilt);
            const body c = cylinder(vec(0, 0, 0.05), perp_quat_mul(lean, about_x(k % 2 ? pi : 0)), 0.08, r);
            const perp_manifold m = perp_spatial_manifold_build(&c.shape, other, INFINITY);
            int found = 0;
            for (int p = 0; p < m.count; p++) {
                assert_int_equal(perp_feature_kind_of(m.points[p].feature_a), PERP_FEATURE_RIM);
                const int index = perp_feature_index(m.points[p].feature_a);
                const perp_vec3 x = m.points[p].at.point_a;
                if (index < 32) {
                    NEAR(from_place(&c, x, index, other == &plane), 0, 1e-9);
                    continue;
                }
                assert_int_equal(index, k % 2 ? 33 : 32);
                found++;
                NEAR(m.points[p].at.phi, least_gap(&m), 1e-9);
                /* the lowest point moves by r step, and the rim under it by as much times the tilt */
                assert_true(i == 0 || perp_vec3_norm(perp_vec3_sub(x, before)) < 2 * r * step);
                before = x;
            }
            assert_int_equal(found, 1);
        }
    }
    const body c = cylinder(vec(0, 0, 0), perp_quat_identity(), 0.08, r);
    for (int i = 0; i < STEPS; i++) { /* alone, beside a ball */
        const body ball = sphere(vec(2 * r * cos(i * step), 2 * r * sin(i * step), 0.06), 0.01);
        const perp_manifold m = manifold(&c, &ball);
        assert_int_equal(m.count, 1);
        assert_int_equal(m.points[0].feature_a, rim(33));
    }
}

/* Which of the two is a makes no difference to what is in a hole; unbounded pairs make no contact. */
static void unbounded_shapes(void **state)
{
    (void)state;
    const body pin = cylinder(vec(0.01, 0, 0), about_y(0.01), 0.4, 0.1);
    body hole = cylinder(vec(0, 0, 0), perp_quat_identity(), 0.3, 0.12);
    hole.shape.kind = PERP_SPATIAL_HOLE;
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    const perp_manifold m = manifold(&pin, &hole), w = manifold(&hole, &pin);
    assert_true(m.count >= 2);
    assert_int_equal(m.count, w.count);
    for (int i = 0; i < m.count; i++) {
        NEAR(w.points[i].at.phi, m.points[i].at.phi, 0);
        NEAR(perp_vec3_norm(perp_vec3_add(w.points[i].at.normal, m.points[i].at.normal)), 0, 0);
        NEAR(perp_vec3_norm(perp_vec3_sub(w.points[i].at.point_a, m.points[i].at.point_b)), 0, 0);
        assert_int_equal(w.points[i].feature_a, m.points[i].feature_b);
        assert_int_equal(w.points[i].feature_b, m.points[i].feature_a);
    }
    assert_int_equal(manifold(&hole, &hole).count, 0);
    assert_int_equal(perp_spatial_manifold_build(&plane, &plane, INFINITY).count, 0);
    assert_int_equal(perp_spatial_manifold_build(&plane, &hole.shape, INFINITY).count, 0);
    assert_int_equal(perp_spatial_manifold_build(&hole.shape, &plane, INFINITY).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks),
        cmocka_unit_test(stacks_hold_still),
        cmocka_unit_test(touching_borders),
        cmocka_unit_test(tilted_stack),
        cmocka_unit_test(box_on_plane),
        cmocka_unit_test(groove),
        cmocka_unit_test(edges),
        cmocka_unit_test(hulls),
        cmocka_unit_test(nearly_flat_faces),
        cmocka_unit_test(many_corners),
        cmocka_unit_test(thinned_patches_hold_still),
        cmocka_unit_test(capsules),
        cmocka_unit_test(capsule_ends_are_balls),
        cmocka_unit_test(cylinder_on_plane),
        cmocka_unit_test(cylinder_on_box),
        cmocka_unit_test(cylinder_pairs),
        cmocka_unit_test(one_name_around_the_rim),
        cmocka_unit_test(unbounded_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
