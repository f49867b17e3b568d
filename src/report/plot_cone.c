/* The force of a contact inside its cone. In the plane: friction against normal force between the edges of the cone, in
 * newtons. In space: friction along t and o as a share of the most there is, inside the cone's cross-section. */
#include "report/plot.h"
#include "report/tolerances.h"
#include "scene/cone.h"

typedef struct cone_cell {
    svg_box area;
    plot_axis x, y;
    bool planar;
    double friction;
} cone_cell;

static void place(const cone_cell *cell, const replay_row *row, double *x, double *y)
{
    const double most = cell->friction * row->fn;
    *x = perp_plot_place(&cell->x, cell->planar ? row->ft[0] : row->ft[0] / most);
    *y = perp_plot_place(&cell->y, cell->planar ? row->fn : row->ft[1] / most);
}

static bool has_place(const replay_row *row)
{
    return row->mode < REPLAY_APART && row->mode != PERP_CONTACT_OPEN && row->fn > 0.0;
}

/* Stretches of one mode as lines in its colour, and a dot where the run ends. */
static void draw_path(plot *p, const cone_cell *cell, int contact)
{
    const replay_row *rows = &p->run->rows[p->first_row[contact]];
    const int count = p->run->contacts[contact].row_count;
    const replay_row *last = NULL;
    double x = 0.0, y = 0.0;
    for (int i = 0; i < count; i++) {
        if (!has_place(&rows[i])) {
            continue;
        }
        const bool follows = last == &rows[i] - 1 && rows[i].frame == last->frame + 1;
        double next_x, next_y;
        place(cell, &rows[i], &next_x, &next_y);
        const palette_colour colour = perp_palette_mode((perp_contact_mode)rows[i].mode);
        if (follows && hypot(next_x - x, next_y - y) > 0.05) {
            perp_svg_put(&p->pen,
                         "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1.8\" "
                         "stroke-linecap=\"round\"/>\n",
                         x, y, next_x, next_y, colour.text);
        } else if (!follows) {
            perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"1.8\" fill=\"%s\"/>\n", next_x, next_y,
                         colour.text);
        }
        x = next_x;
        y = next_y;
        last = &rows[i];
    }
    if (last) {
        perp_svg_put(&p->pen,
                     "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4\" fill=\"%s\" stroke=\"" SVG_INK
                     "\" stroke-width=\"1\"/>\n",
                     x, y, perp_palette_mode((perp_contact_mode)last->mode).text);
    }
}

#define EDGE "fill=\"#f4f6f8\" stroke=\"" SVG_FAINT "\" stroke-dasharray=\"4 3\""

/* The cross-section of the cone, of radius 1; a line where friction acts along one direction. */
static void draw_section(plot *p, const cone_cell *cell, const replay_contact *contact)
{
    const perp_cone cone = perp_replay_cone(p->run);
    const int rays = perp_replay_rays(p->run);
    const double x0 = perp_plot_place(&cell->x, 0.0), y0 = perp_plot_place(&cell->y, 0.0);
    const double r = perp_plot_place(&cell->x, 1.0) - x0;
    if (contact->restricted) {
        const double x = r * contact->along[0], y = r * contact->along[1];
        perp_svg_line(&p->pen, x0 - x, y0 + y, x0 + x, y0 - y, EDGE);
        return;
    }
    const int corners = perp_cone_corner_count(cone, rays);
    if (corners == 0) {
        perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" " EDGE "/>\n", x0, y0, r);
        return;
    }
    perp_svg_put(&p->pen, "<polygon points=\"");
    for (int i = 0; i < corners; i++) {
        double corner[2];
        perp_cone_corner(cone, rays, i, corner);
        perp_svg_put(&p->pen, "%.2f,%.2f ", x0 + r * corner[0], y0 - r * corner[1]);
    }
    perp_svg_put(&p->pen, "\" " EDGE "/>\n");
}

static void draw_wedge(plot *p, const cone_cell *cell)
{
    const double top = fmin(cell->y.high, cell->friction > 0.0 ? cell->x.high / cell->friction : cell->y.high);
    const double side = cell->friction * top, y = perp_plot_place(&cell->y, top);
    const double x = perp_plot_place(&cell->x, 0.0), bottom = perp_plot_place(&cell->y, 0.0);
    const double left = perp_plot_place(&cell->x, -side), right = perp_plot_place(&cell->x, side);
    perp_svg_put(&p->pen, "<polygon points=\"%.2f,%.2f %.2f,%.2f %.2f,%.2f\" fill=\"#f4f6f8\"/>\n", x, bottom, left, y,
                 right, y);
    perp_svg_put(&p->pen,
                 "<polyline points=\"%.2f,%.2f %.2f,%.2f %.2f,%.2f\" fill=\"none\" stroke=\"" SVG_FAINT
                 "\" stroke-dasharray=\"4 3\"/>\n",
                 left, y, x, bottom, right, y);
}

static void set_axes(const plot *p, cone_cell *cell, int contact, svg_box box)
{
    const replay_row *rows = &p->run->rows[p->first_row[contact]];
    plot_range normal = {0.0, 0.0}, side = {0.0, 0.0};
    for (int i = 0; i < p->run->contacts[contact].row_count; i++) {
        if (has_place(&rows[i])) {
            perp_plot_range_see(&normal, rows[i].fn);
            perp_plot_range_see(&side, 1.12 * fmax(fabs(rows[i].ft[0]), cell->friction * rows[i].fn));
        }
    }
    const svg_box a = cell->area = perp_plot_cell_area(box);
    const plot_range share = {-1.15, 1.15};
    const plot_range across = cell->planar ? (plot_range){-side.high, side.high} : share;
    const plot_range up = cell->planar ? (plot_range){0.0, 1.12 * normal.high} : share;
    const double least = p->largest > 0.0 ? SPAN_LEAST * p->largest : 1.0;
    cell->x = perp_plot_axis(across, cell->planar ? "N" : "", cell->planar ? least : 1.0, a.x, a.x + a.width);
    cell->y = perp_plot_axis(up, cell->planar ? "N" : "", cell->planar ? least : 1.0, a.y + a.height, a.y);
    perp_plot_ticks(&cell->x, PLOT_SMALL, false);
    perp_plot_ticks(&cell->y, PLOT_SMALL, true);
}

static void draw_cell(plot *p, int contact, svg_box box)
{
    cone_cell cell = {.planar = p->run->head->planar, .friction = p->run->contacts[contact].friction};
    set_axes(p, &cell, contact, box);
    perp_svg_rect(&p->pen, cell.area, "fill=\"#ffffff\"");
    if (cell.friction > 0.0 && !cell.planar) {
        draw_section(p, &cell, &p->run->contacts[contact]);
    } else if (cell.planar) {
        draw_wedge(p, &cell);
    }
    perp_plot_cell_axes(p, cell.area, &cell.x, &cell.y, cell.planar ? "friction force" : "along t (\xc2\xb5 fn)",
                        cell.planar ? "normal force" : "along o (\xc2\xb5 fn)");
    perp_svg_rect(&p->pen, cell.area, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
    if (cell.friction > 0.0 || cell.planar) {
        draw_path(p, &cell, contact);
    } else {
        perp_svg_text(&p->pen, cell.area.x + 0.5 * cell.area.width, cell.area.y + 16.0,
                      (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT}, "without friction");
    }
}

static double draw_legend(plot *p, svg_box box, bool draw)
{
    const plot_curve edge = {.name = "edge of the friction cone", .dash = "4 3", .colour = {.text = SVG_FAINT}};
    return perp_plot_legend(p, box, &edge, 1, (plot_modes){PERP_CONTACT_STICK, PLOT_FULL}, draw);
}

double perp_plot_cone(plot *p, svg_box box, bool draw)
{
    const plot_cells cells = {.title = "Forces in their friction cones",
                              .note = "a large dot is the last force",
                              .between = "not the extremes between",
                              .which = PLOT_PRESSED,
                              .legend = draw_legend,
                              .cell = draw_cell};
    return perp_plot_cells(p, &cells, box, draw);
}
