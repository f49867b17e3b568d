/* The configuration manifold: G, its pseudo-inverse, the exponential and its inverse; prescribed coordinates.
 *
 * Quaternion coordinates, of floating bodies (in the world) and ball joints (in the parent), move as
 * dquat/dt = 1/2 (0, w) (x) quat, with w in the frame that the quaternion maps to. G'G = 1/4 there, so G+ = 4 G'.
 * Planar angles are never wrapped.
 */
#include "model/model_private.h"

#include <assert.h>
#include <string.h>

/* ---- one rotation ----------------------------------------------------------------------------------------------- */

static inline perp_quat quat_rate(perp_quat q, perp_vec3 w)
{
    const perp_quat half = {0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
    return perp_quat_mul(half, q);
}

static inline perp_vec3 quat_rate_inverse(perp_quat q, perp_quat rate)
{
    const perp_quat twice = perp_quat_mul(rate, perp_quat_conjugate(q));
    return perp_vec3_make(2.0 * twice.x, 2.0 * twice.y, 2.0 * twice.z);
}

static inline perp_quat quat_integrate(perp_quat q, perp_vec3 w, double h)
{
    return perp_quat_normalise(perp_quat_mul(perp_quat_exp(perp_vec3_scale(h, w)), q));
}

static inline perp_vec3 quat_difference(perp_quat from, perp_quat to)
{
    return perp_quat_log(perp_quat_mul(to, perp_quat_conjugate(from)));
}

/* ---- the components of a floating body -------------------------------------------------------------------------- */

/* The whole twist from the free components; locked ones are 0. */
static inline void scatter_twist(const perp_node *node, const double *v, perp_twist *twist)
{
    v += node->v;
    double full[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (node->v_count == 6) {
        memcpy(full, v, sizeof full);
    } else {
        for (int i = 0; i < 6; i++) {
            if (node->components & (1u << i)) {
                full[i] = *v++;
            }
        }
    }
    twist->linear = perp_vec3_load(full);
    twist->angular = perp_vec3_load(full + 3);
}

static inline void gather_twist(const perp_node *node, const perp_twist *twist, double *v)
{
    const double full[6] = {twist->linear.x,  twist->linear.y,  twist->linear.z,
                            twist->angular.x, twist->angular.y, twist->angular.z};
    v += node->v;
    for (int i = 0; i < 6; i++) {
        if (node->components & (1u << i)) {
            *v++ = full[i];
        }
    }
}

/* ---- rate = G v -------------------------------------------------------------------------------------------------- */

static void node_rate(const perp_node *node, const double *q, const double *v, double *rate)
{
    perp_twist twist;
    q += node->q;
    rate += node->q;
    switch (node->motion) {
    case PERP_MOTION_FIXED:
        break;
    case PERP_MOTION_FLOATING:
        scatter_twist(node, v, &twist);
        perp_vec3_store(twist.linear, rate);
        perp_quat_store(quat_rate(perp_quat_load(q + 3), twist.angular), rate + 3);
        break;
    case PERP_MOTION_FLOATING_PLANAR:
        scatter_twist(node, v, &twist);
        perp_vec3_store(perp_vec3_make(twist.linear.x, twist.linear.y, twist.angular.z), rate);
        break;
    case PERP_MOTION_BALL:
        perp_quat_store(quat_rate(perp_quat_load(q), perp_vec3_load(v + node->v)), rate);
        break;
    default:
        memcpy(rate, v + node->v, (size_t)node->v_count * sizeof(double));
    }
}

void perp_configuration_rate(const perp_model *model, const double *q, const double *v, double *rate)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        node_rate(&model->memory->nodes[i], q, v, rate);
    }
}

static void node_rate_inverse(const perp_node *node, const double *q, const double *rate, double *v)
{
    perp_twist twist;
    q += node->q;
    rate += node->q;
    switch (node->motion) {
    case PERP_MOTION_FIXED:
        break;
    case PERP_MOTION_FLOATING:
        twist.linear = perp_vec3_load(rate);
        twist.angular = quat_rate_inverse(perp_quat_load(q + 3), perp_quat_load(rate + 3));
        gather_twist(node, &twist, v);
        break;
    case PERP_MOTION_FLOATING_PLANAR:
        twist.linear = perp_vec3_make(rate[0], rate[1], 0.0);
        twist.angular = perp_vec3_make(0.0, 0.0, rate[2]);
        gather_twist(node, &twist, v);
        break;
    case PERP_MOTION_BALL:
        perp_vec3_store(quat_rate_inverse(perp_quat_load(q), perp_quat_load(rate)), v + node->v);
        break;
    default:
        memcpy(v + node->v, rate, (size_t)node->v_count * sizeof(double));
    }
}

void perp_configuration_rate_inverse(const perp_model *model, const double *q, const double *rate, double *v)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        node_rate_inverse(&model->memory->nodes[i], q, rate, v);
    }
}

/* The columns of dquat/dt = G w that belong to the free components of w; `g` points at the quaternion's first row and
 * the first free column. */
static void write_quat_map(perp_quat q, unsigned free_rotations, size_t stride, double *g)
{
    for (int i = 0; i < 3; i++) {
        if (free_rotations & (1u << i)) {
            const perp_quat column = quat_rate(q, perp_vec3_make(i == 0, i == 1, i == 2));
            g[0] = column.w;
            g[stride] = column.x;
            g[2 * stride] = column.y;
            g[3 * stride] = column.z;
            g++;
        }
    }
}

void perp_configuration_map(const perp_model *model, const double *q, double *g)
{
    const size_t nv = (size_t)model->nv;
    memset(g, 0, (size_t)model->nq * nv * sizeof(double));
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        double *block = g + (size_t)node->q * nv + node->v;
        if (node->motion == PERP_MOTION_BALL) {
            write_quat_map(perp_quat_load(q + node->q), 7u, nv, block);
        } else if (node->motion == PERP_MOTION_FLOATING || node->motion == PERP_MOTION_FLOATING_PLANAR) {
            const bool planar = node->motion == PERP_MOTION_FLOATING_PLANAR;
            size_t column = 0;
            for (size_t c = 0; c < (planar ? 6 : 3); c++) {
                if (node->components & (1u << c)) {
                    block[(c < 3 ? c : 2) * nv + column] = 1.0;
                    column++;
                }
            }
            if (!planar) {
                write_quat_map(perp_quat_load(q + node->q + 3), node->components >> 3, nv, block + 3 * nv + column);
            }
        } else {
            for (size_t k = 0; k < (size_t)node->v_count; k++) {
                block[k * nv + k] = 1.0;
            }
        }
    }
}

/* ---- integrate and difference ------------------------------------------------------------------------------------ */

void perp_node_integrate(const perp_node *node, const double *q, const double *v, double h, double *q_out)
{
    perp_twist twist;
    q += node->q;
    q_out += node->q;
    switch (node->motion) {
    case PERP_MOTION_FIXED:
        break;
    case PERP_MOTION_FLOATING: {
        scatter_twist(node, v, &twist);
        const perp_quat rotation = perp_quat_load(q + 3);
        /* A rotation that cannot change keeps its bits: normalising again and again might not. */
        const bool turns = node->components & PERP_COMPONENT_ROTATION;
        perp_vec3_store(perp_vec3_add_scaled(perp_vec3_load(q), h, twist.linear), q_out);
        perp_quat_store(turns ? quat_integrate(rotation, twist.angular, h) : rotation, q_out + 3);
        break;
    }
    case PERP_MOTION_FLOATING_PLANAR:
        scatter_twist(node, v, &twist);
        q_out[0] = q[0] + h * twist.linear.x;
        q_out[1] = q[1] + h * twist.linear.y;
        q_out[2] = q[2] + h * twist.angular.z;
        break;
    case PERP_MOTION_BALL:
        perp_quat_store(quat_integrate(perp_quat_load(q), perp_vec3_load(v + node->v), h), q_out);
        break;
    default:
        for (int k = 0; k < node->v_count; k++) {
            q_out[k] = q[k] + h * v[node->v + k];
        }
    }
}

void perp_configuration_integrate(const perp_model *model, const double *q, const double *v, double h, double *q_out)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        perp_node_integrate(&model->memory->nodes[i], q, v, h, q_out);
    }
}

static void node_difference(const perp_node *node, const double *from, const double *to, double *v)
{
    perp_twist twist;
    from += node->q;
    to += node->q;
    switch (node->motion) {
    case PERP_MOTION_FIXED:
        break;
    case PERP_MOTION_FLOATING:
        twist.linear = perp_vec3_sub(perp_vec3_load(to), perp_vec3_load(from));
        twist.angular = quat_difference(perp_quat_load(from + 3), perp_quat_load(to + 3));
        gather_twist(node, &twist, v);
        break;
    case PERP_MOTION_FLOATING_PLANAR:
        twist.linear = perp_vec3_make(to[0] - from[0], to[1] - from[1], 0.0);
        twist.angular = perp_vec3_make(0.0, 0.0, to[2] - from[2]);
        gather_twist(node, &twist, v);
        break;
    case PERP_MOTION_BALL:
        perp_vec3_store(quat_difference(perp_quat_load(from), perp_quat_load(to)), v + node->v);
        break;
    default:
        for (int k = 0; k < node->v_count; k++) {
            v[node->v + k] = to[k] - from[k];
        }
    }
}

void perp_configuration_difference(const perp_model *model, const double *q_from, const double *q_to, double *v)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        node_difference(&model->memory->nodes[i], q_from, q_to, v);
    }
}

/* ---- prescribed coordinates ---------------------------------------------------------------------------------------
 */

static bool takes_command(const perp_joint *joint, perp_prescribe which)
{
    return joint->control == PERP_CONTROL_POSITION ||
           (joint->control == PERP_CONTROL_IMPEDANCE && which == PERP_PRESCRIBE_POSITION_IMPEDANCE);
}

/* The joint of a node if it is a controlled scalar one, else NULL. */
static const perp_joint *scalar_joint(const perp_model *model, const perp_node *node)
{
    const int joint = model->links[node->body].joint;
    return joint >= 0 && node->v_count == 1 ? &model->scene->joints[joint] : NULL;
}

static bool is_driven(const perp_model *model, const perp_node *node)
{
    return model->links[node->body].joint < 0 && model->scene->bodies[node->body].kind == PERP_BODY_DRIVEN;
}

void perp_prescribed_configuration(const perp_model *model, perp_prescribe which, double t, double *q)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = scalar_joint(model, node);
        if (joint && takes_command(joint, which)) {
            q[node->q] = perp_drive_value(&joint->command, t);
        } else if (is_driven(model, node)) {
            double angle = 0.0;
            const perp_body *body = &model->scene->bodies[node->body];
            const perp_pose pose = perp_body_driven_pose(body, model->planar, t, &angle);
            perp_vec3_store(pose.position, q + node->q);
            if (model->planar) {
                q[node->q + 2] = angle;
            } else {
                perp_quat_store(pose.rotation, q + node->q + 3);
            }
        }
    }
}

static perp_twist driven_twist(const perp_body *body, bool planar, double t)
{
    double rate[6];
    for (int i = 0; i < 6; i++) {
        rate[i] = body->driven_mask & (1u << i) ? perp_drive_rate(&body->drives[i], t) : 0.0;
    }
    perp_twist twist = {perp_vec3_make(rate[0], rate[1], rate[2]), perp_vec3_make(0.0, 0.0, rate[5])};
    if (planar || !(body->driven_mask & (PERP_COMPONENT_RX | PERP_COMPONENT_RY))) {
        return twist;
    }
    /* w = rz' e_z + ry' Rz e_y + rx' Rz Ry e_x, and Rz Ry e_x = R e_x. */
    const perp_quat rotation = perp_body_driven_pose(body, planar, t, NULL).rotation;
    double rpy[3];
    perp_body_driven_rpy(body, t, rpy);
    const perp_vec3 pitch_axis = {-sin(rpy[2]), cos(rpy[2]), 0.0};
    const perp_vec3 roll_axis = perp_quat_rotate(rotation, perp_vec3_make(1.0, 0.0, 0.0));
    twist.angular = perp_vec3_add_scaled(twist.angular, rate[4], pitch_axis);
    twist.angular = perp_vec3_add_scaled(twist.angular, rate[3], roll_axis);
    return twist;
}

void perp_prescribed_rate(const perp_model *model, perp_prescribe which, double t, double *v)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = scalar_joint(model, node);
        if (joint && takes_command(joint, which)) {
            v[node->v] = perp_drive_rate(&joint->command, t);
        } else if (is_driven(model, node)) {
            const perp_twist twist = driven_twist(&model->scene->bodies[node->body], model->planar, t);
            gather_twist(node, &twist, v);
        }
    }
}

/* Rotation vector from one driven pose to another. The logarithm knows it up to whole turns; the angular velocity in
 * the middle says how many were made. */
static perp_vec3 driven_turn(const perp_body *body, double t_from, double t_to)
{
    const perp_quat from = perp_body_driven_pose(body, false, t_from, NULL).rotation;
    const perp_quat to = perp_body_driven_pose(body, false, t_to, NULL).rotation;
    const perp_vec3 w = perp_quat_log(perp_quat_mul(to, perp_quat_conjugate(from)));
    const perp_vec3 middle = driven_twist(body, false, 0.5 * (t_from + t_to)).angular;
    const double angle = perp_vec3_norm(w), full = 6.283185307179586;
    const perp_vec3 axis = perp_vec3_normalise(angle > 1e-9 ? w : middle);
    const double turns = round(((t_to - t_from) * perp_vec3_dot(middle, axis) - angle) / full);
    return turns != 0.0 ? perp_vec3_add_scaled(w, full * turns, axis) : w;
}

void perp_prescribed_velocity(const perp_model *model, perp_prescribe which, double t_from, double t_to, double *v)
{
    const double h = t_to - t_from;
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = scalar_joint(model, node);
        if (joint && takes_command(joint, which)) {
            v[node->v] = (perp_drive_value(&joint->command, t_to) - perp_drive_value(&joint->command, t_from)) / h;
        } else if (is_driven(model, node)) {
            const perp_body *body = &model->scene->bodies[node->body];
            double angle_from = 0.0, angle_to = 0.0;
            const perp_vec3 from = perp_body_driven_pose(body, model->planar, t_from, &angle_from).position;
            const perp_vec3 to = perp_body_driven_pose(body, model->planar, t_to, &angle_to).position;
            const perp_vec3 turn =
                model->planar ? perp_vec3_make(0, 0, angle_to - angle_from) : driven_turn(body, t_from, t_to);
            const perp_twist twist = {perp_vec3_scale(1.0 / h, perp_vec3_sub(to, from)),
                                      perp_vec3_scale(1.0 / h, turn)};
            gather_twist(node, &twist, v);
        }
    }
}

void perp_command(const perp_model *model, double t, double *command)
{
    memset(command, 0, (size_t)model->nv * sizeof(double));
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_joint *joint = scalar_joint(model, node);
        if (joint && joint->control != PERP_CONTROL_NONE) {
            command[node->v] = perp_drive_value(&joint->command, t);
        }
    }
}
