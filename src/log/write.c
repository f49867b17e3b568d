/* The writer of run logs: messages are collected in a chunk, which is compressed and written by one call. */
#include "base/settings_size.h"
#include "log/write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double NANOSECOND = 1e-9; /* s */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + NANOSECOND * (double)time.tv_nsec;
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

static ptrdiff_t write_file(void *context, const void *bytes, size_t size)
{
    const perp_log *log = context;
    return write(log->file, bytes, size);
}

static int sync_file(void *context)
{
    const perp_log *log = context;
    return fsync(log->file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1; /* a pipe cannot be synchronised */
}

static void fail(perp_log *log, perp_status status, int number)
{
    if (log->status == PERP_STATUS_OK) {
        log->status = perp_fail(&log->error, status, "cannot write the log after %llu bytes: %s",
                                (unsigned long long)log->written, number ? strerror(number) : "out of memory");
    }
}

/* All of log->unit, by one call unless the system takes less. What it took of a unit it then refused stays: the reader
 * knows an incomplete one, and nothing is ever written behind it. */
void perp_log_write_unit(perp_log *log)
{
    const unsigned char *bytes = log->unit.bytes;
    size_t left = log->unit.size;
    if (log->unit.failed) {
        fail(log, PERP_STATUS_OUT_OF_MEMORY, 0);
    }
    while (left > 0 && log->status == PERP_STATUS_OK) {
        errno = 0;
        const ptrdiff_t taken = log->sink.write(log->sink.context, bytes, left);
        if (taken < 0 && errno == EINTR) {
            continue;
        }
        if (taken <= 0 || (size_t)taken > left) {
            fail(log, PERP_STATUS_IO, taken < 0 && errno ? errno : EIO);
            break;
        }
        bytes += taken;
        left -= (size_t)taken;
        log->written += (uint64_t)taken;
    }
    perp_bytes_clear(&log->unit);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* The messages of the open chunk as a Chunk record; false where it could not be compressed. */
static bool put_chunk(perp_log *log)
{
    byte_row *unit = &log->unit;
    const byte_row *records = &log->records;
    const size_t bound = ZSTD_compressBound(records->size), begin = perp_mcap_begin(unit, MCAP_CHUNK);
    perp_bytes_u64(unit, log->open.time_first);
    perp_bytes_u64(unit, log->open.time_last);
    perp_bytes_u64(unit, records->size);
    perp_bytes_u32(unit, perp_crc32(0, records->bytes, records->size));
    perp_bytes_string(unit, "zstd");
    perp_bytes_u64(unit, 0); /* the compressed size, when it is known */
    if (!perp_bytes_reserve(unit, bound)) {
        return false;
    }
    const size_t compressed =
        ZSTD_compress2(log->compressor, unit->bytes + unit->size, bound, records->bytes, records->size);
    if (ZSTD_isError(compressed)) {
        return false;
    }
    perp_bytes_patch_u64(unit, unit->size - 8, compressed);
    unit->size += compressed;
    perp_mcap_end(unit, begin);
    log->open.offset = log->written;
    log->open.chunk_length = unit->size;
    log->open.compressed_size = compressed;
    log->open.plain_size = records->size;
    return true;
}

static void put_indices(perp_log *log)
{
    byte_row *unit = &log->unit;
    const size_t first = unit->size;
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        if (log->index[i].size == 0) {
            continue;
        }
        log->open.index_offset[i] = log->written + unit->size;
        const size_t begin = perp_mcap_begin(unit, MCAP_MESSAGE_INDEX);
        perp_bytes_u16(unit, (unsigned)i);
        perp_bytes_u32(unit, (uint32_t)log->index[i].size);
        perp_bytes_put(unit, log->index[i].bytes, log->index[i].size);
        perp_mcap_end(unit, begin);
    }
    log->open.index_length = unit->size - first;
}

/* Adds a message to the open chunk: begin, put its JSON into log->records, perp_mcap_end. */
static size_t begin_message(perp_log *log, log_channel channel, int step, double t)
{
    const uint64_t time = perp_log_time(t);
    byte_row *records = &log->records;
    if (records->size == 0) {
        log->open = (log_unit){.time_first = time, .time_last = time};
    }
    log->open.time_first = time < log->open.time_first ? time : log->open.time_first;
    log->open.time_last = time > log->open.time_last ? time : log->open.time_last;
    log->open.messages[channel]++;
    perp_bytes_u64(&log->index[channel], time);
    perp_bytes_u64(&log->index[channel], records->size);
    const size_t begin = perp_mcap_begin(records, MCAP_MESSAGE);
    perp_bytes_u16(records, channel);
    perp_bytes_u32(records, (uint32_t)step);
    perp_bytes_u64(records, time);
    perp_bytes_u64(records, time); /* published: the same, no clock is in a log */
    return begin;
}

static bool any_failed(const perp_log *log)
{
    bool failed = log->records.failed || log->unit.failed || log->units.failed;
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        failed = failed || log->index[i].failed;
    }
    return failed;
}

void perp_log_close_chunk(perp_log *log)
{
    if (!log->chunk_open || log->status != PERP_STATUS_OK) {
        return;
    }
    const size_t begin = begin_message(log, LOG_MEMORY, log->last_step, log->last.t);
    perp_log_put_memory(&log->records, log->last_step, log->memory, log->memory_count);
    perp_mcap_end(&log->records, begin);
    if (!any_failed(log) && put_chunk(log)) {
        put_indices(log);
    } else {
        fail(log, PERP_STATUS_OUT_OF_MEMORY, 0);
    }
    if (log->status == PERP_STATUS_OK) {
        perp_log_write_unit(log);
    }
    if (log->status == PERP_STATUS_OK) {
        perp_bytes_put(&log->units, &log->open, sizeof log->open);
    }
    perp_bytes_clear(&log->records);
    for (int i = LOG_STATE; i < LOG_CHANNELS; i++) {
        perp_bytes_clear(&log->index[i]);
    }
    log->chunk_open = false;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static bool keep_memory(perp_log *log, const perp_step_info *info)
{
    const size_t needed = perp_run_memory_save(info->memory, log->memory, log->memory_capacity);
    log->memory_count = needed;
    if (needed <= log->memory_capacity) {
        return true;
    }
    const size_t capacity = needed + needed / 2 + 64;
    double *larger = log->allocator.allocate(log->allocator.context, capacity * sizeof *larger);
    if (!larger) {
        log->memory_count = 0;
        return false;
    }
    if (log->memory) {
        log->allocator.release(log->allocator.context, log->memory);
    }
    log->memory = larger;
    log->memory_capacity = capacity;
    log->memory_count = perp_run_memory_save(info->memory, larger, capacity);
    return true;
}

static void put_step(perp_log *log, int step, const perp_state *state, const perp_step_info *info)
{
    byte_row *records = &log->records;
    size_t begin = begin_message(log, LOG_STATE, step, state->t);
    perp_log_put_state(records, log->model, log->kinematics, step, state);
    perp_mcap_end(&log->records, begin);
    begin = begin_message(log, LOG_CONTACTS, step, state->t);
    perp_log_put_contacts(records, log->model, step, state->t, info);
    perp_mcap_end(&log->records, begin);
    if (info->element_count > 0) {
        begin = begin_message(log, LOG_ELEMENTS, step, state->t);
        perp_log_put_elements(records, log->model->planar, step, state->t, info);
        perp_mcap_end(&log->records, begin);
    }
    if (info->answer) {
        begin = begin_message(log, LOG_SOLUTIONS, step, state->t);
        perp_log_put_solutions(records, log->model, step, state, info->answer);
        perp_mcap_end(&log->records, begin);
    }
    if (info->trust) {
        begin = begin_message(log, LOG_TRUST, step, state->t);
        perp_log_put_trust(records, log->model, step, state, info->trust);
        perp_mcap_end(&log->records, begin);
    }
    begin = begin_message(log, LOG_INFO, step, state->t);
    perp_log_put_info(records, log->model, step, state->t, info, log->options.timing);
    perp_mcap_end(&log->records, begin);
    if (log->options.foxglove) {
        begin = begin_message(log, LOG_SCENE, step, state->t);
        perp_log_put_scene(records, log->model, log->kinematics, state->t, info);
        perp_mcap_end(&log->records, begin);
    }
}

/* The chunk has another message, or several: its age counts from the first, and it is closed where that is due. */
static void messages_came(perp_log *log)
{
    if (!log->chunk_open) {
        log->opened = now();
        log->chunk_open = true;
        pthread_cond_signal(&log->wake);
    }
    if (any_failed(log)) {
        fail(log, PERP_STATUS_OUT_OF_MEMORY, 0);
    }
    if (log->records.size >= log->options.chunk_bytes || now() - log->opened >= log->options.chunk_seconds) {
        perp_log_close_chunk(log);
    }
}

static void enter(perp_log *log)
{
    pthread_mutex_lock(&log->lock);
    perp_plain_locale_enter(&log->locale);
}

static bool leave(perp_log *log)
{
    const bool good = log->status == PERP_STATUS_OK;
    perp_plain_locale_leave(&log->locale);
    pthread_mutex_unlock(&log->lock);
    return good;
}

bool perp_log_observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    perp_log *log = context;
    enter(log);
    if (log->status == PERP_STATUS_OK) {
        perp_kinematics_update(log->model, state->q, log->kinematics);
        put_step(log, step, state, info);
        perp_state_copy(log->model, &log->last, state);
        log->last_step = step;
        log->last_contacts = info->contact_count;
        if (!keep_memory(log, info)) {
            fail(log, PERP_STATUS_OUT_OF_MEMORY, 0);
        }
        messages_came(log);
    }
    return leave(log);
}

static bool says_something(const perp_contact_note *notes, int count)
{
    for (int i = 0; i < count; i++) {
        if (notes[i].why) {
            return true;
        }
    }
    return false;
}

bool perp_log_explain(perp_log *log, const perp_contact_note *notes, int count)
{
    enter(log);
    assert(count == log->last_contacts);
    if (log->status == PERP_STATUS_OK && says_something(notes, count)) {
        const size_t begin = begin_message(log, LOG_WHY, log->last_step, log->last.t);
        perp_log_put_why(&log->records, log->last_step, log->last.t, notes, count);
        perp_mcap_end(&log->records, begin);
        messages_came(log);
    }
    return leave(log);
}

perp_status perp_log_status(const perp_log *log, perp_error *error)
{
    perp_log *own = (perp_log *)log; /* only its lock is touched */
    pthread_mutex_lock(&own->lock);
    const perp_status status = log->status;
    if (status != PERP_STATUS_OK && error) {
        *error = log->error;
    }
    pthread_mutex_unlock(&own->lock);
    return status;
}

/* ---- the thread that closes old chunks --------------------------------------------------------------------------- */

static void *close_old_chunks(void *context)
{
    perp_log *log = context;
    perp_plain_locale locale;
    const bool plain = perp_plain_locale_open(&locale);
    if (plain) {
        perp_plain_locale_enter(&locale);
    }
    pthread_mutex_lock(&log->lock);
    while (!log->closing) {
        const double age = now() - log->opened;
        if (!log->chunk_open) {
            pthread_cond_wait(&log->wake, &log->lock);
        } else if (age >= log->options.chunk_seconds) {
            if (!plain) {
                fail(log, PERP_STATUS_OUT_OF_MEMORY, 0);
                break;
            }
            perp_log_close_chunk(log);
        } else {
            const double until = log->opened + log->options.chunk_seconds;
            const struct timespec time = {.tv_sec = (time_t)floor(until),
                                          .tv_nsec = (long)(1e9 * (until - floor(until)))};
            pthread_cond_timedwait(&log->wake, &log->lock, &time);
        }
    }
    pthread_mutex_unlock(&log->lock);
    if (plain) {
        perp_plain_locale_leave(&locale);
    }
    perp_plain_locale_close(&locale);
    return NULL;
}

perp_status perp_log_start(perp_log *log, perp_error *error)
{
    if (!isfinite(log->options.chunk_seconds)) {
        return PERP_STATUS_OK;
    }
    const int failed = pthread_create(&log->closer, NULL, close_old_chunks, log);
    if (failed) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "cannot start the thread that closes chunks of the log: %s",
                         strerror(failed));
    }
    log->has_closer = true;
    return PERP_STATUS_OK;
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static bool make_lock(perp_log *log)
{
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        return false;
    }
    if (pthread_condattr_init(&attributes) != 0) {
        pthread_mutex_destroy(&log->lock);
        return false;
    }
    const bool good =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&log->wake, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (!good) {
        pthread_mutex_destroy(&log->lock);
    }
    return good;
}

static perp_status make_parts(perp_log *log, perp_error *error)
{
    byte_row *const rows[] = {&log->records, &log->unit, &log->units, &log->places, &log->names};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i]->allocator = &log->allocator;
    }
    for (int i = 0; i < LOG_CHANNELS; i++) {
        log->index[i].allocator = &log->allocator;
    }
    perp_status status = perp_state_create(log->model, &log->allocator, &log->last, error);
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(log->model, &log->allocator, &log->kinematics, error);
    }
    log->compressor = ZSTD_createCCtx();
    if (log->compressor) { /* text of numbers: higher levels are slower and no smaller */
        ZSTD_CCtx_setParameter(log->compressor, ZSTD_c_compressionLevel, 1);
    }
    log->has_lock = make_lock(log);
    if (status == PERP_STATUS_OK && (!log->compressor || !log->has_lock || !perp_plain_locale_open(&log->locale))) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a log");
    }
    return status;
}

perp_status perp_log_make(const perp_log_sink *sink, int file, const perp_log_about *about,
                          const perp_log_options *options, perp_log **log, perp_error *error)
{
    const perp_log_options chosen = options ? *options : perp_log_options_default();
    const perp_allocator source = chosen.allocator ? *chosen.allocator : perp_allocator_default();
    *log = NULL;
    if (PERP_CHECK_SIZE(perp_log_options, &chosen, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    perp_log *l = source.allocate(source.context, sizeof *l);
    if (!l) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a log");
    }
    memset(l, 0, sizeof *l);
    l->allocator = source;
    l->options = chosen;
    l->model = about->model;
    l->file = file;
    l->sink = sink ? *sink : (perp_log_sink){.context = l, .write = write_file, .sync = sync_file};
    const perp_status status = make_parts(l, error);
    if (status != PERP_STATUS_OK) {
        l->file = -1; /* still the caller's */
        perp_log_discard(l);
        return status;
    }
    *log = l;
    return PERP_STATUS_OK;
}

void perp_log_discard(perp_log *log)
{
    byte_row *const rows[] = {&log->records, &log->unit, &log->units, &log->places, &log->names};
    const perp_allocator source = log->allocator;
    if (log->has_closer) {
        pthread_mutex_lock(&log->lock);
        log->closing = true;
        pthread_cond_signal(&log->wake);
        pthread_mutex_unlock(&log->lock);
        pthread_join(log->closer, NULL);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perp_bytes_free(rows[i]);
    }
    for (int i = 0; i < LOG_CHANNELS; i++) {
        perp_bytes_free(&log->index[i]);
    }
    if (log->memory) {
        source.release(source.context, log->memory);
    }
    if (log->has_lock) {
        pthread_cond_destroy(&log->wake);
        pthread_mutex_destroy(&log->lock);
    }
    ZSTD_freeCCtx(log->compressor);
    perp_plain_locale_close(&log->locale);
    perp_kinematics_free(log->kinematics);
    perp_state_free(&log->last);
    if (log->file >= 0) {
        close(log->file);
    }
    source.release(source.context, log);
}

/* The head, in one write, and the thread; without them there is no log. */
static perp_status begin(perp_log **log, const perp_log_about *about, perp_error *error)
{
    perp_log *l = *log;
    perp_plain_locale_enter(&l->locale);
    perp_log_put_head(l, about);
    perp_plain_locale_leave(&l->locale);
    perp_log_write_unit(l);
    if (l->places.failed || l->names.failed) {
        fail(l, PERP_STATUS_OUT_OF_MEMORY, 0);
    }
    perp_status status = perp_log_status(l, error);
    status = status == PERP_STATUS_OK ? perp_log_start(l, error) : status;
    if (status != PERP_STATUS_OK) {
        perp_log_discard(l);
        *log = NULL;
    }
    return status;
}

perp_status perp_log_create_sink(const perp_log_sink *sink, const perp_log_about *about,
                                 const perp_log_options *options, perp_log **log, perp_error *error)
{
    const perp_status status = perp_log_make(sink, -1, about, options, log, error);
    return *log ? begin(log, about, error) : status;
}

perp_status perp_log_create(const char *path, const perp_log_about *about, const perp_log_options *options,
                            perp_log **log, perp_error *error)
{
    *log = NULL;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        return perp_fail(error, PERP_STATUS_IO, "cannot write `%s`: %s", path, strerror(errno));
    }
    const perp_status status = perp_log_make(NULL, file, about, options, log, error);
    if (!*log) {
        close(file);
        return status;
    }
    return begin(log, about, error);
}

perp_status perp_log_close(perp_log *log, const perp_run_result *result, const perp_error *failure, perp_error *error)
{
    if (!log) {
        return PERP_STATUS_OK;
    }
    pthread_mutex_lock(&log->lock);
    perp_plain_locale_enter(&log->locale);
    perp_log_close_chunk(log);
    if (log->status == PERP_STATUS_OK) {
        perp_log_put_end(log, result, failure);
        perp_log_write_unit(log);
    }
    perp_plain_locale_leave(&log->locale);
    if (log->status == PERP_STATUS_OK && log->sink.sync && log->sink.sync(log->sink.context) != 0) {
        fail(log, PERP_STATUS_IO, errno ? errno : EIO);
    }
    if (log->status == PERP_STATUS_OK && log->file >= 0) {
        const int file = log->file;
        log->file = -1;
        if (close(file) != 0 && errno != EINTR) {
            fail(log, PERP_STATUS_IO, errno);
        }
    }
    pthread_mutex_unlock(&log->lock);
    const perp_status status = perp_log_status(log, error);
    perp_log_discard(log);
    return status;
}

const char *perp_zstd_version(void)
{
    return ZSTD_versionString();
}
