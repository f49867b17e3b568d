#include "convex_dense_generator.h"

#include <perp/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = CONVEX_DENSE_MAX_N };

typedef struct draw {
    perp_random random;
    int n, rank;
    double density;
    double column_decades, row_decades;
    bool whole; /* scales are powers of two and entries whole numbers: H is exactly semidefinite */
    double columns[MAX_N];
} draw;

static double uniform(draw *d, double low, double high)
{
    return perp_random_uniform(&d->random, low, high);
}

static int below(draw *d, int count)
{
    return (int)(perp_random_bits(&d->random) % (uint64_t)count);
}

static bool happens(draw *d, double probability)
{
    return uniform(d, 0.0, 1.0) < probability;
}

/* From 1e-2 to 1e3 where there are five decades: rows times columns reach from 1e-4 to 1e6. */
static double scale(draw *d, double decades)
{
    const double exponent = uniform(d, -0.4, 0.6) * decades;
    return d->whole ? exp2(round(3.3219 * exponent)) : pow(10.0, exponent);
}

static double coefficient(draw *d)
{
    const double whole = (double)(below(d, 9) - 4), real = uniform(d, -1.0, 1.0);
    return d->whole ? whole : real;
}

/* A row before scaling, at least one entry of which is not zero. */
static void draw_row(draw *d, double *row)
{
    for (int j = 0; j < d->n; j++) {
        const double value = coefficient(d);
        row[j] = happens(d, d->density) ? value : 0.0;
    }
    row[below(d, d->n)] = 1.0;
}

static void make_hessian(draw *d, double *h)
{
    double row[MAX_N];
    for (int k = 0; k < d->rank; k++) {
        draw_row(d, row);
        for (int j = 0; j < d->n; j++) {
            row[j] *= d->columns[j];
        }
        for (int i = 0; i < d->n; i++) {
            for (int j = 0; j < d->n && row[i] != 0.0; j++) {
                h[i * d->n + j] += row[i] * row[j];
            }
        }
    }
    if (d->rank == d->n) { /* full rank beyond doubt */
        for (int i = 0; i < d->n; i++) {
            h[i * d->n + i] += d->columns[i] * d->columns[i];
        }
    }
}

/* Another row's multiple, a sum of two, or one that differs by a part in 1e5 to 1e8; else a new one. `rows` holds those
 * before, unscaled. */
static void next_row(draw *d, double *rows, int count, bool dependent)
{
    double *row = rows + count * d->n;
    draw_row(d, row);
    if (count == 0 || !happens(d, 0.25)) {
        return;
    }
    const double *one = rows + below(d, count) * d->n, *two = rows + below(d, count) * d->n;
    const double near = pow(10.0, uniform(d, -8.0, -5.0));
    const double factor = happens(d, 0.5) ? 1.0 : -2.0;
    for (int j = 0; j < d->n; j++) {
        row[j] = dependent ? one[j] + factor * two[j] : one[j] + near * row[j];
    }
    for (int j = 0; j < d->n; j++) {
        if (row[j] != 0.0) {
            return;
        }
    }
    draw_row(d, row);
}

/* The entries that are not zero, scaled. */
static int pack_row(draw *d, const double *row, int *dofs, double *values)
{
    const double by = scale(d, d->row_decades);
    int count = 0;
    for (int j = 0; j < d->n; j++) {
        if (row[j] != 0.0) {
            dofs[count] = j;
            values[count++] = row[j] * d->columns[j] * by;
        }
    }
    return count;
}

static void add_rows(draw *d, convex_case *c, int count, bool equalities)
{
    double *rows = calloc((size_t)count * (size_t)d->n + 1, sizeof *rows), values[MAX_N];
    const double one = 1.0;
    int dofs[MAX_N];
    if (!rows) {
        abort();
    }
    for (int i = 0; i < count; i++) {
        next_row(d, rows, i, equalities);
        const int used = pack_row(d, rows + i * d->n, dofs, values);
        if (equalities) {
            convex_case_add_equality(c, used, dofs, values, 0.0);
        } else {
            const convex_contact row = {1, used, 1, dofs, values, &one, false};
            convex_case_add_contact(c, &row);
        }
    }
    free(rows);
}

/* Bounds around x in units of its column; a fixed variable has both at x. */
static void draw_bounds(draw *d, convex_case *c)
{
    double *lower, *upper;
    convex_case_bounds(c, &lower, &upper);
    for (int j = 0; j < d->n; j++) {
        const double x = c->x[j], unit = 1.0 / d->columns[j], force = d->columns[j] * uniform(d, 0.01, 1.0);
        const int kind = below(d, 20);
        if (kind < 4) {
            lower[j] = x;
            c->y_lower[j] = kind < 3 ? force : 0.0;
            upper[j] = happens(d, 0.5) ? x + unit * uniform(d, 0.0, 10.0) : INFINITY;
        } else if (kind < 7) {
            upper[j] = x;
            c->y_upper[j] = kind < 6 ? force : 0.0;
            lower[j] = happens(d, 0.5) ? x - unit * uniform(d, 0.0, 10.0) : -INFINITY;
        } else if (kind < 8) {
            lower[j] = upper[j] = x;
            c->y_lower[j] = force;
        } else if (kind < 13) {
            lower[j] = x - unit * uniform(d, 0.0, 10.0);
            upper[j] = happens(d, 0.5) ? x + unit * uniform(d, 0.0, 10.0) : INFINITY;
        }
    }
}

/* About a third of the rows hold with a force, some hold without one. */
static void draw_solution(draw *d, convex_case *c)
{
    double *s = calloc((size_t)c->qp.contact_count + 1, sizeof *s);
    if (!s) {
        abort();
    }
    for (int j = 0; j < d->n; j++) {
        c->x[j] = happens(d, 0.2) ? 0.0 : uniform(d, -1.0, 1.0) / d->columns[j];
    }
    convex_case_rows(c, c->x, s);
    for (int i = 0; i < c->qp.contact_count; i++) {
        double largest = 0.0;
        for (int k = c->qp.dof_start[i]; k < c->qp.dof_start[i + 1]; k++) {
            largest = fmax(largest, fabs(c->qp.jacobian[k] / d->columns[c->qp.dofs[k]]));
        }
        const int kind = below(d, 10);
        const double slack = kind < 5 ? 0.0 : largest * uniform(d, 0.0, 2.0);
        *convex_case_offset(c, i) = slack - s[i];
        c->y[i] = kind < 4 ? pow(10.0, uniform(d, -2.0, 1.0)) / largest : 0.0;
    }
    for (int e = 0; e < c->qp.equality_count; e++) {
        long double sum = 0.0L;
        double largest = 0.0;
        for (int k = c->qp.equality_start[e]; k < c->qp.equality_start[e + 1]; k++) {
            const int j = c->qp.equality_dofs[k];
            sum += (long double)c->qp.equality_values[k] * c->x[j];
            largest = fmax(largest, fabs(c->qp.equality_values[k] / d->columns[j]));
        }
        *convex_case_target(c, e) = (double)sum;
        c->y_equality[e] = uniform(d, -1.0, 1.0) / largest;
    }
    free(s);
}

static void balance(convex_case *c)
{
    double *g = convex_case_g(c), hx[MAX_N] = {0}, sum[MAX_N] = {0};
    convex_case_hessian(c, c->x, hx);
    convex_case_add_transposed(c, c->y, c->y_equality, sum);
    for (int j = 0; j < c->qp.n; j++) {
        g[j] = (double)((long double)sum[j] + c->y_lower[j] - c->y_upper[j] - hx[j]);
    }
    memcpy(c->x_dual, c->x, (size_t)c->qp.n * sizeof *c->x);
}

static void name(const draw *d, convex_case *c)
{
    const bool rows = d->row_decades > 2.5, columns = d->column_decades > 2.5;
    c->family = rows && columns ? "both" : rows ? "rows" : columns ? "columns" : "even";
    c->curvature = d->rank == 0 ? "absent" : d->rank < d->n ? "deficient" : "definite";
}

void convex_dense_generator_make(convex_case *c, uint64_t seed, int index)
{
    perp_random mixing = {seed ^ 0x6d61726f73u}; /* other numbers than the contact problems' */
    draw d = {.random = {perp_random_bits(&mixing) ^ ((uint64_t)index * 0x9E3779B97F4A7C15u)}};
    perp_random_bits(&d.random);
    d.n = (int)exp(uniform(&d, log(CONVEX_DENSE_MIN_N), log(CONVEX_DENSE_MAX_N + 0.99)));
    const int kind = below(&d, 10);
    d.rank = kind < 3 ? d.n : kind < 8 ? below(&d, d.n) : 0;
    d.density = uniform(&d, 0.1, 1.0);
    d.column_decades = happens(&d, 0.3) ? 0.0 : uniform(&d, 0.0, 5.0);
    d.row_decades = happens(&d, 0.3) ? 0.0 : uniform(&d, 0.0, 5.0);
    d.whole = happens(&d, 0.5);
    for (int j = 0; j < d.n; j++) {
        d.columns[j] = scale(&d, d.column_decades);
    }
    convex_case_start(c, &d.n, 1);
    make_hessian(&d, convex_case_block(c, 0));
    add_rows(&d, c, below(&d, 2 * d.n), false);
    add_rows(&d, c, happens(&d, 0.7) ? below(&d, d.n / 2 + 1) : 0, true);
    const bool bounds = happens(&d, 0.7);
    convex_case_finish(c, d.rank > 0, bounds);
    draw_solution(&d, c);
    if (bounds) {
        draw_bounds(&d, c);
    }
    balance(c);
    c->kkt = true;
    c->primal_unique = d.rank == d.n;
    name(&d, c);
}
