/* dynamic_problem.h - one dynamic step of a scene as a friction problem, written down from the model and a contact set
 * alone: A = M + h D + h^2 K, contacts within the margin, phi / h beside their normal velocities. */
#ifndef PERP_BENCH_DYNAMIC_PROBLEM_H
#define PERP_BENCH_DYNAMIC_PROBLEM_H

#include "friction_case.h"

#include <perp/contact.h>

/* The step of h from `state`, of a spatial scene in which nothing is prescribed. Velocities are the unknown; forces are
 * impulses. Inertial forces of the motion so far (Coriolis, gyroscopic) are left out: a right-hand side like any other.
 * Ends the program where memory does. */
void dynamic_problem_make(const perp_model *model, const perp_state *state, double h, friction_case *c);

#endif
