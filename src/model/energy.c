#include <perp/model.h>

#include "base/mat3.h"
#include "scene/drive.h"

static double kinetic_of(const perp_link *link, const perp_kinematics *kinematics, int body)
{
    const perp_twist twist = kinematics->twist[body];
    const perp_vec3 arm = perp_vec3_sub(kinematics->com[body], kinematics->pose[body].position);
    const perp_vec3 v = perp_vec3_add(twist.linear, perp_vec3_cross(twist.angular, arm));
    const perp_vec3 w = perp_mat3_tmul_vec(&kinematics->rotation[body], twist.angular);
    return 0.5 * link->mass * perp_vec3_dot(v, v) + 0.5 * perp_vec3_dot(w, perp_mat3_mul_vec(&link->inertia, w));
}

/* J: what a joint's spring gives on its way back, at most its effort. */
static double spring_energy(const perp_joint *joint, double stretch)
{
    const double effort = joint->effort.set ? joint->effort.value : INFINITY, force = joint->stiffness * fabs(stretch);
    return force <= effort ? 0.5 * joint->stiffness * stretch * stretch
                           : effort * (fabs(stretch) - 0.5 * effort / joint->stiffness);
}

perp_energy perp_energy_of(const perp_model *model, perp_kinematics *kinematics, const perp_state *state)
{
    perp_energy energy = {0.0, 0.0, 0.0};
    perp_kinematics_velocity(model, state->v, kinematics);
    for (int b = 0; b < model->body_count; b++) {
        energy.kinetic += kinetic_of(&model->links[b], kinematics, b);
        energy.gravity -= model->links[b].mass * perp_vec3_dot(model->scene->gravity, kinematics->com[b]);
    }
    for (int i = 0; i < model->nv; i++) {
        energy.kinetic += 0.5 * model->armature[i] * state->v[i] * state->v[i];
        if (model->role[i] == PERP_DOF_IMPEDANCE) {
            const perp_joint *joint = &model->scene->joints[model->dof_joint[i]];
            const double stretch = perp_drive_value(&joint->command, state->t) - state->q[model->dof_q[i]];
            energy.springs += spring_energy(joint, stretch);
        }
    }
    return energy;
}
