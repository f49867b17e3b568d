/* mesh_parse.h - mesh files in memory. */
#ifndef PERP_SRC_GEOMETRY_HULL_MESH_PARSE_H
#define PERP_SRC_GEOMETRY_HULL_MESH_PARSE_H

#include <perp/geometry_hull.h>

typedef enum perp_mesh_format { PERP_MESH_OBJ, PERP_MESH_STL } perp_mesh_format;

/* The vertices of an OBJ or STL (text or binary) file in memory, as an array of the allocator's that the caller
 * releases. BAD_INPUT names what is wrong (truncated, not finite, too many, none). STL repeats shared corners; they are
 * kept. */
perp_status perp_mesh_parse(perp_mesh_format format, const void *bytes, size_t length, const perp_allocator *allocator,
                            perp_vec3 **points, int *count, perp_error *error);

/* The volume that the faces of the same bytes enclose, in the file's units; `points` are the vertices that
 * perp_mesh_parse found, at least one. 0: there are no faces, or they do not close. */
double perp_mesh_volume(perp_mesh_format format, const void *bytes, size_t length, const perp_vec3 *points, int count);

#endif
