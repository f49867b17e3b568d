/* The loops over slack vectors beside plain sums, and the same bits from every instruction set. All lengths up to a few
 * vectors, so that every remainder is met. */
#include "failing_allocator.h"

#include "linalg/dense_kernel.h"
#include "solver/slack_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LONGEST = 70, KERNELS = 2 };

typedef struct data {
    double s[LONGEST], y[LONGEST], ds[LONGEST], dy[LONGEST], r[LONGEST], weight[LONGEST], scaled[LONGEST], out[LONGEST];
} data;

static const perp_slack_kernel *kernel_at(int k)
{
    return k == 0 ? &perp_slack_plain_kernel : perp_slack_best_kernel();
}

/* s and y positive, as inside; a third of the weights zero. */
static data random_data(perp_random *random)
{
    data d = {0};
    for (int i = 0; i < LONGEST; i++) {
        d.s[i] = perp_random_uniform(random, 0.1, 2.0);
        d.y[i] = perp_random_uniform(random, 0.1, 2.0);
        d.ds[i] = perp_random_uniform(random, -1.0, 1.0);
        d.dy[i] = perp_random_uniform(random, -1.0, 1.0);
        d.r[i] = perp_random_uniform(random, -1.0, 1.0);
        d.weight[i] = perp_random_uniform(random, 0.0, 3.0) < 1.0 ? 0.0 : 5.0;
    }
    return d;
}

static void test_sums(void **state)
{
    (void)state;
    perp_random random = {1};
    for (int n = 0; n <= LONGEST; n++) {
        const data d = random_data(&random);
        const double *const vectors[4] = {d.s, d.y, d.ds, d.dy};
        double mixed[KERNELS][3];
        for (int k = 0; k < KERNELS; k++) {
            assert_true(kernel_at(k)->dot(n, d.ds, d.y) == perp_dense_dot(n, d.ds, d.y));
            assert_true(kernel_at(k)->largest(n, d.ds) == perp_dense_largest(n, d.ds));
            kernel_at(k)->mix(n, vectors, mixed[k]);
        }
        assert_memory_equal(mixed[0], mixed[1], sizeof mixed[0]);
        /* n terms below 2, summed in another order */
        const double tolerance = 4.0 * n * n * DBL_EPSILON;
        assert_true(fabs(mixed[0][0] - perp_dense_dot(n, d.ds, d.y)) <= tolerance);
        assert_true(fabs(mixed[0][1] - perp_dense_dot(n, d.s, d.dy)) <= tolerance);
        assert_true(fabs(mixed[0][2] - perp_dense_dot(n, d.ds, d.dy)) <= tolerance);
    }
}

static void test_largest_passes_over_nan(void **state)
{
    (void)state;
    double x[20];
    for (int k = 0; k < KERNELS; k++) {
        for (int at = 0; at < 20; at++) {
            for (int i = 0; i < 20; i++) {
                x[i] = i == at ? NAN : -0.5 * i;
            }
            assert_true(kernel_at(k)->largest(20, x) == (at == 19 ? 9.0 : 9.5));
        }
    }
}

static void test_directions(void **state)
{
    (void)state;
    perp_random random = {2};
    for (int n = 0; n <= LONGEST; n++) {
        const data start = random_data(&random);
        for (int k = 0; k < KERNELS; k++) {
            data d = start;
            const double *const vectors[4] = {d.s, d.y, start.ds, start.dy};
            kernel_at(k)->predict(n, d.weight, d.r, d.y, d.scaled, d.out);
            for (int i = 0; i < n; i++) {
                assert_true(d.scaled[i] == 0.0 - d.weight[i] * d.r[i] && d.out[i] == d.scaled[i] - d.y[i]);
            }
            kernel_at(k)->follow(n, d.weight, d.r, d.ds, d.dy);
            kernel_at(k)->correct(n, 0.3, vectors, d.out);
            kernel_at(k)->add(n, d.scaled, d.out);
            for (int i = 0; i < n; i++) {
                assert_true(d.dy[i] == start.dy[i] - d.weight[i] * start.ds[i]);
                assert_true(d.ds[i] == start.ds[i] + d.r[i]);
                const double corrected = (0.3 - start.ds[i] * start.dy[i]) / d.s[i] - d.y[i];
                assert_true(d.out[i] == corrected + d.scaled[i]);
            }
            kernel_at(k)->divide(n, start.y, start.s, d.out);
            kernel_at(k)->advance(n, 0.7, (const double *const[2]){start.ds, start.dy}, d.s, d.y, d.r);
            for (int i = 0; i < n; i++) {
                assert_true(d.out[i] == start.y[i] / start.s[i]);
                assert_true(d.s[i] == start.s[i] + 0.7 * start.ds[i] && d.y[i] == start.y[i] + 0.7 * start.dy[i]);
                assert_true(d.r[i] == start.r[i] - 0.7 * start.r[i]);
            }
            assert_memory_equal(d.s + n, start.s + n, (size_t)(LONGEST - n) * sizeof(double));
        }
    }
}

/* At the step's end every row is inside, to the rounding of v + t dv, and where it is less than asked for one is at 0.
 */
static void test_step(void **state)
{
    (void)state;
    perp_random random = {3};
    for (int n = 0; n <= LONGEST; n++) {
        const data d = random_data(&random);
        const double t = perp_slack_plain_kernel.step(n, d.s, d.ds, 1.0);
        assert_true(perp_slack_best_kernel()->step(n, d.s, d.ds, 1.0) == t);
        double least = INFINITY;
        for (int i = 0; i < n; i++) {
            least = fmin(least, d.s[i] + t * d.ds[i]);
        }
        assert_true(least >= -4.0 * DBL_EPSILON);
        assert_true(t == 1.0 || least <= 4.0 * DBL_EPSILON);
    }
}

static void test_penalty(void **state)
{
    (void)state;
    perp_random random = {4};
    for (int n = 0; n <= LONGEST; n++) {
        const data start = random_data(&random);
        const perp_penalty_rows rows = {n, 5.0, 0.4, start.y, start.r};
        double sums[KERNELS][2];
        for (int k = 0; k < KERNELS; k++) {
            data d = start;
            assert_int_equal(kernel_at(k)->settle(&rows, false, d.weight, d.out), 0);
            assert_memory_equal(d.weight, start.weight, sizeof d.weight);
            for (int i = 0; i < n; i++) {
                assert_true(d.out[i] == (d.weight[i] != 0.0 ? start.y[i] - 5.0 * start.r[i] : 0.0));
            }
            int changes = 0;
            const int counted = kernel_at(k)->settle(&rows, true, d.weight, d.out);
            for (int i = 0; i < n; i++) {
                const double u = start.y[i] - 5.0 * start.r[i];
                const bool was = start.weight[i] != 0.0, on = u > (was ? 0.0 : 0.4);
                changes += was != on;
                assert_true(d.weight[i] == (on ? 5.0 : 0.0) && d.out[i] == (on ? u : 0.0));
            }
            assert_int_equal(changes, counted);
            kernel_at(k)->slope(&rows, 0.6, start.ds, sums[k]);
        }
        assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
        double along = 0.0, squares = 0.0;
        for (int i = 0; i < n; i++) {
            const double u = start.y[i] - 5.0 * (start.r[i] + 0.6 * start.ds[i]);
            along += u > 0.0 ? u * start.ds[i] : 0.0;
            squares += u > 0.0 ? start.ds[i] * start.ds[i] : 0.0;
        }
        /* n terms below 10 and 1, summed in another order */
        assert_true(fabs(sums[0][0] - along) <= 20.0 * n * n * DBL_EPSILON);
        assert_true(fabs(sums[0][1] - squares) <= 2.0 * n * n * DBL_EPSILON);
    }
}

enum { FOURS = 5, CONES = 4 * FOURS, ROWS = 3 * CONES };

/* Vectors of cones, inside by a twentieth of their first entry at least. */
static void random_cones(perp_random *random, double *v)
{
    for (int k = 0; k < CONES; k++, v += 3) {
        v[0] = perp_random_uniform(random, 0.5, 2.0);
        const double angle = perp_random_uniform(random, 0.0, 6.28), size = perp_random_uniform(random, 0.0, 0.95);
        v[1] = size * v[0] * cos(angle);
        v[2] = size * v[0] * sin(angle);
    }
}

/* W^-2 s = y is what the scaling is for. With ds = s / 2 and dy = y / 3 the corrector is center s^-1 - (1 + 1/6) y,
 * where s^-1 = (s_0, -s_1) / (s_0^2 - |s_1|^2). Numbers are below 50 and lose a factor of 20 at the border. */
static void test_cones(void **state)
{
    (void)state;
    static const double TOLERANCE = 1e4 * DBL_EPSILON;
    perp_random random = {5};
    for (int trial = 0; trial < 50; trial++) {
        double s[ROWS], y[ROWS], ds[ROWS], dy[ROWS];
        double w[KERNELS][ROWS], scale[KERNELS][CONES], rest[KERNELS][ROWS], corrected[KERNELS][ROWS];
        random_cones(&random, s);
        random_cones(&random, y);
        for (int i = 0; i < ROWS; i++) {
            ds[i] = s[i] / 2.0;
            dy[i] = y[i] / 3.0;
        }
        const double *const vectors[3] = {y, ds, dy};
        for (int k = 0; k < KERNELS; k++) {
            memcpy(rest[k], y, sizeof y);
            kernel_at(k)->scale_cones(FOURS, s, y, w[k], scale[k]);
            kernel_at(k)->subtract_cones(FOURS, w[k], scale[k], s, rest[k]);
            kernel_at(k)->correct_cones(FOURS, 0.3, w[k], scale[k], vectors, corrected[k]);
        }
        assert_memory_equal(w[0], w[1], sizeof w[0]);
        assert_memory_equal(scale[0], scale[1], sizeof scale[0]);
        assert_memory_equal(rest[0], rest[1], sizeof rest[0]);
        assert_memory_equal(corrected[0], corrected[1], sizeof corrected[0]);
        for (int i = 0; i < ROWS; i++) {
            const double *v = s + i - i % 3, form = v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
            const double inverse = (i % 3 == 0 ? s[i] : -s[i]) / form;
            assert_true(fabs(rest[0][i]) <= TOLERANCE);
            assert_true(fabs(corrected[0][i] - (0.3 * inverse - 7.0 / 6.0 * y[i])) <= TOLERANCE);
        }
    }
}

static void test_inside_cones(void **state)
{
    (void)state;
    perp_random random = {6};
    for (int trial = 0; trial < 200; trial++) {
        double s[ROWS], ds[ROWS];
        random_cones(&random, s);
        for (int i = 0; i < ROWS; i++) {
            ds[i] = perp_random_uniform(&random, -0.3, 0.3);
        }
        int inside = 0;
        for (int k = 0; k < CONES; k++, inside++) {
            const double a = s[3 * k] + ds[3 * k], b = s[3 * k + 1] + ds[3 * k + 1], c = s[3 * k + 2] + ds[3 * k + 2];
            if (!(a > 0.0 && b * b + c * c < a * a)) {
                break;
            }
        }
        for (int k = 0; k < KERNELS; k++) {
            assert_int_equal(kernel_at(k)->inside_cones(FOURS, s, ds, 1.0), inside / 4);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),        cmocka_unit_test(test_largest_passes_over_nan),
        cmocka_unit_test(test_directions),  cmocka_unit_test(test_step),
        cmocka_unit_test(test_penalty),     cmocka_unit_test(test_cones),
        cmocka_unit_test(test_inside_cones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
