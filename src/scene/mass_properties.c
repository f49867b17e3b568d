/* Mass properties of shapes (closed forms, unit density) and of bodies.
 *
 * A body's shapes are summed twice: first mass and centroid, then the inertia about that centroid. Summing about the
 * body's origin and moving to the centroid at the end would need one pass, but it subtracts m |c|^2: shapes at a
 * distance D lose (D / size)^2 of their digits, and a small moment may come out negative. */
#include "scene/scene_memory.h"

#include <string.h>

#define PI 3.14159265358979323846

/* I += m (|d|^2 1 - d d'): the inertia about a point at distance d from the centre of mass. */
static void add_parallel_axis(perp_mat3 *inertia, double mass, perp_vec3 d)
{
    const double v[3] = {d.x, d.y, d.z};
    const double square = perp_vec3_dot(d, d);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inertia->m[3 * i + j] += mass * ((i == j ? square : 0.0) - v[i] * v[j]);
        }
    }
}

static void set_diagonal(perp_mass_properties *out, double xx, double yy, double zz)
{
    out->inertia.m[0] = xx;
    out->inertia.m[4] = yy;
    out->inertia.m[8] = zz;
}

static void box(perp_mass_properties *out, perp_vec3 size, bool planar)
{
    out->mass = size.x * size.y * (planar ? 1.0 : size.z);
    const double k = out->mass / 12.0, xx = size.x * size.x, yy = size.y * size.y, zz = planar ? 0.0 : size.z * size.z;
    set_diagonal(out, k * (yy + zz), k * (xx + zz), k * (xx + yy));
}

static void cylinder(perp_mass_properties *out, double r, double l)
{
    out->mass = PI * r * r * l;
    const double across = out->mass * (r * r / 4.0 + l * l / 12.0);
    set_diagonal(out, across, across, out->mass * r * r / 2.0);
}

/* A cylinder and two hemispheres, whose centroids lie 3r/8 beyond the cylinder's ends and whose inertia about an axis
 * across, through the flat face's centre, is 2/5 m r^2. */
static void capsule(perp_mass_properties *out, double r, double l)
{
    const double ends = 4.0 / 3.0 * PI * r * r * r, middle = PI * r * r * l;
    out->mass = ends + middle;
    const double along = middle * r * r / 2.0 + ends * 0.4 * r * r;
    const double across =
        middle * (r * r / 4.0 + l * l / 12.0) + ends * (0.4 * r * r + l * l / 4.0 + 3.0 / 8.0 * l * r);
    set_diagonal(out, across, across, along);
}

/* A rectangle and two half discs along x: half-disc centroid at 4r/(3 pi), second moment about the flat face's centre
 * r^2/2 of its area. Only zz matters in the plane. */
static void capsule_planar(perp_mass_properties *out, double r, double l)
{
    const double ends = PI * r * r, middle = 2.0 * r * l;
    out->mass = ends + middle;
    set_diagonal(out, 0, 0,
                 middle * (l * l + 4.0 * r * r) / 12.0 +
                     ends * (r * r / 2.0 + l * l / 4.0 + l * (4.0 * r / (3.0 * PI))));
}

/* Green's theorem over the polygon's triangles with a vertex of its own, so that a polygon far from the origin loses no
 * digits. Sign follows the orientation; taken positive at the end. */
static void polygon(perp_mass_properties *out, const perp_vec3 *points, int count)
{
    const perp_vec3 origin = points[0];
    double area = 0.0, moment = 0.0;
    perp_vec3 first = {0, 0, 0};
    for (int i = 1; i + 1 < count; i++) {
        const perp_vec3 a = perp_vec3_sub(points[i], origin), b = perp_vec3_sub(points[i + 1], origin);
        const double twice = a.x * b.y - a.y * b.x;
        area += 0.5 * twice;
        first = perp_vec3_add_scaled(first, twice / 6.0, perp_vec3_add(a, b));
        moment += twice / 12.0 * (perp_vec3_dot(a, a) + perp_vec3_dot(a, b) + perp_vec3_dot(b, b));
    }
    if (area == 0.0) {
        return;
    }
    const perp_vec3 centre = perp_vec3_scale(1.0 / area, first);
    out->mass = fabs(area);
    out->com = perp_vec3_add(origin, centre);
    set_diagonal(out, 0, 0, fabs(moment - area * perp_vec3_dot(centre, centre)));
}

/* Sum over the tetrahedra that a hull's triangles make with one of its corners. For a tetrahedron of volume v with
 * corners 0, a, b, c the second moment is v/20 (s s' + a a' + b b' + c c'), s = a + b + c, and its centroid s/4. */
static void hull(perp_mass_properties *out, const perp_shape *shape)
{
    const perp_vec3 origin = shape->hull_points[0];
    double second[9] = {0};
    perp_vec3 first = {0, 0, 0};
    for (int i = 0; i < shape->hull_triangle_count; i++) {
        const int *t = &shape->hull_triangles[3 * i];
        perp_vec3 corner[4];
        for (int k = 0; k < 3; k++) {
            corner[k] = perp_vec3_sub(shape->hull_points[t[k]], origin);
        }
        corner[3] = perp_vec3_add(perp_vec3_add(corner[0], corner[1]), corner[2]);
        const double volume = perp_vec3_dot(perp_vec3_cross(corner[0], corner[1]), corner[2]) / 6.0;
        out->mass += volume;
        first = perp_vec3_add_scaled(first, volume / 4.0, corner[3]);
        for (int k = 0; k < 4; k++) {
            const double x[3] = {corner[k].x, corner[k].y, corner[k].z};
            for (int e = 0; e < 9; e++) {
                second[e] += volume / 20.0 * x[e / 3] * x[e % 3];
            }
        }
    }
    if (!(out->mass > 0.0)) {
        return;
    }
    const perp_vec3 centre = perp_vec3_scale(1.0 / out->mass, first);
    const double trace = second[0] + second[4] + second[8];
    for (int e = 0; e < 9; e++) {
        out->inertia.m[e] = (e % 4 == 0 ? trace : 0.0) - second[e];
    }
    add_parallel_axis(&out->inertia, -out->mass, centre);
    out->com = perp_vec3_add(origin, centre);
}

/* In the shape's own frame, about its own centroid. */
static perp_status own_properties(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    const double r = shape->radius, l = shape->length;
    const perp_vec3 s = shape->size;
    switch (shape->kind) {
    case PERP_SHAPE_SPHERE:
        out->mass = 4.0 / 3.0 * PI * r * r * r;
        set_diagonal(out, 0.4 * out->mass * r * r, 0.4 * out->mass * r * r, 0.4 * out->mass * r * r);
        break;
    case PERP_SHAPE_DISC:
        out->mass = PI * r * r;
        set_diagonal(out, 0, 0, 0.5 * out->mass * r * r);
        break;
    case PERP_SHAPE_BOX:
        box(out, s, planar);
        break;
    case PERP_SHAPE_CAPSULE:
        if (planar) {
            capsule_planar(out, r, l);
        } else {
            capsule(out, r, l);
        }
        break;
    case PERP_SHAPE_CYLINDER:
        cylinder(out, r, l);
        break;
    case PERP_SHAPE_ELLIPSOID:
        out->mass = 4.0 / 3.0 * PI * s.x * s.y * s.z;
        set_diagonal(out, 0.2 * out->mass * (s.y * s.y + s.z * s.z), 0.2 * out->mass * (s.x * s.x + s.z * s.z),
                     0.2 * out->mass * (s.x * s.x + s.y * s.y));
        break;
    case PERP_SHAPE_POLYGON:
        if (shape->point_count < 3) {
            return PERP_STATUS_BAD_INPUT;
        }
        polygon(out, shape->points, shape->point_count);
        break;
    case PERP_SHAPE_MESH:
        if (shape->hull_triangle_count == 0) {
            return PERP_STATUS_UNAVAILABLE;
        }
        hull(out, shape);
        break;
    default: /* point, plane, halfplane, hole: no mass */
        break;
    }
    return PERP_STATUS_OK;
}

perp_status perp_shape_mass_properties(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    memset(out, 0, sizeof *out);
    const perp_status status = own_properties(shape, planar, out);
    if (status == PERP_STATUS_OK) {
        const perp_mat3 r = perp_quat_to_mat3(shape->pose.pose.rotation), t = perp_mat3_transpose(&r);
        const perp_mat3 rotated = perp_mat3_mul(&r, &out->inertia);
        out->inertia = perp_mat3_mul(&rotated, &t);
        out->com = perp_pose_apply(shape->pose.pose, out->com);
    }
    return status;
}

/* The density that counts: all 1 when the body states `mass`, else the shape's own before the body's. */
static double density_of(const perp_body *body, const perp_shape *shape)
{
    const perp_optional stated = shape->density.set ? shape->density : body->density;
    return body->mass.set ? 1.0 : stated.set ? stated.value : 0.0;
}

/* Sum over the shapes: mass, centroid, inertia about the centroid. */
static perp_status sum_shapes(const perp_body *body, bool planar, perp_mass_properties *sum)
{
    perp_vec3 first = {0, 0, 0};
    perp_mass_properties part;
    memset(sum, 0, sizeof *sum);
    for (int i = 0; i < body->shape_count; i++) {
        const double density = density_of(body, &body->shapes[i]);
        if (density == 0.0) { /* a massless mesh needs no hull */
            continue;
        }
        const perp_status status = perp_shape_mass_properties(&body->shapes[i], planar, &part);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        sum->mass += density * part.mass;
        first = perp_vec3_add_scaled(first, density * part.mass, part.com);
    }
    if (!(sum->mass > 0.0)) {
        return PERP_STATUS_OK;
    }
    sum->com = perp_vec3_scale(1.0 / sum->mass, first);
    for (int i = 0; i < body->shape_count; i++) {
        const double density = density_of(body, &body->shapes[i]);
        if (density != 0.0) {
            perp_shape_mass_properties(&body->shapes[i], planar, &part);
            for (int k = 0; k < 9; k++) {
                sum->inertia.m[k] += density * part.inertia.m[k];
            }
            add_parallel_axis(&sum->inertia, density * part.mass, perp_vec3_sub(part.com, sum->com));
        }
    }
    return PERP_STATUS_OK;
}

static void take_written_inertia(const perp_body *body, perp_mat3 *inertia)
{
    const double *w = body->inertia;
    memset(inertia, 0, sizeof *inertia);
    if (body->inertia_count == 1) {
        inertia->m[8] = w[0];
        return;
    }
    inertia->m[0] = w[0];
    inertia->m[4] = w[1];
    inertia->m[8] = w[2];
    if (body->inertia_count == 6) {
        inertia->m[1] = inertia->m[3] = w[3];
        inertia->m[2] = inertia->m[6] = w[4];
        inertia->m[5] = inertia->m[7] = w[5];
    }
}

/* The shapes' distribution scaled to the body's mass, as seen from its com. */
static void take_shape_inertia(const perp_mass_properties *sum, perp_mass_properties *out)
{
    if (sum->mass > 0.0) {
        for (int k = 0; k < 9; k++) {
            out->inertia.m[k] = out->mass / sum->mass * sum->inertia.m[k];
        }
        add_parallel_axis(&out->inertia, out->mass, perp_vec3_sub(out->com, sum->com));
    }
}

perp_status perp_body_mass_properties(const perp_body *body, bool planar, perp_mass_properties *out, perp_error *error)
{
    memset(out, 0, sizeof *out);
    const bool needs_shapes = body->inertia_count == 0 || !body->mass.set;
    perp_mass_properties sum;
    memset(&sum, 0, sizeof sum);
    if (needs_shapes) {
        const perp_status status = sum_shapes(body, planar, &sum);
        if (status != PERP_STATUS_OK) {
            return perp_fail(
                error, status, "%s",
                status == PERP_STATUS_UNAVAILABLE
                    ? "a mesh has mass properties once its hull is built; give `mass` and `inertia`, or call "
                      "perp_scene_build_hulls before perp_scene_validate"
                    : "a polygon has at least 3 corners");
        }
    }
    out->mass = body->mass.set ? body->mass.value : sum.mass;
    out->com = body->com_set ? body->com : body->mass.set ? perp_vec3_make(0, 0, 0) : sum.com;
    if (body->inertia_count > 0) {
        take_written_inertia(body, &out->inertia);
    } else {
        take_shape_inertia(&sum, out);
    }
    if (planar) { /* only the moment about z acts */
        const double zz = out->inertia.m[8];
        memset(&out->inertia, 0, sizeof out->inertia);
        out->inertia.m[8] = zz;
    }
    return PERP_STATUS_OK;
}
