/* spatial_gjk.c - cores that are apart: the point v of D = B - A that is nearest to the origin.
 *
 * Each round adds the point of D that is lowest along -v to a simplex and keeps the sub-simplex nearest to the origin.
 * |v| bounds the distance from above, the level of the new point along v from below. Polytopes end when a corner comes
 * back; of curved cores, where the bounds close in slowly, perp_spatial_polish is asked ever more closely for the
 * answer, which counts when its own two bounds meet.
 *
 * A tetrahedron may seem to hold the origin by rounding only. The caller finds out (perp_spatial_epa says that the
 * cores are apart), and a second search takes no tetrahedron's word for it.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

enum { ITERATIONS_MAX = 2000, STALE_MAX = 8 };

typedef struct simplex {
    int count;
    spatial_difference at[4];
    double weight[4]; /* of the nearest point, > 0, sum 1 */
    perp_vec3 v;
    double length; /* |v| */
    bool inside;   /* a tetrahedron that holds the origin */
} simplex;

typedef struct search {
    spatial_pair *pair;
    simplex s;
    double lower;      /* best bound from below */
    perp_vec3 highest; /* the unit normal that has it */
    int iterations;
    bool stalled;
    bool trust; /* tetrahedra */
} search;

/* ---- the nearest sub-simplex ------------------------------------------------------------------------------------- */

static void combine(simplex *s)
{
    s->v = perp_vec3_scale(s->weight[0], s->at[0].w);
    for (int i = 1; i < s->count; i++) {
        s->v = perp_vec3_add_scaled(s->v, s->weight[i], s->at[i].w);
    }
    s->length = perp_vec3_norm(s->v);
}

static simplex nearest_of_one(const spatial_difference *p)
{
    simplex r = {.count = 1, .at = {*p}, .weight = {1.0}, .v = p->w, .length = perp_vec3_norm(p->w)};
    return r;
}

static simplex nearest_of_two(const spatial_difference *p, const spatial_difference *q)
{
    const perp_vec3 d = perp_vec3_sub(q->w, p->w);
    const double to_q = -perp_vec3_dot(d, p->w), to_p = perp_vec3_dot(d, q->w);
    if (!(to_q > 0.0)) {
        return nearest_of_one(p);
    }
    if (!(to_p > 0.0)) {
        return nearest_of_one(q);
    }
    simplex r = {.count = 2, .at = {*p, *q}, .weight = {to_p / (to_p + to_q), to_q / (to_p + to_q)}};
    combine(&r);
    /* The foot of the perpendicular, without what the weights' rounding adds along d. */
    r.v = perp_vec3_add_scaled(r.v, -perp_vec3_dot(r.v, d) / perp_vec3_dot(d, d), d);
    r.length = perp_vec3_norm(r.v);
    return r;
}

static simplex nearest_of_three(const spatial_difference *p, const spatial_difference *q, const spatial_difference *r)
{
    const perp_vec3 pq = perp_vec3_sub(q->w, p->w), pr = perp_vec3_sub(r->w, p->w), qr = perp_vec3_sub(r->w, q->w);
    const perp_vec3 n = perp_vec3_cross(pq, pr);
    const double on_p = perp_vec3_dot(perp_vec3_cross(q->w, qr), n);
    const double on_q = -perp_vec3_dot(perp_vec3_cross(r->w, pr), n);
    const double on_r = perp_vec3_dot(perp_vec3_cross(p->w, pq), n);
    const double sum = on_p + on_q + on_r;
    const bool within = on_p > 0.0 && on_q > 0.0 && on_r > 0.0;
    simplex best = {.count = 0};
    if (within) {
        best = (simplex){.count = 3, .at = {*p, *q, *r}, .weight = {on_p / sum, on_q / sum, on_r / sum}};
        combine(&best);
        /* Along the normal, by a corner's level, the direction is right where v is short; unless the triangle is too
         * thin to have a normal. */
        const perp_vec3 unit = perp_vec3_normalise(n);
        const double level = perp_vec3_dot(unit, p->w);
        if (fabs(fabs(level) - best.length) <= LENGTH_ERROR * (perp_vec3_norm(p->w) + best.length)) {
            best.v = perp_vec3_scale(level, unit);
            best.length = fabs(level);
        }
        return best;
    }
    const spatial_difference *const all[3] = {p, q, r};
    for (int k = 0; k < 3; k++) {
        const simplex edge = nearest_of_two(all[k], all[(k + 1) % 3]);
        best = best.count == 0 || edge.length < best.length ? edge : best;
    }
    return best;
}

static simplex nearest_of_four(const spatial_difference at[4], bool trust)
{
    static const int faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}}; /* and the one opposite */
    simplex best = {.count = 0};
    bool outside = false;
    for (int pass = 0; pass < 2 && !outside; pass++) { /* a second time only if no tetrahedron is to be trusted */
        for (int k = 0; k < 4; k++) {
            const spatial_difference *p = &at[faces[k][0]], *q = &at[faces[k][1]], *r = &at[faces[k][2]],
                                     *o = &at[faces[k][3]];
            const perp_vec3 n = perp_vec3_cross(perp_vec3_sub(q->w, p->w), perp_vec3_sub(r->w, p->w));
            const double origin = -perp_vec3_dot(n, p->w), other = perp_vec3_dot(n, perp_vec3_sub(o->w, p->w));
            if (pass == 1 || !(origin * other > 0.0)) { /* the origin is not on the inner side */
                const simplex face = nearest_of_three(p, q, r);
                best = best.count == 0 || face.length < best.length ? face : best;
                outside = true;
            }
        }
        if (!outside && trust) {
            return (simplex){.count = 4, .inside = true};
        }
    }
    return best;
}

static simplex nearest(const simplex *s, bool trust)
{
    switch (s->count) {
    case 1:
        return nearest_of_one(&s->at[0]);
    case 2:
        return nearest_of_two(&s->at[0], &s->at[1]);
    case 3:
        return nearest_of_three(&s->at[0], &s->at[1], &s->at[2]);
    default:
        return nearest_of_four(s->at, trust);
    }
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static bool has_vertex(const simplex *s, const spatial_difference *x)
{
    for (int i = 0; i < s->count; i++) {
        const perp_vec3 w = s->at[i].w;
        if (w.x == x->w.x && w.y == x->w.y && w.z == x->w.z) {
            return true;
        }
    }
    return false;
}

/* Goes on until the bounds differ by no more than `part` of the distance, or nothing changes. Turning v by 1e-8 changes
 * its length by 1e-16 only: rounds that raise the lower bound count as progress too, and the simplex with the least
 * difference of its bounds is kept. */
static spatial_verdict iterate(search *g, double part)
{
    const double zero = ROUNDING * g->pair->extent, rounding = NO_PROGRESS * g->pair->extent;
    simplex s = g->s;
    double least = INFINITY, shortest = s.length;
    int stale = 0;
    while (g->iterations < ITERATIONS_MAX) {
        if (s.inside || s.length <= zero) {
            g->s = s;
            return SPATIAL_OVERLAP;
        }
        g->iterations++;
        const perp_vec3 n = perp_vec3_scale(1.0 / s.length, s.v);
        const spatial_difference x = perp_spatial_lowest(g->pair, n);
        const double level = perp_vec3_dot(n, x.w), difference = s.length - level;
        stale = s.length < shortest - rounding || level > g->lower + rounding ? 0 : stale + 1;
        shortest = fmin(shortest, s.length);
        if (level > g->lower) {
            g->lower = level;
            g->highest = n;
        }
        if (g->lower > g->pair->limit) {
            return SPATIAL_BEYOND;
        }
        if (difference < least) {
            least = difference;
            g->s = s;
        }
        if (difference <= fmax(part * s.length, rounding)) {
            return SPATIAL_APART;
        }
        if (stale > STALE_MAX || has_vertex(&s, &x)) {
            break;
        }
        s.at[s.count++] = x;
        s = nearest(&s, g->trust);
    }
    g->stalled = true;
    return SPATIAL_APART;
}

static void hint_of(const simplex *s, spatial_hint *hint)
{
    hint->count = s->count;
    hint->target = -INFINITY;
    for (int i = 0; i < s->count; i++) {
        hint->a[i] = s->at[i].on_a.id;
        hint->b[i] = s->at[i].on_b.id;
    }
}

static void witnesses(const simplex *s, spatial_result *r)
{
    r->on_a = r->on_b = perp_vec3_make(0.0, 0.0, 0.0);
    for (int i = 0; i < s->count; i++) {
        r->on_a = perp_vec3_add_scaled(r->on_a, s->weight[i], s->at[i].on_a.at);
        r->on_b = perp_vec3_add_scaled(r->on_b, s->weight[i], s->at[i].on_b.at);
    }
}

/* Takes the normal of a face if the nearest points are over it to the tie tolerance. */
static bool snap(spatial_pair *pair, bool of_b, spatial_result *r)
{
    spatial_core *core = of_b ? &pair->b : &pair->a;
    const perp_vec3 towards = of_b ? spatial_negative(r->normal) : r->normal;
    const int face = perp_spatial_face_towards(core, spatial_to_local(core, towards));
    if (face < 0) {
        return false;
    }
    double offset;
    perp_vec3 n = spatial_from_local(core, perp_spatial_face_normal(core, face, &offset));
    n = of_b ? spatial_negative(n) : n;
    const perp_vec3 v = perp_vec3_sub(r->on_b, r->on_a);
    const double along = perp_vec3_dot(v, n);
    const double off = perp_vec3_norm(perp_vec3_add_scaled(v, -along, n));
    if (!(off <= pair->tolerance) || perp_spatial_gap_along(pair, n) < r->phi - pair->tolerance) {
        return false;
    }
    r->tie = r->tie || perp_vec3_norm(perp_vec3_cross(n, r->normal)) > SAME_DIRECTION;
    r->normal = n;
    return true;
}

void perp_spatial_snap(spatial_pair *pair, spatial_result *r)
{
    if (r->phi > pair->tolerance && !snap(pair, false, r)) {
        snap(pair, true, r);
    }
}

/* False if the bounds have not met. */
static bool finish_polytopes(search *g, spatial_result *r, perp_spatial_trace *trace)
{
    *r = (spatial_result){.phi = g->s.length, .normal = perp_vec3_scale(1.0 / g->s.length, g->s.v), .witnessed = true};
    witnesses(&g->s, r);
    double gap = perp_spatial_gap_along(g->pair, r->normal);
    r->phi = perp_vec3_norm(perp_vec3_sub(r->on_b, r->on_a)); /* errors along the features are of second order here */
    if (r->phi - gap > SAME_NUMBER * g->pair->extent) {       /* thin simplices: the features themselves know better */
        spatial_hint hint;
        spatial_result better;
        hint_of(&g->s, &hint);
        trace->polishes++;
        if (perp_spatial_polish(g->pair, r->normal, &hint, IN_LINE_POLYTOPES * g->pair->extent, &better) &&
            better.phi > gap) {
            *r = better;
            gap = better.phi;
        }
    }
    perp_spatial_snap(g->pair, r);
    const double certain = BOUNDS_MEET * g->pair->extent;
    return r->phi - fmax(g->lower, gap) <= certain;
}

static spatial_verdict finish_curved(search *g, spatial_result *r, perp_spatial_trace *trace)
{
    /* Of the distance: how near the bounds are when polishing, which costs as much as a few rounds, is tried. */
    static const double parts[] = {0.2, 1e-2, 1e-3, 1e-5, 1e-8, 1e-12};
    const double slack = IN_LINE_CURVED * g->pair->extent;
    for (int k = 0; k < (int)(sizeof parts / sizeof parts[0]); k++) {
        const spatial_verdict verdict = iterate(g, parts[k]);
        if (verdict != SPATIAL_APART) {
            return verdict;
        }
        spatial_hint hint;
        hint_of(&g->s, &hint);
        trace->polishes++;
        const perp_vec3 n = perp_vec3_scale(1.0 / g->s.length, g->s.v);
        if (perp_spatial_polish(g->pair, n, &hint, slack, r) && r->phi > 0.0) {
            perp_spatial_snap(g->pair, r);
            return SPATIAL_APART;
        }
        if (g->stalled) {
            break;
        }
    }
    return finish_polytopes(g, r, trace) ? SPATIAL_APART : SPATIAL_UNSURE;
}

spatial_verdict perp_spatial_gjk(spatial_pair *pair, perp_vec3 start, spatial_result *result, perp_spatial_trace *trace)
{
    spatial_verdict verdict = SPATIAL_OVERLAP;
    search g = {.pair = pair, .lower = -INFINITY, .trust = !pair->wary};
    const spatial_difference first =
        perp_spatial_lowest(pair, perp_vec3_norm(start) > 0.0 ? start : perp_vec3_make(1.0, 0.0, 0.0));
    g.s = nearest_of_one(&first);
    if (perp_spatial_curved(pair)) {
        verdict = finish_curved(&g, result, trace);
    } else {
        verdict = iterate(&g, 0.0);
        if (verdict == SPATIAL_APART && !finish_polytopes(&g, result, trace)) {
            verdict = SPATIAL_UNSURE;
        }
    }
    trace->gjk_iterations += g.iterations;
    trace->limit = trace->limit || g.iterations >= ITERATIONS_MAX;
    if (verdict == SPATIAL_UNSURE) {
        return verdict;
    }
    if (verdict != SPATIAL_APART) {
        *result = (spatial_result){
            .phi = verdict == SPATIAL_BEYOND ? g.lower : 0.0, .normal = g.highest, .beyond = verdict == SPATIAL_BEYOND};
    }
    return verdict == SPATIAL_APART && result->phi <= pair->tolerance ? SPATIAL_OVERLAP : verdict;
}

double perp_spatial_touch(spatial_pair *pair, spatial_result *result, perp_spatial_trace *trace)
{
    const double apart = fmax(0.1 * fmin(pair->a.size, pair->b.size), MOVED_OUT * fmax(pair->a.size, pair->b.size));
    spatial_pair moved = *pair;
    moved.b.position = perp_vec3_add_scaled(pair->b.position, apart - result->phi, result->normal);
    moved.limit = INFINITY;
    moved.wary = true;
    spatial_result r;
    if (perp_spatial_gjk(&moved, result->normal, &r, trace) != SPATIAL_OVERLAP) {
        result->on_a = r.on_a;
        result->on_b = perp_vec3_add_scaled(r.on_b, result->phi - apart, result->normal);
    } else { /* not reached for cores that are apart; a point of each all the same */
        result->on_a = perp_spatial_support(&pair->a, result->normal).at;
        result->on_b = perp_spatial_support(&pair->b, spatial_negative(result->normal)).at;
        trace->limit = true;
    }
    const perp_vec3 d = perp_vec3_sub(result->on_b, result->on_a);
    return perp_vec3_norm(perp_vec3_add_scaled(d, -result->phi, result->normal));
}
