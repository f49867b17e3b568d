/* Large problems by their pattern: the obstacle problem beside other methods, and a whole trajectory with contact. */
#include "mcp_newton_test.h"

/* ---- obstacle ---------------------------------------------------------------------------------------------------- */

/* Projected successive overrelaxation: nothing in common with Newton's method but the problem. */
static void relax(const obstacle *o, double *z)
{
    const int m = o->side, n = m * m;
    const double omega = 2.0 / (1.0 + sin(3.14159265358979 / (m + 1)));
    for (int k = 0; k < n; k++) {
        z[k] = fmin(fmax(0.0, o->lower[k]), o->upper[k]);
    }
    for (int sweep = 0; sweep < 2000; sweep++) {
        for (int k = 0; k < n; k++) {
            const int i = k / m, j = k % m;
            const double around = (i > 0 ? z[k - m] : 0.0) + (i + 1 < m ? z[k + m] : 0.0) + (j > 0 ? z[k - 1] : 0.0) +
                                  (j + 1 < m ? z[k + 1] : 0.0);
            const double next = z[k] + omega * (0.25 * (around + o->load) - z[k]);
            z[k] = fmin(fmax(next, o->lower[k]), o->upper[k]);
        }
    }
}

/* 2,500 unknowns from MCPLIB's start, max(0, lower), at its force 1 and at others that press harder. Between its
 * obstacles the membrane is in equilibrium, at them it is pressed the right way: that is the judge in
 * solve_nonlinear_by. The relaxation has settled to 1e-11: the smallest eigenvalue of A is 2 pi^2 / 51^2 = 8e-3, and
 * its residual there is rounding; the same factor makes 1e-8 of our residual 1.3e-6 of z. */
static void obstacle_of_2500(void **state)
{
    (void)state;
    enum { SIDE = 50, N = SIDE * SIDE };
    static const double loads[] = {1.0, 0.0, -20.0, 50.0};
    double *z = calloc(3 * N, sizeof(double)), *other = z + N, *start = z + 2 * N;
    assert_non_null(z);
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        obstacle o = new_obstacle(SIDE, loads[k]);
        const perp_nonlinear_mcp p = obstacle_problem(&o);
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        for (int i = 0; i < N; i++) {
            start[i] = fmax(0.0, o.lower[i]);
        }
        settings.start = start;
        const perp_mcp_newton_info info = solve_nonlinear_by(&p, &settings, perp_sparse_linear_solver(), z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_string_equal(info.method, "newton");
        relax(&o, other);
        int at_lower = 0, at_upper = 0;
        for (int i = 0; i < N; i++) {
            ASSERT_NEAR(z[i], other[i], 1.3e-6);
            at_lower += z[i] == o.lower[i];
            at_upper += z[i] == o.upper[i];
        }
        assert_true(at_lower + at_upper > 100 && at_lower + at_upper < N - 100);
        free_obstacle(&o);
    }
    free(z);
}

static void dense_and_sparse_agree(void **state)
{
    (void)state;
    enum { SIDE = 15, N = SIDE * SIDE };
    obstacle o = new_obstacle(SIDE, 20.0);
    const perp_nonlinear_mcp p = obstacle_problem(&o);
    double sparse[N], dense[N];
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear_by(&p, NULL, perp_sparse_linear_solver(), sparse));
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear_by(&p, NULL, NULL, dense));
    for (int i = 0; i < N; i++) {
        ASSERT_NEAR(sparse[i], dense[i], 1e-11); /* the same steps up to rounding, times a condition of 100 */
    }
    free_obstacle(&o);
}

/* The membrane of least energy: a convex qp, whose multipliers are F. */
static void obstacle_is_a_convex_qp(void **state)
{
    (void)state;
    enum { SIDE = 12, N = SIDE * SIDE };
    static double h[N * N], unit[N], column[N];
    obstacle o = new_obstacle(SIDE, 20.0);
    const perp_nonlinear_mcp p = obstacle_problem(&o);
    double z[N], g[N], x[N], f[N], low[N], high[N];
    for (int j = 0; j < N; j++) {
        unit[j] = 1.0;
        obstacle_product(&o, unit, column);
        unit[j] = 0.0;
        g[j] = -o.load;
        for (int i = 0; i < N; i++) {
            h[i * N + j] = column[i];
        }
    }
    const perp_qp qp = {.n = N, .h = h, .g = g, .lower = o.lower, .upper = o.upper};
    perp_convex_workspace *workspace;
    perp_convex_point point = {.x = x, .y_lower = low, .y_upper = high};
    perp_convex_info convex;
    ASSERT_STATUS(PERP_STATUS_OK, perp_convex_workspace_create(NULL, &workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_reserve(&qp, workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_solve(&qp, NULL, workspace, &point, &convex, NULL));
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, convex);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear_by(&p, NULL, perp_sparse_linear_solver(), z));
    p.evaluate(p.context, z, f, NULL);
    for (int i = 0; i < N; i++) { /* both to 1e-8 in residual; 1 over the smallest eigenvalue is 9 */
        ASSERT_NEAR(z[i], x[i], 2e-7);
        ASSERT_NEAR(f[i], low[i] - high[i], 1e-6);
    }
    perp_convex_workspace_free(workspace);
    free_obstacle(&o);
}

/* ---- a trajectory ------------------------------------------------------------------------------------------------ */

/* A mass thrown over hills, all steps at once: by step x, y (free), the normal impulse, the friction impulses towards
 * +x and -x, and the slip speed; implicit steps of length h from two given positions.
 *
 *     (x_k - 2 x_k-1 + x_k-2) / h = b+ - b-             0 <= (y_k - hill(x_k)) / h  _|_  p >= 0
 *     (y_k - 2 y_k-1 + y_k-2) / h = p - g h             0 <= s +- (x_k - x_k-1) / h _|_  b+- >= 0
 *                                                       0 <= mu p - b+ - b-         _|_  s >= 0
 *
 * `aimed`: one unknown more, the speed at which it was thrown, and one equation more, x at the end is `target`. */
typedef struct flight {
    int steps;
    double h, mu, hill, x[2], y[2]; /* x[1], y[1] are of step -1 */
    bool aimed;
    double target;
    double *lower, *upper;
    int *starts, *rows;
} flight;

enum { X, Y, P, B_PLUS, B_MINUS, S, BLOCK };

/* The rows of a column, (steps later, row), in order. */
typedef struct place {
    int later, row;
} place;

static int places(int variable, place *list)
{
    static const place of_x[] = {{0, X}, {0, P}, {0, B_PLUS}, {0, B_MINUS}, {1, X}, {1, B_PLUS}, {1, B_MINUS}, {2, X}};
    static const place of_y[] = {{0, Y}, {0, P}, {1, Y}, {2, Y}}, of_p[] = {{0, Y}, {0, S}};
    static const place of_b[] = {{0, X}, {0, S}}, of_s[] = {{0, B_PLUS}, {0, B_MINUS}};
    static const place *const lists[BLOCK] = {of_x, of_y, of_p, of_b, of_b, of_s};
    static const int counts[BLOCK] = {8, 4, 2, 2, 2, 2};
    memcpy(list, lists[variable], (size_t)counts[variable] * sizeof(place));
    return counts[variable];
}

static double entry(const flight *t, int variable, place at, double x)
{
    const double rate = 1.0 / t->h;
    if (at.row == variable && variable <= Y) {
        return at.later == 1 ? -2.0 * rate : rate;
    }
    switch (variable) {
    case X:
        return at.row == P                             ? -3.0 * t->hill * cos(3.0 * x) * rate
               : (at.row == B_PLUS) == (at.later == 0) ? rate
                                                       : -rate;
    case Y:
        return rate;
    case P:
        return at.row == Y ? -1.0 : t->mu;
    case B_PLUS:
        return -1.0;
    case B_MINUS:
        return at.row == X ? 1.0 : -1.0;
    default:
        return 1.0;
    }
}

static void fill_jacobian(const flight *t, const double *z, double *jacobian)
{
    for (int k = 0, at = 0; k < t->steps; k++) {
        for (int v = 0; v < BLOCK; v++) {
            place list[8];
            const int count = places(v, list);
            for (int i = 0; i < count && k + list[i].later < t->steps; i++) {
                jacobian[at++] = entry(t, v, list[i], z[BLOCK * k + X]);
            }
            if (t->aimed && k == t->steps - 1 && v == X) {
                jacobian[at++] = 1.0;
            }
        }
    }
    if (t->aimed) {
        jacobian[t->starts[BLOCK * t->steps]] = -1.0; /* of the first row, (x_0 - x_-1) / h - speed */
    }
}

static bool evaluate_flight(void *context, const double *z, double *f, double *jacobian)
{
    const flight *t = context;
    const int speed = BLOCK * t->steps;
    const double first = t->aimed ? t->x[1] - t->h * z[speed] : t->x[0];
    for (int k = 0; k < t->steps; k++) {
        const double *now = z + BLOCK * k, x = now[X], y = now[Y];
        const double x1 = k > 0 ? now[X - BLOCK] : t->x[1],
                     x2 = k > 1 ? now[X - 2 * BLOCK] : (k == 0 ? first : t->x[1]);
        const double y1 = k > 0 ? now[Y - BLOCK] : t->y[1], y2 = k > 1 ? now[Y - 2 * BLOCK] : t->y[k == 0 ? 0 : 1];
        double *r = f + BLOCK * k;
        r[X] = (x - 2.0 * x1 + x2) / t->h - now[B_PLUS] + now[B_MINUS];
        r[Y] = (y - 2.0 * y1 + y2) / t->h - now[P] + 9.81 * t->h;
        r[P] = (y - t->hill * sin(3.0 * x)) / t->h;
        r[B_PLUS] = now[S] + (x - x1) / t->h;
        r[B_MINUS] = now[S] - (x - x1) / t->h;
        r[S] = t->mu * now[P] - now[B_PLUS] - now[B_MINUS];
    }
    if (t->aimed) {
        f[speed] = z[speed - BLOCK + X] - t->target;
    }
    if (jacobian) {
        fill_jacobian(t, z, jacobian);
    }
    return true;
}

static flight new_flight(int steps, bool aimed)
{
    const size_t n = (size_t)(BLOCK * steps) + 1;
    flight t = {.steps = steps, .h = 0.02, .mu = 0.3, .hill = 0.1, .x = {-0.02, 0.0}, .y = {0.3, 0.3}, .aimed = aimed};
    t.lower = calloc(n, sizeof(double));
    t.upper = calloc(n, sizeof(double));
    t.starts = calloc(n + 1, sizeof(int));
    t.rows = calloc(8 * n, sizeof(int));
    assert_true(t.lower && t.upper && t.starts && t.rows);
    int at = 0;
    for (int j = 0; j < BLOCK * steps; j++) {
        place list[8];
        const int count = places(j % BLOCK, list), k = j / BLOCK;
        for (int i = 0; i < count && k + list[i].later < steps; i++) {
            t.rows[at++] = BLOCK * (k + list[i].later) + list[i].row;
        }
        if (aimed && j == BLOCK * (steps - 1) + X) {
            t.rows[at++] = BLOCK * steps;
        }
        t.starts[j + 1] = at;
        t.lower[j] = j % BLOCK <= Y ? -INFINITY : 0.0;
        t.upper[j] = INFINITY;
    }
    t.rows[at++] = X; /* the column of the speed, where there is one */
    t.starts[n] = at;
    t.lower[n - 1] = -INFINITY;
    t.upper[n - 1] = INFINITY;
    return t;
}

static void free_flight(flight *t)
{
    free(t->lower);
    free(t->upper);
    free(t->starts);
    free(t->rows);
}

static perp_nonlinear_mcp flight_problem(flight *t)
{
    const int n = BLOCK * t->steps + (t->aimed ? 1 : 0);
    return (perp_nonlinear_mcp){n, t->lower, t->upper, t->starts, t->rows, evaluate_flight, t, 0.0, NULL};
}

/* One step after the other, six unknowns each, thrown at `speed` along x. */
static void step_by_step(int steps, double speed, double *z)
{
    flight one = new_flight(1, false);
    one.x[0] = one.x[1] - one.h * speed;
    for (int k = 0; k < steps; k++) {
        const perp_nonlinear_mcp p = flight_problem(&one);
        const double start[BLOCK] = {one.x[1], one.y[1]};
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.start = start;
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear_by(&p, &settings, NULL, z + BLOCK * k));
        one.x[0] = one.x[1];
        one.y[0] = one.y[1];
        one.x[1] = z[BLOCK * k + X];
        one.y[1] = z[BLOCK * k + Y];
    }
    free_flight(&one);
}

enum { STEPS = 400, UNKNOWNS = BLOCK * STEPS };

static void assert_same_path(const double *z, const double *expected, double tolerance)
{
    for (int k = 0; k < STEPS; k++) {
        ASSERT_NEAR(z[BLOCK * k + X], expected[BLOCK * k + X], tolerance);
        ASSERT_NEAR(z[BLOCK * k + Y], expected[BLOCK * k + Y], tolerance);
    }
}

static void trajectory_at_once_is_that_of_its_steps(void **state)
{
    (void)state;
    double *z = calloc(3 * UNKNOWNS, sizeof(double)), *expected = z + UNKNOWNS, *start = z + 2 * UNKNOWNS;
    flight t = new_flight(STEPS, false);
    const perp_nonlinear_mcp p = flight_problem(&t);
    perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
    perp_random random = {1};
    assert_non_null(z);
    step_by_step(STEPS, 1.0, expected);

    /* Near it, as a planner starts: Newton alone. An error of a force at the start is one of h^2 STEPS times itself at
     * the end, 0.16, if nothing stops it: 1e-8 of residual is 1e-8 of position, and 1e-6 leaves room. */
    for (int i = 0; i < UNKNOWNS; i++) {
        start[i] = expected[i] + perp_random_uniform(&random, -1e-3, 1e-3);
    }
    settings.start = start;
    perp_mcp_newton_info info = solve_nonlinear_by(&p, &settings, perp_sparse_linear_solver(), z);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_string_equal(info.method, "newton");
    assert_in_range(info.iterations, 1, 12); /* quadratic at the end: a wrong entry of the matrix would need far more */
    assert_same_path(z, expected, 1e-6);

    /* Cold: at rest where it was thrown from. */
    for (int i = 0; i < UNKNOWNS; i++) {
        start[i] = i % BLOCK == Y ? t.y[1] : 0.0;
    }
    info = solve_nonlinear_by(&p, &settings, perp_sparse_linear_solver(), z);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_same_path(z, expected, 1e-6);
    free_flight(&t);
    free(z);
}

/* Which throw ends at the target? A boundary-value problem: the start is the trajectory of a throw that ends elsewhere,
 * and the answer is known because the target is where another throw ended. x at the end rises by about 0.3 m for 1 m/s,
 * so that 1e-8 of residual is some 1e-7 of speed; 1e-5 leaves room. */
static void throws_at_a_target(void **state)
{
    (void)state;
    static const double speeds[] = {1.02, 1.1, 0.9, 1.3};
    double *z = calloc(3 * (UNKNOWNS + 1), sizeof(double)), *start = z + UNKNOWNS + 1, *other = start + UNKNOWNS + 1;
    flight t = new_flight(STEPS, true);
    assert_non_null(z);
    step_by_step(STEPS, 1.0, start);
    start[UNKNOWNS] = 1.0;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        const perp_nonlinear_mcp p = flight_problem(&t);
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.start = start;
        step_by_step(STEPS, speeds[k], other);
        t.target = other[UNKNOWNS - BLOCK + X];
        assert_true(fabs(t.target - start[UNKNOWNS - BLOCK + X]) > 1e-3);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear_by(&p, &settings, perp_sparse_linear_solver(), z));
        ASSERT_NEAR(z[UNKNOWNS], speeds[k], 1e-5);
        assert_same_path(z, other, 1e-5);
    }
    free_flight(&t);
    free(z);
}

static void jacobian_of_the_trajectory(void **state)
{
    (void)state;
    flight t = new_flight(5, true);
    const perp_nonlinear_mcp p = flight_problem(&t);
    double work[1000], z[5 * BLOCK + 1];
    int row, column;
    for (int i = 0; i <= 5 * BLOCK; i++) {
        z[i] = 0.3 + 0.1 * (i % 7);
    }
    assert_true(perp_nonlinear_mcp_jacobian_work(&p) <= 1000);
    assert_true(perp_nonlinear_mcp_jacobian_error(&p, z, work, &row, &column) < 1e-8);
    free_flight(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obstacle_of_2500),        cmocka_unit_test(dense_and_sparse_agree),
        cmocka_unit_test(obstacle_is_a_convex_qp), cmocka_unit_test(trajectory_at_once_is_that_of_its_steps),
        cmocka_unit_test(throws_at_a_target),      cmocka_unit_test(jacobian_of_the_trajectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
