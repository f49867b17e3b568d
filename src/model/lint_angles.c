/* lint_angles.c - angles that look like degrees.
 *
 * An angle beyond a turn that is a round number of degrees, a multiple of 5 or of 22.5 up to 720, is hardly one in
 * radians: a pose needs no more than a turn, and who counts turns writes multiples of pi. Of tables, where a wheel may
 * turn by 20 rad, every value has to look so. Drives of other kinds grow with time, and say nothing.
 */
#include "model/model_private.h"
#include "model/tolerances.h"
#include "scene/drive.h"

#include <stdio.h>

static const double pi = 3.14159265358979323846;

static bool is_multiple(double x, double unit)
{
    return fabs(x / unit - round(x / unit)) <= WHOLE_MULTIPLE;
}

static bool is_like_degrees(double x)
{
    const double turn = 2.0 * pi;
    return fabs(x) > turn && fabs(x) <= 720.0 && (is_multiple(x, 5.0) || is_multiple(x, 22.5));
}

static void look_at(const perp_scene *scene, perp_diagnostics *diagnostics, double x, const char *path)
{
    if (is_like_degrees(x)) {
        perp_scene_report(scene, diagnostics, PERP_SEVERITY_WARNING, path,
                          "%g rad are %.3g turns; angles are in radians: were degrees meant? %g degrees are %.10g", x,
                          x / (2.0 * pi), x, x * pi / 180.0);
    }
}

static void look_at_pose(const perp_scene *scene, perp_diagnostics *diagnostics, const perp_placement *pose,
                         const char *where)
{
    char path[300];
    for (int i = 0; i < 3 && pose->rpy_set; i++) {
        snprintf(path, sizeof path, "%s.pose.rpy.%d", where, i);
        look_at(scene, diagnostics, pose->rpy[i], path);
    }
    snprintf(path, sizeof path, "%s.pose.angle", where);
    look_at(scene, diagnostics, scene->planar ? pose->angle : 0.0, path);
}

static void look_at_drive(const perp_scene *scene, perp_diagnostics *diagnostics, const perp_drive *drive,
                          const char *where)
{
    char path[300];
    double largest = 0.0;
    int at = -1;
    for (int i = 0; i < drive->knot_count; i++) {
        if (drive->values[i] != 0.0 && !is_like_degrees(drive->values[i])) {
            return;
        }
        at = fabs(drive->values[i]) > largest ? i : at;
        largest = fmax(largest, fabs(drive->values[i]));
    }
    if (at >= 0) {
        snprintf(path, sizeof path, "%s.values.%d", where, at);
        look_at(scene, diagnostics, drive->values[at], path);
    } else if (perp_drive_is_constant(drive)) {
        look_at(scene, diagnostics, drive->offset, where);
    }
}

static void look_at_body(const perp_scene *scene, perp_diagnostics *diagnostics, const perp_body *body)
{
    static const char *const names[3] = {"rx", "ry", "rz"};
    char path[300];
    snprintf(path, sizeof path, "bodies.%s", body->name);
    look_at_pose(scene, diagnostics, &body->pose, path);
    for (int s = 0; s < body->shape_count; s++) {
        snprintf(path, sizeof path, "bodies.%s.shapes.%d", body->name, s);
        look_at_pose(scene, diagnostics, &body->shapes[s].pose, path);
    }
    for (int i = 0; i < 3; i++) {
        if (body->driven_mask & ((unsigned)PERP_COMPONENT_RX << i)) {
            snprintf(path, sizeof path, "bodies.%s.driven.%s", body->name, scene->planar ? "theta" : names[i]);
            look_at_drive(scene, diagnostics, &body->drives[3 + i], path);
        }
    }
}

static void look_at_joint(const perp_scene *scene, perp_diagnostics *diagnostics, const perp_joint *joint)
{
    char path[300];
    if (joint->kind != PERP_JOINT_REVOLUTE) {
        return;
    }
    snprintf(path, sizeof path, "joints.%s.position", joint->name);
    look_at(scene, diagnostics, joint->position_set ? joint->position[0] : 0.0, path);
    for (int i = 0; i < 2 && joint->limits_set; i++) {
        snprintf(path, sizeof path, "joints.%s.limits.%d", joint->name, i);
        look_at(scene, diagnostics, joint->limits[i], path);
    }
    if (joint->command_set) {
        snprintf(path, sizeof path, "joints.%s.command", joint->name);
        look_at_drive(scene, diagnostics, &joint->command, path);
    }
}

void perp_lint_angles(const perp_scene *scene, perp_diagnostics *diagnostics)
{
    for (int b = 0; b < scene->body_count; b++) {
        look_at_body(scene, diagnostics, &scene->bodies[b]);
    }
    for (int j = 0; j < scene->joint_count; j++) {
        look_at_joint(scene, diagnostics, &scene->joints[j]);
    }
}
