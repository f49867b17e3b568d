/* The pressure on the patches of contacts at one step, on the rung `compliant`. In space squares from above, t to the
 * right and o up, in the colour of their pressure; in the plane bars along t. */
#include "report/plot.h"
#include "report/tolerances.h"

#include <stdio.h>
#include <string.h>

/* Pa; in the plane N/m. A number also where a file says anything of the force. */
static double pressure_of(const plot *p, double fn, double cell)
{
    return fmin(fn / (p->run->head->planar ? cell : cell * cell), 1e300);
}

static const char *unit_of(const plot *p)
{
    return p->run->head->planar ? "N/m" : "Pa";
}

/* The largest of all frames and of the step that is shown: steps have one scale. */
static double most_pressure(const plot *p)
{
    const replay_run *run = p->run;
    double most = 0.0;
    for (int i = 0; i < run->row_count; i++) {
        const replay_row *row = &run->rows[i];
        for (int e = 0; e < row->element_count; e++) {
            most = fmax(most, pressure_of(p, run->elements[row->element_start + e], run->contacts[row->contact].cell));
        }
    }
    for (int i = 0; i < p->step.info.contact_count; i++) {
        const perp_contact_record *r = &p->step.info.contacts[i];
        const perp_element_record *elements = p->step.info.elements + r->element_start;
        const double cell =
            r->element_count > 0 ? perp_replay_cell(elements, r->element_count, run->head->planar) : 0.0;
        for (int e = 0; e < r->element_count && cell > 0.0; e++) {
            most = fmax(most, pressure_of(p, elements[e].fn, cell));
        }
    }
    return most;
}

static const perp_contact_record *record_of(const plot *p, int contact)
{
    const replay_contact *c = &p->run->contacts[contact];
    for (int i = 0; i < p->step.info.contact_count; i++) {
        const perp_contact_record *r = &p->step.info.contacts[i];
        char feature[64];
        perp_contact_feature_text(&r->contact, feature, sizeof feature);
        if (r->contact.a == c->a && r->contact.b == c->b && strcmp(feature, c->feature) == 0) {
            return r->element_count > 0 ? r : NULL;
        }
    }
    return NULL;
}

static void draw_elements(plot *p, const perp_contact_record *r, const plot_axis *x, const plot_axis *y, double cell)
{
    const double most = most_pressure(p), half = 0.48 * cell;
    for (int e = 0; e < r->element_count; e++) {
        const perp_element_record *element = &p->step.info.elements[r->element_start + e];
        const double pressure = pressure_of(p, element->fn, cell);
        const double low = p->run->head->planar ? 0.0 : element->offset[1] - half;
        const double high = p->run->head->planar ? pressure : element->offset[1] + half;
        const palette_colour colour =
            pressure > 0.0 ? perp_palette_pressure(pressure / most) : perp_palette_mode(PERP_CONTACT_OPEN);
        const double left = perp_plot_place(x, element->offset[0] - half), top = perp_plot_place(y, high);
        perp_svg_put(&p->pen, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", left, top,
                     perp_plot_place(x, element->offset[0] + half) - left, fmax(0.5, perp_plot_place(y, low) - top),
                     colour.text);
    }
}

static void draw_cell(plot *p, int contact, svg_box box)
{
    const bool planar = p->run->head->planar;
    const replay_contact *c = &p->run->contacts[contact];
    const perp_contact_record *r = record_of(p, contact);
    const svg_box a = perp_plot_cell_area(box);
    double reach = 0.5 * c->cell;
    for (int e = 0; e < 2 * c->element_count; e++) {
        reach = fmax(reach, fabs(c->offsets[e]) + 0.5 * c->cell);
    }
    const plot_range across = {-1.08 * reach, 1.08 * reach}, up = {0.0, 1.08 * most_pressure(p)};
    plot_axis x = perp_plot_axis(across, "m", SPAN_OF_PATCH, a.x, a.x + a.width);
    plot_axis y = perp_plot_axis(planar ? up : across, planar ? "N/m" : "m", SPAN_OF_PATCH, a.y + a.height, a.y);
    perp_plot_ticks(&x, PLOT_SMALL, false);
    perp_plot_ticks(&y, PLOT_SMALL, true);
    perp_svg_rect(&p->pen, a, "fill=\"#ffffff\"");
    perp_plot_cell_axes(p, a, &x, &y, "along t", planar ? "pressure" : "along o");
    if (r) {
        draw_elements(p, r, &x, &y, c->cell);
    } else {
        perp_svg_text(&p->pen, a.x + 0.5 * a.width, a.y + 16.0,
                      (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT},
                      "not listed at this step");
    }
    perp_svg_rect(&p->pen, a, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
}

/* A ramp from none to the most, with numbers at its ends. */
static double draw_legend(plot *p, svg_box box, bool draw)
{
    enum { PIECES = 40, LENGTH = 120, HEIGHT = 18 };
    char text[32];
    if (!draw) {
        return HEIGHT;
    }
    const svg_font small = {.size = PLOT_SMALL, .fill = SVG_FAINT};
    perp_svg_text(&p->pen, box.x, box.y + 11.0, small, "0");
    for (int i = 0; i < PIECES; i++) {
        perp_svg_put(&p->pen, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"9\" fill=\"%s\"/>\n",
                     box.x + 12.0 + i * (double)LENGTH / PIECES, box.y + 3.0, (double)LENGTH / PIECES + 0.2,
                     perp_palette_pressure((i + 0.5) / PIECES).text);
    }
    perp_plot_quantity(most_pressure(p), unit_of(p), text);
    perp_svg_text(&p->pen, box.x + LENGTH + 18.0, box.y + 11.0, small, text);
    return HEIGHT;
}

double perp_plot_pressure(plot *p, svg_box box, bool draw)
{
    char title[80];
    snprintf(title, sizeof title, "Pressure at t = %g s (step %d)", p->step.t, p->step.step);
    const plot_cells cells = {.title = title,
                              .note = "grey elements carry nothing",
                              .which = PLOT_PATCHES,
                              .legend = draw_legend,
                              .cell = draw_cell};
    return perp_plot_cells(p, &cells, box, draw);
}
