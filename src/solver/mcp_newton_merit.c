/* Points of a nonlinear mcp: F, its equations, their merit and slopes. */
#include "solver/mcp_newton.h"

#include <math.h>
#include <string.h>

typedef struct phi_value {
    double value, by_a, by_b;
} phi_value;

/* weight phi(a, b) + (1 - weight) max(a, 0) max(b, 0). Where a + b > 0 the difference a + b - r would cancel; there it
 * is 2 a b / (a + b + r). At a = b = 0 the slopes are one element of many: the limit along a = b > 0. */
static phi_value phi(double a, double b, double weight)
{
    const double r = hypot(a, b), plain = a + b > 0.0 ? 2.0 * a * (b / (a + b + r)) : a + b - r;
    const double cosine = r > 0.0 ? a / r : 0.70710678118654752, sine = r > 0.0 ? b / r : 0.70710678118654752;
    phi_value v = {weight * plain, weight * (1.0 - cosine), weight * (1.0 - sine)};
    if (weight < 1.0 && a > 0.0 && b > 0.0) {
        v.value += (1.0 - weight) * a * b;
        v.by_a += (1.0 - weight) * b;
        v.by_b += (1.0 - weight) * a;
    }
    return v;
}

/* by_a: by z; by_b: by G. */
static phi_value equation(const perp_newton_core *c, int i, double z, double g)
{
    const double lower = c->lower[i], upper = c->upper[i];
    const bool below = lower > -INFINITY, above = upper < INFINITY;
    if (lower == upper) {
        return (phi_value){z - lower, 1.0, 0.0};
    }
    if (!below && !above) {
        return (phi_value){g, 0.0, 1.0};
    }
    if (!above) {
        return phi(z - lower, g, c->penalise);
    }
    const phi_value inner = phi(upper - z, -g, c->penalise);
    if (!below) {
        return (phi_value){-inner.value, inner.by_a, inner.by_b};
    }
    const phi_value outer = phi(z - lower, -inner.value, c->penalise);
    return (phi_value){outer.value, outer.by_a + outer.by_b * inner.by_a, outer.by_b * inner.by_b};
}

static double perturbed(const perp_newton_core *c, const perp_newton_point *point, int i)
{
    return c->proximal > 0.0 ? point->f[i] + c->proximal * (point->z[i] - c->centre[i]) : point->f[i];
}

double perp_newton_clamp(const perp_newton_core *c, int i, double z)
{
    return fmin(fmax(z, c->lower[i]), c->upper[i]);
}

/* The natural map of variable i, signed, and whether a bound holds in it. By cases, so that strictly between the bounds
 * it is G to the last bit. */
static double natural_map(const perp_newton_core *c, const perp_newton_point *point, int i, bool *bound)
{
    const double z = point->z[i], g = perturbed(c, point, i);
    const bool low = g > z - c->lower[i], high = -g > c->upper[i] - z;
    *bound = low || high;
    return low ? z - c->lower[i] : (high ? z - c->upper[i] : g);
}

/* Equations, merit and natural residual of a point whose f is known. */
static void refresh(perp_newton_core *c, perp_newton_point *point)
{
    point->merit = 0.0;
    double largest = 0.0;
    for (int i = 0; i < c->n; i++) {
        bool bound;
        point->equation[i] = equation(c, i, point->z[i], perturbed(c, point, i)).value;
        point->merit += 0.5 * point->equation[i] * point->equation[i];
        largest = fmax(largest, fabs(natural_map(c, point, i, &bound)));
    }
    point->natural = c->proximal > 0.0 ? largest / (1.0 + c->problem->scale) : point->residual;
}

static void copy_point(const perp_newton_core *c, const perp_newton_point *from, perp_newton_point *to)
{
    memcpy(to->z, from->z, (size_t)c->n * sizeof(double));
    memcpy(to->f, from->f, (size_t)c->n * sizeof(double));
    to->residual = from->residual;
}

bool perp_newton_evaluate(perp_newton_core *c, perp_newton_point *point)
{
    bool defined = true;
    for (int i = 0; i < c->n; i++) {
        defined = defined && isfinite(point->z[i]);
    }
    if (defined) {
        c->evaluations++;
        defined = c->problem->evaluate(c->problem->context, point->z, point->f, NULL);
    }
    for (int i = 0; defined && i < c->n; i++) {
        defined = isfinite(point->f[i]);
    }
    if (!defined) {
        return false;
    }
    point->residual = perp_nonlinear_mcp_residual(c->problem, point->z, point->f);
    refresh(c, point);
    if (point->residual < c->best.residual) {
        copy_point(c, point, &c->best);
    }
    return isfinite(point->merit);
}

size_t perp_newton_jacobian_length(const perp_newton_core *c)
{
    const size_t n = (size_t)c->n;
    return c->has_pattern ? (n ? (size_t)c->column_starts[n] : 0) : n * n;
}

bool perp_newton_evaluate_jacobian(perp_newton_core *c, const double *z)
{
    c->evaluations++;
    if (!c->problem->evaluate(c->problem->context, z, c->work, c->jacobian)) {
        return false;
    }
    double sum = 0.0; /* 0 x is 0 for every finite x */
    const size_t length = perp_newton_jacobian_length(c);
    for (size_t k = 0; k < length; k++) {
        sum += 0.0 * c->jacobian[k];
    }
    return sum == 0.0;
}

void perp_newton_slopes(perp_newton_core *c)
{
    for (int i = 0; i < c->n; i++) {
        const phi_value v = equation(c, i, c->now.z[i], perturbed(c, &c->now, i));
        c->slope_z[i] = v.by_a;
        c->slope_f[i] = v.by_b;
    }
}

void perp_newton_natural_slopes(perp_newton_core *c, double *value)
{
    for (int i = 0; i < c->n; i++) {
        bool bound;
        value[i] = natural_map(c, &c->now, i, &bound);
        c->slope_z[i] = bound ? 1.0 : 0.0;
        c->slope_f[i] = bound ? 0.0 : 1.0;
    }
}

double perp_newton_natural_merit(const perp_newton_core *c, const perp_newton_point *point)
{
    double sum = 0.0;
    for (int i = 0; i < c->n; i++) {
        bool bound;
        const double value = natural_map(c, point, i, &bound);
        sum += 0.5 * value * value;
    }
    return sum;
}

void perp_newton_swap(perp_newton_point *a, perp_newton_point *b)
{
    const perp_newton_point t = *a;
    *a = *b;
    *b = t;
}
