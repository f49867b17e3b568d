#include "base/settings_size.h"
#include "report/plot.h"

#include "base/plain_locale.h"
#include "report/save.h"

#include <stdio.h>
#include <string.h>

/* About a frame per pixel; extremes stand for the steps between. */
enum {
    MOST_FRAMES = 800,
    LEAST_WIDTH = 300,
    LEAST_HEIGHT = 240,
    MOST_SIZE = 20000,
    MARGIN = 14,
    WIDTH = 640,
    SHEET_WIDTH = 1000
};

static const struct {
    const char *name;
    plot_part *part;
} kinds[PERP_PLOT_COUNT] = {
    [PERP_PLOT_SHEET] = {"sheet", perp_plot_sheet},    [PERP_PLOT_GAPS] = {"gaps", perp_plot_gaps},
    [PERP_PLOT_FORCES] = {"forces", perp_plot_forces}, [PERP_PLOT_CONE] = {"cone", perp_plot_cone},
    [PERP_PLOT_MODES] = {"modes", perp_plot_modes},    [PERP_PLOT_JOINTS] = {"joints", perp_plot_joints},
    [PERP_PLOT_SCENE] = {"scene", perp_plot_scene},    [PERP_PLOT_RESIDUALS] = {"residuals", perp_plot_residuals},
    [PERP_PLOT_ENERGY] = {"energy", perp_plot_energy}, [PERP_PLOT_PATH] = {"path", perp_plot_path},
    [PERP_PLOT_BODIES] = {"bodies", perp_plot_path},   [PERP_PLOT_PRESSURE] = {"pressure", perp_plot_pressure},
};

const char *perp_plot_kind_name(perp_plot_kind kind)
{
    return kinds[kind].name;
}

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while drawing");
}

/* The log is as it should be; what was asked of it is not. */
static perp_status of_options(perp_status status, perp_error *error)
{
    if (status == PERP_STATUS_BAD_INPUT && error) {
        error->code = "bad-options";
    }
    return status;
}

/* ---- what is drawn ----------------------------------------------------------------------------------------------- */

/* Times by frame, rows by contact, and how large things are. */
static bool look_over(plot *p)
{
    const replay_run *run = p->run;
    p->time = PERP_ARENA_NEW(p->arena, double, (size_t)run->frame_count);
    p->first_row = PERP_ARENA_NEW(p->arena, int, (size_t)run->contact_count + 1);
    if (!p->time || !p->first_row) {
        return false;
    }
    for (int f = 0; f < run->frame_count; f++) {
        p->time[f] = run->t0 + run->frames[f].step * run->head->h;
    }
    for (int i = 0; i < run->contact_count; i++) {
        p->first_row[i + 1] = p->first_row[i] + run->contacts[i].row_count;
    }
    for (int i = 0; i < run->row_count; i++) {
        p->largest = fmax(p->largest, run->rows[i].seen.fn_high);
        p->longest = fmax(p->longest, fmax(fabs(run->rows[i].seen.phi_low), fabs(run->rows[i].seen.phi_high)));
    }
    return true;
}

/* The step of the scene, which the log keeps until its next read. */
static perp_status read_step(plot *p, perp_log_reader *reader, perp_error *error)
{
    const int last = p->run->extent.step_count - 1;
    const int index = p->options->step < 0 ? last : perp_log_find(reader, p->options->step);
    if (index < 0) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "the log has no step %d; its last is %d", p->options->step,
                  p->run->frames[p->run->frame_count - 1].step);
        return of_options(PERP_STATUS_BAD_INPUT, error);
    }
    return perp_log_read(reader, index, &p->step, error);
}

void perp_plot_show_solution(plot *p, int solution)
{
    const perp_instant_solution *shown = &p->step.info.answer->solutions[solution];
    p->solution = solution;
    p->step.info.contact_count = shown->contact_count;
    p->step.info.contacts = shown->contacts;
}

/* Of an instant the one solution that is asked for. */
static perp_status choose_solution(const perp_plot_options *options, replay_run *run, perp_error *error)
{
    const int count = run->answer ? run->answer->solution_count : 0, wanted = options->solution;
    if (wanted < 0 || (wanted > 0 && wanted >= count)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         count > 0
                             ? "there is no solution %d in the log, which has %d"
                             : "there is no solution %d in the log: it is not of an instant, or of one without any",
                         wanted + 1, count);
    }
    if (count > 0) {
        perp_replay_keep_frame(run, wanted);
    }
    return PERP_STATUS_OK;
}

static perp_status check_options(const perp_plot_options *options, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_plot_options, options, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    const int sizes[2] = {options->width, options->height}, least[2] = {LEAST_WIDTH, LEAST_HEIGHT};
    for (int i = 0; i < 2; i++) {
        if (sizes[i] != 0 && (sizes[i] < least[i] || sizes[i] > MOST_SIZE)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "a plot is %d to %d pixels %s, not %d", least[i],
                             (int)MOST_SIZE, i ? "high" : "wide", sizes[i]);
        }
    }
    const bool paths = options->kind == PERP_PLOT_PATH || options->kind == PERP_PLOT_BODIES;
    if (options->other_count < 0 || options->other_count >= (paths ? PERP_PLOT_MOST_LOGS : 1)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         paths ? "one picture shows the paths of at most %d logs"
                               : "only paths and bodies of several logs are drawn in one picture, of at most %d",
                         (int)PERP_PLOT_MOST_LOGS);
    }
    return options->most < 0 || options->most > 500
               ? perp_fail(error, PERP_STATUS_BAD_INPUT, "a plot shows 1 to 500 contacts or joints, not %d",
                           options->most)
               : PERP_STATUS_OK;
}

static perp_status nothing_to_show(const plot *p, perp_error *error)
{
    const char *scene = p->run->head->scene;
    if (p->options->kind == PERP_PLOT_JOINTS) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the scene `%s` has no joint with one coordinate to plot",
                         scene);
    }
    if (p->options->kind == PERP_PLOT_PRESSURE) {
        return perp_fail(
            error, PERP_STATUS_BAD_INPUT,
            "no contact of the run of `%s` is a patch of several elements: those of the model compliant are, "
            "with `compliance.elements`",
            scene);
    }
    if (p->options->kind == PERP_PLOT_ENERGY) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the log of `%s` has no scene: masses are not known", scene);
    }
    if (p->options->kind == PERP_PLOT_PATH || p->options->kind == PERP_PLOT_BODIES) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "no body of the run of `%s` moves", scene);
    }
    if (p->run->row_count > 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "no contact of the run of `%s` carries force", scene);
    }
    return perp_fail(error, PERP_STATUS_BAD_INPUT,
                     "the run of `%s` lists no contact: nothing came within contacts.margin", scene);
}

static perp_status draw(plot *p, perp_error *error)
{
    const perp_plot_options *o = p->options;
    const double width = o->width > 0 ? o->width : o->kind == PERP_PLOT_SHEET ? SHEET_WIDTH : WIDTH;
    svg_box box = {MARGIN, MARGIN, width - 2 * MARGIN, 0.0};
    const double suits = kinds[o->kind].part(p, box, false);
    if (p->out_of_memory) {
        return no_memory(error);
    }
    if (suits <= 0.0) {
        return of_options(nothing_to_show(p, error), error);
    }
    const bool given = o->height > 0 && o->kind != PERP_PLOT_SHEET;
    const double height = given ? o->height : ceil(suits) + 2 * MARGIN;
    char title[400];
    box.height = height - 2 * MARGIN;
    snprintf(title, sizeof title, "%s of %s, model %s", kinds[o->kind].name, p->run->head->scene, p->run->head->model);
    perp_svg_open(&p->pen, width, height, title);
    kinds[o->kind].part(p, box, true);
    perp_svg_close(&p->pen);
    perp_bytes_put(p->pen.out, "", 1);
    return p->out_of_memory || p->pen.out->failed ? no_memory(error) : PERP_STATUS_OK;
}

/* Further runs, to be unloaded either way. */
static perp_status load_others(plot *p, const perp_replay_options *gather, replay_run *others, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < p->options->other_count && status == PERP_STATUS_OK; i++) {
        status = perp_replay_load(p->options->others[i], gather, p->arena, &others[i], error);
        if (status == PERP_STATUS_OK && others[i].head->planar != p->run->head->planar) {
            perp_fail(error, PERP_STATUS_BAD_INPUT, "planar and spatial logs do not fit in one picture");
            status = of_options(PERP_STATUS_BAD_INPUT, error);
        }
    }
    p->others = others;
    return status;
}

/* All that is drawn; `p` has the run. */
static perp_status load_rest(plot *p, perp_log_reader *reader, perp_error *error)
{
    const perp_plot_options *options = p->options;
    perp_status status = look_over(p) ? PERP_STATUS_OK : no_memory(error);
    if (status == PERP_STATUS_OK) {
        status = of_options(perp_plot_check_names(p, error), error);
    }
    if (status == PERP_STATUS_OK && p->run->head->planar && options->plane != PERP_PLANE_XY) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "a planar scene is seen in the plane of x and y");
        status = of_options(PERP_STATUS_BAD_INPUT, error);
    }
    if (status == PERP_STATUS_OK && options->kind == PERP_PLOT_ENERGY) {
        status = perp_plot_load_energies(p, reader, error);
    }
    if (status == PERP_STATUS_OK) {
        status = read_step(p, reader, error);
    }
    if (status == PERP_STATUS_OK && p->step.info.answer && p->step.info.answer->solution_count > options->solution) {
        perp_plot_show_solution(p, options->solution);
    }
    return status;
}

static perp_status make(perp_log_reader *reader, const perp_plot_options *options, perp_arena *arena, byte_row *out,
                        perp_error *error)
{
    const perp_replay_options gather = {
        .allocator = options->allocator, .most_frames = MOST_FRAMES, .most_rows = 40 * MOST_FRAMES};
    replay_run run = {0}, others[PERP_PLOT_MOST_LOGS] = {0};
    plot p = {.pen = {out}, .arena = arena, .run = &run, .options = options};
    perp_status status = perp_replay_load(reader, &gather, arena, &run, error);
    if (status == PERP_STATUS_OK) {
        status = of_options(choose_solution(options, &run, error), error);
    }
    if (status == PERP_STATUS_OK) {
        status = load_others(&p, &gather, others, error);
    }
    if (status == PERP_STATUS_OK) {
        status = load_rest(&p, reader, error);
    }
    if (status == PERP_STATUS_OK) {
        status = draw(&p, error);
    }
    perp_replay_unload(&run);
    for (int i = 0; i < options->other_count; i++) {
        perp_replay_unload(&others[i]);
    }
    return status;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

static perp_status make_text(perp_log_reader *reader, const perp_plot_options *options, byte_row *out,
                             perp_error *error)
{
    const perp_plot_options standard = perp_plot_options_default();
    options = options ? options : &standard;
    perp_plain_locale locale;
    perp_arena arena;
    perp_status status = of_options(check_options(options, error), error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!perp_plain_locale_open(&locale)) {
        return no_memory(error);
    }
    perp_plain_locale_enter(&locale);
    perp_arena_init(&arena, options->allocator);
    status = make(reader, options, &arena, out, error);
    perp_arena_clear(&arena);
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    return status;
}

perp_status perp_plot_text(perp_log_reader *reader, const perp_plot_options *options, char **text, perp_error *error)
{
    byte_row out = {0};
    const perp_status status = make_text(reader, options, &out, error);
    *text = NULL;
    if (status == PERP_STATUS_OK) {
        *text = (char *)out.bytes;
    } else {
        perp_bytes_free(&out);
    }
    return status;
}

perp_status perp_plot_write(perp_log_reader *reader, const perp_plot_options *options, const char *path,
                            perp_error *error)
{
    byte_row out = {0};
    perp_status status = make_text(reader, options, &out, error);
    if (status == PERP_STATUS_OK) {
        out.size--; /* the zero at the end */
        status = perp_report_save(&out, path, error);
    }
    perp_bytes_free(&out);
    return status;
}
