#include "base/settings_size.h"
#include "report/replay_header.h"
#include "report/replay_template.h"
#include "report/save.h"
#include "trace/json_maker.h"

#include <perp/report.h>
#include <perp/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

bool perp_replay_available(void)
{
    return perp_replay_head_size > 0;
}

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while making the replay");
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* JSON inside a script element: the characters that could end it, or begin a comment in it, stand only inside strings
 * there, where they can be written as escapes. The text itself is ASCII. */
static void put_script_text(byte_row *out, const char *text)
{
    for (size_t from = 0, to; text[from]; from = to) {
        to = from + strcspn(text + from, "<>&");
        perp_bytes_put(out, text + from, to - from);
        if (text[to]) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)text[to]);
            perp_bytes_put(out, escape, 6);
            to++;
        }
    }
}

static void put_base64(byte_row *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *at = perp_bytes_room(out, (size + 2) / 3 * 4);
    for (size_t i = 0; at && i < size; i += 3, at += 4) {
        const unsigned second = i + 1 < size ? bytes[i + 1] : 0, third = i + 2 < size ? bytes[i + 2] : 0;
        const unsigned three = ((unsigned)bytes[i] << 16) | (second << 8) | third;
        at[0] = (unsigned char)digits[three >> 18];
        at[1] = (unsigned char)digits[(three >> 12) & 63];
        at[2] = (unsigned char)(i + 1 < size ? digits[(three >> 6) & 63] : '=');
        at[3] = (unsigned char)(i + 2 < size ? digits[three & 63] : '=');
    }
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static perp_status compress(const byte_row *columns, byte_row *packed, perp_error *error)
{
    const size_t bound = ZSTD_compressBound(columns->size);
    unsigned char *room = perp_bytes_room(packed, bound);
    if (!room) {
        return no_memory(error);
    }
    /* Level 19 takes seconds on the largest pages and saves a tenth over 12. */
    const size_t size = ZSTD_compress(room, bound, columns->bytes, columns->size, columns->size < 4000000 ? 19 : 12);
    if (ZSTD_isError(size)) {
        return no_memory(error); /* the bound is met and the level is valid: nothing else is left to fail */
    }
    packed->size = size;
    return PERP_STATUS_OK;
}

static perp_status add_run(perp_log_reader *reader, const perp_replay_options *options, byte_row *columns,
                           json_t **headers, perp_error *error)
{
    perp_arena arena;
    perp_arena_init(&arena, options->allocator);
    replay_run run = {0};
    perp_status status = perp_replay_load(reader, options, &arena, &run, error);
    if (status == PERP_STATUS_OK) {
        *headers = perp_json_appended(*headers, perp_replay_header(&run, &arena, columns));
        status = *headers ? PERP_STATUS_OK : no_memory(error);
    }
    perp_replay_unload(&run);
    perp_arena_clear(&arena);
    return status;
}

/* What a page that is watched may do besides: run the file of news beside it, from disk or from a server. Stands at the
 * end of the page's policy, and tells the page its number. */
static void put_watch(byte_row *page, long long number)
{
    char text[100];
    if (number != 0) {
        const int length =
            snprintf(text, sizeof text, " file: 'self'\"><meta name=\"perp-watch\" content=\"%lld", number);
        perp_bytes_put(page, text, (size_t)length);
    }
}

static perp_status make_page(const json_t *headers, const byte_row *columns, long long watched, byte_row *page,
                             perp_error *error)
{
    byte_row packed = {0};
    const perp_status status = compress(columns, &packed, error);
    char *text = json_dumps(headers, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    if (status == PERP_STATUS_OK && text) {
        perp_bytes_put(page, perp_replay_top, perp_replay_top_size);
        put_watch(page, watched);
        perp_bytes_put(page, perp_replay_head, perp_replay_head_size);
        put_script_text(page, text);
        perp_bytes_put(page, perp_replay_middle, perp_replay_middle_size);
        put_base64(page, packed.bytes, packed.size);
        perp_bytes_put(page, perp_replay_tail, perp_replay_tail_size);
    }
    const bool good = text && !page->failed;
    free(text);
    perp_bytes_free(&packed);
    return status != PERP_STATUS_OK ? status : good ? PERP_STATUS_OK : no_memory(error);
}

perp_status perp_replay_write(perp_log_reader *const *readers, int count, const perp_replay_options *options,
                              const char *path, perp_error *error)
{
    const perp_replay_options standard = perp_replay_options_default();
    options = options ? options : &standard;
    if (PERP_CHECK_SIZE(perp_replay_options, options, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (!perp_replay_available()) {
        return perp_fail(error, PERP_STATUS_UNAVAILABLE,
                         "this build of perp has no replay page; build it with nodejs and npm installed and "
                         "-DPERP_VIEWER=ON");
    }
    for (int i = 1; i < count; i++) {
        if (perp_log_reader_head(readers[i])->planar != perp_log_reader_head(readers[0])->planar) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "planar and spatial logs cannot be shown in one page; make one of each");
        }
    }
    byte_row columns = {0}, page = {0};
    json_t *headers = json_array();
    perp_status status = headers && count > 0 && count <= PERP_REPLAY_MOST_LOGS
                             ? PERP_STATUS_OK
                             : perp_fail(error, PERP_STATUS_BAD_INPUT, "a replay shows 1 to %d logs, not %d",
                                         (int)PERP_REPLAY_MOST_LOGS, count);
    for (int i = 0; i < count && status == PERP_STATUS_OK; i++) {
        status = add_run(readers[i], options, &columns, &headers, error);
    }
    if (status == PERP_STATUS_OK) {
        status = make_page(headers, &columns, options->watched, &page, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_report_save(&page, path, error);
    }
    json_decref(headers);
    perp_bytes_free(&columns);
    perp_bytes_free(&page);
    return status;
}

/* The one call that the page's file of news is. */
static bool put_news(byte_row *news, long long number, const char *message)
{
    json_maker m = perp_json_object();
    json_t *said = json_string(message);
    perp_json_put(&m, "page", json_integer((json_int_t)number));
    perp_json_put(&m, "message", said ? said : json_string("what is wrong cannot be shown here: it is not UTF-8"));
    char *text = perp_json_dump(&m);
    if (text) {
        perp_bytes_put(news, "perpWatch(", strlen("perpWatch("));
        put_script_text(news, text);
        perp_bytes_put(news, ");\n", strlen(");\n"));
    }
    const bool good = text && !news->failed;
    perp_text_free(text);
    return good;
}

perp_status perp_replay_tell(const char *path, long long number, const char *message, perp_error *error)
{
    byte_row news = {0};
    char *file = malloc(strlen(path) + sizeof ".watch.js");
    perp_status status;
    if (file && put_news(&news, number, message)) {
        strcat(strcpy(file, path), ".watch.js");
        status = perp_report_save(&news, file, error);
    } else {
        status = no_memory(error);
    }
    free(file);
    perp_bytes_free(&news);
    return status;
}
