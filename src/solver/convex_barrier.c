/* A contact qp with its constraints softened: the minimum of
 *
 *     1/2 x'H x + g'x - kappa sum_k log s_k - kappa/2 sum_i log(s_i0^2 - |s_i1|^2)     on C x = d
 *
 * over rows k and cones i. It is the point of the interior point's central path at which s o y = kappa e, so the same
 * Newton steps lead there, with a target that stays: from s inside, y = kappa s^-1, and residuals that shrink with
 * every step. The answer's y are taken from its s again, so that they are the barrier's forces to rounding. */
#include "solver/convex_core.h"
#include "solver/tolerances.h"

#include "linalg/vector.h"
#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/objectives.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* y = kappa s^-1 */
static void centre(const perp_convex_workspace *c, double kappa, const double *s, double *y)
{
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            y[i] = kappa / s[i];
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        double tail = 0.0;
        for (int i = 1; i < size; i++) {
            tail = hypot(tail, s[start + i]);
        }
        const double form = (s[start] - tail) * (s[start] + tail);
        for (int i = 0; i < size; i++) {
            y[start + i] = kappa * (i == 0 ? s[start] : -s[start + i]) / form;
        }
    }
}

/* Where s and y are as large as each other, in the units sqrt(gamma): sqrt(kappa) from the border. */
static void start(perp_convex_workspace *c, double kappa)
{
    perp_convex_zero(c, &c->at);
    perp_convex_slacks(c, c->at.x, c->s);
    for (int i = 0; i < c->m; i++) {
        c->ds[i] = 1.0 / sqrt(c->gamma[i]);
    }
    perp_convex_raise(c, sqrt(kappa), c->ds, c->s);
    centre(c, kappa, c->s, c->at.y);
}

/* One Newton step towards the centre; returns its length. */
static double step(perp_convex_workspace *c, double kappa)
{
    perp_convex_scale(c, c->s, c->at.y);
    perp_convex_make_diagonal(c, c->rho, c->delta);
    perp_convex_factor(c);
    perp_convex_predict(c, c->at.y, c->dy_affine); /* for `scaled` */
    memset(c->ds, 0, (size_t)c->m * sizeof(double));
    perp_convex_corrector(c, c->s, c->at.y, kappa, c->ds, c->ds, c->dy);
    c->kernel->add(c->m, c->scaled, c->dy);
    perp_convex_solve_direction(c, c->ds, c->dy);
    const double way = fmin(perp_convex_step_length(c, c->s, c->ds), perp_convex_step_length(c, c->at.y, c->dy));
    const double t = way < 1.0 ? 0.9 * way : 1.0;
    perp_dense_subtract(c->n, -t, c->step, c->at.x);
    for (int i = 0; i < c->e; i++) {
        c->at.z[i] -= t * c->step[c->n + i];
    }
    perp_dense_subtract(c->m, -t, c->ds, c->s);
    perp_dense_subtract(c->m, -t, c->dy, c->at.y);
    return t;
}

/* Asks the residual of the class about x and y, y being the iteration's or, `own`, the forces that belong to x: either
 * may be the sharper one, as s is tiny or y is. Keeps the best. */
static bool judge(perp_convex_workspace *c, double kappa, bool own, perp_convex_point *trial)
{
    perp_convex_copy(c, &c->at, &c->trial);
    if (own) {
        perp_convex_slacks(c, c->trial.x, c->slack);
        centre(c, kappa, c->slack, c->trial.y);
    }
    perp_convex_export(c, &c->trial, trial);
    const perp_convex_residual residual = perp_contact_qp_barrier_residual(c->problem, kappa, trial);
    const double size = perp_convex_residual_largest(residual);
    if (!(size < c->best_residual)) {
        return false;
    }
    c->best_residual = size;
    c->best_parts = residual;
    perp_convex_copy(c, &c->trial, &c->best);
    return true;
}

/* From a kappa at which the problem is easy down to its own: each step aims at a fifth of where the point is, until it
 * is there. */
static perp_outcome iterate(perp_convex_workspace *c, double kappa, int most, perp_convex_point *trial)
{
    enum { FURTHER = 3 };
    static const double PART = 0.2;
    int stalled = 0;
    start(c, fmax(kappa, BARRIER_EASY * c->g_scale * c->b_scale));
    for (int k = 0; k < most && stalled < FURTHER; k++) {
        if (perp_convex_cancelled(c)) {
            return PERP_OUTCOME_CANCELLED;
        }
        perp_convex_refresh_residuals(c);
        const double now = c->m > 0 ? perp_dense_dot(c->m, c->s, c->at.y) / c->degree : kappa;
        const double target = fmax(kappa, PART * now);
        const double t = step(c, target);
        c->iterations++;
        if (!(perp_vector_largest(c->n, c->at.x) <= DBL_MAX) || !(perp_vector_largest(c->m, c->at.y) <= DBL_MAX)) {
            return PERP_OUTCOME_ILL_CONDITIONED;
        }
        c->rho = fmax(0.1 * c->rho, BARRIER_RHO_LEAST);
        c->delta = fmax(0.1 * c->delta, PROXIMAL_LEAST);
        if (target > kappa) {
            continue;
        }
        const bool sharper = judge(c, kappa, false, trial), better = judge(c, kappa, true, trial) || sharper;
        stalled = t == 1.0 && !better ? stalled + 1 : 0;
    }
    return c->best_residual <= c->tolerance ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ITERATION_LIMIT;
}

perp_status perp_contact_qp_barrier(const perp_contact_qp *problem, double kappa, const perp_convex_settings *settings,
                                    perp_convex_workspace *workspace, perp_convex_point *solution,
                                    perp_convex_info *info, perp_error *error)
{
    enum { ITERATIONS = 200 };
    perp_convex_settings chosen;
    perp_convex_workspace *c = workspace;
    perp_status status = perp_convex_begin(settings, &chosen, info, error);
    info->method = info->tried[info->tried_count++] = "barrier";
    if (!(kappa > 0.0) || !isfinite(kappa)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the barrier's kappa is %g; it has to be positive", kappa);
    }
    status = status ? status : perp_contact_qp_check(problem, error);
    status = status ? status : perp_convex_prepare(c, problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_convex_forget(c, &chosen);
    c->rho = c->delta = PROXIMAL;
    info->outcome = iterate(c, kappa, chosen.max_iterations > 0 ? chosen.max_iterations : ITERATIONS, solution);
    perp_convex_export(c, &c->best, solution);
    perp_convex_fill_info(c, info);
    info->objective = perp_contact_qp_objective(problem, solution->x);
    return PERP_STATUS_OK;
}
