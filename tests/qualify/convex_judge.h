/* convex_judge.h - residuals and certificates of contact qps in long double, from the problem's own numbers and with
 * nothing of the library's: what says whether an answer is true. Definitions as in perp/problem.h. */
#ifndef PERP_TESTS_QUALIFY_CONVEX_JUDGE_H
#define PERP_TESTS_QUALIFY_CONVEX_JUDGE_H

#include <perp/problem.h>

/* The largest of primal, dual and complementarity, each scaled; infinity where a number is not finite. */
double judge_residual(const perp_contact_qp *q, const perp_convex_point *point);

/* How far the multipliers are from a Farkas vector of value 1, and x from a direction of slope -1. */
double judge_infeasible(const perp_contact_qp *q, const perp_convex_point *point);
double judge_unbounded(const perp_contact_qp *q, const double *x);

#endif
