/* determined.h - is the motion that linear equations leave the only one?
 *
 * Rows of the equations are added up as squares, each by its own length; where the sum is positive definite beyond
 * rounding, the equations leave one point at most. Where they do not, what else has to hold may still leave one, or
 * many: of two points off in opposite directions the nearest motions are then the same, or not, unless the directions
 * happen to be normal to all others. They are put together from unlike numbers. */
#ifndef PERP_SRC_STEP_DETERMINED_H
#define PERP_SRC_STEP_DETERMINED_H

#include <stdbool.h>

/* square (n x n, its lower triangle) += row row' / row.row. `dofs` says where the `count` values stand; NULL: at
 * 0 .. count - 1. */
void perp_determined_add(int n, int count, const int *dofs, const double *values, double *square);
/* Whether they leave one point; `square` is spoilt. Where they do not, `free_way` (n; NULL: not asked for, and neither
 * is `copy`, of n x n) is a direction that none of them forbids, its largest entry 1. */
bool perp_determined_is_one(int n, double *square, double *copy, double *free_way);
/* Entry i of the directions in which other motions are looked for, between 1/2 and 1 or -1 and -1/2. */
double perp_determined_probe(int i);

#endif
