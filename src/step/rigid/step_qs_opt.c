/* Rung `qs-opt`: Model-DQC by the fixed point of Theorem 1 in Trinkle, Berard and Pang (2005), over the convex problem
 * (29). It starts from the normal forces of the last step. Where that does not settle it continues from those of
 * `qs-ncp`, and ends there at once: an answer of `qs-ncp` meets the optimality conditions of (29) at its own normal
 * forces, so these are among the multipliers that (29) answers with. Iterating further would only ask whether the
 * convex solver picks the same ones of many, as under a box with four corners it need not. */
#include "step/rigid/rigid_step.h"
#include "step/common/step_rungs.h"

static perp_status solve_law(contact_step *step, perp_error *error)
{
    return perp_rigid_step(step, RIGID_FIXED_POINT, RIGID_FRICTION, error);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION_IMPEDANCE,
    .open = perp_rigid_open,
    .close = perp_rigid_close,
    .solve = solve_law,
    .accept = perp_rigid_accept,
    .put = perp_rigid_put,
    .take = perp_rigid_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_qs_opt, &law, allocator, error);
}

const perp_rung perp_rung_qs_opt = {
    .name = "qs-opt",
    .summary = "qs-ncp by a fixed point on the normal forces",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "quadratic cone",
    .source = "Trinkle 2005, Theorem 1 (29)",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_IMPEDANCE_AS_POSITION,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
