/* What a step says of its contacts, and what exact geometry says of its forces afterwards. */
#include "step/common/contact_step.h"
#include "step/common/tolerances.h"

#include <string.h>

/* What `mode` means to everyone who reads a result: docs/models.md. */
static perp_contact_mode mode_of(const perp_contact_record *r, double slip, double tangential, double force_unit)
{
    const double limit = r->contact.friction * r->fn;
    if (r->fn <= CARRIES * force_unit) {
        return PERP_CONTACT_OPEN;
    }
    if (slip > SLIPS) {
        return PERP_CONTACT_SLIDE;
    }
    return limit - tangential <= AT_LIMIT * limit ? PERP_CONTACT_LIMIT : PERP_CONTACT_STICK;
}

static void put_force(perp_contact_record *r, int rows, const double *force)
{
    const perp_contact *c = &r->contact;
    r->fn = perp_contact_is_support(c) ? c->load : fmax(0.0, force[0]);
    for (int k = 1; k < rows && k <= c->direction_count; k++) {
        r->ft[0] += force[k] * perp_vec3_dot(c->directions[k - 1], c->t);
        r->ft[1] += force[k] * perp_vec3_dot(c->directions[k - 1], c->o);
    }
    r->moment = rows > 1 + c->direction_count ? force[rows - 1] * c->arm : 0.0;
    r->force_on_b = perp_vec3_scale(r->fn, c->normal);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[0], c->t);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[1], c->o);
}

void perp_step_record(contact_step *step)
{
    const perp_contact_set *set = step->contacts;
    perp_contact_velocity(set, step->v, step->velocity);
    step->record_count = set->count;
    for (int i = 0, k = 0; i < set->count; i++) {
        const double *velocity = step->velocity + (ptrdiff_t)set->rows * i;
        perp_contact_record *r = &step->records[i];
        double layer = 0.0;
        *r = (perp_contact_record){.contact = set->contacts[i],
                                   .slip = {velocity[1], set->rows > 2 ? velocity[2] : 0.0}};
        double force_unit = 0.0; /* what is not of the system carries nothing */
        if (k < step->system.contact_count && step->set_index[k] == i) {
            put_force(r, step->row_start[k + 1] - step->row_start[k], step->force + step->row_start[k]);
            layer = step->rung->convex ? step->layer[k] : 0.0;
            force_unit = step->islands[perp_step_island_of_contact(step, k++)].force;
        } else if (perp_contact_is_support(&set->contacts[i])) { /* without friction */
            put_force(r, 1, &set->contacts[i].load);
        }
        double slip = hypot(r->slip[0], r->slip[1]), tangential = hypot(r->ft[0], r->ft[1]);
        if (r->contact.arm > 0.0) { /* in the measure of the ellipsoid */
            slip = hypot(slip, velocity[3]);
            tangential = hypot(tangential, r->moment / r->contact.arm);
        }
        r->mode = mode_of(r, slip, tangential, force_unit);
        if (r->mode != PERP_CONTACT_OPEN) {
            r->margin = r->contact.friction * r->fn - tangential;
            r->layer_predicted = layer;
        }
    }
}

/* Whether a contact is of trees whose part is accepted; what only commands move always is. */
static bool is_accepted(const contact_step *step, const perp_contact *c)
{
    const bool a = step->moved[c->a], b = step->moved[c->b];
    return (!a && !b) || (a && step->parts.accepted[step->model->links[c->a].tree]) ||
           (b && step->parts.accepted[step->model->links[c->b].tree]);
}

void perp_step_keep_accepted_records(contact_step *step)
{
    int count = 0;
    for (int i = 0; i < step->record_count; i++) {
        if (is_accepted(step, &step->records[i].contact)) {
            step->records[count++] = step->records[i];
        }
    }
    step->record_count = count;
}

/* ---- over the step ----------------------------------------------------------------------------------------------- */

void perp_step_add_load(contact_step *step, double share)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian;
    for (int b = 0; b < p->block_count && p->block_start[b] < step->free_count; b++) {
        const bool taken = step->parts.accepted[step->tree_of_free[p->block_start[b]]];
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double sum = p->g[i] - step->y_lower[i] + step->y_upper[i] + step->tau[step->dof_of_free[i]];
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                sum += *block++ * step->x[k];
            }
            step->load[step->dof_of_free[i]] += taken ? share * sum : 0.0;
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        if (step->parts.accepted[step->tree_of_free[p->equality_dofs[p->equality_start[i]]]]) {
            step->y_loop[step->loop_row[i]] += share * step->y_equality[i];
        }
    }
    for (int k = 0; k < step->model->tree_count; k++) {
        if (step->parts.accepted[k] && step->island_of_tree[k] >= 0) {
            step->last_island[k] = step->islands[step->island_of_tree[k]];
        }
    }
}

void perp_step_tell_loops(contact_step *step)
{
    const perp_model *model = step->model;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        perp_loop_force *told = &step->loop_forces[i];
        *told = (perp_loop_force){.count = perp_loop_rows(model, i)};
        for (int r = 0; r < told->count; r++, all++) {
            told->force[r] = step->y_loop[all];
            told->known[r] = !isfinite(step->commanded_gap[all]);
        }
    }
    step->info->loop_count = model->scene->loop_count;
    step->info->loops = step->loop_forces;
}

/* ---- exact geometry ---------------------------------------------------------------------------------------------- */

/* The forces of the contacts as they stand at the end: along the normal and in the tangent plane of there, at the
 * witnesses of there. */
static void add_contact_forces(const contact_step *step, const int *match, const perp_step_info *info, double *force)
{
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        if (r->mode == PERP_CONTACT_OPEN) {
            continue;
        }
        const perp_contact *now = match[i] >= 0 ? &step->contacts->contacts[match[i]] : &r->contact;
        const perp_vec3 friction = perp_vec3_add_scaled(r->force_on_b, -r->fn, r->contact.normal);
        perp_vec3 on_b = perp_vec3_add_scaled(friction, r->fn - perp_vec3_dot(friction, now->normal), now->normal);
        perp_add_wrench(step->model, step->kinematics, now->b, now->point_b, on_b,
                        perp_vec3_scale(r->moment, now->normal), force);
        if (perp_contact_is_support(now)) {
            continue; /* what it acts on does not move */
        }
        on_b = perp_vec3_scale(-1.0, on_b);
        perp_add_wrench(step->model, step->kinematics, now->a, now->point_a, on_b, (perp_vec3){0}, force);
    }
}

/* Returns how far the loops are open. */
static double add_loop_forces(contact_step *step, double *force)
{
    const perp_model *model = step->model;
    double widest = 0.0;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, step->kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            widest = fmax(widest, fabs(residual[r]));
            for (int k = 0; k < model->nv && step->y_loop[all] != 0.0; k++) {
                force[k] += step->loop_jacobian[(ptrdiff_t)r * model->nv + k] * step->y_loop[all];
            }
        }
    }
    return widest;
}

/* The mean of A v + f over the parts of the step, without the forces that move with the configuration, which are taken
 * anew at its end: springs and inertia are linear in v and stay. */
void perp_step_look_back(perp_step_context *context, const perp_state *state, const int *match, perp_step_info *info)
{
    contact_step *step = context->workspace;
    const perp_model *model = step->model;
    double *force = step->v_gap; /* scratch until the next step */
    double largest = 0.0;
    perp_gravity_force(model, step->kinematics, force);
    perp_applied_force(model, step->kinematics, state->t, step->scratch);
    for (int i = 0; i < model->nv; i++) {
        force[i] += step->scratch[i];
    }
    add_contact_forces(step, match, info, force);
    info->residuals.loop = add_loop_forces(step, force);
    for (int i = 0; i < step->free_count; i++) {
        const int dof = step->dof_of_free[i];
        const step_island *island = &step->last_island[step->tree_of_free[i]];
        const double unit = step->turns[i] ? island->force * island->length : island->force;
        largest = fmax(largest, fabs(step->load[dof] - force[dof]) / unit);
    }
    info->residuals.balance_true = largest;
}
