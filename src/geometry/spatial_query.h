/* spatial_query.h - what the rules of a manifold share: the pair, its witnesses, and the plane that all is seen in.
 *
 * Points are from the origin, a's witness, so that accuracy does not depend on where in the world the pair is.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_QUERY_H
#define PERP_SRC_GEOMETRY_SPATIAL_QUERY_H

#include "geometry/spatial_core.h"
#include "geometry/spatial_features.h"

typedef struct spatial_query {
    const perp_spatial_shape *a, *b;
    perp_separation s;
    double tolerance;
    perp_vec3 origin; /* a's witness: x, y, z are from here, along t, o and the normal */
    perp_vec3 t, o;
    bool still;   /* only points that stay where they are on the shapes as these turn a little */
    bool springs; /* no point gives way to another one */
} spatial_query;

/* A point of a, from the origin, with what is at phi along the normal. Its features are left to the caller. */
static inline perp_manifold_point spatial_contact(const spatial_query *q, perp_vec3 point_a, perp_vec3 normal,
                                                  double phi)
{
    const perp_vec3 on_a = perp_vec3_add(q->origin, point_a);
    return (perp_manifold_point){.at = {.phi = phi,
                                        .normal = normal,
                                        .point_a = on_a,
                                        .point_b = perp_vec3_add_scaled(on_a, phi, normal),
                                        .tie = q->s.tie}};
}

static inline bool spatial_line_is_side(const spatial_line *line) /* of a cylinder */
{
    return line->kind == PERP_SPATIAL_CYLINDER;
}

static inline bool spatial_line_is_sharp(const spatial_line *line)
{
    return !spatial_line_is_side(line) && line->radius <= 0.0;
}

/* Ends of the overlap of two nearly parallel lines of a and b, along the direction between the two, into an empty
 * manifold; fewer where something else is nearest there. */
void perp_spatial_overlap(const spatial_query *q, const spatial_line *la, const spatial_line *lb, perp_manifold *m);

#endif
