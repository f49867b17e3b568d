/* libFuzzer target: arbitrary bytes as a problem file. Whatever loads passes its check, and where it is small it is
 * solved: "solved" must have a residual that holds, and "infeasible" and "unbounded" of a convex problem evidence that
 * does; no status but the outcomes may come back, and of a convex problem that H is indefinite. Forces and velocities
 * of a friction problem are numbers whatever the outcome. */
#include "problem/checks.h"
#include "problem_yaml/problem_load.h"

#include <perp/problem_yaml.h>
#include <perp/solver.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16, MOST_ROWS = 48 };

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
    default:
        abort();
    }
    require(status == PERP_STATUS_OK);
    require(info.outcome != PERP_OUTCOME_SOLVED || perp_problem_residual(p, z) <= 1e-8);
}

static bool is_small(const perp_problem *p)
{
    int rows = p->kind == PERP_PROBLEM_CONE_QP ? p->cone_qp.equalities : 0;
    for (int k = 0; p->kind == PERP_PROBLEM_CONE_QP && k < p->cone_qp.cones; k++) {
        rows += p->cone_qp.cone_rows[k];
    }
    rows += p->kind == PERP_PROBLEM_QP || p->kind == PERP_PROBLEM_LP ? p->qp.rows + p->qp.equalities : 0;
    return perp_problem_size(p) <= MOST && rows <= MOST_ROWS;
}

static void exercise_convex(const perp_problem *p)
{
    static perp_convex_workspace *workspace;
    static double x[MOST], y[MOST_ROWS], y_equality[MOST_ROWS], y_lower[MOST], y_upper[MOST];
    perp_error error;
    require(workspace || perp_convex_workspace_create(NULL, &workspace, &error) == PERP_STATUS_OK);
    perp_convex_point point = {x, y, y_equality, y_lower, y_upper};
    perp_convex_info info;
    perp_status status;
    double infeasibility = 0.0, unboundedness = 0.0;
    if (p->kind == PERP_PROBLEM_CONE_QP) {
        require(perp_cone_qp_check(&p->cone_qp, &error) == PERP_STATUS_OK);
        require(perp_cone_qp_reserve(&p->cone_qp, workspace, &error) == PERP_STATUS_OK);
        status = perp_cone_qp_solve(&p->cone_qp, NULL, workspace, &point, &info, &error);
        infeasibility = perp_cone_qp_infeasibility(&p->cone_qp, &point);
        unboundedness = perp_cone_qp_unboundedness(&p->cone_qp, x);
    } else {
        require(perp_qp_check(&p->qp, &error) == PERP_STATUS_OK);
        require((p->qp.h == NULL) == (p->kind == PERP_PROBLEM_LP));
        require(perp_qp_reserve(&p->qp, workspace, &error) == PERP_STATUS_OK);
        status = perp_qp_solve(&p->qp, NULL, workspace, &point, &info, &error);
        infeasibility = perp_qp_infeasibility(&p->qp, &point);
        unboundedness = perp_qp_unboundedness(&p->qp, x);
    }
    if (status == PERP_STATUS_BAD_INPUT) { /* indefinite beyond what the check sees */
        require(p->hessian_line > 0);
        return;
    }
    require(status == PERP_STATUS_OK);
    require(info.outcome != PERP_OUTCOME_SOLVED ||
            perp_convex_residual_largest(perp_problem_convex_residual(p, &point)) <= 1e-8);
    require(info.outcome != PERP_OUTCOME_INFEASIBLE || infeasibility <= 1e-8);
    require(info.outcome != PERP_OUTCOME_UNBOUNDED || unboundedness <= 1e-8);
}

static void exercise_friction(const perp_problem *p)
{
    static perp_friction_workspace *workspace;
    static double r[MOST], u[MOST];
    perp_error error;
    require(perp_friction_check(&p->friction, &error) == PERP_STATUS_OK);
    require(workspace || perp_friction_workspace_create(NULL, &workspace, &error) == PERP_STATUS_OK);
    require(perp_friction_reserve(&p->friction, workspace, &error) == PERP_STATUS_OK);
    perp_friction_settings settings = perp_friction_settings_default();
    settings.max_factorisations = 100; /* of most, that is all; a stranger's may be hard */
    perp_friction_info info;
    require(perp_friction_solve(&p->friction, &settings, workspace, r, u, &info, &error) == PERP_STATUS_OK);
    require(info.outcome != PERP_OUTCOME_SOLVED || perp_problem_residual(p, r) <= 1e-8);
    for (int i = 0; i < perp_problem_size(p); i++) {
        require(isfinite(r[i]) && isfinite(u[i]));
    }
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
        if (is_small(problem)) {
            (problem->kind == PERP_PROBLEM_FRICTION  ? exercise_friction
             : perp_problem_is_convex(problem->kind) ? exercise_convex
                                                     : exercise)(problem);
        }
        perp_problem_free(problem);
    }
    return 0;
}
