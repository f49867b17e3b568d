/* Proximal steps alone: contacts, equations that command an unknown, equations that couple two, many contacts where
 * three would do. */
#include "friction_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static const double CLOSE = 1e-6; /* residuals are 1e-8 at most, and the problems' numbers about 1 */

static perp_outcome solve(const perp_contact_friction *problem, perp_convex_point *solution)
{
    const perp_friction_settings settings = friction_settings("proximal");
    return solve_contact_friction(problem, &settings, solution).outcome;
}

/* A point (x, y) of mass 1 and weight 1, between two fingers (one unknown each). One is commanded to move by 0.25
 * towards the other, which a force of 4 and its stiffness press back: only friction carries the point. */
static void held_between_fingers(void **state)
{
    (void)state;
    const int block_start[] = {0, 2, 3, 4}, row_start[] = {0, 2, 4}, dof_start[] = {0, 3, 6};
    const int dofs[] = {0, 1, 2, 0, 1, 3}, equality_start[] = {0, 1}, equality_dofs[] = {2};
    const double jacobian[] = {1, 0, -1, 0, 1, 0, -1, 0, 1, 0, 1, 0}, one[] = {1}, speed[] = {0.25};
    const double load[] = {0, 1, 0, 4}, inertia[] = {1, 0, 0, 1, 0, 1}, offset[4] = {0}, mu[] = {0.5, 0.5};
    const perp_contact_qp system = {.n = 4,
                                    .block_count = 3,
                                    .block_start = block_start,
                                    .hessian = inertia,
                                    .g = load,
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
    double v[4], r[4], y[1], lower[4], upper[4];
    perp_convex_point solution = {v, r, y, lower, upper};
    assert_int_equal(solve(&(perp_contact_friction){&system, mu}, &solution), PERP_OUTCOME_SOLVED);
    assert_true(fabs(v[0] - 0.25) < CLOSE && fabs(v[3] - 0.25) < CLOSE && fabs(v[1]) < CLOSE);
    assert_true(fabs(r[1] + r[3] - 1.0) < CLOSE);
    assert_true(fabs(r[0] - 4.5) < CLOSE && fabs(r[2] - 4.25) < CLOSE);
    assert_true(fabs(r[1]) <= 0.5 * r[0] + CLOSE && fabs(r[3]) <= 0.5 * r[2] + CLOSE);
}

/* Two masses that fall; the first is over the ground, the second hangs on it: v_1 = v_2. */
static void one_holds_the_other(void **state)
{
    (void)state;
    const int block_start[] = {0, 1, 2}, row_start[] = {0, 1}, dof_start[] = {0, 1}, dofs[] = {0};
    const int equality_start[] = {0, 2}, equality_dofs[] = {0, 1};
    const double masses[] = {1, 3}, weights[] = {1, 3}, up[] = {1}, gap[] = {0.25}, alike[] = {1, -1}, none[] = {0};
    const perp_contact_qp system = {.n = 2,
                                    .block_count = 2,
                                    .block_start = block_start,
                                    .hessian = masses,
                                    .g = weights,
                                    .contact_count = 1,
                                    .row_start = row_start,
                                    .slack_start = row_start,
                                    .dof_start = dof_start,
                                    .dofs = dofs,
                                    .jacobian = up,
                                    .offset = gap,
                                    .equality_count = 1,
                                    .equality_start = equality_start,
                                    .equality_dofs = equality_dofs,
                                    .equality_values = alike,
                                    .equality_target = none};
    double v[2], r[1], y[1], lower[2], upper[2];
    perp_convex_point solution = {v, r, y, lower, upper};
    assert_int_equal(solve(&(perp_contact_friction){&system, none}, &solution), PERP_OUTCOME_SOLVED);
    assert_true(fabs(v[0] + 0.25) < CLOSE && fabs(v[1] + 0.25) < CLOSE); /* the gap closes */
    assert_true(fabs(r[0] - 3.0) < CLOSE);                               /* 4 of weight, less 4 * 0.25 of inertia */
    assert_true(fabs(y[0] + 2.25) < CLOSE);
}

/* A mass that is thrown down and along onto the ground, in space: it slides for mu = 0.2 and sticks for 0.8, where
 * |r_T| would have to be 0.5 r_N. */
static void a_mass_slides_or_sticks(void **state)
{
    (void)state;
    const int block_start[] = {0, 3}, row_start[] = {0, 3}, dof_start[] = {0, 3}, dofs[] = {0, 1, 2};
    const double mass[] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, before[] = {-0.6, -0.8, 2.0}; /* -(momentum) */
    const double jacobian[] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, offset[3] = {0};
    const perp_contact_qp system = {.n = 3,
                                    .block_count = 1,
                                    .block_start = block_start,
                                    .hessian = mass,
                                    .g = before,
                                    .contact_count = 1,
                                    .row_start = row_start,
                                    .slack_start = row_start,
                                    .dof_start = dof_start,
                                    .dofs = dofs,
                                    .jacobian = jacobian,
                                    .offset = offset};
    for (int rough = 0; rough < 2; rough++) {
        const double mu[] = {rough ? 0.8 : 0.2}, held = rough ? 1.0 : 0.4;
        double v[3], r[3], lower[3], upper[3];
        perp_convex_point solution = {v, r, NULL, lower, upper};
        assert_int_equal(solve(&(perp_contact_friction){&system, mu}, &solution), PERP_OUTCOME_SOLVED);
        assert_true(fabs(r[0] - 2.0) < CLOSE && fabs(v[2]) < CLOSE);
        assert_true(fabs(r[1] + 0.6 * held) < CLOSE && fabs(r[2] + 0.8 * held) < CLOSE);
        assert_true(fabs(v[0] - 0.3 * (1.0 - held)) < CLOSE && fabs(v[1] - 0.4 * (1.0 - held)) < CLOSE);
    }
}

/* A sled in the plane on forty points along its runner: x, y and its turn. Its weight is 2 and it is thrown at 3 along
 * the ground, with mu = 0.25: it slides on with 3 - 0.25 * 2 and does not turn, whatever the forces of the points are.
 */
static void a_sled_on_forty_points(void **state)
{
    (void)state;
    enum { POINTS = 40, ROWS = 2 * POINTS };
    const int block_start[] = {0, 3};
    const double inertia[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, load[] = {-3, 2, 0};
    int row_start[POINTS + 1], dof_start[POINTS + 1], dofs[3 * POINTS];
    double jacobian[3 * ROWS], offset[ROWS] = {0}, mu[POINTS], r[ROWS], v[3], lower[3], upper[3];
    for (int i = 0; i <= POINTS; i++) {
        row_start[i] = 2 * i;
        dof_start[i] = 3 * i;
    }
    for (int i = 0; i < POINTS; i++) {
        const double rows[6] = {0, 1, (i + 0.5) / POINTS - 0.5, 1, 0, 0};
        memcpy(jacobian + (ptrdiff_t)6 * i, rows, sizeof rows);
        mu[i] = 0.25;
        for (int k = 0; k < 3; k++) {
            dofs[3 * i + k] = k;
        }
    }
    const perp_contact_qp system = {.n = 3,
                                    .block_count = 1,
                                    .block_start = block_start,
                                    .hessian = inertia,
                                    .g = load,
                                    .contact_count = POINTS,
                                    .row_start = row_start,
                                    .slack_start = row_start,
                                    .dof_start = dof_start,
                                    .dofs = dofs,
                                    .jacobian = jacobian,
                                    .offset = offset};
    perp_convex_point solution = {v, r, NULL, lower, upper};
    assert_int_equal(solve(&(perp_contact_friction){&system, mu}, &solution), PERP_OUTCOME_SOLVED);
    double weight = 0.0, friction = 0.0, turning = 0.0;
    for (int i = 0; i < POINTS; i++) {
        weight += r[2 * i];
        friction += r[2 * i + 1];
        turning += r[2 * i] * jacobian[6 * i + 2];
        assert_true(r[2 * i] >= -CLOSE);
    }
    assert_true(fabs(v[0] - 2.5) < CLOSE && fabs(v[1]) < CLOSE && fabs(v[2]) < CLOSE);
    assert_true(fabs(weight - 2.0) < CLOSE && fabs(friction + 0.5) < CLOSE && fabs(turning) < CLOSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_between_fingers),
        cmocka_unit_test(one_holds_the_other),
        cmocka_unit_test(a_mass_slides_or_sticks),
        cmocka_unit_test(a_sled_on_forty_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
