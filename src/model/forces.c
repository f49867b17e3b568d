#include "model/model_private.h"

#include <string.h>

void perp_add_wrench(const perp_model *model, const perp_kinematics *kinematics, int body, perp_vec3 point_world,
                     perp_vec3 force, perp_vec3 torque, double *generalised)
{
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    if (n == 0) {
        return;
    }
    const perp_vec3 arm = perp_vec3_sub(point_world, kinematics->reference[model->links[body].tree]);
    const perp_vec3 moment = perp_vec3_add(torque, perp_vec3_cross(arm, force));
    for (int k = 0; k < n; k++) {
        const int d = dofs[k];
        generalised[d] +=
            perp_vec3_dot(kinematics->dof_linear[d], force) + perp_vec3_dot(kinematics->dof_angular[d], moment);
    }
}

/* The joint that moves a node, if it is a scalar one; else NULL. */
static const perp_joint *joint_of(const perp_model *model, const perp_node *node)
{
    const int joint = model->links[node->body].joint;
    return joint >= 0 && node->link.v_count == 1 ? &model->scene->joints[joint] : NULL;
}

void perp_gravity_force(const perp_model *model, const perp_kinematics *kinematics, double *force)
{
    memset(force, 0, (size_t)model->nv * sizeof(double));
    const perp_vec3 zero = {0.0, 0.0, 0.0};
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        if (node->link.mass != 0.0) {
            const perp_vec3 weight = perp_vec3_scale(node->link.mass, model->scene->gravity);
            perp_add_wrench(model, kinematics, node->body, kinematics->com[node->body], weight, zero, force);
        }
    }
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = joint_of(model, node);
        if (joint && joint->gravity_compensation) {
            force[node->link.v_start] = 0.0;
        }
    }
}

double perp_joint_torque(const perp_joint *joint, double t)
{
    const double asked = perp_drive_value(&joint->command, t);
    return joint->effort.set ? fmax(-joint->effort.value, fmin(joint->effort.value, asked)) : asked;
}

static perp_vec3 drive_vector(const perp_drive drives[3], double t)
{
    return perp_vec3_make(perp_drive_value(&drives[0], t), perp_drive_value(&drives[1], t),
                          perp_drive_value(&drives[2], t));
}

void perp_applied_force(const perp_model *model, const perp_kinematics *kinematics, double t, double *force)
{
    memset(force, 0, (size_t)model->nv * sizeof(double));
    for (int i = 0; i < model->scene->force_count; i++) {
        const perp_force *applied = &model->scene->forces[i];
        const int b = applied->body_index;
        const perp_mat3 *rotation = &kinematics->rotation[b];
        perp_vec3 f = drive_vector(applied->force, t), torque = drive_vector(applied->torque, t);
        if (applied->in_body_frame) {
            f = perp_mat3_mul_vec(rotation, f);
            torque = perp_mat3_mul_vec(rotation, torque);
        }
        const perp_vec3 point =
            perp_vec3_add(kinematics->pose[b].position, perp_mat3_mul_vec(rotation, applied->point));
        perp_add_wrench(model, kinematics, b, point, f, torque, force);
    }
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = joint_of(model, node);
        if (joint && joint->control == PERP_CONTROL_TORQUE) {
            force[node->link.v_start] += perp_joint_torque(joint, t);
        }
    }
}
