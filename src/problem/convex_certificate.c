/* Evidence that a convex problem has no solution, judged by rows as residuals are; sums that have to vanish have no
 * unit.
 *
 * What has to vanish has to cancel to PERP_CANCELLED of the absolute values of its terms; then it is measured beside
 * what the proof is worth, or beside these where that is less. An entry of A, C or H is known only to
 * PERP_DATA_ROUNDING of the largest of its row (a column of cosines of right angles does not cancel): of what that may
 * leave no more is asked than the first. */
#include "problem/convex_constraint.h"
#include "problem/natural_map.h"
#include "problem/tolerances.h"

/* A sum, the absolute values of its terms, and what the rounding of the data leaves open of it. */
typedef struct tally {
    double sum, size, open;
    bool lost; /* a term is not zero, but too small a number to tell */
} tally;

static void add_product(tally *t, double a, double b)
{
    const double term = a * b;
    t->sum += term;
    t->size += fabs(term);
    t->lost = t->lost || (a != 0.0 && b != 0.0 && fabs(term) < DBL_MIN / DBL_EPSILON);
}

/* How far `off`, of the sum or of the cone that sums are in, is from zero; `worth` is the value of the proof. */
static double measure_of(const tally *t, double off, double worth)
{
    const double own = off <= 0.0 ? 0.0 : perp_problem_over(off, t->size);
    const bool cancels = own <= PERP_CANCELLED || off <= PERP_DATA_ROUNDING * t->open;
    return t->lost ? INFINITY : cancels ? fmin(own, fmax(off, 0.0) / worth) : own;
}

static double largest_of_row(int count, const double *row)
{
    double largest = 0.0;
    for (int k = 0; k < count; k++) {
        largest = larger(largest, fabs(row[k]));
    }
    return largest;
}

static double ray_of(const constraint *c, int slack, int row)
{
    return c->rays ? c->rays[(ptrdiff_t)slack * c->rows + row] : (slack == row ? 1.0 : 0.0);
}

/* ---- no feasible point ---- */

enum { COLUMNS_AT_ONCE = 256 };

/* A'y + C'y_equality + y_lower - y_upper of the columns first .. last - 1. */
static void add_constraint(const constraint *c, int first, int last, tally *columns)
{
    for (int r = 0; r < c->rows; r++) {
        const double *row = row_of(c, r), largest = largest_of_row(c->dofs, row);
        for (int l = 0; l < c->slacks; l++) {
            const double weight = ray_of(c, l, r) * c->y[l];
            for (int k = 0; weight != 0.0 && k < c->dofs; k++) {
                const int j = c->dof ? c->dof[k] : k;
                if (j >= first && j < last) {
                    add_product(&columns[j - first], weight, row[k]);
                    columns[j - first].open += row[k] != 0.0 ? fabs(weight) * largest : 0.0;
                }
            }
        }
    }
}

static double largest_column(const perp_convex_view *v, const perp_convex_point *p, double worth)
{
    double largest = 0.0;
    for (int first = 0; first < v->n; first += COLUMNS_AT_ONCE) {
        const int last = v->n - first < COLUMNS_AT_ONCE ? v->n : first + COLUMNS_AT_ONCE;
        tally columns[COLUMNS_AT_ONCE] = {{0.0, 0.0, 0.0, false}};
        constraint c;
        perp_constraint_begin(v, p->y, &c);
        while (perp_constraint_next(v, p->y_equality, &c)) {
            add_constraint(&c, first, last, columns);
        }
        for (int j = first; j < last; j++) {
            add_product(&columns[j - first], 1.0, v->lower ? p->y_lower[j] : 0.0);
            add_product(&columns[j - first], -1.0, v->upper ? p->y_upper[j] : 0.0);
            largest = perp_problem_worse(largest, measure_of(&columns[j - first], fabs(columns[j - first].sum), worth));
        }
    }
    return largest;
}

/* One more term of a proof's value; `unit` of its weight is added to what is open. */
static void weigh(tally *t, double weight, double constant, double unit)
{
    add_product(t, weight, constant);
    t->open += unit * fabs(weight);
}

/* b.y + d.y_equality + lower.y_lower - upper.y_upper over the finite bounds. */
static tally value_of(const perp_convex_view *v, const perp_convex_point *p, double unit)
{
    tally t = {0.0, 0.0, 0.0, false};
    for (int i = 0, count = perp_convex_slack_total(v); i < count; i++) {
        weigh(&t, p->y[i], -v->offset_sign * v->offset[i], unit);
    }
    for (int i = 0; i < v->equality_count; i++) {
        weigh(&t, p->y_equality[i], v->equality_target[i], unit);
    }
    for (int i = 0; v->lower && i < v->n; i++) {
        weigh(&t, p->y_lower[i], isfinite(v->lower[i]) ? v->lower[i] : 0.0, unit);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        weigh(&t, p->y_upper[i], isfinite(v->upper[i]) ? -v->upper[i] : 0.0, unit);
    }
    return t;
}

static bool is_significant(const tally *value)
{
    return value->sum > PERP_SIGNIFICANT * (value->size + value->open);
}

/* How far y is outside of its cone, over its largest entry: 1 for a row's that is negative. */
static double off_cone(const constraint *c)
{
    double squares = 0.0, largest = 0.0;
    bool negative = false;
    for (int l = 0; l < c->slacks; l++) {
        squares += l > 0 ? c->y[l] * c->y[l] : 0.0;
        largest = larger(largest, fabs(c->y[l]));
        negative = negative || c->y[l] < 0.0;
    }
    return c->set == SET_ZERO   ? 0.0
           : c->set == SET_CONE ? perp_problem_over(perp_cone_distance(c->y[0], squares), largest)
           : negative           ? 1.0
                                : 0.0;
}

/* Of constraints; and 1 for a bound whose multiplier has the wrong sign, or that is infinite and has one. */
static double largest_off_cone(const perp_convex_view *v, const perp_convex_point *p)
{
    double largest = 0.0;
    constraint c;
    perp_constraint_begin(v, p->y, &c);
    while (perp_constraint_next(v, p->y_equality, &c)) {
        largest = perp_problem_worse(largest, off_cone(&c));
    }
    bool outside = false;
    for (int i = 0; v->lower && i < v->n; i++) {
        outside = outside || (isfinite(v->lower[i]) ? p->y_lower[i] < 0.0 : p->y_lower[i] != 0.0);
    }
    for (int i = 0; v->upper && i < v->n; i++) {
        outside = outside || (isfinite(v->upper[i]) ? p->y_upper[i] < 0.0 : p->y_upper[i] != 0.0);
    }
    return outside ? perp_problem_worse(largest, 1.0) : largest;
}

double perp_convex_view_infeasibility(const perp_convex_view *view, const perp_convex_point *point, double unit)
{
    if (!perp_convex_multipliers_are_finite(view, point)) {
        return INFINITY;
    }
    const tally value = value_of(view, point, unit);
    if (!is_significant(&value)) {
        return INFINITY;
    }
    return perp_problem_worse(largest_column(view, point, value.sum), largest_off_cone(view, point));
}

/* ---- no end ---- */

static void add_row(tally *t, double weight, int count, const double *row, const int *dof, const double *x)
{
    const double largest = weight == 0.0 ? 0.0 : fabs(weight) * largest_of_row(count, row);
    for (int k = 0; weight != 0.0 && k < count; k++) {
        const double at = x[dof ? dof[k] : k];
        add_product(t, weight * row[k], at);
        t->open += row[k] != 0.0 ? largest * fabs(at) : 0.0; /* zeros are exact */
    }
}

/* The largest entry of H x. */
static double largest_curvature(const perp_convex_view *v, const double *x, double worth)
{
    const double *row = v->hessian;
    double largest = 0.0;
    for (int k = 0; v->hessian && k < v->block_count; k++) {
        const int start = v->block_start ? v->block_start[k] : 0;
        const int size = v->block_start ? v->block_start[k + 1] - start : v->n;
        for (int j = 0; j < size; j++, row += size) {
            tally t = {0.0, 0.0, 0.0, false};
            add_row(&t, 1.0, size, row, NULL, x + start);
            largest = perp_problem_worse(largest, measure_of(&t, fabs(t.sum), worth));
        }
    }
    return largest;
}

/* How far R J x is outside of the set, which is its own recession cone. */
static double leaves(const constraint *c, const double *x, double worth)
{
    tally cone = {0.0, 0.0, 0.0, false};
    double first = 0.0, squares = 0.0, largest = 0.0;
    for (int l = 0; l < c->slacks; l++) {
        tally t = {0.0, 0.0, 0.0, false};
        for (int r = 0; r < c->rows; r++) {
            add_row(&t, ray_of(c, l, r), c->dofs, row_of(c, r), c->dof, x);
        }
        if (c->set != SET_CONE) {
            largest = perp_problem_worse(largest, measure_of(&t, c->set == SET_ZERO ? fabs(t.sum) : -t.sum, worth));
            continue;
        }
        first = l == 0 ? t.sum : first;
        squares += l == 0 ? 0.0 : t.sum * t.sum;
        cone.size = larger(cone.size, t.size);
        cone.open = larger(cone.open, t.open);
        cone.lost = cone.lost || t.lost;
    }
    return c->set == SET_CONE ? measure_of(&cone, perp_cone_distance(first, squares), worth) : largest;
}

double perp_convex_view_unboundedness(const perp_convex_view *view, const double *x, double unit)
{
    const perp_convex_view *v = view;
    tally fall = {0.0, 0.0, 0.0, false};
    bool finite = true, outside = false;
    for (int j = 0; j < v->n; j++) {
        finite = finite && isfinite(x[j]);
        weigh(&fall, x[j], -v->g[j], unit);
        outside = outside || (v->lower && isfinite(v->lower[j]) && x[j] < 0.0) ||
                  (v->upper && isfinite(v->upper[j]) && x[j] > 0.0);
    }
    if (!finite || !is_significant(&fall)) {
        return INFINITY;
    }
    double largest = perp_problem_worse(largest_curvature(v, x, fall.sum), outside ? 1.0 : 0.0);
    constraint c;
    perp_constraint_begin(v, NULL, &c);
    while (perp_constraint_next(v, NULL, &c)) {
        largest = perp_problem_worse(largest, leaves(&c, x, fall.sum));
    }
    return largest;
}
