/* Settings of another size, as the headers of another version would make them, are refused at every door, and the error
 * names the struct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/perp.h>

static perp_error error;

static void assert_refused(perp_status status, const char *name)
{
    assert_int_equal(status, PERP_STATUS_BAD_INPUT);
    assert_int_equal(error.status, PERP_STATUS_BAD_INPUT);
    assert_int_equal(strncmp(error.message, name, strlen(name)), 0);
    assert_non_null(strstr(error.message, perp_version()));
    memset(&error, 0, sizeof error);
}

static void test_complementarity(void **state)
{
    (void)state;
    const double m[1] = {1.0}, q[1] = {-1.0};
    double z[1], w[1];
    const perp_lcp problem = {.n = 1, .m = m, .q = q};
    perp_lcp_solution solution = {.z = z, .w = w};
    perp_lcp_info info;
    perp_lcp_workspace *workspace;
    assert_int_equal(perp_lcp_workspace_create(1, NULL, &workspace, NULL), PERP_STATUS_OK);
    perp_lcp_settings settings = perp_lcp_settings_default();
    assert_int_equal(perp_lcp_solve(&problem, &settings, workspace, &solution, &info, &error), PERP_STATUS_OK);
    settings.size -= sizeof(void *);
    assert_refused(perp_lcp_solve(&problem, &settings, workspace, &solution, &info, &error), "perp_lcp_settings ");
    perp_lcp_workspace_free(workspace);

    perp_lcp_enumerate_settings enumerate = perp_lcp_enumerate_settings_default();
    perp_lcp_solution_set *set;
    enumerate.size++;
    assert_refused(perp_lcp_enumerate(&problem, &enumerate, NULL, &set, &error), "perp_lcp_enumerate_settings ");
    perp_pmatrix_settings test = perp_pmatrix_settings_default();
    perp_pmatrix_result result;
    test.size = 0;
    assert_refused(perp_pmatrix_test(1, m, &test, NULL, &result, &error), "perp_pmatrix_settings ");
}

static void test_convex_and_friction(void **state)
{
    (void)state;
    const double h[1] = {1.0}, g[1] = {-1.0};
    double x[1], r[1], u[1];
    const perp_qp qp = {.n = 1, .h = h, .g = g};
    perp_convex_point point = {.x = x};
    perp_convex_info info;
    perp_convex_workspace *workspace;
    assert_int_equal(perp_convex_workspace_create(NULL, &workspace, NULL), PERP_STATUS_OK);
    perp_convex_settings settings = perp_convex_settings_default();
    settings.size += 8;
    assert_refused(perp_qp_solve(&qp, &settings, workspace, &point, &info, &error), "perp_convex_settings ");
    perp_convex_workspace_free(workspace);

    perp_friction_settings friction = perp_friction_settings_default();
    const perp_friction problem = {.dim = 1};
    perp_friction_workspace *room;
    perp_friction_info found;
    assert_int_equal(perp_friction_workspace_create(NULL, &room, NULL), PERP_STATUS_OK);
    friction.size = 0;
    assert_refused(perp_friction_solve(&problem, &friction, room, r, u, &found, &error), "perp_friction_settings ");
    perp_friction_workspace_free(room);
}

/* The doors that look at nothing else before. */
static void test_others(void **state)
{
    (void)state;
    perp_mcp_newton_settings newton = perp_mcp_newton_settings_default();
    const perp_nonlinear_mcp problem = {.n = 0};
    perp_mcp_newton_info info;
    newton.size = 1;
    assert_refused(perp_mcp_newton(&problem, &newton, NULL, NULL, &info, &error), "perp_mcp_newton_settings ");
    perp_log_options log = perp_log_options_default();
    const perp_log_about about = {.model = NULL};
    const perp_log_sink sink = {.context = NULL};
    perp_log *made;
    log.size = 1;
    assert_refused(perp_log_create_sink(&sink, &about, &log, &made, &error), "perp_log_options ");
    perp_explain_options explain = perp_explain_options_default();
    const perp_run_settings run = {.model = "qs-lcp", .h = 0.1};
    perp_explainer *explainer;
    explain.size = 1;
    assert_refused(perp_explainer_create(NULL, &run, &explain, &explainer, &error), "perp_explain_options ");
    perp_replay_options replay = perp_replay_options_default();
    replay.size = 1;
    assert_refused(perp_replay_write(NULL, 0, &replay, NULL, &error), "perp_replay_options ");
    perp_plot_options plot = perp_plot_options_default();
    char *text;
    plot.size = 1;
    assert_refused(perp_plot_text(NULL, &plot, &text, &error), "perp_plot_options ");
}

static void test_contacts_and_inverse_kinematics(void **state)
{
    (void)state;
    perp_scene *scene;
    perp_diagnostics diagnostics = {0};
    assert_int_equal(perp_scene_create(false, NULL, &scene, NULL), PERP_STATUS_OK);
    const perp_body ball = perp_body_default("ball");
    perp_body fixed = ball;
    fixed.kind = PERP_BODY_FIXED;
    assert_int_equal(perp_scene_add_body(scene, &fixed, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_OK);
    perp_model *model;
    perp_contact_model *contacts;
    perp_contact_set *set;
    assert_int_equal(perp_model_build(scene, NULL, &model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_contact_model_build(model, NULL, &contacts, NULL), PERP_STATUS_OK);
    perp_contact_settings settings = perp_contact_settings_default(scene);
    settings.size = 1;
    assert_refused(perp_contact_set_create(contacts, &settings, NULL, &set, &error), "perp_contact_settings ");
    perp_ik_settings ik = perp_ik_settings_default();
    const perp_ik_problem problem = {.body = 0};
    ik.size = 1;
    assert_int_equal(perp_inverse_kinematics(model, &ik, &problem, NULL, NULL, NULL), PERP_STATUS_BAD_INPUT);
    perp_contact_model_free(contacts);
    perp_model_free(model);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complementarity),
        cmocka_unit_test(test_convex_and_friction),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_contacts_and_inverse_kinematics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
