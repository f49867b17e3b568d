/* shape_kinds.h - what a scene knows of each kind of shape: one row of one table. docs/architecture.md lists what else
 * a new kind needs. */
#ifndef PERP_SRC_SCENE_SHAPE_KINDS_H
#define PERP_SRC_SCENE_SHAPE_KINDS_H

#include "scene/validator.h"

typedef struct perp_shape_traits {
    const char *name; /* the key in scene files */
    bool planar, spatial;
    /* Complains of wrong dimensions; NULL: it has none. */
    void (*check)(validator *v, perp_shape *shape);
    /* Of unit density, in the shape's own frame, about its own centroid; `out` comes as zeros. NULL: it has no mass. */
    perp_status (*mass)(const perp_shape *shape, bool planar, perp_mass_properties *out);
    /* The sides of a box around it, m, in any order; NULL: it is a point or has no end. */
    perp_vec3 (*sides)(const perp_shape *shape, bool planar);
} perp_shape_traits;

/* Of a number that is no kind: a name, and nothing else. */
const perp_shape_traits *perp_shape_traits_of(perp_shape_kind kind);

/* The corners of a mesh's hull or of a polygon; none of other shapes. */
const perp_vec3 *perp_shape_corners(const perp_shape *shape, int *count);

/* I += m (|d|^2 1 - d d'): the inertia about a point at distance d from the centre of mass. */
void perp_add_parallel_axis(perp_mat3 *inertia, double mass, perp_vec3 d);

#endif
