#include "convex_test.h"

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
    x[0] = 0.5; /* short by (2.5 - 0.5) / sqrt 2; H x + g - y = (-2, 0, 0); s.y = -5; scales 1 and 5 */
    const perp_convex_residual r = perp_cone_qp_residual(&projection, &p);
    assert_near(r.primal, sqrt(2.0), "primal", 0);
    assert_true(r.dual == 2.0 / 5.0 && r.complementarity == 1.0);
    x[0] = -3.0; /* in the polar cone: the nearest point is the apex */
    assert_near(perp_cone_qp_residual(&projection, &p).primal, sqrt(9.0 + 2.25 + 4.0), "primal", 1);
    x[0] = 2.5, y[0] = 1.5; /* y is outside by 1 / sqrt 2, and the gradient off by 1 */
    assert_true(perp_cone_qp_residual(&projection, &p).dual == 1.0 / 5.0);
    y[0] = -2.5; /* y is on the polar cone: |y| = sqrt 12.5 < 5 */
    assert_true(perp_cone_qp_residual(&projection, &p).dual == 1.0);
}

/* Of large vectors near the boundary only twice the precision tells the distance: |(3e8 + 3 u, 4e8)| is 5e8 + 1.8 u to
 * first order, with u = 2^-24 about the last place of 5e8. */
static void distance_near_the_boundary(void **state)
{
    (void)state;
    const double u = 0x1p-24;
    double x[3] = {5e8, 3e8 + 3.0 * u, 4e8}, y[3] = {0.0, 0.0, 0.0};
    const perp_cone_qp p = {.n = 3, .g = zero, .cones = 1, .cone_rows = three, .a = identity, .b = zero};
    const perp_convex_point at = {.x = x, .y = y};
    const double wanted = 1.8 * u / sqrt(2.0);
    assert_true(fabs(perp_cone_qp_residual(&p, &at).primal - wanted) < 1e-6 * wanted);
    x[1] = 3e8 - 3.0 * u;
    assert_true(perp_cone_qp_residual(&p, &at).primal == 0.0);
    /* Slacks that no double holds: 5e8 - u / 4 before (3e8, 4e8), and 5e8 before (3e8, 4e8 + u / 4). */
    double fine[4] = {5e8, 3e8, 4e8, 0.25 * u};
    const double four_zeros[4] = {0.0};
    double rows[12] = {1.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    const perp_cone_qp split = {.n = 4, .g = four_zeros, .cones = 1, .cone_rows = three, .a = rows, .b = zero};
    const perp_convex_point at_fine = {.x = fine, .y = y};
    assert_true(fabs(perp_cone_qp_residual(&split, &at_fine).primal - 0.25 * u / sqrt(2.0)) < 1e-6 * u);
    rows[3] = 0.0, rows[11] = 1.0;
    assert_true(fabs(perp_cone_qp_residual(&split, &at_fine).primal - 0.2 * u / sqrt(2.0)) < 1e-6 * u);
    /* y likewise, with x = 0; H x + g - A'y = -y is made zero by equations. */
    double on_y[3] = {5e8, 3e8 + 3.0 * u, 4e8}, minus_y[3] = {-5e8, -3e8 - 3.0 * u, -4e8}, origin[3] = {0.0, 0.0, 0.0};
    const perp_cone_qp held = {3, NULL, zero, 1, three, identity, zero, 3, identity, zero};
    const perp_convex_point at_y = {.x = origin, .y = on_y, .y_equality = minus_y};
    assert_true(fabs(perp_cone_qp_residual(&held, &at_y).dual - wanted) < 1e-6 * wanted);
    /* s.y = 25e16 - 9e16 - 16e16 + 5e8 u: plain sums have a last place of 32 there. */
    double s[3] = {5e8 + u, 3e8, 4e8}, across[3] = {5e8, -3e8, -4e8};
    const perp_convex_point at_s = {.x = s, .y = across};
    assert_near(perp_cone_qp_residual(&p, &at_s).complementarity, 5e8 * u, "complementarity", 2);
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
    y[0] = 0.0; /* y outside of its cone by 1 / sqrt 2, A'y = -1 */
    assert_true(perp_cone_qp_infeasibility(&impossible, &p) == 0.5);
    y[1] = 1.0;
    assert_true(perp_cone_qp_infeasibility(&impossible, &p) == INFINITY);
    /* min -x_0 over the cone: unbounded along (1, 0.6, 0.8), which stays on the boundary; (1, 2, 0) leaves. */
    const double down[3] = {-1.0, 0.0, 0.0}, along[3] = {5.0, 3.0, 4.0}, out[3] = {1.0, 2.0, 0.0};
    const perp_cone_qp open = {.n = 3, .g = down, .cones = 1, .cone_rows = three, .a = identity, .b = zero};
    assert_true(perp_cone_qp_unboundedness(&open, along) == 0.0);
    assert_near(perp_cone_qp_unboundedness(&open, out), 1.0 / sqrt(2.0), "unboundedness", 0);
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
        cmocka_unit_test(closed_form),       cmocka_unit_test(distance_near_the_boundary),
        cmocka_unit_test(nothing_is_solved), cmocka_unit_test(certificates),
        cmocka_unit_test(random_problems),   cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
