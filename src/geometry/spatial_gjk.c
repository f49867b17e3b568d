/* spatial_gjk.c - distance of two cores that are apart.
 *
 * GJK looks for the point v of the difference b - a that is nearest to the origin. Each v is a convex combination of
 * differences of corners, so |v| is never below the distance; the plane at the lowest corner along any direction is
 * never above it. The two bounds certify the answer whatever rounding did on the way. Every round shortens |v| or
 * raises the lower bound, so the loop ends. Where the bounds stay apart every pair of features is compared instead;
 * that happens where a corner is so near to a corner or an edge that rounding hides the direction between them.
 *
 * The nearest point of a simplex is the best of its sub-simplices that hold the newest corner, each by itself. That
 * costs a few products more than Johnson's recursion or signed volumes, but has no case that rounding can send astray.
 * Best is the one whose plane has the whole simplex farthest above it. To compare the |v| would be blind: turning v by
 * 1e-8 changes its length by 1e-16, but the plane's level by 1e-8 of the simplex' width.
 */
#include "geometry/spatial_core.h"

#include <float.h>

enum { ITERATIONS_MAX = 500, STALE_MAX = 16 };

typedef struct vertex {
    perp_vec3 w, on_a, on_b; /* w = on_b - on_a */
    perp_vec3 arm_a, arm_b;  /* the corners from the cores' positions */
    int a, b;                /* corners */
} vertex;

typedef struct simplex {
    int count;
    vertex at[4];
    double weight[4]; /* of the nearest point, > 0, sum 1 */
    perp_vec3 v;
    double length;       /* |v| */
    perp_vec3 direction; /* unit, of v, but known better where v is short: square to the sub-simplex */
} simplex;

/* y.w - x.w, without what rounding takes when a small core's corners are seen from afar. */
static perp_vec3 difference(const vertex *x, const vertex *y)
{
    return perp_vec3_sub(perp_vec3_sub(y->arm_b, x->arm_b), perp_vec3_sub(y->arm_a, x->arm_a));
}

/* Weights of the point of the sub-simplex that is nearest to the origin; false if it is on the border (then a smaller
 * one has it) or the sub-simplex is flat. */
static bool weigh(int count, const vertex at[4], double weight[4])
{
    if (count == 1) {
        weight[0] = 1.0;
        return true;
    }
    const perp_vec3 d = difference(&at[0], &at[1]), o = at[0].w;
    if (count == 2) {
        weight[0] = perp_vec3_dot(d, at[1].w);
        weight[1] = -perp_vec3_dot(d, o);
    } else if (count == 3) {
        const perp_vec3 n = perp_vec3_cross(d, difference(&at[0], &at[2]));
        for (int i = 0; i < 3; i++) {
            const vertex *p = &at[(i + 1) % 3], *q = &at[(i + 2) % 3];
            weight[i] = perp_vec3_dot(perp_vec3_cross(p->w, difference(p, q)), n);
        }
    } else {
        const perp_vec3 e = difference(&at[0], &at[2]), f = difference(&at[0], &at[3]), ef = perp_vec3_cross(e, f);
        const double sign = perp_vec3_dot(d, ef) < 0.0 ? -1.0 : 1.0;
        weight[1] = -sign * perp_vec3_dot(o, ef);
        weight[2] = -sign * perp_vec3_dot(o, perp_vec3_cross(f, d));
        weight[3] = -sign * perp_vec3_dot(o, perp_vec3_cross(d, e));
        weight[0] = fabs(perp_vec3_dot(d, ef)) - weight[1] - weight[2] - weight[3];
    }
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        if (!(weight[i] > 0.0)) {
            return false;
        }
        sum += weight[i];
    }
    for (int i = 0; i < count; i++) {
        weight[i] /= sum;
    }
    return sum > DBL_MIN;
}

/* Fills v, length and direction from corners and weights. */
static void combine(simplex *s)
{
    s->v = perp_vec3_make(0.0, 0.0, 0.0);
    for (int i = 0; i < s->count; i++) {
        s->v = perp_vec3_add_scaled(s->v, s->weight[i], s->at[i].w);
    }
    s->length = perp_vec3_norm(s->v);
    perp_vec3 u = s->v;
    if (s->count >= 2) {
        const perp_vec3 d = difference(&s->at[0], &s->at[1]);
        if (s->count == 2) {
            u = perp_vec3_add_scaled(u, -perp_vec3_dot(u, d) / perp_vec3_dot(d, d), d);
        } else {
            u = perp_vec3_cross(d, difference(&s->at[0], &s->at[2]));
            u = perp_vec3_dot(u, s->v) < 0.0 ? perp_vec3_scale(-1.0, u) : u;
        }
    }
    s->direction = perp_vec3_normalise(u);
}

static double lowest(const simplex *s, perp_vec3 direction)
{
    double level = INFINITY;
    for (int i = 0; i < s->count; i++) {
        level = fmin(level, perp_vec3_dot(direction, s->at[i].w));
    }
    return level;
}

/* Replaces the simplex, whose last corner is new, by the sub-simplex that is nearest to the origin; one that holds the
 * origin has a |v| of `zero` or less. A tetrahedron that holds it may be thin and have a larger one; if that is much
 * larger it is flat and does not count. */
static void reduce(simplex *s, double zero)
{
    const int last = s->count - 1;
    simplex best = {.count = 0};
    double highest = -INFINITY;
    for (int mask = 0; mask < 1 << last; mask++) {
        simplex sub = {.count = 0};
        for (int i = 0; i <= last; i++) {
            if (i == last || mask & 1 << i) {
                sub.at[sub.count++] = s->at[i];
            }
        }
        if (!weigh(sub.count, sub.at, sub.weight)) {
            continue;
        }
        combine(&sub);
        if (sub.count == 4 && sub.length > 100.0 * zero) {
            continue;
        }
        const double level = sub.count == 4 || sub.length <= zero ? INFINITY : lowest(s, sub.direction);
        if (level > highest || best.count == 0) {
            highest = level;
            best = sub;
        }
    }
    *s = best;
}

static vertex support(const spatial_core *a, const spatial_core *b, perp_vec3 normal)
{
    vertex x = {.a = perp_spatial_core_support(a, normal),
                .b = perp_spatial_core_support(b, perp_vec3_scale(-1.0, normal))};
    x.arm_a = perp_mat3_mul_vec(&a->rotation, a->corners[x.a]);
    x.arm_b = perp_mat3_mul_vec(&b->rotation, b->corners[x.b]);
    x.on_a = perp_vec3_add(a->position, x.arm_a);
    x.on_b = perp_vec3_add(b->position, x.arm_b);
    x.w = perp_vec3_sub(x.on_b, x.on_a);
    return x;
}

static bool has_corner(const simplex *s, const vertex *x)
{
    for (int i = 0; i < s->count; i++) {
        if (s->at[i].a == x->a && s->at[i].b == x->b) {
            return true;
        }
    }
    return false;
}

/* ---- the exact fallback ---------------------------------------------------------------------------------------- */

void perp_spatial_segments(perp_vec3 p0, perp_vec3 p1, perp_vec3 q0, perp_vec3 q1, perp_vec3 *on_p, perp_vec3 *on_q)
{
    const perp_vec3 d = perp_vec3_sub(p1, p0), e = perp_vec3_sub(q1, q0), r = perp_vec3_sub(p0, q0);
    const double dd = perp_vec3_dot(d, d), ee = perp_vec3_dot(e, e), de = perp_vec3_dot(d, e);
    const double dr = perp_vec3_dot(d, r), er = perp_vec3_dot(e, r);
    const perp_vec3 x = perp_vec3_cross(d, e);
    const double xx = perp_vec3_dot(x, x); /* dd ee - de^2 without the cancellation */
    double s = 0.0, t = 0.0, best = INFINITY;
    if (xx > 0.0) {
        const perp_vec3 back = perp_vec3_scale(-1.0, r);
        const double si = perp_vec3_dot(perp_vec3_cross(back, e), x) / xx;
        const double ti = perp_vec3_dot(perp_vec3_cross(back, d), x) / xx;
        if (si >= 0.0 && si <= 1.0 && ti >= 0.0 && ti <= 1.0) {
            s = si;
            t = ti;
            best = perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_add_scaled(r, s, d), -t, e));
        }
    }
    /* The ends, each against the other segment; an inner answer is kept if it is as near, as it is where rounding has
     * not spoilt it (nearly parallel lines). */
    for (int k = 0; k < 4; k++) {
        const double end = k & 1 ? 1.0 : 0.0;
        double sk = end, tk = end;
        if (k < 2) {
            tk = ee > 0.0 ? fmin(fmax((er + end * de) / ee, 0.0), 1.0) : 0.0;
        } else {
            sk = dd > 0.0 ? fmin(fmax((end * de - dr) / dd, 0.0), 1.0) : 0.0;
        }
        const double length = perp_vec3_norm(perp_vec3_add_scaled(perp_vec3_add_scaled(r, sk, d), -tk, e));
        if (length < best) {
            best = length;
            s = sk;
            t = tk;
        }
    }
    *on_p = perp_vec3_add_scaled(p0, s, d);
    *on_q = perp_vec3_add_scaled(q0, t, e);
}

static void offer(spatial_nearest *best, perp_vec3 on_a, perp_vec3 on_b)
{
    const double d = perp_vec3_norm(perp_vec3_sub(on_b, on_a));
    if (d < best->distance) {
        best->distance = d;
        best->normal = perp_vec3_normalise(perp_vec3_sub(on_b, on_a));
        best->point_a = on_a;
        best->point_b = on_b;
    }
}

/* Corners of q that are over a face of p. */
static void offer_faces(const spatial_core *p, const spatial_core *q, bool swap, spatial_nearest *best)
{
    for (int f = 0; f < p->face_count; f++) {
        const perp_spatial_face *face = &p->faces[f];
        const perp_vec3 n = perp_mat3_mul_vec(&p->rotation, face->normal);
        for (int i = 0; i < q->corner_count; i++) {
            const perp_vec3 x = spatial_core_corner(q, i);
            bool over = true;
            for (int k = 0; k < face->count && over; k++) {
                const perp_vec3 from = spatial_core_corner(p, p->loops[face->start + k]);
                const perp_vec3 to = spatial_core_corner(p, p->loops[face->start + (k + 1) % face->count]);
                const perp_vec3 inward = perp_vec3_cross(n, perp_vec3_sub(to, from));
                over = perp_vec3_dot(inward, perp_vec3_sub(x, from)) >= 0.0;
            }
            const perp_vec3 base = spatial_core_corner(p, p->loops[face->start]);
            const double h = perp_vec3_dot(n, perp_vec3_sub(x, base));
            if (over) { /* h < 0 by rounding only, or the cores overlap and it does not matter */
                const perp_vec3 foot = perp_vec3_add_scaled(x, -h, n);
                offer(best, swap ? x : foot, swap ? foot : x);
            }
        }
    }
}

/* The ends of edge i; of a point, twice the point. */
static void ends(const spatial_core *core, int i, perp_vec3 *p, perp_vec3 *q)
{
    *p = spatial_core_corner(core, core->edge_count ? core->edges[i].corners[0] : 0);
    *q = spatial_core_corner(core, core->edge_count ? core->edges[i].corners[1] : 0);
}

static spatial_nearest compare_features(const spatial_core *a, const spatial_core *b, int iterations)
{
    spatial_nearest best = {.distance = INFINITY, .iterations = iterations, .fell_back = true};
    for (int i = 0; i == 0 || i < a->edge_count; i++) {
        for (int j = 0; j == 0 || j < b->edge_count; j++) {
            perp_vec3 p0, p1, q0, q1, on_p, on_q;
            ends(a, i, &p0, &p1);
            ends(b, j, &q0, &q1);
            perp_spatial_segments(p0, p1, q0, q1, &on_p, &on_q);
            offer(&best, on_p, on_q);
        }
    }
    offer_faces(a, b, false, &best);
    offer_faces(b, a, true, &best);
    return best;
}

/* ---- the normal ------------------------------------------------------------------------------------------------ */

/* Takes a feature's unit normal if the nearest points are over the feature to `lateral`, and updates that. */
static void snap(const spatial_core *a, const spatial_core *b, perp_vec3 unit, perp_vec3 v, double least_gap,
                 double *lateral, perp_vec3 *normal)
{
    const double along = perp_vec3_dot(v, unit);
    if (!(along > 0.0)) {
        return;
    }
    const double off = perp_vec3_norm(perp_vec3_add_scaled(v, -along, unit));
    if (off < *lateral && perp_spatial_core_gap_along(a, b, unit) >= least_gap) {
        *lateral = off;
        *normal = unit;
    }
}

/* The normal of a face, if the nearest points are over one, is better than any made of corners. */
static perp_vec3 polish(const spatial_core *a, const spatial_core *b, const simplex *s, double tolerance)
{
    perp_vec3 normal = s->direction;
    double lateral = tolerance;
    for (int i = 0; i < a->face_count; i++) {
        snap(a, b, perp_mat3_mul_vec(&a->rotation, a->faces[i].normal), s->v, s->length - tolerance, &lateral, &normal);
    }
    for (int i = 0; i < b->face_count; i++) {
        const perp_vec3 n = perp_mat3_mul_vec(&b->rotation, b->faces[i].normal);
        snap(a, b, perp_vec3_scale(-1.0, n), s->v, s->length - tolerance, &lateral, &normal);
    }
    return normal;
}

/* Improves the simplex until the bounds meet or nothing changes; returns the lower bound. A tetrahedron, or a
 * length of `zero` or less, says that the cores overlap. */
static double iterate(const spatial_core *a, const spatial_core *b, double zero, simplex *best, int *iterations)
{
    simplex s = *best;
    perp_vec3 highest = s.direction; /* whose level is `lower` */
    int stale = 0;
    double lower = -INFINITY, shortest = INFINITY, least_gap = INFINITY;
    for (*iterations = 0; *iterations < ITERATIONS_MAX; ++*iterations) {
        if (s.count == 4 || s.length <= zero) {
            *best = s;
            return lower;
        }
        const vertex x = support(a, b, s.direction);
        const double level = perp_vec3_dot(s.direction, x.w), gap = s.length - level;
        stale = s.length < shortest || level > lower ? 0 : stale + 1;
        highest = level > lower ? s.direction : highest;
        lower = fmax(lower, level);
        shortest = fmin(shortest, s.length);
        if (gap < least_gap) {
            least_gap = gap;
            *best = s;
        }
        if (gap <= 0.0 || stale > STALE_MAX || has_corner(&s, &x)) {
            break;
        }
        s.at[s.count++] = x;
        reduce(&s, zero);
    }
    if (least_gap > zero) { /* no simplex has both bounds; keep the certified direction */
        best->direction = highest;
    }
    return lower;
}

/* Nearest points from the weights. For an edge against an edge the closed form is better by the ratio of their lengths:
 * the simplex is a triangle as thin as that. */
static void witnesses(const simplex *s, double slack, spatial_nearest *r)
{
    r->point_a = r->point_b = perp_vec3_make(0.0, 0.0, 0.0);
    const vertex *first = &s->at[0], *other_a = NULL, *other_b = NULL;
    bool edges = s->count == 3;
    for (int i = 0; i < s->count; i++) {
        const vertex *x = &s->at[i];
        r->point_a = perp_vec3_add_scaled(r->point_a, s->weight[i], x->on_a);
        r->point_b = perp_vec3_add_scaled(r->point_b, s->weight[i], x->on_b);
        if (x->a != first->a) {
            edges = edges && (!other_a || other_a->a == x->a);
            other_a = x;
        }
        if (x->b != first->b) {
            edges = edges && (!other_b || other_b->b == x->b);
            other_b = x;
        }
    }
    if (edges && other_a && other_b) {
        perp_vec3 on_a, on_b;
        perp_spatial_segments(first->on_a, other_a->on_a, first->on_b, other_b->on_b, &on_a, &on_b);
        if (perp_vec3_norm(perp_vec3_sub(on_b, on_a)) <= s->length + slack) {
            r->point_a = on_a;
            r->point_b = on_b;
        }
    }
}

spatial_nearest perp_spatial_gjk(const spatial_core *a, const spatial_core *b, perp_vec3 guess, double tolerance)
{
    const double extent = perp_vec3_norm(perp_vec3_sub(b->position, a->position)) + a->size + b->size;
    spatial_nearest r = {.distance = 0.0};
    simplex s = {.count = 1, .at = {support(a, b, guess)}, .weight = {1.0}};
    combine(&s);
    const double zero = 1e-12 * extent; /* far above rounding, far below any tolerance */
    const double lower = iterate(a, b, zero, &s, &r.iterations);
    if (s.count == 4 || s.length <= zero) {
        return r;
    }
    r.distance = s.length;
    r.normal = polish(a, b, &s, tolerance);
    if (s.length > tolerance && s.length - lower > zero &&
        s.length - perp_spatial_core_gap_along(a, b, r.normal) > zero) {
        return compare_features(a, b, r.iterations);
    }
    witnesses(&s, 1e-14 * extent, &r);
    return r;
}
