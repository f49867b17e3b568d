/* Tangents, friction, the directions it acts in. */
#include "contact_test.h"

#include <stdio.h>

/* A ball 1 mm off a fixed plane of any normal, floor first; `pair` and `shape` are put into the scene. */
static void open_ball(contact_world *w, perp_vec3 normal, const char *pair, const char *floor, const char *ball)
{
    char text[2000];
    const perp_vec3 n = perp_vec3_normalise(normal), at = perp_vec3_scale(0.101, n);
    snprintf(text, sizeof text,
             "contacts: {friction: 0.36, pairs: {\"ball floor\": {%s}}}\n"
             "bodies:\n"
             "  floor: {fixed: true, shapes: [{plane: {normal: [%.17g, %.17g, %.17g], offset: 0} %s}]}\n"
             "  ball: {mass: 1, pose: {position: [%.17g, %.17g, %.17g]}, shapes: [{sphere: 0.1 %s}]}\n",
             pair, n.x, n.y, n.z, floor, at.x, at.y, at.z, ball);
    world_open(w, text);
    assert_int_equal(w->set->count, 1);
    const perp_contact *c = &w->set->contacts[0];
    NEAR_VECTOR(c->normal, n.x, n.y, n.z, 1e-15);
}

/* t = normalise(e_x - (e_x . n) n), e_y where |n_x| > 0.9; n = +z gives +x, +y. */
static void test_default_tangents(void **state)
{
    (void)state;
    contact_world w;
    open_ball(&w, (perp_vec3){0, 0, 1}, "", "", "");
    NEAR_VECTOR(w.set->contacts[0].t, 1, 0, 0, 0);
    NEAR_VECTOR(w.set->contacts[0].o, 0, 1, 0, 0);
    world_close(&w);
    open_ball(&w, (perp_vec3){1, 0, 0}, "", "", "");
    NEAR_VECTOR(w.set->contacts[0].t, 0, 1, 0, 0);
    NEAR_VECTOR(w.set->contacts[0].o, 0, 0, 1, 0);
    world_close(&w);
    open_ball(&w, (perp_vec3){0.6, 0, 0.8}, "", "", "");
    NEAR_VECTOR(w.set->contacts[0].t, 0.8, 0, -0.6, 1e-15);
    NEAR_VECTOR(w.set->contacts[0].o, 0, 1, 0, 1e-15);
    NEAR_VECTOR(w.set->contacts[0].directions[0], 0.8, 0, -0.6, 1e-15);
    NEAR_VECTOR(w.set->contacts[0].directions[1], 0, 1, 0, 1e-15);
    world_close(&w);
}

static void test_tangent_of_a_pair(void **state)
{
    (void)state;
    contact_world w;
    open_ball(&w, (perp_vec3){0, 0, 1}, "tangent: [-3, 4, 7]", "", "");
    NEAR_VECTOR(w.set->contacts[0].t, -0.6, 0.8, 0, 1e-15);
    NEAR_VECTOR(w.set->contacts[0].o, -0.8, -0.6, 0, 1e-15);
    assert_int_equal(w.set->contacts[0].pair, 0);
    NEAR_VECTOR(w.set->contacts[0].directions[0], -0.6, 0.8, 0, 1e-15);
    world_close(&w);
    open_ball(&w, (perp_vec3){0, 0, 1}, "tangent: [1.0e-8, 0, -1]", "", ""); /* nothing is left: the default */
    NEAR_VECTOR(w.set->contacts[0].t, 1, 0, 0, 0);
    world_close(&w);
    open_ball(&w, (perp_vec3){0, 0, 1}, "tangent: [0, 1.0e-4, -1]", "", ""); /* little, but meant */
    NEAR_VECTOR(w.set->contacts[0].t, 0, 1, 0, 1e-15);
    world_close(&w);
}

/* The geometric mean of the shapes', the scene's in place of a missing one; a pair's own wins. */
static void test_friction(void **state)
{
    (void)state;
    static const struct {
        const char *pair, *floor, *ball;
        double friction;
    } cases[] = {
        {"", "", "", 0.36},
        {"", ", friction: 0.25", ", friction: 0.64", 0.4},
        {"", ", friction: 0.25", "", 0.3},
        {"", "", ", friction: 1", 0.6},
        {"", ", friction: 0", ", friction: 0.7", 0.0},
        {"friction: 0.9", ", friction: 0.25", ", friction: 0.64", 0.9},
        {"friction: 0", "", "", 0.0},
        {"restitution: 0.3", ", friction: 0.25", "", 0.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        contact_world w;
        open_ball(&w, (perp_vec3){0, 0, 1}, cases[i].pair, cases[i].floor, cases[i].ball);
        NEAR(w.set->contacts[0].friction, cases[i].friction, 1e-15);
        NEAR(w.set->contacts[0].restitution, strstr(cases[i].pair, "restitution") ? 0.3 : 0.0, 0.0);
        world_close(&w);
    }
}

static void test_restricted_directions(void **state)
{
    (void)state;
    contact_world w;
    const perp_vec3 up = {0, 0, 1};
    open_ball(&w, up, "friction_directions: [[0, 1, 0]]", "", "");
    assert_int_equal(w.set->contacts[0].direction_count, 1);
    NEAR_VECTOR(w.set->contacts[0].directions[0], 0, 1, 0, 0);
    NEAR_VECTOR(w.set->contacts[0].t, 1, 0, 0, 0); /* the frame stays */
    world_close(&w);
    open_ball(&w, up, "friction_directions: [[3, -4, 12]]", "", ""); /* projected */
    assert_int_equal(w.set->contacts[0].direction_count, 1);
    NEAR_VECTOR(w.set->contacts[0].directions[0], 0.6, -0.8, 0, 1e-15);
    world_close(&w);
    open_ball(&w, up, "friction_directions: [[0, 0, -2]]", "", ""); /* along the normal: no friction */
    assert_int_equal(w.set->contacts[0].direction_count, 0);
    NEAR(w.set->contacts[0].friction, 0.36, 0.0);
    world_close(&w);
    open_ball(&w, up, "friction_directions: [[0, 0, 1], [1, 0, 1]]", "", "");
    assert_int_equal(w.set->contacts[0].direction_count, 1);
    NEAR_VECTOR(w.set->contacts[0].directions[0], 1, 0, 0, 0);
    world_close(&w);
    open_ball(&w, up, "friction_directions: [[1, 1, 0], [-2, -2, 5]]", "", ""); /* one line on the plane */
    assert_int_equal(w.set->contacts[0].direction_count, 1);
    NEAR_VECTOR(w.set->contacts[0].directions[0], sqrt(0.5), sqrt(0.5), 0, 1e-15);
    world_close(&w);
    open_ball(&w, up, "friction_directions: [[1, 1, 0], [1, 0, 0]]", "", ""); /* the whole plane: (t, o) */
    assert_int_equal(w.set->contacts[0].direction_count, 2);
    NEAR_VECTOR(w.set->contacts[0].directions[0], 1, 0, 0, 0);
    NEAR_VECTOR(w.set->contacts[0].directions[1], 0, 1, 0, 0);
    world_close(&w);
}

/* t = (n_y, -n_x): n = +y gives +x. A pair's tangent says nothing in the plane; its directions do. */
static void test_planar(void **state)
{
    (void)state;
    static const struct {
        const char *pair;
        int directions;
    } cases[] = {{"", 1},
                 {"tangent: [-1, 0]", 1},
                 {"friction_directions: [[-3, 1]]", 1},
                 {"friction_directions: [[0, 1]]", 0},
                 {"friction_directions: [[0, 1], [1, 0]]", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "planar: true\n"
                 "contacts: {pairs: {\"floor disc\": {%s}}}\n"
                 "bodies:\n"
                 "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                 "  disc: {mass: 1, pose: {position: [2, 0.11]}, shapes: [{disc: 0.1}]}\n",
                 cases[i].pair);
        contact_world w;
        world_open(&w, text);
        assert_int_equal(w.set->count, 1);
        assert_int_equal(w.set->rows, 2);
        const perp_contact *c = &w.set->contacts[0];
        NEAR_VECTOR(c->normal, 0, 1, 0, 0);
        NEAR_VECTOR(c->t, 1, 0, 0, 0);
        NEAR(c->phi, 0.01, 1e-15);
        assert_int_equal(c->direction_count, cases[i].directions);
        if (cases[i].directions == 1) {
            NEAR_VECTOR(c->directions[0], 1, 0, 0, 0);
        }
        /* x, y, theta of the disc: rows n and t; rolling about its origin moves the witness below by +x */
        const double expected[6] = {0, 1, 0, 1, 0, 0.1};
        for (int d = 0; d < 6; d++) {
            NEAR(w.set->jacobian[d], expected[d], 1e-15);
        }
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_tangents), cmocka_unit_test(test_tangent_of_a_pair),
        cmocka_unit_test(test_friction),         cmocka_unit_test(test_restricted_directions),
        cmocka_unit_test(test_planar),
    };
    return cmocka_run_group_tests_name("contact frame", tests, NULL, NULL);
}
