/* The start of a problem with free variables: a complementary basis that holds them.
 *
 * Where the free block M_ff is regular, that is all of them and nothing else. Otherwise Gaussian elimination with
 * complete pivoting on M_ff leaves rows (equations) and columns (free variables) over, whose block is zero. A leftover
 * equation i is then given to a constrained variable j, and row j to a leftover free variable k, where the entries (i,
 * j) and (j, k) are largest: index j joins the basis as a whole, so the basis stays complementary, and Lemke's method
 * starts from it with a covering vector relative to it. (This is the case of an LP's multipliers, M_ff = 0.) An
 * equation with no entry left at all is redundant, as the second of two equal loop closures, if its right-hand side
 * vanished as well; if not, it contradicts the others, provided that the data prove it.
 *
 * Splitting free variables into two signed ones would avoid all this, but doubles them and makes every basis nearly
 * singular. */
#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct elimination {
    perp_lcp_workspace *c;
    double *a; /* n x (n + 1), the last column q */
    int n, stride;
    int *row_used, *col_used;
} elimination;

static double *row_of(const elimination *e, int i)
{
    return e->a + (ptrdiff_t)i * e->stride;
}

static elimination copy_problem(perp_lcp_workspace *c)
{
    elimination e = {c, c->lu, c->n, c->stride_h, c->pivots, c->ties};
    for (int j = 0; j < e.n; j++) {
        for (int i = 0; i < e.n; i++) {
            row_of(&e, i)[j] = c->columns[(ptrdiff_t)j * c->stride + i];
        }
        row_of(&e, j)[e.n] = c->q[j];
        e.row_used[j] = e.col_used[j] = 0;
    }
    return e;
}

static void eliminate(elimination *e, int row, int col)
{
    const double *own = row_of(e, row);
    e->row_used[row] = e->col_used[col] = 1;
    for (int i = 0; i < e->n; i++) {
        double *other = row_of(e, i);
        if (e->row_used[i] || other[col] == 0.0) {
            continue;
        }
        const double factor = other[col] / own[col];
        for (int j = 0; j <= e->n; j++) {
            other[j] -= factor * own[j];
        }
        other[col] = 0.0;
    }
    perp_lcp_basis_append(e->c, row, col);
}

/* Within the free block, the largest entry first. */
static void eliminate_free_block(elimination *e)
{
    while (!perp_lcp_is_cancelled(e->c)) {
        int row = -1, col = -1;
        double largest = ENTRY_ZERO;
        for (int i = 0; i < e->n; i++) {
            for (int j = 0; e->c->is_free[i] && !e->row_used[i] && j < e->n; j++) {
                const double entry = e->c->is_free[j] && !e->col_used[j] ? fabs(row_of(e, i)[j]) : 0.0;
                if (entry > largest) {
                    largest = entry;
                    row = i;
                    col = j;
                }
            }
        }
        if (row < 0) {
            return;
        }
        eliminate(e, row, col);
    }
}

/* The leftover free column with the largest entry in row j. */
static int partner_column(const elimination *e, int j)
{
    int best = -1;
    double largest = ENTRY_ZERO;
    for (int k = 0; k < e->n; k++) {
        if (e->c->is_free[k] && !e->col_used[k] && fabs(row_of(e, j)[k]) > largest) {
            largest = fabs(row_of(e, j)[k]);
            best = k;
        }
    }
    return best;
}

/* Equation i to variable j, row j to free variable k, largest product first. */
static void eliminate_pairs(elimination *e)
{
    while (!perp_lcp_is_cancelled(e->c)) {
        int row = -1, through = -1, col = -1;
        double largest = 0.0;
        for (int j = 0; j < e->n; j++) {
            const int k = e->c->is_free[j] || e->col_used[j] || e->row_used[j] ? -1 : partner_column(e, j);
            for (int i = 0; k >= 0 && i < e->n; i++) {
                const double entry = e->c->is_free[i] && !e->row_used[i] ? fabs(row_of(e, i)[j]) : 0.0;
                const double weight = e->c->range[j] < INFINITY ? TWO_BOUNDS : 1.0;
                if (entry > ENTRY_ZERO && weight * entry * fabs(row_of(e, j)[k]) > largest) {
                    largest = weight * entry * fabs(row_of(e, j)[k]);
                    row = i;
                    through = j;
                    col = k;
                }
            }
        }
        if (row < 0) {
            return;
        }
        eliminate(e, row, through);
        eliminate(e, through, col);
    }
}

/* Marks in `suspect` the equations that vanished while their right-hand side is more than `zero`. */
static perp_free_start judge_leftover(const elimination *e, double zero, int *suspect)
{
    perp_free_start result = PERP_FREE_START_OK;
    int *marks = e->row_used;
    for (int i = 0; i < e->n; i++) {
        const bool leftover = e->c->is_free[i] && !e->row_used[i];
        bool empty = leftover;
        for (int j = 0; empty && j < e->n; j++) {
            empty = e->col_used[j] || fabs(row_of(e, i)[j]) <= ENTRY_ZERO;
        }
        const bool contradicts = empty && fabs(row_of(e, i)[e->n]) > zero;
        result = (leftover && !empty) || contradicts ? PERP_FREE_START_SINGULAR : result;
        marks[i] = contradicts ? -1 : marks[i];
    }
    for (int i = 0; i < e->n; i++) { /* the same memory as col_used */
        suspect[i] = marks[i] == -1;
    }
    return result;
}

/* The combination of the basis' equations with equation i that has no entry in the basis' columns: y_i = 1, y'K = -M[i,
 * cols] on `rows`. It is a contradiction only if it proves to be one on the data, since what elimination took for zero
 * may be a small entry that makes z large. */
static bool proves_contradiction(perp_lcp_workspace *c, int i)
{
    double *u = c->work2;
    memset(u, 0, (size_t)c->n * sizeof(double));
    for (int p = 0; p < c->m; p++) {
        double y = 0.0;
        for (int k = 0; k < c->m; k++) {
            y -= c->columns[(ptrdiff_t)c->cols[k] * c->stride + i] * c->h[(ptrdiff_t)k * c->stride_h + p];
        }
        u[c->rows[p]] = c->sign[c->rows[p]] * c->row_scale[c->rows[p]] * y;
    }
    u[i] = c->sign[i] * c->row_scale[i];
    for (int sign = 0; sign < 2; sign++) { /* of an equation either sign may be the proof */
        for (int k = 0; k < c->n; k++) {
            c->work[k] = sign ? -u[k] : u[k];
        }
        if (perp_lcp_prove_infeasible(c, c->work)) {
            return true;
        }
    }
    return false;
}

/* All free variables and nothing else; false if that is singular to rounding. */
static bool take_all(perp_lcp_workspace *c)
{
    perp_lcp_basis_clear(c);
    for (int i = 0; i < c->n; i++) {
        if (c->is_free[i]) {
            perp_lcp_basis_append(c, i, i);
        }
    }
    return c->m == 0 || perp_lcp_basis_refresh(c);
}

/* A block near a singular one may be that, but for rounding, and then the smaller basis without what is redundant is
 * better; or it may be meant, and then all of it is needed. The right-hand sides tell: if they are consistent to
 * rounding, the smaller basis has a solution. Otherwise the whole block is taken and the residual judges. */
perp_free_start perp_lcp_start_free(perp_lcp_workspace *c)
{
    const bool regular = take_all(c);
    if (regular && (c->m == 0 || perp_lcp_basis_condition(c) * ENTRY_ZERO < 1.0)) {
        return PERP_FREE_START_OK;
    }
    perp_lcp_basis_clear(c);
    elimination e = copy_problem(c);
    eliminate_free_block(&e);
    eliminate_pairs(&e);
    if (perp_lcp_is_cancelled(c)) {
        return PERP_FREE_START_CANCELLED;
    }
    perp_free_start result = judge_leftover(&e, regular ? CONSISTENT : CONTRADICTION, c->ties);
    const bool factored = c->m == 0 || perp_lcp_basis_refresh(c);
    for (int i = 0; factored && i < c->n && !perp_lcp_is_cancelled(c); i++) {
        if (c->ties[i] && proves_contradiction(c, i)) {
            return PERP_FREE_START_INFEASIBLE;
        }
    }
    result = factored ? result : PERP_FREE_START_SINGULAR;
    return result == PERP_FREE_START_SINGULAR && regular && take_all(c) ? PERP_FREE_START_OK : result;
}
