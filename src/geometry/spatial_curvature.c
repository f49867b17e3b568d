/* spatial_curvature.c - how a shape's surface bends at a contact. */
#include "geometry/spatial_features.h"

static perp_vec3 column(const perp_mat3 *m, int k)
{
    return perp_vec3_make(m->m[k], m->m[3 + k], m->m[6 + k]);
}

static const double sharp = 1e9; /* 1/m */

static double bend(double radius)
{
    return radius > 1.0 / sharp ? 1.0 / radius : sharp;
}

/* k u u' */
static void add_dyad(perp_mat3 *m, double k, perp_vec3 u)
{
    const double v[3] = {u.x, u.y, u.z};
    for (int i = 0; i < 9; i++) {
        m->m[i] += k * v[i / 3] * v[i % 3];
    }
}

/* k in every direction of the tangent plane. */
static perp_mat3 ball(double k, perp_vec3 n)
{
    perp_mat3 m = {{k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k}};
    add_dyad(&m, -k, n);
    return m;
}

static perp_vec3 across(perp_vec3 along, perp_vec3 n)
{
    return perp_vec3_normalise(perp_vec3_cross(along, n));
}

/* A circle of the surface about the axis: `sharp` across, and along it what the circle bends towards the normal. */
static perp_mat3 rim(const perp_spatial_shape *shape, perp_vec3 n, perp_vec3 point)
{
    const perp_vec3 axis = spatial_axis(shape);
    perp_vec3 out = perp_vec3_sub(point, shape->position);
    out = perp_vec3_normalise(perp_vec3_add_scaled(out, -perp_vec3_dot(out, axis), axis));
    const perp_vec3 along = perp_vec3_cross(axis, out);
    perp_mat3 m = {{0.0}};
    add_dyad(&m, perp_vec3_dot(n, out) * bend(shape->radius), along);
    add_dyad(&m, sharp, across(along, n));
    return m;
}

/* With f(x) = |x / half|, the curvature is P D P / |grad f| for D = diag(1 / half^2), P the projection on the tangent
 * plane; at the point with normal n the gradient's length is 1 / |half n|. */
static perp_mat3 ellipsoid(const perp_spatial_shape *shape, perp_vec3 n)
{
    const perp_vec3 h = shape->half_lengths, l = perp_mat3_tmul_vec(&shape->rotation, n);
    const double s = perp_vec3_norm(perp_vec3_make(h.x * l.x, h.y * l.y, h.z * l.z));
    const perp_mat3 p = ball(1.0, l);
    const perp_mat3 d = {{s / (h.x * h.x), 0.0, 0.0, 0.0, s / (h.y * h.y), 0.0, 0.0, 0.0, s / (h.z * h.z)}};
    const perp_mat3 local = perp_mat3_turn(&p, &d);
    return perp_mat3_turn(&shape->rotation, &local);
}

static perp_vec3 edge_along(const perp_spatial_shape *shape, int index)
{
    if (shape->kind == PERP_SPATIAL_BOX) {
        return column(&shape->rotation, index / 4);
    }
    return perp_mat3_mul_vec(&shape->rotation, shape->hull->edges[index].along);
}

perp_mat3 perp_spatial_curvature(const perp_spatial_shape *shape, int feature, perp_vec3 normal_out, perp_vec3 point)
{
    const perp_feature_kind kind = perp_feature_kind_of(feature);
    const perp_spatial_kind of = shape->kind;
    perp_mat3 m = {{0.0}};
    if (kind == PERP_FEATURE_FACE || of == PERP_SPATIAL_HALFSPACE) {
        return m;
    }
    if (of == PERP_SPATIAL_ELLIPSOID) {
        return ellipsoid(shape, normal_out);
    }
    if (kind == PERP_FEATURE_RIM) {
        return rim(shape, normal_out, point);
    }
    if (of == PERP_SPATIAL_HOLE) {
        add_dyad(&m, -bend(shape->radius), across(spatial_axis(shape), normal_out));
        return m;
    }
    if (of == PERP_SPATIAL_POINT || of == PERP_SPATIAL_SEGMENT || of == PERP_SPATIAL_CYLINDER) {
        if (kind == PERP_FEATURE_CORNER) {
            return ball(bend(shape->radius), normal_out);
        }
        add_dyad(&m, bend(shape->radius), across(spatial_axis(shape), normal_out));
        return m;
    }
    if (kind == PERP_FEATURE_EDGE) {
        add_dyad(&m, sharp, across(edge_along(shape, perp_feature_index(feature)), normal_out));
        return m;
    }
    return ball(sharp, normal_out);
}
