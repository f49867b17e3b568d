/* The constraints of a qp, and what is solved with the factorisation of its working set. */
#include "linalg/dense.h"
#include "problem/convex_residual.h"
#include "solver/qp_dual_core.h"
#include "solver/tolerances.h"

#include "linalg/dense_kernel.h"
#include "solver/qp_dual.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- constraints ------------------------------------------------------------------------------------------------- */

perp_qp_dual_row perp_qp_dual_row_of(const perp_qp_dual_workspace *c, int k)
{
    const perp_qp *p = c->problem;
    if (k < p->equalities) {
        return (perp_qp_dual_row){perp_row_const(p->c, c->n, k), -1, 1.0, p->d[k]};
    }
    k -= p->equalities;
    if (k < p->rows) {
        return (perp_qp_dual_row){perp_row_const(p->a, c->n, k), -1, 1.0, p->b[k]};
    }
    k -= p->rows;
    if (k < c->n) {
        return (perp_qp_dual_row){NULL, k, 1.0, p->lower ? p->lower[k] : -INFINITY};
    }
    k -= c->n;
    return (perp_qp_dual_row){NULL, k, -1.0, p->upper ? -p->upper[k] : -INFINITY};
}

bool perp_qp_dual_row_exists(const perp_qp_dual_workspace *c, int k)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    return row.index < 0 || isfinite(row.target);
}

double perp_qp_dual_slack(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row)
{
    return (row->index < 0 ? perp_dense_dot(c->n, row->entries, c->set.x) : row->sign * c->set.x[row->index]) -
           row->target;
}

double perp_qp_dual_magnitude(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row)
{
    double sum = fabs(row->target);
    if (row->index >= 0) {
        return sum + fabs(c->set.x[row->index]);
    }
    for (int i = 0; i < c->n; i++) {
        sum += fabs(row->entries[i] * c->set.x[i]);
    }
    return sum;
}

/* |L^-1 n_k|, by forward substitution; kept. Only constraints that were violated once are asked for. */
double perp_qp_dual_norm(perp_qp_dual_workspace *c, int k)
{
    if (c->norm[k] >= 0.0) {
        return c->norm[k];
    }
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    if (row.index >= 0) {
        return c->norm[k] = c->root[row.index];
    }
    const int n = c->n;
    double *y = c->defect_x, sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double *l = perp_row_const(c->l, n, i);
        y[i] = (row.entries[i] - perp_dense_dot(i, l, y)) / l[i];
        sum += y[i] * y[i];
    }
    return c->norm[k] = sqrt(sum);
}

/* ---- the factors ------------------------------------------------------------------------------------------------- */

bool perp_qp_dual_factor_h(perp_qp_dual_workspace *c, int *failed_row)
{
    const int n = c->n;
    const double *h = c->problem->h;
    *failed_row = 0;
    if (n == 0) {
        perp_qp_dual_clear(c);
        return true;
    }
    if (!h) {
        return false;
    }
    memcpy(c->l, h, (size_t)n * (size_t)n * sizeof(double));
    c->factorisations++;
    if (perp_cholesky_factor(n, c->l, n, failed_row) != PERP_STATUS_OK) {
        return false;
    }
    perp_qp_dual_clear(c);
    /* L L' is H but for errors of n eps sqrt(H_ii H_jj). Scaled to a unit diagonal H has its least eigenvalue between
     * 1 / n and 1 of the least 1 / (H_ii (H^-1)_ii), and a positive sign of that is believed only above these errors;
     * a positive pivot alone is not believed, since it may follow a small one. */
    int failed = -1;
    double largest = 1.0 / (16.0 * n * DBL_EPSILON);
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = i; k < n; k++) {
            const double entry = perp_row_const(c->set.jt, n, k)[i];
            sum += entry * entry;
        }
        c->root[i] = sqrt(sum);
        if (!(perp_row_const(h, n, i)[i] * sum < largest)) {
            failed = i;
            largest = perp_row_const(h, n, i)[i] * sum;
        }
    }
    *failed_row = failed;
    return failed < 0;
}

void perp_qp_dual_clear(perp_qp_dual_workspace *c)
{
    const int n = c->n;
    for (int i = 0; i < n; i++) {
        const double *l = perp_row_const(c->l, n, i);
        double *row = perp_row(c->set.jt, n, i);
        memset(row, 0, (size_t)n * sizeof(double));
        for (int k = 0; k < i; k++) {
            perp_dense_subtract(k + 1, l[k], perp_row_const(c->set.jt, n, k), row);
        }
        row[i] = 1.0;
        perp_dense_divide(i + 1, l[i], row);
    }
    c->set.count = 0;
    memset(c->inside, 0, (size_t)c->total * sizeof(bool));
}

/* x = R^-T x */
static void solve_r_transposed(const perp_qp_dual_workspace *c, double *x)
{
    for (int j = 0; j < c->set.count; j++) {
        const double *column = perp_row_const(c->set.r, c->n, j);
        x[j] = (x[j] - perp_dense_dot(j, column, x)) / column[j];
    }
}

/* d = J'n_k; returns a bound on the sums of magnitudes behind it: |J_k|'|a| <= sum_j |a_j| sqrt((H^-1)_jj). */
static double project(perp_qp_dual_workspace *c, const perp_qp_dual_row *row)
{
    const int n = c->n;
    double majorant = 0.0;
    if (row->index >= 0) {
        for (int k = 0; k < n; k++) {
            c->along.d[k] = row->sign * perp_row_const(c->set.jt, n, k)[row->index];
        }
        return c->root[row->index];
    }
    for (int k = 0; k < n; k++) {
        c->along.d[k] = perp_dense_dot(n, perp_row_const(c->set.jt, n, k), row->entries);
        majorant += fabs(row->entries[k]) * c->root[k];
    }
    return majorant;
}

void perp_qp_dual_direction(perp_qp_dual_workspace *c, int k)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    /* Products of n terms and as many updates of J have touched each entry of d. */
    perp_dual_set_direct(&c->set, (16.0 + c->n) * DBL_EPSILON * project(c, &row), &c->along);
    c->norm[k] = c->along.norm;
}

void perp_qp_dual_add(perp_qp_dual_workspace *c, int k, double u)
{
    assert(!c->inside[k]);
    perp_dual_set_add(&c->set, &c->along, k, u);
    c->inside[k] = true;
}

void perp_qp_dual_drop(perp_qp_dual_workspace *c, int position)
{
    c->inside[c->set.active[position]] = false;
    perp_dual_set_drop(&c->set, position);
}

/* ---- x and u of the working set ---------------------------------------------------------------------------------- */

/* Adds the solution of H dx - N du = defect_x, N'dx = defect_u. Returns the largest |dx_i| over the largest |x_i|. */
static double correct(perp_qp_dual_workspace *c)
{
    const int n = c->n, q = c->set.count;
    double *w = c->along.d;
    for (int k = 0; k < n; k++) {
        w[k] = perp_dense_dot(n, perp_row_const(c->set.jt, n, k), c->defect_x);
    }
    solve_r_transposed(c, c->defect_u);
    for (int j = 0; j < q; j++) {
        c->along.step[j] = c->defect_u[j] - w[j];
        w[j] = c->defect_u[j];
    }
    perp_dual_set_solve_r(&c->set, c->along.step);
    for (int j = 0; j < q; j++) {
        c->set.u[j] += c->along.step[j];
    }
    perp_dual_set_combine(&c->set, 0, w, c->along.z);
    double change = 0.0, largest = 0.0;
    for (int i = 0; i < n; i++) {
        c->set.x[i] += c->along.z[i];
        change = fmax(change, fabs(c->along.z[i]));
        largest = fmax(largest, fabs(c->set.x[i]));
    }
    return change > 0.0 ? change / largest : 0.0;
}

void perp_qp_dual_solve_on_set(perp_qp_dual_workspace *c)
{
    for (int i = 0; i < c->n; i++) {
        c->set.x[i] = c->set.u[i] = 0.0;
        c->defect_x[i] = -c->problem->g[i];
    }
    for (int j = 0; j < c->set.count; j++) {
        c->defect_u[j] = perp_qp_dual_row_of(c, c->set.active[j]).target;
    }
    (void)correct(c);
}

/* wide += s n_k */
static void accumulate(perp_qp_dual_workspace *c, int k, double s)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    if (row.index >= 0) {
        c->wide[row.index] += (long double)row.sign * s;
        return;
    }
    for (int i = 0; row.entries && i < c->n; i++) {
        c->wide[i] += (long double)row.entries[i] * s;
    }
}

static void measure(perp_qp_dual_workspace *c)
{
    const int n = c->n;
    for (int i = 0; i < n; i++) {
        const double *h = perp_row_const(c->problem->h, n, i);
        long double sum = -(long double)c->problem->g[i];
        for (int j = 0; j < n; j++) {
            sum -= (long double)h[j] * c->set.x[j];
        }
        c->wide[i] = sum;
    }
    for (int j = 0; j < c->set.count; j++) {
        accumulate(c, c->set.active[j], c->set.u[j]);
        const perp_qp_dual_row row = perp_qp_dual_row_of(c, c->set.active[j]);
        long double sum = row.target;
        for (int i = 0; row.index < 0 && i < n; i++) {
            sum -= (long double)row.entries[i] * c->set.x[i];
        }
        c->defect_u[j] = (double)(row.index < 0 ? sum : sum - (long double)row.sign * c->set.x[row.index]);
    }
    for (int i = 0; i < n; i++) {
        c->defect_x[i] = (double)c->wide[i];
    }
}

/* A variable with equal bounds that is off by a bit would violate the other. */
static void snap(perp_qp_dual_workspace *c)
{
    for (int j = 0; j < c->set.count; j++) {
        const perp_qp_dual_row row = perp_qp_dual_row_of(c, c->set.active[j]);
        if (row.index >= 0) {
            c->set.x[row.index] = row.sign * row.target;
        }
    }
}

bool perp_qp_dual_refine(perp_qp_dual_workspace *c, int turns)
{
    enum { LEAST = 2 };
    double change = INFINITY;
    for (int turn = 0; turn < turns && !(turn >= LEAST && change <= 2.0 * DBL_EPSILON); turn++) {
        measure(c);
        change = correct(c);
    }
    snap(c);
    return change <= DUAL_SETTLED;
}

/* ---- multipliers in the order of the problem --------------------------------------------------------------------- */

void perp_qp_dual_put(const perp_qp_dual_workspace *c, int k, double value)
{
    const int row = k - c->problem->equalities, bound = row - c->problem->rows;
    if (row < 0) {
        c->point.y_equality[k] = value;
        return;
    }
    double *place = bound < 0      ? c->point.y + row
                    : bound < c->n ? c->point.y_lower + bound
                                   : c->point.y_upper + (bound - c->n);
    *place = value > 0.0 ? value : 0.0;
}

void perp_qp_dual_put_all(const perp_qp_dual_workspace *c, const double *values, double scale)
{
    memset(c->point.y, 0, (size_t)c->problem->rows * sizeof(double));
    memset(c->point.y_equality, 0, (size_t)c->problem->equalities * sizeof(double));
    memset(c->point.y_lower, 0, (size_t)c->n * sizeof(double));
    memset(c->point.y_upper, 0, (size_t)c->n * sizeof(double));
    for (int j = 0; j < c->set.count; j++) {
        perp_qp_dual_put(c, c->set.active[j], scale * values[j]);
    }
}

double perp_qp_dual_prove(perp_qp_dual_workspace *c, int k)
{
    const int n = c->n, q = c->set.count;
    for (int turn = 0; turn < 2; turn++) { /* n_k - N step to rounding */
        for (int i = 0; i < n; i++) {
            c->wide[i] = 0.0L;
        }
        accumulate(c, k, 1.0);
        for (int j = 0; j < q; j++) {
            accumulate(c, c->set.active[j], -c->along.step[j]);
        }
        for (int i = 0; i < n; i++) {
            c->defect_x[i] = (double)c->wide[i];
        }
        for (int j = 0; j < q; j++) {
            c->defect_u[j] = perp_dense_dot(n, perp_row_const(c->set.jt, n, j), c->defect_x);
        }
        perp_dual_set_solve_r(&c->set, c->defect_u);
        for (int j = 0; j < q; j++) {
            c->along.step[j] += c->defect_u[j];
        }
    }
    const int equalities = c->problem->equalities;
    long double gap = perp_qp_dual_row_of(c, k).target;
    for (int j = 0; j < q; j++) {
        if (c->set.active[j] < equalities || c->along.step[j] < 0.0) { /* what has the wrong sign is left out */
            gap -= (long double)c->along.step[j] * perp_qp_dual_row_of(c, c->set.active[j]).target;
        }
    }
    if (gap == 0.0L || (gap < 0.0L && k >= equalities)) {
        return INFINITY;
    }
    const double scale = (double)(1.0L / gap);
    perp_qp_dual_put_all(c, c->along.step, -scale);
    perp_qp_dual_put(c, k, scale);
    return perp_qp_dual_measure(c);
}

double perp_qp_dual_measure(const perp_qp_dual_workspace *c)
{
    const perp_convex_view view = perp_qp_view(c->problem);
    return perp_convex_view_infeasibility(&view, &c->point, c->unit);
}
