/* run_result.h - what rungs add to a run's result. */
#ifndef PERP_SRC_STEP_COMMON_RUN_RESULT_H
#define PERP_SRC_STEP_COMMON_RUN_RESULT_H

#include <perp/step.h>

/* Room for one more solution, zeroed, with the rest of it in one block; NULL: out of memory. */
perp_instant_solution *perp_run_result_add_solution(perp_run_result *result, int nv, int contact_count);

/* Room for the set of a solution, zeroed; false: out of memory. */
bool perp_run_result_describe(perp_run_result *result, perp_instant_solution *solution, int nv, int vertex_count,
                              int ray_count);

/* Each of `most` becomes the larger of the two. */
void perp_residuals_keep_largest(perp_residuals *most, const perp_residuals *other);

#endif
