/* Units are turned into SI in the tree, before anything is decoded: each number's text is replaced, and it keeps its
 * place for messages. The tables below say what each key is; whatever is not there stays as written. */
#include "scene_yaml/units.h"

#include <perp/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* times / over, so that 5 mm are the double nearest to 0.005 m. */
typedef struct ratio {
    double times, over;
} ratio;

typedef struct unit {
    const char *name;
    ratio size; /* m or rad */
} unit;

static const unit LENGTHS[] = {
    {"m", {1.0, 1.0}}, {"cm", {1.0, 100.0}}, {"mm", {1.0, 1000.0}}, {"um", {1.0, 1000000.0}}, {"in", {254.0, 10000.0}}};
static const unit ANGLES[] = {{"rad", {1.0, 1.0}}, {"deg", {3.14159265358979323846, 180.0}}};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS, ANGLE_COUNT = sizeof ANGLES / sizeof *ANGLES };

typedef struct converter {
    yaml_reader *reader;
    ratio length, angle;
} converter;

static const unit *find_unit(const yaml_node *node, const unit *units, int count)
{
    for (int i = 0; node && node->kind == YAML_SCALAR && i < count; i++) {
        if (strcmp(node->text, units[i].name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static yaml_node *find(const yaml_node *map, const char *key)
{
    return map && map->kind == YAML_MAP ? perp_yaml_tree_find(map, key, strlen(key)) : NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* Numbers of a scalar, a list or lists of lists. */
static void scale(converter *c, yaml_node *node, ratio factor)
{
    if (!node || node->in_si) {
        return;
    }
    for (yaml_node *child = node->kind == YAML_LIST ? node->first : NULL; child; child = child->next) {
        scale(c, child, factor);
    }
    if (node->kind != YAML_SCALAR) {
        return;
    }
    node->in_si = true;
    if (factor.times == factor.over || !perp_is_number(node)) {
        return;
    }
    char text[40];
    snprintf(text, sizeof text, "%.17g", strtod(node->text, NULL) * factor.times / factor.over);
    const char *kept = perp_arena_text(c->reader->arena, text, strlen(text));
    c->reader->out_of_memory = c->reader->out_of_memory || !kept;
    node->text = kept ? kept : node->text;
}

/* A number, or a function of time. */
static void scale_drive(converter *c, yaml_node *node, ratio factor)
{
    if (!node || node->kind != YAML_MAP) {
        scale(c, node, factor);
        return;
    }
    static const char *const keys[] = {"offset", "rate", "values"};
    for (int i = 0; i < 3; i++) {
        scale(c, find(node, keys[i]), factor);
    }
    const yaml_node *sines = find(node, "sines");
    for (yaml_node *sine = sines ? sines->first : NULL; sine; sine = sine->next) {
        scale(c, find(sine, "amplitude"), factor);
    }
}

static void scale_pose(converter *c, const yaml_node *pose)
{
    scale(c, find(pose, "position"), c->length);
    scale(c, find(pose, "angle"), c->angle);
    scale(c, find(pose, "rpy"), c->angle);
}

/* ---- bodies -------------------------------------------------------------------------------------------------------
 */

/* KEY: 1, in the place of the map; NULL: out of memory. */
static yaml_node *append_one(converter *c, yaml_node *map, const char *key)
{
    yaml_node *one = perp_yaml_tree_new_map(c->reader, map->file, map->line, map->column);
    if (one) {
        one->kind = YAML_SCALAR;
        one->text = "1";
        perp_yaml_tree_append(map, one, key);
    }
    return one;
}

/* The points of a mesh and those of its file alike, by its `scale`. */
static void scale_mesh(converter *c, yaml_node *mesh)
{
    yaml_node *own = find(mesh, "scale");
    if (mesh->in_si) {
        return;
    }
    mesh->in_si = true;
    if (!own && mesh->kind == YAML_MAP && c->length.times != c->length.over) {
        own = append_one(c, mesh, "scale");
    }
    scale(c, own, c->length);
}

static void scale_shape(converter *c, const yaml_node *shape)
{
    static const char *const whole[] = {"sphere", "disc", "box", "ellipsoid", "polygon"};
    static const char *const inside[] = {"capsule", "cylinder", "plane", "halfplane", "hole"};
    static const char *const keys[] = {"radius", "length", "offset"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        scale(c, find(shape, whole[i]), c->length);
    }
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            scale(c, find(find(shape, inside[i]), keys[k]), c->length);
        }
    }
    yaml_node *mesh = find(shape, "mesh");
    if (mesh) {
        scale_mesh(c, mesh);
    }
    scale_pose(c, find(shape, "pose"));
}

static void scale_body(converter *c, const yaml_node *body)
{
    static const char *const linear[] = {"x", "y", "z"}, *const angular[] = {"rx", "ry", "rz", "theta"};
    const yaml_node *points = find(find(body, "support"), "points");
    for (const yaml_node *point = points && points->kind == YAML_LIST ? points->first : NULL; point;
         point = point->next) {
        for (yaml_node *number = point->kind == YAML_LIST ? point->first : NULL; number && number->index < 2;
             number = number->next) {
            scale(c, number, c->length);
        }
    }
    const yaml_node *driven = find(body, "driven"), *velocity = find(body, "velocity"), *shapes = find(body, "shapes");
    scale_pose(c, find(body, "pose"));
    scale(c, find(body, "com"), c->length);
    scale(c, find(velocity, "linear"), c->length);
    scale(c, find(velocity, "angular"), c->angle);
    for (int i = 0; i < 3; i++) {
        scale_drive(c, find(driven, linear[i]), c->length);
    }
    for (int i = 0; i < 4; i++) {
        scale_drive(c, find(driven, angular[i]), c->angle);
    }
    for (const yaml_node *shape = shapes && shapes->kind == YAML_LIST ? shapes->first : NULL; shape;
         shape = shape->next) {
        scale_shape(c, shape);
    }
}

/* ---- joints -------------------------------------------------------------------------------------------------------
 */

static bool is_text(const yaml_node *node, const char *text)
{
    return node && node->kind == YAML_SCALAR && strcmp(node->text, text) == 0;
}

/* Two lengths and an angle. */
static void scale_planar_joint(converter *c, const yaml_node *list)
{
    for (yaml_node *child = list && list->kind == YAML_LIST ? list->first : NULL; child; child = child->next) {
        scale(c, child, child->index < 2 ? c->length : c->angle);
    }
}

static ratio over(ratio a, ratio b)
{
    return (ratio){a.times * b.over, a.over * b.times};
}

/* Of a revolute, prismatic or screw joint; of a name that there is not, no matter. */
static ratio coordinate_unit(const converter *c, const yaml_node *joints, const char *name)
{
    return is_text(find(find(joints, name), "type"), "prismatic") ? c->length : c->angle;
}

/* So that q = ratio q_other + offset in the units of the file. */
static void scale_mimic(converter *c, const yaml_node *joint, ratio own)
{
    yaml_node *mimic = find(joint, "mimic");
    const yaml_node *other = find(mimic, "joint");
    if (!other || other->kind != YAML_SCALAR) {
        return;
    }
    const ratio factor = over(own, coordinate_unit(c, joint->parent, other->text));
    scale(c, find(mimic, "offset"), own);
    if (find(mimic, "ratio")) {
        scale(c, find(mimic, "ratio"), factor);
    } else if (factor.times != factor.over) { /* 1 in the units of the file */
        scale(c, append_one(c, mimic, "ratio"), factor);
    }
}

static void scale_joint(converter *c, const yaml_node *joint)
{
    const yaml_node *type = find(joint, "type");
    scale(c, find(joint, "anchor"), c->length);
    scale(c, find(joint, "pitch"), over(c->length, c->angle));
    if (is_text(type, "planar")) {
        scale_planar_joint(c, find(joint, "position"));
        scale_planar_joint(c, find(joint, "velocity"));
        return;
    }
    const ratio size = is_text(type, "prismatic") ? c->length : c->angle;
    scale(c, find(joint, "velocity"), size);
    if (!is_text(type, "ball")) { /* whose position is a quaternion */
        scale(c, find(joint, "position"), size);
    }
    scale(c, find(joint, "limits"), size);
    scale_mimic(c, joint, size);
    if (!is_text(find(joint, "control"), "torque")) {
        scale_drive(c, find(joint, "command"), size);
    }
}

/* ---- the scene ----------------------------------------------------------------------------------------------------
 */

static void scale_each(converter *c, const yaml_node *parent, void (*each)(converter *c, const yaml_node *node))
{
    for (const yaml_node *child = parent && parent->kind != YAML_SCALAR ? parent->first : NULL; child;
         child = child->next) {
        each(c, child);
    }
}

static void scale_loop(converter *c, const yaml_node *loop)
{
    scale(c, find(loop, "anchor_a"), c->length);
    scale(c, find(loop, "anchor_b"), c->length);
}

/* So that sum c q = length in the units of the file. */
static void scale_tendon(converter *c, const yaml_node *tendon)
{
    const yaml_node *joints = find(tendon, "joints"), *root = tendon->parent->parent;
    for (yaml_node *term = joints && joints->kind == YAML_MAP ? joints->first : NULL; term; term = term->next) {
        scale(c, term, over(c->length, coordinate_unit(c, find(root, "joints"), term->key)));
    }
    scale(c, find(tendon, "length"), c->length);
}

static void scale_force(converter *c, const yaml_node *force)
{
    scale(c, find(force, "point"), c->length);
}

static void scale_pair(converter *c, const yaml_node *pair)
{
    scale(c, find(find(pair, "compliance"), "size"), c->length);
}

void perp_units_apply(yaml_reader *reader, yaml_node *root)
{
    const yaml_node *units = find(root, "units"), *contacts = find(root, "contacts");
    const unit *length = find_unit(find(units, "length"), LENGTHS, LENGTH_COUNT);
    const unit *angle = find_unit(find(units, "angle"), ANGLES, ANGLE_COUNT);
    const ratio same = {1.0, 1.0};
    converter c = {reader, length ? length->size : same, angle ? angle->size : same};
    scale_each(&c, find(root, "bodies"), scale_body);
    scale_each(&c, find(root, "joints"), scale_joint);
    scale_each(&c, find(root, "loops"), scale_loop);
    scale_each(&c, find(root, "tendons"), scale_tendon);
    scale_each(&c, find(root, "forces"), scale_force);
    scale(&c, find(contacts, "margin"), c.length);
    scale_each(&c, find(contacts, "pairs"), scale_pair);
    scale(&c, find(find(root, "compliance"), "size"), c.length);
    scale(&c, find(find(root, "run"), "substep_tolerance"), c.length);
}

void perp_units_apply_include(yaml_reader *reader, yaml_node *root)
{
    yaml_node *units = find(root, "units");
    const bool length = find_unit(find(units, "length"), LENGTHS, LENGTH_COUNT) != NULL;
    const bool angle = find_unit(find(units, "angle"), ANGLES, ANGLE_COUNT) != NULL;
    perp_units_apply(reader, root);
    /* What says something else stays, for the decoder to refuse. */
    if (units && units->kind == YAML_MAP && units->count == length + angle) {
        perp_yaml_tree_remove(units);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

static bool read_unit(decoder *d, const yaml_node *node, const unit *units, int count, const char **name)
{
    const unit *found = find_unit(node, units, count);
    if (!found) {
        char known[64] = "";
        for (int i = 0; i < count; i++) {
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", units[i].name);
        }
        return perp_decode_error(d, node, "there is no such unit; known are %s", known);
    }
    *name = found->name;
    return true;
}

static bool read_length(decoder *d, const yaml_node *node, void *target)
{
    return read_unit(d, node, LENGTHS, LENGTH_COUNT, &((perp_scene *)target)->length_unit);
}

static bool read_angle(decoder *d, const yaml_node *node, void *target)
{
    return read_unit(d, node, ANGLES, ANGLE_COUNT, &((perp_scene *)target)->angle_unit);
}

static const key_spec units_keys[] = {
    {"length", "m, cm, mm, um, in", "m", "of lengths and of velocities; not of gravity, stiffness, inertia, density",
     read_length, 0, 0},
    {"angle", "rad, deg", "rad", "of angles and angular velocities", read_angle, 0, 0},
};
const key_table perp_keys_units = {"Units of a file: `units`", units_keys, sizeof units_keys / sizeof *units_keys};

bool perp_read_units(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_units, target);
}
