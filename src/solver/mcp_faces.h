/* mcp_faces.h - all solutions of an mcp, from the lcp that it amounts to.
 *
 * The search (lcp_search.h) gives the faces as sets of indices; here their corners are found (extreme_rays.h), each is
 * solved for from the entries of the lcp by complete pivoting on its zeros, counted in the units of the mcp, judged by
 * its residual, and sorted. Nothing depends on addresses or time, so the result is the same on every run.
 */
#ifndef PERP_SRC_SOLVER_MCP_FACES_H
#define PERP_SRC_SOLVER_MCP_FACES_H

#include <perp/solver.h>

#include "solver/lcp_scale.h"

/* The lcp: w = M x + q, x_j and w_j complementary and >= 0 for j < pairs, else x_j free and w_j = 0. First come the
 * variables with a bound, z = origin + sign x; from `uppers` on, of those with two bounds, the part b of F = a - b and
 * upper - z; from `pairs` on the free ones. */
typedef struct perp_mcp_lcp {
    const perp_mcp *mcp;
    int n, uppers, pairs;
    const int *index;     /* n: the variable of the mcp */
    const double *origin; /* n of the mcp */
    const double *sign;   /* n of the mcp */
    perp_lcp_scaled scaled;
} perp_mcp_lcp;

/* As perp_mcp_enumerate, everything being checked already: OK, OUT_OF_MEMORY, CANCELLED, CAPACITY. */
perp_status perp_mcp_faces_enumerate(const perp_mcp_lcp *lcp, const perp_lcp_enumerate_settings *settings,
                                     const perp_allocator *allocator, perp_lcp_solution_set **set);

/* More corners than this while a face is worked out end in CAPACITY: an n-dimensional cube has 2^n. */
enum { PERP_MCP_CORNERS_MOST = 20000 };

#endif
