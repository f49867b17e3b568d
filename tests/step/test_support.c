/* Planar bodies that rest on the plane of the scene: friction under given loads. The answers are found again without
 * any solver: the motion that costs the least power, by search; the dynamics, by Runge and Kutta's method on the same
 * points. */
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

enum { POINTS = 4 };

/* A body that rests on points: mu N_i there, all moments about the body's origin. */
typedef struct slider {
    double x[POINTS], y[POINTS], share[POINTS]; /* shares add up to 1 */
    double normal, mu;
} slider;

/* How much work friction does against a slip u of one point with mu N = 1, by the rung's cone. */
typedef double gauge_function(double ux, double uy);

static double round_gauge(double ux, double uy)
{
    return hypot(ux, uy);
}

/* Four rays along x and y: the dual of the square on its corner is the square. */
static double rays_gauge(double ux, double uy)
{
    return fmax(fabs(ux), fabs(uy));
}

static double box_gauge(double ux, double uy)
{
    return fabs(ux) + fabs(uy);
}

/* W: what a twist (vx, vy, omega) costs. */
static double power(const slider *s, gauge_function *gauge, const double v[3])
{
    double sum = 0.0;
    for (int i = 0; i < POINTS; i++) {
        sum += s->mu * s->normal * s->share[i] * gauge(v[0] - v[2] * s->y[i], v[1] + v[2] * s->x[i]);
    }
    return sum;
}

/* ---- least power ------------------------------------------------------------------------------------------------- */

/* Twists whose velocity at the point (px, py) along (nx, ny) is `pushed`, and across `slips`, with the spin `omega`. */
typedef struct push {
    const slider *s;
    gauge_function *gauge;
    double px, py, nx, ny, pushed;
    double omega; /* of the outer search */
} push;

static void twist_of(const push *p, double slips, double v[3])
{
    v[2] = p->omega;
    v[0] = p->pushed * p->nx - slips * p->ny + p->omega * p->py;
    v[1] = p->pushed * p->ny + slips * p->nx - p->omega * p->px;
}

static double power_of_slip(push *p, double slips)
{
    double v[3];
    twist_of(p, slips, v);
    return power(p->s, p->gauge, v);
}

/* Of a convex function, by thirds that shrink; the least of the last points is on the way of it. */
static double search_least(push *p, double (*f)(push *p, double x), double low, double high)
{
    static const double GOLDEN = 0.61803398874989484820;
    double a = high - GOLDEN * (high - low), b = low + GOLDEN * (high - low), fa = f(p, a), fb = f(p, b);
    for (int k = 0; k < 90; k++) {
        if (fa <= fb) {
            high = b;
            b = a;
            fb = fa;
            a = high - GOLDEN * (high - low);
            fa = f(p, a);
        } else {
            low = a;
            a = b;
            fa = fb;
            b = low + GOLDEN * (high - low);
            fb = f(p, b);
        }
    }
    return 0.5 * (low + high);
}

static const double SPIN = 40.0, SLIP = 4.0; /* of a push of 1 m/s at a body of 0.1 m */

static double least_slip(push *p, double omega)
{
    p->omega = omega;
    return search_least(p, power_of_slip, -SLIP, SLIP);
}

static double power_of_spin(push *p, double omega)
{
    return power_of_slip(p, least_slip(p, omega));
}

/* The twist of a body that a frictionless finger pushes. */
static void push_freely(push *p, double v[3])
{
    const double omega = search_least(p, power_of_spin, -SPIN, SPIN);
    twist_of(p, least_slip(p, omega), v);
}

/* ---- pushes ------------------------------------------------------------------------------------------------------ */

static double random_between(unsigned *seed, double low, double high)
{
    *seed = 1664525u * *seed + 1013904223u;
    return low + (high - low) * (*seed >> 8) / 16777216.0;
}

static slider random_slider(unsigned *seed)
{
    slider s = {.normal = random_between(seed, 1.0, 20.0), .mu = random_between(seed, 0.1, 0.8)};
    double sum = 0.0;
    for (int i = 0; i < POINTS; i++) {
        s.x[i] = random_between(seed, -0.1, 0.1);
        s.y[i] = random_between(seed, -0.1, 0.1);
        sum += s.share[i] = random_between(seed, 0.1, 1.0);
    }
    for (int i = 0; i < POINTS; i++) {
        s.share[i] /= sum;
    }
    return s;
}

static const char PUSHED[] =
    "perp: 1\nplanar: true\ngravity: [0, 0]\n"
    "bodies:\n"
    "  slider:\n"
    "    mass: 1\n"
    "    inertia: 0.01\n"
    "    shapes: [{box: [0.2, 0.2], friction: %.17g}]\n"
    "    support: {friction: %.17g, normal: %.17g, points: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], "
    "[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}\n"
    "  finger: {driven: {x: {offset: -0.1, rate: %.17g}, y: {offset: %.17g, rate: %.17g}}, shapes: [{point: {}, "
    "friction: %.17g}]}\n"
    "run: {model: %s, h: 1.0e-3, steps: 1}\n";

static scene_text push_text(const slider *s, double friction, double y, double vx, double vy, const char *model)
{
    return scene_text_of(PUSHED, friction, s->mu, s->normal, s->x[0], s->y[0], s->share[0], s->x[1], s->y[1],
                         s->share[1], s->x[2], s->y[2], s->share[2], s->x[3], s->y[3], s->share[3], vx, y, vy, friction,
                         model);
}

static void run_text(scene_run *run, const char *text)
{
    scene_run_make(run, text, NULL);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s", run->error.message);
    }
}

static double speed_of(const scene_run *run, int state, int k)
{
    return run->states[state].v[run->model->links[0].v_start + k];
}

typedef struct rung_case {
    const char *model;
    gauge_function *gauge;
} rung_case;

static const rung_case QUASISTATIC[] = {
    {"qs-lcp", rays_gauge}, {"qs-ncp", round_gauge},  {"qs-opt", round_gauge},         {"qs-lp", box_gauge},
    {"qs-qp", rays_gauge},  {"qs-cone", round_gauge}, {"qs-impedance-lcp", rays_gauge}};
enum { QUASISTATIC_COUNT = sizeof QUASISTATIC / sizeof *QUASISTATIC };

/* A finger without friction pushes at 1 m/s: of all motions that give way the one of least power. */
static void pushes_cost_the_least_power(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int k = 0; k < 100; k++) {
        const slider s = random_slider(&seed);
        const double y = random_between(&seed, -0.09, 0.09);
        double v[3];
        const rung_case *at = &QUASISTATIC[k % QUASISTATIC_COUNT];
        scene_run run;
        push p = {&s, at->gauge, -0.1, y, 1.0, 0.0, 1.0, 0.0};
        push_freely(&p, v);
        run_text(&run, push_text(&s, 0.0, y, 1.0, 0.0, at->model).of);
        const double least = power(&s, at->gauge, v), found = power(&s, at->gauge, run.states[1].v);
        NEAR(found, least, 1e-8 * least); /* the law's tolerance */
        for (int i = 0; i < 3; i++) {
            NEAR(speed_of(&run, 1, i), v[i], 1e-6 * fmax(1.0, fabs(v[i])));
        }
        scene_run_free(&run);
    }
}

static double power_of_turning(push *p, double omega)
{
    p->omega = omega;
    return power_of_slip(p, 0.0);
}

/* A finger that sticks leaves the spin alone open. */
static void sticking_fingers_leave_a_turn_of_least_power(void **state)
{
    (void)state;
    static const char *const FINGERS[] = {"qs-ncp", "qs-opt", "qs-cone"};
    unsigned seed = 11;
    int stuck = 0;
    for (int k = 0; k < 60; k++) {
        const slider s = random_slider(&seed);
        const double y = random_between(&seed, -0.06, 0.06), angle = random_between(&seed, -0.2, 0.2);
        scene_run run;
        run_text(&run, push_text(&s, 0.8, y, cos(angle), sin(angle), FINGERS[k % 3]).of);
        if (run_contact(&run, 1, "slider", "finger")->mode == PERP_CONTACT_STICK) {
            push p = {&s, round_gauge, -0.1, y, cos(angle), sin(angle), 1.0, 0.0};
            const double spin = search_least(&p, power_of_turning, -SPIN, SPIN);
            NEAR(speed_of(&run, 1, 2), spin, 1e-6 * fmax(1.0, fabs(spin)));
            stuck++;
        }
        scene_run_free(&run);
    }
    assert_true(stuck > 20);
}

/* ---- rest -------------------------------------------------------------------------------------------------------- */

static const char *const STEPPING[] = {"qs-lcp",           "qs-ncp",  "qs-opt",  "qs-lp",
                                       "qs-impedance-lcp", "qs-qp",   "qs-cone", "quasidynamic",
                                       "dyn-lcp",          "dyn-ncp", "dyn-qp"};
enum { STEPPING_COUNT = sizeof STEPPING / sizeof *STEPPING };

static const char LOADED[] = "perp: 1\nplanar: true\ngravity: [0, 0]\n"
                             "bodies:\n"
                             "  slider: {mass: 1, shapes: [{box: [0.2, 0.1]}], support: {friction: 0.4%s}}\n"
                             "forces: [{body: slider, point: [0.03, 0.02], force: [%g, 1], torque: 0.05}]\n"
                             "run: {model: %s, h: 0.01, steps: 20}\n";

/* Forces of the plane on the body in the last state: sum, and moment about the origin. */
static void plane_on_body(const scene_run *run, double sum[3])
{
    const run_state *last = &run->states[run->count - 1];
    memset(sum, 0, 3 * sizeof *sum);
    for (int i = 0; i < last->contact_count; i++) {
        const perp_contact_record *r = &last->contacts[i];
        if (perp_contact_is_support(&r->contact)) {
            sum[0] += r->ft[0];
            sum[1] += r->ft[1];
            sum[2] += r->contact.point_b.x * r->ft[1] - r->contact.point_b.y * r->ft[0];
            assert_true(hypot(r->ft[0], r->ft[1]) <= 0.4 * sqrt(2.0) * r->fn * (1.0 + 1e-9)); /* the box's corner */
            NEAR(r->force_on_b.x, r->ft[0], 0.0);
            NEAR(r->force_on_b.y, r->ft[1], 0.0);
        }
    }
}

/* Friction balances what it can hold, and nothing moves by a bit; on `compliant`, whose contacts give, by rounding. */
static void what_friction_holds_does_not_creep(void **state)
{
    (void)state;
    for (int r = 0; r < STEPPING_COUNT; r++) {
        scene_run run;
        double sum[3];
        run_text(&run, scene_text_of(LOADED, "", 2.0, STEPPING[r]).of);
        for (int k = 0; k < 3; k++) {
            const double room = strcmp(STEPPING[r], "compliant") == 0 ? 1e-15 : 0.0;
            NEAR(run_body(&run, run.count - 1, "slider", k), 0.0, room);
            NEAR(speed_of(&run, run.count - 1, k), 0.0, room);
        }
        plane_on_body(&run, sum);
        NEAR(sum[0], -2.0, 1e-7);
        NEAR(sum[1], -1.0, 1e-7);
        NEAR(sum[2], -(0.05 + 0.03 * 1 - 0.02 * 2), 1e-8);
        scene_run_free(&run);
    }
}

/* Beyond it nothing holds the body where there is no inertia; without load or friction any force does that. */
static void what_friction_cannot_hold_is_unsupported(void **state)
{
    (void)state;
    static const char *const WEAK[] = {"", ", normal: 0"};
    for (int r = 0; r < 7; r++) {
        for (int k = 0; k < 2; k++) {
            scene_run run;
            const scene_text text = scene_text_of(LOADED, WEAK[k], k == 0 ? 6.0 : 2.0, STEPPING[r]);
            scene_run_make(&run, text.of, NULL);
            assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
            assert_string_equal(run.error.code, "unsupported-body");
            scene_run_free(&run);
        }
    }
}

/* ---- dynamics ---------------------------------------------------------------------------------------------------- */

static const char THROWN[] =
    "perp: 1\nplanar: true\ngravity: [0, 0]\n"
    "bodies:\n"
    "  slider: {mass: 2, inertia: 0.01, velocity: {linear: [0.6, 0.2], angular: 5}, support: {friction: 0.3, points: "
    "[[0.1, 0.05, 1], [-0.1, 0.05, 2], [-0.05, -0.08, 3], [0.04, -0.02, 4]]%s}}\n"
    "run: {model: %s, h: %.17g, until: 0.1, cone: quadratic}\n";

static const slider THROWN_ON = {
    {0.1, -0.1, -0.05, 0.04}, {0.05, 0.05, -0.08, -0.02}, {0.1, 0.2, 0.3, 0.4}, 9.81 * 2, 0.3};

/* Where the load has its centre, and the mean distance from there. */
static double centre_of(const slider *s, double *x, double *y)
{
    double arm = 0.0;
    *x = *y = 0.0;
    for (int i = 0; i < POINTS; i++) {
        *x += s->share[i] * s->x[i];
        *y += s->share[i] * s->y[i];
    }
    for (int i = 0; i < POINTS; i++) {
        arm += s->share[i] * hypot(s->x[i] - *x, s->y[i] - *y);
    }
    return arm;
}

/* Of one force at the centre and one moment, against the slip there and the turning times the arm. */
static void thrown_ellipsoid_rates(const double y[6], double rate[6])
{
    const double c = cos(y[2]), s = sin(y[2]), m = 2.0, inertia = 0.01;
    double x0, y0;
    const double arm = centre_of(&THROWN_ON, &x0, &y0), px = c * x0 - s * y0, py = s * x0 + c * y0;
    const double ux = y[3] - y[5] * py, uy = y[4] + y[5] * px, size = hypot(hypot(ux, uy), arm * y[5]);
    const double f = -THROWN_ON.mu * THROWN_ON.normal / size;
    memcpy(rate, y + 3, 3 * sizeof *rate);
    rate[3] = f * ux / m;
    rate[4] = f * uy / m;
    rate[5] = f * (px * uy - py * ux + arm * arm * y[5]) / inertia;
}

typedef void rates_function(const double y[6], double rate[6]);

/* x, y, theta and their rates. */
static void thrown_rates(const double y[6], double rate[6])
{
    const double c = cos(y[2]), s = sin(y[2]), m = 2.0, inertia = 0.01;
    memcpy(rate, y + 3, 3 * sizeof *rate);
    memset(rate + 3, 0, 3 * sizeof *rate);
    for (int i = 0; i < POINTS; i++) {
        const double px = c * THROWN_ON.x[i] - s * THROWN_ON.y[i], py = s * THROWN_ON.x[i] + c * THROWN_ON.y[i];
        const double ux = y[3] - y[5] * py, uy = y[4] + y[5] * px, speed = hypot(ux, uy);
        const double f = -THROWN_ON.mu * THROWN_ON.normal * THROWN_ON.share[i] / speed;
        rate[3] += f * ux / m;
        rate[4] += f * uy / m;
        rate[5] += f * (px * uy - py * ux) / inertia;
    }
}

static void thrown_body(rates_function *rates, double y[6])
{
    enum { PARTS = 20000 };
    const double h = 0.1 / PARTS;
    for (int step = 0; step < PARTS; step++) {
        double k[4][6], at[6];
        for (int stage = 0; stage < 4; stage++) {
            const double ahead = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
            for (int i = 0; i < 6; i++) {
                at[i] = y[i] + (stage > 0 ? ahead * k[stage - 1][i] : 0.0);
            }
            rates(at, k[stage]);
        }
        for (int i = 0; i < 6; i++) {
            y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
    }
}

/* A body that slides and spins: steps of h and h / 2, extrapolated to 0, against the differential equation. */
static void expect_thrown(rates_function *rates, const char *model)
{
    static const char *const MODELS[] = {"dyn-ncp", "dyn-qp", "compliant"};
    double exact[6] = {0, 0, 0, 0.6, 0.2, 5};
    thrown_body(rates, exact);
    for (int m = 0; m < 3; m++) {
        scene_run coarse, fine;
        run_text(&coarse, scene_text_of(THROWN, model, MODELS[m], 4e-4).of);
        run_text(&fine, scene_text_of(THROWN, model, MODELS[m], 2e-4).of);
        for (int k = 0; k < 3; k++) {
            const double one = speed_of(&coarse, coarse.count - 1, k), two = speed_of(&fine, fine.count - 1, k);
            NEAR(2.0 * two - one, exact[3 + k], 2e-5 * fmax(1.0, fabs(exact[3 + k])));
            NEAR(2.0 * run_body(&fine, fine.count - 1, "slider", k) - run_body(&coarse, coarse.count - 1, "slider", k),
                 exact[k], 1e-6);
        }
        scene_run_free(&coarse);
        scene_run_free(&fine);
    }
}

static void thrown_bodies_follow_the_equation_of_motion(void **state)
{
    (void)state;
    expect_thrown(thrown_rates, "");
    expect_thrown(thrown_ellipsoid_rates, ", model: ellipsoid");
}

/* At the very begin, by hand. */
static void expect_instant(rates_function *rates, const char *model)
{
    scene_run run;
    double rate[6];
    const scene_text text = scene_text_of(THROWN, model, "instant", 1e-3);
    instant_run(&run, text.of, SET("run.cone=rays"));
    rates((const double[6]){0, 0, 0, 0.6, 0.2, 5}, rate);
    const perp_instant_solution *one = instant_only(&run);
    for (int k = 0; k < 3; k++) {
        NEAR(one->rate[k], rate[3 + k], 1e-9 * fabs(rate[3 + k]));
    }
    scene_run_free(&run);
}

static void an_instant_has_the_forces_of_the_slip(void **state)
{
    (void)state;
    expect_instant(thrown_rates, "");
    expect_instant(thrown_ellipsoid_rates, ", model: ellipsoid");
}

/* ---- uniform pressure -------------------------------------------------------------------------------------------- */

static const char SPREAD[] = "perp: 1\nplanar: true\ngravity: [0, 0]\n"
                             "bodies: {slider: {mass: 1, inertia: 1, shapes: [{%s}], support: {normal: 7}}}\n"
                             "run: {model: qs-cone, h: 0.01, steps: 1}\n";

/* Load, and its moments 1, x, y, x^2, xy, y^2. */
static void spread(const char *shape, double moments[6], double *turning)
{
    scene_run run;
    run_text(&run, scene_text_of(SPREAD, shape).of);
    const run_state *last = &run.states[run.count - 1];
    memset(moments, 0, 6 * sizeof *moments);
    *turning = 0.0;
    for (int i = 0; i < last->contact_count; i++) {
        const perp_contact_record *r = &last->contacts[i];
        const double x = r->contact.point_b.x, y = r->contact.point_b.y;
        const double powers[6] = {1, x, y, x * x, x * y, y * y};
        for (int k = 0; k < 6; k++) {
            moments[k] += r->fn * powers[k];
        }
        *turning += r->fn * hypot(x, y);
        assert_int_equal(r->contact.friction == 0.5, 1); /* contacts.friction */
    }
    scene_run_free(&run);
}

static void expect_moments(const char *shape, const double mean[5], double turning, double error)
{
    double m[6], moment;
    spread(shape, m, &moment);
    NEAR(m[0], 7.0, 1e-12);
    for (int k = 0; k < 5; k++) {
        NEAR(m[1 + k], 7.0 * mean[k], 1e-13);
    }
    if (turning > 0.0) {
        NEAR(moment, 7.0 * turning, error * 7.0 * turning);
    }
}

/* Means over an area of x, y, x^2, xy, y^2; and of |r|: a square of side 1 has 0.382597858, a disc 2/3. */
static void uniform_pressure_has_the_moments_of_the_area(void **state)
{
    (void)state;
    const double c = cos(0.3), s = sin(0.3), p = 0.2 * 0.2 / 12, q = 0.1 * 0.1 / 12;
    expect_moments("box: [0.2, 0.2]", (const double[5]){0, 0, p, 0, p}, 0.2 * 0.38259785823210635, 0.01);
    expect_moments("disc: 0.1", (const double[5]){0, 0, 0.0025, 0, 0.0025}, 0.2 / 3, 0.012);
    expect_moments("box: [0.2, 0.1], pose: {position: [0.03, -0.02], angle: 0.3}",
                   (const double[5]){0.03, -0.02, 9e-4 + c * c * p + s * s * q, -6e-4 + c * s * (p - q),
                                     4e-4 + s * s * p + c * c * q},
                   0.0, 0.0);
    /* corners (0, 0), (a, 0), (0, b): a/3, b/3, a^2/6, ab/12, b^2/6 */
    expect_moments("polygon: [[0, 0], [0.3, 0], [0, 0.2]]",
                   (const double[5]){0.1, 0.2 / 3, 0.09 / 6, 0.06 / 12, 0.04 / 6}, 0.0, 0.0);
    /* an L of three squares of side 0.1: their centres' mean and square, and a twelfth of 0.01 */
    expect_moments("polygon: [[0, 0], [0.2, 0], [0.2, 0.1], [0.1, 0.1], [0.1, 0.2], [0, 0.2]]",
                   (const double[5]){0.25 / 3, 0.25 / 3, (0.0025 * 2 + 0.0225) / 3 + 0.01 / 12,
                                     (0.0025 + 0.0075 * 2) / 3, (0.0025 * 2 + 0.0225) / 3 + 0.01 / 12},
                   0.0, 0.0);
    /* a capsule: a rectangle L x 2R and a disc in two halves, whose centroids are 4R/3pi out of their centres */
    const double r = 0.05, l = 0.2, pi = 3.14159265358979323846, flat = 2 * r * l, round = pi * r * r;
    const double along = flat * l * l / 12 + round * (r * r / 4 + l * l / 4 + l * 4 * r / (3 * pi));
    const double across = flat * r * r / 3 + round * r * r / 4;
    expect_moments("capsule: {radius: 0.05, length: 0.2}",
                   (const double[5]){0, 0, along / (flat + round), 0, across / (flat + round)}, 0.0, 0.0);
}

/* ---- ellipsoids -------------------------------------------------------------------------------------------------- */

static const char *const ROUND[] = {"qs-cone", "qs-qp", "qs-ncp", "qs-opt", "dyn-qp", "dyn-ncp", "quasidynamic"};
enum { ROUND_COUNT = sizeof ROUND / sizeof *ROUND, WITHOUT_INERTIA = 4 };

static const char ELLIPSOID[] =
    "perp: 1\nplanar: true\ngravity: [0, 0]\n"
    "bodies:\n"
    "  slider: {mass: %g, inertia: 1.0e-9, shapes: [{box: [0.2, 0.1], friction: 1.2}], support: {friction: 0.4, "
    "normal: "
    "10, model: ellipsoid%s}}\n"
    "  finger: {driven: {x: {offset: -0.1, rate: %.17g}, y: {offset: %.17g, rate: %.17g}}, shapes: [{point: {}, "
    "friction: 1.2}]}\n"
    "run: {model: %s, h: 1.0e-3, steps: 1, cone: quadratic}\n";

/* Lynch, Maekawa and Tanie's slider that is pushed with the velocity (ux, uy) at the point (x, y), where it sticks. The
 * twist is normal to the ellipsoid fx^2 + fy^2 + m^2 / c^2 = (mu N)^2, v = (fx, fy), omega = m / c^2, of the force f of
 * the finger at the point, m = x fy - y fx; so u = (v - omega y, v + omega x) are two equations for f. */
static void pushed_ellipsoid(double c, double x, double y, const double u[2], double v[3])
{
    const double d = c * c + x * x + y * y;
    v[0] = ((c * c + x * x) * u[0] + x * y * u[1]) / d;
    v[1] = (x * y * u[0] + (c * c + y * y) * u[1]) / d;
    v[2] = (x * v[1] - y * v[0]) / (c * c);
}

/* Of two points of equal load at (+-c, 0) the mean distance from their middle is c. */
static void ellipsoids_turn_as_in_closed_form(void **state)
{
    (void)state;
    unsigned seed = 3;
    int stuck = 0;
    for (int k = 0; k < 40; k++) {
        const char *model = ROUND[k % WITHOUT_INERTIA];
        const double c = random_between(&seed, 0.02, 0.1), y = random_between(&seed, -0.04, 0.04);
        const double angle = random_between(&seed, -0.5, 0.5), u[2] = {cos(angle), sin(angle)};
        char points[100];
        double v[3];
        scene_run run;
        snprintf(points, sizeof points, ", points: [[%.17g, 0, 1], [%.17g, 0, 1]]", c, -c);
        run_text(&run, scene_text_of(ELLIPSOID, 1.0, points, u[0], y, u[1], model).of);
        pushed_ellipsoid(c, -0.1, y, u, v);
        if (run_contact(&run, 1, "slider", "finger")->mode == PERP_CONTACT_STICK) {
            stuck++;
            for (int i = 0; i < 3; i++) {
                NEAR(speed_of(&run, 1, i), v[i], 1e-7 * fmax(1.0, fabs(v[i])));
            }
            const double power = v[0] * v[0] + v[1] * v[1] + c * c * v[2] * v[2];
            for (int i = 0; i < run.states[1].contact_count; i++) {
                const perp_contact_record *r = &run.states[1].contacts[i];
                if (perp_contact_is_support(&r->contact)) {
                    NEAR(r->ft[0], -4.0 * v[0] / sqrt(power), 1e-6);
                    NEAR(r->ft[1], -4.0 * v[1] / sqrt(power), 1e-6);
                    NEAR(r->moment, -4.0 * c * c * v[2] / sqrt(power), 1e-7);
                }
            }
        }
        scene_run_free(&run);
    }
    assert_true(stuck > 15);
}

/* Light bodies on the rungs with inertia; and of areas the arm is the mean distance from the centre: 2/3 of a disc's
 * radius. */
static void ellipsoids_of_areas_and_with_inertia(void **state)
{
    (void)state;
    for (int k = 0; k < ROUND_COUNT; k++) {
        double v[3];
        scene_run run;
        run_text(&run, scene_text_of(ELLIPSOID, 1e-7, "", 1.0, 0.02, 0.1, ROUND[k]).of);
        for (int i = 0; i < run.states[1].contact_count; i++) {
            const perp_contact *c = &run.states[1].contacts[i].contact;
            /* of a rectangle of sides a > b: (d + a^2 / (2 b) asinh(b / a) + b^2 / (2 a) asinh(a / b)) / 6 */
            const double exact = (hypot(0.2, 0.1) + 0.2 * asinh(0.5) + 0.025 * asinh(2.0)) / 6.0;
            if (perp_contact_is_support(c)) {
                NEAR(c->arm, exact, 1e-4 * exact);
                pushed_ellipsoid(c->arm, -0.1, 0.02, (const double[2]){1.0, 0.1}, v);
            }
        }
        for (int i = 0; i < 3; i++) {
            NEAR(speed_of(&run, 1, i), v[i], 1e-3 * fmax(1.0, fabs(v[i])));
        }
        scene_run_free(&run);
    }
}

/* The same where the finger slips: its force is along the edge of its cone, n + side mu t, with n = (nx, ny) into the
 * slider, and the twist as fast as u asks along n. */
static void slipped_ellipsoid(double c, const double at[2], const double n[2], double mu, const double u[2],
                              double v[3])
{
    const double fx = n[0] - mu * n[1], fy = n[1] + mu * n[0], m = at[0] * fy - at[1] * fx;
    const double omega = m / (c * c), along = n[0] * (fx - omega * at[1]) + n[1] * (fy + omega * at[0]);
    const double scale = (u[0] * n[0] + u[1] * n[1]) / along;
    v[0] = scale * fx;
    v[1] = scale * fy;
    v[2] = scale * omega;
}

static void expect_balance(const perp_contact_record *support, const perp_contact_record *finger, double c, double x,
                           double y)
{
    NEAR(hypot(hypot(support->ft[0], support->ft[1]), support->moment / c), 4.0, 1e-6);
    NEAR(support->ft[0], finger->force_on_b.x, 1e-3); /* the finger is b */
    NEAR(support->ft[1], finger->force_on_b.y, 1e-3);
    NEAR(support->moment, x * finger->force_on_b.y - y * finger->force_on_b.x, 1e-4);
    NEAR(support->margin, 0.0, 1e-6);
    assert_int_equal(support->mode, PERP_CONTACT_SLIDE);
}

/* On `compliant` a light slider turns as in closed form about where its finger is once the springs there are steady. */
static void soft_fingers_turn_ellipsoids(void **state)
{
    (void)state;
    static const char TEXT[] =
        "perp: 1\nplanar: true\ngravity: [0, 0]\ncompliance: {stiffness: 1.0e6, damping: 10, gamma: 0}\n"
        "bodies:\n"
        "  slider: {mass: 1e-4, inertia: 1.0e-7, shapes: [{box: [0.2, 0.1], friction: %g}], support: {friction: 0.4, "
        "normal: 10, model: ellipsoid, points: [[0.05, 0, 1], [-0.05, 0, 1]]}}\n"
        "  finger: {driven: {x: {offset: -0.1, rate: 0.1}, y: {offset: %.17g, rate: %.17g}}, shapes: [{point: {}, "
        "friction: %g}]}\n"
        "run: {model: compliant, h: 1.0e-4, steps: 10}\n";
    for (int k = 0; k < 8; k++) {
        const bool slips = k % 2 == 1;
        const double c = 0.05, begin = 0.007 * k - 0.025, u[2] = {0.1, slips ? 0.15 * (k - 4) : 0.02 * k - 0.05};
        const double mu = slips ? 0.15 : 1.2;
        double v[3];
        scene_run run;
        run_text(&run, scene_text_of(TEXT, mu, begin, u[1], mu).of);
        const double at[2] = {-0.1 + 0.001 * u[0] - run_body(&run, 10, "slider", 0),
                              begin + 0.001 * u[1] - run_body(&run, 10, "slider", 1)};
        const double theta = run_body(&run, 10, "slider", 2), n[2] = {cos(theta), sin(theta)};
        if (slips) {
            slipped_ellipsoid(c, at, n, u[1] > 0.0 ? mu : -mu, u, v);
        } else {
            pushed_ellipsoid(c, at[0], at[1], u, v);
        }
        for (int i = 0; i < 3; i++) {
            NEAR(speed_of(&run, 10, i), v[i], 1e-4 * (i == 2 ? 10.0 : 1.0));
        }
        const perp_contact_record *finger = run_contact(&run, 10, "slider", "finger");
        assert_int_equal(finger->mode, slips ? PERP_CONTACT_SLIDE : PERP_CONTACT_STICK);
        expect_balance(run_contact(&run, 10, "slider", "slider"), finger, c, at[0], at[1]);
        scene_run_free(&run);
    }
}

/* What an ellipsoid holds does not move, on `compliant` too. */
static void ellipsoids_hold(void **state)
{
    (void)state;
    static const char *const MODELS[] = {"compliant", "qs-ncp", "qs-lcp", "qs-lp", "qs-impedance-lcp", "dyn-lcp"};
    for (int k = 0; k < 6; k++) {
        scene_run run;
        run_text(&run, scene_text_of(LOADED, ", model: ellipsoid", 2.0, MODELS[k]).of);
        const run_state *last = &run.states[run.count - 1];
        assert_int_equal(last->contact_count, 1);
        NEAR(last->contacts[0].ft[0], -2.0, 1e-7);
        NEAR(last->contacts[0].ft[1], -1.0, 1e-7);
        NEAR(last->contacts[0].moment, -(0.05 + 0.03 * 1 - 0.02 * 2), 1e-8);
        assert_int_equal(last->contacts[0].mode, PERP_CONTACT_STICK);
        for (int i = 0; i < 3; i++) {
            NEAR(run_body(&run, run.count - 1, "slider", i), 0.0, 1e-12);
        }
        scene_run_free(&run);
    }
}

/* The most work against a slip and a turning times the arm, of generators: four rays or the corners of the box, and the
 * poles; eight rays, at 0 and 45 degrees, and the poles. */
static double rays_ball(double ux, double uy, double turning)
{
    return fmax(rays_gauge(ux, uy), fabs(turning));
}

static double box_ball(double ux, double uy, double turning)
{
    return fmax(box_gauge(ux, uy), fabs(turning));
}

static double eight_ball(double ux, double uy, double turning)
{
    const double flat = fmax(rays_gauge(ux, uy), box_gauge(ux, uy) * sqrt(0.5));
    return fmax(flat, fmax(fabs(turning), sqrt(0.5) * (flat + fabs(turning))));
}

typedef struct ball_case {
    const char *model;
    double (*power)(double ux, double uy, double turning);
} ball_case;

static const ball_case BALLS[] = {{"qs-lcp, rays: 4", rays_ball},
                                  {"qs-lp", box_ball},
                                  {"qs-impedance-lcp, rays: 4", rays_ball},
                                  {"qs-lcp, rays: 8", eight_ball},
                                  {"qs-impedance-lcp, rays: 8", eight_ball}};

/* The least over a grid that closes in, of the motions that a finger without friction at (-0.1, y) leaves open. */
static double least_power_of_ball(const ball_case *of, double c, double y)
{
    double at[2] = {0.0, 0.0}, least = INFINITY;
    for (double width = 20.0; width > 1e-9; width *= 0.8) {
        const double from[2] = {at[0], at[1]};
        for (int i = -4; i <= 4; i++) {
            for (int j = -4; j <= 4; j++) {
                const double omega = from[0] + width * i / 4.0, vy = from[1] + 0.1 * width * j / 4.0;
                const double work = of->power(1.0 + omega * y, vy, c * omega);
                if (work < least) {
                    least = work;
                    at[0] = omega;
                    at[1] = vy;
                }
            }
        }
    }
    return least;
}

/* Where friction is a polygon an ellipsoid is the hull of its directions: what is pushed moves with the least power,
 * and the force does that work. */
static void polytopes_cost_the_least_power(void **state)
{
    (void)state;
    unsigned seed = 17;
    for (int k = 0; k < 25; k++) {
        const ball_case *of = &BALLS[k % 5];
        const double c = random_between(&seed, 0.03, 0.09), y = random_between(&seed, -0.045, 0.045);
        char points[100];
        scene_run run;
        snprintf(points, sizeof points, "points: [[%.17g, 0, 1], [%.17g, 0, 1]]", c, -c);
        run_text(&run,
                 scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                               "  slider: {mass: 1, shapes: [{box: [0.2, 0.1], friction: 0}], support: {friction: "
                               "0.4, normal: 10, model: ellipsoid, %s}}\n"
                               "  finger: {driven: {x: {offset: -0.1, rate: 1}, y: %.17g}, shapes: [{point: {}, "
                               "friction: 0}]}\n"
                               "run: {h: 1.0e-3, steps: 1, model: %s}\n",
                               points, y, of->model)
                     .of);
        const double *v = run.states[1].v, least = 4.0 * least_power_of_ball(of, c, y);
        const perp_contact_record *r = run_contact(&run, 1, "slider", "slider");
        NEAR(4.0 * of->power(v[0], v[1], c * v[2]), least, 1e-7);
        NEAR(v[0] - v[2] * y, 1.0, 1e-7);
        NEAR(-(r->ft[0] * v[0] + r->ft[1] * v[1] + r->moment * v[2]), least, 1e-6);
        NEAR(r->moment, y * -r->ft[0], 1e-6); /* the finger pushes along x */
        scene_run_free(&run);
    }
}

/* Along a ray, and at a pole: what the ellipsoid itself has. */
static void polytopes_brake_along_their_corners(void **state)
{
    (void)state;
    static const char *const THROWS[] = {"linear: [0.5, 0]", "angular: 5"};
    for (int k = 0; k < 2; k++) {
        scene_run run;
        run_text(&run,
                 scene_text_of("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies: {slider: {mass: 2, inertia: 0.01, "
                               "velocity: {%s}, support: {friction: 0.3, normal: 4, model: ellipsoid, points: "
                               "[[0.05, 0, 1], [-0.05, 0, 1]]}}}\n"
                               "run: {model: dyn-lcp, rays: 8, h: 1.0e-3, steps: 50}\n",
                               THROWS[k])
                     .of);
        NEAR(speed_of(&run, 50, 0), k == 0 ? 0.5 - 0.05 * 1.2 / 2.0 : 0.0, 1e-9);
        NEAR(speed_of(&run, 50, 1), 0.0, 1e-9);
        NEAR(speed_of(&run, 50, 2), k == 1 ? 5.0 - 0.05 * 1.2 * 0.05 / 0.01 : 0.0, 1e-8);
        scene_run_free(&run);
    }
}

static void ellipsoids_are_refused_elsewhere(void **state)
{
    (void)state;
    static const char *const OTHERS[] = {"instant", "instant-qs", "qs-qp", "dyn-qp"};
    for (int k = 0; k < 4; k++) {
        scene_run run;
        scene_run_make(&run, scene_text_of(LOADED, ", model: ellipsoid", 2.0, OTHERS[k]).of, NULL);
        assert_int_equal(run.status, PERP_STATUS_BAD_INPUT);
        assert_string_equal(run.error.path, "bodies.slider.support.model");
        if (k > 0) { /* of an instant the state decides */
            perp_error error;
            assert_int_equal(perp_run_check_scene(run.scene, &run.scene->run, &error), PERP_STATUS_BAD_INPUT);
            assert_string_equal(error.message, run.error.message);
        }
        scene_run_free(&run);
    }
}

/* ---- the motion cone of a line contact ------------------------------------------------------------------------------
 */

/* A flat pusher, as wide as from -WIDE to WIDE, along the side x = -DEEP of a slider. It moves with the twist v about
 * the slider's middle. */
static const double DEEP = 0.1, WIDE = 0.03;

static const char SIDE_BY_SIDE[] =
    "perp: 1\nplanar: true\ngravity: [0, 0]\n"
    "bodies:\n"
    "  slider: {mass: 1, shapes: [{box: [0.2, 0.1], friction: %.17g}], support: {friction: 0.4, normal: 10, points: "
    "[[0.08, 0.04, 1], [-0.07, 0.03, 2], [-0.05, -0.04, 1], [0.06, -0.03, 3]], model: %s}}\n"
    "  pusher: {driven: {x: {rate: %.17g}, y: {rate: %.17g}, theta: {rate: %.17g}}, shapes: [{box: [0.1, 0.06], "
    "friction: %.17g, pose: {position: [-0.15, 0]}}]}\n"
    "run: {model: %s, h: 1.0e-5, steps: 1, cone: quadratic}\n";

static const slider BESIDE = {
    {0.08, -0.07, -0.05, 0.06}, {0.04, 0.03, -0.04, -0.03}, {1.0 / 7, 2.0 / 7, 1.0 / 7, 3.0 / 7}, 10.0, 0.4};

/* The force and moment that keep a slider in the twist v: against friction at its points, or within the ellipsoid. */
static void load_of_twist(const double v[3], bool ellipsoid, double w[3])
{
    double x, y;
    const double arm = centre_of(&BESIDE, &x, &y);
    memset(w, 0, 3 * sizeof *w);
    for (int i = 0; i < POINTS; i++) {
        const double ux = v[0] - v[2] * BESIDE.y[i], uy = v[1] + v[2] * BESIDE.x[i], f = 4.0 * BESIDE.share[i];
        w[0] += f * ux / hypot(ux, uy);
        w[1] += f * uy / hypot(ux, uy);
        w[2] += f * (BESIDE.x[i] * uy - BESIDE.y[i] * ux) / hypot(ux, uy);
    }
    if (ellipsoid) {
        w[0] = v[0] - v[2] * y;
        w[1] = v[1] + v[2] * x;
        w[2] = arm * arm * v[2] + x * w[1] - y * w[0];
    }
}

/* By how much the load is within what the pusher can give at the two ends of the line, mu fx >= |fy| at both: Lynch and
 * Mason's condition for a stable push. Negative: outside. */
static double within_cone(const double w[3], double mu)
{
    const double size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] / (DEEP * DEEP));
    const double sideways = mu * w[0] - fabs(w[1]), turning = WIDE * w[0] - fabs(w[2] + DEEP * w[1]);
    return fmin(w[0], fmin(sideways, turning / DEEP)) / size;
}

static void pushes_in_the_motion_cone_stick(void **state)
{
    (void)state;
    static const char *const MODELS[] = {"qs-ncp", "qs-cone", "qs-cone", "qs-opt", "qs-cone", "qs-qp"};
    const double mu = 0.5;
    unsigned seed = 5;
    int counts[2] = {0, 0};
    for (int k = 0; k < 120; k++) {
        const bool ellipsoid = k % 3 == 2;
        const double v[3] = {1.0, random_between(&seed, -0.7, 0.7), random_between(&seed, -8.0, 8.0)};
        double w[3];
        load_of_twist(v, ellipsoid, w);
        const double inside = within_cone(w, mu);
        scene_run run;
        run_text(&run, scene_text_of(SIDE_BY_SIDE, mu, ellipsoid ? "ellipsoid" : "points", v[0], v[1], v[2], mu,
                                     MODELS[k % 6])
                           .of);
        double off = 0.0;
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(speed_of(&run, 1, i) - v[i]));
        }
        if (inside > 0.01) {
            assert_true(off < 1e-4); /* of first order in h */
        } else if (inside < -0.01) {
            assert_true(off > 2e-3);
        }
        counts[0] += inside > 0.01;
        counts[1] += inside < -0.01;
        scene_run_free(&run);
    }
    assert_true(counts[0] > 10 && counts[1] > 30);
}

/* ---- the limit of no inertia ---------------------------------------------------------------------------------------
 */

/* A light body that is pushed moves as one without inertia, the more so the lighter it is. */
static void light_bodies_move_as_if_without_inertia(void **state)
{
    (void)state;
    static const char TEXT[] =
        "perp: 1\nplanar: true\ngravity: [0, 0]\n"
        "bodies:\n"
        "  slider: {mass: %g, shapes: [{box: [0.2, 0.1], friction: 0.3}], support: {friction: 0.4, normal: 10}}\n"
        "  finger: {driven: {x: {offset: -0.12, rate: 0.05}, y: 0.01}, shapes: [{disc: 0.02, friction: 0.3}]}\n"
        "run: {model: %s, h: 0.01, until: 1}\n";
    scene_run still, light, lighter;
    run_text(&still, scene_text_of(TEXT, 1.0, "qs-ncp").of);
    run_text(&light, scene_text_of(TEXT, 1.0, "dyn-ncp").of);
    run_text(&lighter, scene_text_of(TEXT, 0.01, "dyn-ncp").of);
    const double angle = run_body(&still, 100, "slider", 2);
    const double off = fabs(run_body(&light, 100, "slider", 2) - angle);
    const double less = fabs(run_body(&lighter, 100, "slider", 2) - angle);
    assert_true(fabs(angle) > 0.02 && off < 0.01 * fabs(angle) && less < 0.02 * off);
    scene_run_free(&still);
    scene_run_free(&light);
    scene_run_free(&lighter);
}

static void lack_of_memory_is_told(void **state)
{
    (void)state;
    scene_run_refuse_memory(scene_text_of(LOADED, "", 2.0, "qs-ncp").of, SET("run.steps=2"));
    scene_run_refuse_memory(scene_text_of(LOADED, "", 2.0, "qs-cone").of, SET("run.steps=2"));
    scene_run_refuse_memory(scene_text_of(LOADED, "", 2.0, "compliant").of, SET("run.steps=2"));
    scene_run_refuse_memory(scene_text_of(LOADED, ", model: ellipsoid", 2.0, "compliant").of, SET("run.steps=2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_cost_the_least_power),
        cmocka_unit_test(sticking_fingers_leave_a_turn_of_least_power),
        cmocka_unit_test(what_friction_holds_does_not_creep),
        cmocka_unit_test(what_friction_cannot_hold_is_unsupported),
        cmocka_unit_test(thrown_bodies_follow_the_equation_of_motion),
        cmocka_unit_test(an_instant_has_the_forces_of_the_slip),
        cmocka_unit_test(uniform_pressure_has_the_moments_of_the_area),
        cmocka_unit_test(ellipsoids_turn_as_in_closed_form),
        cmocka_unit_test(ellipsoids_of_areas_and_with_inertia),
        cmocka_unit_test(soft_fingers_turn_ellipsoids),
        cmocka_unit_test(ellipsoids_hold),
        cmocka_unit_test(polytopes_cost_the_least_power),
        cmocka_unit_test(polytopes_brake_along_their_corners),
        cmocka_unit_test(ellipsoids_are_refused_elsewhere),
        cmocka_unit_test(pushes_in_the_motion_cone_stick),
        cmocka_unit_test(light_bodies_move_as_if_without_inertia),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
