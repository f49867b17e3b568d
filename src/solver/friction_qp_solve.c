/* The friction QP by the methods for Coulomb's problem (friction_qp_as_friction.c). These end by Newton's method on a
 * natural map, so that x is sharp also where an element is at its disc's boundary and does not slip, which leaves an
 * interior point for the convex problem an error of the root of its tolerance. */
#include "base/settings_size.h"
#include "linalg/dense.h"
#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/friction_qp.h"
#include "solver/tolerances.h"

#include <perp/solver.h>

#include <math.h>
#include <string.h>

struct perp_friction_qp_workspace {
    perp_allocator allocator;
    perp_friction_workspace *friction;
    double *memory;
    ptrdiff_t room; /* doubles */
};

perp_status perp_friction_qp_workspace_create(const perp_allocator *allocator, perp_friction_qp_workspace **workspace,
                                              perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    *workspace = own.allocate(own.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a friction QP's workspace");
    }
    **workspace = (perp_friction_qp_workspace){.allocator = own};
    const perp_status status = perp_friction_workspace_create(&own, &(*workspace)->friction, error);
    if (status != PERP_STATUS_OK) {
        own.release(own.context, *workspace);
        *workspace = NULL;
    }
    return status;
}

void perp_friction_qp_workspace_free(perp_friction_qp_workspace *workspace)
{
    if (!workspace) {
        return;
    }
    const perp_allocator own = workspace->allocator;
    perp_friction_workspace_free(workspace->friction);
    if (workspace->memory) {
        own.release(own.context, workspace->memory);
    }
    own.release(own.context, workspace);
}

/* The friction problem's arrays: W, q, r, u, a warm start, mu, radii. H's factor, which is smaller, takes W's place
 * first. */
static ptrdiff_t room_for(const perp_friction_qp *p)
{
    const ptrdiff_t size = (ptrdiff_t)p->elements * (p->dim + 1);
    return size * size + 4 * size + 2 * p->elements + 1; /* never nothing */
}

typedef struct arrays {
    double *w, *q, *r, *u, *warm, *mu, *radius;
} arrays;

static arrays arrays_of(const perp_friction_qp *p, double *memory)
{
    const ptrdiff_t size = (ptrdiff_t)p->elements * (p->dim + 1);
    double *q = memory + size * size;
    return (arrays){memory, q, q + size, q + 2 * size, q + 3 * size, q + 4 * size, q + 4 * size + p->elements};
}

/* The friction problem's tolerance for ours: the same error in m/s at every element, whose scale there has the radius
 * in it, as q and as the force's own term; and a fourth of it, since a normal force that is off by it moves the
 * boundary of the disc. */
static double tolerance_inside(const perp_friction_qp *p, const perp_friction *friction, double tolerance)
{
    double least = 1.0;
    for (int i = 0; i < p->elements; i++) {
        double d = 1.0;
        for (int k = 0; k < p->dim; k++) {
            d = fmax(d, 1.0 + fabs(p->d[(ptrdiff_t)i * p->dim + k]));
        }
        least = fmin(least, d / (d + 2.0 * fabs(friction->q[(ptrdiff_t)i * friction->dim])));
    }
    return fmax(FINEST_TOLERANCE, 0.25 * tolerance * least);
}

/* Radii beyond what x can reach, which would only spoil the scale of the friction problem, are cut: of the condition
 * of optimality with 0 in place of x is left x'H x <= -x'd, so that |x|_H <= |d| in the norm of H^-1, and |x_i| is at
 * most that times the root of the greatest eigenvalue of H^-1's block i, for which its trace stands. The factor of H
 * shows that it is definite. */
static perp_status cut_radii(const perp_friction_qp *p, const arrays *a, perp_error *error)
{
    const int size = p->elements * p->dim;
    const perp_matrix_view column = {a->r, size, 1, 1};
    int failed = -1;
    if (size == 0) {
        return PERP_STATUS_OK;
    }
    memcpy(a->w, p->h, (size_t)size * (size_t)size * sizeof(double));
    if (perp_cholesky_factor(size, a->w, size, &failed) != PERP_STATUS_OK) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "H is not positive definite (row %d)", failed);
    }
    memcpy(a->r, p->d, (size_t)size * sizeof(double));
    perp_cholesky_solve_lower(size, a->w, size, column);
    const double reach = 2.0 * sqrt(perp_dense_dot(size, a->r, a->r)); /* with room for rounding */
    for (int i = 0; i < p->elements; i++) {
        double trace = 0.0;
        for (int k = i * p->dim; k < (i + 1) * p->dim; k++) {
            memset(a->r, 0, (size_t)size * sizeof(double));
            a->r[k] = 1.0;
            perp_cholesky_solve_lower(size, a->w, size, column);
            trace += perp_dense_dot(size, a->r, a->r);
        }
        const double most = reach * sqrt(trace);
        a->radius[i] = most > 0.0 ? fmin(p->radius[i], most) : p->radius[i];
    }
    return PERP_STATUS_OK;
}

perp_status perp_friction_qp_reserve(const perp_friction_qp *problem, perp_friction_qp_workspace *workspace,
                                     perp_error *error)
{
    const perp_status status = perp_friction_qp_check(problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const ptrdiff_t room = room_for(problem);
    if (room > workspace->room) {
        double *memory = workspace->allocator.allocate(workspace->allocator.context, (size_t)room * sizeof(double));
        if (!memory) {
            return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a friction QP of %d elements",
                             problem->elements);
        }
        if (workspace->memory) {
            workspace->allocator.release(workspace->allocator.context, workspace->memory);
        }
        workspace->memory = memory;
        workspace->room = room;
    }
    const arrays a = arrays_of(problem, workspace->memory);
    perp_friction friction;
    perp_friction_qp_as_friction(problem, a.w, a.q, a.mu, &friction);
    for (int i = 0; i < problem->elements; i++) {
        a.mu[i] = 1.0; /* a disc that has no radius now may have one in a later problem */
    }
    return perp_friction_reserve(&friction, workspace->friction, error);
}

/* Between x and the tangential parts of r. */
static void set_tangents(const perp_friction_qp *p, const double *x, double *r)
{
    for (int i = 0; i < p->elements; i++) {
        r[i * (p->dim + 1)] = p->radius[i];
        memcpy(r + i * (p->dim + 1) + 1, x + (ptrdiff_t)i * p->dim, (size_t)p->dim * sizeof *x);
    }
}

static void get_tangents(const perp_friction_qp *p, const double *r, double *x)
{
    for (int i = 0; i < p->elements; i++) {
        memcpy(x + (ptrdiff_t)i * p->dim, r + i * (p->dim + 1) + 1, (size_t)p->dim * sizeof *x);
        perp_friction_qp_project(p->dim, p->radius[i], x + (ptrdiff_t)i * p->dim);
    }
}

perp_status perp_friction_qp_solve(const perp_friction_qp *problem, const perp_friction_settings *settings,
                                   perp_friction_qp_workspace *workspace, double *x, double *slip,
                                   perp_friction_info *info, perp_error *error)
{
    perp_friction_settings inner = settings ? *settings : perp_friction_settings_default();
    const double tolerance = inner.tolerance;
    perp_status status = PERP_CHECK_SIZE(perp_friction_settings, &inner, error);
    status = status == PERP_STATUS_OK ? perp_friction_qp_check(problem, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (!(tolerance >= 4.0 * FINEST_TOLERANCE)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a tolerance of %g: it must be at least %g", tolerance,
                         4.0 * FINEST_TOLERANCE);
    }
    if (room_for(problem) > workspace->room) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a friction QP of %d elements: reserve the workspace for it",
                         problem->elements);
    }
    const arrays a = arrays_of(problem, workspace->memory);
    status = cut_radii(problem, &a, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_friction_qp cut = *problem;
    perp_friction friction;
    cut.radius = a.radius;
    perp_friction_qp_as_friction(&cut, a.w, a.q, a.mu, &friction);
    inner.tolerance = tolerance_inside(problem, &friction, tolerance);
    inner.minimum_norm = false; /* forces are unique */
    if (settings && settings->warm_r) {
        set_tangents(&cut, settings->warm_r, a.warm);
        inner.warm_r = a.warm;
    }
    status = perp_friction_solve(&friction, &inner, workspace->friction, a.r, a.u, info, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    get_tangents(&cut, a.r, x);
    perp_friction_qp_slip(problem, x, slip);
    info->residual = perp_friction_qp_residual(problem, x);
    info->minimum_norm = true; /* there is one */
    if (info->residual <= tolerance) {
        info->outcome = PERP_OUTCOME_SOLVED;
    } else if (info->outcome == PERP_OUTCOME_SOLVED) {
        info->outcome = PERP_OUTCOME_ITERATION_LIMIT;
    }
    return PERP_STATUS_OK;
}
