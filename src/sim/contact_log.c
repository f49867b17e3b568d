#include "sim/contact_log.h"

#include "contact/contact_reach.h"
#include "step/common/contact_order.h"

#include <limits.h>
#include <string.h>

perp_status perp_contact_log_open(contact_log *log, const perp_model *model, int max_contacts,
                                  const perp_allocator *allocator, perp_error *error)
{
    perp_contact_settings settings = perp_contact_settings_default(model->scene);
    settings.max_contacts = max_contacts;
    memset(log, 0, sizeof *log);
    log->allocator = allocator ? *allocator : perp_allocator_default();
    const perp_status status = perp_contact_model_build(model, allocator, &log->model, error);
    return status == PERP_STATUS_OK ? perp_contact_set_create(log->model, &settings, allocator, &log->set, error)
                                    : status;
}

static void release(const perp_allocator *allocator, void *memory)
{
    if (memory) {
        allocator->release(allocator->context, memory);
    }
}

void perp_contact_log_close(contact_log *log)
{
    release(&log->allocator, log->records);
    release(&log->allocator, log->before);
    release(&log->allocator, log->merged);
    release(&log->allocator, log->match);
    release(&log->allocator, log->velocity);
    release(&log->allocator, log->events);
    perp_contact_set_free(log->set);
    perp_contact_model_free(log->model);
    memset(log, 0, sizeof *log);
}

/* Moves *array to a block of `capacity` elements; false, and nothing has changed, where there is none. */
static bool enlarge(const perp_allocator *allocator, void **array, int count, int capacity, size_t size)
{
    void *larger = allocator->allocate(allocator->context, (size_t)capacity * size);
    if (!larger) {
        return false;
    }
    if (count > 0) {
        memcpy(larger, *array, (size_t)count * size);
    }
    release(allocator, *array);
    *array = larger;
    return true;
}

static int larger_capacity(int capacity, int needed)
{
    const int least = needed > 16 ? needed : 16;
    return capacity > INT_MAX / 2 || 2 * capacity < least ? least : 2 * capacity;
}

/* Room for the contacts of a state. An array that has grown before another could not is merely larger than `capacity`.
 */
bool perp_contact_log_reserve(contact_log *log, int needed)
{
    if (needed <= log->capacity) {
        return true;
    }
    const int capacity = larger_capacity(log->capacity, needed);
    void *records = log->records, *before = log->before, *velocity = log->velocity;
    void *merged = log->merged, *match = log->match;
    const size_t velocities = (size_t)log->set->rows * sizeof *log->velocity;
    const bool good = enlarge(&log->allocator, &records, log->count, capacity, sizeof *log->records) &&
                      enlarge(&log->allocator, &before, log->count_before, capacity, sizeof *log->before) &&
                      enlarge(&log->allocator, &merged, 0, capacity, sizeof *log->merged) &&
                      enlarge(&log->allocator, &match, 0, capacity, sizeof *log->match) &&
                      enlarge(&log->allocator, &velocity, 0, capacity, velocities);
    log->records = records;
    log->before = before;
    log->merged = merged;
    log->match = match;
    log->velocity = velocity;
    log->capacity = good ? capacity : log->capacity;
    return good;
}

perp_status perp_contact_log_record(contact_log *log, const perp_kinematics *kinematics, const double *v,
                                    perp_error *error)
{
    perp_contact_record *recycled = log->before;
    log->before = log->records;
    log->count_before = log->count;
    log->records = recycled;
    log->count = 0;
    const perp_status status = perp_contact_set_build(log->set, kinematics, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_contact_set *set = log->set;
    if (!perp_contact_log_reserve(log, set->count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d contacts", set->count);
    }
    log->count = set->count;
    perp_contact_velocity(set, v, log->velocity);
    for (int i = 0; i < set->count; i++) {
        const double *velocity = log->velocity + (size_t)i * (size_t)set->rows;
        log->records[i] = (perp_contact_record){.contact = set->contacts[i],
                                                .mode = PERP_CONTACT_OPEN,
                                                .slip = {velocity[1], set->rows > 2 ? velocity[2] : 0.0}};
    }
    return PERP_STATUS_OK;
}

static void append(contact_log *log, int *count, const perp_contact_record *record, int match)
{
    log->match[*count] = match;
    log->merged[(*count)++] = *record;
}

/* Within a manifold the points that the step began with come first, in their order, then those that are new. */
static void merge_manifold(contact_log *log, const manifold_pass *pass, int *count)
{
    for (int i = pass->from[0]; i < pass->end[0]; i++) {
        perp_contact_record record = pass->list[0][i];
        const int same = perp_manifold_find(pass, 1, &record.contact);
        if (same < 0 && record.mode == PERP_CONTACT_OPEN) {
            continue;
        }
        if (same >= 0) {
            const perp_contact *now = &pass->list[1][same].contact;
            record.contact.phi = now->phi;
            record.contact.point_a = now->point_a;
            record.contact.point_b = now->point_b;
        } else {
            perp_contact_look_again(log->set, &record.contact);
        }
        append(log, count, &record, same);
    }
    for (int i = pass->from[1]; i < pass->end[1]; i++) {
        if (perp_manifold_find(pass, 0, &pass->list[1][i].contact) < 0) {
            append(log, count, &pass->list[1][i], i);
        }
    }
}

perp_status perp_contact_log_merge(contact_log *log, const perp_contact_record *step, int step_count, perp_error *error)
{
    if (!perp_contact_log_reserve(log, log->count + step_count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d contacts", log->count + step_count);
    }
    int count = 0;
    manifold_pass pass = {.list = {step, log->records}, .count = {step_count, log->count}};
    while (perp_manifold_next(&pass)) {
        merge_manifold(log, &pass, &count);
    }
    perp_contact_record *spent = log->records;
    log->records = log->merged;
    log->merged = spent;
    log->count = count;
    return PERP_STATUS_OK;
}

void perp_contact_log_leave_out_far(contact_log *log, double margin)
{
    int count = 0;
    for (int i = 0; i < log->count; i++) {
        if (log->records[i].mode != PERP_CONTACT_OPEN || log->records[i].contact.phi <= margin) {
            log->records[count] = log->records[i];
            log->match[count++] = log->match[i];
        }
    }
    log->count = count;
}

static bool reserve_events(contact_log *log, int needed)
{
    const int capacity = larger_capacity(log->event_capacity, needed);
    void *events = log->events;
    if (needed <= log->event_capacity) {
        return true;
    }
    if (!enlarge(&log->allocator, &events, log->event_count, capacity, sizeof *log->events)) {
        return false;
    }
    log->events = events;
    log->event_capacity = capacity;
    return true;
}

static perp_status add_event(contact_log *log, double t, const perp_contact *contact, perp_contact_mode from,
                             perp_contact_mode to, perp_error *error)
{
    if (from == to) {
        return PERP_STATUS_OK;
    }
    if (!reserve_events(log, log->event_count + 1)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d events", log->event_count + 1);
    }
    perp_contact_event *event = &log->events[log->event_count++];
    *event = (perp_contact_event){.t = t, .a = contact->a, .b = contact->b, .from = from, .to = to};
    perp_contact_feature_text(contact, event->feature, sizeof event->feature);
    return PERP_STATUS_OK;
}

/* Of every manifold its present points, then those that have gone. */
perp_status perp_contact_log_compare(contact_log *log, double t, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    log->event_count = 0;
    manifold_pass pass = {.list = {log->records, log->before}, .count = {log->count, log->count_before}};
    while (status == PERP_STATUS_OK && perp_manifold_next(&pass)) {
        for (int i = pass.from[0]; i < pass.end[0] && status == PERP_STATUS_OK; i++) {
            const perp_contact_record *r = &log->records[i];
            const int old = perp_manifold_find(&pass, 1, &r->contact);
            status =
                add_event(log, t, &r->contact, old < 0 ? PERP_CONTACT_OPEN : log->before[old].mode, r->mode, error);
        }
        for (int i = pass.from[1]; i < pass.end[1] && status == PERP_STATUS_OK; i++) {
            const perp_contact_record *old = &log->before[i];
            if (perp_manifold_find(&pass, 0, &old->contact) < 0) {
                status = add_event(log, t, &old->contact, old->mode, PERP_CONTACT_OPEN, error);
            }
        }
    }
    return status;
}

bool perp_contact_log_restore(contact_log *log, const perp_run_start *start)
{
    if (!perp_contact_log_reserve(log, start->contact_count) || !reserve_events(log, start->event_count)) {
        return false;
    }
    log->count = start->contact_count;
    log->event_count = start->event_count;
    if (log->count > 0) {
        memcpy(log->records, start->contacts, (size_t)log->count * sizeof *log->records);
    }
    if (log->event_count > 0) {
        memcpy(log->events, start->events, (size_t)log->event_count * sizeof *log->events);
    }
    return true;
}
