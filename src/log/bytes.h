/* bytes.h - a growing row of bytes: little-endian numbers and strings as MCAP has them, and JSON text.
 *
 * Lack of memory is remembered in `failed` and makes every further put a no-op, so that a caller looks once, at the
 * end. Room that was taken is kept over perp_bytes_clear. */
#ifndef PERP_SRC_LOG_BYTES_H
#define PERP_SRC_LOG_BYTES_H

#include <perp/base.h>

typedef struct byte_row {
    const perp_allocator *allocator; /* NULL: malloc */
    unsigned char *bytes;
    size_t size, capacity;
    bool failed;
} byte_row;

void perp_bytes_free(byte_row *row);
static inline void perp_bytes_clear(byte_row *row)
{
    row->size = 0;
}
/* Room for so many bytes more; false where there is none. */
bool perp_bytes_reserve(byte_row *row, size_t more);
/* So many bytes more, for the caller to fill; NULL where there is no room. */
unsigned char *perp_bytes_room(byte_row *row, size_t size);
void perp_bytes_put(byte_row *row, const void *bytes, size_t size);
void perp_bytes_u8(byte_row *row, unsigned value);
void perp_bytes_u16(byte_row *row, unsigned value);
void perp_bytes_u32(byte_row *row, uint32_t value);
void perp_bytes_u64(byte_row *row, uint64_t value);
/* A string: its length in 32 bits, then its bytes. */
void perp_bytes_string(byte_row *row, const char *text);
/* Writes `value` over 4 or 8 bytes that are there already. */
void perp_bytes_patch_u32(byte_row *row, size_t at, uint32_t value);
void perp_bytes_patch_u64(byte_row *row, size_t at, uint64_t value);

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void perp_bytes_text(byte_row *row, const char *text); /* as it is */
/* In quotes, with what JSON wants escaped. */
void perp_bytes_quoted(byte_row *row, const char *text);
/* The same double when read again; null where it is not finite. The locale must be plain. */
void perp_bytes_real(byte_row *row, double value);
void perp_bytes_integer(byte_row *row, long long value);
/* [a, b, ..] */
void perp_bytes_reals(byte_row *row, const double *values, int count);
/* Text with values in it, each as above: %d an int, %g a real, %s a text in quotes. */
void perp_bytes_json(byte_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The longest text of a double, with its terminating zero. */
enum { PERP_REAL_TEXT = 32 };
/* As perp_bytes_real, of a finite number; returns the length. */
int perp_real_text(double value, char text[PERP_REAL_TEXT]);

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* CRC-32 (IEEE 802.3) of more bytes: start with 0. */
uint32_t perp_crc32(uint32_t crc, const void *bytes, size_t size);

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* Takes what stands at the front; `good` turns false where there is too little. */
typedef struct byte_view {
    const unsigned char *bytes;
    size_t left;
    bool good;
} byte_view;

const unsigned char *perp_view_take(byte_view *view, size_t size); /* NULL where there is too little */
unsigned perp_view_u16(byte_view *view);
uint32_t perp_view_u32(byte_view *view);
uint64_t perp_view_u64(byte_view *view);
/* A string's bytes, not terminated, and its length. */
const char *perp_view_string(byte_view *view, size_t *length);

#endif
