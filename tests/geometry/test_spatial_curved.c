/* Cylinders and ellipsoids: closed forms, certificates, and a sampled minimum of the depth. */
#include "spatial_shapes.h"

#include "geometry/spatial_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void near_at(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define NEAR(value, expected, tolerance) near_at(value, expected, tolerance, __LINE__)
#define VECTOR(v, a, b, c, tolerance) (NEAR((v).x, a, tolerance), NEAR((v).y, b, tolerance), NEAR((v).z, c, tolerance))

static perp_spatial_shape at(perp_spatial_kind kind, perp_vec3 position, perp_quat turn)
{
    return (perp_spatial_shape){.kind = kind, .position = position, .rotation = perp_quat_to_mat3(turn)};
}

static perp_spatial_shape cylinder(perp_vec3 position, perp_quat turn, double radius, double length)
{
    perp_spatial_shape s = at(PERP_SPATIAL_CYLINDER, position, turn);
    s.radius = radius;
    s.half_length = length / 2;
    return s;
}

static perp_spatial_shape ellipsoid(perp_vec3 position, perp_quat turn, double a, double b, double c)
{
    perp_spatial_shape s = at(PERP_SPATIAL_ELLIPSOID, position, turn);
    s.half_lengths = vec(a, b, c);
    return s;
}

static perp_spatial_shape ball(perp_vec3 position, double radius)
{
    perp_spatial_shape s = at(PERP_SPATIAL_POINT, position, perp_quat_identity());
    s.radius = radius;
    return s;
}

static perp_spatial_shape brick(perp_vec3 position, perp_quat turn, double lx, double ly, double lz)
{
    perp_spatial_shape s = at(PERP_SPATIAL_BOX, position, turn);
    s.half_lengths = vec(lx / 2, ly / 2, lz / 2);
    return s;
}

static perp_quat about(perp_vec3 axis, double angle)
{
    return perp_quat_from_axis_angle(axis, angle);
}

static const double quarter = 1.5707963267948966;

/* Over the end, the side and the rim, and inside. */
static void sphere_and_cylinder(void **state)
{
    (void)state;
    const perp_spatial_shape c = cylinder(vec(0, 0, 0), perp_quat_identity(), 2, 6);
    const struct {
        perp_vec3 centre;
        double phi;
        perp_vec3 normal;
    } cases[] = {{{0.5, 1, 4}, 0.9, {0, 0, 1}},     {{0.5, 1, -4}, 0.9, {0, 0, -1}}, {{3, 4, 1}, 2.9, {0.6, 0.8, 0}},
                 {{5, 0, 7}, 4.9, {0.6, 0, 0.8}},   {{1.5, 0, 0}, -0.6, {1, 0, 0}},  {{0, 0, 2.75}, -0.35, {0, 0, 1}},
                 {{0, -1.9, 2.5}, -0.2, {0, -1, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const perp_spatial_shape b = ball(cases[i].centre, 0.1);
        const perp_vec3 n = cases[i].normal;
        perp_separation s = perp_spatial_distance(&c, &b);
        NEAR(s.phi, cases[i].phi, 1e-15);
        VECTOR(s.normal, n.x, n.y, n.z, 1e-15);
        s = perp_spatial_distance(&b, &c);
        NEAR(s.phi, cases[i].phi, 1e-15);
        VECTOR(s.normal, -n.x, -n.y, -n.z, 1e-15);
    }
    const perp_spatial_shape inner = ball(vec(1.5 + 1e-10, 0, 2.5), 0.1); /* the side is nearer by 1e-10: a tie */
    const perp_separation tied = perp_spatial_distance(&c, &inner);
    VECTOR(tied.normal, 0, 0, 1, 0);
    assert_true(tied.tie);
    const perp_spatial_shape middle = ball(vec(0, 0, 0), 0.1); /* the side is nearer than the ends, all around */
    const perp_separation s = perp_spatial_distance(&c, &middle);
    NEAR(s.phi, -2.1, 1e-15);
    VECTOR(s.normal, 1, 0, 0, 0);
    assert_true(s.tie);
}

/* On an axis the distance is known; elsewhere the foot x of y has y - x along the gradient of the surface. */
static void sphere_and_ellipsoid(void **state)
{
    (void)state;
    perp_random random = {3};
    for (int i = 0; i < 20000; i++) {
        const double size = log_uniform(&random, 0.1, 10); /* the tie tolerance is small against the thinnest */
        const perp_vec3 h = vec(size / log_uniform(&random, 1, 1000), size, size / log_uniform(&random, 1, 1000));
        const perp_spatial_shape e = ellipsoid(vec(0, 0, 0), perp_quat_identity(), h.x, h.y, h.z);
        perp_vec3 y = perp_vec3_scale(size * log_uniform(&random, 1e-3, 3), random_vec(&random));
        if (i % 4 == 0) {
            y = vec(0, 0, h.z * perp_random_uniform(&random, 1, 3));
        }
        const perp_spatial_shape b = ball(y, 0.01);
        const perp_separation s = perp_spatial_distance(&e, &b);
        const perp_vec3 x = s.point_a, g = vec(x.x / (h.x * h.x), x.y / (h.y * h.y), x.z / (h.z * h.z));
        const double inside = y.x * y.x / (h.x * h.x) + y.y * y.y / (h.y * h.y) + y.z * y.z / (h.z * h.z);
        NEAR(perp_vec3_dot(x, g), 1, 1e-12 + 1e-14 * perp_vec3_norm(g)); /* on the surface to 1e-14 m */
        NEAR(perp_vec3_norm(perp_vec3_cross(perp_vec3_normalise(g), s.normal)), 0, 1e-9);
        NEAR(perp_vec3_norm(perp_vec3_sub(perp_vec3_add_scaled(x, s.phi + 0.01, s.normal), y)), 0, 1e-14 * (1 + size));
        assert_true(s.tie || (s.phi + 0.01 > 0) == (inside > 1) || fabs(inside - 1) < 1e-12);
        if (i % 4 == 0) {
            NEAR(s.phi, y.z - h.z - 0.01, 1e-14 * (1 + size));
        }
    }
}

static void cylinders(void **state)
{
    (void)state;
    const perp_quat up = perp_quat_identity(), along_x = about(vec(0, 1, 0), quarter);
    const perp_spatial_shape a = cylinder(vec(0, 0, 0), up, 1, 4);
    perp_spatial_shape b = cylinder(vec(3, 4, 1), up, 1.5, 2); /* parallel, side by side */
    perp_separation s = perp_spatial_distance(&a, &b);
    NEAR(s.phi, 2.5, 1e-14);
    VECTOR(s.normal, 0.6, 0.8, 0, 1e-14);
    b = cylinder(vec(0, 3, 0), along_x, 1.5, 8); /* crossed */
    s = perp_spatial_distance(&a, &b);
    NEAR(s.phi, 0.5, 1e-14);
    VECTOR(s.normal, 0, 1, 0, 1e-13);
    b.position.y = 2.4; /* and overlapping */
    s = perp_spatial_distance(&a, &b);
    NEAR(s.phi, -0.1, 1e-13);
    VECTOR(s.normal, 0, 1, 0, 1e-13);
    b = cylinder(vec(0.3, 0.2, 3.5), up, 0.5, 2); /* end on end */
    s = perp_spatial_distance(&a, &b);
    NEAR(s.phi, 0.5, 1e-15);
    VECTOR(s.normal, 0, 0, 1, 0);
    b = cylinder(vec(4, 0, 6), up, 2, 2); /* rim to rim: (1, 0, 2) and (2, 0, 5) */
    s = perp_spatial_distance(&a, &b);
    NEAR(s.phi, sqrt(10), 1e-14);
    VECTOR(s.point_a, 1, 0, 2, 1e-13);
    VECTOR(s.point_b, 2, 0, 5, 1e-13);
}

static void on_planes_and_boxes(void **state)
{
    (void)state;
    const perp_spatial_shape ground = halfspace(vec(0, 0, 1), 0.25);
    const double tilt = 0.3;
    perp_spatial_shape c = cylinder(vec(1, 2, 5), about(vec(0, 1, 0), tilt), 0.5, 3);
    perp_separation s = perp_spatial_distance(&ground, &c);
    NEAR(s.phi, 5 - 0.25 - 1.5 * cos(tilt) - 0.5 * sin(tilt), 1e-15);
    perp_spatial_shape e = ellipsoid(vec(0, 0, 3), about(vec(0, 1, 0), tilt), 2, 1, 0.5);
    s = perp_spatial_distance(&ground, &e);
    NEAR(s.phi, 2.75 - sqrt(4 * sin(tilt) * sin(tilt) + 0.25 * cos(tilt) * cos(tilt)), 1e-15);
    /* The same over a large box, whose top is that plane. */
    const perp_spatial_shape table = brick(vec(0, 0, -0.75), perp_quat_identity(), 100, 100, 2);
    NEAR(perp_spatial_distance(&table, &e).phi, s.phi, 1e-14);
    NEAR(perp_spatial_distance(&table, &c).phi, perp_spatial_distance(&ground, &c).phi, 1e-14);
    for (int i = -1; i <= 1; i += 2) { /* standing and lying, a little in and a little out */
        const double gap = i * 1e-6;
        c = cylinder(vec(1, 2, 0.25 + 1.5 + gap), perp_quat_identity(), 0.5, 3);
        s = perp_spatial_distance(&table, &c);
        NEAR(s.phi, gap, 1e-15);
        VECTOR(s.normal, 0, 0, 1, 0);
        c = cylinder(vec(1, 2, 0.25 + 0.5 + gap), about(vec(0, 1, 0), quarter), 0.5, 3);
        s = perp_spatial_distance(&c, &table);
        NEAR(s.phi, gap, 1e-15);
        VECTOR(s.normal, 0, 0, -1, 1e-15);
        e.position.z = 0.25 + gap + sqrt(4 * sin(tilt) * sin(tilt) + 0.25 * cos(tilt) * cos(tilt));
        s = perp_spatial_distance(&table, &e);
        NEAR(s.phi, gap, 1e-14);
        VECTOR(s.normal, 0, 0, 1, 1e-12);
        assert_false(s.tie);
    }
    const perp_spatial_shape edge = brick(vec(0, 0, -1), about(vec(1, 0, 0), quarter / 2), 4, 2, 2);
    c = cylinder(vec(0, 0, 1), about(vec(1, 0, 0), quarter), 0.5, 3); /* lying across the edge at z = sqrt 2 - 1 */
    s = perp_spatial_distance(&edge, &c);
    NEAR(s.phi, 1 - 0.5 - (sqrt(2) - 1), 1e-14);
    VECTOR(s.normal, 0, 0, 1, 1e-13);
    VECTOR(s.point_b, 0, 0, 0.5, 1e-13);
}

/* ---- random pairs ------------------------------------------------------------------------------------------------ */

static perp_spatial_shape random_shape(perp_random *random, perp_spatial_kind kind, double aspect, double *small)
{
    const double size = log_uniform(random, 1e-2, 1), thin = size / log_uniform(random, 1, aspect);
    const double middle = log_uniform(random, thin, size * 1.0000001);
    const double l[3] = {size, middle, thin};
    const int k = (int)perp_random_uniform(random, 0, 3);
    perp_spatial_shape s = at(kind, vec(0, 0, 0), random_quat(random));
    s.half_lengths = vec(l[k] / 2, l[(k + 1) % 3] / 2, l[(k + 2) % 3] / 2);
    s.half_length = l[k] / 2;
    s.radius = kind == PERP_SPATIAL_CYLINDER ? l[(k + 1) % 3] / 2 : thin / 4;
    *small = fmin(*small, thin);
    return s;
}

/* gap(n) from supports written anew. */
static double reach(const perp_spatial_shape *s, perp_vec3 n)
{
    const perp_vec3 d = perp_mat3_tmul_vec(&s->rotation, n), h = s->half_lengths;
    double r = 0;
    switch (s->kind) {
    case PERP_SPATIAL_SEGMENT:
        r = s->radius + fabs(d.z) * s->half_length;
        break;
    case PERP_SPATIAL_BOX:
        r = fabs(d.x) * h.x + fabs(d.y) * h.y + fabs(d.z) * h.z;
        break;
    case PERP_SPATIAL_CYLINDER:
        r = s->radius * hypot(d.x, d.y) + fabs(d.z) * s->half_length;
        break;
    case PERP_SPATIAL_ELLIPSOID:
        r = sqrt(d.x * d.x * h.x * h.x + d.y * d.y * h.y * h.y + d.z * d.z * h.z * h.z);
        break;
    default:
        r = s->radius;
    }
    return r + perp_vec3_dot(n, s->position);
}

static double gap_of(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_vec3 n)
{
    return -reach(b, perp_vec3_scale(-1, n)) - reach(a, n);
}

/* A direction with a larger gap than `phi`, by random search from many starts. */
static double sampled_gap(const perp_spatial_shape *a, const perp_spatial_shape *b, double phi, perp_random *random)
{
    double best = -INFINITY;
    for (int start = 0; start < 200; start++) {
        perp_vec3 n = perp_vec3_normalise(random_vec(random));
        double gap = gap_of(a, b, n), step = 0.3;
        for (int k = 0; k < 100 && gap > 3 * phi; k++) {
            const perp_vec3 m = perp_vec3_normalise(perp_vec3_add_scaled(n, step, random_vec(random)));
            const double g = gap_of(a, b, m);
            step *= g > gap ? 1 : 0.92;
            n = g > gap ? m : n;
            gap = fmax(g, gap);
        }
        best = fmax(best, gap);
    }
    return best;
}

/* Apart, equal bounds from both sides prove the distance: the witnesses are points of the shapes (checked on their own
 * below), the gap is along the normal. Overlapping, no sampled direction may be less deep. */
static void random_pairs(void **state)
{
    (void)state;
    perp_random random = {11};
    static const perp_spatial_kind kinds[] = {PERP_SPATIAL_POINT, PERP_SPATIAL_SEGMENT, PERP_SPATIAL_BOX,
                                              PERP_SPATIAL_CYLINDER, PERP_SPATIAL_ELLIPSOID};
    double worst = 0, missed = 0;
    int ties = 0, limits = 0, count = 12000;
    for (int i = 0; i < count; i++) {
        double small = INFINITY;
        const double aspect = i % 10 == 0 ? 1000 : 100;
        const perp_spatial_shape a = random_shape(&random, kinds[i % 5], aspect, &small);
        perp_spatial_shape b = random_shape(&random, kinds[3 + i / 5 % 2], aspect, &small);
        b.position = perp_vec3_scale(log_uniform(&random, 1e-2, 1), random_vec(&random));
        const double wanted = i % 3 == 0   ? log_uniform(&random, 1e-6, 0.02)
                              : i % 3 == 1 ? -log_uniform(&random, 1e-9, 0.2) * small
                                           : -small * perp_random_uniform(&random, 0, 2);
        perp_spatial_trace trace;
        perp_separation s = perp_spatial_distance_traced(&a, &b, INFINITY, &trace);
        for (int k = 0; k < 3; k++) {
            b.position = perp_vec3_add_scaled(b.position, wanted - s.phi, s.normal);
            s = perp_spatial_distance_traced(&a, &b, INFINITY, &trace);
        }
        const double tolerance = 4e-9 + 2e-9 * 8;
        const double gap = gap_of(&a, &b, s.normal);
        ties += s.tie;
        limits += trace.limit;
        worst = fmax(worst, fabs(gap - s.phi));
        NEAR(perp_vec3_norm(s.normal), 1, 1e-14);
        NEAR(gap, s.phi, s.tie || fabs(s.phi) < 1e-7 ? tolerance : 1e-9);
        NEAR(perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_sub(s.point_b, s.point_a), -s.phi, s.normal)), 0, 1e-14);
        const perp_spatial_shape pa = ball(s.point_a, 0), pb = ball(s.point_b, 0); /* on the surfaces */
        NEAR(perp_spatial_distance(&a, &pa).phi, 0, 2 * tolerance);
        NEAR(perp_spatial_distance(&b, &pb).phi, 0, 2 * tolerance);
        if (s.phi < 0 && i % 7 == 0) {
            const double best = sampled_gap(&a, &b, s.phi, &random);
            missed = fmax(missed, best - s.phi);
            NEAR(fmax(best - s.phi, 0), 0, tolerance);
        }
    }
    assert_int_equal(limits, 0);
    print_message("%d pairs, %d ties: certificate %.1e, sampled minimum missed by %.1e\n", count, ties, worst, missed);
}

/* A cylinder centred in a cube, an ellipsoid in another: many normals tie, and 1e-9 does not change the choice. */
static void ties_hold_still(void **state)
{
    (void)state;
    perp_random random = {5};
    const perp_spatial_shape cube = brick(vec(0, 0, 0), perp_quat_identity(), 2, 2, 2);
    const perp_spatial_shape inner[] = {
        cylinder(vec(0, 0, 0), perp_quat_identity(), 0.5, 1), cylinder(vec(0.5, 0, 0.5), perp_quat_identity(), 0.5, 1),
        ellipsoid(vec(0, 0, 0), perp_quat_identity(), 0.5, 0.3, 0.5),
        cylinder(vec(0, 0, 1.5), perp_quat_identity(), 1, 1), /* standing on it, rims over its edges */
        cylinder(vec(0, 0, 1.5), about(vec(0, 1, 0), quarter), 0.5, 2)};
    for (size_t k = 0; k < sizeof inner / sizeof inner[0]; k++) {
        for (int swap = 0; swap < 2; swap++) {
            const perp_separation s =
                swap ? perp_spatial_distance(&inner[k], &cube) : perp_spatial_distance(&cube, &inner[k]);
            for (int i = 0; i < 200; i++) {
                perp_spatial_shape b = inner[k];
                const perp_mat3 turn = perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(3e-10, random_vec(&random))));
                b.position = perp_vec3_add_scaled(b.position, 5e-10, random_vec(&random));
                b.rotation = perp_mat3_mul(&turn, &b.rotation);
                const perp_separation t = swap ? perp_spatial_distance(&b, &cube) : perp_spatial_distance(&cube, &b);
                NEAR(perp_vec3_dot(s.normal, t.normal), 1, 1e-9);
                NEAR(t.phi, s.phi, 2e-8);
            }
        }
    }
}

/* A tin that is pressed into a narrower table, and tilted a little: its end, the table's top and the rim over the
 * table's edge are within 1 % of the depth of each other, and the search comes upon them in another order from the
 * other side. 4e-8 m is what it leaves; where it took a facet for settled too soon, 2e-6. */
static void tilted_on_a_narrow_table(void **state)
{
    (void)state;
    const perp_spatial_shape table = brick(vec(0, 0, -0.1), perp_quat_identity(), 0.15, 0.15, 0.2);
    double worst = 0;
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j < 12; j++) {
            const double tilt = 1e-6 * pow(1.4, i), around = 0.5235 * j + 0.01 * (i % 7);
            const perp_vec3 centre = vec(0.003 * j, 0.001 * i, 0.05 * cos(tilt) + 0.1 * sin(tilt) - 2.7e-4);
            const perp_spatial_shape tin = cylinder(centre, about(vec(cos(around), sin(around), 0), tilt), 0.1, 0.1);
            worst =
                fmax(worst, fabs(perp_spatial_distance(&table, &tin).phi - perp_spatial_distance(&tin, &table).phi));
        }
    }
    NEAR(worst, 0, 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_and_cylinder),
        cmocka_unit_test(sphere_and_ellipsoid),
        cmocka_unit_test(cylinders),
        cmocka_unit_test(on_planes_and_boxes),
        cmocka_unit_test(random_pairs),
        cmocka_unit_test(ties_hold_still),
        cmocka_unit_test(tilted_on_a_narrow_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
