#include "step/convex_step.h"

#include "scene/cone.h"

#include <assert.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

#define TAKE(block, array, count) ((array) = perp_qs_take((block), (size_t)(count), sizeof *(array)))

static void lay_out_fixed(convex_step *c, const perp_quasistatic *qs)
{
    const int n = qs->model->nv, mass = qs->model->mass_size;
    perp_qs_block *b = &c->fixed;
    TAKE(b, c->hessian, mass);
    TAKE(b, c->g, n);
    TAKE(b, c->lower, n);
    TAKE(b, c->upper, n);
    TAKE(b, c->target, 6 * qs->model->scene->loop_count);
    TAKE(b, c->face_hessian, mass);
    TAKE(b, c->face_g, n);
    TAKE(b, c->face_keep, c->longest);
    perp_convex_point *const points[] = {&c->point, &c->start, &c->face_point};
    for (int k = 0; k < 3; k++) {
        TAKE(b, points[k]->x, n);
        TAKE(b, points[k]->y_lower, n);
        TAKE(b, points[k]->y_upper, n);
    }
    TAKE(b, c->point.y_equality, 6 * qs->model->scene->loop_count);
    TAKE(b, c->start.y_equality, 6 * qs->model->scene->loop_count);
}

/* The face problem makes an equation of every slack at most, one of every row of A and of every limit, and has the
 * loops'. */
static void lay_out_sized(convex_step *c, const perp_quasistatic *qs)
{
    const int contacts = c->capacity.contacts, dofs = c->capacity.dofs, slacks = c->capacity.slacks;
    const int loops = 6 * qs->model->scene->loop_count, n = qs->model->nv;
    const size_t equations = (size_t)slacks + 2 * (size_t)n + (size_t)loops;
    const size_t entries =
        (size_t)c->longest * (size_t)dofs + (size_t)qs->model->mass_size + (size_t)loops * (size_t)n + (size_t)n;
    perp_qs_block *b = &c->sized;
    TAKE(b, c->slack_start, contacts + 1);
    TAKE(b, c->ray, 3 * slacks);
    TAKE(b, c->offset, slacks);
    TAKE(b, c->parting, contacts);
    TAKE(b, c->ending, contacts);
    TAKE(b, c->room_low, contacts);
    TAKE(b, c->room_high, contacts);
    TAKE(b, c->cone, contacts);
    TAKE(b, c->slack, slacks);
    TAKE(b, c->point.y, slacks);
    TAKE(b, c->start.y, slacks);
    TAKE(b, c->face_point.y, slacks);
    TAKE(b, c->face_jacobian, 3 * dofs);
    TAKE(b, c->face_ray, 3 * slacks);
    TAKE(b, c->face_offset, slacks);
    TAKE(b, c->face_row_start, contacts + 1);
    TAKE(b, c->face_dof_start, contacts + 1);
    TAKE(b, c->face_dofs, dofs);
    TAKE(b, c->face_slack_start, contacts + 1);
    TAKE(b, c->face_cone, contacts);
    TAKE(b, c->face_point.y_equality, equations);
    TAKE(b, c->face_target, equations);
    TAKE(b, c->face_equality_start, equations + 1);
    TAKE(b, c->face_equality_dofs, entries);
    TAKE(b, c->face_values, entries);
    TAKE(b, c->answer, (size_t)contacts * (size_t)(c->longest + 1));
}

bool perp_convex_step_is_quadratic(const perp_quasistatic *qs)
{
    return perp_cone_corner_count(perp_rung_cone(qs->rung, qs->settings), qs->settings->rays) == 0;
}

perp_status perp_convex_step_open(perp_quasistatic *qs, bool quadratic, perp_error *error)
{
    convex_step *c = qs->allocator.allocate(qs->allocator.context, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(c, 0, sizeof *c);
    qs->own = c;
    c->kappa = qs->settings->smoothing;
    c->quadratic = quadratic || c->kappa > 0.0; /* the barrier is that of the cone, whatever `cone` says */
    c->rays = qs->settings->rays;
    c->longest = qs->model->planar ? 2 : c->quadratic || c->rays < 3 ? 3 : c->rays;
    lay_out_fixed(c, qs);
    perp_status status = perp_qs_block_hold(&qs->allocator, &c->fixed, error);
    if (status == PERP_STATUS_OK) {
        lay_out_fixed(c, qs);
        status = perp_kept_open(&c->kept, qs, c->longest + 1, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_convex_workspace_create(&qs->allocator, &c->solver, error);
    }
    return status == PERP_STATUS_OK ? perp_convex_workspace_create(&qs->allocator, &c->face_solver, error) : status;
}

void perp_convex_step_close(perp_quasistatic *qs)
{
    convex_step *c = qs->own;
    if (!c) {
        return;
    }
    perp_convex_workspace_free(c->solver);
    perp_convex_workspace_free(c->face_solver);
    perp_qs_block_free(&qs->allocator, &c->fixed);
    perp_qs_block_free(&qs->allocator, &c->sized);
    perp_kept_close(&c->kept, qs);
    qs->allocator.release(qs->allocator.context, c);
    qs->own = NULL;
}

static perp_status reserve(convex_step *c, const perp_quasistatic *qs, perp_error *error)
{
    if (c->sized.memory && c->capacity.contacts == qs->contact_capacity && c->capacity.dofs == qs->dof_capacity) {
        return PERP_STATUS_OK;
    }
    c->capacity = (convex_capacity){qs->contact_capacity, qs->dof_capacity, c->longest * qs->contact_capacity};
    c->sized.used = 0;
    perp_qs_block_free(&qs->allocator, &c->sized);
    lay_out_sized(c, qs);
    const perp_status status = perp_qs_block_hold(&qs->allocator, &c->sized, error);
    if (status == PERP_STATUS_OK) {
        lay_out_sized(c, qs);
    }
    return status;
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

/* R of one contact: rays, or diag(1, mu, mu). In the plane of a single friction direction the cone is its two rays.
 * Returns the number of slacks. */
static int fill_rays(const convex_step *c, int rows, double mu, double *ray, bool *cone)
{
    *cone = false;
    memset(ray, 0, (size_t)(c->longest * rows) * sizeof *ray);
    if (rows == 1 || mu == 0.0 || c->frictionless) {
        ray[0] = 1.0;
        return 1;
    }
    if (rows == 2 && c->kappa > 0.0) { /* the barrier of both rays together */
        *cone = true;
        ray[0] = 1.0;
        ray[3] = mu;
        return 2;
    }
    if (rows == 2) {
        ray[0] = ray[2] = 1.0;
        ray[1] = mu;
        ray[3] = -mu;
        return 2;
    }
    if (c->quadratic) {
        *cone = true;
        ray[0] = 1.0;
        ray[4] = ray[8] = mu;
        return 3;
    }
    for (int j = 0; j < c->rays; j++) {
        double corner[2];
        perp_cone_corner(PERP_CONE_RAYS, c->rays, j, corner);
        ray[3 * j] = 1.0;
        ray[3 * j + 1] = mu * corner[0];
        ray[3 * j + 2] = mu * corner[1];
    }
    return c->rays;
}

static void fill_slacks(convex_step *c, const perp_quasistatic *qs, double speed)
{
    const perp_contact_qp *p = &qs->system;
    double *ray = c->ray;
    int slacks = 0;
    c->slack_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const double *offset = p->offset + p->row_start[i];
        const int count = fill_rays(c, rows, qs->mu[i], ray, &c->cone[i]);
        const double room = c->frictionless ? 0.0 : qs->room[i];
        for (int k = 0; k < count; k++, ray += rows) {
            double sum = ray[0] * room;
            for (int r = 0; r < rows; r++) {
                sum += ray[r] * offset[r];
            }
            c->offset[slacks++] = sum / speed;
        }
        c->slack_start[i + 1] = slacks;
    }
}

void perp_convex_step_fill(convex_step *c, const perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const double speed = qs->length_unit / qs->h, force = qs->force_unit;
    ptrdiff_t entries = 0;
    for (int b = 0; b < p->block_count; b++) {
        const ptrdiff_t size = p->block_start[b + 1] - p->block_start[b];
        entries += size * size;
    }
    for (ptrdiff_t i = 0; i < entries; i++) {
        c->hessian[i] = p->hessian[i] * (speed / force);
    }
    for (int i = 0; i < p->n; i++) {
        c->g[i] = p->g[i] / force;
        c->lower[i] = qs->lower[i] / speed;
        c->upper[i] = qs->upper[i] / speed;
    }
    for (int i = 0; i < p->equality_count; i++) {
        c->target[i] = p->equality_target[i] / speed;
    }
    fill_slacks(c, qs, speed);
    c->qp = *p;
    c->qp.hessian = c->hessian;
    c->qp.g = c->g;
    c->qp.slack_start = c->slack_start;
    c->qp.rays = c->ray;
    c->qp.offset = c->offset;
    c->qp.quadratic = c->cone;
    c->qp.equality_target = c->target;
    c->qp.lower = p->lower ? c->lower : NULL;
    c->qp.upper = p->upper ? c->upper : NULL;
}

/* ---- warm start -------------------------------------------------------------------------------------------------- */

/* The forces of the last step at the contacts that are the same, and its motion. */
static void make_start(convex_step *c, const perp_quasistatic *qs)
{
    const double speed = qs->length_unit / qs->h, force = qs->force_unit;
    for (int i = 0, hint = 0; i < qs->system.contact_count; i++) {
        const int start = c->slack_start[i], slacks = c->slack_start[i + 1] - start;
        const double *kept = perp_kept_find(&c->kept, qs, i, &hint);
        for (int k = 0; k < slacks; k++) {
            c->start.y[start + k] = kept && kept[0] == slacks ? kept[1 + k] / force : 0.0;
        }
    }
    for (int i = 0; i < qs->free_count; i++) {
        const int dof = qs->dof_of_free[i];
        c->start.x[i] = c->kept.x[dof] / speed;
        c->start.y_lower[i] = c->kept.y_lower[dof] / force;
        c->start.y_upper[i] = c->kept.y_upper[dof] / force;
    }
    for (int i = 0; i < qs->system.equality_count; i++) {
        c->start.y_equality[i] = c->kept.y_loop[qs->loop_row[i]] / force;
    }
}

/* The multipliers of the slacks, for perp_convex_step_accept: qs->force is what they add up to. */
static void note_answer(convex_step *c, const perp_quasistatic *qs)
{
    for (int i = 0; i < qs->system.contact_count; i++) {
        double *answer = c->answer + (ptrdiff_t)qs->set_index[i] * (c->longest + 1);
        const int start = c->slack_start[i], slacks = c->slack_start[i + 1] - start;
        answer[0] = slacks;
        for (int k = 0; k < slacks; k++) {
            answer[1 + k] = qs->force_unit * c->point.y[start + k];
        }
    }
}

static void put_answer(const perp_quasistatic *qs, int i, double *value)
{
    const convex_step *c = qs->own;
    const double *answer = c->answer + (ptrdiff_t)qs->set_index[i] * (c->longest + 1);
    memset(value, 0, (size_t)(c->longest + 1) * sizeof *value);
    memcpy(value, answer, (size_t)(1 + (int)answer[0]) * sizeof *value);
}

void perp_convex_step_accept(perp_quasistatic *qs)
{
    convex_step *c = qs->own;
    perp_kept_accept(&c->kept, qs, put_answer);
}

void perp_convex_step_put(const perp_quasistatic *qs, memory_writer *w)
{
    perp_kept_put(&((const convex_step *)qs->own)->kept, qs, w);
}

bool perp_convex_step_take(perp_quasistatic *qs, memory_reader *r)
{
    return perp_kept_take(&((convex_step *)qs->own)->kept, qs, r);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* |y - P(y - s)| in its largest entry, P the projection on the second-order cone. */
static double cone_gap(int size, const double *y, const double *s)
{
    double u[3], length = 0.0, worst = 0.0;
    assert(size == 2 || size == 3); /* fill_rays makes no other cone */
    for (int k = 0; k < size; k++) {
        u[k] = y[k] - s[k];
        length += k > 0 ? u[k] * u[k] : 0.0;
    }
    length = sqrt(length);
    const double head = 0.5 * (u[0] + length);
    for (int k = 0; k < size; k++) {
        double projected = u[0] >= length ? u[k] : 0.0;
        if (u[0] < length && u[0] > -length) {
            projected = k == 0 ? head : head * u[k] / length;
        }
        worst = fmax(worst, fabs(y[k] - projected));
    }
    return worst;
}

static void fill_slack_values(convex_step *c, const double *x)
{
    const perp_contact_qp *p = &c->qp;
    const double *jacobian = p->jacobian, *ray = c->ray;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const int rows = p->row_start[i + 1] - p->row_start[i];
        double u[3] = {0.0, 0.0, 0.0};
        for (int r = 0; r < rows; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                u[r] += jacobian[k] * x[p->dofs[start + k]];
            }
        }
        for (int k = c->slack_start[i]; k < c->slack_start[i + 1]; k++, ray += rows) {
            double sum = c->offset[k];
            for (int r = 0; r < rows; r++) {
                sum += ray[r] * u[r];
            }
            c->slack[k] = sum;
        }
    }
}

/* The smoothed law: y = kappa s^-1. */
static double off_centre(convex_step *c, const perp_quasistatic *qs)
{
    const double kappa = c->kappa / (qs->force_unit * qs->length_unit);
    return perp_convex_residual_largest(perp_contact_qp_barrier_residual(&c->qp, kappa, &c->point));
}

double perp_convex_step_complementarity(convex_step *c, const double *x)
{
    const perp_contact_qp *p = &c->qp;
    double worst = 0.0;
    fill_slack_values(c, x);
    for (int i = 0; i < p->contact_count; i++) {
        const int start = c->slack_start[i], size = c->slack_start[i + 1] - start;
        if (c->cone[i]) {
            worst = fmax(worst, cone_gap(size, c->point.y + start, c->slack + start));
        }
        for (int k = start; k < start + size && !c->cone[i]; k++) {
            const double gap = fabs(c->point.y[k] < c->slack[k] ? c->point.y[k] : c->slack[k]);
            worst = gap > worst ? gap : worst;
        }
    }
    for (int i = 0; i < p->n && p->lower; i++) {
        worst = isfinite(p->lower[i]) ? fmax(worst, fabs(fmin(c->point.y_lower[i], x[i] - p->lower[i]))) : worst;
        worst = isfinite(p->upper[i]) ? fmax(worst, fabs(fmin(c->point.y_upper[i], p->upper[i] - x[i]))) : worst;
    }
    for (int i = 0; i < p->equality_count; i++) {
        double sum = -c->target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * x[p->equality_dofs[k]];
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

void perp_convex_step_clip(convex_step *c)
{
    c->is_told = false;
    for (int i = 0; i < c->qp.contact_count; i++) {
        double *y = c->point.y + c->slack_start[i];
        const int size = c->slack_start[i + 1] - c->slack_start[i];
        for (int k = 0; k < size && !c->cone[i]; k++) {
            y[k] = y[k] > 0.0 ? y[k] : 0.0;
        }
        if (c->cone[i]) {
            const double length = size > 2 ? hypot(y[1], y[2]) : fabs(y[1]), head = fmax(0.0, y[0]);
            const double factor = length > head ? head / length : 1.0;
            y[0] = head;
            for (int k = 1; k < size; k++) {
                y[k] *= factor;
            }
        }
    }
}

/* x, forces and multipliers in m/s and N: r = R'y. */
static void hand_over(const convex_step *c, perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const double speed = qs->length_unit / qs->h, force = qs->force_unit;
    const double *ray = c->ray;
    double cone = 0.0;
    for (int i = 0; i < p->n; i++) {
        qs->x[i] = speed * c->point.x[i];
        qs->y_lower[i] = p->lower ? force * c->point.y_lower[i] : 0.0;
        qs->y_upper[i] = p->upper ? force * c->point.y_upper[i] : 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        qs->y_equality[i] = force * c->point.y_equality[i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        double *r = qs->force + p->row_start[i];
        memset(r, 0, (size_t)rows * sizeof *r);
        for (int k = c->slack_start[i]; k < c->slack_start[i + 1]; k++, ray += rows) {
            for (int m = 0; m < rows; m++) {
                r[m] += ray[m] * (force * c->point.y[k]);
            }
        }
        const double tangential = rows > 2 ? hypot(r[1], r[2]) : rows > 1 ? fabs(r[1]) : 0.0;
        cone = fmax(cone, (tangential - qs->mu[i] * r[0]) / force);
    }
    qs->info->residuals.cone = cone;
}

double perp_convex_step_law(perp_quasistatic *qs)
{
    static const double STRONG = 1e8; /* F: sums of larger forces are rounding at 1e-8 F, the law cannot be judged */
    convex_step *c = qs->own;
    double largest = 0.0;
    hand_over(c, qs);
    for (int k = 0; k < c->slack_start[c->qp.contact_count]; k++) {
        largest = fmax(largest, c->point.y[k]);
    }
    qs->info->residuals.complementarity = perp_convex_step_complementarity(c, c->point.x);
    c->is_told = true;
    return largest <= STRONG ? fmax(qs->info->residuals.complementarity, perp_qs_balance(qs)) : INFINITY;
}

/* Do the weights of an infeasible problem, whose proof misses by 1, leave more than what the law's tolerance lets all
 * their rows be off by together? */
static bool leaves_room(const convex_step *c, const perp_quasistatic *qs)
{
    double sum = 0.0;
    for (int k = 0; k < c->slack_start[c->qp.contact_count]; k++) {
        sum += fabs(c->point.y[k]);
    }
    for (int i = 0; i < c->qp.equality_count; i++) {
        sum += fabs(c->point.y_equality[i]);
    }
    for (int i = 0; i < c->qp.n && c->qp.lower; i++) {
        sum += fabs(c->point.y_lower[i]) + fabs(c->point.y_upper[i]);
    }
    return sum * qs->settings->tolerance < 1.0;
}

/* Does an outcome say that there is no answer, with a proof that leaves room for the law's tolerance? */
static bool is_proof(const convex_step *c, const perp_quasistatic *qs, perp_outcome outcome)
{
    return (outcome == PERP_OUTCOME_UNBOUNDED && perp_qs_is_driven(qs, c->point.x)) ||
           (outcome == PERP_OUTCOME_INFEASIBLE && leaves_room(c, qs));
}

static perp_status explain(convex_step *c, perp_quasistatic *qs, perp_outcome outcome, perp_error *error)
{
    if (outcome == PERP_OUTCOME_UNBOUNDED) {
        return perp_qs_unsupported(qs, c->point.x, error);
    }
    /* Sum of y s is -1 whatever x: some slack is at most -1 / sum y, in units of L. */
    double sum = 0.0;
    for (int i = 0; i < qs->system.contact_count; i++) {
        double own = 0.0;
        for (int k = c->slack_start[i]; k < c->slack_start[i + 1]; k++) {
            own += c->cone[i] && k > c->slack_start[i] ? 0.0 : c->point.y[k];
        }
        memset(qs->force + qs->row_start[i], 0, (size_t)(qs->row_start[i + 1] - qs->row_start[i]) * sizeof(double));
        qs->force[qs->row_start[i]] = own;
        sum += own;
    }
    const double depth = sum > 0.0 ? qs->length_unit / sum : 0.0;
    return sum > 0.0 && perp_convex_step_gaps_can_be_met(qs) ? perp_qs_no_room(qs, qs->force, depth, error)
                                                             : perp_qs_infeasible(qs, qs->force, depth, error);
}

/* Where A has a passive degree of freedom without inertia the motion may not be unique. */
static bool is_singular(const perp_contact_qp *p)
{
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count; b++) {
        const ptrdiff_t size = p->block_start[b + 1] - p->block_start[b];
        for (ptrdiff_t i = 0; i < size; i++) {
            if (!(block[i * size + i] > 0.0)) {
                return true;
            }
        }
        block += size * size;
    }
    return false;
}

/* The first way: from the last step's answer. */
static perp_status solve_once(convex_step *c, perp_quasistatic *qs, const perp_convex_settings *settings,
                              perp_convex_info *info, perp_error *error)
{
    if (c->kappa > 0.0) {
        const double kappa = c->kappa / (qs->force_unit * qs->length_unit);
        return perp_contact_qp_barrier(&c->qp, kappa, settings, c->solver, &c->point, info, error);
    }
    return perp_contact_qp_solve(&c->qp, settings, c->solver, &c->point, info, error);
}

/* The workspace mostly is large enough from the step before, and to reserve it takes a third of the time of a warm
 * solution: only once it is not. */
static perp_status reserve_and_solve(convex_step *c, perp_quasistatic *qs, perp_convex_info *info, perp_error *error)
{
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = fmax(1e-12, 1e-3 * qs->settings->tolerance);
    if (perp_kept_has(&c->kept, qs)) {
        make_start(c, qs);
        settings.warm = &c->start;
    }
    if (solve_once(c, qs, &settings, info, NULL) == PERP_STATUS_OK) {
        return PERP_STATUS_OK;
    }
    const perp_status status = perp_contact_qp_reserve(&c->qp, c->solver, error);
    return status == PERP_STATUS_OK ? solve_once(c, qs, &settings, info, error) : status;
}

perp_status perp_convex_step_begin(perp_quasistatic *qs, perp_error *error)
{
    const perp_status status = reserve(qs->own, qs, error);
    if (status == PERP_STATUS_OK) {
        perp_convex_step_fill(qs->own, qs);
    }
    return status;
}

perp_status perp_convex_step_solve(perp_quasistatic *qs, perp_error *error)
{
    const perp_status status = qs->free_count > 0 ? perp_convex_step_begin(qs, error) : PERP_STATUS_OK;
    return status == PERP_STATUS_OK && qs->free_count > 0 ? perp_convex_step_answer(qs, error) : status;
}

perp_status perp_convex_step_answer(perp_quasistatic *qs, perp_error *error)
{
    convex_step *c = qs->own;
    perp_convex_info info;
    perp_status status = reserve_and_solve(c, qs, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    qs->info->iterations += info.iterations;
    if (is_proof(c, qs, info.outcome)) {
        return explain(c, qs, info.outcome, error);
    }
    const bool claims = info.outcome == PERP_OUTCOME_INFEASIBLE || info.outcome == PERP_OUTCOME_UNBOUNDED;
    double residual = INFINITY;
    if (!claims) { /* else the point is what the claim rests on */
        perp_convex_step_clip(c);
        residual = c->kappa > 0.0 ? off_centre(c, qs) : perp_convex_step_sharpen(qs);
    }
    if (!(residual <= qs->settings->tolerance)) {
        const perp_outcome near = c->kappa > 0.0 ? PERP_OUTCOME_ITERATION_LIMIT : perp_convex_step_confine(qs);
        if (is_proof(c, qs, near)) {
            return explain(c, qs, near, error);
        }
        if (near != PERP_OUTCOME_SOLVED && (info.outcome != PERP_OUTCOME_SOLVED || !isfinite(residual))) {
            return perp_qs_not_converged(qs, info.method, fmin(residual, 1e300), error);
        }
    }
    qs->info->fallbacks[PERP_FALLBACK_LOOSE] += info.outcome != PERP_OUTCOME_SOLVED;
    if (c->kappa == 0.0 && is_singular(&c->qp)) {
        status = perp_convex_step_smallest(qs, error);
        c->is_told = false;
    }
    if (c->kappa > 0.0 || !c->is_told) {
        qs->info->residuals.complementarity =
            c->kappa > 0.0 ? off_centre(c, qs) : perp_convex_step_complementarity(c, c->point.x);
        hand_over(c, qs);
    }
    if (c->kappa > 0.0) {
        fill_slack_values(c, c->point.x);
    }
    perp_convex_step_measure(qs);
    note_answer(c, qs);
    return status;
}
