/* The dynamic rungs against tables that were computed elsewhere, and against closed forms for other values: the masse
 * shot of Song, Kumar and Pang, and Trinkle's time-scaled fence and particle.
 *
 * Tolerances: tables print 10 digits or more, so 1e-9 m. Closed forms are of the discrete step, exact but for rounding
 * and for what the step's law leaves, 1e-10 in units of the scene: 1e-10 m. */
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

static void run_well(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make(run, source, settings);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", settings[0], run->error.message);
    }
    assert_true(run->result.residuals.balance <= 1e-8);
    assert_true(run->result.residuals.complementarity <= 1e-8);
    assert_true(run->result.residuals.cone <= 1e-8);
}

/* ---- the masse shot ---------------------------------------------------------------------------------------------- */

typedef struct shot {
    double mu, radius, mass, gravity, h;
    double v[2], w[3];
    int steps;
} shot;

static const shot SONG = {0.2, 0.05, 0.2, 9.8, 0.01, {1.0, 0.5}, {40.0, -20.0, -10.0}, 100};

static void shoot(scene_run *run, const shot *s, const char *model, const char *cone)
{
    char text[900];
    snprintf(text, sizeof text,
             "perp: 1\n"
             "gravity: [0, 0, %.17g]\n"
             "bodies:\n"
             "  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
             "  ball:\n"
             "    mass: %.17g\n"
             "    pose: {position: [0, 0, %.17g]}\n"
             "    velocity: {linear: [%.17g, %.17g, 0], angular: [%.17g, %.17g, %.17g]}\n"
             "    shapes: [{sphere: %.17g}]\n"
             "contacts: {friction: %.17g}\n"
             "run: {model: %s, cone: %s, h: %.17g, steps: %d}\n",
             -s->gravity, s->mass, s->radius, s->v[0], s->v[1], s->w[0], s->w[1], s->w[2], s->radius, s->mu, model,
             cone, s->h, s->steps);
    run_well(run, text, SET("run.tolerance=1e-8"));
}

static void check_shot(const shot *s, const char *model, const char *cone, double x, double y, double tolerance)
{
    scene_run run;
    shoot(&run, s, model, cone);
    NEAR(run_body(&run, s->steps, "ball", 0), x, tolerance);
    NEAR(run_body(&run, s->steps, "ball", 1), y, tolerance);
    NEAR(run_body(&run, s->steps, "ball", 2), s->radius, 1e-12);
    scene_run_free(&run);
}

static void test_masse_table(void **unused)
{
    (void)unused;
    shot longer = SONG;
    longer.steps = 101;
    check_shot(&SONG, "dyn-ncp", "quadratic", 0.55907068353, -0.05116164558, 1e-10);
    check_shot(&longer, "dyn-ncp", "quadratic", 0.56335639782, -0.05330450273, 1e-10);
    check_shot(&SONG, "dyn-ncp", "box", 0.50902571429, -0.08767885714, 1e-10);
    check_shot(&longer, "dyn-ncp", "box", 0.5133114285714, -0.0898217142857, 1e-10);
    check_shot(&SONG, "dyn-lcp", "rays", 0.6339625714286, -0.0043825714286, 1e-10);
    check_shot(&longer, "dyn-lcp", "rays", 0.6382482857143, -0.0065254285714, 1e-10);
}

/* The first step without slip along t and along o. */
static void check_slip_ends(const char *model, const char *cone, const int ends[2])
{
    scene_run run;
    shoot(&run, &SONG, model, cone);
    for (int k = 1; k <= SONG.steps; k++) {
        const perp_contact_record *c = run_contact(&run, k, "table", "ball");
        for (int i = 0; i < 2; i++) {
            assert_true((fabs(c->slip[i]) > 1e-6) == (k < ends[i]));
            assert_true(k < ends[i] || fabs(c->slip[i]) <= 1e-10);
        }
        NEAR(c->fn, SONG.mass * SONG.gravity, 1e-8);
    }
    scene_run_free(&run);
}

static void test_masse_slip_ends(void **unused)
{
    (void)unused;
    check_slip_ends("dyn-ncp", "quadratic", (const int[2]){47, 47});
    check_slip_ends("dyn-ncp", "box", (const int[2]){30, 37});
    check_slip_ends("dyn-lcp", "rays", (const int[2]){66, 66});
}

/* One direction of slip with friction mu g along it: it falls by 7/2 mu g h in a step (a solid ball) until less is
 * left, then it is gone. Returns how far the ball has come with speed v along the direction. */
static double slid(double v, double slip, double mu_g, double h, int steps)
{
    double x = 0.0;
    for (int k = 0; k < steps; k++) {
        const double lost = fmin(fabs(slip), 3.5 * mu_g * h);
        v -= copysign(2.0 / 7.0 * lost, slip);
        slip -= copysign(lost, slip);
        x += h * v;
    }
    return x;
}

/* On the quadratic cone the direction of the slip stays; on the box t and o are two problems of their own. */
static void closed_form(const shot *s, bool box, double out[2])
{
    const double slip[2] = {s->v[0] - s->radius * s->w[1], s->v[1] + s->radius * s->w[0]};
    const double size = hypot(slip[0], slip[1]), mu_g = s->mu * s->gravity;
    for (int i = 0; i < 2; i++) {
        if (box) {
            out[i] = slid(s->v[i], slip[i], mu_g, s->h, s->steps);
        } else { /* what the ball loses along the slip, component by component */
            const double lost = slid(0.0, size, mu_g, s->h, s->steps);
            out[i] = s->h * s->steps * s->v[i] + lost * slip[i] / size;
        }
    }
}

static void test_masse_closed_form(void **unused)
{
    (void)unused;
    static const shot SHOTS[] = {
        {0.2, 0.05, 0.2, 9.8, 0.01, {1.0, 0.5}, {40.0, -20.0, -10.0}, 100},
        {0.05, 0.03, 1.5, 9.81, 0.004, {-2.0, 0.1}, {5.0, 70.0, 3.0}, 300},
        {0.7, 0.2, 0.01, 1.62, 0.02, {0.3, -0.4}, {-9.0, 0.0, 0.0}, 80},
        {0.4, 0.11, 7.0, 9.81, 0.001, {2.0, 1.0}, {0.0, 0.0, 20.0}, 500},
    };
    for (size_t i = 0; i < sizeof SHOTS / sizeof *SHOTS; i++) {
        double end[2];
        closed_form(&SHOTS[i], false, end);
        check_shot(&SHOTS[i], "dyn-ncp", "quadratic", end[0], end[1], 1e-10);
        closed_form(&SHOTS[i], true, end);
        check_shot(&SHOTS[i], "dyn-ncp", "box", end[0], end[1], 1e-10);
    }
}

/* Convex friction keeps the ball on the table, but for what gravity moves in a step, and ends with the same rolling. */
static void test_masse_convex(void **unused)
{
    (void)unused;
    scene_run run;
    shoot(&run, &SONG, "dyn-qp", "quadratic");
    const double *v = run.states[SONG.steps].v;
    NEAR(v[0], 3.0 / 7.0, 1e-6); /* v_roll = v0 - 2/7 slip0, whatever friction did in between */
    NEAR(v[1], -1.5 / 7.0, 1e-6);
    assert_true(run.result.residuals.boundary_layer < SONG.gravity * SONG.h * SONG.h);
    assert_true(run.result.residuals.penetration < SONG.gravity * SONG.h * SONG.h);
    for (int k = 1; k <= SONG.steps; k++) { /* nothing throws it up: at mu |slip| it would rise by 21 mm */
        NEAR(run.states[k].q[2], SONG.radius, SONG.gravity * SONG.h * SONG.h);
    }
    scene_run_free(&run);
    shoot(&run, &SONG, "dyn-ncp", "quadratic"); /* has no layer, whatever rounding leaves of its gaps */
    assert_true(run.result.residuals.boundary_layer == 0.0);
    for (int i = 0; i < run.result.contact_count; i++) {
        assert_true(run.result.contacts[i].layer_predicted == 0.0 && run.result.contacts[i].layer_observed == 0.0);
    }
    scene_run_free(&run);
}

/* ---- the time-scaled fence --------------------------------------------------------------------------------------- */

static void run_fence(scene_run *run, const char *model, double eps, double h, int steps, const char *further)
{
    char chosen[40], scale[60], size[60], count[60];
    snprintf(chosen, sizeof chosen, "run.model=%s", model);
    snprintf(scale, sizeof scale, "run.time_scale=%.17g", eps);
    snprintf(size, sizeof size, "run.h=%.17g", h);
    snprintf(count, sizeof count, "run.steps=%d", steps);
    run_well(run, "fence-particle", SET(chosen, scale, size, count, further));
}

static const char *const NO_FENCE_FRICTION = "contacts.pairs.fence particle.friction=0";
static const char *const FENCE_FRICTION = "contacts.pairs.fence particle.friction=0.5";

static void test_fence_table(void **unused)
{
    (void)unused;
    static const struct {
        const char *model;
        double eps, h;
        bool rubs;
        double x, y;
    } ROWS[] = {
        {"dyn-ncp", 0.1, 0.01, false, 0.8999998732, 0.0},
        {"dyn-ncp", 3.4, 0.01, false, 0.8999998732, 0.0},
        {"dyn-ncp", 3.6, 0.01, false, 0.9006097388, 0.0},
        {"dyn-ncp", 4.5, 0.01, false, 0.9513777229, 0.0},
        {"dyn-ncp", 1.0, 0.01, true, 0.8999998732, 0.1499999366},
        {"dyn-ncp", 3.4, 0.01, true, 0.900551375, 0.1502756875},
        {"dyn-ncp", 3.6, 0.01, true, 0.9055816104, 0.1527908052},
        {"dyn-ncp", 4.0, 0.01, true, 0.9288568331, 0.1644284165},
        {"dyn-ncp", 4.5, 0.01, true, 0.9775779348, 0.1887889674},
        {"dyn-lcp", 0.1, 0.01, true, 0.8999998732, 0.2999998732},
        {"dyn-lcp", 1.0, 0.01, true, 0.8999998732, 0.293953561},
        {"dyn-lcp", 3.4, 0.01, false, 0.8999998732, 0.0},
        {"dyn-lcp", 4.0, 0.01, false, 0.9142379343, 0.0},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        scene_run run;
        run_fence(&run, ROWS[i].model, ROWS[i].eps, ROWS[i].h, 500, ROWS[i].rubs ? FENCE_FRICTION : NO_FENCE_FRICTION);
        NEAR(run_body(&run, 500, "particle", 0), ROWS[i].x, 1e-9);
        NEAR(run_body(&run, 500, "particle", 1), ROWS[i].y, 1e-9);
        scene_run_free(&run);
    }
}

/* Below the critical eps inertia changes nothing on the quadratic cone, step by step. */
static void test_fence_meets_quasistatic(void **unused)
{
    (void)unused;
    static const double SCALES[] = {0.01, 0.5, 1.0, 2.0, 3.3};
    scene_run still;
    run_well(&still, "fence-particle", SET("run.model=qs-ncp"));
    for (size_t i = 0; i < sizeof SCALES / sizeof *SCALES; i++) {
        scene_run run;
        run_fence(&run, "dyn-ncp", SCALES[i], 0.01, 628, FENCE_FRICTION);
        for (int k = 0; k <= 628; k++) {
            for (int c = 0; c < 3; c++) {
                NEAR(run_body(&run, k, "particle", c), run_body(&still, k, "particle", c), 1e-9);
            }
        }
        scene_run_free(&run);
    }
    scene_run_free(&still);
}

/* The last step in which the fence moves forward: it turns at pi / 2. */
static int last_forward(double h)
{
    return (int)lround(1.5707963267948966 / h);
}

/* Does the particle leave the fence while that moves forward? The fence pushes it from the first touch on. */
static bool leaves(double eps, double h, const char *friction)
{
    const int last = last_forward(h);
    bool touched = false, left = false;
    scene_run run;
    run_fence(&run, "dyn-ncp", eps, h, last, friction);
    for (int k = 1; k <= last; k++) {
        const perp_contact_record *c = run_contact(&run, k, "fence", "particle");
        const bool pushes = c && c->mode != PERP_CONTACT_OPEN;
        left = left || (touched && !pushes);
        touched = touched || pushes;
    }
    scene_run_free(&run);
    assert_true(touched);
    return left;
}

/* The deceleration of the fence in its last step forward is the largest that the particle has to follow; the plane
 * brakes it with mu g, of which cos(phi) along x. */
static double critical(double h, double mu_fence)
{
    const int k = last_forward(h) - 1;
    const double braked = 0.4 * (2.0 * sin(k * h) - sin((k - 1) * h) - sin((k + 1) * h)) / (h * h);
    return sqrt(0.5 * 9.81 / sqrt(1.0 + mu_fence * mu_fence) / braked);
}

static void test_fence_critical_eps(void **unused)
{
    (void)unused;
    static const struct {
        double h;
        bool rubs;
        double eps; /* of the table; 0: only the formula */
    } CASES[] = {{0.1, false, 3.50764086},
                 {0.01, false, 3.501901896},
                 {0.1, true, 3.317321911},
                 {0.01, true, 3.311894334},
                 {0.03, true, 0.0}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *friction = CASES[i].rubs ? FENCE_FRICTION : NO_FENCE_FRICTION;
        double low = 3.0, high = 4.0;
        assert_false(leaves(low, CASES[i].h, friction));
        assert_true(leaves(high, CASES[i].h, friction));
        while (high - low > 2e-7) {
            const double middle = 0.5 * (low + high);
            if (leaves(middle, CASES[i].h, friction)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        NEAR(low, critical(CASES[i].h, CASES[i].rubs ? 0.5 : 0.0), 1e-6);
        if (CASES[i].eps > 0.0) {
            NEAR(low, CASES[i].eps, 1e-6);
        }
    }
}

/* With rays the impact turns the particle: y differs, and tends to the quasistatic one with eps. */
static void test_fence_rays(void **unused)
{
    (void)unused;
    static const struct {
        double eps, y;
    } ROWS[] = {{1.0, 0.29694}, {2.0, 0.27702}};
    for (size_t i = 0; i < 2; i++) {
        scene_run run;
        run_fence(&run, "dyn-lcp", ROWS[i].eps, 0.05, 126, FENCE_FRICTION);
        NEAR(run_body(&run, 126, "particle", 1), ROWS[i].y, 5e-6); /* five digits are printed */
        scene_run_free(&run);
    }
    scene_run slow;
    run_fence(&slow, "dyn-lcp", 0.01, 0.05, 126, FENCE_FRICTION);
    NEAR(run_body(&slow, 126, "particle", 1), 0.29991, 2e-5); /* the transient is O(eps^2): 3e-7 here; five digits */
    scene_run_free(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masse_table),        cmocka_unit_test(test_masse_slip_ends),
        cmocka_unit_test(test_masse_closed_form),  cmocka_unit_test(test_masse_convex),
        cmocka_unit_test(test_fence_table),        cmocka_unit_test(test_fence_meets_quasistatic),
        cmocka_unit_test(test_fence_critical_eps), cmocka_unit_test(test_fence_rays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
