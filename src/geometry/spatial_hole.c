/* spatial_hole.c - signed distance of a convex shape and a bore: see spatial_hole.h for what is computed.
 *
 * In the hole's frame a unit normal at the angle t is n = c e(t) + s z with c >= 0, and the half plate K(t) begins at
 * n . y = R c - H |s|. With h the support function of x, the signed distance of the two is
 *
 *     f(t) = max over (c, s) of R c - H |s| - h(n),                       phi = min over t of f(t).
 *
 * Only the projection of x on the plane of e(t) and z matters. For s of one sign, let P be its points counted from the
 * corner (R, -+H) of the half plate, with the z axis towards the solid's outside; then f is minus the smallest value of
 * max_P (c, s) . P over the quarter circle. Its local minima are
 *     (1, 0), radial, if the farthest point is within the plate's thickness;
 *     (0, 1), axial, if the lowest point is over the plate;
 *     the normal of an edge of the projection, if the corner of the half plate stands over (or under) that edge;
 *     minus the direction of a corner of the projection, if that is within the corner's cone of normals;
 *     for round shapes a root of the derivative: (-s, c) . P of the farthest point P.
 * A polytope's projection is walked around, a round shape's derivative is bracketed and its root found by regula falsi.
 *
 * By the envelope theorem f'(t) = -c (p . e'(t)) with p the nearest point of x. A scan of the angles brackets the
 * minima of f; a polytope adds, for each sector, the angle of the corner or edge that comes nearest there. Within a
 * bracket the sign change of f' is found, so that the angle is accurate to rounding and phi twice so.
 */
#include "base/mat3.h"
#include "geometry/spatial_hole.h"
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

#include <assert.h>

static const double half_pi = 1.5707963267948966;

/* ---- the pair ---------------------------------------------------------------------------------------------------- */

static void place_corners(const perp_spatial_shape *x, spatial_hole_pair *pair)
{
    pair->corners = pair->own;
    pair->corner_count = 0;
    pair->radius = 0.0;
    switch (x->kind) {
    case PERP_SPATIAL_POINT:
        pair->own[0] = perp_vec3_make(0.0, 0.0, 0.0);
        pair->corner_count = 1;
        pair->radius = x->radius;
        break;
    case PERP_SPATIAL_SEGMENT:
        pair->own[0] = perp_vec3_make(0.0, 0.0, -x->half_length);
        pair->own[1] = perp_vec3_make(0.0, 0.0, x->half_length);
        pair->corner_count = 2;
        pair->radius = x->radius;
        break;
    case PERP_SPATIAL_BOX:
        for (int i = 0; i < 8; i++) {
            pair->own[i] = spatial_box_corner(x->half_lengths, i);
        }
        pair->corner_count = 8;
        break;
    case PERP_SPATIAL_HULL:
        pair->corners = x->hull->corners;
        pair->corner_count = x->hull->corner_count;
        break;
    case PERP_SPATIAL_CYLINDER:
    case PERP_SPATIAL_ELLIPSOID:
        break;
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        assert(false); /* unbounded shapes make no contact with a hole */
    }
    pair->size = perp_spatial_shape_size(x) + 2.0 * pair->radius;
}

/* An axis of x that is along the bore's, or square to it, to rounding is so: a pin's end that is parallel to the plate
 * or to a half plate's edge has no farthest point, which rounding must not make up. */
static void snap_axis(spatial_hole_pair *pair)
{
    double *m = pair->turn.m;
    if (hypot(m[2], m[5]) <= AXIS_BY_DESIGN) {
        m[8] = m[8] < 0.0 ? -1.0 : 1.0;
        m[2] = m[5] = 0.0;
    } else if (fabs(m[8]) <= AXIS_BY_DESIGN) {
        m[8] = 0.0;
    }
}

void perp_spatial_hole_place(const perp_spatial_shape *x, const perp_spatial_shape *hole, spatial_hole_pair *pair)
{
    const perp_mat3 back = perp_mat3_transpose(&hole->rotation);
    pair->x = x;
    pair->turn = perp_mat3_mul(&back, &x->rotation);
    pair->at = perp_mat3_mul_vec(&back, perp_vec3_sub(x->position, hole->position));
    pair->bore = hole->radius;
    pair->half = hole->half_length;
    snap_axis(pair);
    place_corners(x, pair);
    pair->tolerance = tie_tolerance(pair->size + pair->bore);
}

perp_vec3 perp_spatial_hole_support(const spatial_hole_pair *pair, perp_vec3 n, perp_vec3 outward, int end)
{
    const perp_spatial_shape *x = pair->x;
    if (x->kind == PERP_SPATIAL_ELLIPSOID) {
        const perp_vec3 h = x->half_lengths, local = perp_mat3_tmul_vec(&pair->turn, n);
        const perp_vec3 scaled = perp_vec3_make(h.x * local.x, h.y * local.y, h.z * local.z);
        const double length = perp_vec3_norm(scaled);
        return spatial_hole_point(
            pair, perp_vec3_make(h.x * scaled.x / length, h.y * scaled.y / length, h.z * scaled.z / length));
    }
    const perp_vec3 axis = perp_vec3_make(pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]);
    const double along = perp_vec3_dot(axis, n);
    perp_vec3 across = perp_vec3_add_scaled(n, -along, axis);
    /* twice, for of an n nearly along the axis little but rounding is left the first time, and that along the axis */
    across = perp_vec3_add_scaled(across, -perp_vec3_dot(axis, across), axis);
    if (perp_vec3_norm(across) < AXIS_BY_DESIGN) {
        across = perp_vec3_add_scaled(outward, -perp_vec3_dot(axis, outward), axis);
    }
    const double length = perp_vec3_norm(across);
    const double sign = end != 0 ? end : along >= 0.0 ? 1.0 : -1.0;
    return perp_vec3_add_scaled(perp_vec3_add_scaled(pair->at, sign * x->half_length, axis), x->radius / length,
                                across);
}

perp_vec3 perp_spatial_hole_end_along(const spatial_hole_pair *pair, int end, perp_vec3 radial)
{
    const double z = pair->at.z + end * pair->x->half_length * pair->turn.m[8];
    const perp_vec3 to_middle = {0.0, 0.0, z > 0.0 ? -1.0 : 1.0};
    return perp_spatial_hole_support(pair, radial, to_middle, end);
}

int perp_spatial_hole_end_angles(const spatial_hole_pair *pair, int end, double angles[2])
{
    const double *m = pair->turn.m, length = hypot(m[2], m[5]), half = end * pair->x->half_length;
    const double x = pair->at.x + half * m[2], y = pair->at.y + half * m[5];
    if (pair->x->kind != PERP_SPATIAL_CYLINDER || length == 0.0) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        const double r = (k == 0 ? -1.0 : 1.0) * pair->x->radius / length;
        angles[k] = atan2(y + r * m[2], x - r * m[5]);
    }
    return 2;
}

/* ---- one half plate ---------------------------------------------------------------------------------------------- */

typedef struct flat {
    double x, y;
} flat;

enum { CACHED = 64 };

/* The half plate at one angle, and one of its two corners. */
typedef struct meridian {
    const spatial_hole_pair *pair;
    perp_vec3 radial, tangent;
    perp_vec3 radial_local, z_local; /* in x's frame, for polytopes */
    double side;                     /* +1: corner at -z, normals with s >= 0; -1: at +z, s <= 0 */
    spatial_hole_contact *best;
    bool best_is_local;
    bool settled;      /* x and the half plate are apart, for which there is one local minimum, and it was found */
    flat seen[CACHED]; /* the first corners along `radial` and z */
} meridian;

static flat from_corner(const meridian *m, double u, double z)
{
    return (flat){u - m->pair->bore, m->side * z + m->pair->half};
}

static flat flat_of(const meridian *m, perp_vec3 p)
{
    return from_corner(m, perp_vec3_dot(p, m->radial), p.z);
}

static flat seen_along(const meridian *m, int i)
{
    const perp_vec3 c = m->pair->corners[i];
    return (flat){perp_vec3_dot(m->pair->at, m->radial) + perp_vec3_dot(m->radial_local, c),
                  m->pair->at.z + perp_vec3_dot(m->z_local, c)};
}

static flat flat_corner(const meridian *m, int i)
{
    const flat p = i < CACHED ? m->seen[i] : seen_along(m, i);
    return from_corner(m, p.x, p.y);
}

/* A candidate of f: the normal (c, s), c and s >= 0, the core's point p of x that is farthest along it, and its place
 * `at` in the plane. Values that are no local minimum (`local` false, by rounding or because the local one is
 * elsewhere) never win but by rounding, and make no tie. */
static void offer(meridian *m, flat n, flat at, perp_vec3 p, const spatial_hole_contact *what, bool local)
{
    spatial_hole_contact k = *what;
    k.radial = m->radial;
    k.cosine = n.x;
    k.sine = m->side * n.y;
    k.gap = -(n.x * at.x + n.y * at.y);
    k.slope = -n.x * perp_vec3_dot(p, m->tangent);
    k.point = p;
    k.level = k.part == SPATIAL_HOLE_WALL ? p.z : -m->side;
    k.tie = false;
    m->settled = m->settled || (local && k.gap > 0.0 && (k.part != SPATIAL_HOLE_WALL || fabs(p.z) <= m->pair->half));
    spatial_hole_contact *best = m->best;
    const bool rivals = local && m->best_is_local && fmin(k.gap, best->gap) < 0.0 &&
                        fabs(k.gap - best->gap) <= m->pair->tolerance && spatial_hole_normals_differ(&k, best);
    const double little = SAME_NUMBER * (m->pair->size + m->pair->bore + m->pair->half);
    const bool only = local != m->best_is_local && fabs(k.gap - best->gap) <= little; /* the one that is local */
    if (only ? local : k.gap > best->gap) {
        const bool still = best->tie && k.gap - best->gap <= m->pair->tolerance;
        *best = k;
        best->tie = rivals || still;
        m->best_is_local = local;
    } else if (rivals) {
        best->tie = true;
    } else if (k.part == SPATIAL_HOLE_WALL && best->part == SPATIAL_HOLE_WALL && k.gap == best->gap) {
        best->level = 0.5 * (fmin(fmax(k.level, -m->pair->half), m->pair->half) +
                             fmin(fmax(best->level, -m->pair->half), m->pair->half));
    }
}

/* ---- polytopes --------------------------------------------------------------------------------------------------- */

/* The first corner of the walk: the farthest out, of several the farthest along the other axis. */
static int outermost(const meridian *m)
{
    int best = 0;
    flat far = flat_corner(m, 0);
    for (int i = 1; i < m->pair->corner_count; i++) {
        const flat p = flat_corner(m, i);
        if (p.x > far.x || (p.x == far.x && p.y > far.y)) {
            far = p;
            best = i;
        }
    }
    return best;
}

/* The next corner of the projection, turning from +x to +y; -1 if there is none before the normal is +y. */
static int next_corner(const meridian *m, flat v)
{
    int best = -1;
    flat d = {0.0, 0.0};
    for (int i = 0; i < m->pair->corner_count; i++) {
        const flat p = flat_corner(m, i);
        const flat w = {p.x - v.x, p.y - v.y};
        if (w.y <= 0.0) {
            continue;
        }
        const double turn = best < 0 ? -1.0 : d.x * w.y - d.y * w.x;
        if (turn < 0.0 || (turn == 0.0 && w.y > d.y)) {
            best = i;
            d = w;
        }
    }
    return best;
}

static perp_vec3 corner_of(const meridian *m, int i)
{
    return spatial_hole_point(m->pair, m->pair->corners[i]);
}

static void offer_corner(meridian *m, int i, flat v, flat from, flat to)
{
    const double length = sqrt(v.x * v.x + v.y * v.y);
    const flat n = {-v.x / length, -v.y / length};
    if (length > 0.0 && from.x * n.y - from.y * n.x >= 0.0 && n.x * to.y - n.y * to.x >= 0.0) {
        const spatial_hole_contact k = {.part = SPATIAL_HOLE_RIM, .corners = {i, i}};
        offer(m, n, v, corner_of(m, i), &k, true);
    }
}

static void quarter_of_polytope(meridian *m)
{
    int i = outermost(m);
    flat v = flat_corner(m, i), from = {1.0, 0.0};
    const spatial_hole_contact wall = {.part = SPATIAL_HOLE_WALL, .corners = {i, i}};
    offer(m, from, v, corner_of(m, i), &wall, v.y >= 0.0);
    for (int steps = 0; steps < m->pair->corner_count; steps++) {
        const int j = m->settled ? -1 : next_corner(m, v);
        if (j < 0) {
            break;
        }
        const flat w = flat_corner(m, j), d = {w.x - v.x, w.y - v.y};
        const double length = sqrt(d.x * d.x + d.y * d.y), foot = -(v.x * d.x + v.y * d.y) / (length * length);
        const flat n = {d.y / length, -d.x / length};
        offer_corner(m, i, v, from, n);
        const perp_vec3 p = corner_of(m, i), q = corner_of(m, j);
        const perp_vec3 on = perp_vec3_add_scaled(p, fmin(fmax(foot, 0.0), 1.0), perp_vec3_sub(q, p));
        const spatial_hole_contact edge = {.part = SPATIAL_HOLE_RIM, .corners = {i, j}};
        offer(m, n, v, on, &edge, foot >= 0.0 && foot <= 1.0);
        i = j;
        v = w;
        from = n;
    }
    if (m->settled) {
        return;
    }
    const flat axial = {0.0, 1.0};
    offer_corner(m, i, v, from, axial);
    const spatial_hole_contact face = {.part = SPATIAL_HOLE_FACE, .corners = {i, i}};
    offer(m, axial, v, corner_of(m, i), &face, v.x >= 0.0);
}

/* ---- round shapes ------------------------------------------------------------------------------------------------ */

enum { PIECES = 4 }; /* of a smooth arc, to bracket its minima */

/* max_P n . P at one normal, its derivative, and the point that attains it. */
typedef struct sample {
    double angle;
    flat n, at;
    double slope;
    perp_vec3 p;
} sample;

static sample sample_at(const meridian *m, double angle, int end)
{
    sample s = {.angle = angle, .n = {cos(angle), sin(angle)}};
    s.n = angle <= 0.0 ? (flat){1.0, 0.0} : angle >= half_pi ? (flat){0.0, 1.0} : s.n;
    perp_vec3 n = perp_vec3_scale(s.n.x, m->radial);
    n.z = m->side * s.n.y;
    /* of an end that is square to n, where the arc goes on: in at a radial n, out at an axial one */
    const perp_vec3 up = {0.0, 0.0, m->side};
    s.p = perp_spatial_hole_support(m->pair, n, s.n.y < RADIAL_SINE ? up : m->radial, end);
    s.at = flat_of(m, s.p);
    s.slope = s.n.x * s.at.y - s.n.y * s.at.x;
    return s;
}

/* The nearest point between two samples with slopes of either sign: the mean whose slope is zero. */
static void offer_between(meridian *m, const sample *a, const sample *b, int end)
{
    const double sum = b->slope - a->slope, part = sum > 0.0 ? -a->slope / sum : 0.5;
    const perp_vec3 p = perp_vec3_add_scaled(a->p, part, perp_vec3_sub(b->p, a->p));
    const spatial_hole_contact k = {.part = SPATIAL_HOLE_RIM, .end = end};
    const sample *nearer = fabs(a->slope) < fabs(b->slope) ? a : b;
    offer(m, nearer->n, nearer->at, p, &k, true);
}

/* Regula falsi (Illinois), with a bisection now and then so that the bracket shrinks whatever the function. */
static void offer_root(meridian *m, sample a, sample b, int end)
{
    double weight_a = 1.0, weight_b = 1.0;
    int kept = 0; /* the end that the last step kept */
    for (int i = 0; i < 100 && b.angle - a.angle > NORMAL_BRACKET; i++) {
        const double fa = weight_a * a.slope, fb = weight_b * b.slope;
        double angle = i % 4 == 3 ? 0.5 * (a.angle + b.angle) : a.angle - fa * (b.angle - a.angle) / (fb - fa);
        if (!(angle > a.angle && angle < b.angle)) {
            angle = 0.5 * (a.angle + b.angle);
            if (angle <= a.angle || angle >= b.angle) {
                break;
            }
        }
        const sample c = sample_at(m, angle, end);
        if (c.slope < 0.0) {
            a = c;
            weight_a = 1.0;
            weight_b *= kept == 1 ? 0.5 : 1.0;
            kept = 1;
        } else {
            b = c;
            weight_b = 1.0;
            weight_a *= kept == -1 ? 0.5 : 1.0;
            kept = -1;
        }
        if (fabs(c.slope) <= SAME_NUMBER * m->pair->size) {
            break;
        }
    }
    offer_between(m, &a, &b, end);
}

/* Where, between two samples with slopes of one sign, a cubic with their values and slopes turns most to the other
 * sign; false if it does not change sign. Two minima may be as near as that only where x and the half plate overlap. */
static bool turns_between(const sample *a, const sample *b, double *angle)
{
    const double width = b->angle - a->angle;
    const double rise = (b->n.x * b->at.x + b->n.y * b->at.y - a->n.x * a->at.x - a->n.y * a->at.y) / width;
    const double second = 3.0 * (a->slope + b->slope - 2.0 * rise),
                 first = 2.0 * (3.0 * rise - 2.0 * a->slope - b->slope);
    const double t = -0.5 * first / second;
    *angle = a->angle + t * width;
    return t > 0.0 && t < 1.0 && (a->slope + t * (first + t * second)) * a->slope < 0.0;
}

static bool turn_of_cubic(const meridian *m, const sample *a, const sample *b, int end, sample *c)
{
    double angle;
    if (!turns_between(a, b, &angle)) {
        return false;
    }
    *c = sample_at(m, angle, end);
    return c->slope * a->slope < 0.0;
}

/* A slope that is nearly zero at an end of the piece may change sign close by, out of the cubic's sight. */
static bool turn_at_end(const meridian *m, const sample *a, const sample *b, int end, sample *c)
{
    const sample *from = fabs(a->slope) < fabs(b->slope) ? a : b, *to = from == a ? b : a;
    double part = 1.0;
    for (int k = 0; k < 4 && fabs(from->slope) < 0.01 * m->pair->size; k++) {
        part *= 0.25;
        *c = sample_at(m, from->angle + part * (to->angle - from->angle), end);
        if (c->slope * from->slope < 0.0) {
            return true;
        }
    }
    return false;
}

/* The local minima of an arc on which the support is smooth, its ends not among them. */
static void smooth_arc(meridian *m, double from, double to, int end)
{
    if (m->settled) {
        return;
    }
    sample a = sample_at(m, from, end);
    for (int i = 1; i <= PIECES && !m->settled; i++) {
        const sample b = sample_at(m, i < PIECES ? from + i * (to - from) / PIECES : to, end);
        sample c;
        if (a.slope < 0.0 && b.slope > 0.0) {
            offer_root(m, a, b, end);
        } else if (a.slope * b.slope > 0.0 && (turn_of_cubic(m, &a, &b, end, &c) || turn_at_end(m, &a, &b, end, &c))) {
            offer_root(m, c.slope < 0.0 ? c : a, c.slope < 0.0 ? b : c, end);
        }
        a = b;
    }
}

static void offer_ends(meridian *m, int first, int last)
{
    const sample a = sample_at(m, 0.0, first), b = sample_at(m, half_pi, last);
    const spatial_hole_contact wall = {.part = SPATIAL_HOLE_WALL, .end = first};
    const spatial_hole_contact face = {.part = SPATIAL_HOLE_FACE, .end = last};
    offer(m, a.n, a.at, a.p, &wall, a.at.y >= 0.0);
    offer(m, b.n, b.at, b.p, &face, b.at.x >= 0.0);
}

/* A cylinder's support jumps from one end to the other where the normal is square to its axis. */
static void quarter_of_cylinder(meridian *m)
{
    const perp_vec3 axis = {m->pair->turn.m[2], m->pair->turn.m[5], m->pair->turn.m[8]};
    const double out = perp_vec3_dot(axis, m->radial), up = m->side * axis.z;
    const double kink = out * up < 0.0 ? atan2(fabs(out), fabs(up)) : 0.0;
    const int first = out > 0.0 || (out == 0.0 && up >= 0.0) ? 1 : -1,
              last = up > 0.0 || (up == 0.0 && out >= 0.0) ? 1 : -1;
    offer_ends(m, first, last);
    if (m->settled || first == last) {
        smooth_arc(m, 0.0, half_pi, first);
        return;
    }
    const sample a = sample_at(m, kink, first), b = sample_at(m, kink, last);
    if (a.slope <= 0.0 && b.slope >= 0.0) {
        offer_between(m, &a, &b, 0);
    }
    smooth_arc(m, 0.0, kink, first);
    smooth_arc(m, kink, half_pi, last);
}

/* Where the end of a cylinder is square to a radius it is farther on both sides of that angle: a kink downwards, whose
 * slope is that of the far side. What the end's farthest point lacks for it. */
static double end_slope(const spatial_hole_pair *pair, perp_vec3 radial)
{
    const perp_vec3 axis = {pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]};
    const bool square =
        pair->x->kind == PERP_SPATIAL_CYLINDER && perp_vec3_norm(perp_vec3_cross(axis, radial)) < AXIS_BY_DESIGN;
    return square ? pair->x->radius : 0.0;
}

/* ---- ends and sides of pins -------------------------------------------------------------------------------------- */

static void polar(spatial_hole_contact *contact, double angle, perp_vec3 *tangent)
{
    contact->angle = angle;
    contact->radial = perp_vec3_make(cos(angle), sin(angle), 0.0);
    *tangent = perp_vec3_make(-contact->radial.y, contact->radial.x, 0.0);
    contact->corners[0] = contact->corners[1] = contact->end = 0;
    contact->tie = contact->rests = false;
}

void perp_spatial_hole_end_on_wall(const spatial_hole_pair *pair, const void *context, double angle,
                                   spatial_hole_contact *contact)
{
    const int end = *(const int *)context;
    const perp_vec3 axis = {pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]};
    perp_vec3 tangent;
    polar(contact, angle, &tangent);
    if (pair->x->kind == PERP_SPATIAL_CYLINDER) {
        contact->point = perp_spatial_hole_end_along(pair, end, contact->radial);
    } else {
        contact->point = perp_vec3_add_scaled(pair->at, end * pair->x->half_length, axis);
    }
    contact->gap = pair->bore - perp_vec3_dot(contact->point, contact->radial) - pair->radius;
    contact->slope = -perp_vec3_dot(contact->point, tangent) - end_slope(pair, contact->radial);
    contact->part = SPATIAL_HOLE_WALL;
    contact->level = contact->point.z;
    contact->cosine = 1.0;
    contact->sine = 0.0;
}

void perp_spatial_hole_rim_on_side(const spatial_hole_pair *pair, const void *context, double angle,
                                   spatial_hole_contact *contact)
{
    const int mouth = *(const int *)context;
    const perp_vec3 axis = {pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]};
    perp_vec3 tangent;
    polar(contact, angle, &tangent);
    perp_vec3 rim = perp_vec3_scale(pair->bore, contact->radial);
    rim.z = mouth * pair->half;
    const perp_vec3 from = perp_vec3_sub(rim, pair->at);
    const double along = perp_vec3_dot(axis, from);
    const perp_vec3 across = perp_vec3_add_scaled(from, -along, axis);
    const double length = perp_vec3_norm(across), scale = length > 0.0 ? 1.0 / length : 0.0;
    contact->gap = length - pair->x->radius;
    contact->slope = pair->bore * scale * perp_vec3_dot(across, tangent);
    contact->part = SPATIAL_HOLE_RIM;
    contact->level = mouth;
    contact->point = perp_vec3_add_scaled(pair->at, along, axis); /* on the axis */
    contact->cosine = scale * perp_vec3_dot(across, contact->radial);
    contact->sine = scale * across.z;
}

/* ---- all angles -------------------------------------------------------------------------------------------------- */

/* f and what attains it. */
static void half_plate(const spatial_hole_pair *pair, const void *context, double angle, spatial_hole_contact *contact)
{
    (void)context;
    const perp_vec3 z = {0.0, 0.0, 1.0};
    *contact = (spatial_hole_contact){.gap = -INFINITY, .part = SPATIAL_HOLE_WALL};
    meridian m;
    m.pair = pair;
    m.best = contact;
    m.best_is_local = m.settled = false;
    m.radial = perp_vec3_make(cos(angle), sin(angle), 0.0);
    m.tangent = perp_vec3_make(-m.radial.y, m.radial.x, 0.0);
    m.radial_local = perp_mat3_tmul_vec(&pair->turn, m.radial);
    m.z_local = perp_mat3_tmul_vec(&pair->turn, z);
    for (int i = 0; i < pair->corner_count && i < CACHED; i++) {
        m.seen[i] = seen_along(&m, i);
    }
    for (int k = 0; k < 2 && !m.settled; k++) {
        m.side = k == 0 ? 1.0 : -1.0;
        if (pair->corner_count > 0) {
            quarter_of_polytope(&m);
        } else if (pair->x->kind == PERP_SPATIAL_CYLINDER) {
            quarter_of_cylinder(&m);
        } else {
            offer_ends(&m, 0, 0);
            smooth_arc(&m, 0.0, half_pi, 0);
        }
    }
    contact->gap -= pair->radius;
    contact->angle = angle;
    if (contact->part == SPATIAL_HOLE_WALL) {
        contact->slope -= end_slope(pair, contact->radial);
    }
}

/* Signed distance of a point to the solid. */
static double point_gap(const spatial_hole_pair *pair, perp_vec3 p)
{
    const double out = hypot(p.x, p.y) - pair->bore, above = fabs(p.z) - pair->half;
    return above <= 0.0 ? fmax(-out, above) : out >= 0.0 ? above : hypot(out, above);
}

typedef struct noted {
    spatial_hole_angles angles;
    double gap[SPATIAL_HOLE_EXTRA];
} noted;

/* Keeps the angles of the points with the smallest gaps. */
static void note(const spatial_hole_pair *pair, perp_vec3 p, noted *list)
{
    const double gap = point_gap(pair, p);
    int place = list->angles.count;
    if (place < SPATIAL_HOLE_EXTRA) {
        list->angles.count++;
    } else {
        place = 0;
        for (int k = 1; k < SPATIAL_HOLE_EXTRA; k++) {
            place = list->gap[k] > list->gap[place] ? k : place;
        }
        if (list->gap[place] <= gap) {
            return;
        }
    }
    list->angles.of[place] = atan2(p.y, p.x);
    list->gap[place] = gap;
}

/* Corners, and edges where they pass a mouth. */
static void note_corners(const spatial_hole_pair *pair, noted *list)
{
    for (int i = 0; i < pair->corner_count; i++) {
        note(pair, spatial_hole_point(pair, pair->corners[i]), list);
    }
    for (int e = 0; e < 2 * perp_spatial_hole_edge_count(pair); e++) {
        perp_vec3 p;
        if (perp_spatial_hole_crossing(pair, e / 2, e % 2 ? pair->half : -pair->half, &p)) {
            note(pair, p, list);
        }
    }
}

/* A pin's two places of contact in the bore may be at nearly the same angle: they are looked at first. */
static void note_pin(const spatial_hole_pair *pair, noted *list)
{
    spatial_hole_angles *a = &list->angles;
    for (int end = -1; end <= 1; end += 2) {
        if (pair->corner_count == 0) { /* a capsule's ends are noted as corners */
            a->count += perp_spatial_hole_end_angles(pair, end, a->of + a->count);
            a->of[a->count++] = perp_spatial_hole_pin_minimum(pair, perp_spatial_hole_end_on_wall, end).angle;
        }
        a->of[a->count++] = perp_spatial_hole_pin_minimum(pair, perp_spatial_hole_rim_on_side, end).angle;
    }
}

/* ---- a capsule in the bore --------------------------------------------------------------------------------------- */

/* A capsule whose core is in the bore and clear of the solid, with its ends in the open or between the faces: gaps are
 * distances of points of the core. Between the faces the distance from the axis is convex along the core, so that an
 * end is the nearest point. Beyond a mouth it is the nearest point of the axis and the rim, or what is there is no
 * nearer than the mouth, if the core comes nearer to the bore's axis that way. */
typedef struct capsule_end {
    perp_vec3 p;       /* of the core */
    perp_vec3 clipped; /* where the core leaves the bore: p, or in the plane of the mouth */
    double rho;        /* distance of `clipped` from the bore's axis */
    int mouth;         /* -1, +1: p is beyond that one; 0: p is between the faces */
} capsule_end;

static void wall_contact(const spatial_hole_pair *pair, const capsule_end *at, double level, int corner,
                         spatial_hole_contact *c)
{
    *c = (spatial_hole_contact){.angle = atan2(at->p.y, at->p.x),
                                .radial = {at->clipped.x / at->rho, at->clipped.y / at->rho, 0.0},
                                .gap = pair->bore - at->rho - pair->radius,
                                .part = SPATIAL_HOLE_WALL,
                                .cosine = 1.0,
                                .level = level,
                                .point = at->p,
                                .corners = {corner, corner},
                                .rests = true};
}

/* The two ends; false if the core is not in the bore, or too near to its axis or wall to tell normals by it. */
static bool capsule_ends(const spatial_hole_pair *pair, capsule_end ends[2])
{
    const double little = 4.0 * pair->tolerance;
    for (int k = 0; k < 2; k++) {
        ends[k].p = ends[k].clipped = spatial_hole_point(pair, pair->corners[k]);
        ends[k].mouth = fabs(ends[k].p.z) <= pair->half ? 0 : ends[k].p.z > 0.0 ? 1 : -1;
    }
    if (ends[0].mouth != 0 && ends[0].mouth == ends[1].mouth) {
        return false;
    }
    for (int k = 0; k < 2; k++) {
        if (ends[k].mouth != 0) {
            perp_spatial_hole_crossing(pair, 0, ends[k].mouth * pair->half, &ends[k].clipped);
        }
        ends[k].rho = hypot(ends[k].clipped.x, ends[k].clipped.y);
    }
    const double most = fmax(ends[0].rho, ends[1].rho);
    return most > little && most < pair->bore - little;
}

/* What is nearest about one end; `found` false if the core's other parts are nearer than all of that. Returns false if
 * it is not as simple. */
static bool nearest_of_end(const spatial_hole_pair *pair, const capsule_end ends[2], int k, bool *found,
                           spatial_hole_contact *c)
{
    const capsule_end *end = &ends[k];
    const perp_vec3 d = perp_vec3_sub(end->p, ends[1 - k].p);
    if (end->mouth == 0) {
        *found = d.x * end->p.x + d.y * end->p.y >= 0.0 && end->rho > 0.0;
        if (*found) {
            wall_contact(pair, end, end->p.z, k, c);
        }
        return true;
    }
    *found = hypot(end->p.x, end->p.y) > end->rho;
    if (!*found) {
        return true;
    }
    *c = perp_spatial_hole_pin_minimum(pair, perp_spatial_hole_rim_on_side, end->mouth);
    c->corners[0] = 1 - k;
    c->corners[1] = k;
    const perp_vec3 axis = {pair->turn.m[2], pair->turn.m[5], pair->turn.m[8]};
    const double along = perp_vec3_dot(axis, perp_vec3_sub(c->point, pair->at));
    return c->rests && fabs(along) <= pair->x->half_length && c->cosine > 0.0 && c->sine * end->mouth <= 0.0;
}

/* False: not such a capsule. */
static bool capsule_in_bore(const spatial_hole_pair *pair, spatial_hole_contact *contact)
{
    capsule_end ends[2];
    if (!capsule_ends(pair, ends)) {
        return false;
    }
    if (ends[0].p.x == ends[1].p.x && ends[0].p.y == ends[1].p.y) { /* parallel: the middle of what is in the bore */
        wall_contact(pair, &ends[0], 0.5 * (ends[0].clipped.z + ends[1].clipped.z), 0, contact);
        return true;
    }
    spatial_hole_contact found[2];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        bool is;
        if (!nearest_of_end(pair, ends, k, &is, &found[count])) {
            return false;
        }
        count += is;
    }
    if (count > 0) {
        *contact = perp_spatial_hole_first(pair, found, count);
    }
    return count > 0;
}

spatial_hole_contact perp_spatial_hole_nearest(const spatial_hole_pair *pair)
{
    spatial_hole_contact c;
    if (pair->corner_count == 1) {
        const double rho = hypot(pair->at.x, pair->at.y);
        const bool plus_x = rho - pair->at.x <= pair->tolerance; /* by which +x is worse than the best angle */
        half_plate(pair, NULL, rho <= pair->tolerance && plus_x ? 0.0 : atan2(pair->at.y, pair->at.x), &c);
        c.tie = c.tie || rho <= pair->tolerance;
        return c;
    }
    if (pair->x->kind == PERP_SPATIAL_SEGMENT && capsule_in_bore(pair, &c)) {
        return c;
    }
    const bool is_pin = pair->x->kind == PERP_SPATIAL_CYLINDER || pair->x->kind == PERP_SPATIAL_SEGMENT;
    noted list = {.angles = {.sectors = is_pin ? SPATIAL_HOLE_SECTORS / 2 : SPATIAL_HOLE_SECTORS}};
    note_corners(pair, &list);
    if (is_pin) {
        note_pin(pair, &list);
    }
    return perp_spatial_hole_minimum(pair, half_plate, NULL, &list.angles);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

perp_separation perp_spatial_hole_separation(const spatial_hole_pair *pair, const perp_spatial_shape *hole,
                                             const spatial_hole_contact *c)
{
    perp_vec3 n = perp_vec3_scale(c->cosine, c->radial), on_x;
    n.z = c->sine;
    if (c->part == SPATIAL_HOLE_FACE) {
        on_x = perp_vec3_add_scaled(c->point, pair->radius, n);
    } else { /* from the hole's point, which is where it should be whatever x's nearest feature is */
        perp_vec3 on_hole = perp_vec3_scale(pair->bore, c->radial);
        on_hole.z =
            c->part == SPATIAL_HOLE_WALL ? fmin(fmax(c->level, -pair->half), pair->half) : c->level * pair->half;
        if (c->part == SPATIAL_HOLE_RIM) { /* a steep normal leaves the angle open: the edge is in the plate's face */
            const double beside = c->point.y * c->radial.x - c->point.x * c->radial.y;
            on_hole.x -= beside * c->radial.y;
            on_hole.y += beside * c->radial.x;
        }
        on_x = perp_vec3_add_scaled(on_hole, -c->gap, n);
    }
    perp_separation s = {.phi = c->gap, .normal = perp_mat3_mul_vec(&hole->rotation, n), .tie = c->tie};
    s.point_a = perp_vec3_add(hole->position, perp_mat3_mul_vec(&hole->rotation, on_x));
    s.point_b = perp_vec3_add_scaled(s.point_a, s.phi, s.normal);
    return s;
}

perp_separation perp_spatial_hole_distance(const perp_spatial_shape *x, const perp_spatial_shape *hole)
{
    spatial_hole_pair pair;
    perp_spatial_hole_place(x, hole, &pair);
    const spatial_hole_contact c = perp_spatial_hole_nearest(&pair);
    return perp_spatial_hole_separation(&pair, hole, &c);
}
