/* convex_least.h - the least-norm problem that multipliers of least norm (convex_least.c) and proofs (convex_proof.c)
 * have in common. */
#ifndef PERP_SRC_SOLVER_CONVEX_LEAST_H
#define PERP_SRC_SOLVER_CONVEX_LEAST_H

#include "solver/convex_core.h"

/* Of K, by slack: c->part; a cone's in its first. */
enum { PERP_PART_NONE, PERP_PART_ALL, PERP_PART_RAY };

typedef struct perp_least {
    perp_convex_workspace *c;
    const double *shift, *target, *load; /* c, e, r; NULL: zero */
    const double *ray;                   /* slack vector: unit directions of PERP_PART_RAY */
    double *v;                           /* n: at->x */
    double *u;                           /* m: A v + c */
    double *y, *z;                       /* at->y, at->z */
    double *gradient;                    /* n; of what is minimised */
    const double *columns;               /* n: size of all that touches an unknown */
    double pull; /* 1/2 pull columns v^2 is added: keeps v finite where the minimum is not attained */
    double value;
} perp_least;

/* From v = 0, with the derivative there as `guess` (a slack vector, as an argument of P; or NULL) has it, until the
 * gradient is at most `enough`; leaves y and z, and for perp_least_refine these in `saved` and u in `ds_affine`. */
void perp_least_minimise(perp_least *l, const double *guess, double enough, int passes);

/* Refines the y and z in `saved`, on the pieces of P at the u in `ds_affine`, with l->columns and the matrix's base
 * set: y and z, also in `saved`. */
void perp_least_refine(perp_least *l);

/* n: size of all that touches an unknown. */
void perp_least_columns(perp_convex_workspace *c, double *columns);

#endif
