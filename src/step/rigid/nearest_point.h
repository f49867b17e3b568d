/* nearest_point.h - the point of a polyhedron that is nearest to 0, or a proof that the polyhedron is empty,
 *
 *     min 1/2 |x|^2,   A x + b >= 0,   C x = d     (a cone_program whose cones have one row each; H and g are not read)
 *
 * by the steps of the dual active set (solver/qp_dual_set.h), which go on from where they were: rows that were added
 * since cost a few steps each. A tree of such problems, each its parent's with more rows, is searched by copying the
 * parent's working set. Its names are those of rows, and -1 - k for equation k. All rows have unit length
 * (perp_nearest_scale). Unlike qp_dual.c this does not refine: where rounding counts it says so. */
#ifndef PERP_SRC_STEP_NEAREST_POINT_H
#define PERP_SRC_STEP_NEAREST_POINT_H

#include "solver/qp_dual_set.h"
#include "step/rigid/cone_program.h"

/* Shared by the states of one search. */
typedef struct nearest_scratch {
    perp_dual_direction along;
    double *left; /* n: of a proof */
    double work;  /* multiplications so far, about: the same on every machine */
} nearest_scratch;

typedef enum { NEAREST_POINT, NEAREST_NONE, NEAREST_UNSURE } nearest_verdict;

void perp_nearest_lay_out(memory_block *block, int n, perp_dual_set *state);
void perp_nearest_lay_out_scratch(memory_block *block, int n, nearest_scratch *scratch);
/* No rows. */
void perp_nearest_clear(perp_dual_set *state, int n);
/* Gives the program's rows and equations from these on unit length. */
void perp_nearest_scale(cone_program *p, int first_row, int first_equation);
/* Goes on from `state`, all of whose rows the program has at the same places. NONE is proved; UNSURE: neither was come
 * to within rounding, and `state` is of no use. */
nearest_verdict perp_nearest_solve(const cone_program *p, perp_dual_set *state, nearest_scratch *scratch);

#endif
