/* spatial_mirror.h - a whole manifold: its least gap, and how the other shape sees it. */
#ifndef PERP_SRC_GEOMETRY_SPATIAL_MIRROR_H
#define PERP_SRC_GEOMETRY_SPATIAL_MIRROR_H

#include <perp/geometry.h>

/* +infinity where it has no point. */
double perp_manifold_least_gap(const perp_manifold *manifold);
/* Swaps a and b. */
void perp_spatial_mirror(perp_manifold *manifold);
/* X against the halfspace, X being b: counter-clockwise about the normal that points the other way. The lowest point of
 * a rim is not in the ring. */
void perp_spatial_turn_round(perp_manifold *manifold);

#endif
