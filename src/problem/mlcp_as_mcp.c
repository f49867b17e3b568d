/* A free variable is one without bounds: F = 0 wherever z is strictly inside. */
#include <perp/problem.h>

#include <math.h>

void perp_mlcp_as_mcp(const perp_mlcp *problem, double *lower, double *upper, perp_mcp *mcp)
{
    for (int i = 0; i < problem->n; i++) {
        lower[i] = problem->free[i] ? -INFINITY : 0.0;
        upper[i] = INFINITY;
    }
    const perp_mcp r = {problem->n, problem->m, problem->q, lower, upper};
    *mcp = r;
}
