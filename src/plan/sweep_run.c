/* The cases of a sweep on threads: whoever is free takes the next one that is not finished. */
#include "base/plain_locale.h"
#include "base/settings_size.h"
#include "plan/sweep_refine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct sweep_run {
    const perp_sweep *sweep;
    const perp_sweep_options *options;
    pthread_mutex_t mutex; /* of all below */
    sweep_part part;
    sweep_tasks tasks;  /* without `tasks` the cases of the grid */
    int first, next;    /* the row of the first task; the next task */
    perp_status status; /* the first failure */
    perp_error error;
} sweep_run;

static bool cancelled(const sweep_run *r)
{
    return r->options->cancel && *r->options->cancel;
}

/* Whole: the first row of a pair alone is of a program that was killed between the two. */
static bool is_done(const sweep_run *r, int task)
{
    bool done = true;
    for (int k = 0; k < r->tasks.rows; k++) {
        done = done && perp_sweep_part_has(&r->part, r->first + task * r->tasks.rows + k);
    }
    return done;
}

/* The next task, -1: none is left, or the sweep has to end. */
static int take(sweep_run *r)
{
    int index = -1;
    pthread_mutex_lock(&r->mutex);
    if (r->status == PERP_STATUS_OK && cancelled(r)) {
        r->status = perp_fail(&r->error, PERP_STATUS_CANCELLED, "interrupted");
    }
    while (r->next < r->tasks.count && is_done(r, r->next)) {
        r->next++;
    }
    if (r->status == PERP_STATUS_OK && r->next < r->tasks.count) {
        index = r->next++;
    }
    pthread_mutex_unlock(&r->mutex);
    return index;
}

/* The rows of a task, as far as it went well. */
static void put(sweep_run *r, int task, const byte_row *rows, const bool *failed, perp_status status,
                const perp_error *error)
{
    pthread_mutex_lock(&r->mutex);
    perp_error own = {0};
    for (int k = 0; status == PERP_STATUS_OK && k < r->tasks.rows; k++) {
        const int number = r->first + task * r->tasks.rows + k;
        if (!perp_sweep_part_has(&r->part, number)) {
            status = perp_sweep_part_add(&r->part, number, &rows[k], failed[k], &own);
            error = &own;
        }
    }
    if (status != PERP_STATUS_OK && r->status == PERP_STATUS_OK) {
        r->error = *error;
        r->status = status;
    } else if (status == PERP_STATUS_OK && r->options->progress) {
        r->options->progress(r->options->context, r->part.done, r->part.count);
    }
    pthread_mutex_unlock(&r->mutex);
}

static perp_status compute_task(const sweep_run *r, int index, byte_row rows[2], bool failed[2], perp_error *error)
{
    if (r->tasks.tasks && r->tasks.tasks[index].output >= 0) {
        return perp_sweep_refine_edge(r->sweep, &r->tasks.tasks[index], r->options->cancel, rows, failed, error);
    }
    const sweep_spot spot = r->tasks.tasks ? r->tasks.tasks[index].spot : perp_sweep_spot(index);
    perp_bytes_clear(&rows[0]);
    return perp_sweep_row(r->sweep, &spot, r->options->cancel, &rows[0], &failed[0], error);
}

static void *work(void *context)
{
    sweep_run *r = context;
    byte_row rows[2] = {{.allocator = &r->sweep->allocator}, {.allocator = &r->sweep->allocator}};
    bool failed[2];
    perp_plain_locale locale = {0};
    perp_error error = {0};
    if (!perp_plain_locale_open(&locale)) {
        perp_plain_locale_close(&locale);
        put(r, -1, rows, failed, perp_fail(&error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a sweep"), &error);
        return NULL;
    }
    perp_plain_locale_enter(&locale);
    for (int index; (index = take(r)) >= 0;) {
        const perp_status status = compute_task(r, index, rows, failed, &error);
        put(r, index, rows, failed, status, &error);
    }
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    perp_bytes_free(&rows[0]);
    perp_bytes_free(&rows[1]);
    return NULL;
}

enum { MOST_WORKERS = 256 };

/* The calling thread is one of the workers; where the system gives fewer, fewer do it all. */
static void work_together(sweep_run *r)
{
    pthread_t threads[MOST_WORKERS];
    int count = 0;
    while (count + 1 < r->options->workers && count < MOST_WORKERS &&
           pthread_create(&threads[count], NULL, work, r) == 0) {
        count++;
    }
    work(r);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* The grid, and of a refined sweep what follows from it, until nothing does. */
static void work_through(sweep_run *r, perp_arena *arena)
{
    sweep_refine refine;
    const bool refined = r->sweep->refine.levels >= 0;
    r->tasks = (sweep_tasks){.count = r->sweep->cases, .rows = 1};
    work_together(r);
    if (refined && r->status == PERP_STATUS_OK) {
        r->status = perp_sweep_refine_begin(r->sweep, arena, &refine, &r->error);
    }
    while (refined && r->status == PERP_STATUS_OK) {
        r->first = r->part.count;
        r->next = 0;
        r->status = perp_sweep_refine_next(&refine, &r->part, &r->tasks, &r->error);
        if (r->status != PERP_STATUS_OK || r->tasks.count == 0) {
            break;
        }
        work_together(r);
    }
}

/* ---- a result that is whole -------------------------------------------------------------------------------------- */

static perp_status refuse_other(const char *path, perp_error *error)
{
    return perp_fail(
        error, PERP_STATUS_BAD_INPUT,
        "`%s` is whole, but of another sweep, or its files or perp have changed since; without --resume it "
        "is replaced",
        path);
}

/* The row as it would be computed, but only up to the outputs for all but the first. */
static perp_status expected_row(const perp_sweep *s, int index, byte_row *row, perp_error *error)
{
    bool failed;
    perp_arena arena;
    sweep_case c;
    const sweep_spot spot = perp_sweep_spot(index);
    if (index == 0) {
        return perp_sweep_row(s, &spot, NULL, row, &failed, error);
    }
    perp_arena_init(&arena, &s->allocator);
    const bool made = perp_sweep_case_make(s, &spot, &arena, &c);
    if (made) {
        perp_sweep_row_begin(s, &c, row);
        perp_bytes_text(row, ",");
    }
    perp_arena_clear(&arena);
    return made && !row->failed ? PERP_STATUS_OK
                                : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a row");
}

/* Is the file of this sweep? Header, parameters of all rows, and the first row. */
static perp_status check_whole(const perp_sweep *s, FILE *stream, const char *path, perp_sweep_result *result,
                               perp_error *error)
{
    byte_row row = {.allocator = &s->allocator};
    char *line = NULL;
    size_t capacity = 0;
    int index = -1;
    perp_status status = PERP_STATUS_OK;
    perp_sweep_header(s, &row);
    for (ssize_t length; status == PERP_STATUS_OK && (length = getline(&line, &capacity, stream)) > 0; index++) {
        const bool same = index < s->cases && row.size <= (size_t)length && memcmp(line, row.bytes, row.size) == 0 &&
                          line[length - 1] == '\n' && (index > 0 || row.size == (size_t)length);
        status = same ? PERP_STATUS_OK : refuse_other(path, error);
        result->errors += index >= 0 && same && line[length - 2] != ',';
        perp_bytes_clear(&row);
        if (status == PERP_STATUS_OK && index + 1 < s->cases) {
            status = expected_row(s, index + 1, &row, error);
        }
    }
    if (status == PERP_STATUS_OK && index != s->cases) {
        status = refuse_other(path, error);
    }
    free(line);
    perp_bytes_free(&row);
    return status;
}

/* UNAVAILABLE: there is none. */
static perp_status find_whole(const perp_sweep *s, const char *path, perp_sweep_result *result, perp_error *error)
{
    FILE *stream = fopen(path, "r");
    if (!stream) {
        return PERP_STATUS_UNAVAILABLE;
    }
    perp_plain_locale locale = {0};
    perp_status status = PERP_STATUS_OUT_OF_MEMORY;
    if (perp_plain_locale_open(&locale)) {
        perp_plain_locale_enter(&locale);
        status = check_whole(s, stream, path, result, error);
        perp_plain_locale_leave(&locale);
    }
    perp_plain_locale_close(&locale);
    fclose(stream);
    result->done = result->resumed = status == PERP_STATUS_OK ? s->cases : 0;
    return status;
}

static bool part_exists(const char *path, perp_arena *arena)
{
    const size_t size = strlen(path) + sizeof ".part";
    char *name = perp_arena_push(arena, size, 1);
    if (!name) {
        return true; /* opening it says so */
    }
    snprintf(name, size, "%s.part", path);
    return access(name, F_OK) == 0;
}

/* ---- the whole sweep --------------------------------------------------------------------------------------------- */

static perp_status compute(sweep_run *r, const char *path, perp_arena *arena, perp_sweep_result *result,
                           perp_error *error)
{
    perp_status status = perp_sweep_part_open(r->sweep, path, r->options->resume, arena, &r->part, error);
    if (status == PERP_STATUS_OK) {
        result->resumed = r->part.done;
        work_through(r, arena);
        status = r->status;
        if (status != PERP_STATUS_OK && error) {
            *error = r->error;
        }
        if (r->part.done == 0) {
            perp_sweep_part_remove(&r->part);
        }
    }
    if (status == PERP_STATUS_OK) {
        status = perp_sweep_part_publish(r->sweep, &r->part, path, error);
    }
    result->cases = r->part.count;
    result->done = r->part.done;
    result->errors = r->part.errors;
    perp_sweep_part_close(&r->part);
    return status;
}

perp_status perp_sweep_run(const perp_sweep *sweep, const char *path, const perp_sweep_options *options,
                           perp_sweep_result *result, perp_error *error)
{
    memset(result, 0, sizeof *result);
    result->cases = sweep->cases;
    if (PERP_CHECK_SIZE(perp_sweep_options, options, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    perp_arena arena;
    perp_arena_init(&arena, &sweep->allocator);
    perp_status status = PERP_STATUS_UNAVAILABLE;
    if (options->resume && sweep->refine.levels < 0 && !part_exists(path, &arena)) {
        status = find_whole(sweep, path, result, error);
    }
    if (status == PERP_STATUS_UNAVAILABLE) {
        sweep_run r = {.sweep = sweep, .options = options};
        if (pthread_mutex_init(&r.mutex, NULL) != 0) {
            status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a sweep");
        } else {
            status = compute(&r, path, &arena, result, error);
            pthread_mutex_destroy(&r.mutex);
        }
    }
    perp_arena_clear(&arena);
    return status;
}
