/* perp_scene -> perp_model: links from bodies and joints, then the layout (model_tree.c), then per-dof data, nodes and
 * constants. Everything lives in one arena, so that a failure half-way leaks nothing. */
#include "model/model_private.h"

#include <assert.h>
#include <string.h>

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while building the model");
}

/* ---- links ----------------------------------------------------------------------------------------------------- */

static int count_bits(unsigned mask)
{
    int count = 0;
    for (; mask; mask &= mask - 1) {
        count++;
    }
    return count;
}

static void set_joint_motion(const perp_scene *scene, int joint_index, perp_link *link)
{
    static const perp_motion motions[PERP_JOINT_COUNT] = {
        [PERP_JOINT_REVOLUTE] = PERP_MOTION_REVOLUTE, [PERP_JOINT_PRISMATIC] = PERP_MOTION_PRISMATIC,
        [PERP_JOINT_BALL] = PERP_MOTION_BALL,         [PERP_JOINT_PLANAR] = PERP_MOTION_PLANAR,
        [PERP_JOINT_SCREW] = PERP_MOTION_SCREW,       [PERP_JOINT_FIXED] = PERP_MOTION_FIXED,
    };
    const perp_joint *joint = &scene->joints[joint_index];
    const perp_body *child = &scene->bodies[joint->child_body];
    link->motion = motions[joint->kind];
    link->parent = joint->parent_body;
    link->joint = joint_index;
    link->q_count = perp_joint_position_size(joint->kind);
    link->v_count = perp_joint_velocity_size(joint->kind);
    link->home = child->pose.pose;
    if (!child->pose_set) {
        link->home = (perp_pose){perp_quat_identity(), joint->anchor};
    }
    link->anchor = joint->anchor;
    link->axis = joint->axis;
    link->pitch = joint->kind == PERP_JOINT_SCREW ? joint->pitch : 0.0;
    if (link->motion == PERP_MOTION_PLANAR) {
        perp_tangents(link->axis, &link->axis_t, &link->axis_o);
    }
}

static void set_body_motion(const perp_scene *scene, int body_index, perp_link *link)
{
    const perp_body *body = &scene->bodies[body_index];
    const unsigned all = scene->planar ? PERP_COMPONENT_PLANAR : PERP_COMPONENT_ALL;
    link->parent = -1;
    link->joint = -1;
    link->home = body->pose.pose;
    if (body->kind == PERP_BODY_FIXED) {
        link->motion = PERP_MOTION_FIXED;
        return;
    }
    link->motion = scene->planar ? PERP_MOTION_FLOATING_PLANAR : PERP_MOTION_FLOATING;
    link->components = body->kind == PERP_BODY_DRIVEN ? all : body->free_mask & all;
    link->q_count = scene->planar ? 3 : 7;
    link->v_count = count_bits(link->components);
}

static perp_status build_links(const perp_scene *scene, perp_link *links, perp_error *error)
{
    for (int b = 0; b < scene->body_count; b++) {
        perp_link *link = &links[b];
        if (scene->bodies[b].joint >= 0) {
            set_joint_motion(scene, scene->bodies[b].joint, link);
        } else {
            set_body_motion(scene, b, link);
        }
        perp_mass_properties mass;
        const perp_status status = perp_body_mass_properties(&scene->bodies[b], scene->planar, &mass, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        link->mass = mass.mass;
        link->com = mass.com;
        link->inertia = mass.inertia;
    }
    return PERP_STATUS_OK;
}

/* ---- per degree of freedom --------------------------------------------------------------------------------------*/

static perp_dof_role role_of(const perp_scene *scene, int body, const perp_joint *joint)
{
    if (!joint) {
        return scene->bodies[body].kind == PERP_BODY_DRIVEN ? PERP_DOF_PRESCRIBED : PERP_DOF_PASSIVE;
    }
    switch (joint->control) {
    case PERP_CONTROL_POSITION:
    case PERP_CONTROL_VELOCITY:
        return PERP_DOF_PRESCRIBED;
    case PERP_CONTROL_IMPEDANCE:
        return PERP_DOF_IMPEDANCE;
    case PERP_CONTROL_NONE:
    case PERP_CONTROL_TORQUE:
        break;
    }
    return PERP_DOF_PASSIVE;
}

static perp_status build_dofs(const perp_scene *scene, perp_arena *arena, perp_model *model)
{
    const size_t nv = (size_t)model->nv;
    perp_dof_role *role = PERP_ARENA_NEW(arena, perp_dof_role, nv);
    int *body = PERP_ARENA_NEW(arena, int, nv), *of_joint = PERP_ARENA_NEW(arena, int, nv);
    int *dof_q = PERP_ARENA_NEW(arena, int, nv);
    double *armature = PERP_ARENA_NEW(arena, double, nv), *stiffness = PERP_ARENA_NEW(arena, double, nv);
    double *damping = PERP_ARENA_NEW(arena, double, nv);
    double *low = PERP_ARENA_NEW(arena, double, nv), *high = PERP_ARENA_NEW(arena, double, nv);
    if (!role || !body || !of_joint || !dof_q || !armature || !stiffness || !damping || !low || !high) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int b = 0; b < model->body_count; b++) {
        const perp_link *link = &model->links[b];
        const perp_joint *joint = link->joint >= 0 ? &scene->joints[link->joint] : NULL;
        const bool scalar = joint && link->q_count == 1;
        for (int k = 0; k < link->v_count; k++) {
            const int d = link->v_start + k;
            role[d] = role_of(scene, b, joint);
            body[d] = b;
            of_joint[d] = link->joint;
            dof_q[d] = scalar ? link->q_start : -1;
            armature[d] = joint ? joint->armature : 0.0;
            stiffness[d] = joint && joint->control == PERP_CONTROL_IMPEDANCE ? joint->stiffness : 0.0;
            damping[d] = joint ? joint->damping : 0.0;
            low[d] = scalar && joint->limits_set ? joint->limits[0] : -INFINITY;
            high[d] = scalar && joint->limits_set ? joint->limits[1] : INFINITY;
        }
    }
    model->role = role;
    model->dof_body = body;
    model->dof_joint = of_joint;
    model->dof_q = dof_q;
    model->armature = armature;
    model->stiffness = stiffness;
    model->damping = damping;
    model->limit_low = low;
    model->limit_high = high;
    return PERP_STATUS_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------*/

static void set_node_inertia(const perp_link *link, perp_node *node)
{
    const double *i = link->inertia.m;
    const double symmetric[6] = {i[0], i[4], i[8], i[1], i[2], i[5]};
    memcpy(node->inertia, symmetric, sizeof symmetric);
    const bool diagonal = i[1] == 0.0 && i[2] == 0.0 && i[5] == 0.0;
    node->inertia_form = !diagonal                      ? PERP_INERTIA_FULL
                         : i[0] == i[4] && i[4] == i[8] ? PERP_INERTIA_ISOTROPIC
                                                        : PERP_INERTIA_DIAGONAL;
}

static void set_node(const perp_model *model, int body, const int *body_node, perp_node *node)
{
    const perp_link *link = &model->links[body];
    node->link = *link;
    node->body = body;
    node->starts_tree = link->tree >= 0 && model->trees[link->tree].root == body;
    node->parent_node = link->tree >= 0 && !node->starts_tree ? body_node[link->parent] : -1;
    const perp_quat h = link->home.rotation;
    node->home_is_unrotated = h.w == 1.0 && h.x == 0.0 && h.y == 0.0 && h.z == 0.0;
    const perp_quat axis = {0.0, link->axis.x, link->axis.y, link->axis.z};
    node->axis_home = perp_quat_mul(axis, h);
    const bool rotates = link->motion == PERP_MOTION_REVOLUTE || link->motion == PERP_MOTION_SCREW ||
                         link->motion == PERP_MOTION_BALL || link->motion == PERP_MOTION_PLANAR;
    if (rotates) {
        node->offset = perp_quat_rotate(perp_quat_conjugate(h), perp_vec3_sub(link->home.position, link->anchor));
    }
    node->offset_is_zero = perp_vec3_is_zero(node->offset);
    node->com_is_zero = perp_vec3_is_zero(link->com);
    set_node_inertia(link, node);
}

static void set_span(const perp_model *model, const perp_node *nodes, int tree, perp_tree_span *span)
{
    const perp_node *root = &nodes[span->node_start];
    const bool single = span->node_end - span->node_start == 1;
    span->free_body = single && root->link.motion == PERP_MOTION_FLOATING && root->link.v_count == 6;
    span->free_planar = single && root->link.motion == PERP_MOTION_FLOATING_PLANAR && root->link.v_count == 3;
    for (int k = span->node_start; k < span->node_end; k++) {
        const int b = nodes[k].body;
        const int behind = nodes[k].link.v_start + nodes[k].link.v_count - model->trees[tree].v_start;
        /* On an unbranched tree every chain holds all degrees of freedom up to the body's own. */
        span->branched |= model->chain_start[b + 1] - model->chain_start[b] != behind;
        for (int d = nodes[k].link.v_start; d < nodes[k].link.v_start + nodes[k].link.v_count; d++) {
            span->has_armature |= model->armature[d] != 0.0;
        }
    }
}

/* Nodes for the bodies whose pose depends on q, constant poses for the others. */
static perp_status build_nodes(perp_arena *arena, perp_model *model, struct perp_model_memory *memory)
{
    const size_t n = (size_t)model->body_count;
    perp_node *nodes = PERP_ARENA_NEW(arena, perp_node, n);
    perp_tree_span *spans = PERP_ARENA_NEW(arena, perp_tree_span, (size_t)model->tree_count);
    int *body_node = PERP_ARENA_NEW(arena, int, n);
    perp_pose *constant = PERP_ARENA_NEW(arena, perp_pose, n);
    if (!nodes || !spans || !body_node || !constant) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    int count = 0;
    for (int k = 0; k < model->body_count; k++) {
        const int b = model->order[k];
        const perp_link *link = &model->links[b];
        const bool carried = link->parent >= 0 && body_node[link->parent] >= 0;
        if (link->q_count == 0 && !carried) {
            body_node[b] = -1;
            constant[b] = link->parent >= 0 ? perp_pose_mul(constant[link->parent], link->home) : link->home;
            continue;
        }
        body_node[b] = count;
        set_node(model, b, body_node, &nodes[count]);
        if (nodes[count].starts_tree) {
            spans[link->tree].node_start = count;
        }
        count++;
        if (link->tree >= 0) {
            spans[link->tree].node_end = count;
        }
    }
    for (int tree = 0; tree < model->tree_count; tree++) {
        set_span(model, nodes, tree, &spans[tree]);
    }
    memory->node_count = count;
    memory->nodes = nodes;
    memory->spans = spans;
    memory->body_node = body_node;
    memory->constant = constant;
    return PERP_STATUS_OK;
}

/* ---- loops ------------------------------------------------------------------------------------------------------*/

/* The relative rotations that weld loops keep: those of the initial state. */
static perp_status build_loops(const perp_scene *scene, perp_arena *arena, perp_model *model, perp_error *error)
{
    perp_quat *rotation = PERP_ARENA_NEW(arena, perp_quat, (size_t)scene->loop_count);
    if (!rotation) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    model->loop_rotation = rotation;
    bool any_weld = false;
    for (int i = 0; i < scene->loop_count; i++) {
        rotation[i] = perp_quat_identity();
        any_weld |= scene->loops[i].kind == PERP_LOOP_WELD;
    }
    if (!any_weld) {
        return PERP_STATUS_OK;
    }
    perp_state state;
    perp_kinematics *kinematics = NULL;
    perp_status status = perp_state_create(model, &arena->allocator, &state, error);
    if (status == PERP_STATUS_OK) {
        status = perp_kinematics_create(model, &arena->allocator, &kinematics, error);
        if (status == PERP_STATUS_OK) {
            perp_kinematics_update(model, state.q, kinematics);
            for (int i = 0; i < scene->loop_count; i++) {
                const perp_loop *loop = &scene->loops[i];
                const perp_quat a = kinematics->pose[loop->body_a].rotation,
                                b = kinematics->pose[loop->body_b].rotation;
                rotation[i] = perp_quat_mul(perp_quat_conjugate(a), b);
            }
        }
        perp_state_free(&state);
    }
    perp_kinematics_free(kinematics);
    return status;
}

/* ---- the model ------------------------------------------------------------------------------------------------- */

static perp_status fill_model(const perp_scene *scene, perp_model *model, perp_error *error)
{
    perp_arena *arena = &model->memory->arena;
    perp_link *links = PERP_ARENA_NEW(arena, perp_link, (size_t)scene->body_count);
    int *joint_body = PERP_ARENA_NEW(arena, int, (size_t)scene->joint_count);
    if (!links || !joint_body) {
        return out_of_memory(error);
    }
    for (int j = 0; j < scene->joint_count; j++) {
        joint_body[j] = scene->joints[j].child_body;
    }
    model->scene = scene;
    model->planar = scene->planar;
    model->body_count = scene->body_count;
    model->links = links;
    model->joint_body = joint_body;
    perp_status status = build_links(scene, links, error);
    if (status == PERP_STATUS_OK) {
        status = perp_model_lay_out(scene, arena, links, model, error);
    }
    if (status == PERP_STATUS_OK) {
        status = build_dofs(scene, arena, model);
    }
    if (status == PERP_STATUS_OK) {
        status = build_nodes(arena, model, model->memory);
    }
    if (status == PERP_STATUS_OK) {
        status = build_loops(scene, arena, model, error);
    }
    return status == PERP_STATUS_OUT_OF_MEMORY ? out_of_memory(error) : status;
}

perp_status perp_model_build(const perp_scene *scene, const perp_allocator *allocator, perp_model **model_out,
                             perp_error *error)
{
    assert(scene && model_out);
    *model_out = NULL;
    if (!scene->validated) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the scene was not validated: call perp_scene_validate first");
    }
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_model *model = PERP_ARENA_NEW(&arena, perp_model, 1);
    struct perp_model_memory *memory = PERP_ARENA_NEW(&arena, struct perp_model_memory, 1);
    if (!model || !memory) {
        perp_arena_clear(&arena);
        return out_of_memory(error);
    }
    memory->arena = arena;
    model->memory = memory;
    const perp_status status = fill_model(scene, model, error);
    if (status != PERP_STATUS_OK) {
        perp_model_free(model);
        return status;
    }
    *model_out = model;
    return PERP_STATUS_OK;
}

void perp_model_free(perp_model *model)
{
    if (model) {
        /* The arena's record lies in the arena itself: clear a copy. */
        perp_arena arena = model->memory->arena;
        perp_arena_clear(&arena);
    }
}
