/* farkas_check.h - whether u proves that a complementarity problem has no point, decided without any rounding.
 *
 * Let F = M z + q and lower <= z <= upper. A solution has F_i >= 0 where there is no upper bound, F_i <= 0 where there
 * is no lower one, F_i = 0 where there is neither, and F_i of any sign where there are both. u proves that there is
 * none if u_i >= 0, <= 0, of any sign, = 0 on these rows, so that u'F >= 0 at a solution, and yet
 *     u'F = q'u + sum_j s_j z_j,   s = M'u,
 * is negative for all z within the bounds: s_j points at a finite bound or is 0, and the sum with these bounds is
 * negative.
 *
 * Sums are expansions (Shewchuk 1997): lists of doubles that do not overlap, whose exact sum is the value, so that the
 * sign of the last is the sign of the whole. The library uses a fixed-point number instead.
 */
#ifndef PERP_TESTS_SOLVER_FARKAS_CHECK_H
#define PERP_TESTS_SOLVER_FARKAS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXPANSION_PARTS = 256 };

typedef struct expansion {
    double part[EXPANSION_PARTS]; /* smallest first, none of them 0 */
    int count;
    bool valid; /* false after an overflow, an underflow, or without room */
} expansion;

static inline void expansion_add(expansion *e, double x)
{
    int kept = 0;
    for (int k = 0; k < e->count; k++) {
        const double y = e->part[k], sum = x + y, virtual = sum - x, error = (x - (sum - virtual)) + (y - virtual);
        if (error != 0.0) {
            e->part[kept++] = error;
        }
        x = sum;
    }
    e->valid = e->valid && kept < EXPANSION_PARTS - 1 && isfinite(x);
    if (x != 0.0 && e->valid) {
        e->part[kept++] = x;
    }
    e->count = kept;
}

static inline void expansion_add_product(expansion *e, double a, double b)
{
    if (a != 0.0 && b != 0.0) {
        const double product = a * b;
        e->valid = e->valid && fabs(product) > 1e-290; /* its error is then a double */
        expansion_add(e, product);
        expansion_add(e, fma(a, b, -product));
    }
}

static inline int expansion_sign(const expansion *e)
{
    return e->count == 0 ? 0 : (e->part[e->count - 1] > 0.0 ? 1 : -1);
}

/* `lower` and `upper` NULL: 0 and infinity. */
static inline bool farkas_holds(int n, const double *m, const double *q, const double *lower, const double *upper,
                                const double *u)
{
    expansion total = {.valid = true};
    for (int i = 0; i < n; i++) {
        const bool may_rise = !(upper && isfinite(upper[i])), may_fall = lower && !isfinite(lower[i]);
        if (!isfinite(u[i]) || (u[i] > 0.0 && !may_rise) || (u[i] < 0.0 && !may_fall)) {
            return false;
        }
        expansion_add_product(&total, q[i], u[i]);
    }
    for (int j = 0; j < n; j++) {
        expansion s = {.valid = true};
        for (int i = 0; i < n; i++) {
            expansion_add_product(&s, m[(size_t)i * (size_t)n + (size_t)j], u[i]);
        }
        const int sign = expansion_sign(&s);
        const double bound = sign > 0 ? (upper ? upper[j] : INFINITY) : (lower ? lower[j] : 0.0);
        if (!s.valid || (sign != 0 && !isfinite(bound))) {
            return false;
        }
        for (int k = 0; k < s.count; k++) {
            expansion_add_product(&total, s.part[k], bound);
        }
    }
    return total.valid && expansion_sign(&total) < 0;
}

#endif
