/* Contact qps that are put together contact by contact (convex_test.h). */
#include "convex_test.h"

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

enum { MOST_CONTACTS = 2000, MOST_SLACKS = 8 * MOST_CONTACTS, MOST_DOFS = 12 * MOST_CONTACTS };

contact_case new_contact_case(int blocks, int size)
{
    const size_t n = (size_t)blocks * (size_t)size;
    contact_case q = {.n = (int)n, .blocks = blocks};
    int **starts[] = {&q.row_start, &q.dof_start, &q.slack_start, &q.equality_start};
    for (size_t k = 0; k < 4; k++) {
        *starts[k] = zeros(MOST_CONTACTS + 1, sizeof(int));
    }
    q.block_start = zeros((size_t)blocks + 1, sizeof(int));
    q.dofs = zeros(MOST_DOFS, sizeof(int));
    q.equality_dofs = zeros(MOST_DOFS, sizeof(int));
    q.quadratic = zeros(MOST_CONTACTS, sizeof(bool));
    double **numbers[] = {&q.hessian, &q.g, &q.lower, &q.upper, &q.offset, &q.rays, &q.jacobian, &q.equality_values};
    const size_t lengths[] = {n * (size_t)size,      n,        n, n, MOST_SLACKS, (size_t)3 * MOST_SLACKS,
                              (size_t)3 * MOST_DOFS, MOST_DOFS};
    for (size_t k = 0; k < 8; k++) {
        *numbers[k] = zeros(lengths[k], sizeof(double));
    }
    q.equality_target = zeros(MOST_CONTACTS, sizeof(double));
    for (int k = 0; k <= blocks; k++) {
        q.block_start[k] = k * size;
    }
    for (size_t i = 0; i < n; i++) {
        q.lower[i] = -INFINITY;
        q.upper[i] = INFINITY;
    }
    return q;
}

void free_contact_case(contact_case *q)
{
    int *ints[] = {q->block_start, q->row_start,      q->dof_start,    q->dofs,
                   q->slack_start, q->equality_start, q->equality_dofs};
    double *numbers[] = {q->hessian, q->g, q->lower, q->upper, q->offset, q->rays, q->jacobian, q->equality_values};
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
        free(ints[k]);
    }
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        free(numbers[k]);
    }
    free(q->equality_target);
    free(q->quadratic);
}

double *block_entry(contact_case *q, int block, int i, int j)
{
    const int size = q->block_start[1];
    return q->hessian + (ptrdiff_t)block * size * size + (ptrdiff_t)i * size + j;
}

void add_contact(contact_case *q, const contact_entry *entry)
{
    const int i = q->contacts++;
    assert_true(q->contacts <= MOST_CONTACTS && q->slacks + entry->slacks <= MOST_SLACKS);
    assert_true(q->dof_total + entry->count <= MOST_DOFS &&
                q->ray_total + entry->slacks * entry->rows <= 3 * MOST_SLACKS);
    assert_true(q->jacobian_total + entry->rows * entry->count <= 3 * MOST_DOFS);
    for (int k = 0; k < entry->count; k++) {
        q->dofs[q->dof_total + k] = entry->dofs[k];
    }
    for (int k = 0; k < entry->rows * entry->count; k++) {
        q->jacobian[q->jacobian_total + k] = entry->jacobian[k];
    }
    for (int s = 0; s < entry->slacks; s++) {
        for (int r = 0; r < entry->rows; r++) {
            const double identity = s == r ? 1.0 : 0.0;
            q->rays[q->ray_total + s * entry->rows + r] = entry->rays ? entry->rays[s * entry->rows + r] : identity;
        }
        q->offset[q->slacks + s] = entry->offset[s];
    }
    q->dof_total += entry->count;
    q->jacobian_total += entry->rows * entry->count;
    q->ray_total += entry->slacks * entry->rows;
    q->rows += entry->rows;
    q->slacks += entry->slacks;
    q->row_start[i + 1] = q->rows;
    q->dof_start[i + 1] = q->dof_total;
    q->slack_start[i + 1] = q->slacks;
    q->quadratic[i] = entry->quadratic;
}

void add_equality(contact_case *q, int count, const int *dofs, const double *values, double target)
{
    const int i = q->equalities++;
    assert_true(q->equalities <= MOST_CONTACTS && q->equality_total + count <= MOST_DOFS);
    for (int k = 0; k < count; k++) {
        q->equality_dofs[q->equality_total] = dofs[k];
        q->equality_values[q->equality_total++] = values[k];
    }
    q->equality_start[i + 1] = q->equality_total;
    q->equality_target[i] = target;
}

perp_contact_qp contact_qp_of(const contact_case *q)
{
    return (perp_contact_qp){.n = q->n,
                             .block_count = q->blocks,
                             .block_start = q->block_start,
                             .hessian = q->hessian,
                             .g = q->g,
                             .contact_count = q->contacts,
                             .row_start = q->row_start,
                             .dof_start = q->dof_start,
                             .dofs = q->dofs,
                             .jacobian = q->jacobian,
                             .slack_start = q->slack_start,
                             .rays = q->rays,
                             .offset = q->offset,
                             .quadratic = q->quadratic,
                             .equality_count = q->equalities,
                             .equality_start = q->equality_start,
                             .equality_dofs = q->equality_dofs,
                             .equality_values = q->equality_values,
                             .equality_target = q->equality_target,
                             .lower = q->bounded ? q->lower : NULL,
                             .upper = q->bounded ? q->upper : NULL};
}

contact_case with_contacts(const contact_case *q, int count, const int *order)
{
    const int size = q->block_start[1];
    contact_case other = new_contact_case(q->blocks, size);
    memcpy(other.hessian, q->hessian, (size_t)(q->n * size) * sizeof(double));
    memcpy(other.g, q->g, (size_t)q->n * sizeof(double));
    memcpy(other.lower, q->lower, (size_t)q->n * sizeof(double));
    memcpy(other.upper, q->upper, (size_t)q->n * sizeof(double));
    other.bounded = q->bounded;
    int *jacobian = zeros((size_t)q->contacts, sizeof(int)), *rays = zeros((size_t)q->contacts, sizeof(int));
    for (int i = 0; i + 1 < q->contacts; i++) {
        const int rows = q->row_start[i + 1] - q->row_start[i];
        jacobian[i + 1] = jacobian[i] + rows * (q->dof_start[i + 1] - q->dof_start[i]);
        rays[i + 1] = rays[i] + rows * (q->slack_start[i + 1] - q->slack_start[i]);
    }
    for (int k = 0; k < count; k++) {
        const int i = order[k];
        const contact_entry entry = {.count = q->dof_start[i + 1] - q->dof_start[i],
                                     .rows = q->row_start[i + 1] - q->row_start[i],
                                     .slacks = q->slack_start[i + 1] - q->slack_start[i],
                                     .dofs = q->dofs + q->dof_start[i],
                                     .jacobian = q->jacobian + jacobian[i],
                                     .rays = q->rays + rays[i],
                                     .offset = q->offset + q->slack_start[i],
                                     .quadratic = q->quadratic[i]};
        add_contact(&other, &entry);
    }
    for (int i = 0; i < q->equalities; i++) {
        const int first = q->equality_start[i];
        add_equality(&other, q->equality_start[i + 1] - first, q->equality_dofs + first, q->equality_values + first,
                     q->equality_target[i]);
    }
    free(jacobian);
    free(rays);
    return other;
}

void friction_rays(int directions, double mu, double turn, double *rays)
{
    const double full = 8.0 * atan(1.0);
    for (int k = 0; k < directions; k++) {
        const double angle = full * (k + turn) / directions;
        rays[3 * k] = 1.0;
        rays[3 * k + 1] = mu * cos(angle);
        rays[3 * k + 2] = mu * sin(angle);
    }
}
