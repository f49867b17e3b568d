/* planar_distance.c - signed distance of planar shapes: from the deciding features to phi, normal and witnesses.
 *
 * A radius grows a core evenly, so phi(core + r) = phi(core) - r, inside as well as outside, and the normal is the
 * core's.
 */
#include "geometry/planar_private.h"

#include <assert.h>

perp_separation perp_planar_separation(const perp_planar_shape *a, const perp_planar_shape *b, perp_vec3 core_a,
                                       perp_vec3 core_b, planar_vec normal, bool tie)
{
    perp_separation s = {.tie = tie, .normal = perp_vec3_make(normal.x, normal.y, 0.0)};
    s.phi = planar_dot(planar_sub(core_b, core_a), normal) - a->radius - b->radius;
    s.point_a = planar_move(core_a, a->radius, normal);
    s.point_b = planar_move(core_b, -b->radius, normal);
    return s;
}

perp_separation perp_planar_mirror(perp_separation s)
{
    const perp_separation r = {.phi = s.phi,
                               .normal = perp_vec3_make(-s.normal.x, -s.normal.y, 0.0),
                               .point_a = s.point_b,
                               .point_b = s.point_a,
                               .tie = s.tie};
    return r;
}

/* ---- cores ---------------------------------------------------------------------------------------------------- */

static perp_separation core_core(const perp_planar_shape *a, const perp_planar_shape *b)
{
    const planar_features f = perp_planar_core_features(a, b);
    if (f.none) {
        return (perp_separation){.phi = INFINITY};
    }
    if (f.kind == PLANAR_CORNERS) {
        return perp_planar_separation(a, b, a->corners[f.edge], b->corners[f.corner], f.normal, f.tie);
    }
    const bool of_a = f.kind == PLANAR_EDGE_OF_A;
    const perp_planar_shape *p = of_a ? a : b;
    const planar_vec outer = of_a ? f.normal : (planar_vec){-f.normal.x, -f.normal.y};
    const double level = planar_dot(outer, planar_sub(f.above, p->corners[f.edge]));
    const perp_vec3 foot = planar_move(f.above, -level, outer);
    return perp_planar_separation(a, b, of_a ? foot : f.above, of_a ? f.above : foot, f.normal, f.tie);
}

/* ---- halfplane and hole ---------------------------------------------------------------------------------------- */

int perp_planar_lowest_corner(const perp_planar_shape *core, const perp_planar_shape *plane)
{
    const planar_vec normal = {plane->normal.x, plane->normal.y};
    int best = 0;
    double lowest = INFINITY;
    for (int i = 0; i < core->count; i++) {
        const double h = normal.x * core->corners[i].x + normal.y * core->corners[i].y;
        if (h < lowest) {
            lowest = h;
            best = i;
        }
    }
    const planar_vec down = {-normal.x, -normal.y};
    return !core->borders || perp_planar_leaves_corner(core, best, down, perp_planar_tolerance(core, plane)) ? best
                                                                                                             : -1;
}

perp_separation perp_planar_corner_on_halfplane(const perp_planar_shape *core, int corner,
                                                const perp_planar_shape *plane)
{
    const perp_vec3 p = core->corners[corner];
    const planar_vec up = {plane->normal.x, plane->normal.y};
    const double level = up.x * p.x + up.y * p.y - plane->offset;
    perp_separation s = {.phi = level - core->radius, .normal = perp_vec3_make(-up.x, -up.y, 0.0)};
    s.point_a = planar_move(p, -core->radius, up);
    s.point_b = planar_move(p, -level, up);
    return s;
}

static planar_vec radial(planar_vec from_centre, double distance, double tolerance)
{
    return distance <= planar_coincide(tolerance) ? (planar_vec){1.0, 0.0}
                                                  : (planar_vec){from_centre.x / distance, from_centre.y / distance};
}

perp_separation perp_planar_corner_in_hole(const perp_planar_shape *core, int corner, const perp_planar_shape *hole)
{
    const double tolerance = perp_planar_tolerance(core, hole);
    const planar_vec d = planar_sub(core->corners[corner], hole->centre);
    const double distance = sqrt(planar_dot(d, d));
    const planar_vec out = radial(d, distance, tolerance);
    perp_separation s = {.normal = perp_vec3_make(out.x, out.y, 0.0), .tie = distance <= planar_coincide(tolerance)};
    s.phi = hole->radius - core->radius - planar_dot(d, out);
    s.point_a = planar_move(core->corners[corner], core->radius, out);
    s.point_b = planar_move(s.point_a, s.phi, out);
    return s;
}

/* The gap is that of the corner's disc and the tangent of the circle there. Wherever the disc goes, it is in the circle
 * as long as no such gap, taken in all directions, is below zero: so a step that keeps it at zero or more is held by
 * the wall as the circle's own tangent holds it. The witnesses are where the two surfaces have the normal; from one to
 * the other it is then also |corner - centre| along the wall at the quarters beside the nearest place. */
perp_separation perp_planar_corner_across_hole(const perp_planar_shape *core, int corner, const perp_planar_shape *hole,
                                               int quarters)
{
    perp_separation s = perp_planar_corner_in_hole(core, corner, hole);
    planar_vec out = {s.normal.x, s.normal.y};
    for (int k = 0; k < quarters; k++) {
        out = (planar_vec){-out.y, out.x};
    }
    const planar_vec d = planar_sub(core->corners[corner], hole->centre);
    s.normal = perp_vec3_make(out.x, out.y, 0.0);
    s.phi = hole->radius - core->radius - planar_dot(d, out);
    s.point_a = planar_move(core->corners[corner], core->radius, out);
    s.point_b = planar_move(hole->centre, hole->radius, out);
    return s;
}

int perp_planar_farthest_corner(const perp_planar_shape *core, const perp_planar_shape *hole, bool *tie)
{
    double farthest = 0.0;
    for (int i = 0; i < core->count; i++) {
        const planar_vec d = planar_sub(core->corners[i], hole->centre);
        farthest = planar_is_outer(core, i) ? fmax(farthest, planar_dot(d, d)) : farthest;
    }
    const double tolerance = perp_planar_tolerance(core, hole);
    const double enough = fmax(sqrt(farthest) - tolerance, 0.0);
    int best = -1;
    planar_vec first = {0.0, 0.0};
    *tie = sqrt(farthest) <= planar_coincide(tolerance);
    for (int i = 0; i < core->count; i++) {
        const planar_vec d = planar_sub(core->corners[i], hole->centre);
        const double distance = sqrt(planar_dot(d, d));
        if (distance < enough || !planar_is_outer(core, i)) {
            continue;
        }
        const planar_vec out = radial(d, distance, tolerance);
        if (best < 0) {
            best = i;
            first = out;
        } else {
            *tie = *tie || planar_differ(first, out);
        }
    }
    return best;
}

static perp_separation core_halfplane(const perp_planar_shape *core, const perp_planar_shape *plane)
{
    const int corner = perp_planar_lowest_corner(core, plane);
    return corner < 0 ? (perp_separation){.phi = INFINITY} : perp_planar_corner_on_halfplane(core, corner, plane);
}

static perp_separation core_hole(const perp_planar_shape *core, const perp_planar_shape *hole)
{
    bool tie = false;
    const int corner = perp_planar_farthest_corner(core, hole, &tie);
    if (corner < 0) {
        return (perp_separation){.phi = INFINITY};
    }
    perp_separation s = perp_planar_corner_in_hole(core, corner, hole);
    s.tie = tie;
    return s;
}

perp_separation perp_planar_distance(const perp_planar_shape *a, const perp_planar_shape *b)
{
    if (a->kind == PERP_PLANAR_CORE) {
        switch (b->kind) {
        case PERP_PLANAR_CORE:
            return core_core(a, b);
        case PERP_PLANAR_HALFPLANE:
            return core_halfplane(a, b);
        case PERP_PLANAR_HOLE:
            return core_hole(a, b);
        }
    } else if (b->kind == PERP_PLANAR_CORE) {
        return perp_planar_mirror(perp_planar_distance(b, a));
    }
    return (perp_separation){.phi = INFINITY};
}
