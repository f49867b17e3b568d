/* dynamic.h - what the dynamic rungs add to the step problem of contact_step.h: inertia that goes on from step to step.
 *
 * With eps = run.time_scale, M and all that acts at the configuration q of the step's begin, commands and forces at
 * t + h, the step from velocity v to v+ is (slides 19-20 of Trinkle's "A family of rigid body models" with the rows of
 * design 4.8)
 *
 *     eps^2 M (v+ - v~) = h (gravity + applied + K (command - q - h v+) - D v+) + impulses,    q+ = q (+) h v+
 *
 * divided by h: impulses are reported as forces. The unknown x of contact_step.h is v+ - v~, so that no momentum is
 * lost to rounding where M v / h is large beside the forces: A = eps^2 M / h + h K + D, f = (h K + D) v~ - forces, and
 * rows, limits and loops begin at v~. K, D and armature are implicit. D is that of the scene's own time, which is the
 * scaled one: as eps goes to 0 what is left is the quasistatic step.
 *
 * v~ is the velocity v of the last step, carried from where that step began to where it ended (*drift*) without forces:
 *
 *   a free body    angular velocity by the implicit midpoint rule on Euler's equations in the body's frame, which keeps
 *                  kinetic energy and the size of the angular momentum, in equal parts that turn by at most half a
 *                  radian; the velocity of the centre of mass is kept
 *   a mechanism    M (v~ - v) + h c(q, (v + v~) / 2) = 0, then scaled so that the kinetic energy is what it was, and
 *                  what gravity owes it for the curved way that a straight step misses
 *
 * so inertia alone never adds energy, and under gravity it does not creep. The alternative, Coriolis and gyroscopic
 * forces at v, adds energy in every step: a top at 10 rad/s, off its middle axis, has 2.4 times what it had after 10 s
 * of h = 0.01; an implicit Euler rule leaves 0.52 of it. Trees that loops join drift in the loops' tangent space and
 * are scaled as one: left open while they drift, what closes them takes energy in first order of h.
 *
 * The normal row has phi / h beside the velocity, Stewart and Trinkle's stabilisation: h u_n is the linearised gap at
 * the step's end. With restitution e (Newton) a contact that approaches at u_n- < 0 and would close within the step (on
 * a convex rung: come within mu h |u_t-|, where its law acts already) has u_n >= -e u_n- instead. Anitescu and Potra's
 * form, for steps that have no answer otherwise, has max(phi, 0) / h. */
#ifndef PERP_SRC_STEP_DYNAMIC_H
#define PERP_SRC_STEP_DYNAMIC_H

#include "step/common/contact_step.h"

typedef enum perp_dynamic_drift_kind {
    PERP_DRIFT_NONE, /* M and the velocities' meaning are the same everywhere */
    PERP_DRIFT_BODY, /* one free body */
    PERP_DRIFT_PLANAR_BODY,
    PERP_DRIFT_MECHANISM
} perp_dynamic_drift_kind;

/* ---- dynamic_inertia.c ---- */

/* eps^2 */
double perp_dynamic_mass_scale(const contact_step *step);
/* The force that brings prescribed degrees of freedom to their new velocities, as the free one i of their tree feels
 * it, and what springs and dampers say to its velocity v~. */
double perp_dynamic_force_at_drifted(const contact_step *step, const double *q, int i);
/* From the step problem in v+ to that in v+ - v~. */
void perp_dynamic_start_from_drifted(contact_step *step);
/* m/s: what the normal row of contact i of the set has beside its velocity. Where something bounces, step->velocity has
 * the velocities of v_last at all contacts. */
double perp_dynamic_shift(const contact_step *step, int i);
/* Anitescu and Potra's form in place of Stewart and Trinkle's; false where they are the same. */
bool perp_dynamic_unstabilise(contact_step *step);
/* BAD_INPUT where something free has no inertia at all. */
perp_status perp_dynamic_check_inertia(const contact_step *step, double *scratch, perp_error *error);

/* ---- dynamic_drift.c ---- */

/* 1/2 v'M v of a tree; `mass` is the packed mass matrix, `v` has all degrees of freedom. */
double perp_dynamic_kinetic_energy(const perp_tree *tree, const double *mass, const double *v);

/* step->inertia.drift, at the begin of a run. */
void perp_dynamic_classify(contact_step *step);
/* step->inertia.v_drifted from step->v_last, at step->q_begin where kinematics are and stay. */
void perp_dynamic_drift(contact_step *step, perp_step_context *context);

#endif
