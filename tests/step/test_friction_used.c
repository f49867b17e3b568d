/* Friction in the measure of a cone: what reaches mu fn on its edge, whichever cone it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_run.h"
#include "step/common/rung_cone.h"

static const double TURN = 6.283185307179586;

static perp_contact_record friction(double x, double y, int directions)
{
    return (perp_contact_record){.ft = {x, y}, .contact = {.direction_count = directions}};
}

static double used(perp_cone cone, int rays, double x, double y)
{
    const perp_contact_record r = friction(x, y, 2);
    return perp_friction_used(cone, rays, &r, NULL);
}

/* On the edge of the section it is 1, and it is linear along every ray from the middle. 1e-14: a few roundings of
 * angles. */
static void test_edges(void **state)
{
    (void)state;
    for (int rays = 3; rays <= 16; rays++) {
        for (int j = 0; j < rays; j++) {
            const double a = TURN * j / rays, b = TURN * (j + 1) / rays;
            for (int k = 0; k <= 8; k++) { /* from corner to corner */
                const double x = cos(a) + 0.125 * k * (cos(b) - cos(a)), y = sin(a) + 0.125 * k * (sin(b) - sin(a));
                assert_true(fabs(used(PERP_CONE_RAYS, rays, x, y) - 1.0) < 1e-14);
                assert_true(fabs(used(PERP_CONE_RAYS, rays, 3.0 * x, 3.0 * y) - 3.0) < 3e-14);
            }
        }
    }
    assert_true(used(PERP_CONE_BOX, 4, 1.0, -0.3) == 1.0 && used(PERP_CONE_BOX, 4, 0.2, -1.0) == 1.0);
    assert_true(used(PERP_CONE_BOX, 4, -1.0, 1.0) == 1.0);
    assert_true(used(PERP_CONE_QUADRATIC, 4, 3.0, -4.0) == 5.0 && used(PERP_CONE_UNSET, 4, 3.0, -4.0) == 5.0);
    assert_true(used(PERP_CONE_RAYS, 4, 0.0, 0.0) == 0.0);
}

static void test_one_direction(void **state)
{
    (void)state;
    const perp_contact_record r = friction(3.0, 4.0, 1);
    assert_true(perp_friction_used(PERP_CONE_RAYS, 4, &r, NULL) == 5.0 &&
                perp_friction_used(PERP_CONE_BOX, 4, &r, NULL) == 5.0);
}

/* Of a patch that turns in place the forces cancel and are used up all the same. */
static void test_patch(void **state)
{
    (void)state;
    const perp_element_record elements[] = {{.fn = 9.0, .limit = 9.0, .ft = {9.0, 0.0}},
                                            {.fn = 10.0, .limit = 3.5, .ft = {3.0, 0.0}},
                                            {.fn = 10.0, .limit = 3.5, .ft = {0.0, -3.0}}};
    perp_contact_record r = friction(3.0, -3.0, 2);
    r.contact.friction = 0.3;
    r.fn = 20.0;
    r.element_start = 1;
    r.element_count = 2;
    assert_true(perp_friction_used(PERP_CONE_QUADRATIC, 4, &r, elements) == 6.0);
    assert_true(perp_friction_limit(&r, elements) == 7.0);
    assert_true(perp_friction_limit(&r, NULL) == 6.0);
}

/* A ball without spin that slides over a floor at 20 degrees to t: friction is on the cone's edge in the measure of the
 * cone. On the box its force is at a corner, where |ft| is sqrt(2) times that. 1e-6 is what the mode `limit` allows. */
static void test_sliding(void **state)
{
    static const char scene[] = "perp: 1\n"
                                "bodies:\n"
                                "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
                                "  ball: {mass: 1, inertia: [0.01, 0.01, 0.01], pose: {position: [0, 0, 0.1]},\n"
                                "    velocity: {linear: [0.94, 0.342, 0]}, shapes: [{sphere: 0.1}]}\n"
                                "contacts: {friction: 0.3}\n"
                                "run: {model: dyn-ncp, h: 0.001, steps: 3}\n";
    static const struct {
        const char *set[3];
        perp_cone cone;
        double length; /* |ft| over mu fn */
    } cases[] = {{{"run.model=dyn-lcp", "run.rays=8"}, PERP_CONE_RAYS, 1.0},
                 {{"run.cone=box"}, PERP_CONE_BOX, 1.4142135623730951},
                 {{"run.cone=quadratic"}, PERP_CONE_QUADRATIC, 1.0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_run run;
        scene_run_make(&run, scene, cases[i].set);
        assert_int_equal(run.status, PERP_STATUS_OK);
        const perp_contact_record *r = run_contact(&run, 3, "floor", "ball");
        const perp_run_settings *settings = &run.scene->run;
        assert_int_equal(perp_rung_cone(perp_rung_find(settings->model), settings), cases[i].cone);
        assert_int_equal(r->mode, PERP_CONTACT_SLIDE);
        NEAR(perp_friction_used(cases[i].cone, settings->rays, r, NULL) / (0.3 * r->fn), 1.0, 1e-6);
        NEAR(hypot(r->ft[0], r->ft[1]) / (0.3 * r->fn), cases[i].length, 1e-6);
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_one_direction),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_sliding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
