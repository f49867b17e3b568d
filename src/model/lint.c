/* What is allowed but looks unintended. */
#include "model/model_private.h"
#include "scene/loop_links.h"
#include "model/tolerances.h"

#include <stdio.h>

enum { SAMPLES = 200 }; /* of a command over the run */

static double run_length(const perp_scene *scene)
{
    return scene->run.steps_set ? scene->run.steps * scene->run.h : scene->run.until;
}

static void lint_command(const perp_scene *scene, const perp_joint *joint, perp_diagnostics *diagnostics)
{
    char path[256];
    snprintf(path, sizeof path, "joints.%s.command", joint->name);
    for (int i = 0; joint->limits_set && i <= SAMPLES; i++) {
        const double t = run_length(scene) * i / SAMPLES;
        const double value = perp_drive_value(&joint->command, t);
        if (value < joint->limits[0] - LIMIT_AS_WRITTEN || value > joint->limits[1] + LIMIT_AS_WRITTEN) {
            perp_scene_report(scene, diagnostics, PERP_SEVERITY_WARNING, path,
                              "asks for %g at t = %g s, outside the limits [%g, %g]", value, t, joint->limits[0],
                              joint->limits[1]);
            return;
        }
    }
}

/* A drive that has a value of its own for a coordinate that `pose` states differently. */
static void lint_driven(const perp_scene *scene, const perp_body *body, perp_diagnostics *diagnostics)
{
    const perp_vec3 p = body->pose.pose.position;
    const double stated[3] = {p.x, p.y, p.z};
    for (int i = 0; i < 3 && body->pose_set; i++) {
        const double start = perp_drive_value(&body->drives[i], 0.0);
        if ((body->driven_mask & (1u << i)) && stated[i] != 0.0 && fabs(start - stated[i]) > DRIVE_AS_WRITTEN) {
            char path[256];
            snprintf(path, sizeof path, "bodies.%s.driven.%c", body->name, "xyz"[i]);
            perp_scene_report(scene, diagnostics, PERP_SEVERITY_WARNING, path,
                              "starts at %g and replaces the %g of `pose`; drives are absolute", start, stated[i]);
        }
    }
}

static perp_status lint_loops(const perp_model *model, const perp_allocator *allocator, perp_diagnostics *diagnostics)
{
    perp_state state;
    perp_kinematics *kinematics = NULL;
    perp_error error;
    perp_status status = perp_state_create(model, allocator, &state, &error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    status = perp_kinematics_create(model, allocator, &kinematics, &error);
    if (status == PERP_STATUS_OK) {
        perp_kinematics_update(model, state.q, kinematics);
        for (int i = 0; i < model->scene->loop_count; i++) {
            const perp_loop *loop = &model->scene->loops[i];
            double residual[6], largest = 0.0;
            perp_loop_evaluate(model, kinematics, i, residual, NULL);
            for (int k = 0; k < perp_loop_rows(model, i); k++) {
                largest = fmax(largest, fabs(residual[k]));
            }
            if (largest > LOOP_OPEN) {
                char path[256];
                snprintf(path, sizeof path, "%s.%s%s", perp_loop_section(loop), loop->name, perp_loop_part(loop));
                perp_scene_report(model->scene, diagnostics, PERP_SEVERITY_WARNING, path,
                                  loop->kind == PERP_LOOP_JOINTS
                                      ? "does not hold by %.3g at the start; change the `position` of one of its joints"
                                      : "is open by %.3g m at the start; the anchors should coincide",
                                  largest);
            }
        }
    }
    perp_kinematics_free(kinematics);
    perp_state_free(&state);
    return status;
}

perp_status perp_model_lint(const perp_model *model, const perp_allocator *allocator, perp_diagnostics *diagnostics)
{
    const perp_scene *scene = model->scene;
    for (int i = 0; i < scene->joint_count; i++) {
        if (scene->joints[i].control != PERP_CONTROL_NONE) {
            lint_command(scene, &scene->joints[i], diagnostics);
        }
    }
    for (int i = 0; i < scene->body_count; i++) {
        if (scene->bodies[i].kind == PERP_BODY_DRIVEN) {
            lint_driven(scene, &scene->bodies[i], diagnostics);
        }
    }
    perp_lint_angles(scene, diagnostics);
    return scene->loop_count > 0 ? lint_loops(model, allocator, diagnostics) : PERP_STATUS_OK;
}
