/* One case of a sweep: its settings, its scene, its row. */
#include "plan/quantity.h"
#include "plan/sweep.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static bool add(sweep_case *c, perp_arena *arena, const char *path, const char *value, const yaml_node *node)
{
    const size_t size = strlen(path) + strlen(value) + 2;
    char *text = perp_arena_push(arena, size, 1);
    if (!text) {
        return false;
    }
    snprintf(text, size, "%s=%s", path, value);
    c->nodes[c->setting_count] = node;
    c->settings[c->setting_count++] = text;
    return true;
}

static bool add_number(sweep_case *c, perp_arena *arena, const char *path, double value, const yaml_node *node)
{
    char text[PERP_REAL_TEXT];
    perp_real_text(value + 0.0, text);
    return add(c, arena, path, text, node);
}

/* Of axis `axis` at this case: the first axis is the slowest, samples are the fastest. */
static int index_on(const perp_sweep *s, int axis, int index)
{
    int within = s->samples;
    for (int i = axis + 1; i < s->axis_count; i++) {
        within *= s->axes[i].count;
    }
    return index / within % s->axes[axis].count;
}

/* Number k of the sequence of `seed`: the state of perp_random grows by a constant. */
static double sample(const perp_sweep *s, int index, int path)
{
    perp_random first = {0};
    perp_random_bits(&first);
    const uint64_t k = (uint64_t)index * (uint64_t)s->sampled_count + (uint64_t)path;
    perp_random random = {s->seed + k * first.state};
    return perp_random_uniform(&random, s->sampled[path].low, s->sampled[path].high);
}

static double parameter(void *context, int symbol)
{
    return ((const sweep_case *)context)->numbers[symbol];
}

static bool add_derived(const perp_sweep *s, sweep_case *c, perp_arena *arena)
{
    for (int i = 0; i < s->derived_count; i++) {
        double value;
        if (!perp_expression_evaluate(&s->derived[i].parsed, parameter, c, &value)) {
            c->undefined = i;
        } else if (!add_number(c, arena, s->derived[i].name, value, s->derived[i].node)) {
            return false;
        }
    }
    return true;
}

/* The value of an axis, as a number and as text. */
static bool add_axis(const perp_sweep *s, sweep_case *c, int i, perp_arena *arena)
{
    const sweep_axis *axis = &s->axes[i];
    const int k = index_on(s, i, c->spot.grid), of_plane = i - (s->axis_count - 2);
    const bool beside = c->spot.beside && of_plane >= 0;
    bool good = true;
    c->numbers[i] = beside ? c->spot.at[of_plane] : axis->numbers[k];
    for (int p = 0; p < axis->to_set.count && good; p++) {
        const char *path = axis->to_set.paths[p];
        good = beside ? add_number(c, arena, path, c->numbers[i], axis->node)
                      : add(c, arena, path, axis->values[k], axis->node);
    }
    return good;
}

bool perp_sweep_case_make(const perp_sweep *s, const sweep_spot *spot, perp_arena *arena, sweep_case *c)
{
    int most = s->setting_count + s->sampled_count + s->derived_count;
    for (int i = 0; i < s->axis_count; i++) {
        most += s->axes[i].to_set.count;
    }
    *c = (sweep_case){.spot = *spot, .undefined = -1};
    c->numbers = PERP_ARENA_NEW(arena, double, (size_t)(s->axis_count + s->sampled_count));
    c->settings = PERP_ARENA_NEW(arena, char *, (size_t)most);
    c->nodes = PERP_ARENA_NEW(arena, const yaml_node *, (size_t)most);
    bool good = c->numbers && c->settings && c->nodes;
    for (int i = 0; i < s->setting_count && good; i++) {
        good = add(c, arena, s->settings[i].path, s->settings[i].value, s->settings[i].node);
    }
    for (int i = 0; i < s->axis_count && good; i++) {
        good = add_axis(s, c, i, arena);
    }
    for (int i = 0; i < s->sampled_count && good; i++) {
        c->numbers[s->axis_count + i] = sample(s, spot->grid, i);
        good = add_number(c, arena, s->sampled[i].path, c->numbers[s->axis_count + i], s->sampled[i].node);
    }
    return good && add_derived(s, c, arena);
}

/* ---- its scene --------------------------------------------------------------------------------------------------- */

static bool find_file(void *context, const char *name, const char **bytes, size_t *size)
{
    const perp_sweep *s = context;
    for (int i = 1; i < s->file_count; i++) {
        if (strcmp(s->files[i].name, name) == 0) {
            *bytes = s->files[i].text;
            *size = s->files[i].size;
            return true;
        }
    }
    return false;
}

perp_scene_load_options perp_sweep_case_options(const perp_sweep *s, const sweep_case *c, const perp_scene_files *files)
{
    return (perp_scene_load_options){.allocator = &s->allocator,
                                     .settings = (const char *const *)c->settings,
                                     .setting_count = c->setting_count,
                                     .files = files,
                                     .models = s->models};
}

static perp_status refuse(const perp_sweep *s, const yaml_node *node, const perp_error *error,
                          perp_diagnostics *diagnostics)
{
    if (error->status == PERP_STATUS_BAD_INPUT) {
        perp_sweep_report(s, diagnostics, node, error->column, "%s", error->message);
    }
    return error->status;
}

static perp_status open_quantities(const perp_sweep *s, const sweep_case *c, sweep_model *made,
                                   perp_diagnostics *diagnostics)
{
    perp_error error = {0};
    int index;
    if (perp_quantities_create(made->model, &s->allocator, &made->quantities, &error) != PERP_STATUS_OK) {
        if (error.status == PERP_STATUS_BAD_INPUT) {
            perp_scene_report(made->scene, diagnostics, PERP_SEVERITY_ERROR, error.path, "%s", error.message);
        }
        return error.status;
    }
    for (int i = 0; i < s->axis_count + s->sampled_count; i++) {
        const char *name = i < s->axis_count ? s->axes[i].name : s->sampled[i - s->axis_count].path;
        if (isfinite(c->numbers[i]) &&
            perp_quantities_constant(made->quantities, name, c->numbers[i], &error) != PERP_STATUS_OK) {
            return error.status;
        }
    }
    for (int i = 0; i < s->output_count; i++) {
        if (perp_quantities_add(made->quantities, s->outputs[i].text, &index, &error) != PERP_STATUS_OK) {
            return refuse(s, s->outputs[i].node, &error, diagnostics);
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_sweep_case_open(const perp_sweep *s, const sweep_case *c, const volatile bool *cancel,
                                 sweep_model *made, perp_diagnostics *diagnostics)
{
    const perp_scene_files files = {.context = (void *)(uintptr_t)s, .find = find_file};
    const perp_scene_load_options options = perp_sweep_case_options(s, c, &files);
    perp_error error = {0};
    memset(made, 0, sizeof *made);
    perp_status status = perp_scene_load_text(s->files[0].text, s->files[0].size, s->scene_path, NULL, &options,
                                              &made->scene, diagnostics);
    if (status == PERP_STATUS_OK) {
        made->scene->run.cancel = cancel;
        status = perp_model_build(made->scene, &s->allocator, &made->model, &error);
        if (status == PERP_STATUS_BAD_INPUT) {
            perp_scene_report(made->scene, diagnostics, PERP_SEVERITY_ERROR, error.path, "%s", error.message);
        }
    }
    status = status == PERP_STATUS_OK ? open_quantities(s, c, made, diagnostics) : status;
    if (status != PERP_STATUS_OK) {
        perp_sweep_case_close(made);
    }
    return status;
}

void perp_sweep_case_close(sweep_model *made)
{
    perp_quantities_free(made->quantities);
    perp_model_free(made->model);
    perp_scene_free(made->scene);
    memset(made, 0, sizeof *made);
}

/* ---- its row ----------------------------------------------------------------------------------------------------- */

/* A cell, in quotes where it needs them. */
static void put_cell(byte_row *row, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        perp_bytes_text(row, text);
        return;
    }
    perp_bytes_u8(row, '"');
    for (const char *c = text; *c; c++) {
        perp_bytes_u8(row, (unsigned char)*c);
        if (*c == '"') {
            perp_bytes_u8(row, '"');
        }
    }
    perp_bytes_u8(row, '"');
}

static void put_value(byte_row *row, const perp_value *value)
{
    switch (value->kind) {
    case PERP_VALUE_UNDEFINED:
        break;
    case PERP_VALUE_NUMBER:
        perp_bytes_real(row, value->number + 0.0);
        break;
    case PERP_VALUE_TRUTH:
        perp_bytes_text(row, value->number != 0.0 ? "true" : "false");
        break;
    case PERP_VALUE_WORD:
        put_cell(row, value->word);
        break;
    }
}

void perp_sweep_header(const perp_sweep *s, byte_row *row)
{
    perp_bytes_text(row, "case");
    for (int i = 0; i < s->axis_count + s->sampled_count + s->output_count; i++) {
        const int sampled = i - s->axis_count, output = sampled - s->sampled_count;
        perp_bytes_text(row, ",");
        put_cell(row, output >= 0    ? s->outputs[output].name
                      : sampled >= 0 ? s->sampled[sampled].path
                                     : s->axes[i].name);
    }
    perp_bytes_text(row, s->refine.levels >= 0 ? ",refined,error\n" : ",error\n");
}

void perp_sweep_row_begin(const perp_sweep *s, const sweep_case *c, byte_row *row)
{
    perp_bytes_integer(row, c->spot.number);
    for (int i = 0; i < s->axis_count; i++) {
        perp_bytes_text(row, ",");
        if (c->spot.beside && i >= s->axis_count - 2) {
            perp_bytes_real(row, c->numbers[i] + 0.0);
        } else {
            put_cell(row, s->axes[i].values[index_on(s, i, c->spot.grid)]);
        }
    }
    for (int i = 0; i < s->sampled_count; i++) {
        perp_bytes_text(row, ",");
        perp_bytes_real(row, c->numbers[s->axis_count + i] + 0.0);
    }
}

/* How the row ends: with what is refined, where anything is, and the error. */
static void put_end(const perp_sweep *s, const sweep_case *c, byte_row *row, const char *code)
{
    if (s->refine.levels >= 0) {
        perp_bytes_text(row, ",");
        put_cell(row, c->spot.mark);
    }
    perp_bytes_text(row, ",");
    perp_bytes_text(row, code);
}

static bool must_end(perp_status status)
{
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
}

/* An output that no analysis has: where it is asked for. */
static perp_status refuse_output(const perp_sweep *s, const sweep_model *m, perp_error *error)
{
    const int wrong = m->quantities->wrong;
    int line = 1, column = 1;
    if (error->status == PERP_STATUS_BAD_INPUT && wrong >= 0) {
        perp_yaml_tree_place(s->outputs[wrong].node, &line, &column);
        error->column = column + (error->column > 0 ? error->column - 1 : 0) + (s->outputs[wrong].node->quoted ? 1 : 0);
        error->line = line;
        snprintf(error->file, sizeof error->file, "%s", s->name);
    }
    return error->status;
}

static const char *code_of(const perp_error *failure)
{
    return failure->code ? failure->code : perp_status_name(failure->status);
}

/* The outputs and the error of a case that could be opened. */
static perp_status put_outputs(const perp_sweep *s, const sweep_case *c, sweep_model *m, byte_row *row, bool *failed,
                               perp_error *error)
{
    perp_error failure;
    if (perp_quantities_measure(m->quantities, &failure, error) != PERP_STATUS_OK) {
        return refuse_output(s, m, error);
    }
    bool undefined = false;
    for (int i = 0; i < s->output_count; i++) {
        const perp_value value = perp_quantities_value(m->quantities, i);
        perp_bytes_text(row, ",");
        put_value(row, &value);
        undefined = undefined || value.kind == PERP_VALUE_UNDEFINED;
    }
    *failed = undefined || failure.status != PERP_STATUS_OK;
    put_end(s, c, row, failure.status != PERP_STATUS_OK ? code_of(&failure) : undefined ? "undefined" : "");
    return PERP_STATUS_OK;
}

static void put_refused(const perp_sweep *s, const sweep_case *c, byte_row *row, const char *code, bool *failed)
{
    for (int i = 0; i < s->output_count; i++) {
        perp_bytes_text(row, ",");
    }
    put_end(s, c, row, code);
    *failed = true;
}

perp_status perp_sweep_row(const perp_sweep *s, const sweep_spot *spot, const volatile bool *cancel, byte_row *row,
                           bool *failed, perp_error *error)
{
    perp_arena arena;
    sweep_case c;
    sweep_model model;
    perp_diagnostics diagnostics = {0};
    perp_status status = PERP_STATUS_OK;
    *failed = false;
    perp_arena_init(&arena, &s->allocator);
    if (!perp_sweep_case_make(s, spot, &arena, &c)) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a case");
    }
    perp_sweep_row_begin(s, &c, row);
    if (c.undefined >= 0) {
        put_refused(s, &c, row, "undefined", failed);
    } else {
        status = perp_sweep_case_open(s, &c, cancel, &model, &diagnostics);
        if (status == PERP_STATUS_OK) {
            status = put_outputs(s, &c, &model, row, failed, error);
            perp_sweep_case_close(&model);
        } else if (must_end(status)) {
            perp_fail(error, status, "out of memory for a case");
        } else {
            put_refused(s, &c, row, perp_status_name(status), failed);
            status = PERP_STATUS_OK;
        }
    }
    perp_arena_clear(&arena);
    perp_bytes_text(row, "\n");
    if (status == PERP_STATUS_OK && row->failed) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a row");
    }
    return status;
}

uint64_t perp_sweep_row_kind(const perp_sweep *s, const byte_row *row, int output)
{
    int left = 1 + s->axis_count + s->sampled_count + output;
    bool quoted = false;
    perp_hash kind = perp_hash_begin();
    for (size_t i = 0; i < row->size && left >= 0; i++) {
        quoted = quoted != (row->bytes[i] == '"');
        if (row->bytes[i] == ',' && !quoted) {
            left--;
        } else if (left == 0) {
            perp_hash_bytes(&kind, &row->bytes[i], 1);
        }
    }
    return kind.value;
}
