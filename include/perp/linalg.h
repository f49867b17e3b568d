/* perp/linalg.h - dense factorisations and eigenvalues.
 *
 * Two families. The kernels (Cholesky, LU) are for the hot path, sizes 1 to about 200: they never allocate,
 * the caller gives every work array, and the same input gives the same bits with every compiler and optimisation
 * level. The LAPACK functions at the end are for the rest: eigenvalues, singular values; their scratch
 * comes from the caller's allocator and their last bits depend on the BLAS that is installed.
 *
 * Conventions: matrices are row-major; `stride` is the distance between the starts of two rows, in doubles, and is at
 * least the number of columns. A symmetric matrix is given by its lower triangle with the diagonal; the strict upper
 * triangle is neither read nor written. Arrays must not overlap unless stated. A size of 0 is valid, succeeds, and
 * touches no array. A negative size, a short stride or a null array is a caller's bug and asserts.
 *
 * Failure: a matrix that holds NaN or Inf, or whose factors overflow, never gives PERP_STATUS_OK. `failed_row` (may be
 * NULL) receives the row that the failure was found in, or -1 on success. Kernel solves take factors that were returned
 * with PERP_STATUS_OK and cannot fail; a NaN in the right-hand side gives NaN in the solution.
 */
#ifndef PERP_LINALG_H
#define PERP_LINALG_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rows x columns matrix in the caller's memory: entry (i, j) is data[i * stride + j]. */
typedef struct perp_matrix_view {
    double *data;
    int rows, columns, stride;
} perp_matrix_view;

/* ---- Cholesky: A = L L', A symmetric positive definite ---------------------------------------------------------- */

/* Overwrites the lower triangle of the n x n matrix `a` by L. SINGULAR when a pivot is not positive and finite, which
 * is also how NaN and Inf show: the leading `failed_row` rows then hold the factor of that leading block, the rows
 * below are spoilt. The test is the sign of the pivot alone: a numerically semidefinite matrix may pass. */
PERP_API perp_status perp_cholesky_factor(int n, double *a, int stride, int *failed_row);

/* Overwrites b (length n) by the solution of L L' x = b. */
PERP_API void perp_cholesky_solve(int n, const double *l, int stride, double *b);

/* Overwrites B (n x count) by the solution of L L' X = B. */
PERP_API void perp_cholesky_solve_many(int n, const double *l, int stride, perp_matrix_view b);

/* Overwrites B (n x count) by the solution of L X = B, the first half of a solve: with B = C this gives the Y of the
 * Schur complement C' A^-1 C = Y' Y. */
PERP_API void perp_cholesky_solve_lower(int n, const double *l, int stride, perp_matrix_view b);

/* ---- LU: P A = L U, partial pivoting ---------------------------------------------------------------------------- */

/* Overwrites the n x n matrix `a` by L (unit lower, below the diagonal) and U; at step k row k was exchanged with row
 * pivots[k] >= k (length n). BAD_INPUT if `a` is not finite. SINGULAR if a pivot is exactly zero (the factors are
 * complete, perp_lu_determinant may use them, the solves may not) or if the factors overflow. */
PERP_API perp_status perp_lu_factor(int n, double *a, int stride, int *pivots, int *failed_row);

/* Overwrites b (length n) by the solution of A x = b. */
PERP_API void perp_lu_solve(int n, const double *lu, int stride, const int *pivots, double *b);

/* Overwrites b (length n) by the solution of A' x = b. */
PERP_API void perp_lu_solve_transposed(int n, const double *lu, int stride, const int *pivots, double *b);

/* Overwrites B (n x count) by the solution of A X = B. */
PERP_API void perp_lu_solve_many(int n, const double *lu, int stride, const int *pivots, perp_matrix_view b);

/* The sign (-1, 0, +1) of det A, and log |det A| in `log_magnitude` (may be NULL; -INFINITY when the sign is 0), which
 * neither overflows nor underflows. n = 0 gives +1 and 0. */
PERP_API int perp_lu_determinant(int n, const double *lu, int stride, const int *pivots, double *log_magnitude);

/* An estimate of 1 / (|A|_1 |A^-1|_1), in [0, 1], by Higham's method (at most twelve solves; never below the truth but
 * for rounding, seldom above it by more than a factor 3). `norm_one` is perp_matrix_norm_one of A before it
 * was factored; `work` has 2 n doubles. n = 0 gives 1. */
PERP_API double perp_lu_reciprocal_condition(int n, const double *lu, int stride, const int *pivots, double norm_one,
                                             double *work);

/* The largest column sum of magnitudes of a rows x columns matrix; NaN if the matrix holds one. */
PERP_API double perp_matrix_norm_one(int rows, int columns, const double *a, int stride);

/* ---- a door to sparse factorisations ----------------------------------------------------------------------------- */

/* What a solver needs of a sparse LU, so that the core does not depend on one: perp_sparse_linear_solver (KLU, in
 * perp/linalg_sparse.h) fills it. A handle is for one pattern by compressed columns, as perp_sparse_matrix has it, with
 * the whole diagonal in it; `values` stand in the order of the pattern. `factor` with `anew` chooses pivots by these
 * values alone, so that what came before leaves no trace in the bits; without, it may keep those of the last time.
 * Neither it nor `solve` reads more than it is given. SINGULAR where there are no factors; solve then must not be
 * called. */
typedef struct perp_linear_solver {
    perp_status (*create)(int n, const int *column_starts, const int *row_indices, const perp_allocator *allocator,
                          void **handle, perp_error *error);
    perp_status (*factor)(void *handle, const double *values, bool anew);
    perp_status (*solve)(void *handle, double *b); /* overwrites b (n) by the solution */
    void (*destroy)(void *handle);                 /* NULL allowed */
} perp_linear_solver;

/* ---- LAPACK: off the hot path ----------------------------------------------------------------------------------- */

/* Every function here refuses NaN and Inf with BAD_INPUT before LAPACK sees them, takes its scratch from `allocator`
 * (NULL: malloc) and returns it before it ends, fills `error` (may be NULL), and gives BAD_INPUT when a result exceeds
 * the range of double. The first call sets OpenBLAS, where that is the BLAS, to one thread for the whole process, so
 * that results do not depend on the number of cores. */

/* Eigenvalues (ascending, `values` of length n) of a symmetric matrix, and orthonormal eigenvectors as the columns of
 * `vectors` (n x n, row-major, rows n apart; may be NULL). Reads the lower triangle of `a` and leaves it unchanged.
 * NOT_CONVERGED if the iteration fails. */
PERP_API perp_status perp_symmetric_eigen(int n, const double *a, int stride, double *values, double *vectors,
                                          const perp_allocator *allocator, perp_error *error);

/* Real and imaginary parts of the eigenvalues of a general matrix (each of length n, in no particular order; a complex
 * pair stands together, the positive imaginary part first). Leaves `a` unchanged. NOT_CONVERGED if the iteration
 * fails. */
PERP_API perp_status perp_general_eigenvalues(int n, const double *a, int stride, double *real, double *imaginary,
                                              const perp_allocator *allocator, perp_error *error);

/* Where perp_singular_values puts A = U diag(values) V', with k = min(rows, columns). */
typedef struct perp_singular_arrays {
    double *values;       /* k, descending */
    double *u;            /* rows x k, row-major, packed; NULL: not wanted */
    double *v_transposed; /* k x columns, row-major, packed; NULL: not wanted */
} perp_singular_arrays;

/* Singular values of a rows x columns matrix, and the singular vectors that `out` asks for. Leaves `a` unchanged.
 * NOT_CONVERGED if the iteration fails. */
PERP_API perp_status perp_singular_values(int rows, int columns, const double *a, int stride, perp_singular_arrays out,
                                          const perp_allocator *allocator, perp_error *error);

/* Which BLAS and LAPACK are used, in words ("OpenBLAS 0.3.21 ..."); a constant string. */
PERP_API const char *perp_lapack_description(void);

#ifdef __cplusplus
}
#endif
#endif
