#include "problem/convex_check.h"
#include "problem/tolerances.h"

#include "linalg/dense_kernel.h"

#include <math.h>

perp_status perp_convex_check_count(int count, const char *what, perp_error *error)
{
    return count >= 0 ? PERP_STATUS_OK : perp_fail(error, PERP_STATUS_BAD_INPUT, "the %s is %d", what, count);
}

perp_status perp_convex_check_present(ptrdiff_t count, const void *values, const char *name, perp_error *error)
{
    return count == 0 || values ? PERP_STATUS_OK
                                : perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no %s", name);
}

ptrdiff_t perp_convex_first_not_finite(ptrdiff_t count, const double *values)
{
    const perp_lanes zero = {0.0, 0.0};
    perp_lanes a = zero, b = zero, c = zero, d = zero; /* 0 x is 0 for every finite x */
    ptrdiff_t i = 0;
    for (; i + 8 <= count; i += 8) {
        a += zero * perp_lanes_load(values + i);
        b += zero * perp_lanes_load(values + i + 2);
        c += zero * perp_lanes_load(values + i + 4);
        d += zero * perp_lanes_load(values + i + 6);
    }
    a = (a + b) + (c + d);
    double sum = a[0] + a[1];
    for (; i < count; i++) {
        sum += 0.0 * values[i];
    }
    if (sum == 0.0) {
        return count;
    }
    for (i = 0; isfinite(values[i]); i++) {
    }
    return i;
}

perp_status perp_convex_check_vector(int count, const double *values, const char *name, perp_error *error)
{
    const perp_status status = perp_convex_check_present(count, values, name, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const ptrdiff_t i = perp_convex_first_not_finite(count, values);
    return i == count ? PERP_STATUS_OK
                      : perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %td of %s is %g", i, name, values[i]);
}

perp_status perp_convex_check_matrix(int rows, int columns, const double *values, const char *name, perp_error *error)
{
    const ptrdiff_t count = (ptrdiff_t)rows * columns;
    const perp_status status = perp_convex_check_present(count, values, name, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const ptrdiff_t i = perp_convex_first_not_finite(count, values);
    return i == count ? PERP_STATUS_OK
                      : perp_fail(error, PERP_STATUS_BAD_INPUT, "entry (%td, %td) of %s is %g", i / columns,
                                  i % columns, name, values[i]);
}

perp_status perp_convex_check_hessian(int size, int first, const double *h, double largest, perp_error *error)
{
    const double rounding = PERP_SYMMETRIC * largest;
    for (int i = 0; i < size; i++) {
        const double *row = h + (ptrdiff_t)i * size, diagonal = row[i];
        if (diagonal < -rounding) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "H is not positive semidefinite: its diagonal entry %d is %g", first + i, diagonal);
        }
        for (int j = 0; j < i; j++) {
            const double mirrored = h[(ptrdiff_t)j * size + i], other = h[(ptrdiff_t)j * size + j];
            if (!(fabs(row[j] - mirrored) <= rounding)) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT,
                                 "H is not symmetric: entry (%d, %d) is %.17g and entry (%d, %d) is %.17g", first + i,
                                 first + j, row[j], first + j, first + i, mirrored);
            }
            /* Each factor and each side is at most about 1, so that nothing overflows; both diagonals passed. */
            const double entry = row[j] / largest;
            if (row[j] != 0.0 && entry * entry > (diagonal / largest + 2.0 * PERP_SYMMETRIC) *
                                                     (other / largest + 2.0 * PERP_SYMMETRIC)) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT,
                                 "H is not positive semidefinite: entry (%d, %d) is %g beside the diagonal entries %g "
                                 "and %g",
                                 first + i, first + j, row[j], diagonal, other);
            }
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_convex_check_bounds(int n, const double *lower, const double *upper, perp_error *error)
{
    for (int i = 0; lower && i < n; i++) {
        if (!(lower[i] < INFINITY)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the lower bound of entry %d is %g", i, lower[i]);
        }
    }
    for (int i = 0; upper && i < n; i++) {
        if (!(upper[i] > -INFINITY)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the upper bound of entry %d is %g", i, upper[i]);
        }
    }
    for (int i = 0; lower && upper && i < n; i++) {
        if (lower[i] > upper[i]) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the bounds of entry %d are crossed: %g > %g", i, lower[i],
                             upper[i]);
        }
    }
    return PERP_STATUS_OK;
}
