/* Broad phase: a tree of boxes, kept from call to call and fitted to the boxes as they move.
 *
 * Data structure. `items` holds all boxes: first those of the tree, so that every node owns a range of them, then those
 * that were unbounded when it was made and are in no node. `nodes` stands in preorder: the left child of node k is
 * k + 1, its right child skip[k + 1], and skip[k] is the first node behind its subtree. Invariants:
 *   - leaves cut items[0 .. tree_count) into consecutive ranges of 1 to LEAF_ITEMS;
 *   - the box of a node contains those of its items, and is fixed only if all of them are.
 * They say nothing of how the ranges were chosen, so a tree of old positions is as right as a new one once its boxes
 * are computed again, only slower: the answer, sorted at the end, cannot depend on history. Each pair is met once,
 * because a leaf is compared only with itself and with the nodes behind it.
 *
 * Choice of a tree, by measurement (docs/geometry.md, bench/bench_broad_phase.c). Sweep-and-prune along the axis of
 * largest variance tests every box with the n^(2/3) others of its slab of a pile: nearly four times the tree's cost at
 * n = 10,000, fifteen times at 100,000. A hierarchical grid has the right order but visits 8 to 27 cells per box and
 * level in use: two and a half times the cost in a pile of 10,000, six times where sizes are mixed. The tree is split
 * at medians, and not along a Morton curve, because medians are blind to scale: one body that fell to -1e6 m does not
 * squeeze all others into one cell. Splitting large boxes from small ones first was tried: no gain for mixed sizes, too
 * little among long rods to be worth a second rule.
 *
 * Keeping the tree saves the median splits, some 30 % of a search. It is made anew when the boxes are others, or when
 * the search takes half as many tests again as just after it was made; that search is given up and begun anew, so that
 * a bad tree costs no more than this.
 */
#include <perp/geometry.h>

#include "base/arena.h"

#include <assert.h>
#include <limits.h>

enum { LEAF_ITEMS = 8, SPLIT_STACK = 32 };

/* A box in the order of the tree, with what deciding about a pair needs: one cache line. */
typedef struct tree_item {
    double low[3], high[3];
    uint32_t index : 31; /* of the caller's box */
    uint32_t fixed : 1;
    int body;
    int exclusion_begin, exclusion_end; /* entries of the caller's list whose a is this body */
} tree_item;

typedef struct tree_node {
    double low[3], high[3];
    int skip;
    int begin, count; /* its items; count 0: not a leaf */
    int fixed;
} tree_node;

/* What building the tree needs of a box. */
typedef struct split_entry {
    double centre[3];
    int index;
} split_entry;

struct perp_broad_phase {
    perp_allocator allocator;
    int max_pairs;

    perp_workspace box_memory; /* behind the arrays of box_capacity */
    int box_capacity;
    tree_item *items;     /* box_capacity */
    tree_node *nodes;     /* box_capacity / 2 + 1: a leaf that is not the root has at least LEAF_ITEMS / 2 items */
    split_entry *entries; /* box_capacity; scratch of building */
    int *positions;       /* box_capacity + 1; scratch of sorting */

    perp_workspace pair_memory; /* behind the arrays of pair_capacity */
    int pair_capacity;
    perp_index_pair *pairs;       /* pair_capacity */
    perp_index_pair *pairs_other; /* pair_capacity; scratch of sorting */

    int item_count, tree_count, node_count; /* of the tree at hand; item_count 0: none */
    int64_t tests_when_new;                 /* that the search took just after the tree was made */
};

/* One call. */
typedef struct search {
    perp_broad_phase *w;
    const perp_broad_phase_box *boxes;
    int count, bounded;
    const perp_index_pair *excluded;
    int excluded_count;
    int pair_count;
    int64_t tests;
    bool grew;
    perp_status status;
    perp_error *error;
} search;

/* ---- memory ---------------------------------------------------------------------------------------------------- */

perp_status perp_broad_phase_create(const perp_broad_phase_settings *settings, const perp_allocator *allocator,
                                    perp_broad_phase **workspace, perp_error *error)
{
    const perp_allocator from = allocator ? *allocator : perp_allocator_default();
    const perp_broad_phase_settings chosen = settings ? *settings : (perp_broad_phase_settings){INT_MAX};
    assert(chosen.max_pairs >= 0);
    *workspace = from.allocate(from.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the broad phase");
    }
    **workspace = (perp_broad_phase){.allocator = from, .max_pairs = chosen.max_pairs};
    return PERP_STATUS_OK;
}

void perp_broad_phase_free(perp_broad_phase *workspace)
{
    if (workspace) {
        const perp_allocator from = workspace->allocator;
        perp_workspace_free(&workspace->box_memory);
        perp_workspace_free(&workspace->pair_memory);
        from.release(from.context, workspace);
    }
}

/* Room for a block of `bytes_each` per element, in place of the one in `memory`; on failure that one stays. */
static perp_status replace_block(const perp_broad_phase *w, perp_workspace *memory, int count, size_t bytes_each,
                                 perp_workspace *old)
{
    perp_workspace fresh;
    /* 256 bytes for rounding up to cache lines */
    if ((size_t)count > (SIZE_MAX - 512) / bytes_each ||
        perp_workspace_init(&fresh, &w->allocator, (size_t)count * bytes_each + 256) != PERP_STATUS_OK) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    *old = *memory;
    *memory = fresh;
    return PERP_STATUS_OK;
}

static perp_status grow_boxes(perp_broad_phase *w, int count)
{
    const size_t each = sizeof(tree_item) + sizeof(tree_node) + sizeof(split_entry) + sizeof(int);
    perp_workspace old;
    if (replace_block(w, &w->box_memory, count, each, &old) != PERP_STATUS_OK) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    perp_workspace_free(&old);
    const size_t n = (size_t)count;
    w->items = perp_workspace_push(&w->box_memory, n, sizeof *w->items);
    w->nodes = perp_workspace_push(&w->box_memory, n / 2 + 1, sizeof *w->nodes);
    w->entries = perp_workspace_push(&w->box_memory, n, sizeof *w->entries);
    w->positions = perp_workspace_push(&w->box_memory, n + 1, sizeof *w->positions);
    w->box_capacity = count;
    w->item_count = 0;
    return PERP_STATUS_OK;
}

/* Keeps the first `used` pairs. */
static perp_status grow_pairs(perp_broad_phase *w, int count, int used)
{
    perp_workspace old;
    if (replace_block(w, &w->pair_memory, count, 2 * sizeof(perp_index_pair), &old) != PERP_STATUS_OK) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const perp_index_pair *kept = w->pairs;
    w->pairs = perp_workspace_push(&w->pair_memory, (size_t)count, sizeof *w->pairs);
    w->pairs_other = perp_workspace_push(&w->pair_memory, (size_t)count, sizeof *w->pairs_other);
    for (int k = 0; k < used; k++) {
        w->pairs[k] = kept[k];
    }
    perp_workspace_free(&old);
    w->pair_capacity = count;
    return PERP_STATUS_OK;
}

perp_status perp_broad_phase_reserve(perp_broad_phase *workspace, int boxes, int pairs, perp_error *error)
{
    perp_broad_phase *w = workspace;
    if ((boxes > w->box_capacity && grow_boxes(w, boxes) != PERP_STATUS_OK) ||
        (pairs > w->pair_capacity && grow_pairs(w, pairs, 0) != PERP_STATUS_OK)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the broad phase of %d boxes and %d pairs",
                         boxes, pairs);
    }
    return PERP_STATUS_OK;
}

/* ---- input ----------------------------------------------------------------------------------------------------- */

static bool is_bounded(const perp_broad_phase_box *box)
{
    return isfinite(box->low.x) && isfinite(box->low.y) && isfinite(box->low.z) && isfinite(box->high.x) &&
           isfinite(box->high.y) && isfinite(box->high.z);
}

/* Checks the arguments and counts the bounded boxes. */
static perp_status check_input(search *s)
{
    for (int i = 0; i < s->count; i++) {
        const perp_broad_phase_box *box = &s->boxes[i];
        if (!(box->low.x <= box->high.x && box->low.y <= box->high.y && box->low.z <= box->high.z)) { /* or NaN */
            return perp_fail(s->error, PERP_STATUS_BAD_INPUT,
                             "box %d of body %d, (%g %g %g) to (%g %g %g), has a NaN or a low above its high", i,
                             box->body, box->low.x, box->low.y, box->low.z, box->high.x, box->high.y, box->high.z);
        }
        s->bounded += is_bounded(box);
    }
    for (int k = 0; k < s->excluded_count; k++) {
        const perp_index_pair *e = &s->excluded[k];
        if (e->a >= e->b || (k > 0 && (e[-1].a > e->a || (e[-1].a == e->a && e[-1].b >= e->b)))) {
            return perp_fail(s->error, PERP_STATUS_BAD_INPUT,
                             "excluded pair %d, (%d, %d), must be ascending and behind the one before it", k, e->a,
                             e->b);
        }
    }
    return PERP_STATUS_OK;
}

/* The first entry of the list with a >= body. */
static int exclusions_from(const search *s, int body)
{
    int low = 0, high = s->excluded_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (s->excluded[middle].a < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void load_item(const search *s, tree_item *item, int index)
{
    const perp_broad_phase_box *box = &s->boxes[index];
    *item = (tree_item){.low = {box->low.x, box->low.y, box->low.z},
                        .high = {box->high.x, box->high.y, box->high.z},
                        .index = (uint32_t)index & INT32_MAX,
                        .fixed = box->fixed,
                        .body = box->body};
    if (s->excluded_count > 0 && box->body < INT_MAX) {
        item->exclusion_begin = exclusions_from(s, box->body);
        item->exclusion_end = exclusions_from(s, box->body + 1);
    }
}

/* ---- building the tree ------------------------------------------------------------------------------------------ */

static void swap_entries(split_entry *a, split_entry *b)
{
    const split_entry kept = *a;
    *a = *b;
    *b = kept;
}

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Puts the smaller half (by centre along the axis) of the entries before entries[half]. Quickselect; the pivots are
 * random but the same in every run, and equal keys are spread over both sides, so no input makes it quadratic. */
static void select_median(split_entry *entries, int count, int axis, perp_random *random)
{
    const int half = count / 2;
    int low = 0, high = count - 1;
    while (low < high) {
        const uint64_t bits = perp_random_bits(random), range = (uint64_t)(high - low) + 1;
        const double pivot = median_of_three(entries[low + (int)((bits & 0xfffff) * range >> 20)].centre[axis],
                                             entries[low + (int)((bits >> 20 & 0xfffff) * range >> 20)].centre[axis],
                                             entries[low + (int)((bits >> 40 & 0xfffff) * range >> 20)].centre[axis]);
        int i = low, j = high;
        while (i <= j) {
            while (entries[i].centre[axis] < pivot) {
                i++;
            }
            while (entries[j].centre[axis] > pivot) {
                j--;
            }
            if (i <= j) {
                swap_entries(&entries[i++], &entries[j--]);
            }
        }
        if (half <= j) {
            high = j;
        } else if (half >= i) {
            low = i;
        } else {
            return; /* between them all are equal to the pivot */
        }
    }
}

/* Orders the entries of a node so that its left child has the first half of them: at the median of the centres, along
 * the axis on which they spread most. */
static void split(split_entry *entries, int count, perp_random *random)
{
    double low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = high[c] = entries[0].centre[c];
    }
    for (int k = 1; k < count; k++) {
        for (int c = 0; c < 3; c++) {
            const double x = entries[k].centre[c];
            low[c] = x < low[c] ? x : low[c];
            high[c] = x > high[c] ? x : high[c];
        }
    }
    int axis = 0;
    for (int c = 1; c < 3; c++) {
        axis = high[c] - low[c] > high[axis] - low[axis] ? c : axis;
    }
    if (high[axis] > low[axis]) { /* else they coincide, and any half will do */
        select_median(entries, count, axis, random);
    }
}

static void fill_entries(const search *s)
{
    perp_broad_phase *w = s->w;
    int bounded = 0, unbounded = s->bounded;
    for (int i = 0; i < s->count; i++) {
        const perp_vec3 low = s->boxes[i].low, high = s->boxes[i].high;
        if (!is_bounded(&s->boxes[i])) {
            load_item(s, &w->items[unbounded++], i);
            continue;
        }
        /* Halved before they are added: two finite numbers may have an infinite sum. */
        w->entries[bounded++] =
            (split_entry){{0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y, 0.5 * low.z + 0.5 * high.z}, i};
    }
}

/* Makes the tree: ranges of items, and skips; not the boxes of the nodes. The stack holds the right siblings of nodes
 * on the way down: one per halving of an int. */
static void build_tree(const search *s)
{
    perp_broad_phase *w = s->w;
    perp_random random = {1};
    struct {
        int begin, end;
    } stack[SPLIT_STACK];
    int depth = 0;
    fill_entries(s);
    w->item_count = s->count;
    w->tree_count = s->bounded;
    w->node_count = 0;
    stack[depth].begin = 0;
    stack[depth++].end = s->bounded;
    while (depth > 0 && s->bounded > 0) {
        const int begin = stack[--depth].begin, end = stack[depth].end, count = end - begin;
        const bool leaf = count <= LEAF_ITEMS;
        w->nodes[w->node_count++] = (tree_node){.begin = begin, .count = leaf ? count : 0};
        if (!leaf) {
            const int middle = begin + count / 2;
            split(w->entries + begin, count, &random);
            stack[depth].begin = middle;
            stack[depth++].end = end;
            stack[depth].begin = begin;
            stack[depth++].end = middle;
        }
    }
    for (int k = 0; k < w->tree_count; k++) {
        w->items[k].index = (uint32_t)w->entries[k].index & INT32_MAX;
    }
    for (int k = w->node_count - 1; k >= 0; k--) {
        w->nodes[k].skip = w->nodes[k].count > 0 ? k + 1 : w->nodes[w->nodes[k + 1].skip].skip;
    }
}

/* ---- fitting the tree ------------------------------------------------------------------------------------------- */

static inline void enclose(tree_node *node, const double *low, const double *high)
{
    for (int c = 0; c < 3; c++) {
        node->low[c] = low[c] < node->low[c] ? low[c] : node->low[c];
        node->high[c] = high[c] > node->high[c] ? high[c] : node->high[c];
    }
}

/* Reads the boxes as they are now, and computes those of the nodes, children before parents. */
static void fit_tree(const search *s)
{
    perp_broad_phase *w = s->w;
    for (int k = 0; k < w->item_count; k++) {
        load_item(s, &w->items[k], (int)w->items[k].index);
    }
    for (int k = w->node_count - 1; k >= 0; k--) {
        tree_node *node = &w->nodes[k];
        node->fixed = 1;
        for (int c = 0; c < 3; c++) {
            node->low[c] = INFINITY;
            node->high[c] = -INFINITY;
        }
        for (int i = node->begin; i < node->begin + node->count; i++) {
            enclose(node, w->items[i].low, w->items[i].high);
            node->fixed &= (int)w->items[i].fixed;
        }
        if (node->count == 0) {
            const tree_node *left = node + 1, *right = &w->nodes[left->skip];
            enclose(node, left->low, left->high);
            enclose(node, right->low, right->high);
            node->fixed = left->fixed & right->fixed;
        }
    }
}

/* ---- searching -------------------------------------------------------------------------------------------------- */

/* Without branches: whether it holds is hard to predict. */
static inline bool overlap(const double *low_a, const double *high_a, const double *low_b, const double *high_b)
{
    return (low_a[0] <= high_b[0]) & (low_b[0] <= high_a[0]) & (low_a[1] <= high_b[1]) & (low_b[1] <= high_a[1]) &
           (low_a[2] <= high_b[2]) & (low_b[2] <= high_a[2]);
}

static bool is_excluded(const search *s, const tree_item *x, const tree_item *y)
{
    const tree_item *a = x->body < y->body ? x : y, *b = x->body < y->body ? y : x;
    int low = a->exclusion_begin, high = a->exclusion_end;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (s->excluded[middle].b == b->body) {
            return true;
        }
        if (s->excluded[middle].b < b->body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static void make_room(search *s)
{
    perp_broad_phase *w = s->w;
    if (s->pair_count >= w->max_pairs) {
        s->status = perp_fail(s->error, PERP_STATUS_CAPACITY, "more than %d pairs of boxes overlap, the stated maximum",
                              w->max_pairs);
        return;
    }
    /* At first a few per box; then doubled, so that copying stays a constant share. */
    const int half = w->pair_capacity > 0 ? w->pair_capacity : s->count;
    const int larger = half > w->max_pairs - half ? w->max_pairs : 2 * half;
    if (grow_pairs(w, larger, s->pair_count) != PERP_STATUS_OK) {
        s->status =
            perp_fail(s->error, PERP_STATUS_OUT_OF_MEMORY, "no memory for more than %d pairs of boxes", s->pair_count);
        return;
    }
    s->grew = true;
}

/* Appends a pair that overlaps, unless it is filtered out. After a failure nothing is appended. */
static void add_pair(search *s, const tree_item *x, const tree_item *y)
{
    if (x->body == y->body || (x->fixed & y->fixed) || is_excluded(s, x, y) || s->status != PERP_STATUS_OK) {
        return;
    }
    if (s->pair_count == s->w->pair_capacity || s->pair_count >= s->w->max_pairs) {
        make_room(s);
        if (s->status != PERP_STATUS_OK) {
            return;
        }
    }
    const int i = (int)x->index, j = (int)y->index;
    s->w->pairs[s->pair_count++] = i < j ? (perp_index_pair){i, j} : (perp_index_pair){j, i};
}

static void search_within(search *s, const tree_node *leaf)
{
    const tree_item *items = s->w->items + leaf->begin;
    for (int i = 1; i < leaf->count; i++) {
        for (int j = 0; j < i; j++) {
            if (overlap(items[i].low, items[i].high, items[j].low, items[j].high)) {
                add_pair(s, &items[i], &items[j]);
            }
        }
        s->tests += i;
    }
}

static void search_between(search *s, const tree_node *leaf, const tree_node *other)
{
    const tree_item *items = s->w->items + leaf->begin, *others = s->w->items + other->begin;
    for (int i = 0; i < leaf->count; i++) {
        s->tests++;
        if (!overlap(items[i].low, items[i].high, other->low, other->high)) {
            continue;
        }
        for (int j = 0; j < other->count; j++) {
            if (overlap(items[i].low, items[i].high, others[j].low, others[j].high)) {
                add_pair(s, &items[i], &others[j]);
            }
        }
        s->tests += other->count;
    }
}

/* Compares each leaf with itself and what stands behind it. False: given up after `budget` tests. */
static bool search_tree(search *s, int64_t budget)
{
    const tree_node *nodes = s->w->nodes;
    const int node_count = s->w->node_count;
    for (int k = 0; k < node_count && s->status == PERP_STATUS_OK; k++) {
        const tree_node *leaf = &nodes[k];
        if (leaf->count == 0) {
            continue;
        }
        search_within(s, leaf);
        for (int j = k + 1; j < node_count;) {
            s->tests++;
            if (!overlap(leaf->low, leaf->high, nodes[j].low, nodes[j].high) || (leaf->fixed & nodes[j].fixed)) {
                j = nodes[j].skip;
                continue;
            }
            if (nodes[j].count > 0) {
                search_between(s, leaf, &nodes[j]);
            }
            j++;
        }
        if (s->tests > budget) {
            return false;
        }
    }
    return true;
}

static void search_unbounded(search *s)
{
    const perp_broad_phase *w = s->w;
    for (int i = w->tree_count; i < w->item_count && s->status == PERP_STATUS_OK; i++) {
        const tree_item *x = &w->items[i];
        for (int j = 0; j < i; j++) {
            if (overlap(x->low, x->high, w->items[j].low, w->items[j].high)) {
                add_pair(s, x, &w->items[j]);
            }
        }
        s->tests += i;
    }
}

/* ---- order of the result ---------------------------------------------------------------------------------------- */

static int key_of(const perp_index_pair *pair, bool by_b)
{
    return by_b ? pair->b : pair->a;
}

static void counting_sort(const perp_index_pair *from, perp_index_pair *to, int count, bool by_b, int *positions,
                          int box_count)
{
    for (int i = 0; i <= box_count; i++) {
        positions[i] = 0;
    }
    for (int k = 0; k < count; k++) {
        positions[key_of(&from[k], by_b) + 1]++;
    }
    for (int i = 0; i < box_count; i++) {
        positions[i + 1] += positions[i];
    }
    for (int k = 0; k < count; k++) {
        to[positions[key_of(&from[k], by_b)]++] = from[k];
    }
}

/* By b and then, stably, by a: linear, where comparing would cost more than the search. */
static void sort_pairs(const search *s)
{
    perp_broad_phase *w = s->w;
    if (s->pair_count == 0) {
        return; /* perhaps without memory yet */
    }
    counting_sort(w->pairs, w->pairs_other, s->pair_count, true, w->positions, s->count);
    counting_sort(w->pairs_other, w->pairs, s->pair_count, false, w->positions, s->count);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* Fits the tree at hand and searches it; false if there is none or it has become slow. Boxes that became unbounded may
 * stay in it as others left: infinite nodes are right too, and slow, so they do not last. */
static bool search_kept_tree(search *s)
{
    if (s->w->item_count != s->count || s->w->tree_count != s->bounded) {
        return false;
    }
    fit_tree(s);
    const int64_t as_new = s->w->tests_when_new;
    return search_tree(s, as_new + as_new / 2);
}

static void search_new_tree(search *s)
{
    build_tree(s);
    fit_tree(s);
    s->pair_count = 0;
    s->tests = 0;
    search_tree(s, INT64_MAX);
    s->w->tests_when_new = s->tests; /* after an error that of a part: then the next search begins anew, too */
}

perp_status perp_broad_phase_find(perp_broad_phase *workspace, const perp_broad_phase_box *boxes, int count,
                                  const perp_index_pair *excluded, int excluded_count, perp_broad_phase_result *result,
                                  perp_error *error)
{
    perp_broad_phase *w = workspace;
    search s = {.w = w,
                .boxes = boxes,
                .count = count,
                .excluded = excluded,
                .excluded_count = excluded_count,
                .status = PERP_STATUS_OK,
                .error = error};
    assert(count >= 0 && excluded_count >= 0);
    *result = (perp_broad_phase_result){0};
    const perp_status input = check_input(&s);
    if (input != PERP_STATUS_OK) {
        return input;
    }
    if (count > w->box_capacity) {
        /* The first time what is asked for; then half as much again, for scenes that grow body by body. */
        const int spare = w->box_capacity / 2;
        if (grow_boxes(w, count > INT_MAX - spare ? count : count + spare) != PERP_STATUS_OK) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the broad phase of %d boxes", count);
        }
        s.grew = true;
    }
    const bool kept = search_kept_tree(&s);
    if (!kept) {
        search_new_tree(&s);
    }
    search_unbounded(&s);
    if (s.status != PERP_STATUS_OK) {
        return s.status;
    }
    sort_pairs(&s);
    *result = (perp_broad_phase_result){w->pairs, s.pair_count, s.grew, !kept, s.tests};
    return PERP_STATUS_OK;
}
