/* The unit of forces of a step. An impact is a force of m v / h, beside which all that is applied may be nothing: it is
 * solved at any h, its answer converges, and nothing is proven that the law's tolerance leaves open. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static const char *const RUNGS[] = {"dyn-ncp", "dyn-lcp", "dyn-qp"};
enum { RUNG_COUNT = 3 };

/* ---- two links against a wall ------------------------------------------------------------------------------------ */

typedef struct swing {
    double restitution, friction, gravity, mass; /* of the second link, kg */
    double speed[2];                             /* of the joints, rad/s */
    double wall;                                 /* m: it stands at x */
} swing;

static scene_text swing_text(const swing *s, const char *model, double h, double until)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [0, %.17g]\nbodies:\n"
                         "  wall: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: %.17g}}]}\n"
                         "  l1: {mass: 1, inertia: 0.02, com: [0, -0.2]}\n"
                         "  l2: {mass: %.17g, inertia: %.17g, com: [0, -0.15],\n"
                         "       shapes: [{disc: 0.02, pose: {position: [0, -0.3]}}]}\n"
                         "joints:\n"
                         "  a: {type: revolute, parent: world, child: l1, position: 0.2, velocity: %.17g}\n"
                         "  b: {type: revolute, parent: l1, child: l2, anchor: [0, -0.4], position: 0.3, velocity: "
                         "%.17g}\n"
                         "contacts: {pairs: {\"wall l2\": {friction: %.17g, restitution: %.17g}}}\n"
                         "run: {model: %s, h: %.17g, until: %.17g}\n",
                         -s->gravity, -s->wall, s->mass, s->mass / 60.0, s->speed[0], s->speed[1], s->friction,
                         s->restitution, model, h, until);
}

/* Towards the wall. */
static double tip_speed(const double *q, const double *v)
{
    return 0.4 * cos(q[0]) * v[0] + 0.3 * cos(q[0] + q[1]) * (v[0] + v[1]);
}

typedef struct last_state {
    double q[2], v[2];
} last_state;

static bool keep_last(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    last_state *last = context;
    (void)step;
    (void)info;
    memcpy(last->q, state->q, sizeof last->q);
    memcpy(last->v, state->v, sizeof last->v);
    return true;
}

static last_state swing_end(const swing *s, const char *model, double h, double until)
{
    last_state last = {{0}, {0}};
    const scene_text text = swing_text(s, model, h, until);
    scene_run_watched(text.of, SET("run.time_scale=1"), keep_last, &last, NULL);
    return last;
}

static double distance(const last_state *x, const last_state *y)
{
    double most = 0.0;
    for (int i = 0; i < 2; i++) {
        most = fmax(most, fmax(fabs(x->q[i] - y->q[i]), fabs(x->v[i] - y->v[i])));
    }
    return most;
}

/* Of first order: the moment of the impact is known to h. */
static void test_impacts_converge(void **unused)
{
    (void)unused;
    static const swing SWINGS[] = {{0.5, 0.3, 0.0, 0.6, {1.5, 0.4}, 0.3},
                                   {0.3, 0.1, 0.0, 5.0, {2.5, 1.0}, 0.31},
                                   {0.9, 0.0, 9.81, 0.05, {2.0, 1.5}, 0.29},
                                   {0.2, 0.3, 9.81, 0.6, {3.0, -1.0}, 0.32}};
    for (size_t k = 0; k < sizeof SWINGS / sizeof *SWINGS; k++) {
        for (int r = 0; r < RUNG_COUNT; r++) {
            static const double H[] = {1e-3, 2e-4, 1e-4, 2e-5};
            const last_state limit = swing_end(&SWINGS[k], RUNGS[r], 4e-6, 0.1);
            for (int i = 0; i < 4; i++) {
                const last_state end = swing_end(&SWINGS[k], RUNGS[r], H[i], 0.1);
                if (!(distance(&end, &limit) <= 200.0 * H[i])) { /* 1/s^2, rad/s^2: accelerations are about 50 here */
                    fail_msg("%s, swing %zu, h = %g: off by %g", RUNGS[r], k, H[i], distance(&end, &limit));
                }
            }
        }
    }
}

/* Newton's law of impact at the tip, whatever h and whatever the link weighs. */
static void test_impact_at_any_h(void **unused)
{
    (void)unused;
    static const double E[] = {0.2, 0.5, 1.0}, MASS[] = {1e-4, 0.6, 1e4};
    for (double h = 1e-3; h > 5e-8; h *= 0.1) {
        for (int i = 0; i < 9 * RUNG_COUNT; i++) {
            const char *model = RUNGS[i / 9];
            swing s = {E[i % 3], 0.3, 0.0, MASS[i / 3 % 3], {1.5, 0.4}, 0.0};
            s.friction = strcmp(model, "dyn-qp") == 0 ? 0.0 : s.friction; /* which lifts what slides */
            const double start[2] = {0.2, 0.3}, before = tip_speed(start, s.speed);
            s.wall = 0.4 * sin(0.2) + 0.3 * sin(0.5) + 0.02 + 0.5 * h * before;
            const scene_text text = swing_text(&s, model, h, 3.0 * h);
            scene_run run;
            scene_run_make(&run, text.of, SET("run.time_scale=1"));
            if (run.status != PERP_STATUS_OK) {
                fail_msg("%s, h = %g, mass %g: %s", model, h, s.mass, run.error.message);
            }
            const double after =
                0.4 * cos(0.2) * run.states[1].v[0] + 0.3 * cos(0.5) * (run.states[1].v[0] + run.states[1].v[1]);
            NEAR(after / before, -s.restitution, 1e-8);
            scene_run_free(&run);
        }
    }
}

/* A joint's limit stops what has no weight. */
static void test_limit_at_any_h(void **unused)
{
    (void)unused;
    for (double h = 1e-3; h > 5e-8; h *= 0.1) {
        for (int r = 0; r < RUNG_COUNT; r++) {
            const scene_text text =
                scene_text_of("perp: 1\ngravity: [0, 0, 0]\nbodies:\n  rotor: {mass: 3, inertia: [.1, .2, .3]}\n"
                              "joints:\n  axle: {type: revolute, parent: world, child: rotor, axis: [0, 0, 1],\n"
                              "         velocity: 10, limits: [-1, %.17g]}\n"
                              "run: {model: %s, h: %.17g, steps: 4}\n",
                              15.0 * h, RUNGS[r], h);
            scene_run run;
            scene_run_make(&run, text.of, SET("run.time_scale=1"));
            assert_int_equal(run.status, PERP_STATUS_OK);
            NEAR(run_joint(&run, 4, "axle") / (15.0 * h), 1.0, 1e-8);
            NEAR(run.states[4].v[0], 0.0, 1e-6);
            scene_run_free(&run);
        }
    }
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

static const char *const ALL[] = {"qs-lcp",       "qs-ncp",  "qs-opt",  "qs-lp", "qs-impedance-lcp", "qs-qp", "qs-cone",
                                  "quasidynamic", "dyn-ncp", "dyn-lcp", "dyn-qp"};
enum { ALL_COUNT = 11 };

/* A box between walls that are too near to each other by less than the law's tolerance can tell: that the commands
 * cannot be met is not proven. */
static void test_nothing_is_proven_within_the_tolerance(void **unused)
{
    (void)unused;
    static const double OVERLAP[] = {1e-11, 1e-10, 1e-9, 1e-8, 2e-8, 2.5e-8}; /* L = sqrt 2; either wall has 1e-8 L */
    for (int i = 0; i < 6 * ALL_COUNT; i++) {
        const double overlap = OVERLAP[i / ALL_COUNT];
        const char *model = ALL[i % ALL_COUNT];
        const scene_text text =
            scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                          "  left: {fixed: true, shapes: [{halfplane: {normal: [1, 0]}}]}\n"
                          "  right: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: %.17g}}]}\n"
                          "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}\n"
                          "  box: {mass: 1, pose: {position: [%.17g, 0.5]}, shapes: [{box: [1, 1]}]}\n"
                          "contacts: {friction: 0.3}\nrun: {model: %s, h: 0.01, steps: 5}\n",
                          overlap - 1.0, 0.5 * (1.0 - overlap), model);
        scene_run run;
        scene_run_make(&run, text.of, SET("run.tolerance=1.0e-8"));
        if (run.status == PERP_STATUS_INFEASIBLE) {
            fail_msg("%s, overlap %g: %s", model, overlap, run.error.message);
        }
        scene_run_free(&run);
    }
}

/* Beyond it it is, at whatever size: a wall that is driven into what stands against another one. */
static void test_what_cannot_be_met_is_proven(void **unused)
{
    (void)unused;
    static const double SIZE[] = {1e-2, 1.0, 100.0};
    for (int i = 0; i < 3 * ALL_COUNT; i++) {
        const double size = SIZE[i / ALL_COUNT];
        const char *model = ALL[i % ALL_COUNT];
        const scene_text text =
            scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                          "  left: {fixed: true, shapes: [{halfplane: {normal: [1, 0]}}]}\n"
                          "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}\n"
                          "  press: {driven: {x: {offset: %.17g, rate: %.17g}, y: 0, theta: 0},\n"
                          "          shapes: [{halfplane: {normal: [-1, 0]}}]}\n"
                          "  box: {mass: 1, pose: {position: [%.17g, %.17g]}, shapes: [{box: [%.17g, %.17g]}]}\n"
                          "contacts: {friction: 0.3, exclude: [[left, press], [ground, press]]}\n"
                          "run: {model: %s, h: 0.01, steps: 5}\n",
                          size, -0.1 * size, 0.5 * size, 0.5 * size, size, size, model);
        scene_run run;
        scene_run_make(&run, text.of, SET("run.tolerance=1.0e-8"));
        const bool dynamic = strncmp(model, "dyn", 3) == 0;
        if (dynamic ? run.status == PERP_STATUS_OK : run.status != PERP_STATUS_INFEASIBLE) {
            fail_msg("%s, size %g: %s", model, size, run.error.message);
        }
        assert_string_equal(run.error.code, "infeasible-command");
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impacts_converge),
        cmocka_unit_test(test_impact_at_any_h),
        cmocka_unit_test(test_limit_at_any_h),
        cmocka_unit_test(test_nothing_is_proven_within_the_tolerance),
        cmocka_unit_test(test_what_cannot_be_met_is_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
