#include "step/common/step_rungs.h"

#include <string.h>

static const perp_rung *const ladder[] = {
    &perp_rung_geometric, &perp_rung_kinematic,    &perp_rung_qs_lcp,           &perp_rung_qs_ncp,
    &perp_rung_qs_opt,    &perp_rung_qs_lp,        &perp_rung_qs_impedance_lcp, &perp_rung_qs_qp,
    &perp_rung_qs_cone,   &perp_rung_quasidynamic, &perp_rung_dyn_lcp,          &perp_rung_dyn_ncp,
    &perp_rung_dyn_qp,    &perp_rung_compliant,    &perp_rung_instant,          &perp_rung_instant_qs,
};

const char *perp_rung_inertia_name(perp_rung_inertia inertia)
{
    static const char *const names[] = {[PERP_RUNG_INERTIA_IGNORED] = "-",
                                        [PERP_RUNG_INERTIA_NONE] = "none",
                                        [PERP_RUNG_INERTIA_ONE_STEP] = "one step",
                                        [PERP_RUNG_INERTIA_FULL] = "full"};
    return names[inertia];
}

int perp_rung_count(void)
{
    return (int)(sizeof ladder / sizeof *ladder);
}

const perp_rung *perp_rung_at(int index)
{
    return ladder[index];
}

const perp_rung *perp_rung_find(const char *name)
{
    for (int i = 0; i < perp_rung_count(); i++) {
        if (strcmp(ladder[i]->name, name) == 0) {
            return ladder[i];
        }
    }
    return NULL;
}
