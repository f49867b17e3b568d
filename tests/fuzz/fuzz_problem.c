/* libFuzzer target: arbitrary bytes as a problem file. Whatever loads passes its check, and where it is small it is
 * solved: "solved" must have a residual that holds, and no status but the outcomes may come back. */
#include <perp/problem_yaml.h>
#include <perp/solver.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void exercise(const perp_problem *p)
{
    static perp_lcp_workspace *workspace;
    static double z[MOST], w[MOST];
    perp_error error;
    if (!workspace && perp_lcp_workspace_create(MOST, NULL, &workspace, &error) != PERP_STATUS_OK) {
        abort();
    }
    perp_lcp_solution solution = {.z = z, .w = w};
    perp_lcp_info info;
    perp_status status = PERP_STATUS_OK;
    switch (p->kind) {
    case PERP_PROBLEM_LCP:
        require(perp_lcp_check(&p->lcp, &error) == PERP_STATUS_OK);
        status = perp_lcp_solve(&p->lcp, NULL, workspace, &solution, &info, &error);
        break;
    case PERP_PROBLEM_MLCP:
        require(perp_mlcp_check(&p->mlcp, &error) == PERP_STATUS_OK);
        status = perp_mlcp_solve(&p->mlcp, NULL, workspace, &solution, &info, &error);
        break;
    case PERP_PROBLEM_MCP:
        require(perp_mcp_check(&p->mcp, &error) == PERP_STATUS_OK);
        status = perp_mcp_solve(&p->mcp, NULL, workspace, &solution, &info, &error);
        break;
    }
    require(status == PERP_STATUS_OK);
    require(info.outcome != PERP_OUTCOME_SOLVED || perp_problem_residual(p, z) <= 1e-8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_problem *problem;
    const perp_status status =
        perp_problem_load_text((const char *)data, size, "fuzz.yaml", NULL, &problem, &diagnostics);
    require((status == PERP_STATUS_OK) == (problem != NULL));
    require((status == PERP_STATUS_OK) == (diagnostics.errors == 0));
    if (problem) {
        if (perp_problem_size(problem) <= MOST) {
            exercise(problem);
        }
        perp_problem_free(problem);
    }
    return 0;
}
