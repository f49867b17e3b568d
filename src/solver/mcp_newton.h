/* mcp_newton.h - what the parts of the Newton method for nonlinear mcps share.
 *
 * All of it works on the perturbed problem lower <= z <= upper _|_ G(z) = F(z) + proximal (z - centre), which is the
 * problem itself where `proximal` is 0. Its equations are, by variable,
 *
 *     no bound      G = 0                          lower alone   phi(z - lower, G) = 0
 *     upper alone   -phi(upper - z, -G) = 0        both          phi(z - lower, -phi(upper - z, -G)) = 0
 *     lower = upper z - lower = 0
 *
 * with phi(a, b) = a + b - sqrt(a^2 + b^2), zero where a, b >= 0 and a b = 0 (Fischer; for boxes Billups 1995). Their
 * generalised Jacobian is D_z + D_f G' with diagonal D_z, D_f >= 0. The merit is half the square of their norm.
 *
 * Invariant: every point at which F is evaluated lies between the bounds.
 */
#ifndef PERP_SRC_SOLVER_MCP_NEWTON_H
#define PERP_SRC_SOLVER_MCP_NEWTON_H

#include <perp/solver.h>

#include "base/arena.h"

/* A point with what is known there. */
typedef struct perp_newton_point {
    double *z, *f, *equation; /* n; f is F, without the perturbation */
    double merit;             /* of the perturbed problem */
    double natural;           /* the residual of the perturbed problem; the same as `residual` without perturbation */
    double residual;          /* perp_nonlinear_mcp_residual */
} perp_newton_point;

enum { PERP_NEWTON_MEMORY = 8 }; /* merits that the nonmonotone search looks back on */

typedef struct perp_newton_memory {
    double merits[PERP_NEWTON_MEMORY];
    int count;
} perp_newton_memory;

typedef enum perp_newton_end {
    PERP_NEWTON_SOLVED,  /* the natural residual of the perturbed problem meets the attempt's tolerance */
    PERP_NEWTON_STALLED, /* no step lowers the merit */
    PERP_NEWTON_LIMIT,
    PERP_NEWTON_UNDEFINED, /* F or its Jacobian at the start */
    PERP_NEWTON_CANCELLED
} perp_newton_end;

struct perp_mcp_newton_workspace {
    perp_workspace memory;
    int capacity; /* of a dense workspace; the n of one with a pattern */

    /* the pattern, where there is one, and that of the Newton matrix: the same with the whole diagonal */
    bool has_pattern;
    int *column_starts, *row_indices;
    int *matrix_starts, *matrix_rows;
    int *place;    /* of each entry of the Jacobian in the matrix */
    int *diagonal; /* n: the place of (j, j) */

    /* the matrix: n x n by rows, or by matrix_starts with a linear solver */
    const perp_linear_solver *door; /* NULL: dense */
    void *factors;
    double *matrix;
    int *pivots;
    bool factored_before; /* in this solve */

    /* path search; NULL beyond PERP_MCP_NEWTON_PATH_MAX_N */
    perp_lcp_workspace *lemke;
    double *linear_m, *linear_q, *linear_z, *linear_w;
    int *basis;

    /* the problem at hand */
    const perp_nonlinear_mcp *problem;
    const perp_mcp_newton_settings *settings;
    int n;
    double *lower, *upper;
    double proximal;
    double *centre;  /* n */
    bool crash;      /* attempts begin with a crash phase */
    double penalise; /* weight of phi in the equations, in (0, 1]; the rest is on max(a, 0) max(b, 0) */

    perp_newton_point now, trial, best; /* best: of all, by `residual` */
    double *jacobian;                   /* of F at now.z, as the problem's evaluate gives it */
    double *slope_z, *slope_f;          /* D_z, D_f at now.z */
    double *step, *gradient, *begin, *kept, *work;

    int iterations, factorisations, evaluations, pivot_count;
    int allowance; /* factorisations at which the present rung has to end */
};

typedef perp_mcp_newton_workspace perp_newton_core;

/* ---- mcp_newton_merit.c: points ---------------------------------------------------------------------------------- */

double perp_newton_clamp(const perp_newton_core *c, int i, double z);
/* F at point->z, and what follows from it; false where it is not defined or not finite. The best point is kept. */
bool perp_newton_evaluate(perp_newton_core *c, perp_newton_point *point);
size_t perp_newton_jacobian_length(const perp_newton_core *c);
/* The Jacobian at now.z, or at trial.z; false as above. */
bool perp_newton_evaluate_jacobian(perp_newton_core *c, const double *z);
/* slope_z and slope_f at now. */
void perp_newton_slopes(perp_newton_core *c);
/* The same for the natural map z - mid(lower, z - G, upper), whose value goes to `value`: rows of the identity where
 * a bound holds, of G' elsewhere. */
void perp_newton_natural_slopes(perp_newton_core *c, double *value);
/* Half the square of the natural map's norm. */
double perp_newton_natural_merit(const perp_newton_core *c, const perp_newton_point *point);
void perp_newton_swap(perp_newton_point *a, perp_newton_point *b);
static inline bool perp_newton_is_cancelled(const perp_newton_core *c)
{
    return c->settings->cancel && *c->settings->cancel;
}

/* ---- mcp_newton_matrix.c ----------------------------------------------------------------------------------------- */

/* Factors D_z + D_f (G' + shift I); false if it is singular. */
bool perp_newton_factor(perp_newton_core *c, double shift);
/* Overwrites b by the solution; false if it is not finite. */
bool perp_newton_solve(perp_newton_core *c, double *b);
/* gradient = (D_z + D_f G')' equation at now: of the merit. */
void perp_newton_gradient(perp_newton_core *c);
double perp_newton_jacobian_size(const perp_newton_core *c); /* the largest entry of F', and not 0 */
/* linear_m = G' + shift I, linear_q = G - linear_m z at now, dense. */
void perp_newton_linearise(perp_newton_core *c, double shift);

/* ---- mcp_newton_step.c ------------------------------------------------------------------------------------------- */

void perp_newton_remember(perp_newton_memory *memory, double merit);
double perp_newton_reference(const perp_newton_memory *memory);
/* What a search has to reach. */
typedef struct perp_newton_aim {
    double reference; /* the merit must fall below this by SUFFICIENT times `slope` times the length */
    double slope;     /* >= 0 */
    int halvings;
    bool natural; /* the merit of the natural map, not of the equations */
} perp_newton_aim;

/* From now along `direction`, each trial point moved between the bounds: the first of the lengths 1, 1/2, .. that
 * reaches the aim, with F and the Jacobian defined there. The point becomes now, the Jacobian is that there; returns
 * the length, 0 if none was found (now and jacobian are as they were). */
double perp_newton_search(perp_newton_core *c, const double *direction, const perp_newton_aim *aim);
bool perp_newton_is_spent(const perp_newton_core *c); /* the allowance */
/* Crash phase and semismooth Newton steps from now.z, until the natural residual of the perturbed problem is
 * `tolerance`. */
perp_newton_end perp_newton_attempt(perp_newton_core *c, double tolerance, int max_iterations);

/* ---- mcp_newton_path.c ------------------------------------------------------------------------------------------- */

/* Steps towards solutions of the linearised problem, which Lemke's path finds. */
perp_newton_end perp_newton_path_attempt(perp_newton_core *c, double tolerance, int max_iterations);

#endif
