/* Velocities that forces cause, body by body: P = (A + rho I)^-1 by block, and the rows of contacts, bounds and
 * equations one after the other, for Gauss-Seidel.
 *
 * Where A is not definite rho takes its place, around a centre. An unknown that an equation of one entry commands does
 * not move; equations of several entries are rows of their own, without a cone. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"

#include <string.h>

enum { BLOCK = 64 }; /* unknowns of the largest body (a robot) that is taken */

bool perp_friction_commands(const perp_contact_qp *p, int equation)
{
    const int first = p->equality_start[equation];
    return p->equality_start[equation + 1] == first + 1 && p->equality_values[first] != 0.0;
}

/* P of one block; rows of what is commanded are zero. False where A + rho I is not definite. */
static bool invert_block(const double *stiffness, int size, double rho, const bool *fixed, double *inverse)
{
    double factor[BLOCK * BLOCK];
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            const bool free = !fixed[i] && !fixed[j];
            const double entry = stiffness && free ? stiffness[i * size + j] : 0.0;
            factor[i * size + j] = entry + (i != j ? 0.0 : free ? rho : 1.0);
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

bool perp_friction_bodies_invert(perp_friction_workspace *f, double rho)
{
    const perp_contact_qp *p = &f->scaled;
    memset(f->fixed_dof, 0, (size_t)p->n * sizeof *f->fixed_dof);
    for (int i = 0; i < p->equality_count; i++) {
        if (perp_friction_commands(p, i)) {
            f->fixed_dof[p->equality_dofs[p->equality_start[i]]] = true;
        }
    }
    const double *stiffness = p->hessian;
    double *inverse = f->inverse;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        if (size > BLOCK || !invert_block(stiffness, size, rho, f->fixed_dof + first, inverse)) {
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

void perp_friction_respond(const perp_friction_workspace *f, const perp_friction_rows *g, const double *force,
                           double *v)
{
    const int *block_start = f->scaled.block_start;
    for (int k = 0; k < g->columns; k++) {
        const int block = f->block_of[g->dofs[k]], first = block_start[block];
        perp_dense_subtract(block_start[block + 1] - first, -force[k], f->response_of[g->dofs[k]], v + first);
    }
}

bool perp_friction_next_rows(const perp_friction_workspace *f, int index, perp_friction_rows *g)
{
    const perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    if (index == 0) {
        *g = (perp_friction_rows){.jacobian = p->jacobian, .w = f->own_w};
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
        *g = (perp_friction_rows){1, 1, &c->bound_dof[bound], &c->bound_sign[bound], g->w};
    } else if (equation < p->equality_count) {
        const int first = p->equality_start[equation];
        *g = (perp_friction_rows){1, p->equality_start[equation + 1] - first, p->equality_dofs + first,
                                  p->equality_values + first, &f->loop_w[equation]};
    } else {
        return false;
    }
    return true;
}

void perp_friction_bodies_velocity(perp_friction_workspace *f, double rho)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    double *sum = f->residual, *v = c->at.x;
    for (int j = 0; j < c->n; j++) {
        v[j] = f->fixed_dof[j] ? v[j] : 0.0;
    }
    perp_convex_dual_residual(c, &c->at, sum); /* A v + f - H'r - C'y, of v what is commanded alone */
    for (int j = 0; j < c->n; j++) {
        sum[j] = rho * f->centre_x[j] - sum[j];
    }
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = first; i < first + size; i++) {
            if (!f->fixed_dof[i]) {
                v[i] = perp_dense_dot(size, f->response_of[i], sum + first);
            }
        }
    }
}

void perp_friction_bodies_hold(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    perp_convex_dual_residual(c, &c->at, f->residual);
    for (int i = 0; i < p->equality_count; i++) {
        if (perp_friction_commands(p, i)) {
            const int dof = p->equality_dofs[p->equality_start[i]];
            c->at.z[i] += f->residual[dof] / p->equality_values[p->equality_start[i]];
            f->residual[dof] = 0.0;
        }
    }
}

void perp_friction_bodies_begin(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    memset(c->at.x, 0, (size_t)c->n * sizeof(double));
    memset(c->at.y, 0, (size_t)c->m * sizeof(double));
    memset(c->at.z, 0, (size_t)c->e * sizeof(double));
    for (int i = 0; i < p->equality_count; i++) {
        if (perp_friction_commands(p, i)) {
            const int first = p->equality_start[i];
            c->at.x[p->equality_dofs[first]] = p->equality_target[i] / p->equality_values[first];
        }
    }
    memcpy(f->centre_x, c->at.x, (size_t)c->n * sizeof(double));
}
