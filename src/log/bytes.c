#include "log/bytes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static perp_allocator source_of(const byte_row *row)
{
    return row->allocator ? *row->allocator : perp_allocator_default();
}

void perp_bytes_free(byte_row *row)
{
    const perp_allocator source = source_of(row);
    if (row->bytes) {
        source.release(source.context, row->bytes);
    }
    *row = (byte_row){.allocator = row->allocator};
}

bool perp_bytes_reserve(byte_row *row, size_t more)
{
    if (row->failed || more > SIZE_MAX / 4 - row->size) {
        row->failed = true;
        return false;
    }
    const size_t needed = row->size + more;
    if (needed <= row->capacity) {
        return true;
    }
    const size_t twice = 2 * row->capacity, capacity = needed < twice ? twice : needed + 256;
    const perp_allocator source = source_of(row);
    unsigned char *larger = source.allocate(source.context, capacity);
    if (!larger) {
        row->failed = true;
        return false;
    }
    if (row->bytes) {
        memcpy(larger, row->bytes, row->size);
        source.release(source.context, row->bytes);
    }
    row->bytes = larger;
    row->capacity = capacity;
    return true;
}

unsigned char *perp_bytes_room(byte_row *row, size_t size)
{
    if (!perp_bytes_reserve(row, size)) {
        return NULL;
    }
    row->size += size;
    return row->bytes + row->size - size;
}

void perp_bytes_put(byte_row *row, const void *bytes, size_t size)
{
    unsigned char *room = size > 0 ? perp_bytes_room(row, size) : NULL;
    if (room) {
        memcpy(room, bytes, size);
    }
}

static void little_endian(unsigned char *out, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        out[i] = (unsigned char)(value >> (8 * i));
    }
}

void perp_bytes_u8(byte_row *row, unsigned value)
{
    const unsigned char byte = (unsigned char)value;
    perp_bytes_put(row, &byte, 1);
}

void perp_bytes_u16(byte_row *row, unsigned value)
{
    unsigned char bytes[2];
    little_endian(bytes, value, 2);
    perp_bytes_put(row, bytes, sizeof bytes);
}

void perp_bytes_u32(byte_row *row, uint32_t value)
{
    unsigned char bytes[4];
    little_endian(bytes, value, 4);
    perp_bytes_put(row, bytes, sizeof bytes);
}

void perp_bytes_u64(byte_row *row, uint64_t value)
{
    unsigned char bytes[8];
    little_endian(bytes, value, 8);
    perp_bytes_put(row, bytes, sizeof bytes);
}

void perp_bytes_string(byte_row *row, const char *text)
{
    const size_t length = strlen(text);
    perp_bytes_u32(row, (uint32_t)length);
    perp_bytes_put(row, text, length);
}

void perp_bytes_patch_u32(byte_row *row, size_t at, uint32_t value)
{
    if (!row->failed) {
        little_endian(row->bytes + at, value, 4);
    }
}

void perp_bytes_patch_u64(byte_row *row, size_t at, uint64_t value)
{
    if (!row->failed) {
        little_endian(row->bytes + at, value, 8);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void perp_bytes_text(byte_row *row, const char *text)
{
    perp_bytes_put(row, text, strlen(text));
}

void perp_bytes_quoted(byte_row *row, const char *text)
{
    perp_bytes_u8(row, '"');
    for (const char *plain = text;; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c != '"' && c != '\\' && c >= 0x20 && c != 0x7f) {
            continue;
        }
        perp_bytes_put(row, plain, (size_t)(text - plain));
        if (c == '\0') {
            break;
        }
        char escape[8];
        if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x", c);
        }
        perp_bytes_text(row, escape);
        plain = text + 1;
    }
    perp_bytes_u8(row, '"');
}

void perp_bytes_real(byte_row *row, double value)
{
    char text[PERP_REAL_TEXT];
    if (isfinite(value)) {
        perp_bytes_put(row, text, (size_t)perp_real_text(value, text));
    } else {
        perp_bytes_text(row, "null");
    }
}

void perp_bytes_integer(byte_row *row, long long value)
{
    char text[PERP_REAL_TEXT];
    perp_bytes_put(row, text, (size_t)snprintf(text, sizeof text, "%lld", value));
}

void perp_bytes_reals(byte_row *row, const double *values, int count)
{
    perp_bytes_u8(row, '[');
    for (int i = 0; i < count; i++) {
        if (i > 0) {
            perp_bytes_u8(row, ',');
        }
        perp_bytes_real(row, values[i]);
    }
    perp_bytes_u8(row, ']');
}

void perp_bytes_json(byte_row *row, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    for (const char *at = strchr(format, '%'); at; at = strchr(format, '%')) {
        perp_bytes_put(row, format, (size_t)(at - format));
        if (at[1] == 'd') {
            perp_bytes_integer(row, va_arg(values, int));
        } else if (at[1] == 'g') {
            perp_bytes_real(row, va_arg(values, double));
        } else {
            assert(at[1] == 's');
            perp_bytes_quoted(row, va_arg(values, const char *));
        }
        format = at + 2;
    }
    va_end(values);
    perp_bytes_text(row, format);
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* Four bytes at a time. The tables (the remainders of x^(8k) n modulo the reversed polynomial 0xedb88320) are made anew
 * in each call: that takes as long as a few kilobytes, and chunks are about a megabyte. */
uint32_t perp_crc32(uint32_t crc, const void *bytes, size_t size)
{
    enum { AT_ONCE = 8 }; /* bytes, each by a table of its own: one after the other takes twice as long with four */
    uint32_t table[AT_ONCE][256];
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t r = n;
        for (int k = 0; k < 8; k++) {
            r = r & 1u ? (r >> 1) ^ 0xedb88320u : r >> 1;
        }
        table[0][n] = r;
    }
    for (int k = 1; k < AT_ONCE; k++) {
        for (uint32_t n = 0; n < 256; n++) {
            table[k][n] = (table[k - 1][n] >> 8) ^ table[0][table[k - 1][n] & 255u];
        }
    }
    const unsigned char *p = bytes;
    crc = ~crc;
    for (; size >= AT_ONCE; size -= AT_ONCE, p += AT_ONCE) {
        const uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][low & 255u] ^ table[6][(low >> 8) & 255u] ^ table[5][(low >> 16) & 255u] ^ table[4][low >> 24] ^
              table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; size > 0; size--, p++) {
        crc = (crc >> 8) ^ table[0][(crc ^ *p) & 255u];
    }
    return ~crc;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

const unsigned char *perp_view_take(byte_view *view, size_t size)
{
    if (!view->good || size > view->left) {
        view->good = false;
        return NULL;
    }
    const unsigned char *place = view->bytes;
    view->bytes += size;
    view->left -= size;
    return place;
}

static uint64_t take_number(byte_view *view, size_t size)
{
    const unsigned char *bytes = perp_view_take(view, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < size; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

unsigned perp_view_u16(byte_view *view)
{
    return (unsigned)take_number(view, 2);
}

uint32_t perp_view_u32(byte_view *view)
{
    return (uint32_t)take_number(view, 4);
}

uint64_t perp_view_u64(byte_view *view)
{
    return take_number(view, 8);
}

const char *perp_view_string(byte_view *view, size_t *length)
{
    *length = perp_view_u32(view);
    const char *text = (const char *)perp_view_take(view, *length);
    *length = text ? *length : 0;
    return text;
}
