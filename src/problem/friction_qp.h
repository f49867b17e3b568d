/* friction_qp.h - what the friction QP's residual, conversion and solver share. */
#ifndef PERP_SRC_PROBLEM_FRICTION_QP_H
#define PERP_SRC_PROBLEM_FRICTION_QP_H

#include <perp/problem.h>

/* The mean of H's diagonal over an element, 1 where that is not positive: what turns its force into a velocity. */
double perp_friction_qp_weight(const perp_friction_qp *problem, int element);

/* x (dim numbers) to the nearest point of the disc. */
void perp_friction_qp_project(int dim, double radius, double *x);

/* H x + d. */
void perp_friction_qp_slip(const perp_friction_qp *problem, const double *x, double *slip);
double perp_friction_qp_objective(const perp_friction_qp *problem, const double *x);

/* The radius of Song's friction cone, sqrt(|ft|^2 + gamma^2) <= mu fn + gamma; with gamma = 0 it is mu fn. N. */
double perp_friction_radius(double mu, double fn, double gamma);

/* Coulomb's problem whose normal forces are the radii, with mu = 1 (0 where the radius is): normal rows that nothing
 * couples, of H's mean diagonal, whose velocity vanishes there. With size = elements (dim + 1) `w` has size * size, `q`
 * size and `mu` elements; the friction problem borrows them. x is the tangential part of its r. */
void perp_friction_qp_as_friction(const perp_friction_qp *problem, double *w, double *q, double *mu,
                                  perp_friction *friction);

#endif
