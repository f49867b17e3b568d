/* perp_log_compare: a log in which one reported number is another is told apart from the log without, by its name, and
 * within a tolerance it is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log_run.h"

#include <perp/sim.h>

enum { CHANGED_STEP = 2 };

/* What a log has at a step, to be changed. */
typedef struct step_copy {
    perp_state *state;
    perp_step_info *info;
    perp_contact_record *contact; /* the first that carries force */
    perp_element_record *element; /* of it */
    perp_contact_event *event;
} step_copy;

typedef enum part { PART_Q, PART_V, PART_CONTACT, PART_ELEMENT, PART_RESIDUAL, PART_EVENT } part;

typedef struct change {
    const char *name; /* as perp_log_compare tells it */
    part of;
    size_t offset;
} change;

#define CONTACT(field) PART_CONTACT, offsetof(perp_contact_record, field)
#define ELEMENT(field) PART_ELEMENT, offsetof(perp_element_record, field)
#define RESIDUAL(field) PART_RESIDUAL, offsetof(perp_residuals, field)

/* Every number that docs/log.md lists. Coordinates of a body that turns change its pose too. */
static const change changes[] = {{"q puck[0]", PART_Q, 0},
                                 {"v puck[0]", PART_V, 0},
                                 {"phi of", CONTACT(contact.phi)},
                                 {"point_a[0] of", CONTACT(contact.point_a.x)},
                                 {"point_a[2] of", CONTACT(contact.point_a.z)},
                                 {"point_b[1] of", CONTACT(contact.point_b.y)},
                                 {"normal[0] of", CONTACT(contact.normal.x)},
                                 {"tangents[0][1] of", CONTACT(contact.t.y)},
                                 {"tangents[1][2] of", CONTACT(contact.o.z)},
                                 {"mu of", CONTACT(contact.friction)},
                                 {"restitution of", CONTACT(contact.restitution)},
                                 {"fn of", CONTACT(fn)},
                                 {"ft[0] of", CONTACT(ft[0])},
                                 {"ft[1] of", CONTACT(ft[1])},
                                 {"force_on_b[0] of", CONTACT(force_on_b.x)},
                                 {"force_on_b[2] of", CONTACT(force_on_b.z)},
                                 {"slip[0] of", CONTACT(slip[0])},
                                 {"slip[1] of", CONTACT(slip[1])},
                                 {"margin of", CONTACT(margin)},
                                 {"layer_predicted of", CONTACT(layer_predicted)},
                                 {"layer_observed of", CONTACT(layer_observed)},
                                 {"offset[0] of element 0", ELEMENT(offset[0])},
                                 {"fn of element 0", ELEMENT(fn)},
                                 {"ft[1] of element 0", ELEMENT(ft[1])},
                                 {"limit of element 0", ELEMENT(limit)},
                                 {"slip[0] of element 0", ELEMENT(slip[0])},
                                 {"deformation[2] of element 0", ELEMENT(deformation[2])},
                                 {"balance of the residuals", RESIDUAL(balance)},
                                 {"complementarity of the residuals", RESIDUAL(complementarity)},
                                 {"cone of the residuals", RESIDUAL(cone)},
                                 {"penetration of the residuals", RESIDUAL(penetration)},
                                 {"balance_true of the residuals", RESIDUAL(balance_true)},
                                 {"boundary_layer of the residuals", RESIDUAL(boundary_layer)},
                                 {"loop of the residuals", RESIDUAL(loop)},
                                 {"t of event 0", PART_EVENT, offsetof(perp_contact_event, t)}};

static void *base_of(const step_copy *s, part of)
{
    switch (of) {
    case PART_Q:
        return s->state->q;
    case PART_V:
        return s->state->v;
    case PART_CONTACT:
        return s->contact;
    case PART_ELEMENT:
        return s->element;
    case PART_RESIDUAL:
        return &s->info->residuals;
    case PART_EVENT:
        return s->event;
    }
    return NULL;
}

/* What is counted or a word has no tolerance. */
static void change_mode(const step_copy *s)
{
    s->contact->mode = s->contact->mode == PERP_CONTACT_LIMIT ? PERP_CONTACT_STICK : PERP_CONTACT_LIMIT;
}
static void change_pair(const step_copy *s)
{
    s->contact->contact.pair = 7;
}
static void change_tie(const step_copy *s)
{
    s->contact->contact.tie = !s->contact->contact.tie;
}
static void change_directions(const step_copy *s)
{
    s->contact->contact.direction_count = 1;
}
static void change_feature(const step_copy *s)
{
    s->contact->contact.feature_b += 8;
}
static void change_elements(const step_copy *s)
{
    s->contact->element_count--;
}
static void change_contacts(const step_copy *s)
{
    s->info->contact_count--;
}
static void change_event(const step_copy *s)
{
    s->event->from = PERP_CONTACT_LIMIT;
}
static void change_event_feature(const step_copy *s)
{
    strcpy(s->event->feature, "s0.c9-s0.u0");
}
static void change_events(const step_copy *s)
{
    s->info->event_count--;
}
static void change_fallbacks(const step_copy *s)
{
    s->info->fallbacks[PERP_FALLBACK_LOOSE]++;
}
static void change_several(const step_copy *s)
{
    s->info->several = !s->info->several;
}

static const struct {
    const char *name;
    void (*make)(const step_copy *s);
} further[] = {{"mode of", change_mode},
               {"pair of", change_pair},
               {"tie of", change_tie},
               {"directions", change_directions},
               {"contact ", change_feature},
               {"elements of", change_elements},
               {"against", change_contacts},
               {"event 0: ", change_event},
               {"event 0: ", change_event_feature},
               {"number of events: ", change_events},
               {"fallback loose: ", change_fallbacks},
               {"several: ", change_several}};

/* ---- logs ---------------------------------------------------------------------------------------------------------
 */

enum { NUMBERS = sizeof changes / sizeof *changes, FURTHER = sizeof further / sizeof *further };

typedef struct writer {
    perp_log *log;
    const perp_model *model;
    int which; /* of changes, then of further; -1: none */
} writer;

static void *copied(const void *array, int count, size_t size)
{
    void *own = calloc((size_t)count + 1, size);
    assert_non_null(own);
    if (count > 0) {
        memcpy(own, array, (size_t)count * size);
    }
    return own;
}

static void change_step(const step_copy *s, int which)
{
    if (which >= NUMBERS) {
        further[which - NUMBERS].make(s);
        return;
    }
    double number;
    char *at = (char *)base_of(s, changes[which].of) + changes[which].offset;
    memcpy(&number, at, sizeof number);
    number += 1e-3;
    memcpy(at, &number, sizeof number);
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    const writer *w = context;
    if (step != CHANGED_STEP || w->which < 0) {
        return perp_log_observe(w->log, step, state, info);
    }
    perp_state other;
    perp_step_info copy = *info;
    perp_contact_record *contacts = copied(info->contacts, info->contact_count, sizeof *contacts);
    perp_element_record *elements = copied(info->elements, info->element_count, sizeof *elements);
    perp_contact_event *events = copied(info->events, info->event_count, sizeof *events);
    assert_int_equal(perp_state_create(w->model, NULL, &other, NULL), PERP_STATUS_OK);
    perp_state_copy(w->model, &other, state);
    copy.contacts = contacts;
    copy.elements = elements;
    copy.events = events;
    assert_true(info->contact_count > 0 && info->event_count > 0 && contacts[0].fn > 0.0);
    const step_copy s = {&other, &copy, &contacts[0], &elements[contacts[0].element_start], events};
    change_step(&s, w->which);
    const bool good = perp_log_observe(w->log, step, &other, &copy);
    perp_state_free(&other);
    free(contacts);
    free(elements);
    free(events);
    return good;
}

/* patch-spin, on `compliant`, from a little above its floor: patches of elements, and contacts that begin in step 2. */
static void write_log(memory_sink *sink, int which)
{
    static const char *const settings[] = {"run.steps=4", "bodies.puck.pose.position.2=0.0215", "run.h=0.01", NULL};
    const perp_log_sink to = memory_sink_make(sink);
    const perp_log_options options = log_run_options();
    log_run run;
    perp_log_file file;
    log_run_load(&run, "patch-spin", settings);
    const perp_log_about about = log_run_about(&run, &file);
    writer w = {.model = run.model, .which = which};
    assert_int_equal(perp_log_create_sink(&to, &about, &options, &w.log, NULL), PERP_STATUS_OK);
    run.status = perp_run(run.model, &run.scene->run, NULL, observe, &w, &run.state, &run.result, &run.error);
    assert_int_equal(run.status, PERP_STATUS_OK);
    assert_int_equal(perp_log_close(w.log, &run.result, NULL, NULL), PERP_STATUS_OK);
    log_run_free(&run);
}

static perp_log_difference difference_of(const memory_sink *a, const memory_sink *b, double tolerance)
{
    perp_log_reader *x, *y;
    perp_log_difference difference;
    assert_int_equal(perp_log_open_memory(a->bytes, a->size, NULL, &x, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_open_memory(b->bytes, b->size, NULL, &y, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_compare(x, y, tolerance, &difference, NULL), PERP_STATUS_OK);
    perp_log_reader_free(x);
    perp_log_reader_free(y);
    return difference;
}

static void test_every_quantity(void **state)
{
    (void)state;
    memory_sink plain;
    write_log(&plain, -1);
    for (int i = -1; i < NUMBERS + FURTHER; i++) {
        memory_sink other;
        write_log(&other, i);
        const perp_log_difference d = difference_of(&plain, &other, 0.0), loose = difference_of(&plain, &other, 2e-3);
        const char *name = i < 0 ? "" : i < NUMBERS ? changes[i].name : further[i - NUMBERS].name;
        if (d.equal != (i < 0) || (i >= 0 && (d.first_step != CHANGED_STEP || !strstr(d.first, name)))) {
            fail_msg("%s: step %d: %s", name, d.first_step, d.first);
        }
        if (loose.equal != (i < NUMBERS)) {
            fail_msg("%s, with a tolerance: step %d: %s", name, loose.first_step, loose.first);
        }
        memory_sink_free(&other);
    }
    memory_sink_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_quantity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
