#include "scene/drive.h"
#include "scene_view.h"

#include <perp/geometry_hull.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "scene_view: %s\n", what);
        exit(2);
    }
}

static void added(perp_status status)
{
    need(status == PERP_STATUS_OK, "out of memory");
}

static void *room(int count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    need(memory, "out of memory");
    return memory;
}

scene_view scene_view_identity(void)
{
    return (scene_view){.pose = {{1, 0, 0, 0}, {0, 0, 0}}};
}

int scene_view_body(const perp_scene *from, const scene_view *w, int index)
{
    return w->reversed ? from->body_count - 1 - index : index;
}

/* ---- vectors and poses ------------------------------------------------------------------------------------------- */

static perp_vec3 reflect(const scene_view *w, perp_vec3 a)
{
    return w->mirrored ? perp_vec3_make(-a.x, a.y, a.z) : a;
}

perp_vec3 scene_view_turn(const scene_view *w, perp_vec3 a)
{
    return perp_quat_rotate(w->pose.rotation, reflect(w, a));
}

/* A mirror turns the sense of rotations round. */
perp_vec3 scene_view_turn_axis(const scene_view *w, perp_vec3 a)
{
    return perp_vec3_scale(w->mirrored ? -1.0 : 1.0, scene_view_turn(w, a));
}

static perp_vec3 move(const scene_view *w, perp_vec3 a)
{
    return perp_vec3_add(scene_view_turn(w, a), w->pose.position);
}

/* A pose in a body's frame. */
static perp_pose reflect_pose(const scene_view *w, perp_pose pose)
{
    if (w->mirrored) {
        const perp_quat q = pose.rotation;
        pose.rotation = (perp_quat){q.w, q.x, -q.y, -q.z};
        pose.position = reflect(w, pose.position);
    }
    return pose;
}

perp_pose scene_view_pose(const scene_view *w, perp_pose pose)
{
    return perp_pose_mul(w->pose, reflect_pose(w, pose));
}

static double sign_of(const scene_view *w)
{
    return w->mirrored ? -1.0 : 1.0;
}

/* rad: of a view that turns about z, as those of planar scenes do. */
static double angle_of(const scene_view *w)
{
    return 2.0 * atan2(w->pose.rotation.z, w->pose.rotation.w);
}

static bool turns_about_z(const scene_view *w)
{
    return fabs(w->pose.rotation.x) + fabs(w->pose.rotation.y) < 1e-12;
}

static perp_placement reflect_placement(const scene_view *w, perp_placement placement)
{
    placement.pose = reflect_pose(w, placement.pose);
    placement.angle *= sign_of(w);
    placement.rpy_set = false;
    return placement;
}

static perp_placement move_placement(const scene_view *w, bool planar, perp_placement placement)
{
    placement = reflect_placement(w, placement);
    placement.pose = perp_pose_mul(w->pose, placement.pose);
    placement.angle += planar ? angle_of(w) : 0.0;
    return placement;
}

/* ---- drives ------------------------------------------------------------------------------------------------------ */

enum { MOST_SINES = 6, MOST_KNOTS = 16 };

/* What new drives point to, until the scene has copied them. */
typedef struct drive_room {
    perp_sine sines[6][MOST_SINES];
    double values[6][MOST_KNOTS];
} drive_room;

/* to += factor * drive. Tables that meet have the same times. */
static void add_drive(perp_drive *to, perp_sine *sines, double *values, double factor, const perp_drive *drive)
{
    if (fabs(factor) < 1e-12) { /* rounding of a quarter turn */
        return;
    }
    if (drive->knot_count > 0) {
        need(drive->knot_count <= MOST_KNOTS && to->rate == 0.0 && to->sine_count == 0, "drives that cannot be mixed");
        if (to->knot_count == 0) {
            *to = (perp_drive){.knot_count = drive->knot_count,
                               .times = drive->times,
                               .values = values,
                               .offset = to->offset,
                               .interpolation = drive->interpolation};
            memset(values, 0, (size_t)drive->knot_count * sizeof *values);
        }
        const size_t size = (size_t)drive->knot_count * sizeof *drive->times;
        need(to->knot_count == drive->knot_count && memcmp(to->times, drive->times, size) == 0 &&
                 to->interpolation == drive->interpolation,
             "drives whose tables have different times");
        for (int k = 0; k < drive->knot_count; k++) {
            values[k] += factor * drive->values[k];
        }
        return;
    }
    need(to->knot_count == 0 || perp_drive_is_constant(drive), "a table and a formula that the view mixes");
    to->offset += factor * drive->offset;
    to->rate += factor * drive->rate;
    for (int j = 0; j < drive->sine_count; j++) {
        need(to->sine_count < MOST_SINES, "too many sines");
        sines[to->sine_count] = drive->sines[j];
        sines[to->sine_count++].amplitude *= factor;
    }
    to->sines = sines;
}

/* A table has no offset of its own. */
static void finish_drive(perp_drive *drive, double *values)
{
    for (int k = 0; k < drive->knot_count; k++) {
        values[k] += drive->offset;
    }
    drive->offset = drive->knot_count > 0 ? 0.0 : drive->offset;
}

/* Three drives along axes that become `axes`, from `origin` on; into rows first .. first + 2 of `space`. */
static void mix_drives(const perp_vec3 axes[3], perp_vec3 origin, perp_drive drives[3], drive_room *space, int first)
{
    const double origins[3] = {origin.x, origin.y, origin.z};
    perp_drive mixed[3];
    for (int i = 0; i < 3; i++) {
        mixed[i] = (perp_drive){.offset = origins[i]};
        for (int k = 0; k < 3; k++) {
            const double factor = i == 0 ? axes[k].x : i == 1 ? axes[k].y : axes[k].z;
            add_drive(&mixed[i], space->sines[first + i], space->values[first + i], factor, &drives[k]);
        }
        finish_drive(&mixed[i], space->values[first + i]);
    }
    memcpy(drives, mixed, sizeof mixed);
}

/* How the view turns the three axes of vectors, or of rotations. */
static void axes_of(perp_vec3 (*turn)(const scene_view *, perp_vec3), const scene_view *w, perp_vec3 axes[3])
{
    axes[0] = turn(w, perp_vec3_make(1, 0, 0));
    axes[1] = turn(w, perp_vec3_make(0, 1, 0));
    axes[2] = turn(w, perp_vec3_make(0, 0, 1));
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

/* The drives of a body's place, mixed as the view mixes the axes; along those that have none it stays at its pose. */
static void move_place_drives(const scene_view *w, const perp_body *before, bool planar, drive_room *space,
                              perp_body *body)
{
    const perp_vec3 at = before->pose.pose.position;
    const double places[3] = {at.x, at.y, at.z};
    perp_vec3 axes[3];
    for (int k = 0; k < 3; k++) {
        if ((before->driven_mask >> k & 1u) == 0) {
            body->drives[k] = (perp_drive){.offset = places[k]};
        }
    }
    axes_of(scene_view_turn, w, axes);
    mix_drives(axes, w->pose.position, body->drives, space, 0);
    body->driven_mask |= PERP_COMPONENT_X | PERP_COMPONENT_Y | (planar ? 0u : (unsigned)PERP_COMPONENT_Z);
}

/* The drives of its rotation, R = Rz Ry Rx: a mirror turns ry and rz round, a turn about z adds to rz. */
static void move_turn_drives(const scene_view *w, const perp_body *before, bool planar, drive_room *space,
                             perp_body *body)
{
    double rpy[3] = {0, 0, 0};
    if ((before->driven_mask & (PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ)) == 0) {
        return;
    }
    need(turns_about_z(w), "a driven rotation, in a view that does not turn about z");
    if (!planar) {
        perp_body_driven_rpy(before, 0.0, 0.0, rpy);
    }
    for (int k = 3; k < 6; k++) {
        const double sign = k == 3 ? 1.0 : sign_of(w), more = k == 5 ? angle_of(w) : 0.0;
        body->pose.rpy[k - 3] = sign * rpy[k - 3] + more;
        if ((before->driven_mask >> k & 1u) != 0) {
            body->drives[k] = (perp_drive){.offset = more};
            add_drive(&body->drives[k], space->sines[k], space->values[k], sign, &before->drives[k]);
            finish_drive(&body->drives[k], space->values[k]);
        }
    }
    body->pose.rpy_set = !planar;
}

/* The corners of a polygon go round the other way in a mirror; a mesh is the hull of its corners. */
static perp_vec3 *reflect_shape(const scene_view *w, perp_shape *shape)
{
    const bool mesh = shape->kind == PERP_SHAPE_MESH;
    const int count = mesh ? shape->hull_point_count : shape->point_count;
    const perp_vec3 *corners = mesh ? shape->hull_points : shape->points;
    perp_vec3 *points = room(count, sizeof *points);
    shape->pose = reflect_placement(w, shape->pose);
    shape->normal = reflect(w, shape->normal);
    for (int k = 0; k < count; k++) {
        points[k] = reflect(w, corners[w->mirrored ? count - 1 - k : k]);
    }
    shape->points = points;
    shape->point_count = count;
    if (mesh) { /* scaled and read already */
        shape->scale = 1.0;
        shape->file = NULL;
        shape->hull_point_count = shape->hull_triangle_count = 0;
    }
    return points;
}

/* Components of the world's twist that are free: an axis is free in the view where it lies in the span of those that
 * were, which the view must take to others. */
static unsigned turn_mask(const scene_view *w, unsigned mask)
{
    unsigned turned = 0;
    perp_vec3 axes[3];
    axes_of(scene_view_turn, w, axes);
    for (int bit = 0; bit < 6; bit++) {
        double share = 0.0;
        for (int k = 0; k < 3; k++) {
            const double along = bit % 3 == 0 ? axes[k].x : bit % 3 == 1 ? axes[k].y : axes[k].z;
            share += (mask >> (bit - bit % 3 + k) & 1u) != 0 ? along * along : 0.0;
        }
        need(share < 1e-12 || share > 1.0 - 1e-12, "a body that is free along axes that the view does not keep");
        turned |= share > 0.5 ? 1u << bit : 0u;
    }
    return turned;
}

static void add_body(perp_scene *scene, const perp_scene *from, int index, const scene_view *w)
{
    perp_body body = from->bodies[index];
    const int count = body.shape_count;
    perp_shape *shapes = room(count, sizeof *shapes);
    perp_vec3 **points = room(count, sizeof *points);
    drive_room space;
    for (int i = 0; i < count; i++) {
        shapes[i] = body.shapes[w->reversed ? count - 1 - i : i];
        points[i] = reflect_shape(w, &shapes[i]);
    }
    body.shapes = shapes;
    body.com = reflect(w, body.com);
    if (body.inertia_count == 6) { /* Ixy, Ixz */
        body.inertia[3] *= sign_of(w);
        body.inertia[4] *= sign_of(w);
    }
    body.velocity.linear = scene_view_turn(w, body.velocity.linear);
    body.velocity.angular = scene_view_turn_axis(w, body.velocity.angular);
    const perp_joint *joint = body.joint >= 0 ? &from->joints[body.joint] : NULL;
    if (joint && !body.pose_set) {
        body.pose = perp_placement_default();
        body.pose.pose.position = joint->anchor;
    }
    const bool in_world = !joint || joint->parent_body < 0;
    const perp_body before = body;
    body.pose = in_world ? move_placement(w, from->planar, body.pose) : reflect_placement(w, body.pose);
    body.pose_set = true;
    if (body.kind == PERP_BODY_DRIVEN) {
        move_place_drives(w, &before, from->planar, &space, &body);
        move_turn_drives(w, &before, from->planar, &space, &body);
    }
    body.free_mask = body.free_set ? turn_mask(w, body.free_mask) : body.free_mask;
    added(perp_scene_add_body(scene, &body, NULL));
    for (int i = 0; i < count; i++) {
        free(points[i]);
    }
    free(points);
    free(shapes);
}

/* ---- the rest of the scene --------------------------------------------------------------------------------------- */

/* The joint's parent frame is the world's, which turns, or a body's, which turns with it. */
static void add_joint(perp_scene *scene, const perp_joint *from, const scene_view *w)
{
    perp_joint joint = *from;
    const bool in_world = joint.parent_body < 0;
    const bool turns = joint.kind == PERP_JOINT_REVOLUTE || joint.kind == PERP_JOINT_SCREW;
    const perp_vec3 axis = scene->planar && turns && !joint.axis_set ? perp_vec3_make(0, 0, 1) : joint.axis;
    const perp_vec3 seen = in_world ? scene_view_turn(w, axis) : reflect(w, axis);
    need(turns || joint.kind == PERP_JOINT_PRISMATIC || joint.kind == PERP_JOINT_FIXED, "a ball or planar joint");
    joint.anchor = in_world ? move(w, joint.anchor) : reflect(w, joint.anchor);
    joint.axis = perp_vec3_scale(turns ? sign_of(w) : 1.0, seen);
    joint.axis_set = joint.kind != PERP_JOINT_FIXED;
    joint.pitch *= sign_of(w);
    added(perp_scene_add_joint(scene, &joint, NULL));
}

static void add_force(perp_scene *scene, const perp_force *from, const scene_view *w)
{
    perp_force force = *from;
    drive_room space;
    scene_view in_body = scene_view_identity();
    perp_vec3 axes[3];
    in_body.mirrored = w->mirrored;
    const scene_view *own = force.in_body_frame ? &in_body : w;
    axes_of(scene_view_turn, own, axes);
    mix_drives(axes, perp_vec3_make(0, 0, 0), force.force, &space, 0);
    axes_of(scene_view_turn_axis, own, axes);
    mix_drives(axes, perp_vec3_make(0, 0, 0), force.torque, &space, 3);
    force.point = reflect(w, force.point);
    added(perp_scene_add_force(scene, &force, NULL));
}

static void add_pair(perp_scene *scene, const perp_scene *from, int i, int j, const scene_view *w)
{
    perp_pair pair = {.a = from->bodies[i].name, .b = from->bodies[j].name};
    bool stated = w->tangents && !from->planar;
    for (int k = 0; k < from->pair_count; k++) {
        if (from->pairs[k].body_a == i && from->pairs[k].body_b == j) {
            pair = from->pairs[k];
            stated = true;
        }
    }
    for (int k = 0; k < pair.direction_count; k++) {
        pair.directions[k] = scene_view_turn(w, pair.directions[k]);
    }
    if (w->tangents && !from->planar) {
        pair.tangent_set = true;
        pair.tangent = perp_vec3_make(0.8, 0.36, 0.48);
    }
    pair.tangent = scene_view_turn(w, pair.tangent);
    if (stated) {
        added(perp_scene_add_pair(scene, &pair, NULL));
    }
}

static void add_pairs(perp_scene *scene, const perp_scene *from, const scene_view *w)
{
    const int last = from->body_count - 1;
    for (int i = 0; i <= last; i++) {
        for (int j = i + 1; j <= last; j++) {
            add_pair(scene, from, w->reversed ? last - j : i, w->reversed ? last - i : j, w);
        }
    }
    for (int i = 0; i < from->exclusion_count; i++) {
        const perp_exclusion *e = &from->exclusions[i];
        added(perp_scene_add_exclusion(scene, e->a, e->b, NULL));
    }
}

/* Anchors are in the frame of a body, or of the world. */
static void add_loop(perp_scene *scene, const perp_loop *from, const scene_view *w)
{
    perp_loop loop = *from;
    loop.anchor_a = loop.body_a < 0 ? move(w, loop.anchor_a) : reflect(w, loop.anchor_a);
    loop.anchor_b = loop.body_b < 0 ? move(w, loop.anchor_b) : reflect(w, loop.anchor_b);
    added(perp_scene_add_loop(scene, &loop, NULL));
}

perp_scene *scene_view_make(const perp_scene *from, const scene_view *w)
{
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    memset(&diagnostics, 0, sizeof diagnostics);
    added(perp_scene_create(from->planar, NULL, &scene, NULL));
    scene->gravity = scene_view_turn(w, from->gravity);
    scene->margin = from->margin;
    scene->friction = from->friction;
    scene->compliance = from->compliance;
    scene->run = from->run;
    added(perp_scene_set_model(scene, from->run.model, NULL));
    for (int i = 0; i < from->body_count; i++) {
        add_body(scene, from, scene_view_body(from, w, i), w);
    }
    for (int i = 0; i < from->joint_count; i++) {
        add_joint(scene, &from->joints[w->reversed ? from->joint_count - 1 - i : i], w);
    }
    for (int i = 0; i < from->force_count; i++) {
        add_force(scene, &from->forces[w->reversed ? from->force_count - 1 - i : i], w);
    }
    for (int i = 0; i < from->loop_count; i++) {
        add_loop(scene, &from->loops[w->reversed ? from->loop_count - 1 - i : i], w);
    }
    add_pairs(scene, from, w);
    added(perp_scene_build_hulls(scene, NULL, NULL, &diagnostics));
    if (perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        fprintf(stderr, "scene_view: %s: %s\n", diagnostics.items[0].path, diagnostics.items[0].message);
        exit(2);
    }
    return scene;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* The components of a floating body's twist, in the order x y z rx ry rz, that are degrees of freedom; `v` has those.
 */
static void read_twist(const perp_link *link, const double *v, double twist[6])
{
    for (int k = 0, next = link->v_start; k < 6; k++) {
        twist[k] = (link->components >> k & 1u) != 0 ? v[next++] : 0.0;
    }
}

static void write_twist(const perp_link *link, const double twist[6], double *v)
{
    for (int k = 0, next = link->v_start; k < 6; k++) {
        if ((link->components >> k & 1u) != 0) {
            v[next++] = twist[k];
        }
    }
}

static void turn_twist(const scene_view *w, double t[6])
{
    const perp_vec3 linear = scene_view_turn(w, perp_vec3_make(t[0], t[1], t[2]));
    const perp_vec3 angular = scene_view_turn_axis(w, perp_vec3_make(t[3], t[4], t[5]));
    const double turned[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    memcpy(t, turned, sizeof turned);
}

static void move_link(const scene_view *w, const perp_link *link, const perp_state *from, const perp_link *other,
                      perp_state *to)
{
    const double *q = from->q + link->q_start;
    double *r = to->q + other->q_start, twist[6];
    if (link->motion == PERP_MOTION_FLOATING) {
        const perp_pose pose = scene_view_pose(w, (perp_pose){{q[3], q[4], q[5], q[6]}, {q[0], q[1], q[2]}});
        const double numbers[7] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w,
                                   pose.rotation.x, pose.rotation.y, pose.rotation.z};
        memcpy(r, numbers, sizeof numbers);
    } else if (link->motion == PERP_MOTION_FLOATING_PLANAR) {
        const perp_vec3 place = move(w, perp_vec3_make(q[0], q[1], 0.0));
        r[0] = place.x;
        r[1] = place.y;
        r[2] = sign_of(w) * q[2] + angle_of(w);
    } else {
        memcpy(r, q, (size_t)link->q_count * sizeof *q);
        memcpy(to->v + other->v_start, from->v + link->v_start, (size_t)link->v_count * sizeof *to->v);
        return;
    }
    read_twist(link, from->v, twist);
    turn_twist(w, twist);
    write_twist(other, twist, to->v);
}

void scene_view_state(const scene_view *w, const perp_model *model, const perp_state *from, const perp_model *other,
                      perp_state *to)
{
    to->t = from->t;
    for (int i = 0; i < model->body_count; i++) {
        move_link(w, &model->links[i], from, &other->links[scene_view_body(model->scene, w, i)], to);
    }
}
