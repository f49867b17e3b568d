/* nonnegative.h - min |G y - b| over y >= 0 by Lawson and Hanson's active sets; for judges, not for speed. */
#ifndef PERP_TESTS_QUALIFY_NONNEGATIVE_H
#define PERP_TESTS_QUALIFY_NONNEGATIVE_H

/* `columns`: n columns of m entries, one after the other. y (n) and residual (m) b - G y are filled. Returns the norm
 * of the residual; at the minimum no column has a positive product with it. Ends the program where memory runs out. */
double nonnegative_least_squares(int m, int n, const double *columns, const double *b, double *y, double *residual);

#endif
