/* Runs on threads: whoever is free takes the next one. */
#include "compare/comparison.h"
#include "plan/quantity.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---- one run ----------------------------------------------------------------------------------------------------- */

static bool observe(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    compare_job *job = context;
    const compare_memory *m = job->memory;
    double *row = job->values + (ptrdiff_t)(job->before + step) * m->column_count;
    if (job->before > 0 && step == 0) { /* the end of the step before */
        return true;
    }
    for (int c = 0; c < m->column_count; c++) {
        row[c] = perp_quantity_now(job->quantities, &m->quantities[c], step, state, info);
    }
    job->rows = job->before + step + 1;
    return !(m->options.cancel && *m->options.cancel);
}

static perp_status prepare(compare_job *job, perp_error *error)
{
    const compare_memory *m = job->memory;
    if (!perp_spec_scene(&job->spec, m->scene, &job->arena, &job->scene)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a run");
    }
    job->scene.run.cancel = m->options.cancel;
    perp_status status = perp_model_build(&job->scene, &m->allocator, &job->model, error);
    if (status == PERP_STATUS_OK) {
        status = perp_state_create(job->model, &m->allocator, &job->state, error);
        job->has_state = status == PERP_STATUS_OK;
    }
    if (status == PERP_STATUS_OK) {
        status = perp_quantities_create(job->model, &m->allocator, &job->quantities, error);
    }
    const size_t rows = (size_t)job->spec.settings.steps + 1;
    job->values = PERP_ARENA_NEW(&job->arena, double, rows *(size_t)m->column_count);
    return status != PERP_STATUS_OK || job->values
               ? status
               : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the states of a run");
}

/* One run a step, each from rest. */
static perp_status run_from_rest(compare_job *job, perp_error *error)
{
    perp_run_settings one = job->scene.run;
    perp_status status = PERP_STATUS_OK;
    one.steps = 1;
    for (job->before = 0; job->before < job->spec.settings.steps && status == PERP_STATUS_OK; job->before++) {
        perp_run_result_free(&job->result);
        memset(job->state.v, 0, (size_t)job->model->nv * sizeof *job->state.v);
        status = perp_run(job->model, &one, &job->memory->allocator, observe, job, &job->state, &job->result, error);
    }
    return status;
}

static perp_status run(compare_job *job, perp_error *error)
{
    return job->spec.forgetful ? run_from_rest(job, error)
                               : perp_run(job->model, &job->scene.run, &job->memory->allocator, observe, job,
                                          &job->state, &job->result, error);
}

/* Ending is due to what belongs to the whole comparison; all else is the run's own. */
static bool is_fatal(perp_status status)
{
    return status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED;
}

static perp_status make(compare_job *job, perp_error *error)
{
    perp_status status = prepare(job, &job->error);
    if (status == PERP_STATUS_OK) {
        status = run(job, &job->error);
    }
    perp_quantities_free(job->quantities);
    job->quantities = NULL;
    job->status = status;
    return is_fatal(status) ? perp_fail(error, status, "%s", job->error.message) : PERP_STATUS_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

typedef struct job_queue {
    compare_memory *memory;
    pthread_mutex_t mutex; /* of all below */
    int next, done;
    perp_status status; /* the first failure */
    perp_error error;
} job_queue;

static compare_job *take(job_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    compare_job *job =
        q->status == PERP_STATUS_OK && q->next < q->memory->job_count ? q->memory->jobs[q->next++] : NULL;
    pthread_mutex_unlock(&q->mutex);
    return job;
}

static void put(job_queue *q, perp_status status, const perp_error *error)
{
    const perp_compare_options *options = &q->memory->options;
    pthread_mutex_lock(&q->mutex);
    q->done++;
    if (status != PERP_STATUS_OK && q->status == PERP_STATUS_OK) {
        q->status = status;
        q->error = *error;
    }
    if (options->progress) {
        options->progress(options->context, q->done, q->memory->job_count);
    }
    pthread_mutex_unlock(&q->mutex);
}

static void *work(void *context)
{
    job_queue *q = context;
    for (compare_job *job; (job = take(q)) != NULL;) {
        perp_error error = {0};
        const perp_status status = make(job, &error);
        put(q, status, &error);
    }
    return NULL;
}

enum { MOST_WORKERS = 64 };

/* The calling thread is one of the workers; where the system gives fewer, fewer do it all. */
static void work_together(job_queue *q, int workers)
{
    pthread_t threads[MOST_WORKERS];
    int count = 0;
    while (count + 1 < workers && count < MOST_WORKERS && pthread_create(&threads[count], NULL, work, q) == 0) {
        count++;
    }
    work(q);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

perp_status perp_jobs_run(compare_memory *m, int from, perp_error *error)
{
    job_queue q = {.memory = m, .next = from, .done = from};
    const int left = m->job_count - from;
    if (pthread_mutex_init(&q.mutex, NULL) != 0) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the runs of a comparison");
    }
    work_together(&q, m->options.workers < left ? m->options.workers : left);
    pthread_mutex_destroy(&q.mutex);
    return q.status == PERP_STATUS_OK ? PERP_STATUS_OK : perp_fail(error, q.status, "%s", q.error.message);
}

static compare_job *new_job(compare_memory *m, const compare_spec *spec)
{
    compare_job **grown = perp_arena_grow(&m->arena, m->jobs, m->job_count, &m->job_capacity, sizeof *grown);
    compare_job *job = PERP_ARENA_NEW(&m->arena, compare_job, 1);
    if (!grown || !job) {
        return NULL;
    }
    m->jobs = grown;
    job->memory = m;
    job->spec = *spec;
    perp_arena_init(&job->arena, &m->allocator);
    return m->jobs[m->job_count++] = job;
}

int perp_jobs_find(const compare_memory *m, const compare_spec *spec)
{
    for (int i = 0; i < m->job_count; i++) {
        if (perp_spec_same(&m->jobs[i]->spec, spec)) {
            return i;
        }
    }
    return -1;
}

int perp_jobs_add(compare_memory *m, const compare_spec *spec)
{
    const int found = perp_jobs_find(m, spec);
    return found >= 0 ? found : new_job(m, spec) ? m->job_count - 1 : -1;
}

void perp_jobs_free(compare_memory *m)
{
    for (int i = 0; i < m->job_count; i++) {
        compare_job *job = m->jobs[i];
        perp_run_result_free(&job->result);
        if (job->has_state) {
            perp_state_free(&job->state);
        }
        perp_model_free(job->model);
        perp_arena_clear(&job->arena);
    }
}
