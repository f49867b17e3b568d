/* Gauss-Seidel for Coulomb friction, contact by contact, and semismooth Newton with much damping from what it gives.
 *
 * Every contact's own problem, u = b + W_ii r, is solved exactly while the others wait; the velocities of the bodies
 * follow at once, v += P H_i'dr by P = A^-1 of each body. A sweep costs about as much as a product with H. It needs
 * neither an interior nor a derivative, and where forces are far from unique it settles on modest ones: a start that no
 * interior point gives. In the form without bodies u = q + W r is summed as it stands. */
#include "linalg/dense.h"
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* A contact, a bound or an equation: rows on some unknowns. An equation of one entry commands an unknown, which does
 * not move; one of several entries is a row without a cone. */
typedef struct contact_rows {
    int rows, columns;
    const int *dofs;
    const double *jacobian;
    double *w; /* for J P J' */
} contact_rows;

enum { BLOCK = 64 }; /* unknowns of the largest body (a robot) that is taken */

/* Whether an equation commands one unknown. */
static bool commands(const perp_contact_qp *p, int equation)
{
    const int first = p->equality_start[equation];
    return p->equality_start[equation + 1] == first + 1 && p->equality_values[first] != 0.0;
}

/* P of one block; rows of what is commanded are zero. False where A is not definite. */
static bool invert_block(const double *stiffness, int size, const bool *fixed, double *inverse)
{
    double factor[BLOCK * BLOCK];
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            const bool free = !fixed[i] && !fixed[j];
            const double entry = stiffness && free ? stiffness[i * size + j] : 0.0;
            factor[i * size + j] = entry + (i != j || free ? 0.0 : 1.0);
        }
    }
    if (perp_cholesky_factor(size, factor, size, NULL) != PERP_STATUS_OK) {
        return false;
    }
    memset(inverse, 0, (size_t)(size * size) * sizeof *inverse);
    for (int i = 0; i < size; i++) {
        inverse[i * size + i] = fixed[i] ? 0.0 : 1.0;
        perp_cholesky_solve(size, factor, size, inverse + (ptrdiff_t)i * size);
    }
    return true;
}

/* Which unknowns are commanded, and P; false where A is not definite, or a body has too many unknowns. */
static bool invert_bodies(perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    memset(f->fixed_dof, 0, (size_t)p->n * sizeof *f->fixed_dof);
    for (int i = 0; i < p->equality_count; i++) {
        if (commands(p, i)) {
            f->fixed_dof[p->equality_dofs[p->equality_start[i]]] = true;
        }
    }
    const double *stiffness = p->hessian;
    double *inverse = f->inverse;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        if (size > BLOCK || !invert_block(stiffness, size, f->fixed_dof + first, inverse)) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            f->response_of[first + i] = inverse + (ptrdiff_t)i * size;
            f->block_of[first + i] = k;
        }
        stiffness = stiffness ? stiffness + (ptrdiff_t)size * size : NULL;
        inverse += (ptrdiff_t)size * size;
    }
    return true;
}

/* v += P force, of a force on the unknowns of `g`. */
static void respond(const perp_friction_workspace *f, const contact_rows *g, const double *force, double *v)
{
    const int *block_start = f->scaled.block_start;
    for (int k = 0; k < g->columns; k++) {
        const int block = f->block_of[g->dofs[k]], first = block_start[block];
        perp_dense_subtract(block_start[block + 1] - first, -force[k], f->response_of[g->dofs[k]], v + first);
    }
}

/* One after the other: `index` counts contacts, then bounds, then equations. False after the last. */
static bool next_rows(const perp_friction_workspace *f, int index, contact_rows *g)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    if (index == 0) {
        *g = (contact_rows){.jacobian = p->jacobian, .w = f->own_w};
    }
    const int bound = index - p->contact_count, equation = bound - c->bounds;
    if (index < p->contact_count) {
        g->jacobian += (ptrdiff_t)g->rows * g->columns;
        g->w += (ptrdiff_t)g->rows * g->rows;
        g->rows = p->row_start[index + 1] - p->row_start[index];
        g->columns = p->dof_start[index + 1] - p->dof_start[index];
        g->dofs = p->dofs + p->dof_start[index];
    } else if (bound < c->bounds) {
        g->w += (ptrdiff_t)g->rows * g->rows;
        *g = (contact_rows){1, 1, &c->bound_dof[bound], &c->bound_sign[bound], g->w};
    } else if (equation < p->equality_count) {
        const int first = p->equality_start[equation];
        *g = (contact_rows){1, p->equality_start[equation + 1] - first, p->equality_dofs + first,
                            p->equality_values + first, &f->loop_w[equation]};
    } else {
        return false;
    }
    return true;
}

/* v of the forces at hand. */
static void find_velocity(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *sum = f->residual, *v = c->at.x;
    for (int j = 0; j < c->n; j++) {
        v[j] = f->fixed_dof[j] ? v[j] : 0.0;
    }
    perp_convex_dual_residual(c, &c->at, sum); /* A v + f - H'r - C'y, of v what is commanded alone */
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = first; i < first + size; i++) {
            if (!f->fixed_dof[i]) {
                v[i] = -perp_dense_dot(size, f->response_of[i], sum + first);
            }
        }
    }
}

/* Forces of the equations that command an unknown: what its balance lacks. */
static void hold_commanded(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    perp_convex_dual_residual(c, &c->at, f->residual);
    for (int i = 0; i < p->equality_count; i++) {
        if (commands(p, i)) {
            const int dof = p->equality_dofs[p->equality_start[i]];
            c->at.z[i] += f->residual[dof] / p->equality_values[p->equality_start[i]];
            f->residual[dof] = 0.0;
        }
    }
}

/* No forces; of v only what is commanded. */
static void begin_at_rest(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    perp_friction_clear(f, &c->at);
    for (int i = 0; i < p->equality_count; i++) {
        if (commands(p, i)) {
            const int first = p->equality_start[i];
            c->at.x[p->equality_dofs[first]] = p->equality_target[i] / p->equality_values[first];
        }
    }
}

/* ---- set-up ----------------------------------------------------------------------------------------------------- */

static void measure_bodies(perp_friction_workspace *f)
{
    double *change = f->rd_change;
    contact_rows g;
    memset(change, 0, (size_t)f->convex->n * sizeof *change);
    for (int index = 0; next_rows(f, index, &g); index++) {
        for (int r = 0; r < g.rows; r++) {
            respond(f, &g, g.jacobian + (ptrdiff_t)r * g.columns, change);
            for (int q = 0; q < g.rows; q++) {
                double sum = 0.0;
                for (int k = 0; k < g.columns; k++) {
                    sum += g.jacobian[(ptrdiff_t)q * g.columns + k] * change[g.dofs[k]];
                }
                g.w[q * g.rows + r] = sum;
            }
            for (int k = 0; k < g.columns; k++) {
                const int block = f->block_of[g.dofs[k]], first = f->scaled.block_start[block];
                memset(change + first, 0, (size_t)(f->scaled.block_start[block + 1] - first) * sizeof *change);
            }
        }
    }
}

static void measure_dense(perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    const int m = f->convex->m;
    double *w = f->own_w;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        for (int r = 0; r < rows; r++, w += rows) {
            memcpy(w, f->w + (ptrdiff_t)(start + r) * m + start, (size_t)rows * sizeof *w);
        }
    }
}

/* ---- a sweep ---------------------------------------------------------------------------------------------------- */

/* The change of a contact's force for its u: `part` of the way to the solution of its own problem. */
static void relax(int rows, const double *w, const double *u, double part, double *y, double *change)
{
    double b[3] = {0.0}, r[3] = {0.0};
    assert(rows >= 1 && rows <= 3);
    for (int i = 0; i < rows; i++) {
        b[i] = u[i];
        for (int k = 0; k < rows; k++) {
            b[i] -= w[i * rows + k] * y[k];
        }
    }
    if (!perp_friction_one_contact(rows, w, rows, b, r)) {
        memset(r, 0, sizeof r);
    }
    for (int i = 0; i < rows; i++) {
        change[i] = part * (r[i] - y[i]);
        y[i] += change[i];
    }
}

/* u of a group's rows. */
static void approach(const contact_rows *g, const double *v, double *u)
{
    for (int r = 0; r < g->rows; r++) {
        for (int k = 0; k < g->columns; k++) {
            u[r] += g->jacobian[(ptrdiff_t)r * g->columns + k] * v[g->dofs[k]];
        }
    }
}

static void sweep_bodies(perp_friction_workspace *f, double part)
{
    perp_convex_workspace *c = f->convex;
    const int contacts = f->scaled.contact_count;
    double *force = f->correction;
    contact_rows g;
    for (int index = 0; next_rows(f, index, &g); index++) {
        const bool loop = index >= contacts + c->bounds, bound = !loop && index >= contacts;
        const int row = loop    ? index - contacts - c->bounds
                        : bound ? c->contact_slacks + index - contacts
                                : f->scaled.row_start[index];
        const double *offset = bound ? &c->bound_offset[index - contacts] : f->offset + row;
        double u[3] = {0.0}, change[3] = {0.0};
        if (loop && !(g.w[0] > 0.0)) {
            continue; /* commanded */
        }
        for (int r = 0; r < g.rows; r++) {
            u[r] = loop ? -f->equality_target[row] : offset[r];
        }
        approach(&g, c->at.x, u);
        if (loop) {
            change[0] = -part * u[0] / g.w[0];
            c->at.z[row] += change[0];
        } else {
            relax(g.rows, g.w, u, part, c->at.y + row, change);
        }
        for (int k = 0; k < g.columns; k++) {
            force[k] = 0.0;
            for (int r = 0; r < g.rows; r++) {
                force[k] += g.jacobian[(ptrdiff_t)r * g.columns + k] * change[r];
            }
        }
        respond(f, &g, force, c->at.x);
    }
}

static void sweep_dense(perp_friction_workspace *f, double part)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    const int m = c->m;
    const double *w = f->own_w;
    for (int i = 0; i < p->contact_count; i++) {
        const int start = p->row_start[i], rows = p->row_start[i + 1] - start;
        double u[3], change[3];
        if (f->has_sparse) {
            perp_friction_sparse_multiply_contact(&f->sparse, i, c->at.y, u);
        }
        for (int r = 0; r < rows; r++) {
            u[r] = f->q[start + r] +
                   (f->has_sparse ? u[r] : perp_dense_dot(m, f->w + (ptrdiff_t)(start + r) * m, c->at.y));
        }
        relax(rows, w, u, part, c->at.y + start, change);
        w += (ptrdiff_t)rows * rows;
    }
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

/* False where the method is for other problems. */
static bool start(perp_friction_workspace *f)
{
    if (f->local) {
        perp_friction_clear(f, &f->convex->at);
        measure_dense(f);
        return true;
    }
    if (!invert_bodies(f)) {
        return false;
    }
    begin_at_rest(f);
    measure_bodies(f);
    return true;
}

static bool end(perp_friction_workspace *f)
{
    const perp_friction_damping dampings[] = {{FRICTION_DAMPING_MOST, FRICTION_DAMPING, 40, 20, 0.0},
                                              {FRICTION_DAMPING_FAR, 0.3, 400, 100, 0.0},
                                              {FRICTION_DAMPING_FAR, 3.0, 400, 100, 0.0}};
    if (!f->local) {
        hold_commanded(f);
    }
    return perp_friction_newton_from(f, &f->convex->at, dampings, 3);
}

bool perp_friction_gauss_seidel(perp_friction_workspace *f, const perp_friction_sweeping *how)
{
    enum { FIRST = 20, MOST = 640, WORTH = 4 }; /* WORTH sweeps take the time of a factorisation */
    if (!start(f)) {
        return false;
    }
    for (int k = 0, sweeps = FIRST; k < how->rounds && !perp_friction_must_stop(f); k++) {
        if (!f->local) {
            find_velocity(f);
        }
        for (int s = 0; s < sweeps && !(f->cancel && *f->cancel); s++) {
            if (f->local) {
                sweep_dense(f, how->part);
            } else {
                sweep_bodies(f, how->part);
            }
        }
        f->iterations += sweeps;
        f->factorisations += sweeps / WORTH;
        sweeps = k > 0 && 2 * sweeps <= MOST ? 2 * sweeps : sweeps;
        if (end(f)) {
            return true;
        }
    }
    return false;
}
