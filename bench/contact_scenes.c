#include "contact_scenes.h"

#include <perp/geometry_hull.h>
#include <perp/scene_yaml.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PERP_SOURCE_DIR
#define PERP_SOURCE_DIR "."
#endif

enum { CORNERS = 20 };
#define MARGIN 0.005
#define CELL 0.06

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_contact: %s: %s\n", what, why);
    exit(1);
}

static perp_scene *begin(void)
{
    perp_scene *scene;
    if (perp_scene_create(false, NULL, &scene, NULL) != PERP_STATUS_OK) {
        die("scene", "out of memory");
    }
    scene->margin = MARGIN;
    perp_shape plane = {.kind = PERP_SHAPE_PLANE, .normal = {0, 0, 1}, .pose = perp_placement_default()};
    perp_body ground = perp_body_default("ground");
    ground.kind = PERP_BODY_FIXED;
    ground.shapes = &plane;
    ground.shape_count = 1;
    if (perp_scene_add_body(scene, &ground, NULL) != PERP_STATUS_OK) {
        die("scene", "out of memory");
    }
    return scene;
}

static void add(perp_scene *scene, int i, const perp_shape *shape, perp_pose pose)
{
    char name[32];
    snprintf(name, sizeof name, "body%d", i);
    perp_body body = perp_body_default(name);
    body.mass = perp_set(0.3);
    body.shapes = shape;
    body.shape_count = 1;
    body.pose_set = true;
    body.pose.pose = pose;
    if (perp_scene_add_body(scene, &body, NULL) != PERP_STATUS_OK) {
        die(name, "out of memory");
    }
}

static perp_scene *finish(perp_scene *scene)
{
    static perp_diagnostics diagnostics;
    char line[1200] = "the scene was refused";
    if (perp_scene_build_hulls(scene, NULL, NULL, &diagnostics) != PERP_STATUS_OK ||
        perp_scene_validate(scene, &diagnostics) != PERP_STATUS_OK) {
        if (diagnostics.count > 0) {
            perp_diagnostic_format(&diagnostics.items[0], line, sizeof line);
        }
        die("scene", line);
    }
    return scene;
}

perp_scene *contact_scene_stack(int cubes)
{
    perp_scene *scene = begin();
    const double size = 0.1, overlap = 1e-5;
    const perp_shape cube = {.kind = PERP_SHAPE_BOX, .size = {size, size, size}, .pose = perp_placement_default()};
    for (int i = 0; i < cubes; i++) {
        perp_pose pose = perp_pose_identity();
        pose.position.z = 0.5 * size - overlap + i * (size - overlap);
        add(scene, i, &cube, pose);
    }
    return finish(scene);
}

perp_scene *contact_scene_arm(void)
{
    static perp_diagnostics diagnostics;
    const char *path = PERP_SOURCE_DIR "/bench/scenes/arm-and-cubes.yaml";
    perp_scene *scene;
    if (perp_scene_load_file(path, NULL, &scene, &diagnostics) != PERP_STATUS_OK) {
        char line[1200] = "";
        if (diagnostics.count > 0) {
            perp_diagnostic_format(&diagnostics.items[0], line, sizeof line);
        }
        die(path, line);
    }
    return scene;
}

/* ---- the pile -----------------------------------------------------------------------------------------------------
 */

static perp_vec3 direction(perp_random *random)
{
    const double z = perp_random_uniform(random, -1.0, 1.0), turn = perp_random_uniform(random, 0.0, 6.283185307179586);
    const double r = sqrt(1.0 - z * z);
    return perp_vec3_make(r * cos(turn), r * sin(turn), z);
}

/* Every other extent overlaps a neighbour of the same kind by 0.1 mm; the rest leave up to half of the margin. */
static double extent(perp_random *random)
{
    const double gap = perp_random_uniform(random, -0.5 * MARGIN, 0.5 * MARGIN);
    return CELL + 1e-4 - fmax(gap, 0.0);
}

static perp_shape random_shape(perp_random *random, const perp_vec3 *corners)
{
    static const perp_shape_kind kinds[] = {PERP_SHAPE_SPHERE,   PERP_SHAPE_BOX,       PERP_SHAPE_CAPSULE,
                                            PERP_SHAPE_CYLINDER, PERP_SHAPE_ELLIPSOID, PERP_SHAPE_MESH};
    perp_shape s = {.kind = kinds[(int)perp_random_uniform(random, 0.0, 6.0)], .pose = perp_placement_default()};
    const double x = extent(random), y = extent(random), z = extent(random);
    switch (s.kind) {
    case PERP_SHAPE_CAPSULE: /* its ends touch, its sides are well within the cell */
        s.radius = 0.35 * x;
        s.length = z - 2.0 * s.radius;
        break;
    case PERP_SHAPE_ELLIPSOID:
        s.size = perp_vec3_make(0.5 * x, 0.5 * y, 0.5 * z);
        break;
    case PERP_SHAPE_MESH:
        s.points = corners;
        s.point_count = CORNERS;
        s.scale = 1.0;
        break;
    default:
        s.radius = 0.5 * x;
        s.length = z;
        s.size = perp_vec3_make(x, y, z);
        break;
    }
    return s;
}

/* A quarter turn about one of the lattice's axes and a little tilt. */
static perp_quat random_turn(perp_random *random, perp_shape_kind kind)
{
    static const perp_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const perp_vec3 about = direction(random), axis = axes[(int)perp_random_uniform(random, 0.0, 3.0)];
    const double angle = perp_random_uniform(random, 0.0, 1.0);
    return perp_quat_mul(perp_quat_from_axis_angle(about, kind == PERP_SHAPE_SPHERE ? 3.14 * angle : 0.005 * angle),
                         perp_quat_from_axis_angle(axis, 1.5707963267948966));
}

perp_scene *contact_scene_pile(int count)
{
    perp_scene *scene = begin();
    perp_random random = {20260202};
    perp_vec3 corners[CORNERS];
    for (int i = 0; i < CORNERS; i++) {
        const double angle = 6.283185307179586 * (i / 2) / (CORNERS / 2);
        corners[i] = perp_vec3_scale(0.5 * CELL, perp_vec3_make(cos(angle), sin(angle), i % 2 ? 1.0 : -1.0));
    }
    const int side = (int)ceil(cbrt(count) - 1e-9);
    for (int i = 0; i < count; i++) {
        const perp_shape shape = random_shape(&random, corners);
        const perp_vec3 cell = {(i % side + 0.5) * CELL, (i / side % side + 0.5) * CELL,
                                (i / (side * side) + 0.5) * CELL};
        const perp_vec3 off = direction(&random);
        const perp_pose pose = {random_turn(&random, shape.kind), perp_vec3_add_scaled(cell, 5e-5, off)};
        add(scene, i, &shape, pose);
    }
    return finish(scene);
}
