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
    static const char *const ROUND[] = {"qs-ncp", "qs-opt", "qs-cone"};
    unsigned seed = 11;
    int stuck = 0;
    for (int k = 0; k < 60; k++) {
        const slider s = random_slider(&seed);
        const double y = random_between(&seed, -0.06, 0.06), angle = random_between(&seed, -0.2, 0.2);
        scene_run run;
        run_text(&run, push_text(&s, 0.8, y, cos(angle), sin(angle), ROUND[k % 3]).of);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_cost_the_least_power),
        cmocka_unit_test(sticking_fingers_leave_a_turn_of_least_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
