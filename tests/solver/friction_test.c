#include "friction_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

perp_friction_settings friction_settings(const char *method)
{
    perp_friction_settings settings = perp_friction_settings_default();
    settings.method = method;
    return settings;
}

static perp_friction_workspace *new_workspace(void)
{
    perp_friction_workspace *workspace;
    assert_int_equal(perp_friction_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    return workspace;
}

perp_friction_info solve_friction(const perp_friction *problem, const perp_friction_settings *settings, double *r,
                                  double *u)
{
    perp_friction_workspace *workspace = new_workspace();
    perp_friction_info info;
    assert_int_equal(perp_friction_reserve(problem, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_friction_solve(problem, settings, workspace, r, u, &info, NULL), PERP_STATUS_OK);
    perp_friction_workspace_free(workspace);
    return info;
}

perp_friction_info solve_contact_friction(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                          perp_convex_point *solution)
{
    perp_friction_workspace *workspace = new_workspace();
    perp_friction_info info;
    assert_int_equal(perp_contact_friction_reserve(problem, workspace, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_friction_solve(problem, settings, workspace, solution, &info, NULL), PERP_STATUS_OK);
    perp_friction_workspace_free(workspace);
    return info;
}
