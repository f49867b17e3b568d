/* Rung `qs-lp`: the fixed point of `qs-opt` over the linear program (36) of Trinkle, Berard and Pang (2005), which
 * belongs to the box (33) of friction forces, not to the pyramid of `qs-lcp` (design 4.5). Where it does not settle the
 * step is solved as the mixed LCP of the box. */
#include "step/rigid/rigid_step.h"
#include "step/common/step_rungs.h"

static perp_status solve_law(contact_step *step, perp_error *error)
{
    return perp_rigid_step(step, RIGID_FIXED_POINT, RIGID_LCP, error);
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
    return perp_step_open(context, &perp_rung_qs_lp, &law, allocator, error);
}

const perp_rung perp_rung_qs_lp = {
    .name = "qs-lp",
    .summary = "the box cone by a fixed point over linear programs",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "box",
    .source = "Trinkle 2005 (36)",
    .takes = PERP_TAKES_BOX | PERP_TAKES_IMPEDANCE_AS_POSITION,
    .own_cone = PERP_CONE_BOX,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
