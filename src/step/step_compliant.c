/* Rung `compliant`: visco-elastic contact patches with Coulomb friction, fully implicit (Song, Kumar and Pang
 * (3)-(10)); with `tangential: rigid` and `stiffness_scale` Dupont and Yamajako's full-order model. */
#include "contact/contact_reach.h"
#include "step/compliant.h"
#include "step/step_rungs.h"

static const perp_qs_law law = {
    .prescribe = PERP_PRESCRIBE_POSITION,
    .inertia = PERP_QS_FULL,
    .own_contacts = true,
    .open = perp_compliant_open,
    .close = perp_compliant_close,
    .put = perp_compliant_put,
    .take = perp_compliant_take,
};

static perp_status open_rung(perp_step_context *context, const perp_allocator *allocator, perp_error *error)
{
    perp_contact_set_stand_still(context->contacts);
    return perp_qs_open(context, &perp_rung_compliant, &law, allocator, error);
}

const perp_rung perp_rung_compliant = {
    .name = "compliant",
    .summary = "dynamics with visco-elastic contact patches, fully implicit",
    .inertia = PERP_RUNG_INERTIA_FULL,
    .contact = "visco-elastic patches",
    .friction = "quadratic cone, smoothed by gamma",
    .source = "Song et al. (3)-(10)",
    .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_TIME_SCALE | PERP_TAKES_COMPLIANCE,
    .own_cone = PERP_CONE_QUADRATIC,
    .open = open_rung,
    .close = perp_qs_close,
    .look_back = perp_compliant_look_back,
    .step = perp_compliant_step,
    .save = perp_qs_save,
    .restore = perp_qs_restore,
};
