#include "report/replay_pack.h"

#include "trace/json_maker.h"

#include <float.h>
#include <string.h>

enum { DROPPED_BITS = 4 }; /* of a float's 24: 20 are kept, about six figures */

int32_t perp_replay_ordered(double value)
{
    const float bounded =
        (float)fmax(-FLT_MAX, fmin(FLT_MAX, value)); /* fmin and fmax make a bound of what is no number */
    const float size = fabsf(bounded);
    uint32_t bits;
    memcpy(&bits, &size, sizeof bits);
    uint32_t rounded = (bits + (1u << (DROPPED_BITS - 1))) >> DROPPED_BITS;
    const uint32_t most = 0x7f7fffffu >> DROPPED_BITS;
    rounded = rounded > most ? most : rounded;
    return bounded < 0.0f ? -(int32_t)rounded : (int32_t)rounded;
}

static int32_t fixed(double value, double quantum)
{
    const double multiple = nearbyint(value / quantum);
    return (int32_t)fmax(-1073741823.0, fmin(1073741823.0, multiple));
}

json_t *perp_replay_pack(byte_row *out, const replay_column *column)
{
    static const char *const codings[] = {"float", "fixed", "byte"};
    const size_t n = column->length, each = column->series > 0 ? n / (size_t)column->series : n;
    unsigned char *bytes = perp_bytes_room(out, column->coding == REPLAY_BYTE ? n : 4 * n);
    int32_t previous = 0;
    for (size_t i = 0; bytes && i < n; i++) {
        if (column->coding == REPLAY_BYTE) {
            bytes[i] = (unsigned char)column->values[i];
            continue;
        }
        const int32_t now = column->coding == REPLAY_FLOAT ? perp_replay_ordered(column->values[i])
                                                           : fixed(column->values[i], column->quantum);
        const int32_t change = now - (i % each == 0 ? 0 : previous); /* both are below 2^30 */
        const uint32_t folded = ((uint32_t)change << 1) ^ (change < 0 ? UINT32_MAX : 0);
        for (size_t k = 0; k < 4; k++) {
            bytes[k * n + i] = (unsigned char)(folded >> (8 * k));
        }
        previous = now;
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "name", json_string(column->name));
    perp_json_put(&m, "coding", json_string(codings[column->coding]));
    perp_json_put(&m, "quantum", perp_json_real(column->quantum));
    perp_json_put(&m, "series", json_integer(column->series));
    perp_json_put(&m, "length", json_integer((json_int_t)n));
    m.good = m.good && !out->failed;
    return perp_json_finished(&m);
}
