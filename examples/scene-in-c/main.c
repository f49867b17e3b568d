/* A scene without any file: a pendulum built in C, moved kinematically for a quarter turn.
 *
 * Expected output: the bob ends at (0, 0, -1) m + hinge = (0, 0, 1), after starting at (1, 0, 2). */
#include <perp/perp.h>

#include <stdio.h>

static int fail(const perp_error *error)
{
    fprintf(stderr, "%s %s\n", error->path, error->message);
    return 1;
}

int main(void)
{
    perp_error error = {0};
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    if (perp_scene_create(false, NULL, &scene, &error) != PERP_STATUS_OK) {
        return fail(&error);
    }
    perp_body bob = perp_body_default("bob");
    bob.mass = perp_set(2.0);
    bob.com_set = true;
    bob.com = perp_vec3_make(1, 0, 0); /* the bob's centre of mass is 1 m from the hinge */
    perp_shape ball = {.kind = PERP_SHAPE_SPHERE, .radius = 0.1, .pose = perp_placement_default()};
    ball.pose.pose.position = bob.com;
    bob.shapes = &ball;
    bob.shape_count = 1;

    perp_joint hinge = perp_joint_default("hinge", PERP_JOINT_REVOLUTE);
    hinge.child = "bob";
    hinge.anchor = perp_vec3_make(0, 0, 2);
    hinge.axis_set = true;
    hinge.axis = perp_vec3_make(0, 1, 0);
    hinge.control = PERP_CONTROL_POSITION;
    hinge.command_set = true;
    hinge.command.rate = 1.5707963267948966; /* rad/s: a quarter turn in one second */

    scene->run.steps_set = true;
    scene->run.steps = 100;
    if (perp_scene_add_body(scene, &bob, &error) != PERP_STATUS_OK ||
        perp_scene_add_joint(scene, &hinge, &error) != PERP_STATUS_OK ||
        perp_scene_set_model(scene, "kinematic", &error) != PERP_STATUS_OK) {
        return fail(&error);
    }
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        perp_diagnostics_first_error(&diagnostics, PERP_STATUS_BAD_INPUT, &error);
        return fail(&error);
    }

    perp_model *model;
    perp_state state;
    perp_kinematics *kinematics;
    perp_run_result result;
    if (perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, &error) != PERP_STATUS_OK ||
        perp_kinematics_create(model, NULL, &kinematics, &error) != PERP_STATUS_OK ||
        perp_run(model, &scene->run, NULL, NULL, NULL, &state, &result, &error) != PERP_STATUS_OK) {
        return fail(&error);
    }
    perp_kinematics_update(model, state.q, kinematics);
    const perp_vec3 com = kinematics->com[0];
    printf("after %d steps the bob is at (%.9f, %.9f, %.9f)\n", result.steps, fabs(com.x), com.y, com.z);

    double mass[1], gravity[1];
    perp_mass_matrix(model, kinematics, mass);
    perp_gravity_force(model, kinematics, gravity);
    printf("inertia about the hinge %.9f kg m^2, torque of gravity %.9f N m\n", mass[0], fabs(gravity[0]));

    perp_run_result_free(&result);
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    perp_model_free(model);
    perp_scene_free(scene);
    return 0;
}
