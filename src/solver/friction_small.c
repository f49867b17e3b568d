#include "solver/friction_small.h"

#include "linalg/dense_kernel.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <perp/linalg.h>
#include <string.h>

/* ---- the problem ------------------------------------------------------------------------------------------------ */

/* S so that the trace of a contact's block is its number of rows; false where numbers fail. */
static bool scale_to_one(perp_friction_small *small)
{
    const int m = small->m;
    double most = 0.0;
    for (int i = 0; i < small->contacts; i++) {
        const int first = small->start[i], rows = small->start[i + 1] - first;
        double trace = 0.0;
        for (int k = first; k < first + rows; k++) {
            trace += small->scale[k] * small->scale[k] * small->w[k * m + k];
        }
        const double c = trace > 0.0 ? sqrt(rows / trace) : 1.0;
        for (int k = first; k < first + rows; k++) {
            small->scale[k] *= c;
            small->q[k] *= small->scale[k];
            most = fabs(small->q[k]) > most ? fabs(small->q[k]) : most;
        }
    }
    small->unit = most > 0.0 ? most : 1.0;
    const double inverse = 1.0 / small->unit;
    for (int i = 0; i < m; i++) {
        small->q[i] *= inverse;
        for (int j = 0; j < m; j++) {
            small->w[i * m + j] *= small->scale[i] * small->scale[j];
        }
    }
    return isfinite(inverse) && perp_dense_is_finite(m * m, small->w) && perp_dense_is_finite(m, small->q);
}

/* W and q by the rows that are kept: those that a contact was given, or its normal where it has no friction. */
static bool take(perp_friction_small *small, const perp_friction *p)
{
    const int size = p->contacts * p->dim, *given_start = small->contact ? small->contact->system->row_start : NULL;
    small->contacts = p->contacts;
    small->dim = p->dim;
    small->m = small->start[0] = 0;
    for (int i = 0; i < p->contacts; i++) {
        const int given = given_start ? given_start[i + 1] - given_start[i] : p->dim;
        const int rows = given > 1 && p->mu[i] >= FRICTIONLESS ? given : 1;
        for (int k = 0; k < rows; k++) {
            small->row_of[small->m] = i * p->dim + k;
            small->scale[small->m++] = k == 0 && rows > 1 ? 1.0 / p->mu[i] : 1.0;
        }
        small->start[i + 1] = small->m;
    }
    for (int i = 0; i < small->m; i++) {
        small->q[i] = p->q[small->row_of[i]];
        for (int j = 0; j < small->m; j++) {
            small->w[i * small->m + j] = p->w[small->row_of[i] * size + small->row_of[j]];
        }
    }
    return scale_to_one(small);
}

/* The arrays of the problem without bodies; those of the methods serve until these begin. */
static perp_friction_reduction reduction_of(perp_friction_small *small)
{
    return (perp_friction_reduction){.w = small->matrix,
                                     .q = small->u,
                                     .mu = small->t,
                                     .factor = small->factor,
                                     .free_v = small->v,
                                     .work = small->work};
}

bool perp_friction_small_take_contact(perp_friction_small *small, const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    if (p->contact_count < 1 || p->contact_count > PERP_FRICTION_SMALL || p->n > PERP_FRICTION_SMALL_UNKNOWNS ||
        p->lower || p->upper || perp_contact_friction_as_friction_size(problem).factor > PERP_FRICTION_SMALL_ENTRIES) {
        return false;
    }
    const perp_friction_reduction reduction = reduction_of(small);
    perp_friction friction;
    small->contact = problem;
    small->local = NULL;
    return perp_contact_friction_as_friction(problem, &reduction, &friction, NULL) == PERP_STATUS_OK &&
           take(small, &friction);
}

bool perp_friction_small_take_local(perp_friction_small *small, const perp_friction *problem)
{
    small->contact = NULL;
    small->local = problem;
    return problem->contacts >= 1 && problem->contacts <= PERP_FRICTION_SMALL && take(small, problem);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static bool judge(perp_friction_small *small, const perp_friction_settings *settings)
{
    const double unit = settings->relative ? 0.0 : 1.0;
    const int size = small->contacts * small->dim;
    double near = INFINITY;
    memset(small->local_force, 0, (size_t)size * sizeof(double));
    for (int i = 0; i < small->m; i++) {
        small->local_force[small->row_of[i]] = small->unit * small->scale[i] * small->r[i];
    }
    if (small->local) {
        small->residual = perp_dense_is_finite(size, small->local_force)
                              ? perp_friction_residual_with(small->local, small->local_force, unit, &near)
                              : INFINITY;
        small->parts = (perp_contact_friction_residual){0.0, small->residual, 0.0};
    } else {
        const perp_friction_reduction reduction = reduction_of(small);
        const perp_convex_point point = {.x = small->v, .y = small->force};
        perp_contact_friction_from_friction(small->contact, &reduction, small->local_force, &point);
        small->parts = perp_contact_friction_evaluate_with(small->contact, &point, unit, &near);
        small->residual = perp_contact_friction_residual_largest(small->parts);
    }
    return small->residual <= settings->tolerance && near <= PERP_NEAR;
}

bool perp_friction_small_is_unique(perp_friction_small *small)
{
    const int m = small->m;
    memcpy(small->matrix, small->w, (size_t)(m * m) * sizeof(double));
    bool unique = perp_cholesky_factor(m, small->matrix, m, NULL) == PERP_STATUS_OK;
    for (int i = 0; i < m && unique; i++) {
        const double pivot = small->matrix[i * (m + 1)];
        unique = pivot * pivot > SMALL_UNIQUE;
    }
    return unique;
}

/* ---- the methods ------------------------------------------------------------------------------------------------ */

/* Each contact in turn; the largest change of a force, infinity where one has no exact solution. */
static double sweep(perp_friction_small *small)
{
    const int m = small->m;
    double largest = 0.0;
    for (int i = 0; i < small->contacts; i++) {
        const int first = small->start[i], rows = small->start[i + 1] - first;
        double q[3], before[3];
        for (int k = 0; k < rows; k++) {
            before[k] = small->r[first + k];
            small->r[first + k] = 0.0;
        }
        for (int k = 0; k < rows; k++) {
            q[k] = small->q[first + k] + perp_dense_dot(m, small->w + (ptrdiff_t)(first + k) * m, small->r);
        }
        if (!perp_friction_one_contact(rows, small->w + (ptrdiff_t)first * (m + 1), m, q, small->r + first)) {
            return INFINITY;
        }
        for (int k = 0; k < rows; k++) {
            const double change = fabs(small->r[first + k] - before[k]);
            largest = change > largest ? change : largest;
        }
    }
    return largest;
}

/* u, t, argument and the natural map at r; returns the sum of its squares, and its largest entry. */
static double look(perp_friction_small *small, const double *r, double *largest)
{
    const int m = small->m;
    double sum = 0.0;
    *largest = 0.0;
    for (int i = 0; i < small->contacts; i++) {
        const int first = small->start[i], rows = small->start[i + 1] - first;
        double slip = 0.0, projected[3];
        for (int k = first; k < first + rows; k++) {
            small->u[k] = small->q[k] + perp_dense_dot(m, small->w + (ptrdiff_t)k * m, r);
            slip += k > first ? small->u[k] * small->u[k] : 0.0;
        }
        slip = sqrt(slip);
        for (int k = first; k < first + rows; k++) {
            small->t[k] = k > first && slip > SLIP_LEAST ? small->u[k] / slip : 0.0;
            small->argument[k] = r[k] - small->u[k] - (k == first ? slip : 0.0);
        }
        perp_cone_project(rows, small->argument + first, projected);
        for (int k = 0; k < rows; k++) {
            const double entry = r[first + k] - projected[k];
            small->natural[first + k] = entry;
            sum += entry * entry;
            *largest = fabs(entry) > *largest ? fabs(entry) : *largest;
        }
    }
    return sum;
}

/* Newton's direction; false where its matrix is singular. */
static bool find_step(perp_friction_small *small, double reg)
{
    const int m = small->m;
    small->factorisations++;
    for (int i = 0; i < small->contacts; i++) {
        const int first = small->start[i], rows = small->start[i + 1] - first;
        double b[9], g[9];
        perp_friction_newton_blocks(rows, small->argument + first, small->t + first, reg, 0.0, b, g);
        for (int k = 0; k < rows; k++) {
            double *row = small->matrix + (ptrdiff_t)(first + k) * m;
            memset(row, 0, (size_t)m * sizeof *row);
            for (int j = 0; j < rows; j++) {
                perp_dense_subtract(m, -g[k * rows + j], small->w + (ptrdiff_t)(first + j) * m, row);
            }
            for (int j = 0; j < rows; j++) {
                row[first + j] += b[k * rows + j];
            }
            small->step[first + k] = -small->natural[first + k];
        }
    }
    if (perp_lu_factor(m, small->matrix, m, small->pivots, NULL) != PERP_STATUS_OK) {
        return false;
    }
    perp_lu_solve(m, small->matrix, m, small->pivots, small->step);
    return perp_dense_is_finite(m, small->step);
}

static bool newton(perp_friction_small *small, const perp_friction_settings *settings, int iterations)
{
    enum { HALVINGS = 5 };
    double error, merit = look(small, small->r, &error);
    for (int k = 0; k <= iterations && isfinite(merit); k++) {
        if (error < SMALL_JUDGED && judge(small, settings)) {
            return true;
        }
        if (k == iterations ||
            !find_step(small, fmax(FRICTION_DAMPING_LEAST, fmin(FRICTION_DAMPING_MOST, FRICTION_DAMPING * error)))) {
            return false;
        }
        small->iterations++;
        double length = 1.0, reached = INFINITY;
        for (int h = 0; h <= HALVINGS && !(reached <= (1.0 - 2.0 * SUFFICIENT * length) * merit); h++) {
            length = h == 0 ? 1.0 : 0.5 * length;
            for (int i = 0; i < small->m; i++) {
                small->trial[i] = small->r[i] + length * small->step[i];
            }
            reached = look(small, small->trial, &error);
        }
        memcpy(small->r, small->trial, (size_t)small->m * sizeof(double));
        merit = reached;
    }
    return false;
}

bool perp_friction_small_solve(perp_friction_small *small, const perp_friction_settings *settings, const double *start)
{
    enum { ROUNDS = 3 };
    static const int sweeps[ROUNDS] = {2, 20, 60}, polish[ROUNDS] = {8, 12, 15};
    for (int i = 0; i < small->contacts; i++) {
        const int given = small->contact ? small->contact->system->row_start[i] : i * small->dim;
        for (int row = small->start[i]; row < small->start[i + 1]; row++) {
            const double force = start ? start[given + row - small->start[i]] / (small->unit * small->scale[row]) : 0.0;
            small->r[row] = isfinite(force) ? force : 0.0;
        }
    }
    small->iterations = small->factorisations = 0;
    for (int k = 0; k < ROUNDS && !(settings->cancel && *settings->cancel); k++) {
        double change = INFINITY;
        int most = settings->max_factorisations > 0 ? settings->max_factorisations - small->factorisations : polish[k];
        most = most < polish[k] ? most : polish[k];
        for (int s = 0; s < sweeps[k] && change > SMALL_SETTLED; s++) {
            change = sweep(small);
            small->iterations++;
            if (!isfinite(change)) {
                return false;
            }
            if (small->contacts == 1) { /* exact, or not to be had */
                return judge(small, settings);
            }
        }
        if (newton(small, settings, most)) {
            return true;
        }
    }
    return false;
}
