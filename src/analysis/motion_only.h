/* motion_only.h - have all answers the motion of the one at hand? Coulomb's law on the round cone, where no list of
 * modes is complete.
 *
 * The motions and forces that balance (and keep loops closed) are a linear space, the answer plus N z. Of a contact is
 * asked what its mode says, and no more than linear inequalities can say:
 *
 *     undecided          r_n >= 0,  u_n >= 0,  r_t in a polygon around mu r_n D
 *     open               r = 0,     u_n >= 0
 *     sticks             r_t in that polygon,  u = 0
 *     slides, a .. b     u_n = 0,  u_t between the directions a and b,  -r_t between them too, beyond the chord of its
 *                        arc and below the tangents at a and b
 *
 * so that what is left of z holds every answer of these modes. Where nothing is left, there is none; where all that is
 * left moves as the answer does, nothing else is to be found. Else a contact is decided, or an arc halved: the one at
 * which a point of what is left is farthest from Coulomb's law. An arc with the slip of the answer within shrinks until
 * what it leaves open is less than `room`, some 20 halvings; arcs without an answer go early.
 *
 * A proof by exhaustion: whatever is not decided, by work or by rounding, is no proof. */
#ifndef PERP_SRC_ANALYSIS_MOTION_ONLY_H
#define PERP_SRC_ANALYSIS_MOTION_ONLY_H

#include "analysis/motion_answers.h"

/* `room` (L): so near to the answer's motion is the same. *only false: it is not known. OUT_OF_MEMORY, CANCELLED. */
perp_status perp_motion_is_only(const motion_problem *p, const motion_searcher *by, double room, bool *only,
                                perp_error *error);

#endif
