#include "reference_distance.h"

#include <string.h>

typedef long double real;

typedef struct vec {
    real x, y, z;
} vec;

static vec make(real x, real y, real z)
{
    return (vec){x, y, z};
}

static vec from(perp_vec3 a)
{
    return make(a.x, a.y, a.z);
}

static vec add(vec a, real s, vec b)
{
    return make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static vec minus(vec a, vec b)
{
    return make(a.x - b.x, a.y - b.y, a.z - b.z);
}

static real dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec cross(vec a, vec b)
{
    return make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static real norm(vec a)
{
    return sqrtl(dot(a, a));
}

static vec unit(vec a)
{
    const real l = norm(a);
    return l > 0 ? make(a.x / l, a.y / l, a.z / l) : make(1, 0, 0);
}

static real clamp(real x, real low, real high)
{
    return x < low ? low : x > high ? high : x;
}

static vec to_world(const perp_mat3 *r, vec x)
{
    const double *m = r->m;
    return make(m[0] * x.x + m[1] * x.y + m[2] * x.z, m[3] * x.x + m[4] * x.y + m[5] * x.z,
                m[6] * x.x + m[7] * x.y + m[8] * x.z);
}

static vec to_local(const perp_mat3 *r, vec x)
{
    const double *m = r->m;
    return make(m[0] * x.x + m[3] * x.y + m[6] * x.z, m[1] * x.x + m[4] * x.y + m[7] * x.z,
                m[2] * x.x + m[5] * x.y + m[8] * x.z);
}

/* ---- supports ---------------------------------------------------------------------------------------------------- */

static vec hull_support(const perp_spatial_hull *hull, vec d)
{
    int best = 0;
    real most = -INFINITY;
    for (int i = 0; i < hull->corner_count; i++) {
        const real reach = dot(d, from(hull->corners[i]));
        if (reach > most) {
            most = reach;
            best = i;
        }
    }
    return from(hull->corners[best]);
}

/* The point of the core that is farthest along d, from the shape's own position, in world axes. */
static vec support(const perp_spatial_shape *s, vec d_world)
{
    const vec d = to_local(&s->rotation, d_world);
    const perp_vec3 h = s->half_lengths;
    vec x = {0, 0, 0};
    switch (s->kind) {
    case PERP_SPATIAL_SEGMENT:
        x.z = d.z < 0 ? -s->half_length : s->half_length;
        break;
    case PERP_SPATIAL_BOX:
        x = make(d.x < 0 ? -h.x : h.x, d.y < 0 ? -h.y : h.y, d.z < 0 ? -h.z : h.z);
        break;
    case PERP_SPATIAL_HULL:
        x = hull_support(s->hull, d);
        break;
    case PERP_SPATIAL_CYLINDER: {
        const real l = sqrtl(d.x * d.x + d.y * d.y);
        x = make(l > 0 ? s->radius * d.x / l : 0, l > 0 ? s->radius * d.y / l : 0,
                 d.z < 0 ? -s->half_length : s->half_length);
        break;
    }
    case PERP_SPATIAL_ELLIPSOID: {
        const vec e = make(h.x * d.x, h.y * d.y, h.z * d.z);
        const real l = norm(e);
        x = l > 0 ? make(h.x * e.x / l, h.y * e.y / l, h.z * e.z / l) : make(h.x, 0, 0);
        break;
    }
    default: /* a point */
        break;
    }
    return to_world(&s->rotation, x);
}

static bool rounded(const perp_spatial_shape *s)
{
    return s->kind == PERP_SPATIAL_POINT || s->kind == PERP_SPATIAL_SEGMENT;
}

static real radii(const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    return (rounded(a) ? (real)a->radius : 0) + (rounded(b) ? (real)b->radius : 0);
}

/* The difference of two cores, a - b: overlapping cores are those whose difference holds the origin. */
typedef struct difference {
    const perp_spatial_shape *a, *b;
    vec apart; /* position of a - position of b */
} difference;

static difference difference_of(const perp_spatial_shape *a, const perp_spatial_shape *b)
{
    return (difference){a, b, minus(from(a->position), from(b->position))};
}

static vec difference_support(const difference *c, vec n)
{
    const vec p = support(c->a, n), q = support(c->b, make(-n.x, -n.y, -n.z));
    return add(minus(p, q), 1, c->apart);
}

static vec plane_normal(const perp_spatial_shape *plane)
{
    const double *m = plane->rotation.m;
    return make(m[2], m[5], m[8]);
}

/* Gap of a shape over a plane. */
static real over_plane(const perp_spatial_shape *plane, const perp_spatial_shape *s)
{
    const vec n = plane_normal(plane), down = make(-n.x, -n.y, -n.z);
    const vec lowest = add(minus(from(s->position), from(plane->position)), 1, support(s, down));
    return dot(n, lowest) - (rounded(s) ? (real)s->radius : 0);
}

double reference_gap_along(const perp_spatial_shape *a, const perp_spatial_shape *b, perp_vec3 normal)
{
    const bool planes[2] = {a->kind == PERP_SPATIAL_HALFSPACE, b->kind == PERP_SPATIAL_HALFSPACE};
    const vec n = unit(from(normal));
    if (planes[0] || planes[1]) {
        const perp_spatial_shape *plane = planes[0] ? a : b;
        const vec off = add(plane_normal(plane), planes[0] ? -1 : 1, n);
        return norm(off) <= 1e-12L ? (double)over_plane(plane, planes[0] ? b : a) : -INFINITY;
    }
    const difference c = difference_of(a, b);
    return (double)(-dot(n, difference_support(&c, n)) - radii(a, b));
}

/* ---- surfaces ---------------------------------------------------------------------------------------------------- */

static real point_segment(vec x, vec p, vec q)
{
    const vec d = minus(q, p), r = minus(x, p);
    const real l2 = dot(d, d);
    return norm(add(r, l2 > 0 ? -clamp(dot(d, r) / l2, 0, 1) : 0, d));
}

static real point_triangle(vec x, vec p, vec q, vec r)
{
    const vec n = cross(minus(q, p), minus(r, p)), c[4] = {p, q, r, p};
    const real nn = norm(n);
    real least = INFINITY;
    bool inside = nn > 0;
    for (int k = 0; k < 3; k++) {
        least = fminl(least, point_segment(x, c[k], c[k + 1]));
        inside = inside && dot(cross(n, minus(c[k + 1], c[k])), minus(x, c[k])) >= 0;
    }
    return inside ? fminl(least, fabsl(dot(n, minus(x, p))) / nn) : least;
}

/* Signed: negative inside the box with these half lengths. */
static real point_box(vec x, vec h)
{
    const vec d = make(fabsl(x.x) - h.x, fabsl(x.y) - h.y, fabsl(x.z) - h.z);
    const real most = fmaxl(d.x, fmaxl(d.y, d.z));
    return most <= 0 ? most : norm(make(fmaxl(d.x, 0), fmaxl(d.y, 0), fmaxl(d.z, 0)));
}

static real point_cylinder(vec x, real radius, real half_length)
{
    const real out = sqrtl(x.x * x.x + x.y * x.y) - radius, over = fabsl(x.z) - half_length;
    return out <= 0 && over <= 0 ? fmaxl(out, over) : sqrtl(powl(fmaxl(out, 0), 2) + powl(fmaxl(over, 0), 2));
}

/* Signed distance to the solid around a bore: in the half plane of the point and the axis that is a quarter plane cut
 * off at both faces. */
static real point_hole(vec x, real radius, real half_length)
{
    const real in = radius - sqrtl(x.x * x.x + x.y * x.y), over = fabsl(x.z) - half_length;
    return in <= 0 && over <= 0 ? fmaxl(in, over) : sqrtl(powl(fmaxl(in, 0), 2) + powl(fmaxl(over, 0), 2));
}

/* Distance to the surface of an ellipsoid: the nearest point is y_i = h_i^2 x_i / (t + h_i^2) with t above -min h_i^2
 * and y on the surface. The sum of (y_i / h_i)^2 falls and is convex in t, so that Newton from a t where it is at least
 * 1 climbs to the root without overshooting. Where it is below 1 for all such t the point is inside, in the plane of
 * the two longer axes, and t is at its limit. */
static real point_ellipsoid(vec point, perp_vec3 half_lengths)
{
    const real h[3] = {half_lengths.x, half_lengths.y, half_lengths.z};
    const real x[3] = {fabsl(point.x), fabsl(point.y), fabsl(point.z)};
    const int thin = h[0] <= h[1] ? (h[0] <= h[2] ? 0 : 2) : (h[1] <= h[2] ? 1 : 2);
    const real limit = -h[thin] * h[thin];
    real t = limit, y[3];
    for (int i = 0; i < 3; i++) {
        t = fmaxl(t, -h[i] * h[i] + h[i] * x[i]);
    }
    for (int k = 0; k < 200; k++) {
        real sum = -1, slope = 0;
        for (int i = 0; i < 3; i++) {
            const real below = t + h[i] * h[i], e = x[i] > 0 ? h[i] * x[i] / below : 0;
            sum += e * e;
            slope -= x[i] > 0 ? 2 * e * e / below : 0;
        }
        const real next = t - sum / slope;
        if (!(sum > 0) || !(next > t)) {
            break;
        }
        t = next;
    }
    real rest = 1, off = 0;
    for (int i = 0; i < 3; i++) {
        y[i] = t + h[i] * h[i] > 0 ? h[i] * h[i] * x[i] / (t + h[i] * h[i]) : 0;
        rest -= i == thin ? 0 : y[i] * y[i] / (h[i] * h[i]);
    }
    if (t <= limit) {
        y[thin] = h[thin] * sqrtl(fmaxl(rest, 0));
    }
    for (int i = 0; i < 3; i++) {
        off += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return sqrtl(off);
}

static real point_hull(const reference_shape *s, vec x)
{
    real least = INFINITY;
    for (int i = 0; i < s->triangle_count; i++) {
        const perp_vec3 *t = s->triangles[i];
        least = fminl(least, point_triangle(x, from(t[0]), from(t[1]), from(t[2])));
    }
    return least;
}

double reference_off_surface(const reference_shape *reference, perp_vec3 point)
{
    const perp_spatial_shape *s = reference->shape;
    const vec x = to_local(&s->rotation, minus(from(point), from(s->position))), zero = {0, 0, 0};
    const vec end = make(0, 0, s->half_length), start = make(0, 0, -s->half_length);
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        return (double)fabsl(norm(minus(x, zero)) - s->radius);
    case PERP_SPATIAL_SEGMENT:
        return (double)fabsl(point_segment(x, start, end) - s->radius);
    case PERP_SPATIAL_BOX:
        return (double)fabsl(point_box(x, from(s->half_lengths)));
    case PERP_SPATIAL_HULL:
        return (double)point_hull(reference, x);
    case PERP_SPATIAL_CYLINDER:
        return (double)fabsl(point_cylinder(x, s->radius, s->half_length));
    case PERP_SPATIAL_ELLIPSOID:
        return (double)point_ellipsoid(x, s->half_lengths);
    case PERP_SPATIAL_HALFSPACE:
        return (double)fabsl(x.z);
    case PERP_SPATIAL_HOLE:
        return (double)fabsl(point_hole(x, s->radius, s->half_length));
    default:
        return INFINITY;
    }
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

/* Segments p +- d and q +- e: the nearest points are inside both, or one of them is an end. */
static real segment_segment(vec p, vec d, vec q, vec e)
{
    const vec p0 = minus(p, d), p1 = add(p, 1, d), q0 = minus(q, e), q1 = add(q, 1, e);
    real least = fminl(point_segment(p0, q0, q1), point_segment(p1, q0, q1));
    least = fminl(least, fminl(point_segment(q0, p0, p1), point_segment(q1, p0, p1)));
    const vec x = cross(d, e), w = minus(q, p);
    const real xx = dot(x, x);
    if (xx > 0) {
        const real u = dot(cross(w, e), x) / xx, v = dot(cross(w, d), x) / xx;
        if (fabsl(u) <= 1 && fabsl(v) <= 1) {
            least = fminl(least, fabsl(dot(w, x)) / sqrtl(xx));
        }
    }
    return least;
}

/* Signed distance of the point x, in the frame of s, to its core. */
static bool point_core(const perp_spatial_shape *s, vec x, real *distance)
{
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        *distance = norm(x);
        return true;
    case PERP_SPATIAL_SEGMENT:
        *distance = point_segment(x, make(0, 0, -s->half_length), make(0, 0, s->half_length));
        return true;
    case PERP_SPATIAL_BOX:
        *distance = point_box(x, from(s->half_lengths));
        return true;
    case PERP_SPATIAL_CYLINDER:
        *distance = point_cylinder(x, s->radius, s->half_length);
        return true;
    case PERP_SPATIAL_HOLE:
        *distance = point_hole(x, s->radius, s->half_length);
        return true;
    default:
        return false;
    }
}

/* Distance of a segment in the bore to the wall: that of its farther end, if both ends are between the faces. */
static bool segment_in_bore(const perp_spatial_shape *hole, const perp_spatial_shape *segment, real *distance)
{
    *distance = INFINITY;
    for (int k = -1; k <= 1; k += 2) {
        const vec end = to_world(&segment->rotation, make(0, 0, k * (real)segment->half_length));
        const vec x = to_local(&hole->rotation, add(minus(from(segment->position), from(hole->position)), 1, end));
        const real in = hole->radius - sqrtl(x.x * x.x + x.y * x.y);
        if (fabsl(x.z) > hole->half_length || in < 0) {
            return false;
        }
        *distance = fminl(*distance, in);
    }
    return true;
}

bool reference_closed_form(const perp_spatial_shape *a, const perp_spatial_shape *b, double *phi)
{
    if (b->kind == PERP_SPATIAL_HALFSPACE || (b->kind == PERP_SPATIAL_POINT && a->kind != PERP_SPATIAL_HALFSPACE) ||
        (a->kind == PERP_SPATIAL_HOLE && b->kind == PERP_SPATIAL_SEGMENT)) {
        const perp_spatial_shape *swap = a;
        a = b;
        b = swap;
    }
    real distance;
    if (a->kind == PERP_SPATIAL_HALFSPACE) {
        *phi = (double)over_plane(a, b);
        return true;
    }
    const vec apart = minus(from(b->position), from(a->position));
    if (a->kind == PERP_SPATIAL_SEGMENT && b->kind == PERP_SPATIAL_SEGMENT) {
        const vec d = to_world(&a->rotation, make(0, 0, a->half_length));
        const vec e = to_world(&b->rotation, make(0, 0, b->half_length));
        distance = segment_segment(make(0, 0, 0), d, apart, e);
    } else if (a->kind == PERP_SPATIAL_SEGMENT && b->kind == PERP_SPATIAL_HOLE) {
        if (!segment_in_bore(b, a, &distance)) {
            return false;
        }
    } else if (a->kind != PERP_SPATIAL_POINT ||
               !point_core(b, to_local(&b->rotation, make(-apart.x, -apart.y, -apart.z)), &distance)) {
        return false;
    }
    *phi = (double)(distance - radii(a, b));
    return true;
}

/* ---- bounds of a distance: the ellipsoid method ------------------------------------------------------------------ */

/* All points centre + shape u with |u| <= 1; holds the best direction, |n| <= 1. */
typedef struct ellipsoid {
    vec centre;
    vec axes[3]; /* columns of `shape` */
} ellipsoid;

/* Cuts away where along . n > most. False: nothing is left but rounding. */
static bool ellipsoid_cut(ellipsoid *e, vec along, real most)
{
    const vec g = make(dot(e->axes[0], along), dot(e->axes[1], along), dot(e->axes[2], along));
    const real length = norm(g), alpha = (dot(along, e->centre) - most) / length;
    if (!(length > 0) || !(alpha < 1)) {
        return false;
    }
    if (alpha <= -1.0L / 3) { /* the cut would not make it smaller */
        return true;
    }
    const vec u = make(g.x / length, g.y / length, g.z / length);
    const vec step =
        add(add(make(u.x * e->axes[0].x, u.x * e->axes[0].y, u.x * e->axes[0].z), u.y, e->axes[1]), u.z, e->axes[2]);
    const real sigma = 2 * (1 + 3 * alpha) / (4 * (1 + alpha)), grow = sqrtl(9 * (1 - alpha * alpha) / 8);
    const real shrink = 1 - sqrtl(fmaxl(1 - sigma, 0)), parts[3] = {u.x, u.y, u.z};
    e->centre = add(e->centre, -(1 + 3 * alpha) / 4, step);
    for (int k = 0; k < 3; k++) {
        const vec c = add(e->axes[k], -shrink * parts[k], step);
        e->axes[k] = make(grow * c.x, grow * c.y, grow * c.z);
    }
    return true;
}

static real ellipsoid_reach(const ellipsoid *e, vec along)
{
    const vec g = make(dot(e->axes[0], along), dot(e->axes[1], along), dot(e->axes[2], along));
    return dot(along, e->centre) + norm(g);
}

/* The gap along n, -x . n with x the support of the difference, is concave in n and so nowhere above its tangents,
 * which pass through 0 as the gap itself does: -x . n for any x of the difference. */
reference_bounds reference_core_distance(const perp_spatial_shape *a, const perp_spatial_shape *b, double tolerance)
{
    enum { LIMIT = 3000 };
    const difference c = difference_of(a, b);
    ellipsoid e = {{0, 0, 0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    real lower = 0, upper = INFINITY;
    int i = 0;
    for (; i < LIMIT && upper - lower > tolerance; i++) {
        const real length = norm(e.centre);
        bool left;
        if (length > 1) {
            left = ellipsoid_cut(&e, unit(e.centre), 1);
        } else {
            const vec n = length > 0 ? e.centre : make(-c.apart.x, -c.apart.y, -c.apart.z);
            const vec x = difference_support(&c, n), back = make(-x.x, -x.y, -x.z);
            lower = length > 0 ? fmaxl(lower, dot(back, n) / length) : lower;
            upper = fminl(upper, fmaxl(ellipsoid_reach(&e, back), 0));
            left = ellipsoid_cut(&e, x, -lower);
        }
        if (!left) {
            break;
        }
    }
    return (reference_bounds){(double)lower, (double)upper, i, upper - lower > tolerance};
}

/* ---- minimality of a depth: triangles of directions -------------------------------------------------------------- */

enum { MAX_CELLS = 20000 };

typedef struct corner {
    vec n, x; /* direction, unit, and the difference's support along it */
} corner;

typedef struct cell {
    corner c[3];
} cell;

/* max over mixtures of p and q of the least of the three values: at an end, or where two of the values cross. */
static real best_of_two(const real p[3], const real q[3])
{
    real best = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const int i = k, j = (k + 1) % 3;
        const real d = (p[i] - p[j]) - (q[i] - q[j]), s = d != 0 ? clamp((q[j] - q[i]) / d, 0, 1) : 0;
        real least = INFINITY;
        for (int m = 0; m < 3; m++) {
            least = fminl(least, s * p[m] + (1 - s) * q[m]);
        }
        best = fmaxl(best, least);
    }
    return best;
}

/* The mixture of three points whose values at the three directions are equal, if it is one. */
static real best_of_three(real all[4][3], int without)
{
    const int first = without == 0 ? 1 : 0, last = without == 3 ? 2 : 3, middle = 6 - without - first - last;
    const real *const m[3] = {all[first], all[middle], all[last]};
    const vec r[2] = {{m[0][0] - m[0][1], m[1][0] - m[1][1], m[2][0] - m[2][1]},
                      {m[0][0] - m[0][2], m[1][0] - m[1][2], m[2][0] - m[2][2]}};
    const vec w = cross(r[0], r[1]);
    const real sum = w.x + w.y + w.z;
    const vec s = make(w.x / sum, w.y / sum, w.z / sum);
    if (!(s.x >= 0) || !(s.y >= 0) || !(s.z >= 0)) {
        return -INFINITY;
    }
    real least = INFINITY;
    for (int j = 0; j < 3; j++) {
        least = fminl(least, s.x * m[0][j] + s.y * m[1][j] + s.z * m[2][j]);
    }
    return least;
}

/* Whether the depth is at least `wanted` >= 0 along every direction of the triangle. A point x of the difference makes
 * it at least x . n, and where x . n_j >= wanted at the corners n_j it is so between them, for a direction between them
 * is sum w_j n_j / |sum w_j n_j| with w >= 0, sum w = 1, and that length is at most 1. x is a support at a corner,
 * `inner`, or what of these mixes best. */
static bool cell_is_deep(const cell *t, vec inner, real off, real wanted)
{
    real m[4][3];
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 3; j++) {
            m[k][j] = k < 3 ? dot(t->c[k].x, t->c[j].n) : dot(inner, t->c[j].n) - off;
        }
        if (m[k][0] >= wanted && m[k][1] >= wanted && m[k][2] >= wanted) {
            return true;
        }
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < k; i++) {
            if (best_of_two(m[k], m[i]) >= wanted) {
                return true;
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        if (best_of_three(m, k) >= wanted) {
            return true;
        }
    }
    return false;
}

typedef struct search {
    difference c;
    real least;
    vec direction;
} search;

static corner corner_at(search *s, vec n)
{
    const corner c = {n, difference_support(&s->c, n)};
    const real depth = dot(c.x, n);
    if (depth < s->least) {
        s->least = depth;
        s->direction = n;
    }
    return c;
}

/* Halves the longest side. */
static void split(search *s, const cell *t, cell parts[2])
{
    int longest = 0;
    real most = INFINITY;
    for (int k = 0; k < 3; k++) { /* the side from corner k */
        const real cosine = dot(t->c[k].n, t->c[(k + 1) % 3].n);
        if (cosine < most) {
            most = cosine;
            longest = k;
        }
    }
    const int i = longest, j = (longest + 1) % 3;
    const corner middle = corner_at(s, unit(add(t->c[i].n, 1, t->c[j].n)));
    parts[0] = parts[1] = *t;
    parts[0].c[i] = middle;
    parts[1].c[j] = middle;
}

/* Walks from the least depth seen to a local minimum, by steps along tangents that shrink when none of them helps. */
static void polish(search *s)
{
    real step = 0.02L;
    for (int k = 0; k < 400 && step > 1e-10L; k++) {
        const vec n = s->direction, t = unit(fabsl(n.x) < 0.6L ? cross(n, make(1, 0, 0)) : cross(n, make(0, 1, 0)));
        const vec o = cross(n, t);
        const real before = s->least;
        for (int i = 0; i < 8; i++) {
            static const real around[8][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
            corner_at(s, unit(add(add(n, step * around[i][0], t), step * around[i][1], o)));
        }
        /* against the gradient, which for smooth shapes leads along a narrow valley */
        const vec x = difference_support(&s->c, s->direction), slope = add(x, -dot(x, s->direction), s->direction);
        corner_at(s, unit(add(s->direction, -step, unit(slope))));
        step = s->least < before ? step * 1.5L : step / 3;
    }
}

reference_minimality reference_depth(const perp_spatial_shape *a, const perp_spatial_shape *b, double depth,
                                     perp_vec3 inner, double off, double tolerance)
{
    static _Thread_local cell queue[MAX_CELLS + 8];
    search s = {difference_of(a, b), INFINITY, {1, 0, 0}};
    const real wanted = fmaxl((real)depth - tolerance, 0);
    int head = 0, tail = 0;
    corner axes[6];
    if (norm(from(inner)) + off + depth <= tolerance) { /* no direction parts two points by more than they are apart */
        return (reference_minimality){REFERENCE_PROVEN, depth, inner, 0};
    }
    for (int k = 0; k < 6; k++) { /* of a's frame, so that its thin direction is a corner */
        const real sign = k & 1 ? -1 : 1;
        axes[k] = corner_at(
            &s, to_world(&a->rotation, make(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0)));
    }
    for (int k = 0; k < 8; k++) {
        queue[tail++] = (cell){{axes[k & 1], axes[2 + (k >> 1 & 1)], axes[4 + (k >> 2)]}};
    }
    while (head < tail && tail < MAX_CELLS + 7 && s.least >= (real)depth - tolerance) {
        const cell t = queue[head++];
        if (!cell_is_deep(&t, from(inner), off, wanted)) {
            split(&s, &t, queue + tail);
            tail += 2;
        }
    }
    reference_verdict verdict = head == tail ? REFERENCE_PROVEN : REFERENCE_UNSETTLED;
    if (verdict == REFERENCE_UNSETTLED && s.least >= (real)depth - tolerance) {
        polish(&s);
    }
    if (s.least < (real)depth - tolerance) {
        verdict = REFERENCE_DISPROVED;
    }
    return (reference_minimality){verdict, (double)s.least,
                                  perp_vec3_make((double)s.direction.x, (double)s.direction.y, (double)s.direction.z),
                                  tail};
}

/* ---- a shape in a bore ------------------------------------------------------------------------------------------- */

static const real right = 1.5707963267948966192L;

typedef struct bore {
    const perp_spatial_shape *x, *hole;
    vec at; /* x, from the hole, in world axes */
    real least, angle, tolerance, phi;
    int cells;
} bore;

/* Reach of x along n, which is in the hole's frame and of any length. */
static real reach_along(const bore *b, vec n)
{
    const vec w = to_world(&b->hole->rotation, n);
    return dot(w, add(b->at, 1, support(b->x, w))) + (rounded(b->x) ? b->x->radius * norm(n) : 0);
}

/* Half plates with the angles from one to another. The cosines and sines are those of doubles, which are units to
 * rounding: any direction does for a bound. */
typedef struct arc {
    vec from, to;
    real wide; /* 1 / cos of half the width, less 1 */
} arc;

static arc arc_of(real from_angle, real to_angle)
{
    const double f = (double)from_angle, t = (double)to_angle;
    return (arc){make(cos(f), sin(f), 0), make(cos(t), sin(t), 0), f < t ? 1 / (real)cos((t - f) / 2) - 1 : 0};
}

/* The gap of all of them, seen along the same slope, is not less. A direction in between is
 * f n1 + g n2 - (f + g - 1) sin(slope) z with f and g >= 0, 1 <= f + g <= 1 + wide, and a support function is
 * sublinear. For an arc of one angle it is the gap itself. */
static real gap_between(const bore *b, const arc *t, real slope)
{
    const real c = cos((double)slope), s = sin((double)slope);
    real most = reach_along(b, make(c * t->from.x, c * t->from.y, s));
    if (t->wide > 0) {
        most = fmaxl(most, reach_along(b, make(c * t->to.x, c * t->to.y, s)));
        most += t->wide * fmaxl(most + reach_along(b, make(0, 0, -s)), 0);
    }
    return b->hole->radius * c - b->hole->half_length * fabsl(s) - most;
}

/* Golden sections from `low` to `high`, until `enough`; the slope is that of the largest so far. */
static real best_between(const bore *b, const arc *t, real low, real high, real enough, real best, real *slope)
{
    const real golden = 0.61803398874989484820L;
    real x = high - golden * (high - low), y = low + golden * (high - low);
    real fx = gap_between(b, t, x), fy = gap_between(b, t, y);
    while (best < enough && high - low > 1e-10L) {
        if (fmaxl(fx, fy) > best) {
            best = fmaxl(fx, fy);
            *slope = fx > fy ? x : y;
        }
        if (fx > fy) {
            high = y;
            y = x;
            fy = fx;
            x = high - golden * (high - low);
            fx = gap_between(b, t, x);
        } else {
            low = x;
            x = y;
            fx = fy;
            y = low + golden * (high - low);
            fy = gap_between(b, t, y);
        }
    }
    return best;
}

/* The largest over the slope, looked for about each local maximum of `count` + 1 slopes (there may be several that are
 * narrow), or any that is `enough`; the slope is a first guess and the one that was found. */
static real best_slope(const bore *b, const arc *t, int count, real enough, real *slope)
{
    enum { MOST = 150 };
    real best = gap_between(b, t, *slope), value[MOST + 1];
    for (int i = 0; i <= count && best < enough; i++) {
        const real at = right * (2 * (real)i / count - 1);
        value[i] = gap_between(b, t, at);
        if (value[i] > best) {
            best = value[i];
            *slope = at;
        }
    }
    for (int i = 0; i <= count && best < enough; i++) {
        if ((i == 0 || value[i - 1] <= value[i]) && (i == count || value[i + 1] <= value[i])) {
            const real low = right * (2 * fmaxl(i - 1, 0) / count - 1);
            best = best_between(b, t, low, right * (2 * fminl(i + 1, count) / count - 1), enough, best, slope);
        }
    }
    return best;
}

static void note_half_plate(bore *b, real angle)
{
    const arc one = arc_of(angle, angle);
    real slope = 0;
    const real gap = best_slope(b, &one, 150, INFINITY, &slope);
    if (gap < b->least) {
        b->least = gap;
        b->angle = angle;
    }
}

/* False if a half plate in between is nearer, or there are too many to tell. */
static bool none_nearer(bore *b, real from_angle, real to_angle, real slope)
{
    const arc t = arc_of(from_angle, to_angle);
    const real middle = (from_angle + to_angle) / 2, wanted = b->phi - b->tolerance;
    if (best_slope(b, &t, 16, wanted, &slope) >= wanted) {
        return true;
    }
    if (b->cells++ > MAX_CELLS / 4 || to_angle - from_angle < 1e-9L) {
        return false;
    }
    if (b->cells % 64 == 0) {
        note_half_plate(b, middle);
    }
    return b->least >= wanted && none_nearer(b, from_angle, middle, slope) && none_nearer(b, middle, to_angle, slope);
}

double reference_half_plate(const perp_spatial_shape *x, const perp_spatial_shape *hole, double angle)
{
    bore b = {.x = x, .hole = hole, .at = minus(from(x->position), from(hole->position)), .least = INFINITY};
    note_half_plate(&b, angle);
    return (double)b.least;
}

double reference_hole_least(const perp_spatial_shape *x, const perp_spatial_shape *hole, double enough)
{
    enum { N = 120 };
    bore b = {.x = x, .hole = hole, .at = minus(from(x->position), from(hole->position)), .least = INFINITY};
    for (int i = 0; i < N && b.least > enough; i++) {
        note_half_plate(&b, 4 * right * i / N);
    }
    for (real step = 4 * right / N; b.least > enough && step > 1e-9L;) {
        const real before = b.least, angle = b.angle;
        note_half_plate(&b, angle - step / 2);
        note_half_plate(&b, angle + step / 2);
        step = b.least < before ? step : step / 2;
    }
    return (double)b.least;
}

reference_minimality reference_hole(const perp_spatial_shape *x, const perp_spatial_shape *hole, double phi,
                                    double tolerance)
{
    enum { N = 24 };
    bore b = {.x = x, .hole = hole, .at = minus(from(x->position), from(hole->position)), .least = INFINITY};
    b.phi = phi;
    b.tolerance = tolerance;
    bool proven = true;
    for (int i = 0; i < N && proven; i++) {
        proven = none_nearer(&b, 4 * right * i / N, 4 * right * (i + 1) / N, 0);
        if (!proven) {
            note_half_plate(&b, 4 * right * (i + 0.5L) / N);
        }
    }
    const double least = proven ? phi : reference_hole_least(x, hole, phi - tolerance);
    return (reference_minimality){proven                                           ? REFERENCE_PROVEN
                                  : fmin(least, (double)b.least) < phi - tolerance ? REFERENCE_DISPROVED
                                                                                   : REFERENCE_UNSETTLED,
                                  fmin(least, (double)b.least),
                                  perp_vec3_make((double)cosl(b.angle), (double)sinl(b.angle), 0), b.cells};
}
