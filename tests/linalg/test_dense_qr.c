#include "linalg_test.h"

typedef struct decomposition {
    perp_qr qr;
    double *a, *factors, *memory;
    int *permutation;
} decomposition;

/* Copies the packed rows x columns matrix `a` and factors the copy, with a stride of its own. */
static perp_status decompose(decomposition *d, int rows, int columns, const double *a, double tolerance)
{
    const int stride = columns + 2;
    d->a = copy_reals(a, rows * columns);
    d->factors = new_reals(rows * stride);
    d->memory = new_reals((int)perp_qr_memory_length(rows, columns));
    d->permutation = new_integers(columns);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            d->factors[i * stride + j] = a[i * columns + j];
        }
    }
    perp_qr_init(&d->qr, rows, columns, d->factors, stride, d->memory, d->permutation);
    return perp_qr_factor(&d->qr, tolerance);
}

static void free_decomposition(decomposition *d)
{
    free(d->a);
    free(d->factors);
    free(d->memory);
    free(d->permutation);
}

/* Q explicitly, packed. */
static double *new_q(const perp_qr *qr)
{
    const int m = qr->rows;
    double *q = new_reals(m * m), *x = new_reals(m);
    for (int c = 0; c < m; c++) {
        memset(x, 0, (size_t)m * sizeof(double));
        x[c] = 1.0;
        perp_qr_apply_q(qr, x);
        for (int i = 0; i < m; i++) {
            q[i * m + c] = x[i];
        }
    }
    free(x);
    return q;
}

/* Each reflector is applied with an error of about 3 m roundings relative to the norm of what it acts on (Higham, lemma
 * 19.2), k of them with 3 m k u; in the Frobenius norm that gives |Q'Q - I| <= 6 m k u sqrt(m), and |A - QR| the same
 * times |A|. Observed errors are far smaller (they add like sqrt): the tests use this bound without the sqrt. */
static double orthogonality_bound(const perp_qr *qr)
{
    const int k = qr->rows < qr->columns ? qr->rows : qr->columns;
    return 6.0 * (qr->rows + 2) * (k + 2) * (0.5 * DBL_EPSILON);
}

static void check_orthogonal(int rows, int columns, const double *q, double bound)
{
    for (int i = 0; i < columns; i++) {
        for (int j = 0; j < columns; j++) {
            double s = i == j ? -1.0 : 0.0;
            for (int k = 0; k < rows; k++) {
                s += q[k * columns + i] * q[k * columns + j];
            }
            ASSERT_AT_MOST(fabs(s), bound);
        }
    }
}

/* A P = Q R for full column rank, or full rank of a square: then Z = I. */
static void check_product(const decomposition *d)
{
    const perp_qr *qr = &d->qr;
    double *x = new_reals(qr->rows);
    const double bound = orthogonality_bound(qr) * norm_two(qr->rows * qr->columns, d->a);
    for (int j = 0; j < qr->columns; j++) {
        for (int i = 0; i < qr->rows; i++) {
            x[i] = i <= j ? qr->factors[i * qr->stride + j] : 0.0;
        }
        perp_qr_apply_q(qr, x);
        for (int i = 0; i < qr->rows; i++) {
            ASSERT_AT_MOST(fabs(x[i] - d->a[i * qr->columns + qr->permutation[j]]), bound);
        }
    }
    free(x);
}

/* Column pivoting takes the column with the largest rest: |R_kk| >= |R_k:j,j| for every j > k. Norms are good to
 * sqrt(eps) by the rule that computes them afresh, hence 1e-6. Full column rank only, where the factors still hold R.
 */
static void check_greedy(const perp_qr *qr)
{
    assert_int_equal(qr->rank, qr->columns);
    for (int k = 0; k < qr->columns; k++) {
        for (int j = k + 1; j < qr->columns; j++) {
            double square = 0.0;
            for (int i = k; i <= j; i++) {
                square += qr->factors[i * qr->stride + j] * qr->factors[i * qr->stride + j];
            }
            ASSERT_AT_MOST(sqrt(square), fabs(qr->factors[k * qr->stride + k]) * (1.0 + 1e-6));
        }
    }
}

static void tall_matrix_factors(void **state)
{
    (void)state;
    perp_random random = {41};
    for (int t = 0; t < TEST_SIZES && test_sizes[t] <= 101; t++) {
        const int n = test_sizes[t], m = n + t % 4;
        double *a = new_reals(m * n);
        fill_random(&random, a, m * n);
        decomposition d;
        ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, m, n, a, 0.0));
        assert_int_equal(d.qr.rank, n);
        check_product(&d);
        double *q = new_q(&d.qr), *x = new_reals(m);
        check_orthogonal(m, m, q, orthogonality_bound(&d.qr));
        /* Q' applied to the columns of Q gives the identity: the two applications are each other's inverse. */
        for (int i = 0; i < m; i++) {
            x[i] = q[i * m];
        }
        perp_qr_apply_q_transposed(&d.qr, x);
        ASSERT_AT_MOST(fabs(x[0] - 1.0), orthogonality_bound(&d.qr));
        ASSERT_AT_MOST(largest_magnitude(m - 1, x + 1), orthogonality_bound(&d.qr));
        check_greedy(&d.qr);
        free(a);
        free(q);
        free(x);
        free_decomposition(&d);
    }
}

/* m x n of rank r as a product of random factors; with noise below the tolerance if asked. */
static double *new_of_rank(perp_random *random, int m, int n, int r)
{
    double *left = new_reals(m * r), *right = new_reals(r * n), *a = new_reals(m * n);
    fill_random(random, left, m * r);
    fill_random(random, right, r * n);
    multiply(m, r, n, left, right, a);
    free(left);
    free(right);
    return a;
}

/* x = A^+ b by the singular value decomposition, of the given rank. */
static void solve_by_singular_values(int m, int n, const double *a, int rank, const double *b, double *x)
{
    const int k = m < n ? m : n;
    double *u = new_reals(m * k), *values = new_reals(k), *vt = new_reals(k * n);
    ASSERT_STATUS(PERP_STATUS_OK, perp_singular_values(m, n, a, n, (perp_singular_arrays){values, u, vt}, NULL, NULL));
    memset(x, 0, (size_t)n * sizeof(double));
    for (int p = 0; p < rank; p++) {
        double s = 0.0;
        for (int i = 0; i < m; i++) {
            s += u[i * k + p] * b[i];
        }
        for (int j = 0; j < n; j++) {
            x[j] += s / values[p] * vt[p * n + j];
        }
    }
    ASSERT_AT_MOST(values[0], 1e3 * values[rank - 1]); /* the condition that the bounds below count on */
    free(u);
    free(values);
    free(vt);
}

/* The least-squares problem has condition cond^2 |r| / (|A||x|) + cond; with cond <= 1e3, |b| ~ 1 and a backward error
 * of orthogonality_bound, 1e6 times it bounds the difference of two stable solutions relative to |x| + |b|. */
static void minimum_norm_solution_is_that_of_the_singular_values(void **state)
{
    (void)state;
    perp_random random = {42};
    const int shapes[][3] = {{1, 1, 1},   {5, 3, 3},    {3, 5, 3}, {8, 8, 5}, {12, 7, 4},  {7, 12, 4},
                             {30, 20, 1}, {20, 30, 19}, {1, 6, 1}, {6, 1, 1}, {40, 40, 33}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const int m = shapes[s][0], n = shapes[s][1], r = shapes[s][2];
        double *a = new_of_rank(&random, m, n, r), *b = new_reals(m), *x = new_reals(n), *y = new_reals(n);
        decomposition d;
        ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, m, n, a, 1e-10));
        assert_int_equal(d.qr.rank, r);
        fill_random(&random, b, m);
        solve_by_singular_values(m, n, a, r, b, y);
        double *rotated = copy_reals(b, m);
        perp_qr_solve(&d.qr, rotated, x);
        const double scale = norm_two(n, y) + norm_two(m, b);
        ASSERT_AT_MOST(largest_difference(n, x, y), 1e6 * orthogonality_bound(&d.qr) * scale);
        /* The tail of Q' b is the residual. */
        double square = 0.0;
        for (int i = 0; i < m; i++) {
            double e = b[i];
            for (int j = 0; j < n; j++) {
                e -= a[i * n + j] * x[j];
            }
            square += e * e;
        }
        ASSERT_AT_MOST(fabs(sqrt(square) - norm_two(m - r, rotated + r)), 1e3 * orthogonality_bound(&d.qr) * scale);
        free(a);
        free(b);
        free(x);
        free(y);
        free(rotated);
        free_decomposition(&d);
    }
}

/* A N = 0, N'N = I, and the rank and the nullity add up. */
static void null_space_is_orthonormal_and_null(void **state)
{
    (void)state;
    perp_random random = {43};
    const int shapes[][3] = {{5, 8, 5}, {8, 8, 6}, {12, 7, 4}, {3, 20, 2}, {1, 3, 1}, {9, 9, 9}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const int m = shapes[s][0], n = shapes[s][1], r = shapes[s][2], k = n - r;
        double *a = new_of_rank(&random, m, n, r), *wide = new_reals(n * (k + 1)), *basis = new_reals(n * k);
        double *zero = new_reals(m * k);
        decomposition d;
        ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, m, n, a, 1e-10));
        assert_int_equal(d.qr.rank, r);
        perp_qr_null_space(&d.qr, wide, k + 1);
        for (int i = 0; i < n; i++) {
            memcpy(basis + i * k, wide + i * (k + 1), (size_t)k * sizeof(double));
            assert_true(wide[i * (k + 1) + k] == 0.0); /* beyond the basis: untouched */
        }
        check_orthogonal(n, k, basis, 6.0 * (n + 2) * (r + 2) * (0.5 * DBL_EPSILON));
        multiply(m, n, k, a, basis, zero);
        ASSERT_AT_MOST(largest_magnitude(m * k, zero), 2.0 * orthogonality_bound(&d.qr) * norm_two(m * n, a));
        free(a);
        free(wide);
        free(basis);
        free(zero);
        free_decomposition(&d);
    }
}

/* Noise of 1e-9 is rank at the default tolerance and none at 1e-7. */
static void tolerance_decides_the_rank(void **state)
{
    (void)state;
    perp_random random = {44};
    enum { M = 15, N = 10, R = 6 };
    double *a = new_of_rank(&random, M, N, R);
    for (int i = 0; i < M * N; i++) {
        a[i] += 1e-9 * perp_random_uniform(&random, -1.0, 1.0);
    }
    decomposition d;
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, M, N, a, 0.0));
    assert_int_equal(d.qr.rank, N);
    free_decomposition(&d);
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, M, N, a, 1e-7));
    assert_int_equal(d.qr.rank, R);
    free_decomposition(&d);
    double exact[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, 3, 3, exact, 0.0));
    assert_int_equal(d.qr.rank, 2);
    free_decomposition(&d);
    free(a);
}

/* Columns that are equal but for 1e-9, by different amounts: after the first step all that is left of a norm is what
 * the difference of squares has lost, so it must be computed afresh for the later pivots to be right. */
static void nearly_parallel_columns_are_told_apart(void **state)
{
    (void)state;
    perp_random random = {48};
    enum { M = 12, N = 8 };
    double common[M], a[M * N];
    fill_random(&random, common, M);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            a[i * N + j] = common[i] + 1e-9 * (1 + (3 * j) % N) * perp_random_uniform(&random, -1.0, 1.0);
        }
    }
    decomposition d;
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, M, N, a, 0.0));
    check_product(&d);
    check_greedy(&d.qr);
    free_decomposition(&d);
}

/* Kahan's matrix has full rank at the default tolerance by its diagonal, which column pivoting is known to leave in
 * order; Hilbert's of size 20 has not. */
static void kahan_and_hilbert_matrices(void **state)
{
    (void)state;
    enum { N = 40 };
    double kahan[N * N] = {0};
    const double s = sin(1.2), c = cos(1.2);
    for (int i = 0; i < N; i++) {
        for (int j = i; j < N; j++) {
            kahan[i * N + j] = pow(s, i) * (i == j ? 1.0 : -c);
        }
    }
    decomposition d;
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, N, N, kahan, 0.0));
    assert_int_equal(d.qr.rank, N);
    check_product(&d);
    free_decomposition(&d);
    double *hilbert = new_hilbert(20);
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, 20, 20, hilbert, 0.0));
    assert_in_range(d.qr.rank, 12, 14); /* singular values cross 20 eps between the 13th and the 14th */
    free_decomposition(&d);
    free(hilbert);
}

/* The same matrix times 2^k: scaling by a power of two is exact, so the permutation and the rank stay, and tau and R /
 * 2^k change at most where hypot rounds differently, by a few units. Covers both ends of the range, where squares do
 * not exist. */
static void scaling_by_a_power_of_two_scales_r(void **state)
{
    (void)state;
    perp_random random = {45};
    enum { M = 6, N = 4 };
    double a[M * N], scaled[M * N];
    fill_random(&random, a, M * N);
    decomposition d, e;
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, M, N, a, 0.0));
    const int exponents[] = {-900, -700, -500, 300, 500, 1020};
    for (size_t t = 0; t < sizeof exponents / sizeof exponents[0]; t++) {
        for (int i = 0; i < M * N; i++) {
            scaled[i] = ldexp(a[i], exponents[t]);
        }
        ASSERT_STATUS(PERP_STATUS_OK, decompose(&e, M, N, scaled, 0.0));
        assert_int_equal(e.qr.rank, N);
        assert_memory_equal(d.permutation, e.permutation, N * sizeof(int));
        ASSERT_AT_MOST(largest_difference(N, d.qr.tau_left, e.qr.tau_left), 8 * DBL_EPSILON);
        for (int i = 0; i < N; i++) {
            for (int j = i; j < N; j++) {
                const double r = d.factors[i * d.qr.stride + j];
                ASSERT_AT_MOST(fabs(ldexp(e.factors[i * e.qr.stride + j], -exponents[t]) - r), 64 * DBL_EPSILON);
            }
        }
        free_decomposition(&e);
    }
    free_decomposition(&d);
}

/* Subnormal entries have few digits, but Q must be orthogonal. */
static void subnormal_matrix_keeps_q_orthogonal(void **state)
{
    (void)state;
    perp_random random = {46};
    enum { M = 7, N = 5 };
    double a[M * N];
    for (int i = 0; i < M * N; i++) {
        a[i] = ldexp(perp_random_uniform(&random, -1.0, 1.0), -1060);
    }
    decomposition d;
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, M, N, a, 0.0));
    double *q = new_q(&d.qr);
    check_orthogonal(M, M, q, orthogonality_bound(&d.qr));
    free(q);
    free_decomposition(&d);
    double huge[4] = {1.7e308, 1.0, 1.7e308, 2.0}; /* a norm of 2.4e308 does not exist */
    ASSERT_STATUS(PERP_STATUS_SINGULAR, decompose(&d, 2, 2, huge, 0.0));
    free_decomposition(&d);
}

static void not_finite_is_bad_input(void **state)
{
    (void)state;
    perp_random random = {47};
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        for (int k = 0; k < 20; k++) {
            double a[20];
            fill_random(&random, a, 20);
            a[k] = poisons[p];
            decomposition d;
            ASSERT_STATUS(PERP_STATUS_BAD_INPUT, decompose(&d, 5, 4, a, 0.0));
            free_decomposition(&d);
        }
    }
}

static void empty_and_zero_matrices(void **state)
{
    (void)state;
    decomposition d;
    double zeros[6] = {0}, b[3] = {1.0, 2.0, 3.0}, x[2] = {7.0, 7.0}, basis[4], none[1] = {0.0};
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, 3, 2, zeros, 0.0));
    assert_int_equal(d.qr.rank, 0);
    perp_qr_solve(&d.qr, b, x);
    assert_true(x[0] == 0.0 && x[1] == 0.0);
    assert_true(norm_two(3, b) == sqrt(14.0));
    perp_qr_null_space(&d.qr, basis, 2);
    assert_true(basis[0] == 1.0 && basis[1] == 0.0 && basis[2] == 0.0 && basis[3] == 1.0);
    free_decomposition(&d);
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, 0, 2, none, 0.0));
    x[0] = 7.0;
    perp_qr_solve(&d.qr, NULL, x);
    assert_true(x[0] == 0.0 && x[1] == 0.0);
    free_decomposition(&d);
    ASSERT_STATUS(PERP_STATUS_OK, decompose(&d, 2, 0, none, 0.0));
    assert_int_equal(d.qr.rank, 0);
    free_decomposition(&d);
    perp_qr qr;
    perp_qr_init(&qr, 0, 0, NULL, 0, NULL, NULL);
    ASSERT_STATUS(PERP_STATUS_OK, perp_qr_factor(&qr, 0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tall_matrix_factors),
        cmocka_unit_test(minimum_norm_solution_is_that_of_the_singular_values),
        cmocka_unit_test(null_space_is_orthonormal_and_null),
        cmocka_unit_test(tolerance_decides_the_rank),
        cmocka_unit_test(nearly_parallel_columns_are_told_apart),
        cmocka_unit_test(kahan_and_hilbert_matrices),
        cmocka_unit_test(scaling_by_a_power_of_two_scales_r),
        cmocka_unit_test(subnormal_matrix_keeps_q_orthogonal),
        cmocka_unit_test(not_finite_is_bad_input),
        cmocka_unit_test(empty_and_zero_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
