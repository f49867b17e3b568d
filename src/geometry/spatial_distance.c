/* spatial_distance.c - signed distance of two spatial shapes: which method for which pair, and the way to the world. */
#include "geometry/spatial_core.h"
#include "geometry/spatial_hole.h"

static perp_separation mirror(perp_separation s)
{
    const perp_vec3 point = s.point_a;
    s.point_a = s.point_b;
    s.point_b = point;
    s.normal = spatial_negative(s.normal);
    return s;
}

static bool bounded(const perp_spatial_shape *shape)
{
    return shape->kind < PERP_SPATIAL_HALFSPACE;
}

/* What a shape is grown by around its core. */
static double rounding_of(const perp_spatial_shape *shape)
{
    return shape->kind == PERP_SPATIAL_POINT || shape->kind == PERP_SPATIAL_SEGMENT ? shape->radius : 0.0;
}

/* The bounded shape is a. */
static perp_separation on_halfspace(const perp_spatial_shape *shape, const perp_spatial_shape *plane)
{
    spatial_pair pair;
    perp_spatial_pair_place(shape, shape, INFINITY, &pair);
    const perp_vec3 up = perp_vec3_make(plane->rotation.m[2], plane->rotation.m[5], plane->rotation.m[8]);
    const perp_vec3 down = spatial_negative(up);
    const perp_vec3 low = perp_spatial_support(&pair.a, perp_mat3_tmul_vec(&shape->rotation, down)).at;
    const perp_vec3 lowest = perp_vec3_add(shape->position, perp_mat3_mul_vec(&shape->rotation, low));
    perp_separation s = {.normal = down, .point_a = perp_vec3_add_scaled(lowest, rounding_of(shape), down)};
    s.phi = perp_vec3_dot(up, perp_vec3_sub(lowest, plane->position)) - rounding_of(shape);
    s.point_b = perp_vec3_add_scaled(s.point_a, s.phi, down);
    return s;
}

/* Signed distance of cores, by the first method that knows. */
static void cores(spatial_pair *pair, spatial_result *r, perp_spatial_trace *trace)
{
    const bool boxes = pair->a.kind == PERP_SPATIAL_BOX && pair->b.kind == PERP_SPATIAL_BOX;
    if (boxes ? perp_spatial_by_box_axes(pair, r, trace)
              : perp_spatial_by_formula(pair, r) || perp_spatial_by_faces(pair, r)) {
        return;
    }
    perp_vec3 start = pair->b.position;
    for (int attempt = 0; attempt < 2; attempt++) {
        const spatial_verdict verdict = perp_spatial_gjk(pair, start, r, trace);
        if (verdict == SPATIAL_APART || verdict == SPATIAL_BEYOND) {
            return;
        }
        const spatial_result seen = *r;
        if (perp_spatial_curved(pair) && verdict == SPATIAL_OVERLAP &&
            (perp_spatial_shallow(pair, seen.normal, r, trace) ||
             perp_spatial_shallow(pair, perp_vec3_normalise(pair->b.position), r, trace))) {
            return;
        }
        if (perp_spatial_epa(pair, start, r, trace)) {
            if (verdict == SPATIAL_OVERLAP) { /* apart within the tolerance: that distance holds */
                r->phi = seen.phi > 0.0 ? fmax(seen.phi, r->phi) : r->phi;
            }
            return;
        }
        start = r->normal; /* apart after all: once more, without trust in thin tetrahedra */
        *r = verdict == SPATIAL_UNSURE ? seen : *r;
        pair->wary = true;
    }
    trace->limit = true;
}

/* Adds the radii to what was found for the cores and goes to the world. The witnesses meet point_b - point_a =
 * phi normal exactly; what they were off is shared between them. */
static perp_separation finish(const perp_spatial_shape *a, const perp_spatial_shape *b, const spatial_result *r)
{
    perp_separation s = {.phi = r->phi - rounding_of(a) - rounding_of(b), .tie = r->tie};
    if (r->beyond) {
        return s;
    }
    const perp_vec3 off = perp_vec3_add_scaled(perp_vec3_sub(r->on_b, r->on_a), -r->phi, r->normal);
    perp_vec3 on_a = perp_vec3_add_scaled(r->on_a, 0.5, off);
    on_a = perp_vec3_add_scaled(on_a, rounding_of(a), r->normal);
    s.normal = perp_vec3_normalise(perp_mat3_mul_vec(&a->rotation, r->normal));
    s.point_a = perp_vec3_add(a->position, perp_mat3_mul_vec(&a->rotation, on_a));
    s.point_b = perp_vec3_add_scaled(s.point_a, s.phi, s.normal);
    return s;
}

perp_separation perp_spatial_distance_traced(const perp_spatial_shape *a, const perp_spatial_shape *b, double limit,
                                             perp_spatial_trace *trace)
{
    *trace = (perp_spatial_trace){.limit = false};
    if (!bounded(a) && !bounded(b)) {
        return (perp_separation){.phi = INFINITY};
    }
    if (!bounded(b)) {
        return b->kind == PERP_SPATIAL_HOLE ? perp_spatial_hole_distance(a, b) : on_halfspace(a, b);
    }
    if (!bounded(a)) {
        return mirror(a->kind == PERP_SPATIAL_HOLE ? perp_spatial_hole_distance(b, a) : on_halfspace(b, a));
    }
    spatial_pair pair;
    spatial_result r = {.phi = INFINITY};
    perp_spatial_pair_place(a, b, limit + rounding_of(a) + rounding_of(b), &pair);
    if (pair.limit < INFINITY) { /* most pairs whose boxes overlap only at their corners are parted by this line */
        const double between = perp_vec3_norm(pair.b.position);
        const perp_vec3 line = between > 0.0 ? perp_vec3_scale(1.0 / between, pair.b.position) : pair.b.position;
        const double least = perp_spatial_gap_along(&pair, line);
        if (least > pair.limit) {
            return (perp_separation){.phi = least - rounding_of(a) - rounding_of(b)};
        }
    }
    cores(&pair, &r, trace);
    perp_separation s = finish(a, b, &r);
    s.uncertified = trace->limit;
    return s;
}

perp_separation perp_spatial_distance(const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    perp_spatial_trace trace;
    return perp_spatial_distance_traced(a, b, INFINITY, &trace);
}
