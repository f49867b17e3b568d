#include "linalg/dense.h"
#include "linalg_test.h"

typedef struct system_of {
    int n;
    double *a, *lu, *b, *x;
    int *pivots;
} system_of;

static system_of new_system(perp_random *random, int n)
{
    system_of s = {n, new_reals(n * n), NULL, new_reals(n), NULL, new_integers(n)};
    fill_random(random, s.a, n * n);
    fill_random(random, s.b, n);
    s.lu = copy_reals(s.a, n * n);
    s.x = copy_reals(s.b, n);
    return s;
}

static void free_system(system_of *s)
{
    free(s->a);
    free(s->lu);
    free(s->b);
    free(s->x);
    free(s->pivots);
}

/* |P A - L U| <= gamma(n) |L||U| entry by entry (Higham, theorem 9.3), and forming L U here costs gamma(n) again. Also
 * |L| <= 1. */
static void check_factor(int n, const double *a, const double *lu, int stride, const int *pivots)
{
    double *p = copy_reals(a, n * n);
    for (int k = 0; k < n; k++) {
        assert_in_range(pivots[k], k, n - 1);
        for (int j = 0; j < n; j++) {
            const double t = p[k * n + j];
            p[k * n + j] = p[pivots[k] * n + j];
            p[pivots[k] * n + j] = t;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0, magnitudes = 0.0;
            for (int k = 0; k <= (i < j ? i : j); k++) {
                const double l = k == i ? 1.0 : lu[i * stride + k];
                ASSERT_AT_MOST(fabs(l), 1.0);
                sum += l * lu[k * stride + j];
                magnitudes += fabs(l * lu[k * stride + j]);
            }
            ASSERT_AT_MOST(fabs(sum - p[i * n + j]), gamma_of(2 * n + 1) * magnitudes);
        }
    }
    free(p);
}

/* (A + E) x = b with |E| <= gamma(3 n) |L||U| up to the order of the rows (Higham, theorem 9.4), and the computed
 * residual adds gamma(n + 1) (|A||x| + |b|), where |A| <= |L||U| but for rounding. `y` gives |L||U||x|, or with the
 * transposed factors |U'||L'||x|. */
static double residual_bound(const system_of *s, bool transposed, const double *x, const double *b)
{
    const int n = s->n;
    double *y = copy_reals(x, n);
    for (int turn = 0; turn < 2; turn++) {
        const bool lower = (turn == 0) == transposed;
        double *z = new_reals(n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                const double entry = lower ? (j < i ? s->lu[i * n + j] : j == i) : (j >= i ? s->lu[i * n + j] : 0.0);
                z[transposed ? j : i] += fabs(entry * y[transposed ? i : j]);
            }
        }
        free(y);
        y = z;
    }
    const double scale = largest_magnitude(n, y) + largest_magnitude(n, b);
    free(y);
    return gamma_of(4 * n + 4) * scale;
}

static void factors_give_the_matrix(void **state)
{
    (void)state;
    perp_random random = {31};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t], stride = n + 1;
        double *a = new_reals(n * n), *lu = new_reals(n * stride);
        int *pivots = new_integers(n), failed = 5;
        fill_random(&random, a, n * n);
        for (int i = 0; i < n; i++) {
            memcpy(lu + i * stride, a + i * n, (size_t)n * sizeof(double));
            lu[i * stride + n] = 1e300;
        }
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(n, lu, stride, pivots, &failed));
        assert_int_equal(failed, -1);
        check_factor(n, a, lu, stride, pivots);
        for (int i = 0; i < n; i++) {
            assert_true(lu[i * stride + n] == 1e300);
        }
        free(a);
        free(lu);
        free(pivots);
    }
}

static void solutions_have_small_residuals(void **state)
{
    (void)state;
    perp_random random = {32};
    for (int t = 0; t < TEST_SIZES; t++) {
        const int n = test_sizes[t];
        system_of s = new_system(&random, n);
        double *transposed = new_reals(n * n), *y = copy_reals(s.b, n);
        transpose_to(n, n, s.a, transposed);
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(n, s.lu, n, s.pivots, NULL));
        perp_lu_solve(n, s.lu, n, s.pivots, s.x);
        ASSERT_AT_MOST(residual(n, n, s.a, s.x, s.b), residual_bound(&s, false, s.x, s.b));
        perp_lu_solve_transposed(n, s.lu, n, s.pivots, y);
        ASSERT_AT_MOST(residual(n, n, transposed, y, s.b), residual_bound(&s, true, y, s.b));
        free(transposed);
        free(y);
        free_system(&s);
    }
}

static void many_right_hand_sides(void **state)
{
    (void)state;
    perp_random random = {33};
    enum { N = 19, COUNT = 5, STRIDE = 7 };
    system_of s = new_system(&random, N);
    double b[N * STRIDE], x[N * STRIDE], column[N], solved[N];
    fill_random(&random, b, N * STRIDE);
    memcpy(x, b, sizeof b);
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, s.lu, N, s.pivots, NULL));
    perp_lu_solve_many(N, s.lu, N, s.pivots, (perp_matrix_view){x, N, COUNT, STRIDE});
    for (int c = 0; c < STRIDE; c++) {
        for (int i = 0; i < N; i++) {
            column[i] = b[i * STRIDE + c];
            solved[i] = x[i * STRIDE + c];
        }
        if (c < COUNT) {
            ASSERT_AT_MOST(residual(N, N, s.a, solved, column), residual_bound(&s, false, solved, column));
        } else {
            assert_memory_equal(column, solved, sizeof column);
        }
    }
    free_system(&s);
}

/* det(A B) = det(A) det(B), det(A') = det(A), a permutation has its parity, diag(1e200 ..) does not overflow. A
 * relative error of cond n u in each of the determinants is an absolute one in its logarithm; cond < 1e5 for this seed.
 */
static void determinant_is_multiplicative(void **state)
{
    (void)state;
    perp_random random = {34};
    enum { N = 8 };
    for (int trial = 0; trial < 50; trial++) {
        system_of a = new_system(&random, N), b = new_system(&random, N);
        double product[N * N], log_a, log_b, log_product;
        int pivots[N];
        multiply(N, N, N, a.a, b.a, product);
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, a.lu, N, a.pivots, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, b.lu, N, b.pivots, NULL));
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, product, N, pivots, NULL));
        const int sign_a = perp_lu_determinant(N, a.lu, N, a.pivots, &log_a);
        const int sign_b = perp_lu_determinant(N, b.lu, N, b.pivots, &log_b);
        assert_int_equal(perp_lu_determinant(N, product, N, pivots, &log_product), sign_a * sign_b);
        ASSERT_AT_MOST(fabs(log_product - log_a - log_b), 1e5 * 4 * N * DBL_EPSILON);
        free_system(&a);
        free_system(&b);
    }
}

static void determinant_signs_and_extremes(void **state)
{
    (void)state;
    int pivots[4];
    double logarithm;
    double cycle[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0}; /* a 3-cycle is even */
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(3, cycle, 3, pivots, NULL));
    assert_int_equal(perp_lu_determinant(3, cycle, 3, pivots, &logarithm), 1);
    assert_true(logarithm == 0.0);
    double swap[4] = {0, 1, 1, 0};
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(2, swap, 2, pivots, NULL));
    assert_int_equal(perp_lu_determinant(2, swap, 2, pivots, NULL), -1);
    double huge[16] = {1e200, 0, 0, 0, 0, -1e200, 0, 0, 0, 0, 1e200, 0, 0, 0, 0, 1e200};
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(4, huge, 4, pivots, NULL));
    assert_int_equal(perp_lu_determinant(4, huge, 4, pivots, &logarithm), -1);
    ASSERT_AT_MOST(fabs(logarithm - 800.0 * log(10.0)), 8 * DBL_EPSILON * logarithm);
    double singular[4] = {1, 2, 2, 4};
    int failed = -1;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_lu_factor(2, singular, 2, pivots, &failed));
    assert_int_equal(failed, 1);
    assert_int_equal(perp_lu_determinant(2, singular, 2, pivots, &logarithm), 0);
    assert_true(logarithm == -INFINITY);
    assert_int_equal(perp_lu_determinant(0, NULL, 0, NULL, &logarithm), 1);
    assert_true(logarithm == 0.0);
}

/* The estimate of |A^-1|_1 is a lower bound attained by a vector, so rcond is at least the truth (to rounding, cond n
 * u), and on random matrices it is almost always within a factor 3 of it (Higham 1988). The truth comes from the
 * inverse. */
static void condition_estimate_brackets_the_truth(void **state)
{
    (void)state;
    perp_random random = {35};
    for (int trial = 0; trial < 100; trial++) {
        const int n = 1 + trial % 25;
        system_of s = new_system(&random, n);
        double *inverse = new_reals(n * n), *work = new_reals(2 * n);
        for (int i = 0; i < n; i++) {
            inverse[i * n + i] = 1.0;
        }
        const double norm = perp_matrix_norm_one(n, n, s.a, n);
        ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(n, s.lu, n, s.pivots, NULL));
        perp_lu_solve_many(n, s.lu, n, s.pivots, packed_view(inverse, n, n));
        const double truth = 1.0 / (norm * perp_matrix_norm_one(n, n, inverse, n));
        const double estimate = perp_lu_reciprocal_condition(n, s.lu, n, s.pivots, norm, work);
        ASSERT_AT_MOST(truth * (1.0 - 1e-8), estimate);
        ASSERT_AT_MOST(estimate, 3.0 * truth);
        free(inverse);
        free(work);
        free_system(&s);
    }
}

/* Hilbert of size 12 has a 1-norm condition of 4.1e16 (3.9e15 at 11): numerically singular. */
static void hilbert_matrix_is_ill_conditioned(void **state)
{
    (void)state;
    double *a = new_hilbert(12), work[24];
    int pivots[12];
    const double norm = perp_matrix_norm_one(12, 12, a, 12);
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(12, a, 12, pivots, NULL));
    const double rcond = perp_lu_reciprocal_condition(12, a, 12, pivots, norm, work);
    assert_true(rcond > 0.0);
    ASSERT_AT_MOST(rcond, 1e-15);
    free(a);
    double one = 5.0, scratch[2];
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(1, &one, 1, pivots, NULL));
    ASSERT_AT_MOST(fabs(perp_lu_reciprocal_condition(1, &one, 1, pivots, 5.0, scratch) - 1.0), 4 * DBL_EPSILON);
    assert_true(perp_lu_reciprocal_condition(0, NULL, 0, NULL, 0.0, NULL) == 1.0);
}

static void not_finite_is_bad_input(void **state)
{
    (void)state;
    perp_random random = {36};
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        for (int k = 0; k < 49; k++) {
            system_of s = new_system(&random, 7);
            int failed = -1;
            s.lu[k] = poisons[p];
            ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lu_factor(7, s.lu, 7, s.pivots, &failed));
            assert_int_equal(failed, k / 7);
            free_system(&s);
        }
    }
    double huge[4] = {1e308, 1.7e308, -1e308, 1.7e308}; /* 1.7e308 + 1.7e308 overflows */
    int pivots[2], failed = -1;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_lu_factor(2, huge, 2, pivots, &failed));
    assert_int_equal(failed, 1);
    double nan_matrix[4] = {1.0, 2.0, NAN, 4.0};
    assert_true(isnan(perp_matrix_norm_one(2, 2, nan_matrix, 2)));
    double known[6] = {1.0, -2.0, 3.0, -4.0, 5.0, -6.0};
    assert_true(perp_matrix_norm_one(2, 3, known, 3) == 9.0);
}

/* Wilkinson's matrix: growth 2^(n-1), the worst of partial pivoting; U_nn shows that it is computed, not hidden. */
static void worst_case_growth(void **state)
{
    (void)state;
    enum { N = 30 };
    double a[N * N];
    int pivots[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i * N + j] = j == i || j == N - 1 ? 1.0 : j < i ? -1.0 : 0.0;
        }
    }
    double *lu = copy_reals(a, N * N);
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, lu, N, pivots, NULL));
    assert_true(lu[N * N - 1] == 0x1p29);
    check_factor(N, a, lu, N, pivots);
    free(lu);
}

/* Rows scaled by 10^-20 .. 10^20 by turns: the entrywise bound of check_factor holds whatever the scaling. */
static void graded_matrix(void **state)
{
    (void)state;
    perp_random random = {37};
    enum { N = 11 };
    system_of s = new_system(&random, N);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            s.a[i * N + j] *= pow(10.0, 4.0 * ((i * 7) % N - 5)) * pow(10.0, 3.0 * ((j * 4) % N - 5));
        }
    }
    memcpy(s.lu, s.a, N * N * sizeof(double));
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, s.lu, N, s.pivots, NULL));
    check_factor(N, s.a, s.lu, N, s.pivots);
    free_system(&s);
}

static void smallest_sizes(void **state)
{
    (void)state;
    int failed = 3, pivot;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(0, NULL, 0, NULL, &failed));
    assert_int_equal(failed, -1);
    perp_lu_solve(0, NULL, 0, NULL, NULL);
    perp_lu_solve_transposed(0, NULL, 0, NULL, NULL);
    double a = -4.0, b = 2.0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(1, &a, 1, &pivot, NULL));
    perp_lu_solve(1, &a, 1, &pivot, &b);
    assert_true(b == -0.5);
    a = 0.0;
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_lu_factor(1, &a, 1, &pivot, &failed));
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_give_the_matrix),
        cmocka_unit_test(solutions_have_small_residuals),
        cmocka_unit_test(many_right_hand_sides),
        cmocka_unit_test(determinant_is_multiplicative),
        cmocka_unit_test(determinant_signs_and_extremes),
        cmocka_unit_test(condition_estimate_brackets_the_truth),
        cmocka_unit_test(hilbert_matrix_is_ill_conditioned),
        cmocka_unit_test(not_finite_is_bad_input),
        cmocka_unit_test(worst_case_growth),
        cmocka_unit_test(graded_matrix),
        cmocka_unit_test(smallest_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
