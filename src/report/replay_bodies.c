#include "report/replay_header.h"
#include "report/tolerances.h"

#include "scene/shape_kinds.h"
#include "trace/json_maker.h"

static json_t *vector(perp_vec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return perp_json_reals(values, 3);
}

static json_t *vectors(const perp_vec3 *points, int count)
{
    json_t *array = json_array();
    for (int i = 0; array && i < count; i++) {
        array = perp_json_appended(array, vector(points[i]));
    }
    return array;
}

static void put_points(json_maker *m, const perp_shape *shape)
{
    int count;
    const perp_vec3 *corners = perp_shape_corners(shape, &count);
    if (count > 0) {
        perp_json_put(m, "points", vectors(corners, count));
    }
    if (shape->hull_triangle_count > 0) {
        json_t *triangles = json_array();
        for (int i = 0; triangles && i < 3 * shape->hull_triangle_count; i++) {
            triangles = perp_json_appended(triangles, json_integer(shape->hull_triangles[i]));
        }
        perp_json_put(m, "triangles", triangles);
    }
}

static json_t *shape_json(const perp_shape *shape)
{
    const perp_quat turn = shape->pose.pose.rotation;
    const double quat[4] = {turn.w, turn.x, turn.y, turn.z};
    json_maker m = perp_json_object();
    perp_json_put(&m, "kind", json_string(perp_shape_kind_name(shape->kind)));
    if (shape->name) {
        perp_json_put(&m, "name", json_string(shape->name));
    }
    perp_json_put(&m, "position", vector(shape->pose.pose.position));
    perp_json_put(&m, "quat", perp_json_reals(quat, 4));
    perp_json_put(&m, "radius", perp_json_real(shape->radius));
    perp_json_put(&m, "length", perp_json_real(shape->length));
    perp_json_put(&m, "size", vector(shape->size));
    perp_json_put(&m, "normal", vector(shape->normal));
    perp_json_put(&m, "offset", perp_json_real(shape->offset));
    put_points(&m, shape);
    return perp_json_finished(&m);
}

/* ---- skeletons --------------------------------------------------------------------------------------------------- */

/* Bodies that have no shapes are drawn as lines between the anchors of their joints and loops, so that an arm of which
 * only the hand has a shape is seen. Everything stands in the body's own frame, and moves with it. */

static bool is_bare(const perp_scene *scene, int body)
{
    return body >= 0 && scene->bodies[body].shape_count == 0;
}

static bool has_skeleton(const perp_scene *scene, const perp_joint *joint)
{
    return is_bare(scene, joint->parent_body) || is_bare(scene, joint->child_body);
}

/* The child in its parent at position 0. */
static perp_pose home_of(const perp_scene *scene, const perp_joint *joint)
{
    const perp_body *child = &scene->bodies[joint->child_body];
    return child->pose_set ? child->pose.pose : (perp_pose){perp_quat_identity(), joint->anchor};
}

/* Where the lines of a body begin: at the joint that moves it, else at its origin. */
static perp_vec3 start_of(const perp_scene *scene, int body)
{
    const int joint = scene->bodies[body].joint;
    return joint < 0
               ? perp_vec3_make(0.0, 0.0, 0.0)
               : perp_pose_apply(perp_pose_inverse(home_of(scene, &scene->joints[joint])), scene->joints[joint].anchor);
}

/* The line from the start to a point, six numbers; NULL without memory, and nothing where it has no length. */
static json_t *with_line(json_t *lines, perp_vec3 from, perp_vec3 to)
{
    const double ends[6] = {from.x, from.y, from.z, to.x, to.y, to.z};
    if (!lines || perp_vec3_norm(perp_vec3_sub(to, from)) < NO_SIZE) {
        return lines;
    }
    return perp_json_appended(lines, perp_json_reals(ends, 6));
}

static json_t *lines_json(const perp_scene *scene, int body)
{
    const perp_vec3 start = start_of(scene, body);
    json_t *lines = json_array();
    bool carries = false;
    for (int j = 0; j < scene->joint_count; j++) {
        const perp_joint *joint = &scene->joints[j];
        if (joint->parent_body == body && has_skeleton(scene, joint)) {
            lines = with_line(lines, start, joint->anchor);
            carries = true;
        }
    }
    for (int i = 0; i < scene->loop_count && is_bare(scene, body); i++) {
        const perp_loop *loop = &scene->loops[i];
        if (loop->body_a == body || loop->body_b == body) {
            lines = with_line(lines, start, loop->body_a == body ? loop->anchor_a : loop->anchor_b);
            carries = true;
        }
    }
    if (!carries && is_bare(scene, body)) {
        const perp_vec3 origin = {0.0, 0.0, 0.0}, com = scene->bodies[body].com;
        lines = with_line(lines, start, perp_vec3_norm(start) > NO_SIZE ? origin : com);
    }
    return lines;
}

/* The axis of the joint that moves a body, where it has one and is part of a skeleton; else null. */
static json_t *axis_json(const perp_scene *scene, int body)
{
    const int index = scene->bodies[body].joint;
    const perp_joint *joint = index >= 0 ? &scene->joints[index] : NULL;
    if (!joint || !has_skeleton(scene, joint) || joint->kind == PERP_JOINT_FIXED) {
        return json_null();
    }
    const perp_quat back = perp_quat_conjugate(home_of(scene, joint).rotation);
    json_maker m = perp_json_object();
    perp_json_put(&m, "kind", json_string(perp_joint_kind_name(joint->kind)));
    perp_json_put(&m, "at", vector(start_of(scene, body)));
    perp_json_put(&m, "along", vector(perp_quat_rotate(back, joint->axis)));
    return perp_json_finished(&m);
}

static const char *kind_of(const perp_body *body)
{
    static const char *const kinds[] = {
        [PERP_BODY_FREE] = "free", [PERP_BODY_FIXED] = "fixed", [PERP_BODY_DRIVEN] = "driven"};
    return body->joint >= 0 ? "jointed" : kinds[body->kind];
}

json_t *perp_replay_bodies(const replay_run *run)
{
    json_t *bodies = json_array();
    for (int i = 0; bodies && i < run->head->body_count; i++) {
        const perp_body *body = run->scene && i < run->scene->body_count ? &run->scene->bodies[i] : NULL;
        json_t *shapes = json_array();
        for (int k = 0; body && shapes && k < body->shape_count; k++) {
            shapes = perp_json_appended(shapes, shape_json(&body->shapes[k]));
        }
        json_maker m = perp_json_object();
        perp_json_put(&m, "name", json_string(run->head->bodies[i]));
        perp_json_put(&m, "kind", json_string(body ? kind_of(body) : "free"));
        perp_json_put(&m, "shapes", shapes);
        perp_json_put(&m, "lines", body ? lines_json(run->scene, i) : json_array());
        perp_json_put(&m, "axis", body ? axis_json(run->scene, i) : json_null());
        bodies = perp_json_appended(bodies, perp_json_finished(&m));
    }
    return bodies;
}
