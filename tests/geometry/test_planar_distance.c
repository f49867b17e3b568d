/* Planar distances: closed forms, a slow reference, identities over random pairs, ties that hold still. */
#include "geometry/planar_private.h"
#include "planar_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static perp_separation distance(const body *a, const body *b)
{
    const perp_planar_shape p = shape_of(a), q = shape_of(b);
    return perp_planar_distance(&p, &q);
}

static void near_(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define NEAR(value, expected, tolerance) near_(value, expected, tolerance, __LINE__)
#define NORMAL(s, nx, ny, tolerance)                                                                                   \
    do {                                                                                                               \
        NEAR((s).normal.x, nx, tolerance);                                                                             \
        NEAR((s).normal.y, ny, tolerance);                                                                             \
        NEAR((s).normal.z, 0.0, 0.0);                                                                                  \
    } while (0)

/* ---- closed forms ---------------------------------------------------------------------------------------------- */

static void discs(void **state)
{
    (void)state;
    const body a = disc(1, 2, 0.5), b = disc(4, 6, 0.25), inside = disc(1.3, 2.4, 0.25), same = disc(1, 2, 0.1);
    perp_separation s = distance(&a, &b);
    NEAR(s.phi, 5 - 0.75, 1e-15);
    NORMAL(s, 0.6, 0.8, 1e-15);
    NEAR(s.point_a.x, 1.3, 1e-15);
    NEAR(s.point_b.y, 6 - 0.2, 1e-15);
    s = distance(&a, &inside);
    NEAR(s.phi, 0.5 - 0.75, 1e-15);
    NORMAL(s, 0.6, 0.8, 1e-14);
    s = distance(&a, &same);
    NEAR(s.phi, -0.6, 1e-15);
    NORMAL(s, 1, 0, 0);
    assert_true(s.tie);
}

static void disc_and_segment(void **state)
{
    (void)state;
    const body a = segment(at(0, 0), at(2, 0), 0.1);
    const body above = disc(1.5, 1, 0.3), past = disc(5, 4, 0.3), in_line = disc(-3, 0, 0.3),
               below = disc(0.5, -0.05, 0.3);
    perp_separation s = distance(&a, &above);
    NEAR(s.phi, 0.6, 1e-15);
    NORMAL(s, 0, 1, 0);
    NEAR(s.point_a.x, 1.5, 1e-15);
    s = distance(&a, &past);
    NEAR(s.phi, 4.6, 1e-15);
    NORMAL(s, 0.6, 0.8, 1e-15);
    s = distance(&a, &in_line); /* on the segment's line: neither of its normals sees the disc */
    NEAR(s.phi, 2.6, 1e-15);
    NORMAL(s, -1, 0, 0);
    s = distance(&a, &below);
    NEAR(s.phi, 0.05 - 0.4, 1e-15);
    NORMAL(s, 0, -1, 0);
}

static void crossing_segments(void **state)
{
    (void)state;
    const body a = segment(at(-2, 0), at(2, 0), 0), b = segment(at(0.5, -0.3), at(0.5, 1), 0.1);
    const body in_line = segment(at(1, 0), at(5, 0), 0.2), beyond = segment(at(3, 0), at(5, 0), 0.2);
    perp_separation s = distance(&a, &b);
    NEAR(s.phi, -0.3 - 0.1, 1e-15); /* b moves up by 0.3, and its radius */
    NORMAL(s, 0, 1, 0);
    assert_false(s.tie);
    s = distance(&a, &in_line); /* up is as good as down */
    NEAR(s.phi, -0.2, 1e-15);
    assert_true(s.tie);
    s = distance(&a, &beyond);
    NEAR(s.phi, 1 - 0.2, 1e-15);
    NORMAL(s, 1, 0, 0);
    assert_false(s.tie);
}

static void boxes(void **state)
{
    (void)state;
    const body a = box(0, 0, 2, 1, 0), above = box(0.4, 1.2, 1, 1, 0), beside = box(3, 2, 1, 1, 0);
    const body deep = box(0.4, 0.9, 1, 1, 0), edge_down = box(0.2, 2, 1, 1, two_pi / 8);
    perp_separation s = distance(&a, &above);
    NEAR(s.phi, 0.2, 1e-15);
    NORMAL(s, 0, 1, 0);
    s = distance(&a, &beside); /* corner to corner: (1, 0.5) to (2.5, 1.5) */
    NEAR(s.phi, hypot(1.5, 1), 1e-15);
    NORMAL(s, 1.5 / s.phi, 1 / s.phi, 1e-15);
    s = distance(&a, &deep);
    NEAR(s.phi, -0.1, 1e-15);
    NORMAL(s, 0, 1, 0);
    s = distance(&a, &edge_down);
    NEAR(s.phi, 1.5 - sqrt(0.5), 1e-15);
    NORMAL(s, 0, 1, 0);
    NEAR(s.point_a.x, 0.2, 1e-15);
    const body tilted = box(0, 0, 2, 2, two_pi / 8), reach = box(sqrt(2.0) + 0.5, 0, 1, 3, 0);
    s = distance(&tilted, &reach); /* a's corner on b's edge: touching */
    NEAR(s.phi, 0, 1e-15);
    NORMAL(s, 1, 0, 0);
}

static void halfplane(void **state)
{
    (void)state;
    const perp_planar_shape ground = {.kind = PERP_PLANAR_HALFPLANE, .normal = {0.6, 0.8, 0}, .offset = 2};
    const body b = box(3, 4, 2, 2, atan2(0.8, 0.6)), round = disc(0, 0, 0.5);
    const perp_planar_shape flat = shape_of(&b), ball = shape_of(&round);
    perp_separation s = perp_planar_distance(&ground, &flat);
    NEAR(s.phi, 5 - 1 - 2, 1e-14);
    NORMAL(s, 0.6, 0.8, 0);
    s = perp_planar_distance(&ball, &ground);
    NEAR(s.phi, -2.5, 1e-15);
    NORMAL(s, -0.6, -0.8, 0);
    NEAR(s.point_b.x, 1.2, 1e-15);
    NEAR(s.point_a.x, -0.3, 1e-15);
}

static void hole(void **state)
{
    (void)state;
    const perp_planar_shape bore = {.kind = PERP_PLANAR_HOLE, .radius = 0.165e-3, .centre = {1, 1, 0}};
    const body fits = disc(1 + 3e-6, 1 + 4e-6, 0.15e-3), thick = disc(1, 1 - 1e-6, 0.169e-3);
    perp_planar_shape pin = shape_of(&fits);
    perp_separation s = perp_planar_distance(&bore, &pin);
    NEAR(s.phi, 10e-6, 1e-15);
    NORMAL(s, -0.6, -0.8, 1e-9); /* 5e-6 from 1 + 3e-6: input rounding / 5e-6 */
    NEAR(s.point_a.x, 1 + 0.6 * 0.165e-3, 1e-14);
    pin = shape_of(&thick);
    s = perp_planar_distance(&pin, &bore);
    NEAR(s.phi, -4e-6 - 1e-6, 1e-15);
    NORMAL(s, 0, -1, 1e-9);
    const perp_planar_shape wide = {.kind = PERP_PLANAR_HOLE, .radius = 2, .centre = {0, 0, 0}};
    const body b = box(0, 0, 2, 2, 0), off = box(0.1, 0.1, 2, 2, 0);
    perp_planar_shape square = shape_of(&b);
    s = perp_planar_distance(&square, &wide);
    NEAR(s.phi, 2 - sqrt(2.0), 1e-15);
    NORMAL(s, -sqrt(0.5), -sqrt(0.5), 1e-15); /* corner 0 of four */
    assert_true(s.tie);
    square = shape_of(&off);
    s = perp_planar_distance(&square, &wide);
    NEAR(s.phi, 2 - 1.1 * sqrt(2.0), 1e-15);
    assert_false(s.tie);
}

static void pairs_without_contact(void **state)
{
    (void)state;
    const perp_planar_shape ground = {.kind = PERP_PLANAR_HALFPLANE, .normal = {0, 1, 0}};
    const perp_planar_shape bore = {.kind = PERP_PLANAR_HOLE, .radius = 1};
    const perp_planar_shape *of[2] = {&ground, &bore};
    for (int i = 0; i < 4; i++) {
        assert_true(isinf(perp_planar_distance(of[i & 1], of[i >> 1]).phi));
        assert_int_equal(perp_planar_manifold_build(of[i & 1], of[i >> 1]).count, 0);
    }
}

/* ---- random pairs ------------------------------------------------------------------------------------------------ */

typedef struct tally {
    double distance, witness, mirror, motion, motion_normal, slope, along;
    int pairs, ties, inside, slopes, corners;
} tally;

/* b at a random place about a: apart, near, or deep. */
static void random_pair(perp_random *random, body *a, body *b)
{
    *a = random_body(random);
    *b = random_body(random);
    const double reach = (a->size + b->size) * log_uniform(random, 0.01, 1.0);
    const double angle = perp_random_uniform(random, 0.0, two_pi);
    *b = moved(*b, at(0, 0), 0, reach * cos(angle), reach * sin(angle));
    if (perp_random_bits(random) & 1) { /* to a gap, or a depth, of at most 10 % of a thickness */
        const perp_separation s = distance(a, b);
        const double gap = fmin(a->shortest, fmin(b->shortest, 1.0)) * perp_random_uniform(random, -0.1, 0.1);
        *b = moved(*b, at(0, 0), 0, (gap - s.phi) * s.normal.x, (gap - s.phi) * s.normal.y);
    }
}

static void check_witnesses(const body *a, const body *b, const perp_separation *s, tally *t)
{
    const perp_vec3 d = perp_vec3_sub(s->point_b, s->point_a);
    const perp_vec3 miss = perp_vec3_add_scaled(d, -s->phi, s->normal);
    t->witness = fmax(t->witness, perp_vec3_norm(miss));
    t->witness = fmax(t->witness, fabs(to_boundary(a, s->point_a) - a->radius));
    t->witness = fmax(t->witness, fabs(to_boundary(b, s->point_b) - b->radius));
    t->along = fmax(t->along, fabs(separation_along(a, b, s->normal.x, s->normal.y) - s->phi));
    NEAR(perp_vec3_norm(s->normal), 1.0, 4e-16);
    assert_true(s->point_a.z == 0.0 && s->point_b.z == 0.0 && s->normal.z == 0.0);
}

static void check_motion(const body *a, const body *b, const perp_separation *s, perp_random *random, tally *t)
{
    const double angle = perp_random_uniform(random, 0.0, two_pi);
    const double dx = perp_random_uniform(random, -10.0, 10.0), dy = perp_random_uniform(random, -10.0, 10.0);
    const body a2 = moved(*a, at(0, 0), angle, dx, dy), b2 = moved(*b, at(0, 0), angle, dx, dy);
    const perp_separation m = distance(&a2, &b2);
    const perp_vec3 expected = turned(s->normal, at(0, 0), angle);
    t->motion = fmax(t->motion, fabs(m.phi - s->phi));
    if (!s->tie && !m.tie) { /* a normal is as good as the rounding of the shortest thing it can come from */
        const double core_gap = s->phi + a->radius + b->radius;
        const double least = fmin(fmin(a->shortest, b->shortest), core_gap > 0 ? core_gap : 1.0);
        const double off = perp_vec3_norm(perp_vec3_sub(m.normal, expected)) / (1.0 + 1e-2 / least);
        t->motion_normal = fmax(t->motion_normal, off);
    }
}

/* d phi/dt = n . (velocity of b at its witness), b moving. Inside there are kinks (another edge takes over within the
 * step), told by the second difference, which is the slope's jump times h there and O(h^2) elsewhere. Outside the
 * normal is continuous and turns at no more than 1 / gap, so a change of features costs h / (4 gap). */
static void check_slope(const body *a, const body *b, const perp_separation *s, perp_random *random, tally *t)
{
    const double gap = s->phi + a->radius + b->radius, h = gap > 0.0 ? fmin(1e-7, 2e-6 * gap) : 1e-7;
    const double vx = perp_random_uniform(random, -1.0, 1.0), vy = perp_random_uniform(random, -1.0, 1.0);
    const double w = perp_random_uniform(random, -0.3, 0.3);
    const perp_vec3 about = b->corners[0];
    const body forth = moved(*b, about, h * w, h * vx, h * vy), back = moved(*b, about, -h * w, -h * vx, -h * vy);
    const perp_separation p = distance(a, &forth), m = distance(a, &back);
    const double rounding = 1e-15 * (a->size + b->size) / h;
    if (s->tie || p.tie || m.tie || rounding > 2e-7 || (gap <= 0.0 && fabs(p.phi + m.phi - 2.0 * s->phi) / h > 8e-7)) {
        return;
    }
    const double rate =
        s->normal.x * (vx - w * (s->point_b.y - about.y)) + s->normal.y * (vy + w * (s->point_b.x - about.x));
    t->slope = fmax(t->slope, fabs((p.phi - m.phi) / (2.0 * h) - rate));
    t->slopes++;
}

static void many_random_pairs(void **state)
{
    (void)state;
    enum { PAIRS = 100000 };
    perp_random random = {2024};
    tally t = {0};
    for (; t.pairs < PAIRS; t.pairs++) {
        body a, b;
        random_pair(&random, &a, &b);
        const perp_separation s = distance(&a, &b), r = distance(&b, &a);
        t.inside += s.phi < 0.0;
        t.ties += s.tie;
        const double expected = slow_distance(&a, &b);
        NEAR(s.phi, expected, s.tie ? 1e-7 : 1e-9);
        if (s.tie) {
            continue;
        }
        t.distance = fmax(t.distance, fabs(s.phi - expected));
        t.mirror = fmax(t.mirror, fabs(s.phi - r.phi) + perp_vec3_norm(perp_vec3_add(s.normal, r.normal)));
        check_witnesses(&a, &b, &s, &t);
        check_motion(&a, &b, &s, &random, &t);
        check_slope(&a, &b, &s, &random, &t);
    }
    print_message("%d pairs, %d inside, %d ties, %d slopes; worst: distance %.1e, along the normal %.1e, witness %.1e, "
                  "mirror %.1e, motion %.1e, its normal %.1e, slope %.1e\n",
                  t.pairs, t.inside, t.ties, t.slopes, t.distance, t.along, t.witness, t.mirror, t.motion,
                  t.motion_normal, t.slope);
    assert_true(t.inside > PAIRS / 10 && t.inside < PAIRS * 9 / 10);
    assert_true(t.slopes > PAIRS / 2 && t.ties < PAIRS / 1000);
    assert_true(t.distance < 1e-13 && t.along < 1e-13); /* sizes and distances to 40 m: 40 eps = 1e-14 */
    assert_true(t.witness < 1e-13 && t.mirror < 1e-12 && t.motion < 1e-13 && t.motion_normal < 1e-12);
    assert_true(t.slope < 1e-6);
}

static void sampled_reference(void **state)
{
    (void)state;
    perp_random random = {77};
    double worst = 0.0;
    for (int i = 0; i < 300; i++) {
        body a, b;
        random_pair(&random, &a, &b);
        const double phi = distance(&a, &b).phi, sampled = sampled_distance(&a, &b);
        NEAR(sampled, phi, 1e-7); /* the search's own limit: a peak of slope 10 m, found to 1e-9 rad */
        assert_true(sampled <= phi + 1e-13);
        worst = fmax(worst, phi - sampled);
    }
    print_message("sampled reference: within %.1e\n", worst);
}

/* ---- near touching, near parallel -------------------------------------------------------------------------------- */

static void touching_normals_come_from_edges(void **state)
{
    (void)state;
    perp_random random = {5};
    for (int i = 0; i < 20000; i++) {
        const double angle = perp_random_uniform(&random, 0.0, two_pi), gap = perp_random_uniform(&random, -1.0, 1.0);
        const double scale = pow(10.0, -perp_random_uniform(&random, 8.0, 18.0));
        const double tilt =
            perp_random_uniform(&random, -1.0, 1.0) * pow(10.0, -perp_random_uniform(&random, 3.0, 17.0));
        const double shift = perp_random_uniform(&random, -0.9, 0.9);
        body a = box(0, 0, 2, 1, 0), b = box(shift, 0, 1, 1, 0);
        b = moved(b, at(shift, 0), tilt, 0, 1 + gap * scale + (fabs(sin(tilt)) + cos(tilt) - 1) / 2);
        a = moved(a, at(0, 0), angle, 3, -2);
        b = moved(b, at(0, 0), angle, 3, -2);
        const perp_separation s = distance(&a, &b);
        const double off = s.normal.x * cos(angle) + s.normal.y * sin(angle);
        NEAR(s.phi, slow_distance(&a, &b), 1.2e-8); /* the tie tolerance: a's edge rather than b's */
        NEAR(off, 0.0, fabs(tilt) + 2e-15);
        assert_true(!s.tie || fabs(tilt) > 1e-6); /* b's low corner within tolerance / tilt of a's */
    }
}

static void equal_boxes_stacked(void **state)
{
    (void)state;
    perp_random random = {6};
    for (int i = 0; i < 20000; i++) { /* corners over corners, off by rounding or by what a solver leaves */
        const double noise = pow(10.0, -perp_random_uniform(&random, 9.0, 17.0));
        const body a = box(0, 0, 1, 1, noise * perp_random_uniform(&random, -1.0, 1.0));
        const body b =
            box(noise * perp_random_uniform(&random, -1.0, 1.0), 1 + noise * perp_random_uniform(&random, -1.0, 1.0), 1,
                1, noise * perp_random_uniform(&random, -1.0, 1.0));
        const perp_separation s = distance(&a, &b);
        NORMAL(s, 0, 1, 2 * noise + 1e-16);
        NEAR(s.phi, 0, 4 * noise + 1e-15);
    }
}

/* ---- ties ----------------------------------------------------------------------------------------------------------
 */

static body nudged(body b, perp_random *random)
{
    return moved(b, b.corners[0], 1e-9 * perp_random_uniform(random, -1.0, 1.0),
                 1e-9 * perp_random_uniform(random, -0.7, 0.7), 1e-9 * perp_random_uniform(random, -0.7, 0.7));
}

static void ties_hold_still(void **state)
{
    (void)state;
    const body square = box(0, 0, 1, 1, 0), bar = box(0, 0, 2, 0.2, 0);
    const struct {
        body a, b;
    } pairs[] = {
        {square, square},                                               /* concentric: four sides of each */
        {square, box(0.9, 0.9, 1, 1, 0)},                               /* corner in corner */
        {square, box(1, 1, 1, 1, 0)},                                   /* corners touching */
        {square, disc(0, 0, 0.1)},                                      /* a disc at the centre */
        {square, disc(0.4, 0.4, 0.1)},                                  /* a disc on the diagonal */
        {bar, segment(at(-0.5, 0), at(0.5, 0), 0.05)},                  /* a capsule along the middle of a bar */
        {disc(1, 1, 0.5), disc(1, 1, 0.25)},                            /* coinciding centres */
        {square, box(0, 0, 1, 1, two_pi / 8)},                          /* turned by half a quarter */
        {box(0, 0, 10, 10, 0), box(9.9, 9.9, 10, 10, 0)},               /* large */
        {box(0, 0, 1e-3, 1e-3, 0), box(0.9e-3, 0.9e-3, 1e-3, 1e-3, 0)}, /* small */
    };
    perp_random random = {7};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        for (int turn = 0; turn < 8; turn++) {
            const double angle = turn * 0.7;
            const body a = moved(pairs[k].a, at(0, 0), angle, turn, 0.1),
                       b = moved(pairs[k].b, at(0, 0), angle, turn, 0.1);
            const perp_separation s = distance(&a, &b);
            assert_true(s.tie);
            for (int i = 0; i < 1000; i++) {
                const body a2 = nudged(a, &random), b2 = nudged(b, &random);
                const perp_separation m = distance(&a2, &b2);
                assert_true(perp_vec3_norm(perp_vec3_sub(m.normal, s.normal)) < 1e-8);
                NEAR(m.phi, s.phi, 1e-7);
                assert_true(m.tie);
            }
        }
    }
}

/* Discs about nearly one centre: whichever is a, phi is within the tolerance of the distance and of itself, and the
 * normal does not turn by less than the tolerance's half. Gaps of 5e-10 to 1e-8 m against a tolerance of 4.2e-9 m. */
static void coinciding_centres(void **state)
{
    (void)state;
    perp_random random = {9};
    for (int i = 0; i < 20000; i++) {
        const double gap = log_uniform(&random, 5e-10, 1e-8), angle = perp_random_uniform(&random, 0.0, two_pi);
        const body a = disc(0.25, 0.5, 0.02), b = disc(0.25 + gap * cos(angle), 0.5 + gap * sin(angle), 0.03);
        const perp_planar_shape p = shape_of(&a), q = shape_of(&b);
        const double tolerance = perp_planar_tolerance(&p, &q);
        NEAR(tolerance, 4e-9 + 2e-9 * (0.04 + 0.06), 1e-20);
        const perp_separation s = perp_planar_distance(&p, &q), r = perp_planar_distance(&q, &p);
        NEAR(s.phi, gap - 0.05, s.tie ? tolerance : 1e-15);
        NEAR(s.phi, r.phi, s.tie ? tolerance : 1e-15);
        assert_true(s.tie == r.tie);
        if (gap < 0.49 * tolerance) {
            NORMAL(s, 1, 0, 0);
            assert_true(s.tie);
        } else if (gap > 0.51 * tolerance) {
            NORMAL(s, cos(angle), sin(angle), 1e-6); /* of input rounding: 1e-16 / 2e-9 */
        }
        const perp_planar_shape bore = {.kind = PERP_PLANAR_HOLE, .radius = 0.1, .centre = {0.25, 0.5, 0}};
        const perp_separation h = perp_planar_distance(&q, &bore);
        NEAR(h.phi, 0.07 - gap, h.tie ? perp_planar_tolerance(&q, &bore) : 1e-15);
    }
}

/* ---- many corners
 * ---------------------------------------------------------------------------------------------------- */

static void many_corners(void **state)
{
    (void)state;
    enum { N = 400, M = 301 };
    static perp_vec3 p[N], q[M];
    perp_random random = {8};
    for (int i = 0; i < 200; i++) {
        const double gap = i < 150 ? perp_random_uniform(&random, -0.2, 0.5) : 0.0,
                     phase = perp_random_uniform(&random, 0, 6);
        for (int k = 0; k < N; k++) {
            p[k] = at(2 * cos(two_pi * k / N + phase), sin(two_pi * k / N + phase));
        }
        for (int k = 0; k < M; k++) {
            q[k] = at(2 + 0.5 + gap + 0.5 * cos(two_pi * k / M), 0.5 * sin(two_pi * k / M));
        }
        const perp_planar_shape a = {.kind = PERP_PLANAR_CORE, .count = N, .corners = p};
        const perp_planar_shape b = {.kind = PERP_PLANAR_CORE, .count = M, .corners = q};
        const perp_separation s = perp_planar_distance(&a, &b);
        double least = INFINITY, best = -INFINITY; /* as slow_distance */
        for (int k = 0; k < N; k++) {
            const perp_vec3 e = perp_vec3_sub(p[(k + 1) % N], p[k]);
            double low = INFINITY;
            for (int j = 0; j < M; j++) {
                low = fmin(low, (e.y * (q[j].x - p[k].x) - e.x * (q[j].y - p[k].y)) / perp_vec3_norm(e));
                least = fmin(
                    least, fmin(point_segment(q[j], p[k], p[(k + 1) % N]), point_segment(p[k], q[j], q[(j + 1) % M])));
            }
            best = fmax(best, low);
        }
        for (int k = 0; k < M; k++) {
            const perp_vec3 e = perp_vec3_sub(q[(k + 1) % M], q[k]);
            double low = INFINITY;
            for (int j = 0; j < N; j++) {
                low = fmin(low, (e.y * (p[j].x - q[k].x) - e.x * (p[j].y - q[k].y)) / perp_vec3_norm(e));
            }
            best = fmax(best, low);
        }
        NEAR(s.phi, best < 0 ? best : least, s.tie ? 2e-8 : 1e-14);
    }
}

static void collinear_corners(void **state)
{
    (void)state;
    perp_random random = {9};
    for (int i = 0; i < 5000; i++) { /* boxes with corners along their sides, which rounding bends either way */
        body a = {.count = 12, .shortest = 0.1}, b = a;
        const body square = box(0, 0, 1, 1, 0);
        for (int k = 0; k < 12; k++) {
            const double s = (k % 3) / 3.0;
            const perp_vec3 u = square.corners[k / 3], v = square.corners[(k / 3 + 1) % 4];
            a.corners[k] = b.corners[k] = perp_vec3_add(perp_vec3_scale(1 - s, u), perp_vec3_scale(s, v));
        }
        const double angle = perp_random_uniform(&random, 0, 6), shift = perp_random_uniform(&random, -0.99, 0.99);
        const double gap = perp_random_uniform(&random, -0.005, 0.2);
        a = moved(a, at(0, 0), angle, 1, 2);
        b = moved(moved(b, at(0, 0), (i % 4) * two_pi / 4, shift, 1 + gap), at(0, 0), angle, 1, 2);
        const perp_separation s = distance(&a, &b);
        NEAR(s.phi, gap, 1e-14);
        NORMAL(s, -sin(angle), cos(angle), 1e-14);
        NEAR(fabs(to_boundary(&a, s.point_a)) + fabs(to_boundary(&b, s.point_b)), 0, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs),
        cmocka_unit_test(disc_and_segment),
        cmocka_unit_test(crossing_segments),
        cmocka_unit_test(boxes),
        cmocka_unit_test(halfplane),
        cmocka_unit_test(hole),
        cmocka_unit_test(coinciding_centres),
        cmocka_unit_test(pairs_without_contact),
        cmocka_unit_test(many_random_pairs),
        cmocka_unit_test(sampled_reference),
        cmocka_unit_test(touching_normals_come_from_edges),
        cmocka_unit_test(equal_boxes_stacked),
        cmocka_unit_test(ties_hold_still),
        cmocka_unit_test(many_corners),
        cmocka_unit_test(collinear_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
