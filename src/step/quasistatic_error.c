/* Why a quasistatic step has no answer: a code, a sentence that names who can carry on, and the evidence. */
#include "step/quasistatic.h"

#include <stdio.h>
#include <string.h>

static void put_contact_name(const perp_quasistatic *qs, const perp_contact *contact, perp_evidence *evidence)
{
    char feature[64];
    const perp_scene *scene = qs->model->scene;
    perp_contact_feature_text(contact, feature, sizeof feature);
    snprintf(evidence->contact, sizeof evidence->contact, "%s %s %s", scene->bodies[contact->a].name,
             scene->bodies[contact->b].name, feature);
}

qs_when perp_qs_when(const perp_quasistatic *qs)
{
    qs_when when;
    if (qs->law->instant) {
        snprintf(when.text, sizeof when.text, "at t = %g s", qs->t);
    } else {
        snprintf(when.text, sizeof when.text, "in the step to t = %g s", qs->t + qs->h);
    }
    return when;
}

/* ---- which way a body goes that nothing holds ----------------------------------------------------------------------
 */

static const double TOUCHING = 1e-6; /* of L */

/* d += (what a multiplier of the row may add so that row . d >= 0, or = 0 where it is an `equation`). */
static double push(const perp_quasistatic *qs, const int *dofs, const double *row, int count, bool equation,
                   double *multiplier, double *d)
{
    const double rotation = 1.0 / (qs->length_unit * qs->length_unit);
    double speed = 0.0, size = 0.0;
    for (int k = 0; k < count; k++) {
        speed += row[k] * d[dofs[k]];
        size += row[k] * row[k] * (qs->turns[dofs[k]] ? rotation : 1.0);
    }
    if (!(size > 0.0)) {
        return 0.0;
    }
    const double wanted = *multiplier - speed / size, kept = equation ? wanted : fmax(0.0, wanted);
    const double change = kept - *multiplier;
    *multiplier = kept;
    for (int k = 0; k < count; k++) {
        d[dofs[k]] += change * row[k] * (qs->turns[dofs[k]] ? rotation : 1.0);
    }
    return fabs(change) * sqrt(size);
}

/* One pass over contacts that touch, loops and limits that are reached; returns the largest change. */
static double push_all(const perp_quasistatic *qs, double *d)
{
    const perp_contact_qp *p = &qs->system;
    const double *jacobian = p->jacobian;
    double largest = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], count = p->dof_start[i + 1] - start;
        if (qs->contacts->contacts[qs->set_index[i]].phi <= TOUCHING * qs->length_unit) {
            largest = fmax(largest, push(qs, p->dofs + start, jacobian, count, false, &qs->gaps[i], d));
        }
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * count;
    }
    for (int i = 0; i < p->equality_count; i++) {
        const int start = p->equality_start[i], count = p->equality_start[i + 1] - start;
        largest = fmax(largest, push(qs, p->equality_dofs + start, p->equality_values + start, count, true,
                                     &qs->y_equality[i], d));
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        const double up = 1.0, down = -1.0;
        if (qs->h * p->lower[k] >= -TOUCHING) {
            largest = fmax(largest, push(qs, &k, &up, 1, false, &qs->y_lower[k], d));
        }
        if (qs->h * p->upper[k] <= TOUCHING) {
            largest = fmax(largest, push(qs, &k, &down, 1, false, &qs->y_upper[k], d));
        }
    }
    return largest;
}

/* The way that the forces drive the bodies over what they touch: the projection of the force (torques on the arm L)
 * onto the motions that penetrate nothing, by Hildreth's passes over the constraints. Friction, which
 * does not suffice, changes how hard but hardly where. Into qs->x. */
static void find_way(const perp_quasistatic *qs)
{
    enum { PASSES = 2000 };
    const perp_contact_qp *p = &qs->system;
    const double rotation = 1.0 / (qs->length_unit * qs->length_unit);
    for (int k = 0; k < p->n; k++) {
        qs->x[k] = -p->g[k] * (qs->turns[k] ? rotation : 1.0);
        qs->y_lower[k] = qs->y_upper[k] = 0.0;
    }
    for (int i = 0; i < p->contact_count; i++) {
        qs->gaps[i] = 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        qs->y_equality[i] = 0.0;
    }
    for (int i = 0; i < PASSES && push_all(qs, qs->x) > 1e-12 * qs->force_unit; i++) {
    }
}

/* The twists of bodies as the free degrees of freedom move with x. */
static void move_bodies(const perp_quasistatic *qs, const double *x)
{
    memset(qs->scratch, 0, (size_t)qs->model->nv * sizeof *qs->scratch);
    for (int k = 0; k < qs->free_count; k++) {
        qs->scratch[qs->dof_of_free[k]] = x[k];
    }
    perp_kinematics_velocity(qs->model, qs->scratch, qs->kinematics);
}

static double motion_of(const perp_quasistatic *qs, int body)
{
    const perp_twist *twist = &qs->kinematics->twist[body];
    return fmax(perp_vec3_norm(twist->linear), qs->length_unit * perp_vec3_norm(twist->angular));
}

/* Linear and angular part, of unit length what of them counts; 0 where it is rounding. */
static void put_direction(const perp_quasistatic *qs, int body, double direction[6])
{
    const perp_twist *w = &qs->kinematics->twist[body];
    const double parts[6] = {w->linear.x, w->linear.y, w->linear.z, w->angular.x, w->angular.y, w->angular.z};
    const double moves = perp_vec3_norm(w->linear), turns = perp_vec3_norm(w->angular);
    const double unit = moves > 1e-6 * qs->length_unit * turns ? moves : turns;
    for (int i = 0; i < 6 && unit > 0.0; i++) {
        direction[i] = fabs(parts[i]) > 1e-9 * fmax(moves, turns) ? parts[i] / unit : 0.0;
    }
}

/* Balls roll on a plane without end, and the load does no work on it: 1e-9 F of rounding was said to be a fall. */
bool perp_qs_is_driven(const perp_quasistatic *qs, const double *direction)
{
    const double arm = qs->length_unit;
    double work = 0.0, room = 0.0;
    for (int i = 0; i < qs->system.n; i++) {
        work -= qs->system.g[i] * direction[i];
        room += qs->settings->tolerance * qs->force_unit * fabs(direction[i]) * (qs->turns[i] ? arm : 1.0);
    }
    return work > room;
}

perp_status perp_qs_unsupported(const perp_quasistatic *qs, const double *direction, perp_error *error)
{
    const perp_model *model = qs->model;
    double largest = 0.0;
    int body = 0;
    perp_evidence evidence = {.has_direction = true, .planar = model->planar};
    move_bodies(qs, direction);
    for (int i = 0; i < model->body_count; i++) {
        const double size = motion_of(qs, i);
        if (size > 1.000001 * largest) { /* of those that move alike the first */
            largest = size;
            body = i;
        }
    }
    put_direction(qs, body, evidence.direction); /* the proof's, which no friction holds, until there is a better one */
    find_way(qs);
    move_bodies(qs, qs->x);
    if (motion_of(qs, body) > 1e-9 * qs->force_unit) {
        put_direction(qs, body, evidence.direction);
    }
    const double *d = evidence.direction;
    const bool moves = hypot(hypot(d[0], d[1]), d[2]) > 1e-6; /* else it only turns */
    snprintf(evidence.body, sizeof evidence.body, "%s", model->scene->bodies[body].name);
    perp_fail(error, PERP_STATUS_INFEASIBLE,
              "nothing supports body `%s` %s: it would %s (%.4g, %.4g, %.4g) without end; a model with inertia "
              "can carry it (quasidynamic, dyn-ncp)",
              evidence.body, perp_qs_when(qs).text, moves ? "move along" : "turn about", d[moves ? 0 : 3],
              d[moves ? 1 : 4], d[moves ? 2 : 5]);
    if (error) {
        error->code = "unsupported-body";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

perp_status perp_qs_at_contact(const perp_quasistatic *qs, const char *code, const perp_contact *contact, double depth,
                               const char *advice, perp_error *error)
{
    perp_evidence evidence = {.has_depth = true, .depth = depth};
    put_contact_name(qs, contact, &evidence);
    const bool start = strcmp(code, "penetrating-start") == 0;
    perp_fail(error, PERP_STATUS_INFEASIBLE, "%s %s: contact `%s`, %.6g m deep; %s",
              start ? "bodies penetrate each other" : "the commands force bodies into each other",
              start ? "at the start" : perp_qs_when(qs).text, evidence.contact, depth, advice);
    if (error) {
        error->code = code;
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

/* A pusher that dips into a fixed table is how many scenes are drawn, and does no harm: `perp check` warns of it. */
static bool is_fixed(const perp_quasistatic *qs, int body)
{
    return qs->model->links[body].tree < 0;
}

perp_status perp_qs_check_start(const perp_quasistatic *qs, perp_error *error)
{
    static const double DEEP = 1e-6; /* of L */
    for (int i = 0, k = 0; i < qs->contacts->count; i++) {
        const perp_contact *c = &qs->contacts->contacts[i];
        const bool of_step = k < qs->system.contact_count && qs->set_index[k] == i;
        if (!of_step && (is_fixed(qs, c->a) || is_fixed(qs, c->b))) {
            continue;
        }
        const double length =
            of_step ? qs->islands[perp_qs_island_of_contact(qs, k++)].length : perp_qs_size_of_two(qs, c->a, c->b);
        if (c->phi < -DEEP * length) {
            return perp_qs_at_contact(qs, "penetrating-start", c, -c->phi, PERP_QS_MOVE_APART, error);
        }
    }
    return PERP_STATUS_OK;
}

/* Does anything that is prescribed move in this contact? */
static bool is_driven(const perp_quasistatic *qs, int contact)
{
    const perp_contact_set *set = qs->contacts;
    for (int k = set->dof_start[contact]; k < set->dof_start[contact + 1]; k++) {
        if (qs->free_of_dof[set->dofs[k]] < 0 && qs->v_gap[set->dofs[k]] != 0.0) {
            return true;
        }
    }
    return false;
}

/* The contact that counts most in a proof, of those that a command moves if there is one (`driven`); -1: none counts.
 */
static int heaviest_contact(const perp_quasistatic *qs, const double *weight, bool *driven)
{
    int heaviest = -1;
    *driven = false;
    for (int pass = 0; pass < 2 && heaviest < 0; pass++) {
        double largest = 0.0;
        for (int i = 0; i < qs->system.contact_count; i++) {
            const double size = weight[qs->row_start[i]];
            if (size > 1.000001 * largest && (pass == 1 || is_driven(qs, qs->set_index[i]))) {
                largest = size;
                heaviest = i;
                *driven = pass == 0;
            }
        }
    }
    return heaviest;
}

perp_status perp_qs_infeasible(const perp_quasistatic *qs, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(qs, weight, &driven);
    if (heaviest < 0) {
        perp_fail(error, PERP_STATUS_INFEASIBLE,
                  "loops or joint limits cannot be met %s: they ask for motions that exclude each other",
                  perp_qs_when(qs).text);
        if (error) {
            error->code = "infeasible-command";
            error->evidence.has_depth = true;
            error->evidence.depth = depth;
        }
        return PERP_STATUS_INFEASIBLE;
    }
    const bool commands = driven || qs->started;
    return perp_qs_at_contact(qs, commands ? "infeasible-command" : "penetrating-start",
                              &qs->contacts->contacts[qs->set_index[heaviest]], depth,
                              commands ? "springs give way: move it by a joint with control: impedance, on a rung that "
                                         "has it (qs-qp, qs-cone, quasidynamic, qs-impedance-lcp, dyn-ncp)"
                                       : PERP_QS_MOVE_APART,
                              error);
}

perp_status perp_qs_no_room(const perp_quasistatic *qs, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(qs, weight, &driven);
    perp_evidence evidence = {.has_depth = true, .depth = depth};
    put_contact_name(qs, &qs->contacts->contacts[qs->set_index[heaviest < 0 ? 0 : heaviest]], &evidence);
    perp_fail(
        error, PERP_STATUS_INFEASIBLE,
        "convex friction leaves no motion %s: what slides must part by mu h times its slip, and at contact "
        "`%s` that is %.6g m more than there is room for; without friction the commands can be met: take Coulomb's "
        "own law (%s), or a smaller h or mu",
        perp_qs_when(qs).text, evidence.contact, depth,
        qs->law->inertia == PERP_QS_FULL ? "dyn-lcp, dyn-ncp" : "qs-lcp, qs-ncp");
    if (error) {
        error->code = "infeasible-command";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

perp_status perp_qs_not_converged(const perp_quasistatic *qs, const char *method, double residual, perp_error *error)
{
    perp_fail(error, PERP_STATUS_NOT_CONVERGED, "no method found the motion %s: %s stopped at %.3g",
              perp_qs_when(qs).text, method, residual);
    if (error) {
        error->code = "not-converged";
        error->evidence = (perp_evidence){.has_residual = true, .residual = residual, .method = method};
    }
    return PERP_STATUS_NOT_CONVERGED;
}

perp_status perp_qs_wedged(const perp_quasistatic *qs, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(qs, weight, &driven);
    if (!error || heaviest < 0) {
        return PERP_STATUS_NOT_CONVERGED;
    }
    perp_evidence evidence = error->evidence;
    evidence.has_depth = true;
    evidence.depth = depth;
    put_contact_name(qs, &qs->contacts->contacts[qs->set_index[heaviest]], &evidence);
    perp_fail(error, PERP_STATUS_NOT_CONVERGED,
              "bodies are wedged %s: forces at contact `%s` and others hold each other within friction, however "
              "large they are, and the commands push against them; no motion out of it was found (method %s stopped at "
              "%.3g); springs give way: control: impedance on a rung that has it (qs-qp, quasidynamic, dyn-ncp)",
              perp_qs_when(qs).text, evidence.contact, evidence.method, evidence.residual);
    error->code = "wedged";
    error->evidence = evidence;
    return PERP_STATUS_NOT_CONVERGED;
}

perp_status perp_qs_tolerance(const perp_quasistatic *qs, const char *name, double residual, perp_error *error)
{
    perp_fail(error, PERP_STATUS_NOT_CONVERGED,
              "the answer misses its own law %s: %s %.3g, tolerance %.3g (run.tolerance)", perp_qs_when(qs).text, name,
              residual, qs->settings->tolerance);
    if (error) {
        error->code = "tolerance";
        error->evidence = (perp_evidence){.has_residual = true, .residual = residual, .residual_name = name};
    }
    return PERP_STATUS_NOT_CONVERGED;
}

perp_status perp_qs_check_commands(const perp_quasistatic *qs, perp_error *error)
{
    static const double DEEP = 1e-6; /* of the two bodies' size: less is the command's own rounding */
    const perp_contact_set *set = qs->contacts;
    if (qs->system.contact_count == qs->in_reach) {
        return PERP_STATUS_OK; /* none that commands alone move */
    }
    perp_contact_velocity(set, qs->v_gap, qs->velocity);
    for (int i = 0, k = 0; i < set->count; i++) {
        if (k < qs->system.contact_count && qs->set_index[k] == i) {
            k++;
            continue;
        }
        const double moved = qs->h * qs->velocity[(ptrdiff_t)set->rows * i], end = set->contacts[i].phi + moved;
        const perp_contact *c = &set->contacts[i];
        if (moved < 0.0 && end < 0.0 && end < -DEEP * perp_qs_size_of_two(qs, c->a, c->b)) {
            return perp_qs_at_contact(qs, "infeasible-command", &set->contacts[i], -end,
                                      "both are commanded: springs give way, control: impedance on a rung that has it "
                                      "(qs-qp, quasidynamic, dyn-ncp)",
                                      error);
        }
    }
    return PERP_STATUS_OK;
}
