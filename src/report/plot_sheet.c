/* Everything that there is to see of a run, on one page in two columns. */
#include "report/plot.h"

#include <stdio.h>

enum { HEADER = 44, LINE = 15, GAP = 26, NARROW = 700, MOST_SOLUTIONS = 6 };

static plot_part *const parts[] = {perp_plot_scene, perp_plot_forces,   perp_plot_modes,  perp_plot_gaps,
                                   perp_plot_cone,  perp_plot_pressure, perp_plot_joints, perp_plot_residuals};

static const perp_instant_answer *answer_of(const plot *p)
{
    return p->step.info.answer;
}

static int solutions_shown(const plot *p)
{
    const int count = answer_of(p) ? answer_of(p)->solution_count : 0;
    return count < MOST_SOLUTIONS ? count : MOST_SOLUTIONS;
}

static void say(plot *p, svg_box box, double y, const char *words)
{
    char fitted[400];
    perp_svg_fit(words, PLOT_WORDS, box.width, fitted, sizeof fitted);
    perp_svg_text(&p->pen, box.x, y, (svg_font){.size = PLOT_WORDS, .fill = SVG_FAINT}, fitted);
}

/* What moves how in a solution, and what its contacts carry, as far as a line has room for it. */
static void describe_solution(const plot *p, int index, char *text, size_t size)
{
    const perp_log_head *head = p->run->head;
    const perp_instant_solution *s = &answer_of(p)->solutions[index];
    size_t at = (size_t)snprintf(text, size, "solution %d: %s", index + 1, answer_of(p)->answers);
    for (int i = 0; i < head->entry_count && at < size; i++) {
        const perp_log_entry *e = &head->entries[i];
        at += (size_t)snprintf(text + at, size - at, " %s [", e->name);
        for (int k = 0; k < e->nv && at < size; k++) {
            at += (size_t)snprintf(text + at, size - at, "%s%.4g", k > 0 ? ", " : "", s->rate[e->v_start + k] + 0.0);
        }
        at += at < size ? (size_t)snprintf(text + at, size - at, "]") : 0;
    }
    at += s->vertex_count > 0 && at < size ? (size_t)snprintf(text + at, size - at, ", the smallest of a set") : 0;
    for (int i = 0; i < s->contact_count && at < size; i++) {
        const perp_contact_record *r = &s->contacts[i];
        at += (size_t)snprintf(text + at, size - at, "%s %s %s %s", i > 0 ? "," : ";", head->bodies[r->contact.a],
                               head->bodies[r->contact.b], perp_contact_mode_name(r->mode));
        if (r->fn > 0.0 && at < size) {
            at += (size_t)snprintf(text + at, size - at, " %.4g N", r->fn);
        }
    }
}

/* Its height. */
static double draw_answer(plot *p, svg_box box, double y, bool draw)
{
    const perp_instant_answer *answer = answer_of(p);
    const bool none = answer && answer->solution_count == 0;
    for (int i = 0; draw && i < solutions_shown(p); i++) {
        char words[400];
        describe_solution(p, i, words, sizeof words);
        say(p, box, y + i * LINE, words);
    }
    if (draw && none) {
        say(p, box, y, answer->why_none[0] ? answer->why_none : "no motion and forces meet the law");
    }
    return LINE * (none ? 1 : solutions_shown(p));
}

static void draw_header(plot *p, svg_box box)
{
    const replay_run *run = p->run;
    char name[400], words[400];
    const int last = run->frames[run->frame_count - 1].step;
    perp_svg_fit(run->head->scene, 16.0, 0.85 * box.width, name, sizeof name);
    perp_svg_text(&p->pen, box.x, box.y + 16.0, (svg_font){.size = 16.0, .bold = true}, name);
    if (answer_of(p)) {
        const int count = answer_of(p)->solution_count;
        snprintf(words, sizeof words, "model %s at t = %g s, %d %s%s%s", run->head->model, p->step.t, count,
                 perp_plural(count, "solution", "solutions"), answer_of(p)->partial ? ", there may be others" : "",
                 count > MOST_SOLUTIONS ? "; the first six are shown" : "");
    } else {
        snprintf(words, sizeof words, "model %s, %d %s of %g s%s%s", run->head->model, last,
                 perp_plural(last, "step", "steps"), run->head->h, run->end->failed ? ", stopped: " : "",
                 run->end->failed ? run->end->code : "");
    }
    say(p, box, box.y + 33.0, words);
    draw_answer(p, box, box.y + 33.0 + LINE, true);
}

/* Where the next part goes: below the shorter column. */
static void place(plot *p, plot_part *part, svg_box box, int columns, double bottom[2], bool draw)
{
    const double width = (box.width - (columns - 1) * GAP) / columns;
    svg_box at = {box.x, 0.0, width, 0.0};
    at.height = part(p, at, false);
    if (at.height <= 0.0) {
        return;
    }
    const int column = columns > 1 && bottom[1] < bottom[0] ? 1 : 0;
    at.x += column * (width + GAP);
    at.y = bottom[column];
    bottom[column] += at.height + GAP;
    if (draw) {
        part(p, at, true);
    }
}

double perp_plot_sheet(plot *p, svg_box box, bool draw)
{
    const int columns = box.width + 28.0 > NARROW ? 2 : 1, chosen = p->solution;
    const double top = box.y + HEADER + draw_answer(p, box, 0.0, false);
    double bottom[2] = {top, top};
    p->in_sheet = true;
    if (draw) {
        draw_header(p, box);
    }
    for (int i = 0; i < solutions_shown(p); i++) { /* of an instant that is all there is: it has no course */
        perp_plot_show_solution(p, i);
        place(p, perp_plot_scene, box, columns, bottom, draw);
    }
    if (solutions_shown(p) > 0) {
        perp_plot_show_solution(p, chosen);
        return fmax(bottom[0], bottom[1]) - GAP - box.y;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (p->run->frame_count > 1 || (parts[i] != perp_plot_modes && parts[i] != perp_plot_residuals)) {
            place(p, parts[i], box, columns, bottom, draw);
        }
    }
    return fmax(bottom[0], bottom[1]) - GAP - box.y;
}
