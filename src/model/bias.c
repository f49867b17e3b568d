/* The bias force c(q, v) by recursive Newton-Euler with dv/dt = 0 and without gravity.
 *
 * With the joint point j = anchor + s, whose velocity in the parent is sdot, and the relative angular velocity w_rel,
 * both constant in the parent's frame while the rates are constant, every joint obeys
 *   a_j     = a_p + alpha_p x d1 + w_p x (w_p x d1) + 2 w_p x sdot        d1 = j - p_parent
 *   alpha_c = alpha_p + w_p x w_rel
 *   a_c     = a_j + alpha_c x d2 + w_c x (w_c x d2)                       d2 = p_child - j
 * A floating body's rates are world-frame rates of its origin: a = alpha = 0.
 */
#include "model/model_private.h"

/* a + alpha x r + w x (w x r): the acceleration of a point at r from one that has a. */
static inline perp_vec3 moved(perp_vec3 a, perp_vec3 alpha, perp_vec3 w, perp_vec3 r)
{
    const perp_vec3 centripetal = perp_vec3_cross(w, perp_vec3_cross(w, r));
    return perp_vec3_add(a, perp_vec3_add(perp_vec3_cross(alpha, r), centripetal));
}

/* The velocity of the joint point in the parent. */
static inline perp_vec3 sliding(const perp_node *node, const perp_kinematics *k, const double *v)
{
    const int d = node->link.v_start;
    switch (node->link.motion) {
    case PERP_MOTION_PRISMATIC:
        return perp_vec3_scale(v[d], k->dof_linear[d]);
    case PERP_MOTION_SCREW:
        return perp_vec3_scale(v[d] * node->link.pitch, k->dof_angular[d]);
    case PERP_MOTION_PLANAR:
        return perp_vec3_add_scaled(perp_vec3_scale(v[d], k->dof_linear[d]), v[d + 1], k->dof_linear[d + 1]);
    default:
        return perp_vec3_make(0.0, 0.0, 0.0);
    }
}

/* `parent` is NULL for the root of a tree, whose parent is at rest. */
static inline void accelerate(const perp_node *node, const perp_kinematics *k, const double *v,
                              const perp_bias_node *parent, perp_bias_node *own)
{
    own->linear = own->angular = perp_vec3_make(0.0, 0.0, 0.0);
    if (node->link.motion == PERP_MOTION_FLOATING || node->link.motion == PERP_MOTION_FLOATING_PLANAR) {
        return;
    }
    const perp_vec3 w_p = k->twist[node->link.parent].angular, w_c = k->twist[node->body].angular;
    const perp_vec3 w_rel = perp_vec3_sub(w_c, w_p);
    const perp_vec3 d2 = perp_mat3_mul_vec(&k->rotation[node->body], node->offset);
    const perp_vec3 joint = perp_vec3_sub(k->pose[node->body].position, d2);
    if (parent) {
        const perp_vec3 d1 = perp_vec3_sub(joint, k->pose[node->link.parent].position);
        own->linear = moved(parent->linear, parent->angular, w_p, d1);
        own->linear = perp_vec3_add_scaled(own->linear, 2.0, perp_vec3_cross(w_p, sliding(node, k, v)));
        own->angular = perp_vec3_add(parent->angular, perp_vec3_cross(w_p, w_rel));
    }
    own->linear = moved(own->linear, own->angular, w_c, d2);
}

/* Rate of change of the body's momentum, as a wrench about the reference. */
static inline void load(const perp_node *node, const perp_kinematics *k, perp_vec3 reference, perp_bias_node *own)
{
    const perp_vec3 w = k->twist[node->body].angular, com = k->com[node->body];
    const perp_vec3 a_com = moved(own->linear, own->angular, w, perp_vec3_sub(com, k->pose[node->body].position));
    double inertia[6];
    perp_node_world_inertia(node, &k->rotation[node->body], inertia);
    const perp_vec3 spin = perp_symmetric_mul(inertia, w);
    own->force = perp_vec3_scale(node->link.mass, a_com);
    own->torque = perp_vec3_add(perp_symmetric_mul(inertia, own->angular), perp_vec3_cross(w, spin));
    own->torque = perp_vec3_add(own->torque, perp_vec3_cross(perp_vec3_sub(com, reference), own->force));
}

void perp_bias_force(const perp_model *model, perp_kinematics *kinematics, const double *v, double *bias)
{
    const perp_kinematics *k = kinematics;
    const perp_node *nodes = model->memory->nodes;
    perp_bias_node *work = kinematics->memory->bias;
    for (int i = 0; i < model->memory->node_count; i++) {
        if (nodes[i].link.tree >= 0) {
            const perp_bias_node *parent = nodes[i].parent_node >= 0 ? &work[nodes[i].parent_node] : NULL;
            accelerate(&nodes[i], k, v, parent, &work[i]);
            load(&nodes[i], k, k->reference[nodes[i].link.tree], &work[i]);
        }
    }
    /* Backwards, so that a node's wrench is that of its whole subtree when it is projected. */
    for (int i = model->memory->node_count - 1; i >= 0; i--) {
        const perp_node *node = &nodes[i];
        for (int d = node->link.v_start; d < node->link.v_start + node->link.v_count; d++) {
            bias[d] = perp_vec3_dot(k->dof_linear[d], work[i].force) + perp_vec3_dot(k->dof_angular[d], work[i].torque);
        }
        if (node->parent_node >= 0) {
            perp_bias_node *parent = &work[node->parent_node];
            parent->force = perp_vec3_add(parent->force, work[i].force);
            parent->torque = perp_vec3_add(parent->torque, work[i].torque);
        }
    }
}
