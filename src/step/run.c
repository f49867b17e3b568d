#include "step/step_rungs.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMING_SAMPLES = 1 << 16 }; /* kept for the median; longer runs keep every k-th */

typedef struct stopwatch {
    double *samples;
    int count, stride;
    double total, largest, solve_total;
} stopwatch;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void note_time(stopwatch *w, int step, double step_us, double solve_us)
{
    w->total += step_us;
    w->solve_total += solve_us;
    w->largest = fmax(w->largest, step_us);
    if ((step - 1) % w->stride == 0 && w->count < TIMING_SAMPLES) {
        w->samples[w->count++] = step_us;
    }
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static perp_timing summarise(stopwatch *w, int steps)
{
    perp_timing timing = {0};
    if (steps > 0) {
        qsort(w->samples, (size_t)w->count, sizeof *w->samples, compare_reals);
        timing.step_mean_us = w->total / steps;
        timing.step_median_us = 0.5 * (w->samples[(w->count - 1) / 2] + w->samples[w->count / 2]);
        timing.step_max_us = w->largest;
        timing.solve_mean_us = w->solve_total / steps;
    }
    return timing;
}

static void keep_largest(perp_residuals *run, const perp_residuals *step)
{
    run->balance = fmax(run->balance, step->balance);
    run->complementarity = fmax(run->complementarity, step->complementarity);
    run->cone = fmax(run->cone, step->cone);
    run->penetration = fmax(run->penetration, step->penetration);
    run->balance_true = fmax(run->balance_true, step->balance_true);
    run->boundary_layer = fmax(run->boundary_layer, step->boundary_layer);
    run->loop = fmax(run->loop, step->loop);
}

int perp_run_steps(const perp_run_settings *settings)
{
    if (settings->steps_set) {
        return settings->steps;
    }
    return settings->h > 0.0 ? (int)lround(settings->until / settings->h) : 0;
}

static perp_status refuse(perp_error *error, const char *path, const char *rung, const char *message)
{
    perp_fail(error, PERP_STATUS_BAD_INPUT, "model `%s` %s", rung, message);
    if (error) {
        strcpy(error->path, path);
    }
    return PERP_STATUS_BAD_INPUT;
}

static perp_status refuse_model(const perp_run_settings *settings, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(settings->model);
    for (int i = 0; i < perp_rung_count(); i++) {
        perp_nearest_offer(&nearest, perp_rung_at(i)->name);
    }
    char message[200];
    snprintf(message, sizeof message, "is not known%s%s%s (`perp models` lists those that are)%s",
             nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "",
             settings->model_set ? "" : "; none was chosen: write `run: {model: kinematic}` or give --model");
    return refuse(error, "run.model", settings->model, message);
}

/* A setting that the rung does not know is an error, not a silent no-op. */
perp_status perp_run_check(const perp_run_settings *settings, perp_error *error)
{
    const perp_rung *rung = perp_rung_find(settings->model);
    if (!rung) {
        return refuse_model(settings, error);
    }
    static const unsigned cone_bits[] = {[PERP_CONE_UNSET] = 0,
                                         [PERP_CONE_QUADRATIC] = PERP_TAKES_QUADRATIC,
                                         [PERP_CONE_RAYS] = PERP_TAKES_RAYS,
                                         [PERP_CONE_BOX] = PERP_TAKES_BOX};
    if (settings->cone != PERP_CONE_UNSET && !(rung->takes & cone_bits[settings->cone])) {
        return refuse(error, "run.cone", rung->name,
                      "does not take this friction cone (see `perp models`); remove `cone` or --set run.cone=~");
    }
    if (settings->smoothing != 0.0 && !(rung->takes & PERP_TAKES_SMOOTHING)) {
        return refuse(error, "run.smoothing", rung->name, "has no smoothing; remove `smoothing`");
    }
    if (settings->time_scale != 1.0 && !(rung->takes & PERP_TAKES_TIME_SCALE)) {
        return refuse(error, "run.time_scale", rung->name, "has no inertia to scale; remove `time_scale`");
    }
    if (rung->step && !(settings->h > 0.0)) {
        return refuse(error, "run.h", rung->name, "needs a positive time step `h`");
    }
    return PERP_STATUS_OK;
}

/* The loop over steps. Step k ends at t0 + k h, not at a running sum, so that times carry no accumulated rounding. */
static perp_status take_steps(perp_step_context *context, stopwatch *watch, perp_observer *observer,
                              void *observer_context, perp_state *state, perp_run_result *result, perp_error *error)
{
    const perp_model *model = context->model;
    const int steps = result->rung->step ? perp_run_steps(context->settings) : 0;
    const double t_start = state->t;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    if (result->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION) {
        perp_prescribed_configuration(model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, state->t, state->q);
        perp_prescribed_rate(model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, state->t, state->v);
    }
    perp_state_hash(model, state, &result->hash);
    if (observer && !observer(observer_context, 0, state, &info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped before the first step");
    }
    watch->stride = 1 + steps / TIMING_SAMPLES;
    for (int k = 1; k <= steps; k++) {
        memset(&info, 0, sizeof info);
        const double started = now_us();
        const perp_status status = result->rung->step(context, t_start + k * result->h, state, &info, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        note_time(watch, k, now_us() - started, info.solve_us);
        keep_largest(&result->residuals, &info.residuals);
        perp_state_hash(model, state, &result->hash);
        result->steps = k;
        if (observer && !observer(observer_context, k, state, &info)) {
            return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s, after step %d of %d", state->t, k,
                             steps);
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_run(const perp_model *model, const perp_run_settings *settings, const perp_allocator *allocator,
                     perp_observer *observer, void *observer_context, perp_state *state, perp_run_result *result,
                     perp_error *error)
{
    memset(result, 0, sizeof *result);
    result->h = settings->h;
    result->hash = perp_hash_begin();
    perp_status status = perp_run_check(settings, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    result->rung = perp_rung_find(settings->model);
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    stopwatch watch = {.samples = PERP_ARENA_NEW(&arena, double, TIMING_SAMPLES)};
    perp_step_context context = {.model = model,
                                 .settings = settings,
                                 .next_q = PERP_ARENA_NEW(&arena, double, (size_t)model->nq),
                                 .next_v = PERP_ARENA_NEW(&arena, double, (size_t)model->nv)};
    if (!watch.samples || !context.next_q || !context.next_v) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    status = perp_kinematics_create(model, allocator, &context.kinematics, error);
    if (status == PERP_STATUS_OK) {
        status = take_steps(&context, &watch, observer, observer_context, state, result, error);
        result->timing = summarise(&watch, result->steps);
    }
    perp_kinematics_free(context.kinematics);
    perp_arena_clear(&arena);
    return status;
}
