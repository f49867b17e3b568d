/* Values out of analyses: the states are gone to in the order of their steps, and what is asked of each is looked up in
 * the JSON of its analysis, so that a name here is a name there. */
#include "plan/quantity.h"

#include <perp/trace.h>

#include <jansson.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What has to be certified for a path: the section that it begins with; all for what speaks of all. */
static unsigned certificates_of(const char *path)
{
    static const struct {
        const char *section;
        unsigned bit;
    } sections[] = {{"existence", PERP_CERTIFY_EXISTENCE},
                    {"uniqueness", PERP_CERTIFY_UNIQUENESS},
                    {"rigidity", PERP_CERTIFY_RIGIDITY},
                    {"closure", PERP_CERTIFY_CLOSURE},
                    {"model", 0},
                    {"t", 0},
                    {"status", 0}};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const size_t length = strlen(sections[i].section);
        if (strncmp(path, sections[i].section, length) == 0 && (path[length] == '.' || path[length] == '\0')) {
            return sections[i].bit;
        }
    }
    return PERP_CERTIFY_ALL;
}

static int next_step(const perp_quantities *q, int after)
{
    int least = INT_MAX;
    for (int i = 0; i < q->count; i++) {
        const quantity *c = &q->quantities[i];
        if (c->source == QUANTITY_ANALYSIS && c->step > after && c->step < least) {
            least = c->step;
        }
    }
    return least;
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

static bool names_thing(const perp_scene *scene, const char *key)
{
    bool found = perp_scene_find_body(scene, key) >= 0;
    for (int i = 0; i < scene->joint_count; i++) {
        found = found || strcmp(scene->joints[i].name, key) == 0;
    }
    return found;
}

/* BAD_INPUT where an object has no such key; one that is named after a thing of the scene may be missing. */
static perp_status refuse_key(const perp_scene *scene, const json_t *object, const char *path, const char *key,
                              perp_error *error)
{
    if (names_thing(scene, key)) {
        return PERP_STATUS_OK;
    }
    perp_nearest nearest = perp_nearest_begin(key);
    const char *known;
    json_t *value;
    char list[200] = "";
    json_object_foreach((json_t *)(uintptr_t)object, known, value)
    {
        perp_nearest_offer(&nearest, known);
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", known);
    }
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "an analysis has no `%.100s`: %s%s%s `%.60s`", path,
                     nearest.name ? "did you mean `" : "known are ", nearest.name ? nearest.name : list,
                     nearest.name ? "` instead of" : ", not", key);
}

/* The value at a path, NULL: there is none now, as of a contact that is not there. */
static perp_status look_up(const perp_scene *scene, const json_t *root, const char *path, const json_t **found,
                           perp_error *error)
{
    const json_t *node = root;
    char part[160];
    *found = NULL;
    for (const char *at = path; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL) {
        const size_t length = strcspn(at, ".");
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
        if (json_is_object(node)) {
            const json_t *child = json_object_get(node, part);
            if (!child) {
                return refuse_key(scene, node, path, part, error);
            }
            node = child;
        } else if (json_is_array(node)) {
            char *end;
            const unsigned long index = strtoul(part, &end, 10);
            if (end == part || *end != '\0' || part[0] == '-') {
                return perp_fail(error, PERP_STATUS_BAD_INPUT,
                                 "`%.100s`: an element of a list has a number, from 0, instead of `%.60s`", path, part);
            }
            node = index < json_array_size(node) ? json_array_get(node, index) : NULL;
        } else if (json_is_null(node)) {
            node = NULL;
        } else {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "`%.100s`: there is nothing behind a plain value", path);
        }
        if (!node) {
            return PERP_STATUS_OK;
        }
    }
    *found = node;
    return PERP_STATUS_OK;
}

static perp_status take(quantity *c, const json_t *value, perp_error *error)
{
    if (json_is_number(value)) {
        perp_quantity_set(c, json_number_value(value));
    } else if (json_is_boolean(value)) {
        c->value = (perp_value){.kind = PERP_VALUE_TRUTH, .number = json_is_true(value) ? 1.0 : 0.0};
    } else if (json_is_string(value)) {
        c->value.kind = PERP_VALUE_WORD;
        snprintf(c->value.word, sizeof c->value.word, "%s", json_string_value(value));
    } else if (value && !json_is_null(value)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "`analyze.%.100s` is no single value; go on with a dot",
                         c->path);
    }
    return PERP_STATUS_OK;
}

/* The expression that has this symbol, and where. */
static void blame(perp_quantities *q, int symbol, perp_error *error)
{
    for (int i = 0; i < q->expression_count; i++) {
        for (int k = 0; k < q->expressions[i].count; k++) {
            if (perp_expression_name_at(&q->expressions[i], k) == symbol) {
                q->wrong = i;
                error->column = q->expressions[i].operations[k].column;
                return;
            }
        }
    }
}

static perp_status fill(perp_quantities *q, int step, const json_t *root, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < q->count && status == PERP_STATUS_OK; i++) {
        quantity *c = &q->quantities[i];
        const json_t *value;
        if (c->source != QUANTITY_ANALYSIS || c->step != step) {
            continue;
        }
        status = look_up(q->model->scene, root, c->path, &value, error);
        status = status == PERP_STATUS_OK ? take(c, value, error) : status;
        if (status != PERP_STATUS_OK) {
            blame(q, i, error);
        }
    }
    return status;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

static perp_status analyze_state(perp_quantities *q, const perp_sim *sim, int step, perp_error *failure,
                                 perp_error *error)
{
    perp_analyze_options options = perp_analyze_options_default();
    perp_analysis *analysis = NULL;
    options.allocator = &q->allocator;
    options.cancel = q->model->scene->run.cancel;
    options.certificates = 0;
    for (int i = 0; i < q->count; i++) {
        const quantity *c = &q->quantities[i];
        options.certificates |= c->source == QUANTITY_ANALYSIS && c->step == step ? certificates_of(c->path) : 0;
    }
    perp_status status = perp_analyze(sim, &options, &analysis, failure);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    char *text = perp_analysis_json(analysis, NULL);
    perp_analysis_free(analysis);
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    perp_text_free(text);
    if (!root) {
        return perp_fail(failure, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    status = fill(q, step, root, error);
    json_decref(root);
    return status;
}

static perp_status go_to(perp_sim *sim, int step, perp_error *failure)
{
    const volatile bool *cancel = perp_sim_model(sim)->scene->run.cancel;
    perp_status status = PERP_STATUS_OK;
    while (perp_sim_steps(sim) < step && status == PERP_STATUS_OK) {
        status =
            cancel && *cancel ? perp_fail(failure, PERP_STATUS_CANCELLED, "interrupted") : perp_sim_step(sim, failure);
    }
    return status;
}

perp_status perp_quantities_analyze(perp_quantities *q, perp_error *failure, perp_error *error)
{
    perp_sim_settings settings = perp_sim_settings_default();
    perp_sim *sim = NULL;
    settings.allocator = &q->allocator;
    q->wrong = -1;
    perp_status status = perp_sim_create(q->model, &settings, &sim, failure);
    for (int step = next_step(q, -1); step < INT_MAX && status == PERP_STATUS_OK; step = next_step(q, step)) {
        status = go_to(sim, step, failure);
        status = status == PERP_STATUS_OK ? analyze_state(q, sim, step, failure, error) : status;
    }
    perp_sim_free(sim);
    if (q->wrong >= 0) {
        return status;
    }
    if (status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED) {
        return perp_fail(error, status, "%s", failure->message);
    }
    return PERP_STATUS_OK;
}
