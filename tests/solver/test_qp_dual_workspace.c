/* The dual active set: making the workspace may fail, solving asks for no memory; limits and refusals. malloc is
 * replaced for this program to see that; a sanitizer replaces it too, and then only the perp_allocator is watched. */
#include "qp_dual_test.h"

#include "failing_allocator.h"
#include "hooked_malloc.h"
#include "solver/qp_dual.h"

static void creation_survives_every_refusal(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = once != 0};
            const perp_allocator allocator = allocator_of(&f);
            perp_qp_dual_workspace *workspace;
            perp_error error;
            const perp_status status = perp_qp_dual_workspace_create(10, 30, 4, &allocator, &workspace, &error);
            if (status == PERP_STATUS_OK) {
                assert_true(grants > 0 && grants == f.requests);
                perp_qp_dual_workspace_free(workspace);
                assert_int_equal(f.standing, 0);
                break;
            }
            ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, status);
            assert_null(workspace);
            assert_int_equal(f.standing, 0);
        }
    }
}

static void solving_allocates_nothing(void **state)
{
    (void)state;
    perp_random random = {13};
    failing_allocator f = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&f);
    perp_qp_dual_workspace *workspace;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_dual_workspace_create(30, 90, 20, &allocator, &workspace, NULL));
    const int made = f.requests;
    dual_case plain = random_dual_case(&random, 30, 90, 4, true), tied = degenerate_dual_case(&random, 22, 90),
              hopeless = random_dual_case(&random, 20, 42, 0, false);
    contradict_dual_case(&hopeless, &random, 0.5);
    dual_case *cases[] = {&plain, &tied, &hopeless};
    for (int k = 0; k < 3; k++) {
        const perp_qp problem = dual_qp_of(cases[k]);
        perp_convex_info info;
        const long before = requests;
        const perp_status status = perp_qp_dual(&problem, NULL, workspace, &cases[k]->point, &info, NULL);
        assert_int_equal(requests, before);
        ASSERT_STATUS(PERP_STATUS_OK, status);
        ASSERT_OUTCOME(k < 2 ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_INFEASIBLE, info);
        free_dual_case(cases[k]);
    }
    assert_int_equal(f.requests, made);
    perp_qp_dual_workspace_free(workspace);
    assert_int_equal(f.standing, 0);
    assert_true(!watching || requests > 0); /* the counter counts */
}

static void sizes_are_checked(void **state)
{
    (void)state;
    perp_qp_dual_workspace *workspace;
    static const int wrong[][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    for (int k = 0; k < 3; k++) {
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT,
                      perp_qp_dual_workspace_create(wrong[k][0], wrong[k][1], wrong[k][2], NULL, &workspace, NULL));
        assert_null(workspace);
    }
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_dual_workspace_create(INT_MAX, 0, 0, NULL, &workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_dual_workspace_create(0, INT_MAX, 0, NULL, &workspace, NULL));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_dual_workspace_create(0, 0, INT_MAX, NULL, &workspace, NULL));
    perp_qp_dual_workspace_free(NULL);
    dual_case q = new_dual_case(3, 4, 2);
    const perp_qp problem = dual_qp_of(&q);
    for (int k = 0; k < 3; k++) {
        ASSERT_STATUS(PERP_STATUS_OK,
                      perp_qp_dual_workspace_create(3 - (k == 0), 4 - (k == 1), 2 - (k == 2), NULL, &workspace, NULL));
        perp_convex_info info;
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_qp_dual(&problem, NULL, workspace, &q.point, &info, &error));
        assert_non_null(strstr(error.message, "workspace"));
        perp_qp_dual_workspace_free(workspace);
    }
    free_dual_case(&q);
}

static void cancel_and_limit_end_it(void **state)
{
    (void)state;
    perp_random random = {14};
    dual_case q = random_dual_case(&random, 20, 60, 2, true);
    const int steps = assert_dual_solved(&q, NULL, ROUNDING).iterations;
    assert_true(steps > 3);
    volatile bool cancel = true;
    perp_convex_settings settings = perp_convex_settings_default();
    settings.cancel = &cancel;
    perp_convex_info info = solve_dual_case(&q, &settings);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_int_equal(info.iterations, 0);
    dual_case rows_only = random_dual_case(&random, 6, 20, 0, false); /* seen before the first step, too */
    info = solve_dual_case(&rows_only, &settings);
    ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
    assert_int_equal(info.iterations, 0);
    free_dual_case(&rows_only);
    cancel = false;
    assert_dual_solved(&q, &settings, ROUNDING);
    for (int limit = 1; limit < steps; limit++) {
        settings.max_iterations = limit;
        info = solve_dual_case(&q, &settings);
        ASSERT_OUTCOME(PERP_OUTCOME_ITERATION_LIMIT, info);
        assert_int_equal(info.iterations, limit);
        const perp_qp problem =
            dual_qp_of(&q); /* what came back is a point, dual feasible, and the residual is its own */
        const double residual = perp_convex_residual_largest(perp_qp_residual(&problem, &q.point));
        assert_true(residual == perp_convex_residual_largest(info.residual) && residual < INFINITY);
        for (int k = 0; k < q.rows; k++) {
            assert_true(q.point.y[k] >= 0.0 && q.point.y[k] < INFINITY);
        }
    }
    settings.max_iterations = steps;
    assert_dual_solved(&q, &settings, ROUNDING);
    free_dual_case(&q);
}

static void assert_refused(dual_case *q, const perp_convex_settings *settings, const char *words)
{
    const perp_qp problem = dual_qp_of(q);
    perp_qp_dual_workspace *workspace = dual_workspace_for(q);
    perp_convex_info info;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_qp_dual(&problem, settings, workspace, &q->point, &info, &error));
    if (!strstr(error.message, words)) {
        print_error("\"%s\" does not say \"%s\"\n", error.message, words);
        fail();
    }
    perp_qp_dual_workspace_free(workspace);
}

static void what_is_no_problem_is_refused(void **state)
{
    (void)state;
    dual_case q = new_dual_case(3, 1, 0);
    double *entries[] = {q.h, q.g, q.a, q.b};
    for (int k = 0; k < 4; k++) {
        const double kept = *entries[k];
        *entries[k] = k % 2 ? NAN : INFINITY;
        assert_refused(&q, NULL, "");
        *entries[k] = kept;
    }
    perp_convex_settings settings = perp_convex_settings_default();
    static const double tolerances[] = {0.0, -1.0, NAN, 9e-13, INFINITY};
    for (int k = 0; k < 5; k++) {
        settings.tolerance = tolerances[k];
        assert_refused(&q, &settings, "tolerance");
    }
    settings.tolerance = 1e-12;
    settings.max_iterations = -1;
    assert_refused(&q, &settings, "iterations");
    settings.max_iterations = 0;
    assert_dual_solved(&q, &settings, 1e-12);

    for (int i = 0; i < 3; i++) { /* v v': rank 1 */
        for (int j = 0; j < 3; j++) {
            q.h[3 * i + j] = (1.0 + i / 3.0) * (1.0 + j / 3.0);
        }
    }
    assert_refused(&q, NULL, "interior point");
    q.h[0] += 1e-3; /* rank 2 */
    assert_refused(&q, NULL, "interior point");
    q.h[8] += 1e-9; /* definite, barely */
    q.h[4] += 1e-9;
    assert_dual_solved(&q, NULL, ROUNDING);
    double *h = q.h;
    q.h = NULL; /* an lp */
    assert_refused(&q, NULL, "interior point");
    q.h = h;
    free_dual_case(&q);
}

/* H = B'B with fewer rows than columns, in whole numbers, so that its rank is exact: some pivots come out as rounding.
 */
static void semidefinite_hessians_are_refused(void **state)
{
    (void)state;
    perp_random random = {18};
    for (int k = 0; k < 200; k++) {
        const int n = 3 + k % 20, rank = n - 1 - k % 2;
        dual_case q = new_dual_case(n, 0, 0);
        double b[23][23];
        for (int r = 0; r < rank; r++) {
            for (int i = 0; i < n; i++) {
                b[r][i] = floor(perp_random_uniform(&random, -9.0, 10.0));
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                q.h[i * n + j] = 0.0;
                for (int r = 0; r < rank; r++) {
                    q.h[i * n + j] += b[r][i] * b[r][j];
                }
            }
        }
        assert_refused(&q, NULL, "interior point");
        free_dual_case(&q);
    }
}

/* Numbers at the ends of the range: whatever is said, what comes back is finite and is what was said. */
static void extreme_numbers_stay_finite(void **state)
{
    (void)state;
    perp_random random = {15};
    for (int k = 0; k < 300; k++) {
        const int n = 1 + k % 6;
        dual_case q = random_dual_case(&random, n, 2 * n, 0, k % 2 == 0);
        const double size[3] = {pow(10.0, perp_random_uniform(&random, -150.0, 150.0)),
                                pow(10.0, perp_random_uniform(&random, -150.0, 150.0)),
                                pow(10.0, perp_random_uniform(&random, -150.0, 150.0))};
        for (int i = 0; i < n * n; i++) {
            q.h[i] *= size[0];
        }
        for (int i = 0; i < 2 * n * n; i++) {
            q.a[i] *= size[1];
        }
        for (int i = 0; i < n; i++) {
            q.g[i] *= size[2];
        }
        const perp_qp problem = dual_qp_of(&q);
        perp_qp_dual_workspace *workspace = dual_workspace_for(&q);
        perp_convex_info info;
        const perp_status status = perp_qp_dual(&problem, NULL, workspace, &q.point, &info, NULL);
        assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_BAD_INPUT);
        for (int i = 0; status == PERP_STATUS_OK && i < n; i++) {
            assert_true(isfinite(q.point.x[i]) && isfinite(q.point.y[i]) && isfinite(q.point.y[n + i]));
        }
        if (status == PERP_STATUS_OK && info.outcome == PERP_OUTCOME_SOLVED) {
            assert_true(judge_dual_case(&q) <= 1.0001e-8);
        }
        perp_qp_dual_workspace_free(workspace);
        free_dual_case(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_survives_every_refusal),
        cmocka_unit_test(solving_allocates_nothing),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(cancel_and_limit_end_it),
        cmocka_unit_test(what_is_no_problem_is_refused),
        cmocka_unit_test(semidefinite_hessians_are_refused),
        cmocka_unit_test(extreme_numbers_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
