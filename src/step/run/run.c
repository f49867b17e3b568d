#include "step/run/contact_log.h"

#include "base/arena.h"
#include "base/hash.h"
#include "model/state.h"
#include "step/common/run_result.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMING_SAMPLES = 1 << 16 }; /* kept for the median; longer runs keep every k-th */

typedef struct stopwatch {
    double *samples; /* capacity */
    int count, capacity, stride;
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
    if ((step - 1) % w->stride == 0 && w->count < w->capacity) {
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

static void count_fallbacks(perp_run_result *result, const perp_step_info *info)
{
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        result->fallbacks[i] += info->fallbacks[i];
    }
    result->several += info->several;
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
    perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no model `%.60s`%s%s%s (perp models)", settings->model,
              nearest.name ? "; did you mean `" : "", nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
    if (error) {
        strcpy(error->path, "run.model");
    }
    return PERP_STATUS_BAD_INPUT;
}

/* A setting that the rung does not know is an error, not a silent no-op. */
perp_status perp_run_check(const perp_run_settings *settings, perp_error *error)
{
    const perp_rung *rung = perp_rung_find(settings->model);
    if (!rung) {
        return refuse_model(settings, error);
    }
    if (settings->cone != PERP_CONE_UNSET && !(rung->takes & 1u << settings->cone)) {
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

struct perp_run_memory {
    const perp_step_context *step;
};

size_t perp_run_memory_save(const perp_run_memory *memory, double *numbers, size_t capacity)
{
    return memory && memory->step->rung->save ? memory->step->rung->save(memory->step, numbers, capacity) : 0;
}

typedef struct runner {
    perp_step_context step;
    perp_run_memory memory;
    stopwatch watch;
    contact_log contacts;
    perp_observer *observer; /* may be NULL */
    void *observer_context;
    double t_start;
} runner;

/* What exact geometry says of a state. A body that is at no finite place was led there by its commands,
 * not by what the scene says: INFEASIBLE, as a command that is not finite itself. */
static perp_status look_at_contacts(runner *r, const perp_state *state, perp_error *error)
{
    perp_error inner;
    perp_kinematics_update(r->step.model, state->q, r->step.kinematics);
    const perp_status status = perp_contact_log_record(&r->contacts, r->step.kinematics, state->v, &inner);
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status == PERP_STATUS_BAD_INPUT ? PERP_STATUS_INFEASIBLE : status,
                         "contacts at t = %g s: %s", state->t, inner.message);
    }
    return PERP_STATUS_OK;
}

/* The largest gap at which a contact carries force. */
static double widest_layer(perp_contact_record *records, int count)
{
    double widest = 0.0;
    for (int i = 0; i < count; i++) {
        perp_contact_record *r = &records[i];
        r->layer_observed = r->mode == PERP_CONTACT_OPEN ? 0.0 : fmax(0.0, r->contact.phi);
        widest = fmax(widest, r->layer_observed);
    }
    return widest;
}

/* The contacts of a state, with the forces of the step that led to it. */
static perp_status complete_info(runner *r, const perp_rung *rung, const perp_state *state, perp_step_info *info,
                                 perp_error *error)
{
    perp_status status = look_at_contacts(r, state, error);
    if (status == PERP_STATUS_OK && info->contact_count > 0) {
        status = perp_contact_log_merge(&r->contacts, info->contacts, info->contact_count, error);
    } else if (status == PERP_STATUS_OK) {
        for (int i = 0; i < r->contacts.count; i++) {
            r->contacts.match[i] = i;
        }
    }
    if (status == PERP_STATUS_OK) {
        perp_contact_log_leave_out_far(&r->contacts, r->step.model->scene->margin);
    }
    info->contact_count = status == PERP_STATUS_OK ? r->contacts.count : 0;
    info->contacts = r->contacts.records;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (rung->convex) {
        info->residuals.boundary_layer = widest_layer(r->contacts.records, r->contacts.count);
    }
    info->residuals.penetration = fmax(0.0, -r->contacts.set->smallest_gap);
    if (rung->look_back && state->t > r->t_start) {
        rung->look_back(&r->step, state, r->contacts.match, info);
    }
    return PERP_STATUS_OK;
}

static perp_status begin(runner *r, int steps, perp_state *state, perp_run_result *result, perp_error *error)
{
    const perp_model *model = r->step.model;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    info.memory = &r->memory;
    if (result->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION) {
        perp_prescribed_configuration(model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, state->t, state->q);
        perp_prescribed_rate(model, PERP_PRESCRIBE_IMPEDANCE_JOINTS, state->t, state->v);
    }
    perp_state_hash(model, state, &result->hash);
    const perp_status status = complete_info(r, result->rung, state, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (steps == 0) {
        perp_residuals_keep_largest(&result->residuals, &info.residuals);
    }
    /* What a rung answers about the initial state is what there is to see of it: the first answer. */
    const perp_status answered =
        result->rung->answer ? result->rung->answer(&r->step, state, result, error) : PERP_STATUS_OK;
    const perp_instant_answer answer = {.answers = result->rung->answers,
                                        .solution_count = result->solution_count,
                                        .solutions = result->solutions,
                                        .partial = result->partial,
                                        .why_none = result->why_none,
                                        .left_out = result->left_out};
    info.answer = result->rung->answer && answered == PERP_STATUS_OK ? &answer : NULL;
    if (info.answer && answer.solution_count > 0) {
        info.contact_count = answer.solutions[0].contact_count;
        info.contacts = answer.solutions[0].contacts;
        info.several = answer.solution_count > 1 || answer.solutions[0].vertex_count > 0;
        result->several += info.several;
    }
    if (r->observer && !r->observer(r->observer_context, 0, state, &info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped before the first step");
    }
    return answered;
}

/* One step, its contacts, and what changed; the observer is told. */
static perp_status take_step(runner *r, int k, perp_state *state, perp_run_result *result, perp_error *error)
{
    const int events = r->contacts.event_count;
    perp_step_info info;
    assert(result->rung->step); /* rungs without it have no steps to take */
    memset(&info, 0, sizeof info);
    const double started = now_us();
    perp_status status = result->rung->step(&r->step, r->t_start + k * result->h, state, &info, error);
    result->iterations += info.iterations;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_state_hash(r->step.model, state, &result->hash);
    result->steps = k;
    status = complete_info(r, result->rung, state, &info, error);
    note_time(&r->watch, k, now_us() - started, info.solve_us);
    perp_residuals_keep_largest(&result->residuals, &info.residuals);
    count_fallbacks(result, &info);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_log_compare(&r->contacts, state->t, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    info.memory = &r->memory;
    info.event_count = r->contacts.event_count - events;
    info.events = info.event_count > 0 ? r->contacts.events + events : NULL;
    if (r->observer && !r->observer(r->observer_context, k, state, &info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s, after step %d of %d", state->t, k,
                         perp_run_steps(r->step.settings));
    }
    return PERP_STATUS_OK;
}

/* The run as it stood at `state`: contacts with their modes, events, sums, and what the rung remembers. */
static perp_status begin_again(runner *r, const perp_run_start *start, const perp_state *state, perp_run_result *result,
                               perp_error *error)
{
    const perp_status status = look_at_contacts(r, state, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!perp_contact_log_restore(&r->contacts, start)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
    }
    result->steps = start->step;
    result->hash = start->hash;
    result->residuals = start->residuals;
    memcpy(result->fallbacks, start->fallbacks, sizeof result->fallbacks);
    result->several = start->several;
    if (result->rung->restore) {
        return result->rung->restore(&r->step, start->memory, start->memory_count, error);
    }
    if (start->memory_count > 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "model `%s` remembers nothing", result->rung->name);
    }
    return PERP_STATUS_OK;
}

/* The loop over steps. Step k ends at t0 + k h, not at a running sum, so that times carry no accumulated rounding. */
static perp_status take_steps(runner *r, const perp_run_start *start, perp_state *state, perp_run_result *result,
                              perp_error *error)
{
    const int steps = result->rung->step ? perp_run_steps(r->step.settings) : 0;
    const int taken = start ? start->step : 0;
    r->t_start = start ? start->t_start : state->t;
    perp_status status = PERP_STATUS_OK;
    if (taken > 0) {
        status = begin_again(r, start, state, result, error);
    } else { /* who goes on from the initial state has seen it */
        perp_observer *const observer = r->observer;
        r->observer = start ? NULL : observer;
        status = begin(r, steps, state, result, error);
        r->observer = observer;
    }
    r->watch.stride = 1 + steps / TIMING_SAMPLES;
    for (int k = taken + 1; k <= steps && status == PERP_STATUS_OK; k++) {
        status = take_step(r, k, state, result, error);
    }
    return status;
}

static perp_status refuse_state(const perp_model *model, bool position, int index, double value, perp_error *error)
{
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        const int k = index - (position ? link->q_start : link->v_start);
        if (k >= 0 && k < (position ? link->q_count : link->v_count)) {
            const char *name = link->joint >= 0 ? model->scene->joints[link->joint].name : model->scene->bodies[b].name;
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: %s of %s `%s`, number %d, is %g",
                             position ? "q" : "v", link->joint >= 0 ? "joint" : "body", name, k, value);
        }
    }
    return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: %s[%d] is %g", position ? "q" : "v", index,
                     value);
}

/* A caller's own state may hold anything; what comes of it later would blame something else. */
static perp_status check_state(const perp_model *model, const perp_state *state, perp_error *error)
{
    if (!isfinite(state->t)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the state is not finite: t is %g", state->t);
    }
    for (int i = 0; i < model->nq + model->nv; i++) {
        const bool position = i < model->nq;
        const int index = position ? i : i - model->nq;
        const double value = position ? state->q[index] : state->v[index];
        if (!isfinite(value)) {
            return refuse_state(model, position, index, value, error);
        }
    }
    return PERP_STATUS_OK;
}

/* A run from `start` on; NULL: from the beginning. `with` has the allocator and the observer. */
static perp_status run_from(const perp_model *model, const perp_run_settings *settings, const perp_run_start *start,
                            const perp_run_start *with, perp_state *state, perp_run_result *result, perp_error *error)
{
    const perp_allocator *const allocator = with->allocator;
    memset(result, 0, sizeof *result);
    result->h = settings->h;
    result->allocator = with->allocator ? *with->allocator : perp_allocator_default();
    result->hash = perp_hash_begin();
    perp_status status = perp_run_check(settings, error);
    status = status == PERP_STATUS_OK ? check_state(model, state, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    result->rung = perp_rung_find(settings->model);
    const int left = result->rung->step ? perp_run_steps(settings) - (start ? start->step : 0) : 0;
    const int samples = left < 0 ? 0 : left > TIMING_SAMPLES ? TIMING_SAMPLES : left;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    runner r = {.step = {.rung = result->rung,
                         .model = model,
                         .settings = settings,
                         .next_q = PERP_ARENA_NEW(&arena, double, (size_t)model->nq),
                         .next_v = PERP_ARENA_NEW(&arena, double, (size_t)model->nv)},
                .watch = {.samples = PERP_ARENA_NEW(&arena, double, (size_t)samples), .capacity = samples},
                .observer = with->observer,
                .observer_context = with->observer_context};
    r.memory.step = &r.step;
    if (!r.watch.samples || !r.step.next_q || !r.step.next_v) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    status = perp_contact_log_open(&r.contacts, model, allocator, error);
    if (status == PERP_STATUS_OK) {
        r.step.contacts = r.contacts.set;
        status = perp_kinematics_create(model, allocator, &r.step.kinematics, error);
    }
    if (status == PERP_STATUS_OK && result->rung->open) {
        status = result->rung->open(&r.step, allocator, error);
    }
    if (status == PERP_STATUS_OK) {
        status = take_steps(&r, start, state, result, error);
        result->timing = summarise(&r.watch, result->steps - (start ? start->step : 0));
    }
    if (result->rung->close) {
        result->rung->close(&r.step);
    }
    perp_contact_log_hand_over(&r.contacts, result);
    perp_contact_log_close(&r.contacts);
    perp_kinematics_free(r.step.kinematics);
    perp_arena_clear(&arena);
    return status;
}

perp_status perp_run(const perp_model *model, const perp_run_settings *settings, const perp_allocator *allocator,
                     perp_observer *observer, void *observer_context, perp_state *state, perp_run_result *result,
                     perp_error *error)
{
    const perp_run_start with = {.allocator = allocator, .observer = observer, .observer_context = observer_context};
    return run_from(model, settings, NULL, &with, state, result, error);
}

perp_status perp_run_continue(const perp_model *model, const perp_run_settings *settings, const perp_run_start *start,
                              perp_state *state, perp_run_result *result, perp_error *error)
{
    return run_from(model, settings, start, start, state, result, error);
}
