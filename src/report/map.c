#include "report/map.h"

#include "base/file.h"
#include "base/plain_locale.h"
#include "base/settings_size.h"
#include "report/save.h"

#include <math.h>
#include <string.h>

enum { LEAST = 300, MOST = 20000, MOST_BYTES = 1 << 30 };

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a map");
}

static perp_status check_options(const perp_map_options *o, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_map_options, o, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    perp_status status = PERP_STATUS_OK;
    const int sizes[2] = {o->width, o->height};
    for (int k = 0; k < 2; k++) {
        if (sizes[k] != 0 && (sizes[k] < LEAST || sizes[k] > MOST)) {
            status = perp_fail(error, PERP_STATUS_BAD_INPUT, "a map is %d to %d pixels wide and high, not %d", LEAST,
                               MOST, sizes[k]);
        }
    }
    if (!o->x || !o->y || o->output_count < 1) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "a map needs two columns to be over, and an output");
    }
    if (o->level_count > MAP_MOST_LEVELS) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "a map has %d levels at most", MAP_MOST_LEVELS);
    }
    for (int k = 0; k < o->level_count && status == PERP_STATUS_OK; k++) {
        if (!isfinite(o->levels[k]) || (k > 0 && o->levels[k] <= o->levels[k - 1])) {
            status = perp_fail(error, PERP_STATUS_BAD_INPUT, "levels of a map have to rise");
        }
    }
    if (status != PERP_STATUS_OK && error) {
        error->code = "bad-options";
    }
    return status;
}

/* Options are borrowed while the map is made, and copied for its picture. */
static bool keep_texts(perp_map *m, const char *const *texts, int count, const char *const **kept)
{
    const char **copies = PERP_ARENA_NEW(&m->arena, const char *, (size_t)count);
    bool good = copies != NULL;
    for (int i = 0; i < count && good; i++) {
        copies[i] = perp_arena_text(&m->arena, texts[i], strlen(texts[i]));
        good = copies[i] != NULL;
    }
    *kept = copies;
    return good;
}

static bool keep_options(perp_map *m, const perp_map_options *o)
{
    perp_map_options *own = &m->options;
    double *levels = PERP_ARENA_NEW(&m->arena, double, (size_t)o->level_count);
    *own = *o;
    own->x = perp_arena_text(&m->arena, o->x, strlen(o->x));
    own->y = perp_arena_text(&m->arena, o->y, strlen(o->y));
    if (levels && o->level_count > 0) {
        memcpy(levels, o->levels, (size_t)o->level_count * sizeof *levels);
    }
    own->levels = levels;
    return levels && own->x && own->y && keep_texts(m, o->outputs, o->output_count, &own->outputs) &&
           keep_texts(m, o->at, o->at_count, &own->at) && keep_texts(m, o->labels, o->label_count, &own->labels);
}

static perp_status make(perp_map *m, const char *text, size_t length, perp_error *error)
{
    perp_status status = perp_map_read(text, length, m->name, &m->arena, &m->table, error);
    status = status == PERP_STATUS_OK ? perp_map_load(m, error) : status;
    for (int k = 0; k < m->layer_count && status == PERP_STATUS_OK; k++) {
        if (!perp_map_make_faces(m, &m->layers[k]) || !perp_map_join(m, &m->layers[k])) {
            status = no_memory(error);
        }
    }
    return status;
}

perp_status perp_map_create(const char *text, size_t length, const char *name, const perp_map_options *options,
                            perp_map **map, perp_error *error)
{
    *map = NULL;
    perp_status status = check_options(options, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_allocator source = options->allocator ? *options->allocator : perp_allocator_default();
    perp_plain_locale locale = {0};
    perp_map *m = source.allocate(source.context, sizeof *m);
    if (!m) {
        return no_memory(error);
    }
    memset(m, 0, sizeof *m);
    m->allocator = source;
    perp_arena_init(&m->arena, &source);
    m->name = perp_arena_text(&m->arena, name, strlen(name));
    if (m->name && keep_options(m, options) && perp_plain_locale_open(&locale)) {
        perp_plain_locale_enter(&locale);
        status = make(m, text, length, error);
        perp_plain_locale_leave(&locale);
    } else {
        status = no_memory(error);
    }
    perp_plain_locale_close(&locale);
    if (status == PERP_STATUS_OK) {
        *map = m;
    } else {
        perp_map_free(m);
    }
    return status;
}

perp_status perp_map_create_from_file(const char *path, const perp_map_options *options, perp_map **map,
                                      perp_error *error)
{
    perp_arena arena;
    char *text, why[200];
    size_t length;
    *map = NULL;
    perp_arena_init(&arena, options->allocator);
    perp_status status = perp_file_read(&arena, path, false, MOST_BYTES, &text, &length, why);
    status = status == PERP_STATUS_OK ? perp_map_create(text, length, path, options, map, error)
                                      : perp_fail(error, status, "cannot read `%s`: %s", path, why);
    perp_arena_clear(&arena);
    return status;
}

void perp_map_free(perp_map *m)
{
    if (m) {
        const perp_allocator source = m->allocator;
        perp_arena_clear(&m->arena);
        source.release(source.context, m);
    }
}

/* ---- what becomes of it ------------------------------------------------------------------------------------------ */

static perp_status put(const perp_map *m, bool picture, byte_row *out, perp_error *error)
{
    perp_plain_locale locale = {0};
    if (!perp_plain_locale_open(&locale)) {
        perp_plain_locale_close(&locale);
        return no_memory(error);
    }
    perp_plain_locale_enter(&locale);
    if (picture) {
        perp_map_draw(m, out);
    } else {
        perp_map_put_json(m, out);
    }
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    return out->failed ? no_memory(error) : PERP_STATUS_OK;
}

static perp_status put_text(const perp_map *m, bool picture, char **text, perp_error *error)
{
    byte_row out = {0};
    perp_status status = put(m, picture, &out, error);
    perp_bytes_put(&out, "", 1);
    status = status == PERP_STATUS_OK && out.failed ? no_memory(error) : status;
    *text = NULL;
    if (status == PERP_STATUS_OK) {
        *text = (char *)out.bytes;
    } else {
        perp_bytes_free(&out);
    }
    return status;
}

perp_status perp_map_text(const perp_map *m, char **text, perp_error *error)
{
    return put_text(m, true, text, error);
}

perp_status perp_map_json(const perp_map *m, char **text, perp_error *error)
{
    return put_text(m, false, text, error);
}

perp_status perp_map_write(const perp_map *m, const char *path, perp_error *error)
{
    byte_row out = {0};
    perp_status status = put(m, true, &out, error);
    status = status == PERP_STATUS_OK ? perp_report_save(&out, path, error) : status;
    perp_bytes_free(&out);
    return status;
}
