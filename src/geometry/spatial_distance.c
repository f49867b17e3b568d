/* spatial_distance.c - signed distance of two spatial shapes: which method for which pair. */
#include "geometry/spatial_core.h"

/* Adds the radii to what was found for the cores. The witnesses meet point_b - point_a = phi normal exactly; what they
 * were off (no more than the tolerance) is shared between them. */
static perp_separation grow(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_separation s)
{
    const perp_vec3 off = perp_vec3_add_scaled(perp_vec3_sub(s.point_b, s.point_a), -s.phi, s.normal);
    const perp_vec3 origin = a->position;
    s.point_a = perp_vec3_add_scaled(perp_vec3_add_scaled(s.point_a, 0.5, off), a->radius, s.normal);
    s.phi -= a->radius + b->radius;
    s.point_a = perp_vec3_add(s.point_a, origin);
    s.point_b = perp_vec3_add_scaled(s.point_a, s.phi, s.normal);
    return s;
}

static perp_separation mirror(perp_separation s)
{
    const perp_vec3 point = s.point_a;
    s.point_a = s.point_b;
    s.point_b = point;
    s.normal = perp_vec3_scale(-1.0, s.normal);
    return s;
}

static perp_vec3 normal_of(const perp_spatial_shape *plane)
{
    return perp_vec3_make(plane->rotation.m[2], plane->rotation.m[5], plane->rotation.m[8]);
}

/* The core is a. */
static perp_separation core_halfspace(const perp_spatial_shape *shape, const perp_spatial_shape *plane)
{
    spatial_core core;
    perp_spatial_core_place(shape, shape->position, &core);
    const perp_vec3 down = perp_vec3_scale(-1.0, normal_of(plane));
    const perp_vec3 lowest =
        perp_vec3_add(shape->position, spatial_core_corner(&core, perp_spatial_core_support(&core, down)));
    perp_separation s = {.normal = down, .point_a = perp_vec3_add_scaled(lowest, shape->radius, down)};
    s.phi = perp_vec3_dot(normal_of(plane), lowest) - perp_vec3_dot(normal_of(plane), plane->position) - shape->radius;
    s.point_b = perp_vec3_add_scaled(s.point_a, s.phi, down);
    return s;
}

static bool slender(const spatial_core *core)
{
    return core->face_count == 0;
}

static perp_vec3 direction_of(const spatial_core *core)
{
    return perp_vec3_normalise(perp_vec3_sub(spatial_core_corner(core, 1), spatial_core_corner(core, 0)));
}

/* The normal of points and segments that meet. */
static perp_vec3 slender_normal(const spatial_core *a, const spatial_core *b)
{
    perp_vec3 t = {1.0, 0.0, 0.0}, o;
    if (a->edge_count > 0 && b->edge_count > 0) {
        const perp_vec3 x = perp_vec3_cross(direction_of(a), direction_of(b));
        if (perp_vec3_norm(x) > 1e-9) {
            return perp_vec3_normalise(x);
        }
    }
    if (a->edge_count > 0 || b->edge_count > 0) {
        perp_tangents(direction_of(a->edge_count > 0 ? a : b), &t, &o);
    }
    return t;
}

/* Points and segments. */
static perp_separation slender_pair(const spatial_core *a, const spatial_core *b)
{
    const perp_vec3 a0 = spatial_core_corner(a, 0), a1 = spatial_core_corner(a, a->corner_count - 1);
    const perp_vec3 b0 = spatial_core_corner(b, 0), b1 = spatial_core_corner(b, b->corner_count - 1);
    perp_separation s = {.tie = false};
    perp_spatial_segments(a0, a1, b0, b1, &s.point_a, &s.point_b);
    const perp_vec3 v = perp_vec3_sub(s.point_b, s.point_a);
    s.phi = perp_vec3_norm(v);
    if (s.phi > perp_spatial_tolerance(a, b)) {
        s.normal = perp_vec3_scale(1.0 / s.phi, v);
        return s;
    }
    s.tie = true;
    s.normal = slender_normal(a, b);
    const double along = perp_vec3_dot(v, s.normal); /* crossing lines know which side */
    s.normal = along < 0.0 ? perp_vec3_scale(-1.0, s.normal) : s.normal;
    return s;
}

/* A point outside a box, the box being a; false if it is inside or nearly so. */
static bool box_point(const spatial_core *box, const spatial_core *point, perp_separation *s)
{
    const perp_vec3 h = box->corners[7];
    const perp_vec3 x = perp_mat3_tmul_vec(&box->rotation, perp_vec3_sub(point->position, box->position));
    const perp_vec3 c =
        perp_vec3_make(fmin(fmax(x.x, -h.x), h.x), fmin(fmax(x.y, -h.y), h.y), fmin(fmax(x.z, -h.z), h.z));
    const perp_vec3 v = perp_vec3_sub(x, c);
    *s = (perp_separation){.phi = perp_vec3_norm(v), .point_b = point->position};
    if (s->phi <= perp_spatial_tolerance(box, point)) {
        return false;
    }
    s->normal = perp_mat3_mul_vec(&box->rotation, perp_vec3_scale(1.0 / s->phi, v));
    s->point_a = perp_vec3_add(box->position, perp_mat3_mul_vec(&box->rotation, c));
    return true;
}

/* Features were compared, which does not tell cores that pierce each other from cores that are apart. The normal of the
 * former is wrong by far more than rounding of the corners can turn it. */
static bool may_separate(const spatial_core *a, const spatial_core *b, const spatial_nearest *r)
{
    const double extent = a->size + b->size + r->distance;
    return perp_spatial_core_gap_along(a, b, r->normal) >= -4e-15 * extent * extent / r->distance;
}

static perp_separation core_pair(const spatial_core *a, const spatial_core *b)
{
    const double tolerance = perp_spatial_tolerance(a, b);
    perp_separation s;
    if (slender(a) && slender(b)) {
        return slender_pair(a, b);
    }
    if (a->box && b->corner_count == 1 && box_point(a, b, &s)) {
        return s;
    }
    if (b->box && a->corner_count == 1 && box_point(b, a, &s)) {
        return mirror(s);
    }
    const perp_vec3 guess = perp_vec3_sub(b->position, a->position);
    const spatial_nearest r = perp_spatial_gjk(a, b, guess, tolerance);
    const perp_separation open = {.phi = r.distance, .normal = r.normal, .point_a = r.point_a, .point_b = r.point_b};
    if (r.distance > tolerance && !r.fell_back) {
        return open;
    }
    bool apart;
    s = perp_spatial_sat(a, b, tolerance, &apart);
    if (r.distance <= tolerance) {
        s.phi = apart ? fmax(s.phi, r.distance) : s.phi;
        return s;
    }
    return apart && may_separate(a, b, &r) ? open : s;
}

perp_separation perp_spatial_distance(const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    const bool plane_a = a->kind == PERP_SPATIAL_HALFSPACE, plane_b = b->kind == PERP_SPATIAL_HALFSPACE;
    if (plane_a && plane_b) {
        return (perp_separation){.phi = INFINITY};
    }
    if (plane_b) {
        return core_halfspace(a, b);
    }
    if (plane_a) {
        return mirror(core_halfspace(b, a));
    }
    spatial_core core_a, core_b;
    perp_spatial_core_place(a, a->position, &core_a);
    perp_spatial_core_place(b, a->position, &core_b);
    return grow(a, b, core_pair(&core_a, &core_b));
}
