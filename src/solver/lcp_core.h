/* lcp_core.h - the state of Lemke's method on a problem with bounds, and its basis.
 *
 * One core serves lcp, mlcp and mcp: every problem is lower <= z <= upper _|_ F(z) = M z + q, scaled and oriented to
 *     w = M z + q + d z_n,   0 <= z <= range,   w >= 0 complementary to z,
 * where index n is Lemke's artificial variable, d its covering vector. "Scaled": rows and columns are multiplied by
 * powers of two, which is exact, so that their largest entries are near 1. "Oriented": a variable that sits at its
 * upper bound is counted from there, with row and column negated, so that every nonbasic z is 0 and every w is >= 0. A
 * variable without bounds is free: its z is basic from the start and never leaves, its w is 0 and never enters.
 *
 * The basis. `rows` lists the indices whose w is nonbasic (0), `cols` those whose z is basic, both of length m:
 *     K = M[rows, cols],   K z[cols] = -q[rows],   H = K^-1 (cols x rows).
 * All other basic variables are w, whose columns are units and cost nothing. H is kept explicitly: the four kinds of
 * exchange (z or w enters, z or w leaves) each change it by one row, one column or both, which is a rank-one update of
 * m^2 steps. A tableau costs n^2 per pivot and writes all of itself; here only H is written, and M is read. K is
 * rebuilt from the data and inverted afresh when the rows of `rows`, which the entering direction must leave at zero,
 * show drift: that check is free because the product runs over all n rows anyway.
 */
#ifndef PERP_SRC_SOLVER_LCP_CORE_H
#define PERP_SRC_SOLVER_LCP_CORE_H

#include <perp/solver.h>

#include "base/arena.h"

#include <math.h>

/* A problem of any of the three classes; lower and upper are NULL for an lcp. */
typedef struct perp_lcp_data {
    int n;
    const double *m, *q, *lower, *upper;
} perp_lcp_data;

typedef enum perp_pivot_end {
    PERP_PIVOT_COMPLEMENTARY, /* the artificial variable left: the basis is complementary and feasible */
    PERP_PIVOT_RAY,
    PERP_PIVOT_LIMIT,    /* of pivots, or a basis came back: cycling */
    PERP_PIVOT_SINGULAR, /* K could not be factored */
    PERP_PIVOT_CANCELLED
} perp_pivot_end;

/* How carefully an attempt works. */
typedef struct perp_lemke_care {
    int refresh_every; /* pivots between inversions from the data, at most */
    double drift;      /* inverts when the direction's error exceeds this, relative to its terms */
    double tie;        /* values below this count as ties in the ratio test; the largest |q| is 1 */
    double regularise; /* added to the diagonal of the scaled M */
} perp_lemke_care;

struct perp_lcp_workspace {
    perp_workspace memory;
    int capacity;

    /* the problem */
    perp_lcp_data data;      /* as given; borrowed while solving */
    int n, stride, stride_h; /* of columns; of h and lu */
    double *columns;         /* (n + 1) x stride: column j of the scaled, oriented M; column n is d */
    double *q, *range, *row_scale, *col_scale, *sign, *origin;
    double *start_sign; /* `sign` when the attempt began */
    double value_scale; /* z and F of the problem are this times the scaled ones */
    bool *is_free;

    /* the basis */
    int m;
    int *rows, *cols, *row_at, *col_at; /* row_at[rows[p]] = p, else -1; n + 1 long */
    double *h;                          /* m x m, row p of it belongs to cols[p], column p to rows[p] */
    double *lu;
    int *pivots;
    bool *start_z; /* z_j was basic when the attempt began: the lexicographic order is relative to that basis */

    /* values and directions */
    double *z, *w;           /* n + 1: 0 where nonbasic */
    double *rate_z, *rate_w; /* of z[cols[p]] by position, of w by index */
    double *work, *work2;    /* n + 1 */
    long double *wide;       /* n + 1 */
    int *ties;
    double *tie_rate, *tie_value;

    /* of the cascade: the point of the present attempt, the basis it ended with, its covering vector */
    double *point, *kept, *covering, *lower, *upper;
    double *farkas; /* the u of the proof that there is no solution, of an attempt that ended INFEASIBLE */
    int *basis, *warm;

    int pivot_count, refresh_count, since_refresh;
    uint64_t hash; /* of the basis, relative to the start */
    int ray_index; /* the variable that entered without being blocked: its rate is 1 */
    bool ray_is_z, has_ray;
    double condition;  /* of K at the last refresh, 1-norm */
    double basis_norm; /* of K as the last polish factored it, 1-norm */
    double unit;       /* of the residual: 1, or 0 for a relative one */
    perp_lemke_care care;
    perp_lcp_settings settings;
};

/* The bounds of a problem of any class. */
static inline double perp_lcp_lower(const perp_lcp_workspace *c, int i)
{
    return c->data.lower ? c->data.lower[i] : 0.0;
}

static inline double perp_lcp_upper(const perp_lcp_workspace *c, int i)
{
    return c->data.upper ? c->data.upper[i] : INFINITY;
}

/* Asked before every pivot, and within eliminations, which take longer. */
static inline bool perp_lcp_is_cancelled(const perp_lcp_workspace *c)
{
    return c->settings.cancel && *c->settings.cancel;
}

/* ---- lcp_core.c: the problem in its scaled form ------------------------------------------------------------------ */

/* Scales and orients c->data, and clears the basis. */
void perp_lcp_core_load(perp_lcp_workspace *c, const perp_lemke_care *care);
/* Counts variable i from its other bound; its z must be nonbasic or about to leave. */
void perp_lcp_core_flip(perp_lcp_workspace *c, int i);
/* (n) z of the problem from the scaled one, at bounds exactly where nonbasic. */
void perp_lcp_core_point(const perp_lcp_workspace *c, double *z);
/* The residual of the class, by rows. */
double perp_lcp_residual_of(const perp_lcp_workspace *c, const double *z);
/* The same natural map over unit + |q_i| + what variables at their bounds contribute: `near` of natural_map.h. A far
 * point, good by its rows and not by this, needs a regular basis. */
double perp_lcp_near_residual(const perp_lcp_workspace *c, const double *z);
void perp_lcp_data_slack(const perp_lcp_data *data, const double *z, double *w);

/* ---- lcp_basis.c ------------------------------------------------------------------------------------------------- */

void perp_lcp_basis_clear(perp_lcp_workspace *c);
void perp_lcp_basis_append(perp_lcp_workspace *c, int row, int col); /* lists only: refresh afterwards */
/* H from the data; false if K is singular to rounding, or cancelled. May reorder `rows`. */
bool perp_lcp_basis_refresh(perp_lcp_workspace *c);
/* The condition number of K in the 1-norm, as the last refresh found it. */
double perp_lcp_basis_condition(const perp_lcp_workspace *c);
/* z[cols] and w from H, once refined. */
void perp_lcp_basis_values(perp_lcp_workspace *c);
/* Rates of all basic variables when z_e (entering_z) or w_e grows; returns the largest error on `rows` relative to the
 * terms that should have cancelled. */
double perp_lcp_basis_direction(perp_lcp_workspace *c, int e, bool entering_z);
/* z_e or w_e enters, z_l or w_l leaves; the rates are those of the last direction. */
void perp_lcp_basis_exchange(perp_lcp_workspace *c, int e, bool entering_z, int l, bool leaving_z);
/* The response of the tied basic variables (c->ties: z by index, w by ~index) to the perturbation of index j. */
void perp_lcp_basis_perturbation(perp_lcp_workspace *c, int j, int count, const int *ties, double *response);

/* ---- lcp_pivot.c: the method ------------------------------------------------------------------------------------- */

/* `covering` as in perp_lemke_attempt. */
perp_pivot_end perp_lcp_pivot(perp_lcp_workspace *c, const double *covering, int max_pivots);

/* ---- mlcp_start.c -------------------------------------------------------------------------------------------------
 */

typedef enum perp_free_start {
    PERP_FREE_START_OK,
    PERP_FREE_START_INFEASIBLE, /* equations contradict each other: c->farkas proves it */
    PERP_FREE_START_SINGULAR,   /* no basis holds the free variables */
    PERP_FREE_START_CANCELLED
} perp_free_start;

/* Appends the free variables to the cleared basis, with as few others as make K regular. Redundant equations and free
 * variables without effect are left out: their z stays 0. */
perp_free_start perp_lcp_start_free(perp_lcp_workspace *c);

/* ---- lcp_farkas.c ------------------------------------------------------------------------------------------------ */

/* Whether u (n, of the rows of the problem; cleaned in place), or the integers that it is near multiples of, proves
 * that no point meets the inequalities; c->farkas is then the proof. */
bool perp_lcp_prove_infeasible(perp_lcp_workspace *c, double *u);

/* ---- lcp_polish.c ------------------------------------------------------------------------------------------------ */

/* The point of the present complementary basis, from the data of the problem, with refinement; returns its residual. */
double perp_lcp_polish(perp_lcp_workspace *c, double *z);
/* Whether K, as the last polish factored it, is far from singular. */
bool perp_lcp_is_regular(perp_lcp_workspace *c);

/* ---- lcp_lemke.c: one attempt, for lcp, mlcp and mcp alike ------------------------------------------------------- */

typedef struct perp_lemke_attempt {
    perp_lemke_care care;
    const double *covering; /* of the rows of the problem; NULL: ones in the scaled problem */
    const int *warm_basis;  /* NULL: cold */
    bool only_warm;         /* a warm basis that is singular ends the attempt; else it starts cold */
} perp_lemke_attempt;

/* Loads the data, runs and judges on the data without regularisation. The point, its basis and its residual are left in
 * c->point, c->basis and `residual`; the direction of a ray in c->rate_z, c->rate_w and ray_index; the
 * proof of INFEASIBLE in c->farkas. */
perp_outcome perp_lcp_attempt(perp_lcp_workspace *c, const perp_lemke_attempt *how, double *residual);
perp_lemke_care perp_lemke_care_plain(void);
/* Copies point, basis and ray out. */
void perp_lcp_deliver(perp_lcp_workspace *c, perp_outcome outcome, double residual, perp_lcp_solution *solution,
                      perp_lcp_info *info);

#endif
