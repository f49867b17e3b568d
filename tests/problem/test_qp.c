#include "convex_test.h"
#include "problem/checks.h"
#include "problem/objectives.h"

static reference ref;

/* min x^2 + y^2 - 2 x - 6 y (H = 2, g = (-2, -6)),  x + y <= 2 as -x - y >= -2,  x - y = -1,  0 <= x <= 3:
 * x = (0.5, 1.5), and H x + g = (-1, -3) = -y (1, 1) + y_C (1, -1) gives y = 2, y_C = 1. */
static const double h[4] = {2.0, 0.0, 0.0, 2.0}, g[2] = {-2.0, -6.0};
static const double a[2] = {-1.0, -1.0}, b[1] = {-2.0}, c[2] = {1.0, -1.0}, d[1] = {-1.0};
static const double lower[2] = {0.0, -INFINITY}, upper[2] = {3.0, INFINITY};
static const perp_qp small = {2, h, g, 1, a, b, 1, c, d, lower, upper};

static void closed_form(void **state)
{
    (void)state;
    double x[2] = {0.5, 1.5}, y[1] = {2.0}, y_c[1] = {1.0}, y_l[2] = {0.0, 0.0}, y_u[2] = {0.0, 0.0};
    const perp_convex_point p = {x, y, y_c, y_l, y_u};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_check(&small, &error));
    assert_true(perp_convex_residual_largest(perp_qp_residual(&small, &p)) == 0.0);
    assert_true(perp_qp_objective(&small, x) == -7.5);
    y[0] = -2.0; /* 2 over 1 + 2; the gradient is off by 4, over 1 + 2 + 1 + 2 + 1 and 1 + 6 + 3 + 2 + 1 */
    assert_true(perp_qp_residual(&small, &p).dual == 2.0 / 3.0);
    assert_true(perp_qp_residual(&small, &p).complementarity == 0.0);
    y[0] = 2.0;
    /* The row is short of 1, over 1 + 2 + 3; the equation off by 1, over 1 + 1 + 3; the gradient by 2, over 1 + 6 + 5 +
     * 2
     * + 1; the product is 2, over (1 + 2 + 3) (1 + 2). */
    x[1] = 2.5;
    const perp_convex_residual r = perp_qp_residual(&small, &p);
    assert_true(r.primal == 1.0 / 5.0 && r.dual == 2.0 / 15.0 && r.complementarity == 2.0 / 18.0);
    x[0] = 4.0; /* beyond its upper bound by 1; row: 6.5 - 2, over 1 + 2 + 6.5; equation: 1.5 + 1 */
    assert_true(perp_qp_residual(&small, &p).primal == 4.5 / 9.5);
    x[0] = 0.5, x[1] = 1.5, y_u[1] = 3.0; /* the multiplier of an infinite bound */
    assert_true(perp_qp_residual(&small, &p).dual == 3.0 / 4.0);
    y_u[1] = 0.0, y_l[0] = 7.0; /* (x - 0) 7 = 3.5, over (1 + 0 + 0.5) (1 + 7) */
    assert_true(perp_qp_residual(&small, &p).complementarity == 3.5 / 12.0);
}

static void not_finite_is_infinite(void **state)
{
    (void)state;
    const double bad[2] = {NAN, INFINITY};
    for (int where = 0; where < 10; where++) {
        double x[2] = {0.5, 1.5}, y[1] = {2.0}, y_c[1] = {1.0}, y_l[2] = {0.0, 0.0}, y_u[2] = {0.0, 0.0};
        double *const entries[5] = {&x[1], &y[0], &y_c[0], &y_l[1], &y_u[1]};
        *entries[where / 2] = bad[where % 2];
        const perp_convex_point p = {x, y, y_c, y_l, y_u};
        assert_all_infinite(perp_qp_residual(&small, &p));
        assert_true(where < 2 || perp_qp_infeasibility(&small, &p) == INFINITY);
    }
    const double ray[2] = {INFINITY, 1.0};
    assert_true(perp_qp_unboundedness(&small, ray) == INFINITY);
    /* An unknown that nothing touches counts too, and so does an overflow of finite numbers. */
    const double zero[1] = {0.0}, huge[1] = {1e200};
    double x[1] = {NAN};
    const perp_convex_point p = {x, NULL, NULL, NULL, NULL};
    const perp_qp alone = {.n = 1, .g = zero}, steep = {.n = 1, .h = huge, .g = zero};
    assert_all_infinite(perp_qp_residual(&alone, &p));
    x[0] = 1e200;
    assert_true(perp_qp_residual(&steep, &p).dual == INFINITY);
    const perp_convex_residual one_nan = {0.0, NAN, 1.0};
    assert_true(perp_convex_residual_largest(one_nan) == INFINITY);
}

static void nothing_is_solved(void **state)
{
    (void)state;
    const perp_qp nothing = {0};
    const perp_convex_point p = {0};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_check(&nothing, &error));
    assert_true(perp_convex_residual_largest(perp_qp_residual(&nothing, &p)) == 0.0);
    assert_true(perp_qp_objective(&nothing, NULL) == 0.0);
    assert_true(perp_qp_infeasibility(&nothing, &p) == INFINITY);
    assert_true(perp_qp_unboundedness(&nothing, NULL) == INFINITY);
    /* Without unknowns, but with a row 0 >= 2: its distance is 2, over 1 + 2. */
    const double two[1] = {2.0};
    double y[1] = {0.5};
    const perp_qp empty_row = {.rows = 1, .b = two};
    const perp_convex_point q = {.y = y};
    ASSERT_STATUS(PERP_STATUS_OK, perp_qp_check(&empty_row, &error));
    assert_true(perp_qp_residual(&empty_row, &q).primal == 2.0 / 3.0);
    assert_true(perp_qp_infeasibility(&empty_row, &q) == 0.0);
}

/* A row that is loose by 1e20, an equation of that size and a force of 1e8 excuse nothing elsewhere. */
static void each_row_has_its_own_scale(void **state)
{
    (void)state;
    const double unit[4] = {1.0, 0.0, 0.0, 1.0}, rows[6] = {1.0, 0.0, 0.0, 1.0, 1.0, 1.0}, flat[2] = {0.0, 0.0};
    double none[3] = {0.0, 0.0, 0.0}, x[2] = {0.0, 0.0};
    const perp_convex_point p = {x, none, none, none, none};
    for (int power = 0; power <= 280; power += 20) {
        const double large = pow(10.0, power), right[3] = {1.0, 1.0, -large}, pull[2] = {-1.0, large};
        const perp_qp loose = {.n = 2, .h = unit, .g = flat, .rows = 3, .a = rows, .b = right};
        assert_true(perp_qp_residual(&loose, &p).primal == 0.5);
        const double sums[4] = {1.0, 0.0, large, large}, targets[2] = {1.0, 0.0};
        const perp_qp equation = {.n = 2, .g = flat, .equalities = 2, .c = sums, .d = targets};
        x[1] = 1.0;
        assert_true(perp_qp_residual(&equation, &p).primal >= 0.5);
        x[1] = 0.0;
        const double low[2] = {2.0, -large};
        const perp_qp bounds = {.n = 2, .g = flat, .lower = low};
        assert_true(perp_qp_residual(&bounds, &p).primal == 2.0 / 3.0);
        none[1] = large; /* y_lower takes the large force up */
        const perp_qp pulled = {.n = 2, .g = pull, .lower = flat};
        assert_true(perp_qp_residual(&pulled, &p).dual == 0.5);
        none[1] = 0.0;
    }
}

/* The objective is formed in twice the precision; a proof whose value is 0.5 of terms of 1e17 is none. */
static void values_that_cancel(void **state)
{
    (void)state;
    const double large[3] = {1e17, -0.5, -1e17}, zero[3] = {0.0, 0.0, 0.0};
    double ones[3] = {1.0, 1.0, 1.0}, none[3] = {0.0, 0.0, 0.0};
    const perp_qp objective = {.n = 3, .g = large}, row = {.n = 3, .g = zero, .rows = 1, .a = large, .b = zero};
    assert_true(perp_qp_objective(&objective, ones) == -0.5);
    assert_true(perp_qp_unboundedness(&objective, ones) == INFINITY);
    assert_true(perp_qp_unboundedness(&row, ones) == INFINITY); /* g'x = 0 */
    const double right[3] = {1e17, 0.5, -1e17}, nought[3] = {0.0, 0.0, 0.0};
    const perp_qp impossible = {.n = 1, .g = zero, .rows = 3, .a = nought, .b = right};
    const perp_convex_point at = {none, ones, NULL, NULL, NULL};
    assert_true(perp_qp_infeasibility(&impossible, &at) == INFINITY);
}

/* A proof is judged by its own columns and a direction by its own rows, whatever their size. x >= 1e20 is met by
 * x = 1e20, though y = 1e-20 gives b.y = 1 and A'y = 1e-20; and 1e-20 x^2 - x has an end. What it is worth has to be
 * seen beside the 1 of a residual. */
static void certificates_have_no_unit(void **state)
{
    (void)state;
    const double zero[2] = {0.0, 0.0}, down[1] = {-1.0}, one[1] = {1.0};
    for (int power = -280; power <= 280; power += 20) {
        const double size = pow(10.0, power), far[1] = {1.0 / size}, rows[2] = {1.0, -1.0};
        double y[2] = {size, 0.0}, ends_at[2] = {1.0 / size, -0.5 / size};
        const perp_convex_point p = {NULL, y, NULL, NULL, NULL};
        const perp_qp met = {.n = 1, .g = zero, .rows = 1, .a = one, .b = far};
        assert_true(perp_qp_infeasibility(&met, &p) == (power < 8 ? 1.0 : INFINITY));
        const perp_qp crossed = {.n = 1, .g = zero, .rows = 2, .a = rows, .b = ends_at};
        y[1] = size; /* x >= 1 / size and x <= 1 / (2 size) */
        assert_true(perp_qp_infeasibility(&crossed, &p) == (power < 8 ? 0.0 : INFINITY));
        const perp_qp ends = {.n = 1, .h = &size, .g = down}, falls = {.n = 1, .g = down, .lower = far};
        assert_true(perp_qp_unboundedness(&ends, one) == 1.0);
        assert_true(perp_qp_unboundedness(&falls, one) == 0.0);
        const double slope[1] = {-size};
        const perp_qp gently = {.n = 1, .g = slope};
        assert_true(perp_qp_unboundedness(&gently, one) == (power > -8 ? 0.0 : INFINITY));
    }
    /* Products that are too small to tell prove nothing. */
    const double tiny[1] = {5e-324}, huge[1] = {1e300};
    double y[1] = {1e-300};
    const perp_convex_point p = {NULL, y, NULL, NULL, NULL};
    const perp_qp lost = {.n = 1, .g = zero, .rows = 1, .a = tiny, .b = huge};
    assert_true(perp_qp_infeasibility(&lost, &p) == INFINITY);
}

static void certificates(void **state)
{
    (void)state;
    /* x >= 1 and x <= -1 twice over: as rows with y = (1, 1), b.y = 2, and as a bound against a row. */
    const double zero[1] = {0.0}, rows[2] = {1.0, -1.0}, one[2] = {1.0, 1.0}, minus[1] = {-1.0};
    double y[2] = {3.0, 3.0}, y_u[1] = {3.0}, x[1] = {0.0};
    const perp_qp crossed = {.n = 1, .g = zero, .rows = 2, .a = rows, .b = one};
    perp_convex_point p = {x, y, NULL, NULL, NULL};
    assert_true(perp_qp_infeasibility(&crossed, &p) == 0.0);
    y[1] = 3.5; /* A'y = -0.5, b.y = 6.5 */
    assert_true(perp_qp_infeasibility(&crossed, &p) == 0.5 / 6.5);
    y[0] = -3.0, y[1] = -3.0; /* the sign of the scaling */
    assert_true(perp_qp_infeasibility(&crossed, &p) == INFINITY);
    const perp_qp bounded = {.n = 1, .g = zero, .rows = 1, .a = rows, .b = one, .upper = minus};
    y[0] = 3.0;
    p.y_upper = y_u;
    assert_true(perp_qp_infeasibility(&bounded, &p) == 0.0);
    /* min -x, x >= 1: unbounded along 1; not with an upper bound, not with a curvature. */
    const double down[1] = {-1.0}, along[1] = {2.0}, top[1] = {9.0}, curve[1] = {0.25};
    const perp_qp open = {.n = 1, .g = down, .rows = 1, .a = rows, .b = one, .lower = one};
    const perp_qp closed = {.n = 1, .g = down, .upper = top}, curved = {.n = 1, .h = curve, .g = down};
    assert_true(perp_qp_unboundedness(&open, along) == 0.0);
    assert_true(perp_qp_unboundedness(&open, down) == INFINITY);
    assert_true(perp_qp_unboundedness(&closed, along) == 1.0);
    assert_true(perp_qp_unboundedness(&curved, along) == 1.0);
}

/* Dense and sparse, with and without each part; sizes over the 256 columns that are summed at a time. */
static void random_problems(void **state)
{
    (void)state;
    static double hh[300 * 300], gg[300], aa[40 * 300], bb[40], cc[5 * 300], dd[5], lo[300], up[300];
    static double x[300], y[40], y_c[5], y_l[300], y_u[300];
    const perp_convex_point point = {x, y, y_c, y_l, y_u};
    uint64_t seed = 1;
    for (int k = 0; k < 300; k++) {
        const int n = k % 60 == 0 ? 300 : draw_int(&seed, 1, 30);
        const perp_qp p = {n,
                           k % 4 == 0 ? NULL : hh,
                           gg,
                           draw_int(&seed, 0, 40),
                           aa,
                           bb,
                           draw_int(&seed, 0, 5),
                           cc,
                           dd,
                           k % 3 == 0 ? NULL : lo,
                           k % 5 == 0 ? NULL : up};
        const double size = k % 7 == 0 ? 1e3 : 1.0;
        draw_hessian(&seed, n, draw_int(&seed, 1, 4), k % 2 * 3, hh);
        draw_sparse(&seed, p.rows * n, k % 2 * 0.7, aa);
        draw_sparse(&seed, p.equalities * n, k % 2 * 0.7, cc);
        draw_bounds(&seed, n, lo, up);
        draw_vector(&seed, n, 1.0, gg);
        draw_vector(&seed, p.rows, 1.0, bb);
        draw_vector(&seed, p.equalities, 1.0, dd);
        draw_vector(&seed, n, size, x);
        draw_vector(&seed, p.rows, size, y);
        draw_vector(&seed, p.equalities, size, y_c);
        draw_vector(&seed, n, size, y_l);
        draw_vector(&seed, n, size, y_u);
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_check(&p, &error));
        ref_of_qp(&p, &ref);
        assert_residuals_near(perp_qp_residual(&p, &point), ref_residual(&ref, &point), k);
        assert_near(perp_qp_objective(&p, x), ref_objective(&ref, x), "objective", k);
        assert_near(perp_qp_infeasibility(&p, &point), ref_infeasibility(&ref, &point), "infeasibility", k);
        assert_near(perp_qp_unboundedness(&p, x), ref_unboundedness(&ref, x), "unboundedness", k);
    }
}

#define REFUSED(words, ...)                                                                                            \
    do {                                                                                                               \
        perp_qp p = small;                                                                                             \
        __VA_ARGS__;                                                                                                   \
        perp_error error;                                                                                              \
        const perp_status status = perp_qp_check(&p, &error);                                                          \
        assert_message(status, &error, words);                                                                         \
    } while (0)

static void refusals(void **state)
{
    (void)state;
    REFUSED("the size of the problem is -1", p.n = -1);
    REFUSED("the number of rows is -2", p.rows = -2);
    REFUSED("the number of equations is -3", p.equalities = -3);
    REFUSED("the problem has no g", p.g = NULL);
    REFUSED("the problem has no A", p.a = NULL);
    REFUSED("the problem has no b", p.b = NULL);
    REFUSED("the problem has no C", p.c = NULL);
    REFUSED("the problem has no d", p.d = NULL);
    const double bad2[2] = {1.0, NAN}, bad4[4] = {1.0, 0.0, -INFINITY, 1.0};
    REFUSED("entry 1 of g is nan", p.g = bad2);
    REFUSED("entry (1, 0) of H is -inf", p.h = bad4);
    REFUSED("entry (0, 1) of A is nan", p.a = bad2);
    REFUSED("entry (0, 1) of C is nan", p.c = bad2);
    REFUSED("entry 0 of b is nan", p.b = bad2 + 1);
    REFUSED("entry 0 of d is nan", p.d = bad2 + 1);
    const double skew[4] = {2.0, 1.0, 1.0 + 3e-12, 2.0};
    REFUSED("H is not symmetric: entry (1, 0) is 1.000000000003", p.h = skew);
    const double negative[4] = {2.0, 0.0, 0.0, -1e-11};
    REFUSED("H is not positive semidefinite: its diagonal entry 1 is -1e-11", p.h = negative);
    const double saddle[4] = {1.0, 2.0, 2.0, 1.0};
    REFUSED("H is not positive semidefinite: entry (1, 0) is 2 beside the diagonal entries 1 and 1", p.h = saddle);
    const double saddle_of_zero[4] = {1e200, 1e198, 1e198, 0.0};
    REFUSED("H is not positive semidefinite: entry (1, 0) is 1e+198", p.h = saddle_of_zero);
    const double up_nan[2] = {0.0, NAN}, all_up[2] = {INFINITY, 0.0}, all_down[2] = {0.0, -INFINITY};
    REFUSED("the lower bound of entry 1 is nan", p.lower = up_nan);
    REFUSED("the upper bound of entry 1 is nan", p.upper = up_nan);
    REFUSED("the lower bound of entry 0 is inf", p.lower = all_up; p.upper = NULL);
    REFUSED("the upper bound of entry 1 is -inf", p.upper = all_down; p.lower = NULL);
    const double high[2] = {4.0, 0.0};
    REFUSED("the bounds of entry 0 are crossed: 4 > 3", p.lower = high);
}

/* What only rounding makes asymmetric or indefinite passes: the edge of each refusal. */
static void rounding_is_not_refused(void **state)
{
    (void)state;
    static const double accepted[][4] = {
        {2.0, 1.0, 1.0 + 1e-12, 2.0}, {2.0, 0.0, 0.0, -1e-12}, {1.0, 1.0 + 1e-15, 1.0 + 1e-15, 1.0},
        {1e-8, 1.0, 1.0, 1e8},        {0.0, 0.0, 0.0, 0.0},    {1e300, 1e300, 1e300, 1e300},
    };
    for (size_t k = 0; k < sizeof accepted / sizeof *accepted; k++) {
        perp_qp p = small;
        p.h = accepted[k];
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_OK, perp_qp_check(&p, &error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),        cmocka_unit_test(not_finite_is_infinite),
        cmocka_unit_test(nothing_is_solved),  cmocka_unit_test(each_row_has_its_own_scale),
        cmocka_unit_test(values_that_cancel), cmocka_unit_test(certificates_have_no_unit),
        cmocka_unit_test(certificates),       cmocka_unit_test(random_problems),
        cmocka_unit_test(refusals),           cmocka_unit_test(rounding_is_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
