/* sweep_geometry_shapes.h - random shapes and placements for the sweep of distances. */
#ifndef PERP_TESTS_QUALIFY_SWEEP_GEOMETRY_SHAPES_H
#define PERP_TESTS_QUALIFY_SWEEP_GEOMETRY_SHAPES_H

#include <perp/geometry.h>
#include <perp/geometry_hull.h>

#include <stdlib.h>

enum { MAX_POINTS = 40, MAX_TRIANGLES = 2 * MAX_POINTS - 4 };

/* A spatial shape that owns its hull; not to be copied. */
typedef struct solid {
    perp_spatial_shape shape;
    perp_spatial_hull hull;
    int triangle_count;
    perp_vec3 triangles[MAX_TRIANGLES][3]; /* of the hull's surface, in the shape's frame */
    perp_vec3 half;                        /* of a box in the shape's frame that holds the core, m */
    double core;                           /* a ball of this diameter about the position holds the core, m */
    double smallest;                       /* its smallest extent that is not zero, m; halfspace: infinite */
} solid;

static inline double uniform(perp_random *random)
{
    return perp_random_uniform(random, 0, 1);
}

static inline int pick(perp_random *random, int count)
{
    return (int)(perp_random_bits(random) % (uint64_t)count);
}

static inline double log_uniform(perp_random *random, double low, double high)
{
    return exp(perp_random_uniform(random, log(low), log(high)));
}

static inline perp_vec3 random_vec(perp_random *random)
{
    const double x = perp_random_uniform(random, -1, 1), y = perp_random_uniform(random, -1, 1);
    return perp_vec3_make(x, y, perp_random_uniform(random, -1, 1));
}

static inline perp_mat3 random_rotation(perp_random *random)
{
    const perp_vec3 v = random_vec(random);
    return perp_quat_to_mat3(perp_quat_normalise((perp_quat){perp_random_uniform(random, -1, 1), v.x, v.y, v.z}));
}

/* One of the 24 rotations of a cube, exactly. */
static inline perp_mat3 cube_rotation(perp_random *random)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int order = pick(random, 6);
    const double s[2] = {pick(random, 2) ? 1 : -1, pick(random, 2) ? 1 : -1};
    perp_mat3 r = {{0}};
    r.m[orders[order][0]] = s[0];
    r.m[3 + orders[order][1]] = s[1];
    r.m[6 + orders[order][2]] = (order < 3 ? 1 : -1) * s[0] * s[1];
    return r;
}

/* ---- hulls --------------------------------------------------------------------------------------------------------
 */

/* Points in a cube of half length 1, to be scaled. The last three kinds are nearly degenerate: a slab of 1e-6 .. 1e-3
 * of the size, a sliver with two edges as short as that, and nearly coplanar points under an apex. */
static inline int hull_points(perp_random *random, perp_vec3 *p)
{
    const int kind = pick(random, 8);
    const double little = log_uniform(random, 1e-6, 1e-3), noise = log_uniform(random, 1e-12, 1e-3);
    int count = uniform(random) < 0.8 ? 4 + pick(random, 13) : 17 + pick(random, MAX_POINTS - 16);
    count = kind == 3 ? 8 : kind == 6 ? 4 : count;
    for (int i = 0; i < count; i++) {
        const perp_vec3 v = random_vec(random), box = perp_vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
        const double angle = 6.283185307179586 * (i / 2) / (count / 2);
        switch (kind) {
        case 1: /* on a sphere */
            p[i] = perp_vec3_normalise(v);
            break;
        case 2: /* a prism */
            p[i] = perp_vec3_make(cos(angle), sin(angle), i & 1 ? 1 : -1);
            break;
        case 3: /* a box, slightly off: nearly coplanar faces */
            p[i] = perp_vec3_add_scaled(box, noise, v);
            break;
        case 5:
            p[i] = perp_vec3_make(v.x, v.y, little * v.z);
            break;
        case 6:
            p[i] = perp_vec3_make(i & 1 ? 1 + little * v.x : -1 + little * v.x, little * v.y, i & 2 ? v.z : 0.5 * v.z);
            break;
        case 7:
            p[i] = perp_vec3_make(v.x, v.y, i == 0 ? 1 : noise * v.z);
            break;
        default: /* in the cube */
            p[i] = v;
            break;
        }
    }
    return count;
}

/* Width of the hull: its smallest extent along the normals of its triangles. */
static inline double hull_width(const solid *s)
{
    double least = INFINITY;
    const perp_vec3 *c = s->hull.corners;
    for (int t = 0; t < s->triangle_count; t++) {
        const perp_vec3 *k = s->triangles[t];
        const perp_vec3 n = perp_vec3_normalise(perp_vec3_cross(perp_vec3_sub(k[1], k[0]), perp_vec3_sub(k[2], k[0])));
        double deepest = 0;
        for (int i = 0; i < s->hull.corner_count; i++) {
            deepest = fmax(deepest, perp_vec3_dot(n, perp_vec3_sub(k[0], c[i])));
        }
        least = deepest > 0 ? fmin(least, deepest) : least;
    }
    return least;
}

static inline bool hull_of(const perp_vec3 *points, int count, solid *s)
{
    perp_hull hull;
    if (perp_hull_build(points, count, NULL, &hull, NULL) != PERP_STATUS_OK) {
        return false;
    }
    const perp_status status = perp_spatial_hull_prepare(hull.points, hull.point_count, hull.triangles,
                                                         hull.triangle_count, NULL, &s->hull, NULL);
    s->triangle_count = hull.triangle_count;
    for (int i = 0; i < 3 * hull.triangle_count; i++) {
        s->triangles[i / 3][i % 3] = hull.points[hull.triangles[i]];
    }
    perp_hull_free(&hull);
    s->shape.hull = &s->hull;
    return status == PERP_STATUS_OK;
}

static inline void random_hull(perp_random *random, perp_vec3 half, solid *s)
{
    perp_vec3 p[MAX_POINTS];
    int count;
    do {
        count = hull_points(random, p);
        for (int i = 0; i < count; i++) {
            p[i] = perp_vec3_make(half.x * p[i].x, half.y * p[i].y, half.z * p[i].z);
        }
    } while (!hull_of(p, count, s));
    s->core = s->hull.size;
    s->smallest = hull_width(s);
}

/* ---- shapes -------------------------------------------------------------------------------------------------------
 */

/* Half lengths with aspect ratios up to `ratio`, the longest 0.5e-3 .. 5 m, in any order. */
static inline perp_vec3 random_half(perp_random *random, double ratio)
{
    const double size = log_uniform(random, 0.5e-3, 5), thin = size / log_uniform(random, 1, ratio);
    const double sizes[3] = {size, uniform(random) < 0.2 ? size : log_uniform(random, thin, size * 1.0000001), thin};
    const int first = pick(random, 3), turn = 1 + pick(random, 2);
    return perp_vec3_make(sizes[first], sizes[(first + turn) % 3], sizes[(first + 2 * turn) % 3]);
}

static inline double least_of(perp_vec3 v)
{
    return fmin(v.x, fmin(v.y, v.z));
}

/* At the origin, turned or not. */
static inline void random_solid(perp_random *random, perp_spatial_kind kind, double ratio, solid *s)
{
    const perp_vec3 half = random_half(random, ratio), zero = {0, 0, 0};
    const bool thick = uniform(random) < 0.8; /* points and segments with a radius */
    const perp_mat3 turn = random_rotation(random), none = perp_quat_to_mat3(perp_quat_identity());
    *s = (solid){.shape = {.kind = kind, .rotation = uniform(random) < 0.75 ? turn : none}, .half = half};
    perp_spatial_shape *shape = &s->shape;
    switch (kind) {
    case PERP_SPATIAL_POINT:
        shape->radius = thick ? half.x : 0;
        s->half = zero;
        s->smallest = thick ? 2 * half.x : INFINITY;
        break;
    case PERP_SPATIAL_SEGMENT:
        shape->radius = thick ? half.x : 0;
        shape->half_length = half.z;
        s->half = perp_vec3_make(0, 0, half.z);
        s->core = 2 * half.z;
        s->smallest = 2 * (thick ? half.x : half.z);
        break;
    case PERP_SPATIAL_HULL:
        random_hull(random, half, s);
        break;
    case PERP_SPATIAL_CYLINDER:
        shape->radius = half.x;
        shape->half_length = half.z;
        s->half.y = half.x;
        s->core = 2 * hypot(half.x, half.z);
        s->smallest = 2 * fmin(half.x, half.z);
        break;
    case PERP_SPATIAL_HOLE:
        shape->radius = half.x;
        shape->half_length = half.z;
        s->half = zero;
        s->core = half.x; /* what counts for ties */
        s->smallest = INFINITY;
        break;
    case PERP_SPATIAL_HALFSPACE:
        s->half = zero;
        s->smallest = INFINITY;
        break;
    default: /* a box or an ellipsoid */
        shape->half_lengths = half;
        s->core = 2 * (kind == PERP_SPATIAL_BOX ? perp_vec3_norm(half) : fmax(half.x, fmax(half.y, half.z)));
        s->smallest = 2 * least_of(half);
        break;
    }
}

static inline void drop(solid *s)
{
    perp_spatial_hull_free(&s->hull);
}

static inline double rounding_of(const perp_spatial_shape *s)
{
    return s->kind == PERP_SPATIAL_POINT || s->kind == PERP_SPATIAL_SEGMENT ? s->radius : 0;
}

/* A ball of this radius about the position holds the shape, of a hole its bore; of a halfspace a length to go with. */
static inline double reach_of(const solid *s)
{
    if (s->shape.kind == PERP_SPATIAL_HOLE) {
        return hypot(s->shape.radius, s->shape.half_length);
    }
    return s->shape.kind == PERP_SPATIAL_HALFSPACE ? 1e-3 : s->core / 2 + rounding_of(&s->shape);
}

/* ---- placements ---------------------------------------------------------------------------------------------------
 */

/* A gap to bring about: within 10 % of the smaller one's thickness, next to nothing, nothing, or like the sizes. */
static inline double wanted_gap(perp_random *random, const solid *a, const solid *b)
{
    const double thin = fmin(a->smallest, b->smallest), scale = isfinite(thin) ? thin : 1e-3;
    const double sign = pick(random, 2) ? 1 : -1, choice = uniform(random);
    if (choice < 0.3) {
        return perp_random_uniform(random, -0.1, 0.1) * scale;
    }
    if (choice < 0.65) {
        return sign * log_uniform(random, 1e-12, 1e-3);
    }
    return choice < 0.75 ? 0.0 : log_uniform(random, 1e-3, 3) * (reach_of(a) + reach_of(b));
}

/* Axes along axes, or nearly so; faces in one plane, one over another, corners over corners. */
static inline void align(perp_random *random, const solid *a, solid *b)
{
    const perp_mat3 cube = cube_rotation(random), frame = perp_mat3_mul(&a->shape.rotation, &cube);
    const perp_mat3 tilt =
        perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(log_uniform(random, 1e-13, 1e-4), random_vec(random))));
    b->shape.rotation = uniform(random) < 0.7 ? frame : perp_mat3_mul(&tilt, &frame);
    const perp_vec3 g = perp_mat3_mul_vec(&cube, b->half);
    const double radii = rounding_of(&a->shape) + rounding_of(&b->shape);
    const double together[3] = {a->half.x + fabs(g.x), a->half.y + fabs(g.y), a->half.z + fabs(g.z)};
    double at[3];
    const int over = pick(random, 3);
    for (int k = 0; k < 3; k++) {
        const int how = pick(random, 4);
        at[k] = how == 0 ? 0 : how == 1 ? together[k] : perp_random_uniform(random, -1, 1) * together[k];
    }
    at[over] = (together[over] + radii + wanted_gap(random, a, b)) * (pick(random, 2) ? 1 : -1);
    const perp_vec3 local = perp_vec3_make(at[0], at[1], at[2]);
    b->shape.position = perp_vec3_add(a->shape.position, perp_mat3_mul_vec(&a->shape.rotation, local));
}

/* x in or about a bore, in line with it, nearly, or not at all; a pin from a needle to one that is too thick. */
static inline void put_in_hole(perp_random *random, solid *hole, solid *x)
{
    const double wide = hole->shape.radius, deep = hole->shape.half_length;
    const perp_vec3 tilt = perp_vec3_scale(log_uniform(random, 1e-9, 1), random_vec(random));
    const perp_mat3 turn = perp_quat_to_mat3(perp_quat_exp(pick(random, 4) ? tilt : perp_vec3_scale(0, tilt)));
    x->shape.radius = pick(random, 5) ? wide * perp_random_uniform(random, 0.01, 1.1) : 0;
    if (x->shape.kind == PERP_SPATIAL_SEGMENT) {
        x->shape.half_length = deep * perp_random_uniform(random, 0.01, 1.5);
    }
    x->core = 2 * x->shape.half_length;
    x->smallest = x->shape.radius > 0 ? 2 * x->shape.radius : fmax(x->core, 1e-6);
    x->shape.rotation = perp_mat3_mul(&turn, &hole->shape.rotation);
    const double angle = 6.283185307179586 * uniform(random), out = pick(random, 10) ? 1.2 * uniform(random) : 0;
    const double room = pick(random, 2) ? fabs(wide - x->shape.radius) : wide;
    const perp_vec3 at =
        perp_vec3_make(out * room * cos(angle), out * room * sin(angle), deep * perp_random_uniform(random, -1.3, 1.3));
    hole->shape.position = perp_vec3_scale(pick(random, 5) == 0 ? 0 : 10, random_vec(random));
    x->shape.position = perp_vec3_add(hole->shape.position, perp_mat3_mul_vec(&hole->shape.rotation, at));
}

/* Any shape about a bore that is made to its measure: in line with one of its axes, nearly, or not at all; wherever it
 * comes to be, or brought to a gap. */
static inline void put_about_hole(perp_random *random, solid *hole, solid *x)
{
    const perp_mat3 cube = cube_rotation(random);
    const perp_vec3 half = perp_mat3_mul_vec(&cube, x->half), tilt = random_vec(random);
    const double across = pick(random, 2) ? hypot(half.x, half.y) : fmax(fabs(half.x), fabs(half.y));
    const double wide =
        across * (pick(random, 3) ? perp_random_uniform(random, 0.8, 1.6) : log_uniform(random, 0.3, 9));
    const double deep = fabs(half.z) * log_uniform(random, 0.05, 5), how = uniform(random);
    const perp_mat3 turn =
        perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(how < 0.3 ? 0 : log_uniform(random, 1e-9, 1), tilt)));
    const perp_mat3 line = perp_mat3_mul(&turn, &cube);
    hole->shape.radius = hole->core = fmin(fmax(wide, 0.5e-3), 5);
    hole->shape.half_length = fmin(fmax(deep, 0.25e-3), 5);
    hole->shape.position = perp_vec3_scale(pick(random, 5) == 0 ? 0 : 10, random_vec(random));
    x->shape.rotation = how < 0.8 ? perp_mat3_mul(&hole->shape.rotation, &line) : x->shape.rotation;
    const double angle = 6.283185307179586 * uniform(random), out = pick(random, 10) ? 1.2 * uniform(random) : 0;
    const double room = out * (pick(random, 2) ? fabs(hole->shape.radius - across) : hole->shape.radius);
    const double along = 1.1 * (hole->shape.half_length + fabs(half.z)) * perp_random_uniform(random, -1, 1);
    const perp_vec3 at = perp_vec3_make(room * cos(angle), room * sin(angle), along);
    x->shape.position = perp_vec3_add(hole->shape.position, perp_mat3_mul_vec(&hole->shape.rotation, at));
    if (pick(random, 2)) {
        const double wanted = wanted_gap(random, hole, x);
        for (int k = 0; k < 2; k++) {
            const perp_separation s = perp_spatial_distance(&hole->shape, &x->shape);
            x->shape.position = perp_vec3_add_scaled(x->shape.position, wanted - s.phi, s.normal);
        }
    }
}

/* b about a. */
static inline void put(perp_random *random, solid *a, solid *b)
{
    const double choice = uniform(random), reach = reach_of(a) + reach_of(b);
    const perp_vec3 direction = perp_vec3_normalise(random_vec(random));
    if (a->shape.kind == PERP_SPATIAL_HOLE || b->shape.kind == PERP_SPATIAL_HOLE) {
        solid *hole = a->shape.kind == PERP_SPATIAL_HOLE ? a : b, *x = hole == a ? b : a;
        if (x->shape.kind <= PERP_SPATIAL_SEGMENT) {
            put_in_hole(random, hole, x);
        } else {
            put_about_hole(random, hole, x);
        }
        return;
    }
    a->shape.position = perp_vec3_scale(pick(random, 5) == 0 ? 0 : 10, random_vec(random));
    b->shape.position = a->shape.position;
    if (choice < 0.06) { /* coinciding centres */
        b->shape.rotation = pick(random, 2) ? a->shape.rotation : b->shape.rotation;
    } else if (choice < 0.25) {
        const double far = log_uniform(random, 1e-3, 2) * reach;
        b->shape.position = perp_vec3_add_scaled(a->shape.position, far, direction);
    } else if (choice < 0.35) { /* inside the box of the larger one */
        const solid *in = a->core > b->core ? a : b;
        const perp_vec3 r = random_vec(random);
        const perp_vec3 at = perp_vec3_make(in->half.x * r.x, in->half.y * r.y, in->half.z * r.z);
        b->shape.position =
            perp_vec3_add_scaled(a->shape.position, in == a ? 1 : -1, perp_mat3_mul_vec(&in->shape.rotation, at));
    } else if (choice < 0.55) {
        align(random, a, b);
    } else { /* to a gap along the normal, or near it if another feature comes first */
        const double wanted = wanted_gap(random, a, b);
        b->shape.position = perp_vec3_add_scaled(a->shape.position, 0.6 * reach, direction);
        for (int k = 0; k < 2; k++) {
            const perp_separation s = perp_spatial_distance(&a->shape, &b->shape);
            b->shape.position = perp_vec3_add_scaled(b->shape.position, wanted - s.phi, s.normal);
        }
    }
}

#endif
