/* `instant`: the planar reference tables (Painleve's rod, the wedged disc, discs and boxes on inclines, the rod between
 * two walls) and the closed forms behind them for other values; curvature, drives, joints, loops and limits.
 *
 * Tolerances: reference values are given to ten figures; closed forms are met to TIGHT, a hundred times what rounding
 * and the differences of instant_motion.c leave of numbers of size 10. */
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

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static const double TIGHT = 1e-9, PI = 3.141592653589793;

typedef struct text {
    char of[4000];
} text;

__attribute__((format(printf, 1, 2))) static text write_scene(const char *format, ...)
{
    text scene;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(scene.of, sizeof scene.of, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof scene.of);
    return scene;
}

static void run_well(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make(run, source, settings);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", source, run->error.message);
    }
    assert_int_equal(run->result.steps, 0);
    assert_true(run->result.residuals.balance <= 1e-8 && run->result.residuals.complementarity <= 1e-8 &&
                run->result.residuals.cone <= 1e-8);
}

static const perp_instant_solution *only(const scene_run *run)
{
    assert_int_equal(run->result.solution_count, 1);
    return &run->result.solutions[0];
}

/* ---- Painleve's rod ---------------------------------------------------------------------------------------------- */

typedef struct rod {
    double m, l, angle, mu, turning; /* l: the whole length */
} rod;

/* The tip slips towards -x at 1 m/s. */
static text rod_scene(const rod *r)
{
    const double half = 0.5 * r->l, c = half * cos(r->angle), s = half * sin(r->angle);
    return write_scene("perp: 1\nplanar: true\nbodies:\n"
                       "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                       "  rod: {mass: %.17g, inertia: %.17g, pose: {position: [0, %.17g], angle: %.17g},\n"
                       "    velocity: {linear: [%.17g, %.17g], angular: %.17g},\n"
                       "    shapes: [{polygon: [[%.17g, 0], [0, -0.01], [%.17g, 0], [0, 0.01]]}]}\n"
                       "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                       r->m, r->m * r->l * r->l / 12.0, s, r->angle, -1.0 - r->turning * s, r->turning * c, r->turning,
                       -half, half, r->mu);
}

/* a_n = R fn + b at the tip. */
static double rod_response(const rod *r)
{
    const double half = 0.5 * r->l, inertia = r->m * r->l * r->l / 12.0;
    return 1.0 / r->m + half * half / inertia * cos(r->angle) * (cos(r->angle) - r->mu * sin(r->angle));
}

static double rod_free(const rod *r)
{
    return -9.81 + 0.5 * r->l * sin(r->angle) * r->turning * r->turning;
}

/* As many solutions as there are fn >= 0 with R fn + b >= 0 and fn (R fn + b) = 0, with their forces. */
static void check_rod(const rod *r)
{
    const double response = rod_response(r), b = rod_free(r);
    const bool apart = b >= 0.0, pressed = b / response < 0.0;
    scene_run run;
    run_well(&run, rod_scene(r).of, SET("run.h=0.01"));
    assert_int_equal(run.result.solution_count, (apart ? 1 : 0) + (pressed ? 1 : 0));
    bool seen[2] = {false, false};
    for (int i = 0; i < run.result.solution_count; i++) {
        const perp_instant_solution *s = &run.result.solutions[i];
        const perp_contact_record *contact = &s->contacts[0];
        const bool carries = contact->mode == PERP_CONTACT_SLIDE;
        const double fn = carries ? -b / response : 0.0, a_n = carries ? 0.0 : b;
        const double half = 0.5 * r->l, c = half * cos(r->angle), sine = half * sin(r->angle);
        const double near = TIGHT * (1.0 + r->mu * fn / r->m); /* near the critical mu forces are large */
        NEAR(contact->fn, fn, near);
        NEAR(contact->ft[0], r->mu * fn, near);
        NEAR(s->fn_low[0], fn, near);
        NEAR(s->fn_high[0], fn, near);
        NEAR(s->rate[0], r->mu * fn / r->m, near);
        NEAR(s->rate[1] - c * s->rate[2] + sine * r->turning * r->turning, a_n, near);
        assert_false(seen[carries]);
        seen[carries] = true;
    }
    if (run.result.solution_count == 0) {
        assert_non_null(strstr(run.result.why_none, "Painleve"));
    }
    scene_run_free(&run);
}

static void test_painleve_reference(void **unused)
{
    (void)unused;
    const rod two = {1, 2, PI / 3, 2, 4}, none = {1, 2, PI / 3, 2, 0}, apart = {1, 2, PI / 3, 0.5, 4},
              pressed = {1, 2, PI / 3, 0.5, 0};
    NEAR(rod_response(&two), -0.8480762114, 1e-10);
    NEAR(rod_free(&two), 4.046406461, 1e-9);
    NEAR(-rod_free(&two) / rod_response(&two), 4.771276928, 1e-9);
    NEAR(-rod_free(&pressed) / rod_response(&pressed), 8.914284273, 1e-9);
    const rod *const all[] = {&two, &none, &apart, &pressed};
    for (int i = 0; i < 4; i++) {
        check_rod(all[i]);
    }
    scene_run run;
    run_well(&run, "painleve-rod", SET("run.h=0.01"));
    assert_int_equal(run.result.solution_count, 2);
    NEAR(run.result.solutions[1].contacts[0].fn, 4.771276928, 1e-9);
    scene_run_free(&run);
}

/* R changes its sign at mu = (1 + 3 cos^2) / (3 sin cos), at 60 degrees 1.347150628, for any mass and length. */
static void test_painleve_regions(void **unused)
{
    (void)unused;
    static const double angles[] = {0.7, PI / 3, 1.1071487177940904, 1.3}, masses[] = {0.2, 3}, lengths[] = {0.3, 2.5},
                        shares[] = {0.5, 0.99, 1.01, 1.6};
    for (int i = 0; i < 4 * 2 * 2 * 4; i++) {
        const double angle = angles[i % 4], c = cos(angle), s = sin(angle), critical = (1 + 3 * c * c) / (3 * s * c);
        rod r = {masses[i / 4 % 2], lengths[i / 8 % 2], angle, shares[i / 16] * critical, 0.0};
        assert_true((rod_response(&r) < 0.0) == (shares[i / 16] > 1.0));
        check_rod(&r);
        r.turning = 1.5 * sqrt(9.81 / (0.5 * r.l * s)); /* fast enough to lift the tip */
        check_rod(&r);
    }
    NEAR((1 + 3 * 0.25) / (3 * sin(PI / 3) * 0.5), 1.347150628, 1e-9);
}

/* ---- the wedged disc --------------------------------------------------------------------------------------------- */

static text wedge_scene(double alpha, double mu, double mass, double radius)
{
    return write_scene("perp: 1\nplanar: true\nbodies:\n"
                       "  left: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}}]}\n"
                       "  right: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}}]}\n"
                       "  disc: {mass: %.17g, shapes: [{disc: %.17g}]}\n"
                       "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                       cos(alpha), -sin(alpha), -radius, -cos(alpha), -sin(alpha), -radius, mass, radius, mu);
}

/* It falls in any case; and where mu > tan alpha it may also rest, with any squeeze from m g / 2 (mu cos - sin) on. */
static void check_wedge(double alpha, double mu, double mass, double radius)
{
    const bool holds = mu > tan(alpha);
    const double least = holds ? mass * 9.81 / (2.0 * (mu * cos(alpha) - sin(alpha))) : 0.0;
    scene_run run;
    run_well(&run, wedge_scene(alpha, mu, mass, radius).of, SET("run.h=0.01"));
    assert_int_equal(run.result.solution_count, holds ? 2 : 1);
    int falls = 0, rests = 0;
    for (int i = 0; i < run.result.solution_count; i++) {
        const perp_instant_solution *s = &run.result.solutions[i];
        const bool rest = s->contacts[0].mode != PERP_CONTACT_OPEN;
        rests += rest;
        falls += !rest;
        NEAR(s->rate[0], 0.0, TIGHT);
        NEAR(s->rate[1], rest ? 0.0 : -9.81, TIGHT);
        NEAR(s->rate[2], 0.0, TIGHT);
        for (int k = 0; k < 2; k++) {
            NEAR(s->contacts[k].fn, rest ? least : 0.0, 1e-8 * (1.0 + least));
            NEAR(s->fn_low[k], rest ? least : 0.0, 1e-8 * (1.0 + least));
            assert_true(rest ? isinf(s->fn_high[k]) : s->fn_high[k] <= 1e-12);
            NEAR(s->contacts[k].force_on_b.y, rest ? 0.5 * mass * 9.81 : 0.0, 1e-8 * (1.0 + least));
        }
    }
    assert_int_equal(falls, 1);
    assert_int_equal(rests, holds ? 1 : 0);
    scene_run_free(&run);
}

static void test_wedge(void **unused)
{
    (void)unused;
    const double degrees = PI / 180;
    NEAR(9.81 / (2.0 * (0.5 * cos(20 * degrees) - sin(20 * degrees))), 38.37242493, 1e-8);
    check_wedge(20 * degrees, 0.5, 1, 1);
    check_wedge(20 * degrees, 0.3, 1, 1);
    check_wedge(0.0, 0.5, 1, 1);
    check_wedge(10 * degrees, 0.2, 2.5, 0.1);
    check_wedge(10 * degrees, 0.17, 2.5, 0.1);
    check_wedge(30 * degrees, 1.1, 0.3, 0.05);
}

/* ---- inclines ---------------------------------------------------------------------------------------------------- */

static text disc_scene(double alpha, double mu)
{
    return write_scene("perp: 1\nplanar: true\ngravity: [%.17g, %.17g]\nbodies:\n"
                       "  incline: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                       "  disc: {mass: 1, pose: {position: [0, 0.5]}, shapes: [{disc: 0.5}]}\n"
                       "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                       9.81 * sin(alpha), -9.81 * cos(alpha), mu);
}

/* A disc rolls where mu >= tan / 3. */
static void test_disc_on_incline(void **unused)
{
    (void)unused;
    for (int i = 0; i < 12; i++) {
        const double alpha = (i % 3 + 1) * PI / 12, mu = 0.05 + 0.1 * (i / 3) + (i % 3 == 1 ? 0.0 : 0.001);
        const bool rolls = mu > tan(alpha) / 3;
        const double weight = 9.81 * cos(alpha), pull = 9.81 * sin(alpha);
        const double ft = rolls ? -pull / 3 : -mu * weight;
        scene_run run;
        run_well(&run, disc_scene(alpha, mu).of, SET("run.h=0.01"));
        const perp_instant_solution *s = only(&run);
        NEAR(s->contacts[0].fn, weight, TIGHT);
        NEAR(s->contacts[0].ft[0], ft, TIGHT);
        NEAR(s->rate[0], pull + ft, TIGHT);
        NEAR(s->rate[1], 0.0, TIGHT);
        NEAR(s->rate[2], 0.5 * ft / 0.125, TIGHT);
        assert_int_equal(s->contacts[0].mode, rolls ? PERP_CONTACT_STICK : PERP_CONTACT_LIMIT);
        scene_run_free(&run);
    }
    scene_run run;
    run_well(&run, disc_scene(PI / 6, 0.25).of, SET("run.h=0.01"));
    NEAR(only(&run)->contacts[0].fn, 8.495709211, 1e-9);
    NEAR(only(&run)->contacts[0].ft[0], -1.635, TIGHT);
    scene_run_free(&run);
    run_well(&run, disc_scene(PI / 6, 0.15).of, SET("run.h=0.01"));
    NEAR(only(&run)->contacts[0].ft[0], -1.274356382, 1e-9);
    NEAR(only(&run)->rate[0], 3.630643618, 1e-9);
    scene_run_free(&run);
}

static text box_scene(double alpha, double mu, double height, double speed)
{
    return write_scene("perp: 1\nplanar: true\ngravity: [%.17g, %.17g]\nbodies:\n"
                       "  incline: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                       "  box: {mass: 1, pose: {position: [0, %.17g]}, velocity: {linear: [%.17g, 0]},\n"
                       "    shapes: [{box: [1, %.17g]}]}\n"
                       "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                       9.81 * sin(alpha), -9.81 * cos(alpha), height, speed, 2.0 * height, mu);
}

/* The upper and the lower corner, in this order. */
static void corners(const perp_instant_solution *s, const perp_contact_record *corner[2])
{
    assert_int_equal(s->contact_count, 2);
    const bool swap = s->contacts[0].contact.point_b.x > s->contacts[1].contact.point_b.x;
    corner[0] = &s->contacts[swap ? 1 : 0];
    corner[1] = &s->contacts[swap ? 0 : 1];
}

static void test_box_reference(void **unused)
{
    (void)unused;
    static const struct {
        double degrees, mu, height, fn[2], a[3];
    } cases[] = {
        {20, 0.5, 0.25, {3.770387903, 5.447996706}, {0, 0, 0}},
        {30, 0.5, 0.25, {3.185890954, 5.309818257}, {0.6571453944, 0, 0}},
        {50, 0.9, 0.75, {0, 7.451884342}, {1.719206837, 1.146137891, -2.292275783}},
        {50, 2, 0.25, {1.274149229, 5.031597222}, {0, 0, 0}},
        {50, 2, 0.75, {0, 7.451884342}, {1.719206837, 1.146137891, -2.292275783}},
    };
    for (int i = 0; i < 5; i++) {
        scene_run run;
        const perp_contact_record *corner[2];
        run_well(&run, box_scene(cases[i].degrees * PI / 180, cases[i].mu, cases[i].height, 0).of, SET("run.h=0.01"));
        corners(only(&run), corner);
        for (int k = 0; k < 2; k++) {
            NEAR(corner[k]->fn, cases[i].fn[k], 1e-9);
        }
        for (int k = 0; k < 3; k++) {
            NEAR(only(&run)->rate[k], cases[i].a[k], 1e-9);
        }
        scene_run_free(&run);
    }
}

/* A box that slides up the incline: friction points down it, and the weight is on the upper corner's side. */
static void test_box_slides_up(void **unused)
{
    (void)unused;
    const double alpha = 0.3, mu = 0.4, height = 0.2, weight = 9.81 * cos(alpha);
    scene_run run;
    const perp_contact_record *corner[2];
    run_well(&run, box_scene(alpha, mu, height, -1.5).of, SET("run.h=0.01"));
    corners(only(&run), corner);
    NEAR(only(&run)->rate[0], 9.81 * sin(alpha) + mu * weight, TIGHT);
    for (int k = 0; k < 2; k++) { /* moments about the centre: ft h + (fn1 - fn0) / 2 = 0 */
        NEAR(corner[k]->fn, 0.5 * weight + (k == 0 ? 1 : -1) * mu * weight * height, TIGHT);
        NEAR(corner[k]->ft[0], mu * corner[k]->fn, TIGHT);
        assert_int_equal(corner[k]->mode, PERP_CONTACT_SLIDE);
    }
    scene_run_free(&run);
}

/* ---- the rod between two walls ----------------------------------------------------------------------------------- */

enum { SAMPLES = 200 };
static const double THETA = 1.3659098493868667, ALPHA = PI / 4;

/* (41) of Dupont and Yamajako with m = l = 1, J = 1/3 and signed mu. */
static void rod_matrix(const double mu[2], double d[2][2])
{
    const double c = cos(THETA), s = sin(THETA), cd = cos(THETA - ALPHA), sd = sin(THETA - ALPHA);
    d[0][0] = 1 + 3 * (c * c + mu[0] * s * c);
    d[0][1] = -(cos(ALPHA) + mu[1] * sin(ALPHA)) + 3 * c * (cd - mu[1] * sd);
    d[1][0] = -(cos(ALPHA) + mu[0] * sin(ALPHA)) + 3 * cd * (c + mu[0] * s);
    d[1][1] = 1 + 3 * cd * (cd - mu[1] * sd);
}

/* What the load u and the turning alone do to the gaps. */
static void rod_free_gaps(const double u[3], double w, double b[2])
{
    const double cd = cos(THETA - ALPHA), sd = sin(THETA - ALPHA);
    b[0] = u[1] - 3 * cos(THETA) * u[2] + sin(THETA) * w * w;
    b[1] = sin(ALPHA) * u[0] - cos(ALPHA) * u[1] - 3 * cd * u[2] + sd * w * w;
}

/* All (fn, a_n) of 0 <= fn _|_ D fn + b >= 0 by its four cases. */
static int rod_solutions(double d[2][2], const double b[2], double fn[4][2])
{
    int count = 0;
    const double det = d[0][0] * d[1][1] - d[0][1] * d[1][0];
    const double candidates[4][2] = {
        {0, 0},
        {-b[0] / d[0][0], 0},
        {0, -b[1] / d[1][1]},
        {(-b[0] * d[1][1] + b[1] * d[0][1]) / det, (-b[1] * d[0][0] + b[0] * d[1][0]) / det}};
    for (int i = 0; i < 4; i++) {
        bool good = true;
        for (int k = 0; k < 2; k++) {
            const double a = d[k][0] * candidates[i][0] + d[k][1] * candidates[i][1] + b[k];
            good = good && candidates[i][k] >= 0.0 && a >= -1e-12;
        }
        if (good) {
            memcpy(fn[count++], candidates[i], sizeof candidates[i]);
        }
    }
    return count;
}

static void test_rod_two_walls_reference(void **unused)
{
    (void)unused;
    double d[2][2];
    rod_matrix((const double[2]){0.5, 0.5}, d);
    NEAR(d[0][0], 1.4229838651, 1e-10);
    NEAR(d[0][1], -0.7176600748, 1e-10);
    NEAR(d[1][0], 0.6777575902, 1e-10);
    NEAR(d[1][1], 2.4096931586, 1e-10);
    scene_run run;
    run_well(&run, "rod-two-walls", SET("run.h=0.01"));
    for (int k = 0; k < 2; k++) {
        NEAR(only(&run)->contacts[k].fn, 2.0, 1e-9);
        assert_int_equal(only(&run)->contacts[k].mode, PERP_CONTACT_SLIDE);
    }
    NEAR(only(&run)->rate[2], -0.49696782133573203, 1e-9);
    scene_run_free(&run);
}

/* One sample: mu, load and turning; returns the number of solutions. */
static int check_rod_two_walls(const double mu[2], const double u[3], double w)
{
    const double sign = w > 0 ? 1.0 : -1.0, signed_mu[2] = {sign * mu[0], sign * mu[1]};
    const double vy = cos(THETA), vx = (cos(ALPHA) * vy + cos(THETA - ALPHA)) / sin(ALPHA);
    double d[2][2], b[2], expected[4][2];
    char settings[7][80];
    snprintf(settings[0], sizeof settings[0], "contacts.pairs.floor rod.friction=%.17g", mu[0]);
    snprintf(settings[1], sizeof settings[1], "contacts.pairs.wall rod.friction=%.17g", mu[1]);
    snprintf(settings[2], sizeof settings[2], "forces.0.force.0=%.17g", u[0]);
    snprintf(settings[3], sizeof settings[3], "forces.0.force.1=%.17g", u[1]);
    snprintf(settings[4], sizeof settings[4], "forces.0.torque=%.17g", u[2]);
    snprintf(settings[5], sizeof settings[5], "bodies.rod.velocity.linear=[%.17g, %.17g]", vx * w, vy * w);
    snprintf(settings[6], sizeof settings[6], "bodies.rod.velocity.angular=%.17g", w);
    rod_matrix(signed_mu, d);
    rod_free_gaps(u, w, b);
    const int count = rod_solutions(d, b, expected);
    scene_run run;
    run_well(&run, "rod-two-walls",
             SET(settings[0], settings[1], settings[2], settings[3], settings[4], settings[5], settings[6]));
    assert_int_equal(run.result.solution_count, count);
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (int k = 0; k < count; k++) {
            const perp_contact_record *c = run.result.solutions[k].contacts;
            found = found ||
                    hypot(c[0].fn - expected[i][0], c[1].fn - expected[i][1]) <= 1e-8 * (1.0 + fabs(expected[i][0]));
        }
        assert_true(found);
    }
    scene_run_free(&run);
    return count;
}

/* Random loads, friction and turning either way, in and out of the region where D is a P-matrix: as many solutions, and
 * the same ones, as the four cases of the 2 x 2 problem have. Where D is P there is exactly one. */
static void test_rod_two_walls_solutions(void **unused)
{
    (void)unused;
    uint64_t seed = 12345;
    int seen[5] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        double r[6];
        for (int k = 0; k < 6; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            r[k] = (double)(seed >> 11) / 9007199254740992.0;
        }
        const double mu[2] = {3 * r[0], 4 * r[1]}, u[3] = {6 * r[2] - 3, 6 * r[3] - 3, 6 * r[4] - 3};
        const double w = (i % 2 == 0 ? 1 : -1) * (0.1 + 0.4 * r[5]), s = w > 0 ? 1 : -1;
        double d[2][2];
        rod_matrix((const double[2]){s * mu[0], s * mu[1]}, d);
        const bool p = d[0][0] > 0 && d[1][1] > 0 && d[0][0] * d[1][1] - d[0][1] * d[1][0] > 0;
        const int count = check_rod_two_walls(mu, u, w);
        assert_true(!p || count == 1);
        seen[count]++;
    }
    assert_true(seen[0] > 5 && seen[1] > 50 && seen[2] > 5);
}

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
        run_well(
            &run,
            write_scene("perp: 1\nplanar: true\nbodies:\n  hill: {fixed: true, shapes: [{disc: 1}]}\n"
                        "  disc: {mass: 2, pose: {position: [0, 1.2]}, velocity: {linear: [%.17g, 0], angular: 3},\n"
                        "    shapes: [{disc: 0.2}]}\ncontacts: {friction: 0}\nrun: {model: instant}\n",
                        v)
                .of,
            SET("run.h=0.01"));
        NEAR(only(&run)->contacts[0].fn, fmax(0.0, fn), TIGHT);
        NEAR(only(&run)->rate[1], fn > 0 ? -v * v / 1.2 : -9.81, TIGHT);
        scene_run_free(&run);
        run_well(&run,
                 write_scene("perp: 1\nplanar: true\nbodies:\n  bowl: {fixed: true, shapes: [{hole: {radius: 1}}]}\n"
                             "  disc: {mass: 2, pose: {position: [0, -0.8]}, velocity: {linear: [%.17g, 0]},\n"
                             "    shapes: [{disc: 0.2}]}\ncontacts: {friction: 0}\nrun: {model: instant}\n",
                             v)
                     .of,
                 SET("run.h=0.01"));
        NEAR(only(&run)->contacts[0].fn, inside, TIGHT);
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
        run_well(&run,
                 write_scene("perp: 1\nbodies:\n  hill: {fixed: true, shapes: [{ellipsoid: [2, 3, 0.5]}]}\n"
                             "  ball: {mass: 0.5, pose: {position: [0, 0, 0.6]}, shapes: [{sphere: 0.1}],\n"
                             "    velocity: {linear: [%.17g, %.17g, 0], angular: [1, 2, 3]}}\n"
                             "contacts: {friction: 0}\nrun: {model: instant}\n",
                             x, y)
                     .of,
                 SET("run.h=0.01"));
        NEAR(only(&run)->contacts[0].fn, fn, TIGHT);
        scene_run_free(&run);
    }
}

/* A disc that rolls on a hill, off its top: a = 2/3 of the pull, and v^2 / (R + r) towards the centre. */
static void test_rolls_on_a_hill(void **unused)
{
    (void)unused;
    const double v = 0.7, at = 0.2, c = cos(at), s = sin(at);
    scene_run run;
    run_well(&run,
             write_scene("perp: 1\nplanar: true\nbodies:\n  hill: {fixed: true, shapes: [{disc: 1}]}\n"
                         "  disc: {mass: 2, pose: {position: [%.17g, %.17g]},\n"
                         "    velocity: {linear: [%.17g, %.17g], angular: %.17g}, shapes: [{disc: 0.2}]}\n"
                         "contacts: {friction: 1}\nrun: {model: instant}\n",
                         1.2 * s, 1.2 * c, v * c, -v * s, -v / 0.2)
                 .of,
             SET("run.h=0.01"));
    const perp_instant_solution *one = only(&run);
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
        run_well(&run,
                 write_scene("perp: 1\nplanar: true\nbodies:\n  table: {driven: {\n"
                             "      x: {sines: [{amplitude: %.17g, omega: %.17g, phase: %.17g}]},\n"
                             "      y: {sines: [{amplitude: %.17g, omega: %.17g, phase: %.17g}]}},\n"
                             "    shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                             "  block: {mass: 0.5, pose: {position: [0, %.17g]}, shapes: [{point: {}}],\n"
                             "    free: [x, y], velocity: {linear: [%.17g, %.17g]}}\n"
                             "contacts: {friction: 0.3}\nrun: {model: instant}\n",
                             a, w, phase, b, w, lift, b * sin(lift), a * w * cos(phase), b * w * cos(lift))
                     .of,
                 SET("run.h=0.01"));
        const perp_instant_solution *s = only(&run);
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
    run_well(&run, PENDULUM, SET("joints.hinge.velocity=1.5"));
    NEAR(only(&run)->rate[0], -0.5 * 1.5 / 2, TIGHT);
    NEAR(only(&run)->contacts[0].fn, 0.0, TIGHT);
    scene_run_free(&run);
    run_well(&run, PENDULUM, SET("joints.hinge.position=2"));
    NEAR(only(&run)->rate[0], -9.81 * sin(2), TIGHT);
    scene_run_free(&run);
    run_well(&run, PENDULUM, SET("joints.hinge.position=-2", "gravity=[0, 9.81]")); /* the limit holds it */
    NEAR(only(&run)->rate[0], 0.0, TIGHT);
    scene_run_free(&run);
}

/* A mechanism with a loop: what dyn-lcp does in a short step, to first order in it. */
static void test_loop_agrees_with_a_step(void **unused)
{
    (void)unused;
    scene_run now, step;
    run_well(&now, "four-bar-dynamic", SET("run.model=instant"));
    scene_run_make(&step, "four-bar-dynamic", SET("run.model=dyn-lcp", "run.h=1e-6", "run.until=1e-6"));
    assert_int_equal(step.status, PERP_STATUS_OK);
    for (int k = 0; k < now.model->nv; k++) {
        const double rate = (step.state.v[k] - step.states[0].v[k]) / 1e-6;
        NEAR(only(&now)->rate[k], rate, 1e-3 * (1.0 + fabs(rate)));
    }
    scene_run_free(&now);
    scene_run_free(&step);
}

/* In space: a ball that slides obliquely, rolling friction on the rays for one that begins to; the numbers of all rays
 * agree where the pull is along one. */
static void test_space(void **unused)
{
    (void)unused;
    static const char *const ball =
        "perp: 1\nbodies:\n  table: {fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
        "  ball: {mass: 2, pose: {position: [0, 0, 0.1]}, shapes: [{sphere: 0.1}]}\n"
        "contacts: {friction: 0.2}\nrun: {model: instant}\n";
    scene_run run;
    run_well(&run, ball, SET("bodies.ball.velocity.linear=[3, -4, 0]"));
    const double expected[6] = {-0.6 * 0.2 * 9.81,     0.8 * 0.2 * 9.81,      0,
                                0.8 * 0.2 * 9.81 * 25, 0.6 * 0.2 * 9.81 * 25, 0};
    for (int k = 0; k < 6; k++) {
        NEAR(only(&run)->rate[k], expected[k], 1e-8);
    }
    assert_int_equal(only(&run)->contacts[0].mode, PERP_CONTACT_SLIDE);
    scene_run_free(&run);
    for (int rays = 4; rays <= 8; rays += 4) {
        char setting[32];
        snprintf(setting, sizeof setting, "run.rays=%d", rays);
        run_well(&run, ball, SET(setting, "gravity=[0, 5, -9.81]"));
        NEAR(only(&run)->rate[1], 5.0 * 5 / 7, TIGHT); /* rolls: 5/7 of the pull, mu 2/7 tan is less than 0.2 */
        NEAR(only(&run)->contacts[0].ft[1], -2.0 * 5 * 2 / 7, TIGHT);
        assert_int_equal(only(&run)->contacts[0].mode, PERP_CONTACT_STICK);
        scene_run_free(&run);
        run_well(&run, ball, SET(setting, "gravity=[-9, 0, -9.81]"));
        NEAR(only(&run)->rate[0], -9 + 0.2 * 9.81, TIGHT);
        assert_int_equal(only(&run)->contacts[0].mode, PERP_CONTACT_LIMIT);
        scene_run_free(&run);
        /* Between two rays: on the side of the polygon, where ft is shorter than mu fn, it slips all the same; mode and
         * margin are in Coulomb's measure on every cone. */
        const double angle = PI / rays, along[2] = {cos(angle), sin(angle)}, side = 0.2 * 2 * 9.81 * cos(angle);
        char gravity[80];
        snprintf(gravity, sizeof gravity, "gravity=[%.17g, %.17g, -9.81]", 9 * along[0], 9 * along[1]);
        run_well(&run, ball, SET(setting, gravity));
        const perp_contact_record *contact = &only(&run)->contacts[0];
        NEAR(hypot(contact->ft[0], contact->ft[1]), side, TIGHT);
        NEAR(contact->margin, 0.2 * 2 * 9.81 - side, TIGHT);
        assert_int_equal(contact->mode, PERP_CONTACT_STICK);
        assert_true(only(&run)->rate[0] > 5.0 / 7 * 9 * along[0]); /* more than where it rolls */
        scene_run_free(&run);
    }
}

/* A press that is at rest and begins to close on a block before a wall: no accelerations meet that, whatever the
 * friction; where it begins to open, or closes on a block with room, there is one. */
static void test_commands_without_answer(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        scene_run run;
        run_well(&run,
                 write_scene("perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                             "  wall: {fixed: true, shapes: [{halfplane: {normal: [-1, 0], offset: %.17g}}]}\n"
                             "  press: {driven: {x: {times: [0, 1, 2], values: [0, %g, 0], interpolate: cubic}},\n"
                             "    shapes: [{halfplane: {normal: [1, 0], offset: -0.5}}]}\n"
                             "  block: {mass: 1, shapes: [{box: [1, 1]}]}\n"
                             "contacts: {friction: 0.4}\nrun: {model: instant}\n",
                             i == 1 ? -0.51 : -0.5, i == 2 ? -0.1 : 0.1)
                     .of,
                 SET("run.h=0.01"));
        assert_int_equal(run.result.solution_count, i == 0 ? 0 : 1);
        assert_true((strstr(run.result.why_none, "commanded") != NULL) == (i == 0));
        if (i == 1) { /* a cubic that begins at rest: x'' = 6 d - 2 m1 with d = 0.1 and, by symmetry, m1 = 0 */
            NEAR(run.result.solutions[0].rate[3], 0.6, TIGHT);
            NEAR(run.result.solutions[0].contacts[0].fn + run.result.solutions[0].contacts[1].fn +
                     run.result.solutions[0].contacts[2].fn + run.result.solutions[0].contacts[3].fn,
                 0.6, TIGHT);
        }
        scene_run_free(&run);
    }
}

/* Neither of the contacts that slide draws its bodies together by itself, and together they do. */
static void test_paradox_over_several_contacts(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(
        &run,
        "perp: 1\nplanar: true\ngravity: [-2.0423401924017357, -9.81]\nbodies:\n"
        "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  block: {mass: 0.2241573949188938, pose: {position: [-0.007152612801378411, 0.1771216679261502]},\n"
        "    shapes: [{box: [0.4078741886711319, 0.3542433358523004]}], velocity: {linear: [0.35170006558793, 0]}}\n"
        "  disc: {mass: 0.668805823337926, pose: {position: [-0.0300631659391162, 0.5319195687895346]},\n"
        "    shapes: [{disc: 0.17767623293723428}], velocity: {linear: [1.62018797854267, 0], angular: 3.80105231}}\n"
        "contacts: {friction: 0.8}\nrun: {model: instant}\n",
        SET("run.h=0.01"));
    assert_int_equal(run.result.solution_count, 0);
    assert_non_null(strstr(run.result.why_none, "several contacts: friction at the 3 that slide"));
    scene_run_free(&run);
}

/* What touches and parts, or is about to hit, is not active: forces of an instant do not answer it. */
static void test_active(void **unused)
{
    (void)unused;
    static const char *const moves[] = {"bodies.box.velocity.linear=[0, 1e-6]", "bodies.box.velocity.linear=[0, -1e-6]",
                                        "bodies.box.pose.position=[0, 0.2500001]"};
    for (int i = 0; i < 3; i++) {
        scene_run run;
        run_well(&run, box_scene(0.0, 0.5, 0.25, 0).of, SET(moves[i]));
        NEAR(only(&run)->rate[1], -9.81, TIGHT);
        /* what parts is no one's surprise; both corners of the box are named or counted */
        static const char *const words[] = {NULL, "approaches at 1e-06 m/s", "is apart by 1e-07 m"};
        assert_true(words[i]
                        ? strstr(run.result.left_out, words[i]) && strstr(run.result.left_out, "and 1 more like it")
                        : run.result.left_out[0] == '\0');
        scene_run_free(&run);
    }
}

/* Bodies that overlap are in no state of rigid ones: up to 1e-6 of the scene's size it is said, from there on refused.
 */
static void test_overlap(void **unused)
{
    (void)unused;
    scene_run run;
    run_well(&run, box_scene(0.0, 0.5, 0.25, 0).of, SET("bodies.box.pose.position=[0, 0.24999999]"));
    assert_non_null(strstr(run.result.left_out, "overlaps by 1e-08 m"));
    scene_run_free(&run);
    static const char *const models[] = {"run.model=instant", "run.model=instant-qs"};
    for (int i = 0; i < 2; i++) {
        scene_run_make(&run, box_scene(0.0, 0.5, 0.25, 0).of, SET(models[i], "bodies.box.pose.position=[0, 0.24]"));
        assert_int_equal(run.status, PERP_STATUS_INFEASIBLE);
        assert_string_equal(run.error.code, "penetrating-start");
        assert_true(run.error.evidence.has_depth);
        NEAR(run.error.evidence.depth, 0.01, TIGHT);
        assert_int_equal(run.result.solution_count, 0);
        scene_run_free(&run);
    }
}

/* A flag that is set ends the listing with its own status; without an observer nothing else could. */
static void test_stops_when_told(void **unused)
{
    (void)unused;
    const text scene = wedge_scene(0.3, 0.5, 1, 1);
    scene_run run;
    run_well(&run, scene.of, SET("bodies.disc.velocity.angular=1"));
    bool cancel = false;
    for (int told = 0; told < 2; told++) {
        perp_run_settings settings = run.model->scene->run;
        perp_run_result result;
        perp_error error;
        settings.cancel = &cancel;
        cancel = told == 1;
        const perp_status status = perp_run(run.model, &settings, NULL, NULL, NULL, &run.state, &result, &error);
        assert_int_equal(status, told ? PERP_STATUS_CANCELLED : PERP_STATUS_OK);
        assert_int_equal(result.solution_count, told ? 0 : run.result.solution_count);
        assert_false(result.partial);
        perp_run_result_free(&result);
    }
    scene_run_free(&run);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    const text scene = wedge_scene(0.3, 0.5, 1, 1);
    int refused = 0;
    for (int grants = 0; grants < 2000; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        scene_run run;
        scene_run_make_with(&run, scene.of, SET("bodies.disc.velocity.angular=1"), &allocator, &f.requests);
        const perp_status status = run.status;
        scene_run_free(&run);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            break;
        }
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        refused++;
    }
    assert_true(refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_painleve_reference),
        cmocka_unit_test(test_painleve_regions),
        cmocka_unit_test(test_wedge),
        cmocka_unit_test(test_disc_on_incline),
        cmocka_unit_test(test_box_reference),
        cmocka_unit_test(test_box_slides_up),
        cmocka_unit_test(test_rod_two_walls_reference),
        cmocka_unit_test(test_rod_two_walls_solutions),
        cmocka_unit_test(test_curved_ways),
        cmocka_unit_test(test_ball_on_an_ellipsoid),
        cmocka_unit_test(test_rolls_on_a_hill),
        cmocka_unit_test(test_driven_table),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_loop_agrees_with_a_step),
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_commands_without_answer),
        cmocka_unit_test(test_paradox_over_several_contacts),
        cmocka_unit_test(test_active),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_stops_when_told),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
