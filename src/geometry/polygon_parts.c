/* polygon_parts.c - a simple polygon as convex parts: ears are cut until triangles remain, then Hertel and Mehlhorn's
 * rule removes every diagonal that is not needed at either end ("Fast triangulation of simple polygons", 1983), which
 * leaves at most 4 times the least number of parts.
 *
 * Cutting decides by the sign of orientations, and that sign is exact: a simple polygon always has an ear, whatever its
 * corners' rounding, so there is no tolerance to choose and no case that fails by bad luck. A flat corner is never cut
 * as an ear and blocks the diagonals that pass through it, so no triangle is empty. Merging has a tolerance of a few
 * roundings, else corners along a straight side would cost parts without thickness.
 */
#include <perp/geometry.h>

#include "geometry/polygon_parts.h"
#include "geometry/tolerances.h"

#include <assert.h>
#include <float.h>

/* ---- exact orientation ----------------------------------------------------------------------------------------- */

/* x + y = *sum + returned, exactly. */
static double two_sum(double x, double y, double *sum)
{
    const double s = x + y, bb = s - x;
    *sum = s;
    return (x - (s - bb)) + (y - bb);
}

/* Sign of the sum of 6 exact products x[i] y[i]: the running sum is kept as an expansion of non-overlapping terms
 * (Shewchuk), whose last non-zero one has the sign of the whole. */
static double sign_of_products(const double x[6], const double y[6])
{
    double terms[12];
    int count = 0;
    for (int i = 0; i < 6; i++) {
        const double product = x[i] * y[i];
        const double parts[2] = {fma(x[i], y[i], -product), product};
        for (int k = 0; k < 2; k++) {
            double carry = parts[k];
            for (int j = 0; j < count; j++) {
                double sum = 0.0;
                terms[j] = two_sum(carry, terms[j], &sum);
                carry = sum;
            }
            terms[count++] = carry;
        }
    }
    for (int j = count - 1; j >= 0; j--) {
        if (terms[j] != 0.0) {
            return terms[j];
        }
    }
    return 0.0;
}

/* Twice the area of the triangle: > 0 counter-clockwise, 0 collinear. The sign is exact (underflow aside), the value
 * accurate where it was not in doubt. */
static double orientation(perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
    const double det = left - right;
    if (fabs(det) > 4.0 * DBL_EPSILON * (fabs(left) + fabs(right))) {
        return det;
    }
    const double x[6] = {a.x, -a.y, b.x, -b.y, c.x, -c.y};
    const double y[6] = {b.y, b.x, c.y, c.x, a.y, a.x};
    return sign_of_products(x, y);
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/* The rest of the polygon while ears are cut is a ring of corners in counter-clockwise order. The triangles' edges are
 * half-edges; all arrays are indexed by ring place or by half-edge. */
typedef struct half_edge {
    int origin; /* corner */
    int next, prev;
    int twin; /* the same diagonal from the other side; -1: an edge of the polygon */
} half_edge;

typedef struct splitter {
    const perp_vec3 *corners;
    double *quality; /* of the ear at this corner; <= 0: not an ear */
    half_edge *edges;
    int *next, *prev; /* ring, by corner */
    int *outer;       /* by corner: the half-edge outside the ring edge from it, waiting for its twin; -1: none */
    bool *blocking;   /* reflex or flat */
    bool *seen;       /* by half-edge */
    int edge_count;
    double flat; /* m: a corner this far inside the line of its neighbours is on it */
} splitter;

size_t perp_polygon_split_scratch(int count)
{
    const size_t n = count > 0 ? (size_t)count : 0;
    return n * (sizeof(double) + 3 * sizeof(half_edge) + 3 * sizeof(int) + 4 * sizeof(bool));
}

static splitter lay_out(const perp_vec3 *corners, int count, void *scratch)
{
    const size_t n = (size_t)count;
    splitter s = {.corners = corners, .quality = scratch};
    s.edges = (half_edge *)(void *)(s.quality + n);
    s.next = (int *)(void *)(s.edges + 3 * n);
    s.prev = s.next + n;
    s.outer = s.prev + n;
    s.blocking = (bool *)(void *)(s.outer + n);
    s.seen = s.blocking + n;
    return s;
}

/* ---- ears -------------------------------------------------------------------------------------------------------- */

static bool in_closed_triangle(perp_vec3 p, perp_vec3 a, perp_vec3 b, perp_vec3 c)
{
    return orientation(a, b, p) >= 0.0 && orientation(b, c, p) >= 0.0 && orientation(c, a, p) >= 0.0;
}

/* Sine of the triangle's smallest angle, which is opposite its shortest side. */
static double smallest_sine(perp_vec3 a, perp_vec3 b, perp_vec3 c, double area2)
{
    const double ab = hypot(b.x - a.x, b.y - a.y), bc = hypot(c.x - b.x, c.y - b.y), ca = hypot(a.x - c.x, a.y - c.y);
    const double shortest = fmin(ab, fmin(bc, ca));
    return area2 * shortest / (ab * bc * ca);
}

/* Sees corner v anew: does it block, is it an ear, and how good a one. Corners that block are all that need be tested:
 * if any corner lies in the triangle, one of those does. */
static void judge(splitter *s, int v)
{
    const int u = s->prev[v], w = s->next[v];
    const perp_vec3 a = s->corners[u], b = s->corners[v], c = s->corners[w];
    const double area2 = orientation(a, b, c);
    s->blocking[v] = area2 <= 0.0;
    s->quality[v] = 0.0;
    if (area2 <= 0.0) {
        return;
    }
    const double low_x = fmin(a.x, fmin(b.x, c.x)), high_x = fmax(a.x, fmax(b.x, c.x));
    const double low_y = fmin(a.y, fmin(b.y, c.y)), high_y = fmax(a.y, fmax(b.y, c.y));
    for (int k = s->next[w]; k != u; k = s->next[k]) {
        const perp_vec3 p = s->corners[k];
        if (s->blocking[k] && p.x >= low_x && p.x <= high_x && p.y >= low_y && p.y <= high_y &&
            in_closed_triangle(p, a, b, c)) {
            return;
        }
    }
    s->quality[v] = fmax(smallest_sine(a, b, c, area2), DBL_MIN);
}

static void judge_all(splitter *s, int start)
{
    int v = start;
    do { /* blocking first: whether an ear is free depends on all of them */
        s->blocking[v] = orientation(s->corners[s->prev[v]], s->corners[v], s->corners[s->next[v]]) <= 0.0;
        v = s->next[v];
    } while (v != start);
    do {
        judge(s, v);
        v = s->next[v];
    } while (v != start);
}

/* The best-shaped ear, the first of equals from `start`; -1: none. */
static int best_ear(const splitter *s, int start)
{
    int best = -1, v = start;
    do {
        if (s->quality[v] > 0.0 && (best < 0 || s->quality[v] > s->quality[best])) {
            best = v;
        }
        v = s->next[v];
    } while (v != start);
    return best;
}

static void join(splitter *s, int inner, int outer)
{
    s->edges[inner].twin = outer;
    if (outer >= 0) {
        s->edges[outer].twin = inner;
    }
}

/* Adds the triangle u v w, w being after v after u in the ring. Its edge w u waits for its twin at u. */
static void add_triangle(splitter *s, int u, int v, int w, bool last)
{
    const int e = s->edge_count;
    const int origin[3] = {u, v, w};
    for (int k = 0; k < 3; k++) {
        s->edges[e + k] =
            (half_edge){.origin = origin[k], .next = e + (k + 1) % 3, .prev = e + (k + 2) % 3, .twin = -1};
    }
    join(s, e, s->outer[u]);
    join(s, e + 1, s->outer[v]);
    if (last) {
        join(s, e + 2, s->outer[w]);
    }
    s->outer[u] = e + 2;
    s->edge_count += 3;
}

/* Cuts ears until a triangle is left; false if there is none to cut. */
static bool cut_ears(splitter *s, int start, int count)
{
    judge_all(s, start);
    for (int left = count; left > 3; left--) {
        int v = best_ear(s, start);
        if (v < 0) {
            return false;
        }
        const int u = s->prev[v], w = s->next[v];
        add_triangle(s, u, v, w, false);
        s->next[u] = w;
        s->prev[w] = u;
        start = start == v ? w : start;
        judge(s, u);
        judge(s, w);
    }
    const int v = s->next[start], w = s->next[v];
    add_triangle(s, start, v, w, true);
    return orientation(s->corners[start], s->corners[v], s->corners[w]) > 0.0;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* Would the corner at e's origin still be convex without the diagonal e? A corner that rounding has pushed into its own
 * straight side counts as flat: exactly taken, it would cost a part as thin as the rounding. */
static bool convex_without(const splitter *s, int e)
{
    const half_edge *edge = &s->edges[e];
    const perp_vec3 before = s->corners[s->edges[edge->prev].origin], at = s->corners[edge->origin];
    const perp_vec3 after = s->corners[s->edges[s->edges[s->edges[edge->twin].next].next].origin];
    const double turn = orientation(before, at, after);
    if (turn >= 0.0) {
        return true;
    }
    const bool onward = (at.x - before.x) * (after.x - at.x) + (at.y - before.y) * (after.y - at.y) > 0.0;
    return onward && -turn <= s->flat * hypot(after.x - before.x, after.y - before.y);
}

/* Removes diagonals in the order in which they were made. Each is looked at once: what is needed stays so, since angles
 * only grow. */
static void merge(splitter *s)
{
    for (int e = 0; e < s->edge_count; e++) {
        const int t = s->edges[e].twin;
        if (t < e) { /* no diagonal, or seen already */
            continue;
        }
        if (convex_without(s, e) && convex_without(s, t)) {
            half_edge *h = s->edges;
            h[h[e].prev].next = h[t].next;
            h[h[t].next].prev = h[e].prev;
            h[h[t].prev].next = h[e].next;
            h[h[e].next].prev = h[t].prev;
            h[e].next = h[t].next = -1; /* gone */
        }
    }
}

static void collect(splitter *s, perp_polygon_parts *parts)
{
    int used = 0;
    parts->count = 0;
    for (int e = 0; e < s->edge_count; e++) {
        s->seen[e] = s->edges[e].next < 0;
    }
    for (int e = 0; e < s->edge_count; e++) {
        if (s->seen[e]) {
            continue;
        }
        parts->starts[parts->count++] = used;
        for (int k = e; !s->seen[k]; k = s->edges[k].next) {
            s->seen[k] = true;
            parts->corners[used++] = s->edges[k].origin;
        }
    }
    parts->starts[parts->count] = used;
}

/* ---- the split --------------------------------------------------------------------------------------------------- */

/* The sign of the polygon's area, from its lowest leftmost corner, which is convex; 0: no area there. */
static double turning(const perp_vec3 *corners, int count)
{
    int low = 0;
    for (int i = 1; i < count; i++) {
        const perp_vec3 p = corners[i], q = corners[low];
        if (p.x < q.x || (p.x <= q.x && p.y < q.y)) {
            low = i;
        }
    }
    return orientation(corners[(low + count - 1) % count], corners[low], corners[(low + 1) % count]);
}

perp_status perp_polygon_split(const perp_vec3 *corners, int count, void *scratch, perp_polygon_parts *parts,
                               perp_error *error)
{
    assert(corners && scratch && parts && parts->starts && parts->corners);
    parts->count = 0;
    if (count < 3) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a polygon has at least 3 corners, not %d", count);
    }
    if (count > PERP_POLYGON_MAX_CORNERS) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a polygon has at most %d corners, not %d",
                         PERP_POLYGON_MAX_CORNERS, count);
    }
    for (int i = 0; i < count; i++) {
        if (!isfinite(corners[i].x) || !isfinite(corners[i].y)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "corner %d of the polygon is not finite", i);
        }
    }
    const double sense = turning(corners, count);
    if (sense == 0.0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the polygon has no area or touches itself");
    }
    splitter s = lay_out(corners, count, scratch);
    double reach = 0.0;
    for (int i = 0; i < count; i++) {
        reach = fmax(reach, fmax(fabs(corners[i].x), fabs(corners[i].y)));
    }
    s.flat = ROUNDING * reach;
    for (int i = 0; i < count; i++) {
        const int after = (i + 1) % count, before = (i + count - 1) % count;
        s.next[i] = sense > 0.0 ? after : before;
        s.prev[i] = sense > 0.0 ? before : after;
        s.outer[i] = -1;
    }
    if (!cut_ears(&s, 0, count)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the polygon crosses or touches itself");
    }
    merge(&s);
    collect(&s, parts);
    return PERP_STATUS_OK;
}
