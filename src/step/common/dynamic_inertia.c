/* Inertia in the step problem, and the forms of the normal row: dynamic.h. */
#include "linalg/dense.h"
#include "step/common/dynamic.h"

#include <stdio.h>

double perp_dynamic_mass_scale(const contact_step *step)
{
    return step->settings->time_scale * step->settings->time_scale;
}

double perp_dynamic_force_at_drifted(const contact_step *step, const double *q, int i)
{
    const perp_tree *tree = &step->model->trees[perp_step_tree_of(step, i)];
    const double *row = step->mass + tree->mass_start + (ptrdiff_t)(i - tree->v_start) * tree->v_count;
    double momentum = 0.0;
    for (int s = 0; s < tree->v_count; s++) {
        const int j = tree->v_start + s;
        momentum += step->free_of_dof[j] < 0 ? row[s] * (step->v[j] - step->inertia.v_drifted[j]) : 0.0;
    }
    return perp_dynamic_mass_scale(step) * momentum / step->h +
           perp_step_spring(step, q, i).rate * step->inertia.v_drifted[i];
}

static void start_contacts(contact_step *step)
{
    const perp_contact_qp *p = &step->system;
    const double *jacobian = step->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = step->dof_start[i], columns = step->dof_start[i + 1] - start;
        for (int r = step->row_start[i]; r < step->row_start[i + 1]; r++, jacobian += columns) {
            for (int k = 0; k < columns && step->dofs[start + k] < step->free_count; k++) {
                step->offset[r] += jacobian[k] * step->inertia.v_drifted[step->dof_of_free[step->dofs[start + k]]];
            }
        }
    }
}

void perp_dynamic_start_from_drifted(contact_step *step)
{
    const perp_model *model = step->model;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const int free = step->free_of_dof[i];
            if (free >= 0) {
                step->lower[free] -= step->inertia.v_drifted[i];
                step->upper[free] -= step->inertia.v_drifted[i];
            }
        }
    }
    start_contacts(step);
    for (int i = 0; i < step->system.equality_count; i++) {
        for (int k = step->equality_start[i]; k < step->equality_start[i + 1]; k++) {
            step->equality_target[i] -=
                step->equality_values[k] * step->inertia.v_drifted[step->dof_of_free[step->equality_dofs[k]]];
        }
    }
}

double perp_dynamic_shift(const contact_step *step, int i)
{
    const perp_contact *c = &step->contacts->contacts[i];
    const double stabilised = c->phi / step->h;
    if (!(c->restitution > 0.0)) {
        return stabilised;
    }
    const double *u = step->velocity + (ptrdiff_t)step->contacts->rows * i, approach = u[0];
    const double slip = c->direction_count == 0 ? 0.0 : step->contacts->rows > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
    const double layer =
        step->rung->convex ? c->friction * slip : 0.0; /* a convex law acts mu h |u_t| ahead of touch */
    const bool closes = approach < 0.0 && c->phi + step->h * (approach - layer) <= 0.0;
    return closes ? fmin(c->restitution * approach, stabilised) : stabilised;
}

bool perp_dynamic_unstabilise(contact_step *step)
{
    bool changed = false;
    for (int i = 0; i < step->system.contact_count; i++) {
        const perp_contact *c = &step->contacts->contacts[step->set_index[i]];
        if (c->phi < 0.0 && step->shift[i] == c->phi / step->h) {
            step->offset[step->row_start[i]] -= step->shift[i];
            step->shift[i] = 0.0;
            changed = true;
        }
    }
    for (int k = 0; k < step->free_count && step->system.lower; k++) {
        const double rest = -step->inertia.v_drifted[step->dof_of_free[k]];
        changed = changed || step->lower[k] > rest || step->upper[k] < rest;
        step->lower[k] = fmin(step->lower[k], rest);
        step->upper[k] = fmax(step->upper[k], rest);
    }
    return changed;
}

perp_status perp_dynamic_check_inertia(const contact_step *step, double *scratch, perp_error *error)
{
    const double *block = step->hessian;
    for (int b = 0; b < step->system.block_count && step->block_start[b] < step->free_count; b++) {
        const int start = step->block_start[b], size = step->block_start[b + 1] - start;
        for (int i = 0; i < size * size; i++) {
            scratch[i] = block[i];
        }
        int failed = 0;
        if (perp_cholesky_factor(size, scratch, size, &failed) != PERP_STATUS_OK) {
            const int dof = step->dof_of_free[start + failed], joint = step->model->dof_joint[dof];
            const perp_scene *scene = step->model->scene;
            perp_fail(error, PERP_STATUS_BAD_INPUT,
                      "model `%s` needs inertia, and nothing that %s `%s` moves has any: give its body a mass, or the "
                      "joint an `armature`",
                      step->rung->name, joint >= 0 ? "joint" : "body",
                      joint >= 0 ? scene->joints[joint].name : scene->bodies[step->model->dof_body[dof]].name);
            if (error) {
                snprintf(error->path, sizeof error->path, "%s.%s", joint >= 0 ? "joints" : "bodies",
                         joint >= 0 ? scene->joints[joint].name : scene->bodies[step->model->dof_body[dof]].name);
            }
            return PERP_STATUS_BAD_INPUT;
        }
        block += (ptrdiff_t)size * size;
    }
    return PERP_STATUS_OK;
}
