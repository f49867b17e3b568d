/* contact_reach.c - how fast shapes come: what decides how far a step has to look. */
#include "contact/contact_private.h"

#include <assert.h>

/* How fast the surface of an unbounded part comes along its normal, or (`slip`) moves at all, the scene being as large
 * as it is. */
static double unbounded_speed(const perp_contact_set *set, perp_twist twist, int i, bool slip)
{
    const struct perp_contact_set_memory *m = set->memory;
    const bool planar = m->contact_model->model->planar;
    const bool halfplane = planar && m->planar[i].kind == PERP_PLANAR_HALFPLANE;
    const bool halfspace = !planar && m->spatial[i].kind == PERP_SPATIAL_HALFSPACE;
    if (slip || (!halfplane && !halfspace)) {
        return perp_vec3_norm(twist.linear) + (slip ? set->scene_size * perp_vec3_norm(twist.angular) : 0.0);
    }
    const double *r = halfspace ? m->spatial[i].rotation.m : NULL;
    const perp_vec3 normal = halfplane ? m->planar[i].normal : perp_vec3_make(r[2], r[5], r[8]);
    return fabs(perp_vec3_dot(normal, twist.linear));
}

/* Largest speed of the part's box, of which a convex function takes its largest value at a corner. */
static double part_speed(const perp_contact_set *set, const perp_kinematics *kinematics, int i, bool slip)
{
    const struct perp_contact_set_memory *m = set->memory;
    const contact_part *part = &m->contact_model->parts[i];
    const perp_twist twist = kinematics->twist[part->body];
    if (!part->bounded) {
        return unbounded_speed(set, twist, i, slip);
    }
    const perp_broad_phase_box *box = &m->boxes[i];
    const double half = 0.5 * m->settings.margin;
    double fastest = 0.0;
    for (int corner = 0; corner < 8; corner++) {
        const perp_vec3 x = {corner & 1 ? box->high.x - half : box->low.x + half,
                             corner & 2 ? box->high.y - half : box->low.y + half,
                             corner & 4 ? box->high.z - half : box->low.z + half};
        const perp_vec3 arm = perp_vec3_sub(x, kinematics->pose[part->body].position);
        const perp_vec3 speed = perp_vec3_add(twist.linear, perp_vec3_cross(twist.angular, arm));
        fastest = fmax(fastest, perp_vec3_norm(speed));
    }
    return fastest;
}

static void add_speed(const perp_contact_model *cm, int body, double speed, contact_pace *p)
{
    const int *cluster = cm->cluster;
    if (speed > p->first_speed) {
        if (p->first >= 0 && cluster[p->first] != cluster[body]) {
            p->second = p->first;
            p->second_speed = p->first_speed;
        }
        p->first = body;
        p->first_speed = speed;
    } else if (speed > p->second_speed && cluster[p->first] != cluster[body]) {
        p->second = body;
        p->second_speed = speed;
    }
}

contact_pace perp_contact_pace(const perp_contact_set *set, const perp_kinematics *kinematics, bool slip)
{
    const perp_contact_model *cm = set->memory->contact_model;
    contact_pace pace = {.first = -1, .second = -1};
    for (int i = 0; i < cm->part_count; i++) {
        if (!cm->parts[i].fixed) {
            add_speed(cm, cm->parts[i].body, part_speed(set, kinematics, i, slip), &pace);
        }
    }
    return pace;
}

double perp_contact_relative_speed(const perp_contact_set *set, const perp_kinematics *kinematics)
{
    const contact_pace pace = perp_contact_pace(set, kinematics, true);
    return pace.first_speed + pace.second_speed;
}

double perp_contact_set_margin(const perp_contact_set *set)
{
    return set->memory->settings.margin;
}

void perp_contact_set_stand_still(perp_contact_set *set)
{
    set->memory->still = true;
}

void perp_contact_set_look(perp_contact_set *set, double margin)
{
    assert(margin >= 0.0);
    if (margin != set->memory->settings.margin) {
        set->memory->settings.margin = margin;
        set->memory->fixed_placed = false; /* their boxes are grown by the margin */
    }
}
