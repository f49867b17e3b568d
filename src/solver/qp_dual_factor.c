/* The factorisation J'H J = I, J'N = [R; 0] of the working set, and what is solved with it.
 *
 * A constraint is added by one reflection of the trailing columns of J and not by the rotations of Goldfarb and Idnani:
 * the direction z = J2 J2'n_p, which the step needs anyhow, is most of the product that the reflection needs, so that
 * it costs a third of the rotations. Dropping one takes rotations. */
#include "linalg/dense.h"
#include "problem/convex_residual.h"
#include "solver/qp_dual_core.h"

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
    return (row->index < 0 ? perp_dense_dot(c->n, row->entries, c->x) : row->sign * c->x[row->index]) - row->target;
}

double perp_qp_dual_magnitude(const perp_qp_dual_workspace *c, const perp_qp_dual_row *row)
{
    double sum = fabs(row->target);
    if (row->index >= 0) {
        return sum + fabs(c->x[row->index]);
    }
    for (int i = 0; i < c->n; i++) {
        sum += fabs(row->entries[i] * c->x[i]);
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
            const double entry = perp_row_const(c->jt, n, k)[i];
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
        double *row = perp_row(c->jt, n, i);
        memset(row, 0, (size_t)n * sizeof(double));
        for (int k = 0; k < i; k++) {
            perp_dense_subtract(k + 1, l[k], perp_row_const(c->jt, n, k), row);
        }
        row[i] = 1.0;
        perp_dense_divide(i + 1, l[i], row);
    }
    c->count = 0;
    memset(c->inside, 0, (size_t)c->total * sizeof(bool));
}

/* y = sum of w_k times column k of J, from `first` on. */
static void combine(const perp_qp_dual_workspace *c, int first, const double *w, double *y)
{
    const int n = c->n;
    memset(y, 0, (size_t)n * sizeof(double));
    int k = first;
    for (; k + 4 <= n; k += 4) {
        perp_dense_subtract_four(n, w + k, perp_row_const(c->jt, n, k), n, y);
    }
    for (; k < n; k++) {
        perp_dense_subtract(n, w[k], perp_row_const(c->jt, n, k), y);
    }
    for (int i = 0; i < n; i++) {
        y[i] = -y[i];
    }
}

/* x = R^-1 x */
static void solve_r(const perp_qp_dual_workspace *c, double *x)
{
    for (int j = c->count - 1; j >= 0; j--) {
        const double *column = perp_row_const(c->r, c->n, j);
        x[j] /= column[j];
        perp_dense_subtract(j, x[j], column, x);
    }
}

/* x = R^-T x */
static void solve_r_transposed(const perp_qp_dual_workspace *c, double *x)
{
    for (int j = 0; j < c->count; j++) {
        const double *column = perp_row_const(c->r, c->n, j);
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
            c->d[k] = row->sign * perp_row_const(c->jt, n, k)[row->index];
        }
        return c->root[row->index];
    }
    for (int k = 0; k < n; k++) {
        c->d[k] = perp_dense_dot(n, perp_row_const(c->jt, n, k), row->entries);
        majorant += fabs(row->entries[k]) * c->root[k];
    }
    return majorant;
}

void perp_qp_dual_direction(perp_qp_dual_workspace *c, int k)
{
    const perp_qp_dual_row row = perp_qp_dual_row_of(c, k);
    const int n = c->n, q = c->count;
    const double majorant = project(c, &row);
    const double tail = perp_dense_dot(n - q, c->d + q, c->d + q);
    c->d_norm = sqrt(perp_dense_dot(q, c->d, c->d) + tail);
    c->d_tail = sqrt(tail);
    c->norm[k] = c->d_norm;
    /* Products of n terms and as many updates of J have touched each entry of d. */
    c->independent = c->d_tail > (16.0 + n) * DBL_EPSILON * majorant && isfinite(c->d_tail);
    if (c->independent) {
        combine(c, q, c->d, c->z);
    }
    memcpy(c->step, c->d, (size_t)q * sizeof(double));
    solve_r(c, c->step);
}

/* The reflection I - v v' 2 / v'v that takes the tail of d to (alpha, 0, ..): J2 v = z - alpha times the first of J2.
 */
void perp_qp_dual_add(perp_qp_dual_workspace *c, int k, double u)
{
    const int n = c->n, q = c->count;
    assert(q < n && c->independent && !c->inside[k]);
    double *v = c->d + q, *first = perp_row(c->jt, n, q), *column = perp_row(c->r, n, q);
    const double alpha = v[0] > 0.0 ? -c->d_tail : c->d_tail;
    memcpy(column, c->d, (size_t)q * sizeof(double));
    column[q] = alpha;
    perp_dense_subtract(n, alpha, first, c->z);
    v[0] -= alpha;
    const double beta = -1.0 / (alpha * v[0]); /* v'v = 2 alpha (alpha - d_q) = -2 alpha v_0 */
    for (int i = 0; i < n - q; i++) {
        perp_dense_subtract(n, beta * v[i], c->z, perp_row(c->jt, n, q + i));
    }
    c->active[q] = k;
    c->u[q] = u;
    c->inside[k] = true;
    c->count++;
}

/* (x, y) = (c x + s y, c y - s x) */
static void rotate(int n, double cosine, double sine, double *x, double *y)
{
    const perp_lanes cc = {cosine, cosine}, ss = {sine, sine};
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        const perp_lanes a = perp_lanes_load(x + i), b = perp_lanes_load(y + i);
        *(perp_lanes *)(x + i) = cc * a + ss * b;
        *(perp_lanes *)(y + i) = cc * b - ss * a;
    }
    if (i < n) {
        const double a = x[i], b = y[i];
        x[i] = cosine * a + sine * b;
        y[i] = cosine * b - sine * a;
    }
}

void perp_qp_dual_drop(perp_qp_dual_workspace *c, int position)
{
    const int n = c->n, last = c->count - 1;
    c->inside[c->active[position]] = false;
    for (int j = position; j < last; j++) {
        memcpy(perp_row(c->r, n, j), perp_row_const(c->r, n, j + 1), (size_t)(j + 2) * sizeof(double));
        c->active[j] = c->active[j + 1];
        c->u[j] = c->u[j + 1];
    }
    for (int j = position; j < last; j++) {
        double *column = perp_row(c->r, n, j);
        const double length = hypot(column[j], column[j + 1]);
        const double cosine = column[j] / length, sine = column[j + 1] / length;
        for (int i = j; i < last; i++) {
            double *entries = perp_row(c->r, n, i) + j;
            rotate(1, cosine, sine, entries, entries + 1);
        }
        column[j + 1] = 0.0;
        rotate(n, cosine, sine, perp_row(c->jt, n, j), perp_row(c->jt, n, j + 1));
    }
    c->count = last;
}

/* ---- x and u of the working set ---------------------------------------------------------------------------------- */

/* Adds the solution of H dx - N du = defect_x, N'dx = defect_u. Returns the largest |dx_i| over the largest |x_i|. */
static double correct(perp_qp_dual_workspace *c)
{
    const int n = c->n, q = c->count;
    double *w = c->d;
    for (int k = 0; k < n; k++) {
        w[k] = perp_dense_dot(n, perp_row_const(c->jt, n, k), c->defect_x);
    }
    solve_r_transposed(c, c->defect_u);
    for (int j = 0; j < q; j++) {
        c->step[j] = c->defect_u[j] - w[j];
        w[j] = c->defect_u[j];
    }
    solve_r(c, c->step);
    for (int j = 0; j < q; j++) {
        c->u[j] += c->step[j];
    }
    combine(c, 0, w, c->z);
    double change = 0.0, largest = 0.0;
    for (int i = 0; i < n; i++) {
        c->x[i] += c->z[i];
        change = fmax(change, fabs(c->z[i]));
        largest = fmax(largest, fabs(c->x[i]));
    }
    return change > 0.0 ? change / largest : 0.0;
}

void perp_qp_dual_solve_on_set(perp_qp_dual_workspace *c)
{
    for (int i = 0; i < c->n; i++) {
        c->x[i] = c->u[i] = 0.0;
        c->defect_x[i] = -c->problem->g[i];
    }
    for (int j = 0; j < c->count; j++) {
        c->defect_u[j] = perp_qp_dual_row_of(c, c->active[j]).target;
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
            sum -= (long double)h[j] * c->x[j];
        }
        c->wide[i] = sum;
    }
    for (int j = 0; j < c->count; j++) {
        accumulate(c, c->active[j], c->u[j]);
        const perp_qp_dual_row row = perp_qp_dual_row_of(c, c->active[j]);
        long double sum = row.target;
        for (int i = 0; row.index < 0 && i < n; i++) {
            sum -= (long double)row.entries[i] * c->x[i];
        }
        c->defect_u[j] = (double)(row.index < 0 ? sum : sum - (long double)row.sign * c->x[row.index]);
    }
    for (int i = 0; i < n; i++) {
        c->defect_x[i] = (double)c->wide[i];
    }
}

/* A variable with equal bounds that is off by a bit would violate the other. */
static void snap(perp_qp_dual_workspace *c)
{
    for (int j = 0; j < c->count; j++) {
        const perp_qp_dual_row row = perp_qp_dual_row_of(c, c->active[j]);
        if (row.index >= 0) {
            c->x[row.index] = row.sign * row.target;
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
    return change <= 1e-12;
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
    for (int j = 0; j < c->count; j++) {
        perp_qp_dual_put(c, c->active[j], scale * values[j]);
    }
}

double perp_qp_dual_prove(perp_qp_dual_workspace *c, int k)
{
    const int n = c->n, q = c->count;
    for (int turn = 0; turn < 2; turn++) { /* n_k - N step to rounding */
        for (int i = 0; i < n; i++) {
            c->wide[i] = 0.0L;
        }
        accumulate(c, k, 1.0);
        for (int j = 0; j < q; j++) {
            accumulate(c, c->active[j], -c->step[j]);
        }
        for (int i = 0; i < n; i++) {
            c->defect_x[i] = (double)c->wide[i];
        }
        for (int j = 0; j < q; j++) {
            c->defect_u[j] = perp_dense_dot(n, perp_row_const(c->jt, n, j), c->defect_x);
        }
        solve_r(c, c->defect_u);
        for (int j = 0; j < q; j++) {
            c->step[j] += c->defect_u[j];
        }
    }
    const int equalities = c->problem->equalities;
    long double gap = perp_qp_dual_row_of(c, k).target;
    for (int j = 0; j < q; j++) {
        if (c->active[j] < equalities || c->step[j] < 0.0) { /* what has the wrong sign is left out */
            gap -= (long double)c->step[j] * perp_qp_dual_row_of(c, c->active[j]).target;
        }
    }
    if (gap == 0.0L || (gap < 0.0L && k >= equalities)) {
        return INFINITY;
    }
    const double scale = (double)(1.0L / gap);
    perp_qp_dual_put_all(c, c->step, -scale);
    perp_qp_dual_put(c, k, scale);
    return perp_qp_dual_measure(c);
}

double perp_qp_dual_measure(const perp_qp_dual_workspace *c)
{
    const perp_convex_view view = perp_qp_view(c->problem);
    return perp_convex_view_infeasibility(&view, &c->point, c->unit);
}
