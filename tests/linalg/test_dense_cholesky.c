#include "linalg/dense.h"
#include "linalg_test.h"

/* |L L' - A| <= gamma(n + 2) |L||L'| entry by entry (Higham, theorem 10.3; one more rounding because the kernel
 * multiplies by a reciprocal), and computing L L' here costs gamma(n) more of the same. */
static void check_factor(int n, const double *a, const double *l, int stride)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0, magnitudes = 0.0;
            for (int k = 0; k <= j; k++) {
                sum += l[i * stride + k] * l[j * stride + k];
                magnitudes += fabs(l[i * stride + k] * l[j * stride + k]);
            }
            ASSERT_AT_MOST(fabs(sum - a[i * n + j]), gamma_of(2 * n + 3) * magnitudes);
        }
    }
}

/* The computed x solves (A + E) x = b with |E| <= gamma(3 n + 2) |L||L'| (Higham, theorem 10.4, and the reciprocal);
 * the residual is computed with an error of gamma(n + 1) (|A||x| + |b|), which |L||L'||x| and |b| cover. */
static void check_solution(int n, const double *a, const double *l, int stride, const double *x, const double *b)
{
    for (int i = 0; i < n; i++) {
        double r = b[i], scale = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            r -= a[i * n + j] * x[j];
            double magnitudes = 0.0;
            for (int k = 0; k <= (i < j ? i : j); k++) {
                magnitudes += fabs(l[i * stride + k] * l[j * stride + k]);
            }
            scale += magnitudes * fabs(x[j]);
        }
        ASSERT_AT_MOST(fabs(r), gamma_of(4 * n + 6) * scale);
    }
}

static void factor_times_transpose_is_the_matrix(void **state)
{
    (void)state;
    perp_random random = {11};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t], stride = n + 3;
        double *a = new_positive_definite(&random, n, 0.1), *l = new_reals(n * stride);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < stride; j++) {
                l[i * stride + j] = j <= i ? a[i * n + j] : 1e300; /* neither read nor written */
            }
        }
        int failed = 7;
        ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(n, l, stride, &failed));
        assert_int_equal(failed, -1);
        check_factor(n, a, l, stride);
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < stride; j++) {
                assert_true(l[i * stride + j] == 1e300);
            }
        }
        free(a);
        free(l);
    }
}

static void solution_has_a_small_residual(void **state)
{
    (void)state;
    perp_random random = {12};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t];
        double *a = new_positive_definite(&random, n, 0.1), *l = copy_reals(a, n * n), *b = new_reals(n);
        fill_random(&random, b, n);
        double *x = copy_reals(b, n);
        ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(n, l, n, NULL));
        perp_cholesky_solve(n, l, n, x);
        check_solution(n, a, l, n, x, b);
        free(a);
        free(l);
        free(b);
        free(x);
    }
}

/* Columns of a wider array, so that the stride of B counts. */
static void many_right_hand_sides_agree_with_one(void **state)
{
    (void)state;
    perp_random random = {13};
    enum { N = 37, COUNT = 5, STRIDE = 8 };
    double *l = new_positive_definite(&random, N, 0.1), *a = copy_reals(l, N * N);
    double b[N * STRIDE], x[N * STRIDE], half[N * STRIDE], column[N], solved[N];
    fill_random(&random, b, N * STRIDE);
    memcpy(x, b, sizeof b);
    memcpy(half, b, sizeof b);
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(N, l, N, NULL));
    perp_cholesky_solve_many(N, l, N, (perp_matrix_view){x, N, COUNT, STRIDE});
    perp_cholesky_solve_lower(N, l, N, (perp_matrix_view){half, N, COUNT, STRIDE});
    for (int c = 0; c < STRIDE; c++) {
        for (int i = 0; i < N; i++) {
            column[i] = b[i * STRIDE + c];
            solved[i] = x[i * STRIDE + c];
        }
        if (c >= COUNT) {
            assert_memory_equal(column, solved, sizeof column); /* beyond the view: untouched */
            continue;
        }
        check_solution(N, a, l, N, solved, column);
        /* L y = b: (L + E) y = b with |E| <= gamma(n) |L| (Higham, theorem 8.5). */
        for (int i = 0; i < N; i++) {
            double r = column[i], scale = fabs(column[i]);
            for (int k = 0; k <= i; k++) {
                r -= l[i * N + k] * half[k * STRIDE + c];
                scale += fabs(l[i * N + k] * half[k * STRIDE + c]);
            }
            ASSERT_AT_MOST(fabs(r), gamma_of(2 * N + 2) * scale);
        }
    }
    free(a);
    free(l);
}

static void indefinite_matrix_names_its_row(void **state)
{
    (void)state;
    perp_random random = {14};
    for (int bad = 0; bad < 12; bad++) {
        double *a = new_positive_definite(&random, 12, 0.1);
        a[bad * 12 + bad] = -1e-3;
        double *l = copy_reals(a, 144);
        int failed = -1;
        ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_cholesky_factor(12, l, 12, &failed));
        assert_int_equal(failed, bad);
        /* The rows above hold the factor of the leading block. */
        for (int i = 0; i < bad; i++) {
            double sum = 0.0;
            for (int k = 0; k <= i; k++) {
                sum += l[i * 12 + k] * l[i * 12 + k];
            }
            ASSERT_AT_MOST(fabs(sum - a[i * 12 + i]), gamma_of(2 * 12 + 3) * a[i * 12 + i] * 1.01);
        }
        free(a);
        free(l);
    }
}

static void not_finite_is_never_ok(void **state)
{
    (void)state;
    perp_random random = {15};
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < 9; i++) {
            for (int j = 0; j <= i; j++) {
                double *a = new_positive_definite(&random, 9, 0.1);
                a[i * 9 + j] = poisons[p];
                int failed = -1;
                ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_cholesky_factor(9, a, 9, &failed));
                assert_int_equal(failed, i);
                free(a);
            }
        }
    }
}

/* The Hilbert matrix of size 11 has condition 5e14: the factorisation still runs (it must while about n u cond < 1),
 * and its backward error is small though the solution is not accurate. Its least eigenvalue is about 3e-15: taking
 * 1e-12 off the diagonal, far more than the rounding n u |A| = 2e-15, makes it indefinite. */
static void hilbert_matrix_is_backward_stable(void **state)
{
    (void)state;
    const int n = 11;
    double *a = new_hilbert(n), *l = copy_reals(a, n * n), *b = new_reals(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            b[i] += a[i * n + j];
        }
    }
    double *x = copy_reals(b, n);
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(n, l, n, NULL));
    check_factor(n, a, l, n);
    perp_cholesky_solve(n, l, n, x);
    check_solution(n, a, l, n, x, b);
    for (int i = 0; i < n; i++) {
        a[i * n + i] -= 1e-12;
    }
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_cholesky_factor(n, a, n, NULL));
    free(a);
    free(l);
    free(b);
    free(x);
}

/* D A D with D = diag(2^-300 .. 2^300): Cholesky commutes with diagonal scaling by powers of two, bit for bit. */
static void graded_matrix_scales_exactly(void **state)
{
    (void)state;
    perp_random random = {16};
    enum { N = 13 };
    double *a = new_positive_definite(&random, N, 0.1), *g = new_reals(N * N);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            g[i * N + j] = ldexp(a[i * N + j], 50 * (i - 6) + 50 * (j - 6));
        }
    }
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(N, a, N, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(N, g, N, NULL));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            assert_true(g[i * N + j] == ldexp(a[i * N + j], 50 * (i - 6)));
        }
    }
    free(a);
    free(g);
}

static void smallest_sizes(void **state)
{
    (void)state;
    int failed = 3;
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(0, NULL, 0, &failed));
    assert_int_equal(failed, -1);
    perp_cholesky_solve(0, NULL, 0, NULL);
    double a = 4.0, b = 2.0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(1, &a, 1, NULL));
    perp_cholesky_solve(1, &a, 1, &b);
    assert_true(a == 2.0 && b == 0.5);
    a = 0.0;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_cholesky_factor(1, &a, 1, &failed));
    assert_int_equal(failed, 0);
    a = 4.9406564584124654e-324; /* the least number there is */
    ASSERT_STATUS(PERP_STATUS_OK, perp_cholesky_factor(1, &a, 1, NULL));
    assert_true(a == 0x1p-537);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factor_times_transpose_is_the_matrix),
        cmocka_unit_test(solution_has_a_small_residual),
        cmocka_unit_test(many_right_hand_sides_agree_with_one),
        cmocka_unit_test(indefinite_matrix_names_its_row),
        cmocka_unit_test(not_finite_is_never_ok),
        cmocka_unit_test(hilbert_matrix_is_backward_stable),
        cmocka_unit_test(graded_matrix_scales_exactly),
        cmocka_unit_test(smallest_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
