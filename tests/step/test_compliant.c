/* The rung `compliant` against tables that were computed elsewhere and against closed forms: of the continuum, to first
 * order in h, and of the discrete step, exactly.
 *
 * Tolerances: tables print 9 to 11 digits; closed forms of the discrete step hold to rounding and to what the step's
 * law leaves, 1e-8 of weights over stiffnesses: 1e-10 m where nothing else is said. */
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

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

enum { MOST_ELEMENTS = 64 };

/* ---- runs of any length ------------------------------------------------------------------------------------------ */

typedef struct watched {
    double q[16], v[16];         /* at the end */
    perp_contact_record contact; /* the first one's, of the last step */
    int contacts, element_count;
    perp_element_record elements[MOST_ELEMENTS];
    double largest_fn, first_fn; /* N: the first step's that has some */
    double energy, growth;       /* kinetic energy at the end; largest growth of kinetic and elastic energy in a step */
    perp_run_result result;
} watched;

typedef struct watcher {
    watched *out;
    const perp_model *model;
    double stiffness; /* of every element, in all directions; 0: elastic energy is not looked at */
    double last;
} watcher;

static double kinetic_energy(const perp_model *model, const perp_state *state)
{
    perp_kinematics *kinematics = NULL;
    double mass[256], dense[256], energy = 0.0;
    assert_true(model->nv <= 16 && model->mass_size <= 256);
    assert_int_equal(perp_kinematics_create(model, NULL, &kinematics, NULL), PERP_STATUS_OK);
    perp_kinematics_update(model, state->q, kinematics);
    perp_mass_matrix(model, kinematics, mass);
    perp_mass_matrix_expand(model, mass, dense);
    for (int i = 0; i < model->nv; i++) {
        for (int k = 0; k < model->nv; k++) {
            energy += 0.5 * dense[i * model->nv + k] * state->v[i] * state->v[k];
        }
    }
    perp_kinematics_free(kinematics);
    return energy;
}

static bool watch(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    watcher *w = context;
    watched *out = w->out;
    double energy = kinetic_energy(w->model, state);
    assert_true(info->element_count <= MOST_ELEMENTS);
    out->contacts = info->contact_count;
    out->contact = info->contact_count > 0 ? info->contacts[0] : (perp_contact_record){.fn = 0.0};
    out->element_count = info->element_count;
    for (int i = 0; i < info->element_count; i++) {
        out->elements[i] = info->elements[i];
        for (int r = 0; r < 3; r++) {
            energy += 0.5 * w->stiffness * info->elements[i].deformation[r] * info->elements[i].deformation[r];
        }
    }
    out->largest_fn = fmax(out->largest_fn, out->contact.fn);
    out->first_fn = out->first_fn > 0.0 ? out->first_fn : out->contact.fn;
    out->growth = step == 0 ? -INFINITY : fmax(out->growth, energy - w->last);
    w->last = out->energy = energy;
    for (int i = 0; i < w->model->nq && i < 16; i++) {
        out->q[i] = state->q[i];
    }
    for (int i = 0; i < w->model->nv && i < 16; i++) {
        out->v[i] = state->v[i];
    }
    return true;
}

static void run_text(watched *out, const char *text, const char *const *settings, double stiffness)
{
    static perp_diagnostics diagnostics;
    perp_scene_load_options options = {.settings = settings};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_state state = {0};
    perp_error error = {0};
    while (settings && settings[options.setting_count]) {
        options.setting_count++;
    }
    memset(&diagnostics, 0, sizeof diagnostics);
    memset(out, 0, sizeof *out);
    perp_scene_load_text(text, strlen(text), "test", NULL, &options, &scene, &diagnostics);
    if (!scene) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    watcher w = {out, model, stiffness, 0.0};
    if (perp_run(model, &scene->run, NULL, watch, &w, &state, &out->result, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(out->result.residuals.balance <= 1e-8 && out->result.residuals.complementarity <= 1e-8 &&
                out->result.residuals.cone <= 1e-8);
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        assert_int_equal(out->result.fallbacks[i], 0);
    }
    perp_run_result_free(&out->result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Song's billiard ball; 1 s and a step. */
static void test_masse_ball(void **unused)
{
    static const struct {
        const char *damping, *gamma, *steps, *height;
        double x, y;
    } rows[] = {{"100", "1e-4", "101", "0.05", 0.56334012704, -0.05332484120},
                {"0", "1e-4", "101", "0.05", 0.5633401270432751, -0.05332484119590678},
                {"0", "1e-4", "100", "0.05", 0.5590544127575607, -0.05118198405304964},
                {"10", "1e-4", "100", "0.05", 0.5590544127559611, -0.05118198405504911},
                {"0", "1e-4", "101", "0.049804", 0.563315638987809, -0.05335545126523973}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char damping[64], gamma[64], steps[64], height[64];
        scene_run run;
        snprintf(damping, sizeof damping, "compliance.damping=%s", rows[i].damping);
        snprintf(gamma, sizeof gamma, "compliance.gamma=%s", rows[i].gamma);
        snprintf(steps, sizeof steps, "run.steps=%s", rows[i].steps);
        snprintf(height, sizeof height, "bodies.ball.pose.position.2=%s", rows[i].height);
        scene_run_make(&run, "masse-ball",
                       SET("run.model=compliant", "compliance.stiffness=1e4", damping, gamma, steps, height));
        assert_int_equal(run.status, PERP_STATUS_OK);
        NEAR(run_body(&run, run.count - 1, "ball", 0), rows[i].x, 1e-10);
        NEAR(run_body(&run, run.count - 1, "ball", 1), rows[i].y, 1e-10);
        NEAR(run_body(&run, run.count - 1, "ball", 2), 0.049804, 1e-10);
        scene_run_free(&run);
    }
}

static const char *const IMPACT = "perp: 1\n"
                                  "gravity: [0, 0, -9.8]\n"
                                  "bodies:\n"
                                  "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                  "  ball: {mass: 0.2, pose: {position: [0, 0, 0.6]},\n"
                                  "    velocity: {linear: [1.033398238, 0, -1.915092729]}, shapes: [{sphere: 0.05}]}\n"
                                  "contacts: {friction: 0.2}\n"
                                  "compliance: {stiffness: 1.0e4, damping: 10, gamma: 0}\n"
                                  "run: {model: compliant, h: 1.0e-4, until: 0.45}\n";

/* The boundary-value problem's answer, discrete: from (0, 0.6) to (0.4, 0.4) in 4500 steps by one impact. Initial
 * velocities are given to 1e-9 m/s. */
static void test_impact_lands(void **unused)
{
    watched run;
    (void)unused;
    run_text(&run, IMPACT, NULL, 0.0);
    NEAR(run.q[0], 0.4, 1e-9);
    NEAR(run.q[2], 0.4, 1e-9);
    NEAR(run.v[0], 0.783728858836005, 1e-8);
    NEAR(run.v[2], 0.2469559390765942, 1e-8);
    NEAR(run.v[4], 12.483468973640473, 1e-7);
}

/* ---- impacts ----------------------------------------------------------------------------------------------------- */

/* The speed after an impact at speed 1 of a mass on a spring and damper that only push. With a = zeta w, b = w sqrt(1 -
 * zeta^2) the way is exp(-a t) sin(b t) / b until its second derivative, the force, is 0. */
static double restitution(double zeta)
{
    const double b = sqrt(1.0 - zeta * zeta), a = zeta;
    double phase = atan2(2.0 * a * b, a * a - b * b);
    phase = phase > 0.0 ? phase : phase + acos(-1.0);
    return -exp(-a * phase / b) * (cos(phase) - a / b * sin(phase));
}

static const char *const DROP = "perp: 1\n"
                                "gravity: [0, 0, 0]\n"
                                "bodies:\n"
                                "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                "  ball: {mass: 0.2, pose: {position: [0, 0, 0.05]}, velocity: {linear: [0, 0, -1]},\n"
                                "    shapes: [{sphere: 0.05}]}\n"
                                "contacts: {friction: 0.2}\n"
                                "compliance: {stiffness: 1.0e4, damping: 10, gamma: 0}\n"
                                "run: {model: compliant, h: 1.0e-4, until: 0.02}\n";

/* First order in h, and to the continuum: what two steps of h and h / 2 extrapolate to is off by O(h^2). */
static void test_restitution(void **unused)
{
    static const double DAMPING[] = {0.0, 5.0, 10.0, 20.0, 40.0};
    (void)unused;
    NEAR(restitution(0.0), 1.0, 1e-15);
    for (size_t i = 0; i < sizeof DAMPING / sizeof *DAMPING; i++) {
        char damping[64], h[3][32];
        double error[3];
        const double e = restitution(DAMPING[i] / (2.0 * sqrt(0.2 * 1e4)));
        snprintf(damping, sizeof damping, "compliance.damping=%g", DAMPING[i]);
        for (int k = 0; k < 3; k++) {
            watched run;
            snprintf(h[k], sizeof h[k], "run.h=%.9g", 2e-5 / (1 << k));
            run_text(&run, DROP, SET(damping, h[k]), 1e4);
            assert_true(run.growth <= 1e-12);
            error[k] = run.v[2] - e;
        }
        assert_true(fabs(error[2]) < 2e-3);
        NEAR(error[0] / error[1], 2.0, 0.06);
        NEAR(2.0 * error[2] - error[1], 0.0, 2e-5);
    }
}

/* Steps much longer than the impact: it is stopped, not thrown. */
static void test_large_steps(void **unused)
{
    watched run;
    (void)unused;
    run_text(&run, IMPACT, SET("run.h=0.05", "compliance.stiffness=1e6", "run.until=2"), 0.0);
    NEAR(run.q[2], 0.05 - 0.2 * 9.8 / 1e6, 1e-9);
    NEAR(run.v[2], 0.0, 1e-9);
    run_text(&run, DROP, SET("run.h=0.05", "compliance.stiffness=1e6", "run.until=1"), 1e6);
    assert_true(run.growth <= 1e-15 && run.energy < 0.1 * 0.5 * 0.2);
}

/* (K + C d) delta: no force at first touch, and the restitution of that law, integrated here by the midpoint rule with
 * steps so short that theirs is no error. */
static void test_hunt_crossley(void **unused)
{
    const double m = 0.2, k = 1e4, c = 2e3, h = 1e-7;
    double x = 0.0, v = 1.0, error[2];
    (void)unused;
    do {
        const double middle = v - 0.5 * h * (k + c * v) * x / m;
        const double at = x + 0.5 * h * v;
        v -= h * (k + c * middle) * at / m;
        x += h * middle;
    } while (x > 0.0 && k + c * v > 0.0);
    for (int i = 0; i < 2; i++) {
        watched run;
        run_text(&run, DROP,
                 SET("compliance.law=hunt-crossley", "compliance.damping=2e3", i == 0 ? "run.h=2e-5" : "run.h=1e-5"),
                 1e4);
        error[i] = run.v[2] + v;
        assert_true(run.growth <= 1e-12);
        assert_true(run.first_fn <= 2e-5 * (k + c) * 1.001);
    }
    NEAR(error[0] / error[1], 2.0, 0.06);
    NEAR(2.0 * error[1] - error[0], 0.0, 2e-5);
}

/* ---- friction ---------------------------------------------------------------------------------------------------- */

static const char *const BLOCK = "perp: 1\n"
                                 "bodies:\n"
                                 "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                 "  grain: {mass: 0.5, free: [x, y, z], pose: {position: [0, 0, -4.905e-4]},\n"
                                 "    velocity: {linear: [0.005, 0, 0]}, shapes: [{point: {}}]}\n"
                                 "contacts: {friction: 0.5}\n"
                                 "compliance: {stiffness: [1.0e4, 4.0e3, 3.0e3], damping: [10, 6, 2], gamma: 0}\n"
                                 "run: {model: compliant, h: 0.002, steps: 40}\n";

/* What sticks swings on its tangential spring: m (v+ - v) / h = K delta+ + C d with d = -v+. */
static void test_stick_is_a_spring(void **unused)
{
    double x = 0.0, v = 0.005, delta = 0.0;
    watched run;
    (void)unused;
    run_text(&run, BLOCK, NULL, 0.0);
    for (int i = 0; i < 40; i++) {
        const double h = 0.002, m = 0.5, k = 4e3, c = 6.0;
        v = (m * v + h * k * delta) / (m + h * h * k + h * c);
        delta -= h * v;
        x += h * v;
        assert_true(fabs(k * delta - c * v) < 0.5 * 0.5 * 9.81); /* it does stick */
    }
    NEAR(run.q[0], x, 1e-12);
    NEAR(run.v[0], v, 1e-10);
    NEAR(run.q[2], -4.905e-4, 1e-10);
    NEAR(run.elements[0].deformation[1], delta, 1e-12);
    assert_int_equal(run.contact.mode, PERP_CONTACT_STICK);
}

/* A push below the limit moves it by the spring's share; with rigid tangents not at all, and beyond the limit it slides
 * with the rest of the force. */
static void test_push(void **unused)
{
    static const char *const PUSH = "forces=[{body: grain, force: [1, 0, 0]}]";
    static const char *const REST = "bodies.grain.velocity.linear=[0, 0, 0]";
    watched run;
    (void)unused;
    run_text(&run, BLOCK, SET(PUSH, REST, "run.steps=600"), 0.0);
    NEAR(run.q[0], 1.0 / 4e3, 1e-9);
    NEAR(run.contact.ft[0], -1.0, 1e-6);
    run_text(&run, BLOCK, SET(PUSH, REST, "run.steps=600", "compliance.tangential=rigid"), 0.0);
    NEAR(run.q[0], 0.0, 1e-9);
    NEAR(run.contact.ft[0], -1.0, 1e-6);
    run_text(&run, BLOCK, SET("forces=[{body: grain, force: [4, 0, 0]}]", REST, "compliance.tangential=rigid"), 0.0);
    NEAR(run.v[0], 40 * 0.002 * (4.0 - 0.5 * 0.5 * 9.81) / 0.5, 1e-9);
    assert_int_equal(run.contact.mode, PERP_CONTACT_SLIDE);
}

/* gamma widens the cone: (mu fn + gamma)^2 - gamma^2, at forces that it is small beside and that it is not. */
static void test_gamma(void **unused)
{
    static const double GAMMA[] = {1e-4, 0.1, 3.0};
    (void)unused;
    for (size_t i = 0; i < sizeof GAMMA / sizeof *GAMMA; i++) {
        char gamma[64];
        watched run;
        const double limit = 0.5 * 0.5 * 9.81, radius = sqrt(pow(limit + GAMMA[i], 2) - GAMMA[i] * GAMMA[i]);
        snprintf(gamma, sizeof gamma, "compliance.gamma=%g", GAMMA[i]);
        run_text(&run, BLOCK, SET(gamma, "forces=[{body: grain, force: [9, 0, 0]}]"), 0.0);
        NEAR(-run.contact.ft[0], radius, 1e-7);
        assert_int_equal(run.contact.mode, PERP_CONTACT_SLIDE);
    }
}

/* K / e and C / sqrt(e), whatever they are. */
static void test_stiffness_scale(void **unused)
{
    watched scaled, given;
    (void)unused;
    run_text(&scaled, BLOCK, SET("compliance.stiffness_scale=0.25"), 0.0);
    run_text(&given, BLOCK, SET("compliance.stiffness=[4.0e4, 1.6e4, 1.2e4]", "compliance.damping=[20, 12, 4]"), 0.0);
    assert_memory_equal(scaled.q, given.q, sizeof given.q);
    assert_memory_equal(scaled.v, given.v, sizeof given.v);
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* A ball on a patch of 9 elements, at rest in depth: weight 1 N over 9 times 1000 N/m. */
static const char *const PATCH = "perp: 1\n"
                                 "gravity: [0, 0, -10]\n"
                                 "bodies:\n"
                                 "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                 "  ball: {mass: 0.1, inertia: [1.0e-4, 1.0e-4, 1.0e-4],\n"
                                 "    pose: {position: [0, 0, 0.0498888888888888889]}, shapes: [{sphere: 0.05}]}\n"
                                 "contacts: {friction: 0.5}\n"
                                 "compliance: {stiffness: 1000, damping: 3, elements: 3, size: 0.03, gamma: 0}\n"
                                 "run: {model: compliant, h: 0.001, steps: 20}\n";

/* Spin: every element but the middle one slips around it, and the moment is mu N times the mean distance, for the
 * middle one does not move. */
static void test_torsion(void **unused)
{
    const double mean = (4.0 * 0.01 + 4.0 * 0.01 * sqrt(2.0)) / 9.0;
    double w[2], moment = 0.0;
    watched run;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        run_text(&run, PATCH, SET("bodies.ball.velocity.angular=[0, 0, 150]", i == 0 ? "run.steps=20" : "run.steps=21"),
                 0.0);
        w[i] = run.v[5];
    }
    for (int i = 0; i < run.element_count; i++) {
        const perp_element_record *e = &run.elements[i];
        moment += e->offset[0] * e->ft[1] - e->offset[1] * e->ft[0];
    }
    assert_int_equal(run.element_count, 9);
    assert_int_equal(run.contact.element_count, 9);
    NEAR(run.contact.fn, 1.0, 1e-9);
    NEAR(moment, -0.5 * 1.0 * mean, 1e-9);
    NEAR(1e-4 * (w[1] - w[0]) / 0.001, moment, 1e-9);
}

/* Roll: the elements differ by C times the rate at which the patch turns on each, so that their moment against rolling
 * is C sum r^2 omega, whatever h; their springs carry the weight, at the depth of one that does not roll. */
static void test_rolling(void **unused)
{
    static const char *const H[] = {"run.h=0.008", "run.h=0.002", "run.h=0.0005"};
    static const double STEP[] = {0.008, 0.002, 0.0005};
    const double w = 2.0, squares = 6.0 * 0.01 * 0.01;
    (void)unused;
    for (int k = 0; k < 3; k++) {
        double moment = 0.0;
        watched run;
        run_text(&run, PATCH,
                 SET("bodies.ball.velocity={linear: [0.1, 0, 0], angular: [0, 2, 0]}", "contacts.friction=0",
                     "run.steps=1", H[k]),
                 0.0);
        NEAR(run.contact.contact.phi, -1.0 / 9e3, 1e-10);
        for (int i = 0; i < run.element_count; i++) {
            const perp_element_record *e = &run.elements[i];
            NEAR(e->fn, 1.0 / 9.0 + 3.0 * run.v[4] * e->offset[0], 1e-9);
            NEAR(e->deformation[0], 1.0 / 9e3, 1e-10);
            moment -= e->offset[0] * e->fn;
        }
        NEAR(moment, -3.0 * squares * run.v[4], 1e-10); /* the law's 1e-8 N at an arm of 0.01 m: tilt is iterated */
        NEAR(1e-4 * (run.v[4] - w) / STEP[k], moment, 1e-9); /* Euler's equation of the ball */
    }
}

/* Rolling for long: as deep as at rest, and first order in h. Rolling resistance alone slows it. */
static void test_rolls_on(void **unused)
{
    static const char *const STEPS[] = {"run={model: compliant, h: 0.008, until: 0.4}",
                                        "run={model: compliant, h: 0.004, until: 0.4}",
                                        "run={model: compliant, h: 0.002, until: 0.4}"};
    watched run[3];
    (void)unused;
    for (int k = 0; k < 3; k++) {
        run_text(&run[k], PATCH, SET("bodies.ball.velocity={linear: [0.1, 0.02, 0], angular: [-0.4, 2, 1]}", STEPS[k]),
                 0.0);
        NEAR(run[k].contact.contact.phi, -1.0 / 9e3, 1e-8);
    }
    const double coarse = run[0].v[4] - run[1].v[4], fine = run[1].v[4] - run[2].v[4];
    NEAR(coarse / fine, 2.0, 0.2);
}

/* Sum over the patch's elements of max(0, -C tau - (K + C / h) phi) at a gap phi > 0, tau = -omega r. */
static double carried(const watched *run, double h, double phi)
{
    double sum = 0.0;
    for (int i = 0; i < run->element_count; i++) {
        sum += fmax(0.0, 3.0 * run->v[4] * run->elements[i].offset[0] - (1e3 + 3.0 / h) * phi);
    }
    return sum;
}

/* Faster than its weight presses it on, C r omega = 0.9 N of each of three elements in front: at any depth dampers
 * would carry more than 1 N, and at any gap there is nothing to carry. It rides in between, on the gap that the front
 * falls through within a step, and carries its weight: no more than h r omega, first order in h. docs/models.md. What
 * carries no force keeps no deformation. */
static void test_rides(void **unused)
{
    static const char *const STEPS[] = {"run={model: compliant, h: 0.008, until: 0.4}",
                                        "run={model: compliant, h: 0.002, until: 0.4}",
                                        "run={model: compliant, h: 0.0005, until: 0.4}"};
    static const double H[] = {0.008, 0.002, 0.0005};
    double gap[3];
    (void)unused;
    for (int k = 0; k < 3; k++) {
        watched run;
        run_text(&run, PATCH,
                 SET("bodies.ball.velocity={linear: [0.1, 0, 0], angular: [0, 30, 0]}", "contacts.friction=0", STEPS[k],
                     "bodies.ball.inertia=[1, 1, 1]"),
                 0.0);
        gap[k] = run.contact.contact.phi;
        NEAR(run.contact.fn, 1.0, 1e-6);
        assert_true(gap[k] > 0.0 && gap[k] <= H[k] * 0.01 * run.v[4]);
        NEAR(carried(&run, H[k], gap[k]), 1.0, 1e-6);
        for (int i = 0; i < run.element_count; i++) {
            NEAR(run.elements[i].deformation[0], 0.0, 1e-9);
        }
    }
    assert_true(gap[2] < 0.25 * gap[0]); /* K + C / h: 1375 and 7000 N/m */
}

/* A matrix is the whole patch's: without extent it does not matter in how many elements it comes. */
static void test_matrix_per_patch(void **unused)
{
    static const char *const MATRICES[] = {
        "compliance.stiffness=[[9000, 500, 300], [500, 7000, 200], [300, 200, 8000]]",
        "compliance.damping=[[20, 1, 2], [1, 30, 0], [2, 0, 10]]"};
    static const char *const SHOT = "bodies.ball.velocity={linear: [0.5, 0.2, -0.3], angular: [10, -20, 30]}";
    watched one, many;
    (void)unused;
    run_text(&one, PATCH, SET(MATRICES[0], MATRICES[1], SHOT, "compliance.elements=1"), 0.0);
    run_text(&many, PATCH, SET(MATRICES[0], MATRICES[1], SHOT, "compliance.size=0"), 0.0);
    for (int i = 0; i < 6; i++) {
        NEAR(many.q[i], one.q[i], 1e-9);
        NEAR(many.v[i], one.v[i], 1e-7);
    }
    NEAR(many.contact.fn, one.contact.fn, 1e-6);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* K -> infinity at a constant damping ratio is `dyn-ncp`: the distance falls with 1 / K. */
static void test_rigid_limit(void **unused)
{
    double off[4];
    scene_run rigid;
    (void)unused;
    scene_run_make(&rigid, "masse-ball", SET("run.steps=60"));
    for (int i = 0; i < 4; i++) {
        char stiffness[64], damping[64];
        const double k = 1e4 * pow(10.0, i);
        scene_run run;
        snprintf(stiffness, sizeof stiffness, "compliance.stiffness=%g", k);
        snprintf(damping, sizeof damping, "compliance.damping=%.17g", sqrt(k));
        scene_run_make(&run, "masse-ball",
                       SET("run.model=compliant", "run.steps=60", "compliance.gamma=0", stiffness, damping));
        assert_int_equal(run.status, PERP_STATUS_OK);
        off[i] = hypot(run_body(&run, 60, "ball", 0) - run_body(&rigid, 60, "ball", 0),
                       run_body(&run, 60, "ball", 1) - run_body(&rigid, 60, "ball", 1));
        scene_run_free(&run);
    }
    scene_run_free(&rigid);
    for (int i = 1; i < 4; i++) {
        NEAR(log10(off[i - 1] / off[i]), 1.0, 0.1);
    }
}

/* Two commanded bodies: springs give way where rigid rungs refuse. */
static void test_commanded_into_each_other(void **unused)
{
    static const char *const PRESS = "perp: 1\n"
                                     "bodies:\n"
                                     "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                                     "  ram: {driven: {z: {offset: 0.05, rate: -0.1}}, shapes: [{sphere: 0.05}],\n"
                                     "    pose: {position: [0, 0, 0.05]}}\n"
                                     "compliance: {stiffness: 1000, damping: 10}\n"
                                     "run: {model: compliant, h: 0.01, steps: 5}\n";
    watched run;
    (void)unused;
    run_text(&run, PRESS, NULL, 0.0);
    NEAR(run.contact.fn, 1000 * 0.005 + 10 * 0.1, 1e-9);
    NEAR(run.contact.contact.phi, -0.005, 1e-12);
}

/* Prediction is of driven bodies alone: without any nothing changes, and of those that move evenly it is exact. */
static void test_prediction(void **unused)
{
    static const char *const FENCE = "bodies.fence={driven: {x: {offset: -0.15, rate: 0.5}}, shapes: [{sphere: 0.05}],"
                                     "pose: {position: [-0.15, 0, 0.05]}}";
    watched exact, taylor;
    (void)unused;
    run_text(&exact, PATCH, SET("bodies.ball.velocity={linear: [1, 0.5, 0], angular: [0, 2, 3]}"), 0.0);
    run_text(&taylor, PATCH,
             SET("bodies.ball.velocity={linear: [1, 0.5, 0], angular: [0, 2, 3]}", "run.prediction=taylor"), 0.0);
    assert_true(exact.q[0] > 0.01);
    assert_memory_equal(exact.q, taylor.q, sizeof exact.q);
    run_text(&exact, PATCH, SET(FENCE, "run.steps=150"), 0.0);
    run_text(&taylor, PATCH, SET(FENCE, "run.steps=150", "run.prediction=taylor"), 0.0);
    assert_true(exact.q[0] > 0.01);
    NEAR(taylor.q[0], exact.q[0], 1e-9);
}

static void *counted_allocate(void *context, size_t size)
{
    ++*(int *)context;
    return malloc(size);
}

static void counted_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void test_steady_state_takes_no_memory(void **unused)
{
    int requests = 0;
    const perp_allocator allocator = {.context = &requests, .allocate = counted_allocate, .release = counted_release};
    scene_run run;
    (void)unused;
    scene_run_make_with(&run, "cube-stack", SET("run.model=compliant", "compliance.elements=2", "run.steps=30"),
                        &allocator, &requests);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_true(requests > 0);
    assert_int_equal(run.states[30].requests, run.states[15].requests);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masse_ball),
        cmocka_unit_test(test_impact_lands),
        cmocka_unit_test(test_restitution),
        cmocka_unit_test(test_large_steps),
        cmocka_unit_test(test_hunt_crossley),
        cmocka_unit_test(test_stick_is_a_spring),
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_stiffness_scale),
        cmocka_unit_test(test_torsion),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_rolls_on),
        cmocka_unit_test(test_rides),
        cmocka_unit_test(test_matrix_per_patch),
        cmocka_unit_test(test_rigid_limit),
        cmocka_unit_test(test_commanded_into_each_other),
        cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_steady_state_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
