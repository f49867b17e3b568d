/* The rigid quasistatic rungs: the tables of Trinkle, Berard and Pang's fence and particle on three friction cones, of
 * Pang and Tedrake's gripper, the closed forms behind them for other values, and what must hold on any scene.
 *
 * Tolerances: the tables print 10 digits, so 1e-9 m and 1e-6 N; two rungs that solve the same law are compared to
 * 1e-9 m, steps being solved to 1e-10 in units of the scene or better. */
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

static void run_well(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make(run, source, settings);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s %s: %s", source, settings[0], run->error.message);
    }
    assert_true(run->result.residuals.balance <= 1e-8);
    assert_true(run->result.residuals.complementarity <= 1e-8);
    assert_true(run->result.residuals.cone <= 1e-8);
}

static double fence_at(double t)
{
    return 0.5 + 0.4 * sin(t);
}

/* ---- fence and particle ------------------------------------------------------------------------------------------ */

typedef struct cone_case {
    const char *model, *cone;
    double slope;              /* dy / dx while pushed */
    double fence[2], plane[2]; /* N, on the particle: fn and the force along y; along x and y */
    double y[4];               /* at the end: h 0.1 taylor, exact, h 0.01 taylor, exact */
} cone_case;

static const cone_case CONES[] = {
    {"qs-ncp",
     "quadratic",
     0.5,
     {4.387165372, 2.193582686},
     {-4.387165372, -2.193582686},
     {0.1509137414, 0.1499147206, 0.1500099363, 0.1499999366}},
    {"qs-opt",
     "quadratic",
     0.5,
     {4.387165372, 2.193582686},
     {-4.387165372, -2.193582686},
     {0.1509137414, 0.1499147206, 0.1500099363, 0.1499999366}},
    {"qs-lcp", "rays", 1.0, {3.27, 1.635}, {-3.27, -1.635}, {0.3018274827, 0.2998294412, 0.3000198726, 0.2999998732}},
    {"qs-ncp", "box", 0.0, {4.905, 2.4525}, {-4.905, -2.4525}, {0, 0, 0, 0}},
    {"qs-lp", "box", 0.0, {4.905, 2.4525}, {-4.905, -2.4525}, {0, 0, 0, 0}},
};
enum { CONE_COUNT = sizeof CONES / sizeof *CONES };

static void check_push(const scene_run *run, int k, const cone_case *c)
{
    const perp_contact_record *fence = run_contact(run, k, "fence", "particle");
    const perp_contact_record *plane = run_contact(run, k, "plane", "particle");
    const double dx = run_body(run, k, "particle", 0) - run_body(run, k - 1, "particle", 0);
    const double dy = run_body(run, k, "particle", 1) - run_body(run, k - 1, "particle", 1);
    NEAR(dy, c->slope * dx, 1e-11);
    NEAR(fence->fn, c->fence[0], 1e-6);
    NEAR(fence->force_on_b.y, c->fence[1], 1e-6);
    NEAR(fence->force_on_b.z, 0.0, 1e-12);
    NEAR(plane->fn, 9.81, 1e-6);
    NEAR(plane->force_on_b.x, c->plane[0], 1e-6);
    NEAR(plane->force_on_b.y, c->plane[1], 1e-6);
    assert_int_equal(fence->mode, PERP_CONTACT_SLIDE);
    assert_int_equal(plane->mode, PERP_CONTACT_SLIDE);
}

static void test_fence_table(void **unused)
{
    (void)unused;
    static const double X[4] = {0.9018274827, 0.8998294412, 0.9000198726, 0.8999998732};
    for (int i = 0; i < 4 * CONE_COUNT; i++) {
        const cone_case *c = &CONES[i / 4];
        const int variant = i % 4, steps = variant < 2 ? 63 : 628, pushed = variant < 2 ? 11 : 101;
        char model[32], cone[32];
        scene_run run;
        snprintf(model, sizeof model, "run.model=%s", c->model);
        snprintf(cone, sizeof cone, "run.cone=%s", c->cone);
        run_well(&run, "fence-particle",
                 SET(model, cone, variant < 2 ? "run.h=0.1" : "run.h=0.01",
                     variant < 2 ? "run.steps=63" : "run.steps=628",
                     variant % 2 == 0 ? "run.prediction=taylor" : "run.prediction=exact"));
        NEAR(run_body(&run, steps, "particle", 0), X[variant], 1e-9);
        NEAR(run_body(&run, steps, "particle", 1), c->y[variant], 1e-9);
        NEAR(run_body(&run, steps, "particle", 2), 0.0, 1e-12);
        check_push(&run, pushed, c);
        assert_true(run.result.residuals.penetration <= 1e-9);
        scene_run_free(&run);
    }
}

/* While the fence slips along the particle, its force leans by mu_2, the plane's mu_3 m g opposes it, and the particle
 * moves along it: dy = mu_2 dx, fn = mu_3 m g / sqrt(1 + mu_2^2). The particle ends where the fence was farthest. */
static void test_fence_closed_form(void **unused)
{
    (void)unused;
    static const double cases[][4] = {/* mu_2, mu_3, mass, h */
                                      {0.25, 0.5, 1, 0.1},
                                      {0.8, 0.2, 3, 0.05},
                                      {1.0, 0.5, 1, 0.1},
                                      {1.2, 1.5, 0.1, 0.1},
                                      {0, 0.7, 1, 0.2}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i / 2], weight = 9.81 * c[2];
        const int steps = (int)round(3.0 / c[3]);
        char text[5][64];
        double farthest = 0.6;
        scene_run run;
        snprintf(text[0], 64, "contacts.pairs.fence particle.friction=%.17g", c[0]);
        snprintf(text[1], 64, "contacts.pairs.plane particle.friction=%.17g", c[1]);
        snprintf(text[2], 64, "bodies.particle.mass=%.17g", c[2]);
        snprintf(text[3], 64, "run.h=%.17g", c[3]);
        snprintf(text[4], 64, "run.steps=%d", steps);
        run_well(
            &run, "fence-particle",
            SET(i % 2 == 0 ? "run.model=qs-ncp" : "run.model=qs-opt", text[0], text[1], text[2], text[3], text[4]));
        for (int k = 1; k <= steps; k++) {
            farthest = fmax(farthest, fence_at(k * c[3]));
            NEAR(run_body(&run, k, "particle", 0), farthest, 1e-9);
            NEAR(run_body(&run, k, "particle", 1), c[0] * (farthest - 0.6), 1e-9);
        }
        const int pushed = (int)round(1.0 / c[3]);
        NEAR(run_contact(&run, pushed, "fence", "particle")->fn, c[1] * weight / sqrt(1 + c[0] * c[0]), 1e-6);
        scene_run_free(&run);
    }
}

/* Theorem 1, also where the plain iteration goes to and fro (mu_2 >= 1). */
static void test_opt_is_ncp(void **unused)
{
    (void)unused;
    static const char *const friction[] = {"0.3", "0.9", "1", "1.2", "2"};
    for (size_t i = 0; i < sizeof friction / sizeof *friction; i++) {
        char set[64];
        scene_run ncp, opt;
        snprintf(set, sizeof set, "contacts.pairs.fence particle.friction=%s", friction[i]);
        run_well(&ncp, "fence-particle", SET("run.model=qs-ncp", set, "run.h=0.1", "run.steps=63"));
        run_well(&opt, "fence-particle", SET("run.model=qs-opt", set, "run.h=0.1", "run.steps=63"));
        for (int k = 1; k <= 63; k++) {
            for (int axis = 0; axis < 3; axis++) {
                NEAR(run_body(&opt, k, "particle", axis), run_body(&ncp, k, "particle", axis), 1e-9);
            }
            NEAR(run_contact(&opt, k, "plane", "particle")->ft[0], run_contact(&ncp, k, "plane", "particle")->ft[0],
                 1e-8);
        }
        assert_int_equal(opt.result.fallbacks[PERP_FALLBACK_SECOND_METHOD], 0);
        scene_run_free(&ncp);
        scene_run_free(&opt);
    }
}

/* The scene turned by a quarter about z, and with the particle listed first, so that every contact is seen from the
 * other side. */
static const char *const TURNED =
    "perp: 1\n"
    "bodies:\n"
    "  particle: {mass: 1, free: [x, y, z], pose: {position: [0, 0.6, 0]}, shapes: [{point: {}}]}\n"
    "  fence:\n"
    "    driven: {y: {offset: 0.5, sines: [{amplitude: 0.4, omega: 1}]}, x: {rate: -1}}\n"
    "    shapes: [{plane: {normal: [0, 1, 0], offset: 0}}]\n"
    "  wall: {fixed: true, shapes: [{plane: {normal: [0, -1, 0], offset: -1}}]}\n"
    "  plane: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "contacts:\n"
    "  margin: 0.2\n"
    "  exclude: [[plane, fence], [wall, fence]]\n"
    "  pairs:\n"
    "    \"plane particle\": {friction: 0.5}\n"
    "    \"fence particle\": {friction: 0.5, friction_directions: [[1, 0, 0]]}\n"
    "run: {model: qs-ncp, h: 0.1, steps: 63}\n";

static void test_mirrored_and_turned(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp",
                                         "run.model=qs-impedance-lcp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run plain, mirrored, turned;
        run_well(&plain, "fence-particle", SET(models[m], "run.h=0.1", "run.steps=63"));
        run_well(&mirrored, "fence-particle",
                 SET(models[m], "run.h=0.1", "run.steps=63", "bodies.fence.driven.y.rate=-1"));
        run_well(&turned, TURNED, SET(models[m]));
        for (int k = 1; k <= 63; k++) {
            const double x = run_body(&plain, k, "particle", 0), y = run_body(&plain, k, "particle", 1);
            NEAR(run_body(&mirrored, k, "particle", 0), x, 1e-9);
            NEAR(run_body(&mirrored, k, "particle", 1), -y, 1e-9);
            NEAR(run_body(&turned, k, "particle", 0), -y, 1e-9);
            NEAR(run_body(&turned, k, "particle", 1), x, 1e-9);
            const perp_vec3 force = run_contact(&plain, k, "plane", "particle")->force_on_b;
            const perp_vec3 other = run_contact(&turned, k, "particle", "plane")->force_on_b;
            NEAR(other.x, force.y, 1e-7);
            NEAR(other.y, -force.x, 1e-7);
            NEAR(other.z, -force.z, 1e-7);
        }
        scene_run_free(&plain);
        scene_run_free(&mirrored);
        scene_run_free(&turned);
    }
}

/* ---- the gripper ------------------------------------------------------------------------------------------------- */

/* Equation (6) of Pang and Tedrake: no boundary layer; in sliding the lift follows its command by what friction holds,
 * k_y (y - y_command) = 2 mu fn. */
static void test_gripper(void **unused)
{
    (void)unused;
    static const struct {
        int step;
        double cn1, cn3, lift;
    } rows[] = {{3, 0, 10, 0},        {8, 10, 10, 0},       {13, 10, 20, 0},     {14, 10, 20, -0.002},
                {15, 10, 20, -0.004}, {24, 10, 20, -0.022}, {25, 10, 20, -0.022}};
    scene_run run;
    run_well(&run, "gripper-2d", SET("run.model=qs-impedance-lcp"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int k = rows[i].step;
        const perp_contact_record *left = run_contact(&run, k, "left_finger", "sphere");
        const perp_contact_record *right = run_contact(&run, k, "right_finger", "sphere");
        NEAR(left->fn, rows[i].cn1, 1e-6);
        NEAR(right->fn, rows[i].cn1, 1e-6);
        NEAR(left->contact.phi, 0.0, 1e-12);
        NEAR(run_contact(&run, k, "ground", "sphere")->fn, rows[i].cn3, 1e-6);
        NEAR(run_joint(&run, k, "left"), -0.1, 1e-9);
        NEAR(run_joint(&run, k, "lift"), rows[i].lift, 1e-9);
        NEAR(left->force_on_b.y, right->force_on_b.y, 1e-8); /* least norm shares what only has a sum */
    }
    scene_run_free(&run);
}

/* Steps in which what slips is open, and ends with phi >= mu h |v_t|, are the same in the
 * convex relaxation: all up to step 13. */
static void test_impedance_lcp_is_qp_while_sticking(void **unused)
{
    (void)unused;
    scene_run lcp, qp;
    run_well(&lcp, "gripper-2d", SET("run.model=qs-impedance-lcp", "contacts.friction=0.8"));
    run_well(&qp, "gripper-2d", SET("run.model=qs-qp", "contacts.friction=0.8"));
    int compared = 0;
    for (int k = 1; k < lcp.count; k++) {
        bool same = true;
        for (int i = 0; i < lcp.states[k].contact_count; i++) {
            const perp_contact_record *r = &lcp.states[k].contacts[i];
            const double slip = hypot(r->slip[0], r->slip[1]);
            same = same && (slip <= 1e-12 || (r->fn == 0.0 && r->contact.phi >= r->contact.friction * 0.01 * slip));
        }
        if (!same) {
            break; /* from here on they start from different states */
        }
        compared++;
        NEAR(run_joint(&lcp, k, "left"), run_joint(&qp, k, "left"), 1e-8);
        NEAR(run_joint(&lcp, k, "lift"), run_joint(&qp, k, "lift"), 1e-8);
        NEAR(run_body(&lcp, k, "sphere", 1), run_body(&qp, k, "sphere", 1), 1e-8);
        NEAR(run_contact(&lcp, k, "left_finger", "sphere")->fn, run_contact(&qp, k, "left_finger", "sphere")->fn, 1e-6);
    }
    assert_true(compared >= 13);
    scene_run_free(&lcp);
    scene_run_free(&qp);
}

/* ---- several answers --------------------------------------------------------------------------------------------- */

/* A particle on a frictionless plane stays where it is, and is pushed straight ahead. */
static void test_lazy(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp",
                                         "run.model=qs-impedance-lcp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run run;
        double farthest = 0.6;
        run_well(&run, "fence-particle",
                 SET(models[m], "contacts.pairs.fence particle.friction=0", "contacts.pairs.plane particle.friction=0",
                     "run.h=0.1", "run.steps=40"));
        for (int k = 1; k <= 40; k++) {
            farthest = fmax(farthest, fence_at(0.1 * k));
            NEAR(run_body(&run, k, "particle", 0), farthest, 1e-9);
            NEAR(run_body(&run, k, "particle", 1), 0.0, 1e-9);
        }
        scene_run_free(&run);
    }
}

/* `several` is true of the steps that have more than one answer, and of no others: fingers that graze a disc may lift
 * it or not under position control, and do not on springs; a particle on a frictionless plane may go anywhere; with
 * friction the fence leads it one way. */
static void test_several(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp",
                                         "run.model=qs-impedance-lcp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run graze, slippery, rough;
        const bool springs = strstr(models[m], "impedance") != NULL;
        run_well(&graze, "graze-then-lift", SET(models[m], "run.cone=~"));
        run_well(&slippery, "fence-particle",
                 SET(models[m], "contacts.pairs.fence particle.friction=0", "contacts.pairs.plane particle.friction=0",
                     "run.h=0.1", "run.steps=10"));
        run_well(&rough, "fence-particle", SET(models[m], "run.h=0.1", "run.steps=10"));
        assert_int_equal(graze.result.several, springs ? 0 : graze.result.steps);
        assert_int_equal(slippery.result.several, slippery.result.steps);
        assert_int_equal(rough.result.several, 0);
        scene_run_free(&graze);
        scene_run_free(&slippery);
        scene_run_free(&rough);
    }
}

/* On every rung without inertia: a ball at rest may roll, or turn on its spot; a box at rest on a rough floor may do
 * nothing. */
static void test_several_at_rest(void **unused)
{
    (void)unused;
    static const char *const models[] = {"qs-ncp", "qs-lcp", "qs-impedance-lcp", "qs-qp", "qs-cone"};
    static const char *const shapes[] = {"sphere: 0.1", "box: [0.2, 0.2, 0.2]"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        for (int k = 0; k < 2; k++) {
            scene_run run;
            char text[400];
            snprintf(text, sizeof text,
                     "{perp: 1,\n bodies: {floor: {fixed: true, shapes: [plane: {normal: [0, 0, 1], offset: 0}]}, "
                     "part: {mass: 1, pose: "
                     "{position: [0, 0, 0.1]}, shapes: [%s]}}, contacts: {friction: 0.5}, run: {model: %s, h: 0.01, "
                     "steps: 3}}",
                     shapes[k], models[m]);
            scene_run_make(&run, text, NULL);
            assert_int_equal(run.status, PERP_STATUS_OK);
            assert_int_equal(run.result.several, k == 0 ? 3 : 0);
            scene_run_free(&run);
        }
    }
}

/* ---- no answer --------------------------------------------------------------------------------------------------- */

/* The fingers' commands enter the disc by 2 mm each in the step from 0.03 s on. */
static void test_infeasible_command(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run run;
        scene_run_make(&run, "gripper-2d", SET(models[m]));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "infeasible-command");
        assert_int_equal(run.result.steps, 3);
        assert_non_null(strstr(run.error.evidence.contact, "finger sphere"));
        assert_non_null(strstr(run.error.message, "qs-qp"));
        NEAR(run.error.evidence.depth, 0.002, 1e-9);
        scene_run_free(&run);
    }
}

static const char *const SLOPE = "perp: 1\n"
                                 "planar: true\n"
                                 "gravity: [3, -10]\n"
                                 "bodies:\n"
                                 "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                                 "  block: {mass: 2, free: [x, y], shapes: [{point: {}}]}\n"
                                 "contacts: {friction: 0.31}\n"
                                 "run: {h: 0.01, steps: 5}\n";

/* On a slope of tan = 0.3 friction of 0.31 holds, and 0.29 does not: no forces balance. */
static void test_unsupported(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp",
                                         "run.model=qs-impedance-lcp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run run;
        run_well(&run, SLOPE, SET(models[m]));
        NEAR(run_body(&run, 5, "block", 0), 0.0, 1e-9);
        NEAR(run_contact(&run, 5, "ground", "block")->ft[0], -6.0, 1e-6);
        assert_int_equal(run_contact(&run, 5, "ground", "block")->mode, PERP_CONTACT_STICK);
        scene_run_free(&run);
        scene_run_make(&run, SLOPE, SET(models[m], "contacts.friction=0.29"));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "unsupported-body");
        assert_string_equal(run.error.evidence.body, "block");
        assert_true(run.result.iterations < 100.0); /* it is proven before other methods search: 8, else 40,000 */
        assert_true(run.error.evidence.direction[0] > 0.5); /* down the slope */
        assert_non_null(strstr(run.error.message, "quasidynamic"));
        scene_run_free(&run);
    }
}

/* Two commanded bodies that run into each other: nothing free could part them. */
static void test_commands_collide(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run,
                   "perp: 1\nplanar: true\nbodies:\n"
                   "  left: {driven: {x: {rate: 1}}, shapes: [{disc: 0.1}]}\n"
                   "  right: {driven: {x: {offset: 0.25}}, shapes: [{disc: 0.1}]}\n"
                   "run: {model: qs-lcp, h: 0.02, steps: 10}\n",
                   SET("run.model=qs-lcp"));
    assert_string_equal(run.error.code, "infeasible-command");
    assert_int_equal(run.result.steps, 2);
    NEAR(run.error.evidence.depth, 0.01, 1e-9);
    scene_run_free(&run);
}

/* A finger at height 0.08 against a box of 0.1 with friction 2: the box cannot slide, as that takes a push of 2 m g or
 * more, which tips it (0.08 > 0.05 / 2), and cannot tip, as the finger's friction holds the face down with 2 fn on an
 * arm of 0.1 against fn on 0.08. With 0.5 it slides, at a push of m g / 2 times what the finger's friction adds. */
static void test_jams(void **unused)
{
    (void)unused;
    static const char *const scene =
        "perp: 1\n"
        "planar: true\n"
        "bodies:\n"
        "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  finger: {driven: {x: {offset: -0.1, rate: 0.1}}, pose: {position: [-0.1, 0.08]}, shapes: [{disc: 0.05}]}\n"
        "  box: {mass: 1, pose: {position: [0, 0.05]}, shapes: [{box: [0.1, 0.1]}]}\n"
        "contacts: {friction: 2}\n"
        "run: {h: 0.01, steps: 5}\n";
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run run;
        scene_run_make(&run, scene, SET(models[m]));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "no-equilibrium");
        assert_non_null(strstr(run.error.evidence.contact, "finger box"));
        scene_run_free(&run);
        run_well(&run, scene, SET(models[m], "contacts.friction=0.5"));
        NEAR(run_body(&run, 5, "box", 0), 0.005, 1e-9);
        NEAR(run_body(&run, 5, "box", 2), 0.0, 1e-9);
        scene_run_free(&run);
    }
}

/* ---- repeatability and memory ------------------------------------------------------------------------------------ */

static void test_repeatable_without_memory(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        perp_hash hash[2];
        for (int round = 0; round < 2; round++) {
            failing_allocator f = {.grants = INT_MAX};
            const perp_allocator allocator = allocator_of(&f);
            scene_run run;
            scene_run_make_with(&run, "fence-particle", SET(models[m], "run.h=0.1", "run.steps=40"), &allocator,
                                &f.requests);
            assert_int_equal(run.status, PERP_STATUS_OK);
            /* by step 12 the fence pushes; from step 17 on it goes back, and nothing is new */
            assert_int_equal(run.states[12].requests, run.states[15].requests);
            assert_int_equal(run.states[30].requests, run.states[40].requests);
            hash[round] = run.result.hash;
            scene_run_free(&run);
            assert_int_equal(f.standing, 0);
        }
        assert_memory_equal(&hash[0], &hash[1], sizeof hash[0]);
    }
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-ncp", "run.model=qs-opt", "run.model=qs-lcp", "run.model=qs-lp"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        scene_run_refuse_memory("fence-particle", SET(models[m], "run.h=0.1", "run.steps=5"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_table),
        cmocka_unit_test(test_fence_closed_form),
        cmocka_unit_test(test_opt_is_ncp),
        cmocka_unit_test(test_mirrored_and_turned),
        cmocka_unit_test(test_gripper),
        cmocka_unit_test(test_impedance_lcp_is_qp_while_sticking),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_several_at_rest),
        cmocka_unit_test(test_infeasible_command),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_commands_collide),
        cmocka_unit_test(test_jams),
        cmocka_unit_test(test_repeatable_without_memory),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
