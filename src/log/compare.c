/* Where two logs differ: the first place beyond the tolerance, and the largest difference of each unit. */
#include "log/read.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct comparison {
    const perp_log_head *head;
    perp_log_difference *d;
    double tolerance;
    int step;
} comparison;

const char *perp_log_unit_name(perp_log_unit unit)
{
    static const char *const names[PERP_LOG_UNIT_COUNT] = {
        [PERP_LOG_UNIT_TIME] = "s",
        [PERP_LOG_UNIT_LENGTH] = "m",
        [PERP_LOG_UNIT_ANGLE] = "rad",
        [PERP_LOG_UNIT_QUATERNION] = "",
        [PERP_LOG_UNIT_JOINT] = "rad or m",
        [PERP_LOG_UNIT_SPEED] = "m/s",
        [PERP_LOG_UNIT_TURNING] = "rad/s",
        [PERP_LOG_UNIT_JOINT_RATE] = "rad/s or m/s",
        [PERP_LOG_UNIT_ACCELERATION] = "m/s^2",
        [PERP_LOG_UNIT_TURNING_RATE] = "rad/s^2",
        [PERP_LOG_UNIT_JOINT_ACCELERATION] = "rad/s^2 or m/s^2",
        [PERP_LOG_UNIT_FORCE] = "N",
        [PERP_LOG_UNIT_NONE] = "",
    };
    return names[unit];
}

/* Of coordinate k of a body or joint. */
static perp_log_unit unit_of_position(const perp_log_entry *e, int k)
{
    if (e->nq == 1) {
        return PERP_LOG_UNIT_JOINT;
    }
    if (e->nq == 3) { /* x, y, theta */
        return k < 2 ? PERP_LOG_UNIT_LENGTH : PERP_LOG_UNIT_ANGLE;
    }
    return e->nq == 7 && k < 3 ? PERP_LOG_UNIT_LENGTH : PERP_LOG_UNIT_QUATERNION;
}

/* Of component k of its velocity, or acceleration. */
static perp_log_unit unit_of_rate(const perp_log_entry *e, int k, bool acceleration)
{
    const bool turns = e->nv == 6 ? k >= 3 : e->nq == 4 || k == 2; /* a ball joint has 4 and 3 */
    if (e->nv == 1) {
        return acceleration ? PERP_LOG_UNIT_JOINT_ACCELERATION : PERP_LOG_UNIT_JOINT_RATE;
    }
    if (turns) {
        return acceleration ? PERP_LOG_UNIT_TURNING_RATE : PERP_LOG_UNIT_TURNING;
    }
    return acceleration ? PERP_LOG_UNIT_ACCELERATION : PERP_LOG_UNIT_SPEED;
}

static void note_first(comparison *c, const char *what)
{
    if (c->d->equal) {
        c->d->equal = false;
        c->d->first_step = c->step;
        snprintf(c->d->first, sizeof c->d->first, "%s", what);
    }
}

static void note_numbers(comparison *c, const char *what, perp_log_unit unit, double x, double y)
{
    perp_log_largest *largest = &c->d->largest[unit];
    char text[400];
    if (x == y) { /* the sign of a zero is no difference that can be seen */
        return;
    }
    snprintf(text, sizeof text, "%.300s: %.17g against %.17g%s%s", what, x, y, *perp_log_unit_name(unit) ? " " : "",
             perp_log_unit_name(unit));
    if (!(fabs(x - y) <= c->tolerance)) { /* also NaN */
        note_first(c, text);
    }
    if (fabs(x - y) > largest->size) {
        largest->size = fabs(x - y);
        largest->step = c->step;
        memcpy(largest->of, text, sizeof largest->of);
    }
}

static void compare_entries(comparison *c, const perp_log_step *a, const perp_log_step *b)
{
    for (int i = 0; i < c->head->entry_count; i++) {
        const perp_log_entry *e = &c->head->entries[i];
        char what[200];
        for (int k = 0; k < e->nq; k++) {
            snprintf(what, sizeof what, "q %.150s[%d]", e->name, k);
            note_numbers(c, what, unit_of_position(e, k), a->q[e->q_start + k], b->q[e->q_start + k]);
        }
        for (int k = 0; k < e->nv; k++) {
            snprintf(what, sizeof what, "v %.150s[%d]", e->name, k);
            note_numbers(c, what, unit_of_rate(e, k, false), a->v[e->v_start + k], b->v[e->v_start + k]);
        }
    }
}

static void contact_name(const comparison *c, const perp_contact *contact, char *text, size_t size)
{
    char feature[64];
    perp_contact_feature_text(contact, feature, sizeof feature);
    snprintf(text, size, "%.100s %.100s %s", c->head->bodies[contact->a], c->head->bodies[contact->b], feature);
}

/* ---- numbers of records, as tables ------------------------------------------------------------------------------- */

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define CONTACT(field) offsetof(perp_contact_record, field)

static const log_quantity contact_quantities[] = {
    {"phi", PERP_LOG_UNIT_LENGTH, CONTACT(contact.phi), 1},
    {"point_a", PERP_LOG_UNIT_LENGTH, CONTACT(contact.point_a), 3},
    {"point_b", PERP_LOG_UNIT_LENGTH, CONTACT(contact.point_b), 3},
    {"normal", PERP_LOG_UNIT_NONE, CONTACT(contact.normal), 3},
    {"tangents[0]", PERP_LOG_UNIT_NONE, CONTACT(contact.t), 3},
    {"tangents[1]", PERP_LOG_UNIT_NONE, CONTACT(contact.o), 3},
    {"directions", PERP_LOG_UNIT_NONE, CONTACT(contact.directions), 6},
    {"mu", PERP_LOG_UNIT_NONE, CONTACT(contact.friction), 1},
    {"restitution", PERP_LOG_UNIT_NONE, CONTACT(contact.restitution), 1},
    {"fn", PERP_LOG_UNIT_FORCE, CONTACT(fn), 1},
    {"ft", PERP_LOG_UNIT_FORCE, CONTACT(ft), 2},
    {"force_on_b", PERP_LOG_UNIT_FORCE, CONTACT(force_on_b), 3},
    {"slip", PERP_LOG_UNIT_SPEED, CONTACT(slip), 2},
    {"margin", PERP_LOG_UNIT_FORCE, CONTACT(margin), 1},
    {"layer_predicted", PERP_LOG_UNIT_LENGTH, CONTACT(layer_predicted), 1},
    {"layer_observed", PERP_LOG_UNIT_LENGTH, CONTACT(layer_observed), 1}};
/* All quantities of two structs; `of` says whose they are. */
static void compare_quantities(comparison *c, const log_quantity *table, int count, const char *of, const void *x,
                               const void *y)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < table[i].count; k++) {
            const double values[2] = {perp_log_quantity_get(&table[i], k, x), perp_log_quantity_get(&table[i], k, y)};
            char what[300], index[16] = "";
            if (values[0] == values[1]) {
                continue;
            }
            if (table[i].count > 1) {
                snprintf(index, sizeof index, "[%d]", k);
            }
            snprintf(what, sizeof what, "%s%s of %.250s", table[i].name, index, of);
            note_numbers(c, what, table[i].unit, values[0], values[1]);
        }
    }
}

/* What has no tolerance. */
static void compare_words(comparison *c, const char *what, const char *x, const char *y)
{
    if (strcmp(x, y) != 0) {
        char text[400];
        snprintf(text, sizeof text, "%.150s: %.110s against %.110s", what, x, y);
        note_first(c, text);
    }
}

static void compare_counts(comparison *c, const char *what, int x, int y)
{
    char numbers[2][16];
    snprintf(numbers[0], sizeof numbers[0], "%d", x);
    snprintf(numbers[1], sizeof numbers[1], "%d", y);
    compare_words(c, what, numbers[0], numbers[1]);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static void compare_contact(comparison *c, const perp_step_info *a, const perp_step_info *b, int i)
{
    const perp_contact_record *x = &a->contacts[i], *y = &b->contacts[i];
    char name[280], what[300];
    contact_name(c, &x->contact, name, sizeof name);
    compare_quantities(c, contact_quantities, COUNT_OF(contact_quantities), name, x, y);
    snprintf(what, sizeof what, "mode of %s", name);
    compare_words(c, what, perp_contact_mode_name(x->mode), perp_contact_mode_name(y->mode));
    const struct {
        const char *name;
        int x, y;
    } counts[] = {{"pair", x->contact.pair, y->contact.pair},
                  {"tie", x->contact.tie, y->contact.tie},
                  {"directions", x->contact.direction_count, y->contact.direction_count},
                  {"elements", x->element_count, y->element_count}};
    for (int k = 0; k < COUNT_OF(counts); k++) {
        snprintf(what, sizeof what, "%s of %.280s", counts[k].name, name);
        compare_counts(c, what, counts[k].x, counts[k].y);
    }
    for (int e = 0; e < x->element_count && e < y->element_count; e++) {
        snprintf(what, sizeof what, "element %d of %.250s", e, name);
        compare_quantities(c, perp_log_element_quantities, LOG_ELEMENT_QUANTITIES, what,
                           &a->elements[x->element_start + e], &b->elements[y->element_start + e]);
    }
}

static void compare_contacts(comparison *c, const perp_step_info *a, const perp_step_info *b)
{
    const int fewer = a->contact_count < b->contact_count ? a->contact_count : b->contact_count;
    for (int i = 0; i < fewer; i++) {
        const perp_contact *x = &a->contacts[i].contact, *y = &b->contacts[i].contact;
        if (!perp_contact_same(x, y)) {
            char names[2][280], text[400];
            contact_name(c, x, names[0], sizeof names[0]);
            contact_name(c, y, names[1], sizeof names[1]);
            snprintf(text, sizeof text, "contact %d: %.180s against %.180s", i, names[0], names[1]);
            note_first(c, text);
            return; /* what follows are other contacts */
        }
        compare_contact(c, a, b, i);
    }
    if (a->contact_count != b->contact_count) {
        char text[80];
        snprintf(text, sizeof text, "%d %s against %d", a->contact_count,
                 perp_plural(a->contact_count, "contact", "contacts"), b->contact_count);
        note_first(c, text);
    }
}

static void compare_events(comparison *c, const perp_step_info *a, const perp_step_info *b)
{
    for (int i = 0; i < a->event_count && i < b->event_count; i++) {
        const perp_contact_event *events[2] = {&a->events[i], &b->events[i]};
        char what[40], text[2][360];
        snprintf(what, sizeof what, "event %d", i);
        for (int k = 0; k < 2; k++) {
            snprintf(text[k], sizeof text[k], "%.100s %.100s %s from %s to %s", c->head->bodies[events[k]->a],
                     c->head->bodies[events[k]->b], events[k]->feature, perp_contact_mode_name(events[k]->from),
                     perp_contact_mode_name(events[k]->to));
        }
        compare_words(c, what, text[0], text[1]);
        snprintf(what, sizeof what, "t of event %d", i);
        note_numbers(c, what, PERP_LOG_UNIT_TIME, events[0]->t, events[1]->t);
    }
    compare_counts(c, "number of events", a->event_count, b->event_count);
}

/* How well a step met its law, and by which ways. */
static void compare_info(comparison *c, const perp_step_info *a, const perp_step_info *b)
{
    compare_quantities(c, perp_log_residuals, LOG_RESIDUALS, "the residuals", &a->residuals, &b->residuals);
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        char what[80];
        snprintf(what, sizeof what, "fallback %s", perp_fallback_name((perp_fallback)i));
        compare_counts(c, what, a->fallbacks[i], b->fallbacks[i]);
    }
    compare_counts(c, "several", a->several, b->several);
}

static void compare_rates(comparison *c, const char *of, bool acceleration, const double *x, const double *y)
{
    char what[300];
    for (int i = 0; i < c->head->entry_count; i++) {
        const perp_log_entry *e = &c->head->entries[i];
        for (int k = 0; k < e->nv; k++) {
            snprintf(what, sizeof what, "rate %.120s[%d] of %s", e->name, k, of);
            note_numbers(c, what, unit_of_rate(e, k, acceleration), x[e->v_start + k], y[e->v_start + k]);
        }
    }
}

/* Certificates of a step, where both runs were certified. */
static void compare_trust(comparison *c, const perp_step_trust *a, const perp_step_trust *b)
{
    if (!a || !b) {
        compare_counts(c, "number of certificates", a != NULL, b != NULL);
        return;
    }
    perp_step_trust x = *a, y = *b;
    for (int i = 0; i < LOG_VERDICTS; i++) {
        char what[40];
        snprintf(what, sizeof what, "verdict of %s", perp_log_verdicts[i].name);
        compare_words(c, what, perp_verdict_name(*perp_log_verdict_of(&perp_log_verdicts[i], &x)),
                      perp_verdict_name(*perp_log_verdict_of(&perp_log_verdicts[i], &y)));
    }
    note_numbers(c, "begin of the certified step", PERP_LOG_UNIT_TIME, a->from, b->from);
    compare_counts(c, "number of contacts that a verdict is about", a->contact_count, b->contact_count);
    for (int i = 0; i < a->contact_count && i < b->contact_count; i++) {
        compare_words(c, "contact that a verdict is about", a->contacts[i], b->contacts[i]);
    }
    if (a->motion && b->motion) {
        compare_counts(c, "motion both ways", a->motion_both_ways, b->motion_both_ways);
        compare_rates(c, "the motion that can be added", false, a->motion, b->motion);
    }
}

static void compare_poses(comparison *c, const double *x, const double *y)
{
    const int size = c->head->pose_size;
    for (int i = 0; i < c->head->body_count * size; i++) {
        const int k = i % size;
        const bool angle = size == 3 && k == 2, place = k < 3 && !angle;
        char what[200];
        if (x[i] != y[i]) {
            snprintf(what, sizeof what, "pose %.150s[%d]", c->head->bodies[i / size], k);
            note_numbers(c, what,
                         place   ? PERP_LOG_UNIT_LENGTH
                         : angle ? PERP_LOG_UNIT_ANGLE
                                 : PERP_LOG_UNIT_QUATERNION,
                         x[i], y[i]);
        }
    }
}

/* The sets of two solutions. */
static void compare_sets(comparison *c, int solution, bool acceleration, const perp_instant_solution *x,
                         const perp_instant_solution *y)
{
    char text[120];
    const int nv = c->head->nv;
    if (x->vertex_count != y->vertex_count || x->ray_count != y->ray_count) {
        snprintf(text, sizeof text, "%d vertices and %d rays of solution %d against %d and %d", x->vertex_count,
                 x->ray_count, solution + 1, y->vertex_count, y->ray_count);
        note_first(c, text);
        return;
    }
    for (int i = 0; i < x->vertex_count + x->ray_count; i++) {
        const int ray = i - x->vertex_count;
        snprintf(text, sizeof text, "%s %d of solution %d", ray < 0 ? "vertex" : "ray", (ray < 0 ? i : ray) + 1,
                 solution + 1);
        compare_rates(c, text, acceleration, ray < 0 ? x->vertices + (ptrdiff_t)i * nv : x->rays + (ptrdiff_t)ray * nv,
                      ray < 0 ? y->vertices + (ptrdiff_t)i * nv : y->rays + (ptrdiff_t)ray * nv);
    }
}

/* All solutions of an instant: rates and contacts. */
static void compare_answers(comparison *c, const perp_instant_answer *a, const perp_instant_answer *b)
{
    const int counts[2] = {a ? a->solution_count : 0, b ? b->solution_count : 0};
    char text[120];
    for (int i = 0; i < counts[0] && i < counts[1]; i++) {
        const perp_instant_solution *x = &a->solutions[i], *y = &b->solutions[i];
        const bool acceleration = a->answers && strcmp(a->answers, "acceleration") == 0;
        snprintf(text, sizeof text, "solution %d", i + 1);
        compare_rates(c, text, acceleration, x->rate, y->rate);
        compare_sets(c, i, acceleration, x, y);
        for (int k = 0; k < x->contact_count && k < y->contact_count; k++) {
            snprintf(text, sizeof text, "fn_range of contact %d of solution %d", k, i + 1);
            note_numbers(c, text, PERP_LOG_UNIT_FORCE, x->fn_low[k], y->fn_low[k]);
            note_numbers(c, text, PERP_LOG_UNIT_FORCE, x->fn_high[k], y->fn_high[k]);
        }
        compare_contacts(c, &(perp_step_info){.contact_count = x->contact_count, .contacts = x->contacts},
                         &(perp_step_info){.contact_count = y->contact_count, .contacts = y->contacts});
    }
    if (counts[0] != counts[1]) {
        snprintf(text, sizeof text, "%d %s against %d", counts[0], perp_plural(counts[0], "solution", "solutions"),
                 counts[1]);
        note_first(c, text);
    }
    if (a && b && a->partial != b->partial) {
        note_first(c, "only one of the logs has all solutions");
    }
}

static bool comparable(const perp_log_head *a, const perp_log_head *b)
{
    bool good = a->body_count == b->body_count && a->entry_count == b->entry_count && a->planar == b->planar;
    for (int i = 0; good && i < a->body_count; i++) {
        good = strcmp(a->bodies[i], b->bodies[i]) == 0;
    }
    for (int i = 0; good && i < a->entry_count; i++) {
        good = strcmp(a->entries[i].name, b->entries[i].name) == 0 && a->entries[i].nq == b->entries[i].nq &&
               a->entries[i].nv == b->entries[i].nv;
    }
    return good;
}

static perp_status compare_step(comparison *c, perp_log_reader *a, int i, perp_log_reader *b, int k, perp_error *error)
{
    perp_log_step x, y;
    perp_status status = perp_log_read(a, i, &x, error);
    if (status == PERP_STATUS_OK) {
        status = perp_log_read(b, k, &y, error);
    }
    if (status == PERP_STATUS_OK) {
        c->step = x.step;
        c->d->steps_compared++;
        note_numbers(c, "t", PERP_LOG_UNIT_TIME, x.t, y.t);
        compare_entries(c, &x, &y);
        compare_poses(c, x.poses, y.poses);
        compare_contacts(c, &x.info, &y.info);
        compare_events(c, &x.info, &y.info);
        compare_info(c, &x.info, &y.info);
        compare_answers(c, x.info.answer, y.info.answer);
        if (a->head.certified && b->head.certified) {
            compare_trust(c, x.info.trust, y.info.trust);
        }
    }
    return status;
}

perp_status perp_log_compare(perp_log_reader *a, perp_log_reader *b, double tolerance, perp_log_difference *difference,
                             perp_error *error)
{
    int count_a, count_b;
    const log_step_place *steps_a = perp_log_steps(a, &count_a), *steps_b = perp_log_steps(b, &count_b);
    comparison c = {.head = &a->head, .d = difference, .tolerance = tolerance};
    *difference = (perp_log_difference){.equal = true, .first_step = -1};
    if (!comparable(&a->head, &b->head)) {
        return perp_fail(
            error, PERP_STATUS_BAD_INPUT,
            "the logs are not of one scene: their bodies or joints differ, so there is nothing to compare");
    }
    perp_status status = PERP_STATUS_OK;
    for (int i = 0, k = 0; (i < count_a || k < count_b) && status == PERP_STATUS_OK;) {
        if (i < count_a && k < count_b && steps_a[i].step == steps_b[k].step) {
            status = compare_step(&c, a, i++, b, k++, error);
        } else {
            const bool only_b = i == count_a || (k < count_b && steps_b[k].step < steps_a[i].step);
            c.step = only_b ? steps_b[k++].step : steps_a[i++].step;
            difference->steps_only[only_b]++;
            note_first(&c, only_b ? "a step that only the second log has" : "a step that only the first log has");
        }
    }
    const perp_log_end *ends[2] = {perp_log_reader_end(a), perp_log_reader_end(b)};
    if (status == PERP_STATUS_OK && ends[0]->known && ends[1]->known) {
        compare_words(&c, "end of the run", ends[0]->failed ? ends[0]->code : "ok",
                      ends[1]->failed ? ends[1]->code : "ok");
    }
    return status;
}
