/* The friction QP's residual against its definition, its slip and objective, the smoothed radius, and its conversion.
 */
#include "problem/checks.h"
#include "problem/friction_law.h"
#include "problem/friction_qp.h"

#include <perp/problem.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void near(double value, double expected, double tolerance, int line)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("line %d: %.17g is not %.17g to %g\n", line, value, expected, tolerance);
        fail();
    }
}
#define ASSERT_NEAR(value, expected, tolerance) near(value, expected, tolerance, __LINE__)

/* Two elements in space that H couples. */
static const double H[16] = {4.0, 1.0, 0.5, 0.0, 1.0, 2.0, 0.0, -0.5, 0.5, 0.0, 3.0, 1.0, 0.0, -0.5, 1.0, 5.0};
static const double D[4] = {1.0, -2.0, 0.5, 3.0}, RADIUS[2] = {0.25, 2.0};
static const perp_friction_qp problem = {2, 2, H, D, RADIUS};
static const double POINTS[][4] = {
    {0.0, 0.0, 0.0, 0.0}, {0.1, -0.2, 0.3, 0.4}, {3.0, 4.0, -1.0, 2.0}, {-0.2, 0.15, 0.3, -0.55}};

static void slip_of(const double *x, long double *s)
{
    for (int i = 0; i < 4; i++) {
        s[i] = D[i];
        for (int j = 0; j < 4; j++) {
            s[i] += (long double)H[4 * i + j] * (long double)x[j];
        }
    }
}

static void residual_is_the_natural_map(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof POINTS / sizeof *POINTS; k++) {
        const double *x = POINTS[k];
        long double s[4], largest = 0.0L;
        slip_of(x, s);
        for (int e = 0; e < 2; e++) {
            const long double rho = 2.0L / ((long double)H[10 * e] + (long double)H[10 * e + 5]), radius = RADIUS[e];
            const long double at[2] = {x[2 * e] - rho * s[2 * e], x[2 * e + 1] - rho * s[2 * e + 1]};
            const long double length = hypotl(at[0], at[1]), part = length > radius ? radius / length : 1.0L;
            long double scale = 0.0L; /* of its larger row */
            for (int i = 2 * e; i < 2 * e + 2; i++) {
                long double size = 1.0L + fabsl((long double)D[i]);
                for (int j = 0; j < 4; j++) {
                    size += fabsl((long double)H[4 * i + j] * (long double)x[j]);
                }
                scale = fmaxl(scale, size);
            }
            const long double map = hypotl(x[2 * e] - part * at[0], x[2 * e + 1] - part * at[1]) / rho;
            largest = fmaxl(largest, map / scale);
        }
        ASSERT_NEAR(perp_friction_qp_residual(&problem, x), (double)largest, 1e-15);
    }
    const double broken[4] = {0.0, (double)NAN, 0.0, 0.0};
    assert_true(isinf(perp_friction_qp_residual(&problem, broken)));
}

static void slip_and_objective(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof POINTS / sizeof *POINTS; k++) {
        const double *x = POINTS[k];
        double slip[4];
        long double s[4], value = 0.0L;
        slip_of(x, s);
        perp_friction_qp_slip(&problem, x, slip);
        for (int i = 0; i < 4; i++) {
            ASSERT_NEAR(slip[i], (double)s[i], 1e-14);
            value += 0.5L * (long double)x[i] * (s[i] + (long double)D[i]);
        }
        ASSERT_NEAR(perp_friction_qp_objective(&problem, x), (double)value, 1e-13);
    }
}

/* sqrt(r^2 + gamma^2) = mu fn + gamma; no force, no friction; small gamma, Coulomb's. */
static void smoothed_radius(void **state)
{
    (void)state;
    static const double gammas[] = {0.0, 1e-12, 1e-4, 0.3, 1e6};
    for (size_t k = 0; k < sizeof gammas / sizeof *gammas; k++) {
        const double r = perp_friction_radius(0.5, 3.0, gammas[k]);
        ASSERT_NEAR(hypot(r, gammas[k]), 1.5 + gammas[k], 1e-15 * (1.5 + 2.0 * gammas[k]));
        assert_true(perp_friction_radius(0.5, 0.0, gammas[k]) == 0.0);
        assert_true(perp_friction_radius(0.0, 3.0, gammas[k]) == 0.0);
        assert_true(r >= 1.5);
    }
    assert_true(perp_friction_radius(0.5, 3.0, 0.0) == 1.5);
}

/* The friction problem's velocity of (radius, x) is (0, slip), and its residual vanishes where the QP's does. */
static void as_coulomb_friction(void **state)
{
    (void)state;
    double w[36], q[6], mu[2];
    perp_friction friction;
    perp_friction_qp_as_friction(&problem, w, q, mu, &friction);
    assert_int_equal(perp_friction_check(&friction, NULL), PERP_STATUS_OK);
    for (size_t k = 0; k < sizeof POINTS / sizeof *POINTS; k++) {
        const double *x = POINTS[k], r[6] = {RADIUS[0], x[0], x[1], RADIUS[1], x[2], x[3]};
        double u[6], slip[4];
        perp_friction_velocity(&friction, r, u);
        perp_friction_qp_slip(&problem, x, slip);
        for (int e = 0; e < 2; e++) {
            ASSERT_NEAR(u[3 * e], 0.0, 1e-15);
            ASSERT_NEAR(u[3 * e + 1], slip[2 * e], 1e-14);
            ASSERT_NEAR(u[3 * e + 2], slip[2 * e + 1], 1e-14);
        }
        assert_true(perp_friction_qp_residual(&problem, x) > 1e-3 && perp_friction_residual(&friction, r) > 1e-3);
    }
    const double none[2] = {0.0, 0.0}, zero[6] = {0.0};
    const perp_friction_qp closed = {2, 2, H, D, none}; /* no radius: x = 0 whatever the slip */
    perp_friction_qp_as_friction(&closed, w, q, mu, &friction);
    assert_true(perp_friction_qp_residual(&closed, zero) == 0.0 && perp_friction_residual(&friction, zero) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_is_the_natural_map),
        cmocka_unit_test(slip_and_objective),
        cmocka_unit_test(smoothed_radius),
        cmocka_unit_test(as_coulomb_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
