#include "problem/natural_map.h"

#include <float.h>

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

static double row_in_twice_the_precision(int n, const double *row, double q, const double *z)
{
    double sum = q, errors = 0.0;
    for (int j = 0; j < n; j++) {
        const double product = row[j] * z[j], total = sum + product, part = total - sum;
        errors += fma(row[j], z[j], -product) + ((sum - (total - part)) + (product - part));
        sum = total;
    }
    return sum + errors; /* NaN or Inf after an overflow, which is no solution */
}

double perp_problem_row_for_residual(int n, const double *m, const double *q, const double *z, int i, double scale)
{
    static const double NEGLIGIBLE = 1e-12;
    const double *row = m + (ptrdiff_t)i * n;
    double sum = 0.0, size = fabs(q[i]);
    for (int j = 0; j < n; j++) {
        const double product = row[j] * z[j];
        sum += product;
        size += fabs(product);
    }
    const bool plain = (double)n * DBL_EPSILON * size <= NEGLIGIBLE * scale; /* false for NaN */
    return plain ? sum + q[i] : row_in_twice_the_precision(n, row, q[i], z);
}
