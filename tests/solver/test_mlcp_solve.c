#include "lcp_test.h"

static perp_lcp_info solve(case_of *c)
{
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_mlcp problem = mlcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_solve(&problem, NULL, workspace, &solution, &info, NULL));
    perp_lcp_workspace_free(workspace);
    const double residual = judge(c, c->z);
    if (info.outcome == PERP_OUTCOME_SOLVED) {
        assert_true(residual <= 1e-8);
    } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_proof(c);
    }
    return info;
}

/* A A' of the given rank plus a skew part: semidefinite, or definite with `shift`. */
static case_of monotone(perp_random *random, int n, int rank, double shift, bool integers)
{
    case_of c = new_case(n);
    double *a = calloc((size_t)(n * n), sizeof(double));
    assert_non_null(a);
    for (int i = 0; i < n * n; i++) {
        a[i] = integers ? floor(perp_random_uniform(random, -3.0, 4.0)) : perp_random_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < n; i++) {
        c.q[i] = integers ? floor(perp_random_uniform(random, -3.0, 4.0)) : perp_random_uniform(random, -1.0, 1.0);
        for (int j = 0; j < n; j++) {
            c.m[i * n + j] = i == j ? shift : (i < j ? a[i * n + j] : -a[j * n + i]);
            for (int k = 0; k < rank; k++) {
                c.m[i * n + j] += a[i * n + k] * a[j * n + k];
            }
        }
    }
    free(a);
    return c;
}

enum { SIZE = 14 };

/* [M q] with the free variables eliminated from all other rows: the constrained ones are an lcp. */
static void eliminate_free(const case_of *c, double a[SIZE][SIZE + 1])
{
    for (int i = 0; i < SIZE; i++) {
        memcpy(a[i], c->m + i * SIZE, SIZE * sizeof(double));
        a[i][SIZE] = c->q[i];
    }
    for (int i = 0; i < SIZE; i++) {
        for (int k = 0; c->free[i] && k < SIZE; k++) {
            const double factor = k == i ? 0.0 : a[k][i] / a[i][i]; /* definite: no pivot is 0 */
            for (int j = 0; j <= SIZE; j++) {
                a[k][j] -= factor * a[i][j];
            }
        }
    }
}

/* Definite: one solution, by the solver and by eliminating the free variables first. */
static void equals_the_reduction(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        perp_random random = {seed};
        case_of c = monotone(&random, SIZE, SIZE, 0.1, false);
        for (int i = 0; i < SIZE; i++) {
            c.free[i] = perp_random_uniform(&random, 0.0, 1.0) < 0.4;
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        double a[SIZE][SIZE + 1];
        int kept[SIZE], count = 0;
        eliminate_free(&c, a);
        for (int i = 0; i < SIZE; i++) {
            kept[count] = i;
            count += !c.free[i];
        }
        case_of r = new_case(count);
        for (int i = 0; i < count; i++) {
            r.q[i] = a[kept[i]][SIZE];
            for (int j = 0; j < count; j++) {
                r.m[i * count + j] = a[kept[i]][kept[j]];
            }
        }
        const perp_lcp lcp = lcp_of(&r);
        perp_lcp_workspace *workspace = new_workspace(r.n);
        perp_lcp_solution solution = solution_of(&r);
        perp_lcp_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&lcp, NULL, workspace, &solution, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        for (int i = 0, at = 0; i < SIZE; i++) { /* both refined to rounding; conditions are below 1e4 */
            double z = -a[i][SIZE];
            for (int j = 0; j < count; j++) {
                z -= a[i][kept[j]] * r.z[j];
            }
            z = c.free[i] ? z / a[i][i] : r.z[at++];
            ASSERT_NEAR(z, c.z[i], 1e-9 * (1.0 + fabs(z)));
        }
        perp_lcp_workspace_free(workspace);
        free_case(&r);
        free_case(&c);
    }
}

/* All free: a system of linear equations. */
static void all_free_is_a_linear_system(void **state)
{
    (void)state;
    case_of c = new_case(3); /* a cyclic shift: regular without a single regular 1 x 1 or 2 x 2 principal block */
    c.m[1] = 2.0;
    c.m[5] = 4.0;
    c.m[6] = 8.0;
    for (int i = 0; i < 3; i++) {
        c.free[i] = true;
        c.q[i] = -8.0;
    }
    const perp_lcp_info info = solve(&c);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    assert_int_equal(info.pivots, 0);
    const double known[3] = {1.0, 4.0, 2.0};
    for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(c.z[i], known[i], 0.0);
        ASSERT_NEAR(c.w[i], 0.0, 0.0);
    }
    free_case(&c);
}

/* A mechanism with redundant loop closures: equations G x = g of which the last is a combination of the others, in the
 * form M = [G; N] A [G; N]', all semidefinite. Consistent ones are solved; a contradiction is named. */
static void redundant_equations(void **state)
{
    (void)state;
    enum { N = 12, EQUATIONS = 5, DOF = 20 };
    for (uint64_t seed = 0; seed < 60; seed++) {
        perp_random random = {seed};
        case_of c = new_case(N);
        double j[N * DOF], v[DOF];
        for (int k = 0; k < N * DOF; k++) {
            j[k] = perp_random_uniform(&random, -1.0, 1.0);
        }
        for (int k = 0; k < DOF; k++) {
            v[k] = perp_random_uniform(&random, -1.0, 1.0);
            j[3 * DOF + k] = j[0 * DOF + k] - 2.0 * j[1 * DOF + k]; /* equation 3 follows from 0 and 1 */
            j[4 * DOF + k] = j[2 * DOF + k];                        /* 4 repeats 2 */
        }
        for (int a = 0; a < N; a++) {
            c.free[a] = a < EQUATIONS;
            for (int k = 0; k < DOF; k++) {
                c.q[a] += j[a * DOF + k] * v[k];
                for (int b = 0; b < N; b++) {
                    c.m[a * N + b] += j[a * DOF + k] * j[b * DOF + k];
                }
            }
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        c.q[4] += 0.01; /* the repeated equation asks for something else */
        ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, solve(&c));
        assert_true(fabs(c.ray[4]) > 0.0); /* the proof: 4 less 2 */
        for (int a = 0; a < N; a++) {
            ASSERT_NEAR(c.ray[a], a == 4 ? c.ray[4] : (a == 2 ? -c.ray[4] : 0.0), 0.0);
            ASSERT_NEAR(c.ray[N + a], 0.0, 0.0);
        }
        free_case(&c);
    }
}

/* min c'x, A x = b, x >= 0 by its optimality conditions: M = [0 -A'; A 0], the multipliers free. The free block is
 * zero: the equations must be given to constrained variables. min x1 + 2 x2 + 3 x3 with x1 + x2 + x3 = 4, x2 + 2 x3 = 5
 * has the vertex x = (1.5, 0, 2.5): reduced cost of x2: y = (1, 1), 2 - 1 - 1 = 0, so every mixture with x = (0, 3, 1)
 * is optimal too; with cost 2.5 for x2 the vertex is alone. */
static void linear_programme(void **state)
{
    (void)state;
    const double cost[3] = {1.0, 2.5, 3.0}, a[2][3] = {{1, 1, 1}, {0, 1, 2}}, b[2] = {4.0, 5.0};
    for (int repeated = 0; repeated < 2; repeated++) { /* with the second equation written twice */
        case_of c = new_case(5 + repeated);
        const int n = c.n;
        for (int i = 0; i < 3; i++) {
            c.q[i] = cost[i];
            for (int k = 0; k < n - 3; k++) {
                c.m[i * n + 3 + k] = -a[k > 0][i];
                c.m[(3 + k) * n + i] = a[k > 0][i];
            }
        }
        for (int k = 0; k < n - 3; k++) {
            c.q[3 + k] = -b[k > 0];
            c.free[3 + k] = true;
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        ASSERT_NEAR(c.z[0], 1.5, 1e-14);
        ASSERT_NEAR(c.z[1], 0.0, 0.0);
        ASSERT_NEAR(c.z[2], 2.5, 1e-14);
        ASSERT_NEAR(c.z[3], 1.0, 1e-14);
        ASSERT_NEAR(c.z[4] + (repeated ? c.z[5] : 0.0), 1.0, 1e-14);
        free_case(&c);
    }
}

/* An infeasible programme (x >= 0 with x1 + x2 = -1) and an unbounded one (min -x1 with x1 - x2 = 0): no solution. */
static void linear_programmes_without_answer(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        case_of c = new_case(3);
        const double a[2] = {1.0, k ? -1.0 : 1.0};
        for (int i = 0; i < 2; i++) {
            c.m[i * 3 + 2] = -a[i];
            c.m[6 + i] = a[i];
        }
        c.q[0] = k ? -1.0 : 1.0;
        c.q[2] = k ? 0.0 : 1.0;
        c.free[2] = true;
        const perp_lcp_info info = solve(&c);
        assert_true(info.outcome == PERP_OUTCOME_INFEASIBLE || info.outcome == PERP_OUTCOME_RAY);
        free_case(&c);
    }
}

/* A regular system is one, however near a singular one. */
static void nearly_singular_is_not_infeasible(void **state)
{
    (void)state;
    case_of c = new_case(2);
    c.m[0] = c.m[1] = c.m[2] = 1.0;
    c.m[3] = 1.0 + ldexp(1.0, -36);
    c.q[0] = -1.0;
    c.q[1] = -1.00001;
    c.free[0] = c.free[1] = true;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
    free_case(&c);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        perp_random random = {seed};
        const int n = 2 + (int)(seed % 7), k = 20 + (int)(seed % 25);
        double z[8];
        c = nearly_singular(&random, n, k, true, z);
        for (int i = 0; i < n; i++) { /* what is negative must be free */
            c.free[i] = z[i] < 0.0 || seed % 3 == 0 || perp_random_uniform(&random, 0.0, 1.0) < 0.5;
        }
        assert_true(judge(&c, z) <= 1e-11); /* the known solution is one: 2^25 terms in long double */
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        free_case(&c);
    }
}

/* How far c.ray, cut to the signs allowed, is from a proof that there is no point: the largest entry of M'u that is not
 * allowed, of the size of its terms, where also q'u < 0. */
static double distance_from_proof(const case_of *c)
{
    const double *u = c->ray;
    long double constant = 0.0L, worst = 0.0L;
    for (int j = 0; j < c->n; j++) {
        long double sum = 0.0L, size = 0.0L;
        for (int i = 0; i < c->n; i++) {
            sum += (long double)c->m[i * c->n + j] * u[i];
            size += fabsl((long double)c->m[i * c->n + j] * u[i]);
        }
        sum = c->free[j] ? fabsl(sum) : sum;
        worst = sum > worst * size ? sum / size : worst;
        constant += (long double)c->q[j] * u[j];
        assert_true(c->free[j] || u[j] >= 0.0);
    }
    assert_true(constant < 0.0L);
    return (double)worst;
}

/* Semidefinite, of integers: solved or proven to have no point at all, nothing in between. */
static void monotone_problems_are_decided(void **state)
{
    (void)state;
    int solved = 0, infeasible = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 17);
        case_of c = monotone(&random, n, (int)perp_random_uniform(&random, 0.0, n), 0.0, true);
        for (int i = 0; i < n; i++) {
            c.free[i] = perp_random_uniform(&random, 0.0, 1.0) < 0.3;
        }
        const perp_lcp_info info = solve(&c);
        solved += info.outcome == PERP_OUTCOME_SOLVED ? 1 : 0;
        infeasible += info.outcome == PERP_OUTCOME_INFEASIBLE ? 1 : 0;
        free_case(&c);
    }
    assert_int_equal(solved + infeasible, 400);
    assert_true(solved > 300 && infeasible > 0);
}

/* The same with rounded numbers. M is then semidefinite only to rounding, and where the exact one has no point the one
 * given may have a far one: a ray that is a proof to rounding is all that can be said, unless the proof holds as it is.
 */
static void rounded_monotone_problems_end_on_near_proofs(void **state)
{
    (void)state;
    int solved = 0, infeasible = 0, rays = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 17);
        case_of c = monotone(&random, n, (int)perp_random_uniform(&random, 0.0, n), 0.0, false);
        for (int i = 0; i < n; i++) {
            c.free[i] = perp_random_uniform(&random, 0.0, 1.0) < 0.3;
        }
        const perp_lcp_info info = solve(&c);
        solved += info.outcome == PERP_OUTCOME_SOLVED ? 1 : 0;
        if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
            infeasible++;
        } else if (info.outcome == PERP_OUTCOME_RAY) {
            rays++;
            for (int i = 0; i < n; i++) {
                c.ray[i] = c.free[i] ? c.ray[i] : fmax(c.ray[i], 0.0);
            }
            ASSERT_NEAR(distance_from_proof(&c), 0.0, 1e-12); /* rounding, with conditions below 1e4 */
        }
        free_case(&c);
    }
    assert_int_equal(solved + infeasible + rays, 400);
    assert_true(solved > 300 && infeasible > 0 && rays > 0);
    print_message("solved %d, infeasible %d, rays %d\n", solved, infeasible, rays);
}

static void none_free_is_an_lcp(void **state)
{
    (void)state;
    case_of c = contact_lcp(5, 60, true), d = contact_lcp(5, 60, true);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
    const perp_lcp problem = lcp_of(&d);
    perp_lcp_workspace *workspace = new_workspace(d.n);
    perp_lcp_solution solution = solution_of(&d);
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, NULL, workspace, &solution, &info, NULL));
    assert_memory_equal(c.z, d.z, (size_t)c.n * sizeof(double));
    perp_lcp_workspace_free(workspace);
    free_case(&c);
    free_case(&d);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    case_of c = murty(3);
    perp_lcp_workspace *workspace = new_workspace(3);
    perp_lcp_solution solution = solution_of(&c);
    perp_lcp_info info;
    perp_error error;
    perp_mlcp problem = mlcp_of(&c);
    problem.free = NULL;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mlcp_solve(&problem, NULL, workspace, &solution, &info, &error));
    problem = mlcp_of(&c);
    c.m[4] = NAN;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mlcp_solve(&problem, NULL, workspace, &solution, &info, &error));
    assert_string_equal(error.message, "entry (1, 1) of M is nan");
    problem.n = 0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_solve(&problem, NULL, workspace, &solution, &info, &error));
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    perp_lcp_workspace_free(workspace);
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reduction),
        cmocka_unit_test(all_free_is_a_linear_system),
        cmocka_unit_test(redundant_equations),
        cmocka_unit_test(linear_programme),
        cmocka_unit_test(linear_programmes_without_answer),
        cmocka_unit_test(nearly_singular_is_not_infeasible),
        cmocka_unit_test(monotone_problems_are_decided),
        cmocka_unit_test(rounded_monotone_problems_end_on_near_proofs),
        cmocka_unit_test(none_free_is_an_lcp),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
