/* spatial_still.h - manifolds for contacts that are springs. */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_STILL_H
#define PERP_SRC_GEOMETRY_SPATIAL_STILL_H

#include <perp/geometry.h>

/* perp_spatial_manifold_build, but of faces that overlap only points that stay where they are on the shapes while these
 * turn a little: the 6 fixed places of an end on a halfspace, the corners of a 16-gon that has none moved, thinned to 8
 * whatever their gaps. For contacts that are springs, where a point that comes or goes is a jump of the force. The
 * smallest gap of the two shapes may be in none of them: below theirs by 0.14 of how much the gaps differ. Where fewer
 * than 3 of them overlap these would not carry a face, and the points are those of perp_spatial_manifold_build, a fixed
 * place being listed beside the lowest point of an end that is at it. */
perp_manifold perp_spatial_manifold_still(const perp_spatial_shape *a, const perp_spatial_shape *b, double margin);

#endif
