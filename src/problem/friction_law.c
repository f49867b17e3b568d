#include "problem/friction_law.h"

#include "problem/natural_map.h"
#include "problem/twofold.h"

static double norm3(int rows, const double *a)
{
    const double rest = rows > 2 ? hypot(a[1], a[2]) : rows > 1 ? fabs(a[1]) : 0.0;
    return hypot(a[0], rest);
}

/* Twice the precision of y^2, y being settled. */
static void add_square(perp_twofold *sum, double sign, perp_twofold y)
{
    perp_twofold_add_product(sum, sign * y.value, y.value);
    sum->rest += sign * 2.0 * y.value * y.rest;
}

/* How far y is outside of K along the normal axis, |yt| / mu - yn (mu > 1), or across it, |yt| - mu yn: the one that
 * cannot overflow. Where both terms are alike it comes from the difference of their squares in twice the precision, as
 * for large forces the plain difference would be rounding alone. y is settled and its largest entry near 1. */
static double excess(int rows, double mu, const perp_twofold *y, double tangent)
{
    const double inverse = mu > 1.0 ? 1.0 / mu : 1.0, bound = mu * y[0].value;
    const bool alike = bound > 0.5 * tangent && bound < 2.0 * tangent;
    if (!alike) {
        return mu > 1.0 ? tangent * inverse - y[0].value : tangent - bound;
    }
    perp_twofold limit = {0.0, 0.0}, difference = {0.0, 0.0};
    perp_twofold_add_scaled(&limit, mu, y[0]);
    add_square(&difference, -1.0, perp_twofold_settle(limit));
    for (int i = 1; i < rows; i++) {
        add_square(&difference, 1.0, y[i]);
    }
    return (difference.value + difference.rest) / (tangent + bound) * inverse;
}

/* y = p - z with p = weight r, and in the return value a power of two that it was divided by, so that its largest entry
 * is near 1 and squares neither overflow nor vanish. */
static double difference(int rows, double weight, const double *r, const double *z, perp_twofold *y)
{
    double largest = 0.0;
    for (int i = 0; i < rows; i++) {
        y[i] = (perp_twofold){-z[i], 0.0};
        perp_twofold_add_product(&y[i], weight, r[i]);
        y[i] = perp_twofold_settle(y[i]);
        largest = perp_problem_worse(largest, fabs(y[i].value));
    }
    if (largest == 0.0 || !isfinite(largest)) {
        return largest;
    }
    int exponent;
    (void)frexp(largest, &exponent);
    for (int i = 0; i < rows; i++) {
        y[i].value = ldexp(y[i].value, -exponent);
        y[i].rest = ldexp(y[i].rest, -exponent);
    }
    return ldexp(0.5, exponent); /* half of it, as 2^1024 is no number */
}

/* With friction. The error p - P(y) is z + (y - P(y)), and y - P(y) is a multiple of K's normal (-mu, t): no large p is
 * left in it, so that its rounding is that of z. */
static double natural_map(int rows, double mu, double weight, const double *r, const double *z)
{
    perp_twofold y[3] = {{0.0, 0.0}};
    const double half = difference(rows, weight, r, z, y);
    if (half == 0.0) {
        return norm3(rows, z); /* P(0) = 0 and p = z */
    }
    if (!isfinite(half)) {
        return INFINITY;
    }
    const double tangent = rows > 2 ? hypot(y[1].value, y[2].value) : fabs(y[1].value);
    const double beyond = excess(rows, mu, y, tangent);
    if (beyond <= 0.0) {
        return norm3(rows, z);
    }
    if (y[0].value <= -mu * tangent) { /* in the polar cone: P(y) = 0 */
        const double p[3] = {weight * r[0], weight * r[1], rows > 2 ? weight * r[2] : 0.0};
        return norm3(rows, p);
    }
    const double axial = mu > 1.0 ? 1.0 : mu, across = mu > 1.0 ? 1.0 / mu : 1.0;
    const double size = beyond / (axial * axial + across * across) * half * 2.0;
    double e[3] = {z[0] - axial * size, 0.0, 0.0};
    for (int i = 1; i < rows; i++) {
        e[i] = z[i] + across * size * (y[i].value / tangent);
    }
    return norm3(rows, e);
}

double perp_friction_law(int rows, double mu, double weight, const double *r, const double *u)
{
    for (int i = 0; i < rows; i++) {
        if (!isfinite(r[i]) || !isfinite(u[i]) || !isfinite(weight * r[i])) {
            return INFINITY;
        }
    }
    if (rows == 1 || mu == 0.0) { /* ut is free, ft is 0 */
        double e[3] = {perp_natural_map(weight * r[0], u[0], 0.0, INFINITY), 0.0, 0.0};
        for (int i = 1; i < rows; i++) {
            e[i] = weight * r[i];
        }
        return norm3(rows, e);
    }
    const double slip = rows > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
    const double z[3] = {u[0] + mu * slip, u[1], rows > 2 ? u[2] : 0.0};
    const double map = isfinite(z[0]) ? natural_map(rows, mu, weight, r, z) : INFINITY;
    return isnan(map) ? INFINITY : fmax(map, -u[0]);
}
