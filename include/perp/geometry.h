/* perp/geometry.h - signed distances, and which pairs are near.
 *
 * Conventions: a pair (a, b) is ordered; the normal is unit and points from a to b; phi > 0 is separation, phi < 0 the
 * depth of the shortest translation that separates; the witnesses lie on the surfaces and
 * point_b - point_a = phi * normal. Planar queries live in x-y: z is 0 in and out.
 *
 * Nothing here allocates, except where a function says so.
 */
#ifndef PERP_GEOMETRY_H
#define PERP_GEOMETRY_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The answer of every distance query. */
typedef struct perp_separation {
    double phi;                 /* m */
    perp_vec3 normal;           /* unit, from a to b */
    perp_vec3 point_a, point_b; /* witnesses, on the surfaces */
    bool tie;                   /* another normal is as good to rounding; the choice is the same every time */
} perp_separation;

#ifdef __cplusplus
}
#endif
#endif
