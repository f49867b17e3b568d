/* extreme_rays.h - the extreme rays of a polyhedral cone, by the double description method.
 *
 * Inequalities are put in one after the other: rays on the wrong side go, and each pair of adjacent rays on opposite
 * sides gives a new one between them. Two rays are adjacent iff no third one has all the zeros that they share. The
 * caller starts with the rays of a simplicial cone, and says on which side of an inequality each ray is. */
#ifndef PERP_SRC_SOLVER_EXTREME_RAYS_H
#define PERP_SRC_SOLVER_EXTREME_RAYS_H

#include "base/arena.h"

#include <stdint.h>

enum { PERP_EXTREME_RAYS_WORDS = 4 };

typedef struct perp_extreme_ray {
    double *v;                              /* the largest magnitude is 1 */
    uint64_t zero[PERP_EXTREME_RAYS_WORDS]; /* inequalities that it is on, by index */
    bool checked;                           /* the caller's */
} perp_extreme_ray;

typedef struct perp_extreme_rays {
    /* the caller's */
    perp_arena *arena;           /* takes what is needed and keeps it until it is cleared */
    int size;                    /* of v */
    int most;                    /* more rays end in CAPACITY */
    int shared_least;            /* zeros that adjacent rays share, at least; 0 where that is not known */
    int64_t max_comparisons;     /* 0: without end */
    const volatile bool *cancel; /* may be NULL */

    perp_extreme_ray *items;
    int count, capacity;
    double *side; /* by ray, of the next inequality: above, on (exactly 0) or below it */
    int side_capacity;
    int64_t comparisons; /* made so far */
} perp_extreme_rays;

/* One ray more, all 0, at the end of items. OK, OUT_OF_MEMORY, CAPACITY. */
perp_status perp_extreme_rays_add(perp_extreme_rays *rays);
void perp_extreme_rays_normalise(perp_extreme_rays *rays, perp_extreme_ray *ray);
/* Room for `side`. OK, OUT_OF_MEMORY. */
perp_status perp_extreme_rays_sides(perp_extreme_rays *rays);
/* Puts in the inequality `index`; `side` is filled. What stays keeps its order, and new rays follow. OK, OUT_OF_MEMORY,
 * CAPACITY, CANCELLED. */
perp_status perp_extreme_rays_cut(perp_extreme_rays *rays, int index);

static inline bool perp_extreme_ray_is_on(const perp_extreme_ray *ray, int index)
{
    return (ray->zero[index / 64] >> (index % 64) & 1U) != 0;
}

static inline void perp_extreme_ray_put_on(perp_extreme_ray *ray, int index)
{
    ray->zero[index / 64] |= UINT64_C(1) << (index % 64);
}

#endif
