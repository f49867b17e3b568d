/* solve_all.h - all solutions of a problem of any class, and whether a solution is among them. */
#ifndef PERP_CLI_SOLVE_ALL_H
#define PERP_CLI_SOLVE_ALL_H

#include <perp/perp.h>

/* `set` borrows from `found`; its `complete` is the caller's to lower. */
typedef struct all_solutions {
    perp_lcp_solution_set set;
    perp_lcp_solution_set *found;
} all_solutions;

/* As perp_lcp_enumerate; `set` is empty and not complete unless the status is OK. To be freed either way. */
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
