/* Islands: groups of bodies that no contact, equation or block of A connects. Each is a problem of its own, and where
 * one of many is hard the others need not be solved again with it. */
#include "solver/friction_islands.h"

#include "solver/slice.h"

#include <math.h>
#include <string.h>

static void lay_out(perp_friction_islands *s, const perp_contact_qp *p, size_t hessian, size_t jacobian,
                    perp_slice *slice)
{
    const size_t n = (size_t)p->n, contacts = (size_t)p->contact_count, e = (size_t)p->equality_count;
    const size_t rows = contacts > 0 ? (size_t)p->row_start[contacts] : 0;
    const size_t dofs = contacts > 0 ? (size_t)p->dof_start[contacts] : 0;
    const size_t entries = e > 0 ? (size_t)p->equality_start[e] : 0, blocks = (size_t)p->block_count;
    s->of_dof = perp_slice_cut(slice, n, sizeof(int));
    s->dof = perp_slice_cut(slice, n, sizeof(int));
    s->given_dof = perp_slice_cut(slice, n, sizeof(int));
    s->given_contact = perp_slice_cut(slice, contacts, sizeof(int));
    s->given_equation = perp_slice_cut(slice, e, sizeof(int));
    s->block_start = perp_slice_cut(slice, blocks + 1, sizeof(int));
    s->row_start = perp_slice_cut(slice, contacts + 1, sizeof(int));
    s->dof_start = perp_slice_cut(slice, contacts + 1, sizeof(int));
    s->dofs = perp_slice_cut(slice, dofs, sizeof(int));
    s->equality_start = perp_slice_cut(slice, e + 1, sizeof(int));
    s->equality_dofs = perp_slice_cut(slice, entries, sizeof(int));
    s->hessian = perp_slice_cut(slice, hessian, sizeof(double));
    s->jacobian = perp_slice_cut(slice, jacobian, sizeof(double));
    s->equality_values = perp_slice_cut(slice, entries, sizeof(double));
    s->offset = perp_slice_cut(slice, rows, sizeof(double));
    s->mu = perp_slice_cut(slice, contacts, sizeof(double));
    s->equality_target = perp_slice_cut(slice, e, sizeof(double));
    perp_slice_cut_each(slice, n, 3, (double **[]){&s->g, &s->lower, &s->upper});
}

static int root_of(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int *parent, int count, const int *dofs)
{
    for (int k = 1; k < count; k++) {
        const int a = root_of(parent, dofs[0]), b = root_of(parent, dofs[k]);
        parent[a > b ? a : b] = a > b ? b : a; /* so that a root is the first of its island */
    }
}

/* Numbers the islands in the order of their first unknowns. */
static void number(perp_friction_islands *s, const perp_contact_qp *p)
{
    int *parent = s->dof;
    for (int i = 0; i < p->n; i++) {
        parent[i] = i;
    }
    for (int k = 0; k < p->block_count; k++) {
        for (int i = p->block_start[k] + 1; i < p->block_start[k + 1]; i++) {
            join(parent, 2, (const int[]){p->block_start[k], i});
        }
    }
    for (int i = 0; i < p->contact_count; i++) {
        join(parent, p->dof_start[i + 1] - p->dof_start[i], p->dofs + p->dof_start[i]);
    }
    for (int i = 0; i < p->equality_count; i++) {
        join(parent, p->equality_start[i + 1] - p->equality_start[i], p->equality_dofs + p->equality_start[i]);
    }
    s->count = 0;
    for (int i = 0; i < p->n; i++) {
        const int root = root_of(parent, i);
        s->of_dof[i] = root == i ? s->count++ : s->of_dof[root];
    }
}

perp_status perp_friction_islands_find(perp_friction_islands *s, perp_kkt *kkt, const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    size_t hessian = 0, jacobian = 0;
    for (int k = 0; p->hessian && k < p->block_count; k++) {
        const size_t size = (size_t)(p->block_start[k + 1] - p->block_start[k]);
        hessian += size * size;
    }
    for (int i = 0; i < p->contact_count; i++) {
        jacobian += (size_t)(p->row_start[i + 1] - p->row_start[i]) * (size_t)(p->dof_start[i + 1] - p->dof_start[i]);
    }
    perp_slice sizes = {NULL, 0};
    lay_out(s, p, hessian, jacobian, &sizes);
    const perp_status status = perp_kkt_hold(kkt, &s->memory, sizes.bytes);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_slice give = {s->memory.data, 0};
    lay_out(s, p, hessian, jacobian, &give);
    s->given = problem;
    number(s, p);
    return PERP_STATUS_OK;
}

/* Unknowns, blocks and bounds of an island. */
static void take_bodies(perp_friction_islands *s, int island)
{
    const perp_contact_qp *p = s->given->system;
    perp_contact_qp *q = &s->system;
    const double *h = p->hessian;
    double *to = s->hessian;
    q->n = q->block_count = 0;
    s->block_start[0] = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        if (s->of_dof[first] == island) {
            for (int i = first; i < first + size; i++) {
                s->dof[i] = q->n;
                s->given_dof[q->n] = i;
                s->g[q->n] = p->g[i];
                s->lower[q->n] = p->lower ? p->lower[i] : -INFINITY;
                s->upper[q->n++] = p->upper ? p->upper[i] : INFINITY;
            }
            s->block_start[++q->block_count] = q->n;
            if (h) {
                memcpy(to, h, (size_t)size * (size_t)size * sizeof *to);
                to += (ptrdiff_t)size * size;
            }
        }
        h = h ? h + (ptrdiff_t)size * size : NULL;
    }
}

static void take_contacts(perp_friction_islands *s, int island)
{
    const perp_contact_qp *p = s->given->system;
    perp_contact_qp *q = &s->system;
    const double *from = p->jacobian;
    double *to = s->jacobian;
    q->contact_count = 0;
    s->row_start[0] = s->dof_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int row = p->row_start[i], rows = p->row_start[i + 1] - row;
        const int dof = p->dof_start[i], columns = p->dof_start[i + 1] - dof;
        const int of = columns > 0 ? s->of_dof[p->dofs[dof]] : 0; /* one that moves nothing goes with the first */
        if (of == island) {
            const int k = q->contact_count++;
            s->given_contact[k] = i;
            s->mu[k] = rows > 1 ? s->given->mu[i] : 0.0;
            memcpy(s->offset + s->row_start[k], p->offset + row, (size_t)rows * sizeof *s->offset);
            for (int j = 0; j < columns; j++) {
                s->dofs[s->dof_start[k] + j] = s->dof[p->dofs[dof + j]];
            }
            if (columns > 0) {
                memcpy(to, from, (size_t)rows * (size_t)columns * sizeof *to);
                to += (ptrdiff_t)rows * columns;
            }
            s->row_start[k + 1] = s->row_start[k] + rows;
            s->dof_start[k + 1] = s->dof_start[k] + columns;
        }
        from = columns > 0 ? from + (ptrdiff_t)rows * columns : from;
    }
}

static void take_equations(perp_friction_islands *s, int island)
{
    const perp_contact_qp *p = s->given->system;
    perp_contact_qp *q = &s->system;
    q->equality_count = 0;
    s->equality_start[0] = 0;
    for (int i = 0; i < p->equality_count; i++) {
        const int first = p->equality_start[i], count = p->equality_start[i + 1] - first;
        if ((count > 0 ? s->of_dof[p->equality_dofs[first]] : 0) != island) {
            continue;
        }
        const int k = q->equality_count++, start = s->equality_start[k];
        s->given_equation[k] = i;
        s->equality_target[k] = p->equality_target[i];
        for (int j = 0; j < count; j++) {
            s->equality_dofs[start + j] = s->dof[p->equality_dofs[first + j]];
            s->equality_values[start + j] = p->equality_values[first + j];
        }
        s->equality_start[k + 1] = start + count;
    }
}

const perp_contact_friction *perp_friction_islands_take(perp_friction_islands *s, int island)
{
    const perp_contact_qp *p = s->given->system;
    take_bodies(s, island);
    take_contacts(s, island);
    take_equations(s, island);
    perp_contact_qp *q = &s->system;
    q->block_start = s->block_start;
    q->hessian = p->hessian ? s->hessian : NULL;
    q->g = s->g;
    q->row_start = q->slack_start = s->row_start;
    q->dof_start = s->dof_start;
    q->dofs = s->dofs;
    q->jacobian = s->jacobian;
    q->offset = s->offset;
    q->equality_start = s->equality_start;
    q->equality_dofs = s->equality_dofs;
    q->equality_values = s->equality_values;
    q->equality_target = s->equality_target;
    q->lower = p->lower ? s->lower : NULL;
    q->upper = p->upper ? s->upper : NULL;
    s->problem = (perp_contact_friction){q, s->mu};
    return &s->problem;
}

void perp_friction_islands_give(const perp_friction_islands *s, const perp_convex_point *part,
                                const perp_convex_point *whole)
{
    const perp_contact_qp *p = s->given->system, *q = &s->system;
    for (int j = 0; j < q->n; j++) {
        whole->x[s->given_dof[j]] = part->x[j];
        whole->y_lower[s->given_dof[j]] = part->y_lower[j];
        whole->y_upper[s->given_dof[j]] = part->y_upper[j];
    }
    for (int k = 0; k < q->contact_count; k++) {
        memcpy(whole->y + p->row_start[s->given_contact[k]], part->y + s->row_start[k],
               (size_t)(s->row_start[k + 1] - s->row_start[k]) * sizeof(double));
    }
    for (int k = 0; k < q->equality_count; k++) {
        whole->y_equality[s->given_equation[k]] = part->y_equality[k];
    }
}
