/* One attempt of Lemke's method: start, pivots, and the judgement of where they ended. */
#include "problem/checks.h"
#include "problem/natural_map.h"
#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

perp_lemke_care perp_lemke_care_plain(void)
{
    const perp_lemke_care r = {.refresh_every = 200, .drift = LEMKE_DRIFT, .tie = LEMKE_TIE};
    return r;
}

static int pivot_limit(const perp_lcp_workspace *c)
{
    enum { MURTY_12 = (1 << 12) + 100 };
    const int most = c->settings.max_pivots, by_size = c->n > 20000 ? 1000000 : 50 * c->n;
    return most > 0 ? most : (by_size > MURTY_12 ? by_size : MURTY_12);
}

/* ---- start --------------------------------------------------------------------------------------------------------
 */

/* The free variables and then those of the warm basis, one that would sit outside its finite range not; cold where that
 * basis is singular. */
static perp_free_start start(perp_lcp_workspace *c, const perp_lemke_attempt *how)
{
    const int *warm = how->warm_basis;
    const perp_free_start free_start = perp_lcp_start_free(c);
    if (free_start != PERP_FREE_START_OK || !warm) {
        return free_start;
    }
    const int free_count = c->m;
    for (int i = 0; i < c->n; i++) {
        if (c->is_free[i] || c->col_at[i] >= 0) {
            continue;
        }
        if (warm[i] == 1) {
            perp_lcp_basis_append(c, i, i);
        } else if (warm[i] == 2 && c->sign[i] > 0.0 && c->range[i] < INFINITY) {
            perp_lcp_core_flip(c, i);
        }
    }
    if (c->m == free_count || perp_lcp_basis_refresh(c)) {
        return PERP_FREE_START_OK;
    }
    if (how->only_warm) {
        return PERP_FREE_START_SINGULAR;
    }
    perp_lcp_core_load(c, &c->care);
    return perp_lcp_start_free(c);
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

static void keep_basis(perp_lcp_workspace *c)
{
    for (int i = 0; i < c->n; i++) {
        const bool at_upper = c->data.upper && isfinite(c->data.upper[i]) && c->origin[i] == c->data.upper[i];
        c->basis[i] = c->col_at[i] >= 0 ? 1 : (at_upper ? 2 : 0);
    }
}

/* Where a ray starts is the best that this attempt has, and with an artificial variable of rounding size it may well be
 * a solution: the residual knows. */
static double judge_unfinished(perp_lcp_workspace *c)
{
    perp_lcp_core_point(c, c->point);
    for (int i = 0; i < c->n; i++) {
        const double inside = fmin(fmax(c->point[i], perp_lcp_lower(c, i)), perp_lcp_upper(c, i));
        c->point[i] = isfinite(c->point[i]) ? inside : c->origin[i];
    }
    return perp_lcp_residual_of(c, c->point);
}

/* The rate of z_i along the ray, oriented and scaled. */
static double ray_rate_z(const perp_lcp_workspace *c, int i)
{
    const bool entered = c->ray_is_z && c->ray_index == i;
    return c->col_at[i] >= 0 ? c->rate_z[c->col_at[i]] : (entered ? 1.0 : 0.0);
}

static double ray_rate_w(const perp_lcp_workspace *c, int i)
{
    const bool entered = !c->ray_is_z && c->ray_index == i;
    return c->row_at[i] < 0 ? c->rate_w[i] : (entered ? 1.0 : 0.0);
}

/* The z of the ray is a proof whenever M is copositive-plus, and in many other cases. */
static bool ray_proves_infeasible(perp_lcp_workspace *c)
{
    double *u = c->work2;
    for (int i = 0; i < c->n; i++) {
        u[i] = c->sign[i] * ray_rate_z(c, i) * c->col_scale[i];
    }
    return perp_lcp_prove_infeasible(c, u);
}

/* The best point of an attempt so far, in c->kept. */
typedef struct verdict {
    double residual, near; /* perp_lcp_residual_of, perp_lcp_near_residual */
    bool regular;          /* it is the point of a regular basis; not looked at where it is near */
} verdict;

static bool is_near(const verdict *v, double tolerance)
{
    return v->residual <= tolerance && v->near <= PERP_NEAR;
}

static bool is_solved(const verdict *v, double tolerance)
{
    return v->residual <= tolerance && (v->regular || v->near <= PERP_NEAR);
}

/* A solution is better than what is none, and then the one with the smaller residual. */
static void keep_better(perp_lcp_workspace *c, double residual, bool polished, double tolerance, verdict *best)
{
    verdict v = {residual, residual < INFINITY ? perp_lcp_near_residual(c, c->point) : INFINITY, false};
    v.regular = polished && v.residual <= tolerance && v.near > PERP_NEAR && perp_lcp_is_regular(c);
    const bool solved = is_solved(&v, tolerance), before = is_solved(best, tolerance);
    if (solved != before ? solved : (solved ? v.residual < best->residual : v.near < best->near)) {
        *best = v;
        memcpy(c->kept, c->point, (size_t)c->n * sizeof(double));
        keep_basis(c);
    }
}

/* The best point near the basis that the pivots ended with. If it is complementary, that is its point, computed afresh;
 * but where K is too ill-conditioned for that, and where a ray or a cycle was met when the artificial variable was
 * already of rounding size, the point that the pivots arrived at may hold. Ties are taken generously on the way, which
 * costs digits at the end, so where the residual is not at rounding a few more pivots follow from the basis found, with
 * narrow ties. */
static verdict judge(perp_lcp_workspace *c, const double *covering, bool complementary)
{
    static const double narrow[] = {1e-13, 1e-11}; /* ties, of the largest q */
    const double tolerance = c->settings.tolerance;
    verdict best = {INFINITY, INFINITY, false};
    keep_basis(c);
    if (complementary) {
        keep_better(c, perp_lcp_polish(c, c->point), true, tolerance, &best);
    }
    if (!is_solved(&best, tolerance)) {
        keep_better(c, judge_unfinished(c), false, tolerance, &best);
    }
    const bool hopeful = complementary || is_solved(&best, tolerance);
    perp_lemke_attempt again = {c->care, NULL, c->basis, true};
    for (int k = 0; k < 2 && hopeful && best.residual > LEMKE_CLEAN && again.care.regularise == 0.0; k++) {
        again.care.tie = narrow[k];
        perp_lcp_core_load(c, &again.care);
        if (start(c, &again) == PERP_FREE_START_OK &&
            perp_lcp_pivot(c, covering, 10 + c->n) == PERP_PIVOT_COMPLEMENTARY) {
            keep_better(c, perp_lcp_polish(c, c->point), true, tolerance, &best);
        }
    }
    const bool far = best.residual <= tolerance && !is_solved(&best, tolerance);
    if (far || !(best.near < INFINITY)) { /* or an overflow: a point that is at least within its bounds */
        memcpy(c->kept, c->origin, (size_t)c->n * sizeof(double));
        best.residual = perp_lcp_residual_of(c, c->kept);
        best.near = perp_lcp_near_residual(c, c->kept);
        best.regular = false;
    }
    memcpy(c->point, c->kept, (size_t)c->n * sizeof(double));
    return best;
}

perp_outcome perp_lcp_attempt(perp_lcp_workspace *c, const perp_lemke_attempt *how, double *residual)
{
    perp_lcp_core_load(c, &how->care);
    *residual = INFINITY;
    const perp_free_start begun = start(c, how);
    if (begun != PERP_FREE_START_OK) {
        keep_basis(c);
        *residual = judge_unfinished(c);
        if (begun != PERP_FREE_START_INFEASIBLE && perp_lcp_is_cancelled(c)) {
            return PERP_OUTCOME_CANCELLED;
        }
        return begun == PERP_FREE_START_INFEASIBLE ? PERP_OUTCOME_INFEASIBLE : PERP_OUTCOME_ILL_CONDITIONED;
    }
    const perp_pivot_end end = perp_lcp_pivot(c, how->covering, pivot_limit(c));
    if (end == PERP_PIVOT_CANCELLED) {
        keep_basis(c);
        *residual = judge_unfinished(c);
        return PERP_OUTCOME_CANCELLED;
    }
    const bool infeasible = end == PERP_PIVOT_RAY && ray_proves_infeasible(c);
    const verdict best = judge(c, how->covering, end == PERP_PIVOT_COMPLEMENTARY);
    *residual = best.residual;
    if (is_near(&best, c->settings.tolerance)) {
        return PERP_OUTCOME_SOLVED;
    }
    if (!infeasible && is_solved(&best, c->settings.tolerance)) {
        return PERP_OUTCOME_SOLVED; /* far away, which a proof would contradict */
    }
    switch (end) {
    case PERP_PIVOT_RAY:
        return infeasible ? PERP_OUTCOME_INFEASIBLE : PERP_OUTCOME_RAY;
    case PERP_PIVOT_LIMIT:
        return PERP_OUTCOME_ITERATION_LIMIT;
    default:
        return PERP_OUTCOME_ILL_CONDITIONED;
    }
}

static void deliver_ray(const perp_lcp_workspace *c, double *ray)
{
    for (int i = 0; i < c->n; i++) {
        ray[i] = c->has_ray ? c->sign[i] * ray_rate_z(c, i) * c->col_scale[i] : 0.0;
        ray[c->n + i] = c->has_ray ? c->sign[i] * ray_rate_w(c, i) / c->row_scale[i] : 0.0;
    }
}

/* u, and M'u rounded. */
static void deliver_proof(const perp_lcp_workspace *c, double *proof)
{
    const int n = c->data.n;
    memcpy(proof, c->farkas, (size_t)n * sizeof(double));
    memset(proof + n, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        for (int j = 0; c->farkas[i] != 0.0 && j < n; j++) {
            proof[n + j] += c->data.m[(ptrdiff_t)i * n + j] * c->farkas[i];
        }
    }
}

void perp_lcp_deliver(perp_lcp_workspace *c, perp_outcome outcome, double residual, perp_lcp_solution *solution,
                      perp_lcp_info *info)
{
    const int n = c->data.n;
    info->outcome = outcome;
    info->residual = residual;
    info->pivots = c->pivot_count;
    info->refactorisations = c->refresh_count;
    if (n == 0) {
        return;
    }
    memcpy(solution->z, c->point, (size_t)n * sizeof(double));
    perp_lcp_data_slack(&c->data, c->point, solution->w);
    if (solution->basis) {
        memcpy(solution->basis, c->basis, (size_t)n * sizeof(int));
    }
    if (solution->ray && outcome == PERP_OUTCOME_RAY) {
        deliver_ray(c, solution->ray);
    } else if (solution->ray && outcome == PERP_OUTCOME_INFEASIBLE) {
        deliver_proof(c, solution->ray);
    }
}
