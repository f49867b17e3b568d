/* qp_dual.h - small strictly convex qps by a dual active set; qp_solve.c decides which. */
#ifndef PERP_SRC_SOLVER_QP_DUAL_H
#define PERP_SRC_SOLVER_QP_DUAL_H

#include <perp/solver.h>

/* The dual active set method of Goldfarb and Idnani for a strictly convex qp. Starts from the unconstrained minimum and
 * adds violated constraints one by one; `settings->warm` gives a first guess of the active ones by its multipliers.
 * Exact up to rounding in finitely many steps, and of the cost of one factorisation and one update a constraint: for
 * small problems and few active rows. BAD_INPUT where H is not positive definite (to rounding). */
typedef struct perp_qp_dual_workspace perp_qp_dual_workspace;
perp_status perp_qp_dual_workspace_create(int n, int rows, int equalities, const perp_allocator *allocator,
                                          perp_qp_dual_workspace **workspace, perp_error *error);
void perp_qp_dual_workspace_free(perp_qp_dual_workspace *workspace); /* NULL allowed */
perp_status perp_qp_dual(const perp_qp *problem, const perp_convex_settings *settings,
                         perp_qp_dual_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                         perp_error *error);

#endif
