/* islands.h - bodies that can act on one another. */
#ifndef PERP_SRC_GEOMETRY_ISLANDS_H
#define PERP_SRC_GEOMETRY_ISLANDS_H

#include <perp/geometry.h>

/* Partitions the moving bodies so that two are in one island exactly when a chain of touching moving bodies joins
 * them; bodies that do not move (and the world, any negative index) join nothing. A body that touches nothing is an
 * island of its own. Returns the number of islands. Deterministic: the order of `touching` does not matter.
 *
 *   moves           body_count
 *   touching        touching_count pairs of bodies, each index below body_count, any order, repetitions allowed
 *   starts          body_count + 1: island k is bodies[starts[k]] .. bodies[starts[k + 1] - 1]; the entries up to the
 *                   returned number are filled, the rest is scratch
 *   bodies          body_count: ascending within an island, islands ascending by their first body; the entries below
 *                   starts[returned number] are filled, the rest is scratch
 *   island_of_body  body_count: -1 for a body that does not move
 */
int perp_islands_find(int body_count, const bool *moves, const perp_index_pair *touching, int touching_count,
                      int *starts, int *bodies, int *island_of_body);

#endif
