/* Every mesh shape of a scene gets its hull. */
#include <perp/geometry_hull.h>

#include "geometry_hull/mesh_parse.h"
#include "base/file.h"
#include "base/name_table.h"
#include "scene/scene_memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct mesh_source {
    perp_scene *scene;
    const char *folder;
    const perp_scene_files *files_from; /* may be NULL */
    perp_diagnostics *diagnostics;
    char path[256];        /* of the mesh in the scene */
    long long points;      /* read so far */
    perp_name_table files; /* file names to indices in `built`: a file that is named again is not read again */
    const perp_shape **built;
    int built_count;
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

/* The bytes of a mesh file, which is inside the folder or was given. */
static perp_status fetch(const mesh_source *m, const char *name, perp_arena *arena, const char **text, size_t *length,
                         char why[200])
{
    const perp_scene_files *files = m->files_from;
    char *own = NULL;
    if (files && files->find) {
        snprintf(why, 200, "it is not among the files given");
        return files->find(files->context, name, text, length) ? PERP_STATUS_OK : PERP_STATUS_IO;
    }
    const char *path = perp_file_join(arena, m->folder, name);
    const perp_status status =
        path ? perp_file_read(arena, path, true, PERP_MESH_MAX_BYTES, &own, length, why) : PERP_STATUS_OUT_OF_MEMORY;
    *text = own;
    if (status == PERP_STATUS_OK && files && files->keep && !files->keep(files->context, name, own, *length)) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    return status;
}

/* The file's vertices, in the arena, and what its faces enclose, both as the file counts. */
static perp_status read_file(mesh_source *m, const perp_shape *shape, perp_arena *arena, perp_vec3 **points, int *count,
                             double *volume)
{
    char why[200] = "";
    const char *text = NULL, *name = shape->file;
    size_t length = 0;
    const bool stl = has_ending(name, ".stl");
    const bool given = m->files_from && m->files_from->find;
    perp_status status = given ? PERP_STATUS_OK : perp_file_check_inside(m->folder, name, why);
    if (status == PERP_STATUS_OK && !stl && !has_ending(name, ".obj")) {
        return complain(m, ".file", "is not a kind that is read; use .obj or .stl", name, PERP_STATUS_BAD_INPUT);
    }
    if (status == PERP_STATUS_OK) {
        status = fetch(m, name, arena, &text, &length, why);
    }
    if (status != PERP_STATUS_OK) {
        return complain(m, ".file", why, name, status);
    }
    perp_error error;
    perp_vec3 *parsed;
    const perp_mesh_format format = stl ? PERP_MESH_STL : PERP_MESH_OBJ;
    status = perp_mesh_parse(format, text, length, &arena->allocator, &parsed, count, &error);
    if (status != PERP_STATUS_OK) {
        return complain(m, ".file", error.message, name, status);
    }
    *volume = perp_mesh_volume(format, text, length, parsed, *count);
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

/* A concave mesh is not what the scene's author sees in contact: said with the two volumes, in m^3. */
static void compare_volumes(const mesh_source *m, const perp_shape *shape, double enclosed)
{
    static const double MORE = 0.01;
    const double volume = enclosed * shape->scale * shape->scale * shape->scale;
    perp_mass_properties unit;
    if (volume <= 0.0 || perp_shape_mass_properties(shape, false, &unit) != PERP_STATUS_OK ||
        unit.mass <= (1.0 + MORE) * volume) {
        return;
    }
    char path[300];
    snprintf(path, sizeof path, "%s.file", m->path);
    perp_scene_report(m->scene, m->diagnostics, PERP_SEVERITY_WARNING, path,
                      "mesh file `%.100s` is concave, and its convex hull is taken: %.4g m^3 in place of %.4g m^3 "
                      "(%.0f %% more); give convex pieces, each as a shape of its own, if hollows matter",
                      shape->file, unit.mass, volume, 100.0 * (unit.mass / volume - 1.0));
}

static perp_status build_one(mesh_source *m, perp_shape *shape, perp_arena *scratch)
{
    double enclosed = 0.0;
    perp_vec3 *points = PERP_ARENA_NEW(scratch, perp_vec3, (size_t)(shape->file ? 0 : shape->point_count));
    int count = shape->point_count;
    perp_status status = points ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
    if (status == PERP_STATUS_OK && shape->file) {
        status = read_file(m, shape, scratch, &points, &count, &enclosed);
    } else if (status == PERP_STATUS_OK && count > 0) {
        memcpy(points, shape->points, (size_t)count * sizeof *points);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    m->points += count;
    if (m->points > PERP_MESH_MAX_TOTAL) {
        return complain(m, "", "the meshes of a scene have too many points in all", NULL, PERP_STATUS_CAPACITY);
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
    if (status == PERP_STATUS_OK) {
        compare_volumes(m, shape, enclosed);
    }
    return status;
}

/* Takes the hull of a shape that names the same file at the same scale. */
static bool take_known(mesh_source *m, perp_shape *shape)
{
    const int known = shape->file ? perp_name_table_find(&m->files, shape->file) : -1;
    if (known < 0 || m->built[known]->scale != shape->scale) {
        return false;
    }
    shape->hull_points = m->built[known]->hull_points;
    shape->hull_point_count = m->built[known]->hull_point_count;
    shape->hull_triangles = m->built[known]->hull_triangles;
    shape->hull_triangle_count = m->built[known]->hull_triangle_count;
    return true; /* without a hull where the file was no good: said once */
}

static void remember(mesh_source *m, const perp_shape *shape)
{
    if (shape->file && perp_name_table_add(&m->files, shape->file, m->built_count) == m->built_count) {
        m->built[m->built_count++] = shape;
    }
}

static int count_meshes(const perp_scene *scene)
{
    int count = 0;
    for (int b = 0; b < scene->body_count; b++) {
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            count += scene->bodies[b].shapes[i].kind == PERP_SHAPE_MESH;
        }
    }
    return count;
}

/* An error of this mesh, or of something in it, is in the list: what was not read is not there to be judged. */
static bool has_error(const mesh_source *m)
{
    const size_t length = strlen(m->path);
    for (int i = 0; i < m->diagnostics->count; i++) {
        const perp_diagnostic *item = &m->diagnostics->items[i];
        if (item->severity == PERP_SEVERITY_ERROR && strncmp(item->path, m->path, length) == 0 &&
            (item->path[length] == '.' || item->path[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* `points` is written beside `file`, though it is empty: the place of a key that was not written is that of the mesh.
 * perp_scene_validate, which sees the scene and not what was written, says the same where there are points. */
static bool names_both(const mesh_source *m, const perp_shape *shape)
{
    const char *file = NULL;
    int line[2] = {0, 0}, column[2] = {0, 0};
    char path[300];
    if (!m->scene->locate || !shape->file || shape->point_count > 0) {
        return false;
    }
    snprintf(path, sizeof path, "%s.points", m->path);
    m->scene->locate(m->scene->locate_context, m->path, &file, &line[0], &column[0]);
    m->scene->locate(m->scene->locate_context, path, &file, &line[1], &column[1]);
    return line[0] != line[1] || column[0] != column[1];
}

/* Nothing to do, or perp_scene_validate says what is missing. */
static bool needs_no_hull(const perp_shape *shape)
{
    return shape->kind != PERP_SHAPE_MESH || shape->hull_triangle_count > 0 || !(shape->scale > 0.0) ||
           (shape->file && shape->point_count > 0) || (!shape->file && shape->point_count < 4);
}

static perp_status build_all(mesh_source *m)
{
    perp_scene *scene = m->scene;
    for (int b = 0; b < scene->body_count; b++) {
        perp_shape *shapes = (perp_shape *)scene->bodies[b].shapes; /* the scene's own copy */
        for (int i = 0; i < scene->bodies[b].shape_count; i++) {
            if (needs_no_hull(&shapes[i])) {
                continue;
            }
            snprintf(m->path, sizeof m->path, "bodies.%s.shapes.%d.mesh", scene->bodies[b].name, i);
            if (names_both(m, &shapes[i])) {
                complain(m, "", "a mesh has `points` or a `file`, not both", NULL, PERP_STATUS_BAD_INPUT);
                continue;
            }
            if (has_error(m) || take_known(m, &shapes[i])) {
                continue;
            }
            perp_arena scratch;
            perp_arena_init(&scratch, &scene->memory->arena.allocator);
            const perp_status status = build_one(m, &shapes[i], &scratch);
            perp_arena_clear(&scratch);
            remember(m, &shapes[i]);
            if (status == PERP_STATUS_OUT_OF_MEMORY || m->points > PERP_MESH_MAX_TOTAL) {
                return status == PERP_STATUS_OUT_OF_MEMORY ? status : PERP_STATUS_OK;
            }
        }
    }
    return PERP_STATUS_OK;
}

perp_status perp_scene_build_hulls(perp_scene *scene, const char *folder, const perp_scene_files *files,
                                   perp_diagnostics *diagnostics)
{
    mesh_source m = {.scene = scene, .folder = folder, .files_from = files, .diagnostics = diagnostics};
    perp_arena table;
    perp_arena_init(&table, &scene->memory->arena.allocator);
    const size_t meshes = (size_t)count_meshes(scene);
    m.built = PERP_ARENA_NEW(&table, const perp_shape *, meshes);
    const bool fits = m.built && perp_name_table_init(&m.files, &table, meshes);
    const perp_status status = fits ? build_all(&m) : PERP_STATUS_OUT_OF_MEMORY;
    perp_arena_clear(&table);
    return status;
}
