/* One step of the rung `compliant`: compliant.h says what it solves. */
#include "contact/contact_reach.h"
#include "geometry/tolerances.h"
#include "model/state.h"
#include "step/common/commanded_loops.h"
#include "step/common/run_result.h"
#include "step/compliant/compliant.h"
#include "step/common/tolerances.h"

#include <string.h>

enum {
    ITERATES = 20,
    HOPELESS = 4 /* so many iterates that came no nearer: the step is split */
};

/* ---- one iterate ------------------------------------------------------------------------------------------------- */

/* Loops are linearised at q_k too: C v = C v_k - (how far they are open) / h. */
static void move_loops(contact_step *step)
{
    const compliant_step *s = step->own;
    const perp_model *model = step->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, step->kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            const double *row = step->loop_jacobian + (ptrdiff_t)r * model->nv;
            for (int k = 0; k < model->nv && step->equation_of[all] >= 0; k++) {
                step->equality_target[step->equation_of[all]] += row[k] * s->v_linear[k];
            }
        }
    }
}

/* The problem at q_k, where kinematics and contacts are; its point is what led there. */
static perp_status build(contact_step *step, perp_step_context *context, const double times[2], perp_error *error)
{
    compliant_step *s = step->own;
    perp_compliant_carry_inertia(step, context);
    step->same_length = s->guessed;
    perp_status status = perp_step_build(step, context, step->q_begin, times[0], times[1], error);
    if (status == PERP_STATUS_OK && s->guessed) {
        move_loops(step);
    }
    if (status == PERP_STATUS_OK && !s->guessed) {
        status = perp_compliant_meet(step, error);
    }
    status = status == PERP_STATUS_OK ? perp_compliant_build(step, error) : status;
    return status == PERP_STATUS_OK && step->parts.met ? PERP_STATUS_NOT_CONVERGED : status; /* the step begins anew */
}

/* Velocities of the answer into step->v, whose prescribed ones are there. */
static void put_velocities(contact_step *step)
{
    const compliant_step *s = step->own;
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        step->v[dof] = s->speed * s->point.x[i] + step->inertia.v_drifted[dof];
    }
}

/* Velocities of the answer into step->v and, by `part` of the way from v_k, into v_k; then q_k. */
static void move_on(contact_step *step, perp_step_context *context, double part)
{
    compliant_step *s = step->own;
    const perp_model *model = step->model;
    put_velocities(step);
    for (int i = 0; i < model->nv; i++) {
        const double led = step->free_of_dof[i] >= 0 ? step->v[i] : step->v_gap[i];
        s->v_linear[i] = s->guessed ? s->v_linear[i] + part * (led - s->v_linear[i]) : led;
    }
    perp_configuration_integrate(model, step->q_begin, s->v_linear, step->h, context->next_q);
    perp_prescribed_configuration(model, step->prescribe, step->t + step->h, context->next_q);
    if (step->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(model, step->t, step->h, context->next_q);
    }
}

static bool is_sane(const contact_step *step)
{
    static const double FAR = 1e6; /* a motion of so many sizes of the island in one step is no answer */
    const compliant_step *s = step->own;
    for (int i = 0; i < step->free_count; i++) {
        if (!(fabs(step->h * s->speed * s->point.x[i]) <= FAR * fmax(step->length_unit, 1.0))) {
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
static bool is_answer(contact_step *step, int k, bool *good, outcome *out)
{
    static const double NEARER = 0.7;
    const double tolerance = step->settings->tolerance, before = out->residual;
    out->parts = perp_compliant_evaluate(step);
    out->residual = perp_compliant_worst(out->parts);
    out->method = SETTLING;
    out->stuck += out->residual > NEARER * before ? 1 : 0;
    const bool was_good = *good;
    *good = out->residual <= tolerance;
    return *good && (was_good || out->residual <= SETTLED_WELL * tolerance || out->residual >= before || k == ITERATES);
}

static perp_status solve(contact_step *step, bool *solved, outcome *out, perp_error *error)
{
    perp_friction_info info = {0};
    const double started = perp_step_now();
    const perp_status status = perp_compliant_solve(step, solved, &info, error);
    step->info->solve_us += perp_step_now() - started;
    if (status == PERP_STATUS_OK && step->settings->cancel && *step->settings->cancel) {
        return perp_fail(error, PERP_STATUS_CANCELLED, "stopped within the step that begins at t = %g s", step->t);
    }
    *solved = *solved && is_sane(step);
    if (status == PERP_STATUS_OK && !*solved) {
        out->method = info.method;
        out->residual = fmin(info.residual, 1e300);
    }
    return status;
}

/* All that is near carries force already: nothing is to be met. */
static bool is_steady(const contact_step *step)
{
    const compliant_step *s = step->own;
    bool steady = perp_compliant_has_answer(step) && !s->at_begin && s->patch_count > 0;
    for (int i = 0; i < s->element_count && steady; i++) {
        steady = s->point.y[s->row_start[i]] > 0.0;
    }
    return steady;
}

/* What led to q_k is kept, and the problem there built. */
static perp_status go_there(contact_step *step, perp_step_context *context, const double times[2], double part,
                            perp_error *error)
{
    move_on(step, context, part);
    if (((compliant_step *)step->own)->gives_way) {
        perp_springs_change(step, step->q_begin, step->v, EFFORT_ROUNDING);
    }
    perp_status status = perp_compliant_keep_guess(step, error);
    if (status == PERP_STATUS_OK) {
        status = perp_step_look_from(step, context, context->next_q, error);
    }
    return status == PERP_STATUS_OK ? build(step, context, times, error) : status;
}

/* From the problem at hand to one whose answer leads to where it is. With s->at_begin its first answer is taken. */
static perp_status settle(contact_step *step, perp_step_context *context, const double times[2], outcome *out,
                          perp_error *error)
{
    compliant_step *s = step->own;
    bool good = false;
    perp_status status = PERP_STATUS_OK;
    for (int k = 1; k <= ITERATES && out->stuck < HOPELESS && status == PERP_STATUS_OK; k++) {
        bool solved = true;
        if (s->qp.n > 0) {
            status = solve(step, &solved, out, error);
        }
        if (status != PERP_STATUS_OK || !solved) {
            return status;
        }
        if (s->at_begin) {
            move_on(step, context, 1.0);
            if (s->gives_way && perp_springs_change(step, step->q_begin, step->v, EFFORT_ROUNDING) > 0.0) {
                status = build(step, context, times, error);
                continue;
            }
            out->parts = perp_compliant_evaluate(step);
            out->residual = perp_compliant_worst(out->parts);
            out->method = "linearised";
            out->settled = out->residual <= step->settings->tolerance;
            return PERP_STATUS_OK;
        }
        status = go_there(step, context, times, out->stuck > 1 ? 0.5 : 1.0, error); /* to and fro: a half of it */
        out->flickers += status == PERP_STATUS_OK && k > 1 && !perp_compliant_same_contacts(step) ? 1 : 0;
        if (status == PERP_STATUS_OK && is_answer(step, k, &good, out)) {
            put_velocities(step);
            out->settled = true;
            return status;
        }
    }
    return status;
}

/* From step->q_begin, where kinematics and contacts are, to context->next_q, where they are if it has settled. */
static perp_status iterate(contact_step *step, perp_step_context *context, const double times[2], outcome *out,
                           perp_error *error)
{
    compliant_step *s = step->own;
    *out = (outcome){.residual = INFINITY};
    s->guessed = false;
    memset(s->v_linear, 0, (size_t)step->model->nv * sizeof *s->v_linear);
    perp_status status = build(step, context, times, error);
    if (status == PERP_STATUS_OK && is_steady(step)) { /* begins where the last step's change leads */
        status = go_there(step, context, times, 1.0, error);
    }
    return status == PERP_STATUS_OK ? settle(step, context, times, out, error) : status;
}

/* Stage k of a continuation in gamma, false: there is none. Towards the scene's gamma from Coulomb's cone (`upwards`);
 * or from one on which all that is pressed sticks, where the problem is convex, down to the scene's. */
static bool stage_of(contact_step *step, bool upwards, int k)
{
    enum { UP = 4, DOWN = 9 };
    compliant_step *s = step->own;
    s->gamma_part = upwards ? (k == 0 ? 0.0 : pow(4.0, fmin(k - UP, 0.0))) : 1.0;
    s->gamma_least = upwards || k >= DOWN ? 0.0 : step->force_unit * pow(10.0, 2 - k);
    return k <= (upwards ? UP : DOWN);
}

/* The same by a continuation: each stage begins with the answer of the one before it. The first stages need not settle:
 * what does is where it begins. */
static perp_status iterate_continued(contact_step *step, perp_step_context *context, const double times[2],
                                     bool upwards, outcome *out, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    bool begun = false;
    for (int k = 0; stage_of(step, upwards, k) && status == PERP_STATUS_OK; k++) {
        if (begun) {
            *out = (outcome){.residual = INFINITY};
            status = build(step, context, times, error);
            status = status == PERP_STATUS_OK ? settle(step, context, times, out, error) : status;
        } else {
            status = k == 0 ? PERP_STATUS_OK : perp_step_look_from(step, context, step->q_begin, error);
            status = status == PERP_STATUS_OK ? iterate(step, context, times, out, error) : status;
        }
        if (begun && !out->settled) {
            break;
        }
        begun = out->settled;
    }
    return status;
}

/* Farther contacts than the motion can reach have no part in the step. What is ahead comes no farther. */
static perp_status look_far(contact_step *step, perp_step_context *context, perp_error *error)
{
    perp_step_begin_ways(step, context, step->v_last, step->h);
    for (int b = 0; b < step->model->body_count; b++) {
        const int tree = step->model->links[b].tree;
        step->reach.way[b] =
            tree >= 0 && step->moved[b] && step->parts.done[tree] == PERP_STEP_TICKS ? 0.0 : step->reach.way[b];
    }
    return perp_step_look_far_enough(step, context, step->q_begin, error);
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

/* One of them, from step->q_begin; `fresh`: contacts are those of there. */
static perp_status take_with_springs(contact_step *step, perp_step_context *context, const double times[2], way how,
                                     bool fresh, outcome *out, perp_error *error)
{
    compliant_step *s = step->own;
    s->gamma_part = how >= SHARP ? 0.0 : 1.0;
    s->gamma_least = 0.0;
    s->at_begin = how >= LINEARISED;
    s->by_rates = how % 2 == 1;
    step->h = times[1] - times[0];
    perp_status status = fresh ? PERP_STATUS_OK : perp_step_look_from(step, context, step->q_begin, error);
    if (status == PERP_STATUS_OK) {
        status = look_far(step, context, error);
    }
    if (status == PERP_STATUS_OK) {
        perp_compliant_remember_inertia(step, context);
        const bool upwards = how == UPWARDS || how == UPWARDS_BY_RATES;
        const bool continued = upwards || how == DOWNWARDS || how == DOWNWARDS_BY_RATES;
        status = continued ? iterate_continued(step, context, times, upwards, out, error)
                           : iterate(step, context, times, out, error);
    }
    return status;
}

/* The same, within the effort of springs: first without it, so that a limit that does not bind changes nothing; then
 * every iterate has those at their limit that the one before was beyond it with. */
static perp_status take_way(contact_step *step, perp_step_context *context, const double times[2], way how,
                            outcome *out, perp_error *error)
{
    compliant_step *s = step->own;
    s->gives_way = false;
    perp_springs_release(step);
    perp_status status = take_with_springs(step, context, times, how, how == PLAIN && s->lags, out, error);
    if (status == PERP_STATUS_OK && out->settled &&
        perp_springs_change(step, step->q_begin, step->v, EFFORT_ROUNDING) > 0.0) {
        s->gives_way = true;
        status = take_with_springs(step, context, times, how, false, out, error);
    }
    return status;
}

/* The same, and by rates where it adds energy. */
static perp_status take_energy_safe(contact_step *step, perp_step_context *context, const double times[2], way how,
                                    outcome *out, perp_error *error)
{
    perp_status status = take_way(step, context, times, how, out, error);
    if (status == PERP_STATUS_OK && out->settled && perp_compliant_grows(step)) {
        const int flickers = out->flickers;
        status = take_way(step, context, times, how + 1, out, error);
        out->flickers += flickers;
        step->info->fallbacks[PERP_FALLBACK_UNSTABILISED] += status == PERP_STATUS_OK && out->settled ? 1 : 0;
    }
    return status;
}

/* The same, counted where it is what settles. */
static perp_status fall_back(contact_step *step, perp_step_context *context, const double times[2], way how,
                             outcome *out, perp_error *error)
{
    const perp_fallback name = how >= LINEARISED ? PERP_FALLBACK_LINEARISED
                               : how >= SHARP    ? PERP_FALLBACK_SHARP
                                                 : PERP_FALLBACK_CONTINUED;
    const perp_status status = take_energy_safe(step, context, times, how, out, error);
    step->info->fallbacks[name] += status == PERP_STATUS_OK && out->settled ? 1 : 0;
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
static bool is_unresolved(const contact_step *step, const outcome *out)
{
    static const double MUCH = 0.01; /* F */
    const compliant_step *s = step->own;
    double stiffness = 0.0;
    for (int k = 0; k < s->patch_count; k++) {
        stiffness = fmax(stiffness, s->patches[k].material.stiffness[0]);
    }
    const double force = stiffness * TIE_LENGTH / step->force_unit;
    return out->method && strcmp(out->method, SETTLING) == 0 && force >= MUCH && out->residual <= force;
}

/* A part of the step: as it is, by a continuation in gamma, and before it is given up (`last`, or where contacts come
 * and go from iterate to iterate, or are not known well enough, so that the end has no contacts to be implicit in)
 * without gamma, then with contacts as they are at its begin. */
static perp_status advance(contact_step *step, perp_step_context *context, const double times[2], bool last,
                           outcome *out, perp_error *error)
{
    enum { MANY = 2 };
    compliant_step *s = step->own;
    s->lags = true;
    perp_status status = take_energy_safe(step, context, times, PLAIN, out, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const bool flickers = out->flickers >= MANY || (!out->settled && is_unresolved(step, out));
    const bool extended = s->element_count > s->patch_count;
    const bool rounded = has_gamma(s);
    s->lags = false;
    if (status == PERP_STATUS_OK && !out->settled && extended && !flickers) {
        status = take_energy_safe(step, context, times, PLAIN, out, error);
    }
    const bool unsolved = out->method && strcmp(out->method, SETTLING) != 0; /* at a given geometry */
    if (status == PERP_STATUS_OK && !out->settled && rounded && !flickers) {
        status = fall_back(step, context, times, UPWARDS, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && unsolved && !flickers) {
        status = fall_back(step, context, times, DOWNWARDS, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && last && !flickers) {
        status = fall_back(step, context, times, SHARP, out, error);
    }
    if (status == PERP_STATUS_OK && !out->settled && (last || flickers)) {
        status = fall_back(step, context, times, LINEARISED, out, error);
    }
    return status;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* The part was accepted: velocities, and its contacts and elements to those of the step, `share` of which it is. */
static perp_status accept(contact_step *step, perp_step_context *context, const outcome *out, perp_residuals *total,
                          double share, perp_error *error)
{
    const compliant_step *s = step->own;
    perp_compliant_record(step);
    const perp_status status = perp_compliant_accept(step, error);
    const perp_residuals own = {
        .balance = out->parts.balance, .complementarity = out->parts.complementarity, .cone = out->parts.cone};
    perp_residuals_keep_largest(total, &own);
    if (s->at_begin) {
        perp_compliant_carry_answer(step, context);
    }
    for (int i = 0; i < step->system.equality_count; i++) {
        step->y_loop[step->loop_row[i]] += share * step->force_unit * s->point.y_equality[i];
    }
    for (int i = 0; i < step->model->nv; i++) {
        const int tree = step->model->links[step->model->dof_body[i]].tree;
        step->v_last[i] = step->parts.active[tree] || !perp_step_has_free(step, tree) ? step->v[i] : step->v_last[i];
    }
    if (status != PERP_STATUS_OK || !step->split) {
        return status;
    }
    return perp_contact_sum_add(&step->sum, &step->allocator, step->records, step->record_count, s->elements, share,
                                error);
}

/* From the end of a part, tick `at`, to the begin of the next one, whose `size` ticks becomes what fits from there on.
 */
static perp_status begin_next_part(contact_step *step, perp_step_context *context, int at, int *size, perp_error *error)
{
    while (at % (2 * *size) == 0 && 2 * *size <= PERP_STEP_TICKS - at) {
        *size *= 2;
    }
    memcpy(step->q_begin, context->next_q, (size_t)step->model->nq * sizeof *step->q_begin);
    return at < PERP_STEP_TICKS ? perp_step_look_from(step, context, step->q_begin, error) : PERP_STATUS_OK;
}

/* [at, at + size) ticks of the step, halved where it does not settle, and doubled again. */
static perp_status advance_in_parts(contact_step *step, perp_step_context *context, const double ends[2],
                                    perp_residuals *total, perp_error *error)
{
    enum { LEAST = PERP_STEP_TICKS / 8 };
    const double tick = (ends[1] - ends[0]) / PERP_STEP_TICKS;
    const bool started = step->started;
    perp_status status = PERP_STATUS_OK;
    for (int at = 0, size = PERP_STEP_TICKS; at < PERP_STEP_TICKS && status == PERP_STATUS_OK;) {
        const double part[2] = {at == 0 ? ends[0] : ends[0] + at * tick,
                                at + size == PERP_STEP_TICKS ? ends[1] : ends[0] + (at + size) * tick};
        outcome out = {.method = NULL};
        step->started = started || at > 0;
        status = advance(step, context, part, size == LEAST, &out, error);
        if (status == PERP_STATUS_OK && !out.settled && size > LEAST) {
            step->info->fallbacks[PERP_FALLBACK_SUBSTEP]++;
            size /= 2;
            status = perp_step_look_from(step, context, step->q_begin, error);
            continue;
        }
        if (status == PERP_STATUS_OK && !out.settled) {
            return perp_step_not_converged(step, out.method, out.residual, error);
        }
        step->split = step->split || size < PERP_STEP_TICKS;
        at += size;
        if (status == PERP_STATUS_OK) {
            status = accept(step, context, &out, total, (part[1] - part[0]) / (ends[1] - ends[0]), error);
        }
        if (status == PERP_STATUS_OK) {
            status = begin_next_part(step, context, at, &size, error);
        }
    }
    step->started = started;
    return status;
}

/* ---- islands ----------------------------------------------------------------------------------------------------- */

/* Trees that contacts which take part, loops or earlier tries join. Driven bodies that are where the part before has
 * predicted them join all. Returns whether contacts take part that commands alone move. */
static bool join_trees(contact_step *step)
{
    const perp_model *model = step->model;
    const perp_contact_set *set = step->contacts;
    const compliant_step *s = step->own;
    bool commanded = false;
    for (int k = 0; k < model->tree_count; k++) {
        step->joined[k] = step->settings->prediction == PERP_PREDICTION_TAYLOR ? 0 : step->parts.met_with[k];
    }
    for (int i = 0, hint = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        if (perp_compliant_find(&s->all, c, &hint) < 0 && !(c->phi <= perp_step_way(step, c))) {
            continue;
        }
        const int a = model->links[c->a].tree, b = model->links[c->b].tree;
        commanded = commanded || (!step->moved[c->a] && !step->moved[c->b]);
        if (step->moved[c->a] && step->moved[c->b]) {
            perp_step_join_trees(step->joined, a, b);
        }
    }
    for (int k = 0; k < model->tree_count; k++) { /* dynamic_drift.c has found what loops join */
        if (step->inertia.linked[k] >= 0) {
            perp_step_join_trees(step->joined, k, step->inertia.linked[k]);
        }
    }
    return commanded;
}

/* The islands of the step, numbered by their lowest tree, into step->parts.group; returns how many there are. Behind
 * them is one without trees, of the contacts that commands alone move, where there are such or no others. */
static int find_islands(contact_step *step)
{
    const bool commanded = join_trees(step);
    int count = 0;
    for (int k = 0; k < step->model->tree_count; k++) {
        step->parts.group[k] = -1;
    }
    for (int k = 0; k < step->model->tree_count; k++) {
        const int lowest = perp_step_lowest_joined(step->joined, k);
        if (perp_step_has_free(step, k) && step->parts.group[lowest] < 0) {
            step->parts.group[lowest] = count++;
        }
        step->parts.group[k] = perp_step_has_free(step, k) ? step->parts.group[lowest] : -1;
    }
    return count + (commanded || count == 0 ? 1 : 0);
}

/* An island, the others standing still: at the step's begin, or where they have come to. */
static void activate(contact_step *step, int island, const perp_state *state)
{
    const compliant_step *s = step->own;
    const perp_model *model = step->model;
    for (int k = 0; k < model->tree_count; k++) {
        step->parts.active[k] = step->parts.group[k] == island;
    }
    perp_step_find_free(step);
    memcpy(step->q_begin, state->q, (size_t)model->nq * sizeof *state->q);
    memcpy(step->v_last, state->v, (size_t)model->nv * sizeof *state->v);
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && step->moved[b] && step->parts.done[link->tree] == PERP_STEP_TICKS) {
            memcpy(step->q_begin + link->q_start, s->q_end + link->q_start, (size_t)link->q_count * sizeof *state->q);
        }
    }
}

/* It is done: its end, in q_end and v_sum. */
static void put_end(contact_step *step, const perp_step_context *context)
{
    compliant_step *s = step->own;
    const perp_model *model = step->model;
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && step->parts.active[link->tree]) {
            memcpy(s->q_end + link->q_start, context->next_q + link->q_start, (size_t)link->q_count * sizeof *s->q_end);
        }
    }
    for (int i = 0; i < model->nv; i++) {
        step->v_sum[i] = step->parts.active[perp_step_tree_of(step, i)] ? step->v_last[i] : step->v_sum[i];
    }
    for (int k = 0; k < model->tree_count; k++) {
        step->parts.done[k] = step->parts.active[k] ? PERP_STEP_TICKS : step->parts.done[k];
    }
}

/* All islands, one after the other. */
static perp_status take_islands(contact_step *step, perp_step_context *context, const perp_state *state, double t_end,
                                perp_residuals *total, perp_error *error)
{
    compliant_step *s = step->own;
    perp_status status = perp_step_look_far_enough(step, context, state->q, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->kinematics = context->kinematics;
    step->contacts = context->contacts;
    const int count = find_islands(step);
    step->split = count > 1;
    for (int k = 0; k < count && status == PERP_STATUS_OK; k++) {
        activate(step, k, state);
        status = k == 0 ? PERP_STATUS_OK : perp_step_look_from(step, context, step->q_begin, error);
        if (status == PERP_STATUS_OK) {
            status = perp_compliant_begin_island(step, count == 1, error);
        }
        if (status == PERP_STATUS_OK) {
            status = advance_in_parts(step, context, (const double[2]){state->t, t_end}, total, error);
            put_end(step, context);
        }
        if (status == PERP_STATUS_OK) {
            status = perp_compliant_end_island(step, count == 1, error);
        }
    }
    if (status == PERP_STATUS_OK && count > 1) {
        status = perp_compliant_end_step(step, error);
    }
    s->ended.count = 0;
    return status;
}

static void begin_step(contact_step *step, perp_step_context *context, const perp_state *state, double h, bool again)
{
    for (int k = 0; k < step->model->tree_count; k++) {
        step->parts.done[k] = 0;
        step->parts.met_with[k] = again ? step->parts.met_with[k] : k;
    }
    memset(step->y_loop, 0, (size_t)step->loop_row_count * sizeof *step->y_loop);
    step->sum.count = step->sum.element_count = 0;
    step->parts.met = false;
    perp_step_begin_ways(step, context, state->v, h);
}

/* What commands alone move has done so in no island. */
static void end_step(contact_step *step, perp_step_context *context, double t_end, perp_state *state)
{
    compliant_step *s = step->own;
    const perp_model *model = step->model;
    const bool exact = step->settings->prediction != PERP_PREDICTION_TAYLOR;
    if (exact) {
        perp_step_prescribe(step, state->q, state->t, t_end);
        perp_prescribed_configuration(model, step->prescribe, state->t + (t_end - state->t), s->q_end);
    }
    for (int i = 0; i < model->nv; i++) {
        const bool free = perp_step_has_free(step, perp_step_tree_of(step, i));
        state->v[i] = free ? step->v_sum[i] : exact ? step->v[i] : step->v_last[i];
    }
    memcpy(state->q, exact ? s->q_end : context->next_q, (size_t)model->nq * sizeof *state->q);
    state->t = t_end;
    for (int k = 0; k < model->tree_count; k++) {
        step->parts.active[k] = true;
    }
    perp_step_find_free(step);
    step->started = true;
}

perp_status perp_compliant_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                                perp_error *error)
{
    contact_step *step = context->workspace;
    const compliant_step *s = step->own;
    perp_residuals total = {0};
    perp_status status = PERP_STATUS_OK;
    step->info = info;
    step->parts.met = false;
    perp_loops_note(step, context);
    step->reach.seen = perp_contact_set_margin(context->contacts);
    for (bool again = false; !again || step->parts.met; again = true) { /* islands that have met are joined */
        status = again ? perp_step_look_from(step, context, state->q, error) : PERP_STATUS_OK;
        begin_step(step, context, state, t_end - state->t, again);
        if (status == PERP_STATUS_OK) {
            status = take_islands(step, context, state, t_end, &total, error);
        }
    }
    status = status == PERP_STATUS_OK ? perp_loops_check_end(step, context, t_end, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    end_step(step, context, t_end, state);
    perp_step_tell_loops(step);
    info->residuals = total;
    info->contact_count = step->split ? step->sum.count : step->record_count;
    info->contacts = step->split ? step->sum.records : step->records;
    info->element_count = step->split ? step->sum.element_count : s->element_count;
    info->elements = step->split ? step->sum.elements : s->elements;
    return PERP_STATUS_OK;
}

const step_law perp_compliant_law = {
    .own_contacts = true,
    .open = perp_compliant_open,
    .close = perp_compliant_close,
    .put = perp_compliant_put,
    .take = perp_compliant_take,
};
