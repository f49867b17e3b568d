/* Rung `qs-lcp`: Model-DLC of Trinkle, Berard and Pang (2005), equations (24)-(26): no inertia, rigid contact, all
 * actuators position-controlled (impedance too), a friction pyramid: a mixed LCP per step. Its answers are many where
 * corners share a load, and Lemke's pivots would choose by the order of contacts; so where the limit of springs does
 * not answer, the fixed point on normal forces follows, which treats all alike, and the LCP last. */
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
    return perp_step_open(context, &perp_rung_qs_lcp, &law, allocator, error);
}

const perp_rung perp_rung_qs_lcp = {
    .name = "qs-lcp",
    .summary = "rigid, position-controlled, no inertia; a mixed LCP (Model-DLC)",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "pyramid",
    .source = "Trinkle 2005 (24)-(26)",
    .takes = PERP_TAKES_RAYS | PERP_TAKES_IMPEDANCE_AS_POSITION,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
