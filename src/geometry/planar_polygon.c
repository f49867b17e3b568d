/* planar_polygon.c - which features decide the distance of two convex cores.
 *
 * The pair is seen as the origin against the difference a - b, a convex polygon whose edges are those of a, each at the
 * corner of b that lies lowest above it, and those of b alike. As the edges of one core turn counter-clockwise so do
 * the lowest corners of the other, so all of them are found in O(n + m) (rotating calipers). The origin is outside iff
 * some edge has it on its outer side; then the distance is the least over the edges that see it. Inside, the depth is
 * that of the nearest edge, which is exact: the foot of an inner point on its nearest edge lies within the edge. GJK
 * would be sublinear but iterates, and its normal near touching is the difference of two nearly equal points; here a
 * normal is an edge's own unless two corners truly face each other.
 *
 * A core of two corners is a polygon of two edges, back to back, so segments need no case of their own. A point has no
 * edge.
 *
 * First pass: the signed distance. Second pass: the first edge, in the fixed order, that is as good (ties; see
 * perp_planar_distance).
 *
 * Parts of polygons. A normal counts only where it leaves both polygons, not just the parts. In the open the nearest
 * points of two parts are those of the polygons or else no local minimum of their distance: what does not count is
 * dropped, and with it the pair. Inside, the least depth of a part is often that of a cut, so the best is sought among
 * what counts (surface_passes); there the foot on the best edge may fall beside it, and the depth is that of what lies
 * over the edge.
 */
#include "geometry/planar_private.h"
#include "geometry/tolerances.h"

#include <assert.h>
#include <float.h>

/* One edge of p and what of q is lowest above its line. Heights are times the edge's length: no square root is taken
 * but for the edge that wins. */
typedef struct caliper {
    const perp_planar_shape *p, *q;
    int edge;         /* -1 before the first */
    int corner;       /* of q, lowest */
    planar_vec along; /* the edge; its outer normal is (along.y, -along.x) */
    double length2;
    double level; /* of that corner; negative inside */
} caliper;

static double height(planar_vec along, planar_vec from_tail)
{
    return along.y * from_tail.x - along.x * from_tail.y;
}

static int search_lowest(const perp_planar_shape *q, planar_vec along)
{
    int best = 0;
    double lowest = 0.0;
    for (int j = 1; j < q->count; j++) {
        const double h = height(along, planar_sub(q->corners[j], q->corners[0]));
        if (h < lowest) {
            lowest = h;
            best = j;
        }
    }
    return best;
}

/* From the lowest corner of the edge before. Levels that noise has made uneven can stop the climb at a corner that is
 * higher by rounding only; one that would stop it at the top lets it go down the other way. */
static int climb_lowest(const perp_planar_shape *q, planar_vec along, int start)
{
    int j = start;
    for (int steps = 0; steps < q->count; steps++) {
        const int next = planar_next(j, q->count);
        if (!(height(along, planar_sub(q->corners[next], q->corners[j])) <= 0.0)) {
            break;
        }
        j = next;
    }
    for (int steps = 0; steps < q->count; steps++) {
        const int prev = planar_prev(j, q->count);
        if (!(height(along, planar_sub(q->corners[prev], q->corners[j])) < 0.0)) {
            break;
        }
        j = prev;
    }
    return j;
}

/* On to the next edge of p; false after the last. */
static bool caliper_edge(caliper *c)
{
    const int n = c->p->count > 1 ? c->p->count : 0;
    while (++c->edge < n) {
        c->along = planar_sub(c->p->corners[planar_next(c->edge, n)], c->p->corners[c->edge]);
        c->length2 = planar_dot(c->along, c->along);
        if (c->length2 > 0.0) {
            return true;
        }
    }
    return false;
}

static double level_of(const caliper *c, int corner)
{
    return height(c->along, planar_sub(c->q->corners[corner], c->p->corners[c->edge]));
}

/* The lowest corner above this edge, from that of the edge before (corner -1: from nowhere). */
static void caliper_lowest(caliper *c)
{
    if (c->q->count == 1) {
        c->corner = 0;
    } else if (c->corner < 0 || c->p->count == 2) { /* a segment's second edge is a half turn on: too far to climb */
        c->corner = search_lowest(c->q, c->along);
    } else {
        c->corner = climb_lowest(c->q, c->along, c->corner);
    }
    c->level = level_of(c, c->corner);
}

/* The best of the first pass. */
typedef struct nearest {
    bool outside;
    double distance2; /* outside: the least distance, squared; inside: the least depth, squared */
    planar_feature_kind kind;
    int edge, corner; /* as planar_features */
    double rounding;  /* of a coordinate's difference */
} nearest;

static void offer(nearest *best, double distance2, planar_feature_kind kind, int edge, int corner)
{
    if (distance2 < best->distance2) {
        best->distance2 = distance2;
        best->kind = kind;
        best->edge = edge;
        best->corner = corner;
    }
}

/* Distance from the edge to q's lowest corner and, where other corners are as low to rounding (a parallel edge), to
 * those on the way to the edge's slab: the lowest may be the far end. */
static void offer_distance(const caliper *c, planar_feature_kind kind, nearest *best)
{
    const int head = planar_next(c->edge, c->p->count);
    const double flat = best->rounding * (fabs(c->along.x) + fabs(c->along.y));
    bool before = false;
    int j = c->corner;
    for (int steps = 0; steps < c->q->count; steps++) {
        const planar_vec from_tail = planar_sub(c->q->corners[j], c->p->corners[c->edge]);
        const double level = height(c->along, from_tail), t = planar_dot(c->along, from_tail);
        if (level - c->level > flat) {
            return;
        }
        if (t >= 0.0 && t <= c->length2) {
            offer(best, level * level / c->length2, kind, c->edge, j);
            return;
        }
        const int end = t < 0.0 ? c->edge : head;
        const planar_vec gap = planar_sub(c->q->corners[j], c->p->corners[end]);
        const bool swap = kind == PLANAR_EDGE_OF_B;
        offer(best, planar_dot(gap, gap), PLANAR_CORNERS, swap ? j : end, swap ? end : j);
        if (steps > 0 && (t < 0.0) != before) { /* passed over the whole edge */
            offer(best, c->level * c->level / c->length2, kind, c->edge, c->corner);
            return;
        }
        before = t < 0.0;
        j = before ? planar_prev(j, c->q->count) : planar_next(j, c->q->count);
    }
}

static void first_pass(const perp_planar_shape *p, const perp_planar_shape *q, planar_feature_kind kind, nearest *best)
{
    caliper c = {.p = p, .q = q, .edge = -1, .corner = -1};
    while (caliper_edge(&c)) {
        caliper_lowest(&c);
        if (c.level >= 0.0) {
            if (!best->outside) {
                best->outside = true;
                best->distance2 = INFINITY;
            }
            offer_distance(&c, kind, best);
        } else if (!best->outside) {
            offer(best, c.level * c.level / c.length2, kind, c.edge, c.corner);
        }
    }
}

/* level / length >= threshold */
static bool reaches(const caliper *c, double threshold)
{
    const double t = threshold * threshold * c->length2, h = c->level * c->level;
    return threshold < 0.0 ? c->level >= 0.0 || h <= t : c->level >= 0.0 && h >= t;
}

static planar_vec normal_of(const caliper *c, planar_feature_kind kind)
{
    const double s = (kind == PLANAR_EDGE_OF_A ? 1.0 : -1.0) / sqrt(c->length2);
    return (planar_vec){s * c->along.y, -s * c->along.x};
}

/* The point of q's boundary that is lowest over the edge: q's lowest corner or, where that lies beyond the edge's ends,
 * the point where q's boundary enters the edge's slab, if that is as low to the tolerance (nearly parallel edges).
 * False if there is none; a corner may be past the ends by the tolerance. */
static bool point_above_edge(const caliper *c, planar_vec outer, double tolerance, perp_vec3 *above)
{
    const perp_vec3 tail = c->p->corners[c->edge], lowest = c->q->corners[c->corner];
    const planar_vec along = {-outer.y, outer.x};
    const double length = sqrt(c->length2), t_lowest = planar_dot(along, planar_sub(lowest, tail));
    const bool before = t_lowest < 0.0;
    const double end = before ? 0.0 : length;
    *above = lowest;
    if (t_lowest >= 0.0 && t_lowest <= length) {
        return true;
    }
    perp_vec3 from = lowest;
    double t_from = t_lowest;
    for (int steps = 1, j = c->corner; steps < c->q->count; steps++) {
        j = before ? planar_prev(j, c->q->count) : planar_next(j, c->q->count);
        const perp_vec3 to = c->q->corners[j];
        const double t_to = planar_dot(along, planar_sub(to, tail));
        if (before ? t_to >= end : t_to <= end) {
            const perp_vec3 entry = planar_move(from, (end - t_from) / (t_to - t_from), planar_sub(to, from));
            if (planar_dot(outer, planar_sub(entry, lowest)) <= tolerance) {
                *above = entry;
                return true;
            }
            break;
        }
        if (planar_dot(outer, planar_sub(to, lowest)) > tolerance) {
            break;
        }
        from = to;
        t_from = t_to;
    }
    if (fabs(t_from - end) <= tolerance) {
        *above = from;
        return true;
    }
    return false;
}

static void take(const caliper *c, planar_feature_kind kind, perp_vec3 above, planar_features *f)
{
    f->kind = kind;
    f->edge = c->edge;
    f->corner = c->corner;
    f->above = above;
    f->normal = normal_of(c, kind);
}

/* ---- parts of polygons ------------------------------------------------------------------------------------------- */

static bool lies_flat(const perp_planar_shape *core, int edge, planar_vec outer, double tolerance)
{
    const planar_vec e = planar_sub(core->corners[planar_next(edge, core->count)], core->corners[edge]);
    return planar_is_surface(core, edge) && fabs(planar_dot(e, outer)) <= tolerance && planar_cross(outer, e) > 0.0;
}

bool perp_planar_leaves_corner(const perp_planar_shape *core, int corner, planar_vec outer, double tolerance)
{
    if (!core->borders) {
        return true;
    }
    const perp_planar_border *border = &core->borders[corner];
    const double before = outer.x * border->before.x + outer.y * border->before.y;
    const double after = outer.x * border->after.x + outer.y * border->after.y;
    if (border->convex && before >= -POSE_TURN && after <= POSE_TURN) {
        return true;
    }
    return lies_flat(core, corner, outer, tolerance) ||
           lies_flat(core, planar_prev(corner, core->count), outer, tolerance);
}

/* Whether the edge and the corner above it are surface to each other. */
static bool counts(const caliper *c, planar_feature_kind kind, double tolerance)
{
    if (!c->p->borders && !c->q->borders) {
        return true;
    }
    const planar_vec n = normal_of(c, kind);
    const double sign = kind == PLANAR_EDGE_OF_A ? -1.0 : 1.0; /* out of q */
    return planar_is_surface(c->p, c->edge) &&
           perp_planar_leaves_corner(c->q, c->corner, (planar_vec){sign * n.x, sign * n.y}, tolerance);
}

/* The lowest point of q's boundary over the edge itself: q's lowest corner or, where that lies beyond the edge's ends,
 * the point where the boundary enters the edge's slab. False: q is nowhere over the edge. */
static bool lowest_over_edge(const caliper *c, planar_vec outer, double tolerance, perp_vec3 *above)
{
    const perp_vec3 tail = c->p->corners[c->edge];
    const planar_vec along = {-outer.y, outer.x};
    const double length = sqrt(c->length2);
    perp_vec3 from = c->q->corners[c->corner];
    double t_from = planar_dot(along, planar_sub(from, tail));
    const bool before = t_from < 0.0;
    const double end = before ? 0.0 : length;
    *above = from;
    if (t_from >= -tolerance && t_from <= length + tolerance) {
        return true;
    }
    for (int steps = 1, j = c->corner; steps < c->q->count; steps++) {
        j = before ? planar_prev(j, c->q->count) : planar_next(j, c->q->count);
        const perp_vec3 to = c->q->corners[j];
        const double t_to = planar_dot(along, planar_sub(to, tail));
        if (before ? t_to <= t_from : t_to >= t_from) {
            return false; /* turns back before it is there */
        }
        if (before ? t_to >= end : t_to <= end) {
            *above = planar_move(from, (end - t_from) / (t_to - t_from), planar_sub(to, from));
            return true;
        }
        from = to;
        t_from = t_to;
    }
    return false;
}

/* The best of what counts, for overlapping cores. A way out whose depth is that of what lies over the edge, while q
 * goes deeper beside it, is chosen only where no other is as good: a corner that touches a side near the end of an edge
 * is hardly below that edge either, and the two normals are a quarter turn apart. */
typedef enum surface_round { SURFACE_MEASURE, SURFACE_WHOLE, SURFACE_ANY, SURFACE_ROUNDS } surface_round;
typedef struct surface {
    double best; /* separation; -infinity: none */
    surface_round round;
} surface;

static void surface_pass(const perp_planar_shape *p, const perp_planar_shape *q, planar_feature_kind kind, surface *s,
                         planar_features *f)
{
    caliper c = {.p = p, .q = q, .edge = -1, .corner = -1};
    while (caliper_edge(&c)) {
        caliper_lowest(&c);
        const planar_vec normal = normal_of(&c, kind);
        const planar_vec outer = kind == PLANAR_EDGE_OF_A ? normal : (planar_vec){-normal.x, -normal.y};
        perp_vec3 above;
        if (!counts(&c, kind, f->tolerance) || !lowest_over_edge(&c, outer, f->tolerance, &above)) {
            continue;
        }
        const double separation = planar_dot(outer, planar_sub(above, p->corners[c.edge]));
        if (separation > f->tolerance) {
            continue; /* the cores overlap, but not here */
        }
        const double below = planar_dot(outer, planar_sub(above, q->corners[c.corner]));
        if (s->round == SURFACE_MEASURE) {
            s->best = fmax(s->best, separation);
        } else if (separation >= s->best - f->tolerance && (s->round == SURFACE_ANY || below <= f->tolerance)) {
            if (f->none) {
                f->none = false;
                take(&c, kind, above, f);
            }
            f->tie = f->tie || planar_differ(f->normal, normal);
        }
    }
}

static void surface_passes(const perp_planar_shape *a, const perp_planar_shape *b, planar_features *f)
{
    surface s = {.best = -INFINITY};
    f->none = true;
    for (; s.round < SURFACE_ROUNDS && f->none; s.round++) {
        surface_pass(a, b, PLANAR_EDGE_OF_A, &s, f);
        surface_pass(b, a, PLANAR_EDGE_OF_B, &s, f);
    }
}

/* ---- ties -------------------------------------------------------------------------------------------------------- */

/* What the second pass looks for: edges whose separation is at least the threshold. */
typedef struct second {
    double threshold;
    nearest best;
    planar_vec first; /* normal of the first that reaches it, to tell ties; zero before */
    bool found;       /* one that the other core is over */
} second;

/* Takes the first edge that reaches the threshold with the other core over it (of nearly collinear edges, that is the
 * one which is touched); failing that, the best of the first pass. */
static void second_pass(const perp_planar_shape *p, const perp_planar_shape *q, planar_feature_kind kind, second *s,
                        planar_features *f)
{
    /* No corner of q is below the lowest, so the one that decided the first pass rules out most edges unsearched. */
    const nearest *best = &s->best;
    const bool at_corner = best->kind == kind || (best->kind == PLANAR_CORNERS && kind == PLANAR_EDGE_OF_A);
    const int probe = at_corner ? best->corner : best->edge;
    caliper c = {.p = p, .q = q, .edge = -1, .corner = -1};
    while (caliper_edge(&c)) {
        c.level = level_of(&c, probe);
        if (!reaches(&c, s->threshold)) {
            c.corner = -1;
            continue;
        }
        caliper_lowest(&c);
        if (!reaches(&c, s->threshold) || !counts(&c, kind, f->tolerance)) {
            continue;
        }
        const planar_vec normal = normal_of(&c, kind);
        if (s->first.x == 0.0 && s->first.y == 0.0) {
            s->first = normal;
        }
        f->tie = f->tie || planar_differ(s->first, normal);
        if (s->found) {
            continue;
        }
        const planar_vec outer = kind == PLANAR_EDGE_OF_A ? normal : (planar_vec){-normal.x, -normal.y};
        perp_vec3 above;
        if (point_above_edge(&c, outer, f->tolerance, &above)) {
            s->found = true;
            take(&c, kind, above, f);
        } else if (kind == s->best.kind && c.edge == s->best.edge) {
            take(&c, kind, above, f);
        }
    }
}

double perp_planar_tolerance_within(const perp_planar_shape *a, const perp_planar_shape *b, double *magnitude)
{
    double size = 0.0, largest = 0.0;
    for (int s = 0; s < 2; s++) {
        const perp_planar_shape *core = s == 0 ? a : b;
        if (core->kind != PERP_PLANAR_CORE) {
            continue;
        }
        perp_vec3 low = core->corners[0], high = low;
        for (int i = 1; i < core->count; i++) {
            const perp_vec3 c = core->corners[i];
            low.x = c.x < low.x ? c.x : low.x;
            low.y = c.y < low.y ? c.y : low.y;
            high.x = c.x > high.x ? c.x : high.x;
            high.y = c.y > high.y ? c.y : high.y;
        }
        size += fmax(high.x - low.x, high.y - low.y) + 2.0 * core->radius;
        largest = fmax(largest, fmax(fmax(-low.x, high.x), fmax(-low.y, high.y)));
    }
    *magnitude = largest;
    return tie_tolerance(size);
}

double perp_planar_tolerance(const perp_planar_shape *a, const perp_planar_shape *b)
{
    double magnitude;
    return perp_planar_tolerance_within(a, b, &magnitude);
}

/* The separation from which an edge is as good as the best. Inside it is `best` less the tolerance. In the open an
 * edge's separation is best * cos(angle to the best normal), so the same difference would take in normals that are off
 * by sqrt(2 tolerance / best); what is let in there is a corner past the edge's end by up to the tolerance. */
static double threshold_of(double best, double tolerance, double rounding)
{
    const double t = best > tolerance ? sqrt((best - tolerance) * (best + tolerance)) : best - tolerance;
    return t - rounding;
}

/* Between two corners; +x where they are within `coincide`. */
static planar_vec normal_of_corners(planar_vec gap, double distance, double coincide)
{
    return distance > coincide ? (planar_vec){gap.x / distance, gap.y / distance} : (planar_vec){1.0, 0.0};
}

planar_features perp_planar_core_features(const perp_planar_shape *a, const perp_planar_shape *b)
{
    assert(a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_CORE && a->count > 0 && b->count > 0);
    double magnitude = 0.0;
    planar_features f = {.kind = PLANAR_CORNERS, .tolerance = perp_planar_tolerance_within(a, b, &magnitude)};
    nearest best = {.distance2 = INFINITY, .kind = PLANAR_CORNERS, .rounding = 8.0 * DBL_EPSILON * magnitude};
    first_pass(a, b, PLANAR_EDGE_OF_A, &best);
    first_pass(b, a, PLANAR_EDGE_OF_B, &best);
    const bool points = a->count == 1 && b->count == 1;
    if (points || (best.outside && best.kind == PLANAR_CORNERS)) {
        const planar_vec gap = planar_sub(b->corners[best.corner], a->corners[best.edge]);
        best.distance2 = planar_dot(gap, gap);
        f.edge = best.edge;
        f.corner = best.corner;
        f.normal = normal_of_corners(gap, sqrt(best.distance2), points ? planar_coincide(f.tolerance) : 0.0);
    }
    if (points) {
        f.tie = sqrt(best.distance2) <= planar_coincide(f.tolerance);
        return f;
    }
    if (!best.outside && (a->borders || b->borders)) {
        surface_passes(a, b, &f);
        return f;
    }
    const planar_vec between_corners = f.normal; /* where the best is no edge */
    const double distance = best.outside ? sqrt(best.distance2) : -sqrt(best.distance2);
    second s = {.threshold = threshold_of(distance, f.tolerance, 2.0 * best.rounding), .best = best};
    second_pass(a, b, PLANAR_EDGE_OF_A, &s, &f);
    second_pass(b, a, PLANAR_EDGE_OF_B, &s, &f);
    if (f.kind != PLANAR_CORNERS && best.kind == PLANAR_CORNERS && best.distance2 > 0.0) {
        f.tie = f.tie || planar_differ(f.normal, between_corners);
    }
    if (f.kind == PLANAR_CORNERS && (a->borders || b->borders)) {
        f.none = best.kind != PLANAR_CORNERS || !perp_planar_leaves_corner(a, f.edge, f.normal, f.tolerance) ||
                 !perp_planar_leaves_corner(b, f.corner, (planar_vec){-f.normal.x, -f.normal.y}, f.tolerance);
    }
    assert(f.none || f.kind != PLANAR_CORNERS || best.kind == PLANAR_CORNERS);
    return f;
}
