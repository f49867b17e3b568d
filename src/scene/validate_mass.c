/* Mass, centre of mass and inertia of a body: each by itself, then together. */
#include "base/mat3.h"
#include "linalg/dense.h"
#include "scene/shape_kinds.h"
#include "scene/tolerances.h"

/* A mass distribution has principal moments a <= b <= c with a >= 0 and a + b >= c. A body whose rotation is partly
 * locked may leave the moments that never act at 0. */
static void validate_moments(validator *v, const perp_body *body, const perp_mat3 *inertia)
{
    const unsigned turning = PERP_COMPONENT_RX | PERP_COMPONENT_RY | PERP_COMPONENT_RZ;
    const bool locked = body->kind == PERP_BODY_FREE && body->joint < 0 && (body->free_mask & turning) != turning;
    double moments[3];
    perp_mat3_symmetric_eigen(inertia, moments, NULL);
    const double slack = MOMENTS_AS_WRITTEN * fabs(moments[2]);
    if (moments[0] < -EIGENVALUE_ROUNDING * fabs(moments[2])) {
        perp_validator_error(v, "inertia", "is not positive: its principal moments are %g, %g, %g", moments[0],
                             moments[1], moments[2]);
    } else if (moments[0] + moments[1] < moments[2] - slack && !(locked && moments[0] <= slack)) {
        perp_validator_error(v, "inertia",
                             "no body has these principal moments: %g + %g < %g breaks the triangle inequality",
                             moments[0], moments[1], moments[2]);
    }
}

static void validate_written_inertia(validator *v, const perp_body *body)
{
    const int n = body->inertia_count;
    if (n == 0) {
        return;
    }
    if (v->scene->planar ? n != 1 : n != 3 && n != 6) {
        perp_validator_error(v, "inertia", "%s",
                             v->scene->planar ? "a planar body has one number, Izz"
                                              : "write [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]");
        return;
    }
    for (int i = 0; i < n; i++) {
        if (!perp_validate_real(v, "inertia", body->inertia[i], n == 1 ? RANGE_NOT_NEGATIVE : RANGE_FINITE)) {
            return;
        }
    }
    if (n > 1) {
        const double *w = body->inertia;
        const double xy = n == 6 ? w[3] : 0.0, xz = n == 6 ? w[4] : 0.0, yz = n == 6 ? w[5] : 0.0;
        const perp_mat3 inertia = {{w[0], xy, xz, xy, w[1], yz, xz, yz, w[2]}};
        validate_moments(v, body, &inertia);
    }
}

void perp_validate_mass_fields(validator *v, const perp_body *body)
{
    perp_validate_optional(v, "mass", body->mass, RANGE_NOT_NEGATIVE);
    perp_validate_optional(v, "density", body->density, RANGE_NOT_NEGATIVE);
    bool density = body->density.set;
    for (int i = 0; i < body->shape_count; i++) {
        density = density || body->shapes[i].density.set;
    }
    for (int i = 0; density && !body->density.set && i < body->shape_count; i++) {
        const bool weightless = perp_shape_traits_of(body->shapes[i].kind)->mass && !body->shapes[i].density.set;
        if (weightless) {
            const size_t mark = perp_validator_enter(v, "shapes.%d", i);
            perp_validator_warning(v, NULL, "has no `density`, so it adds no mass, though other shapes of the body do");
            perp_validator_leave(v, mark);
        }
    }
    if (body->mass.set && density) {
        perp_validator_error(v, "mass", "give `mass` or `density`, not both");
    }
    if (body->inertia_count > 0 && !body->mass.set && !density) {
        perp_validator_warning(v, NULL, "`inertia` has no effect without `mass` or `density`");
    }
    perp_validate_vector(v, "com", body->com);
    validate_written_inertia(v, body);
}

/* Is the mass matrix of a free body on its free components positive definite at the initial pose? Where all
 * translations are free the question is the same with the origin moved to the centre of mass, and free of cancellation
 * there. */
static bool resists_its_motion(const perp_body *body, bool planar, const perp_mass_properties *p)
{
    const unsigned translations = PERP_COMPONENT_X | PERP_COMPONENT_Y | (planar ? 0u : (unsigned)PERP_COMPONENT_Z);
    const perp_mat3 r = perp_quat_to_mat3(body->pose.pose.rotation), world = perp_mat3_turn(&r, &p->inertia);
    const bool at_com = (body->free_mask & translations) == translations;
    const perp_vec3 c = at_com ? perp_vec3_make(0, 0, 0) : perp_mat3_mul_vec(&r, p->com);
    const double arm[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -c.z, c.y}, {c.z, 0, -c.x}, {-c.y, c.x, 0}};
    double a[36], diagonal[6];
    int n = 0, index[6];
    for (int i = 0; i < 6; i++) {
        index[n] = i;
        n += (body->free_mask & (1u << i)) != 0;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) { /* component k moves the centre of mass by arm[k] */
            const double *u = arm[index[i]], *w = arm[index[j]];
            const bool turns = index[i] > 2 && index[j] > 2;
            a[6 * i + j] = p->mass * (u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) +
                           (turns ? world.m[3 * (index[i] - 3) + index[j] - 3] : 0.0);
        }
        diagonal[i] = a[7 * i];
    }
    bool positive = perp_cholesky_factor(n, a, 6, NULL) == PERP_STATUS_OK;
    for (int i = 0; i < n && positive; i++) {
        positive = a[7 * i] * a[7 * i] > PIVOT_LEFT * diagonal[i];
    }
    return positive;
}

/* A free body must resist every component of motion that it is given. While a joint has lost its child, a body without
 * mass may be that child: nothing is said of it then. */
static void validate_free_mass(validator *v, const perp_body *body, const perp_mass_properties *p)
{
    if (!(p->mass > 0.0) && body->free_mask != 0 && !v->child_lost) {
        perp_validator_error(
            v, body->mass.set ? "mass" : NULL,
            "a free body needs mass: give `mass` or `density`, or make it `fixed: true`, `driven` or the "
            "child of a joint");
    } else if (p->mass > 0.0 && !resists_its_motion(body, v->scene->planar, p)) {
        perp_validator_error(
            v, body->inertia_count ? "inertia" : NULL,
            "a body that can turn needs a positive inertia: give `inertia`, shapes with volume, or lock its "
            "rotation with `free: [%s]`",
            v->scene->planar ? "x, y" : "x, y, z");
    }
}

/* What follows from mass, densities and shapes together, all of which are sound by themselves. */
void perp_validate_mass(validator *v, const perp_body *body)
{
    perp_error error;
    perp_mass_properties properties;
    if (perp_body_mass_properties(body, v->scene->planar, &properties, &error) != PERP_STATUS_OK) {
        perp_validator_error(v, NULL, "%s", error.message);
        return;
    }
    bool finite = isfinite(properties.mass) && isfinite(perp_vec3_norm(properties.com));
    for (int i = 0; i < 9; i++) {
        finite = finite && isfinite(properties.inertia.m[i]);
    }
    if (!finite) {
        perp_validator_error(v, NULL, "mass properties overflow; check the lengths and densities");
    } else if (body->kind == PERP_BODY_FREE && body->joint < 0) {
        validate_free_mass(v, body, &properties);
    }
}
