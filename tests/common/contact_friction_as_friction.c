/* Bodies eliminated: A v + f = H'r gives v = A^-1 (H'r - f), and u = H v + w = W r + q with
 *     W = H A^-1 H',   q = w - H A^-1 f.
 * A is factored by its blocks, and a contact moves only the blocks that it touches. */
#include "conversions.h"
#include "linalg/dense.h"

#include <perp/problem.h>

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static int rows_of(const perp_contact_qp *s, int contact)
{
    return s->row_start[contact + 1] - s->row_start[contact];
}

static int block_size(const perp_contact_qp *s, int block)
{
    return s->block_start[block + 1] - s->block_start[block];
}

perp_friction_reduction_size perp_contact_friction_as_friction_size(const perp_contact_friction *problem)
{
    const perp_contact_qp *s = problem->system;
    perp_friction_reduction_size size = {.contacts = s->contact_count, .dim = 2};
    for (int i = 0; i < s->contact_count; i++) {
        size.dim = rows_of(s, i) == 3 ? 3 : size.dim;
    }
    for (int k = 0; k < s->block_count; k++) {
        size.factor += (ptrdiff_t)block_size(s, k) * block_size(s, k);
    }
    const ptrdiff_t rows = (ptrdiff_t)size.contacts * size.dim;
    size.w = rows * rows;
    return size;
}

static perp_status check_form(const perp_contact_qp *s, perp_error *error)
{
    if (s->equality_count > 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT,
                         "the problem has %d equations, which a friction problem without bodies has no place for",
                         s->equality_count);
    }
    for (int j = 0; j < s->n; j++) {
        if ((s->lower && isfinite(s->lower[j])) || (s->upper && isfinite(s->upper[j]))) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "unknown %d has a bound, which a friction problem without bodies has no place for", j);
        }
    }
    return s->hessian || s->n == 0
               ? PERP_STATUS_OK
               : perp_fail(error, PERP_STATUS_SINGULAR, "A is zero: forces do not determine the motion");
}

/* L L' of every block. A pivot that elimination took all but rounding of is zero. */
static perp_status factor_blocks(const perp_contact_qp *s, double *factor, perp_error *error)
{
    const double *a = s->hessian;
    for (int k = 0; k < s->block_count; k++) {
        const int size = block_size(s, k);
        const size_t count = (size_t)size * (size_t)size;
        memcpy(factor, a, count * sizeof *factor);
        int failed = size;
        (void)perp_cholesky_factor(size, factor, size, &failed);
        for (int j = 0; j < size; j++) {
            const double pivot = factor[(ptrdiff_t)j * (size + 1)], before = a[(ptrdiff_t)j * (size + 1)];
            if (j == failed || !(pivot * pivot > (double)(size + 1) * DBL_EPSILON * before)) {
                return perp_fail(error, PERP_STATUS_SINGULAR,
                                 "A is not positive definite: its block %d is singular at unknown %d", k,
                                 s->block_start[k] + j);
            }
        }
        factor += count;
        a += count;
    }
    return PERP_STATUS_OK;
}

/* Overwrites X (n x columns, by rows) by A^-1 X; blocks where X is zero are passed over. */
static void solve_blocks(const perp_contact_qp *s, const double *factor, int columns, double *x)
{
    for (int k = 0; k < s->block_count; k++) {
        const int size = block_size(s, k), count = size * columns;
        double *part = x + (ptrdiff_t)s->block_start[k] * columns;
        int i = 0;
        while (i < count && part[i] == 0.0) {
            i++;
        }
        if (i < count) {
            const perp_matrix_view view = {part, size, columns, columns};
            perp_cholesky_solve_many(size, factor, size, view);
        }
        factor += (ptrdiff_t)size * size;
    }
}

/* Contact by contact: where its Jacobian and its rows in the friction problem begin. */
typedef struct contact_place {
    int contact, rows, dofs;
    const int *dof;
    const double *jacobian;
    ptrdiff_t row;
} contact_place;

static contact_place first_contact(const perp_contact_qp *s)
{
    contact_place c = {.contact = -1, .jacobian = s->jacobian};
    return c;
}

static bool next_contact(const perp_contact_qp *s, int dim, contact_place *c)
{
    c->jacobian += (ptrdiff_t)c->rows * c->dofs > 0 ? (ptrdiff_t)c->rows * c->dofs : 0;
    if (++c->contact >= s->contact_count) {
        return false;
    }
    c->rows = rows_of(s, c->contact);
    c->dofs = s->dof_start[c->contact + 1] - s->dof_start[c->contact];
    c->dof = c->dofs > 0 ? s->dofs + s->dof_start[c->contact] : NULL;
    c->row = (ptrdiff_t)c->contact * dim;
    return true;
}

/* W's columns of one contact, from X = A^-1 H_c' (n x rows). */
static void fill_columns(const perp_contact_qp *s, const contact_place *c, int dim, const double *x, double *w)
{
    assert(c->rows >= 1 && c->rows <= 3); /* as the check saw to */
    const ptrdiff_t size = (ptrdiff_t)s->contact_count * dim;
    contact_place at = first_contact(s);
    while (next_contact(s, dim, &at)) {
        for (int k = 0; k < at.rows; k++) {
            double sum[3] = {0.0, 0.0, 0.0};
            for (int d = 0; d < at.dofs; d++) {
                const double entry = at.jacobian[(ptrdiff_t)k * at.dofs + d];
                const double *values = x + (ptrdiff_t)at.dof[d] * c->rows;
                for (int j = 0; j < c->rows; j++) {
                    sum[j] += entry * values[j];
                }
            }
            for (int j = 0; j < c->rows; j++) {
                w[(at.row + k) * size + c->row + j] = sum[j];
            }
        }
    }
}

/* W is symmetric, but for the rounding of sums in another order. */
static void make_symmetric(ptrdiff_t size, double *w)
{
    for (ptrdiff_t i = 0; i < size; i++) {
        for (ptrdiff_t j = 0; j < i; j++) {
            w[i * size + j] = w[j * size + i] = 0.5 * w[i * size + j] + 0.5 * w[j * size + i];
        }
    }
}

perp_status perp_contact_friction_as_friction(const perp_contact_friction *problem,
                                              const perp_friction_reduction *reduction, perp_friction *friction,
                                              perp_error *error)
{
    const perp_contact_qp *s = problem->system;
    const perp_friction_reduction *r = reduction;
    const perp_friction_reduction_size size = perp_contact_friction_as_friction_size(problem);
    perp_status status = check_form(s, error);
    status = status ? status : factor_blocks(s, r->factor, error);
    if (status) {
        return status;
    }
    for (int j = 0; j < s->n; j++) {
        r->free_v[j] = -s->g[j];
    }
    solve_blocks(s, r->factor, 1, r->free_v);
    for (ptrdiff_t i = 0; i < size.w; i++) {
        r->w[i] = 0.0;
    }
    contact_place c = first_contact(s);
    while (next_contact(s, size.dim, &c)) {
        memset(r->work, 0, (size_t)s->n * (size_t)c.rows * sizeof *r->work);
        for (int k = 0; k < size.dim; k++) {
            double sum = 0.0;
            for (int d = 0; k < c.rows && d < c.dofs; d++) {
                const double entry = c.jacobian[(ptrdiff_t)k * c.dofs + d];
                r->work[(ptrdiff_t)c.dof[d] * c.rows + k] = entry;
                sum += entry * r->free_v[c.dof[d]];
            }
            r->q[c.row + k] = k < c.rows ? sum + s->offset[s->row_start[c.contact] + k] : 0.0;
        }
        r->mu[c.contact] = c.rows > 1 ? problem->mu[c.contact] : 0.0;
        solve_blocks(s, r->factor, c.rows, r->work);
        fill_columns(s, &c, size.dim, r->work, r->w);
    }
    make_symmetric((ptrdiff_t)size.contacts * size.dim, r->w);
    *friction = (perp_friction){size.contacts, size.dim, r->w, r->q, r->mu};
    return PERP_STATUS_OK;
}

void perp_contact_friction_from_friction(const perp_contact_friction *problem, const perp_friction_reduction *reduction,
                                         const double *r, const perp_convex_point *point)
{
    const perp_contact_qp *s = problem->system;
    const int dim = perp_contact_friction_as_friction_size(problem).dim;
    for (int j = 0; j < s->n; j++) {
        point->x[j] = -s->g[j];
    }
    contact_place c = first_contact(s);
    while (next_contact(s, dim, &c)) {
        for (int k = 0; k < c.rows; k++) {
            point->y[s->row_start[c.contact] + k] = r[c.row + k];
            for (int d = 0; d < c.dofs; d++) {
                point->x[c.dof[d]] += c.jacobian[(ptrdiff_t)k * c.dofs + d] * r[c.row + k];
            }
        }
    }
    solve_blocks(s, reduction->factor, 1, point->x);
    for (int j = 0; j < s->n; j++) {
        if (s->lower) {
            point->y_lower[j] = 0.0;
        }
        if (s->upper) {
            point->y_upper[j] = 0.0;
        }
    }
}
