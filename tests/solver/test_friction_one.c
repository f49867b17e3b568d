/* One contact alone: the law holds at what is returned, in every mode, for symmetric blocks and others. */
#include "failing_allocator.h"

#include "solver/friction_core.h"

#include <math.h>

enum { DRAWS = 3000 };

/* -1 .. 1, the same on every run. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* G G' + floor, with a part that is not symmetric. */
static void draw_block(uint64_t *state, int rows, double skew, double *w)
{
    double g[9];
    for (int i = 0; i < 9; i++) {
        g[i] = draw(state);
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            w[i * 3 + j] = i == j ? 0.01 : skew * (i < j ? 1.0 : -1.0);
            for (int k = 0; k < 3; k++) {
                w[i * 3 + j] += g[i * 3 + k] * g[j * 3 + k];
            }
        }
    }
}

/* r in L, z = u + |u_T| e in L, r . z = 0: the largest violation, relative to forces and velocities. */
static double violation(int rows, const double *w, const double *q, const double *r, int *mode)
{
    double u[3] = {0.0}, slip = 0.0, tangent = 0.0, product = 0.0, size = 1.0, force = 1.0;
    for (int i = 0; i < rows; i++) {
        u[i] = q[i];
        for (int j = 0; j < rows; j++) {
            u[i] += w[i * 3 + j] * r[j];
        }
        slip = i > 0 ? hypot(slip, u[i]) : slip;
        tangent = i > 0 ? hypot(tangent, r[i]) : tangent;
        size = fmax(size, fabs(q[i]));
        force = fmax(force, fabs(r[i]));
    }
    for (int i = 0; i < rows; i++) {
        product += r[i] * (u[i] + (i == 0 ? slip : 0.0));
    }
    *mode = r[0] == 0.0 ? 0 : slip > 1e-9 * size ? 2 : 1;
    return fmax(fmax(tangent - r[0], -u[0]) / force, fabs(product) / (size * force));
}

static void the_law_holds(void **state)
{
    (void)state;
    static const double ROUNDING = 1e-11; /* blocks have a condition of up to 1e3 */
    uint64_t seed = 7;
    for (int rows = 1; rows <= 3; rows++) {
        int met[3] = {0, 0, 0};
        for (int k = 0; k < DRAWS; k++) {
            double w[9], q[3], r[3] = {9.0, 9.0, 9.0};
            int mode = 0;
            draw_block(&seed, rows, k % 3 == 0 ? 0.02 * draw(&seed) : 0.0, w);
            for (int i = 0; i < rows; i++) {
                q[i] = draw(&seed) * (i > 0 && k % 2 ? 10.0 : 1.0);
            }
            assert_true(perp_friction_one_contact(rows, w, 3, q, r));
            assert_true(violation(rows, w, q, r, &mode) <= ROUNDING);
            met[mode]++;
        }
        assert_true(met[0] > DRAWS / 10 && (rows == 1 || (met[1] > DRAWS / 50 && met[2] > DRAWS / 10)));
    }
}

/* A ball on a floor, thrown along: r_N carries it, friction against the throw. */
static void a_ball(void **state)
{
    (void)state;
    const double w[9] = {1.0, 0.0, 0.0, 0.0, 3.5, 0.0, 0.0, 0.0, 3.5}, q[3] = {-2.0, 30.0, 40.0};
    double r[3];
    assert_true(perp_friction_one_contact(3, w, 3, q, r));
    assert_true(fabs(r[0] - 2.0) <= 1e-14 && fabs(r[1] + 1.2) <= 1e-14 && fabs(r[2] + 1.6) <= 1e-14);
}

static void none_to_be_had(void **state)
{
    (void)state;
    const double immobile[9] = {0.0}, q[3] = {-1.0, 0.5, 0.0};
    double r[3] = {1.0, 2.0, 3.0};
    for (int rows = 1; rows <= 3; rows++) {
        assert_false(perp_friction_one_contact(rows, immobile, 3, q, r));
    }
    assert_true(r[0] == 1.0 && r[1] == 2.0 && r[2] == 3.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_holds),
        cmocka_unit_test(a_ball),
        cmocka_unit_test(none_to_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
