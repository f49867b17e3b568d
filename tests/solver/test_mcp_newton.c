/* Problems of the literature from their standard starts, and all solutions of those that have several. */
#include "mcp_newton_test.h"

static bool near(int n, const double *a, const double *b, double tolerance)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest <= tolerance;
}

/* 2e-4: the first solution is degenerate (z_3 = F_3 = 0), where an error in z shows in the residual 1e-8 by its square.
 */
static const double DEGENERATE = 2e-4;
static const double kojima_solutions[2][4] = {{1.224744871391589, 0.0, 0.0, 0.5}, {1.0, 0.0, 3.0, 0.0}};

static int which_solution(const double *z)
{
    return near(4, z, kojima_solutions[0], DEGENERATE) ? 0 : (near(4, z, kojima_solutions[1], 1e-7) ? 1 : -1);
}

static void kojima_and_shindo(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = kojima_shindo();
    int found[2] = {0, 0};
    for (int k = 0; k < QUADRATIC_STARTS + 200; k++) {
        perp_random random = {(uint64_t)k};
        double z[4], start[4];
        for (int i = 0; i < 4; i++) {
            start[i] = k < QUADRATIC_STARTS ? quadratic_starts[k][i] : perp_random_uniform(&random, 0.0, 10.0);
        }
        const perp_mcp_newton_info info = solve_nonlinear(&p, start, z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_true(which_solution(z) >= 0);
        found[which_solution(z)]++;
    }
    assert_true(found[0] > 0 && found[1] > 0);
}

static void josephy_from_all_starts(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = josephy();
    for (int k = 0; k < QUADRATIC_STARTS; k++) {
        double z[4];
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, quadratic_starts[k], z));
        assert_true(near(4, z, kojima_solutions[0], 1e-7));
    }
}

/* From 0, the standard start, the merit falls only into a minimum that is no solution, and the linearised problem has
 * no solution either. */
static void billups_from_everywhere(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = billups();
    for (int k = 0; k <= 40; k++) {
        const double start = 0.1 * k;
        double z;
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, &start, &z));
        ASSERT_NEAR(z, 1.0 + sqrt(1.01), 1e-8); /* F' = 2 there */
    }
}

/* ---- Nash -------------------------------------------------------------------------------------------------------- */

static double profit(const nash *d, const double *q, int i, double own)
{
    double total = own;
    for (int j = 0; j < d->n; j++) {
        total += j == i ? 0.0 : q[j];
    }
    const double power = 1.0 + 1.0 / d->beta[i];
    return own * pow(5000.0 / total, 1.0 / d->gamma) - d->c[i] * own -
           pow(d->k[i], 1.0 / d->beta[i]) * pow(own, power) / power;
}

/* An equilibrium: no firm gains by producing more or less. Profits are near 500; 1e-9 is their rounding, and what q off
 * by 1e-8 loses is far less, since they are flat at their tops. */
static void assert_equilibrium(const nash *d, const double *q)
{
    for (int i = 0; i < d->n; i++) {
        const double best = profit(d, q, i, q[i]);
        for (int k = 1; k <= 40; k++) {
            const double other = q[i] * 0.05 * k;
            assert_true(profit(d, q, i, other) <= best + 1e-9 * (1.0 + fabs(best)));
        }
    }
}

/* The starts of MCPLIB's nash; the five firms take the first entries. Murphy, Sherali and Soyster give the five. */
static void nash_equilibria(void **state)
{
    (void)state;
    static const double starts[4][10] = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                         {10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
                                         {1.0, 1.2, 1.4, 1.6, 1.8, 2.1, 2.3, 2.5, 2.7, 2.9},
                                         {7, 4, 3, 1, 18, 4, 1, 6, 3, 2}};
    static const double published[5] = {36.933, 41.818, 43.707, 42.659, 39.179};
    const nash *const both[2] = {&nash_5, &nash_10};
    for (int k = 0; k < 8; k++) {
        const nash *d = both[k % 2];
        const perp_nonlinear_mcp p = nash_problem(d);
        double q[10];
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, starts[k / 2], q));
        assert_equilibrium(d, q);
        for (int i = 0; d == &nash_5 && i < 5; i++) {
            ASSERT_NEAR(q[i], published[i], 1e-3); /* printed to three places, some cut */
        }
    }
    const perp_nonlinear_mcp p = nash_problem(&nash_10); /* from 0, where F is not defined */
    double q[10];
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, NULL, q));
    assert_equilibrium(&nash_10, q);
}

/* ---- bimatrix games ---------------------------------------------------------------------------------------------- */

/* Costs A, B > 0: x and y solve 0 <= A y - e _|_ x >= 0, 0 <= B'x - e _|_ y >= 0. */
static case_of random_game(uint64_t seed, int rows, int columns)
{
    perp_random random = {seed};
    const int n = rows + columns;
    case_of c = new_case(n);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            c.m[i * n + rows + j] = perp_random_uniform(&random, 1.0, 2.0);
            c.m[(rows + j) * n + i] = perp_random_uniform(&random, 1.0, 2.0);
        }
    }
    for (int i = 0; i < n; i++) {
        c.q[i] = -1.0;
    }
    return c;
}

static void games_have_their_equilibria(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++) {
        case_of c = k == 0 ? bimatrix() : random_game((uint64_t)k, 2 + k % 9, 2 + k % 7);
        const perp_nonlinear_mcp p = linear_problem(&c);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, NULL, c.z));
        assert_true(judge(&c, c.z) <= 1e-8);
        free_case(&c);
    }
}

/* Meeting at one of three places costs both players less: three pure equilibria and some mixed ones. */
static case_of meeting_game(uint64_t seed)
{
    case_of c = random_game(seed, 3, 3);
    for (int i = 0; i < 3; i++) {
        c.m[i * 6 + 3 + i] -= 0.9;
        c.m[(3 + i) * 6 + i] -= 0.9;
    }
    return c;
}

/* Games with isolated equilibria, which the enumeration lists: from many starts every one is found, and nothing else.
 */
static void all_equilibria_of_small_games(void **state)
{
    (void)state;
    int several = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        case_of c = meeting_game(seed);
        const perp_nonlinear_mcp p = linear_problem(&c);
        const perp_lcp lcp = lcp_of(&c);
        perp_lcp_solution_set *set;
        bool found[16] = {false};
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_enumerate(&lcp, NULL, NULL, &set, NULL));
        assert_true(set->complete && set->face_count >= 1 && set->face_count <= 16);
        several += set->face_count > 1;
        perp_random random = {seed};
        for (int k = 0; k < 200; k++) {
            double start[6];
            bool known = false;
            for (int i = 0; i < 6; i++) {
                start[i] = perp_random_uniform(&random, -1.0, 1.0); /* half of them at the bound */
            }
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve_nonlinear(&p, start, c.z));
            for (int s = 0; s < set->face_count; s++) {
                const bool this_one = near(6, c.z, set->faces[s].vertices, 1e-5); /* conditions up to 1e3 */
                found[s] = found[s] || this_one;
                known = known || this_one;
            }
            assert_true(known);
        }
        for (int s = 0; s < set->face_count; s++) {
            assert_true(found[s]);
        }
        perp_lcp_solution_set_free(set);
        free_case(&c);
    }
    assert_true(several >= 15);
}

/* ---- one method alone -------------------------------------------------------------------------------------------- */

static void methods_by_name(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = josephy();
    assert_int_equal(perp_mcp_newton_method_count(), 4);
    assert_null(perp_mcp_newton_method_name(-1));
    assert_null(perp_mcp_newton_method_summary(4));
    for (int k = 0; k < 4; k++) {
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.method = perp_mcp_newton_method_name(k);
        settings.start = quadratic_starts[6];
        double z[4];
        const perp_mcp_newton_info info = solve_nonlinear_by(&p, &settings, NULL, z);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_int_equal(info.tried_count, 1);
        assert_string_equal(info.method, settings.method);
        assert_string_equal(info.tried[0], settings.method);
        assert_true(strlen(perp_mcp_newton_method_summary(k)) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kojima_and_shindo),
        cmocka_unit_test(josephy_from_all_starts),
        cmocka_unit_test(billups_from_everywhere),
        cmocka_unit_test(nash_equilibria),
        cmocka_unit_test(games_have_their_equilibria),
        cmocka_unit_test(all_equilibria_of_small_games),
        cmocka_unit_test(methods_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
