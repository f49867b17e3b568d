/* Projected Gauss-Seidel on the dense form: contact by contact r = P(r - rho (u + |u_T| e)), rho = 1 / |W_ii|. Slow,
 * but of another kind: it needs no derivative and no interior, and Newton finishes from what it gives. */
#include "linalg/dense_kernel.h"
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* The force of the rows start .. start + rows - 1 from their u = q + W r. */
static void relax(perp_friction_workspace *f, int start, int rows, double *y)
{
    enum { LOCAL = 3 };
    const int m = f->convex->m;
    double trace = 0.0, projected[3];
    for (int r = 0; r < rows; r++) {
        trace += f->w[(ptrdiff_t)(start + r) * m + start + r];
    }
    const double rho = trace > 0.0 ? 1.0 / trace : 1.0;
    for (int k = 0; k < LOCAL; k++) {
        double slip = 0.0;
        for (int r = 0; r < rows; r++) {
            f->u[start + r] = f->q[start + r] + perp_dense_dot(m, f->w + (ptrdiff_t)(start + r) * m, y);
            slip += r > 0 ? f->u[start + r] * f->u[start + r] : 0.0;
        }
        for (int r = 0; r < rows; r++) {
            projected[r] = y[start + r] - rho * (f->u[start + r] + (r == 0 ? sqrt(slip) : 0.0));
        }
        perp_cone_project(rows, projected, projected);
        memcpy(y + start, projected, (size_t)rows * sizeof *y);
    }
}

bool perp_friction_gauss_seidel(perp_friction_workspace *f, int rounds)
{
    enum { FIRST = 20, MOST = 400, POLISH = 15 };
    perp_convex_workspace *c = f->convex;
    const perp_contact_qp *p = &f->scaled;
    int sweeps = FIRST;
    memset(c->at.y, 0, (size_t)c->m * sizeof(double));
    for (int k = 0; k < rounds && !perp_friction_must_stop(f); k++) {
        for (int s = 0; s < sweeps && !(f->cancel && *f->cancel); s++) {
            for (int i = 0; i < p->contact_count; i++) {
                relax(f, p->row_start[i], p->row_start[i + 1] - p->row_start[i], c->at.y);
            }
            for (int i = c->contact_slacks; i < c->m; i++) {
                relax(f, i, 1, c->at.y);
            }
        }
        f->iterations += sweeps;
        perp_convex_copy(c, &c->at, &c->kept);
        if (perp_friction_newton(f, &c->kept, POLISH)) {
            return true;
        }
        sweeps = 2 * sweeps < MOST ? 2 * sweeps : MOST;
    }
    return false;
}
