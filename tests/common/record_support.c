/* Supports, for record_judge.c: from what the scene says of them, and the motion of their bodies. */
#include "record_balance.h"
#include "shape_reference.h"

#include <float.h>
#include <math.h>

static const double ROUNDING = 1e-12; /* relative; of places m */

static double share_sum(const perp_support *support)
{
    double sum = 0.0;
    for (int i = 0; i < support->point_count; i++) {
        sum += support->points[i].share;
    }
    return sum;
}

/* The listed point, or the centre of them all. */
static perp_vec3 listed_place(const perp_support *support, int point)
{
    perp_vec3 place = {0.0, 0.0, 0.0};
    if (support->model == PERP_SUPPORT_POINTS) {
        return perp_vec3_make(support->points[point].x, support->points[point].y, 0.0);
    }
    for (int i = 0; i < support->point_count; i++) {
        const perp_vec3 at = {support->points[i].x, support->points[i].y, 0.0};
        place = perp_vec3_add_scaled(place, support->points[i].share / share_sum(support), at);
    }
    return place;
}

/* m: a point in the body's frame out of all of its shapes. */
static double out_of_shapes(const perp_body *body, perp_vec3 point)
{
    double least = INFINITY;
    for (int i = 0; i < body->shape_count; i++) {
        const perp_vec3 x = perp_pose_apply(perp_pose_inverse(body->shapes[i].pose.pose), point);
        least = fmin(least, shape_reference_distance(&body->shapes[i], true, x));
    }
    return least;
}

static void judge_place(record_judge *j, const perp_contact *c)
{
    const perp_body *body = &j->model->scene->bodies[c->b];
    const perp_vec3 at = perp_pose_apply(perp_pose_inverse(j->end->pose[c->b]), c->point_b);
    record_judge_off(j, RECORD_POINT, c, "the body that rests", c->a != c->b || !body->support.set, 0.0);
    record_judge_off(j, RECORD_POINT, c, "witness a", perp_vec3_norm(perp_vec3_sub(c->point_a, c->point_b)), 0.0);
    record_judge_off(j, RECORD_POINT, c, "phi", fabs(c->phi), 0.0);
    if (body->support.point_count > 0) {
        const perp_vec3 place = listed_place(&body->support, perp_feature_index(c->feature_b));
        record_judge_off(j, RECORD_POINT, c, "the point of the body", perp_vec3_norm(perp_vec3_sub(at, place)),
                         ROUNDING);
    } else if (body->support.model == PERP_SUPPORT_POINTS) { /* the centre may lie beside the body */
        record_judge_off(j, RECORD_POINT, c, "a point below the body", out_of_shapes(body, at), ROUNDING);
    }
    const perp_vec3 n = {0.0, 0.0, 1.0}, t = {1.0, 0.0, 0.0}, o = {0.0, 1.0, 0.0};
    record_judge_off(j, RECORD_NORMAL, c, "the normal", perp_vec3_norm(perp_vec3_sub(c->normal, n)), 0.0);
    record_judge_off(j, RECORD_TANGENTS, c, "t", perp_vec3_norm(perp_vec3_sub(c->t, t)), 0.0);
    record_judge_off(j, RECORD_TANGENTS, c, "o", perp_vec3_norm(perp_vec3_sub(c->o, o)), 0.0);
}

/* N: of a listed point its own; else all together, which every point has a part of. */
static void judge_load(record_judge *j, const perp_step_info *info, const perp_contact_record *r)
{
    const perp_contact *c = &r->contact;
    const perp_support *support = &j->model->scene->bodies[c->b].support;
    const double all = support->normal.set ? support->normal.value : 9.81 * j->model->links[c->b].mass;
    double sum = 0.0;
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *x = &info->contacts[i];
        sum += x->contact.b == c->b && perp_contact_is_support(&x->contact) ? x->fn : 0.0;
    }
    record_judge_off(j, RECORD_FORCE, c, "the sum of fn", fabs(sum - all), ROUNDING * all);
    if (support->point_count > 0 && support->model == PERP_SUPPORT_POINTS) {
        const double share = support->points[perp_feature_index(c->feature_b)].share / share_sum(support);
        record_judge_off(j, RECORD_FORCE, c, "fn", fabs(r->fn - share * all), ROUNDING * all);
    }
}

static void judge_friction(record_judge *j, const perp_step_info *info, const perp_contact_record *r)
{
    const perp_contact *c = &r->contact;
    const perp_scene *scene = j->model->scene;
    const perp_support *support = &scene->bodies[c->b].support;
    const double mu = support->friction.set ? support->friction.value : scene->friction;
    const perp_vec3 f = record_in_frame(c, r->fn, r->ft[0], r->ft[1]);
    const double used = c->arm > 0.0 ? hypot(hypot(r->ft[0], r->ft[1]), r->moment / c->arm) : hypot(r->ft[0], r->ft[1]);
    const bool split = info->fallbacks[PERP_FALLBACK_SUBSTEP] > 0, carries = r->mode != PERP_CONTACT_OPEN;
    record_judge_off(j, RECORD_FORCE, c, "force_on_b", perp_vec3_norm(perp_vec3_sub(r->force_on_b, f)),
                     ROUNDING * (1.0 + r->fn));
    record_judge_off(j, RECORD_FORCE, c, "mu", fabs(c->friction - mu), ROUNDING * mu);
    record_judge_off(j, RECORD_FORCE, c, "an arm", (support->model == PERP_SUPPORT_ELLIPSOID) != (c->arm > 0.0), 0.0);
    record_judge_off(j, RECORD_FORCE, c, "a moment without an arm", c->arm > 0.0 ? 0.0 : fabs(r->moment), 0.0);
    if (!split) { /* parts may pull in different directions */
        record_judge_off(j, RECORD_FORCE, c, "margin", fabs(r->margin - (carries ? mu * r->fn - used : 0.0)),
                         ROUNDING * (1.0 + mu) * (1.0 + r->fn));
    }
    record_judge_off(j, RECORD_GAP, c, "a layer", fabs(r->layer_predicted) + fabs(r->layer_observed), 0.0);
}

static void judge_slip(record_judge *j, const perp_step_info *info, const perp_contact_record *r, const record_place *p)
{
    const perp_contact *c = &r->contact;
    const perp_vec3 u = record_velocity_at(p->k, c->b, p->b);
    const double limit = c->friction * r->fn, turning = c->arm * p->k->twist[c->b].angular.z;
    record_judge_off(j, RECORD_SLIP, c, "slip", hypot(u.x - r->slip[0], u.y - r->slip[1]),
                     1e-9 * (1.0 + perp_vec3_norm(u)));
    if (info->fallbacks[PERP_FALLBACK_SUBSTEP] > 0 || r->mode == PERP_CONTACT_OPEN) {
        return;
    }
    const double slip = hypot(hypot(r->slip[0], r->slip[1]), turning);
    const perp_contact_mode still = r->margin <= 1e-6 * limit ? PERP_CONTACT_LIMIT : PERP_CONTACT_STICK;
    const perp_contact_mode mode = slip > 1e-8 ? PERP_CONTACT_SLIDE : still;
    record_judge_off(j, RECORD_MODE, c, "the mode", r->mode != mode && fabs(slip - 1e-8) > 1e-9, 0.0);
}

void record_judge_support(record_judge *j, const perp_step_info *info, const perp_contact_record *r,
                          const record_place *p, bool forces, double unit)
{
    judge_place(j, &r->contact);
    judge_friction(j, info, r);
    if (forces) {
        judge_load(j, info, r);
    }
    record_judge_off(j, RECORD_MODE, &r->contact, "the force of an open contact",
                     r->mode == PERP_CONTACT_OPEN ? r->fn : 0.0, 1e-9 * unit);
    if (p) {
        judge_slip(j, info, r, p);
    }
}
