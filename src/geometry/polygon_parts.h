/* polygon_parts.h - concave polygons as convex parts. */
#ifndef PERP_SRC_GEOMETRY_POLYGON_PARTS_H
#define PERP_SRC_GEOMETRY_POLYGON_PARTS_H

#include <perp/geometry.h>

enum { PERP_POLYGON_MAX_CORNERS = 2000 }; /* the split is quadratic */

/* Parts as lists of corner indices, counter-clockwise: part k has corners[starts[k]] .. corners[starts[k + 1] - 1].
 * Both arrays are the caller's: starts holds `count - 1` ints and corners `3 * count - 6`, for a polygon of `count`
 * corners. */
typedef struct perp_polygon_parts {
    int count;
    int *starts;
    int *corners;
} perp_polygon_parts;

/* Bytes of scratch that perp_polygon_split needs; aligned as malloc aligns. */
size_t perp_polygon_split_scratch(int count);

/* Splits a simple polygon (either orientation, z ignored, collinear corners allowed) into convex parts that use its
 * corners only: every edge of the polygon is an edge of exactly one part, and there are at most 4 times as many parts
 * as necessary. A part may have collinear corners, and ones that lie inside the line of their neighbours by rounding
 * (1e-14 of the largest coordinate). The same corners give the same parts. BAD_INPUT: fewer than 3 corners, not finite,
 * no area, or no ear is left to cut, which only a polygon that crosses or touches itself can bring about (some of those
 * pass unnoticed: simplicity is the scene's to check); CAPACITY: too many corners. */
perp_status perp_polygon_split(const perp_vec3 *corners, int count, void *scratch, perp_polygon_parts *parts,
                               perp_error *error);

#endif
