#include "lcp_test.h"

static perp_lcp_info lemke(case_of *c, const perp_lcp_settings *settings)
{
    perp_lcp_workspace *workspace = new_workspace(c->n);
    const perp_lcp problem = lcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_info info;
    ASSERT_STATUS(PERP_STATUS_OK, lemke_alone(&problem, settings, workspace, &solution, &info, NULL));
    perp_lcp_workspace_free(workspace);
    if (info.outcome == PERP_OUTCOME_SOLVED) {
        assert_true(judge(c, c->z) <= 1e-8);
    } else if (info.outcome == PERP_OUTCOME_INFEASIBLE) {
        assert_proof(c);
    }
    return info;
}

/* ---- known answers ------------------------------------------------------------------------------------------------
 */

/* Murty 1978: with the covering vector e the path visits all 2^n complementary bases. */
static void murty_takes_all_bases(void **state)
{
    (void)state;
    const double ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int n = 1; n <= 12; n++) {
        case_of c = murty(n);
        perp_lcp_settings settings = perp_lcp_settings_default();
        settings.covering = ones;
        const perp_lcp_info info = lemke(&c, &settings);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_int_equal(info.pivots, 1 << n);
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(c.z[i], i == 0, 0.0); /* small integers: no rounding anywhere */
            ASSERT_NEAR(c.w[i], i != 0, 0.0);
        }
        free_case(&c);
    }
}

/* L^-1 has entries 1 and +-2, so the condition of L L' is at most (2 n)^4, below 4e5 at n = 12; 1e-12 is far below what
 * plain elimination promises with that (1e-10), and what refinement gives. */
static void fathi_is_solved(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) {
        case_of c = fathi(n);
        const perp_lcp_info info = lemke(&c, NULL);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        for (int i = 0; i < n; i++) {
            ASSERT_NEAR(c.z[i], i == 0, 1e-12);
        }
        free_case(&c);
    }
}

static void a_point_of_a_segment(void **state)
{
    (void)state;
    case_of c = new_case(2);
    for (int i = 0; i < 4; i++) {
        c.m[i] = 1.0;
    }
    c.q[0] = c.q[1] = -1.0;
    const perp_lcp_info info = lemke(&c, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    ASSERT_NEAR(c.z[0] + c.z[1], 1.0, 1e-15);
    free_case(&c);
}

/* The evidence: (z, w) + t (dz, dw), t >= 0, stays on the path, so dz, dw >= 0, dz'dw = 0 and dw = M dz + s d with s >=
 * 0. */
static void bimatrix_game_ends_on_a_ray(void **state)
{
    (void)state;
    const double ones[4] = {1, 1, 1, 1};
    case_of c = bimatrix();
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.covering = ones;
    const perp_lcp_info info = lemke(&c, &settings);
    ASSERT_OUTCOME(PERP_OUTCOME_RAY, info);
    const double *dz = c.ray, *dw = c.ray + 4;
    double size = 0.0, s[4];
    for (int i = 0; i < 4; i++) {
        assert_true(dz[i] >= 0.0 && dw[i] >= 0.0);
        ASSERT_NEAR(dz[i] * dw[i], 0.0, 0.0);
        size += dz[i] + dw[i];
        s[i] = dw[i];
        for (int j = 0; j < 4; j++) {
            s[i] -= c.m[i * 4 + j] * dz[j];
        }
    }
    assert_true(size > 0.0 && s[0] >= -1e-12);
    for (int i = 1; i < 4; i++) {
        ASSERT_NEAR(s[i], s[0], 1e-12);
    }
    free_case(&c);
}

/* w = -z - 1 >= 0 is impossible, and the ray's z proves it: u >= 0, M'u <= 0, q'u < 0. */
static void infeasible_is_proven(void **state)
{
    (void)state;
    case_of c = new_case(1);
    c.m[0] = c.q[0] = -1.0;
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, lemke(&c, NULL));
    assert_true(c.ray[0] > 0.0);
    free_case(&c);
    c = new_case(3); /* the third row wants -z_1 - z_2 >= 2 */
    c.m[0] = c.m[4] = 1.0;
    c.m[6] = c.m[7] = -1.0;
    c.q[2] = -2.0;
    const perp_lcp_info info = lemke(&c, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, info);
    free_case(&c);
    /* M = -1, q = 1: solved by z = 0 and by z = 1, feasible, and not to be called otherwise. */
    c = new_case(1);
    c.m[0] = -1.0;
    c.q[0] = 1.0;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lemke(&c, NULL));
    free_case(&c);
}

/* Proofs are about the numbers as given. [1 -1; -1 1] with q = (-1, 1/2) has no point, by u = (1, 1); with 2^-52 more
 * in a corner it is definite. u = (3, 1) is found as (1, 0.333...), which proves nothing before it is made whole. */
static void a_proof_is_exact(void **state)
{
    (void)state;
    case_of c = new_case(2);
    c.m[0] = c.m[3] = 1.0;
    c.m[1] = c.m[2] = c.q[0] = -1.0;
    c.q[1] = 0.5;
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, lemke(&c, NULL));
    assert_true(c.ray[0] > 0.0);
    ASSERT_NEAR(c.ray[1], c.ray[0], 0.0);
    ASSERT_NEAR(c.ray[2], 0.0, 0.0); /* M'u */
    c.m[3] = 1.0 + ldexp(1.0, -52);
    assert_true(lemke(&c, NULL).outcome != PERP_OUTCOME_INFEASIBLE);
    c.m[1] = c.m[2] = -3.0;
    c.m[3] = 9.0;
    c.q[1] = 2.0;
    ASSERT_OUTCOME(PERP_OUTCOME_INFEASIBLE, lemke(&c, NULL));
    assert_true(c.ray[1] > 0.0);
    ASSERT_NEAR(c.ray[0], 3.0 * c.ray[1], 0.0);
    c.m[3] = 9.0 + ldexp(1.0, -49);
    assert_true(lemke(&c, NULL).outcome != PERP_OUTCOME_INFEASIBLE);
    free_case(&c);
}

static void nothing_to_solve(void **state)
{
    (void)state;
    case_of c = new_case(0);
    const perp_lcp_info info = lemke(&c, NULL);
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
    ASSERT_NEAR(info.residual, 0.0, 0.0);
    free_case(&c);
    c = murty(4);
    for (int i = 0; i < 4; i++) {
        c.q[i] = i; /* q >= 0: z = 0 without a pivot */
    }
    assert_int_equal(lemke(&c, NULL).pivots, 0);
    ASSERT_NEAR(c.z[3], 0.0, 0.0);
    free_case(&c);
}

/* ---- refusals -----------------------------------------------------------------------------------------------------
 */

static void refuse(const case_of *c, const perp_lcp_settings *settings, perp_status expected)
{
    perp_lcp_workspace *workspace = new_workspace(4);
    const perp_lcp problem = lcp_of(c);
    perp_lcp_solution solution = solution_of(c);
    perp_lcp_info info;
    perp_error error;
    ASSERT_STATUS(expected, lemke_alone(&problem, settings, workspace, &solution, &info, &error));
    assert_true(strlen(error.message) > 10);
    assert_true(info.outcome != PERP_OUTCOME_SOLVED);
    ASSERT_STATUS(expected, perp_lcp_solve(&problem, settings, workspace, &solution, &info, &error));
    assert_true(info.outcome != PERP_OUTCOME_SOLVED);
    perp_lcp_workspace_free(workspace);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        case_of c = murty(4);
        c.m[7] = bad[k];
        refuse(&c, NULL, PERP_STATUS_BAD_INPUT);
        c.m[7] = 2.0;
        c.q[2] = bad[k];
        refuse(&c, NULL, PERP_STATUS_BAD_INPUT);
        c.q[2] = -1.0;
        const double covering[4] = {1.0, 1.0, k == 0 ? 0.0 : bad[k], 1.0};
        perp_lcp_settings settings = perp_lcp_settings_default();
        settings.covering = covering;
        refuse(&c, &settings, PERP_STATUS_BAD_INPUT);
        settings = perp_lcp_settings_default();
        settings.tolerance = k == 0 ? NAN : -1.0 * k;
        refuse(&c, &settings, PERP_STATUS_BAD_INPUT);
        free_case(&c);
    }
    case_of small = murty(4); /* residuals are evaluated to 1e-12 */
    perp_lcp_settings fine = perp_lcp_settings_default();
    fine.tolerance = 0.99e-12;
    refuse(&small, &fine, PERP_STATUS_BAD_INPUT);
    fine.tolerance = 1e-12;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lemke(&small, &fine));
    free_case(&small);
    case_of c = murty(5);
    refuse(&c, NULL, PERP_STATUS_CAPACITY);
    c.n = -1;
    refuse(&c, NULL, PERP_STATUS_BAD_INPUT);
    free_case(&c);
}

/* ---- limits -------------------------------------------------------------------------------------------------------
 */

static void limit_and_cancel_are_typed(void **state)
{
    (void)state;
    case_of c = murty(10);
    perp_lcp_settings settings = perp_lcp_settings_default();
    const double ones[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    settings.covering = ones;
    settings.max_pivots = 100;
    perp_lcp_info info = lemke(&c, &settings);
    ASSERT_OUTCOME(PERP_OUTCOME_ITERATION_LIMIT, info);
    assert_int_equal(info.pivots, 100);
    assert_true(info.residual > 1e-8 && info.residual == info.residual);
    volatile bool cancel = true;
    settings = perp_lcp_settings_default();
    settings.cancel = &cancel;
    info = lemke(&c, &settings);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_true(info.pivots <= 1);
    free_case(&c);
}

/* ---- warm start ---------------------------------------------------------------------------------------------------
 */

static void own_basis_needs_no_pivot(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        case_of c = contact_lcp(seed, 60, true);
        const perp_lcp_info cold = lemke(&c, NULL);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, cold);
        double *first = calloc((size_t)c.n, sizeof(double));
        int *basis = calloc((size_t)c.n, sizeof(int));
        assert_true(first && basis);
        memcpy(first, c.z, (size_t)c.n * sizeof(double));
        memcpy(basis, c.basis, (size_t)c.n * sizeof(int));
        perp_lcp_settings settings = perp_lcp_settings_default();
        settings.warm_basis = basis;
        const perp_lcp_info warm = lemke(&c, &settings);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, warm);
        assert_int_equal(warm.pivots, 0);
        for (int i = 0; i < c.n; i++) {
            assert_int_equal(basis[i], c.basis[i]);
            ASSERT_NEAR(c.z[i], first[i], 1e-9 * (1.0 + fabs(first[i]))); /* another order of the rows in the LU */
        }
        free(first);
        free(basis);
        free_case(&c);
    }
}

/* The next step of a simulation: a small impulse changes the velocities, so q by J A J' y, which is M y on all rows but
 * those of the cones (the ones without a diagonal). So the proof of the generator still holds. */
static void apply_impulse(case_of *c, uint64_t seed, double size)
{
    perp_random random = {seed};
    for (int j = 0; j < c->n; j++) {
        const double y = c->m[j * c->n + j] > 0.0 ? perp_random_uniform(&random, -size, size) : 0.0;
        for (int i = 0; i < c->n; i++) {
            c->q[i] += c->m[i * c->n + i] > 0.0 ? c->m[i * c->n + j] * y : 0.0;
        }
    }
}

static void neighbouring_problem_needs_few_pivots(void **state)
{
    (void)state;
    int cold_pivots = 0, warm_pivots = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        case_of c = contact_lcp(seed, 80, true);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lemke(&c, NULL));
        int *basis = calloc((size_t)c.n, sizeof(int));
        assert_non_null(basis);
        memcpy(basis, c.basis, (size_t)c.n * sizeof(int));
        apply_impulse(&c, seed, 1e-4);
        cold_pivots += lemke(&c, NULL).pivots;
        perp_lcp_settings settings = perp_lcp_settings_default();
        settings.warm_basis = basis;
        perp_lcp_workspace *workspace = new_workspace(c.n);
        const perp_lcp problem = lcp_of(&c);
        perp_lcp_solution solution = solution_of(&c);
        perp_lcp_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_solve(&problem, &settings, workspace, &solution, &info, NULL));
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        assert_true(judge(&c, c.z) <= 1e-8);
        warm_pivots += info.pivots;
        perp_lcp_workspace_free(workspace);
        free(basis);
        free_case(&c);
    }
    print_message("pivots: cold %d, warm %d\n", cold_pivots, warm_pivots);
    assert_true(5 * warm_pivots < cold_pivots);
}

static void useless_basis_starts_cold(void **state)
{
    (void)state;
    case_of c = new_case(3); /* ones: any two columns are dependent */
    for (int i = 0; i < 9; i++) {
        c.m[i] = 1.0;
    }
    c.q[0] = c.q[1] = c.q[2] = -1.0;
    const int all[3] = {1, 1, 1};
    perp_lcp_settings settings = perp_lcp_settings_default();
    settings.warm_basis = all;
    ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lemke(&c, &settings));
    free_case(&c);
}

/* ---- identities ---------------------------------------------------------------------------------------------------
 */

/* Units: rows and columns multiplied by anything positive are the same problem, and are solved as well. The residual is
 * then judged in the new units, where z and w are of very different size. */
static void units_do_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        case_of c = contact_lcp(seed, 60, true);
        perp_random random = {seed};
        double rows[100], cols[100];
        assert_true(c.n <= 100);
        for (int i = 0; i < c.n; i++) {
            rows[i] = pow(10.0, perp_random_uniform(&random, -3.0, 3.0));
            cols[i] = pow(10.0, perp_random_uniform(&random, -3.0, 3.0));
        }
        for (int i = 0; i < c.n; i++) {
            for (int j = 0; j < c.n; j++) {
                c.m[i * c.n + j] *= rows[i] * cols[j];
            }
            c.q[i] *= rows[i];
        }
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, lemke(&c, NULL));
        free_case(&c);
    }
}

/* The same bits again, from a workspace that has been used for larger problems in between. */
static void repeated_to_the_bit(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace = new_workspace(200);
    for (uint64_t seed = 0; seed < 10; seed++) {
        case_of c = contact_lcp(seed, 50, true), other = contact_lcp(seed + 50, 190, true);
        const perp_lcp problem = lcp_of(&c), larger = lcp_of(&other);
        perp_lcp_solution solution = solution_of(&c), unused = solution_of(&other);
        perp_lcp_info info;
        ASSERT_STATUS(PERP_STATUS_OK, lemke_alone(&problem, NULL, workspace, &solution, &info, NULL));
        double *first = calloc((size_t)c.n, sizeof(double));
        assert_non_null(first);
        memcpy(first, c.z, (size_t)c.n * sizeof(double));
        ASSERT_STATUS(PERP_STATUS_OK, lemke_alone(&larger, NULL, workspace, &unused, &info, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, lemke_alone(&problem, NULL, workspace, &solution, &info, NULL));
        assert_memory_equal(first, c.z, (size_t)c.n * sizeof(double));
        free(first);
        free_case(&c);
        free_case(&other);
    }
    perp_lcp_workspace_free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murty_takes_all_bases),
        cmocka_unit_test(fathi_is_solved),
        cmocka_unit_test(a_point_of_a_segment),
        cmocka_unit_test(bimatrix_game_ends_on_a_ray),
        cmocka_unit_test(infeasible_is_proven),
        cmocka_unit_test(a_proof_is_exact),
        cmocka_unit_test(nothing_to_solve),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(limit_and_cancel_are_typed),
        cmocka_unit_test(own_basis_needs_no_pivot),
        cmocka_unit_test(neighbouring_problem_needs_few_pivots),
        cmocka_unit_test(useless_basis_starts_cold),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(repeated_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
