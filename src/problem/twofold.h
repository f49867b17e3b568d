/* twofold.h - sums in twice the precision, by fma and Knuth's two-sum.
 *
 * The value is `value + rest`. While adding, `rest` collects the exact errors of the operations; perp_twofold_settle
 * leaves |rest| at most half a unit in the last place of `value`. An overflow makes both NaN or infinite.
 */
#ifndef PERP_SRC_PROBLEM_TWOFOLD_H
#define PERP_SRC_PROBLEM_TWOFOLD_H

#include <math.h>

typedef struct perp_twofold {
    double value, rest;
} perp_twofold;

static inline void perp_twofold_add(perp_twofold *sum, double a)
{
    const double total = sum->value + a, part = total - sum->value;
    sum->rest += (sum->value - (total - part)) + (a - part);
    sum->value = total;
}

static inline void perp_twofold_add_product(perp_twofold *sum, double a, double b)
{
    const double product = a * b;
    perp_twofold_add(sum, product);
    sum->rest += fma(a, b, -product);
}

/* sum += a b, b being settled */
static inline void perp_twofold_add_scaled(perp_twofold *sum, double a, perp_twofold b)
{
    perp_twofold_add_product(sum, a, b.value);
    sum->rest += a * b.rest;
}

static inline perp_twofold perp_twofold_settle(perp_twofold sum)
{
    const double total = sum.value + sum.rest;
    const perp_twofold settled = {total, sum.rest - (total - sum.value)};
    return settled;
}

#endif
