/* The step problem of rungs with contact forces: contact_step.h says what it is. */
#include "contact/contact_reach.h"
#include "model/state.h"
#include "step/common/dynamic.h"
#include "step/common/tolerances.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* ---- what is prescribed ------------------------------------------------------------------------------------------ */

/* v: the velocities that slip sees. v_gap: those that lead the gap to where it is at the step's end. They differ with
 * prediction `taylor` only, where a driven body begins the step not at x(t), which the last step has only predicted,
 * but at that prediction. */
void perp_step_prescribe(contact_step *step, const double *q, double t, double t_end)
{
    const perp_model *model = step->model;
    const perp_prescribe which = step->prescribe;
    memset(step->v, 0, (size_t)model->nv * sizeof *step->v);
    if (step->law->instant) {
        perp_prescribed_rate(model, which, t, step->v);
        memcpy(step->v_gap, step->v, (size_t)model->nv * sizeof *step->v);
        return;
    }
    perp_prescribed_velocity(model, which, t, t_end, step->v);
    memcpy(step->v_gap, step->v, (size_t)model->nv * sizeof *step->v);
    if (step->settings->prediction == PERP_PREDICTION_EXACT) {
        return;
    }
    perp_prescribed_rate(model, PERP_PRESCRIBE_DRIVEN, t, step->v);
    memcpy(step->q_driven, q, (size_t)model->nq * sizeof *q);
    perp_driven_taylor(model, t, t_end - t, step->q_driven);
    perp_configuration_difference(model, q, step->q_driven, step->scratch);
    for (int i = 0; i < model->nv; i++) {
        if (model->role[i] == PERP_DOF_PRESCRIBED && model->dof_joint[i] < 0) {
            step->v_gap[i] = step->scratch[i] / (t_end - t);
        }
    }
}

/* ---- forces and stiffness ---------------------------------------------------------------------------------------- */

/* When commands and forces are taken. */
static double end_of(const contact_step *step)
{
    return step->law->instant ? step->t : step->t + step->h;
}

/* What multiplies M / h between degrees of freedom i and j in A. */
static double inertia_scale(const contact_step *step, int i, int j)
{
    const perp_dof_role *role = step->model->role;
    if (step->dynamic) {
        return perp_dynamic_mass_scale(step);
    }
    const bool passive = role[i] == PERP_DOF_PASSIVE && role[j] == PERP_DOF_PASSIVE;
    return step->rung->inertia == PERP_RUNG_INERTIA_ONE_STEP && passive ? 1.0 : 0.0;
}

/* A, one block per tree with free degrees of freedom. Damping of passive joints counts with full inertia: without it
 * a joint that nothing else holds would have no answer but for its damper's. */
static void fill_hessian(contact_step *step, const double *q)
{
    const perp_model *model = step->model;
    double *block = step->hessian;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const double *mass = step->mass + tree->mass_start;
        for (int r = 0; r < tree->v_count; r++) {
            const int i = tree->v_start + r;
            for (int s = 0; s < tree->v_count && step->free_of_dof[i] >= 0; s++) {
                const int j = tree->v_start + s;
                if (step->free_of_dof[j] < 0) {
                    continue;
                }
                const double mean = 0.5 * (mass[r * tree->v_count + s] + mass[s * tree->v_count + r]);
                const double entry = inertia_scale(step, i, j) * mean / step->h;
                *block++ = i == j ? entry + perp_step_spring(step, q, i).rate : entry;
            }
        }
    }
}

/* Forces that do not depend on the velocity, into step->tau. */
static void find_forces(contact_step *step, perp_step_context *context)
{
    const perp_model *model = step->model;
    perp_gravity_force(model, context->kinematics, step->tau);
    perp_applied_force(model, context->kinematics, end_of(step), step->scratch);
    for (int i = 0; i < model->nv; i++) {
        step->tau[i] += step->scratch[i];
    }
}

void perp_step_fill_springs(contact_step *step, const double *q)
{
    const perp_model *model = step->model;
    fill_hessian(step, q);
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k];
        double force = step->tau[i];
        if (model->role[i] == PERP_DOF_IMPEDANCE) {
            force += perp_step_spring(step, q, i).force;
        }
        step->g[k] = -force;
        if (step->dynamic) {
            step->g[k] += perp_dynamic_force_at_drifted(step, q, i);
        }
    }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* The rows of contact i of the set in (n, t, o, turning) that make row r of the system: the normal, then the friction
 * directions, then what an ellipsoid has of the turning. */
static void row_weights(const perp_contact *c, int r, double weights[4])
{
    const bool turning = r > c->direction_count;
    const perp_vec3 d = r == 0 || turning ? c->normal : c->directions[r - 1];
    weights[3] = turning ? 1.0 : 0.0;
    weights[0] = r == 0 ? 1.0 : 0.0;
    weights[1] = r == 0 ? 0.0 : perp_vec3_dot(d, c->t);
    weights[2] = r == 0 ? 0.0 : perp_vec3_dot(d, c->o);
}

/* The rows of contact i over its free degrees of freedom into `out`, and into `given` what the prescribed ones add. A
 * part of a point's velocity that is rounding beside the whole of it is none: with a normal that is off by 1e-16 a body
 * would else be pried out of the way along a direction in which it only slides. */
static void free_rows(const contact_step *step, int i, int free_columns, double given[4], double *out)
{
    const perp_contact_set *set = step->contacts;
    const int start = set->dof_start[i], columns = set->dof_start[i + 1] - start;
    const int rows = perp_contact_row_count(&set->contacts[i]);
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start;
    double weights[4][4];
    assert(set->rows <= 4); /* n, t, o, turning */
    for (int r = 0; r < rows; r++) {
        row_weights(&set->contacts[i], r, weights[r]);
        given[r] = 0.0;
        if (free_columns > 0) {
            out[(ptrdiff_t)(r + 1) * free_columns - 1] = 0.0; /* of a foot, which is none of the set's columns */
        }
    }
    for (int k = 0, free = 0; k < columns; k++) {
        const int dof = set->dofs[start + k];
        const bool is_free = step->free_of_dof[dof] >= 0;
        double part[4] = {0.0, 0.0, 0.0, 0.0}, square = 0.0;
        for (int row = 0; row < set->rows; row++) {
            part[row] = jacobian[(ptrdiff_t)row * columns + k];
            square += part[row] * part[row];
        }
        const double rounding = ROW_ROUNDING * sqrt(square);
        for (int r = 0; r < rows; r++) {
            const double sum =
                weights[r][0] * part[0] + weights[r][1] * part[1] + weights[r][2] * part[2] + weights[r][3] * part[3];
            const double entry = fabs(sum) > rounding ? sum : 0.0;
            if (is_free) {
                out[(ptrdiff_t)r * free_columns + free] = entry;
            } else {
                given[r] += entry * (r == 0 ? step->v_gap : step->v)[dof];
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

/* Does a contact lie between what takes part now and what does not? Then both are to take their parts together. */
static bool meets_others(contact_step *step, int i)
{
    const perp_contact_set *set = step->contacts;
    int own = -1, other = -1;
    for (int k = set->dof_start[i]; k < set->dof_start[i + 1] && step->parts.masked; k++) {
        const int dof = set->dofs[k], tree = perp_step_tree_of(step, dof);
        own = step->free_of_dof[dof] >= 0 ? tree : own;
        other = step->free_of_dof[dof] < 0 && !step->prescribed[dof] ? tree : other;
    }
    if (own < 0 || other < 0) {
        return false;
    }
    perp_step_join_trees(step->parts.met_with, own, other);
    step->parts.met = true;
    return true;
}

/* What the normal row of a contact has beside velocities. */
static double shift_of(const contact_step *step, int i)
{
    const perp_contact *c = &step->contacts->contacts[i];
    if (step->law->instant) {
        return 0.0;
    }
    return step->dynamic ? perp_dynamic_shift(step, i) : c->phi / step->h;
}

/* Contacts that some free degree of freedom moves. */
static void fill_contacts(contact_step *step)
{
    const perp_contact_set *set = step->contacts;
    int count = 0, rows = 0, dofs = 0;
    ptrdiff_t entries = 0;
    if (step->dynamic && step->inertia.bounces) {
        perp_contact_velocity(set, step->v_last, step->velocity);
    }
    perp_step_clear_feet(step);
    step->row_start[0] = step->dof_start[0] = 0;
    step->reach.in_reach = 0;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &set->contacts[i];
        const int contact_rows = perp_contact_row_count(c);
        const bool support = perp_contact_is_support(c);
        int columns = 0;
        if (!perp_step_is_in_reach(step, c) || !perp_step_acts(c)) {
            continue;
        }
        step->reach.in_reach++;
        if (meets_others(step, i)) {
            continue;
        }
        for (int k = set->dof_start[i]; k < set->dof_start[i + 1]; k++) {
            const int free = step->free_of_dof[set->dofs[k]];
            if (free >= 0) {
                step->dofs[dofs + columns++] = free;
            }
        }
        double *jacobian = step->jacobian + entries, given[4];
        const double shift = support ? 0.0 : shift_of(step, i);
        free_rows(step, i, support ? columns + 1 : columns, given, jacobian);
        for (int r = 0; r < contact_rows; r++) {
            step->offset[rows + r] = given[r] + (r == 0 ? shift : 0.0);
        }
        if (columns == 0 || all_zero(jacobian, (ptrdiff_t)contact_rows * columns)) {
            continue;
        }
        if (support) {
            const int tree = step->tree_of_free[step->dofs[dofs]];
            step->dofs[dofs + columns++] = perp_step_add_foot(step, i, tree);
            jacobian[columns - 1] = 1.0;
        }
        step->mu[count] = c->friction;
        step->shift[count] = shift;
        step->room[count] = 0.0;
        step->set_index[count++] = i;
        step->row_start[count] = rows += contact_rows;
        step->dof_start[count] = dofs += columns;
        entries += (ptrdiff_t)contact_rows * columns;
    }
    step->system.contact_count = count;
}

/* ---- loops and limits -------------------------------------------------------------------------------------------- */

static void fill_loops(contact_step *step, perp_step_context *context)
{
    const perp_model *model = step->model;
    int rows = 0, entries = 0, all = 0;
    step->equality_start[0] = 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        double residual[6];
        perp_loop_evaluate(model, context->kinematics, i, residual, step->loop_jacobian);
        for (int r = 0; r < perp_loop_rows(model, i); r++) {
            const double *row = step->loop_jacobian + (ptrdiff_t)r * model->nv;
            double target = step->law->instant ? 0.0 : -residual[r] / step->h;
            const int before = entries;
            for (int k = 0; k < model->nv; k++) {
                if (step->free_of_dof[k] < 0) {
                    target -= row[k] * step->v_gap[k];
                } else if (row[k] != 0.0) {
                    step->equality_dofs[entries] = step->free_of_dof[k];
                    step->equality_values[entries++] = row[k];
                }
            }
            step->equation_of[all++] = entries > before ? rows : -1;
            if (entries > before) { /* nothing free closes the others: how far they open is reported */
                step->loop_row[rows] = all - 1;
                step->equality_target[rows++] = target;
                step->equality_start[rows] = entries;
            }
        }
    }
    step->system.equality_count = rows;
}

static void fill_limits(contact_step *step, const double *q)
{
    const perp_model *model = step->model;
    bool any = false;
    for (int k = 0; k < step->free_count; k++) {
        const int i = step->dof_of_free[k], at = model->dof_q[i];
        step->lower[k] = at >= 0 ? (model->limit_low[i] - q[at]) / step->h : -INFINITY;
        step->upper[k] = at >= 0 ? (model->limit_high[i] - q[at]) / step->h : INFINITY;
        if (step->law->instant) {
            step->lower[k] = step->lower[k] >= -CLOSED ? 0.0 : -INFINITY;
            step->upper[k] = step->upper[k] <= CLOSED ? 0.0 : INFINITY;
        }
        any = any || isfinite(step->lower[k]) || isfinite(step->upper[k]);
        step->y_lower[k] = step->y_upper[k] = 0.0;
    }
    step->system.lower = any ? step->lower : NULL;
    step->system.upper = any ? step->upper : NULL;
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

static bool has_finite_units(const contact_step *step)
{
    bool finite = true;
    for (int k = 0; k < step->island_count; k++) {
        finite = finite && isfinite(step->islands[k].force);
    }
    return finite;
}

perp_status perp_step_build(contact_step *step, perp_step_context *context, const double *q, double t, double t_end,
                            perp_error *error)
{
    const perp_model *model = step->model;
    const perp_status status = perp_step_reserve(step, context->contacts, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    step->t = t;
    step->h = step->law->instant ? 1.0 : t_end - t;
    step->kinematics = context->kinematics;
    step->contacts = context->contacts;
    perp_step_find_turning(step);
    perp_step_prescribe(step, q, t, t_end);
    perp_command(model, end_of(step), step->command);
    perp_mass_matrix(model, context->kinematics, step->mass);
    find_forces(step, context);
    if (!step->law->own_contacts) {
        perp_springs_release(step);
    }
    perp_step_fill_springs(step, q);
    if (!step->law->own_contacts) {
        fill_contacts(step);
    }
    fill_loops(step, context);
    fill_limits(step, q);
    perp_step_join_system(step);
    if (step->dynamic) {
        perp_dynamic_start_from_drifted(step);
    }
    perp_step_measure_islands(step, q, end_of(step));
    if (step->dynamic && !step->started) {
        const perp_status massive = perp_dynamic_check_inertia(step, step->mass_scratch, error);
        if (massive != PERP_STATUS_OK) {
            return massive;
        }
    }
    const int rows = step->row_start[step->system.contact_count];
    if (!finite(step->g, step->system.n) || !finite(step->v, model->nv) || !finite(step->offset, rows) ||
        !finite(step->equality_target, step->system.equality_count) || !has_finite_units(step)) {
        return perp_fail(error, PERP_STATUS_INFEASIBLE, "a command, its velocity or a force is not finite at t = %g",
                         t_end);
    }
    return PERP_STATUS_OK;
}

static void subtract_constraints(const contact_step *step, double *balance)
{
    const perp_contact_qp *p = &step->system;
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        for (int r = p->row_start[i]; r < p->row_start[i + 1]; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                balance[p->dofs[start + k]] -= jacobian[k] * step->force[r];
            }
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            balance[p->equality_dofs[k]] -= p->equality_values[k] * step->y_equality[i];
        }
    }
}

/* The balance into step->scratch; returns the largest entry of A v, torques over L. */
static double fill_balance(const contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const double *block = p->hessian;
    double *balance = step->scratch, most = 0.0;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            double change = 0.0;
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                change += *block++ * step->x[k];
            }
            balance[i] = change + (p->g[i] - step->y_lower[i] + step->y_upper[i]);
            most = fmax(most, fabs(change) / (step->turns[i] ? step->length_unit : 1.0));
        }
    }
    subtract_constraints(step, balance);
    return most;
}

static double largest_balance(const contact_step *step)
{
    double largest = 0.0;
    for (int i = 0; i < step->system.n; i++) {
        const double unit = step->turns[i] ? step->force_unit * step->length_unit : step->force_unit;
        largest = fmax(largest, fabs(step->scratch[i]) / unit);
    }
    return largest;
}

double perp_step_balance(const contact_step *step)
{
    fill_balance(step);
    return largest_balance(step);
}

double perp_step_judge_balance(contact_step *step)
{
    step->force_unit = fmax(step->force_unit, fill_balance(step));
    for (int r = 0; r < step->system.row_start[step->system.contact_count]; r++) {
        step->force_unit = fmax(step->force_unit, fabs(step->force[r]));
    }
    return largest_balance(step);
}

double perp_step_off_constraints(const perp_contact_qp *p, const perp_convex_point *point, double gap)
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
