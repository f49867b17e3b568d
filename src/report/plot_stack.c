#include "report/plot.h"
#include "report/tolerances.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { ROW_TITLE = 14, ROW_HEIGHT = 92, ROW_LEAST = 48, ROW_GAP = 10, LEGEND_LINE = 16 };

/* ---- legend ------------------------------------------------------------------------------------------------------ */

static double entry_width(const char *name)
{
    return 24.0 + perp_svg_width(name, PLOT_SMALL, false) + 14.0;
}

/* How strongly a mode's colour is laid on. */
static const char *opacity(int mode, plot_paint paint)
{
    return paint == PLOT_BEHIND ? "0.22" : paint == PLOT_FULL ? "1" : mode == PERP_CONTACT_OPEN ? "0.45" : "0.9";
}

/* As what it stands for is painted: the mode's colour on what lies below it. `mode` REPLAY_APART: nothing on that. */
static void draw_swatch(plot *p, double x, double y, int mode, plot_paint paint)
{
    const svg_box box = {x, y - 8.0, 18.0, 9.0};
    perp_svg_rect(&p->pen, box, paint == PLOT_RIBBON ? "fill=\"" PLOT_APART "\"" : "fill=\"#ffffff\"");
    if (mode < REPLAY_APART) {
        perp_svg_put(&p->pen,
                     "<rect x=\"%.2f\" y=\"%.2f\" width=\"18\" height=\"9\" fill=\"%s\" fill-opacity=\"%s\"/>\n", box.x,
                     box.y, perp_palette_mode((perp_contact_mode)mode).text, opacity(mode, paint));
    }
    perp_svg_rect(&p->pen, box, "fill=\"none\" stroke=\"" SVG_FRAME "\" stroke-width=\"0.5\"");
}

static void draw_stroke(plot *p, double x, double y, const plot_curve *curve)
{
    perp_svg_put(&p->pen, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1.6\"", x,
                 y - 3.5, x + 18.0, y - 3.5, curve->colour.text);
    perp_svg_put(&p->pen, curve->dash ? " stroke-dasharray=\"%s\"/>\n" : "%s/>\n", curve->dash ? curve->dash : "");
}

double perp_plot_legend(plot *p, svg_box box, const plot_curve *curves, int count, plot_modes modes, bool draw)
{
    double x = box.x, y = box.y + 11.0;
    const int all = count + (modes.paint == PLOT_RIBBON ? REPLAY_APART + 1 : PLOT_NO_MODES) - modes.first;
    for (int i = 0; i < all; i++) {
        const int mode = modes.first + i - count;
        const char *name = i < count              ? curves[i].name
                           : mode == REPLAY_APART ? "not listed"
                                                  : perp_contact_mode_name((perp_contact_mode)mode);
        const double width = entry_width(name);
        if (x > box.x && x + width > box.x + box.width) {
            x = box.x;
            y += LEGEND_LINE;
        }
        if (draw && i < count) {
            draw_stroke(p, x, y, &curves[i]);
        } else if (draw) {
            draw_swatch(p, x, y, mode, modes.paint);
        }
        if (draw) {
            perp_svg_text(&p->pen, x + 23.0, y, (svg_font){.size = PLOT_SMALL, .fill = SVG_FAINT}, name);
        }
        x += width;
    }
    return all > 0 ? y - box.y + 8.0 : 0.0;
}

static void draw_note(plot *p, svg_box box, double y, const char *note)
{
    char fitted[256];
    perp_svg_fit(note, PLOT_SMALL, box.width, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x, y, (svg_font){.size = PLOT_SMALL, .fill = SVG_FAINT}, fitted);
}

void perp_plot_notes(plot *p, svg_box box, double y, const char *note, const char *between)
{
    if (note[0]) {
        draw_note(p, box, y, note);
    }
    if (p->run->stride > 1) {
        char text[160];
        snprintf(text, sizeof text, "one step of %d is drawn, %s", p->run->stride, between);
        draw_note(p, box, note[0] ? y + PLOT_NOTE : y, text);
    }
}

double perp_plot_notes_height(const plot *p, const char *note)
{
    return (note[0] ? PLOT_NOTE : 0.0) + (p->run->stride > 1 ? PLOT_NOTE : 0.0);
}

void perp_plot_heading(plot *p, svg_box box, const char *title)
{
    char fitted[400];
    perp_svg_fit(title, 1.12 * PLOT_TITLE, box.width, fitted, sizeof fitted); /* bold is that much wider */
    perp_svg_text(&p->pen, box.x, box.y + 13.0, (svg_font){.size = PLOT_TITLE, .bold = true}, fitted);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

plot_range perp_plot_time_range(const plot *p)
{
    plot_range range = perp_plot_range_empty();
    perp_plot_range_see(&range, p->time[0]);
    perp_plot_range_see(&range, p->time[p->run->frame_count - 1]);
    return range;
}

double *perp_plot_numbers(plot *p)
{
    double *numbers = PERP_ARENA_NEW(p->arena, double, (size_t)p->run->frame_count);
    p->out_of_memory = p->out_of_memory || !numbers;
    for (int f = 0; numbers && f < p->run->frame_count; f++) {
        numbers[f] = NAN;
    }
    return numbers;
}

void perp_plot_time_axis(plot *p, const plot_axis *axis, double y)
{
    const svg_font small = {.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .fill = SVG_FAINT};
    for (int i = 0; i < axis->tick_count; i++) {
        char text[32];
        const double x = perp_plot_place(axis, axis->ticks[i]);
        perp_plot_label(axis, axis->ticks[i], text);
        perp_svg_line(&p->pen, x, y, x, y + 4.0, "stroke=\"" SVG_FRAME "\"");
        perp_svg_text(&p->pen, x, y + 14.0, small, text);
    }
    char words[32];
    snprintf(words, sizeof words, "time (%s)", axis->unit);
    perp_svg_text(&p->pen, 0.5 * (axis->from + axis->to), y + 28.0,
                  (svg_font){.size = PLOT_WORDS, .anchor = SVG_MIDDLE}, words);
}

/* What a contact does in the step or steps that end at a row. */
static int shown_mode(const plot *p, const replay_row *row)
{
    return p->run->stride > 1 ? row->seen.mode_gravest : row->mode;
}

void perp_plot_bands(plot *p, const plot_axis *time, int contact, svg_box box, bool open)
{
    const replay_row *rows = &p->run->rows[p->first_row[contact]];
    const int count = p->run->contacts[contact].row_count;
    for (int from = 0, to; from < count; from = to) {
        const int mode = shown_mode(p, &rows[from]);
        for (to = from + 1;
             to < count && rows[to].frame == rows[to - 1].frame + 1 && shown_mode(p, &rows[to]) == mode;) {
            to++;
        }
        const int first = rows[from].frame > 0 ? rows[from].frame - 1 : 0, last = rows[to - 1].frame;
        if ((mode == PERP_CONTACT_OPEN && !open) || mode >= REPLAY_APART) {
            continue;
        }
        const bool instant = p->run->frame_count == 1; /* all there is to see of it */
        const double x = instant ? box.x : perp_plot_place(time, p->time[first]);
        const double width = instant ? box.width : perp_plot_place(time, p->time[last]) - x;
        perp_svg_put(&p->pen,
                     "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"%s\"/>\n",
                     x, box.y, fmin(width, box.x + box.width - x), box.height,
                     perp_palette_mode((perp_contact_mode)mode).text, opacity(mode, open ? PLOT_RIBBON : PLOT_BEHIND));
    }
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static bool in_plot(const plot_row *row, double value)
{
    return isfinite(value) && (!row->log || value >= row->floor);
}

static plot_axis row_axis(const plot *p, const plot_row *row, double bottom, double top)
{
    plot_range range = perp_plot_range_empty();
    for (int c = 0; c < row->curve_count; c++) {
        const plot_curve *curve = &row->curves[c];
        for (int f = 0; f < p->run->frame_count; f++) {
            const double values[3] = {curve->y[f], curve->low ? curve->low[f] : NAN,
                                      curve->high ? curve->high[f] : NAN};
            for (int k = 0; k < 3; k++) {
                perp_plot_range_see(&range, in_plot(row, values[k]) ? values[k] : NAN);
            }
        }
    }
    perp_plot_range_see(&range, row->with_zero ? 0.0 : NAN);
    perp_plot_range_see(&range, row->reference > 0.0 ? row->reference : NAN);
    if (row->log) {
        range = (plot_range){row->floor, fmax(range.high, row->least_top)};
    } else {
        const double pad = 0.06 * (range.high - range.low);
        range = (plot_range){range.low - (range.low == 0.0 && row->with_zero ? 0.0 : pad), range.high + pad};
    }
    plot_axis axis = row->log ? perp_plot_log_axis(range, bottom, top)
                              : perp_plot_axis(range, row->unit, row->least_span, bottom, top);
    perp_plot_ticks(&axis, PLOT_SMALL, true);
    return axis;
}

/* Stretches of numbers as lines; a number alone as a dot. */
static void draw_line(plot *p, const plot_axis *time, const plot_axis *axis, const plot_curve *curve)
{
    const int count = p->run->frame_count;
    for (int from = 0, to; from < count; from = to + 1) {
        for (to = from; to < count && isfinite(curve->y[to]);) {
            to++;
        }
        if (to == from) {
            continue;
        }
        if (to == from + 1) {
            perp_svg_put(&p->pen, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2\" fill=\"%s\"/>\n",
                         perp_plot_place(time, p->time[from]), perp_plot_place(axis, curve->y[from]),
                         curve->colour.text);
            continue;
        }
        perp_svg_put(&p->pen, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-linejoin=\"round\"",
                     curve->colour.text);
        perp_svg_put(&p->pen, curve->dash ? " stroke-dasharray=\"%s\" points=\"" : "%s points=\"",
                     curve->dash ? curve->dash : "");
        for (int f = from; f < to; f++) {
            perp_svg_put(&p->pen, "%.2f,%.2f ", perp_plot_place(time, p->time[f]), perp_plot_place(axis, curve->y[f]));
        }
        perp_svg_put(&p->pen, "\"/>\n");
    }
}

/* From the lowest to the highest of the steps that are not drawn. */
static void draw_extremes(plot *p, const plot_axis *time, const plot_axis *axis, const plot_curve *curve)
{
    for (int f = 1; curve->low && curve->high && f < p->run->frame_count; f++) {
        const double x = perp_plot_place(time, p->time[f - 1]), width = perp_plot_place(time, p->time[f]) - x;
        if (isfinite(curve->low[f]) && isfinite(curve->high[f])) {
            const double top = perp_plot_place(axis, curve->high[f]), bottom = perp_plot_place(axis, curve->low[f]);
            if (bottom - top > 0.3) {
                perp_svg_put(&p->pen,
                             "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
                             "fill-opacity=\"0.3\"/>\n",
                             x, top, width, bottom - top, curve->colour.text);
            }
        }
    }
}

/* `widest`: px of the widest label of any row, so that all quantities stand in one line. */
static void draw_ticks(plot *p, const plot_axis *axis, const plot_row *row, svg_box area, double widest)
{
    const svg_font small = {.size = PLOT_SMALL, .anchor = SVG_END, .fill = SVG_FAINT};
    for (int i = 0; i < axis->tick_count; i++) {
        const double value = row->log ? pow(10.0, axis->ticks[i]) : axis->ticks[i], y = perp_plot_place(axis, value);
        perp_svg_line(&p->pen, area.x, y, area.x + area.width, y, "stroke=\"" SVG_GRID "\"");
        if (row->log) {
            perp_svg_power(&p->pen, area.x - 5.0, y + 3.5, small, (int)axis->ticks[i]);
        } else {
            char text[32];
            perp_plot_label(axis, axis->ticks[i], text);
            perp_svg_text(&p->pen, area.x - 5.0, y + 3.5, small, text);
        }
    }
    char words[64];
    const char *unit = row->log ? row->unit : axis->unit;
    snprintf(words, sizeof words, unit[0] ? "%s (%s)" : "%s", row->quantity, unit);
    char fitted[64];
    perp_svg_fit(words, PLOT_SMALL, area.height + ROW_TITLE, fitted, sizeof fitted);
    perp_svg_text(&p->pen, area.x - 9.0 - widest, area.y + 0.5 * area.height,
                  (svg_font){.size = PLOT_SMALL, .anchor = SVG_MIDDLE, .upwards = true}, fitted);
}

static void draw_row(plot *p, const plot_row *row, const plot_axis *time, const plot_axis *axis, svg_box area,
                     double widest)
{
    perp_svg_rect(&p->pen, area, "fill=\"#ffffff\"");
    if (row->contact >= 0) {
        perp_plot_bands(p, time, row->contact, area, false);
    }
    draw_ticks(p, axis, row, area, widest);
    for (int i = 0; i < time->tick_count; i++) {
        const double x = perp_plot_place(time, time->ticks[i]);
        perp_svg_line(&p->pen, x, area.y, x, area.y + area.height, "stroke=\"" SVG_GRID "\"");
    }
    if (row->reference > 0.0) {
        const double y = perp_plot_place(axis, row->reference);
        perp_svg_line(&p->pen, area.x, y, area.x + area.width, y,
                      "stroke=\"" SVG_INK "\" stroke-width=\"1.2\" stroke-dasharray=\"7 3\"");
    }
    for (int c = 0; c < row->curve_count; c++) {
        draw_extremes(p, time, axis, &row->curves[c]);
    }
    for (int c = 0; c < row->curve_count; c++) {
        draw_line(p, time, axis, &row->curves[c]);
    }
    perp_svg_rect(&p->pen, area, "fill=\"none\" stroke=\"" SVG_FRAME "\"");
    if (row->title) {
        char fitted[256];
        perp_svg_fit(row->title, PLOT_SMALL, area.width, fitted, sizeof fitted);
        perp_svg_text(&p->pen, area.x, area.y - 5.0, (svg_font){.size = PLOT_SMALL}, fitted);
    }
}

/* ---- the stack --------------------------------------------------------------------------------------------------- */

int perp_plot_stack_room(plot *p, const plot_stack *stack, svg_box box)
{
    const double legend = perp_plot_legend(p, (svg_box){.width = box.width}, stack->legend, stack->legend_count,
                                           (plot_modes){stack->first_mode, PLOT_BEHIND}, false);
    const double notes = PLOT_NOTE + perp_plot_notes_height(p, ""); /* what is left out may have to be said */
    const double room = box.height - PLOT_HEAD - legend - PLOT_TIME_AXIS - notes;
    return box.height > 0.0 ? (int)fmax(1.0, floor((room + ROW_GAP) / (ROW_TITLE + ROW_LEAST + ROW_GAP))) : INT_MAX;
}

double perp_plot_stack(plot *p, const plot_stack *stack, svg_box box, bool draw)
{
    const svg_box words = {box.x, box.y + PLOT_HEAD, box.width, 0.0};
    const double legend = perp_plot_legend(p, words, stack->legend, stack->legend_count,
                                           (plot_modes){stack->first_mode, PLOT_BEHIND}, draw);
    const double around = PLOT_HEAD + legend + PLOT_TIME_AXIS + perp_plot_notes_height(p, stack->note);
    if (!draw) {
        return around + stack->row_count * (ROW_TITLE + ROW_HEIGHT) + (stack->row_count - 1) * ROW_GAP;
    }
    const double room = box.height - around - (stack->row_count - 1) * ROW_GAP;
    const double height = fmax(24.0, room / stack->row_count - ROW_TITLE);
    plot_axis *axes = PERP_ARENA_NEW(p->arena, plot_axis, (size_t)stack->row_count);
    if (!axes) {
        p->out_of_memory = true;
        return 0.0;
    }
    double widest = 0.0;
    for (int i = 0; i < stack->row_count; i++) {
        const double top = box.y + PLOT_HEAD + legend + i * (height + ROW_TITLE + ROW_GAP) + ROW_TITLE;
        axes[i] = row_axis(p, &stack->rows[i], top + height, top);
        widest = fmax(widest, perp_plot_label_width(&axes[i], PLOT_SMALL));
    }
    const double left = widest + 22.0;
    plot_axis time = perp_plot_axis(perp_plot_time_range(p), "s", SPAN_OF_TIME, box.x + left, box.x + box.width - 10.0);
    perp_plot_ticks(&time, PLOT_SMALL, false);
    perp_plot_heading(p, box, stack->title);
    for (int i = 0; i < stack->row_count; i++) {
        draw_row(p, &stack->rows[i], &time, &axes[i], (svg_box){time.from, axes[i].to, time.to - time.from, height},
                 widest);
    }
    const double bottom = axes[stack->row_count - 1].from;
    perp_plot_time_axis(p, &time, bottom);
    perp_plot_notes(p, box, bottom + PLOT_TIME_AXIS + 10.0, stack->note, stack->between);
    return box.height;
}
