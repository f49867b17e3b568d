/* motion_forces.h - which forces go with the motion of an answer?
 *
 * With the motion given, what the law asks of the forces is convex: the balance, C'y + J'r and limits alike; no force
 * where a contact is apart; friction along -u_t and mu fn where it slides (with a polygon: on the face of D that does
 * the most work); within its cone where it does not. So all forces that go with it are one convex set, which holds
 * those of the answer, and the range of each component is two linear or cone programs.
 *
 * The equations are eliminated first. A force that they determine needs no program, and what is left falls into groups
 * that do not know of each other (of a tower, the forces between two of its boxes), each with programs of its own. */
#ifndef PERP_SRC_ANALYSIS_MOTION_FORCES_H
#define PERP_SRC_ANALYSIS_MOTION_FORCES_H

#include "analysis/motion_problem.h"
#include "step/rigid/cone_program.h"

/* Of one contact, in F: along its n, t and o; infinite: no bound. `found` false: an end that was not found is 0 of fn,
 * infinite else, so that the range holds all forces in any case. */
typedef struct motion_force_range {
    double end[3][2];
    bool found;
} motion_force_range;

/* `ranges`, by contact: of the forces that go with p->answer, where numbers up to `zero` count as 0. OUT_OF_MEMORY;
 * CANCELLED by `cancel` (may be NULL). */
perp_status perp_motion_force_ranges(const motion_problem *p, double zero, cone_program *program, perp_arena *arena,
                                     const volatile bool *cancel, motion_force_range *ranges, perp_error *error);

#endif
