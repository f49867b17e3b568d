/* Which solid covers which. Two convex solids that do not overlap have a plane between them; the one on the side of the
 * viewer is in front. Sorting by distance alone would put a table over the cube at its far edge. */
#include "report/plot_scene.h"
#include "report/tolerances.h"

#include <string.h>

enum { MOST_PAIRED = 3000 };

typedef struct separation {
    double apart; /* m: of the plane that separates best, negative where they overlap */
    double side;  /* > 0: b is in front of a, < 0: behind, 0: beside */
} separation;

static void try_direction(separation *best, const plot_view *view, const solid *a, const solid *b, perp_vec3 direction)
{
    const plot_range of_a = perp_solid_reach(a, direction), of_b = perp_solid_reach(b, direction);
    const double b_above = of_b.low - of_a.high, a_above = of_a.low - of_b.high;
    const double facing = perp_vec3_dot(direction, view->toward);
    const double apart = fmax(b_above, a_above);
    if (apart > best->apart) {
        best->apart = apart;
        best->side = fabs(facing) < EDGE_ON ? 0.0 : b_above >= a_above ? facing : -facing;
    }
}

static separation separate(const plot_view *view, const solid *a, const solid *b)
{
    separation best = {-INFINITY, 0.0};
    const perp_vec3 between = perp_vec3_normalise(perp_vec3_sub(b->centre, a->centre));
    if (perp_vec3_norm(between) > 0.5) {
        try_direction(&best, view, a, b, between);
    }
    for (int f = 0; f < a->face_count; f++) {
        try_direction(&best, view, a, b, a->faces[f].normal);
    }
    for (int f = 0; f < b->face_count; f++) {
        try_direction(&best, view, a, b, b->faces[f].normal);
    }
    return best;
}

static bool overlap_on_page(const solid *a, const solid *b)
{
    return a->low[0] < b->high[0] && b->low[0] < a->high[0] && a->low[1] < b->high[1] && b->low[1] < a->high[1];
}

/* covers[i * count + k]: i is in front of k. Returns how many each has behind it. */
static void compare_all(const plot_view *view, const solid *solids, int count, bool *covers, int *behind)
{
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            if (solids[i].bore || solids[k].bore || !overlap_on_page(&solids[i], &solids[k])) {
                continue;
            }
            const double side = separate(view, &solids[i], &solids[k]).side;
            if (side > 0.0) {
                covers[(size_t)k * (size_t)count + (size_t)i] = true;
                behind[k]++;
            } else if (side < 0.0) {
                covers[(size_t)i * (size_t)count + (size_t)k] = true;
                behind[i]++;
            }
        }
    }
}

/* Of those that are left the farthest that covers none of them; where they cover each other in a ring, the farthest. */
static int next_one(const double *nearness, const int *behind, const bool *done, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (!done[i] && (best < 0 || (behind[i] == 0) > (behind[best] == 0) ||
                         ((behind[i] == 0) == (behind[best] == 0) && nearness[i] < nearness[best]))) {
            best = i;
        }
    }
    return best;
}

int *perp_solid_order(plot *p, const plot_view *view, const solid *solids, int count)
{
    const size_t n = (size_t)count;
    const bool paired = count <= MOST_PAIRED;
    int *order = PERP_ARENA_NEW(p->arena, int, n), *behind = PERP_ARENA_NEW(p->arena, int, n);
    double *nearness = PERP_ARENA_NEW(p->arena, double, n);
    bool *covers = PERP_ARENA_NEW(p->arena, bool, paired ? n *n : 1), *done = PERP_ARENA_NEW(p->arena, bool, n);
    if (!order || !behind || !nearness || !covers || !done) {
        p->out_of_memory = true;
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        /* a bore is drawn behind everything: what is in it is seen through it */
        nearness[i] = solids[i].bore ? -INFINITY : perp_vec3_dot(solids[i].centre, view->toward);
    }
    if (paired) {
        compare_all(view, solids, count, covers, behind);
    }
    for (int at = 0; at < count; at++) {
        const int taken = next_one(nearness, behind, done, count);
        order[at] = taken;
        done[taken] = true;
        for (int i = 0; paired && i < count; i++) {
            behind[i] -= covers[(size_t)i * n + (size_t)taken] ? 1 : 0;
        }
    }
    return order;
}
