#include "qp_dual_test.h"
#include "solver/qp_dual.h"

dual_case new_dual_case(int n, int rows, int equalities)
{
    const size_t nn = (size_t)n, m = (size_t)rows, e = (size_t)equalities;
    const size_t length = nn * nn + m * nn + e * nn + 2 * m + 2 * e + 6 * nn + 1;
    dual_case q = {.n = n, .rows = rows, .equalities = equalities};
    double *at = q.memory = calloc(length, sizeof(double));
    assert_non_null(at);
    double **arrays[] = {&q.h, &q.a, &q.c, &q.b, &q.point.y, &q.d, &q.point.y_equality};
    const size_t lengths[] = {nn * nn, m * nn, e * nn, m, m, e, e};
    for (size_t k = 0; k < 7; k++) {
        *arrays[k] = at;
        at += lengths[k];
    }
    double **vectors[] = {&q.g, &q.lower, &q.upper, &q.point.x, &q.point.y_lower, &q.point.y_upper};
    for (size_t k = 0; k < 6; k++) {
        *vectors[k] = at;
        at += nn;
    }
    for (int i = 0; i < n; i++) {
        q.h[i * n + i] = 1.0;
        q.lower[i] = -INFINITY;
        q.upper[i] = INFINITY;
    }
    return q;
}

void free_dual_case(dual_case *q)
{
    free(q->memory);
}

perp_qp dual_qp_of(const dual_case *q)
{
    const perp_qp p = {q->n,
                       q->h,
                       q->g,
                       q->rows,
                       q->a,
                       q->b,
                       q->equalities,
                       q->c,
                       q->d,
                       q->bounded ? q->lower : NULL,
                       q->bounded ? q->upper : NULL};
    return p;
}

perp_qp_dual_workspace *dual_workspace_for(const dual_case *q)
{
    perp_qp_dual_workspace *workspace;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual_workspace_create(q->n, q->rows, q->equalities, NULL, &workspace, NULL));
    return workspace;
}

perp_convex_info solve_dual_case(dual_case *q, const perp_convex_settings *settings)
{
    const perp_qp problem = dual_qp_of(q);
    perp_qp_dual_workspace *workspace = dual_workspace_for(q);
    perp_convex_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&problem, settings, workspace, &q->point, &info, NULL));
    perp_qp_dual_workspace_free(workspace);
    return info;
}

/* ---- the judge --------------------------------------------------------------------------------------------------- */

static long double widest(long double a, long double b)
{
    return a > b ? a : (b == b ? b : (long double)INFINITY);
}

/* A'y + C'y_equality + y_lower - y_upper, entry j; *size of its terms */
static long double pull_of(const dual_case *q, int j, long double *size)
{
    long double sum = q->bounded ? (long double)q->point.y_lower[j] - q->point.y_upper[j] : 0.0L;
    *size = q->bounded ? fabsl((long double)q->point.y_lower[j]) + fabsl((long double)q->point.y_upper[j]) : 0.0L;
    for (int k = 0; k < q->rows; k++) {
        const long double term = (long double)q->a[k * q->n + j] * q->point.y[k];
        sum += term;
        *size += fabsl(term);
    }
    for (int k = 0; k < q->equalities; k++) {
        const long double term = (long double)q->c[k * q->n + j] * q->point.y_equality[k];
        sum += term;
        *size += fabsl(term);
    }
    return sum;
}

long double dual_product(const dual_case *q, const double *row)
{
    long double sum = 0.0L;
    for (int j = 0; j < q->n; j++) {
        sum += (long double)row[j] * q->point.x[j];
    }
    return sum;
}

/* |row||x| */
static long double dual_size(const dual_case *q, const double *row)
{
    long double sum = 0.0L;
    for (int j = 0; j < q->n; j++) {
        sum += fabsl((long double)row[j] * q->point.x[j]);
    }
    return sum;
}

/* A multiplier and its slack, whose terms have `size`: both >= 0, one of them 0. */
static long double judge_pair(long double slack, long double size, double y)
{
    const long double scale = 1.0L + size, own = 1.0L + fabsl((long double)y);
    return widest(widest(-slack / scale, -(long double)y / own), fabsl(slack * y) / (scale * own));
}

static long double judge_bound(double bound, double x, long double slack, double y)
{
    if (isfinite(bound)) {
        return judge_pair(slack, fabsl((long double)bound) + fabsl((long double)x), y);
    }
    assert_true(y == 0.0);
    return 0.0L;
}

/* The largest scaled residual of the case's point: the definition in problem.h, in another precision and order. */
double judge_dual_case(const dual_case *q)
{
    long double worst = 0.0L;
    for (int k = 0; k < q->rows; k++) {
        const double *row = q->a + (ptrdiff_t)k * q->n;
        const long double size = dual_size(q, row) + fabsl((long double)q->b[k]);
        worst = widest(worst, judge_pair(dual_product(q, row) - q->b[k], size, q->point.y[k]));
    }
    for (int k = 0; k < q->equalities; k++) {
        const double *row = q->c + (ptrdiff_t)k * q->n;
        const long double size = dual_size(q, row) + fabsl((long double)q->d[k]);
        worst = widest(worst, fabsl(dual_product(q, row) - q->d[k]) / (1.0L + size));
    }
    for (int i = 0; i < q->n; i++) {
        const double *row = q->h + (ptrdiff_t)i * q->n, x = q->point.x[i];
        long double size;
        const long double sum = dual_product(q, row) + q->g[i] - pull_of(q, i, &size);
        size += dual_size(q, row) + fabsl((long double)q->g[i]);
        worst = widest(worst, fabsl(sum) / (1.0L + size));
        if (q->bounded) {
            const long double above = (long double)x - q->lower[i], below = (long double)q->upper[i] - x;
            worst = widest(worst, judge_bound(q->lower[i], x, above, q->point.y_lower[i]));
            worst = widest(worst, judge_bound(q->upper[i], x, below, q->point.y_upper[i]));
        }
    }
    return (double)worst;
}

/* b.y + d.y_equality + lower.y_lower - upper.y_upper = 1 with the signs right and the columns cancelling, each to
 * 1e-8 of its own terms. */
void assert_dual_proof(const dual_case *q)
{
    long double gap = 0.0L, worst = 0.0L;
    for (int k = 0; k < q->rows; k++) {
        assert_true(q->point.y[k] >= 0.0);
        gap += (long double)q->b[k] * q->point.y[k];
    }
    for (int k = 0; k < q->equalities; k++) {
        gap += (long double)q->d[k] * q->point.y_equality[k];
    }
    for (int i = 0; i < q->n; i++) {
        long double size;
        const long double sum = pull_of(q, i, &size);
        worst = sum == 0.0L ? worst : widest(worst, fabsl(sum) / size);
        if (q->bounded) {
            assert_true(q->point.y_lower[i] >= 0.0 && q->point.y_upper[i] >= 0.0);
            gap += isfinite(q->lower[i]) ? (long double)q->lower[i] * q->point.y_lower[i] : 0.0L;
            gap -= isfinite(q->upper[i]) ? (long double)q->upper[i] * q->point.y_upper[i] : 0.0L;
            assert_true(isfinite(q->lower[i]) || q->point.y_lower[i] == 0.0);
            assert_true(isfinite(q->upper[i]) || q->point.y_upper[i] == 0.0);
        }
    }
    ASSERT_NEAR((double)gap, 1.0, 1e-12);
    assert_true(worst <= 1e-8L);
}

/* Solved, and the judge agrees to `tolerance`. */
perp_convex_info assert_dual_solved(dual_case *q, const perp_convex_settings *settings, double tolerance)
{
    const perp_convex_info info = solve_dual_case(q, settings);
    const double residual = judge_dual_case(q);
    if (info.outcome != PERP_OUTCOME_SOLVED || !(residual <= tolerance)) {
        print_error("n %d rows %d equalities %d: %s after %d steps, judged %g\n", q->n, q->rows, q->equalities,
                    perp_outcome_name(info.outcome), info.iterations, residual);
        fail();
    }
    assert_true(perp_convex_residual_largest(info.residual) <= 1e-8 && info.certificate == 0.0);
    return info;
}

/* ---- random problems --------------------------------------------------------------------------------------------- */

/* H = B'B / n + shift I, entries of B in [-1, 1]. */
static void random_hessian(dual_case *q, perp_random *random, double shift)
{
    const int n = q->n;
    double *factor = malloc((size_t)n * (size_t)n * sizeof(double) + 1);
    assert_non_null(factor);
    for (int i = 0; i < n * n; i++) {
        factor[i] = perp_random_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? shift : 0.0;
            for (int k = 0; k < n; k++) {
                sum += factor[k * n + i] * factor[k * n + j] / n;
            }
            q->h[i * n + j] = q->h[j * n + i] = sum;
        }
    }
    free(factor);
}

/* Feasible at a random point, which a third of the rows and bounds touch. */
dual_case random_dual_case(perp_random *random, int n, int rows, int equalities, bool bounded)
{
    dual_case q = new_dual_case(n, rows, equalities);
    double *inside = q.point.x;
    q.bounded = bounded;
    random_hessian(&q, random, 0.1);
    for (int i = 0; i < n; i++) {
        q.g[i] = perp_random_uniform(random, -3.0, 3.0);
        inside[i] = perp_random_uniform(random, -1.0, 1.0);
    }
    for (int k = 0; k < rows + equalities; k++) {
        double *row = k < rows ? q.a + (ptrdiff_t)k * n : q.c + (ptrdiff_t)(k - rows) * n;
        for (int i = 0; i < n; i++) {
            row[i] = perp_random_uniform(random, -1.0, 1.0);
        }
        const double value = (double)dual_product(&q, row);
        if (k < rows) {
            q.b[k] = value - fmax(0.0, perp_random_uniform(random, -0.5, 1.0));
        } else {
            q.d[k - rows] = value;
        }
    }
    for (int i = 0; bounded && i < n; i++) {
        q.lower[i] = perp_random_uniform(random, 0.0, 1.0) < 0.7
                         ? inside[i] - fmax(0.0, perp_random_uniform(random, -0.5, 1.0))
                         : -INFINITY;
        q.upper[i] = perp_random_uniform(random, 0.0, 1.0) < 0.7
                         ? inside[i] + fmax(0.0, perp_random_uniform(random, -0.5, 1.0))
                         : INFINITY;
    }
    return q;
}

/* Rows by the dozen through one point, duplicates and multiples, pairs that make equations, redundant equations. */
dual_case degenerate_dual_case(perp_random *random, int n, int rows)
{
    dual_case q = random_dual_case(random, n, rows, 2 * (n / 3), n % 2 == 0);
    for (int i = 0; i < n; i++) {
        q.point.x[i] = perp_random_uniform(random, -1.0, 1.0);
        q.lower[i] = i % 2 ? q.point.x[i] : q.point.x[i] - 1.0;
        q.upper[i] = i % 3 ? q.point.x[i] : q.point.x[i] + 1.0;
    }
    for (int k = 0; k < rows; k++) {
        double *row = q.a + (ptrdiff_t)k * n;
        const double *other = q.a + (ptrdiff_t)(k / 3) * n;
        const double factor = k % 5 == 1 ? 1.0 : (k % 5 == 2 ? 0.3 : (k % 5 == 3 && k > 5 ? -1.7 : 0.0));
        for (int i = 0; factor != 0.0 && i < n; i++) {
            row[i] = factor * other[i];
        }
        q.b[k] = (double)dual_product(&q, row);
    }
    for (int k = 0; k < q.equalities; k++) { /* the second half repeats the first, mixed */
        double *row = q.c + (ptrdiff_t)k * n;
        const double *other = q.c + (ptrdiff_t)(k / 2) * n, *another = q.c;
        for (int i = 0; k >= q.equalities / 2 && i < n; i++) {
            row[i] = 0.7 * other[i] - 0.3 * another[i];
        }
        q.d[k] = (double)dual_product(&q, row);
    }
    return q;
}

void assert_dual_infeasible(dual_case *q)
{
    const perp_convex_info info = solve_dual_case(q, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
    assert_true(info.certificate <= 1e-8);
    assert_dual_proof(q);
    for (int i = 0; i < q->n; i++) {
        assert_true(isfinite(q->point.x[i]));
    }
}

/* A row that is minus a positive combination of others, with a target that their targets contradict_dual_case by `gap`.
 */
void contradict_dual_case(dual_case *q, perp_random *random, double gap)
{
    const int n = q->n, last = q->rows - 1;
    double *row = q->a + (ptrdiff_t)last * n;
    memset(row, 0, (size_t)n * sizeof(double));
    q->b[last] = gap;
    for (int k = 0; k < last && k < n + 2; k++) {
        const double factor = perp_random_uniform(random, 0.1, 1.0);
        for (int i = 0; i < n; i++) {
            row[i] -= factor * q->a[k * n + i];
        }
        q->b[last] -= factor * q->b[k];
    }
}
