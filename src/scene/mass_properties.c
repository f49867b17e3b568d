/* Mass properties of shapes in their bodies, and of bodies.
 *
 * A body's shapes are summed twice: first mass and centroid, then the inertia about that centroid. Summing about the
 * body's origin and moving to the centroid at the end would need one pass, but it subtracts m |c|^2: shapes at a
 * distance D lose (D / size)^2 of their digits, and a small moment may come out negative. */
#include "base/mat3.h"
#include "scene/shape_kinds.h"

#include <string.h>

void perp_add_parallel_axis(perp_mat3 *inertia, double mass, perp_vec3 d)
{
    const double v[3] = {d.x, d.y, d.z};
    const double square = perp_vec3_dot(d, d);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inertia->m[3 * i + j] += mass * ((i == j ? square : 0.0) - v[i] * v[j]);
        }
    }
}

perp_status perp_shape_mass_properties(const perp_shape *shape, bool planar, perp_mass_properties *out)
{
    memset(out, 0, sizeof *out);
    const perp_shape_traits *traits = perp_shape_traits_of(shape->kind);
    const perp_status status = traits->mass ? traits->mass(shape, planar, out) : PERP_STATUS_OK;
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
            perp_add_parallel_axis(&sum->inertia, density * part.mass, perp_vec3_sub(part.com, sum->com));
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
        perp_add_parallel_axis(&out->inertia, out->mass, perp_vec3_sub(out->com, sum->com));
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
