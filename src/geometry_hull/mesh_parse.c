/* Vertices of OBJ and STL files.
 *
 * The bytes are a stranger's: every read is bounded by the length, counts are compared with the bytes that are there
 * before anything is allocated, and numbers must be finite. */
#include <perp/geometry_hull.h>

#include "geometry_hull/mesh_parse.h"
#include "base/plain_locale.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct point_list {
    perp_allocator allocator;
    perp_vec3 *points;
    int count, capacity;
} point_list;

static perp_status append(point_list *list, perp_vec3 point, perp_error *error)
{
    if (list->count == PERP_MESH_MAX_POINTS) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a mesh has at most %d points", PERP_MESH_MAX_POINTS);
    }
    if (list->count == list->capacity) {
        const int larger = list->capacity ? 2 * list->capacity : 64;
        perp_vec3 *moved = list->allocator.allocate(list->allocator.context, (size_t)larger * sizeof *moved);
        if (!moved) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while reading a mesh");
        }
        if (list->points) {
            memcpy(moved, list->points, (size_t)list->count * sizeof *moved);
            list->allocator.release(list->allocator.context, list->points);
        }
        list->points = moved;
        list->capacity = larger;
    }
    list->points[list->count++] = point;
    return PERP_STATUS_OK;
}

static bool finite(perp_vec3 p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

enum { LONGEST_LINE = 400 };

/* Copies the next line, cut to LONGEST_LINE; false at the end of the text. A zero byte, which no text has and which
 * would hide what stands behind it, is seen in all of the line. */
static bool next_line(const char **text, const char *end, char line[LONGEST_LINE + 1], bool *zero_byte)
{
    if (*text >= end) {
        return false;
    }
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    const size_t whole = (size_t)((stop ? stop : end) - *text);
    const size_t kept = whole < LONGEST_LINE ? whole : LONGEST_LINE;
    memcpy(line, *text, kept);
    *zero_byte = whole > 0 && memchr(*text, '\0', whole) != NULL;
    line[kept] = '\0';
    *text = stop ? stop + 1 : end;
    return true;
}

/* What stands behind `word` if the line begins with it and a blank; else NULL. */
static const char *after_word(const char *line, const char *word)
{
    while (isspace((unsigned char)*line)) {
        line++;
    }
    const size_t length = strlen(word);
    const bool match =
        strncmp(line, word, length) == 0 && (line[length] == '\0' || isspace((unsigned char)line[length]));
    return match ? line + length : NULL;
}

static bool read_three(const char *text, perp_vec3 *point)
{
    double x[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        x[i] = strtod(text, &end);
        if (end == text) {
            return false;
        }
        text = end;
    }
    *point = perp_vec3_make(x[0], x[1], x[2]);
    return finite(*point);
}

/* All lines that begin with `word` give a point. With `closing` the text must end with a line that begins with it, or
 * it was cut off. */
static perp_status parse_text(const char *bytes, size_t length, const char *word, const char *closing, point_list *list,
                              perp_error *error)
{
    const char *text = bytes, *end = bytes + length;
    char line[LONGEST_LINE + 1];
    bool closed = closing == NULL, zero_byte;
    for (int number = 1; next_line(&text, end, line, &zero_byte); number++) {
        if (zero_byte) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "line %d: has a zero byte: not a text file", number);
        }
        const char *values = after_word(line, word);
        perp_vec3 point;
        closed = closed || after_word(line, closing);
        if (!values) {
            continue;
        }
        if (!read_three(values, &point)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "line %d: expected three finite numbers after `%s`", number,
                             word);
        }
        const perp_status status = append(list, point, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return closed ? PERP_STATUS_OK
                  : perp_fail(error, PERP_STATUS_BAD_INPUT, "is cut off: there is no `%s` at the end", closing);
}

/* ---- binary STL: 80 bytes, the number of triangles, then 50 bytes each: normal, three corners, 2 bytes ----------- */

enum { STL_HEAD = 84, STL_TRIANGLE = 50 };

static uint32_t little_endian(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const unsigned char *bytes)
{
    const uint32_t bits = little_endian(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static perp_status parse_binary_stl(const unsigned char *bytes, size_t length, point_list *list, perp_error *error)
{
    const size_t triangles = little_endian(bytes + 80);
    const size_t needed = triangles * STL_TRIANGLE, present = length - STL_HEAD;
    if (present < needed) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "says it has %zu triangles, but there are bytes for %zu: cut off, or not an STL file",
                         triangles, present / STL_TRIANGLE);
    }
    if (present > needed) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "says it has %zu triangles, but %zu bytes follow them: too long, or not an STL file",
                         triangles, present - needed);
    }
    for (size_t i = 0; i < triangles; i++) {
        const unsigned char *corner = bytes + STL_HEAD + i * STL_TRIANGLE + 12;
        for (int k = 0; k < 3; k++, corner += 12) {
            const perp_vec3 point = {read_float(corner), read_float(corner + 4), read_float(corner + 8)};
            if (!finite(point)) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT, "a corner of triangle %zu is not finite", i);
            }
            const perp_status status = append(list, point, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
        }
    }
    return PERP_STATUS_OK;
}

/* A binary file may begin with "solid" too, so the byte count decides first; if that is wrong, a zero byte among the
 * first ones, which end with the count, does. */
static bool is_binary_stl(const unsigned char *bytes, size_t length)
{
    if (length < STL_HEAD) {
        return false;
    }
    const bool counts = (length - STL_HEAD) == (size_t)little_endian(bytes + 80) * STL_TRIANGLE;
    return counts || memcmp(bytes, "solid", 5) != 0 || memchr(bytes, '\0', STL_HEAD) != NULL;
}

static perp_status parse(perp_mesh_format format, const void *bytes, size_t length, point_list *list, perp_error *error)
{
    if (length > PERP_MESH_MAX_BYTES) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "is larger than %d bytes", PERP_MESH_MAX_BYTES);
    }
    if (format == PERP_MESH_STL && is_binary_stl(bytes, length)) {
        return parse_binary_stl(bytes, length, list, error);
    }
    perp_plain_locale locale;
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    if (!perp_plain_locale_open(&locale)) {
        return perp_fail(error, status, "out of memory while reading a mesh");
    }
    perp_plain_locale_enter(&locale);
    status = format == PERP_MESH_STL ? parse_text(bytes, length, "vertex", "endsolid", list, error)
                                     : parse_text(bytes, length, "v", NULL, list, error);
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    return status;
}

perp_status perp_mesh_parse(perp_mesh_format format, const void *bytes, size_t length, const perp_allocator *allocator,
                            perp_vec3 **points, int *count, perp_error *error)
{
    point_list list = {.allocator = allocator ? *allocator : perp_allocator_default()};
    perp_status status = parse(format, bytes, length, &list, error);
    if (status == PERP_STATUS_OK && list.count == 0) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "has no vertices");
    }
    if (status != PERP_STATUS_OK && list.points) {
        list.allocator.release(list.allocator.context, list.points);
        list.points = NULL;
    }
    *points = list.points;
    *count = status == PERP_STATUS_OK ? list.count : 0;
    return status;
}
