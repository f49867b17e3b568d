#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include "problem/natural_map.h"

#include <assert.h>
#include <string.h>

static double *column(perp_lcp_workspace *c, int j)
{
    return c->columns + (ptrdiff_t)j * c->stride;
}

/* The power of two nearest below x, for x > 0. */
static double power_below(double x)
{
    int exponent = 0;
    (void)frexp(x, &exponent);
    return ldexp(1.0, exponent - 1);
}

/* One sweep of dividing rows and columns by the roots of their largest entries (Ruiz 2001), with q, unless it is NULL,
 * as one column more. Returns the scale of that column, which is given. Rows and columns of zeros keep theirs. */
static double sweep_scales(perp_lcp_workspace *c, const double *m, const double *q, double q_scale)
{
    const int n = c->n;
    double *largest_row = c->work, *largest_col = c->work2, largest_q = 0.0;
    memset(largest_col, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        const double *row = m + (ptrdiff_t)i * n;
        double largest = q ? fabs(q[i]) * c->row_scale[i] * q_scale : 0.0;
        largest_q = fmax(largest_q, largest);
        for (int j = 0; j < n; j++) {
            const double entry = fabs(row[j]) * c->row_scale[i] * c->col_scale[j];
            largest = entry > largest ? entry : largest;
            largest_col[j] = entry > largest_col[j] ? entry : largest_col[j];
        }
        largest_row[i] = largest;
    }
    for (int i = 0; i < n; i++) {
        c->row_scale[i] /= largest_row[i] > 0.0 ? sqrt(largest_row[i]) : 1.0;
        c->col_scale[i] /= largest_col[i] > 0.0 ? sqrt(largest_col[i]) : 1.0;
    }
    return largest_q > 0.0 ? q_scale / sqrt(largest_q) : q_scale;
}

static void run_sweeps(perp_lcp_workspace *c, const double *m, const double *q)
{
    enum { USUAL = 2, WITH_Q = 12 };
    double q_scale = 1.0;
    for (int i = 0; i < c->n; i++) {
        c->row_scale[i] = c->col_scale[i] = 1.0;
    }
    for (int sweep = 0; sweep < (q ? WITH_Q : USUAL); sweep++) {
        q_scale = sweep_scales(c, m, q, q_scale);
    }
    for (int i = 0; i < c->n; i++) {
        c->row_scale[i] = power_below(c->row_scale[i]);
        c->col_scale[i] = power_below(c->col_scale[i]);
    }
}

/* Whether the width of a tie, relative to the largest q, is more in some row than that row can be off without anyone
 * seeing it: beside a q of 1e12 all that is below 1e3 would count as a tie. */
static bool ties_hide_rows(const perp_lcp_workspace *c, const double *q)
{
    double largest = 0.0;
    for (int i = 0; i < c->n; i++) {
        largest = fmax(largest, fabs(q[i]) * c->row_scale[i]);
    }
    for (int i = 0; i < c->n; i++) {
        if (q[i] != 0.0 && LEMKE_TIE * largest > TIE_HIDES * c->row_scale[i] * (c->unit + fabs(q[i]))) {
            return true;
        }
    }
    return false;
}

/* Powers of two. `q` is F where variables are counted from; it is scaled with the rows only where that is called for,
 * since the path, with its ties, is a better one where rows of M are alike. */
static void choose_scales(perp_lcp_workspace *c, const perp_lcp_data *data, const double *q)
{
    run_sweeps(c, data->m, NULL);
    if (ties_hide_rows(c, q)) {
        run_sweeps(c, data->m, q);
    }
}

/* Where each variable is counted from: its lower bound, or its upper if that is the only one. */
static void choose_orientation(perp_lcp_workspace *c)
{
    for (int i = 0; i < c->n; i++) {
        const double lower = perp_lcp_lower(c, i), upper = perp_lcp_upper(c, i);
        c->is_free[i] = !isfinite(lower) && !isfinite(upper);
        c->sign[i] = !isfinite(lower) && isfinite(upper) ? -1.0 : 1.0;
        c->origin[i] = isfinite(lower) ? lower : (isfinite(upper) ? upper : 0.0);
        c->range[i] = isfinite(lower) ? upper - lower : INFINITY; /* in the problem's unit until the scale is known */
    }
}

void perp_lcp_core_load(perp_lcp_workspace *c, const perp_lemke_care *care)
{
    const perp_lcp_data *data = &c->data;
    assert(data->n <= c->capacity);
    const int n = c->n = data->n;
    c->stride = (n + 1) & ~1;
    c->stride_h = (n + 2) & ~1;
    c->care = *care;
    c->has_ray = false;
    choose_orientation(c);
    if (data->lower) {
        perp_lcp_data_slack(data, c->origin, c->q);
    } else {
        memcpy(c->q, data->q, (size_t)n * sizeof(double));
    }
    choose_scales(c, data, c->q);
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        c->q[i] *= c->sign[i] * c->row_scale[i];
        largest = fmax(largest, fabs(c->q[i]));
    }
    c->value_scale = largest > 0.0 ? power_below(largest) : 1.0;
    for (int i = 0; i < n; i++) {
        c->q[i] /= c->value_scale;
        c->range[i] /= c->value_scale * c->col_scale[i];
        const double *row = data->m + (ptrdiff_t)i * n;
        const double scale = c->row_scale[i] * c->sign[i];
        for (int j = 0; j < n; j++) {
            column(c, j)[i] = scale * row[j] * c->col_scale[j] * c->sign[j];
        }
    }
    for (int i = 0; i < n; i++) {
        column(c, i)[i] += care->regularise;
    }
    if (n < c->stride) { /* the kernels run over whole pairs */
        for (int j = 0; j <= n; j++) {
            column(c, j)[n] = 0.0;
        }
    }
    c->range[n] = INFINITY;
    c->is_free[n] = false;
    memcpy(c->start_sign, c->sign, (size_t)n * sizeof(double));
    perp_lcp_basis_clear(c);
}

void perp_lcp_core_flip(perp_lcp_workspace *c, int i)
{
    const double range = c->range[i];
    double *own = column(c, i);
    assert(isfinite(range));
    for (int k = 0; k < c->n; k++) {
        c->q[k] += own[k] * range;
    }
    for (int k = 0; k < c->n; k++) {
        own[k] = -own[k];
    }
    for (int j = 0; j <= c->n; j++) { /* the diagonal, negated twice, is as it was */
        column(c, j)[i] = -column(c, j)[i];
    }
    c->q[i] = -c->q[i];
    c->w[i] = -c->w[i];
    c->rate_w[i] = -c->rate_w[i];
    c->origin[i] = c->sign[i] > 0.0 ? c->data.upper[i] : c->data.lower[i];
    c->sign[i] = -c->sign[i];
    const int at_col = c->col_at[i], at_row = c->row_at[i];
    if (at_col >= 0) {
        c->z[i] = range - c->z[i];
        c->rate_z[at_col] = -c->rate_z[at_col];
        for (int p = 0; p < c->m; p++) {
            c->h[(ptrdiff_t)at_col * c->stride_h + p] = -c->h[(ptrdiff_t)at_col * c->stride_h + p];
        }
    }
    for (int p = 0; at_row >= 0 && p < c->m; p++) {
        c->h[(ptrdiff_t)p * c->stride_h + at_row] = -c->h[(ptrdiff_t)p * c->stride_h + at_row];
    }
}

void perp_lcp_core_point(const perp_lcp_workspace *c, double *z)
{
    for (int i = 0; i < c->n; i++) {
        z[i] = c->origin[i] + (c->col_at[i] >= 0 ? c->sign[i] * c->z[i] * c->col_scale[i] * c->value_scale : 0.0);
    }
}

double perp_lcp_residual_of(const perp_lcp_workspace *c, const double *z)
{
    const perp_lcp_data *data = &c->data;
    if (data->lower) {
        const perp_mcp mcp = {data->n, data->m, data->q, data->lower, data->upper};
        return perp_mcp_residual_with(&mcp, z, c->unit);
    }
    const perp_lcp lcp = {data->n, data->m, data->q};
    return perp_lcp_residual_with(&lcp, z, c->unit);
}

double perp_lcp_near_residual(const perp_lcp_workspace *c, const double *z)
{
    const perp_lcp_data *data = &c->data;
    double largest = 0.0;
    for (int i = 0; i < data->n; i++) {
        const double *row = data->m + (ptrdiff_t)i * data->n;
        double f = data->q[i], scale = c->unit + fabs(f);
        for (int j = 0; j < data->n; j++) {
            const bool at_bound = data->lower && (z[j] == data->lower[j] || z[j] == data->upper[j]);
            f += row[j] * z[j];
            scale += at_bound ? fabs(row[j] * z[j]) : 0.0;
        }
        const double map = perp_natural_map(z[i], f, perp_lcp_lower(c, i), perp_lcp_upper(c, i));
        largest = perp_problem_worse(largest, perp_problem_over(map, scale));
    }
    return largest;
}

void perp_lcp_data_slack(const perp_lcp_data *data, const double *z, double *w)
{
    const perp_lcp lcp = {data->n, data->m, data->q};
    perp_lcp_slack(&lcp, z, w);
}
