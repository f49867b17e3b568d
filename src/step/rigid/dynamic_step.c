/* A dynamic step with rigid contact: Stewart and Trinkle's form, and where that has no answer, because bodies overlap
 * that the step cannot part, Anitescu and Potra's, which always has one (slide 36). */
#include "step/common/dynamic.h"
#include "step/rigid/rigid_step.h"

/* Proofs are looked for in either unit of velocities: that of the inertia tells a jam that is small beside the scene,
 * the other one bodies of very different mass. */
static perp_status explain(contact_step *step, const rigid_attempt *best, perp_error *error)
{
    rigid_step *s = step->own;
    perp_status status = PERP_STATUS_NOT_CONVERGED;
    for (int units = 0; units < 2 && status == PERP_STATUS_NOT_CONVERGED; units++) {
        s->in_sizes = units > 0;
        status = perp_rigid_begin(step, error);
        if (status == PERP_STATUS_OK) {
            status = perp_rigid_explain(step, best->method, fmin(best->residual, 1e300), error);
        }
    }
    s->in_sizes = false;
    return status;
}

perp_status perp_dynamic_rigid_step(contact_step *step, rigid_method first, rigid_method second, perp_error *error)
{
    const rigid_method methods[2] = {first, second};
    rigid_attempt best;
    if (step->free_count == 0) {
        return perp_rigid_begin(step, error);
    }
    perp_status status = perp_rigid_try(step, methods, &best, error);
    if (status == PERP_STATUS_OK && !best.solved && perp_dynamic_unstabilise(step)) {
        status = perp_rigid_try(step, methods, &best, error);
        step->info->fallbacks[PERP_FALLBACK_UNSTABILISED] += status == PERP_STATUS_OK && best.solved ? 1 : 0;
    }
    if (status != PERP_STATUS_OK || best.solved) {
        return status == PERP_STATUS_OK ? perp_rigid_finish(step, error) : status;
    }
    return explain(step, &best, error);
}
