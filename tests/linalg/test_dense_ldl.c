#include "linalg_test.h"

static int original_row(int pivot)
{
    return pivot >= 0 ? pivot : -1 - pivot;
}

/* L and D as full matrices out of the packed form that perp_ldl_factor documents. */
static void unpack(int n, const double *ldl, int stride, const int *pivots, double *l, double *d)
{
    memset(l, 0, (size_t)(n * n) * sizeof(double));
    memset(d, 0, (size_t)(n * n) * sizeof(double));
    for (int k = 0; k < n;) {
        const int size = pivots[k] >= 0 ? 1 : 2;
        for (int i = k; i < k + size; i++) {
            for (int j = 0; j < k; j++) {
                l[i * n + j] = ldl[i * stride + j];
            }
            for (int j = k; j <= i; j++) {
                d[i * n + j] = d[j * n + i] = ldl[i * stride + j];
            }
            l[i * n + i] = 1.0;
        }
        k += size;
    }
}

/* |P A P' - L D L'| <= p(n) u (P |A| P' + |L||D||L'|) entry by entry with p linear (Higham, theorem 11.3, which allows
 * any pivoting). An entry is the result of at most n updates of four roundings each, an entry of L of about ten, and L
 * D L' is computed here with 3 n more: 20 n + 20 roundings cover it. Also checks that `pivots` is a permutation and
 * that L is bounded as rook pivoting promises: 1 / (1 - 0.6404) = 2.781. */
static void check_factor(int n, const double *a, const double *ldl, int stride, const int *pivots)
{
    double *l = new_reals(n * n), *d = new_reals(n * n);
    int *seen = new_integers(n);
    unpack(n, ldl, stride, pivots, l, d);
    ASSERT_AT_MOST(largest_magnitude(n * n, l), 2.7808 * (1.0 + 1e-10));
    for (int i = 0; i < n; i++) {
        const int row = original_row(pivots[i]);
        assert_in_range(row, 0, n - 1);
        assert_int_equal(seen[row]++, 0);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const double expected = a[original_row(pivots[i]) * n + original_row(pivots[j])];
            double sum = 0.0, magnitudes = fabs(expected);
            for (int p = 0; p <= i; p++) {
                for (int q = p > 0 ? p - 1 : 0; q <= p + 1 && q <= j; q++) {
                    sum += l[i * n + p] * d[p * n + q] * l[j * n + q];
                    magnitudes += fabs(l[i * n + p] * d[p * n + q] * l[j * n + q]);
                }
            }
            ASSERT_AT_MOST(fabs(sum - expected), gamma_of(20 * n + 20) * magnitudes);
        }
    }
    free(l);
    free(d);
    free(seen);
}

/* (A + E) x = b, |E| <= p(n) u (|A| + P' |L||D||L'| P) with the p of check_factor (Higham, theorem 11.3); the computed
 * residual adds (n + 1) u (|A||x| + |b|). */
static double residual_bound(int n, const double *a, const double *ldl, const int *pivots, const double *x,
                             const double *b)
{
    double *l = new_reals(n * n), *d = new_reals(n * n), *y = new_reals(n), *z = new_reals(n);
    unpack(n, ldl, n, pivots, l, d);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            y[j] += fabs(l[i * n + j] * x[original_row(pivots[i])]);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            z[i] += fabs(d[i * n + j]) * y[j];
        }
    }
    double scale = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j <= i; j++) {
            sum += fabs(l[i * n + j]) * z[j];
        }
        scale = sum > scale ? sum : scale;
    }
    scale += norm_infinity(n, n, a) * largest_magnitude(n, x) + largest_magnitude(n, b);
    free(l);
    free(d);
    free(y);
    free(z);
    return gamma_of(21 * n + 21) * scale;
}

static void factors_give_the_matrix(void **state)
{
    (void)state;
    perp_random random = {21};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t], stride = n + 2;
        double *a = new_symmetric(&random, n), *ldl = new_reals(n * stride), *work = new_reals(2 * n);
        int *pivots = new_integers(n), failed = 5;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < stride; j++) {
                ldl[i * stride + j] = j <= i ? a[i * n + j] : 1e300;
            }
        }
        ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(n, ldl, stride, pivots, work, &failed));
        assert_int_equal(failed, -1);
        check_factor(n, a, ldl, stride, pivots);
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < stride; j++) {
                assert_true(ldl[i * stride + j] == 1e300);
            }
        }
        free(a);
        free(ldl);
        free(work);
        free(pivots);
    }
}

static void solution_has_a_small_residual(void **state)
{
    (void)state;
    perp_random random = {22};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t];
        double *a = new_symmetric(&random, n), *ldl = copy_reals(a, n * n), *work = new_reals(2 * n);
        double *b = new_reals(3 * n), *column = new_reals(n), *right = new_reals(n);
        int *pivots = new_integers(n);
        fill_random(&random, b, 3 * n);
        double *x = copy_reals(b, 3 * n);
        ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(n, ldl, n, pivots, work, NULL));
        perp_ldl_solve_many(n, ldl, n, pivots, (perp_matrix_view){x, n, 2, 3}, work);
        for (int c = 0; c < 3; c++) {
            for (int i = 0; i < n; i++) {
                column[i] = x[i * 3 + c];
                right[i] = b[i * 3 + c];
            }
            if (c == 2) {
                assert_memory_equal(column, right, (size_t)n * sizeof(double)); /* beyond the view */
                continue;
            }
            ASSERT_AT_MOST(residual(n, n, a, column, right), residual_bound(n, a, ldl, pivots, column, right));
            perp_ldl_solve(n, ldl, n, pivots, right, work);
            assert_memory_equal(column, right, (size_t)n * sizeof(double));
        }
        free(a);
        free(ldl);
        free(work);
        free(b);
        free(column);
        free(right);
        free(pivots);
        free(x);
    }
}

/* Matrices whose diagonal offers no pivot at all, so that 2 x 2 blocks must be taken, with the inertia known: a KKT
 * matrix [H C'; C 0] with H positive definite n x n and C of full rank m has inertia (n, m, 0). */
static void saddle_point_has_its_inertia(void **state)
{
    (void)state;
    perp_random random = {23};
    enum { H = 14, C = 6, N = H + C };
    double *h = new_positive_definite(&random, H, 0.1), *a = new_reals(N * N), work[2 * N];
    int pivots[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            a[i * N + j] = i < H ? h[i * H + j] : j < H ? perp_random_uniform(&random, -1.0, 1.0) : 0.0;
            a[j * N + i] = a[i * N + j];
        }
    }
    double *ldl = copy_reals(a, N * N);
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(N, ldl, N, pivots, work, NULL));
    check_factor(N, a, ldl, N, pivots);
    const perp_inertia inertia = perp_ldl_inertia(N, ldl, N, pivots, 0.0);
    assert_int_equal(inertia.positive, H);
    assert_int_equal(inertia.negative, C);
    assert_int_equal(inertia.zero, 0);
    free(h);
    free(a);
    free(ldl);
}

static void zero_diagonal_takes_blocks_of_two(void **state)
{
    (void)state;
    perp_random random = {24};
    enum { N = 10 };
    double *a = new_symmetric(&random, N), work[2 * N];
    int pivots[N], blocks = 0;
    for (int i = 0; i < N; i++) {
        a[i * N + i] = 0.0;
    }
    double *ldl = copy_reals(a, N * N);
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(N, ldl, N, pivots, work, NULL));
    check_factor(N, a, ldl, N, pivots);
    for (int i = 0; i < N; i++) {
        blocks += pivots[i] < 0;
    }
    assert_true(blocks >= 2 && blocks % 2 == 0);
    double swap[4] = {0.0, 0.0, 1.0, 0.0}, b[2] = {3.0, 5.0};
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(2, swap, 2, pivots, work, NULL));
    perp_ldl_solve(2, swap, 2, pivots, b, work);
    assert_true(b[0] == 5.0 && b[1] == 3.0);
    free(a);
    free(ldl);
}

/* By Weyl, an eigenvalue farther from zero than the backward error keeps its sign: with |E| <= 20 n u n |A| the signs
 * of all eigenvalues of these matrices that exceed it must be D's. LAPACK's own error, p(n) u |A|, is smaller still. */
static void inertia_is_the_signs_of_the_eigenvalues(void **state)
{
    (void)state;
    perp_random random = {25};
    for (int trial = 0; trial < 200; trial++) {
        const int n = 1 + trial % 30;
        double *a = new_symmetric(&random, n), *ldl = copy_reals(a, n * n), *work = new_reals(2 * n);
        double *values = new_reals(n);
        int *pivots = new_integers(n), positive = 0, negative = 0;
        ASSERT_STATUS(PERP_STATUS_OK, perp_symmetric_eigen(n, a, n, values, NULL, NULL, NULL));
        for (int i = 0; i < n; i++) {
            assert_true(fabs(values[i]) > gamma_of(20 * n * n) * norm_infinity(n, n, a)); /* else the seed is unlucky */
            positive += values[i] > 0.0;
            negative += values[i] < 0.0;
        }
        ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(n, ldl, n, pivots, work, NULL));
        const perp_inertia inertia = perp_ldl_inertia(n, ldl, n, pivots, 0.0);
        assert_int_equal(inertia.positive, positive);
        assert_int_equal(inertia.negative, negative);
        free(a);
        free(ldl);
        free(work);
        free(values);
        free(pivots);
    }
}

/* M D M' with M n x r random and D = diag(+-1): rank r, with the signs of D; n - r eigenvalues are rounding. */
static void rank_deficient_matrix_counts_its_zeros(void **state)
{
    (void)state;
    perp_random random = {26};
    enum { N = 12, PLUS = 4, MINUS = 3, RANK = PLUS + MINUS };
    double m[N * RANK], a[N * N], work[2 * N];
    int pivots[N];
    fill_random(&random, m, N * RANK);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i * N + j] = 0.0;
            for (int k = 0; k < RANK; k++) {
                a[i * N + j] += (k < PLUS ? 1.0 : -1.0) * m[i * RANK + k] * m[j * RANK + k];
            }
        }
    }
    const perp_status status = perp_ldl_factor(N, a, N, pivots, work, NULL);
    assert_true(status == PERP_STATUS_OK || status == PERP_STATUS_SINGULAR);
    const perp_inertia inertia = perp_ldl_inertia(N, a, N, pivots, N * DBL_EPSILON * norm_infinity(N, RANK, m) * RANK);
    assert_int_equal(inertia.positive, PLUS);
    assert_int_equal(inertia.negative, MINUS);
    assert_int_equal(inertia.zero, N - RANK);
}

static void exact_zero_pivot_is_singular(void **state)
{
    (void)state;
    double a[9] = {2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -3.0}, work[6];
    int pivots[3], failed = -1;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_ldl_factor(3, a, 3, pivots, work, &failed));
    assert_int_equal(failed, 1);
    const perp_inertia inertia = perp_ldl_inertia(3, a, 3, pivots, 0.0);
    assert_int_equal(inertia.positive, 1);
    assert_int_equal(inertia.negative, 1);
    assert_int_equal(inertia.zero, 1);
    double ones[4] = {1.0, 0.0, 1.0, 1.0};
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_ldl_factor(2, ones, 2, pivots, work, &failed));
    assert_int_equal(failed, 1);
}

static void not_finite_is_bad_input(void **state)
{
    (void)state;
    perp_random random = {27};
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    double work[14];
    int pivots[7], failed;
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < 7; i++) {
            for (int j = 0; j <= i; j++) {
                double *a = new_symmetric(&random, 7);
                a[i * 7 + j] = poisons[p];
                ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_ldl_factor(7, a, 7, pivots, work, &failed));
                assert_int_equal(failed, i);
                free(a);
            }
        }
    }
    double huge[4] = {1e308, 0.0, 1.2e308, -1.7e308}; /* pivots, then -1.7e308 - 1.44e308 overflows */
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_ldl_factor(2, huge, 2, pivots, work, &failed));
}

/* Graded from 1 to 1e-24: the pivots keep the scales apart, and the entrywise backward error holds in every scale. */
static void graded_matrix_keeps_its_scales(void **state)
{
    (void)state;
    perp_random random = {28};
    enum { N = 9 };
    double *a = new_symmetric(&random, N), work[2 * N];
    int pivots[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i * N + j] *= pow(10.0, -1.5 * (i + j));
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            a[j * N + i] = a[i * N + j];
        }
    }
    double *ldl = copy_reals(a, N * N);
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(N, ldl, N, pivots, work, NULL));
    check_factor(N, a, ldl, N, pivots);
    free(a);
    free(ldl);
}

static void smallest_sizes(void **state)
{
    (void)state;
    int failed = 3, pivot;
    double work[2], a = -4.0, b = 2.0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(0, NULL, 0, NULL, NULL, &failed));
    assert_int_equal(failed, -1);
    perp_ldl_solve(0, NULL, 0, NULL, NULL, NULL);
    ASSERT_STATUS(PERP_STATUS_OK, perp_ldl_factor(1, &a, 1, &pivot, work, NULL));
    perp_ldl_solve(1, &a, 1, &pivot, &b, work);
    assert_true(b == -0.5);
    assert_int_equal(perp_ldl_inertia(1, &a, 1, &pivot, 0.0).negative, 1);
    a = 0.0;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_ldl_factor(1, &a, 1, &pivot, work, &failed));
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_give_the_matrix),
        cmocka_unit_test(solution_has_a_small_residual),
        cmocka_unit_test(saddle_point_has_its_inertia),
        cmocka_unit_test(zero_diagonal_takes_blocks_of_two),
        cmocka_unit_test(inertia_is_the_signs_of_the_eigenvalues),
        cmocka_unit_test(rank_deficient_matrix_counts_its_zeros),
        cmocka_unit_test(exact_zero_pivot_is_singular),
        cmocka_unit_test(not_finite_is_bad_input),
        cmocka_unit_test(graded_matrix_keeps_its_scales),
        cmocka_unit_test(smallest_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
