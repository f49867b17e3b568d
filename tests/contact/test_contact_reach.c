/* How far bodies may come: their speeds, their boxes, and that neither depends on how far the set looks. */
#include "contact/contact_reach.h"
#include "contact_test.h"

#include <string.h>

static const char SCENE[] = "bodies:\n"
                            "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: -1}}]}\n"
                            "  box: {mass: 1, pose: {position: [1, 2, 3]}, shapes: [{box: [0.2, 0.3, 0.4]},\n"
                            "        {sphere: 0.1, pose: {position: [0.5, 0, 0]}}]}\n"
                            "  swept: {driven: {x: {rate: 3}, y: 0, z: -2, rz: {rate: 0.5}},\n"
                            "          shapes: [{plane: {normal: [0, 0, 1]}}]}\n";

static void move(contact_world *w, const double *v)
{
    perp_kinematics_velocity(w->model, v, w->kinematics);
}

static void test_speeds(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, SCENE);
    double v[16] = {0}, speed[3], turning[3];
    const perp_link *box = &w.model->links[1], *swept = &w.model->links[2];
    assert_true(w.model->nv <= 16);
    v[box->v_start] = 4.0;
    move(&w, v);
    perp_contact_speeds(w.set, w.kinematics, speed, turning);
    NEAR(speed[0], 0.0, 0.0);
    NEAR(speed[1], 4.0, 1e-15);
    NEAR(turning[1], 0.0, 0.0); /* of unbounded shapes only */
    v[box->v_start] = 0.0;
    v[box->v_start + 5] = 2.0; /* about z: the corner of the sphere's box that is farthest from the origin */
    move(&w, v);
    perp_contact_speeds(w.set, w.kinematics, speed, turning);
    NEAR(speed[1], 2.0 * hypot(0.6, 0.1), 1e-14);
    v[box->v_start + 1] = -10.0; /* so fast that the corner on the other side is the fastest */
    move(&w, v);
    perp_contact_speeds(w.set, w.kinematics, speed, turning);
    NEAR(speed[1], hypot(0.3, 10.2), 1e-14);
    memset(v, 0, sizeof v);
    v[swept->v_start] = 3.0;
    v[swept->v_start + swept->v_count - 1] = 0.5;
    move(&w, v);
    perp_contact_speeds(w.set, w.kinematics, speed, turning);
    NEAR(speed[2], 3.0, 1e-15);
    NEAR(turning[2], 0.5, 1e-15);
    /* from (0, 0, -2) to the farthest corner of the box at (1, 2, 3), or of the sphere's at (1.5, 2, 3) */
    NEAR(perp_contact_arm(w.set, w.kinematics, 2, 1), sqrt(1.6 * 1.6 + 2.1 * 2.1 + 5.1 * 5.1), 1e-14);
    NEAR(perp_contact_arm(w.set, w.kinematics, 1, 2), 0.0, 0.0); /* it has no bounded shape */
    world_close(&w);
}

static void test_boxes(void **state)
{
    (void)state;
    contact_world w;
    world_open(&w, SCENE);
    for (int pass = 0; pass < 2; pass++) {
        perp_vec3 low = {-9, -9, -9}, high = {9, 9, 9}; /* what they held before does not count */
        assert_false(perp_contact_body_box(w.set, 0, &low, &high));
        assert_true(perp_contact_body_box(w.set, 1, &low, &high));
        assert_true(low.x == 0.9 && low.y == 1.85 && low.z == 2.8);
        assert_true(high.x == 1.6 && high.y == 2.15 && high.z == 3.2);
        perp_contact_set_look(w.set, 0.1 / 3.0); /* boxes that are grown and shrunk again are not the same */
        world_build(&w);
    }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
