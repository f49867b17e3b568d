/* A rigid step from begin to end: the rung's own method, another one where that fails, then either the choice among
 * answers or the explanation. */
#include "step/rigid/rigid_step.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <stdio.h>
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

/* With inertia the first methods nearly always meet the law of the step, and may miss by rounding the tolerance that
 * they are given in the problem's own units; what the others then do for it is a hundred times the work. So few
 * factorisations first, and all where the law says that these were not enough. */
static perp_status solve_in_turns(contact_step *step, const perp_contact_friction *problem,
                                  perp_friction_settings settings, perp_friction_info *info, perp_error *error)
{
    enum { FACTORISATIONS_MOST = 300 };
    rigid_step *s = step->own;
    settings.max_factorisations = step->dynamic ? FACTORISATIONS_MOST : 0;
    perp_status status = solve_coulomb(s, problem, &settings, info, error);
    const bool open = status == PERP_STATUS_OK && settings.max_factorisations > 0 &&
                      info->outcome != PERP_OUTCOME_SOLVED && info->outcome != PERP_OUTCOME_INFEASIBLE;
    if (open && law_of(step) > ASKED_OF_LCP * step->settings->tolerance) {
        step->info->iterations += info->iterations;
        settings.max_factorisations = 0;
        status = perp_contact_friction_solve(problem, &settings, s->friction, &s->point, info, error);
    }
    return status;
}

perp_status perp_rigid_solve_friction(contact_step *step, bool *solved, perp_friction_info *info, perp_error *error)
{
    rigid_step *s = step->own;
    const perp_contact_friction problem = {&s->qp, step->mu};
    perp_friction_settings settings = perp_friction_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, ASKED * step->settings->tolerance);
    settings.warm = perp_rigid_recall_point(step) ? &s->better : NULL;
    perp_status status = solve_in_turns(step, &problem, settings, info, error);
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

/* A fixed point that has not settled: what it goes between. */
static void tell_cycle(const contact_step *step, const rigid_fixed_info *info, perp_error *error)
{
    if (!error || step->system.contact_count == 0 || info->rounds == 0) {
        return;
    }
    const perp_contact *c = &step->contacts->contacts[step->set_index[info->contact]];
    const perp_scene *scene = step->model->scene;
    perp_evidence evidence = error->evidence;
    perp_step_name_contact(step, c, evidence.contact, sizeof evidence.contact);
    evidence.has_forces = true;
    evidence.forces[0] = info->between[0];
    evidence.forces[1] = info->between[1];
    perp_fail(error, error->status,
              "the fixed point on normal forces did not settle %s (%d rounds): between `%s` and `%s` it %s "
              "%.9g N and %.9g N; and no other method solved the step",
              perp_step_when(step).text, info->rounds, scene->bodies[c->a].name, scene->bodies[c->b].name,
              info->two_before <= 0.1 * info->change ? "goes to and fro between" : "was last at", info->between[0],
              info->between[1]);
    error->code = "not-converged";
    error->evidence = evidence;
}

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

/* A solver's own residual may hold where the step's law does not: then the law's is what is told. */
static bool is_answer(contact_step *step, rigid_attempt *a)
{
    if (!a->solved) {
        return false;
    }
    const double law = law_of(step);
    a->residual = fmax(a->residual, law);
    return law <= step->settings->tolerance;
}

/* Neither of the rung's two methods solved the step. On a polygon in space the answer on the round cone is not its own,
 * but the fixed point may settle from its normal forces; with one friction direction all cones are the same. */
static perp_status try_third(contact_step *step, const rigid_method methods[2], rigid_attempt *a, perp_error *error)
{
    rigid_step *s = step->own;
    rigid_fixed_info info = {0};
    const bool lcp = methods[0] == RIGID_LCP || methods[1] == RIGID_LCP,
               friction = methods[0] == RIGID_FRICTION || methods[1] == RIGID_FRICTION;
    if (!lcp && perp_rigid_is_polygonal(s)) {
        return try_method(step, RIGID_LCP, a, &info, error);
    }
    perp_status status = friction ? PERP_STATUS_OK : try_method(step, RIGID_FRICTION, a, &info, error);
    if (friction || status != PERP_STATUS_OK || is_answer(step, a)) {
        return status;
    }
    for (int i = 0; i < s->qp.contact_count; i++) {
        s->held[i] = fmax(0.0, s->point.y[s->qp.row_start[i]]);
    }
    *a = (rigid_attempt){.method = "fixed-point"};
    status = perp_rigid_solve_fixed(step, &a->solved, &info, error);
    a->residual = info.change;
    return status;
}

/* A point whose method does not call it solved: what is told of it is the law's residual, where that is more, and the
 * one that meets the law best is kept in s->spare. */
static void note_miss(contact_step *step, rigid_attempt *own, double *nearest)
{
    rigid_step *s = step->own;
    const double law = law_of(step);
    own->residual = fmax(own->residual, law);
    if (law < *nearest) {
        perp_step_copy_point(&s->qp, &s->spare, &s->point);
        *nearest = law;
    }
}

/* Methods ask themselves for more than the law does, so that choices have room. Where none has it, a point that meets
 * the law is an answer all the same: a step does not stop below its own tolerance. */
static void take_nearest(contact_step *step, double law, rigid_attempt *best)
{
    rigid_step *s = step->own;
    if (best->solved || !(law <= step->settings->tolerance)) {
        return;
    }
    perp_step_copy_point(&s->qp, &s->point, &s->spare);
    s->chosen = false;
    best->solved = true;
    best->residual = law;
    step->info->fallbacks[PERP_FALLBACK_LOOSE]++;
}

perp_status perp_rigid_try(contact_step *step, const rigid_method methods[2], rigid_attempt *best, perp_error *error)
{
    rigid_step *s = step->own;
    rigid_fixed_info cycle = {0};
    double nearest = INFINITY;
    perp_status status = perp_rigid_begin(step, error);
    *best = (rigid_attempt){.residual = INFINITY};
    s->settles = true;
    const bool full = step->dynamic, springs = s->qp.contact_count > 0 || full;
    if (status == PERP_STATUS_OK && springs) {
        const bool warm = full && perp_rigid_recall_point(step);
        best->method = "springs";
        status = perp_rigid_solve_springs(step, warm ? &s->better : NULL, false, &best->solved, error);
    }
    for (int i = 0; i < 3 && status == PERP_STATUS_OK && !best->solved; i++) {
        rigid_attempt own = {.residual = INFINITY};
        if (i == (springs ? 0 : 1)) { /* one method has failed */
            status = perp_rigid_prove_none(step, &best->impossible, error);
            if (status != PERP_STATUS_OK) {
                return status;
            }
        }
        status = i < 2 ? try_method(step, methods[i], &own, &cycle, error) : try_third(step, methods, &own, error);
        s->settles = i > 0 ? s->settles : own.solved || methods[0] != RIGID_FIXED_POINT;
        own.solved = status == PERP_STATUS_OK && is_answer(step, &own);
        step->info->fallbacks[PERP_FALLBACK_SECOND_METHOD] += own.solved && i > 0 ? 1 : 0;
        if (status == PERP_STATUS_OK && !own.solved) {
            note_miss(step, &own, &nearest);
        }
        if (i == 0 || own.solved || own.residual < best->residual) {
            *best = own;
        }
    }
    if (status == PERP_STATUS_OK) {
        take_nearest(step, nearest, best);
    }
    best->cycle = cycle;
    return status;
}

perp_status perp_rigid_step(contact_step *step, rigid_method first, rigid_method second, perp_error *error)
{
    rigid_attempt best;
    if (step->free_count == 0) {
        return perp_rigid_begin(step, error);
    }
    perp_status status = perp_rigid_try(step, (const rigid_method[2]){first, second}, &best, error);
    if (status != PERP_STATUS_OK || best.solved) {
        return status == PERP_STATUS_OK ? perp_rigid_finish(step, error) : status;
    }
    status = perp_rigid_explain(step, best.method, fmin(best.residual, 1e300), error);
    if (status == PERP_STATUS_NOT_CONVERGED && first == RIGID_FIXED_POINT && error &&
        strcmp(error->code, "not-converged") == 0) {
        tell_cycle(step, &best.cycle, error);
    }
    return status;
}
