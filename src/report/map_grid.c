#include "base/sort.h"
#include "report/map.h"

#include "report/plot_axis.h"
#include "report/tolerances.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static perp_status refuse(perp_error *error)
{
    if (error) {
        error->code = "bad-options";
    }
    return PERP_STATUS_BAD_INPUT;
}

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a map");
}

/* A cell as a number; NaN where it is none, or so large that an area would overflow. */
static double number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end != text && *end == '\0' && fabs(value) <= MAP_MOST_VALUE ? value : NAN;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static int find_column(const map_table *t, const char *name, size_t length)
{
    for (int i = 0; i < t->column_count; i++) {
        if (strlen(t->names[i]) == length && memcmp(t->names[i], name, length) == 0) {
            return i;
        }
    }
    return -1;
}

static perp_status require_column(const perp_map *m, const char *name, size_t length, int *column, perp_error *error)
{
    char word[128];
    *column = find_column(&m->table, name, length);
    if (*column >= 0) {
        return PERP_STATUS_OK;
    }
    snprintf(word, sizeof word, "%.*s", (int)(length > 100 ? 100 : length), name);
    perp_nearest nearest = perp_nearest_begin(word);
    for (int i = 0; i < m->table.column_count; i++) {
        perp_nearest_offer(&nearest, m->table.names[i]);
    }
    perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` has no column `%s`%s%s%s", m->name, word,
              nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
    return refuse(error);
}

/* "NAME=TEXT"; the longest name that there is. */
static perp_status split(const perp_map *m, const char *option, int *column, const char **text, perp_error *error)
{
    const char *found = NULL;
    for (const char *at = strchr(option, '='); at; at = strchr(at + 1, '=')) {
        found = !found || find_column(&m->table, option, (size_t)(at - option)) >= 0 ? at : found;
    }
    if (!found) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "`%.100s` should be NAME=VALUE, with the name of a column", option);
        return refuse(error);
    }
    *text = found + 1;
    return require_column(m, option, (size_t)(found - option), column, error);
}

static perp_status find_columns(perp_map *m, perp_error *error)
{
    const perp_map_options *o = &m->options;
    m->refined = find_column(&m->table, "refined", 7);
    perp_status status = require_column(m, o->x, strlen(o->x), &m->x, error);
    status = status == PERP_STATUS_OK ? require_column(m, o->y, strlen(o->y), &m->y, error) : status;
    for (int i = 0; i < o->label_count && status == PERP_STATUS_OK; i++) {
        int column;
        const char *text;
        status = split(m, o->labels[i], &column, &text, error);
    }
    if (status == PERP_STATUS_OK && m->x == m->y) {
        perp_fail(error, PERP_STATUS_BAD_INPUT, "a map is over two different columns, not twice over `%s`", o->x);
        status = refuse(error);
    }
    return status;
}

const char *perp_map_label(const perp_map *m, int column)
{
    for (int i = m->options.label_count - 1; i >= 0; i--) {
        int of;
        const char *text;
        if (split(m, m->options.labels[i], &of, &text, NULL) == PERP_STATUS_OK && of == column) {
            return text;
        }
    }
    return m->table.names[column];
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct map_rows {
    int count;
    int *rows;
} map_rows;

static bool same_value(const char *a, const char *b)
{
    const double x = number(a), y = number(b);
    return isnan(x) || isnan(y) ? strcmp(a, b) == 0 : x == y;
}

/* Those that the options leave. */
static perp_status choose_rows(perp_map *m, map_rows *rows, perp_error *error)
{
    const map_table *t = &m->table;
    rows->rows = PERP_ARENA_NEW(&m->arena, int, (size_t)t->row_count);
    if (!rows->rows) {
        return no_memory(error);
    }
    for (int i = 0; i < t->row_count; i++) {
        rows->rows[i] = i;
    }
    rows->count = t->row_count;
    for (int k = 0; k < m->options.at_count; k++) {
        int column, kept = 0;
        const char *value;
        const perp_status status = split(m, m->options.at[k], &column, &value, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        for (int i = 0; i < rows->count; i++) {
            if (same_value(perp_map_cell(t, rows->rows[i], column), value)) {
                rows->rows[kept++] = rows->rows[i];
            }
        }
        rows->count = kept;
        if (kept == 0) {
            perp_fail(error, PERP_STATUS_BAD_INPUT, "no row of `%s` has `%.100s`", m->name, m->options.at[k]);
            return refuse(error);
        }
    }
    return PERP_STATUS_OK;
}

static bool of_grid(const perp_map *m, int row)
{
    return m->refined < 0 || perp_map_cell(&m->table, row, m->refined)[0] == '\0';
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The different numbers of a column in the rows of the grid, rising. */
static perp_status gather_axis(perp_map *m, const map_rows *rows, int column, double **values, int *count,
                               perp_error *error)
{
    double *all = PERP_ARENA_NEW(&m->arena, double, (size_t)rows->count);
    int given = 0;
    if (!all) {
        return no_memory(error);
    }
    for (int i = 0; i < rows->count; i++) {
        const double value = number(perp_map_cell(&m->table, rows->rows[i], column));
        if (of_grid(m, rows->rows[i]) && isnan(value)) {
            perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` of a map has to be numbers up to %g, not `%.60s`",
                      m->table.names[column], MAP_MOST_VALUE, perp_map_cell(&m->table, rows->rows[i], column));
            return refuse(error);
        }
        if (of_grid(m, rows->rows[i])) {
            all[given++] = value + 0.0;
        }
    }
    perp_sort(all, given, sizeof *all, by_value);
    *count = 0;
    for (int i = 0; i < given; i++) {
        if (i == 0 || all[i] != all[i - 1]) {
            all[(*count)++] = all[i];
        }
    }
    *values = all;
    return PERP_STATUS_OK;
}

static perp_status gather_axes(perp_map *m, const map_rows *rows, perp_error *error)
{
    perp_status status = gather_axis(m, rows, m->x, &m->xs, &m->nx, error);
    status = status == PERP_STATUS_OK ? gather_axis(m, rows, m->y, &m->ys, &m->ny, error) : status;
    if (status == PERP_STATUS_OK && (m->nx < 2 || m->ny < 2)) {
        perp_fail(error, PERP_STATUS_BAD_INPUT,
                  "a map needs two values of `%s` and of `%s` at least; there are %d and %d", m->options.x,
                  m->options.y, m->nx, m->ny);
        return refuse(error);
    }
    m->halves = 1;
    for (int i = 0; i < rows->count && m->refined >= 0; i++) {
        const double level = number(perp_map_cell(&m->table, rows->rows[i], m->refined));
        while (level >= 1.0 && level <= 20.0 && m->halves < 1 << (int)level) {
            m->halves *= 2;
        }
    }
    return status;
}

/* ---- the lattice ------------------------------------------------------------------------------------------------- */

static double on_axis(const double *values, int halves, int at)
{
    const int cell = at / halves, within = at % halves;
    return within == 0 ? values[cell] : values[cell] + (values[cell + 1] - values[cell]) * within / halves;
}

double perp_map_x(const perp_map *m, int i)
{
    return on_axis(m->xs, m->halves, i);
}

double perp_map_y(const perp_map *m, int j)
{
    return on_axis(m->ys, m->halves, j);
}

uint64_t perp_map_place(const perp_map *m, int i, int j)
{
    return (uint64_t)i * (uint64_t)((m->ny - 1) * m->halves + 1) + (uint64_t)j;
}

/* The coordinate of a value on the lattice, with what is over; clamped to the axis. */
static double coordinate(const double *values, int count, int halves, double value)
{
    int low = 0, high = count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(value < values[middle] ? &high : &low) = middle;
    }
    const double share = (value - values[low]) / (values[high] - values[low]);
    return (low + fmax(0.0, fmin(1.0, share))) * halves;
}

static uint64_t place_of_row(const perp_map *m, int row)
{
    const double x = number(perp_map_cell(&m->table, row, m->x)), y = number(perp_map_cell(&m->table, row, m->y));
    return perp_map_place(m, (int)lround(coordinate(m->xs, m->nx, m->halves, x)),
                          (int)lround(coordinate(m->ys, m->ny, m->halves, y)));
}

static int by_place(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b; /* `place` stands first */
    return x < y ? -1 : x > y;
}

const map_point *perp_map_find(const perp_map *m, const map_layer *layer, int i, int j)
{
    const map_point wanted = {.place = perp_map_place(m, i, j)};
    return bsearch(&wanted, layer->points, (size_t)layer->point_count, sizeof wanted, by_place);
}

const map_change *perp_map_change(const perp_map *m, const map_layer *layer, int i, int j, int along_y)
{
    const map_change wanted = {.place = 2 * perp_map_place(m, i, j) + (along_y ? 1 : 0)};
    return layer->change_count > 0
               ? bsearch(&wanted, layer->changes, (size_t)layer->change_count, sizeof wanted, by_place)
               : NULL;
}

/* ---- what tells layers apart ------------------------------------------------------------------------------------- */

/* Of equal places which rows have equal values of `along` too? */
static int count_repeated(const perp_map *m, const map_rows *rows, int along, map_point *sorted)
{
    int count = 0, repeated = 0;
    for (int i = 0; i < rows->count; i++) {
        if (of_grid(m, rows->rows[i])) {
            sorted[count++] = (map_point){.place = place_of_row(m, rows->rows[i]), .kind = rows->rows[i]};
        }
    }
    perp_sort(sorted, count, sizeof *sorted, by_place);
    for (int i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && sorted[j].place == sorted[i].place; j++) {
            for (int k = i; k < j && along >= 0; k++) {
                repeated += same_value(perp_map_cell(&m->table, sorted[k].kind, along),
                                       perp_map_cell(&m->table, sorted[j].kind, along));
            }
            repeated += along < 0;
        }
    }
    return repeated;
}

static bool is_taken(const perp_map *m, int column)
{
    bool taken = column == m->x || column == m->y || column == m->refined ||
                 strcmp(m->table.names[column], "case") == 0 || strcmp(m->table.names[column], "error") == 0;
    for (int i = 0; i < m->options.output_count; i++) {
        taken = taken || strcmp(m->table.names[column], m->options.outputs[i]) == 0;
    }
    return taken;
}

/* The first column by which no point of the grid has two rows. */
static perp_status find_along(perp_map *m, const map_rows *rows, perp_error *error)
{
    map_point *sorted = PERP_ARENA_NEW(&m->arena, map_point, (size_t)rows->count);
    m->along = -1;
    if (!sorted) {
        return no_memory(error);
    }
    if (count_repeated(m, rows, -1, sorted) == 0) {
        return PERP_STATUS_OK;
    }
    for (int i = 0; i < m->table.column_count; i++) {
        if (!is_taken(m, i) && count_repeated(m, rows, i, sorted) == 0) {
            m->along = i;
            return PERP_STATUS_OK;
        }
    }
    perp_fail(
        error, PERP_STATUS_BAD_INPUT,
        "`%s` is no grid over `%s` and `%s`: it has several rows at the same point, and no other column tells them "
        "apart; choose among them with --at NAME=VALUE",
        m->name, m->options.x, m->options.y);
    return refuse(error);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static int kind_of(perp_map *m, const char *word)
{
    if (word[0] == '\0') {
        return MAP_MISSING;
    }
    for (int i = 1; i < m->kind_count; i++) {
        if (same_value(m->kinds[i], word)) {
            return i;
        }
    }
    if (m->kind_count < MAP_MOST_KINDS) {
        m->kinds[m->kind_count] = word;
    }
    return m->kind_count < MAP_MOST_KINDS ? m->kind_count++ : -1;
}

/* Numbers are measured; a few whole ones are counts or truth values, and stand for themselves as words do, unless
 * levels are asked for. */
static bool are_numbers(const perp_map *m, const map_rows *rows, int column)
{
    double seen[MAP_MOST_WHOLE];
    int count = 0;
    bool whole = true, any = false;
    for (int i = 0; i < rows->count; i++) {
        const char *cell = perp_map_cell(&m->table, rows->rows[i], column);
        const double value = number(cell);
        if (cell[0] && isnan(value)) {
            return false;
        }
        if (cell[0]) {
            int k = 0;
            for (; k < count && seen[k] != value; k++) {
            }
            whole = whole && value == floor(value) && k < MAP_MOST_WHOLE;
            any = true;
            if (whole && k == count) {
                seen[count++] = value;
            }
        }
    }
    return any && (!whole || m->options.level_count > 0);
}

static bool of_layer(const perp_map *m, const map_layer *layer, int row)
{
    return !layer->at || same_value(perp_map_cell(&m->table, row, m->along), layer->at);
}

/* A pair of rows, before and behind a change of this output. */
static bool is_change(const perp_map *m, const map_layer *layer, const map_rows *rows, int index)
{
    const char *name = m->table.names[layer->output];
    return m->refined >= 0 && index + 1 < rows->count && rows->rows[index + 1] == rows->rows[index] + 1 &&
           strcmp(perp_map_cell(&m->table, rows->rows[index], m->refined), name) == 0 &&
           strcmp(perp_map_cell(&m->table, rows->rows[index + 1], m->refined), name) == 0;
}

static void add_change(const perp_map *m, map_layer *layer, int row)
{
    double at[2];
    for (int k = 0; k < 2; k++) {
        const int column = k ? m->y : m->x;
        at[k] =
            0.5 * (number(perp_map_cell(&m->table, row, column)) + number(perp_map_cell(&m->table, row + 1, column)));
    }
    const bool along_y = strcmp(perp_map_cell(&m->table, row, m->x), perp_map_cell(&m->table, row + 1, m->x)) == 0;
    const double i = coordinate(m->xs, m->nx, m->halves, at[0]), j = coordinate(m->ys, m->ny, m->halves, at[1]);
    const uint64_t place = perp_map_place(m, along_y ? (int)lround(i) : (int)i, along_y ? (int)j : (int)lround(j));
    layer->changes[layer->change_count++] = (map_change){2 * place + (along_y ? 1 : 0), {at[0], at[1]}};
}

static perp_status fill_layer(perp_map *m, map_layer *layer, const map_rows *rows, perp_error *error)
{
    layer->points = PERP_ARENA_NEW(&m->arena, map_point, (size_t)rows->count);
    layer->changes = PERP_ARENA_NEW(&m->arena, map_change, (size_t)rows->count);
    if (!layer->points || !layer->changes) {
        return no_memory(error);
    }
    layer->numbers = are_numbers(m, rows, layer->output);
    for (int i = 0; i < rows->count; i++) {
        const int row = rows->rows[i];
        if (!of_layer(m, layer, row)) {
            continue;
        }
        if (is_change(m, layer, rows, i)) {
            add_change(m, layer, row);
            i++;
            continue;
        }
        if (!of_grid(m, row) && isnan(number(perp_map_cell(&m->table, row, m->refined)))) {
            continue; /* a change of another output */
        }
        const char *cell = perp_map_cell(&m->table, row, layer->output);
        const int kind = layer->numbers ? MAP_MISSING : kind_of(m, cell);
        if (kind < 0) {
            perp_fail(error, PERP_STATUS_BAD_INPUT, "a map shows %d different words at most; `%s` has more",
                      MAP_MOST_KINDS - 1, m->table.names[layer->output]);
            return refuse(error);
        }
        layer->points[layer->point_count++] = (map_point){place_of_row(m, row), kind, number(cell)};
    }
    perp_sort(layer->points, layer->point_count, sizeof *layer->points, by_place);
    perp_sort(layer->changes, layer->change_count, sizeof *layer->changes, by_place);
    return PERP_STATUS_OK;
}

/* At least half of the grid's points have to be there: what is missing is shown. */
static perp_status check_grid(const perp_map *m, const map_layer *layer, perp_error *error)
{
    int there = 0;
    for (int i = 0; i < m->nx; i++) {
        for (int j = 0; j < m->ny; j++) {
            there += perp_map_find(m, layer, i * m->halves, j * m->halves) != NULL;
        }
    }
    if (2 * (double)there >= (double)m->nx * m->ny) {
        return PERP_STATUS_OK;
    }
    perp_fail(
        error, PERP_STATUS_BAD_INPUT,
        "`%s` is no grid over `%s` and `%s`: of %d times %d points %d are there; a sweep's `axes` make a grid, its "
        "`sample` does not",
        m->name, m->options.x, m->options.y, m->nx, m->ny, there);
    return refuse(error);
}

static void choose_levels(perp_map *m, map_layer *layer)
{
    plot_range range = perp_plot_range_empty();
    for (int i = 0; i < layer->point_count; i++) {
        perp_plot_range_see(&range, layer->points[i].value);
    }
    layer->low = range.low;
    layer->high = range.high;
    for (int i = 0; i < m->options.level_count; i++) {
        layer->levels[layer->level_count++] = m->options.levels[i];
    }
    if (m->options.level_count > 0 || !(range.high > range.low)) {
        return;
    }
    const double step = perp_plot_round_down((range.high - range.low) / 6.0);
    const double first = ceil(range.low / step + TICK_ROUNDING), last = floor(range.high / step - TICK_ROUNDING);
    for (double k = first; k <= last && layer->level_count < MAP_MOST_LEVELS; k += 1.0) {
        layer->levels[layer->level_count++] = k * step + 0.0;
    }
}

static perp_status add_layer(perp_map *m, int output, const char *at, const map_rows *rows, perp_error *error)
{
    if (m->layer_count == MAP_MOST_LAYERS) {
        perp_fail(error, PERP_STATUS_BAD_INPUT,
                  "a map has %d layers at most: choose among the values of `%s` with --at", MAP_MOST_LAYERS,
                  m->along >= 0 ? m->table.names[m->along] : "the table");
        return refuse(error);
    }
    map_layer *layer = &m->layers[m->layer_count++];
    layer->output = output;
    layer->at = at;
    perp_status status = fill_layer(m, layer, rows, error);
    status = status == PERP_STATUS_OK ? check_grid(m, layer, error) : status;
    if (status == PERP_STATUS_OK && layer->numbers) {
        choose_levels(m, layer);
    }
    return status;
}

static int by_number_then_text(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const double p = number(x), q = number(y);
    return isnan(p) || isnan(q) ? strcmp(x, y) : p < q ? -1 : p > q;
}

/* In an order that does not depend on which row comes first. */
static void sort_kinds(perp_map *m)
{
    const char *sorted[MAP_MOST_KINDS];
    int names[MAP_MOST_KINDS] = {0};
    memcpy(sorted, m->kinds, sizeof sorted);
    perp_sort(sorted + 1, m->kind_count - 1, sizeof *sorted, by_number_then_text);
    for (int k = 1; k < m->kind_count; k++) {
        for (int i = 1; i < m->kind_count; i++) {
            names[k] = sorted[i] == m->kinds[k] ? i : names[k];
        }
    }
    for (int k = 0; k < m->layer_count; k++) {
        for (int i = 0; i < m->layers[k].point_count; i++) {
            m->layers[k].points[i].kind = names[m->layers[k].points[i].kind];
        }
    }
    memcpy(m->kinds, sorted, sizeof sorted);
}

static perp_status add_layers(perp_map *m, int output, const map_rows *rows, perp_error *error)
{
    if (m->along < 0) {
        return add_layer(m, output, NULL, rows, error);
    }
    perp_status status = PERP_STATUS_OK;
    const int first = m->layer_count;
    for (int i = 0; i < rows->count && status == PERP_STATUS_OK; i++) {
        const char *value = perp_map_cell(&m->table, rows->rows[i], m->along);
        bool known = false;
        for (int k = first; k < m->layer_count; k++) {
            known = known || same_value(m->layers[k].at, value);
        }
        status = known ? status : add_layer(m, output, value, rows, error);
    }
    return status;
}

perp_status perp_map_load(perp_map *m, perp_error *error)
{
    map_rows rows = {0};
    m->kinds[MAP_MISSING] = "no value";
    m->kind_count = 1;
    perp_status status = find_columns(m, error);
    status = status == PERP_STATUS_OK ? choose_rows(m, &rows, error) : status;
    status = status == PERP_STATUS_OK ? gather_axes(m, &rows, error) : status;
    status = status == PERP_STATUS_OK ? find_along(m, &rows, error) : status;
    for (int k = 0; k < m->options.output_count && status == PERP_STATUS_OK; k++) {
        const char *name = m->options.outputs[k];
        int column;
        status = require_column(m, name, strlen(name), &column, error);
        status = status == PERP_STATUS_OK ? add_layers(m, column, &rows, error) : status;
    }
    if (status == PERP_STATUS_OK) {
        sort_kinds(m);
    }
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

void perp_map_layer_name(const perp_map *m, const map_layer *layer, char *text, size_t size)
{
    if (!layer->at) {
        snprintf(text, size, "%s", perp_map_label(m, layer->output));
    } else if (m->options.output_count == 1) {
        snprintf(text, size, "%s = %s", perp_map_label(m, m->along), layer->at);
    } else {
        snprintf(text, size, "%s, %s = %s", perp_map_label(m, layer->output), perp_map_label(m, m->along), layer->at);
    }
}

int perp_map_kind_count(const perp_map *m, const map_layer *layer)
{
    return layer->numbers ? layer->level_count + 2 : m->kind_count;
}

void perp_map_kind_name(const perp_map *m, const map_layer *layer, int kind, char *text, size_t size)
{
    if (kind == MAP_MISSING || !layer->numbers) {
        snprintf(text, size, "%s", m->kinds[kind]);
    } else if (layer->level_count == 0) {
        snprintf(text, size, "%.4g", layer->low);
    } else if (kind == 1) {
        snprintf(text, size, "below %.6g", layer->levels[0]);
    } else if (kind == layer->level_count + 1) {
        snprintf(text, size, "above %.6g", layer->levels[layer->level_count - 1]);
    } else {
        snprintf(text, size, "%.6g to %.6g", layer->levels[kind - 2], layer->levels[kind - 1]);
    }
}
