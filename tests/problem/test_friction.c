/* Coulomb's law at one contact, and the residual of friction problems without bodies. */
#include "problem/checks.h"
#include "problem/friction_law.h"

#include <perp/problem.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ASSERT_STATUS(expected, call) assert_string_equal(perp_status_name(expected), perp_status_name(call))

static double draw(uint64_t *seed) /* -1 .. 1 */
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%.17g is not %.17g to %g\n", value, expected, tolerance);
        fail();
    }
}

/* ---- one contact ---- */

static long double norm(int count, const long double *a)
{
    long double sum = 0.0L;
    for (int i = 0; i < count; i++) {
        sum += a[i] * a[i];
    }
    return sqrtl(sum);
}

/* |p - P(p - z)| as it is defined, in long double. */
static double reference_law(int rows, double mu, double weight, const double *r, const double *u)
{
    long double y[3], e[3], ut[3], p[3];
    for (int i = 0; i < rows; i++) {
        p[i] = (long double)weight * (long double)r[i];
        ut[i] = u[i];
    }
    for (int i = 0; i < rows; i++) {
        y[i] = p[i] - (long double)u[i] - (i ? 0.0L : (long double)mu * norm(rows - 1, ut + 1));
    }
    const long double m = rows > 1 ? mu : 0.0, t = norm(rows - 1, y + 1);
    const bool inside = y[0] >= 0.0L && t <= m * y[0], polar = y[0] <= -m * t;
    const long double along = (y[0] + m * t) / (1.0L + m * m);
    for (int i = 0; i < rows; i++) {
        const long double edge = i == 0 ? along : along * m * y[i] / t;
        e[i] = p[i] - (inside ? y[i] : polar ? 0.0L : edge);
    }
    return (double)fmaxl(norm(rows, e), -(long double)u[0]); /* and the bodies must not approach */
}

/* Every region of the projection, and frictions far apart. The reference has 11 bits more than a double, and what it
 * rounds is of the size of the largest number in it. */
static void law_is_the_natural_map(void **state)
{
    (void)state;
    static const double frictions[] = {0.0, 1e-12, 0.01, 0.3, 1.0, 1.7, 40.0, 1e6};
    uint64_t seed = 3;
    int seen[2] = {0, 0};
    for (int k = 0; k < 40000; k++) {
        const int rows = 1 + k % 3;
        const double mu = frictions[k / 3 % 8], weight = exp(3.0 * draw(&seed));
        double r[3], u[3], size = 0.0;
        for (int i = 0; i < 3; i++) {
            r[i] = draw(&seed) * (k % 5 == 0 ? 1e-3 : 1.0);
            u[i] = k % 7 == 0 ? 0.0 : draw(&seed) * (k % 11 == 0 ? 1e-3 : 1.0);
            size = fmax(size, fmax(weight * fabs(r[i]), (1.0 + mu) * fabs(u[i])));
        }
        const double value = perp_friction_law(rows, mu, weight, r, u);
        assert_near(value, reference_law(rows, mu, weight, r, u), 1e-14 * size);
        seen[value > 0.0]++;
    }
    assert_true(seen[1] > 30000);
}

/* Points that obey the law exactly: open, sticking inside and on the edge of the cone, slipping; whatever the size of
 * the force, of which the plain difference of forces would leave nothing but rounding. */
static void law_holds(void **state)
{
    (void)state;
    const double none[3] = {0.0, 0.0, 0.0}, up[3] = {0.25, 3.0, -4.0}, slip[3] = {0.0, -3.0, -4.0};
    for (int k = -900; k <= 900; k += 60) {
        const double s = ldexp(1.0, k);
        const double inside[3] = {10.0 * s, s, -2.0 * s}, edge[3] = {10.0 * s, 3.0 * s, 4.0 * s};
        assert_true(perp_friction_law(3, 0.5, s < 1e100 ? 1.0 : 1e-100, none, up) == 0.0);
        assert_true(perp_friction_law(3, 0.5, 1.0, inside, none) == 0.0);
        assert_true(perp_friction_law(3, 0.5, 1.0, edge, none) == 0.0);
        assert_true(perp_friction_law(3, 1e300, 1.0, inside, none) == 0.0);
        /* to the rounding of |u| = 5, if only the force is not lost beside the velocity */
        assert_near(perp_friction_law(3, 0.5, 1.0, edge, slip), 0.0, 20.0 * 2.3e-16);
        const double flat[2] = {2.0 * s, s}, along[2] = {0.0, -8.0};
        assert_near(perp_friction_law(2, 0.5, 1.0, flat, along), 0.0, 20.0 * 2.3e-16);
    }
}

/* Large forces and a small mistake: it is seen as it is, not as the rounding of the force. */
static void law_sees_small_mistakes(void **state)
{
    (void)state;
    for (int k = 0; k <= 60; k += 10) {
        const double s = ldexp(1.0, k);
        const double edge[3] = {10.0 * s, 3.0 * s, 4.0 * s}, inside[3] = {10.0 * s, s, s};
        const double sinking[3] = {-1e-7, 0.0, 0.0}, creeping[3] = {0.0, 0.0, 1e-7};
        assert_near(perp_friction_law(3, 0.5, 1.0, inside, sinking), 1e-7, 1e-20);
        /* z = (mu 1e-7, 0, 1e-7), inside K all of it counts */
        assert_near(perp_friction_law(3, 0.5, 1.0, inside, creeping), 1e-7 * sqrt(1.25), 1e-20);
        /* On the edge, pushed along its force: p - z leaves K inwards, and all of z counts. */
        if (k > 0) {
            assert_near(perp_friction_law(3, 0.5, 1.0, edge, creeping), 1e-7 * sqrt(1.25), 1e-20);
        }
        /* Slipping across the force: z = 1e-7 (0.5, 0.8, -0.6), y - P(y) = d n with d = -z . n = 0.25e-7 / sqrt(1.25)
         * for a large p, so that e = 1e-7 (0.5 - 0.1, 0.8 + 0.12, -0.6 + 0.16). */
        const double across[3] = {0.0, 0.8e-7, -0.6e-7};
        if (k >= 30) {
            const double e[3] = {0.4, 0.92, -0.44};
            assert_near(perp_friction_law(3, 0.5, 1.0, edge, across),
                        1e-7 * sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]), 1e-7 * 1e-8);
        }
    }
}

static void extreme_frictions(void **state)
{
    (void)state;
    const double r[3] = {2.0, 1.0, 0.0}, u[3] = {0.0, 5.0, 0.0}, pull[3] = {-1.0, 0.0, 0.0}, rest[3] = {0.0};
    assert_true(perp_friction_law(3, 0.0, 2.0, r, u) == 2.0);         /* ft = 1, over rho = 1/2 */
    assert_true(perp_friction_law(1, NAN, 2.0, r, u) == 0.0);         /* one row: 2 beside 0 */
    assert_true(perp_friction_law(3, 1e300, 1.0, r, rest) == 0.0);    /* sticks */
    assert_true(perp_friction_law(3, 1e-300, 1.0, r, rest) == 1.0);   /* ft without friction */
    assert_true(perp_friction_law(3, 1e300, 1.0, pull, rest) == 1.0); /* K is nearly a half-space */
    /* The limit of large friction is sticking: a point that slips is wrong by all of its force. */
    assert_near(perp_friction_law(3, 1e300, 1.0, r, u), sqrt(5.0), 1e-15);
    const double bad[3] = {0.0, NAN, 0.0}, far[3] = {0.0, INFINITY, 0.0};
    assert_true(perp_friction_law(3, 0.5, 1.0, bad, u) == INFINITY);
    assert_true(perp_friction_law(3, 0.5, 1.0, r, far) == INFINITY);
    const double large[3] = {1e300, 1e300, -1e300};
    assert_true(perp_friction_law(3, 0.5, 1e300, large, u) == INFINITY); /* overflow is no solution */
    assert_true(perp_friction_law(3, 1e300, 1.0, r, large) == INFINITY);
}

/* ---- problems ---- */

/* A point mass of 1 / 2 on an incline whose tangent is 1 / 2, planar and pressed with 4 along the normal: W = 2,
 * q = dt (-8, 4): with mu = 1 it sticks, r = (4, -2); with mu = 1/4 it slips, r = (4, -1), u = (0, 2); pulled, it
 * opens. */
static void incline(void **state)
{
    (void)state;
    const double w[4] = {2.0, 0.0, 0.0, 2.0}, pressed[2] = {-8.0, 4.0}, pulled[2] = {8.0, 4.0};
    const double rough = 1.0, smooth = 0.25, none = 0.0;
    const double stick[2] = {4.0, -2.0}, slip[2] = {4.0, -1.0}, open[2] = {0.0, 0.0}, push[2] = {4.0, 0.0};
    const perp_friction sticks = {1, 2, w, pressed, &rough}, slips = {1, 2, w, pressed, &smooth},
                        glides = {1, 2, w, pressed, &none}, opens = {1, 2, w, pulled, &rough};
    assert_true(perp_friction_residual(&sticks, stick) == 0.0);
    assert_true(perp_friction_residual(&slips, slip) == 0.0);
    assert_true(perp_friction_residual(&opens, open) == 0.0);
    assert_true(perp_friction_residual(&glides, push) == 0.0);
    double u[2];
    perp_friction_velocity(&slips, slip, u);
    assert_true(u[0] == 0.0 && u[1] == 2.0);
    const struct {
        const perp_friction *problem;
        const double *r;
        const char *mode;
    } cases[] = {{&sticks, stick, "stick"}, {&slips, slip, "slide"}, {&glides, push, "slide"}, {&opens, open, "open"}};
    for (int k = 0; k < 4; k++) {
        perp_friction_mode mode;
        perp_friction_velocity(cases[k].problem, cases[k].r, u);
        perp_friction_modes(cases[k].problem, cases[k].r, u, 1e-8, &mode);
        assert_string_equal(perp_friction_mode_name(mode), cases[k].mode);
    }
    /* and each is wrong for the others; r = 0 leaves z = (-8 + mu 4, 4), of which P(-z) is to be had */
    assert_true(perp_friction_residual(&sticks, slip) > 0.1 && perp_friction_residual(&slips, stick) > 0.1);
    assert_true(perp_friction_residual(&glides, slip) == 2.0 / 17.0);
    assert_true(perp_friction_residual(&sticks, open) == 8.0 / 9.0); /* un = -8, of which the map has 4 sqrt 2 */
    const double bad[2] = {NAN, 0.0};
    assert_true(perp_friction_residual(&sticks, bad) == INFINITY);
    const perp_friction nothing = {0, 3, NULL, NULL, NULL};
    assert_true(perp_friction_residual(&nothing, NULL) == 0.0);
    /* W_nn = 0: rho is 1, and the normal natural map |min(2, 1)| */
    const double flat[4] = {0.0, 0.0, 0.0, 2.0}, away[2] = {1.0, 0.0}, two[2] = {2.0, 0.0};
    const perp_friction weightless = {1, 2, flat, away, &none};
    assert_true(perp_friction_residual(&weightless, two) == 0.5);
}

/* A contact that leaves with 1e12 or bears as much excuses nothing in another, and has the scale of its largest row. */
static void each_contact_has_its_own_scale(void **state)
{
    (void)state;
    const double w[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, mu[2] = {0.5, 0.5};
    for (int power = 0; power <= 150; power += 10) {
        const double large = pow(10.0, power), q[4] = {large, 0.0, -1.0, 0.0}, held[4] = {-large, 0.0, -1.0, 0.0};
        const double none[4] = {0.0, 0.0, 0.0, 0.0}, one[4] = {large, 0.0, 0.0, 0.0}, both[4] = {large, 0.0, 1.0, 0.0};
        const perp_friction leaves = {2, 2, w, q, mu}, presses = {2, 2, w, held, mu};
        assert_true(perp_friction_residual(&leaves, none) == 0.5);
        assert_true(perp_friction_residual(&presses, one) == 0.5);
        assert_true(perp_friction_residual(&presses, both) == 0.0);
    }
}

/* Beside mu |ut| of 1e300 the normal velocity is no part of the natural map; it counts all the same. */
static void approach_is_seen(void **state)
{
    (void)state;
    const double w[4] = {1.0, 0.0, 0.0, 1.0};
    for (int power = 0; power <= 300; power += 10) {
        const double mu = pow(10.0, power), q[2] = {-1.0, 1.0}, r[2] = {0.5 / mu, -0.5};
        const perp_friction p = {1, 2, w, q, &mu};
        assert_true(perp_friction_residual(&p, r) >= 0.2);
    }
}

/* The same problem in other tangents, turned and mirrored, has the same residual. */
static void invariance(void **state)
{
    (void)state;
    enum { CONTACTS = 3, SIZE = 9 };
    uint64_t seed = 11;
    for (int k = 0; k < 200; k++) {
        double w[SIZE * SIZE], q[SIZE], r[SIZE], mu[CONTACTS], wt[SIZE * SIZE], qt[SIZE], rt[SIZE];
        for (int i = 0; i < SIZE * SIZE; i++) {
            w[i] = draw(&seed) + (i % (SIZE + 1) == 0 ? 3.0 : 0.0);
        }
        for (int i = 0; i < SIZE; i++) {
            q[i] = draw(&seed);
            r[i] = i % 3 ? 0.3 * draw(&seed) : 1.0 + draw(&seed);
        }
        for (int i = 0; i < CONTACTS; i++) {
            mu[i] = 1.0 + draw(&seed);
        }
        /* the tangents of all contacts exchanged and one reversed */
        static const int from[3] = {0, 2, 1};
        for (int i = 0; i < SIZE; i++) {
            const int source = i - i % 3 + from[i % 3];
            const double sign = i % 3 == 1 ? -1.0 : 1.0;
            qt[i] = sign * q[source];
            rt[i] = sign * r[source];
            for (int j = 0; j < SIZE; j++) {
                wt[i * SIZE + j] = sign * (j % 3 == 1 ? -1.0 : 1.0) * w[source * SIZE + j - j % 3 + from[j % 3]];
            }
        }
        const perp_friction p = {CONTACTS, 3, w, q, mu}, t = {CONTACTS, 3, wt, qt, mu};
        const double value = perp_friction_residual(&p, r);
        assert_true(value > 1e-3);
        assert_near(perp_friction_residual(&t, rt), value, 1e-14); /* sums in another order */
    }
}

static void refuse(const char *expected, const perp_friction *p)
{
    perp_error error = {0};
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_friction_check(p, &error));
    if (!strstr(error.message, expected)) {
        print_error("\"%s\" does not say \"%s\"\n", error.message, expected);
        fail();
    }
}

static void checked(void **state)
{
    (void)state;
    const double w[4] = {1.0, 0.0, 0.5, 1.0}, q[2] = {0.0, 1.0}, mu[1] = {0.0}, negative[1] = {-0.5};
    const double bad[4] = {0.0, 0.0, 0.0, NAN}, far[1] = {INFINITY};
    perp_error error = {0};
    const perp_friction good = {1, 2, w, q, mu}, nothing = {0, 2, NULL, NULL, NULL};
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_check(&good, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_friction_check(&nothing, &error));
    refuse("dim is 4, not 2 or 3", &(perp_friction){1, 4, w, q, mu});
    refuse("the number of contacts is -1", &(perp_friction){-1, 2, w, q, mu});
    refuse("1500000000 contacts of 2 rows are too many", &(perp_friction){1500000000, 2, w, q, mu});
    refuse("the problem has no W", &(perp_friction){1, 2, NULL, q, mu});
    refuse("the problem has no q", &(perp_friction){1, 2, w, NULL, mu});
    refuse("the problem has no mu", &(perp_friction){1, 2, w, q, NULL});
    refuse("entry (1, 1) of W is nan", &(perp_friction){1, 2, bad, q, mu});
    refuse("entry 1 of q is nan", &(perp_friction){1, 2, w, bad + 2, mu});
    refuse("entry 0 of mu is inf", &(perp_friction){1, 2, w, q, far});
    refuse("entry 0 of mu is -0.5, which is negative", &(perp_friction){1, 2, w, q, negative});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_is_the_natural_map),
        cmocka_unit_test(law_holds),
        cmocka_unit_test(law_sees_small_mistakes),
        cmocka_unit_test(extreme_frictions),
        cmocka_unit_test(incline),
        cmocka_unit_test(each_contact_has_its_own_scale),
        cmocka_unit_test(approach_is_seen),
        cmocka_unit_test(invariance),
        cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
