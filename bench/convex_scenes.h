/* convex_scenes.h - convex contact problems of fixed kinds and chosen sizes, for measuring.
 *
 * The bin is one step of a robot among ten cubes: 69 unknowns (ten cubes, an arm of seven joints with two fingers) and
 * about 60 contacts. Cubes of 0.1 m rest with four corners on the ground or on another cube, some lean on each other;
 * the fingers hold one cube and a link touches another. In the velocities v of a step h (Pang and Tedrake 2021, (10),
 * with the gravity that the print lost)
 *
 *     min h^2/2 v_a'K v_a - h tau'v,   n.v + mu d.v + phi/h >= 0 for four rays d a contact
 *
 * where the cubes have no Hessian, or in the quasidynamic form their mass. The quadratic version has the cone instead
 * of the rays. Towers (columns of ten) and piles are quasidynamic and have no robot.
 */
#ifndef PERP_BENCH_CONVEX_SCENES_H
#define PERP_BENCH_CONVEX_SCENES_H

#include "convex_case.h"

enum { CONVEX_BIN_N = 69, CONVEX_BIN_MAX_CONTACTS = 80 };

typedef struct convex_bin convex_bin;
convex_bin *convex_bin_create(void); /* ends the program when memory does */
void convex_bin_free(convex_bin *bin);

/* A new bin; depends on (seed, index) alone. */
void convex_bin_start(convex_bin *bin, uint64_t seed, int index);
/* The problem of the step that stands before it. */
void convex_bin_make(const convex_bin *bin, bool quadratic, bool quasidynamic, convex_case *c);
/* Moves by a step at velocity v (69), gaps no further than shut; the robot's command goes on. */
void convex_bin_advance(convex_bin *bin, const double *v);

void convex_tower_make(convex_case *c, int cubes, uint64_t seed, bool quadratic);
void convex_pile_make(convex_case *c, int cubes, uint64_t seed, bool quadratic);

#endif
