/* The set as a whole: which contacts, in which order, at what cost in memory, and what becomes of failures. */
#include "contact/contact_private.h"
#include "contact_test.h"

#include "failing_allocator.h"

#include <stdio.h>

/* ---- hand-made scenes ---------------------------------------------------------------------------------------------
 */

/* A box of 0.2 x 0.3 x 0.4 m hovers 1 mm over z = 0: four corners of its lower face, straight up and down. */
static void test_box_on_plane(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                   "  box: {mass: 1, pose: {position: [1, 2, 0.201]}, shapes: [{box: [0.2, 0.3, 0.4]}]}\n");
    assert_int_equal(w.set->count, 4);
    assert_int_equal(w.set->rows, 3);
    double corners[4][2] = {{0.9, 1.85}, {1.1, 1.85}, {0.9, 2.15}, {1.1, 2.15}};
    for (int i = 0; i < 4; i++) {
        const perp_contact *c = &w.set->contacts[i];
        assert_int_equal(c->a, 0);
        assert_int_equal(c->b, 1);
        NEAR(c->phi, 0.001, 1e-15);
        NEAR_VECTOR(c->normal, 0, 0, 1, 0);
        NEAR_VECTOR(c->t, 1, 0, 0, 0);
        NEAR_VECTOR(c->o, 0, 1, 0, 0);
        NEAR(c->point_a.z, 0.0, 1e-15);
        NEAR(c->point_b.z, 0.001, 1e-15);
        int matches = 0;
        for (int k = 0; k < 4; k++) {
            if (fabs(c->point_b.x - corners[k][0]) < 1e-12 && fabs(c->point_b.y - corners[k][1]) < 1e-12) {
                corners[k][0] = INFINITY; /* each once */
                matches++;
            }
        }
        assert_int_equal(matches, 1);
        assert_true(c->friction == 0.5 && c->direction_count == 2 && c->restitution == 0.0 && c->pair == -1);
        /* the box's own six degrees of freedom: n = (0 0 1), and arm x n = (y, -x, 0) about its origin */
        assert_int_equal(w.set->dof_start[i + 1] - w.set->dof_start[i], 6);
        const double *row = w.set->jacobian + 3 * w.set->dof_start[i];
        const double expected[6] = {0, 0, 1, c->point_b.y - 2, -(c->point_b.x - 1), 0};
        for (int d = 0; d < 6; d++) {
            NEAR(row[d], expected[d], 1e-15);
        }
    }
    NEAR(w.set->smallest_gap, 0.001, 1e-15);
    NEAR(w.set->scene_size, sqrt(0.04 + 0.09 + 0.16), 1e-12); /* the plane is unbounded and does not count */
    place(&w, "box", 1, 2, 0.2 + 0.0201);
    world_build(&w);
    assert_int_equal(w.set->count, 0);
    assert_true(w.set->smallest_gap == INFINITY);
    place(&w, "box", 1, 2, 0.19);
    world_build(&w);
    assert_int_equal(w.set->count, 4);
    NEAR(w.set->smallest_gap, -0.01, 1e-15);
    world_close(&w);
}

/* The same two bodies the other way round in the file: a is the box, and the normal points down. */
static void test_order_of_bodies(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  box: {mass: 1, pose: {position: [1, 2, 0.201]}, shapes: [{box: [0.2, 0.3, 0.4]}]}\n"
                   "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n");
    assert_int_equal(w.set->count, 4);
    for (int i = 0; i < 4; i++) {
        const perp_contact *c = &w.set->contacts[i];
        assert_string_equal(w.scene->bodies[c->a].name, "box");
        NEAR_VECTOR(c->normal, 0, 0, -1, 0);
        NEAR(c->point_a.z, 0.001, 1e-15);
        NEAR(c->point_b.z, 0.0, 1e-15);
        NEAR(w.set->jacobian[3 * w.set->dof_start[i] + 2], 1.0, 0); /* moving a up opens the gap */
    }
    world_close(&w);
}

/* A plane's normal and offset are in the shape's frame, and that in the body's. */
static void test_plane_is_placed(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  wall: {fixed: true, pose: {position: [1, 0, 0], rpy: [0, 0, 1.5707963267948966]},\n"
                   "         shapes: [{plane: {normal: [1, 0, 0], offset: 0.5}, pose: {position: [0.25, 0, 0]}}]}\n"
                   "  ball: {mass: 1, pose: {position: [7, 0.86, 3]}, shapes: [{sphere: 0.1}]}\n");
    assert_int_equal(w.set->count, 1); /* solid below y = 0.75 */
    NEAR(w.set->contacts[0].phi, 0.01, 1e-14);
    NEAR_VECTOR(w.set->contacts[0].normal, 0, 1, 0, 1e-15);
    NEAR_VECTOR(w.set->contacts[0].point_a, 7, 0.75, 3, 1e-14);
    world_close(&w);
    world_open(&w, "planar: true\nbodies:\n"
                   "  wall: {fixed: true, pose: {position: [1, 0], angle: 1.5707963267948966},\n"
                   "         shapes: [{halfplane: {normal: [1, 0], offset: 0.5}, pose: {position: [0.25, 0]}}]}\n"
                   "  disc: {mass: 1, inertia: 1, pose: {position: [7, 0.86]}, shapes: [{disc: 0.1}]}\n");
    assert_int_equal(w.set->count, 1);
    NEAR(w.set->contacts[0].phi, 0.01, 1e-14);
    NEAR_VECTOR(w.set->contacts[0].normal, 0, 1, 0, 1e-15);
    world_close(&w);
}

/* A plane that is tilted by 1e-8 rad rises by 1 mm in 100 km: what rests on it there is found, though the cosine of the
 * tilt is 1. In the plane likewise; and a plate with a hole. */
static void test_hardly_tilted(void **state)
{
    (void)state;
    static const struct {
        const char *planar, *ground, *ball;
    } cases[5] = {
        {"false", "plane: {normal: [1.0e-8, 0, 1], offset: 0}",
         "sphere: 0.1}], pose: {position: [-1.0e+5, 0, 0.10105]}"},
        {"true", "halfplane: {normal: [1.0e-8, 1], offset: 0}", "disc: 0.1}], pose: {position: [-1.0e+5, 0.10105]}"},
        {"false", "hole: {radius: 0.01, length: 2}, pose: {rpy: [0, 1.0e-8, 0]}",
         "sphere: 0.1}], pose: {position: [-1.0e+5, 0, 1.10105]}"},
        {"false", "plane: {normal: [0, 1.0e-8, 1], offset: 0}",
         "sphere: 0.1}], pose: {position: [0, -1.0e+5, 0.10105]}"},
        {"false", "plane: {normal: [1, 0, 1.0e-8], offset: 0}",
         "sphere: 0.1}], pose: {position: [0.10105, 0, -1.0e+5]}"}};
    for (int i = 0; i < 5; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "planar: %s\ncontacts: {margin: 1.0e-4}\nbodies:\n"
                 "  ground: {fixed: true, shapes: [{%s}]}\n"
                 "  ball: {mass: 1, inertia: %s, shapes: [{%s}\n",
                 cases[i].planar, cases[i].ground, i == 1 ? "1" : "[1, 1, 1]", cases[i].ball);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(w.set->count, 1);
        NEAR(w.set->contacts[0].phi, 5e-5, 1e-10); /* rounding of 1e5 m times 1e-8, and of the ball's own height */
        world_close(&w);
    }
}

/* Bodies of several shapes: contacts go by bodies first, then by shapes. */
static void test_compound_order(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "contacts: {margin: 10}\n"
                   "bodies:\n"
                   "  a: {mass: 1, shapes: [{sphere: 0.1}, {sphere: 0.1, pose: {position: [1, 0, 0]}},\n"
                   "                        {sphere: 0.1, pose: {position: [2, 0, 0]}}]}\n"
                   "  b: {mass: 1, pose: {position: [0, 1, 0]}, shapes: [{sphere: 0.1}, {sphere: 0.2}]}\n"
                   "  c: {mass: 1, pose: {position: [0, 2, 0]}, shapes: [{sphere: 0.1}, {sphere: 0.3}]}\n");
    assert_int_equal(w.set->count, 6 + 6 + 4);
    int k = 0;
    for (int b = 1; b <= 2; b++) {
        for (int s = 0; s < 3; s++) {
            for (int r = 0; r < 2; r++, k++) {
                const perp_contact *c = &w.set->contacts[k];
                assert_true(c->a == 0 && c->b == b && c->shape_a == s && c->shape_b == r);
                const double radius = r == 0 ? 0.1 : b == 1 ? 0.2 : 0.3;
                NEAR(c->phi, hypot(s, b) - 0.1 - radius, 1e-14);
            }
        }
    }
    assert_true(w.set->contacts[12].a == 1 && w.set->contacts[12].b == 2);
    world_close(&w);
}

/* Meshes that name the same points share a hull; the hull of a cube's corners stands like the cube. */
static void test_mesh(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                   "  mesh: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, 0.105]},\n"
                   "    shapes: [{mesh: {points: [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1], [-1, -1, 1],\n"
                   "                              [1, -1, 1], [-1, 1, 1], [1, 1, 1], [0, 0, 0]], scale: 0.1}}]}\n");
    assert_int_equal(w.set->count, 4);
    for (int i = 0; i < 4; i++) {
        NEAR(w.set->contacts[i].phi, 0.005, 1e-15);
        NEAR(fabs(w.set->contacts[i].point_b.x), 0.1, 1e-15);
        NEAR(fabs(w.set->contacts[i].point_b.y), 0.1, 1e-15);
    }
    NEAR(w.set->scene_size, 0.2 * sqrt(3), 1e-14);
    world_close(&w);
}

/* Every kind of shape 2 mm over z = 0: how many points, and all of them at that height or (cylinder and ellipsoid on
 * their side) as the shape's own geometry has it. */
static void test_every_kind_on_plane(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *turn;
        double height; /* of the origin over the lowest point */
        int contacts;
    } cases[] = {{"point: {}", "[0, 0, 0]", 0.0, 1},
                 {"sphere: 0.1", "[1, 2, 3]", 0.1, 1},
                 {"box: [0.2, 0.4, 0.6]", "[0, 1.5707963267948966, 0]", 0.1, 4},
                 {"capsule: {radius: 0.1, length: 0.3}", "[1.5707963267948966, 0, 0.3]", 0.1, 2},
                 {"cylinder: {radius: 0.1, length: 0.3}", "[0, 0, 0.3]", 0.15, 6},
                 {"cylinder: {radius: 0.1, length: 0.3}", "[1.5707963267948966, 0, 0.3]", 0.1, 2},
                 {"ellipsoid: [0.1, 0.2, 0.3]", "[0, 1.5707963267948966, 0]", 0.1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "bodies:\n"
                 "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                 "  b: {mass: 1, inertia: [1, 1, 1], pose: {position: [3, 4, %.17g]},\n"
                 "      shapes: [{%s, pose: {rpy: %s}}]}\n",
                 cases[i].height + 0.002, cases[i].shape, cases[i].turn);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(w.set->count, cases[i].contacts);
        for (int k = 0; k < w.set->count; k++) {
            NEAR(w.set->contacts[k].phi, 0.002, 1e-12);
            NEAR_VECTOR(w.set->contacts[k].normal, 0, 0, 1, 1e-12);
        }
        world_close(&w);
    }
}

/* A pin in a bore, off its axis: found wherever the plate stands, also one that is thicker than its hole. */
static void test_pin_in_hole(void **state)
{
    (void)state;
    static const char *const turns[2] = {"[0, 0, 0]", "[0, 0.3, 0]"}; /* along an axis of the world, and not */
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "bodies:\n"
                 "  plate: {fixed: true, pose: {rpy: %s}, shapes: [{hole: {radius: 0.1, length: 0.2}}]}\n"
                 "  pin: {mass: 1, inertia: [1, 1, 1], pose: {rpy: %s},\n"
                 "        shapes: [{cylinder: {radius: 0.09, length: 0.5}, pose: {position: [0.004, 0, 0]}}]}\n",
                 turns[i], turns[i]);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(w.set->count, 8); /* both ends of the line in the bore, on four sides each */
        const double c = cos(i == 0 ? 0 : 0.3), s = sin(i == 0 ? 0 : 0.3);
        for (int k = 0; k < 8; k += 4) {
            const perp_contact *p = &w.set->contacts[k];
            NEAR(p[0].phi, 0.006, 1e-12);
            NEAR_VECTOR(p[0].normal, -c, 0, s, 1e-9); /* the plate is a */
            NEAR(p[1].phi, 0.010, 1e-12);
            NEAR_VECTOR(p[1].normal, 0, -1, 0, 1e-9);
            NEAR(p[2].phi, 0.014, 1e-12);
            NEAR_VECTOR(p[2].normal, c, 0, -s, 1e-9);
            NEAR(p[3].phi, 0.010, 1e-12);
        }
        place(&w, "pin", 0.02 * c, 0, -0.02 * s);
        world_build(&w);
        NEAR(w.set->smallest_gap, -0.014, 1e-12);
        world_close(&w);
    }
}

/* ---- what is left out ----------------------------------------------------------------------------------------------
 */

/* An arm whose hand is welded to its last link, with a camera welded to the hand; every body is a ball of 1 m, so that
 * all pairs are within the margin. */
static const char *const arm = "contacts: {margin: 10, exclude: [[table, cube]]}\n"
                               "bodies:\n"
                               "  table: {fixed: true, shapes: [{sphere: 1}]}\n"
                               "  shelf: {fixed: true, shapes: [{sphere: 1}]}\n"
                               "  base: {shapes: [{sphere: 1}]}\n"
                               "  upper: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                               "  fore: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                               "  hand: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                               "  camera: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                               "  finger: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                               "  cube: {mass: 1, pose: {position: [3, 0, 0]}, shapes: [{sphere: 1}]}\n"
                               "joints:\n"
                               "  foot: {type: fixed, parent: table, child: base}\n"
                               "  shoulder: {type: revolute, parent: base, child: upper, axis: [0, 0, 1]}\n"
                               "  elbow: {type: revolute, parent: upper, child: fore, axis: [0, 0, 1]}\n"
                               "  wrist: {type: fixed, parent: fore, child: hand}\n"
                               "  mount: {type: fixed, parent: hand, child: camera}\n"
                               "  grip: {type: prismatic, parent: hand, child: finger, axis: [0, 1, 0]}\n";

static void test_exclusions(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, arm);
    static const char *const names[9] = {"table", "shelf", "base", "upper", "fore", "hand", "camera", "finger", "cube"};
    /* 1: listed. Row and column as in `names`; the lower triangle only. */
    static const char *const listed[9] = {
        "",         /* table */
        "0",        /* shelf: both fixed */
        "00",       /* base: welded to the table, and so as fixed as the shelf */
        "110",      /* upper: its neighbour is the base, not the table behind it */
        "1110",     /* fore: neighbour of upper */
        "11100",    /* hand: welded to fore, and so a neighbour of upper too */
        "111000",   /* camera: welded to the hand */
        "1111000",  /* finger: a neighbour of fore, hand and camera, which are one */
        "01111111", /* cube: contacts.exclude */
    };
    int total = 0;
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < i; k++) {
            const int expected = listed[i][k] == '1';
            if (contacts_between(&w, names[i], names[k]) != expected) {
                fail_msg("%s and %s: %d contacts, expected %d", names[i], names[k],
                         contacts_between(&w, names[i], names[k]), expected);
            }
            total += expected;
        }
    }
    assert_int_equal(w.set->count, total);
    world_close(&w);
    /* contacts.exclude names bodies, not what is welded to them */
    char text[3000];
    snprintf(text, sizeof text, "%s", arm);
    memcpy(strstr(text, "[table, cube]"), "[camera,cube]", strlen("[table, cube]"));
    world_open(&w, text);
    assert_int_equal(contacts_between(&w, "camera", "cube"), 0);
    assert_int_equal(contacts_between(&w, "hand", "cube"), 1);
    assert_int_equal(contacts_between(&w, "table", "cube"), 1);
    assert_int_equal(w.set->count, total);
    world_close(&w);
}

/* What is said of pairs holds in whatever order it is written. */
static void test_rules_in_any_order(void **state)
{
    (void)state;
    static const char *const pairs[2] = {"floor one: {friction: 0.1}, floor two: {friction: 0.2}",
                                         "floor two: {friction: 0.2}, floor one: {friction: 0.1}"};
    static const char *const balls = "  one: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
                                     "  two: {mass: 1, pose: {position: [1, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n";
    static const char *const floor = "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n";
    for (int i = 0; i < 4; i++) {
        contact_world w;
        char text[1000];
        snprintf(text, sizeof text, "bodies:\n%s%scontacts: {pairs: {%s}}\n", i < 2 ? floor : balls,
                 i < 2 ? balls : floor, pairs[i % 2]);
        world_open(&w, text);
        assert_int_equal(w.set->count, 2);
        NEAR(w.set->contacts[0].friction, 0.1, 0);
        NEAR(w.set->contacts[1].friction, 0.2, 0);
        world_close(&w);
    }
}

/* Loops join as joints do: the two bodies, and what is welded to them; the world and fixed bodies carry nothing on. */
static void test_loops_join(void **state)
{
    (void)state;
    static const char *const kinds[2] = {"point", "weld"};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "contacts: {margin: 10}\n"
                 "bodies:\n"
                 "  wall: {fixed: true, shapes: [{sphere: 1}]}\n"
                 "  crank: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                 "  knob: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                 "  rod: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                 "  cap: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 1}]}\n"
                 "  other: {mass: 1, shapes: [{sphere: 1}]}\n"
                 "joints:\n"
                 "  a: {type: fixed, parent: crank, child: knob}\n"
                 "  b: {type: fixed, parent: rod, child: cap}\n"
                 "loops:\n"
                 "  l: {type: %s, a: cap, b: crank}\n"
                 "  m: {type: point, a: wall, b: other}\n",
                 kinds[i]);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(contacts_between(&w, "crank", "cap"), 0);
        assert_int_equal(contacts_between(&w, "crank", "rod"), 0);
        assert_int_equal(contacts_between(&w, "knob", "cap"), 0);
        assert_int_equal(contacts_between(&w, "knob", "rod"), 0);
        assert_int_equal(contacts_between(&w, "wall", "other"), 0);
        assert_int_equal(contacts_between(&w, "wall", "cap"), 1);
        assert_int_equal(w.set->count, 4 + 4); /* four of the mechanism with the wall, and with the other */
        world_close(&w);
    }
}

/* Two driven bodies, and an arm that is told where to be with what stands in its way, are listed. */
static void test_commanded_bodies_are_listed(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                   "  a: {driven: {x: {rate: 1}}, shapes: [{sphere: 0.1}]}\n"
                   "  b: {driven: {x: {offset: 0.15}}, shapes: [{sphere: 0.1}]}\n"
                   "  c: {pose: {position: [0, 0.1, 0]}, shapes: [{sphere: 0.1}]}\n"
                   "joints: {j: {type: prismatic, parent: world, child: c, axis: [1, 0, 0], control: position}}\n");
    assert_int_equal(contacts_between(&w, "a", "b"), 1);
    assert_int_equal(contacts_between(&w, "a", "c"), 1);
    assert_int_equal(contacts_between(&w, "floor", "a"), 1);
    assert_int_equal(contacts_between(&w, "floor", "c"), 1);
    world_close(&w);
}

/* ---- nothing is missed ---------------------------------------------------------------------------------------------
 */

enum {
    ROUND = 1u << PERP_SHAPE_SPHERE | 1u << PERP_SHAPE_CAPSULE | 1u << PERP_SHAPE_POINT,
    FLAT = 1u << PERP_SHAPE_BOX,
    CURVED = 1u << PERP_SHAPE_CYLINDER | 1u << PERP_SHAPE_ELLIPSOID,
    SPATIAL = ROUND | FLAT | CURVED,
    PLANAR = 1u << PERP_SHAPE_DISC | 1u << PERP_SHAPE_CAPSULE | 1u << PERP_SHAPE_POINT | 1u << PERP_SHAPE_BOX |
             1u << PERP_SHAPE_POLYGON
};

/* The contacts with a smaller margin are those of a larger one, less the ones beyond it: boxes leave nothing out. */
static void test_margins_agree(void **state)
{
    (void)state;
    int seen = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        contact_world w;
        const bool planar = seed % 3 == 0;
        world_open_scene(&w, random_scene(seed, planar, planar ? PLANAR : SPATIAL));
        double v[64];
        random_state(&w, seed, v);
        perp_contact_settings wide = perp_contact_settings_default(w.scene);
        assert_true(wide.margin == w.scene->margin && wide.max_contacts == INT32_MAX);
        wide.margin = 100.0;
        perp_contact_set *all;
        assert_int_equal(perp_contact_set_create(w.contact_model, &wide, NULL, &all, NULL), PERP_STATUS_OK);
        world_build(&w);
        assert_int_equal(perp_contact_set_build(all, w.kinematics, NULL), PERP_STATUS_OK);
        int k = 0;
        for (int i = 0; i < all->count; i++) {
            if (all->contacts[i].phi > w.scene->margin) {
                continue;
            }
            assert_true(k < w.set->count);
            assert_memory_equal(&all->contacts[i].normal, &w.set->contacts[k].normal, sizeof(perp_vec3));
            assert_true(all->contacts[i].phi == w.set->contacts[k].phi);
            assert_true(all->contacts[i].a == w.set->contacts[k].a && all->contacts[i].b == w.set->contacts[k].b);
            k++;
        }
        assert_int_equal(k, w.set->count);
        seen += k;
        assert_true(all->scene_size == w.set->scene_size);
        perp_contact_set_free(all);
        world_close(&w);
    }
    assert_true(seen > 300);
}

/* ---- repetition ----------------------------------------------------------------------------------------------------
 */

static void same_sets(const perp_contact_set *p, const perp_contact_set *q)
{
    assert_int_equal(p->count, q->count);
    assert_memory_equal(p->dof_start, q->dof_start, sizeof(int) * ((size_t)p->count + 1));
    assert_memory_equal(p->dofs, q->dofs, sizeof(int) * (size_t)p->dof_start[p->count]);
    assert_memory_equal(p->jacobian, q->jacobian, sizeof(double) * (size_t)p->rows * (size_t)p->dof_start[p->count]);
    for (int i = 0; i < p->count; i++) {
        const perp_contact *c = &p->contacts[i], *d = &q->contacts[i];
        assert_true(c->a == d->a && c->b == d->b && c->feature_a == d->feature_a && c->feature_b == d->feature_b);
        assert_true(c->phi == d->phi && c->friction == d->friction && c->tie == d->tie);
        assert_memory_equal(&c->normal, &d->normal, 5 * sizeof(perp_vec3));
    }
}

/* A set that has seen other configurations gives the bits of a new one. */
static void test_same_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        contact_world w, fresh;
        const bool planar = seed % 2 == 0;
        world_open_scene(&w, random_scene(seed, planar, planar ? PLANAR : SPATIAL));
        world_open_scene(&fresh, random_scene(seed, planar, planar ? PLANAR : SPATIAL));
        double v[64];
        for (int k = 0; k < 5; k++) {
            world_build(&w);
            random_state(&w, seed + (uint64_t)k, v);
        }
        perp_state_copy(w.model, &fresh.state, &w.state);
        world_build(&w);
        world_build(&fresh);
        same_sets(w.set, fresh.set);
        world_close(&w);
        world_close(&fresh);
    }
}

/* ---- memory --------------------------------------------------------------------------------------------------------
 */

/* Compounds, an exclusion, a joint, a mesh and a polygon's parts: every kind of array. */
static const char *const rich =
    "contacts: {margin: 0.1, exclude: [[floor, ghost]]}\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  a: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, 0.1]},\n"
    "      shapes: [{box: [0.2, 0.2, 0.2]}, {sphere: 0.1, pose: {position: [0.3, 0, 0]}}]}\n"
    "  b: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, 0.305]},\n"
    "      shapes: [{box: [0.2, 0.2, 0.2]}, {sphere: 0.1, pose: {position: [0.3, 0, 0]}}]}\n"
    "  ghost: {mass: 1, shapes: [{sphere: 0.1}]}\n"
    "  m: {mass: 1, inertia: [1, 1, 1], pose: {position: [1, 0, 0.1]}, shapes: [{mesh: {points: \n"
    "     [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}}]}\n"
    "  link: {mass: 1, inertia: [1, 1, 1], shapes: [{sphere: 0.1}]}\n"
    "joints: {j: {type: ball, parent: a, child: link, anchor: [0, 0.5, 0]}}\n";
static const char *const rich_planar =
    "planar: true\n"
    "contacts: {margin: 0.1}\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{polygon: [[-1, 0], [-1, -1], [3, -1], [3, 1],\n"
    "          [1, 1], [1, 0]]}]}\n"
    "  a: {mass: 1, pose: {position: [0, 0.101]}, shapes: [{box: [0.2, 0.2]}]}\n"
    "  b: {mass: 1, pose: {position: [0.95, 0.06]}, shapes: [{disc: 0.05}]}\n";

/* Model, set and builds with an allocator; the first failure ends it. Everything is freed. */
static perp_status whole_life(const perp_model *model, const perp_kinematics *kinematics,
                              const perp_allocator *allocator, int *contacts)
{
    perp_contact_model *contact_model = NULL;
    perp_contact_set *set = NULL;
    perp_error error = {.status = PERP_STATUS_OK};
    perp_status status = perp_contact_model_build(model, allocator, &contact_model, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_set_create(contact_model, NULL, allocator, &set, &error);
    } else {
        assert_null(contact_model);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_contact_set_build(set, kinematics, &error);
        *contacts = set->count;
        if (status != PERP_STATUS_OK) {
            assert_int_equal(set->count, 0);
            assert_int_equal(set->dof_start[0], 0);
            assert_true(set->smallest_gap == INFINITY);
            /* a later build may succeed, where memory is back */
            const perp_status again = perp_contact_set_build(set, kinematics, &error);
            assert_true(again == PERP_STATUS_OK || again == PERP_STATUS_OUT_OF_MEMORY);
        }
    } else {
        assert_null(set);
    }
    if (status != PERP_STATUS_OK) {
        assert_int_equal(error.status, error.status == PERP_STATUS_OK ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY);
        assert_true(error.message[0] != 0);
    }
    perp_contact_set_free(set);
    perp_contact_model_free(contact_model);
    return status;
}

static void test_failing_allocator(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        contact_world w;
        world_open(&w, variant % 2 == 0 ? rich : rich_planar);
        const int expected = w.set->count;
        assert_true(expected > 3);
        int failures = 0, contacts = 0;
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = variant >= 2};
            const perp_allocator allocator = allocator_of(&f);
            const perp_status status = whole_life(w.model, w.kinematics, &allocator, &contacts);
            assert_int_equal(f.standing, 0);
            if (status == PERP_STATUS_OK) {
                assert_true(f.requests <= grants); /* nothing that was refused went unnoticed */
                break;
            }
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
            failures++;
        }
        assert_int_equal(contacts, expected);
        assert_true(failures >= 8);
        world_close(&w);
    }
}

/* After the first build, builds of slightly moved bodies take no memory. */
static void test_steady_state(void **state)
{
    (void)state;
    for (int variant = 0; variant < 2; variant++) {
        contact_world w;
        world_open(&w, variant == 0 ? rich : rich_planar);
        failing_allocator f = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&f);
        perp_contact_set *set;
        assert_int_equal(perp_contact_set_create(w.contact_model, NULL, &allocator, &set, NULL), PERP_STATUS_OK);
        const int before = f.requests;
        assert_int_equal(perp_contact_set_build(set, w.kinematics, NULL), PERP_STATUS_OK);
        assert_true(set->grew && f.requests > before);
        const int taken = f.requests;
        perp_random random = {5};
        for (int k = 0; k < 200; k++) {
            double v[64], q[64];
            for (int i = 0; i < w.model->nv; i++) {
                v[i] = uniform(&random, -1e-4, 1e-4);
            }
            perp_configuration_integrate(w.model, w.state.q, v, 1.0, q);
            perp_kinematics_update(w.model, q, w.kinematics);
            assert_int_equal(perp_contact_set_build(set, w.kinematics, NULL), PERP_STATUS_OK);
            assert_false(set->grew);
            assert_int_equal(f.requests, taken);
        }
        perp_contact_set_free(set);
        assert_int_equal(f.standing, 0);
        world_close(&w);
    }
    perp_contact_set_free(NULL);
    perp_contact_model_free(NULL);
}

/* ---- limits and bad input ------------------------------------------------------------------------------------------
 */

static void check_capacity(const char *text)
{
    contact_world w;
    world_open(&w, text);
    const int count = w.set->count;
    for (int limit = 0; limit <= count; limit++) {
        perp_contact_settings settings = perp_contact_settings_default(w.scene);
        settings.max_contacts = limit;
        perp_contact_set *set;
        perp_error error;
        assert_int_equal(perp_contact_set_create(w.contact_model, &settings, NULL, &set, NULL), PERP_STATUS_OK);
        const perp_status status = perp_contact_set_build(set, w.kinematics, &error);
        if (limit == count) {
            assert_int_equal(status, PERP_STATUS_OK);
            assert_int_equal(set->count, count);
        } else {
            char number[32];
            snprintf(number, sizeof number, "more than %d contacts", limit);
            const perp_contact *first = &w.set->contacts[limit];
            assert_int_equal(status, PERP_STATUS_CAPACITY);
            assert_int_equal(set->count, 0);
            assert_non_null(strstr(error.message, number));
            assert_non_null(strstr(error.message, w.scene->bodies[first->a].name));
            assert_non_null(strstr(error.message, w.scene->bodies[first->b].name));
        }
        perp_contact_set_free(set);
    }
    world_close(&w);
}

static void test_capacity(void **state)
{
    (void)state;
    check_capacity(rich);
    check_capacity(rich_planar);
}

static void test_poses_that_are_not_finite(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, rich);
    const int b = body_index(&w, "b"), q = w.model->links[b].q_start;
    const double bad[3] = {NAN, INFINITY, -INFINITY}, good = w.state.q[q + 1];
    for (int i = 0; i < 3; i++) {
        perp_error error;
        w.state.q[q + 1] = bad[i];
        perp_kinematics_update(w.model, w.state.q, w.kinematics);
        assert_int_equal(perp_contact_set_build(w.set, w.kinematics, &error), PERP_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.message, "`b`"));
        assert_int_equal(w.set->count, 0);
    }
    w.state.q[q + 1] = good;
    world_build(&w);
    assert_true(w.set->count > 0);
    world_close(&w);
}

/* No bodies, or none with a shape: an empty set, not an error. */
static void test_empty(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n");
    assert_int_equal(w.set->count, 0);
    NEAR(w.set->scene_size, 1e-3, 0.0);
    int island;
    assert_int_equal(perp_contact_islands(w.set, 0.0, &island), 1);
    assert_int_equal(island, 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_on_plane),
        cmocka_unit_test(test_order_of_bodies),
        cmocka_unit_test(test_plane_is_placed),
        cmocka_unit_test(test_hardly_tilted),
        cmocka_unit_test(test_compound_order),
        cmocka_unit_test(test_every_kind_on_plane),
        cmocka_unit_test(test_pin_in_hole),
        cmocka_unit_test(test_commanded_bodies_are_listed),
        cmocka_unit_test(test_mesh),
        cmocka_unit_test(test_exclusions),
        cmocka_unit_test(test_rules_in_any_order),
        cmocka_unit_test(test_loops_join),
        cmocka_unit_test(test_margins_agree),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_poses_that_are_not_finite),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests_name("contact set", tests, NULL, NULL);
}
