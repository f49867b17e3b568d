/* Where must the joints be, so that the hand stands straight above a point of the table?
 *
 * usage: inverse-kinematics SCENE X Y Z. Loads a scene with a body called `hand`, asks for its z axis to point down at
 * (X, Y, Z), and prints the joint positions found, all within their limits, and the errors that are left. */
#include <perp/perp.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 1;
}

static void report(const perp_model *model, const double *q, const perp_ik_info *info)
{
    for (int i = 0; i < model->nv; i++) {
        if (model->dof_joint[i] >= 0 && model->dof_q[i] >= 0) {
            printf("  %-6s %12.9f   limits [%g, %g]\n", model->scene->joints[model->dof_joint[i]].name,
                   q[model->dof_q[i]], model->limit_low[i], model->limit_high[i]);
        }
    }
    printf("position error %.1e m, rotation error %.1e rad\n", info->position_error, info->rotation_error);
}

int main(int argc, char **argv)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_ik_workspace *workspace;
    if (argc != 5) {
        return fail("usage: inverse-kinematics SCENE X Y Z");
    }
    if (perp_scene_load_file(argv[1], NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        return fail(diagnostics.items[0].message);
    }
    if (perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK ||
        perp_ik_workspace_create(model, NULL, &workspace, NULL) != PERP_STATUS_OK) {
        return fail("the model could not be built");
    }
    const perp_ik_settings settings = perp_ik_settings_default();
    const perp_ik_problem problem = {
        .body = perp_scene_find_body(scene, "hand"),
        .frame = perp_pose_identity(),
        .target = {{0, 1, 0, 0}, {atof(argv[2]), atof(argv[3]), atof(argv[4])}}, /* half a turn about x: z down */
    };
    if (problem.body < 0) {
        return fail("the scene has no body `hand`");
    }
    perp_ik_info info;
    const perp_status status = perp_inverse_kinematics(model, &settings, &problem, workspace, state.q, &info);
    printf("%s after %d iterations\n", status == PERP_STATUS_OK ? "reached" : "not reached; nearest", info.iterations);
    report(model, state.q, &info);
    perp_ik_workspace_free(workspace);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return status == PERP_STATUS_OK ? 0 : 2;
}
