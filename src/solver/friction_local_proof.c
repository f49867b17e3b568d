/* The proof that a local problem has no solution: no forces of the cones open all contacts,
 *
 *     no r in K with (W r + q)_N >= 0,
 *
 * which every solution does. That is a cone problem in r without an objective, and the convex engine's proof (weights y
 * >= 0 on the normal rows with -W_N'y in the dual cones and q_N'y < 0) is one for any W, symmetric or not. Its normal
 * rows count as full, so that memory for one W is enough for every other of its size. */
#include "solver/friction_core.h"
#include "solver/slice.h"

#include <math.h>
#include <string.h>

static void lay_out(perp_friction_workspace *f, perp_slice *s)
{
    perp_friction_proof *p = &f->proof;
    const size_t contacts = (size_t)f->scaled.contact_count, m = (size_t)f->row_start[f->scaled.contact_count];
    p->row_start = perp_slice_cut(s, 2 * contacts + 1, sizeof(int));
    p->dof_start = perp_slice_cut(s, 2 * contacts + 1, sizeof(int));
    p->dofs = perp_slice_cut(s, m + contacts * m, sizeof(int));
    p->quadratic = perp_slice_cut(s, 2 * contacts, sizeof(bool));
    p->jacobian = perp_slice_cut(s, 3 * m + contacts * m, sizeof(double));
    p->offset = perp_slice_cut(s, m + contacts, sizeof(double));
    p->g = perp_slice_cut(s, m, sizeof(double));
}

/* The cones of all contacts, then their normal rows. */
static void make_problem(perp_friction_workspace *f)
{
    perp_friction_proof *p = &f->proof;
    const int contacts = f->scaled.contact_count, m = f->row_start[contacts];
    double *entry = p->jacobian;
    p->row_start[0] = p->dof_start[0] = 0;
    memset(p->g, 0, (size_t)m * sizeof(double));
    for (int i = 0; i < contacts; i++) {
        const int first = f->row_start[i], rows = f->row_start[i + 1] - first;
        for (int r = 0; r < rows; r++) {
            p->dofs[first + r] = first + r;
            p->offset[first + r] = 0.0;
            for (int c = 0; c < rows; c++) {
                *entry++ = r == c ? 1.0 : 0.0;
            }
        }
        p->row_start[i + 1] = p->dof_start[i + 1] = first + rows;
        p->quadratic[i] = rows > 1;
    }
    for (int i = 0; i < contacts; i++) {
        const int k = contacts + i;
        memcpy(entry, f->w + (ptrdiff_t)f->row_start[i] * m, (size_t)m * sizeof *entry);
        entry += m;
        for (int c = 0; c < m; c++) {
            p->dofs[p->dof_start[k] + c] = c;
        }
        p->offset[m + i] = f->q[f->row_start[i]];
        p->quadratic[k] = false;
        p->row_start[k + 1] = p->row_start[k] + 1;
        p->dof_start[k + 1] = p->dof_start[k] + m;
    }
    p->problem = (perp_contact_qp){.n = m,
                                   .block_count = contacts,
                                   .block_start = f->row_start,
                                   .g = p->g,
                                   .contact_count = 2 * contacts,
                                   .row_start = p->row_start,
                                   .slack_start = p->row_start,
                                   .dof_start = p->dof_start,
                                   .dofs = p->dofs,
                                   .jacobian = p->jacobian,
                                   .offset = p->offset,
                                   .quadratic = p->quadratic};
}

/* The convex workspace on the proof's problem. */
static perp_status set_up(perp_friction_workspace *f)
{
    perp_slice sizes = {NULL, 0};
    lay_out(f, &sizes);
    const perp_status status = perp_kkt_hold(&f->convex->kkt, &f->proof.memory, sizes.bytes);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_slice give = {f->proof.memory.data, 0};
    lay_out(f, &give);
    make_problem(f);
    return perp_convex_setup(f->convex, &f->proof.problem, NULL);
}

static bool suits(const perp_friction_workspace *f)
{
    enum { ROWS = 300 }; /* the factors are full */
    return f->local && f->row_start[f->scaled.contact_count] <= ROWS;
}

perp_status perp_friction_local_proof_reserve(perp_friction_workspace *f)
{
    if (!suits(f)) {
        return PERP_STATUS_OK;
    }
    const perp_status status = set_up(f), restored = perp_convex_setup(f->convex, &f->scaled, NULL);
    return status == PERP_STATUS_OK ? restored : status;
}

double perp_friction_local_prove(perp_friction_workspace *f, double enough)
{
    perp_convex_workspace *c = f->convex;
    bool feasible = false;
    if (!suits(f)) {
        return INFINITY;
    }
    perp_friction_export(f, &c->best); /* the arrays of `convex` are laid out anew */
    double measure = INFINITY;
    if (set_up(f) == PERP_STATUS_OK) {
        c->tolerance = f->tolerance;
        c->cancel = f->cancel;
        measure = perp_convex_prove_infeasible(c, enough, &feasible);
    }
    perp_friction_restore(f);
    perp_friction_import(f, &f->point, &c->best);
    return measure <= enough ? measure : INFINITY;
}
