/* The start from the least motion alone: a squeeze that nothing drives, and a body that is pushed. */
#include "friction_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static const double CLOSE = 1e-6; /* residuals are 1e-8 at most, and the problems' numbers below 10 */

static perp_outcome solve(const perp_contact_friction *problem, perp_convex_point *solution)
{
    const perp_friction_settings settings = friction_settings("rest");
    return solve_contact_friction(problem, &settings, solution).outcome;
}

/* A point (x, y) without mass and with weight 1 between two walls, mu = 0.1: it is held by any squeeze of 5 or more,
 * and falls without. */
static void a_squeeze_that_nothing_drives(void **state)
{
    (void)state;
    const int block_start[] = {0, 2}, row_start[] = {0, 2, 4}, dof_start[] = {0, 2, 4}, dofs[] = {0, 1, 0, 1};
    const double jacobian[] = {1, 0, 0, 1, -1, 0, 0, 1}, weight[] = {0, 1}, offset[4] = {0}, mu[] = {0.1, 0.1};
    const perp_contact_qp system = {.n = 2,
                                    .block_count = 1,
                                    .block_start = block_start,
                                    .g = weight,
                                    .contact_count = 2,
                                    .row_start = row_start,
                                    .slack_start = row_start,
                                    .dof_start = dof_start,
                                    .dofs = dofs,
                                    .jacobian = jacobian,
                                    .offset = offset};
    double v[2], r[4], lower[2], upper[2];
    perp_convex_point solution = {.x = v, .y = r, .y_lower = lower, .y_upper = upper};
    assert_int_equal(solve(&(perp_contact_friction){&system, mu}, &solution), PERP_OUTCOME_SOLVED);
    assert_true(fabs(v[0]) < CLOSE && fabs(v[1]) < CLOSE);
    assert_true(fabs(r[0] - r[2]) < CLOSE && fabs(r[1] + r[3] - 1.0) < CLOSE);
    assert_true(fabs(r[1]) <= 0.1 * r[0] + CLOSE && fabs(r[3]) <= 0.1 * r[2] + CLOSE);
}

/* A point with weight 2 on the floor, mu = 0.5, that a finger without friction pushes by 0.25: least motion and
 * solution are alike, and the finger has to overcome a friction of 1. */
static void a_body_that_is_pushed(void **state)
{
    (void)state;
    const int block_start[] = {0, 2, 3}, row_start[] = {0, 2, 3}, dof_start[] = {0, 2, 4}, dofs[] = {0, 1, 0, 2};
    const int equality_start[] = {0, 1}, equality_dofs[] = {2};
    const double jacobian[] = {0, 1, 1, 0, 1, -1}, weight[] = {0, 2, 0}, offset[3] = {0}, mu[] = {0.5, 0.0};
    const double one[] = {1}, speed[] = {0.25};
    const perp_contact_qp system = {.n = 3,
                                    .block_count = 2,
                                    .block_start = block_start,
                                    .g = weight,
                                    .contact_count = 2,
                                    .row_start = row_start,
                                    .slack_start = row_start,
                                    .dof_start = dof_start,
                                    .dofs = dofs,
                                    .jacobian = jacobian,
                                    .offset = offset,
                                    .equality_count = 1,
                                    .equality_start = equality_start,
                                    .equality_dofs = equality_dofs,
                                    .equality_values = one,
                                    .equality_target = speed};
    double v[3], r[3], y[1], lower[3], upper[3];
    perp_convex_point solution = {v, r, y, lower, upper};
    assert_int_equal(solve(&(perp_contact_friction){&system, mu}, &solution), PERP_OUTCOME_SOLVED);
    assert_true(fabs(v[0] - 0.25) < CLOSE && fabs(v[1]) < CLOSE);
    assert_true(fabs(r[0] - 2.0) < CLOSE && fabs(r[1] + 1.0) < CLOSE && fabs(r[2] - 1.0) < CLOSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_squeeze_that_nothing_drives),
        cmocka_unit_test(a_body_that_is_pushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
