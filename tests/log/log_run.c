#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log_run.h"

#include <perp/sim.h>

/* ---- sink -----------------------------------------------------------------------------------------------------------
 */

static ptrdiff_t take(void *context, const void *bytes, size_t size)
{
    memory_sink *s = context;
    s->calls++;
    if (s->interrupt > 0 && s->calls % s->interrupt == 0) {
        errno = EINTR;
        return -1;
    }
    size = s->most > 0 && size > s->most ? s->most : size;
    if (size > s->limit - s->size) {
        size = s->limit - s->size;
        if (size == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    if (s->size + size > s->capacity) {
        s->capacity = 2 * (s->size + size);
        s->bytes = realloc(s->bytes, s->capacity);
        assert_non_null(s->bytes);
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return (ptrdiff_t)size;
}

static int sync_sink(void *context)
{
    ((memory_sink *)context)->syncs++;
    return 0;
}

perp_log_sink memory_sink_make(memory_sink *sink)
{
    *sink = (memory_sink){.limit = SIZE_MAX};
    return (perp_log_sink){.context = sink, .write = take, .sync = sync_sink};
}

void memory_sink_free(memory_sink *sink)
{
    free(sink->bytes);
}

/* ---- run ------------------------------------------------------------------------------------------------------------
 */

static void *copy(const void *bytes, size_t size)
{
    void *own = malloc(size + 1);
    assert_non_null(own);
    if (size > 0) {
        memcpy(own, bytes, size);
    }
    return own;
}

static bool explain(log_run *run, int step, int count)
{
    perp_contact_note *notes = calloc((size_t)count + 1, sizeof *notes);
    char(*texts)[80] = calloc((size_t)count + 1, sizeof *texts);
    assert_true(notes && texts);
    for (int i = 0; i < count; i++) {
        notes[i] = run->explain(step, i, texts[i]);
    }
    const bool good = perp_log_explain(run->log, notes, count);
    free(notes);
    free(texts);
    return good;
}

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    log_run *run = context;
    run->steps = realloc(run->steps, ((size_t)run->count + 1) * sizeof *run->steps);
    assert_non_null(run->steps);
    kept_step *kept = &run->steps[run->count++];
    assert_int_equal(step, run->count - 1);
    *kept = (kept_step){.t = state->t, .info = *info};
    kept->q = copy(state->q, (size_t)run->model->nq * sizeof(double));
    kept->v = copy(state->v, (size_t)run->model->nv * sizeof(double));
    kept->info.contacts = copy(info->contacts, (size_t)info->contact_count * sizeof *info->contacts);
    kept->info.events = copy(info->events, (size_t)info->event_count * sizeof *info->events);
    kept->info.memory = NULL;
    return perp_log_observe(run->log, step, state, info) && (!run->explain || explain(run, step, info->contact_count));
}

void log_run_load(log_run *run, const char *example, const char *const *settings)
{
    static perp_diagnostics diagnostics;
    perp_scene_load_options options = {.settings = settings};
    char path[512];
    size_t size;
    memset(run, 0, sizeof *run);
    memset(&diagnostics, 0, sizeof diagnostics);
    while (settings && settings[options.setting_count]) {
        options.setting_count++;
    }
    snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, example);
    unsigned char *bytes = log_run_read_file(path, &size);
    run->text = realloc(bytes, size + 1);
    assert_non_null(run->text);
    run->text[size] = '\0';
    perp_scene_load_text(run->text, size, "scene.yaml", NULL, &options, &run->scene, &diagnostics);
    if (!run->scene) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    assert_int_equal(perp_model_build(run->scene, NULL, &run->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(run->model, NULL, &run->state, NULL), PERP_STATUS_OK);
}

perp_log_options log_run_options(void)
{
    perp_log_options options = perp_log_options_default();
    options.chunk_bytes = 4000;
    options.chunk_seconds = INFINITY;
    options.timing = false;
    return options;
}

perp_log_about log_run_about(const log_run *run, perp_log_file *file)
{
    *file = (perp_log_file){.name = "scene.yaml", .bytes = run->text, .size = strlen(run->text)};
    return (perp_log_about){.model = run->model, .file_count = 1, .files = file};
}

void log_run_go(log_run *run, const perp_log_sink *sink, const perp_log_options *options)
{
    const perp_log_options usual = log_run_options();
    perp_log_file file;
    const perp_log_about about = log_run_about(run, &file);
    run->log_status = perp_log_create_sink(sink, &about, options ? options : &usual, &run->log, &run->log_error);
    if (run->log_status != PERP_STATUS_OK) {
        assert_null(run->log);
        return;
    }
    run->status = perp_run(run->model, &run->scene->run, NULL, observe, run, &run->state, &run->result, &run->error);
    run->log_status =
        perp_log_close(run->log, &run->result, run->status == PERP_STATUS_OK ? NULL : &run->error, &run->log_error);
    run->log = NULL;
}

void log_run_free(log_run *run)
{
    for (int i = 0; i < run->count; i++) {
        free(run->steps[i].q);
        free(run->steps[i].v);
        free((void *)run->steps[i].info.contacts);
        free((void *)run->steps[i].info.events);
    }
    free(run->steps);
    free(run->text);
    perp_run_result_free(&run->result);
    perp_state_free(&run->state);
    perp_model_free(run->model);
    perp_scene_free(run->scene);
}

/* ---- comparing
 * ------------------------------------------------------------------------------------------------------- */

static void same_vector(perp_vec3 a, perp_vec3 b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

static void same_contact(const perp_contact_record *x, const perp_contact_record *y)
{
    const perp_contact *a = &x->contact, *b = &y->contact;
    const int keys_a[] = {a->a,    a->b,   a->shape_a,  a->shape_b, a->feature_a, a->feature_b, a->direction_count,
                          a->pair, a->tie, (int)x->mode};
    const int keys_b[] = {b->a,    b->b,   b->shape_a,  b->shape_b, b->feature_a, b->feature_b, b->direction_count,
                          b->pair, b->tie, (int)y->mode};
    const double reals_a[] = {a->phi,    a->friction,        a->restitution,   x->fn,
                              x->ft[0],  x->ft[1],           x->slip[0],       x->slip[1],
                              x->margin, x->layer_predicted, x->layer_observed};
    const double reals_b[] = {b->phi,    b->friction,        b->restitution,   y->fn,
                              y->ft[0],  y->ft[1],           y->slip[0],       y->slip[1],
                              y->margin, y->layer_predicted, y->layer_observed};
    assert_memory_equal(keys_a, keys_b, sizeof keys_a);
    assert_memory_equal(reals_a, reals_b, sizeof reals_a);
    same_vector(a->normal, b->normal);
    same_vector(a->t, b->t);
    same_vector(a->o, b->o);
    same_vector(a->point_a, b->point_a);
    same_vector(a->point_b, b->point_b);
    same_vector(x->force_on_b, y->force_on_b);
    for (int i = 0; i < a->direction_count; i++) {
        same_vector(a->directions[i], b->directions[i]);
    }
}

void log_run_same_step(const log_run *run, const perp_log_reader *reader, const perp_log_step *step)
{
    assert_true(step->step >= 0 && step->step < run->count);
    const kept_step *kept = &run->steps[step->step];
    perp_state state;
    assert_int_equal(perp_state_create(run->model, NULL, &state, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_log_state(reader, step, run->model, &state, NULL), PERP_STATUS_OK);
    assert_memory_equal(&state.t, &kept->t, sizeof state.t);
    assert_memory_equal(state.q, kept->q, (size_t)run->model->nq * sizeof(double));
    assert_memory_equal(state.v, kept->v, (size_t)run->model->nv * sizeof(double));
    perp_state_free(&state);
    const perp_step_info *a = &step->info, *b = &kept->info;
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->several, b->several);
    assert_memory_equal(&a->residuals, &b->residuals, sizeof a->residuals);
    assert_memory_equal(a->fallbacks, b->fallbacks, sizeof a->fallbacks);
    assert_int_equal(a->contact_count, b->contact_count);
    for (int i = 0; i < a->contact_count; i++) {
        same_contact(&a->contacts[i], &b->contacts[i]);
    }
    assert_int_equal(a->event_count, b->event_count);
    for (int i = 0; i < a->event_count; i++) {
        const perp_contact_event *x = &a->events[i], *y = &b->events[i];
        assert_true(x->t == y->t && x->a == y->a && x->b == y->b && x->from == y->from && x->to == y->to);
        assert_string_equal(x->feature, y->feature);
    }
}

/* ---- files
 * ----------------------------------------------------------------------------------------------------------- */

unsigned char *log_run_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot read %s", path);
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

void log_run_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}
