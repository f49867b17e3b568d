#include <perp/problem.h>

#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/friction_qp.h"
#include "problem/natural_map.h"

#include <limits.h>

perp_status perp_friction_qp_check(const perp_friction_qp *problem, perp_error *error)
{
    const perp_friction_qp *p = problem;
    if (p->dim != 1 && p->dim != 2) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "dim is %d, not 1 or 2", p->dim);
    }
    perp_status status = perp_convex_check_count(p->elements, "number of elements", error);
    if (!status && p->elements > INT_MAX / (p->dim + 1)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%d elements are too many", p->elements);
    }
    const int size = status ? 0 : p->elements * p->dim;
    status = status ? status : perp_convex_check_matrix(size, size, p->h, "H", error);
    if (!status) {
        status = perp_convex_check_hessian(size, 0, p->h, perp_dense_largest((ptrdiff_t)size * size, p->h), error);
    }
    status = status ? status : perp_convex_check_vector(size, p->d, "d", error);
    status = status ? status : perp_convex_check_vector(p->elements, p->radius, "radius", error);
    for (int i = 0; !status && i < p->elements; i++) {
        if (p->radius[i] < 0.0) {
            status =
                perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of radius is %g, which is negative", i, p->radius[i]);
        }
    }
    return status;
}

void perp_friction_qp_slip(const perp_friction_qp *problem, const double *x, double *slip)
{
    const int size = problem->elements * problem->dim;
    for (int i = 0; i < size; i++) {
        slip[i] = perp_problem_row(size, problem->h, problem->d, x, i);
    }
}

double perp_friction_qp_objective(const perp_friction_qp *problem, const double *x)
{
    const int size = problem->elements * problem->dim;
    double sum = 0.0;
    for (int i = 0; i < size; i++) {
        sum += 0.5 * x[i] * (perp_problem_row(size, problem->h, problem->d, x, i) + problem->d[i]);
    }
    return sum;
}

double perp_friction_qp_weight(const perp_friction_qp *problem, int element)
{
    const ptrdiff_t size = (ptrdiff_t)problem->elements * problem->dim;
    double sum = 0.0;
    for (int k = 0; k < problem->dim; k++) {
        sum += problem->h[(element * problem->dim + k) * (size + 1)];
    }
    return sum > 0.0 ? sum / problem->dim : 1.0;
}

void perp_friction_qp_project(int dim, double radius, double *x)
{
    const double length = dim == 1 ? fabs(x[0]) : hypot(x[0], x[1]);
    for (int k = 0; length > radius && k < dim; k++) {
        x[k] *= radius / length;
    }
}

/* One element's natural map in units of velocity: with p = weight x it is |p - P(p - s)|, on a disc that is as much
 * larger. slip[1] is 0 where dim is 1. */
static double element_map(int dim, double radius, double weight, const double *x, const double slip[2])
{
    double at[2] = {0.0, 0.0}, off[2] = {0.0, 0.0};
    for (int k = 0; k < dim; k++) {
        if (!isfinite(x[k]) || !isfinite(slip[k])) {
            return INFINITY;
        }
        at[k] = weight * x[k] - slip[k];
    }
    if (hypot(at[0], at[1]) <= weight * radius) {
        return hypot(slip[0], slip[1]); /* it is |s|, whatever the rounding of p - s */
    }
    perp_friction_qp_project(dim, weight * radius, at);
    for (int k = 0; k < dim; k++) {
        off[k] = weight * x[k] - at[k];
    }
    return hypot(off[0], off[1]);
}

double perp_friction_qp_residual(const perp_friction_qp *problem, const double *x)
{
    const int dim = problem->dim, size = problem->elements * dim;
    double largest = 0.0;
    for (int i = 0; i < problem->elements; i++) {
        double slip[2] = {0.0, 0.0}, scale = 0.0;
        for (int k = 0; k < dim; k++) {
            const double own = perp_problem_row_scale(size, problem->h, problem->d, x, i * dim + k, 1.0, &slip[k]);
            scale = perp_problem_worse(scale, own);
        }
        const double weight = perp_friction_qp_weight(problem, i);
        const double map = element_map(dim, problem->radius[i], weight, x + (ptrdiff_t)i * dim, slip);
        largest = perp_problem_worse(largest, perp_problem_over(map, scale));
    }
    return largest;
}
