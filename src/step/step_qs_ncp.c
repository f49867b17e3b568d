/* Rung `qs-ncp`: Model-DQC of Trinkle, Berard and Pang (2005), equations (1), (20)-(23): `qs-lcp` with the quadratic
 * friction cone. Its mixed NCP is Coulomb's problem on the system of the step, and solved as one. With `cone: box` the
 * cone is (33), a polygon, and the problem an LCP. */
#include "step/rigid_step.h"
#include "step/step_rungs.h"

perp_status perp_rigid_solve_friction(perp_quasistatic *qs, bool *solved, perp_friction_info *info, perp_error *error)
{
    rigid_step *s = qs->own;
    const perp_contact_friction problem = {&s->qp, qs->mu};
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = fmax(1e-12, 1e-3 * qs->settings->tolerance);
    perp_status status = perp_contact_friction_reserve(&problem, s->friction, error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_friction_solve(&problem, &settings, s->friction, &s->point, info, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    qs->info->iterations += info->iterations;
    *solved = info->outcome == PERP_OUTCOME_SOLVED;
    if (!*solved && info->outcome != PERP_OUTCOME_INFEASIBLE) {
        *solved = perp_rigid_worst(perp_rigid_evaluate(s, qs->mu, &s->point)) <= 0.1 * qs->settings->tolerance;
        qs->info->fallbacks[PERP_FALLBACK_LOOSE] += *solved ? 1 : 0;
    }
    return status;
}

static perp_status solve_law(perp_quasistatic *qs, perp_error *error)
{
    rigid_step *s = qs->own;
    bool solved = false;
    perp_friction_info info;
    if (s->cone != PERP_CONE_QUADRATIC) {
        return perp_rigid_step_lcp(qs, error);
    }
    perp_status status = perp_rigid_begin(qs, error);
    if (status != PERP_STATUS_OK || qs->free_count == 0) {
        return status;
    }
    status = perp_rigid_solve_friction(qs, &solved, &info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    return solved ? perp_rigid_finish(qs, error) : perp_rigid_explain(qs, info.method, info.residual, error);
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
    .inertia = "none",
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
