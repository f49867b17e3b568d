/* spatial_features.c - see spatial_features.h. */
#include "geometry/spatial_features.h"

#include "geometry/spatial_clip.h"
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

#include <assert.h>

static const int box_loops[6][4] = {{1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};

/* cos(22.5 k degrees), so that every machine has the same rim */
static const double rim_cosine[SPATIAL_RIM_PLACES] = {
    1.0,  0.92387953251128674,  0.70710678118654752,  0.38268343236508977,
    0.0,  -0.38268343236508977, -0.70710678118654752, -0.92387953251128674,
    -1.0, -0.92387953251128674, -0.70710678118654752, -0.38268343236508977,
    0.0,  0.38268343236508977,  0.70710678118654752,  0.92387953251128674};

static const double cos_half_step = 0.98078528040323044;

static double rim_sine(int place)
{
    return rim_cosine[(place + 12) % SPATIAL_RIM_PLACES];
}

static perp_vec3 to_local(const perp_spatial_shape *shape, perp_vec3 direction)
{
    return perp_mat3_tmul_vec(&shape->rotation, direction);
}

static perp_vec3 placed(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 local)
{
    return perp_vec3_add(perp_vec3_sub(shape->position, origin), perp_mat3_mul_vec(&shape->rotation, local));
}

static perp_vec3 column(const perp_mat3 *m, int k)
{
    return perp_vec3_make(m->m[k], m->m[3 + k], m->m[6 + k]);
}

static double component(perp_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* The edge along `axis` that the corner is an end of. */
static int box_edge(int axis, int corner)
{
    const int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2 & 1;
    return 4 * axis + (axis == 0 ? y + 2 * z : axis == 1 ? x + 2 * z : x + 2 * y);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int rim_place(double x, double y)
{
    int best = 0;
    for (int k = 1; k < SPATIAL_RIM_PLACES; k++) {
        best = rim_cosine[k] * x + rim_sine(k) * y > rim_cosine[best] * x + rim_sine(best) * y ? k : best;
    }
    return best;
}

static int box_feature_at(const perp_spatial_shape *box, perp_vec3 x, double tolerance)
{
    const perp_vec3 h = box->half_lengths;
    const double depth[3] = {h.x - fabs(x.x), h.y - fabs(x.y), h.z - fabs(x.z)};
    const int corner = (x.x > 0.0 ? 1 : 0) + (x.y > 0.0 ? 2 : 0) + (x.z > 0.0 ? 4 : 0);
    int on = 0, least = 0, free_axis = 0;
    for (int k = 0; k < 3; k++) {
        const bool at = depth[k] <= tolerance;
        on += at ? 1 : 0;
        free_axis = at ? free_axis : k;
        least = depth[k] < depth[least] ? k : least;
    }
    if (on == 3) {
        return perp_feature(PERP_FEATURE_CORNER, corner);
    }
    if (on == 2) {
        return perp_feature(PERP_FEATURE_EDGE, box_edge(free_axis, corner));
    }
    return perp_feature(PERP_FEATURE_FACE, 2 * least + (corner >> least & 1 ? 0 : 1));
}

/* The edge between two corners of a hull. */
static int hull_edge(const perp_spatial_hull *hull, int from, int to)
{
    for (int k = hull->corner_start[from]; k < hull->corner_start[from + 1]; k++) {
        const int edge = hull->corner_edges[k];
        if (hull->edges[edge].corners[0] == to || hull->edges[edge].corners[1] == to) {
            return edge;
        }
    }
    return hull->corner_edges[hull->corner_start[from]]; /* corners between were left out: the edge begins like this */
}

static double from_segment(perp_vec3 x, perp_vec3 p, perp_vec3 q)
{
    const perp_vec3 d = perp_vec3_sub(q, p), r = perp_vec3_sub(x, p);
    const double length2 = perp_vec3_dot(d, d), t = length2 > 0.0 ? perp_vec3_dot(r, d) / length2 : 0.0;
    return perp_vec3_norm(perp_vec3_add_scaled(r, -fmin(fmax(t, 0.0), 1.0), d));
}

static int hull_feature_at(const perp_spatial_hull *hull, perp_vec3 x, double tolerance)
{
    int best = 0;
    double highest = -INFINITY;
    for (int f = 0; f < hull->face_count; f++) {
        const double over = perp_vec3_dot(hull->faces[f].normal, x) - hull->faces[f].offset;
        if (over > highest && perp_vec3_dot(hull->faces[f].normal, hull->faces[f].normal) > 0.5) {
            highest = over;
            best = f;
        }
    }
    const perp_spatial_face *face = &hull->faces[best];
    const int *loop = &hull->loops[face->start];
    int on_edge = -1;
    for (int k = 0; k < face->count; k++) {
        const int from = loop[k], to = loop[k + 1 < face->count ? k + 1 : 0];
        if (perp_vec3_norm(perp_vec3_sub(x, hull->corners[from])) <= tolerance) {
            return perp_feature(PERP_FEATURE_CORNER, from);
        }
        on_edge = from_segment(x, hull->corners[from], hull->corners[to]) <= tolerance ? k : on_edge;
    }
    if (on_edge >= 0) {
        const int from = loop[on_edge], to = loop[on_edge + 1 < face->count ? on_edge + 1 : 0];
        return perp_feature(PERP_FEATURE_EDGE, hull_edge(hull, from, to));
    }
    return perp_feature(PERP_FEATURE_FACE, best);
}

static int cylinder_feature_at(const perp_spatial_shape *c, perp_vec3 x, double tolerance)
{
    const int end = x.z > 0.0 ? 1 : 0;
    const bool at_end = fabs(x.z) >= c->half_length - tolerance;
    const bool at_side = sqrt(x.x * x.x + x.y * x.y) >= c->radius - tolerance;
    if (at_end && at_side) {
        return perp_feature(PERP_FEATURE_RIM, SPATIAL_RIM_RUNNING + end);
    }
    return at_end ? perp_feature(PERP_FEATURE_FACE, end) : perp_feature(PERP_FEATURE_SIDE, 2);
}

int perp_spatial_feature_at(const perp_spatial_shape *shape, perp_vec3 point_world, double tolerance)
{
    const perp_vec3 x = to_local(shape, perp_vec3_sub(point_world, shape->position));
    switch (shape->kind) {
    case PERP_SPATIAL_POINT:
        return perp_feature(PERP_FEATURE_CORNER, 0);
    case PERP_SPATIAL_SEGMENT:
        return fabs(x.z) < shape->half_length - tolerance ? perp_feature(PERP_FEATURE_EDGE, 0)
                                                          : perp_feature(PERP_FEATURE_CORNER, x.z > 0.0 ? 1 : 0);
    case PERP_SPATIAL_BOX:
        return box_feature_at(shape, x, tolerance);
    case PERP_SPATIAL_HULL:
        return hull_feature_at(shape->hull, x, tolerance);
    case PERP_SPATIAL_CYLINDER:
        return cylinder_feature_at(shape, x, tolerance);
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return perp_feature(PERP_FEATURE_SURFACE, 0);
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

static int box_face(perp_vec3 d)
{
    int best = 0;
    for (int k = 1; k < 3; k++) {
        best = fabs(component(d, k)) > fabs(component(d, best)) + EQUALLY_ALIGNED ? k : best;
    }
    return 2 * best + (component(d, best) < 0.0 ? 1 : 0);
}

/* The search for a hull's face: corners at the top, and faces that have one. */
typedef struct top_search {
    const perp_spatial_hull *hull;
    perp_vec3 d;
    double level; /* corners are at the top from here on */
    int corner_count, corners[SPATIAL_TOP_MAX], face_count, faces[SPATIAL_TOP_MAX];
    int best, held;
    double cosine;
} top_search;

/* True if it was added. */
static bool add_once(int *list, int *count, int value)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == value) {
            return false;
        }
    }
    if (*count == SPATIAL_TOP_MAX) {
        return false;
    }
    list[(*count)++] = value;
    return true;
}

static void offer_face(top_search *t, int f)
{
    const perp_spatial_face *face = &t->hull->faces[f];
    if (!add_once(t->faces, &t->face_count, f) || perp_vec3_dot(face->normal, face->normal) < 0.5) {
        return; /* a face of no area has no normal */
    }
    const double c = perp_vec3_dot(face->normal, t->d);
    int held = 0;
    for (int i = 0; i < face->count; i++) {
        held += perp_vec3_dot(t->d, t->hull->corners[t->hull->loops[face->start + i]]) >= t->level ? 1 : 0;
    }
    const bool level_with = held == t->held && fabs(c - t->cosine) <= EQUALLY_ALIGNED;
    if (held > t->held || (held == t->held && c > t->cosine + EQUALLY_ALIGNED) || (level_with && f < t->best)) {
        t->best = f;
        t->held = held;
        t->cosine = c;
    }
}

/* Looks at all corners at the top, and not at the farthest alone: which one that is may be rounding. */
static int hull_face(const perp_spatial_hull *hull, perp_vec3 d, double tolerance)
{
    const int top = perp_spatial_hull_support(hull, d, 0);
    /* the normal may be off by what tilts the shape by the tolerance, either way */
    top_search t = {.hull = hull,
                    .d = d,
                    .level = perp_vec3_dot(d, hull->corners[top]) - 4.0 * tolerance,
                    .best = -1,
                    .cosine = -INFINITY};
    add_once(t.corners, &t.corner_count, top);
    for (int i = 0; i < t.corner_count; i++) {
        const int at = t.corners[i];
        for (int k = hull->corner_start[at]; k < hull->corner_start[at + 1]; k++) {
            const perp_spatial_edge *edge = &hull->edges[hull->corner_edges[k]];
            const int to = edge->corners[0] == at ? edge->corners[1] : edge->corners[0];
            offer_face(&t, edge->faces[0]);
            offer_face(&t, edge->faces[1]);
            if (perp_vec3_dot(d, hull->corners[to]) >= t.level) {
                add_once(t.corners, &t.corner_count, to);
            }
        }
    }
    return t.best;
}

bool perp_spatial_outline_find(const perp_spatial_shape *shape, perp_vec3 direction, double tolerance,
                               spatial_outline *outline)
{
    const perp_vec3 d = to_local(shape, direction);
    outline->shape = shape;
    outline->count = 0;
    switch (shape->kind) {
    case PERP_SPATIAL_BOX: {
        outline->face = box_face(d);
        const perp_vec3 axis = column(&shape->rotation, outline->face / 2);
        outline->normal = outline->face % 2 ? perp_vec3_scale(-1.0, axis) : axis;
        break;
    }
    case PERP_SPATIAL_HULL:
        outline->face = hull_face(shape->hull, d, tolerance);
        if (outline->face < 0) {
            return false;
        }
        outline->normal = perp_mat3_mul_vec(&shape->rotation, shape->hull->faces[outline->face].normal);
        break;
    case PERP_SPATIAL_CYLINDER:
        if (fabs(d.z) < 0.70710678118654752 - EQUALLY_ALIGNED) {
            return false;
        }
        outline->face = d.z > 0.0 ? 1 : 0;
        outline->normal = perp_vec3_scale(d.z > 0.0 ? 1.0 : -1.0, spatial_axis(shape));
        break;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        return false;
    }
    outline->cosine = perp_vec3_dot(outline->normal, direction);
    return true;
}

/* The faces that have the direction of the first, over shared edges; it is one of them. */
static int flat_faces(const perp_spatial_hull *hull, int first, int faces[SPATIAL_PLANES_MAX])
{
    const perp_vec3 n = hull->faces[first].normal;
    int count = 1;
    faces[0] = first;
    for (int k = 0; k < count; k++) {
        const perp_spatial_face *face = &hull->faces[faces[k]];
        const int *loop = &hull->loops[face->start];
        for (int i = 0; i < face->count && count < SPATIAL_PLANES_MAX; i++) {
            const perp_spatial_edge *edge =
                &hull->edges[hull_edge(hull, loop[i], loop[i + 1 < face->count ? i + 1 : 0])];
            const int f = edge->faces[0] == faces[k] ? edge->faces[1] : edge->faces[0];
            bool known = perp_vec3_dot(hull->faces[f].normal, n) < SAME_DIRECTION_COSINE;
            for (int j = 0; j < count; j++) {
                known = known || faces[j] == f;
            }
            if (!known) {
                faces[count++] = f;
            }
        }
    }
    return count;
}

/* Corners of several faces, and where they are in the plane of the first. */
typedef struct flat_corners {
    int count;
    int index[SPATIAL_THIN_MAX];
    double x[SPATIAL_THIN_MAX], y[SPATIAL_THIN_MAX];
} flat_corners;

static double turning(const flat_corners *c, int i, int j, int k)
{
    return (c->x[j] - c->x[i]) * (c->y[k] - c->y[i]) - (c->y[j] - c->y[i]) * (c->x[k] - c->x[i]);
}

/* Their convex polygon, counter-clockwise, without corners in line: sorted by x and y, then the lower and the upper
 * chain. `ring` has room for all. */
static int wrap(flat_corners *c, int *ring)
{
    for (int i = 1; i < c->count; i++) {
        const int index = c->index[i];
        const double x = c->x[i], y = c->y[i];
        int k = i;
        for (; k > 0 && (c->x[k - 1] > x || (c->x[k - 1] == x && c->y[k - 1] > y)); k--) {
            c->index[k] = c->index[k - 1];
            c->x[k] = c->x[k - 1];
            c->y[k] = c->y[k - 1];
        }
        c->index[k] = index;
        c->x[k] = x;
        c->y[k] = y;
    }
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        const int base = count;
        for (int s = 0; s < c->count; s++) {
            const int i = pass == 0 ? s : c->count - 1 - s;
            while (count >= base + 2 && turning(c, ring[count - 2], ring[count - 1], i) <= 0.0) {
                count--;
            }
            ring[count++] = i;
        }
        count--; /* the end of one chain begins the other */
    }
    return count;
}

/* Of the corners that are farthest along the direction, to half the tolerance, the one of lowest index. */
static int farthest_corner(const perp_spatial_hull *hull, const int *faces, int face_count, perp_vec3 d,
                           double tolerance)
{
    double level = -INFINITY;
    int top = hull->corner_count;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < face_count; k++) {
            for (int i = 0; i < hull->faces[faces[k]].count; i++) {
                const int corner = hull->loops[hull->faces[faces[k]].start + i];
                const double along = perp_vec3_dot(d, hull->corners[corner]);
                if (pass == 0) {
                    level = fmax(level, along);
                } else if (along >= level - 0.5 * tolerance && corner < top) {
                    top = corner;
                }
            }
        }
    }
    return top;
}

/* Corners of the faces, each once; of more than there is room for every step-th, and `top`. */
static void collect(const perp_spatial_hull *hull, const int *faces, int face_count, int top, flat_corners *c)
{
    perp_vec3 t, u;
    perp_tangents(hull->faces[faces[0]].normal, &t, &u);
    int total = 0;
    for (int k = 0; k < face_count; k++) {
        total += hull->faces[faces[k]].count;
    }
    const int step = (total + SPATIAL_THIN_MAX - 2) / (SPATIAL_THIN_MAX - 1);
    int seen = 0;
    c->count = 0;
    for (int k = 0; k < face_count; k++) {
        for (int i = 0; i < hull->faces[faces[k]].count; i++, seen++) {
            const int corner = hull->loops[hull->faces[faces[k]].start + i];
            bool known = seen % step != 0;
            for (int j = 0; j < c->count && k > 0; j++) {
                known = known || c->index[j] == corner;
            }
            if (!known) {
                c->index[c->count++] = corner;
            }
        }
    }
    bool has_top = false;
    for (int j = 0; j < c->count; j++) {
        has_top = has_top || c->index[j] == top;
    }
    if (!has_top) {
        c->index[c->count++] = top;
    }
    for (int j = 0; j < c->count; j++) {
        c->x[j] = perp_vec3_dot(t, hull->corners[c->index[j]]);
        c->y[j] = perp_vec3_dot(u, hull->corners[c->index[j]]);
    }
}

/* Faces that are several, or of many corners. The farthest corner stays; that of several it is always the same one
 * keeps the polygon the same while the shape lies still to rounding. */
static void trace_wrapped(spatial_outline *o, perp_vec3 d, const int *faces, int face_count, double tolerance)
{
    const perp_spatial_hull *hull = o->shape->hull;
    const int top = farthest_corner(hull, faces, face_count, d, tolerance);
    flat_corners c;
    int ring[SPATIAL_THIN_MAX + 2], left[SPATIAL_THIN_MAX], kept = 0;
    double x[SPATIAL_THIN_MAX], y[SPATIAL_THIN_MAX];
    collect(hull, faces, face_count, top, &c);
    const int count = wrap(&c, ring);
    for (int i = 0; i < count; i++) {
        x[i] = c.x[ring[i]];
        y[i] = c.y[ring[i]];
        kept = c.index[ring[i]] == top ? i : kept;
    }
    const spatial_thinning thinning = {.x = x, .y = y, .kept = kept};
    o->count = perp_spatial_thin(&thinning, count, SPATIAL_OUTLINE_MAX, left);
    for (int i = 0; i < o->count; i++) {
        o->places[i] = c.index[ring[left[i]]];
    }
}

static void trace_hull(spatial_outline *o, perp_vec3 origin, perp_vec3 d, double tolerance)
{
    const perp_spatial_hull *hull = o->shape->hull;
    int faces[SPATIAL_PLANES_MAX] = {0};
    o->plane_count = flat_faces(hull, o->face, faces);
    const perp_spatial_face *face = &hull->faces[o->face];
    if (o->plane_count > 1 || face->count > SPATIAL_OUTLINE_MAX) {
        trace_wrapped(o, d, faces, o->plane_count, tolerance);
    } else {
        o->count = face->count;
        for (int i = 0; i < face->count; i++) {
            o->places[i] = hull->loops[face->start + i];
        }
    }
    for (int i = 0; i < o->count; i++) {
        o->corners[i] = placed(o->shape, origin, hull->corners[o->places[i]]);
    }
    for (int k = 0; k < o->plane_count; k++) {
        const perp_spatial_face *f = &hull->faces[faces[k]];
        o->plane_normals[k] = perp_mat3_mul_vec(&o->shape->rotation, f->normal);
        o->plane_points[k] = placed(o->shape, origin, hull->corners[hull->loops[f->start]]);
        o->face = faces[k] < o->face ? faces[k] : o->face;
    }
}

static double rim_reach(perp_vec3 x)
{
    return sqrt(x.x * x.x + x.y * x.y);
}

static void trace_end(spatial_outline *o, const spatial_view *view)
{
    const perp_spatial_shape *c = o->shape;
    const double z = o->face == 1 ? c->half_length : -c->half_length;
    const perp_vec3 d = to_local(c, view->direction);
    const perp_vec3 w = to_local(c, perp_vec3_sub(view->witness, perp_vec3_sub(c->position, view->origin)));
    /* half-way between two places, whatever the direction: the corner does not give way to a place as it passes it */
    const double gain = (1.0 - cos_half_step) * c->radius * rim_reach(d);
    const bool to_witness = view->anyway || rim_reach(w) >= (1.0 - WITNESS_KNOWN) * c->radius;
    const perp_vec3 to = to_witness ? w : d;
    const double reach = rim_reach(to);
    const int moved = (view->anyway || gain > view->tolerance) && reach > 0.0 ? rim_place(to.x, to.y) : -1;
    o->count = SPATIAL_RIM_PLACES;
    for (int i = 0; i < SPATIAL_RIM_PLACES; i++) {
        const int place = o->face == 1 || i == 0 ? i : SPATIAL_RIM_PLACES - i;
        const double x = place == moved ? to.x / reach : rim_cosine[place];
        const double y = place == moved ? to.y / reach : rim_sine(place);
        o->places[i] = place;
        o->running = place == moved ? i : o->running;
        o->corners[i] = placed(c, view->origin, perp_vec3_make(c->radius * x, c->radius * y, z));
    }
}

void perp_spatial_outline_trace(spatial_outline *outline, const spatial_view *view)
{
    const perp_spatial_shape *shape = outline->shape;
    outline->plane_count = 0;
    outline->running = -1;
    if (shape->kind == PERP_SPATIAL_BOX) {
        outline->count = 4;
        for (int i = 0; i < 4; i++) {
            outline->places[i] = box_loops[outline->face][i];
            outline->corners[i] =
                placed(shape, view->origin, spatial_box_corner(shape->half_lengths, outline->places[i]));
        }
    } else if (shape->kind == PERP_SPATIAL_HULL) {
        trace_hull(outline, view->origin, to_local(shape, view->direction), view->tolerance);
    } else {
        trace_end(outline, view);
    }
    if (outline->plane_count == 0) {
        outline->plane_count = 1;
        outline->plane_normals[0] = outline->normal;
        outline->plane_points[0] = outline->corners[0];
    }
}

int perp_spatial_outline_corner(const spatial_outline *outline, int i)
{
    const perp_spatial_shape *shape = outline->shape;
    const int place = outline->places[i];
    if (shape->kind != PERP_SPATIAL_CYLINDER) {
        return perp_feature(PERP_FEATURE_CORNER, place);
    }
    return perp_feature(PERP_FEATURE_RIM, i == outline->running ? SPATIAL_RIM_RUNNING + outline->face
                                                                : SPATIAL_RIM_PLACES * outline->face + place);
}

int perp_spatial_outline_edge(const spatial_outline *outline, int i)
{
    const perp_spatial_shape *shape = outline->shape;
    const int j = i + 1 < outline->count ? i + 1 : 0;
    if (shape->kind == PERP_SPATIAL_CYLINDER) { /* the arc from the lower of the two places */
        return perp_feature(PERP_FEATURE_RIM,
                            SPATIAL_RIM_PLACES * outline->face + outline->places[outline->face == 1 ? i : j]);
    }
    const int from = outline->places[i], to = outline->places[j];
    if (shape->kind == PERP_SPATIAL_BOX) {
        const int across = from ^ to;
        return perp_feature(PERP_FEATURE_EDGE, box_edge(across == 1 ? 0 : across == 2 ? 1 : 2, from));
    }
    return perp_feature(PERP_FEATURE_EDGE, hull_edge(shape->hull, from, to));
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static const double square_sine = 0.0998334166468281523; /* 0.1 rad */

/* A sharp edge between two local corners whose faces have the outer normals f and g, local. */
static spatial_line sharp_line(const perp_spatial_shape *shape, perp_vec3 origin, const perp_vec3 corners[2],
                               perp_vec3 f, perp_vec3 g)
{
    spatial_line line = {.kind = shape->kind};
    line.ends[0] = placed(shape, origin, corners[0]);
    line.ends[1] = placed(shape, origin, corners[1]);
    const perp_vec3 d = perp_vec3_sub(corners[1], corners[0]);
    line.length = perp_vec3_norm(d);
    line.along = perp_mat3_mul_vec(&shape->rotation, perp_vec3_normalise(d));
    const double c = perp_vec3_dot(f, g);
    const perp_vec3 into_f = perp_vec3_normalise(perp_vec3_sub(perp_vec3_scale(c, f), g));
    const perp_vec3 into_g = perp_vec3_normalise(perp_vec3_sub(perp_vec3_scale(c, g), f));
    line.into[0] = perp_mat3_mul_vec(&shape->rotation, into_f);
    line.into[1] = perp_mat3_mul_vec(&shape->rotation, into_g);
    return line;
}

/* The edge along `axis` that the corner is an end of. */
static spatial_line box_line(const perp_spatial_shape *box, perp_vec3 origin, int axis, int corner)
{
    const int i = axis == 0 ? 1 : 0, j = axis == 2 ? 1 : 2;
    const int low = corner & ~(1 << axis), high = corner | 1 << axis;
    const perp_vec3 ends[2] = {spatial_box_corner(box->half_lengths, low), spatial_box_corner(box->half_lengths, high)};
    const double si = corner >> i & 1 ? 1.0 : -1.0, sj = corner >> j & 1 ? 1.0 : -1.0;
    const perp_vec3 f = perp_vec3_make(i == 0 ? si : 0.0, i == 1 ? si : 0.0, 0.0);
    const perp_vec3 g = perp_vec3_make(0.0, j == 1 ? sj : 0.0, j == 2 ? sj : 0.0);
    spatial_line line = sharp_line(box, origin, ends, f, g);
    line.edge = perp_feature(PERP_FEATURE_EDGE, box_edge(axis, corner));
    line.corners[0] = perp_feature(PERP_FEATURE_CORNER, low);
    line.corners[1] = perp_feature(PERP_FEATURE_CORNER, high);
    return line;
}

static int box_lines(const perp_spatial_shape *box, perp_vec3 origin, perp_vec3 d, perp_vec3 x, double tolerance,
                     spatial_line *lines)
{
    int count = 0;
    const perp_vec3 h = box->half_lengths;
    const int corner = (x.x > 0.0 ? 1 : 0) + (x.y > 0.0 ? 2 : 0) + (x.z > 0.0 ? 4 : 0);
    for (int axis = 0; axis < 3; axis++) {
        const int i = axis == 0 ? 1 : 0, j = axis == 2 ? 1 : 2;
        const bool on = fabs(component(x, i)) >= component(h, i) - tolerance &&
                        fabs(component(x, j)) >= component(h, j) - tolerance;
        if (on && fabs(component(d, axis)) <= square_sine) {
            lines[count++] = box_line(box, origin, axis, corner);
        }
    }
    return count;
}

static spatial_line hull_line(const perp_spatial_shape *shape, perp_vec3 origin, int index)
{
    const perp_spatial_hull *hull = shape->hull;
    const perp_spatial_edge *edge = &hull->edges[index];
    const perp_vec3 ends[2] = {hull->corners[edge->corners[0]], hull->corners[edge->corners[1]]};
    spatial_line line =
        sharp_line(shape, origin, ends, hull->faces[edge->faces[0]].normal, hull->faces[edge->faces[1]].normal);
    line.edge = perp_feature(PERP_FEATURE_EDGE, index);
    line.corners[0] = perp_feature(PERP_FEATURE_CORNER, edge->corners[0]);
    line.corners[1] = perp_feature(PERP_FEATURE_CORNER, edge->corners[1]);
    return line;
}

static int hull_lines(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 d, perp_vec3 x, double tolerance,
                      spatial_line *lines)
{
    const perp_spatial_hull *hull = shape->hull;
    const int top = perp_spatial_hull_support(hull, d, 0);
    int count = 0;
    for (int k = hull->corner_start[top]; k < hull->corner_start[top + 1] && count < SPATIAL_LINES_MAX; k++) {
        const int index = hull->corner_edges[k];
        const perp_spatial_edge *edge = &hull->edges[index];
        const perp_vec3 *from = &hull->corners[edge->corners[0]], *to = &hull->corners[edge->corners[1]];
        if (fabs(perp_vec3_dot(edge->along, d)) <= square_sine && from_segment(x, *from, *to) <= tolerance) {
            lines[count++] = hull_line(shape, origin, index);
        }
    }
    return count;
}

bool perp_spatial_outline_line(const spatial_outline *outline, int i, perp_vec3 origin, spatial_line *line)
{
    const perp_spatial_shape *shape = outline->shape;
    const int from = outline->places[i], to = outline->places[i + 1 < outline->count ? i + 1 : 0], across = from ^ to;
    if (shape->kind == PERP_SPATIAL_BOX) {
        *line = box_line(shape, origin, across == 1 ? 0 : across == 2 ? 1 : 2, from);
    } else if (shape->kind == PERP_SPATIAL_HULL) {
        *line = hull_line(shape, origin, hull_edge(shape->hull, from, to));
    }
    return shape->kind == PERP_SPATIAL_BOX || shape->kind == PERP_SPATIAL_HULL;
}

static int axis_line(const perp_spatial_shape *shape, perp_vec3 origin, spatial_line *line)
{
    const bool capsule = shape->kind == PERP_SPATIAL_SEGMENT;
    const perp_feature_kind kind = capsule ? PERP_FEATURE_CORNER : PERP_FEATURE_SIDE;
    *line = (spatial_line){.kind = shape->kind,
                           .along = spatial_axis(shape),
                           .length = 2.0 * shape->half_length,
                           .radius = shape->radius,
                           .edge = capsule ? perp_feature(PERP_FEATURE_EDGE, 0) : perp_feature(PERP_FEATURE_SIDE, 2),
                           .corners = {perp_feature(kind, 0), perp_feature(kind, 1)}};
    line->ends[0] = placed(shape, origin, perp_vec3_make(0.0, 0.0, -shape->half_length));
    line->ends[1] = placed(shape, origin, perp_vec3_make(0.0, 0.0, shape->half_length));
    return 1;
}

int perp_spatial_lines(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 direction, perp_vec3 witness,
                       double tolerance, spatial_line lines[SPATIAL_LINES_MAX])
{
    const perp_vec3 d = to_local(shape, direction);
    const perp_vec3 x = to_local(shape, perp_vec3_sub(witness, perp_vec3_sub(shape->position, origin)));
    switch (shape->kind) {
    case PERP_SPATIAL_BOX:
        return box_lines(shape, origin, d, x, tolerance, lines);
    case PERP_SPATIAL_HULL:
        return hull_lines(shape, origin, d, x, tolerance, lines);
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_CYLINDER:
        return fabs(d.z) <= square_sine ? axis_line(shape, origin, lines) : 0;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return 0;
}

void perp_spatial_side(const perp_spatial_shape *shape, perp_vec3 origin, perp_vec3 direction, perp_vec3 ends[2])
{
    const perp_vec3 d = to_local(shape, direction);
    const double reach = sqrt(d.x * d.x + d.y * d.y);
    const double r = shape->kind == PERP_SPATIAL_CYLINDER && reach > 0.0 ? shape->radius / reach : 0.0;
    ends[0] = placed(shape, origin, perp_vec3_make(r * d.x, r * d.y, -shape->half_length));
    ends[1] = placed(shape, origin, perp_vec3_make(r * d.x, r * d.y, shape->half_length));
}
