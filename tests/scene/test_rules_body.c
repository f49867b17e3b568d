/* Rules of bodies: names, drives, mass, placement, velocity. */
#include "scene_rules.h"

/* ---- drives ------------------------------------------------------------------------------------------------------ */

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
                               .interpolation = bad ? PERP_INTERPOLATE_SPLINE : PERP_INTERPOLATE_CUBIC});
}
RULE(table_rises)
{
    const double times[] = {0, bad ? 0.9e-50 : 1.1e-50}, values[] = {0, 1};
    add_driven(s, (perp_drive){.knot_count = 2, .times = times, .values = values});
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

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
RULE(two_bodies)
{
    add_body(s, sound_body(s, "cup"));
    add_body(s, sound_body(s, bad ? "cup" : "Cup"));
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

/* ---- placement, motion and velocity ------------------------------------------------------------------------------ */

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

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const rule rules[] = {
    {drive_offset, BOTH, "bodies.cup.driven.y.offset", "finite number"},
    {drive_rate, BOTH, "bodies.cup.driven.y.rate", "finite number"},
    {sine_amplitude, BOTH, "bodies.cup.driven.y.sines.1.amplitude", "finite number"},
    {sine_omega, BOTH, "bodies.cup.driven.y.sines.1.omega", "finite number"},
    {sine_phase, BOTH, "bodies.cup.driven.y.sines.1.phase", "finite number"},
    {table_time_finite, BOTH, "bodies.cup.driven.y.times.2", "finite number"},
    {table_times_increase, BOTH, "bodies.cup.driven.y.times.2", "must increase"},
    {table_value_finite, BOTH, "bodies.cup.driven.y.values.2", "finite number"},
    {table_steep, BOTH, "bodies.cup.driven.y.times", "too steep for a spline"},
    {table_rises, BOTH, "bodies.cup.driven.y.times", "too steeply"},
    {body_needs_name, BOTH, "bodies.", "needs a name"},
    {body_name_empty, BOTH, "bodies.", "needs a name"},
    {body_name_world, BOTH, "bodies.world", "another name"},
    {body_name_long, BOTH, NULL, "at most 127 characters"},
    {body_name_utf8, BOTH, "bodies.cup?", "valid UTF-8"},
    {two_bodies, BOTH, "bodies.cup", "two bodies"},
    {mass_sign, BOTH, "bodies.cup.mass", "must not be negative"},
    {density_sign, BOTH, "bodies.cup.density", "must not be negative"},
    {mass_and_density, BOTH, "bodies.cup.mass", "not both"},
    {mass_and_shape_density, BOTH, "bodies.cup.mass", "not both"},
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
};

static void test_every_rule(void **state)
{
    (void)state;
    assert_int_equal(broken_rules(rules, COUNT(rules)), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_name_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
