/* The JSON of a step's messages. Text is put together directly: a step must not take memory, and building a tree of
 * values would take some for every number. */
#include "log/format.h"
#include "trace/state_view.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* "name":[..], behind `separator`. */
static void put_named(byte_row *row, const char *separator, const char *name, const double *values, int count)
{
    perp_bytes_text(row, separator);
    perp_bytes_json(row, "%s:", name);
    perp_bytes_reals(row, values, count);
}

static void put_entries(byte_row *row, const perp_model *model, const perp_state *state, bool rates)
{
    state_entry entry;
    const char *separator = "{";
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry); separator = ",") {
        put_named(row, separator, entry.name, rates ? entry.v : entry.q, rates ? entry.nv : entry.nq);
    }
    perp_bytes_text(row, separator[0] == '{' ? "{}" : "}");
}

void perp_log_put_state(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, int step,
                        const perp_state *state)
{
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"q\":", step, state->t);
    put_entries(row, model, state, false);
    perp_bytes_text(row, ",\"v\":");
    put_entries(row, model, state, true);
    perp_bytes_text(row, ",\"poses\":");
    for (int i = 0; i < model->body_count; i++) {
        double numbers[7];
        const int count = perp_body_pose_numbers(model, kinematics, state->q, i, numbers);
        put_named(row, i == 0 ? "{" : ",", model->scene->bodies[i].name, numbers, count);
    }
    perp_bytes_text(row, model->body_count == 0 ? "{}}" : "}}");
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static void put_vector(byte_row *row, const char *name, perp_vec3 a, bool planar)
{
    const double values[3] = {a.x, a.y, a.z};
    perp_bytes_text(row, name);
    perp_bytes_reals(row, values, planar ? 2 : 3);
}

/* What most contacts do not have: restricted friction, restitution, settings of a pair, another normal as good. */
static void put_rarities(byte_row *row, const perp_contact *c, bool planar)
{
    const int full = perp_contact_tangents(c, planar);
    const perp_vec3 usual[2] = {c->t, c->o};
    if (c->direction_count != full ||
        memcmp(c->directions, usual, (size_t)full * sizeof *usual) != 0) { /* equal bits: what is written is restored */
        perp_bytes_text(row, ",\"directions\":[");
        for (int i = 0; i < c->direction_count; i++) {
            put_vector(row, i > 0 ? "," : "", c->directions[i], planar);
        }
        perp_bytes_text(row, "]");
    }
    if (c->restitution != 0.0) {
        perp_bytes_json(row, ",\"restitution\":%g", c->restitution);
    }
    if (c->pair >= 0) {
        perp_bytes_json(row, ",\"pair\":%d", c->pair);
    }
    if (c->tie) {
        perp_bytes_text(row, ",\"tie\":true");
    }
}

static void put_contact(byte_row *row, const perp_model *model, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const bool planar = model->planar;
    const int tangents = perp_contact_tangents(c, planar);
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    perp_bytes_json(row, "{\"a\":%s,\"b\":%s,\"feature\":%s,\"id\":[%d,%d,%d,%d],\"mode\":%s,\"phi\":%g",
                    model->scene->bodies[c->a].name, model->scene->bodies[c->b].name, feature, c->shape_a, c->feature_a,
                    c->shape_b, c->feature_b, perp_contact_mode_name(record->mode), c->phi);
    put_vector(row, ",\"point\":", perp_contact_midpoint(c), planar);
    put_vector(row, ",\"point_a\":", c->point_a, planar);
    put_vector(row, ",\"point_b\":", c->point_b, planar);
    put_vector(row, ",\"normal\":", c->normal, planar);
    put_vector(row, ",\"tangents\":[", c->t, planar);
    if (tangents > 1) {
        put_vector(row, ",", c->o, planar);
    }
    perp_bytes_text(row, "],\"ft\":");
    perp_bytes_reals(row, record->ft, tangents);
    put_vector(row, ",\"force_on_b\":", record->force_on_b, planar);
    perp_bytes_text(row, ",\"slip\":");
    perp_bytes_reals(row, record->slip, tangents);
    perp_bytes_json(row, ",\"mu\":%g,\"fn\":%g,\"margin\":%g,\"layer_predicted\":%g,\"layer_observed\":%g", c->friction,
                    record->fn, record->margin, record->layer_predicted, record->layer_observed);
    put_rarities(row, c, planar);
    if (c->arm > 0.0) {
        perp_bytes_json(row, ",\"arm\":%g,\"moment\":%g", c->arm, record->moment);
    }
}

static void put_note(byte_row *row, int contact, const perp_contact_note *note)
{
    perp_bytes_json(row, "{\"contact\":%d,\"why\":%s", contact, note->why);
    for (int i = 0; i < note->number_count; i++) {
        put_named(row, i == 0 ? ",\"flip\":{" : ",", note->numbers[i].name, note->numbers[i].values,
                  note->numbers[i].count);
    }
    perp_bytes_text(row, note->number_count > 0 ? "}}" : "}");
}

void perp_log_put_contacts(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info)
{
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"contacts\":[", step, t);
    for (int i = 0; i < info->contact_count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        put_contact(row, model, &info->contacts[i]);
        perp_bytes_text(row, "}");
    }
    perp_bytes_text(row, "]}");
}

/* A quantity of the elements of a patch, one element after the other. */
static void put_column(byte_row *row, const log_quantity *quantity, bool planar, const perp_element_record *elements,
                       int element_count)
{
    const int count = perp_log_quantity_count(quantity, planar);
    perp_bytes_json(row, ",%s:", quantity->name);
    for (int i = 0; i < element_count * count; i++) {
        perp_bytes_text(row, i == 0 ? "[" : ",");
        perp_bytes_real(row, perp_log_quantity_get(quantity, i % count, &elements[i / count]));
    }
    perp_bytes_text(row, "]");
}

void perp_log_put_elements(byte_row *row, bool planar, int step, double t, const perp_step_info *info)
{
    const char *separator = "";
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"contacts\":[", step, t);
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        if (r->element_count > 0) {
            perp_bytes_text(row, separator);
            perp_bytes_json(row, "{\"contact\":%d", i);
            for (int k = 0; k < LOG_ELEMENT_QUANTITIES; k++) {
                put_column(row, &perp_log_element_quantities[k], planar, info->elements + r->element_start,
                           r->element_count);
            }
            perp_bytes_text(row, "}");
            separator = ",";
        }
    }
    perp_bytes_text(row, "]}");
}

static void put_rates(byte_row *row, const perp_model *model, const perp_state *state, double *rates, int count)
{
    for (int i = 0; i < count; i++) {
        const perp_state moving = {.q = state->q, .v = rates + (ptrdiff_t)i * model->nv, .t = state->t};
        perp_bytes_text(row, i > 0 ? "," : "");
        put_entries(row, model, &moving, true);
    }
}

static void put_solution(byte_row *row, const perp_model *model, const perp_state *state, const char *answers,
                         const perp_instant_solution *solution)
{
    perp_bytes_json(row, "{%s:", answers);
    put_rates(row, model, state, solution->rate, 1);
    if (solution->vertex_count > 0) {
        perp_bytes_text(row, ",\"vertices\":[");
        put_rates(row, model, state, solution->vertices, solution->vertex_count);
        perp_bytes_text(row, "],\"rays\":[");
        put_rates(row, model, state, solution->rays, solution->ray_count);
        perp_bytes_text(row, "]");
    }
    perp_bytes_text(row, ",\"contacts\":[");
    for (int i = 0; i < solution->contact_count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        put_contact(row, model, &solution->contacts[i]);
        /* null: no bound */
        perp_bytes_json(row, ",\"fn_range\":[%g,%g]}", solution->fn_low[i], solution->fn_high[i]);
    }
    perp_bytes_text(row, "]}");
}

void perp_log_put_solutions(byte_row *row, const perp_model *model, int step, const perp_state *state,
                            const perp_instant_answer *answer)
{
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"answers\":%s", step, state->t, answer->answers);
    perp_bytes_text(row, answer->partial ? ",\"complete\":false" : ",\"complete\":true");
    perp_bytes_json(row, ",\"why\":%s,\"left_out\":%s,\"solutions\":[", answer->why_none, answer->left_out);
    for (int i = 0; i < answer->solution_count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        put_solution(row, model, state, answer->answers, &answer->solutions[i]);
    }
    perp_bytes_text(row, "]}");
}

static void put_list(byte_row *row, const char *key, const char *const *texts, int count)
{
    perp_bytes_text(row, key);
    for (int i = 0; i < count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        perp_bytes_quoted(row, texts[i]);
    }
    perp_bytes_text(row, "]");
}

void perp_log_put_trust(byte_row *row, const perp_model *model, int step, const perp_state *state,
                        const perp_step_trust *trust)
{
    perp_step_trust own = *trust;
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"from\":%g", step, state->t, trust->from);
    for (int i = 0; i < LOG_VERDICTS; i++) {
        perp_bytes_json(row, ",%s:%s", perp_log_verdicts[i].name,
                        perp_verdict_name(*perp_log_verdict_of(&perp_log_verdicts[i], &own)));
    }
    if (trust->motion) {
        perp_bytes_text(row, ",\"motion\":");
        put_rates(row, model, state, (double *)(uintptr_t)trust->motion, 1);
        perp_bytes_text(row, trust->motion_both_ways ? ",\"both_ways\":true" : ",\"both_ways\":false");
    }
    put_list(row, ",\"contacts\":[", trust->contacts, trust->contact_count);
    put_list(row, ",\"reasons\":[", trust->reasons, trust->reason_count);
    perp_bytes_text(row, "}");
}

void perp_log_put_why(byte_row *row, int step, double t, const perp_contact_note *notes, int count)
{
    const char *separator = "";
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"contacts\":[", step, t);
    for (int i = 0; i < count; i++) {
        if (notes[i].why) {
            perp_bytes_text(row, separator);
            put_note(row, i, &notes[i]);
            separator = ",";
        }
    }
    perp_bytes_text(row, "]}");
}

/* ---- info -------------------------------------------------------------------------------------------------------- */

static void put_event(byte_row *row, const perp_model *model, const perp_contact_event *event)
{
    const char *a = model->scene->bodies[event->a].name, *b = model->scene->bodies[event->b].name;
    char contact[2 * PERP_SCENE_MAX_NAME + sizeof event->feature + 3];
    snprintf(contact, sizeof contact, "%s %s %s", a, b, event->feature);
    perp_bytes_json(row, "{\"t\":%g,\"contact\":%s,\"a\":%s,\"b\":%s,\"feature\":%s,\"from\":%s,\"to\":%s}", event->t,
                    contact, a, b, event->feature, perp_contact_mode_name(event->from),
                    perp_contact_mode_name(event->to));
}

void perp_log_put_info(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info,
                       bool timing)
{
    const char *separator = "";
    perp_bytes_json(row, "{\"step\":%d,\"t\":%g,\"iterations\":%d", step, t, info->iterations);
    if (timing) {
        perp_bytes_json(row, ",\"solve_us\":%g", info->solve_us);
    }
    perp_bytes_text(row, info->several ? ",\"several\":true" : ",\"several\":false");
    for (int i = 0; i < LOG_RESIDUALS; i++) {
        perp_bytes_text(row, i == 0 ? ",\"residual\":{" : ",");
        perp_bytes_json(row, "%s:%g", perp_log_residuals[i].name,
                        perp_log_quantity_get(&perp_log_residuals[i], 0, &info->residuals));
    }
    perp_bytes_text(row, "},\"fallbacks\":{");
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        if (info->fallbacks[i] > 0) {
            perp_bytes_text(row, separator);
            perp_bytes_json(row, "%s:%d", perp_fallback_name((perp_fallback)i), info->fallbacks[i]);
            separator = ",";
        }
    }
    perp_bytes_text(row, "},\"events\":[");
    for (int i = 0; i < info->event_count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        put_event(row, model, &info->events[i]);
    }
    perp_bytes_text(row, "]}");
}

void perp_log_put_memory(byte_row *row, int step, const double *numbers, size_t count)
{
    perp_bytes_json(row, "{\"step\":%d,\"numbers\":[", step);
    for (size_t i = 0; i < count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        perp_bytes_real(row, numbers[i]);
    }
    perp_bytes_text(row, "]}");
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

void perp_log_put_layout(byte_row *row, const perp_model *model, const perp_state *state)
{
    state_entry entry;
    perp_bytes_text(row, model->planar ? "{\"planar\":true,\"bodies\":[" : "{\"planar\":false,\"bodies\":[");
    for (int i = 0; i < model->body_count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        perp_bytes_quoted(row, model->scene->bodies[i].name);
    }
    perp_bytes_text(row, "],\"entries\":[");
    const char *separator = "";
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry); separator = ",") {
        perp_bytes_text(row, separator);
        perp_bytes_json(row, "{\"name\":%s,\"kind\":%s,\"nq\":%d,\"nv\":%d}", entry.name,
                        entry.is_body ? "body" : "joint", entry.nq, entry.nv);
    }
    perp_bytes_text(row, "]}");
}
