/* spatial_choices.c - of normals that are equally good, the one that is taken: the first whose witnesses are in line
 * with it, the same every time. */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

static bool differ(perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_dot(a, b) < 0.0 || perp_vec3_norm(perp_vec3_cross(a, b)) > SAME_DIRECTION;
}

void perp_spatial_choices_add(spatial_choices *choices, const spatial_result *r)
{
    for (int i = 0; i < choices->count; i++) {
        spatial_result *known = &choices->at[i];
        if (!differ(known->normal, r->normal)) {
            const bool better = r->phi > known->phi + (known->witnessed ? WORTH_WITNESSES : 0.0);
            *known =
                better || (r->witnessed && !known->witnessed && r->phi >= known->phi - WORTH_WITNESSES) ? *r : *known;
            return;
        }
    }
    choices->tie = choices->tie || choices->count > 0;
    if (choices->count < SPATIAL_CHOICES_MAX) {
        choices->at[choices->count++] = *r;
    }
}

void perp_spatial_choices_take(spatial_pair *pair, const spatial_choices *choices, spatial_result *result,
                               perp_spatial_trace *trace)
{
    double least = INFINITY;
    *result = choices->at[0]; /* there is one: the best */
    for (int i = 0; i < choices->count && choices->measured; i++) {
        if (choices->at[i].witnessed) {
            *result = choices->at[i];
            result->tie = choices->tie;
            return;
        }
    }
    for (int i = 0; i < choices->count && least > pair->tolerance; i++) {
        spatial_result r = choices->at[i];
        double off = 0.0;
        if (!r.witnessed) {
            off = perp_spatial_touch(pair, &r, trace);
        }
        if (off < least) {
            least = off;
            *result = r;
        }
    }
    result->tie = choices->tie;
}
