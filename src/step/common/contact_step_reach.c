/* How far a step looks for contacts. It sees every one that its motion could meet. Shapes move against each other by at
 * most h times the sum of their speeds, and the convex laws keep a gap of mu h |v_t| besides: a contact farther away
 * than (1 + mu) times that takes no part in the step, listed or not. So whether it does is a matter of its two bodies
 * alone. The scene's margin, which says what is listed for people, is only where looking begins, so the motion does not
 * depend on it. */
#include "step/common/contact_step.h"

#include "contact/contact_reach.h"
#include "step/common/tolerances.h"

#include <string.h>

double perp_step_way(const contact_step *step, const perp_contact *c)
{
    double way = step->reach.way[c->a] + step->reach.way[c->b];
    way += step->reach.swing[c->a] > 0.0
               ? step->reach.swing[c->a] * perp_contact_arm(step->contacts, step->kinematics, c->a, c->b)
               : 0.0;
    way += step->reach.swing[c->b] > 0.0
               ? step->reach.swing[c->b] * perp_contact_arm(step->contacts, step->kinematics, c->b, c->a)
               : 0.0;
    return way;
}

bool perp_step_is_in_reach(const contact_step *step, const perp_contact *c)
{
    if (step->law->instant) {
        return c->phi <= CLOSED;
    }
    return c->phi <= step->model->scene->margin || c->phi <= (1.0 + c->friction) * perp_step_way(step, c);
}

bool perp_step_add_ways(contact_step *step, perp_step_context *context, const double *v, double h, double factor)
{
    bool farther = false;
    perp_kinematics_velocity(step->model, v, context->kinematics);
    perp_contact_speeds(context->contacts, context->kinematics, step->reach.speed, step->reach.turning);
    for (int b = 0; b < step->model->body_count; b++) {
        if (h * step->reach.speed[b] > step->reach.way[b]) {
            step->reach.way[b] = factor * h * step->reach.speed[b];
            farther = true;
        }
        if (h * step->reach.turning[b] > step->reach.swing[b]) {
            step->reach.swing[b] = factor * h * step->reach.turning[b];
            farther = true;
        }
    }
    return farther;
}

void perp_step_begin_ways(contact_step *step, perp_step_context *context, const double *v, double h)
{
    const perp_model *model = step->model;
    const double fall = step->dynamic ? 2.0 * h * h * perp_vec3_norm(model->scene->gravity) : 0.0;
    memset(step->reach.way, 0, (size_t)model->body_count * sizeof *step->reach.way);
    memset(step->reach.swing, 0, (size_t)model->body_count * sizeof *step->reach.swing);
    perp_step_add_ways(step, context, v, h, 1.0);
    for (int b = 0; b < model->body_count; b++) {
        step->reach.way[b] += step->moved[b] ? fall : 0.0; /* what falls gains a half of it, and need not look again */
    }
}

/* The largest gap that any two bodies could close. */
static double widest_reach(const contact_step *step, const perp_step_context *context)
{
    double first = 0.0, second = 0.0, swing = 0.0;
    for (int b = 0; b < step->model->body_count; b++) {
        second = fmax(second, fmin(first, step->reach.way[b]));
        first = fmax(first, step->reach.way[b]);
        for (int c = 0; c < step->model->body_count && step->reach.swing[b] > 0.0; c++) {
            swing = fmax(swing, step->reach.swing[b] * perp_contact_arm(context->contacts, context->kinematics, b, c));
        }
    }
    return (1.0 + step->largest_mu) * (first + second + 2.0 * swing);
}

perp_status perp_step_look_from(contact_step *step, perp_step_context *context, const double *q, perp_error *error)
{
    perp_kinematics_update(step->model, q, context->kinematics);
    step->reach.seen = perp_contact_set_margin(context->contacts);
    return perp_contact_set_build(context->contacts, context->kinematics, error);
}

perp_status perp_step_look_far_enough(contact_step *step, perp_step_context *context, const double *q,
                                      perp_error *error)
{
    static const double MORE = 1.25, LESS = 0.5; /* so that the margin does not change in every step */
    const double listed = step->model->scene->margin, wanted = fmax(listed, widest_reach(step, context));
    const double margin = perp_contact_set_margin(context->contacts);
    if (wanted > margin || wanted < LESS * margin) {
        perp_contact_set_look(context->contacts, wanted > listed ? MORE * wanted : listed);
    }
    return wanted > step->reach.seen ? perp_step_look_from(step, context, q, error) : PERP_STATUS_OK;
}
