/* spatial_sat.c - cores that touch or overlap: the shortest translation that separates them.
 *
 * The faces of the difference b - a are those of a, those of b, and one for every pair of edges whose arcs cross on the
 * Gauss map; the depth is the least distance of the origin to their planes. A candidate's separation is always taken
 * from the supports of both cores, so a normal that noise made worthless is merely a bad candidate and never a wrong
 * answer. Leaving out nearly parallel edges costs no more than (angle * length): there the planes of the faces that end
 * the arcs are as near, the separation along an arc being convex where it is negative.
 *
 * EPA would find the same plane by expanding a polytope, with faces that get thinner than rounding can tell; here all
 * candidates are features of the input.
 *
 * First pass: the best separation. Second pass: the first candidate, in the fixed order, that is as good and has the
 * other core over it (see perp_spatial_distance); if rounding leaves none, the one that comes nearest to that.
 */
#include "geometry/spatial_core.h"

typedef struct search {
    const spatial_core *a, *b;
    double threshold; /* candidates below are of no interest: first pass, the best so far; second pass, fixed */
    double tolerance;
    bool second;
    perp_vec3 first; /* second pass: normal of the first candidate that reaches the threshold */
    bool any;
    double off; /* second pass: how far the witnesses are from being in line with the normal; infinite before any */
    perp_separation result;
} search;

static bool differ(perp_vec3 a, perp_vec3 b)
{
    return perp_vec3_dot(a, b) < 0.0 || perp_vec3_norm(perp_vec3_cross(a, b)) > 1e-6;
}

/* The points that touch when b is moved out along the normal. Moving it on until it is apart by a part of its size
 * (from afar small features would look alike) makes them the nearest points of cores in the open, which GJK finds
 * without trouble. Returns how far they are from being in line with the normal. */
static double touch(const spatial_core *a, const spatial_core *b, perp_vec3 normal, double phi, double tolerance,
                    perp_separation *s)
{
    const double apart = fmax(0.1 * fmin(a->size, b->size), 1e-3 * fmax(a->size, b->size));
    spatial_core moved = *b;
    moved.corners = b->corners == b->own ? moved.own : b->corners;
    moved.position = perp_vec3_add_scaled(b->position, apart - phi, normal);
    const spatial_nearest r = perp_spatial_gjk(a, &moved, normal, tolerance);
    const perp_vec3 on_b = perp_vec3_add_scaled(r.point_b, phi - apart, normal);
    const perp_vec3 off = perp_vec3_add_scaled(perp_vec3_sub(on_b, r.point_a), -phi, normal);
    *s = (perp_separation){.phi = phi, .normal = normal, .point_a = r.point_a, .point_b = on_b};
    return perp_vec3_norm(off);
}

static void candidate(search *s, perp_vec3 normal)
{
    const double gap = perp_spatial_core_gap_along(s->a, s->b, normal);
    if (!(gap >= s->threshold)) {
        return;
    }
    if (!s->second) {
        s->threshold = gap;
        return;
    }
    s->first = s->any ? s->first : normal;
    s->any = true;
    s->result.tie = s->result.tie || differ(s->first, normal);
    /* A later one replaces the first only where they are one direction for all purposes: then the better is taken. */
    const bool found = s->off <= s->tolerance;
    if (!found || (gap > s->result.phi && !differ(s->result.normal, normal))) {
        perp_separation at;
        const double off = touch(s->a, s->b, normal, gap, s->tolerance, &at);
        if (off <= s->tolerance || off < s->off) {
            at.tie = s->result.tie;
            s->result = at;
            s->off = off;
        }
    }
}

static void faces(search *s, const spatial_core *core, double sign)
{
    for (int i = 0; i < core->face_count; i++) {
        const perp_vec3 n = core->faces[i].normal;
        if (n.x != 0.0 || n.y != 0.0 || n.z != 0.0) { /* a face of no area has none */
            candidate(s, perp_vec3_scale(sign, perp_mat3_mul_vec(&core->rotation, n)));
        }
    }
}

/* An edge of a in b's frame: what the Gauss map needs. */
typedef struct arc {
    perp_vec3 start, along; /* a corner, from b's position; the unit direction */
    perp_vec3 from, to;     /* normals of the two faces */
    bool whole;             /* no faces: all of the great circle about `along` */
} arc;

static arc arc_of(const spatial_core *core, int edge)
{
    const perp_spatial_edge *e = &core->edges[edge];
    arc r = {.start = core->corners[e->corners[0]], .along = e->along, .whole = e->faces[0] < 0};
    if (!r.whole) {
        r.from = core->faces[e->faces[0]].normal;
        r.to = core->faces[e->faces[1]].normal;
    }
    return r;
}

static arc arc_in(const spatial_core *frame, const spatial_core *core, arc r)
{
    r.start =
        perp_vec3_sub(perp_mat3_mul_vec(&core->rotation, r.start), perp_vec3_sub(frame->position, core->position));
    r.start = perp_mat3_tmul_vec(&frame->rotation, r.start);
    r.along = perp_mat3_tmul_vec(&frame->rotation, perp_mat3_mul_vec(&core->rotation, r.along));
    r.from = perp_mat3_tmul_vec(&frame->rotation, perp_mat3_mul_vec(&core->rotation, r.from));
    r.to = perp_mat3_tmul_vec(&frame->rotation, perp_mat3_mul_vec(&core->rotation, r.to));
    return r;
}

/* The arc p reaches over the great circle about `axis`, to rounding. */
static bool crosses(const arc *p, perp_vec3 axis)
{
    const double slack = 1e-12;
    if (p->whole) {
        return true;
    }
    const double f = perp_vec3_dot(p->from, axis), t = perp_vec3_dot(p->to, axis);
    return fmin(f, t) <= slack && fmax(f, t) >= -slack;
}

/* Where the arcs of an edge of a and (turned round) of an edge of b cross, if they do: the normal from a to b. */
static bool crossing(const arc *p, const arc *q, perp_vec3 *normal)
{
    if (!crosses(q, p->along) || !crosses(p, q->along)) {
        return false;
    }
    const perp_vec3 x = perp_vec3_cross(p->along, q->along);
    const double sine = perp_vec3_norm(x);
    if (sine <= 1e-12) {
        return false;
    }
    const double side_p = perp_vec3_dot(x, perp_vec3_add(p->from, p->to));
    const double side_q = -perp_vec3_dot(x, perp_vec3_add(q->from, q->to));
    if (!p->whole && !q->whole && (side_p > 0.0) != (side_q > 0.0)) {
        return false;
    }
    *normal = perp_vec3_scale(((p->whole ? side_q : side_p) > 0.0 ? 1.0 : -1.0) / sine, x);
    return true;
}

static void edge_pairs(search *s)
{
    for (int i = 0; i < s->a->edge_count; i++) {
        const arc p = arc_in(s->b, s->a, arc_of(s->a, i));
        for (int j = 0; j < s->b->edge_count; j++) {
            const arc q = arc_of(s->b, j);
            perp_vec3 n;
            /* The gap of the two edges bounds that of the cores. */
            if (crossing(&p, &q, &n) && perp_vec3_dot(n, perp_vec3_sub(q.start, p.start)) >= s->threshold) {
                candidate(s, perp_mat3_mul_vec(&s->b->rotation, n));
            }
        }
    }
}

static void pass(search *s)
{
    faces(s, s->a, 1.0);
    faces(s, s->b, -1.0);
    edge_pairs(s);
}

perp_separation perp_spatial_sat(const spatial_core *a, const spatial_core *b, double tolerance, bool *apart)
{
    search s = {.a = a, .b = b, .threshold = -INFINITY, .tolerance = tolerance, .off = INFINITY};
    pass(&s);
    *apart = s.threshold >= 0.0;
    s.second = true;
    s.threshold -= tolerance;
    pass(&s);
    return s.result;
}
