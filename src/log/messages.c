/* The JSON of a step's messages. Text is put together directly: a step must not take memory, and building a tree of
 * values would take some for every number. */
#include "log/format.h"
#include "trace/state_view.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* `text` is a constant, and stays so: separators and keys. */
static void key(byte_row *row, const char *text)
{
    perp_bytes_text(row, text);
}

static void put_entries(byte_row *row, const perp_model *model, const perp_state *state, bool rates)
{
    state_entry entry;
    const char *separator = "{";
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry); separator = ",") {
        key(row, separator);
        perp_bytes_quoted(row, entry.name);
        key(row, ":");
        perp_bytes_reals(row, rates ? entry.v : entry.q, rates ? entry.nv : entry.nq);
    }
    key(row, separator[0] == '{' ? "{}" : "}");
}

void perp_log_put_state(byte_row *row, const perp_model *model, const perp_kinematics *kinematics, int step,
                        const perp_state *state)
{
    key(row, "{\"step\":");
    perp_bytes_integer(row, step);
    key(row, ",\"t\":");
    perp_bytes_real(row, state->t);
    key(row, ",\"q\":");
    put_entries(row, model, state, false);
    key(row, ",\"v\":");
    put_entries(row, model, state, true);
    key(row, ",\"poses\":");
    for (int i = 0; i < model->body_count; i++) {
        double numbers[7];
        const int count = perp_body_pose_numbers(model, kinematics, state->q, i, numbers);
        key(row, i == 0 ? "{" : ",");
        perp_bytes_quoted(row, model->scene->bodies[i].name);
        key(row, ":");
        perp_bytes_reals(row, numbers, count);
    }
    key(row, model->body_count == 0 ? "{}}" : "}}");
}

/* ---- contacts -----------------------------------------------------------------------------------------------------
 */

static void put_vector(byte_row *row, const char *name, perp_vec3 a, bool planar)
{
    const double values[3] = {a.x, a.y, a.z};
    key(row, name);
    perp_bytes_reals(row, values, planar ? 2 : 3);
}

/* What most contacts do not have: restricted friction, restitution, settings of a pair, another normal as good. */
static void put_rarities(byte_row *row, const perp_contact *c, bool planar)
{
    const int full = planar ? 1 : 2;
    const perp_vec3 usual[2] = {c->t, c->o};
    if (c->direction_count != full ||
        memcmp(c->directions, usual, (size_t)full * sizeof *usual) != 0) { /* equal bits: what is written is restored */
        key(row, ",\"directions\":[");
        for (int i = 0; i < c->direction_count; i++) {
            put_vector(row, i > 0 ? "," : "", c->directions[i], planar);
        }
        key(row, "]");
    }
    if (c->restitution != 0.0) {
        key(row, ",\"restitution\":");
        perp_bytes_real(row, c->restitution);
    }
    if (c->pair >= 0) {
        key(row, ",\"pair\":");
        perp_bytes_integer(row, c->pair);
    }
    if (c->tie) {
        key(row, ",\"tie\":true");
    }
}

static void put_identity(byte_row *row, const perp_model *model, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const int id[4] = {c->shape_a, c->feature_a, c->shape_b, c->feature_b};
    char feature[64];
    perp_contact_feature_text(c, feature, sizeof feature);
    key(row, "{\"a\":");
    perp_bytes_quoted(row, model->scene->bodies[c->a].name);
    key(row, ",\"b\":");
    perp_bytes_quoted(row, model->scene->bodies[c->b].name);
    key(row, ",\"feature\":");
    perp_bytes_quoted(row, feature);
    for (int i = 0; i < 4; i++) {
        key(row, i == 0 ? ",\"id\":[" : ",");
        perp_bytes_integer(row, id[i]);
    }
    key(row, "],\"mode\":");
    perp_bytes_quoted(row, perp_contact_mode_name(record->mode));
}

static void put_contact(byte_row *row, const perp_model *model, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    const bool planar = model->planar;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{",\"mu\":", c->friction},
                   {",\"fn\":", record->fn},
                   {",\"margin\":", record->margin},
                   {",\"layer_predicted\":", record->layer_predicted},
                   {",\"layer_observed\":", record->layer_observed}};
    put_identity(row, model, record);
    key(row, ",\"phi\":");
    perp_bytes_real(row, c->phi);
    put_vector(row, ",\"point\":", perp_contact_midpoint(c), planar);
    put_vector(row, ",\"point_a\":", c->point_a, planar);
    put_vector(row, ",\"point_b\":", c->point_b, planar);
    put_vector(row, ",\"normal\":", c->normal, planar);
    put_vector(row, ",\"tangents\":[", c->t, planar);
    if (!planar) {
        put_vector(row, ",", c->o, planar);
    }
    key(row, "],\"ft\":");
    perp_bytes_reals(row, record->ft, planar ? 1 : 2);
    put_vector(row, ",\"force_on_b\":", record->force_on_b, planar);
    key(row, ",\"slip\":");
    perp_bytes_reals(row, record->slip, planar ? 1 : 2);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        key(row, numbers[i].name);
        perp_bytes_real(row, numbers[i].value);
    }
    put_rarities(row, c, planar);
}

static void put_note(byte_row *row, int contact, const perp_contact_note *note)
{
    key(row, "{\"contact\":");
    perp_bytes_integer(row, contact);
    key(row, ",\"why\":");
    perp_bytes_quoted(row, note->why);
    for (int i = 0; i < note->number_count; i++) {
        key(row, i == 0 ? ",\"flip\":{" : ",");
        perp_bytes_quoted(row, note->numbers[i].name);
        key(row, ":");
        perp_bytes_reals(row, note->numbers[i].values, note->numbers[i].count);
        key(row, i == note->number_count - 1 ? "}" : "");
    }
    key(row, "}");
}

static void begin_contacts(byte_row *row, int step, double t)
{
    key(row, "{\"step\":");
    perp_bytes_integer(row, step);
    key(row, ",\"t\":");
    perp_bytes_real(row, t);
    key(row, ",\"contacts\":[");
}

void perp_log_put_contacts(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info)
{
    begin_contacts(row, step, t);
    for (int i = 0; i < info->contact_count; i++) {
        key(row, i > 0 ? "," : "");
        put_contact(row, model, &info->contacts[i]);
        key(row, "}");
    }
    key(row, "]}");
}

/* Numbers of the elements of a patch, one after the other: `count` doubles at `field` of each. */
static void put_column(byte_row *row, const char *name, const perp_element_record *elements, int element_count,
                       size_t field, int count)
{
    key(row, name);
    for (int e = 0; e < element_count; e++) {
        for (int k = 0; k < count; k++) {
            double value;
            memcpy(&value, (const char *)&elements[e] + field + (size_t)k * sizeof value, sizeof value);
            key(row, e == 0 && k == 0 ? "[" : ",");
            perp_bytes_real(row, value);
        }
    }
    key(row, "]");
}

void perp_log_put_elements(byte_row *row, bool planar, int step, double t, const perp_step_info *info)
{
    const int tangents = planar ? 1 : 2;
    const char *separator = "{\"contact\":";
    begin_contacts(row, step, t);
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        const perp_element_record *elements = info->elements + r->element_start;
        const int n = r->element_count;
        if (n > 0) {
            key(row, separator);
            perp_bytes_integer(row, i);
            put_column(row, ",\"offset\":", elements, n, offsetof(perp_element_record, offset), tangents);
            put_column(row, ",\"fn\":", elements, n, offsetof(perp_element_record, fn), 1);
            put_column(row, ",\"ft\":", elements, n, offsetof(perp_element_record, ft), tangents);
            put_column(row, ",\"limit\":", elements, n, offsetof(perp_element_record, limit), 1);
            put_column(row, ",\"slip\":", elements, n, offsetof(perp_element_record, slip), tangents);
            put_column(row, ",\"deformation\":", elements, n, offsetof(perp_element_record, deformation), 1 + tangents);
            key(row, "}");
            separator = ",{\"contact\":";
        }
    }
    key(row, "]}");
}

static void put_rates(byte_row *row, const perp_model *model, const perp_state *state, double *rates, int count)
{
    for (int i = 0; i < count; i++) {
        const perp_state moving = {.q = state->q, .v = rates + (ptrdiff_t)i * model->nv, .t = state->t};
        key(row, i > 0 ? "," : "");
        put_entries(row, model, &moving, true);
    }
}

static void put_solution(byte_row *row, const perp_model *model, const perp_state *state, const char *answers,
                         const perp_instant_solution *solution)
{
    key(row, "{");
    perp_bytes_quoted(row, answers);
    key(row, ":");
    put_rates(row, model, state, solution->rate, 1);
    if (solution->vertex_count > 0) {
        key(row, ",\"vertices\":[");
        put_rates(row, model, state, solution->vertices, solution->vertex_count);
        key(row, "],\"rays\":[");
        put_rates(row, model, state, solution->rays, solution->ray_count);
        key(row, "]");
    }
    key(row, ",\"contacts\":[");
    for (int i = 0; i < solution->contact_count; i++) {
        key(row, i > 0 ? "," : "");
        put_contact(row, model, &solution->contacts[i]);
        key(row, ",\"fn_range\":[");
        perp_bytes_real(row, solution->fn_low[i]);
        key(row, ",");
        perp_bytes_real(row, solution->fn_high[i]); /* null: no bound */
        key(row, "]}");
    }
    key(row, "]}");
}

void perp_log_put_solutions(byte_row *row, const perp_model *model, int step, const perp_state *state,
                            const perp_instant_answer *answer)
{
    key(row, "{\"step\":");
    perp_bytes_integer(row, step);
    key(row, ",\"t\":");
    perp_bytes_real(row, state->t);
    key(row, ",\"answers\":");
    perp_bytes_quoted(row, answer->answers);
    key(row, answer->partial ? ",\"complete\":false,\"why\":" : ",\"complete\":true,\"why\":");
    perp_bytes_quoted(row, answer->why_none);
    key(row, ",\"left_out\":");
    perp_bytes_quoted(row, answer->left_out);
    key(row, ",\"solutions\":[");
    for (int i = 0; i < answer->solution_count; i++) {
        key(row, i > 0 ? "," : "");
        put_solution(row, model, state, answer->answers, &answer->solutions[i]);
    }
    key(row, "]}");
}

void perp_log_put_why(byte_row *row, int step, double t, const perp_contact_note *notes, int count)
{
    const char *separator = "";
    begin_contacts(row, step, t);
    for (int i = 0; i < count; i++) {
        if (notes[i].why) {
            key(row, separator);
            put_note(row, i, &notes[i]);
            separator = ",";
        }
    }
    key(row, "]}");
}

/* ---- info ---------------------------------------------------------------------------------------------------------
 */

static void put_residuals(byte_row *row, const perp_residuals *r)
{
    const struct {
        const char *name;
        double value;
    } parts[] = {{",\"residual\":{\"balance\":", r->balance},
                 {",\"complementarity\":", r->complementarity},
                 {",\"cone\":", r->cone},
                 {",\"penetration\":", r->penetration},
                 {",\"balance_true\":", r->balance_true},
                 {",\"boundary_layer\":", r->boundary_layer},
                 {",\"loop\":", r->loop}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        key(row, parts[i].name);
        perp_bytes_real(row, parts[i].value);
    }
    key(row, "}");
}

static void put_event(byte_row *row, const perp_model *model, const perp_contact_event *event)
{
    const char *a = model->scene->bodies[event->a].name, *b = model->scene->bodies[event->b].name;
    char contact[2 * PERP_SCENE_MAX_NAME + sizeof event->feature + 3];
    snprintf(contact, sizeof contact, "%s %s %s", a, b, event->feature);
    key(row, "{\"t\":");
    perp_bytes_real(row, event->t);
    key(row, ",\"contact\":");
    perp_bytes_quoted(row, contact);
    key(row, ",\"a\":");
    perp_bytes_quoted(row, a);
    key(row, ",\"b\":");
    perp_bytes_quoted(row, b);
    key(row, ",\"feature\":");
    perp_bytes_quoted(row, event->feature);
    key(row, ",\"from\":");
    perp_bytes_quoted(row, perp_contact_mode_name(event->from));
    key(row, ",\"to\":");
    perp_bytes_quoted(row, perp_contact_mode_name(event->to));
    key(row, "}");
}

void perp_log_put_info(byte_row *row, const perp_model *model, int step, double t, const perp_step_info *info,
                       bool timing)
{
    const char *separator = "";
    key(row, "{\"step\":");
    perp_bytes_integer(row, step);
    key(row, ",\"t\":");
    perp_bytes_real(row, t);
    key(row, ",\"iterations\":");
    perp_bytes_integer(row, info->iterations);
    if (timing) {
        key(row, ",\"solve_us\":");
        perp_bytes_real(row, info->solve_us);
    }
    key(row, info->several ? ",\"several\":true" : ",\"several\":false");
    put_residuals(row, &info->residuals);
    key(row, ",\"fallbacks\":{");
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        if (info->fallbacks[i] > 0) {
            key(row, separator);
            perp_bytes_quoted(row, perp_fallback_name((perp_fallback)i));
            key(row, ":");
            perp_bytes_integer(row, info->fallbacks[i]);
            separator = ",";
        }
    }
    key(row, "},\"events\":[");
    for (int i = 0; i < info->event_count; i++) {
        key(row, i > 0 ? "," : "");
        put_event(row, model, &info->events[i]);
    }
    key(row, "]}");
}

void perp_log_put_memory(byte_row *row, int step, const double *numbers, size_t count)
{
    key(row, "{\"step\":");
    perp_bytes_integer(row, step);
    key(row, ",\"numbers\":[");
    for (size_t i = 0; i < count; i++) {
        key(row, i > 0 ? "," : "");
        perp_bytes_real(row, numbers[i]);
    }
    key(row, "]}");
}

/* ---- layout --------------------------------------------------------------------------------------------------------
 */

void perp_log_put_layout(byte_row *row, const perp_model *model, const perp_state *state)
{
    state_entry entry;
    key(row, model->planar ? "{\"planar\":true,\"bodies\":[" : "{\"planar\":false,\"bodies\":[");
    for (int i = 0; i < model->body_count; i++) {
        key(row, i > 0 ? "," : "");
        perp_bytes_quoted(row, model->scene->bodies[i].name);
    }
    key(row, "],\"entries\":[");
    const char *separator = "";
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry); separator = ",") {
        key(row, separator);
        key(row, "{\"name\":");
        perp_bytes_quoted(row, entry.name);
        key(row, entry.is_body ? ",\"kind\":\"body\",\"nq\":" : ",\"kind\":\"joint\",\"nq\":");
        perp_bytes_integer(row, entry.nq);
        key(row, ",\"nv\":");
        perp_bytes_integer(row, entry.nv);
        key(row, "}");
    }
    key(row, "]}");
}
