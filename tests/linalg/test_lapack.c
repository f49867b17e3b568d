#include "linalg_test.h"

#include "failing_allocator.h"

/* Weak, as in the library: absent where the BLAS is not OpenBLAS. */
extern int openblas_get_num_threads(void) __attribute__((weak));

/* LAPACK's backward errors are p(n) u |A| with p a low polynomial (LAPACK Users' Guide, section 4.7, takes p = 1 for
 * the eigenvalues and n for bounds that always hold): 20 n here. */
static double backward_bound(int n, const double *a)
{
    return 20.0 * n * (0.5 * DBL_EPSILON) * norm_infinity(n, n, a);
}

/* A v = lambda v, V'V = I, ascending; trace and Frobenius norm agree. The upper triangle is poisoned: not read. */
static void symmetric_eigenvectors_are_eigenvectors(void **state)
{
    (void)state;
    perp_random random = {51};
    const int sizes[] = {1, 2, 3, 10, 40, 90};
    for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
        const int n = sizes[t], stride = n + 1;
        double *a = new_symmetric(&random, n), *lower = new_reals(n * stride), *v = new_reals(n * n);
        double *values = new_reals(n), *only = new_reals(n), trace = 0.0;
        for (int i = 0; i < n; i++) {
            trace += a[i * n + i];
            for (int j = 0; j < stride; j++) {
                lower[i * stride + j] = j <= i ? a[i * n + j] : NAN;
            }
        }
        ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(n, lower, stride, values, v, NULL, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(n, lower, stride, only, NULL, NULL, NULL));
        ASSERT_AT_MOST(largest_difference(n, values, only), backward_bound(n, a));
        for (int k = 0; k < n; k++) {
            assert_true(k == 0 || values[k - 1] <= values[k]);
            trace -= values[k];
            for (int i = 0; i < n; i++) {
                double r = -values[k] * v[i * n + k];
                for (int j = 0; j < n; j++) {
                    r += a[i * n + j] * v[j * n + k];
                }
                ASSERT_AT_MOST(fabs(r), backward_bound(n, a));
                double dot = i == k ? -1.0 : 0.0;
                for (int j = 0; j < n; j++) {
                    dot += v[j * n + i] * v[j * n + k];
                }
                ASSERT_AT_MOST(fabs(dot), 20.0 * n * DBL_EPSILON);
            }
        }
        ASSERT_AT_MOST(fabs(trace), n * backward_bound(n, a));
        free(a);
        free(lower);
        free(v);
        free(values);
        free(only);
    }
}

/* The companion matrix of (x - 1)(x - 2)((x + 1)^2 + 9): roots 1, 2, -1 +- 3i, all well separated: their condition is
 * below 1e3, hence 1e3 times the backward error. */
static void general_eigenvalues_are_the_roots(void **state)
{
    (void)state;
    /* (x^2 - 3 x + 2)(x^2 + 2 x + 10) = x^4 - x^3 + 6 x^2 - 26 x + 20 */
    const double a[16] = {1, -6, 26, -20, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const double roots[4][2] = {{1, 0}, {2, 0}, {-1, 3}, {-1, -3}};
    double real[4], imaginary[4];
    ASSERT_STATUS(PERP_STATUS_OK, perp_general_eigenvalues(4, a, 4, real, imaginary, NULL, NULL));
    for (int r = 0; r < 4; r++) {
        double nearest = INFINITY;
        for (int k = 0; k < 4; k++) {
            nearest = fmin(nearest, hypot(real[k] - roots[r][0], imaginary[k] - roots[r][1]));
        }
        ASSERT_AT_MOST(nearest, 1e3 * backward_bound(4, a));
    }
    for (int k = 0; k < 4; k++) {
        if (imaginary[k] > 0.0) {
            assert_true(k < 3 && imaginary[k + 1] == -imaginary[k] && real[k + 1] == real[k]);
        }
    }
}

/* For a symmetric matrix the two eigenvalue functions agree: eigenvalues move by at most the norm of the errors. */
static void general_agrees_with_symmetric(void **state)
{
    (void)state;
    perp_random random = {52};
    enum { N = 25 };
    double *a = new_symmetric(&random, N), values[N], real[N], imaginary[N];
    ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(N, a, N, values, NULL, NULL, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_general_eigenvalues(N, a, N, real, imaginary, NULL, NULL));
    for (int i = 0; i < N; i++) {
        for (int j = i + 1; j < N; j++) {
            if (real[j] < real[i]) {
                const double t = real[i];
                real[i] = real[j];
                real[j] = t;
            }
        }
        assert_true(imaginary[i] == 0.0);
    }
    ASSERT_AT_MOST(largest_difference(N, values, real), N * backward_bound(N, a));
    free(a);
}

/* A = U S V', U'U = V'V = I, values descending and not negative. */
static void singular_values_give_the_matrix(void **state)
{
    (void)state;
    perp_random random = {53};
    const int shapes[][2] = {{1, 1}, {7, 4}, {4, 7}, {30, 30}, {1, 5}, {60, 20}};
    for (size_t t = 0; t < sizeof shapes / sizeof shapes[0]; t++) {
        const int m = shapes[t][0], n = shapes[t][1], k = m < n ? m : n, stride = n + 2;
        double *a = new_reals(m * stride), *u = new_reals(m * k), *s = new_reals(k), *vt = new_reals(k * n);
        double *only = new_reals(k);
        fill_random(&random, a, m * stride);
        ASSERT_STATUS(PERP_STATUS_OK,
                      perp_singular_values(m, n, a, stride, (perp_singular_arrays){s, u, vt}, NULL, NULL));
        ASSERT_STATUS(PERP_STATUS_OK,
                      perp_singular_values(m, n, a, stride, (perp_singular_arrays){only, NULL, NULL}, NULL, NULL));
        /* One side alone: k unit vectors, so a Frobenius norm of sqrt(k). */
        double *left = new_reals(m * k), *right = new_reals(k * n);
        ASSERT_STATUS(PERP_STATUS_OK,
                      perp_singular_values(m, n, a, stride, (perp_singular_arrays){only, left, NULL}, NULL, NULL));
        ASSERT_STATUS(PERP_STATUS_OK,
                      perp_singular_values(m, n, a, stride, (perp_singular_arrays){only, NULL, right}, NULL, NULL));
        ASSERT_AT_MOST(fabs(norm_two(m * k, left) - sqrt(k)), 20.0 * (m + n) * DBL_EPSILON * sqrt(k));
        ASSERT_AT_MOST(fabs(norm_two(k * n, right) - sqrt(k)), 20.0 * (m + n) * DBL_EPSILON * sqrt(k));
        free(left);
        free(right);
        const double bound = 20.0 * (m + n) * DBL_EPSILON * s[0];
        ASSERT_AT_MOST(largest_difference(k, s, only), bound);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int p = 0; p < k; p++) {
                    sum += u[i * k + p] * s[p] * vt[p * n + j];
                }
                ASSERT_AT_MOST(fabs(sum - a[i * stride + j]), bound);
            }
        }
        for (int p = 0; p < k; p++) {
            assert_true(s[p] >= 0.0 && (p == 0 || s[p - 1] >= s[p]));
            for (int q = 0; q < k; q++) {
                double uu = p == q ? -1.0 : 0.0, vv = uu;
                for (int i = 0; i < m; i++) {
                    uu += u[i * k + p] * u[i * k + q];
                }
                for (int j = 0; j < n; j++) {
                    vv += vt[p * n + j] * vt[q * n + j];
                }
                ASSERT_AT_MOST(fabs(uu), 20.0 * (m + n) * DBL_EPSILON);
                ASSERT_AT_MOST(fabs(vv), 20.0 * (m + n) * DBL_EPSILON);
            }
        }
        free(a);
        free(u);
        free(s);
        free(vt);
        free(only);
    }
}

static void not_finite_is_refused(void **state)
{
    (void)state;
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        double a[9] = {4, 0, 0, 1, 3, 0, 0, 1, 2}, x[3], y[3];
        perp_error error;
        a[7] = poisons[p];
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_symmetric_eigen(3, a, 3, x, NULL, NULL, &error));
        assert_string_equal(error.message, "row 2 of the matrix holds NaN or Inf");
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_general_eigenvalues(3, a, 3, x, y, NULL, NULL));
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT,
                      perp_singular_values(3, 3, a, 3, (perp_singular_arrays){x, NULL, NULL}, NULL, NULL));
    }
    double huge[16], values[4];
    for (int i = 0; i < 16; i++) {
        huge[i] = 1.5e308; /* its eigenvalue 6e308 does not exist */
    }
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_symmetric_eigen(4, huge, 4, values, NULL, NULL, NULL));
}

static void scratch_comes_from_the_allocator_and_returns(void **state)
{
    (void)state;
    failing_allocator f = {.grants = 3}; /* one for each of three calls, and none for the three that follow */
    const perp_allocator allocator = allocator_of(&f);
    double a[4] = {2, 1, 1, 3}, x[2], y[2], v[4];
    const perp_singular_arrays out = {x, NULL, NULL};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(2, a, 2, x, v, &allocator, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_general_eigenvalues(2, a, 2, x, y, &allocator, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_singular_values(2, 2, a, 2, out, &allocator, NULL));
    assert_int_equal(f.requests, 3);
    assert_int_equal(f.standing, 0);
    ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, perp_symmetric_eigen(2, a, 2, x, v, &allocator, &error));
    assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
    ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, perp_general_eigenvalues(2, a, 2, x, y, &allocator, NULL));
    ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, perp_singular_values(2, 2, a, 2, out, &allocator, NULL));
    assert_int_equal(f.requests, 6);
    assert_int_equal(f.standing, 0);
}

static void size_zero_succeeds(void **state)
{
    (void)state;
    ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(0, NULL, 0, NULL, NULL, NULL, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_general_eigenvalues(0, NULL, 0, NULL, NULL, NULL, NULL));
    ASSERT_STATUS(PERP_STATUS_OK,
                  perp_singular_values(0, 3, NULL, 3, (perp_singular_arrays){NULL, NULL, NULL}, NULL, NULL));
}

static void blas_runs_on_one_thread(void **state)
{
    (void)state;
    if (!openblas_get_num_threads) {
        const char *ci = getenv("CI");
        if (ci && strcmp(ci, "true") == 0) {
            fail_msg("the BLAS is not OpenBLAS, and under CI=true nothing is skipped: run `make deps`");
        }
        skip();
    }
    double a = 2.0, value;
    ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(1, &a, 1, &value, NULL, NULL, NULL));
    assert_true(value == 2.0);
    assert_int_equal(openblas_get_num_threads(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blas_runs_on_one_thread),
        cmocka_unit_test(symmetric_eigenvectors_are_eigenvectors),
        cmocka_unit_test(general_eigenvalues_are_the_roots),
        cmocka_unit_test(general_agrees_with_symmetric),
        cmocka_unit_test(singular_values_give_the_matrix),
        cmocka_unit_test(not_finite_is_refused),
        cmocka_unit_test(scratch_comes_from_the_allocator_and_returns),
        cmocka_unit_test(size_zero_succeeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
