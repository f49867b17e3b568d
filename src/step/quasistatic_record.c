/* What a quasistatic step says of its contacts, and what exact geometry says of its forces afterwards. */
#include "step/quasistatic.h"

#include <string.h>

/* What `mode` means to everyone who reads a result: docs/models.md. */
static perp_contact_mode mode_of(const perp_contact_record *r, double slip, double tangential, double force_unit)
{
    const double limit = r->contact.friction * r->fn;
    if (r->fn <= 1e-9 * force_unit) {
        return PERP_CONTACT_OPEN;
    }
    if (slip > 1e-8) {
        return PERP_CONTACT_SLIDE;
    }
    return limit - tangential <= 1e-6 * limit ? PERP_CONTACT_LIMIT : PERP_CONTACT_STICK;
}

static void put_force(perp_contact_record *r, int rows, const double *force)
{
    const perp_contact *c = &r->contact;
    r->fn = fmax(0.0, force[0]);
    for (int k = 1; k < rows; k++) {
        r->ft[0] += force[k] * perp_vec3_dot(c->directions[k - 1], c->t);
        r->ft[1] += force[k] * perp_vec3_dot(c->directions[k - 1], c->o);
    }
    r->force_on_b = perp_vec3_scale(r->fn, c->normal);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[0], c->t);
    r->force_on_b = perp_vec3_add_scaled(r->force_on_b, r->ft[1], c->o);
}

void perp_qs_record(perp_quasistatic *qs)
{
    const perp_contact_set *set = qs->contacts;
    perp_contact_velocity(set, qs->v, qs->velocity);
    qs->record_count = set->count;
    for (int i = 0, k = 0; i < set->count; i++) {
        const double *velocity = qs->velocity + (ptrdiff_t)set->rows * i;
        perp_contact_record *r = &qs->records[i];
        double layer = 0.0;
        *r = (perp_contact_record){.contact = set->contacts[i],
                                   .slip = {velocity[1], set->rows > 2 ? velocity[2] : 0.0}};
        if (k < qs->system.contact_count && qs->set_index[k] == i) {
            put_force(r, qs->row_start[k + 1] - qs->row_start[k], qs->force + qs->row_start[k]);
            layer = qs->rung->convex ? qs->layer[k] : 0.0;
            k++;
        }
        const double slip = hypot(r->slip[0], r->slip[1]), tangential = hypot(r->ft[0], r->ft[1]);
        r->mode = mode_of(r, slip, tangential, qs->force_unit);
        if (r->mode != PERP_CONTACT_OPEN) {
            r->margin = r->contact.friction * r->fn - tangential;
            r->layer_predicted = layer;
        }
    }
}

/* ---- exact geometry ---------------------------------------------------------------------------------------------- */

/* The forces of the contacts as they stand at the end: along the normal and in the tangent plane of there, at the
 * witnesses of there. */
static void add_contact_forces(const perp_quasistatic *qs, const int *match, const perp_step_info *info, double *force)
{
    for (int i = 0; i < info->contact_count; i++) {
        const perp_contact_record *r = &info->contacts[i];
        if (r->mode == PERP_CONTACT_OPEN) {
            continue;
        }
        const perp_contact *now = match[i] >= 0 ? &qs->contacts->contacts[match[i]] : &r->contact;
        const perp_vec3 friction = perp_vec3_add_scaled(r->force_on_b, -r->fn, r->contact.normal);
        perp_vec3 on_b = perp_vec3_add_scaled(friction, r->fn - perp_vec3_dot(friction, now->normal), now->normal);
        perp_add_wrench(qs->model, qs->kinematics, now->b, now->point_b, on_b, (perp_vec3){0}, force);
        on_b = perp_vec3_scale(-1.0, on_b);
        perp_add_wrench(qs->model, qs->kinematics, now->a, now->point_a, on_b, (perp_vec3){0}, force);
    }
}

/* Returns how far the loops are open. */
static double add_loop_forces(perp_quasistatic *qs, double *force)
{
    const perp_model *model = qs->model;
    double widest = 0.0;
    for (int i = 0, all = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, qs->kinematics, i, residual, qs->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++, all++) {
            widest = fmax(widest, fabs(residual[r]));
            for (int k = 0; k < model->nv && qs->equation_of[all] >= 0; k++) {
                force[k] += qs->loop_jacobian[(ptrdiff_t)r * model->nv + k] * qs->y_equality[qs->equation_of[all]];
            }
        }
    }
    return widest;
}

/* A v + f + (forces at the begin - forces at the end): all that moves with the configuration is taken anew, springs and
 * inertia are linear in v and stay. */
void perp_qs_look_back(perp_step_context *context, const perp_state *state, const int *match, perp_step_info *info)
{
    perp_quasistatic *qs = context->workspace;
    const perp_model *model = qs->model;
    const perp_contact_qp *p = &qs->system;
    double *force = qs->v_gap; /* scratch until the next step */
    double largest = 0.0;
    const double *block = p->hessian;
    perp_gravity_force(model, qs->kinematics, force);
    perp_applied_force(model, qs->kinematics, state->t, qs->scratch);
    for (int i = 0; i < model->nv; i++) {
        force[i] += qs->scratch[i] - qs->tau[i];
    }
    add_contact_forces(qs, match, info, force);
    info->residuals.loop = add_loop_forces(qs, force);
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double sum = p->g[i] - qs->y_lower[i] + qs->y_upper[i] - force[qs->dof_of_free[i]];
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                sum += *block++ * qs->x[k];
            }
            const double unit = qs->turns[i] ? qs->force_unit * qs->length_unit : qs->force_unit;
            largest = fmax(largest, fabs(sum) / unit);
        }
    }
    info->residuals.balance_true = largest;
}
