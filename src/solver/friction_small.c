#include "solver/friction_small.h"

#include "linalg/dense_kernel.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include "linalg/dense.h"
#include <string.h>

/* ---- the problem ------------------------------------------------------------------------------------------------ */

/* Cuts contact i with `given` rows from row `first` on. */
static void cut_contact(perp_friction_small *small, int i, int first, int given, double mu)
{
    const int rows = given > 1 && mu >= FRICTIONLESS ? given : 1;
    for (int k = 0; k < rows; k++) {
        small->row_of[small->m] = first + k;
        small->scale[small->m++] = k == 0 && rows > 1 ? 1.0 / mu : 1.0;
    }
    small->start[i + 1] = small->m;
}

/* L of a matrix, both by rows; false where a pivot is at most `least` of its entry on the diagonal. */
static bool factor(int n, double least, const double *a, double *l)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const double left = a[i * n + j] - perp_dense_dot(j, l + (ptrdiff_t)i * n, l + (ptrdiff_t)j * n);
            if (i == j && !(left > least * a[i * n + i])) {
                return false;
            }
            l[i * n + j] = i == j ? sqrt(left) : left / l[j * n + j];
        }
    }
    return true;
}

/* L of A; false where a block is not definite, or nearly so. */
static bool factor_inertia(perp_friction_small *small, const perp_contact_qp *p)
{
    ptrdiff_t at = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        if (at + (ptrdiff_t)size * size > PERP_FRICTION_SMALL_ENTRIES ||
            !factor(size, SMALL_DEFINITE, p->hessian + at, small->factor + at)) {
            return false;
        }
        at += (ptrdiff_t)size * size;
    }
    return true;
}

/* H' as given, by the rows that are kept. */
static void spread_rows(perp_friction_small *small, const perp_contact_qp *p)
{
    const double *from = p->jacobian;
    memset(small->columns, 0, (size_t)small->n * (size_t)small->m * sizeof(double));
    for (int i = 0; i < small->contacts; i++) {
        const int given = p->row_start[i + 1] - p->row_start[i], count = p->dof_start[i + 1] - p->dof_start[i];
        for (int row = small->start[i]; row < small->start[i + 1]; row++) {
            const double *entries = from + (ptrdiff_t)(row - small->start[i]) * count;
            for (int k = 0; k < count; k++) {
                small->columns[p->dofs[p->dof_start[i] + k] * small->m + row] += entries[k];
            }
        }
        from = count > 0 ? from + (ptrdiff_t)given * count : from;
    }
}

/* X and y from H' and -f, in place: L X = H'. */
static void solve_lower(perp_friction_small *small, const perp_contact_qp *p)
{
    const double *l = small->factor;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            double *row = small->columns + (ptrdiff_t)(first + i) * small->m;
            const double inverse = 1.0 / l[i * size + i];
            for (int j = 0; j < i; j++) {
                const double factor = l[i * size + j];
                if (factor != 0.0) {
                    perp_dense_subtract(small->m, factor, small->columns + (ptrdiff_t)(first + j) * small->m, row);
                    small->loads[first + i] -= factor * small->loads[first + j];
                }
            }
            for (int c = 0; c < small->m; c++) {
                row[c] *= inverse;
            }
            small->loads[first + i] *= inverse;
        }
        l += (ptrdiff_t)size * size;
    }
}

/* W = X'X and q = X'y + w. */
static void multiply_out(perp_friction_small *small, const perp_contact_qp *p)
{
    const int m = small->m;
    memset(small->w, 0, (size_t)m * (size_t)m * sizeof(double));
    for (int i = 0; i < m; i++) {
        small->q[i] = p->offset[small->row_of[i]];
    }
    for (int k = 0; k < small->n; k++) {
        const double *row = small->columns + (ptrdiff_t)k * m;
        for (int i = 0; i < m; i++) {
            if (row[i] != 0.0) {
                perp_dense_subtract(m, -row[i], row, small->w + (ptrdiff_t)i * m);
                small->q[i] += row[i] * small->loads[k];
            }
        }
    }
}

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

bool perp_friction_small_take_contact(perp_friction_small *small, const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    if (p->contact_count < 1 || p->contact_count > PERP_FRICTION_SMALL || p->n > PERP_FRICTION_SMALL_UNKNOWNS ||
        !p->hessian || p->equality_count > 0 || p->lower || p->upper || !factor_inertia(small, p)) {
        return false;
    }
    small->contact = problem;
    small->local = NULL;
    small->contacts = p->contact_count;
    small->n = p->n;
    small->m = small->start[0] = 0;
    for (int i = 0; i < small->contacts; i++) {
        cut_contact(small, i, p->row_start[i], p->row_start[i + 1] - p->row_start[i], problem->mu[i]);
    }
    for (int k = 0; k < small->n; k++) {
        small->loads[k] = -p->g[k];
    }
    spread_rows(small, p);
    solve_lower(small, p);
    multiply_out(small, p);
    return scale_to_one(small);
}

bool perp_friction_small_take_local(perp_friction_small *small, const perp_friction *problem)
{
    const int size = problem->contacts * problem->dim;
    if (problem->contacts < 1 || problem->contacts > PERP_FRICTION_SMALL) {
        return false;
    }
    small->contact = NULL;
    small->local = problem;
    small->contacts = problem->contacts;
    small->n = small->m = small->start[0] = 0;
    for (int i = 0; i < small->contacts; i++) {
        cut_contact(small, i, i * problem->dim, problem->dim, problem->mu[i]);
    }
    for (int i = 0; i < small->m; i++) {
        small->q[i] = problem->q[small->row_of[i]];
        for (int j = 0; j < small->m; j++) {
            small->w[i * small->m + j] = problem->w[small->row_of[i] * size + small->row_of[j]];
        }
    }
    return scale_to_one(small);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* v = L^-T (y + X r), with forces as given. */
static void find_velocity(perp_friction_small *small, const perp_contact_qp *p)
{
    const double *l = small->factor;
    for (int i = 0; i < small->m; i++) {
        small->trial[i] = small->force[small->row_of[i]];
    }
    for (int k = 0; k < small->n; k++) {
        small->v[k] =
            small->loads[k] + perp_dense_dot(small->m, small->columns + (ptrdiff_t)k * small->m, small->trial);
    }
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = size - 1; i >= 0; i--) {
            small->v[first + i] /= l[i * size + i];
            perp_dense_subtract(i, small->v[first + i], l + (ptrdiff_t)i * size, small->v + first);
        }
        l += (ptrdiff_t)size * size;
    }
}

static bool judge(perp_friction_small *small, const perp_friction_settings *settings)
{
    const double unit = settings->relative ? 0.0 : 1.0;
    const int rows =
        small->local ? small->contacts * small->local->dim : small->contact->system->row_start[small->contacts];
    memset(small->force, 0, (size_t)rows * sizeof(double));
    for (int i = 0; i < small->m; i++) {
        small->force[small->row_of[i]] = small->unit * small->scale[i] * small->r[i];
    }
    double near = INFINITY;
    if (small->local) {
        small->residual = perp_dense_is_finite(rows, small->force)
                              ? perp_friction_residual_with(small->local, small->force, unit, &near)
                              : INFINITY;
        small->parts = (perp_contact_friction_residual){0.0, small->residual, 0.0};
    } else {
        find_velocity(small, small->contact->system);
        const perp_convex_point point = {.x = small->v, .y = small->force};
        small->parts = perp_contact_friction_evaluate_with(small->contact, &point, unit, &near);
        small->residual = perp_contact_friction_residual_largest(small->parts);
    }
    return small->residual <= settings->tolerance && near <= PERP_NEAR;
}

bool perp_friction_small_is_unique(perp_friction_small *small)
{
    return factor(small->m, SMALL_UNIQUE, small->w, small->matrix);
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
    for (int i = 0; i < small->m; i++) {
        const double given = start ? start[small->row_of[i]] / (small->unit * small->scale[i]) : 0.0;
        small->r[i] = isfinite(given) ? given : 0.0;
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
