#include "base/hash.h"
#include "report/replay_gather.h"
#include "report/tolerances.h"
#include "step/common/run_result.h"
#include "step/common/rung_cone.h"

#include <stdio.h>
#include <string.h>

enum { MOST_EVENTS = 20000, MOST_WHYS = 20000, PROBES = 16 };

/* What was seen of a contact since the last frame. */
typedef struct sighting {
    int span; /* number of the frame that the extremes lead to; another: there are none yet */
    replay_extremes extremes;
} sighting;

typedef struct gatherer {
    replay_run *run;
    perp_arena *arena;
    perp_cone cone;
    int rays;
    int *table; /* open addressing: contact + 1 by hash of its name; 0: free */
    int table_size;
    sighting *seen; /* by contact */
    int seen_capacity;
    struct {
        perp_contact contact;
        int number;
    } * last; /* the contacts of the step before, in its order: mostly those of this one */
    int last_count, last_capacity;
    int *spanned; /* contacts seen since the last frame */
    int spanned_count, spanned_capacity;
    replay_frame since; /* since the last frame */
    replay_ghost_maker ghosts;
} gatherer;

static perp_status no_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while reading the log for its replay");
}

/* ---- contacts by name -------------------------------------------------------------------------------------------- */

static unsigned slot_of(const gatherer *g, int a, int b, const char *feature)
{
    perp_hash hash = perp_hash_begin();
    perp_hash_bytes(&hash, &a, sizeof a);
    perp_hash_bytes(&hash, &b, sizeof b);
    perp_hash_bytes(&hash, feature, strlen(feature));
    return (unsigned)(hash.value ^ (hash.value >> 32)) & (unsigned)(g->table_size - 1);
}

static unsigned find_slot(const gatherer *g, int a, int b, const char *feature)
{
    unsigned slot = slot_of(g, a, b, feature);
    for (; g->table[slot]; slot = (slot + 1) & (unsigned)(g->table_size - 1)) {
        const replay_contact *c = &g->run->contacts[g->table[slot] - 1];
        if (c->a == a && c->b == b && strcmp(c->feature, feature) == 0) {
            break;
        }
    }
    return slot;
}

static bool grow_table(gatherer *g)
{
    const int size = g->table_size > 0 ? 2 * g->table_size : 256;
    int *table = PERP_ARENA_NEW(g->arena, int, (size_t)size);
    if (!table) {
        return false;
    }
    g->table = table;
    g->table_size = size;
    for (int i = 0; i < g->run->contact_count; i++) {
        const replay_contact *c = &g->run->contacts[i];
        g->table[find_slot(g, c->a, c->b, c->feature)] = i + 1;
    }
    return true;
}

/* The number of a contact, which is a new one where its name is new; -1: out of memory. */
static int number_of(gatherer *g, int a, int b, const char *feature, double friction)
{
    replay_run *run = g->run;
    if (2 * run->contact_count >= g->table_size && !grow_table(g)) {
        return -1;
    }
    const unsigned slot = find_slot(g, a, b, feature);
    if (g->table[slot]) {
        return g->table[slot] - 1;
    }
    replay_contact *contacts =
        perp_arena_grow(g->arena, run->contacts, run->contact_count, &run->contact_capacity, sizeof *contacts);
    sighting *seen = perp_arena_grow(g->arena, g->seen, run->contact_count, &g->seen_capacity, sizeof *seen);
    run->contacts = contacts ? contacts : run->contacts;
    g->seen = seen ? seen : g->seen;
    if (!contacts || !seen) {
        return -1;
    }
    replay_contact *c = &contacts[run->contact_count];
    *c = (replay_contact){.a = a, .b = b, .friction = friction};
    snprintf(c->feature, sizeof c->feature, "%s", feature);
    seen[run->contact_count].span = -1;
    g->table[slot] = ++run->contact_count;
    return run->contact_count - 1;
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static replay_row *new_row(gatherer *g, int contact)
{
    replay_run *run = g->run;
    replay_row *rows = perp_arena_grow(g->arena, run->rows, run->row_count, &run->row_capacity, sizeof *rows);
    if (!rows) {
        return NULL;
    }
    run->rows = rows;
    run->contacts[contact].row_count++;
    rows[run->row_count] = (replay_row){
        .contact = contact, .frame = run->frame_count, .mode = REPLAY_APART, .seen = g->seen[contact].extremes};
    return &rows[run->row_count++];
}

/* Widens the extremes of a contact by one sighting. */
static bool see(gatherer *g, int contact, const perp_contact_record *r, double used)
{
    sighting *s = &g->seen[contact];
    const double phi = r->contact.phi;
    if (s->span != g->run->frame_count) {
        int *spanned = perp_arena_grow(g->arena, g->spanned, g->spanned_count, &g->spanned_capacity, sizeof *spanned);
        if (!spanned) {
            return false;
        }
        g->spanned = spanned;
        spanned[g->spanned_count++] = contact;
        *s = (sighting){g->run->frame_count, {(int)r->mode, phi, phi, r->fn, r->fn, used}};
        return true;
    }
    replay_extremes *e = &s->extremes;
    e->mode_gravest = (int)r->mode > e->mode_gravest ? (int)r->mode : e->mode_gravest;
    e->phi_low = fmin(e->phi_low, phi);
    e->phi_high = fmax(e->phi_high, phi);
    e->fn_low = fmin(e->fn_low, r->fn);
    e->fn_high = fmax(e->fn_high, r->fn);
    e->used_high = fmax(e->used_high, used);
    return true;
}

static bool add_why(gatherer *g, int step, int contact, const char *text)
{
    replay_run *run = g->run;
    if (run->why_count >= MOST_WHYS) {
        return true;
    }
    replay_why *whys = perp_arena_grow(g->arena, run->whys, run->why_count, &run->why_capacity, sizeof *whys);
    const char *copy = perp_arena_text(g->arena, text, strlen(text));
    if (!whys || !copy) {
        return false;
    }
    run->whys = whys;
    whys[run->why_count++] = (replay_why){step, contact, copy};
    return true;
}

/* The number of the contact that is the i-th of its step; -1: out of memory. */
static int number_of_contact(gatherer *g, int i, const perp_contact *contact)
{
    if (i < g->last_count && perp_contact_same(&g->last[i].contact, contact)) {
        return g->last[i].number;
    }
    char feature[64];
    perp_contact_feature_text(contact, feature, sizeof feature);
    const int number = number_of(g, contact->a, contact->b, feature, contact->friction);
    if (i >= g->last_count) {
        void *last = perp_arena_grow(g->arena, g->last, g->last_count, &g->last_capacity, sizeof *g->last);
        if (!last) {
            return -1;
        }
        g->last = last;
        g->last_count = i + 1;
    }
    g->last[i].contact = *contact;
    g->last[i].number = number;
    return number;
}

static void take_directions(replay_contact *contact, const perp_contact *c, bool planar)
{
    contact->restricted = !planar && c->direction_count < 2;
    contact->along[0] = contact->restricted ? perp_vec3_dot(c->directions[0], c->t) : 0.0;
    contact->along[1] = contact->restricted ? perp_vec3_dot(c->directions[0], c->o) : 0.0;
}

double perp_replay_cell(const perp_element_record *elements, int count, bool planar)
{
    static const double FARTHEST = 1e6; /* m: a file may say anything */
    double low = INFINITY, high = -INFINITY, farthest = 0.0;
    for (int e = 0; e < count; e++) {
        low = fmin(low, elements[e].offset[0]);
        high = fmax(high, elements[e].offset[0]);
        farthest = fmax(farthest, fmax(fabs(elements[e].offset[0]), fabs(elements[e].offset[1])));
    }
    const double side = planar ? count : round(sqrt((double)count));
    const double cell = count > 1 && side > 1.0 ? (high - low) / (side - 1.0) : 0.0;
    return cell >= REPLAY_LEAST && farthest <= FARTHEST ? cell : 0.0;
}

/* The forces of a patch at a frame. Where its elements are is the contact's: they stand in its frame (n, t, o). */
static bool take_elements(gatherer *g, replay_row *row, const perp_contact_record *r, const perp_step_info *info)
{
    replay_run *run = g->run;
    replay_contact *contact = &run->contacts[row->contact];
    const perp_element_record *elements = info->elements + r->element_start;
    const double cell = perp_replay_cell(elements, r->element_count, run->head->planar);
    if (!(cell > 0.0)) {
        return true; /* there is nothing to lay its force on */
    }
    row->element_start = run->element_count;
    row->element_count = r->element_count;
    if (r->element_count > contact->element_count) {
        contact->offsets = PERP_ARENA_NEW(g->arena, double, 2 * (size_t)r->element_count);
        if (!contact->offsets) {
            return false;
        }
        contact->element_count = r->element_count;
        contact->cell = cell;
        for (int e = 0; e < r->element_count; e++) {
            memcpy(contact->offsets + 2 * (ptrdiff_t)e, elements[e].offset, sizeof elements[e].offset);
        }
    }
    for (int e = 0; e < r->element_count; e++) {
        double *grown =
            perp_arena_grow(g->arena, run->elements, run->element_count, &run->element_capacity, sizeof *grown);
        if (!grown) {
            return false;
        }
        run->elements = grown;
        grown[run->element_count++] = elements[e].fn;
    }
    return true;
}

/* The contacts of a step: their extremes, and where the step is a frame their rows. */
static bool take_contacts(gatherer *g, const perp_log_step *step, bool frame)
{
    for (int i = 0; i < step->info.contact_count; i++) {
        const perp_contact_record *r = &step->info.contacts[i];
        const int contact = number_of_contact(g, i, &r->contact);
        const double used = perp_friction_used(g->cone, g->rays, r, step->info.elements);
        if (contact < 0 || !see(g, contact, r, used) ||
            (step->why && step->why[i] && !add_why(g, step->step, contact, step->why[i]))) {
            return false;
        }
        replay_row *row = frame ? new_row(g, contact) : NULL;
        if (frame && !row) {
            return false;
        }
        if (row) {
            row->mode = (int)r->mode;
            row->phi = r->contact.phi;
            row->fn = r->fn;
            row->used = used;
            row->limit = perp_friction_limit(r, step->info.elements);
            memcpy(row->ft, r->ft, sizeof row->ft);
            memcpy(row->slip, r->slip, sizeof row->slip);
            row->point = perp_contact_midpoint(&r->contact);
            row->normal = r->contact.normal;
            if (r->element_count > 0 && !take_elements(g, row, r, &step->info)) {
                return false;
            }
            take_directions(&g->run->contacts[contact], &r->contact, g->run->head->planar);
            g->seen[contact].span = -1; /* done with: what is left in `spanned` was only seen in between */
        }
    }
    return true;
}

static bool take_events(gatherer *g, const perp_log_step *step)
{
    replay_run *run = g->run;
    for (int i = 0; i < step->info.event_count; i++) {
        const perp_contact_event *e = &step->info.events[i];
        if (run->event_count >= MOST_EVENTS) {
            run->events_left_out++;
            continue;
        }
        const int contact = number_of(g, e->a, e->b, e->feature, 0.0);
        replay_event *events =
            perp_arena_grow(g->arena, run->events, run->event_count, &run->event_capacity, sizeof *events);
        if (contact < 0 || !events) {
            return false;
        }
        run->events = events;
        events[run->event_count++] = (replay_event){e->t, contact, (int)e->from, (int)e->to};
    }
    return true;
}

static void widen(replay_frame *since, const perp_step_info *info)
{
    since->iterations = info->iterations > since->iterations ? info->iterations : since->iterations;
    perp_residuals_keep_largest(&since->residuals, &info->residuals);
    for (int i = 0; i < PERP_FALLBACK_COUNT; i++) {
        since->fallbacks[i] += info->fallbacks[i];
    }
    since->several += info->several ? 1 : 0;
}

/* What the frame shows beside its contacts. */
static void take_frame(gatherer *g, const perp_log_step *step)
{
    replay_run *run = g->run;
    const size_t poses = (size_t)run->head->body_count * (size_t)run->head->pose_size;
    const size_t frame = (size_t)run->frame_count, joints = (size_t)run->joint_count;
    memcpy(run->poses + frame * poses, step->poses, poses * sizeof *step->poses);
    for (size_t j = 0; j < joints; j++) {
        const double position = step->q[run->joint_entries[j]->q_start];
        const perp_joint *joint = run->joint_scene[j];
        run->joints[frame * joints + j] = position;
        run->commands[frame * joints + j] =
            joint && joint->control != PERP_CONTROL_NONE ? perp_drive_value(&joint->command, step->t) : position;
    }
    g->since.step = step->step;
    run->frames[frame] = g->since;
}

static perp_status take_step(gatherer *g, const perp_log_step *step, bool frame, perp_error *error)
{
    widen(&g->since, &step->info);
    if (!take_contacts(g, step, frame) || !take_events(g, step) ||
        !perp_replay_see_trust(&g->run->trusts, g->arena, g->run->head, step, &g->since.trust)) {
        return no_memory(error);
    }
    if (!frame) {
        return PERP_STATUS_OK;
    }
    for (int i = 0; i < g->spanned_count; i++) {
        if (g->seen[g->spanned[i]].span == g->run->frame_count && !new_row(g, g->spanned[i])) {
            return no_memory(error);
        }
    }
    take_frame(g, step);
    const perp_status status =
        perp_replay_add_ghost(&g->run->trusts, g->arena, &g->ghosts, g->run->frame_count, step, &g->since.trust, error);
    g->spanned_count = 0;
    g->since = (replay_frame){0};
    g->run->frame_count++;
    return status;
}

/* ---- an instant -------------------------------------------------------------------------------------------------- */

/* The answer without its contacts, which are rows, in the arena: the reader's is gone with its next read. */
static bool copy_answer(gatherer *g, const perp_instant_answer *from)
{
    const int nv = g->run->head->nv;
    perp_instant_answer *answer = PERP_ARENA_NEW(g->arena, perp_instant_answer, 1);
    perp_instant_solution *solutions = PERP_ARENA_NEW(g->arena, perp_instant_solution, (size_t)from->solution_count);
    const char *const words[3] = {perp_arena_text(g->arena, from->answers, strlen(from->answers)),
                                  perp_arena_text(g->arena, from->why_none, strlen(from->why_none)),
                                  perp_arena_text(g->arena, from->left_out, strlen(from->left_out))};
    if (!answer || !solutions || !words[0] || !words[1] || !words[2]) {
        return false;
    }
    for (int i = 0; i < from->solution_count; i++) {
        solutions[i].rate = PERP_ARENA_NEW(g->arena, double, (size_t)nv);
        if (!solutions[i].rate) {
            return false;
        }
        memcpy(solutions[i].rate, from->solutions[i].rate, (size_t)nv * sizeof(double));
        solutions[i].vertex_count = from->solutions[i].vertex_count; /* only that it is a set is shown */
    }
    *answer = (perp_instant_answer){words[0], from->solution_count, solutions, from->partial, words[1], words[2]};
    g->run->answer = answer;
    return true;
}

/* Every solution is a frame. What the log says of contacts is said of the first. */
static perp_status take_instant(gatherer *g, const perp_log_step *step, perp_error *error)
{
    const perp_instant_answer *answer = step->info.answer;
    perp_log_step shown = *step;
    perp_status status = copy_answer(g, answer) ? PERP_STATUS_OK : no_memory(error);
    for (int i = 0; i < answer->solution_count && status == PERP_STATUS_OK; i++) {
        shown.step = i;
        shown.info.contact_count = answer->solutions[i].contact_count;
        shown.info.contacts = answer->solutions[i].contacts;
        shown.why = i == 0 ? step->why : NULL;
        status = take_step(g, &shown, true, error);
    }
    return status == PERP_STATUS_OK && answer->solution_count == 0 ? take_step(g, step, true, error) : status;
}

void perp_replay_keep_frame(replay_run *run, int frame)
{
    const size_t poses = (size_t)run->head->body_count * (size_t)run->head->pose_size;
    int kept = 0;
    for (int i = 0; i < run->contact_count; i++) {
        run->contacts[i].row_count = 0;
    }
    for (int i = 0; i < run->row_count; i++) {
        if (run->rows[i].frame == frame) {
            run->rows[kept] = run->rows[i];
            run->rows[kept].frame = 0;
            run->contacts[run->rows[kept++].contact].row_count++;
        }
    }
    run->row_count = kept;
    run->frames[0] = run->frames[frame];
    memmove(run->poses, run->poses + (size_t)frame * poses, poses * sizeof *run->poses);
    run->frame_count = 1;
}

/* ---- the whole log ----------------------------------------------------------------------------------------------- */

/* One step of every few, so that the frames and the contacts in all of them stay within what is shown. A few steps here
 * and there say how many contacts a step has: reading all of them twice would take twice as long. */
static perp_status choose_stride(perp_log_reader *reader, const perp_replay_options *options, replay_run *run,
                                 perp_error *error)
{
    const int steps = run->extent.step_count;
    double most = 0.0;
    for (int i = 0; i < PROBES && steps > options->most_frames / PROBES; i++) {
        perp_log_step step;
        const int at = (int)((double)(steps - 1) * i / (PROBES - 1));
        const perp_status status = perp_log_skim(reader, at, PERP_LOG_EXTREMES, &step, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        most = fmax(most, step.info.contact_count + step.info.element_count / 8.0); /* as they weigh in the file */
    }
    const double by_frames = ceil((double)steps / options->most_frames);
    const double by_rows = ceil((double)steps * most / options->most_rows);
    run->stride = (int)fmax(1.0, fmax(by_frames, by_rows));
    return PERP_STATUS_OK;
}

static bool find_joints(perp_arena *arena, replay_run *run)
{
    const perp_log_head *head = run->head;
    run->joint_entries = PERP_ARENA_NEW(arena, const perp_log_entry *, (size_t)head->entry_count);
    run->joint_scene = PERP_ARENA_NEW(arena, const perp_joint *, (size_t)head->entry_count);
    if (!run->joint_entries || !run->joint_scene) {
        return false;
    }
    for (int i = 0; i < head->entry_count; i++) {
        if (!head->entries[i].is_body && head->entries[i].nq == 1) {
            const int joint = run->scene ? perp_scene_find_joint(run->scene, head->entries[i].name) : -1;
            run->joint_entries[run->joint_count] = &head->entries[i];
            run->joint_scene[run->joint_count++] = joint >= 0 ? &run->scene->joints[joint] : NULL;
        }
    }
    return true;
}

/* `solutions`: of an instant. */
static bool make_room(perp_arena *arena, replay_run *run, int solutions)
{
    const int steps = run->extent.step_count;
    const size_t frames = (size_t)(steps / run->stride) + (size_t)solutions + 2;
    const size_t poses = (size_t)run->head->body_count * (size_t)run->head->pose_size;
    run->frames = PERP_ARENA_NEW(arena, replay_frame, frames);
    run->poses = PERP_ARENA_NEW(arena, double, frames *poses);
    run->joints = PERP_ARENA_NEW(arena, double, frames *(size_t)run->joint_count);
    run->commands = PERP_ARENA_NEW(arena, double, frames *(size_t)run->joint_count);
    return run->frames && run->poses && run->joints && run->commands;
}

/* Rows came frame by frame; here they come contact by contact. Within a contact the frames stay in order. */
static bool sort_rows(perp_arena *arena, replay_run *run)
{
    replay_row *sorted = PERP_ARENA_NEW(arena, replay_row, (size_t)run->row_count);
    int *next = PERP_ARENA_NEW(arena, int, (size_t)run->contact_count + 1);
    if (!sorted || !next) {
        return false;
    }
    for (int i = 0; i < run->contact_count; i++) {
        next[i + 1] = next[i] + run->contacts[i].row_count;
    }
    for (int i = 0; i < run->row_count; i++) {
        sorted[next[run->rows[i].contact]++] = run->rows[i];
    }
    run->rows = sorted;
    return true;
}

/* Every step of the log. */
static perp_status take_steps(gatherer *g, perp_log_reader *reader, perp_error *error)
{
    replay_run *run = g->run;
    const int steps = run->extent.step_count;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < steps && status == PERP_STATUS_OK; i++) {
        const bool frame = i % run->stride == 0 || i == steps - 1;
        perp_log_step step;
        status = perp_log_skim(reader, i, frame ? PERP_LOG_PICTURE : PERP_LOG_EXTREMES, &step, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        if (i == 0) {
            run->t0 = step.t - step.step * run->head->h;
        }
        status = i == 0 && step.info.answer ? take_instant(g, &step, error) : take_step(g, &step, frame, error);
    }
    return status;
}

perp_status perp_replay_gather(perp_log_reader *reader, const perp_replay_options *options, perp_arena *arena,
                               replay_run *run, perp_error *error)
{
    gatherer g = {.run = run, .arena = arena, .cone = perp_replay_cone(run), .rays = perp_replay_rays(run)};
    run->extent = perp_log_reader_extent(reader);
    const int steps = run->extent.step_count;
    if (steps == 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the log of `%s` has no step to show", run->head->scene);
    }
    perp_log_step step;
    perp_status status = perp_log_skim(reader, 0, PERP_LOG_PICTURE, &step, error);
    const int solutions = status == PERP_STATUS_OK && step.info.answer ? step.info.answer->solution_count : 0;
    if (status == PERP_STATUS_OK) {
        status = choose_stride(reader, options, run, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!find_joints(arena, run) || !make_room(arena, run, solutions)) {
        return no_memory(error);
    }
    status = perp_replay_ghost_open(&g.ghosts, reader, run->scene, &arena->allocator, error);
    status = status == PERP_STATUS_OK ? take_steps(&g, reader, error) : status;
    perp_replay_ghost_close(&g.ghosts);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    return sort_rows(arena, run) ? PERP_STATUS_OK : no_memory(error);
}

perp_status perp_replay_load(perp_log_reader *reader, const perp_replay_options *options, perp_arena *arena,
                             replay_run *run, perp_error *error)
{
    *run = (replay_run){.head = perp_log_reader_head(reader), .end = perp_log_reader_end(reader)};
    if (run->head->file_count > 0) {
        perp_diagnostics *diagnostics = PERP_ARENA_NEW(arena, perp_diagnostics, 1);
        if (!diagnostics) {
            return no_memory(error);
        }
        const perp_status status = perp_log_load_scene(reader, &run->scene, diagnostics);
        if (status != PERP_STATUS_OK) {
            perp_diagnostics_first_error(diagnostics, status, error);
            return status;
        }
    }
    return perp_replay_gather(reader, options, arena, run, error);
}

void perp_replay_unload(replay_run *run)
{
    perp_scene_free(run->scene);
    run->scene = NULL;
}

perp_cone perp_replay_cone(const replay_run *run)
{
    return perp_rung_cone(perp_rung_find(run->head->model), run->scene ? &run->scene->run : NULL);
}

int perp_replay_rays(const replay_run *run)
{
    return run->scene ? run->scene->run.rays : 4;
}
