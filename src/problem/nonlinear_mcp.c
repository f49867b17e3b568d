#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/natural_map.h"

#include <float.h>

static double lower_of(const perp_nonlinear_mcp *problem, int i)
{
    return problem->lower ? problem->lower[i] : 0.0;
}

static double upper_of(const perp_nonlinear_mcp *problem, int i)
{
    return problem->upper ? problem->upper[i] : INFINITY;
}

static perp_status check_column(const perp_nonlinear_mcp *problem, int j, perp_error *error)
{
    for (int k = problem->column_starts[j]; k < problem->column_starts[j + 1]; k++) {
        const int row = problem->row_indices[k];
        if (row < 0 || row >= problem->n) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "column %d of the Jacobian names row %d of %d", j, row,
                             problem->n);
        }
        if (k > problem->column_starts[j] && row <= problem->row_indices[k - 1]) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "column %d of the Jacobian names row %d after row %d: rows must increase", j, row,
                             problem->row_indices[k - 1]);
        }
    }
    return PERP_STATUS_OK;
}

/* All starts before any row, so that a bad start cannot lead outside the arrays. */
static perp_status check_pattern(const perp_nonlinear_mcp *problem, perp_error *error)
{
    const int *starts = problem->column_starts;
    if (!starts || !problem->row_indices) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the pattern of the Jacobian has no %s",
                         starts ? "row_indices" : "column_starts");
    }
    if (starts[0] != 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the first column of the Jacobian starts at %d, not at 0",
                         starts[0]);
    }
    for (int j = 0; j < problem->n; j++) {
        if (starts[j + 1] < starts[j]) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "column %d of the Jacobian ends before it starts", j);
        }
    }
    for (int j = 0; j < problem->n; j++) {
        const perp_status status = check_column(problem, j, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_nonlinear_mcp_check(const perp_nonlinear_mcp *problem, perp_error *error)
{
    if (problem->n < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the size of the problem is %d", problem->n);
    }
    if (!problem->evaluate) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no function");
    }
    if (!(problem->scale >= 0.0) || problem->scale == INFINITY) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the scale of F is %g", problem->scale);
    }
    for (int i = 0; problem->scales && i < problem->n; i++) {
        if (!(problem->scales[i] >= 0.0) || problem->scales[i] == INFINITY) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the scale of row %d of F is %g", i, problem->scales[i]);
        }
    }
    perp_status status = perp_problem_check_bounds(problem->n, problem->lower, problem->upper, error);
    if (status == PERP_STATUS_OK && problem->n > 0 && (problem->column_starts || problem->row_indices)) {
        status = check_pattern(problem, error);
    }
    return status;
}

double perp_nonlinear_mcp_residual(const perp_nonlinear_mcp *problem, const double *z, const double *f)
{
    double largest = 0.0;
    for (int i = 0; i < problem->n; i++) {
        const double map = perp_natural_map(z[i], f[i], lower_of(problem, i), upper_of(problem, i));
        const double scale = problem->scales ? problem->scales[i] : problem->scale;
        largest = perp_problem_worse(largest, perp_problem_over(map, 1.0 + scale));
    }
    return largest;
}

/* ---- the Jacobian against differences ---------------------------------------------------------------------------- */

static size_t jacobian_length(const perp_nonlinear_mcp *problem)
{
    const size_t n = (size_t)problem->n;
    return problem->column_starts ? (n ? (size_t)problem->column_starts[n] : 0) : n * n;
}

size_t perp_nonlinear_mcp_jacobian_work(const perp_nonlinear_mcp *problem)
{
    return jacobian_length(problem) + 4 * (size_t)problem->n;
}

/* Column j of the Jacobian, in full length. */
static void spread_column(const perp_nonlinear_mcp *problem, const double *jacobian, int j, double *column)
{
    const int n = problem->n;
    for (int i = 0; i < n; i++) {
        column[i] = problem->column_starts ? 0.0 : jacobian[(ptrdiff_t)i * n + j];
    }
    for (int k = problem->column_starts ? problem->column_starts[j] : 0;
         problem->column_starts && k < problem->column_starts[j + 1]; k++) {
        column[problem->row_indices[k]] = jacobian[k];
    }
}

/* (F(z + h e_j) - F(z - h e_j)) / 2h, or to one side where the bounds end; false where F is not defined. */
static bool difference_column(const perp_nonlinear_mcp *problem, double *z, int j, double *above, double *below)
{
    const double centre = z[j], step = cbrt(DBL_EPSILON) * (1.0 + fabs(centre));
    const double high = fmin(centre + step, upper_of(problem, j)), low = fmax(centre - step, lower_of(problem, j));
    z[j] = high;
    bool defined = problem->evaluate(problem->context, z, above, NULL);
    z[j] = low;
    defined = defined && problem->evaluate(problem->context, z, below, NULL);
    z[j] = centre;
    for (int i = 0; defined && high > low && i < problem->n; i++) {
        above[i] = (above[i] - below[i]) / (high - low);
    }
    return defined;
}

double perp_nonlinear_mcp_jacobian_error(const perp_nonlinear_mcp *problem, const double *z, double *work, int *row,
                                         int *column)
{
    const int n = problem->n;
    double *jacobian = work, *point = work + jacobian_length(problem), *above = point + n, *below = above + n,
           *exact = below + n, largest = 0.0;
    *row = *column = -1;
    for (int i = 0; i < n; i++) {
        point[i] = z[i];
    }
    if (n > 0 && !problem->evaluate(problem->context, point, above, jacobian)) {
        return INFINITY;
    }
    for (int j = 0; j < n; j++) {
        if (lower_of(problem, j) == upper_of(problem, j)) {
            continue; /* fixed: no difference, and no use for the column */
        }
        if (!difference_column(problem, point, j, above, below)) {
            return INFINITY;
        }
        spread_column(problem, jacobian, j, exact);
        double size = 1.0;
        for (int i = 0; i < n; i++) {
            size = fmax(size, fabs(exact[i]));
        }
        for (int i = 0; i < n; i++) {
            const double error = fabs(above[i] - exact[i]) / size;
            if (error > largest || isnan(error)) {
                largest = isnan(error) ? INFINITY : error;
                *row = i;
                *column = j;
            }
        }
    }
    return largest;
}
