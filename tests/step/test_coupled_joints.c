/* Joints that mimic others and tendons, in runs on every rung: positions keep their equation, and forces share as
 * virtual work says.
 *
 * Tolerances: an equation of positions is linear, so a step keeps it to what its solver leaves of the velocities, 1e-9;
 * on `compliant` forces are those of springs that give by mm in 10 cm, which bends levers by 1e-3. */
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

static bool is(const perp_rung *rung, const char *name)
{
    return strcmp(rung->name, name) == 0;
}

/* Has it contact forces in steps? */
static bool has_forces(const perp_rung *rung)
{
    return rung->step && !is(rung, "kinematic") && !is(rung, "geometric");
}

/* ---- forces of loops ------------------------------------------------------------------------------------------- */

static const perp_loop_force *loop_force(const scene_run *run, const char *name)
{
    assert_int_equal(run->result.loop_count, run->scene->loop_count);
    for (int i = 0; i < run->result.loop_count; i++) {
        if (strcmp(run->scene->loops[i].name, name) == 0) {
            return &run->result.loops[i];
        }
    }
    fail_msg("no loop %s", name);
    return NULL;
}

/* At rest all that acts on a degree of freedom is nothing together: weight, a torque on joint `pulled`, contacts at
 * their points as they are reported, and loops by the sign that perp/step.h states. */
static void balances(const scene_run *run, const char *pulled, double torque, double tolerance)
{
    const perp_model *model = run->model;
    double *force = calloc((size_t)model->nv, sizeof *force),
           *jacobian = calloc(6 * (size_t)model->nv, sizeof *jacobian);
    perp_kinematics *kinematics;
    assert_true(force && jacobian);
    assert_int_equal(perp_kinematics_create(model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    perp_kinematics_update(model, run->state.q, kinematics);
    perp_gravity_force(model, kinematics, force);
    if (pulled) {
        const int body = model->joint_body[perp_scene_find_joint(run->scene, pulled)];
        force[model->links[body].v_start] += torque;
    }
    for (int i = 0; i < run->result.contact_count; i++) {
        const perp_contact_record *r = &run->result.contacts[i];
        perp_add_wrench(model, kinematics, r->contact.b, r->contact.point_b, r->force_on_b, (perp_vec3){0}, force);
        perp_add_wrench(model, kinematics, r->contact.a, r->contact.point_a, perp_vec3_scale(-1.0, r->force_on_b),
                        (perp_vec3){0}, force);
    }
    for (int i = 0; i < run->result.loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, kinematics, i, residual, jacobian);
        assert_int_equal(run->result.loops[i].count, perp_loop_rows(model, i));
        for (int k = 0; k < run->result.loops[i].count * model->nv; k++) {
            force[k % model->nv] += jacobian[k] * run->result.loops[i].force[k / model->nv];
        }
    }
    for (int k = 0; k < model->nv; k++) {
        NEAR(force[k], 0.0, tolerance);
    }
    perp_kinematics_free(kinematics);
    free(jacobian);
    free(force);
}

/* ---- a gripper of two fingers ------------------------------------------------------------------------------------ */

/* The left finger's joint is driven as `control` says, and the right one mimics it with ratio -1. The box is 0.1 wide,
 * without friction, off the middle by `off`; the fingers' faces are 0.1 + 2 `apart` from one another. */
static scene_text gripper(const char *control, double off, double apart, const char *model, int steps)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                         "  left: {mass: 0.1, inertia: 0.001, pose: {position: [%.17g, 0]}, shapes: [{disc: 0.01}]}\n"
                         "  right: {mass: 0.1, inertia: 0.001, pose: {position: [%.17g, 0]}, shapes: [{disc: 0.01}]}\n"
                         "  box: {mass: 0.2, inertia: 0.001, free: [x], pose: {position: [%.17g, 0]}, shapes: [{box: "
                         "[0.1, 0.1]}]}\n"
                         "joints:\n"
                         "  r: {type: prismatic, parent: world, child: right, axis: [1, 0], mimic: {joint: l, ratio: "
                         "-1}}\n"
                         "  l: {type: prismatic, parent: world, child: left, axis: [1, 0], %s}\n"
                         "contacts: {friction: 0, margin: 0.05}\n"
                         "run: {model: %s, h: 0.005, steps: %d}\n",
                         -0.06 - apart, 0.06 + apart, off, control, model, steps);
}

static void follows(const scene_run *run)
{
    for (int i = 0; i < run->count; i++) {
        NEAR(run_joint(run, i, "r"), -run_joint(run, i, "l"), 1e-9);
        NEAR(run->states[i].residuals.loop, 0.0, 1e-9);
    }
}

/* A force of 6 N on the left joint moves both fingers, so it is 3 N of each: 6 dl = f_left dl + f_right dl. */
static void test_squeeze(void **unused)
{
    (void)unused;
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        if (!has_forces(rung)) {
            continue;
        }
        scene_run run;
        scene_run_make(&run, gripper("control: torque, command: 6", 0.0, 0.0, rung->name, 400).of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        follows(&run);
        const int last = run.count - 1;
        NEAR(run_contact(&run, last, "left", "box")->fn, 3.0, 1e-6);
        NEAR(run_contact(&run, last, "right", "box")->fn, 3.0, 1e-6);
        NEAR(loop_force(&run, "r")->force[0], -3.0, 1e-6); /* pushes r inwards, as joint r counts */
        balances(&run, "l", 6.0, 1e-6);
        scene_run_free(&run);
    }
}

/* A spring closes the gripper: it takes the box to the middle and squeezes it. Rungs without springs follow the command
 * until the box is held, and then the commands force bodies into each other. */
static void test_closes(void **unused)
{
    (void)unused;
    static const char *const spring =
        "control: impedance, stiffness: 200, damping: 5, command: {times: [0, 0.2], values: [0, 0.05]}";
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        if (!has_forces(rung)) {
            continue;
        }
        scene_run run;
        scene_run_make(&run, gripper(spring, 0.004, 0.02, rung->name, 400).of, NULL);
        follows(&run);
        const int last = run.count - 1;
        if (run.status != PERP_STATUS_OK) {
            assert_string_equal(run.error.code, "infeasible-command");
            assert_true(run.result.steps > 10);
            NEAR(run_joint(&run, last, "l"), 0.02, 1e-3); /* a part of the last step is 1.25 mm */
        } else {
            const double give = run_joint(&run, last, "l") - 0.02, force = 200.0 * (0.03 - give);
            const double left = run_contact(&run, last, "left", "box")->fn;
            assert_true(give < 1e-3);
            NEAR(left + run_contact(&run, last, "right", "box")->fn, force, 1e-6);
            NEAR(left, 0.5 * force, 1e-6);
            NEAR(run_body(&run, last, "box", 0), 0.0, 1e-6);
        }
        scene_run_free(&run);
    }
}

/* That joints are coupled is no reason for their bodies not to touch. */
static void test_fingers_meet(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run, gripper("control: torque, command: 6", 1.0, -0.05, "dyn-ncp", 20).of, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    NEAR(run_contact(&run, run.count - 1, "left", "right")->fn, 3.0, 1e-6);
    scene_run_free(&run);
}

/* ---- a tendon over two pulleys ----------------------------------------------------------------------------------- */

/* 0.02 a = 0.05 b, a torque of 0.3 N m on a; a lever of 0.1 m on b may stand under a ceiling. */
static scene_text pulleys(bool ceiling, const char *model, int steps)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                         "%s"
                         "  drum: {mass: 1, inertia: 0.003, pose: {position: [-0.5, 0]}}\n"
                         "  lever: {mass: 1, inertia: 0.02, shapes: [{disc: 0.01, pose: {position: [0.1, 0]}}]}\n"
                         "joints:\n"
                         "  a: {type: revolute, parent: world, child: drum, anchor: [-0.5, 0], control: torque, "
                         "command: 0.3}\n"
                         "  b: {type: revolute, parent: world, child: lever}\n"
                         "tendons: {cord: {joints: {a: 0.02, b: -0.05}}}\n"
                         "contacts: {friction: 0}\n"
                         "run: {model: %s, h: 0.005, steps: %d}\n",
                         ceiling ? "  roof: {fixed: true, shapes: [{halfplane: {normal: [0, -1], offset: -0.01}}]}\n"
                                 : "",
                         model, steps);
}

/* Virtual work: 0.3 da = F 0.1 db, and da = 2.5 db: F = 7.5 N. */
static void test_pulley_force(void **unused)
{
    (void)unused;
    for (int i = 0; i < perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i);
        if (!has_forces(rung)) {
            continue;
        }
        scene_run run;
        scene_run_make(&run, pulleys(true, rung->name, 200).of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        const int last = run.count - 1;
        NEAR(run_contact(&run, last, "roof", "lever")->fn, 7.5, is(rung, "compliant") ? 7.5e-3 : 1e-6);
        for (int k = 0; k <= last; k++) {
            NEAR(0.02 * run_joint(&run, k, "a"), 0.05 * run_joint(&run, k, "b"), 1e-9);
        }
        const double room = is(rung, "compliant") ? 1e-3 : 1e-9; /* it has not come to rest */
        NEAR(loop_force(&run, "cord")->force[0], -0.3 / 0.02, 15.0 * room);
        balances(&run, "a", 0.3, 0.3 * room);
        scene_run_free(&run);
    }
}

/* Free, it turns with a'' (I_a + I_b (0.02 / 0.05)^2) = T. A step of rungs with inertia has the velocity of its end
 * exactly, because the force does not change; `instant` has the acceleration. */
static void test_pulley_acceleration(void **unused)
{
    (void)unused;
    static const char *const rungs[] = {"dyn-lcp", "dyn-ncp", "dyn-qp", "compliant"};
    const double expected = 0.3 / (0.003 + 0.02 * 0.16);
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        scene_run run;
        scene_run_make(&run, pulleys(false, rungs[i], 10).of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run.state.v[0], 0.05 * expected, 1e-8);
        NEAR(run.state.v[1], 0.05 * 0.4 * expected, 1e-8);
        NEAR(0.02 * loop_force(&run, "cord")->force[0], 0.003 * expected - 0.3, 1e-8); /* I a'' = T + c F */
        NEAR(-0.05 * loop_force(&run, "cord")->force[0], 0.02 * 0.4 * expected, 1e-8);
        scene_run_free(&run);
    }
    scene_run run;
    instant_run(&run, pulleys(false, "instant", 1).of, NULL);
    NEAR(instant_only(&run)->rate[0], expected, 1e-9);
    NEAR(instant_only(&run)->rate[1], 0.4 * expected, 1e-9);
    scene_run_free(&run);
}

/* ---- mechanisms -------------------------------------------------------------------------------------------------- */

/* An arm of 0.3 m falls about a; the body at its end is on b, which turns back by as much, so that it keeps its
 * orientation; a flywheel in a tree of its own turns three times as fast. Energy: of a turning arm (its mass is half
 * way out), a mass that is carried along, and a wheel of nine times its inertia. */
static void test_energy(void **unused)
{
    (void)unused;
    static const struct {
        const char *model;
        double energy; /* the part that may be missing at h = 1e-3: velocities are h / 2 behind; `compliant` damps */
    } rungs[] = {{"dyn-ncp", 4e-3}, {"dyn-lcp", 4e-3}, {"dyn-qp", 4e-3}, {"compliant", 5e-2}};
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        scene_run run;
        scene_run_make(&run,
                       scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                                     "  arm: {mass: 2, inertia: 0.02, com: [0.15, 0]}\n"
                                     "  tray: {mass: 1, inertia: 0.5, com: [0.1, 0.2], pose: {position: [0.3, 0]}}\n"
                                     "  wheel: {mass: 1, inertia: 0.004}\n"
                                     "joints:\n"
                                     "  a: {type: revolute, parent: world, child: arm}\n"
                                     "  b: {type: revolute, parent: arm, child: tray, anchor: [0.3, 0], mimic: {joint: "
                                     "a, ratio: -1}}\n"
                                     "  c: {type: revolute, parent: world, child: wheel, anchor: [5, 0]}\n"
                                     "tendons: {belt: {joints: {a: 3, c: -1}}}\n"
                                     "run: {model: %s, h: 0.001, until: 0.3}\n",
                                     rungs[i].model)
                           .of,
                       NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        const int last = run.count - 1;
        const double angle = run_joint(&run, last, "a"), rate = run.state.v[0];
        const double inertia = 0.02 + 2.0 * 0.15 * 0.15 + 1.0 * 0.3 * 0.3 + 9.0 * 0.004;
        const double fallen = 9.81 * (2.0 * 0.15 + 1.0 * 0.3) * -sin(angle);
        assert_true(angle < -0.5);
        NEAR(0.5 * inertia * rate * rate, fallen, rungs[i].energy * fallen);
        NEAR(run_joint(&run, last, "b"), -angle, 1e-9);
        NEAR(run_joint(&run, last, "c"), 3.0 * angle, 1e-9);
        scene_run_free(&run);
    }
}

/* ---- where joints begin, and commands ---------------------------------------------------------------------------- */

/* c follows b, which follows a: a is commanded, so it begins where its command does. What is written stays. */
static void test_start(void **unused)
{
    (void)unused;
    static const char *const text =
        "perp: 1\nplanar: true\nbodies: {a: {}, b: {}, c: {}, d: {mass: 1, inertia: 1}, e: {mass: 1, inertia: 1}}\n"
        "joints:\n"
        "  c: {type: revolute, parent: world, child: c, mimic: {joint: b, ratio: -3, offset: 0.25}}\n"
        "  b: {type: prismatic, parent: world, child: b, axis: [1, 0], mimic: {joint: a, ratio: 0.1}}\n"
        "  a: {type: revolute, parent: world, child: a, control: position, command: {offset: 0.5, rate: 2}}\n"
        "  d: {type: revolute, parent: world, child: d, position: 0.2, velocity: 0.3}\n"
        "  e: {type: revolute, parent: world, child: e, velocity: 0.7, mimic: {joint: d, ratio: 2}}\n"
        "run: {model: kinematic, h: 0.1, steps: 3}\n";
    scene_run run;
    scene_run_make(&run, text, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    for (int k = 0; k < run.count; k++) {
        const double a = 0.5 + 2.0 * 0.1 * k;
        NEAR(run_joint(&run, k, "a"), a, 1e-15);
        NEAR(run_joint(&run, k, "b"), 0.1 * a, 1e-12);
        NEAR(run_joint(&run, k, "c"), -0.3 * a + 0.25, 1e-12);
    }
    NEAR(run_joint(&run, 0, "e"), 0.4, 1e-15);
    static const double rates[] = {-0.6, 0.2, 2.0, 0.3, 0.7}; /* c, b, a, d, e */
    static const char *const names[] = {"c", "b", "a", "d", "e"};
    for (int k = 0; k < 5; k++) {
        const int body = perp_scene_find_body(run.scene, names[k]);
        NEAR(run.states[0].v[run.model->links[body].v_start], rates[k], 1e-15);
    }
    scene_run_free(&run);
}

/* Commands of both joints: those that agree pass on every rung, and those that do not are refused. */
static void test_commands(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4 * perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i / 4);
        const bool agree = i % 2 == 0, mimic = i % 4 < 2;
        scene_run run;
        scene_run_make(&run,
                       scene_text_of("perp: 1\nplanar: true\nbodies: {p: {mass: 1, inertia: 1}, s: {mass: 1, inertia: "
                                     "1}}\njoints:\n"
                                     "  a: {type: revolute, parent: world, child: p, control: position, command: "
                                     "{rate: 2}}\n"
                                     "  b: {type: revolute, parent: world, child: s, control: position, command: "
                                     "{rate: %s}%s}\n%srun: {model: %s, h: 0.01, steps: 20}\n",
                                     agree ? "-1" : "-1.01", mimic ? ", mimic: {joint: a, ratio: -0.5}" : "",
                                     mimic ? "" : "tendons: {b: {joints: {a: 3, b: 6}}}\n", rung->name)
                           .of,
                       NULL);
        const bool refused = !agree && (rung->step || rung->answer) && !is(rung, "geometric");
        assert_int_equal(run.status, refused ? PERP_STATUS_INFEASIBLE : PERP_STATUS_OK);
        if (refused) {
            assert_string_equal(run.error.code, "infeasible-command");
            assert_string_equal(run.error.evidence.loop, "b");
            assert_non_null(strstr(run.error.message, mimic ? "`mimic` of joint `b`" : "tendon `b`"));
            assert_false(run.error.evidence.has_gap);
        }
        scene_run_free(&run);
    }
}

/* ---- points and welds -------------------------------------------------------------------------------------------- */

/* A lamp of 2 kg hangs on a point of the world beside its middle, at rest because its weight is under it; a bracket is
 * welded to the world by an anchor at its end. As they are written, b feels the force. */
static scene_text hung(bool lamp_is_b, const char *model)
{
    return scene_text_of("perp: 1\nbodies:\n"
                         "  lamp: {mass: 2, inertia: [0.01, 0.01, 0.01], com: [0, 0, -0.3]}\n"
                         "  bracket: {mass: 3, inertia: [0.1, 0.1, 0.1], com: [0.2, 0.1, 0], pose: {position: [5, 0, "
                         "0]}}\n"
                         "loops:\n"
                         "  hook: {type: point, a: %s, b: %s}\n"
                         "  bolt: {type: weld, a: world, b: bracket, anchor_a: [5, 0, 0]}\n"
                         "run: {model: %s, h: 0.005, steps: 20}\n",
                         lamp_is_b ? "world" : "lamp", lamp_is_b ? "lamp" : "world", model);
}

static void test_points_and_welds(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2 * perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i / 2);
        if (!has_forces(rung)) {
            continue;
        }
        const bool lamp_is_b = i % 2 == 0;
        scene_run run;
        scene_run_make(&run, hung(lamp_is_b, rung->name).of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        const double hook[3] = {0, 0, (lamp_is_b ? 2.0 : -2.0) * 9.81};
        /* the moment about the anchor that holds 3 g at (0.2, 0.1): -(r x -3 g z) */
        const double bolt[6] = {0, 0, 3.0 * 9.81, 0.1 * 3.0 * 9.81, -0.2 * 3.0 * 9.81, 0};
        for (int r = 0; r < 6; r++) {
            NEAR(loop_force(&run, "bolt")->force[r], bolt[r], 1e-7);
            assert_true(loop_force(&run, "bolt")->known[r]);
            if (r < 3) {
                NEAR(loop_force(&run, "hook")->force[r], hook[r], 1e-7);
            }
        }
        balances(&run, NULL, 0.0, 1e-7);
        scene_run_free(&run);
    }
}

/* What commands alone close has a force that nothing tells; rungs without forces say nothing. */
static void test_unknown_forces(void **unused)
{
    (void)unused;
    static const char *const text =
        "perp: 1\nplanar: true\nbodies: {p: {mass: 1, inertia: 1}, s: {mass: 1, inertia: 1}}\njoints:\n"
        "  a: {type: revolute, parent: world, child: p, control: position, command: {rate: 2}}\n"
        "  b: {type: revolute, parent: world, child: s, control: position, command: {rate: -1}, mimic: {joint: a, "
        "ratio: -0.5}}\n"
        "run: {model: %s, h: 0.01, steps: 5}\n";
    scene_run run;
    scene_run_make(&run, scene_text_of(text, "dyn-ncp").of, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_false(loop_force(&run, "b")->known[0]);
    assert_true(loop_force(&run, "b")->force[0] == 0.0);
    scene_run_free(&run);
    scene_run_make(&run, scene_text_of(text, "kinematic").of, NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_int_equal(run.result.loop_count, 0);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_squeeze),
        cmocka_unit_test(test_closes),
        cmocka_unit_test(test_fingers_meet),
        cmocka_unit_test(test_pulley_force),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_pulley_acceleration),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_points_and_welds),
        cmocka_unit_test(test_unknown_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
