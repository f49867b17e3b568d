/* Runs: a loop over a simulation. */
#define _POSIX_C_SOURCE 200809L
#include "sim/sim.h"

#include "base/hash.h"
#include "step/common/run_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    return 1e6 * (double)time.tv_sec + (double)time.tv_nsec / 1e3;
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

size_t perp_run_memory_save(const perp_run_memory *memory, double *numbers, size_t capacity)
{
    return memory && memory->step->rung->save ? memory->step->rung->save(memory->step, numbers, capacity) : 0;
}

/* A run: a simulation, and what is told of all its steps. */
typedef struct runner {
    perp_sim *sim;
    stopwatch watch;
    int event_capacity;
    perp_run_result *result;
    perp_observer *observer; /* may be NULL */
    void *observer_context;
} runner;

static bool add_events(runner *r, const perp_contact_event *events, int count)
{
    perp_run_result *result = r->result;
    const int needed = result->event_count + count;
    if (needed > r->event_capacity) {
        int capacity = r->event_capacity > 0 ? r->event_capacity : 16;
        while (capacity < needed) {
            capacity *= 2;
        }
        perp_contact_event *larger =
            result->allocator.allocate(result->allocator.context, (size_t)capacity * sizeof *larger);
        if (!larger) {
            return false;
        }
        if (result->event_count > 0) {
            memcpy(larger, result->events, (size_t)result->event_count * sizeof *larger);
        }
        if (result->events) {
            result->allocator.release(result->allocator.context, result->events);
        }
        result->events = larger;
        r->event_capacity = capacity;
    }
    if (count > 0) {
        memcpy(result->events + result->event_count, events, (size_t)count * sizeof *events);
    }
    result->event_count = needed;
    return true;
}

/* A copy in the result's memory; NULL: there is nothing, or no memory. */
static void *copied(const perp_run_result *result, const void *from, int count, size_t size)
{
    void *to = count > 0 ? result->allocator.allocate(result->allocator.context, (size_t)count * size) : NULL;
    return to ? memcpy(to, from, (size_t)count * size) : NULL;
}

/* What acts in the last state, for the result. */
static bool keep_forces(perp_run_result *result, const perp_sim *sim)
{
    const int contacts = sim->contacts.count, loops = sim->info->loop_count;
    result->contacts = copied(result, sim->contacts.records, contacts, sizeof *result->contacts);
    result->contact_count = result->contacts ? contacts : 0;
    result->loops = copied(result, sim->info->loops, loops, sizeof *result->loops);
    result->loop_count = result->loops ? loops : 0;
    return result->contact_count == contacts && result->loop_count == loops;
}

static perp_status begin(runner *r, int steps, perp_error *error)
{
    perp_sim *sim = r->sim;
    perp_run_result *result = r->result;
    const perp_rung *rung = result->rung;
    const perp_status status = perp_sim_begin(sim, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_step_info info = *sim->info;
    if (steps == 0) {
        perp_residuals_keep_largest(&result->residuals, &info.residuals);
    }
    /* What a rung answers about the initial state is what there is to see of it: the first answer. */
    const perp_status answered = rung->answer ? rung->answer(&sim->step, &sim->state, result, error) : PERP_STATUS_OK;
    const perp_instant_answer answer = {.answers = rung->answers,
                                        .solution_count = result->solution_count,
                                        .solutions = result->solutions,
                                        .partial = result->partial,
                                        .why_none = result->why_none,
                                        .left_out = result->left_out};
    info.answer = rung->answer && answered == PERP_STATUS_OK ? &answer : NULL;
    if (info.answer && answer.solution_count > 0) {
        info.contact_count = answer.solutions[0].contact_count;
        info.contacts = answer.solutions[0].contacts;
        info.several = answer.solution_count > 1 || answer.solutions[0].vertex_count > 0;
        result->several += info.several;
    }
    if (r->observer && !r->observer(r->observer_context, 0, &sim->state, &info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped before the first step");
    }
    return answered;
}

static perp_status take_step(runner *r, int steps, perp_error *error)
{
    perp_sim *sim = r->sim;
    perp_run_result *result = r->result;
    const int before = sim->steps;
    const double started = now_us();
    const perp_status status = perp_sim_step(sim, error);
    const double step_us = now_us() - started;
    const perp_step_info *info = sim->info;
    result->iterations += sim->iterations;
    if (sim->steps > before) {
        note_time(&r->watch, sim->steps, step_us, info->solve_us);
        perp_residuals_keep_largest(&result->residuals, &info->residuals);
        count_fallbacks(result, info);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (info->event_count > 0 && !add_events(r, info->events, info->event_count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for %d events", info->event_count);
    }
    if (r->observer && !r->observer(r->observer_context, sim->steps, &sim->state, info)) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped at t = %g s, after step %d of %d", sim->state.t,
                         sim->steps, steps);
    }
    return PERP_STATUS_OK;
}

/* The run as it stood: sums, events, and the simulation. */
static perp_status begin_again(runner *r, const perp_run_start *start, perp_error *error)
{
    perp_run_result *result = r->result;
    perp_run_start last = *start;
    last.event_count = 0; /* those of the last step are not known among all */
    const perp_status status = perp_sim_resume(r->sim, &last, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!add_events(r, start->events, start->event_count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while going on with a run");
    }
    result->residuals = start->residuals;
    memcpy(result->fallbacks, start->fallbacks, sizeof result->fallbacks);
    result->several = start->several;
    return PERP_STATUS_OK;
}

static perp_status take_steps(runner *r, const perp_run_start *start, int steps, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    if (start && start->step > 0) {
        status = begin_again(r, start, error);
    } else { /* who goes on from the initial state has seen it */
        perp_observer *const observer = r->observer;
        r->observer = start ? NULL : observer;
        r->sim->t_from = start ? start->t_start : r->sim->t_from;
        status = begin(r, steps, error);
        r->observer = observer;
    }
    r->watch.stride = 1 + steps / TIMING_SAMPLES;
    while (r->sim->steps < steps && status == PERP_STATUS_OK) {
        status = take_step(r, steps, error);
    }
    return status;
}

/* A run from `start` on; NULL: from the beginning. `with` has the allocator and the observer. */
static perp_status run_from(const perp_model *model, const perp_run_settings *settings, const perp_run_start *start,
                            const perp_run_start *with, perp_state *state, perp_run_result *result, perp_error *error)
{
    memset(result, 0, sizeof *result);
    result->h = settings->h;
    result->allocator = with->allocator ? *with->allocator : perp_allocator_default();
    result->hash = perp_hash_begin();
    perp_sim_settings own = perp_sim_settings_default();
    own.run = settings;
    own.allocator = with->allocator;
    runner r = {.result = result, .observer = with->observer, .observer_context = with->observer_context};
    perp_status status = perp_sim_open(model, &own, state, &r.sim, error);
    if (!r.sim) {
        return status;
    }
    result->rung = r.sim->step.rung;
    const int steps = result->rung->step ? perp_run_steps(settings) : 0, taken = start ? start->step : 0;
    const int left = steps < taken ? 0 : steps - taken;
    r.watch.capacity = left > TIMING_SAMPLES ? TIMING_SAMPLES : left;
    r.watch.samples = PERP_ARENA_NEW(&r.sim->arena, double, (size_t)r.watch.capacity);
    if (status == PERP_STATUS_OK && !r.watch.samples) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    if (status == PERP_STATUS_OK) {
        status = take_steps(&r, start, steps, error);
        result->steps = r.sim->steps;
        result->hash = r.sim->hash;
        result->timing = summarise(&r.watch, result->steps - taken);
        perp_state_copy(model, state, &r.sim->state);
        if (!keep_forces(result, r.sim) && status == PERP_STATUS_OK) {
            status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the forces of the last state");
        }
    }
    perp_sim_free(r.sim);
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

perp_status perp_sim_answer(perp_sim *sim, const perp_state *state, perp_run_result *result, perp_error *error)
{
    const perp_rung *rung = sim->step.rung;
    *result =
        (perp_run_result){.h = sim->settings.h, .allocator = sim->allocator, .rung = rung, .hash = perp_hash_begin()};
    perp_status status = perp_sim_check_state(sim->given, state->t, state->q, state->v, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_state_copy(sim->given, &sim->state, state);
    status = perp_sim_begin(sim, error);
    return status == PERP_STATUS_OK ? rung->answer(&sim->step, &sim->state, result, error) : status;
}
