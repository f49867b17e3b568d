/* contact_reach.c - how fast shapes come: what decides how far a step has to look. */
#include "contact/contact_reach.h"
#include "contact/contact_private.h"

#include <assert.h>

/* How fast the surface of an unbounded part comes along its normal, as it does not turn. */
static double unbounded_speed(const perp_contact_set *set, perp_twist twist, int i)
{
    const struct perp_contact_set_memory *m = set->memory;
    const bool planar = m->contact_model->model->planar;
    const bool halfplane = planar && m->planar[i].kind == PERP_PLANAR_HALFPLANE;
    const bool halfspace = !planar && m->spatial[i].kind == PERP_SPATIAL_HALFSPACE;
    if (!halfplane && !halfspace) {
        return perp_vec3_norm(twist.linear);
    }
    const double *r = halfspace ? m->spatial[i].rotation.m : NULL;
    const perp_vec3 normal = halfplane ? m->planar[i].normal : perp_vec3_make(r[2], r[5], r[8]);
    return fabs(perp_vec3_dot(normal, twist.linear));
}

static perp_vec3 corner_of(const struct perp_contact_set_memory *m, int part, int corner)
{
    const perp_vec3 low = m->low[part], high = m->high[part];
    return perp_vec3_make(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z);
}

/* Largest speed of a bounded part's box, of which a convex function takes its largest value at a corner. */
static double part_speed(const perp_contact_set *set, const perp_kinematics *kinematics, int i)
{
    const struct perp_contact_set_memory *m = set->memory;
    const int body = m->contact_model->parts[i].body;
    const perp_twist twist = kinematics->twist[body];
    double fastest = 0.0;
    for (int corner = 0; corner < 8; corner++) {
        const perp_vec3 arm = perp_vec3_sub(corner_of(m, i, corner), kinematics->pose[body].position);
        const perp_vec3 speed = perp_vec3_add(twist.linear, perp_vec3_cross(twist.angular, arm));
        fastest = fmax(fastest, perp_vec3_dot(speed, speed));
    }
    return sqrt(fastest);
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

contact_pace perp_contact_pace(const perp_contact_set *set, const perp_kinematics *kinematics)
{
    const perp_contact_model *cm = set->memory->contact_model;
    contact_pace pace = {.first = -1, .second = -1};
    for (int i = 0; i < cm->part_count; i++) {
        const contact_part *part = &cm->parts[i];
        if (!part->fixed) {
            add_speed(cm, part->body,
                      part->bounded ? part_speed(set, kinematics, i)
                                    : unbounded_speed(set, kinematics->twist[part->body], i),
                      &pace);
        }
    }
    return pace;
}

static bool is_at_rest(perp_twist twist)
{
    return twist.linear.x == 0.0 && twist.linear.y == 0.0 && twist.linear.z == 0.0 && twist.angular.x == 0.0 &&
           twist.angular.y == 0.0 && twist.angular.z == 0.0;
}

void perp_contact_speeds(const perp_contact_set *set, const perp_kinematics *kinematics, double *speed, double *turning)
{
    const perp_contact_model *cm = set->memory->contact_model;
    for (int b = 0; b < cm->model->body_count; b++) {
        speed[b] = turning[b] = 0.0;
        for (int i = cm->part_start[b]; i < cm->part_start[b + 1] && !is_at_rest(kinematics->twist[b]); i++) {
            if (cm->parts[i].bounded) {
                speed[b] = fmax(speed[b], part_speed(set, kinematics, i));
            } else {
                speed[b] = fmax(speed[b], perp_vec3_norm(kinematics->twist[b].linear));
                turning[b] = perp_vec3_norm(kinematics->twist[b].angular);
            }
        }
    }
}

double perp_contact_arm(const perp_contact_set *set, const perp_kinematics *kinematics, int body, int other)
{
    const perp_contact_model *cm = set->memory->contact_model;
    double farthest = 0.0;
    for (int i = cm->part_start[other]; i < cm->part_start[other + 1]; i++) {
        for (int corner = 0; corner < 8 && cm->parts[i].bounded; corner++) {
            const perp_vec3 x = corner_of(set->memory, i, corner);
            farthest = fmax(farthest, perp_vec3_norm(perp_vec3_sub(x, kinematics->pose[body].position)));
        }
    }
    return farthest;
}

bool perp_contact_body_box(const perp_contact_set *set, int body, perp_vec3 *low, perp_vec3 *high)
{
    const struct perp_contact_set_memory *m = set->memory;
    const perp_contact_model *cm = m->contact_model;
    bool any = false;
    for (int i = cm->part_start[body]; i < cm->part_start[body + 1]; i++) {
        const perp_vec3 l = m->low[i], h = m->high[i];
        if (!cm->parts[i].bounded) {
            continue;
        }
        *low = any ? perp_vec3_make(fmin(low->x, l.x), fmin(low->y, l.y), fmin(low->z, l.z)) : l;
        *high = any ? perp_vec3_make(fmax(high->x, h.x), fmax(high->y, h.y), fmax(high->z, h.z)) : h;
        any = true;
    }
    return any;
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
