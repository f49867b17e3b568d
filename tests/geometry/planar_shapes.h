/* planar_shapes.h - shapes for the planar tests, and a slow distance to compare with: every corner against every edge,
 * every edge's normal against every corner, no calipers and no ties. */
#ifndef PERP_TESTS_GEOMETRY_PLANAR_SHAPES_H
#define PERP_TESTS_GEOMETRY_PLANAR_SHAPES_H

#include <perp/geometry.h>

#include <stdlib.h>

enum { MAX_CORNERS = 16 };
static const double two_pi = 6.283185307179586;

typedef struct body { /* a core that owns its corners */
    int count;
    double radius, size, shortest;
    perp_vec3 corners[MAX_CORNERS];
} body;

static inline perp_planar_shape shape_of(const body *b)
{
    return (perp_planar_shape){.kind = PERP_PLANAR_CORE, .count = b->count, .corners = b->corners, .radius = b->radius};
}

static inline perp_vec3 at(double x, double y)
{
    return perp_vec3_make(x, y, 0.0);
}

static inline body disc(double x, double y, double r)
{
    return (body){.count = 1, .radius = r, .corners = {at(x, y)}, .size = 2 * r, .shortest = INFINITY};
}

static inline body segment(perp_vec3 p, perp_vec3 q, double r)
{
    const double length = hypot(q.x - p.x, q.y - p.y);
    return (body){.count = 2, .radius = r, .corners = {p, q}, .size = length + 2 * r, .shortest = length};
}

static inline perp_vec3 turned(perp_vec3 p, perp_vec3 about, double angle)
{
    const double c = cos(angle), s = sin(angle), x = p.x - about.x, y = p.y - about.y;
    return at(about.x + c * x - s * y, about.y + s * x + c * y);
}

/* The body turned by `angle` about `about`, then moved. */
static inline body moved(body b, perp_vec3 about, double angle, double dx, double dy)
{
    for (int i = 0; i < b.count; i++) {
        const perp_vec3 p = turned(b.corners[i], about, angle);
        b.corners[i] = at(p.x + dx, p.y + dy);
    }
    return b;
}

static inline body box(double x, double y, double lx, double ly, double angle)
{
    body b = {.count = 4, .size = hypot(lx, ly), .shortest = fmin(lx, ly)};
    const double sx[4] = {-1, 1, 1, -1}, sy[4] = {-1, -1, 1, 1};
    for (int i = 0; i < 4; i++) {
        b.corners[i] = turned(at(x + sx[i] * lx / 2, y + sy[i] * ly / 2), at(x, y), angle);
    }
    return b;
}

static inline double log_uniform(perp_random *random, double low, double high)
{
    return exp(perp_random_uniform(random, log(low), log(high)));
}

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Any core about the origin: point, segment, box or a polygon inscribed in an ellipse, sizes 1e-3 .. 10, aspect ratios
 * to 1 : 1000, rounded or not. */
static inline body random_body(perp_random *random)
{
    const double size = log_uniform(random, 1e-3, 10.0), thin = size / log_uniform(random, 1.0, 1000.0);
    const double angle = perp_random_uniform(random, 0.0, two_pi);
    const int kind = (int)perp_random_uniform(random, 0.0, 8.0);
    body b;
    if (kind == 0) {
        b = disc(0, 0, size / 2);
    } else if (kind == 1) {
        b = segment(at(-size / 2, 0), at(size / 2, 0), kind % 2 ? thin / 2 : 0.0);
    } else if (kind <= 4) {
        b = box(0, 0, size, thin, 0);
    } else {
        b = (body){.count = 3 + (int)perp_random_uniform(random, 0.0, MAX_CORNERS - 3), .size = size};
        double angles[MAX_CORNERS];
        for (int i = 0; i < b.count; i++) {
            angles[i] = two_pi * ((i + perp_random_uniform(random, 0.0, 0.9)) / b.count);
        }
        qsort(angles, (size_t)b.count, sizeof angles[0], by_value);
        b.shortest = INFINITY;
        for (int i = 0; i < b.count; i++) {
            b.corners[i] = at(size / 2 * cos(angles[i]), thin / 2 * sin(angles[i]));
        }
        for (int i = 0; i < b.count; i++) {
            const perp_vec3 d = perp_vec3_sub(b.corners[(i + 1) % b.count], b.corners[i]);
            b.shortest = fmin(b.shortest, perp_vec3_norm(d));
        }
    }
    if (kind == 7) {
        b.radius = log_uniform(random, 1e-3, 1.0) * thin;
        b.size += 2 * b.radius;
    }
    return moved(b, at(0, 0), angle, 0, 0);
}

/* min over b - max over a of u . x: the separation along the unit vector u. Its largest value is the signed distance.
 */
static inline double separation_along(const body *a, const body *b, double ux, double uy)
{
    double high = -INFINITY, low = INFINITY;
    const perp_vec3 o = a->corners[0];
    for (int i = 0; i < a->count; i++) {
        high = fmax(high, ux * (a->corners[i].x - o.x) + uy * (a->corners[i].y - o.y));
    }
    for (int i = 0; i < b->count; i++) {
        low = fmin(low, ux * (b->corners[i].x - o.x) + uy * (b->corners[i].y - o.y));
    }
    return low - high - a->radius - b->radius;
}

static inline double point_segment(perp_vec3 p, perp_vec3 a, perp_vec3 b)
{
    const perp_vec3 e = perp_vec3_sub(b, a), d = perp_vec3_sub(p, a);
    const double l2 = perp_vec3_dot(e, e), t = l2 > 0 ? fmin(fmax(perp_vec3_dot(e, d) / l2, 0), 1) : 0;
    return perp_vec3_norm(perp_vec3_add_scaled(d, -t, e));
}

/* Distance of p to the boundary of the core. */
static inline double to_boundary(const body *b, perp_vec3 p)
{
    double least = INFINITY;
    for (int i = 0; i < b->count; i++) {
        least = fmin(least, point_segment(p, b->corners[i], b->corners[(i + 1) % b->count]));
    }
    return least;
}

/* The best separation along the normals of a's edges. */
static inline double best_edge(const body *a, const body *b, bool swap)
{
    double best = -INFINITY;
    for (int i = 0; a->count > 1 && i < a->count; i++) {
        const perp_vec3 e = perp_vec3_sub(a->corners[(i + 1) % a->count], a->corners[i]);
        const double length = perp_vec3_norm(e), ux = e.y / length, uy = -e.x / length;
        best = fmax(best, swap ? separation_along(b, a, -ux, -uy) : separation_along(a, b, ux, uy));
    }
    return best;
}

static inline double slow_distance(const body *a, const body *b)
{
    const double radii = a->radius + b->radius;
    const double edges = fmax(best_edge(a, b, false), best_edge(b, a, true)) + radii; /* of the cores */
    if (edges < 0.0 && a->count + b->count > 2) {
        return edges - radii;
    }
    double least = INFINITY;
    for (int i = 0; i < a->count; i++) {
        least = fmin(least, to_boundary(b, a->corners[i]));
    }
    for (int i = 0; i < b->count; i++) {
        least = fmin(least, to_boundary(a, b->corners[i]));
    }
    return least - radii;
}

/* The largest separation over all directions, by sampling the circle and refining about the best samples. Knows nothing
 * of edges. */
static inline double sampled_distance(const body *a, const body *b)
{
    enum { SAMPLES = 2048, KEPT = 6 };
    static double value[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        value[i] = separation_along(a, b, cos(two_pi * i / SAMPLES), sin(two_pi * i / SAMPLES));
    }
    double best = -INFINITY;
    for (int k = 0; k < KEPT; k++) {
        int top = 0;
        for (int i = 1; i < SAMPLES; i++) {
            top = value[i] > value[top] ? i : top;
        }
        best = fmax(best, value[top]);
        value[top] = -INFINITY;
        double centre = two_pi * top / SAMPLES, width = two_pi / SAMPLES;
        for (int level = 0; level < 9; level++) { /* each keeps the best of 41: the width falls 20-fold */
            double angle = centre;
            for (int i = -20; i <= 20; i++) {
                const double x = centre + width * i / 20, s = separation_along(a, b, cos(x), sin(x));
                if (s > best) {
                    best = s;
                    angle = x;
                }
            }
            centre = angle;
            width /= 10;
        }
    }
    return best;
}

#endif
