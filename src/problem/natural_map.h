/* natural_map.h - what the three problem classes share: the check of M and q, a row of M z + q, the natural map.
 *
 * The natural map of one row is z - mid(lower, z - f, upper). It is zero exactly where the row is solved, it has the
 * unit of z and of f at once (so both should be of a size near 1), and unlike the product z f it does not call a point
 * nearly solved whose z is tiny while f is large and negative.
 */
#ifndef PERP_SRC_PROBLEM_NATURAL_MAP_H
#define PERP_SRC_PROBLEM_NATURAL_MAP_H

#include <perp/problem.h>

#include <math.h>

/* BAD_INPUT for a negative size, a missing array, or an entry that is not finite. */
perp_status perp_problem_check_data(int n, const double *m, const double *q, perp_error *error);

/* (M z + q)_i: the products in the order of the columns, then q. */
static inline double perp_problem_row(int n, const double *m, const double *q, const double *z, int i)
{
    const double *row = m + (ptrdiff_t)i * n;
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
        sum += row[j] * z[j];
    }
    return sum + q[i];
}

/* (M z + q)_i for a residual: the same sum, but in twice the precision (products and sums with their exact errors, by
 * fma and Knuth's two-sum) where the rounding of a plain one could matter beside `scale`. Without this a row whose
 * large terms cancel, as 1e20 z_1 - 1e20 z_2 + 1, would seem solved where it is not. Not always, because it takes four
 * times as long. */
double perp_problem_row_for_residual(int n, const double *m, const double *q, const double *z, int i, double scale);

/* |z - mid(lower, z - f, upper)|. Written by cases rather than with the difference z - f, whose rounding would hide an
 * error of f behind a large z: strictly inside its bounds a row gives |f| to the last bit. */
static inline double perp_natural_map(double z, double f, double lower, double upper)
{
    if (!isfinite(z) || !isfinite(f)) {
        return INFINITY;
    }
    if (f > z - lower) {
        return fabs(z - lower);
    }
    if (-f > upper - z) {
        return fabs(upper - z);
    }
    return fabs(f);
}

/* The larger, and infinity if one is not a number. */
static inline double perp_problem_worse(double a, double b)
{
    return b > a || isnan(b) ? (isnan(b) ? INFINITY : b) : a;
}

/* 1 + max |q| */
static inline double perp_problem_scale(int n, const double *q)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(q[i]));
    }
    return 1.0 + largest;
}

#endif
