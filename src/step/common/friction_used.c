#include <perp/step.h>

#include <math.h>

perp_cone perp_rung_cone(const perp_rung *rung, const perp_run_settings *settings)
{
    return settings && settings->cone != PERP_CONE_UNSET ? settings->cone : rung ? rung->own_cone : PERP_CONE_UNSET;
}

/* `directions`: of the friction force. */
static double measure(perp_cone cone, int rays, int directions, const double ft[2])
{
    static const double TURN = 6.283185307179586;
    const double x = ft[0], y = ft[1];
    if (directions < 2 || cone == PERP_CONE_QUADRATIC || cone == PERP_CONE_UNSET) {
        return hypot(x, y);
    }
    if (cone == PERP_CONE_BOX) {
        return fmax(fabs(x), fabs(y));
    }
    /* The side of the polygon that the force points through, by the angle of its normal. */
    const double side = TURN / rays, angle = atan2(y, x), normal = side * (floor(angle / side) + 0.5);
    return hypot(x, y) * cos(angle - normal) / cos(0.5 * side);
}

double perp_friction_used(perp_cone cone, int rays, const perp_contact_record *record,
                          const perp_element_record *elements)
{
    const int directions = record->contact.direction_count;
    if (!elements || record->element_count == 0) {
        return measure(cone, rays, directions, record->ft);
    }
    double used = 0.0;
    for (int e = 0; e < record->element_count; e++) {
        used += measure(cone, rays, directions, elements[record->element_start + e].ft);
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
