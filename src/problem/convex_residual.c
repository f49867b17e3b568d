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

int perp_convex_slack_total(const perp_convex_view *view)
{
    const perp_convex_view *v = view;
    if (v->row_start) {
        return v->slack_start[v->count];
    }
    int total = v->row_count ? 0 : v->count;
    for (int i = 0; v->row_count && i < v->count; i++) {
        total += v->row_count[i];
    }
    return total;
}

bool perp_convex_multipliers_are_finite(const perp_convex_view *view, const perp_convex_point *point)
{
    const perp_convex_view *v = view;
    const perp_convex_point *p = point;
    return all_finite(perp_convex_slack_total(v), p->y) && all_finite(v->equality_count, p->y_equality) &&
           (!v->lower || all_finite(v->n, p->y_lower)) && (!v->upper || all_finite(v->n, p->y_upper));
}

/* One bound: how far x is beyond it (`slack` < 0) and its multiplier's part. */
static void measure_bound(double slack, double x, double bound, double y, double unit, perp_convex_residual *r)
{
    const double own = unit + fabs(y);
    if (!isfinite(bound)) {
        r->dual = perp_problem_worse(r->dual, perp_problem_over(fabs(y), own));
        return;
    }
    const double scale = unit + fabs(bound) + fabs(x);
    r->primal = perp_problem_worse(r->primal, perp_problem_over(-slack, scale));
    r->dual = perp_problem_worse(r->dual, perp_problem_over(-y, own));
    r->complementarity = perp_problem_worse(r->complementarity, perp_problem_over(fabs(slack * y), scale * own));
}

static void measure_bounds(const perp_convex_view *v, const perp_convex_point *p, double unit, perp_convex_residual *r)
{
    for (int i = 0; v->lower && i < v->n; i++) {
        measure_bound(p->x[i] - v->lower[i], p->x[i], v->lower[i], p->y_lower[i], unit, r);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        measure_bound(v->upper[i] - p->x[i], p->x[i], v->upper[i], p->y_upper[i], unit, r);
    }
}

bool perp_convex_point_is_finite(const perp_convex_view *view, const perp_convex_point *point)
{
    return all_finite(view->n, point->x) && perp_convex_multipliers_are_finite(view, point);
}

perp_convex_residual perp_convex_view_residual(const perp_convex_view *view, const perp_convex_point *point,
                                               double unit, double *near)
{
    const perp_convex_view *v = view;
    perp_convex_residual r = {INFINITY, INFINITY, INFINITY};
    *near = INFINITY;
    if (!perp_convex_point_is_finite(v, point)) {
        return r;
    }
    *near = r.primal = r.complementarity = 0.0;
    r.dual = perp_convex_largest_column(v, point, unit, near);
    constraint c;
    perp_constraint_begin(v, point->y, &c);
    while (perp_constraint_next(v, point->y_equality, &c)) {
        perp_constraint_measure(&c, point->x, unit, &r, near);
    }
    measure_bounds(v, point, unit, &r);
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
