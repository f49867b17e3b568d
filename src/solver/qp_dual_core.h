/* qp_dual_core.h - the state of the dual active set method for dense qps; its working set is in qp_dual_set.h.
 *
 * Constraints have one numbering: the equalities, the rows of A, the lower bounds, the upper bounds (as -x_i >=
 * -upper_i). Bounds are rows of one entry and are never written out. Equalities are never dropped.
 */
#ifndef PERP_SRC_SOLVER_QP_DUAL_CORE_H
#define PERP_SRC_SOLVER_QP_DUAL_CORE_H

#include <perp/solver.h>

#include "base/arena.h"
#include "solver/qp_dual.h"
#include "solver/qp_dual_set.h"

#define PERP_QP_DUAL_NAME "dual" /* as info->method and the cascade have it */

struct perp_qp_dual_workspace {
    perp_workspace memory;
    int capacity_n, capacity_rows, capacity_equalities;

    const perp_qp *problem; /* while solving */
    const perp_convex_settings *settings;
    int n, total; /* unknowns, constraints of all kinds */
    int limit;    /* of steps */
    double unit;  /* of residuals: 1, or 0 for relative ones */
    double pull;  /* |J'g|, the size of the objective's pull in the metric of H^-1 */

    double *l; /* n x n: Cholesky factor of H */
    perp_dual_set set;
    bool refined; /* x and u are as accurate as they get */
    int pending;  /* the constraint that is being brought in, -1: none */
    double pending_u;

    perp_dual_direction along;
    double *root;                /* n: square roots of the diagonal of H^-1 */
    double *norm;                /* total: length of a constraint in the metric of H^-1; negative: not yet known */
    double *allowed;             /* total: violations up to this were found to be rounding */
    bool *inside;                /* total: is in the working set */
    double *defect_x, *defect_u; /* n: right-hand sides of a correction */
    long double *wide;           /* n */
    int *wanted;                 /* n: a working set to rebuild */

    perp_convex_point point; /* what is handed out, in arrays of its own */
    bool skipped_equality;
    int iterations, factorisations;
};

typedef struct perp_qp_dual_row {
    const double *entries; /* n; not of a bound */
    int index;             /* of a bound's unknown; -1: a full row */
    double sign;           /* of a bound's only entry */
    double target;         /* row . x >= target */
} perp_qp_dual_row;

perp_qp_dual_row perp_qp_dual_row_of(const perp_qp_dual_workspace *c, int k);
bool perp_qp_dual_row_exists(const perp_qp_dual_workspace *c, int k); /* false: an infinite bound */

/* row . x - target, and the sum of the magnitudes of its terms, of which its rounding error is a small multiple. */
double perp_qp_dual_slack(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row);
double perp_qp_dual_magnitude(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row);
double perp_qp_dual_norm(perp_qp_dual_workspace *c, int k);

/* H = L L', an empty working set and `root`; false if H is not positive definite to rounding, with the row where that
 * shows. */
bool perp_qp_dual_factor_h(perp_qp_dual_workspace *c, int *failed_row);
/* An empty working set: J = L^-T. */
void perp_qp_dual_clear(perp_qp_dual_workspace *c);
/* d, z and step of constraint k. */
void perp_qp_dual_direction(perp_qp_dual_workspace *c, int k);
/* Adds the constraint of the last direction, which must be independent, with the multiplier u. */
void perp_qp_dual_add(perp_qp_dual_workspace *c, int k, double u);
void perp_qp_dual_drop(perp_qp_dual_workspace *c, int position);

/* x and u of the working set from nothing, and by up to `turns` corrections with residuals in long double. The latter
 * says whether the corrections died out. */
void perp_qp_dual_solve_on_set(perp_qp_dual_workspace *c);
bool perp_qp_dual_refine(perp_qp_dual_workspace *c, int turns);

/* What `to` has arrays for. */
void perp_qp_dual_copy_point(const perp_qp *p, const perp_convex_point *from, perp_convex_point *to);

/* Multipliers into `c->point`: one, or the zeros and scale times those of the working set. Where they must not be
 * negative they are not. */
void perp_qp_dual_put(const perp_qp_dual_workspace *c, int k, double value);
void perp_qp_dual_put_all(const perp_qp_dual_workspace *c, const double *values, double scale);

/* The proof that nothing meets constraint k together with the working set, on which it depends: n_k = N step (of the
 * last direction). Returns perp_qp_dual_measure of it; `c->point` has it, scaled, in its multipliers. */
double perp_qp_dual_prove(perp_qp_dual_workspace *c, int k);
/* Of the multipliers in `c->point`, as a proof. */
double perp_qp_dual_measure(const perp_qp_dual_workspace *c);

#endif
