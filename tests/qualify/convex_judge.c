#include "convex_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef long double real;

static bool all_finite(const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

/* A sum and the sum of the absolute values of its terms, by which it is judged. */
typedef struct tally {
    real sum, size;
    real open; /* of certificates: what the rounding of the entries, 2^-50 of the largest of their row, is times */
} tally;

static tally *tallies(int count)
{
    tally *t = calloc((size_t)count + 1, sizeof *t);
    if (!t) {
        fprintf(stderr, "convex_judge: out of memory\n");
        exit(2);
    }
    return t;
}

/* A term of a proof's value, whose size has the weight in it as well. */
static void weigh(tally *t, real weight, real constant)
{
    t->sum += weight * constant;
    t->size += fabsl(weight * constant) + fabsl(weight);
}

static void add(tally *t, real term)
{
    t->sum += term;
    t->size += fabsl(term);
}

/* How far `off` is from zero in a certificate that is worth `worth`. */
static real off_zero(const tally *t, real off, real worth)
{
    const real own = off <= 0.0L ? 0.0L : off / t->size, beside = off <= 0.0L ? 0.0L : off / worth;
    return own <= 1e-5L || off <= 0x1p-50L * t->open ? fminl(own, beside) : own;
}

/* value / scale, 0 over 0 being 0 */
static real over(real value, real scale)
{
    return value == 0.0L ? 0.0L : value / scale;
}

static real largest(const double *values, int count)
{
    real r = 0.0L;
    for (int i = 0; i < count; i++) {
        r = fmaxl(r, fabsl((real)values[i]));
    }
    return r;
}

/* s = R J x, and where `y` is given r += (R J)'y: both by way of the contact's own rows. */
static void contact_products(const perp_contact_qp *q, const double *x, tally *s, const double *y, tally *r)
{
    const double *jacobian = q->jacobian, *rays = q->rays;
    for (int i = 0; i < q->contact_count; i++) {
        const int rows = q->row_start[i + 1] - q->row_start[i], dofs = q->dof_start[i + 1] - q->dof_start[i];
        const int first = q->slack_start[i], slacks = q->slack_start[i + 1] - first;
        const int *columns = q->dofs + q->dof_start[i];
        for (int j = 0; j < rows; j++) {
            for (int k = 0; k < slacks; k++) {
                const real weight = q->rays ? rays[k * rows + j] : k == j;
                const real most = fabsl(weight) * largest(jacobian + j * dofs, dofs);
                for (int d = 0; d < dofs; d++) {
                    const real entry = weight * jacobian[j * dofs + d];
                    if (x) {
                        add(&s[first + k], entry * x[columns[d]]);
                        s[first + k].open += entry != 0.0L ? most * fabsl((real)x[columns[d]]) : 0.0L;
                    }
                    if (y) {
                        add(&r[columns[d]], entry * y[first + k]);
                        r[columns[d]].open += entry != 0.0L ? most * fabsl((real)y[first + k]) : 0.0L;
                    }
                }
            }
        }
        jacobian += rows * dofs;
        rays += q->rays ? slacks * rows : 0;
    }
}

static void hessian_product(const perp_contact_qp *q, const double *x, tally *r)
{
    const double *h = q->hessian;
    for (int b = 0; b < q->block_count && h; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < size; k++) {
                add(&r[first + i], (real)h[i * size + k] * x[first + k]);
                if (h[i * size + k] != 0.0) {
                    r[first + i].open += largest(h + (size_t)i * (size_t)size, size) * fabsl((real)x[first + k]);
                }
            }
        }
        h += size * size;
    }
}

static tally equality_row(const perp_contact_qp *q, int e, const double *x)
{
    const int start = q->equality_start[e], count = q->equality_start[e + 1] - start;
    const real most = largest(q->equality_values + start, count);
    tally t = {0.0L, 0.0L, 0.0L};
    for (int k = start; k < start + count; k++) {
        add(&t, (real)q->equality_values[k] * x[q->equality_dofs[k]]);
        t.open += most * fabsl((real)x[q->equality_dofs[k]]);
    }
    return t;
}

static bool has_bound(const double *bounds, int i)
{
    return bounds && isfinite(bounds[i]);
}

static real cone_distance(const real *s, int count)
{
    real rest = 0.0L;
    for (int k = 1; k < count; k++) {
        rest += s[k] * s[k];
    }
    rest = sqrtl(rest);
    return s[0] >= rest ? 0.0L : s[0] <= -rest ? sqrtl(s[0] * s[0] + rest * rest) : (rest - s[0]) / sqrtl(2.0L);
}

/* How far slacks, or multipliers, are outside of their cones, each over unit + its size, a cone's that of its largest
 * entry; of a certificate, which is worth something, as its sums are. */
static real all_outside(const perp_contact_qp *q, const tally *s, real unit, real worth)
{
    enum { MOST = 64 };
    real worst = 0.0L, entries[MOST];
    for (int i = 0; i < q->contact_count; i++) {
        const int first = q->slack_start[i], count = q->slack_start[i + 1] - first;
        const bool cone = q->quadratic && q->quadratic[i] && count <= MOST;
        tally most = {0.0L, 0.0L, 0.0L};
        for (int k = 0; k < count; k++) {
            const tally *t = &s[first + k];
            most.size = fmaxl(most.size, t->size);
            most.open = fmaxl(most.open, t->open);
            if (cone) {
                entries[k] = t->sum;
            } else {
                worst = fmaxl(worst, worth > 0.0L ? off_zero(t, -t->sum, worth) : over(-t->sum, unit + t->size));
            }
        }
        const real off = cone ? cone_distance(entries, count) : 0.0L;
        worst = fmaxl(worst, worth > 0.0L ? off_zero(&most, off, worth) : over(off, unit + most.size));
    }
    return worst;
}

static real multipliers_outside(const perp_contact_qp *q, const perp_convex_point *p, real unit)
{
    const int slacks = q->slack_start[q->contact_count];
    tally *y = tallies(slacks);
    for (int k = 0; k < slacks; k++) {
        add(&y[k], p->y[k]);
    }
    real worst = all_outside(q, y, unit, 0.0L);
    free(y);
    for (int i = 0; i < q->n; i++) {
        worst = has_bound(q->lower, i) ? fmaxl(worst, over(-p->y_lower[i], unit + fabsl(p->y_lower[i]))) : worst;
        worst = has_bound(q->upper, i) ? fmaxl(worst, over(-p->y_upper[i], unit + fabsl(p->y_upper[i]))) : worst;
    }
    return worst;
}

/* r += sign (A'y + C'y_equality + y_lower - y_upper) */
static void add_forces(const perp_contact_qp *q, const perp_convex_point *p, real sign, tally *r)
{
    tally *own = tallies(q->n);
    contact_products(q, NULL, NULL, p->y, own);
    for (int e = 0; e < q->equality_count; e++) {
        for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
            const int start = q->equality_start[e];
            add(&own[q->equality_dofs[k]], (real)q->equality_values[k] * p->y_equality[e]);
            own[q->equality_dofs[k]].open +=
                largest(q->equality_values + start, q->equality_start[e + 1] - start) * fabsl((real)p->y_equality[e]);
        }
    }
    for (int i = 0; i < q->n; i++) {
        add(&own[i], has_bound(q->lower, i) ? (real)p->y_lower[i] : 0.0L);
        add(&own[i], has_bound(q->upper, i) ? -(real)p->y_upper[i] : 0.0L);
        r[i].sum += sign * own[i].sum;
        r[i].size += own[i].size;
        r[i].open += own[i].open;
    }
    free(own);
}

static bool point_finite(const perp_contact_qp *q, const perp_convex_point *p)
{
    return all_finite(p->x, q->n) && all_finite(p->y, q->slack_start[q->contact_count]) &&
           (q->equality_count == 0 || all_finite(p->y_equality, q->equality_count)) &&
           (!q->lower || all_finite(p->y_lower, q->n)) && (!q->upper || all_finite(p->y_upper, q->n));
}

/* |s y| over the product of both scales. */
static real product(real dot, real slack_size, real y_size)
{
    return fabsl(dot) / ((1.0L + slack_size) * (1.0L + y_size));
}

/* |s . y| of the contacts. */
static real judge_products(const perp_contact_qp *q, const tally *s, const double *y)
{
    real worst = 0.0L;
    for (int i = 0; i < q->contact_count; i++) {
        real dot = 0.0L, slack_size = 0.0L, y_size = 0.0L;
        for (int k = q->slack_start[i]; k < q->slack_start[i + 1]; k++) {
            if (!(q->quadratic && q->quadratic[i])) {
                worst = fmaxl(worst, product(s[k].sum * y[k], s[k].size, fabsl((real)y[k])));
                continue;
            }
            dot += s[k].sum * y[k];
            slack_size = fmaxl(slack_size, s[k].size);
            y_size = fmaxl(y_size, fabsl((real)y[k]));
        }
        worst = fmaxl(worst, product(dot, slack_size, y_size));
    }
    return worst;
}

static real judge_bound(real slack, double bound, double x, double y)
{
    const real size = fabsl((real)bound) + fabsl((real)x);
    return fmaxl(-slack / (1.0L + size), product(slack * y, size, fabsl((real)y)));
}

/* Primal and complementarity, each row by 1 + its own terms. */
static real judge_slacks(const perp_contact_qp *q, const perp_convex_point *p)
{
    const int slacks = q->slack_start[q->contact_count];
    tally *s = tallies(slacks);
    contact_products(q, p->x, s, NULL, NULL);
    for (int k = 0; k < slacks; k++) {
        add(&s[k], q->offset[k]);
    }
    real worst = fmaxl(all_outside(q, s, 1.0L, 0.0L), judge_products(q, s, p->y));
    free(s);
    for (int e = 0; e < q->equality_count; e++) {
        tally t = equality_row(q, e, p->x);
        add(&t, -(real)q->equality_target[e]);
        worst = fmaxl(worst, fabsl(t.sum) / (1.0L + t.size));
    }
    for (int i = 0; i < q->n; i++) {
        const real x = p->x[i];
        if (has_bound(q->lower, i)) {
            worst = fmaxl(worst, judge_bound(x - q->lower[i], q->lower[i], p->x[i], p->y_lower[i]));
        }
        if (has_bound(q->upper, i)) {
            worst = fmaxl(worst, judge_bound(q->upper[i] - x, q->upper[i], p->x[i], p->y_upper[i]));
        }
    }
    return worst;
}

double judge_residual(const perp_contact_qp *q, const perp_convex_point *p)
{
    if (!point_finite(q, p)) {
        return INFINITY;
    }
    real worst = fmaxl(multipliers_outside(q, p, 1.0L), judge_slacks(q, p));
    tally *gradient = tallies(q->n);
    hessian_product(q, p->x, gradient);
    add_forces(q, p, -1.0L, gradient);
    for (int i = 0; i < q->n; i++) {
        add(&gradient[i], q->g[i]);
        worst = fmaxl(worst, fabsl(gradient[i].sum) / (1.0L + gradient[i].size));
    }
    free(gradient);
    return (double)worst;
}

double judge_infeasible(const perp_contact_qp *q, const perp_convex_point *p)
{
    perp_convex_point multipliers = *p;
    double *nothing = calloc((size_t)q->n + 1, sizeof *nothing);
    multipliers.x = nothing;
    const bool finite = nothing && point_finite(q, &multipliers);
    free(nothing);
    if (!finite) {
        return INFINITY;
    }
    tally value = {0.0L, 0.0L, 0.0L}, *columns = tallies(q->n);
    for (int k = 0; k < q->slack_start[q->contact_count]; k++) {
        weigh(&value, p->y[k], -(real)q->offset[k]);
    }
    for (int e = 0; e < q->equality_count; e++) {
        weigh(&value, p->y_equality[e], q->equality_target[e]);
    }
    for (int i = 0; i < q->n; i++) {
        if (has_bound(q->lower, i)) {
            weigh(&value, p->y_lower[i], q->lower[i]);
        }
        if (has_bound(q->upper, i)) {
            weigh(&value, p->y_upper[i], -(real)q->upper[i]);
        }
    }
    real worst = multipliers_outside(q, p, 0.0L);
    add_forces(q, p, 1.0L, columns);
    for (int i = 0; i < q->n; i++) {
        worst = fmaxl(worst, off_zero(&columns[i], fabsl(columns[i].sum), value.sum));
    }
    free(columns);
    return value.sum > 1e-8L * value.size ? (double)worst : INFINITY;
}

double judge_unbounded(const perp_contact_qp *q, const double *x)
{
    tally slope = {0.0L, 0.0L, 0.0L};
    for (int i = 0; i < q->n; i++) {
        weigh(&slope, x[i], -(real)q->g[i]);
    }
    if (!all_finite(x, q->n) || !(slope.sum > 1e-8L * slope.size)) {
        return INFINITY;
    }
    tally *curved = tallies(q->n), *s = tallies(q->slack_start[q->contact_count]);
    hessian_product(q, x, curved);
    contact_products(q, x, s, NULL, NULL);
    real worst = all_outside(q, s, 0.0L, slope.sum);
    for (int i = 0; i < q->n; i++) {
        worst = fmaxl(worst, off_zero(&curved[i], fabsl(curved[i].sum), slope.sum));
        const bool beyond = (has_bound(q->lower, i) && x[i] < 0.0) || (has_bound(q->upper, i) && x[i] > 0.0);
        worst = beyond ? fmaxl(worst, 1.0L) : worst;
    }
    for (int e = 0; e < q->equality_count; e++) {
        const tally t = equality_row(q, e, x);
        worst = fmaxl(worst, off_zero(&t, fabsl(t.sum), slope.sum));
    }
    free(curved);
    free(s);
    return (double)worst;
}
