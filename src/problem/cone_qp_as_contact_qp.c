/* A cone is a contact with R = 1 and as many rows, which depends on the unknowns of all of them. */
#include <perp/problem.h>

#include "problem/conversions.h"
#include "problem/dense_as_contact_qp.h"

perp_contact_qp_size perp_cone_qp_as_contact_qp_size(const perp_cone_qp *problem)
{
    const perp_cone_qp *p = problem;
    perp_contact_qp_size size = {.blocks = p->n, .contacts = p->cones};
    size.hessian = p->h ? (ptrdiff_t)p->n * p->n : 0;
    for (int k = 0; k < p->cones; k++) {
        const int dofs = perp_dense_dofs(p->n, p->cone_rows[k], p->a + (ptrdiff_t)size.rows * p->n, NULL, NULL);
        size.rows += p->cone_rows[k];
        size.dofs += dofs;
        size.jacobian += (ptrdiff_t)p->cone_rows[k] * dofs;
    }
    size.equality_entries = perp_dense_equality_entries(p->n, p->equalities, p->c);
    return size;
}

void perp_cone_qp_as_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                perp_contact_qp *contact_qp)
{
    const perp_cone_qp *p = problem;
    const int blocks = perp_dense_blocks(p->n, p->h, arrays);
    double *jacobian = arrays->jacobian;
    arrays->row_start[0] = arrays->dof_start[0] = 0;
    for (int k = 0; k < p->cones; k++) {
        const double *a = p->a + (ptrdiff_t)arrays->row_start[k] * p->n;
        jacobian = perp_dense_add_contact(p->n, k, p->cone_rows[k], a, arrays, jacobian);
        arrays->quadratic[k] = p->cone_rows[k] > 1;
    }
    perp_dense_equalities(p->n, p->equalities, p->c, arrays);
    perp_dense_permute(p->n, arrays->permutation, p->g, arrays->g);
    const perp_contact_qp result = {.n = p->n,
                                    .block_count = blocks,
                                    .block_start = arrays->block_start,
                                    .hessian = p->h ? arrays->hessian : NULL,
                                    .g = arrays->g,
                                    .contact_count = p->cones,
                                    .row_start = arrays->row_start,
                                    .dof_start = arrays->dof_start,
                                    .dofs = arrays->dofs,
                                    .jacobian = arrays->jacobian,
                                    .slack_start = arrays->row_start,
                                    .offset = p->b,
                                    .quadratic = arrays->quadratic,
                                    .equality_count = p->equalities,
                                    .equality_start = arrays->equality_start,
                                    .equality_dofs = arrays->equality_dofs,
                                    .equality_values = arrays->equality_values,
                                    .equality_target = p->d};
    *contact_qp = result;
}

void perp_cone_qp_from_contact_qp(const perp_cone_qp *problem, const perp_contact_qp_arrays *arrays,
                                  const perp_convex_point *contact_point, const perp_convex_point *point)
{
    int rows = 0;
    for (int k = 0; k < problem->cones; k++) {
        rows += problem->cone_rows[k];
    }
    perp_dense_point(problem->n, rows, problem->equalities, false, false, arrays->permutation, contact_point, point);
}
