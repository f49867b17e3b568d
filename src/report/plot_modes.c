/* The ribbon: one row per contact along time, in the colour of its mode. */
#include "report/plot.h"
#include "report/tolerances.h"

#include <limits.h>

enum { LINE = 16, LINE_TIGHT = 13, MANY = 20 };

double perp_plot_modes(plot *p, svg_box box, bool draw)
{
    const svg_box words = {box.x, box.y + PLOT_HEAD, box.width, 0.0};
    const double legend_height =
        perp_plot_legend(p, words, NULL, 0, (plot_modes){PERP_CONTACT_OPEN, PLOT_RIBBON}, false);
    const double room = box.height - PLOT_HEAD - legend_height - PLOT_TIME_AXIS - 4.0 - perp_plot_notes_height(p, "");
    plot_count wanted = {p->in_sheet ? 16 : 40, draw ? (int)fmax(1.0, room / LINE_TIGHT) : INT_MAX};
    plot_choice choice = perp_plot_choose_contacts(p, wanted, PLOT_ALL);
    if (draw && choice.note[0]) { /* which needs room too */
        wanted.room = (int)fmax(1.0, (room - PLOT_NOTE) / LINE_TIGHT);
        choice = perp_plot_choose_contacts(p, wanted, PLOT_ALL);
    }
    if (choice.count == 0) {
        return 0.0;
    }
    const double around = PLOT_HEAD + legend_height + PLOT_TIME_AXIS + 4.0 + perp_plot_notes_height(p, choice.note);
    if (!draw) {
        return around + choice.count * (choice.count > MANY ? LINE_TIGHT : LINE);
    }
    const double height = fmax(3.0, (box.height - around) / choice.count),
                 top = box.y + PLOT_HEAD + legend_height + 2.0;
    double widest = 0.0;
    for (int i = 0; i < choice.count; i++) {
        char name[400];
        perp_plot_contact_name(p, choice.items[i], name, sizeof name);
        widest = fmax(widest, perp_svg_width(name, PLOT_SMALL, false));
    }
    const double names = fmin(widest, 0.45 * box.width) + 8.0;
    plot_axis time =
        perp_plot_axis(perp_plot_time_range(p), "s", SPAN_OF_TIME, box.x + names, box.x + box.width - 10.0);
    perp_plot_ticks(&time, PLOT_SMALL, false);
    perp_plot_heading(p, box, "Contact modes");
    perp_plot_legend(p, words, NULL, 0, (plot_modes){PERP_CONTACT_OPEN, PLOT_RIBBON}, true);
    for (int i = 0; i < choice.count; i++) {
        const svg_box band = {time.from, top + i * height + 1.0, time.to - time.from, height - 2.0};
        perp_svg_rect(&p->pen, band, "fill=\"" PLOT_APART "\"");
        perp_plot_bands(p, &time, choice.items[i], band, true);
        char name[400], fitted[400];
        perp_plot_contact_name(p, choice.items[i], name, sizeof name);
        perp_svg_fit(name, PLOT_SMALL, names - 8.0, fitted, sizeof fitted);
        perp_svg_text(&p->pen, time.from - 6.0, band.y + 0.5 * band.height + 3.5,
                      (svg_font){.size = PLOT_SMALL, .anchor = SVG_END, .fill = SVG_FAINT}, fitted);
    }
    const double bottom = top + choice.count * height + 1.0;
    perp_svg_line(&p->pen, time.from, bottom, time.to, bottom, "stroke=\"" SVG_FRAME "\"");
    perp_plot_time_axis(p, &time, bottom);
    perp_plot_notes(p, box, bottom + PLOT_TIME_AXIS + 10.0, choice.note, "with the gravest mode between");
    return box.height;
}
