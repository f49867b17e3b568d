/* spatial_epa.c - cores that touch or overlap: the shortest translation that parts them.
 *
 * A polytope inside D = B - A grows by support points of D, always beyond the facet whose plane is nearest to the
 * origin (planes that leave the origin outside count as negative). The plane's distance bounds the depth from below,
 * every support from above; for curved cores the normals are polished (perp_spatial_polish), so that the upper bound is
 * the exact depth of a stationary normal, and the search only has to show that no other is less deep.
 *
 * The first tetrahedron need not hold the origin, so nothing here depends on how GJK ended, and an origin on the
 * boundary of D (cores that just touch) is no special case.
 *
 * The search goes on until every facet nearer than the best depth plus the tie tolerance is settled; among the settled
 * ones and the faces of both cores the normal is chosen that perp_spatial_distance promises.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

enum {
    VERTICES_MAX = 400,
    FACETS_MAX = 2 * VERTICES_MAX,
    SETTLED_MAX = 24,
    SEEDS_MAX = 300,
    HORIZON_MAX = VERTICES_MAX
};

/* Counter-clockwise seen from outside; across[i] is the facet over the edge from corner i to the next. */
typedef struct facet {
    int corner[3], across[3];
    perp_vec3 outer; /* unit */
    double distance; /* of the plane from the origin, negative if that is outside */
    bool alive, settled;
} facet;

typedef struct polytope {
    spatial_pair *pair;
    perp_spatial_trace *trace;
    bool curved;
    bool spoilt; /* by rounding: no longer a polytope */
    double deep; /* from this depth on one per cent of it is accurate enough */
    double part; /* of the depth: facets that are nearer to the surface are near enough to know their optimum */
    int vertex_count, facet_count; /* slots in use */
    int free_facets[FACETS_MAX], free_count;
    spatial_difference vertices[VERTICES_MAX];
    facet facets[FACETS_MAX];
    spatial_result best; /* the least depth so far: largest phi */
    int settled_count;
    spatial_result settled[SETTLED_MAX]; /* normals that may tie with the best */
} polytope;

/* A direction of a's frame that no symmetric pair has a reason to prefer. */
static const perp_vec3 generic = {0.48, 0.6, 0.64};

/* The point of D that is farthest along `outer`. */
static spatial_difference support(spatial_pair *pair, perp_vec3 outer)
{
    return perp_spatial_lowest(pair, spatial_negative(outer));
}

/* ---- the polytope ------------------------------------------------------------------------------------------------ */

/* A facet without area takes over the plane of the one it replaces. */
static int add_facet(polytope *p, int i, int j, int k, perp_vec3 instead)
{
    int slot;
    if (p->free_count > 0) {
        slot = p->free_facets[--p->free_count];
    } else if (p->facet_count < FACETS_MAX) {
        slot = p->facet_count++;
    } else {
        return -1;
    }
    const perp_vec3 o = p->vertices[i].w, u = perp_vec3_sub(p->vertices[j].w, o),
                    v = perp_vec3_sub(p->vertices[k].w, o);
    const perp_vec3 n = perp_vec3_cross(u, v);
    const double area = perp_vec3_norm(n);
    facet *f = &p->facets[slot];
    f->corner[0] = i;
    f->corner[1] = j;
    f->corner[2] = k;
    f->outer = area > 0.0 ? perp_vec3_scale(1.0 / area, n) : instead;
    f->distance = perp_vec3_dot(f->outer, o);
    f->alive = true;
    f->settled = false;
    return slot;
}

/* A first tetrahedron with a volume. False if D has none to speak of. */
static bool begin(polytope *p, perp_vec3 start)
{
    spatial_pair *pair = p->pair;
    perp_vec3 t, o, n = perp_vec3_normalise(start);
    n = perp_vec3_norm(n) > 0.0 ? n : perp_vec3_make(1.0, 0.0, 0.0);
    perp_tangents(n, &t, &o);
    const perp_vec3 tries[3] = {n, t, o};
    spatial_difference far[2] = {support(pair, n), support(pair, spatial_negative(n))};
    for (int k = 1; k < 3; k++) {
        const spatial_difference x = support(pair, tries[k]), y = support(pair, spatial_negative(tries[k]));
        if (perp_vec3_norm(perp_vec3_sub(y.w, x.w)) > 2.0 * perp_vec3_norm(perp_vec3_sub(far[1].w, far[0].w))) {
            far[0] = x;
            far[1] = y;
        }
    }
    p->vertices[0] = far[0];
    p->vertices[1] = far[1];
    const perp_vec3 d = perp_vec3_normalise(perp_vec3_sub(far[1].w, far[0].w));
    perp_tangents(d, &t, &o);
    double widest = 0.0;
    for (int k = 0; k < 8; k++) {
        const double angle = 0.78539816339744831 * k;
        const perp_vec3 u = perp_vec3_add_scaled(perp_vec3_scale(cos(angle), t), sin(angle), o);
        const spatial_difference x = support(pair, u);
        const double off = perp_vec3_norm(perp_vec3_cross(d, perp_vec3_sub(x.w, far[0].w)));
        if (off > widest) {
            widest = off;
            p->vertices[2] = x;
        }
    }
    if (!(widest > 0.0)) {
        return false;
    }
    const perp_vec3 plane = perp_vec3_normalise(perp_vec3_cross(d, perp_vec3_sub(p->vertices[2].w, far[0].w)));
    double highest = 0.0;
    for (int k = 0; k < 2; k++) {
        const spatial_difference x = support(pair, k ? spatial_negative(plane) : plane);
        const double above = fabs(perp_vec3_dot(plane, perp_vec3_sub(x.w, far[0].w)));
        if (above > highest) {
            highest = above;
            p->vertices[3] = x;
        }
    }
    if (!(highest > 0.0)) {
        return false;
    }
    p->vertex_count = 4;
    /* Outward facets: the fourth corner is below the first three. */
    if (perp_vec3_dot(plane, perp_vec3_sub(p->vertices[3].w, far[0].w)) > 0.0) {
        const spatial_difference swap = p->vertices[1];
        p->vertices[1] = p->vertices[2];
        p->vertices[2] = swap;
    }
    static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int k = 0; k < 4; k++) {
        const int f = add_facet(p, corners[k][0], corners[k][1], corners[k][2], plane);
        for (int i = 0; i < 3; i++) {
            p->facets[f].across[i] = across[k][i];
        }
    }
    return true;
}

typedef struct horizon {
    int count;
    int from[HORIZON_MAX], to[HORIZON_MAX]; /* corners, in the order of the facets that go */
    int beyond[HORIZON_MAX];                /* facets that stay */
    perp_vec3 plane[HORIZON_MAX];           /* of the facets that go */
} horizon;

/* Removes the facets that see the point, beginning at `first`, and lists the border of what is left. */
static bool open_at(polytope *p, int first, perp_vec3 w, horizon *h)
{
    int stack[FACETS_MAX], waiting = 0;
    const double above = ROUNDING * p->pair->extent;
    h->count = 0;
    stack[waiting++] = first;
    p->facets[first].alive = false;
    p->free_facets[p->free_count++] = first;
    while (waiting > 0) {
        const int f = stack[--waiting];
        for (int i = 0; i < 3; i++) {
            const int g = p->facets[f].across[i];
            facet *other = &p->facets[g];
            if (!other->alive) {
                continue;
            }
            if (perp_vec3_dot(other->outer, w) - other->distance > above) {
                other->alive = false;
                p->free_facets[p->free_count++] = g;
                stack[waiting++] = g;
            }
        }
    }
    /* Now the border: edges between facets that went (all in free_facets, latest last) and facets that stay. */
    for (int k = p->free_count - 1; k >= 0; k--) {
        const int f = p->free_facets[k];
        for (int i = 0; i < 3; i++) {
            const int g = p->facets[f].across[i];
            if (p->facets[g].alive) {
                if (h->count == HORIZON_MAX) {
                    return false;
                }
                h->from[h->count] = p->facets[f].corner[i];
                h->to[h->count] = p->facets[f].corner[(i + 1) % 3];
                h->beyond[h->count] = g;
                h->plane[h->count++] = p->facets[f].outer;
            }
        }
        if (f == first) {
            break;
        }
    }
    return h->count >= 3;
}

/* Closes the hole with a fan about the new vertex. */
static bool close_with(polytope *p, int apex, const horizon *h)
{
    int leaving[VERTICES_MAX]; /* the new facet whose edge leaves a corner of the border */
    int made[HORIZON_MAX];
    for (int k = 0; k < h->count; k++) {
        leaving[h->from[k]] = -1;
        leaving[h->to[k]] = -1;
    }
    for (int k = 0; k < h->count; k++) {
        const int f = add_facet(p, h->from[k], h->to[k], apex, h->plane[k]);
        if (f < 0 || leaving[h->from[k]] >= 0) { /* a border that crosses itself: rounding has spoilt the polytope */
            return false;
        }
        leaving[h->from[k]] = f;
        made[k] = f;
        p->facets[f].across[0] = h->beyond[k];
        facet *beyond = &p->facets[h->beyond[k]];
        for (int i = 0; i < 3; i++) {
            if (beyond->corner[i] == h->to[k] && beyond->corner[(i + 1) % 3] == h->from[k]) {
                beyond->across[i] = f;
            }
        }
    }
    for (int k = 0; k < h->count; k++) {
        const int next = leaving[h->to[k]];
        if (next < 0) {
            return false;
        }
        p->facets[made[k]].across[1] = next; /* over the edge from `to` to the apex */
        p->facets[next].across[2] = made[k];
    }
    return true;
}

static int nearest_facet(const polytope *p)
{
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < p->facet_count; i++) {
        const facet *f = &p->facets[i];
        if (f->alive && !f->settled && f->distance < least) {
            least = f->distance;
            best = i;
        }
    }
    return best;
}

static bool has_vertex(const polytope *p, perp_vec3 w)
{
    for (int i = 0; i < p->vertex_count; i++) {
        const perp_vec3 v = p->vertices[i].w;
        if (v.x == w.x && v.y == w.y && v.z == w.z) {
            return true;
        }
    }
    return false;
}

/* ---- normals ----------------------------------------------------------------------------------------------------- */

static void offer(polytope *p, const spatial_result *r)
{
    p->best = r->phi > p->best.phi ? *r : p->best;
}

/* Witnesses of a facet: the origin's foot in terms of its corners, if it is within. */
static bool foot_in(const polytope *p, const facet *f, spatial_result *r)
{
    const spatial_difference *a = &p->vertices[f->corner[0]], *b = &p->vertices[f->corner[1]],
                             *c = &p->vertices[f->corner[2]];
    const perp_vec3 foot = perp_vec3_scale(f->distance, f->outer);
    const perp_vec3 x = perp_vec3_sub(a->w, foot), y = perp_vec3_sub(b->w, foot), z = perp_vec3_sub(c->w, foot);
    const double wa = perp_vec3_dot(perp_vec3_cross(y, z), f->outer);
    const double wb = perp_vec3_dot(perp_vec3_cross(z, x), f->outer);
    const double wc = perp_vec3_dot(perp_vec3_cross(x, y), f->outer), sum = wa + wb + wc;
    const double slack = -FOOT_BESIDE * sum;
    if (!(sum > 0.0) || wa < slack || wb < slack || wc < slack) {
        return false;
    }
    r->on_a = perp_vec3_scale(wa / sum, a->on_a.at);
    r->on_a = perp_vec3_add_scaled(r->on_a, wb / sum, b->on_a.at);
    r->on_a = perp_vec3_add_scaled(r->on_a, wc / sum, c->on_a.at);
    r->on_b = perp_vec3_scale(wa / sum, a->on_b.at);
    r->on_b = perp_vec3_add_scaled(r->on_b, wb / sum, b->on_b.at);
    r->on_b = perp_vec3_add_scaled(r->on_b, wc / sum, c->on_b.at);
    return true;
}

/* Offers the exact normal near that of a facet. */
static bool polish(polytope *p, const facet *f, spatial_result *r)
{
    spatial_hint hint = {.count = 3, .target = p->best.phi - p->pair->tolerance};
    for (int i = 0; i < 3; i++) {
        hint.a[i] = p->vertices[f->corner[i]].on_a.id;
        hint.b[i] = p->vertices[f->corner[i]].on_b.id;
    }
    spatial_result better;
    p->trace->polishes++;
    if (perp_spatial_polish(p->pair, r->normal, &hint, IN_LINE * p->pair->extent, &better)) {
        offer(p, &better);
        *r = better.phi > r->phi ? better : *r;
        return true;
    }
    return false;
}

static void settle(polytope *p, const spatial_result *r)
{
    for (int i = 0; i < p->settled_count; i++) {
        if (perp_vec3_dot(p->settled[i].normal, r->normal) > SAME_DIRECTION_COSINE) {
            p->settled[i] = r->phi > p->settled[i].phi ? *r : p->settled[i];
            return;
        }
    }
    if (p->settled_count < SETTLED_MAX) {
        p->settled[p->settled_count++] = *r;
    }
}

/* A facet of a difference of polytopes is settled when nothing is left beyond it. One whose plane is not that of its
 * features, being thin, gets its normal from them. */
static bool look_closer(polytope *p, const facet *f, const spatial_difference *x, double depth, spatial_result *r)
{
    const double beyond = depth - f->distance;
    if (beyond > FACET_REACHED * p->pair->extent && !has_vertex(p, x->w)) {
        return false;
    }
    const bool thin = beyond > ROUNDING * p->pair->extent;
    r->witnessed = !thin && foot_in(p, f, r);
    offer(p, r);
    spatial_result better = *r;
    if (!thin || polish(p, f, &better)) {
        settle(p, &better);
    }
    return true;
}

/* A facet of a curved difference is settled when its plane is as near to the surface as matters, or nearly so and the
 * stationary normal by it is known and no better than the best: the search need not come closer to an optimum than that
 * to know it, and to a continuum of them (round things on one axis) it never could. */
static bool look_closer_curved(polytope *p, const facet *f, double depth, spatial_result *r)
{
    const double beyond = depth - f->distance, exact = ROUNDING * p->pair->extent;
    const bool news = r->phi > p->best.phi + exact, near = beyond <= fmax(p->part * depth, 0.25 * p->pair->tolerance);
    spatial_result better = *r;
    const double before = p->best.phi;
    const bool known = (news || near || beyond > 0.1 * depth) && polish(p, f, &better);
    const bool as_good = known && better.phi >= p->best.phi - p->pair->tolerance;
    if (as_good) {
        settle(p, &better);
    }
    offer(p, r);
    return beyond <= SURFACE_REACHED + SURFACE_REACHED_OF_EXTENT * p->pair->extent ||
           (near && known && p->best.phi <= before + exact);
}

/* Begins with the best of the faces, whose normals a search from outside may come upon late. */
static void seed_with_faces(polytope *p)
{
    for (int side = 0; side < 2; side++) {
        const spatial_core *core = side ? &p->pair->b : &p->pair->a;
        const int count = perp_spatial_face_count(core);
        for (int i = 0; i < count && count <= SEEDS_MAX; i++) {
            double offset;
            const perp_vec3 outer = spatial_from_local(core, perp_spatial_face_normal(core, i, &offset));
            const perp_vec3 n = side ? spatial_negative(outer) : outer;
            const spatial_result r = {.phi = perp_spatial_gap_along(p->pair, n), .normal = n};
            offer(p, &r);
        }
    }
}

/* Climbs on from the best, trying all features around it: those that face its normal, and normals tilted a little,
 * since where features tie only one of them shows. */
static void improve(polytope *p)
{
    const spatial_hint hint = {.count = 0, .target = INFINITY};
    for (int round = 0; round < 3; round++) {
        const spatial_result before = p->best;
        perp_vec3 t, o;
        perp_tangents(before.normal, &t, &o);
        for (int k = 0; k < 5; k++) {
            const perp_vec3 aside = k < 3 ? t : o;
            const double tilt = k == 0 ? 0.0 : k % 2 ? TILT : -TILT;
            const perp_vec3 guess = perp_vec3_normalise(perp_vec3_add_scaled(before.normal, tilt, aside));
            spatial_result r;
            p->trace->polishes++;
            if (perp_spatial_polish(p->pair, guess, &hint, IN_LINE * p->pair->extent, &r)) {
                offer(p, &r);
            }
        }
        if (p->best.phi <= before.phi + ROUNDING * p->pair->extent) {
            return;
        }
    }
}

/* One round: looks beyond the nearest facet. False when nothing is left to look for, or to do. */
static bool advance(polytope *p)
{
    const int nearest = nearest_facet(p);
    const double tie = p->pair->tolerance;
    if (nearest < 0) {
        return false;
    }
    facet *f = &p->facets[nearest];
    if (f->distance >= -p->best.phi + tie) {
        return false;
    }
    const spatial_difference x = support(p->pair, f->outer);
    const double depth = perp_vec3_dot(f->outer, x.w);
    spatial_result r = {.phi = -depth, .normal = spatial_negative(f->outer)};
    if (depth < -tie) { /* apart */
        p->best = r;
        return false;
    }
    if (p->curved ? look_closer_curved(p, f, depth, &r) : look_closer(p, f, &x, depth, &r)) {
        f->settled = true;
        return true;
    }
    offer(p, &r);
    if (p->vertex_count == VERTICES_MAX) { /* nearly a ball about the origin, unless the bounds are still apart */
        const double apart = -p->best.phi - f->distance, deep = depth > p->deep ? BOUNDS_APART_OF_DEPTH * depth : 0.0;
        p->trace->exhausted = true;
        p->trace->limit = p->trace->limit || apart > fmax(BOUNDS_APART, deep);
        return false;
    }
    horizon h;
    p->vertices[p->vertex_count] = x;
    if (!open_at(p, nearest, x.w, &h) || !close_with(p, p->vertex_count, &h)) {
        p->spoilt = true;
        return false;
    }
    p->vertex_count++;
    return true;
}

/* ---- ties -------------------------------------------------------------------------------------------------------- */

static void add_faces(polytope *p, bool of_b, double least, spatial_choices *c)
{
    spatial_core *core = of_b ? &p->pair->b : &p->pair->a, *other = of_b ? &p->pair->a : &p->pair->b;
    const int count = perp_spatial_face_count(core);
    const perp_vec3 centre = spatial_point_local(core, other->position);
    for (int i = 0; i < count; i++) {
        double offset;
        const perp_vec3 local = perp_spatial_face_normal(core, i, &offset);
        if (perp_vec3_dot(local, centre) - offset < least - 0.5 * other->size) {
            continue; /* its best would be to have all of the other core in front */
        }
        const perp_vec3 outer = spatial_from_local(core, local);
        const spatial_point low = perp_spatial_support(other, spatial_negative(outer));
        const double gap = perp_vec3_dot(outer, perp_vec3_sub(low.at, core->position)) - offset;
        if (gap >= least) {
            const spatial_result r = {.phi = gap, .normal = of_b ? spatial_negative(outer) : outer};
            perp_spatial_choices_add(c, &r);
        }
    }
}

/* The settled normals by how far they reach along the generic direction. */
static void add_settled(polytope *p, double least, spatial_choices *c)
{
    for (int i = 1; i < p->settled_count; i++) {
        const spatial_result r = p->settled[i];
        int at = i;
        for (; at > 0 && perp_vec3_dot(generic, p->settled[at - 1].normal) < perp_vec3_dot(generic, r.normal); at--) {
            p->settled[at] = p->settled[at - 1];
        }
        p->settled[at] = r;
    }
    for (int i = 0; i < p->settled_count; i++) {
        const spatial_result *s = &p->settled[i];
        if (s->phi < least) {
            continue;
        }
        perp_spatial_choices_add(c, s);
    }
    perp_spatial_choices_add(c, &p->best);
}

static double narrowest(const spatial_core *core)
{
    const perp_vec3 h = core->half;
    switch (core->kind) {
    case PERP_SPATIAL_BOX:
    case PERP_SPATIAL_ELLIPSOID:
        return 2.0 * fmin(h.x, fmin(h.y, h.z));
    case PERP_SPATIAL_CYLINDER:
        return 2.0 * fmin(core->radius, core->half_length);
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_HULL:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return core->size;
}

/* Grows the polytope from a first tetrahedron about `start`. False if rounding has spoilt it. */
static bool grow(polytope *p, perp_vec3 start)
{
    p->vertex_count = p->facet_count = p->free_count = p->settled_count = 0;
    p->spoilt = !begin(p, start);
    while (!p->spoilt && advance(p)) {
        p->trace->epa_iterations++;
    }
    return !p->spoilt;
}

bool perp_spatial_epa(spatial_pair *pair, perp_vec3 start, spatial_result *result, perp_spatial_trace *trace)
{
    polytope p;
    p.pair = pair;
    p.trace = trace;
    p.curved = perp_spatial_curved(pair);
    p.part = pair->a.kind == PERP_SPATIAL_ELLIPSOID || pair->b.kind == PERP_SPATIAL_ELLIPSOID ? FACET_NEAR_SMOOTH
                                                                                              : FACET_NEAR;
    p.deep = 0.5 * fmax(narrowest(&pair->a), narrowest(&pair->b));
    p.best = (spatial_result){.phi = -INFINITY};
    if (p.curved) {
        seed_with_faces(&p);
    }
    if (!grow(&p, start) && !grow(&p, generic) && !grow(&p, perp_vec3_make(-0.64, 0.6, 0.48))) {
        trace->limit = true;
    }
    if (p.best.phi == -INFINITY) {
        return false;
    }
    if (p.curved) {
        improve(&p);
    }
    if (p.best.phi > 2.0 * pair->tolerance) {
        *result = p.best;
        return false;
    }
    const double least = p.best.phi - pair->tolerance;
    spatial_choices c;
    c.count = 0;
    c.tie = c.measured = false;
    add_faces(&p, false, least, &c);
    add_faces(&p, true, least, &c);
    add_settled(&p, least, &c);
    perp_spatial_choices_take(pair, &c, result, trace);
    return true;
}
