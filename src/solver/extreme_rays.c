#include "solver/extreme_rays.h"

#include "linalg/vector.h"

#include <string.h>

/* The memory of rays removed earlier, which stand behind `count`, is used again. */
perp_status perp_extreme_rays_add(perp_extreme_rays *r)
{
    if (r->count == r->most) {
        return PERP_STATUS_CAPACITY;
    }
    perp_extreme_ray *items = perp_arena_grow(r->arena, r->items, r->count, &r->capacity, sizeof *items);
    if (!items) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    r->items = items;
    double *v = items[r->count].v;
    v = v ? v : PERP_ARENA_NEW(r->arena, double, (size_t)r->size);
    if (!v) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    memset(v, 0, (size_t)r->size * sizeof *v);
    items[r->count++] = (perp_extreme_ray){.v = v};
    return PERP_STATUS_OK;
}

void perp_extreme_rays_normalise(perp_extreme_rays *r, perp_extreme_ray *ray)
{
    const double largest = perp_vector_largest(r->size, ray->v);
    for (int k = 0; k < r->size && largest > 0.0; k++) {
        ray->v[k] /= largest;
    }
}

perp_status perp_extreme_rays_sides(perp_extreme_rays *r)
{
    while (r->side_capacity < r->count) {
        double *side = perp_arena_grow(r->arena, r->side, r->side_capacity, &r->side_capacity, sizeof *side);
        if (!side) {
            return PERP_STATUS_OUT_OF_MEMORY;
        }
        r->side = side;
    }
    return PERP_STATUS_OK;
}

static int bits(uint64_t x)
{
    int count = 0;
    for (; x; x &= x - 1) {
        count++;
    }
    return count;
}

static bool are_adjacent(perp_extreme_rays *r, int count, int a, int b)
{
    uint64_t shared[PERP_EXTREME_RAYS_WORDS];
    int shared_count = 0;
    for (int k = 0; k < PERP_EXTREME_RAYS_WORDS; k++) {
        shared[k] = r->items[a].zero[k] & r->items[b].zero[k];
        shared_count += r->shared_least > 0 ? bits(shared[k]) : 0;
    }
    if (shared_count < r->shared_least) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        const uint64_t *zero = r->items[i].zero;
        if (!(shared[0] & ~zero[0]) && !(shared[1] & ~zero[1]) && !(shared[2] & ~zero[2]) && !(shared[3] & ~zero[3]) &&
            i != a && i != b) {
            r->comparisons += i + 1;
            return false;
        }
    }
    r->comparisons += count;
    return true;
}

/* The ray between two on opposite sides that is on the inequality. */
static perp_status add_between(perp_extreme_rays *r, int above, int below, int index)
{
    const perp_status status = perp_extreme_rays_add(r);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_extreme_ray *a = &r->items[above], *b = &r->items[below];
    perp_extreme_ray *ray = &r->items[r->count - 1];
    for (int k = 0; k < r->size; k++) {
        ray->v[k] = -r->side[below] * a->v[k] + r->side[above] * b->v[k];
    }
    for (int k = 0; k < PERP_EXTREME_RAYS_WORDS; k++) {
        ray->zero[k] = a->zero[k] & b->zero[k];
    }
    perp_extreme_ray_put_on(ray, index);
    perp_extreme_rays_normalise(r, ray);
    return PERP_STATUS_OK;
}

perp_status perp_extreme_rays_cut(perp_extreme_rays *r, int index)
{
    const int before = r->count;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < before && status == PERP_STATUS_OK; i++) {
        if (r->cancel && *r->cancel) {
            return PERP_STATUS_CANCELLED;
        }
        if (r->max_comparisons > 0 && r->comparisons > r->max_comparisons) {
            return PERP_STATUS_CAPACITY;
        }
        for (int j = 0; j < before && r->side[i] > 0.0 && status == PERP_STATUS_OK; j++) {
            if (r->side[j] < 0.0 && are_adjacent(r, before, i, j)) {
                status = add_between(r, i, j, index);
            }
        }
    }
    int kept = 0;
    for (int k = 0; k < r->count && status == PERP_STATUS_OK; k++) {
        if (k >= before || r->side[k] >= 0.0) {
            const perp_extreme_ray ray = r->items[k];
            r->items[k] = r->items[kept];
            r->items[kept++] = ray;
        }
        if (k < before && r->side[k] == 0.0) {
            perp_extreme_ray_put_on(&r->items[kept - 1], index);
        }
    }
    r->count = kept;
    return status;
}
