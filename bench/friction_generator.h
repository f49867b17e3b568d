/* friction_generator.h - Coulomb friction problems from random configurations, by number.
 *
 * A case depends on (seed, index) alone. Its contacts, 1 to 600 (half of the cases have fewer than about 20), are those
 * of stacks of cubes on four corners, walls of bricks, bodies in wedges, grasps by fingers that are fixed, driven or
 * articulated, piles of balls or boxes, arches, rows of boxes on slopes or pushed along the ground, robots, or of no
 * mechanism at all (dense); in space or, one in four, in the plane. mu is one value in 0 .. 2, each contact's own, or
 * zero; masses are alike or reach over up to six decades; contacts may be copies; some have one row and no friction.
 *
 * Dynamic cases have A positive definite. Where a motion is found that opens every contact strictly, half of them are
 * time steps: f holds gravity, a squeeze and the velocity before, w gaps, or the restitution of an impact. That motion,
 * made fast enough, is the proof ("reachable"). All others are made from a solution ("known"): bodies rest, move as one
 * along the floor or anywhere, or each on its own; contacts whose bodies come apart are open, others had the gap that
 * shuts them or more; fingers and pushers that are no bodies move by command; then what slips and what sticks is known,
 * forces are drawn in the cones, and f follows. Joint limits and loops are added to some.
 *
 * Quasistatic cases are made from a solution too. A is the stiffness of what is driven (fingers, pushers, robots, some
 * bodies) and else zero; or it is zero altogether, and what is driven follows its command exactly (v_j = d_j). Only
 * that, and what hands and pushers take along, moves: the others rest, held by friction, or pushed at. Most need it for
 * balance.
 *
 * In all of these w is that of a mechanism: gaps are not negative but for restitution, and surfaces move rigidly. Three
 * in a hundred are not, and have a row of their own ("belts"): half of the contacts are shut and slip or stick whatever
 * their bodies do, as if each had a surface that moves on its own. They have a solution, but often no motion that the
 * convex part of the law allows (H v + w in K*), which most methods rely on.
 */
#ifndef PERP_BENCH_FRICTION_GENERATOR_H
#define PERP_BENCH_FRICTION_GENERATOR_H

#include "friction_case.h"

enum { FRICTION_MAX_CONTACTS = 600 };

void friction_generator_make(friction_case *c, uint64_t seed, int index);
void friction_generator_make_quasistatic(friction_case *c, uint64_t seed, int index);

/* For measuring: one time step of 0.01 s of a stack (columns of up to 20 cubes) or a pile of balls with about as many
 * contacts, from the velocities `before` (n; NULL: at rest) and under pushes that depend on `step`; mu = 0.5. The scene
 * is that of `seed` at every step. */
void friction_generator_make_stack_step(friction_case *c, int contacts, uint64_t seed, int step, const double *before);
void friction_generator_make_pile_step(friction_case *c, int contacts, uint64_t seed, int step, const double *before);

#endif
