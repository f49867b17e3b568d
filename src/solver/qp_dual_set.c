/* A constraint is added by one reflection of the trailing columns of J and not by the rotations of Goldfarb and Idnani:
 * the direction z = J2 J2'n, which the step needs anyhow, is most of the product that the reflection needs, so that it
 * costs a third of the rotations. Dropping one takes rotations. */
#include "solver/qp_dual_set.h"

#include "linalg/dense_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void perp_dual_set_clear(perp_dual_set *set)
{
    const size_t n = (size_t)set->n;
    set->count = 0;
    memset(set->x, 0, n * sizeof(double));
    memset(set->jt, 0, n * n * sizeof(double));
    for (int i = 0; i < set->n; i++) {
        perp_row(set->jt, set->n, i)[i] = 1.0;
    }
}

void perp_dual_set_copy(perp_dual_set *to, const perp_dual_set *from)
{
    const size_t n = (size_t)from->n, count = (size_t)from->count;
    to->n = from->n;
    to->count = from->count;
    to->first_inequality = from->first_inequality;
    memcpy(to->jt, from->jt, n * n * sizeof(double));
    memcpy(to->r, from->r, count * n * sizeof(double));
    memcpy(to->x, from->x, n * sizeof(double));
    memcpy(to->u, from->u, count * sizeof(double));
    memcpy(to->length, from->length, count * sizeof(double));
    memcpy(to->active, from->active, count * sizeof(int));
}

void perp_dual_set_combine(const perp_dual_set *set, int first, const double *w, double *y)
{
    const int n = set->n;
    memset(y, 0, (size_t)n * sizeof(double));
    int k = first;
    for (; k + 4 <= n; k += 4) {
        perp_dense_subtract_four(n, w + k, perp_row_const(set->jt, n, k), n, y);
    }
    for (; k < n; k++) {
        perp_dense_subtract(n, w[k], perp_row_const(set->jt, n, k), y);
    }
    for (int i = 0; i < n; i++) {
        y[i] = -y[i];
    }
}

void perp_dual_set_solve_r(const perp_dual_set *set, double *x)
{
    for (int j = set->count - 1; j >= 0; j--) {
        const double *column = perp_row_const(set->r, set->n, j);
        x[j] /= column[j];
        perp_dense_subtract(j, x[j], column, x);
    }
}

void perp_dual_set_direct(const perp_dual_set *set, double rounding, perp_dual_direction *along)
{
    const int n = set->n, q = set->count;
    const double tail = perp_dense_dot(n - q, along->d + q, along->d + q);
    along->norm = sqrt(perp_dense_dot(q, along->d, along->d) + tail);
    along->tail = sqrt(tail);
    along->independent = along->tail > rounding && isfinite(along->tail);
    if (along->independent) {
        perp_dual_set_combine(set, q, along->d, along->z);
    }
    memcpy(along->step, along->d, (size_t)q * sizeof(double));
    perp_dual_set_solve_r(set, along->step);
}

/* Of the inequalities whose multipliers reach zero together the one with the largest entry leaves, for the sake of R.
 */
perp_dual_way perp_dual_set_way(const perp_dual_set *set, const perp_dual_direction *along, double violation,
                                double least)
{
    perp_dual_way way = {.full = along->independent ? violation / (along->tail * along->tail) : INFINITY,
                         .partial = INFINITY,
                         .out = -1};
    double weight = 0.0;
    for (int j = 0; j < set->count; j++) {
        const double weighed = along->step[j] * set->length[j];
        if (set->active[j] < set->first_inequality || !(weighed > least * along->norm)) {
            continue;
        }
        const double ratio = set->u[j] / along->step[j];
        if (ratio < way.partial || (ratio == way.partial && weighed > weight)) {
            way.partial = ratio;
            way.out = j;
            weight = weighed;
        }
    }
    return way;
}

void perp_dual_set_move(perp_dual_set *set, const perp_dual_direction *along, double length)
{
    if (along->independent) {
        perp_dense_subtract(set->n, -length, along->z, set->x);
    }
    for (int j = 0; j < set->count; j++) {
        set->u[j] -= length * along->step[j];
        if (set->u[j] < 0.0 && set->active[j] >= set->first_inequality) {
            set->u[j] = 0.0;
        }
    }
}

/* The reflection I - v v' 2 / v'v that takes the tail of d to (alpha, 0, ..): J2 v = z - alpha times the first of J2.
 */
void perp_dual_set_add(perp_dual_set *set, perp_dual_direction *along, int name, double u)
{
    const int n = set->n, q = set->count;
    assert(q < n && along->independent);
    double *v = along->d + q, *first = perp_row(set->jt, n, q), *column = perp_row(set->r, n, q);
    const double alpha = v[0] > 0.0 ? -along->tail : along->tail;
    memcpy(column, along->d, (size_t)q * sizeof(double));
    column[q] = alpha;
    perp_dense_subtract(n, alpha, first, along->z);
    v[0] -= alpha;
    const double beta = -1.0 / (alpha * v[0]); /* v'v = 2 alpha (alpha - d_q) = -2 alpha v_0 */
    for (int i = 0; i < n - q; i++) {
        perp_dense_subtract(n, beta * v[i], along->z, perp_row(set->jt, n, q + i));
    }
    set->active[q] = name;
    set->u[q] = u;
    set->length[q] = along->norm;
    set->count++;
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

void perp_dual_set_drop(perp_dual_set *set, int position)
{
    const int n = set->n, last = set->count - 1;
    for (int j = position; j < last; j++) {
        memcpy(perp_row(set->r, n, j), perp_row_const(set->r, n, j + 1), (size_t)(j + 2) * sizeof(double));
        set->active[j] = set->active[j + 1];
        set->u[j] = set->u[j + 1];
        set->length[j] = set->length[j + 1];
    }
    for (int j = position; j < last; j++) {
        double *column = perp_row(set->r, n, j);
        const double length = hypot(column[j], column[j + 1]);
        const double cosine = column[j] / length, sine = column[j + 1] / length;
        for (int i = j; i < last; i++) {
            double *entries = perp_row(set->r, n, i) + j;
            rotate(1, cosine, sine, entries, entries + 1);
        }
        column[j + 1] = 0.0;
        rotate(n, cosine, sine, perp_row(set->jt, n, j), perp_row(set->jt, n, j + 1));
    }
    set->count = last;
}
