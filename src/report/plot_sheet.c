/* Everything that there is to see of a run, on one page in two columns. */
#include "report/plot.h"

#include <stdio.h>

enum { HEADER = 44, GAP = 26, NARROW = 700 };

static plot_part *const parts[] = {perp_plot_scene, perp_plot_forces,   perp_plot_modes,  perp_plot_gaps,
                                   perp_plot_cone,  perp_plot_pressure, perp_plot_joints, perp_plot_residuals};

static void draw_header(plot *p, svg_box box)
{
    const replay_run *run = p->run;
    char name[400], words[400], fitted[400];
    const int last = run->frames[run->frame_count - 1].step;
    perp_svg_fit(run->head->scene, 16.0, 0.85 * box.width, name, sizeof name);
    perp_svg_text(&p->pen, box.x, box.y + 16.0, (svg_font){.size = 16.0, .bold = true}, name);
    snprintf(words, sizeof words, "model %s, %d steps of %g s%s%s", run->head->model, last, run->head->h,
             run->end->failed ? ", stopped: " : "", run->end->failed ? run->end->code : "");
    perp_svg_fit(words, PLOT_WORDS, box.width, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x, box.y + 33.0, (svg_font){.size = PLOT_WORDS, .fill = SVG_FAINT}, fitted);
}

double perp_plot_sheet(plot *p, svg_box box, bool draw)
{
    const int columns = box.width + 28.0 > NARROW ? 2 : 1;
    const double width = (box.width - (columns - 1) * GAP) / columns;
    double bottom[2] = {box.y + HEADER, box.y + HEADER};
    p->in_sheet = true;
    if (draw) {
        draw_header(p, box);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        svg_box at = {box.x, 0.0, width, 0.0};
        if (p->run->frame_count == 1 && (parts[i] == perp_plot_modes || parts[i] == perp_plot_residuals)) {
            continue; /* an instant has no course */
        }
        at.height = parts[i](p, at, false);
        if (at.height <= 0.0) {
            continue;
        }
        const int column = columns > 1 && bottom[1] < bottom[0] ? 1 : 0;
        at.x += column * (width + GAP);
        at.y = bottom[column];
        bottom[column] += at.height + GAP;
        if (draw) {
            parts[i](p, at, true);
        }
    }
    return fmax(bottom[0], bottom[1]) - GAP - box.y;
}
