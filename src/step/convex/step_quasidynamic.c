/* Rung `quasidynamic`: inertia within one step, none carried over to the next. Passive degrees of freedom have M / h
 * where `qs-cone` has nothing (the printed weights of the paper, corrected):
 *
 *     min  1/2 (q_a+ - u)' K (q_a+ - u) + 1 / (2 h^2) dq_u' M_u dq_u - tau' dq
 *
 * so that the step is strictly convex and every body has an answer, also one that nothing supports. */
#include "step/convex/convex_step.h"
#include "step/common/step_rungs.h"

static perp_status open_law(contact_step *step, perp_error *error)
{
    return perp_convex_step_open(step, perp_convex_step_is_quadratic(step), error);
}

static const step_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .inertia = PERP_STEP_WITHIN_STEP,
    .open = open_law,
    .close = perp_convex_step_close,
    .solve = perp_convex_step_solve,
    .accept = perp_convex_step_accept,
    .put = perp_convex_step_put,
    .take = perp_convex_step_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_step_open(context, &perp_rung_quasidynamic, &law, allocator, error);
}

const perp_rung perp_rung_quasidynamic = {
    .name = "quasidynamic",
    .summary = "as qs-cone, with inertia within each step",
    .inertia = PERP_RUNG_INERTIA_ONE_STEP,
    .contact = "rigid",
    .friction = "Anitescu",
    .source = "Pang et al. 2023",
    .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC | PERP_TAKES_SMOOTHING,
    .convex = true,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_step_close,
    .look_back = perp_step_look_back,
    .step = perp_contact_step,
    .save = perp_step_save,
    .restore = perp_step_restore,
};
