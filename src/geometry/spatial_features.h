/* spatial_features.h - what of a shape faces a direction: a flat face, straight lines; and the name of a surface point.
 *
 * Points are in world axes about `origin`, a point near the contact, so that accuracy does not depend on where in the
 * world the pair is. A direction is a unit vector of the world that points out of the shape to the other one.
 *
 * Names. A box's edge is 4 axis + the sign bits of the two other axes in their order, lower one first, a set bit for
 * the + side. A capsule's CORNER 0 is its end at -z, its EDGE 0 all between. A cylinder's SIDE 0 and 1 are the ends of
 * a line of contact towards -z and +z, SIDE 2 is any other point of the side. Its RIM is 16 end + place for the places
 * that stand still on it (16 of them; over a halfspace 0 to 5, and 6 to 11 half-way between them), and 32 + end for the
 * point that runs around it, being where the other shape is nearest: a place's name for that would be one name for two
 * points, and would change while nothing else does.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_FEATURES_H
#define PERP_SRC_GEOMETRY_SPATIAL_FEATURES_H

#include <perp/geometry.h>

enum {
    SPATIAL_OUTLINE_MAX = 32,
    SPATIAL_RIM_PLACES = 16,
    SPATIAL_RIM_RUNNING = 2 * SPATIAL_RIM_PLACES,
    SPATIAL_LINES_MAX = 8,
    SPATIAL_PLANES_MAX = 8,
    SPATIAL_TOP_MAX = 24
};

/* The feature that a point of the surface is on, to `tolerance`. */
int perp_spatial_feature_at(const perp_spatial_shape *shape, perp_vec3 point_world, double tolerance);

/* A flat face as a convex polygon. Faces of a hull that have one direction, as meshes from files have
 * them, are one: `face` is the lowest of their indices, and `planes` are all of them, to find the surface by. */
typedef struct spatial_outline {
    const perp_spatial_shape *shape;
    int face;
    perp_vec3 normal; /* unit, outer, world */
    double cosine;    /* between normal and direction */
    int count;
    perp_vec3 corners[SPATIAL_OUTLINE_MAX]; /* counter-clockwise seen from outside */
    int places[SPATIAL_OUTLINE_MAX];        /* of the corners: index of a box's or hull's corner, place on a rim */
    int running;                            /* the corner that is moved along the rim from its place; -1: none */
    int plane_count;
    perp_vec3 plane_normals[SPATIAL_PLANES_MAX], plane_points[SPATIAL_PLANES_MAX];
} spatial_outline;

/* The face that faces the direction: of those that hold most of the corners farthest along it (to 4 tolerances) the
 * most aligned one; equal ones: the lowest index. A cylinder offers an end where its axis is within 45 degrees
 * of the direction. False if there is none. The corners are left for perp_spatial_outline_trace. */
bool perp_spatial_outline_find(const perp_spatial_shape *shape, perp_vec3 direction, double tolerance,
                               spatial_outline *outline);

/* How a shape is looked at. */
typedef struct spatial_view {
    perp_vec3 origin, direction;
    perp_vec3 witness; /* of the shape, from the origin */
    double tolerance;
    bool anyway; /* a rim has a corner towards the witness in any case */
} spatial_view;

/* Fills the corners and planes. A hull's face of more than SPATIAL_OUTLINE_MAX corners is thinned by the rule of
 * perp_spatial_thin. An end of a cylinder is a regular polygon on its rim. If it is tilted so much that the rim's point
 * farthest along the direction may be farther than the corners by more than the tolerance, the nearest corner is moved
 * there: to the witness if that is on the rim, which also is in line with the other shape's, while the direction tells
 * the place but poorly where the end is almost square to it. */
void perp_spatial_outline_trace(spatial_outline *outline, const spatial_view *view);

/* Names of corner i and of the edge from it to the next. */
int perp_spatial_outline_corner(const spatial_outline *outline, int i);
int perp_spatial_outline_edge(const spatial_outline *outline, int i);

/* A straight line of a shape, of `radius`: the axis of a capsule or of a cylinder's side, or a sharp edge. */
typedef struct spatial_line {
    perp_spatial_kind kind; /* SEGMENT, CYLINDER; BOX and HULL: sharp */
    perp_vec3 ends[2];
    perp_vec3 along; /* unit, from ends[0] to ends[1] */
    double length, radius;
    int edge, corners[2]; /* names */
    perp_vec3 into[2];    /* sharp: unit, square to the edge, from it into its two faces */
} spatial_line;

/* Lines that are square to the direction to 0.1 rad and, where sharp, hold the witness (from the origin). */
int perp_spatial_lines(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 direction, perp_vec3 witness,
                       double tolerance, spatial_line lines[SPATIAL_LINES_MAX]);

/* The edge from corner i of a traced outline to the next; false on a rim, which has none. */
bool perp_spatial_outline_line(const spatial_outline *outline, int i, perp_vec3 origin, spatial_line *line);

/* The line of a cylinder's side that is farthest along the direction, which is not its axis, or a capsule's segment:
 * ends only, at -z and +z, from the origin. */
void perp_spatial_side(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 direction, perp_vec3 ends[2]);

/* Local z axis in the world. */
static inline perp_vec3 spatial_axis(const perp_spatial_shape *shape)
{
    return perp_vec3_make(shape->rotation.m[2], shape->rotation.m[5], shape->rotation.m[8]);
}

#endif
