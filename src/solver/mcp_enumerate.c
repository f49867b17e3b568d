/* All solutions of lower <= z <= upper _|_ F = M z + q, for few bounds, through the lcp that it amounts to.
 *
 * Every variable is counted from a bound: z_i = origin_i + sign_i x_i.
 *   - A variable with equal bounds is a constant, and its F is not asked for anything. It goes into q.
 *   - One bound: x_i >= 0 complementary to sign_i F_i >= 0.
 *   - Two bounds: F_i = a_i - b_i with x_i complementary to a_i, and b_i to upper - z_i, all >= 0.
 *   - A free variable stays free, and its F_i is an equation.
 *
 * At a solution x, a and b are functions of z: what lies at z_i = lower has b_i = 0, what lies at upper a_i = 0, and
 * with different bounds no more than one of a, b is positive. On one face these functions are affine. So faces of the
 * lcp and of the mcp correspond one to one, vertices to vertices, and none lies inside another.
 *
 * The solutions are the complementary faces of the polyhedron of all inequalities: points, segments, and faces of
 * higher dimension with vertices and rays. lcp_search.h finds the maximal ones by branch and bound on dictionaries,
 * which looks at few of the 2^n complementary bases where few have a point; mcp_faces.h writes their corners.
 *
 * What can go wrong: the search meets its limits (on nodes, on faces, on corners of a face), or two numbers lie so near
 * to each other that double precision cannot tell a zero from a small entry. The first is CAPACITY or, as the second,
 * `complete` = false; what is listed has been judged by the residual in any case.
 */
#include "base/settings_size.h"
#include "problem/checks.h"
#include "solver/mcp_faces.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>

/* ---- the lcp -------------------------------------------------------------------------------------------------------
 */

/* (q + M origin)_i, and exactly 0 where that is within the rounding of the sum. */
static double shifted_q(const perp_mcp *mcp, const double *origin, int i)
{
    const int n = mcp->n;
    long double sum = mcp->q[i], size = fabsl(sum);
    for (int j = 0; j < n; j++) {
        const long double term = (long double)mcp->m[(size_t)i * (size_t)n + (size_t)j] * origin[j];
        sum += term;
        size += fabsl(term);
    }
    return fabsl(sum) <= (long double)(n + 1) * LDBL_EPSILON * size ? 0.0 : (double)sum;
}

/* Which bounds a variable has, that is no constant: 0 none, 1 one, 2 both. */
static int bound_count(const perp_mcp *mcp, int i)
{
    return isfinite(mcp->lower[i]) + isfinite(mcp->upper[i]);
}

/* Pairs of the lcp. */
static int count_pairs(const perp_mcp *mcp)
{
    int64_t pairs = 0;
    for (int i = 0; i < mcp->n; i++) {
        pairs += mcp->lower[i] == mcp->upper[i] ? 0 : bound_count(mcp, i);
    }
    return pairs < INT32_MAX ? (int)pairs : INT32_MAX;
}

/* Origins and signs of all, then the indices in their order. */
static void number(perp_mcp_lcp *lcp, int *index, double *origin, double *sign)
{
    const perp_mcp *mcp = lcp->mcp;
    for (int i = 0; i < mcp->n; i++) {
        const bool has_lower = isfinite(mcp->lower[i]), has_upper = isfinite(mcp->upper[i]);
        origin[i] = has_lower ? mcp->lower[i] : has_upper ? mcp->upper[i] : 0.0;
        sign[i] = has_lower || !has_upper ? 1.0 : -1.0;
    }
    for (int group = 0; group < 3; group++) { /* bounds, second bounds, none */
        for (int i = 0; i < mcp->n; i++) {
            const int bounds = mcp->lower[i] == mcp->upper[i] ? -1 : bound_count(mcp, i);
            if (group == 0 ? bounds > 0 : group == 1 ? bounds == 2 : bounds == 0) {
                index[lcp->n++] = i;
            }
        }
        lcp->uppers = group == 0 ? lcp->n : lcp->uppers;
        lcp->pairs = group < 2 ? lcp->n : lcp->pairs;
    }
    lcp->index = index;
    lcp->origin = origin;
    lcp->sign = sign;
}

static bool is_second(const perp_mcp_lcp *lcp, int j)
{
    return j >= lcp->uppers && j < lcp->pairs;
}

static double entry(const perp_mcp_lcp *lcp, int i, int j)
{
    const int row = lcp->index[i], column = lcp->index[j];
    if (is_second(lcp, i)) { /* upper - z */
        return row == column && !is_second(lcp, j) ? -1.0 : 0.0;
    }
    if (is_second(lcp, j)) { /* a = F + b */
        return row == column ? 1.0 : 0.0;
    }
    return lcp->sign[row] * lcp->sign[column] * lcp->mcp->m[(size_t)row * (size_t)lcp->mcp->n + (size_t)column];
}

/* BAD_INPUT where numbers overflow. */
static perp_status reduce(perp_mcp_lcp *lcp, perp_arena *arena)
{
    const perp_mcp *mcp = lcp->mcp;
    const size_t count = (size_t)mcp->n;
    int *index = PERP_ARENA_NEW(arena, int, 2 * count);
    double *origin = PERP_ARENA_NEW(arena, double, count), *sign = PERP_ARENA_NEW(arena, double, count);
    if (!index || !origin || !sign) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    number(lcp, index, origin, sign);
    const size_t n = (size_t)lcp->n;
    double *m = PERP_ARENA_NEW(arena, double, n *n), *q = PERP_ARENA_NEW(arena, double, n);
    if (!m || !q) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < lcp->n; i++) {
        const int own = index[i];
        q[i] = is_second(lcp, i) ? mcp->upper[own] - mcp->lower[own] : sign[own] * shifted_q(mcp, origin, own);
        if (!isfinite(q[i])) {
            return PERP_STATUS_BAD_INPUT;
        }
        for (int j = 0; j < lcp->n; j++) {
            m[(size_t)i * n + (size_t)j] = entry(lcp, i, j);
        }
    }
    const perp_lcp unscaled = {lcp->n, m, q};
    return perp_lcp_scale(&lcp->scaled, &unscaled, arena);
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static perp_status begin(const perp_lcp_enumerate_settings *settings, int n, int pairs, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_lcp_enumerate_settings, settings, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (!(settings->tolerance > 0.0)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is not positive", settings->tolerance);
    }
    if (settings->tolerance < FINEST_TOLERANCE) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is below %g, to which residuals are evaluated",
                         settings->tolerance, FINEST_TOLERANCE);
    }
    if (pairs > PERP_LCP_ENUMERATE_MAX_N) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "all solutions are enumerated up to n = %d, and this %s n = %d",
                         PERP_LCP_ENUMERATE_MAX_N, pairs == n ? "is" : "amounts to an lcp of", pairs);
    }
    return PERP_STATUS_OK;
}

static perp_status explain(perp_status status, perp_error *error)
{
    switch (status) {
    case PERP_STATUS_OK:
        return status;
    case PERP_STATUS_OUT_OF_MEMORY:
        return perp_fail(error, status, "no memory for the solutions of the complementarity problem");
    case PERP_STATUS_CANCELLED:
        return perp_fail(error, status, "the enumeration of solutions was cancelled");
    case PERP_STATUS_CAPACITY:
        return perp_fail(
            error, status,
            "a face of the solution set has more than %d corners, or finding them takes too many comparisons",
            PERP_MCP_CORNERS_MOST);
    default:
        return perp_fail(error, status, "the entries of the complementarity problem differ too much in magnitude");
    }
}

perp_status perp_mcp_enumerate(const perp_mcp *problem, const perp_lcp_enumerate_settings *settings,
                               const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    const perp_lcp_enumerate_settings defaults = perp_lcp_enumerate_settings_default();
    const perp_lcp_enumerate_settings *own = settings ? settings : &defaults;
    *set = NULL;
    perp_status status = perp_mcp_check(problem, error);
    status = status == PERP_STATUS_OK ? begin(own, problem->n, count_pairs(problem), error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_mcp_lcp lcp = {.mcp = problem};
    status = reduce(&lcp, &arena);
    status = status == PERP_STATUS_OK ? perp_mcp_faces_enumerate(&lcp, own, allocator, set) : status;
    perp_arena_clear(&arena);
    return explain(status, error);
}

perp_status perp_lcp_enumerate(const perp_lcp *problem, const perp_lcp_enumerate_settings *settings,
                               const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    const perp_lcp_enumerate_settings defaults = perp_lcp_enumerate_settings_default();
    const perp_lcp_enumerate_settings *own = settings ? settings : &defaults;
    double lower[PERP_LCP_ENUMERATE_MAX_N] = {0.0}, upper[PERP_LCP_ENUMERATE_MAX_N];
    *set = NULL;
    perp_status status = perp_lcp_check(problem, error);
    status = status == PERP_STATUS_OK ? begin(own, problem->n, problem->n, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < problem->n; i++) {
        upper[i] = INFINITY;
    }
    const perp_mcp mcp = {problem->n, problem->m, problem->q, lower, upper};
    return perp_mcp_enumerate(&mcp, own, allocator, set, error);
}
