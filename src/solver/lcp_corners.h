/* lcp_corners.h - the vertices and extreme rays of a face, by the double description method.
 *
 * A dictionary without redundant columns (none of them zero on the whole face) writes the face as
 *     {y >= 0, b + A y >= 0},   homogenised: the cone {t >= 0, y >= 0, b t + A y >= 0} in (t, y).
 * The first d + 1 inequalities alone have the unit vectors as extreme rays: the dictionary's own vertex and one
 * direction for each column. The other inequalities, one for each basic variable, are put in one after the other: rays
 * on the wrong side go, and each pair of adjacent rays on opposite sides gives a new one between them. Two rays are
 * adjacent iff no third ray has all the zeros that they share.
 *
 * A ray is stored by the values of all variables and t, not by (t, y): a variable whose inequality is in has values >=
 * 0 on all rays, so that later combinations, with positive coefficients, never cancel in it, and zeros are exact. Only
 * a variable that is still to come needs a decision by tolerance, once.
 */
#ifndef PERP_SRC_SOLVER_LCP_CORNERS_H
#define PERP_SRC_SOLVER_LCP_CORNERS_H

#include "solver/lcp_dictionary.h"

/* More corners than this while a face is worked out end in CAPACITY: an n-dimensional cube has 2^n. */
enum { PERP_LCP_CORNERS_MOST = 20000 };

typedef struct perp_lcp_corner {
    perp_lcp_variables zero; /* variables that are 0; bit PERP_LCP_ARTIFICIAL stands for t: set for a ray */
    double *value;           /* 2 n + 1: z, w, t, the largest magnitude being 1; z / t is the point of a vertex */
} perp_lcp_corner;

typedef struct perp_lcp_corners {
    perp_arena *arena; /* takes what is needed and keeps it until it is cleared */
    perp_lcp_corner *items;
    int count, capacity;
    int *signs;
    int signs_capacity;
    const volatile bool *cancel; /* may be NULL */
    int64_t comparisons;         /* made so far, of all faces, and the most of them; 0: without end */
    int64_t max_comparisons;
} perp_lcp_corners;

/* Replaces the contents by the corners of the face. OK, OUT_OF_MEMORY, CAPACITY, CANCELLED. */
perp_status perp_lcp_corners_find(perp_lcp_corners *corners, const perp_lcp_dictionary *d);

#endif
