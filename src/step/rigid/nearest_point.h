/* nearest_point.h - the point of a polyhedron that is nearest to 0, or a proof that the polyhedron is empty,
 *
 *     min 1/2 |x|^2,   A x + b >= 0,   C x = d     (a cone_program whose cones have one row each; H and g are not read)
 *
 * by Goldfarb and Idnani's dual method (1983), which goes on from where it was: rows that were added since cost a few
 * steps each. A tree of such problems, each its parent's with more rows, is searched by copying the parent's state. All
 * rows have unit length (perp_nearest_scale). */
#ifndef PERP_SRC_STEP_NEAREST_POINT_H
#define PERP_SRC_STEP_NEAREST_POINT_H

#include "step/rigid/cone_program.h"

/* x is nearest on the rows of the working set, met with equality; their normals are Q_1 R, with Q orthogonal. */
typedef struct nearest_point {
    int n, count;
    double *q; /* n x n, columns one after the other */
    double *r; /* n x n, likewise, upper triangle */
    double *x; /* n */
    double *u; /* n: multipliers of the working set, >= 0 for inequalities */
    int *row;  /* n: of the working set; equation k is -1 - k */
} nearest_point;

/* Shared by the states of one search. */
typedef struct nearest_scratch {
    double *d, *step, *a; /* n each */
    double work;          /* multiplications so far, about: the same on every machine */
} nearest_scratch;

typedef enum { NEAREST_POINT, NEAREST_NONE, NEAREST_UNSURE } nearest_verdict;

void perp_nearest_lay_out(memory_block *block, int n, nearest_point *state);
void perp_nearest_lay_out_scratch(memory_block *block, int n, nearest_scratch *scratch);
/* No rows. */
void perp_nearest_clear(nearest_point *state, int n);
void perp_nearest_copy(nearest_point *to, const nearest_point *from);
/* Gives the program's rows and equations from these on unit length. */
void perp_nearest_scale(cone_program *p, int first_row, int first_equation);
/* Goes on from `state`, all of whose rows the program has at the same places. NONE is proved; UNSURE: neither was come
 * to within rounding, and `state` is of no use. */
nearest_verdict perp_nearest_solve(const cone_program *p, nearest_point *state, nearest_scratch *scratch);

#endif
