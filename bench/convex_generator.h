/* convex_generator.h - convex contact problems from random configurations, by number.
 *
 * A case depends on (seed, index) alone. Free bodies (6 unknowns, in the plane 3) and up to two robots (trees of 4 to
 * 12 joints) touch each other and the ground; a contact has rays (2 to 16, in the plane 2), or a quadratic cone, or no
 * friction. The Hessian is positive definite (masses and stiffnesses over up to eight decades), semidefinite as in a
 * quasistatic step (bodies have none), of both kinds, or absent. Drawn are piles, faces that rest on each other with
 * gaps of exactly zero, wedges, and contacts that robots make; contacts may be copies, loops and joint limits are
 * added.
 *
 * Four of five cases are solvable, one in ten is infeasible and one in ten unbounded; each carries the proof
 * (convex_case.h). A solvable one is made from its solution: motions are drawn, contacts close, slide or stick by them,
 * forces are drawn in the cones, and g follows. Or, one in three, it is as physics gives it: gaps, gravity and commands
 * are drawn, and forces that carry the bodies without a Hessian.
 */
#ifndef PERP_BENCH_CONVEX_GENERATOR_H
#define PERP_BENCH_CONVEX_GENERATOR_H

#include "convex_case.h"

enum { CONVEX_MAX_N = 200, CONVEX_MAX_CONTACTS = 150 };

void convex_generator_make(convex_case *c, uint64_t seed, int index);

#endif
