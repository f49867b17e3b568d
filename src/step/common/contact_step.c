/* One step of a rung with contact forces, whatever its law. */
#define _POSIX_C_SOURCE 200809L
#include "contact/contact_reach.h"
#include "model/state.h"
#include "step/common/commanded_loops.h"
#include "step/common/contact_order.h"
#include "step/common/dynamic.h"
#include "step/common/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

double perp_step_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + (double)time.tv_nsec / 1000.0;
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

/* A motion of so many sizes of the island in one step is no answer, whatever it solves. */
static const double FAR = 1e6;

/* The largest motion in the step, in sizes of the island (or in radians). */
static double largest_motion(const contact_step *one)
{
    double largest = 0.0;
    for (int k = 0; k < one->free_count; k++) {
        largest = fmax(largest, fabs(one->h * one->x[k]));
    }
    return largest / fmax(one->length_unit, 1.0);
}

/* Whether the island's answer meets its law. */
static perp_status judge_island(contact_step *one, perp_residuals *total, perp_error *error)
{
    one->info->residuals.balance = perp_step_judge_balance(one);
    return perp_step_check_law(one, total, error);
}

/* An island, as if it were alone. */
static perp_status solve_island(contact_step *one, perp_residuals *total, perp_error *error)
{
    const bool several = one->info->several;
    one->info->several = false;
    const perp_status status = one->law->solve(one, error);
    one->info->several = one->info->several || several;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const double motion = largest_motion(one);
    if (!(motion <= FAR)) {
        return perp_step_not_converged(one, "ran out of the scene and", fmin(motion, DBL_MAX), error);
    }
    return judge_island(one, total, error);
}

/* Velocities of the answer into step->v, whose prescribed ones are there. */
static void put_velocities(contact_step *step)
{
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        step->v[i] = step->x[k] + (step->dynamic ? step->inertia.v_drifted[i] : 0.0);
    }
}

/* What solving an island began with: a round that was in vain leaves nothing but the iterations that it took. */
typedef struct round_begin {
    perp_step_info info;
    perp_residuals total;
    double force;
} round_begin;

static void begin_round(contact_step *step, int island, const round_begin *begin, perp_residuals *total)
{
    const int iterations = step->info->iterations;
    *step->info = begin->info;
    step->info->iterations = iterations;
    *total = begin->total;
    step->islands[island].force = begin->force;
}

/* One round: the island with springs as they are now. */
static perp_status solve_round(contact_step *step, int island, const round_begin *begin, contact_step *one,
                               perp_residuals *total, perp_error *error)
{
    begin_round(step, island, begin, total);
    *one = perp_step_island(step, island);
    perp_step_fill_springs(one, step->q_begin);
    perp_step_measure_force(one, island, step->q_begin);
    const perp_status status = solve_island(one, total, error);
    if (status == PERP_STATUS_OK) {
        put_velocities(one);
    }
    return status;
}

/* Rounds of an island with springs whose force is limited. First all are springs; those whose force was beyond their
 * effort are at their limit in the next round, and those that have come back from there are springs again, until none
 * is wrong. `miss` is that of the last round that was solved. */
static perp_status solve_all_at_once(contact_step *step, int island, const round_begin *begin, contact_step *one,
                                     perp_residuals *total, double *miss, perp_error *error)
{
    enum { ROUNDS = 10 };
    *miss = 0.0;
    for (int k = 0; k < ROUNDS; k++) {
        const perp_status status = solve_round(step, island, begin, one, total, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        *miss = perp_springs_change(one, step->q_begin, step->v, EFFORT_ROUNDING);
        if (*miss == 0.0) {
            return PERP_STATUS_OK;
        }
    }
    return PERP_STATUS_OK;
}

/* The point of the search as the answer: nothing pulls at it that the law does not know. */
static perp_status take_point(contact_step *step, contact_step *one, bool several, perp_residuals *total,
                              perp_error *error)
{
    step->limit_rate = 0.0;
    one->limit_rate = 0.0;
    perp_step_fill_springs(one, step->q_begin);
    one->info->several = one->info->several || several;
    return judge_island(one, total, error);
}

/* The same where that has no answer, as between springs of different effort, of which all at their limit hold nothing.
 * Springs at their limit keep a part of their rate about the velocities of the best point so far, so that there is
 * always an answer, and the point moves towards it as far as the energy of the limited springs falls. Where the set
 * belongs to the point it is tried as it is; why that failed is what is told where the point goes on without end. What
 * was tried may have a smaller motion that takes a spring off its limit; then the point stays where it is, and is
 * taken. */
static perp_status solve_by_search(contact_step *step, int island, const round_begin *begin, contact_step *one,
                                   perp_residuals *total, double *miss, perp_error *error)
{
    enum { ROUNDS = 40 };
    perp_springs_release(one);
    step->limit_rate = 0.0;
    perp_status status = solve_round(step, island, begin, one, total, error), failed = PERP_STATUS_OK;
    memcpy(step->v_held, step->v, (size_t)step->model->nv * sizeof *step->v);
    double rate = LIMIT_RATE;
    bool several = false;
    for (int k = 0; k < ROUNDS && status == PERP_STATUS_OK && rate > LIMIT_RATE_LEAST; k++) {
        const double change = perp_springs_change(one, step->q_begin, step->v_held, EFFORT_ROUNDING);
        if (change == 0.0) {
            step->limit_rate = 0.0;
            failed = solve_round(step, island, begin, one, total, error);
            several = failed == PERP_STATUS_OK && step->info->several;
            *miss = failed == PERP_STATUS_OK ? perp_springs_miss(one, step->q_begin, step->v) : 1.0;
            if (*miss == 0.0) {
                return PERP_STATUS_OK;
            }
        }
        step->limit_rate = rate;
        status = solve_round(step, island, begin, one, total, failed == PERP_STATUS_OK ? error : NULL);
        const double pull = perp_springs_pull(one, step->q_begin, step->v);
        step->limit_rate = 0.0;
        if (status == PERP_STATUS_OK && change == 0.0 && pull <= EFFORT_ROUNDING &&
            perp_springs_miss(one, step->q_begin, step->v) == 0.0) {
            *miss = 0.0;
            return take_point(step, one, several, total, error);
        }
        if (status == PERP_STATUS_OK && perp_springs_search(one, step->q_begin) == 1.0 && change == 0.0) {
            rate *= LIMIT_RATE_FALL;
        }
    }
    return failed != PERP_STATUS_OK ? failed : status;
}

/* The same where friction, which is not of an energy, leads that search in a circle: the first spring that is wrong
 * goes one place on, from limit to spring or from spring to limit, as in Murty's method of least index. */
static perp_status solve_one_by_one(contact_step *step, int island, const round_begin *begin, contact_step *one,
                                    perp_residuals *total, double *miss, perp_error *error)
{
    enum { ROUNDS = 100 };
    perp_springs_release(one);
    memset(step->v_held, 0, (size_t)step->model->nv * sizeof *step->v_held);
    double rate = LIMIT_RATE;
    perp_status status = PERP_STATUS_OK;
    for (int k = 0; k < ROUNDS && status == PERP_STATUS_OK && rate > LIMIT_RATE_LEAST; k++) {
        step->limit_rate = rate;
        status = solve_round(step, island, begin, one, total, error);
        step->limit_rate = 0.0;
        if (status == PERP_STATUS_OK && !perp_springs_change_first(one, step->q_begin, step->v)) {
            const perp_status tried = solve_round(step, island, begin, one, total, NULL);
            *miss = tried == PERP_STATUS_OK ? perp_springs_miss(one, step->q_begin, step->v) : 1.0;
            if (*miss == 0.0) {
                return PERP_STATUS_OK;
            }
            rate *= LIMIT_RATE_FALL;
        }
    }
    return status;
}

static perp_status solve_limited(contact_step *step, int island, contact_step *one, perp_residuals *total,
                                 perp_error *error)
{
    const round_begin begin = {*step->info, *total, step->islands[island].force};
    perp_error first = {0};
    double miss;
    perp_status status = solve_all_at_once(step, island, &begin, one, total, &miss, &first);
    if (status != PERP_STATUS_OK && miss == 0.0 && error) {
        *error = first;
    }
    if (miss > 0.0) {
        status = solve_by_search(step, island, &begin, one, total, &miss, error);
    }
    if (miss > 0.0) {
        perp_error again;
        const perp_status second = solve_one_by_one(step, island, &begin, one, total, &miss, &again);
        status = miss == 0.0 ? second : status;
    }
    return status == PERP_STATUS_OK && miss > 0.0
               ? perp_step_not_converged(one, "the search for springs at their effort", miss, error)
               : status;
}

/* All islands; the first that has no answer is told. */
static perp_status solve_islands(contact_step *step, perp_residuals *total, perp_error *error)
{
    const bool limited = perp_springs_are_limited(step);
    perp_status status = PERP_STATUS_OK;
    if (step->island_count == 1 && !limited) {
        status = solve_island(step, total, error);
        step->islands[0].force = step->force_unit;
        return status;
    }
    for (int k = 0; k < step->island_count && status == PERP_STATUS_OK; k++) {
        contact_step one = perp_step_island(step, k);
        status = perp_springs_are_limited(&one) ? solve_limited(step, k, &one, total, error)
                                                : solve_island(&one, total, error);
        step->islands[k].force = one.force_unit;
        if (status == PERP_STATUS_OK) {
            perp_step_put_island(step, &one);
        }
    }
    if (limited && status == PERP_STATUS_OK) {
        perp_step_fill_springs(step, step->q_begin);
    }
    return status;
}

static perp_status solve(contact_step *step, perp_residuals *total, perp_error *error)
{
    const double started = perp_step_now();
    perp_status status = perp_step_check_commands(step, error);
    if (status == PERP_STATUS_OK) {
        status = solve_islands(step, total, error);
    }
    step->info->solve_us += perp_step_now() - started;
    if (status == PERP_STATUS_OK) {
        put_velocities(step);
    }
    return status;
}

/* Where the step leads: prescribed coordinates to their commands exactly. */
static void integrate(contact_step *step, perp_step_context *context)
{
    const perp_model *model = step->model;
    perp_configuration_integrate(model, step->q_begin, step->v, step->h, context->next_q);
    perp_prescribed_configuration(model, step->prescribe, step->t + step->h, context->next_q);
    if (step->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(model, step->t, step->h, context->next_q);
    }
}

/* ---- splitting --------------------------------------------------------------------------------------------------- */

/* The gaps at the step's end as the step had them, and which contacts they are of. */
static void keep_gaps(contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    ptrdiff_t entry = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const perp_contact *c = &step->contacts->contacts[step->set_index[i]];
        double speed = p->offset[p->row_start[i]] - step->shift[i] + c->phi / step->h;
        for (int k = 0; k < columns; k++) {
            speed += p->jacobian[entry + k] * step->x[p->dofs[start + k]];
        }
        entry += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * columns;
        step->gaps[i] = perp_step_is_support(step, i) ? c->phi : step->h * speed; /* only the foot of a support rises */
        step->begun[i] = *c;
    }
}

/* The gap of a contact in a set: of its features, or where they have gone, the least of its shapes. */
static double true_gap(const perp_contact_set *set, const perp_contact *contact)
{
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        if (perp_contact_same(&set->contacts[i], contact)) {
            return set->contacts[i].phi;
        }
        if (perp_contact_compare_pairs(&set->contacts[i], contact) == 0) {
            least = fmin(least, set->contacts[i].phi);
        }
    }
    return least;
}

int perp_step_tree_of(const contact_step *step, int dof)
{
    return step->model->links[step->model->dof_body[dof]].tree;
}

/* The gap of contact i of the set at the step's end is off by `error`: whose parts are to be split. Trees of different
 * groups that penetrate each other are to be split together. */
static void reject_parts(contact_step *step, int i, double error)
{
    const perp_contact_set *set = step->contacts;
    int first = -1;
    if (!(error > step->settings->substep_tolerance)) {
        return;
    }
    for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
        const int tree = perp_step_tree_of(step, set->dofs[k]);
        if (step->prescribed[set->dofs[k]]) {
            continue;
        }
        step->parts.accepted[step->parts.group[tree]] = false;
        if (first >= 0 && step->parts.group[first] != step->parts.group[tree]) {
            perp_step_join_trees(step->parts.met_with, first, tree);
            step->parts.met = true;
        }
        first = tree;
    }
}

/* How far the linearised gaps are off, with the contact set at the step's end: of contacts that carry force, and of
 * those that penetrate (a new one was not seen coming: its gap was not to fall below 0). Others may be off, they say
 * nothing. Groups that are off by more than the tolerance are not step->parts.accepted. */
static void check_gaps(contact_step *step)
{
    const perp_contact_set *set = step->contacts;
    for (int i = 0; i < step->system.contact_count; i++) {
        const double gap = true_gap(set, &step->begun[i]);
        const int tree = step->tree_of_free[step->dofs[step->dof_start[i]]];
        const bool carries =
            step->force[step->row_start[i]] > CARRIES * step->islands[step->island_of_tree[tree]].force;
        if (isfinite(gap) && (carries || gap < 0.0) && fabs(gap - step->gaps[i]) > step->settings->substep_tolerance) {
            step->parts.accepted[step->parts.group[tree]] = false;
        }
    }
    for (int i = 0; i < set->count; i++) {
        bool known = false, moved = false;
        for (int k = 0; k < step->system.contact_count && !known; k++) {
            known = perp_contact_same(&set->contacts[i], &step->begun[k]);
        }
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            moved = moved || step->free_of_dof[set->dofs[k]] >= 0;
        }
        if (!known && moved) {
            reject_parts(step, i, -set->contacts[i].phi);
        }
    }
}

/* ---- how far to look --------------------------------------------------------------------------------------------- */

/* The motion that a step is thought to do before it is solved: what is driven as it is, the others as in the step
 * before. At a run's begin there is none before it, and joints with springs are thought to come to their commands, so
 * that what they push is seen at once. */
static void begin_ways_of_step(contact_step *step, perp_step_context *context, double t, double t_end)
{
    const perp_model *model = step->model;
    const bool springs = !step->started && !step->dynamic;
    perp_step_prescribe(step, step->q_begin, t, t_end);
    if (springs) {
        perp_command(model, t_end, step->command);
    }
    for (int i = 0; i < model->nv; i++) {
        if (!step->prescribed[i]) {
            step->v[i] = step->v_last[i];
        }
        if (springs && model->role[i] == PERP_DOF_IMPEDANCE) {
            step->v[i] = (step->command[i] - step->q_begin[model->dof_q[i]]) / (t_end - t);
        }
    }
    perp_step_begin_ways(step, context, step->v, t_end - t);
}

/* The step problem with all contacts that are known to be in reach. */
static perp_status build(contact_step *step, perp_step_context *context, const double times[2], perp_error *error)
{
    const perp_status status = perp_step_look_far_enough(step, context, step->q_begin, error);
    return status == PERP_STATUS_OK ? perp_step_build(step, context, step->q_begin, times[0], times[1], error) : status;
}

/* Is a contact in reach that the problem was built without? */
static bool misses_contact(const contact_step *step)
{
    int count = 0;
    for (int i = 0; i < step->contacts->count; i++) {
        count += perp_step_is_in_reach(step, &step->contacts->contacts[i]) ? 1 : 0;
    }
    return count > step->reach.in_reach;
}

/* Solves, and again with a longer look where the motion comes out larger than the look was long. A body that nothing
 * holds is not looked farther for: whatever may lie below does not support it. */
static perp_status solve_seeing_all(contact_step *step, perp_step_context *context, const double times[2],
                                    perp_residuals *total, perp_error *error)
{
    enum { LOOKS = 6 };
    static const double MORE = 1.5;
    for (int look = 0; look < LOOKS && !step->parts.met; look++) {
        perp_status status = solve(step, total, error);
        if (status != PERP_STATUS_OK || !perp_step_add_ways(step, context, step->v, step->h, MORE)) {
            return status;
        }
        const int listed = step->contacts->count; /* so many, seen from the same place, are the same */
        status = perp_step_look_far_enough(step, context, step->q_begin, error);
        if (status != PERP_STATUS_OK || (step->contacts->count == listed && !misses_contact(step))) {
            return status;
        }
        status = perp_step_build(step, context, step->q_begin, times[0], times[1], error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return step->parts.met
               ? PERP_STATUS_OK
               : perp_step_not_converged(step, "looking for all that the motion could meet", step->reach.seen, error);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* A part of the step, from step->q_begin to context->next_q. `total` gathers residuals. */
static perp_status advance(contact_step *step, perp_step_context *context, const double times[2], perp_residuals *total,
                           perp_error *error)
{
    if (step->dynamic) {
        perp_dynamic_drift(step, context);
    }
    perp_status status = build(step, context, times, error);
    if (status == PERP_STATUS_OK && !step->started) {
        status = perp_step_check_start(step, error);
    }
    if (status == PERP_STATUS_OK) {
        status = solve_seeing_all(step, context, times, total, error);
    }
    if (status == PERP_STATUS_OK && !step->parts.met) {
        perp_step_record(step);
        integrate(step, context);
    }
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

bool perp_step_has_free(const contact_step *step, int tree)
{
    const perp_tree *t = &step->model->trees[tree];
    bool any = false;
    for (int i = t->v_start; i < t->v_start + t->v_count; i++) {
        any = any || !step->prescribed[i];
    }
    return any;
}

/* Trees of one island share their parts, and those that have met. With `taylor` all do: driven bodies are where the
 * part before has predicted them, and so have to be at one place for all. */
static void group_trees(contact_step *step)
{
    const int trees = step->model->tree_count;
    const bool together = step->settings->prediction == PERP_PREDICTION_TAYLOR;
    for (int k = 0; k < trees; k++) {
        perp_step_join_trees(step->joined, k, together ? 0 : step->parts.met_with[k]);
    }
    for (int k = 0; k < trees; k++) {
        step->parts.group[k] = -1;
    }
    for (int k = 0; k < trees; k++) {
        const int lowest = perp_step_lowest_joined(step->joined, k);
        if (perp_step_has_free(step, k)) {
            step->parts.group[lowest] = step->parts.group[lowest] < 0 ? k : step->parts.group[lowest];
            step->parts.group[k] = step->parts.group[lowest];
        }
    }
}

/* Who comes next: of those that are farthest behind the ones with the longest part; `first`: all. False: all are done.
 */
static bool choose_part(contact_step *step, bool first, int *at, int *size)
{
    const int trees = step->model->tree_count;
    bool changed = false;
    *at = first ? 0 : PERP_STEP_TICKS;
    *size = first ? PERP_STEP_TICKS : 0;
    for (int k = 0; k < trees; k++) {
        *at = step->parts.done[k] < *at ? step->parts.done[k] : *at;
    }
    for (int k = 0; k < trees; k++) {
        *size = step->parts.done[k] == *at && step->parts.size[k] > *size ? step->parts.size[k] : *size;
    }
    for (int k = 0; k < trees; k++) {
        const bool active = first || (step->parts.done[k] == *at && step->parts.size[k] == *size);
        changed = changed || active != step->parts.active[k];
        step->parts.active[k] = active;
    }
    if (changed) {
        perp_step_find_free(step);
    }
    return *at < PERP_STEP_TICKS;
}

/* To the begin of a part at time t: what commands alone move goes there, the others stand where they have come to. */
static perp_status begin_part(contact_step *step, perp_step_context *context, int at, const double times[2],
                              perp_error *error)
{
    const perp_model *model = step->model;
    const double t = times[0];
    if (at > 0 && step->settings->prediction != PERP_PREDICTION_TAYLOR) {
        perp_prescribed_configuration(model, step->prescribe, t, step->q_begin);
        memset(step->v, 0, (size_t)model->nv * sizeof *step->v);
        perp_prescribed_rate(model, step->prescribe, t, step->v);
        for (int i = 0; i < model->nv; i++) {
            step->v_last[i] = perp_step_has_free(step, perp_step_tree_of(step, i)) ? step->v_last[i] : step->v[i];
        }
    }
    for (int b = 0; b < model->body_count; b++) { /* what is ahead comes no farther */
        const int tree = model->links[b].tree;
        step->reach.way[b] = tree >= 0 && step->moved[b] && step->parts.done[tree] > at ? 0.0 : step->reach.way[b];
    }
    const perp_status status = perp_step_look_from(step, context, step->q_begin, error);
    perp_step_prescribe(step, step->q_begin, times[0], times[1]);
    perp_step_add_ways(step, context, step->v, times[1] - times[0], 1.0);
    return status;
}

/* The trees that are step->parts.accepted are at the end of their part. */
static perp_status accept(contact_step *step, perp_step_context *context, double share, perp_error *error)
{
    const perp_model *model = step->model;
    for (int i = 0; i < model->nv; i++) {
        if (step->parts.accepted[perp_step_tree_of(step, i)]) {
            step->v_sum[i] += step->h * step->v[i];
            step->v_last[i] = step->v[i];
        }
    }
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && step->parts.accepted[link->tree]) {
            memcpy(step->q_begin + link->q_start, context->next_q + link->q_start,
                   (size_t)link->q_count * sizeof *step->q_begin);
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        step->inertia.h_last[k] = step->parts.accepted[k] ? step->h : step->inertia.h_last[k];
    }
    perp_step_add_load(step, share);
    if (step->law->accept) {
        step->law->accept(step);
    }
    if (!step->split) {
        return PERP_STATUS_OK;
    }
    perp_step_keep_accepted_records(step);
    return perp_contact_sum_add(&step->sum, &step->allocator, step->records, step->record_count, NULL, share, error);
}

/* Which parts are accepted; the others are halved. What commands alone move goes with the others where none is split.
 */
static void accept_or_halve(contact_step *step, int size)
{
    const bool together = step->settings->prediction == PERP_PREDICTION_TAYLOR;
    bool all = size == PERP_STEP_TICKS || together;
    for (int k = 0; k < step->model->tree_count; k++) {
        if (!perp_step_has_free(step, k) || !step->parts.active[k]) {
            step->parts.accepted[k] = false;
            all = all && !perp_step_has_free(step, k);
            continue;
        }
        step->parts.accepted[k] = step->parts.accepted[step->parts.group[k]];
        all = all && step->parts.accepted[k];
        if (!step->parts.accepted[k]) {
            step->parts.size[k] = size / 2;
            step->info->fallbacks[PERP_FALLBACK_SUBSTEP] += step->parts.group[k] == k ? 1 : 0;
        }
    }
    for (int k = 0; k < step->model->tree_count && all; k++) {
        step->parts.accepted[k] = true;
    }
    step->split = step->split || !all || size < PERP_STEP_TICKS;
}

/* After a part of `size` ticks: the next one is as long as fits from there on. */
static void advance_ticks(contact_step *step, int size)
{
    for (int k = 0; k < step->model->tree_count; k++) {
        if (step->parts.accepted[k] && perp_step_has_free(step, k)) {
            step->parts.done[k] += size;
            while (step->parts.done[k] % (2 * step->parts.size[k]) == 0 &&
                   2 * step->parts.size[k] <= PERP_STEP_TICKS - step->parts.done[k]) {
                step->parts.size[k] *= 2;
            }
        }
    }
}

/* The parts of a step: [at, at + size) ticks of it, halved where gaps end elsewhere than the linearisation had them,
 * and doubled again where they fit, by groups of trees: each has its own. */
static perp_status advance_in_parts(contact_step *step, perp_step_context *context, const double ends[2],
                                    perp_residuals *total, perp_error *error)
{
    const double tick = (ends[1] - ends[0]) / PERP_STEP_TICKS;
    const bool may_split = isfinite(step->settings->substep_tolerance), started = step->started;
    perp_status status = PERP_STATUS_OK;
    int at, size;
    for (bool first = true; status == PERP_STATUS_OK && choose_part(step, first, &at, &size); first = false) {
        const double times[2] = {at == 0 ? ends[0] : ends[0] + at * tick,
                                 at + size == PERP_STEP_TICKS ? ends[1] : ends[0] + (at + size) * tick};
        step->started = started || at > 0;
        if (!first) {
            status = begin_part(step, context, at, times, error);
        }
        if (status == PERP_STATUS_OK) {
            status = advance(step, context, times, total, error);
        }
        if (status != PERP_STATUS_OK || step->parts.met) {
            return status;
        }
        if (first) {
            group_trees(step);
        }
        memcpy(step->parts.accepted, step->parts.active,
               (size_t)step->model->tree_count * sizeof *step->parts.accepted);
        if (may_split && size > 1) {
            keep_gaps(step);
            status = perp_step_look_from(step, context, context->next_q, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
            check_gaps(step);
            if (step->parts.met) {
                return status;
            }
        }
        accept_or_halve(step, size);
        status = accept(step, context, step->split ? (times[1] - times[0]) / (ends[1] - ends[0]) : 1.0, error);
        advance_ticks(step, size);
    }
    return status;
}

static void begin_step(contact_step *step, const perp_state *state, bool again)
{
    const perp_model *model = step->model;
    const int trees = model->tree_count;
    memcpy(step->q_begin, state->q, (size_t)model->nq * sizeof *state->q);
    memcpy(step->v_last, state->v, (size_t)model->nv * sizeof *step->v_last);
    memset(step->v_sum, 0, (size_t)model->nv * sizeof *step->v_sum);
    memset(step->load, 0, (size_t)model->nv * sizeof *step->load);
    memset(step->y_loop, 0, (size_t)step->loop_row_count * sizeof *step->y_loop);
    for (int k = 0; k < trees; k++) {
        step->parts.done[k] = perp_step_has_free(step, k) ? 0 : PERP_STEP_TICKS;
        step->parts.size[k] = PERP_STEP_TICKS;
        step->inertia.h_before[k] = again ? step->inertia.h_before[k] : step->inertia.h_last[k];
        step->inertia.h_last[k] = step->inertia.h_before[k];
        step->parts.met_with[k] = again ? step->parts.met_with[k] : k;
    }
    step->sum.count = step->sum.element_count = 0;
    step->split = step->parts.met = false;
}

/* The state at the step's end. With inertia a velocity goes on, without it is what the step did. Where the step was
 * split, what commands alone move did so in none of its parts. */
static void end_step(contact_step *step, const perp_step_context *context, double t_end, perp_state *state)
{
    const perp_model *model = step->model;
    const double h = t_end - state->t;
    const bool exact = step->settings->prediction != PERP_PREDICTION_TAYLOR;
    if (step->split && exact) {
        perp_step_prescribe(step, state->q, state->t, t_end);
        perp_prescribed_configuration(model, step->prescribe, state->t + h, step->q_begin);
    }
    for (int i = 0; i < model->nv; i++) {
        if (step->split && exact && !perp_step_has_free(step, perp_step_tree_of(step, i))) {
            step->v_last[i] = step->v[i];
            step->v_sum[i] = h * step->v[i];
        }
        state->v[i] = step->dynamic ? step->v_last[i] : step->v_sum[i] / h;
    }
    memcpy(state->q, step->split ? step->q_begin : context->next_q, (size_t)model->nq * sizeof *state->q);
    state->t = t_end;
    if (step->parts.masked) { /* all take part again */
        choose_part(step, true, &(int){0}, &(int){0});
        perp_step_find_turning(step);
    }
    step->started = true;
}

perp_status perp_contact_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                              perp_error *error)
{
    contact_step *step = context->workspace;
    perp_residuals total = {0};
    perp_status status = PERP_STATUS_OK;
    step->info = info;
    step->parts.met = false;
    perp_loops_note(step, context);
    step->reach.seen = perp_contact_set_margin(context->contacts);
    for (bool again = false; status == PERP_STATUS_OK && (!again || step->parts.met); again = true) {
        if (again) {
            status = perp_step_look_from(step, context, state->q, error);
        }
        begin_step(step, state, again);
        begin_ways_of_step(step, context, state->t, t_end);
        if (status == PERP_STATUS_OK) {
            status = advance_in_parts(step, context, (const double[2]){state->t, t_end}, &total, error);
        }
    }
    status = status == PERP_STATUS_OK ? perp_loops_check_end(step, context, t_end, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    end_step(step, context, t_end, state);
    info->residuals = total;
    perp_step_tell_loops(step);
    info->contact_count = step->split ? step->sum.count : step->record_count;
    info->contacts = step->split ? step->sum.records : step->records;
    return PERP_STATUS_OK;
}
