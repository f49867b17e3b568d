/* Nonlinear mcps made from their solution, contact problems, and problems at the edges: nothing in them, all free, all
 * fixed, singular, not defined everywhere. */
#include "mcp_newton_test.h"

#include "mcp_made.h"

/* ---- problems made from a solution ------------------------------------------------------------------------------- */

static void constructed_solutions_solve(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 80; seed++) { /* to rounding of sums of 40 terms of size 1 */
        made m = made_case(seed, (made_shape)(seed % MADE_SHAPES), seed % 3 == 0);
        const perp_nonlinear_mcp p = made_problem(&m);
        assert_true(judge_nonlinear(&p, m.solution) < 1e-13);
    }
}

static void monotone_problems(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        made m = made_case(seed, (made_shape)(seed / 2 % MADE_SHAPES), true);
        const perp_nonlinear_mcp p = made_problem(&m);
        double z[MADE_LARGEST];
        const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_string_equal(info.method, "newton");
    }
}

/* A random matrix is far from P0, so that merits have minima that are no solutions: with cubics, which grow in the end,
 * every one is solved, with exponentials, which vanish to one side, nearly. */
static void problems_that_are_not_monotone(void **state)
{
    (void)state;
    int solved[MADE_SHAPES] = {0}, by_others = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const made_shape s = (made_shape)(seed / 100 % MADE_SHAPES);
        made m = made_case(seed, s, false);
        const perp_nonlinear_mcp p = made_problem(&m);
        double z[MADE_LARGEST];
        const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, z);
        solved[s] += info.outcome == PERP_OUTCOME_SOLVED;
        by_others += info.outcome == PERP_OUTCOME_SOLVED && strcmp(info.method, "newton") != 0;
    }
    assert_int_equal(solved[MADE_CUBIC], 100);
    assert_in_range(solved[MADE_EXPONENTIAL], 93, 100);
    assert_true(by_others >= 20);
}

static void jacobians_of_this_file_are_right(void **state)
{
    (void)state;
    double work[MADE_LARGEST * MADE_LARGEST + 4 * MADE_LARGEST];
    int row, column;
    for (uint64_t seed = 0; seed < 80; seed++) {
        made m = made_case(seed, (made_shape)(seed % MADE_SHAPES), false);
        perp_nonlinear_mcp p = made_problem(&m);
        p.lower = p.upper = NULL; /* one-sided differences at bounds would be worth less */
        double z[MADE_LARGEST];
        for (int i = 0; i < m.n; i++) {
            z[i] = fabs(m.solution[i]) + 0.5;
        }
        assert_true(perp_nonlinear_mcp_jacobian_work(&p) <= sizeof work / sizeof *work);
        assert_true(perp_nonlinear_mcp_jacobian_error(&p, z, work, &row, &column) < 1e-7);
    }
}

/* ---- contact ----------------------------------------------------------------------------------------------------- */

/* Stewart and Trinkle's lcps, whose cone multipliers make the merit's minima: Newton alone leaves some, and all are
 * solved. */
static void contact_problems_by_callback(void **state)
{
    (void)state;
    int newton_fails = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        case_of c = contact_lcp(seed, 12 << (seed % 3), true);
        const perp_nonlinear_mcp p = linear_problem(&c);
        const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, c.z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_true(judge(&c, c.z) <= 1e-8);
        newton_fails += strcmp(info.method, "newton") != 0;
        free_case(&c);
    }
    assert_in_range(newton_fails, 5, 60);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void nothing_at_all(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = {.n = 0, .evaluate = made_evaluate};
    double none = 0.0;
    for (int k = -1; k < perp_mcp_newton_method_count(); k++) {
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.method = perp_mcp_newton_method_name(k);
        const perp_mcp_newton_info info = solve_nonlinear_by(&p, &settings, NULL, &none);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_true(info.residual == 0.0 && info.evaluations == 0);
    }
}

/* Without bounds it is Newton's method for F = 0. */
static void all_free(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        made m = made_case(seed, MADE_CUBIC, true);
        double f[MADE_LARGEST] = {0.0}, z[MADE_LARGEST];
        for (int i = 0; i < m.n; i++) {
            m.lower[i] = -INFINITY;
            m.upper[i] = INFINITY;
            m.offset[i] = 0.0;
        }
        made_evaluate(&m, m.solution, f, NULL);
        for (int i = 0; i < m.n; i++) {
            m.offset[i] = -f[i];
        }
        const perp_nonlinear_mcp p = made_problem(&m);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, NULL, z));
        made_evaluate(&m, z, f, NULL);
        for (int i = 0; i < m.n; i++) {
            assert_true(fabs(f[i]) <= 1e-8);
        }
    }
}

static void all_fixed(void **state)
{
    (void)state;
    made m = made_case(19, MADE_EXPONENTIAL, false);
    for (int i = 0; i < m.n; i++) {
        m.lower[i] = m.upper[i] = 0.25 * i - 1.0;
    }
    const perp_nonlinear_mcp p = made_problem(&m);
    double z[MADE_LARGEST];
    const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, z);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_memory_equal(z, m.lower, (size_t)m.n * sizeof(double));
    assert_true(info.residual == 0.0);
}

/* F with Jacobians that are singular everywhere, at the start, or at the solution. */
static bool evaluate_singular(void *context, const double *z, double *f, double *jacobian)
{
    const int kind = *(const int *)context;
    const double sum = z[0] + z[1] + z[2];
    for (int i = 0; i < 3; i++) {
        f[i] = kind == 0   ? (double)(i - 1)           /* constant: z_0 at its upper bound, z_2 at its lower */
               : kind == 1 ? sum - 1.0                 /* rank one: any z with sum 1 */
               : kind == 2 ? z[i] * z[i] * z[i] - 1e-3 /* zero at the start */
                           : (z[i] - 0.5) * (z[i] - 0.5) * (z[i] - 0.5); /* zero at the solution */
        for (int j = 0; jacobian && j < 3; j++) {
            const double power = 3.0 * (kind == 2 ? z[i] * z[i] : (z[i] - 0.5) * (z[i] - 0.5));
            jacobian[3 * i + j] = kind == 0 ? 0.0 : (kind == 1 ? 1.0 : (i == j ? power : 0.0));
        }
    }
    return true;
}

static void singular_jacobians(void **state)
{
    (void)state;
    static const double lower[3] = {-1.0, -1.0, -1.0}, upper[3] = {2.0, 2.0, 2.0};
    for (int kind = 0; kind < 4; kind++) {
        const perp_nonlinear_mcp p = {
            .n = 3, .lower = lower, .upper = upper, .evaluate = evaluate_singular, .context = &kind};
        double z[3];
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, NULL, z));
        if (kind == 0) {
            assert_true(z[0] == 2.0 && z[2] == -1.0);
        } else if (kind == 1) {
            ASSERT_NEAR(z[0] + z[1] + z[2], 1.0, 1e-8);
        } else {
            ASSERT_NEAR(z[1], kind == 2 ? 0.1 : 0.5, kind == 2 ? 1e-6 : 2.2e-3); /* cube roots of 1e-8 */
        }
    }
}

/* log z is defined for z > 0 alone, and z is free: steps that leave are shortened. */
static bool evaluate_logarithm(void *context, const double *z, double *f, double *jacobian)
{
    (void)context;
    f[0] = log(z[0]) + 0.1 * z[0]; /* NaN below 0, -inf at 0: as good as `false` */
    if (jacobian) {
        jacobian[0] = 1.0 / z[0] + 0.1;
    }
    return z[0] < 1e6;
}

static void steps_stay_where_f_is_defined(void **state)
{
    (void)state;
    static const double lower = -INFINITY;
    const perp_nonlinear_mcp p = {.n = 1, .lower = &lower, .evaluate = evaluate_logarithm};
    for (int k = -8; k <= 5; k++) {
        const double start = pow(10.0, k);
        double z;
        const perp_mcp_newton_info info = solve_nonlinear(&p, &start, &z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        ASSERT_NEAR(log(z) + 0.1 * z, 0.0, 1e-8);
    }
}

static bool evaluate_nowhere(void *context, const double *z, double *f, double *jacobian)
{
    (void)z;
    (void)jacobian;
    f[0] = *(const double *)context;
    return !isfinite(f[0]);
}

static void defined_nowhere(void **state)
{
    (void)state;
    double values[3] = {0.0, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        const perp_nonlinear_mcp p = {.n = 1, .evaluate = evaluate_nowhere, .context = &values[k]};
        double z;
        const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, &z);
        ASSERT_OUTCOME(PERP_OUTCOME_ILL_CONDITIONED, info);
        assert_true(info.residual == INFINITY && z == 0.0);
        assert_int_equal(info.tried_count, perp_mcp_newton_method_count());
    }
}

/* 0 <= z _|_ -1 - z: there is none, and that is not called solved. */
static bool evaluate_hopeless(void *context, const double *z, double *f, double *jacobian)
{
    (void)context;
    f[0] = -1.0 - z[0];
    if (jacobian) {
        jacobian[0] = -1.0;
    }
    return true;
}

static void no_solution_is_not_solved(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = {.n = 1, .evaluate = evaluate_hopeless};
    double z;
    const perp_mcp_newton_info info = solve_nonlinear(&p, NULL, &z);
    assert_true(info.outcome == PERP_OUTCOME_ILL_CONDITIONED || info.outcome == PERP_OUTCOME_ITERATION_LIMIT);
    assert_true(info.residual >= 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructed_solutions_solve),
        cmocka_unit_test(monotone_problems),
        cmocka_unit_test(problems_that_are_not_monotone),
        cmocka_unit_test(jacobians_of_this_file_are_right),
        cmocka_unit_test(contact_problems_by_callback),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(all_free),
        cmocka_unit_test(all_fixed),
        cmocka_unit_test(singular_jacobians),
        cmocka_unit_test(steps_stay_where_f_is_defined),
        cmocka_unit_test(defined_nowhere),
        cmocka_unit_test(no_solution_is_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
