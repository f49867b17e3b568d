/* What a step of a rung does with a manifold: it takes a motion whose linearised gaps are all >= 0. The true gap after
 * such a motion may be negative by the square of the motion only, or a point was missing that the shapes turn about. */
#include "spatial_manifold_test.h"

static const double turn = 1e-3; /* rad; motions are turn times a size */

/* b after a random motion by `turn` that is lifted along n until no linearised gap is negative. */
static body stepped(const body *b, const perp_manifold *m, perp_vec3 n, double size, perp_random *random)
{
    const perp_vec3 d = perp_vec3_scale(turn * size, random_vec(random));
    const perp_vec3 w = perp_vec3_scale(turn, perp_vec3_normalise(random_vec(random)));
    double lift = -INFINITY;
    for (int i = 0; i < m->count; i++) {
        const perp_separation *p = &m->points[i].at;
        const perp_vec3 v = perp_vec3_add(d, perp_vec3_cross(w, perp_vec3_sub(p->point_b, b->pose.position)));
        lift = fmax(lift, -(p->phi + perp_vec3_dot(p->normal, v)) / perp_vec3_dot(p->normal, n));
    }
    body moved = *b;
    moved.pose.position = perp_vec3_add_scaled(perp_vec3_add(b->pose.position, d), lift, n);
    moved.pose.rotation = perp_quat_mul(perp_quat_exp(w), b->pose.rotation);
    place(&moved);
    return moved;
}

/* The deepest of 100 such motions, m. */
static double deepest(const perp_spatial_shape *a, const body *b, double size, perp_random *random)
{
    const perp_manifold m = perp_spatial_manifold_build(a, &b->shape, INFINITY);
    const perp_vec3 n = perp_spatial_distance(a, &b->shape).normal;
    double worst = 0;
    for (int k = 0; k < 100; k++) {
        const body moved = stepped(b, &m, n, size, random);
        worst = fmax(worst, -perp_spatial_distance(a, &moved.shape).phi);
    }
    return worst;
}

static void touch(const perp_spatial_shape *a, body *b)
{
    for (int k = 0; k < 4; k++) {
        const perp_separation s = perp_spatial_distance(a, &b->shape);
        b->pose.position = perp_vec3_add_scaled(b->pose.position, -s.phi, s.normal);
        place(b);
    }
}

/* A cylinder or capsule that lies along an edge of a box or of the same box as a hull, on the edge or over a face
 * beside it, and almost parallel to it. Where line and edge cross at the angle c, their gap the way s from there is
 * (c s)^2 / 2 r. Between two points that are L apart it is lower than its chord by up to (c L)^2 / 8 r; but to close
 * the gap at the far point, (c L)^2 / 2 r, takes a motion of w L: w L / 4 at most, where one point would let it be w L.
 * Edges are not followed beyond c = 0.17: there turning by w about the crossing takes at most w s from the gap, so is
 * w^2 r / 2 c^2 = 17 w^2 r deep. The motion's own second order adds a few w^2 size. */
static void round_lines_beside_edges(void **state)
{
    (void)state;
    perp_random random = {5};
    for (int i = 0; i < 600; i++) {
        const double lx = perp_random_uniform(&random, 0.05, 0.2), ly = perp_random_uniform(&random, 0.05, 0.2);
        const double lz = perp_random_uniform(&random, 0.05, 0.2), r = perp_random_uniform(&random, 0.02, 0.06);
        body a = box(vec(0, 0, 0), perp_quat_identity(), lx, ly, lz);
        if (i % 4 > 1) {
            perp_vec3 corners[8];
            for (int k = 0; k < 8; k++) {
                corners[k] = a.local[k];
            }
            assert_true(hull_of(corners, 8, &a));
            place(&a); /* a body's shape points into it */
        }
        a.pose.rotation = random_quat(&random);
        place(&a);
        const double length = perp_random_uniform(&random, 0.05, 0.2), around = perp_random_uniform(&random, -0.1, 1.6);
        const perp_vec3 at = vec(lx / 2 + 2 * r * cos(around), ly / 2 + 2 * r * sin(around),
                                 perp_random_uniform(&random, -0.3, 0.3) * (lz + length));
        const perp_quat lean = perp_quat_exp(perp_vec3_scale(log_uniform(&random, 1e-5, 0.2), random_vec(&random)));
        const perp_quat rotation = perp_quat_mul(a.pose.rotation, lean);
        const perp_vec3 position = perp_quat_rotate(a.pose.rotation, at);
        body b = i % 2 ? cylinder(position, rotation, length, r) : capsule(position, rotation, length, r);
        place(&b);
        touch(&a.shape, &b);
        const double deep = deepest(&a.shape, &b, 0.1, &random);
        if (!(deep <= 0.25 * turn * fmin(length, lz) + turn * turn * (17 * r + 5 * 0.2))) {
            print_error("case %d: %g m deep\n", i, deep);
            fail();
        }
        drop(&a);
    }
}

/* A cylinder that stands tilted on its rim. Its lowest point moves around the rim by the angle that the motion and the
 * tilt make, at most 30 degrees here, where the points on the rim are at most 30 degrees (plane) or 45 (face: every
 * second of 16 next to the running one) apart, so that the rim's lowest is lower than a point by no more than
 * (1 - cos 15) or (1 - cos 22.5) of radius times tilt. */
static void rims(void **state)
{
    (void)state;
    perp_random random = {6};
    const perp_spatial_shape plane = halfspace(vec(0, 0, 1), 0);
    for (int i = 0; i < 600; i++) {
        const body table = box(vec(0, 0, -0.1), random_quat(&random), 2, 2, 2);
        const bool on_plane = i % 2 == 0;
        const perp_spatial_shape *a = on_plane ? &plane : &table.shape;
        const double r = perp_random_uniform(&random, 0.02, 0.06), length = perp_random_uniform(&random, 0.02, 0.2);
        const double tilt = log_uniform(&random, 2 * turn, 0.5), azimuth = perp_random_uniform(&random, -pi, pi);
        const perp_quat up = on_plane ? perp_quat_identity() : table.pose.rotation;
        const perp_quat lean = perp_quat_from_axis_angle(vec(cos(azimuth), sin(azimuth), 0), tilt);
        body b = cylinder(perp_quat_rotate(up, vec(0, 0, 3)), perp_quat_mul(up, lean), length, r);
        touch(a, &b);
        const double deep = deepest(a, &b, 0.1, &random), apart = (on_plane ? 30 : 45) * pi / 180;
        if (!(deep <= (1 - cos(apart / 2)) * r * (tilt + turn) + 5 * 0.2 * turn * turn)) {
            print_error("case %d (tilt %g): %g m deep\n", i, tilt, deep);
            fail();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_lines_beside_edges),
        cmocka_unit_test(rims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
