/* friction_small.h - Coulomb friction of a few contacts, without the set-up that larger problems repay.
 *
 * The problem becomes u = W r + q with cones scaled to L and W, q of order 1: for a problem with bodies W = X'X and q =
 * X'y + w, with A = L L', X = L^-1 H', y = -L^-1 f, and v = L^-T (y + X r) is the answer's. */
#ifndef PERP_SRC_SOLVER_FRICTION_SMALL_H
#define PERP_SRC_SOLVER_FRICTION_SMALL_H

#include <perp/solver.h>

enum {
    PERP_FRICTION_SMALL = 6,                            /* contacts */
    PERP_FRICTION_SMALL_ROWS = 3 * PERP_FRICTION_SMALL, /* of W */
    PERP_FRICTION_SMALL_UNKNOWNS = 48,
    PERP_FRICTION_SMALL_ENTRIES = 512, /* of the blocks of A */
};

typedef struct perp_friction_small {
    const perp_contact_friction *contact; /* one of the two */
    const perp_friction *local;
    int contacts, n, m; /* m: rows of W, those of contacts without friction only their normal */
    int start[PERP_FRICTION_SMALL + 1], row_of[PERP_FRICTION_SMALL_ROWS], pivots[PERP_FRICTION_SMALL_ROWS];
    double unit;                            /* of velocities and forces */
    double scale[PERP_FRICTION_SMALL_ROWS]; /* S: u' = S u / unit, r = unit S r' */
    double w[PERP_FRICTION_SMALL_ROWS * PERP_FRICTION_SMALL_ROWS], q[PERP_FRICTION_SMALL_ROWS];
    double matrix[PERP_FRICTION_SMALL_ROWS * PERP_FRICTION_SMALL_ROWS];
    double factor[PERP_FRICTION_SMALL_ENTRIES];                              /* L, block by block */
    double columns[PERP_FRICTION_SMALL_UNKNOWNS * PERP_FRICTION_SMALL_ROWS]; /* X, n x m */
    double loads[PERP_FRICTION_SMALL_UNKNOWNS];                              /* y */
    double r[PERP_FRICTION_SMALL_ROWS], step[PERP_FRICTION_SMALL_ROWS], trial[PERP_FRICTION_SMALL_ROWS];
    double u[PERP_FRICTION_SMALL_ROWS], t[PERP_FRICTION_SMALL_ROWS];
    double natural[PERP_FRICTION_SMALL_ROWS], argument[PERP_FRICTION_SMALL_ROWS];
    double v[PERP_FRICTION_SMALL_UNKNOWNS], force[PERP_FRICTION_SMALL_ROWS]; /* the answer, in the problem's units */
    double none[PERP_FRICTION_SMALL_UNKNOWNS];                               /* zero: multipliers of bounds */
    perp_contact_friction_residual parts;
    double residual;
    int iterations, factorisations;
} perp_friction_small;

/* False where the problem has more than a few contacts, or bounds, equations or no inertia. */
bool perp_friction_small_take_contact(perp_friction_small *small, const perp_contact_friction *problem);
bool perp_friction_small_take_local(perp_friction_small *small, const perp_friction *problem);

/* Each contact exactly in turn, then semismooth Newton; from `start` (forces as given; NULL: none). True if the
 * residual of the problem's class says so at `v` and `force`. */
bool perp_friction_small_solve(perp_friction_small *small, const perp_friction_settings *settings, const double *start);

/* No other forces have the same velocities: they are those of least norm. Spoils `matrix`. */
bool perp_friction_small_is_unique(perp_friction_small *small);

#endif
