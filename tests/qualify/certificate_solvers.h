/* certificate_solvers.h - answers of a judged_problem by three solvers, each from a start of its own by chance.
 *
 *   newton       Newton's method on the residuals, damped (Levenberg and Marquardt), from any motion and forces
 *   modes        every contact and limit gets a mode by chance; the linear problem that is left is solved, and friction
 *                that slides on a round cone turned until it is against the slip
 *   proximal     forces follow velocities step by step, projected on their cones, with inertia added where there is
 *                none; from any forces
 *
 * The last two end with a few steps of the first one, so that what they give meets the law to rounding or is nothing.
 */
#ifndef PERP_TESTS_QUALIFY_CERTIFICATE_SOLVERS_H
#define PERP_TESTS_QUALIFY_CERTIFICATE_SOLVERS_H

#include "certificate_problem.h"

typedef enum judged_solver { JUDGED_NEWTON, JUDGED_MODES, JUDGED_PROXIMAL, JUDGED_SOLVERS } judged_solver;

/* True: `point` is an answer, to JUDGED_SOLVED. `near` (may be NULL): about where half of the starts are. */
bool judged_solve(const judged_problem *problem, judged_solver solver, const judged_point *near, perp_random *random,
                  judged_point *point);

/* F and the unit of motion: rounding of problems whose numbers are about 1. */
static const double JUDGED_SOLVED = 1e-11;
/* Likewise: beside forces of 1e16 others would be rounding. */
static const double JUDGED_LARGEST = 1e4;

#endif
