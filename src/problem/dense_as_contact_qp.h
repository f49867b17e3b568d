/* dense_as_contact_qp.h - what the conversions of a qp and of a cone qp to a contact qp share. */
#ifndef PERP_SRC_PROBLEM_DENSE_AS_CONTACT_QP_H
#define PERP_SRC_PROBLEM_DENSE_AS_CONTACT_QP_H

#include "problem/conversions.h"

#include <perp/problem.h>

/* Fills permutation, position, block_start and hessian: the connected components of H's nonzeros, in the order of their
 * first unknowns, each with its unknowns ascending. Returns how many there are. */
int perp_dense_blocks(int n, const double *h, const perp_contact_qp_arrays *arrays);

/* The unknowns that have a nonzero in any of `rows` rows of n, as ascending positions; `dofs` NULL: only their number,
 * for which `position` need not be there. */
int perp_dense_dofs(int n, int rows, const double *a, const int *position, int *dofs);

/* Appends a contact of `rows` rows: its entries of row_start, dof_start, dofs and jacobian. Returns where the next
 * jacobian starts. */
double *perp_dense_add_contact(int n, int contact, int rows, const double *a, const perp_contact_qp_arrays *arrays,
                               double *jacobian);

/* The entries of equality_start, equality_dofs and equality_values. */
void perp_dense_equalities(int n, int equalities, const double *c, const perp_contact_qp_arrays *arrays);
int perp_dense_equality_entries(int n, int equalities, const double *c);

/* to[k] = from[permutation[k]]. */
void perp_dense_permute(int n, const int *permutation, const double *from, double *to);

/* The point of the dense problem from the contact qp's. */
void perp_dense_point(int n, int rows, int equalities, bool lower, bool upper, const int *permutation,
                      const perp_convex_point *from, const perp_convex_point *to);

#endif
