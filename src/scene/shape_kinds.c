/* shape_kinds.c - every kind of shape: where it belongs, what is wrong with its dimensions, its mass and its sides. */
#include "scene/shape_kinds.h"

#define PI 3.14159265358979323846

/* ---- dimensions ------------------------------------------------------------------------------------------------- */

static void check_radius(validator *v, perp_shape *shape)
{
    perp_validate_real(v, NULL, shape->radius, RANGE_POSITIVE);
}

static void check_round(validator *v, perp_shape *shape)
{
    perp_validate_real(v, "radius", shape->radius, RANGE_POSITIVE);
    if (shape->kind != PERP_SHAPE_HOLE || !v->scene->planar) {
        perp_validate_real(v, "length", shape->length, RANGE_POSITIVE);
    }
}

static void check_size(validator *v, perp_shape *shape)
{
    const char *what = shape->kind == PERP_SHAPE_BOX ? "a box's lengths" : "an ellipsoid's semi-axes";
    const bool positive = shape->size.x > 0.0 && shape->size.y > 0.0 && (v->scene->planar || shape->size.z > 0.0);
    if (perp_validate_vector(v, NULL, shape->size) && !positive) {
        perp_validator_error(v, NULL, "%s must be positive, but are [%g, %g, %g]", what, shape->size.x, shape->size.y,
                             shape->size.z);
    }
}

static void check_plane(validator *v, perp_shape *shape)
{
    shape->normal.z = v->scene->planar ? 0.0 : shape->normal.z;
    perp_validate_direction(v, "normal", &shape->normal);
    perp_validate_real(v, "offset", shape->offset, RANGE_FINITE);
}

static void check_mesh(validator *v, perp_shape *shape)
{
    perp_validate_real(v, "scale", shape->scale, RANGE_POSITIVE);
    if (shape->file && shape->point_count > 0) {
        perp_validator_error(v, NULL, "a mesh has `points` or a `file`, not both");
    } else if (!shape->file && shape->point_count < 4) {
        perp_validator_error(v, NULL, "a mesh needs at least 4 `points` (or a `file`), but has %d", shape->point_count);
    }
    for (int i = 0; i < shape->point_count; i++) {
        if (!perp_validate_vector(v, "points", shape->points[i])) {
            return;
        }
    }
}

static double cross_2d(perp_vec3 o, perp_vec3 a, perp_vec3 b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

static bool on_segment(perp_vec3 a, perp_vec3 b, perp_vec3 p)
{
    return fmin(a.x, b.x) <= p.x && p.x <= fmax(a.x, b.x) && fmin(a.y, b.y) <= p.y && p.y <= fmax(a.y, b.y);
}

static bool segments_meet(perp_vec3 a, perp_vec3 b, perp_vec3 c, perp_vec3 d)
{
    const double abc = cross_2d(a, b, c), abd = cross_2d(a, b, d), cda = cross_2d(c, d, a), cdb = cross_2d(c, d, b);
    if (((abc > 0) != (abd > 0)) && ((cda > 0) != (cdb > 0)) && abc != 0 && abd != 0 && cda != 0 && cdb != 0) {
        return true;
    }
    return (abc == 0 && on_segment(a, b, c)) || (abd == 0 && on_segment(a, b, d)) ||
           (cda == 0 && on_segment(c, d, a)) || (cdb == 0 && on_segment(c, d, b));
}

enum { POLYGON_MAX_POINTS = 2000 }; /* the test below is quadratic */

/* Simple: no two edges meet except neighbours in their common corner. */
static void check_polygon(validator *v, perp_shape *shape)
{
    const int n = shape->point_count;
    if (n < 3 || n > POLYGON_MAX_POINTS) {
        perp_validator_error(v, NULL, "a polygon has 3 to %d corners, but this one has %d", POLYGON_MAX_POINTS, n);
        return;
    }
    double area = 0.0;
    for (int i = 0; i < n; i++) {
        if (!perp_validate_vector(v, NULL, shape->points[i])) {
            return;
        }
        area += 0.5 * cross_2d(shape->points[0], shape->points[i], shape->points[(i + 1) % n]);
    }
    for (int i = 0; i < n; i++) { /* before looking for crossings: a repeated corner is one too */
        const perp_vec3 a = shape->points[i], b = shape->points[(i + 1) % n], c = shape->points[(i + 2) % n];
        if (a.x == b.x && a.y == b.y) {
            perp_validator_error(v, NULL, "corners %d and %d are the same point", i, (i + 1) % n);
            return;
        }
        const bool folds = cross_2d(a, b, c) == 0.0 && (c.x - b.x) * (a.x - b.x) + (c.y - b.y) * (a.y - b.y) > 0.0;
        if (folds) {
            perp_validator_error(v, NULL, "the edge after corner %d runs back along the one before it", (i + 1) % n);
            return;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = i + 2; j < n - (i == 0 ? 1 : 0); j++) {
            if (segments_meet(shape->points[i], shape->points[i + 1], shape->points[j], shape->points[(j + 1) % n])) {
                perp_validator_error(v, NULL, "the polygon crosses itself: edges %d and %d meet", i, j);
                return;
            }
        }
    }
    if (!(fabs(area) > 0.0)) {
        perp_validator_error(v, NULL, "the polygon has no area");
    }
}

/* ---- mass: closed forms, unit density ---------------------------------------------------------------------------- */

static perp_status set_diagonal(perp_mass_properties *out, double xx, double yy, double zz)
{
    out->inertia.m[0] = xx;
    out->inertia.m[4] = yy;
    out->inertia.m[8] = zz;
    return PERP_STATUS_OK;
}

static perp_status mass_of_sphere(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    const double r = shape->radius;
    out->mass = 4.0 / 3.0 * PI * r * r * r;
    return set_diagonal(out, 0.4 * out->mass * r * r, 0.4 * out->mass * r * r, 0.4 * out->mass * r * r);
}

static perp_status mass_of_disc(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    out->mass = PI * shape->radius * shape->radius;
    return set_diagonal(out, 0, 0, 0.5 * out->mass * shape->radius * shape->radius);
}

static perp_status mass_of_box(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    const perp_vec3 size = shape->size;
    out->mass = size.x * size.y * (planar ? 1.0 : size.z);
    const double k = out->mass / 12.0, xx = size.x * size.x, yy = size.y * size.y, zz = planar ? 0.0 : size.z * size.z;
    return set_diagonal(out, k * (yy + zz), k * (xx + zz), k * (xx + yy));
}

static perp_status mass_of_cylinder(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    const double r = shape->radius, l = shape->length;
    out->mass = PI * r * r * l;
    const double across = out->mass * (r * r / 4.0 + l * l / 12.0);
    return set_diagonal(out, across, across, out->mass * r * r / 2.0);
}

static perp_status mass_of_ellipsoid(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    const perp_vec3 s = shape->size;
    out->mass = 4.0 / 3.0 * PI * s.x * s.y * s.z;
    return set_diagonal(out, 0.2 * out->mass * (s.y * s.y + s.z * s.z), 0.2 * out->mass * (s.x * s.x + s.z * s.z),
                        0.2 * out->mass * (s.x * s.x + s.y * s.y));
}

/* A rectangle and two half discs along x: half-disc centroid at 4r/(3 pi), second moment about the flat face's centre
 * r^2/2 of its area. Only zz matters in the plane. */
static perp_status mass_of_planar_capsule(const perp_shape *shape, perp_mass_properties *out)
{
    const double r = shape->radius, l = shape->length;
    const double ends = PI * r * r, middle = 2.0 * r * l;
    out->mass = ends + middle;
    set_diagonal(out, 0, 0,
                 middle * (l * l + 4.0 * r * r) / 12.0 +
                     ends * (r * r / 2.0 + l * l / 4.0 + l * (4.0 * r / (3.0 * PI))));
    return PERP_STATUS_OK;
}

/* A cylinder and two hemispheres, whose centroids lie 3r/8 beyond the cylinder's ends and whose inertia about an axis
 * across, through the flat face's centre, is 2/5 m r^2. */
static perp_status mass_of_capsule(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    const double r = shape->radius, l = shape->length;
    if (planar) {
        return mass_of_planar_capsule(shape, out);
    }
    const double ends = 4.0 / 3.0 * PI * r * r * r, middle = PI * r * r * l;
    out->mass = ends + middle;
    const double along = middle * r * r / 2.0 + ends * 0.4 * r * r;
    const double across =
        middle * (r * r / 4.0 + l * l / 12.0) + ends * (0.4 * r * r + l * l / 4.0 + 3.0 / 8.0 * l * r);
    set_diagonal(out, across, across, along);
    return PERP_STATUS_OK;
}

/* Green's theorem over the polygon's triangles with a vertex of its own, so that a polygon far from the origin loses no
 * digits. Sign follows the orientation; taken positive at the end. */
static perp_status mass_of_polygon(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    const perp_vec3 *points = shape->points;
    if (shape->point_count < 3) {
        return PERP_STATUS_BAD_INPUT;
    }
    const perp_vec3 origin = points[0];
    double area = 0.0, moment = 0.0;
    perp_vec3 first = {0, 0, 0};
    for (int i = 1; i + 1 < shape->point_count; i++) {
        const perp_vec3 a = perp_vec3_sub(points[i], origin), b = perp_vec3_sub(points[i + 1], origin);
        const double twice = a.x * b.y - a.y * b.x;
        area += 0.5 * twice;
        first = perp_vec3_add_scaled(first, twice / 6.0, perp_vec3_add(a, b));
        moment += twice / 12.0 * (perp_vec3_dot(a, a) + perp_vec3_dot(a, b) + perp_vec3_dot(b, b));
    }
    if (area == 0.0) {
        return PERP_STATUS_OK;
    }
    const perp_vec3 centre = perp_vec3_scale(1.0 / area, first);
    out->mass = fabs(area);
    out->com = perp_vec3_add(origin, centre);
    set_diagonal(out, 0, 0, fabs(moment - area * perp_vec3_dot(centre, centre)));
    return PERP_STATUS_OK;
}

/* Sum over the tetrahedra that a hull's triangles make with one of its corners. For a tetrahedron of volume v with
 * corners 0, a, b, c the second moment is v/20 (s s' + a a' + b b' + c c'), s = a + b + c, and its centroid s/4. */
static perp_status mass_of_mesh(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    (void)planar;
    if (shape->hull_triangle_count == 0) {
        return PERP_STATUS_UNAVAILABLE;
    }
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
        return PERP_STATUS_OK;
    }
    const perp_vec3 centre = perp_vec3_scale(1.0 / out->mass, first);
    const double trace = second[0] + second[4] + second[8];
    for (int e = 0; e < 9; e++) {
        out->inertia.m[e] = (e % 4 == 0 ? trace : 0.0) - second[e];
    }
    perp_add_parallel_axis(&out->inertia, -out->mass, centre);
    out->com = perp_vec3_add(origin, centre);
    return PERP_STATUS_OK;
}

/* ---- sides ------------------------------------------------------------------------------------------------------ */

static perp_vec3 sides_of_ball(const perp_shape *shape, bool planar)
{
    return perp_vec3_make(2.0 * shape->radius, 2.0 * shape->radius, planar ? 0.0 : 2.0 * shape->radius);
}

static perp_vec3 sides_of_box(const perp_shape *shape, bool planar)
{
    (void)planar;
    return shape->size;
}

static perp_vec3 sides_of_ellipsoid(const perp_shape *shape, bool planar)
{
    (void)planar;
    return perp_vec3_scale(2.0, shape->size);
}

static perp_vec3 sides_of_capsule(const perp_shape *shape, bool planar)
{
    const perp_vec3 ball = sides_of_ball(shape, planar);
    return perp_vec3_make(shape->length + ball.x, ball.y, ball.z);
}

static perp_vec3 sides_of_cylinder(const perp_shape *shape, bool planar)
{
    (void)planar;
    return perp_vec3_make(shape->length, 2.0 * shape->radius, 2.0 * shape->radius);
}

static perp_vec3 sides_of_corners(const perp_shape *shape, bool planar)
{
    (void)planar;
    int count;
    const perp_vec3 *points = perp_shape_corners(shape, &count);
    perp_vec3 low = points[0], high = points[0];
    for (int i = 1; i < count; i++) {
        low = perp_vec3_make(fmin(low.x, points[i].x), fmin(low.y, points[i].y), fmin(low.z, points[i].z));
        high = perp_vec3_make(fmax(high.x, points[i].x), fmax(high.y, points[i].y), fmax(high.z, points[i].z));
    }
    return perp_vec3_sub(high, low);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

#define PLANAR .planar = true
#define SPATIAL .spatial = true
#define BOTH .planar = true, .spatial = true

static const perp_shape_traits kinds[] = {
    [PERP_SHAPE_NONE] = {.name = "none"},
    [PERP_SHAPE_POINT] = {.name = "point", BOTH},
    [PERP_SHAPE_SPHERE] =
        {.name = "sphere", SPATIAL, .check = check_radius, .mass = mass_of_sphere, .sides = sides_of_ball},
    [PERP_SHAPE_DISC] = {.name = "disc", PLANAR, .check = check_radius, .mass = mass_of_disc, .sides = sides_of_ball},
    [PERP_SHAPE_BOX] = {.name = "box", BOTH, .check = check_size, .mass = mass_of_box, .sides = sides_of_box},
    [PERP_SHAPE_CAPSULE] =
        {.name = "capsule", BOTH, .check = check_round, .mass = mass_of_capsule, .sides = sides_of_capsule},
    [PERP_SHAPE_CYLINDER] =
        {.name = "cylinder", SPATIAL, .check = check_round, .mass = mass_of_cylinder, .sides = sides_of_cylinder},
    [PERP_SHAPE_ELLIPSOID] =
        {.name = "ellipsoid", SPATIAL, .check = check_size, .mass = mass_of_ellipsoid, .sides = sides_of_ellipsoid},
    [PERP_SHAPE_PLANE] = {.name = "plane", SPATIAL, .check = check_plane},
    [PERP_SHAPE_HALFPLANE] = {.name = "halfplane", PLANAR, .check = check_plane},
    [PERP_SHAPE_MESH] = {.name = "mesh", SPATIAL, .check = check_mesh, .mass = mass_of_mesh, .sides = sides_of_corners},
    [PERP_SHAPE_POLYGON] =
        {.name = "polygon", PLANAR, .check = check_polygon, .mass = mass_of_polygon, .sides = sides_of_corners},
    [PERP_SHAPE_HOLE] = {.name = "hole", BOTH, .check = check_round},
};
_Static_assert(sizeof kinds / sizeof *kinds == PERP_SHAPE_COUNT, "every kind is in the table");

const perp_shape_traits *perp_shape_traits_of(perp_shape_kind kind)
{
    static const perp_shape_traits unknown = {.name = "unknown"};
    return (unsigned)kind < PERP_SHAPE_COUNT ? &kinds[kind] : &unknown;
}

const char *perp_shape_kind_name(perp_shape_kind kind)
{
    return perp_shape_traits_of(kind)->name;
}

const perp_vec3 *perp_shape_corners(const perp_shape *shape, int *count)
{
    *count = shape->kind == PERP_SHAPE_MESH ? shape->hull_point_count : shape->point_count;
    return shape->kind == PERP_SHAPE_MESH ? shape->hull_points : shape->points;
}
