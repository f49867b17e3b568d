/* The dual residual: sums over columns of A and C, of which rows are stored. They are formed for a block of columns at
 * a time, in arrays on the stack. */
#include "problem/convex_constraint.h"
#include "problem/natural_map.h"

enum { COLUMNS_AT_ONCE = 2048 }; /* 32 kB. Each block goes through all rows: with 128, 6,000 columns did so 47 times */

/* Row by row of H, in a block of columns `first` .. `last` - 1. */
typedef struct column_sums {
    int first, last;
    double value[COLUMNS_AT_ONCE];
    double other[COLUMNS_AT_ONCE]; /* plainly: the sum of what rounds; twofold: the rest */
} column_sums;

/* value = H x */
static void begin_with_hessian(const perp_convex_view *v, const double *x, bool twofold, column_sums *sums)
{
    const double *block = v->hessian;
    for (int k = 0; k < v->block_count; k++) {
        const int start = v->block_start ? v->block_start[k] : 0, end = v->block_start ? v->block_start[k + 1] : v->n;
        const int low = start > sums->first ? start : sums->first, high = end < sums->last ? end : sums->last;
        for (int j = low; j < high; j++) {
            const double *row = block + (ptrdiff_t)(j - start) * (end - start);
            double size;
            if (twofold) {
                const perp_twofold sum = row_product_twofold(end - start, row, NULL, x + start);
                sums->value[j - sums->first] = sum.value;
                sums->other[j - sums->first] = sum.rest;
            } else {
                sums->value[j - sums->first] = row_product(end - start, row, x + start, &size);
                sums->other[j - sums->first] = (double)(end - start) * size;
            }
        }
        block += (ptrdiff_t)(end - start) * (end - start);
    }
}

/* value -= a */
static inline void subtract(column_sums *sums, int k, double a, bool twofold)
{
    if (twofold) {
        perp_twofold sum = {sums->value[k], sums->other[k]};
        perp_twofold_add(&sum, -a);
        sums->value[k] = sum.value;
        sums->other[k] = sum.rest;
    } else {
        sums->value[k] -= a;
        sums->other[k] += fabs(a) + fabs(sums->value[k]);
    }
}

/* R'y of up to ROWS_AT_ONCE rows, and in `size` a bound of what rounds when it is multiplied with entries of J. */
static inline void weigh_rows(const constraint *c, int first, row_products *weights)
{
    weights->count = rows_from(c, first);
    const double terms = (double)(weights->count + (c->rays ? c->slacks : 0));
    for (int r = 0; r < weights->count; r++) {
        double sum = c->rays ? 0.0 : c->y[first + r], size = fabs(sum);
        const double *ray = c->rays ? c->rays + first + r : NULL;
        for (int l = 0; ray && l < c->slacks; l++) {
            const double product = ray[(ptrdiff_t)l * c->rows] * c->y[l];
            sum += product;
            size += fabs(product);
        }
        weights->value[r] = sum;
        weights->size[r] = terms * size;
    }
}

/* The same for three rows with rays; all get the size of the three together. */
static inline void weigh_three_rows(const constraint *c, row_products *weights)
{
    double u0 = 0.0, u1 = 0.0, u2 = 0.0, size = 0.0;
    const double *ray = c->rays;
    for (int l = 0; l < c->slacks; l++, ray += 3) {
        const double p0 = ray[0] * c->y[l], p1 = ray[1] * c->y[l], p2 = ray[2] * c->y[l];
        u0 += p0;
        u1 += p1;
        u2 += p2;
        size += (fabs(p0) + fabs(p1)) + fabs(p2);
    }
    weights->count = 3;
    weights->value[0] = u0;
    weights->value[1] = u1;
    weights->value[2] = u2;
    weights->size[0] = weights->size[1] = weights->size[2] = (3.0 + (double)c->slacks) * size;
}

static void weigh_rows_twofold(const constraint *c, int first, row_products *weights)
{
    weights->count = rows_from(c, first);
    for (int r = 0; r < weights->count; r++) {
        perp_twofold sum = {c->rays ? 0.0 : c->y[first + r], 0.0};
        for (int l = 0; c->rays && l < c->slacks; l++) {
            perp_twofold_add_product(&sum, c->rays[(ptrdiff_t)l * c->rows + first + r], c->y[l]);
        }
        sum = perp_twofold_settle(sum);
        weights->value[r] = sum.value;
        weights->rest[r] = sum.rest;
    }
}

static inline void subtract_sum(column_sums *sums, int k, double sum, double size)
{
    const double value = sums->value[k] - sum;
    sums->value[k] = value;
    sums->other[k] += size + fabs(value);
}

static inline bool is_inside(const column_sums *sums, int j)
{
    return j >= sums->first && j < sums->last;
}

static void subtract_rows(const constraint *c, const double *rows, const row_products *weights, column_sums *sums)
{
    const int low = c->dof ? 0 : sums->first, high = c->dof ? c->dofs : sums->last;
    for (int d = low; d < high; d++) {
        const int j = c->dof ? c->dof[d] : d;
        double sum = 0.0, size = 0.0;
        for (int r = 0; r < weights->count && is_inside(sums, j); r++) {
            const double entry = rows[(ptrdiff_t)r * c->dofs + d];
            sum += entry * weights->value[r];
            size += fabs(entry) * weights->size[r];
        }
        if (is_inside(sums, j)) {
            subtract_sum(sums, j - sums->first, sum, size);
        }
    }
}

/* The same for three rows of one size on unknowns that are all inside, two columns at a time; where they follow each
 * other `dof` is NULL and `base` the first. */
static inline void subtract_three_rows(const constraint *c, const int *dof, int base, const row_products *weights,
                                       column_sums *sums)
{
    const double *j0 = c->jacobian, *j1 = j0 + c->dofs, *j2 = j1 + c->dofs;
    const double w0 = weights->value[0], w1 = weights->value[1], w2 = weights->value[2], s = weights->size[0];
    const perp_lanes u0 = {w0, w0}, u1 = {w1, w1}, u2 = {w2, w2}, ss = {s, s};
    double *value = sums->value + base, *other = sums->other + base;
    int d = 0;
    for (; d + 1 < c->dofs; d += 2) {
        const perp_lanes e0 = perp_lanes_load(j0 + d), e1 = perp_lanes_load(j1 + d), e2 = perp_lanes_load(j2 + d);
        const int a = dof ? dof[d] - sums->first : d, b = dof ? dof[d + 1] - sums->first : d + 1;
        const perp_lanes before = dof ? (perp_lanes){value[a], value[b]} : perp_lanes_load(value + d);
        const perp_lanes bound = dof ? (perp_lanes){other[a], other[b]} : perp_lanes_load(other + d);
        const perp_lanes after = before - ((e0 * u0 + e1 * u1) + e2 * u2);
        const perp_lanes size = ss * ((absolute_lanes(e0) + absolute_lanes(e1)) + absolute_lanes(e2));
        const perp_lanes total = bound + (size + absolute_lanes(after));
        if (dof) {
            value[a] = after[0];
            value[b] = after[1];
            other[a] = total[0];
            other[b] = total[1];
        } else {
            *(perp_lanes *)(value + d) = after;
            *(perp_lanes *)(other + d) = total;
        }
    }
    if (d < c->dofs) {
        const double sum = (j0[d] * w0 + j1[d] * w1) + j2[d] * w2;
        const int last = c->dof[d] - sums->first;
        subtract_sum(sums, last, sum, s * ((fabs(j0[d]) + fabs(j1[d])) + fabs(j2[d])));
    }
}

static void subtract_rows_twofold(const constraint *c, const double *rows, const row_products *weights,
                                  column_sums *sums)
{
    for (int d = 0; d < c->dofs; d++) {
        const int j = c->dof ? c->dof[d] : d, k = j - sums->first;
        if (!is_inside(sums, j)) {
            continue;
        }
        perp_twofold sum = {sums->value[k], sums->other[k]};
        for (int r = 0; r < weights->count; r++) {
            const perp_twofold weight = {weights->value[r], weights->rest[r]};
            perp_twofold_add_scaled(&sum, -rows[(ptrdiff_t)r * c->dofs + d], weight);
        }
        sums->value[k] = sum.value;
        sums->other[k] = sum.rest;
    }
}

/* value -= J'R'y */
static inline void subtract_constraint(const constraint *c, bool twofold, column_sums *sums)
{
    if (c->dof && (c->dofs == 0 || c->dof[0] >= sums->last || c->dof[c->dofs - 1] < sums->first)) {
        return;
    }
    int l = 0;
    while (l < c->slacks && c->y[l] == 0.0) {
        l++;
    }
    if (l == c->slacks) { /* as of every open contact */
        return;
    }
    row_products weights; /* filled before it is read */
    if (!twofold && c->rows == 3 && c->rays && c->dof && is_inside(sums, c->dof[0]) &&
        is_inside(sums, c->dof[c->dofs - 1])) {
        weigh_three_rows(c, &weights);
        if (c->dof[c->dofs - 1] - c->dof[0] == c->dofs - 1) {
            subtract_three_rows(c, NULL, c->dof[0] - sums->first, &weights, sums);
        } else {
            subtract_three_rows(c, c->dof, 0, &weights, sums);
        }
        return;
    }
    for (int first = 0; first < c->rows; first += ROWS_AT_ONCE) {
        const double *rows = row_of(c, first);
        if (twofold) {
            weigh_rows_twofold(c, first, &weights);
            subtract_rows_twofold(c, rows, &weights, sums);
        } else {
            weigh_rows(c, first, &weights);
            subtract_rows(c, rows, &weights, sums);
        }
    }
}

/* H x + g - A'y - C'y_equality - y_lower + y_upper of some columns; without H x + g where `gradient` is false. */
static void sum_columns(const perp_convex_view *v, const perp_convex_point *p, bool gradient, bool twofold,
                        column_sums *sums)
{
    const int count = sums->last - sums->first;
    for (int k = 0; k < count; k++) {
        sums->value[k] = sums->other[k] = 0.0;
    }
    if (gradient && v->hessian) {
        begin_with_hessian(v, p->x, twofold, sums);
    }
    for (int k = 0; gradient && k < count; k++) {
        subtract(sums, k, -v->g[sums->first + k], twofold);
    }
    for (int k = 0; v->lower && k < count; k++) {
        subtract(sums, k, p->y_lower[sums->first + k], twofold);
    }
    for (int k = 0; v->upper && k < count; k++) {
        subtract(sums, k, -p->y_upper[sums->first + k], twofold);
    }
    constraint c;
    perp_constraint_begin(v, p->y, &c);
    while (perp_constraint_next(v, p->y_equality, &c)) {
        subtract_constraint(&c, twofold, sums);
    }
}

double perp_convex_largest_column(const perp_convex_view *view, const perp_convex_point *point, bool gradient,
                                  double scale)
{
    const perp_convex_view *v = view;
    column_sums sums = {0};
    double largest = 0.0;
    for (int first = 0; first < v->n; first = sums.last) {
        sums.first = first;
        sums.last = v->n - first < COLUMNS_AT_ONCE ? v->n : first + COLUMNS_AT_ONCE;
        sum_columns(v, point, gradient, false, &sums);
        double rounding = 0.0, size = largest;
        for (int k = 0; k < sums.last - first; k++) {
            rounding = perp_problem_worse(rounding, sums.other[k]);
            size = perp_problem_worse(size, fabs(sums.value[k]));
        }
        rounding *= DBL_EPSILON;
        if (rounding <= NEGLIGIBLE * scale || rounding <= NEGLIGIBLE_PART * size) {
            largest = size;
            continue;
        }
        sum_columns(v, point, gradient, true, &sums);
        for (int k = 0; k < sums.last - first; k++) {
            largest = perp_problem_worse(largest, fabs(sums.value[k] + sums.other[k]));
        }
    }
    return largest;
}
