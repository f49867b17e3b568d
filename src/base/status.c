#include <perp/base.h>

#include "base/edit_distance.h"
#include "base/settings_size.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *perp_version(void)
{
    return TEXT(PERP_VERSION_MAJOR) "." TEXT(PERP_VERSION_MINOR) "." TEXT(PERP_VERSION_PATCH);
}

void perp_version_numbers(int *major, int *minor, int *patch)
{
    *major = PERP_VERSION_MAJOR;
    *minor = PERP_VERSION_MINOR;
    *patch = PERP_VERSION_PATCH;
}

perp_status perp_check_size(const char *name, size_t size, size_t expected, perp_error *error)
{
    return size == expected
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_BAD_INPUT,
                           "%s is %zu bytes, but %zu in perp %s: take it from its default function, and build with the "
                           "headers of this version",
                           name, size, expected, perp_version());
}

const char *perp_build_flags(void)
{
#ifdef __clang__
    return "clang " __clang_version__ "; " PERP_BUILD_FLAGS;
#else
    return "gcc " __VERSION__ "; " PERP_BUILD_FLAGS;
#endif
}

const char *perp_status_name(perp_status status)
{
    static const char *const names[PERP_STATUS_COUNT] = {
        [PERP_STATUS_OK] = "ok",
        [PERP_STATUS_BAD_INPUT] = "bad-input",
        [PERP_STATUS_OUT_OF_MEMORY] = "out-of-memory",
        [PERP_STATUS_CAPACITY] = "capacity",
        [PERP_STATUS_IO] = "io",
        [PERP_STATUS_NOT_CONVERGED] = "not-converged",
        [PERP_STATUS_SINGULAR] = "singular",
        [PERP_STATUS_INFEASIBLE] = "infeasible",
        [PERP_STATUS_CANCELLED] = "cancelled",
        [PERP_STATUS_UNAVAILABLE] = "unavailable",
    };
    return (unsigned)status < PERP_STATUS_COUNT ? names[status] : "unknown";
}

/* A message is shown to a person and printed as JSON, and may hold text from a hostile file, cut anywhere: no escape
 * sequences, no line breaks, valid UTF-8. */
static void make_printable(char *text)
{
    while (*text) {
        const int length = perp_utf8_length(text);
        if (length == 0) {
            *text++ = '?';
            continue;
        }
        if (perp_utf8_is_control(text)) {
            memset(text, '?', (size_t)length);
        }
        text += length;
    }
}

static void format_message(char *message, size_t size, const char *format, va_list arguments)
{
    if (vsnprintf(message, size, format, arguments) < 0) {
        message[0] = '\0';
    }
    make_printable(message);
}

/* Keeps the tail of an overlong name: the end of a path says more than its beginning. */
static void copy_tail(char *to, size_t size, const char *from)
{
    const size_t length = from ? strlen(from) : 0;
    if (length < size) {
        memcpy(to, length ? from : "", length + 1);
    } else {
        memcpy(to, "...", 3);
        memcpy(to + 3, from + length - (size - 4), size - 3);
    }
    make_printable(to);
}

perp_status perp_fail(perp_error *error, perp_status status, const char *format, ...)
{
    if (error) {
        memset(error, 0, sizeof *error);
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        format_message(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

void perp_diagnostics_add(perp_diagnostics *list, perp_severity severity, const char *file, int line, int column,
                          const char *path, const char *format, ...)
{
    int *seen = severity == PERP_SEVERITY_ERROR ? &list->errors : &list->warnings;
    *seen += 1;
    if (*seen > PERP_DIAGNOSTICS_PER_SEVERITY) {
        return;
    }
    perp_diagnostic *item = &list->items[list->count++];
    item->severity = severity;
    item->line = line;
    item->column = column;
    copy_tail(item->file, sizeof item->file, file);
    copy_tail(item->path, sizeof item->path, path);
    va_list arguments;
    va_start(arguments, format);
    format_message(item->message, sizeof item->message, format, arguments);
    va_end(arguments);
}

void perp_diagnostics_first_error(const perp_diagnostics *list, perp_status status, perp_error *error)
{
    if (!error) {
        return;
    }
    for (int i = 0; i < list->count; i++) {
        const perp_diagnostic *item = &list->items[i];
        if (item->severity == PERP_SEVERITY_ERROR) {
            error->status = status;
            error->line = item->line;
            error->column = item->column;
            memcpy(error->file, item->file, sizeof error->file);
            memcpy(error->path, item->path, sizeof error->path);
            memcpy(error->message, item->message, sizeof error->message);
            return;
        }
    }
}

void perp_diagnostic_format(const perp_diagnostic *item, char *text, size_t size)
{
    const char *mark = item->severity == PERP_SEVERITY_WARNING ? "warning: " : "";
    if (item->file[0]) {
        snprintf(text, size, "%s:%d:%d: %s%s", item->file, item->line, item->column, mark, item->message);
    } else if (item->path[0]) {
        snprintf(text, size, "%s: %s%s", item->path, mark, item->message);
    } else {
        snprintf(text, size, "%s%s", mark, item->message);
    }
    if (size > 0) {
        make_printable(text); /* the cut may fall into a character */
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

enum { WORD_MAX = 40 };

int perp_edit_distance(const char *a, const char *b)
{
    const int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > WORD_MAX || lb > WORD_MAX) {
        return WORD_MAX;
    }
    int d[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= la; i++) {
        d[i][0] = i;
    }
    for (int j = 0; j <= lb; j++) {
        d[0][j] = j;
    }
    for (int i = 1; i <= la; i++) {
        for (int j = 1; j <= lb; j++) {
            const int cost = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = least(least(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[la][lb];
}

perp_nearest perp_nearest_begin(const char *word)
{
    perp_nearest r = {word, NULL, 1 + (int)strlen(word) / 3};
    return r;
}

void perp_nearest_offer(perp_nearest *nearest, const char *candidate)
{
    const int distance = perp_edit_distance(nearest->word, candidate);
    if (distance <= nearest->least) {
        nearest->least = distance - 1;
        nearest->name = candidate;
    }
}
