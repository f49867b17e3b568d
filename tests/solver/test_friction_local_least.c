/* Least norm in W, q: contacts that are copies share evenly, whatever their number; where W is not symmetric nothing is
 * promised. Solved to 1e-8 in velocities of unit size, and forces are a mass times that: TIGHT is ten times as much. */
#include "failing_allocator.h"
#include "friction_test.h"

#include <math.h>

static const double TIGHT = 1e-7;

enum { MOST = 24, ROWS = 3 * MOST };

typedef struct copies {
    double w[ROWS * ROWS], q[ROWS], mu[MOST], r[ROWS], u[ROWS];
    perp_friction problem;
    perp_friction_info info;
} copies;

/* A unit mass on `count` contacts, all the same, carried down at `weight` and along at `push`. */
static void solve(copies *c, int count, double weight, double push, double skew)
{
    for (int i = 0; i < 3 * count; i++) {
        for (int j = 0; j < 3 * count; j++) {
            c->w[i * 3 * count + j] = i % 3 == j % 3 ? 1.0 : i < j ? skew : 0.0;
        }
        c->q[i] = i % 3 == 0 ? -weight : i % 3 == 1 ? push : 0.0;
        c->mu[i / 3] = 0.5;
    }
    c->problem = (perp_friction){.contacts = count, .dim = 3, .w = c->w, .q = c->q, .mu = c->mu};
    c->info = solve_friction(&c->problem, NULL, c->r, c->u);
    assert_int_equal(c->info.outcome, PERP_OUTCOME_SOLVED);
    assert_true(perp_friction_residual(&c->problem, c->r) <= 1e-8);
    assert_true(c->info.residual == perp_friction_residual(&c->problem, c->r));
}

static void copies_share(void **state)
{
    (void)state;
    static const int counts[] = {2, 5, 9, MOST};
    static copies c;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (int slides = 0; slides < 2; slides++) {
            const double weight = 4.0, push = slides ? 5.0 : 1.0, held = slides ? 2.0 : 1.0; /* at most mu weight */
            solve(&c, counts[k], weight, push, 0.0);
            assert_true(c.info.minimum_norm);
            for (int i = 0; i < counts[k]; i++) {
                assert_true(fabs(c.r[3 * i] - weight / counts[k]) <= TIGHT);
                assert_true(fabs(c.r[3 * i + 1] + held / counts[k]) <= TIGHT);
                assert_true(fabs(c.r[3 * i + 2]) <= TIGHT);
                assert_true(fabs(c.u[3 * i + 1] - (push - held)) <= TIGHT);
            }
        }
    }
}

static void no_promise_without_symmetry(void **state)
{
    (void)state;
    static copies c;
    solve(&c, 8, 4.0, 1.0, 1e-3);
    assert_false(c.info.minimum_norm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_share),
        cmocka_unit_test(no_promise_without_symmetry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
