/* Messages back into a step. A file may say anything: whatever is missing, of another kind or out of range makes the
 * step unreadable, and says so. */
#include "log/read.h"

#include <jansson.h>

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being parsed: `good` turns false at the first thing that is not as it should be, `memory` where there is none
 * left; `what` names the place. */
typedef struct parser {
    perp_log_reader *r;
    perp_arena *arena;
    bool good, memory;
    const char *what;
} parser;

static void *take(parser *p, size_t count, size_t size)
{
    void *place = perp_arena_push(p->arena, count, size);
    p->memory = p->memory && place;
    return place;
}
#define TAKE(p, type, count) ((type *)take((p), (size_t)(count), sizeof(type)))

static bool working(const parser *p)
{
    return p->good && p->memory;
}

static void expect(parser *p, bool holds, const char *what)
{
    if (p->good && !holds) {
        p->good = false;
        p->what = what;
    }
}

static perp_status verdict(const parser *p, const char *where, perp_error *error)
{
    if (!p->memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while reading a log");
    }
    if (!p->good) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%s of the log: `%s` is not as a log has it", where, p->what);
    }
    return PERP_STATUS_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static const char *text_at(parser *p, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    expect(p, text != NULL, key);
    return text ? text : "";
}

static const char *copy_text(parser *p, const char *text)
{
    char *own = perp_arena_text(p->arena, text, strlen(text));
    p->memory = p->memory && own;
    return own;
}

static double real_at(parser *p, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    expect(p, json_is_number(value), key);
    return json_number_value(value);
}

/* null stands for what was not finite when it was written: such a residual is 0 here, NaN never leaves the API. */
static double real_or_null_at(parser *p, const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key)) ? 0.0 : real_at(p, object, key);
}

static int whole_at(parser *p, const json_t *object, const char *key, int low)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t number = json_integer_value(value);
    expect(p, json_is_integer(value) && number >= low && number <= INT_MAX, key);
    return p->good ? (int)number : low;
}

static void reals_in(parser *p, const json_t *array, double *numbers, int count, const char *what)
{
    expect(p, json_is_array(array) && json_array_size(array) == (size_t)count, what);
    for (int i = 0; i < count && p->good; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        expect(p, json_is_number(value), what);
        numbers[i] = json_number_value(value);
    }
}

static perp_vec3 vector_in(parser *p, const json_t *array, const char *what)
{
    double numbers[3] = {0.0, 0.0, 0.0};
    reals_in(p, array, numbers, p->r->head.planar ? 2 : 3, what);
    return perp_vec3_make(numbers[0], numbers[1], numbers[2]);
}

static perp_vec3 vector_at(parser *p, const json_t *object, const char *key)
{
    return vector_in(p, json_object_get(object, key), key);
}

/* The message as a JSON object, to be given back. jansson has its own memory and does not tell want of it from a text
 * that is wrong. */
static json_t *load(parser *p, const log_message *message, const char *what)
{
    json_t *object =
        json_loadb((const char *)p->r->plain.bytes + message->offset, message->size, JSON_REJECT_DUPLICATES, NULL);
    expect(p, json_is_object(object), what);
    return object;
}

static int body_at(parser *p, const json_t *object, const char *key)
{
    const int body = perp_name_table_find(&p->r->bodies, text_at(p, object, key));
    expect(p, body >= 0, key);
    return body;
}

static perp_contact_mode mode_at(parser *p, const json_t *object, const char *key)
{
    const char *name = text_at(p, object, key);
    for (int i = PERP_CONTACT_OPEN; i <= PERP_CONTACT_SLIDE; i++) {
        if (strcmp(name, perp_contact_mode_name((perp_contact_mode)i)) == 0) {
            return (perp_contact_mode)i;
        }
    }
    expect(p, false, key);
    return PERP_CONTACT_OPEN;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static void parse_state(parser *p, const log_message *message, perp_log_step *step)
{
    const perp_log_head *head = &p->r->head;
    double *q = TAKE(p, double, head->nq), *v = TAKE(p, double, head->nv);
    double *poses = TAKE(p, double, (size_t)head->body_count *(size_t)head->pose_size);
    json_t *object = load(p, message, "state");
    if (!working(p)) {
        json_decref(object);
        return;
    }
    const json_t *by_q = json_object_get(object, "q"), *by_v = json_object_get(object, "v");
    const json_t *by_pose = json_object_get(object, "poses");
    expect(p, whole_at(p, object, "step", 0) == step->step, "step");
    step->t = real_at(p, object, "t");
    for (int i = 0; i < head->entry_count && p->good; i++) {
        const perp_log_entry *e = &head->entries[i];
        reals_in(p, json_object_get(by_q, e->name), q + e->q_start, e->nq, "q");
        reals_in(p, json_object_get(by_v, e->name), v + e->v_start, e->nv, "v");
    }
    for (int i = 0; i < head->body_count && p->good; i++) {
        reals_in(p, json_object_get(by_pose, head->bodies[i]), poses + (ptrdiff_t)i * head->pose_size, head->pose_size,
                 "poses");
    }
    step->q = q;
    step->v = v;
    step->poses = poses;
    json_decref(object);
}

static void parse_rarities(parser *p, const json_t *object, perp_contact *c)
{
    const json_t *directions = json_object_get(object, "directions"), *pair = json_object_get(object, "pair");
    const int full = perp_contact_tangents(c, p->r->head.planar);
    c->direction_count = full;
    c->directions[0] = c->t;
    c->directions[1] = full == 2 ? c->o : perp_vec3_make(0.0, 0.0, 0.0);
    if (directions) {
        const size_t count = json_array_size(directions);
        expect(p, json_is_array(directions) && count <= 2, "directions");
        c->direction_count = p->good ? (int)count : 0;
        memset(c->directions, 0, sizeof c->directions);
        for (int i = 0; i < c->direction_count; i++) {
            c->directions[i] = vector_in(p, json_array_get(directions, (size_t)i), "directions");
        }
    }
    c->restitution = json_object_get(object, "restitution") ? real_at(p, object, "restitution") : 0.0;
    c->pair = pair ? whole_at(p, object, "pair", 0) : -1;
    c->tie = json_is_true(json_object_get(object, "tie"));
}

static void parse_identity(parser *p, const json_t *object, perp_contact *c)
{
    const json_t *id = json_object_get(object, "id");
    int *const parts[4] = {&c->shape_a, &c->feature_a, &c->shape_b, &c->feature_b};
    c->a = body_at(p, object, "a");
    c->b = body_at(p, object, "b");
    expect(p, json_is_array(id) && json_array_size(id) == 4, "id");
    for (size_t i = 0; i < 4 && p->good; i++) {
        const json_t *value = json_array_get(id, i);
        const json_int_t number = json_integer_value(value);
        expect(p, json_is_integer(value) && number >= 0 && number <= INT_MAX, "id");
        *parts[i] = p->good ? (int)number : 0;
    }
}

static void parse_contact(parser *p, const json_t *object, perp_contact_record *record)
{
    const json_t *tangents = json_object_get(object, "tangents");
    perp_contact *c = &record->contact;
    parse_identity(p, object, c);
    const int directions = perp_contact_tangents(c, p->r->head.planar);
    record->mode = mode_at(p, object, "mode");
    c->phi = real_at(p, object, "phi");
    c->point_a = vector_at(p, object, "point_a");
    c->point_b = vector_at(p, object, "point_b");
    c->normal = vector_at(p, object, "normal");
    c->normal.z = perp_contact_is_support(c) ? 1.0 : c->normal.z;
    expect(p, json_array_size(tangents) == (size_t)directions, "tangents");
    c->t = vector_in(p, json_array_get(tangents, 0), "tangents");
    c->o = directions == 2 ? vector_in(p, json_array_get(tangents, 1), "tangents") : c->o;
    c->friction = real_at(p, object, "mu");
    record->fn = real_at(p, object, "fn");
    c->load = perp_contact_is_support(c) ? record->fn : 0.0;
    c->arm = json_object_get(object, "arm") ? real_at(p, object, "arm") : 0.0;
    record->moment = json_object_get(object, "moment") ? real_at(p, object, "moment") : 0.0;
    reals_in(p, json_object_get(object, "ft"), record->ft, directions, "ft");
    record->force_on_b = vector_at(p, object, "force_on_b");
    reals_in(p, json_object_get(object, "slip"), record->slip, directions, "slip");
    record->margin = real_at(p, object, "margin");
    record->layer_predicted = real_at(p, object, "layer_predicted");
    record->layer_observed = real_at(p, object, "layer_observed");
    parse_rarities(p, object, c);
}

/* `contacts` of an object; their number. */
static perp_contact_record *parse_list(parser *p, const json_t *object, int *count)
{
    const json_t *list = json_object_get(object, "contacts");
    expect(p, json_is_array(list) && json_array_size(list) < INT_MAX, "contacts");
    *count = working(p) ? (int)json_array_size(list) : 0;
    perp_contact_record *records = TAKE(p, perp_contact_record, *count);
    for (int i = 0; i < *count && working(p); i++) {
        parse_contact(p, json_array_get(list, (size_t)i), &records[i]);
    }
    return records;
}

static void parse_contacts(parser *p, const log_message *message, perp_log_step *step)
{
    json_t *object = load(p, message, "contacts");
    expect(p, !p->good || whole_at(p, object, "step", 0) == step->step, "step");
    step->info.contacts = parse_list(p, object, &step->info.contact_count);
    json_decref(object);
}

/* Rates by entry, as v is. */
static void parse_rates(parser *p, const json_t *rates, const char *what, double *to)
{
    const perp_log_head *head = &p->r->head;
    for (int i = 0; i < head->entry_count && working(p); i++) {
        const perp_log_entry *e = &head->entries[i];
        reals_in(p, json_object_get(rates, e->name), to + e->v_start, e->nv, what);
    }
}

/* A list of them; none where the log has no such list. */
static double *parse_rates_list(parser *p, const json_t *list, const char *what, int *count)
{
    const int nv = p->r->head.nv;
    expect(p, !list || (json_is_array(list) && json_array_size(list) < (size_t)(INT_MAX / (nv + 1))), what);
    *count = working(p) ? (int)json_array_size(list) : 0;
    double *rates = TAKE(p, double, *count *nv);
    for (int i = 0; i < *count && working(p); i++) {
        parse_rates(p, json_array_get(list, (size_t)i), what, rates + (ptrdiff_t)i * nv);
    }
    return rates;
}

static void parse_solution(parser *p, const json_t *object, const char *answers, perp_instant_solution *solution)
{
    const json_t *rates = json_object_get(object, answers), *list = json_object_get(object, "contacts");
    solution->contacts = parse_list(p, object, &solution->contact_count);
    solution->rate = TAKE(p, double, p->r->head.nv);
    solution->fn_low = TAKE(p, double, solution->contact_count);
    solution->fn_high = TAKE(p, double, solution->contact_count);
    if (working(p)) {
        parse_rates(p, rates, answers, solution->rate);
    }
    solution->vertices = parse_rates_list(p, json_object_get(object, "vertices"), "vertices", &solution->vertex_count);
    solution->rays = parse_rates_list(p, json_object_get(object, "rays"), "rays", &solution->ray_count);
    for (int i = 0; i < solution->contact_count && working(p); i++) {
        const json_t *range = json_object_get(json_array_get(list, (size_t)i), "fn_range");
        const json_t *low = json_array_get(range, 0), *high = json_array_get(range, 1);
        expect(p, json_array_size(range) == 2 && json_is_number(low) && (json_is_number(high) || json_is_null(high)),
               "fn_range");
        solution->fn_low[i] = json_number_value(low);
        solution->fn_high[i] = json_is_number(high) ? json_number_value(high) : INFINITY;
    }
}

/* What a rung that speaks of an instant has answered; rates are by entry, as v is. */
static void parse_answer(parser *p, const log_message *message, perp_log_step *step)
{
    json_t *object = load(p, message, "solutions");
    const json_t *list = json_object_get(object, "solutions");
    const char *words[3] = {text_at(p, object, "answers"), text_at(p, object, "why"), text_at(p, object, "left_out")};
    expect(p, !p->good || whole_at(p, object, "step", 0) == step->step, "step");
    expect(p, json_is_array(list) && json_array_size(list) < INT_MAX, "solutions");
    expect(p, json_is_boolean(json_object_get(object, "complete")), "complete");
    for (int i = 0; i < 3 && working(p); i++) {
        words[i] = copy_text(p, words[i]);
    }
    const int count = working(p) ? (int)json_array_size(list) : 0;
    perp_instant_answer *answer = TAKE(p, perp_instant_answer, 1);
    perp_instant_solution *solutions = TAKE(p, perp_instant_solution, count);
    for (int i = 0; i < count && working(p); i++) {
        parse_solution(p, json_array_get(list, (size_t)i), words[0], &solutions[i]);
    }
    /* /contacts are those of the first, and what is said of them counts them */
    expect(p, !working(p) || count == 0 || solutions[0].contact_count == step->info.contact_count, "solutions");
    if (working(p)) {
        *answer = (perp_instant_answer){.answers = words[0],
                                        .solution_count = count,
                                        .solutions = solutions,
                                        .partial = json_is_false(json_object_get(object, "complete")),
                                        .why_none = words[1],
                                        .left_out = words[2]};
        step->info.answer = answer;
    }
    json_decref(object);
}

/* A quantity of all elements of a patch, one element after the other. */
static void parse_column(parser *p, const json_t *object, const log_quantity *quantity, perp_element_record *elements,
                         int element_count)
{
    const json_t *list = json_object_get(object, quantity->name);
    const int count = perp_log_quantity_count(quantity, p->r->head.planar);
    expect(p, json_is_array(list) && json_array_size(list) == (size_t)element_count * (size_t)count, quantity->name);
    for (int i = 0; i < element_count * count && p->good; i++) {
        const json_t *number = json_array_get(list, (size_t)i);
        expect(p, json_is_number(number), quantity->name);
        perp_log_quantity_set(quantity, i % count, json_number_value(number), &elements[i / count]);
    }
}

static void parse_patch(parser *p, const json_t *object, perp_contact_record *records, perp_step_info *info,
                        perp_element_record *elements)
{
    const int contact = whole_at(p, object, "contact", 0), count = (int)json_array_size(json_object_get(object, "fn"));
    expect(p, contact < info->contact_count, "contact");
    if (!working(p)) {
        return;
    }
    records[contact].element_start = info->element_count;
    records[contact].element_count = count;
    for (int i = 0; i < LOG_ELEMENT_QUANTITIES; i++) {
        parse_column(p, object, &perp_log_element_quantities[i], elements + info->element_count, count);
    }
    info->element_count += count;
}

/* The elements of the contacts' patches; contacts have been parsed. */
static void parse_elements(parser *p, const log_message *message, perp_log_step *step)
{
    json_t *object = load(p, message, "elements");
    const json_t *list = json_object_get(object, "contacts");
    size_t count = 0;
    expect(p, json_is_array(list), "contacts");
    expect(p, !p->good || whole_at(p, object, "step", 0) == step->step, "step");
    for (size_t i = 0; i < json_array_size(list); i++) {
        count += json_array_size(json_object_get(json_array_get(list, i), "fn"));
    }
    expect(p, count < INT_MAX, "elements");
    perp_element_record *elements = working(p) ? TAKE(p, perp_element_record, count) : NULL;
    for (size_t i = 0; i < json_array_size(list) && working(p); i++) {
        parse_patch(p, json_array_get(list, i), (perp_contact_record *)step->info.contacts, &step->info, elements);
    }
    step->info.elements = elements;
    json_decref(object);
}

static void parse_events(parser *p, const json_t *list, perp_step_info *info)
{
    expect(p, json_is_array(list) && json_array_size(list) < INT_MAX, "events");
    const size_t count = working(p) ? json_array_size(list) : 0;
    perp_contact_event *events = TAKE(p, perp_contact_event, count);
    for (size_t i = 0; i < count && working(p); i++) {
        const json_t *object = json_array_get(list, i);
        const char *feature = text_at(p, object, "feature");
        events[i].t = real_at(p, object, "t");
        events[i].a = body_at(p, object, "a");
        events[i].b = body_at(p, object, "b");
        events[i].from = mode_at(p, object, "from");
        events[i].to = mode_at(p, object, "to");
        expect(p, strlen(feature) < sizeof events[i].feature, "feature");
        snprintf(events[i].feature, sizeof events[i].feature, "%s", feature);
    }
    info->event_count = (int)count;
    info->events = count > 0 ? events : NULL;
}

static void parse_info(parser *p, const log_message *message, perp_log_step *step)
{
    json_t *object = load(p, message, "info");
    perp_step_info *info = &step->info;
    const json_t *residual = json_object_get(object, "residual"), *fallbacks = json_object_get(object, "fallbacks");
    if (working(p)) {
        expect(p, whole_at(p, object, "step", 0) == step->step, "step");
        info->iterations = whole_at(p, object, "iterations", 0);
        info->solve_us = json_object_get(object, "solve_us") ? real_or_null_at(p, object, "solve_us") : 0.0;
        info->several = json_is_true(json_object_get(object, "several"));
        for (int i = 0; i < LOG_RESIDUALS; i++) {
            const log_quantity *part = &perp_log_residuals[i];
            perp_log_quantity_set(part, 0, real_or_null_at(p, residual, part->name), &info->residuals);
        }
        for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
            const char *name = perp_fallback_name((perp_fallback)i);
            info->fallbacks[i] = json_object_get(fallbacks, name) ? whole_at(p, fallbacks, name, 0) : 0;
        }
        parse_events(p, json_object_get(object, "events"), info);
    }
    json_decref(object);
}

static perp_verdict verdict_at(parser *p, const json_t *object, const log_verdict *verdict)
{
    const char *name = text_at(p, object, verdict->name);
    for (int i = 0; i < PERP_VERDICT_COUNT; i++) {
        if ((verdict->may_be & (1u << i)) && strcmp(name, perp_verdict_name((perp_verdict)i)) == 0) {
            return (perp_verdict)i;
        }
    }
    expect(p, false, verdict->name);
    return PERP_VERDICT_UNKNOWN;
}

static const char *const *texts_at(parser *p, const json_t *object, const char *key, int *count)
{
    const json_t *list = json_object_get(object, key);
    expect(p, json_is_array(list) && json_array_size(list) < INT_MAX, key);
    *count = working(p) ? (int)json_array_size(list) : 0;
    const char **texts = TAKE(p, const char *, *count);
    for (int i = 0; i < *count && working(p); i++) {
        const char *text = json_string_value(json_array_get(list, (size_t)i));
        expect(p, text != NULL, key);
        texts[i] = text ? copy_text(p, text) : "";
    }
    return texts;
}

/* The certificate; rates by entry, as v is. */
static void parse_trust(parser *p, const log_message *message, perp_log_step *step)
{
    json_t *object = load(p, message, "trust");
    const json_t *motion = json_object_get(object, "motion");
    perp_step_trust *trust = TAKE(p, perp_step_trust, 1);
    double *rates = motion ? TAKE(p, double, p->r->head.nv) : NULL;
    expect(p, !p->good || whole_at(p, object, "step", 0) == step->step, "step");
    if (working(p)) {
        trust->from = real_at(p, object, "from");
        for (int i = 0; i < LOG_VERDICTS; i++) {
            *perp_log_verdict_of(&perp_log_verdicts[i], trust) = verdict_at(p, object, &perp_log_verdicts[i]);
        }
        trust->contacts = texts_at(p, object, "contacts", &trust->contact_count);
        trust->reasons = texts_at(p, object, "reasons", &trust->reason_count);
        step->info.trust = trust;
    }
    if (working(p) && motion) {
        expect(p, json_is_boolean(json_object_get(object, "both_ways")), "both_ways");
        parse_rates(p, motion, "motion", rates);
        trust->motion = rates;
        trust->motion_both_ways = json_is_true(json_object_get(object, "both_ways"));
    }
    json_decref(object);
}

static void parse_words(parser *p, const log_message *message, perp_log_step *step)
{
    const int contacts = step->info.contact_count;
    json_t *object = load(p, message, "why");
    const json_t *list = json_object_get(object, "contacts");
    expect(p, json_is_array(list), "contacts");
    expect(p, !p->good || whole_at(p, object, "step", 0) == step->step, "step");
    const char **why = TAKE(p, const char *, contacts);
    for (size_t i = 0; i < json_array_size(list) && working(p); i++) {
        const json_t *entry = json_array_get(list, i);
        const int contact = whole_at(p, entry, "contact", 0);
        const char *text = text_at(p, entry, "why");
        expect(p, contact < contacts && json_is_object(entry), "contact");
        if (working(p)) {
            why[contact] = copy_text(p, text);
        }
    }
    step->why = why;
    json_decref(object);
}

/* What became of a step; one that cannot be read is empty. */
static perp_status step_verdict(const parser *p, perp_log_step *step, perp_error *error)
{
    char where[40];
    snprintf(where, sizeof where, "step %d", step->step);
    const perp_status status = verdict(p, where, error);
    if (status != PERP_STATUS_OK) {
        memset(step, 0, sizeof *step);
    }
    return status;
}

perp_status perp_log_parse_why(perp_log_reader *r, const log_why_place *place, perp_log_step *step, perp_error *error)
{
    parser p = {.r = r, .arena = &r->step_arena, .good = true, .memory = true};
    parse_words(&p, &place->message, step);
    return step_verdict(&p, step, error);
}

perp_status perp_log_parse_step(perp_log_reader *r, const log_step_place *place, perp_log_depth depth,
                                perp_log_step *step, perp_error *error)
{
    parser p = {.r = r, .arena = &r->step_arena, .good = true, .memory = true};
    perp_arena_clear(&r->step_arena);
    memset(step, 0, sizeof *step);
    step->step = place->step;
    if (depth >= PERP_LOG_PICTURE) {
        parse_state(&p, &place->messages[LOG_STATE], step);
    }
    if (working(&p) &&
        (depth == PERP_LOG_ALL || !perp_log_skim_contacts(r, &place->messages[LOG_CONTACTS], depth, step))) {
        parse_contacts(&p, &place->messages[LOG_CONTACTS], step);
    }
    if (working(&p) && place->messages[LOG_ELEMENTS].size > 0) {
        parse_elements(&p, &place->messages[LOG_ELEMENTS], step);
    }
    if (working(&p) && place->messages[LOG_SOLUTIONS].size > 0) {
        parse_answer(&p, &place->messages[LOG_SOLUTIONS], step);
    }
    if (working(&p) && place->messages[LOG_TRUST].size > 0) {
        parse_trust(&p, &place->messages[LOG_TRUST], step);
    }
    if (working(&p)) {
        parse_info(&p, &place->messages[LOG_INFO], step);
    }
    return step_verdict(&p, step, error);
}

bool perp_log_parse_identity(perp_log_reader *r, const char *text, size_t size, perp_contact *contact)
{
    parser p = {.r = r, .arena = &r->step_arena, .good = true, .memory = true};
    char *own = perp_arena_text(p.arena, text, size + 1);
    if (!own) {
        return false;
    }
    own[size] = '}';
    json_t *object = json_loadb(own, size + 1, JSON_REJECT_DUPLICATES, NULL);
    parse_identity(&p, object, contact);
    json_decref(object);
    return working(&p);
}

perp_status perp_log_parse_memory(perp_log_reader *r, const log_message *message, const double **numbers, size_t *count,
                                  perp_error *error)
{
    parser p = {.r = r, .arena = &r->start_arena, .good = true, .memory = true};
    json_t *object = load(&p, message, "memory");
    const json_t *list = json_object_get(object, "numbers");
    expect(&p, json_is_array(list) && json_array_size(list) < INT_MAX, "numbers");
    *count = working(&p) ? json_array_size(list) : 0;
    double *own = TAKE(&p, double, *count);
    if (working(&p)) {
        reals_in(&p, list, own, (int)*count, "numbers");
    }
    *numbers = own;
    json_decref(object);
    return verdict(&p, "the memory", error);
}

/* ---- head and end ------------------------------------------------------------------------------------------------ */

/* The value of a key in pairs of strings, terminated and in the arena. */
static const char *find_value_or(parser *p, byte_view map, const char *key, const char *missing)
{
    const size_t wanted = strlen(key);
    while (map.left > 0 && map.good) {
        size_t key_length, length;
        const char *name = perp_view_string(&map, &key_length), *value = perp_view_string(&map, &length);
        if (map.good && key_length == wanted && memcmp(name, key, wanted) == 0) {
            char *own = perp_arena_text(p->arena, value, length);
            p->memory = p->memory && own;
            return own ? own : "";
        }
    }
    return missing;
}

static const char *find_value(parser *p, byte_view map, const char *key)
{
    const char *value = find_value_or(p, map, key, NULL);
    expect(p, value != NULL, key);
    return value ? value : "";
}

/* Verdicts with commas between them, as bits; nothing where the run was not certified. */
static void find_stops(parser *p, byte_view map)
{
    perp_log_head *head = &p->r->head;
    const char *text = find_value_or(p, map, "stop_at", NULL);
    head->certified = head->certified || text;
    head->stop_at = text ? 0 : head->stop_at;
    while (text && *text && working(p)) {
        const size_t length = strcspn(text, ",");
        int verdict = 0;
        while (verdict < PERP_VERDICT_COUNT && (strlen(perp_verdict_name((perp_verdict)verdict)) != length ||
                                                memcmp(perp_verdict_name((perp_verdict)verdict), text, length) != 0)) {
            verdict++;
        }
        expect(p, verdict < PERP_VERDICT_COUNT, "stop_at");
        head->stop_at |= 1u << (verdict < PERP_VERDICT_COUNT ? verdict : 0);
        text += length + (text[length] == ',');
    }
}

static int find_whole(parser *p, byte_view map, const char *key, long high)
{
    char *end;
    const char *text = find_value(p, map, key);
    const long value = strtol(text, &end, 10);
    expect(p, end != text && *end == '\0' && value >= 0 && value <= high, key);
    return p->good ? (int)value : 0;
}

static void parse_bodies(parser *p, const json_t *layout)
{
    perp_log_head *head = &p->r->head;
    const json_t *list = json_object_get(layout, "bodies");
    expect(p, json_is_array(list) && json_array_size(list) <= PERP_SCENE_MAX_BODIES, "bodies");
    head->body_count = p->good ? (int)json_array_size(list) : 0;
    const char **names = TAKE(p, const char *, head->body_count);
    p->memory = perp_name_table_init(&p->r->bodies, p->arena, (size_t)head->body_count) && p->memory;
    for (int i = 0; i < head->body_count && working(p); i++) {
        const json_t *name = json_array_get(list, (size_t)i);
        expect(p, json_is_string(name), "bodies");
        names[i] = p->good ? copy_text(p, json_string_value(name)) : "";
        expect(p, !p->memory || perp_name_table_add(&p->r->bodies, names[i], i) == i, "bodies");
    }
    head->bodies = names;
}

static void parse_entries(parser *p, const json_t *layout)
{
    enum { MOST = 7 }; /* numbers of one entry */
    perp_log_head *head = &p->r->head;
    const json_t *list = json_object_get(layout, "entries");
    expect(p, json_is_array(list) && json_array_size(list) <= 2 * PERP_SCENE_MAX_BODIES, "entries");
    head->entry_count = p->good ? (int)json_array_size(list) : 0;
    perp_log_entry *entries = TAKE(p, perp_log_entry, head->entry_count);
    for (int i = 0; i < head->entry_count && working(p); i++) {
        const json_t *object = json_array_get(list, (size_t)i);
        perp_log_entry *e = &entries[i];
        e->name = copy_text(p, text_at(p, object, "name"));
        e->is_body = strcmp(text_at(p, object, "kind"), "body") == 0;
        e->nq = whole_at(p, object, "nq", 0);
        e->nv = whole_at(p, object, "nv", 0);
        expect(p, e->nq <= MOST && e->nv <= MOST, "entries");
        e->q_start = head->nq;
        e->v_start = head->nv;
        head->nq += e->nq;
        head->nv += e->nv;
    }
    head->entries = entries;
}

static void parse_layout(parser *p, const char *text)
{
    json_t *layout = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    expect(p, json_is_object(layout), "layout");
    if (working(p)) {
        p->r->head.planar = json_is_true(json_object_get(layout, "planar"));
        p->r->head.pose_size = p->r->head.planar ? 3 : 7;
        parse_bodies(p, layout);
        parse_entries(p, layout);
    }
    json_decref(layout);
}

perp_status perp_log_parse_head(perp_log_reader *r, byte_view map, perp_error *error)
{
    parser p = {.r = r, .arena = &r->arena, .good = true, .memory = true};
    perp_log_head *head = &r->head;
    char *end;
    expect(&p, strcmp(find_value(&p, map, "format"), "2") == 0, "format");
    const char *version = find_value(&p, map, "version");
    head->build = find_value(&p, map, "build");
    head->scene = find_value(&p, map, "scene");
    head->scene_hash = find_value(&p, map, "scene_hash");
    head->model = find_value(&p, map, "model");
    const char *h = find_value(&p, map, "h");
    head->h = strtod(h, &end);
    expect(&p, end != h && *end == '\0' && isfinite(head->h), "h");
    head->steps_asked = find_whole(&p, map, "steps", INT_MAX);
    r->files_written = find_whole(&p, map, "files", INT_MAX);
    head->change_count = find_whole(&p, map, "changes", (long)(map.left / 8));
    const char **changes = TAKE(&p, const char *, head->change_count);
    for (int i = 0; i < head->change_count && working(&p); i++) {
        char key[32];
        snprintf(key, sizeof key, "change.%d", i);
        changes[i] = find_value(&p, map, key);
    }
    head->changes = changes;
    find_stops(&p, map);
    if (working(&p)) {
        parse_layout(&p, find_value(&p, map, "layout"));
    }
    const perp_status status = verdict(&p, "the head", error);
    head->version = status == PERP_STATUS_OK ? version : NULL;
    return status;
}

perp_status perp_log_parse_resume(perp_log_reader *r, byte_view map, perp_error *error)
{
    parser p = {.r = r, .arena = &r->arena, .good = true, .memory = true};
    const int steps = find_whole(&p, map, "steps", INT_MAX);
    find_stops(&p, map);
    const perp_status status = verdict(&p, "where the run went on", error);
    r->head.steps_asked = status == PERP_STATUS_OK ? steps : r->head.steps_asked;
    return status;
}

perp_status perp_log_parse_end(perp_log_reader *r, byte_view map, perp_error *error)
{
    parser p = {.r = r, .arena = &r->arena, .good = true, .memory = true};
    perp_log_end end = {.known = true};
    const char *hash = find_value(&p, map, "hash");
    end.failed = strcmp(find_value(&p, map, "status"), "ok") != 0;
    end.steps = find_whole(&p, map, "steps", INT_MAX);
    expect(&p, strlen(hash) == 16, "hash");
    snprintf(end.hash, sizeof end.hash, "%s", hash);
    end.code = find_value(&p, map, "code");
    end.message = find_value(&p, map, "message");
    end.result = find_value(&p, map, "result");
    const perp_status status = verdict(&p, "the end", error);
    if (status == PERP_STATUS_OK) {
        r->end = end;
    }
    return status;
}
