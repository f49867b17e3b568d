/* Rules of joints, and of loops and forces, which refer to bodies as joints do. */
#include "scene_rules.h"

/* ---- the joint itself -------------------------------------------------------------------------------------------- */

RULE(joint_name)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.name = bad ? "a b" : "a_b";
    add_hinge(s, joint);
}
RULE(command_drive)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.control = PERP_CONTROL_POSITION;
    joint.command_set = true;
    joint.command.rate = bad ? NAN : 1.0;
    add_hinge(s, joint);
}
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

/* ---- what joints refer to ---------------------------------------------------------------------------------------- */

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

/* ---- loops ------------------------------------------------------------------------------------------------------- */

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

/* ---- forces ------------------------------------------------------------------------------------------------------ */

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

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* ---- coupled joints ---------------------------------------------------------------------------------------------- */

static void add_knee(perp_scene *s, perp_joint_kind kind)
{
    add_body(s, sound_body(s, "leg"));
    perp_joint knee = hinge_of(kind);
    knee.name = "knee";
    knee.child = "leg";
    knee.position[0] = 0.5;
    knee.position_set = true;
    add_joint(s, knee);
}
static perp_joint mimic_of(const char *other)
{
    perp_joint joint = hinge_of(PERP_JOINT_REVOLUTE);
    joint.mimic = other;
    return joint;
}
RULE(mimic_unknown)
{
    add_hinge(s, mimic_of(bad ? "Knee" : "knee"));
    add_knee(s, PERP_JOINT_REVOLUTE);
}
RULE(mimic_itself)
{
    add_hinge(s, mimic_of(bad ? "hinge" : "knee"));
    add_knee(s, PERP_JOINT_REVOLUTE);
}
RULE(mimic_ring)
{
    add_hinge(s, mimic_of("ankle"));
    add_knee(s, PERP_JOINT_REVOLUTE);
    perp_joint ankle = mimic_of(bad ? "hinge" : "knee");
    ankle.name = "ankle";
    ankle.child = "foot";
    add_body(s, sound_body(s, "foot"));
    add_joint(s, ankle);
}
RULE(mimic_of_planar)
{
    add_hinge(s, mimic_of("knee"));
    add_knee(s, bad ? PERP_JOINT_PLANAR : PERP_JOINT_REVOLUTE);
}
RULE(mimic_by_planar)
{
    perp_joint joint = hinge_of(bad ? PERP_JOINT_PLANAR : PERP_JOINT_REVOLUTE);
    joint.mimic = "knee";
    add_hinge(s, joint);
    add_knee(s, PERP_JOINT_REVOLUTE);
}
RULE(mimic_ratio)
{
    perp_joint joint = mimic_of("knee");
    joint.mimic_ratio = bad ? 0.0 : -2.0;
    add_hinge(s, joint);
    add_knee(s, PERP_JOINT_REVOLUTE);
}
RULE(mimic_ratio_finite)
{
    perp_joint joint = mimic_of("knee");
    joint.mimic_ratio = bad ? NAN : -2.0;
    add_hinge(s, joint);
    add_knee(s, PERP_JOINT_REVOLUTE);
}
RULE(mimic_offset)
{
    perp_joint joint = mimic_of("knee");
    joint.mimic_offset = bad ? INFINITY : 3.0;
    add_hinge(s, joint);
    add_knee(s, PERP_JOINT_REVOLUTE);
}
/* It begins at 2 * 0.5 - 0.25. */
RULE(mimic_start)
{
    perp_joint joint = mimic_of("knee");
    joint.mimic_ratio = 2.0;
    joint.mimic_offset = -0.25;
    joint.limits_set = true;
    joint.limits[0] = -1.0;
    joint.limits[1] = bad ? 0.749 : 0.75;
    add_hinge(s, joint);
    add_knee(s, PERP_JOINT_REVOLUTE);
}
static void add_tendon(perp_scene *s, const char *name, perp_loop_term term, double length)
{
    add_loop(s, (perp_loop){.name = name, .kind = PERP_LOOP_JOINTS, .term_count = 1, .terms = &term, .length = length});
}
RULE(tendon_name)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_tendon(s, bad ? "a b" : "a_b", (perp_loop_term){"hinge", 1.0, 0}, 0.0);
}
RULE(tendon_twice)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_tendon(s, "cord", (perp_loop_term){"hinge", 1.0, 0}, 0.0);
    add_tendon(s, bad ? "cord" : "rope", (perp_loop_term){"hinge", 2.0, 0}, 0.0);
}
RULE(tendon_empty)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    perp_loop_term term = {"hinge", 1.0, 0};
    add_loop(s, (perp_loop){.name = "cord", .kind = PERP_LOOP_JOINTS, .term_count = bad ? 0 : 1, .terms = &term});
}
RULE(tendon_unknown)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_tendon(s, "cord", (perp_loop_term){bad ? "Hinge" : "hinge", 1.0, 0}, 0.0);
}
RULE(tendon_of_planar)
{
    add_hinge(s, hinge_of(bad ? PERP_JOINT_PLANAR : PERP_JOINT_REVOLUTE));
    add_tendon(s, "cord", (perp_loop_term){"hinge", 1.0, 0}, 0.0);
}
RULE(tendon_coefficient)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_tendon(s, "cord", (perp_loop_term){"hinge", bad ? 0.0 : 1e-9, 0}, 0.0);
}
RULE(tendon_length)
{
    add_hinge(s, hinge_of(PERP_JOINT_REVOLUTE));
    add_tendon(s, "cord", (perp_loop_term){"hinge", 1.0, 0}, bad ? NAN : 1.0);
}

static const rule rules[] = {
    {joint_name, BOTH, "joints.a b", "must not contain blanks"},
    {command_drive, BOTH, "joints.hinge.command.rate", "finite number"},
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
    {mimic_unknown, BOTH, "joints.hinge.mimic.joint", "no joint `Knee`; did you mean `knee`?"},
    {mimic_itself, BOTH, "joints.hinge.mimic.joint", "cannot mimic itself"},
    {mimic_ring, BOTH, "joints.hinge.mimic.joint", "ring"},
    {mimic_of_planar, BOTH, "joints.hinge.mimic.joint", "only revolute, prismatic and screw"},
    {mimic_by_planar, BOTH, "joints.hinge.mimic", "only revolute, prismatic and screw"},
    {mimic_ratio, BOTH, "joints.hinge.mimic.ratio", "must not be 0"},
    {mimic_ratio_finite, BOTH, "joints.hinge.mimic.ratio", "finite number"},
    {mimic_offset, BOTH, "joints.hinge.mimic.offset", "finite number"},
    {mimic_start, BOTH, "joints.hinge.limits", "outside the limits"},
    {tendon_name, BOTH, "tendons.a b", "must not contain"},
    {tendon_twice, BOTH, "tendons.cord", "two tendons"},
    {tendon_empty, BOTH, "tendons.cord.joints", "needs joints"},
    {tendon_unknown, BOTH, "tendons.cord.joints.Hinge", "no joint `Hinge`; did you mean `hinge`?"},
    {tendon_of_planar, BOTH, "tendons.cord.joints.hinge", "only revolute, prismatic and screw"},
    {tendon_coefficient, BOTH, "tendons.cord.joints.hinge", "not 0"},
    {tendon_length, BOTH, "tendons.cord.length", "finite number"},
    {force_unknown, BOTH, "forces.1.body", "no body `pan`"},
    {force_world, BOTH, "forces.0.body", "not the world"},
    {force_point, BOTH, "forces.0.point", "finite components"},
    {force_drive, BOTH, "forces.0.force.1.rate", "finite number"},
    {force_torque, BOTH, "forces.0.torque.2.offset", "finite number"},
};

static void test_every_rule(void **state)
{
    (void)state;
    assert_int_equal(broken_rules(rules, COUNT(rules)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
