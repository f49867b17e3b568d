/* The rows of a patch's elements. They are those of its contact and, beyond that, linear in the offset of the element:
 * so what a patch has in common is worked out once, however many elements it has. */
#include "step/compliant.h"

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
static perp_vec3 turning(const perp_quasistatic *qs, const perp_contact *c, int dof)
{
    const int side = (has_dof(qs->model, c->b, dof) ? 1 : 0) - (has_dof(qs->model, c->a, dof) ? 1 : 0);
    return perp_vec3_scale(side, qs->kinematics->dof_angular[dof]);
}

/* The axis of row r of a contact, and its weights in the set's rows (n, t, o). */
static perp_vec3 axis_of(const perp_contact *c, int r, double weights[3])
{
    const perp_vec3 d = r == 0 ? c->normal : c->directions[r - 1];
    weights[0] = r == 0 ? 1.0 : 0.0;
    weights[1] = r == 0 ? 0.0 : perp_vec3_dot(d, c->t);
    weights[2] = r == 0 ? 0.0 : perp_vec3_dot(d, c->o);
    return d;
}

/* Of column k of the set, degree of freedom `dof`, what it is in the rows, and what it adds to their velocities. */
static void add_column(perp_quasistatic *qs, int contact, int count, bool extended, int k)
{
    compliant_step *s = qs->own;
    compliant_rows *rows = &s->rows;
    const perp_contact_set *set = qs->contacts;
    const perp_contact *c = &set->contacts[contact];
    const int start = set->dof_start[contact], columns = set->dof_start[contact + 1] - start,
              dof = set->dofs[start + k];
    const bool is_free = qs->free_of_dof[dof] >= 0;
    const double *jacobian = set->jacobian + (ptrdiff_t)set->rows * start + k;
    const double known = (s->guessed ? s->v_linear : qs->v_last)[dof];
    const perp_vec3 turns = extended ? turning(qs, c, dof) : perp_vec3_make(0.0, 0.0, 0.0);
    for (int r = 0; r < count; r++) {
        double weights[3], entry = 0.0;
        const perp_vec3 axis = axis_of(c, r, weights), around = perp_vec3_cross(axis, turns);
        const double along[2] = {perp_vec3_dot(around, c->t), perp_vec3_dot(around, c->o)};
        for (int row = 0; row < set->rows; row++) {
            entry += weights[row] * jacobian[(ptrdiff_t)row * columns];
        }
        const double given = r == 0 ? qs->v_gap[dof] : qs->v[dof], v = is_free ? qs->v_drifted[dof] : given;
        rows->velocity[r] += entry * (r == 0 && !s->by_rates ? v - s->v_linear[dof] : v);
        for (int axes = 0; axes < 2; axes++) {
            rows->turning[r][axes] += along[axes] * v;
            rows->tilt[axes] += r == 0 ? along[axes] * known : 0.0;
        }
        if (is_free) {
            const ptrdiff_t at = (ptrdiff_t)r * columns + rows->columns;
            rows->entry[at] = entry;
            rows->along[0][at] = along[0];
            rows->along[1][at] = along[1];
        }
    }
    if (is_free) {
        rows->dofs[rows->columns++] = qs->free_of_dof[dof];
    }
}

void perp_compliant_fill_rows(perp_quasistatic *qs, const compliant_patch *patch)
{
    compliant_step *s = qs->own;
    compliant_rows *rows = &s->rows;
    const perp_contact_set *set = qs->contacts;
    const int all = set->dof_start[patch->contact + 1] - set->dof_start[patch->contact];
    rows->columns = 0;
    rows->stride = all;
    rows->tilt[0] = rows->tilt[1] = 0.0;
    for (int r = 0; r < 3; r++) {
        rows->velocity[r] = rows->turning[r][0] = rows->turning[r][1] = 0.0;
    }
    for (int k = 0; k < all; k++) {
        add_column(qs, patch->contact, patch->material.rows, patch->material.elements > 1, k);
    }
}

double perp_compliant_put_row(const compliant_rows *rows, int r, const double offset[2], double *out)
{
    const double *entry = rows->entry + (ptrdiff_t)r * rows->stride;
    const double *along_t = rows->along[0] + (ptrdiff_t)r * rows->stride;
    const double *along_o = rows->along[1] + (ptrdiff_t)r * rows->stride;
    for (int k = 0; k < rows->columns; k++) {
        out[k] = entry[k] + offset[0] * along_t[k] + offset[1] * along_o[k];
    }
    return rows->velocity[r] + offset[0] * rows->turning[r][0] + offset[1] * rows->turning[r][1];
}
