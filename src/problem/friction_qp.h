/* friction_qp.h - what the friction QP's residual, conversion and solver share. */
#ifndef PERP_SRC_PROBLEM_FRICTION_QP_H
#define PERP_SRC_PROBLEM_FRICTION_QP_H

#include <perp/problem.h>

/* The mean of H's diagonal over an element, 1 where that is not positive: what turns its force into a velocity. */
double perp_friction_qp_weight(const perp_friction_qp *problem, int element);

/* x (dim numbers) to the nearest point of the disc. */
void perp_friction_qp_project(int dim, double radius, double *x);

#endif
