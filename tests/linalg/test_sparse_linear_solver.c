/* KLU through the door that solvers take: it solves, keeps memory where it keeps pivots, and leaves no trace. */
#include "linalg_test.h"

#include <perp/linalg_sparse.h>

#include "hooked_malloc.h"

enum { N = 60, ENTRIES = 5 * N };

typedef struct band {
    int starts[N + 1], rows[ENTRIES];
    double values[ENTRIES];
} band;

/* Five diagonals; `weak` makes the main one so small that pivots leave it. */
static band new_band(uint64_t seed, double weak)
{
    perp_random random = {seed};
    band b = {.starts = {0}};
    int count = 0;
    for (int j = 0; j < N; j++) {
        for (int i = j - 2 < 0 ? 0 : j - 2; i <= j + 2 && i < N; i++) {
            b.rows[count] = i;
            b.values[count++] = perp_random_uniform(&random, 0.5, 1.0) * (i == j ? weak : 1.0);
        }
        b.starts[j + 1] = count;
    }
    return b;
}

/* x with A x = b, b = A 1 */
static void solve_for_ones(const perp_linear_solver *door, void *handle, const band *b, double *x)
{
    memset(x, 0, N * sizeof(double));
    for (int k = 0; k < b->starts[N]; k++) {
        x[b->rows[k]] += b->values[k];
    }
    assert_int_equal(door->solve(handle, x), PERP_STATUS_OK);
}

static void solves_and_leaves_no_trace(void **state)
{
    (void)state;
    const perp_linear_solver *door = perp_sparse_linear_solver();
    const band first = new_band(1, 6.0), second = new_band(2, 6.0), weak = new_band(3, 1e-3);
    double x[N], again[N];
    void *handle;
    assert_int_equal(door->create(N, first.starts, first.rows, NULL, &handle, NULL), PERP_STATUS_OK);
    assert_int_equal(door->factor(handle, first.values, true), PERP_STATUS_OK);
    solve_for_ones(door, handle, &first, x);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(x[i] - 1.0) < 1e-12); /* diagonally dominant: a condition near 3 */
    }
    const long asked = requests;
    assert_int_equal(door->factor(handle, second.values, false), PERP_STATUS_OK);
    solve_for_ones(door, handle, &second, again);
    assert_true(!watching || requests == asked);
    assert_int_equal(door->factor(handle, weak.values, false), PERP_STATUS_OK);
    assert_int_equal(door->factor(handle, first.values, true), PERP_STATUS_OK);
    solve_for_ones(door, handle, &first, again);
    assert_memory_equal(x, again, sizeof x);
    door->destroy(handle);
    door->destroy(NULL);
}

static void singular_values_leave_the_handle_in_being(void **state)
{
    (void)state;
    const perp_linear_solver *door = perp_sparse_linear_solver();
    const band good = new_band(1, 6.0);
    band zero = good;
    double x[N];
    void *handle;
    memset(zero.values, 0, sizeof zero.values);
    assert_int_equal(door->create(N, good.starts, good.rows, NULL, &handle, NULL), PERP_STATUS_OK);
    for (int anew = 0; anew < 2; anew++) {
        assert_int_equal(door->factor(handle, zero.values, anew != 0), PERP_STATUS_SINGULAR);
        assert_int_equal(door->factor(handle, good.values, anew != 0), PERP_STATUS_OK);
        solve_for_ones(door, handle, &good, x);
        assert_true(fabs(x[0] - 1.0) < 1e-12);
    }
    door->destroy(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_and_leaves_no_trace),
        cmocka_unit_test(singular_values_leave_the_handle_in_being),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
