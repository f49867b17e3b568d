#include "sweep_watch.h"

#include <perp/sim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *watch_need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "sweep_%s: out of memory\n", the_sweep.name);
        exit(2);
    }
    return memory;
}

void watch_open(sweep_watch *w, const perp_model *model, const perp_rung *rung, const perp_run_settings *settings)
{
    w->model = model;
    w->rung = rung;
    w->settings = settings;
    w->q = watch_need(calloc((size_t)model->nq + 1, sizeof *w->q));
    w->v = watch_need(calloc((size_t)model->nv + 1, sizeof *w->v));
    w->records = record_judge_open(model, settings);
    quasistatic_view_open(model, settings, rung, &w->view);
}

void watch_close(sweep_watch *w)
{
    quasistatic_view_close(&w->view);
    record_judge_close(w->records);
    perp_run_result_free(&w->run);
    free(w->q);
    free(w->v);
}

void watch_remember(sweep_watch *w, const perp_state *state)
{
    memcpy(w->q, state->q, (size_t)w->model->nq * sizeof *w->q);
    memcpy(w->v, state->v, (size_t)w->model->nv * sizeof *w->v);
    w->t = state->t;
}

/* ---- a completed step -------------------------------------------------------------------------------------------- */

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

void watch_reported(sweep_watch *w, int step, const perp_state *state, const perp_step_info *info)
{
    enum { FIRST = 200, EVERY = 10 };
    if (step > FIRST && step % EVERY != 0) {
        record_judge_skip(w->records, step, state, info);
    } else if (!w->records->text[0] && !record_judge_step(w->records, step, state, info)) {
        sweep_fail(w->result, "%s", w->records->text);
    }
}

void watch_records(const sweep_watch *w, const perp_state *state, const perp_step_info *info)
{
    const perp_residuals *r = &info->residuals;
    const double numbers[] = {r->balance,      r->complementarity, r->cone, r->penetration,
                              r->balance_true, r->boundary_layer,  r->loop};
    if (!all_finite(state->q, w->model->nq) || !all_finite(state->v, w->model->nv) ||
        !all_finite(numbers, (int)(sizeof numbers / sizeof *numbers))) {
        sweep_fail(w->result, "%s: a number that is none at t = %g", w->rung->name, state->t);
    }
    if (!(r->balance <= WATCH_TOLERANCE && r->complementarity <= WATCH_TOLERANCE && r->cone <= WATCH_TOLERANCE)) {
        sweep_fail(w->result, "%s: at t = %g balance %.3g complementarity %.3g cone %.3g", w->rung->name, state->t,
                   r->balance, r->complementarity, r->cone);
    }
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *c = &info->contacts[i];
        const double parts[] = {c->fn, c->ft[0], c->ft[1], c->slip[0], c->slip[1], c->contact.phi};
        const double out = quasistatic_out_of_cone(w->settings, w->rung, c);
        const bool inertia = w->dynamic || quasistatic_has_inertia(w->rung);
        const double unit = inertia ? fmax(w->view.force, c->fn) : w->view.force;
        /* of a step that was split a contact has the sum over its parts, each in the cone of a frame of its own */
        const bool split = info->fallbacks[PERP_FALLBACK_SUBSTEP] > 0;
        if (!all_finite(parts, 6) || !(c->fn >= 0.0) || !(split || out <= 1.001 * WATCH_TOLERANCE * unit)) {
            sweep_fail(w->result, "%s: at t = %g contact %d has fn %g, out of its cone by %g", w->rung->name, state->t,
                       i, c->fn, out);
        }
    }
}

static bool can_yield(const sweep_watch *w, int body)
{
    const int tree = w->model->links[body].tree;
    for (int i = 0; tree >= 0 && i < w->model->trees[tree].v_count; i++) {
        if (quasistatic_view_is_free(&w->view, w->model->trees[tree].v_start + i)) {
            return true;
        }
    }
    return false;
}

void watch_penetration(const sweep_watch *w, const perp_state *state, const perp_step_info *info, double most)
{
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact *c = &info->contacts[i].contact;
        if (!can_yield(w, c->a) && !can_yield(w, c->b)) {
            continue;
        }
        measure_most(&w->row[WATCH_PENETRATION], -c->phi);
        if (!(c->phi > -most)) {
            const perp_body *bodies = w->model->scene->bodies;
            sweep_fail(w->result, "%s: at t = %g %s and %s are %.3g m in each other", w->rung->name, state->t,
                       bodies[c->a].name, bodies[c->b].name, -c->phi);
        }
    }
}

void watch_law(sweep_watch *w, const perp_state *state, const perp_step_info *info)
{
    quasistatic_law law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    if (law.unmatched > 0) { /* a step looks as far as its motion goes */
        quasistatic_view_at(&w->view, w->q, w->t, 100.0 * w->model->scene->margin);
        law = quasistatic_measure(&w->view, state->v, info->contacts, info->contact_count);
    }
    w->row[WATCH_UNMATCHED] += law.unmatched > 0 ? 1 : 0;
    double largest = w->view.force;
    for (int i = 0; i < info->contact_count; i++) {
        largest = fmax(largest, info->contacts[i].fn);
    }
    const double rounding = w->dynamic ? 1e-12 * largest / w->view.force : 0.0, most = 1.001 * WATCH_TOLERANCE;
    /* The rung's residuals are of projections; eps in one of these is at most 4 eps in the work, over the sizes of its
     * two factors. */
    if (!(law.balance <= most + rounding && law.gap <= most && law.cone <= most + rounding &&
          law.friction <= 4.0 * WATCH_TOLERANCE)) {
        sweep_fail(w->result, "%s: at t = %g its law is off: balance %.3g gap %.3g cone %.3g friction %.3g",
                   w->rung->name, state->t, law.balance, law.gap, law.cone, law.friction);
    }
    measure_most(&w->row[WATCH_LAW], fmax(fmax(law.balance, law.gap), fmax(law.cone, law.friction)));
}

/* ---- a stop ------------------------------------------------------------------------------------------------------ */

static int column_of(const sweep_watch *w, const char *code)
{
    static const struct {
        const char *code;
        int column;
    } typed[] = {{"unsupported-body", WATCH_UNSUPPORTED},  {"infeasible-command", WATCH_INFEASIBLE},
                 {"no-equilibrium", WATCH_NO_EQUILIBRIUM}, {"wedged", WATCH_WEDGED},
                 {"tolerance", WATCH_TOLERANCE_MISSED},    {"not-converged", WATCH_NOT_CONVERGED}};
    for (size_t i = w->dynamic ? 1 : 0; i < sizeof typed / sizeof *typed; i++) {
        if (strcmp(code, typed[i].code) == 0) {
            return typed[i].column;
        }
    }
    return WATCH_OTHER;
}

/* A stop that explains nothing. */
static void miss(sweep_watch *w, const perp_state *state, const perp_error *error, int index)
{
    measure_list(w->rung->name, index);
    if (!(error->evidence.residual > WATCH_TOLERANCE)) {
        sweep_fail(w->result, "%s: `%s` with a residual of %.3g", w->rung->name, error->code, error->evidence.residual);
    }
    sweep_miss(w->result, "%s: `%s` at t = %g, residual %.3g", w->rung->name, error->code, state->t,
               error->evidence.residual);
}

static quasistatic_finding judge(sweep_watch *w, const perp_state *state, const perp_error *error, int column)
{
    const bool start = error->code && strcmp(error->code, "penetrating-start") == 0;
    const double depth = error->evidence.depth;
    if (column == WATCH_NO_EQUILIBRIUM) {
        return w->judge_jam(w, state);
    }
    if (column == WATCH_UNSUPPORTED) {
        return quasistatic_judge_unsupported(w->model, w->settings, w->rung, state);
    }
    if (column == WATCH_INFEASIBLE || (start && !w->dynamic)) {
        return quasistatic_judge_infeasible(w->model, w->settings, w->rung, state, depth);
    }
    if (column == WATCH_WEDGED) {
        return quasistatic_judge_wedged(w->model, w->settings, w->rung, state, depth);
    }
    sweep_fail(w->result, "%s: stopped without a type at t = %g: %s: %s", w->rung->name, state->t,
               error->code ? error->code : "none", error->message);
    return (quasistatic_finding){.verdict = QUASISTATIC_PROVED};
}

/* May it be a part of a step that stopped, whose begin is not known here? Then it ends before the step does, or the
 * whole can be solved: only what is solved is split, because of where its gaps end. */
static bool may_be_part(const sweep_watch *w, const perp_state *begin, const char *message)
{
    char end[64];
    snprintf(end, sizeof end, "in the step to t = %g s", begin->t + w->settings->h);
    perp_run_settings whole = *w->settings;
    perp_run_result result = {0};
    perp_state state = {0};
    whole.substep_tolerance = INFINITY;
    whole.steps = 1;
    whole.steps_set = true;
    if (!isfinite(w->settings->substep_tolerance) || !strstr(message, end)) {
        return isfinite(w->settings->substep_tolerance);
    }
    if (perp_state_create(w->model, NULL, &state, NULL) != PERP_STATUS_OK) {
        watch_need(NULL);
    }
    state.t = begin->t;
    memcpy(state.q, begin->q, (size_t)w->model->nq * sizeof *state.q);
    memcpy(state.v, begin->v, (size_t)w->model->nv * sizeof *state.v);
    const perp_status status = perp_run(w->model, &whole, NULL, NULL, NULL, &state, &result, NULL);
    perp_run_result_free(&result);
    perp_state_free(&state);
    return status == PERP_STATUS_OK;
}

static void judge_stop(sweep_watch *w, const perp_state *state, const perp_error *error, int index)
{
    const int column = column_of(w, error->code ? error->code : "none");
    w->row[column]++;
    if (column == WATCH_TOLERANCE_MISSED || column == WATCH_NOT_CONVERGED) {
        miss(w, state, error, index);
        return;
    }
    quasistatic_finding finding = judge(w, state, error, column);
    if (finding.verdict == QUASISTATIC_DISPROVED && may_be_part(w, state, error->message)) {
        finding.verdict = QUASISTATIC_CLOSE;
    }
    w->row[WATCH_CLOSE] += finding.verdict == QUASISTATIC_CLOSE ? 1 : 0;
    if (finding.verdict == QUASISTATIC_DISPROVED) {
        sweep_fail(w->result, "%s: not true (to %.3g, with forces of %.3g F) at t = %g: %s", w->rung->name,
                   finding.distance, finding.weight, state->t, error->message);
    }
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

perp_status watch_run(sweep_watch *w, perp_observer *observer, void *context, int index)
{
    perp_state state = {0};
    perp_error error = {0};
    if (perp_state_create(w->model, NULL, &state, &error) != PERP_STATUS_OK) {
        watch_need(NULL);
    }
    quasistatic_view_at(&w->view, state.q, state.t, w->model->scene->margin);
    const perp_status status = perp_run(w->model, w->settings, NULL, observer, context, &state, &w->run, &error);
    double *row = w->row;
    row[WATCH_RUNS]++;
    row[WATCH_STEPS] += w->run.steps;
    row[WATCH_LOOSE] += w->run.fallbacks[PERP_FALLBACK_LOOSE];
    row[WATCH_SECOND] += w->run.fallbacks[PERP_FALLBACK_SECOND_METHOD];
    measure_most(&row[WATCH_BALANCE], w->run.residuals.balance);
    measure_most(&row[WATCH_COMPLEMENTARITY], w->run.residuals.complementarity);
    measure_most(&row[WATCH_CONE], w->run.residuals.cone);
    if (status == PERP_STATUS_OK) {
        row[WATCH_COMPLETED]++;
    } else {
        judge_stop(w, &state, &error, index);
    }
    perp_state_free(&state);
    return status;
}
