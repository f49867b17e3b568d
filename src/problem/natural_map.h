/* natural_map.h - what the three problem classes share: the check of M and q, a row of M z + q, the natural map.
 *
 * The natural map of one row is z - mid(lower, z - f, upper). It is zero exactly where the row is solved, it has the
 * unit of z and of f at once (so both should be of a size near 1), and unlike the product z f it does not call a point
 * nearly solved whose z is tiny while f is large and negative.
 */
#ifndef PERP_SRC_PROBLEM_NATURAL_MAP_H
#define PERP_SRC_PROBLEM_NATURAL_MAP_H

#include <perp/problem.h>

#include "problem/tolerances.h"

#include <math.h>

/* BAD_INPUT for a negative size, a missing array, or an entry that is not finite. */
perp_status perp_problem_check_data(int n, const double *m, const double *q, perp_error *error);
/* Bounds between which there is a number; NULL: 0, infinity. */
perp_status perp_problem_check_bounds(int n, const double *lower, const double *upper, perp_error *error);

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

/* (M z + q)_i in *f, the same sum, and the scale that the row is judged by: unit + |q_i| + (|M||z|)_i. With `unit` 1
 * what is small beside 1 counts as small; with 0 only what is small beside the row's own terms does. No other row has a
 * part in it, so that a row of 1e12 excuses nothing in a row of 1; and as all terms of the row have, a plain sum is as
 * good as an exact one: it rounds by n units in the last place of the scale. */
double perp_problem_row_scale(int n, const double *m, const double *q, const double *z, int i, double unit, double *f);

/* value / scale; 0 over 0 is 0. Infinity where either is not finite. */
static inline double perp_problem_over(double value, double scale)
{
    const double ratio = value == 0.0 ? 0.0 : value / scale;
    return isfinite(scale) && isfinite(ratio) ? ratio : INFINITY;
}

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

/* The residuals of problem.h with 1 (absolute) or 0 (relative) for `unit`.
 *
 * *near is the same over unit + the row's constant alone (|q_i|, |b_i|, |g_j|, ..), a row without either left out.
 * Where large terms cancel, a row may be solved beside these and off by more than all that it is about: forces of 1e10
 * that squeeze a body "hold" walls apart that close with 1 m/s. A solver asks for PERP_NEAR of it besides. */
double perp_lcp_residual_with(const perp_lcp *problem, const double *z, double unit);
double perp_mcp_residual_with(const perp_mcp *problem, const double *z, double unit);
double perp_friction_residual_with(const perp_friction *problem, const double *r, double unit, double *near);
perp_contact_friction_residual perp_contact_friction_evaluate_with(const perp_contact_friction *problem,
                                                                   const perp_convex_point *point, double unit,
                                                                   double *near);

/* Raises *near by a row. */
static inline void perp_problem_raise_near(double value, double constant, double unit, double *near)
{
    const double scale = unit + constant;
    if (value > *near * scale && scale > 0.0) {
        *near = value / scale;
    }
}

#endif
