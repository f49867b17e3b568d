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

static void multiply_rows_twofold(const constraint *c, const double *x, int first, row_products *rows)
{
    rows->first = first;
    rows->count = rows_from(c, first);
    for (int r = 0; r < rows->count; r++) {
        const double *row = row_of(c, first + r);
        const perp_twofold product = row_product_twofold(c->dofs, row, c->dof, x);
        rows->value[r] = product.value;
        rows->rest[r] = product.rest;
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

static perp_twofold slack_twofold(const constraint *c, const double *x, int l, row_products *rows)
{
    perp_twofold sum = {c->offset ? c->offset_sign * c->offset[l] : 0.0, 0.0};
    const int start = c->rays ? 0 : l - l % ROWS_AT_ONCE, end = c->rays ? c->rows : start + 1;
    for (int first = start; first < end; first += ROWS_AT_ONCE) {
        if (rows->first != first) {
            multiply_rows_twofold(c, x, first, rows);
        }
        for (int r = 0; r < rows->count; r++) {
            const perp_twofold product = {rows->value[r], rows->rest[r]};
            const double ray = c->rays ? c->rays[(ptrdiff_t)l * c->rows + first + r] : (first + r == l ? 1.0 : 0.0);
            perp_twofold_add_scaled(&sum, ray, product);
        }
    }
    return perp_twofold_settle(sum);
}

/* ---- violation and complementarity ---- */

static const double HALF_ROOT = 0.70710678118654752440;

/* The distance of (first, v) to the second-order cone, from |v|^2. */
static double cone_distance(double first, double squares)
{
    const double norm = sqrt(squares);
    if (first >= norm) {
        return 0.0;
    }
    return first <= -norm ? sqrt(first * first + squares) : (norm - first) * HALF_ROOT;
}

/* Near the boundary from the difference of the squares, where that of the norms would cancel. */
static double cone_distance_twofold(perp_twofold first, perp_twofold squares)
{
    if (first.value <= 0.0) {
        return cone_distance(first.value, squares.value);
    }
    perp_twofold difference = squares;
    perp_twofold_add_product(&difference, -first.value, first.value);
    difference.rest -= 2.0 * first.value * first.rest;
    const double excess = difference.value + difference.rest;
    return excess <= 0.0 ? 0.0 : excess / (sqrt(squares.value) + first.value) * HALF_ROOT;
}

/* J x of the three rows that a contact has, in one loop, and the sum of the absolute values of all terms. `x` is that
 * of the first unknown where the unknowns follow each other, else `dof` says where they are. */
static inline void multiply_three_rows(const constraint *c, const int *dof, const double *x, double product[3],
                                       double *size)
{
    const double *j0 = c->jacobian, *j1 = j0 + c->dofs, *j2 = j1 + c->dofs;
    perp_lanes s0 = {0.0, 0.0}, s1 = s0, s2 = s0, absolute = s0;
    int k = 0;
    for (; k + 1 < c->dofs; k += 2) {
        const perp_lanes xx = dof ? (perp_lanes){x[dof[k]], x[dof[k + 1]]} : perp_lanes_load(x + k);
        const perp_lanes p0 = perp_lanes_load(j0 + k) * xx, p1 = perp_lanes_load(j1 + k) * xx;
        const perp_lanes p2 = perp_lanes_load(j2 + k) * xx;
        s0 += p0;
        s1 += p1;
        s2 += p2;
        absolute += (absolute_lanes(p0) + absolute_lanes(p1)) + absolute_lanes(p2);
    }
    if (k < c->dofs) {
        const double last = x[dof ? dof[k] : k];
        const perp_lanes p0 = {j0[k] * last, 0.0}, p1 = {j1[k] * last, 0.0}, p2 = {j2[k] * last, 0.0};
        s0 += p0;
        s1 += p1;
        s2 += p2;
        absolute += (absolute_lanes(p0) + absolute_lanes(p1)) + absolute_lanes(p2);
    }
    product[0] = s0[0] + s0[1];
    product[1] = s1[0] + s1[1];
    product[2] = s2[0] + s2[1];
    *size = absolute[0] + absolute[1];
}

/* A pair of slacks, from `l` on, of rays that are rows of three; adds to all but `distance`, which is the larger. */
static inline void measure_two_rays(const constraint *c, int l, const double v[3], double absolute, perp_lanes *size,
                                    perp_lanes *weight, measure *m)
{
    const double *ray = c->rays + 3 * (ptrdiff_t)l, sign = c->offset_sign;
    const perp_lanes r0 = {ray[0], ray[3]}, r1 = {ray[1], ray[4]}, r2 = {ray[2], ray[5]}, signs = {sign, sign};
    const perp_lanes v0 = {v[0], v[0]}, v1 = {v[1], v[1]}, v2 = {v[2], v[2]}, most = {absolute, absolute};
    const perp_lanes offset = signs * perp_lanes_load(c->offset + l), y = perp_lanes_load(c->y + l);
    const perp_lanes s = offset + ((r0 * v0 + r1 * v1) + r2 * v2), product = absolute_lanes(s * y);
    *size += absolute_lanes(offset) + most * ((absolute_lanes(r0) + absolute_lanes(r1)) + absolute_lanes(r2));
    *weight += absolute_lanes(y);
    m->distance = larger(m->distance, larger(-s[0], -s[1]));
    m->product = larger(m->product, larger(product[0], product[1]));
}

/* What has three rows and rays. The loops of these functions are apart because they are the residual's innermost, and
 * the residual is part of every solve. */
static measure measure_three_rows(const constraint *c, const double *x)
{
    measure m = {0.0, 0.0, 0.0, 0.0};
    double v[3], absolute, first = 0.0, squares = 0.0, dot = 0.0;
    if (c->dof[c->dofs - 1] - c->dof[0] == c->dofs - 1) {
        multiply_three_rows(c, NULL, x + c->dof[0], v, &absolute);
    } else {
        multiply_three_rows(c, c->dof, x, v, &absolute);
    }
    const bool cone = c->set == SET_CONE;
    int l = 0;
    if (!cone && c->offset && c->y) {
        perp_lanes size = {0.0, 0.0}, weight = {0.0, 0.0};
        for (; l + 1 < c->slacks; l += 2) {
            measure_two_rays(c, l, v, absolute, &size, &weight, &m);
        }
        m.size = size[0] + size[1];
        m.weight = weight[0] + weight[1];
    }
    for (const double *ray = c->rays + 3 * (ptrdiff_t)l; l < c->slacks; l++, ray += 3) {
        const double offset = c->offset ? c->offset_sign * c->offset[l] : 0.0, y = c->y ? c->y[l] : 0.0;
        const double s = offset + ((ray[0] * v[0] + ray[1] * v[1]) + ray[2] * v[2]), product = s * y;
        m.size += fabs(offset) + absolute * ((fabs(ray[0]) + fabs(ray[1])) + fabs(ray[2]));
        m.weight += fabs(y);
        first = l == 0 ? s : first;
        squares += l == 0 ? 0.0 : s * s;
        dot += product;
        m.distance = larger(m.distance, -s);
        m.product = larger(m.product, fabs(product));
    }
    if (cone) {
        m.distance = cone_distance(first, squares);
        m.product = fabs(dot);
    }
    return m;
}

static measure measure_plainly(const constraint *c, const double *x)
{
    measure m = {0.0, 0.0, 0.0, 0.0};
    row_products rows;
    gather(c, x, &rows);
    double first = 0.0, squares = 0.0, dot = 0.0;
    for (int l = 0; l < c->slacks; l++) {
        const double s = slack_of(c, l, &rows, &m.size), y = c->y ? c->y[l] : 0.0;
        m.weight += fabs(y);
        if (c->set == SET_CONE) {
            first = l == 0 ? s : first;
            squares += l == 0 ? 0.0 : s * s;
            dot += s * y;
        } else {
            m.distance = larger(m.distance, c->set == SET_ZERO ? fabs(s) : -s);
            m.product = larger(m.product, c->set == SET_ZERO ? 0.0 : fabs(s * y));
        }
    }
    if (c->set == SET_CONE) {
        m.distance = cone_distance(first, squares);
        m.product = fabs(dot);
    }
    return m;
}

static measure measure_twofold(const constraint *c, const double *x)
{
    measure m = {0.0, 0.0, 0.0, 0.0};
    row_products rows;
    rows.first = -1;
    rows.count = 0;
    perp_twofold first = {0.0, 0.0}, squares = {0.0, 0.0}, dot = {0.0, 0.0};
    for (int l = 0; l < c->slacks; l++) {
        const perp_twofold s = slack_twofold(c, x, l, &rows);
        const double y = c->y ? c->y[l] : 0.0;
        if (c->set != SET_CONE) {
            m.distance = perp_problem_worse(m.distance, c->set == SET_ZERO ? fabs(s.value) : -s.value);
            m.product = perp_problem_worse(m.product, c->set == SET_ZERO ? 0.0 : fabs(s.value * y));
            continue;
        }
        perp_twofold_add_scaled(&dot, y, s);
        if (l == 0) {
            first = s;
        } else {
            perp_twofold_add_scaled(&squares, s.value, s);
            squares.rest += s.value * s.rest;
        }
    }
    if (c->set == SET_CONE) {
        m.distance = cone_distance_twofold(first, perp_twofold_settle(squares));
        m.product = fabs(dot.value + dot.rest);
    }
    return m;
}

measure perp_constraint_measure(const constraint *c, const double *x, double primal_scale, double dual_scale)
{
    const bool three = c->rows == 3 && c->rays && c->dof && c->dofs > 0;
    const measure m = three ? measure_three_rows(c, x) : measure_plainly(c, x);
    const double terms = (double)c->dofs + (c->rays ? c->rows : 0) + 2.0 + (c->set == SET_CONE ? 2.0 * c->slacks : 0.0);
    const double rounding = terms * DBL_EPSILON * m.size;
    const double distance_error = larger(NEGLIGIBLE * primal_scale, NEGLIGIBLE_PART * m.distance);
    const double product_error = larger(NEGLIGIBLE * dual_scale, NEGLIGIBLE_PART * m.product);
    const bool plain = rounding <= distance_error && rounding * m.weight <= product_error;
    if (plain) { /* NaN is not */
        return m;
    }
    measure twofold = measure_twofold(c, x);
    twofold.distance += beyond(DBL_EPSILON * rounding, NEGLIGIBLE * primal_scale);
    twofold.product += beyond(DBL_EPSILON * (rounding * m.weight), NEGLIGIBLE * dual_scale);
    return twofold;
}

double perp_constraint_multiplier_distance(const constraint *c, double scale)
{
    double distance = 0.0;
    if (c->set == SET_ZERO || !c->y) {
        return 0.0;
    }
    if (c->set == SET_NONNEGATIVE) {
        for (int l = 0; l < c->slacks; l++) {
            distance = larger(distance, -c->y[l]);
        }
        return distance;
    }
    double squares = 0.0, size = fabs(c->y[0]);
    for (int l = 1; l < c->slacks; l++) {
        squares += c->y[l] * c->y[l];
        size += fabs(c->y[l]);
    }
    if (2.0 * c->slacks * DBL_EPSILON * size <= NEGLIGIBLE * scale) {
        return cone_distance(c->y[0], squares);
    }
    const perp_twofold first = {c->y[0], 0.0};
    perp_twofold sum = {0.0, 0.0};
    for (int l = 1; l < c->slacks; l++) {
        perp_twofold_add_product(&sum, c->y[l], c->y[l]);
    }
    return cone_distance_twofold(first, perp_twofold_settle(sum));
}
