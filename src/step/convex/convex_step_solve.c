/* The solution of a convex step: from the last one's answer, then by the means of convex_step_sharpen.c, or a proof
 * that there is none. */
#include "step/convex/convex_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

/* ---- warm start -------------------------------------------------------------------------------------------------- */

/* The forces of the last step at the contacts that are the same, and its motion. */
static void make_start(convex_step *c, const contact_step *step)
{
    const double force = step->force_unit;
    for (int i = 0, hint = 0; i < step->system.contact_count; i++) {
        const int start = c->slack_start[i], slacks = c->slack_start[i + 1] - start;
        const double *kept = perp_kept_find(&c->kept, step, i, &hint);
        for (int k = 0; k < slacks; k++) {
            c->start.y[start + k] = kept && kept[0] == slacks ? kept[1 + k] / force : 0.0;
        }
    }
    perp_kept_read_motion(&c->kept, step, step->length_unit / step->h, &c->start);
}

/* The multipliers of the slacks, for perp_convex_step_accept: step->force is what they add up to. */
static void note_answer(convex_step *c, const contact_step *step)
{
    for (int i = 0; i < step->system.contact_count; i++) {
        double *answer = c->answer + (ptrdiff_t)step->set_index[i] * (c->longest + 1);
        const int start = c->slack_start[i], slacks = c->slack_start[i + 1] - start;
        answer[0] = slacks;
        for (int k = 0; k < slacks; k++) {
            answer[1 + k] = step->force_unit * c->point.y[start + k];
        }
    }
}

static void put_answer(const contact_step *step, int i, double *value)
{
    const convex_step *c = step->own;
    const double *answer = c->answer + (ptrdiff_t)step->set_index[i] * (c->longest + 1);
    memset(value, 0, (size_t)(c->longest + 1) * sizeof *value);
    memcpy(value, answer, (size_t)(1 + (int)answer[0]) * sizeof *value);
}

void perp_convex_step_accept(contact_step *step)
{
    convex_step *c = step->own;
    perp_kept_accept(&c->kept, step, put_answer);
}

void perp_convex_step_put(const contact_step *step, memory_writer *w)
{
    perp_kept_put(&((const convex_step *)step->own)->kept, step, w);
}

bool perp_convex_step_take(contact_step *step, memory_reader *r)
{
    return perp_kept_take(&((convex_step *)step->own)->kept, step, r);
}

/* ---- no answer --------------------------------------------------------------------------------------------------- */

/* Do the weights of an infeasible problem, whose proof misses by 1, leave more than what the law's tolerance lets all
 * their rows be off by together? */
static bool leaves_room(const convex_step *c, const contact_step *step)
{
    double sum = 0.0;
    for (int k = 0; k < c->slack_start[c->qp.contact_count]; k++) {
        sum += fabs(c->point.y[k]);
    }
    for (int i = 0; i < c->qp.equality_count; i++) {
        sum += fabs(c->point.y_equality[i]);
    }
    for (int i = 0; i < c->qp.n && c->qp.lower; i++) {
        sum += fabs(c->point.y_lower[i]) + fabs(c->point.y_upper[i]);
    }
    return sum * step->settings->tolerance < 1.0;
}

/* Does an outcome say that there is no answer, with a proof that leaves room for the law's tolerance? */
static bool is_proof(const convex_step *c, const contact_step *step, perp_outcome outcome)
{
    return (outcome == PERP_OUTCOME_UNBOUNDED && perp_step_is_driven(step, c->point.x)) ||
           (outcome == PERP_OUTCOME_INFEASIBLE && leaves_room(c, step));
}

static perp_status explain(convex_step *c, contact_step *step, perp_outcome outcome, perp_error *error)
{
    if (outcome == PERP_OUTCOME_UNBOUNDED) {
        return perp_step_unsupported(step, c->point.x, error);
    }
    /* Sum of y s is -1 whatever x: some slack is at most -1 / sum y, in units of L. */
    double sum = 0.0;
    for (int i = 0; i < step->system.contact_count; i++) {
        double own = 0.0;
        for (int k = c->slack_start[i]; k < c->slack_start[i + 1]; k++) {
            own += c->cone[i] && k > c->slack_start[i] ? 0.0 : c->point.y[k];
        }
        memset(step->force + step->row_start[i], 0,
               (size_t)(step->row_start[i + 1] - step->row_start[i]) * sizeof(double));
        step->force[step->row_start[i]] = own;
        sum += own;
    }
    const double depth = sum > 0.0 ? step->length_unit / sum : 0.0;
    return sum > 0.0 && perp_convex_step_gaps_can_be_met(step) ? perp_step_no_room(step, step->force, depth, error)
                                                               : perp_step_infeasible(step, step->force, depth, error);
}

/* ---- the solve --------------------------------------------------------------------------------------------------- */

/* The smoothed law: y = kappa s^-1. */
static double off_centre(convex_step *c, const contact_step *step)
{
    const double kappa = c->kappa / (step->force_unit * step->length_unit);
    return perp_convex_residual_largest(perp_contact_qp_barrier_residual(&c->qp, kappa, &c->point));
}

/* Where A has a passive degree of freedom without inertia, but feet, the motion may not be unique. */
static bool is_singular(const perp_contact_qp *p, int free_count)
{
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count && p->block_start[b] < free_count; b++) {
        const ptrdiff_t size = p->block_start[b + 1] - p->block_start[b];
        for (ptrdiff_t i = 0; i < size; i++) {
            if (!(block[i * size + i] > 0.0)) {
                return true;
            }
        }
        block += size * size;
    }
    return false;
}

/* The first way: from the last step's answer. */
static perp_status solve_once(convex_step *c, contact_step *step, const perp_convex_settings *settings,
                              perp_convex_info *info, perp_error *error)
{
    if (c->kappa > 0.0) {
        const double kappa = c->kappa / (step->force_unit * step->length_unit);
        return perp_contact_qp_barrier(&c->qp, kappa, settings, c->solver, &c->point, info, error);
    }
    return perp_contact_qp_solve(&c->qp, settings, c->solver, &c->point, info, error);
}

/* The workspace mostly is large enough from the step before, and to reserve it takes a third of the time of a warm
 * solution: only once it is not. */
static perp_status reserve_and_solve(convex_step *c, contact_step *step, perp_convex_info *info, perp_error *error)
{
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED * step->settings->tolerance);
    if (perp_kept_has(&c->kept, step)) {
        make_start(c, step);
        settings.warm = &c->start;
    }
    if (solve_once(c, step, &settings, info, NULL) == PERP_STATUS_OK) {
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_contact_qp_reserve(&c->qp, c->solver, error);
    return status == PERP_STATUS_OK ? solve_once(c, step, &settings, info, error) : status;
}

/* c->point at rest, where that meets the law as well. */
static void come_to_rest(convex_step *c, contact_step *step)
{
    if (!perp_step_rest(step, step->length_unit / step->h, c->point.x, c->face_point.x)) {
        return;
    }
    if (perp_convex_step_law(step) > 0.1 * step->settings->tolerance) {
        memcpy(c->point.x, c->face_point.x, (size_t)c->qp.n * sizeof *c->point.x);
        perp_convex_step_law(step);
    }
}

perp_status perp_convex_step_solve(contact_step *step, perp_error *error)
{
    const perp_status status = step->free_count > 0 ? perp_convex_step_begin(step, error) : PERP_STATUS_OK;
    return status == PERP_STATUS_OK && step->free_count > 0 ? perp_convex_step_answer(step, error) : status;
}

perp_status perp_convex_step_answer(contact_step *step, perp_error *error)
{
    convex_step *c = step->own;
    perp_convex_info info;
    perp_status status = reserve_and_solve(c, step, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info.iterations;
    if (is_proof(c, step, info.outcome)) {
        return explain(c, step, info.outcome, error);
    }
    const bool claims = info.outcome == PERP_OUTCOME_INFEASIBLE || info.outcome == PERP_OUTCOME_UNBOUNDED;
    double residual = INFINITY;
    if (!claims) { /* else the point is what the claim rests on */
        perp_convex_step_clip(c);
        residual = c->kappa > 0.0 ? off_centre(c, step) : perp_convex_step_sharpen(step);
    }
    if (!(residual <= step->settings->tolerance)) {
        const perp_outcome near = c->kappa > 0.0 ? PERP_OUTCOME_ITERATION_LIMIT : perp_convex_step_confine(step);
        if (is_proof(c, step, near)) {
            return explain(c, step, near, error);
        }
        if (near != PERP_OUTCOME_SOLVED && (info.outcome != PERP_OUTCOME_SOLVED || !isfinite(residual))) {
            return perp_step_not_converged(step, info.method, fmin(residual, 1e300), error);
        }
    }
    step->info->fallbacks[PERP_FALLBACK_LOOSE] += info.outcome != PERP_OUTCOME_SOLVED;
    if (c->kappa == 0.0 && is_singular(&c->qp, step->free_count)) {
        status = perp_convex_step_smallest(step, error);
        c->is_told = false;
    }
    if (c->kappa == 0.0) {
        come_to_rest(c, step);
    }
    if (c->kappa > 0.0 || !c->is_told) {
        step->info->residuals.complementarity =
            c->kappa > 0.0 ? off_centre(c, step) : perp_convex_step_complementarity(c, c->point.x);
        perp_convex_step_hand_over(c, step);
    }
    if (c->kappa > 0.0) {
        perp_convex_step_fill_slacks(c, c->point.x);
    }
    perp_convex_step_measure(step);
    note_answer(c, step);
    return status;
}
