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

/* CAPACITY (too large to enumerate), SINGULAR (its free block cannot be eliminated), CANCELLED, OUT_OF_MEMORY. To be
 * freed either way. */
perp_status all_solutions_find(const perp_problem *problem, const perp_lcp_enumerate_settings *settings,
                               all_solutions *all, perp_error *error);
void all_solutions_free(all_solutions *all);

#endif
