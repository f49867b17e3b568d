/* spatial_shapes.h - random shapes for the spatial tests, and a slow distance to compare with: every triangle's corner
 * and edge against every other's, every candidate normal against every corner; no GJK, no Gauss map, no merged faces,
 * no ties. */
#ifndef PERP_TESTS_GEOMETRY_SPATIAL_SHAPES_H
#define PERP_TESTS_GEOMETRY_SPATIAL_SHAPES_H

#include <perp/geometry.h>
#include <perp/geometry_hull.h>

#include <stdlib.h>

enum { MAX_POINTS = 16, MAX_TRIANGLES = 2 * MAX_POINTS - 4, MAX_EDGES = 3 * MAX_POINTS - 6 };

/* A shape that owns what it needs, and its corners, triangles and edges as plain lists for the reference. */
typedef struct body {
    perp_spatial_shape shape;
    perp_pose pose;
    perp_spatial_hull hull;
    double size, smallest; /* m: largest and smallest extent of the core along its axes, points and segments: of both */
    int points, triangles, edges;
    perp_vec3 local[MAX_POINTS], world[MAX_POINTS];
    int triangle[MAX_TRIANGLES][3], edge[MAX_EDGES][2];
} body;

static inline perp_vec3 vec(double x, double y, double z)
{
    return perp_vec3_make(x, y, z);
}

static inline double log_uniform(perp_random *random, double low, double high)
{
    return exp(perp_random_uniform(random, log(low), log(high)));
}

static inline perp_vec3 random_vec(perp_random *random)
{
    const double x = perp_random_uniform(random, -1, 1), y = perp_random_uniform(random, -1, 1);
    return vec(x, y, perp_random_uniform(random, -1, 1));
}

static inline perp_quat random_quat(perp_random *random)
{
    const perp_vec3 v = random_vec(random);
    return perp_quat_normalise((perp_quat){perp_random_uniform(random, -1, 1), v.x, v.y, v.z});
}

/* Solid where normal . x <= offset. */
static inline perp_spatial_shape halfspace(perp_vec3 normal, double offset)
{
    perp_vec3 t, o;
    perp_tangents(normal, &t, &o);
    return (perp_spatial_shape){.kind = PERP_SPATIAL_HALFSPACE,
                                .position = perp_vec3_scale(offset, normal),
                                .rotation = {{t.x, o.x, normal.x, t.y, o.y, normal.y, t.z, o.z, normal.z}}};
}

/* To be called after every change of the pose. */
static inline void place(body *b)
{
    const perp_mat3 r = perp_quat_to_mat3(b->pose.rotation);
    for (int i = 0; i < b->points; i++) {
        b->world[i] = perp_vec3_add(b->pose.position, perp_mat3_mul_vec(&r, b->local[i]));
    }
    b->shape.position = b->pose.position;
    b->shape.rotation = r;
    b->shape.hull = &b->hull;
}

/* Edges from triangles, each once. */
static inline void list_edges(body *b)
{
    b->edges = 0;
    for (int t = 0; t < b->triangles; t++) {
        for (int k = 0; k < 3; k++) {
            const int from = b->triangle[t][k], to = b->triangle[t][(k + 1) % 3];
            if (from < to) {
                b->edge[b->edges][0] = from;
                b->edge[b->edges++][1] = to;
            }
        }
    }
}

static inline body new_body(perp_spatial_kind kind, double radius)
{
    return (body){.shape = {.kind = kind, .radius = radius}, .pose = perp_pose_identity()};
}

static inline body sphere(perp_vec3 at, double radius)
{
    body b = new_body(PERP_SPATIAL_POINT, radius);
    b.points = 1;
    b.size = b.smallest = 0;
    b.pose.position = at;
    place(&b);
    return b;
}

static inline body capsule(perp_vec3 at, perp_quat turn, double length, double radius)
{
    body b = new_body(PERP_SPATIAL_SEGMENT, radius);
    b.shape.half_length = length / 2;
    b.points = 2;
    b.edges = 1;
    b.edge[0][1] = 1;
    b.local[0].z = -length / 2;
    b.local[1].z = length / 2;
    b.size = b.smallest = length;
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

static inline body box(perp_vec3 at, perp_quat turn, double lx, double ly, double lz)
{
    static const int quads[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    body b = new_body(PERP_SPATIAL_BOX, 0);
    b.shape.half_lengths = vec(lx / 2, ly / 2, lz / 2);
    b.points = 8;
    for (int i = 0; i < 8; i++) {
        b.local[i] = vec((i & 1 ? lx : -lx) / 2, (i & 2 ? ly : -ly) / 2, (i & 4 ? lz : -lz) / 2);
    }
    for (int f = 0; f < 6; f++) {
        for (int k = 0; k < 3; k++) {
            b.triangle[2 * f][k] = quads[f][k];
            b.triangle[2 * f + 1][k] = quads[f][k == 0 ? 0 : k + 1];
        }
    }
    b.triangles = 12;
    list_edges(&b);
    b.size = fmax(lx, fmax(ly, lz));
    b.smallest = fmin(lx, fmin(ly, lz));
    b.pose = (perp_pose){turn, at};
    place(&b);
    return b;
}

/* The hull of the points; false if they have none that is sound. Owns memory: drop it. */
static inline bool hull_of(const perp_vec3 *points, int count, body *b)
{
    perp_hull hull;
    *b = new_body(PERP_SPATIAL_HULL, 0);
    if (perp_hull_build(points, count, NULL, &hull, NULL) != PERP_STATUS_OK) {
        return false;
    }
    b->points = hull.point_count;
    b->triangles = hull.triangle_count;
    for (int i = 0; i < hull.point_count; i++) {
        b->local[i] = hull.points[i];
    }
    for (int i = 0; i < 3 * hull.triangle_count; i++) {
        b->triangle[i / 3][i % 3] = hull.triangles[i];
    }
    const perp_status status = perp_spatial_hull_prepare(hull.points, hull.point_count, hull.triangles,
                                                         hull.triangle_count, NULL, &b->hull, NULL);
    perp_hull_free(&hull);
    list_edges(b);
    place(b);
    return status == PERP_STATUS_OK;
}

static inline void drop(body *b)
{
    if (b->shape.kind == PERP_SPATIAL_HULL) {
        perp_spatial_hull_free(&b->hull);
    }
}

/* A hull about the origin, in a box of size x middle x thin: points in the box, on its ellipsoid, a prism, or the box
 * itself with some corners moved by 1e-12 .. 1e-3 of it (nearly coplanar faces). */
static inline body random_hull(perp_random *random, double size, double middle, double thin)
{
    for (;;) {
        const int kind = (int)perp_random_uniform(random, 0, 4);
        const int count = kind == 3 ? 8 : 4 + (int)perp_random_uniform(random, 0, MAX_POINTS - 3);
        perp_vec3 p[MAX_POINTS];
        for (int i = 0; i < count; i++) {
            perp_vec3 v = random_vec(random);
            if (kind == 1) {
                v = perp_vec3_normalise(v);
            } else if (kind == 2) {
                const double angle = 6.283185307179586 * (i / 2) / (count / 2);
                v = vec(cos(angle), sin(angle), i & 1 ? 1 : -1);
            } else if (kind == 3) {
                const perp_vec3 corner = vec(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
                v = perp_vec3_add_scaled(corner, log_uniform(random, 1e-12, 1e-3), v);
            }
            p[i] = vec(size / 2 * v.x, middle / 2 * v.y, thin / 2 * v.z);
        }
        body b;
        if (hull_of(p, count, &b)) {
            b.size = size;
            b.smallest = thin;
            return b;
        }
    }
}

/* Any core about the origin, sizes 1e-3 .. 10, aspect ratios to 1 : 1000, rounded or not, turned or not. */
static inline body random_body(perp_random *random)
{
    const double size = log_uniform(random, 1e-3, 10), thin = size / log_uniform(random, 1, 1000);
    const double middle = log_uniform(random, thin, size * 1.0000001);
    const int kind = (int)perp_random_uniform(random, 0, 8);
    body b;
    if (kind == 0) {
        b = sphere(vec(0, 0, 0), 0);
    } else if (kind == 1) {
        b = capsule(vec(0, 0, 0), perp_quat_identity(), size, 0);
    } else if (kind < 5) {
        b = box(vec(0, 0, 0), perp_quat_identity(), size, middle, thin);
    } else {
        b = random_hull(random, size, middle, thin);
    }
    if (kind <= 1 && perp_random_uniform(random, 0, 1) < 0.4) {
        b.shape.radius = thin / 2;
    }
    if (perp_random_uniform(random, 0, 1) < 0.7) {
        b.pose.rotation = random_quat(random);
    }
    place(&b);
    return b;
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

/* min over b - max over a of n . x, cores only: for every unit n a lower bound of the signed distance. */
static inline double gap_along(const body *a, const body *b, perp_vec3 n)
{
    double high = -INFINITY, low = INFINITY;
    const perp_vec3 o = a->world[0];
    for (int i = 0; i < a->points; i++) {
        high = fmax(high, perp_vec3_dot(n, perp_vec3_sub(a->world[i], o)));
    }
    for (int i = 0; i < b->points; i++) {
        low = fmin(low, perp_vec3_dot(n, perp_vec3_sub(b->world[i], o)));
    }
    return low - high;
}

static inline double clamp01(double x)
{
    return fmin(fmax(x, 0), 1);
}

static inline double point_segment(perp_vec3 x, perp_vec3 p, perp_vec3 q)
{
    const perp_vec3 d = perp_vec3_sub(q, p), r = perp_vec3_sub(x, p);
    const double l2 = perp_vec3_dot(d, d);
    return perp_vec3_norm(perp_vec3_add_scaled(r, l2 > 0 ? -clamp01(perp_vec3_dot(d, r) / l2) : 0, d));
}

/* The lines' own distance where their nearest points are inside both segments, else infinity. */
static inline double inner_segments(perp_vec3 p, perp_vec3 q, perp_vec3 r, perp_vec3 s)
{
    const perp_vec3 d = perp_vec3_sub(q, p), e = perp_vec3_sub(s, r), w = perp_vec3_sub(r, p);
    const perp_vec3 x = perp_vec3_cross(d, e);
    const double xx = perp_vec3_dot(x, x);
    const double u = perp_vec3_dot(perp_vec3_cross(w, e), x), v = perp_vec3_dot(perp_vec3_cross(w, d), x);
    if (!(xx > 1e-24 * perp_vec3_dot(d, d) * perp_vec3_dot(e, e)) || u < 0 || u > xx || v < 0 || v > xx) {
        return INFINITY;
    }
    return fabs(perp_vec3_dot(w, x)) / sqrt(xx);
}

/* Height over the triangle where the foot is inside it, else infinity. */
static inline double inner_triangle(perp_vec3 x, perp_vec3 p, perp_vec3 q, perp_vec3 r)
{
    const perp_vec3 n = perp_vec3_cross(perp_vec3_sub(q, p), perp_vec3_sub(r, p));
    const perp_vec3 c[4] = {p, q, r, p};
    const double nn = perp_vec3_norm(n);
    for (int k = 0; k < 3; k++) {
        const perp_vec3 inward = perp_vec3_cross(n, perp_vec3_sub(c[k + 1], c[k]));
        if (!(perp_vec3_dot(inward, perp_vec3_sub(x, c[k])) >= 0)) {
            return INFINITY;
        }
    }
    return nn > 0 ? fabs(perp_vec3_dot(n, perp_vec3_sub(x, p))) / nn : INFINITY;
}

static inline double corners_to(const body *a, const body *b)
{
    double least = INFINITY;
    for (int i = 0; i < a->points; i++) {
        for (int j = 0; j < b->points; j++) {
            least = fmin(least, perp_vec3_norm(perp_vec3_sub(a->world[i], b->world[j])));
        }
        for (int j = 0; j < b->edges; j++) {
            least = fmin(least, point_segment(a->world[i], b->world[b->edge[j][0]], b->world[b->edge[j][1]]));
        }
        for (int j = 0; j < b->triangles; j++) {
            const int *t = b->triangle[j];
            least = fmin(least, inner_triangle(a->world[i], b->world[t[0]], b->world[t[1]], b->world[t[2]]));
        }
    }
    return least;
}

/* An edge of a goes through a triangle of b. */
static inline bool pierces(const body *a, const body *b)
{
    for (int i = 0; i < a->edges; i++) {
        const perp_vec3 p = a->world[a->edge[i][0]], d = perp_vec3_sub(a->world[a->edge[i][1]], p);
        for (int j = 0; j < b->triangles; j++) {
            const perp_vec3 q[3] = {b->world[b->triangle[j][0]], b->world[b->triangle[j][1]],
                                    b->world[b->triangle[j][2]]};
            const perp_vec3 n = perp_vec3_cross(perp_vec3_sub(q[1], q[0]), perp_vec3_sub(q[2], q[0]));
            const double along = perp_vec3_dot(n, d), t = perp_vec3_dot(n, perp_vec3_sub(q[0], p)) / along;
            const perp_vec3 x = perp_vec3_add_scaled(p, t, d);
            if (t >= 0 && t <= 1 && isfinite(inner_triangle(x, q[0], q[1], q[2]))) {
                return true;
            }
        }
    }
    return false;
}

/* Distance of the cores' surfaces. */
static inline double slow_surfaces(const body *a, const body *b)
{
    if (pierces(a, b) || pierces(b, a)) {
        return 0;
    }
    double least = fmin(corners_to(a, b), corners_to(b, a));
    for (int i = 0; i < a->edges; i++) {
        for (int j = 0; j < b->edges; j++) {
            least = fmin(least, inner_segments(a->world[a->edge[i][0]], a->world[a->edge[i][1]],
                                               b->world[b->edge[j][0]], b->world[b->edge[j][1]]));
        }
    }
    return least;
}

static inline double best_face(const body *a, const body *b, double sign)
{
    double best = -INFINITY;
    const body *of = sign > 0 ? a : b;
    for (int i = 0; i < of->triangles; i++) {
        const int *t = of->triangle[i];
        const perp_vec3 o = of->local[t[0]];
        perp_vec3 n = perp_vec3_cross(perp_vec3_sub(of->local[t[1]], o), perp_vec3_sub(of->local[t[2]], o));
        n = perp_quat_rotate(of->pose.rotation, perp_vec3_normalise(n));
        if (perp_vec3_norm(n) > 0.5) {
            best = fmax(best, gap_along(a, b, perp_vec3_scale(sign, n)));
        }
    }
    return best;
}

static inline perp_vec3 edge_direction(const body *b, int i)
{
    const perp_vec3 d = perp_vec3_sub(b->local[b->edge[i][1]], b->local[b->edge[i][0]]);
    return perp_quat_rotate(b->pose.rotation, perp_vec3_normalise(d));
}

/* The best separation along any normal of a face or of two edges. */
static inline double slow_axes(const body *a, const body *b)
{
    double best = fmax(best_face(a, b, 1), best_face(a, b, -1));
    for (int i = 0; i < a->edges; i++) {
        const perp_vec3 d = edge_direction(a, i);
        for (int j = 0; j < b->edges; j++) {
            const perp_vec3 x = perp_vec3_cross(d, edge_direction(b, j));
            const double sine = perp_vec3_norm(x);
            if (sine > 1e-12) {
                best = fmax(best, gap_along(a, b, perp_vec3_scale(1 / sine, x)));
                best = fmax(best, gap_along(a, b, perp_vec3_scale(-1 / sine, x)));
            }
        }
    }
    return best;
}

/* Signed distance of the cores. */
static inline double slow_distance(const body *a, const body *b)
{
    if (a->triangles + b->triangles > 0) {
        const double axes = slow_axes(a, b);
        if (axes < 0) {
            return axes;
        }
    }
    return slow_surfaces(a, b);
}

/* How far a point is from the surface of the core grown by the radius. */
static inline double off_surface(const body *b, perp_vec3 x)
{
    body point = sphere(x, 0);
    return fabs(slow_distance(b, &point) - b->shape.radius);
}

#endif
