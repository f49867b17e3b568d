#include "ode_world.h"

#include <ode/ode.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8 };

/* What a geom's data pointer points at. */
typedef struct owner {
    int body, weld, parent; /* weld: the body itself or the one that carries it; parent: weld of the joint's parent */
} owner;

struct ode_world {
    const perp_model *model;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies; /* by ours; NULL: none */
    perp_vec3 *back; /* by body: from the centre of mass to the origin, in the body's axes */
    owner *owners;   /* by body */
    double h, depth;
    int count;
};

static int weld_of(const perp_scene *scene, int body)
{
    while (body >= 0 && scene->bodies[body].joint >= 0 &&
           scene->joints[scene->bodies[body].joint].kind == PERP_JOINT_FIXED) {
        body = scene->joints[scene->bodies[body].joint].parent_body;
    }
    return body;
}

static owner owner_of(const perp_scene *scene, int body)
{
    const int weld = weld_of(scene, body), joint = weld < 0 ? -1 : scene->bodies[weld].joint;
    return (owner){body, weld, joint < 0 ? -1 : weld_of(scene, scene->joints[joint].parent_body)};
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static dGeomID make_geom(dSpaceID space, const perp_shape *shape)
{
    switch (shape->kind) {
    case PERP_SHAPE_SPHERE:
        return dCreateSphere(space, shape->radius);
    case PERP_SHAPE_BOX:
        return dCreateBox(space, shape->size.x, shape->size.y, shape->size.z);
    case PERP_SHAPE_CAPSULE:
        return dCreateCapsule(space, shape->radius, shape->length);
    case PERP_SHAPE_CYLINDER:
        return dCreateCylinder(space, shape->radius, shape->length);
    case PERP_SHAPE_PLANE: /* of a fixed body at the origin, as all planes of the benchmarks are */
        return dCreatePlane(space, shape->normal.x, shape->normal.y, shape->normal.z, shape->offset);
    default:
        return NULL;
    }
}

static bool add_shapes(ode_world *w, const perp_kinematics *kinematics, int body)
{
    const perp_body *b = &w->model->scene->bodies[body];
    for (int i = 0; i < b->shape_count; i++) {
        const perp_shape *shape = &b->shapes[i];
        dGeomID geom = make_geom(w->space, shape);
        if (!geom) {
            return false;
        }
        dGeomSetData(geom, &w->owners[body]);
        if (shape->kind == PERP_SHAPE_PLANE) {
            continue;
        }
        const perp_pose in_body = shape->pose.pose;
        if (w->bodies[body]) {
            const perp_vec3 at = perp_vec3_add(in_body.position, w->back[body]);
            const dQuaternion turn = {in_body.rotation.w, in_body.rotation.x, in_body.rotation.y, in_body.rotation.z};
            dGeomSetBody(geom, w->bodies[body]);
            dGeomSetOffsetPosition(geom, at.x, at.y, at.z);
            dGeomSetOffsetQuaternion(geom, turn);
        } else {
            const perp_pose pose = perp_pose_mul(kinematics->pose[body], in_body);
            const dQuaternion turn = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
            dGeomSetPosition(geom, pose.position.x, pose.position.y, pose.position.z);
            dGeomSetQuaternion(geom, turn);
        }
    }
    return true;
}

/* ---- bodies and joints ------------------------------------------------------------------------------------------- */

static void add_body(ode_world *w, const perp_kinematics *kinematics, int body)
{
    const perp_link *link = &w->model->links[body];
    const perp_pose pose = kinematics->pose[body];
    if (!(link->mass > 0.0) || w->model->scene->bodies[body].kind == PERP_BODY_FIXED) {
        return;
    }
    dMass mass;
    const double *m = link->inertia.m;
    const perp_vec3 centre = perp_pose_apply(pose, link->com);
    const dQuaternion turn = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
    dMassSetParameters(&mass, link->mass, 0, 0, 0, m[0], m[4], m[8], m[1], m[2], m[5]);
    w->bodies[body] = dBodyCreate(w->world);
    w->back[body] = perp_vec3_scale(-1.0, link->com);
    dBodySetMass(w->bodies[body], &mass);
    dBodySetPosition(w->bodies[body], centre.x, centre.y, centre.z);
    dBodySetQuaternion(w->bodies[body], turn);
}

/* The manual's implicit spring: ERP = h K / (h K + D), CFM = 1 / (h K + D), both stops at the command. */
static void add_joint(ode_world *w, const perp_kinematics *kinematics, int index)
{
    const perp_joint *joint = &w->model->scene->joints[index];
    const perp_pose parent = joint->parent_body >= 0 ? kinematics->pose[joint->parent_body] : perp_pose_identity();
    const perp_vec3 at = perp_pose_apply(parent, joint->anchor), axis = perp_quat_rotate(parent.rotation, joint->axis);
    dBodyID a = w->bodies[joint->child_body], b = joint->parent_body >= 0 ? w->bodies[joint->parent_body] : NULL;
    const double start = joint->position_set ? joint->position[0] : 0.0;
    const double target = joint->command_set ? perp_drive_value(&joint->command, 0.0) - start : 0.0;
    const double give = w->h * joint->stiffness + joint->damping;
    dJointID j;
    if (joint->kind == PERP_JOINT_REVOLUTE) {
        j = dJointCreateHinge(w->world, 0);
        dJointAttach(j, a, b);
        dJointSetHingeAnchor(j, at.x, at.y, at.z);
        dJointSetHingeAxis(j, axis.x, axis.y, axis.z);
    } else if (joint->kind == PERP_JOINT_PRISMATIC) {
        j = dJointCreateSlider(w->world, 0);
        dJointAttach(j, a, b);
        dJointSetSliderAxis(j, axis.x, axis.y, axis.z);
    } else {
        j = dJointCreateFixed(w->world, 0);
        dJointAttach(j, a, b);
        dJointSetFixed(j);
        return;
    }
    void (*const set)(dJointID, int, dReal) =
        joint->kind == PERP_JOINT_REVOLUTE ? dJointSetHingeParam : dJointSetSliderParam;
    if (joint->control == PERP_CONTROL_IMPEDANCE && give > 0.0) {
        set(j, dParamLoStop, target);
        set(j, dParamHiStop, target);
        set(j, dParamStopERP, w->h * joint->stiffness / give);
        set(j, dParamStopCFM, 1.0 / give);
    }
}

static bool fill(ode_world *w)
{
    const perp_model *model = w->model;
    perp_kinematics *kinematics = NULL;
    perp_state state = {0};
    bool ok = perp_kinematics_create(model, NULL, &kinematics, NULL) == PERP_STATUS_OK &&
              perp_state_create(model, NULL, &state, NULL) == PERP_STATUS_OK;
    if (ok) {
        perp_kinematics_update(model, state.q, kinematics);
    }
    for (int i = 0; ok && i < model->body_count; i++) {
        w->owners[i] = owner_of(model->scene, i);
        add_body(w, kinematics, i);
        ok = add_shapes(w, kinematics, i);
    }
    for (int i = 0; ok && i < model->scene->joint_count; i++) {
        add_joint(w, kinematics, i);
    }
    perp_state_free(&state);
    perp_kinematics_free(kinematics);
    return ok;
}

ode_world *ode_world_open(const perp_model *model, double h)
{
    const perp_vec3 gravity = model->scene->gravity;
    const size_t count = (size_t)model->body_count + 1;
    ode_world *w = calloc(1, sizeof *w);
    if (!w) {
        return NULL;
    }
    dInitODE2(0);
    *w = (ode_world){.model = model, .h = h};
    w->bodies = calloc(count, sizeof *w->bodies);
    w->back = calloc(count, sizeof *w->back);
    w->owners = calloc(count, sizeof *w->owners);
    w->world = dWorldCreate();
    w->space = dHashSpaceCreate(0);
    w->contacts = dJointGroupCreate(0);
    dWorldSetGravity(w->world, gravity.x, gravity.y, gravity.z);
    if (!w->bodies || !w->back || !w->owners || !fill(w)) {
        ode_world_close(w);
        return NULL;
    }
    return w;
}

void ode_world_close(ode_world *w)
{
    if (w) {
        dJointGroupDestroy(w->contacts);
        dSpaceDestroy(w->space);
        dWorldDestroy(w->world);
        free(w->bodies);
        free(w->back);
        free(w->owners);
        free(w);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void touch(void *context, dGeomID a, dGeomID b)
{
    ode_world *w = context;
    const owner *of_a = dGeomGetData(a), *of_b = dGeomGetData(b);
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if ((!body_a && !body_b) || of_a->weld == of_b->weld || of_a->parent == of_b->weld || of_b->parent == of_a->weld) {
        return;
    }
    dContact contacts[ROOM];
    memset(contacts, 0, sizeof contacts);
    const int count = dCollide(a, b, ROOM, &contacts[0].geom, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = w->model->scene->friction;
        w->depth = fmax(w->depth, contacts[i].geom.depth);
        dJointAttach(dJointCreateContact(w->world, w->contacts, &contacts[i]), body_a, body_b);
    }
    w->count += count;
}

int ode_world_step(ode_world *w, bool quick)
{
    w->count = 0;
    w->depth = 0.0;
    dSpaceCollide(w->space, w, touch);
    if (quick) {
        dWorldQuickStep(w->world, w->h);
    } else {
        dWorldStep(w->world, w->h);
    }
    dJointGroupEmpty(w->contacts);
    return w->count;
}

bool ode_world_position(const ode_world *w, int body, perp_vec3 *position)
{
    if (!w->bodies[body]) {
        return false;
    }
    dVector3 at;
    dBodyGetRelPointPos(w->bodies[body], w->back[body].x, w->back[body].y, w->back[body].z, at);
    *position = perp_vec3_make(at[0], at[1], at[2]);
    return true;
}

double ode_world_depth(const ode_world *w)
{
    return w->depth;
}
