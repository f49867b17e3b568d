/* qp_dual_test.h - what the tests of the dual active set share: qps with arrays of their own, a judge that is not the
 * library's, and random problems.
 */
#ifndef PERP_TESTS_QP_DUAL_TEST_H
#define PERP_TESTS_QP_DUAL_TEST_H

#include "lcp_test.h"
#include "solver/qp_dual.h"

typedef struct dual_case {
    int n, rows, equalities;
    double *h, *g, *a, *b, *c, *d, *lower, *upper;
    perp_convex_point point;
    bool bounded; /* lower and upper are given to the solver */
    double *memory;
} dual_case;

dual_case new_dual_case(int n, int rows, int equalities); /* H = I, zeros, infinite bounds that are not given */
void free_dual_case(dual_case *q);
perp_qp dual_qp_of(const dual_case *q);
perp_qp_dual_workspace *dual_workspace_for(const dual_case *q);

/* row . x */
long double dual_product(const dual_case *q, const double *row);

/* The largest scaled residual of the case's point: the definition in problem.h, in another precision and order. */
double judge_dual_case(const dual_case *q);

/* Into the case's point, with a workspace of its own; the status is OK. */
perp_convex_info solve_dual_case(dual_case *q, const perp_convex_settings *settings);

/* Solved, and the judge agrees to `tolerance`. */
perp_convex_info assert_dual_solved(dual_case *q, const perp_convex_settings *settings, double tolerance);

/* Rounding of the judged sums, and of x and y when they are stored: a few hundred units in the last place times the
 * size of the terms, which in these problems is below 1e3 over the scale. */
#define ROUNDING 1e-11

/* Infeasible, and the multipliers are a proof: see assert_dual_proof. */
void assert_dual_infeasible(dual_case *q);

/* The case's multipliers: b.y + d.y_equality + lower.y_lower - upper.y_upper = 1 with the signs right and the rows
 * cancelling, so that nothing with |x|_1 < 1e8 can be feasible. */
void assert_dual_proof(const dual_case *q);

/* Feasible at a random point, which a third of the rows and bounds touch. */
dual_case random_dual_case(perp_random *random, int n, int rows, int equalities, bool bounded);

/* Rows by the dozen through one point, duplicates and multiples, pairs that make equations, redundant equations. */
dual_case degenerate_dual_case(perp_random *random, int n, int rows);

/* Makes the last row minus a positive combination of others, with a target that theirs contradict by `gap`. */
void contradict_dual_case(dual_case *q, perp_random *random, double gap);

#endif
