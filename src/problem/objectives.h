/* objectives.h - 1/2 x'H x + g'x of the convex classes. */
#ifndef PERP_SRC_PROBLEM_OBJECTIVES_H
#define PERP_SRC_PROBLEM_OBJECTIVES_H

#include <perp/problem.h>

double perp_qp_objective(const perp_qp *problem, const double *x);
double perp_cone_qp_objective(const perp_cone_qp *problem, const double *x);
double perp_contact_qp_objective(const perp_contact_qp *problem, const double *x);

#endif
