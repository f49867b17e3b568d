/* rigid_step.h - the law of the rigid rungs: at every contact 0 <= fn _|_ u_n >= 0, and Coulomb's friction
 *
 *     ft in mu fn D,   -ft . u_t = mu fn max { -d . u_t : d in D }
 *
 * where D is the unit disc (`quadratic`), or a polygon: `rays`, whose corners are the unit directions d_j, or `box`,
 * whose corners are (+-1, +-1) on the contact's own axes. With one friction direction all are the interval [-1, 1].
 * Only the way to solve differs from rung to rung; what is measured, chosen and explained is shared:
 *
 *   rigid_law.c             which method comes first; the step from begin to end
 *   rigid_step.c            units, memory, residuals
 *   rigid_step_solve.c      one method after the other, then the answer that is reported
 *   rigid_step_lcp.c        the mixed LCP of polygons (Trinkle, Berard and Pang 2005, 24-26)
 *   rigid_step_fixed.c      the fixed point on normal forces (29), (36)
 *   rigid_step_choice.c     of several motions the smallest, of several forces the least
 *   rigid_step_explain.c    why there is no answer
 *   rigid_step_modes.c      whether there is one: all modes, by branch and bound over
 *   rigid_step_relax.c      what is left of the step when some are decided
 *
 * The problem is solved in its own units, forces in F and velocities in L / h, as convex_step.h does. With full inertia
 * a velocity of L / h, the scene's size in one step, is far from what forces of F do to the bodies: the unit there is
 * F h over the largest mass, and A about 1. */
#ifndef PERP_SRC_STEP_RIGID_STEP_H
#define PERP_SRC_STEP_RIGID_STEP_H

#include "solver/friction_soft.h"
#include "step/rigid/cone_program.h"
#include "step/common/contact_step.h"
#include "step/common/step_kept.h"

enum { RIGID_UNSETTLED = 3 };

/* D of a contact with two friction directions, counter-clockwise: facet j joins corner j to corner j + 1, and D is
 * where facet[j] . d <= 1 for all j. */
typedef struct rigid_polygon {
    int count;
    double (*corner)[2], (*facet)[2];
} rigid_polygon;

typedef struct rigid_step {
    /* For two friction directions (no corners: D is the disc) and for one; the second entries of a line are 0. */
    rigid_polygon wide, line;
    memory_block fixed, sized;
    int contact_capacity, dof_capacity;

    bool in_sizes;     /* velocities in L / h whatever the inertia: proofs are measured in F and L */
    double speed;      /* m/s: the unit of velocities */
    double gap;        /* what it makes of L in a step: 1 without inertia */
    double slack;      /* of velocities: what the law's tolerance makes of them, in proofs */
    double arm;        /* m: torques count as forces on it: L, at most 1 */
    const bool *turns; /* n: of the unknowns, those whose balance is of torques */

    perp_contact_qp qp; /* the system in the step's own units */
    double *hessian, *g, *lower, *upper, *target, *offset;
    double *balance;          /* n: scratch */
    perp_convex_point point;  /* x is v, y is r by row */
    perp_convex_point better; /* of choices that have yet to prove themselves */
    perp_convex_point spare;  /* of the springs, until it proves itself */
    bool chosen;              /* `point` is the limit of equal springs: nothing more is chosen of its forces */
    double *u;                /* by row: H v + w */
    double *held;             /* by contact: normal forces of a fixed point */
    int *row_of;              /* by row of the system: an unknown of a cone program, -1: none */
    cone_program program;

    perp_friction_workspace *friction; /* qs-ncp with the quadratic cone */
    perp_friction_soft_workspace *springs;
    perp_lcp_workspace *lcp; /* polygons */
    int lcp_capacity;
    memory_block lcp_block;
    double *m, *q, *z, *w, *ray;
    bool *free;

    int *part_of;       /* n: which part of the step a degree of freedom is of, for the search through modes */
    memory_block modes; /* of that search */

    bool settles;   /* the rung's fixed point did in the island at hand, or is not its method */
    step_kept kept; /* of contacts the forces: normal, then along the friction directions */
    /* by degree of freedom of the model, of the step at hand and of the last accepted one: */
    bool *now_settles;
    int *unsettled; /* in so many in a row the fixed point did not settle, up to RIGID_UNSETTLED */
} rigid_step;

/* How well a point meets the law, in units of F and L. */
typedef struct rigid_residual {
    double balance;         /* of forces, and of torques, never less than in units of F L */
    double complementarity; /* gaps, limits, loops */
    double cone;            /* outside of mu fn D, and friction that does less than the most work against the slip */
} rigid_residual;

/* ---- rigid_law.c: by the direct method of the cone, or by the fixed point on normal forces; then by the other ---- */
extern const step_law perp_rigid_law, perp_rigid_law_fixed_point;

/* ---- rigid_step.c ---- */
perp_status perp_rigid_open(contact_step *step, perp_error *error);
void perp_rigid_close(contact_step *step);
void perp_rigid_accept(contact_step *step);
/* What perp_rigid_accept has kept. */
void perp_rigid_put(const contact_step *step, memory_writer *w);
bool perp_rigid_take(contact_step *step, memory_reader *r);
/* The system in its own units, and the room for it; s->point is zero afterwards. */
perp_status perp_rigid_begin(contact_step *step, perp_error *error);
/* s->point and its residuals to step, in m/s and N. */
void perp_rigid_hand_over(contact_step *step);
/* D of a contact with that many rows; NULL where it has no friction, or the cone is quadratic and has two directions.
 */
const rigid_polygon *perp_rigid_polygon(const rigid_step *s, int rows);
/* The corners of D, and of an ellipsoid (four rows) of D turned into the third direction: D made smaller by cos and
 * lifted by sin of the latitudes that are multiples of a right angle over a quarter of D's corners, the two poles with
 * them. d NULL: none. */
int perp_rigid_corner_count(const rigid_polygon *d, int rows);
void perp_rigid_corner(const rigid_polygon *d, int j, double corner[3]);
/* The most work against the slip u that a friction of mu fn = 1 can do, max over D of -d . u; d NULL: the disc. */
double perp_rigid_most_work(const rigid_polygon *d, const double *u);
/* Has a contact the cone of an ellipsoid, which only the fixed point and the convex proofs take? */
bool perp_rigid_has_ellipsoid(const contact_step *step);
/* Fills s->u. */
rigid_residual perp_rigid_evaluate(rigid_step *s, const double *mu, const perp_convex_point *point);
double perp_rigid_worst(rigid_residual residual);
/* out += weight times row r (0: normal) of contact i over the unknowns; `jacobian` is where the contact's rows begin.
 */
void perp_rigid_add_row(const rigid_step *s, int i, const double *jacobian, int r, double weight, double *out);

/* ---- the ways to solve; each fills s->point and says whether it did ---- */
perp_status perp_rigid_solve_lcp(contact_step *step, bool *solved, perp_lcp_info *info, perp_error *error);

/* The mixed LCP alone, in the step's memory until the next one, and s->point from a z of it. */
perp_status perp_rigid_build_lcp(contact_step *step, perp_mlcp *problem, perp_error *error);
void perp_rigid_read_lcp(rigid_step *s, const double *mu, const double *z);

typedef struct rigid_fixed_info {
    int rounds;
    double change;     /* of the normal forces in the last round, over F */
    double two_before; /* and over two rounds: small where it goes to and fro */
    int contact;       /* that changed most */
    double between[2]; /* N: its normal force in the last two rounds */
} rigid_fixed_info;

/* From the normal forces in s->held. */
perp_status perp_rigid_solve_fixed(contact_step *step, bool *solved, rigid_fixed_info *info, perp_error *error);
/* Loops, and loops and limits, of the step as rows of s->program over v, its first unknowns. */
void perp_rigid_add_loops(rigid_step *s);
void perp_rigid_add_constraints(rigid_step *s);
/* How often in a row the fixed point of the island at hand has not settled. */
int perp_rigid_unsettled(const contact_step *step);
/* s->held from the last accepted step. */
void perp_rigid_recall(contact_step *step);
/* The last accepted step's answer as a first guess for this one, in s->better; false where there is none. */
bool perp_rigid_recall_point(contact_step *step);

/* Coulomb's problem on the system of the step, quadratic cone. */
perp_status perp_rigid_solve_friction(contact_step *step, bool *solved, perp_friction_info *info, perp_error *error);
/* ---- rigid_step_springs.c ---- */
/* The answer that equal springs have in the limit, from `start` (NULL: at rest, with all that touches stuck), to
 * s->point where it meets the law. */
perp_status perp_rigid_solve_springs(contact_step *step, const perp_convex_point *start, bool known, bool *solved,
                                     perp_error *error);

/* ---- rigid_step_solve.c ---- */
typedef enum rigid_method {
    RIGID_LCP,        /* polygons */
    RIGID_FRICTION,   /* the quadratic cone */
    RIGID_FIXED_POINT /* from the last step's normal forces */
} rigid_method;

/* What came of trying: the method that solved the step, or the one that came nearest. */
typedef struct rigid_attempt {
    bool solved;
    const char *method;
    double residual;
    rigid_fixed_info cycle; /* of the fixed point, where it was tried */
    bool impossible;        /* proven: the step has no answer */
} rigid_attempt;

/* Begins, then springs; where these fail the proofs that there is no answer, then one method and another (a fallback is
 * counted). INFEASIBLE, with the reason, where it is proven. */
perp_status perp_rigid_try(contact_step *step, const rigid_method methods[2], rigid_attempt *best, perp_error *error);
/* The whole of it for an island that has begun and has an ellipsoid. */
perp_status perp_rigid_solve_ellipsoid(contact_step *step, perp_error *error);
/* From a point that solves the step to the one that is reported. With full inertia the motion that goes with forces is
 * one, and it is not looked for others. */
perp_status perp_rigid_finish(contact_step *step, perp_error *error);

/* ---- rigid_step_choice.c: replace s->point where the choice meets the law as well ---- */
perp_status perp_rigid_smallest_motion(contact_step *step, perp_error *error);
perp_status perp_rigid_least_forces(contact_step *step, perp_error *error);
/* s->program becomes all motions that meet the law together with the forces of s->point, H and g being 0. */
perp_status perp_rigid_motions(contact_step *step, perp_error *error);
/* H of s->program, whose unknowns are the velocities: perp_step_metric. */
void perp_rigid_fill_metric(rigid_step *s, const contact_step *step);

/* ---- rigid_step_explain.c ---- */
/* `proven`, and INFEASIBLE with the reason: the commands cannot be met, or forces cannot balance. */
perp_status perp_rigid_prove_none(contact_step *step, bool *proven, perp_error *error);
/* A step that no method solved and no proof decided: the search through all modes, which finds an answer (OK: the step
 * is finished, a fallback is counted) or proves that there is none; or else `not-converged`. */
perp_status perp_rigid_explain(contact_step *step, const char *method, double residual, perp_error *error);

/* ---- rigid_step_modes.c ---- */
/* All modes. `decided`: the step is finished (OK), or there is no answer (`no-equilibrium`). */
perp_status perp_rigid_search_modes(contact_step *step, bool *decided, perp_error *error);
/* Is there an answer in which all that slides at s->point sticks instead? Then info->several is set. Few contacts, few
 * nodes: it may not find one that there is. */
perp_status perp_rigid_look_for_sticking(contact_step *step, perp_error *error);

#endif
