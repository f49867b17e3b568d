/* Bodies, their poses and their shapes. */
#include "base/file.h"
#include "scene_yaml/keys.h"

#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* ---- poses ------------------------------------------------------------------------------------------------------- */

static bool read_quaternion(decoder *d, const yaml_node *node, void *target)
{
    double w[4];
    if (!perp_read_reals(d, node, w, 4)) {
        return false;
    }
    ((perp_placement *)target)->pose.rotation = (perp_quat){w[0], w[1], w[2], w[3]};
    return true;
}

static bool read_rpy(decoder *d, const yaml_node *node, void *target)
{
    perp_placement *placement = target;
    if (perp_yaml_tree_find(node->parent, "quat_wxyz", 9)) {
        return perp_decode_error(d, node, "give `quat_wxyz` or `rpy`, not both");
    }
    placement->rpy_set = perp_read_reals(d, node, placement->rpy, 3);
    return placement->rpy_set;
}

static const key_spec pose_keys[] = {
    {"position", "[x, y, z], planar [x, y]", "zeros", "m", perp_read_vector, offsetof(perp_placement, pose.position),
     0},
    {"quat_wxyz", "[w, x, y, z]", "[1, 0, 0, 0]", "unit quaternion", read_quaternion, 0, KEY_SPATIAL},
    {"rpy", "[roll, pitch, yaw]", "", "instead of quat_wxyz: R = Rz(yaw) Ry(pitch) Rx(roll), rad", read_rpy, 0,
     KEY_SPATIAL},
    {"angle", "number", "0", "rad, about z", perp_read_real, offsetof(perp_placement, angle), KEY_PLANAR},
};
const key_table perp_keys_pose = {"A pose", pose_keys, COUNT(pose_keys)};

static bool read_pose(decoder *d, const yaml_node *node, void *target)
{
    return perp_read_map(d, node, &perp_keys_pose, target);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static bool read_points(decoder *d, const yaml_node *node, perp_shape *shape, int components)
{
    if (!perp_expect_list(d, node, components == 2 ? "a list of corners [x, y]" : "a list of points [x, y, z]")) {
        return false;
    }
    perp_vec3 *points = perp_decode_memory(d, node->count, sizeof *points);
    bool good = points != NULL;
    for (const yaml_node *child = node->first; child && points; child = child->next) {
        double x[3] = {0, 0, 0};
        good = perp_read_reals(d, child, x, components) && good;
        points[child->index] = perp_vec3_make(x[0], x[1], x[2]);
    }
    shape->points = points;
    shape->point_count = points ? node->count : 0;
    return good;
}

static bool read_mesh_points(decoder *d, const yaml_node *node, void *target)
{
    return read_points(d, node, target, 3);
}

static bool read_corners(decoder *d, const yaml_node *node, void *target)
{
    return read_points(d, node, target, 2);
}

static bool read_nothing(decoder *d, const yaml_node *node, void *target)
{
    static const key_table nothing = {"point: {}", NULL, 0};
    return node->count == 0 ? perp_read_map(d, node, &nothing, target)
                            : perp_decode_error(d, node, "write `point: {}`");
}

/* A file is named relative to the file that names it; the shape keeps it relative to the scene's folder. */
static bool read_mesh_file(decoder *d, const yaml_node *node, void *target)
{
    perp_shape *shape = target;
    if (!perp_read_text(d, node, &shape->file)) {
        return false;
    }
    const size_t root =
        scene_of(d)->folder && strcmp(scene_of(d)->folder, ".") != 0 ? strlen(scene_of(d)->folder) + 1 : 0;
    const char *inner = strncmp(node->file, "--set ", 6) != 0 && strlen(node->file) > root ? node->file + root : "";
    if (scene_of(d)->folder && shape->file[0] != '/' && strchr(inner, '/')) {
        const char *folder = perp_file_folder(d->arena, inner);
        shape->file = folder ? perp_file_join(d->arena, folder, shape->file) : NULL;
        d->out_of_memory = d->out_of_memory || !shape->file;
    }
    return true;
}

static const key_spec capsule_keys[] = {
    {"radius", "number > 0", "", "m", perp_read_real, offsetof(perp_shape, radius), KEY_REQUIRED},
    {"length", "number > 0", "", "m; of a capsule: between its centres", perp_read_real, offsetof(perp_shape, length),
     KEY_REQUIRED},
};
const key_table perp_keys_capsule = {"Of a shape: `capsule`, `cylinder`", capsule_keys, COUNT(capsule_keys)};

static const key_spec plane_keys[] = {
    {"normal", "[x, y, z], planar [x, y]", "", "outward; normalised on reading", perp_read_vector,
     offsetof(perp_shape, normal), KEY_REQUIRED},
    {"offset", "number", "0", "m; solid where normal . x <= offset", perp_read_real, offsetof(perp_shape, offset), 0},
};
const key_table perp_keys_plane = {"Of a shape: `plane`, `halfplane`", plane_keys, COUNT(plane_keys)};

static const key_spec mesh_keys[] = {
    {"points", "[[x, y, z], ..]", "", "at least 4; their convex hull is the shape", read_mesh_points, 0, 0},
    {"file", "text", "", "instead of points: an OBJ or STL file, named from the file that names it", read_mesh_file, 0,
     0},
    {"scale", "number > 0", "1", "multiplies the points", perp_read_real, offsetof(perp_shape, scale), 0},
};
const key_table perp_keys_mesh = {"Of a shape: `mesh`", mesh_keys, COUNT(mesh_keys)};

static const key_spec hole_keys[] = {
    {"radius", "number > 0", "", "m", perp_read_real, offsetof(perp_shape, radius), KEY_REQUIRED},
    {"length", "number > 0", "", "m, along local z", perp_read_real, offsetof(perp_shape, length),
     KEY_REQUIRED | KEY_SPATIAL},
};
const key_table perp_keys_hole = {"Of a shape: `hole`", hole_keys, COUNT(hole_keys)};

/* What is written after the type of a shape: a map of keys, or one value that goes to `offset`. */
static const struct {
    const key_table *keys;
    bool (*read)(decoder *d, const yaml_node *node, void *target);
    size_t offset;
} types[] = {
    [PERP_SHAPE_NONE] = {NULL, read_nothing, 0},
    [PERP_SHAPE_POINT] = {NULL, read_nothing, 0},
    [PERP_SHAPE_SPHERE] = {NULL, perp_read_real, offsetof(perp_shape, radius)},
    [PERP_SHAPE_DISC] = {NULL, perp_read_real, offsetof(perp_shape, radius)},
    [PERP_SHAPE_BOX] = {NULL, perp_read_vector, offsetof(perp_shape, size)},
    [PERP_SHAPE_CAPSULE] = {&perp_keys_capsule, NULL, 0},
    [PERP_SHAPE_CYLINDER] = {&perp_keys_capsule, NULL, 0},
    [PERP_SHAPE_ELLIPSOID] = {NULL, perp_read_vector, offsetof(perp_shape, size)},
    [PERP_SHAPE_PLANE] = {&perp_keys_plane, NULL, 0},
    [PERP_SHAPE_HALFPLANE] = {&perp_keys_plane, NULL, 0},
    [PERP_SHAPE_MESH] = {&perp_keys_mesh, NULL, 0},
    [PERP_SHAPE_POLYGON] = {NULL, read_corners, 0},
    [PERP_SHAPE_HOLE] = {&perp_keys_hole, NULL, 0},
};
_Static_assert(sizeof types / sizeof *types == PERP_SHAPE_COUNT, "every kind is in the table");

/* The key is the name of the type. */
static bool read_type(decoder *d, const yaml_node *node, void *target)
{
    perp_shape *shape = target;
    int kind = PERP_SHAPE_COUNT - 1;
    while (kind > 0 && strcmp(node->key, perp_shape_kind_name((perp_shape_kind)kind)) != 0) {
        kind--;
    }
    if (shape->kind != PERP_SHAPE_NONE) {
        return perp_decode_error(d, node,
                                 "a shape has one type, but this one is `%s` and `%s`; write two list elements",
                                 perp_shape_kind_name(shape->kind), node->key);
    }
    shape->kind = (perp_shape_kind)kind;
    return types[kind].keys ? perp_read_map(d, node, types[kind].keys, shape)
                            : types[kind].read(d, node, (char *)target + types[kind].offset);
}

static const key_spec shape_keys[] = {
    {"point", "{}", "", "a point", read_type, 0, 0},
    {"sphere", "radius", "", "m", read_type, 0, KEY_SPATIAL},
    {"disc", "radius", "", "m", read_type, 0, KEY_PLANAR},
    {"box", "[lx, ly, lz], planar [lx, ly]", "", "full lengths, m", read_type, 0, 0},
    {"capsule", "{radius, length}", "", "along local z, planar along local x", read_type, 0, 0},
    {"cylinder", "{radius, length}", "", "along local z", read_type, 0, KEY_SPATIAL},
    {"ellipsoid", "[a, b, c]", "", "semi-axes, m", read_type, 0, KEY_SPATIAL},
    {"plane", "{normal, offset}", "", "solid where normal . x <= offset", read_type, 0, KEY_SPATIAL},
    {"halfplane", "{normal, offset}", "", "solid where normal . x <= offset", read_type, 0, KEY_PLANAR},
    {"mesh", "{points, file, scale}", "", "convex hull", read_type, 0, KEY_SPATIAL},
    {"polygon", "[[x, y], ..]", "", "simple, may be concave", read_type, 0, KEY_PLANAR},
    {"hole", "{radius, length}, planar {radius}", "", "solid outside a circular bore along local z", read_type, 0, 0},
    {"pose", "{position, ..}", "at the origin", "of the shape in its body", read_pose, offsetof(perp_shape, pose), 0},
    {"friction", "number >= 0", "contacts.friction", "combined with the other shape's as the geometric mean",
     perp_read_optional, offsetof(perp_shape, friction), 0},
    {"density", "number >= 0", "the body's", "kg/m^3, planar kg/m^2", perp_read_optional, offsetof(perp_shape, density),
     0},
    {"name", "text", "", "label of the shape", perp_read_text, offsetof(perp_shape, name), 0},
};
const key_table perp_keys_shape = {"A shape: an element of `shapes`, with one type and, where needed, the other keys",
                                   shape_keys, COUNT(shape_keys)};

static bool read_shapes(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    if (!perp_expect_list(d, node, "a list of shapes, such as - {box: [0.1, 0.1, 0.1]}")) {
        return false;
    }
    perp_shape *shapes = perp_decode_memory(d, node->count, sizeof *shapes);
    bool good = shapes != NULL;
    for (const yaml_node *child = node->first; child && shapes; child = child->next) {
        perp_shape *shape = &shapes[child->index];
        shape->pose = perp_placement_default();
        shape->scale = 1.0;
        good = perp_read_map(d, child, &perp_keys_shape, shape) && good;
    }
    body->shapes = shapes;
    body->shape_count = shapes ? node->count : 0;
    return good;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static bool read_fixed(decoder *d, const yaml_node *node, void *target)
{
    bool fixed = false;
    if (!perp_read_bool(d, node, &fixed)) {
        return false;
    }
    if (fixed && perp_yaml_tree_find(node->parent, "driven", 6)) {
        return perp_decode_error(d, node, "a body is `fixed` or `driven`, not both");
    }
    if (fixed) {
        ((perp_body *)target)->kind = PERP_BODY_FIXED;
    }
    return true;
}

enum { DRIVE_OFFSET = offsetof(perp_body, drives), DRIVE_SIZE = sizeof(perp_drive) };

static const key_spec driven_keys[] = {
    {"x", "DRIVE", "stays", "m, world", perp_read_drive, DRIVE_OFFSET, 0},
    {"y", "DRIVE", "stays", "m", perp_read_drive, DRIVE_OFFSET + DRIVE_SIZE, 0},
    {"z", "DRIVE", "stays", "m", perp_read_drive, DRIVE_OFFSET + 2 * DRIVE_SIZE, KEY_SPATIAL},
    {"rx", "DRIVE", "stays", "rad; R = Rz Ry Rx", perp_read_drive, DRIVE_OFFSET + 3 * DRIVE_SIZE, KEY_SPATIAL},
    {"ry", "DRIVE", "stays", "rad", perp_read_drive, DRIVE_OFFSET + 4 * DRIVE_SIZE, KEY_SPATIAL},
    {"rz", "DRIVE", "stays", "rad", perp_read_drive, DRIVE_OFFSET + 5 * DRIVE_SIZE, KEY_SPATIAL},
    {"theta", "DRIVE", "stays", "rad", perp_read_drive, DRIVE_OFFSET + 5 * DRIVE_SIZE, KEY_PLANAR},
};
const key_table perp_keys_driven = {"Driven: absolute coordinates as functions of time", driven_keys,
                                    COUNT(driven_keys)};

/* Bit of a component's name: x, y, z, rx, ry, rz, or theta in the plane; 0 if it is none. */
static unsigned component_bit(const decoder *d, const char *name)
{
    static const char *const names[] = {"x", "y", "z", "rx", "ry", "rz"};
    if (d->planar) {
        return strcmp(name, "x") == 0       ? PERP_COMPONENT_X
               : strcmp(name, "y") == 0     ? PERP_COMPONENT_Y
               : strcmp(name, "theta") == 0 ? PERP_COMPONENT_RZ
                                            : 0u;
    }
    for (unsigned i = 0; i < 6; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1u << i;
        }
    }
    return 0u;
}

static bool read_driven(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    body->kind = PERP_BODY_DRIVEN;
    if (!perp_read_map(d, node, &perp_keys_driven, body)) {
        return false;
    }
    for (const yaml_node *child = node->first; child; child = child->next) {
        body->driven_mask |= component_bit(d, child->key);
    }
    return true;
}

static bool read_free(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    const char *what = d->planar ? "a list of x, y, theta" : "a list of x, y, z, rx, ry, rz";
    if (!perp_expect_list(d, node, what)) {
        return false;
    }
    body->free_set = true;
    body->free_mask = 0;
    for (const yaml_node *child = node->first; child; child = child->next) {
        const unsigned bit = child->kind == YAML_SCALAR ? component_bit(d, child->text) : 0u;
        if (!bit) {
            return perp_decode_error(d, child, "expected %s", what);
        }
        if (body->free_mask & bit) {
            return perp_decode_error(d, child, "`%s` is listed twice", child->text);
        }
        body->free_mask |= bit;
    }
    return true;
}

static bool read_inertia(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    if (d->planar) {
        body->inertia_count = 1;
        return perp_read_real(d, node, body->inertia);
    }
    if (node->kind != YAML_LIST || (node->count != 3 && node->count != 6)) {
        return perp_decode_error(d, node, "expected [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]");
    }
    body->inertia_count = node->count;
    return perp_read_reals(d, node, body->inertia, node->count);
}

static bool read_com(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    body->com_set = perp_read_vector(d, node, &body->com);
    return body->com_set;
}

static bool read_body_pose(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    body->pose_set = true;
    return read_pose(d, node, &body->pose);
}

static bool read_angular(decoder *d, const yaml_node *node, void *target)
{
    perp_vec3 *angular = target;
    return d->planar ? perp_read_real(d, node, &angular->z) : perp_read_vector(d, node, angular);
}

static const key_spec velocity_keys[] = {
    {"linear", "[vx, vy, vz], planar [vx, vy]", "zeros", "m/s, of the origin, world frame", perp_read_vector,
     offsetof(perp_twist, linear), 0},
    {"angular", "[wx, wy, wz], planar number", "zeros", "rad/s, world frame", read_angular,
     offsetof(perp_twist, angular), 0},
};
const key_table perp_keys_velocity = {"A velocity", velocity_keys, COUNT(velocity_keys)};

static bool read_velocity(decoder *d, const yaml_node *node, void *target)
{
    perp_body *body = target;
    body->velocity_set = true;
    return perp_read_map(d, node, &perp_keys_velocity, &body->velocity);
}

/* ---- supports ---------------------------------------------------------------------------------------------------- */

/* The default is the only word: it says what is meant where no points are written. */
static bool read_pressure(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    if (node->kind != YAML_SCALAR || strcmp(node->text, "uniform") != 0) {
        return perp_decode_error(d, node, "expected `uniform`; for another pressure write `points` in its place");
    }
    return perp_yaml_tree_find(node->parent, "points", 6)
               ? perp_decode_error(d, node, "give `pressure: uniform` or `points`, not both")
               : true;
}

static bool read_support_points(decoder *d, const yaml_node *node, void *target)
{
    perp_support *support = target;
    if (!perp_expect_list(d, node, "a list of points with their shares of the load, [x, y, share]")) {
        return false;
    }
    perp_support_point *points = perp_decode_memory(d, node->count, sizeof *points);
    bool good = points != NULL;
    if (node->count == 0) {
        return perp_decode_error(d, node, "a support has at least one point [x, y, share]");
    }
    for (const yaml_node *child = node->first; child && points; child = child->next) {
        double x[3] = {0, 0, 0};
        good = perp_read_reals(d, child, x, 3) && good;
        points[child->index] = (perp_support_point){x[0], x[1], x[2]};
    }
    support->points = points;
    support->point_count = points ? node->count : 0;
    return good;
}

static const key_spec support_keys[] = {
    {"friction", "number >= 0", "contacts.friction", "between the body and the plane that it lies on",
     perp_read_optional, offsetof(perp_support, friction), 0},
    {"normal", "number >= 0", "9.81 mass", "N, the load on all points together", perp_read_optional,
     offsetof(perp_support, normal), 0},
    {"pressure", "uniform", "uniform", "over the area of the body's shapes, as points that have its moments",
     read_pressure, 0, 0},
    {"points", "[[x, y, share], ..]", "",
     "instead of pressure: where it lies on, body frame, m; shares of the load count relative to their sum",
     read_support_points, 0, 0},
    {"model", "points, ellipsoid", "points",
     "friction at every point, or one force and moment within the ellipsoid of the largest ones", perp_read_choice,
     offsetof(perp_support, model), 0},
};
const key_table perp_keys_support = {"A support: of a planar body that lies on the plane of the scene, seen from above",
                                     support_keys, COUNT(support_keys)};

static bool read_support(decoder *d, const yaml_node *node, void *target)
{
    perp_support *support = target;
    support->set = true;
    return perp_read_map(d, node, &perp_keys_support, support);
}

static const key_spec body_keys[] = {
    {"fixed", "true, false", "false", "never moves", read_fixed, 0, 0},
    {"driven", "{x: DRIVE, ..}", "", "moves as told; missing components stay at `pose`", read_driven, 0, 0},
    {"free", "[x, y, ..]", "all", "which components of the world twist at the origin are free; the others are locked",
     read_free, 0, 0},
    {"mass", "number >= 0", "massless", "kg", perp_read_optional, offsetof(perp_body, mass), 0},
    {"density", "number >= 0", "", "kg/m^3 (planar kg/m^2) of the shapes that state none; instead of mass",
     perp_read_optional, offsetof(perp_body, density), 0},
    {"inertia", "[Ixx, Iyy, Izz(, Ixy, Ixz, Iyz)], planar number", "from the shapes",
     "kg m^2, about the centre of mass", read_inertia, 0, 0},
    {"com", "[x, y, z], planar [x, y]", "origin; with density the centroid", "centre of mass, body frame", read_com, 0,
     0},
    {"pose", "{position, ..}", "at the origin",
     "of the body's origin in the world; a jointed child's is in its parent at position 0 (default: at the anchor)",
     read_body_pose, 0, 0},
    {"velocity", "{linear, angular}", "zero", "initial", read_velocity, 0, 0},
    {"shapes", "[SHAPE, ..]", "none", "what the body is made of", read_shapes, 0, 0},
    {"support", "{friction, normal, ..}", "none", "friction with the plane that the body lies on, under a given load",
     read_support, offsetof(perp_body, support), KEY_PLANAR},
};
const key_table perp_keys_body = {"A body: `bodies.NAME`", body_keys, COUNT(body_keys)};

bool perp_read_bodies(decoder *d, const yaml_node *node, void *target)
{
    (void)target;
    static const key_table named = {"NAME: {...}, one for each body", NULL, 0};
    if (node->kind != YAML_MAP) {
        return perp_read_map(d, node, &named, NULL);
    }
    bool good = true;
    for (const yaml_node *child = node->first; child && !d->out_of_memory; child = child->next) {
        perp_body body = perp_body_default(child->key);
        good = perp_read_map(d, child, &perp_keys_body, &body) && good;
        perp_error error;
        const perp_status status = perp_scene_add_body(scene_of(d)->scene, &body, &error);
        d->out_of_memory = d->out_of_memory || status == PERP_STATUS_OUT_OF_MEMORY;
        if (status == PERP_STATUS_CAPACITY) {
            return perp_decode_error(d, child, "%s", error.message);
        }
    }
    return good;
}
