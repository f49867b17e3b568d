/* contact_narrow.c - from near pairs of parts to contacts.
 *
 * Parts of a concave polygon. Each pair of parts answers for itself, and geometry.h sees to it that a cut between parts
 * is never taken for surface. What is left to do here is for all parts of two shapes together:
 *   - where shapes overlap, contacts that are undone by moving out of a shallower one are dropped (drop_resolved);
 *   - where they overlap and no part has surface there (one is swallowed by a part without any), the shallowest way out
 *     of any part counts, cuts included: two shapes that overlap are never passed over in silence;
 *   - parts that meet in a corner both list it: of contacts of the same features, or at one place with one normal, one
 *     is kept.
 * Features are named by the outline of the polygon (contact_outline), so that a corner has one name in every part.
 */
#include "geometry/spatial_mirror.h"
#include "contact/contact_private.h"
#include "contact/tolerances.h"
#include "geometry/planar_private.h"
#include "geometry/spatial_still.h"

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

static bool is_equal(perp_vec3 u, perp_vec3 v)
{
    return u.x == v.x && u.y == v.y && u.z == v.z;
}

int perp_contact_outline_feature(const contact_part *part, int feature)
{
    if (!part->outline) {
        return feature;
    }
    const perp_feature_kind kind = perp_feature_kind_of(feature);
    const contact_outline *names = &part->outline[perp_feature_index(feature)];
    return perp_feature(kind, kind == PERP_FEATURE_CORNER ? names->corner : names->edge);
}

/* `again`: the contact before is of the same parts, so that with the same normal it has the same frame. */
static perp_status add_contact(contact_build *build, perp_index_pair parts, const perp_manifold_point *point,
                               double friction, bool again)
{
    const perp_contact_model *cm = build->memory->contact_model;
    const contact_part *a = &cm->parts[parts.a], *b = &cm->parts[parts.b];
    const perp_status status = perp_contact_room(build);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_contact *c = &build->memory->contacts[build->count++];
    if (again && is_equal(c[-1].normal, point->at.normal)) {
        *c = c[-1];
    } else {
        c->a = a->body;
        c->b = b->body;
        c->shape_a = a->shape;
        c->shape_b = b->shape;
        c->normal = point->at.normal;
        perp_contact_frame(cm->model->scene, build->rule, friction, c);
    }
    c->feature_a = perp_contact_outline_feature(a, point->feature_a);
    c->feature_b = perp_contact_outline_feature(b, point->feature_b);
    c->phi = point->at.phi;
    c->point_a = point->at.point_a;
    c->point_b = point->at.point_b;
    c->tie = point->at.tie;
    return PERP_STATUS_OK;
}

static double combined_friction(const contact_part *a, const contact_part *b)
{
    return a->friction == b->friction ? a->friction : sqrt(a->friction * b->friction);
}

static perp_status add_manifold(contact_build *build, perp_index_pair parts, const perp_manifold *manifold)
{
    const perp_contact_model *cm = build->memory->contact_model;
    const double friction = combined_friction(&cm->parts[parts.a], &cm->parts[parts.b]);
    perp_status status = PERP_STATUS_OK;
    const int first = build->count;
    for (int i = 0; status == PERP_STATUS_OK && i < manifold->count; i++) {
        if (manifold->points[i].at.phi <= build->memory->settings.margin) {
            status = add_contact(build, parts, &manifold->points[i], friction, build->count > first);
        }
    }
    return status;
}

/* A manifold of two parts of polygons, which are to be weighed against other parts. */
static perp_status add_group(contact_build *build, perp_index_pair parts, const perp_manifold *manifold)
{
    const int begin = build->count;
    const perp_status status = add_manifold(build, parts, manifold);
    if (build->count > begin) {
        build->memory->groups[build->group_count++] =
            (contact_group){.begin = begin, .end = build->count, .parts = parts};
    }
    return status;
}

/* ---- space ------------------------------------------------------------------------------------------------------- */

/* The least of normal . x over a box. */
static double lowest(const perp_broad_phase_box *box, perp_vec3 normal)
{
    return normal.x * (normal.x > 0.0 ? box->low.x : box->high.x) +
           normal.y * (normal.y > 0.0 ? box->low.y : box->high.y) +
           normal.z * (normal.z > 0.0 ? box->low.z : box->high.z);
}

/* True if part `i`'s box is beyond the margin above the unbounded part `plane`: halfspaces and the plates of holes have
 * infinite boxes, so that the broad phase lets everything through to them. */
static bool is_clear_of(const struct perp_contact_set_memory *m, int plane, int i)
{
    const perp_spatial_shape *s = &m->spatial[plane];
    if (s->kind != PERP_SPATIAL_HALFSPACE && s->kind != PERP_SPATIAL_HOLE) {
        return false;
    }
    if (!m->contact_model->parts[i].bounded) {
        return true;
    }
    const perp_vec3 up = perp_vec3_make(s->rotation.m[2], s->rotation.m[5], s->rotation.m[8]);
    const double level = perp_vec3_dot(up, s->position), margin = m->settings.margin;
    const double thick = s->kind == PERP_SPATIAL_HOLE ? s->half_length : 0.0;
    return lowest(&m->boxes[i], up) > level + thick + margin ||
           (s->kind == PERP_SPATIAL_HOLE && lowest(&m->boxes[i], perp_vec3_scale(-1.0, up)) > -level + thick + margin);
}

static perp_status collide_spatial(contact_build *build, perp_index_pair parts)
{
    const struct perp_contact_set_memory *m = build->memory;
    const contact_part *all = m->contact_model->parts;
    const bool bounded = all[parts.a].bounded && all[parts.b].bounded;
    if (!bounded && (is_clear_of(m, parts.a, parts.b) || is_clear_of(m, parts.b, parts.a))) {
        return PERP_STATUS_OK;
    }
    const perp_spatial_shape *a = &m->spatial[parts.a], *b = &m->spatial[parts.b];
    const perp_manifold manifold = m->still ? perp_spatial_manifold_still(a, b, m->settings.margin)
                                            : perp_spatial_manifold_build(a, b, m->settings.margin);
    return add_manifold(build, parts, &manifold);
}

/* ---- plane ------------------------------------------------------------------------------------------------------- */

/* Two points at one place with one normal. */
static bool is_repeated(const perp_contact *p, const perp_contact *q, double tolerance)
{
    return perp_vec3_norm(perp_vec3_sub(p->point_a, q->point_a)) <= tolerance &&
           perp_vec3_norm(perp_vec3_sub(p->point_b, q->point_b)) <= tolerance &&
           perp_vec3_norm(perp_vec3_sub(p->normal, q->normal)) <= CONTACT_SAME_DIRECTION;
}

/* Of contacts of the same features the one with the smaller gap stays: a corner and an edge have one gap, square to the
 * edge, and a part that sees them along the normal of an edge beside the corner sees a longer one. */
static void drop_repeated(contact_build *build, int first, double tolerance)
{
    perp_contact *contacts = build->memory->contacts;
    int kept = first;
    for (int i = first; i < build->count; i++) {
        int same = first;
        while (same < kept && !perp_contact_same(&contacts[same], &contacts[i]) &&
               !is_repeated(&contacts[same], &contacts[i], tolerance)) {
            same++;
        }
        if (same == kept) {
            contacts[kept++] = contacts[i];
        } else if (perp_contact_same(&contacts[same], &contacts[i]) &&
                   fabs(contacts[i].phi) < fabs(contacts[same].phi) - tolerance) {
            contacts[same] = contacts[i];
        }
    }
    build->count = kept;
}

/* Depth and normal of each group of two cores that penetrate. */
static void find_overlaps(contact_build *build)
{
    const perp_contact *contacts = build->memory->contacts;
    for (int g = 0; g < build->group_count; g++) {
        contact_group *group = &build->memory->groups[g];
        const perp_contact *deepest = &contacts[group->begin];
        for (int i = group->begin; i < group->end; i++) {
            deepest = contacts[i].phi < deepest->phi ? &contacts[i] : deepest;
        }
        const perp_planar_shape *a = &build->memory->planar[group->parts.a],
                                *b = &build->memory->planar[group->parts.b];
        if (a->kind == PERP_PLANAR_CORE && b->kind == PERP_PLANAR_CORE && deepest->phi < -perp_planar_tolerance(a, b)) {
            group->normal = deepest->normal;
            group->depth = -deepest->phi;
        }
    }
}

/* Whether b, moved out of `shallow`, has left `deep` too, but for a thousandth of its depth. Overlaps of about one
 * normal (5 degrees) stand side by side and do not speak for each other. */
static bool is_resolved(const struct perp_contact_set_memory *m, const contact_group *shallow,
                        const contact_group *deep)
{
    if (perp_vec3_dot(shallow->normal, deep->normal) > 0.996) {
        return false;
    }
    perp_planar_shape a = m->planar[deep->parts.a], b = m->planar[deep->parts.b];
    for (int i = 0; i < b.count; i++) {
        m->shifted[i] = perp_vec3_add_scaled(b.corners[i], shallow->depth, shallow->normal);
    }
    b.corners = m->shifted;
    a.borders = b.borders = NULL;
    return perp_planar_distance(&a, &b).phi >= -STILL_DEEP * deep->depth;
}

/* Where a part was entered through a cut, or over a corner that it shares, its own way out may be far longer than that
 * of the part next to it. Taking the overlaps from the shallowest on, those that an accepted one resolves are dropped.
 */
static void drop_resolved(contact_build *build, int first)
{
    const int count = build->group_count;
    contact_group *all = build->memory->groups;
    perp_contact *contacts = build->memory->contacts;
    find_overlaps(build);
    for (int round = 0; round < count; round++) {
        contact_group *next = NULL;
        for (int i = 0; i < count; i++) {
            if (!all[i].kept && all[i].depth > 0.0 && (!next || all[i].depth < next->depth)) {
                next = &all[i];
            }
        }
        if (!next) { /* not before every overlap was looked at */
            break;
        }
        bool resolved = false;
        for (int i = 0; i < count && !resolved; i++) {
            resolved = all[i].kept && is_resolved(build->memory, &all[i], next);
        }
        next->kept = !resolved;
        next->depth = resolved ? 0.0 : next->depth; /* not looked at again */
        for (int k = next->begin; resolved && k < next->end; k++) {
            contacts[k].phi = INFINITY; /* marked */
        }
    }
    int kept = first;
    for (int i = first; i < build->count; i++) {
        if (contacts[i].phi < INFINITY) {
            contacts[kept++] = contacts[i];
        }
    }
    build->count = kept;
}

/* Where the parts overlap but none of them has surface there: the shallowest way out of any part, cuts included. */
static perp_status add_through_cuts(contact_build *build, const perp_index_pair *pairs, int count)
{
    const struct perp_contact_set_memory *m = build->memory;
    perp_manifold best = {.count = 0};
    perp_index_pair parts = {-1, -1};
    for (int i = 0; i < count; i++) {
        perp_planar_shape a = m->planar[pairs[i].a], b = m->planar[pairs[i].b];
        if (a.kind != PERP_PLANAR_CORE || b.kind != PERP_PLANAR_CORE) {
            return PERP_STATUS_OK; /* the corner that is deepest in a halfplane or hole is always surface */
        }
        a.borders = b.borders = NULL;
        const perp_manifold manifold = perp_planar_manifold_build(&a, &b);
        const double gap = perp_manifold_least_gap(&manifold);
        if (gap < -perp_planar_tolerance(&a, &b) && (parts.a < 0 || gap > perp_manifold_least_gap(&best))) {
            best = manifold;
            parts = pairs[i];
        }
    }
    return parts.a >= 0 ? add_group(build, parts, &best) : PERP_STATUS_OK;
}

/* All pairs of parts of two shapes, at least one of which is a polygon in several parts. */
static perp_status collide_polygons(contact_build *build, const perp_index_pair *pairs, int count)
{
    const struct perp_contact_set_memory *m = build->memory;
    const int first = build->count;
    build->group_count = 0;
    bool penetrates = false;
    double coarse = 0.0;
    for (int i = 0; i < count; i++) {
        const perp_planar_shape *a = &m->planar[pairs[i].a], *b = &m->planar[pairs[i].b];
        const perp_manifold manifold = perp_planar_manifold_build(a, b);
        const double tolerance = perp_planar_tolerance(a, b);
        const perp_status status = add_group(build, pairs[i], &manifold);
        if (status != PERP_STATUS_OK) {
            return status;
        }
        coarse = fmax(coarse, tolerance);
        penetrates = penetrates || perp_manifold_least_gap(&manifold) < -tolerance;
    }
    if (!penetrates) {
        const perp_status status = add_through_cuts(build, pairs, count);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    drop_resolved(build, first);
    drop_repeated(build, first, coarse);
    return PERP_STATUS_OK;
}

static bool is_cut(const struct perp_contact_set_memory *m, perp_index_pair parts)
{
    return m->planar[parts.a].borders || m->planar[parts.b].borders;
}

static perp_status narrow_planar(contact_build *build, const perp_index_pair *pairs, int count)
{
    const struct perp_contact_set_memory *m = build->memory;
    const contact_part *parts = m->contact_model->parts;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0, end = 0; status == PERP_STATUS_OK && i < count; i = end) {
        end = i + 1;
        if (!is_cut(m, pairs[i])) {
            const perp_manifold manifold = perp_planar_manifold_build(&m->planar[pairs[i].a], &m->planar[pairs[i].b]);
            status = add_manifold(build, pairs[i], &manifold);
            continue;
        }
        const int shape_a = parts[pairs[i].a].shape, shape_b = parts[pairs[i].b].shape;
        while (end < count && parts[pairs[end].a].shape == shape_a && parts[pairs[end].b].shape == shape_b) {
            end++;
        }
        status = collide_polygons(build, pairs + i, end - i);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

perp_status perp_contact_narrow(contact_build *build, const perp_index_pair *pairs, int count)
{
    if (build->memory->contact_model->model->planar) {
        return narrow_planar(build, pairs, count);
    }
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; status == PERP_STATUS_OK && i < count; i++) {
        status = collide_spatial(build, pairs[i]);
    }
    return status;
}
