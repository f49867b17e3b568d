/* instant_sets.h - the solutions of instant_cells.h without those that are within others. */
#ifndef PERP_SRC_STEP_INSTANT_SETS_H
#define PERP_SRC_STEP_INSTANT_SETS_H

#include "step/instant/instant_cells.h"

/* A convex set of rates, in the units of the search, and where it is one point, forces with it. */
typedef struct instant_set {
    perp_polyhedron hull;
    instant_cells_point point; /* dimensions 0 */
} instant_set;

typedef struct instant_sets {
    instant_set *sets; /* in the memory of the cells */
    int count, capacity;
} instant_sets;

/* All of them. OUT_OF_MEMORY, CANCELLED. */
perp_status perp_instant_sets_find(instant_cells *cells, instant_sets *sets, instant_cells_result *result,
                                   perp_error *error);

#endif
