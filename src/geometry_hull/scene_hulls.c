/* Every mesh shape of a scene gets its hull. */
#include <perp/geometry_hull.h>

#include "base/file.h"
#include "scene/scene_memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct mesh_source {
    perp_scene *scene;
    const char *folder;
    perp_diagnostics *diagnostics;
    char path[256]; /* of the mesh in the scene */
} mesh_source;

/* Reports what is wrong with a mesh; lack of memory is passed on instead. */
static perp_status complain(mesh_source *m, const char *key, const char *what, const char *name, perp_status status)
{
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    char path[300];
    snprintf(path, sizeof path, "%s%s", m->path, key);
    perp_scene_report(m->scene, m->diagnostics, PERP_SEVERITY_ERROR, path, "%s%.100s%s%s", name ? "mesh file `" : "",
                      name ? name : "", name ? "`: " : "", what);
    return PERP_STATUS_BAD_INPUT;
}

static bool has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), size = strlen(ending);
    if (length < size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (tolower((unsigned char)name[length - size + i]) != ending[i]) {
            return false;
        }
    }
    return true;
}

/* The file's vertices, in the arena. */
static perp_status read_file(mesh_source *m, const perp_shape *shape, perp_arena *arena, perp_vec3 **points, int *count)
{
    char why[200], *text;
    size_t length;
    const char *name = shape->file;
    const bool stl = has_ending(name, ".stl");
    perp_status status = perp_file_check_inside(m->folder, name, why);
    if (status == PERP_STATUS_OK && !stl && !has_ending(name, ".obj")) {
        return complain(m, ".file", "is not a kind that is read; use .obj or .stl", name, PERP_STATUS_BAD_INPUT);
    }
    if (status == PERP_STATUS_OK) {
        const char *path = perp_file_join(arena, m->folder, name);
        status = path ? perp_file_read(arena, path, true, PERP_MESH_MAX_BYTES, &text, &length, why)
                      : PERP_STATUS_OUT_OF_MEMORY;
    }
    if (status != PERP_STATUS_OK) {
        return complain(m, ".file", why, name, status);
    }
    perp_error error;
    perp_vec3 *parsed;
    status =
        perp_mesh_parse(stl ? PERP_MESH_STL : PERP_MESH_OBJ, text, length, &arena->allocator, &parsed, count, &error);
    if (status != PERP_STATUS_OK) {
        return complain(m, ".file", error.message, name, status);
    }
    *points = PERP_ARENA_NEW(arena, perp_vec3, (size_t)*count);
    if (*points) {
        memcpy(*points, parsed, (size_t)*count * sizeof *parsed);
    }
    arena->allocator.release(arena->allocator.context, parsed);
    return *points ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
}

/* Moves a hull into the scene's own memory. */
static perp_status keep(perp_scene *scene, perp_shape *shape, const perp_hull *hull)
{
    perp_arena *arena = &scene->memory->arena;
    perp_vec3 *points = PERP_ARENA_NEW(arena, perp_vec3, (size_t)hull->point_count);
    int *triangles = PERP_ARENA_NEW(arena, int, 3 * (size_t)hull->triangle_count);
    if (!points || !triangles) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    memcpy(points, hull->points, (size_t)hull->point_count * sizeof *points);
    memcpy(triangles, hull->triangles, 3 * (size_t)hull->triangle_count * sizeof *triangles);
    shape->hull_points = points;
    shape->hull_point_count = hull->point_count;
    shape->hull_triangles = triangles;
    shape->hull_triangle_count = hull->triangle_count;
    return PERP_STATUS_OK;
}

static perp_status build_one(mesh_source *m, perp_shape *shape, perp_arena *scratch)
{
    perp_vec3 *points = PERP_ARENA_NEW(scratch, perp_vec3, (size_t)(shape->file ? 0 : shape->point_count));
    int count = shape->point_count;
    perp_status status = points ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    if (status == PERP_STATUS_OK && shape->file) {
        status = read_file(m, shape, scratch, &points, &count);
    } else if (status == PERP_STATUS_OK && count > 0) {
        memcpy(points, shape->points, (size_t)count * sizeof *points);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < count; i++) {
        points[i] = perp_vec3_scale(shape->scale, points[i]);
    }
    perp_hull hull;
    perp_error error;
    status = perp_hull_build(points, count, &scratch->allocator, &hull, &error);
    if (status != PERP_STATUS_OK) {
        return complain(m, shape->file ? ".file" : "", error.message, shape->file, status);
    }
    status = keep(m->scene, shape, &hull);
    perp_hull_free(&hull);
    return status;
}

perp_status perp_scene_build_hulls(perp_scene *scene, const char *folder, perp_diagnostics *diagnostics)
{
    mesh_source m = {.scene = scene, .folder = folder, .diagnostics = diagnostics};
    for (int b = 0; b < scene->body_count; b++) {
        perp_shape *shapes = (perp_shape *)scene->bodies[b].shapes; /* the scene's own copy */
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            if (shapes[i].kind != PERP_SHAPE_MESH || shapes[i].hull_triangle_count > 0 ||
                (shapes[i].file && shapes[i].point_count > 0) || (!shapes[i].file && shapes[i].point_count < 4)) {
                continue; /* nothing to do, or perp_scene_validate says what is missing */
            }
            perp_arena scratch;
            perp_arena_init(&scratch, &scene->memory->arena.allocator);
            snprintf(m.path, sizeof m.path, "bodies.%s.shapes.%d.mesh", scene->bodies[b].name, i);
            const perp_status status = build_one(&m, &shapes[i], &scratch);
            perp_arena_clear(&scratch);
            if (status == PERP_STATUS_OUT_OF_MEMORY) {
                return status;
            }
        }
    }
    return PERP_STATUS_OK;
}
