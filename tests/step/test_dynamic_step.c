/* One dynamic step, piece by piece: springs, dampers and armature, restitution, joint limits, loops, commands that
 * accelerate what hangs on them, bodies that cannot be parted, and what is refused.
 *
 * Tolerances: closed forms of the discrete step hold to the tolerance of its law, 1e-10 in units of the scene, which is
 * 1e-10 .. 1e-9 in the SI units here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "scene_run.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const RUNGS[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
enum { RUNG_COUNT = 3 };

static void run_well(scene_run *run, const char *source, const char *model, const char *further)
{
    char chosen[40];
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    scene_run_make(run, source, SET(chosen, further));
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", model, run->error.message);
    }
}

static const char *const NOTHING = "run.time_scale=1";

/* ---- actuators --------------------------------------------------------------------------------------------------- */

/* (eps^2 (m + armature) / h + D + h K) v+ = eps^2 (m + armature) v / h + K (command(t + h) - q), then q += h v+ */
static void test_impedance_is_implicit(void **unused)
{
    (void)unused;
    static const char TEXT[] =
        "perp: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  cart: {mass: 2}\n"
        "joints:\n"
        "  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0, 0], position: 0.3, velocity: -0.7,\n"
        "         control: impedance, stiffness: 5000, damping: 30, armature: 0.5, command: {rate: 2}}\n"
        "run: {model: dyn-ncp, h: 0.02, steps: 50}\n";
    static const double SCALES[] = {1.0, 0.3, 1e-4};
    for (int i = 0; i < 3 * RUNG_COUNT; i++) {
        const double eps = SCALES[i / RUNG_COUNT], h = 0.02, m = eps * eps * 2.5;
        double q = 0.3, v = -0.7;
        char scale[60];
        scene_run run;
        snprintf(scale, sizeof scale, "run.time_scale=%.17g", eps);
        run_well(&run, TEXT, RUNGS[i % RUNG_COUNT], scale);
        for (int k = 1; k <= 50; k++) {
            v = (m * v / h + 5000.0 * (2.0 * k * h - q)) / (m / h + 30.0 + h * 5000.0);
            q += h * v;
            NEAR(run_joint(&run, k, "rail"), q, 1e-9);
            NEAR(run.states[k].v[0], v, 1e-8);
        }
        scene_run_free(&run);
    }
}

/* A damper on a joint without control: v+ = v / (1 + h D / m). */
static void test_passive_damping(void **unused)
{
    (void)unused;
    static const char TEXT[] =
        "perp: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  cart: {mass: 2}\n"
        "joints:\n"
        "  rail: {type: prismatic, parent: world, child: cart, axis: [0, 1, 0], velocity: 3, damping: 40}\n"
        "run: {model: dyn-ncp, h: 0.01, steps: 30}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, TEXT, RUNGS[r], NOTHING);
        NEAR(run.states[30].v[0], 3.0 * pow(1.0 + 0.01 * 40.0 / 2.0, -30.0), 1e-9);
        scene_run_free(&run);
    }
}

/* A pendulum under a commanded cart feels the cart's acceleration: (I + m l^2) a'' = -m l (g sin a + x'' cos a). */
static void test_commands_accelerate(void **unused)
{
    (void)unused;
    char text[900];
    const double h = 0.01, accel = 3.0;
    int length = snprintf(text, sizeof text,
                          "perp: 1\n"
                          "planar: true\n"
                          "bodies:\n"
                          "  cart: {mass: 1}\n"
                          "  bob: {mass: 2, inertia: 0.1, com: [0, -0.5]}\n"
                          "joints:\n"
                          "  hinge: {type: revolute, parent: cart, child: bob, anchor: [0, 0], position: %.17g}\n"
                          "  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0], control: position,\n"
                          "         command: {interpolate: linear, times: [",
                          -atan2(accel, 9.81));
    /* x_k = accel h^2 k^2 / 2: the velocity grows by accel h in every step, from accel h / 2 in the first */
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k <= 20; k++) {
            const double value = part == 0 ? h * k : 0.5 * accel * h * h * k * k;
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%.10g", k ? ", " : "", value);
        }
        length += snprintf(text + length, sizeof text - (size_t)length, part == 0 ? "], values: [" : "]}}\n");
    }
    snprintf(text + length, sizeof text - (size_t)length, "run: {model: dyn-ncp, h: 0.01, steps: 20}\n");
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, text, RUNGS[r], NOTHING);
        double angle = -atan2(accel, 9.81), v = 0.0;
        for (int k = 1; k <= 20; k++) {
            /* the interpolated command starts with the velocity of its first step, which then has no acceleration */
            const double pulled = k > 1 ? accel : 0.0;
            v -= h * 2.0 * 0.5 * (9.81 * sin(angle) + pulled * cos(angle)) / (0.1 + 2.0 * 0.25);
            angle += h * v;
            NEAR(run.states[k].v[1], v, 1e-9);
            NEAR(run_joint(&run, k, "hinge"), angle, 1e-10);
        }
        scene_run_free(&run);
    }
}

/* ---- restitution ------------------------------------------------------------------------------------------------- */

static const char BALL[] = "perp: 1\n"
                           "bodies:\n"
                           "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                           "  ball: {mass: 0.3, pose: {position: [0, 0, 0.5]}, velocity: {linear: [0.4, 0, 0]},\n"
                           "         shapes: [{sphere: 0.1}]}\n"
                           "contacts: {friction: 0, pairs: {\"floor ball\": {restitution: 0.8, friction: 0}}}\n"
                           "run: {model: dyn-ncp, h: 0.002, steps: 600}\n";

/* Every bounce turns the velocity at the step's begin by exactly -e, and takes nothing along the floor. */
static void test_bounces(void **unused)
{
    (void)unused;
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        int bounces = 0;
        double top = 0.0;
        run_well(&run, BALL, RUNGS[r], NOTHING);
        for (int k = 1; k <= 600; k++) {
            const double before = run.states[k - 1].v[2], after = run.states[k].v[2];
            if (before < 0.0 && after > 0.0) {
                bounces++;
                NEAR(after, -0.8 * before, 1e-9);
            }
            top = bounces == 1 ? fmax(top, run_body(&run, k, "ball", 2)) : top;
            NEAR(run.states[k].v[0], 0.4, 1e-12);
            assert_true(run_body(&run, k, "ball", 2) >= 0.1 - 1e-12);
        }
        assert_true(bounces >= 2);
        NEAR(top - 0.1, 0.64 * 0.4, 0.02); /* e^2 of the height; a step falls 6 mm there */
        scene_run_free(&run);
    }
}

static void test_without_restitution_it_stays(void **unused)
{
    (void)unused;
    for (int r = 0; r < RUNG_COUNT; r++) {
        char chosen[40];
        scene_run run;
        snprintf(chosen, sizeof chosen, "run.model=%s", RUNGS[r]);
        scene_run_make(&run, BALL, SET(chosen, "contacts.pairs.floor ball.restitution=0"));
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run_body(&run, 600, "ball", 2), 0.1, 1e-10);
        NEAR(run.states[600].v[2], 0.0, 1e-10);
        const perp_contact_record *c = run_contact(&run, 600, "floor", "ball");
        NEAR(c->fn, 0.3 * 9.81, 1e-8); /* newtons, not impulses */
        scene_run_free(&run);
    }
}

/* ---- constraints ------------------------------------------------------------------------------------------------- */

/* A rod falls onto its joint's limit and stays there; the limit's torque carries it. */
static void test_limit(void **unused)
{
    (void)unused;
    static const char TEXT[] =
        "perp: 1\n"
        "planar: true\n"
        "bodies:\n"
        "  rod: {mass: 2, inertia: 0.3, com: [0.5, 0]}\n"
        "joints:\n"
        "  hinge: {type: revolute, parent: world, child: rod, anchor: [0, 0], position: 0.2, limits: [-0.4, 1]}\n"
        "run: {model: dyn-ncp, h: 0.01, steps: 100}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, TEXT, RUNGS[r], NOTHING);
        for (int k = 0; k <= 100; k++) {
            assert_true(run_joint(&run, k, "hinge") >= -0.4 - 1e-10);
        }
        NEAR(run_joint(&run, 100, "hinge"), -0.4, 1e-10);
        NEAR(run.states[100].v[0], 0.0, 1e-9);
        scene_run_free(&run);
    }
}

/* A pendulum made of a free body and a loop is one made of a joint, and the loop stays closed. */
static void test_loop_is_a_joint(void **unused)
{
    (void)unused;
    static const char LOOP[] = "perp: 1\n"
                               "planar: true\n"
                               "bodies:\n"
                               "  ground: {fixed: true}\n"
                               "  rod: {mass: 2, inertia: 0.3, pose: {position: [0.5, 0]}}\n"
                               "loops:\n"
                               "  pin: {type: point, a: ground, b: rod, anchor_a: [0, 0], anchor_b: [-0.5, 0]}\n"
                               "run: {model: dyn-ncp, h: 0.001, steps: 400}\n";
    static const char JOINT[] = "perp: 1\n"
                                "planar: true\n"
                                "bodies:\n"
                                "  rod: {mass: 2, inertia: 0.3, com: [0.5, 0]}\n"
                                "joints:\n"
                                "  hinge: {type: revolute, parent: world, child: rod, anchor: [0, 0]}\n"
                                "run: {model: dyn-ncp, h: 0.001, steps: 400}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run loop, joint;
        run_well(&loop, LOOP, RUNGS[r], NOTHING);
        run_well(&joint, JOINT, RUNGS[r], NOTHING);
        /* both are first order; the loop is closed at the end of the step to second order in h w = 0.004 */
        NEAR(run_body(&loop, 400, "rod", 2), run_joint(&joint, 400, "hinge"), 5e-3);
        assert_true(loop.result.residuals.loop < 0.5 * 0.5 * 5e-3 * 5e-3);
        scene_run_free(&loop);
        scene_run_free(&joint);
    }
}

/* Walls that are a little too near to each other: no motion of the box parts it from both, so that Stewart and
 * Trinkle's step has no answer. Anitescu and Potra's has: nothing gets deeper, and gravity goes on. */
static void test_unstabilised(void **unused)
{
    (void)unused;
    static const char TEXT[] = "perp: 1\n"
                               "planar: true\n"
                               "bodies:\n"
                               "  left: {fixed: true, shapes: [{halfplane: {normal: [1, 0], offset: 0}}]}\n"
                               "  right: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: -0.9999999}}]}\n"
                               "  box: {mass: 1, pose: {position: [0.49999995, 0]}, shapes: [{box: [1, 1]}]}\n"
                               "contacts: {friction: 0}\n"
                               "run: {model: dyn-ncp, h: 0.01, steps: 20}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, TEXT, RUNGS[r], NOTHING);
        assert_int_equal(run.result.fallbacks[PERP_FALLBACK_UNSTABILISED], 20);
        NEAR(run_body(&run, 20, "box", 0), 0.49999995, 1e-9);
        NEAR(run.states[20].v[1], -9.81 * 0.2, 1e-9);
        assert_true(run.result.residuals.penetration < 6e-8);
        scene_run_free(&run);
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void test_massless_is_refused(void **unused)
{
    (void)unused;
    static const char TEXT[] = "perp: 1\n"
                               "planar: true\n"
                               "bodies:\n"
                               "  rod: {shapes: [{box: [1, 0.1]}]}\n"
                               "joints:\n"
                               "  hinge: {type: revolute, parent: world, child: rod}\n"
                               "run: {model: dyn-ncp, h: 0.01, steps: 3}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        char chosen[40];
        scene_run run;
        snprintf(chosen, sizeof chosen, "run.model=%s", RUNGS[r]);
        scene_run_make(&run, TEXT, SET(chosen));
        assert_int_equal(run.status, PERP_STATUS_BAD_INPUT);
        assert_string_equal(run.error.path, "joints.hinge");
        scene_run_free(&run);
        scene_run_make(&run, TEXT, SET(chosen, "joints.hinge.armature=0.1"));
        assert_int_equal(run.status, PERP_STATUS_OK);
        scene_run_free(&run);
    }
}

/* A finger at a box that is about to tip, and slips on it by 5e-10 of the scene's size: no mode of the contacts is met
 * exactly, but the law is, to its tolerance. That no motion is left would not be true. */
static void test_slip_below_the_tolerance_is_no_jam(void **unused)
{
    (void)unused;
    static const char TEXT[] =
        "perp: 1\n"
        "planar: true\n"
        "gravity: [0, -9.81]\n"
        "bodies:\n"
        "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  box: {mass: 2.3791599063732281, shapes: [{box: [0.088062702956369712, 0.1305271031351232]}],\n"
        "        pose: {position: [0.044119071897181436, 0.065268681619623112], angle: 0.00011651900223742612},\n"
        "        velocity: {linear: [0.03731784638577712, 0.00059479513454653273], angular: 0.013517290718551747}}\n"
        "  finger: {shapes: [{disc: 0.007849383350363939}]}\n"
        "joints:\n"
        "  push: {type: prismatic, parent: world, child: finger, axis: [1, 0], velocity: 0.037881493293349736,\n"
        "         anchor: [-0.0077568057616933996, 0.023579986696011558], control: position,\n"
        "         command: {rate: 0.037881493293349736}}\n"
        "contacts: {friction: 1.721960068849542, margin: 0.02}\n"
        "run: {model: dyn-lcp, h: 0.001, steps: 1}\n";
    for (int r = 0; r < 2; r++) {
        scene_run run;
        run_well(&run, TEXT, RUNGS[r], NOTHING);
        const perp_residuals *at = &run.states[1].residuals;
        assert_true(fmax(at->balance, fmax(at->complementarity, at->cone)) <= 1e-8);
        scene_run_free(&run);
    }
}

/* What nothing joins moves as if it were alone: a box that slides and comes to rest, a pair of boxes of which one
 * slides off the other, a pendulum that falls on its limit. Units are those of the scene, so to the tolerance of its
 * law. */
static void test_apart_is_alone(void **unused)
{
    (void)unused;
    static const char
        FLOOR[] = "perp: 1\nbodies:\n"
                  "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n",
        BOX[] = "  box: {mass: 0.3, pose: {position: [0, 0, 0.02]}, velocity: {linear: [1, 0.4, 0]},\n"
                "        shapes: [{box: [0.1, 0.06, 0.04]}]}\n",
        PAIR[] = "  low: {mass: 2, pose: {position: [3, 0, 0.05]}, shapes: [{box: [0.4, 0.2, 0.1]}]}\n"
                 "  high: {mass: 0.5, pose: {position: [2.9, 0, 0.13]}, velocity: {linear: [2, 0, 0]},\n"
                 "         shapes: [{box: [0.1, 0.1, 0.06]}]}\n",
        ROD[] = "  rod: {mass: 0.2, com: [0.3, 0, 0], shapes: [{sphere: 0.02, pose: {position: [0.3, 0, 0]}}]}\n"
                "joints:\n"
                "  hinge: {type: revolute, parent: world, child: rod, anchor: [0, 5, 1], axis: [0, 1, 0],\n"
                "          limits: [-1, 0.2]}\n",
        RUN[] = "contacts: {friction: 0.3}\nrun: {model: dyn-lcp, h: 0.005, steps: 120, cone: rays}\n";
    char all[2000], alone[3][2000];
    const char *const parts[] = {BOX, PAIR, ROD}, *const bodies[] = {"box", "high", "low"};
    snprintf(all, sizeof all, "%s%s%s%s%s", FLOOR, BOX, PAIR, ROD, RUN);
    scene_run together, own[3];
    run_well(&together, all, "dyn-lcp", NOTHING);
    for (int i = 0; i < 3; i++) {
        snprintf(alone[i], sizeof alone[i], "%s%s%s", FLOOR, parts[i], RUN);
        run_well(&own[i], alone[i], "dyn-lcp", NOTHING);
    }
    for (int k = 1; k <= 120; k++) {
        for (int b = 0; b < 3; b++) {
            for (int x = 0; x < 3; x++) {
                NEAR(run_body(&together, k, bodies[b], x), run_body(&own[b == 0 ? 0 : 1], k, bodies[b], x), 1e-9);
            }
        }
        NEAR(run_joint(&together, k, "hinge"), run_joint(&own[2], k, "hinge"), 1e-9);
    }
    assert_true(run_body(&together, 120, "box", 0) > 0.1 && run_body(&together, 120, "high", 0) > 3.0);
    NEAR(run_joint(&together, 120, "hinge"), 0.2, 1e-9);
    scene_run_free(&together);
    for (int i = 0; i < 3; i++) {
        scene_run_free(&own[i]);
    }
}

static void test_overlap_at_start_is_refused(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run, BALL, SET("run.model=dyn-lcp", "bodies.ball.pose.position.2=0.05"));
    assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
    assert_string_equal(run.error.code, "penetrating-start");
    scene_run_free(&run);
}

/* Twice the same bits, and once no state has more contacts than before, no memory. */
static void test_repeatable_without_memory(void **unused)
{
    (void)unused;
    for (int r = 0; r < RUNG_COUNT; r++) {
        char chosen[40];
        scene_run run[2];
        failing_allocator source = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&source);
        snprintf(chosen, sizeof chosen, "run.model=%s", RUNGS[r]);
        scene_run_make_with(&run[0], BALL, SET(chosen), &allocator, &source.requests);
        scene_run_make(&run[1], BALL, SET(chosen));
        assert_int_equal(run[0].status, PERP_STATUS_OK);
        assert_true(run[0].result.hash.value == run[1].result.hash.value);
        assert_int_equal(run[0].states[600].requests, run[0].states[300].requests); /* it has bounced by then */
        scene_run_free(&run[0]);
        scene_run_free(&run[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impedance_is_implicit),
        cmocka_unit_test(test_passive_damping),
        cmocka_unit_test(test_commands_accelerate),
        cmocka_unit_test(test_bounces),
        cmocka_unit_test(test_without_restitution_it_stays),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_loop_is_a_joint),
        cmocka_unit_test(test_unstabilised),
        cmocka_unit_test(test_massless_is_refused),
        cmocka_unit_test(test_slip_below_the_tolerance_is_no_jam),
        cmocka_unit_test(test_apart_is_alone),
        cmocka_unit_test(test_overlap_at_start_is_refused),
        cmocka_unit_test(test_repeatable_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
