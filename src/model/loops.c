/* Closed loops: two anchors that coincide, and for a weld two bodies that keep their relative rotation; or joints whose
 * positions keep a linear equation.
 *
 * A weld's rotation residual is phi = log E, E = R_b R_rel' R_a', in world axes. E has the world angular velocity
 * w_b - E w_a, so dphi/dt = B(phi) (w_b - E w_a) = B(phi) w_b - B(-phi) w_a: exact also where phi is not zero
 * (rotation_vector.h).
 */
#include "model/model_private.h"
#include "model/rotation_vector.h"

#include <assert.h>
#include <string.h>

int perp_loop_rows(const perp_model *model, int loop)
{
    assert(loop >= 0 && loop < model->scene->loop_count);
    const perp_loop_kind kind = model->scene->loops[loop].kind;
    const bool weld = kind == PERP_LOOP_WELD;
    return kind == PERP_LOOP_JOINTS ? 1 : model->planar ? (weld ? 3 : 2) : (weld ? 6 : 3);
}

static perp_vec3 anchor_point(const perp_kinematics *k, int body, perp_vec3 anchor)
{
    return perp_vec3_add(k->pose[body].position, perp_mat3_mul_vec(&k->rotation[body], anchor));
}

/* Adds sign times the motion of one side to the Jacobian. `map` (NULL: point loops) turns its angular velocity into
 * the rate of the rotation residual. */
static void add_side(const perp_model *model, const perp_kinematics *k, int body, perp_vec3 point, double sign,
                     const perp_mat3 *map, double *jacobian)
{
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    if (n == 0) {
        return;
    }
    const perp_vec3 arm = perp_vec3_sub(point, k->reference[model->links[body].tree]);
    const size_t nv = (size_t)model->nv;
    for (int i = 0; i < n; i++) {
        const int d = dofs[i];
        const perp_vec3 linear = perp_vec3_add(k->dof_linear[d], perp_vec3_cross(k->dof_angular[d], arm));
        double *column = jacobian + d;
        column[0] += sign * linear.x;
        column[nv] += sign * linear.y;
        if (!model->planar) {
            column[2 * nv] += sign * linear.z;
        }
        if (map) {
            const perp_vec3 angular = perp_mat3_mul_vec(map, k->dof_angular[d]);
            if (model->planar) {
                column[2 * nv] += sign * angular.z;
            } else {
                column[3 * nv] += sign * angular.x;
                column[4 * nv] += sign * angular.y;
                column[5 * nv] += sign * angular.z;
            }
        }
    }
}

static void evaluate_joints(const perp_model *model, const double *q, const perp_loop *loop, double *residual,
                            double *jacobian)
{
    double sum = -loop->length;
    if (jacobian) {
        memset(jacobian, 0, (size_t)model->nv * sizeof *jacobian);
    }
    for (int i = 0; i < loop->term_count; i++) {
        const perp_link *link = &model->links[model->joint_body[loop->terms[i].joint_index]];
        sum += loop->terms[i].coefficient * q[link->q_start];
        if (jacobian) {
            jacobian[link->v_start] += loop->terms[i].coefficient;
        }
    }
    *residual = sum;
}

void perp_loop_evaluate(const perp_model *model, const perp_kinematics *kinematics, int loop, double *residual,
                        double *jacobian)
{
    assert(loop >= 0 && loop < model->scene->loop_count);
    const perp_loop *l = &model->scene->loops[loop];
    if (l->kind == PERP_LOOP_JOINTS) {
        evaluate_joints(model, kinematics->q, l, residual, jacobian);
        return;
    }
    const bool weld = l->kind == PERP_LOOP_WELD;
    const int position_rows = model->planar ? 2 : 3;
    const perp_vec3 a = anchor_point(kinematics, l->body_a, l->anchor_a);
    const perp_vec3 b = anchor_point(kinematics, l->body_b, l->anchor_b);
    const double apart[3] = {b.x - a.x, b.y - a.y, b.z - a.z};
    memcpy(residual, apart, (size_t)position_rows * sizeof(double));
    perp_vec3 phi = {0.0, 0.0, 0.0};
    if (weld) {
        const perp_quat kept = perp_quat_mul(kinematics->pose[l->body_a].rotation, model->loop_rotation[loop]);
        phi = perp_quat_log(perp_quat_mul(kinematics->pose[l->body_b].rotation, perp_quat_conjugate(kept)));
        if (model->planar) {
            residual[2] = phi.z;
        } else {
            perp_vec3_store(phi, residual + 3);
        }
    }
    if (jacobian) {
        const perp_mat3 map_b = perp_rotation_vector_rate(phi);
        const perp_mat3 map_a = perp_rotation_vector_rate(perp_vec3_scale(-1.0, phi));
        memset(jacobian, 0, (size_t)perp_loop_rows(model, loop) * (size_t)model->nv * sizeof(double));
        add_side(model, kinematics, l->body_b, b, 1.0, weld ? &map_b : NULL, jacobian);
        add_side(model, kinematics, l->body_a, a, -1.0, weld ? &map_a : NULL, jacobian);
    }
}
