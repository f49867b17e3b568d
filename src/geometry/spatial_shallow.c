/* spatial_shallow.c - curved cores that overlap a little: a stationary normal that proves to be the best one.
 *
 * Let n be stationary, at the depth d, and let a ball of radius R inside D touch the boundary of D where the nearest
 * point is. Along a direction at the angle w from that point's outer normal the origin is no less deep than
 * R - (R - d) cos w, which is d or more for R >= d: then no direction is less deep. D = B - A has such a ball if its
 * radius is no more than the sum of those of balls inside A and B that touch at the witnesses, and those are known: a
 * ball with the smallest radius of curvature rolls freely in an ellipsoid (Blaschke), and on the flat end or the side
 * of a cylinder or on a face the largest ball is easily measured. On rims, edges and corners there is none.
 *
 * So the depth needs no search over all directions unless the cores are deep in each other or sharp where they meet.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

static double ball_in_hull(const perp_spatial_hull *hull, perp_vec3 x, perp_vec3 n)
{
    double radius = INFINITY;
    bool on_face = false;
    for (int i = 0; i < hull->face_count; i++) {
        const perp_spatial_face *f = &hull->faces[i];
        const double turn = 1.0 - perp_vec3_dot(f->normal, n);
        if (turn <= 0.5 * ON_FACE * ON_FACE) {
            on_face = true;
        } else {
            radius = fmin(radius, fmax(f->offset - perp_vec3_dot(f->normal, x), 0.0) / turn);
        }
    }
    return on_face ? radius : 0.0;
}

/* The radius of a ball inside the core that touches its surface at x, where the outer normal is n; both local. */
static double ball_inside(const spatial_core *core, perp_vec3 x, perp_vec3 n)
{
    const perp_vec3 h = core->half;
    switch (core->kind) {
    case PERP_SPATIAL_ELLIPSOID: {
        const double least = fmin(h.x, fmin(h.y, h.z)), most = fmax(h.x, fmax(h.y, h.z));
        return least * (least / most);
    }
    case PERP_SPATIAL_CYLINDER:
        if (hypot(n.x, n.y) <= ON_FACE) {
            return fmax(fmin(core->half_length, core->radius - hypot(x.x, x.y)), 0.0);
        }
        return fabs(n.z) <= ON_FACE ? fmax(fmin(core->radius, core->half_length - fabs(x.z)), 0.0) : 0.0;
    case PERP_SPATIAL_BOX: {
        const double dx = fmax(h.x - fabs(x.x), 0.0), dy = fmax(h.y - fabs(x.y), 0.0), dz = fmax(h.z - fabs(x.z), 0.0);
        if (hypot(n.y, n.z) <= ON_FACE) {
            return fmin(h.x, fmin(dy, dz));
        }
        if (hypot(n.x, n.z) <= ON_FACE) {
            return fmin(h.y, fmin(dx, dz));
        }
        return hypot(n.x, n.y) <= ON_FACE ? fmin(h.z, fmin(dx, dy)) : 0.0;
    }
    case PERP_SPATIAL_HULL:
        return ball_in_hull(core->hull, x, n);
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return 0.0;
}

bool perp_spatial_shallow(spatial_pair *pair, perp_vec3 guess, spatial_result *result, perp_spatial_trace *trace)
{
    const spatial_hint hint = {.count = 0, .target = -INFINITY};
    trace->polishes++;
    if (!(perp_vec3_norm(guess) > 0.0) || /* coinciding centres */
        !perp_spatial_polish(pair, guess, &hint, IN_LINE * pair->extent, result) || result->phi > pair->tolerance) {
        return false;
    }
    const perp_vec3 n = result->normal;
    const double ball =
        ball_inside(&pair->a, spatial_point_local(&pair->a, result->on_a), spatial_to_local(&pair->a, n)) +
        ball_inside(&pair->b, spatial_point_local(&pair->b, result->on_b),
                    spatial_to_local(&pair->b, spatial_negative(n)));
    /* Well above the depth, so that no normal at a visible angle ties. */
    return ball >= 1.25 * -result->phi + 50.0 * pair->tolerance;
}
