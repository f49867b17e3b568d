/* Planar scenes by hand, and concave polygons: what of their parts is surface, and what is not. */
#include "contact_test.h"

#include <stdio.h>

/* ---- convex shapes ------------------------------------------------------------------------------------------------
 */

static void test_discs_boxes_and_holes(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "planar: true\n"
                   "contacts: {exclude: [[socket, box], [socket, disc], [socket, floor]]}\n"
                   "bodies:\n"
                   "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                   "  box: {mass: 1, pose: {position: [1, 0.101]}, shapes: [{box: [0.4, 0.2]}]}\n"
                   "  disc: {mass: 1, pose: {position: [1.05, 0.26]}, shapes: [{disc: 0.05}]}\n"
                   "  socket: {fixed: true, pose: {position: [9, 5]}, shapes: [{hole: {radius: 0.1}}]}\n"
                   "  pin: {mass: 1, pose: {position: [9.03, 5.04]}, shapes: [{disc: 0.04}]}\n");
    assert_int_equal(contacts_between(&w, "floor", "box"), 2);
    assert_int_equal(contacts_between(&w, "box", "disc"), 1);
    assert_int_equal(contacts_between(&w, "socket", "pin"), 1);
    assert_int_equal(w.set->count, 4);
    const perp_contact *c = w.set->contacts;
    NEAR(c[0].phi, 0.001, 1e-15);
    NEAR(c[1].phi, 0.001, 1e-15);
    NEAR_VECTOR(c[0].point_b, 0.8, 0.001, 0, 1e-15);
    NEAR_VECTOR(c[1].point_b, 1.2, 0.001, 0, 1e-15);
    NEAR_VECTOR(c[2].normal, 0, 1, 0, 1e-15);
    NEAR(c[2].phi, 0.26 - 0.05 - 0.201, 1e-15);
    NEAR_VECTOR(c[2].point_a, 1.05, 0.201, 0, 1e-15);
    /* the pin is 0.05 off the centre along (0.6, 0.8); the socket is a, so the normal points inwards */
    NEAR(c[3].phi, 0.1 - 0.04 - 0.05, 1e-14);
    NEAR_VECTOR(c[3].normal, -0.6, -0.8, 0, 1e-13);
    NEAR_VECTOR(c[3].point_a, 9.06, 5.08, 0, 1e-14);
    /* a pin thicker than its hole is found as deep as it is */
    place_planar(&w, "pin", 9.0, 5.07, 0);
    world_build(&w);
    NEAR(w.set->smallest_gap, 0.1 - 0.04 - 0.07, 1e-14);
    world_close(&w);
}

/* A pin with 10 mm of clearance, 4 mm off the middle, steps 30 mm whichever way: what is listed before the step says
 * that it would be out of its hole after it. The gap of the listed place nearest to the direction is at most the exact
 * one over cos 45 degrees. */
static void test_every_wall_of_a_hole(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "planar: true\n"
                   "bodies:\n"
                   "  socket: {fixed: true, shapes: [{hole: {radius: 0.1}}]}\n"
                   "  pin: {mass: 1, pose: {position: [0.004, 0]}, shapes: [{disc: 0.09}]}\n");
    assert_int_equal(w.set->count, 4);
    const double gaps[4] = {0.006, 0.01, 0.014, 0.01};
    for (int k = 0; k < 4; k++) {
        NEAR(w.set->contacts[k].phi, gaps[k], 1e-15);
    }
    contact_named(&w, "s0.u2-s0.c0");
    for (int i = 0; i < 36; i++) {
        const double angle = i * 0.17453292519943295, v[3] = {0.03 * cos(angle), 0.03 * sin(angle), 0};
        double moved[8], predicted = INFINITY;
        perp_contact_velocity(w.set, v, moved);
        for (int k = 0; k < 4; k++) {
            predicted = fmin(predicted, w.set->contacts[k].phi + moved[2 * k]);
        }
        const double out = 0.01 - hypot(0.004 + v[0], v[1]);
        assert_true(out < -0.01 && predicted < -0.005 && predicted >= out - 1e-15);
    }
    world_close(&w);
}

/* ---- concave polygons ----------------------------------------------------------------------------------------------
 */

/* An L of 0.1 m thick legs, 1 m wide and 1 m high, its inner corner at the origin. Either orientation is written. */
static const char *const forward = "[[-0.1, -0.1], [1, -0.1], [1, 0], [0, 0], [0, 1], [-0.1, 1]]";
static const char *const backward = "[[-0.1, 1], [0, 1], [0, 0], [1, 0], [1, -0.1], [-0.1, -0.1]]";
/* Corners on straight sides change nothing. */
static const char *const dotted =
    "[[-0.1, -0.1], [0.3, -0.1], [1, -0.1], [1, 0], [0.5, 0], [0.2, 0], [0, 0], [0, 0.7], [0, 1], [-0.1, 1]]";

static void open_in_l(contact_world *w, const char *corners, const char *shape, double x, double y, double angle)
{
    char text[2000];
    snprintf(text, sizeof text,
             "planar: true\n"
             "contacts: {margin: 0.05}\n"
             "bodies:\n"
             "  frame: {fixed: true, shapes: [{polygon: %s}]}\n"
             "  block: {mass: 1, inertia: 1, pose: {position: [%.17g, %.17g], angle: %.17g}, shapes: [{%s}]}\n",
             corners, x, y, angle, shape);
    world_open(w, text);
}

/* A block in the corner: two points on the floor, two on the wall, whatever the gaps, nothing else. */
static void test_block_in_a_corner(void **state)
{
    (void)state;
    const char *const polygons[3] = {forward, backward, dotted};
    /* gaps to the wall and to the floor; overlaps up to a fifth of the legs */
    const double gaps[8][2] = {{0.01, 0.02},    {1e-9, 1e-9},  {0, 0},         {-1e-6, 1e-6},
                               {-1e-5, -0.004}, {-0.02, 1e-3}, {-0.02, -0.01}, {-1e-3, -1e-3}};
    for (int p = 0; p < 3; p++) {
        for (int g = 0; g < 8; g++) {
            contact_world w;
            open_in_l(&w, polygons[p], "box: [0.2, 0.3]", 0.1 + gaps[g][0], 0.15 + gaps[g][1], 0);
            int floor = 0, wall = 0;
            for (int i = 0; i < w.set->count; i++) {
                const perp_contact *c = &w.set->contacts[i];
                const bool up = c->normal.y > 0.5;
                NEAR_VECTOR(c->normal, up ? 0 : 1, up ? 1 : 0, 0, 1e-12);
                NEAR(c->phi, gaps[g][up ? 1 : 0], 1e-14);
                floor += up;
                wall += !up;
            }
            if (floor != 2 || wall != 2) {
                fail_msg("polygon %d, gaps %g %g: %d on the floor, %d on the wall", p, gaps[g][0], gaps[g][1], floor,
                         wall);
            }
            world_close(&w);
        }
    }
}

/* A needle in the corner: for each leg of the L the shortest way out of its part is through the cut. */
static void test_needle_in_a_corner(void **state)
{
    (void)state;
    contact_world w;
    open_in_l(&w, forward, "box: [0.002, 0.3]", 0.001 - 0.001, 0.15 - 0.004, 0);
    int floor = 0, wall = 0;
    for (int i = 0; i < w.set->count; i++) {
        const perp_contact *c = &w.set->contacts[i];
        const bool up = c->normal.y > 0.5;
        NEAR_VECTOR(c->normal, up ? 0 : 1, up ? 1 : 0, 0, 1e-12);
        NEAR(c->phi, up ? -0.004 : -0.001, 1e-14);
        floor += up;
        wall += !up;
    }
    assert_int_equal(floor, 2);
    assert_int_equal(wall, 2);
    world_close(&w);
}

/* The outer corner of the L belongs to both of its parts, and to one contact. */
static void test_shared_corner(void **state)
{
    (void)state;
    contact_world w;
    open_in_l(&w, forward, "disc: 0.05", -0.1 - 0.04, -0.1 - 0.04, 0);
    assert_int_equal(w.set->count, 1);
    NEAR(w.set->contacts[0].phi, 0.04 * sqrt(2) - 0.05, 1e-14);
    NEAR_VECTOR(w.set->contacts[0].normal, -sqrt(0.5), -sqrt(0.5), 0, 1e-13);
    world_close(&w);
    char text[1000];
    snprintf(text, sizeof text,
             "planar: true\n"
             "bodies:\n"
             "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: -0.1}}]}\n"
             "  l: {mass: 1, inertia: 1, shapes: [{polygon: %s}]}\n",
             forward);
    world_open(&w, text);
    assert_int_equal(w.set->count, 2);
    NEAR(w.set->contacts[0].point_b.x + w.set->contacts[1].point_b.x, 0.9, 1e-12);
    world_close(&w);
}

/* Tilted by a hair or more, the contacts go over from one to the next without one that is no surface. */
static void test_tilted_block(void **state)
{
    (void)state;
    for (double angle = -0.05; angle <= 0.05; angle += 0.00093) {
        contact_world w;
        open_in_l(&w, forward, "box: [0.2, 0.3]", 0.5, 0.149, angle);
        assert_true(w.set->count == 2);
        double low = INFINITY;
        for (int k = 0; k < 4; k++) {
            const double x = k & 1 ? 0.1 : -0.1, y = k & 2 ? 0.15 : -0.15;
            low = fmin(low, 0.149 + sin(angle) * x + cos(angle) * y);
        }
        NEAR(w.set->smallest_gap, low, 1e-14);
        for (int i = 0; i < 2; i++) {
            NEAR_VECTOR(w.set->contacts[i].normal, 0, 1, 0, 1e-14);
        }
        world_close(&w);
    }
}

/* A disc that rolls over a plus: its gap is that to the nearest of the plus's own sides and outer corners, which is
 * known; contacts are at most two (in an inner corner) while it is outside. */
static void test_disc_around_a_plus(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "planar: true\n"
                   "contacts: {margin: 0.05}\n"
                   "bodies:\n"
                   "  plus: {fixed: true, shapes: [{polygon: [[1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1],\n"
                   "         [-1, -1], [-1, -3], [1, -3], [1, -1], [3, -1], [3, 1]]}]}\n"
                   "  disc: {mass: 1, shapes: [{disc: 0.5}]}\n");
    perp_random random = {3};
    int near = 0, both = 0;
    for (int i = 0; i < 20000; i++) {
        const double x = uniform(&random, -4, 4), y = uniform(&random, -4, 4);
        const double u = fmax(fabs(x), fabs(y)), v = fmin(fabs(x), fabs(y)); /* by symmetry along the arm of x */
        if (u < 3 && v < 1) {
            continue; /* the centre is inside */
        }
        /* the arm's end with its corner, and its side, which in the inner corner is one of two */
        const double to_end = hypot(fmax(u - 3, 0), fmax(v - 1, 0)), to_other = fmax(u - 1, 0);
        const double gap = (u > 3 ? to_end : fmin(v - 1, v < 3 ? to_other : INFINITY)) - 0.5;
        place_planar(&w, "disc", x, y, 0);
        world_build(&w);
        if (gap > 0.05) {
            assert_int_equal(w.set->count, 0);
            continue;
        }
        assert_true(w.set->count >= 1 && w.set->count <= 2);
        NEAR(w.set->smallest_gap, gap, 1e-13);
        near++;
        both += w.set->count == 2;
        if (w.set->count == 2) { /* in an inner corner, near two walls */
            assert_true(u < 1.55 + 1e-9 && v < 1.55 + 1e-9);
            NEAR(perp_vec3_dot(w.set->contacts[0].normal, w.set->contacts[1].normal), 0.0, 1e-12);
        }
    }
    assert_true(near > 1000 && both > 20);
    world_close(&w);
}

/* Two Ls hooked into each other, turned together: the tip of each stands flat on a leg of the other, whose edge ends in
 * an inner corner. Two points for each, all along one normal. */
static void test_interlocked(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        const double turn = 0.1 + 0.5 * k, gap = k % 3 == 0 ? 1e-4 : k % 3 == 1 ? -1e-4 : 0.0;
        const double x = 0.6, y = 1 + gap; /* the second one's inner corner, in the first one's frame */
        char text[2000];
        snprintf(
            text, sizeof text,
            "planar: true\n"
            "bodies:\n"
            "  one: {fixed: true, pose: {angle: %.17g}, shapes: [{polygon: %s}]}\n"
            "  two: {mass: 1, inertia: 1, pose: {position: [%.17g, %.17g], angle: %.17g}, shapes: [{polygon: %s}]}\n",
            turn, forward, cos(turn) * x - sin(turn) * y, sin(turn) * x + cos(turn) * y, turn + 3.141592653589793,
            backward);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(w.set->count, 4);
        double sum = 0.0;
        for (int i = 0; i < 4; i++) {
            const perp_contact *c = &w.set->contacts[i];
            NEAR_VECTOR(c->normal, -sin(turn), cos(turn), 0, 1e-8);
            NEAR(c->phi, gap, 1e-12);
            sum += cos(turn) * c->point_a.x + sin(turn) * c->point_a.y;
        }
        NEAR(sum, -0.1 + 0 + 0.6 + 0.7, 1e-9); /* the ends of one's tip and of two's */
        world_close(&w);
    }
}

/* Fully swallowed: by a part without any surface of its own, the middle of a plus whose arms grow wider outwards; and
 * by one that has some. */
static void test_swallowed(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "planar: true\n"
                   "bodies:\n"
                   "  plus: {fixed: true, shapes: [{polygon: [[1, 1], [1.3, 3], [-1.3, 3], [-1, 1], [-3, 1.3],\n"
                   "         [-3, -1.3], [-1, -1], [-1.3, -3], [1.3, -3], [1, -1], [3, -1.3], [3, 1.3]]}]}\n"
                   "  disc: {mass: 1, pose: {position: [0.1, 0.2]}, shapes: [{disc: 0.05}]}\n"
                   "  box: {mass: 1, pose: {position: [-0.3, 0.1]}, shapes: [{box: [0.1, 0.1]}]}\n");
    assert_true(contacts_between(&w, "plus", "disc") >= 1);
    assert_true(contacts_between(&w, "plus", "box") >= 1);
    assert_true(w.set->smallest_gap < -0.1);
    world_close(&w);
    world_open(&w, "planar: true\n"
                   "bodies:\n"
                   "  plus: {fixed: true, shapes: [{polygon: [[1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1],\n"
                   "         [-1, -1], [-1, -3], [1, -3], [1, -1], [3, -1], [3, 1]]}]}\n"
                   "  disc: {mass: 1, pose: {position: [0.1, 0.2]}, shapes: [{disc: 0.05}]}\n"
                   "  box: {mass: 1, pose: {position: [-0.3, 0.1]}, shapes: [{box: [0.1, 0.1]}]}\n");
    assert_true(contacts_between(&w, "plus", "disc") >= 1);
    assert_true(contacts_between(&w, "plus", "box") >= 1);
    assert_true(w.set->smallest_gap < -0.1);
    /* in an arm, near its end: the way out is through the end */
    place_planar(&w, "box", 2.8, 0.0, 0);
    place_planar(&w, "disc", 0.0, -2.9, 0);
    world_build(&w);
    for (int i = 0; i < w.set->count; i++) {
        const perp_contact *c = &w.set->contacts[i];
        const bool box = c->b == body_index(&w, "box");
        NEAR_VECTOR(c->normal, box ? 1 : 0, box ? 0 : -1, 0, 1e-12);
        NEAR(c->phi, box ? -0.25 : -0.15, 1e-12);
    }
    assert_true(w.set->count >= 2);
    /* in an arm, near the middle: 0.2 from the cut to the middle part, 1.05 from the arm's own sides */
    place_planar(&w, "box", 1.15, 0.001, 0);
    place_planar(&w, "disc", 0.001, -1.1, 0);
    world_build(&w);
    for (int i = 0; i < w.set->count; i++) {
        const perp_contact *c = &w.set->contacts[i];
        const bool box = c->b == body_index(&w, "box");
        NEAR_VECTOR(c->normal, box ? 0 : 1, box ? 1 : 0, 0, 1e-12);
        NEAR(c->phi, -1.049, 1e-12);
    }
    assert_true(contacts_between(&w, "plus", "box") >= 1 && contacts_between(&w, "plus", "disc") == 1);
    world_close(&w);
}

/* Concave polygons against a halfplane and in a hole: only outer corners touch, each once. */
static void test_polygon_on_halfplane_and_in_hole(void **state)
{
    (void)state;
    /* a bridge: two feet, 0.2 wide, 5 mm high, under a deck of 1 m */
    const char *const bridge =
        "{polygon: [[-0.5, 0], [-0.3, 0], [-0.3, 0.005], [0.3, 0.005], [0.3, 0], [0.5, 0], [0.5, 0.1], [-0.5, 0.1]]}";
    char text[2000];
    snprintf(text, sizeof text,
             "planar: true\n"
             "bodies:\n"
             "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
             "  bridge: {mass: 1, inertia: 1, pose: {position: [0, 0.001]}, shapes: [%s]}\n",
             bridge);
    contact_world w;
    world_open(&w, text);
    assert_int_equal(w.set->count, 4);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        NEAR(w.set->contacts[i].phi, 0.001, 1e-15);
        sum += fabs(w.set->contacts[i].point_b.x);
    }
    NEAR(sum, 2 * (0.5 + 0.3), 1e-12);
    world_close(&w);
    snprintf(text, sizeof text,
             "planar: true\n"
             "contacts: {margin: 0.3}\n"
             "bodies:\n"
             "  bridge: {mass: 1, inertia: 1, shapes: [%s]}\n"
             "  ring: {fixed: true, shapes: [{hole: {radius: 0.6}}]}\n",
             bridge);
    world_open(&w, text);
    for (int i = 0; i < w.set->count; i++) {
        const perp_contact *c = &w.set->contacts[i];
        const double rho = hypot(c->point_a.x, c->point_a.y);
        NEAR(c->phi, 0.6 - rho, 1e-14);
        assert_true(c->point_a.y != 0.005);
        assert_true(fabs(c->point_a.x) > 0.29);
    }
    NEAR(w.set->smallest_gap, 0.6 - hypot(0.5, 0.1), 1e-14);
    world_close(&w);
}

/* Random overlaps and gaps of a hook with a comb: where nothing overlaps, the smallest gap is that of a slow search
 * over all pairs of edges; where something does, a penetrating contact is listed; and pushed in a little from touching,
 * none is deeper than the push. */
static double segment_gap(perp_vec3 p0, perp_vec3 p1, perp_vec3 x)
{
    const perp_vec3 e = perp_vec3_sub(p1, p0), d = perp_vec3_sub(x, p0);
    const double t = fmin(fmax(perp_vec3_dot(e, d) / perp_vec3_dot(e, e), 0.0), 1.0);
    return perp_vec3_norm(perp_vec3_add_scaled(d, -t, e));
}

static bool inside(const perp_vec3 *corners, int count, perp_vec3 x)
{
    bool in = false;
    for (int i = 0, k = count - 1; i < count; k = i++) {
        const perp_vec3 p = corners[i], q = corners[k];
        if ((p.y > x.y) != (q.y > x.y) && x.x < (q.x - p.x) * (x.y - p.y) / (q.y - p.y) + p.x) {
            in = !in;
        }
    }
    return in;
}

static bool crossing(perp_vec3 a, perp_vec3 b, perp_vec3 c, perp_vec3 d)
{
    const double s = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    const double t = (b.x - a.x) * (d.y - a.y) - (b.y - a.y) * (d.x - a.x);
    const double u = (d.x - c.x) * (a.y - c.y) - (d.y - c.y) * (a.x - c.x);
    const double v = (d.x - c.x) * (b.y - c.y) - (d.y - c.y) * (b.x - c.x);
    return s * t < 0.0 && u * v < 0.0;
}

static double slow_gap(const perp_vec3 *a, int a_count, const perp_vec3 *b, int b_count)
{
    double gap = INFINITY;
    bool overlap = inside(a, a_count, b[0]) || inside(b, b_count, a[0]);
    for (int i = 0; i < a_count; i++) {
        for (int k = 0; k < b_count; k++) {
            const perp_vec3 a0 = a[i], a1 = a[(i + 1) % a_count], b0 = b[k], b1 = b[(k + 1) % b_count];
            overlap = overlap || crossing(a0, a1, b0, b1);
            gap = fmin(gap, fmin(segment_gap(a0, a1, b0), segment_gap(b0, b1, a0)));
        }
    }
    return overlap ? -1.0 : gap;
}

static const perp_vec3 comb[12] = {{-0.5, -0.2, 0}, {0.5, -0.2, 0}, {0.5, 0.3, 0},  {0.35, 0.3, 0},
                                   {0.35, 0, 0},    {0.1, 0, 0},    {0.05, 0.3, 0}, {-0.1, 0.3, 0},
                                   {-0.15, 0.1, 0}, {-0.4, 0, 0},   {-0.4, 0.3, 0}, {-0.5, 0.3, 0}};
static const perp_vec3 hook[6] = {{0, 0, 0}, {0.3, 0, 0}, {0.3, 0.05, 0}, {0.08, 0.06, 0}, {0.1, 0.2, 0}, {0, 0.2, 0}};

static void open_comb_and_hook(contact_world *w)
{
    char text[3000], *end = text;
    end += sprintf(end, "planar: true\ncontacts: {margin: 0.03}\nbodies:\n  comb: {fixed: true, shapes: [{polygon: [");
    for (int i = 0; i < 12; i++) {
        end += sprintf(end, "%s[%g, %g]", i ? ", " : "", comb[i].x, comb[i].y);
    }
    end += sprintf(end, "]}]}\n  hook: {mass: 1, inertia: 1, shapes: [{polygon: [");
    for (int i = 0; i < 6; i++) {
        end += sprintf(end, "%s[%g, %g]", i ? ", " : "", hook[i].x, hook[i].y);
    }
    sprintf(end, "]}]}\n");
    world_open(w, text);
}

static void test_random_polygons(void **state)
{
    (void)state;
    contact_world w;
    open_comb_and_hook(&w);
    perp_random random = {11};
    int apart = 0, overlapping = 0;
    for (int i = 0; i < 100000; i++) {
        const double x = uniform(&random, -0.9, 0.9), y = uniform(&random, -0.6, 0.6);
        const double turn = uniform(&random, -3.2, 3.2), push = exp(uniform(&random, log(1e-6), log(3e-3)));
        perp_vec3 moved[6];
        for (int k = 0; k < 6; k++) {
            moved[k] = perp_vec3_make(x + cos(turn) * hook[k].x - sin(turn) * hook[k].y,
                                      y + sin(turn) * hook[k].x + cos(turn) * hook[k].y, 0.0);
        }
        place_planar(&w, "hook", x, y, turn);
        world_build(&w);
        const double gap = slow_gap(comb, 12, moved, 6);
        if (gap < 0.0) {
            overlapping++;
            assert_true(w.set->smallest_gap < 0.0);
        } else if (gap <= 0.03 - 1e-9) {
            NEAR(w.set->smallest_gap, gap, 1e-12);
            apart++;
            const perp_contact *c = w.set->contacts;
            for (int k = 1; k < w.set->count; k++) {
                c = w.set->contacts[k].phi < c->phi ? &w.set->contacts[k] : c;
            }
            const perp_vec3 n = c->normal;
            place_planar(&w, "hook", x - (gap + push) * n.x, y - (gap + push) * n.y, turn);
            world_build(&w);
            assert_true(w.set->smallest_gap < 0.0);
            /* no gap falls by more than the push, so a deeper contact is one with what is no surface there; 1e-8: ties
             */
            assert_true(w.set->smallest_gap >= -push - 1e-8);
        } else {
            assert_int_equal(w.set->count, 0);
        }
    }
    assert_true(apart > 500 && overlapping > 500);
    world_close(&w);
}

/* 40 heads on one bar are pressed against the underside of 18 combs in a row: dozens of parts overlap at once, and for
 * some of them the way out that their own surface has is through the comb to its other side. All heads are
 * in by at least the push and at most by what the tilt of their bar adds to it, and so must the contacts be. */
enum { COMBS = 18, HEADS = 40, CORNERS = 10 * COMBS + 3 };

static int make_combs(perp_vec3 *corners)
{
    int count = 0;
    corners[count++] = perp_vec3_make(-0.5, -0.2, 0);
    corners[count++] = perp_vec3_make(COMBS - 0.5, -0.2, 0);
    for (int i = COMBS - 1; i >= 0; i--) {
        for (int k = i == COMBS - 1 ? 2 : 3; k < 12; k++) { /* where two combs meet they share a corner */
            corners[count++] = perp_vec3_make(i + comb[k].x, comb[k].y, 0);
        }
    }
    return count;
}

static int make_heads(perp_vec3 *corners)
{
    static const double head[6][2] = {{0, -0.2}, {0, 0}, {-0.3, 0}, {-0.3, -0.05}, {-0.08, -0.06}, {-0.1, -0.2}};
    int count = 0;
    corners[count++] = perp_vec3_make(-0.1, -0.25, 0);
    corners[count++] = perp_vec3_make(0.4 * (HEADS - 1), -0.25, 0);
    for (int i = HEADS - 1; i >= 0; i--) {
        for (int k = i == HEADS - 1 ? 1 : 0; k < 6; k++) {
            corners[count++] = perp_vec3_make(0.4 * i + head[k][0], head[k][1], 0);
        }
    }
    return count;
}

static void open_combs_and_heads(contact_world *w)
{
    static char text[19000];
    perp_vec3 corners[6 * HEADS + 2 + CORNERS];
    char *end = text + sprintf(text, "planar: true\ncontacts: {margin: 0.001}\nbodies:\n");
    for (int b = 0; b < 2; b++) {
        const int count = b == 0 ? make_combs(corners) : make_heads(corners);
        end +=
            sprintf(end, "  %s, shapes: [{polygon: [", b == 0 ? "combs: {fixed: true" : "heads: {mass: 1, inertia: 1");
        for (int i = 0; i < count; i++) {
            end += sprintf(end, "%s[%.12g, %.12g]", i ? ", " : "", corners[i].x, corners[i].y);
        }
        end += sprintf(end, "]}]}\n");
    }
    world_open(w, text);
}

static void test_many_overlaps(void **state)
{
    (void)state;
    contact_world w;
    open_combs_and_heads(&w);
    perp_random random = {12};
    for (int i = 0; i < 300; i++) {
        const double push = exp(uniform(&random, log(1e-6), log(3e-3))), tilt = uniform(&random, -8e-4, 8e-4);
        const double rise = 0.4 * HEADS * fabs(tilt); /* the head at one end is in by `push` at least, and all others */
        place_planar(&w, "heads", uniform(&random, 0.8, 1.5), -0.2 + push + (tilt > 0.0 ? 0.3 * tilt : rise), tilt);
        world_build(&w);
        int deep = 0;
        for (int k = 0; k < w.set->count; k++) {
            const perp_contact *c = &w.set->contacts[k];
            deep += c->phi < -push;
            if (!(c->phi >= -push - rise - 0.3 * fabs(tilt) - 7.2e-8)) { /* the tolerance of 16 m and 18 m */
                fail_msg("in by %g, tilted by %g: %g deep", push, tilt, -c->phi);
            }
        }
        assert_true(deep >= HEADS);
    }
    world_close(&w);
}

/* The corner of a block touches the front of an L that leans a little, in it by less than rounding or hardly more: the
 * front's normal it is. That corner is also hardly below the block's top, which is no way out: the L reaches far below.
 */
static void test_corner_on_a_leaning_front(void **state)
{
    (void)state;
    static const double DEPTHS[] = {0.0, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7};
    contact_world w;
    world_open(&w, "planar: true\ncontacts: {margin: 0.01}\nbodies:\n"
                   "  block: {fixed: true, pose: {position: [0.3, 0.007]}, shapes: [{box: [0.01, 0.014]}]}\n"
                   "  l: {mass: 1, inertia: 1, shapes: [{polygon: [[0, 0], [0.04, 0], [0.04, 0.02], [0.02, 0.02],\n"
                   "      [0.02, 0.06], [0, 0.06]]}]}\n");
    for (size_t i = 0; i < sizeof DEPTHS / sizeof *DEPTHS; i++) {
        const double lean = 5e-4; /* the front is the L's foot, turned upright but for this */
        place_planar(&w, "l", 0.295 - 0.014 * tan(lean) + DEPTHS[i] / cos(lean), 0.0, asin(1.0) - lean);
        world_build(&w);
        assert_true(w.set->count >= 1);
        for (int k = 0; k < w.set->count; k++) {
            NEAR(w.set->contacts[k].normal.x, -1.0, 1e-3);
        }
        NEAR(w.set->contacts[0].phi, -DEPTHS[i], 1e-9); /* the tie tolerance of shapes of 0.1 m */
    }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discs_boxes_and_holes),
        cmocka_unit_test(test_block_in_a_corner),
        cmocka_unit_test(test_tilted_block),
        cmocka_unit_test(test_needle_in_a_corner),
        cmocka_unit_test(test_shared_corner),
        cmocka_unit_test(test_disc_around_a_plus),
        cmocka_unit_test(test_interlocked),
        cmocka_unit_test(test_swallowed),
        cmocka_unit_test(test_polygon_on_halfplane_and_in_hole),
        cmocka_unit_test(test_random_polygons),
        cmocka_unit_test(test_every_wall_of_a_hole),
        cmocka_unit_test(test_many_overlaps),
        cmocka_unit_test(test_corner_on_a_leaning_front),
    };
    return cmocka_run_group_tests_name("contact narrow", tests, NULL, NULL);
}
