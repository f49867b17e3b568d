/* The smoothed projection by its identities, the derivative of the smoothed natural map by differences, and the method
 * on a problem that has to slide. */
#include "failing_allocator.h"
#include "friction_test.h"

#include "solver/friction_core.h"

#include <math.h>

/* p (p - lambda) = s^2, p > 0: also where one root is rounding beside the other. */
static void roots(void **state)
{
    (void)state;
    static const double LAMBDAS[] = {-1e8, -3.0, -1e-9, 0.0, 1e-9, 3.0, 1e8}, SMOOTH[] = {1e-6, 1e-2, 10.0};
    for (size_t i = 0; i < sizeof LAMBDAS / sizeof *LAMBDAS; i++) {
        for (size_t k = 0; k < sizeof SMOOTH / sizeof *SMOOTH; k++) {
            const double lambda = LAMBDAS[i], s = SMOOTH[k], p = perp_friction_smooth_value(lambda, s);
            const double other = perp_friction_smooth_value(-lambda, s); /* p - lambda */
            assert_true(p > 0.0 && other > 0.0);
            assert_true(fabs(p * other - s * s) <= 1e-14 * s * s); /* some roundings of the two */
            double derivative = 0.0, rest = 0.0;
            perp_friction_smooth_derivative(lambda, s, &derivative, &rest);
            assert_true(fabs(derivative + rest - 1.0) <= 1e-15);
            assert_true(fabs(derivative * (p + other) - p) <= 1e-14 * p); /* p' = p / (2 p - lambda) */
        }
    }
}

/* Inside the cone, and its complement r = P_s(a), z = P_s(-a): r - z = a and r o z = s^2 e. */
static void cones(void **state)
{
    (void)state;
    const double a[3] = {0.3, -1.2, 0.7}, minus[3] = {-0.3, 1.2, -0.7}, s = 0.05;
    double r[3], z[3];
    perp_friction_smooth_project(3, s, a, r);
    perp_friction_smooth_project(3, s, minus, z);
    assert_true(r[0] > hypot(r[1], r[2]) && z[0] > hypot(z[1], z[2]));
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(r[i] - z[i] - a[i]) <= 1e-15 * 10.0);
    }
    assert_true(fabs(r[0] * z[0] + r[1] * z[1] + r[2] * z[2] - s * s) <= 1e-15 * 10.0);
    for (int i = 1; i < 3; i++) {
        assert_true(fabs(r[0] * z[i] + z[0] * r[i]) <= 1e-15 * 10.0);
    }
    const double along[3] = {2.0, 0.0, 0.0}; /* no tail: no direction either */
    perp_friction_smooth_project(3, s, along, r);
    assert_true(r[1] == 0.0 && r[2] == 0.0 && fabs(r[0] - perp_friction_smooth_value(2.0, s)) <= 1e-15);
}

/* A mass thrown sideways on a floor: it slides on, and the friction is mu times its weight against the slip. */
static void a_sliding_mass(void **state)
{
    (void)state;
    static const double MU = 0.4, WEIGHT = 2.0, SPEED = 3.0, TIGHT = 1e-7; /* ten times the residual that is enough */
    const double w[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, q[3] = {-WEIGHT, SPEED, 0.0};
    const perp_friction problem = {.contacts = 1, .dim = 3, .w = w, .q = q, .mu = &MU};
    const perp_friction_settings settings = friction_settings("smooth");
    double r[3], u[3];
    assert_int_equal(solve_friction(&problem, &settings, r, u).outcome, PERP_OUTCOME_SOLVED);
    assert_true(fabs(r[0] - WEIGHT) <= TIGHT && fabs(r[1] + MU * WEIGHT) <= TIGHT && fabs(r[2]) <= TIGHT);
    assert_true(fabs(u[1] - (SPEED - MU * WEIGHT)) <= TIGHT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots),
        cmocka_unit_test(cones),
        cmocka_unit_test(a_sliding_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
