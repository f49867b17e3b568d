/* contact_jacobian.c - J: rates of degrees of freedom to the velocity of b's witness relative to a's, along n, t, o.
 *
 * Degrees of freedom of a tree are contiguous, so two bodies of different trees have their columns side by side, and
 * only bodies of one tree need their chains merged.
 */
#include "contact/contact_private.h"

#include <limits.h>
#include <string.h>

/* What all contacts of two bodies have in common. */
typedef struct body_pair {
    int a, b;
    const int *dofs_a, *dofs_b;
    int count_a, count_b;
    bool one_tree;
    int start_a, start_b; /* columns, where the trees are two */
} body_pair;

static body_pair pair_of(const perp_model *model, int a, int b)
{
    body_pair p = {.a = a, .b = b};
    p.count_a = perp_body_dofs(model, a, &p.dofs_a);
    p.count_b = perp_body_dofs(model, b, &p.dofs_b);
    p.one_tree = p.count_a > 0 && p.count_b > 0 && model->links[a].tree == model->links[b].tree;
    const bool a_first = p.count_a > 0 && p.count_b > 0 && p.dofs_a[0] < p.dofs_b[0];
    p.start_a = a_first ? 0 : p.count_b;
    p.start_b = a_first ? p.count_a : 0;
    return p;
}

/* One body's columns of a contact's rows: `width` apart, `sign` +1 for b, -1 for a. */
typedef struct columns {
    double *block;
    int width;
    double sign;
} columns;

static perp_vec3 column_of(const perp_kinematics *k, int dof, perp_vec3 arm)
{
    return perp_vec3_add(k->dof_linear[dof], perp_vec3_cross(k->dof_angular[dof], arm));
}

static void write_chain(const perp_contact_model *cm, const perp_kinematics *k, int body, perp_vec3 point,
                        const perp_vec3 directions[3], double arm_of_turning, columns out)
{
    const perp_model *model = cm->model;
    const int *dofs;
    const int n = perp_body_dofs(model, body, &dofs);
    if (n == 0) {
        return;
    }
    const perp_vec3 arm = perp_vec3_sub(point, k->reference[model->links[body].tree]);
    for (int i = 0; i < n; i++) {
        const perp_vec3 column = column_of(k, dofs[i], arm);
        out.block[i] = out.sign * perp_vec3_dot(directions[0], column);
        out.block[out.width + i] = out.sign * perp_vec3_dot(directions[1], column);
        if (perp_contact_rows(cm) > 2) {
            out.block[2 * out.width + i] = out.sign * perp_vec3_dot(directions[2], column);
        }
        if (perp_contact_rows(cm) > 3) {
            out.block[3 * out.width + i] = arm_of_turning * k->dof_angular[dofs[i]].z;
        }
    }
}

/* Two chains of one tree, merged. Returns the number of columns and writes their degrees of freedom; `jacobian` has
 * room for the sum of both chains. */
static int write_merged(const perp_contact_model *cm, const perp_kinematics *k, const body_pair *p,
                        const perp_contact *c, const perp_vec3 directions[3], int *dofs, double *jacobian)
{
    const int rows = perp_contact_rows(cm);
    int width = 0;
    for (int i = 0, j = 0; i < p->count_a || j < p->count_b; width++) {
        const int a = i < p->count_a ? p->dofs_a[i] : INT_MAX, b = j < p->count_b ? p->dofs_b[j] : INT_MAX;
        dofs[width] = a < b ? a : b;
        i += a <= b;
        j += b <= a;
    }
    const perp_vec3 reference = k->reference[cm->model->links[p->a].tree];
    const perp_vec3 arm_a = perp_vec3_sub(c->point_a, reference), arm_b = perp_vec3_sub(c->point_b, reference);
    for (int w = 0, i = 0, j = 0; w < width; w++) {
        perp_vec3 column = {0.0, 0.0, 0.0};
        if (j < p->count_b && p->dofs_b[j] == dofs[w]) {
            column = column_of(k, dofs[w], arm_b);
            j++;
        }
        if (i < p->count_a && p->dofs_a[i] == dofs[w]) {
            column = perp_vec3_sub(column, column_of(k, dofs[w], arm_a));
            i++;
        }
        for (int r = 0; r < rows; r++) {
            jacobian[r * width + w] = r < 3 ? perp_vec3_dot(directions[r], column) : 0.0;
        }
    }
    return width;
}

static int write_contact(const perp_contact_model *cm, const perp_kinematics *k, const body_pair *p,
                         const perp_contact *c, int *dofs, double *jacobian)
{
    const perp_vec3 directions[3] = {c->normal, c->t, c->o};
    if (perp_contact_is_support(c)) {
        memcpy(dofs, p->dofs_b, (size_t)p->count_b * sizeof *dofs);
        write_chain(cm, k, p->b, c->point_b, directions, c->arm, (columns){jacobian, p->count_b, 1.0});
        return p->count_b;
    }
    if (p->one_tree) {
        return write_merged(cm, k, p, c, directions, dofs, jacobian);
    }
    const int width = p->count_a + p->count_b;
    for (int i = 0; i < p->count_a; i++) {
        dofs[p->start_a + i] = p->dofs_a[i];
    }
    for (int i = 0; i < p->count_b; i++) {
        dofs[p->start_b + i] = p->dofs_b[i];
    }
    write_chain(cm, k, p->a, c->point_a, directions, 0.0, (columns){jacobian + p->start_a, width, -1.0});
    write_chain(cm, k, p->b, c->point_b, directions, 0.0, (columns){jacobian + p->start_b, width, 1.0});
    return width;
}

/* Room for all columns: at most those of both chains of every contact. */
static perp_status take_columns(perp_contact_set *set, perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    const int *start = m->contact_model->model->chain_start;
    long long needed = 0;
    for (int i = 0; i < set->count; i++) {
        const int a = m->contacts[i].a, b = m->contacts[i].b;
        needed += start[a + 1] - start[a] + start[b + 1] - start[b];
    }
    if (needed <= m->column_capacity) {
        return PERP_STATUS_OK;
    }
    if (needed > INT_MAX / 4) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the contacts depend on too many degrees of freedom");
    }
    const size_t capacity = 2 * (size_t)needed + 64;
    void *dofs = m->dofs, *jacobian = m->jacobian;
    const bool taken = perp_contact_grow(&m->allocator, &dofs, 0, capacity, sizeof(int));
    m->dofs = dofs;
    if (!taken || !perp_contact_grow(&m->allocator, &jacobian, 0, (size_t)set->rows * capacity, sizeof(double))) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the Jacobians of %d contacts", set->count);
    }
    m->jacobian = jacobian;
    m->column_capacity = (int)capacity;
    set->grew = true;
    return PERP_STATUS_OK;
}

perp_status perp_contact_jacobians(perp_contact_set *set, const perp_kinematics *kinematics, perp_error *error)
{
    struct perp_contact_set_memory *m = set->memory;
    const perp_contact_model *cm = m->contact_model;
    const perp_status status = take_columns(set, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const size_t rows = (size_t)set->rows;
    body_pair pair = {.a = -1, .b = -1};
    int column = 0;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &m->contacts[i];
        if (c->a != pair.a || c->b != pair.b) {
            pair = pair_of(cm->model, c->a, c->b);
        }
        m->dof_start[i] = column;
        column += write_contact(cm, kinematics, &pair, c, m->dofs + column, m->jacobian + rows * (size_t)column);
    }
    m->dof_start[set->count] = column;
    return PERP_STATUS_OK;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

void perp_contact_velocity(const perp_contact_set *set, const double *v, double *out)
{
    const int rows = set->rows;
    for (int i = 0; i < set->count; i++) {
        const int *dofs = set->dofs + set->dof_start[i];
        const int n = set->dof_start[i + 1] - set->dof_start[i];
        const double *row = set->jacobian + (size_t)rows * (size_t)set->dof_start[i];
        for (int r = 0; r < rows; r++, row += n) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                sum += row[k] * v[dofs[k]];
            }
            out[(size_t)i * (size_t)rows + (size_t)r] = sum;
        }
    }
}

void perp_contact_add_force(const perp_contact_set *set, const double *r, double *force)
{
    const int rows = set->rows;
    for (int i = 0; i < set->count; i++) {
        const int *dofs = set->dofs + set->dof_start[i];
        const int n = set->dof_start[i + 1] - set->dof_start[i];
        const double *row = set->jacobian + (size_t)rows * (size_t)set->dof_start[i];
        for (int k = 0; k < rows; k++, row += n) {
            const double along = r[(size_t)i * (size_t)rows + (size_t)k];
            for (int c = 0; c < n; c++) {
                force[dofs[c]] += row[c] * along;
            }
        }
    }
}
