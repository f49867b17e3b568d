/* The laws of the rigid rungs: which method comes first. The direct one of a cone is Coulomb's problem where it is
 * round, and the LCP where it is a polygon. */
#include "step/common/dynamic.h"
#include "step/rigid/rigid_step.h"

#include <float.h>
#include <string.h>

/* Proofs are looked for in either unit of velocities: that of the inertia tells a jam that is small beside the scene,
 * the other one bodies of very different mass. */
static perp_status explain_in_both_units(contact_step *step, const rigid_attempt *best, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = PERP_STATUS_NOT_CONVERGED;
    for (int units = 0; units < 2 && status == PERP_STATUS_NOT_CONVERGED; units++) {
        s->in_sizes = units > 0;
        bool proven = false;
        status = perp_rigid_begin(step, error);
        status = status == PERP_STATUS_OK ? perp_rigid_prove_none(step, &proven, error) : status;
        if (status == PERP_STATUS_OK) {
            status = perp_rigid_explain(step, best->method, fmin(best->residual, DBL_MAX), error);
        }
    }
    s->in_sizes = false;
    return status;
}

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

/* With inertia: Stewart and Trinkle's form, and where that has no answer, because bodies overlap that the step cannot
 * part, Anitescu and Potra's, which always has one (slide 36). */
static perp_status solve(contact_step *step, rigid_method first, rigid_method second, perp_error *error)
{
    const rigid_method methods[2] = {first, second};
    rigid_attempt best;
    if (step->free_count == 0) {
        return perp_rigid_begin(step, error);
    }
    if (perp_rigid_has_ellipsoid(step)) {
        const perp_status begun = perp_rigid_begin(step, error);
        return begun == PERP_STATUS_OK ? perp_rigid_solve_ellipsoid(step, error) : begun;
    }
    perp_status status = perp_rigid_try(step, methods, &best, error);
    if (step->dynamic && (status == PERP_STATUS_OK || best.impossible) && !best.solved &&
        perp_dynamic_unstabilise(step)) {
        status = perp_rigid_try(step, methods, &best, error);
        step->info->fallbacks[PERP_FALLBACK_UNSTABILISED] += status == PERP_STATUS_OK && best.solved ? 1 : 0;
    }
    if (best.solved) {
        return status == PERP_STATUS_OK ? perp_rigid_finish(step, error) : status;
    }
    if (step->dynamic) {
        return status == PERP_STATUS_OK || best.impossible ? explain_in_both_units(step, &best, error) : status;
    }
    status =
        status == PERP_STATUS_OK ? perp_rigid_explain(step, best.method, fmin(best.residual, DBL_MAX), error) : status;
    if (status == PERP_STATUS_NOT_CONVERGED && first == RIGID_FIXED_POINT && error &&
        strcmp(error->code, "not-converged") == 0) {
        tell_cycle(step, &best.cycle, error);
    }
    return status;
}

static rigid_method direct(const contact_step *step)
{
    const rigid_step *s = step->own;
    return s->wide.count == 0 ? RIGID_FRICTION : RIGID_LCP;
}

/* In the plane a round cone is an interval, and with inertia Lemke's method the second one. */
static perp_status solve_directly(contact_step *step, perp_error *error)
{
    const bool interval =
        step->dynamic && direct(step) == RIGID_FRICTION && step->model->planar && step->foot_capacity == 0;
    return solve(step, direct(step), interval ? RIGID_LCP : RIGID_FIXED_POINT, error);
}

static perp_status solve_by_fixed_point(contact_step *step, perp_error *error)
{
    return solve(step, RIGID_FIXED_POINT, direct(step), error);
}

#define RIGID                                                                                                          \
    .open = perp_rigid_open, .close = perp_rigid_close, .accept = perp_rigid_accept, .put = perp_rigid_put,            \
    .take = perp_rigid_take

const step_law perp_rigid_law = {.solve = solve_directly, RIGID};
const step_law perp_rigid_law_fixed_point = {.solve = solve_by_fixed_point, RIGID};
