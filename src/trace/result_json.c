/* JSON results, through jansson. A NULL anywhere on the way (out of memory) makes the whole NULL: json_object_set_new
 * refuses a NULL value, and every refusal is remembered. */
#include <perp/trace.h>

#include "trace/state_view.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct json_maker {
    json_t *object;
    bool good;
} json_maker;

static json_maker make_object(void)
{
    json_maker m = {json_object(), true};
    m.good = m.object != NULL;
    return m;
}

static void put(json_maker *m, const char *key, json_t *value)
{
    m->good = json_object_set_new(m->object, key, value) == 0 && m->good;
}

/* Hands the object over, or NULL if anything in it is missing. */
static json_t *finished(json_maker *m)
{
    if (!m->good) {
        json_decref(m->object);
        return NULL;
    }
    return m->object;
}

/* What is not a number has no place in JSON: null. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The array with one more value; NULL, and nothing is left of either, if the value or the room for it is missing. */
static json_t *appended(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) {
        return array;
    }
    json_decref(array);
    return NULL;
}

static json_t *real_array(const double *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = appended(array, real(values[i]));
    }
    return array;
}

/* World poses of all bodies, those that joints move included. */
static json_t *body_poses(const perp_model *model, const perp_state *state)
{
    perp_kinematics *kinematics;
    if (perp_kinematics_create(model, NULL, &kinematics, NULL) != PERP_STATUS_OK) {
        return NULL;
    }
    perp_kinematics_update(model, state->q, kinematics);
    json_maker m = make_object();
    for (int i = 0; i < model->body_count; i++) {
        double numbers[7];
        const int count = perp_body_pose_numbers(model, kinematics, state->q, i, numbers);
        put(&m, model->scene->bodies[i].name, real_array(numbers, count));
    }
    perp_kinematics_free(kinematics);
    return finished(&m);
}

static json_t *final_state(const perp_model *model, const perp_state *state)
{
    json_maker final = make_object(), q = make_object(), v = make_object();
    state_entry entry;
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry);) {
        put(&q, entry.name, real_array(entry.q, entry.nq));
        put(&v, entry.name, real_array(entry.v, entry.nv));
    }
    put(&final, "t", real(state->t));
    put(&final, "q", finished(&q));
    put(&final, "v", finished(&v));
    put(&final, "poses", body_poses(model, state));
    return finished(&final);
}

/* Two components in the plane. Adding 0 takes the sign from a zero. */
static json_t *vector(const perp_model *model, perp_vec3 a)
{
    const double values[3] = {a.x + 0.0, a.y + 0.0, a.z + 0.0};
    return real_array(values, model->planar ? 2 : 3);
}

static json_t *tangents(const perp_model *model, const perp_contact *c)
{
    json_t *array = json_array();
    const perp_vec3 directions[2] = {c->t, c->o};
    for (int i = 0; array && i < (model->planar ? 1 : 2); i++) {
        array = appended(array, vector(model, directions[i]));
    }
    return array;
}

static json_t *contact_object(const perp_model *model, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const int directions = model->planar ? 1 : 2;
    const double slip[2] = {record->slip[0] + 0.0, record->slip[1] + 0.0};
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    json_maker m = make_object();
    put(&m, "a", json_string(model->scene->bodies[c->a].name));
    put(&m, "b", json_string(model->scene->bodies[c->b].name));
    put(&m, "feature", json_string(feature));
    put(&m, "mode", json_string(perp_contact_mode_name(record->mode)));
    put(&m, "phi", real(c->phi + 0.0));
    put(&m, "point", vector(model, perp_contact_midpoint(c)));
    put(&m, "normal", vector(model, c->normal));
    put(&m, "tangents", tangents(model, c));
    put(&m, "fn", real(record->fn));
    put(&m, "ft", real_array(record->ft, directions));
    put(&m, "force_on_b", vector(model, record->force_on_b));
    put(&m, "slip", real_array(slip, directions));
    return finished(&m);
}

static json_t *event_object(const perp_model *model, const perp_contact_event *event)
{
    char contact[2 * PERP_SCENE_MAX_NAME + sizeof event->feature + 3];
    snprintf(contact, sizeof contact, "%s %s %s", model->scene->bodies[event->a].name,
             model->scene->bodies[event->b].name, event->feature);
    json_maker m = make_object();
    put(&m, "t", real(event->t));
    put(&m, "contact", json_string(contact));
    put(&m, "from", json_string(perp_contact_mode_name(event->from)));
    put(&m, "to", json_string(perp_contact_mode_name(event->to)));
    return finished(&m);
}

static json_t *contacts(const perp_model *model, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->contact_count; i++) {
        array = appended(array, contact_object(model, &result->contacts[i]));
    }
    return array;
}

static json_t *events(const perp_model *model, const perp_run_result *result)
{
    json_t *array = json_array();
    for (int i = 0; array && i < result->event_count; i++) {
        array = appended(array, event_object(model, &result->events[i]));
    }
    return array;
}

static json_t *residuals(const perp_residuals *r)
{
    json_maker m = make_object();
    put(&m, "balance", real(r->balance));
    put(&m, "complementarity", real(r->complementarity));
    put(&m, "cone", real(r->cone));
    put(&m, "penetration", real(r->penetration));
    put(&m, "balance_true", real(r->balance_true));
    put(&m, "boundary_layer", real(r->boundary_layer));
    put(&m, "loop", real(r->loop));
    return finished(&m);
}

static json_t *timing(const perp_timing *t)
{
    json_maker m = make_object();
    put(&m, "step_mean_us", real(t->step_mean_us));
    put(&m, "step_median_us", real(t->step_median_us));
    put(&m, "step_max_us", real(t->step_max_us));
    put(&m, "solve_mean_us", real(t->solve_mean_us));
    return finished(&m);
}

static json_t *failure_object(const perp_error *failure)
{
    json_maker m = make_object(), evidence = make_object();
    if (failure->file[0]) {
        put(&evidence, "file", json_string(failure->file));
        put(&evidence, "line", json_integer(failure->line));
        put(&evidence, "column", json_integer(failure->column));
    }
    if (failure->path[0]) {
        put(&evidence, "path", json_string(failure->path));
    }
    put(&m, "code", json_string(perp_status_name(failure->status)));
    put(&m, "message", json_string(failure->message));
    put(&m, "evidence", finished(&evidence));
    return finished(&m);
}

/* Measures, then writes. json_dumps would do both at once, but it comes from jansson's allocator, which the program may
 * have replaced, and where its buffer cannot grow at the wrong moment it leaves out the quote behind a key and goes on
 * (jansson 2.14). */
static char *dump(json_maker *m)
{
    const size_t flags = JSON_REAL_PRECISION(17);
    json_t *object = finished(m);
    const size_t size = object ? json_dumpb(object, (char[1]){0}, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text && json_dumpb(object, text, size, flags) == size) {
        text[size] = '\0';
    } else {
        free(text);
        text = NULL;
    }
    json_decref(object);
    return text;
}

char *perp_result_json(const perp_model *model, const perp_state *state, const perp_run_result *result,
                       const perp_error *failure)
{
    json_maker m = make_object();
    put(&m, "status", json_string(failure ? "error" : "ok"));
    if (model && state && result && result->rung) {
        char hash[17];
        perp_hash_text(result->hash, hash);
        put(&m, "model", json_string(result->rung->name));
        put(&m, "h", real(result->h));
        put(&m, "steps", json_integer(result->steps));
        put(&m, "final", final_state(model, state));
        put(&m, "contacts", contacts(model, result));
        put(&m, "events", events(model, result));
        put(&m, "residual", residuals(&result->residuals));
        put(&m, "fallbacks", json_object());
        put(&m, "timing", timing(&result->timing));
        put(&m, "hash", json_string(hash));
    }
    if (failure) {
        put(&m, "error", failure_object(failure));
    }
    return dump(&m);
}

static json_t *diagnostic_object(const perp_diagnostic *item)
{
    json_maker m = make_object();
    put(&m, "severity", json_string(item->severity == PERP_SEVERITY_ERROR ? "error" : "warning"));
    put(&m, "file", json_string(item->file));
    put(&m, "line", json_integer(item->line));
    put(&m, "column", json_integer(item->column));
    put(&m, "path", json_string(item->path));
    put(&m, "message", json_string(item->message));
    return finished(&m);
}

char *perp_check_json(const perp_model *model, const perp_diagnostics *diagnostics)
{
    json_maker m = make_object();
    json_t *list = json_array();
    for (int i = 0; list && i < diagnostics->count; i++) {
        m.good = json_array_append_new(list, diagnostic_object(&diagnostics->items[i])) == 0 && m.good;
    }
    put(&m, "status", json_string(model ? "ok" : "error"));
    put(&m, "errors", json_integer(diagnostics->errors));
    put(&m, "warnings", json_integer(diagnostics->warnings));
    put(&m, "diagnostics", list);
    if (model) {
        put(&m, "bodies", json_integer(model->body_count));
        put(&m, "joints", json_integer(model->scene->joint_count));
        put(&m, "degrees_of_freedom", json_integer(model->nv));
        put(&m, "trees", json_integer(model->tree_count));
    }
    return dump(&m);
}

void perp_text_free(char *text)
{
    free(text);
}

const char *perp_json_version(void)
{
    return jansson_version_str();
}
