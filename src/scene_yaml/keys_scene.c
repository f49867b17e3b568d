/* Joints, loops, forces, contacts, run settings, and the scene as a whole. */
#include "scene_yaml/keys.h"
#include "scene_yaml/units.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

typedef perp_status add_function(decoder *d, const yaml_node *node, perp_error *error);

/* Walks a mapping of named things, or a list, handing each child to `add`. */
static bool read_each(decoder *d, const yaml_node *node, yaml_kind kind, const char *what, add_function *add)
{
    if (perp_yaml_tree_is_null(node)) {
        return true;
    }
    if (node->kind != kind) {
        return perp_decode_error(d, node, "expected %s", what);
    }
    for (const yaml_node *child = node->first; child && !d->out_of_memory; child = child->next) {
        perp_error error;
        const perp_status status = add(d, child, &error);
        d->out_of_memory = d->out_of_memory || status == PERP_STATUS_OUT_OF_MEMORY;
        if (status == PERP_STATUS_CAPACITY) {
            return perp_decode_error(d, child, "%s", error.message);
        }
    }
    return true;
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

static const char *const joint_words[] = {"revolute", "prismatic", "ball", "planar", "screw", "fixed", NULL};

/* In the plane an axis has two components (prismatic) or is [0, 0, +-1] (revolute). */
static bool read_axis(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    double x[3] = {0, 0, 0};
    const yaml_node *type = perp_yaml_tree_find(node->parent, "type", 4);
    const bool two = d->planar && type && perp_find_word(type, joint_words) + 1 == PERP_JOINT_PRISMATIC;
    if (!perp_read_reals(d, node, x, two ? 2 : 3)) {
        return false;
    }
    joint->axis_set = true;
    joint->axis = perp_vec3_make(x[0], x[1], x[2]);
    return true;
}

static bool read_limits(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    if (node->kind != YAML_LIST || node->count != 2) {
        return perp_decode_error(d, node, "expected [lo, hi]; -.inf and .inf are allowed");
    }
    const bool low = perp_read_real_or_infinite(d, node->first, &joint->limits[0]);
    const bool high = perp_read_real_or_infinite(d, node->last, &joint->limits[1]);
    joint->limits_set = low && high;
    return joint->limits_set;
}

/* One number, or as many as the joint's kind has. The kind may stand after this key, so it is looked up; a wrong one is
 * reported where it stands. */
static bool read_joint_coordinates(decoder *d, const yaml_node *node, double *values, bool position)
{
    const yaml_node *type = perp_yaml_tree_find(node->parent, "type", 4);
    const int word = type ? perp_find_word(type, joint_words) : -1;
    const perp_joint_kind kind = (perp_joint_kind)(word + 1);
    const int size = position ? perp_joint_position_size(kind) : perp_joint_velocity_size(kind);
    return size > 1 ? perp_read_reals(d, node, values, size) : perp_read_real(d, node, values);
}

static bool read_position(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    joint->position_set = read_joint_coordinates(d, node, joint->position, true);
    return joint->position_set;
}

static bool read_joint_velocity(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    joint->velocity_set = read_joint_coordinates(d, node, joint->velocity, false);
    return joint->velocity_set;
}

static bool read_command(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    joint->command_set = perp_read_drive(d, node, &joint->command);
    return joint->command_set;
}

static bool read_compensation(decoder *d, const yaml_node *node, void *target)
{
    perp_joint *joint = target;
    joint->compensation_set = perp_read_bool(d, node, &joint->gravity_compensation);
    return joint->compensation_set;
}

static const key_spec mimic_keys[] = {
    {"joint", "JOINT", "", "revolute, prismatic or screw, as the joint itself: q = ratio q_other + offset",
     perp_read_text, offsetof(perp_joint, mimic), KEY_REQUIRED},
    {"ratio", "number, not 0", "1", "what this joint moves per motion of the other", perp_read_real,
     offsetof(perp_joint, mimic_ratio), 0},
    {"offset", "number", "0", "rad or m, where the other is at 0", perp_read_real, offsetof(perp_joint, mimic_offset),
     0},
};
const key_table perp_keys_mimic = {"A joint that follows another: `joints.NAME.mimic`", mimic_keys, COUNT(mimic_keys)};

static bool read_mimic(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_mimic, target);
}

static const key_spec joint_keys[] = {
    {"type", "revolute, prismatic, ball, planar, screw, fixed", "", "how the child moves in its parent",
     perp_read_choice_from_1, offsetof(perp_joint, kind), KEY_REQUIRED},
    {"parent", "BODY, world", "", "what it moves in", perp_read_text, offsetof(perp_joint, parent), KEY_REQUIRED},
    {"child", "BODY", "", "the body that the joint moves; a body is the child of one joint", perp_read_text,
     offsetof(perp_joint, child), KEY_REQUIRED},
    {"anchor", "[x, y, z], planar [x, y]", "zeros", "m, in the parent's frame at position 0", perp_read_vector,
     offsetof(perp_joint, anchor), 0},
    {"axis", "[x, y, z], planar prismatic [x, y]", "",
     "in the parent's frame at position 0; of a planar joint its normal; planar revolute: omitted or [0, 0, +-1]",
     read_axis, 0, 0},
    {"limits", "[lo, hi]", "none", "frictionless stops", read_limits, 0, 0},
    {"position", "number; ball [w, x, y, z]; planar [x, y, theta]", "0", "initial, rad or m", read_position, 0, 0},
    {"velocity", "number; ball [wx, wy, wz] in the parent; planar [vx, vy, omega]", "0", "initial", read_joint_velocity,
     0, 0},
    {"pitch", "number", "", "screw: metres per radian", perp_read_real, offsetof(perp_joint, pitch), KEY_SPATIAL},
    {"control", "none, position, impedance, velocity, torque", "none",
     "position and velocity take the command exactly; impedance is the force K (command - q) - D dq/dt; torque is the "
     "command itself",
     perp_read_choice, offsetof(perp_joint, control), 0},
    {"stiffness", "number >= 0", "0", "K, N/m or N m/rad", perp_read_real, offsetof(perp_joint, stiffness), 0},
    {"damping", "number >= 0", "0", "D", perp_read_real, offsetof(perp_joint, damping), 0},
    {"armature", "number >= 0", "0", "inertia of the drive, kg m^2 or kg", perp_read_real,
     offsetof(perp_joint, armature), 0},
    {"command", "DRIVE", "holds `position`; 0", "where a controlled joint should be, rad or m; its velocity; its force",
     read_command, 0, 0},
    {"effort", "number > 0", "none", "N or N m: the most that a torque or an impedance joint's spring gives",
     perp_read_optional, offsetof(perp_joint, effort), 0},
    {"gravity_compensation", "true, false", "the scene's", "its drive carries the weight of all that is behind it",
     read_compensation, 0, 0},
    {"mimic", "{joint, ratio, offset}", "none", "follows another joint; begins there where `position` is not written",
     read_mimic, 0, 0},
};
const key_table perp_keys_joint = {"A joint: `joints.NAME`", joint_keys, COUNT(joint_keys)};

static perp_status add_joint(decoder *d, const yaml_node *node, perp_error *error)
{
    perp_joint joint = perp_joint_default(node->key, PERP_JOINT_NONE);
    perp_read_map(d, node, &perp_keys_joint, &joint);
    return perp_scene_add_joint(scene_of(d)->scene, &joint, error);
}

static bool read_joints(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_MAP, "a mapping: NAME: {...}, one for each joint", add_joint);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

static const key_spec loop_keys[] = {
    {"type", "point, weld", "", "weld also keeps the relative rotation of the initial pose", perp_read_choice_from_1,
     offsetof(perp_loop, kind), KEY_REQUIRED},
    {"a", "BODY, world", "", "one side", perp_read_text, offsetof(perp_loop, a), KEY_REQUIRED},
    {"b", "BODY, world", "", "the other", perp_read_text, offsetof(perp_loop, b), KEY_REQUIRED},
    {"anchor_a", "[x, y, z], planar [x, y]", "zeros", "m, frame of a", perp_read_vector, offsetof(perp_loop, anchor_a),
     0},
    {"anchor_b", "[x, y, z], planar [x, y]", "zeros", "m, frame of b", perp_read_vector, offsetof(perp_loop, anchor_b),
     0},
};
const key_table perp_keys_loop = {"A closed loop: `loops.NAME`", loop_keys, COUNT(loop_keys)};

static perp_status add_loop(decoder *d, const yaml_node *node, perp_error *error)
{
    perp_loop loop;
    memset(&loop, 0, sizeof loop);
    loop.name = node->key;
    perp_read_map(d, node, &perp_keys_loop, &loop);
    return perp_scene_add_loop(scene_of(d)->scene, &loop, error);
}

static bool read_loops(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_MAP, "a mapping: NAME: {...}, one for each loop", add_loop);
}

/* ---- tendons ----------------------------------------------------------------------------------------------------- */

static bool read_terms(decoder *d, const yaml_node *node, void *target)
{
    perp_loop *loop = target;
    if (node->kind != YAML_MAP) {
        return perp_decode_error(d, node, "expected a mapping: JOINT: COEFFICIENT, one for each joint");
    }
    loop->terms = perp_decode_memory(d, node->count, sizeof *loop->terms);
    bool good = loop->terms != NULL;
    for (const yaml_node *child = loop->terms ? node->first : NULL; child; child = child->next) {
        perp_loop_term *term = &loop->terms[loop->term_count++];
        *term = (perp_loop_term){child->key, 1.0, -1}; /* 1: if it is no number, that is the only complaint */
        good = perp_read_real(d, child, &term->coefficient) && good;
    }
    return good;
}

static const key_spec tendon_keys[] = {
    {"joints", "{JOINT: NUMBER, ..}", "",
     "c of revolute, prismatic and screw joints: sum c q = length; of a pulley its radius", read_terms, 0,
     KEY_REQUIRED},
    {"length", "number", "0", "m", perp_read_real, offsetof(perp_loop, length), 0},
};
const key_table perp_keys_tendon = {"A tendon: `tendons.NAME`", tendon_keys, COUNT(tendon_keys)};

static perp_status add_tendon(decoder *d, const yaml_node *node, perp_error *error)
{
    perp_loop loop = {.name = node->key, .kind = PERP_LOOP_JOINTS};
    perp_read_map(d, node, &perp_keys_tendon, &loop);
    return perp_scene_add_loop(scene_of(d)->scene, &loop, error);
}

static bool read_tendons(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_MAP, "a mapping: NAME: {...}, one for each tendon", add_tendon);
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

static bool read_drives(decoder *d, const yaml_node *node, perp_drive *drives, int count)
{
    if (node->kind != YAML_LIST || node->count != count) {
        return perp_decode_error(d, node, "expected a list of %d (numbers or drives)", count);
    }
    bool good = true;
    for (const yaml_node *child = node->first; child; child = child->next) {
        good = perp_read_drive(d, child, &drives[child->index]) && good;
    }
    return good;
}

static bool read_force_vector(decoder *d, const yaml_node *node, void *target)
{
    return read_drives(d, node, target, d->planar ? 2 : 3);
}

/* In the plane a torque is one number or drive, with or without brackets. */
static bool read_torque(decoder *d, const yaml_node *node, void *target)
{
    perp_drive *torque = target;
    if (!d->planar) {
        return read_drives(d, node, torque, 3);
    }
    return node->kind == YAML_LIST ? read_drives(d, node, &torque[2], 1) : perp_read_drive(d, node, &torque[2]);
}

static const key_spec force_keys[] = {
    {"body", "BODY", "", "what it acts on", perp_read_text, offsetof(perp_force, body), KEY_REQUIRED},
    {"point", "[x, y, z], planar [x, y]", "the origin", "where it acts, in the body's frame", perp_read_vector,
     offsetof(perp_force, point), 0},
    {"force", "[DRIVE, DRIVE, DRIVE], planar two", "zeros", "N", read_force_vector, offsetof(perp_force, force), 0},
    {"torque", "[DRIVE, DRIVE, DRIVE], planar DRIVE", "zeros", "N m", read_torque, offsetof(perp_force, torque), 0},
    {"frame", "world, body", "world", "in which force and torque are given", perp_read_second_choice,
     offsetof(perp_force, in_body_frame), 0},
};
const key_table perp_keys_force = {"A force: an element of `forces`", force_keys, COUNT(force_keys)};

static perp_status add_force(decoder *d, const yaml_node *node, perp_error *error)
{
    perp_force force;
    memset(&force, 0, sizeof force);
    perp_read_map(d, node, &perp_keys_force, &force);
    return perp_scene_add_force(scene_of(d)->scene, &force, error);
}

static bool read_forces(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_LIST, "a list of {body, point, force, torque, frame}", add_force);
}

/* ---- compliance -------------------------------------------------------------------------------------------------- */

/* One number, a diagonal or a matrix. A planar contact has no o: in the plane two entries do, and a third is left out.
 */
static bool read_tensor(decoder *d, const yaml_node *node, void *target)
{
    perp_tensor *tensor = target;
    const int n = d->planar ? 2 : 3;
    if (node->kind == YAML_SCALAR) {
        tensor->count = 1;
        return perp_read_real(d, node, tensor->values);
    }
    const int given = d->planar && node->kind == YAML_LIST && node->count == 3 ? 3 : n;
    if (node->kind != YAML_LIST || node->count != given) {
        return perp_decode_error(d, node, "expected a number, a list of %d or a %d x %d matrix", n, n, n);
    }
    const bool matrix = node->first->kind == YAML_LIST;
    double values[9] = {0};
    bool good = matrix || perp_read_reals(d, node, values, given);
    for (const yaml_node *row = matrix ? node->first : NULL; row; row = row->next) {
        good = perp_read_reals(d, row, &values[given * row->index], given) && good;
    }
    tensor->count = matrix ? n * n : n;
    for (int i = 0; i < tensor->count; i++) {
        tensor->values[i] = matrix ? values[given * (i / n) + i % n] : values[i];
    }
    return good;
}

/* The order is that of the PERP_COMPLIANCE_* bits. */
static const key_spec compliance_keys[] = {
    {"stiffness", "number, [k_n, k_t, k_o], 3x3 (planar: k_o may be left out)", "1e4",
     "N/m per element; a matrix per patch", read_tensor, offsetof(perp_compliance, stiffness), 0},
    {"damping", "number, [..], 3x3", "10", "N s/m, likewise", read_tensor, offsetof(perp_compliance, damping), 0},
    {"elements", "whole number", "1", "n_s: a patch has n_s^2 elements", perp_read_int,
     offsetof(perp_compliance, elements), 0},
    {"size", "number >= 0", "0.01", "of a patch, m", perp_read_real, offsetof(perp_compliance, size), 0},
    {"law", "kelvin-voigt, hunt-crossley", "kelvin-voigt", "damping constant, or growing with depth", perp_read_choice,
     offsetof(perp_compliance, law), 0},
    {"tangential", "compliant, rigid", "compliant", "springs along the surface, or none", perp_read_second_choice,
     offsetof(perp_compliance, tangential_rigid), 0},
    {"gamma", "number >= 0", "1e-4",
     "N, of a whole patch: smooths the friction cone, friction is up to mu fn + gamma; 0: exact", perp_read_real,
     offsetof(perp_compliance, gamma), 0},
    {"stiffness_scale", "number > 0", "1", "e: K / e, C / sqrt(e)", perp_read_real,
     offsetof(perp_compliance, stiffness_scale), 0},
};
const key_table perp_keys_compliance = {"Compliance, of the scene or of a pair", compliance_keys,
                                        COUNT(compliance_keys)};

static bool read_compliance(decoder *d, const yaml_node *node, void *target)
{
    perp_compliance *compliance = target;
    const bool good = perp_read_map(d, node, &perp_keys_compliance, compliance);
    for (int i = 0; i < COUNT(compliance_keys); i++) {
        if (perp_yaml_tree_find(node, compliance_keys[i].key, strlen(compliance_keys[i].key))) {
            compliance->set |= 1u << i;
        }
    }
    return good;
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static bool read_directions(decoder *d, const yaml_node *node, void *target)
{
    perp_pair *pair = target;
    if (node->kind != YAML_LIST || node->count < 1 || node->count > 2) {
        return perp_decode_error(d, node, "expected one or two world directions, such as [[0, 1, 0]]");
    }
    bool good = true;
    for (const yaml_node *child = node->first; child; child = child->next) {
        good = perp_read_vector(d, child, &pair->directions[child->index]) && good;
    }
    pair->direction_count = node->count;
    return good;
}

static bool read_tangent(decoder *d, const yaml_node *node, void *target)
{
    perp_pair *pair = target;
    pair->tangent_set = perp_read_vector(d, node, &pair->tangent);
    return pair->tangent_set;
}

static bool read_pair_compliance(decoder *d, const yaml_node *node, void *target)
{
    perp_pair *pair = target;
    pair->compliance_set = true;
    return read_compliance(d, node, &pair->compliance);
}

static const key_spec pair_keys[] = {
    {"friction", "number >= 0", "from the shapes", "coefficient of this pair", perp_read_optional,
     offsetof(perp_pair, friction), 0},
    {"friction_directions", "[[x, y, z], ..]", "all", "friction acts only in the span of these world directions",
     read_directions, 0, 0},
    {"tangent", "[x, y, z]", "from the normal", "first tangent of the contact frame, projected", read_tangent, 0, 0},
    {"restitution", "0 to 1", "0", "of impacts, on dynamic rungs", perp_read_real, offsetof(perp_pair, restitution), 0},
    {"compliance", "{...}", "the scene's", "overrides single keys", read_pair_compliance, 0, 0},
};
const key_table perp_keys_pair = {"A pair: `contacts.pairs.\"BODY BODY\"`", pair_keys, COUNT(pair_keys)};

static perp_status add_pair(decoder *d, const yaml_node *node, perp_error *error)
{
    const size_t first = strcspn(node->key, " ");
    const char *rest = node->key + first + strspn(node->key + first, " ");
    if (first == 0 || *rest == '\0' || strchr(rest, ' ')) {
        perp_decode_error(d, node, "a pair's key is two body names with a blank between: \"BODY BODY\"");
        return PERP_STATUS_OK;
    }
    perp_pair pair;
    memset(&pair, 0, sizeof pair);
    char *name = perp_decode_memory(d, (int)first + 1, 1);
    if (!name) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    memcpy(name, node->key, first);
    pair.a = name;
    pair.b = rest;
    perp_read_map(d, node, &perp_keys_pair, &pair);
    return perp_scene_add_pair(scene_of(d)->scene, &pair, error);
}

static bool read_pairs(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_MAP, "a mapping: \"BODY BODY\": {...}", add_pair);
}

static perp_status add_exclusion(decoder *d, const yaml_node *node, perp_error *error)
{
    const char *a = NULL, *b = NULL;
    if (node->kind != YAML_LIST || node->count != 2) {
        perp_decode_error(d, node, "expected [BODY, BODY]");
    } else if (perp_read_text(d, node->first, &a) && perp_read_text(d, node->last, &b)) {
        return perp_scene_add_exclusion(scene_of(d)->scene, a, b, error);
    }
    return PERP_STATUS_OK;
}

static bool read_exclude(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return read_each(d, node, YAML_LIST, "a list of [BODY, BODY]", add_exclusion);
}

static const key_spec contacts_keys[] = {
    {"margin", "number >= 0", "0.02", "contacts are listed up to this gap, m", perp_read_real,
     offsetof(perp_scene, margin), 0},
    {"friction", "number >= 0", "0.5", "where shapes and pairs say nothing", perp_read_real,
     offsetof(perp_scene, friction), 0},
    {"pairs", "{\"BODY BODY\": {..}}", "none", "overrides for two bodies, in either order", read_pairs, 0, 0},
    {"exclude", "[[BODY, BODY], ..]", "none", "pairs that never touch", read_exclude, 0, 0},
};
const key_table perp_keys_contacts = {"Contacts: `contacts`", contacts_keys, COUNT(contacts_keys)};

static bool read_contacts(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_contacts, target);
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

static const char *nearest_word(const char *word, const char *const *words)
{
    perp_nearest nearest = perp_nearest_begin(word);
    for (int i = 0; words[i]; i++) {
        perp_nearest_offer(&nearest, words[i]);
    }
    return nearest.name;
}

static bool read_model(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    const char *name;
    perp_error error;
    if (!perp_read_text(d, node, &name)) {
        return false;
    }
    if (scene_of(d)->models && perp_find_word(node, scene_of(d)->models) < 0) {
        const char *nearest = nearest_word(name, scene_of(d)->models);
        return perp_decode_error(d, node, "there is no model `%.60s`%s%s%s (perp models)", name,
                                 nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
    }
    d->out_of_memory = d->out_of_memory || perp_scene_set_model(scene_of(d)->scene, name, &error) != PERP_STATUS_OK;
    scene_of(d)->scene->run.model_set = true;
    return true;
}

static bool read_until(decoder *d, const yaml_node *node, void *target)
{
    perp_run_settings *run = target;
    run->until_set = perp_read_real(d, node, &run->until);
    return run->until_set;
}

static bool read_steps(decoder *d, const yaml_node *node, void *target)
{
    perp_run_settings *run = target;
    run->steps_set = perp_read_int(d, node, &run->steps);
    return run->steps_set;
}

static bool read_cone(decoder *d, const yaml_node *node, void *target)
{
    const char *words[PERP_CONE_COUNT] = {NULL};
    for (int i = 1; i < PERP_CONE_COUNT; i++) {
        words[i - 1] = perp_cone_name((perp_cone)i);
    }
    if (perp_yaml_tree_is_null(node)) { /* `--set run.cone=~` takes a choice back */
        *(perp_cone *)target = PERP_CONE_UNSET;
        return true;
    }
    const int word = perp_read_word(d, node, words);
    *(perp_cone *)target = (perp_cone)(word + 1);
    return word >= 0;
}

static const key_spec run_keys[] = {
    {"model", "a name from `perp models`", "qs-qp", "the rung", read_model, 0, 0},
    {"h", "number > 0", "0.01", "time step, s", perp_read_real, offsetof(perp_run_settings, h), 0},
    {"smoothing", "number >= 0", "0", "log-barrier weight of `quasidynamic`", perp_read_real,
     offsetof(perp_run_settings, smoothing), 0},
    {"until", "number", "1", "s; steps = round(until / h)", read_until, 0, 0},
    {"steps", "whole number", "", "instead of until", read_steps, 0, 0},
    {"cone", "quadratic, rays, box", "the rung's own", "friction cone", read_cone, offsetof(perp_run_settings, cone),
     0},
    {"rays", "even number >= 4", "4", "directions of the cone `rays`; in the plane always 2", perp_read_int,
     offsetof(perp_run_settings, rays), 0},
    {"prediction", "exact, taylor", "exact", "driven bodies end a step at x(t + h), or at x(t) + h x'(t)",
     perp_read_choice, offsetof(perp_run_settings, prediction), 0},
    {"tolerance", "number > 0", "1e-8", "on the step's own law", perp_read_real, offsetof(perp_run_settings, tolerance),
     0},
    {"substep_tolerance", "number > 0, .inf", ".inf", "splits a step whose true gaps differ by more, m",
     perp_read_real_or_infinite, offsetof(perp_run_settings, substep_tolerance), 0},
    {"time_scale", "number > 0", "1", "eps: inertia is multiplied by eps^2", perp_read_real,
     offsetof(perp_run_settings, time_scale), 0},
    {"threads", "whole number", "1", "results do not depend on it", perp_read_int, offsetof(perp_run_settings, threads),
     0},
};
const key_table perp_keys_run = {"How to run: `run`", run_keys, COUNT(run_keys)};

static bool read_run(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_run, target);
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

static bool read_version(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    int version = 0;
    if (!perp_read_int(d, node, &version)) {
        return false;
    }
    return version == 1 ||
           perp_decode_error(d, node, "this is version 1 of the format; write `perp: 1`, not %d", version);
}

static bool read_scene_name(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    const char *name;
    perp_error error;
    if (!perp_read_text(d, node, &name)) {
        return false;
    }
    d->out_of_memory = d->out_of_memory || perp_scene_set_name(scene_of(d)->scene, name, &error) != PERP_STATUS_OK;
    return true;
}

/* Includes were merged before (load.c); one that is still here was put in by a setting. */
static bool refuse_include(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    return perp_decode_error(d, node, "`include` cannot be set; write it in the file");
}

static const key_spec scene_keys[] = {
    {"perp", "1", "", "version of the format", read_version, 0, KEY_REQUIRED},
    {"name", "text", "", "shown in summaries", read_scene_name, 0, 0},
    {"include", "[FILE, ..]", "none", "merged first; under the scene's folder; a name defined twice is an error",
     refuse_include, 0, 0},
    {"units", "{length, angle}", "m, rad", "of this file; everything else is in SI", perp_read_units, 0, 0},
    {"planar", "true, false", "false", "x-y plane: bodies are (x, y, theta), vectors have 2 components", perp_read_bool,
     offsetof(perp_scene, planar), 0},
    {"gravity", "[x, y, z], planar [x, y]", "[0, 0, -9.81], planar [0, -9.81]", "m/s^2", perp_read_vector,
     offsetof(perp_scene, gravity), 0},
    {"gravity_compensation", "true, false", "false",
     "joints under control that say nothing themselves carry the weight of all that is behind them", perp_read_bool,
     offsetof(perp_scene, gravity_compensation), 0},
    {"bodies", "{NAME: BODY}", "none", "in this order everywhere", perp_read_bodies, 0, 0},
    {"joints", "{NAME: JOINT}", "none", "what connects bodies to trees", read_joints, 0, 0},
    {"loops", "{NAME: LOOP}", "none", "what closes chains", read_loops, 0, 0},
    {"tendons", "{NAME: TENDON}", "none", "what couples joints: linear equations of their positions", read_tendons, 0,
     0},
    {"forces", "[FORCE, ..]", "none", "applied to bodies, besides gravity", read_forces, 0, 0},
    {"contacts", "{margin, friction, pairs, exclude}", "", "what may touch, and its friction", read_contacts, 0, 0},
    {"compliance", "{...}", "", "for the rung `compliant`", read_compliance, offsetof(perp_scene, compliance), 0},
    {"run", "{...}", "", "how to simulate", read_run, offsetof(perp_scene, run), 0},
};
const key_table perp_keys_scene = {"The scene", scene_keys, COUNT(scene_keys)};

bool perp_read_scene(decoder *d, const yaml_node *root)
{
    return perp_read_map(d, root, &perp_keys_scene, scene_of(d)->scene);
}

/* ---- reference page ---------------------------------------------------------------------------------------------- */

static void write_table(const key_table *table, perp_text_sink *sink, void *context)
{
    char line[1024];
    char title[200];
    snprintf(title, sizeof title, "%s", table->title);
    snprintf(line, sizeof line, "\n## %s\n\n| key | write | default | meaning |\n|---|---|---|---|\n", title);
    sink(context, line);
    for (int i = 0; i < table->count; i++) {
        const key_spec *key = &table->keys[i];
        const char *where = key->flags & KEY_PLANAR ? " (planar)" : key->flags & KEY_SPATIAL ? " (spatial)" : "";
        snprintf(line, sizeof line, "| `%s`%s | %s | %s | %s |\n", key->key, where, key->form,
                 key->flags & KEY_REQUIRED ? "**required**" : key->fallback, key->meaning);
        sink(context, line);
    }
}

void perp_scene_key_reference(perp_text_sink *sink, void *context)
{
    static const key_table *const tables[] = {
        &perp_keys_scene,  &perp_keys_units,      &perp_keys_body,    &perp_keys_pose,  &perp_keys_velocity,
        &perp_keys_driven, &perp_keys_shape,      &perp_keys_capsule, &perp_keys_plane, &perp_keys_mesh,
        &perp_keys_hole,   &perp_keys_support,    &perp_keys_joint,   &perp_keys_mimic, &perp_keys_loop,
        &perp_keys_tendon, &perp_keys_force,      &perp_keys_drive,   &perp_keys_sine,  &perp_keys_contacts,
        &perp_keys_pair,   &perp_keys_compliance, &perp_keys_run};
    sink(context, "# Keys of a scene file\n\n"
                  "Made from the loader's own tables by `perp check --keys`; the tests compare this page with it.\n"
                  "Lengths are metres and angles rad unless `units` says otherwise; masses kg, forces N, times s. An "
                  "unknown key is an error that names\n"
                  "the nearest known one. `DRIVE` is a number or a function of time (its own table below).\n");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        write_table(tables[i], sink, context);
    }
}
