/* One step of a rung with contact forces, whatever its law. */
#define _POSIX_C_SOURCE 200809L
#include "contact/contact_reach.h"
#include "step/commanded_loops.h"
#include "step/dynamic.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

static void keep_larger(double *kept, double value)
{
    *kept = fmax(*kept, value);
}

/* How well the law is met, evaluated on the answer; a step that does not meet it is none. */
static perp_status check_law(perp_quasistatic *one, perp_residuals *total, perp_error *error)
{
    perp_residuals *r = &one->info->residuals;
    r->balance = perp_qs_judge_balance(one);
    const struct {
        const char *name;
        double value;
    } parts[] = {{"balance", r->balance}, {"complementarity", r->complementarity}, {"cone", r->cone}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!(parts[i].value <= one->settings->tolerance)) {
            return perp_qs_tolerance(one, parts[i].name, parts[i].value, error);
        }
    }
    keep_larger(&total->balance, r->balance);
    keep_larger(&total->complementarity, r->complementarity);
    keep_larger(&total->cone, r->cone);
    return PERP_STATUS_OK;
}

/* A motion of so many sizes of the island in one step is no answer, whatever it solves. */
static const double FAR = 1e6;

/* The largest motion in the step, in sizes of the island (or in radians). */
static double largest_motion(const perp_quasistatic *one)
{
    double largest = 0.0;
    for (int k = 0; k < one->free_count; k++) {
        largest = fmax(largest, fabs(one->h * one->x[k]));
    }
    return largest / fmax(one->length_unit, 1.0);
}

/* An island, as if it were alone. */
static perp_status solve_island(perp_quasistatic *one, perp_residuals *total, perp_error *error)
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
        return perp_qs_not_converged(one, "ran out of the scene and", fmin(motion, DBL_MAX), error);
    }
    return check_law(one, total, error);
}

/* All islands; the first that has no answer is told. */
static perp_status solve_islands(perp_quasistatic *qs, perp_residuals *total, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    if (qs->island_count == 1) {
        status = solve_island(qs, total, error);
        qs->islands[0].force = qs->force_unit;
        return status;
    }
    for (int k = 0; k < qs->island_count && status == PERP_STATUS_OK; k++) {
        perp_quasistatic one = perp_qs_island(qs, k);
        status = solve_island(&one, total, error);
        qs->islands[k].force = one.force_unit;
        if (status == PERP_STATUS_OK) {
            perp_qs_put_island(qs, &one);
        }
    }
    return status;
}

static perp_status solve(perp_quasistatic *qs, perp_residuals *total, perp_error *error)
{
    const double started = now_us();
    perp_status status = perp_qs_check_commands(qs, error);
    if (status == PERP_STATUS_OK) {
        status = solve_islands(qs, total, error);
    }
    qs->info->solve_us += now_us() - started;
    for (int k = 0; k < qs->free_count && status == PERP_STATUS_OK; k++) {
        const int i = qs->dof_of_free[k];
        qs->v[i] = qs->x[k] + (qs->law->inertia == PERP_QS_FULL ? qs->v_drifted[i] : 0.0);
    }
    return status;
}

/* Where the step leads: prescribed coordinates to their commands exactly. */
static void integrate(perp_quasistatic *qs, perp_step_context *context)
{
    const perp_model *model = qs->model;
    perp_configuration_integrate(model, qs->q_begin, qs->v, qs->h, context->next_q);
    perp_prescribed_configuration(model, qs->law->prescribe, qs->t + qs->h, context->next_q);
    if (qs->settings->prediction == PERP_PREDICTION_TAYLOR) {
        perp_driven_taylor(model, qs->t, qs->h, context->next_q);
    }
}

/* ---- splitting --------------------------------------------------------------------------------------------------- */

/* The gaps at the step's end as the step had them, and which contacts they are of. */
static void keep_gaps(perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    ptrdiff_t entry = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[i]];
        double speed = p->offset[p->row_start[i]] - qs->shift[i] + c->phi / qs->h;
        for (int k = 0; k < columns; k++) {
            speed += p->jacobian[entry + k] * qs->x[p->dofs[start + k]];
        }
        entry += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * columns;
        qs->gaps[i] = qs->h * speed;
        qs->begun[i] = *c;
    }
}

static bool same_contact(const perp_contact *x, const perp_contact *y, bool features)
{
    return x->a == y->a && x->b == y->b && x->shape_a == y->shape_a && x->shape_b == y->shape_b &&
           (!features || (x->feature_a == y->feature_a && x->feature_b == y->feature_b));
}

/* The gap of a contact in a set: of its features, or where they have gone, the least of its shapes. */
static double true_gap(const perp_contact_set *set, const perp_contact *contact)
{
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        if (same_contact(&set->contacts[i], contact, true)) {
            return set->contacts[i].phi;
        }
        if (same_contact(&set->contacts[i], contact, false)) {
            least = fmin(least, set->contacts[i].phi);
        }
    }
    return least;
}

static int tree_of(const perp_quasistatic *qs, int dof)
{
    return qs->model->links[qs->model->dof_body[dof]].tree;
}

/* The gap of contact i of the set at the step's end is off by `error`: whose parts are to be split. Trees of different
 * groups that penetrate each other are to be split together. */
static void blame(perp_quasistatic *qs, int i, double error)
{
    const perp_contact_set *set = qs->contacts;
    int first = -1;
    if (!(error > qs->settings->substep_tolerance)) {
        return;
    }
    for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
        const int tree = tree_of(qs, set->dofs[k]);
        if (qs->given[set->dofs[k]]) {
            continue;
        }
        qs->taken[qs->group[tree]] = false;
        if (first >= 0 && qs->group[first] != qs->group[tree]) {
            perp_qs_join_trees(qs->met_with, first, tree);
            qs->met = true;
        }
        first = tree;
    }
}

/* How far the linearised gaps are off, with the contact set at the step's end: of contacts that carry force, and of
 * those that penetrate (a new one was not seen coming: its gap was not to fall below 0). Others may be off, they say
 * nothing. Groups that are off by more than the tolerance are not qs->taken. */
static void check_gaps(perp_quasistatic *qs)
{
    const perp_contact_set *set = qs->contacts;
    for (int i = 0; i < qs->system.contact_count; i++) {
        const double gap = true_gap(set, &qs->begun[i]);
        const int tree = qs->tree_of_free[qs->dofs[qs->dof_start[i]]];
        const bool carries = qs->force[qs->row_start[i]] > 1e-9 * qs->islands[qs->island_of_tree[tree]].force;
        if (isfinite(gap) && (carries || gap < 0.0) && fabs(gap - qs->gaps[i]) > qs->settings->substep_tolerance) {
            qs->taken[qs->group[tree]] = false;
        }
    }
    for (int i = 0; i < set->count; i++) {
        bool known = false, moved = false;
        for (int k = 0; k < qs->system.contact_count && !known; k++) {
            known = same_contact(&set->contacts[i], &qs->begun[k], true);
        }
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            moved = moved || qs->free_of_dof[set->dofs[k]] >= 0;
        }
        if (!known && moved) {
            blame(qs, i, -set->contacts[i].phi);
        }
    }
}

/* ---- how far to look --------------------------------------------------------------------------------------------- */

/* A step sees every contact that its motion could meet. Shapes move against each other by at most h times the sum of
 * their speeds, and the convex laws keep a gap of mu h |v_t| besides: a contact farther away than (1 + mu) times that
 * takes no part in the step, listed or not. So whether it does is a matter of its two bodies alone. The scene's margin,
 * which says what is listed for people, is only where looking begins, so the motion does not depend on it. Kinematics
 * and contacts are those of the step's begin. Returns whether some body may come farther than was thought. */
static bool add_ways(perp_quasistatic *qs, perp_step_context *context, const double *v, double h, double factor)
{
    bool farther = false;
    perp_kinematics_velocity(qs->model, v, context->kinematics);
    perp_contact_speeds(context->contacts, context->kinematics, qs->speed, qs->turning);
    for (int b = 0; b < qs->model->body_count; b++) {
        if (h * qs->speed[b] > qs->way[b]) {
            qs->way[b] = factor * h * qs->speed[b];
            farther = true;
        }
        if (h * qs->turning[b] > qs->swing[b]) {
            qs->swing[b] = factor * h * qs->turning[b];
            farther = true;
        }
    }
    return farther;
}

void perp_qs_begin_ways(perp_quasistatic *qs, perp_step_context *context, const double *v, double h)
{
    const perp_model *model = qs->model;
    const double fall = qs->law->inertia == PERP_QS_FULL ? 2.0 * h * h * perp_vec3_norm(model->scene->gravity) : 0.0;
    memset(qs->way, 0, (size_t)model->body_count * sizeof *qs->way);
    memset(qs->swing, 0, (size_t)model->body_count * sizeof *qs->swing);
    add_ways(qs, context, v, h, 1.0);
    for (int b = 0; b < model->body_count; b++) {
        qs->way[b] += qs->moved[b] ? fall : 0.0; /* what falls gains a half of it, and need not look again */
    }
}

/* The largest gap that any two bodies could close. */
static double widest_reach(const perp_quasistatic *qs, const perp_step_context *context)
{
    double first = 0.0, second = 0.0, swing = 0.0;
    for (int b = 0; b < qs->model->body_count; b++) {
        second = fmax(second, fmin(first, qs->way[b]));
        first = fmax(first, qs->way[b]);
        for (int c = 0; c < qs->model->body_count && qs->swing[b] > 0.0; c++) {
            swing = fmax(swing, qs->swing[b] * perp_contact_arm(context->contacts, context->kinematics, b, c));
        }
    }
    return (1.0 + qs->largest_mu) * (first + second + 2.0 * swing);
}

perp_status perp_qs_look_from(perp_quasistatic *qs, perp_step_context *context, const double *q, perp_error *error)
{
    perp_kinematics_update(qs->model, q, context->kinematics);
    qs->seen = perp_contact_set_margin(context->contacts);
    return perp_contact_set_build(context->contacts, context->kinematics, error);
}

perp_status perp_qs_look_far_enough(perp_quasistatic *qs, perp_step_context *context, const double *q,
                                    perp_error *error)
{
    static const double MORE = 1.25, LESS = 0.5; /* so that the margin does not change in every step */
    const double listed = qs->model->scene->margin, wanted = fmax(listed, widest_reach(qs, context));
    const double margin = perp_contact_set_margin(context->contacts);
    if (wanted > margin || wanted < LESS * margin) {
        perp_contact_set_look(context->contacts, wanted > listed ? MORE * wanted : listed);
    }
    return wanted > qs->seen ? perp_qs_look_from(qs, context, q, error) : PERP_STATUS_OK;
}

/* The motion that a step is thought to do before it is solved: what is driven as it is, the others as in the step
 * before. At a run's begin there is none before it, and joints with springs are thought to come to their commands, so
 * that what they push is seen at once. */
static void begin_ways_of_step(perp_quasistatic *qs, perp_step_context *context, double t, double t_end)
{
    const perp_model *model = qs->model;
    const bool springs = !qs->started && qs->law->inertia != PERP_QS_FULL;
    perp_qs_prescribe(qs, qs->q_begin, t, t_end);
    if (springs) {
        perp_command(model, t_end, qs->command);
    }
    for (int i = 0; i < model->nv; i++) {
        if (!qs->given[i]) {
            qs->v[i] = qs->v_last[i];
        }
        if (springs && model->role[i] == PERP_DOF_IMPEDANCE) {
            qs->v[i] = (qs->command[i] - qs->q_begin[model->dof_q[i]]) / (t_end - t);
        }
    }
    perp_qs_begin_ways(qs, context, qs->v, t_end - t);
}

/* The step problem with all contacts that are known to be in reach. */
static perp_status build(perp_quasistatic *qs, perp_step_context *context, const double times[2], perp_error *error)
{
    const perp_status status = perp_qs_look_far_enough(qs, context, qs->q_begin, error);
    return status == PERP_STATUS_OK ? perp_qs_build(qs, context, qs->q_begin, times[0], times[1], error) : status;
}

/* Is a contact in reach that the problem was built without? */
static bool misses_contact(const perp_quasistatic *qs)
{
    int count = 0;
    for (int i = 0; i < qs->contacts->count; i++) {
        count += perp_qs_is_in_reach(qs, &qs->contacts->contacts[i]) ? 1 : 0;
    }
    return count > qs->in_reach;
}

/* Solves, and again with a longer look where the motion comes out larger than the look was long. A body that nothing
 * holds is not looked farther for: whatever may lie below does not support it. */
static perp_status solve_seeing_all(perp_quasistatic *qs, perp_step_context *context, const double times[2],
                                    perp_residuals *total, perp_error *error)
{
    enum { LOOKS = 6 };
    static const double MORE = 1.5;
    for (int look = 0; look < LOOKS && !qs->met; look++) {
        perp_status status = solve(qs, total, error);
        if (status != PERP_STATUS_OK || !add_ways(qs, context, qs->v, qs->h, MORE)) {
            return status;
        }
        const int listed = qs->contacts->count; /* so many, seen from the same place, are the same */
        status = perp_qs_look_far_enough(qs, context, qs->q_begin, error);
        if (status != PERP_STATUS_OK || (qs->contacts->count == listed && !misses_contact(qs))) {
            return status;
        }
        status = perp_qs_build(qs, context, qs->q_begin, times[0], times[1], error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return qs->met ? PERP_STATUS_OK
                   : perp_qs_not_converged(qs, "looking for all that the motion could meet", qs->seen, error);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* A part of the step, from qs->q_begin to context->next_q. `total` gathers residuals. */
static perp_status advance(perp_quasistatic *qs, perp_step_context *context, const double times[2],
                           perp_residuals *total, perp_error *error)
{
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_dynamic_drift(qs, context);
    }
    perp_status status = build(qs, context, times, error);
    if (status == PERP_STATUS_OK && !qs->started) {
        status = perp_qs_check_start(qs, error);
    }
    if (status == PERP_STATUS_OK) {
        status = solve_seeing_all(qs, context, times, total, error);
    }
    if (status == PERP_STATUS_OK && !qs->met) {
        perp_qs_record(qs);
        integrate(qs, context);
    }
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

bool perp_qs_has_free(const perp_quasistatic *qs, int tree)
{
    const perp_tree *t = &qs->model->trees[tree];
    bool any = false;
    for (int i = t->v_start; i < t->v_start + t->v_count; i++) {
        any = any || !qs->given[i];
    }
    return any;
}

/* Trees of one island share their parts, and those that have met. With `taylor` all do: driven bodies are where the
 * part before has predicted them, and so have to be at one place for all. */
static void group_trees(perp_quasistatic *qs)
{
    const int trees = qs->model->tree_count;
    const bool together = qs->settings->prediction == PERP_PREDICTION_TAYLOR;
    for (int k = 0; k < trees; k++) {
        perp_qs_join_trees(qs->joined, k, together ? 0 : qs->met_with[k]);
    }
    for (int k = 0; k < trees; k++) {
        qs->group[k] = -1;
    }
    for (int k = 0; k < trees; k++) {
        const int lowest = perp_qs_lowest_joined(qs->joined, k);
        if (perp_qs_has_free(qs, k)) {
            qs->group[lowest] = qs->group[lowest] < 0 ? k : qs->group[lowest];
            qs->group[k] = qs->group[lowest];
        }
    }
}

/* Who comes next: of those that are farthest behind the ones with the longest part; `first`: all. False: all are done.
 */
static bool choose_part(perp_quasistatic *qs, bool first, int *at, int *size)
{
    const int trees = qs->model->tree_count;
    bool changed = false;
    *at = first ? 0 : PERP_QS_TICKS;
    *size = first ? PERP_QS_TICKS : 0;
    for (int k = 0; k < trees; k++) {
        *at = qs->done[k] < *at ? qs->done[k] : *at;
    }
    for (int k = 0; k < trees; k++) {
        *size = qs->done[k] == *at && qs->size[k] > *size ? qs->size[k] : *size;
    }
    for (int k = 0; k < trees; k++) {
        const bool active = first || (qs->done[k] == *at && qs->size[k] == *size);
        changed = changed || active != qs->active[k];
        qs->active[k] = active;
    }
    if (changed) {
        perp_qs_find_free(qs);
    }
    return *at < PERP_QS_TICKS;
}

/* To the begin of a part at time t: what commands alone move goes there, the others stand where they have come to. */
static perp_status go_to(perp_quasistatic *qs, perp_step_context *context, int at, const double times[2],
                         perp_error *error)
{
    const perp_model *model = qs->model;
    const double t = times[0];
    if (at > 0 && qs->settings->prediction != PERP_PREDICTION_TAYLOR) {
        perp_prescribed_configuration(model, qs->law->prescribe, t, qs->q_begin);
        memset(qs->v, 0, (size_t)model->nv * sizeof *qs->v);
        perp_prescribed_rate(model, qs->law->prescribe, t, qs->v);
        for (int i = 0; i < model->nv; i++) {
            qs->v_last[i] = perp_qs_has_free(qs, tree_of(qs, i)) ? qs->v_last[i] : qs->v[i];
        }
    }
    for (int b = 0; b < model->body_count; b++) { /* what is ahead comes no farther */
        const int tree = model->links[b].tree;
        qs->way[b] = tree >= 0 && qs->moved[b] && qs->done[tree] > at ? 0.0 : qs->way[b];
    }
    const perp_status status = perp_qs_look_from(qs, context, qs->q_begin, error);
    perp_qs_prescribe(qs, qs->q_begin, times[0], times[1]);
    add_ways(qs, context, qs->v, times[1] - times[0], 1.0);
    return status;
}

/* The trees that are qs->taken are at the end of their part. */
static perp_status accept(perp_quasistatic *qs, perp_step_context *context, double share, perp_error *error)
{
    const perp_model *model = qs->model;
    for (int i = 0; i < model->nv; i++) {
        if (qs->taken[tree_of(qs, i)]) {
            qs->v_sum[i] += qs->h * qs->v[i];
            qs->v_last[i] = qs->v[i];
        }
    }
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        if (link->tree >= 0 && qs->taken[link->tree]) {
            memcpy(qs->q_begin + link->q_start, context->next_q + link->q_start,
                   (size_t)link->q_count * sizeof *qs->q_begin);
        }
    }
    for (int k = 0; k < model->tree_count; k++) {
        qs->h_last[k] = qs->taken[k] ? qs->h : qs->h_last[k];
    }
    perp_qs_add_load(qs, share);
    if (qs->law->accept) {
        qs->law->accept(qs);
    }
    if (!qs->split) {
        return PERP_STATUS_OK;
    }
    perp_qs_keep_taken_records(qs);
    return perp_contact_sum_add(&qs->sum, &qs->allocator, qs->records, qs->record_count, NULL, share, error);
}

/* Which parts are accepted; the others are halved. What commands alone move goes with the others where none is split.
 */
static void sort_out(perp_quasistatic *qs, int size)
{
    const bool together = qs->settings->prediction == PERP_PREDICTION_TAYLOR;
    bool all = size == PERP_QS_TICKS || together;
    for (int k = 0; k < qs->model->tree_count; k++) {
        if (!perp_qs_has_free(qs, k) || !qs->active[k]) {
            qs->taken[k] = false;
            all = all && !perp_qs_has_free(qs, k);
            continue;
        }
        qs->taken[k] = qs->taken[qs->group[k]];
        all = all && qs->taken[k];
        if (!qs->taken[k]) {
            qs->size[k] = size / 2;
            qs->info->fallbacks[PERP_FALLBACK_SUBSTEP] += qs->group[k] == k ? 1 : 0;
        }
    }
    for (int k = 0; k < qs->model->tree_count && all; k++) {
        qs->taken[k] = true;
    }
    qs->split = qs->split || !all || size < PERP_QS_TICKS;
}

/* After a part of `size` ticks: the next one is as long as fits from there on. */
static void count_on(perp_quasistatic *qs, int size)
{
    for (int k = 0; k < qs->model->tree_count; k++) {
        if (qs->taken[k] && perp_qs_has_free(qs, k)) {
            qs->done[k] += size;
            while (qs->done[k] % (2 * qs->size[k]) == 0 && 2 * qs->size[k] <= PERP_QS_TICKS - qs->done[k]) {
                qs->size[k] *= 2;
            }
        }
    }
}

/* The parts of a step: [at, at + size) ticks of it, halved where gaps end elsewhere than the linearisation had them,
 * and doubled again where they fit, by groups of trees: each has its own. */
static perp_status advance_in_parts(perp_quasistatic *qs, perp_step_context *context, const double ends[2],
                                    perp_residuals *total, perp_error *error)
{
    const double tick = (ends[1] - ends[0]) / PERP_QS_TICKS;
    const bool may_split = isfinite(qs->settings->substep_tolerance), started = qs->started;
    perp_status status = PERP_STATUS_OK;
    int at, size;
    for (bool first = true; status == PERP_STATUS_OK && choose_part(qs, first, &at, &size); first = false) {
        const double times[2] = {at == 0 ? ends[0] : ends[0] + at * tick,
                                 at + size == PERP_QS_TICKS ? ends[1] : ends[0] + (at + size) * tick};
        qs->started = started || at > 0;
        if (!first) {
            status = go_to(qs, context, at, times, error);
        }
        if (status == PERP_STATUS_OK) {
            status = advance(qs, context, times, total, error);
        }
        if (status != PERP_STATUS_OK || qs->met) {
            return status;
        }
        if (first) {
            group_trees(qs);
        }
        memcpy(qs->taken, qs->active, (size_t)qs->model->tree_count * sizeof *qs->taken);
        if (may_split && size > 1) {
            keep_gaps(qs);
            status = perp_qs_look_from(qs, context, context->next_q, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
            check_gaps(qs);
            if (qs->met) {
                return status;
            }
        }
        sort_out(qs, size);
        status = accept(qs, context, qs->split ? (times[1] - times[0]) / (ends[1] - ends[0]) : 1.0, error);
        count_on(qs, size);
    }
    return status;
}

static void begin_step(perp_quasistatic *qs, const perp_state *state, bool again)
{
    const perp_model *model = qs->model;
    const int trees = model->tree_count;
    memcpy(qs->q_begin, state->q, (size_t)model->nq * sizeof *state->q);
    memcpy(qs->v_last, state->v, (size_t)model->nv * sizeof *qs->v_last);
    memset(qs->v_sum, 0, (size_t)model->nv * sizeof *qs->v_sum);
    memset(qs->load, 0, (size_t)model->nv * sizeof *qs->load);
    memset(qs->y_loop, 0, (size_t)qs->loop_row_count * sizeof *qs->y_loop);
    for (int k = 0; k < trees; k++) {
        qs->done[k] = perp_qs_has_free(qs, k) ? 0 : PERP_QS_TICKS;
        qs->size[k] = PERP_QS_TICKS;
        qs->h_before[k] = again ? qs->h_before[k] : qs->h_last[k];
        qs->h_last[k] = qs->h_before[k];
        qs->met_with[k] = again ? qs->met_with[k] : k;
    }
    qs->sum.count = qs->sum.element_count = 0;
    qs->split = qs->met = false;
}

/* The state at the step's end. With inertia a velocity goes on, without it is what the step did. Where the step was
 * split, what commands alone move did so in none of its parts. */
static void end_step(perp_quasistatic *qs, const perp_step_context *context, double t_end, perp_state *state)
{
    const perp_model *model = qs->model;
    const double h = t_end - state->t;
    const bool exact = qs->settings->prediction != PERP_PREDICTION_TAYLOR;
    if (qs->split && exact) {
        perp_qs_prescribe(qs, state->q, state->t, t_end);
        perp_prescribed_configuration(model, qs->law->prescribe, state->t + h, qs->q_begin);
    }
    for (int i = 0; i < model->nv; i++) {
        if (qs->split && exact && !perp_qs_has_free(qs, tree_of(qs, i))) {
            qs->v_last[i] = qs->v[i];
            qs->v_sum[i] = h * qs->v[i];
        }
        state->v[i] = qs->law->inertia == PERP_QS_FULL ? qs->v_last[i] : qs->v_sum[i] / h;
    }
    memcpy(state->q, qs->split ? qs->q_begin : context->next_q, (size_t)model->nq * sizeof *state->q);
    state->t = t_end;
    if (qs->masked) { /* all take part again */
        choose_part(qs, true, &(int){0}, &(int){0});
        perp_qs_find_turning(qs);
    }
    qs->started = true;
}

perp_status perp_qs_step(perp_step_context *context, double t_end, perp_state *state, perp_step_info *info,
                         perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    perp_residuals total = {0};
    perp_status status = PERP_STATUS_OK;
    qs->info = info;
    qs->met = false;
    perp_loops_note(qs, context);
    qs->seen = perp_contact_set_margin(context->contacts);
    for (bool again = false; status == PERP_STATUS_OK && (!again || qs->met); again = true) {
        if (again) {
            status = perp_qs_look_from(qs, context, state->q, error);
        }
        begin_step(qs, state, again);
        begin_ways_of_step(qs, context, state->t, t_end);
        if (status == PERP_STATUS_OK) {
            status = advance_in_parts(qs, context, (const double[2]){state->t, t_end}, &total, error);
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
    return PERP_STATUS_OK;
}
