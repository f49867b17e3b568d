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

static bool write_body(FILE *out, const perp_scene *scene, int b)
{
    const perp_body *body = &scene->bodies[b];
    const perp_joint *joint = body->joint >= 0 ? &scene->joints[body->joint] : NULL;
    perp_pose home = body->pose.pose;
    if (joint && !body->pose_set) {
        home = (perp_pose){perp_quat_identity(), joint->anchor};
    }
    fprintf(out, "<body name=\"b%d\"", b);
    write_vec3(out, "pos", home.position);
    write_quat(out, "quat", home.rotation);
    fprintf(out, ">\n");
    bool ok = write_inertial(out, body);
    if (joint) {
        write_joint(out, joint, home);
    } else if (body->kind != PERP_BODY_FIXED) {
        fprintf(out, "<freejoint/>\n");
    }
    for (int j = 0; ok && j < scene->joint_count; j++) {
        if (scene->joints[j].parent_body == b) {
            ok = write_body(out, scene, scene->joints[j].child_body);
        }
    }
    fprintf(out, "</body>\n");
    return ok;
}

char *scene_as_mjcf(const perp_scene *scene)
{
    assert(scene->validated && !scene->planar);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    /* njmax and nconmax are left small: without them MuJoCo's scratch grows with the square of the scene. */
    fprintf(out, "<mujoco>\n<compiler angle=\"radian\"/>\n<size njmax=\"1\" nconmax=\"1\" nstack=\"%d\"/>\n",
            100000 + 600 * scene->body_count);
    fprintf(out, "<option");
    write_vec3(out, "gravity", scene->gravity);
    fprintf(out, "/>\n<worldbody>\n");
    bool ok = true;
    for (int b = 0; ok && b < scene->body_count; b++) {
        const int joint = scene->bodies[b].joint;
        if (joint < 0 || scene->joints[joint].parent_body < 0) {
            ok = write_body(out, scene, b);
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
