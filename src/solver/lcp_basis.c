/* The basis of lcp_core.h. Sums run in an order that is written out (linalg/dense_kernel.h), so that the same problem
 * takes the same pivots everywhere. */
#include "linalg/dense.h"
#include "solver/lcp_core.h"

#include "linalg/dense_kernel.h"

#include <float.h>
#include <string.h>

static const double *column(const perp_lcp_workspace *c, int j)
{
    return c->columns + (ptrdiff_t)j * c->stride;
}

static double *h_row(perp_lcp_workspace *c, int p)
{
    return c->h + (ptrdiff_t)p * c->stride_h;
}

void perp_lcp_basis_clear(perp_lcp_workspace *c)
{
    c->m = 0;
    for (int i = 0; i <= c->n; i++) {
        c->row_at[i] = c->col_at[i] = -1;
        c->start_z[i] = false;
        c->z[i] = 0.0;
    }
}

void perp_lcp_basis_append(perp_lcp_workspace *c, int row, int col)
{
    c->rows[c->m] = row;
    c->cols[c->m] = col;
    c->row_at[row] = c->col_at[col] = c->m++;
}

/* h_i -= sum of factors[k] h_k over k in [begin, end), columns 0 .. width - 1, four rows at a time; fours of zeros,
 * which contact matrices have many of, are skipped. */
static void subtract_rows(perp_lcp_workspace *c, const double *factors, int begin, int end, int width, double *h)
{
    int k = begin;
    for (; k + 4 <= end; k += 4) {
        const double *f = factors + k;
        if (f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0 || f[3] != 0.0) {
            perp_dense_subtract_four(width, f, h_row(c, k), c->stride_h, h);
        }
    }
    for (; k < end; k++) {
        if (factors[k] != 0.0) {
            perp_dense_subtract(width, factors[k], h_row(c, k), h);
        }
    }
}

/* H = U^-1 L^-1. L^-1 is lower triangular, so its rows are short. False if cancelled. */
static bool invert(perp_lcp_workspace *c)
{
    const int m = c->m;
    for (int i = 0; i < m && !perp_lcp_is_cancelled(c); i++) {
        double *h = h_row(c, i);
        memset(h, 0, (size_t)m * sizeof(double));
        h[i] = 1.0;
        subtract_rows(c, c->lu + (ptrdiff_t)i * c->stride_h, 0, i, i, h);
    }
    for (int i = m - 1; i >= 0 && !perp_lcp_is_cancelled(c); i--) {
        const double *u = c->lu + (ptrdiff_t)i * c->stride_h;
        subtract_rows(c, u, i + 1, m, m, h_row(c, i));
        perp_dense_divide(m, u[i], h_row(c, i));
    }
    return !perp_lcp_is_cancelled(c);
}

/* `rows` in the order of the pivots: then H needs no permutation. */
static void permute_rows(perp_lcp_workspace *c)
{
    for (int p = 0; p < c->m; p++) {
        const int other = c->pivots[p], row = c->rows[p];
        c->rows[p] = c->rows[other];
        c->rows[other] = row;
    }
    for (int p = 0; p < c->m; p++) {
        c->row_at[c->rows[p]] = p;
    }
}

bool perp_lcp_basis_refresh(perp_lcp_workspace *c)
{
    const int m = c->m, stride = c->stride_h;
    c->since_refresh = 0;
    c->refresh_count++;
    for (int j = 0; j < m; j++) {
        const double *from = column(c, c->cols[j]);
        for (int p = 0; p < m; p++) {
            c->lu[(ptrdiff_t)p * stride + j] = from[c->rows[p]];
        }
    }
    const double norm = perp_matrix_norm_one(m, m, c->lu, stride);
    if (perp_lu_factor(m, c->lu, stride, c->pivots, NULL) != PERP_STATUS_OK || !invert(c)) {
        return false;
    }
    permute_rows(c);
    c->condition = norm * perp_matrix_norm_one(m, m, c->h, stride);
    return c->condition * DBL_EPSILON < 1.0; /* false for NaN */
}

double perp_lcp_basis_condition(const perp_lcp_workspace *c)
{
    return c->condition;
}

/* y += sum of x[p] times column cols[p], four columns at a time; columns with x = 0 are not read. */
static void add_columns(const perp_lcp_workspace *c, const double *x, double *y)
{
    const double *at[4];
    double s[4];
    int count = 0;
    for (int p = 0; p <= c->m; p++) {
        if (p < c->m && x[p] != 0.0) {
            at[count] = column(c, c->cols[p]);
            s[count++] = x[p];
        }
        if (count < 4 && p < c->m) {
            continue;
        }
        if (count == 4) {
            const perp_lanes s0 = {s[0], s[0]}, s1 = {s[1], s[1]}, s2 = {s[2], s[2]}, s3 = {s[3], s[3]};
            for (int i = 0; i < c->stride; i += 2) {
                perp_lanes t = perp_lanes_load(y + i);
                t += s0 * perp_lanes_load(at[0] + i);
                t += s1 * perp_lanes_load(at[1] + i);
                t += s2 * perp_lanes_load(at[2] + i);
                t += s3 * perp_lanes_load(at[3] + i);
                *(perp_lanes *)(y + i) = t;
            }
        } else {
            for (int k = 0; k < count; k++) {
                perp_dense_subtract(c->stride, -s[k], at[k], y);
            }
        }
        count = 0;
    }
}

static void add_h_times(perp_lcp_workspace *c, const double *b, double sign, double *x)
{
    for (int p = 0; p < c->m; p++) {
        x[p] += sign * perp_dense_dot(c->m, h_row(c, p), b);
    }
}

void perp_lcp_basis_values(perp_lcp_workspace *c)
{
    const int n = c->n, m = c->m;
    double *x = c->rate_z, *b = c->work;
    memset(x, 0, (size_t)m * sizeof(double));
    for (int p = 0; p < m; p++) {
        b[p] = c->q[c->rows[p]];
    }
    for (int turn = 0; turn < 2; turn++) { /* the second refines */
        add_h_times(c, b, -1.0, x);
        memcpy(c->w, c->q, (size_t)n * sizeof(double));
        c->w[c->stride - 1] = n < c->stride ? 0.0 : c->w[c->stride - 1];
        add_columns(c, x, c->w);
        for (int p = 0; p < m; p++) {
            b[p] = c->w[c->rows[p]];
        }
    }
    for (int i = 0; i <= n; i++) {
        c->z[i] = c->col_at[i] >= 0 ? x[c->col_at[i]] : 0.0;
    }
    for (int p = 0; p < m; p++) {
        c->w[c->rows[p]] = 0.0;
    }
}

/* The largest magnitude of a direction's error on `rows`, which it should leave as they are, but for e. */
static double error_on_rows(const perp_lcp_workspace *c, int e, bool entering_z)
{
    double largest = 0.0;
    for (int p = 0; p < c->m; p++) {
        const double should = !entering_z && c->rows[p] == e ? 1.0 : 0.0;
        const double error = fabs(c->rate_w[c->rows[p]] - should);
        largest = error > largest ? error : largest;
    }
    return largest;
}

double perp_lcp_basis_direction(perp_lcp_workspace *c, int e, bool entering_z)
{
    const int m = c->m;
    double *x = c->rate_z, *b = c->work;
    memset(x, 0, (size_t)m * sizeof(double));
    if (entering_z) {
        for (int p = 0; p < m; p++) {
            b[p] = column(c, e)[c->rows[p]];
        }
        add_h_times(c, b, -1.0, x);
        memcpy(c->rate_w, column(c, e), (size_t)c->stride * sizeof(double));
    } else {
        for (int p = 0; p < m; p++) {
            x[p] = h_row(c, p)[c->row_at[e]];
        }
        memset(c->rate_w, 0, (size_t)c->stride * sizeof(double));
    }
    add_columns(c, x, c->rate_w);
    double size = 1.0;
    for (int p = 0; p < m; p++) {
        size = fabs(x[p]) > size ? fabs(x[p]) : size;
    }
    const double error = error_on_rows(c, e, entering_z) / size;
    for (int p = 0; p < m; p++) {
        c->rate_w[c->rows[p]] = 0.0;
    }
    return error;
}

/* ---- the four exchanges ------------------------------------------------------------------------------------------ */

/* y' = M[l, cols] H */
static void row_through_h(perp_lcp_workspace *c, int l, double *y)
{
    memset(y, 0, (size_t)c->m * sizeof(double));
    for (int p = 0; p < c->m; p++) {
        const double entry = column(c, c->cols[p])[l];
        if (entry != 0.0) {
            perp_dense_subtract(c->m, -entry, h_row(c, p), y);
        }
    }
}

/* K' = [K b; r' mu]: with x = K^-1 b = -rate, y' = r' K^-1 and s = mu - r' x, which is the rate of w_l,
 * H' = [H + x y' / s, -x / s; -y' / s, 1 / s]. */
static void grow(perp_lcp_workspace *c, int e, int l)
{
    const int m = c->m;
    double *y = c->work;
    row_through_h(c, l, y);
    const double s = c->rate_w[l];
    for (int p = 0; p < m; p++) {
        const double t = c->rate_z[p] / s;
        double *h = h_row(c, p);
        perp_dense_subtract(m, t, y, h);
        h[m] = t;
    }
    double *last = h_row(c, m);
    for (int p = 0; p < m; p++) {
        last[p] = -y[p] / s;
    }
    last[m] = 1.0 / s;
    perp_lcp_basis_append(c, l, e);
}

/* Column at of K replaced: row `at` of H over the pivot, the others less their rates times it. */
static void replace_column(perp_lcp_workspace *c, int e, int l)
{
    const int m = c->m, at = c->col_at[l];
    double *own = h_row(c, at);
    perp_dense_divide(m, -c->rate_z[at], own);
    for (int p = 0; p < m; p++) {
        if (p != at) {
            perp_dense_subtract(m, -c->rate_z[p], own, h_row(c, p));
        }
    }
    c->cols[at] = e;
    c->col_at[l] = -1;
    c->col_at[e] = at;
}

/* Row of K replaced by that of l. */
static void replace_row(perp_lcp_workspace *c, int e, int l)
{
    const int m = c->m, at = c->row_at[e];
    double *y = c->work;
    row_through_h(c, l, y);
    const double pivot = c->rate_w[l];
    y[at] = 0.0;
    for (int p = 0; p < m; p++) {
        double *h = h_row(c, p);
        h[at] = c->rate_z[p] / pivot;
        perp_dense_subtract(m, h[at], y, h);
    }
    c->rows[at] = l;
    c->row_at[e] = -1;
    c->row_at[l] = at;
}

/* Row e and column l of K dropped; the last ones take their places. */
static void shrink(perp_lcp_workspace *c, int e, int l)
{
    const int m = c->m, at_col = c->col_at[l], at_row = c->row_at[e], last = m - 1;
    const double *own = h_row(c, at_col);
    const double pivot = own[at_row];
    for (int p = 0; p < m; p++) {
        if (p != at_col) {
            double *h = h_row(c, p);
            perp_dense_subtract(m, h[at_row] / pivot, own, h);
        }
    }
    if (at_col != last) {
        memcpy(h_row(c, at_col), h_row(c, last), (size_t)m * sizeof(double));
    }
    for (int p = 0; p < last; p++) {
        h_row(c, p)[at_row] = h_row(c, p)[last];
    }
    c->col_at[c->cols[last]] = at_col;
    c->row_at[c->rows[last]] = at_row;
    c->cols[at_col] = c->cols[last];
    c->rows[at_row] = c->rows[last];
    c->col_at[l] = c->row_at[e] = -1;
    c->m = last;
}

void perp_lcp_basis_exchange(perp_lcp_workspace *c, int e, bool entering_z, int l, bool leaving_z)
{
    c->since_refresh++;
    if (entering_z && leaving_z) {
        replace_column(c, e, l);
    } else if (entering_z) {
        grow(c, e, l);
    } else if (leaving_z) {
        shrink(c, e, l);
    } else {
        replace_row(c, e, l);
    }
}

/* ---- lexicographic perturbation ---------------------------------------------------------------------------------- */

/* Index j's basic variable of the start is made larger by an infinitely small amount. If that was w_j, q_j is; if it
 * was z_j, q is by minus column j. */
void perp_lcp_basis_perturbation(perp_lcp_workspace *c, int j, int count, const int *ties, double *response)
{
    const int m = c->m, at = c->start_z[j] ? c->col_at[j] : c->row_at[j];
    const bool unit = c->start_z[j] ? at >= 0 : at < 0;
    const double sign = c->sign[j] * c->start_sign[j];
    double *x = c->work;
    if (!unit) {
        memset(x, 0, (size_t)m * sizeof(double));
        if (c->start_z[j]) {
            for (int p = 0; p < m; p++) {
                c->work2[p] = column(c, j)[c->rows[p]];
            }
            add_h_times(c, c->work2, 1.0, x);
        } else {
            for (int p = 0; p < m; p++) {
                x[p] = -h_row(c, p)[at];
            }
        }
    }
    for (int t = 0; t < count; t++) {
        const bool is_z = ties[t] >= 0;
        const int i = is_z ? ties[t] : ~ties[t];
        double r = 0.0;
        if (unit) {
            r = i == j && is_z == c->start_z[j] ? 1.0 : 0.0;
        } else if (is_z) {
            r = x[c->col_at[i]];
        } else {
            for (int p = 0; p < m; p++) {
                r += column(c, c->cols[p])[i] * x[p];
            }
            r -= c->start_z[j] ? column(c, j)[i] : 0.0;
        }
        response[t] = sign * r;
    }
}
