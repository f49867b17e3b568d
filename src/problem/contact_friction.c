#include <perp/problem.h>

#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/convex_constraint.h"
#include "problem/friction_law.h"
#include "problem/natural_map.h"

static perp_status check_contact(const perp_contact_friction *problem, int i, perp_error *error)
{
    const perp_contact_qp *s = problem->system;
    const int rows = s->row_start[i + 1] - s->row_start[i];
    if (rows > 3) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "contact %d has %d rows, not 1 to 3", i, rows);
    }
    if (s->slack_start[i + 1] != s->row_start[i + 1]) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of slack_start is %d, not %d as of row_start", i + 1,
                         s->slack_start[i + 1], s->row_start[i + 1]);
    }
    if (rows > 1 && !(problem->mu[i] >= 0.0 && isfinite(problem->mu[i]))) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of mu is %g, not finite and at least 0", i,
                         problem->mu[i]);
    }
    return PERP_STATUS_OK;
}

perp_status perp_contact_friction_check(const perp_contact_friction *problem, perp_error *error)
{
    const perp_contact_qp *s = problem->system;
    if (!s) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no system");
    }
    if (s->rays || s->quadratic) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a friction problem has no %s", s->rays ? "rays" : "quadratic");
    }
    perp_status status = perp_contact_qp_check(s, error);
    status = status ? status : perp_convex_check_present(s->contact_count, problem->mu, "mu", error);
    for (int i = 0; !status && i < s->contact_count; i++) {
        status = check_contact(problem, i, error);
    }
    return status;
}

void perp_contact_friction_velocity(const perp_contact_friction *problem, const double *v, double *u)
{
    const perp_contact_qp *s = problem->system;
    const double *row = s->jacobian;
    for (int i = 0; i < s->contact_count; i++) {
        const int dofs = s->dof_start[i + 1] - s->dof_start[i];
        for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            double sum = 0.0;
            for (int d = 0; d < dofs; d++) {
                sum += row[d] * v[s->dofs[s->dof_start[i] + d]];
            }
            u[k] = sum + s->offset[k];
            row += dofs;
        }
    }
}

/* ---- the weights a_j ---- */

/* Where the diagonal of A stands: the blocks differ in size, so that the place of one follows from all before it. Some
 * of these places are kept, evenly spaced, and the rest are found from the nearest. */
enum { PLACES = 128 };

typedef struct diagonal {
    const perp_contact_qp *system;
    double fallback; /* for a_j where A_jj is not positive */
    int stride;      /* blocks between places kept */
    ptrdiff_t place[PLACES];
    int block;         /* the one looked at last */
    ptrdiff_t current; /* and where it begins in the hessian */
} diagonal;

static int block_size(const perp_contact_qp *s, int k)
{
    return s->block_start[k + 1] - s->block_start[k];
}

static void diagonal_begin(const perp_contact_qp *s, diagonal *d)
{
    d->system = s;
    d->fallback = 0.0;
    d->stride = s->block_count / PLACES + 1;
    d->block = 0;
    d->current = 0;
    ptrdiff_t place = 0;
    for (int k = 0; s->hessian && k < s->block_count; k++) {
        const int size = block_size(s, k);
        if (k % d->stride == 0) {
            d->place[k / d->stride] = place;
        }
        for (int j = 0; j < size; j++) {
            d->fallback = larger(d->fallback, s->hessian[place + (ptrdiff_t)j * size + j]);
        }
        place += (ptrdiff_t)size * size;
    }
    d->fallback = d->fallback > 0.0 ? d->fallback : 1.0;
}

static void diagonal_seek(diagonal *d, int j)
{
    const perp_contact_qp *s = d->system;
    int low = 0, high = s->block_count - 1;
    while (low < high) { /* the last block that begins at j or before */
        const int middle = low + (high - low + 1) / 2;
        if (s->block_start[middle] <= j) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    d->block = low;
    d->current = d->place[low / d->stride];
    for (int k = low - low % d->stride; k < low; k++) {
        d->current += (ptrdiff_t)block_size(s, k) * block_size(s, k);
    }
}

/* a_j: A_jj, or the largest of these, or 1. */
static double diagonal_at(diagonal *d, int j)
{
    const perp_contact_qp *s = d->system;
    if (!s->hessian) {
        return d->fallback;
    }
    if (j < s->block_start[d->block] || j >= s->block_start[d->block + 1]) {
        diagonal_seek(d, j);
    }
    const ptrdiff_t at = j - s->block_start[d->block];
    const double value = s->hessian[d->current + at * block_size(s, d->block) + at];
    return value > 0.0 ? value : d->fallback;
}

/* ---- the residual ---- */

/* 1 / rho of a contact: what its normal velocity gains of a unit of force. */
static double contact_weight(diagonal *a, int dofs, const int *dof, const double *normal)
{
    double sum = 0.0;
    for (int d = 0; d < dofs; d++) {
        sum += normal[d] != 0.0 ? normal[d] * (normal[d] / diagonal_at(a, dof[d])) : 0.0;
    }
    return sum > 0.0 ? sum : 1.0;
}

/* sum_d row_d v[dof_d] + offset in *value, and the row's scale. */
static double row_scale(int dofs, const int *dof, const double *row, const double *v, double offset, double unit,
                        double *value)
{
    double sum = offset, size = fabs(offset);
    for (int d = 0; d < dofs; d++) {
        const double product = row[d] * v[dof[d]];
        sum += product;
        size += fabs(product);
    }
    *value = sum;
    return unit + size;
}

/* Over the scale of the contact, which is that of its largest row. */
static double largest_of_contacts(const perp_contact_friction *problem, const perp_convex_point *p, diagonal *a,
                                  double unit, double *near)
{
    const perp_contact_qp *s = problem->system;
    const double *row = s->jacobian;
    double largest = 0.0;
    for (int i = 0; i < s->contact_count; i++) {
        const int first = s->row_start[i], rows = s->row_start[i + 1] - first;
        const int dofs = s->dof_start[i + 1] - s->dof_start[i], *dof = dofs > 0 ? s->dofs + s->dof_start[i] : NULL;
        const double weight = contact_weight(a, dofs, dof, row);
        double u[3], scale = 0.0, constant = 0.0;
        for (int k = 0; k < rows; k++, row += dofs) {
            constant = fmax(constant, fabs(s->offset[first + k]));
            const double own = row_scale(dofs, dof, row, p->x, s->offset[first + k], unit, &u[k]);
            scale = perp_problem_worse(scale, own);
        }
        const double mu = rows > 1 ? problem->mu[i] : 0.0;
        const double law = perp_friction_law(rows, mu, weight, p->y + first, u);
        largest = perp_problem_worse(largest, perp_problem_over(law, scale));
        perp_problem_raise_near(law, constant, unit, near);
    }
    return largest;
}

/* A bound is a contact without friction along its unknown; the multiplier of an infinite one is 0. `slack` is what is
 * left of it. */
static double bound_map(double bound, double slack, double x, double force, double unit)
{
    const bool finite = isfinite(bound);
    const double map = finite ? perp_natural_map(force, slack, 0.0, INFINITY) : fabs(force);
    return perp_problem_over(map, unit + (finite ? fabs(bound) + fabs(x) : 0.0));
}

static double largest_of_bounds(const perp_contact_qp *s, const perp_convex_point *p, diagonal *a, double unit)
{
    double largest = 0.0;
    for (int j = 0; j < s->n && (s->lower || s->upper); j++) {
        const double weight = 1.0 / diagonal_at(a, j), x = p->x[j];
        if (s->lower) {
            const double map = bound_map(s->lower[j], x - s->lower[j], x, weight * p->y_lower[j], unit);
            largest = perp_problem_worse(largest, map);
        }
        if (s->upper) {
            const double map = bound_map(s->upper[j], s->upper[j] - x, x, weight * p->y_upper[j], unit);
            largest = perp_problem_worse(largest, map);
        }
    }
    return largest;
}

static double largest_of_equations(const perp_contact_qp *s, const double *v, double unit, double *near)
{
    double largest = 0.0;
    for (int i = 0; i < s->equality_count; i++) {
        const int first = s->equality_start[i], count = s->equality_start[i + 1] - first;
        const int *dof = count > 0 ? s->equality_dofs + first : NULL;
        const double *values = count > 0 ? s->equality_values + first : NULL;
        double miss;
        const double scale = row_scale(count, dof, values, v, -s->equality_target[i], unit, &miss);
        largest = perp_problem_worse(largest, perp_problem_over(fabs(miss), scale));
        perp_problem_raise_near(fabs(miss), fabs(s->equality_target[i]), unit, near);
    }
    return largest;
}

perp_contact_friction_residual perp_contact_friction_evaluate_with(const perp_contact_friction *problem,
                                                                   const perp_convex_point *point, double unit,
                                                                   double *near)
{
    const perp_contact_qp *s = problem->system;
    const perp_convex_view view = perp_contact_qp_view(s);
    perp_contact_friction_residual residual = {INFINITY, INFINITY, INFINITY};
    *near = INFINITY;
    if (!perp_convex_point_is_finite(&view, point)) {
        return residual;
    }
    diagonal a;
    diagonal_begin(s, &a);
    *near = 0.0;
    residual.balance = perp_convex_largest_column(&view, point, unit, near);
    const double contacts = largest_of_contacts(problem, point, &a, unit, near);
    residual.law = perp_problem_worse(contacts, largest_of_bounds(s, point, &a, unit));
    residual.constraint = largest_of_equations(s, point->x, unit, near);
    return residual;
}

perp_contact_friction_residual perp_contact_friction_evaluate(const perp_contact_friction *problem,
                                                              const perp_convex_point *point)
{
    double near;
    return perp_contact_friction_evaluate_with(problem, point, 1.0, &near);
}

double perp_contact_friction_residual_largest(perp_contact_friction_residual residual)
{
    return perp_problem_worse(perp_problem_worse(perp_problem_worse(0.0, residual.balance), residual.law),
                              residual.constraint);
}
