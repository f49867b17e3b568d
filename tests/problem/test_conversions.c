/* mlcp_as_lcp, mlcp_as_mcp, mcp_as_mlcp: a point of one problem is as good a point of the other. That solvers agree on
 * them is tested with the solvers. */
#include "conversions.h"
#include "problem/checks.h"

#include <perp/problem.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

enum { N = 6 };

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%.17g is not %.17g within %g\n", a, b, tolerance);
        fail();
    }
}

static void fill(perp_random *random, int count, double *x)
{
    for (int i = 0; i < count; i++) {
        x[i] = perp_random_uniform(random, -1.0, 1.0);
    }
}

static void mlcp_and_mcp_have_one_residual(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        perp_random random = {seed};
        double m[N * N], q[N], z[N], lower[N], upper[N];
        fill(&random, N * N, m);
        fill(&random, N, q);
        fill(&random, N, z);
        const bool free[N] = {seed & 1, seed & 2, seed & 4, seed & 8, seed & 16, seed & 32};
        const perp_mlcp mlcp = {N, m, q, free};
        perp_mcp mcp;
        perp_mlcp_as_mcp(&mlcp, lower, upper, &mcp);
        ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_check(&mcp, NULL));
        assert_near(perp_mcp_residual(&mcp, z), perp_mlcp_residual(&mlcp, z), 0.0);
    }
}

/* The reduction is exact algebra: for any z_c, the z it is completed to meets the equations, and the lcp's slack is the
 * mlcp's on the constrained rows. 1e-11 is rounding times the condition of the free block, which is kept near 1 by a
 * diagonal of 4 (entries are below 1 and there are at most 6). */
static void free_variables_are_eliminated(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++) {
        perp_random random = {seed};
        double m[N * N], q[N], z[N], z_c[N], w[N], w_c[N];
        fill(&random, N * N, m);
        fill(&random, N, q);
        fill(&random, N, z_c);
        for (int i = 0; i < N; i++) {
            m[i * N + i] = 4.0;
        }
        const bool free[N] = {seed & 1, seed & 2, seed & 4, seed & 8, seed & 16, seed & 32};
        const perp_mlcp mlcp = {N, m, q, free};
        double rm[N * N], rq[N], factor[N * N], solved[N * (N + 1)], work[2 * N];
        int pivots[N];
        perp_mlcp_reduction r = {rm, rq, factor, solved, work, pivots, -1};
        ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_as_lcp(&mlcp, &r, NULL));
        assert_int_equal(r.constrained, perp_mlcp_constrained_count(&mlcp));
        perp_mlcp_from_lcp(&mlcp, &r, z_c, z);
        const perp_lcp full = {N, m, q}, reduced = {r.constrained, rm, rq};
        perp_lcp_slack(&full, z, w);
        perp_lcp_slack(&reduced, z_c, w_c);
        for (int i = 0, at = 0; i < N; i++) {
            assert_near(w[i], free[i] ? 0.0 : w_c[at], 1e-11);
            at += free[i] ? 0 : 1;
        }
    }
}

static void singular_free_block_is_refused(void **state)
{
    (void)state;
    const double m[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, q[3] = {0, 0, 0};
    const bool free[3] = {true, true, false};
    const perp_mlcp mlcp = {3, m, q, free};
    double rm[1], rq[1], factor[4], solved[4], work[4];
    int pivots[2];
    perp_mlcp_reduction r = {rm, rq, factor, solved, work, pivots, -1};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_mlcp_as_lcp(&mlcp, &r, &error));
}

/* For any z within its bounds, with the multipliers of the boxes that F gives: the mlcp's slack on row i is the part of
 * F that belongs to the lower bound, and the natural residual is zero for the one exactly where it is for the other.
 * Here: a solved mcp is a solved mlcp. */
static void boxes_become_multipliers(void **state)
{
    (void)state;
    const double lower[4] = {-1.0, -INFINITY, 2.0, -INFINITY}, upper[4] = {1.0, 3.0, INFINITY, INFINITY};
    const double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, q[4] = {-5.0, -7.0, 0.0, -0.5};
    const perp_mcp mcp = {4, m, q, lower, upper};
    const double solved[4] = {1.0, 3.0, 2.0, 0.5}; /* F = (-4, -4, 2, 0) */
    assert_near(perp_mcp_residual(&mcp, solved), 0.0, 0.0);
    assert_int_equal(perp_mcp_as_mlcp_size(&mcp), 5);
    double lm[25], lq[5], z[4];
    bool free[5];
    perp_mlcp mlcp;
    perp_mcp_as_mlcp(&mcp, lm, lq, free, &mlcp);
    ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_check(&mlcp, NULL));
    assert_true(!free[0] && !free[1] && !free[2] && free[3] && !free[4]);
    /* x = z - lower, upper - z, z - lower, z, and y = 4 */
    const double x[5] = {2.0, 0.0, 0.0, 0.5, 4.0}, wrong[5] = {2.0, 0.0, 0.0, 0.5, 3.0};
    assert_near(perp_mlcp_residual(&mlcp, x), 0.0, 0.0);
    assert_near(perp_mlcp_residual(&mlcp, wrong), 1.0 / 12.0, 1e-16); /* w_0 = -1 = -6 + 2 + 3 */
    perp_mcp_from_mlcp(&mcp, x, z);
    for (int i = 0; i < 4; i++) {
        assert_near(z[i], solved[i], 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mlcp_and_mcp_have_one_residual),
        cmocka_unit_test(free_variables_are_eliminated),
        cmocka_unit_test(singular_free_block_is_refused),
        cmocka_unit_test(boxes_become_multipliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
