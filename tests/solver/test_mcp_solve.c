#include "mcp_brute_force.h"

#include "farkas_check.h"

static perp_lcp_info solve_from(case_of *c, const int *warm)
{
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_mcp problem = mcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.warm_basis = warm;
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_solve(&problem, &settings, workspace, &solution, &info, NULL));
    perp_lcp_workspace_free(workspace);
    if (info.outcome == PERP_OUTCOME_SOLVED) {
        assert_true(judge(c, c->z) <= 1e-8);
    } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_proof(c);
    }
    for (int i = 0; i < c->n; i++) {
        assert_true(c->z[i] >= c->lower[i] && c->z[i] <= c->upper[i]);
    }
    return info;
}

static perp_lcp_info solve(case_of *c)
{
    return solve_from(c, NULL);
}

/* Random bounds of all kinds: none, one, two, two equal ones. */
static case_of boxed(perp_random *random, int n, int rank, double shift, bool integers)
{
    case_of c = new_case(n);
    double *a = calloc((size_t)(n * n), sizeof(double));
    assert_non_null(a);
    for (int i = 0; i < n * n; i++) {
        a[i] = perp_random_uniform(random, -3.0, 4.0);
        a[i] = integers ? floor(a[i]) : a[i];
    }
    for (int i = 0; i < n; i++) {
        c.q[i] = integers ? floor(perp_random_uniform(random, -3.0, 4.0)) : perp_random_uniform(random, -3.0, 3.0);
        for (int j = 0; j < n; j++) {
            c.m[i * n + j] = i == j ? shift : (i < j ? a[i * n + j] : -a[j * n + i]);
            for (int k = 0; k < rank; k++) {
                c.m[i * n + j] += a[i * n + k] * a[j * n + k];
            }
        }
        const double kind = perp_random_uniform(random, 0.0, 1.0);
        c.lower[i] = kind < 0.2 || kind > 0.8 ? -INFINITY : floor(perp_random_uniform(random, -3.0, 2.0));
        c.upper[i] = kind < 0.4 ? INFINITY : floor(perp_random_uniform(random, 2.0, 4.0));
        c.upper[i] = kind > 0.75 && kind <= 0.8 ? c.lower[i] : c.upper[i];
    }
    free(a);
    return c;
}

/* One unknown: q = -5, M = 1 wants z = 5. */
static void one_unknown(void **state)
{
    (void)state;
    static const struct {
        double lower, upper, z, w;
    } cases[] = {{0, 10, 5, 0},         {0, 3, 3, -2},        {7, 9, 7, 2},        {-INFINITY, INFINITY, 5, 0},
                 {-INFINITY, 2, 2, -3}, {-INFINITY, 8, 5, 0}, {4, INFINITY, 5, 0}, {6, 6, 6, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        case_of c = new_case(1);
        c.m[0] = 1.0;
        c.q[0] = -5.0;
        c.lower[0] = cases[k].lower;
        c.upper[0] = cases[k].upper;
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        ASSERT_NEAR(c.z[0], cases[k].z, 0.0);
        ASSERT_NEAR(c.w[0], cases[k].w, 0.0);
        free_case(&c);
    }
}

static double sign_of(const perp_mcp *p, int i)
{
    return !isfinite(p->lower[i]) && isfinite(p->upper[i]) ? -1.0 : 1.0;
}

static double origin_of(const perp_mcp *p, int i)
{
    return isfinite(p->lower[i]) ? p->lower[i] : isfinite(p->upper[i]) ? p->upper[i] : 0.0;
}

/* The mlcp with bounds moved to zero. A variable with two bounds has F = v - y, 0 <= v _|_ z - lower >= 0 and 0 <= y
 * _|_ upper - z >= 0, so y is a variable more, with the row upper - z. */
static case_of without_upper_bounds(const perp_mcp *p)
{
    int size = p->n;
    for (int i = 0; i < p->n; i++) {
        size += isfinite(p->lower[i]) && isfinite(p->upper[i]);
    }
    case_of r = new_case(size);
    for (int i = 0, next = p->n; i < p->n; i++) {
        double constant = p->q[i];
        for (int j = 0; j < p->n; j++) {
            r.m[i * size + j] = sign_of(p, i) * sign_of(p, j) * p->m[i * p->n + j];
            constant += p->m[i * p->n + j] * origin_of(p, j);
        }
        r.q[i] = sign_of(p, i) * constant;
        r.free[i] = !isfinite(p->lower[i]) && !isfinite(p->upper[i]);
        if (isfinite(p->lower[i]) && isfinite(p->upper[i])) {
            r.m[i * size + next] = 1.0;
            r.m[next * size + i] = -1.0;
            r.q[next++] = p->upper[i] - p->lower[i];
        }
    }
    return r;
}

/* Definite: one solution, by bounds in the pivoting and by the larger mlcp that has a variable more for every box. */
static void equals_the_reduction(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 12);
        case_of c = boxed(&random, n, n, 0.5, seed % 2 == 0);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        const perp_mcp problem = mcp_of(&c);
        case_of r = without_upper_bounds(&problem);
        const perp_mlcp mlcp = {r.n, r.m, r.q, r.free};
        perp_lcp_workspace *workspace = new_workspace(r.n);
        perp_lcp_solution solution = solution_of(&r);
        perp_lcp_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_mlcp_solve(&mlcp, NULL, workspace, &solution, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        for (int i = 0; i < n; i++) {
            const double z = origin_of(&problem, i) + sign_of(&problem, i) * r.z[i];
            ASSERT_NEAR(z, c.z[i], 1e-9 * (1.0 + fabs(z)));
        }
        perp_lcp_workspace_free(workspace);
        free_case(&r);
        free_case(&c);
    }
}

/* Semidefinite with integer data, so full of ties: solved, or proven to have no point. */
static void monotone_problems_are_decided(void **state)
{
    (void)state;
    int solved = 0, infeasible = 0;
    for (uint64_t seed = 0; seed < 600; seed++) {
        perp_random random = {seed};
        const int n = 1 + (int)(seed % 25);
        case_of c = boxed(&random, n, (int)perp_random_uniform(&random, 0.0, n), 0.0, true);
        const perp_lcp_info info = solve(&c);
        solved += info.outcome == PERP_OUTCOME_SOLVED ? 1 : 0;
        infeasible += info.outcome == PERP_OUTCOME_INFEASIBLE ? 1 : 0;
        free_case(&c);
    }
    assert_int_equal(solved + infeasible, 600);
    assert_true(solved > 500 && infeasible > 0);
}

/* The same case as an lcp or an mlcp, where it is one; else as an mcp. */
static perp_lcp_info solve_as(case_of *c, int kind)
{
    bool is_mlcp = true, is_lcp = true;
    for (int i = 0; i < c->n; i++) {
        const bool is_free = !isfinite(c->lower[i]) && !isfinite(c->upper[i]);
        is_mlcp = is_mlcp && !isfinite(c->upper[i]) && (is_free || c->lower[i] == 0.0);
        is_lcp = is_lcp && !is_free;
        c->free[i] = is_free;
    }
    if (kind == 0 || !is_mlcp) {
        return solve(c);
    }
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_lcp lcp = lcp_of(c);
    const perp_mlcp mlcp = mlcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, is_lcp ? perp_lcp_solve(&lcp, NULL, workspace, &solution, &info, NULL)
                                         : perp_mlcp_solve(&mlcp, NULL, workspace, &solution, &info, NULL));
    perp_lcp_workspace_free(workspace);
    assert_true(info.outcome != PERP_OUTCOME_SOLVED || judge(c, c->z) <= 1e-8);
    if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_proof(c);
    }
    return info;
}

/* Bounds that make the case an lcp (of = 0) or an mlcp (1); else as they are. */
static void restrict_bounds(int of)
{
    for (int i = 0; i < B.n && of < 2; i++) {
        B.has_lower[i] = B.has_lower[i] || of == 0;
        B.has_upper[i] = false;
        B.lower[i] = 0;
    }
}

/* Small integers, all classes. Infeasible is said only where brute force finds neither a solution nor a point that
 * meets the inequalities, and a solution only where there is one. Most of what has no point is proven. */
static void infeasible_is_true(void **state)
{
    (void)state;
    int empty[3] = {0}, proven[3] = {0}, unsolvable = 0;
    for (uint64_t seed = 0; seed < 12000; seed++) {
        perp_random random = {seed};
        const int of = (int)(seed / 5 % 3);
        fill(&random, (enum kind)(seed % KINDS), 1 + (int)(seed / 15 % 4));
        restrict_bounds(of);
        if (seed % 4 == 0) {
            plant(&random);
        }
        brute_force();
        case_of c = as_case();
        for (int kind = 0; kind < 2; kind++) {
            const perp_lcp_info info = solve_as(&c, kind);
            assert_true(B.feasible || B.piece_count == 0);
            assert_true(info.outcome != PERP_OUTCOME_INFEASIBLE || !B.feasible);
            assert_true(info.outcome != PERP_OUTCOME_SOLVED || B.piece_count > 0);
            assert_true(info.outcome != PERP_OUTCOME_CANCELLED && info.outcome != PERP_OUTCOME_UNBOUNDED);
            empty[of] += !B.feasible;
            proven[of] += info.outcome == PERP_OUTCOME_INFEASIBLE;
            unsolvable += B.feasible && B.piece_count == 0;
        }
        free_case(&c);
    }
    print_message("without a point %d + %d + %d, of these proven %d + %d + %d; with a point, without a solution %d\n",
                  empty[0], empty[1], empty[2], proven[0], proven[1], proven[2], unsolvable);
    for (int of = 0; of < 3; of++) {
        assert_true(empty[of] > 300 && proven[of] > empty[of] * 3 / 4);
    }
    assert_true(unsolvable > 300);
}

/* The check itself: a proof is one, and stops being one when a number in it is changed by its last bit. */
static void proofs_are_checked_exactly(void **state)
{
    (void)state;
    const double m[4] = {1.0, -1.0, -1.0, 1.0}, q[2] = {-1.0, 0.5}, none[2] = {-INFINITY, -INFINITY};
    const double u[2] = {1.0, 1.0}, other[2] = {1.0, 1.0 + 0x1p-52}, back[2] = {-1.0, -1.0};
    assert_true(farkas_holds(2, m, q, NULL, NULL, u));
    assert_false(farkas_holds(2, m, q, NULL, NULL, other)); /* s_2 = 2^-52 > 0 */
    assert_false(farkas_holds(2, m, q, NULL, NULL, back));
    assert_true(farkas_holds(2, m, q, none, NULL, u));
    assert_false(farkas_holds(2, m, q, none, NULL, other));
    const double far = 0x1p60, sums[4] = {far, 0.0, 1.0, 0.0}, zero_q[2] = {0.0, -1.0};
    const double cancelling[2] = {-0x1p-60, 1.0}, near[2] = {-0x1p-60 * (1.0 + 0x1p-52), 1.0};
    assert_true(farkas_holds(2, sums, zero_q, none, NULL, cancelling));
    assert_false(farkas_holds(2, sums, zero_q, none, NULL, near)); /* s_1 = -2^-52 points at no bound */
    const double box[2] = {1.0, 1.0}, zeros[2] = {0.0, 0.0};
    assert_false(farkas_holds(2, m, q, zeros, box, u)); /* rows of boxes are asked for nothing */
    const double above[2] = {2.0, INFINITY}, up[4] = {0.0, 0.0, 1.0, 0.0}, need[2] = {0.0, -2.0}, e2[2] = {0.0, 1.0};
    assert_false(farkas_holds(2, up, need, zeros, above, e2)); /* z_1 <= 2 reaches F_2 = 0 */
    const double more[2] = {0.0, -2.0 * (1.0 + 0x1p-52)};
    assert_true(farkas_holds(2, up, more, zeros, above, e2));
}

/* All bounds finite: a solution exists for every M (the fixed point of a projection on a compact box), and where M is a
 * P-matrix it is one. */
static void own_basis_needs_no_pivot(void **state)
{
    (void)state;
    int at_upper = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        perp_random random = {seed};
        case_of c = boxed(&random, 10, 10, 0.5, false);
        for (int i = 0; i < 10; i++) {
            c.lower[i] = -0.0625;
            c.upper[i] = 0.0625;
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        int basis[10];
        memcpy(basis, c.basis, sizeof basis);
        for (int i = 0; i < 10; i++) {
            at_upper += basis[i] == 2 ? 1 : 0;
            assert_true(basis[i] == 1 || c.z[i] == (basis[i] == 2 ? 0.0625 : -0.0625));
        }
        const perp_lcp_info warm = solve_from(&c, basis);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, warm);
        assert_int_equal(warm.pivots, 0);
        free_case(&c);
    }
    assert_true(at_upper > 50);
}

/* A solution of a mirrored problem is the mirrored solution: z -> -z exchanges the bounds. */
static void mirrored_problem_has_the_mirrored_solution(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        perp_random random = {seed};
        case_of c = boxed(&random, 9, 9, 0.5, false), d = new_case(9);
        memcpy(d.m, c.m, 81 * sizeof(double));
        for (int i = 0; i < 9; i++) {
            d.q[i] = -c.q[i];
            d.lower[i] = -c.upper[i];
            d.upper[i] = -c.lower[i];
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&c));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, solve(&d));
        for (int i = 0; i < 9; i++) {
            ASSERT_NEAR(d.z[i], -c.z[i], 1e-10 * (1.0 + fabs(c.z[i])));
        }
        free_case(&c);
        free_case(&d);
    }
}

static void bad_bounds_are_refused(void **state)
{
    (void)state;
    static const double bounds[][2] = {{1, 0}, {NAN, 1}, {0, NAN}, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    perp_lcp_workspace *workspace = new_workspace(2);
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        case_of c = murty(2);
        c.lower[1] = bounds[k][0];
        c.upper[1] = bounds[k][1];
        const perp_mcp problem = mcp_of(&c);
        perp_lcp_solution solution = solution_of(&c);
        perp_lcp_info info;
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_solve(&problem, NULL, workspace, &solution, &info, &error));
        assert_non_null(strstr(error.message, "variable 1"));
        free_case(&c);
    }
    perp_lcp_workspace_free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unknown),
        cmocka_unit_test(equals_the_reduction),
        cmocka_unit_test(monotone_problems_are_decided),
        cmocka_unit_test(infeasible_is_true),
        cmocka_unit_test(proofs_are_checked_exactly),
        cmocka_unit_test(own_basis_needs_no_pivot),
        cmocka_unit_test(mirrored_problem_has_the_mirrored_solution),
        cmocka_unit_test(bad_bounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
