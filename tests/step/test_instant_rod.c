/* `instant`: the matrix D of the rod between two walls (Dupont and Yamajako 1997, (41)), as the rung has it: of the
 * gaps' accelerations D fn + b, b being known by hand, two loads give two answers fn with D fn = -b, and so D. Floor
 * and wall may be drawn along themselves, so that each contact slips either way: that is what a negative mu means.
 *
 * Tolerance 1e-9: the reference has ten figures, answers 1e-10 of numbers of size 1. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene_run.h"

static const double NEAR_ENOUGH = 1e-9, PI = 3.141592653589793, TURNING = 0.3;

/* The rod of examples/rod-two-walls. Where mu is negative the surface outruns the rod's end, which moves at less than 1
 * m/s along it. */
static void write_scene(char *scene, size_t size, const double mu[2], const double load[2])
{
    const double theta = PI / 2.3, alpha = PI / 4, c = cos(theta), s = sin(theta);
    const double across = (cos(alpha) * c + cos(theta - alpha)) / sin(alpha); /* the centre moves at (across, c) */
    const double top = s + sin(theta), reach = top / tan(alpha) - c;          /* the upper end is on the wall y = x */
    const double floor = mu[0] < 0.0 ? 2.0 : 0.0, wall = mu[1] < 0.0 ? 2.0 : 0.0;
    const int length = snprintf(
        scene, size,
        "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
        "  floor: {driven: {x: {rate: %.17g}}, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
        "  wall: {driven: {x: {rate: %.17g}, y: {rate: %.17g}},\n"
        "    shapes: [{halfplane: {normal: [%.17g, %.17g], offset: 0}}]}\n"
        "  rod: {mass: 1, inertia: %.17g, pose: {position: [%.17g, %.17g], angle: %.17g},\n"
        "    velocity: {linear: [%.17g, %.17g], angular: %.17g},\n"
        "    shapes: [{polygon: [[-1, 0], [0, -0.02], [1, 0], [0, 0.02]]}]}\n"
        "forces: [{body: rod, force: [%.17g, %.17g], torque: 0}]\n"
        "contacts: {pairs: {floor rod: {friction: %.17g}, wall rod: {friction: %.17g}}}\nrun: {model: instant}\n",
        floor, wall * cos(alpha), wall * sin(alpha), sin(alpha), -cos(alpha), 1.0 / 3.0, reach, s, theta,
        TURNING * across, TURNING * c, TURNING, load[0], load[1], fabs(mu[0]), fabs(mu[1]));
    assert_true(length > 0 && (size_t)length < size);
}

/* Accelerations of the gaps without contact: those of the ends, along the normals. */
static void free_gaps(const double load[2], double b[2])
{
    const double theta = PI / 2.3, alpha = PI / 4, inwards = TURNING * TURNING;
    b[0] = load[1] + sin(theta) * inwards; /* the lower end, (-cos, -sin) from the centre */
    b[1] = sin(alpha) * (load[0] - cos(theta) * inwards) - cos(alpha) * (load[1] - sin(theta) * inwards);
}

static void forces_of(const double mu[2], const double load[2], double fn[2])
{
    char scene[2000];
    scene_run run;
    write_scene(scene, sizeof scene, mu, load);
    scene_run_make(&run, scene, SET("run.h=0.01"));
    if (run.status != PERP_STATUS_OK) {
        fail_msg("%s", run.error.message);
    }
    assert_int_equal(run.result.solution_count, 1); /* D is a P-matrix at all of these */
    for (int k = 0; k < 2; k++) {
        const perp_contact_record *c = &run.result.solutions[0].contacts[k];
        fn[k] = c->fn;
        assert_true(fn[k] > 0.1); /* so that both gaps stay closed: D fn = -b */
        assert_int_equal(c->mode, PERP_CONTACT_SLIDE);
    }
    scene_run_free(&run);
}

/* Loads that press the rod into the corner, the second harder against the wall. */
static void measure(const double mu[2], double d[2][2])
{
    static const double loads[2][2] = {{-12.0, -4.0}, {-20.0, -4.0}};
    double fn[2][2], b[2][2];
    for (int i = 0; i < 2; i++) {
        forces_of(mu, loads[i], fn[i]);
        free_gaps(loads[i], b[i]);
    }
    const double det = fn[0][0] * fn[1][1] - fn[0][1] * fn[1][0];
    assert_true(fabs(det) > 1.0); /* the two answers are not one */
    for (int k = 0; k < 2; k++) {
        d[k][0] = -(b[0][k] * fn[1][1] - b[1][k] * fn[0][1]) / det;
        d[k][1] = -(b[1][k] * fn[0][0] - b[0][k] * fn[1][0]) / det;
    }
}

static void test_reference_entries(void **unused)
{
    (void)unused;
    static const struct {
        double mu[2], d[2][2];
    } reference[] = {
        {{0.0, 0.0}, {{1.1241830477418204, -0.1967279376263111}, {-0.1967279376263111, 3.097601634769363}}},
        {{0.5, 0.5}, {{1.4229838651265017, -0.717660074833049}, {0.6777575901737007, 2.409693158640273}}},
        {{0.5, -0.5}, {{1.4229838651265017, 0.32420419958042695}, {0.6777575901737007, 3.785510110898453}}},
        {{-0.5, 0.5}, {{0.8253822303571393, -0.717660074833049}, {-1.0712134654263232, 2.409693158640273}}},
        {{-0.5, -0.5}, {{0.8253822303571393, 0.32420419958042695}, {-1.0712134654263232, 3.785510110898453}}},
    };
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        double d[2][2];
        measure(reference[i].mu, d);
        for (int k = 0; k < 4; k++) {
            NEAR(d[k / 2][k % 2], reference[i].d[k / 2][k % 2], NEAR_ENOUGH);
        }
    }
}

/* Trace and determinant for other mu of either sign. */
static void test_trace_and_determinant(void **unused)
{
    (void)unused;
    static const double pairs[][2] = {{0.3, -0.7}, {-0.4, 0.2}, {-0.6, -0.9}, {0.8, 0.6}, {0.0, -1.0}, {-0.2, 0.0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const double *mu = pairs[i];
        double d[2][2];
        measure(mu, d);
        NEAR(d[0][0] + d[1][1], 4.221784682511 + 0.597601634769 * mu[0] - 1.375816952258 * mu[1], NEAR_ENOUGH);
        NEAR(d[0][0] * d[1][1] - d[0][1] * d[1][0],
             3.443569365022 + 2.195203269539 * mu[0] - 1.751633904516 * mu[1] + mu[0] * mu[1], 5.0 * NEAR_ENOUGH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_entries),
        cmocka_unit_test(test_trace_and_determinant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
