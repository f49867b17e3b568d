#include "trace/palette.h"

#include <math.h>
#include <stdio.h>

/* Six hexadecimal digits each, a blank between them: what src/CMakeLists.txt found in viewer/src/palette.ts. */
static const char modes[] = PERP_PALETTE_MODES;
static const char series[] = PERP_PALETTE_SERIES;
static const char bodies[] = PERP_PALETTE_BODIES;
static const char pressure[] = PERP_PALETTE_PRESSURE;
static const char fixed_body[] = PERP_PALETTE_FIXED_BODY;

static int digit(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static palette_colour colour_at(const char *table, size_t size, int index)
{
    const size_t count = size / 7; /* the terminating zero stands where a blank would */
    const char *at = table + 7 * ((size_t)index % count);
    palette_colour c;
    snprintf(c.text, sizeof c.text, "#%.6s", at);
    for (int k = 0; k < 3; k++) {
        c.rgb[k] = (16 * digit(at[2 * k]) + digit(at[2 * k + 1])) / 255.0;
    }
    return c;
}

palette_colour perp_palette_mode(perp_contact_mode mode)
{
    return colour_at(modes, sizeof modes, (int)mode);
}

palette_colour perp_palette_series(int index)
{
    return colour_at(series, sizeof series, index);
}

palette_colour perp_palette_body(int index)
{
    return colour_at(bodies, sizeof bodies, index);
}

palette_colour perp_palette_fixed_body(void)
{
    return colour_at(fixed_body, sizeof fixed_body, 0);
}

palette_colour perp_palette_pressure(double share)
{
    enum { LAST = (int)(sizeof pressure / 7) - 1 };
    const double at = LAST * fmin(1.0, fmax(0.0, share));
    const int from = (int)fmin(floor(at), LAST - 1);
    const palette_colour low = colour_at(pressure, sizeof pressure, from),
                         high = colour_at(pressure, sizeof pressure, from + 1);
    palette_colour c;
    int parts[3];
    for (int k = 0; k < 3; k++) {
        c.rgb[k] = low.rgb[k] + (at - from) * (high.rgb[k] - low.rgb[k]);
        parts[k] = (int)lround(255.0 * c.rgb[k]) & 255;
    }
    snprintf(c.text, sizeof c.text, "#%02x%02x%02x", (unsigned)parts[0], (unsigned)parts[1], (unsigned)parts[2]);
    return c;
}
