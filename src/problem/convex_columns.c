/* The dual residual: sums over columns of A and C, of which rows are stored. They are formed for a block of columns at
 * a time, in arrays on the stack. */
#include "problem/convex_constraint.h"
#include "problem/natural_map.h"

/* Every block of columns walks over all constraints: with 128 columns at once that was a quarter of the time of 1,000
 * cubes. */
enum { COLUMNS_AT_ONCE = 1024 };

/* Of columns `first` .. `last` - 1. */
typedef struct column_sums {
    int first, last;
    double value[COLUMNS_AT_ONCE];
    double size[COLUMNS_AT_ONCE]; /* the sum of the absolute values of its terms */
} column_sums;

/* value = H x */
static void begin_with_hessian(const perp_convex_view *v, const double *x, column_sums *sums)
{
    const double *block = v->hessian;
    for (int k = 0; k < v->block_count; k++) {
        const int start = v->block_start ? v->block_start[k] : 0, end = v->block_start ? v->block_start[k + 1] : v->n;
        const int low = start > sums->first ? start : sums->first, high = end < sums->last ? end : sums->last;
        for (int j = low; j < high; j++) {
            const double *row = block + (ptrdiff_t)(j - start) * (end - start);
            const int at = j - sums->first;
            sums->value[at] = row_product(end - start, row, x + start, &sums->size[at]);
        }
        block += (ptrdiff_t)(end - start) * (end - start);
    }
}

/* value -= a */
static inline void subtract(column_sums *sums, int k, double a)
{
    sums->value[k] -= a;
    sums->size[k] += fabs(a);
}

/* R'y of up to ROWS_AT_ONCE rows, and |R|'|y|. */
static inline void weigh_rows(const constraint *c, int first, row_products *weights)
{
    weights->count = rows_from(c, first);
    for (int r = 0; r < weights->count; r++) {
        double sum = c->rays ? 0.0 : c->y[first + r], size = fabs(sum);
        const double *ray = c->rays ? c->rays + first + r : NULL;
        for (int l = 0; ray && l < c->slacks; l++) {
            const double product = ray[(ptrdiff_t)l * c->rows] * c->y[l];
            sum += product;
            size += fabs(product);
        }
        weights->value[r] = sum;
        weights->size[r] = size;
    }
}

/* The same for three rows with rays. */
static inline void weigh_three_rows(const constraint *c, row_products *weights)
{
    double u0 = 0.0, u1 = 0.0, u2 = 0.0, s0 = 0.0, s1 = 0.0, s2 = 0.0;
    const double *ray = c->rays;
    for (int l = 0; l < c->slacks; l++, ray += 3) {
        const double p0 = ray[0] * c->y[l], p1 = ray[1] * c->y[l], p2 = ray[2] * c->y[l];
        u0 += p0;
        u1 += p1;
        u2 += p2;
        s0 += fabs(p0);
        s1 += fabs(p1);
        s2 += fabs(p2);
    }
    weights->count = 3;
    weights->value[0] = u0;
    weights->value[1] = u1;
    weights->value[2] = u2;
    weights->size[0] = s0;
    weights->size[1] = s1;
    weights->size[2] = s2;
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
            sums->value[j - sums->first] -= sum;
            sums->size[j - sums->first] += size;
        }
    }
}

/* The same for three rows on unknowns that are all inside, two columns at a time; where they follow each other `dof` is
 * NULL and `base` the first. */
static inline void subtract_three_rows(const constraint *c, const int *dof, int base, const row_products *weights,
                                       column_sums *sums)
{
    const double *j0 = c->jacobian, *j1 = j0 + c->dofs, *j2 = j1 + c->dofs;
    const double w0 = weights->value[0], w1 = weights->value[1], w2 = weights->value[2];
    const double s0 = weights->size[0], s1 = weights->size[1], s2 = weights->size[2];
    const perp_lanes u0 = {w0, w0}, u1 = {w1, w1}, u2 = {w2, w2}, t0 = {s0, s0}, t1 = {s1, s1}, t2 = {s2, s2};
    double *value = sums->value + base, *size = sums->size + base;
    int d = 0;
    for (; d + 1 < c->dofs; d += 2) {
        const perp_lanes e0 = perp_lanes_load(j0 + d), e1 = perp_lanes_load(j1 + d), e2 = perp_lanes_load(j2 + d);
        const int a = dof ? dof[d] - sums->first : d, b = dof ? dof[d + 1] - sums->first : d + 1;
        const perp_lanes before = dof ? (perp_lanes){value[a], value[b]} : perp_lanes_load(value + d);
        const perp_lanes beside = dof ? (perp_lanes){size[a], size[b]} : perp_lanes_load(size + d);
        const perp_lanes after = before - ((e0 * u0 + e1 * u1) + e2 * u2);
        const perp_lanes total =
            beside + ((absolute_lanes(e0) * t0 + absolute_lanes(e1) * t1) + absolute_lanes(e2) * t2);
        if (dof) {
            value[a] = after[0];
            value[b] = after[1];
            size[a] = total[0];
            size[b] = total[1];
        } else {
            *(perp_lanes *)(value + d) = after;
            *(perp_lanes *)(size + d) = total;
        }
    }
    if (d < c->dofs) {
        const int last = c->dof[d] - sums->first;
        sums->value[last] -= (j0[d] * w0 + j1[d] * w1) + j2[d] * w2;
        sums->size[last] += (fabs(j0[d]) * s0 + fabs(j1[d]) * s1) + fabs(j2[d]) * s2;
    }
}

/* value -= J'R'y */
static inline void subtract_constraint(const constraint *c, column_sums *sums)
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
    if (c->rows == 3 && c->rays && c->dof && is_inside(sums, c->dof[0]) && is_inside(sums, c->dof[c->dofs - 1])) {
        weigh_three_rows(c, &weights);
        if (c->dof[c->dofs - 1] - c->dof[0] == c->dofs - 1) {
            subtract_three_rows(c, NULL, c->dof[0] - sums->first, &weights, sums);
        } else {
            subtract_three_rows(c, c->dof, 0, &weights, sums);
        }
        return;
    }
    for (int first = 0; first < c->rows; first += ROWS_AT_ONCE) {
        weigh_rows(c, first, &weights);
        subtract_rows(c, row_of(c, first), &weights, sums);
    }
}

/* H x + g - A'y - C'y_equality - y_lower + y_upper of some columns */
static void sum_columns(const perp_convex_view *v, const perp_convex_point *p, column_sums *sums)
{
    const int count = sums->last - sums->first;
    for (int k = 0; k < count; k++) {
        sums->value[k] = sums->size[k] = 0.0;
    }
    if (v->hessian) {
        begin_with_hessian(v, p->x, sums);
    }
    for (int k = 0; k < count; k++) {
        subtract(sums, k, -v->g[sums->first + k]);
    }
    for (int k = 0; v->lower && k < count; k++) {
        subtract(sums, k, p->y_lower[sums->first + k]);
    }
    for (int k = 0; v->upper && k < count; k++) {
        subtract(sums, k, -p->y_upper[sums->first + k]);
    }
    constraint c;
    perp_constraint_begin(v, p->y, &c);
    while (perp_constraint_next(v, p->y_equality, &c)) {
        subtract_constraint(&c, sums);
    }
}

double perp_convex_largest_column(const perp_convex_view *view, const perp_convex_point *point, double unit,
                                  double *near)
{
    const perp_convex_view *v = view;
    column_sums sums; /* filled as far as there are columns */
    double largest = 0.0;
    for (int first = 0; first < v->n; first = sums.last) {
        sums.first = first;
        sums.last = v->n - first < COLUMNS_AT_ONCE ? v->n : first + COLUMNS_AT_ONCE;
        sum_columns(v, point, &sums);
        for (int k = 0; k < sums.last - first; k++) {
            const double scale = unit + sums.size[k];
            perp_problem_raise_near(fabs(sums.value[k]), fabs(v->g[first + k]), unit, near);
            if (!(fabs(sums.value[k]) <= largest * scale && scale <= DBL_MAX)) { /* true for NaN */
                largest = perp_problem_worse(largest, perp_problem_over(fabs(sums.value[k]), scale));
            }
        }
    }
    return largest;
}
