/* dense.h - dense Cholesky and LU, for the hot path: sizes 1 to about 200.
 *
 * The kernels never allocate, the caller gives every work array, and the same input gives the same bits with every
 * compiler and optimisation level. Conventions are those of perp/linalg.h; arrays must not overlap unless stated.
 *
 * A matrix that holds NaN or Inf, or whose factors overflow, never gives PERP_STATUS_OK. `failed_row` (may be NULL)
 * receives the row that the failure was found in, or -1 on success. Solves take factors that were returned with
 * PERP_STATUS_OK and cannot fail; a NaN in the right-hand side gives NaN in the solution. */
#ifndef PERP_SRC_LINALG_DENSE_H
#define PERP_SRC_LINALG_DENSE_H

#include <perp/base.h>

/* A rows x columns matrix in the caller's memory: entry (i, j) is data[i * stride + j]. */
typedef struct perp_matrix_view {
    double *data;
    int rows, columns, stride;
} perp_matrix_view;

/* ---- Cholesky: A = L L', A symmetric positive definite ---------------------------------------------------------- */

/* Overwrites the lower triangle of the n x n matrix `a` by L. SINGULAR when a pivot is not positive and finite, which
 * is also how NaN and Inf show: the leading `failed_row` rows then hold the factor of that leading block, the rows
 * below are spoilt. The test is the sign of the pivot alone: a numerically semidefinite matrix may pass. */
perp_status perp_cholesky_factor(int n, double *a, int stride, int *failed_row);

/* Overwrites b (length n) by the solution of L L' x = b. */
void perp_cholesky_solve(int n, const double *l, int stride, double *b);

/* Overwrites B (n x count) by the solution of L L' X = B. */
void perp_cholesky_solve_many(int n, const double *l, int stride, perp_matrix_view b);

/* Overwrites B (n x count) by the solution of L X = B, the first half of a solve: with B = C this gives the Y of the
 * Schur complement C' A^-1 C = Y' Y. */
void perp_cholesky_solve_lower(int n, const double *l, int stride, perp_matrix_view b);

/* ---- LU: P A = L U, partial pivoting ---------------------------------------------------------------------------- */

/* Overwrites the n x n matrix `a` by L (unit lower, below the diagonal) and U; at step k row k was exchanged with row
 * pivots[k] >= k (length n). BAD_INPUT if `a` is not finite. SINGULAR if a pivot is exactly zero (the factors are
 * complete, perp_lu_determinant may use them, the solves may not) or if the factors overflow. */
perp_status perp_lu_factor(int n, double *a, int stride, int *pivots, int *failed_row);

/* Overwrites b (length n) by the solution of A x = b. */
void perp_lu_solve(int n, const double *lu, int stride, const int *pivots, double *b);

/* Overwrites b (length n) by the solution of A' x = b. */
void perp_lu_solve_transposed(int n, const double *lu, int stride, const int *pivots, double *b);

/* Overwrites B (n x count) by the solution of A X = B. */
void perp_lu_solve_many(int n, const double *lu, int stride, const int *pivots, perp_matrix_view b);

/* The sign (-1, 0, +1) of det A, and log |det A| in `log_magnitude` (may be NULL; -INFINITY when the sign is 0), which
 * neither overflows nor underflows. n = 0 gives +1 and 0. */
int perp_lu_determinant(int n, const double *lu, int stride, const int *pivots, double *log_magnitude);

/* An estimate of 1 / (|A|_1 |A^-1|_1), in [0, 1], by Higham's method (at most twelve solves; never below the truth but
 * for rounding, seldom above it by more than a factor 3). `norm_one` is perp_matrix_norm_one of A before it
 * was factored; `work` has 2 n doubles. n = 0 gives 1. */
double perp_lu_reciprocal_condition(int n, const double *lu, int stride, const int *pivots, double norm_one,
                                    double *work);

/* The largest column sum of magnitudes of a rows x columns matrix; NaN if the matrix holds one. */
double perp_matrix_norm_one(int rows, int columns, const double *a, int stride);

#endif
