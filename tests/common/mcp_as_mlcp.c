/* Bounds moved to zero: a variable with a finite lower bound is x = z - lower, one with only an upper bound is
 * x = upper - z with its row negated, one without bounds stays and is free. A variable with two bounds has
 *     F = v - y,  0 <= v _|_ z - lower >= 0,  0 <= y _|_ upper - z >= 0,
 * so its upper multiplier y is one more variable, whose row is (upper - lower) - x. The matrix is
 *     [ S M S   E ]
 *     [  -E'    0 ]
 * with S the signs and E the unit columns of the doubly bounded ones: the added part is skew, so a definite M stays
 * semidefinite. The solver does not go this way (it pivots with the bounds themselves, at size n); this is for tests
 * that compare, and for methods that know lcp and mlcp only. */
#include "conversions.h"

#include <perp/problem.h>

#include <math.h>

int perp_mcp_as_mlcp_size(const perp_mcp *problem)
{
    int size = problem->n;
    for (int i = 0; i < problem->n; i++) {
        size += isfinite(problem->lower[i]) && isfinite(problem->upper[i]) ? 1 : 0;
    }
    return size;
}

static double sign_of(const perp_mcp *p, int i)
{
    return !isfinite(p->lower[i]) && isfinite(p->upper[i]) ? -1.0 : 1.0;
}

static double origin_of(const perp_mcp *p, int i)
{
    return isfinite(p->lower[i]) ? p->lower[i] : (isfinite(p->upper[i]) ? p->upper[i] : 0.0);
}

void perp_mcp_as_mlcp(const perp_mcp *problem, double *m, double *q, bool *free, perp_mlcp *mlcp)
{
    const int n = problem->n, size = perp_mcp_as_mlcp_size(problem);
    for (ptrdiff_t k = 0; k < (ptrdiff_t)size * size; k++) {
        m[k] = 0.0;
    }
    for (int i = 0, next = n; i < n; i++) {
        const double *row = problem->m + (ptrdiff_t)i * n;
        double constant = problem->q[i];
        for (int j = 0; j < n; j++) {
            m[(ptrdiff_t)i * size + j] = sign_of(problem, i) * sign_of(problem, j) * row[j];
            constant += row[j] * origin_of(problem, j);
        }
        q[i] = sign_of(problem, i) * constant;
        free[i] = !isfinite(problem->lower[i]) && !isfinite(problem->upper[i]);
        if (isfinite(problem->lower[i]) && isfinite(problem->upper[i])) {
            m[(ptrdiff_t)i * size + next] = 1.0;
            m[(ptrdiff_t)next * size + i] = -1.0;
            q[next] = problem->upper[i] - problem->lower[i];
            free[next++] = false;
        }
    }
    const perp_mlcp r = {size, m, q, free};
    *mlcp = r;
}

void perp_mcp_from_mlcp(const perp_mcp *problem, const double *z_mlcp, double *z)
{
    for (int i = 0; i < problem->n; i++) {
        z[i] = origin_of(problem, i) + sign_of(problem, i) * z_mlcp[i];
    }
}
