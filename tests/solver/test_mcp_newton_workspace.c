/* The workspace is all the memory there is, answers are the same bits every time, and what is no problem is refused.
 * malloc is replaced for this program; a sanitizer replaces it too, and then only the perp_allocator is watched. */
#include "mcp_newton_test.h"

#include "failing_allocator.h"
#include "hooked_malloc.h"
#include "mcp_made.h"

static perp_status create(const perp_nonlinear_mcp *p, const perp_linear_solver *door, const perp_allocator *allocator,
                          perp_mcp_newton_workspace **workspace)
{
    perp_error error;
    return perp_mcp_newton_workspace_create(p, door, allocator, workspace, &error);
}

/* Whatever the request that fails: OUT_OF_MEMORY, no workspace, nothing left behind. */
static void creation_survives_every_refusal(void **state)
{
    (void)state;
    obstacle o = new_obstacle(5, 1.0);
    const perp_nonlinear_mcp problems[2] = {kojima_shindo(), obstacle_problem(&o)};
    for (int k = 0; k < 4; k++) {
        const perp_linear_solver *door = k % 2 ? perp_sparse_linear_solver() : NULL;
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = k >= 2};
            const perp_allocator allocator = allocator_of(&f);
            perp_mcp_newton_workspace *workspace;
            const perp_status status = create(&problems[k % 2], door, &allocator, &workspace);
            if (status == PERP_STATUS_OK) {
                assert_true(grants > 2 && grants == f.requests);
                perp_mcp_newton_workspace_free(workspace);
                assert_int_equal(f.standing, 0);
                break;
            }
            ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, status);
            assert_null(workspace);
            assert_int_equal(f.standing, 0);
        }
    }
    perp_mcp_newton_workspace_free(NULL);
    free_obstacle(&o);
}

/* Solved at once, and all the way down the cascade. */
static void solving_takes_no_memory(void **state)
{
    (void)state;
    case_of contact = contact_lcp(17, 96, true); /* Newton fails here, the path does not */
    obstacle o = new_obstacle(6, 1.0);
    const perp_nonlinear_mcp problems[] = {kojima_shindo(), billups(), nash_problem(&nash_10), linear_problem(&contact),
                                           obstacle_problem(&o)};
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        failing_allocator f = {.grants = INT_MAX};
        const perp_allocator allocator = allocator_of(&f);
        perp_mcp_newton_workspace *workspace;
        double z[128], residual[128];
        ASSERT_STATUS(PERP_STATUS_OK, create(&problems[k], NULL, &allocator, &workspace));
        const int before = f.requests;
        const long asked = requests;
        perp_mcp_newton_solution solution = {z, residual};
        perp_mcp_newton_info info;
        ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_newton(&problems[k], NULL, workspace, &solution, &info, NULL));
        assert_int_equal(f.requests, before);
        assert_true(!watching || requests == asked);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info);
        perp_mcp_newton_workspace_free(workspace);
    }
    free_obstacle(&o);
    free_case(&contact);
}

/* A made problem whose Jacobian has every entry, by columns. */
static bool evaluate_by_columns(void *context, const double *z, double *f, double *jacobian)
{
    const int n = ((const made *)context)->n;
    double rows[MADE_LARGEST * MADE_LARGEST];
    const bool defined = made_evaluate(context, z, f, rows);
    for (int k = 0; jacobian && k < n * n; k++) {
        jacobian[k] = rows[k % n * n + k / n];
    }
    return defined;
}

enum { SAME = 20 };

static perp_nonlinear_mcp made_by_columns(made *m)
{
    static int starts[SAME + 1], rows[SAME * SAME];
    for (int k = 0; k < SAME * SAME; k++) {
        rows[k] = k % SAME;
        starts[k / SAME + 1] = (k / SAME + 1) * SAME;
    }
    perp_nonlinear_mcp p = made_problem(m);
    p.column_starts = starts;
    p.row_indices = rows;
    p.evaluate = evaluate_by_columns;
    return p;
}

/* The second solve in one workspace, after another problem went through it, and a solve in a new one. The other has no
 * diagonal, so that its pivots lie elsewhere and would serve for the first one, at other roundings. */
static void same_bits_every_time(void **state)
{
    (void)state;
    made one = made_case(SAME - 1, MADE_CUBIC, false), other = made_case(SAME - 1 + MADE_LARGEST, MADE_CUBIC, false);
    assert_true(one.n == SAME && other.n == SAME);
    for (int i = 0; i < SAME; i++) { /* equations alone, linear ones: the last bits are those of one factorisation */
        one.c[i] = other.c[i] = other.a[i][i] = 0.0;
        one.lower[i] = other.lower[i] = -INFINITY;
        one.upper[i] = other.upper[i] = INFINITY;
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        const perp_nonlinear_mcp first = made_by_columns(&one), between = made_by_columns(&other);
        const perp_linear_solver *door = sparse ? perp_sparse_linear_solver() : NULL;
        perp_mcp_newton_workspace *used, *fresh;
        double z[2][SAME], f[2][SAME];
        perp_mcp_newton_info info[2];
        ASSERT_STATUS(PERP_STATUS_OK, create(&first, door, NULL, &used));
        ASSERT_STATUS(PERP_STATUS_OK, create(&first, door, NULL, &fresh));
        for (int k = 0; k < 4; k++) {
            perp_mcp_newton_solution solution = {z[k % 2], f[k % 2]};
            perp_mcp_newton_workspace *workspace = k % 2 ? fresh : used;
            if (k != 1) { /* for the first time the fresh one is fresh */
                ASSERT_STATUS(PERP_STATUS_OK,
                              perp_mcp_newton(&between, NULL, workspace, &solution, &info[k % 2], NULL));
            }
            ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_newton(&first, NULL, workspace, &solution, &info[k % 2], NULL));
            ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, info[k % 2]);
            assert_true(k == 0 || memcmp(z[0], z[1], sizeof z[0]) == 0);
            assert_true(k == 0 || memcmp(f[0], f[1], sizeof f[0]) == 0);
            assert_true(k == 0 || info[0].evaluations == info[1].evaluations);
        }
        perp_mcp_newton_workspace_free(used);
        perp_mcp_newton_workspace_free(fresh);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const int starts[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, rows[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    obstacle o = new_obstacle(3, 1.0), larger = new_obstacle(4, 1.0);
    const perp_nonlinear_mcp small = kojima_shindo(), large = nash_problem(&nash_10), sparse = obstacle_problem(&o),
                             other = obstacle_problem(&larger);
    perp_mcp_newton_workspace *workspace, *patterned;
    double z[16], f[16], bad_start[4] = {0.0, NAN, 0.0, 0.0}, lower[4] = {0.0, 0.0, NAN, 0.0};
    perp_mcp_newton_solution solution = {z, f};
    perp_mcp_newton_info info;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, create(&small, NULL, NULL, &workspace));
    ASSERT_STATUS(PERP_STATUS_OK, create(&sparse, perp_sparse_linear_solver(), NULL, &patterned));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_newton(&large, NULL, workspace, &solution, &info, &error));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_newton(&sparse, NULL, workspace, &solution, &info, &error));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_newton(&small, NULL, patterned, &solution, &info, &error));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_newton(&other, NULL, patterned, &solution, &info, &error));
    perp_nonlinear_mcp diagonal = sparse;
    diagonal.column_starts = starts;
    diagonal.row_indices = rows;
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_mcp_newton(&diagonal, NULL, patterned, &solution, &info, &error));
    assert_non_null(strstr(error.message, "another pattern"));

    perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
    settings.start = bad_start;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_newton(&small, &settings, workspace, &solution, &info, &error));
    assert_non_null(strstr(error.message, "entry 1 of the start"));
    settings = perp_mcp_newton_settings_default();
    settings.tolerance = 1e-13;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_newton(&small, &settings, workspace, &solution, &info, &error));
    settings.tolerance = NAN;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_newton(&small, &settings, workspace, &solution, &info, &error));
    settings = perp_mcp_newton_settings_default();
    settings.method = "pth";
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_newton(&small, &settings, workspace, &solution, &info, &error));
    assert_non_null(strstr(error.message, "did you mean 'path'"));
    perp_nonlinear_mcp bad = small;
    bad.lower = lower;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_newton(&bad, NULL, workspace, &solution, &info, &error));
    bad = small;
    bad.n = 30000;
    perp_mcp_newton_workspace *none;
    ASSERT_STATUS(PERP_STATUS_CAPACITY, create(&bad, NULL, NULL, &none));
    bad.n = -1;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, create(&bad, NULL, NULL, &none));
    assert_null(none);
    perp_mcp_newton_workspace_free(workspace);
    perp_mcp_newton_workspace_free(patterned);
    free_obstacle(&o);
    free_obstacle(&larger);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* No solution, and every evaluation counts; the flag is raised at the given one. */
typedef struct endless {
    bool cancel;
    int evaluations, cancel_at;
} endless;

static bool evaluate_endless(void *context, const double *z, double *f, double *jacobian)
{
    endless *e = context;
    e->cancel = ++e->evaluations >= e->cancel_at;
    for (int i = 0; i < 3; i++) {
        f[i] = -1.0 - z[i] * z[i] + sin(z[(i + 1) % 3]);
        for (int j = 0; jacobian && j < 3; j++) {
            jacobian[3 * i + j] = (i == j ? -2.0 * z[i] : 0.0) + (j == (i + 1) % 3 ? cos(z[j]) : 0.0);
        }
    }
    return true;
}

static void cancelled_at_any_time(void **state)
{
    (void)state;
    for (int at = 1; at < 4000; at += at < 40 ? 1 : 97) {
        endless e = {.cancel_at = at};
        const perp_nonlinear_mcp p = {.n = 3, .evaluate = evaluate_endless, .context = &e};
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.cancel = &e.cancel;
        perp_mcp_newton_workspace *workspace;
        double z[3], f[3];
        perp_mcp_newton_solution solution = {z, f};
        perp_mcp_newton_info info;
        ASSERT_STATUS(PERP_STATUS_OK, create(&p, NULL, NULL, &workspace));
        ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_newton(&p, &settings, workspace, &solution, &info, NULL));
        perp_mcp_newton_workspace_free(workspace);
        if (e.evaluations < at) {
            return; /* it ended before */
        }
        ASSERT_OUTCOME(PERP_OUTCOME_CANCELLED, info);
        assert_true(e.evaluations <= at + 2); /* the Jacobian of the point, and its return */
        assert_true(isfinite(z[0]) && isfinite(f[0]));
    }
}

static void factorisations_are_capped(void **state)
{
    (void)state;
    static const int caps[] = {1, 10, 100, 1000};
    for (size_t k = 0; k < sizeof caps / sizeof *caps; k++) {
        endless e = {.cancel_at = INT_MAX};
        const perp_nonlinear_mcp p = {.n = 3, .evaluate = evaluate_endless, .context = &e};
        perp_mcp_newton_settings settings = perp_mcp_newton_settings_default();
        settings.max_factorisations = caps[k];
        double z[3];
        const perp_mcp_newton_info info = solve_nonlinear_by(&p, &settings, NULL, z);
        ASSERT_OUTCOME(PERP_OUTCOME_ITERATION_LIMIT, info);
        /* looked at before every step, which takes up to 5, the crash phase up to 40 */
        assert_true(info.factorisations <= caps[k] + 45);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_survives_every_refusal),
        cmocka_unit_test(solving_takes_no_memory),
        cmocka_unit_test(same_bits_every_time),
        cmocka_unit_test(refusals),
        cmocka_unit_test(cancelled_at_any_time),
        cmocka_unit_test(factorisations_are_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
