/* Nonlinear mcps: the check, the residual beside that of the linear classes, and the check of a Jacobian. */
#include "problem/checks.h"

#include <perp/problem.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

/* F_i = z_i^3 + z_0 z_i + sum_j (j - i) z_j; a wrong Jacobian adds 0.5 to one entry. */
typedef struct cubic {
    int n, wrong_row, wrong_column; /* -1: right */
    const int *starts, *rows;       /* NULL: dense */
} cubic;

static double entry(const cubic *c, const double *z, int i, int j)
{
    const double power = (i == j ? 3.0 * z[i] * z[i] + z[0] : 0.0) + (j == 0 ? z[i] : 0.0);
    return power + (double)(j - i) + (i == c->wrong_row && j == c->wrong_column ? 0.5 : 0.0);
}

static bool evaluate_cubic(void *context, const double *z, double *f, double *jacobian)
{
    const cubic *c = context;
    for (int i = 0; i < c->n; i++) {
        f[i] = z[i] * z[i] * z[i] + z[0] * z[i];
        for (int j = 0; j < c->n; j++) {
            f[i] += (double)(j - i) * z[j];
        }
        for (int j = 0; jacobian && !c->starts && j < c->n; j++) {
            jacobian[i * c->n + j] = entry(c, z, i, j);
        }
    }
    for (int j = 0; jacobian && c->starts && j < c->n; j++) {
        for (int k = c->starts[j]; k < c->starts[j + 1]; k++) {
            jacobian[k] = entry(c, z, c->rows[k], j);
        }
    }
    return true;
}

static perp_nonlinear_mcp problem_of(cubic *c)
{
    return (perp_nonlinear_mcp){
        .n = c->n, .column_starts = c->starts, .row_indices = c->rows, .evaluate = evaluate_cubic, .context = c};
}

static void check_names_what_is_wrong(void **state)
{
    (void)state;
    static const double nan_bound[2] = {NAN, 0.0}, ones[2] = {1.0, 1.0}, zeros[2] = {0.0, 0.0},
                        above[2] = {INFINITY, 0.0};
    static const int good_starts[3] = {0, 1, 2}, bad_first[3] = {1, 1, 2}, falling[3] = {0, 2, 1},
                     good_rows[2] = {0, 1}, outside[2] = {0, 2}, pair_starts[3] = {0, 2, 2}, twice[2] = {1, 1};
    cubic c = {2, -1, -1, NULL, NULL};
    const perp_nonlinear_mcp good = problem_of(&c);
    const struct {
        perp_nonlinear_mcp problem;
        const char *words;
    } cases[] = {
        {{-1, NULL, NULL, NULL, NULL, evaluate_cubic, &c, 0.0, NULL}, "size"},
        {{2, NULL, NULL, NULL, NULL, NULL, &c, 0.0, NULL}, "no function"},
        {{2, nan_bound, NULL, NULL, NULL, evaluate_cubic, &c, 0.0, NULL}, "variable 0"},
        {{2, above, NULL, NULL, NULL, evaluate_cubic, &c, 0.0, NULL}, "variable 0"},
        {{2, ones, zeros, NULL, NULL, evaluate_cubic, &c, 0.0, NULL}, "cross"},
        {{2, NULL, NULL, NULL, NULL, evaluate_cubic, &c, -1.0, NULL}, "scale"},
        {{2, NULL, NULL, NULL, NULL, evaluate_cubic, &c, NAN, NULL}, "scale"},
        {{2, NULL, NULL, good_starts, NULL, evaluate_cubic, &c, 0.0, NULL}, "row_indices"},
        {{2, NULL, NULL, NULL, good_rows, evaluate_cubic, &c, 0.0, NULL}, "column_starts"},
        {{2, NULL, NULL, bad_first, good_rows, evaluate_cubic, &c, 0.0, NULL}, "starts at 1"},
        {{2, NULL, NULL, falling, good_rows, evaluate_cubic, &c, 0.0, NULL}, "ends before"},
        {{2, NULL, NULL, good_starts, outside, evaluate_cubic, &c, 0.0, NULL}, "row 2 of 2"},
        {{2, NULL, NULL, pair_starts, twice, evaluate_cubic, &c, 0.0, NULL}, "increase"},
    };
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_nonlinear_mcp_check(&good, &error));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_nonlinear_mcp_check(&cases[k].problem, &error));
        assert_non_null(strstr(error.message, cases[k].words));
    }
}

/* A linear F has the residual of the mcp, whose sums are formed otherwise: equal but for rounding, and exactly so with
 * these numbers, whose sums are exact. */
static void residual_is_that_of_the_linear_class(void **state)
{
    (void)state;
    static const double m[4] = {2.0, 1.0, 0.0, 1.0}, q[2] = {-3.0, 1.0}, lower[2] = {0.0, -INFINITY},
                        upper[2] = {1.25, 0.5};
    const perp_mcp linear = {2, m, q, lower, upper};
    double scales[2];
    const perp_nonlinear_mcp same = {.n = 2, .lower = lower, .upper = upper, .scale = 3.0, .scales = scales};
    perp_nonlinear_mcp one_for_all = same;
    one_for_all.scales = NULL;
    for (int k = 0; k < 25; k++) {
        const double z[2] = {0.5 * (k % 5) - 0.5, 0.5 * (k / 5) - 1.0};
        const double f[2] = {2.0 * z[0] + z[1] - 3.0, z[1] + 1.0};
        scales[0] = 3.0 + 2.0 * fabs(z[0]) + fabs(z[1]);
        scales[1] = 1.0 + fabs(z[1]);
        assert_true(perp_nonlinear_mcp_residual(&same, z, f) == perp_mcp_residual(&linear, z));
        scales[0] = scales[1] = 3.0;
        assert_true(perp_nonlinear_mcp_residual(&same, z, f) == perp_nonlinear_mcp_residual(&one_for_all, z, f));
    }
}

static void residual_of_what_is_not_finite(void **state)
{
    (void)state;
    const perp_nonlinear_mcp p = {.n = 1};
    const double numbers[3] = {NAN, INFINITY, -INFINITY}, zero = 0.0;
    for (int k = 0; k < 3; k++) {
        assert_true(perp_nonlinear_mcp_residual(&p, &zero, &numbers[k]) == INFINITY);
        assert_true(perp_nonlinear_mcp_residual(&p, &numbers[k], &zero) == INFINITY);
    }
    const perp_nonlinear_mcp empty = {.n = 0};
    assert_true(perp_nonlinear_mcp_residual(&empty, NULL, NULL) == 0.0);
}

static double jacobian_error(cubic *c, const double *z, int *row, int *column)
{
    const perp_nonlinear_mcp p = problem_of(c);
    double *work = calloc(perp_nonlinear_mcp_jacobian_work(&p) + 1, sizeof(double));
    assert_non_null(work);
    const double error = perp_nonlinear_mcp_jacobian_error(&p, z, work, row, column);
    free(work);
    return error;
}

/* Central differences of a cubic with step 6e-6 are off by h^2 = 4e-11 and by rounding / h = 1e-10; at z = 0, on the
 * bound, they are one-sided and off by h z'' = 1e-5 of the entries. */
static void right_jacobians_pass_and_wrong_ones_are_named(void **state)
{
    (void)state;
    const double z[4] = {0.5, 1.5, 2.0, 0.25}, corner[4] = {0.0, 0.0, 1.0, 0.0};
    int row, column;
    cubic c = {4, -1, -1, NULL, NULL};
    assert_true(jacobian_error(&c, z, &row, &column) < 1e-8);
    assert_true(jacobian_error(&c, corner, &row, &column) < 1e-4);
    for (int k = 0; k < 16; k++) {
        c.wrong_row = k / 4;
        c.wrong_column = k % 4;
        assert_true(jacobian_error(&c, z, &row, &column) > 1e-2);
        assert_int_equal(row, c.wrong_row);
        assert_int_equal(column, c.wrong_column);
    }
}

/* The entry (2, 1), which is -1, is not in the pattern. */
static void entries_that_a_pattern_lacks_are_named(void **state)
{
    (void)state;
    static const int starts[4] = {0, 3, 5, 8}, rows[8] = {0, 1, 2, 0, 1, 0, 1, 2};
    static const int full_starts[4] = {0, 3, 6, 9}, full_rows[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    const double z[3] = {0.5, 1.5, 2.0};
    int row, column;
    cubic c = {3, -1, -1, full_starts, full_rows};
    assert_true(jacobian_error(&c, z, &row, &column) < 1e-8);
    c.starts = starts;
    c.rows = rows;
    assert_true(jacobian_error(&c, z, &row, &column) > 1e-2);
    assert_int_equal(row, 2);
    assert_int_equal(column, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_names_what_is_wrong),
        cmocka_unit_test(residual_is_that_of_the_linear_class),
        cmocka_unit_test(residual_of_what_is_not_finite),
        cmocka_unit_test(right_jacobians_pass_and_wrong_ones_are_named),
        cmocka_unit_test(entries_that_a_pattern_lacks_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
