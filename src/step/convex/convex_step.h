/* convex_step.h - the law of the convex rungs (Anitescu's relaxation of Coulomb's), shared by qs-qp, qs-cone,
 * quasidynamic and dyn-qp.
 *
 * A step minimises 1/2 v'A v + f'v subject to, at every contact, u_n + mu d_j . u_t >= 0 for each ray d_j, or with the
 * quadratic cone u_n >= mu |u_t|. So what slides also parts, by mu h |u_t| in a step: the boundary layer. On dyn-qp a
 * contact parts only by what it slips more than was expected: convex_step_slip.c.
 *
 * The problem is solved in units of its own, forces in F and velocities in L / h, so that the solver's tolerance means
 * the same on every scale: an x of 1 is a motion by L. */
#ifndef PERP_SRC_STEP_CONVEX_STEP_H
#define PERP_SRC_STEP_CONVEX_STEP_H

#include "step/common/contact_step.h"
#include "step/common/step_kept.h"

/* The sizes that arrays are laid out for. */
typedef struct convex_capacity {
    int contacts, dofs, slacks;
} convex_capacity;

/* Whether a motion is the only one is looked at in islands of so many unknowns at most. */
enum { CONVEX_DETERMINED = 150 };

typedef struct convex_step {
    bool frictionless; /* for a question: the gaps alone */
    bool quadratic;    /* the cone, where a contact has two friction directions */
    int rays;          /* in space */
    double kappa;      /* N m: of the barrier in place of the constraints; 0: none */
    int longest;       /* slacks that a contact may have */
    perp_convex_workspace *solver, *face_solver;
    convex_capacity capacity;
    memory_block fixed, sized;

    /* the problem in its own units */
    perp_contact_qp qp;
    double *hessian, *g, *lower, *upper, *target;
    int *slack_start;
    double *ray, *offset;
    double *parting;              /* m/s, by contact: mu times the slip of the answer; perp_convex_step_measure */
    double *ending;               /* m/s, likewise: u_n, h times which is the gap at the step's end */
    double *room_low, *room_high; /* of earlier answers: with which the contact parted, and overlapped */
    bool *cone;
    perp_convex_point point, start;
    /* `step` has `point` in its units, and the law's parts but for the balance: by perp_convex_step_law */
    bool is_told;
    double *slack; /* s at point.x */

    double *answer; /* by contact of the set, longest + 1 each: how many slacks it has, and their multipliers, N */
    step_kept kept; /* of contacts the same */

    /* the smallest motion: convex_step_face.c */
    perp_contact_qp face;
    double *face_hessian, *face_g, *face_jacobian, *face_ray, *face_offset, *face_values, *face_target;
    int *face_row_start, *face_dof_start, *face_dofs, *face_slack_start, *face_equality_start, *face_equality_dofs;
    bool *face_cone, *face_keep;
    double *face_square; /* twice the unknowns squared, CONVEX_DETERMINED at most: determined.h */
    double *face_way;    /* n: which the face's equations allow */
    perp_convex_point face_point;
} convex_step;

/* ---- convex_law.c: as it is, and with room for the slip that is to be expected ---- */
extern const step_law perp_convex_law, perp_convex_law_sliding;

perp_status perp_convex_step_open(contact_step *step, perp_error *error);
void perp_convex_step_close(contact_step *step);
perp_status perp_convex_step_solve(contact_step *step, perp_error *error);
/* The same in two parts: the problem, and its answer. Something must be free to move. */
perp_status perp_convex_step_begin(contact_step *step, perp_error *error);
perp_status perp_convex_step_answer(contact_step *step, perp_error *error);
/* `parting` and `ending` of the answer, whose slacks are known, and step->layer. */
void perp_convex_step_measure(contact_step *step);
/* The same with room for the slip that is to be expected. */
perp_status perp_convex_step_solve_sliding(contact_step *step, perp_error *error);
/* step->info->lift of an answer that is accepted. */
void perp_convex_step_note_lift(contact_step *step);
void perp_convex_step_accept(contact_step *step);
/* What perp_convex_step_accept has kept. */
void perp_convex_step_put(const contact_step *step, memory_writer *w);
bool perp_convex_step_take(contact_step *step, memory_reader *r);

/* The largest |min(y, s)| over rays, bounds and, for cones, |y - P(y - s)|, with what equations are off, in units of F
 * and L: the complementarity of the step. Fills `slack`. */
double perp_convex_step_complementarity(convex_step *c, const double *x);

/* Of the tangential part of a cone, of up to three numbers. */
double perp_convex_length(const double *x, int count);
/* Fills `slack` alone. */
void perp_convex_step_fill_slacks(convex_step *c, const double *x);
/* `point` to `step`, in m/s and N. */
void perp_convex_step_hand_over(const convex_step *c, contact_step *step);

/* The larger of this and the balance, at `point`, which is handed over to `step`. */
double perp_convex_step_law(contact_step *step);

/* The problem of the step in its own units, from step->system. */
void perp_convex_step_fill(convex_step *c, const contact_step *step);
/* Forces are in their cones exactly: what the solver left outside, by rounding, goes to the balance. */
void perp_convex_step_clip(convex_step *c);
/* Improves `point` until it meets the law well, by all means there are; returns what the law says of it. */
double perp_convex_step_sharpen(contact_step *step);
/* For what was not solved: looks for an answer within a reach of the scene, which is a bounded problem and as well
 * conditioned as its contacts. `solved`: `point` meets the law. `unbounded`: every answer moves farther than a thousand
 * times L, or the farthest that gaps ask for, in the step, so nothing holds the bodies; point.x leads there.
 * `infeasible`: no motion within thirty times that meets the constraints; point.y weighs them. Else it stays open. */
perp_outcome perp_convex_step_confine(contact_step *step);
/* Is there a motion that meets all but what friction asks for? Leaves `point` alone. */
bool perp_convex_step_gaps_can_be_met(contact_step *step);
/* Of all motions that meet the law with the forces in `point`, the smallest: replaces point.x, or counts the fallback.
 */
perp_status perp_convex_step_smallest(contact_step *step, perp_error *error);

#endif
