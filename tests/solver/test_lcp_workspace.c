/* The workspace is all the memory there is: making it may fail, solving asks for none. malloc is replaced for this
 * program to see that; a sanitizer replaces it too, and then only the perp_allocator is watched. */
#include "lcp_test.h"

#include "failing_allocator.h"
#include "hooked_malloc.h"

/* Whatever the request that fails: OUT_OF_MEMORY, no workspace, nothing left behind. */
static void creation_survives_every_refusal(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        for (int grants = 0;; grants++) {
            failing_allocator f = {.grants = grants, .once = once != 0};
            const perp_allocator allocator = allocator_of(&f);
            perp_lcp_workspace *workspace;
            perp_error error;
            const perp_status status = perp_lcp_workspace_create(30, &allocator, &workspace, &error);
            if (status == PERP_STATUS_OK) {
                assert_true(grants > 0 && grants == f.requests);
                perp_lcp_workspace_free(workspace);
                assert_int_equal(f.standing, 0);
                break;
            }
            ASSERT_STATUS(PERP_STATUS_OUT_OF_MEMORY, status);
            assert_null(workspace);
            assert_int_equal(f.standing, 0);
        }
    }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    perp_lcp_workspace *workspace;
    perp_error error;
    ASSERT_STATUS(PERP_STATUS_BAD_INPUT, perp_lcp_workspace_create(-1, NULL, &workspace, &error));
    ASSERT_STATUS(PERP_STATUS_CAPACITY, perp_lcp_workspace_create(INT_MAX, NULL, &workspace, &error));
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_workspace_create(0, NULL, &workspace, &error));
    perp_lcp_workspace_free(workspace);
    perp_lcp_workspace_free(NULL);
}

typedef enum kind { LCP, MLCP, MCP } kind;

static perp_lcp_info solve(case_of *c, kind which, perp_lcp_workspace *workspace)
{
    const perp_lcp lcp = lcp_of(c);
    const perp_mlcp mlcp = mlcp_of(c);
    const perp_mcp mcp = mcp_of(c);
    perp_lcp_solution s = solution_of(c);
    perp_lcp_info info;
    const perp_status status = which == LCP    ? perp_lcp_solve(&lcp, NULL, workspace, &s, &info, NULL)
                               : which == MLCP ? perp_mlcp_solve(&mlcp, NULL, workspace, &s, &info, NULL)
                                               : perp_mcp_solve(&mcp, NULL, workspace, &s, &info, NULL);
    ASSERT_STATUS(PERP_STATUS_OK, status);
    return info;
}

/* Solved, and all the way down the cascade: neither the workspace's allocator nor malloc is asked. */
static void solving_allocates_nothing(void **state)
{
    (void)state;
    failing_allocator f = {.grants = INT_MAX};
    const perp_allocator allocator = allocator_of(&f);
    perp_lcp_workspace *workspace;
    ASSERT_STATUS(PERP_STATUS_OK, perp_lcp_workspace_create(100, &allocator, &workspace, NULL));
    const int made = f.requests;
    for (int which = LCP; which <= MCP; which++) {
        case_of contacts = contact_lcp(1, 100, true), hopeless = new_case(2), game = bimatrix();
        hopeless.m[1] = 1.0; /* feasible without a solution: every rung is tried */
        hopeless.q[0] = -1.0;
        hopeless.q[1] = 1.0;
        for (int i = 0; which == MCP && i < contacts.n; i++) {
            contacts.upper[i] = 100.0;
        }
        const long before = requests;
        const perp_lcp_info first = solve(&contacts, (kind)which, workspace);
        const perp_lcp_info second = solve(&hopeless, (kind)which, workspace);
        const perp_lcp_info third = solve(&game, (kind)which, workspace);
        assert_int_equal(requests, before);
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, first);
        ASSERT_OUTCOME(PERP_OUTCOME_RAY, second);
        assert_int_equal(second.tried_count, perp_lcp_method_count());
        ASSERT_OUTCOME(PERP_OUTCOME_SOLVED, third);
        free_case(&contacts);
        free_case(&hopeless);
        free_case(&game);
    }
    assert_int_equal(f.requests, made);
    perp_lcp_workspace_free(workspace);
    assert_int_equal(f.standing, 0);
    assert_true(!watching || requests > 0); /* the counter counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_survives_every_refusal),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(solving_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
