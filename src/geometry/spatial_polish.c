/* spatial_polish.c - the exact normal, from a good guess of it.
 *
 * Near the answer each core is one of its features: a corner, an edge (the side of a cylinder is the edge of its axis,
 * grown by its radius), the circle at a cylinder's end, or an ellipsoid. The separation along n is then
 *
 *     g(n) = -h_A(n) - h_B(-n),   h the feature's support function,
 *
 * smooth on the unit sphere, for edges on the great circle square to them. Its stationary point is found by Newton's
 * method with the Hessian of h (homogeneous of degree one, so that on the sphere the Hessian of g is
 * -(H_A + H_B) - g I), quadratically and to rounding, whether the cores are apart or overlap.
 *
 * A flat face fixes the normal by itself. Which features are right is not known beforehand: all combinations near the
 * guess are tried, and one counts when the witnesses of the features agree with the supports of the whole cores.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

typedef enum feature_kind { FEATURE_POINT, FEATURE_LINE, FEATURE_CIRCLE, FEATURE_ELLIPSOID } feature_kind;

typedef struct feature {
    feature_kind kind;
    perp_vec3 at;   /* the point, the line's middle, the centre */
    perp_vec3 axis; /* LINE: unit direction; CIRCLE: unit axis */
    double reach;   /* LINE: half its length */
    double radius;  /* CIRCLE; LINE: what it is grown by */
    const spatial_core *core;
} feature;

enum { FEATURES_MAX = 4 };

/* The support point of a feature along m (unit) and its second derivative; for LINE the middle and none. */
static perp_vec3 support(const feature *f, perp_vec3 m, perp_mat3 *hessian)
{
    *hessian = (perp_mat3){{0}};
    if (f->kind == FEATURE_CIRCLE) {
        const double along = perp_vec3_dot(m, f->axis);
        const perp_vec3 across = perp_vec3_add_scaled(m, -along, f->axis);
        const double s = perp_vec3_norm(across);
        if (!(s > AXIS_SINE)) {
            return f->at;
        }
        const perp_vec3 u = perp_vec3_scale(1.0 / s, across), v = perp_vec3_cross(f->axis, u);
        const double c[3] = {v.x, v.y, v.z};
        for (int i = 0; i < 9; i++) {
            hessian->m[i] = f->radius / s * c[i / 3] * c[i % 3];
        }
        return perp_vec3_add_scaled(f->at, f->radius, u);
    }
    if (f->kind == FEATURE_ELLIPSOID) {
        const perp_vec3 d = spatial_to_local(f->core, m), h = f->core->half;
        const double rho = perp_vec3_norm(perp_vec3_make(h.x * d.x, h.y * d.y, h.z * d.z));
        const perp_vec3 x = perp_vec3_make(h.x * h.x * d.x / rho, h.y * h.y * d.y / rho, h.z * h.z * d.z / rho);
        const double p[3] = {x.x, x.y, x.z};
        for (int i = 0; i < 9; i++) {
            hessian->m[i] = -p[i / 3] * p[i % 3] / rho;
        }
        hessian->m[0] += h.x * h.x / rho;
        hessian->m[4] += h.y * h.y / rho;
        hessian->m[8] += h.z * h.z / rho;
        if (f->core->turned) {
            *hessian = perp_mat3_turn(&f->core->rotation, hessian);
        }
        return spatial_point_of(f->core, x);
    }
    return f->at;
}

/* ---- the stationary normal --------------------------------------------------------------------------------------- */

typedef struct local_model {
    perp_vec3 on_a, on_b, between;
    perp_mat3 h; /* H_A + H_B */
    double gap;  /* without radii of lines */
} local_model;

static local_model model_at(const feature *a, const feature *b, perp_vec3 n)
{
    local_model m;
    perp_mat3 hb;
    m.on_a = support(a, n, &m.h);
    m.on_b = support(b, spatial_negative(n), &hb);
    for (int i = 0; i < 9; i++) {
        m.h.m[i] += hb.m[i];
    }
    m.between = perp_vec3_sub(m.on_b, m.on_a);
    m.gap = perp_vec3_dot(n, m.between);
    return m;
}

/* The directions along which n may turn: all, or those square to an edge as well. Returns their number. */
static int tangents_of(perp_vec3 n, const perp_vec3 *edge, perp_vec3 u[2])
{
    if (edge) {
        u[0] = perp_vec3_cross(*edge, n); /* unit: they are square */
        return 1;
    }
    perp_tangents(n, &u[0], &u[1]);
    return 2;
}

static double quadratic(const perp_mat3 *h, perp_vec3 x, perp_vec3 y)
{
    return perp_vec3_dot(x, perp_mat3_mul_vec(h, y));
}

/* The step of Newton's method for a maximum of g. Where g is not concave the curvatures count by their size, so that
 * the step goes uphill and away from saddles. */
static perp_vec3 newton_step(const local_model *m, int dimension, const perp_vec3 u[2], double *slope)
{
    const double most = 0.5, g0 = perp_vec3_dot(u[0], m->between), k00 = quadratic(&m->h, u[0], u[0]) + m->gap;
    const double least = CURVATURE_LEAST * (fabs(m->gap) + perp_vec3_norm(m->between));
    double s0, s1 = 0.0, g1 = 0.0;
    if (dimension == 1) {
        s0 = g0 / fmax(fabs(k00), least);
    } else {
        g1 = perp_vec3_dot(u[1], m->between);
        const double k11 = quadratic(&m->h, u[1], u[1]) + m->gap, k01 = quadratic(&m->h, u[0], u[1]);
        const double det = k00 * k11 - k01 * k01;
        if (k00 > 0.0 && det > 0.0) {
            s0 = (k11 * g0 - k01 * g1) / det;
            s1 = (k00 * g1 - k01 * g0) / det;
        } else {
            const double mean = 0.5 * (k00 + k11), half = 0.5 * (k00 - k11), root = hypot(half, k01);
            const double large = fmax(fabs(mean + root), least), small = fmax(fabs(mean - root), least);
            /* (c, s) is the direction of the larger curvature mean + root. */
            const double angle = 0.5 * atan2(k01, half), c = cos(angle), s = sin(angle);
            const double along = (c * g0 + s * g1) / large, across = (c * g1 - s * g0) / small;
            s0 = c * along - s * across;
            s1 = s * along + c * across;
        }
    }
    *slope = hypot(g0, g1);
    const double length = hypot(s0, s1);
    if (!(length > 0.0)) {
        return perp_vec3_make(0.0, 0.0, 0.0);
    }
    const double scale = length > most ? most / length : 1.0;
    const perp_vec3 step = perp_vec3_scale(scale * s0, u[0]);
    return dimension == 2 ? perp_vec3_add_scaled(step, scale * s1, u[1]) : step;
}

/* Unit, and square to the edge if there is one; zero if nothing is left. Lengths are near one here, so that the plain
 * formula will do. */
static perp_vec3 square_to(perp_vec3 n, const perp_vec3 *edge)
{
    if (edge) {
        n = perp_vec3_add_scaled(n, -perp_vec3_dot(n, *edge), *edge);
    }
    const double length = perp_vec3_norm(n);
    return length > 0.0 ? perp_vec3_scale(1.0 / length, n) : n;
}

/* Newton's method from *normal; features that are not those of the answer need not take long to fail. */
static bool climb(const feature *a, const feature *b, const perp_vec3 *edge, double rounding, perp_vec3 *normal)
{
    const bool smooth = a->kind == FEATURE_ELLIPSOID || b->kind == FEATURE_ELLIPSOID;
    const int rounds = smooth ? 60 : 16, halvings = smooth ? 12 : 6;
    const perp_vec3 start = *normal;
    perp_vec3 n = square_to(start, edge);
    local_model m = model_at(a, b, n);
    double last = INFINITY;
    for (int i = 0; i < rounds; i++) {
        perp_vec3 u[2];
        double slope;
        const int dimension = tangents_of(n, edge, u);
        perp_vec3 step = newton_step(&m, dimension, u, &slope);
        if (slope <= rounding || perp_vec3_dot(step, step) <= NO_PROGRESS * NO_PROGRESS ||
            (slope >= 0.5 * last && slope <= 100.0 * rounding)) {
            break;
        }
        last = slope;
        bool better = false;
        for (int half = 0; half < halvings && !better; half++) {
            const perp_vec3 next = square_to(perp_vec3_add(n, step), edge);
            const local_model there = model_at(a, b, next);
            if (there.gap >= m.gap - rounding) {
                n = next;
                m = there;
                better = true;
            }
            step = perp_vec3_scale(0.5, step);
        }
        if (!better || (!smooth && perp_vec3_dot(n, start) < 0.5)) {
            break;
        }
    }
    *normal = n;
    return isfinite(n.x) && isfinite(n.y) && isfinite(n.z);
}

static bool straight(const feature *f)
{
    return f->kind == FEATURE_POINT || f->kind == FEATURE_LINE;
}

/* The stationary normal of two features near *normal. */
static bool solve(const feature *a, const feature *b, double rounding, perp_vec3 *normal)
{
    const perp_vec3 *edge = a->kind == FEATURE_LINE ? &a->axis : b->kind == FEATURE_LINE ? &b->axis : NULL;
    perp_vec3 n;
    if (a->kind == FEATURE_LINE && b->kind == FEATURE_LINE) {
        n = perp_vec3_cross(a->axis, b->axis);
        const double sine = perp_vec3_norm(n);
        if (sine > EDGES_PARALLEL) {
            n = perp_vec3_scale((perp_vec3_dot(n, *normal) < 0.0 ? -1.0 : 1.0) / sine, n);
            *normal = n;
            return true;
        }
    }
    if (straight(a) && straight(b)) {
        n = perp_vec3_sub(b->at, a->at);
        if (edge) {
            n = perp_vec3_add_scaled(n, -perp_vec3_dot(n, *edge), *edge);
        }
        if (perp_vec3_norm(n) <= 10.0 * rounding) { /* they meet: any normal will do that is square to the edge */
            n = edge ? perp_vec3_add_scaled(*normal, -perp_vec3_dot(*normal, *edge), *edge) : *normal;
        }
        n = perp_vec3_normalise(n);
        *normal = perp_vec3_dot(n, *normal) < 0.0 ? spatial_negative(n) : n;
        return perp_vec3_norm(n) > 0.0;
    }
    return climb(a, b, edge, rounding, normal);
}

/* ---- witnesses --------------------------------------------------------------------------------------------------- */

static double clamp(double x, double limit)
{
    return fmin(fmax(x, -limit), limit);
}

/* Moves the points of lines along them until they are nearest. */
static void slide(const feature *a, const feature *b, perp_vec3 *on_a, perp_vec3 *on_b)
{
    const perp_vec3 d = perp_vec3_sub(*on_b, *on_a);
    if (a->kind == FEATURE_LINE && b->kind == FEATURE_LINE) {
        const perp_vec3 x = perp_vec3_cross(a->axis, b->axis);
        const double xx = perp_vec3_dot(x, x);
        double s;
        if (xx > EDGES_PARALLEL * EDGES_PARALLEL) {
            s = perp_vec3_dot(perp_vec3_cross(d, b->axis), x) / xx;
        } else { /* the middle of what the two have in common */
            const double c = perp_vec3_dot(d, a->axis);
            const double low = fmax(-a->reach, c - b->reach), high = fmin(a->reach, c + b->reach);
            s = 0.5 * (low + high);
        }
        s = clamp(s, a->reach);
        *on_a = perp_vec3_add_scaled(*on_a, s, a->axis);
        const double t = clamp(perp_vec3_dot(perp_vec3_sub(*on_a, *on_b), b->axis), b->reach);
        *on_b = perp_vec3_add_scaled(*on_b, t, b->axis);
    } else if (a->kind == FEATURE_LINE) {
        *on_a = perp_vec3_add_scaled(*on_a, clamp(perp_vec3_dot(d, a->axis), a->reach), a->axis);
    } else if (b->kind == FEATURE_LINE) {
        *on_b = perp_vec3_add_scaled(*on_b, clamp(-perp_vec3_dot(d, b->axis), b->reach), b->axis);
    }
}

static double grown(const feature *f)
{
    return f->kind == FEATURE_LINE ? f->radius : 0.0;
}

static bool accept(spatial_pair *pair, perp_vec3 n, double slack, spatial_result *r)
{
    const perp_vec3 d = perp_vec3_sub(r->on_b, r->on_a);
    r->phi = perp_spatial_gap_along(pair, n);
    r->normal = n;
    r->tie = r->beyond = false;
    r->witnessed = true;
    return perp_vec3_dot(n, n) > 0.5 && perp_vec3_norm(perp_vec3_add_scaled(d, -r->phi, n)) <= slack;
}

static bool try_pair(spatial_pair *pair, const feature *a, const feature *b, double slack, spatial_result *r)
{
    perp_vec3 n = r->normal;
    if (!solve(a, b, NO_PROGRESS * pair->extent, &n)) {
        return false;
    }
    perp_mat3 unused;
    perp_vec3 on_a = support(a, n, &unused), on_b = support(b, spatial_negative(n), &unused);
    slide(a, b, &on_a, &on_b);
    spatial_result s = {.on_a = perp_vec3_add_scaled(on_a, grown(a), n),
                        .on_b = perp_vec3_add_scaled(on_b, -grown(b), n)};
    if (!accept(pair, n, slack, &s)) {
        return false;
    }
    *r = s;
    return true;
}

/* A face of p near the guess; q's support point stands over it. */
static bool try_face(spatial_pair *pair, bool of_b, double slack, spatial_result *r)
{
    spatial_core *p = of_b ? &pair->b : &pair->a, *q = of_b ? &pair->a : &pair->b;
    const perp_vec3 guess = of_b ? spatial_negative(r->normal) : r->normal;
    const int face = perp_spatial_face_towards(p, spatial_to_local(p, guess));
    if (face < 0) {
        return false;
    }
    double offset;
    const perp_vec3 outer = spatial_from_local(p, perp_spatial_face_normal(p, face, &offset));
    if (perp_vec3_dot(outer, guess) < 0.8) {
        return false;
    }
    const perp_vec3 over = perp_spatial_support(q, spatial_negative(outer)).at;
    if (perp_spatial_face_inside(p, face, spatial_point_local(p, over)) < -slack) {
        return false;
    }
    const double gap = perp_vec3_dot(outer, perp_vec3_sub(over, p->position)) - offset;
    const perp_vec3 foot = perp_vec3_add_scaled(over, -gap, outer);
    spatial_result s = {.on_a = of_b ? over : foot, .on_b = of_b ? foot : over};
    if (!accept(pair, of_b ? spatial_negative(outer) : outer, slack, &s)) {
        return false;
    }
    *r = s;
    return true;
}

/* ---- which features ---------------------------------------------------------------------------------------------- */

static feature line_between(const spatial_core *core, perp_vec3 p, perp_vec3 q)
{
    const perp_vec3 d = perp_vec3_sub(q, p);
    return (feature){.kind = FEATURE_LINE,
                     .at = spatial_point_of(core, perp_vec3_scale(0.5, perp_vec3_add(p, q))),
                     .axis = spatial_from_local(core, perp_vec3_normalise(d)),
                     .reach = 0.5 * perp_vec3_norm(d)};
}

/* Corner, then the edges at it that are most nearly square to d. */
static int features_of_hull(const spatial_core *core, int corner, perp_vec3 d, feature out[FEATURES_MAX])
{
    const perp_spatial_hull *hull = core->hull;
    int edges[FEATURES_MAX - 1], count = 0;
    double tilt[FEATURES_MAX - 1];
    for (int k = hull->corner_start[corner]; k < hull->corner_start[corner + 1]; k++) {
        const int e = hull->corner_edges[k];
        const double t = fabs(perp_vec3_dot(hull->edges[e].along, d));
        int at = count < FEATURES_MAX - 1 ? count++ : FEATURES_MAX - 1;
        for (; at > 0 && tilt[at - 1] > t; at--) {
            if (at < FEATURES_MAX - 1) {
                tilt[at] = tilt[at - 1];
                edges[at] = edges[at - 1];
            }
        }
        if (at < FEATURES_MAX - 1) {
            tilt[at] = t;
            edges[at] = e;
        }
    }
    out[0] = (feature){.kind = FEATURE_POINT, .at = spatial_point_of(core, hull->corners[corner])};
    for (int i = 0; i < count; i++) {
        const int *ends = hull->edges[edges[i]].corners;
        out[1 + i] = line_between(core, hull->corners[ends[0]], hull->corners[ends[1]]);
    }
    return 1 + count;
}

static int features_of_box(const spatial_core *core, int corner, feature out[FEATURES_MAX])
{
    const perp_vec3 p = perp_spatial_corner(core, corner);
    out[0] = (feature){.kind = FEATURE_POINT, .at = spatial_point_of(core, p)};
    for (int k = 0; k < 3; k++) {
        out[1 + k] = line_between(core, p, perp_spatial_corner(core, corner ^ 1 << k));
    }
    return 4;
}

static int features_of_cylinder(const spatial_core *core, perp_vec3 d, feature out[FEATURES_MAX])
{
    const perp_vec3 axis = spatial_from_local(core, perp_vec3_make(0.0, 0.0, 1.0));
    const double up = d.z > 0.0 ? core->half_length : -core->half_length;
    out[0] = (feature){.kind = FEATURE_CIRCLE,
                       .at = perp_vec3_add_scaled(core->position, up, axis),
                       .axis = axis,
                       .radius = core->radius};
    out[1] = (feature){
        .kind = FEATURE_LINE, .at = core->position, .axis = axis, .reach = core->half_length, .radius = core->radius};
    return 2;
}

/* `direction` looks out of the core. */
static int features_of(spatial_core *core, perp_vec3 direction, feature out[FEATURES_MAX])
{
    const perp_vec3 d = spatial_to_local(core, direction);
    int id;
    switch (core->kind) {
    case PERP_SPATIAL_CYLINDER:
        return features_of_cylinder(core, d, out);
    case PERP_SPATIAL_ELLIPSOID:
        out[0] = (feature){.kind = FEATURE_ELLIPSOID, .at = core->position, .core = core};
        return 1;
    case PERP_SPATIAL_BOX:
        perp_spatial_support_local(core, d, &id);
        return features_of_box(core, id, out);
    case PERP_SPATIAL_HULL:
        perp_spatial_support_local(core, d, &id);
        return features_of_hull(core, id, d, out);
    case PERP_SPATIAL_SEGMENT:
        perp_spatial_support_local(core, d, &id);
        out[0] = (feature){.kind = FEATURE_POINT, .at = spatial_point_of(core, perp_spatial_corner(core, id))};
        out[1] = line_between(core, perp_spatial_corner(core, 0), perp_spatial_corner(core, 1));
        return 2;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    out[0] = (feature){.kind = FEATURE_POINT, .at = core->position};
    return 1;
}

/* Features that the simplex suggests come first: an edge whose two ends it has. */
static void prefer_edges(const int *ids, int count, feature *features, int features_count)
{
    bool several = false;
    for (int i = 1; i < count; i++) {
        several = several || ids[i] != ids[0];
    }
    if (several && features_count > 1) {
        const feature first = features[0];
        for (int i = 1; i < features_count; i++) {
            features[i - 1] = features[i];
        }
        features[features_count - 1] = first;
    }
}

/* Keeps the better of two answers; true if it is no worse than the guess, as every step uphill is. */
static bool keep(const spatial_result *r, double guess, bool *any, spatial_result *result)
{
    if (!*any || r->phi > result->phi) {
        *result = *r;
        *any = true;
    }
    return result->phi >= guess;
}

bool perp_spatial_polish(spatial_pair *pair, perp_vec3 normal, const spatial_hint *hint, double slack,
                         spatial_result *result)
{
    feature of_a[FEATURES_MAX], of_b[FEATURES_MAX];
    const double guess = fmax(perp_spatial_gap_along(pair, normal) - slack, hint->target);
    bool any = false;
    for (int side = 0; side < 2; side++) {
        spatial_result r = {.normal = normal};
        if (try_face(pair, side == 1, slack, &r) && keep(&r, guess, &any, result)) {
            return true;
        }
    }
    const int count_a = features_of(&pair->a, normal, of_a);
    const int count_b = features_of(&pair->b, spatial_negative(normal), of_b);
    prefer_edges(hint->a, hint->count, of_a, count_a);
    prefer_edges(hint->b, hint->count, of_b, count_b);
    for (int i = 0; i < count_a; i++) {
        for (int j = 0; j < count_b; j++) {
            spatial_result r = {.normal = normal};
            if (try_pair(pair, &of_a[i], &of_b[j], slack, &r) && keep(&r, guess, &any, result)) {
                return true;
            }
        }
    }
    return any;
}
