/* Rung `instant`: accelerations and contact forces at one state, with inertia: slides 33, 37 and 38 of Trinkle's "A
 * family of rigid body models", equations (7)-(9) of Dupont and Yamajako (1997). instant.h says what is solved.
 *
 * All solutions are listed (instant_list.h): one for every acceleration, or convex set of them, with the least forces.
 * That there is none is a result. Where to find all is too much work, those found stand, or one is found by
 * pivoting, and the result says that there may be others. */
#include "step/common/commanded_loops.h"
#include "step/instant/instant.h"
#include "step/instant/instant_list.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

/* ---- one solution ------------------------------------------------------------------------------------------------ */

/* The answer in `step` as a solution. */
static perp_status add_solution(perp_instant_list *list, perp_error *error)
{
    perp_instant *in = list->own;
    contact_step *step = in->step;
    double *rate = in->v_near;
    perp_instant_evaluate(in);
    memcpy(step->v, in->v, (size_t)step->model->nv * sizeof *step->v); /* slip is that of the state */
    memcpy(rate, in->given, (size_t)step->model->nv * sizeof *rate);
    for (int k = 0; k < step->free_count; k++) {
        rate[step->dof_of_free[k]] = step->x[k];
    }
    return perp_instant_add(list, rate, error);
}

static void read_answer(perp_instant_list *list)
{
    const perp_instant *in = list->own;
    const contact_step *step = in->step;
    const instant_cells_point *point = list->point;
    const size_t n = (size_t)step->system.n * sizeof(double);
    if (!point) {
        perp_instant_read(list->own, in->z);
        return;
    }
    memcpy(step->x, point->x, n);
    memcpy(step->y_lower, point->lower, n);
    memcpy(step->y_upper, point->upper, n);
    memcpy(step->y_equality, point->y, (size_t)step->system.equality_count * sizeof(double));
    memcpy(step->force, point->force, (size_t)step->row_start[step->system.contact_count] * sizeof(double));
}

/* The answer that `list` points at, with the least forces where these meet the law. */
static perp_status add_least(perp_instant_list *list, perp_error *error)
{
    perp_instant *in = list->own;
    const perp_residuals *r = &in->step->info->residuals;
    read_answer(list);
    const perp_status status = perp_instant_least_forces(in, error);
    perp_instant_evaluate(in);
    if (!(fmax(r->balance, fmax(r->complementarity, r->cone)) <= in->step->settings->tolerance)) {
        read_answer(list);
    }
    return status == PERP_STATUS_OK ? add_solution(list, error) : status;
}

/* One of the solutions, by pivoting. */
static perp_status find_one(perp_instant_list *list, perp_error *error)
{
    perp_instant *in = list->own;
    contact_step *step = in->step;
    perp_lcp_workspace *workspace = NULL;
    perp_lcp_solution solution = {.z = in->z, .w = in->w, .ray = in->ray};
    perp_lcp_settings settings = perp_lcp_settings_default();
    perp_lcp_info info;
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED_OF_LCP * step->settings->tolerance);
    settings.cancel = step->settings->cancel;
    perp_status status = perp_lcp_workspace_create(in->problem.n, &step->allocator, &workspace, error);
    if (status == PERP_STATUS_OK) {
        status = perp_mlcp_solve(&in->problem, &settings, workspace, &solution, &info, error);
    }
    perp_lcp_workspace_free(workspace);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        return PERP_STATUS_OK; /* proven: there is none */
    }
    if (info.outcome != PERP_OUTCOME_SOLVED) {
        return perp_step_not_converged(step, info.method, info.residual, error);
    }
    list->point = NULL;
    status = add_least(list, error);
    return status == PERP_STATUS_OK && !list->ranges_follow
               ? perp_instant_ranges(in, &list->result->solutions[0], error)
               : status;
}

perp_status perp_instant_accelerations(perp_step_context *context, const perp_state *state, perp_run_result *result,
                                       perp_error *error)
{
    contact_step *step = context->workspace;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    step->info = &info;
    perp_instant in = {.step = step, .rigid = step->own};
    perp_status status = perp_instant_move(&in, context, state, error);
    status = status == PERP_STATUS_OK ? perp_step_build(step, context, state->q, state->t, state->t, error) : status;
    status = status == PERP_STATUS_OK ? perp_loops_check_rates(step, in.v, in.given, in.loop_turning, error) : status;
    status = status == PERP_STATUS_OK ? perp_instant_check(step, in.v, result, error) : status;
    const bool wanted = status == PERP_STATUS_OK && !(step->unless_left_out && result->left_out[0] != '\0');
    if (wanted) {
        perp_springs_limit_at_instant(step, state->q, in.v);
        status = perp_instant_build(&in, context, error);
    }
    if (wanted && status == PERP_STATUS_OK) {
        const instant_cells_system cells = {.p = &step->system,
                                            .wide = &in.rigid->wide,
                                            .mu = step->mu,
                                            .kind = in.kind,
                                            .slip = in.slip,
                                            .unit = in.unit,
                                            .rate = in.acceleration,
                                            .force = in.force_unit};
        perp_instant_list list = {.step = step,
                                  .result = result,
                                  .force_unit = in.force_unit,
                                  .rate_unit = in.acceleration,
                                  .unit = in.unit,
                                  .cells = &cells,
                                  .own = &in,
                                  .read = read_answer,
                                  .add = add_least,
                                  .one = find_one};
        status = step->free_count == 0 ? add_solution(&list, error) : perp_instant_all(&list, error);
    }
    if (wanted && status == PERP_STATUS_OK && result->solution_count == 0) {
        perp_instant_why_none(&in, result->why_none, sizeof result->why_none);
    }
    perp_block_free(&step->allocator, &in.motion);
    perp_block_free(&step->allocator, &in.sized);
    perp_block_free(&step->allocator, &in.matrix);
    return status;
}
