#include <perp/step.h>

#include <math.h>

perp_cone perp_rung_cone(const perp_rung *rung, const perp_run_settings *settings)
{
    return settings && settings->cone != PERP_CONE_UNSET ? settings->cone : rung ? rung->own_cone : PERP_CONE_UNSET;
}

double perp_friction_used(perp_cone cone, int rays, const perp_contact_record *record)
{
    static const double TURN = 6.283185307179586;
    const double x = record->ft[0], y = record->ft[1];
    if (record->contact.direction_count < 2 || cone == PERP_CONE_QUADRATIC || cone == PERP_CONE_UNSET) {
        return hypot(x, y);
    }
    if (cone == PERP_CONE_BOX) {
        return fmax(fabs(x), fabs(y));
    }
    /* The side of the polygon that the force points through, by the angle of its normal. */
    const double side = TURN / rays, angle = atan2(y, x), normal = side * (floor(angle / side) + 0.5);
    return hypot(x, y) * cos(angle - normal) / cos(0.5 * side);
}
