/* Planar manifolds: hand-derived patches, identities with the distance, labels that last. */
#include "planar_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static perp_manifold manifold(const body *a, const body *b)
{
    const perp_planar_shape p = shape_of(a), q = shape_of(b);
    return perp_planar_manifold_build(&p, &q);
}

static void near_(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define NEAR(value, expected, tolerance) near_(value, expected, tolerance, __LINE__)

static void check_point(const perp_manifold_point *c, double ax, double ay, double gap, int feature_a, int feature_b)
{
    NEAR(c->at.point_a.x, ax, 1e-14);
    NEAR(c->at.point_a.y, ay, 1e-14);
    NEAR(c->at.phi, gap, 1e-14);
    assert_int_equal(c->feature_a, feature_a);
    assert_int_equal(c->feature_b, feature_b);
}

enum { C0 = 0, E0, C1 = 8, E1, C2 = 16, E2, C3 = 24, E3, SURFACE = 5 }; /* corners and edges */

static void box_on_box(void **state)
{
    (void)state;
    const body a = box(0, 0, 4, 2, 0), inside = box(0.5, 1.6, 1, 1, 0), over = box(2, 1.4, 2, 1, 0);
    const body wide = box(0, 2, 8, 1, 0), equal = box(0, 2, 4, 2, 0), corner = box(4, 3, 2, 2, 0);
    perp_manifold m = manifold(&a, &inside); /* a's top runs from +x to -x */
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], 1, 1, 0.1, E2, C1);
    check_point(&m.points[1], 0, 1, 0.1, E2, C0);
    m = manifold(&a, &over);
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], 2, 1, -0.1, C2, E0);
    check_point(&m.points[1], 1, 1, -0.1, E2, C0);
    m = manifold(&a, &wide);
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], 2, 1, 0.5, C2, E0);
    check_point(&m.points[1], -2, 1, 0.5, C3, E0);
    m = manifold(&a, &equal);
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], 2, 1, 0, E2, C1);
    check_point(&m.points[1], -2, 1, 0, E2, C0);
    m = manifold(&a, &corner);
    assert_int_equal(m.count, 1);
    check_point(&m.points[0], 2, 1, sqrt(2.0), C2, C0);
}

/* A box tilted by 0.1 above a's top: its low corner, and its edge's other end at its own height. */
static void tilted_box(void **state)
{
    (void)state;
    const double tilt = 0.1;
    const body a = box(0, 0, 4, 2, 0), b = box(0, 2, 1, 1, tilt);
    const perp_manifold m = manifold(&a, &b);
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], b.corners[1].x, 1, b.corners[1].y - 1, E2, C1);
    check_point(&m.points[1], b.corners[0].x, 1, b.corners[0].y - 1, E2, C0);
    NEAR(m.points[0].at.phi - m.points[1].at.phi, sin(tilt), 1e-15);
}

static void capsules(void **state)
{
    (void)state;
    const body a = box(0, 0, 4, 2, 0), flat = segment(at(-1, 1.5), at(3, 1.5), 0.4);
    const body steep = segment(at(0, 1.5), at(0, 3), 0.4), ball = disc(1, 1.5, 0.4);
    const body one = segment(at(0, 0), at(2, 0), 0.1), other = segment(at(1, 1), at(3, 1.1), 0.2);
    perp_manifold m = manifold(&a, &flat);
    assert_int_equal(m.count, 2);
    check_point(&m.points[0], 2, 1, 0.1, C2, E0);
    check_point(&m.points[1], -1, 1, 0.1, E2, C0);
    m = manifold(&a, &steep); /* on its end: one point */
    assert_int_equal(m.count, 1);
    check_point(&m.points[0], 0, 1, 0.1, E2, C0);
    m = manifold(&a, &ball);
    assert_int_equal(m.count, 1);
    check_point(&m.points[0], 1, 1, 0.1, E2, C0);
    m = manifold(&one, &other);
    assert_int_equal(m.count, 2); /* the edge of `one` upwards runs from its corner 1 to 0 */
    check_point(&m.points[0], 2, 0.1, 1.05 - 0.3, C1, E0);
    check_point(&m.points[1], 1, 0.1, 1 - 0.3, E1, C0);
}

static void on_halfplane(void **state)
{
    (void)state;
    const perp_planar_shape ground = {.kind = PERP_PLANAR_HALFPLANE, .normal = {0, 1, 0}, .offset = 0.25};
    for (int i = -20; i <= 20; i++) { /* tilted either way, never past the diagonal */
        const double tilt = i * 0.039;
        const body b = box(3, 2, 2, 1, tilt);
        const perp_planar_shape s = shape_of(&b);
        perp_manifold m = perp_planar_manifold_build(&ground, &s);
        assert_int_equal(m.count, 2);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(m.points[k].feature_a, SURFACE);
            assert_int_equal(m.points[k].feature_b, 8 * k);
            NEAR(m.points[k].at.phi, b.corners[k].y - 0.25, 1e-15);
            NEAR(m.points[k].at.point_b.x, b.corners[k].x, 0);
            NEAR(m.points[k].at.normal.y, 1, 0);
        }
        m = perp_planar_manifold_build(&s, &ground);
        NEAR(m.points[1].at.normal.y, -1, 0);
        NEAR(m.points[1].at.point_b.y, 0.25, 1e-15);
        assert_int_equal(m.points[1].feature_a, C1);
    }
    const body stick = segment(at(0, 1), at(1, 2), 0.1);
    const perp_planar_shape s = shape_of(&stick);
    const perp_manifold m = perp_planar_manifold_build(&s, &ground);
    assert_int_equal(m.count, 2);
    NEAR(m.points[0].at.phi, 0.65, 1e-15);
    NEAR(m.points[1].at.phi, 1.65, 1e-15);
}

/* A box in a V-groove of two halfplanes: each side of the groove has the two corners of the face that it faces. */
static void box_in_a_groove(void **state)
{
    (void)state;
    const double r = sqrt(0.5);
    const perp_planar_shape left = {.kind = PERP_PLANAR_HALFPLANE, .normal = {r, r, 0}};
    const perp_planar_shape right = {.kind = PERP_PLANAR_HALFPLANE, .normal = {-r, r, 0}};
    const body b = box(0, sqrt(2.0), 2, 2, two_pi / 8); /* corner 0 at the bottom, 1 right, 3 left */
    const perp_planar_shape s = shape_of(&b);
    const perp_manifold l = perp_planar_manifold_build(&left, &s), m = perp_planar_manifold_build(&right, &s);
    assert_int_equal(l.count, 2);
    assert_int_equal(m.count, 2);
    for (int k = 0; k < 2; k++) {
        NEAR(l.points[k].at.phi, 0, 1e-15);
        NEAR(m.points[k].at.phi, 0, 1e-15);
    }
    assert_int_equal(l.points[0].feature_b + l.points[1].feature_b, C0 + C3);
    assert_int_equal(m.points[0].feature_b + m.points[1].feature_b, C0 + C1);
}

/* The four places of the wall around one corner, which are points[0 .. 3]; the core is a. */
static void check_around(const perp_manifold_point *points, const perp_planar_shape *core, int corner,
                         const perp_planar_shape *bore)
{
    const perp_vec3 c = perp_vec3_sub(core->corners[corner], bore->centre);
    for (int k = 0; k < 4; k++) {
        const perp_separation *s = &points[k].at;
        const perp_vec3 u = s->normal, before = points[k > 0 ? k - 1 : 3].at.normal;
        NEAR(perp_vec3_norm(u), 1, 1e-15);
        NEAR(u.x, -before.y, 0); /* a quarter on */
        NEAR(u.y, before.x, 0);
        NEAR(s->phi, bore->radius - core->radius - perp_vec3_dot(c, u), 1e-15);
        NEAR(perp_vec3_norm(perp_vec3_sub(s->point_a, core->corners[corner])), core->radius, 1e-15);
        NEAR(perp_vec3_norm(perp_vec3_sub(s->point_b, bore->centre)), bore->radius, k == 0 ? 4e-9 : 1e-15);
        const perp_vec3 way = perp_vec3_sub(s->point_b, s->point_a);
        NEAR(perp_vec3_dot(way, u), s->phi, 1e-15);
        NEAR(way.x * u.y - way.y * u.x, k % 2 ? c.y * u.x - c.x * u.y : 0, 4e-9);
        assert_int_equal(points[k].feature_a, 8 * corner);
        assert_int_equal(points[k].feature_b, SURFACE + 8 * k);
        assert_true(points[0].at.phi <= s->phi + 8e-9);
    }
}

/* A disc, a point and both ends of a capsule look at the wall on four sides. */
static void around_a_hole(void **state)
{
    (void)state;
    const perp_planar_shape bore = {.kind = PERP_PLANAR_HOLE, .radius = 0.5, .centre = {0.25, -1, 0}};
    perp_random random = {3};
    for (int i = 0; i < 2000; i++) {
        const double x = 0.25 + perp_random_uniform(&random, -0.6, 0.6),
                     y = -1 + perp_random_uniform(&random, -0.6, 0.6);
        const body bodies[3] = {disc(x, y, 0.125), disc(x, y, 0), segment(at(x, y), at(x + 0.1, y - 0.05), 0.0625)};
        for (int b = 0; b < 3; b++) {
            const perp_planar_shape s = shape_of(&bodies[b]);
            const perp_manifold m = perp_planar_manifold_build(&s, &bore), back = perp_planar_manifold_build(&bore, &s);
            assert_int_equal(m.count, 4 * s.count);
            assert_int_equal(back.count, m.count);
            double least = INFINITY;
            for (int k = 0; k < m.count; k++) {
                least = fmin(least, m.points[k].at.phi);
                NEAR(back.points[k].at.phi, m.points[k].at.phi, 0);
                NEAR(back.points[k].at.normal.x, -m.points[k].at.normal.x, 0);
                assert_int_equal(back.points[k].feature_a, m.points[k].feature_b);
            }
            NEAR(least, perp_planar_distance(&s, &bore).phi, 0);
            check_around(m.points, &s, 0, &bore);
            if (s.count == 2) {
                check_around(m.points + 4, &s, 1, &bore);
            }
        }
    }
    /* in the middle, to rounding: +x, +y, -x, -y */
    const body middle = disc(0.25 - 1e-9, -1 + 1e-9, 0.4);
    const perp_planar_shape s = shape_of(&middle);
    const perp_manifold m = perp_planar_manifold_build(&s, &bore);
    assert_int_equal(m.count, 4);
    check_around(m.points, &s, 0, &bore);
    NEAR(m.points[0].at.normal.x, 1, 0);
    for (int k = 0; k < 4; k++) {
        assert_true(m.points[k].at.tie);
        NEAR(m.points[k].at.phi, 0.1, 1e-9 + 1e-15);
    }
}

static void in_a_hole(void **state)
{
    (void)state;
    const perp_planar_shape bore = {.kind = PERP_PLANAR_HOLE, .radius = 2};
    const body b = box(0.2, 0, 2, 1, 0), pin = segment(at(-1, 0), at(1.5, 0), 0.3);
    perp_planar_shape s = shape_of(&b);
    perp_manifold m = perp_planar_manifold_build(&s, &bore);
    assert_int_equal(m.count, 4);
    for (int k = 0; k < 4; k++) {
        const double far = hypot(b.corners[k].x, b.corners[k].y);
        NEAR(m.points[k].at.phi, 2 - far, 1e-15);
        NEAR(m.points[k].at.normal.x, b.corners[k].x / far, 1e-15);
        NEAR(perp_vec3_norm(m.points[k].at.point_b), 2, 1e-15);
        assert_int_equal(m.points[k].feature_a, 8 * k);
    }
    s = shape_of(&pin);
    m = perp_planar_manifold_build(&bore, &s);
    assert_int_equal(m.count, 8);
    NEAR(m.points[0].at.phi, 0.7, 1e-15);
    NEAR(m.points[4].at.phi, 0.2, 1e-15);
    NEAR(m.points[4].at.normal.x, -1, 0);
    NEAR(m.points[6].at.phi, 2 - 0.3 + 1.5, 1e-15);
    body many = {.count = 12};
    for (int i = 0; i < 12; i++) {
        many.corners[i] = at(0.1 + cos(two_pi * i / 12), sin(two_pi * i / 12));
    }
    s = shape_of(&many);
    m = perp_planar_manifold_build(&s, &bore);
    assert_int_equal(m.count, 4);
    NEAR(m.points[0].at.phi, 2 - 1.1, 1e-15);
    for (int k = 1; k < 4; k++) {
        assert_true(perp_vec3_dot(m.points[k].at.normal, m.points[0].at.normal) < 0.71); /* in other quarters */
    }
}

static void collinear_corners_make_one_side(void **state)
{
    (void)state;
    body a = {.count = 8}, b;
    const body square = box(0, 0, 4, 4, 0);
    for (int k = 0; k < 8; k++) {
        const perp_vec3 u = square.corners[k / 2], v = square.corners[(k / 2 + 1) % 4];
        a.corners[k] = k % 2 ? perp_vec3_scale(0.5, perp_vec3_add(u, v)) : u;
    }
    for (int i = 0; i < 50; i++) {
        const double shift = -1.5 + i * 0.06;
        b = moved(a, at(0, 0), 0, shift, 4.25);
        body a2 = moved(a, at(0, 0), 0.3, 1, 1), b2 = moved(b, at(0, 0), 0.3, 1, 1);
        const perp_manifold m = manifold(&a2, &b2);
        assert_int_equal(m.count, 2);
        NEAR(m.points[0].at.phi, 0.25, 1e-14);
        NEAR(m.points[1].at.phi, 0.25, 1e-14);
        const perp_vec3 d = perp_vec3_sub(m.points[1].at.point_a, m.points[0].at.point_a);
        NEAR(perp_vec3_norm(d), 4 - fabs(shift), 1e-14);
    }
}

/* The least gap is the distance; every point keeps point_b - point_a = phi n with both ends on the surfaces' lines;
 * swapping mirrors; labels are distinct; and 1e-9 of motion changes neither count nor labels of an exact patch. */
static void random_pairs(void **state)
{
    (void)state;
    perp_random random = {3};
    int twos = 0, ties = 0;
    double worst = 0.0, surface = 0.0, mirror = 0.0;
    for (int i = 0; i < 50000; i++) {
        const body a = random_body(&random);
        body b = random_body(&random);
        const double reach = (a.size + b.size) * log_uniform(&random, 0.05, 1.0),
                     angle = perp_random_uniform(&random, 0, two_pi);
        b = moved(b, at(0, 0), 0, reach * cos(angle), reach * sin(angle));
        const perp_planar_shape p = shape_of(&a), q = shape_of(&b);
        const perp_separation s = perp_planar_distance(&p, &q);
        const perp_manifold m = manifold(&a, &b), r = manifold(&b, &a);
        assert_true(m.count >= 1 && m.count <= 2);
        ties += s.tie;
        if (s.tie) {
            continue;
        }
        twos += m.count == 2;
        double least = INFINITY;
        for (int k = 0; k < m.count; k++) {
            const perp_separation *c = &m.points[k].at;
            const perp_vec3 d = perp_vec3_sub(c->point_b, c->point_a);
            least = fmin(least, c->phi);
            worst = fmax(worst, perp_vec3_norm(perp_vec3_add_scaled(d, -c->phi, c->normal)));
            worst = fmax(worst, perp_vec3_norm(perp_vec3_sub(c->normal, s.normal)));
            surface = fmax(surface, fmin(fabs(to_boundary(&a, perp_vec3_add_scaled(c->point_a, -a.radius, c->normal))),
                                         fabs(to_boundary(&b, perp_vec3_add_scaled(c->point_b, b.radius, c->normal)))));
        }
        worst = fmax(worst, fabs(least - s.phi));
        assert_int_equal(m.count, r.count);
        for (int k = 0; k < m.count; k++) { /* in the order of a's side, which is against b's */
            const perp_manifold_point *x = &m.points[k], *y = &r.points[m.count - 1 - k];
            assert_true(x->feature_a == y->feature_b && x->feature_b == y->feature_a);
            mirror = fmax(mirror, fabs(x->at.phi - y->at.phi));
            mirror = fmax(mirror, perp_vec3_norm(perp_vec3_sub(x->at.point_a, y->at.point_b)));
        }
        if (m.count == 2) {
            assert_true(m.points[0].feature_a != m.points[1].feature_a ||
                        m.points[0].feature_b != m.points[1].feature_b);
        }
    }
    print_message("%d of 50000 with two points, %d ties; worst: identities %.1e, surfaces %.1e, mirror %.1e\n", twos,
                  ties, worst, surface, mirror);
    assert_true(twos > 5000 && worst < 1e-13 && surface < 1e-13 && mirror < 1e-12);
}

static void labels_last(void **state)
{
    (void)state;
    const struct {
        body a, b;
    } pairs[] = {
        {box(0, 0, 4, 2, 0), box(0, 2, 4, 2, 0)},                    /* equal boxes stacked */
        {box(0, 0, 4, 2, 0), box(1, 2, 2, 2, 0)},                    /* flush on the right */
        {box(0, 0, 4, 2, 0), box(1, 2, 1, 2, 0)},                    /* inside */
        {box(0, 0, 4, 2, 0), segment(at(-2, 1.5), at(2, 1.5), 0.5)}, /* a capsule, flush at both ends */
        {segment(at(-2, 0), at(2, 0), 0.1), segment(at(0, 0.3), at(2, 0.3), 0.2)},
        {box(0, 0, 4, 2, 0), box(0, 1 + sqrt(2.0), 2, 2, two_pi / 8)}, /* on a corner: two edges tie */
    };
    perp_random random = {4};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        const perp_manifold m = manifold(&pairs[k].a, &pairs[k].b);
        assert_int_equal(m.count, 2);
        for (int i = 0; i < 2000; i++) {
            const double w = 1e-9 * perp_random_uniform(&random, -1, 1);
            const double dx = 1e-9 * perp_random_uniform(&random, -0.7, 0.7),
                         dy = 1e-9 * perp_random_uniform(&random, -0.7, 0.7);
            const body b = moved(pairs[k].b, pairs[k].b.corners[0], w, dx, dy);
            const perp_manifold n = manifold(&pairs[k].a, &b);
            assert_int_equal(n.count, m.count);
            for (int j = 0; j < m.count; j++) {
                assert_int_equal(n.points[j].feature_a, m.points[j].feature_a);
                assert_int_equal(n.points[j].feature_b, m.points[j].feature_b);
                NEAR(n.points[j].at.phi, m.points[j].at.phi, 1e-8);
                NEAR(n.points[j].at.point_a.x, m.points[j].at.point_a.x, 1e-8);
            }
        }
    }
}

/* ---- parts of polygons --------------------------------------------------------------------------------------------
 */

/* An L cut along its diagonal: the lying leg, under y = 0, and the standing one, left of x = 0. The cut runs from the
 * inner corner (0, 0) to the outer one (-1, -1). */
typedef struct l_part {
    perp_vec3 corners[4];
    perp_planar_border borders[4];
    perp_planar_shape shape;
} l_part;

static perp_planar_border border(bool edge, bool convex, perp_vec3 before, perp_vec3 after)
{
    return (perp_planar_border){edge, convex, before, after};
}

static void lying_leg(l_part *p)
{
    const perp_vec3 right = {1, 0, 0}, left = {-1, 0, 0}, up = {0, 1, 0}, down = {0, -1, 0};
    *p = (l_part){.corners = {at(0, 0), at(-1, -1), at(5, -1), at(5, 0)},
                  .borders = {border(false, false, left, up), border(true, true, down, right),
                              border(true, true, right, up), border(true, true, up, left)}};
    p->shape = (perp_planar_shape){.kind = PERP_PLANAR_CORE, .count = 4, .corners = p->corners, .borders = p->borders};
}

static void standing_leg(l_part *p)
{
    const perp_vec3 right = {1, 0, 0}, left = {-1, 0, 0}, up = {0, 1, 0}, down = {0, -1, 0};
    *p = (l_part){.corners = {at(0, 0), at(0, 5), at(-1, 5), at(-1, -1)},
                  .borders = {border(true, false, left, up), border(true, true, up, left),
                              border(true, true, left, down), border(false, true, down, right)}};
    p->shape = (perp_planar_shape){.kind = PERP_PLANAR_CORE, .count = 4, .corners = p->corners, .borders = p->borders};
}

static void cuts_are_no_surface(void **state)
{
    (void)state;
    l_part lying, standing;
    lying_leg(&lying);
    standing_leg(&standing);
    /* a block in the corner, deeper in the wall than in the floor: its corner is past the cut, in the standing leg. The
     * lying one is left nearest through the cut, 0.02 sqrt(1/2) deep, and answers with its floor all the same. */
    const body block = box(0.5 - 0.03, 0.5 - 0.01, 1, 1, 0);
    const perp_planar_shape b = shape_of(&block);
    perp_manifold m = perp_planar_manifold_build(&lying.shape, &b);
    assert_int_equal(m.count, 2);
    for (int i = 0; i < 2; i++) {
        NEAR(m.points[i].at.phi, -0.01, 1e-14);
        NEAR(m.points[i].at.normal.y, 1, 1e-14);
    }
    NEAR(fmin(m.points[0].at.point_a.x, m.points[1].at.point_a.x), 0, 1e-14); /* the floor begins at the corner */
    NEAR(perp_planar_distance(&lying.shape, &b).phi, -0.01, 1e-14);
    m = perp_planar_manifold_build(&b, &standing.shape);
    assert_int_equal(m.count, 2);
    for (int i = 0; i < 2; i++) {
        NEAR(m.points[i].at.phi, -0.03, 1e-14);
        NEAR(m.points[i].at.normal.x, -1, 1e-14);
    }
    /* a disc in the lying leg, next to the cut: the standing leg is near it through the cut only, and has no contact */
    const body swallowed = disc(-0.4, -0.7, 0.05);
    const perp_planar_shape d = shape_of(&swallowed);
    assert_true(perp_planar_distance(&standing.shape, &d).phi == INFINITY);
    assert_int_equal(perp_planar_manifold_build(&standing.shape, &d).count, 0);
    perp_planar_shape bare = standing.shape;
    bare.borders = NULL;
    NEAR(perp_planar_distance(&bare, &d).phi, 0.3 * sqrt(0.5) - 0.05, 1e-14);
    NEAR(perp_planar_distance(&lying.shape, &d).phi, -0.3 - 0.05, 1e-14); /* out through the bottom */
}

/* The inner corner is nobody's nearest point; the outer corner that both parts have is both parts'. */
static void corners_of_parts(void **state)
{
    (void)state;
    l_part lying, standing;
    lying_leg(&lying);
    standing_leg(&standing);
    const body near_inner = disc(0.3, 0.2, 0.1), near_outer = disc(-1.3, -1.4, 0.1), beside = disc(-0.5, -1.2, 0.1);
    const perp_planar_shape inner = shape_of(&near_inner), outer = shape_of(&near_outer), side = shape_of(&beside);
    NEAR(perp_planar_distance(&lying.shape, &inner).phi, 0.1, 1e-14);
    NEAR(perp_planar_distance(&standing.shape, &inner).phi, 0.2, 1e-14);
    NEAR(perp_planar_distance(&lying.shape, &outer).phi, 0.4, 1e-14);
    NEAR(perp_planar_distance(&standing.shape, &outer).phi, 0.4, 1e-14);
    NEAR(perp_planar_distance(&lying.shape, &side).phi, 0.1, 1e-14);
    assert_true(perp_planar_distance(&standing.shape, &side).phi ==
                INFINITY); /* its corner is near, but in no way out */
    /* on the ground: the lying leg lists its bottom, the standing one just the corner that they share */
    const perp_planar_shape ground = {.kind = PERP_PLANAR_HALFPLANE, .normal = {0, 1, 0}, .offset = -1.25};
    perp_manifold m = perp_planar_manifold_build(&lying.shape, &ground);
    assert_int_equal(m.count, 2);
    NEAR(m.points[0].at.phi + m.points[1].at.phi, 0.5, 1e-14);
    m = perp_planar_manifold_build(&ground, &standing.shape);
    assert_int_equal(m.count, 1);
    NEAR(m.points[0].at.point_b.x, -1, 1e-14);
    /* a pose is known to 1e-9 rad: by less than that the shared corner stays, by more only the lying leg is below */
    const perp_planar_shape hardly = {.kind = PERP_PLANAR_HALFPLANE, .normal = {-5e-10, 1, 0}, .offset = -1.25};
    const perp_planar_shape tilted = {.kind = PERP_PLANAR_HALFPLANE, .normal = {-5e-8, 1, 0}, .offset = -1.25};
    NEAR(perp_planar_distance(&standing.shape, &hardly).phi, 0.25, 1e-8);
    assert_true(perp_planar_distance(&standing.shape, &tilted).phi == INFINITY);
    /* a ceiling that comes down on the standing leg is no business of the lying one */
    const perp_planar_shape roof = {
        .kind = PERP_PLANAR_HALFPLANE, .normal = {-0.1, -0.9949874371066199, 0}, .offset = -6};
    assert_int_equal(perp_planar_manifold_build(&standing.shape, &roof).count, 2);
    const perp_planar_shape from_left = {.kind = PERP_PLANAR_HALFPLANE, .normal = {1, 0, 0}, .offset = -1.5};
    assert_int_equal(perp_planar_manifold_build(&lying.shape, &from_left).count, 1);
    assert_int_equal(perp_planar_manifold_build(&standing.shape, &from_left).count, 2);
    const perp_planar_shape slanted = {.kind = PERP_PLANAR_HALFPLANE, .normal = {-0.6, -0.8, 0}, .offset = -6};
    assert_true(perp_planar_distance(&lying.shape, &slanted).phi < INFINITY); /* at (5, 0), an outer corner */
    /* in a ring: all but the inner corner */
    const perp_planar_shape ring = {.kind = PERP_PLANAR_HOLE, .centre = {1, 1, 0}, .radius = 7};
    m = perp_planar_manifold_build(&lying.shape, &ring);
    assert_int_equal(m.count, 3);
    NEAR(perp_planar_distance(&lying.shape, &ring).phi, 7 - hypot(4, 2), 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_on_box),
        cmocka_unit_test(tilted_box),
        cmocka_unit_test(capsules),
        cmocka_unit_test(on_halfplane),
        cmocka_unit_test(box_in_a_groove),
        cmocka_unit_test(in_a_hole),
        cmocka_unit_test(around_a_hole),
        cmocka_unit_test(collinear_corners_make_one_side),
        cmocka_unit_test(random_pairs),
        cmocka_unit_test(labels_last),
        cmocka_unit_test(cuts_are_no_surface),
        cmocka_unit_test(corners_of_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
