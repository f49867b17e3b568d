/* convex_residual.h - the residual, the objective and the certificates of all three convex classes, written once.
 *
 * A view shows a qp, a cone qp or a contact qp as a Hessian in diagonal blocks and a list of constraints
 *
 *     s = R J x + offset in a set,    the set being the nonnegative numbers, the second-order cone, or zero.
 *
 * The rows of a qp and equations of any class are constraints with R = 1 and J of one row. Nothing is copied and
 * nothing is allocated: sums over columns run over blocks of columns that fit on the stack.
 *
 * Every sum is formed beside the sum of the absolute values of its terms, which is the scale that it is judged by: so
 * its rounding is never more than a few units in the last place of that.
 */
#ifndef PERP_SRC_PROBLEM_CONVEX_RESIDUAL_H
#define PERP_SRC_PROBLEM_CONVEX_RESIDUAL_H

#include <perp/problem.h>

typedef struct perp_convex_view {
    int n;
    int block_count;
    const int *block_start; /* NULL: one block of n */
    const double *hessian;  /* NULL: zero */
    const double *g;
    int count; /* constraints without the equations */
    const int
        *row_count; /* count: rows of each, which are its slacks; NULL: row_start, or 1 each without that either */
    const int *row_start, *slack_start; /* count + 1; NULL: row_count */
    const int *dof_start, *dofs;        /* NULL: all n unknowns in each */
    const double *jacobian;
    const double *rays; /* NULL: identities */
    const double *offset;
    double offset_sign;    /* -1 where offset is a qp's b */
    bool cones;            /* constraints of two and more rows are cones, whatever `quadratic` says */
    const bool *quadratic; /* NULL: none */
    int equality_count;
    const int *equality_start, *equality_dofs; /* NULL: all n unknowns in each */
    const double *equality_values, *equality_target;
    const double *lower, *upper;
} perp_convex_view;

perp_convex_view perp_qp_view(const perp_qp *problem);
perp_convex_view perp_contact_qp_view(const perp_contact_qp *problem);

/* x and all multipliers that the class has. */
bool perp_convex_point_is_finite(const perp_convex_view *view, const perp_convex_point *point);
bool perp_convex_multipliers_are_finite(const perp_convex_view *view, const perp_convex_point *point);

/* `unit` is 1, or 0 for a relative residual; `near` as in natural_map.h. */
perp_convex_residual perp_convex_view_residual(const perp_convex_view *view, const perp_convex_point *point,
                                               double unit, double *near);
double perp_convex_view_objective(const perp_convex_view *view, const double *x);
double perp_convex_view_infeasibility(const perp_convex_view *view, const perp_convex_point *point, double unit);
double perp_convex_view_unboundedness(const perp_convex_view *view, const double *x, double unit);

/* The largest entry of H x + g - A'y - C'y_equality - y_lower + y_upper, each over unit + the absolute values of its
 * terms. The point is finite. *near is raised. */
double perp_convex_largest_column(const perp_convex_view *view, const perp_convex_point *point, double unit,
                                  double *near);

/* All slacks of the constraints that are not equations. */
int perp_convex_slack_total(const perp_convex_view *view);

#endif
