/* rod_two_walls.h - Dupont and Yamajako's rod between two walls (1997, Fig. 1) in any position and with any friction.
 * Floor and wall may be drawn along themselves, so that each contact slips either way: that is what a negative mu
 * means. The load is always the one with which both contacts carry 2 N. */
#ifndef PERP_TESTS_ROD_TWO_WALLS_H
#define PERP_TESTS_ROD_TWO_WALLS_H

#include <math.h>

#include "analyzed.h"

static const double PI = 3.141592653589793, TURNING = 0.3;

static inline void near(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("line %d: %.15g is not %.15g to %g", line, value, expected, tolerance);
    }
}
#define assert_near(value, expected, tolerance) near((value), (expected), (tolerance), __LINE__)

typedef struct rod {
    double theta, alpha, inertia; /* rad, rad, kg m^2; m = l = 1 */
    double mu[2], damping;        /* signed; N s/m, with springs of 1 N/m */
} rod;

static const rod printed = {3.141592653589793 / 2.3, 3.141592653589793 / 4, 1.0 / 3.0, {0.5, 0.5}, 1.0};

/* Phi_q and the tangents, at the ends, over (x, y, theta). */
static inline void rows_of(const rod *r, double normal[2][3], double tangent[2][3])
{
    const double c = cos(r->theta), s = sin(r->theta), ca = cos(r->alpha), sa = sin(r->alpha);
    const double n[2][3] = {{0.0, 1.0, -c}, {sa, -ca, -cos(r->theta - r->alpha)}};
    const double t[2][3] = {{1.0, 0.0, s}, {ca, sa, sin(r->alpha - r->theta)}};
    memcpy(normal, n, sizeof n);
    memcpy(tangent, t, sizeof t);
}

static inline void write_scene(char *scene, size_t size, const rod *r)
{
    const double c = cos(r->theta), s = sin(r->theta), ca = cos(r->alpha), sa = sin(r->alpha);
    const double across = (ca * c + cos(r->theta - r->alpha)) / sa; /* the centre moves at (across, c) theta' */
    const double reach = 2.0 * s / tan(r->alpha) - c;
    const double floor = r->mu[0] < 0.0 ? 4.0 : 0.0, wall = r->mu[1] < 0.0 ? 4.0 : 0.0;
    double n[2][3], t[2][3], f[3];
    rows_of(r, n, t);
    /* at rest but for what turns the ends inwards: gaps accelerate by D (2, 2) + J f / m + turning = 0; f = M a - F (2,
     * 2) with any a that leaves both gaps closed */
    const double inwards = TURNING * TURNING;
    const double gap[2] = {s * inwards, (sa * -c + ca * s) * inwards};
    const double ax = -(gap[1] + ca * gap[0]) / sa, a[3] = {ax, -gap[0], 0.0};
    for (int k = 0; k < 3; k++) {
        f[k] = (k < 2 ? 1.0 : r->inertia) * a[k];
        for (int i = 0; i < 2; i++) {
            f[k] -= 2.0 * (n[i][k] - r->mu[i] * t[i][k]);
        }
    }
    const int length =
        snprintf(scene, size,
                 "perp: 1\nplanar: true\ngravity: [0, 0]\nbodies:\n"
                 "  floor: {driven: {x: {rate: %.17g}}, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                 "  wall: {driven: {x: {rate: %.17g}, y: {rate: %.17g}},\n"
                 "    shapes: [{halfplane: {normal: [%.17g, %.17g], offset: 0}}]}\n"
                 "  rod: {mass: 1, inertia: %.17g, pose: {position: [%.17g, %.17g], angle: %.17g},\n"
                 "    velocity: {linear: [%.17g, %.17g], angular: %.17g},\n"
                 "    shapes: [{polygon: [[-1, 0], [0, -0.02], [1, 0], [0, 0.02]]}]}\n"
                 "forces: [{body: rod, force: [%.17g, %.17g], torque: %.17g}]\n"
                 "contacts: {pairs: {floor rod: {friction: %.17g}, wall rod: {friction: %.17g}}}\n"
                 "compliance: {stiffness: 1, damping: %.17g, tangential: rigid}\nrun: {model: instant}\n",
                 floor, wall * ca, wall * sa, sa, -ca, r->inertia, reach, s, r->theta, TURNING * across, TURNING * c,
                 TURNING, f[0], f[1], f[2], fabs(r->mu[0]), fabs(r->mu[1]), r->damping);
    assert_true(length > 0 && (size_t)length < size);
}

static inline void analyze_rod(analyzed *a, const rod *r)
{
    char scene[2000];
    write_scene(scene, sizeof scene, r);
    analyze_text(a, scene, PERP_CERTIFY_RIGIDITY);
    assert_int_equal(a->analysis->rigidity.count, 2);
}

#endif
