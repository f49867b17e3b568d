/* A control law in C: a finger on a rail pushes a box over the floor, to a line 0.5 m ahead, and stops it there.
 *
 * The law is asked before every step. It sees the state and sets the force of the rail's drive. */
#include <perp/perp.h>

#include <stdio.h>
#include <string.h>

static const char SCENE[] = "perp: 1\n"
                            "planar: true\n"
                            "bodies:\n"
                            "  floor: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                            "  box: {mass: 1, shapes: [{box: [0.2, 0.1]}], pose: {position: [0.3, 0.05]}}\n"
                            "  finger: {mass: 0.2, shapes: [{disc: 0.02}], pose: {position: [0, 0.05]}}\n"
                            "joints:\n"
                            "  rail: {type: prismatic, parent: world, child: finger, axis: [1, 0], position: 0.15, "
                            "control: torque, effort: 8}\n"
                            "contacts: {friction: 0.3}\n"
                            "run: {model: dyn-ncp, h: 0.001}\n";

typedef struct law {
    int rail, box;
    double line, weight_friction;
} law;

/* Friction beforehand, then a spring and a damper between the box and the line; a finger cannot pull. */
static bool push_to_line(void *context, perp_sim *sim)
{
    const law *l = context;
    const perp_state *state = perp_sim_state(sim);
    const perp_link *box = &perp_sim_model(sim)->links[l->box];
    const double error = l->line - perp_sim_pose(sim, l->box).position.x;
    const double force = l->weight_friction + 60.0 * error - 30.0 * state->v[box->v_start];
    return perp_sim_set_command(sim, l->rail, error > 1e-4 && force > 0.0 ? force : 0.0, NULL) == PERP_STATUS_OK;
}

int main(void)
{
    static perp_diagnostics diagnostics;
    perp_error error = {0};
    perp_scene *scene = NULL;
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    const perp_scene_load_options options = {0};
    if (perp_scene_load_text(SCENE, strlen(SCENE), "sim-in-c", NULL, &options, &scene, &diagnostics) !=
            PERP_STATUS_OK ||
        perp_model_build(scene, NULL, &model, &error) != PERP_STATUS_OK ||
        perp_sim_create(model, NULL, &sim, &error) != PERP_STATUS_OK) {
        fprintf(stderr, "%s%s\n", diagnostics.count > 0 ? diagnostics.items[0].message : "", error.message);
        return 1;
    }
    law l = {.rail = perp_scene_find_joint(scene, "rail"), .box = perp_scene_find_body(scene, "box"), .line = 0.8};
    l.weight_friction = 0.3 * 1.0 * 9.81;
    perp_sim_on_step(sim, push_to_line, &l);
    perp_status status = PERP_STATUS_OK;
    for (int k = 0; k < 4000 && status == PERP_STATUS_OK; k++) {
        status = perp_sim_step(sim, &error);
        if ((k + 1) % 1000 == 0) {
            printf("t = %.1f s: box at %.4f m, force %.3f N, %d contacts\n", perp_sim_state(sim)->t,
                   perp_sim_pose(sim, l.box).position.x, perp_sim_command(sim, l.rail),
                   perp_sim_info(sim)->contact_count);
        }
    }
    if (status != PERP_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
    }
    perp_sim_free(sim);
    perp_model_free(model);
    perp_scene_free(scene);
    return status == PERP_STATUS_OK ? 0 : 1;
}
