/* `instant`: the planar reference tables (Painleve's rod, the wedged disc, discs and boxes on inclines, the rod between
 * two walls) and the closed forms behind them for other values.
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

#include "scene_run.h"

static const double TIGHT = 1e-9, PI = 3.141592653589793;

/* ---- Painleve's rod ---------------------------------------------------------------------------------------------- */

typedef struct rod {
    double m, l, angle, mu, turning; /* l: the whole length */
} rod;

/* The tip slips towards -x at 1 m/s. */
static scene_text rod_scene(const rod *r)
{
    const double half = 0.5 * r->l, c = half * cos(r->angle), s = half * sin(r->angle);
    return scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                         "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                         "  rod: {mass: %.17g, inertia: %.17g, pose: {position: [0, %.17g], angle: %.17g},\n"
                         "    velocity: {linear: [%.17g, %.17g], angular: %.17g},\n"
                         "    shapes: [{polygon: [[%.17g, 0], [0, -0.01], [%.17g, 0], [0, 0.01]]}]}\n"
                         "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                         r->m, r->m * r->l * r->l / 12.0, s, r->angle, -1.0 - r->turning * s, r->turning * c,
                         r->turning, -half, half, r->mu);
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
    instant_run(&run, rod_scene(r).of, SET("run.h=0.01"));
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
    instant_run(&run, "painleve-rod", SET("run.h=0.01"));
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

static scene_text wedge_scene(double alpha, double mu, double mass, double radius)
{
    return scene_text_of("perp: 1\nplanar: true\nbodies:\n"
                         "  left: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}}]}\n"
                         "  right: {fixed: true, shapes: [{halfplane: {normal: [%.17g, %.17g], offset: %.17g}}]}\n"
                         "  disc: {mass: %.17g, shapes: [{disc: %.17g}]}\n"
                         "contacts: {friction: %.17g}\nrun: {model: instant}\n",
                         cos(alpha), -sin(alpha), -radius, -cos(alpha), -sin(alpha), -radius, mass, radius, mu);
}

/* Between upright walls any squeeze N up to m g / 2 mu lets it fall at g - 2 mu N / m: the accelerations are a segment,
 * of which rest is the smallest. */
static void check_upright(double mu, double mass, double radius)
{
    scene_run run;
    instant_run(&run, wedge_scene(0.0, mu, mass, radius).of, SET("run.h=0.01"));
    const perp_instant_solution *s = instant_only(&run);
    assert_false(run.result.partial);
    assert_int_equal(s->vertex_count, 2);
    assert_int_equal(s->ray_count, 0);
    for (int k = 0; k < 3; k++) {
        NEAR(s->rate[k], 0.0, TIGHT);
        NEAR(s->vertices[k] + s->vertices[3 + k], k == 1 ? -9.81 : 0.0, TIGHT);
        NEAR(s->vertices[k] * s->vertices[3 + k], 0.0, TIGHT);
    }
    for (int k = 0; k < 2; k++) { /* at rest */
        NEAR(s->contacts[k].fn, mass * 9.81 / (2.0 * mu), 1e-8 * mass * 9.81);
        NEAR(s->fn_low[k], mass * 9.81 / (2.0 * mu), 1e-8 * mass * 9.81);
        assert_true(isinf(s->fn_high[k]));
    }
    scene_run_free(&run);
}

/* It falls in any case; and where mu > tan alpha it may also rest, with any squeeze from m g / 2 (mu cos - sin) on. */
static void check_wedge(double alpha, double mu, double mass, double radius)
{
    const bool holds = mu > tan(alpha);
    const double least = holds ? mass * 9.81 / (2.0 * (mu * cos(alpha) - sin(alpha))) : 0.0;
    scene_run run;
    instant_run(&run, wedge_scene(alpha, mu, mass, radius).of, SET("run.h=0.01"));
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
    check_upright(0.5, 1, 1);
    check_upright(1.3, 0.2, 0.05);
    check_wedge(10 * degrees, 0.2, 2.5, 0.1);
    check_wedge(10 * degrees, 0.17, 2.5, 0.1);
    check_wedge(30 * degrees, 1.1, 0.3, 0.05);
}

/* ---- inclines ---------------------------------------------------------------------------------------------------- */

static scene_text disc_scene(double alpha, double mu)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [%.17g, %.17g]\nbodies:\n"
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
        instant_run(&run, disc_scene(alpha, mu).of, SET("run.h=0.01"));
        const perp_instant_solution *s = instant_only(&run);
        NEAR(s->contacts[0].fn, weight, TIGHT);
        NEAR(s->contacts[0].ft[0], ft, TIGHT);
        NEAR(s->rate[0], pull + ft, TIGHT);
        NEAR(s->rate[1], 0.0, TIGHT);
        NEAR(s->rate[2], 0.5 * ft / 0.125, TIGHT);
        assert_int_equal(s->contacts[0].mode, rolls ? PERP_CONTACT_STICK : PERP_CONTACT_LIMIT);
        scene_run_free(&run);
    }
    scene_run run;
    instant_run(&run, disc_scene(PI / 6, 0.25).of, SET("run.h=0.01"));
    NEAR(instant_only(&run)->contacts[0].fn, 8.495709211, 1e-9);
    NEAR(instant_only(&run)->contacts[0].ft[0], -1.635, TIGHT);
    scene_run_free(&run);
    instant_run(&run, disc_scene(PI / 6, 0.15).of, SET("run.h=0.01"));
    NEAR(instant_only(&run)->contacts[0].ft[0], -1.274356382, 1e-9);
    NEAR(instant_only(&run)->rate[0], 3.630643618, 1e-9);
    scene_run_free(&run);
}

static scene_text box_scene(double alpha, double mu, double height, double speed)
{
    return scene_text_of("perp: 1\nplanar: true\ngravity: [%.17g, %.17g]\nbodies:\n"
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
        instant_run(&run, box_scene(cases[i].degrees * PI / 180, cases[i].mu, cases[i].height, 0).of,
                    SET("run.h=0.01"));
        corners(instant_only(&run), corner);
        for (int k = 0; k < 2; k++) {
            NEAR(corner[k]->fn, cases[i].fn[k], 1e-9);
        }
        for (int k = 0; k < 3; k++) {
            NEAR(instant_only(&run)->rate[k], cases[i].a[k], 1e-9);
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
    instant_run(&run, box_scene(alpha, mu, height, -1.5).of, SET("run.h=0.01"));
    corners(instant_only(&run), corner);
    NEAR(instant_only(&run)->rate[0], 9.81 * sin(alpha) + mu * weight, TIGHT);
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
    instant_run(&run, "rod-two-walls", SET("run.h=0.01"));
    for (int k = 0; k < 2; k++) {
        NEAR(instant_only(&run)->contacts[k].fn, 2.0, 1e-9);
        assert_int_equal(instant_only(&run)->contacts[k].mode, PERP_CONTACT_SLIDE);
    }
    NEAR(instant_only(&run)->rate[2], -0.49696782133573203, 1e-9);
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
    instant_run(&run, "rod-two-walls",
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
