#include "step/convex_step.h"

#include "step/run_private.h"

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
}

static void lay_out_kept(convex_step *c)
{
    perp_qs_block *b = &c->kept;
    TAKE(b, c->kept_contact, c->kept_capacity);
    TAKE(b, c->kept_slacks, c->kept_capacity);
    TAKE(b, c->kept_y, (size_t)c->kept_capacity * (size_t)c->longest);
}

bool perp_convex_step_is_quadratic(const perp_quasistatic *qs)
{
    const perp_cone cone = qs->settings->cone == PERP_CONE_UNSET ? qs->rung->own_cone : qs->settings->cone;
    return cone == PERP_CONE_QUADRATIC;
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
    perp_qs_block_free(&qs->allocator, &c->kept);
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
    static const double TURN = 6.283185307179586476925;
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
        /* a quarter turn is exact, so that four rays are +-t, +-o */
        const int eighth = 8 * j;
        const bool quarter = eighth % (2 * c->rays) == 0;
        const int q = eighth / (2 * c->rays);
        const double angle = TURN * j / c->rays;
        ray[3 * j] = 1.0;
        ray[3 * j + 1] = mu * (quarter ? (double[]){1.0, 0.0, -1.0, 0.0}[q & 3] : cos(angle));
        ray[3 * j + 2] = mu * (quarter ? (double[]){0.0, 1.0, 0.0, -1.0}[q & 3] : sin(angle));
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
    int hint = 0;
    memset(c->start.y, 0, (size_t)c->slack_start[qs->system.contact_count] * sizeof(double));
    for (int i = 0; i < qs->system.contact_count; i++) {
        const int slacks = c->slack_start[i + 1] - c->slack_start[i];
        const int k =
            perp_contact_find(c->kept_contact, c->kept_count, &qs->contacts->contacts[qs->set_index[i]], &hint);
        if (k >= 0 && c->kept_slacks[k] == slacks) {
            memcpy(c->start.y + c->slack_start[i], c->kept_y + (ptrdiff_t)k * c->longest,
                   (size_t)slacks * sizeof(double));
        }
    }
    if (c->kept_equalities != qs->system.equality_count) {
        memset(c->start.y_equality, 0, (size_t)qs->system.equality_count * sizeof(double));
    }
}

/* Room for so many kept contacts; false, and nothing is kept, where there is none. */
static bool hold_kept(convex_step *c, const perp_quasistatic *qs, int count, int capacity)
{
    if (count > c->kept_capacity || !c->kept.memory) {
        c->kept_capacity = capacity;
        perp_qs_block_free(&qs->allocator, &c->kept);
        lay_out_kept(c);
        c->has_kept = perp_qs_block_hold(&qs->allocator, &c->kept, NULL) == PERP_STATUS_OK;
        if (!c->has_kept) {
            c->kept_capacity = c->kept_count = 0;
            return false;
        }
        lay_out_kept(c);
    }
    return true;
}

void perp_convex_step_accept(perp_quasistatic *qs)
{
    convex_step *c = qs->own;
    const int count = qs->system.contact_count, n = qs->free_count;
    if (n == 0) {
        return;
    }
    if (!hold_kept(c, qs, count, qs->contact_capacity)) {
        return; /* a cold start is slower, no more */
    }
    for (int i = 0; i < count; i++) {
        const int slacks = c->slack_start[i + 1] - c->slack_start[i];
        c->kept_contact[i] = qs->contacts->contacts[qs->set_index[i]];
        c->kept_slacks[i] = slacks;
        memcpy(c->kept_y + (ptrdiff_t)i * c->longest, c->point.y + c->slack_start[i], (size_t)slacks * sizeof(double));
    }
    c->kept_count = count;
    c->kept_equalities = qs->system.equality_count;
    memcpy(c->start.x, c->point.x, (size_t)n * sizeof(double));
    memcpy(c->start.y_equality, c->point.y_equality, (size_t)c->kept_equalities * sizeof(double));
    memcpy(c->start.y_lower, c->point.y_lower, (size_t)n * sizeof(double));
    memcpy(c->start.y_upper, c->point.y_upper, (size_t)n * sizeof(double));
    c->has_kept = true;
}

void perp_convex_step_put(const perp_quasistatic *qs, memory_writer *w)
{
    const convex_step *c = qs->own;
    perp_memory_put(w, c->has_kept);
    if (!c->has_kept) {
        return;
    }
    perp_memory_put(w, c->kept_count);
    perp_memory_put(w, c->kept_equalities);
    for (int i = 0; i < c->kept_count; i++) {
        perp_memory_put_contact(w, &c->kept_contact[i]);
        perp_memory_put(w, c->kept_slacks[i]);
        perp_memory_put_reals(w, c->kept_y + (ptrdiff_t)i * c->longest, c->kept_slacks[i]);
    }
    perp_memory_put_reals(w, c->start.x, qs->free_count);
    perp_memory_put_reals(w, c->start.y_equality, c->kept_equalities);
    perp_memory_put_reals(w, c->start.y_lower, qs->free_count);
    perp_memory_put_reals(w, c->start.y_upper, qs->free_count);
}

bool perp_convex_step_take(perp_quasistatic *qs, memory_reader *r)
{
    convex_step *c = qs->own;
    const bool kept = perp_memory_take_int(r, 0, 1) == 1;
    if (!kept) {
        return true;
    }
    /* a contact takes more than one number, so that a count that the file cannot hold takes no memory either */
    const int count = perp_memory_take_int(r, 0, (int)fmin(1e9, (double)r->count));
    c->kept_equalities = perp_memory_take_int(r, 0, 6 * qs->model->scene->loop_count);
    r->out_of_memory = r->good && !hold_kept(c, qs, count, count);
    if (!r->good || r->out_of_memory) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        c->kept_contact[i] = perp_memory_take_contact(r);
        c->kept_slacks[i] = perp_memory_take_int(r, 0, c->longest);
        perp_memory_take_reals(r, c->kept_y + (ptrdiff_t)i * c->longest, c->kept_slacks[i]);
    }
    c->kept_count = count;
    perp_memory_take_reals(r, c->start.x, qs->free_count);
    perp_memory_take_reals(r, c->start.y_equality, c->kept_equalities);
    perp_memory_take_reals(r, c->start.y_lower, qs->free_count);
    perp_memory_take_reals(r, c->start.y_upper, qs->free_count);
    c->has_kept = true;
    return true;
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

static perp_status explain(convex_step *c, perp_quasistatic *qs, perp_outcome outcome, perp_error *error)
{
    if (outcome == PERP_OUTCOME_UNBOUNDED) {
        return perp_qs_unsupported(qs, c->point.x, error);
    }
    /* Sum of y s is -1 whatever x: some slack is at most -1 / sum y, in units of the scene's size. */
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
    if (c->has_kept) {
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
    if (info.outcome == PERP_OUTCOME_INFEASIBLE || info.outcome == PERP_OUTCOME_UNBOUNDED) {
        return explain(c, qs, info.outcome, error);
    }
    perp_convex_step_clip(c);
    const double residual = c->kappa > 0.0 ? off_centre(c, qs) : perp_convex_step_sharpen(qs);
    if (!(residual <= qs->settings->tolerance)) {
        const perp_outcome near = c->kappa > 0.0 ? PERP_OUTCOME_ITERATION_LIMIT : perp_convex_step_confine(qs);
        if (near == PERP_OUTCOME_INFEASIBLE || near == PERP_OUTCOME_UNBOUNDED) {
            return explain(c, qs, near, error);
        }
        if (near != PERP_OUTCOME_SOLVED && (info.outcome != PERP_OUTCOME_SOLVED || !isfinite(residual))) {
            return perp_qs_not_converged(qs, info.method, residual, error);
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
    return status;
}
