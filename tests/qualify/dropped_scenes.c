#include "dropped_scenes.h"

#include "quasistatic_scenes.h"
#include "sweep_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_LIFT = 0.2; /* m */

static bool is_free_body(const perp_scene *scene, int i)
{
    for (int j = 0; j < scene->joint_count; j++) {
        if (scene->joints[j].child && strcmp(scene->joints[j].child, scene->bodies[i].name) == 0) {
            return false;
        }
    }
    return scene->bodies[i].kind == PERP_BODY_FREE;
}

static double *height_of(perp_scene *scene, int i)
{
    perp_vec3 *position = &scene->bodies[i].pose.pose.position;
    return scene->planar ? &position->y : &position->z;
}

/* Nothing overlaps, in the model that is built from the scene. */
static bool starts_apart(const perp_scene *scene)
{
    perp_model *model = NULL;
    perp_state state = {0};
    quasistatic_view view;
    if (perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
        watch_need(NULL);
    }
    quasistatic_view_open(model, &scene->run, perp_rung_find("dyn-ncp"), &view);
    quasistatic_view_at(&view, state.q, 0.0, scene->margin);
    const bool apart = view.set->smallest_gap >= -1e-9;
    quasistatic_view_close(&view);
    perp_state_free(&state);
    perp_model_free(model);
    return apart;
}

/* Free bodies are lifted, higher ones by more: what lies on another is dropped on it. Where something is in the way the
 * lift is halved; what cannot be lifted at all stays where it is. */
static void lift(perp_scene *scene, double most)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < scene->body_count; i++) {
        if (is_free_body(scene, i)) {
            low = fmin(low, *height_of(scene, i));
            high = fmax(high, *height_of(scene, i));
        }
    }
    double *first = watch_need(calloc((size_t)scene->body_count + 1, sizeof *first));
    for (int i = 0; i < scene->body_count; i++) {
        first[i] = *height_of(scene, i);
    }
    for (int tries = 0; tries <= 6; tries++) {
        const double by = tries < 6 ? ldexp(most, -tries) : 0.0;
        for (int i = 0; i < scene->body_count; i++) {
            if (is_free_body(scene, i)) {
                const double share = high > low ? (first[i] - low) / (high - low) : 0.0;
                *height_of(scene, i) = first[i] + by * (0.3 + 0.7 * share);
            }
        }
        if (starts_apart(scene)) {
            break;
        }
    }
    free(first);
}

perp_scene *dropped_scene(uint64_t seed, int index, int steps)
{
    perp_random random = {sweep_mix(seed + 77, index)};
    perp_scene *scene = quasistatic_scene(seed, index);
    scene->run.h = 1e-3;
    scene->run.steps = steps;
    lift(scene, perp_random_uniform(&random, 0.0, MOST_LIFT));
    return scene;
}
