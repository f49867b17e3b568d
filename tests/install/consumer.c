/* A program outside the tree: a pendulum of 0.5 m, built in C and driven to 90 degrees, ends level with its pivot. */
#include <perp/perp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static perp_diagnostics diagnostics;
    perp_error error;
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
    perp_run_result result;
    perp_body bob = perp_body_default("bob");
    perp_joint hinge = perp_joint_default("hinge", PERP_JOINT_REVOLUTE);

    bob.pose_set = true;
    bob.pose.pose.position = perp_vec3_make(0.0, 0.0, -0.5); /* in the parent's frame at angle 0 */
    hinge.child = "bob";
    hinge.axis_set = true;
    hinge.axis = perp_vec3_make(0.0, -1.0, 0.0);
    hinge.control = PERP_CONTROL_POSITION;
    hinge.command_set = true;
    hinge.command.rate = 1.5707963267948966; /* rad/s */
    if (perp_scene_create(false, NULL, &scene, &error) || perp_scene_add_body(scene, &bob, &error) ||
        perp_scene_add_joint(scene, &hinge, &error) || perp_scene_set_model(scene, "kinematic", &error) ||
        perp_scene_validate(scene, &diagnostics) || perp_model_build(scene, NULL, &model, &error) ||
        perp_state_create(model, NULL, &state, &error) || perp_kinematics_create(model, NULL, &kinematics, &error) ||
        perp_run(model, &scene->run, NULL, NULL, NULL, &state, &result, &error)) {
        fprintf(stderr, "consumer: %s\n", diagnostics.errors ? diagnostics.items[0].message : error.message);
        return EXIT_FAILURE;
    }
    perp_kinematics_update(model, state.q, kinematics);
    const perp_vec3 p = kinematics->pose[0].position;
    printf("perp %s: after %g s the bob is at %.6f %.6f %.6f\n", perp_version(), state.t, p.x, p.y, p.z);
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    /* Rounding only: a few units in the last place of a length below 1 m. */
    return fabs(p.x - 0.5) < 1e-14 && fabs(p.y) < 1e-14 && fabs(p.z) < 1e-14 ? EXIT_SUCCESS : EXIT_FAILURE;
}
