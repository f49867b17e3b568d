/* Rung `qs-cone`: `qs-qp` with the quadratic cone, (J v)_n + phi / h >= mu |(J v)_t|, the limit of many rays. */
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
    return perp_step_open(context, &perp_rung_qs_cone, &law, allocator, error);
}

const perp_rung perp_rung_qs_cone = {
    .name = "qs-cone",
    .summary = "as qs-qp, with the quadratic friction cone",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "Anitescu",
    .source = "its limit of many rays",
    .takes = PERP_TAKES_QUADRATIC,
    .convex = true,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
