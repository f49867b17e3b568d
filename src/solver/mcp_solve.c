#include "problem/checks.h"
#include "solver/lcp_core.h"

perp_status perp_mcp_solve(const perp_mcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                           perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const perp_lcp_settings defaults = perp_lcp_settings_default();
    const perp_lcp_settings *own = settings ? settings : &defaults;
    const perp_lcp_data data = {problem->n, problem->m, problem->q, problem->lower, problem->upper};
    perp_status status = perp_lcp_begin(workspace, &data, own, info, error);
    status = status == PERP_STATUS_OK ? perp_mcp_check(problem, error) : status;
    return status == PERP_STATUS_OK ? perp_lcp_cascade(workspace, own, solution, info, error) : status;
}
