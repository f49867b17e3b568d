/* The rows of a patch's elements. They are those of its contact and, beyond that, linear in the offset of the element:
 * so what a patch has in common is worked out once, however many elements it has. */
#include "step/compliant/compliant.h"

static bool has_dof(const perp_model *model, int body, int dof)
{
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    for (int i = 0; i < n; i++) {
        if (dofs[i] == dof) {
            return true;
        }
    }
    return false;
}

/* The angular velocity of b against a that a degree of freedom gives. */
static perp_vec3 turning(const contact_step *step, const perp_contact *c, int dof)
{
    const int side = (has_dof(step->model, c->b, dof) ? 1 : 0) - (has_dof(step->model, c->a, dof) ? 1 : 0);
    return perp_vec3_scale(side, step->kinematics->dof_angular[dof]);
}

/* The axis of a row of a contact, and its weights in the set's rows (n, t, o, turning). */
typedef struct row_axis {
    perp_vec3 axis;
    double weights[4];
} row_axis;

static row_axis axis_of(const perp_contact *c, int r)
{
    const bool normal = r == 0, turns = r > c->direction_count;
    const perp_vec3 d = normal || turns ? c->normal : c->directions[r - 1];
    return (row_axis){d,
                      {normal ? 1.0 : 0.0, normal ? 0.0 : perp_vec3_dot(d, c->t), normal ? 0.0 : perp_vec3_dot(d, c->o),
                       turns ? 1.0 : 0.0}};
}

/* Of column k of the contact what it is in the rows, and what it adds to their velocities. */
static void add_column(contact_step *step, const compliant_patch *patch, int k, const row_axis *axes)
{
    compliant_step *s = step->own;
    compliant_rows *rows = &s->rows;
    const perp_contact_set *set = step->contacts;
    const int start = set->dof_start[patch->contact], dof = set->dofs[start + k];
    const bool is_free = step->free_of_dof[dof] >= 0;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start + k;
    for (int r = 0; r < patch->material.rows; r++) {
        const double given = r == 0 ? step->v_gap[dof] : step->v[dof],
                     v = is_free ? step->inertia.v_drifted[dof] : given;
        double entry = 0.0;
        for (int row = 0; row < set->rows; row++) {
            entry += axes[r].weights[row] * jacobian[(ptrdiff_t)row * rows->stride];
        }
        rows->velocity[r] += entry * (r == 0 && !s->by_rates ? v - s->v_linear[dof] : v);
        rows->entry[(ptrdiff_t)r * rows->stride + rows->columns] = entry;
    }
}

/* The same of what an offset adds. */
static void add_turning(contact_step *step, const compliant_patch *patch, int k, const row_axis *axes)
{
    compliant_step *s = step->own;
    compliant_rows *rows = &s->rows;
    const perp_contact_set *set = step->contacts;
    const perp_contact *c = &set->contacts[patch->contact];
    const int dof = set->dofs[set->dof_start[patch->contact] + k];
    const double known = (s->guessed ? s->v_linear : step->v_last)[dof];
    const perp_vec3 turns = turning(step, c, dof);
    for (int r = 0; r < patch->material.rows; r++) {
        const double given = r == 0 ? step->v_gap[dof] : step->v[dof];
        const double v = step->free_of_dof[dof] >= 0 ? step->inertia.v_drifted[dof] : given;
        const perp_vec3 around = perp_vec3_cross(axes[r].axis, turns);
        const double along[2] = {perp_vec3_dot(around, c->t), perp_vec3_dot(around, c->o)};
        for (int side = 0; side < 2; side++) {
            rows->turning[r][side] += along[side] * v;
            rows->tilt[side] += r == 0 ? along[side] * known : 0.0;
            rows->along[side][(ptrdiff_t)r * rows->stride + rows->columns] = along[side];
        }
    }
}

void perp_compliant_fill_rows(contact_step *step, const compliant_patch *patch)
{
    compliant_step *s = step->own;
    compliant_rows *rows = &s->rows;
    const perp_contact_set *set = step->contacts;
    const int start = set->dof_start[patch->contact], all = set->dof_start[patch->contact + 1] - start;
    row_axis axes[4];
    rows->columns = 0;
    rows->stride = all;
    rows->extended = patch->material.elements > 1;
    rows->tilt[0] = rows->tilt[1] = 0.0;
    for (int r = 0; r < patch->material.rows; r++) {
        rows->velocity[r] = rows->turning[r][0] = rows->turning[r][1] = 0.0;
        axes[r] = axis_of(&set->contacts[patch->contact], r);
    }
    for (int k = 0; k < all; k++) { /* a column that is not free is overwritten by the next */
        add_column(step, patch, k, axes);
        if (rows->extended) {
            add_turning(step, patch, k, axes);
        }
        const int free = step->free_of_dof[set->dofs[start + k]];
        if (free >= 0) {
            rows->dofs[rows->columns++] = free;
        }
    }
}

double perp_compliant_put_row(const compliant_rows *rows, int r, const double offset[2], double *out)
{
    const ptrdiff_t first = (ptrdiff_t)r * rows->stride;
    const double *entry = rows->entry + first, *along_t = rows->along[0] + first, *along_o = rows->along[1] + first;
    for (int k = 0; k < rows->columns; k++) {
        out[k] = rows->extended ? entry[k] + offset[0] * along_t[k] + offset[1] * along_o[k] : entry[k];
    }
    return rows->velocity[r] + offset[0] * rows->turning[r][0] + offset[1] * rows->turning[r][1];
}
