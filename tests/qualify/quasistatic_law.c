#include "contact/contact_reach.h"
#include "quasistatic_law.h"

#include "quasistatic_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HALF_TURN = 3.14159265358979323846;

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "quasistatic_law: out of memory\n");
        exit(2);
    }
    return memory;
}

void quasistatic_view_open(const perp_model *model, const perp_run_settings *settings, const perp_rung *rung,
                           quasistatic_view *view)
{
    const size_t nv = (size_t)model->nv + 1;
    *view = (quasistatic_view){.model = model, .settings = settings, .rung = rung, .instant = !rung->step};
    view->given = need(calloc(nv, sizeof(double)));
    view->command = need(calloc(nv, sizeof(double)));
    view->generalised = need(calloc(nv, sizeof(double)));
    view->own = need(calloc(nv, sizeof(double)));
    view->mass = need(calloc(nv * nv, sizeof(double)));
    view->packed = need(calloc((size_t)model->mass_size + 1, sizeof(double)));
    if (perp_kinematics_create(model, NULL, &view->kinematics, NULL) != PERP_STATUS_OK ||
        perp_contact_model_build(model, NULL, &view->contacts, NULL) != PERP_STATUS_OK ||
        perp_contact_set_create(view->contacts, NULL, NULL, &view->set, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
}

void quasistatic_view_close(quasistatic_view *view)
{
    perp_contact_set_free(view->set);
    perp_contact_model_free(view->contacts);
    perp_kinematics_free(view->kinematics);
    free(view->given);
    free(view->command);
    free(view->generalised);
    free(view->own);
    free(view->mass);
    free(view->packed);
}

/* F as docs/models.md defines it, of the whole scene, as far as it is known before the step; the sweep's scenes apply
 * forces along x only. */
static double force_unit(const quasistatic_view *view)
{
    const perp_model *model = view->model;
    double largest = 1e-3;
    for (int i = 0; i < model->body_count; i++) {
        largest = model->links[i].tree >= 0
                      ? fmax(largest, model->links[i].mass * perp_vec3_norm(model->scene->gravity))
                      : largest;
    }
    for (int i = 0; i < model->scene->force_count; i++) {
        largest = fmax(largest, fabs(perp_drive_value(&model->scene->forces[i].force[0], view->t_end)));
    }
    for (int i = 0; i < model->nv; i++) {
        if (model->role[i] == PERP_DOF_IMPEDANCE && quasistatic_view_is_free(view, i)) {
            const double spring = fabs(model->stiffness[i] * (view->command[i] - view->q[model->dof_q[i]]));
            const bool turns = perp_vec3_norm(view->kinematics->dof_angular[i]) > 0.5;
            largest = fmax(largest, turns ? spring / view->length : spring);
        }
    }
    return largest;
}

void quasistatic_view_at(quasistatic_view *view, const double *q, double t, double margin)
{
    const perp_model *model = view->model;
    const perp_prescribe which = view->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION
                                     ? PERP_PRESCRIBE_POSITION_IMPEDANCE
                                     : PERP_PRESCRIBE_POSITION;
    view->q = q;
    view->t = t;
    view->h = view->instant ? 1.0 : view->settings->h;
    view->t_end = view->instant ? t : t + view->h;
    memset(view->given, 0, (size_t)model->nv * sizeof(double));
    if (view->instant) {
        perp_prescribed_rate(model, which, t, view->given);
    } else {
        perp_prescribed_velocity(model, which, t, view->t_end, view->given);
    }
    perp_command(model, view->t_end, view->command);
    perp_kinematics_update(model, q, view->kinematics);
    perp_contact_set_look(view->set, margin);
    if (perp_contact_set_build(view->set, view->kinematics, NULL) != PERP_STATUS_OK) {
        need(NULL);
    }
    view->length = view->set->scene_size;
    view->force = force_unit(view);
}

bool quasistatic_view_is_free(const quasistatic_view *view, int dof)
{
    const perp_dof_role role = view->model->role[dof];
    return role != PERP_DOF_PRESCRIBED &&
           !(role == PERP_DOF_IMPEDANCE && (view->rung->takes & PERP_TAKES_IMPEDANCE_AS_POSITION));
}

double quasistatic_view_stiffness(const quasistatic_view *view, int dof)
{
    const perp_model *model = view->model;
    return model->role[dof] == PERP_DOF_IMPEDANCE
               ? (view->instant ? 0.0 : view->h * model->stiffness[dof]) + model->damping[dof]
               : 0.0;
}

void quasistatic_view_load(const quasistatic_view *view, double *force)
{
    const perp_model *model = view->model;
    perp_gravity_force(model, view->kinematics, force);
    perp_applied_force(model, view->kinematics, view->t_end, view->own);
    for (int i = 0; i < model->nv; i++) {
        force[i] += view->own[i];
        if (model->role[i] == PERP_DOF_IMPEDANCE && quasistatic_view_is_free(view, i)) {
            force[i] += model->stiffness[i] * (view->command[i] - view->q[model->dof_q[i]]);
        }
    }
}

/* ---- cones ------------------------------------------------------------------------------------------------------- */

static perp_cone cone_of(const perp_run_settings *settings, const perp_rung *rung)
{
    return settings->cone != PERP_CONE_UNSET ? settings->cone : rung->own_cone;
}

/* Both for the circle, the regular polygon with a corner on the first axis, and the square |f_k| <= 1. */
static double largest_pull(perp_cone cone, int rays, const double s[2])
{
    if (cone == PERP_CONE_QUADRATIC) {
        return hypot(s[0], s[1]);
    }
    if (cone == PERP_CONE_BOX) {
        return fabs(s[0]) + fabs(s[1]);
    }
    double largest = 0.0;
    for (int j = 0; j < rays; j++) {
        const double angle = 2.0 * HALF_TURN * j / rays;
        largest = fmax(largest, -(cos(angle) * s[0] + sin(angle) * s[1]));
    }
    return largest;
}

/* The least factor of the unit cone that holds f. */
static double reach_of(perp_cone cone, int rays, const double f[2])
{
    if (cone == PERP_CONE_QUADRATIC) {
        return hypot(f[0], f[1]);
    }
    if (cone == PERP_CONE_BOX) {
        return fmax(fabs(f[0]), fabs(f[1]));
    }
    double largest = 0.0;
    for (int j = 0; j < rays; j++) { /* its sides are halfway between its corners */
        const double angle = HALF_TURN * (2 * j + 1) / rays;
        largest = fmax(largest, (cos(angle) * f[0] + sin(angle) * f[1]) / cos(HALF_TURN / rays));
    }
    return largest;
}

static void along_directions(const perp_contact *c, const double x[2], double out[2])
{
    out[0] = out[1] = 0.0;
    for (int k = 0; k < c->direction_count; k++) {
        out[k] = x[0] * perp_vec3_dot(c->directions[k], c->t) + x[1] * perp_vec3_dot(c->directions[k], c->o);
    }
}

double quasistatic_support(const quasistatic_view *view, int directions, const double s[2])
{
    return directions < 2 ? fabs(s[0]) : largest_pull(cone_of(view->settings, view->rung), view->settings->rays, s);
}

double quasistatic_out_of_cone(const perp_run_settings *settings, const perp_rung *rung, const perp_contact_record *r)
{
    double f[2];
    along_directions(&r->contact, r->ft, f);
    const double reach =
        r->contact.direction_count < 2 ? fabs(f[0]) : reach_of(cone_of(settings, rung), settings->rays, f);
    return reach - r->contact.friction * r->fn;
}

/* ---- an answer --------------------------------------------------------------------------------------------------- */

static int find(const perp_contact_set *set, const perp_contact *c)
{
    for (int i = 0; i < set->count; i++) {
        if (perp_contact_same(&set->contacts[i], c)) {
            return i;
        }
    }
    return -1;
}

static bool is_tied(const perp_model *model, int tree)
{
    for (int i = 0; i < model->scene->loop_count; i++) {
        const perp_loop *loop = &model->scene->loops[i];
        if (model->links[loop->body_a].tree == tree || model->links[loop->body_b].tree == tree) {
            return true;
        }
    }
    return false;
}

/* The force that inertia takes on a degree of freedom of a tree: of all of its velocity in one step, on passive ones
 * alone, or of the change of velocity. NaN where that is not known. */
static double inertial(const quasistatic_view *view, const perp_tree *tree, int i, const double *v)
{
    const perp_model *model = view->model;
    const double *row = view->mass + (ptrdiff_t)i * model->nv;
    double force = 0.0;
    for (int j = tree->v_start; j < tree->v_start + tree->v_count; j++) {
        if (view->drifted) {
            force += row[j] * (v[j] - view->drifted[j]) / view->h;
        } else if (model->role[i] == PERP_DOF_PASSIVE && model->role[j] == PERP_DOF_PASSIVE) {
            force += row[j] * v[j] / view->h;
        }
    }
    return force;
}

/* F with what only the answer tells, where there is inertia: the largest contact force, and the largest change of
 * momentum over h. Rungs without it are held to F as it is before. */
static void enlarge_force_unit(quasistatic_view *view, const double *v, const perp_contact_record *records, int count)
{
    const perp_model *model = view->model;
    if (!view->drifted && !quasistatic_has_inertia(view->rung)) {
        return;
    }
    perp_mass_matrix(model, view->kinematics, view->packed);
    perp_mass_matrix_expand(model, view->packed, view->mass);
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const bool turns = perp_vec3_norm(view->kinematics->dof_angular[i]) > 0.5;
            const double change = fabs(inertial(view, tree, i, v)) / (turns ? view->length : 1.0);
            view->force = change > view->force ? change : view->force; /* which NaN is not */
        }
    }
    for (int i = 0; i < count; i++) {
        view->force = fmax(view->force, perp_vec3_norm(records[i].force_on_b));
    }
}

/* What is left on the degrees of freedom that only contacts, loads, springs and inertia act on. */
static double balance(quasistatic_view *view, const double *v)
{
    const perp_model *model = view->model;
    const bool inertia = view->drifted || quasistatic_has_inertia(view->rung);
    double worst = 0.0;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count && !is_tied(model, k); i++) {
            const int at = model->dof_q[i];
            const double end = at >= 0 ? view->q[at] + (view->instant ? 0.0 : view->h * v[i]) : 0.0;
            if (!quasistatic_view_is_free(view, i) ||
                (at >= 0 && (end < model->limit_low[i] + 1e-6 || end > model->limit_high[i] - 1e-6))) {
                continue;
            }
            const double taken = inertia ? inertial(view, tree, i, v) : 0.0;
            const double left = view->generalised[i] - quasistatic_view_stiffness(view, i) * v[i] - taken;
            if (isnan(taken)) {
                continue;
            }
            const bool turns = perp_vec3_norm(view->kinematics->dof_angular[i]) > 0.5;
            worst = fmax(worst, fabs(left) / (turns ? view->force * view->length : view->force));
        }
    }
    return worst;
}

/* One contact: force of the record (NULL: none), velocities and gap of the view. In a step with fallback `unstabilised`
 * some islands have what overlaps in its rate; which ones is not told. */
static void measure_contact(const quasistatic_view *view, int i, const perp_contact_record *r, const double *velocity,
                            quasistatic_law *law)
{
    const perp_contact *c = &view->set->contacts[i];
    const bool convex = quasistatic_is_convex(view->rung);
    const double x[2] = {velocity[1], view->set->rows > 2 ? velocity[2] : 0.0}, unit = view->length / view->h;
    double s[2], f[2] = {0.0, 0.0};
    along_directions(c, x, s);
    if (r) {
        along_directions(c, r->ft, f);
    }
    const double fn = r ? r->fn / view->force : 0.0;
    const double most = c->direction_count > 0 ? c->friction * quasistatic_support(view, c->direction_count, s) : 0.0;
    const double slip = hypot(s[0], s[1]) / unit, work = (s[0] * f[0] + s[1] * f[1]) / (unit * view->force);
    /* With inertia convex friction has room for the slip that it expected, which the record tells for what bears force.
     */
    const bool bears = r && r->mode != PERP_CONTACT_OPEN, expects = convex && view->drifted;
    const double room = expects && bears ? fmax(0.0, most - r->layer_predicted / view->h) / unit : 0.0;
    double gap_off = INFINITY, friction_off = INFINITY;
    for (int form = 0; form < (view->unstabilised && c->phi < 0.0 ? 2 : 1); form++) {
        const double apart = form == 1 ? 0.0 : c->phi;
        const double gap = (view->instant ? velocity[0] : apart / view->h + velocity[0]) / unit;
        const double slack = convex && (bears || !expects) ? gap + room - most / unit : expects ? 0.0 : gap;
        /* of the maximum of work; on a convex rung the gap's part and friction's together */
        const double left = convex ? fn * (gap + room) + work : fn * most / unit + work;
        const double size = (1.0 + c->friction) * fn + slip + (convex ? fmax(gap + room, 0.0) : 0.0);
        gap_off = fmin(gap_off, fmax(-slack, fmin(fn, fabs(convex ? 0.0 : slack))));
        friction_off = fmin(friction_off, size > 0.0 ? fabs(left) / size : 0.0);
    }
    law->gap = fmax(law->gap, gap_off);
    law->friction = fmax(law->friction, friction_off);
    law->cone = r ? fmax(law->cone, quasistatic_out_of_cone(view->settings, view->rung, r) / view->force) : law->cone;
}

quasistatic_law quasistatic_measure(quasistatic_view *view, const double *v, const perp_contact_record *records,
                                    int count)
{
    const perp_contact_set *set = view->set;
    quasistatic_law law = {0};
    double *velocity = need(calloc((size_t)set->rows * (size_t)set->count + 1, sizeof *velocity));
    const perp_contact_record **of = need(calloc((size_t)set->count + 1, sizeof(void *)));
    enlarge_force_unit(view, v, records, count);
    quasistatic_view_load(view, view->generalised);
    for (int k = 0; k < count; k++) {
        const perp_contact_record *r = &records[k];
        const int i = find(set, &r->contact);
        if (i < 0) {
            law.unmatched += r->fn > 0.0 ? 1 : 0;
            continue;
        }
        const perp_contact *c = &set->contacts[i];
        of[i] = r;
        perp_add_wrench(view->model, view->kinematics, c->b, c->point_b, r->force_on_b, (perp_vec3){0},
                        view->generalised);
        perp_add_wrench(view->model, view->kinematics, c->a, c->point_a, perp_vec3_scale(-1.0, r->force_on_b),
                        (perp_vec3){0}, view->generalised);
    }
    perp_contact_velocity(set, v, velocity);
    for (int i = 0; i < set->count && law.unmatched == 0; i++) {
        bool moved = false; /* what only prescribed bodies close is their own affair */
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            moved = moved || quasistatic_view_is_free(view, set->dofs[k]);
        }
        if (moved && (!view->instant || set->contacts[i].phi <= 1e-9)) {
            measure_contact(view, i, of[i], velocity + (ptrdiff_t)set->rows * i, &law);
        }
    }
    law.balance = law.unmatched == 0 ? balance(view, v) : 0.0;
    free(velocity);
    free(of);
    return law;
}
