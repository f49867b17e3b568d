/* Bodies for a friction problem that has none: W = L L', one unknown of unit mass for each column of L. */
#include <perp/problem.h>

#include "problem/conversions.h"
#include "problem/tolerances.h"

#include <float.h>
#include <math.h>

static double largest_entry(ptrdiff_t count, const double *w)
{
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(w[i]));
    }
    return largest;
}

/* The mean of W and its transpose, if they are the same. */
static perp_status copy_symmetric(int n, const double *w, double largest, double *l, perp_error *error)
{
    const ptrdiff_t size = n;
    for (ptrdiff_t i = 0; i < size; i++) {
        for (ptrdiff_t j = 0; j <= i; j++) {
            const double entry = w[i * size + j], mirrored = w[j * size + i];
            if (fabs(entry - mirrored) > PERP_SYMMETRIC * largest) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT,
                                 "W is not symmetric: entry (%td, %td) is %g and entry (%td, %td) is %g", i, j, entry,
                                 j, i, mirrored);
            }
            l[i * size + j] = l[j * size + i] = 0.5 * entry + 0.5 * mirrored;
        }
    }
    return PERP_STATUS_OK;
}

/* Outer products, the largest remaining diagonal entry first. Column k of L comes to stand in column order[k] of `l`;
 * the rows and columns order[k ..] hold what remains of W. Returns the rank. */
static int factor(int size, double *l, int *order, double rounding)
{
    for (int i = 0; i < size; i++) {
        order[i] = i;
    }
    for (int k = 0; k < size; k++) {
        int best = k;
        for (int i = k + 1; i < size; i++) {
            const ptrdiff_t a = order[i], b = order[best];
            best = l[a * size + a] > l[b * size + b] ? i : best;
        }
        const int pivot = order[best];
        order[best] = order[k];
        order[k] = pivot;
        const double diagonal = l[(ptrdiff_t)pivot * size + pivot];
        if (!(diagonal > rounding)) {
            return k;
        }
        const double root = sqrt(diagonal);
        for (int i = k + 1; i < size; i++) {
            l[(ptrdiff_t)order[i] * size + pivot] /= root;
        }
        l[(ptrdiff_t)pivot * size + pivot] = root;
        for (int i = 0; i < k; i++) { /* rows that were pivoted before: above L's diagonal */
            l[(ptrdiff_t)order[i] * size + pivot] = 0.0;
        }
        for (int i = k + 1; i < size; i++) {
            const double entry = l[(ptrdiff_t)order[i] * size + pivot];
            for (int j = k + 1; entry != 0.0 && j < size; j++) {
                l[(ptrdiff_t)order[i] * size + order[j]] -= entry * l[(ptrdiff_t)order[j] * size + pivot];
            }
        }
    }
    return size;
}

/* What remains must be zero: of a semidefinite matrix a diagonal entry bounds its row. */
static perp_status check_remainder(int size, int rank, const double *l, const int *order, double rounding,
                                   perp_error *error)
{
    for (int a = rank; a < size; a++) {
        for (int b = rank; b < size; b++) {
            const int i = order[a], j = order[b];
            if (!(fabs(l[(ptrdiff_t)i * size + j]) <= 8.0 * rounding)) {
                return perp_fail(error, PERP_STATUS_BAD_INPUT,
                                 "W is not positive semidefinite: %g is left of entry (%d, %d) where its diagonal is "
                                 "used up",
                                 l[(ptrdiff_t)i * size + j], i, j);
            }
        }
    }
    return PERP_STATUS_OK;
}

/* The rows of L by contacts, without columns that are zero in all rows of one. */
static void fill_contacts(const perp_friction *p, int rank, const perp_friction_lift *lift)
{
    const ptrdiff_t size = (ptrdiff_t)p->contacts * p->dim;
    int count = 0;
    double *entry = lift->jacobian;
    lift->row_start[0] = lift->dof_start[0] = 0;
    for (int c = 0; c < p->contacts; c++) {
        const double *rows = lift->factor + (ptrdiff_t)c * p->dim * size;
        for (int k = 0; k < rank; k++) {
            bool used = false;
            for (int i = 0; i < p->dim; i++) {
                used = used || rows[i * size + lift->order[k]] != 0.0;
            }
            if (used) {
                lift->dofs[count++] = k;
            }
        }
        for (int i = 0; i < p->dim; i++) {
            for (int d = lift->dof_start[c]; d < count; d++) {
                *entry++ = rows[i * size + lift->order[lift->dofs[d]]];
            }
        }
        lift->row_start[c + 1] = (c + 1) * p->dim;
        lift->dof_start[c + 1] = count;
    }
}

perp_status perp_friction_as_contact_friction(const perp_friction *problem, const perp_friction_lift *lift,
                                              perp_contact_qp *system, perp_contact_friction *contact_friction,
                                              perp_error *error)
{
    const int size = problem->contacts * problem->dim;
    const double largest = largest_entry((ptrdiff_t)size * size, problem->w);
    const double rounding = (double)(size + 1) * 4.0 * DBL_EPSILON * largest; /* what elimination leaves of a zero */
    perp_status status = copy_symmetric(size, problem->w, largest, lift->factor, error);
    const int rank = status ? 0 : factor(size, lift->factor, lift->order, rounding);
    status = status ? status : check_remainder(size, rank, lift->factor, lift->order, rounding, error);
    if (status) {
        return status;
    }
    fill_contacts(problem, rank, lift);
    lift->block_start[0] = 0;
    for (int k = 0; k < rank; k++) {
        lift->block_start[k + 1] = k + 1;
        lift->hessian[k] = 1.0;
        lift->g[k] = 0.0;
    }
    *system = (perp_contact_qp){.n = rank,
                                .block_count = rank,
                                .block_start = lift->block_start,
                                .hessian = lift->hessian,
                                .g = lift->g,
                                .contact_count = problem->contacts,
                                .row_start = lift->row_start,
                                .dof_start = lift->dof_start,
                                .dofs = lift->dofs,
                                .jacobian = lift->jacobian,
                                .slack_start = lift->row_start,
                                .offset = problem->q};
    *contact_friction = (perp_contact_friction){system, problem->mu};
    return PERP_STATUS_OK;
}
