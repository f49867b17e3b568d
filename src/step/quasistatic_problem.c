/* The step problem of rungs with contact forces: quasistatic.h says what it is. */
#include "contact/contact_reach.h"
#include "step/dynamic.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* ---- what is prescribed ------------------------------------------------------------------------------------------ */

/* v: the velocities that slip sees. v_gap: those that lead the gap to where it is at the step's end. They differ with
 * prediction `taylor` only, where a driven body begins the step not at x(t), which the last step has only predicted,
 * but at that prediction. */
void perp_qs_prescribe(perp_quasistatic *qs, const double *q, double t, double t_end)
{
    const perp_model *model = qs->model;
    const perp_prescribe which = qs->law->prescribe;
    memset(qs->v, 0, (size_t)model->nv * sizeof *qs->v);
    if (qs->law->instant) {
        perp_prescribed_rate(model, which, t, qs->v);
        memcpy(qs->v_gap, qs->v, (size_t)model->nv * sizeof *qs->v);
        return;
    }
    perp_prescribed_velocity(model, which, t, t_end, qs->v);
    memcpy(qs->v_gap, qs->v, (size_t)model->nv * sizeof *qs->v);
    if (qs->settings->prediction == PERP_PREDICTION_EXACT) {
        return;
    }
    perp_prescribed_rate(model, PERP_PRESCRIBE_DRIVEN, t, qs->v);
    memcpy(qs->q_driven, q, (size_t)model->nq * sizeof *q);
    perp_driven_taylor(model, t, t_end - t, qs->q_driven);
    perp_configuration_difference(model, q, qs->q_driven, qs->scratch);
    for (int i = 0; i < model->nv; i++) {
        if (model->role[i] == PERP_DOF_PRESCRIBED && model->dof_joint[i] < 0) {
            qs->v_gap[i] = qs->scratch[i] / (t_end - t);
        }
    }
}

/* ---- forces and stiffness ---------------------------------------------------------------------------------------- */

/* When commands and forces are taken. */
static double end_of(const perp_quasistatic *qs)
{
    return qs->law->instant ? qs->t : qs->t + qs->h;
}

/* What multiplies M / h between degrees of freedom i and j in A. */
static double inertia_scale(const perp_quasistatic *qs, int i, int j)
{
    const perp_dof_role *role = qs->model->role;
    if (qs->law->inertia == PERP_QS_FULL) {
        return perp_dynamic_mass_scale(qs);
    }
    const bool passive = role[i] == PERP_DOF_PASSIVE && role[j] == PERP_DOF_PASSIVE;
    return qs->law->inertia == PERP_QS_WITHIN_STEP && passive ? 1.0 : 0.0;
}

/* A, one block per tree with free degrees of freedom. Damping of passive joints counts with full inertia: without it
 * a joint that nothing else holds would have no answer but for its damper's. */
static void fill_hessian(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    double *block = qs->hessian;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const double *mass = qs->mass + tree->mass_start;
        for (int r = 0; r < tree->v_count; r++) {
            const int i = tree->v_start + r;
            for (int s = 0; s < tree->v_count && qs->free_of_dof[i] >= 0; s++) {
                const int j = tree->v_start + s;
                if (qs->free_of_dof[j] < 0) {
                    continue;
                }
                const double mean = 0.5 * (mass[r * tree->v_count + s] + mass[s * tree->v_count + r]);
                double entry = inertia_scale(qs, i, j) * mean / qs->h;
                if (i == j && (model->role[i] == PERP_DOF_IMPEDANCE || qs->law->inertia == PERP_QS_FULL)) {
                    entry += (qs->law->instant ? 0.0 : qs->h * model->stiffness[i]) + model->damping[i];
                }
                *block++ = entry;
            }
        }
    }
}

static void fill_forces(perp_quasistatic *qs, perp_step_context *context, const double *q)
{
    const perp_model *model = qs->model;
    const double t_end = end_of(qs);
    perp_gravity_force(model, context->kinematics, qs->tau);
    perp_applied_force(model, context->kinematics, t_end, qs->scratch);
    for (int i = 0; i < model->nv; i++) {
        qs->tau[i] += qs->scratch[i];
    }
    for (int k = 0; k < qs->free_count; k++) {
        const int i = qs->dof_of_free[k];
        double force = qs->tau[i];
        if (model->role[i] == PERP_DOF_IMPEDANCE) {
            force += model->stiffness[i] * (qs->command[i] - q[model->dof_q[i]]);
        }
        qs->g[k] = -force;
    }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* The rows of contact i of the set in (n, t, o) that make row r of the system: the normal, then the friction
 * directions. */
static void row_weights(const perp_contact *c, int r, double weights[3])
{
    const perp_vec3 d = r > 0 ? c->directions[r - 1] : c->normal;
    weights[0] = r == 0 ? 1.0 : 0.0;
    weights[1] = r == 0 ? 0.0 : perp_vec3_dot(d, c->t);
    weights[2] = r == 0 ? 0.0 : perp_vec3_dot(d, c->o);
}

static const double ROUNDING = 1e-13;

/* The rows of contact i over its free degrees of freedom into `out`, and into `given` what the prescribed ones add. A
 * part of a point's velocity that is rounding beside the whole of it is none: with a normal that is off by 1e-16 a body
 * would else be pried out of the way along a direction in which it only slides. */
static void free_rows(const perp_quasistatic *qs, int i, int free_columns, double given[3], double *out)
{
    const perp_contact_set *set = qs->contacts;
    const int start = set->dof_start[i], columns = set->dof_start[i + 1] - start;
    const int rows = 1 + set->contacts[i].direction_count;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start;
    double weights[3][3];
    assert(set->rows <= 3); /* n, t, o */
    for (int r = 0; r < rows; r++) {
        row_weights(&set->contacts[i], r, weights[r]);
        given[r] = 0.0;
    }
    for (int k = 0, free = 0; k < columns; k++) {
        const int dof = set->dofs[start + k];
        const bool is_free = qs->free_of_dof[dof] >= 0;
        double part[3] = {0.0, 0.0, 0.0}, square = 0.0;
        for (int row = 0; row < set->rows; row++) {
            part[row] = jacobian[(ptrdiff_t)row * columns + k];
            square += part[row] * part[row];
        }
        const double rounding = ROUNDING * sqrt(square);
        for (int r = 0; r < rows; r++) {
            const double sum = weights[r][0] * part[0] + weights[r][1] * part[1] + weights[r][2] * part[2];
            const double entry = fabs(sum) > rounding ? sum : 0.0;
            if (is_free) {
                out[(ptrdiff_t)r * free_columns + free] = entry;
            } else {
                given[r] += entry * (r == 0 ? qs->v_gap : qs->v)[dof];
            }
        }
        free += is_free ? 1 : 0;
    }
}

static bool all_zero(const double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

static const double TOUCHES = 1e-9; /* m: a gap up to here is closed at an instant */

double perp_qs_way(const perp_quasistatic *qs, const perp_contact *c)
{
    double way = qs->way[c->a] + qs->way[c->b];
    way += qs->swing[c->a] > 0.0 ? qs->swing[c->a] * perp_contact_arm(qs->contacts, qs->kinematics, c->a, c->b) : 0.0;
    way += qs->swing[c->b] > 0.0 ? qs->swing[c->b] * perp_contact_arm(qs->contacts, qs->kinematics, c->b, c->a) : 0.0;
    return way;
}

bool perp_qs_is_in_reach(const perp_quasistatic *qs, const perp_contact *c)
{
    if (qs->law->instant) {
        return c->phi <= TOUCHES;
    }
    return c->phi <= qs->model->scene->margin || c->phi <= (1.0 + c->friction) * perp_qs_way(qs, c);
}

/* Does a contact lie between what takes part now and what does not? Then both are to take their parts together. */
static bool meets_others(perp_quasistatic *qs, int i)
{
    const perp_contact_set *set = qs->contacts;
    int own = -1, other = -1;
    for (int k = set->dof_start[i]; k < set->dof_start[i + 1] && qs->masked; k++) {
        const int dof = set->dofs[k], tree = qs->model->links[qs->model->dof_body[dof]].tree;
        own = qs->free_of_dof[dof] >= 0 ? tree : own;
        other = qs->free_of_dof[dof] < 0 && !qs->given[dof] ? tree : other;
    }
    if (own < 0 || other < 0) {
        return false;
    }
    perp_qs_join_trees(qs->met_with, own, other);
    qs->met = true;
    return true;
}

/* What the normal row of a contact has beside velocities. */
static double shift_of(const perp_quasistatic *qs, int i)
{
    const perp_contact *c = &qs->contacts->contacts[i];
    if (qs->law->instant) {
        return 0.0;
    }
    return qs->law->inertia == PERP_QS_FULL ? perp_dynamic_shift(qs, i) : c->phi / qs->h;
}

/* Contacts that some free degree of freedom moves. */
static void fill_contacts(perp_quasistatic *qs)
{
    const perp_contact_set *set = qs->contacts;
    int count = 0, rows = 0, dofs = 0;
    ptrdiff_t entries = 0;
    if (qs->law->inertia == PERP_QS_FULL && qs->bounces) {
        perp_contact_velocity(set, qs->v_last, qs->velocity);
    }
    qs->row_start[0] = qs->dof_start[0] = 0;
    qs->in_reach = 0;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        const int contact_rows = 1 + c->direction_count;
        int columns = 0;
        if (!perp_qs_is_in_reach(qs, c)) {
            continue;
        }
        qs->in_reach++;
        if (meets_others(qs, i)) {
            continue;
        }
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            const int free = qs->free_of_dof[set->dofs[k]];
            if (free >= 0) {
                qs->dofs[dofs + columns++] = free;
            }
        }
        double *jacobian = qs->jacobian + entries, given[3];
        const double shift = shift_of(qs, i);
        free_rows(qs, i, columns, given, jacobian);
        for (int r = 0; r < contact_rows; r++) {
            qs->offset[rows + r] = given[r] + (r == 0 ? shift : 0.0);
        }
        if (columns == 0 || all_zero(jacobian, (ptrdiff_t)contact_rows * columns)) {
            continue;
        }
        qs->mu[count] = c->friction;
        qs->shift[count] = shift;
        qs->room[count] = 0.0;
        qs->set_index[count++] = i;
        qs->row_start[count] = rows += contact_rows;
        qs->dof_start[count] = dofs += columns;
        entries += (ptrdiff_t)contact_rows * columns;
    }
    qs->system.contact_count = count;
}

/* ---- loops and limits -------------------------------------------------------------------------------------------- */

static void fill_loops(perp_quasistatic *qs, perp_step_context *context)
{
    const perp_model *model = qs->model;
    int rows = 0, entries = 0, all = 0;
    qs->equality_start[0] = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, context->kinematics, i, residual, qs->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++) {
            const double *row = qs->loop_jacobian + (ptrdiff_t)r * model->nv;
            double target = qs->law->instant ? 0.0 : -residual[r] / qs->h;
            const int before = entries;
            for (int k = 0; k < model->nv; k++) {
                if (qs->free_of_dof[k] < 0) {
                    target -= row[k] * qs->v_gap[k];
                } else if (row[k] != 0.0) {
                    qs->equality_dofs[entries] = qs->free_of_dof[k];
                    qs->equality_values[entries++] = row[k];
                }
            }
            qs->equation_of[all++] = entries > before ? rows : -1;
            if (entries > before) { /* nothing free closes the others: how far they open is reported */
                qs->loop_row[rows] = all - 1;
                qs->equality_target[rows++] = target;
                qs->equality_start[rows] = entries;
            }
        }
    }
    qs->system.equality_count = rows;
}

static void fill_limits(perp_quasistatic *qs, const double *q)
{
    const perp_model *model = qs->model;
    bool any = false;
    for (int k = 0; k < qs->free_count; k++) {
        const int i = qs->dof_of_free[k], at = model->dof_q[i];
        qs->lower[k] = at >= 0 ? (model->limit_low[i] - q[at]) / qs->h : -INFINITY;
        qs->upper[k] = at >= 0 ? (model->limit_high[i] - q[at]) / qs->h : INFINITY;
        if (qs->law->instant) {
            qs->lower[k] = qs->lower[k] >= -TOUCHES ? 0.0 : -INFINITY;
            qs->upper[k] = qs->upper[k] <= TOUCHES ? 0.0 : INFINITY;
        }
        any = any || isfinite(qs->lower[k]) || isfinite(qs->upper[k]);
        qs->y_lower[k] = qs->y_upper[k] = 0.0;
    }
    qs->system.lower = any ? qs->lower : NULL;
    qs->system.upper = any ? qs->upper : NULL;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool finite(const double *x, ptrdiff_t n)
{
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        sum += 0.0 * x[i];
    }
    return sum == 0.0;
}

static bool has_finite_units(const perp_quasistatic *qs)
{
    bool finite = true;
    for (int k = 0; k < qs->island_count; k++) {
        finite = finite && isfinite(qs->islands[k].force);
    }
    return finite;
}

void perp_qs_join_system(perp_quasistatic *qs)
{
    perp_contact_qp *p = &qs->system;
    p->block_start = qs->block_start;
    p->hessian = qs->hessian;
    p->g = qs->g;
    p->row_start = p->slack_start = qs->row_start;
    p->dof_start = qs->dof_start;
    p->dofs = qs->dofs;
    p->jacobian = qs->jacobian;
    p->offset = qs->offset;
    p->equality_start = qs->equality_start;
    p->equality_dofs = qs->equality_dofs;
    p->equality_values = qs->equality_values;
    p->equality_target = qs->equality_target;
}

void perp_qs_find_turning(perp_quasistatic *qs)
{
    for (int k = 0; k < qs->free_count; k++) {
        qs->turns[k] = perp_vec3_norm(qs->kinematics->dof_angular[qs->dof_of_free[k]]) > 0.5;
    }
}

perp_status perp_qs_build(perp_quasistatic *qs, perp_step_context *context, const double *q, double t, double t_end,
                          perp_error *error)
{
    const perp_model *model = qs->model;
    const perp_status status = perp_qs_reserve(qs, context->contacts, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    qs->t = t;
    qs->h = qs->law->instant ? 1.0 : t_end - t;
    qs->kinematics = context->kinematics;
    qs->contacts = context->contacts;
    perp_qs_find_turning(qs);
    perp_qs_prescribe(qs, q, t, t_end);
    perp_command(model, end_of(qs), qs->command);
    perp_mass_matrix(model, context->kinematics, qs->mass);
    fill_hessian(qs);
    fill_forces(qs, context, q);
    if (!qs->law->own_contacts) {
        fill_contacts(qs);
    }
    fill_loops(qs, context);
    fill_limits(qs, q);
    perp_qs_join_system(qs);
    if (qs->law->inertia == PERP_QS_FULL) {
        perp_dynamic_start_from_drifted(qs);
    }
    perp_qs_measure_islands(qs, q, end_of(qs));
    if (qs->law->inertia == PERP_QS_FULL && !qs->started) {
        const perp_status massive = perp_dynamic_check_inertia(qs, qs->mass_scratch, error);
        if (massive != PERP_STATUS_OK) {
            return massive;
        }
    }
    const int rows = qs->row_start[qs->system.contact_count];
    if (!finite(qs->g, qs->free_count) || !finite(qs->v, model->nv) || !finite(qs->offset, rows) ||
        !finite(qs->equality_target, qs->system.equality_count) || !has_finite_units(qs)) {
        return perp_fail(error, PERP_STATUS_INFEASIBLE, "a command, its velocity or a force is not finite at t = %g",
                         t_end);
    }
    return PERP_STATUS_OK;
}

static void subtract_constraints(const perp_quasistatic *qs, double *balance)
{
    const perp_contact_qp *p = &qs->system;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        for (int r = p->row_start[i]; r < p->row_start[i + 1]; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                balance[p->dofs[start + k]] -= jacobian[k] * qs->force[r];
            }
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            balance[p->equality_dofs[k]] -= p->equality_values[k] * qs->y_equality[i];
        }
    }
}

/* The balance into qs->scratch; returns the largest entry of A v, torques over L. */
static double fill_balance(const perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const double *block = p->hessian;
    double *balance = qs->scratch, most = 0.0;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double change = 0.0;
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                change += *block++ * qs->x[k];
            }
            balance[i] = change + (p->g[i] - qs->y_lower[i] + qs->y_upper[i]);
            most = fmax(most, fabs(change) / (qs->turns[i] ? qs->length_unit : 1.0));
        }
    }
    subtract_constraints(qs, balance);
    return most;
}

static double largest_balance(const perp_quasistatic *qs)
{
    double largest = 0.0;
    for (int i = 0; i < qs->system.n; i++) {
        const double unit = qs->turns[i] ? qs->force_unit * qs->length_unit : qs->force_unit;
        largest = fmax(largest, fabs(qs->scratch[i]) / unit);
    }
    return largest;
}

double perp_qs_balance(const perp_quasistatic *qs)
{
    fill_balance(qs);
    return largest_balance(qs);
}

double perp_qs_judge_balance(perp_quasistatic *qs)
{
    qs->force_unit = fmax(qs->force_unit, fill_balance(qs));
    for (int r = 0; r < qs->system.row_start[qs->system.contact_count]; r++) {
        qs->force_unit = fmax(qs->force_unit, fabs(qs->force[r]));
    }
    return largest_balance(qs);
}

double perp_qs_off_constraints(const perp_contact_qp *p, const perp_convex_point *point, double gap)
{
    double worst = 0.0;
    for (int i = 0; i < p->n && p->lower; i++) {
        const double low = gap * (point->x[i] - p->lower[i]), high = gap * (p->upper[i] - point->x[i]);
        worst = isfinite(low) ? fmax(worst, fabs(fmin(point->y_lower[i], low))) : worst;
        worst = isfinite(high) ? fmax(worst, fabs(fmin(point->y_upper[i], high))) : worst;
    }
    for (int i = 0; i < p->equality_count; i++) {
        double sum = -p->equality_target[i];
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            sum += p->equality_values[k] * point->x[p->equality_dofs[k]];
        }
        worst = fmax(worst, gap * fabs(sum));
    }
    return worst;
}
