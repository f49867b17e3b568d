/* polyhedron_hull.h - vertices and rays of a convex polyhedron that only linear programs can see, such as the shadow of
 * one in more dimensions.
 *
 * An oracle is asked how far the polyhedron goes in a direction, and answers with the farthest point, or with a ray
 * along which there is no end. The hull of what it has answered so far (points and rays together, its *generators*)
 * grows: for every facet of it the oracle is asked whether the polyhedron goes beyond. When it does so nowhere, the
 * hull is the polyhedron. Facets are kept by the double description method on the cone of all inequalities (a, b), a .
 * x <= b, that the generators meet; that cone is pointed, because work is done in the affine hull.
 *
 * What is answered is finite as long as the oracle answers with images of vertices and extreme rays, as the simplex
 * method does. */
#ifndef PERP_SRC_SOLVER_POLYHEDRON_HULL_H
#define PERP_SRC_SOLVER_POLYHEDRON_HULL_H

#include "base/arena.h"

typedef enum perp_polyhedron_answer {
    PERP_POLYHEDRON_POINT,
    PERP_POLYHEDRON_RAY,
    PERP_POLYHEDRON_TROUBLE
} perp_polyhedron_answer;

typedef struct perp_polyhedron_oracle {
    int n;
    void *context;
    /* The farthest point of the polyhedron along `direction` (unit length), or a ray with direction . ray > 0, into x
     * (n). Numbers are about 1: points that differ by less than 1e-9 of that, or of themselves, are one. */
    perp_polyhedron_answer (*farthest)(void *context, const double *direction, double *x);
} perp_polyhedron_oracle;

/* The polyhedron: all sum of the vertices with weights >= 0 that sum to 1, plus all sums of rays with weights >= 0. No
 * generator is needless; a line is two rays, this way and that. Also: origin + basis' y with facets a . x <= b. */
typedef struct perp_polyhedron {
    int n, dimensions;
    double *origin, *basis; /* n; dimensions x n, orthonormal */
    int vertex_count, ray_count;
    double *vertices, *rays; /* n each; the largest entry of a ray is 1 */
    int facet_count;
    double *facets;  /* n + 1 each: a of unit length in the span of the basis, b */
    double *scratch; /* n */
} perp_polyhedron;

/* `start` is a point of it. `*complete` false: the oracle had trouble, or there were too many generators or facets;
 * what was found so far is a part of the polyhedron, and vertices and rays are then not set. Memory, also of the work,
 * is the arena's. OK, OUT_OF_MEMORY. */
perp_status perp_polyhedron_find(const perp_polyhedron_oracle *oracle, const double *start, perp_arena *arena,
                                 perp_polyhedron *hull, bool *complete);

/* Whether all of `inner` is in `outer`, to 1e-8 of the numbers. Both are complete. */
bool perp_polyhedron_contains(const perp_polyhedron *outer, const perp_polyhedron *inner);

#endif
