/* spatial_core.h - a convex polytope placed in space, behind one support function, and what the spatial queries share.
 *
 * A query works in world axes about a's position, so that accuracy depends on the sizes and the gap and not on where in
 * the world the pair is.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_CORE_H
#define PERP_SRC_GEOMETRY_SPATIAL_CORE_H

#include <perp/geometry.h>

/* Corners, faces and edges are in the core's own frame. A point has neither faces nor edges, a segment one edge without
 * faces. Not to be copied: `corners` may point to `own`. */
typedef struct spatial_core {
    int corner_count, face_count, edge_count;
    const perp_vec3 *corners;
    const perp_spatial_face *faces;
    const perp_spatial_edge *edges;
    const int *loops;
    perp_mat3 rotation;
    perp_vec3 position; /* from the origin of the query */
    double size;        /* a ball of this diameter about `position` holds the core */
    bool box;
    perp_vec3 own[8];
} spatial_core;

/* The core of a shape that is not a halfspace. */
void perp_spatial_core_place(const perp_spatial_shape *shape, perp_vec3 origin, spatial_core *core);

/* The first corner that is farthest along `direction` (any length). */
int perp_spatial_core_support(const spatial_core *core, perp_vec3 direction);

static inline perp_vec3 spatial_core_corner(const spatial_core *core, int i)
{
    return perp_vec3_add(core->position, perp_mat3_mul_vec(&core->rotation, core->corners[i]));
}

/* min over b - max over a of normal . x: for any unit normal not above the signed distance. */
double perp_spatial_core_gap_along(const spatial_core *a, const spatial_core *b, perp_vec3 normal);

/* What of two cores is nearest. */
typedef struct spatial_nearest {
    double distance;            /* 0: the cores overlap, and the rest is not set */
    perp_vec3 normal;           /* unit, from a to b */
    perp_vec3 point_a, point_b; /* on the cores */
    int iterations;
    bool fell_back; /* the bounds did not meet and every pair of features was compared; the cores may yet overlap */
} spatial_nearest;

/* Distance by GJK, starting along `guess`. The normal is that of a face where one is nearest to `tolerance`. */
spatial_nearest perp_spatial_gjk(const spatial_core *a, const spatial_core *b, perp_vec3 guess, double tolerance);

/* Nearest points of the segments p0 p1 and q0 q1, either of which may be a point. */
void perp_spatial_segments(perp_vec3 p0, perp_vec3 p1, perp_vec3 q0, perp_vec3 q1, perp_vec3 *on_p, perp_vec3 *on_q);

/* Signed distance of touching or overlapping cores along the best normal of faces and pairs of edges; at least one of
 * the cores has faces. Cores that are `apart` by d get no more than d, and no less than -tolerance. */
perp_separation perp_spatial_sat(const spatial_core *a, const spatial_core *b, double tolerance, bool *apart);

/* Below this, separations are equal: see perp_spatial_distance. */
double perp_spatial_tolerance(const spatial_core *a, const spatial_core *b);

#endif
