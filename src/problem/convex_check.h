/* convex_check.h - what the checks of the three convex classes share. Each returns BAD_INPUT and names the entry. */
#ifndef PERP_SRC_PROBLEM_CONVEX_CHECK_H
#define PERP_SRC_PROBLEM_CONVEX_CHECK_H

#include <perp/problem.h>

/* A count that is negative. `what` as in "the number of cones is -1". */
perp_status perp_convex_check_count(int count, const char *what, perp_error *error);

/* An array that is needed (`count` > 0) and not there. */
perp_status perp_convex_check_present(ptrdiff_t count, const void *values, const char *name, perp_error *error);

/* A vector or matrix that is not there though needed, or has an entry that is not finite. */
perp_status perp_convex_check_vector(int count, const double *values, const char *name, perp_error *error);
perp_status perp_convex_check_matrix(int rows, int columns, const double *values, const char *name, perp_error *error);

/* The first entry that is not finite, or `count`. */
ptrdiff_t perp_convex_first_not_finite(ptrdiff_t count, const double *values);

/* A finite block of H whose first row and column is number `first`: not symmetric to PERP_SYMMETRIC of `largest`, the
 * largest entry of all of H, or with a negative diagonal entry or 2 x 2 minor, beyond the same. */
perp_status perp_convex_check_hessian(int size, int first, const double *h, double largest, perp_error *error);

/* Bounds that are NaN, crossed, or infinite on the wrong side. Either may be NULL. */
perp_status perp_convex_check_bounds(int n, const double *lower, const double *upper, perp_error *error);

#endif
