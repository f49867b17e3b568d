/* libFuzzer target: arbitrary bytes as a mesh file; the first byte chooses the format. What parses must have finite
 * vertices, and what has a hull must have a positive volume and finite mass properties. */
#include <perp/geometry_hull.h>

#include "geometry_hull/mesh_parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_vec3 *points;
    int count;
    if (size == 0) {
        return 0;
    }
    const perp_mesh_format format = data[0] & 1 ? PERP_MESH_STL : PERP_MESH_OBJ;
    if (perp_mesh_parse(format, data + 1, size - 1, NULL, &points, &count, NULL) != PERP_STATUS_OK) {
        return 0;
    }
    const double volume = perp_mesh_volume(format, data + 1, size - 1, points, count);
    if (!(volume >= 0.0)) {
        abort();
    }
    perp_hull hull;
    if (perp_hull_build(points, count, NULL, &hull, NULL) == PERP_STATUS_OK) {
        perp_shape mesh = {.kind = PERP_SHAPE_MESH, .pose = perp_placement_default(), .scale = 1.0};
        mesh.hull_points = hull.points;
        mesh.hull_point_count = hull.point_count;
        mesh.hull_triangles = hull.triangles;
        mesh.hull_triangle_count = hull.triangle_count;
        perp_mass_properties properties;
        if (perp_shape_mass_properties(&mesh, false, &properties) != PERP_STATUS_OK || properties.mass < 0.0) {
            abort();
        }
        perp_hull_free(&hull);
    }
    free(points);
    return 0;
}
