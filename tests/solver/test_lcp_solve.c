#include "lcp_test.h"

#include "solver/lcp_core.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

static perp_lcp_info solve(case_of *c, const char *method, perp_lcp_workspace *workspace)
{
    const perp_lcp problem = lcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.method = method;
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, &settings, workspace, &solution, &info, NULL));
    const double residual = judge(c, c->z);
    if (info.outcome == PERP_OUTCOME_SOLVED) {
        assert_true(residual <= 1e-8);
    } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_proof(c);
    }
    /* Both are the same number but for the rounding of n products of entries up to 1e6 or so, over 1 + max |q|. */
    if (isfinite(info.residual)) {
        ASSERT_NEAR(info.residual, residual, 1e-9 + 1e-6 * residual);
    }
    return info;
}

/* ---- contact problems ---------------------------------------------------------------------------------------------
 */

static void solve_sizes(bool proven, int *solved, int *typed)
{
    static const struct {
        int size, count;
    } sets[] = {{24, 300}, {48, 150}, {100, 60}, {200, 15}, {400, 3}};
    perp_lcp_workspace *workspace = new_workspace(400);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        for (int seed = 0; seed < sets[k].count; seed++) {
            case_of c = contact_lcp((uint64_t)seed + 1000 * k, sets[k].size, proven);
            const perp_lcp_info info = solve(&c, NULL, workspace);
            *solved += info.outcome == PERP_OUTCOME_SOLVED ? 1 : 0;
            *typed += info.outcome == PERP_OUTCOME_RAY || info.outcome == PERP_OUTCOME_INFEASIBLE ? 1 : 0;
            if (proven) {
                ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            }
            free_case(&c);
        }
    }
    perp_lcp_workspace_free(workspace);
}

static void provably_solvable_contacts_are_solved(void **state)
{
    (void)state;
    int solved = 0, typed = 0;
    solve_sizes(true, &solved, &typed);
    assert_int_equal(solved, 528);
}

/* Without proof: solved, or a ray, and never neither. That there are rays shows that the set is the harder one. */
static void other_contacts_are_solved_or_typed(void **state)
{
    (void)state;
    int solved = 0, typed = 0;
    solve_sizes(false, &solved, &typed);
    assert_int_equal(solved + typed, 528);
    assert_true(solved > 450 && typed > 0);
}

/* ---- rungs --------------------------------------------------------------------------------------------------------
 */

static void bimatrix_game_is_solved_in_the_end(void **state)
{
    (void)state;
    case_of c = bimatrix();
    perp_lcp_workspace *workspace = new_workspace(4);
    const perp_lcp_info info = solve(&c, NULL, workspace);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_string_equal(info.method, "lemke-restarted"); /* no covering vector helps here, another start does */
    assert_string_equal(info.tried[0], "lemke");
    assert_string_equal(info.tried[info.tried_count - 1], info.method);
    const double known[4] = {1.0 / 90.0, 2.0 / 45.0, 1.0 / 90.0, 2.0 / 45.0};
    for (int i = 0; i < 4; i++) {
        ASSERT_NEAR(c.z[i], known[i], 1e-16);
    }
    perp_lcp_workspace_free(workspace);
    free_case(&c);
}

static void murty_and_fathi_are_solved(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(12);
    for (int n = 1; n <= 12; n++) {
        case_of cases[2] = {murty(n), fathi(n)};
        for (int k = 0; k < 2; k++) {
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&cases[k], NULL, workspace));
            ASSERT_NEAR(cases[k].z[0], 1.0, 1e-12);
            free_case(&cases[k]);
        }
    }
    perp_lcp_workspace_free(workspace);
}

/* Symmetric part definite: one solution, so every method must give it. The smallest eigenvalue is >= 0.1, so a residual
 * of 1e-8 (1 + |q|) puts z within about sqrt(n) (1 + |M|) 1e-8 / 0.1 of it. */
static void every_method_gives_the_one_solution(void **state)
{
    (void)state;
    enum { N = 12 };
    perp_lcp_workspace *workspace = new_workspace(N);
    for (uint64_t seed = 0; seed < 50; seed++) {
        perp_random random = {seed};
        case_of c = new_case(N);
        double a[N * N], first[N];
        for (int i = 0; i < N * N; i++) {
            a[i] = perp_random_uniform(&random, -1.0, 1.0);
        }
        for (int i = 0; i < N; i++) {
            c.q[i] = perp_random_uniform(&random, -1.0, 1.0);
            for (int j = 0; j < N; j++) {
                c.m[i * N + j] = (i == j ? 0.1 : 0.0) + (i < j ? a[i * N + j] : (i > j ? -a[j * N + i] : 0.0));
                for (int k = 0; k < N; k++) {
                    c.m[i * N + j] += a[i * N + k] * a[j * N + k];
                }
            }
        }
        for (int k = 0; k < perp_lcp_method_count(); k++) {
            const perp_lcp_info info = solve(&c, perp_lcp_method_name(k), workspace);
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
            assert_string_equal(info.method, perp_lcp_method_name(k));
            assert_int_equal(info.tried_count, 1);
            for (int i = 0; i < N; i++) {
                first[i] = k == 0 ? c.z[i] : first[i];
                ASSERT_NEAR(c.z[i], first[i], 1e-5);
            }
        }
        free_case(&c);
    }
    perp_lcp_workspace_free(workspace);
}

/* Definite, so there is a solution, and a ray met through rounding is no proof that there is none. */
static void nearly_singular_is_not_infeasible(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(8);
    case_of c = new_case(2);
    c.m[0] = c.q[1] = 1.0;
    c.m[1] = c.m[2] = c.q[0] = -1.0;
    c.m[3] = 1.0 + ldexp(1.0, -44);
    c.q[1] -= 1e-7;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c, NULL, workspace));
    free_case(&c);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        perp_random random = {seed};
        const int n = 2 + (int)(seed % 7), k = 20 + (int)(seed % 25);
        double z[8];
        c = nearly_singular(&random, n, k, false, z);
        assert_true(judge(&c, z) <= 1e-11); /* the known solution is one: 2^25 terms in long double */
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c, NULL, workspace));
        free_case(&c);
    }
    perp_lcp_workspace_free(workspace);
}

static void no_solution_stays_unsolved(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(2);
    case_of c = new_case(1);
    c.m[0] = c.q[0] = -1.0;
    perp_lcp_info info = solve(&c, NULL, workspace);
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
    assert_int_equal(info.tried_count, 1); /* proven: nothing further to try */
    free_case(&c);
    /* Feasible without a solution: w_1 = z_2 - 1 needs z_2 >= 1, so w_2 must be 0, and it is 1. */
    c = new_case(2);
    c.m[1] = 1.0;
    c.q[0] = -1.0;
    c.q[1] = 1.0;
    info = solve(&c, NULL, workspace);
    ASSERT_OUTCOME(PERP_OUTCOME_RAY, info);
    assert_int_equal(info.tried_count, perp_lcp_method_count());
    free_case(&c);
    perp_lcp_workspace_free(workspace);
}

/* Positive payoffs, sizes 4 to 40: all have an equilibrium (Nash), and Lemke's path from w = q finds none of them. */
static void games_have_equilibria(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(40);
    for (int half = 2; half <= 20; half += 3) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            perp_random random = {seed};
            const int n = 2 * half;
            case_of c = new_case(n);
            for (int i = 0; i < half; i++) {
                c.q[i] = c.q[half + i] = -1.0;
                for (int j = 0; j < half; j++) {
                    c.m[i * n + half + j] = perp_random_uniform(&random, 1.0, 30.0);
                    c.m[(half + j) * n + i] = perp_random_uniform(&random, 1.0, 30.0);
                }
            }
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c, NULL, workspace));
            free_case(&c);
        }
    }
    perp_lcp_workspace_free(workspace);
}

/* Zeros, units, and powers of ten from the smallest double to the largest. */
static double extreme(perp_random *random)
{
    static const double sizes[] = {0.0, 0.0, 1.0, 1.0, 1e-300, 5e-324, 1e300, 1.7e308, 1e12, 1e-12};
    const uint64_t bits = perp_random_bits(random);
    return (bits & 1 ? -1.0 : 1.0) * sizes[(bits >> 8) % 10];
}

/* Whatever comes in: solved is true, an answer is finite and within its bounds, and nothing is left out of the info. */
static void extreme_entries_never_lie(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(8);
    int solved = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        perp_random random = {seed};
        case_of c = new_case((int)(seed % 9));
        for (int i = 0; i < c.n * c.n; i++) {
            c.m[i] = extreme(&random);
        }
        for (int i = 0; i < c.n; i++) {
            c.q[i] = extreme(&random);
        }
        const perp_lcp problem = lcp_of(&c);
        perp_lcp_solution solution = solution_of(&c);
        perp_lcp_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, NULL, workspace, &solution, &info, NULL));
        assert_true((unsigned)info.outcome < PERP_OUTCOME_COUNT && info.tried_count > 0 && info.method);
        for (int i = 0; i < c.n; i++) {
            assert_true(c.z[i] >= 0.0 && c.z[i] < INFINITY);
        }
        if (info.outcome == PERP_OUTCOME_SOLVED) {
            assert_true(judge(&c, c.z) <= 1e-8);
            solved++;
        } else {
            assert_true(info.residual > 1e-8);
        }
        if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
            assert_proof(&c);
        }
        free_case(&c);
    }
    assert_true(solved > 1000); /* most, in fact */
    perp_lcp_workspace_free(workspace);
}

static void methods_have_names(void **state)
{
    (void)state;
    assert_true(perp_lcp_method_count() >= 4);
    for (int k = 0; k < perp_lcp_method_count(); k++) {
        assert_true(strlen(perp_lcp_method_name(k)) > 0 && strlen(perp_lcp_method_summary(k)) > 0);
    }
    assert_null(perp_lcp_method_name(-1));
    assert_null(perp_lcp_method_summary(perp_lcp_method_count()));
    case_of c = murty(2);
    const perp_lcp problem = lcp_of(&c);
    perp_lcp_solution solution = solution_of(&c);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.method = "lemke-covring";
    perp_lcp_info info;
    perp_error error;
    perp_lcp_workspace *workspace = new_workspace(2);
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_solve(&problem, &settings, workspace, &solution, &info, &error));
    assert_non_null(strstr(error.message, "'lemke-covering'"));
    perp_lcp_workspace_free(workspace);
    free_case(&c);
}

static void outcomes_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"solved",          "ray",      "infeasible", "unbounded", "iteration-limit",
                                        "ill-conditioned", "cancelled"};
    for (int k = 0; k < PERP_OUTCOME_COUNT; k++) {
        assert_string_equal(perp_outcome_name((perp_outcome)k), names[k]);
    }
}

static void cancel_ends_the_cascade(void **state)
{
    (void)state;
    case_of c = contact_lcp(3, 60, true);
    perp_lcp_workspace *workspace = new_workspace(c.n);
    const perp_lcp problem = lcp_of(&c);
    perp_lcp_solution solution = solution_of(&c);
    volatile bool cancel = true;
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.cancel = &cancel;
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, &settings, workspace, &solution, &info, NULL));
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_int_equal(info.tried_count, 1);
    assert_true(info.pivots <= 1);
    perp_lcp_workspace_free(workspace);
    free_case(&c);
}

/* The flag is a byte of the workspace's own count of pivots: it goes up, as a true, with the 256th pivot. */
static const volatile bool *flag_of_pivot_256(const perp_lcp_workspace *workspace)
{
    const int value = 256;
    const unsigned char *bytes = (const unsigned char *)&value;
    size_t k = 0;
    while (bytes[k] != 1) {
        k++;
    }
    return (const volatile bool *)((const unsigned char *)&workspace->pivot_count + k);
}

/* No pivot is made after the flag went up in the middle of a path of 2048 or 4096. */
static void cancel_is_seen_before_the_next_pivot(void **state)
{
    (void)state;
    enum { N = 12 };
    double ones[N];
    case_of cases[2] = {murty(N), murty(N - 1)};
    perp_lcp_workspace *workspace = new_workspace(N);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.covering = ones;
    for (int i = 0; i < N; i++) {
        ones[i] = 1.0;
    }
    for (int k = 0; k < 4; k++) {
        case_of *c = &cases[k % 2];
        const perp_lcp problem = lcp_of(c);
        perp_lcp_solution solution = solution_of(c);
        perp_lcp_info info;
        settings.cancel = NULL;
        ASSERT_STATUS(PERP_STATUS_OK, lemke_alone(&problem, &settings, workspace, &solution, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_int_equal(info.pivots, 1 << c->n);
        settings.cancel = flag_of_pivot_256(workspace);
        ASSERT_STATUS(PERP_STATUS_OK,
                      (k < 2 ? lemke_alone : perp_lcp_solve)(&problem, &settings, workspace, &solution, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
        assert_int_equal(info.pivots, 256);
        ASSERT_NEAR(info.residual, judge(c, c->z), 1e-12);
        assert_true(info.residual > 1e-8);
    }
    perp_lcp_workspace_free(workspace);
    free_case(&cases[0]);
    free_case(&cases[1]);
}

static volatile bool alarm_flag;
static volatile double alarm_time; /* when it went up */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void raise_flag(int number)
{
    (void)number;
    alarm_time = cpu_seconds();
    alarm_flag = true;
}

/* Starts a solver of the case, and the flag `after` seconds of its work (0: never); returns the seconds it took. */
static double solve_with_alarm(case_of *c, const perp_lcp_settings *settings, double after, perp_lcp_info *info)
{
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_mlcp problem = mlcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    const struct sigaction action = {.sa_handler = raise_flag}, no_action = {.sa_handler = SIG_IGN};
    const struct timeval delay = {(time_t)after, (suseconds_t)(1e6 * (after - floor(after)))}, never = {0, 0};
    const struct itimerval timer = {never, delay}, none = {never, never};
    perp_lcp_settings own = *settings;
    alarm_flag = false;
    own.cancel = &alarm_flag;
    assert_int_equal(0, sigaction(SIGPROF, &action, NULL));
    assert_int_equal(0, setitimer(ITIMER_PROF, &timer, NULL));
    const double start = cpu_seconds();
    ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_solve(&problem, &own, workspace, &solution, info, NULL));
    const double end = cpu_seconds();
    assert_int_equal(0, setitimer(ITIMER_PROF, &none, NULL));
    assert_int_equal(0, sigaction(SIGPROF, &no_action, NULL));
    perp_lcp_workspace_free(workspace);
    return after > 0.0 && alarm_flag ? end - alarm_time : end - start;
}

/* A signal raises the flag in the middle of a path of 2^18 pivots. */
static void cancel_from_outside(void **state)
{
    (void)state;
    enum { N = 18, ALL = 1 << N };
    double ones[N];
    case_of c = murty(N);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.covering = ones;
    settings.max_pivots = 2 * ALL;
    settings.method = "lemke";
    for (int i = 0; i < N; i++) {
        ones[i] = 1.0;
    }
    perp_lcp_info info;
    const double whole = solve_with_alarm(&c, &settings, 0.0, &info);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_int_equal(info.pivots, ALL);
    const double late = solve_with_alarm(&c, &settings, 0.25 * whole, &info);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_true(info.pivots > 0 && info.pivots < 3 * (ALL / 4));
    assert_true(late < 2000.0 * whole / ALL); /* the time of 2000 pivots: far above what clocks err by */
    print_message("stopped after %d of %d pivots, within %.1f pivots of the flag\n", info.pivots, ALL,
                  late * ALL / whole);
    free_case(&c);
}

/* Equations alone, of half the rank: eliminating them is one step before the first pivot, and can be interrupted. */
static void cancel_during_elimination(void **state)
{
    (void)state;
    enum { N = 600, RANK = 300 };
    perp_random random = {1};
    case_of c = new_case(N);
    for (int i = 0; i < N; i++) {
        c.free[i] = true;
        for (int j = 0; j < RANK; j++) { /* the second half of the columns repeats the first */
            c.m[i * N + j] = c.m[i * N + RANK + j] = floor(perp_random_uniform(&random, -8.0, 9.0));
        }
        c.q[i] = -2.0 * c.m[i * N];
    }
    perp_lcp_info info;
    const perp_lcp_settings settings = perp_lcp_settings_default();
    const double whole = solve_with_alarm(&c, &settings, 0.0, &info);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    const double late = solve_with_alarm(&c, &settings, 0.25 * whole, &info);
    print_message("elimination takes %.3f s, stopped %.4f s after the flag\n", whole, late);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_int_equal(info.pivots, 0);
    assert_true(late < 0.25 * whole);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provably_solvable_contacts_are_solved),
        cmocka_unit_test(other_contacts_are_solved_or_typed),
        cmocka_unit_test(bimatrix_game_is_solved_in_the_end),
        cmocka_unit_test(games_have_equilibria),
        cmocka_unit_test(murty_and_fathi_are_solved),
        cmocka_unit_test(every_method_gives_the_one_solution),
        cmocka_unit_test(nearly_singular_is_not_infeasible),
        cmocka_unit_test(no_solution_stays_unsolved),
        cmocka_unit_test(extreme_entries_never_lie),
        cmocka_unit_test(methods_have_names),
        cmocka_unit_test(outcomes_have_names),
        cmocka_unit_test(cancel_ends_the_cascade),
        cmocka_unit_test(cancel_is_seen_before_the_next_pivot),
        cmocka_unit_test(cancel_from_outside),
        cmocka_unit_test(cancel_during_elimination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
