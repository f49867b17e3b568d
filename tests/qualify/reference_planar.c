/* Planar distances the slow way: every corner against every edge, every edge's normal against every corner. */
#include "reference_distance.h"

typedef long double real;

static real dot2(perp_vec3 a, real ux, real uy)
{
    return a.x * ux + a.y * uy;
}

static real point_edge(perp_vec3 x, perp_vec3 p, perp_vec3 q)
{
    const real dx = (real)q.x - p.x, dy = (real)q.y - p.y, rx = (real)x.x - p.x, ry = (real)x.y - p.y;
    const real l2 = dx * dx + dy * dy;
    const real t = l2 > 0 ? fminl(fmaxl((dx * rx + dy * ry) / l2, 0), 1) : 0;
    return hypotl(rx - t * dx, ry - t * dy);
}

static real to_edges(const perp_planar_shape *s, perp_vec3 x)
{
    real least = INFINITY;
    for (int i = 0; i < s->count; i++) {
        least = fminl(least, point_edge(x, s->corners[i], s->corners[(i + 1) % s->count]));
    }
    return least;
}

/* The gap of two cores along the unit vector u, without radii. */
static real gap(const perp_planar_shape *a, const perp_planar_shape *b, real ux, real uy)
{
    real high = -INFINITY, low = INFINITY;
    for (int i = 0; i < a->count; i++) {
        high = fmaxl(high, dot2(a->corners[i], ux, uy));
    }
    for (int i = 0; i < b->count; i++) {
        low = fminl(low, dot2(b->corners[i], ux, uy));
    }
    return low - high;
}

/* The largest gap along the normals of the edges of `of`, both ways for a segment. */
static real along_edges(const perp_planar_shape *a, const perp_planar_shape *b, const perp_planar_shape *of)
{
    real best = -INFINITY;
    for (int i = 0; of->count > 1 && i < of->count; i++) {
        const perp_vec3 p = of->corners[i], q = of->corners[(i + 1) % of->count];
        const real dx = (real)q.x - p.x, dy = (real)q.y - p.y, l = hypotl(dx, dy), sign = of == a ? 1 : -1;
        best = fmaxl(best, gap(a, b, sign * dy / l, -sign * dx / l));
    }
    return best;
}

static real cores(const perp_planar_shape *a, const perp_planar_shape *b)
{
    if (a->count > 1 || b->count > 1) {
        const real edges = fmaxl(along_edges(a, b, a), along_edges(a, b, b));
        if (edges < 0) {
            return edges;
        }
    }
    real least = INFINITY;
    for (int i = 0; i < a->count; i++) {
        least = fminl(least, to_edges(b, a->corners[i]));
    }
    for (int i = 0; i < b->count; i++) {
        least = fminl(least, to_edges(a, b->corners[i]));
    }
    return least;
}

static real over_line(const perp_planar_shape *line, const perp_planar_shape *core)
{
    real least = INFINITY;
    for (int i = 0; i < core->count; i++) {
        least = fminl(least, dot2(core->corners[i], line->normal.x, line->normal.y));
    }
    return least - line->offset - core->radius;
}

static real in_hole(const perp_planar_shape *hole, const perp_planar_shape *core)
{
    real farthest = 0;
    for (int i = 0; i < core->count; i++) {
        const real x = (real)core->corners[i].x - hole->centre.x, y = (real)core->corners[i].y - hole->centre.y;
        farthest = fmaxl(farthest, hypotl(x, y));
    }
    return (real)hole->radius - core->radius - farthest;
}

double reference_planar(const perp_planar_shape *a, const perp_planar_shape *b)
{
    if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_CORE) {
        return (double)(cores(a, b) - a->radius - b->radius);
    }
    if (a->kind != PERP_PLANAR_CORE && b->kind != PERP_PLANAR_CORE) {
        return INFINITY;
    }
    const perp_planar_shape *core = a->kind == PERP_PLANAR_CORE ? a : b, *other = core == a ? b : a;
    return (double)(other->kind == PERP_PLANAR_HOLE ? in_hole(other, core) : over_line(other, core));
}

double reference_planar_gap_along(const perp_planar_shape *a, const perp_planar_shape *b, perp_vec3 normal)
{
    const real l = hypotl(normal.x, normal.y), ux = normal.x / l, uy = normal.y / l;
    if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_CORE) {
        return (double)(gap(a, b, ux, uy) - a->radius - b->radius);
    }
    const perp_planar_shape *core = a->kind == PERP_PLANAR_CORE ? a : b, *line = core == a ? b : a;
    const real sign = core == a ? -1 : 1;
    if (line->kind != PERP_PLANAR_HALFPLANE || core->kind != PERP_PLANAR_CORE ||
        hypotl(line->normal.x - sign * ux, line->normal.y - sign * uy) > 1e-12L) {
        return -INFINITY;
    }
    return (double)over_line(line, core);
}

/* Counter-clockwise, so that the inside is on the left of every edge. */
static bool inside(const perp_planar_shape *s, perp_vec3 x)
{
    for (int i = 0; i < s->count; i++) {
        const perp_vec3 p = s->corners[i], q = s->corners[(i + 1) % s->count];
        const real dx = (real)q.x - p.x, dy = (real)q.y - p.y;
        if (!(dx * ((real)x.y - p.y) - dy * ((real)x.x - p.x) > 0)) {
            return false;
        }
    }
    return s->count > 2;
}

double reference_planar_off_boundary(const perp_planar_shape *s, perp_vec3 x)
{
    if (s->kind == PERP_PLANAR_HALFPLANE) {
        return (double)fabsl(dot2(x, s->normal.x, s->normal.y) - s->offset);
    }
    if (s->kind == PERP_PLANAR_HOLE) {
        return (double)fabsl(hypotl((real)x.x - s->centre.x, (real)x.y - s->centre.y) - s->radius);
    }
    const real d = to_edges(s, x);
    return (double)(inside(s, x) ? d + s->radius : fabsl(d - s->radius));
}
