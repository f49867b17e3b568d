/* spatial_hole_reference.h - holes and what is put into them for the tests, and two slow distances to compare with,
 * neither of which shares anything with the product.
 *
 * Apart (sampled_distance): the smallest signed distance of a point of the shape's surface to the solid, by sampling
 * the surface and refining by pattern search; it knows nothing of half plates or normals. In general (slow_phi): min
 * over the angle of max over the normal's slope, on grids with golden sections, from the support function alone. */
#ifndef PERP_TESTS_GEOMETRY_SPATIAL_HOLE_REFERENCE_H
#define PERP_TESTS_GEOMETRY_SPATIAL_HOLE_REFERENCE_H

#include "spatial_shapes.h"

static const double pi = 3.141592653589793;

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static inline perp_spatial_shape hole_at(perp_pose pose, double radius, double length)
{
    return (perp_spatial_shape){.kind = PERP_SPATIAL_HOLE,
                                .position = pose.position,
                                .rotation = perp_quat_to_mat3(pose.rotation),
                                .radius = radius,
                                .half_length = length / 2};
}

static inline perp_spatial_shape hole_of(double radius, double length)
{
    return hole_at(perp_pose_identity(), radius, length);
}

static inline body pin(perp_vec3 at, perp_quat turn, double radius, double length)
{
    body b = new_body(PERP_SPATIAL_CYLINDER, radius);
    b.shape.half_length = length / 2;
    b.size = length + 2 * radius;
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

static inline body ellipsoid(perp_vec3 at, perp_quat turn, double x, double y, double z)
{
    body b = new_body(PERP_SPATIAL_ELLIPSOID, 0);
    b.shape.half_lengths = vec(x, y, z);
    b.size = 2 * fmax(x, fmax(y, z));
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

static inline perp_quat about(double x, double y, double z, double angle)
{
    return perp_quat_from_axis_angle(perp_vec3_normalise(vec(x, y, z)), angle);
}

/* ---- random pairs ------------------------------------------------------------------------------------------------ */

static inline double small(perp_random *random, double size)
{
    return perp_random_uniform(random, -size, size);
}

/* A vector within +-size in each coordinate. */
static inline perp_vec3 small_vec(perp_random *random, double x, double y, double z)
{
    const perp_vec3 v = random_vec(random);
    return vec(x * v.x, y * v.y, z * v.z);
}

/* Something that fits the bore, or nearly so, in or about it: radius about 1, the hole's length 0.3 .. 4. */
static inline body random_shape(perp_random *random, int kind)
{
    const double r = perp_random_uniform(random, 0.4, 1.05), l = log_uniform(random, 0.3, 6);
    const double part = perp_random_uniform(random, 0.2, 1);
    const bool any = perp_random_uniform(random, 0, 1) < 0.2;
    const perp_quat q = any ? random_quat(random) : perp_quat_exp(small_vec(random, 0.4, 0.4, 3));
    const perp_vec3 at = small_vec(random, 0.6, 0.6, 3);
    body b;
    switch (kind) {
    case 0:
        b = sphere(at, r);
        break;
    case 1:
        b = capsule(at, q, l, r * part);
        break;
    case 2:
        b = box(at, q, 1.4 * r, 1.4 * r * part, l);
        break;
    case 3:
        b = random_hull(random, 2 * r, 2 * r * part, l);
        break;
    case 4:
        b = pin(at, q, r, l);
        break;
    default:
        b = ellipsoid(at, q, r, r * part, l / 2);
        break;
    }
    b.pose = (perp_pose){q, at};
    place(&b);
    return b;
}

/* ---- references -------------------------------------------------------------------------------------------------- */

/* A point of the shape's boundary (of its core's, where it has a radius and corners) for u, v in [0, 1], in the shape's
 * frame; for polytopes of the triangle `t`. */
static inline perp_vec3 surface(const body *b, int t, double u, double v)
{
    const perp_spatial_shape *s = &b->shape;
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        return vec(0, 0, 0);
    case PERP_SPATIAL_SEGMENT:
        return vec(0, 0, (2 * u - 1) * s->half_length);
    case PERP_SPATIAL_CYLINDER: {
        const double a = 2 * pi * v, r = t == 0 ? s->radius : u * s->radius;
        return vec(r * cos(a), r * sin(a), t == 0 ? (2 * u - 1) * s->half_length : (t == 1 ? -1 : 1) * s->half_length);
    }
    case PERP_SPATIAL_ELLIPSOID: {
        const double a = 2 * pi * v, c = pi * u, x = sin(c) * cos(a), y = sin(c) * sin(a), z = cos(c);
        const perp_vec3 h = s->half_lengths; /* the poles of the three patches are on different axes */
        return t == 0   ? vec(h.x * x, h.y * y, h.z * z)
               : t == 1 ? vec(h.x * y, h.y * z, h.z * x)
                        : vec(h.x * z, h.y * x, h.z * y);
    }
    default: {
        const perp_vec3 p = b->local[b->triangle[t][0]], q = b->local[b->triangle[t][1]],
                        r = b->local[b->triangle[t][2]];
        const perp_vec3 side = perp_vec3_add_scaled(perp_vec3_scale(1 - v, q), v, r);
        return perp_vec3_add_scaled(perp_vec3_scale(1 - u, p), u, side);
    }
    }
}

static inline int patches(const body *b)
{
    return b->shape.kind >= PERP_SPATIAL_CYLINDER ? 3 : b->triangles > 0 ? b->triangles : 1;
}

/* Signed distance of a point in the hole's frame to the solid. */
static inline double solid_distance(const perp_spatial_shape *hole, perp_vec3 p)
{
    const double rho = hypot(p.x, p.y), over = fabs(p.z) - hole->half_length, out = rho - hole->radius;
    if (over <= 0) {
        return out <= 0 ? -out : -fmin(out, -over);
    }
    return out >= 0 ? over : hypot(out, over);
}

static inline double at_surface(const body *b, const perp_spatial_shape *hole, int t, double u, double v)
{
    const perp_vec3 world =
        perp_vec3_add(b->shape.position, perp_mat3_mul_vec(&b->shape.rotation, surface(b, t, u, v)));
    return solid_distance(hole, perp_mat3_tmul_vec(&hole->rotation, perp_vec3_sub(world, hole->position)));
}

/* Pattern search in the patch from (u, v); v wraps round where the patch is round. */
static inline double descend(const body *b, const perp_spatial_shape *hole, int t, double u, double v, double step)
{
    const bool wraps = b->triangles == 0;
    double best = at_surface(b, hole, t, u, v);
    while (step > 1e-11) {
        bool moved = false;
        for (int k = 0; k < 16; k++) {
            const double a = pi / 8 * k, x = fmin(fmax(u + step * cos(a), 0), 1);
            const double y = wraps ? v + step * sin(a) : fmin(fmax(v + step * sin(a), 0), 1);
            const double value = at_surface(b, hole, t, x, y);
            if (value < best) {
                best = value;
                u = x;
                v = y;
                moved = true;
            }
        }
        step *= moved ? 1.2 : 0.5;
    }
    return best;
}

static inline double sampled_distance(const body *b, const perp_spatial_shape *hole)
{
    enum { N = 40, STARTS = 6 };
    double best = INFINITY;
    for (int t = 0; t < patches(b); t++) {
        static double grid[N + 1][N + 1];
        for (int i = 0; i <= N; i++) {
            for (int j = 0; j <= N; j++) {
                grid[i][j] = at_surface(b, hole, t, (double)i / N, (double)j / N);
            }
        }
        double starts[STARTS][3];
        int count = 0;
        for (int i = 0; i <= N; i++) {
            for (int j = 0; j <= N; j++) { /* the lowest local minima of the grid */
                bool low = true;
                for (int k = 0; k < 9 && low; k++) {
                    const int p = i + k / 3 - 1, q = j + k % 3 - 1;
                    low = p < 0 || q < 0 || p > N || q > N || grid[p][q] >= grid[i][j];
                }
                if (!low) {
                    continue;
                }
                int place_ = count < STARTS ? count++ : STARTS;
                if (place_ == STARTS) {
                    int worst = 0;
                    for (int k = 1; k < STARTS; k++) {
                        worst = starts[k][2] > starts[worst][2] ? k : worst;
                    }
                    if (starts[worst][2] <= grid[i][j]) {
                        continue;
                    }
                    place_ = worst;
                }
                starts[place_][0] = (double)i / N;
                starts[place_][1] = (double)j / N;
                starts[place_][2] = grid[i][j];
            }
        }
        for (int k = 0; k < count; k++) {
            best = fmin(best, descend(b, hole, t, starts[k][0], starts[k][1], 1.0 / N));
        }
    }
    return best - (b->shape.kind <= PERP_SPATIAL_SEGMENT ? b->shape.radius : 0);
}

/* Reach of the shape along a world direction. */
static inline double reach(const body *b, perp_vec3 world)
{
    const perp_spatial_shape *s = &b->shape;
    const perp_vec3 d = perp_mat3_tmul_vec(&s->rotation, world);
    double far = -INFINITY;
    if (s->kind == PERP_SPATIAL_CYLINDER) {
        far = s->half_length * fabs(d.z) + s->radius * hypot(d.x, d.y);
    } else if (s->kind == PERP_SPATIAL_ELLIPSOID) {
        const perp_vec3 h = s->half_lengths;
        far = hypot(hypot(h.x * d.x, h.y * d.y), h.z * d.z);
    } else {
        for (int i = 0; i < b->points; i++) {
            far = fmax(far, perp_vec3_dot(d, b->local[i]) + s->radius);
        }
    }
    return far + perp_vec3_dot(world, s->position);
}

/* At an angle, given by its cosine and sine, and a slope. */
static inline double along(const body *b, const perp_spatial_shape *hole, const double e[2], double slope)
{
    const double c = cos(slope), s = sin(slope);
    const perp_vec3 n = perp_mat3_mul_vec(&hole->rotation, vec(c * e[0], c * e[1], s));
    const double plate = hole->radius * c - hole->half_length * fabs(s);
    return plate + perp_vec3_dot(n, hole->position) - reach(b, n);
}

/* The largest of `along` over the slope, or any as large as `enough`. */
static inline double half_plate_to(const body *b, const perp_spatial_shape *hole, double angle, double enough)
{
    enum { N = 300, STRIDE = 43 }; /* 7 * 43 = N + 1: every 43rd first, for the sake of `enough` */
    const double golden = 0.6180339887498949, e[2] = {cos(angle), sin(angle)};
    double best = -INFINITY, value[N + 1];
    for (int k = 0; k <= N; k++) {
        const int i = k % 7 * STRIDE + k / 7;
        value[i] = along(b, hole, e, pi * (i - N / 2) / N);
        best = fmax(best, value[i]);
        if (best >= enough) {
            return best;
        }
    }
    for (int i = 0; i <= N; i++) {
        if ((i > 0 && value[i - 1] > value[i]) || (i < N && value[i + 1] > value[i])) {
            continue;
        }
        double lo = pi * (fmax(i - 1, 0) - N / 2) / N, hi = pi * (fmin(i + 1, N) - N / 2) / N;
        double x = hi - golden * (hi - lo), y = lo + golden * (hi - lo);
        double fx = along(b, hole, e, x), fy = along(b, hole, e, y);
        while (hi - lo > 1e-10) {
            best = fmax(best, fmax(fx, fy));
            if (fx > fy) {
                hi = y;
                y = x;
                fy = fx;
                x = hi - golden * (hi - lo);
                fx = along(b, hole, e, x);
            } else {
                lo = x;
                x = y;
                fx = fy;
                y = lo + golden * (hi - lo);
                fy = along(b, hole, e, y);
            }
        }
    }
    return best;
}

static inline double half_plate(const body *b, const perp_spatial_shape *hole, double angle)
{
    return half_plate_to(b, hole, angle, INFINITY);
}

static inline double slow_phi(const body *b, const perp_spatial_shape *hole)
{
    enum { N = 90 };
    const double golden = 0.6180339887498949;
    double value[N], best = INFINITY;
    for (int i = 0; i < N; i++) {
        value[i] = half_plate(b, hole, 2 * pi * i / N);
        best = fmin(best, value[i]);
    }
    for (int i = 0; i < N; i++) {
        if (value[i] > value[(i + 1) % N] || value[i] > value[(i + N - 1) % N]) {
            continue;
        }
        double lo = 2 * pi * (i - 1) / N, hi = 2 * pi * (i + 1) / N;
        double x = hi - golden * (hi - lo), y = lo + golden * (hi - lo);
        double fx = half_plate(b, hole, x), fy = half_plate(b, hole, y);
        while (hi - lo > 1e-9) {
            best = fmin(best, fmin(fx, fy));
            if (fx < fy) {
                hi = y;
                y = x;
                fy = fx;
                x = hi - golden * (hi - lo);
                fx = half_plate(b, hole, x);
            } else {
                lo = x;
                x = y;
                fx = fy;
                y = lo + golden * (hi - lo);
                fy = half_plate(b, hole, y);
            }
        }
    }
    return best;
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

/* Distance of a world point to the surface of a capsule. */
static inline double off_capsule(const body *b, perp_vec3 world)
{
    const perp_spatial_shape *s = &b->shape;
    const perp_vec3 p = perp_mat3_tmul_vec(&s->rotation, perp_vec3_sub(world, s->position));
    const double over = fmax(fabs(p.z) - s->half_length, 0);
    return fabs(hypot(hypot(p.x, p.y), over) - s->radius);
}

/* Distance of a world point to the surface of a round shape, of an ellipsoid to first order; of a capsule to the balls
 * at its ends too, for the witness of an end may be inside where the axis is tilted. */
static inline double off_x(const body *b, perp_vec3 world)
{
    const perp_spatial_shape *s = &b->shape;
    const perp_vec3 p = perp_mat3_tmul_vec(&s->rotation, perp_vec3_sub(world, s->position)), h = s->half_lengths;
    if (s->kind == PERP_SPATIAL_CYLINDER) {
        const double out = hypot(p.x, p.y) - s->radius, over = fabs(p.z) - s->half_length;
        return fabs(out <= 0 && over <= 0 ? fmax(out, over) : hypot(fmax(out, 0), fmax(over, 0)));
    }
    if (s->kind == PERP_SPATIAL_ELLIPSOID) {
        return fabs(hypot(hypot(p.x / h.x, p.y / h.y), p.z / h.z) - 1) * fmin(h.x, fmin(h.y, h.z));
    }
    const double balls[2] = {fabs(hypot(hypot(p.x, p.y), p.z - s->half_length) - s->radius),
                             fabs(hypot(hypot(p.x, p.y), p.z + s->half_length) - s->radius)};
    return fmin(off_capsule(b, world), fmin(balls[0], balls[1]));
}

/* Distance of a world point to the solid's surface. */
static inline double off_solid(const perp_spatial_shape *hole, perp_vec3 world)
{
    return fabs(solid_distance(hole, perp_mat3_tmul_vec(&hole->rotation, perp_vec3_sub(world, hole->position))));
}

#endif
