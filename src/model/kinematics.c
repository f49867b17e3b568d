/* Forward kinematics and twists.
 *
 * A jointed child stands at  parent o T(anchor + s) o R(joint) o T(-anchor) o home.  With the joint point
 * j = parent(anchor + s) that is: rotation R_p R(joint) R_home, origin j + R_child offset, where the offset is constant
 * in the child's frame. So each body costs one or two quaternion products and one conversion to a matrix.
 *
 * What never changes is written once by perp_kinematics_create: poses of bodies that do not depend on q, the world's
 * element [-1], and the axes of floating bodies (their tree's reference is their own origin, so unit rates are unit
 * twists).
 */
#include "model/model_private.h"

#include <assert.h>
#include <string.h>

static void set_floating_axes(const perp_node *node, perp_kinematics *k)
{
    int d = node->link.v_start;
    for (int i = 0; i < 6; i++) {
        if (node->link.components & (1u << i)) {
            const perp_vec3 unit = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
            *(i < 3 ? &k->dof_linear[d] : &k->dof_angular[d]) = unit;
            d++;
        }
    }
}

static void set_constants(const perp_model *model, perp_kinematics *k)
{
    k->pose[-1] = perp_pose_identity();
    k->rotation[-1] = perp_quat_to_mat3(perp_quat_identity());
    for (int b = 0; b < model->body_count; b++) {
        if (model->memory->body_node[b] < 0) {
            k->pose[b] = model->memory->constant[b];
            k->rotation[b] = perp_quat_to_mat3(k->pose[b].rotation);
            k->com[b] = perp_vec3_add(k->pose[b].position, perp_mat3_mul_vec(&k->rotation[b], model->links[b].com));
        }
    }
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &model->memory->nodes[i];
        if (node->link.motion == PERP_MOTION_FLOATING || node->link.motion == PERP_MOTION_FLOATING_PLANAR) {
            set_floating_axes(node, k);
        }
    }
}

perp_status perp_kinematics_create(const perp_model *model, const perp_allocator *allocator,
                                   perp_kinematics **kinematics, perp_error *error)
{
    assert(model && kinematics);
    *kinematics = NULL;
    const size_t bodies = (size_t)model->body_count, nv = (size_t)model->nv;
    const size_t nodes = (size_t)model->memory->node_count;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_kinematics *k = PERP_ARENA_NEW(&arena, perp_kinematics, 1);
    struct perp_kinematics_memory *memory = PERP_ARENA_NEW(&arena, struct perp_kinematics_memory, 1);
    perp_pose *pose = PERP_ARENA_NEW(&arena, perp_pose, bodies + 1);
    perp_mat3 *rotation = PERP_ARENA_NEW(&arena, perp_mat3, bodies + 1);
    perp_twist *twist = PERP_ARENA_NEW(&arena, perp_twist, bodies + 1);
    perp_vec3 *com = PERP_ARENA_NEW(&arena, perp_vec3, bodies);
    perp_vec3 *linear = PERP_ARENA_NEW(&arena, perp_vec3, nv), *angular = PERP_ARENA_NEW(&arena, perp_vec3, nv);
    perp_vec3 *reference = PERP_ARENA_NEW(&arena, perp_vec3, (size_t)model->tree_count);
    perp_composite *composite = PERP_ARENA_NEW(&arena, perp_composite, nodes);
    perp_bias_node *bias = PERP_ARENA_NEW(&arena, perp_bias_node, nodes);
    double *q = PERP_ARENA_NEW(&arena, double, (size_t)model->nq);
    if (!k || !memory || !pose || !rotation || !twist || !com || !linear || !angular || !reference || !composite ||
        !bias || !q) {
        perp_arena_clear(&arena);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for the kinematics");
    }
    *memory = (struct perp_kinematics_memory){.arena = arena, .composite = composite, .bias = bias};
    *k = (perp_kinematics){.pose = pose + 1,
                           .rotation = rotation + 1,
                           .com = com,
                           .dof_linear = linear,
                           .dof_angular = angular,
                           .reference = reference,
                           .twist = twist + 1,
                           .q = q,
                           .memory = memory};
    set_constants(model, k);
    *kinematics = k;
    return PERP_STATUS_OK;
}

void perp_kinematics_free(perp_kinematics *kinematics)
{
    if (kinematics) {
        perp_arena arena = kinematics->memory->arena;
        perp_arena_clear(&arena);
    }
}

/* ---- placing one body ------------------------------------------------------------------------------------------- */

/* parent (x) R(axis, angle) (x) home */
static inline perp_quat turned(const perp_node *node, perp_quat parent, double angle)
{
    const double c = cos(0.5 * angle), s = sin(0.5 * angle);
    const perp_quat h = node->link.home.rotation, a = node->axis_home;
    const perp_quat local = {c * h.w + s * a.w, c * h.x + s * a.x, c * h.y + s * a.y, c * h.z + s * a.z};
    return perp_quat_mul(parent, local);
}

static inline perp_vec3 in_parent(const perp_mat3 *rotation, perp_vec3 position, perp_vec3 x)
{
    return perp_vec3_add(position, perp_mat3_mul_vec(rotation, x));
}

/* Writes rotation, matrix and origin. */
static inline void finish_pose(const perp_node *node, perp_kinematics *k, perp_quat rotation, perp_vec3 joint_point)
{
    perp_mat3 *r = &k->rotation[node->body];
    *r = perp_quat_to_mat3(rotation);
    k->pose[node->body].rotation = rotation;
    k->pose[node->body].position = node->offset_is_zero ? joint_point : in_parent(r, joint_point, node->offset);
}

static inline void place_floating(const perp_node *node, const double *q, perp_kinematics *k)
{
    const double *x = q + node->link.q_start;
    if (node->link.motion == PERP_MOTION_FLOATING) {
        finish_pose(node, k, perp_quat_load(x + 3), perp_vec3_load(x));
    } else {
        const perp_quat rotation = {cos(0.5 * x[2]), 0.0, 0.0, sin(0.5 * x[2])};
        finish_pose(node, k, rotation, perp_vec3_make(x[0], x[1], 0.0));
    }
}

/* FIXED and PRISMATIC: the child keeps its rotation in the parent. */
static inline void place_unturned(const perp_node *node, perp_kinematics *k, perp_vec3 position_in_parent)
{
    const perp_pose *parent = &k->pose[node->link.parent];
    const perp_mat3 *parent_rotation = &k->rotation[node->link.parent];
    const perp_vec3 origin = in_parent(parent_rotation, parent->position, position_in_parent);
    if (node->home_is_unrotated) {
        k->pose[node->body] = (perp_pose){parent->rotation, origin};
        k->rotation[node->body] = *parent_rotation;
    } else {
        finish_pose(node, k, perp_quat_mul(parent->rotation, node->link.home.rotation), origin);
    }
}

/* The motion axes of a rotation about the world axis u through the joint point. */
static inline void set_rotation_axis(perp_kinematics *k, int d, perp_vec3 u, perp_vec3 to_reference)
{
    k->dof_angular[d] = u;
    k->dof_linear[d] = perp_vec3_cross(u, to_reference);
}

/* Has to know the reference before it writes axes, and the reference may be the body's own origin. */
static inline perp_vec3 reference_of(const perp_node *node, perp_kinematics *k)
{
    if (node->starts_tree) {
        k->reference[node->link.tree] = k->pose[node->body].position;
    }
    return k->reference[node->link.tree];
}

static inline void update_prismatic(const perp_node *node, const double *q, perp_kinematics *k)
{
    place_unturned(node, k, perp_vec3_add_scaled(node->link.home.position, q[node->link.q_start], node->link.axis));
    reference_of(node, k);
    k->dof_linear[node->link.v_start] = perp_mat3_mul_vec(&k->rotation[node->link.parent], node->link.axis);
    k->dof_angular[node->link.v_start] = perp_vec3_make(0.0, 0.0, 0.0);
}

/* REVOLUTE and, with a pitch, SCREW. */
static inline void update_turning(const perp_node *node, const double *q, perp_kinematics *k)
{
    const perp_pose *parent = &k->pose[node->link.parent];
    const double angle = q[node->link.q_start];
    const perp_vec3 u = perp_mat3_mul_vec(&k->rotation[node->link.parent], node->link.axis);
    perp_vec3 joint = in_parent(&k->rotation[node->link.parent], parent->position, node->link.anchor);
    if (node->link.motion == PERP_MOTION_SCREW) {
        joint = perp_vec3_add_scaled(joint, node->link.pitch * angle, u);
    }
    finish_pose(node, k, turned(node, parent->rotation, angle), joint);
    set_rotation_axis(k, node->link.v_start, u, perp_vec3_sub(reference_of(node, k), joint));
    if (node->link.motion == PERP_MOTION_SCREW) {
        k->dof_linear[node->link.v_start] =
            perp_vec3_add_scaled(k->dof_linear[node->link.v_start], node->link.pitch, u);
    }
}

static inline void update_ball(const perp_node *node, const double *q, perp_kinematics *k)
{
    const perp_pose *parent = &k->pose[node->link.parent];
    const double *r = k->rotation[node->link.parent].m;
    const perp_vec3 joint = in_parent(&k->rotation[node->link.parent], parent->position, node->link.anchor);
    const perp_quat local = perp_quat_mul(perp_quat_load(q + node->link.q_start), node->link.home.rotation);
    finish_pose(node, k, perp_quat_mul(parent->rotation, local), joint);
    const perp_vec3 to_reference = perp_vec3_sub(reference_of(node, k), joint);
    for (int i = 0; i < 3; i++) {
        set_rotation_axis(k, node->link.v_start + i, perp_vec3_make(r[i], r[3 + i], r[6 + i]), to_reference);
    }
}

static inline void update_planar(const perp_node *node, const double *q, perp_kinematics *k)
{
    const perp_pose *parent = &k->pose[node->link.parent];
    const perp_mat3 *r = &k->rotation[node->link.parent];
    const double *x = q + node->link.q_start;
    const perp_vec3 t = perp_mat3_mul_vec(r, node->link.axis_t), o = perp_mat3_mul_vec(r, node->link.axis_o);
    perp_vec3 joint = in_parent(r, parent->position, node->link.anchor);
    joint = perp_vec3_add_scaled(perp_vec3_add_scaled(joint, x[0], t), x[1], o);
    finish_pose(node, k, turned(node, parent->rotation, x[2]), joint);
    const perp_vec3 to_reference = perp_vec3_sub(reference_of(node, k), joint);
    k->dof_linear[node->link.v_start] = t;
    k->dof_linear[node->link.v_start + 1] = o;
    k->dof_angular[node->link.v_start] = k->dof_angular[node->link.v_start + 1] = perp_vec3_make(0.0, 0.0, 0.0);
    set_rotation_axis(k, node->link.v_start + 2, perp_mat3_mul_vec(r, node->link.axis), to_reference);
}

static inline void update_node(const perp_node *node, const double *q, perp_kinematics *k)
{
    switch (node->link.motion) {
    case PERP_MOTION_FLOATING:
    case PERP_MOTION_FLOATING_PLANAR:
        place_floating(node, q, k);
        if (node->starts_tree) {
            k->reference[node->link.tree] = k->pose[node->body].position;
        }
        break;
    case PERP_MOTION_FIXED:
        place_unturned(node, k, node->link.home.position);
        break;
    case PERP_MOTION_PRISMATIC:
        update_prismatic(node, q, k);
        break;
    case PERP_MOTION_REVOLUTE:
    case PERP_MOTION_SCREW:
        update_turning(node, q, k);
        break;
    case PERP_MOTION_BALL:
        update_ball(node, q, k);
        break;
    case PERP_MOTION_PLANAR:
        update_planar(node, q, k);
        break;
    }
    const perp_vec3 origin = k->pose[node->body].position;
    k->com[node->body] = node->com_is_zero ? origin : in_parent(&k->rotation[node->body], origin, node->link.com);
}

void perp_kinematics_update(const perp_model *model, const double *q, perp_kinematics *kinematics)
{
    const perp_node *nodes = model->memory->nodes;
    const int count = model->memory->node_count;
    for (int i = 0; i < count; i++) {
        update_node(&nodes[i], q, kinematics);
    }
    memcpy(kinematics->q, q, (size_t)model->nq * sizeof *q);
}

void perp_kinematics_update_nodes(const perp_model *model, const double *q, const int *nodes, int count,
                                  perp_kinematics *kinematics)
{
    for (int i = 0; i < count; i++) {
        update_node(&model->memory->nodes[nodes[i]], q, kinematics);
    }
}

/* ---- twists ----------------------------------------------------------------------------------------------------- */

void perp_kinematics_velocity(const perp_model *model, const double *v, perp_kinematics *k)
{
    const perp_node *nodes = model->memory->nodes;
    for (int i = 0; i < model->memory->node_count; i++) {
        const perp_node *node = &nodes[i];
        if (node->link.tree < 0) {
            continue; /* at rest: zero since creation */
        }
        const perp_vec3 origin = k->pose[node->body].position;
        perp_vec3 linear = {0.0, 0.0, 0.0}, angular = {0.0, 0.0, 0.0};
        for (int d = node->link.v_start; d < node->link.v_start + node->link.v_count; d++) {
            linear = perp_vec3_add_scaled(linear, v[d], k->dof_linear[d]);
            angular = perp_vec3_add_scaled(angular, v[d], k->dof_angular[d]);
        }
        /* The joint's own twist, moved from the reference to the origin, on top of what the parent carries along. */
        linear = perp_vec3_add(linear, perp_vec3_cross(angular, perp_vec3_sub(origin, k->reference[node->link.tree])));
        const perp_twist *parent = &k->twist[node->link.parent];
        const perp_vec3 arm = perp_vec3_sub(origin, k->pose[node->link.parent].position);
        const perp_vec3 carried = perp_vec3_add(parent->linear, perp_vec3_cross(parent->angular, arm));
        k->twist[node->body].linear = perp_vec3_add(linear, carried);
        k->twist[node->body].angular = perp_vec3_add(angular, parent->angular);
    }
}

/* Angles in the plane add along the chain: homes as written, joints by the sense of their axes. */
static double planar_angle(const perp_model *model, const double *q, int body)
{
    double angle = 0.0;
    for (; body >= 0; body = model->links[body].parent) {
        const perp_link *link = &model->links[body];
        const double *x = q + link->q_start;
        const double sense = link->axis.z < 0.0 ? -1.0 : 1.0;
        if (link->motion == PERP_MOTION_FLOATING_PLANAR) {
            angle += x[2];
            continue;
        }
        angle += model->scene->bodies[body].pose.angle;
        angle += link->motion == PERP_MOTION_REVOLUTE ? sense * x[0] : 0.0;
        angle += link->motion == PERP_MOTION_PLANAR ? sense * x[2] : 0.0;
    }
    return angle;
}

int perp_body_pose_numbers(const perp_model *model, const perp_kinematics *kinematics, const double *q, int body,
                           double numbers[7])
{
    const perp_pose *pose = &kinematics->pose[body];
    perp_vec3_store(pose->position, numbers);
    if (model->planar) {
        numbers[2] = planar_angle(model, q, body);
        return 3;
    }
    perp_quat_store(pose->rotation, numbers + 3);
    return 7;
}
