/* The friction QP of Song, Kumar and Pang from what their Proposition 1 has: C, K, delta, the normal forces and the
 * bodies' velocities. From lambda = K delta + C ddelta/dt the rate of deformation is C^-1 (lambda - K delta), and its
 * tangential part and the bodies' velocity are the slip: H x + d with x the tangential part of lambda. */
#include "linalg/dense.h"
#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/friction_qp.h"
#include "problem/tolerances.h"

#include <perp/problem.h>

#include <limits.h>
#include <math.h>
#include <string.h>

double perp_friction_radius(double mu, double fn, double gamma)
{
    const double exact = mu * fn;
    return gamma == 0.0 ? exact : sqrt(exact) * sqrt(exact + 2.0 * gamma); /* (exact + gamma)^2 - gamma^2 */
}

static perp_status check_signs(int count, const double *values, const char *name, perp_error *error)
{
    perp_status status = perp_convex_check_vector(count, values, name, error);
    for (int i = 0; !status && i < count; i++) {
        if (values[i] < 0.0) {
            status =
                perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of %s is %g, which is negative", i, name, values[i]);
        }
    }
    return status;
}

static perp_status check_elements(const perp_friction_elements *e, perp_error *error)
{
    if (e->rows != 2 && e->rows != 3) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "an element has %d rows, not 2 or 3", e->rows);
    }
    perp_status status = perp_convex_check_count(e->elements, "number of elements", error);
    if (!status && e->elements > INT_MAX / e->rows) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "%d elements are too many", e->elements);
    }
    const int size = status ? 0 : e->elements * e->rows;
    status = status ? status : perp_convex_check_matrix(size, size, e->damping, "damping", error);
    status = status ? status : perp_convex_check_matrix(size, size, e->stiffness, "stiffness", error);
    status = status ? status : perp_convex_check_vector(size, e->delta, "delta", error);
    status = status ? status : perp_convex_check_vector(size - e->elements, e->sliding, "sliding", error);
    status = status ? status : check_signs(e->elements, e->fn, "fn", error);
    status = status ? status : check_signs(e->elements, e->mu, "mu", error);
    return status ? status : check_signs(1, &e->gamma, "gamma", error);
}

/* The Cholesky factor of C in `factor`. */
static perp_status factor_damping(int size, const double *damping, double *factor, perp_error *error)
{
    double largest = 0.0;
    for (ptrdiff_t k = 0; k < (ptrdiff_t)size * size; k++) {
        largest = fmax(largest, fabs(damping[k]));
    }
    for (ptrdiff_t i = 0; i < size; i++) {
        for (ptrdiff_t j = 0; j < i; j++) {
            if (fabs(damping[i * size + j] - damping[j * size + i]) > PERP_SYMMETRIC * largest) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT, "the damping is not symmetric in row %td, column %td", i,
                                 j);
            }
        }
    }
    int failed = -1;
    memcpy(factor, damping, (size_t)size * (size_t)size * sizeof(double));
    return perp_cholesky_factor(size, factor, size, &failed) == PERP_STATUS_OK
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_BAD_INPUT,
                           "the damping is not positive definite (row %d): the friction QP needs it to be", failed);
}

/* fn - K delta, fn being in the normal rows. */
static void fill_right_side(const perp_friction_elements *e, double *right)
{
    const int rows = e->rows, size = e->elements * rows;
    for (int i = 0; i < size; i++) {
        double sum = i % rows == 0 ? e->fn[i / rows] : 0.0;
        for (int j = 0; j < size; j++) {
            sum -= e->stiffness[(ptrdiff_t)i * size + j] * e->delta[j];
        }
        right[i] = sum;
    }
}

perp_status perp_friction_qp_form(const perp_friction_elements *elements, const perp_friction_qp_arrays *arrays,
                                  perp_friction_qp *problem, perp_error *error)
{
    const perp_friction_elements *e = elements;
    perp_status status = check_elements(e, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const int rows = e->rows, dim = rows - 1, size = e->elements * rows, n = e->elements * dim;
    double *factor = arrays->work, *inverse = factor + (ptrdiff_t)size * size,
           *right = inverse + (ptrdiff_t)size * size;
    status = factor_damping(size, e->damping, factor, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    memset(inverse, 0, (size_t)size * (size_t)size * sizeof(double));
    for (ptrdiff_t i = 0; i < size; i++) {
        inverse[i * size + i] = 1.0;
    }
    perp_cholesky_solve_many(size, factor, size, (perp_matrix_view){inverse, size, size, size});
    fill_right_side(e, right);
    perp_cholesky_solve(size, factor, size, right);
    for (int i = 0; i < n; i++) {
        const ptrdiff_t row = (ptrdiff_t)(i / dim) * rows + 1 + i % dim;
        arrays->d[i] = right[row] + e->sliding[i];
        for (int j = 0; j <= i; j++) { /* both halves from one, so that H is symmetric to the bit */
            const ptrdiff_t column = (ptrdiff_t)(j / dim) * rows + 1 + j % dim;
            arrays->h[(ptrdiff_t)i * n + j] = arrays->h[(ptrdiff_t)j * n + i] = inverse[row * size + column];
        }
    }
    for (int i = 0; i < e->elements; i++) {
        arrays->radius[i] = perp_friction_radius(e->mu[i], e->fn[i], e->gamma);
    }
    *problem = (perp_friction_qp){e->elements, dim, arrays->h, arrays->d, arrays->radius};
    return perp_friction_qp_check(problem, error); /* what overflowed is refused too */
}
