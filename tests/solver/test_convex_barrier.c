/* The softened contact qp: closed forms of one contact, the limits of small kappa, and that its answer is a minimum. */
#include "problem/objectives.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/solver.h>

static void near(double actual, double expected, double tolerance, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %.17g, expected %.17g", line, actual, expected);
    }
}
#define NEAR(actual, expected, tolerance) near((actual), (expected), (tolerance), __LINE__)

/* One unknown pressed by g against x + offset >= 0. */
static const int one_start[] = {0, 1}, zero_dof[] = {0};
static const double unit[] = {1.0};

static perp_contact_qp press(const double *hessian, const double *g, const double *offset)
{
    return (perp_contact_qp){.n = 1,
                             .block_count = 1,
                             .block_start = one_start,
                             .hessian = hessian,
                             .g = g,
                             .contact_count = 1,
                             .row_start = one_start,
                             .dof_start = one_start,
                             .dofs = zero_dof,
                             .jacobian = unit,
                             .slack_start = one_start,
                             .offset = offset};
}

static perp_convex_info solve(const perp_contact_qp *p, double kappa, perp_convex_point *point)
{
    perp_convex_workspace *workspace;
    perp_convex_info info;
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = 1e-11;
    assert_int_equal(perp_convex_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_qp_reserve(p, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_qp_barrier(p, kappa, &settings, workspace, point, &info, NULL), PERP_STATUS_OK);
    perp_convex_workspace_free(workspace);
    return info;
}

/* h x + g = kappa / (x + b): the larger root of h s^2 + (g - h b) s - kappa = 0. */
static void test_one_row(void **unused)
{
    (void)unused;
    static const double g[] = {3.0}, offset[] = {0.2}, h[] = {2.0};
    const perp_contact_qp p = press(h, g, offset);
    for (double kappa = 10.0; kappa > 1e-14; kappa *= 0.1) {
        double x, y;
        perp_convex_point point = {.x = &x, .y = &y};
        const perp_convex_info info = solve(&p, kappa, &point);
        assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
        assert_true(perp_convex_residual_largest(perp_contact_qp_barrier_residual(&p, kappa, &point)) <= 1e-11);
        const double b = g[0] - h[0] * offset[0], s = 2.0 * kappa / (b + sqrt(b * b + 4.0 * h[0] * kappa));
        NEAR(x + offset[0], s, 1e-13 + 1e-11 * s);
        NEAR(y, kappa / s, 1e-9 * kappa / s);
    }
}

/* Frictional contact, pulled aside: at the minimum no small step is better, in any direction. */
static double barrier_objective(const perp_contact_qp *p, double kappa, const double *x)
{
    const double n = x[0] + p->offset[0], t = p->rays[4] * (x[1] + 0.0) + p->offset[1],
                 o = p->rays[8] * (x[2] + 0.0) + p->offset[2];
    return perp_contact_qp_objective(p, x) - 0.5 * kappa * log(n * n - t * t - o * o);
}

static void test_cone_is_minimum(void **unused)
{
    (void)unused;
    static const int three[] = {0, 3}, dofs[] = {0, 1, 2};
    static const double h[] = {2, 0, 0, 0, 3, 0.5, 0, 0.5, 4}, g[] = {1.5, -2.0, 0.7};
    static const double j[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, rays[] = {1, 0, 0, 0, 0.6, 0, 0, 0, 0.6};
    static const double offset[] = {0.1, 0.02, 0.0};
    static const bool cone[] = {true};
    const perp_contact_qp p = {.n = 3,
                               .block_count = 1,
                               .block_start = three,
                               .hessian = h,
                               .g = g,
                               .contact_count = 1,
                               .row_start = three,
                               .dof_start = three,
                               .dofs = dofs,
                               .jacobian = j,
                               .slack_start = three,
                               .rays = rays,
                               .offset = offset,
                               .quadratic = cone};
    for (double kappa = 1.0; kappa > 1e-6; kappa *= 0.1) {
        double x[3], y[3];
        perp_convex_point point = {.x = x, .y = y};
        assert_int_equal(solve(&p, kappa, &point).outcome, PERP_OUTCOME_SOLVED);
        const double least = barrier_objective(&p, kappa, x), step = 1e-4 * kappa;
        for (int i = 0; i < 27; i++) {
            const double moved[3] = {x[0] + step * (i % 3 - 1), x[1] + step * (i / 3 % 3 - 1),
                                     x[2] + step * (i / 9 - 1)};
            assert_true(barrier_objective(&p, kappa, moved) >= least - 1e-15);
        }
    }
}

/* As kappa goes to 0 the answer is that of the hard problem, with an error of kappa over the force. */
static void test_limit(void **unused)
{
    (void)unused;
    static const double g[] = {3.0}, offset[] = {0.2}, h[] = {2.0}, lower[] = {-INFINITY}, upper[] = {-0.1};
    perp_contact_qp p = press(h, g, offset);
    p.lower = lower;
    p.upper = upper;
    double x, y, low = 0.0, high = 0.0;
    perp_convex_point point = {.x = &x, .y = &y, .y_lower = &low, .y_upper = &high};
    assert_int_equal(solve(&p, 1e-12, &point).outcome, PERP_OUTCOME_SOLVED);
    NEAR(x, -0.2, 1e-12);
    NEAR(y, 2.0 * -0.2 + 3.0, 1e-9);
    NEAR(high, 1e-12 / 0.1, 1e-13); /* the idle bound pushes with kappa over its distance */
}

static void test_refusals(void **unused)
{
    (void)unused;
    static const double g[] = {3.0}, offset[] = {0.2}, h[] = {2.0};
    const perp_contact_qp p = press(h, g, offset);
    static const double wrong[] = {0.0, -1.0, NAN, INFINITY};
    perp_convex_workspace *workspace;
    perp_convex_info info;
    double x, y;
    perp_convex_point point = {.x = &x, .y = &y};
    assert_int_equal(perp_convex_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(perp_contact_qp_barrier(&p, wrong[i], NULL, workspace, &point, &info, NULL),
                         PERP_STATUS_BAD_INPUT);
    }
    assert_int_equal(perp_contact_qp_barrier(&p, 1.0, NULL, workspace, &point, &info, NULL), PERP_STATUS_CAPACITY);
    perp_convex_workspace_free(workspace);
    /* outside: not a point of the problem */
    x = -0.3;
    y = 1.0;
    assert_true(isinf(perp_contact_qp_barrier_residual(&p, 1.0, &point).complementarity));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_cone_is_minimum),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
