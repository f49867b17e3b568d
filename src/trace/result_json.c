#include <perp/trace.h>

#include "trace/result_json.h"
#include "trace/state_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* World poses of all bodies, those that joints move included. */
static json_t *body_poses(const perp_model *model, const perp_state *state)
{
    perp_kinematics *kinematics;
    if (perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK) {
        return NULL;
    }
    perp_kinematics_update(model, state->q, kinematics);
    json_maker m = perp_json_object();
    for (int i = 0; i < model->body_count; i++) {
        double numbers[7];
        const int count = perp_body_pose_numbers(model, kinematics, state->q, i, numbers);
        perp_json_put(&m, model->scene->bodies[i].name, perp_json_reals(numbers, count));
    }
    perp_kinematics_free(kinematics);
    return perp_json_finished(&m);
}

json_t *perp_json_final(const perp_model *model, const perp_state *state)
{
    json_maker final = perp_json_object(), q = perp_json_object(), v = perp_json_object();
    state_entry entry;
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry);) {
        perp_json_put(&q, entry.name, perp_json_reals(entry.q, entry.nq));
        perp_json_put(&v, entry.name, perp_json_reals(entry.v, entry.nv));
    }
    perp_json_put(&final, "t", perp_json_real(state->t));
    perp_json_put(&final, "q", perp_json_finished(&q));
    perp_json_put(&final, "v", perp_json_finished(&v));
    perp_json_put(&final, "poses", body_poses(model, state));
    return perp_json_finished(&final);
}

/* Two components in the plane. Adding 0 takes the sign from a zero. */
static json_t *vector(const perp_model *model, perp_vec3 a)
{
    const double values[3] = {a.x + 0.0, a.y + 0.0, a.z + 0.0};
    return perp_json_reals(values, model->planar ? 2 : 3);
}

static json_t *tangents(const perp_model *model, const perp_contact *c)
{
    json_t *array = json_array();
    const perp_vec3 directions[2] = {c->t, c->o};
    for (int i = 0; array && i < perp_contact_tangents(c, model->planar); i++) {
        array = perp_json_appended(array, vector(model, directions[i]));
    }
    return array;
}

static json_maker contact_maker(const perp_model *model, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const int directions = perp_contact_tangents(c, model->planar);
    const double slip[2] = {record->slip[0] + 0.0, record->slip[1] + 0.0};
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    json_maker m = perp_json_object();
    perp_json_put(&m, "a", json_string(model->scene->bodies[c->a].name));
    perp_json_put(&m, "b", json_string(model->scene->bodies[c->b].name));
    perp_json_put(&m, "feature", json_string(feature));
    perp_json_put(&m, "mode", json_string(perp_contact_mode_name(record->mode)));
    perp_json_put(&m, "phi", perp_json_real(c->phi + 0.0));
    perp_json_put(&m, "point", vector(model, perp_contact_midpoint(c)));
    perp_json_put(&m, "normal", vector(model, c->normal));
    perp_json_put(&m, "tangents", tangents(model, c));
    perp_json_put(&m, "fn", perp_json_real(record->fn));
    perp_json_put(&m, "ft", perp_json_reals(record->ft, directions));
    perp_json_put(&m, "force_on_b", vector(model, record->force_on_b));
    if (c->arm > 0.0) {
        perp_json_put(&m, "moment", perp_json_real(record->moment + 0.0));
    }
    perp_json_put(&m, "slip", perp_json_reals(slip, directions));
    perp_json_put(&m, "margin", perp_json_real(record->margin));
    perp_json_put(&m, "layer_predicted", perp_json_real(record->layer_predicted));
    perp_json_put(&m, "layer_observed", perp_json_real(record->layer_observed));
    return m;
}

static void put_note(json_maker *m, const perp_contact_note *note)
{
    if (note && note->why) {
        perp_json_put(m, "why", json_string(note->why));
    }
    if (note && note->number_count > 0) {
        json_maker numbers = perp_json_object();
        for (int i = 0; i < note->number_count; i++) {
            perp_json_put(&numbers, note->numbers[i].name,
                          perp_json_reals(note->numbers[i].values, note->numbers[i].count));
        }
        perp_json_put(m, "flip", perp_json_finished(&numbers));
    }
}

static json_t *contact_object(const perp_model *model, const perp_contact_record *record, const perp_contact_note *note)
{
    json_maker m = contact_maker(model, record);
    put_note(&m, note);
    return perp_json_finished(&m);
}

/* Rates by name. */
static json_t *rates_object(const perp_model *model, const perp_state *state, double *rate)
{
    const perp_state moving = {.q = state->q, .v = rate, .t = state->t};
    json_maker rates = perp_json_object();
    state_entry entry;
    for (int cursor = 0; perp_state_next(model, &moving, &cursor, &entry);) {
        perp_json_put(&rates, entry.name, perp_json_reals(entry.v, entry.nv));
    }
    return perp_json_finished(&rates);
}

static json_t *rates_list(const perp_model *model, const perp_state *state, double *rates, int count)
{
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++) {
        list = perp_json_appended(list, rates_object(model, state, rates + (ptrdiff_t)i * model->nv));
    }
    return list;
}

static json_t *solution_object(const perp_model *model, const perp_state *state, const char *answers,
                               const perp_instant_solution *solution)
{
    json_maker m = perp_json_object();
    json_t *list = json_array();
    for (int i = 0; list && i < solution->contact_count; i++) {
        json_maker contact = contact_maker(model, &solution->contacts[i]);
        json_t *range = perp_json_appended(json_array(), perp_json_real(solution->fn_low[i]));
        const double high = solution->fn_high[i];
        range = perp_json_appended(range, isfinite(high) ? perp_json_real(high) : json_null());
        perp_json_put(&contact, "fn_range", range);
        put_note(&contact, solution->notes ? &solution->notes[i] : NULL);
        list = perp_json_appended(list, perp_json_finished(&contact));
    }
    perp_json_put(&m, answers, rates_object(model, state, solution->rate));
    perp_json_put(&m, "contacts", list);
    if (solution->vertex_count > 0) {
        perp_json_put(&m, "vertices", rates_list(model, state, solution->vertices, solution->vertex_count));
        perp_json_put(&m, "rays", rates_list(model, state, solution->rays, solution->ray_count));
    }
    return perp_json_finished(&m);
}

static json_t *solutions(const perp_model *model, const perp_state *state, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->solution_count; i++) {
        array = perp_json_appended(array, solution_object(model, state, result->rung->answers, &result->solutions[i]));
    }
    return array;
}

static json_t *event_object(const perp_model *model, const perp_contact_event *event)
{
    char contact[2 * PERP_SCENE_MAX_NAME + sizeof event->feature + 3];
    snprintf(contact, sizeof contact, "%s %s %s", model->scene->bodies[event->a].name,
             model->scene->bodies[event->b].name, event->feature);
    json_maker m = perp_json_object();
    perp_json_put(&m, "t", perp_json_real(event->t));
    perp_json_put(&m, "contact", json_string(contact));
    perp_json_put(&m, "from", json_string(perp_contact_mode_name(event->from)));
    perp_json_put(&m, "to", json_string(perp_contact_mode_name(event->to)));
    return perp_json_finished(&m);
}

static json_t *contacts(const perp_model *model, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->contact_count; i++) {
        array = perp_json_appended(
            array, contact_object(model, &result->contacts[i], result->notes ? &result->notes[i] : NULL));
    }
    return array;
}

json_t *perp_json_events(const perp_model *model, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->event_count; i++) {
        array = perp_json_appended(array, event_object(model, &result->events[i]));
    }
    return array;
}

static json_t *residuals(const perp_residuals *r)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "balance", perp_json_real(r->balance));
    perp_json_put(&m, "complementarity", perp_json_real(r->complementarity));
    perp_json_put(&m, "cone", perp_json_real(r->cone));
    perp_json_put(&m, "penetration", perp_json_real(r->penetration));
    perp_json_put(&m, "balance_true", perp_json_real(r->balance_true));
    perp_json_put(&m, "boundary_layer", perp_json_real(r->boundary_layer));
    perp_json_put(&m, "loop", perp_json_real(r->loop));
    return perp_json_finished(&m);
}

static json_t *timing(const perp_timing *t)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "step_mean_us", perp_json_real(t->step_mean_us));
    perp_json_put(&m, "step_median_us", perp_json_real(t->step_median_us));
    perp_json_put(&m, "step_max_us", perp_json_real(t->step_max_us));
    perp_json_put(&m, "solve_mean_us", perp_json_real(t->solve_mean_us));
    return perp_json_finished(&m);
}

static json_t *fallbacks(const perp_run_result *result)
{
    json_maker m = perp_json_object();
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        if (result->fallbacks[i] > 0) {
            perp_json_put(&m, perp_fallback_name((perp_fallback)i), json_integer(result->fallbacks[i]));
        }
    }
    return perp_json_finished(&m);
}

/* null where a force is not known. */
static json_t *loop_object(const perp_loop *loop, const perp_loop_force *told)
{
    json_t *force = json_array();
    for (int r = 0; force && r < told->count; r++) {
        force = perp_json_appended(force, told->known[r] ? perp_json_real(told->force[r] + 0.0) : json_null());
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "loop", json_string(loop->name));
    perp_json_put(&m, "kind", json_string(perp_loop_what(loop)));
    perp_json_put(&m, "force", force);
    return perp_json_finished(&m);
}

static json_t *loops(const perp_model *model, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->loop_count; i++) {
        array = perp_json_appended(array, loop_object(&model->scene->loops[i], &result->loops[i]));
    }
    return array;
}

/* How often each verdict was met. */
static json_t *verdict_counts(const int counts[PERP_VERDICT_COUNT])
{
    json_maker m = perp_json_object();
    for (int i = 0; i < PERP_VERDICT_COUNT; i++) {
        if (counts[i] > 0) {
            perp_json_put(&m, perp_verdict_name((perp_verdict)i), json_integer(counts[i]));
        }
    }
    return perp_json_finished(&m);
}

static json_t *trust_first(const perp_trust_first *first)
{
    json_maker m = perp_json_object();
    json_t *list = json_array();
    for (int i = 0; list && i < first->contact_count; i++) {
        list = perp_json_appended(list, json_string(first->contacts[i]));
    }
    perp_json_put(&m, "step", json_integer(first->step));
    perp_json_put(&m, "t", perp_json_real(first->t));
    perp_json_put(&m, "from", perp_json_real(first->from));
    perp_json_put(&m, "contacts", list);
    perp_json_put(&m, "reason", json_string(first->reason));
    return perp_json_finished(&m);
}

static json_t *trust_object(const perp_trust_summary *trust)
{
    json_maker m = perp_json_object(), first = perp_json_object();
    perp_json_put(&m, "steps", json_integer(trust->steps));
    perp_json_put(&m, "existence", verdict_counts(trust->existence));
    perp_json_put(&m, "uniqueness", verdict_counts(trust->uniqueness));
    perp_json_put(&m, "rigidity", verdict_counts(trust->rigidity));
    if (trust->not_unique.met) {
        perp_json_put(&first, perp_verdict_name(PERP_VERDICT_NOT_UNIQUE), trust_first(&trust->not_unique));
    }
    if (trust->invalid.met) {
        perp_json_put(&first, perp_verdict_name(PERP_VERDICT_INVALID), trust_first(&trust->invalid));
    }
    perp_json_put(&m, "first", perp_json_finished(&first));
    return perp_json_finished(&m);
}

char *perp_result_json(const perp_model *model, const perp_state *state, const perp_run_result *result,
                       const perp_error *failure)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "status", json_string(failure ? "error" : "ok"));
    if (model && state && result && result->rung) {
        char hash[17];
        perp_hash_text(result->hash, hash);
        perp_json_put(&m, "model", json_string(result->rung->name));
        perp_json_put(&m, "h", perp_json_real(result->h));
        perp_json_put(&m, "steps", json_integer(result->steps));
        perp_json_put(&m, "read_in", perp_json_units(model->scene));
        perp_json_put(&m, "final", perp_json_final(model, state));
        perp_json_put(&m, "contacts", contacts(model, result));
        perp_json_put(&m, "loops", loops(model, result));
        perp_json_put(&m, "events", perp_json_events(model, result));
        if (result->rung->answer) {
            perp_json_put(&m, "solutions", solutions(model, state, result));
            perp_json_put(&m, "solutions_complete", json_boolean(!result->partial));
            if (result->why_none[0]) {
                perp_json_put(&m, "why", json_string(result->why_none));
            }
            if (result->left_out[0]) {
                perp_json_put(&m, "left_out", json_string(result->left_out));
            }
        }
        perp_json_put(&m, "residual", residuals(&result->residuals));
        perp_json_put(&m, "fallbacks", fallbacks(result));
        perp_json_put(&m, "several", json_integer(result->several));
        if (result->trust) {
            perp_json_put(&m, "trust", trust_object(result->trust));
        }
        perp_json_put(&m, "timing", timing(&result->timing));
        perp_json_put(&m, "hash", json_string(hash));
    }
    if (failure) {
        perp_json_put(&m, "error", perp_json_failure(failure));
    }
    return perp_json_dump(&m);
}

static json_t *diagnostic_object(const perp_diagnostic *item)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "severity", json_string(item->severity == PERP_SEVERITY_ERROR ? "error" : "warning"));
    perp_json_put(&m, "file", json_string(item->file));
    perp_json_put(&m, "line", json_integer(item->line));
    perp_json_put(&m, "column", json_integer(item->column));
    perp_json_put(&m, "path", json_string(item->path));
    perp_json_put(&m, "message", json_string(item->message));
    return perp_json_finished(&m);
}

char *perp_check_json(const perp_model *model, const perp_diagnostics *diagnostics)
{
    json_maker m = perp_json_object();
    json_t *list = json_array();
    for (int i = 0; list && i < diagnostics->count; i++) {
        m.good = json_array_append_new(list, diagnostic_object(&diagnostics->items[i])) == 0 && m.good;
    }
    perp_json_put(&m, "status", json_string(model ? "ok" : "error"));
    perp_json_put(&m, "errors", json_integer(diagnostics->errors));
    perp_json_put(&m, "warnings", json_integer(diagnostics->warnings));
    perp_json_put(&m, "diagnostics", list);
    if (model) {
        perp_json_put(&m, "bodies", json_integer(model->body_count));
        perp_json_put(&m, "joints", json_integer(model->scene->joint_count));
        perp_json_put(&m, "degrees_of_freedom", json_integer(model->nv));
        perp_json_put(&m, "trees", json_integer(model->tree_count));
        perp_json_put(&m, "read_in", perp_json_units(model->scene));
    }
    return perp_json_dump(&m);
}
