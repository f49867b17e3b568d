/* planar_manifold.c - all points of the closest features, each with its own gap and label.
 *
 * Labels name a corner wherever a corner makes the point, so that it keeps its identity while the body rolls over it.
 * A corner within the tie tolerance of the reference edge's end still counts as above the edge: the equal boxes of a
 * stack do not change labels by rounding.
 */
#include "geometry/planar_private.h"
#include "geometry/tolerances.h"

#include <assert.h>

/* Corners first .. last of a straight side: an edge and its collinear neighbours, which are one edge to a contact. */
typedef struct side {
    int first, last;
} side;

static bool straight(const perp_planar_shape *core, int i, int j, int k)
{
    const planar_vec u = planar_sub(core->corners[j], core->corners[i]);
    const planar_vec v = planar_sub(core->corners[k], core->corners[j]);
    const double c = planar_cross(u, v);
    return planar_dot(u, v) > 0.0 && c * c <= POSE_TURN * POSE_TURN * planar_dot(u, u) * planar_dot(v, v);
}

static side side_of_edge(const perp_planar_shape *core, int edge)
{
    const int n = core->count;
    side s = {edge, planar_next(edge, n)};
    for (int steps = 2; steps < n; steps++) {
        const int prev = planar_prev(s.first, n);
        if (!planar_is_surface(core, prev) || !straight(core, prev, s.first, planar_next(s.first, n))) {
            break;
        }
        s.first = prev;
    }
    for (int steps = 2; steps < n; steps++) {
        const int next = planar_next(s.last, n);
        if (!planar_is_surface(core, s.last) || !straight(core, planar_prev(s.last, n), s.last, next)) {
            break;
        }
        s.last = next;
    }
    return s;
}

/* How antiparallel the edge is to the side whose outer normal is `outer`: 1 if it faces it. */
static double facing(const perp_planar_shape *core, int edge, planar_vec outer)
{
    const planar_vec e = planar_sub(core->corners[planar_next(edge, core->count)], core->corners[edge]);
    return -(outer.x * e.y - outer.y * e.x) / sqrt(planar_dot(e, e));
}

/* The side at `corner`, the lowest above `outer`'s line, that is nearest to antiparallel: no other can be nearer, since
 * -outer lies between the normals of the two. Equal ones: the one whose edge has the lower index. Cuts
 * between parts of a polygon are no sides; between two of them there is only the corner. */
static side incident_side(const perp_planar_shape *core, int corner, planar_vec outer)
{
    const int n = core->count;
    const bool has_after = planar_is_surface(core, corner),
               has_before = planar_is_surface(core, planar_prev(corner, n));
    if (!has_after || !has_before) {
        const side alone = {corner, corner};
        return has_after ? side_of_edge(core, corner) : has_before ? side_of_edge(core, planar_prev(corner, n)) : alone;
    }
    const side after = side_of_edge(core, corner), before = side_of_edge(core, planar_prev(corner, n));
    const double f_after = facing(core, corner, outer), f_before = facing(core, planar_prev(corner, n), outer);
    const bool lower_is_after = after.first < before.first;
    if (fabs(f_after - f_before) <= EQUALLY_ALIGNED) {
        return lower_is_after ? after : before;
    }
    return f_after > f_before ? after : before;
}

/* Whether the polygon's own edge at `corner` that is nearest to antiparallel is in another part of it. That part has
 * the corner too and lists the edge; this one has a steeper edge to show, or none. */
static bool faces_with_other_part(const perp_planar_shape *core, int corner, planar_vec outer)
{
    if (!core->borders) {
        return false;
    }
    const perp_planar_border *b = &core->borders[corner];
    const double f_after = outer.y * b->after.x - outer.x * b->after.y;
    const double f_before = outer.y * b->before.x - outer.x * b->before.y;
    const bool after = planar_is_surface(core, corner);
    const bool before = planar_is_surface(core, planar_prev(corner, core->count));
    return (f_after > f_before + EQUALLY_ALIGNED && !after) || (f_before > f_after + EQUALLY_ALIGNED && !before);
}

static int corner_feature(int corner)
{
    return perp_feature(PERP_FEATURE_CORNER, corner);
}

static int edge_feature(int edge)
{
    return perp_feature(PERP_FEATURE_EDGE, edge);
}

/* ---- core and core --------------------------------------------------------------------------------------------- */

/* A reference side of p, an incident one of q. `outer` is p's normal. */
typedef struct clip {
    const perp_planar_shape *p, *q;
    side reference, incident;
    planar_vec outer, along;
    double length;
    double tolerance;
} clip;

/* A point of q above the reference side, before it is turned to a contact of a and b. */
typedef struct clipped {
    perp_vec3 above;
    double t, level;
    int feature_p, feature_q;
} clipped;

static clipped clipped_at(const clip *c, perp_vec3 above, int feature_p, int feature_q)
{
    const planar_vec d = planar_sub(above, c->p->corners[c->reference.first]);
    return (clipped){above, planar_dot(c->along, d), planar_dot(c->outer, d), feature_p, feature_q};
}

/* The end `from` of the incident side, or where the side towards `to` enters the slab of the reference side. */
static clipped clip_end(const clip *c, int from, int to)
{
    const perp_vec3 p = c->q->corners[from];
    const clipped corner = clipped_at(c, p, edge_feature(c->reference.first), corner_feature(from));
    if (corner.t >= -c->tolerance && corner.t <= c->length + c->tolerance) {
        return corner;
    }
    const planar_vec side_q = planar_sub(c->q->corners[to], p);
    const double reach = planar_dot(c->along, side_q), end = corner.t < 0.0 ? 0.0 : c->length;
    const double s = fmin(fmax((end - corner.t) / reach, 0.0), 1.0); /* reach is not 0: the side meets the slab */
    return clipped_at(c, planar_move(p, s, side_q),
                      corner_feature(corner.t < 0.0 ? c->reference.first : c->reference.last),
                      edge_feature(c->incident.first));
}

/* The point where q's boundary enters the slab of the reference side, where its incident side does not: its corner is
 * past the end, of a part's edge by any length, else by no more than rounding. */
static clipped clip_beside(const clip *c, const planar_features *f)
{
    const clipped corner =
        clipped_at(c, c->q->corners[f->corner], edge_feature(c->reference.first), corner_feature(f->corner));
    const bool over = corner.t >= -c->tolerance && corner.t <= c->length + c->tolerance;
    if (over || (!c->p->borders && !c->q->borders)) {
        return corner;
    }
    const int end = corner.t < 0.0 ? c->reference.first : c->reference.last;
    const int edge = corner.t < 0.0 ? planar_prev(f->corner, c->q->count) : f->corner;
    return clipped_at(c, f->above, corner_feature(end), edge_feature(edge));
}

/* Up to two points, in the order of p's side. The incident side runs against it. */
static int clip_sides(const clip *c, const planar_features *f, clipped out[2])
{
    const clipped first = clipped_at(c, c->q->corners[c->incident.first], 0, 0);
    const clipped last = clipped_at(c, c->q->corners[c->incident.last], 0, 0);
    const bool meets = fmin(first.t, last.t) <= c->length + c->tolerance && fmax(first.t, last.t) >= -c->tolerance;
    if (!meets) {
        out[0] = clip_beside(c, f);
        return 1;
    }
    out[0] = clip_end(c, c->incident.last, c->incident.first);
    out[1] = clip_end(c, c->incident.first, c->incident.last);
    if (out[0].t > out[1].t) { /* steeper than upright: possible at the far side of a thin core */
        const clipped swap = out[0];
        out[0] = out[1];
        out[1] = swap;
    }
    if (out[1].t - out[0].t <= c->tolerance) {
        out[0] = out[1].level < out[0].level ? out[1] : out[0];
        return 1;
    }
    return 2;
}

static perp_manifold_point contact_of(const perp_planar_shape *a, const perp_planar_shape *b, const planar_features *f,
                                      const clip *c, const clipped *point)
{
    const perp_vec3 foot = planar_move(point->above, -point->level, c->outer);
    const bool of_a = f->kind == PLANAR_EDGE_OF_A;
    return (perp_manifold_point){
        .at = perp_planar_separation(a, b, of_a ? foot : point->above, of_a ? point->above : foot, f->normal, f->tie),
        .feature_a = of_a ? point->feature_p : point->feature_q,
        .feature_b = of_a ? point->feature_q : point->feature_p};
}

static void core_core(const perp_planar_shape *a, const perp_planar_shape *b, perp_manifold *m)
{
    const planar_features f = perp_planar_core_features(a, b);
    if (f.none) {
        return;
    }
    if (f.kind == PLANAR_CORNERS) {
        m->count = 1;
        m->points[0] = (perp_manifold_point){
            .at = perp_planar_separation(a, b, a->corners[f.edge], b->corners[f.corner], f.normal, f.tie),
            .feature_a = corner_feature(f.edge),
            .feature_b = corner_feature(f.corner)};
        return;
    }
    const bool of_a = f.kind == PLANAR_EDGE_OF_A;
    const double sign = of_a ? 1.0 : -1.0;
    clip c = {.p = of_a ? a : b, .q = of_a ? b : a, .tolerance = f.tolerance};
    c.outer = (planar_vec){sign * f.normal.x, sign * f.normal.y};
    c.along = (planar_vec){-c.outer.y, c.outer.x};
    c.reference = side_of_edge(c.p, f.edge);
    c.length = planar_dot(c.along, planar_sub(c.p->corners[c.reference.last], c.p->corners[c.reference.first]));
    clipped points[2];
    const clipped lowest =
        clipped_at(&c, c.q->corners[f.corner], edge_feature(c.reference.first), corner_feature(f.corner));
    const bool over = lowest.t >= -c.tolerance && lowest.t <= c.length + c.tolerance;
    if (c.q->count == 1 || (over && faces_with_other_part(c.q, f.corner, c.outer))) {
        points[0] = lowest;
        m->count = 1;
    } else {
        c.incident = incident_side(c.q, f.corner, c.outer);
        m->count = clip_sides(&c, &f, points);
    }
    for (int i = 0; i < m->count; i++) {
        m->points[i] = contact_of(a, b, &f, &c, &points[of_a ? i : m->count - 1 - i]);
    }
}

/* ---- halfplane and hole ------------------------------------------------------------------------------------------ */

static void core_halfplane(const perp_planar_shape *core, const perp_planar_shape *plane, perp_manifold *m)
{
    const planar_vec up = {plane->normal.x, plane->normal.y};
    const int lowest = perp_planar_lowest_corner(core, plane);
    if (lowest < 0) {
        return;
    }
    side s = {lowest, lowest};
    if (core->count > 1 && !faces_with_other_part(core, lowest, up)) {
        s = incident_side(core, lowest, up);
    }
    const int ends = s.first == s.last ? 1 : 2;
    for (int i = 0; i < ends; i++) {
        const int corner = i == 0 ? s.first : s.last;
        if (!planar_is_outer(core, corner)) {
            continue;
        }
        m->points[m->count++] = (perp_manifold_point){.at = perp_planar_corner_on_halfplane(core, corner, plane),
                                                      .feature_a = corner_feature(corner),
                                                      .feature_b = perp_feature(PERP_FEATURE_SURFACE, 0)};
    }
}

enum { QUARTERS = 4 };

/* Quarter of the directions around the centre in which the corner lies, quarter 0 being around `u`. */
static int quarter(planar_vec u, planar_vec d)
{
    const double along = planar_dot(u, d), across = planar_cross(u, d);
    if (fabs(along) >= fabs(across)) {
        return along >= 0.0 ? 0 : 2;
    }
    return across >= 0.0 ? 1 : 3;
}

/* A disc, a point, or a capsule by its two ends: each looks at the wall on all four sides. The nearest alone would let
 * one that is driven the other way, by more than the clearance, through the wall that it was not near to. */
static void ends_in_hole(const perp_planar_shape *core, const perp_planar_shape *hole, perp_manifold *m)
{
    for (int i = 0; i < core->count; i++) {
        for (int k = 0; k < QUARTERS; k++) {
            m->points[m->count++] =
                (perp_manifold_point){.at = k == 0 ? perp_planar_corner_in_hole(core, i, hole)
                                                   : perp_planar_corner_across_hole(core, i, hole, k),
                                      .feature_a = corner_feature(i),
                                      .feature_b = perp_feature(PERP_FEATURE_SURFACE, k)};
        }
    }
}

static void core_hole(const perp_planar_shape *core, const perp_planar_shape *hole, perp_manifold *m)
{
    if (core->count <= 2) {
        ends_in_hole(core, hole, m);
        return;
    }
    int chosen[QUARTERS] = {-1, -1, -1, -1};
    if (core->count <= QUARTERS) {
        for (int i = 0; i < core->count; i++) {
            chosen[i] = planar_is_outer(core, i) ? i : -1;
        }
    } else {
        bool tie = false;
        double farthest[QUARTERS] = {-1.0, -1.0, -1.0, -1.0};
        chosen[0] = perp_planar_farthest_corner(core, hole, &tie);
        if (chosen[0] < 0) {
            return;
        }
        const planar_vec u = planar_sub(core->corners[chosen[0]], hole->centre);
        for (int i = 0; i < core->count; i++) {
            const planar_vec d = planar_sub(core->corners[i], hole->centre);
            const int k = quarter(u, d);
            if (k != 0 && planar_is_outer(core, i) && planar_dot(d, d) > farthest[k]) {
                farthest[k] = planar_dot(d, d);
                chosen[k] = i;
            }
        }
    }
    for (int k = 0; k < QUARTERS; k++) {
        if (chosen[k] >= 0) {
            m->points[m->count++] = (perp_manifold_point){.at = perp_planar_corner_in_hole(core, chosen[k], hole),
                                                          .feature_a = corner_feature(chosen[k]),
                                                          .feature_b = perp_feature(PERP_FEATURE_SURFACE, 0)};
        }
    }
}

static void mirror(perp_manifold *m)
{
    for (int i = 0; i < m->count; i++) {
        perp_manifold_point *p = &m->points[i];
        *p = (perp_manifold_point){
            .at = perp_planar_mirror(p->at), .feature_a = p->feature_b, .feature_b = p->feature_a};
    }
}

perp_manifold perp_planar_manifold_build(const perp_planar_shape *a, const perp_planar_shape *b)
{
    perp_manifold m = {.count = 0};
    if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_CORE) {
        core_core(a, b, &m);
    } else if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_HALFPLANE) {
        core_halfplane(a, b, &m);
    } else if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_HOLE) {
        core_hole(a, b, &m);
    } else if (b->kind == PERP_PLANAR_CORE) {
        m = perp_planar_manifold_build(b, a);
        mirror(&m);
    }
    return m;
}
