/* conversions.h - textbook reductions between problem classes, which no solver uses: tests compare what solvers say of
 * a problem and of its reduction. The caller gives the arrays, nothing allocates. */
#ifndef PERP_TESTS_COMMON_CONVERSIONS_H
#define PERP_TESTS_COMMON_CONVERSIONS_H

#include <perp/problem.h>

/* Bounds moved to zero, and a variable more for each that is bounded on both sides: perp_mcp_as_mlcp_size in all.
 * `m` has size * size, `q` and `free` have size; the mlcp borrows them. */
int perp_mcp_as_mlcp_size(const perp_mcp *problem);
void perp_mcp_as_mlcp(const perp_mcp *problem, double *m, double *q, bool *free, perp_mlcp *mlcp);
/* The mcp's z (n) from the mlcp's. */
void perp_mcp_from_mlcp(const perp_mcp *problem, const double *z_mlcp, double *z);

/* The free variables eliminated. With c = perp_mlcp_constrained_count and f = n - c the caller's arrays have: `m` c * c
 * and `q` c, which receive the lcp; `factor` f * f, `solved` f * (c + 1), `pivots` f, `work` 2 f. */
typedef struct perp_mlcp_reduction {
    double *m, *q;
    double *factor, *solved, *work;
    int *pivots;
    int constrained; /* c, filled */
} perp_mlcp_reduction;

int perp_mlcp_constrained_count(const perp_mlcp *problem);
/* SINGULAR where the free block is, to rounding: perp_mlcp_solve takes such problems all the same. */
perp_status perp_mlcp_as_lcp(const perp_mlcp *problem, perp_mlcp_reduction *reduction, perp_error *error);
/* The mlcp's z (n) from the lcp's (c). */
void perp_mlcp_from_lcp(const perp_mlcp *problem, const perp_mlcp_reduction *reduction, const double *z_constrained,
                        double *z);

/* ---- a contact friction problem as a friction problem, and back ---- */

/* A conversion's sizes. Contacts get `dim` rows each: 3 if one has 3, else 2. */
typedef struct perp_friction_reduction_size {
    int contacts, dim;
    ptrdiff_t w;      /* (contacts dim)^2 */
    ptrdiff_t factor; /* of A, block by block */
} perp_friction_reduction_size;

/* The caller's arrays. */
typedef struct perp_friction_reduction {
    double *w, *q, *mu; /* w, contacts dim, contacts: the friction problem, which borrows them */
    double *factor;     /* factor: of A, L L' = A by blocks */
    double *free_v;     /* n: -A^-1 f, the motion without contacts */
    double *work;       /* 3 n */
} perp_friction_reduction;

perp_friction_reduction_size perp_contact_friction_as_friction_size(const perp_contact_friction *problem);

/* W = H A^-1 H', q = w - H A^-1 f. SINGULAR where A is not positive definite, to rounding; BAD_INPUT where there are
 * equations or finite bounds, which a friction problem cannot say. The problem must pass its check.
 *
 * A contact of fewer rows than dim is padded by tangents that neither move nor are felt, rows and columns of zeros: so
 * no solution is lost or gained, but that the force along such a tangent is of no consequence. One with one row gets
 * mu = 0. */
perp_status perp_contact_friction_as_friction(const perp_contact_friction *problem,
                                              const perp_friction_reduction *reduction, perp_friction *friction,
                                              perp_error *error);
/* v = A^-1 (H'r - f) and y = r without the padding, from the friction problem's r; y_lower and y_upper, where there
 * are infinite bounds, are 0. */
void perp_contact_friction_from_friction(const perp_contact_friction *problem, const perp_friction_reduction *reduction,
                                         const double *r, const perp_convex_point *point);

#endif
