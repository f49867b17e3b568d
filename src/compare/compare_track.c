/* Two runs side by side: the times at which both are looked at, their values there, and the modes of their contacts. */
#include "compare/comparison.h"
#include "compare/tolerances.h"
#include "plan/tolerances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

int perp_track_step(double h, double t)
{
    const double step = floor(t / h + STEP_ROUNDING);
    return step < 2e9 ? (int)step : 2000000000;
}

static double stored(const compare_job *job, int column, int row)
{
    return job->values[(ptrdiff_t)row * job->memory->column_count + column];
}

/* The step that t lies in, and how far t is into it: 0 at its end, below 0 before. */
static int step_around(double h, double t, double *before_end)
{
    const int begun = perp_track_step(h, t);
    const double into = t / h - begun;
    *before_end = into > STEP_ROUNDING ? into - 1.0 : 0.0;
    return into > STEP_ROUNDING ? begun + 1 : begun;
}

static void rotation_at(const compare_job *job, int first, double t, double *q)
{
    double before, dot = 0.0, square = 0.0;
    const int row = step_around(job->spec.settings.h, t, &before);
    if (row >= job->rows) {
        q[0] = q[1] = q[2] = q[3] = NAN;
        return;
    }
    for (int k = 0; k < 4 && before < 0.0; k++) {
        dot += stored(job, first + k, row) * stored(job, first + k, row - 1);
    }
    for (int k = 0; k < 4; k++) {
        const double last = before < 0.0 ? (dot < 0.0 ? -1.0 : 1.0) * stored(job, first + k, row - 1) : 0.0;
        q[k] = (1.0 + before) * stored(job, first + k, row) - before * last;
        square += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++) {
        q[k] /= sqrt(square);
    }
}

double perp_track_value(const compare_job *job, int column, double t)
{
    const compare_column *c = &job->memory->columns[column];
    double before, q[4];
    const int row = step_around(job->spec.settings.h, t, &before);
    if (row < 0 || row >= job->rows || (row == 0 && before < 0.0)) {
        return NAN;
    }
    if (c->kind == COLUMN_ROTATION && before < 0.0) {
        rotation_at(job, c->first, t, q);
        return q[column - c->first];
    }
    const double now = stored(job, column, row);
    return c->kind == COLUMN_STEP || before == 0.0 ? now : (1.0 + before) * now - before * stored(job, column, row - 1);
}

double perp_track_difference(const compare_job *a, const compare_job *b, int column, double t)
{
    const compare_column *c = &a->memory->columns[column];
    if (c->kind != COLUMN_ROTATION) {
        return perp_track_value(a, column, t) - perp_track_value(b, column, t);
    }
    double q[4], p[4], dot = 0.0; /* q and -q are one rotation */
    rotation_at(a, c->first, t, q);
    rotation_at(b, c->first, t, p);
    for (int k = 0; k < 4; k++) {
        dot += q[k] * p[k];
    }
    return q[column - c->first] - (dot < 0.0 ? -1.0 : 1.0) * p[column - c->first];
}

compare_times perp_track_times(const compare_job *a, const compare_job *b)
{
    const double ha = a->spec.settings.h, hb = b->spec.settings.h, h = fmax(ha, hb);
    const int ends[2] = {perp_track_step(h, (a->rows - 1) * ha), perp_track_step(h, (b->rows - 1) * hb)};
    return (compare_times){h, a->rows == 0 || b->rows == 0 ? -1 : ends[0] < ends[1] ? ends[0] : ends[1]};
}

/* The first time and column whose difference is more than `least`. */
static compare_most first_above(const compare_job *a, const compare_job *b, compare_times times, double least)
{
    for (int k = 0; k <= times.count; k++) {
        for (int c = 0; c < a->memory->column_count; c++) {
            const double size = fabs(perp_track_difference(a, b, c, k * times.h));
            if (size > least) {
                return (compare_most){size, c, k};
            }
        }
    }
    return (compare_most){.column = -1};
}

compare_most perp_track_most(const compare_job *a, const compare_job *b, compare_times times)
{
    double largest = 0.0;
    for (int k = 0; k <= times.count; k++) {
        for (int c = 0; c < a->memory->column_count; c++) {
            const double size = fabs(perp_track_difference(a, b, c, k * times.h));
            largest = size > largest ? size : largest;
        }
    }
    compare_most most = first_above(a, b, times, (1.0 - AS_LARGE) * largest);
    most.size = largest;
    return most;
}

int perp_track_parting(const compare_job *a, const compare_job *b, compare_times times, double least)
{
    const compare_most first = first_above(a, b, times, least);
    return first.column < 0 ? -1 : first.step;
}

double perp_track_range(const compare_job *a, const compare_job *b, int column)
{
    const compare_job *jobs[2] = {a, b};
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 2; i++) {
        for (int row = 0; row < jobs[i]->rows; row++) {
            const double value = stored(jobs[i], column, row);
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
    return high > low ? high - low : 0.0;
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

typedef struct contact_modes {
    const perp_contact_event *contact;
    perp_contact_mode modes[2];
} contact_modes;

typedef struct mode_table {
    perp_arena arena;
    contact_modes *contacts;
    int count, capacity;
} mode_table;

static int order(const perp_contact_event *x, const perp_contact_event *y)
{
    return x->a != y->a ? x->a - y->a : x->b != y->b ? x->b - y->b : strcmp(x->feature, y->feature);
}

/* A contact without events was open from the start. */
static contact_modes *find(mode_table *table, const perp_contact_event *event)
{
    for (int i = 0; i < table->count; i++) {
        if (order(table->contacts[i].contact, event) == 0) {
            return &table->contacts[i];
        }
    }
    contact_modes *grown =
        perp_arena_grow(&table->arena, table->contacts, table->count, &table->capacity, sizeof *grown);
    if (!grown) {
        return NULL;
    }
    table->contacts = grown;
    grown[table->count] = (contact_modes){.contact = event, .modes = {PERP_CONTACT_OPEN, PERP_CONTACT_OPEN}};
    return &grown[table->count++];
}

/* Takes in the events of run `side` up to the end of the step that t lies in. */
static bool go_on(mode_table *table, const compare_job *job, int side, double t, int *next)
{
    double before;
    const double h = job->spec.settings.h, end = (step_around(h, t, &before) + 0.5) * h;
    for (; *next < job->result.event_count && job->result.events[*next].t < end; ++*next) {
        contact_modes *c = find(table, &job->result.events[*next]);
        if (!c) {
            return false;
        }
        c->modes[side] = job->result.events[*next].to;
    }
    return true;
}

static const contact_modes *first_parted(const mode_table *table)
{
    const contact_modes *first = NULL;
    for (int i = 0; i < table->count; i++) {
        const contact_modes *c = &table->contacts[i];
        if (c->modes[0] != c->modes[1] && (!first || order(c->contact, first->contact) < 0)) {
            first = c;
        }
    }
    return first;
}

static void tell_part(const compare_job *a, const contact_modes *c, double t, perp_difference *d)
{
    const perp_body *bodies = a->memory->scene->bodies;
    d->parted = true;
    d->first_t = t;
    snprintf(d->first_contact, sizeof d->first_contact, "%s %s %s", bodies[c->contact->a].name,
             bodies[c->contact->b].name, c->contact->feature);
    d->modes[0] = c->modes[0];
    d->modes[1] = c->modes[1];
}

perp_status perp_track_part(const compare_job *a, const compare_job *b, compare_times times, perp_difference *d,
                            perp_error *error)
{
    mode_table table = {.count = 0};
    int next[2] = {0, 0};
    bool good = true;
    perp_arena_init(&table.arena, &a->memory->allocator);
    for (int k = 1; k <= times.count && good && !d->parted; k++) {
        const double t = k * times.h;
        good = go_on(&table, a, 0, t, &next[0]) && go_on(&table, b, 1, t, &next[1]);
        const contact_modes *first = good ? first_parted(&table) : NULL;
        if (first) {
            tell_part(a, first, t, d);
        }
    }
    perp_arena_clear(&table.arena);
    return good ? PERP_STATUS_OK : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the modes of runs");
}
