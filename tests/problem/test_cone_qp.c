#include "convex_test.h"
#include "problem/checks.h"
#include "problem/objectives.h"

static reference ref;

/* min 1/2 |x - (0, 3, 4)|^2 with x in the cone: the projection is (2.5, 1.5, 2), and y = H x + g = (2.5, -1.5, -2). */
static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, g[3] = {0.0, -3.0, -4.0};
static const double zero[3] = {0.0, 0.0, 0.0};
static const int three[1] = {3};
static const perp_cone_qp projection = {3, identity, g, 1, three, identity, zero, 0, NULL, NULL};

static void closed_form(void **state)
{
    (void)state;
    double x[3] = {2.5, 1.5, 2.0}, y[3] = {2.5, -1.5, -2.0};
    const perp_convex_point p = {.x = x, .y = y};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_cone_qp_check(&projection, &error));
    assert_true(perp_convex_residual_largest(perp_cone_qp_residual(&projection, &p)) == 0.0);
    assert_true(perp_cone_qp_objective(&projection, x) == -6.25);
    /* Short by (2.5 - 0.5) / sqrt 2, over 1 + 2; H x + g - y = (-2, 0, 0), over 1 + 0.5 + 2.5; s.y = -5, over (1 + 2)
     * (1 + 2.5). */
    x[0] = 0.5;
    const perp_convex_residual r = perp_cone_qp_residual(&projection, &p);
    assert_near(r.primal, sqrt(2.0) / 3.0, "primal", 0);
    assert_true(r.dual == 2.0 / 4.0 && r.complementarity == 5.0 / 10.5);
    x[0] = -3.0; /* in the polar cone: the nearest point is the apex; over 1 + 3 */
    assert_near(perp_cone_qp_residual(&projection, &p).primal, sqrt(9.0 + 2.25 + 4.0) / 4.0, "primal", 1);
    x[0] = 2.5, y[0] = 1.5; /* y is outside by 1 / sqrt 2, over 1 + 2, and the gradient off by 1, over 1 + 2.5 + 1.5 */
    assert_near(perp_cone_qp_residual(&projection, &p).dual, sqrt(0.5) / 3.0, "dual", 2);
    y[0] = -2.5; /* y is on the polar cone: |y| = sqrt 12.5, over 1 + 2.5; the gradient off by 5, over 6 */
    assert_near(perp_cone_qp_residual(&projection, &p).dual, sqrt(12.5) / 3.5, "dual", 3);
}

/* A cone of any size, and its multiplier, excuse nothing in another; each has the scale of its largest entry. */
static void each_cone_has_its_own_scale(void **state)
{
    (void)state;
    const int sizes[2] = {3, 2};
    const double rows[10] = {0.0};
    double x[2] = {0.0, 0.0}, y[5] = {0.0};
    const perp_convex_point p = {.x = x, .y = y};
    for (int power = 0; power <= 150; power += 10) {
        const double large = pow(10.0, power), offset[5] = {large, 0.0, 0.0, 1.0, 3.0};
        const perp_cone_qp cones = {.n = 2, .g = zero, .cones = 2, .cone_rows = sizes, .a = rows, .b = offset};
        y[0] = large;
        assert_near(perp_cone_qp_residual(&cones, &p).primal, 2.0 / sqrt(2.0) / 4.0, "primal", power);
        y[3] = 1.0, y[4] = 3.0; /* outside as far; s.y = 10, over (1 + 3) (1 + 3) */
        assert_near(perp_cone_qp_residual(&cones, &p).dual, 2.0 / sqrt(2.0) / 4.0, "dual", power);
        y[0] = 0.0;
        assert_near(perp_cone_qp_residual(&cones, &p).complementarity, 10.0 / 16.0, "complementarity", power);
        y[3] = y[4] = 0.0;
    }
}

static void nothing_is_solved(void **state)
{
    (void)state;
    const perp_cone_qp nothing = {0};
    const perp_convex_point p = {0};
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_OK, perp_cone_qp_check(&nothing, &error));
    assert_true(perp_convex_residual_largest(perp_cone_qp_residual(&nothing, &p)) == 0.0);
    assert_true(perp_cone_qp_objective(&nothing, NULL) == 0.0);
    double x[3] = {0.0, 0.0, 0.0}, y[3] = {1.0, NAN, 0.0};
    const perp_convex_point bad_y = {.x = x, .y = y}, bad_x = {.x = y, .y = x};
    assert_all_infinite(perp_cone_qp_residual(&projection, &bad_y));
    assert_all_infinite(perp_cone_qp_residual(&projection, &bad_x));
    assert_true(perp_cone_qp_infeasibility(&projection, &bad_y) == INFINITY);
    assert_true(perp_cone_qp_unboundedness(&projection, y) == INFINITY);
}

static void certificates(void **state)
{
    (void)state;
    /* No x has (x, 2 + x) in the cone: y = (1, -1) makes y.(x, 2 + x) = -2 = offset.y, so the scale is 2. The other
     * constraint, a cone of one row, is -x - 1 >= 0. */
    const double a[3] = {1.0, 1.0, -1.0}, offset[3] = {0.0, 2.0, -1.0}, none[1] = {0.0};
    const int rows[2] = {2, 1};
    double y[3] = {1.0, -1.0, 0.0};
    const perp_cone_qp impossible = {.n = 1, .g = none, .cones = 2, .cone_rows = rows, .a = a, .b = offset};
    const perp_convex_point p = {.y = y};
    assert_true(perp_cone_qp_infeasibility(&impossible, &p) == 0.0);
    y[0] = 0.0; /* y outside of its cone by 1 / sqrt 2 of its size, A'y = -1 has one term */
    assert_true(perp_cone_qp_infeasibility(&impossible, &p) == 1.0);
    y[1] = 1.0;
    assert_true(perp_cone_qp_infeasibility(&impossible, &p) == INFINITY);
    /* min -x_0 over the cone: unbounded along (1, 0.6, 0.8), which stays on the boundary; (1, 2, 0) leaves. */
    const double down[3] = {-1.0, 0.0, 0.0}, along[3] = {5.0, 3.0, 4.0}, out[3] = {1.0, 2.0, 0.0};
    const perp_cone_qp open = {.n = 3, .g = down, .cones = 1, .cone_rows = three, .a = identity, .b = zero};
    assert_true(perp_cone_qp_unboundedness(&open, along) == 0.0);
    assert_near(perp_cone_qp_unboundedness(&open, out), 0.5 / sqrt(2.0), "unboundedness", 0);
    assert_true(perp_cone_qp_unboundedness(&open, down) == INFINITY);
}

/* Cones of 1 .. 6 rows, now and then one of 70, which is more than are kept at a time. */
static void random_problems(void **state)
{
    (void)state;
    static double hh[30 * 30], gg[30], aa[160 * 30], bb[160], cc[5 * 30], dd[5], x[30], y[160], y_c[5];
    const perp_convex_point point = {x, y, y_c, NULL, NULL};
    uint64_t seed = 2;
    int inside = 0;
    for (int k = 0; k < 400; k++) {
        const int n = draw_int(&seed, 1, 30), cones = draw_int(&seed, 0, 14);
        int cone_rows[14], rows = 0;
        for (int i = 0; i < cones; i++) {
            cone_rows[i] = k % 9 == 0 && i == 1 ? 70 : draw_int(&seed, 1, 6);
            rows += cone_rows[i];
        }
        const perp_cone_qp p = {n, k % 4 == 0 ? NULL : hh, gg, cones, cone_rows, aa, bb, draw_int(&seed, 0, 5), cc, dd};
        const double size = k % 7 == 0 ? 1e3 : 1.0;
        draw_hessian(&seed, n, draw_int(&seed, 1, 4), k % 2 * 3, hh);
        draw_sparse(&seed, rows * n, k % 2 * 0.7, aa);
        draw_sparse(&seed, p.equalities * n, k % 2 * 0.7, cc);
        draw_vector(&seed, n, 1.0, gg);
        draw_vector(&seed, rows, 1.0, bb);
        draw_vector(&seed, p.equalities, 1.0, dd);
        draw_vector(&seed, n, size, x);
        draw_vector(&seed, rows, size, y);
        draw_vector(&seed, p.equalities, size, y_c);
        for (int i = 0, row = 0; k % 3 == 0 && i < cones; row += cone_rows[i++]) { /* y inside: only sums count */
            y[row] = 10.0 * size;
        }
        perp_error error;
        ASSERT_STATUS(PERP_STATUS_OK, perp_cone_qp_check(&p, &error));
        ref_of_cone_qp(&p, &ref);
        const perp_convex_residual r = perp_cone_qp_residual(&p, &point);
        inside += r.primal == 0.0 ? 1 : 0;
        assert_residuals_near(r, ref_residual(&ref, &point), k);
        assert_near(perp_cone_qp_objective(&p, x), ref_objective(&ref, x), "objective", k);
        assert_near(perp_cone_qp_infeasibility(&p, &point), ref_infeasibility(&ref, &point), "infeasibility", k);
        assert_near(perp_cone_qp_unboundedness(&p, x), ref_unboundedness(&ref, x), "unboundedness", k);
    }
    assert_true(inside > 0 && inside < 200); /* both happened */
}

#define REFUSED(words, ...)                                                                                            \
    do {                                                                                                               \
        perp_cone_qp p = projection;                                                                                   \
        __VA_ARGS__;                                                                                                   \
        perp_error error;                                                                                              \
        const perp_status status = perp_cone_qp_check(&p, &error);                                                     \
        assert_message(status, &error, words);                                                                         \
    } while (0)

static void refusals(void **state)
{
    (void)state;
    REFUSED("the size of the problem is -1", p.n = -1);
    REFUSED("the number of cones is -1", p.cones = -1);
    REFUSED("the number of equations is -1", p.equalities = -1);
    REFUSED("the problem has no cone_rows", p.cone_rows = NULL);
    const int empty[1] = {0}, huge[2] = {2147483647, 1};
    REFUSED("cone 0 has 0 rows", p.cone_rows = empty);
    REFUSED("the cones have more than 2147483647 rows in all", p.cone_rows = huge; p.cones = 2);
    REFUSED("the problem has no g", p.g = NULL);
    REFUSED("the problem has no A", p.a = NULL);
    REFUSED("the problem has no b", p.b = NULL);
    REFUSED("the problem has no C", p.equalities = 1; p.d = zero);
    REFUSED("the problem has no d", p.equalities = 1; p.c = identity);
    const double bad[9] = {0.0, 0.0, 0.0, 0.0, 0.0, -INFINITY, 0.0, 0.0, NAN};
    REFUSED("entry (1, 2) of A is -inf", p.a = bad);
    REFUSED("entry 2 of b is nan", p.b = bad + 6);
    REFUSED("entry 2 of g is nan", p.g = bad + 6);
    REFUSED("entry (1, 2) of H is -inf", p.h = bad);
    REFUSED("entry (0, 2) of C is nan", p.equalities = 1; p.c = bad + 6; p.d = zero);
    REFUSED("entry 0 of d is nan", p.equalities = 1; p.c = identity; p.d = bad + 8);
    const double skew[9] = {1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    REFUSED("H is not symmetric: entry (2, 0) is 0 and entry (0, 2) is 0.5", p.h = skew);
    const double saddle[9] = {1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0};
    REFUSED("H is not positive semidefinite: entry (2, 0) is 0.5", p.h = saddle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),       cmocka_unit_test(each_cone_has_its_own_scale),
        cmocka_unit_test(nothing_is_solved), cmocka_unit_test(certificates),
        cmocka_unit_test(random_problems),   cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
