/* libFuzzer target: arbitrary bytes as a file of Siconos' local friction problems. Whatever loads passes its check, has
 * a residual that is a number, and, where W allows, bodies of its own that pass theirs and move as it does. Where it is
 * small it is solved: "solved" must have a residual that holds. */
#include "problem/checks.h"
#include "problem/conversions.h"
#include "problem/friction_law.h"
#include "problem_yaml/problem_load.h"

#include <perp/problem_yaml.h>
#include <perp/solver.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 24, CONTACTS = MOST / 2 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void exercise(const perp_friction *p)
{
    static double factor[MOST * MOST], hessian[MOST], g[MOST], jacobian[MOST * MOST], r[MOST], v[MOST], u[MOST];
    static int order[MOST], block_start[MOST + 1], row_start[CONTACTS + 1], dof_start[CONTACTS + 1],
        dofs[CONTACTS * MOST];
    const perp_friction_lift lift = {factor, order, block_start, hessian, g, row_start, dof_start, dofs, jacobian};
    perp_contact_qp system;
    perp_contact_friction bodies;
    perp_error error;
    require(!isnan(perp_friction_residual(p, r)));
    if (perp_friction_as_contact_friction(p, &lift, &system, &bodies, &error) != PERP_STATUS_OK) {
        return;
    }
    require(perp_contact_friction_check(&bodies, &error) == PERP_STATUS_OK);
    perp_contact_friction_velocity(&bodies, v, u); /* at r = 0, v = 0 */
    for (int i = 0; i < p->contacts * p->dim; i++) {
        require(u[i] == p->q[i]);
    }
    const perp_convex_point point = {.x = v, .y = r};
    require(perp_contact_friction_evaluate(&bodies, &point).balance == 0.0);
}

static void solve(const perp_friction *p)
{
    static perp_friction_workspace *workspace;
    static double r[MOST], u[MOST];
    perp_error error;
    require(workspace || perp_friction_workspace_create(NULL, &workspace, &error) == PERP_STATUS_OK);
    require(perp_friction_reserve(p, workspace, &error) == PERP_STATUS_OK);
    perp_friction_settings settings = perp_friction_settings_default();
    settings.max_factorisations = 100; /* of most, that is all; a stranger's may be hard */
    perp_friction_info info;
    require(perp_friction_solve(p, &settings, workspace, r, u, &info, &error) == PERP_STATUS_OK);
    require(info.outcome != PERP_OUTCOME_SOLVED || perp_friction_residual(p, r) <= 1e-8);
    for (int i = 0; i < p->contacts * p->dim; i++) {
        require(isfinite(r[i]) && isfinite(u[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static perp_diagnostics diagnostics;
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_problem *problem;
    const perp_status status =
        perp_problem_load_dat((const char *)data, size, "fuzz.dat", NULL, &problem, &diagnostics);
    require((status == PERP_STATUS_OK) == (problem != NULL));
    require((status == PERP_STATUS_OK) == (diagnostics.errors == 0));
    if (problem) {
        perp_error error;
        require(problem->kind == PERP_PROBLEM_FRICTION);
        require(perp_friction_check(&problem->friction, &error) == PERP_STATUS_OK);
        if (perp_problem_size(problem) <= MOST) {
            exercise(&problem->friction);
            solve(&problem->friction);
        }
        perp_problem_free(problem);
    }
    return 0;
}
