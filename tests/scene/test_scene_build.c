/* Scenes built in C: copying, resolving, and every rule of validation.
 *
 * A rule is a function that builds a scene which breaks it (`bad`) or only just keeps it, and the one complaint that
 * the broken scene gets: its path and words of its message. The accepted scene must get none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <perp/scene.h>

#include "scene/scene_memory.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static perp_diagnostics diagnostics;

static perp_status validate(perp_scene *scene)
{
    memset(&diagnostics, 0, sizeof diagnostics);
    return perp_scene_validate(scene, &diagnostics);
}

static perp_scene *new_scene(bool planar)
{
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_create(planar, NULL, &scene, NULL), PERP_STATUS_OK);
    return scene;
}

static void add_body(perp_scene *s, perp_body body)
{
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

static void add_joint(perp_scene *s, perp_joint joint)
{
    assert_int_equal(perp_scene_add_joint(s, &joint, NULL), PERP_STATUS_OK);
}

static void add_loop(perp_scene *s, perp_loop loop)
{
    assert_int_equal(perp_scene_add_loop(s, &loop, NULL), PERP_STATUS_OK);
}

static void add_force(perp_scene *s, perp_force force)
{
    assert_int_equal(perp_scene_add_force(s, &force, NULL), PERP_STATUS_OK);
}

static void add_pair(perp_scene *s, perp_pair pair)
{
    assert_int_equal(perp_scene_add_pair(s, &pair, NULL), PERP_STATUS_OK);
}

static perp_shape shape_of(perp_shape_kind kind)
{
    static const perp_vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const perp_shape shape = {.kind = kind,
                              .pose = perp_placement_default(),
                              .radius = 0.1,
                              .length = 0.2,
                              .size = {0.1, 0.2, 0.3},
                              .normal = {0, 1, 0},
                              .point_count = kind == PERP_SHAPE_MESH      ? 4
                                             : kind == PERP_SHAPE_POLYGON ? 3
                                                                          : 0,
                              .points = corners,
                              .scale = 1.0};
    return shape;
}

/* A free body with mass and inertia, so that nothing else of it is at fault. */
static perp_body sound_body(const perp_scene *s, const char *name)
{
    perp_body body = perp_body_default(name);
    body.mass = perp_set(1.0);
    body.inertia_count = s->planar ? 1 : 3;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.1;
    return body;
}

static perp_body fixed_body(const char *name)
{
    perp_body body = perp_body_default(name);
    body.kind = PERP_BODY_FIXED;
    return body;
}

static void add_shape(perp_scene *s, perp_shape shape)
{
    perp_body body = sound_body(s, "cup");
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(s, body);
}

/* A joint called `hinge` from the world to a massless body called `arm`. */
static perp_joint hinge_of(perp_joint_kind kind)
{
    perp_joint joint = perp_joint_default("hinge", kind);
    joint.child = "arm";
    joint.axis_set = kind != PERP_JOINT_BALL && kind != PERP_JOINT_FIXED;
    joint.axis = joint.axis_set ? perp_vec3_make(0, 0, 1) : perp_vec3_make(0, 0, 0);
    joint.pitch = kind == PERP_JOINT_SCREW ? 0.1 : 0.0;
    return joint;
}

static void add_hinge(perp_scene *s, perp_joint joint)
{
    add_body(s, perp_body_default("arm"));
    add_joint(s, joint);
}

static void add_two(perp_scene *s)
{
    add_body(s, sound_body(s, "cup"));
    add_body(s, sound_body(s, "pot"));
}

static perp_pair pair_of(const char *a, const char *b)
{
    const perp_pair pair = {.a = a, .b = b};
    return pair;
}

#define RULE(id) static void id(perp_scene *s, bool bad)

/* ---- numbers, drives, names -------------------------------------------------------------------------------------- */

RULE(gravity_finite)
{
    s->gravity.x = bad ? NAN : -1e50;
}
RULE(friction_finite)
{
    s->friction = bad ? INFINITY : 1e50;
}
RULE(friction_large)
{
    s->friction = bad ? 1.001e50 : 1e50; /* no number of this world is larger */
}
RULE(gravity_large)
{
    s->gravity.y = bad ? -1.001e50 : -1e50;
}
RULE(friction_sign)
{
    s->friction = bad ? -1e-300 : 0.0;
}
RULE(margin_sign)
{
    s->margin = bad ? -1e-9 : 0.0;
}

static void add_driven(perp_scene *s, perp_drive drive)
{
    perp_body body = perp_body_default("cup");
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = PERP_COMPONENT_Y;
    body.drives[1] = drive;
    add_body(s, body);
}

RULE(drive_offset)
{
    add_driven(s, (perp_drive){.offset = bad ? NAN : 1e10});
}
RULE(drive_rate)
{
    add_driven(s, (perp_drive){.rate = bad ? -INFINITY : 1e10});
}
static void add_sines(perp_scene *s, perp_sine sine)
{
    const perp_sine sines[2] = {{1, 1, 1}, sine};
    add_driven(s, (perp_drive){.sine_count = 2, .sines = sines});
}
RULE(sine_amplitude)
{
    add_sines(s, (perp_sine){bad ? NAN : 0, 1, 1});
}
RULE(sine_omega)
{
    add_sines(s, (perp_sine){1, bad ? INFINITY : 0, 1});
}
RULE(sine_phase)
{
    add_sines(s, (perp_sine){1, 1, bad ? NAN : 0});
}
static void add_table(perp_scene *s, double time, double value, perp_interpolation interpolation)
{
    const double times[] = {0, 1, time}, values[] = {0, 1, value};
    add_driven(s, (perp_drive){.knot_count = 3, .times = times, .values = values, .interpolation = interpolation});
}
RULE(table_time_finite)
{
    add_table(s, bad ? INFINITY : 1e9, 0, PERP_INTERPOLATE_LINEAR);
}
RULE(table_times_increase)
{
    add_table(s, bad ? 1.0 : nextafter(1.0, 2.0), 0, PERP_INTERPOLATE_LINEAR);
}
RULE(table_value_finite)
{
    add_table(s, 2, bad ? NAN : -1e9, PERP_INTERPOLATE_CUBIC);
}
RULE(table_steep)
{
    /* Slopes of 1e45 are numbers; what the spline makes of a distance of 1e-160 is not. */
    const double times[] = {0, 1e-160, 1}, values[] = {0, 1e-115, 0};
    add_driven(s, (perp_drive){.knot_count = 3,
                               .times = times,
                               .values = values,
                               .interpolation = bad ? PERP_INTERPOLATE_CUBIC : PERP_INTERPOLATE_LINEAR});
}
RULE(table_rises)
{
    const double times[] = {0, bad ? 0.9e-50 : 1.1e-50}, values[] = {0, 1};
    add_driven(s, (perp_drive){.knot_count = 2, .times = times, .values = values});
}
RULE(command_drive)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.control = PERP_CONTROL_POSITION;
    joint.command_set = true;
    joint.command.rate = bad ? NAN : 1.0;
    add_hinge(s, joint);
}

RULE(body_needs_name)
{
    add_body(s, sound_body(s, bad ? NULL : "a"));
}
RULE(body_name_empty)
{
    add_body(s, sound_body(s, bad ? "" : "-"));
}
RULE(body_name_world)
{
    add_body(s, sound_body(s, bad ? "world" : "World"));
}
static const char long_name[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                                "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"; /* 128 */
RULE(body_name_long)
{
    add_body(s, sound_body(s, bad ? long_name : long_name + 1));
}
RULE(body_name_utf8)
{
    add_body(s, sound_body(s, bad ? "cup\xff" : "Tasse\xc3\x9f\xe2\x82\xac"));
}
RULE(joint_name)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = bad ? "a b" : "a_b";
    add_hinge(s, joint);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

RULE(shape_type)
{
    add_shape(s, shape_of(bad ? PERP_SHAPE_NONE : PERP_SHAPE_POINT));
}
RULE(shape_type_range)
{
    add_shape(s, shape_of(bad ? PERP_SHAPE_COUNT : PERP_SHAPE_HOLE));
}
RULE(shape_friction)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.friction = perp_set(bad ? -0.1 : 0.0);
    add_shape(s, shape);
}
RULE(shape_density)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    perp_body body = fixed_body("cup");
    shape.density = perp_set(bad ? -0.1 : 0.0);
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(s, body);
}
RULE(shape_position)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.pose.position.y = bad ? NAN : 1e9;
    add_shape(s, shape);
}
RULE(shape_quaternion)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.pose.rotation = (perp_quat){bad ? 1.011 : 1 + 1e-7, 0, 0, 0};
    add_shape(s, shape);
}
RULE(shape_angle)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.pose.angle = bad ? INFINITY : 1e6;
    add_shape(s, shape);
}
RULE(sphere_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_SPHERE);
    shape.radius = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(disc_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_DISC);
    shape.radius = bad ? NAN : 1e-9;
    add_shape(s, shape);
}
RULE(capsule_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_CAPSULE);
    shape.radius = bad ? -1.0 : 1e-9;
    add_shape(s, shape);
}
RULE(capsule_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_CAPSULE);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(cylinder_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_CYLINDER);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(hole_radius)
{
    perp_shape shape = shape_of(PERP_SHAPE_HOLE);
    shape.radius = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(hole_length)
{
    perp_shape shape = shape_of(PERP_SHAPE_HOLE);
    shape.length = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(box_size)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size.y = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(box_depth)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.size.z = bad ? -1.0 : 1e-9;
    add_shape(s, shape);
}
RULE(ellipsoid_size)
{
    perp_shape shape = shape_of(PERP_SHAPE_ELLIPSOID);
    shape.size.x = bad ? INFINITY : 1e9;
    add_shape(s, shape);
}
RULE(plane_normal)
{
    perp_shape shape = shape_of(PERP_SHAPE_PLANE);
    shape.normal = perp_vec3_make(0, bad ? 0 : 1e-200, 0);
    add_shape(s, shape);
}
RULE(halfplane_normal)
{
    perp_shape shape = shape_of(PERP_SHAPE_HALFPLANE);
    shape.normal.x = bad ? NAN : 3.0;
    add_shape(s, shape);
}
RULE(plane_offset)
{
    perp_shape shape = shape_of(PERP_SHAPE_PLANE);
    shape.offset = bad ? INFINITY : -1e9;
    add_shape(s, shape);
}
RULE(mesh_scale)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.scale = bad ? 0.0 : 1e-9;
    add_shape(s, shape);
}
RULE(mesh_points_and_file)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.file = "part.obj";
    shape.point_count = bad ? 4 : 0;
    add_shape(s, shape);
}
RULE(mesh_few_points)
{
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.point_count = bad ? 3 : 4;
    add_shape(s, shape);
}
RULE(mesh_point_finite)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, bad ? NAN : 2}};
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.points = points;
    add_shape(s, shape);
}

static void add_polygon(perp_scene *s, const perp_vec3 *points, int count)
{
    perp_shape shape = shape_of(PERP_SHAPE_POLYGON);
    shape.points = points;
    shape.point_count = count;
    add_shape(s, shape);
}
RULE(polygon_few)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    add_polygon(s, points, bad ? 2 : 3);
}
RULE(polygon_many)
{
    static perp_vec3 points[2001];
    const int n = bad ? 2001 : 2000;
    for (int i = 0; i < n; i++) {
        points[i] = perp_vec3_make(cos(6.283185307179586 * i / n), sin(6.283185307179586 * i / n), 0);
    }
    add_polygon(s, points, n);
}
RULE(polygon_finite)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, bad ? INFINITY : 5, 0}};
    add_polygon(s, points, 3);
}
RULE(polygon_repeats)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {1, bad ? 0 : 1e-9, 0}, {0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_folds)
{
    /* straight on through a corner is harmless, back along the edge is not */
    const perp_vec3 points[] = {{0, 0, 0}, {2, 0, 0}, {bad ? 1 : 3, 0, 0}, {0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_crosses)
{
    const perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {bad ? 0 : 1, 1, 0}, {bad ? 1 : 0, 1, 0}};
    add_polygon(s, points, 4);
}
RULE(polygon_touches)
{
    const perp_vec3 points[] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, bad ? 0 : 1e-9, 0}, {0, 1, 0}};
    add_polygon(s, points, 5);
}
RULE(polygon_area)
{
    const double tiny = bad ? 1e-200 : 1e-100; /* whose products are zero */
    const perp_vec3 points[] = {{0, 0, 0}, {tiny, 0, 0}, {0, tiny, 0}};
    add_polygon(s, points, 3);
}

/* ---- mass -------------------------------------------------------------------------------------------------------- */

RULE(mass_sign)
{
    perp_body body = fixed_body("cup");
    body.mass = perp_set(bad ? -1.0 : 0.0);
    add_body(s, body);
}
RULE(density_sign)
{
    perp_body body = fixed_body("cup");
    body.density = perp_set(bad ? -1.0 : 0.0);
    add_body(s, body);
}
RULE(mass_and_density)
{
    perp_body body = sound_body(s, "cup");
    body.density = (perp_optional){bad, 1.0};
    add_body(s, body);
}
RULE(mass_and_shape_density)
{
    perp_shape shape = shape_of(PERP_SHAPE_BOX);
    shape.density = (perp_optional){bad, 1.0};
    add_shape(s, shape);
}
RULE(inertia_without_mass)
{
    perp_body body = fixed_body("cup");
    body.mass = (perp_optional){!bad, 0.0};
    body.inertia_count = s->planar ? 1 : 3;
    add_body(s, body);
}
RULE(com_finite)
{
    perp_body body = sound_body(s, "cup");
    body.com_set = true;
    body.com.y = bad ? NAN : 1.0;
    add_body(s, body);
}
RULE(inertia_count)
{
    perp_body body = sound_body(s, "cup");
    body.inertia_count = bad ? 4 : 6;
    add_body(s, body);
}
RULE(inertia_count_planar)
{
    perp_body body = sound_body(s, "cup");
    body.inertia_count = bad ? 3 : 1;
    add_body(s, body);
}
RULE(inertia_finite)
{
    perp_body body = sound_body(s, "cup");
    body.inertia_count = 6;
    body.inertia[5] = bad ? NAN : 0.01;
    add_body(s, body);
}
RULE(inertia_planar_sign)
{
    perp_body body = sound_body(s, "cup");
    body.inertia[0] = bad ? -1e-9 : 1e-9;
    add_body(s, body);
}
RULE(inertia_positive)
{
    perp_body body = fixed_body("cup");
    body.mass = perp_set(1.0);
    body.inertia_count = 3;
    body.inertia[0] = body.inertia[1] = 1.0;
    body.inertia[2] = bad ? -1e-3 : 0.0; /* a needle along z */
    add_body(s, body);
}
RULE(inertia_products)
{
    perp_body body = sound_body(s, "cup");
    body.inertia_count = 6;
    body.inertia[3] = bad ? 0.11 : 0.049; /* moments 0.1 -+ Ixy, 0.1: negative beyond 0.1; a + b < c beyond 0.05 */
    add_body(s, body);
}
RULE(inertia_triangle)
{
    perp_body body = sound_body(s, "cup");
    body.inertia[0] = body.inertia[1] = 1.0;
    body.inertia[2] = bad ? 2.0001 : 2.0000005; /* a flat part, to the digits that people write */
    add_body(s, body);
}
RULE(free_needs_mass)
{
    perp_body body = perp_body_default("cup");
    body.free_set = true;
    body.free_mask = PERP_COMPONENT_X;
    body.mass = (perp_optional){!bad, 1e-9};
    add_body(s, body);
}
RULE(free_zero_mass)
{
    perp_body body = sound_body(s, "cup");
    body.mass = perp_set(bad ? 0.0 : 1e-9);
    add_body(s, body);
}
RULE(turning_needs_inertia)
{
    perp_body body = perp_body_default("cup"); /* a point mass */
    body.mass = perp_set(1.0);
    body.free_set = !bad;
    body.free_mask = bad ? PERP_COMPONENT_ALL : PERP_COMPONENT_X | PERP_COMPONENT_Y | PERP_COMPONENT_Z;
    add_body(s, body);
}
/* A needle along the body's z, laid along the world's x, may not turn about x, but about y and z it may. */
RULE(turning_needs_inertia_about_its_axis)
{
    perp_body body = sound_body(s, "cup");
    body.inertia[2] = 0.0;
    body.free_set = true;
    body.free_mask = PERP_COMPONENT_X | (unsigned)(bad ? PERP_COMPONENT_RX : PERP_COMPONENT_RY | PERP_COMPONENT_RZ);
    body.pose.pose.rotation = (perp_quat){0.5, 0.5, 0.5, 0.5}; /* x to y, y to z, z to x, exactly */
    add_body(s, body);
}
RULE(mesh_needs_inertia)
{
    const perp_shape shape = shape_of(PERP_SHAPE_MESH);
    perp_body body = sound_body(s, "cup");
    body.shapes = &shape;
    body.shape_count = 1;
    body.inertia_count = bad ? 0 : 3;
    add_body(s, body);
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

RULE(body_position)
{
    perp_body body = sound_body(s, "cup");
    body.pose.pose.position.x = bad ? NAN : 1e9;
    add_body(s, body);
}
RULE(body_quaternion)
{
    perp_body body = sound_body(s, "cup");
    body.pose.pose.rotation = (perp_quat){0, bad ? 0 : -1, 0, 0};
    add_body(s, body);
}
RULE(body_rpy)
{
    perp_body body = sound_body(s, "cup");
    body.pose.rpy_set = true;
    body.pose.rpy[1] = bad ? NAN : 20.0;
    add_body(s, body);
}
RULE(body_angle)
{
    perp_body body = sound_body(s, "cup");
    body.pose.angle = bad ? NAN : -1e6;
    add_body(s, body);
}
RULE(driven_out_of_plane)
{
    perp_body body = perp_body_default("cup");
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = bad ? PERP_COMPONENT_Z : PERP_COMPONENT_PLANAR;
    add_body(s, body);
}
RULE(driven_theta)
{
    perp_body body = perp_body_default("cup");
    body.kind = PERP_BODY_DRIVEN;
    body.driven_mask = PERP_COMPONENT_RZ;
    body.drives[5].offset = bad ? NAN : 50.0;
    add_body(s, body);
}
RULE(free_on_fixed)
{
    perp_body body = fixed_body("cup");
    body.free_set = bad;
    add_body(s, body);
}
RULE(free_on_driven)
{
    perp_body body = perp_body_default("cup");
    body.kind = PERP_BODY_DRIVEN;
    body.free_set = bad;
    add_body(s, body);
}
RULE(velocity_of_fixed)
{
    perp_body body = fixed_body("cup");
    body.velocity_set = bad;
    add_body(s, body);
}
RULE(velocity_of_jointed)
{
    perp_body body = perp_body_default("arm");
    body.velocity_set = bad;
    add_body(s, body);
    add_joint(s, hinge_of(PERP_JOINT_REVOLUTE));
}
RULE(velocity_finite)
{
    perp_body body = sound_body(s, "cup");
    body.velocity_set = true;
    body.velocity.linear.x = bad ? NAN : 1e9;
    add_body(s, body);
}
RULE(velocity_angular_finite)
{
    perp_body body = sound_body(s, "cup");
    body.velocity_set = true;
    body.velocity.angular.z = bad ? INFINITY : 1e9;
    add_body(s, body);
}
RULE(velocity_locked)
{
    perp_body body = sound_body(s, "cup");
    body.velocity_set = true;
    body.free_set = true;
    body.free_mask = PERP_COMPONENT_X | PERP_COMPONENT_RZ;
    body.velocity.linear.y = bad ? 1e-9 : 0.0;
    body.velocity.angular.z = 1.0;
    add_body(s, body);
}
RULE(velocity_out_of_plane)
{
    perp_body body = sound_body(s, "cup");
    body.velocity_set = true;
    body.velocity.angular.x = bad ? 1.0 : 0.0;
    body.velocity.angular.z = 1.0;
    add_body(s, body);
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

RULE(joint_type)
{
    perp_joint joint = hinge_of(PERP_JOINT_FIXED);
    joint.kind = bad ? PERP_JOINT_NONE : PERP_JOINT_FIXED;
    add_hinge(s, joint);
}
RULE(ball_in_plane)
{
    add_hinge(s, hinge_of(bad ? PERP_JOINT_BALL : PERP_JOINT_PLANAR));
}
RULE(screw_in_plane)
{
    add_hinge(s, hinge_of(bad ? PERP_JOINT_SCREW : PERP_JOINT_REVOLUTE));
}
RULE(joint_anchor)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.anchor.x = bad ? NAN : 5.0;
    add_hinge(s, joint);
}
RULE(ball_axis)
{
    perp_joint joint = hinge_of(PERP_JOINT_BALL);
    joint.axis_set = bad;
    add_hinge(s, joint);
}
RULE(fixed_axis)
{
    perp_joint joint = hinge_of(PERP_JOINT_FIXED);
    joint.axis_set = bad;
    add_hinge(s, joint);
}
RULE(joint_needs_axis)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.axis_set = !bad;
    add_hinge(s, joint);
}
RULE(prismatic_needs_axis_in_plane)
{
    perp_joint joint = hinge_of(PERP_JOINT_PRISMATIC);
    joint.axis_set = !bad;
    joint.axis = perp_vec3_make(1, 0, 0);
    add_hinge(s, joint);
}
RULE(axis_zero)
{
    perp_joint joint = hinge_of(PERP_JOINT_SCREW);
    joint.axis = perp_vec3_make(0, 0, bad ? 0 : 1e-300);
    add_hinge(s, joint);
}
RULE(axis_about_the_plane)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.axis = perp_vec3_make(bad ? 1 : 0, 0, -2);
    add_hinge(s, joint);
}
RULE(axis_along_the_plane)
{
    perp_joint joint = hinge_of(PERP_JOINT_PRISMATIC);
    joint.axis = perp_vec3_make(1, -1, bad ? 0.1 : 0);
    add_hinge(s, joint);
}
RULE(position_finite)
{
    perp_joint joint = hinge_of(PERP_JOINT_PLANAR);
    joint.position_set = true;
    joint.position[2] = bad ? NAN : 7.0;
    add_hinge(s, joint);
}
RULE(velocity_of_joint_finite)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.velocity_set = true;
    joint.velocity[0] = bad ? INFINITY : 7.0;
    add_hinge(s, joint);
}
RULE(ball_position)
{
    perp_joint joint = hinge_of(PERP_JOINT_BALL);
    joint.position_set = true;
    joint.position[1] = bad ? 0.5 : 1.0;
    add_hinge(s, joint);
}
RULE(fixed_position)
{
    perp_joint joint = hinge_of(PERP_JOINT_FIXED);
    joint.position_set = bad;
    add_hinge(s, joint);
}
RULE(fixed_velocity)
{
    perp_joint joint = hinge_of(PERP_JOINT_FIXED);
    joint.velocity_set = bad;
    add_hinge(s, joint);
}
RULE(limits_of_planar)
{
    perp_joint joint = hinge_of(PERP_JOINT_PLANAR);
    joint.limits_set = bad;
    add_hinge(s, joint);
}
static void add_limited(perp_scene *s, double low, double high, double position)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.limits_set = true;
    joint.limits[0] = low;
    joint.limits[1] = high;
    joint.position_set = position != 0.0;
    joint.position[0] = position;
    add_hinge(s, joint);
}
RULE(limits_order)
{
    add_limited(s, 1.0, bad ? 0.999 : 1.0, 1.0);
}
RULE(limits_nan)
{
    add_limited(s, bad ? NAN : -INFINITY, INFINITY, 1.0);
}
RULE(limits_position)
{
    add_limited(s, -1.0, 1.0, bad ? 1.0001 : 1.0);
}
RULE(limits_default_position)
{
    add_limited(s, bad ? 0.1 : 0.0, 1.0, 0.0);
}
RULE(stiffness_sign)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.control = PERP_CONTROL_IMPEDANCE;
    joint.stiffness = bad ? -1.0 : 1e-9;
    add_hinge(s, joint);
}
RULE(damping_sign)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.damping = bad ? -1.0 : 0.0;
    add_hinge(s, joint);
}
RULE(armature_finite)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.armature = bad ? INFINITY : 1e9;
    add_hinge(s, joint);
}
RULE(control_of_ball)
{
    perp_joint joint = hinge_of(PERP_JOINT_BALL);
    joint.control = bad ? PERP_CONTROL_POSITION : PERP_CONTROL_NONE;
    add_hinge(s, joint);
}
RULE(impedance_stiffness)
{
    perp_joint joint = hinge_of(PERP_JOINT_PRISMATIC);
    joint.axis = perp_vec3_make(1, 0, 0);
    joint.control = PERP_CONTROL_IMPEDANCE;
    joint.stiffness = bad ? 0.0 : 1e-9;
    add_hinge(s, joint);
}
RULE(screw_pitch)
{
    perp_joint joint = hinge_of(PERP_JOINT_SCREW);
    joint.pitch = bad ? 0.0 : -1e-9;
    add_hinge(s, joint);
}
RULE(screw_pitch_finite)
{
    perp_joint joint = hinge_of(PERP_JOINT_SCREW);
    joint.pitch = bad ? NAN : 1e9;
    add_hinge(s, joint);
}
RULE(pitch_of_revolute)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.pitch = bad ? 0.1 : 0.0;
    add_hinge(s, joint);
}

/* ---- references -------------------------------------------------------------------------------------------------- */

RULE(two_bodies)
{
    add_body(s, sound_body(s, "cup"));
    add_body(s, sound_body(s, bad ? "cup" : "Cup"));
}
RULE(two_joints)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_body(s, perp_body_default("leg"));
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = bad ? "hinge" : "knee";
    joint.child = "leg";
    add_joint(s, joint);
}
RULE(joint_named_as_listed_body)
{
    perp_body other = bad ? sound_body(s, "hinge") : fixed_body("hinge"); /* a fixed body is not in the state */
    add_body(s, other);
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
}
RULE(joint_named_as_its_child)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = "arm"; /* allowed: a jointed body is not in the state; a driven one is */
    perp_body driven = perp_body_default("leg");
    driven.kind = PERP_BODY_DRIVEN;
    add_body(s, driven);
    if (bad) {
        joint.name = "leg";
    }
    add_hinge(s, joint);
}
RULE(parent_unknown)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.parent = bad ? "base" : "world";
    add_hinge(s, joint);
}
RULE(child_unknown)
{
    /* One complaint, not two: the massless `arm` may be the child that was meant. */
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.child = bad ? "Arm" : "arm";
    add_hinge(s, joint);
}
RULE(child_world)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.child = bad ? "world" : "arm";
    if (!bad) {
        add_body(s, perp_body_default("arm"));
    }
    add_joint(s, joint);
}
RULE(child_missing)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.child = bad ? NULL : "arm";
    if (!bad) {
        add_body(s, perp_body_default("arm"));
    }
    add_joint(s, joint);
}
RULE(child_is_parent)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    add_body(s, sound_body(s, "base"));
    add_body(s, sound_body(s, "arm"));
    joint.parent = bad ? "arm" : "base";
    add_joint(s, joint);
}
RULE(child_twice)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = "knee";
    add_body(s, sound_body(s, "leg"));
    joint.child = bad ? "arm" : "leg";
    add_joint(s, joint);
}
static void add_child(perp_scene *s, perp_body child)
{
    child.name = "arm";
    add_body(s, child);
    add_joint(s, hinge_of(PERP_JOINT_REVOLUTE));
}
RULE(child_fixed)
{
    add_child(s, bad ? fixed_body("") : perp_body_default(""));
}
RULE(child_driven)
{
    perp_body child = perp_body_default("");
    child.kind = bad ? PERP_BODY_DRIVEN : PERP_BODY_FREE;
    add_child(s, child);
}
RULE(child_with_free)
{
    perp_body child = sound_body(s, "");
    child.free_set = bad;
    add_child(s, child);
}
RULE(ring)
{
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        add_body(s, sound_body(s, names[i]));
    }
    for (int i = 0; i < 3; i++) {
        perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
        char name[8];
        snprintf(name, sizeof name, "j%d", i);
        joint.name = name;
        joint.parent = i == 0 && !bad ? NULL : names[(i + 2) % 3];
        joint.child = names[i];
        add_joint(s, joint);
    }
}

static perp_loop loop_of(const char *a, const char *b)
{
    const perp_loop loop = {.name = "grip", .kind = PERP_LOOP_POINT, .a = a, .b = b};
    return loop;
}
RULE(loop_name)
{
    add_two(s);
    perp_loop loop = loop_of("cup", "pot");
    loop.name = bad ? "a.b" : "a-b";
    add_loop(s, loop);
}
RULE(loop_type)
{
    add_two(s);
    perp_loop loop = loop_of("cup", "pot");
    loop.kind = bad ? PERP_LOOP_NONE : PERP_LOOP_WELD;
    add_loop(s, loop);
}
RULE(loop_missing)
{
    add_two(s);
    add_loop(s, loop_of(bad ? NULL : "world", "pot"));
}
RULE(loop_unknown)
{
    add_two(s);
    add_loop(s, loop_of("cup", bad ? "pan" : "pot"));
}
RULE(loop_same)
{
    add_two(s);
    add_loop(s, loop_of("cup", bad ? "cup" : "world"));
}
RULE(loop_world_twice)
{
    add_two(s);
    add_loop(s, loop_of("world", bad ? "world" : "cup"));
}
RULE(loop_anchor_a)
{
    add_two(s);
    perp_loop loop = loop_of("cup", "pot");
    loop.anchor_a.y = bad ? NAN : 1;
    add_loop(s, loop);
}
RULE(loop_anchor_b)
{
    add_two(s);
    perp_loop loop = loop_of("cup", "pot");
    loop.anchor_b.x = bad ? INFINITY : 1;
    add_loop(s, loop);
}

RULE(force_unknown)
{
    add_two(s);
    add_force(s, (perp_force){.body = "cup"});
    add_force(s, (perp_force){.body = bad ? "pan" : "pot"});
}
RULE(force_world)
{
    add_two(s);
    add_force(s, (perp_force){.body = bad ? "world" : "pot"});
}
RULE(force_point)
{
    add_two(s);
    add_force(s, (perp_force){.body = "cup", .point = {bad ? NAN : 1, 0, 0}});
}
RULE(force_drive)
{
    add_two(s);
    perp_force force = {.body = "cup"};
    force.force[1].rate = bad ? NAN : 1;
    add_force(s, force);
}
RULE(force_torque)
{
    add_two(s);
    perp_force force = {.body = "cup"};
    force.torque[2].offset = bad ? NAN : 1;
    add_force(s, force);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

RULE(pair_unknown)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? "pan" : "pot"));
}
RULE(pair_world)
{
    add_two(s);
    add_pair(s, pair_of(bad ? "world" : "cup", "pot"));
}
RULE(pair_missing)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? NULL : "pot"));
}
RULE(pair_same)
{
    add_two(s);
    add_pair(s, pair_of("cup", bad ? "cup" : "pot"));
}
RULE(pair_twice)
{
    add_two(s);
    add_body(s, fixed_body("ground"));
    add_pair(s, pair_of("cup", "pot"));
    add_pair(s, pair_of("pot", bad ? "cup" : "ground"));
}
RULE(pair_friction)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.friction = perp_set(bad ? -0.1 : 0.0);
    add_pair(s, pair);
}
RULE(pair_directions)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.direction_count = 2;
    pair.directions[0] = perp_vec3_make(1, 0, 0);
    pair.directions[1] = perp_vec3_make(0, bad ? 0 : 1e-9, 0);
    add_pair(s, pair);
}
RULE(pair_direction_count)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.directions[0] = pair.directions[1] = perp_vec3_make(1, 0, 0);
    pair.direction_count = bad ? 3 : 2;
    add_pair(s, pair);
}
RULE(pair_tangent)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.tangent_set = true;
    pair.tangent.x = bad ? 0 : 1e9;
    add_pair(s, pair);
}
RULE(pair_restitution)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.restitution = bad ? 1.0001 : 1.0;
    add_pair(s, pair);
}
RULE(pair_restitution_nan)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.restitution = bad ? NAN : 0.0;
    add_pair(s, pair);
}
RULE(pair_compliance)
{
    add_two(s);
    perp_pair pair = pair_of("cup", "pot");
    pair.compliance_set = true;
    pair.compliance.set = PERP_COMPLIANCE_SCALE; /* the rest comes from the scene */
    pair.compliance.stiffness_scale = bad ? 0.0 : 1e-9;
    add_pair(s, pair);
}
RULE(exclude_unknown)
{
    add_two(s);
    assert_int_equal(perp_scene_add_exclusion(s, "cup", "pot", NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_add_exclusion(s, "cup", bad ? "pan" : "pot", NULL), PERP_STATUS_OK);
}
RULE(exclude_same)
{
    add_two(s);
    assert_int_equal(perp_scene_add_exclusion(s, bad ? "pot" : "cup", "pot", NULL), PERP_STATUS_OK);
}

RULE(stiffness_count)
{
    s->compliance.stiffness.count = bad ? 2 : 3;
    s->compliance.stiffness.values[1] = s->compliance.stiffness.values[2] = 1.0;
}
RULE(stiffness_count_planar)
{
    s->compliance.stiffness.count = bad ? 3 : 2;
    s->compliance.stiffness.values[1] = s->compliance.stiffness.values[2] = 1.0;
}
RULE(stiffness_zero)
{
    s->compliance.stiffness.values[0] = bad ? 0.0 : 1e-9;
}
RULE(stiffness_finite)
{
    s->compliance.stiffness.values[0] = bad ? INFINITY : 1e12;
}
RULE(damping_negative)
{
    s->compliance.damping.values[0] = bad ? -1e-9 : 0.0;
}
static void set_matrix(const perp_scene *s, perp_tensor *tensor, double diagonal, double upper, double lower)
{
    const int n = s->planar ? 2 : 3;
    tensor->count = n * n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            tensor->values[n * i + j] = i == j ? diagonal : 0.0;
        }
    }
    tensor->values[1] = upper;
    tensor->values[n] = lower;
}
RULE(stiffness_symmetric)
{
    set_matrix(s, &s->compliance.stiffness, 2.0, 1.0, bad ? 1.001 : 1.0);
}
RULE(stiffness_definite)
{
    set_matrix(s, &s->compliance.stiffness, 1.0, bad ? 1.0 : 0.999, bad ? 1.0 : 0.999);
}
RULE(damping_definite)
{
    set_matrix(s, &s->compliance.damping, 1.0, bad ? 1.001 : 1.0, bad ? 1.001 : 1.0); /* zero is allowed */
}
RULE(stiffness_matrix_diagonal)
{
    set_matrix(s, &s->compliance.stiffness, bad ? -1.0 : 1.0, 0.0, 0.0);
}
RULE(elements_low)
{
    s->compliance.elements = bad ? 0 : 1;
}
RULE(elements_high)
{
    s->compliance.elements = bad ? 101 : 100;
}
RULE(compliance_size)
{
    s->compliance.size = bad ? -1e-9 : 0.0;
}
RULE(compliance_gamma)
{
    s->compliance.gamma = bad ? -1e-9 : 0.0;
}
RULE(compliance_scale)
{
    s->compliance.stiffness_scale = bad ? 0.0 : 1e-9;
}

/* ---- run settings ------------------------------------------------------------------------------------------------ */

RULE(run_h)
{
    s->run.h = bad ? -0.01 : 0.0; /* 0: for the rungs that take no steps */
}
RULE(run_until)
{
    s->run.until = bad ? NAN : 0.0;
}
RULE(run_both)
{
    s->run.steps_set = true;
    s->run.until_set = bad;
}
RULE(run_steps)
{
    s->run.steps_set = true;
    s->run.steps = bad ? -1 : 0;
}
RULE(run_too_many)
{
    s->run.h = bad ? 0.999e-9 : 1.001e-9; /* until is 1 */
}
RULE(run_smoothing)
{
    s->run.smoothing = bad ? -1.0 : 0.0;
}
RULE(run_rays_odd)
{
    s->run.rays = bad ? 5 : 6;
}
RULE(run_rays_low)
{
    s->run.rays = bad ? 2 : 4;
}
RULE(run_rays_high)
{
    s->run.rays = bad ? 1026 : 1024;
}
RULE(run_tolerance)
{
    s->run.tolerance = bad ? 0.0 : 1e-16;
}
RULE(run_substep_tolerance)
{
    s->run.substep_tolerance = bad ? 0.0 : INFINITY;
}
RULE(run_time_scale)
{
    s->run.time_scale = bad ? 0.0 : 1e-9;
}
RULE(run_threads_low)
{
    s->run.threads = bad ? 0 : 1;
}
RULE(run_threads_high)
{
    s->run.threads = bad ? 1025 : 1024;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { SPATIAL = 1, PLANAR = 2, BOTH = 3 };

typedef struct rule {
    void (*build)(perp_scene *scene, bool bad);
    int where;
    const char *path, *words;
} rule;

static const rule rules[] = {
    {gravity_finite, BOTH, "gravity", "finite components"},
    {friction_finite, BOTH, "contacts.friction", "finite number"},
    {friction_large, BOTH, "contacts.friction", "at most 1e+50"},
    {gravity_large, BOTH, "gravity", "at most 1e+50"},
    {friction_sign, BOTH, "contacts.friction", "must not be negative"},
    {margin_sign, BOTH, "contacts.margin", "must not be negative"},
    {drive_offset, BOTH, "bodies.cup.driven.y.offset", "finite number"},
    {drive_rate, BOTH, "bodies.cup.driven.y.rate", "finite number"},
    {sine_amplitude, BOTH, "bodies.cup.driven.y.sines.1.amplitude", "finite number"},
    {sine_omega, BOTH, "bodies.cup.driven.y.sines.1.omega", "finite number"},
    {sine_phase, BOTH, "bodies.cup.driven.y.sines.1.phase", "finite number"},
    {table_time_finite, BOTH, "bodies.cup.driven.y.times.2", "finite number"},
    {table_times_increase, BOTH, "bodies.cup.driven.y.times.2", "must increase"},
    {table_value_finite, BOTH, "bodies.cup.driven.y.values.2", "finite number"},
    {table_steep, BOTH, "bodies.cup.driven.y.times", "too steep for a cubic"},
    {table_rises, BOTH, "bodies.cup.driven.y.times", "too steeply"},
    {command_drive, BOTH, "joints.hinge.command.rate", "finite number"},
    {body_needs_name, BOTH, "bodies.", "needs a name"},
    {body_name_empty, BOTH, "bodies.", "needs a name"},
    {body_name_world, BOTH, "bodies.world", "another name"},
    {body_name_long, BOTH, NULL, "at most 127 characters"},
    {body_name_utf8, BOTH, "bodies.cup?", "valid UTF-8"},
    {joint_name, BOTH, "joints.a b", "must not contain blanks"},
    {shape_type, BOTH, "bodies.cup.shapes.0", "needs a type"},
    {shape_type_range, BOTH, "bodies.cup.shapes.0", "needs a type"},
    {shape_friction, BOTH, "bodies.cup.shapes.0.friction", "must not be negative"},
    {shape_density, BOTH, "bodies.cup.shapes.0.density", "must not be negative"},
    {shape_position, BOTH, "bodies.cup.shapes.0.pose.position", "finite components"},
    {shape_quaternion, SPATIAL, "bodies.cup.shapes.0.pose.quat_wxyz", "has length 1"},
    {shape_angle, PLANAR, "bodies.cup.shapes.0.pose.angle", "finite number"},
    {sphere_radius, SPATIAL, "bodies.cup.shapes.0.sphere", "must be positive"},
    {disc_radius, PLANAR, "bodies.cup.shapes.0.disc", "finite number"},
    {capsule_radius, BOTH, "bodies.cup.shapes.0.capsule.radius", "must be positive"},
    {capsule_length, BOTH, "bodies.cup.shapes.0.capsule.length", "must be positive"},
    {cylinder_length, SPATIAL, "bodies.cup.shapes.0.cylinder.length", "must be positive"},
    {hole_radius, BOTH, "bodies.cup.shapes.0.hole.radius", "must be positive"},
    {hole_length, SPATIAL, "bodies.cup.shapes.0.hole.length", "must be positive"},
    {box_size, BOTH, "bodies.cup.shapes.0.box", "must be positive"},
    {box_depth, SPATIAL, "bodies.cup.shapes.0.box", "must be positive"},
    {ellipsoid_size, SPATIAL, "bodies.cup.shapes.0.ellipsoid", "finite components"},
    {plane_normal, SPATIAL, "bodies.cup.shapes.0.plane.normal", "zero vector"},
    {halfplane_normal, PLANAR, "bodies.cup.shapes.0.halfplane.normal", "finite components"},
    {plane_offset, SPATIAL, "bodies.cup.shapes.0.plane.offset", "finite number"},
    {mesh_scale, SPATIAL, "bodies.cup.shapes.0.mesh.scale", "must be positive"},
    {mesh_points_and_file, SPATIAL, "bodies.cup.shapes.0.mesh", "not both"},
    {mesh_few_points, SPATIAL, "bodies.cup.shapes.0.mesh", "at least 4"},
    {mesh_point_finite, SPATIAL, "bodies.cup.shapes.0.mesh.points", "finite components"},
    {polygon_few, PLANAR, "bodies.cup.shapes.0.polygon", "3 to 2000 corners"},
    {polygon_many, PLANAR, "bodies.cup.shapes.0.polygon", "3 to 2000 corners"},
    {polygon_finite, PLANAR, "bodies.cup.shapes.0.polygon", "finite components"},
    {polygon_repeats, PLANAR, "bodies.cup.shapes.0.polygon", "same point"},
    {polygon_folds, PLANAR, "bodies.cup.shapes.0.polygon", "runs back"},
    {polygon_crosses, PLANAR, "bodies.cup.shapes.0.polygon", "crosses itself"},
    {polygon_touches, PLANAR, "bodies.cup.shapes.0.polygon", "crosses itself"},
    {polygon_area, PLANAR, "bodies.cup.shapes.0.polygon", "no area"},
    {mass_sign, BOTH, "bodies.cup.mass", "must not be negative"},
    {density_sign, BOTH, "bodies.cup.density", "must not be negative"},
    {mass_and_density, BOTH, "bodies.cup.mass", "not both"},
    {mass_and_shape_density, BOTH, "bodies.cup.mass", "not both"},
    {inertia_without_mass, BOTH, "bodies.cup", "has no effect"},
    {com_finite, BOTH, "bodies.cup.com", "finite components"},
    {inertia_count, SPATIAL, "bodies.cup.inertia", "Ixx"},
    {inertia_count_planar, PLANAR, "bodies.cup.inertia", "one number"},
    {inertia_finite, SPATIAL, "bodies.cup.inertia", "finite number"},
    {inertia_planar_sign, PLANAR, "bodies.cup.inertia", "must not be negative"},
    {inertia_positive, SPATIAL, "bodies.cup.inertia", "not positive"},
    {inertia_products, SPATIAL, "bodies.cup.inertia", "not positive"},
    {inertia_triangle, SPATIAL, "bodies.cup.inertia", "triangle inequality"},
    {free_needs_mass, BOTH, "bodies.cup", "needs mass"},
    {free_zero_mass, BOTH, "bodies.cup.mass", "needs mass"},
    {turning_needs_inertia, BOTH, "bodies.cup", "positive inertia"},
    {turning_needs_inertia_about_its_axis, SPATIAL, "bodies.cup.inertia", "positive inertia"},
    {mesh_needs_inertia, SPATIAL, "bodies.cup", "mesh"},
    {body_position, BOTH, "bodies.cup.pose.position", "finite components"},
    {body_quaternion, SPATIAL, "bodies.cup.pose.quat_wxyz", "has length 1"},
    {body_rpy, SPATIAL, "bodies.cup.pose.rpy", "finite components"},
    {body_angle, PLANAR, "bodies.cup.pose.angle", "finite number"},
    {driven_out_of_plane, PLANAR, "bodies.cup.driven", "x, y and theta"},
    {driven_theta, PLANAR, "bodies.cup.driven.theta.offset", "finite number"},
    {driven_theta, SPATIAL, "bodies.cup.driven.rz.offset", "finite number"},
    {free_on_fixed, BOTH, "bodies.cup.free", "fixed"},
    {free_on_driven, BOTH, "bodies.cup.free", "driven"},
    {velocity_of_fixed, BOTH, "bodies.cup.velocity", "not free to choose"},
    {velocity_of_jointed, BOTH, "bodies.arm.velocity", "joint `hinge`"},
    {velocity_finite, BOTH, "bodies.cup.velocity.linear", "finite components"},
    {velocity_angular_finite, BOTH, "bodies.cup.velocity.angular", "finite components"},
    {velocity_locked, BOTH, "bodies.cup.velocity.linear", "component 1 is locked"},
    {velocity_out_of_plane, PLANAR, "bodies.cup.velocity.angular", "component 0 is locked"},
    {joint_type, BOTH, "joints.hinge", "needs a `type`"},
    {ball_in_plane, PLANAR, "joints.hinge.type", "leaves the plane"},
    {screw_in_plane, PLANAR, "joints.hinge.type", "leaves the plane"},
    {joint_anchor, BOTH, "joints.hinge.anchor", "finite components"},
    {ball_axis, SPATIAL, "joints.hinge.axis", "has no axis"},
    {fixed_axis, BOTH, "joints.hinge.axis", "has no axis"},
    {joint_needs_axis, SPATIAL, "joints.hinge", "needs an `axis`"},
    {prismatic_needs_axis_in_plane, PLANAR, "joints.hinge", "needs an `axis`"},
    {axis_zero, SPATIAL, "joints.hinge.axis", "zero vector"},
    {axis_about_the_plane, PLANAR, "joints.hinge.axis", "[0, 0, 1] or [0, 0, -1]"},
    {axis_along_the_plane, PLANAR, "joints.hinge.axis", "two components"},
    {position_finite, BOTH, "joints.hinge.position", "finite number"},
    {velocity_of_joint_finite, BOTH, "joints.hinge.velocity", "finite number"},
    {ball_position, SPATIAL, "joints.hinge.position", "has length 1"},
    {fixed_position, BOTH, "joints.hinge.position", "does not move"},
    {fixed_velocity, BOTH, "joints.hinge.velocity", "does not move"},
    {limits_of_planar, BOTH, "joints.hinge.limits", "has no limits"},
    {limits_order, BOTH, "joints.hinge.limits", "lo <= hi"},
    {limits_nan, BOTH, "joints.hinge.limits", "lo <= hi"},
    {limits_position, BOTH, "joints.hinge.position", "outside the limits"},
    {limits_default_position, BOTH, "joints.hinge.limits", "outside the limits"},
    {stiffness_sign, BOTH, "joints.hinge.stiffness", "must not be negative"},
    {damping_sign, BOTH, "joints.hinge.damping", "must not be negative"},
    {armature_finite, BOTH, "joints.hinge.armature", "finite number"},
    {control_of_ball, SPATIAL, "joints.hinge.control", "passive"},
    {impedance_stiffness, BOTH, "joints.hinge", "positive `stiffness`"},
    {screw_pitch, SPATIAL, "joints.hinge.pitch", "needs a `pitch`"},
    {screw_pitch_finite, SPATIAL, "joints.hinge.pitch", "finite number"},
    {pitch_of_revolute, BOTH, "joints.hinge.pitch", "only a screw"},
    {two_bodies, BOTH, "bodies.cup", "two bodies"},
    {two_joints, BOTH, "joints.hinge", "two joints"},
    {joint_named_as_listed_body, BOTH, "joints.hinge", "rename"},
    {joint_named_as_its_child, BOTH, "joints.leg", "rename"},
    {parent_unknown, BOTH, "joints.hinge.parent", "no body `base`"},
    {child_unknown, BOTH, "joints.hinge.child", "no body `Arm`; did you mean `arm`?"},
    {child_world, BOTH, "joints.hinge.child", "not the world"},
    {child_missing, BOTH, "joints.hinge.child", "must name a body"},
    {child_is_parent, BOTH, "joints.hinge.child", "two different bodies"},
    {child_twice, BOTH, "joints.knee.child", "already the child"},
    {child_fixed, BOTH, "joints.hinge.child", "`fixed`"},
    {child_driven, BOTH, "joints.hinge.child", "`driven`"},
    {child_with_free, BOTH, "joints.hinge.child", "`free`"},
    {ring, BOTH, "joints.j0.parent", "ring"},
    {loop_name, BOTH, "loops.a.b", "must not contain"},
    {loop_type, BOTH, "loops.grip.type", "`point` or `weld`"},
    {loop_missing, BOTH, "loops.grip.a", "must name a body"},
    {loop_unknown, BOTH, "loops.grip.b", "no body `pan`"},
    {loop_same, BOTH, "loops.grip.b", "two different bodies"},
    {loop_world_twice, BOTH, "loops.grip.b", "two different bodies"},
    {loop_anchor_a, BOTH, "loops.grip.anchor_a", "finite components"},
    {loop_anchor_b, BOTH, "loops.grip.anchor_b", "finite components"},
    {force_unknown, BOTH, "forces.1.body", "no body `pan`"},
    {force_world, BOTH, "forces.0.body", "not the world"},
    {force_point, BOTH, "forces.0.point", "finite components"},
    {force_drive, BOTH, "forces.0.force.1.rate", "finite number"},
    {force_torque, BOTH, "forces.0.torque.2.offset", "finite number"},
    {pair_unknown, BOTH, "contacts.pairs.cup pan", "no body `pan`"},
    {pair_world, BOTH, "contacts.pairs.world pot", "not the world"},
    {pair_missing, BOTH, "contacts.pairs.cup ", "must name a body"},
    {pair_same, BOTH, "contacts.pairs.cup cup", "same body twice"},
    {pair_twice, BOTH, "contacts.pairs.pot cup", "given before as `cup pot`"},
    {pair_friction, BOTH, "contacts.pairs.cup pot.friction", "must not be negative"},
    {pair_directions, BOTH, "contacts.pairs.cup pot.friction_directions.1", "zero vector"},
    {pair_direction_count, BOTH, "contacts.pairs.cup pot.friction_directions", "one or two"},
    {pair_tangent, BOTH, "contacts.pairs.cup pot.tangent", "zero vector"},
    {pair_restitution, BOTH, "contacts.pairs.cup pot.restitution", "between 0 and 1"},
    {pair_restitution_nan, BOTH, "contacts.pairs.cup pot.restitution", "between 0 and 1"},
    {pair_compliance, BOTH, "contacts.pairs.cup pot.compliance.stiffness_scale", "must be positive"},
    {exclude_unknown, BOTH, "contacts.exclude.1", "no body `pan`"},
    {exclude_same, BOTH, "contacts.exclude.0", "same body twice"},
    {stiffness_count, SPATIAL, "compliance.stiffness", "3 x 3"},
    {stiffness_count_planar, PLANAR, "compliance.stiffness", "2 x 2"},
    {stiffness_zero, BOTH, "compliance.stiffness", "positive"},
    {stiffness_finite, BOTH, "compliance.stiffness", "finite"},
    {damping_negative, BOTH, "compliance.damping", "not negative"},
    {stiffness_symmetric, BOTH, "compliance.stiffness", "symmetric"},
    {stiffness_definite, BOTH, "compliance.stiffness", "positive definite"},
    {damping_definite, BOTH, "compliance.damping", "positive semidefinite"},
    {stiffness_matrix_diagonal, BOTH, "compliance.stiffness", "positive"},
    {elements_low, BOTH, "compliance.elements", "between 1 and 100"},
    {elements_high, BOTH, "compliance.elements", "between 1 and 100"},
    {compliance_size, BOTH, "compliance.size", "must not be negative"},
    {compliance_gamma, BOTH, "compliance.gamma", "must not be negative"},
    {compliance_scale, BOTH, "compliance.stiffness_scale", "must be positive"},
    {run_h, BOTH, "run.h", "must not be negative"},
    {run_until, BOTH, "run.until", "finite number"},
    {run_both, BOTH, "run.steps", "not both"},
    {run_steps, BOTH, "run.steps", "must not be negative"},
    {run_too_many, BOTH, "run.until", "at most 1e9"},
    {run_smoothing, BOTH, "run.smoothing", "must not be negative"},
    {run_rays_odd, BOTH, "run.rays", "even number"},
    {run_rays_low, BOTH, "run.rays", "even number"},
    {run_rays_high, BOTH, "run.rays", "even number"},
    {run_tolerance, BOTH, "run.tolerance", "must be positive"},
    {run_substep_tolerance, BOTH, "run.substep_tolerance", "must be positive"},
    {run_time_scale, BOTH, "run.time_scale", "must be positive"},
    {run_threads_low, BOTH, "run.threads", "between 1 and 1024"},
    {run_threads_high, BOTH, "run.threads", "between 1 and 1024"},
};

static void print_complaints(const rule *r, const char *what)
{
    print_error("rule %s (%s):\n", r->path ? r->path : r->words, what);
    for (int i = 0; i < diagnostics.count; i++) {
        print_error("    %s: %s\n", diagnostics.items[i].path, diagnostics.items[i].message);
    }
}

/* True if the broken scene gets its one complaint, every time it is checked, and the sound one none. */
static bool rule_holds(const rule *r, bool planar)
{
    perp_scene *scene = new_scene(planar);
    r->build(scene, true);
    for (int again = 0; again < 2; again++) {
        const perp_status status = validate(scene);
        const perp_diagnostic *item = &diagnostics.items[0];
        if (status != PERP_STATUS_BAD_INPUT || scene->validated || diagnostics.errors != 1 ||
            diagnostics.warnings != 0 || item->severity != PERP_SEVERITY_ERROR ||
            (r->path && strcmp(item->path, r->path) != 0) || !strstr(item->message, r->words) || item->file[0] ||
            item->line != 0) {
            print_complaints(r, planar ? "broken, planar" : "broken, spatial");
            perp_scene_free(scene);
            return false;
        }
    }
    perp_scene_free(scene);
    scene = new_scene(planar);
    r->build(scene, false);
    bool sound = true;
    for (int again = 0; again < 2 && sound; again++) {
        sound = validate(scene) == PERP_STATUS_OK && scene->validated && diagnostics.count == 0;
    }
    if (!sound) {
        print_complaints(r, planar ? "accepted, planar" : "accepted, spatial");
    }
    perp_scene_free(scene);
    return sound;
}

static void test_every_rule(void **state)
{
    (void)state;
    int broken = 0;
    for (int i = 0; i < COUNT(rules); i++) {
        for (int planar = 0; planar < 2; planar++) {
            if (rules[i].where & (planar ? PLANAR : SPATIAL)) {
                broken += !rule_holds(&rules[i], planar);
            }
        }
    }
    assert_int_equal(broken, 0);
}

/* Which shapes belong to the plane and which to space; the other ones are refused with their name. */
static void test_shapes_of_each_dimension(void **state)
{
    (void)state;
    static const int where[PERP_SHAPE_COUNT] = {
        [PERP_SHAPE_POINT] = BOTH,        [PERP_SHAPE_SPHERE] = SPATIAL, [PERP_SHAPE_DISC] = PLANAR,
        [PERP_SHAPE_BOX] = BOTH,          [PERP_SHAPE_CAPSULE] = BOTH,   [PERP_SHAPE_CYLINDER] = SPATIAL,
        [PERP_SHAPE_ELLIPSOID] = SPATIAL, [PERP_SHAPE_PLANE] = SPATIAL,  [PERP_SHAPE_HALFPLANE] = PLANAR,
        [PERP_SHAPE_MESH] = SPATIAL,      [PERP_SHAPE_POLYGON] = PLANAR, [PERP_SHAPE_HOLE] = BOTH,
    };
    for (int kind = 1; kind < PERP_SHAPE_COUNT; kind++) {
        for (int planar = 0; planar < 2; planar++) {
            perp_scene *scene = new_scene(planar);
            add_shape(scene, shape_of((perp_shape_kind)kind));
            const bool fits = where[kind] & (planar ? PLANAR : SPATIAL);
            assert_int_equal(validate(scene), fits ? PERP_STATUS_OK : PERP_STATUS_BAD_INPUT);
            if (!fits) {
                char path[64];
                snprintf(path, sizeof path, "bodies.cup.shapes.0.%s", perp_shape_kind_name((perp_shape_kind)kind));
                assert_string_equal(diagnostics.items[0].path, path);
                assert_non_null(
                    strstr(diagnostics.items[0].message, planar ? "is a spatial shape" : "is a planar shape"));
            }
            perp_scene_free(scene);
        }
    }
}

/* Every character that a name must not hold. */
static void test_name_characters(void **state)
{
    (void)state;
    for (int c = 1; c < 128; c++) {
        const char name[4] = {'a', (char)c, 'b', 0};
        const bool forbidden = c <= 32 || c == 127 || strchr(".,:;=\"'", c);
        perp_scene *scene = new_scene(false);
        add_body(scene, sound_body(scene, name));
        assert_int_equal(validate(scene), forbidden ? PERP_STATUS_BAD_INPUT : PERP_STATUS_OK);
        perp_scene_free(scene);
    }
    perp_scene *scene = new_scene(false);
    add_body(scene, sound_body(scene, "a\xc2\x85"
                                      "b")); /* U+0085, a line break */
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    perp_scene_free(scene);
}

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

static void test_warnings(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    perp_body body = sound_body(scene, "cup");
    body.pose.pose.rotation = (perp_quat){0.72, 0.0, 0.7, 0.0}; /* |q| = 1.0042 */
    add_body(scene, body);
    add_body(scene, fixed_body("ground"));
    add_force(scene, (perp_force){.body = "ground"});
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.command_set = true; /* but no control */
    joint.stiffness = 5.0;
    add_hinge(scene, joint);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_true(scene->validated);
    assert_int_equal(diagnostics.errors, 0);
    assert_int_equal(diagnostics.warnings, 4);
    assert_string_equal(diagnostics.items[0].path, "bodies.cup.pose.quat_wxyz");
    assert_non_null(strstr(diagnostics.items[0].message, "normalised"));
    assert_string_equal(diagnostics.items[1].path, "joints.hinge.stiffness");
    assert_string_equal(diagnostics.items[2].path, "joints.hinge.command");
    assert_string_equal(diagnostics.items[3].path, "forces.0.body");
    assert_non_null(strstr(diagnostics.items[3].message, "moves nothing"));
    const perp_quat q = scene->bodies[0].pose.pose.rotation;
    const double length = sqrt(0.72 * 0.72 + 0.7 * 0.7);
    assert_true(fabs(q.w - 0.72 / length) < 1e-15 && fabs(q.y - 0.7 / length) < 1e-15 && q.x == 0 && q.z == 0);
    assert_int_equal(validate(scene), PERP_STATUS_OK); /* it is unit now */
    assert_int_equal(diagnostics.warnings, 3);
    perp_scene_free(scene);
}

/* ---- all errors at once ------------------------------------------------------------------------------------------ */

static void test_all_errors_at_once(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    scene->gravity.z = NAN;
    scene->friction = -1.0;
    scene->run.rays = 3;
    perp_shape shapes[2] = {shape_of(PERP_SHAPE_SPHERE), shape_of(PERP_SHAPE_BOX)};
    shapes[0].radius = -1.0;
    shapes[1].friction = perp_set(-1.0);
    perp_body body = sound_body(scene, "cup");
    body.mass = perp_set(-2.0);
    body.com.x = NAN;
    body.shapes = shapes;
    body.shape_count = 2;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.parent = "nobody";
    joint.pitch = 1.0;
    add_hinge(scene, joint);
    static const char *const expected[] = {
        "gravity",         "joints.hinge.parent", "bodies.cup.shapes.0.sphere", "bodies.cup.shapes.1.friction",
        "bodies.cup.mass", "bodies.cup.com",      "joints.hinge.pitch",         "contacts.friction",
        "run.rays",
    };
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, COUNT(expected));
    for (int i = 0; i < COUNT(expected); i++) {
        assert_string_equal(diagnostics.items[i].path, expected[i]);
    }
    perp_error error;
    perp_diagnostics_first_error(&diagnostics, PERP_STATUS_BAD_INPUT, &error);
    assert_string_equal(error.path, "gravity");
    perp_scene_free(scene);

    scene = new_scene(false); /* more than the list holds are counted */
    for (int i = 0; i < 30; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        add_body(scene, perp_body_default(name));
    }
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, 30);
    assert_int_equal(diagnostics.count, PERP_DIAGNOSTICS_PER_SEVERITY);
    perp_scene_free(scene);
}

/* What was complained of before (by a reader of files) is not complained of again, nor what lies in it. */
static void test_earlier_complaints(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    perp_body body = sound_body(scene, "cup");
    body.mass = perp_set(-1.0);
    add_body(scene, body);
    body.name = "cups";
    add_body(scene, body);
    memset(&diagnostics, 0, sizeof diagnostics);
    perp_scene_report(scene, &diagnostics, PERP_SEVERITY_ERROR, "bodies.cup", "unreadable");
    assert_int_equal(perp_scene_validate(scene, &diagnostics), PERP_STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.errors, 2);
    assert_string_equal(diagnostics.items[1].path, "bodies.cups.mass"); /* another body, though its name begins alike */
    perp_scene_free(scene);
}

static void locate_line(const void *context, const char *path, const char **file, int *line, int *column)
{
    *file = context;
    *line = (int)strlen(path);
    *column = 7;
}

/* A scene that came from a file says where. */
static void test_places_in_a_file(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    scene->locate = locate_line;
    scene->locate_context = "s.yaml";
    scene->run.rays = 3;
    assert_int_equal(validate(scene), PERP_STATUS_BAD_INPUT);
    assert_string_equal(diagnostics.items[0].file, "s.yaml");
    assert_int_equal(diagnostics.items[0].line, 8); /* strlen("run.rays") */
    assert_int_equal(diagnostics.items[0].column, 7);
    perp_scene_free(scene);
}

/* ---- copying and resolving --------------------------------------------------------------------------------------- */

/* The scene owns copies: what the caller does afterwards to his own is nothing to it. */
static void test_scene_owns_copies(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    char name[] = "cup", shape_name[] = "rim", child[] = "cup", joint_name[] = "hinge", model[] = "kinematic";
    double times[] = {0, 1}, values[] = {0, 2};
    perp_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    perp_shape shape = shape_of(PERP_SHAPE_MESH);
    shape.name = shape_name;
    shape.points = points;
    perp_body body = sound_body(scene, name);
    body.shapes = &shape;
    body.shape_count = 1;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = joint_name;
    joint.child = child;
    joint.control = PERP_CONTROL_POSITION;
    joint.command_set = true;
    joint.command = (perp_drive){.knot_count = 2, .times = times, .values = values};
    add_joint(scene, joint);
    assert_int_equal(perp_scene_set_model(scene, model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_set_name(scene, name, NULL), PERP_STATUS_OK);
    memset(name, 'x', 3);
    memset(shape_name, 'x', 3);
    memset(child, 'x', 3);
    memset(joint_name, 'x', 5);
    memset(model, 'x', 9);
    memset(points, 0xff, sizeof points);
    memset(times, 0xff, sizeof times);
    memset(values, 0xff, sizeof values);
    memset(&shape, 0xff, sizeof shape);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_string_equal(scene->bodies[0].name, "cup");
    assert_string_equal(scene->bodies[0].shapes[0].name, "rim");
    assert_true(scene->bodies[0].shapes[0].points[3].z == 1.0);
    assert_string_equal(scene->name, "cup");
    assert_string_equal(scene->run.model, "kinematic");
    assert_true(perp_drive_value(&scene->joints[0].command, 0.5) == 1.0);
    assert_int_equal(perp_scene_find_body(scene, "cup"), 0);
    assert_int_equal(perp_scene_find_joint(scene, "hinge"), 0);
    assert_int_equal(perp_scene_find_joint(scene, "cup"), -1);
    perp_scene_free(scene);
}

static void test_defaults(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        perp_scene *scene = new_scene(planar);
        assert_string_equal(scene->name, "");
        assert_true(scene->gravity.x == 0.0);
        assert_true(scene->gravity.y == (planar ? -9.81 : 0.0) && scene->gravity.z == (planar ? 0.0 : -9.81));
        assert_true(scene->margin == 0.02 && scene->friction == 0.5);
        assert_true(scene->compliance.stiffness.count == 1 && scene->compliance.stiffness.values[0] == 1e4);
        assert_true(scene->compliance.damping.count == 1 && scene->compliance.damping.values[0] == 10.0);
        assert_true(scene->compliance.elements == 1 && scene->compliance.size == 0.01);
        assert_true(scene->compliance.gamma == 1e-4 && scene->compliance.stiffness_scale == 1.0);
        assert_true(scene->compliance.law == PERP_LAW_KELVIN_VOIGT && !scene->compliance.tangential_rigid);
        assert_string_equal(scene->run.model, "qs-qp");
        assert_true(scene->run.h == 0.01 && scene->run.until == 1.0 && scene->run.smoothing == 0.0);
        assert_true(scene->run.rays == 4 && scene->run.tolerance == 1e-8 && isinf(scene->run.substep_tolerance));
        assert_true(scene->run.time_scale == 1.0 && scene->run.threads == 1 && scene->run.cone == PERP_CONE_UNSET);
        assert_true(scene->run.prediction == PERP_PREDICTION_EXACT && !scene->run.steps_set);
        assert_int_equal(validate(scene), PERP_STATUS_OK); /* an empty scene is a scene */
        assert_int_equal(perp_scene_find_body(scene, "cup"), -1);
        perp_scene_free(scene);
    }
    perp_scene_free(NULL);
}

static bool is_unit_along(perp_vec3 v, double x, double y, double z)
{
    return fabs(v.x - x) < 1e-15 && fabs(v.y - y) < 1e-15 && fabs(v.z - z) < 1e-15;
}

/* Names become indices, pairs are ordered as the bodies are, directions become unit. */
static void test_resolves(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(false);
    add_two(scene);
    perp_shape plane = shape_of(PERP_SHAPE_PLANE);
    plane.normal = perp_vec3_make(0, 0, 5);
    plane.offset = 0.25; /* stays: the plane is normal . x = offset with the unit normal */
    perp_body ground = fixed_body("ground");
    ground.shapes = &plane;
    ground.shape_count = 1;
    add_body(scene, ground);
    perp_joint joint = hinge_of(PERP_JOINT_PRISMATIC);
    joint.parent = "pot";
    joint.axis = perp_vec3_make(0, -3e-200, 4e-200);
    joint.position_set = true;
    joint.position[0] = 0.3;
    add_hinge(scene, joint);
    add_loop(scene, (perp_loop){.name = "grip", .kind = PERP_LOOP_POINT, .a = "arm", .b = "world"});
    add_force(scene, (perp_force){.body = "pot"});
    perp_pair pair = pair_of("ground", "cup");
    pair.direction_count = 1;
    pair.directions[0] = perp_vec3_make(3, 4, 0);
    pair.tangent_set = true;
    pair.tangent = perp_vec3_make(0, 0, -1e50);
    pair.compliance_set = true;
    pair.compliance.set = PERP_COMPLIANCE_GAMMA | PERP_COMPLIANCE_LAW;
    pair.compliance.gamma = 0.5;
    pair.compliance.law = PERP_LAW_HUNT_CROSSLEY;
    scene->compliance.elements = 3;
    scene->compliance.size = 0.7;
    add_pair(scene, pair);
    assert_int_equal(perp_scene_add_exclusion(scene, "arm", "pot", NULL), PERP_STATUS_OK);
    for (int again = 0; again < 2; again++) { /* twice is harmless */
        assert_int_equal(validate(scene), PERP_STATUS_OK);
        assert_int_equal(diagnostics.count, 0);
        assert_true(is_unit_along(scene->bodies[2].shapes[0].normal, 0, 0, 1));
        assert_true(scene->bodies[2].shapes[0].offset == 0.25);
        assert_true(is_unit_along(scene->joints[0].axis, 0, -0.6, 0.8));
        assert_int_equal(scene->joints[0].parent_body, 1);
        assert_int_equal(scene->joints[0].child_body, 3);
        assert_int_equal(scene->bodies[3].joint, 0);
        assert_int_equal(scene->bodies[0].joint, -1);
        assert_true(perp_drive_value(&scene->joints[0].command, 9.0) == 0.3); /* no command: holds the position */
        assert_int_equal(scene->loops[0].body_a, 3);
        assert_int_equal(scene->loops[0].body_b, -1);
        assert_int_equal(scene->forces[0].body_index, 1);
        assert_int_equal(scene->pairs[0].body_a, 0);
        assert_int_equal(scene->pairs[0].body_b, 2);
        assert_true(is_unit_along(scene->pairs[0].directions[0], 0.6, 0.8, 0));
        assert_true(is_unit_along(scene->pairs[0].tangent, 0, 0, -1));
        assert_true(scene->pairs[0].compliance.gamma == 0.5 && scene->pairs[0].compliance.elements == 3);
        assert_true(scene->pairs[0].compliance.law == PERP_LAW_HUNT_CROSSLEY);
        assert_true(scene->pairs[0].compliance.size == 0.7 && scene->pairs[0].compliance.stiffness.values[0] == 1e4);
        assert_int_equal(scene->exclusions[0].body_a, 1);
        assert_int_equal(scene->exclusions[0].body_b, 3);
    }
    add_body(scene, sound_body(scene, "lid")); /* an addition asks for another check */
    assert_false(scene->validated);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    assert_int_equal(perp_scene_find_body(scene, "lid"), 4);
    perp_scene_free(scene);
}

/* A planar placement gets its rotation from its angle, and a default axis for what turns. */
static void test_resolves_planar(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(true);
    perp_body body = sound_body(scene, "cup");
    body.pose.angle = 20.0; /* kept unwrapped */
    body.pose.pose.rotation = (perp_quat){0, 0, 0, 0};
    body.pose.pose.position.z = 3.0;
    add_body(scene, body);
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.axis_set = false;
    joint.axis = perp_vec3_make(0, 0, 0);
    add_hinge(scene, joint);
    assert_int_equal(validate(scene), PERP_STATUS_OK);
    const perp_placement *pose = &scene->bodies[0].pose;
    assert_true(pose->angle == 20.0 && pose->pose.position.z == 0.0);
    assert_true(fabs(pose->pose.rotation.w - cos(10.0)) < 1e-15 && fabs(pose->pose.rotation.z - sin(10.0)) < 1e-15);
    assert_true(is_unit_along(scene->joints[0].axis, 0, 0, 1));
    perp_scene_free(scene);
}

static void test_names_of_kinds(void **state)
{
    (void)state;
    assert_string_equal(perp_shape_kind_name(PERP_SHAPE_HALFPLANE), "halfplane");
    assert_string_equal(perp_joint_kind_name(PERP_JOINT_PRISMATIC), "prismatic");
    for (int i = 0; i < PERP_SHAPE_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(perp_shape_kind_name((perp_shape_kind)i), perp_shape_kind_name((perp_shape_kind)j));
        }
    }
    for (int i = 0; i < PERP_JOINT_COUNT; i++) {
        assert_string_not_equal(perp_joint_kind_name((perp_joint_kind)i), "unknown");
    }
    assert_string_equal(perp_shape_kind_name(PERP_SHAPE_COUNT), "unknown");
    assert_string_equal(perp_joint_kind_name(PERP_JOINT_COUNT), "unknown");
    static const int sizes[PERP_JOINT_COUNT][2] = {
        [PERP_JOINT_REVOLUTE] = {1, 1}, [PERP_JOINT_PRISMATIC] = {1, 1}, [PERP_JOINT_BALL] = {4, 3},
        [PERP_JOINT_PLANAR] = {3, 3},   [PERP_JOINT_SCREW] = {1, 1},     [PERP_JOINT_FIXED] = {0, 0},
    };
    for (int i = 0; i < PERP_JOINT_COUNT; i++) {
        assert_int_equal(perp_joint_position_size((perp_joint_kind)i), sizes[i][0]);
        assert_int_equal(perp_joint_velocity_size((perp_joint_kind)i), sizes[i][1]);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct counter {
    int requests, fail_at, live;
} counter;

static void *counter_allocate(void *context, size_t size)
{
    counter *c = context;
    if (c->requests++ == c->fail_at) {
        return NULL;
    }
    c->live++;
    return malloc(size);
}

static void counter_release(void *context, void *memory)
{
    counter *c = context;
    c->live--;
    free(memory);
}

/* Adds something of everything; the first status that is not OK. */
static perp_status add_everything(perp_scene *scene, int size, perp_error *error)
{
    const double times[] = {0, 1, 2}, values[] = {0, 2, 1};
    const perp_sine sines[] = {{1, 2, 3}};
    perp_shape shape = shape_of(PERP_SHAPE_SPHERE);
    shape.name = "rim";
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < size && status == PERP_STATUS_OK; i++) {
        char name[16], child[16];
        snprintf(name, sizeof name, "body%d", i);
        snprintf(child, sizeof child, "link%d", i);
        perp_body body = perp_body_default(name);
        body.kind = PERP_BODY_DRIVEN;
        body.driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_Y;
        body.drives[0] =
            (perp_drive){.knot_count = 3, .times = times, .values = values, .interpolation = PERP_INTERPOLATE_CUBIC};
        body.drives[1] = (perp_drive){.sine_count = 1, .sines = sines};
        body.shapes = &shape;
        body.shape_count = 1;
        status = perp_scene_add_body(scene, &body, error);
        perp_body link = perp_body_default(child);
        status = status ? status : perp_scene_add_body(scene, &link, error);
        perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
        joint.name = child;
        joint.parent = name;
        joint.child = child;
        joint.control = PERP_CONTROL_POSITION;
        joint.command_set = true;
        joint.command = body.drives[0];
        status = status ? status : perp_scene_add_joint(scene, &joint, error);
        perp_loop loop = {.name = name, .kind = PERP_LOOP_POINT, .a = name, .b = "world"};
        status = status ? status : perp_scene_add_loop(scene, &loop, error);
        perp_force force = {.body = child};
        status = status ? status : perp_scene_add_force(scene, &force, error);
        perp_pair pair = pair_of(name, child);
        status = status ? status : perp_scene_add_pair(scene, &pair, error);
        status = status ? status : perp_scene_add_exclusion(scene, name, child, error);
    }
    status = status ? status : perp_scene_set_name(scene, "everything", error);
    return status ? status : perp_scene_set_model(scene, "kinematic", error);
}

static perp_status build_everything(perp_scene *scene, int size, perp_error *error)
{
    perp_status status = add_everything(scene, size, error);
    if (status == PERP_STATUS_OK) {
        status = validate(scene);
        perp_diagnostics_first_error(&diagnostics, status, error);
    }
    return status;
}

/* Builds with the request number `fail_at` failing; true if that request was never made. Whatever fails gives
 * OUT_OF_MEMORY with a sentence, leaves what was added whole, and leaks nothing. */
static bool builds_with_failure(int size, int fail_at)
{
    counter c = {.fail_at = fail_at};
    const perp_allocator allocator = {counter_allocate, counter_release, &c};
    perp_error error;
    memset(&error, 0, sizeof error);
    perp_scene *scene = NULL;
    perp_status status = perp_scene_create(false, &allocator, &scene, &error);
    if (status == PERP_STATUS_OK) {
        status = build_everything(scene, size, &error);
        assert_int_equal(scene->validated, status == PERP_STATUS_OK);
        for (int i = 0; i < scene->body_count; i++) {
            assert_non_null(scene->bodies[i].name);
            assert_true(scene->bodies[i].shape_count == 0 || scene->bodies[i].shapes[0].name);
        }
    } else {
        assert_null(scene);
    }
    assert_int_equal(status, c.requests > fail_at ? PERP_STATUS_OUT_OF_MEMORY : PERP_STATUS_OK);
    if (status != PERP_STATUS_OK) {
        assert_int_equal(error.status, PERP_STATUS_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "out of memory"));
    }
    perp_scene_free(scene);
    assert_int_equal(c.live, 0);
    return status == PERP_STATUS_OK;
}

/* A scene asks for memory in chunks, so its size decides which copy or which table meets a chunk's end: many sizes. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    int failures = 0;
    for (int size = 0; size < 60; size++) {
        for (int fail_at = 0; !builds_with_failure(size, fail_at); fail_at++) {
            failures++;
        }
    }
    assert_true(failures > 60 * 3);
}

/* Fills the arena with cache lines until it would have to grow; returns how many went in. */
static int fill(perp_arena *arena, int most)
{
    int lines = 0;
    while (lines < most && perp_arena_push(arena, 1, 64)) {
        lines++;
    }
    return lines;
}

/* A scene whose arena has a fresh chunk and may not grow beyond it. */
static perp_scene *confined_scene(void)
{
    perp_scene *scene = new_scene(false);
    assert_int_equal(add_everything(scene, 10, NULL), PERP_STATUS_OK);
    perp_arena *arena = &scene->memory->arena;
    for (const size_t total = arena->total; arena->total == total;) {
        assert_non_null(perp_arena_push(arena, 1, 1));
    }
    arena->limit = arena->total;
    return scene;
}

/* A check with room for 0, 1, 2, .. cache lines, so that each of its requests is the first that finds none: it leaves
 * the scene unchecked, also if it was checked before, and can be tried again. */
static void test_validation_without_memory(void **state)
{
    (void)state;
    perp_scene *scene = confined_scene();
    const int room = fill(&scene->memory->arena, 1 << 20);
    perp_scene_free(scene);
    assert_true(room > 100);
    bool succeeded = false;
    for (int left = 0; left <= room && !succeeded; left++) {
        scene = confined_scene();
        assert_int_equal(fill(&scene->memory->arena, room - left), room - left);
        scene->validated = left % 2; /* as after an earlier check */
        const perp_status status = validate(scene);
        succeeded = status == PERP_STATUS_OK;
        assert_int_equal(scene->validated, succeeded);
        if (!succeeded) {
            assert_int_equal(status, PERP_STATUS_OUT_OF_MEMORY);
            assert_int_equal(diagnostics.errors, 1);
            assert_non_null(strstr(diagnostics.items[0].message, "out of memory"));
            assert_true(left < 100);
            scene->memory->arena.limit = SIZE_MAX;
            assert_int_equal(validate(scene), PERP_STATUS_OK);
        }
        assert_int_equal(perp_scene_find_body(scene, "link9"), 19);
        perp_scene_free(scene);
    }
    assert_true(succeeded);
}

/* Exactly PERP_SCENE_MAX_BODIES (and _PAIRS) fit; the next is refused and changes nothing. */
static void test_capacity(void **state)
{
    (void)state;
    perp_scene *scene = new_scene(true);
    const perp_body body = fixed_body("b");
    for (int i = 0; i < PERP_SCENE_MAX_BODIES; i++) {
        if (perp_scene_add_body(scene, &body, NULL) != PERP_STATUS_OK) {
            fail_msg("body %d was refused", i);
        }
    }
    perp_error error;
    assert_int_equal(perp_scene_add_body(scene, &body, &error), PERP_STATUS_CAPACITY);
    assert_non_null(strstr(error.message, "100000"));
    assert_int_equal(scene->body_count, PERP_SCENE_MAX_BODIES);
    assert_string_equal(scene->bodies[PERP_SCENE_MAX_BODIES - 1].name, "b");
    perp_scene_free(scene);

    scene = new_scene(true);
    const perp_pair pair = pair_of("a", "b");
    for (int i = 0; i < PERP_SCENE_MAX_PAIRS; i++) {
        assert_int_equal(perp_scene_add_pair(scene, &pair, NULL), PERP_STATUS_OK);
    }
    assert_int_equal(perp_scene_add_pair(scene, &pair, &error), PERP_STATUS_CAPACITY);
    assert_int_equal(scene->pair_count, PERP_SCENE_MAX_PAIRS);
    perp_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_shapes_of_each_dimension),
        cmocka_unit_test(test_name_characters),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_all_errors_at_once),
        cmocka_unit_test(test_earlier_complaints),
        cmocka_unit_test(test_places_in_a_file),
        cmocka_unit_test(test_scene_owns_copies),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_resolves),
        cmocka_unit_test(test_resolves_planar),
        cmocka_unit_test(test_names_of_kinds),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_validation_without_memory),
        cmocka_unit_test(test_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
