/* Rung `instant-qs`: velocities at one instant, without inertia: Model-IQC and Model-ILC of Trinkle, Berard and Pang
 * (2005), equations (1)-(18). Drives have their rates at t, forces their values; contacts whose gap is at most 1e-9 m
 * take part, 0 <= fn _|_ u_n >= 0, with friction as on the other rigid rungs. On impedance joints the spring acts as it
 * is stretched, K (command - q) - D v.
 *
 * On polygons, and where no contact has more than one friction direction, the problem is an LCP, and all its solutions
 * are listed: one for every velocity at a corner of the solution set, with the least forces. That there is none is a
 * result too. On the quadratic cone in space one solution is found. */
#include "step/rigid_step.h"
#include "step/step_rungs.h"

#include <string.h>

static const double SAME = 1e-8; /* of L / s and of F: velocities and forces that differ by less are one */

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
    return perp_qs_open(context, &perp_rung_instant_qs, &law, allocator, error);
}

/* ---- one solution ------------------------------------------------------------------------------------------------ */

/* s->point, which has been handed over, as a solution with the range [fn, fn]. */
static perp_status add_solution(perp_quasistatic *qs, perp_run_result *result, perp_error *error)
{
    perp_residuals *r = &qs->info->residuals;
    r->balance = perp_qs_balance(qs);
    const double values[3] = {r->balance, r->complementarity, r->cone};
    static const char *const names[3] = {"balance", "complementarity", "cone"};
    for (int i = 0; i < 3; i++) {
        if (!(values[i] <= qs->settings->tolerance)) {
            return perp_qs_tolerance(qs, names[i], values[i], error);
        }
    }
    result->residuals.balance = fmax(result->residuals.balance, r->balance);
    result->residuals.complementarity = fmax(result->residuals.complementarity, r->complementarity);
    result->residuals.cone = fmax(result->residuals.cone, r->cone);
    for (int k = 0; k < qs->free_count; k++) {
        qs->v[qs->dof_of_free[k]] = qs->x[k];
    }
    perp_qs_record(qs);
    perp_instant_solution *solution = perp_run_result_add_solution(result, qs->model->nv, qs->record_count);
    if (!solution) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a solution");
    }
    memcpy(solution->rate, qs->v, (size_t)qs->model->nv * sizeof *qs->v);
    for (int i = 0; i < qs->record_count; i++) {
        solution->contacts[i] = qs->records[i];
        solution->fn_low[i] = solution->fn_high[i] = qs->records[i].fn;
    }
    return PERP_STATUS_OK;
}

/* Where there is one method and not an enumeration. */
static perp_status find_one(perp_quasistatic *qs, perp_run_result *result, perp_error *error)
{
    const rigid_step *s = qs->own;
    bool solved = false;
    const char *method;
    double residual;
    perp_status status;
    if (s->cone == PERP_CONE_QUADRATIC) {
        perp_friction_info info;
        status = perp_rigid_solve_friction(qs, &solved, &info, error);
        method = info.method;
        residual = info.residual;
    } else {
        perp_lcp_info info;
        status = perp_rigid_solve_lcp(qs, &solved, &info, error);
        method = info.method;
        residual = info.residual;
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!solved) {
        status = perp_rigid_explain(qs, method, residual, error);
        return status == PERP_STATUS_INFEASIBLE ? PERP_STATUS_OK : status; /* proven: there is none */
    }
    status = perp_rigid_finish(qs, error);
    return status == PERP_STATUS_OK ? add_solution(qs, result, error) : status;
}

/* ---- all solutions ----------------------------------------------------------------------------------------------- */

/* The solution that has the velocity of s->point; -1: none yet. */
static int find_velocity(const perp_quasistatic *qs, const perp_run_result *result)
{
    const rigid_step *s = qs->own;
    const double speed = qs->length_unit / qs->h;
    for (int i = 0; i < result->solution_count; i++) {
        double difference = 0.0;
        for (int k = 0; k < qs->free_count; k++) {
            difference = fmax(difference, fabs(result->solutions[i].rate[qs->dof_of_free[k]] / speed - s->point.x[k]));
        }
        if (difference <= SAME) {
            return i;
        }
    }
    return -1;
}

static perp_status add_corner(perp_quasistatic *qs, const double *z, perp_run_result *result, int *index,
                              perp_error *error)
{
    rigid_step *s = qs->own;
    perp_rigid_read_lcp(s, qs->mu, z);
    *index = find_velocity(qs, result);
    if (*index < 0) {
        perp_status status = perp_rigid_least_forces(qs, error);
        if (status == PERP_STATUS_OK) {
            perp_rigid_hand_over(qs);
            status = add_solution(qs, result, error);
        }
        if (status != PERP_STATUS_OK) {
            return status;
        }
        *index = result->solution_count - 1;
        perp_rigid_read_lcp(s, qs->mu, z);
    }
    perp_instant_solution *solution = &result->solutions[*index];
    for (int i = 0; i < s->qp.contact_count; i++) {
        const double fn = qs->force_unit * s->point.y[s->qp.row_start[i]];
        double *low = &solution->fn_low[qs->set_index[i]], *high = &solution->fn_high[qs->set_index[i]];
        *low = fmin(*low, fmax(0.0, fn));
        *high = fmax(*high, fn);
    }
    return PERP_STATUS_OK;
}

/* Along a ray that moves nothing, forces grow without end. */
static void add_ray(perp_quasistatic *qs, const double *ray, perp_instant_solution *solution)
{
    rigid_step *s = qs->own;
    for (int k = 0; k < s->qp.n; k++) {
        if (fabs(ray[k]) > SAME) {
            return;
        }
    }
    perp_rigid_read_lcp(s, qs->mu, ray);
    for (int i = 0; i < s->qp.contact_count; i++) {
        if (s->point.y[s->qp.row_start[i]] > SAME) {
            solution->fn_high[qs->set_index[i]] = INFINITY;
        }
    }
}

static perp_status find_all(perp_quasistatic *qs, perp_run_result *result, perp_error *error)
{
    perp_mlcp problem;
    perp_lcp_solution_set *set = NULL;
    perp_mcp bounded;
    perp_status status = perp_rigid_build_lcp(qs, &problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    rigid_step *s = qs->own;
    perp_mlcp_as_mcp(&problem, s->z, s->w, &bounded); /* these serve as bounds: nothing is solved into them */
    status = perp_mcp_enumerate(&bounded, NULL, &qs->allocator, &set, error);
    if (status == PERP_STATUS_CAPACITY) {
        return find_one(qs, result, error);
    }
    for (int i = 0; status == PERP_STATUS_OK && i < set->face_count; i++) {
        const perp_lcp_face *face = &set->faces[i];
        for (int k = 0; k < face->vertex_count && status == PERP_STATUS_OK; k++) {
            int index = 0;
            status = add_corner(qs, face->vertices + (ptrdiff_t)k * set->n, result, &index, error);
            for (int j = 0; j < face->ray_count && status == PERP_STATUS_OK; j++) {
                add_ray(qs, face->rays + (ptrdiff_t)j * set->n, &result->solutions[index]);
            }
        }
    }
    const bool unsure = status == PERP_STATUS_OK && !set->complete && result->solution_count == 0;
    perp_lcp_solution_set_free(set);
    return unsure ? perp_qs_not_converged(qs, "enumerate", 1.0, error) : status;
}

static perp_status answer(perp_step_context *context, const perp_state *state, perp_run_result *result,
                          perp_error *error)
{
    perp_quasistatic *qs = context->workspace;
    perp_step_info info;
    memset(&info, 0, sizeof info);
    qs->info = &info;
    perp_status status = perp_qs_build(qs, context, state->q, state->t, state->t, error);
    if (status == PERP_STATUS_OK) {
        status = perp_rigid_begin(qs, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (qs->free_count == 0) {
        return add_solution(qs, result, error);
    }
    return perp_rigid_is_polygonal(qs->own) ? find_all(qs, result, error) : find_one(qs, result, error);
}

const perp_rung perp_rung_instant_qs = {
    .name = "instant-qs",
    .summary = "velocities at the initial state without inertia; all solutions for rays",
    .inertia = "none",
    .contact = "rigid",
    .friction = "quadratic cone",
    .source = "Trinkle 2005 (1)-(18)",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_RAYS,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_qs_close,
    .answer = answer,
    .answers = "velocity",
};
