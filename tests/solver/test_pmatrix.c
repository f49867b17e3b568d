/* perp_pmatrix_test against exact integer minors, known matrices, and its limits. */
#include "failing_allocator.h"

#include "solver/exact_minor.h"

#include <perp/solver.h>

#include <float.h>
#include <math.h>
#include <time.h>

enum { N = 12 };

typedef __int128 wide;

/* ---- exact minors --------------------------------------------------------------------------------------------------
 */

/* Bareiss' fraction-free elimination with row exchanges: the determinant of the rows and columns in `set`. Here
 * diagonals are at most 41 and other entries at most 9 (2 beside large diagonals), so rows are shorter than 42 and the
 * products, of two minors of 11 rows at most, below 42^22 = 5e35: 128 bits hold 1.7e38. */
static wide determinant(int n, const int *m, unsigned set)
{
    wide a[N * N], previous = 1;
    int index[N], count = 0, sign = 1;
    for (int i = 0; i < n; i++) {
        if (set >> i & 1U) {
            index[count++] = i;
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            a[i * count + j] = m[index[i] * n + index[j]];
        }
    }
    for (int k = 0; k < count; k++) {
        int row = k;
        while (row < count && a[row * count + k] == 0) {
            row++;
        }
        if (row == count) {
            return 0;
        }
        for (int j = 0; j < count && row != k; j++) {
            const wide t = a[row * count + j];
            a[row * count + j] = a[k * count + j];
            a[k * count + j] = t;
        }
        sign = row != k ? -sign : sign;
        for (int i = k + 1; i < count; i++) {
            for (int j = k + 1; j < count; j++) {
                a[i * count + j] =
                    (a[k * count + k] * a[i * count + j] - a[i * count + k] * a[k * count + j]) / previous;
            }
        }
        previous = a[k * count + k];
    }
    return sign * previous;
}

/* All 2^k minors that contain index k of the leading (k + 1)-block, as functions of m_kk = x: det = x det(S) + rest(S).
 * The block a holds bordered minors, as Bareiss' method does, and `previous` is det(S) > 0. Finds the least x with all
 * of them positive. */
static void least_diagonal(const wide *a, int rows, wide previous, wide *least)
{
    if (rows == 1) {
        const wide rest = a[0]; /* at x = 0 */
        wide x = -rest / previous;
        while (x * previous + rest > 0) {
            x--;
        }
        while (x * previous + rest <= 0) {
            x++;
        }
        *least = x > *least ? x : *least;
        return;
    }
    wide next[N * N] = {0};
    for (int i = 1; i < rows; i++) {
        for (int j = 1; j < rows; j++) {
            next[(i - 1) * (rows - 1) + j - 1] = a[i * rows + j];
        }
    }
    least_diagonal(next, rows - 1, previous, least); /* without the first index */
    for (int i = 1; i < rows; i++) {
        for (int j = 1; j < rows; j++) {
            next[(i - 1) * (rows - 1) + j - 1] = (a[0] * a[i * rows + j] - a[i * rows] * a[j]) / previous;
        }
    }
    least_diagonal(next, rows - 1, a[0], least);
}

/* ---- matrices at the boundary --------------------------------------------------------------------------------------
 */

static int integer(perp_random *random, int low, int high)
{
    return low + (int)(perp_random_bits(random) % (uint64_t)(high - low + 1));
}

/* Draws row and column k below the diagonal, and returns the least m_kk that keeps the leading block P. */
static int draw_border(perp_random *random, int n, int *a, int k, int density)
{
    wide block[N * N], least = 1;
    for (int j = 0; j < k; j++) {
        a[k * n + j] = integer(random, 1, 6) <= density ? integer(random, -2, 2) : 0;
        a[j * n + k] = integer(random, 1, 6) <= density ? integer(random, -2, 2) : 0;
    }
    a[k * n + k] = 0;
    for (int i = 0; i <= k; i++) {
        for (int j = 0; j <= k; j++) {
            block[i * (k + 1) + j] = a[i * n + j];
        }
    }
    least_diagonal(block, k + 1, 1, &least);
    return least > 1000 ? 1000 : (int)least;
}

/* Builds up a P-matrix whose every diagonal entry is the least (or nearly) that keeps it one, so that minors of 1, and
 * with one entry lowered by 1 minors of 0 and below, are common; returns whether it is P. A border that would need a
 * diagonal above 40 is drawn again, sparser. Indices are shuffled at the end so that the offence may be anywhere. */
static bool boundary_matrix(perp_random *random, int n, int *m)
{
    int a[N * N] = {0}, order[N];
    const bool lowered = integer(random, 0, 1);
    for (int k = 0; k < n; k++) {
        int density = integer(random, 1, 6), least = draw_border(random, n, a, k, density);
        for (int tries = 0; least > 40; tries++) {
            density -= tries % 5 == 4 && density > 0;
            least = draw_border(random, n, a, k, density);
        }
        a[k * n + k] = least + (integer(random, 0, 3) ? 0 : 1);
        if (k == n - 1 && lowered) {
            a[k * n + k] = least - 1;
        }
        order[k] = k;
    }
    for (int k = n - 1; k > 0; k--) {
        const int other = integer(random, 0, k), t = order[k];
        order[k] = order[other];
        order[other] = t;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            m[i * n + j] = a[order[i] * n + order[j]];
        }
    }
    return !lowered;
}

static void equals_exact_minors(void **state)
{
    (void)state;
    perp_random random = {1999};
    int zero = 0, negative = 0, p = 0, schur = 0, ones = 0;
    for (int t = 0; t < 10000; t++) {
        const int n = 1 + t % N;
        int m[N * N];
        double real[N * N];
        const bool expected = boundary_matrix(&random, n, m);
        /* Rows and columns times powers of ten: still integers, minors larger by a known factor, scaling not exact. */
        double row[N], column[N];
        for (int i = 0; i < n; i++) {
            row[i] = t % 2 ? pow(10.0, integer(&random, 0, 3)) : 1.0;
            column[i] = t % 2 ? pow(10.0, integer(&random, 0, 3)) : 1.0;
        }
        for (int i = 0; i < n * n; i++) {
            real[i] = m[i] * row[i / n] * column[i % n];
        }
        perp_pmatrix_result r;
        assert_int_equal(PERP_STATUS_OK, perp_pmatrix_test(n, real, NULL, NULL, &r, NULL));
        assert_int_equal(expected ? PERP_PMATRIX_P : PERP_PMATRIX_NOT_P, r.verdict);
        if (!expected) {
            const wide det = determinant(n, m, (unsigned)r.minor);
            double value = (double)det;
            for (int i = 0; i < n; i++) {
                value *= r.minor >> i & 1U ? row[i] * column[i] : 1.0;
            }
            assert_true(det <= 0);
            assert_true(fabs(value - r.minor_value) <= 1e-14 * fabs(value)); /* 24 roundings here, two there */
            assert_true(r.minor != 0 && r.minor < 1U << n);
            assert_int_equal(det < 0, r.p0_known);
            assert_false(r.p0 || r.column_sufficient);
        } else {
            assert_true(r.p0_known && r.p0 && r.column_sufficient_known && r.column_sufficient);
            ones += determinant(n, m, (1U << n) - 1U) == 1;
        }
        p += expected;
        schur += strcmp(r.test, "schur") == 0;
        zero += !expected && r.minor_value == 0.0;
        negative += !expected && r.minor_value < 0.0;
    }
    /* The sample has to contain what it is for. */
    if (!(p > 3000 && zero > 500 && negative > 500 && schur > 4000 && ones > 100)) {
        fail_msg("p %d, zero %d, negative %d, schur %d, ones %d", p, zero, negative, schur, ones);
    }
}

/* The generator's claim itself, by all 2^n determinants. */
static void the_generator_tells_the_truth(void **state)
{
    (void)state;
    perp_random random = {7};
    for (int t = 0; t < 300; t++) {
        const int n = 1 + t % 8;
        int m[N * N];
        const bool expected = boundary_matrix(&random, n, m);
        bool positive = true;
        for (unsigned set = 1; set < 1U << n; set++) {
            positive = positive && determinant(n, m, set) > 0;
        }
        assert_int_equal(expected, positive);
    }
}

/* Exact signs also of numbers that are no integers, and of minors that rounding would lose. */
static void exact_minors(void **state)
{
    (void)state;
    perp_arena memory;
    perp_exact_minor minor;
    perp_arena_init(&memory, NULL);
    assert_true(perp_exact_minor_init(&minor, N, &memory));
    perp_random random = {31};
    for (int t = 0; t < 2000; t++) {
        const int n = 1 + t % N;
        int m[N * N], index[N], shift[N];
        double real[N * N], value;
        for (int i = 0; i < n * n; i++) {
            m[i] = integer(&random, -9, 9);
        }
        for (int j = 0; j < n && t % 3 == 0; j++) { /* singular: the last row is the sum of the first two */
            m[(n - 1) * n + j] = n > 2 ? m[j] + m[n + j] : 0;
        }
        int total = 0;
        for (int i = 0; i < n; i++) {
            index[i] = i;
            shift[i] = integer(&random, -40, 40);
            total += shift[i];
        }
        for (int i = 0; i < n * n; i++) {
            real[i] = ldexp(m[i], shift[i / n]);
        }
        const wide det = determinant(n, m, (1U << n) - 1U);
        const perp_exact_sign sign = perp_exact_minor_sign(&minor, real, n, index, n, &value);
        assert_int_equal(det > 0 ? 1 : (det < 0 ? -1 : 0), sign);
        const double expected = ldexp((double)det, total);
        assert_true(fabs(value - expected) <= 1e-14 * fabs(expected));
    }
    /* (1 + e)(1 - e) - 1 = -e^2 with e = 2^-52: in double precision the first product is 1. */
    const double e = DBL_EPSILON, near[4] = {1.0 + e, 1.0, 1.0, 1.0 - e},
                 wide_range[4] = {1e300, 0x1p-1000, 1.0, 1e-300};
    double value;
    assert_int_equal(PERP_EXACT_NEGATIVE, perp_exact_minor_sign(&minor, near, 2, (const int[]){0, 1}, 2, &value));
    assert_true(value == -e * e);
    assert_int_equal(PERP_EXACT_POSITIVE, perp_exact_minor_sign(&minor, wide_range, 2, (const int[]){0, 1}, 2, NULL));
    double spread[64] = {0.0}; /* eight rows of 2000 bits each are more than there is room for: said, not guessed */
    int index[8];
    for (int i = 0; i < 8; i++) {
        index[i] = i;
        spread[i * 8 + i] = 1e300;
        spread[i * 8 + (i + 1) % 8] = 1e-300;
    }
    assert_int_equal(PERP_EXACT_TOO_WIDE, perp_exact_minor_sign(&minor, spread, 8, index, 8, NULL));
    perp_arena_clear(&memory);
}

/* ---- known matrices ------------------------------------------------------------------------------------------------
 */

static perp_pmatrix_result test(int n, const double *m)
{
    perp_pmatrix_result r;
    perp_error error = {.message = ""};
    if (perp_pmatrix_test(n, m, NULL, NULL, &r, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return r;
}

static void known_matrices(void **state)
{
    (void)state;
    perp_pmatrix_result r = test(2, (const double[]){-1, 4, -2, 5}); /* stable, not P */
    assert_int_equal(PERP_PMATRIX_NOT_P, r.verdict);
    assert_int_equal(1, r.minor);
    assert_true(r.minor_value == -1.0);
    r = test(3, (const double[]){1, 3, 0, 0, 1, 3, 3, 0, 1}); /* P, with eigenvalues -0.5 +- 2.6 i */
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
    assert_string_equal("schur", r.test);
    r = test(0, NULL);
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
    r = test(3, (const double[]){2, -1, 0, -1, 2, -1, 0, -1, 2});
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
    assert_string_equal("definite", r.test);
    r = test(3,
             (const double[]){1, 100, 0, 0, 1, 100, 1e-5, 0, 1}); /* scaled dominant, indefinite: 0.1 round the cycle */
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
    assert_string_equal("h-matrix", r.test);
    r = test(2, (const double[]){1, 1, 1, 1});
    assert_int_equal(PERP_PMATRIX_NOT_P, r.verdict);
    assert_int_equal(3, r.minor);
    assert_true(r.minor_value == 0.0);
    assert_false(r.p0_known || r.column_sufficient_known); /* it is both, but a zero minor does not tell */
    r = test(2, (const double[]){1, 3, 0, 1});
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
    /* Rod between two walls, P iff mu1 > -1.881157919, mu2 < 2.251463488 and det > 0. */
    r = test(2, (const double[]){1.4229838651265017, -0.717660074833049, 0.6777575901737007, 2.409693158640273});
    assert_int_equal(PERP_PMATRIX_P, r.verdict);
}

/* I + 3 (cyclic shift): proper principal minors are 1, the determinant is 1 + 3^n for odd n and 1 - 3^n for even. */
static void cyclic(int n, double *m)
{
    for (int i = 0; i < n * n; i++) {
        m[i] = 0.0;
    }
    for (int i = 0; i < n; i++) {
        m[i * n + i] = 1.0;
        m[i * n + (i + 1) % n] = 3.0;
    }
}

/* Cyclic blocks of three on the diagonal, anything above them: P, as every principal minor is a product of theirs. */
static void blocks(int n, double *m)
{
    perp_random random = {26};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            m[i * n + j] = i / 3 < j / 3 ? perp_random_uniform(&random, -3.0, 3.0) : 0.0;
        }
        m[i * n + i] = 1.0;
        if (i / 3 * 3 + 3 <= n) {
            m[i * n + i / 3 * 3 + (i + 1) % 3] = 3.0;
        }
    }
}

static void one_minor_of_many(void **state)
{
    (void)state;
    double m[28 * 28];
    for (int n = 3; n <= 17; n++) {
        cyclic(n, m);
        const perp_pmatrix_result r = test(n, m);
        assert_int_equal(n % 2 ? PERP_PMATRIX_P : PERP_PMATRIX_NOT_P, r.verdict);
        if (n % 2 == 0) {
            assert_true(r.minor == (UINT64_C(1) << n) - 1);
            assert_true(r.minor_value == 1.0 - pow(3.0, n));
        }
    }
    blocks(19, m);
    assert_int_equal(PERP_PMATRIX_P, test(19, m).verdict);
    /* the same with one block's cycle turned into -3, 3, 3: its minor is 1 - 27 */
    m[9 * 19 + 10] = -3.0;
    const perp_pmatrix_result r = test(19, m);
    assert_int_equal(PERP_PMATRIX_NOT_P, r.verdict);
    assert_true((r.minor & 0xe00) == 0xe00 && r.minor_value < 0.0);
}

/* Rounding must not decide: the determinant is -+2^-60 beside entries of 1, with rows that are no integers. */
static void far_below_rounding(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign++) {
        /* cyclic-like: d = det = 1 + a b c with a b c = -1 + sign 2^-60; a = -(1 - 2^-30), b = 1 + 2^-30, c = 1:
         * a b c = -1 + 2^-60 */
        const double h = 0x1p-30, a = sign == 0 ? -1.0 : -(1.0 - h), b = sign == 0 ? 1.0 : 1.0 + h;
        const double m[9] = {1.0, a, 0.0, 0.0, sign < 0 ? 1.0 - 0x1p-53 : 1.0, b, 1.0, 0.0, 1.0};
        const perp_pmatrix_result r = test(3, m);
        assert_int_equal(sign > 0 ? PERP_PMATRIX_P : PERP_PMATRIX_NOT_P, r.verdict);
        if (sign <= 0) {
            assert_int_equal(7, r.minor);
            assert_true(sign == 0 ? r.minor_value == 0.0 : r.minor_value == 0x1p-60 - 0x1p-53);
        }
    }
}

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define PLAIN_BUILD 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLAIN_BUILD 0
#endif
#endif
#ifndef PLAIN_BUILD
#define PLAIN_BUILD 1
#endif

/* Processor time, so that a busy machine does not fail it. */
static void in_time(void **state)
{
    (void)state;
    static double m[26 * 26];
    const struct {
        int n;
        double seconds;
    } limits[] = {{20, 0.05}, {26, 2.0}};
    for (int k = 0; k < 2; k++) {
        if (k == 1 && !PLAIN_BUILD) {
            break;
        }
        blocks(limits[k].n, m);
        const clock_t start = clock();
        assert_int_equal(PERP_PMATRIX_P, test(limits[k].n, m).verdict);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        assert_true(!PLAIN_BUILD || seconds <= limits[k].seconds);
    }
}

/* ---- limits --------------------------------------------------------------------------------------------------------
 */

static void beyond_the_limit(void **state)
{
    (void)state;
    enum { LARGE = 70 };
    static double m[LARGE * LARGE];
    const perp_pmatrix_settings settings = {.size = sizeof settings, .max_n = 10};
    perp_pmatrix_result r;
    cyclic(11, m);
    assert_int_equal(PERP_STATUS_OK, perp_pmatrix_test(11, m, &settings, NULL, &r, NULL));
    assert_int_equal(PERP_PMATRIX_UNKNOWN, r.verdict);
    assert_false(r.p0_known || r.column_sufficient_known);
    cyclic(29, m);
    assert_int_equal(PERP_PMATRIX_UNKNOWN, test(29, m).verdict);
    /* the cheap tests have no limit */
    cyclic(LARGE, m);
    m[LARGE * (LARGE - 1)] = 0.0;
    assert_int_equal(PERP_PMATRIX_P, test(LARGE, m).verdict);
    m[69 * LARGE + 69] = 0.0;
    r = test(LARGE, m);
    assert_int_equal(PERP_PMATRIX_NOT_P, r.verdict);
    assert_true(r.minor == 0 && r.minor_value == 0.0);
}

static void refusals(void **state)
{
    (void)state;
    double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    perp_pmatrix_result r;
    perp_error error;
    assert_int_equal(PERP_STATUS_BAD_INPUT, perp_pmatrix_test(-1, m, NULL, NULL, &r, &error));
    m[5] = NAN;
    assert_int_equal(PERP_STATUS_BAD_INPUT, perp_pmatrix_test(3, m, NULL, NULL, &r, &error));
    assert_int_equal(PERP_PMATRIX_UNKNOWN, r.verdict);
    m[5] = -INFINITY;
    assert_int_equal(PERP_STATUS_BAD_INPUT, perp_pmatrix_test(3, m, NULL, NULL, &r, NULL));
    static double large[27 * 27];
    const volatile bool cancel = true;
    const perp_pmatrix_settings settings = {.size = sizeof settings, .max_n = 28, .cancel = &cancel};
    cyclic(27, large);
    assert_int_equal(PERP_STATUS_CANCELLED, perp_pmatrix_test(27, large, &settings, NULL, &r, &error));
    assert_int_equal(PERP_PMATRIX_UNKNOWN, r.verdict);
}

static void out_of_memory(void **state)
{
    (void)state;
    double m[25];
    cyclic(5, m);
    for (int once = 0; once < 2; once++) {
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = once};
            const perp_allocator allocator = allocator_of(&f);
            perp_pmatrix_result r;
            perp_error error;
            const perp_status status = perp_pmatrix_test(5, m, NULL, &allocator, &r, &error);
            assert_int_equal(0, f.standing);
            if (f.requests <= grants) {
                assert_int_equal(PERP_STATUS_OK, status);
                assert_int_equal(PERP_PMATRIX_P, r.verdict);
                assert_true(grants > 0);
                break;
            }
            assert_int_equal(PERP_STATUS_OUT_OF_MEMORY, status);
            assert_int_equal(PERP_PMATRIX_UNKNOWN, r.verdict);
        }
    }
}

/* ---- the rod between two walls --------------------------------------------------------------------------------------
 */

/* Normal accelerations of a rod (m = l = 1, J = 1/3, theta = pi / 2.3) that slides on two walls at alpha = pi / 4, per
 * unit of normal force, for signed coefficients of friction; computed apart from this project. */
static perp_pmatrix_result rod(double mu1, double mu2)
{
    const double m[4] = {1.1241830477418204 + 0.5976016347693625 * mu1, -0.1967279376263111 - 1.0418642744134758 * mu2,
                         -0.1967279376263111 + 1.7489710556000237 * mu1, 3.097601634769363 - 1.3758169522581793 * mu2};
    perp_pmatrix_result r;
    assert_int_equal(PERP_STATUS_OK, perp_pmatrix_test(2, m, NULL, NULL, &r, NULL));
    assert_true(r.verdict != PERP_PMATRIX_UNKNOWN);
    return r;
}

static bool rod_is_p(double mu1, double mu2)
{
    return rod(mu1, mu2).verdict == PERP_PMATRIX_P;
}

/* Where P ends between a P and a not P value of one coefficient, the other being given. */
static double rod_boundary(bool of_mu1, double other, double p, double not_p)
{
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (p + not_p);
        const bool is_p = of_mu1 ? rod_is_p(middle, other) : rod_is_p(other, middle);
        p = is_p ? middle : p;
        not_p = is_p ? not_p : middle;
    }
    return p;
}

/* P iff mu1 > -1.881157919 (m_11), mu2 < 2.251463488 (m_22) and det > 0, whose boundary is tabled to nine decimals. */
static void rod_between_walls(void **state)
{
    (void)state;
    static const struct {
        double mu1, mu2;
    } boundary[] = {{-1.75, -0.113671608}, {-1.50, 0.046365755}, {-1.25, 0.233061493}, {-1.00, 0.453681754},
                    {-0.75, 0.718397248},  {-0.50, 1.041895721}, {-0.25, 1.446202795}, {0.00, 1.965918424}};
    for (size_t k = 0; k < sizeof boundary / sizeof *boundary; k++) {
        assert_true(rod_is_p(boundary[k].mu1, boundary[k].mu2 - 1e-9));
        const perp_pmatrix_result r = rod(boundary[k].mu1, boundary[k].mu2 + 1e-9);
        assert_int_equal(PERP_PMATRIX_NOT_P, r.verdict);
        assert_int_equal(3, r.minor);
        assert_true(r.minor_value <= 0.0 && r.minor_value > -1e-7);
    }
    for (int k = 1; k <= 8; k++) {
        assert_true(rod_is_p(0.25 * k, 2.0) && rod_is_p(0.25 * k, -2.0));
    }
    assert_int_equal(1, rod(-1.8811579191474042 - 1e-12, -2.0).minor);
    assert_true(rod_is_p(-1.8811579191474042 + 1e-12, -2.0));
    assert_int_equal(2, rod(1.0, 2.251463488427842 + 1e-12).minor);
    assert_true(rod_is_p(1.0, 2.251463488427842 - 1e-12));
    assert_true(rod_is_p(0.5, 0.5));
}

/* The area of P in [-2, 2]^2. mu2 from -2 to the boundary g(mu1), which starts at mu1 = -1.88 and reaches 2 at `end`;
 * between them g is smooth, and Simpson's rule on 200 intervals is right to some 1e-11. */
static void rod_area(void **state)
{
    (void)state;
    enum { INTERVALS = 200 };
    const double start = rod_boundary(true, -2.0, 0.0, -2.0), end = rod_boundary(true, 2.0, 2.0, -1.0);
    double sum = 0.0;
    for (int k = 0; k <= INTERVALS; k++) {
        const double mu1 = k == 0 ? start : start + (end - start) * k / INTERVALS;
        const double weight = k == 0 || k == INTERVALS ? 1.0 : (k % 2 ? 4.0 : 2.0);
        sum += weight * (rod_boundary(false, mu1, -2.0, 2.1) + 2.0);
    }
    const double area = sum * (end - start) / INTERVALS / 3.0 + 4.0 * (2.0 - end);
    assert_true(fabs(area - 12.949353764920062) <= 1e-9);
}

/* Sums, products and quotients of residues are those of the numbers, also of fractions and large ones. */
static void residues(void **state)
{
    (void)state;
    perp_random random = {77};
    assert_int_equal(perp_exact_residue(0.0), 0);
    assert_int_equal(perp_exact_residue(1.0), 1);
    assert_int_equal(perp_exact_residue(ldexp(1.0, 31)), 1);
    assert_int_equal(perp_exact_negative(perp_exact_residue(-7.0)), 7);
    assert_int_equal(perp_exact_negative(0), 0);
    for (int t = 0; t < 1000; t++) {
        const double a = ldexp(integer(&random, -99, 99), integer(&random, -40, 40)), b = integer(&random, 1, 999);
        const double c = ldexp(integer(&random, -99, 99), t % 20 - 10);
        const uint32_t ra = perp_exact_residue(a), rb = perp_exact_residue(b), rc = perp_exact_residue(c);
        assert_int_equal(perp_exact_add_product(0, ra, rb), perp_exact_residue(a * b));
        assert_int_equal(perp_exact_add_product(rb, rc, 1), perp_exact_residue(b + c));
        assert_int_equal(perp_exact_add_product(0, perp_exact_inverse(rb), rb), 1);
        assert_true((ra == 0) == (a == 0.0));
    }
    /* a difference in the last bit is one */
    assert_true(perp_exact_residue(0.1) != perp_exact_residue(nextafter(0.1, 1.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_exact_minors),
        cmocka_unit_test(the_generator_tells_the_truth),
        cmocka_unit_test(exact_minors),
        cmocka_unit_test(residues),
        cmocka_unit_test(known_matrices),
        cmocka_unit_test(rod_between_walls),
        cmocka_unit_test(rod_area),
        cmocka_unit_test(one_minor_of_many),
        cmocka_unit_test(far_below_rounding),
        cmocka_unit_test(in_time),
        cmocka_unit_test(beyond_the_limit),
        cmocka_unit_test(refusals),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
