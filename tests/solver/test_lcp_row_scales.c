/* Complementarity problems whose rows differ by many powers of ten: every row is solved in its own units, and a row
 * that is loose by 1e20 excuses no other. Answers are compared with those of the same problem in good units, and judged
 * by rows in long double. */
#include "lcp_test.h"

/* 10^u, u between `low` and `high`. */
static double power_of_ten(perp_random *random, double low, double high)
{
    return pow(10.0, perp_random_uniform(random, low, high));
}

/* Positive definite and not symmetric; q of both signs, without a zero. */
static case_of definite(perp_random *random, int n)
{
    case_of c = new_case(n);
    for (int i = 0; i < n; i++) {
        c.q[i] = perp_random_uniform(random, -4.0, 4.0) < 0.0 ? -1.0 - perp_random_uniform(random, 0.0, 3.0)
                                                              : 1.0 + perp_random_uniform(random, 0.0, 3.0);
        for (int j = 0; j < n; j++) {
            c.m[i * n + j] = i == j ? 2.0 * n : perp_random_uniform(random, -1.0, 1.0);
        }
    }
    return c;
}

/* The case with `more` rows that are loose by 10^low .. 10^high at every point of a usual size. They see the other
 * variables, and in half of the cases the others see theirs. */
static case_of with_loose_rows(const case_of *c, perp_random *random, int more, double low, double high)
{
    const int n = c->n, all = n + more;
    const bool seen = perp_random_uniform(random, 0.0, 1.0) < 0.5;
    case_of r = new_case(all);
    for (int i = 0; i < all; i++) {
        for (int j = 0; j < all; j++) {
            const bool old_row = i < n, old_column = j < n;
            r.m[i * all + j] = old_row && old_column             ? c->m[i * n + j]
                               : i == j                          ? 1.0
                               : old_column || (old_row && seen) ? perp_random_uniform(random, -1.0, 1.0)
                                                                 : 0.0;
        }
        r.q[i] = i < n ? c->q[i] : power_of_ten(random, low, high);
        r.free[i] = i < n && c->free[i];
        r.lower[i] = i < n ? c->lower[i] : 0.0;
        r.upper[i] = i < n ? c->upper[i] : INFINITY;
    }
    return r;
}

enum { AS_LCP, AS_MLCP, AS_MCP };

static perp_lcp_info solve_as(case_of *c, int kind, bool relative)
{
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_lcp lcp = lcp_of(c);
    const perp_mlcp mlcp = mlcp_of(c);
    const perp_mcp mcp = mcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.relative = relative;
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, kind == AS_LCP ? perp_lcp_solve(&lcp, &settings, workspace, &solution, &info, NULL)
                                  : kind == AS_MLCP
                                      ? perp_mlcp_solve(&mlcp, &settings, workspace, &solution, &info, NULL)
                                      : perp_mcp_solve(&mcp, &settings, workspace, &solution, &info, NULL));
    perp_lcp_workspace_free(workspace);
    return info;
}

/* z of `c` is that of `plain` times `units` (NULL: ones), to 1e-7. */
static void assert_same(const case_of *plain, const case_of *c, const double *units, uint64_t seed)
{
    for (int i = 0; i < plain->n; i++) {
        const double unit = units ? units[i] : 1.0;
        if (!(fabs(c->z[i] / unit - plain->z[i]) <= 1e-7 * (1.0 + fabs(plain->z[i])))) {
            print_error("seed %d: z %d is %.9g times its unit, not %.9g\n", (int)seed, i, c->z[i] / unit, plain->z[i]);
            fail();
        }
    }
}

static void one_row_of_1e12(void **state)
{
    (void)state;
    for (int power = 2; power <= 40; power += 2) {
        case_of c = new_case(2);
        c.m[0] = c.m[3] = 1.0;
        c.q[0] = pow(10.0, power);
        c.q[1] = -1.0;
        for (int kind = AS_LCP; kind <= AS_MCP; kind++) {
            const perp_lcp_info info = solve_as(&c, kind, false);
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            assert_true(c.z[0] == 0.0 && c.z[1] == 1.0 && c.w[0] == c.q[0] && c.w[1] == 0.0);
        }
        free_case(&c);
    }
}

static void loose_rows_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        perp_random random = {seed};
        case_of plain = definite(&random, 1 + (int)(seed % 9));
        const perp_lcp_info before = solve_as(&plain, AS_LCP, false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, before);
        case_of c = with_loose_rows(&plain, &random, 1 + (int)(seed % 3), 6.0, 20.0);
        const perp_lcp_info info = solve_as(&c, (int)(seed / 3 % 3), seed % 2 == 0);
        if (info.outcome != PERP_OUTCOME_SOLVED) {
            print_error("seed %d: %s, residual %g\n", (int)seed, perp_outcome_name(info.outcome), info.residual);
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_true(judge(&c, c.z) <= 1e-8);
        assert_same(&plain, &c, NULL, seed);
        free_case(&plain);
        free_case(&c);
    }
}

/* R M C and R q have the solution C^-1 z. A relative residual takes no notice of R; without it what is below 1e-8 in
 * the problem's own units counts as nothing. */
static void rows_and_columns_have_any_unit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 12);
        double units[12];
        case_of plain = definite(&random, n), c = new_case(n);
        const perp_lcp_info before = solve_as(&plain, AS_LCP, false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, before);
        for (int i = 0; i < n; i++) {
            units[i] = power_of_ten(&random, -8.0, 8.0);
        }
        for (int i = 0; i < n; i++) {
            const double row = power_of_ten(&random, -8.0, 8.0);
            for (int j = 0; j < n; j++) {
                c.m[i * n + j] = row * plain.m[i * n + j] / units[j];
            }
            c.q[i] = row * plain.q[i];
        }
        const perp_lcp_info info = solve_as(&c, (int)(seed % 3), true);
        if (info.outcome != PERP_OUTCOME_SOLVED) {
            print_error("seed %d: %s, residual %g\n", (int)seed, perp_outcome_name(info.outcome), info.residual);
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_same(&plain, &c, units, seed);
        const perp_lcp_info absolute = solve_as(&c, (int)(seed % 3), false);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, absolute);
        assert_true(judge(&c, c.z) <= 1e-8);
        free_case(&plain);
        free_case(&c);
    }
}

/* The optimality conditions of min 1/2 x'P x + g'x, A x >= b, x >= 0: M = [P -A'; A 0] is copositive-plus, so that a
 * ray is a proof. Rows 0 and 1 of A contradict each other by 1, the last rows are loose by 1e6 .. 1e20. */
static case_of contradiction(perp_random *random, int unknowns, int rows, int loose)
{
    const int n = unknowns + rows + loose;
    case_of c = new_case(n);
    for (int i = 0; i < unknowns; i++) {
        c.m[i * n + i] = 1.0 + floor(perp_random_uniform(random, 0.0, 3.0));
        c.q[i] = floor(perp_random_uniform(random, -3.0, 3.0));
    }
    for (int k = 0; k < rows + loose; k++) {
        const int row = unknowns + k;
        for (int j = 0; j < unknowns; j++) {
            const double entry = k == 1 ? -c.m[(row - 1) * n + j] : floor(perp_random_uniform(random, -3.0, 4.0));
            c.m[row * n + j] = entry;
            c.m[j * n + row] = -entry;
        }
        c.q[row] = k >= rows ? power_of_ten(random, 6.0, 20.0) : k == 0 ? -2.0 : 1.0;
    }
    return c;
}

static void loose_rows_beside_a_contradiction(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        case_of c = contradiction(&random, 1 + (int)(seed % 5), 2 + (int)(seed / 5 % 3), (int)(seed / 15 % 4));
        const perp_lcp_info info = solve_as(&c, (int)(seed % 3), seed % 2 == 0);
        if (info.outcome != PERP_OUTCOME_INFEASIBLE) {
            print_error("seed %d: %s, residual %g\n", (int)seed, perp_outcome_name(info.outcome), info.residual);
        }
        ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
        assert_proof(&c);
        free_case(&c);
    }
}

/* [1 -1; -1 1] z >= (1, 1) has no point; z = (1e9, 1e9) misses it by 1 of 2e9. Solved is not said of it. */
static void far_points_are_no_solutions(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        case_of c = new_case(2);
        const double a = 1.0 + floor(perp_random_uniform(&random, 0.0, 9.0));
        c.m[0] = c.m[3] = a;
        c.m[1] = c.m[2] = -a;
        c.q[0] = -1.0 - floor(perp_random_uniform(&random, 0.0, 5.0));
        c.q[1] = -1.0;
        for (int kind = AS_LCP; kind <= AS_MCP; kind++) {
            const perp_lcp_info info = solve_as(&c, kind, false);
            ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
            assert_proof(&c);
        }
        free_case(&c);
    }
}

/* What is small in its unit: z = 1e-12 is a solution beside z = 0 only where the 1 in the scale is dropped. */
static void relative_residuals_drop_the_one(void **state)
{
    (void)state;
    case_of c = new_case(2);
    c.m[0] = c.m[3] = 1e-3;
    c.m[1] = 0.5e-3;
    c.q[0] = -1e-15;
    c.q[1] = -2e-15;
    const double nothing[] = {0.0, 0.0};
    assert_true(judge(&c, nothing) <= 1e-8);
    const perp_lcp_info info = solve_as(&c, AS_LCP, true);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    ASSERT_NEAR(c.z[1], 2e-12, 1e-19);
    ASSERT_NEAR(c.z[0], 0.0, 1e-19);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_of_1e12),
        cmocka_unit_test(loose_rows_change_nothing),
        cmocka_unit_test(rows_and_columns_have_any_unit),
        cmocka_unit_test(loose_rows_beside_a_contradiction),
        cmocka_unit_test(far_points_are_no_solutions),
        cmocka_unit_test(relative_residuals_drop_the_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
