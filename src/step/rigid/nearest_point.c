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

void perp_nearest_lay_out(memory_block *block, int n, nearest_point *state)
{
    TAKE(block, state->q, n * n);
    TAKE(block, state->r, n * n);
    TAKE(block, state->x, n);
    TAKE(block, state->u, n);
    TAKE(block, state->row, n);
}

void perp_nearest_lay_out_scratch(memory_block *block, int n, nearest_scratch *scratch)
{
    TAKE(block, scratch->d, n);
    TAKE(block, scratch->step, n);
    TAKE(block, scratch->a, n);
}

void perp_nearest_clear(nearest_point *state, int n)
{
    const size_t size = (size_t)n;
    state->n = n;
    state->count = 0;
    memset(state->q, 0, size * size * sizeof(double));
    memset(state->x, 0, size * sizeof(double));
    for (int i = 0; i < n; i++) {
        state->q[(ptrdiff_t)i * n + i] = 1.0;
    }
}

void perp_nearest_copy(nearest_point *to, const nearest_point *from)
{
    const size_t n = (size_t)from->n, count = (size_t)from->count;
    to->n = from->n;
    to->count = from->count;
    memcpy(to->q, from->q, n * n * sizeof(double));
    memcpy(to->r, from->r, count * n * sizeof(double));
    memcpy(to->x, from->x, n * sizeof(double));
    memcpy(to->u, from->u, count * sizeof(double));
    memcpy(to->row, from->row, count * sizeof(int));
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
    int row; /* as in nearest_point */
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

/* ---- the working set --------------------------------------------------------------------------------------------- */

/* d = Q'a, and step = R^-1 d_1. Returns |d_2|. */
static double split_row(const nearest_point *s, nearest_scratch *c)
{
    const int n = s->n;
    double left = 0.0;
    for (int j = 0; j < n; j++) {
        c->d[j] = perp_dense_dot(n, s->q + (ptrdiff_t)j * n, c->a);
        left += j >= s->count ? c->d[j] * c->d[j] : 0.0;
    }
    memcpy(c->step, c->d, (size_t)s->count * sizeof(double));
    for (int j = s->count - 1; j >= 0; j--) {
        const double *column = s->r + (ptrdiff_t)j * n;
        c->step[j] /= column[j];
        perp_dense_subtract(j, c->step[j], column, c->step);
    }
    return sqrt(left);
}

/* The row whose d is at hand, by a reflection of Q_2; R has its normal, whichever way it was looked at. */
static void take_row(nearest_point *s, nearest_scratch *c, violated_row row, double multiplier)
{
    const int n = s->n, k = s->count;
    double *d = c->d, length = 0.0;
    for (int j = k; j < n; j++) {
        length += d[j] * d[j];
    }
    const double end = d[k] > 0.0 ? -sqrt(length) : sqrt(length);
    double *column = s->r + (ptrdiff_t)k * n;
    for (int i = 0; i < k; i++) {
        column[i] = row.sign * d[i];
    }
    column[k] = row.sign * end;
    d[k] -= end;
    const double weight = 1.0 / (end * d[k]); /* -2 / |v|^2 of the reflection's v, d_2 less its image */
    memset(c->step, 0, (size_t)n * sizeof(double));
    for (int j = k; j < n; j++) {
        perp_dense_subtract(n, -d[j], s->q + (ptrdiff_t)j * n, c->step);
    }
    for (int j = k; j < n; j++) {
        perp_dense_subtract(n, -weight * d[j], c->step, s->q + (ptrdiff_t)j * n);
    }
    c->work += 2.0 * n * (n - k);
    s->row[k] = row.row;
    s->u[k] = row.sign * multiplier;
    s->count++;
}

static void rotate(double *x, double *y, int count, double cosine, double sine)
{
    for (int i = 0; i < count; i++) {
        const double old = x[i];
        x[i] = cosine * old + sine * y[i];
        y[i] = cosine * y[i] - sine * old;
    }
}

static void drop_row(nearest_point *s, int at)
{
    const int n = s->n;
    for (int j = at + 1; j < s->count; j++) {
        memcpy(s->r + (ptrdiff_t)(j - 1) * n, s->r + (ptrdiff_t)j * n, (size_t)(j + 1) * sizeof(double));
        s->u[j - 1] = s->u[j];
        s->row[j - 1] = s->row[j];
    }
    s->count--;
    for (int j = at; j < s->count; j++) {
        double *column = s->r + (ptrdiff_t)j * n;
        const double length = hypot(column[j], column[j + 1]);
        const double cosine = column[j] / length, sine = column[j + 1] / length;
        for (int k = j; k < s->count; k++) {
            double *entry = s->r + (ptrdiff_t)k * n + j;
            rotate(entry, entry + 1, 1, cosine, sine);
        }
        rotate(s->q + (ptrdiff_t)j * n, s->q + (ptrdiff_t)(j + 1) * n, n, cosine, sine);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Weights 1 on the row at hand and -step on the working set make A'y = 0, and its rows are met: what the row misses is
 * the proof's gap. */
static bool is_proof(const cone_program *p, const nearest_point *s, nearest_scratch *c, violated_row row)
{
    double least = least_gap(p, row.row);
    for (int j = 0; j < s->count; j++) {
        const double *normal = normal_of(p, s->row[j]);
        perp_dense_subtract(s->n, c->step[j], normal, c->a);
        least += fabs(c->step[j]) * least_gap(p, s->row[j]);
    }
    const double left = perp_dense_dot(s->n, c->a, c->a);
    return row.by >= least && sqrt(left) * FAR <= row.by;
}

/* Of the working set the inequality whose multiplier vanishes first, and after how long; -1: none. */
static int first_to_leave(const nearest_point *s, const nearest_scratch *c, double *length)
{
    int found = -1;
    *length = INFINITY;
    for (int j = 0; j < s->count; j++) {
        if (s->row[j] >= 0 && c->step[j] > NO_RATIO && s->u[j] / c->step[j] < *length) {
            *length = s->u[j] / c->step[j];
            found = j;
        }
    }
    return found;
}

/* Steps until the row is met, and in the working set. */
static nearest_verdict meet_row(const cone_program *p, nearest_point *s, nearest_scratch *c, violated_row row,
                                int *steps)
{
    const double *normal = normal_of(p, row.row);
    double multiplier = 0.0, off = row.by;
    for (; *steps > 0; --*steps) {
        for (int i = 0; i < s->n; i++) {
            c->a[i] = row.sign * normal[i];
        }
        c->work += 4.0 * s->n * s->n;
        const double left = split_row(s, c);
        double leave;
        const int leaving = first_to_leave(s, c, &leave);
        const double reach = left > DEPENDENT ? off / (left * left) : INFINITY, way = fmin(leave, reach);
        if (isinf(way)) {
            row.by = off;
            return is_proof(p, s, c, row) ? NEAREST_NONE : NEAREST_UNSURE;
        }
        for (int j = 0; j < s->count; j++) {
            s->u[j] -= way * c->step[j];
        }
        multiplier += way;
        for (int j = s->count; j < s->n && left > DEPENDENT; j++) {
            perp_dense_subtract(s->n, -way * c->d[j], s->q + (ptrdiff_t)j * s->n, s->x);
        }
        off -= left > DEPENDENT ? way * left * left : 0.0;
        if (reach <= leave) {
            take_row(s, c, row, multiplier);
            return NEAREST_POINT;
        }
        drop_row(s, leaving);
    }
    return NEAREST_UNSURE;
}

nearest_verdict perp_nearest_solve(const cone_program *p, nearest_point *state, nearest_scratch *scratch)
{
    int steps = 100 + 10 * p->n;
    while (steps > 0) {
        scratch->work += (double)p->n * (p->rows + p->equations);
        const violated_row worst = most_violated(p, state->x);
        if (worst.by == 0.0) {
            return NEAREST_POINT;
        }
        for (int j = 0; j < state->count; j++) {
            if (state->row[j] == worst.row) { /* it is met but for rounding: the factors are spoilt */
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
