/* convex_test.h - what the tests of the convex classes share: a generator, and a reference that writes every class out
 * as dense matrices and recomputes residual, objective and certificates in long double, straight from problem.h. */
#ifndef PERP_TESTS_PROBLEM_CONVEX_TEST_H
#define PERP_TESTS_PROBLEM_CONVEX_TEST_H

#include <perp/problem.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

enum { REF_N = 320, REF_SLACKS = 160, REF_EQUALITIES = 16 };

/* s = A x + offset, in cones of `cone_rows` (1: nonnegative). */
typedef struct reference {
    int n, slacks, cones, equalities;
    int cone_rows[REF_SLACKS];
    long double h[REF_N][REF_N], g[REF_N];
    long double a[REF_SLACKS][REF_N], offset[REF_SLACKS];
    long double size[REF_SLACKS][REF_N]; /* of the terms of an entry of A: |A|, or |R||J| of a contact qp */
    long double c[REF_EQUALITIES][REF_N], d[REF_EQUALITIES];
    /* of certificates: the largest entry of the row, where the row has the unknown; times |R| of a contact qp */
    long double a_open[REF_SLACKS][REF_N], c_open[REF_EQUALITIES][REF_N];
    const double *lower, *upper;
} reference;

/* ---- random numbers ---- */

static inline double draw(uint64_t *seed) /* -1 .. 1 */
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static inline int draw_int(uint64_t *seed, int low, int high) /* low .. high */
{
    return low + (int)((draw(seed) + 1.0) * 0.5 * (double)(high - low + 1));
}

static inline void draw_vector(uint64_t *seed, int n, double scale, double *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = scale * draw(seed);
    }
}

/* Entries that are zero with the probability `zeros`. */
static inline void draw_sparse(uint64_t *seed, int n, double zeros, double *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = (draw(seed) + 1.0) * 0.5 < zeros ? 0.0 : draw(seed);
    }
}

/* Diagonally dominant, symmetric, coupled where (i - j) is a multiple of `stride`; every `flat`-th unknown has none. */
static inline void draw_hessian(uint64_t *seed, int n, int stride, int flat, double *h)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const bool zero = (i - j) % stride != 0 || (flat > 0 && (i % flat == 0 || j % flat == 0));
            h[i * n + j] = h[j * n + i] = zero ? 0.0 : (i == j ? (double)n + 1.0 : draw(seed));
        }
    }
}

/* Some infinite, some equal; lower <= upper. */
static inline void draw_bounds(uint64_t *seed, int n, double *lower, double *upper)
{
    for (int i = 0; i < n; i++) {
        lower[i] = draw(seed);
        upper[i] = lower[i] + (i % 5 == 0 ? 0.0 : 1.0 + draw(seed));
        lower[i] = i % 3 == 1 ? -INFINITY : lower[i];
        upper[i] = i % 4 == 2 ? INFINITY : upper[i];
    }
}

/* ---- the reference ---- */

static inline long double ref_worse(long double a, long double b)
{
    return b > a ? b : a;
}

static inline long double ref_row(const reference *r, const long double *row, const double *x)
{
    long double sum = 0.0L;
    for (int j = 0; j < r->n; j++) {
        sum += row[j] * (long double)x[j];
    }
    return sum;
}

/* |row||x| */
static inline long double ref_size(const reference *r, const long double *row, const double *x)
{
    long double sum = 0.0L;
    for (int j = 0; j < r->n; j++) {
        sum += fabsl(row[j] * (long double)x[j]);
    }
    return sum;
}

/* How far a certificate's sum is from zero: where it cancels, or may be 2^-50 of the largest entries, by the proof's
 * value. */
static inline long double ref_zero(long double off, long double size, long double open, long double worth)
{
    const long double own = off <= 0.0L ? 0.0L : off / size, beside = off <= 0.0L ? 0.0L : off / worth;
    return (own <= 1e-5L || off <= 0x1p-50L * open) && beside < own ? beside : own;
}

/* 0 over 0 is 0 */
static inline long double ref_over(long double value, long double scale)
{
    return value == 0.0L ? 0.0L : value / scale;
}

static inline long double ref_distance(int rows, const long double *s)
{
    long double squares = 0.0L;
    for (int i = 1; i < rows; i++) {
        squares += s[i] * s[i];
    }
    const long double norm = sqrtl(squares);
    if (rows == 1 || s[0] <= -norm) {
        return s[0] >= 0.0L ? 0.0L : sqrtl(s[0] * s[0] + squares);
    }
    return s[0] >= norm ? 0.0L : (norm - s[0]) / sqrtl(2.0L);
}

/* The size of a cone's largest entry. */
static inline long double ref_largest(int rows, const long double *sizes)
{
    long double most = 0.0L;
    for (int i = 0; i < rows; i++) {
        most = ref_worse(most, sizes[i]);
    }
    return most;
}

/* How far `values` are outside of the product of the cones, each over unit + its size. */
static inline long double ref_outside(const reference *r, const long double *values, const long double *sizes,
                                      long double unit)
{
    long double worst = 0.0L;
    for (int k = 0, start = 0; k < r->cones; start += r->cone_rows[k++]) {
        const long double scale = unit + ref_largest(r->cone_rows[k], sizes + start);
        worst = ref_worse(worst, ref_over(ref_distance(r->cone_rows[k], values + start), scale));
    }
    return worst;
}

/* What the multipliers alone are outside by. */
static inline long double ref_multipliers(const reference *r, const perp_convex_point *p, long double unit)
{
    long double y[REF_SLACKS], sizes[REF_SLACKS], worst;
    for (int i = 0; i < r->slacks; i++) {
        y[i] = p->y[i];
        sizes[i] = fabsl(y[i]);
    }
    worst = ref_outside(r, y, sizes, unit);
    for (int j = 0; j < 2 * r->n; j++) {
        const double *bound = j < r->n ? r->lower : r->upper;
        if (bound) {
            const long double yj = j < r->n ? p->y_lower[j] : p->y_upper[j - r->n];
            worst = ref_worse(worst, ref_over(isfinite(bound[j % r->n]) ? -yj : fabsl(yj), unit + fabsl(yj)));
        }
    }
    return worst;
}

/* The largest entry of (H x + g) - A'y - C'y_equality - y_lower + y_upper over 1 + the sizes of its terms; of a
 * certificate that is worth something without what is in brackets and the 1. */
static inline long double ref_stationarity(const reference *r, const perp_convex_point *p, long double worth)
{
    long double worst = 0.0L;
    for (int j = 0; j < r->n; j++) {
        long double sum = worth > 0.0L ? 0.0L : ref_row(r, r->h[j], p->x) + r->g[j], open = 0.0L;
        long double size = worth > 0.0L ? 0.0L : ref_size(r, r->h[j], p->x) + fabsl(r->g[j]);
        for (int i = 0; i < r->slacks; i++) {
            sum -= r->a[i][j] * (long double)p->y[i];
            size += r->size[i][j] * fabsl((long double)p->y[i]);
            open += r->a_open[i][j] * fabsl((long double)p->y[i]);
        }
        for (int i = 0; i < r->equalities; i++) {
            sum -= r->c[i][j] * (long double)p->y_equality[i];
            size += fabsl(r->c[i][j] * (long double)p->y_equality[i]);
            open += r->c_open[i][j] * fabsl((long double)p->y_equality[i]);
        }
        sum -= r->lower ? (long double)p->y_lower[j] : 0.0L;
        sum += r->upper ? (long double)p->y_upper[j] : 0.0L;
        size += (r->lower ? fabsl((long double)p->y_lower[j]) : 0.0L) +
                (r->upper ? fabsl((long double)p->y_upper[j]) : 0.0L);
        worst = ref_worse(worst, worth > 0.0L ? ref_zero(fabsl(sum), size, open, worth) : fabsl(sum) / (1.0L + size));
    }
    return worst;
}

static inline perp_convex_residual ref_residual(const reference *r, const perp_convex_point *p)
{
    long double primal, dual, product = 0.0L, s[REF_SLACKS], sizes[REF_SLACKS];
    for (int i = 0; i < r->slacks; i++) {
        s[i] = ref_row(r, r->a[i], p->x) + r->offset[i];
        sizes[i] = ref_size(r, r->size[i], p->x) + fabsl(r->offset[i]);
    }
    primal = ref_outside(r, s, sizes, 1.0L);
    dual = ref_worse(ref_multipliers(r, p, 1.0L), ref_stationarity(r, p, 0.0L));
    for (int k = 0, start = 0; k < r->cones; start += r->cone_rows[k++]) {
        long double dot = 0.0L, most = 0.0L;
        for (int i = start; i < start + r->cone_rows[k]; i++) {
            dot += s[i] * (long double)p->y[i];
            most = ref_worse(most, fabs(p->y[i]));
        }
        const long double scale = 1.0L + ref_largest(r->cone_rows[k], sizes + start);
        product = ref_worse(product, fabsl(dot) / (scale * (1.0L + most)));
    }
    for (int i = 0; i < r->equalities; i++) {
        const long double scale = 1.0L + ref_size(r, r->c[i], p->x) + fabsl(r->d[i]);
        primal = ref_worse(primal, fabsl(ref_row(r, r->c[i], p->x) - r->d[i]) / scale);
    }
    for (int j = 0; j < r->n; j++) {
        for (int side = 0; side < 2; side++) {
            const double *bound = side ? r->upper : r->lower;
            if (bound && isfinite(bound[j])) {
                const long double slack = (side ? -1.0L : 1.0L) * ((long double)p->x[j] - (long double)bound[j]);
                const long double y = (side ? p->y_upper : p->y_lower)[j],
                                  scale = 1.0L + fabs(bound[j]) + fabs(p->x[j]);
                primal = ref_worse(primal, -slack / scale);
                product = ref_worse(product, fabsl(slack * y) / (scale * (1.0L + fabsl(y))));
            }
        }
    }
    const perp_convex_residual residual = {(double)primal, (double)dual, (double)product};
    return residual;
}

static inline double ref_objective(const reference *r, const double *x)
{
    long double sum = 0.0L;
    for (int j = 0; j < r->n; j++) {
        sum += (long double)x[j] * (0.5L * ref_row(r, r->h[j], x) + r->g[j]);
    }
    return (double)sum;
}

/* A term of a proof's value; its size has the weight in it as well. */
static inline void ref_weigh(long double *sum, long double *size, long double weight, long double constant)
{
    *sum += weight * constant;
    *size += fabsl(weight * constant) + fabsl(weight);
}

static inline double ref_infeasibility(const reference *r, const perp_convex_point *p)
{
    long double value = 0.0L, size = 0.0L;
    for (int i = 0; i < r->slacks; i++) {
        ref_weigh(&value, &size, p->y[i], -r->offset[i]);
    }
    for (int i = 0; i < r->equalities; i++) {
        ref_weigh(&value, &size, p->y_equality[i], r->d[i]);
    }
    for (int j = 0; j < r->n; j++) {
        if (r->lower && isfinite(r->lower[j])) {
            ref_weigh(&value, &size, p->y_lower[j], r->lower[j]);
        }
        if (r->upper && isfinite(r->upper[j])) {
            ref_weigh(&value, &size, p->y_upper[j], -(long double)r->upper[j]);
        }
    }
    if (!(value > 1e-8L * size)) {
        return INFINITY;
    }
    return (double)ref_worse(ref_multipliers(r, p, 0.0L), ref_stationarity(r, p, value));
}

/* How far a row is from zero, or a cone from itself, along x. */
static inline long double ref_direction(const reference *r, const double *x, long double worth)
{
    long double worst = 0.0L, s[REF_SLACKS], sizes[REF_SLACKS], opens[REF_SLACKS];
    for (int i = 0; i < r->slacks; i++) {
        s[i] = ref_row(r, r->a[i], x);
        sizes[i] = ref_size(r, r->size[i], x);
        opens[i] = ref_size(r, r->a_open[i], x);
    }
    for (int k = 0, start = 0; k < r->cones; start += r->cone_rows[k++]) {
        const int rows = r->cone_rows[k];
        worst = ref_worse(worst, ref_zero(ref_distance(rows, s + start), ref_largest(rows, sizes + start),
                                          ref_largest(rows, opens + start), worth));
    }
    for (int i = 0; i < r->equalities; i++) {
        worst = ref_worse(worst, ref_zero(fabsl(ref_row(r, r->c[i], x)), ref_size(r, r->c[i], x),
                                          ref_size(r, r->c_open[i], x), worth));
    }
    return worst;
}

static inline double ref_unboundedness(const reference *r, const double *x)
{
    long double fall = 0.0L, size = 0.0L;
    for (int j = 0; j < r->n; j++) {
        ref_weigh(&fall, &size, x[j], -r->g[j]);
    }
    if (!(fall > 1e-8L * size)) {
        return INFINITY;
    }
    long double worst = ref_direction(r, x, fall);
    for (int j = 0; j < r->n; j++) {
        long double most = 0.0L, open = 0.0L;
        for (int k = 0; k < r->n; k++) {
            most = ref_worse(most, fabsl(r->h[j][k]));
        }
        for (int k = 0; k < r->n; k++) {
            open += r->h[j][k] != 0.0L ? most * fabsl((long double)x[k]) : 0.0L;
        }
        worst = ref_worse(worst, ref_zero(fabsl(ref_row(r, r->h[j], x)), ref_size(r, r->h[j], x), open, fall));
        worst = ref_worse(worst, r->lower && isfinite(r->lower[j]) && x[j] < 0.0 ? 1.0L : 0.0L);
        worst = ref_worse(worst, r->upper && isfinite(r->upper[j]) && x[j] > 0.0 ? 1.0L : 0.0L);
    }
    return (double)worst;
}

/* ---- classes as references ---- */

static inline void ref_dense_part(reference *r, int n, const double *h, const double *g, int slacks, const double *a,
                                  int equalities, const double *c, const double *d)
{
    memset(r, 0, sizeof *r);
    r->n = n;
    r->slacks = slacks;
    r->equalities = equalities;
    for (int j = 0; j < n; j++) {
        r->g[j] = g[j];
        for (int k = 0; k < n; k++) {
            r->h[j][k] = h ? h[j * n + k] : 0.0;
        }
        for (int i = 0; i < slacks; i++) {
            r->a[i][j] = a[i * n + j];
            r->size[i][j] = fabsl(r->a[i][j]);
        }
        for (int i = 0; i < equalities; i++) {
            r->c[i][j] = c[i * n + j];
            r->d[i] = d[i];
        }
    }
    for (int i = 0; i < slacks + equalities; i++) {
        const double *row = i < slacks ? a + i * n : c + (i - slacks) * n;
        long double *open = i < slacks ? r->a_open[i] : r->c_open[i - slacks], most = 0.0L;
        for (int j = 0; j < n; j++) {
            most = ref_worse(most, fabs(row[j]));
        }
        for (int j = 0; j < n; j++) {
            open[j] = row[j] != 0.0 ? most : 0.0L;
        }
    }
}

static inline void ref_of_qp(const perp_qp *p, reference *r)
{
    ref_dense_part(r, p->n, p->h, p->g, p->rows, p->a, p->equalities, p->c, p->d);
    r->cones = p->rows;
    for (int i = 0; i < p->rows; i++) {
        r->cone_rows[i] = 1;
        r->offset[i] = -p->b[i];
    }
    r->lower = p->lower;
    r->upper = p->upper;
}

static inline void ref_of_cone_qp(const perp_cone_qp *p, reference *r)
{
    int rows = 0;
    for (int k = 0; k < p->cones; k++) {
        rows += p->cone_rows[k];
    }
    ref_dense_part(r, p->n, p->h, p->g, rows, p->a, p->equalities, p->c, p->d);
    r->cones = p->cones;
    memcpy(r->cone_rows, p->cone_rows, (size_t)p->cones * sizeof *p->cone_rows);
    for (int i = 0; i < rows; i++) {
        r->offset[i] = p->b[i];
    }
}

static inline void ref_of_contact_qp(const perp_contact_qp *p, reference *r)
{
    ref_dense_part(r, p->n, NULL, p->g, 0, NULL, 0, NULL, NULL);
    const double *h = p->hessian, *jacobian = p->jacobian, *rays = p->rays;
    for (int k = 0; h && k < p->block_count; k++) {
        for (int i = p->block_start[k]; i < p->block_start[k + 1]; i++) {
            for (int j = p->block_start[k]; j < p->block_start[k + 1]; j++) {
                r->h[i][j] = *h++;
            }
        }
    }
    r->slacks = p->slack_start[p->contact_count];
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], slacks = p->slack_start[i + 1] - p->slack_start[i];
        const int dofs = p->dof_start[i + 1] - p->dof_start[i];
        for (int l = 0; l < slacks; l++) {
            const int slack = p->slack_start[i] + l;
            r->offset[slack] = p->offset[slack];
            for (int row = 0; row < rows; row++) {
                const double ray = rays ? rays[l * rows + row] : (l == row ? 1.0 : 0.0);
                long double most = 0.0L;
                for (int d = 0; d < dofs; d++) {
                    most = ref_worse(most, fabs(jacobian[row * dofs + d]));
                }
                for (int d = 0; d < dofs; d++) {
                    const long double entry = (long double)ray * (long double)jacobian[row * dofs + d];
                    r->a[slack][p->dofs[p->dof_start[i] + d]] += entry;
                    r->size[slack][p->dofs[p->dof_start[i] + d]] += fabsl(entry);
                    r->a_open[slack][p->dofs[p->dof_start[i] + d]] += entry != 0.0L ? fabs(ray) * most : 0.0L;
                }
            }
        }
        const bool cone = p->quadratic && p->quadratic[i];
        for (int l = 0; l < (cone ? 1 : slacks); l++) {
            r->cone_rows[r->cones++] = cone ? slacks : 1;
        }
        jacobian += rows * dofs;
        rays = rays ? rays + slacks * rows : NULL;
    }
    r->equalities = p->equality_count;
    for (int i = 0; i < p->equality_count; i++) {
        long double most = 0.0L;
        r->d[i] = p->equality_target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            r->c[i][p->equality_dofs[k]] = p->equality_values[k];
            most = ref_worse(most, fabs(p->equality_values[k]));
        }
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            r->c_open[i][p->equality_dofs[k]] = most;
        }
    }
    r->lower = p->lower;
    r->upper = p->upper;
}

/* ---- comparisons ---- */

/* What is judged is over the sizes of its terms, of which there are at most a few hundred: they round by 1e-13 of that.
 */
static inline void assert_near(double value, double wanted, const char *what, int number)
{
    const bool both_infinite = isinf(value) && isinf(wanted);
    if (!both_infinite && !(fabs(value - wanted) <= 1e-13 + 1e-13 * fabs(wanted))) {
        print_error("%s of case %d is %.17g, not %.17g\n", what, number, value, wanted);
        fail();
    }
}

static inline void assert_residuals_near(perp_convex_residual value, perp_convex_residual wanted, int number)
{
    assert_near(value.primal, wanted.primal, "primal", number);
    assert_near(value.dual, wanted.dual, "dual", number);
    assert_near(value.complementarity, wanted.complementarity, "complementarity", number);
}

static inline void assert_all_infinite(perp_convex_residual r)
{
    assert_true(r.primal == INFINITY && r.dual == INFINITY && r.complementarity == INFINITY);
    assert_true(perp_convex_residual_largest(r) == INFINITY);
}

static inline void assert_message(perp_status status, const perp_error *error, const char *words)
{
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, status);
    if (!strstr(error->message, words)) {
        print_error("\"%s\" does not say \"%s\"\n", error->message, words);
        fail();
    }
}

#endif
