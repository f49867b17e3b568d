/* scene_memory.h - what a scene owns. Everything lives in one arena; arrays grow by doubling inside it. */
#ifndef PERP_SRC_SCENE_SCENE_MEMORY_H
#define PERP_SRC_SCENE_SCENE_MEMORY_H

#include <perp/scene.h>

#include "base/arena.h"
#include "base/name_table.h"

struct perp_scene_memory {
    perp_arena arena;
    int body_capacity, joint_capacity, loop_capacity, force_capacity, pair_capacity, exclusion_capacity;
    perp_name_table body_names, joint_names; /* filled by perp_scene_validate */
};

/* Slopes of the monotone cubic through n >= 2 knots. */
/* x(t) with x(0) = start whose rate the drive is; its table, if it has one, is linear. False: out of memory. */
bool perp_drive_integrate(const perp_drive *rate, double start, perp_arena *arena, perp_drive *path);
void perp_monotone_slopes(int n, const double *times, const double *values, double *slopes);
/* Slopes of the clamped cubic spline through n >= 2 knots; `work` holds n doubles. */
void perp_spline_slopes(int n, const double *times, const double *values, double *slopes, double *work);

#endif
