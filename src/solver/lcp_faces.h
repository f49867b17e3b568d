/* lcp_faces.h - all solutions of an lcp, written as the faces of the problem that it stands for.
 *
 * perp_lcp_enumerate asks this of a problem as it is; perp_mcp_enumerate of the lcp that an mcp amounts to. The search
 * (lcp_search.h) gives the faces as sets of indices; here their corners are found (lcp_corners.h), each is solved for
 * from the entries of the lcp by elimination with complete pivoting on its zeros, mapped, judged by the residual of the
 * problem, and sorted. Nothing depends on addresses or time, so the result is the same on every run.
 */
#ifndef PERP_SRC_SOLVER_LCP_FACES_H
#define PERP_SRC_SOLVER_LCP_FACES_H

#include <perp/solver.h>

#include "solver/lcp_corners.h"

/* The lcp and what it stands for. `map` must be affine and one to one on every face. */
typedef struct perp_lcp_image {
    perp_lcp lcp;             /* n <= PERP_LCP_ENUMERATE_MAX_N */
    perp_lcp_variables given; /* zero from the start */
    bool doubtful;            /* the lcp is not the problem to the last bit, and solutions may have been lost by that */
    int n;                    /* of the problem */
    int line_count;
    const double *lines; /* n each, largest magnitude 1: directions in which every face goes on, both ways */
    /* The problem's point z, or direction, from the lcp's; `zero` holds the corner's zeros. */
    void (*map)(const void *context, perp_lcp_variables zero, const double *z_lcp, bool ray, double *z);
    double (*residual)(const void *context, const double *z, double unit);
    const void *context;
} perp_lcp_image;

/* The checks of settings that every enumeration begins with: BAD_INPUT. */
perp_status perp_lcp_enumerate_begin(const perp_lcp_enumerate_settings *settings, perp_error *error);

/* As perp_lcp_enumerate, the problem and the settings being checked already. */
perp_status perp_lcp_faces_enumerate(const perp_lcp_image *image, const perp_lcp_enumerate_settings *settings,
                                     const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error);

#endif
