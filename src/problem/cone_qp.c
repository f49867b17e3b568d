#include <perp/problem.h>

#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/convex_residual.h"
#include "problem/objectives.h"

#include <limits.h>

/* Their number of rows in all, in *rows. */
static perp_status check_cones(const perp_cone_qp *p, int *rows, perp_error *error)
{
    const perp_status status = perp_convex_check_present(p->cones, p->cone_rows, "cone_rows", error);
    int total = 0;
    for (int k = 0; !status && k < p->cones; k++) {
        if (p->cone_rows[k] < 1) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "cone %d has %d rows", k, p->cone_rows[k]);
        }
        if (p->cone_rows[k] > INT_MAX - total) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the cones have more than %d rows in all", INT_MAX);
        }
        total += p->cone_rows[k];
    }
    *rows = total;
    return status;
}

perp_status perp_cone_qp_check(const perp_cone_qp *problem, perp_error *error)
{
    const perp_cone_qp *p = problem;
    int rows = 0;
    perp_status status = perp_convex_check_count(p->n, "size of the problem", error);
    status = status ? status : perp_convex_check_count(p->cones, "number of cones", error);
    status = status ? status : perp_convex_check_count(p->equalities, "number of equations", error);
    status = status ? status : check_cones(p, &rows, error);
    status = status ? status : perp_convex_check_vector(p->n, p->g, "g", error);
    if (!status && p->h) {
        status = perp_convex_check_matrix(p->n, p->n, p->h, "H", error);
        const double largest = status ? 0.0 : perp_dense_largest((ptrdiff_t)p->n * p->n, p->h);
        status = status ? status : perp_convex_check_hessian(p->n, 0, p->h, largest, error);
    }
    status = status ? status : perp_convex_check_matrix(rows, p->n, p->a, "A", error);
    status = status ? status : perp_convex_check_vector(rows, p->b, "b", error);
    status = status ? status : perp_convex_check_matrix(p->equalities, p->n, p->c, "C", error);
    return status ? status : perp_convex_check_vector(p->equalities, p->d, "d", error);
}

static perp_convex_view view_of(const perp_cone_qp *p)
{
    const perp_convex_view view = {.n = p->n,
                                   .block_count = 1,
                                   .hessian = p->h,
                                   .g = p->g,
                                   .count = p->cones,
                                   .row_count = p->cone_rows,
                                   .jacobian = p->a,
                                   .offset = p->b,
                                   .offset_sign = 1.0,
                                   .cones = true,
                                   .equality_count = p->equalities,
                                   .equality_values = p->c,
                                   .equality_target = p->d};
    return view;
}

perp_convex_residual perp_cone_qp_residual(const perp_cone_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = view_of(problem);
    double near;
    return perp_convex_view_residual(&view, point, 1.0, &near);
}

double perp_cone_qp_objective(const perp_cone_qp *problem, const double *x)
{
    const perp_convex_view view = view_of(problem);
    return perp_convex_view_objective(&view, x);
}

double perp_cone_qp_infeasibility(const perp_cone_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = view_of(problem);
    return perp_convex_view_infeasibility(&view, point, 1.0);
}

double perp_cone_qp_unboundedness(const perp_cone_qp *problem, const double *x)
{
    const perp_convex_view view = view_of(problem);
    return perp_convex_view_unboundedness(&view, x, 1.0);
}
