/* spatial_hole.h - a bounded convex shape x against a bore: signed distance and manifold.
 *
 * The solid around a bore of radius R through a plate of thickness 2 H, { |z| <= H, hypot(x, y) >= R } in the hole's
 * frame, is the union over the angle t of the half plates
 *
 *     K(t) = { |z| <= H, p . e(t) >= R },   e(t) = (cos t, sin t, 0),
 *
 * whose straight edge touches the bore. They are convex, so each has a signed distance to x like any pair of convex
 * shapes: apart, the distance; overlapping, minus the shortest translation that separates. Then
 *
 *     phi = min over t of the signed distance of x and K(t).
 *
 * Apart, that is the distance of x and the solid. Overlapping, it is the depth in the half plate that holds x most: a
 * pin thicker than its hole is R - r deep, however long it is, with radial normals; an end that has just entered beside
 * its hole is as deep as it has come below the plate's face, not as far as it is beside the hole; a sphere is as deep
 * as its centre is, plus its radius. phi changes by no more than x moves, and its normal does not jump where phi
 * changes sign. The depth of the deepest point of x in the solid, the obvious alternative, agrees in these cases, but
 * turns the normal of a tilted pin at the mouth by its tilt at the moment of contact, and grows no more when x is
 * through the plate's middle. Seen end-on the planar hole is the same: min over t of R - (reach of x along e(t)).
 *
 * Normals point from x into the solid: radially on the wall, axially at a face, and between the two at a rim.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_HOLE_H
#define PERP_SRC_GEOMETRY_SPATIAL_HOLE_H

#include <perp/geometry.h>

#include "geometry/tolerances.h"

/* Signed distance; x is a (neither HALFSPACE nor HOLE), the hole is b. The rules of ties are in perp_spatial_distance.
 */
perp_separation perp_spatial_hole_distance(const perp_spatial_shape *x, const perp_spatial_shape *hole);

/* The points of a contact; x is a, the hole is b. The smallest gap is phi to the tolerance of ties; no gap is smaller.
 *
 * Beside the plate (all of x is on one side of it, or the normal is axial): the points of x against the face as against
 * a halfspace, those that are over solid, with axial normals. Where a border of x's lower face (line, rim) leads from
 * over solid to over the bore, the place where it crosses the rim is a point too: the corners of what is in contact.
 *
 * In the bore:
 *   capsule and cylinder, for each end: the place where it is nearest, then the directions 90, 180 and 270 degrees
 *     around the bore from it, so that every wall is seen that a big step may reach. Where the end is within the
 *     plate's thickness, its farthest point in that direction against the wall (capsule: its end), radial. Where it is
 *     out of the bore, the side against the rim of that mouth; the normal is square to both, or radial in the plane of
 *     the mouth where that would point out of the solid. What would be beyond the pin's ends is left out. So a parallel
 *     pin is nearest on one generator, a tilted one on opposite sides, and both have 8 points.
 *   sphere and point: the nearest point and the same three directions, against the wall or the rim. So too the end of a
 *     capsule that stands over a mouth and is nearest to its rim. 1 point over solid.
 *   ellipsoid: the nearest point; if that is on the wall, its farthest point in each of the three directions, as far as
 *     it is within the plate's thickness.
 *   box and hull: each corner within the thickness, against the wall, and each edge that passes through a mouth,
 *     against its rim. If these are more than 8: the nearest in each quarter around the direction of the nearest of
 *     all, in the upper and in the lower half of what is in the bore.
 *
 * Where none of these is as near as phi (a face of x against the rim), the witnesses of phi are a further point.
 *
 * In the three directions the gap is that of x's end and the half plate, R - (reach of the end) on the wall: a bound
 * that every pose without overlap meets, whatever the direction, and exact in the pose to first order. x's witness is
 * the farthest point. The hole's is across from it on the straight edge of the half plate, which is in the solid by
 * hypot(R, t) - R if it is beside the direction by t: 0 opposite to the nearest direction where x is in line with it,
 * and less than (R - r)^2 / 2 R for a round pin that fits. On the bore itself there is no such point: of all wall
 * points only the nearest and the farthest have x's nearest point on their normal. The gap from a wall point along its
 * radius, the obvious alternative, would be too large by t^2 / 2 r and turn the pin about its own axis.
 *
 * Features of the hole: SURFACE, the wall, and RIM 16 * mouth (0 at -z, 1 at +z), each + 0 where x (its end) is nearest
 * and + 1, 2, 3 for the directions on from there, counter-clockwise about z; FACE 0 at -z and 1 at +z. In the tie of a
 * coaxial pin that takes the hole's +x the directions are +x, +y, -x, -y. Of x: as in perp_feature_kind; the farthest
 * point of a cylinder's end circle is 32 + end of its rim. Where a border crosses the rim, the point has the feature of
 * the border's end that is over solid, and of the hole RIM 16 * mouth + 4, or + 5 on the way back. Corners come first,
 * by index, then edges by index, first at -z then at +z; a pin's ends in the order of its axis, all directions of one
 * end together. */
perp_manifold perp_spatial_hole_manifold(const perp_spatial_shape *x, const perp_spatial_shape *hole);

/* ---- shared by the files --------------------------------------------------------------------------------------- */

/* A pair in the hole's frame. Not to be copied: `corners` may point to `own`. */
typedef struct spatial_hole_pair {
    const perp_spatial_shape *x;
    perp_mat3 turn;           /* x's frame to the hole's */
    perp_vec3 at;             /* x's origin */
    double bore, half;        /* R, H */
    double radius;            /* of the rounding of x: POINT, SEGMENT */
    double size;              /* a ball of this diameter about `at` holds x */
    double tolerance;         /* below which gaps are equal */
    int corner_count;         /* POINT, SEGMENT, BOX, HULL; else 0 */
    const perp_vec3 *corners; /* in x's frame */
    perp_vec3 own[8];
} spatial_hole_pair;

typedef enum spatial_hole_part { SPATIAL_HOLE_WALL, SPATIAL_HOLE_FACE, SPATIAL_HOLE_RIM } spatial_hole_part;

/* What is nearest of x and the half plate at one angle. */
typedef struct spatial_hole_contact {
    double angle;
    perp_vec3 radial;       /* e(angle) */
    double gap, slope;      /* d gap / d angle */
    spatial_hole_part part; /* of the solid */
    double cosine, sine;    /* normal = cosine radial + sine z */
    double level;           /* WALL: z of the contact; FACE and RIM: sign of z of the mouth */
    perp_vec3 point;        /* FACE: the core's point that is nearest */
    int corners[2];         /* of a polytope: the ends of the edge that is nearest; equal: a corner */
    int end;                /* of a cylinder: -1 or +1 along its axis; 0: its side */
    bool tie;
    bool rests; /* set by the search: gap is a minimum over the angle */
} spatial_hole_contact;

/* What makes a tie worth telling. */
static inline bool spatial_hole_normals_differ(const spatial_hole_contact *a, const spatial_hole_contact *b)
{
    const perp_vec3 z = {0.0, 0.0, 1.0};
    const perp_vec3 n = perp_vec3_add_scaled(perp_vec3_scale(a->cosine, a->radial), a->sine, z);
    const perp_vec3 o = perp_vec3_add_scaled(perp_vec3_scale(b->cosine, b->radial), b->sine, z);
    return perp_vec3_norm(perp_vec3_sub(n, o)) > SAME_DIRECTION;
}

void perp_spatial_hole_place(const perp_spatial_shape *x, const perp_spatial_shape *hole, spatial_hole_pair *pair);
static inline perp_vec3 spatial_hole_point(const spatial_hole_pair *pair, perp_vec3 local)
{
    return perp_vec3_add(pair->at, perp_mat3_mul_vec(&pair->turn, local));
}
/* Edges of a polytope, numbered as perp_feature's. */
int perp_spatial_hole_edge_count(const spatial_hole_pair *pair);
void perp_spatial_hole_edge(const spatial_hole_pair *pair, int edge, int corners[2]);
/* Where an edge passes through the plane at z; false if it does not. */
bool perp_spatial_hole_crossing(const spatial_hole_pair *pair, int edge, double z, perp_vec3 *point);
/* The point of x's core that is farthest along the unit vector n, for CYLINDER and ELLIPSOID. `outward`, not along
 * n, breaks the tie of a cylinder's end that is square to n; `end` -1 or +1 takes that end of a cylinder whatever n
 * says, 0 leaves it. */
perp_vec3 perp_spatial_hole_support(const spatial_hole_pair *pair, perp_vec3 n, perp_vec3 outward, int end);
/* The point of a cylinder's end (-1, +1) that is farthest along a radius of the bore; where all of the end is, that
 * which is nearest to the middle of the plate. */
perp_vec3 perp_spatial_hole_end_along(const spatial_hole_pair *pair, int end, perp_vec3 radial);

/* The angles of the two points of a cylinder's end that are level with its middle, near which a lying pin is nearest.
 * Returns how many: none for other shapes or an upright pin. */
int perp_spatial_hole_end_angles(const spatial_hole_pair *pair, int end, double angles[2]);

typedef void spatial_hole_function(const spatial_hole_pair *pair, const void *context, double angle,
                                   spatial_hole_contact *contact);
/* A pin (CYLINDER, SEGMENT): its end (-1, +1) against the endless wall; its endless side against the rim of a mouth
 * (-1, +1), where the normal is square to the axis and may leave the plane of the angle except at the minimum. The
 * context is an int. */
spatial_hole_function perp_spatial_hole_end_on_wall, perp_spatial_hole_rim_on_side;

/* Angles to look at before the minima are refined: `sectors` of equal width, up to SPATIAL_HOLE_SECTORS, and `count`
 * more, up to SPATIAL_HOLE_EXTRA. */
enum { SPATIAL_HOLE_SECTORS = 48, SPATIAL_HOLE_EXTRA = 48 };
typedef struct spatial_hole_angles {
    int sectors, count;
    double of[SPATIAL_HOLE_EXTRA];
} spatial_hole_angles;

/* The smallest gap over all angles of a function that fills in a contact. */
spatial_hole_contact perp_spatial_hole_minimum(const spatial_hole_pair *pair, spatial_hole_function *evaluate,
                                               const void *context, const spatial_hole_angles *angles);
/* The same for the functions of pins, which have at most two minima. */
spatial_hole_contact perp_spatial_hole_pin_minimum(const spatial_hole_pair *pair, spatial_hole_function *evaluate,
                                                   int which);
/* The smallest gap of some minima, by the same rules. */
spatial_hole_contact perp_spatial_hole_first(const spatial_hole_pair *pair, const spatial_hole_contact *minima,
                                             int count);
/* phi of the pair. */
spatial_hole_contact perp_spatial_hole_nearest(const spatial_hole_pair *pair);
perp_separation perp_spatial_hole_separation(const spatial_hole_pair *pair, const perp_spatial_shape *hole,
                                             const spatial_hole_contact *contact);

#endif
