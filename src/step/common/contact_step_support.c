/* Feet: the unknowns of supports. contact_step.h says what they are. */
#include "contact/contact_reach.h"
#include "step/common/dynamic.h"

#include <string.h>

bool perp_step_is_support(const contact_step *step, int i)
{
    return perp_contact_is_support(&step->contacts->contacts[step->set_index[i]]);
}

bool perp_step_acts(const perp_contact *c)
{
    return !perp_contact_is_support(c) || c->load * c->friction > 0.0;
}

void perp_step_clear_feet(contact_step *step)
{
    perp_contact_qp *p = &step->system;
    while (p->block_count > 0 && step->block_start[p->block_count - 1] >= step->free_count) {
        p->block_count--;
    }
    for (int i = 0; i < step->foot_capacity; i++) {
        step->free_of_dof[step->model->nv + i] = -1;
    }
    step->foot_count = 0;
    p->n = step->free_count;
}

/* Entries of the blocks before block `block`. */
static ptrdiff_t entries_before(const contact_step *step, int block)
{
    ptrdiff_t entries = 0;
    for (int b = 0; b < block; b++) {
        const ptrdiff_t size = step->block_start[b + 1] - step->block_start[b];
        entries += size * size;
    }
    return entries;
}

/* On rigid rungs a foot stands still whatever resists it. With inertia the bodies' is taken for it, so that A stays
 * definite; convex laws need 0. At an instant h is 1. */
static double resistance(const contact_step *step, const perp_contact *c)
{
    const bool free = step->rung->inertia != PERP_RUNG_INERTIA_FULL || step->rung->convex;
    return free ? 0.0 : perp_dynamic_mass_scale(step) * step->model->links[c->b].mass / step->h;
}

int perp_step_add_foot(contact_step *step, int i, int tree)
{
    perp_contact_qp *p = &step->system;
    const perp_contact *c = &step->contacts->contacts[i];
    const int foot = step->foot_count++, at = step->free_count + foot, dof = step->model->nv + foot;
    step->hessian[entries_before(step, p->block_count)] = resistance(step, c);
    step->g[at] = c->load;
    step->lower[at] = -INFINITY;
    step->upper[at] = INFINITY;
    step->y_lower[at] = step->y_upper[at] = 0.0;
    step->turns[at] = false;
    step->tree_of_free[at] = tree;
    step->dof_of_free[at] = dof;
    step->free_of_dof[dof] = at;
    step->block_start[++p->block_count] = at + 1;
    p->n = at + 1;
    return at;
}

bool perp_step_rest(const contact_step *step, double speed, double *x, double *moving)
{
    const int n = step->system.n;
    double most = 0.0;
    memcpy(moving, x, (size_t)n * sizeof *x);
    for (int k = 0; k < n && step->foot_count > 0; k++) {
        const bool drifts = step->dynamic && k < step->free_count;
        x[k] = drifts ? -step->inertia.v_drifted[step->dof_of_free[k]] / speed : 0.0;
        most = fmax(most, speed * step->h * fabs(moving[k] - x[k]) / (step->turns[k] ? 1.0 : step->length_unit));
    }
    const bool rests = most > 0.0 && most <= step->settings->tolerance;
    if (!rests) {
        memcpy(x, moving, (size_t)n * sizeof *x);
    }
    return rests;
}
