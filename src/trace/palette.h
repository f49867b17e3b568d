/* palette.h - the colours of contact modes, wherever they are drawn: replays, plots, pictures in a log. The table is
 * that of viewer/src/palette.ts, which the build reads. */
#ifndef PERP_SRC_TRACE_PALETTE_H
#define PERP_SRC_TRACE_PALETTE_H

#include <perp/step.h>

typedef struct palette_colour {
    char text[8];  /* "#rrggbb" */
    double rgb[3]; /* 0 to 1 */
} palette_colour;

palette_colour perp_palette_mode(perp_contact_mode mode);
/* Colours of curves and of bodies, in turn. */
palette_colour perp_palette_series(int index);
palette_colour perp_palette_body(int index);
palette_colour perp_palette_fixed_body(void);
/* Of a share of the largest pressure, 0 to 1. */
palette_colour perp_palette_pressure(double share);

#endif
