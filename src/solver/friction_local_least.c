/* Forces of least norm for a local problem: with W = L L' it is one of bodies, a unit mass for each column of L, and
 * those have a method for it. W has to be symmetric and semidefinite for that, as every W of mechanics is. */
#include "problem/conversions.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"
#include "solver/slice.h"

#include <string.h>

static bool suits(const perp_friction *problem)
{
    enum { ROWS = 300 }; /* the factors are full */
    return problem->contacts * problem->dim <= ROWS;
}

static void lay_out(perp_friction_lifted *lifted, const perp_friction *problem, perp_slice *s)
{
    const size_t contacts = (size_t)problem->contacts, size = contacts * (size_t)problem->dim;
    perp_friction_lift *lift = &lifted->lift;
    lift->factor = perp_slice_cut(s, size * size, sizeof(double));
    lift->order = perp_slice_cut(s, size, sizeof(int));
    lift->block_start = perp_slice_cut(s, size + 1, sizeof(int));
    lift->hessian = perp_slice_cut(s, size, sizeof(double));
    lift->g = perp_slice_cut(s, size, sizeof(double));
    lift->row_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    lift->dof_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    lift->dofs = perp_slice_cut(s, contacts * size, sizeof(int));
    lift->jacobian = perp_slice_cut(s, size * size, sizeof(double));
    lifted->v = perp_slice_cut(s, size, sizeof(double));
}

/* BAD_INPUT: W is not L L'. */
static perp_status set_up(perp_friction_workspace *f, const perp_friction *problem)
{
    perp_friction_lifted *lifted = &f->lifted;
    perp_slice sizes = {NULL, 0};
    lay_out(lifted, problem, &sizes);
    perp_status status = perp_kkt_hold(&f->convex->kkt, &lifted->memory, sizes.bytes);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_slice give = {lifted->memory.data, 0};
    lay_out(lifted, problem, &give);
    status = perp_friction_as_contact_friction(problem, &lifted->lift, &lifted->system, &lifted->problem, NULL);
    return status == PERP_STATUS_OK ? perp_friction_setup_contact(lifted->solver, &lifted->problem, NULL) : status;
}

perp_status perp_friction_local_least_reserve(perp_friction_workspace *f, const perp_friction *problem)
{
    if (!suits(problem)) {
        return PERP_STATUS_OK;
    }
    perp_status status = PERP_STATUS_OK;
    if (!f->lifted.solver) {
        status = perp_friction_workspace_create(&f->allocator, &f->lifted.solver, NULL);
    }
    if (status == PERP_STATUS_OK) {
        f->lifted.solver->convex->kkt.may_grow = true;
        status = set_up(f, problem);
        f->lifted.solver->convex->kkt.may_grow = false;
    }
    return status == PERP_STATUS_BAD_INPUT ? PERP_STATUS_OK : status;
}

/* v = L'r */
static void find_velocity(perp_friction_lifted *lifted, const double *r)
{
    const perp_contact_qp *p = &lifted->system;
    const double *entry = p->jacobian;
    memset(lifted->v, 0, (size_t)p->n * sizeof(double));
    for (int i = 0; i < p->contact_count; i++) {
        for (int row = p->row_start[i]; row < p->row_start[i + 1]; row++) {
            for (int k = p->dof_start[i]; k < p->dof_start[i + 1]; k++) {
                lifted->v[p->dofs[k]] += *entry++ * r[row];
            }
        }
    }
}

bool perp_friction_local_least(perp_friction_workspace *f, const perp_friction *problem,
                               const perp_friction_settings *settings, double *r)
{
    perp_friction_lifted *lifted = &f->lifted;
    perp_friction_workspace *g = lifted->solver;
    if (!suits(problem) || !g || set_up(f, problem) != PERP_STATUS_OK) {
        return false;
    }
    find_velocity(lifted, r);
    const perp_convex_point known = {.x = lifted->v, .y = r};
    perp_friction_reset(g, settings);
    perp_friction_import(g, &known, &g->convex->at);
    if (!perp_friction_judge(g, &g->convex->at) || !perp_friction_minimum_norm(g)) {
        return false;
    }
    perp_friction_export(g, &g->convex->best);
    double near;
    if (!(perp_friction_residual_with(problem, g->point.y, g->unit, &near) <= settings->tolerance)) {
        return false;
    }
    memcpy(r, g->point.y, (size_t)(problem->contacts * problem->dim) * sizeof *r);
    return true;
}
