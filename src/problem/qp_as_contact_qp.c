/* A row of A is a contact with R = 1. Rows that follow each other and have their nonzeros in the same places share one,
 * as the rays of a pyramid written out do: their unknowns are then listed once. */
#include <perp/problem.h>

#include "problem/conversions.h"
#include "problem/dense_as_contact_qp.h"

enum { ROWS_OF_A_CONTACT = 4 };

static bool same_pattern(int n, const double *a, const double *b)
{
    for (int j = 0; j < n; j++) {
        if ((a[j] != 0.0) != (b[j] != 0.0)) {
            return false;
        }
    }
    return true;
}

/* How many rows from `first` on make one contact. */
static int group_from(const perp_qp *p, int first)
{
    const double *row = p->a + (ptrdiff_t)first * p->n;
    int count = 1;
    while (count < ROWS_OF_A_CONTACT && first + count < p->rows &&
           same_pattern(p->n, row, row + (ptrdiff_t)count * p->n)) {
        count++;
    }
    return count;
}

perp_contact_qp_size perp_qp_as_contact_qp_size(const perp_qp *problem)
{
    const perp_qp *p = problem;
    perp_contact_qp_size size = {.blocks = p->n, .rows = p->rows};
    size.hessian = p->h ? (ptrdiff_t)p->n * p->n : 0;
    for (int i = 0, count; i < p->rows; i += count) {
        count = group_from(p, i);
        const int dofs = perp_dense_dofs(p->n, 1, p->a + (ptrdiff_t)i * p->n, NULL, NULL);
        size.contacts++;
        size.dofs += dofs;
        size.jacobian += (ptrdiff_t)count * dofs;
    }
    size.equality_entries = perp_dense_equality_entries(p->n, p->equalities, p->c);
    return size;
}

void perp_qp_as_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays, perp_contact_qp *contact_qp)
{
    const perp_qp *p = problem;
    const int blocks = perp_dense_blocks(p->n, p->h, arrays);
    int contacts = 0;
    double *jacobian = arrays->jacobian;
    arrays->row_start[0] = arrays->dof_start[0] = 0;
    for (int i = 0, count; i < p->rows; i += count) {
        count = group_from(p, i);
        jacobian = perp_dense_add_contact(p->n, contacts++, count, p->a + (ptrdiff_t)i * p->n, arrays, jacobian);
    }
    for (int i = 0; i < p->rows; i++) {
        arrays->offset[i] = -p->b[i];
    }
    perp_dense_equalities(p->n, p->equalities, p->c, arrays);
    perp_dense_permute(p->n, arrays->permutation, p->g, arrays->g);
    if (p->lower) {
        perp_dense_permute(p->n, arrays->permutation, p->lower, arrays->lower);
    }
    if (p->upper) {
        perp_dense_permute(p->n, arrays->permutation, p->upper, arrays->upper);
    }
    const perp_contact_qp result = {.n = p->n,
                                    .block_count = blocks,
                                    .block_start = arrays->block_start,
                                    .hessian = p->h ? arrays->hessian : NULL,
                                    .g = arrays->g,
                                    .contact_count = contacts,
                                    .row_start = arrays->row_start,
                                    .dof_start = arrays->dof_start,
                                    .dofs = arrays->dofs,
                                    .jacobian = arrays->jacobian,
                                    .slack_start = arrays->row_start,
                                    .offset = arrays->offset,
                                    .equality_count = p->equalities,
                                    .equality_start = arrays->equality_start,
                                    .equality_dofs = arrays->equality_dofs,
                                    .equality_values = arrays->equality_values,
                                    .equality_target = p->d,
                                    .lower = p->lower ? arrays->lower : NULL,
                                    .upper = p->upper ? arrays->upper : NULL};
    *contact_qp = result;
}

void perp_qp_from_contact_qp(const perp_qp *problem, const perp_contact_qp_arrays *arrays,
                             const perp_convex_point *contact_point, const perp_convex_point *point)
{
    perp_dense_point(problem->n, problem->rows, problem->equalities, problem->lower != NULL, problem->upper != NULL,
                     arrays->permutation, contact_point, point);
}
