/* Islands: equal to a search through the graph, whatever the order of the pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <perp/geometry.h>

#include "geometry/islands.h"

enum { MAX_BODIES = 60, MAX_PAIRS = 200, GUARD = -77 };

typedef struct graph {
    int bodies, pairs;
    bool moves[MAX_BODIES];
    perp_index_pair touching[MAX_PAIRS];
} graph;

/* One element longer than documented, to see that nothing is written behind the end. */
typedef struct partition {
    int count;
    int starts[MAX_BODIES + 2], bodies[MAX_BODIES + 1], island_of_body[MAX_BODIES + 1];
} partition;

static partition islands_of(const graph *g)
{
    partition p;
    p.starts[g->bodies + 1] = p.bodies[g->bodies] = p.island_of_body[g->bodies] = GUARD;
    p.count = perp_islands_find(g->bodies, g->moves, g->touching, g->pairs, p.starts, p.bodies, p.island_of_body);
    assert_int_equal(p.starts[g->bodies + 1], GUARD);
    assert_int_equal(p.bodies[g->bodies], GUARD);
    assert_int_equal(p.island_of_body[g->bodies], GUARD);
    return p;
}

static bool joins(const graph *g, perp_index_pair pair)
{
    return pair.a >= 0 && pair.b >= 0 && g->moves[pair.a] && g->moves[pair.b];
}

/* The reference: labels spread along the pairs until nothing changes; the smallest body of its island for each. */
static void smallest_reachable(const graph *g, int *label)
{
    for (int b = 0; b < g->bodies; b++) {
        label[b] = b;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < g->pairs; k++) {
            const perp_index_pair t = g->touching[k];
            if (joins(g, t) && label[t.a] != label[t.b]) {
                const int least = label[t.a] < label[t.b] ? label[t.a] : label[t.b];
                label[t.a] = label[t.b] = least;
                changed = true;
            }
        }
    }
}

static void assert_partition(const graph *g, const partition *p)
{
    int label[MAX_BODIES], moving = 0;
    smallest_reachable(g, label);
    assert_int_equal(p->starts[0], 0);
    for (int k = 0; k < p->count; k++) {
        const int first = p->bodies[p->starts[k]];
        assert_true(p->starts[k] < p->starts[k + 1]); /* none is empty */
        assert_true(k == 0 || p->bodies[p->starts[k - 1]] < first);
        for (int i = p->starts[k]; i < p->starts[k + 1]; i++) {
            assert_true(i == p->starts[k] || p->bodies[i - 1] < p->bodies[i]);
            assert_int_equal(label[p->bodies[i]], first);
            assert_int_equal(p->island_of_body[p->bodies[i]], k);
        }
    }
    for (int b = 0; b < g->bodies; b++) {
        moving += g->moves[b];
        assert_true(g->moves[b] == (p->island_of_body[b] >= 0));
        /* Two islands with one label would share their first body, which the strict order above excludes. */
    }
    assert_int_equal(p->starts[p->count], moving); /* each moving body once */
}

static void assert_same(const graph *g, const partition *a, const partition *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->starts, b->starts, ((size_t)a->count + 1) * sizeof(int));
    assert_memory_equal(a->bodies, b->bodies, (size_t)a->starts[a->count] * sizeof(int));
    assert_memory_equal(a->island_of_body, b->island_of_body, (size_t)g->bodies * sizeof(int));
}

static int below(perp_random *random, int limit)
{
    return (int)(perp_random_bits(random) % (uint64_t)limit);
}

static void test_random_graphs(void **state)
{
    (void)state;
    perp_random random = {7};
    for (int trial = 0; trial < 5000; trial++) {
        graph g = {.bodies = 1 + below(&random, MAX_BODIES), .pairs = below(&random, MAX_PAIRS)};
        const int still = 1 + below(&random, 6); /* one body in so many does not move */
        if (trial % 2) {
            g.pairs = g.pairs * g.bodies / (3 * MAX_PAIRS); /* few pairs: many islands */
        }
        for (int b = 0; b < g.bodies; b++) {
            g.moves[b] = below(&random, still + 1) > 0;
        }
        for (int k = 0; k < g.pairs; k++) {
            g.touching[k].a = below(&random, g.bodies + 1) - 1;
            g.touching[k].b = below(&random, g.bodies + 1) - 1;
        }
        const partition p = islands_of(&g);
        assert_partition(&g, &p);
        for (int k = g.pairs - 1; k > 0; k--) { /* another order, and pairs turned round */
            const int other = below(&random, k + 1);
            const perp_index_pair kept = g.touching[k];
            g.touching[k] = g.touching[other];
            g.touching[other] = (perp_index_pair){kept.b, kept.a};
        }
        const partition again = islands_of(&g);
        assert_same(&g, &p, &again);
    }
}

static void test_by_hand(void **state)
{
    (void)state;
    /* 0 the floor; 1 and 4 stacked on it; 2 on 3; 5 alone; the world (-1) touches 1 and 5. */
    const graph g = {6, 6, {false, true, true, true, true, true}, {{0, 1}, {4, 1}, {0, 3}, {3, 2}, {-1, 1}, {-1, 5}}};
    const partition p = islands_of(&g);
    const int starts[] = {0, 2, 4, 5}, bodies[] = {1, 4, 2, 3, 5}, islands[] = {-1, 0, 1, 1, 0, 2};
    assert_int_equal(p.count, 3);
    assert_memory_equal(p.starts, starts, sizeof starts);
    assert_memory_equal(p.bodies, bodies, sizeof bodies);
    assert_memory_equal(p.island_of_body, islands, sizeof islands);
}

static void test_chains(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) { /* ascending, and descending: the long way for linking by index */
        graph g = {.bodies = MAX_BODIES, .pairs = MAX_BODIES - 1};
        for (int b = 0; b < MAX_BODIES; b++) {
            g.moves[b] = true;
        }
        for (int k = 0; k + 1 < MAX_BODIES; k++) {
            const int a = turned ? MAX_BODIES - 2 - k : k;
            g.touching[k] = (perp_index_pair){a, a + 1};
        }
        const partition p = islands_of(&g);
        assert_int_equal(p.count, 1);
        assert_partition(&g, &p);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    graph g = {.bodies = 0};
    partition p = islands_of(&g);
    assert_int_equal(p.count, 0);
    assert_int_equal(p.starts[0], 0);

    g.bodies = 3; /* none moves, all touch */
    g.pairs = 2;
    g.touching[0] = (perp_index_pair){0, 1};
    g.touching[1] = (perp_index_pair){1, 2};
    p = islands_of(&g);
    assert_int_equal(p.count, 0);
    assert_partition(&g, &p);

    g.moves[1] = true; /* touches itself as well */
    g.touching[0] = (perp_index_pair){1, 1};
    p = islands_of(&g);
    assert_int_equal(p.count, 1);
    assert_partition(&g, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
