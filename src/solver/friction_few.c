#include "linalg/dense.h"
#include "solver/friction_few.h"

#include "linalg/dense_kernel.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* ---- the problem ------------------------------------------------------------------------------------------------ */

/* Cuts contact i with `given` rows from row `first` on. */
static void cut_contact(perp_friction_few *few, int i, int first, int given, double mu)
{
    const int rows = given > 1 && mu >= PERP_FRICTION_FRICTIONLESS ? given : 1;
    for (int k = 0; k < rows; k++) {
        few->row_of[few->m] = first + k;
        few->scale[few->m++] = k == 0 && rows > 1 ? 1.0 / mu : 1.0;
    }
    few->start[i + 1] = few->m;
}

/* L of A; false where a block is not definite, or nearly so. */
static bool factor_inertia(perp_friction_few *few, const perp_contact_qp *p)
{
    static const double NOTHING = 1e-12;
    const double *from = p->hessian;
    double *to = few->factor;
    for (int k = 0; k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        if (to - few->factor + (ptrdiff_t)size * size > PERP_FRICTION_FEW_ENTRIES) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            for (int j = 0; j <= i; j++) {
                const double left = from[i * size + j] - perp_dense_dot(j, to + i * size, to + j * size);
                if (j < i) {
                    to[i * size + j] = left / to[j * size + j];
                } else if (left > NOTHING * from[i * size + i]) {
                    to[i * size + i] = sqrt(left);
                } else {
                    return false;
                }
            }
        }
        from += (ptrdiff_t)size * size;
        to += (ptrdiff_t)size * size;
    }
    return true;
}

/* H' as given, by the rows that are kept. */
static void spread_rows(perp_friction_few *few, const perp_contact_qp *p)
{
    const double *from = p->jacobian;
    memset(few->columns, 0, (size_t)few->n * (size_t)few->m * sizeof(double));
    for (int i = 0; i < few->contacts; i++) {
        const int given = p->row_start[i + 1] - p->row_start[i], count = p->dof_start[i + 1] - p->dof_start[i];
        for (int row = few->start[i]; row < few->start[i + 1]; row++) {
            const double *entries = from + (ptrdiff_t)(row - few->start[i]) * count;
            for (int k = 0; k < count; k++) {
                few->columns[p->dofs[p->dof_start[i] + k] * few->m + row] += entries[k];
            }
        }
        from = count > 0 ? from + (ptrdiff_t)given * count : from;
    }
}

/* X and y from H' and -f, in place: L X = H'. */
static void solve_lower(perp_friction_few *few, const perp_contact_qp *p)
{
    const double *l = few->factor;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size; i++) {
            double *row = few->columns + (ptrdiff_t)(first + i) * few->m;
            const double inverse = 1.0 / l[i * size + i];
            for (int j = 0; j < i; j++) {
                const double factor = l[i * size + j];
                if (factor != 0.0) {
                    perp_dense_subtract(few->m, factor, few->columns + (ptrdiff_t)(first + j) * few->m, row);
                    few->loads[first + i] -= factor * few->loads[first + j];
                }
            }
            for (int c = 0; c < few->m; c++) {
                row[c] *= inverse;
            }
            few->loads[first + i] *= inverse;
        }
        l += (ptrdiff_t)size * size;
    }
}

/* W = X'X and q = X'y + w. */
static void multiply_out(perp_friction_few *few, const perp_contact_qp *p)
{
    const int m = few->m;
    memset(few->w, 0, (size_t)m * (size_t)m * sizeof(double));
    for (int i = 0; i < m; i++) {
        few->q[i] = p->offset[few->row_of[i]];
    }
    for (int k = 0; k < few->n; k++) {
        const double *row = few->columns + (ptrdiff_t)k * m;
        for (int i = 0; i < m; i++) {
            if (row[i] != 0.0) {
                perp_dense_subtract(m, -row[i], row, few->w + (ptrdiff_t)i * m);
                few->q[i] += row[i] * few->loads[k];
            }
        }
    }
}

/* S so that the trace of a contact's block is its number of rows; false where numbers fail. */
static bool scale_to_one(perp_friction_few *few)
{
    const int m = few->m;
    double most = 0.0;
    for (int i = 0; i < few->contacts; i++) {
        const int first = few->start[i], rows = few->start[i + 1] - first;
        double trace = 0.0;
        for (int k = first; k < first + rows; k++) {
            trace += few->scale[k] * few->scale[k] * few->w[k * m + k];
        }
        const double c = trace > 0.0 ? sqrt(rows / trace) : 1.0;
        for (int k = first; k < first + rows; k++) {
            few->scale[k] *= c;
            few->q[k] *= few->scale[k];
            most = fabs(few->q[k]) > most ? fabs(few->q[k]) : most;
        }
    }
    few->unit = most > 0.0 ? most : 1.0;
    const double inverse = 1.0 / few->unit;
    for (int i = 0; i < m; i++) {
        few->q[i] *= inverse;
        for (int j = 0; j < m; j++) {
            few->w[i * m + j] *= few->scale[i] * few->scale[j];
        }
    }
    return isfinite(inverse) && perp_dense_is_finite(m * m, few->w) && perp_dense_is_finite(m, few->q);
}

bool perp_friction_few_take_contact(perp_friction_few *few, const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    if (p->contact_count < 1 || p->contact_count > PERP_FRICTION_FEW || p->n > PERP_FRICTION_FEW_UNKNOWNS ||
        !p->hessian || p->equality_count > 0 || p->lower || p->upper || !factor_inertia(few, p)) {
        return false;
    }
    few->contact = problem;
    few->local = NULL;
    few->contacts = p->contact_count;
    few->n = p->n;
    few->m = few->start[0] = 0;
    for (int i = 0; i < few->contacts; i++) {
        cut_contact(few, i, p->row_start[i], p->row_start[i + 1] - p->row_start[i], problem->mu[i]);
    }
    for (int k = 0; k < few->n; k++) {
        few->loads[k] = -p->g[k];
    }
    spread_rows(few, p);
    solve_lower(few, p);
    multiply_out(few, p);
    return scale_to_one(few);
}

bool perp_friction_few_take_local(perp_friction_few *few, const perp_friction *problem)
{
    const int size = problem->contacts * problem->dim;
    if (problem->contacts < 1 || problem->contacts > PERP_FRICTION_FEW) {
        return false;
    }
    few->contact = NULL;
    few->local = problem;
    few->contacts = problem->contacts;
    few->n = few->m = few->start[0] = 0;
    for (int i = 0; i < few->contacts; i++) {
        cut_contact(few, i, i * problem->dim, problem->dim, problem->mu[i]);
    }
    for (int i = 0; i < few->m; i++) {
        few->q[i] = problem->q[few->row_of[i]];
        for (int j = 0; j < few->m; j++) {
            few->w[i * few->m + j] = problem->w[few->row_of[i] * size + few->row_of[j]];
        }
    }
    return scale_to_one(few);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* v = L^-T (y + X r), with forces as given. */
static void find_velocity(perp_friction_few *few, const perp_contact_qp *p)
{
    const double *l = few->factor;
    for (int i = 0; i < few->m; i++) {
        few->trial[i] = few->force[few->row_of[i]];
    }
    for (int k = 0; k < few->n; k++) {
        few->v[k] = few->loads[k] + perp_dense_dot(few->m, few->columns + (ptrdiff_t)k * few->m, few->trial);
    }
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = size - 1; i >= 0; i--) {
            few->v[first + i] /= l[i * size + i];
            perp_dense_subtract(i, few->v[first + i], l + (ptrdiff_t)i * size, few->v + first);
        }
        l += (ptrdiff_t)size * size;
    }
}

static bool judge(perp_friction_few *few, const perp_friction_settings *settings)
{
    const double unit = settings->relative ? 0.0 : 1.0;
    const int rows = few->local ? few->contacts * few->local->dim : few->contact->system->row_start[few->contacts];
    memset(few->force, 0, (size_t)rows * sizeof(double));
    for (int i = 0; i < few->m; i++) {
        few->force[few->row_of[i]] = few->unit * few->scale[i] * few->r[i];
    }
    double near = INFINITY;
    if (few->local) {
        few->residual = perp_dense_is_finite(rows, few->force)
                            ? perp_friction_residual_with(few->local, few->force, unit, &near)
                            : INFINITY;
        few->parts = (perp_contact_friction_residual){0.0, few->residual, 0.0};
    } else {
        find_velocity(few, few->contact->system);
        const perp_convex_point point = {.x = few->v, .y = few->force};
        few->parts = perp_contact_friction_evaluate_with(few->contact, &point, unit, &near);
        few->residual = perp_contact_friction_residual_largest(few->parts);
    }
    return few->residual <= settings->tolerance && near <= PERP_NEAR;
}

bool perp_friction_few_is_unique(perp_friction_few *few)
{
    static const double REGULAR = 1e-9; /* of a pivot, beside diagonals of order 1 */
    const int m = few->m;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            double *entry = &few->matrix[i * m + j];
            *entry =
                few->w[i * m + j] - perp_dense_dot(j, few->matrix + (ptrdiff_t)i * m, few->matrix + (ptrdiff_t)j * m);
            if (i == j && !(*entry > REGULAR)) {
                return false;
            }
            *entry = i == j ? sqrt(*entry) : *entry / few->matrix[j * m + j];
        }
    }
    return true;
}

/* ---- the methods ------------------------------------------------------------------------------------------------ */

/* Each contact in turn; the largest change of a force, infinity where one has no exact solution. */
static double sweep(perp_friction_few *few)
{
    const int m = few->m;
    double largest = 0.0;
    for (int i = 0; i < few->contacts; i++) {
        const int first = few->start[i], rows = few->start[i + 1] - first;
        double q[3], before[3];
        for (int k = 0; k < rows; k++) {
            before[k] = few->r[first + k];
            few->r[first + k] = 0.0;
        }
        for (int k = 0; k < rows; k++) {
            q[k] = few->q[first + k] + perp_dense_dot(m, few->w + (ptrdiff_t)(first + k) * m, few->r);
        }
        if (!perp_friction_one_contact(rows, few->w + (ptrdiff_t)first * (m + 1), m, q, few->r + first)) {
            return INFINITY;
        }
        for (int k = 0; k < rows; k++) {
            const double change = fabs(few->r[first + k] - before[k]);
            largest = change > largest ? change : largest;
        }
    }
    return largest;
}

/* u, t, argument and the natural map at r; returns the sum of its squares, and its largest entry. */
static double look(perp_friction_few *few, const double *r, double *largest)
{
    static const double STICKS = 1e-14; /* slip below this has no direction */
    const int m = few->m;
    double sum = 0.0;
    *largest = 0.0;
    for (int i = 0; i < few->contacts; i++) {
        const int first = few->start[i], rows = few->start[i + 1] - first;
        double slip = 0.0, projected[3];
        for (int k = first; k < first + rows; k++) {
            few->u[k] = few->q[k] + perp_dense_dot(m, few->w + (ptrdiff_t)k * m, r);
            slip += k > first ? few->u[k] * few->u[k] : 0.0;
        }
        slip = sqrt(slip);
        for (int k = first; k < first + rows; k++) {
            few->t[k] = k > first && slip > STICKS ? few->u[k] / slip : 0.0;
            few->argument[k] = r[k] - few->u[k] - (k == first ? slip : 0.0);
        }
        perp_cone_project(rows, few->argument + first, projected);
        for (int k = 0; k < rows; k++) {
            const double entry = r[first + k] - projected[k];
            few->natural[first + k] = entry;
            sum += entry * entry;
            *largest = fabs(entry) > *largest ? fabs(entry) : *largest;
        }
    }
    return sum;
}

/* Newton's direction; false where its matrix is singular. */
static bool find_step(perp_friction_few *few, double reg)
{
    const int m = few->m;
    few->factorisations++;
    for (int i = 0; i < few->contacts; i++) {
        const int first = few->start[i], rows = few->start[i + 1] - first;
        double b[9], g[9];
        perp_friction_newton_blocks(rows, few->argument + first, few->t + first, reg, 0.0, b, g);
        for (int k = 0; k < rows; k++) {
            double *row = few->matrix + (ptrdiff_t)(first + k) * m;
            memset(row, 0, (size_t)m * sizeof *row);
            for (int j = 0; j < rows; j++) {
                perp_dense_subtract(m, -g[k * rows + j], few->w + (ptrdiff_t)(first + j) * m, row);
            }
            for (int j = 0; j < rows; j++) {
                row[first + j] += b[k * rows + j];
            }
            few->step[first + k] = -few->natural[first + k];
        }
    }
    if (perp_lu_factor(m, few->matrix, m, few->pivots, NULL) != PERP_STATUS_OK) {
        return false;
    }
    perp_lu_solve(m, few->matrix, m, few->pivots, few->step);
    return perp_dense_is_finite(m, few->step);
}

static bool newton(perp_friction_few *few, const perp_friction_settings *settings, int iterations)
{
    enum { HALVINGS = 5 };
    static const double JUDGED = 1e-7; /* the scaled error that the judge is asked from on */
    double error, merit = look(few, few->r, &error);
    for (int k = 0; k <= iterations && isfinite(merit); k++) {
        if (error < JUDGED && judge(few, settings)) {
            return true;
        }
        if (k == iterations || !find_step(few, fmax(1e-11, fmin(1e-4, 1e-2 * error)))) {
            return false;
        }
        few->iterations++;
        double length = 1.0, reached = INFINITY;
        for (int h = 0; h <= HALVINGS && !(reached <= (1.0 - 2e-4 * length) * merit); h++) {
            length = h == 0 ? 1.0 : 0.5 * length;
            for (int i = 0; i < few->m; i++) {
                few->trial[i] = few->r[i] + length * few->step[i];
            }
            reached = look(few, few->trial, &error);
        }
        memcpy(few->r, few->trial, (size_t)few->m * sizeof(double));
        merit = reached;
    }
    return false;
}

bool perp_friction_few_solve(perp_friction_few *few, const perp_friction_settings *settings, const double *start)
{
    enum { ROUNDS = 3 };
    static const int sweeps[ROUNDS] = {2, 20, 60}, polish[ROUNDS] = {8, 12, 15};
    static const double SETTLED = 1e-13; /* of a change of forces, which are of order 1 */
    for (int i = 0; i < few->m; i++) {
        const double given = start ? start[few->row_of[i]] / (few->unit * few->scale[i]) : 0.0;
        few->r[i] = isfinite(given) ? given : 0.0;
    }
    few->iterations = few->factorisations = 0;
    for (int k = 0; k < ROUNDS && !(settings->cancel && *settings->cancel); k++) {
        double change = INFINITY;
        int most = settings->max_factorisations > 0 ? settings->max_factorisations - few->factorisations : polish[k];
        most = most < polish[k] ? most : polish[k];
        for (int s = 0; s < sweeps[k] && change > SETTLED; s++) {
            change = sweep(few);
            few->iterations++;
            if (!isfinite(change)) {
                return false;
            }
            if (few->contacts == 1) { /* exact, or not to be had */
                return judge(few, settings);
            }
        }
        if (newton(few, settings, most)) {
            return true;
        }
    }
    return false;
}
