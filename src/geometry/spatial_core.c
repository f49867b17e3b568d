/* spatial_core.c - points, segments, boxes and hulls as cores. A box's corner i has the sign bits of i: bit 0 for +x,
 * bit 1 for +y, bit 2 for +z; its face 2 k looks along +axis k, 2 k + 1 along -axis k. */
#include "geometry/spatial_core.h"

#include <assert.h>

static const perp_spatial_face box_faces[6] = {{{1, 0, 0}, 0, 0, 4},   {{-1, 0, 0}, 0, 4, 4}, {{0, 1, 0}, 0, 8, 4},
                                               {{0, -1, 0}, 0, 12, 4}, {{0, 0, 1}, 0, 16, 4}, {{0, 0, -1}, 0, 20, 4}};
static const int box_loops[24] = {1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1};
static const perp_spatial_edge box_edges[12] = {
    {{0, 1}, {3, 5}, {1, 0, 0}}, {{2, 3}, {2, 5}, {1, 0, 0}}, {{4, 5}, {3, 4}, {1, 0, 0}}, {{6, 7}, {2, 4}, {1, 0, 0}},
    {{0, 2}, {1, 5}, {0, 1, 0}}, {{1, 3}, {0, 5}, {0, 1, 0}}, {{4, 6}, {1, 4}, {0, 1, 0}}, {{5, 7}, {0, 4}, {0, 1, 0}},
    {{0, 4}, {1, 3}, {0, 0, 1}}, {{1, 5}, {0, 3}, {0, 0, 1}}, {{2, 6}, {1, 2}, {0, 0, 1}}, {{3, 7}, {0, 2}, {0, 0, 1}}};
static const perp_spatial_edge segment_edge[1] = {{{0, 1}, {-1, -1}, {0, 0, 1}}};

static void place_box(const perp_spatial_shape *shape, spatial_core *core)
{
    const perp_vec3 h = shape->half_lengths;
    for (int i = 0; i < 8; i++) {
        core->own[i] = perp_vec3_make(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
    }
    core->corner_count = 8;
    core->face_count = 6;
    core->edge_count = 12;
    core->faces = box_faces;
    core->edges = box_edges;
    core->loops = box_loops;
    core->size = 2.0 * perp_vec3_norm(h);
    core->box = true;
}

static void place_hull(const perp_spatial_hull *hull, spatial_core *core)
{
    core->corner_count = hull->corner_count;
    core->face_count = hull->face_count;
    core->edge_count = hull->edge_count;
    core->corners = hull->corners;
    core->faces = hull->faces;
    core->edges = hull->edges;
    core->loops = hull->loops;
    core->size = hull->size;
}

void perp_spatial_core_place(const perp_spatial_shape *shape, perp_vec3 origin, spatial_core *core)
{
    core->rotation = shape->rotation;
    core->position = perp_vec3_sub(shape->position, origin);
    core->corners = core->own;
    core->box = false;
    core->corner_count = core->face_count = core->edge_count = 0;
    core->faces = NULL;
    core->edges = NULL;
    core->loops = NULL;
    switch (shape->kind) {
    case PERP_SPATIAL_POINT:
        core->corner_count = 1;
        core->own[0] = perp_vec3_make(0.0, 0.0, 0.0);
        core->size = 0.0;
        return;
    case PERP_SPATIAL_SEGMENT:
        core->corner_count = 2;
        core->own[0] = perp_vec3_make(0.0, 0.0, -shape->half_length);
        core->own[1] = perp_vec3_make(0.0, 0.0, shape->half_length);
        core->edge_count = 1;
        core->edges = segment_edge;
        core->size = 2.0 * shape->half_length;
        return;
    case PERP_SPATIAL_BOX:
        place_box(shape, core);
        return;
    case PERP_SPATIAL_HULL:
        place_hull(shape->hull, core);
        return;
    default:
        break;
    }
    assert(false); /* a halfspace has no core */
}

int perp_spatial_core_support(const spatial_core *core, perp_vec3 direction)
{
    const perp_vec3 d = perp_mat3_tmul_vec(&core->rotation, direction);
    if (core->box) {
        return (d.x > 0.0 ? 1 : 0) + (d.y > 0.0 ? 2 : 0) + (d.z > 0.0 ? 4 : 0);
    }
    int best = 0;
    double farthest = perp_vec3_dot(d, core->corners[0]);
    for (int i = 1; i < core->corner_count; i++) {
        const double s = perp_vec3_dot(d, core->corners[i]);
        if (s > farthest) {
            farthest = s;
            best = i;
        }
    }
    return best;
}

double perp_spatial_core_gap_along(const spatial_core *a, const spatial_core *b, perp_vec3 normal)
{
    const perp_vec3 down = perp_vec3_scale(-1.0, normal);
    const perp_vec3 top = spatial_core_corner(a, perp_spatial_core_support(a, normal));
    const perp_vec3 bottom = spatial_core_corner(b, perp_spatial_core_support(b, down));
    return perp_vec3_dot(normal, perp_vec3_sub(bottom, top));
}

double perp_spatial_tolerance(const spatial_core *a, const spatial_core *b)
{
    return 4e-9 + 2e-9 * (a->size + b->size);
}
