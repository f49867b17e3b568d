/* contact_gap.c - the gap of a contact that a later state does not list.
 *
 * A corner is a point of its body: its gap to the other shape is defined wherever the two go. Where neither feature is
 * one (an edge over an edge, a side on a face) and the two do not face each other any more, which of them would have
 * met is no longer defined, and the gap of the shapes is what there is.
 */
#include "geometry/spatial_core.h"
#include "contact/contact_reach.h"
#include "contact/contact_private.h"
#include "geometry/spatial_still.h"

/* What was found so far of the contact's gap. */
typedef struct search {
    const struct perp_contact_set_memory *memory;
    const perp_contact *contact;
    perp_separation features, corner, shapes; /* phi is infinite: not found */
} search;

static void keep_nearer(perp_separation *best, perp_separation other)
{
    *best = other.phi < best->phi ? other : *best;
}

static perp_separation reversed(perp_separation s)
{
    return (perp_separation){
        .phi = s.phi, .normal = perp_vec3_scale(-1.0, s.normal), .point_a = s.point_b, .point_b = s.point_a};
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

/* The corner of a part that has the name `feature`, as a shape of its own. */
static bool planar_corner(const search *s, int part, int feature, perp_planar_shape *corner)
{
    const perp_planar_shape *shape = &s->memory->planar[part];
    const contact_part *source = &s->memory->contact_model->parts[part];
    if (shape->kind != PERP_PLANAR_CORE) {
        return false;
    }
    for (int k = 0; k < shape->count; k++) {
        if (perp_contact_outline_feature(source, perp_feature(PERP_FEATURE_CORNER, k)) == feature) {
            *corner = (perp_planar_shape){
                .kind = PERP_PLANAR_CORE, .count = 1, .corners = &shape->corners[k], .radius = shape->radius};
            return true;
        }
    }
    return false;
}

static bool spatial_corner(const search *s, int part, int feature, perp_spatial_shape *corner)
{
    const perp_spatial_shape *shape = &s->memory->spatial[part];
    const int k = perp_feature_index(feature);
    perp_vec3 place = {0.0, 0.0, 0.0};
    if (perp_feature_kind_of(feature) != PERP_FEATURE_CORNER) {
        return false;
    }
    switch (shape->kind) {
    case PERP_SPATIAL_POINT:
        break;
    case PERP_SPATIAL_SEGMENT:
        place.z = k == 0 ? -shape->half_length : shape->half_length;
        break;
    case PERP_SPATIAL_BOX:
        place = spatial_box_corner(shape->half_lengths, k);
        break;
    case PERP_SPATIAL_HULL:
        place = shape->hull->corners[k];
        break;
    case PERP_SPATIAL_CYLINDER:
    case PERP_SPATIAL_ELLIPSOID:
    case PERP_SPATIAL_HALFSPACE:
    case PERP_SPATIAL_HOLE:
        return false;
    }
    const bool round = shape->kind == PERP_SPATIAL_POINT || shape->kind == PERP_SPATIAL_SEGMENT;
    const perp_vec3 offset = perp_mat3_mul_vec(&shape->rotation, place);
    *corner = (perp_spatial_shape){.kind = PERP_SPATIAL_POINT,
                                   .position = perp_vec3_add(shape->position, offset),
                                   .rotation = shape->rotation,
                                   .radius = round ? shape->radius : 0.0};
    return true;
}

/* The corner `feature` of one part against the other part; infinite where the part has no such corner. */
static perp_separation corner_gap(const search *s, int part, int feature, int other)
{
    perp_separation gap = {.phi = INFINITY};
    if (s->memory->contact_model->model->planar) {
        perp_planar_shape corner;
        gap = planar_corner(s, part, feature, &corner) ? perp_planar_distance(&corner, &s->memory->planar[other]) : gap;
    } else {
        perp_spatial_shape corner;
        gap = spatial_corner(s, part, feature, &corner) ? perp_spatial_distance(&corner, &s->memory->spatial[other])
                                                        : gap;
    }
    return gap;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void look_at_manifold(search *s, perp_index_pair parts, const perp_manifold *manifold)
{
    const contact_part *all = s->memory->contact_model->parts;
    for (int i = 0; i < manifold->count; i++) {
        const perp_manifold_point *p = &manifold->points[i];
        keep_nearer(&s->shapes, p->at);
        if (perp_contact_outline_feature(&all[parts.a], p->feature_a) == s->contact->feature_a &&
            perp_contact_outline_feature(&all[parts.b], p->feature_b) == s->contact->feature_b) {
            keep_nearer(&s->features, p->at);
        }
    }
}

static void look_at_parts(search *s, perp_index_pair parts)
{
    const struct perp_contact_set_memory *m = s->memory;
    perp_manifold manifold;
    if (m->contact_model->model->planar) {
        manifold = perp_planar_manifold_build(&m->planar[parts.a], &m->planar[parts.b]);
    } else {
        const perp_spatial_shape *a = &m->spatial[parts.a], *b = &m->spatial[parts.b];
        manifold = m->still ? perp_spatial_manifold_still(a, b, INFINITY) : perp_spatial_manifold_build(a, b, INFINITY);
    }
    look_at_manifold(s, parts, &manifold);
    keep_nearer(&s->corner, corner_gap(s, parts.a, s->contact->feature_a, parts.b));
    keep_nearer(&s->corner, reversed(corner_gap(s, parts.b, s->contact->feature_b, parts.a)));
}

void perp_contact_look_again(const perp_contact_set *set, perp_contact *contact)
{
    if (perp_contact_is_support(contact)) {
        return; /* every build lists it */
    }
    const perp_contact_model *cm = set->memory->contact_model;
    int count_a, count_b;
    const int a = perp_contact_first_part(cm, contact->a, contact->shape_a, &count_a),
              b = perp_contact_first_part(cm, contact->b, contact->shape_b, &count_b);
    const perp_separation none = {.phi = INFINITY};
    search s = {.memory = set->memory, .contact = contact, .features = none, .corner = none, .shapes = none};
    for (int i = 0; i < count_a; i++) {
        for (int k = 0; k < count_b; k++) {
            look_at_parts(&s, (perp_index_pair){a + i, b + k});
        }
    }
    const perp_separation *now = s.features.phi < INFINITY ? &s.features
                                 : s.corner.phi < INFINITY ? &s.corner
                                                           : &s.shapes;
    if (now->phi < INFINITY) { /* else what is around it is no surface any more */
        contact->phi = now->phi;
        contact->point_a = now->point_a;
        contact->point_b = now->point_b;
    }
}
