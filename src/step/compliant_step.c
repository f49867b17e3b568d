/* One step of the rung `compliant`: compliant.h says what it solves. */
#define _POSIX_C_SOURCE 200809L
#include "step/commanded_loops.h"
#include "step/compliant.h"

#include <string.h>
#include <time.h>

enum {
    ITERATES = 20,
    HOPELESS = 4 /* so many iterates that came no nearer: the step is split */
};

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* ---- one iterate ------------------------------------------------------------------------------------------------- */

/* Loops are linearised at q_k too: C v = C v_k - (how far they are open) / h. */
static void move_loops(perp_quasistatic *qs)
{
    const compliant_step *s = qs->own;
    const perp_model *model = qs->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, qs->kinematics, i, residual, qs->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            const double *row = qs->loop_jacobian + (ptrdiff_t)r * model->nv;
            for (int k = 0; k < model->nv && qs->equation_of[all] >= 0; k++) {
                qs->equality_target[qs->equation_of[all]] += row[k] * s->v_linear[k];
            }
        }
    }
}

/* The problem at q_k, where kinematics and contacts are; its point is what led there. */
static perp_status build(perp_quasistatic *qs, perp_step_context *context, const double times[2], perp_error *error)
{
    compliant_step *s = qs->own;
    perp_compliant_carry_inertia(qs, context);
    qs->same_length = s->guessed;
    perp_status status = perp_qs_build(qs, context, qs->q_begin, times[0], times[1], error);
    if (status == PERP_STATUS_OK && s->guessed) {
        move_loops(qs);
    }
    if (status == PERP_STATUS_OK && !s->guessed) {
        status = perp_compliant_meet(qs, error);
    }
    status = status == PERP_STATUS_OK ? perp_compliant_build(qs, error) : status;
    return status == PERP_STATUS_OK && qs->met ? PERP_STATUS_NOT_CONVERGED : status; /* the step begins anew */
}

/* Velocities of the answer into qs->v, whose prescribed ones are there. */
static void put_velocities(perp_quasistatic *qs)
{
    const compliant_step *s = qs->own;
    for (int i = 0; i < qs->free_count; i++) {
        const int dof = qs->dof_of_free[i];
        qs->v[dof] = s->speed * s->point.x[i] + qs->v_drifted[dof];
    }
}

/* Velocities of the answer into qs->v and, by `part` of the way from v_k, into v_k; then q_k. */
static void move_on(perp_quasistatic *qs, perp_step_context *context, double part)
{
    compliant_step *s = qs->own;
    const perp_model *model = qs->model;
    put_velocities(qs);
    for (int i = 0; i < model->nv; i++) {
        const double led = qs->free_of_dof[i] >= 0 ? qs->v[i] : qs->v_gap[i];
        s->v_linear[i] = s->guessed ? s->v_linear[i] + part * (led - s->v_linear[i]) : led;
    }
    perp_configuration_integrate(model, qs->q_begin, s->v_linear, qs->h, context->next_q);
    perp_prescribed_configuration(model, qs->law->prescribe, qs->t + qs->h, context->next_q);
    if (qs->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(model, qs->t, qs->h, context->next_q);
    }
}

static bool is_sane(const perp_quasistatic *qs)
{
    static const double FAR = 1e6; /* a motion of so many sizes of the island in one step is no answer */
    const compliant_step *s = qs->own;
    for (int i = 0; i < qs->free_count; i++) {
        if (!(fabs(qs->h * s->speed * s->point.x[i]) <= FAR * fmax(qs->length_unit, 1.0))) {
            return false;
        }
    }
    return true;
}

/* ---- iterating --------------------------------------------------------------------------------------------------- */

static const char *const SETTLING = "fixed-point";

typedef struct outcome {
    bool settled;
    const char *method; /* of the solver that failed; SETTLING where only the whole does not settle */
    double residual;
    compliant_residual parts;
    int stuck;    /* iterates that came no nearer */
    int flickers; /* iterates with other contacts than the one before */
} outcome;

/* What led to q_k is the answer if it meets the law there. An answer that is good enough is given one more iterate to
 * become better: the law is in units of the scene, stiff contacts want more. */
static bool is_answer(perp_quasistatic *qs, int k, bool *good, outcome *out)
{
    static const double NEARER = 0.7;
    const double tolerance = qs->settings->tolerance, before = out->residual;
    out->parts = perp_compliant_evaluate(qs);
    out->residual = perp_compliant_worst(out->parts);
    out->method = SETTLING;
    out->stuck += out->residual > NEARER * before ? 1 : 0;
    const bool was_good = *good;
    *good = out->residual <= tolerance;
    return *good && (was_good || out->residual <= 1e-2 * tolerance || out->residual >= before || k == ITERATES);
}

static perp_status solve(perp_quasistatic *qs, bool *solved, outcome *out, perp_error *error)
{
    perp_friction_info info = {0};
    const double started = now_us();
    const perp_status status = perp_compliant_solve(qs, solved, &info, error);
    qs->info->solve_us += now_us() - started;
    if (status == PERP_STATUS_OK && qs->settings->cancel && *qs->settings->cancel) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped within the step that begins at t = %g s", qs->t);
    }
    *solved = *solved && is_sane(qs);
    if (status == PERP_STATUS_OK && !*solved) {
        out->method = info.method;
        out->residual = fmin(info.residual, 1e300);
    }
    return status;
}

/* All that is near carries force already: nothing is to be met. */
static bool is_steady(const perp_quasistatic *qs)
{
    const compliant_step *s = qs->own;
    bool steady = perp_compliant_has_answer(qs) && !s->at_begin && s->patch_count > 0;
    for (int i = 0; i < s->element_count && steady; i++) {
        steady = s->point.y[s->row_start[i]] > 0.0;
    }
    return steady;
}

/* What led to q_k is kept, and the problem there built. */
static perp_status go_there(perp_quasistatic *qs, perp_step_context *context, const double times[2], double part,
                            perp_error *error)
{
    move_on(qs, context, part);
    perp_status status = perp_compliant_keep_guess(qs, error);
    if (status == PERP_STATUS_OK) {
        status = perp_qs_look_from(qs, context, context->next_q, error);
    }
    return status == PERP_STATUS_OK ? build(qs, context, times, error) : status;
}

/* From the problem at hand to one whose answer leads to where it is. With s->at_begin its first answer is taken. */
static perp_status settle(perp_quasistatic *qs, perp_step_context *context, const double times[2], outcome *out,
                          perp_error *error)
{
    compliant_step *s = qs->own;
    bool good = false;
    perp_status status = PERP_STATUS_OK;
    for (int k = 1; k <= ITERATES && out->stuck < HOPELESS && status == PERP_STATUS_OK; k++) {
        bool solved = true;
        if (s->qp.n > 0) {
            status = solve(qs, &solved, out, error);
        }
        if (status != PERP_STATUS_OK || !solved) {
            return status;
        }
        if (s->at_begin) {
            move_on(qs, context, 1.0);
            out->parts = perp_compliant_evaluate(qs);
            out->residual = perp_compliant_worst(out->parts);
            out->method = "linearised";
            out->settled = out->residual <= qs->settings->tolerance;
            return PERP_STATUS_OK;
        }
        status = go_there(qs, context, times, out->stuck > 1 ? 0.5 : 1.0, error); /* to and fro: a half of it */
        out->flickers += status == PERP_STATUS_OK && k > 1 && !perp_compliant_same_contacts(qs) ? 1 : 0;
        if (status == PERP_STATUS_OK && is_answer(qs, k, &good, out)) {
            put_velocities(qs);
            out->settled = true;
            return status;
        }
    }
    return status;
}

/* From qs->q_begin, where kinematics and contacts are, to context->next_q, where they are if it has settled. */
static perp_status iterate(perp_quasistatic *qs, perp_step_context *context, const double times[2], outcome *out,
                           perp_error *error)
{
    compliant_step *s = qs->own;
    *out = (outcome){.residual = INFINITY};
    s->guessed = false;
    memset(s->v_linear, 0, (size_t)qs->model->nv * sizeof *s->v_linear);
    perp_status status = build(qs, context, times, error);
    if (status == PERP_STATUS_OK && is_steady(qs)) { /* begins where the last step's change leads */
        status = go_there(qs, context, times, 1.0, error);
    }
    return status == PERP_STATUS_OK ? settle(qs, context, times, out, error) : status;
}

/* Stage k of a continuation in gamma, false: there is none. Towards the scene's gamma from Coulomb's cone (`upwards`);
 * or from one on which all that is pressed sticks, where the problem is convex, down to the scene's. */
static bool stage_of(perp_quasistatic *qs, bool upwards, int k)
{
    enum { UP = 4, DOWN = 9 };
    compliant_step *s = qs->own;
    s->gamma_part = upwards ? (k == 0 ? 0.0 : pow(4.0, fmin(k - UP, 0.0))) : 1.0;
    s->gamma_least = upwards || k >= DOWN ? 0.0 : qs->force_unit * pow(10.0, 2 - k);
    return k <= (upwards ? UP : DOWN);
}

/* The same by a continuation: each stage begins with the answer of the one before it. The first stages need not settle:
 * what does is where it begins. */
static perp_status iterate_continued(perp_quasistatic *qs, perp_step_context *context, const double times[2],
                                     bool upwards, outcome *out, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    bool begun = false;
    for (int k = 0; stage_of(qs, upwards, k) && status == PERP_STATUS_OK; k++) {
        if (begun) {
            *out = (outcome){.residual = INFINITY};
            status = build(qs, context, times, error);
            status = status == PERP_STATUS_OK ? settle(qs, context, times, out, error) : status;
        } else {
            status = k == 0 ? PERP_STATUS_OK : perp_qs_look_from(qs, context, qs->q_begin, error);
            status = status == PERP_STATUS_OK ? iterate(qs, context, times, out, error) : status;
        }
        if (begun && !out->settled) {
            break;
        }
        begun = out->settled;
    }
    return status;
}

/* Farther contacts than the motion can reach have no part in the step. What is ahead comes no farther. */
static perp_status look_far(perp_quasistatic *qs, perp_step_context *context, perp_error *error)
{
    perp_qs_begin_ways(qs, context, qs->v_last, qs->h);
    for (int b = 0; b < qs->model->body_count; b++) {
        const int tree = qs->model->links[b].tree;
        qs->way[b] = tree >= 0 && qs->moved[b] && qs->done[tree] == PERP_QS_TICKS ? 0.0 : qs->way[b];
    }
    return perp_qs_look_far_enough(qs, context, qs->q_begin, error);
}

/* The ways to take a part of the step; each `by rates` is for where the one before it adds energy. */
typedef enum way {
    PLAIN,
    PLAIN_BY_RATES,
    UPWARDS,
    UPWARDS_BY_RATES,
    DOWNWARDS,
    DOWNWARDS_BY_RATES,
    SHARP,
    SHARP_BY_RATES,
    LINEARISED,
    LINEARISED_BY_RATES
} way;

/* One of them, from qs->q_begin. */
static perp_status take_way(perp_quasistatic *qs, perp_step_context *context, const double times[2], way how,
                            outcome *out, perp_error *error)
{
    compliant_step *s = qs->own;
    const bool fresh = how == PLAIN && s->lags; /* contacts are those of the begin */
    s->gamma_part = how >= SHARP ? 0.0 : 1.0;
    s->gamma_least = 0.0;
    s->at_begin = how >= LINEARISED;
    s->by_rates = how % 2 == 1;
    qs->h = times[1] - times[0];
    perp_status status = fresh ? PERP_STATUS_OK : perp_qs_look_from(qs, context, qs->q_begin, error);
    if (status == PERP_STATUS_OK) {
        status = look_far(qs, context, error);
    }
    if (status == PERP_STATUS_OK) {
        perp_compliant_remember_inertia(qs, context);
        const bool upwards = how == UPWARDS || how == UPWARDS_BY_RATES;
        const bool continued = upwards || how == DOWNWARDS || how == DOWNWARDS_BY_RATES;
        status = continued ? iterate_continued(qs, context, times, upwards, out, error)
                           : iterate(qs, context, times, out, error);
    }
    return status;
}

/* The same, and by rates where it adds energy. */
static perp_status take_energy_safe(perp_quasistatic *qs, perp_step_context *context, const double times[2], way how,
                                    outcome *out, perp_error *error)
{
    perp_status status = take_way(qs, context, times, how, out, error);
    if (status == PERP_STATUS_OK && out->settled && perp_compliant_grows(qs)) {
        const int flickers = out->flickers;
        status = take_way(qs, context, times, how + 1, out, error);
        out->flickers += flickers;
        qs->info->fallbacks[PERP_FALLBACK_UNSTABILISED] += status == PERP_STATUS_OK && out->settled ? 1 : 0;
    }
    return status;
}

/* The same, counted where it is what settles. */
static perp_status fall_back(perp_quasistatic *qs, perp_step_context *context, const double times[2], way how,
                             outcome *out, perp_error *error)
{
    const perp_fallback name = how >= LINEARISED ? PERP_FALLBACK_LINEARISED
                               : how >= SHARP    ? PERP_FALLBACK_SHARP
                                                 : PERP_FALLBACK_CONTINUED;
    const perp_status status = take_energy_safe(qs, context, times, how, out, error);
    qs->info->fallbacks[name] += status == PERP_STATUS_OK && out->settled ? 1 : 0;
    return status;
}

static bool has_gamma(const compliant_step *s)
{
    bool any = false;
    for (int k = 0; k < s->patch_count; k++) {
        any = any || s->patches[k].material.gamma > 0.0;
    }
    return any;
}

/* Springs so stiff that what shapes count as equal (tie_tolerance: gaps of boxes are known to no less, and may
 * jump by it from iterate to iterate) is a hundredth of F or more in them: an end that is missed by no more than that
 * is not found by other cones or smaller parts. */
static bool is_unresolved(const perp_quasistatic *qs, const outcome *out)
{
    static const double TIE = 4e-9, MUCH = 0.01; /* m, F */
    const compliant_step *s = qs->own;
    double stiffness = 0.0;
    for (int k = 0; k < s->patch_count; k++) {
        stiffness = fmax(stiffness, s->patches[k].material.stiffness[0]);
    }
    const double force = stiffness * TIE / qs->force_unit;
    return out->method && strcmp(out->method, SETTLING) == 0 && force >= MUCH && out->residual <= force;
}

/* A part of the step: as it is, by a continuation in gamma, and before it is given up (`last`, or where contacts come
 * and go from iterate to iterate, or are not known well enough, so that the end has no contacts to be implicit in)
 * without gamma, then with contacts as they are at its begin. */
static perp_status advance(perp_quasistatic *qs, perp_step_context *context, const double times[2], bool last,
                           outcome *out, perp_error *error)
{
    enum { MANY = 2 };
    compliant_step *s = qs->own;
    s->lags = true;
    perp_status status = take_energy_safe(qs, context, times, PLAIN, out, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const bool flickers = out->flickers >= MANY || (!out->settled && is_unresolved(qs, out));
    const bool extended = s->element_count > s->patch_count;
    const bool rounded = has_gamma(s);
    s->lags = false;
    if (status == PERP_STATUS_OK && !out->settled && extended && !flickers) {
        status = take_energy_safe(qs, context, times, PLAIN, out, error);
    }
    const bool unsolved = out->method && strcmp(out->method, SETTLING) != 0; /* at a given geometry */
    if (status == PERP_STATUS_OK && !out->settled && rounded && !flickers) {
        status = fall_back(qs, context, times, UPWARDS, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && unsolved && !flickers) {
        status = fall_back(qs, context, times, DOWNWARDS, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && last && !flickers) {
        status = fall_back(qs, context, times, SHARP, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && (last || flickers)) {
        status = fall_back(qs, context, times, LINEARISED, out, error);
    }
    return status;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* The part was accepted: velocities, and its contacts and elements to those of the step, `share` of which it is. */
static perp_status accept(perp_quasistatic *qs, perp_step_context *context, const outcome *out, perp_residuals *total,
                          double share, perp_error *error)
{
    const compliant_step *s = qs->own;
    perp_compliant_record(qs);
    const perp_status status = perp_compliant_accept(qs, error);
    const perp_residuals own = {
        .balance = out->parts.balance, .complementarity = out->parts.complementarity, .cone = out->parts.cone};
    perp_residuals_keep_largest(total, &own);
    if (s->at_begin) {
        perp_compliant_carry_answer(qs, context);
    }
    for (int i = 0; i < qs->model->nv; i++) {
        const int tree = qs->model->links[qs->model->dof_body[i]].tree;
        qs->v_last[i] = qs->active[tree] || !perp_qs_has_free(qs, tree) ? qs->v[i] : qs->v_last[i];
    }
    if (status != PERP_STATUS_OK || !qs->split) {
        return status;
    }
    return perp_contact_sum_add(&qs->sum, &qs->allocator, qs->records, qs->record_count, s->elements, share, error);
}

/* From the end of a part, tick `at`, to the begin of the next one, whose `size` ticks becomes what fits from there on.
 */
static perp_status go_on(perp_quasistatic *qs, perp_step_context *context, int at, int *size, perp_error *error)
{
    while (at % (2 * *size) == 0 && 2 * *size <= PERP_QS_TICKS - at) {
        *size *= 2;
    }
    memcpy(qs->q_begin, context->next_q, (size_t)qs->model->nq * sizeof *qs->q_begin);
    return at < PERP_QS_TICKS ? perp_qs_look_from(qs, context, qs->q_begin, error) : PERP_STATUS_OK;
}

/* [at, at + size) ticks of the step, halved where it does not settle, and doubled again. */
static perp_status advance_in_parts(perp_quasistatic *qs, perp_step_context *context, const double ends[2],
                                    perp_residuals *total, perp_error *error)
{
    enum { LEAST = PERP_QS_TICKS / 8 };
    const double tick = (ends[1] - ends[0]) / PERP_QS_TICKS;
    const bool started = qs->started;
    perp_status status = PERP_STATUS_OK;
    for (int at = 0, size = PERP_QS_TICKS; at < PERP_QS_TICKS && status == PERP_STATUS_OK;) {
        const double part[2] = {at == 0 ? ends[0] : ends[0] + at * tick,
                                at + size == PERP_QS_TICKS ? ends[1] : ends[0] + (at + size) * tick};
        outcome out = {.method = NULL};
        qs->started = started || at > 0;
        status = advance(qs, context, part, size == LEAST, &out, error);
        if (status == PERP_STATUS_OK && !out.settled && size > LEAST) {
            qs->info->fallbacks[PERP_FALLBACK_SUBSTEP]++;
            size /= 2;
            status = perp_qs_look_from(qs, context, qs->q_begin, error);
            continue;
        }
        if (status == PERP_STATUS_OK && !out.settled) {
            return perp_qs_not_converged(qs, out.method, out.residual, error);
        }
        qs->split = qs->split || size < PERP_QS_TICKS;
        at += size;
        if (status == PERP_STATUS_OK) {
            status = accept(qs, context, &out, total, (part[1] - part[0]) / (ends[1] - ends[0]), error);
        }
        if (status == PERP_STATUS_OK) {
            status = go_on(qs, context, at, &size, error);
        }
    }
    qs->started = started;
    return status;
}

/* ---- islands ----------------------------------------------------------------------------------------------------- */

static int tree_of(const perp_quasistatic *qs, int dof)
{
    return qs->model->links[qs->model->dof_body[dof]].tree;
}

/* Trees that contacts which take part, loops or earlier tries join. Driven bodies that are where the part before has
 * predicted them join all. Returns whether contacts take part that commands alone move. */
static bool join_trees(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    const perp_contact_set *set = qs->contacts;
    const compliant_step *s = qs->own;
    bool commanded = false;
    for (int k = 0; k < model->tree_count; k++) {
        qs->joined[k] = qs->settings->prediction == PERP_PREDICTION_TAYLOR ? 0 : qs->met_with[k];
    }
    for (int i = 0, hint = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        if (perp_compliant_find(&s->all, c, &hint) < 0 && !(c->phi <= perp_qs_way(qs, c))) {
            continue;
        }
        const int a = model->links[c->a].tree, b = model->links[c->b].tree;
        commanded = commanded || (!qs->moved[c->a] && !qs->moved[c->b]);
        if (qs->moved[c->a] && qs->moved[c->b]) {
            perp_qs_join_trees(qs->joined, a, b);
        }
    }
    for (int k = 0; k < model->tree_count; k++) { /* dynamic_drift.c has found what loops join */
        if (qs->linked[k] >= 0) {
            perp_qs_join_trees(qs->joined, k, qs->linked[k]);
        }
    }
    return commanded;
}

/* The islands of the step, numbered by their lowest tree, into qs->group; returns how many there are. Behind them is
 * one without trees, of the contacts that commands alone move, where there are such or no others. */
static int find_islands(perp_quasistatic *qs)
{
    const bool commanded = join_trees(qs);
    int count = 0;
    for (int k = 0; k < qs->model->tree_count; k++) {
        qs->group[k] = -1;
    }
    for (int k = 0; k < qs->model->tree_count; k++) {
        const int lowest = perp_qs_lowest_joined(qs->joined, k);
        if (perp_qs_has_free(qs, k) && qs->group[lowest] < 0) {
            qs->group[lowest] = count++;
        }
        qs->group[k] = perp_qs_has_free(qs, k) ? qs->group[lowest] : -1;
    }
    return count + (commanded || count == 0 ? 1 : 0);
}

/* An island, the others standing still: at the step's begin, or where they have come to. */
static void activate(perp_quasistatic *qs, int island, const perp_state *state)
{
    const perp_model *model = qs->model;
    for (int k = 0; k < model->tree_count; k++) {
        qs->active[k] = qs->group[k] == island;
    }
    perp_qs_find_free(qs);
    memcpy(qs->q_begin, state->q, (size_t)model->nq * sizeof *state->q);
    memcpy(qs->v_last, state->v, (size_t)model->nv * sizeof *state->v);
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && qs->moved[b] && qs->done[link->tree] == PERP_QS_TICKS) {
            memcpy(qs->q_begin + link->q_start, qs->q_end + link->q_start, (size_t)link->q_count * sizeof *state->q);
        }
    }
}

/* It is done: its end, in q_end and v_sum. */
static void put_end(perp_quasistatic *qs, const perp_step_context *context)
{
    const perp_model *model = qs->model;
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && qs->active[link->tree]) {
            memcpy(qs->q_end + link->q_start, context->next_q + link->q_start,
                   (size_t)link->q_count * sizeof *qs->q_end);
        }
    }
    for (int i = 0; i < model->nv; i++) {
        qs->v_sum[i] = qs->active[tree_of(qs, i)] ? qs->v_last[i] : qs->v_sum[i];
    }
    for (int k = 0; k < model->tree_count; k++) {
        qs->done[k] = qs->active[k] ? PERP_QS_TICKS : qs->done[k];
    }
}

/* All islands, one after the other. */
static perp_status take_islands(perp_quasistatic *qs, perp_step_context *context, const perp_state *state, double t_end,
                                perp_residuals *total, perp_error *error)
{
    compliant_step *s = qs->own;
    perp_status status = perp_qs_look_far_enough(qs, context, state->q, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    qs->kinematics = context->kinematics;
    qs->contacts = context->contacts;
    const int count = find_islands(qs);
    qs->split = count > 1;
    for (int k = 0; k < count && status == PERP_STATUS_OK; k++) {
        activate(qs, k, state);
        status = k == 0 ? PERP_STATUS_OK : perp_qs_look_from(qs, context, qs->q_begin, error);
        if (status == PERP_STATUS_OK) {
            status = perp_compliant_begin_island(qs, count == 1, error);
        }
        if (status == PERP_STATUS_OK) {
            status = advance_in_parts(qs, context, (const double[2]){state->t, t_end}, total, error);
            put_end(qs, context);
        }
        if (status == PERP_STATUS_OK) {
            status = perp_compliant_end_island(qs, count == 1, error);
        }
    }
    if (status == PERP_STATUS_OK && count > 1) {
        status = perp_compliant_end_step(qs, error);
    }
    s->ended.count = 0;
    return status;
}

static void begin_step(perp_quasistatic *qs, perp_step_context *context, const perp_state *state, double h, bool again)
{
    for (int k = 0; k < qs->model->tree_count; k++) {
        qs->done[k] = 0;
        qs->met_with[k] = again ? qs->met_with[k] : k;
    }
    qs->sum.count = qs->sum.element_count = 0;
    qs->met = false;
    perp_qs_begin_ways(qs, context, state->v, h);
}

/* What commands alone move has done so in no island. */
static void end_step(perp_quasistatic *qs, perp_step_context *context, double t_end, perp_state *state)
{
    const perp_model *model = qs->model;
    const bool exact = qs->settings->prediction != PERP_PREDICTION_TAYLOR;
    if (exact) {
        perp_qs_prescribe(qs, state->q, state->t, t_end);
        perp_prescribed_configuration(model, qs->law->prescribe, state->t + (t_end - state->t), qs->q_end);
    }
    for (int i = 0; i < model->nv; i++) {
        const bool free = perp_qs_has_free(qs, tree_of(qs, i));
        state->v[i] = free ? qs->v_sum[i] : exact ? qs->v[i] : qs->v_last[i];
    }
    memcpy(state->q, exact ? qs->q_end : context->next_q, (size_t)model->nq * sizeof *state->q);
    state->t = t_end;
    for (int k = 0; k < model->tree_count; k++) {
        qs->active[k] = true;
    }
    perp_qs_find_free(qs);
    qs->started = true;
}

perp_status perp_compliant_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                                perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    const compliant_step *s = qs->own;
    perp_residuals total = {0};
    perp_status status = PERP_STATUS_OK;
    qs->info = info;
    qs->met = false;
    perp_loops_note(qs, context);
    qs->seen = perp_contact_set_margin(context->contacts);
    for (bool again = false; !again || qs->met; again = true) { /* islands that have met are joined */
        status = again ? perp_qs_look_from(qs, context, state->q, error) : PERP_STATUS_OK;
        begin_step(qs, context, state, t_end - state->t, again);
        if (status == PERP_STATUS_OK) {
            status = take_islands(qs, context, state, t_end, &total, error);
        }
    }
    status = status == PERP_STATUS_OK ? perp_loops_check_end(qs, context, t_end, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    end_step(qs, context, t_end, state);
    info->residuals = total;
    info->contact_count = qs->split ? qs->sum.count : qs->record_count;
    info->contacts = qs->split ? qs->sum.records : qs->records;
    info->element_count = qs->split ? qs->sum.element_count : s->element_count;
    info->elements = qs->split ? qs->sum.elements : s->elements;
    return PERP_STATUS_OK;
}
