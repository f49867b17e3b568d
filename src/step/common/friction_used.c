#include <perp/step.h>

#include "scene/cone.h"
#include "step/common/rung_cone.h"

perp_cone perp_rung_cone(const perp_rung *rung, const perp_run_settings *settings)
{
    return settings && settings->cone != PERP_CONE_UNSET ? settings->cone : rung ? rung->own_cone : PERP_CONE_UNSET;
}

double perp_friction_used(perp_cone cone, int rays, const perp_contact_record *record,
                          const perp_element_record *elements)
{
    const perp_cone section = record->contact.direction_count < 2 ? PERP_CONE_UNSET : cone;
    if (!elements || record->element_count == 0) {
        return perp_cone_measure(section, rays, record->ft);
    }
    double used = 0.0;
    for (int e = 0; e < record->element_count; e++) {
        used += perp_cone_measure(section, rays, elements[record->element_start + e].ft);
    }
    return used;
}

double perp_friction_limit(const perp_contact_record *record, const perp_element_record *elements)
{
    if (!elements || record->element_count == 0) {
        return record->contact.friction * record->fn;
    }
    double limit = 0.0;
    for (int e = 0; e < record->element_count; e++) {
        limit += elements[record->element_start + e].limit;
    }
    return limit;
}
