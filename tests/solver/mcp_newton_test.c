#include "mcp_newton_test.h"

#include <float.h>

/* ---- judge ------------------------------------------------------------------------------------------------------- */

static double lower_of(const perp_nonlinear_mcp *p, int i)
{
    return p->lower ? p->lower[i] : 0.0;
}

static double upper_of(const perp_nonlinear_mcp *p, int i)
{
    return p->upper ? p->upper[i] : INFINITY;
}

double judge_nonlinear(const perp_nonlinear_mcp *problem, const double *z)
{
    const size_t n = (size_t)problem->n;
    double *f = calloc(n + 1, sizeof(double));
    assert_non_null(f);
    long double worst = problem->evaluate(problem->context, z, f, NULL) ? 0.0L : INFINITY;
    for (int i = 0; i < problem->n; i++) {
        const long double l = lower_of(problem, i), u = upper_of(problem, i), x = z[i], y = x - (long double)f[i];
        const long double mid = y < l ? l : (y > u ? u : y), error = x >= l && x <= u ? fabsl(x - mid) : INFINITY;
        worst = error <= worst ? worst : error; /* NaN too */
    }
    free(f);
    return (double)worst;
}

perp_mcp_newton_info solve_nonlinear_by(const perp_nonlinear_mcp *problem, const perp_mcp_newton_settings *settings,
                                        const perp_linear_solver *linear_solver, double *z)
{
    const size_t n = (size_t)problem->n;
    double *f = calloc(n + 1, sizeof(double)), *again = calloc(n + 1, sizeof(double));
    perp_mcp_newton_workspace *workspace;
    perp_error error = {0};
    assert_true(f && again);
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_newton_workspace_create(problem, linear_solver, NULL, &workspace, &error));
    perp_mcp_newton_solution solution = {z, f};
    perp_mcp_newton_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_newton(problem, settings, workspace, &solution, &info, &error));
    const double tolerance = settings ? settings->tolerance : 1e-8;
    if (info.residual < INFINITY && n > 0) {
        assert_true(problem->evaluate(problem->context, z, again, NULL));
        assert_memory_equal(f, again, n * sizeof(double));
        /* 2 DBL_EPSILON max |z|: the judge forms z - F, which rounds in long double only where F is tiny */
        const double judged = judge_nonlinear(problem, z) / (1.0 + problem->scale);
        ASSERT_NEAR(judged, info.residual, 1e-15 + 1e-12 * judged);
    }
    assert_int_equal(info.outcome == PERP_OUTCOME_SOLVED, info.residual <= tolerance);
    assert_non_null(info.method);
    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(z[i]) && isfinite(f[i]));
        assert_true(z[i] >= lower_of(problem, (int)i) && z[i] <= upper_of(problem, (int)i));
    }
    perp_mcp_newton_workspace_free(workspace);
    free(f);
    free(again);
    return info;
}

perp_mcp_newton_info solve_nonlinear(const perp_nonlinear_mcp *problem, const double *start, double *z)
{
    perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
    settings.start = start;
    return solve_nonlinear_by(problem, &settings, NULL, z);
}

/* ---- quadratics -------------------------------------------------------------------------------------------------- */

/* F_i = a11 x1^2 + a12 x1 x2 + a22 x2^2 + b . x + c */
typedef struct quadratic {
    double a[4][3], b[4][4], c[4];
} quadratic;

static bool evaluate_quadratic(void *context, const double *x, double *f, double *jacobian)
{
    const quadratic *q = context;
    for (int i = 0; i < 4; i++) {
        const double *a = q->a[i];
        f[i] = q->c[i] + a[0] * x[0] * x[0] + a[1] * x[0] * x[1] + a[2] * x[1] * x[1];
        for (int j = 0; j < 4; j++) {
            f[i] += q->b[i][j] * x[j];
        }
        for (int j = 0; jacobian && j < 4; j++) {
            const double square = j == 0   ? 2.0 * a[0] * x[0] + a[1] * x[1]
                                  : j == 1 ? a[1] * x[0] + 2.0 * a[2] * x[1]
                                           : 0.0;
            jacobian[4 * i + j] = q->b[i][j] + square;
        }
    }
    return true;
}

const double quadratic_starts[QUADRATIC_STARTS][4] = {
    {0.0, 0.0, 0.0, 0.0}, {1.0, 1.0, 1.0, 1.0}, {100.0, 100.0, 100.0, 100.0}, {1.0, 0.0, 1.0, 0.0},
    {1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 1.0, 0.0}, {0.0, 1.0, 0.0, 1.0},         {1.25, 0.0, 0.0, 0.5},
};

perp_nonlinear_mcp kojima_shindo(void)
{
    static quadratic data = {
        .a = {{3, 2, 2}, {2, 0, 1}, {3, 1, 2}, {1, 0, 3}},
        .b = {{0, 0, 1, 3}, {1, 0, 10, 2}, {0, 0, 2, 9}, {0, 0, 2, 3}},
        .c = {-6, -2, -9, -3},
    };
    return (perp_nonlinear_mcp){.n = 4, .evaluate = evaluate_quadratic, .context = &data};
}

perp_nonlinear_mcp josephy(void)
{
    static quadratic data = {
        .a = {{3, 2, 2}, {2, 0, 1}, {3, 1, 2}, {1, 0, 3}},
        .b = {{0, 0, 1, 3}, {1, 0, 3, 2}, {0, 0, 2, 3}, {0, 0, 2, 3}},
        .c = {-6, -2, -1, -3},
    };
    return (perp_nonlinear_mcp){.n = 4, .evaluate = evaluate_quadratic, .context = &data};
}

static bool evaluate_billups(void *context, const double *z, double *f, double *jacobian)
{
    (void)context;
    f[0] = (z[0] - 1.0) * (z[0] - 1.0) - 1.01;
    if (jacobian) {
        jacobian[0] = 2.0 * (z[0] - 1.0);
    }
    return true;
}

perp_nonlinear_mcp billups(void)
{
    return (perp_nonlinear_mcp){.n = 1, .evaluate = evaluate_billups};
}

/* ---- Nash -------------------------------------------------------------------------------------------------------- */

const nash nash_5 = {5, 1.1, {10, 8, 6, 4, 2}, {1.2, 1.1, 1.0, 0.9, 0.8}, {0.2, 0.2, 0.2, 0.2, 0.2}};
const nash nash_10 = {10,
                      1.2,
                      {5, 3, 8, 5, 1, 3, 7, 4, 6, 3},
                      {1.2, 1.0, 0.9, 0.6, 1.5, 1.0, 0.7, 1.1, 0.95, 0.75},
                      {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}};

/* Not defined where nothing is produced: the price is infinite. */
static bool evaluate_nash(void *context, const double *q, double *f, double *jacobian)
{
    const nash *d = context;
    double total = 0.0;
    for (int i = 0; i < d->n; i++) {
        total += q[i];
    }
    if (!(total > 0.0)) {
        return false;
    }
    const double price = pow(5000.0 / total, 1.0 / d->gamma), slope = -price / (d->gamma * total);
    const double curvature = -slope * (1.0 + 1.0 / d->gamma) / total;
    for (int i = 0; i < d->n; i++) {
        const double cost = pow(d->k[i] * q[i], 1.0 / d->beta[i]);
        f[i] = d->c[i] + cost - price - q[i] * slope;
        for (int j = 0; jacobian && j < d->n; j++) {
            jacobian[i * d->n + j] = -slope - q[i] * curvature;
        }
        if (jacobian) {
            jacobian[i * d->n + i] += d->k[i] * pow(d->k[i] * q[i], 1.0 / d->beta[i] - 1.0) / d->beta[i] - slope;
        }
    }
    return true;
}

perp_nonlinear_mcp nash_problem(const nash *data)
{
    return (perp_nonlinear_mcp){.n = data->n, .evaluate = evaluate_nash, .context = (void *)(uintptr_t)data};
}

/* ---- obstacle ---------------------------------------------------------------------------------------------------- */

void obstacle_product(const obstacle *o, const double *z, double *product)
{
    const int m = o->side;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            const int k = i * m + j;
            const double up = i > 0 ? z[k - m] : 0.0, down = i + 1 < m ? z[k + m] : 0.0;
            const double left = j > 0 ? z[k - 1] : 0.0, right = j + 1 < m ? z[k + 1] : 0.0;
            product[k] = 4.0 * z[k] - up - down - left - right;
        }
    }
}

static bool evaluate_obstacle(void *context, const double *z, double *f, double *jacobian)
{
    const obstacle *o = context;
    const int n = o->side * o->side;
    obstacle_product(o, z, f);
    for (int k = 0; k < n; k++) {
        f[k] -= o->load;
    }
    for (int j = 0; jacobian && j < n; j++) {
        for (int k = o->starts[j]; k < o->starts[j + 1]; k++) {
            jacobian[k] = o->rows[k] == j ? 4.0 : -1.0;
        }
    }
    return true;
}

obstacle new_obstacle(int side, double load)
{
    const int n = side * side;
    const double h = 1.0 / (side + 1);
    obstacle o = {side,
                  load * h * h,
                  calloc((size_t)n, sizeof(double)),
                  calloc((size_t)n, sizeof(double)),
                  calloc((size_t)n + 1, sizeof(int)),
                  calloc((size_t)(5 * n), sizeof(int))};
    assert_true(o.lower && o.upper && o.starts && o.rows);
    int count = 0;
    for (int k = 0; k < n; k++) {
        const int i = k / side, j = k % side, neighbours[5] = {k - side, k - 1, k, k + 1, k + side};
        const bool inside[5] = {i > 0, j > 0, true, j + 1 < side, i + 1 < side};
        const double bump = sin(9.2 * h * (i + 1)) * sin(9.3 * h * (j + 1));
        o.lower[k] = bump * bump * bump;
        o.upper[k] = bump * bump + 0.2;
        for (int s = 0; s < 5; s++) {
            if (inside[s]) {
                o.rows[count++] = neighbours[s];
            }
        }
        o.starts[k + 1] = count;
    }
    return o;
}

void free_obstacle(obstacle *o)
{
    free(o->lower);
    free(o->upper);
    free(o->starts);
    free(o->rows);
}

perp_nonlinear_mcp obstacle_problem(obstacle *o)
{
    return (perp_nonlinear_mcp){o->side * o->side, o->lower, o->upper, o->starts, o->rows,
                                evaluate_obstacle, o,        0.0,      NULL};
}

/* ---- linear ------------------------------------------------------------------------------------------------------ */

static bool evaluate_linear(void *context, const double *z, double *f, double *jacobian)
{
    const case_of *c = context;
    for (int i = 0; i < c->n; i++) {
        f[i] = c->q[i];
        for (int j = 0; j < c->n; j++) {
            f[i] += c->m[i * c->n + j] * z[j];
        }
    }
    if (jacobian) {
        memcpy(jacobian, c->m, (size_t)(c->n * c->n) * sizeof(double));
    }
    return true;
}

perp_nonlinear_mcp linear_problem(const case_of *c)
{
    double scale = INFINITY; /* one number for all rows: that of the smallest */
    for (int i = 0; i < c->n; i++) {
        scale = fmin(scale, fabs(c->q[i]));
    }
    return (perp_nonlinear_mcp){.n = c->n,
                                .lower = c->lower,
                                .upper = c->upper,
                                .evaluate = evaluate_linear,
                                .context = (void *)(uintptr_t)c,
                                .scale = c->n > 0 ? scale : 0.0};
}
