/* motion_ways.h - is a motion the only one that meets the law of a step with the normal forces at hand?
 *
 * At fixed normal forces a quasistatic step is a convex problem (Theorem 1 of Trinkle, Berard and Pang 2005), and a
 * convex rung's is one anyway. So motions and forces that solve it are all pairs of two convex sets, and another motion
 * exists if and only if one begins at the answer: if some d != 0 has (design 4.7, Proposition 1 corrected)
 *
 *     A d = 0,  C d = 0
 *     d_n = 0 where the contact bears force, >= 0 where it touches
 *     where mu fn > 0:  d_t = 0 where friction is inside of its cone;  d_t along -ft, or 0, where it sticks on the
 * edge; d_t along u_t, this way or that, where it slides limits as contacts without friction
 *
 * With a polygon D the normal cone of its face at ft takes the place of the direction -ft. With Anitescu's law the same
 * is asked of (u_n + room, u_t) and the dual cone: of the face in which r lies the rays are zero, the others >= 0.
 *
 * The d are a polyhedral cone, E d = 0 and G d >= 0. It contains a line where the rows of both leave one, and without
 * a line it is {0} if and only if the largest sum of G d, held below 1, is 0 (Stiemke): one rank and one LP. */
#ifndef PERP_SRC_ANALYSIS_MOTION_WAYS_H
#define PERP_SRC_ANALYSIS_MOTION_WAYS_H

#include "analysis/motion_problem.h"

typedef enum ways_verdict { WAYS_NONE, WAYS_ONE_WAY, WAYS_BOTH_WAYS, WAYS_UNSURE } ways_verdict;

typedef struct motion_ways {
    ways_verdict verdict;
    double *direction; /* n: unless NONE; its largest entry in units[] is 1 m or rad */
    double margin;     /* smallest pivot by which the rows leave no line, of 1; 0: they leave one */
} motion_ways;

/* Cones of linear equations and inequalities, put together row by row; every row is scaled by its largest entry. */
typedef struct way_rows {
    perp_arena *arena;
    int n, count, capacity;
    double *rows;   /* count x n */
    bool *equation; /* by row */
    bool failed;    /* without memory */
} way_rows;

/* What is asked of d at the point, where numbers up to `zero` count as 0. */
void perp_ways_of_law(const motion_problem *p, const motion_point *point, double zero, way_rows *rows);
/* The printed Proposition 1 (32), for comparison. */
void perp_ways_as_printed(const motion_problem *p, const motion_point *point, double zero, way_rows *rows);
/* A row of zeros; NULL without memory. */
double *perp_way_row(way_rows *rows, bool equation);
/* A way along which no inequality is 0 that need not be, into `direction` (n zeros): a way on the border may leave a
 * set whose border is curved, this one does not. False: there is none but ways on which all are. OUT_OF_MEMORY. */
perp_status perp_ways_inwards(way_rows *rows, double *direction, bool *found, perp_error *error);
/* Decides; `direction` is in the arena of the rows. OUT_OF_MEMORY. */
perp_status perp_ways_decide(way_rows *rows, motion_ways *ways, perp_error *error);

#endif
