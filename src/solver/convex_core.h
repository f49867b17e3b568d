/* convex_core.h - what the methods for convex problems share: the workspace, products, cones, and the proximal Newton
 * step.
 *
 * All work on a contact qp. Its slacks are, in this order, those of the contacts, x - lower for the finite lower
 * bounds, and upper - x for the finite upper ones: m in all, s = A x + b. Slacks of one contact with `quadratic` form a
 * cone; all others are rows, each a cone of its own. Both kinds are self-dual, and
 *
 *     H x + g = A'y + C'z,   s = A x + b,   C x = d,   s and y in K,   s . y = 0
 *
 * is what a solution has to meet. A vector by slack is a "slack vector".
 *
 * Nothing here depends on the units of single contacts or unknowns: `gamma`, one number per contact (1 / (A H^-1 A') of
 * it, in words: its effective mass), is the measure by which y and s are compared, and regularisation is relative to
 * `stiffness`, one per unknown.
 */
#ifndef PERP_SRC_SOLVER_CONVEX_CORE_H
#define PERP_SRC_SOLVER_CONVEX_CORE_H

#include <perp/solver.h>

#include "solver/contact_kkt.h"
#include "solver/qp_dual.h"
#include "solver/slack_kernel.h"

typedef struct perp_convex_cone {
    int start, size; /* of its slacks */
    int fours;       /* times four cones of three rows, from this one on, that follow each other */
    bool friction;   /* R is diagonal, of three rows: diag(1, mu, mu) */
} perp_convex_cone;

/* Slacks [start, end) that are rows. */
typedef struct perp_convex_range {
    int start, end;
} perp_convex_range;

/* What a block of H has: in quasistatic problems most have nothing, and those of bodies often a diagonal. */
typedef enum perp_convex_block { PERP_BLOCK_ZERO, PERP_BLOCK_DIAGONAL, PERP_BLOCK_FULL } perp_convex_block;

/* x, y, z: a point. */
typedef struct perp_convex_iterate {
    double *x, *y, *z;
} perp_convex_iterate;

struct perp_convex_workspace {
    perp_allocator allocator;
    perp_kkt kkt;
    const perp_slack_kernel *kernel;
    perp_kkt_buffer memory;
    perp_kkt_buffer conversion;   /* of dense problems: qp_solve.c */
    perp_qp_dual_workspace *dual; /* of dense qps; NULL: too large for it */
    int dual_n, dual_rows, dual_equalities;
    const perp_contact_qp *problem;

    int n, e, m, contact_slacks, bounds, longest; /* longest: columns or rows of a contact */
    size_t hessian_total, omega_total;            /* entries of H's blocks, of the Omega_i */
    int degree;                                   /* of the barrier: rows and cones */
    int *bound_dof;
    double *bound_sign, *bound_offset; /* s = sign x + offset */
    int cone_count, range_count;
    perp_convex_cone *cones;
    double *cone_scale; /* by cone, interior point: 1 / eta^2 */
    perp_convex_range *ranges;

    double *gamma;     /* by slack */
    double *stiffness; /* by unknown */
    double *diagonal;  /* n + e: of the matrix, added */
    double *omega;
    double *squares; /* by slack, 9 entries: r r' of its ray, of contacts with three rows and four rays */
    double *weight;  /* by slack: rows y / s, cones J w */
    double *gather;  /* longest, twice */
    double *row_sum; /* longest */

    perp_convex_iterate at, kept, best, trial, saved;
    perp_convex_iterate evidence; /* the best signs so far that nothing is feasible (y, z), or nothing ends (x) */
    double *s;                    /* interior point: its slacks */
    double *rp, *rd, *rc;         /* residuals: A x + b - s (m), H x + g - A'y - C'z (n), C x - d (e) */
    double *step;                 /* n + e: dx, then minus dz */
    double *ds, *dy, *ds_affine, *dy_affine, *slack, *scaled;
    double *product, *product2, *product3; /* n */
    unsigned char *part, *sized;           /* by slack: parts of K, or active or not */
    double *proof_hessian, *proof_g, *proof_lower, *proof_upper, *proof_zero; /* the problem of a proof */
    double *proof_x, *proof_direction;
    double *y_lower, *y_upper; /* n: multipliers of bounds for the judge */
    bool *active;              /* by slack: the set of the factored matrix */
    double *block;             /* largest block squared: check of H */
    unsigned char *block_kind; /* by block of H: a perp_convex_block; of the problem that was set up */

    double b_scale, g_scale;                    /* 1 + the largest entry */
    double evidence_measure, direction_measure; /* of `evidence`, as of proofs; +infinity: none */
    bool evidence_cancels;                      /* its columns are sums that cancel */
    bool noting;                                /* of evidence: not while another problem is solved on the way */
    double best_residual;                       /* of `best` */
    bool best_is_least;                         /* its multipliers are those of least norm */
    double unit;                                /* of residuals: 1, or 0 for relative ones */
    double judged; /* residual of the last point that was judged, or more where that says too little (PERP_NEAR) */
    perp_convex_residual judged_parts;
    perp_convex_residual best_parts;
    int size_changes, trend_changes; /* of `sized` and `part` in the last iteration */
    bool guessed;                    /* the first Newton pass takes its active rows from `part` */
    double fraction;                 /* of the way to the border that a step may go */
    double rho, delta, soft;         /* proximal terms now: on unknowns, equations and (Newton) contacts */
    const volatile bool *cancel;
    double tolerance;
    int iterations, factorisations;
    int passes; /* of Newton's methods: a warm start's are iterations, a polish's belong to the one that it ends */
};

/* Settings that make no sense. */
perp_status perp_convex_settings_check(const perp_convex_settings *settings, perp_error *error);
/* The settings as given or the default ones, checked, and an empty info. */
perp_status perp_convex_begin(const perp_convex_settings *settings, perp_convex_settings *chosen,
                              perp_convex_info *info, perp_error *error);
/* No best point and no counts, before a run with these settings; and what of them goes into the info after it. */
void perp_convex_forget(perp_convex_workspace *c, const perp_convex_settings *settings);
void perp_convex_fill_info(const perp_convex_workspace *c, perp_convex_info *info);

/* ---- convex_setup.c -------------------------------------------------------------------------------------------- */

/* Arrays, bounds, cones, scales. CAPACITY where memory does not suffice and may not grow. */
perp_status perp_convex_setup(perp_convex_workspace *c, const perp_contact_qp *problem, perp_error *error);

/* A constraint that is loose by far more than anything drives x, as `x <= 1e20`, would be a spring that pulls x there
 * when an interior point starts: lowers its gamma until it is not. False where there is none. */
bool perp_convex_loosen(perp_convex_workspace *c);

/* BAD_INPUT where a block of H is indefinite beyond rounding. */
perp_status perp_convex_check_definite(perp_convex_workspace *c, perp_error *error);

/* ---- convex_products.c ------------------------------------------------------------------------------------------ */

void perp_convex_a(perp_convex_workspace *c, const double *x, double *s);        /* s = A x */
void perp_convex_add_at(perp_convex_workspace *c, const double *y, double *out); /* out += A'y */
void perp_convex_slacks(perp_convex_workspace *c, const double *x, double *s);   /* s = A x + b */
/* out = H x; H has nothing where that of the problem that was set up has nothing */
void perp_convex_h(const perp_convex_workspace *c, const double *x, double *out);
void perp_convex_equations(const perp_convex_workspace *c, const double *x, double *rc); /* rc = C x - d */
void perp_convex_add_ct(const perp_convex_workspace *c, const double *z, double *out);   /* out += C'z */
/* rd = H x + g - A'y - C'z */
void perp_convex_dual_residual(perp_convex_workspace *c, const perp_convex_iterate *at, double *rd);

void perp_convex_zero(const perp_convex_workspace *c, perp_convex_iterate *at);
void perp_convex_copy(const perp_convex_workspace *c, const perp_convex_iterate *from, perp_convex_iterate *to);
void perp_convex_import(const perp_convex_workspace *c, const perp_convex_point *point, perp_convex_iterate *at);
void perp_convex_export(const perp_convex_workspace *c, const perp_convex_iterate *at, perp_convex_point *point);

/* y_lower and y_upper from the slacks of bounds. */
void perp_convex_bound_multipliers(perp_convex_workspace *c, const perp_convex_iterate *at);
/* The residual of the problem at `at`, by the class's own function; keeps the best point. True if it is solved. */
bool perp_convex_judge(perp_convex_workspace *c, const perp_convex_iterate *at);

/* By how much the objective at `best` may be above the least, as far as its residuals tell: what s and y are off being
 * complementary, and what the dual residual is worth along x. Leaves c->s and c->rd. */
double perp_convex_gap(perp_convex_workspace *c);

/* ---- convex_cones.c -------------------------------------------------------------------------------------------- */

/* Nesterov-Todd scaling of (s, y), both inside: weight, cone_scale, and omega = R' W^-2 R by contact. */
void perp_convex_scale(perp_convex_workspace *c, const double *s, const double *y);
/* omega for a spring of stiffness gamma at every slack: W^-2 = gamma. Fills `weight` of rows. */
void perp_convex_start_weights(perp_convex_workspace *c);
/* scaled = -W^-2 r_p, dy = scaled - y */
void perp_convex_predict(perp_convex_workspace *c, const double *y, double *dy);
/* dy -= W^-2 ds, then ds += r_p */
void perp_convex_follow(const perp_convex_workspace *c, double *ds, double *dy);
/* out -= W^-2 v */
void perp_convex_subtract_scaled(const perp_convex_workspace *c, const double *v, double *out);
/* out = W^-1 (lambda \ (center e - lambda o lambda - (W^-1 ds) o (W dy))) */
void perp_convex_corrector(const perp_convex_workspace *c, const double *s, const double *y, double center,
                           const double *ds, const double *dy, double *out);
/* The largest t <= 1 with v + t dv in K. */
double perp_convex_step_length(const perp_convex_workspace *c, const double *v, const double *dv);

/* Least shift t such that v + t e is in K, with e scaled by `unit` in each contact; negative inside. */
double perp_convex_shift(const perp_convex_workspace *c, const double *v, const double *unit);
/* Moves v into K, by `least` units at least from its border. */
void perp_convex_raise(const perp_convex_workspace *c, double least, const double *unit, double *v);
/* v . e in units: sum of v_i / unit_i over rows and heads of cones. */
double perp_convex_unit_sum(const perp_convex_workspace *c, const double *v, const double *unit);
void perp_convex_add_shift(const perp_convex_workspace *c, double t, const double *unit, double *v);

/* The projection of v (size) on the second-order cone; `v` and `out` may be the same. */
void perp_cone_project(int size, const double *v, double *out);

/* omega_i = R_i' D_i R_i for every contact, D_i = diag(weight) or, for cones, from `cone_matrix` filling size x size.
 */
typedef void (*perp_cone_matrix)(const perp_convex_workspace *c, const perp_convex_cone *cone, double *matrix);
void perp_convex_make_omega(perp_convex_workspace *c, perp_cone_matrix cone_matrix);

/* diagonal = rho stiffness + weights of the bounds; and -delta for equations. */
void perp_convex_make_diagonal(perp_convex_workspace *c, double rho, double delta);
/* Assembles and factors with omega, weight and diagonal as they are. */
void perp_convex_factor(perp_convex_workspace *c);

/* ---- the methods ------------------------------------------------------------------------------------------------ */

/* How to go about an interior point. */
typedef struct perp_convex_attempt {
    int iterations;    /* at most */
    bool warm;         /* from `at` */
    double fraction;   /* of the way to the border that a step may go */
    double rho, delta; /* proximal terms at the start */
    bool from_zero;    /* a cold start with x = 0: stays near it where the problem leaves x free */
} perp_convex_attempt;

/* Interior point, from a cold start or from `at`. SOLVED, ITERATION_LIMIT, ILL_CONDITIONED, CANCELLED; `best` has the
 * point. */
perp_outcome perp_convex_ipm(perp_convex_workspace *c, const perp_convex_attempt *attempt);

/* rp, rd and rc of `at` and s. */
void perp_convex_refresh_residuals(perp_convex_workspace *c);
/* dx, dz in `step`, and A dx + r_p in ds, dy, for q - W^-2 r_p in dy. */
void perp_convex_solve_direction(perp_convex_workspace *c, double *ds, double *dy);

/* Proximal semismooth Newton from `at`, at most `passes`, ended by a residual above `give_up`: true once the judge says
 * solved. `at` changes. */
bool perp_convex_newton(perp_convex_workspace *c, perp_convex_iterate *at, int passes, double give_up);

/* For problems without cones: from `at`, with the rows in `active` for the first pass, of which no more than `change`
 * may be wrong; true once the judge says solved. Without equations the multipliers are those of least norm. `at`, s and
 * scaled change. */
bool perp_convex_augmented(perp_convex_workspace *c, perp_convex_iterate *at, int passes, int change);

/* Gives `best`, which is a solution, the multipliers of least norm: true if they were found and the judge agrees.
 * best_is_least is set if it is certain besides which slacks are zero. */
bool perp_convex_minimum_norm(perp_convex_workspace *c);

/* Keeps the multipliers in `at` as `evidence` where they are a better sign than any before that nothing is feasible,
 * and x where it is one that nothing ends: true if that will do for a proof. trial, y_lower, y_upper, product2 and
 * product3 change. */
bool perp_convex_note_evidence(perp_convex_workspace *c);

/* Whether a feasible point is found; where not, the search may leave evidence. */
bool perp_convex_seek_feasible(perp_convex_workspace *c);

/* The measure of a proof that there is no feasible point, +infinity if there is none; `feasible`: a feasible point was
 * found on the way. The proof is left in at->y and at->z. */
double perp_convex_prove_infeasible(perp_convex_workspace *c, double enough, bool *feasible);
/* The measure of a direction without end, in proof_direction; +infinity if there is none. */
double perp_convex_prove_unbounded(perp_convex_workspace *c);

/* Setup and the check of H, and the cascade: fills the info but for the objective; the answer is in `best`. */
perp_status perp_convex_prepare(perp_convex_workspace *c, const perp_contact_qp *problem, perp_error *error);
perp_outcome perp_convex_run(perp_convex_workspace *c, const perp_convex_settings *settings, perp_convex_info *info);
/* By how much the primal residual at x may change with the last digit of A and C. */
double perp_convex_rounding(const perp_convex_workspace *c, const double *x);
/* SOLVED; where the solution in `best` is too far away to be one, INFEASIBLE with its proof, or ILL_CONDITIONED. */
perp_outcome perp_convex_reject_far(perp_convex_workspace *c, perp_convex_info *info);

static inline bool perp_convex_is_open(perp_outcome outcome)
{
    return outcome == PERP_OUTCOME_ITERATION_LIMIT || outcome == PERP_OUTCOME_ILL_CONDITIONED;
}

static inline bool perp_convex_cancelled(const perp_convex_workspace *c)
{
    return c->cancel && *c->cancel;
}

#endif
