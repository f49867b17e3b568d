/* A log as CSV and as JSON. */
#include "log/read.h"

#include <perp/trace.h>

#include <string.h>

/* ---- CSV: what `perp run --csv` would have written, by the same code ---- */

/* The certificate of a step with its motion as the model has it, in `moving`; in a log it is by entry. */
static perp_status read_trust(const perp_log_reader *r, const perp_log_step *step, const perp_model *model,
                              perp_state *moving, perp_step_trust *trust, perp_error *error)
{
    perp_log_step other = *step;
    *trust = *step->info.trust;
    if (!trust->motion) {
        return PERP_STATUS_OK;
    }
    other.v = trust->motion;
    trust->motion = moving->v;
    return perp_log_state(r, &other, model, moving, error);
}

static perp_status write_csv(perp_log_reader *r, const perp_model *model, const char *folder, perp_error *error)
{
    perp_csv *csv = NULL;
    perp_state state = {0}, moving = {0};
    perp_status status = perp_state_create(model, &r->allocator, &state, error);
    status = status == PERP_STATUS_OK ? perp_state_create(model, &r->allocator, &moving, error) : status;
    status = status == PERP_STATUS_OK ? perp_csv_open(model, folder, &csv, error) : status;
    bool writing = true;
    for (int i = 0; i < r->extent.step_count && status == PERP_STATUS_OK && writing; i++) {
        perp_log_step step;
        status = perp_log_read(r, i, &step, error);
        if (status == PERP_STATUS_OK) {
            status = perp_log_state(r, &step, model, &state, error);
        }
        perp_step_trust trust;
        if (status == PERP_STATUS_OK && step.info.trust) {
            status = read_trust(r, &step, model, &moving, &trust, error);
            step.info.trust = &trust;
        }
        writing = status == PERP_STATUS_OK && perp_csv_observe(csv, step.step, &state, &step.info);
    }
    perp_state_free(&state);
    perp_state_free(&moving);
    if (status != PERP_STATUS_OK) {
        perp_csv_abandon(csv);
        return status;
    }
    return perp_csv_commit(csv, error); /* fails with the system's reason where a write did */
}

perp_status perp_log_export_csv(perp_log_reader *r, const char *folder, perp_error *error)
{
    perp_diagnostics *diagnostics = r->allocator.allocate(r->allocator.context, sizeof *diagnostics);
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    if (!diagnostics) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while exporting a log");
    }
    memset(diagnostics, 0, sizeof *diagnostics);
    perp_status status = perp_log_load_scene(r, &scene, diagnostics);
    if (status != PERP_STATUS_OK) {
        perp_diagnostics_first_error(diagnostics, status, error);
    } else {
        status = perp_model_build(scene, &r->allocator, &model, error);
    }
    if (status == PERP_STATUS_OK) {
        status = write_csv(r, model, folder, error);
    }
    perp_model_free(model);
    perp_scene_free(scene);
    r->allocator.release(r->allocator.context, diagnostics);
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_words(byte_row *row, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        perp_bytes_text(row, i > 0 ? "," : "");
        perp_bytes_quoted(row, words[i]);
    }
}

static void put_head(byte_row *row, const perp_log_head *head, const perp_log_extent *extent)
{
    perp_bytes_json(row, "{\"version\":%s,\"build\":%s,\"scene\":%s,\"scene_hash\":%s,\"model\":%s", head->version,
                    head->build, head->scene, head->scene_hash, head->model);
    perp_bytes_json(row, ",\"h\":%g,\"steps_asked\":%d", head->h, head->steps_asked);
    perp_bytes_text(row, head->planar ? ",\"planar\":true" : ",\"planar\":false");
    perp_bytes_text(row, extent->complete ? ",\"complete\":true,\"tail\":" : ",\"complete\":false,\"tail\":");
    perp_bytes_integer(row, (long long)extent->tail);
    perp_bytes_json(row, ",\"damaged\":%d,\"changes\":[", extent->damaged);
    put_words(row, head->changes, head->change_count);
    perp_bytes_text(row, "],\"bodies\":[");
    put_words(row, head->bodies, head->body_count);
    perp_bytes_text(row, "],\"steps\":[");
}

/* The messages of a step as they stand in the file, after they were read and found to be what they should be. */
static perp_status put_step(perp_log_reader *r, int index, byte_row *row, perp_error *error)
{
    static const struct {
        log_channel channel;
        const char *key;
    } parts[] = {{LOG_STATE, "{\"state\":"},         {LOG_CONTACTS, ",\"contacts\":"}, {LOG_ELEMENTS, ",\"elements\":"},
                 {LOG_SOLUTIONS, ",\"solutions\":"}, {LOG_TRUST, ",\"trust\":"},       {LOG_INFO, ",\"info\":"}};
    int count;
    perp_log_step step;
    const log_step_place *place = &perp_log_steps(r, &count)[index];
    const log_why_place *why = perp_log_find_why(r, place->step);
    perp_status status = perp_log_read(r, index, &step, error);
    if (status == PERP_STATUS_OK) {
        status = perp_log_load_unit(r, place->unit, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_bytes_text(row, index > 0 ? ",\n" : "\n");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const log_message *message = &place->messages[parts[i].channel];
        if (message->size > 0) {
            perp_bytes_text(row, parts[i].key);
            perp_bytes_put(row, r->plain.bytes + message->offset, message->size);
        }
    }
    status = why ? perp_log_load_unit(r, why->unit, error) : PERP_STATUS_OK;
    if (why && status == PERP_STATUS_OK) {
        perp_bytes_text(row, ",\"why\":");
        perp_bytes_put(row, r->plain.bytes + why->message.offset, why->message.size);
    }
    perp_bytes_text(row, "}");
    return status;
}

static void put_end(byte_row *row, const perp_log_end *end)
{
    perp_bytes_json(row, "\n],\"status\":%s", !end->known ? "unknown" : end->failed ? "error" : "ok");
    if (end->known) {
        perp_bytes_json(row, ",\"hash\":%s", end->hash);
    }
    if (end->failed) {
        perp_bytes_json(row, ",\"error\":{\"code\":%s,\"message\":%s}", end->code, end->message);
    }
    perp_bytes_text(row, "}");
}

/* Hands the row over and empties it. */
static perp_status hand_on(byte_row *row, perp_text_sink *sink, void *context, perp_error *error)
{
    perp_bytes_u8(row, 0);
    if (row->failed) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while exporting a log");
    }
    sink(context, (const char *)row->bytes);
    perp_bytes_clear(row);
    return PERP_STATUS_OK;
}

perp_status perp_log_export_json(perp_log_reader *r, perp_text_sink *sink, void *context, perp_error *error)
{
    byte_row row = {.allocator = &r->allocator};
    perp_plain_locale_enter(&r->locale);
    put_head(&row, &r->head, &r->extent);
    perp_plain_locale_leave(&r->locale);
    perp_status status = hand_on(&row, sink, context, error);
    for (int i = 0; i < r->extent.step_count && status == PERP_STATUS_OK; i++) {
        status = put_step(r, i, &row, error);
        if (status == PERP_STATUS_OK) {
            status = hand_on(&row, sink, context, error);
        }
    }
    if (status == PERP_STATUS_OK) {
        put_end(&row, &r->end);
        status = hand_on(&row, sink, context, error);
    }
    perp_bytes_free(&row);
    return status;
}
