/* Motion without contact on the dynamic rungs, against integrators of their own: a free top, a pendulum, a double
 * pendulum; what is kept exactly, and the order of convergence, which is 1 on every rung. And rest: a stack that stays
 * where it is.
 *
 * References are Runge-Kutta of fourth order with 20,000 steps, their error below 1e-11 of what is compared. An order
 * of p means that halving h divides the error by 2^p; in the range of h below it is seen to 0.15. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const RUNGS[] = {"dyn-lcp", "dyn-ncp", "dyn-qp"};
enum { RUNG_COUNT = 3, MAX_UNKNOWNS = 7 };

static void run_well(scene_run *run, const char *source, const char *model, double h, int steps)
{
    char chosen[40], size[60], count[60];
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    snprintf(size, sizeof size, "run.h=%.17g", h);
    snprintf(count, sizeof count, "run.steps=%d", steps);
    scene_run_make(run, source, SET(chosen, size, count));
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", model, run->error.message);
    }
}

typedef void derivative(const double *y, double *rate);

static void integrate(derivative *f, int n, double t, double *y)
{
    enum { STEPS = 20000 };
    const double h = t / STEPS;
    double k[4][MAX_UNKNOWNS], x[MAX_UNKNOWNS];
    for (int step = 0; step < STEPS; step++) {
        for (int stage = 0; stage < 4; stage++) {
            const double part = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
            for (int i = 0; i < n; i++) {
                x[i] = y[i] + (stage == 0 ? 0.0 : part * k[stage - 1][i]);
            }
            f(x, k[stage]);
        }
        for (int i = 0; i < n; i++) {
            y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
    }
}

/* Errors at T with h, h/2, h/4, h/8: halving must divide them by about 2, and the last be small. */
static void check_first_order(const double *error, int count)
{
    for (int i = 1; i < count; i++) {
        const double order = log2(error[i - 1] / error[i]);
        if (!(fabs(order - 1.0) <= 0.15)) {
            fail_msg("order %g between errors %g and %g", order, error[i - 1], error[i]);
        }
    }
}

/* ---- a free top -------------------------------------------------------------------------------------------------- */

static const double INERTIA[3] = {0.01, 0.02, 0.03}, SPIN[3] = {1.0, 10.0, 0.5};

static const char TOP[] = "perp: 1\n"
                          "gravity: [0, 0, 0]\n"
                          "bodies:\n"
                          "  top: {mass: 1, inertia: [0.01, 0.02, 0.03], velocity: {angular: [1, 10, 0.5]}}\n"
                          "run: {model: dyn-ncp, h: 0.01, steps: 1}\n";

/* q (wxyz), then w in the body's frame. */
static void top_rate(const double *y, double *rate)
{
    const double *q = y, *w = y + 4;
    rate[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    rate[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    rate[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    rate[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        rate[4 + i] = (INERTIA[j] - INERTIA[k]) * w[j] * w[k] / INERTIA[i];
    }
}

/* Energy, and the size of the angular momentum, of the top at a state. */
static void top_invariants(const run_state *s, double out[2])
{
    const perp_quat turn = {s->q[3], s->q[4], s->q[5], s->q[6]};
    const perp_mat3 rotation = perp_quat_to_mat3(turn);
    const perp_vec3 w = perp_mat3_tmul_vec(&rotation, perp_vec3_make(s->v[3], s->v[4], s->v[5]));
    const double spin[3] = {w.x, w.y, w.z};
    out[0] = out[1] = 0.0;
    for (int i = 0; i < 3; i++) {
        out[0] += 0.5 * INERTIA[i] * spin[i] * spin[i];
        out[1] += INERTIA[i] * INERTIA[i] * spin[i] * spin[i];
    }
    out[1] = sqrt(out[1]);
}

/* The middle axis tumbles, and neither energy nor the size of the momentum changes: the midpoint rule keeps both, to
 * the rounding of 600 steps. */
static void test_top_keeps_energy(void **unused)
{
    (void)unused;
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        double first[2], most = 0.0;
        run_well(&run, TOP, RUNGS[r], 0.02, 600); /* 0.2 rad in a step: not a small one */
        top_invariants(&run.states[0], first);
        for (int k = 0; k <= 600; k++) {
            double now[2];
            top_invariants(&run.states[k], now);
            NEAR(now[0] / first[0], 1.0, 1e-13);
            NEAR(now[1] / first[1], 1.0, 1e-13);
            most = fmax(most, fabs(run.states[k].v[3]));
        }
        assert_true(most > 5.0); /* it does tumble */
        scene_run_free(&run);
    }
}

static void test_top_order(void **unused)
{
    (void)unused;
    double exact[7] = {1.0, 0.0, 0.0, 0.0, SPIN[0], SPIN[1], SPIN[2]};
    integrate(top_rate, 7, 1.0, exact);
    for (int r = 0; r < RUNG_COUNT; r++) {
        double error[4];
        for (int i = 0; i < 4; i++) {
            const int steps = 80 << i;
            scene_run run;
            run_well(&run, TOP, RUNGS[r], 1.0 / steps, steps);
            const double *q = run.states[steps].q + 3;
            const double dot = q[0] * exact[0] + q[1] * exact[1] + q[2] * exact[2] + q[3] * exact[3];
            error[i] = 2.0 * acos(fmin(1.0, fabs(dot)));
            scene_run_free(&run);
        }
        check_first_order(error, 4);
    }
}

/* The centre of mass flies straight, wherever the body's origin is. */
static void test_free_flight(void **unused)
{
    (void)unused;
    static const char TEXT[] = "perp: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "bodies:\n"
                               "  club: {mass: 2, com: [0.1, 0.2, -0.05], inertia: [0.01, 0.02, 0.03],\n"
                               "         velocity: {linear: [1, 2, 3], angular: [3, -2, 5]}}\n"
                               "run: {model: dyn-ncp, h: 0.01, steps: 300}\n";
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, TEXT, RUNGS[r], 0.01, 300);
        const perp_vec3 com = perp_vec3_make(0.1, 0.2, -0.05), w0 = perp_vec3_make(3.0, -2.0, 5.0);
        const perp_vec3 v0 = perp_vec3_add(perp_vec3_make(1.0, 2.0, 3.0), perp_vec3_cross(w0, com));
        const double *q = run.states[300].q;
        const perp_mat3 rotation = perp_quat_to_mat3((perp_quat){q[3], q[4], q[5], q[6]});
        const perp_vec3 arm = perp_mat3_mul_vec(&rotation, com);
        /* the origin goes round the centre of mass at 0.23 m; its path is summed up with an error of h w times that,
         * which does not grow with time */
        NEAR(q[0] + arm.x, com.x + 3.0 * v0.x, 0.01 * 6.2 * 0.23);
        NEAR(q[1] + arm.y, com.y + 3.0 * v0.y, 0.01 * 6.2 * 0.23);
        NEAR(q[2] + arm.z, com.z + 3.0 * v0.z, 0.01 * 6.2 * 0.23);
        scene_run_free(&run);
    }
}

/* ---- pendulums --------------------------------------------------------------------------------------------------- */

static const char PENDULUM[] = "perp: 1\n"
                               "planar: true\n"
                               "bodies:\n"
                               "  rod: {mass: 2, inertia: 0.3, com: [0, -0.5], pose: {position: [0, 0]}}\n"
                               "joints:\n"
                               "  hinge: {type: revolute, parent: world, child: rod, anchor: [0, 0], position: 2}\n"
                               "run: {model: dyn-ncp, h: 0.01, steps: 1}\n";

static void pendulum_rate(const double *y, double *rate)
{
    rate[0] = y[1];
    rate[1] = -2.0 * 9.81 * 0.5 * sin(y[0]) / (0.3 + 2.0 * 0.25);
}

static const char DOUBLE[] = "perp: 1\n"
                             "planar: true\n"
                             "bodies:\n"
                             "  upper: {mass: 2, inertia: 0.3, com: [0, -0.5]}\n"
                             "  lower: {mass: 1, inertia: 0.1, com: [0, -0.4]}\n"
                             "joints:\n"
                             "  a: {type: revolute, parent: world, child: upper, anchor: [0, 0], position: 2}\n"
                             "  b: {type: revolute, parent: upper, child: lower, anchor: [0, -1], position: -0.5}\n"
                             "run: {model: dyn-ncp, h: 0.01, steps: 1}\n";

/* Angles of the rods from the vertical, their rates. */
static void double_rate(const double *y, double *rate)
{
    const double c = 1.0 * 1.0 * 0.4, d = y[0] - y[1];
    const double m11 = 0.3 + 2.0 * 0.25 + 1.0, m12 = c * cos(d), m22 = 0.1 + 0.16;
    const double f1 = -c * sin(d) * y[3] * y[3] - 9.81 * (2.0 * 0.5 + 1.0) * sin(y[0]);
    const double f2 = c * sin(d) * y[2] * y[2] - 9.81 * 0.4 * sin(y[1]);
    const double determinant = m11 * m22 - m12 * m12;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (m22 * f1 - m12 * f2) / determinant;
    rate[3] = (m11 * f2 - m12 * f1) / determinant;
}

static double double_energy(const double *y)
{
    const double c = 0.4 * cos(y[0] - y[1]);
    return 0.5 * 1.8 * y[2] * y[2] + c * y[2] * y[3] + 0.5 * 0.26 * y[3] * y[3] - 9.81 * 2.0 * cos(y[0]) -
           9.81 * 0.4 * cos(y[1]);
}

static void test_pendulum_order(void **unused)
{
    (void)unused;
    double exact[2] = {2.0, 0.0};
    integrate(pendulum_rate, 2, 1.0, exact);
    for (int r = 0; r < RUNG_COUNT; r++) {
        double error[4];
        for (int i = 0; i < 4; i++) {
            const int steps = 80 << i;
            scene_run run;
            run_well(&run, PENDULUM, RUNGS[r], 1.0 / steps, steps);
            error[i] = fabs(run_joint(&run, steps, "hinge") - exact[0]);
            scene_run_free(&run);
        }
        check_first_order(error, 4);
    }
}

static void test_double_pendulum_order(void **unused)
{
    (void)unused;
    double exact[4] = {2.0, 1.5, 0.0, 0.0};
    integrate(double_rate, 4, 1.0, exact);
    for (int r = 0; r < RUNG_COUNT; r++) {
        double error[4];
        for (int i = 0; i < 4; i++) {
            const int steps = 80 << i;
            scene_run run;
            run_well(&run, DOUBLE, RUNGS[r], 1.0 / steps, steps);
            const double a = run_joint(&run, steps, "a"), b = run_joint(&run, steps, "b");
            error[i] = hypot(a - exact[0], a + b - exact[1]);
            scene_run_free(&run);
        }
        check_first_order(error, 4);
    }
}

/* The energy of a double pendulum stays within a band that shrinks with h and does not creep: over the second half of
 * the run its mean is off by less than a twentieth of the band (0.5 % a second would be a third of it). */
static void test_double_pendulum_energy(void **unused)
{
    (void)unused;
    double band[2];
    for (int i = 0; i < 2; i++) {
        const int steps = 300 << i;
        scene_run run;
        run_well(&run, DOUBLE, "dyn-ncp", 6.0 / steps, steps);
        const double start[4] = {2.0, 1.5, 0.0, 0.0}, first = double_energy(start);
        double mean = 0.0;
        band[i] = 0.0;
        for (int k = 1; k <= steps; k++) {
            const double a = run_joint(&run, k, "a"), b = run_joint(&run, k, "b");
            const double *v = run.states[k].v;
            const double now[4] = {a, a + b, v[0], v[0] + v[1]};
            band[i] = fmax(band[i], fabs(double_energy(now) - first));
            mean += k > steps / 2 ? (double_energy(now) - first) / (steps - steps / 2) : 0.0;
        }
        if (!(fabs(mean) < 0.05 * band[i])) {
            fail_msg("the energy creeps: mean %g J, band %g J", mean, band[i]);
        }
        scene_run_free(&run);
    }
    assert_true(band[1] < 0.2 * 31.0); /* J, of 31 that go to and fro, at h = 0.01 */
    assert_true(band[1] < 0.65 * band[0]);
}

/* Four bars that do not run parallel, closed by a loop. */
static const char FOUR_BARS[] =
    "perp: 1\nplanar: true\nbodies:\n"
    "  left: {mass: 0.2, com: [0, -0.15], inertia: 0.0015}\n"
    "  right: {mass: 0.3, com: [0, -0.2], inertia: 0.003}\n"
    "  coupler: {mass: 1, com: [0.2, 0.05], inertia: 0.02}\n"
    "joints:\n"
    "  crank: {type: revolute, parent: world, child: left, anchor: [0, 0], position: -1.0}\n"
    "  elbow: {type: revolute, parent: left, child: coupler, anchor: [0, -0.3], position: 0.9695467778271112}\n"
    "  rocker: {type: revolute, parent: world, child: right, anchor: [0.5, 0], position: -1.0445809217162707}\n"
    "loops:\n  tie: {type: point, a: coupler, b: right, anchor_a: [0.45, 0], anchor_b: [0, -0.35]}\n"
    "run: {model: dyn-ncp, h: 0.01, steps: 1}\n";

/* Of a bar that is turned by a (rate w) about an end that moves by (vx, vy) and is y high: m, inertia, and its centre
 * of mass in its frame. */
static double bar_energy(const double bar[4], double a, double w, double y, const double end[2])
{
    const double x_to = cos(a) * bar[2] - sin(a) * bar[3], y_to = sin(a) * bar[2] + cos(a) * bar[3];
    const double vx = end[0] - w * y_to, vy = end[1] + w * x_to;
    return 0.5 * bar[0] * (vx * vx + vy * vy) + 0.5 * bar[1] * w * w + bar[0] * 9.81 * (y + y_to);
}

static double four_bars_energy(const scene_run *run, int k)
{
    static const double left[4] = {0.2, 0.0015, 0.0, -0.15}, right[4] = {0.3, 0.003, 0.0, -0.2};
    static const double coupler[4] = {1.0, 0.02, 0.2, 0.05}, still[2] = {0.0, 0.0};
    const double a = run_joint(run, k, "crank"), b = a + run_joint(run, k, "elbow"), *v = run->states[k].v;
    const double elbow[2] = {0.3 * cos(a) * v[0], 0.3 * sin(a) * v[0]};
    return bar_energy(left, a, v[0], 0.0, still) + bar_energy(coupler, b, v[0] + v[1], -0.3 * cos(a), elbow) +
           bar_energy(right, run_joint(run, k, "rocker"), v[2], 0.0, still);
}

/* Nor does a loop take or give energy: over the second half of 6 s, in which some 1.9 J go to and fro, the mean is
 * where it was to 1 %. With trees that drift as if the loop were open it is 0.77 J lower then. */
static void test_loop_energy(void **unused)
{
    (void)unused;
    for (int r = 0; r < RUNG_COUNT; r++) {
        enum { STEPS = 600 };
        scene_run run;
        run_well(&run, FOUR_BARS, RUNGS[r], 0.01, STEPS);
        const double first = four_bars_energy(&run, 0);
        double mean = 0.0, low = INFINITY;
        for (int k = STEPS / 2 + 1; k <= STEPS; k++) {
            mean += (four_bars_energy(&run, k) - first) / (STEPS / 2);
            low = fmin(low, four_bars_energy(&run, k) - first);
        }
        if (!(fabs(mean) < 0.019 && low > -0.1)) { /* the band itself is of first order in h */
            fail_msg("%s: the energy's mean is off by %g J, at the least %g J", RUNGS[r], mean, low);
        }
        scene_run_free(&run);
    }
}

/* With eps the same motion runs in a time eps times as long: steps of eps h end at the same places. Gravity, Coriolis
 * forces and what a curved way misses must scale alike; a factor left out of any is first order in h, 1e-2 here. */
static void test_time_scale_is_another_clock(void **unused)
{
    (void)unused;
    enum { STEPS = 100 };
    for (int k = 0; k < 2 * RUNG_COUNT; k++) {
        const int r = k / 2;
        const char *text = k % 2 ? FOUR_BARS : DOUBLE;
        scene_run plain;
        run_well(&plain, text, RUNGS[r], 0.01, STEPS);
        for (int e = 0; e < 2; e++) {
            const double eps = e == 0 ? 0.25 : 3.0;
            char chosen[40], size[60], scale[60];
            snprintf(chosen, sizeof chosen, "run.model=%s", RUNGS[r]);
            snprintf(size, sizeof size, "run.h=%.17g", 0.01 * eps);
            snprintf(scale, sizeof scale, "run.time_scale=%.17g", eps);
            scene_run run;
            scene_run_make(&run, text, SET(chosen, size, scale, "run.steps=100"));
            assert_int_equal(run.status, PERP_STATUS_OK);
            for (int i = 0; i < 2; i++) {
                const char *joint = k % 2 ? (i == 0 ? "crank" : "rocker") : (i == 0 ? "a" : "b");
                /* rounding, which the swing multiplies by less than 1e3 in a second */
                assert_true(fabs(run_joint(&run, STEPS, joint) - run_joint(&plain, STEPS, joint)) < 1e-10);
                assert_true(fabs(eps * run.states[STEPS].v[i] - plain.states[STEPS].v[i]) < 1e-9);
            }
            scene_run_free(&run);
        }
        scene_run_free(&plain);
    }
}

/* ---- rest -------------------------------------------------------------------------------------------------------- */

static void write_stack(char *text, size_t size)
{
    int length = snprintf(text, size,
                          "perp: 1\nbodies:\n"
                          "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n");
    for (int i = 0; i < 10; i++) {
        length += snprintf(text + length, size - (size_t)length,
                           "  c%d: {mass: 1, pose: {position: [0, 0, %.2f]}, shapes: [{box: [0.1, 0.1, 0.1]}]}\n", i,
                           0.05 + 0.1 * i);
    }
    snprintf(text + length, size - (size_t)length,
             "contacts: {friction: 0.5}\nrun: {model: dyn-ncp, h: 0.01, steps: 1, tolerance: 1.0e-12}\n");
}

/* 10 cubes at a tolerance of 1e-12: no sleeping, a rest that the solution says. A second here, all 60 in
 * tests/cli/test_dynamic.py: 1e-9 m in 60 s are 1.6e-11 m in one. */
static void test_stack_rests(void **unused)
{
    (void)unused;
    char text[2000];
    write_stack(text, sizeof text);
    for (int r = 0; r < RUNG_COUNT; r++) {
        scene_run run;
        run_well(&run, text, RUNGS[r], 0.01, 100);
        for (int i = 0; i < run.model->nq; i++) {
            NEAR(run.states[100].q[i], run.states[0].q[i], 1.6e-11);
        }
        NEAR(run.result.residuals.penetration, 0.0, 1e-12);
        scene_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_keeps_energy),      cmocka_unit_test(test_top_order),
        cmocka_unit_test(test_free_flight),           cmocka_unit_test(test_pendulum_order),
        cmocka_unit_test(test_double_pendulum_order), cmocka_unit_test(test_double_pendulum_energy),
        cmocka_unit_test(test_loop_energy),           cmocka_unit_test(test_time_scale_is_another_clock),
        cmocka_unit_test(test_stack_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
