/* Validity of rigidity: Dupont and Yamajako's rod between two walls (1997, Fig. 1 to 3), against numbers of their (41)
 * and (35) that were computed elsewhere. Floor and wall may be drawn along themselves, so that each contact slips
 * either way: that is what a negative mu means. The load is always the one with which both contacts carry 2 N. */
#include <math.h>

#include "analyzed.h"

static const double PI = 3.141592653589793, TURNING = 0.3;

static void near(double value, double expected, double tolerance, int line)
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
static void rows_of(const rod *r, double normal[2][3], double tangent[2][3])
{
    const double c = cos(r->theta), s = sin(r->theta), ca = cos(r->alpha), sa = sin(r->alpha);
    const double n[2][3] = {{0.0, 1.0, -c}, {sa, -ca, -cos(r->theta - r->alpha)}};
    const double t[2][3] = {{1.0, 0.0, s}, {ca, sa, sin(r->alpha - r->theta)}};
    memcpy(normal, n, sizeof n);
    memcpy(tangent, t, sizeof t);
}

static void write_scene(char *scene, size_t size, const rod *r)
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

static void analyze_rod(analyzed *a, const rod *r)
{
    char scene[2000];
    write_scene(scene, sizeof scene, r);
    analyze_text(a, scene, PERP_CERTIFY_RIGIDITY);
    assert_int_equal(a->analysis->rigidity.count, 2);
}

/* ---- D ----------------------------------------------------------------------------------------------------------- */

static void test_reference_matrices(void **unused)
{
    (void)unused;
    static const struct {
        double mu[2], d[4];
    } reference[] = {
        {{0.0, 0.0}, {1.1241830477418204, -0.1967279376263111, -0.1967279376263111, 3.097601634769363}},
        {{0.5, 0.5}, {1.4229838651265017, -0.717660074833049, 0.6777575901737007, 2.409693158640273}},
        {{0.5, -0.5}, {1.4229838651265017, 0.32420419958042695, 0.6777575901737007, 3.785510110898453}},
        {{-0.5, 0.5}, {0.8253822303571393, -0.717660074833049, -1.0712134654263232, 2.409693158640273}},
        {{-0.5, -0.5}, {0.8253822303571393, 0.32420419958042695, -1.0712134654263232, 3.785510110898453}},
    };
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        rod r = printed;
        analyzed a;
        memcpy(r.mu, reference[i].mu, sizeof r.mu);
        analyze_rod(&a, &r);
        for (int k = 0; k < 4; k++) {
            assert_near(a.analysis->rigidity.D[k], reference[i].d[k], 1e-9);
        }
        free_analyzed(&a);
    }
}

/* theta = 70 deg, alpha = 35 deg, m l^2 / J = 2. */
static void test_another_rod(void **unused)
{
    (void)unused;
    static const double d[4] = {1.61962812, -0.64518938, 0.32073645, 1.9661431};
    rod r = {70.0 * PI / 180.0, 35.0 * PI / 180.0, 0.5, {0.6, 0.4}, 1.0};
    analyzed a;
    analyze_rod(&a, &r);
    for (int k = 0; k < 4; k++) {
        assert_near(a.analysis->rigidity.D[k], d[k], 1e-8);
    }
    free_analyzed(&a);
    static const double critical[3][2] = {{0.05, 0.60404209}, {0.2, 1.25464108}, {0.5, 2.72503449}};
    for (int i = 0; i < 3; i++) {
        for (int side = -1; side <= 1; side += 2) {
            r.damping = sqrt(critical[i][0]);
            r.mu[0] = r.mu[1] = critical[i][1] + side * 2e-8;
            analyze_rod(&a, &r);
            assert_int_equal(a.analysis->rigidity.stable, side < 0 ? PERP_ANSWER_YES : PERP_ANSWER_NO);
            assert_near(a.analysis->rigidity.kappa_min, critical[i][0], 1e-6);
            free_analyzed(&a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_matrices),
        cmocka_unit_test(test_another_rod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
