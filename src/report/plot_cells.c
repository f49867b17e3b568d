/* Small square plots of contacts, side by side and below each other. */
#include "report/plot.h"

#include <limits.h>
#include <stdio.h>

enum { CELL = 214, CELL_HEIGHT = 206, CELL_TITLE = 20, CELL_LEAST = 160, CELL_BOTTOM = 34, CELL_GAP = 12 };

svg_box perp_plot_cell_area(svg_box box)
{
    const double left = 56.0, size = fmin(box.width - left - 6.0, box.height - CELL_TITLE - CELL_BOTTOM);
    return (svg_box){box.x + left, box.y + CELL_TITLE, fmax(size, 20.0), fmax(size, 20.0)};
}

/* What an axis shows, with its unit if it has one. */
static void axis_words(const plot_axis *axis, const char *words, char text[64])
{
    snprintf(text, 64, axis->unit[0] ? "%s (%s)" : "%s", words, axis->unit);
}

void perp_plot_cell_axes(plot *p, svg_box a, const plot_axis *x_axis, const plot_axis *y_axis, const char *x_words,
                         const char *y_words)
{
    const svg_font small = {.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT};
    char text[64], fitted[64];
    for (int i = 0; i < x_axis->tick_count; i++) {
        const double x = perp_plot_place(x_axis, x_axis->ticks[i]);
        perp_plot_label(x_axis, x_axis->ticks[i], text);
        perp_svg_line(&p->pen, x, a.y, x, a.y + a.height, "stroke=\"" SVG_GRID "\"");
        perp_svg_text(&p->pen, x, a.y + a.height + 15.0, small, text);
    }
    for (int i = 0; i < y_axis->tick_count; i++) {
        const double y = perp_plot_place(y_axis, y_axis->ticks[i]);
        perp_plot_label(y_axis, y_axis->ticks[i], text);
        perp_svg_line(&p->pen, a.x, y, a.x + a.width, y, "stroke=\"" SVG_GRID "\"");
        perp_svg_text(&p->pen, a.x - 5.0, y + 3.5, (svg_font){.size = PLOT_SMALL, .anchor = SVG_END, .fill = SVG_FAINT},
                      text);
    }
    axis_words(x_axis, x_words, text);
    perp_svg_text(&p->pen, a.x + 0.5 * a.width, a.y + a.height + 28.0,
                  (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE}, text);
    axis_words(y_axis, y_words, text);
    perp_svg_fit(text, PLOT_SMALL, a.height + 8.0, fitted, sizeof fitted);
    perp_svg_text(&p->pen, a.x - 9.0 - perp_plot_label_width(y_axis, PLOT_SMALL), a.y + 0.5 * a.height,
                  (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .upwards = true}, fitted);
}

static void draw_cell(plot *p, const plot_cells *cells, int contact, svg_box box)
{
    char name[400], fitted[400];
    cells->cell(p, contact, box);
    perp_plot_contact_name(p, contact, name, sizeof name);
    perp_svg_fit(name, PLOT_SMALL, box.width, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x, box.y + 11.0, (svg_font){.size = PLOT_SMALL}, fitted);
}

/* Below the cells: what is left out, and what there is to say beside that as far as it fits. */
static void draw_notes(plot *p, const plot_cells *cells, const char *left_out, svg_box box)
{
    char note[240];
    snprintf(note, sizeof note, "%s%s%s", left_out, left_out[0] ? "; " : "", cells->note);
    if (perp_svg_width(note, PLOT_SMALL, false) > box.width && left_out[0]) { /* what is left out must be read */
        snprintf(note, sizeof note, "%s", left_out);
    }
    const double below = cells->between ? perp_plot_notes_height(p, "") : 0.0;
    const double y = box.y + box.height - 4.0 - below;
    if (cells->between) {
        perp_plot_notes(p, box, y, note, cells->between);
    } else {
        char fitted[256];
        perp_svg_fit(note, PLOT_SMALL, box.width, fitted, sizeof fitted);
        perp_svg_text(&p->pen, box.x, y, (svg_font){.size = PLOT_SMALL, .fill = SVG_FAINT}, fitted);
    }
}

double perp_plot_cells(plot *p, const plot_cells *cells, svg_box box, bool draw)
{
    const svg_box words = {box.x, box.y + PLOT_HEAD, box.width, 0.0};
    const double top = PLOT_HEAD + cells->legend(p, words, false) + 2.0;
    const double around = top + PLOT_NOTE + (cells->between ? perp_plot_notes_height(p, "") : 0.0);
    const int fit = (int)fmax(1.0, floor((box.width + CELL_GAP) / (CELL + CELL_GAP)));
    const int room = fit * (int)fmax(1.0, floor((box.height - around) / (CELL_LEAST + CELL_GAP)));
    const plot_count wanted = {p->in_sheet ? 4 : 6, draw ? room : INT_MAX};
    const plot_choice choice = perp_plot_choose_contacts(p, wanted, cells->which);
    if (choice.count == 0) {
        return 0.0;
    }
    const int columns = fit < choice.count ? fit : choice.count, lines = (choice.count + columns - 1) / columns;
    if (!draw) {
        return around + lines * (CELL_HEIGHT + CELL_GAP);
    }
    const double height = (box.height - around) / lines - CELL_GAP;
    const double width = fmin(box.width / columns - CELL_GAP, fmax(CELL, height));
    perp_plot_heading(p, box, cells->title);
    cells->legend(p, words, true);
    for (int i = 0; i < choice.count; i++) {
        const int column = i % columns, line = i / columns;
        draw_cell(
            p, cells, choice.items[i],
            (svg_box){box.x + column * (width + CELL_GAP), box.y + top + line * (height + CELL_GAP), width, height});
    }
    draw_notes(p, cells, choice.note, box);
    return box.height;
}
