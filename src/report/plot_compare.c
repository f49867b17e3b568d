/* The runs of a comparison over time: a row for each quantity that differs most in some pair. All runs are drawn at the
 * same moments, which perp_compared_value finds between their steps. */
#include "base/plain_locale.h"
#include "base/settings_size.h"
#include "report/plot.h"
#include "report/save.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MOMENTS = 800, MOST_ROWS = 4, PLOT_WIDTH = 640, PLOT_MARGIN = 14 };

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while drawing");
}

typedef struct compare_plot {
    const perp_comparison *comparison;
    int row_count, columns[MOST_ROWS]; /* of the quantities */
    int curve_count;                   /* runs that are drawn */
    char names[PLOT_MOST_CURVES][80];
    char title[400], note[200];
} compare_plot;

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* The scalar joint that a column is of, -1: it is another one's. */
static bool is_prismatic(const perp_scene *scene, const char *name)
{
    const int joint = perp_scene_find_joint(scene, name);
    return joint >= 0 && scene->joints[joint].kind == PERP_JOINT_PRISMATIC;
}

static const char *unit_of(const perp_scene *scene, const char *name)
{
    static const struct {
        const char *ending, *unit, *rate;
    } units[] = {{".x", "m", "m/s"},     {".y", "m", "m/s"},      {".z", "m", "m/s"}, {".theta", "rad", "rad/s"},
                 {".qw", "", ""},        {".qx", "", ""},         {".qy", "", ""},    {".qz", "", ""},
                 {".fn", "N", "N"},      {".ft", "N", "N"},       {".phi", "m", "m"}, {".slip", "m/s", "m/s"},
                 {".kinetic", "J", "J"}, {".potential", "J", "J"}};
    const bool rate = strncmp(name, "v:", 2) == 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ends_in(name, units[i].ending)) {
            return rate ? units[i].rate : units[i].unit;
        }
    }
    if (strncmp(name, "residual.", 9) == 0) {
        return "";
    }
    const bool along = is_prismatic(scene, rate ? name + 2 : name);
    return along ? (rate ? "m/s" : "m") : rate ? "rad/s" : "rad";
}

static int column_of(const perp_comparison *c, const char *quantity)
{
    int column = 0;
    while (strcmp(c->quantities[column], quantity) != 0) {
        column++;
    }
    return column;
}

/* A row for the quantity of a pair, where there is room and it has none. */
static void add_row(compare_plot *c, const perp_difference *d)
{
    const int column = d->quantity ? column_of(c->comparison, d->quantity) : -1;
    bool known = column < 0 || c->row_count == MOST_ROWS;
    for (int k = 0; k < c->row_count; k++) {
        known = known || c->columns[k] == column;
    }
    if (!known) {
        c->columns[c->row_count++] = column;
    }
}

/* Pairs that agree, by all but rounding, only where all do. */
static void choose(compare_plot *c)
{
    const perp_comparison *of = c->comparison;
    for (int agree = 0; agree < 2 && c->row_count == 0; agree++) {
        for (int i = 0; i < of->difference_count; i++) {
            if ((of->differences[i].assumption == PERP_ASSUMPTION_NONE) == (agree == 1)) {
                add_row(c, &of->differences[i]);
            }
        }
    }
    if (c->row_count == 0 && of->quantity_count > 0) {
        c->columns[c->row_count++] = 0; /* all are equal */
    }
    c->curve_count = of->run_count < PLOT_MOST_CURVES ? of->run_count : PLOT_MOST_CURVES;
    for (int i = 0; i < c->curve_count; i++) {
        snprintf(c->names[i], sizeof c->names[i], "%s, h = %g s", of->runs[i].rung->name, of->runs[i].h);
    }
    snprintf(c->title, sizeof c->title, "What differs most: %s", of->scene->name);
    if (c->curve_count < of->run_count) {
        snprintf(c->note, sizeof c->note, "the first %d of %d runs", c->curve_count, of->run_count);
    }
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static double *values_of(plot *p, const compare_plot *c, int run, int column)
{
    double *values = perp_plot_numbers(p);
    for (int f = 0; values && f < p->run->frame_count; f++) {
        values[f] = perp_compared_value(c->comparison, run, column, p->time[f]);
    }
    return values;
}

static void fill_row(plot *p, const compare_plot *c, int index, plot_row *row)
{
    static const char *const dashes[PLOT_MOST_CURVES] = {NULL, "6 3", "2 2",
                                                         "8 2 2 2"}; /* where curves lie on another */
    const char *name = c->comparison->quantities[c->columns[index]];
    *row = (plot_row){.title = name,
                      .quantity = name,
                      .unit = unit_of(c->comparison->scene, name),
                      .contact = -1,
                      .curve_count = c->curve_count};
    for (int i = 0; i < c->curve_count; i++) {
        row->curves[i] = (plot_curve){.name = c->names[i],
                                      .colour = perp_palette_series(i),
                                      .dash = dashes[i],
                                      .y = values_of(p, c, i, c->columns[index])};
    }
}

/* Moments from the start to the end of the longest run. */
static bool fill_times(plot *p, const compare_plot *c, replay_run *run)
{
    double end = 0.0;
    int steps = 0;
    for (int i = 0; i < c->comparison->run_count; i++) {
        const perp_compared_run *r = &c->comparison->runs[i];
        end = fmax(end, (r->row_count - 1) * r->h);
        steps = r->row_count - 1 > steps ? r->row_count - 1 : steps;
    }
    run->stride = 1;
    run->frame_count = (steps < MOST_MOMENTS ? steps : MOST_MOMENTS) + 1;
    p->time = PERP_ARENA_NEW(p->arena, double, (size_t)run->frame_count);
    for (int f = 0; f < run->frame_count && p->time; f++) {
        p->time[f] = run->frame_count > 1 ? end * f / (run->frame_count - 1) : 0.0;
    }
    return p->time != NULL;
}

static bool draw(plot *p, const compare_plot *c)
{
    plot_row rows[MOST_ROWS];
    for (int i = 0; i < c->row_count; i++) {
        fill_row(p, c, i, &rows[i]);
    }
    if (p->out_of_memory) {
        return false;
    }
    const plot_stack stack = {.title = c->title,
                              .note = c->note,
                              .between = "",
                              .row_count = c->row_count,
                              .rows = rows,
                              .legend_count = c->curve_count,
                              .legend = rows[0].curves,
                              .first_mode = PLOT_NO_MODES};
    const double width = p->options->width > 0 ? p->options->width : PLOT_WIDTH;
    svg_box box = {PLOT_MARGIN, PLOT_MARGIN, width - 2 * PLOT_MARGIN, 0.0};
    const double suits = ceil(perp_plot_stack(p, &stack, box, false)) + 2 * PLOT_MARGIN;
    const double height = p->options->height > 0 ? p->options->height : suits;
    box.height = height - 2 * PLOT_MARGIN;
    perp_svg_open(&p->pen, width, height, c->title);
    perp_plot_stack(p, &stack, box, true);
    perp_svg_close(&p->pen);
    perp_bytes_put(p->pen.out, "", 1);
    return !p->out_of_memory && !p->pen.out->failed;
}

static perp_status make(const perp_comparison *comparison, const perp_plot_options *options, byte_row *out,
                        perp_error *error)
{
    perp_arena arena;
    perp_plain_locale locale;
    replay_run run = {0};
    compare_plot c = {.comparison = comparison};
    plot p = {.pen = {out}, .arena = &arena, .run = &run, .options = options};
    if (PERP_CHECK_SIZE(perp_plot_options, options, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    choose(&c);
    if (c.row_count == 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "nothing in `%s` moves: there is nothing to draw",
                         comparison->scene->name);
    }
    if (!perp_plain_locale_open(&locale)) {
        return no_memory(error);
    }
    perp_plain_locale_enter(&locale);
    perp_arena_init(&arena, options->allocator);
    const bool drawn = fill_times(&p, &c, &run) && draw(&p, &c);
    perp_arena_clear(&arena);
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    return drawn ? PERP_STATUS_OK : no_memory(error);
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

perp_status perp_compare_plot_text(const perp_comparison *comparison, const perp_plot_options *options, char **text,
                                   perp_error *error)
{
    const perp_plot_options standard = perp_plot_options_default();
    byte_row out = {0};
    const perp_status status = make(comparison, options ? options : &standard, &out, error);
    *text = NULL;
    if (status == PERP_STATUS_OK) {
        *text = (char *)out.bytes;
    } else {
        perp_bytes_free(&out);
    }
    return status;
}

perp_status perp_compare_plot_write(const perp_comparison *comparison, const perp_plot_options *options,
                                    const char *path, perp_error *error)
{
    const perp_plot_options standard = perp_plot_options_default();
    byte_row out = {0};
    perp_status status = make(comparison, options ? options : &standard, &out, error);
    if (status == PERP_STATUS_OK) {
        out.size--; /* the zero at the end */
        status = perp_report_save(&out, path, error);
    }
    perp_bytes_free(&out);
    return status;
}
