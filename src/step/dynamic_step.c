/* A dynamic step with rigid contact: Stewart and Trinkle's form, and where that has no answer, because bodies overlap
 * that the step cannot part, Anitescu and Potra's, which always has one (slide 36). */
#include "step/dynamic.h"

/* Proofs are looked for in either unit of velocities: that of the inertia tells a jam that is small beside the scene,
 * the other one bodies of very different mass. */
static perp_status explain(perp_quasistatic *qs, const rigid_attempt *best, perp_error *error)
{
    rigid_step *s = qs->own;
    perp_status status = PERP_STATUS_NOT_CONVERGED;
    for (int units = 0; units < 2 && status == PERP_STATUS_NOT_CONVERGED; units++) {
        s->in_sizes = units > 0;
        bool proven = false;
        status = perp_rigid_begin(qs, error);
        status = status == PERP_STATUS_OK ? perp_rigid_prove_none(qs, &proven, error) : status;
        if (status == PERP_STATUS_OK) {
            status = perp_rigid_explain(qs, best->method, fmin(best->residual, 1e300), error);
        }
    }
    s->in_sizes = false;
    return status;
}

perp_status perp_dynamic_rigid_step(perp_quasistatic *qs, rigid_method first, rigid_method second, perp_error *error)
{
    const rigid_method methods[2] = {first, second};
    rigid_attempt best;
    if (qs->free_count == 0) {
        return perp_rigid_begin(qs, error);
    }
    perp_status status = perp_rigid_try(qs, methods, &best, error);
    if ((status == PERP_STATUS_OK || best.impossible) && !best.solved && perp_dynamic_unstabilise(qs)) {
        status = perp_rigid_try(qs, methods, &best, error);
        qs->info->fallbacks[PERP_FALLBACK_UNSTABILISED] += status == PERP_STATUS_OK && best.solved ? 1 : 0;
    }
    if (best.solved) {
        return status == PERP_STATUS_OK ? perp_rigid_finish(qs, error) : status;
    }
    return status == PERP_STATUS_OK || best.impossible ? explain(qs, &best, error) : status;
}
