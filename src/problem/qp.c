#include <perp/problem.h>

#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/convex_residual.h"
#include "problem/objectives.h"

perp_status perp_qp_check(const perp_qp *problem, perp_error *error)
{
    const perp_qp *p = problem;
    perp_status status = perp_convex_check_count(p->n, "size of the problem", error);
    status = status ? status : perp_convex_check_count(p->rows, "number of rows", error);
    status = status ? status : perp_convex_check_count(p->equalities, "number of equations", error);
    status = status ? status : perp_convex_check_vector(p->n, p->g, "g", error);
    if (!status && p->h) {
        status = perp_convex_check_matrix(p->n, p->n, p->h, "H", error);
        const double largest = status ? 0.0 : perp_dense_largest((ptrdiff_t)p->n * p->n, p->h);
        status = status ? status : perp_convex_check_hessian(p->n, 0, p->h, largest, error);
    }
    status = status ? status : perp_convex_check_matrix(p->rows, p->n, p->a, "A", error);
    status = status ? status : perp_convex_check_vector(p->rows, p->b, "b", error);
    status = status ? status : perp_convex_check_matrix(p->equalities, p->n, p->c, "C", error);
    status = status ? status : perp_convex_check_vector(p->equalities, p->d, "d", error);
    return status ? status : perp_convex_check_bounds(p->n, p->lower, p->upper, error);
}

perp_convex_view perp_qp_view(const perp_qp *problem)
{
    const perp_qp *p = problem;
    const perp_convex_view view = {.n = p->n,
                                   .block_count = 1,
                                   .hessian = p->h,
                                   .g = p->g,
                                   .count = p->rows,
                                   .jacobian = p->a,
                                   .offset = p->b,
                                   .offset_sign = -1.0,
                                   .equality_count = p->equalities,
                                   .equality_values = p->c,
                                   .equality_target = p->d,
                                   .lower = p->lower,
                                   .upper = p->upper};
    return view;
}

perp_convex_residual perp_qp_residual(const perp_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = perp_qp_view(problem);
    double near;
    return perp_convex_view_residual(&view, point, 1.0, &near);
}

double perp_qp_objective(const perp_qp *problem, const double *x)
{
    const perp_convex_view view = perp_qp_view(problem);
    return perp_convex_view_objective(&view, x);
}

double perp_qp_infeasibility(const perp_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = perp_qp_view(problem);
    return perp_convex_view_infeasibility(&view, point, 1.0);
}

double perp_qp_unboundedness(const perp_qp *problem, const double *x)
{
    const perp_convex_view view = perp_qp_view(problem);
    return perp_convex_view_unboundedness(&view, x, 1.0);
}
