/* cone.h - what the friction cones are. A cone's section is D: friction lies in mu fn D. */
#ifndef PERP_SRC_SCENE_CONE_H
#define PERP_SRC_SCENE_CONE_H

#include <perp/scene.h>

/* Corners of D; 0: it is the unit disc. */
int perp_cone_corner_count(perp_cone cone, int rays);

/* Corner j, counter-clockwise. */
void perp_cone_corner(perp_cone cone, int rays, int j, double corner[2]);

/* Facet j joins corner j to corner j + 1; D is where facet . d <= 1 for all of them. */
void perp_cone_facet(perp_cone cone, int rays, int j, double facet[2]);

/* The least s >= 0 for which d is in s D. */
double perp_cone_measure(perp_cone cone, int rays, const double d[2]);

#endif
