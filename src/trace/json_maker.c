#include "trace/json_maker.h"

#include <perp/trace.h>

#include <stdlib.h>

json_maker perp_json_object(void)
{
    json_maker m = {json_object(), true};
    m.good = m.object != NULL;
    return m;
}

void perp_json_put(json_maker *m, const char *key, json_t *value)
{
    m->good = json_object_set_new(m->object, key, value) == 0 && m->good;
}

json_t *perp_json_finished(json_maker *m)
{
    if (!m->good) {
        json_decref(m->object);
        return NULL;
    }
    return m->object;
}

json_t *perp_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *perp_json_appended(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) {
        return array;
    }
    json_decref(array);
    return NULL;
}

json_t *perp_json_units(const perp_scene *scene)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "length", json_string(scene->length_unit ? scene->length_unit : "m"));
    perp_json_put(&m, "angle", json_string(scene->angle_unit ? scene->angle_unit : "rad"));
    return perp_json_finished(&m);
}

json_t *perp_json_reals(const double *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = perp_json_appended(array, perp_json_real(values[i]));
    }
    return array;
}

static void put_evidence(json_maker *m, const perp_evidence *e)
{
    if (e->body[0]) {
        perp_json_put(m, "body", json_string(e->body));
    }
    if (e->has_direction) {
        perp_json_put(m, "direction", perp_json_reals(e->direction, e->planar ? 2 : 3));
        perp_json_put(m, "rotation", perp_json_reals(e->direction + (e->planar ? 5 : 3), e->planar ? 1 : 3));
    }
    if (e->contact[0]) {
        perp_json_put(m, "contact", json_string(e->contact));
    }
    if (e->loop[0]) {
        perp_json_put(m, "loop", json_string(e->loop));
    }
    if (e->has_gap) {
        perp_json_put(m, "gap", perp_json_real(e->gap));
    }
    if (e->has_depth) {
        perp_json_put(m, "depth", perp_json_real(e->depth));
    }
    if (e->has_time) {
        perp_json_put(m, "t", perp_json_real(e->time));
    }
    if (e->has_forces) {
        perp_json_put(m, "forces", perp_json_reals(e->forces, 2));
    }
    if (e->has_residual) {
        perp_json_put(m, e->residual_name ? e->residual_name : "residual", perp_json_real(e->residual));
        perp_json_put(m, "residual", perp_json_real(e->residual));
    }
    if (e->method) {
        perp_json_put(m, "method", json_string(e->method));
    }
}

json_t *perp_json_failure(const perp_error *failure)
{
    json_maker m = perp_json_object(), evidence = perp_json_object();
    if (failure->file[0]) {
        perp_json_put(&evidence, "file", json_string(failure->file));
        perp_json_put(&evidence, "line", json_integer(failure->line));
        perp_json_put(&evidence, "column", json_integer(failure->column));
    }
    if (failure->path[0]) {
        perp_json_put(&evidence, "path", json_string(failure->path));
    }
    put_evidence(&evidence, &failure->evidence);
    perp_json_put(&m, "code", json_string(failure->code ? failure->code : perp_status_name(failure->status)));
    perp_json_put(&m, "message", json_string(failure->message));
    perp_json_put(&m, "evidence", perp_json_finished(&evidence));
    return perp_json_finished(&m);
}

/* Measures, then writes. json_dumps would do both at once, but it comes from jansson's allocator, which the program may
 * have replaced, and where its buffer cannot grow at the wrong moment it leaves out the quote behind a key and goes on
 * (jansson 2.14). */
char *perp_json_dump(json_maker *m)
{
    const size_t flags = JSON_REAL_PRECISION(17);
    json_t *object = perp_json_finished(m);
    const size_t size = object ? json_dumpb(object, (char[1]){0}, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text && json_dumpb(object, text, size, flags) == size) {
        text[size] = '\0';
    } else {
        free(text);
        text = NULL;
    }
    json_decref(object);
    return text;
}

void perp_text_free(char *text)
{
    free(text);
}

const char *perp_json_version(void)
{
    return jansson_version_str();
}
