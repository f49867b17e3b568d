#include "linalg/dense.h"
#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>

enum { REFINEMENTS = 3 };

/* K of the scaled problem, without the covering vector and without regularisation. */
static void gather(perp_lcp_workspace *c)
{
    const perp_lcp_data *data = &c->data;
    for (int p = 0; p < c->m; p++) {
        const int i = c->rows[p];
        double *row = c->lu + (ptrdiff_t)p * c->stride_h;
        const double *entries = data->m + (ptrdiff_t)i * data->n;
        for (int j = 0; j < c->m; j++) {
            row[j] = c->row_scale[i] * entries[c->cols[j]] * c->col_scale[c->cols[j]];
        }
    }
}

/* The constant part of F on `rows`: q and the variables that sit at bounds other than 0. */
static void constant_rows(const perp_lcp_workspace *c, const double *z, long double *constant)
{
    for (int p = 0; p < c->m; p++) {
        constant[p] = c->data.q[c->rows[p]];
    }
    for (int j = 0; j < c->n; j++) {
        for (int p = 0; c->col_at[j] < 0 && z[j] != 0.0 && p < c->m; p++) {
            constant[p] += (long double)c->data.m[(ptrdiff_t)c->rows[p] * c->n + j] * z[j];
        }
    }
}

/* -F on `rows`, its products and sum in long double, scaled: the right-hand side of a correction. */
static void negative_rows(const perp_lcp_workspace *c, const double *z, const long double *constant, double *b)
{
    for (int p = 0; p < c->m; p++) {
        const int i = c->rows[p];
        const double *entries = c->data.m + (ptrdiff_t)i * c->n;
        long double sum = constant[p];
        for (int k = 0; k < c->m; k++) {
            sum += (long double)entries[c->cols[k]] * z[c->cols[k]];
        }
        b[p] = (double)-sum * c->row_scale[i];
    }
}

/* Adds the correction; returns whether it changed z by more than rounding. */
static bool add_correction(const perp_lcp_workspace *c, const double *x, double *z)
{
    double largest = 0.0, change = 0.0;
    for (int p = 0; p < c->m; p++) {
        const int j = c->cols[p];
        z[j] += c->col_scale[j] * x[p];
        largest = fmax(largest, fabs(z[j] / c->col_scale[j]));
        change = fmax(change, fabs(x[p]));
    }
    return change > DBL_EPSILON * largest;
}

double perp_lcp_polish(perp_lcp_workspace *c, double *z)
{
    const int n = c->n, m = c->m;
    for (int i = 0; i < n; i++) {
        z[i] = c->col_at[i] >= 0 ? 0.0 : c->origin[i];
    }
    gather(c);
    c->basis_norm = perp_matrix_norm_one(m, m, c->lu, c->stride_h);
    if (perp_lu_factor(m, c->lu, c->stride_h, c->pivots, NULL) != PERP_STATUS_OK) {
        return INFINITY;
    }
    constant_rows(c, z, c->wide);
    bool changed = true;
    for (int turn = 0; changed && turn <= REFINEMENTS; turn++) {
        negative_rows(c, z, c->wide, c->work);
        perp_lu_solve(m, c->lu, c->stride_h, c->pivots, c->work);
        changed = add_correction(c, c->work, z);
    }
    for (int i = 0; i < n; i++) {
        z[i] = z[i] < perp_lcp_lower(c, i)   ? perp_lcp_lower(c, i)
               : z[i] > perp_lcp_upper(c, i) ? perp_lcp_upper(c, i)
                                             : z[i];
    }
    return perp_lcp_residual_of(c, z);
}

bool perp_lcp_is_regular(perp_lcp_workspace *c)
{
    double *work = (double *)c->wide; /* 2 n */
    return perp_lu_reciprocal_condition(c->m, c->lu, c->stride_h, c->pivots, c->basis_norm, work) > REGULAR;
}
