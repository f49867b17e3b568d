/* friction_core.h - what the methods for Coulomb friction share: the scaled problem, the Newton step in two forms, and
 * the judge.
 *
 * Scaling makes every cone self-dual. With S = c diag(1 / mu, 1, 1) per contact, r = force S r', u' = S u / velocity,
 * v = velocity D v', a contact's law is
 *
 *     r in L,   z = u + |u_T| e in L,   r . z = 0,     L = {first entry >= norm of the rest},  e = (1, 0, 0)
 *
 * (primes dropped from here on). Contacts without friction keep their normal row alone, bounds are rows likewise, and
 * the equations of balance are those of a cone qp without its optimality: A v + f = H'r + C'y. So the scaled problem is
 * kept as a contact qp, and cones, products and factorisation are those of the convex engine, whose workspace is
 * `convex`: its `at.x` is v, `at.y` is r, `s` is z. The function z(u) has the derivative E = I + e t', t = u_T / |u_T|
 * (0 where u_T is): that makes the matrix of Newton's step unsymmetric.
 *
 * Both methods that use derivatives reduce to dr = a - Omega du, with an Omega by contact. In the form with bodies
 *
 *     (A + rho + H' Omega H) dv - C'dy = -r_d + H'a,     C dv + delta dy = -r_c
 *
 * and in the dense form, u = W r + q, (B + G W) dr = b with B and G by contact.
 */
#ifndef PERP_SRC_SOLVER_FRICTION_CORE_H
#define PERP_SRC_SOLVER_FRICTION_CORE_H

#include <perp/solver.h>

#include "problem/conversions.h"
#include "solver/contact_kkt_lu.h"
#include "solver/convex_core.h"
#include "solver/friction_small.h"
#include "solver/friction_islands.h"
#include "solver/friction_sparse.h"

/* The cone problem whose want of a feasible point is a local problem's want of a solution. */
typedef struct perp_friction_proof {
    perp_kkt_buffer memory;
    perp_contact_qp problem;
    int *row_start, *dof_start, *dofs;
    bool *quadratic;
    double *jacobian, *offset, *g;
} perp_friction_proof;

/* A local problem as one of bodies. */
typedef struct perp_friction_lifted {
    perp_kkt_buffer memory;
    perp_friction_lift lift;
    perp_contact_qp system;
    perp_contact_friction problem;
    double *v;
    perp_friction_workspace *solver; /* NULL: none was reserved */
} perp_friction_lifted;

/* How often a line of the schedule was tried, and how often it solved, since the workspace was made: a line stays only
 * with a count of what it decides (sweep_friction prints it). */
typedef struct perp_friction_tally {
    int tried, solved;
} perp_friction_tally;
enum { PERP_FRICTION_LINES = 11 };

struct perp_friction_workspace {
    perp_allocator allocator;
    perp_friction_tally tally[PERP_FRICTION_LINES];
    perp_convex_workspace *convex;
    perp_kkt_lu lu;
    perp_kkt_buffer memory, dense_memory;
    const perp_contact_friction *contact; /* the problem as given: one of the two */
    const perp_friction *local;
    perp_contact_qp scaled;

    /* scaling: by slack of a contact S and its row in the problem; by unknown D; by equation */
    double velocity, force;
    double *row_scale, *dof_scale, *equation_scale;
    int *row_of;
    /* arrays of the scaled problem */
    int *dof_start, *row_start;
    double *hessian, *g, *jacobian, *offset, *equality_values, *equality_target, *lower, *upper;
    bool *quadratic;
    double *free_offset;  /* offset, where a method changes that for a while */
    perp_contact_qp held; /* friction_rest.c: the scaled problem with bodies held, and its arrays */
    double *held_hessian, *held_g, *centre_x;

    double *w, *q, *matrix;      /* of a local problem */
    perp_friction_sparse sparse; /* for B + G W of a local problem */
    bool has_sparse, in_full;    /* it is in use; it did not serve, and `matrix` has the factors */
    int *pivots;
    double *block_b, *block_g; /* by contact rows x rows, as convex->omega; bounds after them, one each */

    double *u, *du, *t, *z;           /* slack vectors */
    double *natural;                  /* r - P(r - z) */
    double *argument;                 /* r - z */
    double *fixed, *change, *weighed; /* slack vectors: a of Newton's step; scratch */
    double *rd_change;                /* n: change of r_d along the step */
    double *residual, *correction;    /* n + e */
    bool symmetric;                   /* the factors are those of L D L' */
    double rho, delta;                /* proximal terms of the factored matrix */

    double *along; /* 4 slack vectors of friction_smooth.c */
    int *lag;      /* by cone: iterations for which the interior point leaves the derivative of its shift out */
    perp_convex_iterate solved; /* a point kept aside */
    int *normal_start;          /* the normal rows alone, for a proof */
    double *normal_jacobian;
    double error; /* the last that perp_friction_look returned */
    double
        give; /* > 0: contacts give way by this times the change of their forces, of which `give_from` are the first */
    const double *give_from;
    double smooth; /* > 0: projections and |u_T| are smoothed by this, see friction_smooth.c */

    perp_friction_islands islands;   /* of a problem with bodies */
    perp_friction_workspace *island; /* for one of several; NULL: there is but one */
    perp_convex_point joined;        /* their solutions together */

    perp_friction_proof proof;
    perp_friction_lifted lifted;
    perp_friction_small small;
    bool has_small;                     /* it holds the problem */
    int small_contacts, small_unknowns; /* of the problems that memory was reserved for: what `small` may take */

    perp_convex_point point; /* unscaled, for the judge */
    perp_contact_friction_residual judged_parts, best_parts;
    double judged, best_residual; /* best: convex->best */
    double tolerance;
    double unit; /* of residuals: 1, or 0 for relative ones */
    int iterations, factorisations, max_factorisations;
    const volatile bool *cancel;
};

/* ---- friction_setup.c ------------------------------------------------------------------------------------------- */

/* The scaled problem and all memory. CAPACITY where memory does not suffice and may not grow. */
perp_status perp_friction_setup_contact(perp_friction_workspace *f, const perp_contact_friction *problem,
                                        perp_error *error);
perp_status perp_friction_setup_local(perp_friction_workspace *f, const perp_friction *problem, perp_error *error);

/* ---- friction_point.c ------------------------------------------------------------------------------------------- */

void perp_friction_export(perp_friction_workspace *f, const perp_convex_iterate *at); /* to `point` */
void perp_friction_import(perp_friction_workspace *f, const perp_convex_point *from, perp_convex_iterate *at);
/* The residual of the class at `at`; keeps the best point. True if it is solved. */
bool perp_friction_judge(perp_friction_workspace *f, perp_convex_iterate *at);
/* Cancelled, or no factorisation left. */
bool perp_friction_must_stop(const perp_friction_workspace *f);

/* u, t, z, r_d and r_c at `at`, then the natural map; returns its largest entry and theirs. */
double perp_friction_look(perp_friction_workspace *f, const perp_convex_iterate *at);
/* The last part of it: t, z, argument and natural from u. */
double perp_friction_natural(perp_friction_workspace *f, const double *u, const double *y);

/* x, y and z become 0. */
void perp_friction_clear(const perp_friction_workspace *f, perp_convex_iterate *at);
/* A slack vector: `value` times e in every cone, so in every row. */
void perp_friction_fill_heads(const perp_convex_workspace *c, double value, double *slacks);

/* What z and what has given way count in the natural map: 1, less where contacts give way by more than that. */
static inline double perp_friction_pace(const perp_friction_workspace *f)
{
    return f->give > 1.0 ? 1.0 / f->give : 1.0;
}

/* ---- friction_step.c -------------------------------------------------------------------------------------------- */

/* convex->omega times E (t = 0: as it is). */
void perp_friction_shift_omega(perp_friction_workspace *f);
/* Factors the form with bodies with convex->omega and weights; `symmetric` where no contact has a t. */
void perp_friction_factor(perp_friction_workspace *f);
/* dv, -dy in convex->step, du, and dr, from a and the residuals; refined against the equations as they are. False where
 * a number is not finite. */
bool perp_friction_step(perp_friction_workspace *f, const double *a, double *dr);
/* B + G W, and its solution: dr holds b first. */
bool perp_friction_factor_dense(perp_friction_workspace *f);
bool perp_friction_step_dense(perp_friction_workspace *f, double *dr);
void perp_friction_multiply_dense(const perp_friction_workspace *f, const double *r, double *u); /* u = W r */

/* ---- friction_smooth.c: values of the smoothed projection -------------------------------------------------------- */

#define PERP_FRICTION_ROUNDING 0.1 /* of |u_T|, beside the smoothing of projections */

/* (lambda + sqrt(lambda^2 + 4 smooth^2)) / 2, without cancellation. */
double perp_friction_smooth_value(double lambda, double smooth);
/* Its derivative and 1 less that, likewise. */
void perp_friction_smooth_derivative(double lambda, double smooth, double *derivative, double *rest);
/* The smoothed projection on L. */
void perp_friction_smooth_project(int size, double smooth, const double *a, double *projected);

/* ---- friction_one.c --------------------------------------------------------------------------------------------- */

/* r of one contact alone, cones scaled: u = W r + q with the rows x rows block `w` and q without its own force. False,
 * and r unchanged, where there is none or numbers fail. */
bool perp_friction_one_contact(int rows, const double *w, int stride, const double *q, double *r);

/* ---- the methods ------------------------------------------------------------------------------------------------ */

/* Semismooth Newton from `at`, which changes: true once the judge says solved. */
bool perp_friction_newton(perp_friction_workspace *f, perp_convex_iterate *at, int iterations);

/* How Newton's matrix is regularised, by min(most, part error), and when it gives up. Where forces are far from unique,
 * more damping keeps a step from leaving along them. */
typedef struct perp_friction_damping {
    double most, part;
    int iterations, patience; /* in all; without the error's having halved */
    double enough;            /* an error that ends it: of problems that are not those of the judge */
} perp_friction_damping;
/* From `from`, which stays, with one damping after the other until the problem is solved, or an error is enough; the
 * last point is in convex->kept. */
bool perp_friction_newton_from(perp_friction_workspace *f, const perp_convex_iterate *from,
                               const perp_friction_damping *dampings, int count);
/* From `best`, where that is near a solution: the residual of such a point falls and rises again, and one of the points
 * on the way may do. */
bool perp_friction_newton_near(perp_friction_workspace *f);

/* What the search of one run of Newton's method compares with: the merit of its last points. */
enum { PERP_FRICTION_REMEMBERED = 8 };
typedef struct perp_friction_memory {
    double merit[PERP_FRICTION_REMEMBERED];
    int count;
} perp_friction_memory;

/* One step of it, after perp_friction_look; `reg` regularises the matrix. NULL: all of the step, without a search.
 * False where numbers failed. */
bool perp_friction_newton_step(perp_friction_workspace *f, perp_convex_iterate *at, double reg,
                               perp_friction_memory *memory);
/* Its parts, after perp_friction_look: the matrix, and the direction that removes `natural`, rd and rc, which goes to
 * convex->dy and step (dv, -dy of the equations). */
bool perp_friction_newton_factor(perp_friction_workspace *f, double reg);
bool perp_friction_newton_solve(perp_friction_workspace *f, double reg);
/* B = I - J + reg J and G = J E of one contact or row: J the derivative of the projection (smoothed where smooth > 0)
 * at `argument`, E = I + e t'. */
void perp_friction_newton_blocks(int rows, const double *argument, const double *t, double reg, double smooth,
                                 double *b, double *g);
/* Smoothed projections, followed along the curve of their solutions. */
bool perp_friction_smooth(perp_friction_workspace *f);
/* Implicit steps of forces that settle. */
bool perp_friction_proximal(perp_friction_workspace *f);

typedef struct perp_friction_attempt {
    double start;       /* r and z of the start: this times e */
    double most, least; /* of the way to the border that a step may go */
    int lag;            /* iterations without the derivative of the shift after a short step */
    int iterations;     /* at most */
    double near;        /* > 0: from `best`, moved inside by this, in place of `start` */
} perp_friction_attempt;

bool perp_friction_ipm(perp_friction_workspace *f, const perp_friction_attempt *attempt);
/* friction_rest.c: a fixed point on the shift, from that of the least motion. */
typedef struct perp_friction_resting {
    double rho; /* bodies are held near their last motion by this */
    int rounds;
    bool all;        /* those with inertia or stiffness too */
    uint64_t *state; /* not NULL: the first shifts are drawn around those of the least motion */
} perp_friction_resting;
bool perp_friction_rest(perp_friction_workspace *f, const perp_friction_resting *how);
/* With many rho, from shifts that are drawn. */
bool perp_friction_rest_drawn(perp_friction_workspace *f);
bool perp_friction_holds_some(const perp_friction_workspace *f); /* unknowns without inertia or stiffness */

/* Gives `best`, which is a solution, the forces of least norm; true if the judge agrees. */
bool perp_friction_minimum_norm(perp_friction_workspace *f);
/* The same for r, which solves a local problem; false, and r as it was, also where W is not symmetric and semidefinite,
 * or too large for it. */
perp_status perp_friction_local_least_reserve(perp_friction_workspace *f, const perp_friction *problem);
bool perp_friction_local_least(perp_friction_workspace *f, const perp_friction *problem,
                               const perp_friction_settings *settings, double *r);
/* The lines of the schedule; NULL beyond the last. */
const char *perp_friction_line_label(int line);
/* Before any method: no point is known, and no work was done. */
void perp_friction_reset(perp_friction_workspace *f, const perp_friction_settings *settings);
/* Of a local problem, if it is not too large for it; reserve after the problem is set up. */
perp_status perp_friction_local_proof_reserve(perp_friction_workspace *f);
double perp_friction_local_prove(perp_friction_workspace *f, double enough);
/* The normal rows alone, with offsets in free_offset: every solution has u_N >= 0. */
void perp_friction_take_normals(perp_friction_workspace *f, perp_contact_qp *normals);
/* `convex` takes the scaled problem again; its points are gone. */
void perp_friction_restore(perp_friction_workspace *f);
/* The measure of a proof that there is no solution, +infinity if there is none. */
double perp_friction_prove_infeasible(perp_friction_workspace *f);

#endif
