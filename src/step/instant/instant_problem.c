/* The system of an instant, and its LCP (instant.h). With x the accelerations, free like the loops' y, the rows are
 *
 *     0    =  M x + g - C'y - columns of the contacts - limits          x free
 *     0    =  C x - d                                                   y free
 *     a_n  =  J_n x + w_n                               _|_  fn >= 0    column J_n;  sliding: J_n - mu J_t v_t/|v_t|
 *
 * and for a contact that rolls, with one friction direction (slide 33; ft = s+ - mu fn, column of fn J_n - mu J_t):
 *
 *     a_t+ =  J_t x + w_t + a_t-                        _|_  s+   >= 0  column J_t
 *     s-   =  2 mu fn - s+                              _|_  a_t- >= 0
 *
 * or with a polygon, whose corners are d_j (slides 37, 38; ft = sum of lambda_j d_j):
 *
 *     a_j  =  d_j . (J_t x + w_t) + sigma               _|_  lambda_j >= 0  column d_j . J_t
 *     rest =  mu fn - sum of lambda_j                   _|_  sigma    >= 0
 *
 * a_t- and sigma are not bounded where fn = 0 (design 4.9): answers are compared by accelerations and forces. */
#include "step/common/dynamic.h"
#include "step/instant/instant.h"
#include "step/common/tolerances.h"

#include <stdio.h>
#include <string.h>

static int rows_of(const perp_instant *in, int i)
{
    return in->step->row_start[i + 1] - in->step->row_start[i];
}

/* What along (n, t, o, turning) of a contact is along its row r: its normal, its friction directions, the turning. */
static double along_row(const perp_contact *c, int r, const double *ntb, int count)
{
    if (r == 0 || r > c->direction_count) {
        return r < count ? ntb[r] : 0.0;
    }
    const perp_vec3 d = c->directions[r - 1];
    return perp_vec3_dot(d, c->t) * ntb[1] + (count > 2 ? perp_vec3_dot(d, c->o) * ntb[2] : 0.0);
}

/* ---- the system -------------------------------------------------------------------------------------------------- */

/* M of the free degrees of freedom, and what the others' accelerations ask of them. */
static void fill_inertia(perp_instant *in, const double *bias)
{
    contact_step *step = in->step;
    const perp_model *model = step->model;
    double *block = step->hessian;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const double *mass = step->mass + tree->mass_start;
        for (int r = 0; r < tree->v_count; r++) {
            const int i = tree->v_start + r, free = step->free_of_dof[i];
            for (int s = 0; s < tree->v_count && free >= 0; s++) {
                const int j = tree->v_start + s;
                const double entry = 0.5 * (mass[r * tree->v_count + s] + mass[s * tree->v_count + r]);
                if (step->free_of_dof[j] >= 0) {
                    *block++ = entry;
                } else {
                    step->g[free] += entry * in->given[j];
                }
            }
            if (free >= 0) {
                step->g[free] += bias[i] + model->damping[i] * in->v[i];
            }
        }
    }
}

static instant_kind classify(const perp_instant *in, int i, const double *velocity, double slip[3])
{
    const perp_contact_set *set = in->step->contacts;
    const perp_contact *c = &set->contacts[in->step->set_index[i]];
    slip[0] = slip[1] = slip[2] = 0.0;
    if (!(fabs(c->phi) <= CLOSED && fabs(velocity[0]) <= CLOSED)) {
        return INSTANT_INACTIVE;
    }
    if (c->friction == 0.0 || c->direction_count == 0) {
        return INSTANT_SMOOTH;
    }
    for (int r = 1; r < rows_of(in, i); r++) {
        slip[r - 1] = along_row(c, r, velocity, set->rows);
    }
    const double speed = hypot(hypot(slip[0], slip[1]), slip[2]);
    if (speed > CLOSED) {
        slip[0] /= speed;
        slip[1] /= speed;
        slip[2] /= speed;
        return INSTANT_SLIDE;
    }
    return rows_of(in, i) == 2 ? INSTANT_ROLL_LINE : INSTANT_ROLL_POLYGON;
}

static perp_status no_acceleration(const contact_step *step, const perp_contact *c, perp_error *error)
{
    char name[320];
    perp_step_name_contact(step, c, name, sizeof name);
    return perp_fail(error, PERP_STATUS_INFEASIBLE,
                     "contact `%s` has no acceleration %s: it goes over to other features at this very instant; "
                     "look at a state just before or after",
                     name, perp_step_when(step).text);
}

/* The polygon of what rests has no third direction. */
static perp_status ellipsoid_rests(const contact_step *step, const perp_contact *c, perp_error *error)
{
    const char *body = step->model->scene->bodies[c->b].name;
    perp_fail(error, PERP_STATUS_BAD_INPUT,
              "model `%s` takes a `support` with `model: ellipsoid` only where the body slides or turns, and `%.60s` "
              "rests: write `model: points`, or give it a velocity",
              step->rung->name, body);
    if (error) {
        snprintf(error->path, sizeof error->path, "bodies.%s.support.model", body);
    }
    return PERP_STATUS_BAD_INPUT;
}

/* The contacts' sets, and what their rows have beside J x. */
static perp_status fill_contacts(perp_instant *in, perp_error *error)
{
    contact_step *step = in->step;
    const perp_contact_set *set = step->contacts;
    ptrdiff_t at = 0;
    perp_contact_velocity(set, in->v, step->velocity);
    for (int i = 0; i < step->system.contact_count; i++) {
        const int index = step->set_index[i];
        in->jacobian[i] = at;
        at += (ptrdiff_t)rows_of(in, i) * (step->dof_start[i + 1] - step->dof_start[i]);
        in->kind[i] = classify(in, i, step->velocity + (ptrdiff_t)set->rows * index, in->slip[i]);
        if (in->kind[i] != INSTANT_INACTIVE && in->wanted[index]) {
            return no_acceleration(step, &set->contacts[index], error);
        }
        if (in->kind[i] == INSTANT_ROLL_POLYGON && rows_of(in, i) > 3) {
            return ellipsoid_rests(step, &set->contacts[index], error);
        }
    }
    perp_contact_velocity(set, in->given, step->velocity);
    for (int i = 0; i < step->system.contact_count; i++) {
        const int index = step->set_index[i];
        const double *given = step->velocity + (ptrdiff_t)set->rows * index;
        for (int r = 0; r < rows_of(in, i); r++) {
            const perp_contact *c = &set->contacts[index];
            step->offset[step->row_start[i] + r] =
                along_row(c, r, given, set->rows) + along_row(c, r, in->turning[index], 3);
        }
    }
    return PERP_STATUS_OK;
}

static void fill_loops(perp_instant *in, const perp_kinematics *kinematics)
{
    contact_step *step = in->step;
    const perp_model *model = step->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            double target = -in->loop_turning[all];
            for (int k = 0; k < model->nv; k++) {
                target -= step->loop_jacobian[(ptrdiff_t)r * model->nv + k] * in->given[k];
            }
            if (step->equation_of[all] >= 0) {
                step->equality_target[step->equation_of[all]] = target;
            }
        }
    }
}

/* A joint at a limit is held by it while it rests there; perp_step_build has found where they are. */
static void fill_limits(perp_instant *in)
{
    contact_step *step = in->step;
    bool any = false;
    for (int k = 0; k < step->free_count; k++) {
        if (fabs(in->v[step->dof_of_free[k]]) > CLOSED) {
            step->lower[k] = -INFINITY;
            step->upper[k] = INFINITY;
        }
        any = any || isfinite(step->lower[k]) || isfinite(step->upper[k]);
    }
    step->system.lower = any ? step->lower : NULL;
    step->system.upper = any ? step->upper : NULL;
}

static void choose_units(perp_instant *in)
{
    const contact_step *step = in->step;
    const double *block = step->hessian;
    double inertia = 0.0;
    in->force_unit = step->force_unit;
    for (int b = 0; b < step->system.block_count; b++) {
        const int start = step->block_start[b], size = step->block_start[b + 1] - start;
        for (int i = 0; i < size; i++) {
            const int k = start + i;
            in->unit[k] = step->turns[k] ? 1.0 / step->length_unit : 1.0;
            inertia = fmax(inertia, block[(ptrdiff_t)i * size + i] * in->unit[k] * in->unit[k]);
            in->force_unit = fmax(in->force_unit, fabs(step->g[k]) * in->unit[k]);
        }
        block += (ptrdiff_t)size * size;
    }
    in->acceleration = in->force_unit / inertia;
}

/* ---- the LCP ----------------------------------------------------------------------------------------------------- */

/* Row `at` over x: weight times row r of contact i. */
static void put_row(perp_instant *in, int at, int i, int r, double weight)
{
    const contact_step *step = in->step;
    const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
    const double *row = step->jacobian + in->jacobian[i] + (ptrdiff_t)r * columns;
    for (int k = 0; k < columns; k++) {
        const int dof = step->dofs[start + k];
        in->m[(ptrdiff_t)at * in->problem.n + dof] += weight * row[k] * in->unit[dof];
    }
    in->q[at] += weight * step->offset[step->row_start[i] + r] / in->acceleration;
}

/* Column `at` in the balance: what one unit of it does along row r of contact i. */
static void put_column(perp_instant *in, int at, int i, int r, double weight)
{
    const contact_step *step = in->step;
    const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
    const double *row = step->jacobian + in->jacobian[i] + (ptrdiff_t)r * columns;
    for (int k = 0; k < columns; k++) {
        const int dof = step->dofs[start + k];
        in->m[(ptrdiff_t)dof * in->problem.n + at] -= weight * row[k] * in->unit[dof];
    }
}

static double *entry(perp_instant *in, int row, int column)
{
    return &in->m[(ptrdiff_t)row * in->problem.n + column];
}

static int contact_size(const perp_instant *in, int i)
{
    switch (in->kind[i]) {
    case INSTANT_INACTIVE:
        return 0;
    case INSTANT_ROLL_LINE:
        return 3;
    case INSTANT_ROLL_POLYGON:
        return 2 + in->rigid->wide.count;
    default:
        return 1;
    }
}

static void put_contact(perp_instant *in, int at, int i)
{
    const double mu = in->step->mu[i];
    if (in->kind[i] == INSTANT_INACTIVE) {
        return;
    }
    put_row(in, at, i, 0, 1.0);
    put_column(in, at, i, 0, 1.0);
    if (in->kind[i] == INSTANT_SLIDE) {
        for (int r = 1; r < rows_of(in, i); r++) {
            put_column(in, at, i, r, -mu * in->slip[i][r - 1]);
        }
    } else if (in->kind[i] == INSTANT_ROLL_LINE) {
        put_column(in, at, i, 1, -mu);
        put_row(in, at + 1, i, 1, 1.0);
        put_column(in, at + 1, i, 1, 1.0);
        *entry(in, at + 1, at + 2) = 1.0;
        *entry(in, at + 2, at) = 2.0 * mu;
        *entry(in, at + 2, at + 1) = -1.0;
    } else if (in->kind[i] == INSTANT_ROLL_POLYGON) {
        const rigid_polygon *d = &in->rigid->wide;
        const int sigma = at + 1 + d->count;
        *entry(in, sigma, at) = mu;
        for (int j = 0; j < d->count; j++) {
            for (int r = 1; r < 3; r++) {
                put_row(in, at + 1 + j, i, r, d->corner[j][r - 1]);
                put_column(in, at + 1 + j, i, r, d->corner[j][r - 1]);
            }
            *entry(in, at + 1 + j, sigma) = 1.0;
            *entry(in, sigma, at + 1 + j) = -1.0;
        }
    }
}

static void put_inertia(perp_instant *in)
{
    const contact_step *step = in->step;
    const perp_contact_qp *p = &step->system;
    const double *block = step->hessian, scale = in->acceleration / in->force_unit;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                *entry(in, i, k) = *block++ * scale * in->unit[i] * in->unit[k];
            }
            in->q[i] = step->g[i] * in->unit[i] / in->force_unit;
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            const double value = p->equality_values[k] * in->unit[p->equality_dofs[k]];
            *entry(in, p->n + i, p->equality_dofs[k]) = value;
            *entry(in, p->equality_dofs[k], p->n + i) = -value;
        }
        in->q[p->n + i] = -p->equality_target[i] / in->acceleration;
    }
}

static void put_limits(perp_instant *in, int at)
{
    const perp_contact_qp *p = &in->step->system;
    for (int k = 0; k < p->n && p->lower; k++) {
        for (int side = 0; side < 2; side++) {
            if (isfinite(side == 0 ? p->lower[k] : p->upper[k])) {
                *entry(in, at, k) = side == 0 ? 1.0 : -1.0;
                *entry(in, k, at++) = side == 0 ? -1.0 : 1.0;
            }
        }
    }
}

static int problem_size(const perp_instant *in)
{
    const perp_contact_qp *p = &in->step->system;
    int n = p->n + p->equality_count;
    for (int i = 0; i < p->contact_count; i++) {
        n += contact_size(in, i);
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        n += (isfinite(p->lower[k]) ? 1 : 0) + (isfinite(p->upper[k]) ? 1 : 0);
    }
    return n;
}

static perp_status fill_problem(perp_instant *in, perp_error *error)
{
    const perp_contact_qp *p = &in->step->system;
    const int n = problem_size(in);
    const block_array arrays[] = {PERP_ARRAY(in->m, (size_t)n * (size_t)n),
                                  PERP_ARRAY(in->q, n),
                                  PERP_ARRAY(in->z, n),
                                  PERP_ARRAY(in->w, n),
                                  PERP_ARRAY(in->ray, 2 * n),
                                  PERP_ARRAY(in->free, n)};
    const perp_status status =
        perp_block_arrays(&in->step->allocator, &in->matrix, arrays, sizeof arrays / sizeof *arrays, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    in->problem = (perp_mlcp){n, in->m, in->q, in->free};
    int at = p->n + p->equality_count;
    for (int i = 0; i < at; i++) {
        in->free[i] = true;
    }
    put_inertia(in);
    for (int i = 0; i < p->contact_count; i++) {
        put_contact(in, at, i);
        at += contact_size(in, i);
    }
    put_limits(in, at);
    double sum = 0.0; /* NaN where something is not finite */
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n * n; i++) {
        sum += 0.0 * in->m[i] + 0.0 * in->q[i % n];
    }
    return sum == 0.0 ? PERP_STATUS_OK
                      : perp_fail(error, PERP_STATUS_INFEASIBLE,
                                  "velocities or forces are too large %s: an acceleration is not finite",
                                  perp_step_when(in->step).text);
}

static perp_status reserve(perp_instant *in, perp_error *error)
{
    const int contacts = in->step->system.contact_count;
    const block_array arrays[] = {PERP_ARRAY(in->kind, contacts), PERP_ARRAY(in->slip, contacts),
                                  PERP_ARRAY(in->jacobian, contacts), PERP_ARRAY(in->unit, in->step->system.n)};
    return perp_block_arrays(&in->step->allocator, &in->sized, arrays, sizeof arrays / sizeof *arrays, error);
}

perp_status perp_instant_build(perp_instant *in, perp_step_context *context, perp_error *error)
{
    contact_step *step = in->step;
    perp_status status = reserve(in, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_bias_force(step->model, context->kinematics, in->v, in->v_near);
    fill_inertia(in, in->v_near);
    status = perp_dynamic_check_inertia(step, step->mass_scratch, error);
    status = status == PERP_STATUS_OK ? fill_contacts(in, error) : status;
    if (status != PERP_STATUS_OK || step->free_count == 0) {
        return status;
    }
    fill_loops(in, context->kinematics);
    fill_limits(in);
    choose_units(in);
    return fill_problem(in, error);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void read_contact(perp_instant *in, int i, const double *z)
{
    const double mu = in->step->mu[i];
    double *r = in->step->force + in->step->row_start[i];
    memset(r, 0, (size_t)rows_of(in, i) * sizeof *r);
    if (in->kind[i] == INSTANT_INACTIVE) {
        return;
    }
    r[0] = in->force_unit * z[0];
    if (in->kind[i] == INSTANT_SLIDE) {
        for (int k = 1; k < rows_of(in, i); k++) {
            r[k] = -mu * in->slip[i][k - 1] * r[0];
        }
    } else if (in->kind[i] == INSTANT_ROLL_LINE) {
        r[1] = in->force_unit * z[1] - mu * r[0];
    } else if (in->kind[i] == INSTANT_ROLL_POLYGON) {
        const rigid_polygon *d = &in->rigid->wide;
        for (int j = 0; j < d->count; j++) {
            r[1] += in->force_unit * z[1 + j] * d->corner[j][0];
            r[2] += in->force_unit * z[1 + j] * d->corner[j][1];
        }
    }
}

void perp_instant_read(perp_instant *in, const double *z)
{
    contact_step *step = in->step;
    const perp_contact_qp *p = &step->system;
    int at = p->n + p->equality_count;
    for (int k = 0; k < p->n; k++) {
        step->x[k] = in->acceleration * in->unit[k] * z[k];
        step->y_lower[k] = step->y_upper[k] = 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        step->y_equality[i] = in->force_unit * z[p->n + i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        read_contact(in, i, z + at);
        at += contact_size(in, i);
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        const double unit = in->force_unit / in->unit[k];
        step->y_lower[k] = isfinite(p->lower[k]) ? unit * z[at++] : 0.0;
        step->y_upper[k] = isfinite(p->upper[k]) ? unit * z[at++] : 0.0;
    }
}

void perp_instant_at_contact(const perp_instant *in, int i, double a[4])
{
    const contact_step *step = in->step;
    const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
    const double *row = step->jacobian + in->jacobian[i];
    a[0] = a[1] = a[2] = a[3] = 0.0;
    for (int r = 0; r < rows_of(in, i); r++, row += columns) {
        a[r] = step->offset[step->row_start[i] + r];
        for (int k = 0; k < columns; k++) {
            a[r] += row[k] * step->x[step->dofs[start + k]];
        }
    }
}

/* How far a contact's friction is from its law, forces over F. */
static double friction_error(const perp_instant *in, int i, const double a[4])
{
    const contact_step *step = in->step;
    const double *r = step->force + step->row_start[i], limit = step->mu[i] * r[0];
    const double ft[2] = {rows_of(in, i) > 1 ? r[1] : 0.0, rows_of(in, i) > 2 ? r[2] : 0.0};
    if (in->kind[i] == INSTANT_SLIDE) {
        const double turning = rows_of(in, i) > 3 ? r[3] + limit * in->slip[i][2] : 0.0;
        const double along = hypot(ft[0] + limit * in->slip[i][0], ft[1] + limit * in->slip[i][1]);
        return hypot(along, turning) / step->force_unit;
    }
    const rigid_polygon *d = perp_rigid_polygon(in->rigid, rows_of(in, i));
    if (in->kind[i] == INSTANT_SMOOTH || !d) {
        return hypot(ft[0], ft[1]) / step->force_unit;
    }
    double outside = 0.0;
    for (int j = 0; j < d->count; j++) {
        outside = fmax(outside, d->facet[j][0] * ft[0] + d->facet[j][1] * ft[1] - limit);
    }
    const double missed = limit * perp_rigid_most_work(d, a + 1) + a[1] * ft[0] + a[2] * ft[1];
    return fmax(outside, fabs(missed) / in->acceleration) / step->force_unit;
}

void perp_instant_evaluate(perp_instant *in)
{
    const contact_step *step = in->step;
    const perp_contact_qp *p = &step->system;
    perp_residuals *residuals = &step->info->residuals;
    double complementarity = 0.0, cone = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        double a[4];
        if (in->kind[i] == INSTANT_INACTIVE) {
            continue;
        }
        perp_instant_at_contact(in, i, a);
        const double fn = step->force[step->row_start[i]] / step->force_unit;
        complementarity = fmax(complementarity, fabs(fmin(fn, a[0] / in->acceleration)));
        cone = fmax(cone, friction_error(in, i, a));
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        const double x = step->x[k] / (in->acceleration * in->unit[k]), unit = in->unit[k] / step->force_unit;
        if (isfinite(p->lower[k])) {
            complementarity = fmax(complementarity, fabs(fmin(step->y_lower[k] * unit, x)));
        }
        if (isfinite(p->upper[k])) {
            complementarity = fmax(complementarity, fabs(fmin(step->y_upper[k] * unit, -x)));
        }
    }
    residuals->balance = perp_step_balance(step);
    residuals->complementarity = complementarity;
    residuals->cone = cone;
}
