/* perp/problem.h - complementarity problems: data, residuals and conversions; no solving.
 *
 * A problem borrows its arrays. Matrices are dense, row-major. Every class has one residual function, which solvers,
 * tests, benchmarks and reports share: "solved" is said only after it was evaluated on the returned point.
 *
 *   lcp    w = M z + q,  0 <= w _|_ z >= 0
 *   mlcp   as lcp, but rows in `free` have w = 0 and z free
 *   mcp    lower <= z <= upper _|_ M z + q: where z is strictly between its bounds (M z + q)_i = 0, at the lower bound
 *          it is >= 0, at the upper <= 0
 *
 * The residual is the natural map max |z - mid(lower, z - F(z), upper)| divided by 1 + max |q|.
 */
#ifndef PERP_PROBLEM_H
#define PERP_PROBLEM_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perp_lcp {
    int n;
    const double *m; /* n x n */
    const double *q; /* n */
} perp_lcp;

typedef struct perp_mlcp {
    int n;
    const double *m;  /* n x n */
    const double *q;  /* n */
    const bool *free; /* n */
} perp_mlcp;

typedef struct perp_mcp {
    int n;
    const double *m;             /* n x n */
    const double *q;             /* n */
    const double *lower, *upper; /* n; -inf and inf allowed, lower <= upper */
} perp_mcp;

/* BAD_INPUT with what is wrong and where: a negative size, an entry that is not finite, crossed bounds. n = 0 is a
 * problem with nothing in it, and solved. */
PERP_API perp_status perp_lcp_check(const perp_lcp *problem, perp_error *error);
PERP_API perp_status perp_mlcp_check(const perp_mlcp *problem, perp_error *error);
PERP_API perp_status perp_mcp_check(const perp_mcp *problem, perp_error *error);

/* w = M z + q, n each; products are summed in the order of the columns. */
PERP_API void perp_lcp_slack(const perp_lcp *problem, const double *z, double *w);

/* The scaled residual of a point. +infinity where z is not finite. Rows whose large terms cancel are summed in twice
 * the precision. */
PERP_API double perp_lcp_residual(const perp_lcp *problem, const double *z);
PERP_API double perp_mlcp_residual(const perp_mlcp *problem, const double *z);
PERP_API double perp_mcp_residual(const perp_mcp *problem, const double *z);

/* ---- conversions: one class as another; the caller gives the arrays, nothing allocates -------------------------- */

/* Bounds 0 and infinity, or none where free. `lower` and `upper` have n; the mcp borrows them, M and q. */
PERP_API void perp_mlcp_as_mcp(const perp_mlcp *problem, double *lower, double *upper, perp_mcp *mcp);

/* Bounds moved to zero, and a variable more for each that is bounded on both sides: perp_mcp_as_mlcp_size in all.
 * `m` has size * size, `q` and `free` have size; the mlcp borrows them. */
PERP_API int perp_mcp_as_mlcp_size(const perp_mcp *problem);
PERP_API void perp_mcp_as_mlcp(const perp_mcp *problem, double *m, double *q, bool *free, perp_mlcp *mlcp);
/* The mcp's z (n) from the mlcp's. */
PERP_API void perp_mcp_from_mlcp(const perp_mcp *problem, const double *z_mlcp, double *z);

/* The free variables eliminated. With c = perp_mlcp_constrained_count and f = n - c the caller's arrays have: `m` c * c
 * and `q` c, which receive the lcp; `factor` f * f, `solved` f * (c + 1), `pivots` f, `work` 2 f. */
typedef struct perp_mlcp_reduction {
    double *m, *q;
    double *factor, *solved, *work;
    int *pivots;
    int constrained; /* c, filled */
} perp_mlcp_reduction;

PERP_API int perp_mlcp_constrained_count(const perp_mlcp *problem);
/* SINGULAR where the free block is, to rounding: perp_mlcp_solve takes such problems all the same. */
PERP_API perp_status perp_mlcp_as_lcp(const perp_mlcp *problem, perp_mlcp_reduction *reduction, perp_error *error);
/* The mlcp's z (n) from the lcp's (c). */
PERP_API void perp_mlcp_from_lcp(const perp_mlcp *problem, const perp_mlcp_reduction *reduction,
                                 const double *z_constrained, double *z);

#ifdef __cplusplus
}
#endif
#endif
