#include "problem/convex_constraint.h"

#include "problem/natural_map.h"

/* ---- one after another ---- */

void perp_constraint_begin(const perp_convex_view *view, const double *y, constraint *c)
{
    const perp_convex_view *v = view;
    const constraint none = {0, SET_NONNEGATIVE, 0, 0, 0, NULL, v->jacobian, v->rays, v->offset, y, v->offset_sign};
    *c = none;
}

static bool next_equation(const perp_convex_view *v, const double *y_equality, constraint *c)
{
    const int k = c->next - v->count;
    if (k == v->equality_count) {
        return false;
    }
    const ptrdiff_t start = v->equality_start ? v->equality_start[k] : (ptrdiff_t)k * v->n;
    c->next++;
    c->set = SET_ZERO;
    c->slacks = c->rows = 1;
    c->dofs = v->equality_start ? v->equality_start[k + 1] - v->equality_start[k] : v->n;
    c->dof = !v->equality_start ? NULL : start > 0 ? v->equality_dofs + start : v->equality_dofs;
    c->jacobian = start > 0 ? v->equality_values + start : v->equality_values;
    c->rays = NULL;
    c->offset = v->equality_target + k;
    c->offset_sign = -1.0;
    c->y = y_equality ? y_equality + k : NULL;
    return true;
}

bool perp_constraint_next(const perp_convex_view *view, const double *y_equality, constraint *c)
{
    const perp_convex_view *v = view;
    const int i = c->next;
    if (i >= v->count) {
        return next_equation(v, y_equality, c);
    }
    if (c->rows > 0) { /* an array that is absent stays so */
        c->jacobian = row_of(c, c->rows);
        c->rays = c->rays ? c->rays + (ptrdiff_t)c->slacks * c->rows : NULL;
        c->offset += c->slacks;
        c->y = c->y ? c->y + c->slacks : NULL;
    }
    c->next++;
    if (v->row_start) {
        c->rows = v->row_start[i + 1] - v->row_start[i];
        c->slacks = v->slack_start[i + 1] - v->slack_start[i];
        c->dofs = v->dof_start[i + 1] - v->dof_start[i];
        c->dof = v->dof_start[i] > 0 ? v->dofs + v->dof_start[i] : v->dofs;
    } else {
        c->rows = c->slacks = v->row_count ? v->row_count[i] : 1;
        c->dofs = v->n;
    }
    const bool cone = v->cones || (v->quadratic && v->quadratic[i]);
    c->set = cone && c->slacks > 1 ? SET_CONE : SET_NONNEGATIVE;
    return true;
}

/* ---- slacks ---- */

static double sparse_row_product(int count, const double *values, const int *dof, const double *x, double *size)
{
    double sum = 0.0, absolute = 0.0;
    for (int k = 0; k < count; k++) {
        sum += values[k] * x[dof[k]];
        absolute += fabs(values[k] * x[dof[k]]);
    }
    *size = absolute;
    return sum;
}

/* Makes x contiguous for the rows of this constraint, unless it has many unknowns. */
static inline void gather(const constraint *c, const double *x, row_products *rows)
{
    rows->first = -1;
    rows->count = 0;
    rows->dof = c->dof;
    rows->at = x;
    if (c->dof && c->dofs <= DOFS_GATHERED) {
        for (int k = 0; k < c->dofs; k++) {
            rows->x[k] = x[c->dof[k]];
        }
        rows->dof = NULL;
        rows->at = rows->x;
    }
}

static inline double multiply_row(const constraint *c, int r, const row_products *rows, double *size)
{
    return rows->dof ? sparse_row_product(c->dofs, row_of(c, r), rows->dof, rows->at, size)
                     : row_product(c->dofs, row_of(c, r), rows->at, size);
}

static inline void multiply_rows(const constraint *c, int first, row_products *rows)
{
    rows->first = first;
    rows->count = rows_from(c, first);
    for (int r = 0; r < rows->count; r++) {
        rows->value[r] = multiply_row(c, first + r, rows, &rows->size[r]);
    }
}

/* Adds |terms| to *size. */
static inline double ray_product(int count, const double *ray, const row_products *rows, double *size)
{
    double sum = 0.0, absolute = 0.0;
    for (int r = 0; r < count; r++) {
        sum += ray[r] * rows->value[r];
        absolute += fabs(ray[r]) * rows->size[r];
    }
    *size += absolute;
    return sum;
}

/* Slack l; the sum of the absolute values of its terms is added to *size. */
static inline double slack_of(const constraint *c, int l, row_products *rows, double *size)
{
    double sum = c->offset ? c->offset_sign * c->offset[l] : 0.0;
    *size += fabs(sum);
    if (!c->rays) {
        double absolute;
        sum += multiply_row(c, l, rows, &absolute);
        *size += absolute;
        return sum;
    }
    const double *ray = c->rays + (ptrdiff_t)l * c->rows;
    for (int first = 0; first < c->rows; first += ROWS_AT_ONCE) {
        if (rows->first != first) {
            multiply_rows(c, first, rows);
        }
        sum += ray_product(rows->count, ray + first, rows, size);
    }
    return sum;
}

/* ---- violation and complementarity ---- */

/* Raises *worst to value / scale. */
static inline void raise_to(double *worst, double value, double scale)
{
    if (value > *worst * scale) {
        *worst = value / scale;
    }
}

/* What all constraints are measured with. */
typedef struct gauge {
    double unit;
    perp_convex_residual *r;
    double *near;
} gauge;

/* One slack that is a row of its own, whose terms are finite. */
static inline void measure_row(const gauge *g, convex_set set, double s, double size, double y, double offset)
{
    const double scale = g->unit + size, own = g->unit + fabs(y), violation = set == SET_ZERO ? fabs(s) : -s;
    perp_convex_residual *r = g->r;
    raise_to(&r->primal, violation, scale);
    perp_problem_raise_near(violation, fabs(offset), g->unit, g->near);
    if (set != SET_ZERO) {
        raise_to(&r->dual, -y, own);
        raise_to(&r->complementarity, fabs(s * y), scale * own);
    }
}

double perp_cone_distance(double first, double squares)
{
    static const double HALF_ROOT = 0.70710678118654752440;
    const double norm = sqrt(squares);
    if (first >= norm) {
        return 0.0;
    }
    return first <= -norm ? sqrt(first * first + squares) : (norm - first) * HALF_ROOT;
}

/* The slacks of a cone while they are formed. */
typedef struct cone_sums {
    double first, squares, dot, size, offset;
    double y_first, y_squares, y_size;
} cone_sums;

static inline void add_to_cone(cone_sums *k, int l, double s, double size, double y, double offset)
{
    k->offset = larger(k->offset, fabs(offset));
    k->first = l == 0 ? s : k->first;
    k->y_first = l == 0 ? y : k->y_first;
    k->squares += l == 0 ? 0.0 : s * s;
    k->y_squares += l == 0 ? 0.0 : y * y;
    k->dot += s * y;
    k->size = larger(k->size, size);
    k->y_size = larger(k->y_size, fabs(y));
}

static void measure_cone(const gauge *g, const cone_sums *k)
{
    const double scale = g->unit + k->size, own = g->unit + k->y_size,
                 distance = perp_cone_distance(k->first, k->squares);
    perp_convex_residual *r = g->r;
    raise_to(&r->primal, distance, scale);
    perp_problem_raise_near(distance, k->offset, g->unit, g->near);
    raise_to(&r->dual, perp_cone_distance(k->y_first, k->y_squares), own);
    raise_to(&r->complementarity, fabs(k->dot), scale * own);
}

/* J x of the three rows that a contact has, in one loop, and |J||x|. `x` is that of the first unknown where the
 * unknowns follow each other, else `dof` says where they are. */
static inline void multiply_three_rows(const constraint *c, const int *dof, const double *x, double product[3],
                                       double size[3])
{
    const double *j0 = c->jacobian, *j1 = j0 + c->dofs, *j2 = j1 + c->dofs;
    perp_lanes s0 = {0.0, 0.0}, s1 = s0, s2 = s0, a0 = s0, a1 = s0, a2 = s0;
    int k = 0;
    for (; k + 1 < c->dofs; k += 2) {
        const perp_lanes xx = dof ? (perp_lanes){x[dof[k]], x[dof[k + 1]]} : perp_lanes_load(x + k);
        const perp_lanes p0 = perp_lanes_load(j0 + k) * xx, p1 = perp_lanes_load(j1 + k) * xx;
        const perp_lanes p2 = perp_lanes_load(j2 + k) * xx;
        s0 += p0;
        s1 += p1;
        s2 += p2;
        a0 += absolute_lanes(p0);
        a1 += absolute_lanes(p1);
        a2 += absolute_lanes(p2);
    }
    if (k < c->dofs) {
        const double last = x[dof ? dof[k] : k];
        const perp_lanes p0 = {j0[k] * last, 0.0}, p1 = {j1[k] * last, 0.0}, p2 = {j2[k] * last, 0.0};
        s0 += p0;
        s1 += p1;
        s2 += p2;
        a0 += absolute_lanes(p0);
        a1 += absolute_lanes(p1);
        a2 += absolute_lanes(p2);
    }
    product[0] = s0[0] + s0[1];
    product[1] = s1[0] + s1[1];
    product[2] = s2[0] + s2[1];
    size[0] = a0[0] + a0[1];
    size[1] = a1[0] + a1[1];
    size[2] = a2[0] + a2[1];
}

/* What has three rows and rays. Returns 0, or NaN where a sum overflows. */
static double measure_three_rows(const constraint *c, const double *x, const gauge *g)
{
    double v[3], a[3], check = 0.0;
    if (c->dof[c->dofs - 1] - c->dof[0] == c->dofs - 1) {
        multiply_three_rows(c, NULL, x + c->dof[0], v, a);
    } else {
        multiply_three_rows(c, c->dof, x, v, a);
    }
    cone_sums cone = {0};
    const double *ray = c->rays;
    for (int l = 0; l < c->slacks; l++, ray += 3) {
        const double offset = c->offset ? c->offset_sign * c->offset[l] : 0.0, y = c->y ? c->y[l] : 0.0;
        const double s = offset + ((ray[0] * v[0] + ray[1] * v[1]) + ray[2] * v[2]);
        const double size = fabs(offset) + ((fabs(ray[0]) * a[0] + fabs(ray[1]) * a[1]) + fabs(ray[2]) * a[2]);
        check += 0.0 * size;
        if (c->set == SET_CONE) {
            add_to_cone(&cone, l, s, size, y, offset);
        } else {
            measure_row(g, SET_NONNEGATIVE, s, size, y, offset);
        }
    }
    if (c->set == SET_CONE) {
        check += 0.0 * (cone.squares + cone.y_squares + cone.dot);
        measure_cone(g, &cone);
    }
    return check;
}

static double measure_plainly(const constraint *c, const double *x, const gauge *g)
{
    row_products rows;
    gather(c, x, &rows);
    cone_sums cone = {0};
    double check = 0.0;
    for (int l = 0; l < c->slacks; l++) {
        double size = 0.0;
        const double s = slack_of(c, l, &rows, &size), y = c->y ? c->y[l] : 0.0,
                     offset = c->offset ? c->offset[l] : 0.0;
        check += 0.0 * size;
        if (c->set == SET_CONE) {
            add_to_cone(&cone, l, s, size, y, offset);
        } else {
            measure_row(g, c->set, s, size, y, offset);
        }
    }
    if (c->set == SET_CONE) {
        check += 0.0 * (cone.squares + cone.y_squares + cone.dot);
        measure_cone(g, &cone);
    }
    return check;
}

void perp_constraint_measure(const constraint *c, const double *x, double unit, perp_convex_residual *r, double *near)
{
    const bool three = c->rows == 3 && c->rays && c->dof && c->dofs > 0;
    const gauge g = {unit, r, near};
    const double check = three ? measure_three_rows(c, x, &g) : measure_plainly(c, x, &g);
    if (check != 0.0) {
        r->primal = INFINITY; /* no number says how far it is off */
    }
}
