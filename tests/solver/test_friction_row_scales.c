/* Friction problems whose contacts differ by many powers of ten: each is judged by its own rows, and what leaves with
 * 1e20 m/s excuses nothing elsewhere. Answers are compared with those of the problem without it, and judged in long
 * double. */
#include "friction_test.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CONTACTS = 8, DIM = 3, ROWS = CONTACTS * DIM };

typedef struct local_case {
    int contacts, dim;
    double w[ROWS * ROWS], q[ROWS], mu[CONTACTS], r[ROWS], u[ROWS];
} local_case;

static double power_of_ten(perp_random *random, double low, double high)
{
    return pow(10.0, perp_random_uniform(random, low, high));
}

static perp_friction friction_of(const local_case *c)
{
    return (perp_friction){c->contacts, c->dim, c->w, c->q, c->mu};
}

/* W = B'B + I. */
static void make(local_case *c, perp_random *random, int contacts, int dim)
{
    const int size = contacts * dim;
    double b[ROWS * ROWS];
    *c = (local_case){.contacts = contacts, .dim = dim};
    for (int i = 0; i < size * size; i++) {
        b[i] = perp_random_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < size; i++) {
        c->q[i] = perp_random_uniform(random, -2.0, 1.0);
        for (int j = 0; j < size; j++) {
            c->w[i * size + j] = i == j ? 1.0 : 0.0;
            for (int k = 0; k < size; k++) {
                c->w[i * size + j] += b[k * size + i] * b[k * size + j] / size;
            }
        }
    }
    for (int i = 0; i < contacts; i++) {
        c->mu[i] = perp_random_uniform(random, 0.0, 1.0);
    }
}

/* With one contact more, that leaves with 10^low .. 10^high and that forces of the others reach. */
static void add_leaving(local_case *c, perp_random *random, double low, double high)
{
    const int size = c->contacts * c->dim, all = size + c->dim;
    double w[ROWS * ROWS];
    for (int i = 0; i < all; i++) {
        for (int j = 0; j < all; j++) {
            w[i * all + j] = i < size && j < size ? c->w[i * size + j]
                             : i == j             ? 4.0
                                                  : 0.1 * perp_random_uniform(random, -1.0, 1.0);
        }
        c->q[i] = i < size ? c->q[i] : i == size ? power_of_ten(random, low, high) : 1.0;
    }
    for (int i = 0; i < all; i++) { /* symmetric */
        for (int j = 0; j < i; j++) {
            w[i * all + j] = w[j * all + i];
        }
    }
    memcpy(c->w, w, sizeof w);
    c->mu[c->contacts++] = 0.5;
}

/* The law of each contact by the definition, in long double. */
static double judge(const local_case *c)
{
    const int dim = c->dim, size = c->contacts * dim;
    long double worst = 0.0L;
    for (int i = 0; i < c->contacts; i++) {
        long double u[DIM] = {0.0L}, y[DIM], p[DIM], scale = 0.0L, error = 0.0L, tangent = 0.0L, slip = 0.0L;
        for (int k = 0; k < dim; k++) {
            const int row = i * dim + k;
            long double terms = fabsl((long double)c->q[row]);
            u[k] = c->q[row];
            for (int j = 0; j < size; j++) {
                u[k] += (long double)c->w[row * size + j] * c->r[j];
                terms += fabsl((long double)c->w[row * size + j] * c->r[j]);
            }
            scale = fmaxl(scale, 1.0L + terms);
            slip = k > 0 ? hypotl(slip, u[k]) : 0.0L;
        }
        const long double rho = 1.0L / c->w[i * dim * (size + 1)], mu = c->mu[i];
        for (int k = 0; k < dim; k++) {
            y[k] = c->r[i * dim + k] - rho * (u[k] + (k == 0 ? mu * slip : 0.0L));
            tangent = k > 0 ? hypotl(tangent, y[k]) : 0.0L;
        }
        const bool inside = tangent <= mu * y[0], polar = y[0] <= -mu * tangent;
        const long double along = (y[0] + mu * tangent) / (1.0L + mu * mu);
        for (int k = 0; k < dim; k++) {
            p[k] = inside ? y[k] : polar ? 0.0L : k == 0 ? along : mu * along * y[k] / tangent;
            error = hypotl(error, (c->r[i * dim + k] - p[k]) / rho);
        }
        worst = fmaxl(worst, fmaxl(error, -u[0]) / scale);
    }
    return (double)worst;
}

static perp_friction_info solve(local_case *c, bool relative)
{
    const perp_friction problem = friction_of(c);
    perp_friction_settings settings = friction_settings(NULL);
    settings.relative = relative;
    const perp_friction_info info = solve_friction(&problem, &settings, c->r, c->u);
    assert_true(info.outcome != PERP_OUTCOME_SOLVED || judge(c) <= 1.001e-8);
    return info;
}

static void what_leaves_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        perp_random random = {seed};
        local_case plain, c;
        make(&plain, &random, 1 + (int)(seed % 5), 2 + (int)(seed % 2));
        assert_int_equal(solve(&plain, false).outcome, PERP_OUTCOME_SOLVED);
        c = plain;
        for (int k = 0; k < 1 + (int)(seed % 3); k++) {
            add_leaving(&c, &random, 6.0, 20.0);
        }
        const perp_friction_info info = solve(&c, seed % 4 == 0);
        double off = 0.0;
        for (int i = 0; i < c.contacts * c.dim; i++) {
            off = fmax(off, fabs(c.r[i] - (i < plain.contacts * plain.dim ? plain.r[i] : 0.0)));
        }
        if (info.outcome != PERP_OUTCOME_SOLVED || !(off <= 1e-6)) {
            print_error("seed %d: %s, residual %g, r is off by %g\n", (int)seed, perp_outcome_name(info.outcome),
                        info.residual, off);
            fail();
        }
    }
}

/* Walls that close on a body: forces that squeeze it cancel, and however large they are nothing opens. */
static void far_forces_are_no_solution(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        const double w[16] = {1, 0, -1, 0, 0, 1, 0, 1, -1, 0, 1, 0, 0, 1, 0, 1}, mu[2] = {0.5, 0.5};
        const double q[4] = {-1.0 - 0.1 * k, 0.0, -1.0, 0.2 * k};
        const perp_friction problem = {2, 2, w, q, mu};
        double r[4], u[4];
        const perp_friction_info info = solve_friction(&problem, NULL, r, u);
        assert_int_equal(info.outcome, PERP_OUTCOME_INFEASIBLE);
        assert_true(info.certificate <= 1e-8);
    }
}

/* With mu = 1e3 .. 1e6 the natural map sees that a contact closes only by that much less. */
static void large_frictions_do_not_hide_an_approach(void **state)
{
    (void)state;
    int solved = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        perp_random random = {seed};
        local_case c;
        make(&c, &random, 1 + (int)(seed % 4), 3);
        c.mu[0] = power_of_ten(&random, 3.0, 6.0);
        const perp_friction_info info = solve(&c, false);
        for (int i = 0; i < c.contacts && info.outcome == PERP_OUTCOME_SOLVED; i++) {
            assert_true(c.u[i * c.dim] >= -1e-6);
        }
        solved += info.outcome == PERP_OUTCOME_SOLVED;
    }
    print_message("solved %d of 60 with a friction of up to 1e6\n", solved);
    assert_true(solved >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_changes_nothing),
        cmocka_unit_test(far_forces_are_no_solution),
        cmocka_unit_test(large_frictions_do_not_hide_an_approach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
