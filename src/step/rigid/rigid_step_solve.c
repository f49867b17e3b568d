/* The answer of a rigid step: by springs, by the rung's own method, and by another one where that fails; then the
 * choice among answers. */
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

/* ---- the quadratic cone ------------------------------------------------------------------------------------------ */

/* Reserved for every problem: a method whose own part of the workspace is too small for it has no say, and nothing is
 * said of that. */
static perp_status solve_coulomb(rigid_step *s, const perp_contact_friction *problem,
                                 const perp_friction_settings *settings, perp_friction_info *info, perp_error *error)
{
    const perp_status status = perp_contact_friction_reserve(problem, s->friction, error);
    return status == PERP_STATUS_OK
               ? perp_contact_friction_solve(problem, settings, s->friction, &s->point, info, error)
               : status;
}

/* How well s->point meets the law of the step. */
static double law_of(contact_step *step)
{
    rigid_step *s = step->own;
    return perp_rigid_worst(perp_rigid_evaluate(s, step->mu, &s->point));
}

perp_status perp_rigid_solve_friction(contact_step *step, bool *solved, perp_friction_info *info, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_friction problem = {&s->qp, step->mu};
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED * step->settings->tolerance);
    settings.warm = perp_rigid_recall_point(step) ? &s->better : NULL;
    perp_status status = solve_coulomb(s, &problem, &settings, info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->info->iterations += info->iterations;
    *solved = info->outcome == PERP_OUTCOME_SOLVED;
    const double law = law_of(step);
    if (*solved && law > step->settings->tolerance) { /* the law has other units: once more, by as much closer */
        perp_friction_info again;
        perp_step_copy_point(&s->qp, &s->better, &s->point);
        settings.tolerance = fmax(FINEST_TOLERANCE, 0.1 * settings.tolerance * step->settings->tolerance / law);
        settings.warm = &s->better;
        status = perp_contact_friction_solve(&problem, &settings, s->friction, &s->point, &again, error);
        step->info->iterations += status == PERP_STATUS_OK ? again.iterations : 0;
        return status;
    }
    if (!*solved && info->outcome != PERP_OUTCOME_INFEASIBLE) {
        *solved = law <= 0.1 * step->settings->tolerance;
        step->info->fallbacks[PERP_FALLBACK_LOOSE] += *solved ? 1 : 0;
    }
    return status;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static perp_status try_method(contact_step *step, rigid_method method, rigid_attempt *a, rigid_fixed_info *cycle,
                              perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status;
    s->chosen = false;
    if (method == RIGID_LCP) {
        perp_lcp_info info = {0};
        status = perp_rigid_solve_lcp(step, &a->solved, &info, error);
        a->method = info.method;
        a->residual = info.residual;
    } else if (method == RIGID_FRICTION) {
        perp_friction_info info = {0};
        status = perp_rigid_solve_friction(step, &a->solved, &info, error);
        a->method = info.method;
        a->residual = info.residual;
    } else {
        perp_rigid_recall(step);
        status = perp_rigid_solve_fixed(step, &a->solved, cycle, error);
        a->method = "fixed-point";
        a->residual = cycle->change;
    }
    return status;
}

/* A solver's own residual may hold where the step's law does not. */
static bool is_answer(contact_step *step, const rigid_attempt *a)
{
    if (!a->solved) {
        return false;
    }
    return law_of(step) <= step->settings->tolerance;
}

/* No contact has a cone that is round: the step is an LCP. */
static bool is_polygonal(const rigid_step *s)
{
    for (int i = 0; i < s->qp.contact_count && s->wide.count == 0; i++) {
        if (s->qp.row_start[i + 1] - s->qp.row_start[i] > 2) {
            return false;
        }
    }
    return true;
}

/* For where neither of two methods solves the step: an LCP where it is one, else Coulomb's problem on the round cone,
 * whose answer may be one of a polygon too. Returns how many methods there are. */
static int add_third(const rigid_step *s, rigid_method methods[3])
{
    const bool lcp = methods[0] == RIGID_LCP || methods[1] == RIGID_LCP,
               friction = methods[0] == RIGID_FRICTION || methods[1] == RIGID_FRICTION;
    methods[2] = !lcp && is_polygonal(s) ? RIGID_LCP : RIGID_FRICTION;
    return methods[2] == RIGID_LCP || !friction ? 3 : 2;
}

perp_status perp_rigid_try(contact_step *step, const rigid_method methods[2], rigid_attempt *best, perp_error *error)
{
    rigid_step *s = step->own;
    rigid_fixed_info cycle = {0};
    perp_status status = perp_rigid_begin(step, error);
    *best = (rigid_attempt){.residual = INFINITY};
    s->settles = true;
    const bool full = step->dynamic, springs = s->qp.contact_count > 0 || full;
    if (status == PERP_STATUS_OK && springs) {
        const bool warm = full && perp_rigid_recall_point(step);
        best->method = "springs";
        status = perp_rigid_solve_springs(step, warm ? &s->better : NULL, false, &best->solved, error);
    }
    rigid_method all[3] = {methods[0], methods[1]};
    const int count = status == PERP_STATUS_OK ? add_third(s, all) : 0;
    for (int i = 0; i < count && status == PERP_STATUS_OK && !best->solved; i++) {
        rigid_attempt own = {.residual = INFINITY};
        if (i == (springs ? 0 : 1)) { /* one method has failed */
            status = perp_rigid_prove_none(step, &best->impossible, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
        }
        status = try_method(step, all[i], &own, &cycle, error);
        s->settles = i > 0 ? s->settles : own.solved || methods[0] != RIGID_FIXED_POINT;
        own.solved = status == PERP_STATUS_OK && is_answer(step, &own);
        step->info->fallbacks[PERP_FALLBACK_SECOND_METHOD] += own.solved && i > 0 ? 1 : 0;
        if (status == PERP_STATUS_OK && !own.solved) {
            own.residual = fmax(own.residual, law_of(step));
        }
        if (i == 0 || own.solved || own.residual < best->residual) {
            *best = own;
        }
    }
    best->cycle = cycle;
    return status;
}

/* ---- of all answers the one that is reported --------------------------------------------------------------------- */

/* s->point at rest, where that meets the law as well. */
static void come_to_rest(contact_step *step)
{
    rigid_step *s = step->own;
    if (perp_step_rest(step, s->speed, s->point.x, s->better.x) && law_of(step) > 0.1 * step->settings->tolerance) {
        memcpy(s->point.x, s->better.x, (size_t)s->qp.n * sizeof *s->point.x);
    }
}

static void hand_over(contact_step *step)
{
    rigid_step *s = step->own;
    perp_rigid_hand_over(step);
    for (int i = 0; i < step->free_count; i++) { /* for perp_rigid_accept */
        s->now_settles[step->dof_of_free[i]] = s->settles;
    }
}

/* Normal forces that are not unique need not settle: the law is what counts. */
perp_status perp_rigid_solve_ellipsoid(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    rigid_fixed_info info;
    bool solved = false, proven = false;
    perp_rigid_recall(step);
    perp_status status = perp_rigid_solve_fixed(step, &solved, &info, error);
    s->settles = solved;
    solved = status == PERP_STATUS_OK && law_of(step) <= step->settings->tolerance;
    if (status == PERP_STATUS_OK && !solved) {
        const double residual = law_of(step);
        status = perp_rigid_prove_none(step, &proven, error);
        return status == PERP_STATUS_OK && !proven ? perp_step_not_converged(step, "fixed-point", residual, error)
                                                   : status;
    }
    if (status == PERP_STATUS_OK) {
        come_to_rest(step);
        hand_over(step);
    }
    return status;
}

perp_status perp_rigid_finish(contact_step *step, perp_error *error)
{
    rigid_step *s = step->own;
    const bool one_motion = step->dynamic;
    perp_status status = one_motion ? PERP_STATUS_OK : perp_rigid_smallest_motion(step, error);
    if (status == PERP_STATUS_OK && !s->chosen) {
        bool solved;
        perp_step_copy_point(&s->qp, &s->better, &s->point);
        status = perp_rigid_solve_springs(step, &s->better, true, &solved, error);
    }
    if (status == PERP_STATUS_OK && !s->chosen) {
        status = perp_rigid_least_forces(step, error);
    }
    if (status == PERP_STATUS_OK && !step->info->several && !step->law->instant && !one_motion) {
        status = perp_rigid_look_for_sticking(step, error);
    }
    come_to_rest(step);
    hand_over(step);
    return status;
}
