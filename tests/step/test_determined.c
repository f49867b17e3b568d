/* Whether equations leave one point, and which way they leave open: against matrices whose null space is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step/common/determined.h"

enum { N = 7, MOST = 12 };

static double part(int k)
{
    return sin(1.7 * k * k + 0.3 * k + 1.0);
}

static double dot(const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Rows that are normal to the first `open` of some directions, but for `off` of the first one. */
static void fill_rows(double rows[MOST][N], double ways[2][N], int open, double off)
{
    for (int w = 0; w < 2; w++) {
        for (int i = 0; i < N; i++) {
            ways[w][i] = part(100 + 13 * w + i);
        }
    }
    const double along = dot(ways[0], ways[1]) / dot(ways[0], ways[0]);
    for (int i = 0; i < N; i++) { /* normal to each other */
        ways[1][i] -= along * ways[0][i];
    }
    for (int r = 0; r < MOST; r++) {
        const double size = r % 3 == 0 ? 1e4 : 1.0; /* a row's length does not matter */
        for (int i = 0; i < N; i++) {
            rows[r][i] = part(N * r + i);
        }
        for (int w = 0; w < open; w++) {
            const double much = dot(rows[r], ways[w]) / dot(ways[w], ways[w]);
            for (int i = 0; i < N; i++) {
                rows[r][i] -= (w == 0 ? 1.0 - off : 1.0) * much * ways[w][i];
            }
        }
        for (int i = 0; i < N; i++) {
            rows[r][i] *= size;
        }
    }
}

static bool is_one(double rows[MOST][N], int count, bool scattered, double *way)
{
    double square[N * N] = {0}, copy[N * N];
    for (int r = 0; r < count; r++) {
        int dofs[N];
        double values[N];
        for (int i = 0; i < N; i++) { /* in another order */
            dofs[i] = (3 * i + r) % N;
            values[i] = rows[r][dofs[i]];
        }
        perp_determined_add(N, N, scattered ? dofs : NULL, scattered ? values : rows[r], square);
    }
    return perp_determined_is_one(N, square, copy, way);
}

static void test_open_ways(void **unused)
{
    (void)unused;
    double rows[MOST][N], ways[2][N], way[N];
    for (int scattered = 0; scattered < 2; scattered++) {
        fill_rows(rows, ways, 0, 0.0);
        assert_true(is_one(rows, MOST, scattered, way));
        assert_true(is_one(rows, N, scattered, way));
        assert_false(is_one(rows, N - 1, scattered, way)); /* too few */
        for (int open = 1; open <= 2; open++) {
            double most = 0.0;
            fill_rows(rows, ways, open, 0.0);
            assert_false(is_one(rows, MOST, scattered, way));
            for (int r = 0; r < MOST; r++) {
                assert_true(fabs(dot(rows[r], way)) <= 1e-4 * sqrt(dot(rows[r], rows[r])));
            }
            for (int i = 0; i < N; i++) {
                most = fmax(most, fabs(way[i]));
            }
            assert_true(fabs(most - 1.0) < 1e-12);
        }
    }
}

/* What is held by little is held; what is held by rounding is not. */
static void test_held_by_little(void **unused)
{
    (void)unused;
    double rows[MOST][N], ways[2][N];
    fill_rows(rows, ways, 1, 1e-3);
    assert_true(is_one(rows, MOST, false, NULL));
    fill_rows(rows, ways, 1, 1e-8);
    assert_false(is_one(rows, MOST, false, NULL));
}

static void test_aside(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        assert_true(fabs(perp_determined_probe(i)) >= 0.5 && fabs(perp_determined_probe(i)) <= 1.0);
        for (int k = 0; k < i; k++) {
            assert_true(fabs(perp_determined_probe(i) - perp_determined_probe(k)) > 1e-3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_ways),
        cmocka_unit_test(test_held_by_little),
        cmocka_unit_test(test_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
