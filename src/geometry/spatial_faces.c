/* spatial_faces.c - pairs that a flat face decides, without any search: most contacts of things at rest.
 *
 * Let face F of P have the largest separation s of all faces of both cores, and let the middle c of what Q has lowest
 * above it (a corner, an edge, a face) stand over F, inside its border by rho; rho grows by the inner radius of Q's
 * face where that is parallel.
 *
 * Apart (s > 0): c and its foot are s apart and no point is nearer; done.
 *
 * Overlapping by d = -s: D has a facet at depth d with a disc of radius rho about the origin's foot. Along a direction
 * at the angle w from the facet's normal the origin is no less deep than d cos w + rho sin w, which exceeds d for
 * tan(w / 2) < rho / d. What is left are directions that nearly oppose the normal; along those the depth is no less
 * than T cos w' - extent sin w', where T is the depth straight against the normal. So F decides if rho is some times d
 * and T large enough: the test below, with the tie tolerance added to d, so that no other normal ties either.
 *
 * A point inside a polytope needs no such care: its depth is that of the nearest face.
 */
#include "geometry/spatial_core.h"
#include "geometry/tolerances.h"

enum { FACES_MAX = 40 }; /* per core; for larger hulls the face towards the other core stands for all */

/* The middle of the points that are farthest along d (unit, local) to `slack`, and its distance from their border. */
static perp_vec3 middle_of_support(spatial_core *core, perp_vec3 d, double slack, double *inner)
{
    const perp_vec3 h = core->half;
    int id;
    *inner = 0.0;
    const perp_vec3 p = perp_spatial_support_local(core, d, &id);
    switch (core->kind) {
    case PERP_SPATIAL_SEGMENT:
        return fabs(d.z) * core->half_length <= slack ? perp_vec3_make(0.0, 0.0, 0.0) : p;
    case PERP_SPATIAL_BOX: {
        const bool x = fabs(d.x) * h.x <= slack, y = fabs(d.y) * h.y <= slack, z = fabs(d.z) * h.z <= slack;
        *inner = x && y ? fmin(h.x, h.y) : y && z ? fmin(h.y, h.z) : x && z ? fmin(h.x, h.z) : 0.0;
        return perp_vec3_make(x ? 0.0 : p.x, y ? 0.0 : p.y, z ? 0.0 : p.z);
    }
    case PERP_SPATIAL_CYLINDER:
        if (core->radius * hypot(d.x, d.y) <= slack) {
            *inner = core->radius;
            return perp_vec3_make(0.0, 0.0, p.z);
        }
        return fabs(d.z) * core->half_length <= slack ? perp_vec3_make(p.x, p.y, 0.0) : p;
    case PERP_SPATIAL_HULL: {
        const perp_spatial_hull *hull = core->hull;
        const double level = perp_vec3_dot(d, p);
        const int face = perp_spatial_face_towards(core, d);
        const perp_spatial_face *f = &hull->faces[face];
        perp_vec3 sum = {0.0, 0.0, 0.0};
        bool flat = true;
        for (int k = 0; k < f->count && flat; k++) {
            const perp_vec3 c = hull->corners[hull->loops[f->start + k]];
            flat = perp_vec3_dot(d, c) >= level - slack;
            sum = perp_vec3_add(sum, c);
        }
        if (flat) {
            sum = perp_vec3_scale(1.0 / f->count, sum);
            *inner = fmax(perp_spatial_face_inside(core, face, sum), 0.0);
            return sum;
        }
        for (int k = hull->corner_start[id]; k < hull->corner_start[id + 1]; k++) {
            const int *ends = hull->edges[hull->corner_edges[k]].corners;
            const perp_vec3 other = hull->corners[ends[0] == id ? ends[1] : ends[0]];
            if (perp_vec3_dot(d, other) >= level - slack) {
                return perp_vec3_scale(0.5, perp_vec3_add(p, other));
            }
        }
        return p;
    }
    case PERP_SPATIAL_POINT:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        break;
    }
    return p;
}

/* Separations of q along the faces of p, and the largest of all. */
typedef struct faces {
    int count, first; /* face `first + i` has gap[i] */
    double gap[FACES_MAX];
    double largest;
} faces;

static bool measure(const spatial_pair *pair, spatial_core *p, spatial_core *q, faces *f)
{
    f->count = perp_spatial_face_count(p);
    f->first = 0;
    f->largest = -INFINITY;
    if (f->count > FACES_MAX) {
        f->first = perp_spatial_face_towards(p, spatial_point_local(p, q->position));
        f->count = 1;
    }
    for (int i = 0; i < f->count; i++) {
        double offset;
        const perp_vec3 n = spatial_from_local(p, perp_spatial_face_normal(p, f->first + i, &offset));
        const spatial_point low = perp_spatial_support(q, spatial_negative(n));
        f->gap[i] = perp_vec3_dot(n, perp_vec3_sub(low.at, p->position)) - offset;
        f->largest = fmax(f->largest, f->gap[i]);
        if (f->largest > pair->limit) {
            return false;
        }
    }
    return true;
}

static void answer(bool of_b, perp_vec3 outer, double gap, perp_vec3 over, spatial_result *r)
{
    const perp_vec3 foot = perp_vec3_add_scaled(over, -gap, outer);
    *r = (spatial_result){.phi = gap,
                          .normal = of_b ? spatial_negative(outer) : outer,
                          .on_a = of_b ? over : foot,
                          .on_b = of_b ? foot : over};
}

typedef struct face_choice {
    bool of_b, tie;
    int face;
    double gap;
} face_choice;

/* Is the face the answer? `best` is the largest gap of all faces. */
static bool decides(spatial_pair *pair, const face_choice *c, double best, spatial_result *r)
{
    spatial_core *p = c->of_b ? &pair->b : &pair->a, *q = c->of_b ? &pair->a : &pair->b;
    const double gap = c->gap;
    double offset, inner;
    const perp_vec3 outer = spatial_from_local(p, perp_spatial_face_normal(p, c->face, &offset));
    const perp_vec3 down = spatial_to_local(q, spatial_negative(outer));
    const double slack = LEVEL_BY_DESIGN * pair->extent;
    const perp_vec3 over = spatial_point_of(q, middle_of_support(q, down, slack, &inner));
    const double inside = perp_spatial_face_inside(p, c->face, spatial_point_local(p, over));
    answer(c->of_b, outer, gap, over, r);
    if (q->kind == PERP_SPATIAL_POINT && best <= 0.0) {
        return perp_spatial_face_count(p) <= FACES_MAX;
    }
    if (!(inside >= 0.0)) {
        return false;
    }
    if (gap > pair->tolerance) {
        return true;
    }
    const double depth = fmax(-gap, 0.0) + 2.0 * pair->tolerance, rho = inside + inner, k = depth / rho;
    if (!(rho > 0.0) || k > 0.25) {
        return false;
    }
    const spatial_point top = perp_spatial_support(q, outer), bottom = perp_spatial_support(p, spatial_negative(outer));
    const double against = perp_vec3_dot(outer, perp_vec3_sub(top.at, bottom.at));
    return against * (1.0 - 2.0 * k * k) - 2.0 * k * pair->extent >= 2.0 * depth;
}

/* The first face that is as good as the best; of faces that are one direction for all purposes the better. */
static void choose(const spatial_pair *pair, const faces f[2], double best, face_choice *c)
{
    perp_vec3 taken = {0.0, 0.0, 0.0};
    *c = (face_choice){.face = -1};
    for (int side = 0; side < 2; side++) {
        const spatial_core *p = side ? &pair->b : &pair->a;
        for (int i = 0; i < f[side].count; i++) {
            if (f[side].gap[i] < best - pair->tolerance) {
                continue;
            }
            double offset;
            const perp_vec3 outer = spatial_from_local(p, perp_spatial_face_normal(p, f[side].first + i, &offset));
            const perp_vec3 n = side ? spatial_negative(outer) : outer;
            const bool same =
                perp_vec3_dot(n, taken) > 0.0 && perp_vec3_norm(perp_vec3_cross(n, taken)) <= SAME_DIRECTION;
            c->tie = c->tie || (c->face >= 0 && !same);
            if (c->face < 0 || (same && f[side].gap[i] > c->gap)) {
                taken = n;
                c->of_b = side == 1;
                c->face = f[side].first + i;
                c->gap = f[side].gap[i];
            }
        }
    }
}

bool perp_spatial_by_faces(spatial_pair *pair, spatial_result *result)
{
    faces f[2];
    for (int side = 0; side < 2; side++) {
        if (!measure(pair, side ? &pair->b : &pair->a, side ? &pair->a : &pair->b, &f[side])) {
            *result = (spatial_result){.phi = f[side].largest, .beyond = true};
            return true;
        }
    }
    const double best = fmax(f[0].largest, f[1].largest);
    if (best == -INFINITY) {
        return false;
    }
    face_choice c;
    choose(pair, f, best, &c);
    if (!decides(pair, &c, best, result)) {
        return false;
    }
    result->tie = c.tie && result->phi <= pair->tolerance;
    return true;
}
