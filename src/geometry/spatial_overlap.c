/* spatial_overlap.c - two nearly parallel lines: a point at each end of what they share, with its own normal. */
#include "geometry/spatial_query.h"

/* A point of the line is between its ends. */
static bool within(const spatial_line *line, perp_vec3 x, double tolerance)
{
    const double s = perp_vec3_dot(perp_vec3_sub(x, line->ends[0]), line->along);
    return s >= -tolerance && s <= line->length + tolerance;
}

/* The foot of x on a line; beyond its ends only for a cylinder, whose side knows no other normals. */
static perp_vec3 foot(const spatial_line *line, perp_vec3 x)
{
    double s = perp_vec3_dot(perp_vec3_sub(x, line->ends[0]), line->along);
    s = spatial_line_is_side(line) ? s : fmin(fmax(s, 0.0), line->length);
    return perp_vec3_add_scaled(line->ends[0], s, line->along);
}

/* Two points and what radius is left about each. */
typedef struct core_points {
    perp_vec3 x, w;
    double radius_x, radius_w;
} core_points;

/* From the end x of `own` to `other`. A cylinder's normal is square to its axis, which decides where to look. */
static core_points reach(const spatial_line *own, perp_vec3 x, const spatial_line *other)
{
    core_points c = {.x = x, .radius_x = own->radius, .radius_w = other->radius};
    if (!spatial_line_is_side(own)) {
        c.w = foot(other, x);
    } else if (spatial_line_is_sharp(other)) { /* in the plane of the end */
        const double s = perp_vec3_dot(perp_vec3_sub(x, other->ends[0]), own->along);
        c.w = perp_vec3_add_scaled(other->ends[0], s / perp_vec3_dot(other->along, own->along), other->along);
    } else { /* from the point of the rim that looks there */
        perp_vec3 v = perp_vec3_sub(foot(other, x), x);
        v = perp_vec3_normalise(perp_vec3_add_scaled(v, -perp_vec3_dot(v, own->along), own->along));
        c.x = perp_vec3_add_scaled(x, own->radius, v);
        c.radius_x = 0.0;
        c.w = foot(other, c.x);
    }
    return c;
}

/* A sharp edge is nearest to what is in none of the directions of its faces. */
static bool holds(const spatial_line *line, perp_vec3 to, double tolerance)
{
    return (line->kind != PERP_SPATIAL_BOX && line->kind != PERP_SPATIAL_HULL) ||
           (perp_vec3_dot(to, line->into[0]) <= tolerance && perp_vec3_dot(to, line->into[1]) <= tolerance);
}

/* The point at an end of the overlap; false if the lines are not what is nearest there. */
static bool end_point(const spatial_query *q, const spatial_line *own, const spatial_line *other,
                      const core_points *core, bool own_is_a, perp_manifold_point *point)
{
    const core_points c = *core;
    const perp_vec3 v = own_is_a ? perp_vec3_sub(c.w, c.x) : perp_vec3_sub(c.x, c.w), n = q->s.normal;
    const double radius = c.radius_x + c.radius_w, radius_a = own_is_a ? c.radius_x : c.radius_w;
    const perp_vec3 core_a = own_is_a ? c.x : c.w;
    const double along = perp_vec3_dot(v, n), distance = perp_vec3_norm(v);
    const perp_vec3 lateral = perp_vec3_add_scaled(v, -along, n);
    if (perp_vec3_norm(lateral) <= q->tolerance) {
        *point = spatial_contact(q, perp_vec3_add_scaled(core_a, radius_a, n), n, along - radius);
        return true;
    }
    const spatial_line *line_a = own_is_a ? own : other, *line_b = own_is_a ? other : own;
    if (!(along > 0.1 * distance) || !holds(line_a, v, q->tolerance) ||
        !holds(line_b, spatial_negative(v), q->tolerance)) {
        return false;
    }
    const perp_vec3 normal = perp_vec3_scale(1.0 / distance, v);
    *point = spatial_contact(q, perp_vec3_add_scaled(core_a, radius_a, normal), normal, distance - radius);
    return true;
}

/* The end of an overlap is where the shapes are nearest: then the normal is that of the distance. An edge that touches
 * a cylinder where its side ends is square to that, and leans against the side's own normal by as much as the axis. */
static bool at_witness(const spatial_query *q, const perp_manifold_point *p)
{
    const double slack = 2.0 * q->tolerance;
    return p->at.phi <= q->s.phi + q->tolerance &&
           perp_vec3_norm(perp_vec3_sub(p->at.point_a, q->s.point_a)) <= slack &&
           perp_vec3_norm(perp_vec3_sub(p->at.point_b, q->s.point_b)) <= slack;
}

void perp_spatial_overlap(const spatial_query *q, const spatial_line *la, const spatial_line *lb, perp_manifold *m)
{
    const double way = perp_vec3_dot(la->along, lb->along) > 0.0 ? 1.0 : -1.0, slack = 2.0 * q->tolerance;
    const perp_vec3 u = perp_vec3_normalise(perp_vec3_add_scaled(la->along, way, lb->along));
    double at_a[2], at_b[2]; /* where the ends are, the lower first */
    for (int k = 0; k < 2; k++) {
        at_a[k] = perp_vec3_dot(la->ends[k], u);
        at_b[k] = perp_vec3_dot(lb->ends[way > 0.0 ? k : 1 - k], u);
    }
    if (fmin(at_a[1], at_b[1]) - fmax(at_a[0], at_b[0]) <= slack) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        const int end_b = way > 0.0 ? k : 1 - k;
        const bool both = fabs(at_a[k] - at_b[k]) <= slack,
                   cylinder = spatial_line_is_side(la) || spatial_line_is_side(lb);
        bool of_a = k == 0 ? at_a[0] >= at_b[0] : at_a[1] <= at_b[1];
        core_points c = of_a ? reach(la, la->ends[k], lb) : reach(lb, lb->ends[end_b], la);
        if (!within(of_a ? lb : la, c.w, q->tolerance)) { /* then the other's end is the nearer one */
            of_a = !of_a;
            c = of_a ? reach(la, la->ends[k], lb) : reach(lb, lb->ends[end_b], la);
        }
        const spatial_line *own = of_a ? la : lb, *other = of_a ? lb : la;
        c.w = both && !cylinder ? other->ends[of_a ? end_b : k] : c.w;
        perp_manifold_point *p = &m->points[m->count];
        if (!within(other, c.w, q->tolerance) || !end_point(q, own, other, &c, of_a, p) ||
            p->at.phi < q->s.phi - q->tolerance) {
            continue;
        }
        p->at = at_witness(q, p) ? q->s : p->at;
        p->feature_a = of_a || both || spatial_line_is_side(la) ? la->corners[k] : la->edge;
        p->feature_b = !of_a || both || spatial_line_is_side(lb) ? lb->corners[end_b] : lb->edge;
        m->count++;
    }
    if (m->count == 2) {
        const perp_separation *p = &m->points[0].at, *r = &m->points[1].at;
        const double apart = fmax(perp_vec3_norm(perp_vec3_sub(p->point_a, r->point_a)),
                                  perp_vec3_norm(perp_vec3_sub(p->point_b, r->point_b)));
        if (apart <= slack) { /* lines that are not quite parallel overlap by less than it seems between them */
            m->points[0] = r->phi < p->phi ? m->points[1] : m->points[0];
            m->count = 1;
        }
    }
}
