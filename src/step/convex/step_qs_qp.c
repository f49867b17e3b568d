/* Rung `qs-qp`: Pang and Tedrake (2021), equation (10) with the gravity that its printed objective has lost: no
 * inertia, springs at impedance joints, friction in Anitescu's relaxation over extreme rays.
 *
 *     min  1/2 v_a' (h K + D) v_a - (K (command - q_a) + tau_a)' v_a - tau_u' v_u
 *     s.t. (J v)_n + phi / h + mu d_j . (J v)_t >= 0   for every contact and ray j
 *
 * The multipliers are forces; fn is the sum of a contact's. Of several motions the smallest is taken, of several forces
 * those of least norm. */
#include "step/convex/convex_step.h"
#include "step/common/step_rungs.h"

static perp_status open_law(contact_step *step, perp_error *error)
{
    return perp_convex_step_open(step, perp_convex_step_is_quadratic(step), error);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .open = open_law,
    .close = perp_convex_step_close,
    .solve = perp_convex_step_solve,
    .accept = perp_convex_step_accept,
    .put = perp_convex_step_put,
    .take = perp_convex_step_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_qs_qp, &law, allocator, error);
}

const perp_rung perp_rung_qs_qp = {
    .name = "qs-qp",
    .summary = "convex step without inertia; impedance joints are springs",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "Anitescu",
    .source = "Pang-Tedrake 2021 (10)",
    .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC,
    .convex = true,
    .own_cone = PERP_CONE_RAYS,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
