/* What a file holds, record by record from its beginning. Nothing is believed that has not been checked: lengths
 * against the file's end, chunks against their checksum. The index at a file's end is not used; it may be missing, and
 * a file with one damaged chunk would be read no better by it. */
#include "log/read.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A chunk is about a megabyte and one step; more than this is no chunk of ours, and memory for it is not asked for. */
enum { CHUNK_LIMIT = 1 << 29 };

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while reading a log");
}

/* Bytes of the file; IO where it does not give them. */
static perp_status read_at(perp_log_reader *r, uint64_t offset, void *out, size_t size, perp_error *error)
{
    unsigned char *to = out;
    if (r->memory && size > 0) {
        memcpy(to, r->memory + offset, size);
        return PERP_STATUS_OK;
    }
    while (size > 0) {
        const ssize_t got = pread(r->file, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return perp_fail(error, PERP_STATUS_IO, "cannot read the log at byte %llu: %s", (unsigned long long)offset,
                             got < 0 ? strerror(errno) : "it has become shorter");
        }
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return PERP_STATUS_OK;
}

/* A record's content into r->packed. */
static perp_status read_content(perp_log_reader *r, uint64_t offset, uint64_t size, perp_error *error)
{
    perp_bytes_clear(&r->packed);
    if (!perp_bytes_reserve(&r->packed, (size_t)size)) {
        r->packed.failed = false; /* another record may be smaller */
        return out_of_memory(error);
    }
    r->packed.size = (size_t)size;
    return read_at(r, offset, r->packed.bytes, (size_t)size, error);
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static void note_channel(perp_log_reader *r, byte_view view)
{
    size_t length;
    const unsigned id = perp_view_u16(&view);
    perp_view_u16(&view); /* schema */
    const char *topic = perp_view_string(&view, &length);
    for (int i = LOG_STATE; topic && i < LOG_CHANNELS; i++) {
        const char *ours = perp_log_topic((log_channel)i);
        if (strlen(ours) == length && memcmp(ours, topic, length) == 0) {
            const int pair[2] = {(int)id, i};
            r->pictures = r->pictures || i == LOG_SCENE;
            perp_bytes_put(&r->topics, pair, sizeof pair);
        }
    }
}

/* Which of ours it is; 0: none. */
static int channel_of(const perp_log_reader *r, unsigned id)
{
    const int *pairs = (const int *)(const void *)r->topics.bytes;
    for (size_t i = 0; i < r->topics.size / (2 * sizeof *pairs); i++) {
        if (pairs[2 * i] == (int)id) {
            return pairs[2 * i + 1];
        }
    }
    return 0;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* The head of a Chunk record, whose content is `view`: what is left of it is the records. */
static bool parse_chunk(byte_view *view, log_unit_place *place)
{
    size_t length;
    place->unit.time_first = perp_view_u64(view);
    place->unit.time_last = perp_view_u64(view);
    place->unit.plain_size = perp_view_u64(view);
    place->crc = perp_view_u32(view);
    const char *compression = perp_view_string(view, &length);
    const bool zstd = compression && length == 4 && memcmp(compression, "zstd", 4) == 0;
    place->compressed = zstd;
    place->unit.compressed_size = perp_view_u64(view);
    return view->good && (zstd || length == 0) && place->unit.compressed_size <= view->left &&
           place->unit.plain_size <= CHUNK_LIMIT && (zstd || place->unit.plain_size == place->unit.compressed_size);
}

/* The chunk's records, unpacked into r->plain and checked. */
static perp_status unpack(perp_log_reader *r, const log_unit_place *place, const unsigned char *data, perp_error *error)
{
    const size_t packed = (size_t)place->unit.compressed_size, plain = (size_t)place->unit.plain_size;
    const char *const damaged = "the chunk at byte %llu of the log is damaged";
    perp_bytes_clear(&r->plain);
    /* what the compressed data say of themselves must agree before memory is taken on their word */
    if (place->compressed && ZSTD_getFrameContentSize(data, packed) != plain) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, damaged, (unsigned long long)place->unit.offset);
    }
    if (!perp_bytes_reserve(&r->plain, plain + 1)) {
        r->plain.failed = false;
        return out_of_memory(error);
    }
    r->plain.bytes[plain] = '\0'; /* behind the last message: numbers are read up to what is none */
    size_t got = packed;
    if (place->compressed) {
        got = ZSTD_decompressDCtx(r->decompressor, r->plain.bytes, plain, data, packed);
    } else {
        memcpy(r->plain.bytes, data, packed);
    }
    if (ZSTD_isError(got) || got != plain || (place->crc != 0 && perp_crc32(0, r->plain.bytes, plain) != place->crc)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, damaged, (unsigned long long)place->unit.offset);
    }
    r->plain.size = plain;
    return PERP_STATUS_OK;
}

perp_status perp_log_load_unit(perp_log_reader *r, int unit, perp_error *error)
{
    int count;
    log_unit_place place = perp_log_units(r, &count)[unit];
    if (r->loaded == unit) {
        return PERP_STATUS_OK;
    }
    r->loaded = -1;
    place.crc = 0; /* it was right when the log was opened; here its size must be, by which messages are found */
    perp_status status = read_content(r, place.data, place.unit.compressed_size, error);
    if (status == PERP_STATUS_OK) {
        status = unpack(r, &place, r->packed.bytes, error);
    }
    r->loaded = status == PERP_STATUS_OK ? unit : -1;
    return status;
}

/* What is said of a step comes behind it; said again, the last counts. Of a step that is not there, in a chunk that is
 * damaged, it is left out. */
static void note_why(perp_log_reader *r, const log_why_place *place)
{
    int count;
    const log_step_place *steps = perp_log_steps(r, &count);
    if (count > 0 && steps[count - 1].step == place->step) {
        perp_bytes_put(&r->whys, place, sizeof *place);
    }
}

/* One message: to the step that it is of. False where the chunk is not in order. */
static bool note_message(perp_log_reader *r, log_unit_place *place, int unit, byte_view view, log_step_place *open)
{
    const int channel = channel_of(r, perp_view_u16(&view));
    const uint32_t step = perp_view_u32(&view);
    perp_view_u64(&view);
    perp_view_u64(&view);
    if (!view.good || step > INT_MAX) {
        return false;
    }
    if (channel == 0) {
        return true;
    }
    place->unit.messages[channel]++;
    const log_message message = {(size_t)(view.bytes - r->plain.bytes), view.left};
    if (channel == LOG_MEMORY) {
        place->memory = message;
        place->memory_step = (int)step;
        return true;
    }
    if (channel == LOG_WHY) {
        note_why(r, &(log_why_place){.step = (int)step, .unit = unit, .message = message});
        return true;
    }
    if (channel == LOG_SCENE) {
        return true;
    }
    if (open->step != (int)step) {
        *open = (log_step_place){.step = (int)step, .unit = unit};
    }
    open->messages[channel] = message;
    if (open->messages[LOG_STATE].size > 0 && open->messages[LOG_CONTACTS].size > 0 &&
        open->messages[LOG_INFO].size > 0) {
        int count;
        const log_step_place *steps = perp_log_steps(r, &count);
        if (count > 0 && steps[count - 1].step >= open->step) {
            return false;
        }
        r->gap = r->gap || open->step != (count > 0 ? steps[count - 1].step + 1 : 0);
        perp_bytes_put(&r->steps, open, sizeof *open);
        *open = (log_step_place){.step = -1};
    }
    return true;
}

/* The messages of the chunk that is in r->plain. False where they are not in order; then none of them count. */
static bool note_messages(perp_log_reader *r, log_unit_place *place, int unit)
{
    const size_t before = r->steps.size, whys_before = r->whys.size;
    const bool gap = r->gap;
    byte_view view = {.bytes = r->plain.bytes, .left = r->plain.size, .good = true};
    log_step_place open = {.step = -1};
    while (view.left > 0) {
        const unsigned char *opcode = perp_view_take(&view, 1);
        const uint64_t length = perp_view_u64(&view);
        const unsigned char *content = length <= view.left ? perp_view_take(&view, (size_t)length) : NULL;
        const byte_view inside = {.bytes = content, .left = (size_t)length, .good = true};
        if (content && *opcode == MCAP_CHANNEL) {
            note_channel(r, inside);
        }
        if (!content || (*opcode == MCAP_MESSAGE && !note_message(r, place, unit, inside, &open))) {
            r->steps.size = before;
            r->whys.size = whys_before;
            r->gap = gap;
            return false;
        }
    }
    return true;
}

static void note_damage(perp_log_reader *r, uint64_t at)
{
    r->extent.damaged_at = r->extent.damaged == 0 ? at : r->extent.damaged_at;
    r->extent.damaged++;
    r->gap = true;
}

/* A Chunk record at `at`, whose content is in r->packed. */
static perp_status note_chunk(perp_log_reader *r, uint64_t at, perp_error *error)
{
    byte_view view = {.bytes = r->packed.bytes, .left = r->packed.size, .good = true};
    log_unit_place place = {.unit.offset = at, .unit.chunk_length = r->packed.size + MCAP_RECORD_HEAD};
    int unit;
    perp_log_units(r, &unit);
    r->loaded = -1;
    if (!parse_chunk(&view, &place)) {
        note_damage(r, at);
        return PERP_STATUS_OK;
    }
    place.data = at + MCAP_RECORD_HEAD + (r->packed.size - view.left);
    const perp_status status = unpack(r, &place, view.bytes, error);
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    if (status != PERP_STATUS_OK || !note_messages(r, &place, unit)) {
        note_damage(r, at);
        return r->steps.failed || r->whys.failed ? out_of_memory(error) : PERP_STATUS_OK;
    }
    perp_log_steps(r, &place.step_end);
    place.end = at + place.unit.chunk_length;
    place.whole = !r->gap;
    perp_bytes_put(&r->units, &place, sizeof place);
    r->loaded = unit;
    return PERP_STATUS_OK;
}

/* A MessageIndex record belongs to the chunk before it. */
static void note_index(perp_log_reader *r, uint64_t at, uint64_t length)
{
    int count;
    log_unit_place *units = perp_log_units(r, &count);
    byte_view view = {.bytes = r->packed.bytes, .left = r->packed.size, .good = true};
    const int channel = channel_of(r, perp_view_u16(&view));
    if (count > 0 && units[count - 1].end == at && channel > 0) {
        units[count - 1].unit.index_offset[channel] = at;
        units[count - 1].unit.index_length += length;
        units[count - 1].end = at + length;
        units[count - 1].indices++;
    }
}

/* ---- other records ----------------------------------------------------------------------------------------------- */

static perp_status note_attachment(perp_log_reader *r, uint64_t at, perp_error *error)
{
    byte_view view = {.bytes = r->packed.bytes, .left = r->packed.size, .good = true};
    size_t name_length, type_length;
    perp_view_u64(&view);
    perp_view_u64(&view);
    const char *name = perp_view_string(&view, &name_length);
    perp_view_string(&view, &type_length);
    const uint64_t size = perp_view_u64(&view);
    const unsigned char *bytes = size <= view.left ? perp_view_take(&view, (size_t)size) : NULL;
    const size_t covered = r->packed.size - view.left;
    const uint32_t crc = perp_view_u32(&view);
    if (!bytes || !view.good || (crc != 0 && crc != perp_crc32(0, r->packed.bytes, covered))) {
        note_damage(r, at);
        return PERP_STATUS_OK;
    }
    const perp_log_file *before = r->head.files;
    const int count = r->head.file_count;
    perp_log_file *files = PERP_ARENA_NEW(&r->arena, perp_log_file, (size_t)count + 1);
    char *own = perp_arena_text(&r->arena, (const char *)bytes, (size_t)size);
    char *own_name = perp_arena_text(&r->arena, name, name_length);
    if (!files || !own || !own_name) {
        return out_of_memory(error);
    }
    if (count > 0) {
        memcpy(files, before, (size_t)count * sizeof *files);
    }
    files[count] = (perp_log_file){.name = own_name, .bytes = own, .size = (size_t)size};
    r->head.files = files;
    r->head.file_count = count + 1;
    const log_record_place place = {true, at, r->packed.size + MCAP_RECORD_HEAD, size, own_name};
    perp_bytes_put(&r->places, &place, sizeof place);
    return PERP_STATUS_OK;
}

static perp_status note_metadata(perp_log_reader *r, uint64_t at, perp_error *error)
{
    byte_view view = {.bytes = r->packed.bytes, .left = r->packed.size, .good = true};
    size_t length;
    const char *name = perp_view_string(&view, &length);
    const uint32_t size = perp_view_u32(&view);
    const unsigned char *bytes = perp_view_take(&view, size);
    const byte_view map = {.bytes = bytes, .left = size, .good = true};
    if (!bytes || !name) {
        note_damage(r, at);
        return PERP_STATUS_OK;
    }
    if (length == 4 && memcmp(name, "perp", 4) == 0 && !r->head.version) {
        const log_record_place place = {false, at, r->packed.size + MCAP_RECORD_HEAD, 0, "perp"};
        perp_bytes_put(&r->places, &place, sizeof place);
        return perp_log_parse_head(r, map, error);
    }
    const bool resumed = length == 11 && memcmp(name, "perp.resume", 11) == 0 && r->head.version;
    if (resumed) {
        const log_record_place place = {false, at, r->packed.size + MCAP_RECORD_HEAD, 0, "perp.resume"};
        perp_bytes_put(&r->places, &place, sizeof place);
    }
    if (resumed || (length == 11 && memcmp(name, "perp.result", 11) == 0 && !r->end.known)) {
        const perp_status status = resumed ? perp_log_parse_resume(r, map, error) : perp_log_parse_end(r, map, error);
        if (status != PERP_STATUS_BAD_INPUT) {
            return status;
        }
        note_damage(r, at);
    }
    return PERP_STATUS_OK;
}

/* How many chunks there should be: one whose opcode is damaged looks like a record of somebody else's. */
static perp_status note_statistics(perp_log_reader *r, uint64_t at, uint64_t size, perp_error *error)
{
    unsigned char content[26] = {0}; /* messages, schemas, channels, attachments, metadata, chunks */
    int units;
    perp_log_units(r, &units);
    if (size < sizeof content) {
        r->gap = true;
        return PERP_STATUS_OK;
    }
    const perp_status status = read_at(r, at + MCAP_RECORD_HEAD, content, sizeof content, error);
    byte_view chunks = {.bytes = content + 22, .left = 4, .good = true};
    r->gap = r->gap || perp_view_u32(&chunks) != (uint32_t)units;
    return status;
}

/* Chunks have steps, and the last is the one that the run's own end speaks of; a run that failed may have counted one
 * more, whose contacts could not be listed. */
static bool has_all_steps(const perp_log_reader *r)
{
    int count, units;
    const log_step_place *steps = perp_log_steps(r, &count);
    perp_log_units(r, &units);
    return count == 0 ? units == 0
                      : !r->end.known || steps[count - 1].step == r->end.steps ||
                            (r->end.failed && steps[count - 1].step == r->end.steps - 1);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* A record that counts; others are passed over. */
static perp_status note_record(perp_log_reader *r, unsigned opcode, uint64_t at, uint64_t size, perp_error *error)
{
    const bool wanted = opcode == MCAP_CHANNEL || opcode == MCAP_CHUNK || opcode == MCAP_MESSAGE_INDEX ||
                        opcode == MCAP_ATTACHMENT || opcode == MCAP_METADATA;
    if (r->ended && opcode == MCAP_STATISTICS) {
        return note_statistics(r, at, size, error);
    }
    if (!wanted || r->ended) {
        r->ended = r->ended || opcode == MCAP_DATA_END;
        return PERP_STATUS_OK;
    }
    if (size > 2 * (uint64_t)CHUNK_LIMIT) {
        note_damage(r, at);
        return PERP_STATUS_OK;
    }
    perp_status status = read_content(r, at + MCAP_RECORD_HEAD, size, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    switch (opcode) {
    case MCAP_CHANNEL:
        note_channel(r, (byte_view){.bytes = r->packed.bytes, .left = r->packed.size, .good = true});
        break;
    case MCAP_CHUNK:
        status = note_chunk(r, at, error);
        break;
    case MCAP_MESSAGE_INDEX:
        note_index(r, at, size + MCAP_RECORD_HEAD);
        break;
    case MCAP_ATTACHMENT:
        status = note_attachment(r, at, error);
        break;
    default:
        status = note_metadata(r, at, error);
        break;
    }
    const bool failed = r->topics.failed || r->units.failed || r->steps.failed || r->whys.failed || r->places.failed;
    return status == PERP_STATUS_OK && failed ? out_of_memory(error) : status;
}

static perp_status check_magic(perp_log_reader *r, perp_error *error)
{
    unsigned char magic[sizeof perp_mcap_magic] = {0};
    if (r->size >= sizeof magic) {
        const perp_status status = read_at(r, 0, magic, sizeof magic, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    if (memcmp(magic, perp_mcap_magic, sizeof magic) != 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "not a log: it does not begin as an MCAP file does");
    }
    return PERP_STATUS_OK;
}

perp_status perp_log_scan(perp_log_reader *r, perp_error *error)
{
    uint64_t at = sizeof perp_mcap_magic;
    bool closed = false;
    perp_status status = check_magic(r, error);
    while (status == PERP_STATUS_OK && !closed && r->size - at >= MCAP_RECORD_HEAD) {
        unsigned char head[MCAP_RECORD_HEAD];
        status = read_at(r, at, head, sizeof head, error);
        byte_view view = {.bytes = head + 1, .left = 8, .good = true};
        const uint64_t size = perp_view_u64(&view);
        if (status != PERP_STATUS_OK || head[0] == 0 || size > r->size - at - MCAP_RECORD_HEAD) {
            break; /* zeros, or a record that the file has no longer */
        }
        status = note_record(r, head[0], at, size, error);
        at += MCAP_RECORD_HEAD + size;
        closed = head[0] == MCAP_FOOTER;
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!r->head.version) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "not a log of perp, or cut before its head was complete");
    }
    const uint64_t rest = r->size - at;
    unsigned char magic[sizeof perp_mcap_magic] = {0};
    if (closed && rest == sizeof magic) {
        status = read_at(r, at, magic, sizeof magic, error);
        closed = memcmp(magic, perp_mcap_magic, sizeof magic) == 0;
    } else {
        closed = false;
    }
    r->extent.size = r->size;
    r->extent.tail = closed ? 0 : rest;
    perp_log_steps(r, &r->extent.step_count);
    r->extent.complete = closed && r->ended && r->extent.damaged == 0 && !r->gap && has_all_steps(r);
    return status;
}
