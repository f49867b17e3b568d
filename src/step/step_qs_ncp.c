/* Rung `qs-ncp`: Model-DQC of Trinkle, Berard and Pang (2005), equations (1), (20)-(23): `qs-lcp` with the quadratic
 * friction cone. Its mixed NCP is Coulomb's problem on the system of the step, and solved as one. With `cone: box` the
 * cone is (33), a polygon, and the problem an LCP. */
#include "step/rigid_step.h"
#include "step/step_rungs.h"

static perp_status solve_law(perp_quasistatic *qs, perp_error *error)
{
    const rigid_step *s = qs->own;
    return perp_rigid_step(qs, s->wide.count == 0 ? RIGID_FRICTION : RIGID_LCP, RIGID_FIXED_POINT, error);
}

static const perp_qs_law law = {
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
    return perp_qs_open(context, &perp_rung_qs_ncp, &law, allocator, error);
}

const perp_rung perp_rung_qs_ncp = {
    .name = "qs-ncp",
    .summary = "as qs-lcp, with the quadratic friction cone (Model-DQC)",
    .inertia = PERP_RUNG_INERTIA_NONE,
    .contact = "rigid",
    .friction = "quadratic cone",
    .source = "Trinkle 2005 (1), (20)-(23)",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_BOX | PERP_TAKES_IMPEDANCE_AS_POSITION,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_qs_close,
    .look_back = perp_qs_look_back,
    .step = perp_qs_step,
    .save = perp_qs_save,
    .restore = perp_qs_restore,
};
