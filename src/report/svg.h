/* svg.h - a picture as text: SVG 1.1 with presentation attributes only, so that every viewer shows the same.
 *
 * Coordinates are pixels, y down. Words of the user get into the text only through perp_svg_text and perp_svg_title,
 * which escape them; attributes are this program's own. Widths of words are those of DejaVu Sans, the widest of the
 * fonts that are asked for: what fits by them fits. */
#ifndef PERP_SRC_REPORT_SVG_H
#define PERP_SRC_REPORT_SVG_H

#include "report/replay_pack.h"

typedef struct svg {
    byte_row *out;
} svg;

typedef struct svg_box {
    double x, y, width, height;
} svg_box;

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

typedef struct svg_font {
    double size; /* px */
    svg_anchor anchor;
    const char *fill;
    bool bold;
    bool upwards; /* turned by a quarter, read from below */
} svg_font;

/* The colours of everything that is not data. */
#define SVG_INK "#1d2733"
#define SVG_FAINT "#5c6875"
#define SVG_GRID "#e3e7eb"
#define SVG_FRAME "#8a95a0"

void perp_svg_open(svg *s, double width, double height, const char *title);
void perp_svg_close(svg *s);
/* Anything of the program's own: attributes and elements. Numbers by %.2f. */
void perp_svg_put(svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

void perp_svg_line(svg *s, double x1, double y1, double x2, double y2, const char *attributes);
void perp_svg_rect(svg *s, svg_box box, const char *attributes);
/* One text at its base line. */
void perp_svg_text(svg *s, double x, double y, svg_font font, const char *text);
/* 10 to a power, as a label. */
void perp_svg_power(svg *s, double x, double y, svg_font font, int exponent);

/* Px that a text takes. */
double perp_svg_width(const char *text, double size, bool bold);
/* The text, cut in its middle by an ellipsis where it is wider than `room`. */
void perp_svg_fit(const char *text, double size, double room, char *fitted, size_t capacity);

#endif
