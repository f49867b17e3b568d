/* The order of bodies, the trees, and which degrees of freedom each body depends on.
 *
 * Invariants: order is depth-first (roots as the scene lists bodies, children as it lists joints), so a body's subtree
 * is contiguous in it; q_start and v_start ascend along order, so the degrees of freedom of a subtree, and so of a
 * tree, are contiguous; a chain is its parent's chain followed by the body's own degrees of freedom.
 */
#include "model/model_private.h"

#include <assert.h>
#include <limits.h>

/* Children as linked lists: first[b + 1] (b = -1: the world) and next[b]. */
typedef struct child_lists {
    int *first, *last, *next;
} child_lists;

static void append_child(child_lists *lists, int parent, int body)
{
    lists->next[body] = -1;
    if (lists->first[parent + 1] < 0) {
        lists->first[parent + 1] = body;
    } else {
        lists->next[lists->last[parent + 1]] = body;
    }
    lists->last[parent + 1] = body;
}

static bool list_children(const perp_scene *scene, const perp_link *links, perp_arena *scratch, child_lists *lists)
{
    const int n = scene->body_count;
    lists->first = PERP_ARENA_NEW(scratch, int, (size_t)n + 1);
    lists->last = PERP_ARENA_NEW(scratch, int, (size_t)n + 1);
    lists->next = PERP_ARENA_NEW(scratch, int, (size_t)n);
    if (!lists->first || !lists->last || !lists->next) {
        return false;
    }
    for (int b = -1; b < n; b++) {
        lists->first[b + 1] = -1;
    }
    for (int b = 0; b < n; b++) {
        if (links[b].parent < 0) {
            append_child(lists, -1, b);
        }
    }
    for (int j = 0; j < scene->joint_count; j++) {
        const int child = scene->joints[j].child_body;
        if (links[child].joint == j && links[child].parent >= 0) {
            append_child(lists, links[child].parent, child);
        }
    }
    return true;
}

/* Depth-first without recursion: down to the first child, else on to the next sibling of the nearest ancestor that has
 * one. Returns the number of bodies reached. */
static int walk_depth_first(const child_lists *lists, const perp_link *links, int *order)
{
    int count = 0;
    int body = lists->first[0];
    while (body >= 0) {
        order[count++] = body;
        if (lists->first[body + 1] >= 0) {
            body = lists->first[body + 1];
            continue;
        }
        while (body >= 0 && lists->next[body] < 0) {
            body = links[body].parent;
        }
        body = body >= 0 ? lists->next[body] : -1;
    }
    return count;
}

/* q_start, v_start and tree of every link; totals into the model. */
static perp_status number_coordinates(const int *order, perp_link *links, perp_model *model, perp_error *error)
{
    long long mass_size = 0;
    int tree_size = 0;
    for (int k = 0; k < model->body_count; k++) {
        perp_link *link = &links[order[k]];
        link->q_start = model->nq;
        link->v_start = model->nv;
        model->nq += link->q_count;
        model->nv += link->v_count;
        link->tree = link->parent >= 0 ? links[link->parent].tree : -1;
        if (link->tree < 0 && link->v_count > 0) {
            link->tree = model->tree_count++;
            tree_size = 0;
        }
        /* (n + k)^2 - n^2, so that the sum over a tree is its v_count squared */
        mass_size += (long long)link->v_count * (2LL * tree_size + link->v_count);
        tree_size += link->v_count;
    }
    if (mass_size > INT_MAX) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a tree of bodies has too many degrees of freedom");
    }
    model->mass_size = (int)mass_size;
    return PERP_STATUS_OK;
}

static perp_status build_trees(const int *order, const perp_link *links, perp_arena *arena, perp_model *model)
{
    perp_tree *trees = PERP_ARENA_NEW(arena, perp_tree, (size_t)model->tree_count);
    if (!trees) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    int next_tree = 0;
    for (int k = 0; k < model->body_count; k++) {
        const perp_link *link = &links[order[k]];
        if (link->tree < 0) {
            continue;
        }
        perp_tree *tree = &trees[link->tree];
        if (link->tree == next_tree) {
            *tree = (perp_tree){.root = order[k], .v_start = link->v_start};
            next_tree++;
        }
        tree->v_count += link->v_count;
    }
    int mass_start = 0;
    for (int i = 0; i < model->tree_count; i++) {
        trees[i].mass_start = mass_start;
        mass_start += trees[i].v_count * trees[i].v_count;
    }
    model->trees = trees;
    return PERP_STATUS_OK;
}

enum { CHAIN_TOTAL = 50000000 }; /* 200 MB: a rope of 10,000 links, or 100,000 bodies behind 500 joints each */

static perp_status build_chains(const int *order, const perp_link *links, perp_arena *arena, perp_model *model,
                                perp_error *error)
{
    const int n = model->body_count;
    int *start = PERP_ARENA_NEW(arena, int, (size_t)n + 1);
    if (!start) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    /* start[b + 1] first holds the length of b's chain, and then, summed, its end. */
    for (int k = 0; k < n; k++) {
        const perp_link *link = &links[order[k]];
        start[order[k] + 1] = (link->parent >= 0 ? start[link->parent + 1] : 0) + link->v_count;
        if (start[order[k] + 1] > model->chain_longest) {
            model->chain_longest = start[order[k] + 1];
        }
    }
    long long total = 0;
    for (int b = 0; b < n; b++) {
        total += start[b + 1];
        if (total > CHAIN_TOTAL) {
            return perp_fail(error, PERP_STATUS_CAPACITY,
                             "the bodies hang in chains that are too long (up to %d joints; in all at most %d)",
                             model->chain_longest, CHAIN_TOTAL);
        }
        start[b + 1] = (int)total;
    }
    int *dofs = PERP_ARENA_NEW(arena, int, (size_t)total);
    if (!dofs) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    for (int k = 0; k < n; k++) {
        const perp_link *link = &links[order[k]];
        int *chain = dofs + start[order[k]];
        if (link->parent >= 0) {
            for (int i = start[link->parent]; i < start[link->parent + 1]; i++) {
                *chain++ = dofs[i];
            }
        }
        for (int i = 0; i < link->v_count; i++) {
            *chain++ = link->v_start + i;
        }
    }
    model->chain_start = start;
    model->chain_dofs = dofs;
    return PERP_STATUS_OK;
}

perp_status perp_model_lay_out(const perp_scene *scene, perp_arena *arena, perp_link *links, perp_model *model,
                               perp_error *error)
{
    int *order = PERP_ARENA_NEW(arena, int, (size_t)scene->body_count);
    perp_arena scratch;
    perp_arena_init(&scratch, &arena->allocator);
    child_lists lists;
    if (!order || !list_children(scene, links, &scratch, &lists)) {
        perp_arena_clear(&scratch);
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const int reached = walk_depth_first(&lists, links, order);
    perp_arena_clear(&scratch);
    assert(reached == scene->body_count); /* validation found no ring */
    (void)reached;
    model->order = order;
    perp_status status = number_coordinates(order, links, model, error);
    if (status == PERP_STATUS_OK) {
        status = build_trees(order, links, arena, model);
    }
    if (status == PERP_STATUS_OK) {
        status = build_chains(order, links, arena, model, error);
    }
    return status;
}
