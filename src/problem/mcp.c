#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/natural_map.h"

perp_status perp_mcp_check(const perp_mcp *problem, perp_error *error)
{
    const perp_status status = perp_problem_check_data(problem->n, problem->m, problem->q, error);
    if (status != PERP_STATUS_OK || problem->n == 0) {
        return status;
    }
    if (!problem->lower || !problem->upper) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no bounds");
    }
    return perp_problem_check_bounds(problem->n, problem->lower, problem->upper, error);
}

double perp_mcp_residual_with(const perp_mcp *problem, const double *z, double unit)
{
    double largest = 0.0;
    for (int i = 0; i < problem->n; i++) {
        double f;
        const double scale = perp_problem_row_scale(problem->n, problem->m, problem->q, z, i, unit, &f);
        const double map = perp_natural_map(z[i], f, problem->lower[i], problem->upper[i]);
        largest = perp_problem_worse(largest, perp_problem_over(map, scale));
    }
    return largest;
}

double perp_mcp_residual(const perp_mcp *problem, const double *z)
{
    return perp_mcp_residual_with(problem, z, 1.0);
}
