/* The least motion, and bodies held near one: for problems without inertia.
 *
 * What nothing drives has no reason to move but contacts that push it. So of all motions without penetration the least
 * one, with what is driven on its own way (min 1/2 v'A v + f_d'v + what moves without being driven), often has the
 * slips of a solution, and then the forces are those of one convex problem: whatever squeeze is needed is found, as no
 * start of a local method has to bring it about. Where the slips are not those yet, the fixed point on the shift
 * (friction_shift.c) goes on from there, its problems held near the last motion by rho where A has nothing: without
 * that a body that friction holds falls away before the forces that hold it are there. */
#include "solver/friction_core.h"

#include <math.h>
#include <string.h>

/* H of `held`: A, and rho where its diagonal has nothing, or everywhere. g: f less rho times the centre; `still`: the
 * motion is sought, and f counts only for what is not held. */
static void restrain(perp_friction_workspace *f, double rho, bool all, bool still)
{
    const perp_contact_qp *p = &f->scaled;
    ptrdiff_t from = 0;
    for (int k = 0; k < p->block_count; k++) {
        const int first = p->block_start[k], size = p->block_start[k + 1] - first;
        for (int i = 0; i < size * size; i++) {
            f->held_hessian[from + i] = p->hessian ? p->hessian[from + i] : 0.0;
        }
        for (int i = 0; i < size; i++) {
            double *own = &f->held_hessian[from + (ptrdiff_t)i * (size + 1)];
            const bool free = !all && *own > 0.0;
            const double f_i = p->g[first + i];
            f->held_g[first + i] = free ? f_i : still ? 0.0 : f_i - rho * f->centre_x[first + i];
            *own += free ? 0.0 : rho;
        }
        from += (ptrdiff_t)size * size;
    }
}

bool perp_friction_holds_some(const perp_friction_workspace *f)
{
    const perp_contact_qp *p = &f->scaled;
    const double *h = p->hessian;
    for (int k = 0; h && k < p->block_count; k++) {
        const int size = p->block_start[k + 1] - p->block_start[k];
        for (int i = 0; i < size; i++) {
            if (!(h[(ptrdiff_t)i * (size + 1)] > 0.0)) {
                return true;
            }
        }
        h += (ptrdiff_t)size * size;
    }
    return !h;
}

bool perp_friction_hold(perp_friction_workspace *f, double rho, bool all)
{
    restrain(f, rho, all, false);
    f->held = f->scaled;
    f->held.hessian = f->held_hessian;
    f->held.g = f->held_g;
    return perp_convex_setup(f->convex, &f->held, NULL) == PERP_STATUS_OK &&
           perp_kkt_lu_setup(&f->lu, &f->convex->kkt) == PERP_STATUS_OK;
}

void perp_friction_release(perp_friction_workspace *f)
{
    perp_convex_setup(f->convex, &f->scaled, NULL); /* it fitted before */
    perp_kkt_lu_setup(&f->lu, &f->convex->kkt);
    f->convex->best_is_least = false; /* that was said of the held problem */
}

bool perp_friction_least_motion(perp_friction_workspace *f, bool all)
{
    enum { ITERATIONS = 60 };
    static const double STILL = 100.0, ENOUGH = 1e-9; /* beside a stiffness of one */
    perp_convex_workspace *c = f->convex;
    perp_convex_copy(c, &c->best, &f->solved); /* the arrays of `convex` are laid out anew */
    restrain(f, STILL, all, true);
    perp_friction_take_normals(f, &f->held);
    f->held.hessian = f->held_hessian;
    f->held.g = f->held_g;
    bool found = false;
    if (perp_convex_setup(c, &f->held, NULL) == PERP_STATUS_OK) {
        const int factorisations = c->factorisations;
        c->best_residual = INFINITY;
        c->best_parts = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
        c->tolerance = ENOUGH;
        c->cancel = f->cancel;
        found = perp_convex_ipm(c, &(perp_convex_attempt){ITERATIONS, false, 0.99, 1e-8, 1e-8, false, 0, 0.0}) ==
                PERP_OUTCOME_SOLVED;
        memcpy(f->centre_x, c->best.x, (size_t)c->n * sizeof(double));
        f->factorisations += c->factorisations - factorisations;
    }
    perp_friction_release(f);
    perp_convex_copy(c, &f->solved, &c->best);
    return found;
}
