/* Bodies and their shapes. */
#include "scene/shape_kinds.h"

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
