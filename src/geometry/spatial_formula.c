/* spatial_formula.c - pairs with a formula: points and segments with each other, a point with a box, cylinder or
 * ellipsoid. A point inside a box or hull is left to spatial_faces.c, which is exact there. */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

void perp_spatial_segments(perp_vec3 p0, perp_vec3 p1, perp_vec3 q0, perp_vec3 q1, perp_vec3 *on_p, perp_vec3 *on_q)
{
    const perp_vec3 d = perp_vec3_sub(p1, p0), e = perp_vec3_sub(q1, q0), r = perp_vec3_sub(p0, q0);
    const double dd = perp_vec3_dot(d, d), ee = perp_vec3_dot(e, e), de = perp_vec3_dot(d, e);
    const double dr = perp_vec3_dot(d, r), er = perp_vec3_dot(e, r);
    const perp_vec3 x = perp_vec3_cross(d, e);
    const double xx = perp_vec3_dot(x, x); /* dd ee - de^2 without the cancellation */
    double s = 0.0, t = 0.0, best = INFINITY;
    if (xx > 0.0) {
        const perp_vec3 back = perp_vec3_scale(-1.0, r);
        const double si = perp_vec3_dot(perp_vec3_cross(back, e), x) / xx;
        const double ti = perp_vec3_dot(perp_vec3_cross(back, d), x) / xx;
        if (si >= 0.0 && si <= 1.0 && ti >= 0.0 && ti <= 1.0) {
            s = si;
            t = ti;
            best = perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_add_scaled(r, s, d), -t, e));
        }
    }
    /* The ends, each against the other segment; an inner answer is kept if it is as near, as it is where rounding has
     * not spoilt it (nearly parallel lines). */
    for (int k = 0; k < 4; k++) {
        const double end = k & 1 ? 1.0 : 0.0;
        double sk = end, tk = end;
        if (k < 2) {
            tk = ee > 0.0 ? fmin(fmax((er + end * de) / ee, 0.0), 1.0) : 0.0;
        } else {
            sk = dd > 0.0 ? fmin(fmax((end * de - dr) / dd, 0.0), 1.0) : 0.0;
        }
        const double length = perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_add_scaled(r, sk, d), -tk, e));
        if (length < best) {
            best = length;
            s = sk;
            t = tk;
        }
    }
    *on_p = perp_vec3_add_scaled(p0, s, d);
    *on_q = perp_vec3_add_scaled(q0, t, e);
}

/* ---- points and segments ---------------------------------------------------------------------------------------- */

static bool slender(const spatial_core *core)
{
    return core->kind == PERP_SPATIAL_POINT || core->kind == PERP_SPATIAL_SEGMENT;
}

static perp_vec3 direction_of(const spatial_core *core)
{
    return spatial_from_local(core, perp_vec3_make(0.0, 0.0, 1.0));
}

/* The normal of points and segments that meet. */
static perp_vec3 meeting_normal(const spatial_core *a, const spatial_core *b)
{
    const bool segment_a = a->kind == PERP_SPATIAL_SEGMENT, segment_b = b->kind == PERP_SPATIAL_SEGMENT;
    perp_vec3 t = {1.0, 0.0, 0.0}, o;
    if (segment_a && segment_b) {
        const perp_vec3 x = perp_vec3_cross(direction_of(a), direction_of(b));
        if (perp_vec3_norm(x) > EDGES_PARALLEL) {
            return perp_vec3_normalise(x);
        }
    }
    if (segment_a || segment_b) {
        perp_tangents(direction_of(segment_a ? a : b), &t, &o);
    }
    return t;
}

static void slender_pair(const spatial_pair *pair, spatial_result *r)
{
    const spatial_core *a = &pair->a, *b = &pair->b;
    *r = (spatial_result){.tie = false};
    perp_spatial_segments(spatial_point_of(a, perp_spatial_corner(a, 0)),
                          spatial_point_of(a, perp_spatial_corner(a, 1)),
                          spatial_point_of(b, perp_spatial_corner(b, 0)),
                          spatial_point_of(b, perp_spatial_corner(b, 1)), &r->on_a, &r->on_b);
    const perp_vec3 v = perp_vec3_sub(r->on_b, r->on_a);
    r->phi = perp_vec3_norm(v);
    if (r->phi > pair->tolerance) {
        r->normal = perp_vec3_scale(1.0 / r->phi, v);
        return;
    }
    r->tie = true;
    r->normal = meeting_normal(a, b);
    const double along = perp_vec3_dot(v, r->normal); /* crossing lines know which side */
    r->normal = along < 0.0 ? spatial_negative(r->normal) : r->normal;
}

/* ---- a point and a solid, in the solid's frame ------------------------------------------------------------------- */

typedef struct nearest {
    perp_vec3 on; /* of the surface */
    perp_vec3 outer;
    double phi;
    bool tie;
} nearest;

static bool point_box(const spatial_core *box, perp_vec3 x, double tolerance, nearest *r)
{
    const perp_vec3 h = box->half;
    r->on = perp_vec3_make(fmin(fmax(x.x, -h.x), h.x), fmin(fmax(x.y, -h.y), h.y), fmin(fmax(x.z, -h.z), h.z));
    const perp_vec3 v = perp_vec3_sub(x, r->on);
    r->phi = perp_vec3_norm(v);
    if (r->phi <= tolerance) {
        return false;
    }
    r->outer = perp_vec3_scale(1.0 / r->phi, v);
    return true;
}

/* Ends before the side where they tie. */
static void point_cylinder(const spatial_core *cylinder, perp_vec3 x, double tolerance, nearest *r)
{
    const double rho = sqrt(x.x * x.x + x.y * x.y), side = rho - cylinder->radius;
    const double end = fabs(x.z) - cylinder->half_length, sign = x.z > -0.5 * tolerance ? 1.0 : -1.0;
    const perp_vec3 u = rho > 0.0 ? perp_vec3_make(x.x / rho, x.y / rho, 0.0) : perp_vec3_make(1.0, 0.0, 0.0);
    const perp_vec3 rim = perp_vec3_make(u.x * cylinder->radius, u.y * cylinder->radius, sign * cylinder->half_length);
    if (side > 0.0 && end > 0.0 && hypot(side, end) > tolerance) {
        r->phi = hypot(side, end);
        r->on = rim;
        r->outer = perp_vec3_scale(1.0 / r->phi, perp_vec3_sub(x, rim));
    } else if (end >= side - (end <= tolerance ? tolerance : 0.0)) {
        r->tie = end <= tolerance && (fabs(end - side) <= tolerance || 2.0 * fabs(x.z) <= tolerance);
        r->phi = sign * x.z - cylinder->half_length;
        r->on = perp_vec3_make(x.x, x.y, rim.z);
        r->outer = perp_vec3_make(0.0, 0.0, sign);
    } else {
        r->tie = 2.0 * rho <= tolerance;
        r->phi = side;
        r->on = perp_vec3_make(rim.x, rim.y, x.z);
        r->outer = u;
    }
}

/* The nearest point of the surface of the ellipsoid with semi-axes e[0] >= e[1] >= e[2] > 0 to y >= 0, inside or
 * outside: x_i = e_i^2 y_i / (t + e_i^2), where t > -e_2^2 makes it lie on the surface. With u = t / e_2^2 + 1 and
 * k_i = (e_i / e_2)^2 - 1 the condition is sum of (e_i y_i / e_2^2 / (u + k_i))^2 = 1, decreasing and convex in u > 0,
 * and no digit is lost where u is small. */
static void nearest_on_ellipsoid(const double e[3], const double y[3], double x[3])
{
    double z[3], k[3];
    for (int i = 0; i < 3; i++) {
        z[i] = e[i] / e[2] * (y[i] / e[2]);
        k[i] = (e[i] / e[2] - 1.0) * (e[i] / e[2] + 1.0);
    }
    double low = z[2], high = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]); /* F(low) >= 0 >= F(high) */
    if (low == 0.0) { /* in the plane of the larger axes: the limit u = 0, if it is over the surface there */
        double rest = 1.0;
        for (int i = 0; i < 2; i++) {
            x[i] = k[i] > 0.0 ? z[i] / k[i] : (z[i] > 0.0 ? INFINITY : 0.0);
            rest -= x[i] * x[i];
        }
        if (rest >= 0.0) {
            x[0] *= e[0];
            x[1] *= e[1];
            x[2] = e[2] * sqrt(rest);
            return;
        }
    }
    double u = low > 0.0 ? low : 0.5 * high;
    for (int i = 0; i < 200; i++) {
        double f = -1.0, slope = 0.0;
        for (int j = 0; j < 3; j++) {
            const double d = u + k[j], q = z[j] > 0.0 ? z[j] / d : 0.0;
            f += q * q;
            slope -= z[j] > 0.0 ? 2.0 * q * q / d : 0.0;
        }
        if (f > 0.0) {
            low = u;
        } else {
            high = u;
        }
        double next = u - f / slope;
        if (!(next > low && next < high)) {
            next = low > 0.0 && high > 4.0 * low ? sqrt(low * high) : 0.5 * (low + high);
        }
        if (next == u || f == 0.0) {
            break;
        }
        u = next;
    }
    for (int i = 0; i < 3; i++) {
        x[i] = z[i] > 0.0 ? e[i] * (z[i] / (u + k[i])) : 0.0;
    }
}

static void point_ellipsoid(const spatial_core *ellipsoid, perp_vec3 point, double tolerance, nearest *r)
{
    const double half[3] = {ellipsoid->half.x, ellipsoid->half.y, ellipsoid->half.z};
    const double at[3] = {point.x, point.y, point.z};
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++) { /* descending; equal ones stay in order */
        for (int j = 0; j < 2 - i; j++) {
            if (half[order[j]] < half[order[j + 1]]) {
                const int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
        }
    }
    double e[3], y[3], x[3], on[3], outer[3], inside = 0.0;
    for (int i = 0; i < 3; i++) {
        e[i] = half[order[i]];
        y[i] = fabs(at[order[i]]);
        inside += y[i] / e[i] * (y[i] / e[i]);
    }
    nearest_on_ellipsoid(e, y, x);
    for (int i = 0; i < 3; i++) {
        const double sign = at[order[i]] < -0.5 * tolerance ? -1.0 : 1.0; /* of two sides that tie, the positive one */
        on[order[i]] = sign * x[i];
        outer[order[i]] = sign * x[i] / (e[i] * e[i]) * e[2];
    }
    r->on = perp_vec3_make(on[0], on[1], on[2]);
    r->outer = perp_vec3_normalise(perp_vec3_make(outer[0], outer[1], outer[2]));
    r->phi = perp_vec3_dot(r->outer, perp_vec3_sub(point, r->on));
    r->tie = inside < 1.0 && y[2] <= 0.5 * tolerance && x[2] > tolerance;
}

static bool point_solid(spatial_pair *pair, bool point_is_b, spatial_result *result)
{
    const spatial_core *solid = point_is_b ? &pair->a : &pair->b;
    const perp_vec3 point = point_is_b ? pair->b.position : pair->a.position;
    const perp_vec3 x = spatial_point_local(solid, point);
    nearest r = {.tie = false};
    switch (solid->kind) {
    case PERP_SPATIAL_BOX:
        if (!point_box(solid, x, pair->tolerance, &r)) {
            return false;
        }
        break;
    case PERP_SPATIAL_CYLINDER:
        point_cylinder(solid, x, pair->tolerance, &r);
        break;
    case PERP_SPATIAL_ELLIPSOID:
        point_ellipsoid(solid, x, pair->tolerance, &r);
        break;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_HULL:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        return false;
    }
    const perp_vec3 outer = spatial_from_local(solid, r.outer), on = spatial_point_of(solid, r.on);
    *result = (spatial_result){.phi = r.phi,
                               .normal = point_is_b ? outer : spatial_negative(outer),
                               .on_a = point_is_b ? on : point,
                               .on_b = point_is_b ? point : on,
                               .tie = r.tie};
    return true;
}

bool perp_spatial_by_formula(spatial_pair *pair, spatial_result *result)
{
    if (slender(&pair->a) && slender(&pair->b)) {
        slender_pair(pair, result);
        return true;
    }
    if (pair->b.kind == PERP_SPATIAL_POINT) {
        return point_solid(pair, true, result);
    }
    if (pair->a.kind == PERP_SPATIAL_POINT) {
        return point_solid(pair, false, result);
    }
    return false;
}
