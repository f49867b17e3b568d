/* Rung `qs-opt`: Model-DQC by the fixed point of Theorem 1 in Trinkle, Berard and Pang (2005), over the convex problem
 * (29). It starts from the normal forces of the last step, and where that does not settle, from those of `qs-ncp`. */
#include "step/rigid_step.h"
#include "step/step_rungs.h"

perp_status perp_rigid_cycle(const perp_quasistatic *qs, const rigid_fixed_info *info, perp_error *error)
{
    const perp_status status = perp_qs_not_converged(qs, "fixed-point", info->change, error);
    if (error && qs->system.contact_count > 0) {
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[info->contact]];
        const perp_evidence evidence = error->evidence;
        perp_fail(error, status,
                  "the fixed point on normal forces did not settle at t = %g s in %d rounds: between `%s` and `%s` it "
                  "%s %.9g N and %.9g N; qs-ncp and qs-lcp solve the step as a whole",
                  qs->t, info->rounds, qs->model->scene->bodies[c->a].name, qs->model->scene->bodies[c->b].name,
                  info->two_before <= 0.1 * info->change ? "goes to and fro between" : "was last at", info->between[0],
                  info->between[1]);
        error->code = "not-converged";
        error->evidence = evidence;
    }
    return status;
}

static perp_status solve_law(perp_quasistatic *qs, perp_error *error)
{
    rigid_step *s = qs->own;
    bool solved = false, other = false;
    rigid_fixed_info info;
    perp_friction_info friction;
    perp_status status = perp_rigid_begin(qs, error);
    if (status != PERP_STATUS_OK || qs->free_count == 0) {
        return status;
    }
    perp_rigid_recall(qs);
    status = perp_rigid_solve_fixed(qs, &solved, &info, error);
    if (status == PERP_STATUS_OK && !solved) {
        status = perp_rigid_solve_friction(qs, &other, &friction, error);
    }
    if (status == PERP_STATUS_OK && other) {
        for (int i = 0; i < s->qp.contact_count; i++) {
            s->held[i] = s->point.y[s->qp.row_start[i]];
        }
        status = perp_rigid_solve_fixed(qs, &solved, &info, error);
        qs->info->fallbacks[PERP_FALLBACK_SECOND_METHOD] += solved ? 1 : 0;
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (solved) {
        return perp_rigid_finish(qs, error);
    }
    return other ? perp_rigid_cycle(qs, &info, error)
                 : perp_rigid_explain(qs, "fixed-point", fmin(info.change, 1e300), error);
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
    return perp_qs_open(context, &perp_rung_qs_opt, &law, allocator, error);
}

const perp_rung perp_rung_qs_opt = {
    .name = "qs-opt",
    .summary = "qs-ncp by a fixed point on the normal forces",
    .inertia = "none",
    .contact = "rigid",
    .friction = "quadratic cone",
    .source = "Trinkle 2005, Theorem 1 (29)",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_IMPEDANCE_AS_POSITION,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_qs_close,
    .look_back = perp_qs_look_back,
    .step = perp_qs_step,
    .save = perp_qs_save,
    .restore = perp_qs_restore,
};
