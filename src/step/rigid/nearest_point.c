#include "step/rigid/nearest_point.h"

#include "linalg/dense_kernel.h"

#include <math.h>
#include <string.h>

#define TAKE(block, array, count) ((array) = perp_block_take((block), (size_t)(count), sizeof *(array)))

static const double MET = 1e-11;       /* a row that misses by less is met */
static const double DEPENDENT = 1e-10; /* what the working set leaves of a row (of length 1) that depends on it */
static const double NO_RATIO = 1e-12;
/* A proof that rests on rounding is none: with weights y that sum to 1 some row is missed by at least this, or by its
 * slack where that is more, and what is left of A'y, which should be 0, excludes all points that are not farther away
 * than FAR. */
static const double LEAST_GAP = 1e-7, FAR = 1e6;

void perp_nearest_lay_out(memory_block *block, int n, perp_dual_set *state)
{
    TAKE(block, state->jt, n * n);
    TAKE(block, state->r, n * n);
    TAKE(block, state->x, n);
    TAKE(block, state->u, n);
    TAKE(block, state->length, n);
    TAKE(block, state->active, n);
}

void perp_nearest_lay_out_scratch(memory_block *block, int n, nearest_scratch *scratch)
{
    TAKE(block, scratch->along.d, n);
    TAKE(block, scratch->along.z, n);
    TAKE(block, scratch->along.step, n);
    TAKE(block, scratch->left, n);
}

void perp_nearest_clear(perp_dual_set *state, int n)
{
    state->n = n;
    state->first_inequality = 0;
    perp_dual_set_clear(state);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void scale(int n, double *row, double *constant, double *slack)
{
    const double length = sqrt(perp_dense_dot(n, row, row));
    for (int i = 0; i < n && length > 0.0; i++) {
        row[i] /= length;
    }
    *constant /= length > 0.0 ? length : 1.0;
    *slack /= length > 0.0 ? length : 1.0;
}

void perp_nearest_scale(cone_program *p, int first_row, int first_equation)
{
    for (int i = first_row; i < p->rows; i++) {
        scale(p->n, p->a + (ptrdiff_t)i * p->n, &p->b[i], &p->b_slack[i]);
    }
    for (int i = first_equation; i < p->equations; i++) {
        scale(p->n, p->c + (ptrdiff_t)i * p->n, &p->d[i], &p->d_slack[i]);
    }
}

typedef struct violated_row {
    int row; /* its name */
    double sign, by;
} violated_row;

/* The row that is violated most; by 0: none is. */
static violated_row most_violated(const cone_program *p, const double *x)
{
    violated_row worst = {.sign = 1.0, .by = MET};
    for (int i = 0; i < p->equations; i++) {
        const double off = p->d[i] - perp_dense_dot(p->n, p->c + (ptrdiff_t)i * p->n, x);
        if (fabs(off) > worst.by) {
            worst = (violated_row){-1 - i, off > 0.0 ? 1.0 : -1.0, fabs(off)};
        }
    }
    for (int i = 0; i < p->rows; i++) {
        const double off = -p->b[i] - perp_dense_dot(p->n, p->a + (ptrdiff_t)i * p->n, x);
        if (off > worst.by) {
            worst = (violated_row){i, 1.0, off};
        }
    }
    worst.by = worst.by > MET ? worst.by : 0.0;
    return worst;
}

static const double *normal_of(const cone_program *p, int row)
{
    return row < 0 ? p->c + (ptrdiff_t)(-1 - row) * p->n : p->a + (ptrdiff_t)row * p->n;
}

static double least_gap(const cone_program *p, int row)
{
    return fmax(LEAST_GAP, row < 0 ? p->d_slack[-1 - row] : p->b_slack[row]);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Weights 1 on the row at hand and -step on the working set make A'y = 0, and its rows are met: what the row misses is
 * the proof's gap. */
static bool is_proof(const cone_program *p, const perp_dual_set *s, nearest_scratch *c, violated_row row, double off)
{
    const double *normal = normal_of(p, row.row), *step = c->along.step;
    double least = least_gap(p, row.row);
    for (int i = 0; i < s->n; i++) {
        c->left[i] = row.sign * normal[i];
    }
    for (int j = 0; j < s->count; j++) {
        perp_dense_subtract(s->n, step[j], normal_of(p, s->active[j]), c->left);
        least += fabs(step[j]) * least_gap(p, s->active[j]);
    }
    return off >= least && sqrt(perp_dense_dot(s->n, c->left, c->left)) * FAR <= off;
}

/* The working set has an equation's normal as it stands, from whichever side it was met. */
static void flip_last(perp_dual_set *s)
{
    double *column = perp_row(s->r, s->n, s->count - 1);
    for (int i = 0; i < s->count; i++) {
        column[i] = -column[i];
    }
    s->u[s->count - 1] = -s->u[s->count - 1];
}

/* Steps until the row is met, and in the working set. */
static nearest_verdict meet_row(const cone_program *p, perp_dual_set *s, nearest_scratch *c, violated_row row,
                                int *steps)
{
    const double *normal = normal_of(p, row.row);
    const int n = s->n;
    double multiplier = 0.0, off = row.by;
    for (; *steps > 0; --*steps) {
        for (int j = 0; j < n; j++) {
            c->along.d[j] = row.sign * perp_dense_dot(n, perp_row_const(s->jt, n, j), normal);
        }
        c->work += 4.0 * n * n;
        perp_dual_set_direct(s, DEPENDENT, &c->along);
        const perp_dual_way way = perp_dual_set_way(s, &c->along, off, NO_RATIO);
        const double length = fmin(way.full, way.partial);
        if (isinf(length)) {
            return is_proof(p, s, c, row, off) ? NEAREST_NONE : NEAREST_UNSURE;
        }
        perp_dual_set_move(s, &c->along, length);
        multiplier += length;
        if (way.full <= way.partial) {
            c->work += 2.0 * n * (n - s->count);
            perp_dual_set_add(s, &c->along, row.row, multiplier);
            if (row.sign < 0.0) {
                flip_last(s);
            }
            return NEAREST_POINT;
        }
        off -= c->along.independent ? length * c->along.tail * c->along.tail : 0.0;
        perp_dual_set_drop(s, way.out);
    }
    return NEAREST_UNSURE;
}

nearest_verdict perp_nearest_solve(const cone_program *p, perp_dual_set *state, nearest_scratch *scratch)
{
    int steps = 100 + 10 * p->n;
    while (steps > 0) {
        scratch->work += (double)p->n * (p->rows + p->equations);
        const violated_row worst = most_violated(p, state->x);
        if (worst.by == 0.0) {
            return NEAREST_POINT;
        }
        for (int j = 0; j < state->count; j++) {
            if (state->active[j] == worst.row) { /* it is met but for rounding: the factors are spoilt */
                return NEAREST_UNSURE;
            }
        }
        const nearest_verdict verdict = meet_row(p, state, scratch, worst, &steps);
        if (verdict != NEAREST_POINT) {
            return verdict;
        }
    }
    return NEAREST_UNSURE;
}
