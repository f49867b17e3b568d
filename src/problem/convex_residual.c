#include "problem/convex_residual.h"

#include "problem/convex_constraint.h"
#include "problem/natural_map.h"

static bool all_finite(int n, const double *values)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* 0 x is 0 for every finite x */
    int i = 0;
    for (; i + 3 < n; i += 4) {
        a += 0.0 * values[i];
        b += 0.0 * values[i + 1];
        c += 0.0 * values[i + 2];
        d += 0.0 * values[i + 3];
    }
    for (; i < n; i++) {
        a += 0.0 * values[i];
    }
    return (a + b) + (c + d) == 0.0;
}

static double largest_entry(int n, const double *values)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* one would wait for itself */
    int i = 0;
    for (; i + 3 < n; i += 4) {
        a = larger(a, fabs(values[i]));
        b = larger(b, fabs(values[i + 1]));
        c = larger(c, fabs(values[i + 2]));
        d = larger(d, fabs(values[i + 3]));
    }
    for (; i < n; i++) {
        a = larger(a, fabs(values[i]));
    }
    return larger(larger(a, b), larger(c, d));
}

/* The largest of the finite ones: of bounds. */
static double largest_finite(int n, const double *values)
{
    double largest = 0.0;
    for (int i = 0; values && i < n; i++) {
        largest = isfinite(values[i]) ? larger(largest, fabs(values[i])) : largest;
    }
    return largest;
}

static int slack_total(const perp_convex_view *v)
{
    if (v->row_start) {
        return v->slack_start[v->count];
    }
    int total = v->row_count ? 0 : v->count;
    for (int i = 0; v->row_count && i < v->count; i++) {
        total += v->row_count[i];
    }
    return total;
}

static bool multipliers_are_finite(const perp_convex_view *v, const perp_convex_point *p)
{
    return all_finite(slack_total(v), p->y) && all_finite(v->equality_count, p->y_equality) &&
           (!v->lower || all_finite(v->n, p->y_lower)) && (!v->upper || all_finite(v->n, p->y_upper));
}

/* NaN and more than the largest number are infinity. */
static double over(double value, double scale)
{
    const double ratio = value / scale;
    return isfinite(scale) && isfinite(ratio) ? ratio : INFINITY;
}

/* One bound: how far x is beyond it (`slack` < 0) and its multiplier's part. */
static inline void measure_bound(double slack, double y, bool present, perp_convex_residual *r)
{
    if (!present) {
        r->dual = perp_problem_worse(r->dual, fabs(y));
        return;
    }
    r->primal = perp_problem_worse(r->primal, -slack);
    r->dual = perp_problem_worse(r->dual, -y);
    r->complementarity = perp_problem_worse(r->complementarity, fabs(slack * y));
}

static void measure_bounds(const perp_convex_view *v, const perp_convex_point *p, perp_convex_residual *r)
{
    for (int i = 0; v->lower && i < v->n; i++) {
        measure_bound(p->x[i] - v->lower[i], p->y_lower[i], isfinite(v->lower[i]), r);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        measure_bound(v->upper[i] - p->x[i], p->y_upper[i], isfinite(v->upper[i]), r);
    }
}

bool perp_convex_point_is_finite(const perp_convex_view *view, const perp_convex_point *point)
{
    return all_finite(view->n, point->x) && multipliers_are_finite(view, point);
}

perp_convex_residual perp_convex_view_residual(const perp_convex_view *view, const perp_convex_point *point)
{
    const perp_convex_view *v = view;
    perp_convex_residual r = {INFINITY, INFINITY, INFINITY};
    if (!perp_convex_point_is_finite(v, point)) {
        return r;
    }
    double primal =
        larger(largest_entry(slack_total(v), v->offset), largest_entry(v->equality_count, v->equality_target));
    primal = 1.0 + larger(primal, larger(largest_finite(v->n, v->lower), largest_finite(v->n, v->upper)));
    const double dual = 1.0 + largest_entry(v->n, v->g);
    r.primal = r.complementarity = 0.0;
    r.dual = perp_convex_largest_column(v, point, true, dual);
    constraint c;
    perp_constraint_begin(v, point->y, &c);
    while (perp_constraint_next(v, point->y_equality, &c)) {
        const measure m = perp_constraint_measure(&c, point->x, primal, dual);
        r.primal = perp_problem_worse(r.primal, m.distance);
        r.complementarity = perp_problem_worse(r.complementarity, m.product);
        r.dual = perp_problem_worse(r.dual, perp_constraint_multiplier_distance(&c, dual));
    }
    measure_bounds(v, point, &r);
    r.primal = over(r.primal, primal);
    r.dual = over(r.dual, dual);
    r.complementarity = over(r.complementarity, dual);
    return r;
}

double perp_convex_residual_largest(perp_convex_residual residual)
{
    return perp_problem_worse(perp_problem_worse(perp_problem_worse(0.0, residual.primal), residual.dual),
                              residual.complementarity);
}

double perp_convex_view_objective(const perp_convex_view *view, const double *x)
{
    perp_twofold sum = {0.0, 0.0};
    for (int j = 0; j < view->n; j++) {
        perp_twofold_add_product(&sum, view->g[j], x[j]);
    }
    const double *row = view->hessian;
    for (int k = 0; view->hessian && k < view->block_count; k++) {
        const int start = view->block_start ? view->block_start[k] : 0;
        const int size = view->block_start ? view->block_start[k + 1] - start : view->n;
        for (int j = 0; j < size; j++, row += size) {
            perp_twofold product = {0.0, 0.0};
            for (int i = 0; i < size; i++) {
                if (row[i] != 0.0) { /* as little is in the block of a body */
                    perp_twofold_add_product(&product, row[i], x[start + i]);
                }
            }
            perp_twofold_add_scaled(&sum, 0.5 * x[start + j], perp_twofold_settle(product));
        }
    }
    return sum.value + sum.rest;
}

/* b.y + d.y_equality + lower.y_lower - upper.y_upper over the finite bounds. */
static double bound_of_multipliers(const perp_convex_view *v, const perp_convex_point *p)
{
    perp_twofold sum = {0.0, 0.0};
    for (int i = 0, count = slack_total(v); i < count; i++) {
        perp_twofold_add_product(&sum, -v->offset_sign * v->offset[i], p->y[i]);
    }
    for (int i = 0; i < v->equality_count; i++) {
        perp_twofold_add_product(&sum, v->equality_target[i], p->y_equality[i]);
    }
    for (int i = 0; v->lower && i < v->n; i++) {
        perp_twofold_add_product(&sum, isfinite(v->lower[i]) ? v->lower[i] : 0.0, p->y_lower[i]);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        perp_twofold_add_product(&sum, isfinite(v->upper[i]) ? -v->upper[i] : 0.0, p->y_upper[i]);
    }
    return sum.value + sum.rest;
}

double perp_convex_view_infeasibility(const perp_convex_view *view, const perp_convex_point *point)
{
    const perp_convex_view *v = view;
    if (!multipliers_are_finite(v, point)) {
        return INFINITY;
    }
    const double scale = bound_of_multipliers(v, point);
    if (!(scale > 0.0)) {
        return INFINITY;
    }
    double largest = perp_convex_largest_column(v, point, false, scale);
    constraint c;
    perp_constraint_begin(v, point->y, &c);
    while (perp_constraint_next(v, point->y_equality, &c)) {
        largest = perp_problem_worse(largest, perp_constraint_multiplier_distance(&c, scale));
    }
    for (int i = 0; v->lower && i < v->n; i++) {
        const double y = point->y_lower[i];
        largest = perp_problem_worse(largest, isfinite(v->lower[i]) ? -y : fabs(y));
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        const double y = point->y_upper[i];
        largest = perp_problem_worse(largest, isfinite(v->upper[i]) ? -y : fabs(y));
    }
    return over(largest, scale);
}

/* The largest entry of H x. */
static double largest_curvature(const perp_convex_view *v, const double *x, double scale)
{
    const double *row = v->hessian;
    double largest = 0.0;
    for (int k = 0; v->hessian && k < v->block_count; k++) {
        const int start = v->block_start ? v->block_start[k] : 0;
        const int size = v->block_start ? v->block_start[k + 1] - start : v->n;
        for (int j = 0; j < size; j++, row += size) {
            double terms;
            const double plain = row_product(size, row, x + start, &terms);
            const bool coarse = !((double)size * DBL_EPSILON * terms <= NEGLIGIBLE * scale);
            largest = perp_problem_worse(largest,
                                         fabs(coarse ? row_product_twofold(size, row, NULL, x + start).value : plain));
        }
    }
    return largest;
}

double perp_convex_view_unboundedness(const perp_convex_view *view, const double *x)
{
    const perp_convex_view *v = view;
    perp_twofold fall = {0.0, 0.0};
    for (int j = 0; j < v->n; j++) {
        perp_twofold_add_product(&fall, -v->g[j], x[j]);
    }
    const double scale = fall.value + fall.rest;
    if (!all_finite(v->n, x) || !(scale > 0.0)) {
        return INFINITY;
    }
    double largest = largest_curvature(v, x, scale);
    constraint c;
    perp_constraint_begin(v, NULL, &c);
    while (perp_constraint_next(v, NULL, &c)) {
        constraint direction = c;
        direction.offset = NULL;
        largest = perp_problem_worse(largest, perp_constraint_measure(&direction, x, scale, scale).distance);
    }
    for (int i = 0; v->lower && i < v->n; i++) {
        largest = perp_problem_worse(largest, isfinite(v->lower[i]) ? -x[i] : 0.0);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        largest = perp_problem_worse(largest, isfinite(v->upper[i]) ? x[i] : 0.0);
    }
    return over(largest, scale);
}
