/* Of the answers of a rigid step the one that equal springs at the contacts have in the limit: see
 * solver/friction_springs.h. It decides where normal forces are not determined, before friction is decided by them. */
#include "step/rigid/rigid_step.h"

#include "solver/friction_springs.h"
#include "step/common/tolerances.h"

/* What stands for inertia on the diagonal of unknowns that have none: masses over the largest. */
static void fill_weights(const contact_step *step, double *weight)
{
    const perp_model *model = step->model;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int r = 0; r < tree->v_count; r++) {
            const int i = step->free_of_dof[tree->v_start + r];
            const double own = step->mass[tree->mass_start + (ptrdiff_t)r * (tree->v_count + 1)];
            if (i >= 0) {
                const double unit = step->turns[i] ? step->length_unit * step->length_unit : 1.0;
                weight[i] = step->heaviest > 0.0 && own > 0.0 ? own / step->heaviest : unit;
            }
        }
    }
    for (int k = 0; k < step->foot_count; k++) {
        weight[step->free_count + k] = 1.0;
    }
}

static perp_status solve(rigid_step *s, const perp_contact_friction *problem,
                         const perp_friction_springs_settings *settings, perp_friction_springs_info *info,
                         perp_error *error)
{
    perp_status status = perp_friction_springs_solve(problem, settings, s->springs, &s->spare, info, NULL);
    if (status == PERP_STATUS_CAPACITY) {
        status = perp_friction_springs_reserve(problem, s->springs, error);
        status = status == PERP_STATUS_OK
                     ? perp_friction_springs_solve(problem, settings, s->springs, &s->spare, info, error)
                     : status;
    }
    return status;
}

perp_status perp_rigid_solve_springs(contact_step *step, const perp_convex_point *start, bool known, bool *solved,
                                     perp_error *error)
{
    static const double ENOUGH = 0.05; /* of the law's tolerance */
    rigid_step *s = step->own;
    const perp_contact_friction problem = {&s->qp, step->mu};
    const perp_friction_polygon wide = {s->wide.count, (const double(*)[2])s->wide.corner};
    perp_friction_springs_info info;
    fill_weights(step, s->balance);
    const perp_friction_springs_settings settings = {
        .velocity_tolerance = SPRINGS_STILL * step->settings->tolerance / s->gap,
        .velocity_enough = ENOUGH * step->settings->tolerance / s->gap,
        .force_enough = ENOUGH * step->settings->tolerance,
        .force_tolerance = ASKED * step->settings->tolerance,
        .polygon = s->wide.count == 0 ? NULL : &wide,
        .weight = s->balance,
        .start = start,
        .known = known,
        .cancel = step->settings->cancel,
    };
    const perp_status status = solve(s, &problem, &settings, &info, error);
    *solved = false;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info.iterations;
    const double law = info.solved ? perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->spare)) : INFINITY;
    if (law <= 0.1 * step->settings->tolerance) {
        *solved = true;
        perp_step_copy_point(&s->qp, &s->point, &s->spare);
        s->chosen = true;
    }
    if (*solved || known) {
        step->info->several = step->info->several || s->gap * info.choice > TWO_MOTIONS;
    }
    return PERP_STATUS_OK;
}
