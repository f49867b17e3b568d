/* Joints under velocity and torque control, and drives that carry weight. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

#include <perp/sim.h>

/* A cart on a rail, and a wall at its right side 0.2 m ahead. */
static const char CART[] = "perp: 1\n"
                           "planar: true\n"
                           "gravity: [0, 0]\n"
                           "bodies:\n"
                           "  wall: {fixed: true, pose: {position: [0.55, 0]}, shapes: [{box: [0.5, 1]}]}\n"
                           "  cart: {mass: 2, shapes: [{box: [0.2, 0.2]}]}\n"
                           "joints:\n"
                           "  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0], %s}\n"
                           "run: {model: %s, h: 0.01, until: %g}\n";

static void run_cart(scene_run *run, const char *rail, const char *model, double until)
{
    const scene_text text = scene_text_of(CART, rail, model, until);
    scene_run_make(run, text.of, NULL);
}

/* x = integral of the command, at every step, whatever function of time it is. */
static void test_velocity(void **state)
{
    (void)state;
    const char *const rungs[] = {"kinematic", "qs-lcp", "qs-qp", "dyn-ncp", "dyn-qp", "compliant"};
    for (size_t k = 0; k < sizeof rungs / sizeof *rungs; k++) {
        scene_run run;
        run_cart(&run, "control: velocity, position: -1, command: 0.5", rungs[k], 0.3);
        assert_int_equal(run.status, PERP_STATUS_OK);
        for (int i = 0; i <= 30; i++) {
            NEAR(run_joint(&run, i, "rail"), -1 + 0.5 * 0.01 * i, 1e-14);
        }
        scene_run_free(&run);

        run_cart(&run,
                 "control: velocity, position: -1, command: {offset: 0.1, rate: 2, sines: [{amplitude: 0.3, omega: 7, "
                 "phase: 0.4}]}",
                 rungs[k], 0.3);
        assert_int_equal(run.status, PERP_STATUS_OK);
        for (int i = 0; i <= 30; i++) {
            const double t = 0.01 * i;
            NEAR(run_joint(&run, i, "rail"), -1 + 0.1 * t + t * t - 0.3 / 7 * (cos(7 * t + 0.4) - cos(0.4)), 1e-14);
        }
        scene_run_free(&run);

        run_cart(&run, "control: velocity, position: -1, command: {times: [0.1, 0.2], values: [0.5, 2]}", rungs[k],
                 0.3);
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run_joint(&run, 5, "rail"), -1 + 0.05 * 0.5, 1e-14);
        NEAR(run_joint(&run, 15, "rail"), -1 + 0.1 * 0.5 + 0.05 * 0.5 * (0.5 + 1.25), 1e-14);
        NEAR(run_joint(&run, 30, "rail"), -1 + 0.1 * 0.5 + 0.1 * 1.25 + 0.1 * 2, 1e-14);
        scene_run_free(&run);
    }
}

/* m x'' = tau by the semi-implicit rule, the effort being the most; against the wall tau is the contact's force. */
static void test_torque(void **state)
{
    (void)state;
    const char *const rungs[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
    for (size_t k = 0; k < sizeof rungs / sizeof *rungs; k++) {
        scene_run run;
        run_cart(&run, "control: torque, position: -1, command: {rate: 100}, effort: 6", rungs[k], 0.2);
        assert_int_equal(run.status, PERP_STATUS_OK);
        double x = -1, v = 0;
        for (int i = 1; i <= 20; i++) {
            v += 0.01 / 2 * fmin(6.0, 100 * 0.01 * i);
            x += 0.01 * v;
            NEAR(run_joint(&run, i, "rail"), x, 1e-12);
        }
        scene_run_free(&run);
    }
    const char *const pressing[] = {"qs-lcp",       "qs-ncp",  "qs-qp",   "qs-cone",
                                    "quasidynamic", "dyn-lcp", "dyn-ncp", "dyn-qp"};
    for (size_t k = 0; k < sizeof pressing / sizeof *pressing; k++) {
        scene_run run;
        run_cart(&run, "control: torque, position: 0.2, command: 6", pressing[k], 0.1);
        if (run.status != PERP_STATUS_OK) {
            fail_msg("%s: %s", pressing[k], run.error.message);
        }
        double sum = 0.0;
        for (int i = 0; i < run.states[10].contact_count; i++) {
            sum += run.states[10].contacts[i].fn;
        }
        NEAR(sum, 6.0, 1e-9);
        scene_run_free(&run);
    }
}

static const char ARM[] =
    "perp: 1\n"
    "gravity_compensation: %s\n"
    "bodies:\n"
    "  upper: {mass: 2, inertia: [0.02, 0.02, 0.01], com: [0.2, 0, 0]}\n"
    "  lower: {mass: 1, inertia: [0.01, 0.01, 0.005], com: [0.15, 0.02, 0], pose: {position: [0.4, 0, 0]}}\n"
    "  hand: {mass: 0.5, inertia: [0.001, 0.001, 0.001], pose: {position: [0.3, 0, 0]}}\n"
    "joints:\n"
    "  shoulder: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], position: 0.3, control: %s}\n"
    "  elbow: {type: revolute, parent: upper, child: lower, anchor: [0.4, 0, 0], axis: [0, 1, 0.2], position: -0.7, "
    "control: %s}\n"
    "  slide: {type: prismatic, parent: lower, child: hand, axis: [1, 0, 0], position: 0.05, control: %s}\n"
    "run: {model: %s, h: 0.01, until: 0.5}\n";

/* Instants: what is at rest has no velocity, and no acceleration. `geometric` says where things are. */
static void stays_at_this_instant(const perp_rung *rung, const char *control)
{
    scene_run run;
    const scene_text text = scene_text_of(ARM, "true", control, control, control, rung->name);
    if (rung->answer) {
        instant_run(&run, text.of, NULL);
        for (int j = 0; j < 3; j++) {
            NEAR(instant_only(&run)->rate[j], 0.0, 1e-9);
        }
    } else {
        scene_run_make(&run, text.of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run_joint(&run, 0, "elbow"), -0.7, 1e-9);
    }
    scene_run_free(&run);
}

/* Springs and torques of nothing hold an arm that carries its own weight, on every rung. */
static void test_gravity_compensation(void **state)
{
    (void)state;
    int rungs = 0;
    const double at[] = {0.3, -0.7, 0.05};
    const char *const names[] = {"shoulder", "elbow", "slide"};
    for (int k = 0; k < perp_rung_count(); k++) {
        const perp_rung *rung = perp_rung_at(k);
        rungs++;
        if (!rung->step) {
            stays_at_this_instant(rung, "impedance, stiffness: 100");
            continue;
        }
        for (int c = 0; c < 2; c++) {
            const char *controls[] = {"impedance, stiffness: 100", "torque"};
            /* without inertia nothing says where a joint goes that no force acts on */
            if (c == 1 && rung->inertia < PERP_RUNG_INERTIA_ONE_STEP) {
                continue;
            }
            scene_run run;
            const scene_text text = scene_text_of(ARM, "true", controls[c], controls[c], controls[c], rung->name);
            scene_run_make(&run, text.of, NULL);
            if (run.status != PERP_STATUS_OK) {
                fail_msg("%s, %s: %s", rung->name, controls[c], run.error.message);
            }
            for (int i = 0; i <= 50; i++) {
                for (int j = 0; j < 3; j++) {
                    NEAR(run_joint(&run, i, names[j]), at[j], 1e-9);
                }
            }
            scene_run_free(&run);
        }
    }
    assert_int_equal(rungs, 16);
    scene_run run; /* and without it sags */
    const scene_text text = scene_text_of(ARM, "false", "impedance, stiffness: 100", "impedance, stiffness: 100",
                                          "impedance, stiffness: 100", "qs-qp");
    scene_run_make(&run, text.of, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_true(fabs(run_joint(&run, 50, "shoulder") - 0.3) > 0.01);
    scene_run_free(&run);
}

/* What a joint does not carry stays with the next: a weight behind a compensated joint that is behind a plain one. */
static void test_one_compensated_joint(void **state)
{
    (void)state;
    scene_run run;
    const char *plain = "impedance, stiffness: 100", *own = "impedance, stiffness: 100, gravity_compensation: true";
    const scene_text text = scene_text_of(ARM, "false", plain, own, own, "qs-qp");
    scene_run_make(&run, text.of, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    NEAR(run_joint(&run, 50, "elbow"), -0.7, 1e-9);
    NEAR(run_joint(&run, 50, "slide"), 0.05, 1e-9);
    /* the shoulder's torque is that of all three weights about the world's y axis, in its rest: k (0.3 - q) */
    perp_kinematics *kinematics;
    assert_int_equal(perp_kinematics_create(run.model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    perp_kinematics_update(run.model, run.states[50].q, kinematics);
    double torque = 0.0;
    for (int b = 0; b < 3; b++) {
        torque += run.model->links[b].mass * 9.81 * kinematics->com[b].x; /* about y: z x (-m g) x */
    }
    NEAR(100 * (run_joint(&run, 50, "shoulder") - 0.3), torque, 1e-6);
    perp_kinematics_free(kinematics);
    scene_run_free(&run);
}

/* Steered: a velocity goes on, a torque acts from the begin of the step on. */
static void test_steered(void **state)
{
    (void)state;
    scene_run run;
    perp_sim *sim;
    perp_error error;
    run_cart(&run, "control: velocity, position: -1", "dyn-ncp", 0.01);
    assert_int_equal(perp_sim_create(run.model, NULL, &sim, &error), PERP_STATUS_OK);
    assert_int_equal(perp_sim_set_command(sim, 0, 2.0, &error), PERP_STATUS_OK);
    assert_int_equal(perp_sim_set_command_rate(sim, 0, 2.0, &error), PERP_STATUS_BAD_INPUT);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(perp_sim_step(sim, &error), PERP_STATUS_OK);
        NEAR(perp_sim_state(sim)->q[0], -1 + 0.02 * i, 1e-15);
        NEAR(perp_sim_command(sim, 0), 2.0, 0.0);
    }
    perp_sim_free(sim);
    scene_run_free(&run);
    run_cart(&run, "control: torque, position: -1, effort: 3", "dyn-ncp", 0.01);
    assert_int_equal(perp_sim_create(run.model, NULL, &sim, &error), PERP_STATUS_OK);
    double v = 0.0;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(perp_sim_set_command(sim, 0, i, &error), PERP_STATUS_OK);
        assert_int_equal(perp_sim_step(sim, &error), PERP_STATUS_OK);
        v += 0.01 / 2 * fmin(i, 3);
        NEAR(perp_sim_state(sim)->v[0], v, 1e-15);
    }
    perp_sim_free(sim);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_velocity),
        cmocka_unit_test(test_torque),
        cmocka_unit_test(test_gravity_compensation),
        cmocka_unit_test(test_one_compensated_joint),
        cmocka_unit_test(test_steered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
