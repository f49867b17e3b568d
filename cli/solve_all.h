/* solve_all.h - all solutions of a problem of any class, through the lcp it amounts to. */
#ifndef PERP_CLI_SOLVE_ALL_H
#define PERP_CLI_SOLVE_ALL_H

#include <perp/perp.h>

/* The faces in the problem's own variables. `set` borrows from the rest. */
typedef struct all_solutions {
    perp_lcp_solution_set set;
    perp_lcp_solution_set *of_lcp;
    perp_lcp_face *faces;
    double *numbers;
} all_solutions;

/* CAPACITY (too large to enumerate), SINGULAR (its free block cannot be eliminated), CANCELLED, OUT_OF_MEMORY; `set` is
 * then empty and not complete. To be freed either way. */
perp_status all_solutions_find(const perp_problem *problem, const perp_lcp_enumerate_settings *settings,
                               all_solutions *all, perp_error *error);

/* A solution that was found otherwise. What counts as zero is `tolerance` times the scales: those of z, and of the
 * terms that each w_i is the sum of. */
typedef struct all_solutions_point {
    const double *z, *w, *w_scale;
    double z_scale, tolerance;
} all_solutions_point;

/* Whether it lies in one of the faces; false also when cancelled. */
bool all_solutions_contain(const all_solutions *all, const perp_problem *problem, const all_solutions_point *point,
                           const volatile bool *cancel);
void all_solutions_free(all_solutions *all);

#endif
