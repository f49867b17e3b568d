/* convex_case_private.h - what the files of convex_case share. */
#ifndef PERP_BENCH_CONVEX_CASE_PRIVATE_H
#define PERP_BENCH_CONVEX_CASE_PRIVATE_H

#include "convex_case.h"

/* One contact's part of the arrays: start from {.i = -1}, and go on while convex_next_contact says so. */
typedef struct convex_place {
    int i;
    int rows, dof_count, slacks, first_slack;
    const int *dofs;
    const double *jacobian, *rays;
} convex_place;

bool convex_next_contact(const perp_contact_qp *q, convex_place *p);
bool convex_is_quadratic(const perp_contact_qp *q, int i);

/* The entry of A = R J at slack k and local column j. */
long double convex_entry(const convex_place *p, int k, int j);

/* A x at one slack, and a row of H x within a block; `terms` becomes the largest of what was added. */
long double convex_slack_row(const convex_place *p, const double *x, int k, long double *terms);
long double convex_hessian_row(const convex_case *c, const double *x, int block, int i, long double *terms);

/* r += A'y + C'y_equality; `terms` (n) grows by the sizes of what is added. */
void convex_add_terms(const perp_contact_qp *q, const double *y, const double *y_equality, long double *r,
                      long double *terms);

long double *convex_long_zeros(int count); /* to be freed; ends the program when memory does */

#endif
