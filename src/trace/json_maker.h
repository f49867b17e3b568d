/* json_maker.h - JSON through jansson, so that lack of memory anywhere on the way makes the whole NULL:
 * json_object_set_new refuses a NULL value, and every refusal is remembered. */
#ifndef PERP_SRC_TRACE_JSON_MAKER_H
#define PERP_SRC_TRACE_JSON_MAKER_H

#include <perp/scene.h>

#include <jansson.h>

typedef struct json_maker {
    json_t *object;
    bool good;
} json_maker;

json_maker perp_json_object(void);
/* Takes the value over, NULL too. */
void perp_json_put(json_maker *m, const char *key, json_t *value);
/* Hands the object over, or NULL if anything in it is missing. */
json_t *perp_json_finished(json_maker *m);

/* What is not a number has no place in JSON: null. */
json_t *perp_json_real(double value);
json_t *perp_json_reals(const double *values, int count);
/* The array with one more value; NULL, and nothing is left of either, if the value or the room for it is missing. */
json_t *perp_json_appended(json_t *array, json_t *value);

/* {"length": "mm", "angle": "deg"}: units that a scene's file was written in. */
json_t *perp_json_units(const perp_scene *scene);
/* {"code", "message", "evidence"} */
json_t *perp_json_failure(const perp_error *failure);

/* The finished object as text that perp_text_free frees; NULL as above. */
char *perp_json_dump(json_maker *m);

#endif
