#include <perp/problem.h>

#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/convex_check.h"
#include "problem/convex_residual.h"
#include "problem/objectives.h"

#include <math.h>

/* count + 1 numbers from 0 that do not fall, each step at least `least`. */
static perp_status check_starts(int count, const int *start, int least, const char *name, perp_error *error)
{
    if (count > 0 && !start) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the problem has no %s", name);
    }
    if (count > 0 && start[0] != 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry 0 of %s is %d, not 0", name, start[0]);
    }
    for (int i = 0; i < count; i++) {
        if (start[i] > start[i + 1] || start[i + 1] - start[i] < least) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of %s is %d after %d", i + 1, name, start[i + 1],
                             start[i]);
        }
    }
    return PERP_STATUS_OK;
}

/* Whether a list ascends within 0 .. n - 1. */
static inline bool is_ascending(int n, int count, const int *dofs)
{
    if (count > 0 && (dofs[0] < 0 || dofs[count - 1] >= n)) {
        return false;
    }
    int wrong = 0; /* no branch for each */
    for (int k = 1; k < count; k++) {
        wrong |= dofs[k] <= dofs[k - 1];
    }
    return !wrong;
}

/* Ascending unknowns within each of `count` lists. */
static perp_status check_dofs(int n, int count, const int *start, const int *dofs, const char *name, perp_error *error)
{
    const perp_status status = perp_convex_check_present(count > 0 ? start[count] : 0, dofs, name, error);
    for (int i = 0; !status && i < count; i++) {
        if (start[i] == start[i + 1] || is_ascending(n, start[i + 1] - start[i], dofs + start[i])) {
            continue;
        }
        for (int k = start[i]; k < start[i + 1]; k++) {
            if (dofs[k] < 0 || dofs[k] >= n) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of %s is %d, of %d unknowns", k, name, dofs[k],
                                 n);
            }
            if (k > start[i] && dofs[k] <= dofs[k - 1]) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of %s is %d after %d: they must ascend", k,
                                 name, dofs[k], dofs[k - 1]);
            }
        }
    }
    return status;
}

static perp_status check_blocks(const perp_contact_qp *p, perp_error *error)
{
    perp_status status = check_starts(p->block_count, p->block_start, 1, "block_start", error);
    const int end = !status && p->block_count > 0 ? p->block_start[p->block_count] : 0;
    if (!status && end != p->n) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "the blocks of H end at %d, of %d unknowns", end, p->n);
    }
    const double *block = p->hessian;
    double largest = 0.0;
    for (int k = 0; !status && block && k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        const ptrdiff_t count = (ptrdiff_t)size * size, bad = perp_convex_first_not_finite(count, block);
        if (size > 0 && bad < count) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry (%td, %td) of H is %g",
                             p->block_start[k] + bad / size, p->block_start[k] + bad % size, block[bad]);
        }
        largest = fmax(largest, perp_dense_largest(count, block));
        block += count;
    }
    block = p->hessian;
    for (int k = 0; !status && block && k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        status = perp_convex_check_hessian(size, p->block_start[k], block, largest, error);
        block += (ptrdiff_t)size * size;
    }
    return status;
}

typedef struct contact_size {
    int rows, slacks, dofs;
} contact_size;

static contact_size size_of(const perp_contact_qp *p, int i)
{
    const contact_size size = {p->row_start[i + 1] - p->row_start[i], p->slack_start[i + 1] - p->slack_start[i],
                               p->dof_start[i + 1] - p->dof_start[i]};
    return size;
}

/* Which contact's matrix entry `entry` of the jacobians, or of the rays, is in. */
static perp_status refuse_entry(const perp_contact_qp *p, bool rays, ptrdiff_t entry, double value, perp_error *error)
{
    for (int i = 0;; i++) {
        const contact_size size = size_of(p, i);
        const int rows = rays ? size.slacks : size.rows, columns = rays ? size.rows : size.dofs;
        if (entry < (ptrdiff_t)rows * columns) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry (%td, %td) of the %s of contact %d is %g",
                             entry / columns, entry % columns, rays ? "rays" : "jacobian", i, value);
        }
        entry -= (ptrdiff_t)rows * columns;
    }
}

static perp_status check_matrices(const perp_contact_qp *p, perp_error *error)
{
    ptrdiff_t entries = 0, ray_entries = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const contact_size size = size_of(p, i);
        if (!p->rays && size.slacks != size.rows) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "contact %d has %d rows and %d slacks, but there are no rays", i, size.rows, size.slacks);
        }
        entries += (ptrdiff_t)size.rows * size.dofs;
        ray_entries += (ptrdiff_t)size.slacks * size.rows;
    }
    const perp_status status = perp_convex_check_present(entries, p->jacobian, "jacobian", error);
    if (status) {
        return status;
    }
    const ptrdiff_t bad = perp_convex_first_not_finite(entries, p->jacobian);
    if (bad < entries) {
        return refuse_entry(p, false, bad, p->jacobian[bad], error);
    }
    const ptrdiff_t bad_ray = p->rays ? perp_convex_first_not_finite(ray_entries, p->rays) : ray_entries;
    return bad_ray < ray_entries ? refuse_entry(p, true, bad_ray, p->rays[bad_ray], error) : PERP_STATUS_OK;
}

perp_status perp_contact_qp_check(const perp_contact_qp *problem, perp_error *error)
{
    const perp_contact_qp *p = problem;
    perp_status status = perp_convex_check_count(p->n, "size of the problem", error);
    status = status ? status : perp_convex_check_count(p->block_count, "number of blocks", error);
    status = status ? status : perp_convex_check_count(p->contact_count, "number of contacts", error);
    status = status ? status : perp_convex_check_count(p->equality_count, "number of equations", error);
    status = status ? status : perp_convex_check_vector(p->n, p->g, "g", error);
    status = status ? status : check_blocks(p, error);
    status = status ? status : check_starts(p->contact_count, p->row_start, 1, "row_start", error);
    status = status ? status : check_starts(p->contact_count, p->dof_start, 0, "dof_start", error);
    status = status ? status : check_starts(p->contact_count, p->slack_start, 1, "slack_start", error);
    status = status ? status : check_dofs(p->n, p->contact_count, p->dof_start, p->dofs, "dofs", error);
    status = status ? status : check_matrices(p, error);
    const int slacks = status || p->contact_count == 0 ? 0 : p->slack_start[p->contact_count];
    status = status ? status : perp_convex_check_vector(slacks, p->offset, "offset", error);
    status = status ? status : check_starts(p->equality_count, p->equality_start, 0, "equality_start", error);
    status = status ? status
                    : check_dofs(p->n, p->equality_count, p->equality_start, p->equality_dofs, "equality_dofs", error);
    const int entries = status || p->equality_count == 0 ? 0 : p->equality_start[p->equality_count];
    status = status ? status : perp_convex_check_vector(entries, p->equality_values, "equality_values", error);
    status =
        status ? status : perp_convex_check_vector(p->equality_count, p->equality_target, "equality_target", error);
    return status ? status : perp_convex_check_bounds(p->n, p->lower, p->upper, error);
}

perp_convex_view perp_contact_qp_view(const perp_contact_qp *problem)
{
    const perp_contact_qp *p = problem;
    const perp_convex_view view = {.n = p->n,
                                   .block_count = p->block_count,
                                   .block_start = p->block_start,
                                   .hessian = p->hessian,
                                   .g = p->g,
                                   .count = p->contact_count,
                                   .row_start = p->row_start,
                                   .slack_start = p->slack_start,
                                   .dof_start = p->dof_start,
                                   .dofs = p->dofs,
                                   .jacobian = p->jacobian,
                                   .rays = p->rays,
                                   .offset = p->offset,
                                   .offset_sign = 1.0,
                                   .quadratic = p->quadratic,
                                   .equality_count = p->equality_count,
                                   .equality_start = p->equality_start,
                                   .equality_dofs = p->equality_dofs,
                                   .equality_values = p->equality_values,
                                   .equality_target = p->equality_target,
                                   .lower = p->lower,
                                   .upper = p->upper};
    return view;
}

perp_convex_residual perp_contact_qp_residual(const perp_contact_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = perp_contact_qp_view(problem);
    double near;
    return perp_convex_view_residual(&view, point, 1.0, &near);
}

double perp_contact_qp_objective(const perp_contact_qp *problem, const double *x)
{
    const perp_convex_view view = perp_contact_qp_view(problem);
    return perp_convex_view_objective(&view, x);
}

double perp_contact_qp_infeasibility(const perp_contact_qp *problem, const perp_convex_point *point)
{
    const perp_convex_view view = perp_contact_qp_view(problem);
    return perp_convex_view_infeasibility(&view, point, 1.0);
}

double perp_contact_qp_unboundedness(const perp_contact_qp *problem, const double *x)
{
    const perp_convex_view view = perp_contact_qp_view(problem);
    return perp_convex_view_unboundedness(&view, x, 1.0);
}
