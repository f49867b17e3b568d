#include "report/replay_header.h"
#include "report/tolerances.h"

#include "trace/json_maker.h"

#include <stddef.h>
#include <string.h>

enum { FORMAT = 5 }; /* of viewer/src/format.ts */

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Columns are collected one after the other in a scratch array that holds the longest of them. */
typedef struct packer {
    const replay_run *run;
    byte_row *out;
    json_t *columns; /* NULL: out of memory */
    double *scratch;
} packer;

static void add(packer *p, const char *name, replay_coding coding, double quantum, int series, size_t length)
{
    const replay_column column = {name, coding, quantum, series, length, p->scratch};
    if (p->columns) {
        p->columns = perp_json_appended(p->columns, perp_replay_pack(p->out, &column));
    }
}

/* `count` numbers per frame, given frame by frame: one series each. */
static void add_by_frame(packer *p, const char *name, const double *values, int count)
{
    const size_t frames = (size_t)p->run->frame_count;
    for (size_t f = 0; f < frames; f++) {
        for (size_t k = 0; k < (size_t)count; k++) {
            p->scratch[k * frames + f] = values[f * (size_t)count + k];
        }
    }
    add(p, name, REPLAY_FLOAT, 0.0, count, frames * (size_t)count);
}

/* `count` doubles at `offset` in each row. */
static void add_rows(packer *p, const char *name, size_t offset, int count, double quantum)
{
    const size_t rows = (size_t)p->run->row_count;
    for (size_t i = 0; i < rows; i++) {
        const char *row = (const char *)&p->run->rows[i] + offset;
        for (size_t k = 0; k < (size_t)count; k++) {
            memcpy(&p->scratch[k * rows + i], row + k * sizeof(double), sizeof(double));
        }
    }
    add(p, name, quantum > 0.0 ? REPLAY_FIXED : REPLAY_FLOAT, quantum, count, rows * (size_t)count);
}

static void add_residual(packer *p, const char *name, size_t offset)
{
    const size_t frames = (size_t)p->run->frame_count;
    for (size_t f = 0; f < frames; f++) {
        memcpy(&p->scratch[f], (const char *)&p->run->frames[f].residuals + offset, sizeof(double));
    }
    add(p, name, REPLAY_FLOAT, 0.0, 1, frames);
}

static void add_frames(packer *p)
{
    const replay_run *run = p->run;
    const size_t frames = (size_t)run->frame_count;
    for (size_t f = 0; f < frames; f++) {
        p->scratch[f] = run->frames[f].step;
    }
    add(p, "step", REPLAY_FIXED, 1.0, 1, frames);
    add_by_frame(p, "poses", run->poses, run->head->body_count * run->head->pose_size);
    add_by_frame(p, "joint", run->joints, run->joint_count);
    add_by_frame(p, "command", run->commands, run->joint_count);
    add_residual(p, "balance", offsetof(perp_residuals, balance));
    add_residual(p, "complementarity", offsetof(perp_residuals, complementarity));
    add_residual(p, "cone", offsetof(perp_residuals, cone));
    add_residual(p, "penetration", offsetof(perp_residuals, penetration));
    for (size_t f = 0; f < frames; f++) {
        p->scratch[f] = run->frames[f].iterations;
    }
    add(p, "iterations", REPLAY_FIXED, 1.0, 1, frames);
    for (size_t f = 0; f < frames; f++) {
        p->scratch[f] = run->frames[f].several;
        for (size_t k = 0; k < PERP_FALLBACK_COUNT; k++) {
            p->scratch[(k + 1) * frames + f] = run->frames[f].fallbacks[k];
        }
    }
    add(p, "several", REPLAY_FIXED, 1.0, 1, frames);
    memmove(p->scratch, p->scratch + frames, PERP_FALLBACK_COUNT * frames * sizeof *p->scratch);
    add(p, "fallbacks", REPLAY_FIXED, 1.0, PERP_FALLBACK_COUNT, PERP_FALLBACK_COUNT * frames);
}

/* Certificates, and the motions of steps that are not unique: of each ghost the twist of every body. */
static void add_trust(packer *p)
{
    const replay_run *run = p->run;
    const replay_trusts *t = &run->trusts;
    const size_t frames = (size_t)run->frame_count, bodies = (size_t)run->head->body_count,
                 ghosts = (size_t)t->ghost_count;
    if (!t->any) {
        return;
    }
    for (size_t f = 0; f < frames; f++) {
        for (size_t k = 0; k < REPLAY_VERDICTS; k++) {
            p->scratch[k * frames + f] = run->frames[f].trust.verdicts[k];
        }
    }
    add(p, "trust", REPLAY_BYTE, 0.0, REPLAY_VERDICTS, REPLAY_VERDICTS * frames);
    for (size_t f = 0; f < frames; f++) {
        p->scratch[f] = run->frames[f].trust.text;
    }
    add(p, "trust_text", REPLAY_FIXED, 1.0, 1, frames);
    for (size_t g = 0; g < ghosts; g++) {
        for (size_t k = 0; k < REPLAY_TWIST * bodies; k++) {
            p->scratch[k * ghosts + g] = t->ghosts[g].twists[k];
        }
    }
    if (ghosts > 0) {
        add(p, "ghost", REPLAY_FIXED, 1.0 / 2048.0, (int)(REPLAY_TWIST * bodies), REPLAY_TWIST * bodies * ghosts);
    }
}

/* Points are drawn, not read: a two hundred thousandth of the farthest coordinate is finer than a picture shows. */
static double point_quantum(const replay_run *run)
{
    double most = REPLAY_LEAST;
    for (int i = 0; i < run->row_count; i++) {
        const perp_vec3 p = run->rows[i].point;
        most = fmax(most, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
    }
    return most / 200000.0;
}

/* The forces of patches: contact by contact, of each its elements one after the other, of each its rows. */
static void add_elements(packer *p)
{
    const replay_run *run = p->run;
    const replay_row *rows = run->rows;
    size_t count = 0;
    for (int i = 0; i < run->contact_count; rows += run->contacts[i++].row_count) {
        for (int e = 0; e < run->contacts[i].element_count; e++) {
            for (int k = 0; k < run->contacts[i].row_count; k++) {
                p->scratch[count++] = e < rows[k].element_count ? run->elements[rows[k].element_start + e] : 0.0;
            }
        }
    }
    if (count > 0) {
        add(p, "element_fn", REPLAY_FLOAT, 0.0, 1, count);
    }
}

/* Whether the measure of friction, or its limit, is another than |ft| or mu fn in any row. */
static bool uses_other_than_ft(const replay_row *row, double friction)
{
    (void)friction;
    return fabs(row->used - hypot(row->ft[0], row->ft[1])) > REPLAY_SAME * row->used;
}

static bool has_other_limit(const replay_row *row, double friction)
{
    return fabs(row->limit - friction * row->fn) > REPLAY_SAME * row->limit;
}

static bool some_row(const replay_run *run, bool (*differs)(const replay_row *row, double friction))
{
    for (int i = 0; i < run->row_count; i++) {
        if (differs(&run->rows[i], run->contacts[run->rows[i].contact].friction)) {
            return true;
        }
    }
    return false;
}

static void add_contacts(packer *p)
{
    const replay_run *run = p->run;
    const size_t rows = (size_t)run->row_count;
    int tangents = run->head->planar ? 1 : 2;
    for (size_t i = 0; i < rows; i++) {
        tangents = run->rows[i].ft[1] != 0.0 || run->rows[i].slip[1] != 0.0 ? 2 : tangents; /* of supports */
        p->scratch[i] = run->rows[i].mode;
    }
    add(p, "mode", REPLAY_BYTE, 0.0, 1, rows);
    add_rows(p, "phi", offsetof(replay_row, phi), 1, 0.0);
    add_rows(p, "fn", offsetof(replay_row, fn), 1, 0.0);
    add_rows(p, "ft", offsetof(replay_row, ft), tangents, 0.0);
    if (some_row(run, uses_other_than_ft)) {
        add_rows(p, "used", offsetof(replay_row, used), 1, 0.0);
    }
    if (some_row(run, has_other_limit)) {
        add_rows(p, "limit", offsetof(replay_row, limit), 1, 0.0);
    }
    add_rows(p, "slip", offsetof(replay_row, slip), tangents, 0.0);
    add_rows(p, "point", offsetof(replay_row, point), 3, point_quantum(run));
    add_rows(p, "normal", offsetof(replay_row, normal), 3, 1.0 / 8192.0);
    if (run->stride > 1) {
        for (size_t i = 0; i < rows; i++) {
            p->scratch[i] = run->rows[i].seen.mode_gravest;
        }
        add(p, "mode_gravest", REPLAY_BYTE, 0.0, 1, rows);
        add_rows(p, "phi_low", offsetof(replay_row, seen.phi_low), 1, 0.0);
        add_rows(p, "phi_high", offsetof(replay_row, seen.phi_high), 1, 0.0);
        add_rows(p, "fn_low", offsetof(replay_row, seen.fn_low), 1, 0.0);
        add_rows(p, "fn_high", offsetof(replay_row, seen.fn_high), 1, 0.0);
        add_rows(p, "used_high", offsetof(replay_row, seen.used_high), 1, 0.0);
    }
}

static json_t *pack_columns(const replay_run *run, perp_arena *arena, byte_row *out)
{
    const size_t frames = (size_t)run->frame_count, rows = (size_t)run->row_count;
    size_t widest = (size_t)run->head->body_count * (size_t)run->head->pose_size;
    widest = widest > (size_t)run->joint_count ? widest : (size_t)run->joint_count;
    widest = widest > PERP_FALLBACK_COUNT + 1 ? widest : PERP_FALLBACK_COUNT + 1;
    widest = widest > REPLAY_VERDICTS ? widest : REPLAY_VERDICTS;
    size_t length = frames * widest > 3 * rows ? frames * widest : 3 * rows, elements = 0;
    for (int i = 0; i < run->contact_count; i++) {
        elements += (size_t)run->contacts[i].element_count * (size_t)run->contacts[i].row_count;
    }
    const size_t ghosts = REPLAY_TWIST * (size_t)run->head->body_count * (size_t)run->trusts.ghost_count;
    length = length > elements ? length : elements;
    length = length > ghosts ? length : ghosts;
    packer p = {run, out, json_array(), PERP_ARENA_NEW(arena, double, length)};
    if (!p.scratch) {
        json_decref(p.columns);
        return NULL;
    }
    add_frames(&p);
    add_contacts(&p);
    add_elements(&p);
    add_trust(&p);
    return p.columns;
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* Of the scene's pair of two bodies, as far as it sets one. */
static json_t *tangent_of(const replay_run *run, const replay_contact *c)
{
    for (int i = 0; run->scene && i < run->scene->pair_count; i++) {
        const perp_pair *pair = &run->scene->pairs[i];
        if (pair->tangent_set && pair->body_a == c->a && pair->body_b == c->b) {
            const double tangent[3] = {pair->tangent.x, pair->tangent.y, pair->tangent.z};
            return perp_json_reals(tangent, 3);
        }
    }
    return json_null();
}

/* The stretches of frames in which a contact has rows, as first frame and length. */
static json_t *stretches(const replay_row *rows, int count)
{
    json_t *array = json_array();
    for (int from = 0, to; array && from < count; from = to) {
        to = from + 1;
        while (to < count && rows[to].frame == rows[to - 1].frame + 1) {
            to++;
        }
        array = perp_json_appended(array, json_integer(rows[from].frame));
        array = array ? perp_json_appended(array, json_integer(to - from)) : NULL;
    }
    return array;
}

/* Where the elements of a contact's patch are, t and o of each, and how large. */
static json_t *patch_json(const replay_contact *c)
{
    if (c->element_count == 0) {
        return json_null();
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "cell", perp_json_real(c->cell));
    perp_json_put(&m, "offsets", perp_json_reals(c->offsets, 2 * c->element_count));
    return perp_json_finished(&m);
}

static json_t *contacts_json(const replay_run *run)
{
    json_t *contacts = json_array();
    const replay_row *rows = run->rows;
    for (int i = 0; contacts && i < run->contact_count; i++) {
        const replay_contact *c = &run->contacts[i];
        json_maker m = perp_json_object();
        perp_json_put(&m, "a", json_integer(c->a));
        perp_json_put(&m, "b", json_integer(c->b));
        perp_json_put(&m, "feature", json_string(c->feature));
        perp_json_put(&m, "mu", perp_json_real(c->friction));
        perp_json_put(&m, "tangent", tangent_of(run, c));
        perp_json_put(&m, "along", c->restricted ? perp_json_reals(c->along, 2) : json_null());
        perp_json_put(&m, "patch", patch_json(c));
        perp_json_put(&m, "runs", stretches(rows, c->row_count));
        contacts = perp_json_appended(contacts, perp_json_finished(&m));
        rows += c->row_count;
    }
    return contacts;
}

static json_t *joints_json(const replay_run *run)
{
    json_t *joints = json_array();
    for (int i = 0; joints && i < run->joint_count; i++) {
        const perp_joint *joint = run->joint_scene[i];
        json_maker m = perp_json_object();
        perp_json_put(&m, "name", json_string(run->joint_entries[i]->name));
        perp_json_put(&m, "unit", json_string(!joint ? "" : joint->kind == PERP_JOINT_PRISMATIC ? "m" : "rad"));
        perp_json_put(&m, "commanded", json_boolean(joint && joint->control != PERP_CONTROL_NONE));
        joints = perp_json_appended(joints, perp_json_finished(&m));
    }
    return joints;
}

static json_t *events_json(const replay_run *run)
{
    json_t *events = json_array();
    for (int i = 0; events && i < run->event_count; i++) {
        const replay_event *e = &run->events[i];
        json_maker m = perp_json_object();
        perp_json_put(&m, "t", perp_json_real(e->t));
        perp_json_put(&m, "contact", json_integer(e->contact));
        perp_json_put(&m, "from", json_integer(e->from));
        perp_json_put(&m, "to", json_integer(e->to));
        events = perp_json_appended(events, perp_json_finished(&m));
    }
    return events;
}

/* Texts stand once each where they follow each other unchanged, which is how explanations come. */
static void put_whys(json_maker *m, const replay_run *run)
{
    json_t *texts = json_array(), *whys = json_array();
    json_int_t text = -1;
    for (int i = 0; i < run->why_count && texts && whys; i++) {
        const replay_why *w = &run->whys[i];
        if (i == 0 || strcmp(w->text, run->whys[i - 1].text) != 0) {
            texts = perp_json_appended(texts, json_string(w->text));
            text++;
        }
        json_maker entry = perp_json_object();
        perp_json_put(&entry, "step", json_integer(w->step));
        perp_json_put(&entry, "contact", json_integer(w->contact));
        perp_json_put(&entry, "text", json_integer(text));
        whys = perp_json_appended(whys, perp_json_finished(&entry));
    }
    perp_json_put(m, "texts", texts);
    perp_json_put(m, "whys", whys);
}

/* What is said of certificates, by the numbers of the column `trust_text`, and at which frames there are ghosts. */
static json_t *trust_json(const replay_trusts *t)
{
    if (!t->any) {
        return json_null();
    }
    json_t *texts = json_array(), *ghosts = json_array(), *both_ways = json_array();
    for (int i = 0; texts && i < t->text_count; i++) {
        texts = perp_json_appended(texts, json_string(t->texts[i]));
    }
    for (int i = 0; ghosts && both_ways && i < t->ghost_count; i++) {
        ghosts = perp_json_appended(ghosts, json_integer(t->ghosts[i].frame));
        both_ways = perp_json_appended(both_ways, json_boolean(t->ghosts[i].both_ways));
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "texts", texts);
    perp_json_put(&m, "ghosts", ghosts);
    perp_json_put(&m, "bothWays", both_ways);
    return perp_json_finished(&m);
}

static json_t *end_json(const perp_log_end *end)
{
    json_maker m = perp_json_object();
    perp_json_put(&m, "known", json_boolean(end->known));
    perp_json_put(&m, "failed", json_boolean(end->failed));
    perp_json_put(&m, "code", json_string(end->code ? end->code : ""));
    perp_json_put(&m, "message", json_string(end->message ? end->message : ""));
    perp_json_put(&m, "hash", json_string(end->hash));
    return perp_json_finished(&m);
}

/* Of an instant: the rates of each frame, and what is said of them all; null: steps were taken. */
static json_t *answer_json(const replay_run *run)
{
    const perp_instant_answer *answer = run->answer;
    json_t *rates = json_array(), *sets = json_array();
    if (!answer) {
        json_decref(rates);
        json_decref(sets);
        return json_null();
    }
    for (int i = 0; rates && i < answer->solution_count; i++) {
        json_maker by_name = perp_json_object();
        for (int k = 0; k < run->head->entry_count; k++) {
            const perp_log_entry *e = &run->head->entries[k];
            perp_json_put(&by_name, e->name, perp_json_reals(answer->solutions[i].rate + e->v_start, e->nv));
        }
        rates = perp_json_appended(rates, perp_json_finished(&by_name));
        sets = perp_json_appended(sets, json_boolean(answer->solutions[i].vertex_count > 0));
    }
    json_maker m = perp_json_object();
    perp_json_put(&m, "answers", json_string(answer->answers));
    perp_json_put(&m, "rates", rates);
    perp_json_put(&m, "sets", sets);
    perp_json_put(&m, "complete", json_boolean(!answer->partial));
    perp_json_put(&m, "why", json_string(answer->why_none));
    perp_json_put(&m, "leftOut", json_string(answer->left_out));
    return perp_json_finished(&m);
}

static void put_model(json_maker *m, const replay_run *run)
{
    perp_json_put(m, "model", json_string(run->head->model));
    perp_json_put(m, "cone", json_string(perp_cone_name(perp_replay_cone(run))));
    perp_json_put(m, "rays", json_integer(perp_replay_rays(run)));
    perp_json_put(m, "h", perp_json_real(run->head->h));
    perp_json_put(m, "t0", perp_json_real(run->t0));
    perp_json_put(m, "planar", json_boolean(run->head->planar));
}

static void put_extent(json_maker *m, const replay_run *run)
{
    json_t *fallbacks = json_array();
    for (int i = 0; fallbacks && i < PERP_FALLBACK_COUNT; i++) {
        fallbacks = perp_json_appended(fallbacks, json_string(perp_fallback_name((perp_fallback)i)));
    }
    perp_json_put(m, "fallbacks", fallbacks);
    perp_json_put(m, "stepsAsked", json_integer(run->head->steps_asked));
    perp_json_put(m, "steps", json_integer(run->extent.step_count));
    perp_json_put(m, "frames", json_integer(run->frame_count));
    perp_json_put(m, "stride", json_integer(run->stride));
    perp_json_put(m, "complete", json_boolean(run->extent.complete && run->end->known));
    perp_json_put(m, "lostBytes", json_integer((json_int_t)run->extent.tail));
    perp_json_put(m, "damaged", json_integer(run->extent.damaged));
}

json_t *perp_replay_header(const replay_run *run, perp_arena *arena, byte_row *out)
{
    json_maker m = perp_json_object();
    const size_t before = out->size;
    perp_json_put(&m, "format", json_integer(FORMAT));
    perp_json_put(&m, "version", json_string(run->head->version));
    perp_json_put(&m, "scene", json_string(run->head->scene));
    put_model(&m, run);
    if (run->scene && (run->scene->length_unit || run->scene->angle_unit)) {
        perp_json_put(&m, "readIn", perp_json_units(run->scene));
    }
    put_extent(&m, run);
    perp_json_put(&m, "instant", answer_json(run));
    perp_json_put(&m, "end", end_json(run->end));
    perp_json_put(&m, "bodies", perp_replay_bodies(run));
    perp_json_put(&m, "contacts", contacts_json(run));
    perp_json_put(&m, "joints", joints_json(run));
    perp_json_put(&m, "events", events_json(run));
    perp_json_put(&m, "eventsLeftOut", json_integer(run->events_left_out));
    put_whys(&m, run);
    perp_json_put(&m, "trust", trust_json(&run->trusts));
    perp_json_put(&m, "columns", pack_columns(run, arena, out));
    perp_json_put(&m, "bytes", json_integer((json_int_t)(out->size - before)));
    return perp_json_finished(&m);
}
