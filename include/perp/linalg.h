/* perp/linalg.h - eigenvalues and singular values, and the door to sparse factorisations.
 *
 * Conventions: matrices are row-major; `stride` is the distance between the starts of two rows, in doubles, and is at
 * least the number of columns. A symmetric matrix is given by its lower triangle with the diagonal; the strict upper
 * triangle is neither read nor written. A size of 0 is valid, succeeds, and touches no array. A negative size, a short
 * stride or a null array is a caller's bug and asserts.
 */
#ifndef PERP_LINALG_H
#define PERP_LINALG_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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
