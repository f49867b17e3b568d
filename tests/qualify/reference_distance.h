/* reference_distance.h - what the distance queries are judged by.
 *
 * Nothing here comes from src/geometry: a shape is known by its support function and by the surface it has, and the
 * arithmetic is in long double. There are five judges:
 *
 *   closed forms       where a formula exists
 *   bounds             cores apart: the dual of the distance, max over |n| <= 1 of the gap along n, by the ellipsoid
 *                      method. It shrinks a volume that holds the best n by a fixed factor per step, whatever the
 *                      shapes, and so bounds the distance from both sides
 *   minimality         cores that overlap: the sphere of directions is cut into triangles until each is known to hold
 *                      no shorter way out, or a shorter way is found
 *   bores              the circle of directions is cut into arcs until each is known to hold no nearer half plate
 *   planar distances   every corner against every edge, every edge's normal against every corner
 *
 * Any unit n gives a lower bound of the signed distance, and any two points of the shapes an upper one where they are
 * apart; an answer whose own normal and witnesses give bounds that meet is proven right without any of the above.
 */
#ifndef PERP_TESTS_QUALIFY_REFERENCE_DISTANCE_H
#define PERP_TESTS_QUALIFY_REFERENCE_DISTANCE_H

#include <perp/geometry.h>

/* A shape and, of a hull, the triangles of its surface. */
typedef struct reference_shape {
    const perp_spatial_shape *shape;
    int triangle_count;
    const perp_vec3 (*triangles)[3]; /* in the shape's frame */
} reference_shape;

/* min over b - max over a of n . x for n along `normal`: not above the signed distance, and the distance that a
 * translation of b along n leaves to go. A halfspace has a gap along its own normal only: any other that differs by
 * more than 1e-12 gives -infinity. */
double reference_gap_along(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_vec3 normal);

/* Distance of a point to the surface, in or out. */
double reference_off_surface(const reference_shape *shape, perp_vec3 point);

/* The signed distance, where a formula gives it: halfspace and anything; sphere or point and sphere, capsule, box,
 * cylinder; capsule and capsule; sphere or point and hole, a capsule whose core is in the bore. */
bool reference_closed_form(const perp_spatial_shape *a, const perp_spatial_shape *b, double *phi);

/* Bounds of the distance of the cores (points and segments without their radius), lower = 0 where they overlap. They
 * meet to `tolerance` unless `limit`. No halfspaces. */
typedef struct reference_bounds {
    double lower, upper;
    int iterations;
    bool limit;
} reference_bounds;

reference_bounds reference_core_distance(const perp_spatial_shape *a, const perp_spatial_shape *b, double tolerance);

typedef enum reference_verdict {
    REFERENCE_PROVEN,    /* no direction is better by `tolerance` */
    REFERENCE_DISPROVED, /* `direction` is */
    REFERENCE_UNSETTLED  /* too many triangles: nearly every direction is as good; none better was found */
} reference_verdict;

typedef struct reference_minimality {
    reference_verdict verdict;
    double least; /* the smallest depth of the cores that was seen */
    perp_vec3 direction;
    int cells;
} reference_minimality;

/* Whether cores that overlap overlap by no less than depth - tolerance. `inner` is point_a - point_b of two points of
 * the cores, each to within `off`: a point of the difference of the shapes, which the proof may use. */
reference_minimality reference_depth(const perp_spatial_shape *a, const perp_spatial_shape *b, double depth,
                                     perp_vec3 inner, double off, double tolerance);

/* x against a hole, as spatial_hole.h defines it: min over the angle of the signed distances to the half plates that
 * touch the bore there, each the max over normals in the plane of the angle and the axis. One of them, and whether any
 * is less than phi - tolerance: intervals of angles are cut until each is known to hold none, for which one normal's
 * slope is enough, or one is found. */
double reference_half_plate(const perp_spatial_shape *x, const perp_spatial_shape *hole, double angle);
reference_minimality reference_hole(const perp_spatial_shape *x, const perp_spatial_shape *hole, double phi,
                                    double tolerance);
/* The least of many angles, or any that is not above `enough`: an upper bound of phi. */
double reference_hole_least(const perp_spatial_shape *x, const perp_spatial_shape *hole, double enough);

/* The signed distance of two planar shapes; infinite for pairs without contact. */
double reference_planar(const perp_planar_shape *a, const perp_planar_shape *b);

/* The gap along `normal` of two planar shapes, as above; not for holes. */
double reference_planar_gap_along(const perp_planar_shape *a, const perp_planar_shape *b, perp_vec3 normal);

/* Distance of a point to the boundary. */
double reference_planar_off_boundary(const perp_planar_shape *shape, perp_vec3 point);

#endif
