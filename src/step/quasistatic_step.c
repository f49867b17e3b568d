/* One step of a rung with contact forces, whatever its law. */
#define _POSIX_C_SOURCE 200809L
#include "step/commanded_loops.h"
#include "step/dynamic.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

static void keep_larger(double *kept, double value)
{
    *kept = fmax(*kept, value);
}

/* How well the law is met, evaluated on the answer; a step that does not meet it is none. */
static perp_status check_law(perp_quasistatic *qs, perp_residuals *total, perp_error *error)
{
    perp_residuals *r = &qs->info->residuals;
    r->balance = perp_qs_balance(qs);
    const struct {
        const char *name;
        double value;
    } parts[] = {{"balance", r->balance}, {"complementarity", r->complementarity}, {"cone", r->cone}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(parts[i].value <= qs->settings->tolerance)) {
            return perp_qs_tolerance(qs, parts[i].name, parts[i].value, error);
        }
    }
    keep_larger(&total->balance, r->balance);
    keep_larger(&total->complementarity, r->complementarity);
    keep_larger(&total->cone, r->cone);
    return PERP_STATUS_OK;
}

/* A motion of so many sizes of the scene in one step is no answer, whatever it solves. */
static const double FAR = 1e6;

/* The largest motion in the step, in sizes of the scene (or in radians). */
static double largest_motion(const perp_quasistatic *qs)
{
    double largest = 0.0;
    for (int k = 0; k < qs->free_count; k++) {
        largest = fmax(largest, fabs(qs->h * qs->x[k]));
    }
    return largest / fmax(qs->length_unit, 1.0);
}

static perp_status solve(perp_quasistatic *qs, perp_residuals *total, perp_error *error)
{
    const double started = now_us();
    perp_status status = qs->law->instant ? PERP_STATUS_OK : perp_qs_check_commands(qs, error);
    if (status == PERP_STATUS_OK) {
        status = qs->law->solve(qs, error);
    }
    qs->info->solve_us += now_us() - started;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const double motion = largest_motion(qs);
    if (!(motion <= FAR)) {
        return perp_qs_not_converged(qs, "ran out of the scene and", fmin(motion, DBL_MAX), error);
    }
    for (int k = 0; k < qs->free_count; k++) {
        const int i = qs->dof_of_free[k];
        qs->v[i] = qs->x[k] + (qs->law->inertia == PERP_QS_FULL ? qs->v_drifted[i] : 0.0);
    }
    return check_law(qs, total, error);
}

/* Where the step leads: prescribed coordinates to their commands exactly. */
static void integrate(perp_quasistatic *qs, perp_step_context *context)
{
    const perp_model *model = qs->model;
    perp_configuration_integrate(model, qs->q_begin, qs->v, qs->h, context->next_q);
    perp_prescribed_configuration(model, qs->law->prescribe, qs->t + qs->h, context->next_q);
    if (qs->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(model, qs->t, qs->h, context->next_q);
    }
}

/* ---- splitting --------------------------------------------------------------------------------------------------- */

/* The gaps at the step's end as the step had them, and which contacts they are of. */
static void keep_gaps(perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    ptrdiff_t entry = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[i]];
        double speed = p->offset[p->row_start[i]] - qs->shift[i] + c->phi / qs->h;
        for (int k = 0; k < columns; k++) {
            speed += p->jacobian[entry + k] * qs->x[p->dofs[start + k]];
        }
        entry += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * columns;
        qs->gaps[i] = qs->h * speed;
        qs->begun[i] = *c;
    }
}

static bool same_contact(const perp_contact *x, const perp_contact *y, bool features)
{
    return x->a == y->a && x->b == y->b && x->shape_a == y->shape_a && x->shape_b == y->shape_b &&
           (!features || (x->feature_a == y->feature_a && x->feature_b == y->feature_b));
}

/* The gap of a contact in a set: of its features, or where they have gone, the least of its shapes. */
static double true_gap(const perp_contact_set *set, const perp_contact *contact)
{
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        if (same_contact(&set->contacts[i], contact, true)) {
            return set->contacts[i].phi;
        }
        if (same_contact(&set->contacts[i], contact, false)) {
            least = fmin(least, set->contacts[i].phi);
        }
    }
    return least;
}

/* How far the linearised gaps are off, with the contact set at the step's end: of contacts that carry force, and of
 * those that penetrate (a new one was not seen coming: its gap was not to fall below 0). Others may be off, they say
 * nothing. */
static double gap_error(const perp_quasistatic *qs)
{
    const perp_contact_set *set = qs->contacts;
    double worst = 0.0;
    for (int i = 0; i < qs->system.contact_count; i++) {
        const double gap = true_gap(set, &qs->begun[i]);
        if (isfinite(gap) && (qs->force[qs->row_start[i]] > 1e-9 * qs->force_unit || gap < 0.0)) {
            worst = fmax(worst, fabs(gap - qs->gaps[i]));
        }
    }
    for (int i = 0; i < set->count; i++) {
        bool known = false, moved = false;
        for (int k = 0; k < qs->system.contact_count && !known; k++) {
            known = same_contact(&set->contacts[i], &qs->begun[k], true);
        }
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            moved = moved || qs->free_of_dof[set->dofs[k]] >= 0;
        }
        worst = known || !moved ? worst : fmax(worst, -set->contacts[i].phi);
    }
    return worst;
}

perp_status perp_qs_look_from(perp_quasistatic *qs, perp_step_context *context, const double *q, perp_error *error)
{
    perp_kinematics_update(qs->model, q, context->kinematics);
    return perp_contact_set_build(context->contacts, context->kinematics, error);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* ---- how far to look --------------------------------------------------------------------------------------------- */

/* A step sees every contact that its motion could meet. Shapes move against each other by at most h times
 * their relative speed, and the convex laws keep a gap of mu h |v_t| besides: a contact farther away than (1 + mu)
 * times that takes no part in the step, listed or not. The scene's margin, which says what is listed for people, is
 * only where looking begins, so the motion does not depend on it. Kinematics and contacts are those of the step's
 * begin. */
static double reach(const perp_quasistatic *qs, const perp_step_context *context)
{
    perp_kinematics_velocity(qs->model, qs->v, context->kinematics);
    return (1.0 + qs->largest_mu) * qs->h * perp_contact_relative_speed(context->contacts, context->kinematics);
}

/* Every bounded shape sees every other from here on, and unbounded ones are seen from afar. */
static double farthest(const perp_quasistatic *qs)
{
    return fmax(2.0 * qs->length_unit, 1e3 * qs->model->scene->margin);
}

/* The step problem with contacts listed up to `margin`. */
static perp_status build_with(perp_quasistatic *qs, perp_step_context *context, const double times[2], double margin,
                              perp_error *error)
{
    if (margin != perp_contact_set_margin(context->contacts)) {
        perp_contact_set_look(context->contacts, margin);
        const perp_status status = perp_qs_look_from(qs, context, qs->q_begin, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return perp_qs_build(qs, context, qs->q_begin, times[0], times[1], error);
}

/* Builds with what the prescribed motion could meet, and what the last step has left at a gap. */
static perp_status build(perp_quasistatic *qs, perp_step_context *context, const double times[2], perp_error *error)
{
    const double listed = qs->model->scene->margin;
    perp_status status = build_with(qs, context, times, listed, error);
    if (status == PERP_STATUS_OK) {
        const double wanted = fmin(fmax(qs->look, reach(qs, context)), farthest(qs));
        status = wanted > listed ? build_with(qs, context, times, wanted, error) : status;
    }
    return status;
}

/* Solves, and again with a longer look where the motion comes out larger than the look was long. A body that nothing
 * holds is not looked farther for: whatever may lie below does not support it. */
static perp_status solve_seeing_all(perp_quasistatic *qs, perp_step_context *context, const double times[2],
                                    perp_residuals *total, perp_error *error)
{
    enum { LOOKS = 6 };
    for (int look = 0; look < LOOKS; look++) {
        perp_status status = solve(qs, total, error);
        const double wanted = status == PERP_STATUS_OK ? fmin(reach(qs, context), farthest(qs)) : 0.0;
        if (wanted <= perp_contact_set_margin(context->contacts)) {
            return status;
        }
        status = build_with(qs, context, times, fmin(1.5 * wanted, farthest(qs)), error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return perp_qs_not_converged(qs, "looking for all that the motion could meet",
                                 perp_contact_set_margin(qs->contacts), error);
}

/* A part of the step, from qs->q_begin to context->next_q. `total` gathers residuals. */
static perp_status advance(perp_quasistatic *qs, perp_step_context *context, const double times[2],
                           perp_residuals *total, perp_error *error)
{
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_dynamic_drift(qs, context);
    }
    perp_status status = build(qs, context, times, error);
    if (status == PERP_STATUS_OK && !qs->started) {
        status = perp_qs_check_start(qs, error);
    }
    if (status == PERP_STATUS_OK) {
        status = solve_seeing_all(qs, context, times, total, error);
    }
    if (status == PERP_STATUS_OK) {
        perp_qs_record(qs);
        integrate(qs, context);
    }
    return status;
}

static void accept(perp_quasistatic *qs)
{
    for (int i = 0; i < qs->model->nv; i++) {
        qs->v_sum[i] += qs->h * qs->v[i];
    }
    memcpy(qs->v_last, qs->v, (size_t)qs->model->nv * sizeof *qs->v_last);
    qs->h_last = qs->h;
    qs->started = true;
    if (qs->law->accept) {
        qs->law->accept(qs);
    }
}

perp_status perp_qs_next_part(perp_quasistatic *qs, perp_step_context *context, int at, int *size, perp_error *error)
{
    while (at % (2 * *size) == 0 && 2 * *size <= PERP_QS_TICKS - at) {
        *size *= 2;
    }
    if (at == PERP_QS_TICKS) {
        return PERP_STATUS_OK;
    }
    memcpy(qs->q_begin, context->next_q, (size_t)qs->model->nq * sizeof *qs->q_begin);
    return perp_qs_look_from(qs, context, qs->q_begin, error);
}

/* The parts of a step: [at, at + size) ticks of it, halved where gaps end elsewhere than the linearisation had them,
 * and doubled again where they fit. */
static perp_status advance_in_parts(perp_quasistatic *qs, perp_step_context *context, double t, double t_end,
                                    perp_residuals *total, perp_error *error)
{
    const double tolerance = qs->settings->substep_tolerance, tick = (t_end - t) / PERP_QS_TICKS;
    perp_status status = PERP_STATUS_OK;
    for (int at = 0, size = PERP_QS_TICKS; at < PERP_QS_TICKS && status == PERP_STATUS_OK;) {
        const double times[2] = {at == 0 ? t : t + at * tick,
                                 at + size == PERP_QS_TICKS ? t_end : t + (at + size) * tick};
        status = advance(qs, context, times, total, error);
        const bool may_split = status == PERP_STATUS_OK && isfinite(tolerance) && size > 1;
        if (may_split) {
            keep_gaps(qs);
            status = perp_qs_look_from(qs, context, context->next_q, error);
        }
        if (may_split && status == PERP_STATUS_OK && gap_error(qs) > tolerance) {
            qs->info->fallbacks[PERP_FALLBACK_SUBSTEP]++;
            size /= 2;
            status = perp_qs_look_from(qs, context, qs->q_begin, error);
            continue;
        }
        at += size;
        if (status == PERP_STATUS_OK) {
            accept(qs);
        }
        if (status == PERP_STATUS_OK) {
            status = perp_qs_next_part(qs, context, at, &size, error);
        }
    }
    return status;
}

perp_status perp_qs_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                         perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    const perp_model *model = qs->model;
    const double h = t_end - state->t;
    perp_residuals total = {0};
    qs->info = info;
    memcpy(qs->q_begin, state->q, (size_t)model->nq * sizeof *state->q);
    memset(qs->v_sum, 0, (size_t)model->nv * sizeof *qs->v_sum);
    memcpy(qs->v, state->v, (size_t)model->nv * sizeof *qs->v);
    memcpy(qs->v_last, state->v, (size_t)model->nv * sizeof *qs->v_last);
    qs->h = h;
    perp_loops_note(qs, context);
    qs->look = reach(qs, context);
    if (qs->law->inertia == PERP_QS_FULL) { /* what falls gains this against what rises, and need not look again */
        qs->look += (1.0 + qs->largest_mu) * 2.0 * h * h * perp_vec3_norm(model->scene->gravity);
    }
    perp_status status = advance_in_parts(qs, context, state->t, t_end, &total, error);
    status = status == PERP_STATUS_OK ? perp_loops_check_end(qs, context, t_end, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    info->residuals = total;
    info->contact_count = qs->record_count;
    info->contacts = qs->records;
    memcpy(state->q, context->next_q, (size_t)model->nq * sizeof *state->q);
    for (int i = 0; i < model->nv; i++) { /* with inertia a velocity goes on, without it is what the step did */
        state->v[i] = qs->law->inertia == PERP_QS_FULL ? qs->v_last[i] : qs->v_sum[i] / h;
    }
    state->t = t_end;
    return PERP_STATUS_OK;
}
