/* Rung `qs-impedance-lcp`: equation (6) of Pang and Tedrake (2021): `qs-lcp` with springs at impedance joints, whose
 * force K (command - q - h v) - D v stands in the balance. */
#include "step/rigid/rigid_step.h"
#include "step/common/step_rungs.h"

static perp_status solve_law(contact_step *step, perp_error *error)
{
    return perp_rigid_step(step, RIGID_FIXED_POINT, RIGID_LCP, error);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .open = perp_rigid_open,
    .close = perp_rigid_close,
    .solve = solve_law,
    .accept = perp_rigid_accept,
    .put = perp_rigid_put,
    .take = perp_rigid_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_qs_impedance_lcp, &law, allocator, error);
}

const perp_rung perp_rung_qs_impedance_lcp = {
    .name = "qs-impedance-lcp",
    .summary = "as qs-lcp; impedance joints are springs",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "pyramid",
    .source = "Pang-Tedrake 2021 (6)",
    .takes = PERP_TAKES_RAYS,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
