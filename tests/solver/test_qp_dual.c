/* The dual active set: closed forms, the lcp of the dual problem, degenerate and infeasible problems, warm starts. */
#include "linalg/dense.h"
#include "qp_dual_test.h"
#include "solver/qp_dual.h"

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

static void box_projection_is_clipping(void **state)
{
    (void)state;
    perp_random random = {1};
    for (int n = 1; n <= 40; n++) {
        dual_case q = new_dual_case(n, 0, 0);
        q.bounded = true;
        for (int i = 0; i < n; i++) {
            q.g[i] = -perp_random_uniform(&random, -3.0, 3.0);
            q.lower[i] = perp_random_uniform(&random, -2.0, 0.0);
            q.upper[i] = i % 5 == 0 ? q.lower[i] : perp_random_uniform(&random, 0.0, 2.0); /* some are fixed */
        }
        assert_dual_solved(&q, NULL, ROUNDING);
        for (int i = 0; i < n; i++) { /* to the last bit: bounds are met exactly, H = I solves exactly */
            const double expected = fmin(fmax(-q.g[i], q.lower[i]), q.upper[i]);
            assert_true(q.point.x[i] == expected);
            assert_true(q.point.y_lower[i] == 0.0 || q.point.y_upper[i] == 0.0);
        }
        free_dual_case(&q);
    }
}

static void halfspace_projection(void **state)
{
    (void)state;
    perp_random random = {2};
    for (int n = 1; n <= 30; n++) {
        dual_case q = new_dual_case(n, 1, 0);
        double dot = 0.0, square = 0.0;
        for (int i = 0; i < n; i++) {
            q.g[i] = -perp_random_uniform(&random, -1.0, 1.0);
            q.a[i] = perp_random_uniform(&random, -1.0, 1.0);
            dot -= q.a[i] * q.g[i];
            square += q.a[i] * q.a[i];
        }
        q.b[0] = dot + (n % 2 ? 0.7 : -0.7); /* outside, inside */
        const double expected_y = n % 2 ? 0.7 / square : 0.0;
        assert_dual_solved(&q, NULL, ROUNDING);
        ASSERT_NEAR(q.point.y[0], expected_y, 1e-13 * (1.0 + expected_y));
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(q.point.x[i], -q.g[i] + expected_y * q.a[i], 1e-13 * (1.0 + expected_y));
        }
        assert_true(n % 2 || q.point.y[0] == 0.0);
        free_dual_case(&q);
    }
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : (x > y ? -1 : 0);
}

/* Projection on sum x = 1, x >= 0: max(p - theta, 0), theta from the sorted p. */
static void simplex_projection(void **state)
{
    (void)state;
    perp_random random = {3};
    for (int n = 1; n <= 50; n++) {
        dual_case q = new_dual_case(n, 0, 1);
        double sorted[50], sum = 0.0, theta = 0.0;
        q.bounded = true;
        q.d[0] = 1.0;
        for (int i = 0; i < n; i++) {
            sorted[i] = perp_random_uniform(&random, -1.0, 1.0);
            q.g[i] = -sorted[i];
            q.c[i] = 1.0;
            q.lower[i] = 0.0;
        }
        qsort(sorted, (size_t)n, sizeof(double), descending);
        for (int i = 0; i < n; i++) {
            sum += sorted[i];
            const double candidate = (sum - 1.0) / (i + 1);
            theta = sorted[i] > candidate ? candidate : theta;
        }
        assert_dual_solved(&q, NULL, ROUNDING);
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(q.point.x[i], fmax(-q.g[i] - theta, 0.0), 1e-13);
        }
        ASSERT_NEAR(q.point.y_equality[0], -theta, 1e-13);
        free_dual_case(&q);
    }
}

/* One equality: x = H^-1 (c y - g), y = (d + c'H^-1 g) / c'H^-1 c, H diagonal; no inequality, so no step at all. */
static void equality_alone(void **state)
{
    (void)state;
    perp_random random = {4};
    for (int n = 1; n <= 30; n++) {
        dual_case q = new_dual_case(n, 0, 1);
        double top = q.d[0] = 2.0, bottom = 0.0;
        for (int i = 0; i < n; i++) {
            q.h[i * n + i] = perp_random_uniform(&random, 0.5, 4.0);
            q.g[i] = perp_random_uniform(&random, -1.0, 1.0);
            q.c[i] = perp_random_uniform(&random, 0.1, 1.0);
            top += q.c[i] * q.g[i] / q.h[i * n + i];
            bottom += q.c[i] * q.c[i] / q.h[i * n + i];
        }
        const perp_convex_info info = assert_dual_solved(&q, NULL, ROUNDING);
        assert_int_equal(info.iterations, 0);
        assert_true(info.minimum_norm);
        double objective = 0.0;
        for (int i = 0; i < n; i++) {
            const double x = (q.c[i] * top / bottom - q.g[i]) / q.h[i * n + i];
            ASSERT_NEAR(q.point.x[i], x, 1e-12 * (1.0 + fabs(x)));
            objective += 0.5 * q.h[i * n + i] * x * x + q.g[i] * x;
        }
        ASSERT_NEAR(info.objective, objective, 1e-12 * (1.0 + fabs(objective)));
        free_dual_case(&q);
    }
}

static void nothing_and_unconstrained(void **state)
{
    (void)state;
    dual_case empty = new_dual_case(0, 0, 0), hopeless = new_dual_case(0, 1, 0), trivial = new_dual_case(0, 1, 1),
              free_one = new_dual_case(2, 0, 0);
    assert_dual_solved(&empty, NULL, 0.0);
    hopeless.b[0] = 2.0; /* 0 >= 2 */
    const perp_convex_info info = solve_dual_case(&hopeless, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
    assert_dual_proof(&hopeless);
    trivial.b[0] = -1.0;
    assert_dual_solved(&trivial, NULL, 0.0);
    free_one.g[0] = -3.0;
    const perp_qp bare = {.n = 2, .h = free_one.h, .g = free_one.g};
    perp_convex_point only_x = {.x = free_one.point.x}; /* what the problem does not have need not be there */
    perp_qp_dual_workspace *workspace = dual_workspace_for(&free_one);
    perp_convex_info bare_info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&bare, NULL, workspace, &only_x, &bare_info, NULL));
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, bare_info);
    assert_true(only_x.x[0] == 3.0 && only_x.x[1] == 0.0);
    perp_qp_dual_workspace_free(workspace);
    free_dual_case(&empty);
    free_dual_case(&hopeless);
    free_dual_case(&trivial);
    free_dual_case(&free_one);
}

/* ---- random ones ------------------------------------------------------------------------------------------------- */

/* What carries is met: a bound to the last bit, a row to the rounding of its sum (terms below 3, some 100 of them). */
static void assert_tight(const dual_case *q)
{
    for (int k = 0; k < q->rows; k++) {
        const long double slack = dual_product(q, q->a + (ptrdiff_t)k * q->n) - q->b[k];
        assert_true(q->point.y[k] == 0.0 || fabsl(slack) <= 1e-13L);
    }
    for (int i = 0; q->bounded && i < q->n; i++) {
        assert_true(q->point.y_lower[i] == 0.0 || q->point.x[i] == q->lower[i]);
        assert_true(q->point.y_upper[i] == 0.0 || q->point.x[i] == q->upper[i]);
    }
}

static void random_problems_are_solved(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 3, 0},   {2, 5, 1},   {3, 20, 0},   {6, 20, 0},   {6, 20, 3},
                                   {20, 60, 0}, {20, 60, 8}, {20, 10, 20}, {60, 240, 0}, {60, 40, 20}};
    perp_random random = {5};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int repeats = sizes[s][0] < 20 ? 100 : 8;
        for (int k = 0; k < repeats; k++) {
            dual_case q = random_dual_case(&random, sizes[s][0], sizes[s][1], sizes[s][2], k % 2 == 1);
            const perp_convex_info info = assert_dual_solved(&q, NULL, ROUNDING);
            assert_tight(&q);
            assert_int_equal(info.tried_count, 1);
            assert_string_equal(info.tried[0], info.method);
            free_dual_case(&q);
        }
    }
}

/* w = A H^-1 A' y - A H^-1 g - b, 0 <= w _|_ y >= 0: the dual problem as an lcp, for another method. */
static void agrees_with_the_dual_lcp(void **state)
{
    (void)state;
    perp_random random = {6};
    for (int k = 0; k < 60; k++) {
        const int n = k % 3 == 0 ? 3 : (k % 3 == 1 ? 6 : 15), m = k % 2 ? 2 * n : 12;
        dual_case q = random_dual_case(&random, n, m, 0, false);
        case_of lcp = new_case(m);
        double l[15 * 15], solved[15 * 31], x[15];
        memcpy(l, q.h, (size_t)(n * n) * sizeof(double));
        ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(n, l, n, NULL));
        for (int i = 0; i < n; i++) { /* H^-1 [A', g] */
            for (int j = 0; j < m; j++) {
                solved[i * (m + 1) + j] = q.a[j * n + i];
            }
            solved[i * (m + 1) + m] = q.g[i];
        }
        perp_cholesky_solve_many(n, l, n, (perp_matrix_view){solved, n, m + 1, m + 1});
        for (int i = 0; i < m; i++) {
            lcp.q[i] = -q.b[i];
            for (int j = 0; j < n; j++) {
                lcp.q[i] -= q.a[i * n + j] * solved[j * (m + 1) + m];
                for (int p = 0; p < m; p++) {
                    lcp.m[i * m + p] += q.a[i * n + j] * solved[j * (m + 1) + p];
                }
            }
        }
        const perp_lcp problem = lcp_of(&lcp);
        perp_lcp_solution solution = solution_of(&lcp);
        perp_lcp_workspace *workspace = new_workspace(m);
        perp_lcp_info lcp_info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, NULL, workspace, &solution, &lcp_info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lcp_info);
        const perp_convex_info info = assert_dual_solved(&q, NULL, ROUNDING);
        double objective = 0.0;
        for (int i = 0; i < n; i++) {
            x[i] = -solved[i * (m + 1) + m];
            for (int p = 0; p < m; p++) {
                x[i] += solved[i * (m + 1) + p] * lcp.z[p];
            }
            ASSERT_NEAR(q.point.x[i], x[i], 1e-9 * (1.0 + fabs(x[i])));
        }
        for (int i = 0; i < n; i++) {
            double row = 0.0;
            for (int j = 0; j < n; j++) {
                row += q.h[i * n + j] * x[j];
            }
            objective += x[i] * (0.5 * row + q.g[i]);
        }
        ASSERT_NEAR(info.objective, objective, 1e-9 * (1.0 + fabs(objective)));
        perp_lcp_workspace_free(workspace);
        free_case(&lcp);
        free_dual_case(&q);
    }
}

static void degenerate_problems_are_solved(void **state)
{
    (void)state;
    perp_random random = {7};
    for (int k = 0; k < 400; k++) {
        const int n = 1 + k % 12, rows = 3 * n + k % 17;
        dual_case q = degenerate_dual_case(&random, n, rows);
        assert_dual_solved(&q, NULL, ROUNDING);
        free_dual_case(&q);
    }
    for (int k = 0; k < 6; k++) {
        dual_case q = degenerate_dual_case(&random, 40 + k, 200);
        assert_dual_solved(&q, NULL, ROUNDING);
        free_dual_case(&q);
    }
}

/* A pyramid of 24 rows on its apex: the apex is the answer, all rows are met, 3 carry. */
static void more_rows_met_than_unknowns(void **state)
{
    (void)state;
    dual_case q = new_dual_case(3, 24, 0);
    q.g[2] = 1.0; /* pushed down */
    for (int k = 0; k < 24; k++) {
        q.a[3 * k] = cos(k * 0.2617993877991494);
        q.a[3 * k + 1] = sin(k * 0.2617993877991494);
        q.a[3 * k + 2] = 1.0;
    }
    const perp_convex_info info = assert_dual_solved(&q, NULL, ROUNDING);
    int carrying = 0;
    double total = 0.0;
    for (int k = 0; k < 24; k++) {
        carrying += q.point.y[k] != 0.0;
        total += q.point.y[k];
    }
    assert_true(carrying <= 3);
    assert_false(info.minimum_norm); /* 24 rows share it in many ways */
    ASSERT_NEAR(total, 1.0, 1e-14);
    ASSERT_NEAR(q.point.x[2], 0.0, 1e-14);
    free_dual_case(&q);
}

/* D H D with the diagonal of H from 1 to 1e8, and rows between stiff and soft unknowns. The judge's scale is that of g,
 * here about 1e4, so that rounding is as before. */
static void badly_scaled_problems_are_solved(void **state)
{
    (void)state;
    perp_random random = {8};
    for (int k = 0; k < 200; k++) {
        const int n = 2 + k % 20;
        dual_case q = random_dual_case(&random, n, 3 * n, n / 4, k % 2 == 0);
        for (int i = 0; i < n; i++) {
            const double own = pow(10.0, 4.0 * (i % 5) / 4.0);
            q.g[i] *= own;
            for (int j = 0; j < n; j++) {
                q.h[i * n + j] *= own;
                q.h[j * n + i] *= own;
            }
        }
        assert_dual_solved(&q, NULL, 1e-9);
        free_dual_case(&q);
    }
}

/* Bodies of 1e-4 to 1e4 kg, friction pyramids of four rays between them and against the ground, some twice. */
static dual_case contact_dual_case(perp_random *random, int bodies, int contacts)
{
    const int n = 6 * bodies;
    dual_case q = random_dual_case(random, n, 4 * contacts, 0, false);
    memset(q.h, 0, (size_t)(n * n) * sizeof(double));
    memset(q.a, 0, (size_t)(4 * contacts * n) * sizeof(double));
    double mass = 0.0;
    for (int i = 0; i < n; i++) {
        mass = i % 6 == 0 ? pow(10.0, perp_random_uniform(random, -4.0, 4.0)) : mass;
        q.h[i * n + i] = mass * (i % 6 < 3 ? 1.0 : perp_random_uniform(random, 0.01, 0.1));
        q.g[i] = mass * perp_random_uniform(random, -1.0, 1.0);
    }
    for (int k = 0; k < contacts; k++) {
        double *rows = q.a + (ptrdiff_t)(4 * k) * n;
        if (k % 5 == 4) { /* the one before, again */
            memcpy(rows, rows - 4 * n, (size_t)(4 * n) * sizeof(double));
        }
        const int first = (int)perp_random_uniform(random, 0.0, bodies), second = (first + 1) % bodies;
        const double mu = k % 4 == 0 ? 0.0 : perp_random_uniform(random, 0.0, 2.0);
        for (int i = 0; k % 5 != 4 && i < (k % 2 && second != first ? 12 : 6); i++) {
            const int column = i < 6 ? 6 * first + i : 6 * second + i - 6;
            const double jacobian[3] = {perp_random_uniform(random, -1.0, 1.0), perp_random_uniform(random, -1.0, 1.0),
                                        perp_random_uniform(random, -1.0, 1.0)};
            for (int ray = 0; ray < 4; ray++) {
                const double side = ray < 2 ? mu : -mu;
                rows[ray * n + column] = jacobian[0] + side * jacobian[1 + ray % 2];
            }
        }
        for (int ray = 0; ray < 4; ray++) { /* gaps of zero and more, at the velocity that random_dual_case chose */
            q.b[4 * k + ray] = (double)dual_product(&q, rows + (ptrdiff_t)ray * n) - (k % 3 == 0 ? 0.0 : 0.1 * (k % 7));
        }
    }
    return q;
}

/* Of the right working set no step is left; a few may be, where rounding decides between rows through one point. */
static void contacts_with_masses_far_apart(void **state)
{
    (void)state;
    perp_random random = {16};
    for (int k = 0; k < 200; k++) {
        dual_case q = contact_dual_case(&random, 1 + k % 6, 2 + k % 14);
        const int cold = assert_dual_solved(&q, NULL, 1e-10).iterations;
        perp_convex_settings settings = perp_convex_settings_default();
        settings.warm = &q.point;
        const int warm = assert_dual_solved(&q, &settings, 1e-10).iterations;
        assert_true(warm <= 2 + cold / 10);
        free_dual_case(&q);
    }
}

/* Multipliers of 1e5 to 1e12 carry the answer, and in double precision not all of these can be solved to 1e-8. But all
 * are feasible, so none may be called infeasible, and what is called solved must be. */
static void rows_parallel_but_for_the_last_digits(void **state)
{
    (void)state;
    perp_random random = {17};
    int solved = 0;
    for (int k = 0; k < 300; k++) {
        const int n = 2 + k % 15;
        dual_case q = random_dual_case(&random, n, 2 * n, 0, false);
        for (int i = 1; i < q.rows; i += 2) {
            const double away = pow(10.0, perp_random_uniform(&random, -12.0, -5.0));
            const double factor = i % 4 == 1 ? -1.3 : 1.3;
            for (int j = 0; j < n; j++) {
                q.a[i * n + j] = factor * q.a[(i - 1) * n + j] + away * perp_random_uniform(&random, -1.0, 1.0);
            }
        }
        for (int i = 0; i < q.rows; i++) {
            const double room = fmax(0.0, perp_random_uniform(&random, -0.7, 1.0));
            q.b[i] = (double)dual_product(&q, q.a + (ptrdiff_t)i * n) - room;
        }
        const perp_convex_info info = solve_dual_case(&q, NULL);
        assert_true(info.outcome == PERP_OUTCOME_SOLVED || info.outcome == PERP_OUTCOME_ILL_CONDITIONED);
        solved += info.outcome == PERP_OUTCOME_SOLVED;
        assert_true(info.outcome != PERP_OUTCOME_SOLVED || judge_dual_case(&q) <= 1e-8 * (1.0 + 1e-6));
        free_dual_case(&q);
    }
    assert_true(solved >= 285);
}

/* ---- infeasible -------------------------------------------------------------------------------------------------- */

static void infeasible_problems_are_proven(void **state)
{
    (void)state;
    perp_random random = {9};
    for (int k = 0; k < 300; k++) {
        const int n = 1 + k % 25;
        dual_case q = random_dual_case(&random, n, 2 * n + 2, k % 3 == 0 ? n / 3 : 0, false);
        contradict_dual_case(&q, &random, k % 2 ? 0.5 : 1e-4);
        assert_dual_infeasible(&q);
        free_dual_case(&q);
    }
}

/* The same construction with a gap that leaves room is feasible or not, but never proven against a point that is. */
static void thin_problems_are_not_called_infeasible(void **state)
{
    (void)state;
    perp_random random = {10};
    for (int k = 0; k < 300; k++) {
        const int n = 1 + k % 15;
        dual_case q = random_dual_case(&random, n, 2 * n + 2, 0, false);
        for (int i = 0; i < q.rows; i++) { /* all rows through one point: the feasible set is thin */
            q.b[i] = (double)dual_product(&q, q.a + (ptrdiff_t)i * n) - (k % 3 == 0 ? 0.0 : 1e-9 * (k % 3));
        }
        double factor_sum = 0.0;
        memset(q.a + (ptrdiff_t)(q.rows - 1) * n, 0, (size_t)n * sizeof(double));
        for (int i = 0; i < q.rows - 1; i++) {
            const double factor = perp_random_uniform(&random, 0.1, 1.0);
            factor_sum += factor;
            for (int j = 0; j < n; j++) {
                q.a[(q.rows - 1) * n + j] -= factor * q.a[i * n + j];
            }
        }
        assert_true(factor_sum > 0.0);
        q.b[q.rows - 1] = (double)dual_product(&q, q.a + (ptrdiff_t)(q.rows - 1) * n);
        assert_dual_solved(&q, NULL, 1e-8);
        free_dual_case(&q);
    }
}

/* 1e4 x >= 0 and -1e4 x + 1e-11 y >= 5e-8: met by (0, 5000), but to rounding the rows are parallel, and their
 * contradiction is measured as 1e-11 / 5e-8, which proves nothing. */
static void a_weak_proof_is_none(void **state)
{
    (void)state;
    dual_case q = new_dual_case(2, 2, 0);
    q.a[0] = 1e4;
    q.a[2] = -1e4;
    q.a[3] = 1e-11;
    q.b[1] = 5e-8;
    perp_convex_info info = solve_dual_case(&q, NULL);
    assert_true(info.outcome != PERP_OUTCOME_INFEASIBLE);
    assert_true(info.outcome != PERP_OUTCOME_SOLVED || judge_dual_case(&q) <= 1e-8);
    q.a[3] = 0.0; /* now it is one */
    assert_dual_infeasible(&q);
    free_dual_case(&q);
}

static void contradicting_equalities_and_bounds(void **state)
{
    (void)state;
    dual_case twice = new_dual_case(3, 0, 3), box = new_dual_case(2, 1, 0), fixed = new_dual_case(2, 0, 1);
    for (int i = 0; i < 3; i++) {
        twice.c[i] = 1.0 + i;
        twice.c[3 + i] = 2.0 - i;
        twice.c[6 + i] = 0.5 * twice.c[i] - 3.0 * twice.c[3 + i];
    }
    twice.d[0] = 1.0;
    twice.d[1] = 0.25;
    twice.d[2] = 0.5 - 0.75;
    assert_dual_solved(&twice, NULL, ROUNDING); /* the third follows */
    twice.d[2] += 1e-3;
    assert_dual_infeasible(&twice);
    twice.d[2] -= 2e-3; /* the proof's sign turns */
    assert_dual_infeasible(&twice);

    box.bounded = fixed.bounded = true;
    for (int i = 0; i < 2; i++) {
        box.lower[i] = 0.0;
        box.upper[i] = 1.0;
        box.a[i] = 1.0;
        fixed.lower[i] = fixed.upper[i] = 0.5;
        fixed.c[i] = 1.0;
    }
    box.b[0] = 2.5;
    assert_dual_infeasible(&box);
    ASSERT_NEAR(box.point.y[0], 2.0, 1e-14); /* (2.5 - 1 - 1) y = 1 */
    box.b[0] = 2.0;                          /* the corner */
    assert_dual_solved(&box, NULL, ROUNDING);
    assert_true(box.point.x[0] == 1.0 && box.point.x[1] == 1.0);
    fixed.d[0] = 1.0;
    assert_dual_solved(&fixed, NULL, ROUNDING);
    fixed.d[0] = 1.25;
    assert_dual_infeasible(&fixed);
    free_dual_case(&twice);
    free_dual_case(&box);
    free_dual_case(&fixed);
}

/* ---- warm starts ------------------------------------------------------------------------------------------------- */

static void warm_gives_the_cold_answer_in_fewer_steps(void **state)
{
    (void)state;
    perp_random random = {11};
    int cold_steps = 0, near_steps = 0;
    for (int k = 0; k < 60; k++) {
        const int n = 3 + k % 30;
        dual_case q = random_dual_case(&random, n, 3 * n, n / 5, k % 2 == 0),
                  warm = random_dual_case(&random, n, 3 * n, n / 5, k % 2 == 0);
        const perp_convex_info cold = assert_dual_solved(&q, NULL, ROUNDING);
        perp_convex_settings settings = perp_convex_settings_default();
        settings.warm = &warm.point;
        const size_t length = (size_t)(warm.point.y_upper + n - warm.memory); /* the arrays stand in the same order */
        memcpy(warm.memory, q.memory, length * sizeof(double));
        const perp_convex_info again = assert_dual_solved(&warm, &settings, ROUNDING); /* from itself, in place */
        assert_int_equal(again.iterations, 0);
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(warm.point.x[i], q.point.x[i], 1e-11);
        }
        for (int i = 0; i < q.rows; i++) { /* a wrong guess, with NaN among it */
            warm.point.y[i] = i % 7 == 0 ? NAN : (i % 3 == 0 ? 1.0 : 0.0);
        }
        assert_dual_solved(&warm, &settings, ROUNDING);
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(warm.point.x[i], q.point.x[i], 1e-11);
        }
        for (int i = 0; i < n; i++) { /* a similar problem, as the next time step has it */
            warm.g[i] += perp_random_uniform(&random, -0.01, 0.01);
        }
        near_steps += assert_dual_solved(&warm, &settings, ROUNDING).iterations;
        cold_steps += cold.iterations;
        free_dual_case(&q);
        free_dual_case(&warm);
    }
    assert_true(cold_steps > 300 && near_steps * 5 < cold_steps);
}

static void bits_repeat(void **state)
{
    (void)state;
    perp_random random = {12};
    dual_case q = random_dual_case(&random, 20, 60, 4, true), other = degenerate_dual_case(&random, 18, 60);
    const perp_qp problem = dual_qp_of(&q), other_problem = dual_qp_of(&other);
    perp_qp_dual_workspace *workspace = dual_workspace_for(&(dual_case){.n = 30, .rows = 80, .equalities = 20});
    perp_convex_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&problem, NULL, workspace, &q.point, &info, NULL));
    double x[20], y[60];
    memcpy(x, q.point.x, sizeof x);
    memcpy(y, q.point.y, sizeof y);
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&other_problem, NULL, workspace, &other.point, &info, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&problem, NULL, workspace, &q.point, &info, NULL));
    assert_memory_equal(x, q.point.x, sizeof x);
    assert_memory_equal(y, q.point.y, sizeof y);
    dual_case hopeless =
        new_dual_case(0, 60, 0); /* nothing is left of the others, not even where nothing is factored */
    for (int k = 0; k < 60; k++) {
        hopeless.b[k] = 1.0 + k % 7;
    }
    const perp_qp hopeless_problem = dual_qp_of(&hopeless);
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual(&hopeless_problem, NULL, workspace, &hopeless.point, &info, NULL));
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
    assert_true(hopeless.point.y[0] == 1.0); /* 0 >= 1, the first: the equalities before it were in a working set */
    free_dual_case(&hopeless);
    solve_dual_case(&q, NULL); /* another workspace */
    assert_memory_equal(x, q.point.x, sizeof x);
    assert_memory_equal(y, q.point.y, sizeof y);
    perp_qp_dual_workspace_free(workspace);
    free_dual_case(&q);
    free_dual_case(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_projection_is_clipping),
        cmocka_unit_test(halfspace_projection),
        cmocka_unit_test(simplex_projection),
        cmocka_unit_test(equality_alone),
        cmocka_unit_test(nothing_and_unconstrained),
        cmocka_unit_test(random_problems_are_solved),
        cmocka_unit_test(agrees_with_the_dual_lcp),
        cmocka_unit_test(degenerate_problems_are_solved),
        cmocka_unit_test(more_rows_met_than_unknowns),
        cmocka_unit_test(badly_scaled_problems_are_solved),
        cmocka_unit_test(contacts_with_masses_far_apart),
        cmocka_unit_test(rows_parallel_but_for_the_last_digits),
        cmocka_unit_test(infeasible_problems_are_proven),
        cmocka_unit_test(thin_problems_are_not_called_infeasible),
        cmocka_unit_test(a_weak_proof_is_none),
        cmocka_unit_test(contradicting_equalities_and_bounds),
        cmocka_unit_test(warm_gives_the_cold_answer_in_fewer_steps),
        cmocka_unit_test(bits_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
