/* spatial_hole_manifold.c - the points of a contact with a bore: see spatial_hole.h for the rules. */
#include "geometry/spatial_hole.h"
#include "geometry/tolerances.h"

/* A point in the hole's frame, and what makes it. */
typedef struct place {
    spatial_hole_contact contact;
    int feature_a, feature_b;
    int quarter;    /* right angles from the direction that is nearest to the one of this place */
    perp_vec3 on_x; /* where quarter is not 0: the point of x that is farthest along the normal */
} place;

enum { IN_BORE_MAX = 8 }; /* 4 directions at either end */

typedef struct places {
    int count;
    place of[IN_BORE_MAX];
} places;

static perp_vec3 axis_of(const spatial_hole_pair *pair)
{
    return perp_vec3_make(pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]);
}

/* The core along z. */
static void extent(const spatial_hole_pair *pair, double *low, double *high)
{
    const perp_vec3 up = {0.0, 0.0, 1.0}, down = {0.0, 0.0, -1.0}, out = {1.0, 0.0, 0.0};
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < pair->corner_count; i++) {
        const double z = spatial_hole_point(pair, pair->corners[i]).z;
        *low = fmin(*low, z);
        *high = fmax(*high, z);
    }
    if (pair->corner_count == 0) {
        *low = perp_spatial_hole_support(pair, down, out, 0).z;
        *high = perp_spatial_hole_support(pair, up, out, 0).z;
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

int perp_spatial_hole_edge_count(const spatial_hole_pair *pair)
{
    switch (pair->x->kind) {
    case PERP_SPATIAL_SEGMENT:
        return 1;
    case PERP_SPATIAL_BOX:
        return 12;
    case PERP_SPATIAL_HULL:
        return pair->x->hull->edge_count;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_CYLINDER:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return 0;
}

void perp_spatial_hole_edge(const spatial_hole_pair *pair, int edge, int corners[2])
{
    static const int box[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                   {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const bool hull = pair->x->kind == PERP_SPATIAL_HULL;
    const int *from = hull ? pair->x->hull->edges[edge].corners : box[edge];
    corners[0] = from[0];
    corners[1] = from[1];
}

bool perp_spatial_hole_crossing(const spatial_hole_pair *pair, int edge, double z, perp_vec3 *point)
{
    int ends[2];
    perp_spatial_hole_edge(pair, edge, ends);
    const perp_vec3 p = spatial_hole_point(pair, pair->corners[ends[0]]);
    const perp_vec3 q = spatial_hole_point(pair, pair->corners[ends[1]]);
    if ((p.z > z) == (q.z > z)) {
        return false;
    }
    *point = perp_vec3_add_scaled(p, (z - p.z) / (q.z - p.z), perp_vec3_sub(q, p));
    point->z = z;
    return true;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static int edge_between(const spatial_hole_pair *pair, int i, int j)
{
    for (int e = 0; e < perp_spatial_hole_edge_count(pair); e++) {
        int c[2];
        perp_spatial_hole_edge(pair, e, c);
        if ((c[0] == i && c[1] == j) || (c[0] == j && c[1] == i)) {
            return e;
        }
    }
    return -1;
}

/* The face that looks most along n (in the hole's frame). */
static int face_along(const spatial_hole_pair *pair, perp_vec3 n)
{
    const perp_vec3 d = perp_mat3_tmul_vec(&pair->turn, n);
    const double along[6] = {d.x, -d.x, d.y, -d.y, d.z, -d.z};
    const bool hull = pair->x->kind == PERP_SPATIAL_HULL;
    int best = 0;
    double most = -INFINITY;
    for (int f = 0; f < (hull ? pair->x->hull->face_count : 6); f++) {
        const double value = hull ? perp_vec3_dot(d, pair->x->hull->faces[f].normal) : along[f];
        if (value > most) {
            most = value;
            best = f;
        }
    }
    return best;
}

static int feature_of_x(const spatial_hole_pair *pair, const spatial_hole_contact *c)
{
    const int end = c->end > 0 ? 1 : 0;
    if (pair->x->kind == PERP_SPATIAL_ELLIPSOID) {
        return perp_feature(PERP_FEATURE_SURFACE, 0);
    }
    if (pair->x->kind == PERP_SPATIAL_CYLINDER) {
        return c->end == 0 ? perp_feature(PERP_FEATURE_SIDE, c->level * axis_of(pair).z > 0.0 ? 1 : 0)
                           : perp_feature(PERP_FEATURE_RIM, 32 + end);
    }
    if (c->corners[0] == c->corners[1]) {
        return perp_feature(PERP_FEATURE_CORNER, c->corners[0]);
    }
    const int edge = edge_between(pair, c->corners[0], c->corners[1]);
    if (edge >= 0) {
        return perp_feature(PERP_FEATURE_EDGE, edge);
    }
    perp_vec3 n = perp_vec3_scale(c->cosine, c->radial);
    n.z = c->sine;
    return perp_feature(PERP_FEATURE_FACE, face_along(pair, n));
}

static int feature_of_hole(const spatial_hole_contact *c)
{
    const int mouth = c->level > 0.0 ? 1 : 0;
    return c->part == SPATIAL_HOLE_WALL   ? perp_feature(PERP_FEATURE_SURFACE, 0)
           : c->part == SPATIAL_HOLE_FACE ? perp_feature(PERP_FEATURE_FACE, mouth)
                                          : perp_feature(PERP_FEATURE_RIM, 16 * mouth);
}

static place place_of(const spatial_hole_pair *pair, const spatial_hole_contact *c)
{
    return (place){.contact = *c, .feature_a = feature_of_x(pair, c), .feature_b = feature_of_hole(c)};
}

/* ---- pins in the bore -------------------------------------------------------------------------------------------- */

/* The gap along the radius from the rim to the pin's side, in place of one whose normal points out of the solid; false
 * if the radius misses the side. */
static bool radial_gap(const spatial_hole_pair *pair, spatial_hole_contact *c)
{
    const perp_vec3 axis = axis_of(pair);
    perp_vec3 rim = perp_vec3_scale(pair->bore, c->radial);
    rim.z = c->level * pair->half;
    const perp_vec3 from = perp_vec3_sub(rim, pair->at);
    const perp_vec3 v = perp_vec3_add_scaled(from, -perp_vec3_dot(axis, from), axis);
    const perp_vec3 w = perp_vec3_add_scaled(c->radial, -perp_vec3_dot(axis, c->radial), axis);
    const double ww = perp_vec3_dot(w, w), wv = perp_vec3_dot(w, v), r = pair->x->radius;
    const double root = wv * wv - ww * (perp_vec3_dot(v, v) - r * r);
    if (!(root >= 0.0) || ww < SAME_DIRECTION * SAME_DIRECTION) {
        return false;
    }
    c->gap = (wv - sqrt(root)) / ww;
    c->cosine = 1.0;
    c->sine = 0.0;
    return true;
}

/* One end (-1, +1) of a pin where it is nearest; false if it makes no point of its own. The direction is set anyway. */
static bool end_of_pin(const spatial_hole_pair *pair, int end, place *p)
{
    const perp_vec3 axis = axis_of(pair);
    const double half = pair->x->half_length, z = pair->at.z + end * half * axis.z;
    const int mouth = z > 0.0 ? 1 : -1, index = end > 0 ? 1 : 0;
    const bool cylinder = pair->x->kind == PERP_SPATIAL_CYLINDER;
    spatial_hole_contact *c = &p->contact;
    p->quarter = 0;
    if (fabs(z) <= pair->half) {
        *c = perp_spatial_hole_pin_minimum(pair, perp_spatial_hole_end_on_wall, end);
        p->feature_a = cylinder ? perp_feature(PERP_FEATURE_RIM, 32 + index) : perp_feature(PERP_FEATURE_CORNER, index);
        p->feature_b = perp_feature(PERP_FEATURE_SURFACE, 0);
        return fabs(c->level) <= pair->half;
    }
    *c = perp_spatial_hole_pin_minimum(pair, perp_spatial_hole_rim_on_side, mouth);
    p->feature_a = cylinder ? perp_feature(PERP_FEATURE_SIDE, index) : perp_feature(PERP_FEATURE_EDGE, 0);
    p->feature_b = feature_of_hole(c);
    const double along = perp_vec3_dot(axis, perp_vec3_sub(c->point, pair->at));
    if (fabs(along) > half || c->cosine <= 0.0) {
        return false;
    }
    return c->sine * mouth <= 0.0 || radial_gap(pair, c);
}

/* ---- all round the bore ------------------------------------------------------------------------------------------ */

/* The direction that is `quarter` right angles on from `radial`. */
static perp_vec3 turned(perp_vec3 radial, int quarter)
{
    const double x = quarter % 2 ? -radial.y : radial.x, y = quarter % 2 ? radial.x : radial.y;
    return quarter < 2 ? perp_vec3_make(x, y, 0.0) : perp_vec3_make(-x, -y, 0.0);
}

/* The half plate in the direction of p's contact, met along the normal n by x's point `on_x`: on the wall, or at the
 * edge by `mouth` if that is not 0. */
static void meet(const spatial_hole_pair *pair, perp_vec3 n, perp_vec3 on_x, int mouth, place *p)
{
    spatial_hole_contact *c = &p->contact;
    perp_vec3 edge = perp_vec3_scale(pair->bore, c->radial);
    edge.z = mouth == 0 ? on_x.z : mouth * pair->half;
    c->gap = perp_vec3_dot(n, perp_vec3_sub(edge, on_x));
    c->part = mouth == 0 ? SPATIAL_HOLE_WALL : SPATIAL_HOLE_RIM;
    c->level = mouth == 0 ? on_x.z : mouth;
    c->cosine = perp_vec3_dot(n, c->radial);
    c->sine = n.z;
    p->on_x = on_x;
    p->feature_b = mouth == 0 ? perp_feature(PERP_FEATURE_SURFACE, p->quarter)
                              : perp_feature(PERP_FEATURE_RIM, (mouth > 0 ? 16 : 0) + p->quarter);
}

/* A ball about `centre`; false if it is over solid. */
static bool ball_aside(const spatial_hole_pair *pair, perp_vec3 centre, place *p)
{
    const perp_vec3 e = p->contact.radial;
    const int mouth = fabs(centre.z) <= pair->half ? 0 : centre.z > 0.0 ? 1 : -1;
    perp_vec3 n = e;
    if (mouth != 0) {
        const double in = pair->bore - perp_vec3_dot(centre, e), down = mouth * pair->half - centre.z;
        if (in <= 0.0) {
            return false;
        }
        n = perp_vec3_scale(in / hypot(in, down), e);
        n.z = down / hypot(in, down);
    }
    meet(pair, n, perp_vec3_add_scaled(centre, pair->radius, n), mouth, p);
    return true;
}

/* A pin's side against the edge of a half plate at a mouth: along the line that is square to both, or, if that leaves
 * the solid, radially where the side passes the plane of the mouth, which is in an ellipse. False if that is beyond the
 * pin's ends. */
static bool side_aside(const spatial_hole_pair *pair, int mouth, place *p)
{
    const perp_vec3 axis = axis_of(pair), e = p->contact.radial, tangent = {-e.y, e.x, 0.0};
    const double r = pair->x->radius, half = pair->x->half_length;
    perp_vec3 edge = perp_vec3_scale(pair->bore, e), n = perp_vec3_cross(tangent, axis);
    edge.z = mouth * pair->half;
    const double length = perp_vec3_norm(n);
    if (fabs(axis.z) < SAME_DIRECTION) { /* lying: its ends say more */
        return false;
    }
    n = perp_vec3_scale((axis.z < 0.0 ? -1.0 : 1.0) / length, n);
    if (n.z * mouth <= 0.0) {
        const perp_vec3 from = perp_vec3_sub(edge, pair->at);
        const perp_vec3 rest = perp_vec3_add_scaled(from, -perp_vec3_dot(n, from), n); /* s axis - u tangent */
        const double s = (perp_vec3_dot(rest, axis) - perp_vec3_dot(rest, tangent) * perp_vec3_dot(axis, tangent)) /
                         (length * length);
        meet(pair, n, perp_vec3_add_scaled(perp_vec3_add_scaled(pair->at, s, axis), r, n), mouth, p);
        return fabs(s) <= half;
    }
    const double lean = perp_vec3_dot(axis, e) / axis.z, width = sqrt(1.0 + lean * lean);
    perp_vec3 on_x = perp_vec3_add_scaled(pair->at, (edge.z - pair->at.z) / axis.z, axis);
    on_x.x += r / width * (e.x + lean * axis.x / axis.z);
    on_x.y += r / width * (e.y + lean * axis.y / axis.z);
    on_x.z = edge.z;
    meet(pair, e, on_x, mouth, p);
    return fabs(perp_vec3_dot(axis, perp_vec3_sub(on_x, pair->at))) <= half;
}

/* The point of a pin's end (-1, +1) that is farthest along a radius. */
static perp_vec3 end_along(const spatial_hole_pair *pair, int end, perp_vec3 radial)
{
    if (pair->x->kind == PERP_SPATIAL_CYLINDER) {
        return perp_spatial_hole_end_along(pair, end, radial);
    }
    const perp_vec3 corner = perp_vec3_add_scaled(pair->at, end * pair->x->half_length, axis_of(pair));
    return perp_vec3_add_scaled(corner, pair->radius, radial);
}

/* A pin's end against the wall; if it is out of the bore there, the side against the rim that it passes. */
static bool end_aside(const spatial_hole_pair *pair, int end, place *p)
{
    const perp_vec3 e = p->contact.radial, on_x = end_along(pair, end, e);
    const bool cylinder = pair->x->kind == PERP_SPATIAL_CYLINDER;
    const int index = end > 0 ? 1 : 0, mouth = on_x.z > 0.0 ? 1 : -1;
    if (fabs(on_x.z) <= pair->half) {
        p->feature_a = cylinder ? perp_feature(PERP_FEATURE_RIM, 32 + index) : perp_feature(PERP_FEATURE_CORNER, index);
        meet(pair, e, on_x, 0, p);
        return true;
    }
    p->feature_a = cylinder ? perp_feature(PERP_FEATURE_SIDE, index) : perp_feature(PERP_FEATURE_EDGE, 0);
    return mouth * end_along(pair, -end, e).z <= pair->half && side_aside(pair, mouth, p);
}

/* An ellipsoid where it is farthest out, if that is between the faces. */
static bool ellipsoid_aside(const spatial_hole_pair *pair, place *p)
{
    const perp_vec3 e = p->contact.radial, on_x = perp_spatial_hole_support(pair, e, e, 0);
    meet(pair, e, on_x, 0, p);
    return fabs(on_x.z) <= pair->half;
}

/* The directions at right angles and opposite to that of `first`, which is where x, or its end (-1, +1; of others 0),
 * is nearest. None is nearer than phi. */
static void add_aside(const spatial_hole_pair *pair, const place *first, int end, double phi, places *list)
{
    for (int quarter = 1; quarter < 4 && list->count < IN_BORE_MAX; quarter++) {
        place p = {.quarter = quarter, .feature_a = first->feature_a};
        p.contact.radial = turned(first->contact.radial, quarter);
        p.contact.tie = first->contact.tie;
        const bool found = end != 0                                  ? end_aside(pair, end, &p)
                           : pair->x->kind == PERP_SPATIAL_ELLIPSOID ? ellipsoid_aside(pair, &p)
                                                                     : ball_aside(pair, first->contact.point, &p);
        if (found && p.contact.gap >= phi - pair->tolerance) {
            list->of[list->count++] = p;
        }
    }
}

/* ---- boxes and hulls in the bore --------------------------------------------------------------------------------- */

static bool corner_on_wall(const spatial_hole_pair *pair, int corner, place *p)
{
    const perp_vec3 at = spatial_hole_point(pair, pair->corners[corner]);
    const double rho = hypot(at.x, at.y);
    if (fabs(at.z) > pair->half) {
        return false;
    }
    const bool central = rho <= pair->tolerance;
    const perp_vec3 radial = central ? perp_vec3_make(1.0, 0.0, 0.0) : perp_vec3_make(at.x / rho, at.y / rho, 0.0);
    const spatial_hole_contact c = {.radial = radial,
                                    .gap = pair->bore - perp_vec3_dot(at, radial),
                                    .part = SPATIAL_HOLE_WALL,
                                    .cosine = 1.0,
                                    .level = at.z,
                                    .corners = {corner, corner},
                                    .tie = central};
    *p = place_of(pair, &c);
    return true;
}

/* The edge through `at` along the unit vector d, from `low` to `high` on it, against the rim: the nearest points of the
 * edge and the tangent at the angle of `at`, then at the angle of the edge's nearest point, until that stays; false if
 * it runs off the edge or the normal leaves the rim's cone. */
static bool edge_on_rim(const spatial_hole_pair *pair, perp_vec3 at, perp_vec3 d, double low, double high,
                        spatial_hole_contact *c)
{
    double s = 0.0;
    for (int i = 0; i < 30; i++) {
        const perp_vec3 p = perp_vec3_add_scaled(at, s, d);
        const double rho = hypot(p.x, p.y);
        if (rho <= pair->tolerance) {
            return false;
        }
        c->radial = perp_vec3_make(p.x / rho, p.y / rho, 0.0);
        const perp_vec3 tangent = perp_vec3_make(-c->radial.y, c->radial.x, 0.0);
        perp_vec3 n = perp_vec3_cross(tangent, d), rim = perp_vec3_scale(pair->bore, c->radial);
        const double length = perp_vec3_norm(n);
        if (length < ALONG_RIM) { /* the edge lies along the rim */
            return false;
        }
        n = perp_vec3_scale((perp_vec3_dot(n, c->radial) < 0.0 ? -1.0 : 1.0) / length, n);
        rim.z = c->level * pair->half;
        const perp_vec3 from = perp_vec3_sub(rim, at);
        c->gap = perp_vec3_dot(n, from);
        c->cosine = perp_vec3_dot(n, c->radial);
        c->sine = n.z;
        const perp_vec3 rest = perp_vec3_add_scaled(from, -c->gap, n); /* s d minus something along the tangent */
        const double across = perp_vec3_dot(tangent, d), before = s;
        s = (perp_vec3_dot(rest, d) - perp_vec3_dot(rest, tangent) * across) / (length * length);
        if (s < low || s > high || c->sine * c->level > 0.0) {
            return false;
        }
        if (fabs(s - before) <= ROUNDING * (pair->size + pair->bore)) {
            return true;
        }
    }
    return false;
}

static bool edge_in_mouth(const spatial_hole_pair *pair, int edge, int mouth, place *p)
{
    perp_vec3 at;
    if (!perp_spatial_hole_crossing(pair, edge, mouth * pair->half, &at)) {
        return false;
    }
    int ends[2];
    perp_spatial_hole_edge(pair, edge, ends);
    const perp_vec3 from = spatial_hole_point(pair, pair->corners[ends[0]]);
    const perp_vec3 to = spatial_hole_point(pair, pair->corners[ends[1]]);
    const perp_vec3 d = perp_vec3_normalise(perp_vec3_sub(to, from));
    spatial_hole_contact c = {.part = SPATIAL_HOLE_RIM, .level = mouth, .corners = {ends[0], ends[1]}};
    const double low = perp_vec3_dot(d, perp_vec3_sub(from, at)), high = perp_vec3_dot(d, perp_vec3_sub(to, at));
    if (!edge_on_rim(pair, at, d, low, high, &c)) {
        const double rho = hypot(at.x, at.y);
        c.tie = rho <= pair->tolerance;
        c.radial = c.tie ? perp_vec3_make(1.0, 0.0, 0.0) : perp_vec3_make(at.x / rho, at.y / rho, 0.0);
        c.gap = pair->bore - perp_vec3_dot(at, c.radial);
        c.cosine = 1.0;
        c.sine = 0.0;
    }
    *p = (place){.contact = c,
                 .feature_a = perp_feature(PERP_FEATURE_EDGE, edge),
                 .feature_b = perp_feature(PERP_FEATURE_RIM, mouth > 0 ? 16 : 0)};
    return true;
}

/* Corners, then edges at either mouth. */
static bool candidate(const spatial_hole_pair *pair, int index, place *p)
{
    if (index < pair->corner_count) {
        return corner_on_wall(pair, index, p);
    }
    const int k = index - pair->corner_count;
    return edge_in_mouth(pair, k / 2, k % 2 == 0 ? -1 : 1, p);
}

/* Quarter around `u` (0: within 45 degrees of it), and below or above the middle of what is in the bore. */
static int bin_of(perp_vec3 u, double middle, const spatial_hole_pair *pair, const spatial_hole_contact *c)
{
    const double along = perp_vec3_dot(u, c->radial), across = u.x * c->radial.y - u.y * c->radial.x;
    const double z = c->part == SPATIAL_HOLE_WALL ? c->level : c->level * pair->half;
    const int quarter = fabs(along) >= fabs(across) ? (along >= 0.0 ? 0 : 2) : (across >= 0.0 ? 1 : 3);
    return 2 * quarter + (z > middle ? 1 : 0);
}

static void polytope_in_bore(const spatial_hole_pair *pair, const spatial_hole_contact *nearest, places *list)
{
    double low, high;
    extent(pair, &low, &high);
    const double middle = 0.5 * (fmax(low, -pair->half) + fmin(high, pair->half));
    const int total = pair->corner_count + 2 * perp_spatial_hole_edge_count(pair);
    place best[IN_BORE_MAX];
    int index[IN_BORE_MAX], found = 0;
    for (int b = 0; b < IN_BORE_MAX; b++) {
        index[b] = -1;
    }
    for (int i = 0; i < total; i++) {
        place p;
        if (!candidate(pair, i, &p) || p.contact.gap < nearest->gap - pair->tolerance) {
            continue;
        }
        const int b = bin_of(nearest->radial, middle, pair, &p.contact);
        if (index[b] < 0 || p.contact.gap < best[b].contact.gap - pair->tolerance) {
            best[b] = p;
            index[b] = i;
        }
        if (found++ < IN_BORE_MAX) {
            list->of[list->count++] = p;
        }
    }
    if (found <= IN_BORE_MAX) {
        return;
    }
    list->count = 0;
    for (int i = 0; i < total; i++) {
        for (int b = 0; b < IN_BORE_MAX; b++) {
            if (index[b] == i) {
                list->of[list->count++] = best[b];
            }
        }
    }
}

/* ---- beside the plate -------------------------------------------------------------------------------------------- */

static perp_vec3 in_hole(const perp_spatial_shape *hole, perp_vec3 world)
{
    return perp_mat3_tmul_vec(&hole->rotation, perp_vec3_sub(world, hole->position));
}

/* Where the line from p (over solid) to q (over the bore) passes the rim, as a part of the way. */
static double way_to_rim(perp_vec3 p, perp_vec3 q, double bore)
{
    const double dx = q.x - p.x, dy = q.y - p.y, dd = dx * dx + dy * dy, pd = p.x * dx + p.y * dy;
    const double root = sqrt(fmax(pd * pd - dd * (p.x * p.x + p.y * p.y - bore * bore), 0.0));
    return dd > 0.0 ? fmin(fmax((-pd - root) / dd, 0.0), 1.0) : 0.0;
}

static void add(perp_manifold *m, const perp_manifold_point *p)
{
    if (m->count < PERP_MANIFOLD_MAX) {
        m->points[m->count++] = *p;
    }
}

/* x against the face at `mouth` (-1, +1). */
static void beside_plate(const spatial_hole_pair *pair, const perp_spatial_shape *hole, int mouth, perp_manifold *m)
{
    perp_spatial_shape plane = {.kind = PERP_SPATIAL_HALFSPACE, .rotation = hole->rotation};
    const perp_vec3 z = {hole->rotation.m[2], hole->rotation.m[5], hole->rotation.m[8]};
    plane.position = perp_vec3_add_scaled(hole->position, mouth * hole->half_length, z);
    for (int i = 0; i < 9 && mouth < 0; i++) {
        plane.rotation.m[i] *= i % 3 == 0 ? 1.0 : -1.0;
    }
    const perp_manifold all = perp_spatial_manifold_build(pair->x, &plane, INFINITY);
    bool over[PERP_MANIFOLD_MAX];
    for (int i = 0; i < all.count; i++) {
        const perp_vec3 p = in_hole(hole, all.points[i].at.point_a);
        over[i] = hypot(p.x, p.y) >= pair->bore - pair->tolerance;
    }
    const int face = perp_feature(PERP_FEATURE_FACE, mouth > 0 ? 1 : 0);
    for (int i = 0; i < all.count; i++) {
        if (!over[i]) {
            continue;
        }
        perp_manifold_point p = all.points[i];
        p.feature_b = face;
        add(m, &p);
        for (int k = 0; k < 2 && all.count > 1; k++) { /* to the next point, and to the one before */
            const int j = (i + (k == 0 ? 1 : all.count - 1)) % all.count;
            if (over[j] || (k == 1 && all.count == 2)) {
                continue;
            }
            const perp_separation *q = &all.points[j].at;
            const double way = way_to_rim(in_hole(hole, p.at.point_a), in_hole(hole, q->point_a), pair->bore);
            perp_manifold_point r = {.at = p.at, .feature_a = p.feature_a};
            r.feature_b = perp_feature(PERP_FEATURE_RIM, 16 * (mouth > 0 ? 1 : 0) + 4 + k);
            r.at.phi = p.at.phi + way * (q->phi - p.at.phi);
            r.at.point_a = perp_vec3_add_scaled(p.at.point_a, way, perp_vec3_sub(q->point_a, p.at.point_a));
            r.at.point_b = perp_vec3_add_scaled(r.at.point_a, r.at.phi, r.at.normal);
            add(m, &r);
        }
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The mouth beside which x stands; 0 if it is in the bore. */
static int mouth_beside(const spatial_hole_pair *pair, const spatial_hole_contact *nearest)
{
    double low, high;
    extent(pair, &low, &high);
    if (low > pair->half || high < -pair->half) {
        return low > pair->half ? 1 : -1;
    }
    return fabs(nearest->cosine) > SAME_DIRECTION ? 0 : nearest->sine < 0.0 ? 1 : -1;
}

/* Puts phi's own point in where nothing is as near: in place of one with the same features, or of the farthest where
 * there is no room. */
static void add_nearest(const spatial_hole_pair *pair, const perp_spatial_shape *hole,
                        const spatial_hole_contact *nearest, perp_manifold *m)
{
    const place p = place_of(pair, nearest);
    const perp_manifold_point point = {perp_spatial_hole_separation(pair, hole, nearest), p.feature_a, p.feature_b};
    int same = -1, farthest = 0;
    for (int i = 0; i < m->count; i++) {
        const perp_manifold_point *q = &m->points[i];
        if (q->at.phi <= nearest->gap + pair->tolerance) {
            return;
        }
        same = q->feature_a == point.feature_a && q->feature_b == point.feature_b ? i : same;
        farthest = q->at.phi > m->points[farthest].at.phi ? i : farthest;
    }
    if (same < 0 && m->count < PERP_MANIFOLD_MAX) {
        m->points[m->count++] = point;
    } else {
        m->points[same >= 0 ? same : farthest] = point;
    }
}

/* The witness of the hole is on the half plate's edge, which touches the bore. */
static perp_manifold_point point_of(const spatial_hole_pair *pair, const perp_spatial_shape *hole, const place *p)
{
    const spatial_hole_contact *c = &p->contact;
    perp_manifold_point point = {perp_spatial_hole_separation(pair, hole, c), p->feature_a, p->feature_b};
    if (p->quarter != 0) {
        point.at.point_a = perp_vec3_add(hole->position, perp_mat3_mul_vec(&hole->rotation, p->on_x));
        point.at.point_b = perp_vec3_add_scaled(point.at.point_a, point.at.phi, point.at.normal);
    }
    return point;
}

static void pin_in_bore(const spatial_hole_pair *pair, const spatial_hole_contact *nearest, places *list)
{
    for (int end = -1; end <= 1; end += 2) {
        place p;
        if (end_of_pin(pair, end, &p) && p.contact.gap >= nearest->gap - pair->tolerance && list->count < IN_BORE_MAX) {
            list->of[list->count++] = p;
        }
        add_aside(pair, &p, end, nearest->gap, list);
    }
}

static void in_bore(const spatial_hole_pair *pair, const spatial_hole_contact *nearest, places *list)
{
    const place first = place_of(pair, nearest);
    switch (pair->x->kind) {
    case PERP_SPATIAL_BOX:
    case PERP_SPATIAL_HULL:
        polytope_in_bore(pair, nearest, list);
        break;
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_CYLINDER:
        pin_in_bore(pair, nearest, list);
        break;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        list->of[list->count++] = first;
        if (nearest->part == SPATIAL_HOLE_WALL ||
            (nearest->part == SPATIAL_HOLE_RIM && pair->x->kind == PERP_SPATIAL_POINT)) {
            add_aside(pair, &first, 0, nearest->gap, list);
        }
        break;
    }
}

perp_manifold perp_spatial_hole_manifold(const perp_spatial_shape *x, const perp_spatial_shape *hole)
{
    perp_manifold m = {.count = 0};
    places list = {.count = 0};
    spatial_hole_pair pair;
    perp_spatial_hole_place(x, hole, &pair);
    const spatial_hole_contact nearest = perp_spatial_hole_nearest(&pair);
    const bool one_end = x->kind == PERP_SPATIAL_POINT || x->kind == PERP_SPATIAL_ELLIPSOID;
    const int mouth = one_end ? 0 : mouth_beside(&pair, &nearest);
    if (mouth == 0) {
        in_bore(&pair, &nearest, &list);
    } else {
        beside_plate(&pair, hole, mouth, &m);
    }
    if (mouth != 0 && x->kind == PERP_SPATIAL_SEGMENT && nearest.part == SPATIAL_HOLE_RIM &&
        nearest.corners[0] == nearest.corners[1]) { /* a capsule's end on the mouth is a ball */
        list.of[list.count++] = place_of(&pair, &nearest);
        add_aside(&pair, &list.of[0], 0, nearest.gap, &list);
    }
    for (int i = 0; i < list.count; i++) {
        const perp_manifold_point p = point_of(&pair, hole, &list.of[i]);
        add(&m, &p);
    }
    add_nearest(&pair, hole, &nearest, &m);
    return m;
}
