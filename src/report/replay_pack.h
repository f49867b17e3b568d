/* replay_pack.h - columns of numbers as bytes that compress well. viewer/src/decode.ts is the inverse.
 *
 * A number becomes a whole one (of FLOAT: the bits of a float, rounded to 20 bits of fraction, in an order that is that
 * of the numbers; of FIXED: multiples of a quantum). Along each series differences are taken and folded to unsigned
 * ones; the bytes of equal weight of a whole column stand together. Smooth motion then is mostly zeros. */
#ifndef PERP_SRC_REPORT_REPLAY_PACK_H
#define PERP_SRC_REPORT_REPLAY_PACK_H

#include "log/bytes.h"

#include <jansson.h>

typedef enum replay_coding { REPLAY_FLOAT, REPLAY_FIXED, REPLAY_BYTE } replay_coding;

typedef struct replay_column {
    const char *name;
    replay_coding coding;
    double quantum; /* of FIXED, > 0 */
    int series;     /* of equal length, one behind the other */
    size_t length;  /* numbers in all */
    const double *values;
} replay_column;

/* Appends the column; returns what the header says of it, NULL: out of memory. */
json_t *perp_replay_pack(byte_row *out, const replay_column *column);

/* The 28-bit whole number that stands for a value, ascending with it; not finite ones become the largest. */
int32_t perp_replay_ordered(double value);

#endif
