/* What a convex problem says about a friction problem: its forces of least norm, and proofs that there is no solution.
 *
 * With the shift |u_T| of a solution as a constant in the offset, its velocities and forces solve a convex cone
 * problem, and every other multiplier of that with the same slacks has the same velocities and modes: where z = 0
 * (sticking) any force of the cone, where z is on the border (sliding) one along the opposite ray, else none. */
#include "solver/friction_core.h"
#include "solver/tolerances.h"

#include <math.h>
#include <string.h>

/* The shift at `at` as part of the offset. */
static void freeze_shift(perp_friction_workspace *f, const perp_convex_iterate *at)
{
    const perp_convex_workspace *c = f->convex;
    perp_friction_look(f, at);
    memcpy(f->free_offset, f->offset, (size_t)c->contact_slacks * sizeof(double));
    for (int k = 0; k < c->cone_count; k++) {
        const int start = c->cones[k].start;
        f->free_offset[start] += f->z[start] - f->u[start];
    }
    f->scaled.offset = f->free_offset;
}

bool perp_friction_minimum_norm(perp_friction_workspace *f)
{
    enum { STEPS = 3 };
    perp_convex_workspace *c = f->convex;
    if (f->local || f->best_residual > f->tolerance) {
        return false;
    }
    const double tolerance = f->tolerance;
    perp_convex_copy(c, &c->best, &c->kept);
    f->tolerance = LEAST_SHARPER; /* a few steps more: what sticks is known by the last digits */
    perp_friction_newton(f, &c->kept, STEPS);
    f->tolerance = tolerance;
    const double before = f->best_residual;
    const perp_contact_friction_residual before_parts = f->best_parts;
    freeze_shift(f, &c->best);
    c->tolerance = tolerance;
    c->cancel = f->cancel;
    c->best_residual = 0.0; /* so that the judge of the convex problem keeps `best` as it is */
    perp_convex_judge(c, &c->best);
    c->best_residual = c->judged;
    perp_convex_copy(c, &c->best, &f->solved);
    const int factorisations = c->factorisations;
    const bool found = perp_convex_minimum_norm(c);
    f->factorisations += c->factorisations - factorisations;
    f->scaled.offset = f->offset;
    if (found) {
        f->best_residual = 0.0;
        perp_friction_judge(f, &c->best);
        f->best_residual = f->judged;
        f->best_parts = f->judged_parts;
    }
    if (!found || f->best_residual > tolerance) {
        perp_convex_copy(c, &f->solved, &c->best);
        f->best_residual = before;
        f->best_parts = before_parts;
        return false;
    }
    return true;
}

void perp_friction_take_normals(perp_friction_workspace *f, perp_contact_qp *normals)
{
    const perp_contact_qp *p = &f->scaled;
    const double *from = p->jacobian;
    double *to = f->normal_jacobian;
    *normals = *p;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        f->normal_start[i] = i;
        f->free_offset[i] = f->offset[p->row_start[i]];
        if (columns > 0) {
            memcpy(to, from, (size_t)columns * sizeof *to);
            to += columns;
            from += (ptrdiff_t)rows * columns;
        }
    }
    f->normal_start[p->contact_count] = p->contact_count;
    normals->row_start = normals->slack_start = f->normal_start;
    normals->jacobian = f->normal_jacobian;
    normals->offset = f->free_offset;
    normals->quadratic = NULL;
}

void perp_friction_restore(perp_friction_workspace *f)
{
    perp_convex_setup(f->convex, &f->scaled, NULL); /* it fitted before */
    perp_kkt_lu_setup(&f->lu, &f->convex->kkt);
    f->convex->best_is_least = false; /* that was said of the other problem */
}

double perp_friction_prove_infeasible(perp_friction_workspace *f)
{
    perp_convex_workspace *c = f->convex;
    if (f->local) {
        return perp_friction_local_prove(f, PROOF_GOOD);
    }
    c->tolerance = f->tolerance;
    c->cancel = f->cancel;
    const double forces =
        perp_convex_prove_unbounded(c); /* a motion that no force of the cones can hold, and f drives */
    if (forces <= PROOF_GOOD) {
        return forces;
    }
    perp_contact_qp normals;
    bool feasible = false;
    perp_friction_export(f, &c->best); /* the arrays of `convex` are laid out anew */
    perp_friction_take_normals(f, &normals);
    const double motions = perp_convex_setup(c, &normals, NULL) == PERP_STATUS_OK
                               ? perp_convex_prove_infeasible(c, PROOF_GOOD, &feasible)
                               : INFINITY;
    perp_friction_restore(f);
    perp_friction_import(f, &f->point, &c->best);
    return motions <= PROOF_GOOD ? motions : INFINITY;
}
