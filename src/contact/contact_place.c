/* contact_place.c - shapes and their boxes in the world, at the poses of one configuration.
 *
 * Boxes are tight: they are the least that hold the shape, whatever its kind. What is unbounded has infinite boxes: a
 * halfspace or halfplane on all sides, but for the one that its normal closes when it is exactly along an axis; a hole,
 * which is solid all around its bore, sideways, and along its axis no more than its plate when that axis is exactly one
 * of the world's. So a hole's plate is met wherever it is, not only at its mouth, as geometry.h defines the solid.
 * Such a box is compared with every other one, and the narrow phase turns away first what is far above the surface.
 *
 * Bodies that cannot move are placed by the first build only.
 */
#include "contact/contact_private.h"
#include "contact/tolerances.h"

#include <string.h>

typedef struct span {
    perp_vec3 low, high;
} span;

static const span empty_span = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
static const span everything = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

static void include(span *s, span other)
{
    s->low.x = other.low.x < s->low.x ? other.low.x : s->low.x;
    s->low.y = other.low.y < s->low.y ? other.low.y : s->low.y;
    s->low.z = other.low.z < s->low.z ? other.low.z : s->low.z;
    s->high.x = other.high.x > s->high.x ? other.high.x : s->high.x;
    s->high.y = other.high.y > s->high.y ? other.high.y : s->high.y;
    s->high.z = other.high.z > s->high.z ? other.high.z : s->high.z;
}

static span span_about(perp_vec3 centre, perp_vec3 half)
{
    return (span){perp_vec3_sub(centre, half), perp_vec3_add(centre, half)};
}

/* ---- space ------------------------------------------------------------------------------------------------------- */

static perp_vec3 third_column(const perp_mat3 *r)
{
    return perp_vec3_make(r->m[2], r->m[5], r->m[8]);
}

/* Between the planes low <= axis . x <= high, where the axis is exactly one of the world's. One component that is 1
 * does not tell: cos(1e-8) is 1 in double, and such a plane rises by 1 mm in 100 km. */
static span span_of_slab(perp_vec3 axis, double low, double high)
{
    span s = everything;
    const double components[3] = {axis.x, axis.y, axis.z};
    double *lows[3] = {&s.low.x, &s.low.y, &s.low.z}, *highs[3] = {&s.high.x, &s.high.y, &s.high.z};
    for (int k = 0; k < 3; k++) {
        if (components[(k + 1) % 3] != 0.0 || components[(k + 2) % 3] != 0.0) {
            continue;
        }
        if (components[k] == 1.0) {
            *lows[k] = low;
            *highs[k] = high;
        } else if (components[k] == -1.0) {
            *lows[k] = -high;
            *highs[k] = -low;
        }
    }
    return s;
}

static span span_of_hull(const perp_spatial_shape *s)
{
    span r = empty_span;
    for (int i = 0; i < s->hull->corner_count; i++) {
        const perp_vec3 p = perp_mat3_mul_vec(&s->rotation, s->hull->corners[i]);
        include(&r, (span){p, p});
    }
    return (span){perp_vec3_add(r.low, s->position), perp_vec3_add(r.high, s->position)};
}

/* Half extent along each world axis of a disc of radius r square to the unit axis u. */
static perp_vec3 disc_extent(perp_vec3 u, double r)
{
    return perp_vec3_make(r * sqrt(fmax(0.0, 1.0 - u.x * u.x)), r * sqrt(fmax(0.0, 1.0 - u.y * u.y)),
                          r * sqrt(fmax(0.0, 1.0 - u.z * u.z)));
}

static span span_of_spatial(const perp_spatial_shape *s)
{
    const double *m = s->rotation.m;
    const perp_vec3 h = s->half_lengths, u = third_column(&s->rotation);
    const double r = s->radius, l = s->half_length;
    switch (s->kind) {
    case PERP_SPATIAL_POINT:
        return span_about(s->position, perp_vec3_make(r, r, r));
    case PERP_SPATIAL_SEGMENT:
        return span_about(s->position, perp_vec3_make(fabs(u.x) * l + r, fabs(u.y) * l + r, fabs(u.z) * l + r));
    case PERP_SPATIAL_BOX:
        return span_about(s->position, perp_vec3_make(fabs(m[0]) * h.x + fabs(m[1]) * h.y + fabs(m[2]) * h.z,
                                                      fabs(m[3]) * h.x + fabs(m[4]) * h.y + fabs(m[5]) * h.z,
                                                      fabs(m[6]) * h.x + fabs(m[7]) * h.y + fabs(m[8]) * h.z));
    case PERP_SPATIAL_CYLINDER: {
        const perp_vec3 disc = disc_extent(u, r);
        return span_about(s->position,
                          perp_vec3_make(fabs(u.x) * l + disc.x, fabs(u.y) * l + disc.y, fabs(u.z) * l + disc.z));
    }
    case PERP_SPATIAL_ELLIPSOID: {
        perp_vec3 half[3];
        for (int i = 0; i < 3; i++) {
            half[i] = perp_vec3_make(m[3 * i] * h.x, m[3 * i + 1] * h.y, m[3 * i + 2] * h.z);
        }
        return span_about(s->position,
                          perp_vec3_make(perp_vec3_norm(half[0]), perp_vec3_norm(half[1]), perp_vec3_norm(half[2])));
    }
    case PERP_SPATIAL_HULL:
        return span_of_hull(s);
    case PERP_SPATIAL_HALFSPACE:
        return span_of_slab(u, -INFINITY, perp_vec3_dot(u, s->position));
    case PERP_SPATIAL_HOLE: /* a hole */
        break;
    }
    return span_of_slab(u, perp_vec3_dot(u, s->position) - l, perp_vec3_dot(u, s->position) + l);
}

static void place_spatial(const contact_part *part, const perp_mat3 *rotation, perp_vec3 position,
                          perp_spatial_shape *world)
{
    world->position = perp_vec3_add(position, perp_mat3_mul_vec(rotation, part->spatial.position));
    world->rotation = part->unrotated ? *rotation : perp_mat3_mul(rotation, &part->spatial.rotation);
}

/* ---- plane ------------------------------------------------------------------------------------------------------- */

static perp_vec3 turn_planar(const perp_mat3 *r, perp_vec3 x)
{
    return perp_vec3_make(r->m[0] * x.x + r->m[1] * x.y, r->m[3] * x.x + r->m[4] * x.y, 0.0);
}

static perp_vec3 to_world(const perp_mat3 *r, perp_vec3 position, perp_vec3 x)
{
    return perp_vec3_make(r->m[0] * x.x + r->m[1] * x.y + position.x, r->m[3] * x.x + r->m[4] * x.y + position.y, 0.0);
}

static void place_planar(const contact_part *part, const perp_mat3 *rotation, perp_vec3 position,
                         struct perp_contact_set_memory *m, perp_planar_shape *world)
{
    const perp_planar_shape *local = &part->planar;
    if (local->kind == PERP_PLANAR_HALFPLANE) {
        world->normal = turn_planar(rotation, local->normal);
        world->offset = local->offset + world->normal.x * position.x + world->normal.y * position.y;
    } else if (local->kind == PERP_PLANAR_HOLE) {
        world->centre = to_world(rotation, position, local->centre);
    }
    for (int k = 0; k < local->count; k++) {
        m->corners[part->corner_start + k] = to_world(rotation, position, local->corners[k]);
    }
    for (int k = 0; local->borders && k < local->count; k++) {
        perp_planar_border *border = &m->borders[part->corner_start + k];
        border->before = turn_planar(rotation, local->borders[k].before);
        border->after = turn_planar(rotation, local->borders[k].after);
    }
}

static span span_of_planar(const perp_planar_shape *s)
{
    if (s->kind == PERP_PLANAR_HOLE) {
        return everything;
    }
    if (s->kind == PERP_PLANAR_HALFPLANE) {
        return span_of_slab(s->normal, -INFINITY, s->offset);
    }
    span r = empty_span;
    for (int k = 0; k < s->count; k++) {
        include(&r, (span){s->corners[k], s->corners[k]});
    }
    const perp_vec3 round = {s->radius, s->radius, 0.0};
    return (span){perp_vec3_sub(r.low, round), perp_vec3_add(r.high, round)};
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool is_finite_pose(const perp_pose *pose)
{
    const double sum = fabs(pose->position.x) + fabs(pose->position.y) + fabs(pose->position.z) +
                       fabs(pose->rotation.w) + fabs(pose->rotation.x) + fabs(pose->rotation.y) +
                       fabs(pose->rotation.z);
    return isfinite(sum);
}

/* The parts of one body; `bounds` grows by those that are bounded. */
static void place_body(struct perp_contact_set_memory *m, const perp_kinematics *kinematics, int body, span *bounds)
{
    const perp_contact_model *cm = m->contact_model;
    const double half = 0.5 * m->settings.margin;
    const perp_vec3 grow = {half, half, half};
    for (int i = cm->part_start[body]; i < cm->part_start[body + 1]; i++) {
        const contact_part *part = &cm->parts[i];
        span box;
        if (cm->model->planar) {
            place_planar(part, &kinematics->rotation[body], kinematics->pose[body].position, m, &m->planar[i]);
            box = span_of_planar(&m->planar[i]);
        } else {
            place_spatial(part, &kinematics->rotation[body], kinematics->pose[body].position, &m->spatial[i]);
            box = span_of_spatial(&m->spatial[i]);
        }
        if (part->bounded) {
            include(bounds, box);
        }
        m->low[i] = box.low;
        m->high[i] = box.high;
        m->boxes[i].low = perp_vec3_sub(box.low, grow);
        m->boxes[i].high = perp_vec3_add(box.high, grow);
    }
}

perp_status perp_contact_place(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    const perp_contact_model *cm = m->contact_model;
    const perp_model *model = cm->model;
    span bounds = {m->fixed_low, m->fixed_high}, fixed = empty_span;
    if (!m->fixed_placed) {
        bounds = empty_span;
    }
    for (int b = 0; b < model->body_count; b++) {
        const bool is_fixed = model->links[b].tree < 0;
        if (cm->part_start[b] == cm->part_start[b + 1] || (is_fixed && m->fixed_placed)) {
            continue;
        }
        if (!is_finite_pose(&kinematics->pose[b])) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "body `%s` is not at a finite place",
                             model->scene->bodies[b].name);
        }
        place_body(m, kinematics, b, is_fixed ? &fixed : &bounds);
    }
    if (!m->fixed_placed) {
        m->fixed_low = fixed.low;
        m->fixed_high = fixed.high;
        m->fixed_placed = true;
        include(&bounds, fixed);
    }
    const perp_vec3 size = perp_vec3_sub(bounds.high, bounds.low);
    set->scene_size = bounds.high.x >= bounds.low.x ? fmax(SCENE_LEAST, perp_vec3_norm(size)) : SCENE_LEAST;
    return PERP_STATUS_OK;
}
