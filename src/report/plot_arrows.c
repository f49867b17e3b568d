#include "report/plot_scene.h"

#include <stdio.h>

double perp_plot_force_scale(const plot *p, const plot_view *view)
{
    double most = 0.0, count = 0.0;
    for (int i = 0; i < p->step.info.contact_count; i++) {
        const double force = perp_vec3_norm(p->step.info.contacts[i].force_on_b);
        most = fmax(most, force);
        count += force > 0.0 ? 1.0 : 0.0;
    }
    const double share = 0.25 * fmax(0.3, fmin(1.0, 6.0 / sqrt(count + 1.0))); /* many would hide what they stand on */
    return most > 0.0 && isfinite(most) ? share * fmin(view->area.width, view->area.height) / most : 0.0;
}

/* A shaft and a head, on a white edge so that it is seen on any body. */
static void arrow(plot *p, double x, double y, double dx, double dy, const char *colour)
{
    const double length = hypot(dx, dy), head = fmin(9.0, 0.5 * length), wide = 0.42 * head;
    const double ux = dx / length, uy = dy / length, nx = x + dx - head * ux, ny = y + dy - head * uy;
    for (int pass = 0; pass < 2; pass++) {
        const char *paint = pass ? colour : "#ffffff";
        perp_svg_put(&p->pen,
                     "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", x,
                     y, nx, ny, paint, pass ? 2.2 : 4.2);
        perp_svg_put(
            &p->pen,
            "<polygon points=\"%.2f,%.2f %.2f,%.2f %.2f,%.2f\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%.1f\" "
            "stroke-linejoin=\"round\"/>\n",
            x + dx, y + dy, nx - wide * uy, ny + wide * ux, nx + wide * uy, ny - wide * ux, paint, paint,
            pass ? 0.4 : 2.4);
    }
}

void perp_plot_arrows(plot *p, const plot_view *view)
{
    const double scale = perp_plot_force_scale(p, view);
    for (int i = 0; i < p->step.info.contact_count; i++) {
        const perp_contact_record *record = &p->step.info.contacts[i];
        const perp_vec3 force = record->force_on_b;
        const double dx = scale * perp_vec3_dot(force, view->right), dy = -scale * perp_vec3_dot(force, view->up);
        const palette_colour colour = perp_palette_mode(record->mode);
        double x, y;
        perp_view_place(view, perp_contact_midpoint(&record->contact), &x, &y);
        if (hypot(dx, dy) > 3.0) {
            arrow(p, x, y, dx, dy, colour.text);
        }
        perp_svg_put(
            &p->pen,
            "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.4\" fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"0.8\"/>\n", x, y,
            colour.text);
    }
}

void perp_plot_scales(plot *p, const plot_view *view, double y)
{
    const svg_font small = {.size = PLOT_SMALL, .fill = SVG_FAINT};
    const double most = fmin(90.0, 0.15 * view->area.width), length = perp_plot_round_down(most / view->scale);
    const double newtons = perp_plot_force_scale(p, view);
    double x = view->area.x + 2.0, width = length * view->scale;
    char text[32], words[64];
    perp_svg_put(&p->pen,
                 "<path d=\"M%.2f %.2fv-7m0 3.5h%.2fm0 -3.5v7\" fill=\"none\" stroke=\"" SVG_INK
                 "\" stroke-width=\"1.2\"/>\n",
                 x, y, width);
    perp_plot_quantity(length, "m", text);
    perp_svg_text(&p->pen, x + width + 6.0, y, small, text);
    x += width + perp_svg_width(text, PLOT_SMALL, false) + 28.0;
    if (newtons > 0.0) {
        const double force = perp_plot_round_down(most / newtons);
        width = force * newtons;
        arrow(p, x, y - 3.5, width, 0.0, SVG_INK);
        perp_plot_quantity(force, "N", text);
        snprintf(words, sizeof words, "%s, force on the second body", text);
        if (x + width + 6.0 + perp_svg_width(words, PLOT_SMALL, false) >
            view->area.x + view->area.width - PLOT_CORNER) {
            snprintf(words, sizeof words, "%s", text);
        }
        perp_svg_text(&p->pen, x + width + 6.0, y, small, words);
    }
}
