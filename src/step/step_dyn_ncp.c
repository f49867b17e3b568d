/* Rung `dyn-ncp`: Song, Kumar and Pang's (10) with rigid contact: the step of dynamic.h with the quadratic friction
 * cone, solved as Coulomb's problem on the system of the step. With `cone: box` the cone is a polygon, and the problem
 * an LCP; so it is in the plane, where Lemke's method is the second one. */
#include "step/dynamic.h"
#include "step/step_rungs.h"

static perp_status solve_law(perp_quasistatic *qs, perp_error *error)
{
    const rigid_step *s = qs->own;
    if (s->wide.count > 0) {
        return perp_dynamic_rigid_step(qs, RIGID_LCP, RIGID_FIXED_POINT, error);
    }
    return perp_dynamic_rigid_step(qs, RIGID_FRICTION, qs->model->planar ? RIGID_LCP : RIGID_FIXED_POINT, error);
}

static const perp_qs_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .inertia = PERP_QS_FULL,
    .open = perp_rigid_open,
    .close = perp_rigid_close,
    .solve = solve_law,
    .accept = perp_rigid_accept,
    .put = perp_rigid_put,
    .take = perp_rigid_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    return perp_qs_open(context, &perp_rung_dyn_ncp, &law, allocator, error);
}

const perp_rung perp_rung_dyn_ncp = {
    .name = "dyn-ncp",
    .summary = "dynamics with rigid contact and the quadratic friction cone",
    .inertia = PERP_RUNG_INERTIA_FULL,
    .contact = "rigid",
    .friction = "quadratic cone",
    .source = "Song et al. (10), rigid",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_BOX | PERP_TAKES_TIME_SCALE,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_qs_close,
    .look_back = perp_qs_look_back,
    .step = perp_qs_step,
    .save = perp_qs_save,
    .restore = perp_qs_restore,
};
