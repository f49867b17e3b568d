/* Points of a friction problem: scaled and as given, residuals, and what the judge says. */
#include "linalg/dense_kernel.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

static int row_total(const perp_friction_workspace *f)
{
    if (f->local) {
        return f->local->contacts * f->local->dim;
    }
    const perp_contact_qp *p = f->contact->system;
    return p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
}

void perp_friction_export(perp_friction_workspace *f, const perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    memset(f->point.y, 0, (size_t)row_total(f) * sizeof(double));
    for (int i = 0; i < c->contact_slacks; i++) {
        f->point.y[f->row_of[i]] = f->force * f->row_scale[i] * at->y[i];
    }
    for (int j = 0; j < c->n; j++) {
        f->point.x[j] = f->velocity * f->dof_scale[j] * at->x[j];
        f->point.y_lower[j] = f->point.y_upper[j] = 0.0;
    }
    for (int k = 0; k < c->bounds; k++) {
        double *end = c->bound_sign[k] > 0.0 ? f->point.y_lower : f->point.y_upper;
        const int dof = c->bound_dof[k];
        end[dof] = f->force * at->y[c->contact_slacks + k] / f->dof_scale[dof];
    }
    for (int i = 0; i < c->e; i++) {
        f->point.y_equality[i] = f->force * f->equation_scale[i] * at->z[i];
    }
}

static double finite_or_zero(const double *from, int index)
{
    return from && isfinite(from[index]) ? from[index] : 0.0;
}

void perp_friction_import(perp_friction_workspace *f, const perp_convex_point *from, perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    for (int i = 0; i < c->contact_slacks; i++) {
        at->y[i] = finite_or_zero(from->y, f->row_of[i]) / (f->force * f->row_scale[i]);
    }
    for (int j = 0; j < c->n; j++) {
        at->x[j] = finite_or_zero(from->x, j) / (f->velocity * f->dof_scale[j]);
    }
    for (int k = 0; k < c->bounds; k++) {
        const int dof = c->bound_dof[k];
        const double *end = c->bound_sign[k] > 0.0 ? from->y_lower : from->y_upper;
        at->y[c->contact_slacks + k] = finite_or_zero(end, dof) * f->dof_scale[dof] / f->force;
    }
    for (int i = 0; i < c->e; i++) {
        at->z[i] = finite_or_zero(from->y_equality, i) / (f->force * f->equation_scale[i]);
    }
}

static bool is_finite(const perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    const perp_convex_point *point = &f->point;
    return perp_dense_is_finite(row_total(f), point->y) && perp_dense_is_finite(c->n, point->x) &&
           perp_dense_is_finite(c->n, point->y_lower) && perp_dense_is_finite(c->n, point->y_upper) &&
           perp_dense_is_finite(c->e, point->y_equality);
}

bool perp_friction_judge(perp_friction_workspace *f, perp_convex_iterate *at)
{
    perp_convex_workspace *c = f->convex;
    perp_friction_export(f, at);
    double near = INFINITY;
    if (!is_finite(f)) {
        f->judged = INFINITY; /* a scaled point may overflow in the units of the problem */
        f->judged_parts = (perp_contact_friction_residual){INFINITY, INFINITY, INFINITY};
    } else if (f->local) {
        f->judged = perp_friction_residual_with(f->local, f->point.y, f->unit, &near);
        f->judged_parts = (perp_contact_friction_residual){0.0, f->judged, 0.0};
    } else {
        f->judged_parts = perp_contact_friction_evaluate_with(f->contact, &f->point, f->unit, &near);
        f->judged = perp_contact_friction_residual_largest(f->judged_parts);
    }
    f->judged = near > PERP_NEAR ? fmax(f->judged, near) : f->judged;
    if (f->judged < f->best_residual) {
        f->best_residual = f->judged;
        f->best_parts = f->judged_parts;
        perp_convex_copy(c, at, &c->best);
    }
    return f->judged <= f->tolerance;
}

bool perp_friction_must_stop(const perp_friction_workspace *f)
{
    return (f->cancel && *f->cancel) || f->factorisations >= f->max_factorisations;
}

/* By how much a slack has given way during a step of friction_proximal.c. */
static double given_way(const perp_friction_workspace *f, const double *y, int slack)
{
    return f->give > 0.0 ? f->give * (y[slack] - f->give_from[slack]) : 0.0;
}

double perp_friction_natural(perp_friction_workspace *f, const double *u, const double *y)
{
    const perp_convex_workspace *c = f->convex;
    const double pace = perp_friction_pace(f);
    double largest = 0.0;
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            f->t[i] = 0.0;
            f->z[i] = u[i];
            f->argument[i] = y[i] - pace * (u[i] + given_way(f, y, i));
            f->natural[i] = f->argument[i] > 0.0 ? y[i] - f->argument[i] : y[i];
            if (f->smooth > 0.0) { /* less what the smoothed projection is above the other */
                f->natural[i] -= perp_friction_smooth_value(-fabs(f->argument[i]), f->smooth);
            }
            largest = fmax(largest, fabs(f->natural[i]));
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start, size = c->cones[k].size;
        double slip = 0.0, projected[3];
        for (int i = start + 1; i < start + size; i++) {
            slip += u[i] * u[i];
        }
        const double round = PERP_FRICTION_ROUNDING * f->smooth;
        slip = sqrt(slip + round * round);
        for (int i = start; i < start + size; i++) {
            f->t[i] = i > start && slip > SLIP_LEAST ? u[i] / slip : 0.0;
            f->z[i] = i == start ? u[i] + slip : u[i];
            f->argument[i] = y[i] - pace * (f->z[i] + given_way(f, y, i));
        }
        if (f->smooth > 0.0) {
            perp_friction_smooth_project(size, f->smooth, f->argument + start, projected);
        } else {
            perp_cone_project(size, f->argument + start, projected);
        }
        for (int i = 0; i < size; i++) {
            f->natural[start + i] = y[start + i] - projected[i];
            largest = fmax(largest, fabs(f->natural[start + i]));
        }
    }
    return largest;
}

double perp_friction_look(perp_friction_workspace *f, const perp_convex_iterate *at)
{
    perp_convex_workspace *c = f->convex;
    double largest = 0.0;
    if (f->local) {
        perp_friction_multiply_dense(f, at->y, f->u);
        perp_dense_subtract(c->m, -1.0, f->q, f->u);
    } else {
        perp_convex_slacks(c, at->x, f->u);
        perp_convex_dual_residual(c, at, c->rd);
        perp_convex_equations(c, at->x, c->rc);
        for (int i = 0; i < c->n; i++) {
            largest = fmax(largest, fabs(c->rd[i]));
        }
        for (int i = 0; i < c->e; i++) {
            largest = fmax(largest, fabs(c->rc[i]));
        }
    }
    f->error = fmax(largest, perp_friction_natural(f, f->u, at->y));
    return f->error;
}

void perp_friction_clear(const perp_friction_workspace *f, perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    memset(at->x, 0, (size_t)c->n * sizeof(double));
    memset(at->y, 0, (size_t)c->m * sizeof(double));
    memset(at->z, 0, (size_t)c->e * sizeof(double));
}

void perp_friction_fill_heads(const perp_convex_workspace *c, double value, double *slacks)
{
    memset(slacks, 0, (size_t)c->m * sizeof *slacks);
    for (int r = 0; r < c->range_count; r++) {
        for (int i = c->ranges[r].start; i < c->ranges[r].end; i++) {
            slacks[i] = value;
        }
    }
    for (int k = 0; k < c->cone_count; k++) {
        slacks[c->cones[k].start] = value;
    }
}
