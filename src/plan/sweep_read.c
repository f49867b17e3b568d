/* The file of a sweep: from nodes to axes, samples and expressions. */
#include "plan/sweep.h"
#include "plan/tolerances.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static perp_sweep *sweep_of(decoder *d)
{
    return d->context;
}

void perp_sweep_report(const perp_sweep *sweep, perp_diagnostics *diagnostics, const yaml_node *node, int column,
                       const char *format, ...)
{
    char message[512], path[256] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int line = 1, place = 1;
    if (node) {
        perp_yaml_tree_place(node, &line, &place);
        perp_yaml_tree_path(node, path, sizeof path);
        place += column > 0 ? column - 1 + (node->quoted ? 1 : 0) : 0;
    }
    perp_diagnostics_add(diagnostics, PERP_SEVERITY_ERROR, sweep->name, line, place, path, "%s", message);
}

/* ---- lists of things with names ---------------------------------------------------------------------------------- */

/* The elements of a mapping, in an array of `size` each; NULL without room or where it is no mapping. */
static void *named(decoder *d, const yaml_node *node, size_t size, const char *what, int *count)
{
    *count = 0;
    if (node->kind != YAML_MAP && !perp_yaml_tree_is_null(node)) {
        perp_decode_expected(d, node, what);
        return NULL;
    }
    void *elements = perp_decode_memory(d, node->count, size);
    *count = elements ? node->count : 0;
    return elements;
}

/* A value as `--set` takes it. */
static bool value_text(decoder *d, const yaml_node *node, const char **text)
{
    if (node->kind != YAML_SCALAR || perp_yaml_tree_is_null(node)) {
        return perp_decode_error(d, node, "expected a plain value: a number, a word, true or false");
    }
    if (strpbrk(node->text, "\n\r")) {
        return perp_decode_error(d, node, "a value is a single line");
    }
    *text = node->text;
    return true;
}

static bool read_set(decoder *d, const yaml_node *node, void *target)
{
    perp_sweep *s = sweep_of(d);
    (void)target;
    s->settings = named(d, node, sizeof *s->settings, "a mapping PATH: VALUE", &s->setting_count);
    bool good = s->settings != NULL;
    int i = 0;
    for (const yaml_node *child = good ? node->first : NULL; child; child = child->next, i++) {
        s->settings[i] = (sweep_setting){.path = child->key, .node = child};
        good = value_text(d, child, &s->settings[i].value) && good;
    }
    return good;
}

static bool read_expressions(decoder *d, const yaml_node *node, sweep_expression **list, int *count)
{
    *list = named(d, node, sizeof **list, "a mapping of names to expressions", count);
    bool good = *list != NULL;
    int i = 0;
    for (const yaml_node *child = good ? node->first : NULL; child; child = child->next, i++) {
        (*list)[i] = (sweep_expression){.name = child->key, .node = child};
        good = (child->kind == YAML_SCALAR && !perp_yaml_tree_is_null(child)
                    ? true
                    : perp_decode_error(d, child, "expected an expression, such as \"cup.x\"")) &&
               good;
        (*list)[i].text = child->kind == YAML_SCALAR ? child->text : "0";
    }
    return good;
}

static bool read_derive(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_expressions(d, node, &sweep_of(d)->derived, &sweep_of(d)->derived_count);
}

static bool read_outputs(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_expressions(d, node, &sweep_of(d)->outputs, &sweep_of(d)->output_count) &&
           (sweep_of(d)->output_count > 0 || perp_decode_error(d, node, "at least one output is needed"));
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

typedef struct axis_range {
    sweep_axis *axis;
    bool has_from, has_to;
    double from, to;
    int count;
    const yaml_node *values;
} axis_range;

static bool read_paths(decoder *d, const yaml_node *node, void *target)
{
    sweep_paths *to_set = &((axis_range *)target)->axis->to_set;
    const bool list = node->kind == YAML_LIST;
    to_set->paths = perp_decode_memory(d, list ? node->count : 1, sizeof *to_set->paths);
    if (!to_set->paths) {
        return false;
    }
    bool good = true;
    for (const yaml_node *child = list ? node->first : node; child; child = list ? child->next : NULL) {
        if (child->kind != YAML_SCALAR || perp_yaml_tree_is_null(child) || strchr(child->text, '=')) {
            good = perp_decode_error(d, child, "expected a path such as contacts.friction, or a list of paths");
        } else {
            to_set->paths[to_set->count++] = child->text;
        }
    }
    return good;
}

static bool read_from(decoder *d, const yaml_node *node, void *target)
{
    axis_range *r = target;
    r->has_from = true;
    return perp_read_real(d, node, &r->from);
}

static bool read_to(decoder *d, const yaml_node *node, void *target)
{
    axis_range *r = target;
    r->has_to = true;
    return perp_read_real(d, node, &r->to);
}

static bool read_count(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_int(d, node, target) &&
           ((*(int *)target >= 1 && *(int *)target <= PERP_SWEEP_MOST_CASES) ||
            perp_decode_error(d, node, "`count` is a number from 1 to %d", PERP_SWEEP_MOST_CASES));
}

static bool note_values(decoder *d, const yaml_node *node, void *target)
{
    ((axis_range *)target)->values = node;
    return perp_expect_list(d, node, "a list of values") &&
           (node->count > 0 || perp_decode_error(d, node, "at least one value is needed"));
}

static const key_spec axis_keys[] = {
    {"path", "PATH or [PATH, ..]", "", "what takes the value; none: only expressions use it", read_paths, 0, 0},
    {"from", "a", "", "the first value", read_from, 0, 0},
    {"to", "b", "", "the last value", read_to, 0, 0},
    {"count", "n", "", "how many, evenly spaced", read_count, offsetof(axis_range, count), 0},
    {"values", "[a, b, ..]", "", "instead of from, to and count", note_values, 0, 0},
};
#define TABLE(title, keys)                                                                                             \
    {                                                                                                                  \
        title, keys, (int)(sizeof(keys) / sizeof *(keys))                                                              \
    }
static const key_table axis_table = TABLE("an axis", axis_keys);

/* The texts of from .. to. */
static bool spread(decoder *d, const axis_range *r)
{
    sweep_axis *axis = r->axis;
    axis->values = perp_decode_memory(d, r->count, sizeof *axis->values);
    axis->numbers = perp_decode_memory(d, r->count, sizeof *axis->numbers);
    for (int i = 0; axis->values && axis->numbers && i < r->count; i++) {
        const double share = r->count > 1 ? (double)i / (r->count - 1) : 0.0;
        const double value = share == 1.0 ? r->to : r->from + (r->to - r->from) * share;
        char text[PERP_REAL_TEXT];
        const int length = perp_real_text(value + 0.0, text);
        axis->numbers[i] = value + 0.0;
        axis->values[i] = perp_arena_text(d->arena, text, (size_t)length);
        d->out_of_memory = d->out_of_memory || !axis->values[i];
        axis->count = i + 1;
    }
    return !d->out_of_memory;
}

static bool listed(decoder *d, const axis_range *r)
{
    sweep_axis *axis = r->axis;
    axis->values = perp_decode_memory(d, r->values->count, sizeof *axis->values);
    axis->numbers = perp_decode_memory(d, r->values->count, sizeof *axis->numbers);
    bool good = axis->values && axis->numbers;
    for (const yaml_node *child = good ? r->values->first : NULL; child; child = child->next) {
        good = value_text(d, child, &axis->values[axis->count]) && good;
        axis->numbers[axis->count++] = perp_is_number(child) ? strtod(child->text, NULL) : NAN;
    }
    return good;
}

static bool read_axis(decoder *d, const yaml_node *node, sweep_axis *axis)
{
    axis_range r = {.axis = axis};
    axis->name = node->key;
    axis->node = node;
    if (!perp_read_map(d, node, &axis_table, &r)) {
        return false;
    }
    const bool range = r.has_from && r.has_to && r.count > 0, any = r.has_from || r.has_to || r.count > 0;
    if (r.values ? any : !range) {
        return perp_decode_error(d, node, "an axis has `values`, or `from`, `to` and `count`");
    }
    return r.values ? listed(d, &r) : spread(d, &r);
}

static bool read_axes(decoder *d, const yaml_node *node, void *target)
{
    perp_sweep *s = sweep_of(d);
    (void)target;
    s->axes = named(d, node, sizeof *s->axes, "a mapping NAME: {path, from, to, count}", &s->axis_count);
    bool good = s->axes != NULL;
    int i = 0;
    for (const yaml_node *child = good ? node->first : NULL; child; child = child->next, i++) {
        good = read_axis(d, child, &s->axes[i]) && good;
    }
    return good;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static bool read_seed(decoder *d, const yaml_node *node, void *target)
{
    int seed;
    (void)target;
    if (!perp_read_int(d, node, &seed)) {
        return false;
    }
    sweep_of(d)->seed = (uint64_t)(int64_t)seed;
    return true;
}

static bool read_sampled(decoder *d, const yaml_node *node, void *target)
{
    perp_sweep *s = sweep_of(d);
    (void)target;
    s->sampled = named(d, node, sizeof *s->sampled, "a mapping PATH: [lo, hi]", &s->sampled_count);
    bool good = s->sampled != NULL;
    int i = 0;
    for (const yaml_node *child = good ? node->first : NULL; child; child = child->next, i++) {
        double range[2] = {0.0, 1.0};
        good = perp_read_reals(d, child, range, 2) &&
               (range[0] < range[1] || perp_decode_error(d, child, "of [lo, hi], lo has to be below hi")) && good;
        s->sampled[i] = (sweep_sampled){child->key, range[0], range[1], child};
    }
    return good;
}

static const key_spec sample_keys[] = {
    {"count", "1000", "", "samples of each point of the grid", read_count, offsetof(perp_sweep, samples), KEY_REQUIRED},
    {"seed", "1", "0", "of the random numbers", read_seed, 0, 0},
    {"paths", "{PATH: [lo, hi], ..}", "", "uniform in [lo, hi)", read_sampled, 0, KEY_REQUIRED},
};
static const key_table sample_table = TABLE("sample", sample_keys);

static bool read_sample(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &sample_table, target);
}

/* ---- refining ---------------------------------------------------------------------------------------------------- */

/* Names now; what they are is found when all outputs are read. */
static bool read_refined(decoder *d, const yaml_node *node, void *target)
{
    sweep_refining *refine = target;
    refine->node = node;
    refine->outputs = perp_decode_memory(d, node->kind == YAML_LIST ? node->count : 1, sizeof *refine->outputs);
    return refine->outputs != NULL;
}

static bool read_levels(decoder *d, const yaml_node *node, void *target)
{
    int *levels = target;
    return perp_read_int(d, node, levels) &&
           ((*levels >= 0 && *levels <= PERP_SWEEP_MOST_LEVELS) ||
            perp_decode_error(d, node, "`levels` is a number from 0 to %d", PERP_SWEEP_MOST_LEVELS));
}

static bool read_share(decoder *d, const yaml_node *node, void *target)
{
    double *share = target;
    return perp_read_real(d, node, share) &&
           ((*share > 0.0 && *share < 1.0) ||
            perp_decode_error(d, node, "`tolerance` is a share of the axis, above 0 and below 1"));
}

static const key_spec refine_keys[] = {
    {"outputs", "NAME or [NAME, ..]", "", "whose changes are looked for", read_refined, 0, KEY_REQUIRED},
    {"levels", "3", "3", "cells with a change are halved so often", read_levels, offsetof(sweep_refining, levels), 0},
    {"tolerance", "1.0e-8", "1.0e-8", "of an axis: the change is then found along edges of cells", read_share,
     offsetof(sweep_refining, tolerance), 0},
};
static const key_table refine_table = TABLE("refine", refine_keys);

static bool read_refine(decoder *d, const yaml_node *node, void *target)
{
    sweep_refining *refine = target;
    *refine = (sweep_refining){.levels = 3, .tolerance = CHANGE_NEAR};
    return perp_read_map(d, node, &refine_table, refine);
}

static bool find_refined(perp_sweep *s, decoder *d, const yaml_node *node)
{
    perp_nearest nearest = perp_nearest_begin(node->kind == YAML_SCALAR ? node->text : "");
    for (int i = 0; i < s->output_count; i++) {
        if (node->kind == YAML_SCALAR && strcmp(s->outputs[i].name, node->text) == 0) {
            s->refine.outputs[s->refine.output_count++] = i;
            return true;
        }
        perp_nearest_offer(&nearest, s->outputs[i].name);
    }
    return perp_decode_error(d, node, "`refine` takes names of outputs; this is none%s%s%s",
                             nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "",
                             nearest.name ? "`?" : "");
}

/* Of the last two axes, which have to be numbers that rise. */
static bool check_plane(const perp_sweep *s, decoder *d)
{
    if (s->axis_count < 2 || s->sampled_count > 0) {
        return perp_decode_error(d, s->refine.node, "`refine` needs a grid of at least two axes, without samples");
    }
    for (int i = s->axis_count - 2; i < s->axis_count; i++) {
        const sweep_axis *axis = &s->axes[i];
        bool rises = axis->count > 1 && axis->count <= PERP_SWEEP_MOST_CASES >> s->refine.levels;
        for (int k = 1; k < axis->count && rises; k++) {
            rises = axis->numbers[k] > axis->numbers[k - 1];
        }
        if (!rises) {
            return perp_decode_error(d, axis->node,
                                     "`refine` looks between the values of the last two axes, which have to be numbers "
                                     "that rise");
        }
    }
    return true;
}

static bool check_refine(perp_sweep *s, decoder *d)
{
    const yaml_node *node = s->refine.node;
    if (!node) {
        return true;
    }
    bool good = check_plane(s, d);
    const bool list = node->kind == YAML_LIST;
    for (const yaml_node *child = list ? node->first : node; child; child = list ? child->next : NULL) {
        good = find_refined(s, d, child) && good;
    }
    return good && (s->refine.output_count > 0 || perp_decode_error(d, node, "at least one output is needed"));
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool read_version(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_int(d, node, target) && (*(int *)target == 1 || perp_decode_error(d, node,
                                                                                       "this is version 1 of the "
                                                                                       "format; write "
                                                                                       "`perp-sweep: 1`"));
}

static const key_spec sweep_keys[] = {
    {"perp-sweep", "1", "", "the version of this format", read_version, offsetof(perp_sweep, version), KEY_REQUIRED},
    {"scene", "FILE", "", "relative to this file", perp_read_text, offsetof(perp_sweep, scene), KEY_REQUIRED},
    {"set", "{PATH: VALUE, ..}", "{}", "of every case", read_set, 0, 0},
    {"axes", "{NAME: {path: PATH, from: a, to: b, count: n}, ..}", "{}", "the grid", read_axes, 0, 0},
    {"sample", "{count: n, seed: 1, paths: {PATH: [lo, hi]}}", "", "samples", read_sample, 0, 0},
    {"derive", "{PATH: EXPRESSION, ..}", "{}", "settings by axes and samples", read_derive, 0, 0},
    {"outputs", "{NAME: EXPRESSION, ..}", "", "what is computed", read_outputs, 0, KEY_REQUIRED},
    {"refine", "{outputs: NAME, levels: 3, tolerance: 1.0e-8}", "", "where outputs change over the last two axes",
     read_refine, offsetof(perp_sweep, refine), 0},
};
static const key_table sweep_table = TABLE("a sweep", sweep_keys);

static bool is_own_column(const char *name)
{
    return strcmp(name, "case") == 0 || strcmp(name, "error") == 0 || strcmp(name, "refined") == 0;
}

/* One column a name. */
static bool check_columns(perp_sweep *s, decoder *d)
{
    bool good = true;
    for (int k = 0; k < s->axis_count; k++) {
        good = (!is_own_column(s->axes[k].name) ||
                perp_decode_error(d, s->axes[k].node, "`%s` is a column of its own; give the axis another name",
                                  s->axes[k].name)) &&
               good;
    }
    for (int i = 0; i < s->output_count; i++) {
        const char *name = s->outputs[i].name, *before = is_own_column(name) ? "is a column of its own" : NULL;
        for (int k = 0; k < s->axis_count && !before; k++) {
            before = strcmp(s->axes[k].name, name) == 0 ? "is the name of an axis" : NULL;
        }
        for (int k = 0; k < s->sampled_count && !before; k++) {
            before = strcmp(s->sampled[k].path, name) == 0 ? "is a sampled path" : NULL;
        }
        good = (!before ||
                perp_decode_error(d, s->outputs[i].node, "`%s` %s; give the output another name", name, before)) &&
               good;
    }
    return good;
}

static bool count_cases(perp_sweep *s, decoder *d, const yaml_node *root)
{
    double cases = s->samples;
    for (int i = 0; i < s->axis_count; i++) {
        cases *= s->axes[i].count;
    }
    s->cases = cases <= PERP_SWEEP_MOST_CASES ? (int)cases : 0;
    return s->cases > 0 ||
           perp_decode_error(d, root, "these are %.4g cases; at most %d are possible", cases, PERP_SWEEP_MOST_CASES);
}

/* The names that `derive` knows: axes, then samples. */
static int find_parameter(void *context, const char *name, size_t length, perp_error *error)
{
    const perp_sweep *s = context;
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)(length > 100 ? 100 : length), name);
    perp_nearest nearest = perp_nearest_begin(word);
    for (int i = 0; i < s->axis_count + s->sampled_count; i++) {
        const char *known = i < s->axis_count ? s->axes[i].name : s->sampled[i - s->axis_count].path;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return i;
        }
        perp_nearest_offer(&nearest, known);
    }
    perp_fail(error, PERP_STATUS_BAD_INPUT, "`derive` knows axes and sampled paths; there is no `%s`%s%s%s", word,
              nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
    return -1;
}

static bool parse_derived(perp_sweep *s, decoder *d)
{
    const expression_names names = {s, find_parameter};
    bool good = true;
    for (int i = 0; i < s->derived_count; i++) {
        perp_error error = {0};
        const perp_status status =
            perp_expression_parse(s->derived[i].text, &names, d->arena, &s->derived[i].parsed, &error);
        d->out_of_memory = d->out_of_memory || status == PERP_STATUS_OUT_OF_MEMORY;
        if (status == PERP_STATUS_BAD_INPUT) {
            perp_sweep_report(s, d->diagnostics, s->derived[i].node, error.column, "%s", error.message);
        }
        good = good && status == PERP_STATUS_OK;
    }
    return good;
}

static bool list_models(perp_sweep *s, decoder *d)
{
    s->models = perp_decode_memory(d, perp_rung_count() + 1, sizeof *s->models);
    for (int i = 0; s->models && i < perp_rung_count(); i++) {
        s->models[i] = perp_rung_at(i)->name;
    }
    return s->models != NULL;
}

bool perp_sweep_read(perp_sweep *s, perp_diagnostics *diagnostics, const yaml_node *root)
{
    decoder d = {.diagnostics = diagnostics, .arena = &s->arena, .context = s};
    s->samples = 1;
    s->refine.levels = -1;
    s->root = root;
    bool good = list_models(s, &d) && perp_read_map(&d, root, &sweep_table, s);
    good = good && check_columns(s, &d);
    good = good && count_cases(s, &d, root);
    good = good && parse_derived(s, &d);
    good = good && check_refine(s, &d);
    return good && !d.out_of_memory;
}
