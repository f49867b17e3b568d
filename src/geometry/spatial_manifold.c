/* spatial_manifold.c - all points of the closest features, each with its own gap and label.
 *
 * Everything is seen along the normal n of the distance query. Two faces make the polygon where their shadows on a
 * plane square to n meet, lifted back to both; since each holds its shape's witness, and all of a is below and all of b
 * above the witnesses' heights, the least gap of the polygon is the distance. The alternative, one face as reference
 * and the other clipped to it and measured along the reference's normal, treats a and b differently and changes all
 * gaps when the roles change.
 *
 * A round shape's point is that of the ball about its core's point: an end of a capsule is a ball whatever its tilt.
 */
#include "geometry/spatial_clip.h"
#include "geometry/spatial_hole.h"
#include "geometry/spatial_mirror.h"
#include "geometry/spatial_query.h"
#include "geometry/spatial_still.h"
#include "geometry/tolerances.h"

static const double aligned = 0.9, lesser = 0.5, least_cosine = 0.1;
static const double level_sine = 0.70710678118654752, aligned_sine = 0.43588989435406736;
static const double parallel_cosine = 0.98558476690956076; /* 0.17 rad */

/* The witnesses of the distance. */
static void add_witness(const spatial_query *q, perp_manifold *m)
{
    const double slack = 2.0 * q->tolerance; /* witnesses are within the tolerance of the surface */
    m->points[m->count++] = (perp_manifold_point){.at = q->s,
                                                  .feature_a = perp_spatial_feature_at(q->a, q->s.point_a, slack),
                                                  .feature_b = perp_spatial_feature_at(q->b, q->s.point_b, slack)};
}

/* ---- order and number -------------------------------------------------------------------------------------------- */

static bool before(const perp_manifold_point *p, const perp_manifold_point *q)
{
    return p->feature_a < q->feature_a || (p->feature_a == q->feature_a && p->feature_b < q->feature_b);
}

/* Names a point alike whichever shape is a. */
static int64_t rank(const perp_manifold_point *p)
{
    const int high = p->feature_a > p->feature_b ? p->feature_a : p->feature_b;
    return (int64_t)high * 4294967296 + (p->feature_a + p->feature_b - high);
}

enum { RING_MAX = 8 };

/* A ring thinned to RING_MAX points: those that stay, ascending. The point of least gap does. Where the gaps differ a
 * step may turn the faces so that another point is the lowest, which sinks in if it is between points that were kept.
 * So some come back, the lower the sooner; faces that lie on each other have no lower ones. */
static int thin_ring(const spatial_query *q, const perp_manifold_point *ring, const double *x, const double *y,
                     int count, int *left)
{
    int kept = -1;
    int64_t ranks[SPATIAL_VERTICES_MAX];
    double weight[SPATIAL_VERTICES_MAX], least = INFINITY, most = -INFINITY;
    for (int i = 0; i < count; i++) {
        least = ring[i].at.phi < least ? ring[i].at.phi : least;
        most = ring[i].at.phi > most ? ring[i].at.phi : most;
    }
    const bool level = q->still || most - least <= q->tolerance;
    for (int i = 0; i < count; i++) {
        ranks[i] = rank(&ring[i]);
        weight[i] = level ? 0.0 : (most - ring[i].at.phi) / (most - least);
        const bool lowest = ring[i].at.phi <= least + 0.5 * q->tolerance;
        kept = lowest && !q->still && (kept < 0 || ranks[i] < ranks[kept]) ? i : kept;
    }
    const spatial_thinning thinning = {.x = x, .y = y, .rank = ranks, .kept = kept, .noise = q->tolerance};
    const int thinned = perp_spatial_thin(&thinning, count, RING_MAX, left);
    return perp_spatial_thicken(&thinning, weight, count, PERP_MANIFOLD_MAX, left, thinned);
}

/* Copies a ring of points to the manifold, from its lowest label on, thinned to what there is room for; x and y are
 * theirs in a plane that shows their polygon. */
static void finish_ring(const spatial_query *q, const perp_manifold_point *ring, const double *x, const double *y,
                        int count, perp_manifold *m)
{
    int first = 0, left[SPATIAL_THIN_MAX];
    for (int i = 0; i < count && count <= RING_MAX; i++) {
        left[i] = i;
    }
    m->count = count <= RING_MAX ? count : thin_ring(q, ring, x, y, count, left);
    for (int i = 1; i < m->count; i++) {
        first = before(&ring[left[i]], &ring[left[first]]) ? i : first;
    }
    for (int i = 0; i < m->count; i++) {
        m->points[i] = ring[left[i + first < m->count ? i + first : i + first - m->count]];
    }
}

/* ---- face and face ----------------------------------------------------------------------------------------------- */

/* The shadow of a face, counter-clockwise about n: as it is for a's, backwards for b's. */
static void shadow(const spatial_query *q, const spatial_outline *face, bool backwards, spatial_polygon *p)
{
    p->count = face->count;
    for (int i = 0; i < face->count; i++) {
        const perp_vec3 c = face->corners[backwards ? face->count - 1 - i : i];
        p->x[i] = perp_vec3_dot(q->t, c);
        p->y[i] = perp_vec3_dot(q->o, c);
        p->z[i] = perp_vec3_dot(q->s.normal, c);
    }
    p->from_below = backwards;
    p->plane_count = face->plane_count;
    for (int k = 0; k < face->plane_count; k++) {
        const perp_vec3 n = face->plane_normals[k], x = face->plane_points[k];
        const double nz = perp_vec3_dot(n, q->s.normal);
        p->planes[k] = (spatial_plane){.level = perp_vec3_dot(n, x) / nz,
                                       .slope_x = -perp_vec3_dot(n, q->t) / nz,
                                       .slope_y = -perp_vec3_dot(n, q->o) / nz};
    }
}

/* Name of the part of a shadow. */
static int name(const spatial_outline *face, bool backwards, int part)
{
    if (part == SPATIAL_INSIDE) {
        return perp_feature(PERP_FEATURE_FACE, face->face);
    }
    const int i = part / 2, n = face->count;
    if (part % 2 == 0) {
        return perp_spatial_outline_corner(face, backwards ? n - 1 - i : i);
    }
    return perp_spatial_outline_edge(face, backwards ? (2 * n - 2 - i) % n : i);
}

/* The point of a vertex of the shadows. All of a is below its witness and all of b above its own: a corner that is over
 * a steep face's plane, but beyond its border by the tolerance, is not to say otherwise. */
static perp_manifold_point between(const spatial_query *q, double x, double y, double z_a, double z_b)
{
    const double low = z_a < 0.0 ? z_a : 0.0, high = z_b > q->s.phi ? z_b : q->s.phi;
    const perp_vec3 flat = perp_vec3_add_scaled(perp_vec3_scale(x, q->t), y, q->o);
    return spatial_contact(q, perp_vec3_add_scaled(flat, low, q->s.normal), q->s.normal, high - low);
}

static bool meet(const spatial_query *q, spatial_outline *fa, spatial_outline *fb, bool anyway, perp_manifold *m)
{
    spatial_polygon pa, pb;
    spatial_vertex v[SPATIAL_VERTICES_MAX];
    spatial_view view = {q->origin, q->s.normal, {0.0, 0.0, 0.0}, q->still ? INFINITY : q->tolerance, anyway};
    perp_spatial_outline_trace(fa, &view);
    view.direction = spatial_negative(q->s.normal);
    view.witness = perp_vec3_sub(q->s.point_b, q->origin);
    perp_spatial_outline_trace(fb, &view);
    shadow(q, fa, false, &pa);
    shadow(q, fb, true, &pb);
    const int count = perp_spatial_polygons_meet(&pa, &pb, q->tolerance, v);
    perp_manifold_point ring[SPATIAL_VERTICES_MAX];
    double x[SPATIAL_VERTICES_MAX], y[SPATIAL_VERTICES_MAX];
    for (int i = 0; i < count; i++) {
        x[i] = v[i].x;
        y[i] = v[i].y;
        ring[i] = between(q, v[i].x, v[i].y, v[i].z_p, v[i].z_q);
        ring[i].feature_a = name(fa, false, v[i].part_p);
        ring[i].feature_b = name(fb, true, v[i].part_q);
    }
    finish_ring(q, ring, x, y, count, m);
    return perp_manifold_least_gap(m) <= q->s.phi + q->tolerance;
}

static bool faces_face(double cosine_a, double cosine_b)
{
    const double high = fmax(cosine_a, cosine_b), low = fmin(cosine_a, cosine_b);
    return high >= SAME_DIRECTION_COSINE || (high >= aligned && low >= lesser);
}

/* ---- line and line ----------------------------------------------------------------------------------------------- */

static void lines(const spatial_query *q, perp_manifold *m)
{
    spatial_line la[SPATIAL_LINES_MAX], lb[SPATIAL_LINES_MAX];
    const perp_vec3 n = q->s.normal, witness_b = perp_vec3_sub(q->s.point_b, q->origin);
    const double slack = 2.0 * q->tolerance;
    const int count_a = perp_spatial_lines(q->a, q->origin, n, perp_vec3_make(0.0, 0.0, 0.0), slack, la);
    const int count_b =
        count_a > 0 ? perp_spatial_lines(q->b, q->origin, spatial_negative(n), witness_b, slack, lb) : 0;
    double best = parallel_cosine;
    int best_a = -1, best_b = -1;
    for (int i = 0; i < count_a; i++) {
        for (int j = 0; j < count_b; j++) {
            const double c = fabs(perp_vec3_dot(la[i].along, lb[j].along));
            if (c > best + (best_a < 0 ? 0.0 : EQUALLY_ALIGNED)) {
                best = c;
                best_a = i;
                best_b = j;
            }
        }
    }
    if (best_a >= 0) {
        perp_spatial_overlap(q, &la[best_a], &lb[best_b], m);
    }
    if (q->s.phi < perp_manifold_least_gap(m) - q->tolerance) {
        add_witness(q, m);
    }
}

/* ---- face and segment -------------------------------------------------------------------------------------------- */

/* A line that rests on a face: as it is named where its ends make the point, and where the face's border does. */
typedef struct resting {
    perp_vec3 ends[2];
    double radius;
    int ends_named[2], cuts_named[2];
} resting;

/* What of the shape, which faces `towards`, is a line that may rest on the face; false if nothing is. */
static bool find_resting(const spatial_query *q, const spatial_outline *on, const perp_spatial_shape *shape,
                         perp_vec3 towards, perp_vec3 witness, resting *r)
{
    const double sine = fabs(perp_vec3_dot(spatial_axis(shape), towards));
    const bool level =
        (on->cosine >= SAME_DIRECTION_COSINE && sine <= level_sine) || (on->cosine >= aligned && sine <= aligned_sine);
    const bool capsule = shape->kind == PERP_SPATIAL_SEGMENT;
    if (capsule || shape->kind == PERP_SPATIAL_CYLINDER) {
        perp_spatial_side(shape, q->origin, towards, r->ends);
        r->radius = capsule ? shape->radius : 0.0;
        for (int k = 0; k < 2; k++) {
            r->ends_named[k] = perp_feature(capsule ? PERP_FEATURE_CORNER : PERP_FEATURE_SIDE, k);
            r->cuts_named[k] = capsule ? perp_feature(PERP_FEATURE_EDGE, 0) : r->ends_named[k];
        }
        return level;
    }
    spatial_line sharp[SPATIAL_LINES_MAX]; /* a blade: both its faces are steep */
    const int count = on->cosine < SAME_DIRECTION_COSINE
                          ? 0
                          : perp_spatial_lines(shape, q->origin, towards, witness, 2.0 * q->tolerance, sharp);
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = fabs(perp_vec3_dot(sharp[i].along, towards)) <
                       fabs(perp_vec3_dot(sharp[best].along, towards)) - EQUALLY_ALIGNED
                   ? i
                   : best;
    }
    if (count > 0) {
        r->radius = 0.0;
        for (int k = 0; k < 2; k++) {
            r->ends[k] = sharp[best].ends[k];
            r->ends_named[k] = sharp[best].corners[k];
            r->cuts_named[k] = sharp[best].edge;
        }
    }
    return count > 0;
}

/* The gap of the line over the face at the place s along it; infinite beyond the points that it has there, which are at
 * the two places `at`, or both at one. */
static double gap_of_rest(const perp_manifold *rests, const double at[2], double s, double slack)
{
    const double first = rests->points[0].at.phi, last = rests->points[rests->count - 1].at.phi;
    if (s < fmin(at[0], at[1]) - slack || s > fmax(at[0], at[1]) + slack) {
        return INFINITY;
    }
    return rests->count > 1 ? first + fmin(fmax((s - at[0]) / (at[1] - at[0]), 0.0), 1.0) * (last - first) : first;
}

/* Adds points of an edge beside the line, where the line is not over the face, or farther from it than from the edge.
 * A cut of the border that has the name of such a point is no end of the line: it is somewhere on the side. */
static void add_beside(const spatial_query *q, perp_vec3 along, const perp_manifold *rests, const perp_manifold *more,
                       perp_manifold *m)
{
    double at[2];
    for (int i = 0; i < 2; i++) {
        const perp_manifold_point *p = &rests->points[i < rests->count ? i : 0];
        at[i] = perp_vec3_dot(along, perp_vec3_sub(p->at.point_a, q->origin));
    }
    for (int i = 0; i < more->count; i++) {
        const perp_manifold_point *p = &more->points[i];
        const double s = perp_vec3_dot(along, perp_vec3_sub(p->at.point_a, q->origin));
        bool there = p->at.phi >= gap_of_rest(rests, at, s, 2.0 * q->tolerance) - q->tolerance;
        for (int k = 0; k < m->count && !there; k++) {
            perp_manifold_point *r = &m->points[k];
            if (r->feature_a == p->feature_a && r->feature_b == p->feature_b) {
                int *of_line = perp_feature_kind_of(r->feature_a) == PERP_FEATURE_SIDE ? &r->feature_a : &r->feature_b;
                there = perp_feature_kind_of(*of_line) != PERP_FEATURE_SIDE;
                *of_line = there ? *of_line : perp_feature(PERP_FEATURE_SIDE, 2);
            }
        }
        if (!there) {
            m->points[m->count++] = *p;
        }
    }
}

/* Of the edges of a face that pass the point (x, y) of its shadow, the one that is most nearly parallel to the line; -1
 * if none is. */
static int edge_along(const spatial_query *q, const spatial_outline *face, perp_vec3 along, double x, double y,
                      spatial_line *edge)
{
    const perp_vec3 point = perp_vec3_add_scaled(perp_vec3_scale(x, q->t), y, q->o);
    double most = parallel_cosine;
    int best = -1;
    for (int i = 0; i < face->count; i++) {
        const perp_vec3 from = face->corners[i], to = face->corners[i + 1 < face->count ? i + 1 : 0];
        perp_vec3 e = perp_vec3_sub(to, from), r = perp_vec3_sub(point, from);
        const double cosine = fabs(perp_vec3_dot(e, along)) / perp_vec3_norm(e);
        if (!(cosine > most)) {
            continue;
        }
        e = perp_vec3_add_scaled(e, -perp_vec3_dot(e, q->s.normal), q->s.normal);
        r = perp_vec3_add_scaled(r, -perp_vec3_dot(r, q->s.normal), q->s.normal);
        const double way = fmin(fmax(perp_vec3_dot(r, e) / perp_vec3_dot(e, e), 0.0), 1.0);
        const bool passes = perp_vec3_norm(perp_vec3_add_scaled(r, -way, e)) <= 2.0 * q->tolerance;
        if (passes && perp_spatial_outline_line(face, i, q->origin, edge)) {
            most = cosine;
            best = i;
        }
    }
    return best;
}

/* Where a round line leaves the face over an edge that is nearly parallel to it, or touches such an edge, the edge runs
 * on beside it at a gap that grows with the square of the way only. The crossing alone would let the shapes turn about
 * it into each other, so the ends of the overlap of line and edge are points too, each with its own normal. */
static void follow_borders(const spatial_query *q, const spatial_outline *face, bool face_of_a,
                           const spatial_vertex *vertices, perp_manifold *m)
{
    spatial_line line[SPATIAL_LINES_MAX], edge;
    const perp_spatial_shape *shape = face_of_a ? q->b : q->a;
    const perp_vec3 towards = face_of_a ? spatial_negative(q->s.normal) : q->s.normal;
    const perp_vec3 witness = perp_vec3_sub(face_of_a ? q->s.point_b : q->s.point_a, q->origin);
    const bool all_over = m->count > 0 && /* else nothing is in `vertices` */
                          face->cosine >= SAME_DIRECTION_COSINE && vertices[0].part_q == SPATIAL_INSIDE &&
                          vertices[1].part_q == SPATIAL_INSIDE;
    if (m->count == 0 || all_over || perp_spatial_lines(shape, q->origin, towards, witness, q->tolerance, line) == 0 ||
        spatial_line_is_sharp(line)) {
        return;
    }
    const perp_manifold rests = *m;
    const double x[3] = {vertices[0].x, vertices[1].x, 0.0}, y[3] = {vertices[0].y, vertices[1].y, 0.0};
    int taken[3];
    for (int k = 0; k < 3; k++) { /* both ends of what is over the face, and the witness */
        taken[k] = edge_along(q, face, line->along, x[k], y[k], &edge);
        if (taken[k] < 0 || (k > 0 && taken[k] == taken[0]) || (k > 1 && taken[k] == taken[1])) {
            continue;
        }
        perp_manifold more = {.count = 0};
        perp_spatial_overlap(q, face_of_a ? &edge : line, face_of_a ? line : &edge, &more);
        add_beside(q, line->along, &rests, &more, m);
    }
}

/* The end of the segment that a vertex of its shadow is nearer to. */
static int nearer_end(const double x[2], const double y[2], const spatial_vertex *v)
{
    return hypot(v->x - x[1], v->y - y[1]) < hypot(v->x - x[0], v->y - y[0]) ? 1 : 0;
}

static bool rest(const spatial_query *q, spatial_outline *face, bool face_of_a, const resting *r, bool anyway,
                 perp_manifold *m)
{
    const perp_vec3 n = q->s.normal;
    spatial_polygon p;
    const perp_vec3 witness = perp_vec3_sub(face_of_a ? q->s.point_a : q->s.point_b, q->origin);
    const spatial_view view = {q->origin, face_of_a ? n : spatial_negative(n), witness, q->tolerance, anyway};
    perp_spatial_outline_trace(face, &view);
    shadow(q, face, !face_of_a, &p);
    double x[2], y[2], z[2];
    for (int k = 0; k < 2; k++) {
        x[k] = perp_vec3_dot(q->t, r->ends[k]);
        y[k] = perp_vec3_dot(q->o, r->ends[k]);
        z[k] = perp_vec3_dot(n, r->ends[k]) + (face_of_a ? -r->radius : r->radius);
    }
    spatial_vertex v[2];
    m->count = perp_spatial_segment_meets(x, y, z, &p, q->tolerance, v);
    for (int k = 0; k < m->count; k++) {
        const double z_a = face_of_a ? v[k].z_q : v[k].z_p, z_b = face_of_a ? v[k].z_p : v[k].z_q;
        const int end = m->count == 2 ? k : nearer_end(x, y, &v[0]);
        const int of_line = v[k].part_p == 1 ? r->cuts_named[end] : r->ends_named[end];
        const int of_face = name(face, !face_of_a, v[k].part_q);
        m->points[k] = between(q, v[k].x, v[k].y, z_a, z_b);
        m->points[k].feature_a = face_of_a ? of_face : of_line;
        m->points[k].feature_b = face_of_a ? of_line : of_face;
    }
    follow_borders(q, face, face_of_a, v, m);
    return perp_manifold_least_gap(m) <= q->s.phi + q->tolerance;
}

/* Drops a point of a full ring, by the rule of perp_spatial_thin. */
static void make_room(const spatial_query *q, perp_manifold *m)
{
    double x[PERP_MANIFOLD_MAX], y[PERP_MANIFOLD_MAX];
    int64_t ranks[PERP_MANIFOLD_MAX];
    int left[PERP_MANIFOLD_MAX];
    for (int i = 0; i < m->count; i++) {
        const perp_vec3 p = perp_vec3_sub(m->points[i].at.point_a, q->origin);
        x[i] = perp_vec3_dot(q->t, p);
        y[i] = perp_vec3_dot(q->o, p);
        ranks[i] = rank(&m->points[i]);
    }
    const spatial_thinning thinning = {.x = x, .y = y, .rank = ranks, .kept = -1, .noise = q->tolerance};
    m->count = perp_spatial_thin(&thinning, m->count, PERP_MANIFOLD_MAX - 1, left);
    for (int i = 0; i < m->count; i++) {
        m->points[i] = m->points[left[i]];
    }
}

/* The witnesses into a manifold that misses the smallest gap: faces of one direction, or a rim that touches a
 * border, where the nearest points are known to the square root of rounding only. A point as near to them as that gives
 * way, and leaves its name. */
static void include_witness(const spatial_query *q, perp_manifold *m)
{
    const double reach = WITNESS_KNOWN * (perp_spatial_shape_size(q->a) + perp_spatial_shape_size(q->b));
    int near = -1, count = 0;
    for (int i = 0; i < m->count; i++) {
        if (perp_vec3_norm(perp_vec3_sub(m->points[i].at.point_a, q->s.point_a)) > reach) {
            m->points[count++] = m->points[i];
        } else if (near < 0) {
            near = count++;
            m->points[near] = m->points[i];
            m->points[near].at = q->s;
        }
    }
    m->count = count;
    if (near < 0) {
        make_room(q, m);
        add_witness(q, m);
    }
}

/* ---- which rule -------------------------------------------------------------------------------------------------- */

static void bodies(const spatial_query *q, perp_manifold *m)
{
    spatial_outline fa, fb;
    resting line;
    const perp_vec3 n = q->s.normal, up = spatial_negative(n);
    const perp_vec3 witness_a = {0.0, 0.0, 0.0}, witness_b = perp_vec3_sub(q->s.point_b, q->origin);
    const bool face_a = perp_spatial_outline_find(q->a, n, q->tolerance, &fa) && fa.cosine >= least_cosine;
    const bool face_b = perp_spatial_outline_find(q->b, up, q->tolerance, &fb) && fb.cosine >= least_cosine;
    const bool meets = face_a && face_b && faces_face(fa.cosine, fb.cosine);
    const bool on_a = face_a && !face_b && find_resting(q, &fa, q->b, up, witness_b, &line);
    const bool on_b = face_b && !face_a && find_resting(q, &fb, q->a, n, witness_a, &line);
    bool found = false;
    /* A rim as a polygon may leave the witness out; then once more with a corner towards it. */
    for (int attempt = 0; attempt < 2 && !found; attempt++) {
        if (meets) {
            found = meet(q, &fa, &fb, attempt > 0, m);
        } else if (on_a || on_b) {
            found = rest(q, on_a ? &fa : &fb, on_a, &line, attempt > 0, m);
        } else {
            break;
        }
    }
    if (m->count == 0) {
        lines(q, m);
    } else if (!found) {
        include_witness(q, m);
    }
}

/* ---- halfspace --------------------------------------------------------------------------------------------------- */

/* A point of X, or the centre of its ball, against the halfspace; X is a. */
static perp_manifold_point over_halfspace(const spatial_query *q, perp_vec3 x, double radius, int feature)
{
    const perp_vec3 n = q->s.normal; /* down */
    const perp_vec3 witness_b = perp_vec3_sub(q->s.point_b, q->origin);
    const perp_vec3 on_a = perp_vec3_add_scaled(x, radius, n);
    perp_manifold_point p = spatial_contact(q, on_a, n, perp_vec3_dot(n, perp_vec3_sub(witness_b, on_a)));
    p.feature_a = feature;
    p.feature_b = perp_feature(PERP_FEATURE_SURFACE, 0);
    return p;
}

static void face_on_halfspace(const spatial_query *q, spatial_outline *face, perp_manifold *m)
{
    perp_manifold_point ring[SPATIAL_OUTLINE_MAX];
    double x[SPATIAL_OUTLINE_MAX], y[SPATIAL_OUTLINE_MAX];
    perp_vec3 t, o;
    const spatial_view view = {q->origin, q->s.normal, {0.0, 0.0, 0.0}, q->tolerance, false};
    perp_spatial_outline_trace(face, &view);
    for (int i = 0; i < face->count; i++) {
        ring[i] = over_halfspace(q, face->corners[i], 0.0, perp_spatial_outline_corner(face, i));
    }
    if (face->count > RING_MAX) { /* where they are in the face, to thin them */
        perp_tangents(face->normal, &t, &o);
        for (int i = 0; i < face->count; i++) {
            x[i] = perp_vec3_dot(t, face->corners[i]);
            y[i] = perp_vec3_dot(o, face->corners[i]);
        }
    }
    finish_ring(q, ring, x, y, face->count, m);
}

enum { HEXAGON = 6, PLACES = 2 * HEXAGON };

/* Six fixed places. If the end is tilted so much that its lowest point may be lower than these by more than the
 * tolerance, that point, and of the lower half the places half-way between the six: without these a step that turns the
 * end until it is lowest between the six lets it sink in by up to 0.13 of its radius times the tilt, with them by 0.03.
 * As it runs around the rim it stands for a place that it passes, low to the tolerance. */
static void end_on_halfspace(const spatial_query *q, const spatial_outline *face, perp_manifold *m)
{
    static const double cosine[PLACES] = {1.0,  0.86602540378443865,  0.5,  0.0, -0.5, -0.86602540378443865,
                                          -1.0, -0.86602540378443865, -0.5, 0.0, 0.5,  0.86602540378443865};
    const perp_spatial_shape *c = q->a;
    const double z = face->face == 1 ? c->half_length : -c->half_length;
    const perp_vec3 down = perp_mat3_tmul_vec(&c->rotation, q->s.normal);
    const double tilt = sqrt(down.x * down.x + down.y * down.y);                          /* its sine */
    const bool lowest = !q->still && (1.0 - cosine[1]) * c->radius * tilt > q->tolerance; /* half-way between two */
    for (int i = 0; i < PLACES; i++) { /* counter-clockwise about n, which is the end's outer side */
        const int k = face->face == 1 || i == 0 ? i : PLACES - i;
        const double x = cosine[k], y = cosine[(k + 9) % PLACES];
        const bool between = k % 2 != 0;
        if (between && !(lowest && x * down.x + y * down.y > 0.0)) {
            continue;
        }
        const perp_vec3 local = perp_vec3_make(c->radius * x, c->radius * y, z);
        const perp_vec3 at =
            perp_vec3_add(perp_vec3_sub(c->position, q->origin), perp_mat3_mul_vec(&c->rotation, local));
        const int place = SPATIAL_RIM_PLACES * face->face + k / 2 + (between ? HEXAGON : 0);
        m->points[m->count] = over_halfspace(q, at, 0.0, perp_feature(PERP_FEATURE_RIM, place));
        m->count += !lowest || q->springs || m->points[m->count].at.phi > q->s.phi + q->tolerance;
    }
    if (lowest) {
        const int feature = perp_feature(PERP_FEATURE_RIM, SPATIAL_RIM_RUNNING + face->face);
        m->points[m->count++] = over_halfspace(q, perp_vec3_make(0.0, 0.0, 0.0), 0.0, feature);
    }
}

static void on_halfspace(const spatial_query *q, perp_manifold *m)
{
    spatial_outline face;
    const bool capsule = q->a->kind == PERP_SPATIAL_SEGMENT;
    if (perp_spatial_outline_find(q->a, q->s.normal, q->tolerance, &face)) {
        if (q->a->kind == PERP_SPATIAL_CYLINDER) {
            end_on_halfspace(q, &face, m);
        } else {
            face_on_halfspace(q, &face, m);
        }
    } else if (capsule || q->a->kind == PERP_SPATIAL_CYLINDER) {
        perp_vec3 ends[2];
        perp_spatial_side(q->a, q->origin, q->s.normal, ends);
        m->count = 2;
        for (int k = 0; k < 2; k++) {
            const int feature = perp_feature(capsule ? PERP_FEATURE_CORNER : PERP_FEATURE_SIDE, k);
            m->points[k] = over_halfspace(q, ends[k], capsule ? q->a->radius : 0.0, feature);
        }
    } else {
        add_witness(q, m);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool unbounded(const perp_spatial_shape *shape)
{
    return shape->kind == PERP_SPATIAL_HALFSPACE || shape->kind == PERP_SPATIAL_HOLE;
}

/* Some unit t and o with t x o = n, cheaper than the contact's tangents; which ones makes no difference to a polygon.
 */
static void plane_axes(perp_vec3 n, perp_vec3 *t, perp_vec3 *o)
{
    const double sign = n.z < 0.0 ? -1.0 : 1.0, a = -1.0 / (sign + n.z), b = a * n.x * n.y;
    *t = perp_vec3_make(1.0 + sign * a * n.x * n.x, sign * b, -sign * n.x);
    *o = perp_vec3_make(b, sign + a * n.y * n.y, -n.y);
}

static bool one_point(const perp_spatial_shape *shape)
{
    return shape->kind == PERP_SPATIAL_POINT || shape->kind == PERP_SPATIAL_ELLIPSOID;
}

/* Has it corners that run, or more of them than a manifold shows? */
static bool chooses_corners(const perp_spatial_shape *shape)
{
    return shape->kind == PERP_SPATIAL_CYLINDER || shape->kind == PERP_SPATIAL_HULL;
}

/* The manifold of two faces without points that run or come and go with the tilt; false where fewer than three of
 * these overlap, so that they do not carry the faces. */
static bool stand_still(const spatial_query *q, perp_manifold *m)
{
    enum { CARRY = 3 };
    spatial_outline fa, fb;
    spatial_query still = *q;
    still.still = true;
    if (!(q->s.phi < 0.0) || !(chooses_corners(q->a) || chooses_corners(q->b)) ||
        !perp_spatial_outline_find(q->a, q->s.normal, q->tolerance, &fa)) {
        return false;
    }
    if (q->b->kind == PERP_SPATIAL_HALFSPACE) {
        on_halfspace(&still, m);
    } else if (perp_spatial_outline_find(q->b, spatial_negative(q->s.normal), q->tolerance, &fb) &&
               faces_face(fa.cosine, fb.cosine)) {
        meet(&still, &fa, &fb, false, m);
    }
    int overlapping = 0;
    for (int i = 0; i < m->count; i++) {
        overlapping += m->points[i].at.phi < 0.0 ? 1 : 0;
    }
    m->count = overlapping >= CARRY ? m->count : 0;
    return m->count > 0;
}

static perp_manifold build(const perp_spatial_shape *a, const perp_spatial_shape *b, double margin, bool still)
{
    perp_manifold m;
    m.count = 0;
    if (unbounded(a) && unbounded(b)) {
        return m;
    }
    if (a->kind == PERP_SPATIAL_HOLE || b->kind == PERP_SPATIAL_HOLE) {
        m = a->kind == PERP_SPATIAL_HOLE ? perp_spatial_hole_manifold(b, a) : perp_spatial_hole_manifold(a, b);
        if (a->kind == PERP_SPATIAL_HOLE) {
            perp_spatial_mirror(&m);
        }
        m.count = perp_manifold_least_gap(&m) <= margin ? m.count : 0;
        return m;
    }
    if (a->kind == PERP_SPATIAL_HALFSPACE) {
        m = build(b, a, margin, still);
        perp_spatial_turn_round(&m);
        return m;
    }
    perp_spatial_trace trace;
    spatial_query q = {.a = a, .b = b, .s = perp_spatial_distance_traced(a, b, margin, &trace), .springs = still};
    if (q.s.phi > margin) {
        return m;
    }
    q.tolerance = tie_tolerance(perp_spatial_shape_size(a) + perp_spatial_shape_size(b));
    q.origin = q.s.point_a;
    plane_axes(q.s.normal, &q.t, &q.o);
    if (one_point(a) || one_point(b)) {
        add_witness(&q, &m);
    } else if (still && stand_still(&q, &m)) {
        return m;
    } else if (b->kind == PERP_SPATIAL_HALFSPACE) {
        on_halfspace(&q, &m);
    } else {
        bodies(&q, &m);
    }
    return m;
}

perp_manifold perp_spatial_manifold_build(const perp_spatial_shape *a, const perp_spatial_shape *b, double margin)
{
    return build(a, b, margin, false);
}

perp_manifold perp_spatial_manifold_still(const perp_spatial_shape *a, const perp_spatial_shape *b, double margin)
{
    return build(a, b, margin, true);
}
