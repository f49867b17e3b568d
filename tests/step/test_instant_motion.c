/* `instant`: curvature, drives, joints, loops and limits.
 *
 * Tolerances: closed forms are met to TIGHT, a hundred times what rounding and the differences of instant_motion.c
 * leave of numbers of size 10. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static const double TIGHT = 1e-9;

/* ---- curvature, drives, joints, loops, limits -------------------------------------------------------------------- */

/* A disc at the top of another one, without friction: fn = m (g - v^2 / (R + r)), and it leaves where that is negative;
 * at the bottom of a hole fn = m (g + v^2 / (R - r)). */
static void test_curved_ways(void **unused)
{
    (void)unused;
    static const double speeds[] = {0, 1, 2.5, 3.5};
    for (int i = 0; i < 4; i++) {
        const double v = speeds[i], fn = 2 * (9.81 - v * v / 1.2), inside = 2 * (9.81 + v * v / 0.8);
        scene_run run;
        instant_run(
            &run,
            scene_text_of("perp: 1\nplanar: true\nbodies:\n  hill: {fixed: true, shapes: [{disc: 1}]}\n"
                          "  disc: {mass: 2, pose: {position: [0, 1.2]}, velocity: {linear: [%.17g, 0], angular: 3},\n"
                          "    shapes: [{disc: 0.2}]}\ncontacts: {friction: 0}\nrun: {model: instant}\n",
                          v)
                .of,
            SET("run.h=0.01"));
        NEAR(instant_only(&run)->contacts[0].fn, fmax(0.0, fn), TIGHT);
        NEAR(instant_only(&run)->rate[1], fn > 0 ? -v * v / 1.2 : -9.81, TIGHT);
        scene_run_free(&run);
        instant_run(
            &run,
            scene_text_of("perp: 1\nplanar: true\nbodies:\n  bowl: {fixed: true, shapes: [{hole: {radius: 1}}]}\n"
                          "  disc: {mass: 2, pose: {position: [0, -0.8]}, velocity: {linear: [%.17g, 0]},\n"
                          "    shapes: [{disc: 0.2}]}\ncontacts: {friction: 0}\nrun: {model: instant}\n",
                          v)
                .of,
            SET("run.h=0.01"));
        NEAR(instant_only(&run)->contacts[0].fn, inside, TIGHT);
        scene_run_free(&run);
    }
}

/* A ball at the top of an ellipsoid: the curvatures there are c / a^2 along x and c / b^2 along y. */
static void test_ball_on_an_ellipsoid(void **unused)
{
    (void)unused;
    static const double ways[3][2] = {{3, 0}, {0, -2}, {1.5, 2.5}};
    for (int i = 0; i < 3; i++) {
        const double x = ways[i][0], y = ways[i][1];
        /* the ball's centre moves on the surface at distance r, whose radii of curvature are a^2 / c + r, b^2 / c + r
         */
        const double fn = 0.5 * (9.81 - x * x / (4 / 0.5 + 0.1) - y * y / (9 / 0.5 + 0.1));
        scene_run run;
        instant_run(&run,
                    scene_text_of("perp: 1\nbodies:\n  hill: {fixed: true, shapes: [{ellipsoid: [2, 3, 0.5]}]}\n"
                                  "  ball: {mass: 0.5, pose: {position: [0, 0, 0.6]}, shapes: [{sphere: 0.1}],\n"
                                  "    velocity: {linear: [%.17g, %.17g, 0], angular: [1, 2, 3]}}\n"
                                  "contacts: {friction: 0}\nrun: {model: instant}\n",
                                  x, y)
                        .of,
                    SET("run.h=0.01"));
        NEAR(instant_only(&run)->contacts[0].fn, fn, TIGHT);
        scene_run_free(&run);
    }
}

/* A disc that rolls on a hill, off its top: a = 2/3 of the pull, and v^2 / (R + r) towards the centre. */
static void test_rolls_on_a_hill(void **unused)
{
    (void)unused;
    const double v = 0.7, at = 0.2, c = cos(at), s = sin(at);
    scene_run run;
    instant_run(&run,
                scene_text_of("perp: 1\nplanar: true\nbodies:\n  hill: {fixed: true, shapes: [{disc: 1}]}\n"
                              "  disc: {mass: 2, pose: {position: [%.17g, %.17g]},\n"
                              "    velocity: {linear: [%.17g, %.17g], angular: %.17g}, shapes: [{disc: 0.2}]}\n"
                              "contacts: {friction: 1}\nrun: {model: instant}\n",
                              1.2 * s, 1.2 * c, v * c, -v * s, -v / 0.2)
                    .of,
                SET("run.h=0.01"));
    const perp_instant_solution *one = instant_only(&run);
    const double along = 2.0 / 3.0 * 9.81 * s, inwards = v * v / 1.2;
    NEAR(one->rate[0], along * c - inwards * s, TIGHT);
    NEAR(one->rate[1], -along * s - inwards * c, TIGHT);
    NEAR(one->rate[2], -along / 0.2, 10 * TIGHT);
    NEAR(one->contacts[0].fn, 2 * (9.81 * c - inwards), TIGHT);
    assert_int_equal(one->contacts[0].mode, PERP_CONTACT_STICK);
    scene_run_free(&run);
}

/* A block on a table that shakes: x = A sin(w t + p), y = B sin(w t + q). */
static void test_driven_table(void **unused)
{
    (void)unused;
    const double w = 20, phase = 1.1, lift = 0.4;
    for (int i = 0; i < 3; i++) {
        const double a = (i == 0 ? 0.003 : 0.02), b = i == 2 ? 0.2 : 0.004;
        const double x2 = -a * w * w * sin(phase), y2 = -b * w * w * sin(lift), fn = 0.5 * (9.81 + y2);
        const double ft = fmax(-0.3 * fn, fmin(0.3 * fn, 0.5 * x2));
        scene_run run;
        instant_run(&run,
                    scene_text_of("perp: 1\nplanar: true\nbodies:\n  table: {driven: {\n"
                                  "      x: {sines: [{amplitude: %.17g, omega: %.17g, phase: %.17g}]},\n"
                                  "      y: {sines: [{amplitude: %.17g, omega: %.17g, phase: %.17g}]}},\n"
                                  "    shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                                  "  block: {mass: 0.5, pose: {position: [0, %.17g]}, shapes: [{point: {}}],\n"
                                  "    free: [x, y], velocity: {linear: [%.17g, %.17g]}}\n"
                                  "contacts: {friction: 0.3}\nrun: {model: instant}\n",
                                  a, w, phase, b, w, lift, b * sin(lift), a * w * cos(phase), b * w * cos(lift))
                        .of,
                    SET("run.h=0.01"));
        const perp_instant_solution *s = instant_only(&run);
        NEAR(s->rate[0], x2, TIGHT); /* the table's own */
        NEAR(s->rate[1], y2, TIGHT);
        NEAR(s->contacts[0].fn, fmax(0.0, fn), TIGHT);
        NEAR(s->contacts[0].ft[0], fn > 0 ? ft : 0.0, TIGHT);
        NEAR(s->rate[3], fn > 0 ? ft / 0.5 : 0.0, TIGHT);
        NEAR(s->rate[4], fmax(y2, -9.81), TIGHT);
        scene_run_free(&run);
    }
}

static const char *const PENDULUM = "perp: 1\nplanar: true\nbodies:\n"
                                    "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: -1}}]}\n"
                                    "  bob: {mass: 2, inertia: 0, com: [0, -1], shapes: [{point: {}, pose: {position: "
                                    "[0, -1]}}]}\n"
                                    "joints:\n  hinge: {type: revolute, parent: world, child: bob, anchor: [0, 0], "
                                    "limits: [-2, 2], position: 0, velocity: 0, damping: 0.5}\n"
                                    "contacts: {friction: 0.25}\nrun: {model: instant}\n";

/* At its lowest point a pendulum has no acceleration but its damper's: -D v / (m l^2), and swings clear of the floor
 * with v^2 / l; at rest the hinge carries it, and no floor's force is needed, or more than none is unique: every fn is
 * an answer, for the hinge takes what the floor gives. */
static void test_pendulum(void **unused)
{
    (void)unused;
    scene_run run;
    instant_run(&run, PENDULUM, SET("joints.hinge.velocity=1.5"));
    NEAR(instant_only(&run)->rate[0], -0.5 * 1.5 / 2, TIGHT);
    NEAR(instant_only(&run)->contacts[0].fn, 0.0, TIGHT);
    scene_run_free(&run);
    instant_run(&run, PENDULUM, SET("joints.hinge.position=2"));
    NEAR(instant_only(&run)->rate[0], -9.81 * sin(2), TIGHT);
    scene_run_free(&run);
    instant_run(&run, PENDULUM, SET("joints.hinge.position=-2", "gravity=[0, 9.81]")); /* the limit holds it */
    NEAR(instant_only(&run)->rate[0], 0.0, TIGHT);
    scene_run_free(&run);
}

/* A mechanism with a loop: what dyn-lcp does in a short step, to first order in it. */
static void test_loop_agrees_with_a_step(void **unused)
{
    (void)unused;
    scene_run now, step;
    instant_run(&now, "four-bar-dynamic", SET("run.model=instant"));
    scene_run_make(&step, "four-bar-dynamic", SET("run.model=dyn-lcp", "run.h=1e-6", "run.until=1e-6"));
    assert_int_equal(step.status, PERP_STATUS_OK);
    for (int k = 0; k < now.model->nv; k++) {
        const double rate = (step.state.v[k] - step.states[0].v[k]) / 1e-6;
        NEAR(instant_only(&now)->rate[k], rate, 1e-3 * (1.0 + fabs(rate)));
    }
    scene_run_free(&now);
    scene_run_free(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curved_ways),     cmocka_unit_test(test_ball_on_an_ellipsoid),
        cmocka_unit_test(test_rolls_on_a_hill), cmocka_unit_test(test_driven_table),
        cmocka_unit_test(test_pendulum),        cmocka_unit_test(test_loop_agrees_with_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
