#include "record_balance.h"
#include "shape_reference.h"
#include "step/common/rung_cone.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* m. Witnesses come from searches that end at 1e-10 of the shapes' size, and from ties that are equal to 4e-9 m. */
static const double ON_SURFACE = 2e-8;
static const double ROUNDING = 1e-12; /* relative */
static const double GONE = 1e-6;      /* m: by how much features that have gone are deeper than those that have come */

const char *record_check_name(record_check check)
{
    static const char *const names[] = {"point", "listed", "normal",  "tangents", "force",    "slip",
                                        "mode",  "gap",    "balance", "events",   "residuals"};
    return names[check];
}

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "record_judge: out of memory\n");
        exit(2);
    }
    return memory;
}

record_judge *record_judge_open(const perp_model *model, const perp_run_settings *settings)
{
    record_judge *j = need(calloc(1, sizeof *j));
    const size_t nv = (size_t)model->nv + 1;
    j->model = model;
    j->settings = settings;
    j->rung = perp_rung_find(settings->model);
    j->force = need(calloc(nv, sizeof(double)));
    j->inertia = need(calloc(nv, sizeof(double)));
    j->applied = need(calloc(nv, sizeof(double)));
    j->mass = need(calloc(nv * nv, sizeof(double)));
    j->packed = need(calloc((size_t)model->mass_size + 1, sizeof(double)));
    j->known = need(calloc((size_t)model->tree_count + 1, sizeof *j->known));
    j->carried = need(calloc((size_t)model->body_count + 1, sizeof *j->carried));
    if (perp_kinematics_create(model, NULL, &j->begin, NULL) != PERP_STATUS_OK ||
        perp_kinematics_create(model, NULL, &j->end, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &j->last, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    return j;
}

void record_judge_close(record_judge *j)
{
    void *const arrays[] = {j->force, j->inertia, j->applied, j->mass,    j->packed,
                            j->known, j->carried, j->before,  j->elements};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    perp_kinematics_free(j->begin);
    perp_kinematics_free(j->end);
    perp_state_free(&j->last);
    free(j);
}

void record_judge_off(record_judge *j, record_check check, const perp_contact *c, const char *what, double off,
                      double most)
{
    j->judged[check]++;
    if (off <= most) {
        return;
    }
    if (!j->text[0]) {
        char feature[64] = "";
        if (c) {
            perp_contact_feature_text(c, feature, sizeof feature);
        }
        snprintf(j->text, sizeof j->text, "%s, step %d, %s %s %s: %s of the %s check is off by %.3g, allowed is %.3g",
                 j->rung->name, j->step, c ? j->model->scene->bodies[c->a].name : "", feature,
                 c ? j->model->scene->bodies[c->b].name : "", what, record_check_name(check), off, most);
    }
}

/* ---- where things are -------------------------------------------------------------------------------------------- */

static const perp_shape *shape_of(const record_judge *j, int body, int shape)
{
    return &j->model->scene->bodies[body].shapes[shape];
}

/* From a world point to the surface of a shape, negative inside. */
static double distance(const record_judge *j, const perp_kinematics *k, int body, int shape, perp_vec3 point)
{
    const perp_shape *s = shape_of(j, body, shape);
    const perp_pose pose = perp_pose_mul(k->pose[body], s->pose.pose);
    return shape_reference_distance(s, j->model->planar, perp_pose_apply(perp_pose_inverse(pose), point));
}

perp_vec3 record_velocity_at(const perp_kinematics *k, int body, perp_vec3 point)
{
    const perp_vec3 arm = perp_vec3_sub(point, k->pose[body].position);
    return perp_vec3_add(k->twist[body].linear, perp_vec3_cross(k->twist[body].angular, arm));
}

static const perp_contact_record *find(const perp_contact_record *list, int count, const perp_contact *c)
{
    for (int i = 0; i < count; i++) {
        if (perp_contact_same(&list[i].contact, c)) {
            return &list[i];
        }
    }
    return NULL;
}

static bool is_split(const perp_step_info *info)
{
    return info->fallbacks[PERP_FALLBACK_SUBSTEP] > 0;
}

/* On `compliant`, and where there is no law: what is reported is of the end. */
static bool holds_at_end(const record_judge *j)
{
    return j->rung->own_cone == PERP_CONE_UNSET || (j->rung->takes & PERP_TAKES_COMPLIANCE);
}

/* False: that is not known. A step looks farther than contacts are listed, so what is open and was not listed before
 * may have its frame from the begin or the end; so may what was pressed and is open: its features may have gone. */
static bool place_of(const record_judge *j, const perp_step_info *info, const perp_contact_record *r, record_place *p)
{
    const perp_contact *now = &r->contact;
    const perp_contact_record *old = find(j->before, j->count, now);
    const bool late = holds_at_end(j) || j->step == 0;
    const bool gone = old && old->mode != PERP_CONTACT_OPEN && r->mode == PERP_CONTACT_OPEN;
    if (is_split(info) || info->fallbacks[PERP_FALLBACK_LINEARISED] > 0 || (!late && (!old || gone))) {
        return false;
    }
    const perp_contact *c = late ? now : &old->contact;
    *p = (record_place){late ? j->end : j->begin, c->point_a, c->point_b, c->phi};
    return true;
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

/* Beside the nearest place of a hole's wall others are listed, which are not at the shortest way to it and may be past
 * its mouth. */
static bool is_further(const record_judge *j, const perp_contact *c)
{
    const bool in_a = shape_of(j, c->a, c->shape_a)->kind == PERP_SHAPE_HOLE;
    const bool in_b = shape_of(j, c->b, c->shape_b)->kind == PERP_SHAPE_HOLE;
    return (in_a && perp_feature_index(c->feature_a) > 0) || (in_b && perp_feature_index(c->feature_b) > 0);
}

/* m: of the thinner one of the two shapes. */
static double thickness(const record_judge *j, const perp_contact *c)
{
    return fmin(shape_reference_thickness(shape_of(j, c->a, c->shape_a), j->model->planar),
                shape_reference_thickness(shape_of(j, c->b, c->shape_b), j->model->planar));
}

static void judge_point(record_judge *j, const perp_contact *c)
{
    const double apart = perp_vec3_norm(perp_vec3_sub(c->point_b, c->point_a));
    const double in_a = distance(j, j->end, c->a, c->shape_a, c->point_b);
    const double in_b = distance(j, j->end, c->b, c->shape_b, c->point_a);
    if (is_further(j, c)) {
        return;
    }
    record_judge_off(j, RECORD_POINT, c, "witness a", fabs(distance(j, j->end, c->a, c->shape_a, c->point_a)),
                     ON_SURFACE);
    record_judge_off(j, RECORD_POINT, c, "witness b", fabs(distance(j, j->end, c->b, c->shape_b, c->point_b)),
                     ON_SURFACE);
    record_judge_off(j, RECORD_POINT, c, "phi", fabs(fabs(c->phi) - apart), ON_SURFACE);
    if (-c->phi < thickness(j, c)) { /* what is deeper may be out on the other side */
        record_judge_off(j, RECORD_POINT, c, "the sign of phi", c->phi < 0.0 ? fmin(in_a, in_b) : -fmax(in_a, in_b),
                         ON_SURFACE + 0.01 * fabs(c->phi)); /* borders may cross askew */
    }
}

/* The normal of the nearest point of a contact's manifold where its law holds, which all of its points have unless one
 * of them is square to a surface by itself. False: the contact is the nearest one. */
static bool nearer_normal(const record_judge *j, const perp_step_info *info, const perp_contact *c,
                          const record_place *p, perp_vec3 *normal)
{
    const perp_contact_record *list = p->k == j->end ? info->contacts : j->before, *nearest = NULL;
    const int count = p->k == j->end ? info->contact_count : j->count;
    double least = p->phi;
    for (int i = 0; i < count; i++) {
        const perp_contact *x = &list[i].contact;
        if (x->a == c->a && x->b == c->b && x->shape_a == c->shape_a && x->shape_b == c->shape_b && x->phi < least) {
            nearest = &list[i];
            least = x->phi;
        }
    }
    const perp_contact_record *now = nearest ? find(info->contacts, info->contact_count, &nearest->contact) : NULL;
    *normal = now ? now->contact.normal : c->normal;
    return nearest;
}

/* From a surface along its normal the distance to it is the way gone. */
static void judge_normal(record_judge *j, const perp_step_info *info, const perp_contact *c, const record_place *p)
{
    const double thin = thickness(j, c);
    const double way = isfinite(thin) ? 0.05 * thin : 1e-3, allowed = 2.0 * ON_SURFACE + 1e-6 * way;
    const perp_vec3 off_a = perp_vec3_add_scaled(p->a, way, c->normal),
                    off_b = perp_vec3_add_scaled(p->b, -way, c->normal);
    const double a = fabs(distance(j, p->k, c->a, c->shape_a, off_a) - way);
    const double b = fabs(distance(j, p->k, c->b, c->shape_b, off_b) - way);
    record_judge_off(j, RECORD_NORMAL, c, "its length", fabs(perp_vec3_norm(c->normal) - 1.0), 1e-12);
    perp_vec3 nearer;
    /* nearer ones may be left out: beyond the margin, and of a rim, which `compliant` sees in places that stay */
    const bool rim = shape_of(j, c->a, c->shape_a)->kind == PERP_SHAPE_CYLINDER ||
                     shape_of(j, c->b, c->shape_b)->kind == PERP_SHAPE_CYLINDER;
    const bool sure = !c->tie && !rim && p->phi <= j->model->scene->margin;
    if (nearer_normal(j, info, c, p, &nearer)) {
        const double turned = way * perp_vec3_norm(perp_vec3_sub(c->normal, nearer));
        record_judge_off(j, RECORD_NORMAL, c, "the normal", fmin(turned, fmin(a, b)), allowed);
    } else {
        record_judge_off(j, RECORD_NORMAL, c, "the normal", sure ? fmax(a, b) : fmin(a, b), allowed);
    }
    if (!is_further(j, c)) {
        const perp_vec3 way_between = perp_vec3_sub(p->b, p->a);
        record_judge_off(j, RECORD_NORMAL, c, "the way between the witnesses",
                         perp_vec3_norm(perp_vec3_add_scaled(way_between, -p->phi, c->normal)), ON_SURFACE);
    }
}

static const perp_pair *pair_of(const record_judge *j, const perp_contact *c)
{
    const perp_scene *scene = j->model->scene;
    for (int i = 0; i < scene->pair_count; i++) {
        if (scene->pairs[i].body_a == c->a && scene->pairs[i].body_b == c->b) {
            return &scene->pairs[i];
        }
    }
    return NULL;
}

static perp_vec3 in_tangent_plane(perp_vec3 x, perp_vec3 n)
{
    return perp_vec3_add_scaled(x, -perp_vec3_dot(x, n), n);
}

static void judge_tangents(record_judge *j, const perp_contact *c)
{
    const perp_pair *pair = pair_of(j, c);
    const perp_vec3 n = c->normal;
    perp_vec3 t = perp_vec3_make(n.y, -n.x, 0.0), o = perp_vec3_make(0.0, 0.0, 0.0);
    if (!j->model->planar) {
        const perp_vec3 e = {fabs(n.x) > 0.9 ? 0.0 : 1.0, fabs(n.x) > 0.9 ? 1.0 : 0.0, 0.0};
        const bool own = pair && pair->tangent_set && perp_vec3_norm(in_tangent_plane(pair->tangent, n)) > 1e-6;
        t = perp_vec3_normalise(in_tangent_plane(own ? pair->tangent : e, n));
        o = perp_vec3_cross(n, t);
    }
    record_judge_off(j, RECORD_TANGENTS, c, "t", perp_vec3_norm(perp_vec3_sub(c->t, t)), 1e-9);
    record_judge_off(j, RECORD_TANGENTS, c, "o", perp_vec3_norm(perp_vec3_sub(c->o, o)), 1e-9);
}

/* Pairs that no rule of the contact layer leaves out, whatever it is: bodies without joints, in scenes without loops.
 */
static bool may_meet(const record_judge *j, int a, int b)
{
    const perp_scene *scene = j->model->scene;
    const perp_body *x = &scene->bodies[a], *y = &scene->bodies[b];
    bool good = x->joint < 0 && y->joint < 0 && (x->kind != PERP_BODY_FIXED || y->kind != PERP_BODY_FIXED);
    for (int i = 0; i < scene->exclusion_count; i++) {
        good = good && (scene->exclusions[i].body_a != a || scene->exclusions[i].body_b != b);
    }
    for (int i = 0; i < scene->joint_count; i++) { /* what is welded to a joint's parent */
        good = good && scene->joints[i].parent_body != a && scene->joints[i].parent_body != b;
    }
    return good && scene->loop_count == 0;
}

/* The listed gap of two shapes; infinite where there is none. */
static double listed_gap(const perp_step_info *info, int a, int b, int shape_a, int shape_b)
{
    double least = INFINITY;
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact *c = &info->contacts[i].contact;
        if (c->a == a && c->b == b && c->shape_a == shape_a && c->shape_b == shape_b) {
            least = fmin(least, c->phi);
        }
    }
    return least;
}

/* How near a corner, centre or end of one shape is to another shape. */
static double nearest_place(const record_judge *j, int of, int shape, int to, int to_shape)
{
    const perp_shape *s = shape_of(j, of, shape);
    const perp_pose pose = perp_pose_mul(j->end->pose[of], s->pose.pose);
    double least = INFINITY, radius;
    perp_vec3 x;
    for (int k = 0; shape_reference_place(s, j->model->planar, k, &x, &radius); k++) {
        least = fmin(least, distance(j, j->end, to, to_shape, perp_pose_apply(pose, x)) - radius);
    }
    return least;
}

static void judge_listed(record_judge *j, const perp_step_info *info)
{
    const perp_scene *scene = j->model->scene;
    for (int a = 0; a < scene->body_count; a++) {
        for (int b = a + 1; b < scene->body_count; b++) {
            const int shapes = may_meet(j, a, b) ? scene->bodies[a].shape_count * scene->bodies[b].shape_count : 0;
            for (int i = 0; i < shapes; i++) {
                const int x = i / scene->bodies[b].shape_count, y = i % scene->bodies[b].shape_count;
                const double seen = fmin(nearest_place(j, a, x, b, y), nearest_place(j, b, y, a, x));
                if (seen < scene->margin - ON_SURFACE && seen >= 0.0) {
                    record_judge_off(j, RECORD_LISTED, NULL, scene->bodies[b].name, listed_gap(info, a, b, x, y) - seen,
                                     ON_SURFACE);
                }
            }
        }
    }
}

/* ---- one contact's numbers --------------------------------------------------------------------------------------- */

static double friction_of(const record_judge *j, const perp_contact *c)
{
    const perp_pair *pair = pair_of(j, c);
    const perp_shape *a = shape_of(j, c->a, c->shape_a), *b = shape_of(j, c->b, c->shape_b);
    const double all = j->model->scene->friction;
    return pair && pair->friction.set
               ? pair->friction.value
               : sqrt((a->friction.set ? a->friction.value : all) * (b->friction.set ? b->friction.value : all));
}

/* N: Song's smoothed cone, of an element with its share of the patch's gamma. */
static double element_limit(const record_judge *j, const perp_contact_record *r, double fn)
{
    const perp_pair *pair = pair_of(j, &r->contact);
    const perp_compliance *soft = pair && pair->compliance_set ? &pair->compliance : &j->model->scene->compliance;
    const double most = friction_of(j, &r->contact) * fn;
    return sqrt(most * (most + 2.0 * soft->gamma / r->element_count));
}

/* A patch has the sum of its elements' forces and the mean slip of those that carry some. */
static void judge_elements(record_judge *j, const perp_step_info *info, const perp_contact_record *r, double unit)
{
    const perp_contact *c = &r->contact;
    double sum[3] = {0.0, 0.0, 0.0}, slip[2] = {0.0, 0.0}, loaded = 0.0;
    bool clear = c->direction_count == (j->model->planar ? 1 : 2) && !is_split(info);
    for (int e = r->element_start; e < r->element_start + r->element_count; e++) {
        const perp_element_record *x = &info->elements[e];
        const double part[3] = {x->fn, x->ft[0], x->ft[1]}, bears = x->fn > 0.0 ? 1.0 : 0.0;
        for (int k = 0; k < 3; k++) {
            sum[k] += part[k];
        }
        slip[0] += bears * x->slip[0];
        slip[1] += bears * x->slip[1];
        loaded += bears;
        clear = clear && (x->fn == 0.0 || x->fn > 1e-3 * r->fn); /* else it may count as bearing nothing */
        if (!is_split(info)) { /* the sum over parts may lie out of the last one's cone */
            record_judge_off(j, RECORD_FORCE, c, "an element's friction", hypot(x->ft[0], x->ft[1]) - x->limit,
                             RECORD_LAW * unit);
        }
        if (!is_split(info) && info->fallbacks[PERP_FALLBACK_SHARP] + info->fallbacks[PERP_FALLBACK_LINEARISED] == 0) {
            record_judge_off(j, RECORD_FORCE, c, "an element's limit", fabs(x->limit - element_limit(j, r, x->fn)),
                             ROUNDING * (1.0 + x->limit));
        }
    }
    if (r->mode != PERP_CONTACT_OPEN && r->element_count > 0) {
        record_judge_off(j, RECORD_FORCE, c, "the elements' sum",
                         hypot(sum[0] - r->fn, hypot(sum[1] - r->ft[0], sum[2] - r->ft[1])), ROUNDING * r->fn);
    }
    if (clear && r->mode != PERP_CONTACT_OPEN && loaded > 0.0) {
        record_judge_off(j, RECORD_SLIP, c, "the elements' mean slip",
                         hypot(slip[0] / loaded - r->slip[0], slip[1] / loaded - r->slip[1]), 1e-12);
    }
}

static void judge_force(record_judge *j, const perp_contact_record *r, bool split)
{
    const perp_contact *c = &r->contact;
    const perp_pair *pair = pair_of(j, c);
    const double mu = friction_of(j, c), unit = perp_vec3_norm(r->force_on_b) + 1e-3;
    const double margin = r->mode == PERP_CONTACT_OPEN ? 0.0 : mu * r->fn - hypot(r->ft[0], r->ft[1]);
    const perp_vec3 f = record_in_frame(c, r->fn, r->ft[0], r->ft[1]);
    record_judge_off(j, RECORD_FORCE, c, "force_on_b", perp_vec3_norm(perp_vec3_sub(r->force_on_b, f)), 1e-9 * unit);
    record_judge_off(j, RECORD_FORCE, c, "fn", -r->fn, 0.0);
    record_judge_off(j, RECORD_FORCE, c, "mu", fabs(c->friction - mu), ROUNDING * mu);
    record_judge_off(j, RECORD_FORCE, c, "restitution", fabs(c->restitution - (pair ? pair->restitution : 0.0)), 0.0);
    const perp_contact_record *before = find(j->before, j->count, c);
    if (!split || r->mode == PERP_CONTACT_OPEN) {
        record_judge_off(j, RECORD_FORCE, c, "margin", fabs(r->margin - margin), ROUNDING * (1.0 + mu) * unit);
    } else if (before && perp_vec3_norm(perp_vec3_sub(before->contact.normal, c->normal)) == 0.0) {
        /* the mean over parts, which may pull in different directions */
        record_judge_off(j, RECORD_FORCE, c, "margin of parts", r->margin - margin, 1e-9 * (1.0 + mu) * unit);
        if (!(j->rung->takes & PERP_TAKES_COMPLIANCE) && perp_rung_cone(j->rung, j->settings) != PERP_CONE_BOX) {
            /* gamma widens the cone, and a box has corners out of the circle */
            record_judge_off(j, RECORD_FORCE, c, "margin of parts", -r->margin, RECORD_LAW * (1.0 + mu) * unit);
        }
    }
    if (pair && pair->direction_count == 1 && !j->model->planar) {
        const perp_vec3 u = perp_vec3_normalise(in_tangent_plane(pair->directions[0], c->normal));
        record_judge_off(j, RECORD_FORCE, c, "friction's direction",
                         perp_vec3_norm(perp_vec3_cross(in_tangent_plane(f, c->normal), u)), 1e-9 * unit);
    }
}

/* Of the surfaces: on `compliant` what springs stretch is taken off, in a patch of one element that was there before.
 */
static bool stretch(const record_judge *j, const perp_step_info *info, const perp_contact_record *r, double rate[2])
{
    rate[0] = rate[1] = 0.0;
    if (r->element_count == 0) {
        return true;
    }
    const perp_contact_record *old = find(j->before, j->count, &r->contact);
    if (r->mode == PERP_CONTACT_OPEN || r->element_count > 1 || !old || old->mode == PERP_CONTACT_OPEN ||
        old->element_count != 1 || perp_vec3_norm(perp_vec3_sub(old->contact.t, r->contact.t)) > 1e-9 ||
        perp_vec3_norm(perp_vec3_sub(old->contact.normal, r->contact.normal)) > 1e-9) {
        return r->mode == PERP_CONTACT_OPEN;
    }
    for (int k = 0; k < 2; k++) {
        rate[k] =
            (info->elements[r->element_start].deformation[1 + k] - j->elements[old->element_start].deformation[1 + k]) /
            j->settings->h;
    }
    return true;
}

static void judge_slip(record_judge *j, const perp_step_info *info, const perp_contact_record *r, const record_place *p)
{
    const perp_contact *c = &r->contact;
    /* m/s; springs: two deformations over h, in frames that may have turned by 1e-9 */
    const perp_vec3 a = record_velocity_at(p->k, c->a, p->a), b = record_velocity_at(p->k, c->b, p->b),
                    u = perp_vec3_sub(b, a);
    double rate[2];
    if (!stretch(j, info, r, rate)) {
        return;
    }
    const double off =
        hypot(perp_vec3_dot(u, c->t) + rate[0] - r->slip[0], perp_vec3_dot(u, c->o) + rate[1] - r->slip[1]);
    record_judge_off(j, RECORD_SLIP, c, "slip", off,
                     (r->element_count > 0 ? 1e-8 : 1e-9) * (1.0 + perp_vec3_norm(a) + perp_vec3_norm(b)));
}

/* N: the largest force there is, of whole scene. What is open on its own island carries at most 1e-9 of it. */
static double force_unit(const record_judge *j, const double *v, int count, const perp_contact_record *records)
{
    double unit = 1e-3;
    for (int i = 0; i < count; i++) {
        unit = fmax(unit, perp_vec3_norm(records[i].force_on_b));
    }
    for (int i = 0; i < j->model->body_count; i++) {
        unit = fmax(unit, j->model->links[i].mass * perp_vec3_norm(j->model->scene->gravity));
    }
    for (int i = 0; i < j->model->nv; i++) {
        const double pull =
            fabs(j->applied[i]) + (j->settings->h * j->model->stiffness[i] + j->model->damping[i]) * fabs(v[i]);
        unit = fmax(unit, fmax(fabs(j->inertia[i]), pull)); /* springs: before the step too */
    }
    return unit;
}

static perp_contact_mode mode_by_slip(const perp_contact_record *r, double slip)
{
    const double limit = r->contact.friction * r->fn;
    const bool edge = limit - hypot(r->ft[0], r->ft[1]) <= 1e-6 * limit;
    return slip > 1e-8 ? PERP_CONTACT_SLIDE : edge ? PERP_CONTACT_LIMIT : PERP_CONTACT_STICK;
}

static void judge_mode(record_judge *j, const perp_step_info *info, const perp_contact_record *r, double unit)
{
    const perp_contact *c = &r->contact;
    double slip = hypot(r->slip[0], r->slip[1]);
    if (r->mode == PERP_CONTACT_OPEN) {
        record_judge_off(j, RECORD_MODE, c, "the force of an open contact", r->fn, 1e-9 * unit);
        return;
    }
    record_judge_off(j, RECORD_MODE, c, "a mode without force", -r->fn, -DBL_TRUE_MIN);
    if (is_split(info)) { /* of its last part */
        return;
    }
    if (r->element_count == 0) {
        record_judge_off(j, RECORD_MODE, c, "the mode", r->mode == mode_by_slip(r, slip) ? 0.0 : 1.0, 0.0);
        return;
    }
    bool slips = false, slides = false;
    for (int e = r->element_start; e < r->element_start + r->element_count; e++) {
        const perp_element_record *x = &info->elements[e];
        slips = slips || x->slips;
        slides = slides || (x->fn > 1e-6 * unit && hypot(x->slip[0], x->slip[1]) > 1e-6 &&
                            hypot(x->ft[0], x->ft[1]) > (1.0 - 1e-9) * x->limit);
    }
    record_judge_off(j, RECORD_MODE, c, "the mode of a patch", slides && r->mode != PERP_CONTACT_SLIDE ? 1.0 : 0.0,
                     0.0);
    record_judge_off(j, RECORD_MODE, c, "a patch that slides", r->mode == PERP_CONTACT_SLIDE && !slips ? 1.0 : 0.0,
                     0.0);
}

/* The linearised gap at the end of the step is what the law makes of it where there is force. */
static void judge_gap(record_judge *j, const perp_step_info *info, const perp_contact_record *r, const record_place *p,
                      double unit)
{
    const perp_contact *c = &r->contact;
    const double observed = j->rung->convex && r->mode != PERP_CONTACT_OPEN ? fmax(0.0, c->phi) : 0.0;
    record_judge_off(j, RECORD_GAP, c, "layer_observed", fabs(r->layer_observed - observed), 0.0);
    if (!j->rung->convex || r->mode == PERP_CONTACT_OPEN) {
        record_judge_off(j, RECORD_GAP, c, "a layer that is none", fabs(r->layer_predicted), 0.0);
    }
    if (!p || r->fn < 1e-3 * unit || r->mode == PERP_CONTACT_OPEN || c->restitution > 0.0 || holds_at_end(j) ||
        info->fallbacks[PERP_FALLBACK_UNSTABILISED] > 0 || j->settings->smoothing > 0.0) {
        return;
    }
    const double h = j->settings->h, slip = h * c->friction * hypot(r->slip[0], r->slip[1]);
    const perp_vec3 u = perp_vec3_sub(record_velocity_at(p->k, c->b, p->b), record_velocity_at(p->k, c->a, p->a));
    const double gap = p->phi + h * perp_vec3_dot(u, c->normal), allowed = 1e-6 + RECORD_LAW * h * perp_vec3_norm(u);
    record_judge_off(j, RECORD_GAP, c, "the gap of the law", fabs(gap - r->layer_predicted), allowed);
    record_judge_off(j, RECORD_GAP, c, "layer_predicted", r->layer_predicted - slip, allowed);
    if (j->rung->convex && j->rung->inertia != PERP_RUNG_INERTIA_FULL &&
        perp_rung_cone(j->rung, j->settings) == PERP_CONE_QUADRATIC && !pair_of(j, c)) {
        record_judge_off(j, RECORD_GAP, c, "layer_predicted by slip", fabs(r->layer_predicted - slip), allowed);
    }
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void judge_events(record_judge *j, const perp_state *state, const perp_step_info *info)
{
    int wanted = 0;
    for (int i = 0; i < info->contact_count + j->count; i++) {
        const bool gone = i >= info->contact_count;
        const perp_contact_record *r = gone ? &j->before[i - info->contact_count] : &info->contacts[i];
        const perp_contact_record *old = gone ? r : find(j->before, j->count, &r->contact);
        const perp_contact_mode from = old ? old->mode : PERP_CONTACT_OPEN, to = gone ? PERP_CONTACT_OPEN : r->mode;
        if (from == to || (gone && find(info->contacts, info->contact_count, &r->contact))) {
            continue;
        }
        bool told = false;
        char feature[64];
        perp_contact_feature_text(&r->contact, feature, sizeof feature);
        for (int e = 0; e < info->event_count; e++) {
            const perp_contact_event *x = &info->events[e];
            told = told || (x->a == r->contact.a && x->b == r->contact.b && x->from == from && x->to == to &&
                            x->t == state->t && strcmp(x->feature, feature) == 0);
        }
        wanted++;
        record_judge_off(j, RECORD_EVENTS, &r->contact, "an event that is not told", told ? 0.0 : 1.0, 0.0);
    }
    record_judge_off(j, RECORD_EVENTS, NULL, "the number of events", abs(info->event_count - wanted), 0.0);
}

static void judge_residuals(record_judge *j, const perp_step_info *info)
{
    double deepest = 0.0, layer = 0.0, open = 0.0, residual[6];
    for (int i = 0; i < info->contact_count; i++) {
        deepest = fmax(deepest, -info->contacts[i].contact.phi);
        layer = fmax(layer, info->contacts[i].layer_observed);
    }
    for (int i = 0; i < j->model->scene->loop_count && j->rung->look_back; i++) {
        perp_loop_evaluate(j->model, j->end, i, residual, NULL);
        for (int r = 0; r < perp_loop_rows(j->model, i); r++) {
            open = fmax(open, fabs(residual[r]));
        }
    }
    /* A contact with force is listed once more where its features have gone, and may be deeper than those that have
     * come. */
    record_judge_off(j, RECORD_RESIDUALS, NULL, "penetration", info->residuals.penetration - deepest, 0.0);
    record_judge_off(j, RECORD_RESIDUALS, NULL, "penetration", deepest - info->residuals.penetration, GONE);
    record_judge_off(j, RECORD_RESIDUALS, NULL, "boundary_layer", fabs(info->residuals.boundary_layer - layer), 0.0);
    if (j->step > 0) {
        record_judge_off(j, RECORD_RESIDUALS, NULL, "loop", fabs(info->residuals.loop - open), 0.0);
    }
}

static void judge_contacts(record_judge *j, const perp_step_info *info, double unit)
{
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        record_place p;
        if (perp_contact_is_support(&r->contact)) {
            const bool forces = j->step > 0 && j->rung->own_cone != PERP_CONE_UNSET;
            record_judge_support(j, info, r, place_of(j, info, r, &p) ? &p : NULL, forces, unit);
            continue;
        }
        judge_point(j, &r->contact);
        judge_tangents(j, &r->contact);
        judge_force(j, r, is_split(info));
        judge_elements(j, info, r, unit);
        judge_mode(j, info, r, unit);
        const bool known = place_of(j, info, r, &p);
        judge_gap(j, info, r, known ? &p : NULL, unit);
        if (known) {
            judge_normal(j, info, &r->contact, &p);
            judge_slip(j, info, r, &p);
        }
    }
}

static void keep(record_judge *j, const perp_state *state, const perp_step_info *info, bool late)
{
    perp_state_copy(j->model, &j->last, state);
    if (info->contact_count > j->capacity || info->element_count > j->element_capacity) {
        j->capacity = 2 * info->contact_count;
        j->element_capacity = 2 * info->element_count;
        j->before = need(realloc(j->before, (size_t)(j->capacity + 1) * sizeof *j->before));
        j->elements = need(realloc(j->elements, (size_t)(j->element_capacity + 1) * sizeof *j->elements));
    }
    j->count = info->contact_count;
    for (int i = 0; i < j->count; i++) {
        j->before[i] = info->contacts[i];
    }
    for (int i = 0; i < info->element_count; i++) {
        j->elements[i] = info->elements[i];
    }
    for (int b = 0; b < j->model->body_count; b++) { /* velocities are of where the law holds */
        const perp_kinematics *k = late ? j->end : j->begin;
        j->carried[b] = (perp_twist){record_velocity_at(k, b, k->com[b]), k->twist[b].angular};
    }
    perp_kinematics_update(j->model, state->q, j->begin);
}

static bool look(record_judge *j, int step, const perp_state *state)
{
    j->step = step;
    perp_kinematics_update(j->model, state->q, j->end);
    perp_kinematics_velocity(j->model, state->v, j->end);
    perp_kinematics_velocity(j->model, state->v, j->begin);
    return holds_at_end(j) || step == 0;
}

void record_judge_skip(record_judge *j, int step, const perp_state *state, const perp_step_info *info)
{
    const bool late = look(j, step, state);
    keep(j, state, info, late);
}

bool record_judge_step(record_judge *j, int step, const perp_state *state, const perp_step_info *info)
{
    const perp_model *model = j->model;
    const bool late = look(j, step, state);
    perp_kinematics *at = late ? j->end : j->begin;
    const bool law = step > 0 && j->rung->own_cone != PERP_CONE_UNSET;
    if (law) {
        record_take_inertia(j, at, state->v, late);
        record_take_loads(j, at, state->q, state->v, state->t);
    }
    const double unit = force_unit(j, state->v, info->contact_count, info->contacts);
    judge_contacts(j, info, unit);
    judge_listed(j, info);
    judge_residuals(j, info);
    if (step > 0) {
        judge_events(j, state, info);
    }
    for (int k = 0; k < model->tree_count; k++) {
        j->known[k] = true;
    }
    for (int i = 0; law && i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        record_place p;
        if (place_of(j, info, r, &p)) {
            record_take_contact(j, info, r, &p);
        } else if (perp_vec3_norm(r->force_on_b) > 0.0) {
            const int trees[2] = {model->links[r->contact.a].tree, model->links[r->contact.b].tree};
            for (int k = 0; k < 2; k++) {
                if (trees[k] >= 0) {
                    j->known[trees[k]] = false;
                }
            }
        }
    }
    if (law && is_split(info)) {
        record_judge_momentum(j, info, state, unit);
    } else if (law && info->fallbacks[PERP_FALLBACK_LINEARISED] == 0) {
        record_judge_balance(j, at, state->q, unit);
    }
    keep(j, state, info, late);
    return !j->text[0];
}

bool record_judge_solution(record_judge *j, const perp_state *state, const perp_instant_solution *solution)
{
    const perp_model *model = j->model;
    const bool inertia = j->rung->inertia == PERP_RUNG_INERTIA_FULL;
    const perp_step_info info = {.contact_count = solution->contact_count, .contacts = solution->contacts};
    const double *v = inertia ? state->v : solution->rate;
    perp_kinematics_update(model, state->q, j->end);
    perp_kinematics_velocity(model, state->v, j->end);
    memset(j->inertia, 0, (size_t)model->nv * sizeof *j->inertia);
    if (inertia) {
        perp_bias_force(model, j->end, state->v, j->inertia);
        perp_mass_matrix(model, j->end, j->packed);
        perp_mass_matrix_expand(model, j->packed, j->mass);
        for (int i = 0; i < model->nv * model->nv; i++) {
            j->inertia[i / model->nv] += j->mass[i] * solution->rate[i % model->nv];
        }
    }
    record_take_loads(j, j->end, state->q, v, state->t);
    perp_kinematics_velocity(model, v, j->end);
    const double unit = force_unit(j, v, info.contact_count, info.contacts);
    for (int k = 0; k < model->tree_count; k++) {
        j->known[k] = true;
    }
    for (int i = 0; i < info.contact_count; i++) {
        const perp_contact_record *r = &info.contacts[i];
        const record_place p = {j->end, r->contact.point_a, r->contact.point_b, r->contact.phi};
        record_take_contact(j, &info, r, &p);
        if (perp_contact_is_support(&r->contact)) {
            record_judge_support(j, &info, r, &p, true, unit);
            continue;
        }
        judge_point(j, &r->contact);
        judge_tangents(j, &r->contact);
        judge_force(j, r, false);
        judge_mode(j, &info, r, unit);
        judge_normal(j, &info, &r->contact, &p);
        judge_slip(j, &info, r, &p);
    }
    judge_listed(j, &info);
    record_judge_balance(j, j->end, state->q, unit);
    return !j->text[0];
}
