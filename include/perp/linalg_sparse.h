/* perp/linalg_sparse.h - sparse LU for large unsymmetric systems, by KLU (SuiteSparse).
 *
 * Made for sequences of systems with one pattern, such as the Newton steps of a space-time problem: the ordering is
 * found once, later matrices are refactored in place. One thread at a time may use a handle; different handles are
 * independent. The handle and its copies of the matrix come from the caller's allocator; the ordering and the factors
 * that KLU keeps come from malloc. perp_sparse_lu_destroy returns both.
 */
#ifndef PERP_LINALG_SPARSE_H
#define PERP_LINALG_SPARSE_H

#include <perp/base.h>
#include <perp/linalg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An n x n matrix by compressed columns: column j has its entries at k = column_starts[j] .. column_starts[j + 1] - 1,
 * in rows row_indices[k] with values[k]. column_starts has n + 1 entries, the first 0; rows count from 0 and strictly
 * increase within a column. */
typedef struct perp_sparse_matrix {
    int n;
    const int *column_starts;
    const int *row_indices;
    const double *values;
} perp_sparse_matrix;

typedef struct perp_sparse_lu perp_sparse_lu;

typedef struct perp_sparse_lu_info {
    int nonzeros;   /* of the matrix */
    int nonzeros_l; /* of the factors, diagonals included; 0 without valid factors */
    int nonzeros_u;
    int blocks;           /* diagonal blocks of the block triangular form */
    int factorizations;   /* full ones, with a new choice of pivots */
    int refactorizations; /* those that kept the pivots and were accepted */
    double pivot_growth;  /* the reciprocal growth of the valid factors: 1 is best, 0 none valid */
} perp_sparse_lu_info;

/* Checks, orders and factors a matrix; on success *lu is a handle that perp_sparse_lu_destroy must free, else NULL.
 * Copies what it needs of `a`. BAD_INPUT if the pattern is not as perp_sparse_matrix says or a value is NaN or Inf;
 * SINGULAR if the matrix is, in pattern or in value (a pivot is exactly zero, or the factors overflow): a matrix that
 * is singular but for rounding passes and shows in perp_sparse_lu_reciprocal_condition; OUT_OF_MEMORY; CAPACITY if the
 * factors exceed KLU's 32-bit sizes. `allocator` NULL: malloc; `error` may be NULL. */
PERP_API perp_status perp_sparse_lu_create(const perp_sparse_matrix *a, const perp_allocator *allocator,
                                           perp_sparse_lu **lu, perp_error *error);

/* Factors a matrix of the same pattern, whose `values` stand in the same order; keeps the pivots of the last full
 * factorisation where they serve (the growth of the factors is at most a thousand times as large), else chooses new
 * ones. BAD_INPUT for NaN or Inf (the old factors stay); SINGULAR, OUT_OF_MEMORY or CAPACITY as above: the handle then
 * has no factors until a refactor succeeds. */
PERP_API perp_status perp_sparse_lu_refactor(perp_sparse_lu *lu, const double *values, perp_error *error);

/* The same, but always with a new choice of pivots: the factors depend on these values alone. */
PERP_API perp_status perp_sparse_lu_factor(perp_sparse_lu *lu, const double *values, perp_error *error);

/* Overwrites `count` right-hand sides, one after the other and of length n each, by the solutions of A x = b. SINGULAR
 * if the handle has no factors (b is unchanged) or a solution overflows, BAD_INPUT for NaN or Inf in b (unchanged). */
PERP_API perp_status perp_sparse_lu_solve(perp_sparse_lu *lu, int count, double *b, perp_error *error);

/* The same for A' x = b. */
PERP_API perp_status perp_sparse_lu_solve_transposed(perp_sparse_lu *lu, int count, double *b, perp_error *error);

/* An estimate of 1 / (|A|_1 |A^-1|_1), in [0, 1], at the cost of a few solves, in *rcond; 0 if the handle has no
 * factors. n = 0 gives 1. OUT_OF_MEMORY as above. */
PERP_API perp_status perp_sparse_lu_reciprocal_condition(perp_sparse_lu *lu, double *rcond, perp_error *error);

/* Sizes and counts, for reports. */
PERP_API perp_sparse_lu_info perp_sparse_lu_get_info(const perp_sparse_lu *lu);

/* Frees the handle and all that KLU keeps for it; NULL is allowed. */
PERP_API void perp_sparse_lu_destroy(perp_sparse_lu *lu);

/* KLU for solvers that take a perp_linear_solver; a constant. Its `factor` takes memory from malloc where pivots are
 * chosen anew and none where they are kept; its `solve` takes none. */
PERP_API const perp_linear_solver *perp_sparse_linear_solver(void);

/* "KLU" and its version; a string constant. */
PERP_API const char *perp_sparse_description(void);

#ifdef __cplusplus
}
#endif
#endif
