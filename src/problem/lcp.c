#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/natural_map.h"

perp_status perp_lcp_check(const perp_lcp *problem, perp_error *error)
{
    return perp_problem_check_data(problem->n, problem->m, problem->q, error);
}

void perp_lcp_slack(const perp_lcp *problem, const double *z, double *w)
{
    for (int i = 0; i < problem->n; i++) {
        w[i] = perp_problem_row(problem->n, problem->m, problem->q, z, i);
    }
}

double perp_lcp_residual_with(const perp_lcp *problem, const double *z, double unit)
{
    double largest = 0.0;
    for (int i = 0; i < problem->n; i++) {
        double f;
        const double scale = perp_problem_row_scale(problem->n, problem->m, problem->q, z, i, unit, &f);
        largest = perp_problem_worse(largest, perp_problem_over(perp_natural_map(z[i], f, 0.0, INFINITY), scale));
    }
    return largest;
}

double perp_lcp_residual(const perp_lcp *problem, const double *z)
{
    return perp_lcp_residual_with(problem, z, 1.0);
}
