/* convex_constraint.h - the constraints of a convex view one after another, and how far each is violated.
 *
 * Files of the problem layer only; hence the short names of what is static.
 */
#ifndef PERP_SRC_PROBLEM_CONVEX_CONSTRAINT_H
#define PERP_SRC_PROBLEM_CONVEX_CONSTRAINT_H

#include "linalg/dense_kernel.h"
#include "problem/convex_residual.h"
#include "problem/twofold.h"

#include <float.h>
#include <math.h>

enum {
    DOFS_GATHERED = 64, /* unknowns of a constraint whose x is copied, to be contiguous */
    ROWS_AT_ONCE = 32   /* products J x or R'y of a constraint kept at a time */
};

typedef enum { SET_NONNEGATIVE, SET_CONE, SET_ZERO } convex_set;

typedef struct constraint {
    int next; /* number of the one that follows */
    convex_set set;
    int slacks, rows, dofs;
    const int *dof; /* NULL: 0 .. dofs - 1 */
    const double *jacobian, *rays, *offset, *y;
    double offset_sign;
} constraint;

/* Row r of J; it may be absent where there are no unknowns. */
static inline const double *row_of(const constraint *c, int r)
{
    const ptrdiff_t start = (ptrdiff_t)r * c->dofs;
    return start > 0 ? c->jacobian + start : c->jacobian;
}

/* Before the first constraint; y (NULL: none) belongs to those that are not equations. */
void perp_constraint_begin(const perp_convex_view *view, const double *y, constraint *c);
/* The next one, equations last; false after them. */
bool perp_constraint_next(const perp_convex_view *view, const double *y_equality, constraint *c);

/* Raises the parts of `r` to those of the constraint: how far s is outside of its set over unit + the sizes of the
 * terms of s; how far y is outside of the dual of the set, which for these is the set itself and everything for
 * equations, over unit + |y|; |s . y| over the product of both. Entry by entry, or for a cone by its largest entries.
 * *near (natural_map.h) is raised by the first of these. */
void perp_constraint_measure(const constraint *c, const double *x, double unit, perp_convex_residual *r, double *near);
/* The distance of (first, v) to the second-order cone, from |v|^2. */
double perp_cone_distance(double first, double squares);

static inline double larger(double a, double b)
{
    return b > a ? b : a;
}

/* Each lane without its sign. */
static inline perp_lanes absolute_lanes(perp_lanes x)
{
    typedef long long bits __attribute__((vector_size(16)));
    const bits magnitude = {0x7fffffffffffffff, 0x7fffffffffffffff};
    typedef double aligned_lanes __attribute__((vector_size(16)));
    return (perp_lanes)((bits)(aligned_lanes)x & magnitude);
}

/* sum_k values[k] x[k], and in `size` the same of absolute values. */
static inline double row_product(int count, const double *values, const double *x, double *size)
{
    perp_lanes sum = {0.0, 0.0}, absolute = {0.0, 0.0};
    int k = 0;
    for (; k + 1 < count; k += 2) {
        const perp_lanes product = perp_lanes_load(values + k) * perp_lanes_load(x + k);
        sum += product;
        absolute += absolute_lanes(product);
    }
    const double last = k < count ? values[k] * x[k] : 0.0;
    *size = absolute[0] + absolute[1] + fabs(last);
    return sum[0] + sum[1] + last;
}

/* What a constraint needs on the stack: the products J x, or R'y, of up to ROWS_AT_ONCE of its rows. A constraint that
 * has more rows and rays besides forms its J x again for every slack: slow, but no contact is like that. */
typedef struct row_products {
    int first, count;
    double value[ROWS_AT_ONCE];
    double size[ROWS_AT_ONCE]; /* the sum of the absolute values of its terms */
    const int *dof;            /* of `at`; NULL: 0, 1, .. */
    const double *at;          /* x, or a contiguous copy of what is needed of it */
    double x[DOFS_GATHERED];
} row_products;

static inline int rows_from(const constraint *c, int first)
{
    return c->rows - first < ROWS_AT_ONCE ? c->rows - first : ROWS_AT_ONCE;
}

#endif
