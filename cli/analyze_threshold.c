/* perp analyze --threshold: at which value of a path, or of all friction, verdicts flip. The range is sampled; between
 * two neighbours with different verdicts the flip is closed in on by bisection, every verdict being that of an analysis
 * at the value itself. Of a state later than the start the analysis is of that very state with another value; at the
 * start the value may change the state too. */
#include "analyze_state.h"

#include <jansson.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 41,
    BISECTIONS_MOST = 80,
    FLIPS_BETWEEN = 4, /* two samples */
    NAME_SIZE = 400
};
/* of the value, or of a thousandth of the range near 0: where bisection ends; of the value: what words show as one. */
static const double RESOLUTION = 1e-12, SHOWN_AS_ONE = 1e-8;

typedef struct searching {
    const cli_arguments *arguments;
    const cli_threshold *threshold;
    double at;
    const analyze_state *state;
    cli_settings settings; /* of the command line, and room for one a path behind them */
    int own;               /* of the command line */
    char **paths;
    int path_count;
    json_t *flips;
} searching;

/* ---- usage --------------------------------------------------------------------------------------------------------
 */

int cli_threshold_usage(const cli_arguments *a, cli_threshold *threshold)
{
    const char *range = cli_value(a, "--range");
    *threshold = (cli_threshold){.of = cli_value(a, "--threshold"), .verdict = cli_value(a, "--verdict"), .to = 2.0};
    if (!threshold->of && (range || threshold->verdict)) {
        return cli_fail(EXIT_USAGE, "analyze: --range and --verdict belong to --threshold");
    }
    if (threshold->of && !range && strcmp(threshold->of, "mu") != 0) {
        return cli_fail(EXIT_USAGE, "analyze: --threshold %s needs --range FROM,TO", threshold->of);
    }
    if (range) {
        char *end, *last = NULL;
        threshold->from = strtod(range, &end);
        threshold->to = *end == ',' && end > range ? strtod(end + 1, &last) : NAN;
        if (!last || last == end + 1 || *last || !isfinite(threshold->from) || !isfinite(threshold->to) ||
            !(threshold->from < threshold->to)) {
            return cli_fail(EXIT_USAGE, "analyze: --range is FROM,TO, two numbers such as 0,1, not `%s`", range);
        }
    }
    return EXIT_DONE;
}

/* ---- what takes the value -----------------------------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static bool add_path(searching *s, const char *format, ...)
{
    char **more = realloc(s->paths, (size_t)(s->path_count + 1) * sizeof *more);
    char *path = malloc(NAME_SIZE);
    s->paths = more ? more : s->paths;
    if (!more || !path) {
        free(path);
        return false;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, NAME_SIZE, format, arguments);
    va_end(arguments);
    s->paths[s->path_count++] = path;
    return true;
}

/* The scene's friction, and that of every shape and pair that has its own. */
static bool add_all_friction(searching *s)
{
    const perp_scene *scene = s->state->scene;
    bool added = add_path(s, "contacts.friction");
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count && added; i++) {
            if (scene->bodies[b].shapes[i].friction.set) {
                added = add_path(s, "bodies.%s.shapes.%d.friction", scene->bodies[b].name, i);
            }
        }
    }
    for (int i = 0; i < scene->pair_count && added; i++) {
        if (scene->pairs[i].friction.set) {
            added = add_path(s, "contacts.pairs.%s %s.friction", scene->pairs[i].a, scene->pairs[i].b);
        }
    }
    return added;
}

static bool open_search(searching *s)
{
    const bool named = strcmp(s->threshold->of, "mu") == 0 ? add_all_friction(s) : add_path(s, "%s", s->threshold->of);
    const bool collected = cli_settings_collect(s->arguments, &s->settings);
    s->own = s->settings.count;
    char **more = collected ? realloc(s->settings.texts, (size_t)(s->own + s->path_count) * sizeof *more) : NULL;
    s->settings.texts = more ? more : s->settings.texts;
    s->flips = json_array();
    return named && more && s->flips;
}

static void close_search(searching *s)
{
    cli_settings_free(&s->settings);
    for (int i = 0; i < s->path_count; i++) {
        free(s->paths[i]);
    }
    free(s->paths);
    json_decref(s->flips);
}

/* ---- one value -----------------------------------------------------------------------------------------------------
 */

/* All verdicts of an analysis by their paths: texts, and true or false. */
static bool flatten(const char *path, json_t *value, json_t *into)
{
    char name[NAME_SIZE];
    const char *key;
    json_t *child;
    if (json_is_boolean(value) || json_is_string(value)) {
        return json_object_set(into, path, value) == 0;
    }
    bool good = true;
    json_object_foreach(value, key, child)
    {
        snprintf(name, sizeof name, "%s.%s", path, key);
        good = good && flatten(name, child, into);
    }
    return good;
}

static bool keep_verdicts(const analyze_state *state, const char *const *sections, json_t *into)
{
    char *text = perp_analysis_json(state->analysis, NULL);
    json_t *all = text ? json_loads(text, 0, NULL) : NULL;
    bool good = all != NULL;
    for (int i = 0; sections[i] && good; i++) {
        good = flatten(sections[i], json_object_get(all, sections[i]), into);
    }
    json_decref(all);
    perp_text_free(text);
    return good;
}

static perp_status set_value(searching *s, double value)
{
    while (s->settings.count > s->own) {
        free(s->settings.texts[--s->settings.count]);
    }
    for (int i = 0; i < s->path_count; i++) {
        char *text = malloc(NAME_SIZE + 32);
        if (!text) {
            return PERP_STATUS_OUT_OF_MEMORY;
        }
        snprintf(text, NAME_SIZE + 32, "%s=%.17g", s->paths[i], value);
        s->settings.texts[s->settings.count++] = text;
    }
    return PERP_STATUS_OK;
}

/* Adds the verdicts of some sections at a value; those that cannot be had there are missing. */
static perp_status ask(searching *s, unsigned certificates, const char *const *sections, json_t *into,
                       perp_error *error)
{
    analyze_state state;
    const perp_status status =
        cli_analyze_open(s->arguments, &s->settings, s->at, s->at > 0.0 ? s->state : NULL, certificates, &state);
    const bool kept = status != PERP_STATUS_OK || keep_verdicts(&state, sections, into);
    if (status != PERP_STATUS_OK) {
        *error = state.error;
    }
    cli_analyze_close(&state);
    if (!kept) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a threshold");
    }
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED || status == PERP_STATUS_BAD_INPUT
               ? status
               : PERP_STATUS_OK;
}

static bool asked_for(const searching *s, const char *name)
{
    const char *wanted = s->threshold->verdict;
    const size_t length = wanted ? strlen(wanted) : 0;
    return !wanted || (strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.'));
}

/* Closure is asked for by itself: it needs no step, and has verdicts where the step has none. `verdict` NULL: all. */
static perp_status verdicts_at(searching *s, double value, const char *verdict, json_t **out, perp_error *error)
{
    static const char *const of_closure[] = {"closure", NULL}, *const of_step[] = {"existence", "uniqueness",
                                                                                   "rigidity", NULL};
    const char *wanted = verdict ? verdict : s->threshold->verdict;
    const bool closure = !wanted || strncmp(wanted, "closure", 7) == 0;
    const bool step = !wanted || !closure;
    perp_status status = set_value(s, value);
    *out = json_object();
    if (status == PERP_STATUS_OK && closure) {
        status = ask(s, PERP_CERTIFY_CLOSURE, of_closure, *out, error);
    }
    if (status == PERP_STATUS_OK && step) {
        status = ask(s, PERP_CERTIFY_ALL & ~(unsigned)PERP_CERTIFY_CLOSURE, of_step, *out, error);
    }
    return *out ? status : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a threshold");
}

/* ---- flips ---------------------------------------------------------------------------------------------------------
 */

/* Two values, and the verdicts there, which differ. */
typedef struct bracket {
    double low, high;
    json_t *below, *above; /* `above` is owned */
} bracket;

static perp_status add_flip(searching *s, const char *name, const bracket *b, perp_error *error)
{
    json_t *flip = json_pack("{s:s, s:[f, f], s:O, s:O}", "verdict", name, "at", b->low, b->high, "below", b->below,
                             "above", b->above);
    return flip && json_array_append_new(s->flips, flip) == 0
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a threshold");
}

/* Closes in on the first flip that bisection meets; ends where there is no verdict in the middle. */
static perp_status close_in(searching *s, const char *name, bracket *b, perp_error *error)
{
    const double range = s->threshold->to - s->threshold->from;
    for (int i = 0; i < BISECTIONS_MOST && b->high - b->low > RESOLUTION * fmax(fabs(b->high), 1e-3 * range); i++) {
        const double middle = b->low + 0.5 * (b->high - b->low);
        json_t *verdicts;
        const perp_status status = verdicts_at(s, middle, name, &verdicts, error);
        json_t *there = status == PERP_STATUS_OK ? json_object_get(verdicts, name) : NULL;
        if (there && json_equal(there, b->below)) {
            b->low = middle;
        } else if (there) {
            b->high = middle;
            json_decref(b->above);
            b->above = json_incref(there);
        }
        const bool end = !there || cli_interrupted();
        json_decref(verdicts);
        if (end) {
            return status;
        }
    }
    return PERP_STATUS_OK;
}

/* All flips between two neighbours: behind the first one another verdict may lie between. */
static perp_status find_between(searching *s, const char *name, bracket ends, perp_error *error)
{
    json_t *last = json_incref(ends.above), *below = json_incref(ends.below);
    perp_status status = PERP_STATUS_OK;
    double low = ends.low;
    for (int i = 0; i < FLIPS_BETWEEN && status == PERP_STATUS_OK && !json_equal(below, last); i++) {
        bracket b = {low, ends.high, below, json_incref(last)};
        status = close_in(s, name, &b, error);
        if (status == PERP_STATUS_OK) {
            status = add_flip(s, name, &b, error);
        }
        json_decref(below);
        below = b.above;
        low = b.high;
    }
    json_decref(below);
    json_decref(last);
    return status;
}

static perp_status compare_neighbours(searching *s, double low, double high, json_t *below, json_t *above,
                                      perp_error *error)
{
    const char *name;
    json_t *verdict;
    json_object_foreach(below, name, verdict)
    {
        json_t *other = json_object_get(above, name);
        if (!asked_for(s, name) || !other || json_equal(verdict, other)) {
            continue;
        }
        const perp_status status = find_between(s, name, (bracket){low, high, verdict, other}, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return PERP_STATUS_OK;
}

static perp_status search(searching *s, perp_error *error)
{
    const double from = s->threshold->from, to = s->threshold->to;
    json_t *before = NULL, *now = NULL;
    double last = from;
    bool any = false;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < SAMPLES && status == PERP_STATUS_OK; i++) {
        const double value = from + (to - from) * i / (SAMPLES - 1);
        const char *name;
        json_t *verdict;
        status = cli_interrupted() ? perp_fail(error, PERP_STATUS_CANCELLED, "interrupted")
                                   : verdicts_at(s, value, NULL, &now, error);
        json_object_foreach(now, name, verdict)
        {
            any = any || asked_for(s, name);
        }
        if (status == PERP_STATUS_OK && before) {
            status = compare_neighbours(s, last, value, before, now, error);
        }
        json_decref(before);
        before = now;
        now = NULL;
        last = value;
    }
    json_decref(before);
    if (status == PERP_STATUS_OK && !any) {
        status =
            perp_fail(error, PERP_STATUS_BAD_INPUT, "an analysis here has no verdict `%.200s`", s->threshold->verdict);
    }
    return status;
}

/* ---- words ---------------------------------------------------------------------------------------------------------
 */

static const char *word_of(const json_t *verdict)
{
    return json_is_string(verdict)  ? json_string_value(verdict)
           : json_is_true(verdict)  ? "yes"
           : json_is_false(verdict) ? "no"
                                    : "?";
}

static void print_flips(const searching *s)
{
    size_t i;
    json_t *flip;
    printf("\nverdicts that flip at %s between %g and %g:\n", s->threshold->of, s->threshold->from, s->threshold->to);
    json_array_foreach(s->flips, i, flip)
    {
        const json_t *at = json_object_get(flip, "at");
        const double low = json_real_value(json_array_get(at, 0)), high = json_real_value(json_array_get(at, 1));
        char where[64];
        if (high - low <= SHOWN_AS_ONE * fabs(high)) {
            snprintf(where, sizeof where, "%.8g", 0.5 * (low + high));
        } else {
            snprintf(where, sizeof where, "%.6g .. %.6g", low, high);
        }
        printf("  %-30s %-20s %s below, %s above\n", json_string_value(json_object_get(flip, "verdict")), where,
               word_of(json_object_get(flip, "below")), word_of(json_object_get(flip, "above")));
    }
    if (json_array_size(s->flips) == 0) {
        printf("  none\n");
    }
}

/* The analysis of the scene itself with the flips behind it. */
static char *write_json(const searching *s)
{
    char *plain = perp_analysis_json(s->state->analysis, NULL), *text = NULL;
    json_t *found = json_pack("{s:s, s:f, s:f, s:i, s:O}", "of", s->threshold->of, "from", s->threshold->from, "to",
                              s->threshold->to, "samples", SAMPLES, "flips", s->flips);
    char *flips = found ? json_dumps(found, JSON_REAL_PRECISION(17)) : NULL;
    if (plain && flips) {
        const size_t all_but_brace = strlen(plain) - 1, size = all_but_brace + strlen(flips) + 32;
        text = malloc(size);
        if (text) {
            snprintf(text, size, "%.*s, \"threshold\": %s}", (int)all_but_brace, plain, flips);
        }
    }
    free(flips);
    json_decref(found);
    perp_text_free(plain);
    return text;
}

perp_status cli_threshold_find(const cli_arguments *arguments, const cli_threshold *threshold, double at,
                               const analyze_state *state, char **text, perp_error *error)
{
    searching s = {.arguments = arguments, .threshold = threshold, .at = at, .state = state};
    perp_status status = open_search(&s) ? search(&s, error)
                                         : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a threshold");
    if (status == PERP_STATUS_OK && !text) {
        print_flips(&s);
    } else if (status == PERP_STATUS_OK) {
        *text = write_json(&s);
        status = *text ? status : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a threshold");
    }
    close_search(&s);
    return status;
}
