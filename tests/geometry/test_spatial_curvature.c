/* Curvatures against finite differences of supports and curves. */
#include "spatial_manifold_test.h"

static perp_vec3 support_point(const perp_spatial_shape *s, perp_vec3 n)
{
    const perp_vec3 l = perp_mat3_tmul_vec(&s->rotation, n), h = s->half_lengths;
    const double out = sqrt(l.x * l.x + l.y * l.y);
    perp_vec3 x = {0, 0, 0};
    if (s->kind == PERP_SPATIAL_ELLIPSOID) {
        const double k = perp_vec3_norm(vec(h.x * l.x, h.y * l.y, h.z * l.z));
        x = vec(h.x * h.x * l.x / k, h.y * h.y * l.y / k, h.z * h.z * l.z / k);
    } else if (s->kind == PERP_SPATIAL_POINT) {
        x = perp_vec3_scale(s->radius, l);
    } else {
        x = vec(s->radius * l.x / out, s->radius * l.y / out, l.z > 0 ? s->half_length : -s->half_length);
    }
    return perp_vec3_add(s->position, perp_mat3_mul_vec(&s->rotation, x));
}

/* The support point moves by (inverse of K) dn as the normal turns: K dx = dn on the tangent plane. */
static void smooth_curvature(void **state)
{
    (void)state;
    perp_random random = {5};
    for (int i = 0; i < 100; i++) {
        const body e =
            ellipsoid(random_vec(&random), random_quat(&random),
                      vec(log_uniform(&random, 0.2, 2), log_uniform(&random, 0.2, 2), log_uniform(&random, 0.2, 2)));
        const body ball = sphere(random_vec(&random), log_uniform(&random, 0.1, 2));
        const perp_spatial_shape *shape = i % 4 == 0 ? &ball.shape : &e.shape;
        const perp_vec3 n = perp_vec3_normalise(random_vec(&random));
        const int feature = i % 4 == 0 ? corner(0) : surface;
        const perp_mat3 k = perp_spatial_curvature(shape, feature, n, support_point(shape, n));
        NEAR(perp_vec3_norm(perp_mat3_mul_vec(&k, n)), 0, 1e-12);
        perp_vec3 t, o;
        perp_tangents(n, &t, &o);
        const double step = 1e-5; /* central difference: 1e-10 of curvatures up to 100 */
        const perp_vec3 plus = perp_vec3_normalise(perp_vec3_add_scaled(n, step, t));
        const perp_vec3 minus = perp_vec3_normalise(perp_vec3_add_scaled(n, -step, t));
        const perp_vec3 dx = perp_vec3_sub(support_point(shape, plus), support_point(shape, minus));
        const perp_vec3 dn = perp_vec3_sub(plus, minus), kdx = perp_mat3_mul_vec(&k, dx);
        NEAR(perp_vec3_norm(perp_vec3_sub(kdx, dn)) / step, 0, 1e-6);
    }
}

/* Along a curve x(s) of the surface with unit speed: u . K u = -x'' . n. */
static double curve_bend(const perp_spatial_shape *s, perp_vec3 axis, perp_vec3 point, perp_vec3 n)
{
    const double step = 1e-4; /* angle; x'' to step^2 / 12 */
    perp_vec3 x[3];
    for (int k = 0; k < 3; k++) {
        const perp_quat turn = perp_quat_from_axis_angle(axis, (k - 1) * step);
        x[k] = perp_quat_rotate(turn, perp_vec3_sub(point, s->position));
    }
    const perp_vec3 d = perp_vec3_sub(x[2], x[0]);
    const perp_vec3 dd = perp_vec3_add(perp_vec3_add_scaled(x[0], -2, x[1]), x[2]);
    return -4 * perp_vec3_dot(dd, n) / perp_vec3_dot(d, d);
}

static double along(const perp_mat3 *k, perp_vec3 u)
{
    return perp_vec3_dot(u, perp_mat3_mul_vec(k, u));
}

static void curvature_of_edges(void **state)
{
    (void)state;
    const perp_quat turn = perp_quat_from_rpy(0.3, -0.4, 0.5);
    const body c = cylinder(vec(0.1, 0.2, 0.3), turn, 2, 0.5), s = capsule(vec(0.1, 0.2, 0.3), turn, 2, 0.25);
    body hole = cylinder(vec(0.1, 0.2, 0.3), turn, 2, 0.5);
    hole.shape.kind = PERP_SPATIAL_HOLE;
    const perp_mat3 r = perp_quat_to_mat3(turn);
    const perp_vec3 axis = perp_mat3_mul_vec(&r, vec(0, 0, 1)), out = perp_mat3_mul_vec(&r, vec(0.6, 0.8, 0));
    const perp_vec3 tangent = perp_vec3_cross(axis, out);
    const perp_vec3 slant = perp_vec3_add_scaled(perp_vec3_scale(0.8, out), 0.6, axis);
    const perp_vec3 into = perp_vec3_add_scaled(perp_vec3_scale(-0.8, out), 0.6, axis);
    const perp_vec3 at = perp_vec3_add_scaled(perp_vec3_add(c.pose.position, axis), 0.5, out);
    perp_mat3 k = perp_spatial_curvature(&c.shape, rim(16), slant, at);
    NEAR(along(&k, tangent), curve_bend(&c.shape, axis, at, slant), 1e-6);
    NEAR(along(&k, tangent), 1.6, 1e-6);
    NEAR(along(&k, perp_vec3_cross(tangent, slant)), 1e9, 1);
    NEAR(perp_vec3_norm(perp_mat3_mul_vec(&k, slant)), 0, 1e-6);
    k = perp_spatial_curvature(&hole.shape, rim(16), into, at);
    NEAR(along(&k, tangent), curve_bend(&hole.shape, axis, at, into), 1e-6);
    NEAR(along(&k, tangent), -1.6, 1e-6);
    const perp_vec3 inward = perp_vec3_scale(-1, out);
    k = perp_spatial_curvature(&hole.shape, surface, inward, at);
    NEAR(along(&k, tangent), -2, 1e-13);
    NEAR(along(&k, axis), 0, 1e-13);
    k = perp_spatial_curvature(&c.shape, side(0), out, at);
    NEAR(along(&k, tangent), 2, 1e-13);
    NEAR(along(&k, axis), 0, 1e-13);
    k = perp_spatial_curvature(&s.shape, edge(0), out, at);
    NEAR(along(&k, tangent), 4, 1e-13);
    NEAR(along(&k, axis), 0, 1e-13);
    k = perp_spatial_curvature(&s.shape, corner(1), slant, at);
    NEAR(along(&k, tangent), 4, 1e-13);
    NEAR(along(&k, perp_vec3_cross(tangent, slant)), 4, 1e-13);
    k = perp_spatial_curvature(&c.shape, face(1), axis, at);
    NEAR(along(&k, tangent) + along(&k, out), 0, 0);
    const body b = box(vec(0, 0, 0), turn, 1, 2, 3);
    const perp_vec3 x = perp_mat3_mul_vec(&r, vec(1, 0, 0)), y = perp_mat3_mul_vec(&r, vec(0, 1, 0));
    const perp_vec3 up = perp_vec3_scale(half_root, perp_vec3_add(y, axis));
    k = perp_spatial_curvature(&b.shape, edge(3), up, at); /* along x, at +y and +z */
    NEAR(along(&k, x), 0, 1e-6);
    NEAR(along(&k, perp_vec3_cross(x, up)), 1e9, 1);
    k = perp_spatial_curvature(&b.shape, corner(7), up, at);
    NEAR(along(&k, x), 1e9, 1);
    NEAR(along(&k, up), 0, 1e-6);
    k = perp_spatial_curvature(&b.shape, face(0), x, at);
    NEAR(along(&k, y), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_curvature),
        cmocka_unit_test(curvature_of_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
