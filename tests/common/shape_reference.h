/* shape_reference.h - the shapes of a scene as signed distances, written down once more for tests: nothing here comes
 * from src/geometry or src/contact. */
#ifndef PERP_TESTS_COMMON_SHAPE_REFERENCE_H
#define PERP_TESTS_COMMON_SHAPE_REFERENCE_H

#include <perp/scene.h>

/* m, from a point in the shape's own frame to its surface; negative inside. Exact outside; inside exact at the surface.
 */
double shape_reference_distance(const perp_shape *shape, bool planar, perp_vec3 x);

/* m: the smallest of the shape's dimensions; infinite of a point, plane or halfplane. */
double shape_reference_thickness(const perp_shape *shape, bool planar);

/* Places k = 0, 1, .. in the shape's own frame that balls of `radius` around are part of the shape: its corners or
 * centres. False: there is no such k. */
bool shape_reference_place(const perp_shape *shape, bool planar, int k, perp_vec3 *place, double *radius);

#endif
