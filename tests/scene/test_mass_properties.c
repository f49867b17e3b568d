/* Mass properties of shapes and bodies, against numerical integration and against what must not depend on how a body is
 * cut, placed or written down. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene.h>

#define EPS (0.5 * DBL_EPSILON)
#define PI 3.14159265358979323846

static void check_near(double actual, double expected, double tolerance, const char *text, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %s: %.17g, expected %.17g, differs by %g > %g", line, text, actual, expected,
                 actual - expected, tolerance);
    }
}
#define NEAR(actual, expected, tolerance) check_near((actual), (expected), (tolerance), #actual, __LINE__)

/* Mass relative to itself; centre relative to `size`; inertia relative to m size^2. */
static void check_same(const perp_mass_properties *a, const perp_mass_properties *b, double size, double relative,
                       bool planar, int line)
{
    check_near(a->mass, b->mass, relative * b->mass, "mass", line);
    check_near(a->com.x, b->com.x, relative * size, "com x", line);
    check_near(a->com.y, b->com.y, relative * size, "com y", line);
    check_near(a->com.z, b->com.z, relative * size, "com z", line);
    for (int i = 0; i < 9; i++) {
        if (!planar || i == 8) {
            char text[20];
            snprintf(text, sizeof text, "inertia[%d]", i);
            check_near(a->inertia.m[i], b->inertia.m[i], relative * b->mass * size * size, text, line);
        }
    }
}
#define SAME(a, b, size, relative, planar) check_same((a), (b), (size), (relative), (planar), __LINE__)

static perp_shape shape_of(perp_shape_kind kind)
{
    perp_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.kind = kind;
    shape.pose = perp_placement_default();
    shape.scale = 1.0;
    return shape;
}

static perp_shape box_of(double x, double y, double z)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size = perp_vec3_make(x, y, z);
    return shape;
}

static perp_shape round_of(perp_shape_kind kind, double radius, double length)
{
    perp_shape shape = shape_of(kind);
    shape.radius = radius;
    shape.length = length;
    return shape;
}

static perp_mass_properties properties_of(const perp_shape *shape, bool planar)
{
    perp_mass_properties p;
    memset(&p, 0xa5, sizeof p);
    assert_int_equal(perp_shape_mass_properties(shape, planar, &p), PERP_STATUS_OK);
    return p;
}

static perp_mass_properties body_properties_of(const perp_body *body, bool planar)
{
    perp_mass_properties p;
    perp_error error;
    memset(&p, 0xa5, sizeof p);
    assert_int_equal(perp_body_mass_properties(body, planar, &p, &error), PERP_STATUS_OK);
    return p;
}

/* A body of unit density. */
static perp_body body_of(const perp_shape *shapes, int count)
{
    perp_body body = perp_body_default("body");
    body.shapes = shapes;
    body.shape_count = count;
    body.density = perp_set(1.0);
    return body;
}

static void place_planar(perp_shape *shape, double x, double y, double angle)
{
    shape->pose.pose.position = perp_vec3_make(x, y, 0);
    shape->pose.angle = angle;
    shape->pose.pose.rotation = perp_quat_from_axis_angle(perp_vec3_make(0, 0, 1), angle);
}

/* ---- integration over the indicator function --------------------------------------------------------------------- */

static bool inside_polygon(const perp_shape *s, double x, double y)
{
    bool in = false; /* even-odd rule */
    for (int i = 0, j = s->point_count - 1; i < s->point_count; j = i++) {
        const perp_vec3 a = s->points[i], b = s->points[j];
        if ((a.y > y) != (b.y > y) && x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x)) {
            in = !in;
        }
    }
    return in;
}

static bool inside(const perp_shape *s, bool planar, perp_vec3 p)
{
    const double across = hypot(p.x, p.y), r = s->radius, half = 0.5 * s->length;
    const double along = planar ? p.x : p.z, beyond = fmax(fabs(along) - half, 0.0);
    switch (s->kind) {
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_DISC:
        return perp_vec3_norm(p) <= r;
    case PERP_SHAPE_BOX:
        return fabs(p.x) <= 0.5 * s->size.x && fabs(p.y) <= 0.5 * s->size.y && (planar || fabs(p.z) <= 0.5 * s->size.z);
    case PERP_SHAPE_CAPSULE:
        return hypot(planar ? p.y : across, beyond) <= r; /* all points within r of a segment */
    case PERP_SHAPE_CYLINDER:
        return across <= r && beyond == 0.0;
    case PERP_SHAPE_ELLIPSOID:
        return perp_vec3_norm(perp_vec3_make(p.x / s->size.x, p.y / s->size.y, p.z / s->size.z)) <= 1.0;
    case PERP_SHAPE_POLYGON:
        return inside_polygon(s, p.x, p.y);
    default:
        return false;
    }
}

/* The midpoint rule on a grid of n points each way over a square or cube of side 2 `reach` about the shape's place, off
 * its centre by a part of a cell: a symmetric shape on a symmetric grid makes the same error in every octant. */
static perp_mass_properties integrate(const perp_shape *shape, bool planar, double reach, int n)
{
    const perp_pose back = perp_pose_inverse(shape->pose.pose);
    const perp_vec3 c = shape->pose.pose.position;
    const double h = 2.0 * reach / n, cell = planar ? h * h : h * h * h;
    double m = 0, x = 0, y = 0, z = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < (planar ? 1 : n); k++) {
                const perp_vec3 d = {h * (i + 0.71) - reach, h * (j + 0.37) - reach,
                                     planar ? 0 : h * (k + 0.53) - reach};
                if (inside(shape, planar, perp_pose_apply(back, perp_vec3_add(c, d)))) {
                    m += 1, x += d.x, y += d.y, z += d.z;
                    xx += d.x * d.x, yy += d.y * d.y, zz += d.z * d.z;
                    xy += d.x * d.y, xz += d.x * d.z, yz += d.y * d.z;
                }
            }
        }
    }
    perp_mass_properties p = {m * cell, {c.x + x / m, c.y + y / m, c.z + z / m}, {{0}}};
    xx -= x * x / m, yy -= y * y / m, zz -= z * z / m;
    xy -= x * y / m, xz -= x * z / m, yz -= y * z / m;
    const perp_mat3 inertia = {{yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy}};
    for (int i = 0; i < 9; i++) {
        p.inertia.m[i] = cell * inertia.m[i];
    }
    return p;
}

/* Of N^2 boundary cells (times a small number) each is wrong by a third of its volume at random, so the sum is wrong by
 * about N L^3 / N^3 / 3: 1e-4 of the cube at N = 60, some 5e-4 of a shape that fills a fifth of it. The shapes are
 * turned so that no face lies along the grid. Five times that is allowed: a wrong coefficient shows as percents. */
static void test_spatial_shapes_by_indicator(void **state)
{
    (void)state;
    perp_shape shapes[5] = {round_of(PERP_SHAPE_SPHERE, 0.9, 0), box_of(0.7, 1.1, 1.6),
                            round_of(PERP_SHAPE_CAPSULE, 0.5, 1.0), round_of(PERP_SHAPE_CYLINDER, 0.6, 1.4),
                            shape_of(PERP_SHAPE_ELLIPSOID)};
    shapes[4].size = perp_vec3_make(0.5, 0.7, 1.0);
    for (int i = 0; i < 5; i++) {
        shapes[i].pose.pose.position = perp_vec3_make(0.3, -1.2, 0.5);
        shapes[i].pose.pose.rotation = perp_quat_from_rpy(0.5, -0.8, 0.3 + i);
        const perp_mass_properties p = properties_of(&shapes[i], false), q = integrate(&shapes[i], false, 1.1, 60);
        SAME(&p, &q, 1.0, 2.5e-3, false);
    }
}

static const perp_vec3 ell[] = {{0, 0, 0}, {1.2, 0, 0}, {1.2, 0.4, 0}, {0.5, 0.4, 0}, {0.5, 1.0, 0}, {0, 1.0, 0}};

/* In the plane sqrt(N) boundary cells' worth of 1 / N^2: 1e-4.5 at N = 1000, and three of them to a shape. */
static void test_planar_shapes_by_indicator(void **state)
{
    (void)state;
    perp_shape shapes[4] = {round_of(PERP_SHAPE_DISC, 0.9, 0), box_of(0.7, 1.5, 0),
                            round_of(PERP_SHAPE_CAPSULE, 0.4, 1.1), shape_of(PERP_SHAPE_POLYGON)};
    shapes[3].points = ell;
    shapes[3].point_count = 6;
    for (int i = 0; i < 4; i++) {
        place_planar(&shapes[i], -0.4, 2.0, 0.4 + i);
        const perp_mass_properties p = properties_of(&shapes[i], true), q = integrate(&shapes[i], true, 1.6, 1000);
        SAME(&p, &q, 1.0, 5e-4, true);
    }
}

/* ---- integration by slices, to rounding -------------------------------------------------------------------------- */

enum { GAUSS = 16 }; /* exact for polynomials up to degree 31 */

static void gauss_legendre(double x[GAUSS], double w[GAUSS])
{
    for (int i = 0; i < GAUSS; i++) {
        double at = cos(PI * (i + 0.75) / (GAUSS + 0.5)), slope = 1.0;
        for (int k = 0; k < 50; k++) { /* Newton on the Legendre polynomial */
            double p0 = 1.0, p1 = at;
            for (int n = 2; n <= GAUSS; n++) {
                const double p2 = ((2 * n - 1) * at * p1 - (n - 1) * p0) / n;
                p0 = p1;
                p1 = p2;
            }
            slope = GAUSS * (at * p1 - p0) / (at * at - 1.0);
            at -= p1 / slope;
        }
        x[i] = at;
        w[i] = 2.0 / ((1.0 - at * at) * slope * slope);
    }
}

/* Adds the slices between two heights: ellipses of semi-axes a s, b s with s^2 = `square`(z). */
static void add_slices(perp_mass_properties *p, double low, double high, double a, double b,
                       double (*square)(double z, double c), double c)
{
    double x[GAUSS], w[GAUSS];
    gauss_legendre(x, w);
    for (int i = 0; i < GAUSS; i++) {
        const double z = 0.5 * (low + high) + 0.5 * (high - low) * x[i], dz = 0.5 * (high - low) * w[i];
        const double s2 = square(z, c), area = PI * a * b * s2;
        const double xx = area * a * a * s2 / 4.0, yy = area * b * b * s2 / 4.0;
        p->mass += dz * area;
        p->inertia.m[0] += dz * (yy + area * z * z);
        p->inertia.m[4] += dz * (xx + area * z * z);
        p->inertia.m[8] += dz * (xx + yy);
    }
}

static double round_square(double z, double c)
{
    return 1.0 - z * z / (c * c);
}

static double straight(double z, double c)
{
    (void)z;
    (void)c;
    return 1.0;
}

/* A capsule's caps: half spheres of radius 1 (scaled by a = b = r) about z = -+c. */
static double cap_square(double z, double c)
{
    const double beyond = fabs(z) - c;
    return 1.0 - beyond * beyond;
}

/* The integrands are polynomials, so only rounding is left: GAUSS terms of EPS each. */
static void test_spatial_shapes_by_slices(void **state)
{
    (void)state;
    const double r = 0.3, l = 0.8;
    const perp_mass_properties none = {0};
    perp_mass_properties sliced = none;
    add_slices(&sliced, -r, r, r, r, round_square, r);
    perp_shape shape = round_of(PERP_SHAPE_SPHERE, r, 0);
    perp_mass_properties p = properties_of(&shape, false);
    SAME(&p, &sliced, r, 40 * EPS, false);

    sliced = none;
    add_slices(&sliced, -0.5, 0.5, 0.2, 0.9, round_square, 0.5);
    shape = shape_of(PERP_SHAPE_ELLIPSOID);
    shape.size = perp_vec3_make(0.2, 0.9, 0.5);
    p = properties_of(&shape, false);
    SAME(&p, &sliced, 0.5, 40 * EPS, false);

    sliced = none;
    add_slices(&sliced, -l / 2, l / 2, r, r, straight, 0);
    shape = round_of(PERP_SHAPE_CYLINDER, r, l);
    p = properties_of(&shape, false);
    SAME(&p, &sliced, r, 40 * EPS, false);

    /* In units of r, then scaled: mass by r^3, inertia by r^5. */
    const double c = l / 2 / r;
    sliced = none;
    add_slices(&sliced, -c - 1, -c, 1, 1, cap_square, c);
    add_slices(&sliced, -c, c, 1, 1, straight, 0);
    add_slices(&sliced, c, c + 1, 1, 1, cap_square, c);
    sliced.mass *= r * r * r;
    for (int i = 0; i < 9; i++) {
        sliced.inertia.m[i] *= pow(r, 5);
    }
    shape = round_of(PERP_SHAPE_CAPSULE, r, l);
    p = properties_of(&shape, false);
    SAME(&p, &sliced, r, 100 * EPS, false);
}

/* In the plane: discs in polar coordinates, a half disc moved to a capsule's end. The angular integrals are those of
 * cos, which 16 Gauss points integrate to rounding. */
static void test_planar_capsule_by_quadrature(void **state)
{
    (void)state;
    const double r = 0.3, l = 0.8;
    double x[GAUSS], w[GAUSS], mass = 2 * r * l, zz = 0.0;
    gauss_legendre(x, w);
    for (int i = 0; i < GAUSS; i++) {
        for (int j = 0; j < GAUSS; j++) {
            const double u = 0.5 * l * x[i], v = r * x[j]; /* the rectangle */
            zz += 0.5 * l * r * w[i] * w[j] * (u * u + v * v);
            const double rho = 0.5 * r * (x[i] + 1), theta = 0.5 * PI * x[j]; /* one end, twice */
            const double cell = 2 * 0.5 * r * 0.5 * PI * w[i] * w[j] * rho;
            const double a = 0.5 * l + rho * cos(theta), b = rho * sin(theta);
            mass += cell;
            zz += cell * (a * a + b * b);
        }
    }
    const perp_shape shape = round_of(PERP_SHAPE_CAPSULE, r, l);
    const perp_mass_properties p = properties_of(&shape, true);
    NEAR(p.mass, mass, 100 * EPS * mass);
    NEAR(p.inertia.m[8], zz, 100 * EPS * zz);
}

/* ---- limits and cuts --------------------------------------------------------------------------------------------- */

/* A capsule of length l is a sphere (disc) up to first order in l / r; with l = 1e-9 that is all that is left. */
static void test_capsule_becomes_round(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        const perp_shape capsule = round_of(PERP_SHAPE_CAPSULE, 0.4, 1e-9);
        const perp_shape ball = round_of(planar ? PERP_SHAPE_DISC : PERP_SHAPE_SPHERE, 0.4, 0);
        const perp_mass_properties p = properties_of(&capsule, planar), q = properties_of(&ball, planar);
        SAME(&p, &q, 0.4, 1e-8, planar);
    }
}

/* Eight (four) posed pieces of a turned and moved box make the whole. */
static void test_box_cut_into_pieces(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        perp_shape whole = box_of(0.6, 1.0, planar ? 0 : 1.4), pieces[8];
        if (planar) {
            place_planar(&whole, 0.3, -0.7, 0.6);
        } else {
            whole.pose.pose = (perp_pose){perp_quat_from_rpy(0.3, 0.5, -1.1), {0.3, -0.7, 0.2}};
        }
        const int count = planar ? 4 : 8;
        for (int i = 0; i < count; i++) { /* cut at a quarter of x, a half of y, two thirds of z; some pieces turned */
            const double fx = i & 1 ? 0.25 : 0.75, fy = 0.5, fz = i & 4 ? 2.0 / 3 : 1.0 / 3;
            const perp_vec3 s = {0.6 * fx, 1.0 * fy, planar ? 0 : 1.4 * fz};
            const perp_vec3 at = {i & 1 ? -0.3 + s.x / 2 : 0.3 - s.x / 2, i & 2 ? -s.y / 2 : s.y / 2,
                                  planar  ? 0
                                  : i & 4 ? -0.7 + s.z / 2
                                          : 0.7 - s.z / 2};
            const bool turned = i % 3 == 1; /* by a quarter about z, with x and y exchanged: the same solid */
            pieces[i] = turned ? box_of(s.y, s.x, s.z) : box_of(s.x, s.y, s.z);
            const perp_pose local = {perp_quat_from_rpy(0, 0, turned ? PI / 2 : 0), at};
            pieces[i].pose.pose = perp_pose_mul(whole.pose.pose, local);
        }
        const perp_body one = body_of(&whole, 1), many = body_of(pieces, count);
        const perp_mass_properties p = body_properties_of(&one, planar), q = body_properties_of(&many, planar);
        SAME(&q, &p, 1.0, 100 * EPS, planar);
        NEAR(p.com.x, 0.3, 4 * EPS);
    }
}

/* A turned shape has the turned tensor: its principal moments stay, and its axes are the shape's. */
static void test_posed_shape(void **state)
{
    (void)state;
    perp_shape shape = box_of(0.2, 0.5, 1.1);
    const perp_mass_properties still = properties_of(&shape, false);
    shape.pose.pose = (perp_pose){perp_quat_from_rpy(0.7, -0.3, 2.0), {4, 5, 6}};
    const perp_mass_properties moved = properties_of(&shape, false);
    const perp_mat3 r = perp_quat_to_mat3(shape.pose.pose.rotation);
    NEAR(moved.mass, still.mass, 0.0);
    assert_true(moved.com.x == 4 && moved.com.y == 5 && moved.com.z == 6);
    for (int j = 0; j < 3; j++) {
        const perp_vec3 axis = {r.m[j], r.m[3 + j], r.m[6 + j]};
        const perp_vec3 turned = perp_mat3_mul_vec(&moved.inertia, axis);
        NEAR(perp_vec3_norm(perp_vec3_add_scaled(turned, -still.inertia.m[4 * j], axis)), 0.0, 40 * EPS * still.mass);
    }
}

/* ---- polygons ---------------------------------------------------------------------------------------------------- */

static perp_shape polygon_of(const perp_vec3 *points, int count)
{
    perp_shape shape = shape_of(PERP_SHAPE_POLYGON);
    shape.points = points;
    shape.point_count = count;
    return shape;
}

/* The concave L is two boxes, whichever corner is first and whichever way round. */
static void test_polygon_is_two_boxes(void **state)
{
    (void)state;
    perp_shape boxes[2] = {box_of(1.2, 0.4, 0), box_of(0.5, 0.6, 0)};
    place_planar(&boxes[0], 0.6, 0.2, 0);
    place_planar(&boxes[1], 0.25, 0.7, 0);
    const perp_body two = body_of(boxes, 2);
    const perp_mass_properties expected = body_properties_of(&two, true);
    NEAR(expected.mass, 0.78, 4 * EPS);
    for (int reversed = 0; reversed < 2; reversed++) {
        for (int first = 0; first < 6; first++) {
            perp_vec3 points[6];
            for (int i = 0; i < 6; i++) {
                points[i] = ell[(reversed ? 12 - first - i : first + i) % 6];
            }
            const perp_shape shape = polygon_of(points, 6);
            const perp_body body = body_of(&shape, 1);
            const perp_mass_properties p = body_properties_of(&body, true);
            SAME(&p, &expected, 1.0, 40 * EPS, true);
        }
    }
}

/* A polygon of many corners on a circle: area n/2 r^2 sin(2 pi / n), moment area r^2 (2 + cos(2 pi / n)) / 6. */
static void test_regular_polygon(void **state)
{
    (void)state;
    for (int n = 3; n <= 48; n *= 2) {
        perp_vec3 points[48];
        for (int i = 0; i < n; i++) {
            points[i] = perp_vec3_make(0.5 * cos(2 * PI * i / n), 0.5 * sin(2 * PI * i / n), 0);
        }
        const perp_shape shape = polygon_of(points, n);
        const perp_mass_properties p = properties_of(&shape, true);
        const double area = n / 2.0 * 0.25 * sin(2 * PI / n);
        NEAR(p.mass, area, 100 * EPS);
        NEAR(p.com.x, 0.0, 100 * EPS);
        NEAR(p.com.y, 0.0, 100 * EPS);
        NEAR(p.inertia.m[8], area * 0.25 * (2 + cos(2 * PI / n)) / 6, 100 * EPS);
    }
}

/* Far from the origin a polygon keeps the digits that its corners have: at distance D they are rounded by D EPS, so
 * that the moment is off by D EPS / size, not by (D / size)^2 EPS as about the origin. D = 2^20 is exact in binary, and
 * so are these corners: nothing at all may be lost beyond rounding. In the shape, and in the body. */
static void test_far_away(void **state)
{
    (void)state;
    const double far = 1048576.0;
    const perp_vec3 near_points[] = {{0, 0, 0}, {1.25, 0, 0}, {1.25, 0.5, 0}, {0.5, 0.5, 0}, {0.5, 1, 0}, {0, 1, 0}};
    perp_vec3 points[6];
    for (int i = 0; i < 6; i++) {
        points[i] = perp_vec3_add(near_points[i], perp_vec3_make(far, -far, 0));
    }
    const perp_shape here = polygon_of(near_points, 6), there = polygon_of(points, 6);
    const perp_mass_properties p = properties_of(&here, true);
    perp_mass_properties q = properties_of(&there, true);
    NEAR(q.mass, p.mass, 0.0);
    NEAR(q.com.x - far, p.com.x, far * EPS);
    NEAR(q.inertia.m[8], p.inertia.m[8], 40 * EPS);
    const perp_body body = body_of(&there, 1);
    q = body_properties_of(&body, true);
    NEAR(q.mass, p.mass, 4 * EPS);
    NEAR(q.inertia.m[8], p.inertia.m[8], 40 * EPS);

    /* The same for a dumb-bell of boxes: the inertia is that of the boxes and of their distance. */
    perp_shape boxes[2] = {box_of(0.5, 0.5, 0.5), box_of(0.5, 0.5, 0.5)};
    boxes[0].pose.pose.position = perp_vec3_make(far, far, far);
    boxes[1].pose.pose.position = perp_vec3_make(far, far, far + 2);
    const perp_body pair = body_of(boxes, 2);
    q = body_properties_of(&pair, false);
    NEAR(q.com.z - far, 1.0, far * 2 * EPS);
    NEAR(q.inertia.m[0], 0.25 * (0.5 / 12 + 1.0), 0.5 * far * 4 * EPS); /* the centre is known to far EPS only */
    NEAR(q.inertia.m[8], 0.25 * 0.5 / 12, 40 * EPS);
    NEAR(q.inertia.m[1], 0.0, 40 * EPS);
}

/* ---- bodies: what the format says -------------------------------------------------------------------------------- */

/* `mass` given: com defaults to the origin, wherever the shapes are; inertia from the shapes is scaled to the mass and
 * taken about com (not about the centroid). */
static void test_mass_given(void **state)
{
    (void)state;
    perp_shape shape = box_of(0.6, 1.0, 1.4);
    shape.pose.pose.position = perp_vec3_make(0.5, 0, 0);
    perp_body body = perp_body_default("body");
    body.shapes = &shape;
    body.shape_count = 1;
    body.mass = perp_set(2.0);
    perp_mass_properties p = body_properties_of(&body, false);
    NEAR(p.mass, 2.0, 0.0);
    assert_true(p.com.x == 0 && p.com.y == 0 && p.com.z == 0);
    NEAR(p.inertia.m[0], 2.0 / 12 * (1.0 + 1.96), 8 * EPS);
    NEAR(p.inertia.m[4], 2.0 / 12 * (0.36 + 1.96) + 2.0 * 0.25, 8 * EPS);
    NEAR(p.inertia.m[8], 2.0 / 12 * (0.36 + 1.0) + 2.0 * 0.25, 8 * EPS);

    body.com_set = true;
    body.com = perp_vec3_make(0.5, 0.3, 0);
    p = body_properties_of(&body, false);
    assert_true(p.com.x == 0.5 && p.com.y == 0.3 && p.com.z == 0);
    NEAR(p.inertia.m[0], 2.0 / 12 * (1.0 + 1.96) + 2.0 * 0.09, 8 * EPS);
    NEAR(p.inertia.m[4], 2.0 / 12 * (0.36 + 1.96), 8 * EPS);
    NEAR(p.inertia.m[1], 0.0, 8 * EPS); /* from the centroid it lies along y */

    body.inertia_count = 6; /* written: about com, taken as it is */
    const double written[6] = {1, 2, 2.5, 0.1, 0.2, 0.3};
    memcpy(body.inertia, written, sizeof written);
    p = body_properties_of(&body, false);
    const perp_mat3 full = {{1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 2.5}};
    assert_memory_equal(&p.inertia, &full, sizeof full);
    body.inertia_count = 3;
    p = body_properties_of(&body, false);
    const perp_mat3 diagonal = {{1, 0, 0, 0, 2, 0, 0, 0, 2.5}};
    assert_memory_equal(&p.inertia, &diagonal, sizeof diagonal);
}

/* Shapes of different size share a given mass in proportion to their volume. */
static void test_mass_given_to_a_compound(void **state)
{
    (void)state;
    perp_shape shapes[2] = {box_of(1, 1, 1), round_of(PERP_SHAPE_SPHERE, 0.3, 0)};
    shapes[0].pose.pose.position = perp_vec3_make(1, 0, 0);
    shapes[1].pose.pose = (perp_pose){perp_quat_from_rpy(1, 2, 3), {0, 2, 0}};
    perp_body by_density = body_of(shapes, 2);
    by_density.density = perp_set(700.0);
    const perp_mass_properties p = body_properties_of(&by_density, false);
    perp_body by_mass = by_density;
    by_mass.density.set = false;
    by_mass.mass = perp_set(p.mass);
    by_mass.com_set = true;
    by_mass.com = p.com;
    const perp_mass_properties q = body_properties_of(&by_mass, false);
    SAME(&q, &p, 1.0, 40 * EPS, false);
}

/* `density`: com is the centroid; a shape's own density stands before the body's. */
static void test_density(void **state)
{
    (void)state;
    perp_shape shapes[2] = {box_of(1, 1, 1), box_of(1, 1, 1)};
    shapes[0].pose.pose.position = perp_vec3_make(-1, 0, 0);
    shapes[1].pose.pose.position = perp_vec3_make(2, 0, 0);
    perp_body body = body_of(shapes, 2);
    body.density = perp_set(10.0);
    perp_mass_properties p = body_properties_of(&body, false);
    NEAR(p.mass, 20.0, 8 * EPS * 20);
    NEAR(p.com.x, 0.5, 4 * EPS);
    NEAR(p.inertia.m[0], 20.0 / 6, 8 * EPS * 20);
    NEAR(p.inertia.m[4], 20.0 / 6 + 20 * 2.25, 8 * EPS * 50);

    shapes[1].density = perp_set(30.0);
    p = body_properties_of(&body, false);
    NEAR(p.mass, 40.0, 8 * EPS * 40);
    NEAR(p.com.x, (10.0 * -1 + 30.0 * 2) / 40, 4 * EPS * 2);
    NEAR(p.inertia.m[8], 40.0 / 6 + 10 * 2.25 * 2.25 + 30 * 0.75 * 0.75, 8 * EPS * 80);

    body.density.set = false; /* then only the shape that has one weighs */
    p = body_properties_of(&body, false);
    NEAR(p.mass, 30.0, 8 * EPS * 30);
    NEAR(p.com.x, 2.0, 4 * EPS * 2);
    shapes[1].density = perp_set(0.0); /* zero is a density too */
    body.density = perp_set(10.0);
    p = body_properties_of(&body, false);
    NEAR(p.mass, 10.0, 8 * EPS * 10);

    body.inertia_count = 3; /* a written inertia goes with a mass from density */
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 7.0;
    p = body_properties_of(&body, false);
    NEAR(p.mass, 10.0, 8 * EPS * 10);
    NEAR(p.com.x, -1.0, 4 * EPS);
    NEAR(p.inertia.m[4], 7.0, 0.0);
}

/* Planar density is kg/m^2, and only the moment about z acts. */
static void test_planar_body(void **state)
{
    (void)state;
    perp_shape shape = box_of(2, 3, 0);
    place_planar(&shape, 1, 0, 0.3);
    perp_body body = body_of(&shape, 1);
    body.density = perp_set(5.0);
    perp_mass_properties p = body_properties_of(&body, true);
    NEAR(p.mass, 30.0, 8 * EPS * 30);
    NEAR(p.com.x, 1.0, 4 * EPS);
    for (int i = 0; i < 8; i++) {
        NEAR(p.inertia.m[i], 0.0, 0.0);
    }
    NEAR(p.inertia.m[8], 30.0 * 13 / 12, 8 * EPS * 40);
    body.density.set = false;
    body.mass = perp_set(30.0);
    p = body_properties_of(&body, true); /* about the origin */
    NEAR(p.inertia.m[8], 30.0 * 13 / 12 + 30.0, 8 * EPS * 80);
    body.inertia_count = 1;
    body.inertia[0] = 4.0;
    p = body_properties_of(&body, true);
    NEAR(p.inertia.m[8], 4.0, 0.0);
    NEAR(p.inertia.m[0], 0.0, 0.0);
}

/* point, plane, halfplane and hole add nothing, with a density or beside a shape that has volume. */
static void test_shapes_without_mass(void **state)
{
    (void)state;
    static const perp_shape_kind kinds[2][3] = {{PERP_SHAPE_POINT, PERP_SHAPE_PLANE, PERP_SHAPE_HOLE},
                                                {PERP_SHAPE_POINT, PERP_SHAPE_HALFPLANE, PERP_SHAPE_HOLE}};
    for (int planar = 0; planar < 2; planar++) {
        perp_shape shapes[4] = {box_of(1, 2, planar ? 0 : 3)};
        for (int i = 0; i < 3; i++) {
            shapes[i + 1] = round_of(kinds[planar][i], 0.5, 0.5);
            shapes[i + 1].normal = perp_vec3_make(0, 1, 0);
            shapes[i + 1].pose.pose.position = perp_vec3_make(7, 7, 0);
            shapes[i + 1].density = perp_set(1000.0);
            const perp_mass_properties p = properties_of(&shapes[i + 1], planar);
            NEAR(p.mass, 0.0, 0.0);
            for (int k = 0; k < 9; k++) {
                NEAR(p.inertia.m[k], 0.0, 0.0);
            }
        }
        const perp_body alone = body_of(shapes, 1), all = body_of(shapes, 4);
        const perp_mass_properties p = body_properties_of(&alone, planar), q = body_properties_of(&all, planar);
        SAME(&q, &p, 1.0, 0.0, planar);
        const perp_body nothing = body_of(shapes + 1, 3);
        const perp_mass_properties zero = body_properties_of(&nothing, planar);
        assert_true(zero.mass == 0 && zero.com.x == 0 && zero.inertia.m[8] == 0);
    }
}

/* Neither mass nor density: massless, whatever shapes there are. With mass and no volume: a point mass. */
static void test_massless_and_point_mass(void **state)
{
    (void)state;
    const perp_shape shape = box_of(1, 1, 1);
    perp_body body = body_of(&shape, 1);
    body.density.set = false;
    const perp_mass_properties p = body_properties_of(&body, false);
    assert_true(p.mass == 0 && p.inertia.m[0] == 0 && p.inertia.m[4] == 0 && p.inertia.m[8] == 0);
    body.shape_count = 0;
    body.mass = perp_set(3.0);
    body.com_set = true;
    body.com = perp_vec3_make(1, 2, 3);
    const perp_mass_properties q = body_properties_of(&body, false);
    assert_true(q.mass == 3 && q.com.z == 3 && q.inertia.m[0] == 0 && q.inertia.m[1] == 0);
}

/* A mesh needs its hull, which this layer does not have: refused where its volume would matter, else not asked for. */
static void test_mesh_is_unavailable(void **state)
{
    (void)state;
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    perp_shape shapes[2] = {shape_of(PERP_SHAPE_MESH), box_of(1, 1, 1)};
    shapes[0].points = points;
    shapes[0].point_count = 4;
    perp_mass_properties p;
    assert_int_equal(perp_shape_mass_properties(&shapes[0], false, &p), PERP_STATUS_UNAVAILABLE);
    perp_error error;
    perp_body body = body_of(shapes, 2);
    memset(&error, 0, sizeof error);
    assert_int_equal(perp_body_mass_properties(&body, false, &p, &error), PERP_STATUS_UNAVAILABLE);
    assert_int_equal(error.status, PERP_STATUS_UNAVAILABLE);
    assert_true(strlen(error.message) > 0);
    body.density.set = false;
    body.mass = perp_set(1.0); /* its inertia would need the hull */
    assert_int_equal(perp_body_mass_properties(&body, false, &p, NULL), PERP_STATUS_UNAVAILABLE);
    body.inertia_count = 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    p = body_properties_of(&body, false); /* all is written */
    assert_true(p.mass == 1.0 && p.inertia.m[8] == 0.1);
    body.inertia_count = 0;
    body.mass.set = false; /* massless: nothing is asked */
    p = body_properties_of(&body, false);
    assert_true(p.mass == 0.0);
}

/* Two corners are no polygon, and a flat one has no mass: neither is a reason to read beyond the corners or to divide.
 */
static void test_polygon_without_area(void **state)
{
    (void)state;
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    perp_shape shape = polygon_of(points, 2);
    perp_mass_properties p;
    assert_int_equal(perp_shape_mass_properties(&shape, true, &p), PERP_STATUS_BAD_INPUT);
    shape.point_count = 3;
    p = properties_of(&shape, true);
    assert_true(p.mass == 0.0 && p.inertia.m[8] == 0.0 && p.com.x == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spatial_shapes_by_indicator),
        cmocka_unit_test(test_planar_shapes_by_indicator),
        cmocka_unit_test(test_spatial_shapes_by_slices),
        cmocka_unit_test(test_planar_capsule_by_quadrature),
        cmocka_unit_test(test_capsule_becomes_round),
        cmocka_unit_test(test_box_cut_into_pieces),
        cmocka_unit_test(test_posed_shape),
        cmocka_unit_test(test_polygon_is_two_boxes),
        cmocka_unit_test(test_regular_polygon),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_mass_given),
        cmocka_unit_test(test_mass_given_to_a_compound),
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_planar_body),
        cmocka_unit_test(test_shapes_without_mass),
        cmocka_unit_test(test_massless_and_point_mass),
        cmocka_unit_test(test_mesh_is_unavailable),
        cmocka_unit_test(test_polygon_without_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
