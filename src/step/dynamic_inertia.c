/* Inertia in the step problem, and the forms of the normal row: dynamic.h. */
#include "step/dynamic.h"

#include <perp/linalg.h>

#include <stdio.h>

double perp_dynamic_mass_scale(const perp_quasistatic *qs)
{
    return qs->settings->time_scale * qs->settings->time_scale;
}

/* The force that brings prescribed degrees of freedom to their new velocities, as a free one i of a tree feels it, and
 * what springs and dampers say to its velocity v~. */
static double force_at_drifted(const perp_quasistatic *qs, const perp_tree *tree, int i)
{
    const perp_model *model = qs->model;
    const double *row = qs->mass + tree->mass_start + (ptrdiff_t)(i - tree->v_start) * tree->v_count;
    double momentum = 0.0;
    for (int s = 0; s < tree->v_count; s++) {
        const int j = tree->v_start + s;
        momentum += qs->free_of_dof[j] < 0 ? row[s] * (qs->v[j] - qs->v_drifted[j]) : 0.0;
    }
    return perp_dynamic_mass_scale(qs) * momentum / qs->h +
           (qs->h * model->stiffness[i] + model->damping[i]) * qs->v_drifted[i];
}

static void start_contacts(perp_quasistatic *qs)
{
    const perp_contact_qp *p = &qs->system;
    const double *jacobian = qs->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = qs->dof_start[i], columns = qs->dof_start[i + 1] - start;
        for (int r = qs->row_start[i]; r < qs->row_start[i + 1]; r++, jacobian += columns) {
            for (int k = 0; k < columns; k++) {
                qs->offset[r] += jacobian[k] * qs->v_drifted[qs->dof_of_free[qs->dofs[start + k]]];
            }
        }
    }
}

void perp_dynamic_start_from_drifted(perp_quasistatic *qs)
{
    const perp_model *model = qs->model;
    for (int k = 0; k < model->tree_count; k++) {
        const perp_tree *tree = &model->trees[k];
        for (int i = tree->v_start; i < tree->v_start + tree->v_count; i++) {
            const int free = qs->free_of_dof[i];
            if (free >= 0) {
                qs->g[free] += force_at_drifted(qs, tree, i);
                qs->lower[free] -= qs->v_drifted[i];
                qs->upper[free] -= qs->v_drifted[i];
            }
        }
    }
    start_contacts(qs);
    for (int i = 0; i < qs->system.equality_count; i++) {
        for (int k = qs->equality_start[i]; k < qs->equality_start[i + 1]; k++) {
            qs->equality_target[i] -= qs->equality_values[k] * qs->v_drifted[qs->dof_of_free[qs->equality_dofs[k]]];
        }
    }
}

double perp_dynamic_shift(const perp_quasistatic *qs, int i)
{
    const perp_contact *c = &qs->contacts->contacts[i];
    const double stabilised = c->phi / qs->h;
    if (!(c->restitution > 0.0)) {
        return stabilised;
    }
    const double *u = qs->velocity + (ptrdiff_t)qs->contacts->rows * i, approach = u[0];
    const double slip = c->direction_count == 0 ? 0.0 : qs->contacts->rows > 2 ? hypot(u[1], u[2]) : fabs(u[1]);
    const double layer = qs->rung->convex ? c->friction * slip : 0.0; /* a convex law acts mu h |u_t| ahead of touch */
    const bool closes = approach < 0.0 && c->phi + qs->h * (approach - layer) <= 0.0;
    return closes ? fmin(c->restitution * approach, stabilised) : stabilised;
}

bool perp_dynamic_unstabilise(perp_quasistatic *qs)
{
    bool changed = false;
    for (int i = 0; i < qs->system.contact_count; i++) {
        const perp_contact *c = &qs->contacts->contacts[qs->set_index[i]];
        if (c->phi < 0.0 && qs->shift[i] == c->phi / qs->h) {
            qs->offset[qs->row_start[i]] -= qs->shift[i];
            qs->shift[i] = 0.0;
            changed = true;
        }
    }
    for (int k = 0; k < qs->free_count && qs->system.lower; k++) {
        const double rest = -qs->v_drifted[qs->dof_of_free[k]];
        changed = changed || qs->lower[k] > rest || qs->upper[k] < rest;
        qs->lower[k] = fmin(qs->lower[k], rest);
        qs->upper[k] = fmax(qs->upper[k], rest);
    }
    return changed;
}

perp_status perp_dynamic_check_inertia(const perp_quasistatic *qs, double *scratch, perp_error *error)
{
    const double *block = qs->hessian;
    for (int b = 0; b < qs->system.block_count; b++) {
        const int start = qs->block_start[b], size = qs->block_start[b + 1] - start;
        for (int i = 0; i < size * size; i++) {
            scratch[i] = block[i];
        }
        int failed = 0;
        if (perp_cholesky_factor(size, scratch, size, &failed) != PERP_STATUS_OK) {
            const int dof = qs->dof_of_free[start + failed], joint = qs->model->dof_joint[dof];
            const perp_scene *scene = qs->model->scene;
            perp_fail(error, PERP_STATUS_BAD_INPUT,
                      "model `%s` needs inertia, and nothing that %s `%s` moves has any: give its body a mass, or the "
                      "joint an `armature`",
                      qs->rung->name, joint >= 0 ? "joint" : "body",
                      joint >= 0 ? scene->joints[joint].name : scene->bodies[qs->model->dof_body[dof]].name);
            if (error) {
                snprintf(error->path, sizeof error->path, "%s.%s", joint >= 0 ? "joints" : "bodies",
                         joint >= 0 ? scene->joints[joint].name : scene->bodies[qs->model->dof_body[dof]].name);
            }
            return PERP_STATUS_BAD_INPUT;
        }
        block += (ptrdiff_t)size * size;
    }
    return PERP_STATUS_OK;
}
