/* Rung `dyn-lcp`: Stewart and Trinkle's time stepping (slides 19-20, with the rows of design 4.8): the step of
 * dynamic.h with a pyramid of friction directions: the limit of equal springs; where that does not answer one mixed LCP
 * by Lemke's method; where that has no answer, Anitescu and Potra's form without stabilisation (slide 36). */
#include "step/rigid/rigid_step.h"
#include "step/common/step_rungs.h"

static perp_status solve_law(contact_step *step, perp_error *error)
{
    return perp_dynamic_rigid_step(step, RIGID_LCP, RIGID_FIXED_POINT, error);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .inertia = PERP_STEP_FULL,
    .open = perp_rigid_open,
    .close = perp_rigid_close,
    .solve = solve_law,
    .accept = perp_rigid_accept,
    .put = perp_rigid_put,
    .take = perp_rigid_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_dyn_lcp, &law, allocator, error);
}

const perp_rung perp_rung_dyn_lcp = {
    .name = "dyn-lcp",
    .summary = "dynamics with rigid contact and a friction pyramid (Stewart-Trinkle)",
    .inertia = PERP_RUNG_INERTIA_FULL,
    .contact = "rigid, stabilised",
    .friction = "pyramid of rays",
    .source = "slides 19-20, 36",
    .takes = PERP_TAKES_RAYS | PERP_TAKES_TIME_SCALE,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
