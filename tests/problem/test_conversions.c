/* mlcp_as_mcp: a point of one problem is as good a point of the other. */
#include "problem/checks.h"
#include "problem/conversions.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mlcp_and_mcp_have_one_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
