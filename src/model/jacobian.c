/* Jacobians from the motion axes: unit rate of dof d moves the point p of a body behind it by
 * dof_linear[d] + dof_angular[d] x (p - reference). */
#include "model/model_private.h"

#include <assert.h>
#include <string.h>

int perp_body_dofs(const perp_model *model, int body, const int **dofs)
{
    assert(body >= -1 && body < model->body_count);
    if (body < 0) {
        *dofs = model->chain_dofs;
        return 0;
    }
    const int start = model->chain_start[body];
    *dofs = model->chain_dofs + start;
    return model->chain_start[body + 1] - start;
}

/* Both Jacobians in one pass over the chain: the point's rows and, where asked for, the angular ones. */
static inline void write_jacobian(const perp_model *model, const perp_kinematics *kinematics, int body,
                                  perp_vec3 point_world, bool with_angular, double *jacobian)
{
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    if (n == 0) {
        return;
    }
    const perp_vec3 *linear = kinematics->dof_linear, *angular = kinematics->dof_angular;
    const perp_vec3 arm = perp_vec3_sub(point_world, kinematics->reference[model->links[body].tree]);
    for (int k = 0; k < n; k++) {
        const perp_vec3 u = angular[dofs[k]];
        const perp_vec3 column = perp_vec3_add(linear[dofs[k]], perp_vec3_cross(u, arm));
        jacobian[k] = column.x;
        jacobian[n + k] = column.y;
        jacobian[2 * n + k] = column.z;
        if (with_angular) {
            jacobian[3 * n + k] = u.x;
            jacobian[4 * n + k] = u.y;
            jacobian[5 * n + k] = u.z;
        }
    }
}

void perp_point_jacobian(const perp_model *model, const perp_kinematics *kinematics, int body, perp_vec3 point_world,
                         double *jacobian)
{
    write_jacobian(model, kinematics, body, point_world, false, jacobian);
}

void perp_frame_jacobian(const perp_model *model, const perp_kinematics *kinematics, int body, perp_vec3 point_world,
                         double *jacobian)
{
    write_jacobian(model, kinematics, body, point_world, true, jacobian);
}

void perp_jacobian_expand(const perp_model *model, int body, int rows, const double *jacobian, double *dense)
{
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    const size_t nv = (size_t)model->nv;
    memset(dense, 0, (size_t)rows * nv * sizeof(double));
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < n; k++) {
            dense[(size_t)i * nv + (size_t)dofs[k]] = jacobian[i * n + k];
        }
    }
}
