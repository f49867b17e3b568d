/* Lemke's method for Coulomb problems in W: a positive definite W has a solution, and alone the method finds it. */
#include "failing_allocator.h"
#include "friction_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS = 12, DIM = 3, SIZE = CONTACTS * DIM };

typedef struct made {
    double w[SIZE * SIZE], q[SIZE], mu[CONTACTS], r[SIZE], u[SIZE];
    perp_friction problem;
} made;

/* W = G G' + I / 10 of fewer columns than rows, so that contacts act on each other; q closes most of them. */
static void make(made *m, uint64_t seed, int dim)
{
    enum { COLUMNS = SIZE / 2 };
    perp_random random = {seed};
    const int size = CONTACTS * dim;
    double g[SIZE * COLUMNS];
    for (int i = 0; i < size * COLUMNS; i++) {
        g[i] = perp_random_uniform(&random, -1.0, 1.0);
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (int k = 0; k < COLUMNS; k++) {
                sum += g[i * COLUMNS + k] * g[j * COLUMNS + k];
            }
            m->w[i * size + j] = sum;
        }
        m->q[i] = perp_random_uniform(&random, i % dim == 0 ? -2.0 : -1.0, 1.0);
    }
    for (int i = 0; i < CONTACTS; i++) {
        m->mu[i] = i % 5 == 4 ? 0.0 : perp_random_uniform(&random, 0.1, 1.5);
    }
    m->problem = (perp_friction){.contacts = CONTACTS, .dim = dim, .w = m->w, .q = m->q, .mu = m->mu};
}

static perp_friction_info solve(made *m, const char *method, int max_factorisations)
{
    perp_friction_settings settings = friction_settings(method);
    settings.minimum_norm = false;
    settings.max_factorisations = max_factorisations;
    return solve_friction(&m->problem, &settings, m->r, m->u);
}

/* In the plane and in space; forces are not unique, the law is what counts. */
static void finds_solutions_alone(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            made m;
            make(&m, seed, dim);
            const perp_friction_info info = solve(&m, "lemke", 0);
            assert_int_equal(info.outcome, PERP_OUTCOME_SOLVED);
            assert_string_equal(info.method, "lemke");
            assert_true(perp_friction_residual(&m.problem, m.r) <= 1e-8);
        }
    }
}

/* Paths are drawn from the same numbers on every run. */
static void same_bits(void **state)
{
    (void)state;
    made a, b;
    make(&a, 7, DIM);
    make(&b, 7, DIM);
    solve(&a, "lemke", 0);
    solve(&b, "lemke", 0);
    assert_memory_equal(a.r, b.r, sizeof a.r);
}

/* A cap ends it with what it has, and says so. */
static void a_cap_holds(void **state)
{
    (void)state;
    made m;
    make(&m, 3, DIM);
    const perp_friction_info info = solve(&m, "lemke", 1);
    assert_true(info.outcome != PERP_OUTCOME_SOLVED || info.residual <= 1e-8);
    assert_true(info.factorisations <= 3);
    assert_true(isfinite(info.residual) && isfinite(m.r[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_solutions_alone),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(a_cap_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
