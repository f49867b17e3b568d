#include "shape_reference.h"

#include <math.h>

static double to_segment(perp_vec3 x, perp_vec3 p, perp_vec3 q)
{
    const perp_vec3 d = perp_vec3_sub(q, p), r = perp_vec3_sub(x, p);
    const double share = perp_vec3_dot(d, r) / perp_vec3_dot(d, d);
    return perp_vec3_norm(perp_vec3_add_scaled(r, -fmin(fmax(share, 0.0), 1.0), d));
}

/* Of a box, a cylinder, or a bore with its plate: by how much each of its pairs of faces is passed. */
static double past_faces(double x, double y, double z)
{
    const double most = fmax(x, fmax(y, z));
    return most <= 0.0 ? most : hypot(hypot(fmax(x, 0.0), fmax(y, 0.0)), fmax(z, 0.0));
}

/* The nearest point is y = h^2 x / (t + h^2) by component. The sum of (y / h)^2 falls and is convex in t, so that
 * Newton's method from t = 0, of a point outside, climbs to where it is 1. Inside: to first order. */
static double to_ellipsoid(perp_vec3 point, perp_vec3 size)
{
    const double x[3] = {point.x, point.y, point.z}, h[3] = {size.x, size.y, size.z};
    double t = 0.0, off = 0.0;
    for (int k = 0; k < 60; k++) {
        double sum = -1.0, slope = 0.0;
        for (int i = 0; i < 3; i++) {
            const double e = h[i] * x[i] / (t + h[i] * h[i]);
            sum += e * e;
            slope += 2.0 * e * e / (t + h[i] * h[i]);
        }
        if (k == 0 && sum < 0.0) {
            return 0.5 * sum /
                   perp_vec3_norm(perp_vec3_make(x[0] / (h[0] * h[0]), x[1] / (h[1] * h[1]), x[2] / (h[2] * h[2])));
        }
        t += slope > 0.0 ? sum / slope : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        off += pow(x[i] * t / (t + h[i] * h[i]), 2.0);
    }
    return sqrt(off);
}

static double to_triangle(perp_vec3 x, const perp_vec3 c[3], perp_vec3 n)
{
    double least = INFINITY;
    bool above = true;
    for (int k = 0; k < 3; k++) {
        const perp_vec3 p = c[k], q = c[(k + 1) % 3];
        least = fmin(least, to_segment(x, p, q));
        above = above && perp_vec3_dot(perp_vec3_cross(n, perp_vec3_sub(q, p)), perp_vec3_sub(x, p)) >= 0.0;
    }
    return above ? fabs(perp_vec3_dot(n, perp_vec3_sub(x, c[0]))) : least;
}

static double to_hull(const perp_shape *s, perp_vec3 x)
{
    double least = INFINITY, highest = -INFINITY;
    for (int i = 0; i < s->hull_triangle_count; i++) {
        const int *corner = s->hull_triangles + 3 * i;
        const perp_vec3 c[3] = {s->hull_points[corner[0]], s->hull_points[corner[1]], s->hull_points[corner[2]]};
        const perp_vec3 n = perp_vec3_normalise(perp_vec3_cross(perp_vec3_sub(c[1], c[0]), perp_vec3_sub(c[2], c[0])));
        highest = fmax(highest, perp_vec3_dot(n, perp_vec3_sub(x, c[0])));
        least = fmin(least, to_triangle(x, c, n));
    }
    return highest <= 0.0 ? highest : least;
}

/* Inside where a ray crosses its edges an odd number of times. */
static double to_polygon(const perp_shape *s, perp_vec3 x)
{
    double least = INFINITY;
    bool inside = false;
    for (int i = 0; i < s->point_count; i++) {
        const perp_vec3 p = s->points[i], q = s->points[(i + 1) % s->point_count];
        least = fmin(least, to_segment(x, p, q));
        if ((p.y > x.y) != (q.y > x.y) && x.x < p.x + (x.y - p.y) / (q.y - p.y) * (q.x - p.x)) {
            inside = !inside;
        }
    }
    return inside ? -least : least;
}

static perp_vec3 along_axis(bool planar, double at)
{
    return planar ? perp_vec3_make(at, 0.0, 0.0) : perp_vec3_make(0.0, 0.0, at);
}

double shape_reference_distance(const perp_shape *s, bool planar, perp_vec3 x)
{
    const double across = hypot(x.x, x.y), half = 0.5 * s->length;
    switch (s->kind) {
    case PERP_SHAPE_POINT:
        return perp_vec3_norm(x);
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_DISC:
        return perp_vec3_norm(x) - s->radius;
    case PERP_SHAPE_BOX:
        return past_faces(fabs(x.x) - 0.5 * s->size.x, fabs(x.y) - 0.5 * s->size.y,
                          planar ? -INFINITY : fabs(x.z) - 0.5 * s->size.z);
    case PERP_SHAPE_CAPSULE:
        return to_segment(x, along_axis(planar, -half), along_axis(planar, half)) - s->radius;
    case PERP_SHAPE_CYLINDER:
        return past_faces(across - s->radius, fabs(x.z) - half, -INFINITY);
    case PERP_SHAPE_HOLE:
        return past_faces(s->radius - across, planar ? -INFINITY : fabs(x.z) - half, -INFINITY);
    case PERP_SHAPE_ELLIPSOID:
        return to_ellipsoid(x, s->size);
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
        return perp_vec3_dot(s->normal, x) - s->offset;
    case PERP_SHAPE_MESH:
        return to_hull(s, x);
    case PERP_SHAPE_POLYGON:
        return to_polygon(s, x);
    case PERP_SHAPE_NONE:
        break;
    }
    return NAN;
}

double shape_reference_thickness(const perp_shape *s, bool planar)
{
    double least = INFINITY;
    if (s->kind == PERP_SHAPE_BOX || s->kind == PERP_SHAPE_ELLIPSOID) {
        return fmin(fmin(s->size.x, s->size.y), planar ? INFINITY : s->size.z);
    }
    const bool listed = s->kind == PERP_SHAPE_POLYGON || s->kind == PERP_SHAPE_MESH;
    const perp_vec3 *points = s->kind == PERP_SHAPE_MESH ? s->hull_points : s->points;
    const int count = s->kind == PERP_SHAPE_MESH ? s->hull_point_count : s->point_count;
    for (int i = 0; listed && i < count; i++) {
        for (int k = 0; k < i; k++) {
            least = fmin(least, perp_vec3_norm(perp_vec3_sub(points[i], points[k])));
        }
    }
    return s->radius > 0.0 ? fmin(s->radius, s->kind == PERP_SHAPE_CYLINDER ? s->length : INFINITY) : least;
}

bool shape_reference_place(const perp_shape *s, bool planar, int k, perp_vec3 *place, double *radius)
{
    *radius = 0.0;
    switch (s->kind) {
    case PERP_SHAPE_BOX:
        *place = perp_vec3_make((k & 1 ? 0.5 : -0.5) * s->size.x, (k & 2 ? 0.5 : -0.5) * s->size.y,
                                planar ? 0.0 : (k & 4 ? 0.5 : -0.5) * s->size.z);
        return k < (planar ? 4 : 8);
    case PERP_SHAPE_POINT:
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_DISC:
        *place = perp_vec3_make(0.0, 0.0, 0.0);
        *radius = s->radius;
        return k < 1;
    case PERP_SHAPE_CAPSULE:
        *place = along_axis(planar, (k ? 0.5 : -0.5) * s->length);
        *radius = s->radius;
        return k < 2;
    case PERP_SHAPE_CYLINDER: /* eight places of each rim */
        *place = perp_vec3_make(s->radius * cos(k * atan(1.0)), s->radius * sin(k * atan(1.0)),
                                (k < 8 ? 0.5 : -0.5) * s->length);
        return k < 16;
    case PERP_SHAPE_MESH:
        *place = k < s->hull_point_count ? s->hull_points[k] : perp_vec3_make(0.0, 0.0, 0.0);
        return k < s->hull_point_count;
    case PERP_SHAPE_POLYGON:
        *place = k < s->point_count ? s->points[k] : perp_vec3_make(0.0, 0.0, 0.0);
        return k < s->point_count;
    case PERP_SHAPE_ELLIPSOID:
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
    case PERP_SHAPE_HOLE:
    case PERP_SHAPE_NONE:
        break;
    }
    return false;
}
