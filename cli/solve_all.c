#include "solve_all.h"

#include <stdlib.h>

static perp_status find_of_mlcp(const perp_mlcp *mlcp, const perp_lcp_enumerate_settings *settings,
                                perp_lcp_solution_set **set, perp_error *error)
{
    const size_t n = (size_t)mlcp->n;
    double *bounds = calloc(2 * n + 1, sizeof *bounds);
    if (!bounds) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    perp_mcp mcp;
    perp_mlcp_as_mcp(mlcp, bounds, bounds + n, &mcp);
    const perp_status status = perp_mcp_enumerate(&mcp, settings, NULL, set, error);
    free(bounds);
    return status;
}

perp_status all_solutions_find(const perp_problem *problem, const perp_lcp_enumerate_settings *settings,
                               all_solutions *all, perp_error *error)
{
    *all = (all_solutions){.set.n = perp_problem_size(problem)};
    perp_status status;
    switch (problem->kind) {
    case PERP_PROBLEM_MLCP:
        status = find_of_mlcp(&problem->mlcp, settings, &all->found, error);
        break;
    case PERP_PROBLEM_MCP:
        status = perp_mcp_enumerate(&problem->mcp, settings, NULL, &all->found, error);
        break;
    default:
        status = perp_lcp_enumerate(&problem->lcp, settings, NULL, &all->found, error);
        break;
    }
    if (status == PERP_STATUS_OK) {
        all->set = *all->found;
    }
    return status;
}

/* ---- membership -------------------------------------------------------------------------------------------------- */

static void bounds_of(const perp_problem *problem, int i, double *lower, double *upper)
{
    *lower = 0.0;
    *upper = INFINITY;
    if (problem->kind == PERP_PROBLEM_MLCP && problem->mlcp.free[i]) {
        *lower = -INFINITY;
    } else if (problem->kind == PERP_PROBLEM_MCP) {
        *lower = problem->mcp.lower[i];
        *upper = problem->mcp.upper[i];
    }
}

/* Whether z_i is `bound` on the whole face; the enumeration gives bounds exactly. */
static bool is_at(const perp_lcp_face *face, int n, int i, double bound)
{
    bool at = isfinite(bound);
    for (int k = 0; k < face->vertex_count && at; k++) {
        at = face->vertices[(size_t)k * (size_t)n + (size_t)i] == bound;
    }
    for (int k = 0; k < face->ray_count && at; k++) {
        at = face->rays[(size_t)k * (size_t)n + (size_t)i] == 0.0;
    }
    return at;
}

/* A solution lies in a maximal face iff it shares the face's zeros: the bounds that hold all over it, and w_i = 0 for
 * the others. */
static bool face_contains(const perp_lcp_face *face, const perp_problem *problem, const all_solutions_point *x)
{
    const int n = perp_problem_size(problem);
    for (int i = 0; i < n; i++) {
        double lower, upper;
        bounds_of(problem, i, &lower, &upper);
        const bool low = is_at(face, n, i, lower), high = is_at(face, n, i, upper);
        const double off = low ? x->z[i] - lower : high ? x->z[i] - upper : x->w[i];
        if (fabs(off) > x->tolerance * (low || high ? x->z_scale : x->w_scale[i])) {
            return false;
        }
    }
    return true;
}

bool all_solutions_contain(const all_solutions *all, const perp_problem *problem, const all_solutions_point *x,
                           const volatile bool *cancel)
{
    for (int k = 0; k < all->set.face_count && !(cancel && *cancel); k++) {
        if (face_contains(&all->set.faces[k], problem, x)) {
            return true;
        }
    }
    return false;
}

void all_solutions_free(all_solutions *all)
{
    perp_lcp_solution_set_free(all->found);
}
