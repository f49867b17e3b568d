/* planar_private.h - what the planar queries share: vectors of two, and the features that decide a pair of cores. */
#ifndef PERP_SRC_GEOMETRY_PLANAR_PRIVATE_H
#define PERP_SRC_GEOMETRY_PLANAR_PRIVATE_H

#include <perp/geometry.h>

#include "geometry/tolerances.h"

typedef struct planar_vec {
    double x, y;
} planar_vec;

static inline planar_vec planar_sub(perp_vec3 a, perp_vec3 b)
{
    return (planar_vec){a.x - b.x, a.y - b.y};
}
static inline double planar_dot(planar_vec a, planar_vec b)
{
    return a.x * b.x + a.y * b.y;
}
static inline double planar_cross(planar_vec a, planar_vec b)
{
    return a.x * b.y - a.y * b.x;
}
/* p + s u, back in the plane z = 0. */
static inline perp_vec3 planar_move(perp_vec3 p, double s, planar_vec u)
{
    return perp_vec3_make(p.x + s * u.x, p.y + s * u.y, 0.0);
}
static inline int planar_next(int i, int count)
{
    return i + 1 < count ? i + 1 : 0;
}
static inline int planar_prev(int i, int count)
{
    return i > 0 ? i - 1 : count - 1;
}
/* What makes a tie worth telling. */
static inline bool planar_differ(planar_vec unit_a, planar_vec unit_b)
{
    return planar_dot(unit_a, unit_b) < 0.0 || fabs(planar_cross(unit_a, unit_b)) > SAME_DIRECTION;
}

/* Points that are nearer to each other than this have the normal +x, whatever is between them. Half of the tolerance:
 * then the separation along +x is within the tolerance of the distance, whichever of the two is a, while bodies that
 * coincide by design may each move by 1e-9 m. Taking -x where b is on that side would flip the normal by rounding. */
static inline double planar_coincide(double tolerance)
{
    return 0.5 * tolerance;
}

/* False: the edge is a cut between parts of a polygon. */
static inline bool planar_is_surface(const perp_planar_shape *core, int edge)
{
    return !core->borders || core->borders[edge].edge;
}
/* False: the polygon that the core is a part of turns inwards at the corner. */
static inline bool planar_is_outer(const perp_planar_shape *core, int corner)
{
    return !core->borders || core->borders[corner].convex;
}

/* What two cores touch each other with. Of the reference core: the edge from corner `edge`; of the other: its lowest
 * corner above that edge. */
typedef enum planar_feature_kind { PLANAR_EDGE_OF_A, PLANAR_EDGE_OF_B, PLANAR_CORNERS } planar_feature_kind;

typedef struct planar_features {
    planar_feature_kind kind;
    int edge;          /* PLANAR_CORNERS: corner of a */
    int corner;        /* of the other core; PLANAR_CORNERS: of b */
    perp_vec3 above;   /* the other core's point that is nearest to the edge, over it; unset for PLANAR_CORNERS */
    planar_vec normal; /* unit, from a to b */
    double tolerance;  /* below which separations are equal */
    bool tie;
    bool none; /* the cores are parts of polygons and do not meet with what is surface of these; the rest is not set */
} planar_features;

/* The features that decide the distance of two cores, radii aside. */
planar_features perp_planar_core_features(const perp_planar_shape *a, const perp_planar_shape *b);

/* `tolerance` of perp_planar_distance, m: what separations of this pair may differ by and count as equal. A core's size
 * is the longer side of its box, radius included; a halfplane and a hole have none. */
double perp_planar_tolerance(const perp_planar_shape *a, const perp_planar_shape *b);
/* perp_planar_tolerance, and the largest coordinate of the cores in `magnitude`. */
double perp_planar_tolerance_within(const perp_planar_shape *a, const perp_planar_shape *b, double *magnitude);

/* The separation at point_a of a's core and point_b of b's, radii added. */
perp_separation perp_planar_separation(const perp_planar_shape *a, const perp_planar_shape *b, perp_vec3 core_a,
                                       perp_vec3 core_b, planar_vec normal, bool tie);
/* The same contact seen with a and b exchanged. */
perp_separation perp_planar_mirror(perp_separation s);
/* A core's corner against a halfplane or in a hole, the core being a. */
perp_separation perp_planar_corner_on_halfplane(const perp_planar_shape *core, int corner,
                                                const perp_planar_shape *plane);
perp_separation perp_planar_corner_in_hole(const perp_planar_shape *core, int corner, const perp_planar_shape *hole);
/* The same against the wall a quarter of the circle on from the nearest place, counter-clockwise, `quarters` times. */
perp_separation perp_planar_corner_across_hole(const perp_planar_shape *core, int corner, const perp_planar_shape *hole,
                                               int quarters);
/* The lowest corner over a halfplane, -1 if it is no surface there; the farthest from the centre of a hole, the first
 * of several, -1 if no corner of the core is an outer one of its polygon. */
int perp_planar_lowest_corner(const perp_planar_shape *core, const perp_planar_shape *plane);
int perp_planar_farthest_corner(const perp_planar_shape *core, const perp_planar_shape *hole, bool *tie);

/* Whether a body may touch the core at this corner along `outer`, unit and out of the core: always, but for a part of a
 * polygon. There `outer` must be between the normals of the polygon's own two edges at the corner, or one of these
 * edges lie flat, its ends equally high to the tolerance. */
bool perp_planar_leaves_corner(const perp_planar_shape *core, int corner, planar_vec outer, double tolerance);

#endif
