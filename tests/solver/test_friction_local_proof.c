/* Local problems without a solution are proven to have none, whatever W is; memory reserved for one W proves another.
 */
#include "failing_allocator.h"

#include <perp/problem.h>
#include <perp/solver.h>

#include <math.h>

static perp_friction_info solve(const perp_friction *problem, perp_friction_workspace *workspace)
{
    perp_friction_info info;
    double r[12], u[12];
    assert_true(problem->contacts * problem->dim <= 12);
    assert_int_equal(perp_friction_solve(problem, NULL, workspace, r, u, &info, NULL), PERP_STATUS_OK);
    for (int i = 0; i < problem->contacts * problem->dim; i++) {
        assert_true(isfinite(r[i]) && isfinite(u[i]));
    }
    return info;
}

static perp_friction_info solve_alone(const perp_friction *problem)
{
    perp_friction_workspace *workspace = NULL;
    assert_int_equal(perp_friction_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_reserve(problem, workspace, NULL), PERP_STATUS_OK);
    const perp_friction_info info = solve(problem, workspace);
    perp_friction_workspace_free(workspace);
    return info;
}

static void assert_infeasible(const perp_friction *problem)
{
    const perp_friction_info info = solve_alone(problem);
    assert_int_equal(info.outcome, PERP_OUTCOME_INFEASIBLE);
    assert_true(info.certificate <= 1e-8);
}

/* Nothing moves the normal; forces that pull; a body between two walls that close. */
static void there_is_no_solution(void **state)
{
    (void)state;
    const double immobile[4] = {0.0, 0.0, 0.0, 1.0}, pulls[4] = {-1.0, 0.0, 0.0, 1.0}, q[4] = {-1.0, 0.0, -1.0, 0.0};
    const double closing[16] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
    const double mu[2] = {0.5, 0.5};
    assert_infeasible(&(perp_friction){.contacts = 1, .dim = 2, .w = immobile, .q = q, .mu = mu});
    assert_infeasible(&(perp_friction){.contacts = 1, .dim = 2, .w = pulls, .q = q, .mu = mu});
    assert_infeasible(&(perp_friction){.contacts = 2, .dim = 2, .w = closing, .q = q, .mu = mu});
}

/* The tangential force opens the contact where mu suffices, W_NN = 0: friction of 2 does, of 0.5 does not. W is not
 * symmetric: |r_T| <= mu r_N lifts by 2 r_T and presses by r_N. */
static void friction_decides(void **state)
{
    (void)state;
    const double w[9] = {-1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, q[3] = {-1.0, -4.0, 0.0};
    const double little = 0.4, much = 2.0;
    assert_infeasible(&(perp_friction){.contacts = 1, .dim = 3, .w = w, .q = q, .mu = &little});
    const perp_friction_info other =
        solve_alone(&(perp_friction){.contacts = 1, .dim = 3, .w = w, .q = q, .mu = &much});
    assert_int_not_equal(other.outcome, PERP_OUTCOME_INFEASIBLE); /* r = (1, 2, 0) opens it: u_N = 2 */
}

static void memory_for_another(void **state)
{
    (void)state;
    const double regular[4] = {1.0, 0.0, 0.0, 1.0}, immobile[4] = {0.0, 0.0, 0.0, 1.0}, q[2] = {-1.0, 0.3}, mu = 0.5;
    const perp_friction first = {.contacts = 1, .dim = 2, .w = regular, .q = q, .mu = &mu};
    const perp_friction second = {.contacts = 1, .dim = 2, .w = immobile, .q = q, .mu = &mu};
    perp_friction_workspace *workspace = NULL;
    assert_int_equal(perp_friction_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_reserve(&first, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(solve(&second, workspace).outcome, PERP_OUTCOME_INFEASIBLE);
    assert_int_equal(solve(&first, workspace).outcome, PERP_OUTCOME_SOLVED);
    perp_friction_workspace_free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_solution),
        cmocka_unit_test(friction_decides),
        cmocka_unit_test(memory_for_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
