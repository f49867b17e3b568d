#include "base/mat3.h"
#include "scene_as_mjcf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* 17 digits, so that both sides start from the same bits. */
static void write_vec3(FILE *out, const char *key, perp_vec3 x)
{
    fprintf(out, " %s=\"%.17g %.17g %.17g\"", key, x.x, x.y, x.z);
}

static void write_quat(FILE *out, const char *key, perp_quat q)
{
    fprintf(out, " %s=\"%.17g %.17g %.17g %.17g\"", key, q.w, q.x, q.y, q.z);
}

/* Not as `fullinertia`: MuJoCo 2.2.2 diagonalises that to a relative 1e-6 only, a thousand times what we compare to. */
static void write_principal_axes(FILE *out, const perp_mat3 *inertia)
{
    double values[3];
    perp_mat3 axes;
    perp_mat3_symmetric_eigen(inertia, values, &axes);
    const double *m = axes.m;
    const perp_vec3 x = {m[0], m[3], m[6]}, y = {m[1], m[4], m[7]}, z = {m[2], m[5], m[8]};
    if (perp_vec3_dot(perp_vec3_cross(x, y), z) < 0.0) { /* a mirror image: turn one axis about */
        for (int row = 0; row < 3; row++) {
            axes.m[3 * row + 2] = -axes.m[3 * row + 2];
        }
    }
    write_quat(out, "quat", perp_quat_from_mat3(&axes));
    write_vec3(out, "diaginertia", perp_vec3_make(values[0], values[1], values[2]));
}

static bool write_inertial(FILE *out, const perp_body *body)
{
    perp_mass_properties p;
    if (perp_body_mass_properties(body, false, &p, NULL) != PERP_STATUS_OK) {
        return false;
    }
    if (p.mass == 0.0) {
        return true;
    }
    const double *i = p.inertia.m;
    fprintf(out, "<inertial mass=\"%.17g\"", p.mass);
    write_vec3(out, "pos", p.com);
    if (i[1] == 0.0 && i[2] == 0.0 && i[5] == 0.0) {
        write_vec3(out, "diaginertia", perp_vec3_make(i[0], i[4], i[8]));
    } else {
        write_principal_axes(out, &p.inertia);
    }
    fprintf(out, "/>\n");
    return true;
}

/* MJCF places joints in the child's frame, we in the parent's: `home` is the child in the parent at position 0. */
static void write_axis(FILE *out, const char *type, const perp_joint *joint, perp_pose home, perp_vec3 axis,
                       double armature)
{
    const perp_quat back = perp_quat_conjugate(home.rotation);
    fprintf(out, "<joint type=\"%s\" armature=\"%.17g\"", type, armature);
    write_vec3(out, "pos", perp_quat_rotate(back, perp_vec3_sub(joint->anchor, home.position)));
    write_vec3(out, "axis", perp_quat_rotate(back, axis));
    fprintf(out, "/>\n");
}

static void write_joint(FILE *out, const perp_joint *joint, perp_pose home)
{
    perp_vec3 t, o;
    const perp_vec3 any = {0.0, 0.0, 1.0};
    switch (joint->kind) {
    case PERP_JOINT_REVOLUTE:
        write_axis(out, "hinge", joint, home, joint->axis, joint->armature);
        break;
    case PERP_JOINT_PRISMATIC:
        write_axis(out, "slide", joint, home, joint->axis, joint->armature);
        break;
    case PERP_JOINT_SCREW: /* the armature counts once, on the angle */
        write_axis(out, "hinge", joint, home, joint->axis, joint->armature);
        write_axis(out, "slide", joint, home, joint->axis, 0.0);
        break;
    case PERP_JOINT_BALL:
        write_axis(out, "ball", joint, home, any, joint->armature);
        break;
    case PERP_JOINT_PLANAR:
        perp_tangents(joint->axis, &t, &o);
        write_axis(out, "slide", joint, home, t, joint->armature);
        write_axis(out, "slide", joint, home, o, joint->armature);
        write_axis(out, "hinge", joint, home, joint->axis, joint->armature);
        break;
    default:
        break;
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void write_pose(FILE *out, perp_pose pose)
{
    write_vec3(out, "pos", pose.position);
    write_quat(out, "quat", pose.rotation);
}

static void write_plane(FILE *out, const perp_shape *shape)
{
    const perp_pose pose = shape->pose.pose;
    const perp_vec3 point = perp_pose_apply(pose, perp_vec3_scale(shape->offset, shape->normal));
    fprintf(out, " type=\"plane\" size=\"0 0 1\"");
    write_vec3(out, "pos", point);
    write_vec3(out, "zaxis", perp_quat_rotate(pose.rotation, shape->normal));
}

/* MuJoCo gives half lengths where we give lengths. False: it has no such shape. */
static bool write_geom(FILE *out, const perp_shape *shape, int b, int i, double margin)
{
    fprintf(out, "<geom margin=\"%.17g\"", margin);
    switch (shape->kind) {
    case PERP_SHAPE_SPHERE:
        fprintf(out, " type=\"sphere\" size=\"%.17g\"", shape->radius);
        break;
    case PERP_SHAPE_BOX:
        fprintf(out, " type=\"box\"");
        write_vec3(out, "size", perp_vec3_scale(0.5, shape->size));
        break;
    case PERP_SHAPE_CAPSULE:
    case PERP_SHAPE_CYLINDER:
        fprintf(out, " type=\"%s\" size=\"%.17g %.17g\"", shape->kind == PERP_SHAPE_CAPSULE ? "capsule" : "cylinder",
                shape->radius, 0.5 * shape->length);
        break;
    case PERP_SHAPE_ELLIPSOID:
        fprintf(out, " type=\"ellipsoid\"");
        write_vec3(out, "size", shape->size);
        break;
    case PERP_SHAPE_MESH:
        fprintf(out, " type=\"mesh\" mesh=\"m%d_%d\"", b, i);
        break;
    case PERP_SHAPE_PLANE:
        write_plane(out, shape);
        break;
    default:
        return false;
    }
    if (shape->kind != PERP_SHAPE_PLANE) {
        write_pose(out, shape->pose.pose);
    }
    fprintf(out, "/>\n");
    return true;
}

static bool write_geoms(FILE *out, const perp_scene *scene, int b)
{
    bool ok = true;
    for (int i = 0; ok && i < scene->bodies[b].shape_count; i++) {
        ok = write_geom(out, &scene->bodies[b].shapes[i], b, i, scene->margin);
    }
    return ok;
}

static void write_meshes(FILE *out, const perp_scene *scene)
{
    fprintf(out, "<asset>\n");
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            const perp_shape *shape = &scene->bodies[b].shapes[i];
            if (shape->kind == PERP_SHAPE_MESH) {
                fprintf(out, "<mesh name=\"m%d_%d\" vertex=\"", b, i);
                for (int k = 0; k < shape->hull_point_count; k++) {
                    const perp_vec3 p = shape->hull_points[k];
                    fprintf(out, "%.17g %.17g %.17g ", p.x, p.y, p.z);
                }
                fprintf(out, "\"/>\n");
            }
        }
    }
    fprintf(out, "</asset>\n");
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static bool write_body(FILE *out, const perp_scene *scene, int b, bool shapes)
{
    const perp_body *body = &scene->bodies[b];
    const perp_joint *joint = body->joint >= 0 ? &scene->joints[body->joint] : NULL;
    perp_pose home = body->pose.pose;
    if (joint && !body->pose_set) {
        home = (perp_pose){perp_quat_identity(), joint->anchor};
    }
    fprintf(out, "<body name=\"b%d\"", b);
    write_pose(out, home);
    fprintf(out, ">\n");
    bool ok = write_inertial(out, body) && (!shapes || write_geoms(out, scene, b));
    if (joint) {
        write_joint(out, joint, home);
    } else if (body->kind != PERP_BODY_FIXED) {
        fprintf(out, "<freejoint/>\n");
    }
    for (int j = 0; ok && j < scene->joint_count; j++) {
        if (scene->joints[j].parent_body == b) {
            ok = write_body(out, scene, scene->joints[j].child_body, shapes);
        }
    }
    fprintf(out, "</body>\n");
    return ok;
}

/* njmax is left small, and so is nconmax where nothing collides: without them MuJoCo's scratch grows with the square of
 * the scene. Its search for pairs of bodies takes scratch for all of them, whatever it finds. */
static void write_sizes(FILE *out, const perp_scene *scene, bool shapes)
{
    const long long bodies = scene->body_count;
    const long long pairs = shapes ? (bodies + 2) * (bodies + 1) / 2 : 0, contacts = shapes ? 1000 + 24 * bodies : 1;
    fprintf(out, "<size njmax=\"1\" nconmax=\"%lld\" nstack=\"%lld\"/>\n", contacts, 100000 + 600 * bodies + pairs);
}

static char *write_scene(const perp_scene *scene, bool shapes)
{
    assert(scene->validated && !scene->planar);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "<mujoco>\n<compiler angle=\"radian\" inertiafromgeom=\"%s\"/>\n", shapes ? "false" : "auto");
    write_sizes(out, scene, shapes);
    fprintf(out, "<option");
    write_vec3(out, "gravity", scene->gravity);
    fprintf(out, "/>\n");
    if (shapes) {
        write_meshes(out, scene);
    }
    fprintf(out, "<worldbody>\n");
    bool ok = true;
    for (int b = 0; ok && b < scene->body_count; b++) {
        const int joint = scene->bodies[b].joint;
        if (joint < 0 || scene->joints[joint].parent_body < 0) {
            ok = write_body(out, scene, b, shapes);
        }
    }
    fprintf(out, "</worldbody>\n</mujoco>\n");
    ok = !ferror(out) && ok;
    if (fclose(out) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}

char *scene_as_mjcf(const perp_scene *scene)
{
    return write_scene(scene, false);
}

char *scene_as_mjcf_with_shapes(const perp_scene *scene)
{
    return write_scene(scene, true);
}
