/* linalg_test.h - matrices, norms and bounds that the linear-algebra tests share.
 *
 * Bounds. u = DBL_EPSILON / 2 is the unit roundoff and gamma(k) = k u / (1 - k u). A sum of k products in any order has
 * an error of at most gamma(k) times the sum of the magnitudes of the products (Higham, Accuracy and Stability of
 * Numerical Algorithms, section 3.1); that holds for the lanes of our kernels as for a plain loop.
 */
#ifndef PERP_TESTS_LINALG_TEST_H
#define PERP_TESTS_LINALG_TEST_H

#include "linalg/dense.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/linalg.h>

enum { LARGEST = 200 };

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

static inline double gamma_of(int k)
{
    const double ku = k * (0.5 * DBL_EPSILON);
    return ku / (1.0 - ku);
}

/* value <= bound; NaN fails. */
static inline void assert_at_most_(double value, double bound, const char *text, const char *file, int line)
{
    if (!(value <= bound)) {
        print_error("%s = %.17g exceeds %.17g\n", text, value, bound);
        _fail(file, line);
    }
}
#define ASSERT_AT_MOST(value, bound) assert_at_most_((value), (bound), #value, __FILE__, __LINE__)

static inline double *new_reals(int count)
{
    double *x = calloc((size_t)count + 1, sizeof(double));
    assert_non_null(x);
    return x;
}

static inline int *new_integers(int count)
{
    int *x = calloc((size_t)count + 1, sizeof(int));
    assert_non_null(x);
    return x;
}

static inline double *copy_reals(const double *x, int count)
{
    double *y = new_reals(count);
    memcpy(y, x, (size_t)count * sizeof(double));
    return y;
}

static inline void fill_random(perp_random *random, double *x, int count)
{
    for (int i = 0; i < count; i++) {
        x[i] = perp_random_uniform(random, -1.0, 1.0);
    }
}

/* c = a b; a is m x k, b is k x n, all packed. */
static inline void multiply(int m, int k, int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double s = 0.0;
            for (int p = 0; p < k; p++) {
                s += a[i * k + p] * b[p * n + j];
            }
            c[i * n + j] = s;
        }
    }
}

static inline void transpose_to(int rows, int columns, const double *a, double *to)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            to[j * rows + i] = a[i * columns + j];
        }
    }
}

static inline double largest_magnitude(int count, const double *x)
{
    double m = 0.0;
    for (int i = 0; i < count; i++) {
        m = fabs(x[i]) > m || isnan(x[i]) ? fabs(x[i]) : m;
        if (isnan(m)) {
            break;
        }
    }
    return m;
}

static inline double largest_difference(int count, const double *x, const double *y)
{
    double m = 0.0;
    for (int i = 0; i < count; i++) {
        const double d = fabs(x[i] - y[i]);
        if (isnan(d)) {
            return d;
        }
        m = d > m ? d : m;
    }
    return m;
}

static inline double norm_two(int count, const double *x)
{
    double s = 0.0;
    for (int i = 0; i < count; i++) {
        s += x[i] * x[i];
    }
    return sqrt(s);
}

/* The largest row sum of magnitudes. */
static inline double norm_infinity(int rows, int columns, const double *a)
{
    double m = 0.0;
    for (int i = 0; i < rows; i++) {
        double s = 0.0;
        for (int j = 0; j < columns; j++) {
            s += fabs(a[i * columns + j]);
        }
        m = s > m ? s : m;
    }
    return m;
}

/* |b - a x| in the largest entry, a is m x n packed. */
static inline double residual(int m, int n, const double *a, const double *x, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < m; i++) {
        double r = b[i];
        for (int j = 0; j < n; j++) {
            r -= a[i * n + j] * x[j];
        }
        if (isnan(r)) {
            return r;
        }
        worst = fabs(r) > worst ? fabs(r) : worst;
    }
    return worst;
}

/* M M' + shift I for a random M: symmetric positive definite, eigenvalues in [shift, shift + n^2]. */
static inline double *new_positive_definite(perp_random *random, int n, double shift)
{
    double *m = new_reals(n * n), *t = new_reals(n * n), *a = new_reals(n * n);
    fill_random(random, m, n * n);
    transpose_to(n, n, m, t);
    multiply(n, n, n, m, t, a);
    for (int i = 0; i < n; i++) {
        a[i * n + i] += shift;
    }
    free(m);
    free(t);
    return a;
}

static inline double *new_symmetric(perp_random *random, int n)
{
    double *a = new_reals(n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            a[i * n + j] = a[j * n + i] = perp_random_uniform(random, -1.0, 1.0);
        }
    }
    return a;
}

static inline double *new_hilbert(int n)
{
    double *a = new_reals(n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i * n + j] = 1.0 / (i + j + 1);
        }
    }
    return a;
}

static inline perp_matrix_view packed_view(double *data, int rows, int columns)
{
    return (perp_matrix_view){data, rows, columns, columns};
}

/* Sizes that meet every path of the blocked loops: below, at and above the multiples of 2, 4 and 8. */
static const int test_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 23, 32, 50, 101, LARGEST};
enum { TEST_SIZES = sizeof test_sizes / sizeof test_sizes[0] };

#endif
