/* Free variables eliminated: where the free block M_ff is regular, M_ff z_f + M_fc z_c + q_f = 0 gives
 *     z_f = -M_ff^-1 (q_f + M_fc z_c),   w_c = (M_cc - M_cf M_ff^-1 M_fc) z_c + (q_c - M_cf M_ff^-1 q_f).
 * The solver does not go this way, because a singular free block has no such form; this is the textbook reduction, for
 * those who want the smaller problem itself and for tests that compare the two. */
#include "conversions.h"
#include "linalg/dense.h"

#include <perp/problem.h>

#include <assert.h>
#include <float.h>

int perp_mlcp_constrained_count(const perp_mlcp *problem)
{
    int count = 0;
    for (int i = 0; i < problem->n; i++) {
        count += problem->free[i] ? 0 : 1;
    }
    return count;
}

/* The entry of [M_ff | M_fc q_f] or of [M_cf | M_cc q_c]: rows of one kind, all columns in the order free, constrained,
 * q. */
static void gather(const perp_mlcp *p, bool free_rows, double *free_part, double *rest, int rest_stride)
{
    const int f = p->n - perp_mlcp_constrained_count(p);
    int row = 0;
    for (int i = 0; i < p->n; i++) {
        if (p->free[i] != free_rows) {
            continue;
        }
        int at_free = 0, at_rest = 0;
        for (int j = 0; j < p->n; j++) {
            const double entry = p->m[(ptrdiff_t)i * p->n + j];
            if (p->free[j]) {
                free_part[(ptrdiff_t)row * f + at_free++] = entry;
            } else {
                rest[(ptrdiff_t)row * rest_stride + at_rest++] = entry;
            }
        }
        rest[(ptrdiff_t)row * rest_stride + at_rest] = p->q[i];
        row++;
    }
}

perp_status perp_mlcp_as_lcp(const perp_mlcp *problem, perp_mlcp_reduction *r, perp_error *error)
{
    const int c = perp_mlcp_constrained_count(problem), f = problem->n - c;
    r->constrained = c;
    gather(problem, true, r->factor, r->solved, c + 1);
    int failed = -1;
    const double norm = perp_matrix_norm_one(f, f, r->factor, f);
    const perp_status status = perp_lu_factor(f, r->factor, f, r->pivots, &failed);
    const double rcond =
        status == PERP_STATUS_OK ? perp_lu_reciprocal_condition(f, r->factor, f, r->pivots, norm, r->work) : 0.0;
    if (rcond < (double)(f + 1) * DBL_EPSILON) {
        return perp_fail(error, PERP_STATUS_SINGULAR, "the block of the %d free variables is singular", f);
    }
    const perp_matrix_view view = {r->solved, f, c + 1, c + 1};
    perp_lu_solve_many(f, r->factor, f, r->pivots, view); /* M_ff^-1 [M_fc q_f] */
    int row = 0;
    for (int i = 0; i < problem->n; i++) {
        if (problem->free[i]) {
            continue;
        }
        const double *entries = problem->m + (ptrdiff_t)i * problem->n;
        double *out = r->m + (ptrdiff_t)row * c;
        int at_free = 0, at_rest = 0;
        double constant = problem->q[i];
        for (int j = 0; j < problem->n; j++) {
            if (!problem->free[j]) {
                out[at_rest++] = entries[j];
            }
        }
        for (int j = 0; j < problem->n; j++) {
            if (problem->free[j]) {
                const double *x = r->solved + (ptrdiff_t)at_free++ * (c + 1);
                for (int k = 0; k < c; k++) {
                    out[k] -= entries[j] * x[k];
                }
                constant -= entries[j] * x[c];
            }
        }
        r->q[row++] = constant;
    }
    return PERP_STATUS_OK;
}

void perp_mlcp_from_lcp(const perp_mlcp *problem, const perp_mlcp_reduction *r, const double *z_constrained, double *z)
{
    const int c = r->constrained;
    int at_free = 0, at_rest = 0;
    for (int i = 0; i < problem->n; i++) {
        if (!problem->free[i]) {
            z[i] = z_constrained[at_rest++];
            continue;
        }
        const double *x = r->solved + (ptrdiff_t)at_free++ * (c + 1);
        z[i] = -x[c];
        for (int k = 0; k < c; k++) {
            z[i] -= x[k] * z_constrained[k];
        }
    }
}
