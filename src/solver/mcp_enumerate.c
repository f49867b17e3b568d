/* All solutions of lower <= z <= upper _|_ F = M z + q, through the lcp that it amounts to.
 *
 * Every variable is counted from a bound: z_i = origin_i + sign_i x_i. Then, in this order:
 *   - A variable with equal bounds is a constant, and its F is not asked for anything. It goes into q.
 *   - One bound: x_i >= 0 complementary to sign_i F_i >= 0.
 *   - Two bounds: F_i = a_i - b_i with x_i complementary to a_i, and b_i to upper - z_i, all >= 0.
 *   - Free variables are eliminated, by exchanges on the dictionary w = A x + q: with equations (F_i = 0 of free i)
 *     as long as there is an entry to pivot on, then with the w_i of other rows. A free variable left over has no
 *     effect on anything: a line in every face. An equation left over is about variables >= 0; it stays, as a row of
 *     the lcp whose w is zero from the start (lcp_search.h). A w_i that came to stand as a column, where a dictionary
 *     of the lcp has only z, becomes the z of such a row: w_i = y with y >= 0. There are at least as many leftover
 *     equations as such columns.
 *
 * At a solution x, a, b and y are functions of z: what lies at z_i = lower has b_i = 0, what lies at upper a_i = 0, and
 * with different bounds no more than one of a, b is positive. On one face these functions are affine. So faces of the
 * lcp and of the mcp correspond one to one, vertices to vertices, and none lies inside another.
 *
 * Splitting a free variable into two signed ones would do without elimination, but has a ray in every face that is none
 * of the problem and vertices that are none: it makes z_i = 0 a corner.
 *
 * Elimination runs in long double with a running bound on its error: what is below the bound is zero, and what is above
 * it but too small to pivot on counts as zero and makes the result doubtful (`complete` = false).
 */
#include "problem/natural_map.h"
#include "solver/lcp_faces.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Entries are scaled to about 1. As PERP_LCP_ZERO in dictionaries. */
static const long double PIVOT_LEAST = 1e-10L;

/* A label is a variable of the reduced problem: x_i is i, w_i is ~i. */
typedef struct reduction {
    const perp_mcp *mcp;
    const volatile bool *cancel;
    perp_arena *arena;
    int n;          /* of the reduced problem: without constants */
    int *index;     /* n: of the mcp */
    double *origin; /* of the mcp's n */
    perp_lcp_scaled scaled;
    int stride;         /* n + 1; the last column is q */
    long double *a;     /* n x stride */
    long double *bound; /* n x stride: the error of `a` is at most 4 LDBL_EPSILON times this */
    int *row, *column;  /* n: labels */
    int *box, *slack;   /* n: the lcp's index of (b_i, upper - z_i); of y where w_i stands as a column; -1 for none */
    int *own;           /* n: the lcp's index of (x_i, w_i); -1 for free ones */
    bool doubtful;
    perp_lcp_image image;
    double *lcp_m, *lcp_q, *lines;
} reduction;

static double lower_of(const reduction *r, int i)
{
    return r->mcp->lower[r->index[i]];
}

static double upper_of(const reduction *r, int i)
{
    return r->mcp->upper[r->index[i]];
}

static bool is_free(const reduction *r, int i)
{
    return !isfinite(lower_of(r, i)) && !isfinite(upper_of(r, i));
}

static bool is_box(const reduction *r, int i)
{
    return isfinite(lower_of(r, i)) && isfinite(upper_of(r, i));
}

static double sign_of(const reduction *r, int i)
{
    return isfinite(lower_of(r, i)) || is_free(r, i) ? 1.0 : -1.0;
}

static bool is_cancelled(const reduction *r)
{
    return r->cancel && *r->cancel;
}

/* ---- counted from the bounds --------------------------------------------------------------------------------------
 */

/* (q + M origin)_i, and exactly 0 where that is within the rounding of the sum. */
static double shifted_q(const reduction *r, int i)
{
    const int n = r->mcp->n;
    long double sum = r->mcp->q[i], size = fabsl(sum);
    for (int j = 0; j < n; j++) {
        const long double term = (long double)r->mcp->m[(size_t)i * (size_t)n + (size_t)j] * r->origin[j];
        sum += term;
        size += fabsl(term);
    }
    return fabsl(sum) <= (long double)(n + 1) * LDBL_EPSILON * size ? 0.0 : (double)sum;
}

/* Origins, the list of what is no constant, and its scaled matrix. BAD_INPUT where numbers overflow. */
static perp_status shift(reduction *r)
{
    const perp_mcp *mcp = r->mcp;
    const size_t size = (size_t)mcp->n;
    r->index = PERP_ARENA_NEW(r->arena, int, size);
    r->origin = PERP_ARENA_NEW(r->arena, double, size);
    if (!r->index || !r->origin) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < mcp->n; i++) {
        const double lower = mcp->lower[i], upper = mcp->upper[i];
        r->origin[i] = isfinite(lower) ? lower : (isfinite(upper) ? upper : 0.0);
        if (lower != upper) {
            r->index[r->n++] = i;
        }
    }
    const size_t n = (size_t)r->n;
    double *m = PERP_ARENA_NEW(r->arena, double, n *n), *q = PERP_ARENA_NEW(r->arena, double, n);
    if (!m || !q) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < r->n; i++) {
        const double *from = mcp->m + (size_t)r->index[i] * size;
        q[i] = sign_of(r, i) * shifted_q(r, r->index[i]);
        for (int j = 0; j < r->n; j++) {
            m[(size_t)i * n + (size_t)j] = sign_of(r, i) * sign_of(r, j) * from[r->index[j]];
        }
        if (!isfinite(q[i]) || (is_box(r, i) && !isfinite(upper_of(r, i) - lower_of(r, i)))) {
            return PERP_STATUS_BAD_INPUT;
        }
    }
    const perp_lcp shifted = {r->n, m, q};
    const perp_status status = perp_lcp_scale(&r->scaled, &shifted, r->arena);
    r->doubtful = status == PERP_STATUS_OK && r->scaled.lossy;
    return status;
}

/* ---- elimination of the free variables ----------------------------------------------------------------------------
 */

static size_t at(const reduction *r, int i, int j)
{
    return (size_t)i * (size_t)r->stride + (size_t)j;
}

static perp_status load(reduction *r)
{
    const size_t n = (size_t)r->n;
    r->stride = r->n + 1;
    r->a = PERP_ARENA_NEW(r->arena, long double, n *(n + 1));
    r->bound = PERP_ARENA_NEW(r->arena, long double, n *(n + 1));
    int **lists[] = {&r->row, &r->column, &r->box, &r->slack, &r->own};
    bool all = r->a && r->bound;
    for (size_t k = 0; k < sizeof lists / sizeof *lists && all; k++) {
        *lists[k] = PERP_ARENA_NEW(r->arena, int, n);
        all = *lists[k] != NULL;
    }
    if (!all) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; i < r->n; i++) { /* data are exact: a bound of 0 */
        for (int j = 0; j < r->n; j++) {
            r->a[at(r, i, j)] = r->scaled.m[(size_t)i * n + (size_t)j];
        }
        r->a[at(r, i, r->n)] = r->scaled.q[i];
        r->row[i] = ~i;
        r->column[i] = i;
        r->box[i] = r->slack[i] = r->own[i] = -1;
    }
    return PERP_STATUS_OK;
}

/* a_ij - a_ic a_rj / a_rc for the entries of row i, with first-order bounds. */
static void exchange_row(reduction *r, int i, int row, int column)
{
    const long double pivot = r->a[at(r, row, column)], of_pivot = r->bound[at(r, row, column)];
    const long double factor = r->a[at(r, i, column)] / pivot, of_factor = r->bound[at(r, i, column)];
    for (int j = 0; j <= r->n; j++) {
        long double *x = &r->a[at(r, i, j)], *e = &r->bound[at(r, i, j)];
        const long double y = r->a[at(r, row, j)], ratio = y / pivot;
        if (j == column) { /* the new column is that of the variable that left the basis */
            *x = factor;
            *e = of_factor / fabsl(pivot) + fabsl(factor / pivot) * of_pivot + fabsl(factor);
        } else if (factor != 0.0L || of_factor != 0.0L) {
            const long double product = factor * y;
            *x -= product;
            *e += fabsl(ratio) * of_factor + fabsl(factor) * (r->bound[at(r, row, j)] + fabsl(ratio) * of_pivot) +
                  fabsl(product) + fabsl(*x);
        }
        if (fabsl(*x) <= 4.0L * LDBL_EPSILON * *e) {
            *x = 0.0L;
        }
    }
}

/* The variables of a row and a column change places. */
static void exchange(reduction *r, int row, int column)
{
    const long double pivot = r->a[at(r, row, column)], of_pivot = r->bound[at(r, row, column)];
    for (int i = 0; i < r->n; i++) {
        if (i != row) {
            exchange_row(r, i, row, column);
        }
    }
    for (int j = 0; j <= r->n; j++) {
        long double *x = &r->a[at(r, row, j)], *e = &r->bound[at(r, row, j)];
        *x = j == column ? 1.0L / pivot : -*x / pivot;
        *e = (j == column ? fabsl(*x / pivot) * of_pivot : (*e + fabsl(*x) * of_pivot) / fabsl(pivot)) + fabsl(*x);
    }
    const int label = r->row[row];
    r->row[row] = r->column[column];
    r->column[column] = label;
}

/* Whether the row is still that of a w: of an equation, or of a variable with bounds. */
static bool is_slack_row(const reduction *r, int i, bool equation)
{
    return r->row[i] < 0 && is_free(r, ~r->row[i]) == equation;
}

static bool is_free_column(const reduction *r, int j)
{
    return r->column[j] >= 0 && is_free(r, r->column[j]);
}

/* Brings free variables into the basis, for equations or for other rows, largest entry first. */
static perp_status bring_in(reduction *r, bool equations)
{
    for (;;) {
        int row = -1, column = -1;
        long double largest = PIVOT_LEAST;
        if (is_cancelled(r)) {
            return PERP_STATUS_CANCELLED;
        }
        for (int i = 0; i < r->n; i++) {
            for (int j = 0; j < r->n && is_slack_row(r, i, equations); j++) {
                if (is_free_column(r, j) && fabsl(r->a[at(r, i, j)]) > largest) {
                    largest = fabsl(r->a[at(r, i, j)]);
                    row = i;
                    column = j;
                }
            }
        }
        if (row < 0) {
            return PERP_STATUS_OK;
        }
        exchange(r, row, column);
    }
}

/* A column of a free variable that is left moves no row but those of other free variables: a line. */
static void note_lines(reduction *r)
{
    for (int j = 0; j < r->n; j++) {
        r->image.line_count += is_free_column(r, j);
        for (int i = 0; i < r->n && is_free_column(r, j); i++) {
            r->doubtful = r->doubtful || (r->row[i] < 0 && r->a[at(r, i, j)] != 0.0L);
        }
    }
}

/* ---- the lcp -------------------------------------------------------------------------------------------------------
 */

/* Indices of the lcp: (x_i, w_i), then (b_i, upper - z_i), then (y, equation) or (nothing, equation). */
static void number(reduction *r)
{
    int size = 0;
    for (int i = 0; i < r->n; i++) {
        r->own[i] = is_free(r, i) ? -1 : size++;
    }
    for (int i = 0; i < r->n; i++) {
        r->box[i] = is_box(r, i) ? size++ : -1;
    }
    int equations = 0, columns = 0;
    for (int i = 0; i < r->n; i++) {
        equations += is_slack_row(r, i, true);
    }
    for (int j = 0; j < r->n; j++) {
        if (r->column[j] < 0 && !is_free(r, ~r->column[j])) {
            r->slack[~r->column[j]] = size + columns++;
        }
    }
    for (int k = 0; k < equations && size + equations <= PERP_LCP_ENUMERATE_MAX_N; k++) {
        perp_lcp_add(&r->image.given, PERP_LCP_W + size + k);
        if (k >= columns) {
            perp_lcp_add(&r->image.given, size + k);
        }
    }
    r->image.lcp.n = size + equations;
}

/* The row of the dictionary as one of the lcp. */
static void write_row(reduction *r, int row, int index)
{
    double *to = r->lcp_m + (size_t)index * (size_t)r->image.lcp.n;
    for (int j = 0; j < r->n; j++) {
        const int label = r->column[j];
        const double entry = (double)r->a[at(r, row, j)];
        if (label >= 0 && r->own[label] >= 0) {
            to[r->own[label]] += entry;
        } else if (label < 0 && r->slack[~label] >= 0) { /* F = a - b */
            to[r->slack[~label]] += entry;
            if (r->box[~label] >= 0) {
                to[r->box[~label]] -= entry;
            }
        }
    }
    r->lcp_q[index] = (double)r->a[at(r, row, r->n)];
}

/* In the units of the scaled problem. */
static void write_lcp(reduction *r)
{
    const size_t n = (size_t)r->image.lcp.n;
    int equation = r->image.lcp.n;
    for (int i = r->n - 1; i >= 0; i--) { /* equations stand last */
        if (is_slack_row(r, i, true)) {
            write_row(r, i, --equation);
        } else if (r->row[i] < 0) {
            write_row(r, i, r->own[~r->row[i]]);
        }
    }
    for (int i = 0; i < r->n; i++) {
        if (r->slack[i] >= 0) { /* w_i (or a_i) = y */
            r->lcp_m[(size_t)r->own[i] * n + (size_t)r->slack[i]] = 1.0;
        } else if (r->box[i] >= 0) { /* a_i = F_i + b_i */
            r->lcp_m[(size_t)r->own[i] * n + (size_t)r->box[i]] += 1.0;
        }
        if (r->box[i] >= 0) {
            r->lcp_m[(size_t)r->box[i] * n + (size_t)r->own[i]] = -1.0;
            r->lcp_q[r->box[i]] =
                ldexp(upper_of(r, i) - lower_of(r, i), r->scaled.q_exponent - r->scaled.column_exponent[i]);
        }
    }
}

/* ---- and back ------------------------------------------------------------------------------------------------------
 */

/* The value of a column's variable at a point of the lcp. */
static long double column_value(const reduction *r, int label, const double *z_lcp)
{
    if (label >= 0) {
        return r->own[label] >= 0 ? z_lcp[r->own[label]] : 0.0; /* lines stand at 0 */
    }
    const int i = ~label;
    const long double value = r->slack[i] >= 0 ? z_lcp[r->slack[i]] : 0.0;
    return r->slack[i] >= 0 && r->box[i] >= 0 ? value - z_lcp[r->box[i]] : value;
}

static double to_units(const reduction *r, int i, bool ray, long double x)
{
    return (double)ldexpl(sign_of(r, i) * x, r->scaled.column_exponent[i] - (ray ? 0 : r->scaled.q_exponent));
}

static void map_corner(const void *context, perp_lcp_variables zero, const double *z_lcp, bool ray, double *z)
{
    const reduction *r = context;
    for (int i = 0; i < r->mcp->n; i++) {
        z[i] = ray ? 0.0 : r->origin[i];
    }
    for (int i = 0; i < r->n; i++) {
        if (r->own[i] >= 0) {
            z[r->index[i]] += to_units(r, i, ray, z_lcp[r->own[i]]);
        }
        if (r->box[i] >= 0 && perp_lcp_has(zero, PERP_LCP_W + r->box[i])) {
            z[r->index[i]] = ray ? 0.0 : upper_of(r, i);
        }
    }
    for (int i = 0; i < r->n; i++) { /* the rows of free variables */
        if (r->row[i] >= 0) {
            long double x = ray ? 0.0L : r->a[at(r, i, r->n)];
            for (int j = 0; j < r->n; j++) {
                x += r->a[at(r, i, j)] * column_value(r, r->column[j], z_lcp);
            }
            z[r->index[r->row[i]]] = to_units(r, r->row[i], ray, x);
        }
    }
}

static double residual(const void *context, const double *z, double unit)
{
    const reduction *r = context;
    return perp_mcp_residual_with(r->mcp, z, unit);
}

static void write_lines(reduction *r)
{
    double *line = r->lines;
    for (int j = 0; j < r->n; j++) {
        if (!is_free_column(r, j)) {
            continue;
        }
        double largest = 0.0;
        line[r->index[r->column[j]]] = to_units(r, r->column[j], true, 1.0L);
        for (int i = 0; i < r->n; i++) {
            if (r->row[i] >= 0) {
                line[r->index[r->row[i]]] = to_units(r, r->row[i], true, r->a[at(r, i, j)]);
            }
        }
        for (int i = 0; i < r->mcp->n; i++) {
            largest = fmax(largest, fabs(line[i]));
        }
        for (int i = 0; i < r->mcp->n; i++) {
            line[i] /= largest;
        }
        line += r->mcp->n;
    }
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static perp_status reduce(reduction *r)
{
    perp_status status = shift(r);
    status = status == PERP_STATUS_OK ? load(r) : status;
    status = status == PERP_STATUS_OK ? bring_in(r, true) : status;
    status = status == PERP_STATUS_OK ? bring_in(r, false) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    note_lines(r);
    number(r);
    if (r->image.lcp.n > PERP_LCP_ENUMERATE_MAX_N) {
        return PERP_STATUS_OK; /* refused by perp_lcp_faces_enumerate, which knows how to say it */
    }
    const size_t n = (size_t)r->image.lcp.n;
    r->lcp_m = PERP_ARENA_NEW(r->arena, double, n *n);
    r->lcp_q = PERP_ARENA_NEW(r->arena, double, n);
    r->lines = PERP_ARENA_NEW(r->arena, double, (size_t)r->image.line_count *(size_t)r->mcp->n);
    if (!r->lcp_m || !r->lcp_q || !r->lines) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    write_lcp(r);
    write_lines(r);
    r->image.lcp.m = r->lcp_m;
    r->image.lcp.q = r->lcp_q;
    return perp_lcp_check(&r->image.lcp, NULL); /* overflow */
}

/* Rows of the lcp without the equations that elimination leaves. */
static int least_size(const perp_mcp *mcp)
{
    int64_t size = 0;
    for (int i = 0; i < mcp->n; i++) {
        const double lower = mcp->lower[i], upper = mcp->upper[i];
        size += lower == upper ? 0 : isfinite(lower) + isfinite(upper);
    }
    return size < INT32_MAX ? (int)size : INT32_MAX;
}

static perp_status explain(perp_status status, perp_error *error)
{
    switch (status) {
    case PERP_STATUS_OUT_OF_MEMORY:
        return perp_fail(error, status, "no memory for the solutions of the complementarity problem");
    case PERP_STATUS_CANCELLED:
        return perp_fail(error, status, "the enumeration of solutions was cancelled");
    default:
        return perp_fail(error, status, "the entries of the complementarity problem differ too much in magnitude");
    }
}

perp_status perp_mcp_enumerate(const perp_mcp *problem, const perp_lcp_enumerate_settings *settings,
                               const perp_allocator *allocator, perp_lcp_solution_set **set, perp_error *error)
{
    const perp_lcp_enumerate_settings defaults = perp_lcp_enumerate_settings_default();
    const perp_lcp_enumerate_settings *own = settings ? settings : &defaults;
    *set = NULL;
    perp_status status = perp_mcp_check(problem, error);
    status = status == PERP_STATUS_OK ? perp_lcp_enumerate_begin(own, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_lcp_image too_large = {.lcp = {.n = least_size(problem)}, .n = problem->n};
    if (too_large.lcp.n > PERP_LCP_ENUMERATE_MAX_N) { /* before any matrix is built */
        return perp_lcp_faces_enumerate(&too_large, own, allocator, set, error);
    }
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    reduction r = {.mcp = problem, .cancel = own->cancel, .arena = &arena};
    r.image = (perp_lcp_image){.n = problem->n, .map = map_corner, .residual = residual, .context = &r};
    status = reduce(&r);
    if (status == PERP_STATUS_OK) {
        r.image.doubtful = r.doubtful;
        r.image.lines = r.lines;
        status = perp_lcp_faces_enumerate(&r.image, own, allocator, set, error);
    } else {
        status = explain(status, error);
    }
    perp_arena_clear(&arena);
    return status;
}
