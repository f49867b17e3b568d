#include "problem/natural_map.h"

static perp_status refuse_entry(perp_error *error, int row, int column, double value)
{
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry (%d, %d) of M is %g", row, column, value);
}

perp_status perp_problem_check_data(int n, const double *m, const double *q, perp_error *error)
{
    if (n < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the size of the problem is %d", n);
    }
    if (n > 0 && (!m || !q)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no %s", m ? "q" : "M");
    }
    for (int i = 0; i < n; i++) {
        if (!isfinite(q[i])) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of q is %g", i, q[i]);
        }
        const double *row = m + (ptrdiff_t)i * n;
        double sum = 0.0; /* 0 x is 0 for every finite x */
        for (int j = 0; j < n; j++) {
            sum += 0.0 * row[j];
        }
        for (int j = 0; sum != 0.0 && j < n; j++) {
            if (!isfinite(row[j])) {
                return refuse_entry(error, i, j, row[j]);
            }
        }
    }
    return PERP_STATUS_OK;
}

double perp_problem_row_scale(int n, const double *m, const double *q, const double *z, int i, double unit, double *f)
{
    const double *row = m + (ptrdiff_t)i * n;
    double sum = 0.0, size = 0.0;
    for (int j = 0; j < n; j++) {
        const double product = row[j] * z[j];
        sum += product;
        size += fabs(product);
    }
    *f = sum + q[i];
    return unit + fabs(q[i]) + size;
}

perp_status perp_problem_check_bounds(int n, const double *lower, const double *upper, perp_error *error)
{
    for (int i = 0; i < n; i++) {
        const double low = lower ? lower[i] : 0.0, high = upper ? upper[i] : INFINITY;
        if (isnan(low) || isnan(high) || low == INFINITY || high == -INFINITY) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the bounds of variable %d are %g and %g", i, low, high);
        }
        if (low > high) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "the bounds of variable %d cross: the lower is %g and the upper %g", i, low, high);
        }
    }
    return PERP_STATUS_OK;
}
