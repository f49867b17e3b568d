#include "convex_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef long double real;

static real *zeros(int count)
{
    real *r = calloc((size_t)count + 1, sizeof *r);
    if (!r) {
        fprintf(stderr, "convex_judge: out of memory\n");
        exit(2);
    }
    return r;
}

static bool all_finite(const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static real largest(const double *values, int count)
{
    real r = 0.0L;
    for (int i = 0; i < count; i++) {
        r = isfinite(values[i]) ? fmaxl(r, fabsl((real)values[i])) : r;
    }
    return r;
}

/* s = R J x, and where `y` is given r += (R J)'y: both by way of the contact's own rows. */
static void contact_products(const perp_contact_qp *q, const double *x, real *s, const double *y, real *r)
{
    const double *jacobian = q->jacobian, *rays = q->rays;
    for (int i = 0; i < q->contact_count; i++) {
        const int rows = q->row_start[i + 1] - q->row_start[i], dofs = q->dof_start[i + 1] - q->dof_start[i];
        const int first = q->slack_start[i], slacks = q->slack_start[i + 1] - first;
        const int *columns = q->dofs + q->dof_start[i];
        for (int j = 0; j < rows; j++) {
            real velocity = 0.0L, force = 0.0L;
            for (int d = 0; d < dofs && x; d++) {
                velocity += (real)jacobian[j * dofs + d] * x[columns[d]];
            }
            for (int k = 0; k < slacks; k++) {
                const real weight = q->rays ? rays[k * rows + j] : k == j;
                if (x) {
                    s[first + k] += weight * velocity;
                }
                force += y ? weight * y[first + k] : 0.0L;
            }
            for (int d = 0; d < dofs && y; d++) {
                r[columns[d]] += (real)jacobian[j * dofs + d] * force;
            }
        }
        jacobian += rows * dofs;
        rays += q->rays ? slacks * rows : 0;
    }
}

static void hessian_product(const perp_contact_qp *q, const double *x, real *r)
{
    const double *h = q->hessian;
    for (int b = 0; b < q->block_count && h; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < size; k++) {
                r[first + i] += (real)h[i * size + k] * x[first + k];
            }
        }
        h += size * size;
    }
}

static real equality_row(const perp_contact_qp *q, int e, const double *x)
{
    real sum = 0.0L;
    for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
        sum += (real)q->equality_values[k] * x[q->equality_dofs[k]];
    }
    return sum;
}

static bool has_bound(const double *bounds, int i)
{
    return bounds && isfinite(bounds[i]);
}

/* Distance of a vector to its cone: to the second-order cone, or the largest negative entry. */
static real outside(const real *s, int count, bool quadratic)
{
    real rest = 0.0L, least = 0.0L;
    for (int k = 0; k < count; k++) {
        least = fmaxl(least, -s[k]);
        rest = k ? rest + s[k] * s[k] : 0.0L;
    }
    rest = sqrtl(rest);
    if (!quadratic) {
        return least;
    }
    return s[0] >= rest ? 0.0L : s[0] <= -rest ? sqrtl(s[0] * s[0] + rest * rest) : (rest - s[0]) / sqrtl(2.0L);
}

static real all_outside(const perp_contact_qp *q, const real *s)
{
    real worst = 0.0L;
    for (int i = 0; i < q->contact_count; i++) {
        const int first = q->slack_start[i];
        worst = fmaxl(worst, outside(s + first, q->slack_start[i + 1] - first, q->quadratic && q->quadratic[i]));
    }
    return worst;
}

static real multipliers_outside(const perp_contact_qp *q, const perp_convex_point *p)
{
    const int slacks = q->slack_start[q->contact_count];
    real *y = zeros(slacks), worst;
    for (int k = 0; k < slacks; k++) {
        y[k] = p->y[k];
    }
    worst = all_outside(q, y);
    free(y);
    for (int i = 0; i < q->n; i++) {
        worst = has_bound(q->lower, i) ? fmaxl(worst, -p->y_lower[i]) : worst;
        worst = has_bound(q->upper, i) ? fmaxl(worst, -p->y_upper[i]) : worst;
    }
    return worst;
}

/* r += A'y + C'y_equality + y_lower - y_upper */
static void add_forces(const perp_contact_qp *q, const perp_convex_point *p, real *r)
{
    contact_products(q, NULL, NULL, p->y, r);
    for (int e = 0; e < q->equality_count; e++) {
        for (int k = q->equality_start[e]; k < q->equality_start[e + 1]; k++) {
            r[q->equality_dofs[k]] += (real)q->equality_values[k] * p->y_equality[e];
        }
    }
    for (int i = 0; i < q->n; i++) {
        r[i] += has_bound(q->lower, i) ? (real)p->y_lower[i] : 0.0L;
        r[i] -= has_bound(q->upper, i) ? (real)p->y_upper[i] : 0.0L;
    }
}

static bool point_finite(const perp_contact_qp *q, const perp_convex_point *p)
{
    return all_finite(p->x, q->n) && all_finite(p->y, q->slack_start[q->contact_count]) &&
           (q->equality_count == 0 || all_finite(p->y_equality, q->equality_count)) &&
           (!q->lower || all_finite(p->y_lower, q->n)) && (!q->upper || all_finite(p->y_upper, q->n));
}

/* Primal and complementarity share the slacks. */
static void judge_slacks(const perp_contact_qp *q, const perp_convex_point *p, real *primal, real *products)
{
    const int slacks = q->slack_start[q->contact_count];
    real *s = zeros(slacks);
    contact_products(q, p->x, s, NULL, NULL);
    for (int k = 0; k < slacks; k++) {
        s[k] += q->offset[k];
    }
    *primal = all_outside(q, s);
    *products = 0.0L;
    for (int i = 0; i < q->contact_count; i++) {
        real sum = 0.0L;
        for (int k = q->slack_start[i]; k < q->slack_start[i + 1]; k++) {
            sum = q->quadratic && q->quadratic[i] ? sum + s[k] * p->y[k] : fmaxl(sum, fabsl(s[k] * p->y[k]));
        }
        *products = fmaxl(*products, fabsl(sum));
    }
    free(s);
    for (int e = 0; e < q->equality_count; e++) {
        *primal = fmaxl(*primal, fabsl(equality_row(q, e, p->x) - q->equality_target[e]));
    }
    for (int i = 0; i < q->n; i++) {
        if (has_bound(q->lower, i)) {
            *primal = fmaxl(*primal, (real)q->lower[i] - p->x[i]);
            *products = fmaxl(*products, fabsl(((real)p->x[i] - q->lower[i]) * p->y_lower[i]));
        }
        if (has_bound(q->upper, i)) {
            *primal = fmaxl(*primal, (real)p->x[i] - q->upper[i]);
            *products = fmaxl(*products, fabsl(((real)p->x[i] - q->upper[i]) * p->y_upper[i]));
        }
    }
}

double judge_residual(const perp_contact_qp *q, const perp_convex_point *p)
{
    if (!point_finite(q, p)) {
        return INFINITY;
    }
    real primal, products, dual = multipliers_outside(q, p);
    judge_slacks(q, p, &primal, &products);
    real *forces = zeros(q->n), *gradient = zeros(q->n);
    add_forces(q, p, forces);
    hessian_product(q, p->x, gradient);
    for (int i = 0; i < q->n; i++) {
        dual = fmaxl(dual, fabsl(gradient[i] + q->g[i] - forces[i]));
    }
    free(forces);
    free(gradient);
    real size =
        fmaxl(largest(q->offset, q->slack_start[q->contact_count]), largest(q->equality_target, q->equality_count));
    size = q->lower ? fmaxl(size, largest(q->lower, q->n)) : size;
    size = q->upper ? fmaxl(size, largest(q->upper, q->n)) : size;
    const real force = 1.0L + largest(q->g, q->n);
    return (double)fmaxl(primal / (1.0L + size), fmaxl(dual, products) / force);
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
    real value = 0.0L, worst = multipliers_outside(q, p), *sum = zeros(q->n);
    for (int k = 0; k < q->slack_start[q->contact_count]; k++) {
        value -= (real)q->offset[k] * p->y[k];
    }
    for (int e = 0; e < q->equality_count; e++) {
        value += (real)q->equality_target[e] * p->y_equality[e];
    }
    for (int i = 0; i < q->n; i++) {
        value += has_bound(q->lower, i) ? (real)q->lower[i] * p->y_lower[i] : 0.0L;
        value -= has_bound(q->upper, i) ? (real)q->upper[i] * p->y_upper[i] : 0.0L;
    }
    add_forces(q, p, sum);
    for (int i = 0; i < q->n; i++) {
        worst = fmaxl(worst, fabsl(sum[i]));
    }
    free(sum);
    return value > 0.0L ? (double)(worst / value) : INFINITY;
}

double judge_unbounded(const perp_contact_qp *q, const double *x)
{
    if (!all_finite(x, q->n)) {
        return INFINITY;
    }
    real slope = 0.0L, *product = zeros(q->n), *s = zeros(q->slack_start[q->contact_count]);
    hessian_product(q, x, product);
    contact_products(q, x, s, NULL, NULL);
    real worst = all_outside(q, s);
    for (int i = 0; i < q->n; i++) {
        slope -= (real)q->g[i] * x[i];
        worst = fmaxl(worst, fabsl(product[i]));
        worst = has_bound(q->lower, i) ? fmaxl(worst, -(real)x[i]) : worst;
        worst = has_bound(q->upper, i) ? fmaxl(worst, x[i]) : worst;
    }
    for (int e = 0; e < q->equality_count; e++) {
        worst = fmaxl(worst, fabsl(equality_row(q, e, x)));
    }
    free(product);
    free(s);
    return slope > 0.0L ? (double)(worst / slope) : INFINITY;
}
