/* cone_program.h - small dense cone programs, put together row by row: what the rigid rungs ask of the convex solver
 * (which motion is the smallest, which forces are the least, why there is no answer, the fixed point's inner problem).
 *
 *     min 1/2 x'H x + g'x,   every cone A_k x + b_k in its second-order cone,   C x = d
 *
 * A cone of one row is an inequality. Memory grows with the largest program that was begun, and is kept. */
#ifndef PERP_SRC_STEP_CONE_PROGRAM_H
#define PERP_SRC_STEP_CONE_PROGRAM_H

#include "step/common/contact_step.h"

typedef struct cone_program {
    perp_allocator allocator;
    perp_convex_workspace *solver;
    memory_block block;
    int n, rows, cones, equations; /* of the program */
    int max_n, max_rows, max_equations;
    int max_iterations;            /* of the interior point; 0: its own, which persists where 1e-12 is nearly reached */
    double *h, *g, *a, *b, *c, *d; /* n x n, n, rows x n, rows, equations x n, equations */
    double *b_slack, *d_slack; /* what a row may be off by and count as met: of proofs; the solvers do not read it */
    int *cone_rows;
    perp_convex_point point; /* the answer: x, y by row, y_equality */
} cone_program;

perp_status perp_cone_program_open(cone_program *p, const perp_allocator *allocator, perp_error *error);
void perp_cone_program_close(cone_program *p);
/* An empty program of n unknowns, H and g zero, with room for so many rows and equations; max_iterations is 0. */
perp_status perp_cone_program_begin(cone_program *p, int n, int max_rows, int max_equations, perp_error *error);
/* A cone of so many rows, all zero; returns the first of its rows of A (n each). Its b begins at
 * p->b[p->rows - rows]. */
double *perp_cone_program_cone(cone_program *p, int rows);
/* An equation with zero coefficients; returns them. */
double *perp_cone_program_equation(cone_program *p, double target);
/* Do the equations alone leave one point at most? Not said where that is a matter of rounding. H is where this is
 * worked out, and zero afterwards. */
bool perp_cone_program_is_determined(cone_program *p);
perp_status perp_cone_program_solve(cone_program *p, double tolerance, bool minimum_norm, perp_convex_info *info,
                                    perp_error *error);
/* The same by the dual active set, for many small programs most of which have no point: H is positive definite, and
 * every cone has one row. Large ones by the interior point all the same. */
perp_status perp_cone_program_solve_dual(cone_program *p, double tolerance, perp_convex_info *info, perp_error *error);

#endif
