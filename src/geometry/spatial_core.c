/* spatial_core.c - supports and faces of the cores. */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

#include <assert.h>

double perp_spatial_shape_size(const perp_spatial_shape *shape)
{
    switch (shape->kind) {
    case PERP_SPATIAL_SEGMENT:
        return 2.0 * shape->half_length;
    case PERP_SPATIAL_BOX:
        return 2.0 * perp_vec3_norm(shape->half_lengths);
    case PERP_SPATIAL_HULL:
        return shape->hull->size;
    case PERP_SPATIAL_CYLINDER:
        return 2.0 * hypot(shape->radius, shape->half_length);
    case PERP_SPATIAL_ELLIPSOID:
        return 2.0 * fmax(shape->half_lengths.x, fmax(shape->half_lengths.y, shape->half_lengths.z));
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return 0.0;
}

static void place(const perp_spatial_shape *shape, spatial_core *core)
{
    assert(shape->kind <= PERP_SPATIAL_ELLIPSOID); /* others are not convex and bounded: they have no core */
    core->kind = shape->kind;
    core->half = shape->half_lengths;
    core->half_length = shape->half_length;
    core->radius = shape->radius;
    core->hull = shape->hull;
    core->size = perp_spatial_shape_size(shape);
    core->hint = 0;
}

void perp_spatial_pair_place(const perp_spatial_shape *a, const perp_spatial_shape *b, double limit, spatial_pair *pair)
{
    place(a, &pair->a);
    place(b, &pair->b);
    const perp_mat3 *r = &a->rotation, *s = &b->rotation;
    pair->a.turned = false;
    pair->a.position = perp_vec3_make(0.0, 0.0, 0.0);
    pair->b.turned = true;
    pair->b.position = perp_mat3_tmul_vec(r, perp_vec3_sub(b->position, a->position));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            pair->b.rotation.m[3 * i + j] = r->m[i] * s->m[j] + r->m[3 + i] * s->m[3 + j] + r->m[6 + i] * s->m[6 + j];
        }
    }
    pair->extent = perp_vec3_norm(pair->b.position) + pair->a.size + pair->b.size;
    pair->tolerance = tie_tolerance(pair->a.size + pair->b.size);
    pair->limit = limit;
    pair->wary = false;
}

/* ---- supports ---------------------------------------------------------------------------------------------------- */

enum { SEARCH_ALL = 32 }; /* corners; larger hulls are climbed */

static void look_at(const perp_spatial_hull *hull, perp_vec3 d, int corner, double *farthest, int *best)
{
    const double s = perp_vec3_dot(d, hull->corners[corner]);
    if (s > *farthest) {
        *farthest = s;
        *best = corner;
    }
}

/* The corners of all faces at a corner. The border of a face that was joined from nearly flat triangles may turn
 * inwards at a corner by rounding, and along such edges alone a climb may end there, far from the top. */
static void look_over_faces(const perp_spatial_hull *hull, perp_vec3 d, int from, double *farthest, int *best)
{
    for (int k = hull->corner_start[from]; k < hull->corner_start[from + 1]; k++) {
        for (int side = 0; side < 2; side++) {
            const perp_spatial_face *face = &hull->faces[hull->edges[hull->corner_edges[k]].faces[side]];
            for (int i = 0; i < face->count; i++) {
                look_at(hull, d, hull->loops[face->start + i], farthest, best);
            }
        }
    }
}

int perp_spatial_hull_support(const perp_spatial_hull *hull, perp_vec3 d, int start)
{
    int best = start;
    double farthest = perp_vec3_dot(d, hull->corners[best]);
    if (hull->corner_count <= SEARCH_ALL) {
        for (int i = 0; i < hull->corner_count; i++) {
            look_at(hull, d, i, &farthest, &best);
        }
        return best;
    }
    for (int from = -1; from != best;) { /* a corner that nothing around it tops is the top: the hull is convex */
        from = best;
        for (int k = hull->corner_start[from]; k < hull->corner_start[from + 1]; k++) {
            const int *ends = hull->edges[hull->corner_edges[k]].corners;
            look_at(hull, d, ends[0] == from ? ends[1] : ends[0], &farthest, &best);
        }
        if (from == best) {
            look_over_faces(hull, d, from, &farthest, &best);
        }
    }
    return best;
}

perp_vec3 perp_spatial_corner(const spatial_core *core, int id)
{
    switch (core->kind) {
    case PERP_SPATIAL_SEGMENT:
        return perp_vec3_make(0.0, 0.0, id ? core->half_length : -core->half_length);
    case PERP_SPATIAL_BOX:
        return spatial_box_corner(core->half, id);
    case PERP_SPATIAL_HULL:
        return core->hull->corners[id];
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_CYLINDER:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return perp_vec3_make(0.0, 0.0, 0.0);
}

static perp_vec3 support_cylinder(const spatial_core *core, perp_vec3 d, int *id)
{
    const double across = sqrt(d.x * d.x + d.y * d.y);
    const double x = across > 0.0 ? core->radius * (d.x / across) : core->radius;
    const double y = across > 0.0 ? core->radius * (d.y / across) : 0.0;
    *id = d.z > 0.0 ? 1 : 0;
    return perp_vec3_make(x, y, d.z > 0.0 ? core->half_length : -core->half_length);
}

static perp_vec3 support_ellipsoid(const spatial_core *core, perp_vec3 d)
{
    const perp_vec3 h = core->half, s = perp_vec3_make(h.x * d.x, h.y * d.y, h.z * d.z);
    const double length = perp_vec3_norm(s);
    if (!(length > 0.0)) {
        return perp_vec3_make(h.x, 0.0, 0.0);
    }
    return perp_vec3_make(h.x * (s.x / length), h.y * (s.y / length), h.z * (s.z / length));
}

perp_vec3 perp_spatial_support_local(spatial_core *core, perp_vec3 d, int *id)
{
    switch (core->kind) {
    case PERP_SPATIAL_SEGMENT:
        *id = d.z > 0.0;
        return perp_vec3_make(0.0, 0.0, d.z > 0.0 ? core->half_length : -core->half_length);
    case PERP_SPATIAL_BOX:
        *id = (d.x > 0.0 ? 1 : 0) + (d.y > 0.0 ? 2 : 0) + (d.z > 0.0 ? 4 : 0);
        return spatial_box_corner(core->half, *id);
    case PERP_SPATIAL_HULL:
        *id = core->hint = perp_spatial_hull_support(core->hull, d, core->hint);
        return core->hull->corners[*id];
    case PERP_SPATIAL_CYLINDER:
        return support_cylinder(core, d, id);
    case PERP_SPATIAL_ELLIPSOID:
        *id = -1;
        return support_ellipsoid(core, d);
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    *id = 0;
    return perp_vec3_make(0.0, 0.0, 0.0);
}

spatial_point perp_spatial_support(spatial_core *core, perp_vec3 direction)
{
    spatial_point p;
    p.at = spatial_point_of(core, perp_spatial_support_local(core, spatial_to_local(core, direction), &p.id));
    return p;
}

spatial_difference perp_spatial_lowest(spatial_pair *pair, perp_vec3 normal)
{
    spatial_difference x = {.on_a = perp_spatial_support(&pair->a, normal),
                            .on_b = perp_spatial_support(&pair->b, spatial_negative(normal))};
    x.w = perp_vec3_sub(x.on_b.at, x.on_a.at);
    return x;
}

double perp_spatial_gap_along(spatial_pair *pair, perp_vec3 normal)
{
    return perp_vec3_dot(normal, perp_spatial_lowest(pair, normal).w);
}

bool perp_spatial_curved(const spatial_pair *pair)
{
    return pair->a.kind >= PERP_SPATIAL_CYLINDER || pair->b.kind >= PERP_SPATIAL_CYLINDER;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

int perp_spatial_face_count(const spatial_core *core)
{
    switch (core->kind) {
    case PERP_SPATIAL_BOX:
        return 6;
    case PERP_SPATIAL_HULL:
        return core->hull->face_count;
    case PERP_SPATIAL_CYLINDER:
        return 2;
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_SEGMENT:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return 0;
}

perp_vec3 perp_spatial_face_normal(const spatial_core *core, int face, double *offset)
{
    if (core->kind == PERP_SPATIAL_HULL) {
        *offset = core->hull->faces[face].offset;
        return core->hull->faces[face].normal;
    }
    if (core->kind == PERP_SPATIAL_CYLINDER) {
        *offset = core->half_length;
        return perp_vec3_make(0.0, 0.0, face ? 1.0 : -1.0);
    }
    const double sign = face & 1 ? -1.0 : 1.0;
    *offset = face < 2 ? core->half.x : face < 4 ? core->half.y : core->half.z;
    return perp_vec3_make(face < 2 ? sign : 0.0, face >= 2 && face < 4 ? sign : 0.0, face >= 4 ? sign : 0.0);
}

static double inside_hull_face(const perp_spatial_hull *hull, const perp_spatial_face *face, perp_vec3 x)
{
    double least = INFINITY;
    const int *loop = &hull->loops[face->start];
    for (int k = 0; k < face->count; k++) {
        const perp_vec3 from = hull->corners[loop[k]], to = hull->corners[loop[k + 1 < face->count ? k + 1 : 0]];
        const perp_vec3 inward = perp_vec3_cross(face->normal, perp_vec3_sub(to, from));
        const double length = perp_vec3_norm(inward);
        if (length > 0.0) {
            least = fmin(least, perp_vec3_dot(inward, perp_vec3_sub(x, from)) / length);
        }
    }
    return least;
}

double perp_spatial_face_inside(const spatial_core *core, int face, perp_vec3 x)
{
    if (core->kind == PERP_SPATIAL_HULL) {
        return inside_hull_face(core->hull, &core->hull->faces[face], x);
    }
    if (core->kind == PERP_SPATIAL_CYLINDER) {
        return core->radius - sqrt(x.x * x.x + x.y * x.y);
    }
    const double dx = core->half.x - fabs(x.x), dy = core->half.y - fabs(x.y), dz = core->half.z - fabs(x.z);
    return face < 2 ? fmin(dy, dz) : face < 4 ? fmin(dx, dz) : fmin(dx, dy);
}

int perp_spatial_face_towards(spatial_core *core, perp_vec3 d)
{
    if (core->kind == PERP_SPATIAL_CYLINDER) {
        return d.z > 0.0;
    }
    if (core->kind == PERP_SPATIAL_BOX) {
        const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
        if (x >= y && x >= z) {
            return d.x > 0.0 ? 0 : 1;
        }
        return y >= z ? (d.y > 0.0 ? 2 : 3) : (d.z > 0.0 ? 4 : 5);
    }
    if (core->kind != PERP_SPATIAL_HULL) {
        return -1;
    }
    const perp_spatial_hull *hull = core->hull;
    const int corner = core->hint = perp_spatial_hull_support(hull, d, core->hint);
    int best = -1;
    double most = -INFINITY;
    for (int k = hull->corner_start[corner]; k < hull->corner_start[corner + 1]; k++) {
        for (int side = 0; side < 2; side++) {
            const int f = hull->edges[hull->corner_edges[k]].faces[side];
            const double along = perp_vec3_dot(d, hull->faces[f].normal);
            if (along > most || (along == most && f < best)) {
                most = along;
                best = f;
            }
        }
    }
    return best;
}
