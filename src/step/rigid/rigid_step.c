#include "problem/friction_law.h"
#include "scene/cone.h"
#include "solver/friction_soft.h"
#include "step/common/dynamic.h"
#include "step/common/rung_cone.h"
#include "step/rigid/rigid_step.h"

#include <string.h>

static const double RIGHT_ANGLE = 1.57079632679489661923;

/* ---- D ----------------------------------------------------------------------------------------------------------- */

static void fill_polygons(rigid_step *s, perp_cone cone, int rays)
{
    s->line.count = 2;
    for (int j = 0; j < 2; j++) {
        s->line.corner[j][0] = s->line.facet[j][0] = j == 0 ? 1.0 : -1.0;
        s->line.corner[j][1] = s->line.facet[j][1] = 0.0;
    }
    s->wide.count = perp_cone_corner_count(cone, rays);
    for (int j = 0; j < s->wide.count; j++) {
        perp_cone_corner(cone, rays, j, s->wide.corner[j]);
        perp_cone_facet(cone, rays, j, s->wide.facet[j]);
    }
}

const rigid_polygon *perp_rigid_polygon(const rigid_step *s, int rows)
{
    const rigid_polygon *polygon = rows == 2 ? &s->line : &s->wide;
    return rows < 2 || polygon->count == 0 ? NULL : polygon;
}

/* Between the equator and a pole of an ellipsoid. */
static int latitude_count(const rigid_polygon *d)
{
    return (d->count + 3) / 4;
}

int perp_rigid_corner_count(const rigid_polygon *d, int rows)
{
    return !d ? 0 : rows > 3 ? d->count * (2 * latitude_count(d) - 1) + 2 : d->count;
}

void perp_rigid_corner(const rigid_polygon *d, int j, double corner[3])
{
    const int most = latitude_count(d), ring = j / d->count, poles = d->count * (2 * most - 1);
    const int latitude = j >= poles ? (j == poles ? most : -most) : ring % 2 == 0 ? ring / 2 : -(ring + 1) / 2;
    const double angle = RIGHT_ANGLE * latitude / most, flat = j >= poles ? 0.0 : cos(angle);
    corner[0] = flat * d->corner[j % d->count][0];
    corner[1] = flat * d->corner[j % d->count][1];
    corner[2] = latitude == 0 ? 0.0 : sin(angle);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static perp_status hold_fixed(rigid_step *s, const contact_step *step, perp_error *error)
{
    const int nv = step->model->nv, n = nv + step->foot_capacity, loops = 6 * step->model->scene->loop_count;
    const int corners = perp_cone_corner_count(perp_rung_cone(step->rung, step->settings), step->settings->rays);
    const block_array arrays[] = {PERP_ARRAY(s->wide.corner, corners),
                                  PERP_ARRAY(s->wide.facet, corners),
                                  PERP_ARRAY(s->line.corner, 2),
                                  PERP_ARRAY(s->line.facet, 2),
                                  PERP_ARRAY(s->hessian, step->model->mass_size + step->foot_capacity),
                                  PERP_ARRAY(s->g, n),
                                  PERP_ARRAY(s->balance, n),
                                  PERP_ARRAY(s->lower, n),
                                  PERP_ARRAY(s->upper, n),
                                  PERP_ARRAY(s->target, loops),
                                  PERP_ARRAY(s->part_of, n),
                                  PERP_ARRAY(s->now_settles, nv),
                                  PERP_ARRAY(s->unsettled, nv),
                                  PERP_ARRAY(s->point.x, n),
                                  PERP_ARRAY(s->point.y_lower, n),
                                  PERP_ARRAY(s->point.y_upper, n),
                                  PERP_ARRAY(s->point.y_equality, loops),
                                  PERP_ARRAY(s->better.x, n),
                                  PERP_ARRAY(s->better.y_lower, n),
                                  PERP_ARRAY(s->better.y_upper, n),
                                  PERP_ARRAY(s->better.y_equality, loops),
                                  PERP_ARRAY(s->spare.x, n),
                                  PERP_ARRAY(s->spare.y_lower, n),
                                  PERP_ARRAY(s->spare.y_upper, n),
                                  PERP_ARRAY(s->spare.y_equality, loops)};
    return perp_block_arrays(&step->allocator, &s->fixed, arrays, sizeof arrays / sizeof *arrays, error);
}

perp_status perp_rigid_open(contact_step *step, perp_error *error)
{
    rigid_step *s = step->allocator.allocate(step->allocator.context, sizeof *s);
    if (!s) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while starting a run");
    }
    memset(s, 0, sizeof *s);
    step->own = s;
    perp_status status = hold_fixed(s, step, error);
    if (status == PERP_STATUS_OK) {
        fill_polygons(s, perp_rung_cone(step->rung, step->settings), step->settings->rays);
        status = perp_kept_open(&s->kept, step, 3, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_cone_program_open(&s->program, &step->allocator, error);
    }
    status = status == PERP_STATUS_OK ? perp_friction_workspace_create(&step->allocator, &s->friction, error) : status;
    return status == PERP_STATUS_OK ? perp_friction_soft_workspace_create(&step->allocator, &s->springs, error)
                                    : status;
}

void perp_rigid_close(contact_step *step)
{
    rigid_step *s = step->own;
    if (!s) {
        return;
    }
    perp_cone_program_close(&s->program);
    perp_friction_workspace_free(s->friction);
    perp_friction_soft_workspace_free(s->springs);
    perp_lcp_workspace_free(s->lcp);
    perp_kept_close(&s->kept, step);
    memory_block *const blocks[] = {&s->fixed, &s->sized, &s->lcp_block, &s->modes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        perp_block_free(&step->allocator, blocks[i]);
    }
    step->allocator.release(step->allocator.context, s);
    step->own = NULL;
}

static perp_status reserve(rigid_step *s, const contact_step *step, perp_error *error)
{
    if (s->sized.memory && s->contact_capacity == step->contact_capacity) {
        return PERP_STATUS_OK;
    }
    s->contact_capacity = step->contact_capacity;
    const int rows = 4 * s->contact_capacity; /* of an ellipsoid; of others 3 */
    const block_array arrays[] = {PERP_ARRAY(s->offset, rows),  PERP_ARRAY(s->u, rows),
                                  PERP_ARRAY(s->row_of, rows),  PERP_ARRAY(s->held, s->contact_capacity),
                                  PERP_ARRAY(s->point.y, rows), PERP_ARRAY(s->better.y, rows),
                                  PERP_ARRAY(s->spare.y, rows)};
    return perp_block_arrays(&step->allocator, &s->sized, arrays, sizeof arrays / sizeof *arrays, error);
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

/* The unit of velocities. */
static double speed_unit(const rigid_step *s, const contact_step *step)
{
    const double across = step->length_unit / step->h;
    const double mass = step->dynamic && !s->in_sizes ? step->heaviest : 0.0;
    const double gain = step->force_unit * step->h / (perp_dynamic_mass_scale(step) * mass);
    return mass > 0.0 ? fmin(gain, across) : across;
}

static void fill_system(rigid_step *s, const contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const double speed = speed_unit(s, step);
    s->speed = speed;
    s->gap = speed * step->h / step->length_unit;
    s->arm = fmin(1.0, step->length_unit);
    s->turns = step->turns;
    const step_scaled own = {s->hessian, s->g, s->lower, s->upper, s->target};
    perp_step_scale(step, speed, &own);
    for (int i = 0; i < p->row_start[p->contact_count]; i++) {
        s->offset[i] = p->offset[i] / speed;
    }
    s->qp = perp_step_scaled_system(step, &own);
    s->qp.offset = s->offset;
    perp_step_clear_point(&s->qp, &s->point);
}

perp_status perp_rigid_begin(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_status status = reserve(s, step, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    fill_system(s, step);
    return PERP_STATUS_OK;
}

/* ---- residuals --------------------------------------------------------------------------------------------------- */

void perp_rigid_add_row(const rigid_step *s, int i, const double *jacobian, int r, double weight, double *out)
{
    const perp_contact_qp *p = &s->qp;
    const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
    for (int k = 0; k < columns; k++) {
        out[p->dofs[start + k]] += weight * jacobian[(ptrdiff_t)r * columns + k];
    }
}

double perp_rigid_most_work(const rigid_polygon *d, const double *u)
{
    double most = 0.0;
    for (int j = 0; d && j < d->count; j++) {
        most = fmax(most, -(d->corner[j][0] * u[0] + d->corner[j][1] * u[1]));
    }
    return d ? most : hypot(u[0], u[1]);
}

/* How much of mu fn `ft` needs: the gauge of D. */
static double gauge(const rigid_polygon *d, const double *ft)
{
    double most = 0.0;
    for (int j = 0; d && j < d->count; j++) {
        most = fmax(most, d->facet[j][0] * ft[0] + d->facet[j][1] * ft[1]);
    }
    return d ? most : hypot(ft[0], ft[1]);
}

/* Of a polygon's gauge, or most work, and the third entry, those of an ellipsoid: the meridian is a circle, or has the
 * corners of perp_rigid_corner, whose edges are half-way between and farther in. */
static double over_latitudes(const rigid_polygon *d, double flat, double up, bool edges)
{
    const int count = d ? latitude_count(d) : 0;
    double most = 0.0;
    for (int k = 0; k < count + (edges ? 0 : 1); k++) {
        const double angle = RIGHT_ANGLE * (k + (edges ? 0.5 : 0.0)) / count;
        most = fmax(most, cos(angle) * flat + sin(angle) * fabs(up));
    }
    return !d ? hypot(flat, up) : edges ? most / cos(0.5 * RIGHT_ANGLE / count) : most;
}

/* s->gap brings velocities to L in a step. An ellipsoid has a third row. */
static double contact_cone(const rigid_step *s, int rows, double mu, const double *r, const double *u)
{
    const double ft[3] = {rows > 1 ? r[1] : 0.0, rows > 2 ? r[2] : 0.0, rows > 3 ? r[3] : 0.0};
    const double ut[3] = {rows > 1 ? u[1] : 0.0, rows > 2 ? u[2] : 0.0, rows > 3 ? u[3] : 0.0};
    const rigid_polygon *d = perp_rigid_polygon(s, rows);
    const rigid_polygon *ball = rows > 3 ? d : NULL;
    const double used = over_latitudes(ball, gauge(d, ft), ft[2], true);
    const double most = over_latitudes(ball, perp_rigid_most_work(d, ut), ut[2], false);
    if (rows < 2 || mu == 0.0) {
        return used;
    }
    const double limit = mu * fmax(0.0, r[0]), work = ft[0] * ut[0] + ft[1] * ut[1] + ft[2] * ut[2];
    return fmax(used - limit, s->gap * (limit * most + work));
}

bool perp_rigid_has_ellipsoid(const contact_step *step)
{
    for (int i = 0; i < step->system.contact_count; i++) {
        if (step->row_start[i + 1] - step->row_start[i] > 3) {
            return true;
        }
    }
    return false;
}

rigid_residual perp_rigid_evaluate(rigid_step *s, const double *mu, const perp_convex_point *point)
{
    const perp_contact_qp *p = &s->qp;
    const perp_contact_friction as_friction = {p, mu};
    rigid_residual worst = {.complementarity = perp_step_off_constraints(p, point, s->gap)};
    perp_contact_friction_velocity(&as_friction, point->x, s->u);
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        worst.complementarity = fmax(worst.complementarity, fabs(fmin(point->y[start], s->gap * s->u[start])));
        worst.cone = fmax(worst.cone, contact_cone(s, rows, mu[i], point->y + start, s->u + start));
    }
    perp_step_balance_of(p, point, s->balance);
    for (int i = 0; i < p->n; i++) {
        worst.balance = fmax(worst.balance, fabs(s->balance[i]) / (s->turns[i] ? s->arm : 1.0));
    }
    return worst;
}

double perp_rigid_worst(rigid_residual residual)
{
    return fmax(residual.balance, fmax(residual.complementarity, residual.cone));
}

/* ---- the end of a solve ------------------------------------------------------------------------------------------ */

void perp_rigid_hand_over(contact_step *step)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    const rigid_residual residual = perp_rigid_evaluate(s, step->mu, &s->point);
    step->info->residuals.complementarity = residual.complementarity;
    step->info->residuals.cone = residual.cone;
    perp_step_take_point(step, &s->point, s->speed);
    for (int i = 0; i < p->row_start[p->contact_count]; i++) {
        step->force[i] = step->force_unit * s->point.y[i];
    }
}

/* ---- from step to step ------------------------------------------------------------------------------------------- */

static void put_forces(const contact_step *step, int i, double *value)
{
    for (int r = 0; r < 3; r++) {
        const int row = step->row_start[i] + r;
        value[r] = row < step->row_start[i + 1] ? step->force[row] : 0.0;
    }
}

void perp_rigid_accept(contact_step *step)
{
    rigid_step *s = step->own;
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        if (step->parts.accepted[step->tree_of_free[i]]) {
            const int more = s->unsettled[dof] < RIGID_UNSETTLED ? s->unsettled[dof] + 1 : RIGID_UNSETTLED;
            s->unsettled[dof] = s->now_settles[dof] ? 0 : more;
        }
    }
    perp_kept_accept(&s->kept, step, put_forces);
}

void perp_rigid_put(const contact_step *step, memory_writer *w)
{
    const rigid_step *s = step->own;
    for (int i = 0; i < step->model->nv; i++) {
        if (!step->prescribed[i]) {
            perp_memory_put(w, s->unsettled[i]);
        }
    }
    perp_kept_put(&s->kept, step, w);
}

bool perp_rigid_take(contact_step *step, memory_reader *r)
{
    rigid_step *s = step->own;
    for (int i = 0; i < step->model->nv; i++) {
        if (!step->prescribed[i]) {
            s->unsettled[i] = perp_memory_take_int(r, 0, RIGID_UNSETTLED);
        }
    }
    return perp_kept_take(&s->kept, step, r);
}

int perp_rigid_unsettled(const contact_step *step)
{
    const rigid_step *s = step->own;
    int most = 0;
    for (int i = 0; i < step->free_count; i++) {
        const int own = s->unsettled[step->dof_of_free[i]];
        most = own > most ? own : most;
    }
    return most;
}

void perp_rigid_recall(contact_step *step)
{
    rigid_step *s = step->own;
    for (int i = 0, hint = 0; i < step->system.contact_count; i++) {
        const double *force = perp_kept_find(&s->kept, step, i, &hint);
        const double load = step->contacts->contacts[step->set_index[i]].load; /* of a support, and known */
        s->held[i] = load > 0.0 ? load / step->force_unit : force ? force[0] / step->force_unit : 0.0;
    }
}

bool perp_rigid_recall_point(contact_step *step)
{
    rigid_step *s = step->own;
    const perp_contact_qp *p = &s->qp;
    if (!step->dynamic || !perp_kept_has(&s->kept, step)) {
        return false;
    }
    for (int i = 0, hint = 0; i < p->contact_count; i++) {
        const double *force = perp_kept_find(&s->kept, step, i, &hint);
        for (int r = p->row_start[i]; r < p->row_start[i + 1]; r++) {
            s->better.y[r] = force ? force[r - p->row_start[i]] / step->force_unit : 0.0;
        }
    }
    perp_kept_read_motion(&s->kept, step, s->speed, &s->better);
    return true;
}
