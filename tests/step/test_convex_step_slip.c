/* dyn-qp keeps what slides on the surface: against closed forms and against Coulomb's own law, dyn-ncp.
 *
 * Tolerances: gaps may be off by what gravity moves in a step, g h^2, and by 1e-4 of the scene's size where that is
 * less; a body that slides without turning has Coulomb's answer but for the law's tolerance, until its slip is less
 * than gravity makes in a step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static const double G = 9.81;

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

static scene_text sliding_block(double mu, double vx, double vy, double h, int steps)
{
    return scene_text_of("perp: 1\nbodies:\n"
                         "  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
                         "  block: {mass: 3, pose: {position: [0, 0, 0.04]}, velocity: {linear: [%.17g, %.17g, 0]}, "
                         "shapes: [{box: [0.3, 0.2, 0.08]}]}\n"
                         "contacts: {friction: %.17g}\nrun: {model: dyn-qp, h: %.17g, steps: %d}\n",
                         vx, vy, mu, h, steps);
}

/* The highest and the deepest that a body is off its height at the start. */
static void extremes(const scene_run *run, const char *body, int axis, double *high, double *deep)
{
    const double start = run_body(run, 0, body, axis);
    *high = *deep = 0.0;
    for (int k = 1; k < run->count; k++) {
        const double off = run_body(run, k, body, axis) - start;
        *high = fmax(*high, off);
        *deep = fmax(*deep, -off);
    }
}

/* A block that is set down at some speed stays down and is braked by mu g, whatever h; Anitescu's rows threw it up at
 * mu times its speed. On rays along the slip as on the cone. */
static void test_block_stays_down(void **unused)
{
    (void)unused;
    static const struct {
        double mu, v, h;
        const char *cone;
    } CASES[] = {{0.5, 2.0, 0.01, "run.cone=rays"},
                 {0.5, 2.0, 0.001, "run.cone=quadratic"},
                 {0.3, 5.0, 0.004, "run.cone=quadratic"},
                 {0.8, 1.5, 0.002, "run.cone=rays"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const double mu = CASES[i].mu, h = CASES[i].h;
        const int steps = (int)fmin(300.0, CASES[i].v / (mu * G * h) + 20.0);
        const scene_text scene = sliding_block(mu, CASES[i].v, 0.0, h, steps);
        scene_run run;
        double high, deep, v = CASES[i].v, x = 0.0;
        run_well(&run, scene.of, SET(CASES[i].cone));
        extremes(&run, "block", 2, &high, &deep);
        assert_true(high < G * h * h && deep < 1e-9);
        for (int k = 1; k < run.count; k++) {
            v = fmax(0.0, v - mu * G * h);
            x += h * v;
            if (mu * v > 2.0 * G * h) { /* faster than what counts as slow */
                NEAR(run_body(&run, k, "block", 0), x, 1e-7);
                NEAR(run_body(&run, k, "block", 2), 0.04, 1e-9);
            }
        }
        NEAR(run_body(&run, run.count - 1, "block", 0), x, G * h * h);
        scene_run_free(&run);
    }
}

/* Between two rays the slip counts by its largest part along one: the block does not rise there either. */
static void test_between_rays(void **unused)
{
    (void)unused;
    static const char *const RAYS[] = {"run.rays=4", "run.rays=6", "run.rays=8"};
    for (size_t i = 0; i < sizeof RAYS / sizeof *RAYS; i++) {
        const scene_text scene = sliding_block(0.4, 1.9, 1.3, 0.002, 150);
        scene_run run;
        double high, deep;
        run_well(&run, scene.of, SET("run.cone=rays", RAYS[i]));
        extremes(&run, "block", 2, &high, &deep);
        assert_true(high < G * 4e-6 && deep < G * 4e-6);
        assert_true(run_body(&run, 150, "block", 0) > 0.2); /* it has slid */
        scene_run_free(&run);
    }
}

/* A slope: from rest, so that the slip grows. */
static void test_slope_in_the_plane(void **unused)
{
    (void)unused;
    static const char scene[] = "perp: 1\nplanar: true\ngravity: [6, -9]\nbodies:\n"
                                "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                                "  block: {mass: 2, pose: {position: [0, 0.05]}, shapes: [{box: [0.3, 0.1]}]}\n"
                                "contacts: {friction: 0.25}\nrun: {model: dyn-qp, h: 0.005, steps: 100}\n";
    const double size = hypot(6.0, 9.0) * 0.005 * 0.005, a = 6.0 - 0.25 * 9.0;
    scene_run run;
    double high, deep;
    run_well(&run, scene, SET("run.cone=rays"));
    extremes(&run, "block", 1, &high, &deep);
    assert_true(high < size && deep < 1e-9);
    NEAR(run_body(&run, 100, "block", 0), a * 0.005 * 0.005 * 100 * 101 / 2, 1e-3);
    scene_run_free(&run);
}

/* Impacts change a slip at once. With the slip of the step's begin alone the block would overlap the floor by mu h
 * times its speed when the wall stops it, and be thrown up in the next step. */
static void test_stopped_by_a_wall(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  wall: {fixed: true, shapes: [{plane: {normal: [-1, 0, 0], offset: -0.3}}]}\n"
        "  block: {mass: 2, pose: {position: [0, 0, 0.05]}, velocity: {linear: [3, 0.4, 0]}, shapes: [{box: [0.2, 0.1, "
        "0.1]}]}\ncontacts: {friction: 0.6}\nrun: {model: dyn-qp, h: 0.002, steps: 200, cone: quadratic}\n";
    scene_run run, rigid;
    double high, deep;
    run_well(&run, scene, SET("run.model=dyn-qp"));
    run_well(&rigid, scene, SET("run.model=dyn-ncp"));
    extremes(&run, "block", 2, &high, &deep);
    assert_true(high < 2.0 * G * 4e-6 && deep < 2.0 * G * 4e-6);
    for (int k = 0; k < 3; k++) {
        NEAR(run_body(&run, 200, "block", k), run_body(&rigid, 200, "block", k), 1e-3);
    }
    scene_run_free(&run);
    scene_run_free(&rigid);
}

/* A box that lands on a corner and tumbles stays as near to dyn-ncp as its steps allow, and neither overlaps nor
 * hovers: without the second answers it was 24 mm off in the mean where now it is below 3 mm. */
static void test_lands_on_a_corner(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  box: {mass: 1, pose: {position: [0, 0, 0.3], rpy: [0.3, 0.5, 0.2]}, velocity: {linear: [2, 0.5, 0], "
        "angular: "
        "[1, 3, 0.5]}, shapes: [{box: [0.2, 0.15, 0.1]}]}\n"
        "contacts: {friction: 0.4}\nrun: {model: dyn-qp, h: 0.001, steps: 500, cone: quadratic}\n";
    scene_run run, rigid;
    double sum = 0.0;
    run_well(&run, scene, SET("run.model=dyn-qp"));
    run_well(&rigid, scene, SET("run.model=dyn-ncp"));
    for (int k = 1; k <= 500; k++) {
        double square = 0.0;
        for (int c = 0; c < 3; c++) {
            square += pow(run_body(&run, k, "box", c) - run_body(&rigid, k, "box", c), 2.0);
        }
        sum += sqrt(square) / 500;
    }
    assert_true(sum < 5e-3);
    assert_true(run.result.residuals.penetration < 2.0 * G * 1e-6);
    assert_true(run.result.residuals.boundary_layer < 1e-4); /* mu h times 2 m/s is 8e-4 */
    scene_run_free(&run);
    scene_run_free(&rigid);
}

/* The layer that a contact reports is what its rows keep: the gap it ends at while it carries force, below 0 where it
 * was expected to slip more than it does. */
static void test_layer_is_what_the_rows_keep(void **unused)
{
    (void)unused;
    scene_run run;
    int slid = 0, below = 0;
    run_well(&run, "masse-ball", SET("run.model=dyn-qp", "run.cone=quadratic", "run.h=0.002", "run.steps=200"));
    for (int k = 1; k < run.count; k++) {
        const perp_contact_record *c = run_contact(&run, k, "table", "ball");
        if (c && c->mode == PERP_CONTACT_SLIDE) {
            NEAR(c->layer_predicted, c->contact.phi, 1e-9);
            slid++;
            below += c->layer_predicted < -1e-9;
        }
    }
    assert_true(slid > 100 && below > 0);
    scene_run_free(&run);
}

/* What is lifted, and where: the first step of a slide under a force finds no slip to expect. */
typedef struct highest {
    double height;
    int a, b, step;
} highest;

static bool note_lift(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    highest *h = context;
    (void)state;
    if (info->lift.height > h->height) {
        *h = (highest){info->lift.height, info->lift.contact.a, info->lift.contact.b, step};
    }
    return true;
}

static void test_lift_is_told(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  block: {mass: 2, pose: {position: [0, 0, 0.05]}, shapes: [{box: [0.2, 0.1, 0.1]}]}\n"
        "forces:\n  - {body: block, point: [0, 0, 0], force: [30, 0, 0]}\n"
        "contacts: {friction: 0.5}\nrun: {model: dyn-qp, h: 0.02, steps: 1}\n";
    highest seen = {0}, rigid = {0}, later = {0};
    scene_run run;
    run_well(&run, scene, SET("run.model=dyn-qp"));
    const double gap = run_body(&run, 1, "block", 2) - 0.05, speed = gap / 0.02;
    scene_run_free(&run);
    scene_run_watched(scene, SET("run.model=dyn-qp"), note_lift, &seen, NULL);
    assert_true(gap > 1e-3); /* it parts at mu times its slip */
    NEAR(seen.height, gap + speed * speed / (2.0 * G), 1e-9);
    assert_int_equal(seen.a, 0);
    assert_int_equal(seen.b, 1);
    assert_int_equal(seen.step, 1);
    /* once it is faster than what gravity makes in a step its slip is expected */
    scene_run_watched(scene, SET("run.steps=40"), note_lift, &later, NULL);
    assert_true(later.height < 2.0 * G * 4e-4 && later.step < 5);
    scene_run_watched(scene, SET("run.model=dyn-ncp"), note_lift, &rigid, NULL);
    assert_true(rigid.height == 0.0);
}

/* What bounces is thrown on purpose, though it slides: by 20 mm here. */
static void test_bounce_is_no_lift(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nbodies:\n  ground: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  ball: {mass: 1, pose: {position: [0, 0, 0.1]}, velocity: {linear: [2, 0, -1]}, shapes: [{sphere: 0.05}]}\n"
        "contacts: {friction: 0.3, pairs: {ground ball: {restitution: 0.8}}}\nrun: {model: dyn-qp, h: 0.002, steps: "
        "100}\n";
    highest seen = {0};
    scene_run_watched(scene, SET("run.model=dyn-qp"), note_lift, &seen, NULL);
    assert_true(seen.height < 2.0 * G * 4e-6);
}

/* Without gravity there is no fall to compare with: a block between two plates that press, and one that only flies. */
static void test_without_gravity(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
        "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  block: {mass: 2, pose: {position: [0, 0.05]}, velocity: {linear: [1.5, 0]}, shapes: [{box: [0.3, 0.1]}]}\n"
        "forces:\n  - {body: block, point: [0, 0], force: [0, -20], torque: 0}\n"
        "contacts: {friction: 0.4}\nrun: {model: dyn-qp, h: 0.005, steps: 60}\n";
    scene_run run;
    double high, deep;
    run_well(&run, scene, SET("run.model=dyn-qp"));
    extremes(&run, "block", 1, &high, &deep);
    assert_true(high < 1e-6 && deep < 1e-6);
    NEAR(run_body(&run, 60, "block", 0), 0.005 * (60 * 1.5 - 4.0 * 0.005 * 60 * 61 / 2), 1e-6);
    scene_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_stays_down),   cmocka_unit_test(test_between_rays),
        cmocka_unit_test(test_slope_in_the_plane), cmocka_unit_test(test_stopped_by_a_wall),
        cmocka_unit_test(test_lands_on_a_corner),  cmocka_unit_test(test_layer_is_what_the_rows_keep),
        cmocka_unit_test(test_lift_is_told),       cmocka_unit_test(test_bounce_is_no_lift),
        cmocka_unit_test(test_without_gravity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
