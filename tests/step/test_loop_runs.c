/* Loops in runs: to the world on every rung, closed by passive joints on `kinematic`, and opened by commands.
 *
 * Tolerances: a loop that a step closes to first order is open by w^2 h^2 r / 2 at its end; what a comparison allows
 * beside that is said where it stands. */
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

/* ---- loops to the world ------------------------------------------------------------------------------------------ */

static const double G = 9.81, MASS = 2.0, ARM = 0.3, INERTIA = 0.03;

/* A body whose centre of mass is ARM from a pin at (0.1, 0.2), level at the start: a loop to the world on either side,
 * or the joint that means the same. Its inertia about the pin is that about the centre and MASS ARM^2. */
static scene_text pendulum(bool planar, const char *type, const char *world_is, const char *model, double h)
{
    const char *z = planar ? "" : ", 0";
    const char *down = planar ? "[0, -9.81]" : "[0, -9.81, 0]", *inertia = planar ? "0.03" : "[0.02, 0.025, 0.03]";
    const bool loop = world_is != NULL, world_a = loop && strcmp(world_is, "a") == 0;
    char part[600], pin[64], anchor[64];
    snprintf(pin, sizeof pin, "[0.1, 0.2%s]", z);
    snprintf(anchor, sizeof anchor, "[-0.25, 0.05%s]", z); /* of the pin, in the body */
    if (loop) {
        snprintf(part, sizeof part,
                 "  b: {mass: 2, inertia: %s, com: [0.05, 0.05%s], pose: {position: [0.35, 0.15%s]}}\n"
                 "loops: {pin: {type: %s, a: %s, b: %s, anchor_a: %s, anchor_b: %s}}\n",
                 inertia, z, z, type, world_a ? "world" : "b", world_a ? "b" : "world", world_a ? pin : anchor,
                 world_a ? anchor : pin);
    } else {
        snprintf(part, sizeof part,
                 "  b: {mass: 2, inertia: %s, com: [0.3, 0%s]}\n"
                 "joints: {pin: {type: %s, parent: world, child: b, anchor: %s}}\n",
                 inertia, z, planar ? "revolute" : "ball", pin);
    }
    return scene_text_of("perp: 1\nplanar: %s\ngravity: %s\nbodies:\n%srun: {model: %s, h: %.17g, until: 0.3}\n",
                         planar ? "true" : "false", down, part, model, h);
}

/* The angle about z at the last state. */
static double angle_of(const scene_run *run, bool planar, bool loop)
{
    const double *q = run->state.q;
    const int at = loop ? 3 : 0;
    return planar ? q[loop ? 2 : 0] : 2.0 * atan2(q[at + 3], q[at]);
}

static double turn_rate(const scene_run *run, bool planar, bool loop)
{
    return run->state.v[planar ? (loop ? 2 : 0) : (loop ? 5 : 2)];
}

static const char *const SIDES[] = {"a", "b", NULL};

/* A pin to the world is the joint: the same angle, and the energy that a pendulum keeps, for point loops on rungs with
 * inertia. dyn-*: in 0.3 s the angles of the loop and of the joint differ in first order of h (1e-3 at h = 1e-3, and
 * half of it at h / 2); velocities are those of the step, h / 2 behind the angle, which is 4e-3 of the energy;
 * `compliant` is implicit and damps in first order of h: 5 %. */
static void test_pendulum(void **unused)
{
    (void)unused;
    static const struct {
        const char *model;
        double angle, energy;
    } rungs[] = {{"dyn-ncp", 2e-3, 4e-3}, {"dyn-lcp", 2e-3, 4e-3}, {"dyn-qp", 2e-3, 4e-3}, {"compliant", 2e-2, 5e-2}};
    for (size_t k = 0; k < 2 * sizeof rungs / sizeof *rungs; k++) {
        const size_t m = k / 2;
        const bool planar = k % 2 == 0;
        double angle[3], off[2];
        for (int half = 0; half < 2; half++) {
            for (int side = 0; side < 3; side++) {
                scene_run run;
                const bool loop = SIDES[side] != NULL;
                scene_run_make(&run, pendulum(planar, "point", SIDES[side], rungs[m].model, half ? 5e-4 : 1e-3).of,
                               NULL);
                assert_int_equal(run.status, PERP_STATUS_OK);
                angle[side] = angle_of(&run, planar, loop);
                const double rate = turn_rate(&run, planar, loop), fallen = MASS * G * ARM * -sin(angle[side]);
                assert_true(angle[side] < -0.9);
                NEAR(0.5 * (INERTIA + MASS * ARM * ARM) * rate * rate, fallen, rungs[m].energy * fallen);
                assert_true(run.result.residuals.loop < 1e-4); /* (7 rad/s 1e-3 s)^2 / 2 of 0.25 m: 6e-6 */
                assert_true(!loop || run.result.residuals.loop > 0.0);
                scene_run_free(&run);
            }
            NEAR(angle[0], angle[1], 1e-9);
            NEAR(angle[0], angle[2], rungs[m].angle);
            off[half] = fabs(angle[0] - angle[2]);
        }
        assert_true(off[1] < 0.55 * off[0]);
    }
}

/* Every rung takes every kind of loop to the world; what hangs on a weld stays where it is, and what hangs on a pin
 * falls where there is inertia, and is unsupported where there is none. */
static void test_every_rung(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4 * perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i / 4);
        const bool planar = i % 2 == 0, weld = i % 4 / 2 == 0;
        double q[2][7];
        perp_status status[2];
        for (int side = 0; side < 2; side++) {
            scene_run run;
            scene_run_make(&run, pendulum(planar, weld ? "weld" : "point", SIDES[side], rung->name, 0.01).of, NULL);
            status[side] = run.status;
            memcpy(q[side], run.state.q, (planar ? 3 : 7) * sizeof(double));
            if (run.status != PERP_STATUS_OK) {
                assert_false(weld);
                assert_string_equal(run.error.code, "unsupported-body");
                assert_string_equal(run.error.evidence.body, "b");
            }
            if (weld) {
                NEAR(run.state.q[0], 0.35, 1e-9);
                NEAR(run.state.q[1], 0.15, 1e-9);
                NEAR(angle_of(&run, planar, true), 0.0, 1e-9);
            }
            assert_true(run.result.residuals.loop < 1e-3);
            scene_run_free(&run);
        }
        assert_int_equal(status[0], status[1]);
        for (int k = 0; k < (planar ? 3 : 7); k++) {
            NEAR(q[0][k], q[1][k], 1e-9);
        }
    }
}

/* ---- kinematic: closing ------------------------------------------------------------------------------------------ */

/* A crank r turns at 1.3 rad/s, a rod l ends in a slider on the line y = e. */
static scene_text slider_crank(double r, double l, double e, double h, double until, const char *more)
{
    const double x = sqrt(l * l - e * e) + r, lean = asin(e / l);
    return scene_text_of("perp: 1\nplanar: true\nbodies: {crank: {}, rod: {}, slider: {}}\n"
                         "joints:\n"
                         "  c: {type: revolute, parent: world, child: crank, control: position, command: {rate: 1.3}}\n"
                         "  p: {type: revolute, parent: crank, child: rod, anchor: [%.17g, 0], position: %.17g%s}\n"
                         "  s: {type: prismatic, parent: world, child: slider, anchor: [0, %.17g], axis: [1, 0], "
                         "position: %.17g}\n"
                         "loops: {pin: {type: point, a: rod, b: slider, anchor_a: [%.17g, 0]}}\n"
                         "run: {model: kinematic, h: %.17g, until: %.17g}\n",
                         r, lean, more, e, x, l, h, until);
}

/* x = r cos a + sqrt(l^2 - (e - r sin a)^2) at every step, through both dead centres of the crank, in long steps and
 * short ones; velocities are differences over h. */
static void test_slider_crank(void **unused)
{
    (void)unused;
    static const double cases[][4] = {
        {0.1, 0.3, 0.0, 0.01}, {0.2, 0.25, 0.03, 0.01}, {0.1, 0.12, -0.015, 0.5}, {1.0, 1.05, 0.0, 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double r = cases[i][0], l = cases[i][1], e = cases[i][2], h = cases[i][3];
        scene_run run;
        scene_run_make(&run, slider_crank(r, l, e, h, 6.0, "").of, NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        assert_true(run.result.residuals.loop < 1e-9 * l);
        for (int k = 1; k < run.count; k++) {
            const double a = 1.3 * run.states[k].t, y = e - r * sin(a);
            NEAR(run_joint(&run, k, "s"), r * cos(a) + sqrt(l * l - y * y), 1e-8 * l);
            NEAR(run_joint(&run, k, "p") + a, asin(y / l), 1e-7);
            const double moved = run_joint(&run, k, "s") - run_joint(&run, k - 1, "s");
            NEAR(run.states[k].v[2], moved / h, 1e-12 / h);
        }
        scene_run_free(&run);
    }
}

/* Freudenstein: with links a, b, c on the ground d, output angle out(in) of the branch the linkage starts on. */
static double four_bar(double a, double b, double c, double d, double in, double branch)
{
    const double x = d - a * cos(in), y = -a * sin(in), f = hypot(x, y); /* from the crank's pin to the rocker's foot */
    const double inside = acos((f * f + c * c - b * b) / (2.0 * f * c));
    return atan2(-y, -x) + branch * inside;
}

static double turned(double angle)
{
    return remainder(angle, 8.0 * atan(1.0));
}

/* The coupler hangs on the crank and is tied to the rocker; in space the same linkage lies in the plane x-z. Crossed
 * and open ones stay on their branch for a whole turn. */
static void test_four_bar(void **unused)
{
    (void)unused;
    static const double cases[][6] = {
        {0.1, 0.3, 0.25, 0.3, -1.0, 0.02}, {0.1, 0.3, 0.25, 0.3, 1.0, 0.02}, {0.05, 0.2, 0.2, 0.22, -1.0, 0.4}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const double *k = cases[i / 2], a = k[0], b = k[1], c = k[2], d = k[3], branch = k[4], in = 0.4;
        const bool planar = i % 2 == 0;
        const double out = four_bar(a, b, c, d, in, branch);
        const double px = d + c * cos(out) - a * cos(in), py = c * sin(out) - a * sin(in), coupler = atan2(py, px);
        const char *axis = planar ? "" : ", axis: [0, -1, 0]", *z = planar ? "" : ", 0";
        scene_run run;
        scene_run_make(
            &run,
            scene_text_of("perp: 1\nplanar: %s\nbodies: {crank: {}, coupler: {}, rocker: {}}\njoints:\n"
                          "  in: {type: revolute, parent: world, child: crank%s, control: position, position: 0.4, "
                          "command: {offset: 0.4, rate: 2}}\n"
                          "  mid: {type: revolute, parent: crank, child: coupler%s, anchor: [%.17g, 0%s], position: "
                          "%.17g}\n"
                          "  out: {type: revolute, parent: world, child: rocker%s, anchor: [%.17g, 0%s], position: "
                          "%.17g}\n"
                          "loops: {tie: {type: point, a: rocker, b: coupler, anchor_a: [%.17g, 0%s], anchor_b: "
                          "[%.17g, 0%s]}}\nrun: {model: kinematic, h: %.17g, until: 3.2}\n",
                          planar ? "true" : "false", axis, axis, a, z, coupler - in, axis, d, z, out, c, z, b, z, k[5])
                .of,
            NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        assert_true(run.result.residuals.loop < 1e-9 * b);
        for (int s = 1; s < run.count; s++) {
            const double now = four_bar(a, b, c, d, in + 2.0 * run.states[s].t, branch);
            NEAR(turned(run_joint(&run, s, "out") - now), 0.0, 1e-8);
        }
        scene_run_free(&run);
    }
}

/* A body that is only pinned: it follows its pin, and what the pin leaves open moves least. Bodies beside stay to the
 * bit. */
static void test_follows(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run,
                   "perp: 1\n"
                   "bodies:\n"
                   "  tool: {driven: {x: {rate: 0.5}, rz: {rate: 1}}}\n"
                   "  load: {mass: 1, inertia: [1, 1, 1], pose: {position: [0, 0, -0.2]}}\n"
                   "  beside: {mass: 1, inertia: [1, 1, 1], pose: {position: [1, 2, 3], rpy: [0.3, 0.2, 0.1]}}\n"
                   "loops: {weld: {type: weld, a: tool, b: load, anchor_b: [0, 0, 0.2]}}\n"
                   "run: {model: kinematic, h: 0.1, steps: 10}\n",
                   NULL);
    assert_int_equal(run.status, PERP_STATUS_OK);
    NEAR(run_body(&run, 10, "load", 0), 0.5, 1e-9);
    NEAR(run_body(&run, 10, "load", 2), -0.2, 1e-9);
    NEAR(2.0 * atan2(run_body(&run, 10, "load", 6), run_body(&run, 10, "load", 3)), 1.0, 1e-9);
    for (int k = 0; k < 3; k++) {
        assert_true(run_body(&run, 10, "beside", k) == 1.0 + k);
    }
    scene_run_free(&run);
}

/* ---- kinematic: what does not close ------------------------------------------------------------------------------ */

static void expect_open(const char *text, const char *loop, int steps, double low, double high)
{
    scene_run run;
    scene_run_make(&run, text, NULL);
    assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
    assert_string_equal(run.error.code, "infeasible-command");
    assert_string_equal(run.error.evidence.loop, loop);
    assert_true(run.error.evidence.has_gap);
    assert_true(run.error.evidence.gap > low && run.error.evidence.gap < high);
    assert_int_equal(run.result.steps, steps);
    NEAR(run.state.t, steps * run.result.h, 1e-12); /* the state is that of the last good step */
    scene_run_free(&run);
}

/* A slider drives the crank: at x = r + l, its dead centre, there is no way on; the gap of the step that fails is how
 * far the slider has gone beyond. */
static void test_out_of_reach(void **unused)
{
    (void)unused;
    static const double lengths[][2] = {{0.1, 0.3}, {0.2, 0.25}};
    for (size_t i = 0; i < 2; i++) {
        const double r = lengths[i][0], l = lengths[i][1], at = 1.0, lean = asin(r / l * sin(at));
        const double x = r * cos(at) + l * cos(lean), left = r + l - x, h = 0.01, rate = left / (10.5 * h);
        const scene_text text = scene_text_of(
            "perp: 1\nplanar: true\nbodies: {crank: {}, rod: {}, slider: {}}\njoints:\n"
            "  c: {type: revolute, parent: world, child: crank, position: 1}\n"
            "  p: {type: revolute, parent: crank, child: rod, anchor: [%.17g, 0], position: %.17g}\n"
            "  s: {type: prismatic, parent: world, child: slider, axis: [1, 0], position: %.17g, control: position, "
            "command: {offset: %.17g, rate: %.17g}}\n"
            "loops: {pin: {type: point, a: rod, b: slider, anchor_a: [%.17g, 0]}}\n"
            "run: {model: kinematic, h: 0.01, steps: 20}\n",
            r, -lean - at, x, x, rate, l);
        expect_open(text.of, "pin", 10, 0.499 * rate * h, 0.501 * rate * h);
    }
}

/* The rod may not lean by more than 0.1 rad against the crank: the crank turns until then. */
static void test_limit(void **unused)
{
    (void)unused;
    expect_open(slider_crank(0.1, 0.3, 0.0, 0.01, 1.0, ", limits: [-0.1, 0.1]").of, "pin", 5, 1e-6, 1e-2);
}

/* Two commanded joints and a point that is fixed. Every rung with steps stops before the first one, however the loop is
 * written; the gap is that of its end. The instants say it of velocities. */
static const char *const COMMANDED = "perp: 1\n"
                                     "bodies:\n"
                                     "  g: {fixed: true, pose: {position: [%g, 0, 0]}}\n"
                                     "  a: {mass: 1, inertia: [.1, .1, .1]}\n"
                                     "  b: {mass: 1, inertia: [.1, .1, .1]}\n"
                                     "joints:\n"
                                     "  j1: {type: revolute, parent: world, child: a, axis: [0, 1, 0], anchor: [0, 0, "
                                     "0], control: position, command: {rate: %g}}\n"
                                     "  j2: {type: revolute, parent: a, child: b, axis: [0, 1, 0], anchor: [%g, 0, 0], "
                                     "control: position, command: {rate: %g}}\n"
                                     "loops: {l: {type: %s}}\n"
                                     "run: {model: %s, h: 0.01, steps: 50}\n";

static void test_commands_open(void **unused)
{
    (void)unused;
    static const char *const loops[] = {"point, a: b, b: g, anchor_a: [1, 0, 0]",
                                        "weld, a: g, b: b, anchor_b: [1, 0, 0]"};
    static const double rates[][2] = {{1.0, -1.5}, {0.3, 0.0}, {-2.0, 3.0}};
    for (int i = 0; i < 6 * perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i / 6);
        const double first = rates[i % 3][0], second = rates[i % 3][1], d = 1.0 + i % 3, h = 0.01;
        char text[4000];
        scene_run run;
        snprintf(text, sizeof text, COMMANDED, d + 1.0, first, d, second, loops[i % 6 / 3], rung->name);
        scene_run_make(&run, text, NULL);
        if (!rung->step && !rung->answer) { /* geometric: nothing moves */
            assert_int_equal(run.status, PERP_STATUS_OK);
            scene_run_free(&run);
            continue;
        }
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "infeasible-command");
        assert_string_equal(run.error.evidence.loop, "l");
        assert_int_equal(run.result.steps, 0);
        assert_int_equal(run.error.evidence.has_gap, rung->step != NULL);
        if (rung->step && i % 6 / 3 == 0) {
            const double both = first + second;
            NEAR(run.error.evidence.gap,
                 hypot(d * (cos(first * h) - 1.0) + cos(both * h) - 1.0, d * sin(first * h) + sin(both * h)), 1e-9);
        }
        scene_run_free(&run);
    }
}

/* Commands that keep a loop closed pass on every rung: a parallelogram, both of whose cranks are commanded alike, in a
 * flat scene and across a world axis. So does one that is open from the start and opens no further, but on
 * `kinematic`. */
static void test_commands_keep(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2 * perp_rung_count(); i++) {
        const perp_rung *rung = perp_rung_at(i / 2);
        const double apart = i % 2 == 0 ? 0.0 : 1e-3;
        scene_run run;
        scene_run_make(
            &run,
            scene_text_of("perp: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, "
                          "inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 1, 1]}}\njoints:\n"
                          "  a: {type: revolute, parent: world, child: a, axis: [0, 0, 1], control: position, command: "
                          "{rate: 3}}\n"
                          "  b: {type: revolute, parent: a, child: b, axis: [0, 0, 1], anchor: [0.2, 0, 0], control: "
                          "position, command: {rate: -3}}\n"
                          "  c: {type: revolute, parent: world, child: c, axis: [0, 0, 1], anchor: [1, 0, 0], control: "
                          "position, command: {rate: 3}}\n"
                          "loops: {l: {type: point, a: b, b: c, anchor_a: [1, 0, %g], anchor_b: [0.2, 0, 0]}}\n"
                          "run: {model: %s, h: 0.02, steps: 100}\n",
                          apart, rung->name)
                .of,
            NULL);
        const bool closes = apart > 0.0 && strcmp(rung->name, "kinematic") == 0;
        assert_int_equal(run.status, closes ? PERP_STATUS_INFEASIBLE : PERP_STATUS_OK);
        assert_true(rung->answer || !rung->step || closes || fabs(run.result.residuals.loop - apart) < 1e-9);
        scene_run_free(&run);
    }
}

/* A four-bar that is stretched along x at the start: for that moment nothing free moves the row along x, and it is not
 * the commands that open it. */
static void test_dead_centre_passes(void **unused)
{
    (void)unused;
    static const char *const models[] = {"kinematic", "dyn-ncp", "qs-qp"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        scene_run run;
        scene_run_make(&run,
                       scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\n"
                                     "bodies: {a: {mass: 1, inertia: 1}, b: {mass: 1, inertia: 1}, c: {mass: 1, "
                                     "inertia: 1}}\njoints:\n"
                                     "  a: {type: revolute, parent: world, child: a, control: position, command: "
                                     "{rate: 1}}\n"
                                     "  b: {type: revolute, parent: a, child: b, anchor: [0.1, 0]}\n"
                                     "  c: {type: prismatic, parent: world, child: c, axis: [1, 0], position: 0.4}\n"
                                     "loops: {l: {type: point, a: b, b: c, anchor_a: [0.3, 0]}}\n"
                                     "run: {model: %s, h: 0.01, steps: 20}\n",
                                     models[i])
                           .of,
                       NULL);
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run_joint(&run, 20, "c"), 0.1 * cos(0.2) + sqrt(0.09 - pow(0.1 * sin(0.2), 2)), 1e-4);
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),      cmocka_unit_test(test_every_rung),
        cmocka_unit_test(test_slider_crank),  cmocka_unit_test(test_four_bar),
        cmocka_unit_test(test_follows),       cmocka_unit_test(test_out_of_reach),
        cmocka_unit_test(test_limit),         cmocka_unit_test(test_commands_open),
        cmocka_unit_test(test_commands_keep), cmocka_unit_test(test_dead_centre_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
