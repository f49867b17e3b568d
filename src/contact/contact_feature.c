/* contact_feature.c - a contact's name and the curvature of its surfaces. */
#include "contact/contact_private.h"
#include "contact/contact_reach.h"

#include <assert.h>
#include <stdio.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* "s2147483647.c268435455" and the end: no int is cut. */
enum { SIDE_TEXT = 24 };

static void side_text(int shape, int feature, char text[SIDE_TEXT])
{
    static const char letters[PERP_FEATURE_KIND_COUNT] = "cefsrup";
    snprintf(text, SIDE_TEXT, "s%d.%c%d", shape, letters[perp_feature_kind_of(feature)], perp_feature_index(feature));
}

void perp_contact_feature_text(const perp_contact *contact, char *text, size_t size)
{
    char a[SIDE_TEXT], b[SIDE_TEXT];
    if (perp_contact_is_support(contact)) {
        snprintf(text, size, "support.%d", perp_feature_index(contact->feature_b));
        return;
    }
    side_text(contact->shape_a, contact->feature_a, a);
    side_text(contact->shape_b, contact->feature_b, b);
    snprintf(text, size, "%s-%s", a, b);
}

/* ---- curvature --------------------------------------------------------------------------------------------------- */

static const double sharp = 1e9; /* 1/m */

static double planar_curvature(const perp_planar_shape *shape, int feature)
{
    if (shape->kind == PERP_PLANAR_HOLE) {
        return -1.0 / shape->radius;
    }
    if (shape->kind == PERP_PLANAR_HALFPLANE || perp_feature_kind_of(feature) != PERP_FEATURE_CORNER) {
        return 0.0;
    }
    return shape->radius * sharp > 1.0 ? 1.0 / shape->radius : sharp;
}

/* Where the shapes of a contact begin; the parts of a polygon are all as sharp. */
static void first_parts(const perp_contact_set *set, const perp_contact *c, int part[2])
{
    const perp_contact_model *cm = set->memory->contact_model;
    int parts;
    part[0] = perp_contact_first_part(cm, c->a, c->shape_a, &parts);
    part[1] = perp_contact_first_part(cm, c->b, c->shape_b, &parts);
}

void perp_contact_planar_curvatures(const perp_contact_set *set, int contact, double of[2])
{
    const perp_contact *c = &set->contacts[contact];
    int part[2];
    first_parts(set, c, part);
    of[0] = planar_curvature(&set->memory->planar[part[0]], c->feature_a);
    of[1] = planar_curvature(&set->memory->planar[part[1]], c->feature_b);
}

void perp_contact_curvature(const perp_contact_set *set, int contact, double k[3])
{
    assert(contact >= 0 && contact < set->count);
    const struct perp_contact_set_memory *m = set->memory;
    const perp_contact *c = &set->contacts[contact];
    int part[2];
    k[0] = k[1] = k[2] = 0.0;
    if (perp_contact_is_support(c)) {
        return;
    }
    if (m->contact_model->model->planar) {
        double of[2];
        perp_contact_planar_curvatures(set, contact, of);
        k[0] = of[0] + of[1];
        return;
    }
    first_parts(set, c, part);
    const perp_mat3 of_a = perp_spatial_curvature(&m->spatial[part[0]], c->feature_a, c->normal, c->point_a);
    const perp_mat3 of_b =
        perp_spatial_curvature(&m->spatial[part[1]], c->feature_b, perp_vec3_scale(-1.0, c->normal), c->point_b);
    const perp_vec3 along_t = perp_vec3_add(perp_mat3_mul_vec(&of_a, c->t), perp_mat3_mul_vec(&of_b, c->t));
    const perp_vec3 along_o = perp_vec3_add(perp_mat3_mul_vec(&of_a, c->o), perp_mat3_mul_vec(&of_b, c->o));
    k[0] = perp_vec3_dot(c->t, along_t);
    k[1] = perp_vec3_dot(c->t, along_o);
    k[2] = perp_vec3_dot(c->o, along_o);
}
