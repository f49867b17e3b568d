/* perp/geometry_hull.h - meshes: vertices from files, convex hulls by qhull.
 *
 * A mesh shape is the convex hull of its points, so that vertices are all that is taken from a file; its faces only say
 * how much the hull adds. A file cannot make
 * the reader take unbounded memory or time; what is not a sound mesh is refused with the reason and, in text files, the
 * line.
 */
#ifndef PERP_GEOMETRY_HULL_H
#define PERP_GEOMETRY_HULL_H

#include <perp/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERP_MESH_MAX_BYTES = 64 << 20,  /* of one file */
    PERP_MESH_MAX_POINTS = 1000000,  /* of one file or list */
    PERP_MESH_MAX_TOTAL = 2000000,   /* points of all the different meshes of a scene */
    PERP_MESH_MAX_TRIANGLES = 100000 /* of one hull */
};

/* A convex polytope. Triangles are triples of indices in `points`, counter-clockwise seen from outside; faces with more
 * corners come as several coplanar triangles. Every point is a corner of the hull. */
typedef struct perp_hull {
    int point_count, triangle_count;
    perp_vec3 *points;
    int *triangles; /* 3 * triangle_count */
    perp_allocator allocator;
} perp_hull;

/* The convex hull of `count` points. BAD_INPUT: fewer than 4 points, a coordinate that is not finite, or points that
 * lie in a plane to 1e-11 of their size (no volume); CAPACITY beyond the limits; OUT_OF_MEMORY. qhull's own memory
 * comes from malloc. Points on faces and inside are left out. */
PERP_API perp_status perp_hull_build(const perp_vec3 *points, int count, const perp_allocator *allocator,
                                     perp_hull *hull, perp_error *error);
PERP_API void perp_hull_free(perp_hull *hull);

/* Reads the files of all mesh shapes of a scene (relative to `folder`, not outside it; NULL: files are refused; or from
 * where `files` finds them, which may be NULL), scales
 * points and files' vertices, and gives every mesh shape its hull. To be called before perp_scene_validate; the YAML
 * loader does so. What is wrong goes to `diagnostics`, and a warning where a hull has over 1 % more volume than the
 * file's faces enclose; OUT_OF_MEMORY is returned, otherwise OK. */
PERP_API perp_status perp_scene_build_hulls(perp_scene *scene, const char *folder, const perp_scene_files *files,
                                            perp_diagnostics *diagnostics);

#ifdef __cplusplus
}
#endif
#endif
