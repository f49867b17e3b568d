#include "step/instant/instant_sets.h"

#include <string.h>

typedef struct taker {
    instant_cells *cells;
    instant_sets *to;
} taker;

static bool copy(perp_arena *arena, double **to, const double *from, int count)
{
    *to = perp_arena_push(arena, (size_t)count, sizeof **to);
    if (*to && count > 0) {
        memcpy(*to, from, (size_t)count * sizeof **to);
    }
    return *to != NULL;
}

static perp_status take_set(void *context, const perp_polyhedron *hull, const instant_cells_point *point)
{
    const taker *t = context;
    const perp_contact_qp *p = t->cells->system->p;
    perp_arena *arena = &t->cells->arena;
    instant_set *grown = perp_arena_grow(arena, t->to->sets, t->to->count, &t->to->capacity, sizeof *grown);
    if (!grown) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    t->to->sets = grown;
    instant_set *set = &grown[t->to->count++];
    *set = (instant_set){.hull = *hull};
    const int rows = p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
    const bool all =
        !point ||
        (copy(arena, &set->point.x, point->x, p->n) && copy(arena, &set->point.y, point->y, p->equality_count) &&
         copy(arena, &set->point.force, point->force, rows) && copy(arena, &set->point.lower, point->lower, p->n) &&
         copy(arena, &set->point.upper, point->upper, p->n));
    return all ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY;
}

static bool is_within(const instant_set *inner, const instant_set *outer)
{
    return outer->hull.dimensions >= inner->hull.dimensions && perp_polyhedron_contains(&outer->hull, &inner->hull);
}

/* Of sets that are the same the first is kept. */
static void drop_needless(instant_sets *all)
{
    int kept = 0;
    for (int i = 0; i < all->count; i++) {
        bool needless = false;
        for (int j = 0; j < all->count && !needless; j++) {
            const bool seen = j<kept, ahead = j> i;
            needless = (seen || ahead) && is_within(&all->sets[i], &all->sets[j]) &&
                       (seen || !is_within(&all->sets[j], &all->sets[i]));
        }
        if (!needless) {
            all->sets[kept++] = all->sets[i];
        }
    }
    all->count = kept;
}

perp_status perp_instant_sets_find(instant_cells *cells, instant_sets *sets, instant_cells_result *result,
                                   perp_error *error)
{
    taker t = {cells, sets};
    *sets = (instant_sets){0};
    const perp_status status = perp_instant_cells_all(cells, take_set, &t, result, error);
    if (status == PERP_STATUS_OUT_OF_MEMORY) {
        return perp_fail(error, status, "out of memory for the solutions of %d contacts", cells->problem.choice_count);
    }
    drop_needless(sets);
    return status;
}
