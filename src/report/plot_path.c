/* Where bodies go, seen along one axis of the world: the paths of their origins, of one run or of several, and with
 * PERP_PLOT_BODIES their shapes at a few moments. Both axes have the same scale. */
#include "report/plot_scene.h"
#include "report/tolerances.h"

#include <stdio.h>
#include <string.h>

enum { USUAL = 4, LEFT = 56, BOTTOM = 34, MOST_SHOWN = 12 };
static const double ROOM = 1.1;                        /* over what is drawn */
static const double LEAST_HIGH = 0.3, MOST_HIGH = 1.0; /* of the picture, over its width */

typedef struct path_picture {
    plot_view view;
    plot_axis x, y;
    plot_range reach[2]; /* m, along the view's right and up */
    plot_choice bodies;  /* of the first run */
    int legend_count;
    plot_curve legend[MOST_SHOWN + PERP_PLOT_MOST_LOGS];
    char names[PERP_PLOT_MOST_LOGS][80];
} path_picture;

static const char *const axis_names[] = {"x", "y", "z"};

/* Which axes of the world are along right and up. */
static void axes_of(const plot *p, int axes[2])
{
    axes[0] = p->options->plane == PERP_PLANE_YZ ? 1 : 0;
    axes[1] = p->options->plane == PERP_PLANE_XY ? 1 : 2;
}

/* From above, from the front (against y), from the right (against x). */
static plot_view view_of(const plot *p)
{
    const perp_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int axes[2];
    axes_of(p, axes);
    return (plot_view){.right = unit[axes[0]],
                       .up = unit[axes[1]],
                       .toward = perp_vec3_cross(unit[axes[0]], unit[axes[1]]),
                       .scale = 1.0};
}

static int run_count(const plot *p)
{
    return 1 + p->options->other_count;
}

static const replay_run *run_at(const plot *p, int index)
{
    return index == 0 ? p->run : &p->others[index - 1];
}

/* The body of the first run in another; -1: it has none of that name. */
static int body_in(const plot *p, int run, int body)
{
    const perp_log_head *head = run_at(p, run)->head;
    for (int b = 0; b < head->body_count; b++) {
        if (strcmp(head->bodies[b], p->run->head->bodies[body]) == 0) {
            return b;
        }
    }
    return -1;
}

static const double *poses_at(const replay_run *run, int frame)
{
    return run->poses + (size_t)frame * (size_t)run->head->body_count * (size_t)run->head->pose_size;
}

static perp_vec3 origin_at(const replay_run *run, int body, int frame)
{
    const double *at = poses_at(run, frame) + (size_t)body * (size_t)run->head->pose_size;
    return perp_vec3_make(at[0], at[1], run->head->planar ? 0.0 : at[2]);
}

double perp_plot_travel(const plot *p, int body)
{
    double most = 0.0;
    const perp_vec3 start = origin_at(p->run, body, 0);
    for (int f = 1; f < p->run->frame_count; f++) {
        most = fmax(most, perp_vec3_norm(perp_vec3_sub(origin_at(p->run, body, f), start)));
    }
    return most;
}

/* Calls `shown` with p as if its run were one of several at a frame of it, as the scene's functions want it. */
typedef void show_moment(plot *p, path_picture *picture);
static void at_moment(plot *p, path_picture *picture, int run, int frame, show_moment *shown)
{
    const replay_run *own = p->run;
    const double *poses = p->step.poses;
    p->run = run_at(p, run);
    p->step.poses = poses_at(p->run, frame);
    shown(p, picture);
    p->run = own;
    p->step.poses = poses;
}

static void each_moment(plot *p, path_picture *picture, show_moment *shown)
{
    enum { MOMENTS = 6 };
    for (int r = 0; r < run_count(p); r++) {
        const int frames = run_at(p, r)->frame_count, count = frames < MOMENTS ? frames : MOMENTS;
        for (int k = 0; k < count; k++) {
            at_moment(p, picture, r, count > 1 ? (int)((long long)k * (frames - 1) / (count - 1)) : 0, shown);
        }
    }
}

/* ---- what is in sight -------------------------------------------------------------------------------------------- */

static void see_bodies(plot *p, path_picture *picture)
{
    perp_scene_reach(p, &picture->view, picture->reach);
}

static void look(plot *p, path_picture *picture)
{
    picture->view = view_of(p);
    picture->reach[0] = picture->reach[1] = perp_plot_range_empty();
    for (int r = 0; r < run_count(p); r++) {
        for (int i = 0; i < picture->bodies.count; i++) {
            const int body = body_in(p, r, picture->bodies.items[i]);
            for (int f = 0; body >= 0 && f < run_at(p, r)->frame_count; f++) {
                const perp_vec3 at = origin_at(run_at(p, r), body, f);
                perp_plot_range_see(&picture->reach[0], perp_vec3_dot(at, picture->view.right));
                perp_plot_range_see(&picture->reach[1], perp_vec3_dot(at, picture->view.up));
            }
        }
    }
    if (p->options->kind == PERP_PLOT_BODIES) {
        each_moment(p, picture, see_bodies);
    }
}

/* m: how long the reach is, with room around it. */
static double span_of(plot_range reach)
{
    const double middle = 0.5 * (reach.low + reach.high);
    return ROOM * fmax(reach.high - reach.low, fmax(SPAN_OF_LENGTH, SPAN_LEAST * fabs(middle)));
}

/* The same px per metre along both axes: the shorter reach gets more room. */
static void set_axes(path_picture *picture, svg_box area)
{
    plot_view *view = &picture->view;
    const plot_range *reach = picture->reach;
    const double metres = fmax(span_of(reach[0]) / area.width, span_of(reach[1]) / area.height); /* per px */
    const double middle[2] = {0.5 * (reach[0].low + reach[0].high), 0.5 * (reach[1].low + reach[1].high)};
    const double half[2] = {0.5 * metres * area.width, 0.5 * metres * area.height};
    view->area = area;
    view->scale = 1.0 / metres;
    view->x = area.x + 0.5 * area.width - middle[0] / metres;
    view->y = area.y + 0.5 * area.height + middle[1] / metres;
    picture->x =
        perp_plot_axis((plot_range){middle[0] - half[0], middle[0] + half[0]}, "m", 0.0, area.x, area.x + area.width);
    picture->y =
        perp_plot_axis((plot_range){middle[1] - half[1], middle[1] + half[1]}, "m", 0.0, area.y + area.height, area.y);
    perp_plot_ticks(&picture->x, PLOT_SMALL, false);
    perp_plot_ticks(&picture->y, PLOT_SMALL, true);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Of one run bodies differ in colour; of several the runs do, and bodies in how they are dashed. */
static plot_curve look_of(const plot *p, int run, int item)
{
    static const char *const dashes[] = {NULL, "7 3", "2 2", "8 2 2 2"};
    const int colours = 4, several = run_count(p) > 1;
    return (plot_curve){.colour = perp_palette_series(several ? run : item % colours),
                        .dash = dashes[(several ? item : item / colours) % 4]};
}

static void make_legend(const plot *p, path_picture *picture)
{
    const bool several = run_count(p) > 1;
    picture->legend_count = 0;
    for (int r = 0; several && r < run_count(p); r++) {
        snprintf(picture->names[r], sizeof picture->names[r], "log %d: %s", r + 1, run_at(p, r)->head->model);
        plot_curve *entry = &picture->legend[picture->legend_count++];
        *entry = (plot_curve){.name = picture->names[r], .colour = perp_palette_series(r)};
    }
    for (int i = 0; i < picture->bodies.count; i++) {
        plot_curve *entry = &picture->legend[picture->legend_count++];
        *entry = look_of(p, 0, i);
        entry->name = p->run->head->bodies[picture->bodies.items[i]];
        if (several) {
            entry->colour = (palette_colour){.text = SVG_INK};
        }
    }
}

static void draw_path(plot *p, const path_picture *picture, int run, int item)
{
    const replay_run *of = run_at(p, run);
    const int body = body_in(p, run, picture->bodies.items[item]);
    const plot_curve curve = look_of(p, run, item);
    double x = 0.0, y = 0.0;
    if (body < 0) {
        return;
    }
    perp_svg_put(&p->pen, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-linejoin=\"round\" ",
                 curve.colour.text);
    perp_svg_put(&p->pen, curve.dash ? "stroke-dasharray=\"%s\" points=\"" : "%spoints=\"",
                 curve.dash ? curve.dash : "");
    for (int f = 0; f < of->frame_count; f++) {
        perp_view_place(&picture->view, origin_at(of, body, f), &x, &y);
        perp_svg_put(&p->pen, "%.2f,%.2f ", x, y);
    }
    perp_svg_put(&p->pen, "\"/>\n<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, curve.colour.text);
    perp_view_place(&picture->view, origin_at(of, body, 0), &x, &y);
    perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\" fill=\"#ffffff\" stroke=\"%s\"/>\n", x, y,
                 curve.colour.text);
}

static void draw_bodies(plot *p, path_picture *picture)
{
    perp_svg_put(&p->pen, "<g opacity=\"0.4\">\n");
    perp_scene_draw(p, &picture->view);
    perp_svg_put(&p->pen, "</g>\n");
}

double perp_plot_path(plot *p, svg_box box, bool draw)
{
    path_picture picture = {.bodies = perp_plot_choose_bodies(p, (plot_count){USUAL, MOST_SHOWN})};
    int axes[2];
    if (picture.bodies.count == 0 || p->out_of_memory) {
        return 0.0;
    }
    axes_of(p, axes);
    make_legend(p, &picture);
    look(p, &picture);
    const svg_box words = {box.x, box.y + PLOT_HEAD, box.width, 0.0};
    const double legend =
        perp_plot_legend(p, words, picture.legend, picture.legend_count, (plot_modes){PLOT_NO_MODES, PLOT_FULL}, draw);
    const double top = PLOT_HEAD + legend + 4.0, below = BOTTOM + PLOT_NOTE + perp_plot_notes_height(p, "x") + 6.0;
    const double width = box.width - LEFT - 10.0;
    if (!draw) {
        const double wanted = span_of(picture.reach[1]) / span_of(picture.reach[0]);
        return top + below + width * fmax(LEAST_HIGH, fmin(MOST_HIGH, wanted));
    }
    const svg_box area = {box.x + LEFT, box.y + top, width, fmax(40.0, box.height - top - below)};
    set_axes(&picture, area);
    perp_plot_heading(p, box, p->options->kind == PERP_PLOT_BODIES ? "Bodies and their paths" : "Paths of bodies");
    perp_svg_rect(&p->pen, area, "fill=\"#ffffff\"");
    perp_plot_cell_axes(p, area, &picture.x, &picture.y, axis_names[axes[0]], axis_names[axes[1]]);
    if (p->options->kind == PERP_PLOT_BODIES) {
        each_moment(p, &picture, draw_bodies);
    }
    for (int r = 0; r < run_count(p); r++) {
        for (int i = 0; i < picture.bodies.count; i++) {
            draw_path(p, &picture, r, i);
        }
    }
    perp_svg_rect(&p->pen, area, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
    const double notes = area.y + area.height + BOTTOM + PLOT_NOTE;
    perp_svg_text(&p->pen, box.x, notes, (svg_font){.size = PLOT_SMALL, .fill = SVG_FAINT},
                  "of the origins; ring: start, dot: end");
    perp_plot_notes(p, box, notes + PLOT_NOTE, picture.bodies.note, "not the extremes between");
    return box.height;
}
