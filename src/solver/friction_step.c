/* Newton's step for Coulomb friction in its two forms: with bodies, on the contact-structured factorisation, and dense
 * in the forces. */
#include "linalg/dense.h"
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

void perp_friction_shift_omega(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *omega = c->omega;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int r = 0; r < rows; r++, omega += rows) {
            for (int k = 1; k < rows; k++) {
                omega[k] += omega[0] * f->t[start + k];
            }
        }
    }
}

static bool has_slip(const perp_friction_workspace *f)
{
    const perp_convex_workspace *c = f->convex;
    for (int k = 0; k < c->cone_count; k++) {
        for (int i = 1; i < c->cones[k].size; i++) {
            if (f->t[c->cones[k].start + i] != 0.0) {
                return true;
            }
        }
    }
    return false;
}

void perp_friction_factor(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    perp_convex_make_diagonal(c, f->rho, f->delta);
    f->symmetric = !has_slip(f);
    f->factorisations++;
    if (f->symmetric) {
        perp_convex_factor(c);
        return;
    }
    perp_kkt_lu_assemble(&f->lu, c->problem, c->omega, c->diagonal);
    perp_kkt_lu_factor(&f->lu);
}

/* out = Omega v */
static void apply_omega(const perp_friction_workspace *f, const double *v, double *out)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const double *omega = c->omega;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int r = 0; r < rows; r++, omega += rows) {
            double sum = 0.0;
            for (int k = 0; k < rows; k++) {
                sum += omega[k] * v[start + k];
            }
            out[start + r] = sum;
        }
    }
    for (int k = c->contact_slacks; k < c->m; k++) {
        out[k] = c->weight[k] * v[k];
    }
}

static void solve(perp_friction_workspace *f, double *rhs)
{
    if (f->symmetric) {
        perp_kkt_solve(&f->convex->kkt, rhs);
    } else {
        perp_kkt_lu_solve(&f->lu, rhs);
    }
}

/* rd_change = A dv - H'dr - C'dy, and what the step leaves of its equations, into `residual`; returns the largest. */
static double leave(perp_friction_workspace *f, const double *dr)
{
    perp_convex_workspace *c = f->convex;
    double *forces = c->product, largest = 0.0;
    const perp_contact_qp *p = &f->scaled;
    memset(forces, 0, (size_t)c->n * sizeof *forces);
    perp_convex_add_at(c, dr, forces);
    for (int i = 0; i < c->e; i++) {
        double sum = 0.0;
        for (int k = p->equality_start[i]; k < p->equality_start[i + 1]; k++) {
            forces[p->equality_dofs[k]] -= p->equality_values[k] * c->step[c->n + i];
            sum += p->equality_values[k] * c->step[p->equality_dofs[k]];
        }
        f->residual[c->n + i] = -c->rc[i] - sum - c->diagonal[c->n + i] * c->step[c->n + i];
        largest = fmax(largest, fabs(f->residual[c->n + i]));
    }
    perp_convex_h(c, c->step, f->rd_change);
    for (int i = 0; i < c->n; i++) {
        f->rd_change[i] -= forces[i];
        f->residual[i] = -c->rd[i] - f->rd_change[i] - f->rho * c->stiffness[i] * c->step[i];
        largest = fmax(largest, fabs(f->residual[i]));
    }
    return largest;
}

bool perp_friction_step(perp_friction_workspace *f, const double *a, double *dr)
{
    enum { PASSES = 3 };
    perp_convex_workspace *c = f->convex;
    double size = 0.0, before = INFINITY;
    memset(c->step, 0, (size_t)(c->n + c->e) * sizeof *c->step);
    perp_convex_add_at(c, a, c->step);
    for (int i = 0; i < c->n; i++) {
        c->step[i] -= c->rd[i];
        size = fmax(size, fabs(c->rd[i]));
    }
    for (int i = 0; i < c->e; i++) {
        c->step[c->n + i] = -c->rc[i];
        size = fmax(size, fabs(c->rc[i]));
    }
    solve(f, c->step);
    perp_convex_a(c, c->step, f->du);
    apply_omega(f, f->du, dr);
    for (int i = 0; i < c->m; i++) {
        dr[i] = a[i] - dr[i];
    }
    for (int k = 0; k < PASSES; k++) {
        const double left = leave(f, dr);
        if (!(left > STEP_LEFT * fmax(size, STEP_SIZE_LEAST)) || !(left < 0.5 * before)) {
            break;
        }
        before = left;
        memcpy(f->correction, f->residual, (size_t)(c->n + c->e) * sizeof *f->correction);
        solve(f, f->correction);
        perp_dense_subtract(c->n + c->e, -1.0, f->correction, c->step);
        perp_convex_a(c, f->correction, f->change);
        perp_dense_subtract(c->m, -1.0, f->change, f->du);
        apply_omega(f, f->change, f->weighed);
        perp_dense_subtract(c->m, 1.0, f->weighed, dr);
    }
    return perp_dense_is_finite(c->n + c->e, c->step) && perp_dense_is_finite(c->m, dr);
}

static bool factor_in_full(perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    const double *b = f->block_b, *g = f->block_g;
    const int m = f->convex->m;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int r = 0; r < rows; r++, b += rows, g += rows) {
            double *row = f->matrix + (ptrdiff_t)(start + r) * m;
            memset(row, 0, (size_t)m * sizeof *row);
            for (int k = 0; k < rows; k++) {
                if (g[k] != 0.0) {
                    perp_dense_subtract(m, -g[k], f->w + (ptrdiff_t)(start + k) * m, row);
                }
            }
            for (int k = 0; k < rows; k++) {
                row[start + k] += b[k];
            }
        }
    }
    return perp_lu_factor(m, f->matrix, m, f->pivots, NULL) == PERP_STATUS_OK;
}

bool perp_friction_factor_dense(perp_friction_workspace *f)
{
    f->factorisations++;
    f->in_full = !f->has_sparse;
    if (f->in_full) {
        return factor_in_full(f);
    }
    perp_friction_sparse_factor(&f->sparse, f->block_b, f->block_g);
    return true;
}

void perp_friction_multiply_dense(const perp_friction_workspace *f, const double *r, double *u)
{
    const int m = f->convex->m;
    if (f->has_sparse) {
        perp_friction_sparse_multiply(&f->sparse, r, u);
        return;
    }
    for (int i = 0; i < m; i++) {
        u[i] = perp_dense_dot(m, f->w + (ptrdiff_t)i * m, r);
    }
}

bool perp_friction_step_dense(perp_friction_workspace *f, double *dr)
{
    const int m = f->convex->m;
    if (!f->in_full && !perp_friction_sparse_solve(&f->sparse, f->block_b, f->block_g, dr)) {
        f->in_full = true;
        if (!factor_in_full(f)) {
            return false;
        }
    }
    if (f->in_full) {
        perp_lu_solve(m, f->matrix, m, f->pivots, dr);
    }
    perp_friction_multiply_dense(f, dr, f->du);
    return perp_dense_is_finite(m, dr) && perp_dense_is_finite(m, f->du);
}
