/* Rung `dyn-qp`: Anitescu (2006): the step of dynamic.h with friction in his convex relaxation, over extreme rays or on
 * the quadratic cone, with room for the slip that is to be expected, so that what slides stays on the surface
 * (convex_step_slip.c). Strictly convex, so that every step has one motion. */
#include "step/convex/convex_step.h"
#include "step/common/dynamic.h"
#include "step/common/step_rungs.h"

static perp_status open_law(contact_step *step, perp_error *error)
{
    return perp_convex_step_open(step, perp_convex_step_is_quadratic(step), error);
}

/* Where bodies overlap that the step cannot part, Anitescu and Potra's form, as on the rigid rungs, without room, so
 * that nothing gets deeper. If that has no answer either, the error is that of the step as it was. */
static perp_status solve_law(contact_step *step, perp_error *error)
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

static void accept_law(contact_step *step)
{
    perp_convex_step_note_lift(step);
    perp_convex_step_accept(step);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .inertia = PERP_STEP_FULL,
    .open = open_law,
    .close = perp_convex_step_close,
    .solve = solve_law,
    .accept = accept_law,
    .put = perp_convex_step_put,
    .take = perp_convex_step_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_dyn_qp, &law, allocator, error);
}

const perp_rung perp_rung_dyn_qp = {
    .name = "dyn-qp",
    .summary = "dynamics with convex contact: every step has one motion",
    .inertia = PERP_RUNG_INERTIA_FULL,
    .contact = "rigid",
    .friction = "Anitescu",
    .source = "Anitescu 2006",
    .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC | PERP_TAKES_TIME_SCALE,
    .convex = true,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
