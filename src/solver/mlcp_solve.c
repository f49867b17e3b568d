#include "problem/checks.h"
#include "solver/lcp_core.h"

perp_status perp_mlcp_solve(const perp_mlcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                            perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const perp_lcp_settings defaults = perp_lcp_settings_default();
    const perp_lcp_settings *own = settings ? settings : &defaults;
    perp_lcp_data data = {problem->n, problem->m, problem->q, workspace->lower, workspace->upper};
    perp_status status = perp_lcp_begin(workspace, &data, own, info, error);
    status = status == PERP_STATUS_OK ? perp_mlcp_check(problem, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_mcp mcp; /* its residual is that of the mlcp: the natural map of an unbounded variable is F */
    perp_mlcp_as_mcp(problem, workspace->lower, workspace->upper, &mcp);
    return perp_lcp_cascade(workspace, own, solution, info, error);
}
