#include "linalg_test.h"

#include <perp/linalg_sparse.h>

#include "failing_allocator.h"
#include "linalg/dense.h"

/* A matrix in both forms. */
typedef struct sparse {
    int n, *starts, *rows;
    double *values, *dense;
} sparse;

static sparse sparse_of_dense(int n, const double *dense)
{
    sparse s = {n, new_integers(n + 1), new_integers(n * n), new_reals(n * n), copy_reals(dense, n * n)};
    int count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            if (dense[i * n + j] != 0.0) {
                s.rows[count] = i;
                s.values[count++] = dense[i * n + j];
            }
        }
        s.starts[j + 1] = count;
    }
    return s;
}

/* About `per_row` entries per row beside the diagonal, which is weak enough for KLU to leave it at times. */
static sparse new_sparse(perp_random *random, int n, int per_row)
{
    double *dense = new_reals(n * n);
    for (int i = 0; i < n; i++) {
        dense[i * n + i] = perp_random_uniform(random, 0.01, 1.0);
        for (int k = 0; k < per_row; k++) {
            const int j = (int)(perp_random_bits(random) % (uint64_t)n);
            dense[i * n + j] += perp_random_uniform(random, -1.0, 1.0);
        }
    }
    sparse s = sparse_of_dense(n, dense);
    free(dense);
    return s;
}

static void free_sparse(sparse *s)
{
    free(s->starts);
    free(s->rows);
    free(s->values);
    free(s->dense);
}

static perp_sparse_matrix matrix_of(const sparse *s)
{
    return (perp_sparse_matrix){s->n, s->starts, s->rows, s->values};
}

/* Writes s->values, in order, into s->dense. */
static void refresh_dense(sparse *s)
{
    for (int j = 0; j < s->n; j++) {
        for (int k = s->starts[j]; k < s->starts[j + 1]; k++) {
            s->dense[s->rows[k] * s->n + j] = s->values[k];
        }
    }
}

/* (A + E) x = b with |E| <= gamma(3 n) |L||U|. KLU's threshold of 0.001 lets a multiplier be 1000, its fill-reducing
 * order keeps the rows of L short; the reciprocal pivot growth it reports divides the bound: |L||U| <= 1000 |A| /
 * growth at the very worst, and 10 |A| / growth is what these matrices need. Only nonzeros round: 20 n u covers gamma(3
 * n). */
static double residual_bound(const sparse *s, const perp_sparse_lu *lu, const double *x, const double *b)
{
    const double growth = perp_sparse_lu_get_info(lu).pivot_growth;
    assert_true(growth > 0.0);
    const double scale = norm_infinity(s->n, s->n, s->dense) * largest_magnitude(s->n, x) + largest_magnitude(s->n, b);
    return 20.0 * s->n * (0.5 * DBL_EPSILON) * 10.0 / growth * scale;
}

/* Solves with A and with A', two right-hand sides at once, and checks the residuals. */
static void check_solves(const sparse *s, perp_sparse_lu *lu, perp_random *random)
{
    const int n = s->n;
    double *b = new_reals(2 * n), *transposed = new_reals(n * n);
    fill_random(random, b, 2 * n);
    transpose_to(n, n, s->dense, transposed);
    double *x = copy_reals(b, 2 * n), *y = copy_reals(b, 2 * n);
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_solve(lu, 2, x, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_solve_transposed(lu, 2, y, NULL));
    for (int c = 0; c < 2; c++) {
        const double *right = b + c * n;
        ASSERT_AT_MOST(residual(n, n, s->dense, x + c * n, right), residual_bound(s, lu, x + c * n, right));
        const double bound = residual_bound(s, lu, y + c * n, right) *
                             (norm_infinity(n, n, transposed) / norm_infinity(n, n, s->dense) + 1.0);
        ASSERT_AT_MOST(residual(n, n, transposed, y + c * n, right), bound);
    }
    free(b);
    free(transposed);
    free(x);
    free(y);
}

static void random_matrices_solve_both_ways(void **state)
{
    (void)state;
    perp_random random = {61};
    const int sizes[] = {1, 2, 3, 10, 50, 150};
    for (size_t t = 0; t < sizeof sizes / sizeof sizes[0]; t++) {
        sparse s = new_sparse(&random, sizes[t], 4);
        const perp_sparse_matrix a = matrix_of(&s);
        perp_sparse_lu *lu;
        ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
        check_solves(&s, lu, &random);
        const perp_sparse_lu_info info = perp_sparse_lu_get_info(lu);
        assert_int_equal(info.nonzeros, s.starts[s.n]);
        assert_true(info.nonzeros_l >= s.n && info.nonzeros_u >= s.n && info.blocks >= 1);
        assert_int_equal(info.factorizations, 1);
        perp_sparse_lu_destroy(lu);
        free_sparse(&s);
    }
}

/* Kernel and KLU on one system: the solutions differ by at most cond times the sum of the backward errors. */
static void agrees_with_the_kernel(void **state)
{
    (void)state;
    perp_random random = {62};
    enum { N = 60 };
    sparse s = new_sparse(&random, N, 3);
    const perp_sparse_matrix a = matrix_of(&s);
    double b[N], x[N], y[N], work[2 * N], *mine = copy_reals(s.dense, N * N);
    int pivots[N];
    fill_random(&random, b, N);
    memcpy(x, b, sizeof b);
    memcpy(y, b, sizeof b);
    perp_sparse_lu *lu;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_solve(lu, 1, x, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_lu_factor(N, mine, N, pivots, NULL));
    perp_lu_solve(N, mine, N, pivots, y);
    const double norm = perp_matrix_norm_one(N, N, s.dense, N);
    const double dense_rcond = perp_lu_reciprocal_condition(N, mine, N, pivots, norm, work);
    const double bound = 100.0 * N * DBL_EPSILON / dense_rcond * largest_magnitude(N, x);
    ASSERT_AT_MOST(largest_difference(N, x, y), bound);
    /* The two condition estimates are lower bounds of one number, each within a factor 3 of it as a rule. */
    double rcond;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_reciprocal_condition(lu, &rcond, NULL));
    ASSERT_AT_MOST(rcond, 3.0 * dense_rcond);
    ASSERT_AT_MOST(dense_rcond, 3.0 * rcond);
    perp_sparse_lu_destroy(lu);
    free(mine);
    free_sparse(&s);
}

static void refactor_keeps_pivots_that_serve(void **state)
{
    (void)state;
    perp_random random = {63};
    sparse s = new_sparse(&random, 80, 3);
    const perp_sparse_matrix a = matrix_of(&s);
    perp_sparse_lu *lu;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
    for (int step = 1; step <= 5; step++) {
        for (int k = 0; k < s.starts[s.n]; k++) {
            s.values[k] *= 1.0 + 0.01 * perp_random_uniform(&random, -1.0, 1.0);
        }
        refresh_dense(&s);
        ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_refactor(lu, s.values, NULL));
        check_solves(&s, lu, &random);
        assert_int_equal(perp_sparse_lu_get_info(lu).refactorizations, step);
        assert_int_equal(perp_sparse_lu_get_info(lu).factorizations, 1);
    }
    perp_sparse_lu_destroy(lu);
    free_sparse(&s);
}

/* [d 1; 1 d'] with the old pivot made 1e-14: keeping it would lose fourteen digits. Then made exactly 0. */
static void refactor_chooses_pivots_anew_when_they_degrade(void **state)
{
    (void)state;
    perp_random random = {64};
    const double start[9] = {2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 0.5, 1.0, 4.0};
    const double small[] = {1e-14, 0.0};
    for (int t = 0; t < 2; t++) {
        sparse s = sparse_of_dense(3, start);
        const perp_sparse_matrix a = matrix_of(&s);
        perp_sparse_lu *lu;
        ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
        s.values[0] = s.values[4] = s.values[8] = small[t]; /* the whole diagonal */
        refresh_dense(&s);
        ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_refactor(lu, s.values, NULL));
        assert_int_equal(perp_sparse_lu_get_info(lu).factorizations, 2);
        assert_int_equal(perp_sparse_lu_get_info(lu).refactorizations, 0);
        ASSERT_AT_MOST(0.01, perp_sparse_lu_get_info(lu).pivot_growth);
        check_solves(&s, lu, &random);
        perp_sparse_lu_destroy(lu);
        free_sparse(&s);
    }
}

static void failed_refactor_leaves_a_handle_that_can_recover(void **state)
{
    (void)state;
    perp_random random = {65};
    const double start[4] = {2.0, 1.0, 1.0, 3.0}, singular[4] = {1.0, 2.0, 2.0, 4.0}, good[4] = {5.0, 1.0, 1.0, 2.0};
    const double poison[4] = {1.0, NAN, 2.0, 4.0};
    double b[2] = {1.0, 1.0}, rcond = 7.0;
    perp_error error;
    sparse s = sparse_of_dense(2, start);
    const perp_sparse_matrix a = matrix_of(&s);
    perp_sparse_lu *lu;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_sparse_lu_refactor(lu, poison, &error));
    check_solves(&s, lu, &random); /* the old factors stay */
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_sparse_lu_refactor(lu, singular, &error));
    assert_int_equal(error.status, PERP_STATUS_SINGULAR);
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_sparse_lu_solve(lu, 1, b, &error));
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_sparse_lu_solve_transposed(lu, 1, b, NULL));
    assert_true(b[0] == 1.0 && b[1] == 1.0);
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_reciprocal_condition(lu, &rcond, NULL));
    assert_true(rcond == 0.0);
    memcpy(s.values, good, sizeof good);
    refresh_dense(&s);
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_refactor(lu, s.values, NULL));
    check_solves(&s, lu, &random);
    perp_sparse_lu_destroy(lu);
    free_sparse(&s);
}

static void singular_matrices_are_refused(void **state)
{
    (void)state;
    const double values[4] = {1.0, 2.0, 2.0, 4.0}, structural[9] = {1, 2, 3, 0, 0, 4, 0, 0, 5};
    const double *cases[] = {values, structural};
    const int sizes[] = {2, 3};
    for (int t = 0; t < 2; t++) {
        sparse s = sparse_of_dense(sizes[t], cases[t]);
        const perp_sparse_matrix a = matrix_of(&s);
        perp_sparse_lu *lu = (perp_sparse_lu *)&s; /* not null, to see it cleared */
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_sparse_lu_create(&a, NULL, &lu, &error));
        assert_null(lu);
        assert_non_null(strstr(error.message, t == 1 ? "rank 2 of 3" : "singular"));
        free_sparse(&s);
    }
}

/* Nearly dependent rows factor, and the estimate shows it: cond([1 1; 1 1 + 1e-13]) = 4e13. */
static void near_singular_shows_in_the_condition(void **state)
{
    (void)state;
    const double near[4] = {1.0, 1.0, 1.0, 1.0 + 1e-13}, identity[4] = {1.0, 0.0, 0.0, 1.0};
    sparse s = sparse_of_dense(2, near), e = sparse_of_dense(2, identity);
    const perp_sparse_matrix a = matrix_of(&s), i = matrix_of(&e);
    perp_sparse_lu *lu;
    double rcond;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_reciprocal_condition(lu, &rcond, NULL));
    ASSERT_AT_MOST(fabs(rcond - 2.5e-14), 0.1 * 2.5e-14); /* 1e-13 itself carries a rounding of 1e-16 / 1e-13 */
    perp_sparse_lu_destroy(lu);
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&i, NULL, &lu, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_reciprocal_condition(lu, &rcond, NULL));
    assert_true(rcond == 1.0);
    perp_sparse_lu_destroy(lu);
    free_sparse(&s);
    free_sparse(&e);
}

static void expect_refused(perp_sparse_matrix a, const char *words)
{
    perp_sparse_lu *lu;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_sparse_lu_create(&a, NULL, &lu, &error));
    assert_null(lu);
    assert_non_null(strstr(error.message, words));
}

static void bad_patterns_are_refused(void **state)
{
    (void)state;
    const int starts[] = {0, 2, 4}, rows[] = {0, 1, 0, 1};
    const double values[] = {2.0, 1.0, 1.0, 3.0};
    const int late[] = {1, 2, 4}, back[] = {0, 3, 2}, negative[] = {0, -5, 4};
    const int beyond[] = {0, 2, 0, 1}, below[] = {-1, 1, 0, 1}, unsorted[] = {1, 0, 0, 1}, twice[] = {0, 0, 0, 1};
    expect_refused((perp_sparse_matrix){-1, starts, rows, values}, "size -1");
    expect_refused((perp_sparse_matrix){2, late, rows, values}, "starts at 1");
    expect_refused((perp_sparse_matrix){2, back, rows, values}, "column 1 of the sparse matrix ends before");
    expect_refused((perp_sparse_matrix){2, negative, rows, values}, "column 0 of the sparse matrix ends before");
    expect_refused((perp_sparse_matrix){2, starts, beyond, values}, "names row 2 of 2");
    expect_refused((perp_sparse_matrix){2, starts, below, values}, "names row -1 of 2");
    expect_refused((perp_sparse_matrix){2, starts, unsorted, values}, "rows must increase");
    expect_refused((perp_sparse_matrix){2, starts, twice, values}, "rows must increase");
    const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < 3; p++) {
        double bad[4] = {2.0, 1.0, 1.0, 3.0}, b[4] = {1.0, 1.0, 1.0, poisons[p]};
        bad[2] = poisons[p];
        expect_refused((perp_sparse_matrix){2, starts, rows, bad}, "entry 2 of the sparse matrix is NaN or Inf");
        perp_sparse_lu *lu;
        const perp_sparse_matrix a = {2, starts, rows, values};
        ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_sparse_lu_solve(lu, 2, b, NULL));
        assert_true(b[0] == 1.0);
        perp_sparse_lu_destroy(lu);
    }
}

static void size_zero_succeeds(void **state)
{
    (void)state;
    const perp_sparse_matrix a = {0, NULL, NULL, NULL};
    perp_sparse_lu *lu;
    double rcond = 7.0;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, NULL, &lu, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_solve(lu, 3, NULL, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_refactor(lu, NULL, NULL));
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_reciprocal_condition(lu, &rcond, NULL));
    assert_true(rcond == 1.0);
    perp_sparse_lu_destroy(lu);
    perp_sparse_lu_destroy(NULL);
}

/* The handle's memory is the caller's, on success, on failure and when there is none. */
static void handle_comes_from_the_allocator(void **state)
{
    (void)state;
    const double good[4] = {2.0, 1.0, 1.0, 3.0}, singular[4] = {1.0, 2.0, 2.0, 4.0};
    sparse s = sparse_of_dense(2, good), z = sparse_of_dense(2, singular);
    const perp_sparse_matrix a = matrix_of(&s), b = matrix_of(&z);
    failing_allocator granting = {.grants = INT_MAX}, refusing = {.grants = 0};
    const perp_allocator counting = allocator_of(&granting), none = allocator_of(&refusing);
    perp_sparse_lu *lu;
    ASSERT_STATUS(PERP_STATUS_OK, perp_sparse_lu_create(&a, &counting, &lu, NULL));
    assert_int_equal(granting.standing, 1);
    perp_sparse_lu_destroy(lu);
    assert_int_equal(granting.standing, 0);
    ASSERT_STATUS(PERP_STATUS_SINGULAR, perp_sparse_lu_create(&b, &counting, &lu, NULL));
    assert_int_equal(granting.standing, 0);
    ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, perp_sparse_lu_create(&a, &none, &lu, NULL));
    assert_null(lu);
    assert_int_equal(refusing.requests, 1);
    assert_int_equal(refusing.standing, 0);
    free_sparse(&s);
    free_sparse(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices_solve_both_ways),
        cmocka_unit_test(agrees_with_the_kernel),
        cmocka_unit_test(refactor_keeps_pivots_that_serve),
        cmocka_unit_test(refactor_chooses_pivots_anew_when_they_degrade),
        cmocka_unit_test(failed_refactor_leaves_a_handle_that_can_recover),
        cmocka_unit_test(singular_matrices_are_refused),
        cmocka_unit_test(near_singular_shows_in_the_condition),
        cmocka_unit_test(bad_patterns_are_refused),
        cmocka_unit_test(size_zero_succeeds),
        cmocka_unit_test(handle_comes_from_the_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
