/* Bodies and their shapes. */
#include "scene/validator.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static bool fits_dimension(perp_shape_kind kind, bool planar)
{
    switch (kind) {
    case PERP_SHAPE_POINT:
    case PERP_SHAPE_BOX:
    case PERP_SHAPE_CAPSULE:
    case PERP_SHAPE_HOLE:
        return true;
    case PERP_SHAPE_DISC:
    case PERP_SHAPE_POLYGON:
    case PERP_SHAPE_HALFPLANE:
        return planar;
    default:
        return !planar;
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
static void validate_polygon(validator *v, const perp_shape *shape)
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

static void validate_mesh(validator *v, const perp_shape *shape)
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

static void validate_size(validator *v, const perp_shape *shape, bool planar)
{
    const char *what = shape->kind == PERP_SHAPE_BOX ? "a box's lengths" : "an ellipsoid's semi-axes";
    const bool positive = shape->size.x > 0.0 && shape->size.y > 0.0 && (planar || shape->size.z > 0.0);
    if (perp_validate_vector(v, NULL, shape->size) && !positive) {
        perp_validator_error(v, NULL, "%s must be positive, but are [%g, %g, %g]", what, shape->size.x, shape->size.y,
                             shape->size.z);
    }
}

static void validate_dimensions(validator *v, perp_shape *shape)
{
    const bool planar = v->scene->planar;
    const size_t mark = perp_validator_enter(v, "%s", perp_shape_kind_name(shape->kind));
    switch (shape->kind) {
    case PERP_SHAPE_SPHERE:
    case PERP_SHAPE_DISC:
        perp_validate_real(v, NULL, shape->radius, RANGE_POSITIVE);
        break;
    case PERP_SHAPE_CAPSULE:
    case PERP_SHAPE_CYLINDER:
        perp_validate_real(v, "radius", shape->radius, RANGE_POSITIVE);
        perp_validate_real(v, "length", shape->length, RANGE_POSITIVE);
        break;
    case PERP_SHAPE_HOLE:
        perp_validate_real(v, "radius", shape->radius, RANGE_POSITIVE);
        if (!planar) {
            perp_validate_real(v, "length", shape->length, RANGE_POSITIVE);
        }
        break;
    case PERP_SHAPE_BOX:
    case PERP_SHAPE_ELLIPSOID:
        validate_size(v, shape, planar);
        break;
    case PERP_SHAPE_PLANE:
    case PERP_SHAPE_HALFPLANE:
        shape->normal.z = planar ? 0.0 : shape->normal.z;
        perp_validate_direction(v, "normal", &shape->normal);
        perp_validate_real(v, "offset", shape->offset, RANGE_FINITE);
        break;
    case PERP_SHAPE_MESH:
        validate_mesh(v, shape);
        break;
    case PERP_SHAPE_POLYGON:
        validate_polygon(v, shape);
        break;
    default:
        break;
    }
    perp_validator_leave(v, mark);
}

static void validate_shape(validator *v, perp_shape *shape)
{
    if (shape->kind == PERP_SHAPE_NONE || (unsigned)shape->kind >= PERP_SHAPE_COUNT) {
        perp_validator_error(v, NULL, "a shape needs a type: one of box, sphere, capsule, ...");
        return;
    }
    if (!fits_dimension(shape->kind, v->scene->planar)) {
        perp_validator_error(v, perp_shape_kind_name(shape->kind), "`%s` is a %s shape, but this scene is %s",
                             perp_shape_kind_name(shape->kind), v->scene->planar ? "spatial" : "planar",
                             v->scene->planar ? "planar" : "spatial");
        return;
    }
    perp_validate_placement(v, "pose", &shape->pose);
    perp_validate_optional(v, "friction", shape->friction, RANGE_NOT_NEGATIVE);
    perp_validate_optional(v, "density", shape->density, RANGE_NOT_NEGATIVE);
    validate_dimensions(v, shape);
}

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

static void validate_kind(validator *v, perp_body *body)
{
    static const char *const components[6] = {"x", "y", "z", "rx", "ry", "rz"};
    const unsigned allowed = v->scene->planar ? PERP_COMPONENT_PLANAR : PERP_COMPONENT_ALL;
    body->free_mask &= allowed;
    if (body->kind == PERP_BODY_DRIVEN) {
        const size_t mark = perp_validator_enter(v, "driven");
        if (body->driven_mask & ~allowed) {
            perp_validator_error(v, NULL, "a planar body is driven in x, y and theta");
        }
        for (int i = 0; i < 6; i++) {
            if (body->driven_mask & (1u << i)) {
                perp_validate_drive(v, v->scene->planar && i == 5 ? "theta" : components[i], &body->drives[i]);
            }
        }
        perp_validator_leave(v, mark);
    }
    if (body->free_set && body->kind != PERP_BODY_FREE) {
        perp_validator_error(v, "free", "a %s body has no free components; remove `free` or `%s`",
                             body->kind == PERP_BODY_FIXED ? "fixed" : "driven",
                             body->kind == PERP_BODY_FIXED ? "fixed" : "driven");
    }
}

static void validate_velocity(validator *v, const perp_body *body)
{
    if (!body->velocity_set) {
        return;
    }
    const perp_twist *t = &body->velocity;
    const size_t mark = perp_validator_enter(v, "velocity");
    if (body->kind != PERP_BODY_FREE) {
        perp_validator_error(v, NULL, "the velocity of a fixed or driven body is not free to choose");
    } else if (body->joint >= 0) {
        perp_validator_error(v, NULL, "this body is moved by joint `%s`; give the joint's `velocity`",
                             v->scene->joints[body->joint].name);
    } else if (perp_validate_vector(v, "linear", t->linear) && perp_validate_vector(v, "angular", t->angular)) {
        const double values[6] = {t->linear.x, t->linear.y, t->linear.z, t->angular.x, t->angular.y, t->angular.z};
        for (int i = 0; i < 6; i++) {
            if (values[i] != 0.0 && !(body->free_mask & (1u << i))) {
                perp_validator_error(v, i < 3 ? "linear" : "angular", "component %d is locked by `free` and must be 0",
                                     i % 3);
                break;
            }
        }
    }
    perp_validator_leave(v, mark);
}

void perp_validate_body(validator *v, perp_body *body)
{
    const int faults = v->faults;
    perp_validate_name(v, body->name, "body");
    if (v->faults > faults) {
        return;
    }
    validate_kind(v, body);
    perp_validate_placement(v, "pose", &body->pose);
    validate_velocity(v, body);
    perp_shape *shapes = (perp_shape *)body->shapes; /* the scene's own copy */
    for (int i = 0; i < body->shape_count; i++) {
        const size_t mark = perp_validator_enter(v, "shapes.%d", i);
        validate_shape(v, &shapes[i]);
        perp_validator_leave(v, mark);
    }
    perp_validate_mass_fields(v, body);
    if (v->faults == faults) {
        perp_validate_mass(v, body);
    }
}
