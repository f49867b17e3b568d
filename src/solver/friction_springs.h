/* friction_springs.h - of the answers of a friction problem the one that equal springs have.
 *
 * Rigid contact is the limit of contacts that give way alike: with a spring of stiffness a along the normal and
 * a / 100 along both tangents of every contact, and a growing without end, motion and forces tend to *one* answer of
 * the rigid problem. Where forces are not determined by the motion (a box on four corners) they are then those of least
 * norm, r = -J xi of some small displacement xi of the bodies, and friction is decided by these.
 *
 * The limit is reached at a finite a, by the method of multipliers. A round solves
 *
 *     A v + f = J'r + C'y + limits,     r = R(rest - a (J v + w))
 *
 * with Coulomb's response R of friction_soft_core.h; then rest = r. Rounds end where r stands still, J v + w meeting
 * the rigid law then. They begin from rest = 0, so that r is a sum of terms -a (J v + w): in the range of J, as the
 * limit's forces are, whatever a. Unknowns without inertia or stiffness are held near where the round began, so that
 * what nothing decides stays.
 *
 * It fails typed where bodies are not held, where there is no answer, and where Newton's method does not find it. */
#ifndef PERP_SRC_SOLVER_FRICTION_SPRINGS_H
#define PERP_SRC_SOLVER_FRICTION_SPRINGS_H

#include "solver/friction_soft.h"

#include <perp/solver.h>

typedef struct perp_friction_springs_settings {
    double velocity_tolerance, force_tolerance; /* of what the last round leaves open, in the problem's units */
    double velocity_enough, force_enough;       /* what will do where rounds no longer gain: gaps that do not quite fit
                                                   together, sums that are rounded */
    const perp_friction_polygon *polygon;       /* of contacts with two friction directions; NULL: the disc */
    const double *weight;           /* by unknown: what stands for inertia where A has none on its diagonal; > 0 */
    const perp_convex_point *start; /* velocities to begin from, and forces whose modes to begin with; NULL: at rest,
                                       with all that touches stuck */
    bool known;                     /* the start is an answer: what does not go on from there is given up */
    const volatile bool *cancel;
} perp_friction_springs_settings;

typedef struct perp_friction_springs_info {
    bool solved;
    /* From round to round something falls by as much, which springs that begin without force do not hold, or forces
     * that hold each other grow: stiffer springs lead nowhere. A rigid answer may exist, with forces that nothing
     * causes. */
    bool no_limit;
    int rounds, iterations;
    /* How far the motion goes, largest entry, where normal forces are taken by unlike parts of themselves in place of
     * alike ones: 0 where the law leaves them no choice, or none that moves anything; infinite where the answer is not
     * known to be the limit's. Where a known answer is not led to the limit, of that answer. */
    double choice;
} perp_friction_springs_info;

/* The problem must pass its check. Memory as perp_friction_soft_solve has it, and the same workspace: CAPACITY where it
 * was not reserved. */
perp_status perp_friction_springs_reserve(const perp_contact_friction *problem, perp_friction_soft_workspace *workspace,
                                          perp_error *error);
perp_status perp_friction_springs_solve(const perp_contact_friction *problem,
                                        const perp_friction_springs_settings *settings,
                                        perp_friction_soft_workspace *workspace, perp_convex_point *solution,
                                        perp_friction_springs_info *info, perp_error *error);

#endif
