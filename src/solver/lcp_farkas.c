/* The proof that no point meets the inequalities (Farkas).
 *
 * Let F = M z + q and lower <= z <= upper. A solution has F_i >= 0 where z_i has no upper bound, F_i <= 0 where it has
 * no lower one, F_i = 0 where it has neither, and any F_i where it has both. So a u with u_i >= 0, <= 0, of any sign
 * and = 0 on these rows gives u'F >= 0 at every solution. But u'F = q'u + s'z with s = M'u, which is at most q'u + sum
 * of s_j times the bound that s_j points at. Where that sum is finite and negative, there is no solution.
 *
 * The signs of s are those of the numbers as given: a tolerance here, however small, would call matrices infeasible
 * that are merely near a singular one, whose solutions are large. So s and q'u are summed without any rounding, in a
 * fixed-point number as wide as the range of doubles. The price is that a singular M known only to rounding gives no
 * proof, and rightly: with its last bits changed it has solutions. */
#include "solver/lcp_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

enum { LOWEST = 1074, LIMBS = 72 }; /* limbs of 32 bits from 2^-1074; the carries of 2^30 additions fit above them */

static const int64_t BASE = (int64_t)1 << 32;

typedef struct exact_sum {
    int64_t limb[LIMBS];
    bool valid; /* false after an overflow or an underflow */
} exact_sum;

static void add(exact_sum *s, double x)
{
    int exponent = 0;
    const double fraction = frexp(fabs(x), &exponent);
    uint64_t bits = (uint64_t)ldexp(fraction, 53);
    int place = exponent - 53 + LOWEST;
    if (place < 0) { /* subnormal: the bits shifted out are zero */
        bits >>= -place;
        place = 0;
    }
    const uint64_t low = (bits & 0xffffffffu) << (place % 32), high = (bits >> 32) << (place % 32);
    const int64_t sign = x < 0.0 ? -1 : 1;
    int64_t *limb = s->limb + place / 32;
    limb[0] += sign * (int64_t)(low & 0xffffffffu);
    limb[1] += sign * (int64_t)((low >> 32) + (high & 0xffffffffu));
    limb[2] += sign * (int64_t)(high >> 32);
}

static void add_product(exact_sum *s, double a, double b)
{
    if (a == 0.0 || b == 0.0) {
        return;
    }
    const double product = a * b;
    if (!(fabs(product) > PRODUCT_LEAST && fabs(product) < 1e300)) { /* its error might not be a double */
        s->valid = false;
        return;
    }
    const double error = fma(a, b, -product);
    add(s, product);
    if (error != 0.0) {
        add(s, error);
    }
}

/* Limbs in [0, BASE) but for the last, which has the sign of the whole. */
static void carry(exact_sum *s)
{
    for (int i = 0; i + 1 < LIMBS; i++) {
        const int64_t v = s->limb[i], over = v >= 0 ? v / BASE : -((BASE - 1 - v) / BASE);
        s->limb[i] = v - over * BASE;
        s->limb[i + 1] += over;
    }
}

/* The sum: its sign exactly, its value but for LIMBS roundings. */
static double value_of(exact_sum *s)
{
    carry(s);
    const double sign = s->limb[LIMBS - 1] < 0 ? -1.0 : 1.0;
    if (sign < 0.0) {
        for (int i = 0; i < LIMBS; i++) {
            s->limb[i] = -s->limb[i];
        }
        carry(s);
    }
    double value = 0.0;
    for (int i = 0; i < LIMBS; i++) {
        value += s->limb[i] != 0 ? ldexp((double)s->limb[i], 32 * i - LOWEST) : 0.0;
    }
    return sign * value;
}

/* s_j = (M'u)_j; false if it is not known or points at no bound. A plain sum that is far from what is needed spares
 * the exact one. */
static bool column_sum(const perp_lcp_workspace *c, const double *u, int j, double *s)
{
    const int n = c->data.n;
    const double lower = perp_lcp_lower(c, j), upper = perp_lcp_upper(c, j);
    double plain = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        const double term = c->data.m[(ptrdiff_t)i * n + j] * u[i];
        plain += term;
        size += fabs(term);
    }
    if ((plain > CLEAR_SIGN * size && !isfinite(upper)) || (plain < -CLEAR_SIGN * size && !isfinite(lower))) {
        return false;
    }
    exact_sum sum = {.valid = true};
    for (int i = 0; i < n && sum.valid; i++) {
        add_product(&sum, c->data.m[(ptrdiff_t)i * n + j], u[i]);
    }
    *s = sum.valid ? value_of(&sum) : NAN;
    return sum.valid && (*s == 0.0 || isfinite(*s > 0.0 ? upper : lower));
}

static bool proves(const perp_lcp_workspace *c, const double *u)
{
    const int n = c->data.n;
    exact_sum constant = {.valid = true};
    for (int i = 0; i < n && constant.valid; i++) {
        add_product(&constant, c->data.q[i], u[i]);
    }
    if (!constant.valid) {
        return false;
    }
    double most = value_of(&constant), size = fabs(most);
    for (int j = 0; j < n; j++) {
        double s = 0.0;
        if (!column_sum(c, u, j, &s)) {
            return false;
        }
        const double term = s == 0.0 ? 0.0 : s * (s > 0.0 ? perp_lcp_upper(c, j) : perp_lcp_lower(c, j));
        most += term;
        size += fabs(term);
    }
    /* Every s_j has at most LIMBS roundings of 2^-53, the sum n + 1 more. */
    return isfinite(size) && most < -ldexp((double)(n + LIMBS + 8), -51) * size && most < -PRODUCT_LEAST;
}

/* 0 where the sign is not allowed, and the largest entry in [1/2, 1); false if nothing is left. */
static bool clean(const perp_lcp_workspace *c, double *u)
{
    double largest = 0.0;
    for (int i = 0; i < c->data.n; i++) {
        const bool may_rise = !isfinite(perp_lcp_upper(c, i)), may_fall = !isfinite(perp_lcp_lower(c, i));
        u[i] = (u[i] > 0.0 && may_rise) || (u[i] < 0.0 && may_fall) ? u[i] : 0.0;
        largest = fmax(largest, fabs(u[i]));
    }
    if (!(largest > 0.0 && largest < INFINITY)) {
        return false;
    }
    int exponent = 0;
    (void)frexp(largest, &exponent);
    for (int i = 0; i < c->data.n; i++) {
        u[i] = ldexp(u[i], -exponent);
    }
    return true;
}

/* The smallest denominator that a continued fraction finds for x within `error`; 0 if none up to `limit`. */
static double denominator(double x, double error, double limit)
{
    double before = 0.0, now = 1.0, rest = x;
    for (int step = 0; step < 40 && now <= limit; step++) {
        if (fabs(x * now - nearbyint(x * now)) <= error * now) {
            return now;
        }
        const double fraction = rest - floor(rest);
        if (!(fraction > 0.0)) {
            return 0.0;
        }
        rest = 1.0 / fraction;
        const double next = step == 0 ? floor(rest) : floor(rest) * now + before;
        before = now;
        now = next;
    }
    return 0.0;
}

/* u as integers, if its entries are fractions with a common denominator: what follows from data with few digits, as
 * equal or opposite rows, is such a vector, and with its rounding would prove nothing. */
static bool as_integers(int n, const double *u, double *integers)
{
    static const double LIMIT = 1e9;
    double largest = 0.0, common = 1.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(u[i]));
    }
    for (int i = 0; i < n; i++) {
        const double own = denominator(fabs(u[i]) / largest * common, INTEGER_ACCURACY * common, LIMIT / common);
        if (own == 0.0) {
            return false;
        }
        common *= own;
    }
    for (int i = 0; i < n; i++) {
        integers[i] = nearbyint(u[i] / largest * common);
    }
    return true;
}

bool perp_lcp_prove_infeasible(perp_lcp_workspace *c, double *u)
{
    const int n = c->data.n;
    if (!clean(c, u)) {
        return false;
    }
    memcpy(c->farkas, u, (size_t)n * sizeof(double));
    return proves(c, c->farkas) || (as_integers(n, u, c->farkas) && proves(c, c->farkas));
}
