/* Names that follow the outline of a polygon, and gaps of contacts that a state does not list. */
#include "contact/contact_reach.h"
#include "contact_test.h"

#include <math.h>
#include <stdio.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static perp_vec3 corner_in_world(const contact_world *w, int body, int shape, int k)
{
    const perp_shape *s = &w->scene->bodies[body].shapes[shape];
    const perp_vec3 in_body = perp_pose_apply(s->pose.pose, s->points[k % s->point_count]);
    return perp_pose_apply(w->kinematics->pose[body], in_body);
}

static double distance_to_segment(perp_vec3 p, perp_vec3 from, perp_vec3 to)
{
    const perp_vec3 e = perp_vec3_sub(to, from), d = perp_vec3_sub(p, from);
    const double s = fmin(fmax(perp_vec3_dot(d, e) / perp_vec3_dot(e, e), 0.0), 1.0);
    return perp_vec3_norm(perp_vec3_sub(d, perp_vec3_scale(s, e)));
}

/* The witness is at the corner, or on the edge, that the scene's list has under that number. */
static void check_place(const contact_world *w, int body, int shape, int feature, perp_vec3 witness)
{
    const perp_shape *s = &w->scene->bodies[body].shapes[shape];
    if (s->kind != PERP_SHAPE_POLYGON) {
        return;
    }
    const int k = perp_feature_index(feature);
    assert_true(k < s->point_count);
    const perp_vec3 at = corner_in_world(w, body, shape, k), next = corner_in_world(w, body, shape, k + 1);
    if (perp_feature_kind_of(feature) == PERP_FEATURE_CORNER) {
        NEAR(perp_vec3_norm(perp_vec3_sub(witness, at)), 0.0, 1e-7);
    } else {
        NEAR(distance_to_segment(witness, at, next), 0.0, 1e-7);
    }
}

static void check_places(const contact_world *w)
{
    check_set(w);
    for (int i = 0; i < w->set->count; i++) {
        const perp_contact *c = &w->set->contacts[i];
        check_place(w, c->a, c->shape_a, c->feature_a, c->point_a);
        check_place(w, c->b, c->shape_b, c->feature_b, c->point_b);
    }
}

#define U_PART "[[0, 0], [0.05, 0], [0.05, 0.04], [0.04, 0.04], [0.04, 0.01], [0.01, 0.01], [0.01, 0.04], [0, 0.04]]"
#define U_CLOCKWISE                                                                                                    \
    "[[0, 0.04], [0.01, 0.04], [0.01, 0.01], [0.04, 0.01], [0.04, 0.04], [0.05, 0.04], [0.05, 0], [0, 0]]"

/* A U on its back, its feet or a side, whichever way its corners are listed: each corner has its own name, once. */
static void test_names_of_the_outline(void **state)
{
    (void)state;
    const char *const lists[2] = {U_PART, U_CLOCKWISE};
    for (int clockwise = 0; clockwise < 2; clockwise++) {
        char text[600];
        contact_world w;
        snprintf(text, sizeof text,
                 "planar: true\n"
                 "contacts: {margin: 0.004}\n"
                 "bodies:\n"
                 "  floor: {fixed: true, shapes: [{box: [1, 0.1], pose: {position: [0, -0.05]}}]}\n"
                 "  part: {mass: 1, pose: {position: [0, 0.001]}, shapes: [{polygon: %s}]}\n",
                 lists[clockwise]);
        world_open(&w, text);
        assert_int_equal(w.set->count, 2);
        contact_named(&w, clockwise ? "s0.e2-s0.c7" : "s0.e2-s0.c0");
        contact_named(&w, clockwise ? "s0.e2-s0.c6" : "s0.e2-s0.c1");
        check_places(&w);
        place_planar(&w, "part", 0, 0.041, 3.141592653589793); /* on its two feet: 4 corners */
        world_build(&w);
        assert_int_equal(w.set->count, 4);
        check_places(&w);
        for (int k = -40; k <= 40; k++) { /* rolled over a corner that two parts may share */
            place_planar(&w, "part", 0, 0.001 + fmax(0.0, -0.05 * sin(0.001 * k)), 0.001 * k);
            world_build(&w);
            assert_true(w.set->count > 0);
            check_places(&w);
        }
        world_close(&w);
    }
}

/* A corner in the middle of a straight side is no corner of the outline; the others keep their places in the list. */
static void test_names_without_flat_corners(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "planar: true\n"
                   "bodies:\n"
                   "  part: {mass: 1, shapes: [{polygon: [[0, 0], [0.1, 0], [0.2, 0], [0.2, 0.1], [0, 0.1]]}]}\n"
                   "  ball: {mass: 1, pose: {position: [0.15, -0.021]}, shapes: [{disc: 0.02}]}\n"
                   "  nail: {mass: 1, pose: {position: [0.15, 0.111]}, shapes: [{disc: 0.01}]}\n");
    assert_int_equal(w.set->count, 2);
    contact_named(&w, "s0.e0-s0.c0");
    contact_named(&w, "s0.e3-s0.c0");
    world_close(&w);
}

static void test_names_of_random_polygons(void **state)
{
    (void)state;
    const unsigned kinds = 1u << PERP_SHAPE_POLYGON | 1u << PERP_SHAPE_DISC | 1u << PERP_SHAPE_BOX;
    int named = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        contact_world w;
        world_open_scene(&w, random_scene(seed, true, kinds));
        world_build(&w);
        for (int i = 0; i < w.set->count; i++) {
            const perp_contact *c = &w.set->contacts[i];
            if (c->phi > 0.0) { /* deep inside, the way out may be a cut */
                check_place(&w, c->a, c->shape_a, c->feature_a, c->point_a);
                check_place(&w, c->b, c->shape_b, c->feature_b, c->point_b);
                named++;
            }
        }
        world_close(&w);
    }
    assert_true(named > 200);
}

/* ---- gaps -------------------------------------------------------------------------------------------------------- */

static void test_gap_beyond_the_margin(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "contacts: {margin: 0.003}\n"
                   "bodies:\n"
                   "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                   "  ball: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n");
    perp_contact c = *contact_named(&w, "s0.u0-s0.c0");
    place(&w, "ball", 0.2, 0, 0.137);
    world_build(&w);
    assert_int_equal(w.set->count, 0);
    perp_contact_look_again(w.set, &c);
    NEAR(c.phi, 0.037, 1e-15);
    NEAR_VECTOR(c.point_a, 0.2, 0, 0, 1e-15);
    NEAR_VECTOR(c.point_b, 0.2, 0, 0.037, 1e-15);
    world_close(&w);
}

/* A box slides over the rim of a table: its corner hangs beside the table, 30 mm from it, while the face still lies on
 * it. In space and in the plane. */
static void test_gap_of_a_corner(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  table: {fixed: true, shapes: [{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]}\n"
                   "  box: {mass: 1, pose: {position: [0.4, 0, 0.05]}, shapes: [{box: [0.1, 0.1, 0.1]}]}\n");
    perp_contact c = *contact_named(&w, "s0.f4-s0.c1");
    place(&w, "box", 0.48, 0, 0.05);
    world_build(&w);
    perp_contact_look_again(w.set, &c);
    NEAR(c.phi, 0.03, 1e-12);
    NEAR_VECTOR(c.point_a, 0.5, -0.05, 0, 1e-9);
    NEAR_VECTOR(c.point_b, 0.53, -0.05, 0, 1e-9);
    world_close(&w);

    world_open(&w, "planar: true\n"
                   "bodies:\n"
                   "  part: {mass: 1, pose: {position: [0.2, 0.001]}, shapes: [{polygon: " U_CLOCKWISE "}]}\n"
                   "  table: {fixed: true, shapes: [{box: [1, 0.2], pose: {position: [0, -0.1]}}]}\n");
    c = *contact_named(&w, "s0.c6-s0.e2");
    place_planar(&w, "part", 0.48, 0.04, 0);
    world_build(&w);
    perp_contact_look_again(w.set, &c);
    NEAR(c.phi, 0.05, 1e-12); /* (0.53, 0.04) to (0.5, 0) */
    NEAR_VECTOR(c.point_a, 0.53, 0.04, 0, 1e-12);
    NEAR_VECTOR(c.point_b, 0.5, 0, 0, 1e-12);
    world_close(&w);

    world_open(&w, "planar: true\n" /* any corner of a box, the first too */
                   "bodies:\n"
                   "  part: {mass: 1, inertia: 1, pose: {position: [0.2, 0.051]}, shapes: [{box: [0.1, 0.1]}]}\n"
                   "  table: {fixed: true, shapes: [{box: [1, 0.2], pose: {position: [0, -0.1]}}]}\n");
    assert_int_equal(w.set->count, 2);
    for (int i = 0; i < 4; i++) { /* beyond the left rim, and beyond the right */
        c = w.set->contacts[i % 2];
        const double beyond = i < 2 ? -0.83 : 0.83, side = c.point_a.x - 0.2;
        place_planar(&w, "part", beyond, 0.09, 0);
        world_build(&w);
        perp_contact_look_again(w.set, &c);
        NEAR(c.phi, hypot(fabs(beyond + side) - 0.5, 0.04), 1e-12);
        place_planar(&w, "part", 0.2, 0.051, 0);
        world_build(&w);
    }
    world_close(&w);
}

/* The same of a mesh, each of whose lower corners goes its own way beyond the rim, and of the ends of a capsule. */
static void test_gap_of_other_corners(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  table: {fixed: true, shapes: [{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]}\n"
                   "  part: {mass: 1, pose: {position: [0.3, 0, 0.001]}, shapes: [{mesh: {points: [[0, 0, 0.1],\n"
                   "    [0.1, 0, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0.02, 0, 0.05]]}}]}\n");
    assert_int_equal(w.set->count, 3);
    for (int i = 0; i < 3; i++) {
        perp_contact c = w.set->contacts[i];
        const perp_vec3 corner = perp_vec3_sub(c.point_b, perp_vec3_make(0.3, 0, 0.001));
        place(&w, "part", 0.9, 0.1, 0.03);
        world_build(&w);
        perp_contact_look_again(w.set, &c);
        NEAR(c.phi, hypot(0.9 + corner.x - 0.5, 0.03), 1e-12);
        NEAR_VECTOR(c.point_b, 0.9 + corner.x, 0.1 + corner.y, 0.03, 1e-9);
        place(&w, "part", 0.3, 0, 0.001);
        world_build(&w);
    }
    world_close(&w);

    world_open(&w, "bodies:\n"
                   "  table: {fixed: true, shapes: [{box: [1, 1, 0.2], pose: {position: [0, 0, -0.1]}}]}\n"
                   "  pin: {mass: 1, pose: {position: [0.3, 0, 0.05], rpy: [0, 1.5707963267948966, 0]},\n"
                   "    shapes: [{capsule: {radius: 0.05, length: 0.2}}]}\n");
    perp_contact c = *contact_named(&w, "s0.f4-s0.c1"); /* local +z is the world's +x */
    place(&w, "pin", 0.7, 0, 0.4);
    world_build(&w);
    perp_contact_look_again(w.set, &c);
    NEAR(c.phi, hypot(0.3, 0.4) - 0.05, 1e-12);
    world_close(&w);
}

/* Edges that cross, and then do not: the gap of the two boxes, from face to face. */
static void test_gap_of_shapes(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, "bodies:\n"
                   "  a: {fixed: true, pose: {rpy: [0.7853981633974483, 0, 0]}, shapes: [{box: [1, 0.2, 0.2]}]}\n"
                   "  b: {mass: 1, pose: {position: [0, 0, 0.29], rpy: [0, 0.7853981633974483, 0]},\n"
                   "      shapes: [{box: [0.2, 1, 0.2]}]}\n");
    assert_int_equal(w.set->count, 1);
    perp_contact c = w.set->contacts[0];
    assert_int_equal(perp_feature_kind_of(c.feature_a), PERP_FEATURE_EDGE);
    NEAR(c.phi, 0.29 - 0.2 * sqrt(2.0), 1e-12);
    place(&w, "b", 0.9, 0, 0);
    world_build(&w);
    perp_contact_look_again(w.set, &c);
    NEAR(c.phi, 0.9 - 0.5 - 0.1 * sqrt(2.0), 1e-12);
    world_close(&w);
}

/* What a set lists has the same gap when it is looked at again. */
static void test_gap_of_what_is_listed(void **state)
{
    (void)state;
    const unsigned planar = 1u << PERP_SHAPE_POLYGON | 1u << PERP_SHAPE_DISC | 1u << PERP_SHAPE_BOX;
    const unsigned spatial =
        1u << PERP_SHAPE_SPHERE | 1u << PERP_SHAPE_BOX | 1u << PERP_SHAPE_CAPSULE | 1u << PERP_SHAPE_CYLINDER;
    int seen = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        contact_world w;
        world_open_scene(&w, random_scene(seed, seed % 2, seed % 2 ? planar : spatial));
        world_build(&w);
        for (int i = 0; i < w.set->count; i++) {
            perp_contact c = w.set->contacts[i];
            if (c.phi > 0.0) {
                perp_contact_look_again(w.set, &c);
                NEAR(c.phi, w.set->contacts[i].phi, 1e-7);
                seen++;
            }
        }
        world_close(&w);
    }
    assert_true(seen > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_the_outline),     cmocka_unit_test(test_names_without_flat_corners),
        cmocka_unit_test(test_names_of_random_polygons), cmocka_unit_test(test_gap_beyond_the_margin),
        cmocka_unit_test(test_gap_of_a_corner),          cmocka_unit_test(test_gap_of_shapes),
        cmocka_unit_test(test_gap_of_other_corners),     cmocka_unit_test(test_gap_of_what_is_listed),
    };
    return cmocka_run_group_tests_name("contact gap", tests, NULL, NULL);
}
