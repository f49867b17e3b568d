/* A program outside the tree: a pendulum of 0.5 m, driven through a quarter turn, ends level with its pivot. */
#include <perp/perp.h>
#include <stdio.h>

int main(void)
{
    static const char text[] =
        "{perp: 1, bodies: {bob: {pose: {position: [0, 0, -0.5]}}}, run: {model: kinematic},"
        " joints: {hinge: {type: revolute, parent: world, child: bob, axis: [0, -1, 0], control: position,"
        " command: {rate: 1.5707963267948966}}}}";
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    perp_model *model;
    perp_state state;
    perp_run_result result;
    if (perp_scene_load_text(text, sizeof text - 1, "text", NULL, NULL, &scene, &diagnostics) ||
        perp_model_build(scene, NULL, &model, NULL) || perp_state_create(model, NULL, &state, NULL) ||
        perp_run(model, &scene->run, NULL, NULL, NULL, &state, &result, NULL)) {
        return 1;
    }
    printf("perp %s: after %g s the hinge is at %.6f rad\n", perp_version(), state.t, state.q[0]);
    return fabs(state.q[0] - 1.5707963267948966) < 1e-14 ? 0 : 1; /* 100 steps of 0.01 s: rounding only */
}
