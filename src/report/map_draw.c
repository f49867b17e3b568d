#include "report/map_draw.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 640, LEFT = 14, RIGHT = 14, TOP = 14, LABELS = 46, APART = 16 };

static double px_x(const map_picture *p, double x)
{
    return perp_plot_place(&p->x, x);
}

static double px_y(const map_picture *p, double y)
{
    return perp_plot_place(&p->y, y);
}

/* "M x y L x y .." of a line's vertices. */
static void put_path(map_picture *p, const map_layer *l, const map_lines *lines, const map_line *line)
{
    for (int k = 0; k < line->count; k++) {
        const double *at = l->faces.vertices[lines->vertices[line->first + k]];
        perp_svg_put(&p->pen, "%s%.3f %.3f", k == 0 ? "M" : "L", px_x(p, at[0]), px_y(p, at[1]));
    }
    perp_svg_put(&p->pen, "%s", line->closed ? "Z" : "");
}

static void draw_regions(map_picture *p, const map_layer *l)
{
    for (int kind = 0; kind < perp_map_kind_count(p->map, l); kind++) {
        char fill[80];
        bool any = false;
        for (int k = 0; k < l->outlines.line_count; k++) {
            if (l->outlines.lines[k].kind == kind) {
                perp_svg_put(&p->pen, any ? "" : "<path fill-rule=\"evenodd\" d=\"");
                put_path(p, l, &l->outlines, &l->outlines.lines[k]);
                any = true;
            }
        }
        perp_map_fill(p->map, l, kind, fill);
        if (any) {
            perp_svg_put(&p->pen, "\" %s/>\n", fill);
        }
    }
}

static void draw_lines(map_picture *p, int index)
{
    const map_layer *l = &p->map->layers[index];
    const char *width = l->numbers && index == 0 ? "0.7" : "1.4";
    for (int k = 0; k < l->lines.line_count; k++) {
        perp_svg_put(&p->pen, "<path d=\"");
        put_path(p, l, &l->lines, &l->lines.lines[k]);
        perp_svg_put(&p->pen,
                     "\" fill=\"none\" stroke=\"" SVG_INK "\" stroke-width=\"%s\" stroke-linejoin=\"round\" %s/>\n",
                     width, perp_map_dash(index));
    }
}

/* ---- labels of levels -------------------------------------------------------------------------------------------- */

/* The vertex half-way along a line, and its length, px. */
static double middle_of(const map_picture *p, const map_layer *l, const map_line *line, double at[2])
{
    double length = 0.0, gone = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 1; k < line->count; k++) {
            const double *a = l->faces.vertices[l->lines.vertices[line->first + k - 1]];
            const double *b = l->faces.vertices[l->lines.vertices[line->first + k]];
            const double step = hypot(px_x(p, b[0]) - px_x(p, a[0]), px_y(p, b[1]) - px_y(p, a[1]));
            if (pass == 0) {
                length += step;
            } else if (gone <= 0.5 * length) {
                gone += step;
                at[0] = px_x(p, b[0]);
                at[1] = px_y(p, b[1]);
            }
        }
    }
    return length;
}

/* The longest line of each level has its number, where it has room and is clear of others. */
static void label_levels(map_picture *p, const map_layer *l)
{
    double placed[MAP_MOST_LEVELS][2];
    int count = 0;
    for (int level = 0; level < l->level_count; level++) {
        double best = 0.0, at[2] = {0.0, 0.0};
        for (int k = 0; k < l->lines.line_count; k++) {
            const map_line *line = &l->lines.lines[k];
            double middle[2] = {0.0, 0.0};
            if (line->kind == level + 1 && line->other == level + 2) {
                const double length = middle_of(p, l, line, middle);
                if (length > best) {
                    best = length;
                    at[0] = middle[0];
                    at[1] = middle[1];
                }
            }
        }
        char text[32];
        snprintf(text, sizeof text, "%.6g", l->levels[level]);
        const double width = perp_svg_width(text, MAP_SMALL, false);
        bool clear = best > 2.0 * width && at[0] - 0.5 * width > p->area.x &&
                     at[0] + 0.5 * width < p->area.x + p->area.width && at[1] - 8.0 > p->area.y &&
                     at[1] + 8.0 < p->area.y + p->area.height;
        for (int k = 0; k < count; k++) {
            clear = clear && (fabs(placed[k][0] - at[0]) > width + 8.0 || fabs(placed[k][1] - at[1]) > 1.3 * MAP_SMALL);
        }
        if (clear) {
            placed[count][0] = at[0];
            placed[count++][1] = at[1];
            perp_svg_put(
                &p->pen,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"12\" fill=\"#ffffff\" fill-opacity=\"0.75\"/>\n",
                at[0] - 0.5 * width - 1.5, at[1] - 6.0, width + 3.0);
            perp_svg_text(&p->pen, at[0], at[1] + 3.5, (svg_font){.size = MAP_SMALL, .anchor = SVG_MIDDLE}, text);
        }
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void draw_axes(map_picture *p)
{
    const svg_box a = p->area;
    const svg_font small = {.size = MAP_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT};
    char text[256];
    for (int i = 0; i < p->x.tick_count; i++) {
        const double x = px_x(p, p->x.ticks[i]);
        perp_plot_label(&p->x, p->x.ticks[i], text);
        perp_svg_line(&p->pen, x, a.y + a.height, x, a.y + a.height + 4.0, "stroke=\"" SVG_FRAME "\"");
        perp_svg_text(&p->pen, x, a.y + a.height + 16.0, small, text);
    }
    for (int i = 0; i < p->y.tick_count; i++) {
        const double y = px_y(p, p->y.ticks[i]);
        perp_plot_label(&p->y, p->y.ticks[i], text);
        perp_svg_line(&p->pen, a.x - 4.0, y, a.x, y, "stroke=\"" SVG_FRAME "\"");
        perp_svg_text(&p->pen, a.x - 7.0, y + 3.5, (svg_font){.size = MAP_SMALL, .anchor = SVG_END, .fill = SVG_FAINT},
                      text);
    }
    perp_svg_rect(&p->pen, a, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
    perp_svg_fit(perp_map_label(p->map, p->map->x), MAP_TEXT, a.width, text, sizeof text);
    perp_svg_text(&p->pen, a.x + 0.5 * a.width, a.y + a.height + 34.0,
                  (svg_font){.size = MAP_TEXT, .anchor = SVG_MIDDLE}, text);
    perp_svg_fit(perp_map_label(p->map, p->map->y), MAP_TEXT, a.height, text, sizeof text);
    perp_svg_text(&p->pen, a.x - 13.0 - perp_plot_label_width(&p->y, MAP_SMALL), a.y + 0.5 * a.height,
                  (svg_font){.size = MAP_TEXT, .anchor = SVG_MIDDLE, .upwards = true}, text);
}

/* The map is square unless the options give a height; the picture is as high as its legend at least. */
static double lay_out(map_picture *p, double width, double legend)
{
    const perp_map *m = p->map;
    const plot_range x = {m->xs[0], m->xs[m->nx - 1]}, y = {m->ys[0], m->ys[m->ny - 1]};
    p->y = perp_plot_axis(y, "", 0.0, 0.0, -300.0);
    perp_plot_ticks(&p->y, MAP_SMALL, true);
    const double left = LEFT + 26.0 + perp_plot_label_width(&p->y, MAP_SMALL);
    p->area = (svg_box){left, TOP, width - left - legend - APART - RIGHT, 0.0};
    p->area.height = m->options.height > 0 ? m->options.height - TOP - LABELS : p->area.width;
    p->x = perp_plot_axis(x, "", 0.0, left, left + p->area.width);
    p->y = perp_plot_axis(y, "", 0.0, TOP + p->area.height, TOP);
    perp_plot_ticks(&p->x, MAP_SMALL, false);
    perp_plot_ticks(&p->y, MAP_SMALL, true);
    return TOP + fmax(p->area.height + LABELS, perp_map_legend_height(m));
}

static void draw(map_picture *p)
{
    const perp_map *m = p->map;
    const double width = m->options.width > 0 ? m->options.width : WIDTH;
    const double legend = perp_map_legend_width(m, 0.4 * width), height = lay_out(p, width, legend);
    char title[400];
    snprintf(title, sizeof title, "%.100s over %.100s and %.100s", perp_map_label(m, m->layers[0].output),
             perp_map_label(m, m->x), perp_map_label(m, m->y));
    perp_svg_open(&p->pen, width, height, title);
    perp_svg_put(&p->pen, "<defs><pattern id=\"missing\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                          "<path d=\"M0 6L6 0\" stroke=\"" SVG_FRAME "\" stroke-width=\"0.8\"/></pattern></defs>\n");
    draw_regions(p, &m->layers[0]);
    for (int k = m->layer_count - 1; k >= 0; k--) {
        draw_lines(p, k);
    }
    label_levels(p, &m->layers[0]);
    draw_axes(p);
    perp_map_draw_legend(p, (svg_box){p->area.x + p->area.width + APART, TOP, legend, p->area.height});
    perp_svg_close(&p->pen);
}

void perp_map_draw(const perp_map *m, byte_row *out)
{
    map_picture picture = {.pen = {out}, .map = m};
    draw(&picture);
}
