/* Several runs of one scene, and every pair of them: all runs first, then those in search of causes, then words. */
#include "compare/comparison.h"
#include "compare/tolerances.h"
#include "base/plain_locale.h"
#include "base/settings_size.h"
#include "plan/quantity.h"
#include "trace/state_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a comparison");
}

/* ---- what is run ------------------------------------------------------------------------------------------------- */

static perp_status find_rung(const char *name, const perp_rung **rung, perp_error *error)
{
    perp_run_settings settings = {.model = name, .h = 1.0, .time_scale = 1.0};
    *rung = perp_rung_find(name);
    if (!*rung) {
        return perp_run_check(&settings, error); /* which says what is near */
    }
    return (*rung)->step
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_BAD_INPUT,
                           "model `%s` speaks of the initial state and takes no steps that could be compared", name);
}

static perp_status add_run(compare_memory *m, const perp_rung *rung, double h, double duration, perp_error *error)
{
    const double steps = round(duration / h);
    if (!(h > 0.0) || !isfinite(h)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a step is a positive number of seconds, not %g", h);
    }
    if (steps > PERP_COMPARE_MOST_STEPS) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a run of %g steps is longer than a comparison keeps (%d)", steps,
                         (int)PERP_COMPARE_MOST_STEPS);
    }
    const compare_spec spec = perp_spec_of(m->scene, rung, h, (int)steps);
    const int before = m->job_count, job = perp_jobs_add(m, &spec);
    return job < 0 ? out_of_memory(error)
           : job < before
               ? perp_fail(error, PERP_STATUS_BAD_INPUT, "`%s` with h = %g s is asked for twice", rung->name, h)
               : PERP_STATUS_OK;
}

static perp_status list_runs(compare_memory *m, perp_error *error)
{
    const perp_compare_options *o = &m->options;
    const perp_run_settings *run = &m->scene->run;
    const int models = o->model_count > 0 ? o->model_count : 1, steps = o->h_count > 0 ? o->h_count : 1;
    double longest = o->h_count > 0 ? 0.0 : run->h;
    for (int k = 0; k < o->h_count; k++) {
        longest = fmax(longest, o->h[k]);
    }
    if (models * steps < 2 || models > PERP_COMPARE_MOST_RUNS || steps > PERP_COMPARE_MOST_RUNS ||
        models * steps > PERP_COMPARE_MOST_RUNS) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "a comparison is of 2 to %d runs: give several models, or several steps",
                         (int)PERP_COMPARE_MOST_RUNS);
    }
    const double duration = run->steps_set ? run->steps * longest : run->until;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < models && status == PERP_STATUS_OK; i++) {
        const perp_rung *rung = NULL;
        status = find_rung(o->model_count > 0 ? o->models[i] : run->model, &rung, error);
        for (int k = 0; k < steps && status == PERP_STATUS_OK; k++) {
            status = add_run(m, rung, o->h_count > 0 ? o->h[k] : run->h, duration, error);
        }
    }
    return status;
}

/* ---- what is compared -------------------------------------------------------------------------------------------- */

static perp_status add_column(compare_memory *m, const perp_quantities *q, const char *name, column_kind kind,
                              int *capacity, perp_error *error)
{
    quantity found;
    if (!perp_quantity_resolve(q, name, strlen(name), &found, error)) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (strchr(name, '@') || found.source == QUANTITY_CONSTANT || found.source == QUANTITY_STATUS ||
        found.source == QUANTITY_ANALYSIS) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "`%.100s` has one value a run; what is compared changes from step to step", name);
    }
    if (kind == COLUMN_STATE && (found.source == QUANTITY_CONTACT || found.source == QUANTITY_RESIDUAL)) {
        kind = COLUMN_STEP;
    }
    int room = *capacity;
    compare_column *columns = perp_arena_grow(&m->arena, m->columns, m->column_count, capacity, sizeof *columns);
    quantity *quantities = perp_arena_grow(&m->arena, m->quantities, m->column_count, &room, sizeof *quantities);
    const char *kept = perp_arena_text(&m->arena, name, strlen(name));
    if (!columns || !quantities || !kept) {
        return out_of_memory(error);
    }
    columns[m->column_count] = (compare_column){.name = kept, .kind = kind, .first = m->column_count};
    quantities[m->column_count] = found;
    m->columns = columns;
    m->quantities = quantities;
    m->column_count++;
    return PERP_STATUS_OK;
}

/* The positions of all bodies and joints. */
static perp_status add_positions(compare_memory *m, const perp_quantities *q, int *capacity, perp_error *error)
{
    state_entry entry;
    perp_status status = PERP_STATUS_OK;
    for (int cursor = 0; status == PERP_STATUS_OK && perp_state_next(q->model, &q->start, &cursor, &entry);) {
        const int rotation = entry.nq == 7 ? 3 : entry.nq == 4 ? 0 : entry.nq;
        for (int k = 0; k < entry.nq && status == PERP_STATUS_OK; k++) {
            char name[PERP_SCENE_MAX_NAME + 16];
            snprintf(name, sizeof name, "%s%s", entry.name, perp_state_ending(entry.nq, false, k));
            status = add_column(m, q, name, k < rotation ? COLUMN_STATE : COLUMN_ROTATION, capacity, error);
            if (status == PERP_STATUS_OK && k > rotation) {
                m->columns[m->column_count - 1].first -= k - rotation;
            }
        }
    }
    return status;
}

static perp_status list_columns(compare_memory *m, perp_error *error)
{
    perp_model *model = NULL;
    perp_quantities *q = NULL;
    perp_scene scene = *m->scene;
    int capacity = 0;
    scene.run = m->jobs[0]->spec.settings;
    perp_status status = perp_model_build(&scene, &m->allocator, &model, error);
    status = status == PERP_STATUS_OK ? perp_quantities_create(model, &m->allocator, &q, error) : status;
    for (int i = 0; i < m->options.quantity_count && status == PERP_STATUS_OK; i++) {
        status = add_column(m, q, m->options.quantities[i], COLUMN_STATE, &capacity, error);
    }
    if (status == PERP_STATUS_OK && m->options.quantity_count == 0) {
        status = add_positions(m, q, &capacity, error);
    }
    perp_quantities_free(q);
    perp_model_free(model);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

typedef struct pair_list {
    compare_memory *m;
    int runs, count;
    compare_pair *pairs;
    perp_difference *differences;
} pair_list;

static void measure(const compare_memory *m, compare_pair *pair)
{
    const compare_job *a = m->jobs[pair->runs[0]], *b = m->jobs[pair->runs[1]];
    pair->own[0] = a->spec;
    pair->own[1] = b->spec;
    pair->chooser = -1;
    pair->times = perp_track_times(a, b);
    pair->most = perp_track_most(a, b, pair->times);
    pair->agree =
        pair->most.column < 0 || pair->most.size <= AGREES * perp_track_range(a, b, pair->most.column) + AGREES_AT_REST;
}

static void tell_size(const compare_memory *m, const compare_pair *pair, perp_difference *d)
{
    d->a = pair->runs[0];
    d->b = pair->runs[1];
    d->until = pair->times.count > 0 ? pair->times.count * pair->times.h : 0.0;
    d->largest = pair->most.size;
    d->quantity = pair->most.column >= 0 ? m->columns[pair->most.column].name : NULL;
    d->t = pair->most.step * pair->times.h;
}

static perp_status list_pairs(pair_list *l, perp_error *error)
{
    compare_memory *m = l->m;
    l->pairs = PERP_ARENA_NEW(&m->arena, compare_pair, (size_t)(l->runs * (l->runs - 1) / 2));
    l->differences = PERP_ARENA_NEW(&m->arena, perp_difference, (size_t)(l->runs * (l->runs - 1) / 2));
    perp_status status = l->pairs && l->differences ? PERP_STATUS_OK : out_of_memory(error);
    for (int a = 0; a < l->runs && status == PERP_STATUS_OK; a++) {
        for (int b = a + 1; b < l->runs && status == PERP_STATUS_OK; b++) {
            compare_pair *pair = &l->pairs[l->count];
            pair->runs[0] = a;
            pair->runs[1] = b;
            measure(m, pair);
            tell_size(m, pair, &l->differences[l->count]);
            status = perp_track_part(m->jobs[a], m->jobs[b], pair->times, &l->differences[l->count++], error);
        }
    }
    return status;
}

/* ---- causes ------------------------------------------------------------------------------------------------------ */

/* The two runs of a trial, as far as tests are allowed. */
static perp_status add_trial(const pair_list *l, compare_trial *trial, perp_error *error)
{
    compare_memory *m = l->m;
    for (int k = 0; k < 2; k++) {
        const bool full = m->job_count >= l->runs + m->options.tests;
        trial->jobs[k] = full ? perp_jobs_find(m, &trial->spec[k]) : perp_jobs_add(m, &trial->spec[k]);
        if (trial->jobs[k] < 0 && !full) {
            return out_of_memory(error);
        }
    }
    return PERP_STATUS_OK;
}

static bool is_tested(const compare_pair *pair, const compare_memory *m)
{
    return !pair->agree && pair->times.count >= 0 && m->options.tests > 0;
}

static perp_status run_trials(const pair_list *l, perp_error *error)
{
    compare_memory *m = l->m;
    perp_status status = PERP_STATUS_OK;
    const int from = m->job_count;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        compare_pair *pair = &l->pairs[i];
        pair->tests = PERP_ARENA_NEW(&m->arena, perp_compare_test, MOST_TRIALS + 1);
        status = pair->tests ? PERP_STATUS_OK : out_of_memory(error);
        if (status == PERP_STATUS_OK && is_tested(pair, m)) {
            perp_trials_list(m, pair);
        }
        for (int k = 0; k < pair->trial_count && status == PERP_STATUS_OK; k++) {
            status = add_trial(l, &pair->trials[k], error);
        }
    }
    status = status == PERP_STATUS_OK ? perp_jobs_run(m, from, error) : status;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        compare_pair *pair = &l->pairs[i];
        for (int k = 0; k < pair->trial_count && status == PERP_STATUS_OK; k++) {
            status = perp_trial_judge(m, pair, &pair->trials[k], &pair->tests[k], error);
        }
    }
    return status;
}

static bool is_explained(const compare_pair *pair)
{
    bool any = pair->chooser >= 0;
    for (int k = 0; k < pair->trial_count; k++) {
        any = any || (pair->tests[k].status == PERP_STATUS_OK && pair->tests[k].left <= EXPLAINED);
    }
    return any;
}

/* Where no assumption alone explains it, several at once. */
static perp_status run_joined(const pair_list *l, perp_error *error)
{
    compare_memory *m = l->m;
    perp_status status = PERP_STATUS_OK;
    const int from = m->job_count;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        compare_pair *pair = &l->pairs[i];
        pair->joins = is_tested(pair, m) && !is_explained(pair) && perp_trials_join(pair);
        status = pair->joins ? add_trial(l, &pair->joined, error) : PERP_STATUS_OK;
    }
    status = status == PERP_STATUS_OK ? perp_jobs_run(m, from, error) : status;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        compare_pair *pair = &l->pairs[i];
        if (pair->joins) {
            status = perp_trial_judge(m, pair, &pair->joined, &pair->tests[pair->trial_count], error);
        }
    }
    return status;
}

static perp_status find_causes(const pair_list *l, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        if (is_tested(&l->pairs[i], l->m)) {
            status = perp_choice_test(l->m, &l->pairs[i], error);
        }
    }
    status = status == PERP_STATUS_OK ? run_trials(l, error) : status;
    status = status == PERP_STATUS_OK ? run_joined(l, error) : status;
    for (int i = 0; i < l->count && status == PERP_STATUS_OK; i++) {
        status = perp_cause_tell(l->m, &l->pairs[i], &l->differences[i], error);
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool tell_runs(compare_memory *m, int count, perp_comparison *c)
{
    const char **names = PERP_ARENA_NEW(&m->arena, const char *, (size_t)m->column_count);
    c->runs = PERP_ARENA_NEW(&m->arena, perp_compared_run, (size_t)count);
    for (int i = 0; i < count && c->runs; i++) {
        const compare_job *job = m->jobs[i];
        c->runs[i] = (perp_compared_run){.model = job->model,
                                         .rung = job->spec.rung,
                                         .h = job->spec.settings.h,
                                         .cone = perp_spec_cone(&job->spec),
                                         .rays = m->scene->planar ? 2 : job->spec.settings.rays,
                                         .status = job->status,
                                         .error = job->error,
                                         .state = job->state,
                                         .result = job->result,
                                         .row_count = job->rows,
                                         .values = job->values};
    }
    for (int i = 0; i < m->column_count && names; i++) {
        names[i] = m->columns[i].name;
    }
    c->scene = m->scene;
    c->quantities = names;
    c->quantity_count = m->column_count;
    c->run_count = count;
    c->memory = m;
    return c->runs && names;
}

static perp_status compare_all(compare_memory *m, perp_comparison *c, perp_error *error)
{
    perp_status status = list_runs(m, error);
    status = status == PERP_STATUS_OK ? list_columns(m, error) : status;
    pair_list l = {.m = m, .runs = m->job_count};
    status = status == PERP_STATUS_OK ? perp_jobs_run(m, 0, error) : status;
    status = status == PERP_STATUS_OK ? list_pairs(&l, error) : status;
    status = status == PERP_STATUS_OK ? find_causes(&l, error) : status;
    if (status == PERP_STATUS_OK && !tell_runs(m, l.runs, c)) {
        status = out_of_memory(error);
    }
    c->differences = l.differences;
    c->difference_count = l.count;
    c->test_runs = m->job_count - l.runs;
    return status;
}

/* Words have a decimal point whatever the program's locale says. */
static perp_status compare(compare_memory *m, perp_comparison *c, perp_error *error)
{
    perp_plain_locale locale = {0};
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    if (perp_plain_locale_open(&locale)) {
        perp_plain_locale_enter(&locale);
        status = compare_all(m, c, error);
        perp_plain_locale_leave(&locale);
    } else {
        out_of_memory(error);
    }
    perp_plain_locale_close(&locale);
    return status;
}

static void release(compare_memory *m)
{
    perp_arena arena = m->arena;
    perp_jobs_free(m);
    perp_arena_clear(&arena);
}

perp_status perp_compare(const perp_scene *scene, const perp_compare_options *options, perp_comparison **comparison,
                         perp_error *error)
{
    const perp_compare_options standard = perp_compare_options_default();
    const perp_compare_options *o = options ? options : &standard;
    *comparison = NULL;
    if (PERP_CHECK_SIZE(perp_compare_options, o, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    perp_arena arena;
    perp_arena_init(&arena, o->allocator);
    perp_comparison *made = PERP_ARENA_NEW(&arena, perp_comparison, 1);
    compare_memory *m = PERP_ARENA_NEW(&arena, compare_memory, 1);
    if (!made || !m) {
        perp_arena_clear(&arena);
        return out_of_memory(error);
    }
    *m = (compare_memory){.allocator = arena.allocator, .arena = arena, .options = *o, .scene = scene};
    for (int i = 0; i < scene->joint_count; i++) {
        m->springs = m->springs || scene->joints[i].control == PERP_CONTROL_IMPEDANCE;
    }
    const perp_status status = compare(m, made, error);
    if (status != PERP_STATUS_OK) {
        release(m);
        return status;
    }
    *comparison = made;
    return PERP_STATUS_OK;
}

void perp_comparison_free(perp_comparison *comparison)
{
    if (comparison) {
        release(comparison->memory);
    }
}

double perp_compared_value(const perp_comparison *comparison, int run, int index, double t)
{
    return perp_track_value(comparison->memory->jobs[run], index, t);
}
