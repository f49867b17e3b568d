/* The convex rungs: published numbers, closed forms with other values, and what must hold on any scene.
 *
 * Tolerances: positions 1e-9 m, forces 1e-6 N unless said otherwise; steps are solved to 1e-11 in units of the scene,
 * so that what differs by more is another answer. Numbers of tables hold to the digits that they print. */
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
        fail_msg("%s: %s", source, run->error.message);
    }
    assert_true(run->result.residuals.balance <= 1e-8);
    assert_true(run->result.residuals.complementarity <= 1e-8);
    assert_true(run->result.residuals.cone <= 1e-8);
}

/* ---- the gripper ------------------------------------------------------------------------------------------------- */

/* Pang and Tedrake's table, recomputed with the corrected objective: c_n1, phi_1, c_n3, x_l, y at steps. */
static void test_gripper_table(void **unused)
{
    (void)unused;
    static const struct {
        int step;
        double cn1, phi1, cn3, left, lift;
    } rows[] = {{3, 0, 0, 10, -0.1, 0},
                {8, 10, 0, 10, -0.1, 0},
                {13, 10, 0, 20, -0.1, 0},
                {14, 10.6666666667, 6.666666667e-4, 20.6666666667, -0.1006666667, -0.0013333333},
                {15, 10.8888888889, 8.888888889e-4, 20.8888888889, -0.1008888889, -0.0031111111},
                {24, 10.999994, 9.999944e-4, 20.999994, -0.101, -0.021000006},
                {25, 10.333331, 3.333315e-4, 20.333331, -0.10033333, -0.021666669}};
    static const char *const models[] = {"run.model=qs-qp",
                                         "run.model=qs-cone"}; /* in the plane the cone is its rays */
    for (int m = 0; m < 2; m++) {
        scene_run run;
        run_well(&run, "gripper-2d", SET(models[m]));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const int k = rows[i].step;
            const perp_contact_record *finger = run_contact(&run, k, "left_finger", "sphere");
            const perp_contact_record *ground = run_contact(&run, k, "ground", "sphere");
            const perp_contact_record *right = run_contact(&run, k, "right_finger", "sphere");
            NEAR(finger->fn, rows[i].cn1, 1e-6);
            NEAR(right->fn, rows[i].cn1, 1e-6);
            NEAR(ground->fn, rows[i].cn3, 1e-6);
            NEAR(finger->contact.phi, rows[i].phi1, 1e-8);
            NEAR(run_joint(&run, k, "left"), rows[i].left, 1e-7);
            NEAR(run_joint(&run, k, "lift"), rows[i].lift, 1e-7);
            NEAR(ground->fn - 10.0, 1000.0 * (run_joint(&run, k, "lift") + 0.2 * fmin(fmax(0.01 * k - 0.08, 0), 0.16)),
                 1e-6); /* the ground bears the weight and what the lift presses down */
        }
        scene_run_free(&run);
    }
}

/* Slipping, gap and slip are bound, phi+ = mu (y - y+), and 2 mu k_x (g + phi+) = k_y (y+ - y_command), so
 * y+ (1 + 2 mu^2 k_x/k_y) = y_command + 2 mu k_x/k_y (g + mu y), with g how far the finger's command is inside. */
static void test_gripper_recursion(void **unused)
{
    (void)unused;
    static const double cases[][5] = {/* mu, k_x, k_y, mass, h */
                                      {0.3, 1000, 1000, 1, 0.01},
                                      {0.7, 500, 2000, 3, 0.01},
                                      {0.15, 4000, 800, 0.2, 0.005},
                                      {1.2, 300, 3000, 1, 0.02}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double mu = cases[i][0], kx = cases[i][1], ky = cases[i][2], mass = cases[i][3], h = cases[i][4];
        char text[7][64];
        snprintf(text[0], 64, "contacts.friction=%.17g", mu);
        snprintf(text[1], 64, "joints.left.stiffness=%.17g", kx);
        snprintf(text[2], 64, "joints.right.stiffness=%.17g", kx);
        snprintf(text[3], 64, "joints.lift.stiffness=%.17g", ky);
        snprintf(text[4], 64, "bodies.sphere.mass=%.17g", mass);
        snprintf(text[5], 64, "run.h=%.17g", h);
        snprintf(text[6], 64, "run.steps=%d", (int)lround(0.28 / h));
        scene_run run;
        run_well(&run, "gripper-2d", SET(text[0], text[1], text[2], text[3], text[4], text[5], text[6]));
        double y = 0.0;
        for (int k = 1; k < run.count; k++) {
            const double t = k * h, ratio = 2.0 * mu * kx / ky, g = -0.006 + 0.2 * fmin(t, 0.08);
            const double command = -0.2 * fmin(fmax(t - 0.08, 0.0), 0.16);
            const double slid = g > 0.0 ? (command + ratio * (g + mu * y)) / (1.0 + ratio * mu) : command;
            const double next = fmin(slid, y), gap = g > 0.0 ? mu * (y - next) : -g;
            NEAR(run_joint(&run, k, "lift"), next, 1e-9);
            NEAR(run_joint(&run, k, "left"), -0.1 - gap, 1e-9);
            NEAR(run_joint(&run, k, "right"), 0.1 + gap, 1e-9);
            NEAR(run_contact(&run, k, "left_finger", "sphere")->fn, g > 0.0 ? kx * (g + gap) : 0.0, 1e-6);
            NEAR(run_contact(&run, k, "ground", "sphere")->fn, 10.0 * mass + ky * (next - command), 1e-6);
            y = next;
        }
        assert_true(y < -1e-3); /* it has slipped */
        scene_run_free(&run);
    }
}

/* While a finger slides, the gap it keeps is the predicted mu h |v_t|. */
static void test_boundary_layer(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "gripper-2d", NULL);
    const perp_contact_record *finger = run_contact(&run, 24, "left_finger", "sphere");
    assert_int_equal(finger->mode, PERP_CONTACT_SLIDE);
    NEAR(finger->layer_observed, finger->layer_predicted, 1e-9);
    NEAR(run.result.residuals.boundary_layer, 0.5 * 0.01 * 0.2, 1e-8);
    const perp_contact_record *stuck = run_contact(&run, 12, "left_finger", "sphere");
    assert_int_equal(stuck->mode, PERP_CONTACT_STICK);
    NEAR(stuck->layer_predicted, 0.0, 1e-12);
    NEAR(stuck->margin, 0.5 * 10.0 - 4.0, 1e-6); /* 8 N of lift on two fingers */
    scene_run_free(&run);
}

/* ---- quasidynamic ------------------------------------------------------------------------------------------------ */

static void test_pushers(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "pusher-1d", NULL);
    NEAR(run_joint(&run, 1, "push"), 0.1004950, 1e-7);
    NEAR(run_body(&run, 1, "box", 0), 0.2004950, 1e-7);
    scene_run_free(&run);
    run_well(&run, "pusher-2d", NULL);
    const double expected[3] = {0.3504950, 0.0, 0.0};
    NEAR(run_joint(&run, 1, "x"), 0.1004950, 1e-7);
    NEAR(run_joint(&run, 1, "y"), 0.0, 1e-9);
    for (int k = 0; k < 3; k++) {
        NEAR(run_body(&run, 1, "square", k), expected[k], 1e-7);
    }
    scene_run_free(&run);
}

/* In contact at the end, x_box = x_push + 0.1, and k (u - x) = m / h^2 (x + 0.1 - 0.2). */
static void test_pusher_closed_form(void **unused)
{
    (void)unused;
    static const double cases[][3] = {{1, 0.01, 0.01}, {20, 0.5, 0.1}, {300, 2, 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double k = cases[i][0], m = cases[i][1], h = cases[i][2], inertia = m / (h * h);
        char text[3][64];
        snprintf(text[0], 64, "joints.push.stiffness=%.17g", k);
        snprintf(text[1], 64, "bodies.box.mass=%.17g", m);
        snprintf(text[2], 64, "run.h=%.17g", h);
        scene_run run;
        run_well(&run, "pusher-1d", SET(text[0], text[1], text[2]));
        const double x = (k * 0.15 + inertia * 0.1) / (k + inertia);
        NEAR(run_joint(&run, 1, "push"), x, 1e-10);
        NEAR(run_contact(&run, 1, "pusher", "box")->fn, k * (0.15 - x), 1e-9);
        scene_run_free(&run);
    }
}

/* Published with kappa = 0.01 and u = 0.1; and for any kappa the gap nu has kappa / nu = k (u - x) = m / h^2 dx_box. */
static void test_smoothed(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "pusher-1d", SET("run.smoothing=0.01", "joints.push.command.values.1=0.1"));
    NEAR(run_joint(&run, 1, "push"), 0.0004963, 1e-7);
    NEAR(run_body(&run, 1, "box", 0), 0.2009950, 1e-7);
    scene_run_free(&run);
    for (double kappa = 1e-7; kappa < 1.0; kappa *= 10.0) {
        char text[64];
        snprintf(text, sizeof text, "run.smoothing=%.17g", kappa);
        run_well(&run, "pusher-1d", SET(text));
        const double x = run_joint(&run, 1, "push"), box = run_body(&run, 1, "box", 0), force = kappa / (box - x - 0.1);
        NEAR(force, 0.15 - x, 1e-9 * fmax(1.0, force));
        NEAR(force, 100.0 * (box - 0.2), 1e-9 * fmax(1.0, force));
        NEAR(run_contact(&run, 1, "pusher", "box")->fn, force, 1e-9 * fmax(1.0, force));
        scene_run_free(&run);
    }
}

/* With friction, in the plane and kappa -> 0, the smoothed step tends to the exact one. */
static void test_smoothed_limit(void **unused)
{
    (void)unused;
    scene_run exact, smooth;
    run_well(&exact, "grazing", SET("run.steps=8"));
    double before = INFINITY;
    for (double kappa = 1e-3; kappa > 1e-10; kappa *= 0.1) {
        char text[64];
        snprintf(text, sizeof text, "run.smoothing=%.17g", kappa);
        run_well(&smooth, "grazing", SET("run.steps=8", text));
        const double error = fabs(run_body(&smooth, 8, "box", 0) - run_body(&exact, 8, "box", 0));
        assert_true(error < before);
        before = error;
        scene_run_free(&smooth);
    }
    assert_true(before < 1e-8); /* the last kappa is 1e-10 N m beside forces of 1 N and ways of 1e-2 m */
    scene_run_free(&exact);
}

static void test_grazing(void **unused)
{
    (void)unused;
    static const double rows[3][4] = {
        {5, 0.003333333, 0.046666667, 0.003333333}, {6, 0.01, 0.053333333, 0}, {9, 0.037083333, 0.080416667, 0}};
    scene_run run;
    run_well(&run, "grazing", NULL);
    for (int i = 0; i < 3; i++) {
        const int k = (int)rows[i][0];
        NEAR(run_body(&run, k, "box", 0), rows[i][1], 1e-8);
        NEAR(run_joint(&run, k, "x"), rows[i][2], 1e-8);
        NEAR(run_joint(&run, k, "z"), rows[i][3], 1e-8);
    }
    scene_run_free(&run);
}

/* A body in the air: h^2 g in every step, nothing carried over. */
static void test_quasidynamic_falls(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nbodies: {ball: {mass: 2, pose: {position: [0, 0, 5]}, shapes: [{sphere: 0.1}]}}\n"
        "run: {model: quasidynamic, h: 0.1, steps: 7}\n";
    scene_run run;
    run_well(&run, scene, NULL);
    NEAR(run_body(&run, 7, "ball", 2), 5.0 - 7 * 0.01 * 9.81, 1e-12);
    scene_run_free(&run);
}

/* ---- rays and cone ----------------------------------------------------------------------------------------------- */

/* A weight on a floor, led by springs across it: two impedance joints and a passive one in one tree. */
static const char sled[] =
    "perp: 1\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  frame: {}\n"
    "  post: {}\n"
    "  weight: {mass: 1, inertia: [1, 1, 1], shapes: [{point: {}}]}\n"
    "joints:\n"
    "  x: {type: prismatic, parent: world, child: frame, axis: [1, 0, 0], control: impedance, stiffness: 200,"
    " command: {times: [0, 1], values: [0, 0.5]}}\n"
    "  y: {type: prismatic, parent: frame, child: post, axis: [0, 1, 0], control: impedance, stiffness: 200,"
    " command: {times: [0, 1], values: [0, 0.1]}}\n"
    "  z: {type: prismatic, parent: post, child: weight, axis: [0, 0, 1]}\n"
    "contacts: {friction: 0.4}\n"
    "run: {model: qs-cone, h: 0.02, steps: 25}\n";

/* Steadily the weight follows along the command's direction, mu m g / k behind it. */
static void test_cone_slides_along_its_pull(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, sled, NULL);
    const double length = hypot(0.5, 0.1), behind = 0.4 * 9.81 / 200.0;
    NEAR(run_joint(&run, 25, "x"), 0.25 - behind * 0.5 / length, 1e-9);
    NEAR(run_joint(&run, 25, "y"), 0.05 - behind * 0.1 / length, 1e-9);
    const perp_contact_record *c = run_contact(&run, 25, "floor", "weight");
    NEAR(c->fn, 9.81, 1e-8);
    NEAR(c->ft[0], -0.4 * 9.81 * 0.5 / length, 1e-8);
    NEAR(c->ft[1], -0.4 * 9.81 * 0.1 / length, 1e-8);
    NEAR(c->contact.phi, 0.4 * 0.02 * length, 1e-9); /* the boundary layer */
    scene_run_free(&run);
}

static void test_rays_tend_to_cone(void **unused)
{
    (void)unused;
    scene_run cone, rays;
    run_well(&cone, sled, NULL);
    for (int n = 4; n <= 64; n *= 2) {
        char text[32];
        snprintf(text, sizeof text, "run.rays=%d", n);
        run_well(&rays, sled, SET("run.model=qs-qp", text));
        const double error = hypot(run_joint(&rays, 25, "x") - run_joint(&cone, 25, "x"),
                                   run_joint(&rays, 25, "y") - run_joint(&cone, 25, "y"));
        /* a force in the polygon is off by at most a ray's angle, over k */
        assert_true(error <= 2.0 * 3.141592653589793 / n * 0.4 * 9.81 / 200.0 + 1e-10);
        scene_run_free(&rays);
        /* where a ray meets the direction of slip there is no difference */
        scene_run along, exact;
        const char *straight = "joints.y.command.values.1=0";
        run_well(&along, sled, SET("run.model=qs-qp", text, straight));
        run_well(&exact, sled, SET(straight));
        NEAR(run_joint(&along, 25, "x"), run_joint(&exact, 25, "x"), 1e-9);
        NEAR(run_joint(&along, 25, "y"), 0.0, 1e-9);
        scene_run_free(&along);
        scene_run_free(&exact);
    }
    scene_run_free(&cone);
}

/* `cone: quadratic` makes qs-qp the same as qs-cone, bit for bit. */
static void test_quadratic_qp_is_cone(void **unused)
{
    (void)unused;
    scene_run a, b;
    run_well(&a, sled, NULL);
    run_well(&b, sled, SET("run.model=qs-qp", "run.cone=quadratic"));
    assert_true(a.result.hash.value == b.result.hash.value);
    scene_run_free(&a);
    scene_run_free(&b);
}

/* ---- the smallest motion ----------------------------------------------------------------------------------------- */

/* A fence at 30 degrees pushes a particle without friction: it goes straight ahead of the fence, not along it; the
 * other one stays. */
static const char puck[] =
    "perp: 1\n"
    "bodies:\n"
    "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  fence: {driven: {x: {rate: 1}}, shapes: [{plane: {normal: [0.8660254037844386, 0.5, 0],"
    " offset: 0}}]}\n"
    "  pushed: {mass: 1, free: [x, y, z], pose: {position: [0.3, 0, 0]}, shapes: [{point: {}}]}\n"
    "  idle: {mass: 3, pose: {position: [2, 1, 0.1]}, shapes: [{sphere: 0.1}]}\n"
    "contacts: {friction: 0, margin: 3}\n"
    "run: {model: qs-qp, h: 0.01, steps: 60}\n";

static void test_lazy(void **unused)
{
    (void)unused;
    static const char *const models[] = {"run.model=qs-qp", "run.model=qs-cone"};
    for (int m = 0; m < 2; m++) {
        scene_run run;
        run_well(&run, puck, SET(models[m]));
        const double c = 0.8660254037844386, way = c * 0.6 - c * 0.3; /* along the fence's normal */
        NEAR(run_body(&run, 60, "pushed", 0), 0.3 + c * way, 1e-9);
        NEAR(run_body(&run, 60, "pushed", 1), 0.5 * way, 1e-9);
        NEAR(run_body(&run, 60, "pushed", 2), 0.0, 1e-9);
        const double idle[7] = {2, 1, 0.1, 1, 0, 0, 0};
        for (int k = 0; k < 7; k++) {
            NEAR(run_body(&run, 60, "idle", k), idle[k], 1e-9);
        }
        scene_run_free(&run);
    }
}

/* ---- symmetry ---------------------------------------------------------------------------------------------------- */

/* Pushed off its middle the square turns; the mirrored push gives the mirrored motion. */
static void test_mirror(void **unused)
{
    (void)unused;
    scene_run up, down;
    const char *const steps = "run.steps=5", *const times = "joints.x.command.times.1=0.05";
    run_well(&up, "pusher-2d", SET("joints.y.position=0.07", "joints.y.command=0.07", steps, times));
    run_well(&down, "pusher-2d", SET("joints.y.position=-0.07", "joints.y.command=-0.07", steps, times));
    for (int k = 0; k <= 5; k++) {
        NEAR(run_body(&up, k, "square", 0), run_body(&down, k, "square", 0), 1e-12);
        NEAR(run_body(&up, k, "square", 1), -run_body(&down, k, "square", 1), 1e-12);
        NEAR(run_body(&up, k, "square", 2), -run_body(&down, k, "square", 2), 1e-12);
    }
    assert_true(fabs(run_body(&up, 5, "square", 2)) > 1e-4);
    scene_run_free(&up);
    scene_run_free(&down);
}

/* A scene turned by 0.7 about z and shifted: the same motion, turned and shifted. On the cone, which has no preferred
 * directions; 1e-9 as the scene's numbers are rounded otherwise. */
static void put_turned(char *text, size_t size, double angle, double x0, double y0)
{
    const double c = cos(angle), s = sin(angle);
    snprintf(
        text, size,
        "perp: 1\n"
        "bodies:\n"
        "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  finger: {shapes: [{sphere: 0.02}]}\n"
        "  brick: {mass: 0.5, pose: {position: [%.17g, %.17g, 0.05], rpy: [0, 0, %.17g]},"
        " shapes: [{box: [0.2, 0.12, 0.1]}]}\n"
        "joints:\n"
        "  push: {type: prismatic, parent: world, child: finger, anchor: [%.17g, %.17g, 0.03],"
        " axis: [%.17g, %.17g, 0], control: impedance, stiffness: 500, command: {times: [0, 1], values: [0, 0.1]}}\n"
        "contacts: {friction: 0.4}\n"
        "run: {model: qs-cone, h: 0.02, steps: 40}\n",
        x0, y0, angle, x0 + c * -0.125 - s * 0.03, y0 + s * -0.125 + c * 0.03, c, s);
}

static void test_turned_and_shifted(void **unused)
{
    (void)unused;
    const double angle = 0.7, x0 = 0.31, y0 = -0.17;
    char straight[1200], turned[1200];
    scene_run a, b;
    put_turned(straight, sizeof straight, 0.0, 0.0, 0.0);
    put_turned(turned, sizeof turned, angle, x0, y0);
    run_well(&a, straight, NULL);
    run_well(&b, turned, NULL);
    for (int k = 0; k <= 40; k++) {
        const double x = run_body(&a, k, "brick", 0), y = run_body(&a, k, "brick", 1);
        NEAR(run_body(&b, k, "brick", 0), x0 + cos(angle) * x - sin(angle) * y, 1e-9);
        NEAR(run_body(&b, k, "brick", 1), y0 + sin(angle) * x + cos(angle) * y, 1e-9);
        NEAR(run_joint(&b, k, "push"), run_joint(&a, k, "push"), 1e-9);
    }
    assert_true(run_body(&a, 40, "brick", 0) > 0.03);
    assert_true(fabs(run_body(&a, 40, "brick", 6)) > 0.01); /* it turned */
    scene_run_free(&a);
    scene_run_free(&b);
}

/* ---- mechanisms -------------------------------------------------------------------------------------------------- */

/* The unit of force of step k of the door, N: the springs' pull on the finger before it has moved, which grows with h;
 * the closer's torque over the scene's size is less. */
static double door_unit(const scene_run *run, int k)
{
    const double t = run->states[k].t;
    const double x = 2000.0 * fabs(0.7 - 0.2 * t - run_joint(run, k - 1, "x"));
    const double y = 2000.0 * fabs(-0.05 + 0.5 * t - run_joint(run, k - 1, "y"));
    return fmax(x, y);
}

/* The largest imbalance of forces with exact geometry, N. It has one cause: forces act where the contact is at the
 * step's begin, the door turns on by d, and so does what it would push along, by |f| d. The largest component is at
 * least 1/sqrt(2) of that; the arm, which the finger's slip changes, takes or adds a tenth. */
static double door_imbalance(const scene_run *run)
{
    double largest = 0.0;
    for (int k = 1; k < run->count; k++) {
        if (run->states[k].t < 0.031) {
            continue; /* the finger is on its way */
        }
        const perp_contact_record *c = run_contact(run, k, "door", "finger");
        const double turned = run_joint(run, k, "hinge") - run_joint(run, k - 1, "hinge");
        const double found = run->states[k].residuals.balance_true * door_unit(run, k);
        const double expected = hypot(c->fn, c->ft[0]) * turned;
        assert_true(found > 0.6 * expected && found < 1.1 * expected);
        largest = fmax(largest, found);
    }
    return largest;
}

/* The door's closer against the finger: the hinge's balance is fn and ft at the finger's arm. */
static void test_door(void **unused)
{
    (void)unused;
    scene_run run, fine, loaded;
    run_well(&run, "door", NULL);
    const perp_contact_record *c = run_contact(&run, 100, "door", "finger");
    assert_int_equal(c->mode, PERP_CONTACT_SLIDE);
    assert_true(run_joint(&run, 100, "hinge") > 0.7);
    NEAR(run_joint(&run, 1, "hinge"), 0.0, 1e-12); /* held by its limit until the finger comes */
    run_well(&fine, "door", SET("run.h=0.002", "run.until=1"));
    NEAR(door_imbalance(&fine) / door_imbalance(&run), 0.2, 0.02); /* in newtons it goes with h */
    scene_run_free(&fine);
    run_well(&fine, "door", SET("run.substep_tolerance=1e-6"));
    assert_true(fine.result.fallbacks[PERP_FALLBACK_SUBSTEP] > 0);
    assert_true(fine.result.residuals.penetration <= 1e-6);
    assert_true(fine.result.residuals.balance_true < run.result.residuals.balance_true);
    /* What the hinge alone carries, 1e8 N, splits no step and leaves none whole. */
    run_well(&loaded, "door",
             SET("run.substep_tolerance=1e-6", "forces=[{body: door, force: [1.0e8, 0], torque: -2}]"));
    assert_int_equal(loaded.result.fallbacks[PERP_FALLBACK_SUBSTEP], fine.result.fallbacks[PERP_FALLBACK_SUBSTEP]);
    scene_run_free(&loaded);
    scene_run_free(&fine);
    scene_run_free(&run);
}

/* A parallelogram of three bars and the ground, closed by a loop, weighed down by its coupler and held by a spring at
 * one crank: the coupler stays level, and by virtual work k (command - q) = m g times the horizontal arm. */
static const char linkage[] =
    "perp: 1\nplanar: true\n"
    "bodies:\n"
    "  left: {}\n"
    "  right: {}\n"
    "  coupler: {mass: 2, inertia: 0.1, com: [0.25, 0]}\n"
    "  ground: {fixed: true}\n"
    "joints:\n"
    "  a: {type: revolute, parent: world, child: left, anchor: [0, 0], control: impedance, stiffness: 500,"
    " position: 0.6, command: {times: [0, 1], values: [0.6, 1.1]}}\n"
    "  b: {type: revolute, parent: left, child: coupler, anchor: [0.3, 0], position: -0.6}\n"
    "  c: {type: revolute, parent: world, child: right, anchor: [0.5, 0], position: 0.6}\n"
    "loops: {tie: {type: point, a: coupler, b: right, anchor_a: [0.5, 0], anchor_b: [0.3, 0]}}\n"
    "run: {model: qs-qp, h: 0.01, steps: 100}\n";

static void test_loop(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, linkage, NULL);
    const double a = run_joint(&run, 100, "a"), b = run_joint(&run, 100, "b"), c = run_joint(&run, 100, "c");
    /* the step's arms are those of its begin, 0.005 rad before: m g 0.3 sin(a) 0.005 = 0.03 N m */
    NEAR(500.0 * (1.1 - a), 2.0 * 9.81 * 0.3 * cos(a), 0.04);
    NEAR(a + b, 0.0, 1e-4);
    NEAR(c, a, 1e-4);
    assert_true(run.result.residuals.loop < 1e-4);
    assert_true(a > 1.0);
    scene_run_free(&run);
}

/* ---- the stack --------------------------------------------------------------------------------------------------- */

static void test_cube_stack(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, "cube-stack", NULL);
    const int end = run.count - 1;
    double ground = 0.0;
    for (int i = 0; i < run.states[end].contact_count; i++) {
        const perp_contact_record *r = &run.states[end].contacts[i];
        const bool on_cube = r->contact.a == 0 || r->contact.a == 1;
        ground += on_cube ? r->force_on_b.z : 0.0; /* of the floor, and of the finger, which friction lets press down */
    }
    NEAR(ground, 10 * 0.1 * 9.81, 1e-6);
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "cube%d", i);
        NEAR(run_body(&run, end, name, 0), run_body(&run, end, "cube0", 0), 1e-9); /* rides on the lowest */
        NEAR(run_body(&run, end, name, 1), 0.0, 1e-9);
    }
    /* the spring pushes with friction's whole force: mu m g */
    NEAR(2000.0 * (0.06 - run_joint(&run, end, "push")), 0.5 * 9.81, 0.5);
    assert_true(run_body(&run, end, "cube0", 0) > 0.05);
    scene_run_free(&run);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void test_unsupported(void **unused)
{
    (void)unused;
    static const char scene[] = "perp: 1\n"
                                "bodies:\n"
                                "  floor: {fixed: true, shapes: [{plane: {normal: [0, 0, 1]}}]}\n"
                                "  lies: {mass: 1, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
                                "  hangs: {mass: 1, pose: {position: [1, 0, 1]}, shapes: [{sphere: 0.1}]}\n"
                                "run: {model: qs-qp, h: 0.01, steps: 3}\n";
    static const char *const models[] = {"run.model=qs-qp", "run.model=qs-cone"};
    for (int m = 0; m < 2; m++) {
        scene_run run;
        scene_run_make(&run, scene, SET(models[m]));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "unsupported-body");
        assert_string_equal(run.error.evidence.body, "hangs");
        assert_true(run.error.evidence.has_direction);
        NEAR(run.error.evidence.direction[2], -1.0, 1e-6);
        assert_non_null(strstr(run.error.message, "quasidynamic"));
        assert_int_equal(run.result.steps, 0);
        scene_run_free(&run);
    }
}

static void test_infeasible_command(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nplanar: true\ngravity: [0, 0]\n"
        "bodies:\n"
        "  wall: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: -1}}]}\n"
        "  ram: {driven: {x: {offset: 0.5, rate: 1}}, shapes: [{halfplane: {normal: [1, 0]}}]}\n"
        "  ball: {mass: 1, pose: {position: [0.8, 0]}, shapes: [{disc: 0.1}]}\n"
        "contacts: {margin: 1, exclude: [[wall, ram]]}\n"
        "run: {model: quasidynamic, h: 0.1, steps: 10}\n";
    scene_run run;
    scene_run_make(&run, scene, NULL);
    assert_string_equal(run.error.code, "infeasible-command");
    assert_non_null(strstr(run.error.message, "the commands force bodies into each other"));
    assert_non_null(strstr(run.error.evidence.contact, "ram ball"));
    assert_true(run.error.evidence.has_depth && run.error.evidence.depth > 0.0);
    /* at t = 0.3 the ram is at 0.8 and the ball is full between it and the wall: 0.1 too much, shared by two contacts
     */
    assert_int_equal(run.result.steps, 3);
    NEAR(run.error.evidence.depth, 0.05, 1e-6);
    scene_run_free(&run);
}

/* A driven disc pushes a block over open ground. With mu_pusher mu_ground > 1 convex friction has no motion for it:
 * what slides up along the pusher goes ahead by mu of that, what goes ahead over the ground rises by mu of that. It is
 * not the commands, and the message does not say so; Coulomb's law has an answer. */
static void test_no_room_for_layers(void **unused)
{
    (void)unused;
    static const char scene[] =
        "perp: 1\nplanar: true\n"
        "bodies:\n"
        "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1]}}]}\n"
        "  pusher: {driven: {x: {offset: -0.16, rate: 0.1}}, pose: {position: [0, 0.02]}, shapes: [{disc: 0.05}]}\n"
        "  block: {mass: 1, free: [x, y], pose: {position: [0, 0.1]}, shapes: [{box: [0.2, 0.2]}]}\n"
        "contacts: {friction: 1.2}\n"
        "run: {model: qs-qp, h: 0.01, steps: 40}\n";
    static const char *const convex[] = {"run.model=qs-qp", "run.model=qs-cone", "run.model=quasidynamic"};
    scene_run run;
    for (int k = 0; k < 3; k++) {
        scene_run_make(&run, scene, SET(convex[k]));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "infeasible-command");
        assert_non_null(strstr(run.error.message, "convex friction leaves no motion"));
        assert_non_null(strstr(run.error.evidence.contact, "block"));
        scene_run_free(&run);
        run_well(&run, scene, SET(convex[k], "contacts.friction=0.9")); /* 0.81: there is room */
        scene_run_free(&run);
    }
    run_well(&run, scene, SET("run.model=qs-lcp"));
    NEAR(run_body(&run, 40, "block", 0), 0.03, 1e-9); /* pushed by 0.04 - 0.01 */
    scene_run_free(&run);
}

static void test_penetrating_start(void **unused)
{
    (void)unused;
    scene_run run;
    scene_run_make(&run, "gripper-2d", SET("bodies.sphere.pose.position.1=0.09"));
    assert_string_equal(run.error.code, "penetrating-start");
    NEAR(run.error.evidence.depth, 0.01, 1e-12);
    assert_non_null(strstr(run.error.evidence.contact, "ground sphere"));
    scene_run_free(&run);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void test_repeatable(void **unused)
{
    (void)unused;
    static const char *const names[] = {"gripper-2d", "grazing", "cube-stack", "door"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        scene_run a, b;
        run_well(&a, names[i], NULL);
        run_well(&b, names[i], NULL);
        assert_true(a.result.hash.value == b.result.hash.value);
        scene_run_free(&a);
        scene_run_free(&b);
    }
}

static void test_steady_state_takes_no_memory(void **unused)
{
    (void)unused;
    static const char *const names[] = {"gripper-2d", "cube-stack"};
    static const int from[] = {16, 60}, to[] = {24, 99}; /* sliding */
    for (int i = 0; i < 2; i++) {
        failing_allocator f = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&f);
        scene_run run;
        scene_run_make_with(&run, names[i], NULL, &allocator, &f.requests);
        assert_int_equal(run.status, PERP_STATUS_OK);
        assert_true(run.states[from[i]].requests > 0);
        assert_int_equal(run.states[from[i]].requests, run.states[to[i]].requests);
        scene_run_free(&run);
        assert_int_equal(f.standing, 0);
    }
}

/* Every request for memory may fail: the run says so and nothing is lost. (Of the answer that the next step would start
 * from alone, a run goes on without.) */
static void test_out_of_memory(void **unused)
{
    (void)unused;
    scene_run_refuse_memory("gripper-2d", SET("run.steps=6"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gripper_table),
        cmocka_unit_test(test_gripper_recursion),
        cmocka_unit_test(test_boundary_layer),
        cmocka_unit_test(test_pushers),
        cmocka_unit_test(test_pusher_closed_form),
        cmocka_unit_test(test_smoothed),
        cmocka_unit_test(test_smoothed_limit),
        cmocka_unit_test(test_grazing),
        cmocka_unit_test(test_quasidynamic_falls),
        cmocka_unit_test(test_cone_slides_along_its_pull),
        cmocka_unit_test(test_rays_tend_to_cone),
        cmocka_unit_test(test_quadratic_qp_is_cone),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_turned_and_shifted),
        cmocka_unit_test(test_door),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_cube_stack),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_infeasible_command),
        cmocka_unit_test(test_no_room_for_layers),
        cmocka_unit_test(test_penetrating_start),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_steady_state_takes_no_memory),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
