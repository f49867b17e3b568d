/* Spatial distances: closed forms, a slow reference, identities over random pairs, ties that hold still. */
#include "spatial_shapes.h"

#include "geometry/spatial_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static perp_separation distance(const body *a, const body *b)
{
    perp_spatial_shape p = a->shape, q = b->shape;
    p.hull = &a->hull;
    q.hull = &b->hull;
    return perp_spatial_distance(&p, &q);
}

static void near_(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define NEAR(value, expected, tolerance) near_(value, expected, tolerance, __LINE__)
#define VECTOR(v, ex, ey, ez, tolerance)                                                                               \
    do {                                                                                                               \
        NEAR((v).x, ex, tolerance);                                                                                    \
        NEAR((v).y, ey, tolerance);                                                                                    \
        NEAR((v).z, ez, tolerance);                                                                                    \
    } while (0)

static const double pi = 3.141592653589793;

static perp_quat turn(double x, double y, double z, double angle)
{
    return perp_quat_from_axis_angle(vec(x, y, z), angle);
}

static body cube(double x, double y, double z)
{
    return box(vec(x, y, z), perp_quat_identity(), 1, 1, 1);
}

/* ---- closed forms ---------------------------------------------------------------------------------------------- */

static void spheres(void **state)
{
    (void)state;
    const body a = sphere(vec(1, 2, 3), 0.5), b = sphere(vec(3, 5, 9), 0.25), same = sphere(vec(1, 2, 3), 0.1);
    perp_separation s = distance(&a, &b);
    NEAR(s.phi, 7 - 0.75, 1e-15);
    VECTOR(s.normal, 2.0 / 7, 3.0 / 7, 6.0 / 7, 1e-15);
    VECTOR(s.point_a, 1 + 1.0 / 7, 2 + 1.5 / 7, 3 + 3.0 / 7, 1e-15);
    s = distance(&a, &same);
    NEAR(s.phi, -0.6, 1e-15);
    VECTOR(s.normal, 1, 0, 0, 0);
    assert_true(s.tie);
}

static void capsules(void **state)
{
    (void)state;
    const perp_quat to_x = turn(0, 1, 0, pi / 2), to_y = turn(1, 0, 0, -pi / 2);
    const body x = capsule(vec(0, 0, 0), to_x, 4, 0.1), y = capsule(vec(1, 0.5, 0.7), to_y, 2, 0.2);
    perp_separation s = distance(&x, &y); /* over each other */
    NEAR(s.phi, 0.7 - 0.3, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 1e-15);
    VECTOR(s.point_b, 1, 0, 0.5, 1e-15);
    const body parallel = capsule(vec(3, 0, 0.5), to_x, 4, 0.1), in_line = capsule(vec(7, 0, 0), to_x, 4, 0.1);
    s = distance(&x, &parallel);
    NEAR(s.phi, 0.5 - 0.2, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 1e-15);
    s = distance(&x, &in_line);
    NEAR(s.phi, 3 - 0.2, 1e-15);
    VECTOR(s.normal, 1, 0, 0, 1e-15);
    const body cross = capsule(vec(0.5, 0, 0), to_y, 2, 0.2), on = sphere(vec(1, 0, 0), 0.3);
    s = distance(&x, &cross);
    NEAR(s.phi, -0.3, 1e-15);
    NEAR(fabs(s.normal.z), 1, 1e-15);
    assert_true(s.tie);
    s = distance(&x, &on);
    NEAR(s.phi, -0.4, 1e-15);
    NEAR(s.normal.x, 0, 1e-15);
    assert_true(s.tie);
}

static void on_halfspace(void **state)
{
    (void)state;
    const perp_spatial_shape ground = halfspace(vec(0, 0.6, 0.8), 2);
    const body ball = sphere(vec(5, 3, 4), 0.5);
    perp_separation s = perp_spatial_distance(&ground, &ball.shape);
    NEAR(s.phi, 5 - 2 - 0.5, 1e-15);
    VECTOR(s.normal, 0, 0.6, 0.8, 0);
    VECTOR(s.point_a, 5, 3 - 0.6 * 3, 4 - 0.8 * 3, 1e-15);
    s = perp_spatial_distance(&ball.shape, &ground);
    VECTOR(s.normal, 0, -0.6, -0.8, 0);
    const body b = box(vec(0, 0, 0), turn(1, 0, 0, 0.3), 1, 2, 3);
    const perp_spatial_shape floor = halfspace(vec(0, 0, 1), -1);
    s = perp_spatial_distance(&floor, &b.shape);
    NEAR(s.phi, 1 - (sin(0.3) + 1.5 * cos(0.3)), 1e-15);
    s = perp_spatial_distance(&floor, &ground);
    assert_true(isinf(s.phi) && s.phi > 0);
}

static void boxes(void **state)
{
    (void)state;
    const body a = cube(0, 0, 0), above = cube(0.3, 0.2, 1.1), deep = cube(0.3, 0.2, 0.9), off = cube(2, 3, 3);
    perp_separation s = distance(&a, &above);
    NEAR(s.phi, 0.1, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 0);
    s = distance(&a, &deep);
    NEAR(s.phi, -0.1, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 0);
    assert_false(s.tie);
    s = distance(&a, &off); /* (0.5, 0.5, 0.5) to (1.5, 2.5, 2.5) */
    NEAR(s.phi, 3, 1e-14);
    VECTOR(s.normal, 1.0 / 3, 2.0 / 3, 2.0 / 3, 1e-14);
    s = distance(&a, &a);
    NEAR(s.phi, -1, 1e-15);
    VECTOR(s.normal, 1, 0, 0, 0); /* the first of six faces */
    assert_true(s.tie);
    /* An edge along x and one along y, crossed: 45 degrees each. */
    const body ridge = box(vec(0, 0, 0), turn(1, 0, 0, pi / 4), 4, 1, 1);
    for (int k = -1; k <= 1; k++) {
        const double gap = 0.01 * k;
        const body keel = box(vec(0.2, 0.1, sqrt(2.0) + gap), turn(0, 1, 0, pi / 4), 1, 4, 1);
        s = distance(&ridge, &keel);
        NEAR(s.phi, gap, 1e-14);
        VECTOR(s.normal, 0, 0, 1, 1e-14);
        VECTOR(s.point_a, 0.2, 0, sqrt(0.5), 1e-14);
    }
}

static void round_things_and_boxes(void **state)
{
    (void)state;
    const body b = box(vec(0, 0, 0), perp_quat_identity(), 2, 4, 6), in = sphere(vec(0.2, 1.7, 0), 0.1);
    const body corner = sphere(vec(2, 4, 5), 0.5), touching = sphere(vec(0.1, 0.2, 3), 0);
    perp_separation s = distance(&b, &corner);
    NEAR(s.phi, 3 - 0.5, 1e-15);
    VECTOR(s.normal, 1.0 / 3, 2.0 / 3, 2.0 / 3, 1e-15);
    s = distance(&b, &in);
    NEAR(s.phi, -0.3 - 0.1, 1e-15);
    VECTOR(s.normal, 0, 1, 0, 0);
    VECTOR(s.point_a, 0.2, 2, 0, 1e-14);
    s = distance(&b, &touching);
    NEAR(s.phi, 0, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 0);
    const body over = capsule(vec(0, 0, 3.5), turn(1, 0, 0, pi / 2), 2, 0.1);
    s = distance(&over, &b);
    NEAR(s.phi, 0.5 - 0.1, 1e-15);
    VECTOR(s.normal, 0, 0, -1, 1e-15);
    const body through = capsule(vec(0.9, 0, 0), turn(1, 0, 0, pi / 2), 20, 0.1); /* out at +x by 0.1 */
    s = distance(&b, &through);
    NEAR(s.phi, -0.1 - 0.1, 1e-15);
    VECTOR(s.normal, 1, 0, 0, 1e-15);
}

static void hull_faces(void **state)
{
    (void)state;
    perp_vec3 p[8];
    for (int i = 0; i < 8; i++) {
        p[i] = vec(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    }
    body b;
    assert_true(hull_of(p, 8, &b));
    assert_int_equal(b.triangles, 12);
    assert_int_equal(b.hull.face_count, 6);
    assert_int_equal(b.hull.edge_count, 12);
    for (int f = 0; f < 6; f++) { /* loops turn about the normals */
        const perp_spatial_face *face = &b.hull.faces[f];
        const int *loop = b.hull.loops + face->start;
        assert_int_equal(face->count, 4);
        int first = -1; /* edge of the border in the order of triangles: loops begin there */
        for (int s = 0; s < 3 * b.triangles && first < 0; s++) {
            const perp_vec3 from = b.local[b.triangle[s / 3][s % 3]], to = b.local[b.triangle[s / 3][(s % 3 + 1) % 3]];
            const perp_vec3 third = b.local[b.triangle[s / 3][(s % 3 + 2) % 3]];
            const perp_vec3 n = perp_vec3_cross(perp_vec3_sub(to, from), perp_vec3_sub(third, to));
            const bool border = perp_vec3_norm(perp_vec3_sub(to, from)) == 2; /* a diagonal is longer */
            first = border && perp_vec3_dot(n, face->normal) > 3 ? b.triangle[s / 3][s % 3] : -1;
        }
        assert_true(first >= 0 && perp_vec3_norm(perp_vec3_sub(b.local[first], b.hull.corners[loop[0]])) == 0);
        for (int k = 0; k < 4; k++) {
            const perp_vec3 c[3] = {b.hull.corners[loop[k]], b.hull.corners[loop[(k + 1) % 4]],
                                    b.hull.corners[loop[(k + 2) % 4]]};
            const perp_vec3 x = perp_vec3_cross(perp_vec3_sub(c[1], c[0]), perp_vec3_sub(c[2], c[1]));
            NEAR(perp_vec3_dot(x, face->normal), 4, 1e-14);
        }
    }
    const body same = box(vec(0.3, 0, 1.9), turn(0, 0, 1, 0.4), 2, 2, 2);
    const perp_separation s = distance(&b, &same);
    NEAR(s.phi, -0.1, 1e-14);
    VECTOR(s.normal, 0, 0, 1, 1e-15);
    perp_spatial_trace trace; /* faces decide this without a search */
    perp_spatial_distance_traced(&b.shape, &same.shape, INFINITY, &trace);
    assert_int_equal(trace.gjk_iterations + trace.epa_iterations, 0);
    drop(&b);
}

static void bad_hulls(void **state)
{
    (void)state;
    const perp_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int good[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    perp_spatial_hull hull;
    perp_error error;
    assert_int_equal(perp_spatial_hull_prepare(p, 4, good, 4, NULL, &hull, &error), PERP_STATUS_OK);
    assert_int_equal(hull.face_count, 4);
    perp_spatial_hull_free(&hull);
    for (int i = 0; i < 12; i++) { /* any one index wrong */
        int bad[12];
        memcpy(bad, good, sizeof bad);
        bad[i] = (bad[i] + 1) % 4;
        assert_int_equal(perp_spatial_hull_prepare(p, 4, bad, 4, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
        bad[i] = i & 1 ? -1 : 4;
        assert_int_equal(perp_spatial_hull_prepare(p, 4, bad, 4, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    }
    const perp_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    assert_int_equal(perp_spatial_hull_prepare(flat, 4, good, 4, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    assert_int_equal(perp_spatial_hull_prepare(p, 4, good, 3, NULL, &hull, &error), PERP_STATUS_BAD_INPUT);
    assert_null(hull.corners);
}

/* Stacks and rows of equal cubes keep their normal when everything moves by 1e-9. */
static void ties_hold_still(void **state)
{
    (void)state;
    perp_random random = {7};
    for (int i = 0; i < 2000; i++) {
        const double gap = (i % 5 - 2) * 1e-9;
        body a = cube(0, 0, 0), b = i % 2 ? cube(0, 0, 1 + gap) : cube(1, 0, 1 + gap);
        if (i % 3 == 0) {
            b = cube(1, 1, 1);
        }
        const perp_separation before = distance(&a, &b);
        b.pose.position = perp_vec3_add_scaled(b.pose.position, 5e-10, random_vec(&random));
        b.pose.rotation = perp_quat_exp(perp_vec3_scale(5e-10, random_vec(&random)));
        place(&b);
        const perp_separation after = distance(&a, &b);
        NEAR(perp_vec3_dot(before.normal, after.normal), 1, 1e-15);
        NEAR(before.phi, after.phi, 4e-9);
    }
}

/* ---- random pairs ---------------------------------------------------------------------------------------------- */

static int random_count = 50000;
static uint64_t seed = 20240611;

typedef struct tally {
    int pairs, ties, overlapping, gradients, skipped, gjk, epa, limits;
    double separated, depth, tied, surface, swap, motion, gradient; /* largest errors */
} tally;

static void worst(double *largest, double error)
{
    *largest = fmax(*largest, error);
}

/* What the ties are allowed: see perp_spatial_distance. */
static double tie_tolerance(const body *a, const body *b)
{
    const body *const both[2] = {a, b};
    double size = 0;
    for (int s = 0; s < 2; s++) {
        double farthest = 0;
        for (int i = 0; i < both[s]->points; i++) {
            farthest = fmax(farthest, perp_vec3_norm(both[s]->local[i]));
        }
        size += 2 * farthest;
    }
    return 4e-9 + 2e-9 * size;
}

static void check_distance(const body *a, const body *b, const perp_separation *s, tally *t)
{
    const double radii = a->shape.radius + b->shape.radius, tolerance = tie_tolerance(a, b);
    const double core = s->phi + radii, expected = slow_distance(a, b), error = fabs(core - expected);
    const double extent = 1 + a->size + b->size;
    NEAR(perp_vec3_norm(s->normal), 1, 1e-14);
    const perp_vec3 d = perp_vec3_sub(s->point_b, s->point_a);
    NEAR(perp_vec3_norm(perp_vec3_add_scaled(d, -s->phi, s->normal)), 0, 1e-14 * extent);
    worst(s->tie ? &t->tied : expected > 0 ? &t->separated : &t->depth, error);
    NEAR(core, expected, s->tie ? tolerance : 1e-10);
    const double off = fmax(off_surface(a, s->point_a), off_surface(b, s->point_b));
    worst(&t->surface, off);
    NEAR(off, 0, tolerance);
    if (a->triangles + b->triangles >
        0) { /* along the normal; twice, for phi of cores that are apart is the distance */
        NEAR(gap_along(a, b, s->normal), core, 2 * tolerance);
    }
    t->ties += s->tie;
    t->overlapping += s->phi < 0;
}

static void check_no_limit(const body *a, const body *b, tally *t)
{
    perp_spatial_shape sa = a->shape, sb = b->shape;
    sa.hull = &a->hull;
    sb.hull = &b->hull;
    perp_spatial_trace trace;
    perp_spatial_distance_traced(&sa, &sb, INFINITY, &trace);
    t->limits += trace.limit;
    t->gjk = trace.gjk_iterations > t->gjk ? trace.gjk_iterations : t->gjk;
    t->epa = trace.epa_iterations > t->epa ? trace.epa_iterations : t->epa;
}

static void check_identities(const body *a, const body *b, const perp_separation *s, perp_random *random, tally *t)
{
    const double tolerance = tie_tolerance(a, b); /* at whose edge one order may see a tie and the other none */
    const perp_separation back = distance(b, a);
    worst(s->tie || back.tie ? &t->tied : &t->swap, fabs(back.phi - s->phi));
    NEAR(back.phi, s->phi, s->tie || back.tie ? tolerance : 1e-10);
    const double core = fabs(s->phi + a->shape.radius + b->shape.radius);
    if (!s->tie && !back.tie && core > 1e-3) { /* nearer, 1e-15 of a corner turns the normal of two corners visibly */
        NEAR(perp_vec3_norm(perp_vec3_add(back.normal, s->normal)), 0, 2e-6); /* normals within 1e-6 are no tie */
    }
    body c = *a, d = *b;
    const perp_pose motion = {random_quat(random), random_vec(random)};
    c.pose = perp_pose_mul(motion, c.pose);
    d.pose = perp_pose_mul(motion, d.pose);
    place(&c);
    place(&d);
    const perp_separation moved = distance(&c, &d);
    worst(s->tie || moved.tie ? &t->tied : &t->motion, fabs(moved.phi - s->phi));
    NEAR(moved.phi, s->phi, s->tie || moved.tie ? tolerance : 1e-10);
}

/* d phi / dt for a motion of b is normal . velocity of point_b, unless the normal jumps. The step is small against the
 * gap of the cores and the features, for the error of the difference is of the second order in that ratio. */
static void check_gradient(const body *a, const body *b, const perp_separation *s, perp_random *random, tally *t)
{
    const double core = fabs(s->phi + a->shape.radius + b->shape.radius);
    const double thin = fmin(a->smallest > 0 ? a->smallest : 1, b->smallest > 0 ? b->smallest : 1);
    const double reach = 1 + b->size, step = 3e-5 * fmin(core, thin) / reach;
    const double rounding = 4e-16 * (core + a->size + b->size) / step;
    if (s->tie || core < 1e-3 || rounding > 2e-7) {
        return;
    }
    const perp_vec3 v = random_vec(random), w = random_vec(random);
    const perp_vec3 arm = perp_vec3_sub(s->point_b, b->pose.position);
    const double rate = perp_vec3_dot(s->normal, perp_vec3_add(v, perp_vec3_cross(w, arm)));
    perp_separation at[2];
    for (int k = 0; k < 2; k++) {
        body c = *b;
        const double h = k ? step : -step;
        c.pose.position = perp_vec3_add_scaled(c.pose.position, h, v);
        c.pose.rotation = perp_quat_mul(perp_quat_exp(perp_vec3_scale(h, w)), c.pose.rotation);
        place(&c);
        at[k] = distance(a, &c);
    }
    /* Another feature took over: the normal or the witness jumps, or turns on one side only (phi has no second
     * derivative), or nearly so: the witness runs along nearly parallel edges much faster than the body. */
    const perp_vec3 sum = perp_vec3_add(at[0].normal, at[1].normal);
    const perp_vec3 points = perp_vec3_add(at[0].point_b, at[1].point_b);
    const double run = perp_vec3_norm(perp_vec3_sub(at[0].point_b, at[1].point_b));
    if (at[0].tie || at[1].tie || perp_vec3_norm(perp_vec3_add_scaled(sum, -2, s->normal)) > 3e-8 ||
        perp_vec3_norm(perp_vec3_add_scaled(points, -2, s->point_b)) > 3 * step * reach || run > 0.01 * thin) {
        t->skipped++;
        return;
    }
    const double difference = (at[1].phi - at[0].phi) / (2 * step);
    t->gradients++;
    worst(&t->gradient, fabs(difference - rate) / reach);
    NEAR(difference, rate, 1e-6 * reach);
}

static void check_pair(const body *a, const body *b, perp_random *random, tally *t)
{
    const perp_separation s = distance(a, b);
    t->pairs++;
    check_distance(a, b, &s, t);
    check_no_limit(a, b, t);
    check_identities(a, b, &s, random, t);
    check_gradient(a, b, &s, random, t);
}

/* b somewhere about a: coincident, beside it at a distance like the sizes, on a grid of its half lengths, or barely
 * touching or apart. */
static void put(const body *a, body *b, int mode, perp_random *random)
{
    const double reach = a->size + b->size + a->shape.radius + b->shape.radius + 1e-3;
    perp_vec3 at = vec(0, 0, 0);
    if (mode == 1) {
        at = perp_vec3_scale(log_uniform(random, 1e-3, 2) * reach, random_vec(random));
    } else if (mode == 2) { /* corners over corners, faces in one plane */
        const perp_vec3 h = a->points == 8 ? a->local[7] : vec(a->size, a->size, a->size);
        const perp_vec3 g = b->points == 8 ? b->local[7] : vec(0, 0, 0);
        const perp_vec3 r = random_vec(random);
        at = vec(round(2 * r.x) / 2 * (h.x + g.x), round(2 * r.y) * (h.y + g.y), round(2 * r.z) * (h.z + g.z));
        at = perp_quat_rotate(a->pose.rotation, at);
        b->pose.rotation = a->pose.rotation;
    } else if (mode >= 3) {
        at = perp_vec3_scale(0.6 * reach, random_vec(random));
    }
    b->pose.position = at;
    place(b);
    if (mode >= 3) {
        const double gap = log_uniform(random, 1e-12, 1e-6), thin = fmax(b->smallest, 1e-4);
        const double wanted = mode == 3 ? gap : mode == 4 ? -gap : perp_random_uniform(random, -0.1, 0.1) * thin;
        for (int k = 0; k < 2; k++) { /* cores to the gap, or near it if another feature comes first */
            const perp_separation s = distance(a, b);
            const double core = s.phi + a->shape.radius + b->shape.radius;
            b->pose.position = perp_vec3_add_scaled(b->pose.position, wanted - core, s.normal);
            place(b);
        }
    }
}

static void random_pairs(void **state)
{
    (void)state;
    perp_random random = {seed};
    tally t = {0};
    for (int i = 0; i < random_count; i++) {
        body a = random_body(&random), b = random_body(&random);
        if (i % 16 == 0) {
            drop(&b);
            b = box(vec(0, 0, 0), a.pose.rotation, a.size + 0.1, a.size + 0.1, a.size + 0.1);
        }
        put(&a, &b, i % 6, &random);
        check_pair(&a, &b, &random, &t);
        drop(&a);
        drop(&b);
    }
    print_message(
        "%d pairs, %d overlapping, %d ties; at most %d + %d iterations, %d limits; largest errors: apart %.1e, "
        "depth %.1e, "
        "tied %.1e, off surface %.1e, swapped %.1e, moved %.1e, gradient %.1e (%d, %d skipped)\n",
        t.pairs, t.overlapping, t.ties, t.gjk, t.epa, t.limits, t.separated, t.depth, t.tied, t.surface, t.swap,
        t.motion, t.gradient, t.gradients, t.skipped);
    assert_true(t.skipped < t.gradients / 4);
    assert_int_equal(t.limits, 0);
}

/* A cone over a base of points that are flat to 1e-13, some of them in its middle: every climb ends at the top. */
static void nearly_flat_hulls(void **state)
{
    (void)state;
    perp_random random = {17};
    for (int round = 0; round < 300; round++) {
        enum { COUNT = 60 };
        perp_vec3 points[COUNT];
        for (int i = 0; i < COUNT; i++) {
            points[i] = random_vec(&random);
            points[i].z *= 1e-13;
        }
        points[0].z = 0.4;
        perp_hull raw;
        perp_spatial_hull hull;
        assert_int_equal(perp_hull_build(points, COUNT, NULL, &raw, NULL), PERP_STATUS_OK);
        assert_int_equal(perp_spatial_hull_prepare(raw.points, raw.point_count, raw.triangles, raw.triangle_count, NULL,
                                                   &hull, NULL),
                         PERP_STATUS_OK);
        for (int k = 0; k < 100; k++) {
            const perp_vec3 d = random_vec(&random);
            const int start = (int)perp_random_uniform(&random, 0, hull.corner_count);
            const int top = perp_spatial_hull_support(&hull, d, start);
            for (int i = 0; i < hull.corner_count; i++) {
                assert_true(perp_vec3_dot(d, hull.corners[i]) <= perp_vec3_dot(d, hull.corners[top]) + 1e-11);
            }
        }
        perp_hull_free(&raw);
        perp_spatial_hull_free(&hull);
    }
}

/* [number of random pairs [seed]] */
int main(int argc, char **argv)
{
    random_count = argc > 1 ? atoi(argv[1]) : random_count;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres),
        cmocka_unit_test(capsules),
        cmocka_unit_test(on_halfspace),
        cmocka_unit_test(boxes),
        cmocka_unit_test(round_things_and_boxes),
        cmocka_unit_test(hull_faces),
        cmocka_unit_test(bad_hulls),
        cmocka_unit_test(nearly_flat_hulls),
        cmocka_unit_test(ties_hold_still),
        cmocka_unit_test(random_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
