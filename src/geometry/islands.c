/* Islands by union-find.
 *
 * Invariant while pairs are joined: parent[b] <= b for every moving body, with equality exactly at the root of its set;
 * so the root is the smallest body of the set, whatever the order of the pairs, and the numbering below is the same
 * for any order. Linking by index instead of by rank costs at most a logarithm, which path halving takes back.
 *
 * The caller's arrays double as scratch: island_of_body holds the parents first, bodies the numbers of the roots.
 */
#include "base/union_find.h"
#include "geometry/islands.h"

#include <assert.h>

static void join(int *parent, int a, int b)
{
    const int root_a = perp_union_root(parent, a), root_b = perp_union_root(parent, b);
    if (root_a < root_b) {
        parent[root_b] = root_a;
    } else {
        parent[root_a] = root_b;
    }
}

/* Turns parents into numbers of islands, ascending by root. `number` is scratch. */
static int number_islands(int body_count, const bool *moves, int *island_of_body, int *number)
{
    int islands = 0;
    for (int b = 0; b < body_count; b++) {
        if (!moves[b]) {
            island_of_body[b] = -1;
            continue;
        }
        const int parent = island_of_body[b];
        /* The parent's own entry is a number by now, because it comes before b. */
        number[b] = parent == b ? islands++ : number[parent];
        island_of_body[b] = number[b];
    }
    return islands;
}

/* Counting sort by island; it is stable, so bodies ascend within each. */
static void list_bodies(int body_count, int islands, const int *island_of_body, int *starts, int *bodies)
{
    for (int k = 0; k <= islands; k++) {
        starts[k] = 0;
    }
    for (int b = 0; b < body_count; b++) {
        if (island_of_body[b] >= 0) {
            starts[island_of_body[b] + 1]++;
        }
    }
    for (int k = 0; k < islands; k++) {
        starts[k + 1] += starts[k];
    }
    for (int b = 0; b < body_count; b++) {
        if (island_of_body[b] >= 0) {
            bodies[starts[island_of_body[b]]++] = b;
        }
    }
    for (int k = islands; k > 0; k--) { /* each start has moved on to the next one's */
        starts[k] = starts[k - 1];
    }
    starts[0] = 0;
}

int perp_islands_find(int body_count, const bool *moves, const perp_index_pair *touching, int touching_count,
                      int *starts, int *bodies, int *island_of_body)
{
    for (int b = 0; b < body_count; b++) {
        island_of_body[b] = b;
    }
    for (int k = 0; k < touching_count; k++) {
        const int a = touching[k].a, b = touching[k].b;
        assert(a < body_count && b < body_count);
        if (a >= 0 && b >= 0 && moves[a] && moves[b]) {
            join(island_of_body, a, b);
        }
    }
    const int islands = number_islands(body_count, moves, island_of_body, bodies);
    list_bodies(body_count, islands, island_of_body, starts, bodies);
    return islands;
}
