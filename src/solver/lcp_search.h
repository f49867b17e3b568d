/* lcp_search.h - the maximal complementary faces of {z >= 0, w = M z + q >= 0}.
 *
 * F = {z >= 0, M z + q >= 0} is a polyhedron without lines, and the solutions of the lcp are those of its faces on
 * which z_i w_i = 0 for every i. A face is told by its tight set, the variables among z_1..z_n, w_1..w_n that are 0 all
 * over it; it lies inside another face iff its tight set holds the other's. For a complementary index set a the piece
 * {z_a >= 0, z_rest = 0, w_a = 0, w_rest >= 0} is such a face, so the maximal pieces are the maximal complementary
 * faces: duplicates and containment are decided by sets of indices, not by comparing points.
 *
 * Some variables may be `given` as zero from the start: an equation is a w_i that is, and a z_i whose w_i is such an
 * equation is any nonnegative number.
 */
#ifndef PERP_SRC_SOLVER_LCP_SEARCH_H
#define PERP_SRC_SOLVER_LCP_SEARCH_H

#include "solver/lcp_dictionary.h"

/* A face, by its tight set, with a basis of one of its vertices. */
typedef struct perp_lcp_found {
    perp_lcp_variables tight, basis;
} perp_lcp_found;

/* The caller fills the first five; the rest is the result, in the arena. */
typedef struct perp_lcp_search {
    const perp_lcp_scaled *scaled;
    perp_lcp_variables given;
    int64_t max_nodes;
    const volatile bool *cancel; /* may be NULL */
    perp_arena *arena;

    perp_lcp_dictionary *levels; /* n + 2: one for each depth, and one to spare */
    perp_lcp_found *found;
    int found_count, found_capacity;
    int nested_count; /* those found with z_i and w_i both tight for some i */
    int64_t nodes;
    bool complete;
    bool full;          /* too many faces were found: stop */
    perp_status status; /* not OK: stop */
} perp_lcp_search;

/* OK, OUT_OF_MEMORY, CANCELLED. */
perp_status perp_lcp_search_run(perp_lcp_search *search);

#endif
