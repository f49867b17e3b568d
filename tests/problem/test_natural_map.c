/* The checks and residuals of the three classes, which share natural_map.h. */
#include "problem/checks.h"
#include "problem/natural_map.h"

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

/* Every value here is a sum of few numbers with short binary expansions, so equality is exact. */
static void assert_same(double a, double b)
{
    if (!(a == b)) {
        print_error("%.17g is not %.17g\n", a, b);
        fail();
    }
}

static const double m[4] = {2.0, 1.0, 0.0, 1.0};
static const double q[2] = {-3.0, 1.0};

static void residual_of_an_lcp(void **state)
{
    (void)state;
    const perp_lcp p = {2, m, q};
    static const struct {
        double z[2], natural, scale; /* of the worse row: 4 + 2 |z_0| + |z_1|, or 2 + |z_1| */
    } cases[] = {
        {{1.5, 0.0}, 0.0, 7.0},     /* w = (0, 1): solved */
        {{0.0, 0.0}, 3.0, 4.0},     /* w_0 = -3: min(z, w) = -3 */
        {{1.5, -0.25}, 0.25, 2.25}, /* w = (-0.25, 0.75): both rows are off by 0.25 */
        {{2.0, 0.0}, 1.0, 8.0},     /* w_0 = 1 beside z_0 = 2 */
        {{0.25, 0.0}, 2.5, 4.5},    /* w_0 = -2.5 */
        {{1.5, 8.0}, 8.0, 10.0},    /* z_1 = 8 beside w_1 = 9, w_0 = 8 beside z_0 = 1.5 */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_same(perp_lcp_residual(&p, cases[k].z), cases[k].natural / cases[k].scale);
        /* without the 1 */
        assert_same(perp_lcp_residual_with(&p, cases[k].z, 0.0), cases[k].natural / (cases[k].scale - 1.0));
    }
    double w[2];
    perp_lcp_slack(&p, cases[5].z, w);
    assert_same(w[0], 8.0);
    assert_same(w[1], 9.0);
    const double bad[2] = {NAN, 0.0}, huge[2] = {0.0, INFINITY};
    assert_same(perp_lcp_residual(&p, bad), INFINITY);
    assert_same(perp_lcp_residual(&p, huge), INFINITY);
    const perp_lcp nothing = {0, NULL, NULL};
    assert_same(perp_lcp_residual(&nothing, NULL), 0.0);
}

static void residual_of_an_mlcp(void **state)
{
    (void)state;
    const bool free[2] = {true, false};
    const perp_mlcp p = {2, m, q, free};
    const double solved[2] = {1.5, 0.0}, off[2] = {-1.0, 0.0}, above[2] = {4.0, 0.0};
    assert_same(perp_mlcp_residual(&p, solved), 0.0);
    assert_same(perp_mlcp_residual(&p, off), 5.0 / 6.0);    /* |w_0|, whatever the sign of z_0 */
    assert_same(perp_mlcp_residual(&p, above), 5.0 / 12.0); /* and whatever its size */
}

static void residual_of_an_mcp(void **state)
{
    (void)state;
    const double lower[2] = {-1.0, -INFINITY}, upper[2] = {1.0, 2.0};
    const perp_mcp p = {2, m, q, lower, upper};
    static const struct {
        double z[2], natural, scale;
    } cases[] = {
        {{1.0, -1.0}, 0.0, 7.0},  /* F = (-2, 0): at its upper bound, and free inside */
        {{-1.0, -1.0}, 2.0, 7.0}, /* F = (-6, 0): from the lower bound the whole width of the box away */
        {{0.0, -1.0}, 1.0, 5.0},  /* F = (-4, 0): one below the upper bound */
        {{1.0, 0.0}, 1.0, 2.0},   /* F = (-1, 1): row 1 has no lower bound, so |F| */
        {{1.5, -1.0}, 0.5, 8.0},  /* outside by 0.5 */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_same(perp_mcp_residual(&p, cases[k].z), cases[k].natural / cases[k].scale);
        assert_same(perp_mcp_residual_with(&p, cases[k].z, 0.0), cases[k].natural / (cases[k].scale - 1.0));
    }
}

/* An error of F must not drown in a large z: z - (z - F) would be 0 here. */
static void large_z_hides_nothing(void **state)
{
    (void)state;
    const double one[1] = {1.0}, constant[1] = {-1e20 + 16384.0};
    const perp_lcp p = {1, one, constant};
    const double z[1] = {1e20};
    double w;
    perp_lcp_slack(&p, z, &w);
    assert_same(w, 16384.0);
    assert_same(perp_lcp_residual(&p, z), 16384.0 / (1.0 + fabs(constant[0]) + 1e20));
}

/* A row of 1e12 or 1e300 excuses nothing in a row of 1, and a row whose terms cancel is judged beside these. */
static void each_row_has_its_own_scale(void **state)
{
    (void)state;
    const double unit[4] = {1.0, 0.0, 0.0, 1.0}, zeros[2] = {0.0, 0.0};
    const double lower[2] = {0.0, 0.0}, upper[2] = {INFINITY, INFINITY};
    const bool free[2] = {false, true};
    for (int power = 0; power <= 300; power += 12) {
        const double loose[2] = {pow(10.0, power), -1.0};
        const perp_lcp lcp = {2, unit, loose};
        const perp_mlcp mlcp = {2, unit, loose, free};
        const perp_mcp mcp = {2, unit, loose, lower, upper};
        assert_same(perp_lcp_residual(&lcp, zeros), 0.5);
        assert_same(perp_lcp_residual_with(&lcp, zeros, 0.0), 1.0);
        assert_same(perp_mlcp_residual(&mlcp, zeros), 0.5);
        assert_same(perp_mcp_residual(&mcp, zeros), 0.5);
    }
    const double rows[9] = {1e20, 1.0, -1e20}, nothing[3] = {0.0, 0.0, 0.0}, ones[3] = {1.0, 1.0, 1.0};
    const perp_lcp cancels = {3, rows, nothing};
    assert_true(perp_lcp_residual(&cancels, ones) <= 1e-20);
    /* What overflows is not judged. */
    const double huge[2] = {1e300, 1e300}, large[4] = {1e300, 0.0, 0.0, 1.0};
    const perp_lcp overflows = {2, large, zeros};
    assert_same(perp_lcp_residual(&overflows, huge), INFINITY);
}

static void bad_data_is_named(void **state)
{
    (void)state;
    perp_error error;
    const double values[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) {
            double bad[4] = {1.0, 2.0, 3.0, 4.0};
            bad[i] = values[k];
            const perp_lcp p = {2, bad, q};
            ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_check(&p, &error));
            char place[20];
            snprintf(place, sizeof place, "(%d, %d)", i / 2, i % 2);
            assert_non_null(strstr(error.message, place));
        }
        double bad[2] = {0.0, values[k]};
        const perp_lcp p = {2, m, bad};
        ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_check(&p, &error));
        assert_non_null(strstr(error.message, "entry 1 of q"));
    }
    const perp_lcp negative = {-2, m, q}, no_m = {2, NULL, q}, no_q = {2, m, NULL}, good = {2, m, q},
                   none = {0, NULL, NULL};
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_check(&negative, &error));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_check(&no_m, &error));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_check(&no_q, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_check(&good, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_check(&none, &error));
    const perp_mlcp no_free = {2, m, q, NULL};
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mlcp_check(&no_free, &error));
    const double lower[2] = {0.0, 2.0}, upper[2] = {0.0, 1.0};
    const perp_mcp crossed = {2, m, q, lower, upper}, unbounded = {2, m, q, NULL, upper},
                   equal = {1, m, q, lower, upper};
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_check(&crossed, &error));
    assert_non_null(strstr(error.message, "variable 1"));
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_mcp_check(&unbounded, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_mcp_check(&equal, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_of_an_lcp),         cmocka_unit_test(residual_of_an_mlcp),
        cmocka_unit_test(residual_of_an_mcp),         cmocka_unit_test(large_z_hides_nothing),
        cmocka_unit_test(each_row_has_its_own_scale), cmocka_unit_test(bad_data_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
