/* Rung `instant`: accelerations and contact forces at one state, with inertia: slides 33, 37 and 38 of Trinkle's "A
 * family of rigid body models", equations (7)-(9) of Dupont and Yamajako (1997). instant.h says what is solved.
 *
 * All solutions of the LCP are listed: one for every acceleration at a corner of the solution set, with the least
 * forces. That there is none is a result. Where the LCP is too large to enumerate one solution is found. */
#include "step/instant.h"
#include "step/step_rungs.h"

#include <string.h>

static const double SAME =
    1e-8; /* of the problem's units, or of themselves: accelerations and forces that differ by less are one */

static perp_status none_to_solve(perp_quasistatic *qs, perp_error *error)
{
    (void)qs, (void)error;
    return PERP_STATUS_OK; /* there are no steps */
}

static const perp_qs_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .instant = true,
    .open = perp_rigid_open,
    .close = perp_rigid_close,
    .solve = none_to_solve,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_qs_open(context, &perp_rung_instant, &law, allocator, error);
}

/* ---- one solution ------------------------------------------------------------------------------------------------ */

/* The answer in qs as a solution with the range [fn, fn], if it meets the law. */
static perp_status add_solution(perp_instant *in, perp_run_result *result, perp_error *error)
{
    perp_quasistatic *qs = in->qs;
    const perp_model *model = qs->model;
    const perp_residuals *r = &qs->info->residuals;
    perp_instant_evaluate(in);
    const double values[3] = {r->balance, r->complementarity, r->cone};
    static const char *const names[3] = {"balance", "complementarity", "cone"};
    for (int i = 0; i < 3; i++) {
        if (!(values[i] <= qs->settings->tolerance)) {
            return perp_qs_tolerance(qs, names[i], values[i], error);
        }
    }
    perp_residuals_keep_largest(&result->residuals, r);
    memcpy(qs->v, in->v, (size_t)model->nv * sizeof *qs->v); /* slip is that of the state */
    perp_qs_record(qs);
    perp_instant_solution *solution = perp_run_result_add_solution(result, model->nv, qs->record_count);
    if (!solution) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a solution");
    }
    memcpy(solution->rate, in->given, (size_t)model->nv * sizeof *in->given);
    for (int k = 0; k < qs->free_count; k++) {
        solution->rate[qs->dof_of_free[k]] = qs->x[k];
    }
    for (int i = 0; i < qs->record_count; i++) {
        solution->contacts[i] = qs->records[i];
        solution->fn_low[i] = solution->fn_high[i] = qs->records[i].fn;
    }
    return PERP_STATUS_OK;
}

/* The answer of a z, with the least forces where these meet the law. */
static perp_status read_least(perp_instant *in, const double *z, perp_error *error)
{
    const perp_residuals *r = &in->qs->info->residuals;
    perp_instant_read(in, z);
    const perp_status status = perp_instant_least_forces(in, error);
    perp_instant_evaluate(in);
    if (!(fmax(r->balance, fmax(r->complementarity, r->cone)) <= in->qs->settings->tolerance)) {
        perp_instant_read(in, z);
    }
    return status;
}

/* One of the solutions, by pivoting. */
static perp_status find_one(perp_instant *in, perp_run_result *result, perp_error *error)
{
    perp_quasistatic *qs = in->qs;
    perp_lcp_workspace *workspace = NULL;
    perp_lcp_solution solution = {.z = in->z, .w = in->w, .ray = in->ray};
    perp_lcp_settings settings = perp_lcp_settings_default();
    perp_lcp_info info;
    settings.tolerance = fmax(1e-12, 1e-2 * qs->settings->tolerance);
    perp_status status = perp_lcp_workspace_create(in->problem.n, &qs->allocator, &workspace, error);
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
        return perp_qs_not_converged(qs, info.method, info.residual, error);
    }
    status = read_least(in, in->z, error);
    status = status == PERP_STATUS_OK ? add_solution(in, result, error) : status;
    return status == PERP_STATUS_OK ? perp_instant_ranges(in, &result->solutions[0], error) : status;
}

/* ---- all solutions ----------------------------------------------------------------------------------------------- */

/* The solution that has the acceleration of the answer in qs; -1: none yet. */
static int find_acceleration(const perp_instant *in, const perp_run_result *result)
{
    const perp_quasistatic *qs = in->qs;
    for (int i = 0; i < result->solution_count; i++) {
        double difference = 0.0;
        for (int k = 0; k < qs->free_count; k++) {
            const double other = result->solutions[i].rate[qs->dof_of_free[k]], unit = in->acceleration * in->unit[k];
            difference = fmax(difference, fabs(other - qs->x[k]) / (unit + fabs(other)));
        }
        if (difference <= SAME) {
            return i;
        }
    }
    return -1;
}

static perp_status add_corner(perp_instant *in, const double *z, perp_run_result *result, int *index, perp_error *error)
{
    const perp_quasistatic *qs = in->qs;
    perp_instant_read(in, z);
    *index = find_acceleration(in, result);
    if (*index < 0) {
        perp_status status = read_least(in, z, error);
        status = status == PERP_STATUS_OK ? add_solution(in, result, error) : status;
        if (status != PERP_STATUS_OK) {
            return status;
        }
        *index = result->solution_count - 1;
        perp_instant_read(in, z);
    }
    perp_instant_solution *solution = &result->solutions[*index];
    for (int i = 0; i < qs->system.contact_count; i++) {
        const double fn = qs->force[qs->row_start[i]];
        double *low = &solution->fn_low[qs->set_index[i]], *high = &solution->fn_high[qs->set_index[i]];
        *low = fmin(*low, fmax(0.0, fn));
        *high = fmax(*high, fn);
    }
    return PERP_STATUS_OK;
}

/* Along a ray that changes no acceleration, forces grow without end. */
static void add_ray(perp_instant *in, const double *ray, perp_instant_solution *solution)
{
    const perp_quasistatic *qs = in->qs;
    for (int k = 0; k < qs->free_count; k++) {
        if (fabs(ray[k]) > SAME) {
            return;
        }
    }
    perp_instant_read(in, ray);
    for (int i = 0; i < qs->system.contact_count; i++) {
        if (qs->force[qs->row_start[i]] > SAME * in->force_unit) {
            solution->fn_high[qs->set_index[i]] = INFINITY;
        }
    }
}

static perp_status find_all(perp_instant *in, perp_run_result *result, perp_error *error)
{
    perp_lcp_solution_set *set = NULL;
    perp_mcp bounded;
    perp_mlcp_as_mcp(&in->problem, in->z, in->w, &bounded); /* these serve as bounds: nothing is solved into them */
    perp_status status = perp_mcp_enumerate(&bounded, NULL, &in->qs->allocator, &set, error);
    if (status == PERP_STATUS_CAPACITY) {
        return find_one(in, result, error);
    }
    for (int i = 0; status == PERP_STATUS_OK && i < set->face_count; i++) {
        const perp_lcp_face *face = &set->faces[i];
        for (int k = 0; k < face->vertex_count && status == PERP_STATUS_OK; k++) {
            int index = 0;
            status = add_corner(in, face->vertices + (ptrdiff_t)k * set->n, result, &index, error);
            for (int j = 0; j < face->ray_count && status == PERP_STATUS_OK; j++) {
                add_ray(in, face->rays + (ptrdiff_t)j * set->n, &result->solutions[index]);
            }
        }
    }
    const bool unsure = status == PERP_STATUS_OK && !set->complete && result->solution_count == 0;
    perp_lcp_solution_set_free(set);
    return unsure ? perp_qs_not_converged(in->qs, "enumerate", 1.0, error) : status;
}

static perp_status answer(perp_step_context *context, const perp_state *state, perp_run_result *result,
                          perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    qs->info = &info;
    perp_instant in = {.qs = qs, .rigid = qs->own};
    perp_status status = perp_instant_move(&in, context, state, error);
    status = status == PERP_STATUS_OK ? perp_qs_build(qs, context, state->q, state->t, state->t, error) : status;
    status = status == PERP_STATUS_OK ? perp_instant_build(&in, context, error) : status;
    if (status == PERP_STATUS_OK) {
        status = qs->free_count == 0 ? add_solution(&in, result, error) : find_all(&in, result, error);
    }
    if (status == PERP_STATUS_OK && result->solution_count == 0) {
        perp_instant_why_none(&in, result->why_none, sizeof result->why_none);
    }
    perp_qs_block_free(&qs->allocator, &in.motion);
    perp_qs_block_free(&qs->allocator, &in.sized);
    perp_qs_block_free(&qs->allocator, &in.matrix);
    return status;
}

const perp_rung perp_rung_instant = {
    .name = "instant",
    .summary = "accelerations and contact forces at the initial state; all solutions for small sizes",
    .inertia = "full",
    .contact = "rigid",
    .friction = "planar exact, else n rays",
    .source = "Trinkle slides 33, 37, 38",
    .takes = PERP_TAKES_RAYS,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_qs_close,
    .answer = answer,
    .answers = "acceleration",
};
