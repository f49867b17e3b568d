#include "step/convex/convex_step.h"

#include "scene/cone.h"
#include "step/common/rung_cone.h"

#include <assert.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static perp_status hold_fixed(convex_step *c, const contact_step *step, perp_error *error)
{
    const int n = step->model->nv + step->foot_capacity, mass = step->model->mass_size + step->foot_capacity,
              loops = 6 * step->model->scene->loop_count;
    const int square = n < CONVEX_DETERMINED ? n : CONVEX_DETERMINED;
    const block_array arrays[] = {PERP_ARRAY(c->hessian, mass),
                                  PERP_ARRAY(c->g, n),
                                  PERP_ARRAY(c->lower, n),
                                  PERP_ARRAY(c->upper, n),
                                  PERP_ARRAY(c->target, loops),
                                  PERP_ARRAY(c->face_hessian, mass),
                                  PERP_ARRAY(c->face_g, n),
                                  PERP_ARRAY(c->face_keep, c->longest),
                                  PERP_ARRAY(c->face_square, 2 * square * square),
                                  PERP_ARRAY(c->face_way, n),
                                  PERP_ARRAY(c->point.y_equality, loops),
                                  PERP_ARRAY(c->start.y_equality, loops),
                                  PERP_ARRAY(c->point.x, n),
                                  PERP_ARRAY(c->point.y_lower, n),
                                  PERP_ARRAY(c->point.y_upper, n),
                                  PERP_ARRAY(c->start.x, n),
                                  PERP_ARRAY(c->start.y_lower, n),
                                  PERP_ARRAY(c->start.y_upper, n),
                                  PERP_ARRAY(c->face_point.x, n),
                                  PERP_ARRAY(c->face_point.y_lower, n),
                                  PERP_ARRAY(c->face_point.y_upper, n)};
    return perp_block_arrays(&step->allocator, &c->fixed, arrays, sizeof arrays / sizeof *arrays, error);
}

/* The face problem makes an equation of every slack at most, one of every row of A and of every limit, and has the
 * loops'. */
static perp_status hold_sized(convex_step *c, const contact_step *step, perp_error *error)
{
    const int contacts = c->capacity.contacts, dofs = c->capacity.dofs, slacks = c->capacity.slacks;
    const int loops = 6 * step->model->scene->loop_count, n = step->model->nv + step->foot_capacity;
    const size_t equations = (size_t)slacks + 2 * (size_t)n + (size_t)loops;
    const size_t entries = (size_t)c->longest * (size_t)dofs + (size_t)(step->model->mass_size + step->foot_capacity) +
                           (size_t)loops * (size_t)n + (size_t)n;
    const block_array arrays[] = {PERP_ARRAY(c->slack_start, contacts + 1),
                                  PERP_ARRAY(c->ray, 4 * slacks),
                                  PERP_ARRAY(c->offset, slacks),
                                  PERP_ARRAY(c->parting, contacts),
                                  PERP_ARRAY(c->ending, contacts),
                                  PERP_ARRAY(c->room_low, contacts),
                                  PERP_ARRAY(c->room_high, contacts),
                                  PERP_ARRAY(c->cone, contacts),
                                  PERP_ARRAY(c->slack, slacks),
                                  PERP_ARRAY(c->point.y, slacks),
                                  PERP_ARRAY(c->start.y, slacks),
                                  PERP_ARRAY(c->face_point.y, slacks),
                                  PERP_ARRAY(c->face_jacobian, 4 * dofs),
                                  PERP_ARRAY(c->face_ray, 4 * slacks),
                                  PERP_ARRAY(c->face_offset, slacks),
                                  PERP_ARRAY(c->face_row_start, contacts + 1),
                                  PERP_ARRAY(c->face_dof_start, contacts + 1),
                                  PERP_ARRAY(c->face_dofs, dofs),
                                  PERP_ARRAY(c->face_slack_start, contacts + 1),
                                  PERP_ARRAY(c->face_cone, contacts),
                                  PERP_ARRAY(c->face_point.y_equality, equations),
                                  PERP_ARRAY(c->face_target, equations),
                                  PERP_ARRAY(c->face_equality_start, equations + 1),
                                  PERP_ARRAY(c->face_equality_dofs, entries),
                                  PERP_ARRAY(c->face_values, entries),
                                  PERP_ARRAY(c->answer, (size_t)contacts * (size_t)(c->longest + 1))};
    return perp_block_arrays(&step->allocator, &c->sized, arrays, sizeof arrays / sizeof *arrays, error);
}

perp_status perp_convex_step_open(contact_step *step, perp_error *error)
{
    convex_step *c = step->allocator.allocate(step->allocator.context, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(c, 0, sizeof *c);
    step->own = c;
    c->kappa = step->settings->smoothing;
    c->rays = step->settings->rays;
    const int corners = perp_cone_corner_count(perp_rung_cone(step->rung, step->settings), c->rays);
    c->quadratic = corners == 0 || c->kappa > 0.0; /* the barrier is that of the cone, whatever `cone` says */
    const int spatial = c->quadratic ? 4 : c->rays < 3 ? 3 : c->rays; /* 4: of an ellipsoid */
    c->longest = step->model->planar && step->foot_capacity == 0 ? 2 : spatial;
    perp_status status = hold_fixed(c, step, error);
    if (status == PERP_STATUS_OK) {
        status = perp_kept_open(&c->kept, step, c->longest + 1, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_convex_workspace_create(&step->allocator, &c->solver, error);
    }
    return status == PERP_STATUS_OK ? perp_convex_workspace_create(&step->allocator, &c->face_solver, error) : status;
}

void perp_convex_step_close(contact_step *step)
{
    convex_step *c = step->own;
    if (!c) {
        return;
    }
    perp_convex_workspace_free(c->solver);
    perp_convex_workspace_free(c->face_solver);
    perp_block_free(&step->allocator, &c->fixed);
    perp_block_free(&step->allocator, &c->sized);
    perp_kept_close(&c->kept, step);
    step->allocator.release(step->allocator.context, c);
    step->own = NULL;
}

static perp_status reserve(convex_step *c, const contact_step *step, perp_error *error)
{
    if (c->sized.memory && c->capacity.contacts == step->contact_capacity && c->capacity.dofs == step->dof_capacity) {
        return PERP_STATUS_OK;
    }
    c->capacity = (convex_capacity){step->contact_capacity, step->dof_capacity, c->longest * step->contact_capacity};
    return hold_sized(c, step, error);
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
        for (int r = 0; r < rows; r++) {
            ray[r * rows + r] = r == 0 ? 1.0 : mu;
        }
        return rows;
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

static void fill_slacks(convex_step *c, const contact_step *step, double speed)
{
    const perp_contact_qp *p = &step->system;
    double *ray = c->ray;
    int slacks = 0;
    c->slack_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        const double *offset = p->offset + p->row_start[i];
        const int count = fill_rays(c, rows, step->mu[i], ray, &c->cone[i]);
        const double room = c->frictionless ? 0.0 : step->room[i];
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

void perp_convex_step_fill(convex_step *c, const contact_step *step)
{
    const double speed = step->length_unit / step->h;
    const step_scaled own = {c->hessian, c->g, c->lower, c->upper, c->target};
    perp_step_scale(step, speed, &own);
    fill_slacks(c, step, speed);
    c->qp = perp_step_scaled_system(step, &own);
    c->qp.slack_start = c->slack_start;
    c->qp.rays = c->ray;
    c->qp.offset = c->offset;
    c->qp.quadratic = c->cone;
}

perp_status perp_convex_step_begin(contact_step *step, perp_error *error)
{
    const perp_status status = reserve(step->own, step, error);
    if (status == PERP_STATUS_OK) {
        perp_convex_step_fill(step->own, step);
    }
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Of the tangential part of a cone: of none, one, two or, of an ellipsoid, three numbers. */
double perp_convex_length(const double *x, int count)
{
    const double flat = count > 1 ? hypot(x[0], x[1]) : count > 0 ? fabs(x[0]) : 0.0;
    return count > 2 ? hypot(flat, x[2]) : flat;
}

/* |y - P(y - s)| in its largest entry, P the projection on the second-order cone. */
static double cone_gap(int size, const double *y, const double *s)
{
    double u[4], length = 0.0, worst = 0.0;
    assert(size >= 2 && size <= 4); /* fill_rays makes no other cone */
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

void perp_convex_step_fill_slacks(convex_step *c, const double *x)
{
    const perp_contact_qp *p = &c->qp;
    const double *jacobian = p->jacobian, *ray = c->ray;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        const int rows = p->row_start[i + 1] - p->row_start[i];
        double u[4] = {0.0, 0.0, 0.0, 0.0};
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

double perp_convex_step_complementarity(convex_step *c, const double *x)
{
    const perp_contact_qp *p = &c->qp;
    double worst = 0.0;
    perp_convex_step_fill_slacks(c, x);
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
            const double length = perp_convex_length(y + 1, size - 1), head = fmax(0.0, y[0]);
            const double factor = length > head ? head / length : 1.0;
            y[0] = head;
            for (int k = 1; k < size; k++) {
                y[k] *= factor;
            }
        }
    }
}

/* x, forces and multipliers in m/s and N: r = R'y. */
void perp_convex_step_hand_over(const convex_step *c, contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const double force = step->force_unit, *ray = c->ray;
    double cone = 0.0;
    perp_step_take_point(step, &c->point, step->length_unit / step->h);
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        double *r = step->force + p->row_start[i];
        memset(r, 0, (size_t)rows * sizeof *r);
        for (int k = c->slack_start[i]; k < c->slack_start[i + 1]; k++, ray += rows) {
            for (int m = 0; m < rows; m++) {
                r[m] += ray[m] * (force * c->point.y[k]);
            }
        }
        const double tangential = perp_convex_length(r + 1, rows - 1);
        cone = fmax(cone, (tangential - step->mu[i] * r[0]) / force);
    }
    step->info->residuals.cone = cone;
}

double perp_convex_step_law(contact_step *step)
{
    static const double STRONG = 1e8; /* F: sums of larger forces are rounding at 1e-8 F, the law cannot be judged */
    convex_step *c = step->own;
    double largest = 0.0;
    perp_convex_step_hand_over(c, step);
    for (int k = 0; k < c->slack_start[c->qp.contact_count]; k++) {
        largest = fmax(largest, c->point.y[k]);
    }
    step->info->residuals.complementarity = perp_convex_step_complementarity(c, c->point.x);
    c->is_told = true;
    return largest <= STRONG ? fmax(step->info->residuals.complementarity, perp_step_balance(step)) : INFINITY;
}

/* From the slacks: rays come in opposite pairs, so that their mean is the normal row. */
void perp_convex_step_measure(contact_step *step)
{
    convex_step *c = step->own;
    const double speed = step->length_unit / step->h;
    for (int i = 0; i < step->system.contact_count; i++) {
        const double *slack = c->slack + c->slack_start[i];
        const int count = c->slack_start[i + 1] - c->slack_start[i];
        double sum = 0.0, least = slack[0];
        for (int k = 0; k < count; k++) {
            sum += slack[k];
            least = slack[k] < least ? slack[k] : least;
        }
        const double normal = c->cone[i] ? slack[0] : sum / count;
        const double slip = c->cone[i] ? hypot(slack[1], count > 2 ? slack[2] : 0.0) : normal - least;
        const bool support = perp_step_is_support(step, i); /* its layer is the foot's */
        c->parting[i] = support ? 0.0 : speed * slip;
        c->ending[i] = support ? 0.0 : speed * normal - step->room[i];
        step->layer[i] = step->h * (c->parting[i] - step->room[i]);
    }
}
