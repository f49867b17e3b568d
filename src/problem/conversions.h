/* conversions.h - one problem class as another, for solvers. The caller gives the arrays, nothing allocates. */
#ifndef PERP_SRC_PROBLEM_CONVERSIONS_H
#define PERP_SRC_PROBLEM_CONVERSIONS_H

#include <perp/problem.h>

/* ---- a qp or a cone qp as a contact qp ---- */

/* How long the arrays of the contact qp are. */
typedef struct perp_contact_qp_size {
    int blocks;                  /* at most */
    int contacts, rows;          /* slacks are as many as rows */
    int dofs, equality_entries;  /* in all */
    ptrdiff_t hessian, jacobian; /* entries; of the hessian at most */
} perp_contact_qp_size;

/* The caller's arrays. None may be NULL, except where its length is 0 and no `+ 1` is added. */
typedef struct perp_contact_qp_arrays {
    int *permutation;        /* n: x_contact[k] = x[permutation[k]], so that the blocks of H are contiguous */
    int *position;           /* n: its inverse */
    int *block_start;        /* blocks + 1 */
    double *hessian;         /* hessian */
    double *g;               /* n */
    int *row_start;          /* contacts + 1; it is slack_start too */
    int *dof_start;          /* contacts + 1 */
    int *dofs;               /* dofs */
    double *jacobian;        /* jacobian */
    double *offset;          /* rows; not used by cone qps, whose b serves */
    bool *quadratic;         /* contacts; not used by qps */
    int *equality_start;     /* equalities + 1 */
    int *equality_dofs;      /* equality_entries */
    double *equality_values; /* equality_entries */
    double *lower, *upper;   /* n; not used where the problem has none */
} perp_contact_qp_arrays;

/* The components that H falls into become its blocks, exact zeros of A and C are left out, rows that follow each other
 * with nonzeros in the same places share a contact (up to 4), a cone is one contact. There are no rays. Multipliers of
 * rows, cones and equations stay as they are, unknowns and bounds move by the permutation, which is the identity where
 * the components are contiguous already. The problem must pass its check. The contact qp borrows the arrays, d, and
 * the b of a cone qp. */
perp_contact_qp_size perp_qp_as_contact_qp_size(const perp_qp *problem);
void perp_qp_as_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays, perp_contact_qp *contact_qp);
perp_contact_qp_size perp_cone_qp_as_contact_qp_size(const perp_cone_qp *problem);
void perp_cone_qp_as_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                perp_contact_qp *contact_qp);
/* The problem's point, whose arrays must not be those of the contact qp's. */
void perp_qp_from_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays,
                             const perp_convex_point *contact_point, const perp_convex_point *point);
void perp_cone_qp_from_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                  const perp_convex_point *contact_point, const perp_convex_point *point);

/* ---- a friction problem as bodies ---- */

/* The caller's arrays for a friction problem as bodies; size = contacts dim. */
typedef struct perp_friction_lift {
    double *factor;   /* size * size */
    int *order;       /* size */
    int *block_start; /* size + 1 */
    double *hessian;  /* size */
    double *g;        /* size */
    int *row_start;   /* contacts + 1; it is slack_start too */
    int *dof_start;   /* contacts + 1 */
    int *dofs;        /* contacts * size */
    double *jacobian; /* size * size */
} perp_friction_lift;

/* W = L L' by a Cholesky factorisation that pivots, L having as many columns as W has rank: with H = L, A = 1, f = 0
 * and w = q a velocity of each column, v = L'r, gives the same u. Exact zeros of L are left out. The system borrows
 * the arrays and q, the problem the system and mu. r is the same in both. BAD_INPUT where W is not symmetric, or not
 * positive semidefinite, both to rounding. The problem must pass its check. */
perp_status perp_friction_as_contact_friction(const perp_friction *problem, const perp_friction_lift *lift,
                                              perp_contact_qp *system, perp_contact_friction *contact_friction,
                                              perp_error *error);

#endif
