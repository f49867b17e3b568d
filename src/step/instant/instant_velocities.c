/* Rung `instant-qs`: velocities at one instant, without inertia: Model-IQC and Model-ILC of Trinkle, Berard and Pang
 * (2005), equations (1)-(18). Drives have their rates at t, forces their values; contacts whose gap is at most 1e-9 m
 * take part, 0 <= fn _|_ u_n >= 0, with friction as on the other rigid rungs. On impedance joints the spring acts as it
 * is stretched, K (command - q) - D v.
 *
 * On polygons, and where no contact has more than one friction direction, the problem is an LCP, and all its solutions
 * are listed: one for every velocity, or convex set of them, with the least forces. That there is none is a result too.
 * On the quadratic cone in space one solution is found, with all velocities that its forces allow. */
#include "step/common/commanded_loops.h"
#include "step/instant/instant_list.h"

#include <string.h>

/* The answer in `step`, which has been handed over, as a solution. */
static perp_status add_solution(perp_instant_list *list, perp_error *error)
{
    contact_step *step = list->step;
    step->info->residuals.balance = perp_step_balance(step);
    for (int k = 0; k < step->free_count; k++) {
        step->v[step->dof_of_free[k]] = step->x[k];
    }
    return perp_instant_add(list, step->v, error);
}

static void read_point(perp_instant_list *list)
{
    rigid_step *s = list->step->own;
    const perp_contact_qp *p = &s->qp;
    const instant_cells_point *from = list->point;
    const double force = list->step->force_unit;
    for (int k = 0; k < p->n; k++) {
        s->point.x[k] = from->x[k] / s->speed;
        s->point.y_lower[k] = from->lower[k] / force;
        s->point.y_upper[k] = from->upper[k] / force;
    }
    for (int i = 0; i < p->row_start[p->contact_count]; i++) {
        s->point.y[i] = from->force[i] / force;
    }
    for (int i = 0; i < p->equality_count; i++) {
        s->point.y_equality[i] = from->y[i] / force;
    }
}

static void read_answer(perp_instant_list *list)
{
    read_point(list);
    perp_rigid_hand_over(list->step);
}

static perp_status add_least(perp_instant_list *list, perp_error *error)
{
    read_point(list);
    const perp_status status = perp_rigid_least_forces(list->step, error);
    perp_rigid_hand_over(list->step);
    return status == PERP_STATUS_OK ? add_solution(list, error) : status;
}

/* The answer in the rigid step, which is finished, as a solution with all velocities that its forces allow. */
static perp_status add_with_motions(perp_instant_list *list, perp_error *error)
{
    const int at = list->result->solution_count;
    const perp_status status = add_solution(list, error);
    return status == PERP_STATUS_OK && !list->step->settings->any_solution
               ? perp_instant_describe_motions(list, &list->result->solutions[at], error)
               : status;
}

/* One solution, where not all are looked for. */
static perp_status find_one(perp_instant_list *list, perp_error *error)
{
    contact_step *step = list->step;
    const rigid_step *s = step->own;
    bool solved = false;
    const char *method;
    double residual;
    perp_status status;
    if (s->wide.count == 0) {
        perp_friction_info info;
        status = perp_rigid_solve_friction(step, &solved, &info, error);
        method = info.method;
        residual = info.residual;
    } else {
        perp_lcp_info info;
        status = perp_rigid_solve_lcp(step, &solved, &info, error);
        method = info.method;
        residual = info.residual;
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!solved) {
        bool proven = false;
        status = perp_rigid_prove_none(step, &proven, error);
        status = status == PERP_STATUS_OK ? perp_rigid_explain(step, method, residual, error) : status;
        if (status == PERP_STATUS_INFEASIBLE) {
            return PERP_STATUS_OK; /* proven: there is none */
        }
        return status == PERP_STATUS_OK ? add_with_motions(list, error)
                                        : status; /* OK: the search of modes has found one */
    }
    status = perp_rigid_finish(step, error);
    return status == PERP_STATUS_OK ? add_with_motions(list, error) : status;
}

/* Slip is not known: what has friction is of the rolling set. */
static instant_kind kind_of(const contact_step *step, int i)
{
    const rigid_step *s = step->own;
    const int rows = s->qp.row_start[i + 1] - s->qp.row_start[i];
    return step->mu[i] == 0.0 || rows == 1 ? INSTANT_SMOOTH : rows == 2 ? INSTANT_ROLL_LINE : INSTANT_ROLL_POLYGON;
}

static perp_status find_all(perp_instant_list *list, perp_error *error)
{
    const contact_step *step = list->step;
    const rigid_step *s = step->own;
    perp_arena arena;
    perp_arena_init(&arena, &step->allocator);
    instant_kind *kind = PERP_ARENA_NEW(&arena, instant_kind, (size_t)s->qp.contact_count);
    for (int i = 0; kind && i < s->qp.contact_count; i++) {
        kind[i] = kind_of(step, i);
    }
    const instant_cells_system cells = {.p = &step->system,
                                        .wide = &s->wide,
                                        .mu = step->mu,
                                        .kind = kind,
                                        .rate = s->speed,
                                        .force = step->force_unit};
    list->cells = &cells;
    const perp_status status =
        kind ? perp_instant_all(list, error) : perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    list->cells = NULL;
    perp_arena_clear(&arena);
    return status;
}

/* No contact slides on a round cone: what has no friction does not count. */
static bool is_piecewise_linear(const contact_step *step)
{
    const rigid_step *s = step->own;
    for (int i = 0; i < s->qp.contact_count && s->wide.count == 0; i++) {
        if (kind_of(step, i) == INSTANT_ROLL_POLYGON) {
            return false;
        }
    }
    return true;
}

perp_status perp_instant_velocities(perp_step_context *context, const perp_state *state, perp_run_result *result,
                                    perp_error *error)
{
    contact_step *step = context->workspace;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    step->info = &info;
    perp_status status = perp_step_build(step, context, state->q, state->t, state->t, error);
    status = status == PERP_STATUS_OK ? perp_loops_check_rates(step, step->v_gap, NULL, NULL, error) : status;
    status = status == PERP_STATUS_OK ? perp_instant_check(step, NULL, result, error) : status;
    if (status == PERP_STATUS_OK) {
        perp_springs_limit_at_instant(step, state->q, NULL);
        status = perp_rigid_begin(step, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_instant_list list = {.step = step,
                              .result = result,
                              .force_unit = step->force_unit,
                              .rate_unit = step->length_unit / step->h,
                              .read = read_answer,
                              .add = add_least,
                              .one = find_one};
    if (step->free_count == 0) {
        return add_solution(&list, error);
    }
    if (is_piecewise_linear(step)) {
        return find_all(&list, error);
    }
    status = find_one(&list, error);
    result->partial = result->solution_count > 0;
    return status;
}
