/* The two ends of a log: what is known before the first step, and the index behind the last. */
#include "base/hash.h"
#include "log/write.h"

#include <perp/trace.h>

#include <stdio.h>
#include <string.h>

enum { STOPS = 32 * PERP_VERDICT_COUNT }; /* bytes of a list of verdicts */

void perp_log_scene_hash(const perp_log_about *about, char text[17])
{
    perp_hash hash = perp_hash_begin();
    for (int i = 0; i < about->file_count; i++) {
        perp_hash_bytes(&hash, about->files[i].bytes, about->files[i].size);
    }
    for (int i = 0; i < about->change_count; i++) {
        perp_hash_bytes(&hash, about->changes[i], strlen(about->changes[i]));
    }
    perp_hash_text(hash, text);
}

void perp_log_note_place(perp_log *log, log_place place, const char *name)
{
    place.name = log->names.size;
    perp_bytes_put(&log->names, name, strlen(name) + 1);
    perp_bytes_put(&log->places, &place, sizeof place);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

typedef struct map_row {
    byte_row *row;
    size_t record, map;
    const char *name;
} map_row;

static map_row begin_metadata(byte_row *row, const char *name)
{
    map_row m = {.row = row, .record = perp_mcap_begin(row, MCAP_METADATA), .name = name};
    perp_bytes_string(row, name);
    m.map = row->size;
    perp_bytes_u32(row, 0);
    return m;
}

static void put_text(map_row *m, const char *key, const char *value)
{
    perp_bytes_string(m->row, key);
    perp_bytes_string(m->row, value);
}

static void put_whole(map_row *m, const char *key, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    put_text(m, key, text);
}

static void end_metadata(perp_log *log, map_row *m)
{
    perp_bytes_patch_u32(m->row, m->map, (uint32_t)(m->row->size - m->map - 4));
    perp_mcap_end(m->row, m->record);
    perp_log_note_place(log, (log_place){.offset = log->written + m->record, .length = m->row->size - m->record},
                        m->name);
}

static void put_stops(map_row *m, unsigned stop_at)
{
    char text[STOPS] = "";
    for (int i = 0; i < PERP_VERDICT_COUNT; i++) {
        if (stop_at & (1u << i)) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "," : "", perp_verdict_name((perp_verdict)i));
        }
    }
    put_text(m, "stop_at", text);
}

static void put_provenance(perp_log *log, const perp_log_about *about)
{
    const perp_run_settings *settings = about->settings ? about->settings : &about->model->scene->run;
    byte_row *row = &log->unit;
    char text[PERP_REAL_TEXT], key[32], hash[17];
    map_row m = begin_metadata(row, "perp");
    perp_log_scene_hash(about, hash);
    put_text(&m, "format", "2");
    put_text(&m, "version", perp_version());
    put_text(&m, "build", perp_build_flags());
    put_text(&m, "scene", about->model->scene->name);
    put_text(&m, "scene_hash", hash);
    put_text(&m, "model", settings->model);
    perp_real_text(settings->h, text);
    put_text(&m, "h", text);
    put_whole(&m, "steps", perp_run_steps(settings));
    put_whole(&m, "files", about->file_count);
    put_whole(&m, "changes", about->change_count);
    for (int i = 0; i < about->change_count; i++) {
        snprintf(key, sizeof key, "change.%d", i);
        put_text(&m, key, about->changes[i]);
    }
    if (about->certified) { /* logs of other runs are as they were before there were certificates */
        put_stops(&m, about->stop_at);
    }
    perp_bytes_string(row, "layout");
    const size_t length = row->size;
    perp_bytes_u32(row, 0);
    perp_log_put_layout(row, about->model, &log->last);
    perp_bytes_patch_u32(row, length, (uint32_t)(row->size - length - 4));
    end_metadata(log, &m);
}

/* ---- attachments ------------------------------------------------------------------------------------------------- */

static const char *media_type(const char *name)
{
    static const char *const types[][2] = {{".yaml", "application/yaml"},
                                           {".yml", "application/yaml"},
                                           {".json", "application/json"},
                                           {".obj", "model/obj"},
                                           {".stl", "model/stl"}};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof types / sizeof *types; i++) {
        if (strcmp(ending, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

static void put_attachment(perp_log *log, const perp_log_file *file)
{
    byte_row *row = &log->unit;
    const size_t begin = perp_mcap_begin(row, MCAP_ATTACHMENT), content = row->size;
    perp_bytes_u64(row, 0); /* logged at t = 0 */
    perp_bytes_u64(row, 0); /* made at a time that is not known */
    perp_bytes_string(row, file->name);
    perp_bytes_string(row, media_type(file->name));
    perp_bytes_u64(row, file->size);
    perp_bytes_put(row, file->bytes, file->size);
    perp_bytes_u32(row, row->failed ? 0 : perp_crc32(0, row->bytes + content, row->size - content));
    perp_mcap_end(row, begin);
    perp_log_note_place(
        log,
        (log_place){
            .attachment = true, .offset = log->written + begin, .length = row->size - begin, .data_size = file->size},
        file->name);
}

void perp_log_put_head(perp_log *log, const perp_log_about *about)
{
    byte_row *row = &log->unit;
    char library[64];
    perp_bytes_put(row, perp_mcap_magic, sizeof perp_mcap_magic);
    const size_t begin = perp_mcap_begin(row, MCAP_HEADER);
    snprintf(library, sizeof library, "perp %s", perp_version());
    perp_bytes_string(row, ""); /* no profile that others define */
    perp_bytes_string(row, library);
    perp_mcap_end(row, begin);
    put_provenance(log, about);
    for (int i = 0; i < about->file_count; i++) {
        put_attachment(log, &about->files[i]);
    }
    perp_log_put_schemas(row, log->options.foxglove);
    perp_log_put_channels(row, log->options.foxglove);
}

void perp_log_put_resume(perp_log *log, const perp_log_about *about, int step)
{
    const perp_run_settings *settings = about->settings ? about->settings : &about->model->scene->run;
    map_row m = begin_metadata(&log->unit, "perp.resume");
    put_whole(&m, "step", step);
    put_whole(&m, "steps", perp_run_steps(settings));
    if (about->certified) {
        put_stops(&m, about->stop_at);
    }
    end_metadata(log, &m);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void put_result(perp_log *log, const perp_run_result *result, const perp_error *failure)
{
    char hash[17];
    perp_hash_text(result->hash, hash);
    char *json = perp_result_json(log->model, &log->last, result, failure);
    if (!json) {
        log->unit.failed = true;
        return;
    }
    map_row m = begin_metadata(&log->unit, "perp.result");
    put_text(&m, "status", failure ? "error" : "ok");
    put_whole(&m, "steps", result->steps);
    put_text(&m, "hash", hash);
    put_text(&m, "code", !failure ? "" : failure->code ? failure->code : perp_status_name(failure->status));
    put_text(&m, "message", failure ? failure->message : "");
    put_text(&m, "result", json);
    end_metadata(log, &m);
    perp_text_free(json);
}

static int count_of(const byte_row *row, size_t size)
{
    return (int)(row->size / size);
}

static void put_unit_index(byte_row *row, const log_unit *u)
{
    const size_t begin = perp_mcap_begin(row, MCAP_CHUNK_INDEX);
    perp_bytes_u64(row, u->time_first);
    perp_bytes_u64(row, u->time_last);
    perp_bytes_u64(row, u->offset);
    perp_bytes_u64(row, u->chunk_length);
    const size_t map = row->size;
    perp_bytes_u32(row, 0);
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        if (u->index_offset[i] > 0) {
            perp_bytes_u16(row, (unsigned)i);
            perp_bytes_u64(row, u->index_offset[i]);
        }
    }
    perp_bytes_patch_u32(row, map, (uint32_t)(row->size - map - 4));
    perp_bytes_u64(row, u->index_length);
    perp_bytes_string(row, "zstd");
    perp_bytes_u64(row, u->compressed_size);
    perp_bytes_u64(row, u->plain_size);
    perp_mcap_end(row, begin);
}

static void put_places(perp_log *log, bool attachments)
{
    byte_row *row = &log->unit;
    const log_place *places = (const log_place *)(const void *)log->places.bytes;
    for (int i = 0; i < count_of(&log->places, sizeof *places); i++) {
        const log_place *p = &places[i];
        const char *name = (const char *)log->names.bytes + p->name;
        if (p->attachment != attachments) {
            continue;
        }
        const size_t begin = perp_mcap_begin(row, attachments ? MCAP_ATTACHMENT_INDEX : MCAP_METADATA_INDEX);
        perp_bytes_u64(row, p->offset);
        perp_bytes_u64(row, p->length);
        if (attachments) {
            perp_bytes_u64(row, 0);
            perp_bytes_u64(row, 0);
            perp_bytes_u64(row, p->data_size);
        }
        perp_bytes_string(row, name);
        if (attachments) {
            perp_bytes_string(row, media_type(name));
        }
        perp_mcap_end(row, begin);
    }
}

static void put_statistics(perp_log *log)
{
    byte_row *row = &log->unit;
    const log_unit *units = (const log_unit *)(const void *)log->units.bytes;
    const log_place *places = (const log_place *)(const void *)log->places.bytes;
    const int count = count_of(&log->units, sizeof *units), all = count_of(&log->places, sizeof *places);
    uint64_t total = 0, messages[LOG_CHANNELS] = {0}, first = count > 0 ? units[0].time_first : 0, last = 0;
    uint32_t attachments = 0;
    const unsigned channels = LOG_CHANNELS - 1 - (log->options.foxglove ? 0 : 1);
    for (int k = 0; k < count; k++) {
        for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
            messages[i] += units[k].messages[i];
            total += units[k].messages[i];
        }
        first = units[k].time_first < first ? units[k].time_first : first;
        last = units[k].time_last > last ? units[k].time_last : last;
    }
    for (int k = 0; k < all; k++) {
        attachments += places[k].attachment;
    }
    const size_t begin = perp_mcap_begin(row, MCAP_STATISTICS);
    perp_bytes_u64(row, total);
    perp_bytes_u16(row, channels);
    perp_bytes_u32(row, channels);
    perp_bytes_u32(row, attachments);
    perp_bytes_u32(row, (uint32_t)all - attachments);
    perp_bytes_u32(row, (uint32_t)count);
    perp_bytes_u64(row, first);
    perp_bytes_u64(row, last);
    perp_bytes_u32(row, 10 * channels);
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        if (i != LOG_SCENE || log->options.foxglove) {
            perp_bytes_u16(row, (unsigned)i);
            perp_bytes_u64(row, messages[i]);
        }
    }
    perp_mcap_end(row, begin);
}

static void put_group(perp_log *log, unsigned opcode)
{
    byte_row *row = &log->unit;
    const log_unit *units = (const log_unit *)(const void *)log->units.bytes;
    switch (opcode) {
    case MCAP_SCHEMA:
        perp_log_put_schemas(row, log->options.foxglove);
        break;
    case MCAP_CHANNEL:
        perp_log_put_channels(row, log->options.foxglove);
        break;
    case MCAP_STATISTICS:
        put_statistics(log);
        break;
    case MCAP_CHUNK_INDEX:
        for (int i = 0; i < count_of(&log->units, sizeof *units); i++) {
            put_unit_index(row, &units[i]);
        }
        break;
    default:
        put_places(log, opcode == MCAP_ATTACHMENT_INDEX);
        break;
    }
}

void perp_log_put_end(perp_log *log, const perp_run_result *result, const perp_error *failure)
{
    static const unsigned opcodes[] = {MCAP_SCHEMA,      MCAP_CHANNEL,          MCAP_STATISTICS,
                                       MCAP_CHUNK_INDEX, MCAP_ATTACHMENT_INDEX, MCAP_METADATA_INDEX};
    enum { GROUPS = sizeof opcodes / sizeof *opcodes };
    byte_row *row = &log->unit;
    size_t starts[GROUPS + 1];
    if (result) {
        put_result(log, result, failure);
    }
    size_t begin = perp_mcap_begin(row, MCAP_DATA_END);
    perp_bytes_u32(row, 0); /* no checksum over everything: every chunk has its own */
    perp_mcap_end(row, begin);
    for (int i = 0; i < GROUPS; i++) {
        starts[i] = row->size;
        put_group(log, opcodes[i]);
    }
    const size_t offsets = starts[GROUPS] = row->size;
    for (int i = 0; i < GROUPS; i++) {
        if (starts[i + 1] > starts[i]) {
            begin = perp_mcap_begin(row, MCAP_SUMMARY_OFFSET);
            perp_bytes_u8(row, opcodes[i]);
            perp_bytes_u64(row, log->written + starts[i]);
            perp_bytes_u64(row, starts[i + 1] - starts[i]);
            perp_mcap_end(row, begin);
        }
    }
    begin = perp_mcap_begin(row, MCAP_FOOTER);
    perp_bytes_u64(row, log->written + starts[0]);
    perp_bytes_u64(row, log->written + offsets);
    perp_bytes_patch_u64(row, begin + 1, 20); /* the checksum covers the length too */
    perp_bytes_u32(row, row->failed ? 0 : perp_crc32(0, row->bytes + starts[0], row->size - starts[0]));
    perp_bytes_put(row, perp_mcap_magic, sizeof perp_mcap_magic);
}
