#include "convex_test.h"

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static long double larger(long double a, long double b)
{
    return b == b ? (a > b ? a : b) : (long double)INFINITY;
}

/* ---- written out ------------------------------------------------------------------------------------------------- */

static int count_slacks(convex_problem p)
{
    int rows = 0;
    if (p.qp) {
        return p.qp->rows;
    }
    if (p.contact) {
        return p.contact->contact_count > 0 ? p.contact->slack_start[p.contact->contact_count] : 0;
    }
    for (int k = 0; k < p.cone->cones; k++) {
        rows += p.cone->cone_rows[k];
    }
    return rows;
}

static int count_unknowns(convex_problem p)
{
    return p.qp ? p.qp->n : (p.cone ? p.cone->n : p.contact->n);
}

static int count_equalities(convex_problem p)
{
    return p.qp ? p.qp->equalities : (p.cone ? p.cone->equalities : p.contact->equality_count);
}

static void widen(long double *to, const double *from, int rows, int columns, long double factor)
{
    for (ptrdiff_t i = 0; from && i < (ptrdiff_t)rows * columns; i++) {
        to[i] = factor * from[i];
    }
}

static long double largest_double(int n, const double *values)
{
    long double most = 0.0L;
    for (int i = 0; i < n; i++) {
        most = larger(most, fabsl((long double)values[i]));
    }
    return most;
}

/* The largest entry of each row at all its unknowns. */
static void open_rows(int rows, int n, const double *values, long double *open)
{
    for (int i = 0; i < rows; i++) {
        const long double most = largest_double(n, values + (ptrdiff_t)i * n);
        for (int j = 0; j < n; j++) {
            open[(ptrdiff_t)i * n + j] = values[(ptrdiff_t)i * n + j] != 0.0 ? most : 0.0L;
        }
    }
}

static void write_contacts(const perp_contact_qp *q, written_out *w)
{
    const double *h = q->hessian, *jacobian = q->jacobian, *rays = q->rays;
    const int n = q->n;
    widen(w->g, q->g, n, 1, 1.0L);
    for (int k = 0; h && k < q->block_count; k++) {
        for (int i = q->block_start[k]; i < q->block_start[k + 1]; i++) {
            const long double most = largest_double(q->block_start[k + 1] - q->block_start[k], h);
            for (int j = q->block_start[k]; j < q->block_start[k + 1]; j++, h++) {
                w->h[(ptrdiff_t)i * n + j] = *h;
                w->h_open[(ptrdiff_t)i * n + j] = *h != 0.0 ? most : 0.0L;
            }
        }
    }
    for (int i = 0; i < q->contact_count; i++) {
        const int first = q->slack_start[i], slacks = q->slack_start[i + 1] - first;
        const int rows = q->row_start[i + 1] - q->row_start[i], count = q->dof_start[i + 1] - q->dof_start[i];
        for (int s = 0; s < slacks; s++) {
            for (int r = 0; r < rows; r++) {
                const long double ray = rays ? rays[s * rows + r] : (s == r ? 1.0L : 0.0L);
                const long double most = largest_double(count, jacobian + (ptrdiff_t)r * count);
                for (int k = 0; k < count; k++) {
                    const ptrdiff_t place = (ptrdiff_t)(first + s) * n + q->dofs[q->dof_start[i] + k];
                    w->a[place] += ray * jacobian[r * count + k];
                    w->size[place] += fabsl(ray * jacobian[r * count + k]);
                    w->a_open[place] += jacobian[r * count + k] != 0.0 ? fabsl(ray) * most : 0.0L;
                }
            }
            w->offset[first + s] = q->offset[first + s];
        }
        const bool cone = q->quadratic && q->quadratic[i];
        for (int k = 0; k < (cone ? 1 : slacks); k++) {
            w->cone_rows[w->cones++] = cone ? slacks : 1;
        }
        jacobian += (ptrdiff_t)rows * count;
        rays = rays ? rays + (ptrdiff_t)slacks * rows : NULL;
    }
    for (int i = 0; i < q->equality_count; i++) {
        w->d[i] = q->equality_target[i];
        for (int k = q->equality_start[i]; k < q->equality_start[i + 1]; k++) {
            w->c[(ptrdiff_t)i * n + q->equality_dofs[k]] = q->equality_values[k];
            w->c_open[(ptrdiff_t)i * n + q->equality_dofs[k]] = largest_double(
                q->equality_start[i + 1] - q->equality_start[i], q->equality_values + q->equality_start[i]);
        }
    }
    w->lower = q->lower;
    w->upper = q->upper;
}

written_out write_out(convex_problem p)
{
    const int n = count_unknowns(p), m = count_slacks(p), e = count_equalities(p);
    const size_t nn = (size_t)n, mm = (size_t)m, ee = (size_t)e;
    written_out w = {.n = n, .slacks = m, .equalities = e};
    long double *at = w.memory = zeros(2 * nn * nn + nn + 3 * mm * nn + mm + 2 * ee * nn + ee, sizeof(long double));
    long double **arrays[] = {&w.h, &w.g, &w.a, &w.size, &w.a_open, &w.offset, &w.c, &w.c_open, &w.d, &w.h_open};
    const size_t lengths[] = {nn * nn, nn, mm * nn, mm * nn, mm * nn, mm, ee * nn, ee * nn, ee, nn * nn};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        *arrays[k] = at;
        at += lengths[k];
    }
    w.cone_rows = zeros(mm, sizeof(int));
    if (p.contact) {
        write_contacts(p.contact, &w);
        return w;
    }
    const perp_qp *q = p.qp;
    const perp_cone_qp *k = p.cone;
    widen(w.h, q ? q->h : k->h, n, n, 1.0L);
    widen(w.g, q ? q->g : k->g, n, 1, 1.0L);
    widen(w.a, q ? q->a : k->a, m, n, 1.0L);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)m * n; i++) {
        w.size[i] = fabsl(w.a[i]);
    }
    widen(w.offset, q ? q->b : k->b, m, 1, q ? -1.0L : 1.0L);
    open_rows(m, n, q ? q->a : k->a, w.a_open);
    open_rows(e, n, q ? q->c : k->c, w.c_open);
    if (q ? q->h : k->h) {
        open_rows(n, n, q ? q->h : k->h, w.h_open);
    }
    widen(w.c, q ? q->c : k->c, e, n, 1.0L);
    widen(w.d, q ? q->d : k->d, e, 1, 1.0L);
    w.cones = q ? m : k->cones;
    for (int i = 0; i < w.cones; i++) {
        w.cone_rows[i] = q ? 1 : k->cone_rows[i];
    }
    w.lower = q ? q->lower : NULL;
    w.upper = q ? q->upper : NULL;
    return w;
}

void free_written_out(written_out *w)
{
    free(w->memory);
    free(w->cone_rows);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static void point_arrays(convex_problem p, const perp_convex_point *point, double *arrays[5], int lengths[5])
{
    const int n = count_unknowns(p);
    double *all[5] = {point->x, point->y, point->y_equality, point->y_lower, point->y_upper};
    const int sizes[5] = {n, count_slacks(p), count_equalities(p), n, n};
    memcpy(arrays, all, sizeof all);
    memcpy(lengths, sizes, sizeof sizes);
}

perp_convex_point new_point(convex_problem p)
{
    const int n = count_unknowns(p);
    return (perp_convex_point){zeros((size_t)n, sizeof(double)), zeros((size_t)count_slacks(p), sizeof(double)),
                               zeros((size_t)count_equalities(p), sizeof(double)), zeros((size_t)n, sizeof(double)),
                               zeros((size_t)n, sizeof(double))};
}

void free_point(perp_convex_point *point)
{
    free(point->x);
    free(point->y);
    free(point->y_equality);
    free(point->y_lower);
    free(point->y_upper);
}

void copy_point(convex_problem p, const perp_convex_point *from, perp_convex_point *to)
{
    double *a[5], *b[5];
    int lengths[5];
    point_arrays(p, from, a, lengths);
    point_arrays(p, to, b, lengths);
    for (int k = 0; k < 5; k++) {
        memcpy(b[k], a[k], (size_t)lengths[k] * sizeof(double));
    }
}

bool is_finite_point(convex_problem p, const perp_convex_point *point)
{
    double *arrays[5];
    int lengths[5];
    point_arrays(p, point, arrays, lengths);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < lengths[k]; i++) {
            if (!isfinite(arrays[k][i])) {
                return false;
            }
        }
    }
    return true;
}

double multiplier_norm(convex_problem p, const perp_convex_point *point)
{
    double *arrays[5];
    int lengths[5];
    long double sum = 0.0L;
    point_arrays(p, point, arrays, lengths);
    for (int k = 1; k < 5; k++) {
        for (int i = 0; i < lengths[k]; i++) {
            sum += (long double)arrays[k][i] * arrays[k][i];
        }
    }
    return (double)sqrtl(sum);
}

static double distance_of(convex_problem p, const perp_convex_point *a, const perp_convex_point *b, int first, int end)
{
    double *of_a[5], *of_b[5];
    int lengths[5];
    long double worst = 0.0L;
    point_arrays(p, a, of_a, lengths);
    point_arrays(p, b, of_b, lengths);
    for (int k = first; k < end; k++) {
        for (int i = 0; i < lengths[k]; i++) {
            worst = larger(worst, fabsl((long double)of_a[k][i] - of_b[k][i]));
        }
    }
    return (double)worst;
}

double distance_of_x(convex_problem p, const perp_convex_point *a, const perp_convex_point *b)
{
    return distance_of(p, a, b, 0, 1);
}

double distance_of_multipliers(convex_problem p, const perp_convex_point *a, const perp_convex_point *b)
{
    return distance_of(p, a, b, 1, 5);
}

/* ---- the judge --------------------------------------------------------------------------------------------------- */

static long double times(int n, const long double *row, const double *x)
{
    long double sum = 0.0L;
    for (int j = 0; j < n; j++) {
        sum += row[j] * x[j];
    }
    return sum;
}

/* |row||x|: the size of what `times` adds up. */
static long double times_sizes(int n, const long double *row, const double *x)
{
    long double sum = 0.0L;
    for (int j = 0; j < n; j++) {
        sum += fabsl(row[j] * x[j]);
    }
    return sum;
}

/* How far a certificate's sum is from zero: what 2^-50 of the largest entries may leave by the proof's value. */
static long double off_zero(long double off, long double size, long double open, long double worth)
{
    const long double own = off <= 0.0L ? 0.0L : off / size, beside = off <= 0.0L ? 0.0L : off / worth;
    return (own <= 1e-5L || off <= 0x1p-50L * open) && beside < own ? beside : own;
}

/* 0 over 0 is 0 */
static long double over(long double value, long double scale)
{
    return value == 0.0L ? 0.0L : value / scale;
}

/* From the cone {first entry >= norm of the rest}; its polar is minus the cone. */
static long double distance_to_cone(int rows, const long double *s)
{
    long double tail = 0.0L;
    for (int i = 1; i < rows; i++) {
        tail = hypotl(tail, s[i]);
    }
    if (s[0] >= tail) {
        return 0.0L;
    }
    return -s[0] >= tail ? hypotl(s[0], tail) : (tail - s[0]) / sqrtl(2.0L);
}

static long double largest_of(int n, const long double *values)
{
    long double most = 0.0L;
    for (int i = 0; i < n; i++) {
        most = larger(most, fabsl(values[i]));
    }
    return most;
}

/* Each over unit + the largest of its sizes. */
static long double outside_of_cones(const written_out *w, const long double *s, const long double *sizes,
                                    long double unit)
{
    long double worst = 0.0L;
    for (int k = 0, start = 0; k < w->cones; start += w->cone_rows[k++]) {
        const int rows = w->cone_rows[k];
        worst = larger(worst, over(distance_to_cone(rows, s + start), unit + largest_of(rows, sizes + start)));
    }
    return worst;
}

/* How far the multipliers are outside of what they may be. */
static long double outside_of_dual(const written_out *w, const perp_convex_point *point, long double unit)
{
    long double *y = zeros((size_t)w->slacks, sizeof(long double));
    widen(y, point->y, w->slacks, 1, 1.0L);
    long double worst = outside_of_cones(w, y, y, unit);
    free(y);
    for (int j = 0; j < 2 * w->n; j++) {
        const double *bound = j < w->n ? w->lower : w->upper;
        if (bound) {
            const long double yj = j < w->n ? point->y_lower[j] : point->y_upper[j - w->n];
            worst = larger(worst, over(isfinite(bound[j % w->n]) ? -yj : fabsl(yj), unit + fabsl(yj)));
        }
    }
    return worst;
}

/* Entry j of A'y + C'y_equality + y_lower - y_upper; *size of its terms. */
static long double pull(const written_out *w, const perp_convex_point *point, int j, long double *size)
{
    const long double lower = w->lower ? point->y_lower[j] : 0.0, upper = w->upper ? point->y_upper[j] : 0.0;
    long double sum = lower - upper;
    *size = fabsl(lower) + fabsl(upper);
    for (int i = 0; i < w->slacks; i++) {
        sum += w->a[(ptrdiff_t)i * w->n + j] * point->y[i];
        *size += w->size[(ptrdiff_t)i * w->n + j] * fabsl((long double)point->y[i]);
    }
    for (int i = 0; i < w->equalities; i++) {
        sum += w->c[(ptrdiff_t)i * w->n + j] * point->y_equality[i];
        *size += fabsl(w->c[(ptrdiff_t)i * w->n + j] * point->y_equality[i]);
    }
    return sum;
}

/* Violation and products of the bounds. */
static long double judge_bounds(const written_out *w, const perp_convex_point *point)
{
    long double worst = 0.0L;
    for (int j = 0; j < 2 * w->n; j++) {
        const double *bound = j < w->n ? w->lower : w->upper;
        const int i = j % w->n;
        if (bound && isfinite(bound[i])) {
            const long double up = (long double)point->x[i] - bound[i], slack = j < w->n ? up : -up;
            const long double y = j < w->n ? point->y_lower[i] : point->y_upper[i];
            const long double scale = 1.0L + fabsl((long double)bound[i]) + fabsl((long double)point->x[i]);
            worst = larger(worst, larger(-slack / scale, fabsl(slack * y) / (scale * (1.0L + fabsl(y)))));
        }
    }
    return worst;
}

/* |s . y| of the cones over both scales. */
static long double judge_products(const written_out *w, const long double *s, const long double *sizes, const double *y)
{
    long double worst = 0.0L;
    for (int k = 0, start = 0; k < w->cones; start += w->cone_rows[k++]) {
        long double dot = 0.0L, own = 0.0L;
        for (int i = start; i < start + w->cone_rows[k]; i++) {
            dot += s[i] * y[i];
            own = larger(own, fabsl((long double)y[i]));
        }
        const long double scale = 1.0L + largest_of(w->cone_rows[k], sizes + start);
        worst = larger(worst, fabsl(dot) / (scale * (1.0L + own)));
    }
    return worst;
}

double judge_convex(convex_problem p, const perp_convex_point *point)
{
    if (!is_finite_point(p, point)) {
        return INFINITY;
    }
    written_out w = write_out(p);
    const int n = w.n;
    long double *s = zeros(2 * (size_t)w.slacks, sizeof(long double)), *sizes = s + w.slacks;
    for (int i = 0; i < w.slacks; i++) {
        s[i] = times(n, w.a + (ptrdiff_t)i * n, point->x) + w.offset[i];
        sizes[i] = times_sizes(n, w.size + (ptrdiff_t)i * n, point->x) + fabsl(w.offset[i]);
    }
    long double worst = larger(judge_bounds(&w, point), outside_of_dual(&w, point, 1.0L));
    worst = larger(worst, outside_of_cones(&w, s, sizes, 1.0L));
    worst = larger(worst, judge_products(&w, s, sizes, point->y));
    for (int i = 0; i < w.equalities; i++) {
        const long double *row = w.c + (ptrdiff_t)i * n;
        const long double scale = 1.0L + times_sizes(n, row, point->x) + fabsl(w.d[i]);
        worst = larger(worst, fabsl(times(n, row, point->x) - w.d[i]) / scale);
    }
    for (int j = 0; j < n; j++) {
        const long double *row = w.h + (ptrdiff_t)j * n;
        long double size;
        const long double sum = times(n, row, point->x) + w.g[j] - pull(&w, point, j, &size);
        worst = larger(worst, fabsl(sum) / (1.0L + times_sizes(n, row, point->x) + fabsl(w.g[j]) + size));
    }
    free(s);
    free_written_out(&w);
    return (double)worst;
}

double judge_objective(convex_problem p, const double *x)
{
    written_out w = write_out(p);
    long double sum = 0.0L;
    for (int j = 0; j < w.n; j++) {
        sum += x[j] * (0.5L * times(w.n, w.h + (ptrdiff_t)j * w.n, x) + w.g[j]);
    }
    free_written_out(&w);
    return (double)sum;
}

/* A term of a proof's value; its size has the weight in it as well, times the unit of residuals. */
static void weigh(long double *sum, long double *size, long double weight, long double constant, long double unit)
{
    *sum += weight * constant;
    *size += fabsl(weight * constant) + unit * fabsl(weight);
}

/* What the rounding of the entries leaves open of entry j of A'y + C'y_equality. */
static long double open_pull(const written_out *w, const perp_convex_point *point, int j)
{
    long double sum = 0.0L;
    for (int i = 0; i < w->slacks; i++) {
        sum += w->a_open[(ptrdiff_t)i * w->n + j] * fabsl((long double)point->y[i]);
    }
    for (int i = 0; i < w->equalities; i++) {
        sum += w->c_open[(ptrdiff_t)i * w->n + j] * fabsl((long double)point->y_equality[i]);
    }
    return sum;
}

double judge_infeasible_with(convex_problem p, const perp_convex_point *point, double unit, double *value)
{
    written_out w = write_out(p);
    long double worst = outside_of_dual(&w, point, 0.0L), sum = 0.0L, terms = 0.0L;
    for (int i = 0; i < w.slacks; i++) {
        weigh(&sum, &terms, point->y[i], -w.offset[i], unit);
    }
    for (int i = 0; i < w.equalities; i++) {
        weigh(&sum, &terms, point->y_equality[i], w.d[i], unit);
    }
    for (int j = 0; j < w.n; j++) {
        const bool lower = w.lower && isfinite(w.lower[j]), upper = w.upper && isfinite(w.upper[j]);
        weigh(&sum, &terms, lower ? point->y_lower[j] : 0.0, lower ? w.lower[j] : 0.0, unit);
        weigh(&sum, &terms, upper ? point->y_upper[j] : 0.0, upper ? -w.upper[j] : 0.0, unit);
    }
    const bool proves = sum > 1e-8L * terms;
    for (int j = 0; proves && j < w.n; j++) {
        long double size;
        const long double column = pull(&w, point, j, &size);
        worst = larger(worst, off_zero(fabsl(column), size, open_pull(&w, point, j), sum));
    }
    free_written_out(&w);
    *value = (double)sum;
    return proves ? (double)worst : INFINITY;
}

/* How far the rows are from zero, and the cones from themselves, along x. */
static long double judge_direction(const written_out *w, const double *x, long double worth)
{
    const int n = w->n;
    long double *s = zeros(3 * (size_t)w->slacks, sizeof(long double)), *sizes = s + w->slacks,
                *opens = sizes + w->slacks, worst = 0.0L;
    for (int i = 0; i < w->slacks; i++) {
        s[i] = times(n, w->a + (ptrdiff_t)i * n, x);
        sizes[i] = times_sizes(n, w->size + (ptrdiff_t)i * n, x);
        opens[i] = times_sizes(n, w->a_open + (ptrdiff_t)i * n, x);
    }
    for (int k = 0, start = 0; k < w->cones; start += w->cone_rows[k++]) {
        const int rows = w->cone_rows[k];
        worst = larger(worst, off_zero(distance_to_cone(rows, s + start), largest_of(rows, sizes + start),
                                       largest_of(rows, opens + start), worth));
    }
    for (int i = 0; i < w->equalities; i++) {
        const long double *row = w->c + (ptrdiff_t)i * n;
        worst = larger(worst, off_zero(fabsl(times(n, row, x)), times_sizes(n, row, x),
                                       times_sizes(n, w->c_open + (ptrdiff_t)i * n, x), worth));
    }
    free(s);
    return worst;
}

double judge_unbounded_with(convex_problem p, const double *x, double unit, double *slope)
{
    written_out w = write_out(p);
    const int n = w.n;
    long double sum = 0.0L, terms = 0.0L, worst = 0.0L;
    for (int j = 0; j < n; j++) {
        weigh(&sum, &terms, x[j], w.g[j], unit);
    }
    const bool proves = -sum > 1e-8L * terms;
    worst = proves ? judge_direction(&w, x, -sum) : 0.0L;
    for (int j = 0; proves && j < n; j++) {
        const long double *row = w.h + (ptrdiff_t)j * n;
        worst = larger(worst, off_zero(fabsl(times(n, row, x)), times_sizes(n, row, x),
                                       times_sizes(n, w.h_open + (ptrdiff_t)j * n, x), -sum));
        worst = larger(worst, w.lower && isfinite(w.lower[j]) && x[j] < 0.0 ? 1.0L : 0.0L);
        worst = larger(worst, w.upper && isfinite(w.upper[j]) && x[j] > 0.0 ? 1.0L : 0.0L);
    }
    free_written_out(&w);
    *slope = (double)sum;
    return proves ? (double)worst : INFINITY;
}

double judge_infeasible(convex_problem p, const perp_convex_point *point, double *value)
{
    return judge_infeasible_with(p, point, 1.0, value);
}

double judge_unbounded(convex_problem p, const double *x, double *slope)
{
    return judge_unbounded_with(p, x, 1.0, slope);
}

/* ---- solving ----------------------------------------------------------------------------------------------------- */

perp_convex_settings convex_settings(const char *method)
{
    perp_convex_settings settings = perp_convex_settings_default();
    settings.method = method;
    return settings;
}

perp_convex_workspace *new_convex_workspace(const perp_allocator *allocator)
{
    perp_convex_workspace *workspace;
    ASSERT_STATUS(PERP_STATUS_OK, perp_convex_workspace_create(allocator, &workspace, NULL));
    return workspace;
}

perp_status reserve_convex(convex_problem p, perp_convex_workspace *workspace, perp_error *error)
{
    return p.qp     ? perp_qp_reserve(p.qp, workspace, error)
           : p.cone ? perp_cone_qp_reserve(p.cone, workspace, error)
                    : perp_contact_qp_reserve(p.contact, workspace, error);
}

perp_status try_convex(convex_problem p, const perp_convex_settings *settings, perp_convex_workspace *workspace,
                       perp_convex_point *point, perp_convex_info *info, perp_error *error)
{
    return p.qp     ? perp_qp_solve(p.qp, settings, workspace, point, info, error)
           : p.cone ? perp_cone_qp_solve(p.cone, settings, workspace, point, info, error)
                    : perp_contact_qp_solve(p.contact, settings, workspace, point, info, error);
}

void assert_truthful(convex_problem p, const perp_convex_settings *settings, const perp_convex_point *point,
                     const perp_convex_info *info)
{
    const double tolerance = settings ? settings->tolerance : 1e-8;
    const double judged = judge_convex(p, point), claimed = perp_convex_residual_largest(info->residual);
    assert_true((unsigned)info->outcome < PERP_OUTCOME_COUNT && info->method && info->tried_count > 0);
    assert_true(is_finite_point(p, point) && isfinite(info->objective));
    assert_true(info->iterations >= 0 && info->factorisations >= 0);
    /* The library's sums round by some units in the last place of the scale. */
    ASSERT_NEAR(claimed, judged, 1e-13 + 1e-9 * judged);
    const double objective = judge_objective(p, point->x);
    ASSERT_NEAR(info->objective, objective, 1e-11 * (1.0 + fabs(objective)));
    double scale = 0.0;
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        assert_true(judged <= tolerance + 1e-13 && claimed <= tolerance);
    } else {
        assert_false(info->minimum_norm);
    }
    if (info->outcome == PERP_OUTCOME_INFEASIBLE) {
        const double measure = judge_infeasible(p, point, &scale);
        assert_true(measure <= 1e-8);
        ASSERT_NEAR(scale, 1.0, 1e-8);
        ASSERT_NEAR(info->certificate, measure, 1e-11);
    } else if (info->outcome == PERP_OUTCOME_UNBOUNDED) {
        const double measure = judge_unbounded(p, point->x, &scale);
        assert_true(measure <= 1e-8);
        ASSERT_NEAR(scale, -1.0, 1e-8);
        ASSERT_NEAR(info->certificate, measure, 1e-11);
    } else {
        assert_true(info->certificate == 0.0);
    }
}

perp_convex_info solve_convex(convex_problem p, const perp_convex_settings *settings, perp_convex_workspace *workspace,
                              perp_convex_point *point)
{
    perp_convex_workspace *own = workspace ? NULL : new_convex_workspace(NULL);
    perp_convex_workspace *used = workspace ? workspace : own;
    perp_convex_info info;
    ASSERT_STATUS(PERP_STATUS_OK, reserve_convex(p, used, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, try_convex(p, settings, used, point, &info, NULL));
    assert_truthful(p, settings, point, &info);
    perp_convex_workspace_free(own);
    return info;
}

perp_convex_info assert_convex_solved(convex_problem p, const perp_convex_settings *settings, perp_convex_point *point)
{
    const perp_convex_info info = solve_convex(p, settings, NULL, point);
    const double judged = judge_convex(p, point);
    if (info.outcome != PERP_OUTCOME_SOLVED || !(judged <= POLISHED)) {
        print_error("%d unknowns, %d slacks: %s by %s after %d iterations, judged %g\n", count_unknowns(p),
                    count_slacks(p), perp_outcome_name(info.outcome), info.method, info.iterations, judged);
        fail();
    }
    return info;
}

/* ---- random contact qps ------------------------------------------------------------------------------------------ */

enum { BODY = 3, MOST_RAYS = 8 };

/* B B' + 0.1 I, entries of B in [-1, 1]. */
static void random_block(contact_case *q, int block, perp_random *random)
{
    double b[BODY][BODY];
    for (int i = 0; i < BODY * BODY; i++) {
        b[i / BODY][i % BODY] = perp_random_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < BODY; i++) {
        for (int j = 0; j < BODY; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (int k = 0; k < BODY; k++) {
                sum += b[i][k] * b[j][k];
            }
            *block_entry(q, block, i, j) = sum;
        }
    }
}

static void random_contact(contact_case *q, perp_random *random, contact_kind kind)
{
    int dofs[2 * BODY];
    double jacobian[3 * 2 * BODY], rays[MOST_RAYS * 3] = {0.0};
    const double offset[MOST_RAYS] = {0.0}, drawn = perp_random_uniform(random, 0.0, 2.0);
    const double mu =
        drawn < 0.2 ? 0.0 : drawn; /* nearly without friction: forces of 1 / mu, and no digits to compare */
    const int one = (int)(perp_random_bits(random) % (uint64_t)q->blocks);
    const int other = (int)(perp_random_bits(random) % (uint64_t)q->blocks);
    const int low = one < other ? one : other, high = one < other ? other : one;
    contact_entry entry = {.rows = kind == CONTACT_ROWS ? 1 : 3, .slacks = kind == CONTACT_ROWS ? 1 : 3};
    for (int k = 0; k < BODY; k++) {
        dofs[entry.count++] = low * BODY + k;
    }
    for (int k = 0; k < BODY && low < high; k++) {
        dofs[entry.count++] = high * BODY + k;
    }
    for (int k = 0; k < entry.rows * entry.count; k++) {
        jacobian[k] = perp_random_uniform(random, -1.0, 1.0);
    }
    if (kind == CONTACT_RAYS) {
        entry.slacks = 2 + (int)(perp_random_bits(random) % (MOST_RAYS - 1));
        friction_rays(entry.slacks, mu, perp_random_uniform(random, 0.0, 1.0), rays);
    } else if (kind == CONTACT_CONES) {
        rays[0] = 1.0;
        rays[4] = rays[8] = mu;
        entry.quadratic = true;
    }
    entry.dofs = dofs;
    entry.jacobian = jacobian;
    entry.rays = kind == CONTACT_ROWS ? NULL : rays;
    entry.offset = offset;
    add_contact(q, &entry);
}

/* The second half repeats the first, mixed. */
static void random_equality(contact_case *q, perp_random *random, int index, int count)
{
    int dofs[2 * BODY];
    double values[2 * BODY];
    const int first = index % ((count + 1) / 2), length = 2 * BODY < q->n ? 2 * BODY : q->n;
    for (int k = 0; k < length; k++) {
        dofs[k] = (first * BODY) % (q->n - length + 1) + k;
        values[k] = first == index ? perp_random_uniform(random, -1.0, 1.0)
                                   : -1.5 * q->equality_values[q->equality_start[first] + k];
    }
    add_equality(q, length, dofs, values, 0.0);
}

/* s receives one of the states, and y what of u is complementary to it. */
static void place_rows(perp_random *random, bool degenerate, int slacks, const long double *u, double *s, double *y)
{
    const bool sticks = perp_random_uniform(random, 0.0, 1.0) < 0.4;
    for (int i = 0; i < slacks; i++) {
        const double gap = perp_random_uniform(random, 0.1, 1.0);
        const bool touches = sticks || perp_random_uniform(random, 0.0, 1.0) < 0.3;
        s[i] = touches && (degenerate || u[i] > 0.0L) ? 0.0 : gap;
        y[i] = s[i] > 0.0 ? 0.0 : (double)larger(u[i], 0.0L);
    }
}

/* The projection of u on the cone into y: true where y is inside. */
static bool stick(const long double *u, double *y)
{
    const long double tail = hypotl(u[1], u[2]);
    const long double head = u[0] >= tail ? u[0] : (u[0] <= -tail ? 0.0L : (u[0] + tail) / 2.0L);
    const long double factor = u[0] >= tail ? 1.0L : (head > 0.0L ? head / tail : 0.0L);
    y[0] = (double)head;
    y[1] = (double)(factor * u[1]);
    y[2] = (double)(factor * u[2]);
    return u[0] > tail;
}

/* y = the part of u along (1, -cos, -sin): true where there is one. */
static bool slide(const long double *u, double angle, double *y)
{
    const long double d[3] = {1.0L, -cosl((long double)angle), -sinl((long double)angle)};
    const long double t = larger((d[0] * u[0] + d[1] * u[1] + d[2] * u[2]) / 2.0L, 0.0L);
    for (int i = 0; i < 3; i++) {
        y[i] = (double)(t * d[i]);
    }
    return t > 0.0L;
}

static void place_cone(perp_random *random, bool degenerate, const long double *u, double *s, double *y)
{
    const double state = perp_random_uniform(random, 0.0, 1.0), size = perp_random_uniform(random, 0.1, 1.0);
    const double angle = perp_random_uniform(random, 0.0, 6.0);
    const double tail = size * (state < 0.7 ? 1.0 : 0.5);
    s[0] = state < 0.4 ? 0.0 : size;
    s[1] = state < 0.4 ? 0.0 : tail * cos(angle);
    s[2] = state < 0.4 ? 0.0 : tail * sin(angle);
    y[0] = y[1] = y[2] = 0.0;
    const bool strict = state < 0.4 ? stick(u, y) : (state < 0.7 ? slide(u, angle, y) : true);
    if (!strict && !degenerate) { /* apart instead */
        s[0] = 1.5 + size;
        y[0] = y[1] = y[2] = 0.0;
    }
}

static void place_contacts(contact_case *q, perp_random *random, bool degenerate, const double *v,
                           perp_convex_point *known)
{
    const perp_contact_qp problem = contact_qp_of(q);
    written_out w = write_out(OF_CONTACT_QP(&problem));
    for (int i = 0; i < q->contacts; i++) {
        const int first = q->slack_start[i], slacks = q->slack_start[i + 1] - first;
        long double u[MOST_RAYS];
        double s[MOST_RAYS];
        for (int k = 0; k < slacks; k++) {
            u[k] = times(q->n, w.a + (ptrdiff_t)(first + k) * q->n, v);
        }
        if (q->quadratic[i]) {
            place_cone(random, degenerate, u, s, known->y + first);
        } else {
            place_rows(random, degenerate, slacks, u, s, known->y + first);
        }
        for (int k = 0; k < slacks; k++) {
            q->offset[first + k] = (double)(s[k] - times(q->n, w.a + (ptrdiff_t)(first + k) * q->n, known->x));
        }
    }
    for (int i = 0; i < q->equalities; i++) {
        known->y_equality[i] = (double)times(q->n, w.c + (ptrdiff_t)i * q->n, v);
        q->equality_target[i] = (double)times(q->n, w.c + (ptrdiff_t)i * q->n, known->x);
    }
    free_written_out(&w);
}

/* Some far, some touched, some fixed (which has two active bounds with one force: degenerate). */
static void place_bounds(contact_case *q, perp_random *random, bool degenerate, const double *v,
                         perp_convex_point *known)
{
    for (int j = 0; j < q->n; j++) {
        const uint64_t kind = perp_random_bits(random) % 6;
        const double x = known->x[j];
        if (kind < 4) {
            q->lower[j] = kind == 1 && (degenerate || v[j] > 0.0) ? x : x - 0.5;
            q->upper[j] = kind == 2 && (degenerate || v[j] < 0.0) ? x : (kind == 0 ? INFINITY : x + 0.5);
        }
        if (kind == 3 && degenerate) {
            q->lower[j] = q->upper[j] = x;
        }
        known->y_lower[j] = q->lower[j] == x ? fmax(v[j], 0.0) : 0.0;
        known->y_upper[j] = q->upper[j] == x ? fmax(-v[j], 0.0) : 0.0;
    }
}

contact_case random_contact_case(perp_random *random, random_contacts what, perp_convex_point *known)
{
    contact_case q = new_contact_case(what.bodies, BODY);
    q.bounded = what.bounded;
    for (int k = 0; k < what.bodies; k++) {
        if (!what.flat || k % 2 == 0) {
            random_block(&q, k, random);
        }
    }
    for (int i = 0; i < what.contacts; i++) {
        const contact_kind kind =
            what.kind == CONTACT_MIXED ? (contact_kind)(perp_random_bits(random) % CONTACT_MIXED) : what.kind;
        random_contact(&q, random, kind);
    }
    for (int i = 0; i < what.equalities; i++) {
        random_equality(&q, random, i, what.equalities);
    }
    const perp_contact_qp problem = contact_qp_of(&q);
    double *v = zeros((size_t)q.n, sizeof(double));
    *known = new_point(OF_CONTACT_QP(&problem));
    for (int j = 0; j < q.n; j++) {
        known->x[j] = perp_random_uniform(random, -1.0, 1.0);
        v[j] = perp_random_uniform(random, -1.0, 1.0);
    }
    place_contacts(&q, random, what.degenerate, v, known);
    if (q.bounded) {
        place_bounds(&q, random, what.degenerate, v, known);
    }
    written_out w = write_out(OF_CONTACT_QP(&problem));
    for (int j = 0; j < q.n; j++) {
        long double unused;
        q.g[j] = (double)(pull(&w, known, j, &unused) - times(q.n, w.h + (ptrdiff_t)j * q.n, known->x));
    }
    free_written_out(&w);
    free(v);
    return q;
}
