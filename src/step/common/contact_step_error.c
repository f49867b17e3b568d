/* Why a step has no answer: a code, a sentence that names who can carry on, and the evidence. */
#include "step/common/contact_step.h"
#include "step/common/run_result.h"
#include "step/common/tolerances.h"

#include <stdio.h>
#include <string.h>

void perp_step_name_contact(const contact_step *step, const perp_contact *contact, char *text, size_t size)
{
    char feature[64];
    const perp_scene *scene = step->model->scene;
    perp_contact_feature_text(contact, feature, sizeof feature);
    snprintf(text, size, "%s %s %s", scene->bodies[contact->a].name, scene->bodies[contact->b].name, feature);
}

step_when perp_step_when(const contact_step *step)
{
    step_when when;
    if (step->law->instant) {
        snprintf(when.text, sizeof when.text, "at t = %g s", step->t);
    } else {
        snprintf(when.text, sizeof when.text, "in the step to t = %g s", step->t + step->h);
    }
    return when;
}

/* ---- which way a body goes that nothing holds ----------------------------------------------------------------------
 */

/* d += (what a multiplier of the row may add so that row . d >= 0, or = 0 where it is an `equation`). */
static double push(const contact_step *step, const int *dofs, const double *row, int count, bool equation,
                   double *multiplier, double *d)
{
    const double rotation = 1.0 / (step->length_unit * step->length_unit);
    double speed = 0.0, size = 0.0;
    for (int k = 0; k < count; k++) {
        speed += row[k] * d[dofs[k]];
        size += row[k] * row[k] * (step->turns[dofs[k]] ? rotation : 1.0);
    }
    if (!(size > 0.0)) {
        return 0.0;
    }
    const double wanted = *multiplier - speed / size, kept = equation ? wanted : fmax(0.0, wanted);
    const double change = kept - *multiplier;
    *multiplier = kept;
    for (int k = 0; k < count; k++) {
        d[dofs[k]] += change * row[k] * (step->turns[dofs[k]] ? rotation : 1.0);
    }
    return fabs(change) * sqrt(size);
}

/* One pass over contacts that touch, loops and limits that are reached; returns the largest change. */
static double push_all(const contact_step *step, double *d)
{
    const perp_contact_qp *p = &step->system;
    const double *jacobian = p->jacobian;
    double largest = 0.0;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], count = p->dof_start[i + 1] - start;
        if (step->contacts->contacts[step->set_index[i]].phi <= DEEP * step->length_unit) {
            largest = fmax(largest, push(step, p->dofs + start, jacobian, count, false, &step->gaps[i], d));
        }
        jacobian += (ptrdiff_t)(p->row_start[i + 1] - p->row_start[i]) * count;
    }
    for (int i = 0; i < p->equality_count; i++) {
        const int start = p->equality_start[i], count = p->equality_start[i + 1] - start;
        largest = fmax(largest, push(step, p->equality_dofs + start, p->equality_values + start, count, true,
                                     &step->y_equality[i], d));
    }
    for (int k = 0; k < p->n && p->lower; k++) {
        const double up = 1.0, down = -1.0;
        if (step->h * p->lower[k] >= -DEEP) {
            largest = fmax(largest, push(step, &k, &up, 1, false, &step->y_lower[k], d));
        }
        if (step->h * p->upper[k] <= DEEP) {
            largest = fmax(largest, push(step, &k, &down, 1, false, &step->y_upper[k], d));
        }
    }
    return largest;
}

/* The way that the forces drive the bodies over what they touch: the projection of the force (torques on the arm L)
 * onto the motions that penetrate nothing, by Hildreth's passes over the constraints. Friction, which
 * does not suffice, changes how hard but hardly where. Into step->x. */
static void find_way(const contact_step *step)
{
    enum { PASSES = 2000 };
    const perp_contact_qp *p = &step->system;
    const double rotation = 1.0 / (step->length_unit * step->length_unit);
    for (int k = 0; k < p->n; k++) {
        step->x[k] = -p->g[k] * (step->turns[k] ? rotation : 1.0);
        step->y_lower[k] = step->y_upper[k] = 0.0;
    }
    for (int i = 0; i < p->contact_count; i++) {
        step->gaps[i] = 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        step->y_equality[i] = 0.0;
    }
    for (int i = 0; i < PASSES && push_all(step, step->x) > FALL_SETTLED * step->force_unit; i++) {
    }
}

/* The twists of bodies as the free degrees of freedom move with x. */
static void move_bodies(const contact_step *step, const double *x)
{
    memset(step->scratch, 0, (size_t)step->model->nv * sizeof *step->scratch);
    for (int k = 0; k < step->free_count; k++) {
        step->scratch[step->dof_of_free[k]] = x[k];
    }
    perp_kinematics_velocity(step->model, step->scratch, step->kinematics);
}

static double motion_of(const contact_step *step, int body)
{
    const perp_twist *twist = &step->kinematics->twist[body];
    return fmax(perp_vec3_norm(twist->linear), step->length_unit * perp_vec3_norm(twist->angular));
}

/* Linear and angular part, of unit length what of them counts; 0 where it is rounding. */
static void put_direction(const contact_step *step, int body, double direction[6])
{
    const perp_twist *w = &step->kinematics->twist[body];
    const double parts[6] = {w->linear.x, w->linear.y, w->linear.z, w->angular.x, w->angular.y, w->angular.z};
    const double moves = perp_vec3_norm(w->linear), turns = perp_vec3_norm(w->angular);
    const double unit = moves > ONLY_TURNS * step->length_unit * turns ? moves : turns;
    for (int i = 0; i < 6 && unit > 0.0; i++) {
        direction[i] = fabs(parts[i]) > DIRECTION_ROUNDING * fmax(moves, turns) ? parts[i] / unit : 0.0;
    }
}

/* Balls roll on a plane without end, and the load does no work on it but by rounding. */
bool perp_step_is_driven(const contact_step *step, const double *direction)
{
    const double arm = step->length_unit;
    double work = 0.0, room = 0.0;
    for (int i = 0; i < step->system.n; i++) {
        work -= step->system.g[i] * direction[i];
        room += step->settings->tolerance * step->force_unit * fabs(direction[i]) * (step->turns[i] ? arm : 1.0);
    }
    return work > room;
}

perp_status perp_step_unsupported(const contact_step *step, const double *direction, perp_error *error)
{
    const perp_model *model = step->model;
    double largest = 0.0;
    int body = 0;
    perp_evidence evidence = {.has_direction = true, .planar = model->planar};
    move_bodies(step, direction);
    for (int i = 0; i < model->body_count; i++) {
        const double size = motion_of(step, i);
        if (size > 1.000001 * largest) { /* of those that move alike the first */
            largest = size;
            body = i;
        }
    }
    put_direction(step, body,
                  evidence.direction); /* the proof's, which no friction holds, until there is a better one */
    find_way(step);
    move_bodies(step, step->x);
    if (motion_of(step, body) > CARRIES * step->force_unit) {
        put_direction(step, body, evidence.direction);
    }
    const double *d = evidence.direction;
    const bool moves = hypot(hypot(d[0], d[1]), d[2]) > ONLY_TURNS; /* else it only turns */
    snprintf(evidence.body, sizeof evidence.body, "%s", model->scene->bodies[body].name);
    perp_fail(error, PERP_STATUS_INFEASIBLE,
              "nothing supports body `%s` %s: it would %s (%.4g, %.4g, %.4g) without end; a model with inertia "
              "can carry it (quasidynamic, dyn-ncp)",
              evidence.body, perp_step_when(step).text, moves ? "move along" : "turn about", d[moves ? 0 : 3],
              d[moves ? 1 : 4], d[moves ? 2 : 5]);
    if (error) {
        error->code = "unsupported-body";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

perp_status perp_step_at_contact(const contact_step *step, const char *code, const perp_contact *contact, double depth,
                                 const char *advice, perp_error *error)
{
    perp_evidence evidence = {.has_depth = true, .depth = depth};
    perp_step_name_contact(step, contact, evidence.contact, sizeof evidence.contact);
    const bool start = strcmp(code, "penetrating-start") == 0;
    perp_fail(error, PERP_STATUS_INFEASIBLE, "%s %s: contact `%s`, %.6g m deep; %s",
              start ? "bodies penetrate each other" : "the commands force bodies into each other",
              start ? "at the start" : perp_step_when(step).text, evidence.contact, depth, advice);
    if (error) {
        error->code = code;
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

/* A pusher that dips into a fixed table is how many scenes are drawn, and does no harm: `perp check` warns of it. */
static bool is_fixed(const contact_step *step, int body)
{
    return step->model->links[body].tree < 0;
}

perp_status perp_step_check_start(const contact_step *step, perp_error *error)
{
    for (int i = 0, k = 0; i < step->contacts->count; i++) {
        const perp_contact *c = &step->contacts->contacts[i];
        const bool of_step = k < step->system.contact_count && step->set_index[k] == i;
        if (!of_step && (is_fixed(step, c->a) || is_fixed(step, c->b))) {
            continue;
        }
        const double length = of_step ? step->islands[perp_step_island_of_contact(step, k++)].length
                                      : perp_step_size_of_two(step, c->a, c->b);
        if (c->phi < -DEEP * length) {
            return perp_step_at_contact(step, "penetrating-start", c, -c->phi, PERP_STEP_MOVE_APART, error);
        }
    }
    return PERP_STATUS_OK;
}

/* Does anything that is prescribed move in this contact? */
static bool is_driven(const contact_step *step, int contact)
{
    const perp_contact_set *set = step->contacts;
    for (int k = set->dof_start[contact]; k < set->dof_start[contact + 1]; k++) {
        if (step->free_of_dof[set->dofs[k]] < 0 && step->v_gap[set->dofs[k]] != 0.0) {
            return true;
        }
    }
    return false;
}

/* The contact that counts most in a proof, of those that a command moves if there is one (`driven`); -1: none counts.
 */
static int heaviest_contact(const contact_step *step, const double *weight, bool *driven)
{
    int heaviest = -1;
    *driven = false;
    for (int pass = 0; pass < 2 && heaviest < 0; pass++) {
        double largest = 0.0;
        for (int i = 0; i < step->system.contact_count; i++) {
            const double size = weight[step->row_start[i]];
            if (size > 1.000001 * largest && (pass == 1 || is_driven(step, step->set_index[i]))) {
                largest = size;
                heaviest = i;
                *driven = pass == 0;
            }
        }
    }
    return heaviest;
}

perp_status perp_step_infeasible(const contact_step *step, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(step, weight, &driven);
    if (heaviest < 0) {
        perp_fail(error, PERP_STATUS_INFEASIBLE,
                  "loops or joint limits cannot be met %s: they ask for motions that exclude each other",
                  perp_step_when(step).text);
        if (error) {
            error->code = "infeasible-command";
            error->evidence.has_depth = true;
            error->evidence.depth = depth;
        }
        return PERP_STATUS_INFEASIBLE;
    }
    const bool commands = driven || step->started;
    return perp_step_at_contact(step, commands ? "infeasible-command" : "penetrating-start",
                                &step->contacts->contacts[step->set_index[heaviest]], depth,
                                commands
                                    ? "springs give way: move it by a joint with control: impedance, on a rung that "
                                      "has it (qs-qp, qs-cone, quasidynamic, qs-impedance-lcp, dyn-ncp)"
                                    : PERP_STEP_MOVE_APART,
                                error);
}

perp_status perp_step_no_room(const contact_step *step, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(step, weight, &driven);
    perp_evidence evidence = {.has_depth = true, .depth = depth};
    perp_step_name_contact(step, &step->contacts->contacts[step->set_index[heaviest < 0 ? 0 : heaviest]],
                           evidence.contact, sizeof evidence.contact);
    perp_fail(
        error, PERP_STATUS_INFEASIBLE,
        "convex friction leaves no motion %s: what slides must part by mu h times its slip, and at contact "
        "`%s` that is %.6g m more than there is room for; without friction the commands can be met: take Coulomb's "
        "own law (%s), or a smaller h or mu",
        perp_step_when(step).text, evidence.contact, depth, step->dynamic ? "dyn-lcp, dyn-ncp" : "qs-lcp, qs-ncp");
    if (error) {
        error->code = "infeasible-command";
        error->evidence = evidence;
    }
    return PERP_STATUS_INFEASIBLE;
}

perp_status perp_step_not_converged(const contact_step *step, const char *method, double residual, perp_error *error)
{
    perp_fail(error, PERP_STATUS_NOT_CONVERGED, "no method found the motion %s: %s stopped at %.3g",
              perp_step_when(step).text, method, residual);
    if (error) {
        error->code = "not-converged";
        error->evidence = (perp_evidence){.has_residual = true, .residual = residual, .method = method};
    }
    return PERP_STATUS_NOT_CONVERGED;
}

perp_status perp_step_wedged(const contact_step *step, const double *weight, double depth, perp_error *error)
{
    bool driven;
    const int heaviest = heaviest_contact(step, weight, &driven);
    if (!error || heaviest < 0) {
        return PERP_STATUS_NOT_CONVERGED;
    }
    perp_evidence evidence = error->evidence;
    evidence.has_depth = true;
    evidence.depth = depth;
    perp_step_name_contact(step, &step->contacts->contacts[step->set_index[heaviest]], evidence.contact,
                           sizeof evidence.contact);
    perp_fail(error, PERP_STATUS_NOT_CONVERGED,
              "bodies are wedged %s: forces at contact `%s` and others hold each other within friction, however "
              "large they are, and the commands push against them; no motion out of it was found (method %s stopped at "
              "%.3g); springs give way: control: impedance on a rung that has it (qs-qp, quasidynamic, dyn-ncp)",
              perp_step_when(step).text, evidence.contact, evidence.method, evidence.residual);
    error->code = "wedged";
    error->evidence = evidence;
    return PERP_STATUS_NOT_CONVERGED;
}

static perp_status misses_tolerance(const contact_step *step, const char *name, double residual, perp_error *error)
{
    perp_fail(error, PERP_STATUS_NOT_CONVERGED,
              "the answer misses its own law %s: %s %.3g, tolerance %.3g (run.tolerance)", perp_step_when(step).text,
              name, residual, step->settings->tolerance);
    if (error) {
        error->code = "tolerance";
        error->evidence = (perp_evidence){.has_residual = true, .residual = residual, .residual_name = name};
    }
    return PERP_STATUS_NOT_CONVERGED;
}

perp_status perp_step_check_law(const contact_step *step, perp_residuals *total, perp_error *error)
{
    const perp_residuals *r = &step->info->residuals;
    const perp_residuals law = {.balance = r->balance, .complementarity = r->complementarity, .cone = r->cone};
    const double values[3] = {r->balance, r->complementarity, r->cone};
    static const char *const names[3] = {"balance", "complementarity", "cone"};
    for (int i = 0; i < 3; i++) {
        if (!(values[i] <= step->settings->tolerance)) {
            return misses_tolerance(step, names[i], values[i], error);
        }
    }
    perp_residuals_keep_largest(total, &law);
    return PERP_STATUS_OK;
}

perp_status perp_step_check_commands(const contact_step *step, perp_error *error)
{
    const perp_contact_set *set = step->contacts;
    if (step->system.contact_count == step->reach.in_reach) {
        return PERP_STATUS_OK; /* none that commands alone move */
    }
    perp_contact_velocity(set, step->v_gap, step->velocity);
    for (int i = 0, k = 0; i < set->count; i++) {
        if (k < step->system.contact_count && step->set_index[k] == i) {
            k++;
            continue;
        }
        const double moved = step->h * step->velocity[(ptrdiff_t)set->rows * i], end = set->contacts[i].phi + moved;
        const perp_contact *c = &set->contacts[i];
        if (moved < 0.0 && end < 0.0 && end < -DEEP * perp_step_size_of_two(step, c->a, c->b)) {
            return perp_step_at_contact(
                step, "infeasible-command", &set->contacts[i], -end,
                "both are commanded: springs give way, control: impedance on a rung that has it "
                "(qs-qp, quasidynamic, dyn-ncp)",
                error);
        }
    }
    return PERP_STATUS_OK;
}
