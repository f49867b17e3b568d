/* The laws of the convex rungs. */
#include "step/common/dynamic.h"
#include "step/convex/convex_step.h"

/* Where bodies overlap that the step cannot part, Anitescu and Potra's form, as on the rigid rungs, without room, so
 * that nothing gets deeper. If that has no answer either, the error is that of the step as it was. */
static perp_status solve_sliding(contact_step *step, perp_error *error)
{
    perp_error again = {0};
    const perp_status status = perp_convex_step_solve_sliding(step, error);
    const bool failed = status == PERP_STATUS_INFEASIBLE || status == PERP_STATUS_NOT_CONVERGED;
    for (int i = 0; i < step->system.contact_count && failed; i++) {
        step->room[i] = 0.0;
    }
    if (!failed || !perp_dynamic_unstabilise(step) || perp_convex_step_solve(step, &again) != PERP_STATUS_OK) {
        return status;
    }
    step->info->fallbacks[PERP_FALLBACK_UNSTABILISED]++;
    return PERP_STATUS_OK;
}

static void accept_sliding(contact_step *step)
{
    perp_convex_step_note_lift(step);
    perp_convex_step_accept(step);
}

#define CONVEX                                                                                                         \
    .open = perp_convex_step_open, .close = perp_convex_step_close, .put = perp_convex_step_put,                       \
    .take = perp_convex_step_take

const step_law perp_convex_law = {.solve = perp_convex_step_solve, .accept = perp_convex_step_accept, CONVEX};
const step_law perp_convex_law_sliding = {.solve = solve_sliding, .accept = accept_sliding, CONVEX};
