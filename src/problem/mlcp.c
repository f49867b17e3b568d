#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/natural_map.h"

perp_status perp_mlcp_check(const perp_mlcp *problem, perp_error *error)
{
    const perp_status status = perp_problem_check_data(problem->n, problem->m, problem->q, error);
    if (status == PERP_STATUS_OK && problem->n > 0 && !problem->free) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem does not say which variables are free");
    }
    return status;
}

double perp_mlcp_residual(const perp_mlcp *problem, const double *z)
{
    double largest = 0.0;
    for (int i = 0; i < problem->n; i++) {
        double f;
        const double scale = perp_problem_row_scale(problem->n, problem->m, problem->q, z, i, 1.0, &f);
        const double map = perp_natural_map(z[i], f, problem->free[i] ? -INFINITY : 0.0, INFINITY);
        largest = perp_problem_worse(largest, perp_problem_over(map, scale));
    }
    return largest;
}
