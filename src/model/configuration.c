/* The configuration manifold: G, its pseudo-inverse, the exponential and its inverse; prescribed coordinates.
 *
 * Quaternion coordinates, of floating bodies (in the world) and ball joints (in the parent), move as
 * dquat/dt = 1/2 (0, w) (x) quat, with w in the frame that the quaternion maps to. G'G = 1/4 there, so G+ = 4 G'.
 * Planar angles are never wrapped.
 */
#include "model/model_private.h"
#include "model/state.h"
#include "model/tolerances.h"
#include "scene/drive.h"

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

/* ---- one node ---------------------------------------------------------------------------------------------------- */

/* The coordinates of a node are some plain numbers, whose rates are their derivatives, and then perhaps a quaternion.
 * Its rates are as many plain numbers and then perhaps an angular velocity, and stand in v in this order, less the
 * locked ones of a floating body. In the plane a floating body is x, y and its angle: three plain numbers. */

static inline bool has_quat(const perp_node *node)
{
    return node->link.motion == PERP_MOTION_FLOATING || node->link.motion == PERP_MOTION_BALL;
}

static inline int plain_count(const perp_node *node)
{
    switch (node->link.motion) {
    case PERP_MOTION_FLOATING:
    case PERP_MOTION_FLOATING_PLANAR:
        return 3;
    case PERP_MOTION_BALL:
        return 0;
    default:
        return node->link.v_count;
    }
}

static inline int rate_count(const perp_node *node)
{
    return plain_count(node) + (has_quat(node) ? 3 : 0);
}

/* Bit i: the rate number i is not locked. */
static inline unsigned free_rates(const perp_node *node)
{
    switch (node->link.motion) {
    case PERP_MOTION_FLOATING:
        return node->link.components;
    case PERP_MOTION_FLOATING_PLANAR:
        return (node->link.components & (PERP_COMPONENT_X | PERP_COMPONENT_Y)) |
               (node->link.components & PERP_COMPONENT_RZ) >> 3;
    default:
        return 7u;
    }
}

static inline bool has_locked(const perp_node *node)
{
    return node->link.v_count < rate_count(node);
}

/* All rates of the node, 0 for the locked ones: in v itself if there are none, else in `room`. */
static inline const double *load_rates(const perp_node *node, const double *v, double room[6])
{
    const int count = rate_count(node);
    v += node->link.v_start;
    if (node->link.v_count == count) {
        return v;
    }
    const unsigned unlocked = free_rates(node);
    for (int i = 0; i < count; i++) {
        room[i] = unlocked & (1u << i) ? *v++ : 0.0;
    }
    return room;
}

/* The free ones of all rates of the node. */
static inline void store_rates(const perp_node *node, const double *rates, double *v)
{
    const unsigned unlocked = free_rates(node);
    v += node->link.v_start;
    for (int i = 0; i < rate_count(node); i++) {
        if (unlocked & (1u << i)) {
            *v++ = rates[i];
        }
    }
}

/* ---- rate = G v -------------------------------------------------------------------------------------------------- */

static void node_rate(const perp_node *node, const double *q, const double *v, double *rate)
{
    const int n = plain_count(node);
    double room[6];
    const double *rates = load_rates(node, v, room);
    q += node->link.q_start;
    rate += node->link.q_start;
    for (int k = 0; k < n; k++) {
        rate[k] = rates[k];
    }
    if (has_quat(node)) {
        perp_quat_store(quat_rate(perp_quat_load(q + n), perp_vec3_load(rates + n)), rate + n);
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
    const int n = plain_count(node);
    double room[6], *rates = has_locked(node) ? room : v + node->link.v_start;
    q += node->link.q_start;
    rate += node->link.q_start;
    for (int k = 0; k < n; k++) {
        rates[k] = rate[k];
    }
    if (has_quat(node)) {
        perp_vec3_store(quat_rate_inverse(perp_quat_load(q + n), perp_quat_load(rate + n)), rates + n);
    }
    if (rates == room) {
        store_rates(node, room, v);
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
        const size_t n = (size_t)plain_count(node);
        const unsigned unlocked = free_rates(node);
        double *column = g + (size_t)node->link.q_start * nv +
                         node->link.v_start; /* of the next free rate, in the node's first row */
        for (size_t k = 0; k < n; k++) {
            if (unlocked & (1u << k)) {
                column[k * nv] = 1.0;
                column++;
            }
        }
        if (has_quat(node)) {
            write_quat_map(perp_quat_load(q + node->link.q_start + n), unlocked >> n, nv, column + n * nv);
        }
    }
}

/* ---- integrate and difference ------------------------------------------------------------------------------------ */

void perp_node_integrate(const perp_node *node, const double *q, const double *v, double h, double *q_out)
{
    const int n = plain_count(node);
    double room[6];
    const double *rates = load_rates(node, v, room);
    q += node->link.q_start;
    q_out += node->link.q_start;
    for (int k = 0; k < n; k++) {
        q_out[k] = q[k] + h * rates[k];
    }
    if (has_quat(node)) {
        const perp_quat rotation = perp_quat_load(q + n);
        /* A rotation that cannot change keeps its bits: normalising again and again might not. */
        const bool turns = node->link.motion == PERP_MOTION_BALL || node->link.components & PERP_COMPONENT_ROTATION;
        perp_quat_store(turns ? quat_integrate(rotation, perp_vec3_load(rates + n), h) : rotation, q_out + n);
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
    const int n = plain_count(node);
    double room[6], *rates = has_locked(node) ? room : v + node->link.v_start;
    from += node->link.q_start;
    to += node->link.q_start;
    for (int k = 0; k < n; k++) {
        rates[k] = to[k] - from[k];
    }
    if (has_quat(node)) {
        perp_vec3_store(quat_difference(perp_quat_load(from + n), perp_quat_load(to + n)), rates + n);
    }
    if (rates == room) {
        store_rates(node, room, v);
    }
}

void perp_configuration_difference(const perp_model *model, const double *q_from, const double *q_to, double *v)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        node_difference(&model->memory->nodes[i], q_from, q_to, v);
    }
}

/* ---- prescribed coordinates -------------------------------------------------------------------------------------- */

/* The twist of a driven body. */
static void store_twist(const perp_node *node, const perp_twist *twist, double *v)
{
    const bool planar = node->link.motion == PERP_MOTION_FLOATING_PLANAR;
    const double rates[6] = {twist->linear.x,  twist->linear.y,  planar ? twist->angular.z : twist->linear.z,
                             twist->angular.x, twist->angular.y, twist->angular.z};
    store_rates(node, rates, v);
}

/* The joint of a node if it is a scalar one, else NULL. */
static const perp_joint *scalar_joint(const perp_model *model, const perp_node *node)
{
    const int joint = model->links[node->body].joint;
    return joint >= 0 && node->link.v_count == 1 ? &model->scene->joints[joint] : NULL;
}

/* Where the joint of a node is as a function of time, if that is prescribed; else NULL. */
static const perp_drive *prescribed_drive(const perp_model *model, const perp_node *node, perp_prescribe which)
{
    const perp_joint *joint = scalar_joint(model, node);
    const perp_control control = joint ? joint->control : PERP_CONTROL_NONE;
    if (control == PERP_CONTROL_VELOCITY && (which & PERP_PRESCRIBE_POSITION_JOINTS)) {
        return &joint->path;
    }
    const bool taken = (control == PERP_CONTROL_POSITION && (which & PERP_PRESCRIBE_POSITION_JOINTS)) ||
                       (control == PERP_CONTROL_IMPEDANCE && (which & PERP_PRESCRIBE_IMPEDANCE_JOINTS));
    return taken ? &joint->command : NULL;
}

static bool is_driven(const perp_model *model, const perp_node *node)
{
    return model->links[node->body].joint < 0 && model->scene->bodies[node->body].kind == PERP_BODY_DRIVEN;
}

static void place_driven(const perp_model *model, const perp_node *node, double t, double ahead, double *q)
{
    double angle = 0.0;
    const perp_body *body = &model->scene->bodies[node->body];
    const perp_pose pose = perp_body_driven_taylor(body, model->planar, t, ahead, &angle);
    perp_vec3_store(pose.position, q + node->link.q_start);
    if (model->planar) {
        q[node->link.q_start + 2] = angle;
    } else {
        perp_quat_store(pose.rotation, q + node->link.q_start + 3);
    }
}

void perp_prescribed_configuration(const perp_model *model, perp_prescribe which, double t, double *q)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_drive *drive = prescribed_drive(model, node, which);
        if (drive) {
            q[node->link.q_start] = perp_drive_value(drive, t);
        } else if ((which & PERP_PRESCRIBE_DRIVEN) && is_driven(model, node)) {
            place_driven(model, node, t, 0.0, q);
        }
    }
}

void perp_driven_taylor(const perp_model *model, double t, double h, double *q)
{
    for (int i = 0; i < model->memory->node_count; i++) {
        if (is_driven(model, &model->memory->nodes[i])) {
            place_driven(model, &model->memory->nodes[i], t, h, q);
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
    perp_body_driven_rpy(body, t, 0.0, rpy);
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
        const perp_drive *drive = prescribed_drive(model, node, which);
        if (drive) {
            v[node->link.v_start] = perp_drive_rate(drive, t);
        } else if ((which & PERP_PRESCRIBE_DRIVEN) && is_driven(model, node)) {
            const perp_twist twist = driven_twist(&model->scene->bodies[node->body], model->planar, t);
            store_twist(node, &twist, v);
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
    const perp_vec3 axis = perp_vec3_normalise(angle > TURN_LEAST ? w : middle);
    const double turns = round(((t_to - t_from) * perp_vec3_dot(middle, axis) - angle) / full);
    return turns != 0.0 ? perp_vec3_add_scaled(w, full * turns, axis) : w;
}

void perp_prescribed_velocity(const perp_model *model, perp_prescribe which, double t_from, double t_to, double *v)
{
    const double h = t_to - t_from;
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        const perp_drive *drive = prescribed_drive(model, node, which);
        if (drive) {
            v[node->link.v_start] = (perp_drive_value(drive, t_to) - perp_drive_value(drive, t_from)) / h;
        } else if ((which & PERP_PRESCRIBE_DRIVEN) && is_driven(model, node)) {
            const perp_body *body = &model->scene->bodies[node->body];
            double angle_from = 0.0, angle_to = 0.0;
            const perp_vec3 from = perp_body_driven_pose(body, model->planar, t_from, &angle_from).position;
            const perp_vec3 to = perp_body_driven_pose(body, model->planar, t_to, &angle_to).position;
            const perp_vec3 turn =
                model->planar ? perp_vec3_make(0, 0, angle_to - angle_from) : driven_turn(body, t_from, t_to);
            const perp_twist twist = {perp_vec3_scale(1.0 / h, perp_vec3_sub(to, from)),
                                      perp_vec3_scale(1.0 / h, turn)};
            store_twist(node, &twist, v);
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
            command[node->link.v_start] = perp_drive_value(&joint->command, t);
        }
    }
}
