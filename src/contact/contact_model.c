/* contact_model.c - what a model's contacts need and never changes: convex parts in body frames, clusters of welded
 * bodies, pairs that are left out, rules of pairs.
 */
#include "geometry/polygon_parts.h"
#include "contact/contact_private.h"
#include "contact/tolerances.h"

#include "base/union_find.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts: plane ------------------------------------------------------------------------------------------------ */

/* Corners of a polygon in counter-clockwise order without those on the straight line between their neighbours, which
 * would only cut one side into two contacts' worth. `names` are
 * their places in the scene's list, and those of the edges from them: an edge is called after the corner where it
 * begins in the scene's order. */
static int clean_polygon(const perp_shape *shape, perp_vec3 *corners, contact_outline *names)
{
    double area2 = 0.0;
    int count = shape->point_count;
    for (int i = 0; i < count; i++) {
        const perp_vec3 p = shape->points[i], q = shape->points[(i + 1) % count], o = shape->points[0];
        area2 += (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x);
    }
    for (int i = 0; i < count; i++) {
        names[i].corner = area2 < 0.0 ? count - 1 - i : i;
        corners[i] = shape->points[names[i].corner];
    }
    for (int i = 0; i < count && count > 3;) {
        const perp_vec3 u = perp_vec3_sub(corners[i], corners[(i + count - 1) % count]);
        const perp_vec3 v = perp_vec3_sub(corners[(i + 1) % count], corners[i]);
        const double cross = u.x * v.y - u.y * v.x, dot = u.x * v.x + u.y * v.y;
        if (dot > 0.0 && fabs(cross) <= BENT_CORNER * dot) {
            memmove(corners + i, corners + i + 1, (size_t)(count - i - 1) * sizeof *corners);
            memmove(names + i, names + i + 1, (size_t)(count - i - 1) * sizeof *names);
            count--;
            i = i > 0 ? i - 1 : 0;
        } else {
            i++;
        }
    }
    for (int i = 0; i < count; i++) {
        names[i].edge = names[area2 < 0.0 ? (i + 1) % count : i].corner;
    }
    return count;
}

static perp_vec3 along(perp_vec3 from, perp_vec3 to)
{
    return perp_vec3_normalise(perp_vec3_make(to.x - from.x, to.y - from.y, 0.0));
}

/* Borders of a part: corner k of it is corner `list[k]` of the polygon, both counter-clockwise. */
static void find_borders(const perp_vec3 *polygon, int polygon_count, const int *list, int count,
                         perp_planar_border *borders)
{
    for (int k = 0; k < count; k++) {
        const int i = list[k], next = (i + 1) % polygon_count, prev = (i + polygon_count - 1) % polygon_count;
        const perp_vec3 before = along(polygon[prev], polygon[i]), after = along(polygon[i], polygon[next]);
        borders[k] = (perp_planar_border){.edge = list[(k + 1) % count] == next,
                                          .convex = before.x * after.y - before.y * after.x > 0.0,
                                          .before = before,
                                          .after = after};
    }
}

/* A polygon on its way to parts: its corners, counter-clockwise, and their names. */
typedef struct outline {
    int count;
    perp_vec3 *corners;
    contact_outline *names;
    int listed; /* corners that the scene lists; cuts have numbers from there on */
} outline;

/* One part of a polygon: its corners and borders, in the polygon's frame as yet. */
static bool add_polygon_part(perp_contact_model *cm, contact_part part, const outline *polygon,
                             const perp_polygon_parts *parts)
{
    const int *list = parts->corners + parts->starts[part.part];
    const int count = parts->starts[part.part + 1] - parts->starts[part.part];
    perp_vec3 *corners = PERP_ARENA_NEW(&cm->arena, perp_vec3, (size_t)count);
    perp_planar_border *borders =
        parts->count > 1 ? PERP_ARENA_NEW(&cm->arena, perp_planar_border, (size_t)count) : NULL;
    contact_outline *names = PERP_ARENA_NEW(&cm->arena, contact_outline, (size_t)count);
    if (!corners || !names || (parts->count > 1 && !borders)) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        const bool cut = list[(k + 1) % count] != (list[k] + 1) % polygon->count;
        corners[k] = polygon->corners[list[k]];
        names[k] = polygon->names[list[k]];
        names[k].edge = cut ? polygon->listed + parts->starts[part.part] + k : names[k].edge;
    }
    if (borders) {
        find_borders(polygon->corners, polygon->count, list, count, borders);
    }
    part.outline = names;
    part.planar = (perp_planar_shape){.kind = PERP_PLANAR_CORE, .count = count, .corners = corners, .borders = borders};
    part.corner_start = cm->corner_count;
    cm->corner_count += count;
    cm->parts[cm->part_count++] = part;
    return true;
}

static perp_status add_polygon(perp_contact_model *cm, const perp_shape *shape, const contact_part *part,
                               perp_error *error)
{
    perp_arena scratch;
    perp_arena_init(&scratch, &cm->arena.allocator);
    const size_t n = (size_t)shape->point_count;
    outline polygon = {.corners = PERP_ARENA_NEW(&scratch, perp_vec3, n),
                       .names = PERP_ARENA_NEW(&scratch, contact_outline, n),
                       .listed = shape->point_count};
    void *split = perp_arena_push(&scratch, 1, perp_polygon_split_scratch(shape->point_count));
    perp_polygon_parts parts = {.starts = PERP_ARENA_NEW(&scratch, int, n),
                                .corners = PERP_ARENA_NEW(&scratch, int, 3 * n)};
    perp_status status = PERP_STATUS_OK;
    if (!polygon.corners || !polygon.names || !split || !parts.starts || !parts.corners) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the parts of a polygon");
    } else {
        polygon.count = clean_polygon(shape, polygon.corners, polygon.names);
        status = perp_polygon_split(polygon.corners, polygon.count, split, &parts, error);
        for (int k = 0; status == PERP_STATUS_OK && k < parts.count; k++) {
            contact_part piece = *part;
            piece.part = k;
            if (!add_polygon_part(cm, piece, &polygon, &parts)) {
                status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the parts of a polygon");
            }
        }
    }
    perp_arena_clear(&scratch);
    return status;
}

/* From the shape's frame to the body's. */
static void place_in_body(const perp_shape *shape, perp_planar_shape *planar)
{
    const perp_pose pose = shape->pose.pose;
    /* The arrays were made by this file, for this part alone. */
    perp_vec3 *corners = (perp_vec3 *)planar->corners;
    perp_planar_border *borders = (perp_planar_border *)planar->borders;
    for (int k = 0; k < planar->count; k++) {
        corners[k] = perp_pose_apply(pose, corners[k]);
        if (borders) {
            borders[k].before = perp_quat_rotate(pose.rotation, borders[k].before);
            borders[k].after = perp_quat_rotate(pose.rotation, borders[k].after);
        }
    }
    if (planar->kind == PERP_PLANAR_HALFPLANE) {
        planar->normal = perp_quat_rotate(pose.rotation, planar->normal);
        planar->offset += perp_vec3_dot(planar->normal, pose.position);
    } else if (planar->kind == PERP_PLANAR_HOLE) {
        planar->centre = pose.position;
    }
}

static perp_status add_planar(perp_contact_model *cm, const perp_shape *shape, contact_part part, perp_error *error)
{
    perp_planar_shape *planar = &part.planar;
    const double x = 0.5 * shape->size.x, y = 0.5 * shape->size.y, half = 0.5 * shape->length;
    const perp_vec3 box[4] = {{-x, -y, 0.0}, {x, -y, 0.0}, {x, y, 0.0}, {-x, y, 0.0}};
    const perp_vec3 ends[2] = {{-half, 0.0, 0.0}, {half, 0.0, 0.0}}, origin = {0.0, 0.0, 0.0};
    const perp_vec3 *source = &origin;
    const int first = cm->part_count;
    *planar = (perp_planar_shape){.kind = PERP_PLANAR_CORE, .count = 1, .radius = shape->radius};
    switch (shape->kind) {
    case PERP_SHAPE_BOX:
        planar->count = 4;
        planar->radius = 0.0;
        source = box;
        break;
    case PERP_SHAPE_CAPSULE:
        planar->count = 2;
        source = ends;
        break;
    case PERP_SHAPE_HALFPLANE:
        *planar = (perp_planar_shape){.kind = PERP_PLANAR_HALFPLANE, .normal = shape->normal, .offset = shape->offset};
        break;
    case PERP_SHAPE_HOLE:
        *planar = (perp_planar_shape){.kind = PERP_PLANAR_HOLE, .radius = shape->radius};
        break;
    case PERP_SHAPE_POINT:
        planar->radius = 0.0;
        break;
    case PERP_SHAPE_DISC:
    case PERP_SHAPE_POLYGON: /* makes its own parts */
        break;
    case PERP_SHAPE_NONE:
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_CYLINDER:
    case PERP_SHAPE_ELLIPSOID:
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_MESH:
        assert(false); /* no validated planar scene has one */
    }
    part.bounded = planar->kind == PERP_PLANAR_CORE;
    if (shape->kind == PERP_SHAPE_POLYGON) {
        const perp_status status = add_polygon(cm, shape, &part, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    } else {
        perp_vec3 *corners = PERP_ARENA_NEW(&cm->arena, perp_vec3, (size_t)planar->count);
        if (!corners) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a shape");
        }
        memcpy(corners, source, (size_t)planar->count * sizeof *corners);
        planar->corners = corners;
        part.corner_start = cm->corner_count;
        cm->corner_count += planar->count;
        cm->parts[cm->part_count++] = part;
    }
    for (int i = first; i < cm->part_count; i++) {
        place_in_body(shape, &cm->parts[i].planar);
        cm->corner_most = cm->parts[i].planar.count > cm->corner_most ? cm->parts[i].planar.count : cm->corner_most;
    }
    return PERP_STATUS_OK;
}

/* ---- parts: space ------------------------------------------------------------------------------------------------ */

/* The hull of a mesh; shapes that name one file share their points, and so one hull. */
static perp_status hull_of(perp_contact_model *cm, const perp_shape *shape, const perp_spatial_hull **hull,
                           perp_error *error)
{
    if (!shape->hull_points) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a mesh has no hull; perp_scene_build_hulls makes them");
    }
    for (int i = 0; i < cm->hull_count; i++) {
        if (cm->hull_sources[i]->hull_points == shape->hull_points &&
            cm->hull_sources[i]->hull_triangles == shape->hull_triangles) {
            *hull = &cm->hulls[i];
            return PERP_STATUS_OK;
        }
    }
    perp_spatial_hull *made = &cm->hulls[cm->hull_count];
    const perp_status status =
        perp_spatial_hull_prepare(shape->hull_points, shape->hull_point_count, shape->hull_triangles,
                                  shape->hull_triangle_count, &cm->arena.allocator, made, error);
    if (status == PERP_STATUS_OK) {
        cm->hull_sources[cm->hull_count++] = shape;
        *hull = made;
    }
    return status;
}

/* Columns t, o, n: local z is the normal. */
static perp_mat3 frame_of_normal(perp_vec3 n)
{
    perp_vec3 t, o;
    perp_tangents(n, &t, &o);
    const perp_mat3 r = {{t.x, o.x, n.x, t.y, o.y, n.y, t.z, o.z, n.z}};
    return r;
}

static perp_status add_spatial(perp_contact_model *cm, const perp_shape *shape, contact_part part, perp_error *error)
{
    perp_spatial_shape *spatial = &part.spatial;
    const perp_quat turn = shape->pose.pose.rotation;
    perp_status status = PERP_STATUS_OK;
    *spatial = (perp_spatial_shape){.position = shape->pose.pose.position,
                                    .rotation = perp_quat_to_mat3(turn),
                                    .radius = shape->radius,
                                    .half_length = 0.5 * shape->length};
    part.unrotated = turn.x == 0.0 && turn.y == 0.0 && turn.z == 0.0;
    part.bounded = true;
    switch (shape->kind) {
    case PERP_SHAPE_POINT:
        spatial->kind = PERP_SPATIAL_POINT;
        spatial->radius = 0.0;
        break;
    case PERP_SHAPE_SPHERE:
        spatial->kind = PERP_SPATIAL_POINT;
        break;
    case PERP_SHAPE_CAPSULE:
        spatial->kind = PERP_SPATIAL_SEGMENT;
        break;
    case PERP_SHAPE_BOX:
        spatial->kind = PERP_SPATIAL_BOX;
        spatial->half_lengths = perp_vec3_scale(0.5, shape->size);
        break;
    case PERP_SHAPE_CYLINDER:
        spatial->kind = PERP_SPATIAL_CYLINDER;
        break;
    case PERP_SHAPE_ELLIPSOID:
        spatial->kind = PERP_SPATIAL_ELLIPSOID;
        spatial->half_lengths = shape->size;
        break;
    case PERP_SHAPE_HOLE:
        spatial->kind = PERP_SPATIAL_HOLE;
        part.bounded = false;
        break;
    case PERP_SHAPE_PLANE: {
        spatial->kind = PERP_SPATIAL_HALFSPACE;
        const perp_mat3 local = frame_of_normal(shape->normal);
        spatial->position = perp_pose_apply(shape->pose.pose, perp_vec3_scale(shape->offset, shape->normal));
        spatial->rotation = perp_mat3_mul(&spatial->rotation, &local);
        part.unrotated = false;
        part.bounded = false;
        break;
    }
    case PERP_SHAPE_MESH:
        spatial->kind = PERP_SPATIAL_HULL;
        status = hull_of(cm, shape, &spatial->hull, error);
        break;
    case PERP_SHAPE_NONE:
    case PERP_SHAPE_DISC:
    case PERP_SHAPE_HALFPLANE:
    case PERP_SHAPE_POLYGON:
        assert(false); /* no validated spatial scene has one */
    }
    if (status == PERP_STATUS_OK) {
        cm->parts[cm->part_count++] = part;
    }
    return status;
}

/* No polygon has more parts than corners. */
static size_t most_parts(const perp_scene *scene, size_t *meshes)
{
    size_t count = 0;
    *meshes = 0;
    for (int b = 0; b < scene->body_count; b++) {
        for (int s = 0; s < scene->bodies[b].shape_count; s++) {
            const perp_shape *shape = &scene->bodies[b].shapes[s];
            count += shape->kind == PERP_SHAPE_POLYGON ? (size_t)shape->point_count : 1;
            *meshes += shape->kind == PERP_SHAPE_MESH;
        }
    }
    return count;
}

static perp_status build_parts(perp_contact_model *cm, perp_error *error)
{
    const perp_model *model = cm->model;
    const perp_scene *scene = model->scene;
    size_t meshes = 0;
    cm->parts = PERP_ARENA_NEW(&cm->arena, contact_part, most_parts(scene, &meshes));
    cm->hulls = PERP_ARENA_NEW(&cm->arena, perp_spatial_hull, meshes);
    cm->hull_sources = PERP_ARENA_NEW(&cm->arena, const perp_shape *, meshes);
    cm->part_start = PERP_ARENA_NEW(&cm->arena, int, (size_t)scene->body_count + 1);
    if (!cm->parts || !cm->hulls || !cm->hull_sources || !cm->part_start) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the shapes");
    }
    for (int b = 0; b < scene->body_count; b++) {
        const perp_body *body = &scene->bodies[b];
        cm->part_start[b] = cm->part_count;
        for (int s = 0; s < body->shape_count; s++) {
            const perp_shape *shape = &body->shapes[s];
            const contact_part part = {.body = b,
                                       .shape = s,
                                       .fixed = model->links[b].tree < 0,
                                       .friction = shape->friction.set ? shape->friction.value : scene->friction};
            const perp_status status =
                model->planar ? add_planar(cm, shape, part, error) : add_spatial(cm, shape, part, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
        }
        cm->compound = cm->compound || cm->part_count - cm->part_start[b] > 1;
    }
    cm->part_start[scene->body_count] = cm->part_count;
    return PERP_STATUS_OK;
}

/* ---- clusters and what is left out ------------------------------------------------------------------------------- */

static bool is_anchored(const perp_scene *scene, int body)
{
    return body < 0 || scene->bodies[body].kind == PERP_BODY_FIXED;
}

/* The cluster of a body is its body of lowest index. */
static void find_clusters(perp_contact_model *cm)
{
    const perp_scene *scene = cm->model->scene;
    for (int b = 0; b < scene->body_count; b++) {
        cm->cluster[b] = b;
    }
    for (int j = 0; j < scene->joint_count; j++) {
        const perp_joint *joint = &scene->joints[j];
        if (joint->kind == PERP_JOINT_FIXED && !is_anchored(scene, joint->parent_body) &&
            !is_anchored(scene, joint->child_body)) {
            const int a = perp_union_root(cm->cluster, joint->parent_body),
                      b = perp_union_root(cm->cluster, joint->child_body);
            cm->cluster[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int b = 0; b < scene->body_count; b++) {
        cm->cluster[b] = perp_union_root(cm->cluster, b);
    }
}

static int compare(int a1, int b1, int a2, int b2)
{
    return a1 != a2 ? (a1 < a2 ? -1 : 1) : (b1 > b2) - (b1 < b2);
}

static int compare_pairs(const void *p, const void *q)
{
    const perp_index_pair *x = p, *y = q;
    return compare(x->a, x->b, y->a, y->b);
}

static int sort_pairs_once(perp_index_pair *pairs, int count)
{
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept == 0 || compare_pairs(&pairs[i], &pairs[kept - 1]) != 0) {
            pairs[kept++] = pairs[i];
        }
    }
    return kept;
}

static void exclude_clusters_of(perp_contact_model *cm, int body_a, int body_b)
{
    if (body_a < 0 || body_b < 0) {
        return; /* the world has no shapes */
    }
    const int a = cm->cluster[body_a], b = cm->cluster[body_b];
    if (a != b) {
        cm->excluded[cm->excluded_count++] = (perp_index_pair){a < b ? a : b, a < b ? b : a};
    }
}

/* One pair of clusters for each joint and each loop between two bodies: where a mechanism is closed is no matter of
 * what may touch. A weld does not make one cluster of two, because a loop may be open at the start. Of joints whose
 * positions an equation couples, the bodies are no neighbours: a loop of joints has the world on both sides. */
static void exclude_neighbours(perp_contact_model *cm)
{
    const perp_scene *scene = cm->model->scene;
    for (int j = 0; j < scene->joint_count; j++) {
        exclude_clusters_of(cm, scene->joints[j].parent_body, scene->joints[j].child_body);
    }
    for (int l = 0; l < scene->loop_count; l++) {
        exclude_clusters_of(cm, scene->loops[l].body_a, scene->loops[l].body_b);
    }
    cm->excluded_count = sort_pairs_once(cm->excluded, cm->excluded_count);
}

/* ---- rules of pairs ---------------------------------------------------------------------------------------------- */

/* By insertion from the end: scenes state pairs about in order, and there are at most 20,000. */
static void add_rule(perp_contact_model *cm, contact_rule rule)
{
    int i = cm->rule_count;
    while (i > 0 && compare(cm->rules[i - 1].a, cm->rules[i - 1].b, rule.a, rule.b) > 0) {
        i--;
    }
    if (i > 0 && compare(cm->rules[i - 1].a, cm->rules[i - 1].b, rule.a, rule.b) == 0) {
        contact_rule *same = &cm->rules[i - 1];
        same->excluded = same->excluded || rule.excluded;
        same->pair = rule.pair >= 0 ? rule.pair : same->pair;
        return;
    }
    memmove(cm->rules + i + 1, cm->rules + i, (size_t)(cm->rule_count - i) * sizeof rule);
    cm->rules[i] = rule;
    cm->rule_count++;
}

static void build_rules(perp_contact_model *cm)
{
    const perp_scene *scene = cm->model->scene;
    for (int i = 0; i < scene->pair_count; i++) {
        add_rule(cm, (contact_rule){scene->pairs[i].body_a, scene->pairs[i].body_b, i, false});
    }
    for (int i = 0; i < scene->exclusion_count; i++) {
        add_rule(cm, (contact_rule){scene->exclusions[i].body_a, scene->exclusions[i].body_b, -1, true});
    }
    for (int i = 0, b = 0; b <= scene->body_count; b++) {
        while (i < cm->rule_count && cm->rules[i].a < b) {
            i++;
        }
        cm->rule_start[b] = i;
    }
}

const contact_rule *perp_contact_find_rule(const perp_contact_model *contact_model, int a, int b)
{
    int low = contact_model->rule_start[a], high = contact_model->rule_start[a + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (contact_model->rules[middle].b < b) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < contact_model->rule_start[a + 1] && contact_model->rules[low].b == b;
    return found ? &contact_model->rules[low] : NULL;
}

int perp_contact_first_part(const perp_contact_model *contact_model, int body, int shape, int *count)
{
    const contact_part *parts = contact_model->parts;
    int first = contact_model->part_start[body];
    while (parts[first].shape != shape) {
        first++;
    }
    int end = first + 1;
    while (end < contact_model->part_start[body + 1] && parts[end].shape == shape) {
        end++;
    }
    *count = end - first;
    return first;
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

static void find_motion(perp_contact_model *cm)
{
    const perp_model *model = cm->model;
    for (int b = 0; b < model->body_count; b++) {
        const int *dofs;
        const int n = perp_body_dofs(model, b, &dofs);
        for (int k = 0; k < n; k++) {
            cm->moves[b] = cm->moves[b] || model->scene->bodies[model->dof_body[dofs[k]]].kind != PERP_BODY_DRIVEN;
        }
    }
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static bool take_tables(perp_contact_model *cm)
{
    const perp_scene *scene = cm->model->scene;
    const size_t n = (size_t)scene->body_count;
    cm->cluster = PERP_ARENA_NEW(&cm->arena, int, n);
    cm->excluded = PERP_ARENA_NEW(&cm->arena, perp_index_pair, (size_t)scene->joint_count + (size_t)scene->loop_count);
    cm->rules = PERP_ARENA_NEW(&cm->arena, contact_rule, (size_t)scene->pair_count + (size_t)scene->exclusion_count);
    cm->rule_start = PERP_ARENA_NEW(&cm->arena, int, n + 2);
    cm->moves = PERP_ARENA_NEW(&cm->arena, bool, n);
    return cm->cluster && cm->excluded && cm->rules && cm->rule_start && cm->moves;
}

perp_status perp_contact_model_build(const perp_model *model, const perp_allocator *allocator,
                                     perp_contact_model **contact_model, perp_error *error)
{
    assert(model && contact_model);
    *contact_model = NULL;
    perp_arena arena;
    perp_arena_init(&arena, allocator);
    perp_contact_model *cm = PERP_ARENA_NEW(&arena, perp_contact_model, 1);
    if (!cm) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the contact model");
    }
    cm->model = model;
    cm->arena = arena;
    perp_status status = PERP_STATUS_OK;
    if (!take_tables(cm)) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the contact model");
    } else {
        status = build_parts(cm, error);
        status = status == PERP_STATUS_OK ? perp_contact_find_supports(cm, error) : status;
    }
    if (status != PERP_STATUS_OK) {
        perp_contact_model_free(cm);
        return status;
    }
    find_clusters(cm);
    exclude_neighbours(cm);
    build_rules(cm);
    find_motion(cm);
    *contact_model = cm;
    return PERP_STATUS_OK;
}

void perp_contact_model_free(perp_contact_model *contact_model)
{
    if (contact_model) {
        for (int i = 0; i < contact_model->hull_count; i++) {
            perp_spatial_hull_free(&contact_model->hulls[i]);
        }
        perp_arena arena = contact_model->arena; /* the model itself lies in it */
        perp_arena_clear(&arena);
    }
}
