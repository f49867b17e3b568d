/* compliant.h - visco-elastic contact: Song, Kumar and Pang's "A two-point boundary-value approach for planning
 * manipulation tasks", (3)-(10), by fully implicit steps.
 *
 * A contact point is a patch of n_s x n_s elements (n_s in the plane) on a square of side `size`, in the tangent plane
 * around the contact's point, at the centres of its cells; `elements: 1` is the point itself. With its deformation
 * delta (normal > 0: compressed) and the rate d of it, an element carries
 *
 *     lambda = K delta+ + C d,    delta+ = delta + h d,    0 <= lambda_n _|_ Psi(q+) + delta+_n >= 0,
 *
 * and Coulomb's friction against the slip s = Gamma_t v+ + d_t of the surfaces, (6). Multiplied out lambda = (h K + C)
 * d + K delta: an element is a massless body with A = h K + C and the load K delta, which moves by d along the
 * contact's own axes. So the step is Coulomb's problem of dynamic.h with d as further unknowns, one block of A each,
 * and any solver of that problem solves it. The tangential part of it at given lambda_n is the friction QP of Song's
 * Proposition 1.
 *
 * Everything that depends on the configuration, M, Gamma, Psi and the forces, is that of the step's end. That makes the
 * step nonlinear: it is solved at q_k, with Psi(q+) = Psi(q_k) + h Gamma (v+ - v_k), beginning with q_k = q, v_k = 0,
 * until what it gives meets the law at the place to which it leads. The residuals are measured there. mu, which gamma
 * makes a function of lambda_n, is found by secants on the way.
 *
 * Inertia is eps^2 M(q+) (v+ - v~) with the drifted v~ of dynamic.h, carried to q+: the centre of mass of a body keeps
 * its velocity, angular velocities (those of a mechanism: all) are scaled so that the kinetic energy is what it was at
 * q. M (v+ - v) with Coriolis forces, as printed, adds energy.
 *
 * A patch is flat and laid anew on the surfaces in every step. Of element e at offset r the tilt of the step, tau =
 * (omega x r) . n, counts in its normal velocity, and so in d, but not in delta+ = delta + h (d + tau), which is -Psi
 * where the patch is in contact: dampers feel it, springs do not. So a patch resists rolling with C sum r^2 omega, and
 * is as deep as at rest. K tau would not be symmetric: tau is that of v_k. Where that does not settle (h^2 K sum r^2
 * beyond the inertia that it turns) the springs see it within the step, delta+ = delta + h d, and it is taken out after
 * it; then (C + h K) sum r^2 omega resists. An element that carries nothing goes with its patch: tilt is no deformation
 * of it. A patch resists spin by what its elements slip.
 *
 * Energy. In a step elements and bodies together take h lambda . (u - slack), the slack being what the gap had at the
 * step's begin, less what damping, friction and backward Euler themselves take: compliant_energy.c. With Psi(q+) in the
 * law that may be more than nothing where Psi is curved along the motion: a corner that turns past its lowest point
 * leaves faster than it came. Where a step would end with more energy than it had, it is taken again with
 *
 *     0 <= lambda_n _|_ max(0, Psi(q) + delta_n) + h (Gamma_n(q+) v+ + d_n) >= 0
 *
 * whose work is not positive (fallback `unstabilised`). What overlaps beyond the deformation then is missed: the
 * element's recess, -Psi - delta_n, by which its surface lies back in the steps that follow, Psi + recess in place of
 * Psi in their law, so that they add no energy. It goes where the element is let go of (a recess is never more than
 * what is missed), and is taken up by the springs at the end of every step for the energy that contacts of the two
 * bodies had that have gone, and a half of what those that stay and their inertia took from the step, until delta_n =
 * -Psi: compliant_list.c.
 *
 * delta_t is a vector in the world's tangent plane: when the plane turns it is laid into the new one, with its energy.
 * A contact that was not there has delta_t = 0 and delta_n = max(0, -Psi) as at the step's begin, which counts as
 * energy that it was given.
 * Where the features of a contact have gone, the nearest new contact of the two shapes takes over its deformation. A
 * contact that opens relaxes, K delta + C d = 0, and is forgotten when nothing is left of it.
 *
 *   law: hunt-crossley   C delta_n in place of C (whose unit is then N s/m^2): no jump of the force at first touch
 *   tangential: rigid    only the normal deforms
 *   stiffness_scale e    K / e and C / sqrt(e): Dupont and Yamajako (11), the damping ratio stays
 *   gamma                friction |ft| <= sqrt((mu fn + gamma)^2 - gamma^2), Song's smoothed cone: Coulomb's with a mu
 *                        that depends on fn; an element has its share of the patch's gamma
 *
 * A support of a planar body is rigid: an element whose normal part has the load N_i in place of K delta, and for A the
 * inertia of its body over h, so that d = 0 and lambda_n = N_i; Coulomb's friction, without gamma. That of an ellipsoid
 * has the turning times its arm as a third tangential row: compliant_ellipsoid.c.
 *
 * A pair's restitution has no meaning here: what K and C give back is. Joint limits and loops are rigid, loops also
 * implicit. */
#ifndef PERP_SRC_STEP_COMPLIANT_H
#define PERP_SRC_STEP_COMPLIANT_H

#include "solver/friction_soft.h"
#include "step/common/dynamic.h"
#include "step/common/step_kept.h"

/* What the elements of a contact are made of. */
typedef struct compliant_material {
    int rows;                        /* n and the contact's friction directions; 4 of an ellipsoid */
    int soft;                        /* how many of them deform: all, or n alone */
    double stiffness[9], damping[9]; /* N/m, N s/m (Hunt-Crossley: N s/m^2); rows x rows, of one element */
    bool hunt_crossley;
    double load; /* N: of a support, that has neither stiffness nor damping; else 0 */
    double mu;
    double gamma; /* N, of one element */
    int side, elements;
    double size; /* m */
} compliant_material;

/* An element from step to step. */
typedef struct compliant_element {
    double normal;                 /* m: deformation at the step's begin */
    perp_vec3 tangential;          /* likewise, world */
    double energy;                 /* J: elastic, of the tangential deformation */
    double rate[3], force[3];      /* m/s, N, along n and the friction directions: of the last answer */
    double gap;                    /* m: Psi + delta_n at the step's begin */
    double recess;                 /* m, >= 0: overlap that its spring has missed; the law is on Psi + it */
    double mu, mu_miss, mu_weight; /* of an iterate: compliant_problem.c */
    double adopted;                /* m: of delta_n, what its contact was given when it appeared in touch */
} compliant_element;

/* Elements by contact, in the order of contact sets. */
typedef struct compliant_list {
    memory_block block;
    int patch_capacity, element_capacity;
    int count;
    perp_contact *contact;
    perp_vec3 *point; /* by contact: where it was, world */
    int *start;       /* count + 1 */
    bool *goes_on;    /* by contact: of s->kept, does the problem at hand have it, or a successor? */
    compliant_element *element;
} compliant_list;

/* A contact of the step at hand. */
typedef struct compliant_patch {
    int contact; /* of the set */
    int first;   /* of its elements in the problem */
    compliant_material material;
} compliant_patch;

/* What the rows of a patch's elements have in common: of an element at the offset (x, y) along t and o they are entry +
 * x along[0] + y along[1]. */
typedef struct compliant_rows {
    bool extended;            /* more than one element; else `along` is not there */
    int columns, stride;      /* free degrees of freedom; from a row to the next */
    int *dofs;                /* by column, of the free ones */
    double *entry, *along[2]; /* rows x columns */
    double velocity[4];       /* m/s: by row, at v~ and at the prescribed velocities; of the normal one less v_k */
    double turning[4][2];     /* 1/s: what of it an offset adds */
    double tilt[2];           /* 1/s: (omega x offset) . n at v_k; before there is one, at the step's begin */
} compliant_rows;

/* How well a point meets the law at a configuration, in units of F and L. */
typedef struct compliant_residual {
    double balance, complementarity, cone;
} compliant_residual;

/* The convex problem of compliant_ellipsoid.c, where it is not that of the step. */
typedef struct compliant_cones {
    memory_block block;
    int capacity; /* in elements */
    int *slack_start;
    double *rays, *offset;
    double *shift; /* by element: w */
    bool *quadratic;
    perp_convex_workspace *solver; /* NULL until it is needed */
} compliant_cones;

typedef struct compliant_step {
    memory_block fixed, sized;
    int patch_capacity, element_capacity, dof_capacity;
    perp_friction_workspace *friction;
    perp_friction_soft_workspace *soft; /* the first to be tried */
    compliant_cones cones;              /* of problems with an ellipsoid */

    /* ---- from step to step ---- */
    compliant_list all; /* deformations at the step's begin */
    step_kept bodies;   /* of the last iterate; of contacts nothing */

    /* ---- within a step ---- */
    compliant_list kept;     /* of the island at hand, at its part's begin */
    compliant_list ended;    /* of the islands that are done, one after the other */
    compliant_list guess;    /* the last iterate's rates and forces */
    bool guessed;            /* there was one in this step; else those of `kept` are as good */
    compliant_list spare;    /* to change places with */
    double *q_end;           /* nq: where islands that are taken one by one have come to */
    double *v_begin;         /* nv: v~ at the step's begin */
    double *energy;          /* by tree: of it */
    perp_vec3 *com_velocity; /* by tree: of it, where it is one body */
    double *v_linear;        /* nv: v_k */
    double gamma_part;       /* an element has so much of its gamma, */
    double gamma_least;      /* and at least its share of this, N: 1 and 0 but on a continuation */
    bool by_rates;           /* the normal law is on rates, and nothing is adopted: compliant_energy.c */
    bool lags;               /* tilt is out of the springs: s->tilt */
    bool gives_way;          /* springs come to their limits and back from iterate to iterate */
    bool at_begin;           /* the problem is that of the step's begin, and its answer taken for the step's */

    /* ---- the problem at q_k: forces in F, velocities in `speed` ---- */
    double speed, gap; /* m/s; what it makes of L in a step */
    int patch_count, element_count;
    compliant_patch *patches;
    compliant_rows rows; /* of the patch at hand */
    int *patch_of;       /* by element */
    int *soft_start;     /* by element: its first unknown, behind those of bodies */
    double *deformation; /* by element 3, m: delta along its rows */
    double *adopted;     /* by element, m: of delta_n, as compliant_element has it */
    double *recess;      /* likewise */
    double *tilt;  /* by element, m/s: (omega x r) . n at v_k, which its spring does not see; 0 unless s->lags, and by
                      rates */
    double *slack; /* by element, m/s: what its normal row has beside velocities */
    double *lost;  /* by tree, J: what its inertia takes from the step, 1/2 x'M x */
    double left_behind; /* J: elastic, of contacts of the step's begin that have gone without a successor */
    perp_contact_qp qp;
    double *mu;
    double *mu_miss, *mu_weight; /* by element: s->mu by a secant, compliant_problem.c */
    int *block_start, *row_start, *dof_start, *dofs;
    double *hessian, *g, *jacobian, *offset, *target, *lower, *upper;
    double *u, *balance;
    perp_convex_point point, warm;

    perp_element_record *elements; /* of the last step */
} compliant_step;

/* ---- compliant_material.c ---- */

compliant_material perp_compliant_material(const perp_scene *scene, const perp_contact *contact);
/* The friction force that goes with a normal force, N. */
double perp_compliant_radius(const compliant_material *material, double fn);
/* J: elastic, of a deformation along the rows; of its tangential part. */
double perp_compliant_tangential_energy(const compliant_material *material, const double *deformation);
/* Of element e, along t and o. */
void perp_compliant_offset(const compliant_material *material, bool planar, int e, double offset[2]);

/* ---- compliant_list.c ---- */

/* Room for so many; what the list held is lost if it has to grow. */
perp_status perp_compliant_hold(const contact_step *step, compliant_list *list, int patches, int elements,
                                perp_error *error);
/* The patch of a list that is this contact, -1: none. `hint`, 0 at first, goes on with contacts in their order. */
int perp_compliant_find(const compliant_list *list, const perp_contact *contact, int *hint);
/* Where its features have gone: the patch of the list whose own features are not in the set any more and that is
 * nearest to contact i of the set, which is nearest to it too. -1: none. */
int perp_compliant_successor(const compliant_list *list, const perp_contact_set *set, int i);
/* Is a contact of the island at hand? */
bool perp_compliant_is_own(const contact_step *step, const perp_contact *contact);
/* Does contact i of the set take part in its problem: near, or deformed? `kept`: the patch of s->kept that it is, -1:
 * none; `hint` as below. Another island that it is near to is joined with this one, and the step begins anew. */
bool perp_compliant_takes_part(contact_step *step, int i, int *hint, int *kept);
/* J: elastic, of patch k of s->kept at the step's begin, without what it was given. */
double perp_compliant_kept_energy(const contact_step *step, int k);
/* s->kept becomes what s->all has of the island at hand, `whole`: all of it; and s->ended, or s->all, gets it back. */
perp_status perp_compliant_begin_island(contact_step *step, bool whole, perp_error *error);
perp_status perp_compliant_end_island(contact_step *step, bool whole, perp_error *error);
/* s->all becomes s->ended, in order. */
perp_status perp_compliant_end_step(contact_step *step, perp_error *error);
/* At a part's begin: s->kept becomes the elements of the contacts that take part. */
perp_status perp_compliant_meet(contact_step *step, perp_error *error);
/* Does the problem have the contacts of s->guess, no more and no fewer? */
bool perp_compliant_same_contacts(const contact_step *step);
/* The answer in s->point, of the problem at hand, into s->guess. */
perp_status perp_compliant_keep_guess(contact_step *step, perp_error *error);
/* The step was accepted with s->point, which is its problem's at its end: s->kept for the next one. */
perp_status perp_compliant_accept(contact_step *step, perp_error *error);
void perp_compliant_put(const contact_step *step, memory_writer *w);
bool perp_compliant_take(contact_step *step, memory_reader *r);

/* ---- compliant_inertia.c ---- */

/* The drifted v~ into s->v_begin, and what energy and momentum it is to have, with kinematics at the step's begin. */
void perp_compliant_remember_inertia(contact_step *step, perp_step_context *context);
/* step->inertia.v_drifted, with kinematics at q_k. */
void perp_compliant_carry_inertia(contact_step *step, perp_step_context *context);
/* step->v, the answer of a step that was linearised at its begin, to its end, where kinematics are afterwards. */
void perp_compliant_carry_answer(contact_step *step, perp_step_context *context);

/* ---- compliant_rows.c ---- */

/* s->rows of a patch. */
void perp_compliant_fill_rows(contact_step *step, const compliant_patch *patch);
/* Row r of an element into `out`; returns its velocity. */
double perp_compliant_put_row(const compliant_rows *rows, int r, const double offset[2], double *out);

/* ---- compliant_problem.c ---- */

perp_status perp_compliant_open(contact_step *step, perp_error *error);
void perp_compliant_close(contact_step *step);
/* The problem at q_k, where kinematics and contacts are, from the step->system of there; s->point is the last answer.
 */
perp_status perp_compliant_build(contact_step *step, perp_error *error);

/* Is there a last answer of all that moves in the problem? */
bool perp_compliant_has_answer(const contact_step *step);
/* ---- compliant_solve.c ---- */

compliant_residual perp_compliant_evaluate(contact_step *step);
double perp_compliant_worst(compliant_residual residual);
/* s->point from s->point; `solved` and how far it came. */
perp_status perp_compliant_solve(contact_step *step, bool *solved, perp_friction_info *info, perp_error *error);

/* ---- compliant_ellipsoid.c ---- */

bool perp_compliant_has_ellipsoid(const compliant_step *s);
/* In place of the solvers of Coulomb's law; `info` has outcome, method and iterations. Starts cold. */
perp_status perp_compliant_solve_ellipsoids(contact_step *step, const perp_friction_settings *settings,
                                            perp_friction_info *info, perp_error *error);

/* ---- compliant_energy.c ---- */

/* delta+ of element e of a patch along row r, m; of the normal one without the tilt that its spring does not see. */
double perp_compliant_deformed(const contact_step *step, const compliant_patch *patch, int e, int r);
/* delta+_n without the step's tilt. */
double perp_compliant_laid_anew(const contact_step *step, const compliant_patch *patch, int e);
/* The elastic energy that a patch gains, J, when it is laid anew after the step: without tilt. */
double perp_compliant_laying(const contact_step *step, const compliant_patch *patch);
/* J: what the contacts have added to kinetic and elastic energy in the step whose answer is s->point, and patch k of
 * them alone. `before`: what there was. */
double perp_compliant_growth(contact_step *step, double *before);
double perp_compliant_patch_growth(const contact_step *step, int k);
/* Have the contacts added to kinetic and elastic energy in the step whose answer is s->point? */
bool perp_compliant_grows(contact_step *step);

/* ---- compliant_record.c ---- */

void perp_compliant_record(contact_step *step);
void perp_compliant_look_back(perp_step_context *context, const perp_state *state, const int *match,
                              perp_step_info *info);

/* ---- compliant_step.c ---- */

extern const step_law perp_compliant_law;

perp_status perp_compliant_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                                perp_error *error);

#endif
