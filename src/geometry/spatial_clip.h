/* spatial_clip.h - convex polygons in a plane, each the shadow of a flat face: where they meet, with what makes every
 * vertex and how high it stands over the plane.
 *
 * All corners of one polygon are compared with all lines of the other, both ways alike. Clipping one polygon by the
 * lines of the other in turn would treat them differently, and would let rounding decide which of two coinciding
 * corners makes a vertex.
 */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_CLIP_H
#define PERP_SRC_GEOMETRY_SPATIAL_CLIP_H

#include "geometry/spatial_features.h"

/* z = level + slope_x x + slope_y y */
typedef struct spatial_plane {
    double level, slope_x, slope_y;
} spatial_plane;

/* Counter-clockwise. z is the height of the face's corners. The surface is where all of the planes have been crossed:
 * the lowest of them for a face seen from above, the highest for one seen from below. */
typedef struct spatial_polygon {
    int count;
    double x[SPATIAL_OUTLINE_MAX], y[SPATIAL_OUTLINE_MAX], z[SPATIAL_OUTLINE_MAX];
    int plane_count;
    bool from_below;
    spatial_plane planes[SPATIAL_PLANES_MAX];
} spatial_polygon;

/* What of a polygon makes a vertex: 2 i for corner i, 2 i + 1 for the edge from it, or the inside. */
enum { SPATIAL_INSIDE = -1, SPATIAL_VERTICES_MAX = 4 * SPATIAL_OUTLINE_MAX };

typedef struct spatial_vertex {
    double x, y;
    double z_p, z_q; /* heights of the two faces */
    int part_p, part_q;
} spatial_vertex;

/* The vertices of the intersection, counter-clockwise, no two nearer than 2 tolerance and none within the tolerance of
 * the line of its neighbours; two ends if the intersection has no area, one vertex if no length, or none. A corner
 * within the tolerance of the other's border is inside; corners of both within 2 tolerance are one vertex. */
int perp_spatial_polygons_meet(const spatial_polygon *p, const spatial_polygon *q, double tolerance,
                               spatial_vertex vertices[SPATIAL_VERTICES_MAX]);

/* What of the segment (x, y, z of two ends) is over the polygon: up to two vertices in its order; if it is but one,
 * both are filled, which differ in what makes them at most. part_p is of the segment: corner 0 or 1 (0 and 2), or its
 * inside (1); part_q of the polygon: an edge or corner where the border cuts the segment, else the inside. */
int perp_spatial_segment_meets(const double x[2], const double y[2], const double z[2], const spatial_polygon *q,
                               double tolerance, spatial_vertex vertices[2]);

/* A convex polygon to be thinned. */
typedef struct spatial_thinning {
    const double *x, *y;
    const int64_t *rank; /* of the corners; NULL: their indices */
    int kept;            /* this one stays; -1: none */
    double noise;        /* how far a corner may be from where it would be without rounding */
} spatial_thinning;

enum { SPATIAL_THIN_MAX = 256 };

/* Thins it to `most` (3 or more) of its `count` (SPATIAL_THIN_MAX or fewer) corners: the one whose triangle with its
 * neighbours is least goes, again and again; of equal ones that of highest rank. Areas are equal that differ by no more
 * than AREAS_EQUAL of the polygon's, or than half its border times the noise. `left`: the indices that remain,
 * ascending, room for `count`. Returns their number. */
int perp_spatial_thin(const spatial_thinning *polygon, int count, int most, int *left);

/* Puts corners back among the `remaining` ones of `left`, ascending, up to `most` in all: first the one whose triangle
 * with its neighbours among them, times its weight, is largest; of equal ones (as above) that of lowest rank. Weights,
 * one for each of `count` corners, are 0 (stays away) to 1. Returns how many remain then. The polygon has ranks. */
int perp_spatial_thicken(const spatial_thinning *polygon, const double *weight, int count, int most, int *left,
                         int remaining);

#endif
