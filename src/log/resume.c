/* Going on with the run of a log: which unit is the last that can be gone on from, the run as it stood there, and the
 * file opened for writing behind it. */
#include "base/hash.h"
#include "log/read.h"
#include "log/write.h"
#include "model/state.h"
#include "step/common/run_result.h"
#include "step/common/trust.h"
#include "trace/state_view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static perp_status another_model(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "the log is of another model: its bodies and joints differ");
}

static bool same_bodies(const perp_log_head *head, const perp_model *model)
{
    bool same = head->body_count == model->body_count && head->planar == model->planar;
    for (int i = 0; same && i < head->body_count; i++) {
        same = strcmp(head->bodies[i], model->scene->bodies[i].name) == 0;
    }
    return same;
}

perp_status perp_log_state(const perp_log_reader *r, const perp_log_step *step, const perp_model *model,
                           perp_state *state, perp_error *error)
{
    const perp_log_head *head = &r->head;
    state_entry entry;
    int i = 0;
    if (!same_bodies(head, model)) {
        return another_model(error);
    }
    for (int cursor = 0; perp_state_next(model, state, &cursor, &entry); i++) {
        const perp_log_entry *e = &head->entries[i];
        if (i == head->entry_count || e->nq != entry.nq || e->nv != entry.nv || strcmp(e->name, entry.name) != 0) {
            return another_model(error);
        }
        perp_state_put(model, cursor, step->q + e->q_start, step->v + e->v_start, state);
    }
    state->t = step->t;
    return i == head->entry_count ? PERP_STATUS_OK : another_model(error);
}

/* The last unit with nothing missing up to its end, its index records and its memory included; -1: none. */
static int last_whole_unit(const perp_log_reader *r)
{
    int count, steps;
    const log_unit_place *units = perp_log_units(r, &count);
    const log_step_place *places = perp_log_steps(r, &steps);
    for (int k = count - 1; k >= 0; k--) {
        int channels = 0;
        for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
            channels += units[k].unit.messages[i] > 0;
        }
        if (units[k].whole && units[k].step_end > 0 && units[k].memory.size > 0 && units[k].indices == channels &&
            units[k].memory_step == places[units[k].step_end - 1].step) {
            return k;
        }
    }
    return -1;
}

/* ---- the run so far ---------------------------------------------------------------------------------------------- */

/* Adds a step to the sums. Events are collected in `events`. */
static void add_step(const perp_log_step *step, perp_run_start *start, byte_row *events)
{
    const perp_step_info *info = &step->info;
    if (step->step > 0) {
        perp_residuals_keep_largest(&start->residuals, &info->residuals);
    }
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        start->fallbacks[i] += info->fallbacks[i];
    }
    start->several += info->several;
    perp_trust_count(&start->trust, step->step, step->t, info->trust);
    perp_bytes_put(events, info->events, (size_t)info->event_count * sizeof *info->events);
}

static perp_status replay(perp_log_reader *r, int steps, const perp_model *model, perp_state *state,
                          perp_run_start *start, byte_row *events, perp_error *error)
{
    perp_log_step step = {0};
    perp_status status = PERP_STATUS_OK;
    start->hash = perp_hash_begin();
    for (int i = 0; i < steps && status == PERP_STATUS_OK; i++) {
        status = perp_log_read(r, i, &step, error);
        if (status == PERP_STATUS_OK) {
            status = perp_log_state(r, &step, model, state, error);
        }
        if (status == PERP_STATUS_OK) {
            start->t_start = i == 0 ? state->t : start->t_start;
            perp_state_hash(model, state, &start->hash);
            add_step(&step, start, events);
        }
    }
    if (status == PERP_STATUS_OK) { /* of the last one, kept over further reads */
        const size_t contacts = (size_t)step.info.contact_count;
        perp_contact_record *own = PERP_ARENA_NEW(&r->start_arena, perp_contact_record, contacts);
        if (!own) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
        }
        if (contacts > 0) {
            memcpy(own, step.info.contacts, contacts * sizeof *own);
        }
        start->step = step.step;
        start->contact_count = step.info.contact_count;
        start->contacts = own;
    }
    return status;
}

perp_status perp_log_resume(perp_log_reader *r, const perp_model *model, perp_state *state, perp_run_start *start,
                            perp_error *error)
{
    int count;
    const int unit = last_whole_unit(r);
    memset(start, 0, sizeof *start);
    perp_arena_clear(&r->start_arena);
    if (unit < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "the log has no step to go on from: start the run again with --log");
    }
    const log_unit_place place = perp_log_units(r, &count)[unit];
    byte_row events = {.allocator = &r->allocator};
    perp_status status = replay(r, place.step_end, model, state, start, &events, error);
    if (status == PERP_STATUS_OK) {
        perp_contact_event *own = perp_arena_push(&r->start_arena, events.size + 1, 1);
        if (events.failed || !own) {
            status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
        } else if (events.size > 0) {
            memcpy(own, events.bytes, events.size);
        }
        start->events = own;
        start->event_count = (int)(events.size / sizeof *own);
    }
    perp_bytes_free(&events);
    if (status == PERP_STATUS_OK) {
        perp_plain_locale_enter(&r->locale);
        status = perp_log_load_unit(r, unit, error);
        if (status == PERP_STATUS_OK) {
            status = perp_log_parse_memory(r, &place.memory, &start->memory, &start->memory_count, error);
        }
        perp_plain_locale_leave(&r->locale);
    }
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* What stands in the file, as if this writer had written it. */
static bool take_over(perp_log *log, const perp_log_reader *r, int unit)
{
    int count;
    const log_unit_place *units = perp_log_units(r, &count);
    const log_record_place *places = (const log_record_place *)(const void *)r->places.bytes;
    for (int i = 0; i <= unit; i++) {
        perp_bytes_put(&log->units, &units[i].unit, sizeof units[i].unit);
    }
    for (size_t i = 0; i < r->places.size / sizeof *places; i++) {
        const log_record_place *p = &places[i];
        if (p->offset >= units[unit].end) {
            continue; /* cut off */
        }
        perp_log_note_place(
            log,
            (log_place){
                .attachment = p->attachment, .offset = p->offset, .length = p->length, .data_size = p->data_size},
            p->name);
    }
    log->written = units[unit].end;
    return !log->units.failed && !log->places.failed && !log->names.failed;
}

/* The state that the result at the end of the log speaks of, should no further step come. */
static perp_status last_state(perp_log *log, perp_log_reader *r, int unit, perp_error *error)
{
    int count;
    perp_log_step step;
    const perp_status status = perp_log_read(r, perp_log_units(r, &count)[unit].step_end - 1, &step, error);
    return status == PERP_STATUS_OK ? perp_log_state(r, &step, log->model, &log->last, error) : status;
}

/* A run that is to take other steps than it said so far says so. */
static perp_status note_steps(perp_log *log, const perp_log_reader *r, const perp_log_about *about, int unit,
                              perp_error *error)
{
    int count;
    const perp_run_settings *settings = about->settings ? about->settings : &about->model->scene->run;
    if (perp_run_steps(settings) != r->head.steps_asked || about->stop_at != r->head.stop_at) {
        perp_log_put_resume(log, about, perp_log_units(r, &count)[unit].memory_step);
        perp_log_write_unit(log);
    }
    return perp_log_status(log, error);
}

perp_status perp_log_continue(const char *path, perp_log_reader *r, const perp_log_about *about,
                              const perp_log_options *options, perp_log **log, perp_error *error)
{
    const int unit = last_whole_unit(r);
    perp_log_options chosen = options ? *options : perp_log_options_default();
    *log = NULL;
    if (unit < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the log has no step to go on from");
    }
    chosen.foxglove = r->pictures; /* channels are what they are */
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) {
        return perp_fail(error, PERP_STATUS_IO, "cannot write `%s`: %s", path, strerror(errno));
    }
    perp_status status = perp_log_make(NULL, file, about, &chosen, log, error);
    if (!*log) {
        close(file);
        return status;
    }
    if (!take_over(*log, r, unit)) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a log");
    } else {
        status = last_state(*log, r, unit, error);
    }
    if (status != PERP_STATUS_OK) {
        /* nothing was changed */
    } else if (ftruncate(file, (off_t)(*log)->written) != 0) {
        status = perp_fail(error, PERP_STATUS_IO, "cannot cut `%s`: %s", path, strerror(errno));
    } else {
        status = note_steps(*log, r, about, unit, error);
        status = status == PERP_STATUS_OK ? perp_log_start(*log, error) : status;
    }
    if (status != PERP_STATUS_OK) {
        perp_log_discard(*log);
        *log = NULL;
    }
    return status;
}
