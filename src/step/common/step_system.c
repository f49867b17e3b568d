/* What every law does with the system of a step and its points: other units, copies, the balance. */
#include "step/common/contact_step.h"
#include "step/common/tolerances.h"

#include <string.h>

ptrdiff_t perp_step_scale(const contact_step *step, double speed, const step_scaled *to)
{
    const perp_contact_qp *p = &step->system;
    const double force = step->force_unit;
    ptrdiff_t entries = 0;
    for (int b = 0; b < p->block_count; b++) {
        const ptrdiff_t size = p->block_start[b + 1] - p->block_start[b];
        entries += size * size;
    }
    for (ptrdiff_t i = 0; i < entries; i++) {
        to->hessian[i] = p->hessian[i] * (speed / force);
    }
    for (int i = 0; i < p->n; i++) {
        to->g[i] = p->g[i] / force;
        to->lower[i] = step->lower[i] / speed;
        to->upper[i] = step->upper[i] / speed;
    }
    for (int i = 0; i < p->equality_count; i++) {
        to->target[i] = p->equality_target[i] / speed;
    }
    return entries;
}

perp_contact_qp perp_step_scaled_system(const contact_step *step, const step_scaled *to)
{
    perp_contact_qp qp = step->system;
    qp.hessian = to->hessian;
    qp.g = to->g;
    qp.equality_target = to->target;
    qp.lower = qp.lower ? to->lower : NULL;
    qp.upper = qp.upper ? to->upper : NULL;
    return qp;
}

void perp_step_spread(const perp_contact_qp *p, const double *blocks, int columns, double *dense)
{
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                dense[(ptrdiff_t)i * columns + k] = *blocks++;
            }
        }
    }
}

void perp_step_metric(const contact_step *step, double *blocks)
{
    const perp_model *model = step->model;
    const double mass = step->heaviest > 0.0 ? step->heaviest : 1.0;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        const double *m = step->mass + tree->mass_start;
        for (int r = 0; r < tree->v_count; r++) {
            const int free = step->free_of_dof[tree->v_start + r];
            for (int s = 0; s < tree->v_count && free >= 0; s++) {
                if (step->free_of_dof[tree->v_start + s] < 0) {
                    continue;
                }
                double entry = 0.5 * (m[r * tree->v_count + s] + m[s * tree->v_count + r]) / mass;
                if (r == s && !(entry > 0.0)) {
                    entry = step->turns[free] ? step->length_unit * step->length_unit : 1.0;
                } else if (r == s && model->dof_joint[tree->v_start + r] >= 0) {
                    entry *= 1.001;
                }
                *blocks++ = entry;
            }
        }
    }
    for (int k = 0; k < step->foot_count; k++) { /* they follow the bodies, and hardly count */
        *blocks++ = FOOT_WEIGHT;
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

void perp_step_copy_point(const perp_contact_qp *p, perp_convex_point *to, const perp_convex_point *from)
{
    const size_t n = (size_t)p->n * sizeof(double);
    memcpy(to->x, from->x, n);
    memcpy(to->y_lower, from->y_lower, n);
    memcpy(to->y_upper, from->y_upper, n);
    memcpy(to->y, from->y, (size_t)p->slack_start[p->contact_count] * sizeof(double));
    memcpy(to->y_equality, from->y_equality, (size_t)p->equality_count * sizeof(double));
}

void perp_step_clear_point(const perp_contact_qp *p, perp_convex_point *point)
{
    const size_t n = (size_t)p->n * sizeof(double);
    memset(point->x, 0, n);
    memset(point->y_lower, 0, n);
    memset(point->y_upper, 0, n);
    memset(point->y, 0, (size_t)p->slack_start[p->contact_count] * sizeof(double));
    memset(point->y_equality, 0, (size_t)p->equality_count * sizeof(double));
}

void perp_step_take_point(contact_step *step, const perp_convex_point *point, double speed)
{
    const perp_contact_qp *p = &step->system;
    const double force = step->force_unit;
    for (int i = 0; i < p->n; i++) {
        step->x[i] = speed * point->x[i];
        step->y_lower[i] = p->lower ? force * point->y_lower[i] : 0.0;
        step->y_upper[i] = p->upper ? force * point->y_upper[i] : 0.0;
    }
    for (int i = 0; i < p->equality_count; i++) {
        step->y_equality[i] = force * point->y_equality[i];
    }
}

void perp_step_balance_of(const perp_contact_qp *p, const perp_convex_point *point, double *balance)
{
    const double *block = p->hessian, *jacobian = p->jacobian;
    for (int b = 0; b < p->block_count; b++) {
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            balance[i] = p->g[i] - (p->lower ? point->y_lower[i] - point->y_upper[i] : 0.0);
            for (int k = p->block_start[b]; k < p->block_start[b + 1]; k++) {
                balance[i] += *block++ * point->x[k];
            }
        }
    }
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->dof_start[i], columns = p->dof_start[i + 1] - start;
        for (int r = p->row_start[i]; r < p->row_start[i + 1]; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                balance[p->dofs[start + k]] -= jacobian[k] * point->y[r];
            }
        }
    }
    for (int i = 0; i < p->equality_count; i++) {
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            balance[p->equality_dofs[k]] -= p->equality_values[k] * point->y_equality[i];
        }
    }
}
