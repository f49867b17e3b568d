/* lcp_search.h - the maximal complementary faces of {z >= 0, w = M z + q >= 0}.
 *
 * F = {z >= 0, M z + q >= 0} is a polyhedron without lines, and the solutions of the lcp are those of its faces on
 * which z_i w_i = 0 for every i. A face is told by its tight set, the variables among z_1..z_n, w_1..w_n that are 0 all
 * over it; it lies inside another face iff its tight set holds the other's. For a complementary index set a the piece
 * {z_a >= 0, z_rest = 0, w_a = 0, w_rest >= 0} is such a face, so the maximal pieces are the maximal complementary
 * faces: duplicates and containment are decided by sets of indices, not by comparing points.
 *
 * Some z_i may be free: their w_i are equations, and these indices are no pairs. F may then have lines, directions
 * along which no other variable changes; the search is in F without them.
 */
#ifndef PERP_SRC_SOLVER_LCP_SEARCH_H
#define PERP_SRC_SOLVER_LCP_SEARCH_H

#include "solver/cell_dictionary.h"

/* In sets of variables z_i is i and w_i is 64 + i; 63 is at the caller's disposal. */
enum { PERP_LCP_W = 64 };

typedef struct perp_lcp_variables {
    uint64_t z, w;
} perp_lcp_variables;

static inline bool perp_lcp_has(perp_lcp_variables set, int variable)
{
    return ((variable < PERP_LCP_W ? set.z : set.w) >> (variable & 63) & 1U) != 0;
}

static inline void perp_lcp_add(perp_lcp_variables *set, int variable)
{
    *(variable < PERP_LCP_W ? &set->z : &set->w) |= UINT64_C(1) << (variable & 63);
}

/* A face, by its tight set, with a basis of one of its vertices. */
typedef struct perp_lcp_found {
    perp_lcp_variables tight, basis;
} perp_lcp_found;

/* The caller fills the first five; the rest is the result, in the arena. */
typedef struct perp_lcp_search {
    const perp_cell_table *table; /* w = M z + q, scaled */
    int pairs;                    /* the indices below this, at most 63; z_i of the others is free */
    int64_t max_nodes;
    const volatile bool *cancel; /* may be NULL */
    perp_arena *arena;

    perp_cell_dictionary *levels; /* pairs + 2: one for each depth, and one to spare */
    perp_cell_dictionary root;    /* of all F, without lines */
    int64_t work;
    perp_lcp_found *found;
    int found_count, found_capacity;
    int nested_count; /* those found with z_i and w_i both tight for some i */
    int line_count;
    double *lines; /* table columns each: changes of z */
    int64_t nodes;
    bool complete;
    bool full;          /* too many faces were found: stop */
    perp_status status; /* not OK: stop */
} perp_lcp_search;

/* OK, OUT_OF_MEMORY, CANCELLED. */
perp_status perp_lcp_search_run(perp_lcp_search *search);

/* After a search: what is asked of variables that are in no pair, and whether they are rows, into d. */
void perp_lcp_search_goals(const perp_lcp_search *search, perp_cell_dictionary *d);
/* After a search: the dictionary of a face. YES or TROUBLE. */
perp_cell_answer perp_lcp_search_recall(const perp_lcp_search *search, const perp_lcp_found *found,
                                        perp_cell_dictionary *d);

/* The variable of a dictionary, of one in a set. */
static inline int perp_lcp_variable(const perp_cell_table *table, int variable)
{
    return variable < PERP_LCP_W ? table->rows + variable : variable - PERP_LCP_W;
}

#endif
