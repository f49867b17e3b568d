/* Bodies and their shapes. */
#include "scene/shape_kinds.h"
#include "scene/tolerances.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static void validate_shape(validator *v, perp_shape *shape)
{
    if (shape->kind == PERP_SHAPE_NONE || (unsigned)shape->kind >= PERP_SHAPE_COUNT) {
        perp_validator_error(v, NULL, "a shape needs a type: one of box, sphere, capsule, ...");
        return;
    }
    const perp_shape_traits *traits = perp_shape_traits_of(shape->kind);
    if (!(v->scene->planar ? traits->planar : traits->spatial)) {
        perp_validator_error(v, traits->name, "`%s` is a %s shape, but this scene is %s", traits->name,
                             v->scene->planar ? "spatial" : "planar", v->scene->planar ? "planar" : "spatial");
        return;
    }
    perp_validate_placement(v, "pose", &shape->pose);
    perp_validate_optional(v, "friction", shape->friction, RANGE_NOT_NEGATIVE);
    perp_validate_optional(v, "density", shape->density, RANGE_NOT_NEGATIVE);
    if (traits->check) {
        const size_t mark = perp_validator_enter(v, "%s", traits->name);
        traits->check(v, shape);
        perp_validator_leave(v, mark);
    }
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

/* ---- supports ----------------------------------------------------------------------------------------------------
 */

static void validate_support_points(validator *v, const perp_support *support)
{
    const int faults = v->faults;
    double sum = 0.0;
    for (int i = 0; i < support->point_count; i++) {
        const perp_support_point *p = &support->points[i];
        const size_t mark = perp_validator_enter(v, "points.%d", i);
        perp_validate_real(v, "0", p->x, RANGE_FINITE);
        perp_validate_real(v, "1", p->y, RANGE_FINITE);
        if (perp_validate_real(v, "2", p->share, RANGE_FINITE) && p->share < 0.0) {
            perp_validator_error(v, "2", "a share of the load must not be negative, but this is %g", p->share);
        }
        sum += p->share;
        perp_validator_leave(v, mark);
    }
    if (support->point_count > 0 && v->faults == faults && !(sum >= SHARES_LEAST && isfinite(sum))) {
        perp_validator_error(v, "points", "the shares of the load add up to %g; at least one has to be positive%s", sum,
                             sum > 0.0 ? ", and not that small" : "");
    }
}

/* Uniform pressure has to have an area to act on. */
static bool has_area(const perp_body *body)
{
    perp_mass_properties one;
    double area = 0.0;
    for (int i = 0; i < body->shape_count; i++) {
        const bool known = perp_shape_mass_properties(&body->shapes[i], true, &one) == PERP_STATUS_OK;
        area += known ? one.mass : 0.0;
    }
    return area > 0.0;
}

static void validate_support(validator *v, const perp_body *body)
{
    const perp_support *support = &body->support;
    if (!support->set) {
        return;
    }
    const size_t mark = perp_validator_enter(v, "support");
    if (!v->scene->planar) {
        perp_validator_error(v, NULL, "a support is of planar scenes, seen from above; in space a plane is the table");
    } else if (body->kind != PERP_BODY_FREE) {
        perp_validator_error(v, NULL, "a %s body needs no support: friction does not change how it moves",
                             body->kind == PERP_BODY_FIXED ? "fixed" : "driven");
    }
    perp_validate_optional(v, "friction", support->friction, RANGE_NOT_NEGATIVE);
    perp_validate_optional(v, "normal", support->normal, RANGE_NOT_NEGATIVE);
    validate_support_points(v, support);
    if (v->scene->planar && support->point_count == 0 && !has_area(body)) {
        perp_validator_error(v, NULL, "uniform pressure needs shapes with an area; give `points` where it lies on");
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
    if (v->faults == faults) {
        validate_support(v, body);
    }
    perp_validate_mass_fields(v, body);
    if (v->faults == faults) {
        perp_validate_mass(v, body);
    }
}
