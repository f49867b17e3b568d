#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"

#include <perp/sim.h>
#include "scene_run.h"

typedef struct keeper {
    scene_run *run;
    const int *requests;
} keeper;

static double *copy(const double *values, int count)
{
    double *own = malloc((size_t)(count > 0 ? count : 1) * sizeof *own);
    assert_non_null(own);
    memcpy(own, values, (size_t)count * sizeof *own);
    return own;
}

static bool keep(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    keeper *k = context;
    assert_true(step <= RUN_MAX_STEPS && info->contact_count <= RUN_MAX_CONTACTS);
    run_state *s = &k->run->states[k->run->count++];
    s->t = state->t;
    s->q = copy(state->q, k->run->model->nq);
    s->v = copy(state->v, k->run->model->nv);
    s->contact_count = info->contact_count;
    for (int i = 0; i < info->contact_count; i++) {
        s->contacts[i] = info->contacts[i];
    }
    s->residuals = info->residuals;
    s->several = info->several;
    s->requests = k->requests ? *k->requests : 0;
    return true;
}

static perp_scene *load(const char *source, const char *const *settings)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene = NULL;
    perp_scene_load_options options = {.settings = settings};
    while (settings && settings[options.setting_count]) {
        options.setting_count++;
    }
    memset(&diagnostics, 0, sizeof diagnostics);
    if (strchr(source, '\n')) {
        perp_scene_load_text(source, strlen(source), "test", NULL, &options, &scene, &diagnostics);
    } else {
        char path[512];
        snprintf(path, sizeof path, "%s/examples/%s/scene.yaml", PERP_SOURCE_DIR, source);
        perp_scene_load_file(path, &options, &scene, &diagnostics);
    }
    if (!scene) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    return scene;
}

void scene_run_make_with(scene_run *run, const char *source, const char *const *settings,
                         const perp_allocator *allocator, const int *requests)
{
    keeper k = {run, requests};
    memset(run, 0, sizeof *run);
    run->scene = load(source, settings);
    run->states = calloc(RUN_MAX_STEPS + 1, sizeof *run->states);
    assert_non_null(run->states);
    assert_int_equal(perp_model_build(run->scene, NULL, &run->model, &run->error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(run->model, NULL, &run->state, NULL), PERP_STATUS_OK);
    run->status = perp_run(run->model, &run->scene->run, allocator, keep, &k, &run->state, &run->result, &run->error);
}

void scene_run_watched(const char *source, const char *const *settings, perp_observer *observer, void *context, int *nv)
{
    perp_scene *scene = load(source, settings);
    perp_model *model = NULL;
    perp_state state = {0};
    perp_run_result result;
    perp_error error = {0};
    assert_int_equal(perp_model_build(scene, NULL, &model, &error), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(model, NULL, &state, NULL), PERP_STATUS_OK);
    if (nv) {
        *nv = model->nv;
    }
    if (perp_run(model, &scene->run, NULL, observer, context, &state, &result, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    perp_run_result_free(&result);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
}

void scene_run_make(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make_with(run, source, settings, NULL, NULL);
}

void scene_run_free(scene_run *run)
{
    for (int i = 0; i < run->count; i++) {
        free(run->states[i].q);
        free(run->states[i].v);
    }
    free(run->states);
    perp_run_result_free(&run->result);
    perp_state_free(&run->state);
    perp_model_free(run->model);
    perp_scene_free(run->scene);
}

double run_joint(const scene_run *run, int state, const char *name)
{
    const int joint = perp_scene_find_joint(run->scene, name);
    assert_true(joint >= 0 && state < run->count);
    return run->states[state].q[run->model->links[run->model->joint_body[joint]].q_start];
}

double run_body(const scene_run *run, int state, const char *name, int k)
{
    const int body = perp_scene_find_body(run->scene, name);
    assert_true(body >= 0 && state < run->count);
    return run->states[state].q[run->model->links[body].q_start + k];
}

const perp_contact_record *run_contact(const scene_run *run, int state, const char *a, const char *b)
{
    const int body_a = perp_scene_find_body(run->scene, a), body_b = perp_scene_find_body(run->scene, b);
    const perp_contact_record *found = NULL;
    for (int i = 0; i < run->states[state].contact_count; i++) {
        const perp_contact_record *r = &run->states[state].contacts[i];
        if (r->contact.a == body_a && r->contact.b == body_b) {
            assert_null(found);
            found = r;
        }
    }
    return found;
}

void run_near(double actual, double expected, double tolerance, const char *text, int line)
{
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("line %d: %s: %.17g, expected %.17g, differs by %g > %g", line, text, actual, expected,
                 actual - expected, tolerance);
    }
}

void scene_run_refuse_memory(const char *source, const char *const *settings)
{
    int refused = 0;
    for (int grants = 0; grants < 2000; grants++) {
        failing_allocator f = {.grants = grants};
        const perp_allocator allocator = allocator_of(&f);
        scene_run run;
        scene_run_make_with(&run, source, settings, &allocator, &f.requests);
        const perp_status status = run.status;
        scene_run_free(&run);
        assert_int_equal(f.standing, 0);
        if (status == PERP_STATUS_OK) {
            break;
        }
        assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
        refused++;
    }
    assert_true(refused > 20 && refused < 2000);
}

scene_text scene_text_of(const char *format, ...)
{
    scene_text scene;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(scene.of, sizeof scene.of, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof scene.of);
    return scene;
}

void instant_run(scene_run *run, const char *source, const char *const *settings)
{
    scene_run_make(run, source, settings);
    if (run->status != PERP_STATUS_OK) {
        fail_msg("%s: %s", source, run->error.message);
    }
    assert_int_equal(run->result.steps, 0);
    assert_true(run->result.residuals.balance <= 1e-8 && run->result.residuals.complementarity <= 1e-8 &&
                run->result.residuals.cone <= 1e-8);
}

const perp_instant_solution *instant_only(const scene_run *run)
{
    assert_int_equal(run->result.solution_count, 1);
    return &run->result.solutions[0];
}
