/* Coulomb friction of contacts that give way, in the unknowns of bodies alone.
 *
 * Contact i has unknowns d of its own, as many as rows, which nothing else moves: u = J v + w + d and a d + f = r. At a
 * given v it is one contact alone, u = a^-1 r + (s - a^-1 f), whose force is a function of s = J v + w; and where a =
 * diag(a_n, a_t, a_t)
 *
 *     r_n = max(0, f_n - a_n s_n),   r_t = f_t - a_t s_t, cut to the length mu r_n,
 *
 * since u_t = (r_t - (f_t - a_t s_t)) / a_t is then against r_t where it was cut, else 0. What is left are the balances
 * of bodies, which friction_soft_newton.c solves. */
#include "base/settings_size.h"
#include "solver/friction_soft_core.h"

#include "problem/natural_map.h"
#include "solver/friction_soft.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <perp/solver.h>

#include <math.h>
#include <string.h>

/* ---- the workspace ----------------------------------------------------------------------------------------------- */

perp_status perp_friction_soft_workspace_create(const perp_allocator *allocator,
                                                perp_friction_soft_workspace **workspace, perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    *workspace = own.allocate(own.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a workspace of soft friction");
    }
    **workspace = (perp_friction_soft_workspace){0};
    perp_kkt_init(&(*workspace)->kkt, &own);
    (*workspace)->lu.kkt = &(*workspace)->kkt;
    return PERP_STATUS_OK;
}

void perp_friction_soft_workspace_free(perp_friction_soft_workspace *workspace)
{
    if (!workspace) {
        return;
    }
    const perp_allocator own = workspace->kkt.allocator;
    perp_kkt_lu_free(&workspace->lu);
    perp_kkt_free(&workspace->kkt);
    if (workspace->memory.data) {
        own.release(own.context, workspace->memory.data);
    }
    own.release(own.context, workspace);
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static int contact_rows(const perp_contact_qp *p)
{
    return p->contact_count > 0 ? p->row_start[p->contact_count] : 0;
}

/* The last blocks are those of contacts, in order, with 1 in the rows of its contact alone. */
static bool is_soft(const perp_contact_friction *problem)
{
    const perp_contact_qp *p = problem->system;
    const int first = p->block_count - p->contact_count;
    if (first < 0 || !p->hessian || (p->lower == NULL) != (p->upper == NULL) ||
        p->block_start[first] != p->n - contact_rows(p)) {
        return false;
    }
    for (int i = 0; i < p->equality_count; i++) { /* ascending in a row */
        if (p->equality_start[i + 1] > p->equality_start[i] &&
            p->equality_dofs[p->equality_start[i + 1] - 1] >= p->block_start[first]) {
            return false;
        }
    }
    const double *jacobian = p->jacobian;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], columns = p->dof_start[i + 1] - p->dof_start[i];
        const int begin = p->block_start[first + i], *dofs = p->dofs + p->dof_start[i];
        if (rows > 3 || columns < rows || p->block_start[first + i + 1] - begin != rows) {
            return false;
        }
        for (int k = 0; k < columns - rows; k++) {
            if (dofs[k] >= p->block_start[first]) {
                return false;
            }
        }
        for (int r = 0; r < rows; r++) {
            const double *own = jacobian + (ptrdiff_t)(r + 1) * columns - rows;
            const bool bound =
                (p->lower && p->lower[begin + r] > -INFINITY) || (p->upper && p->upper[begin + r] < INFINITY);
            for (int k = 0; k < rows; k++) {
                if (own[k] != (k == r ? 1.0 : 0.0) || dofs[columns - rows + k] != begin + k || bound) {
                    return false;
                }
            }
        }
        jacobian += (ptrdiff_t)rows * columns;
    }
    return true;
}

static void lay_out(perp_friction_soft_workspace *f, perp_slice *s)
{
    const perp_contact_qp *p = f->given->system;
    const size_t contacts = (size_t)p->contact_count, rows = (size_t)contact_rows(p), n = (size_t)f->bodies.n;
    const size_t dofs = contacts > 0 ? (size_t)p->dof_start[contacts] : 0, e = (size_t)p->equality_count;
    double **of_bodies[] = {&f->inertia, &f->v, &f->trial_v, &f->balance, &f->own_hold, &f->own_centre};
    double **of_equations[] = {&f->stiff_equation, &f->y, &f->trial_y, &f->open};
    double **of_rows[] = {&f->force, &f->rest, &f->start_piece};
    f->dof_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    f->dofs = perp_slice_cut(s, dofs, sizeof(int));
    f->jacobian = perp_slice_cut(s, 3 * dofs, sizeof(double));
    f->stiffness = perp_slice_cut(s, 2 * contacts, sizeof(double));
    f->coupled = perp_slice_cut(s, contacts, sizeof(bool));
    perp_slice_cut_each(s, n, sizeof of_bodies / sizeof *of_bodies, of_bodies);
    perp_slice_cut_each(s, e, sizeof of_equations / sizeof *of_equations, of_equations);
    perp_slice_cut_each(s, rows, sizeof of_rows / sizeof *of_rows, of_rows);
    f->omega = perp_slice_cut(s, 9 * contacts, sizeof(double));
    f->step = perp_slice_cut(s, n + e, sizeof(double));
    f->diagonal = perp_slice_cut(s, n + e, sizeof(double));
}

/* a of contacts, from their blocks of A; false where it is not definite along a row. */
static bool take_stiffness(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = f->given->system;
    const double *block = f->block;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i];
        f->stiffness[2 * i] = block[0];
        f->stiffness[2 * i + 1] = rows > 1 ? block[rows + 1] : block[0];
        const double largest = fmax(block[0], f->stiffness[2 * i + 1]);
        f->coupled[i] = false;
        for (int k = 0; k < rows * rows; k++) {
            const int row = k / rows, column = k % rows;
            const double own = row == column ? f->stiffness[2 * i + (row > 0 ? 1 : 0)] : 0.0;
            f->coupled[i] = f->coupled[i] || !(fabs(block[k] - own) <= COUPLING_ROUNDING * largest);
            if (row == column && !(block[k] > 0.0)) {
                return false;
            }
        }
        block += (ptrdiff_t)rows * rows;
    }
    return true;
}

/* J without the unknowns of contacts. */
static void cut_contacts(perp_friction_soft_workspace *f)
{
    const perp_contact_qp *p = f->given->system;
    const double *from = p->jacobian;
    double *to = f->jacobian;
    f->dof_start[0] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const int rows = p->row_start[i + 1] - p->row_start[i], given = p->dof_start[i + 1] - p->dof_start[i];
        const int columns = given - rows;
        memcpy(f->dofs + f->dof_start[i], p->dofs + p->dof_start[i], (size_t)columns * sizeof(int));
        f->dof_start[i + 1] = f->dof_start[i] + columns;
        for (int r = 0; r < rows; r++, from += given, to += columns) {
            memcpy(to, from, (size_t)columns * sizeof(double));
        }
    }
    f->bodies.dof_start = f->dof_start;
    f->bodies.dofs = f->dofs;
    f->bodies.jacobian = f->jacobian;
}

perp_status perp_friction_soft_set_up(perp_friction_soft_workspace *f, const perp_contact_friction *problem,
                                      bool gives_way, perp_error *error)
{
    f->given = problem;
    f->bodies = *problem->system;
    f->bodies.n -= gives_way ? contact_rows(problem->system) : 0;
    f->bodies.block_count -= gives_way ? problem->system->contact_count : 0;
    perp_slice count = {NULL, 0};
    lay_out(f, &count);
    perp_status status = perp_kkt_hold(&f->kkt, &f->memory, count.bytes);
    if (status == PERP_STATUS_OK) {
        perp_slice give = {f->memory.data, 0};
        lay_out(f, &give);
        f->piece = f->hold = f->centre = NULL;
        f->polygon = NULL;
        if (gives_way) {
            cut_contacts(f);
        }
        status = perp_kkt_analyse(&f->kkt, &f->bodies, error);
    }
    if (status == PERP_STATUS_OK) {
        perp_kkt_set_base(&f->kkt, &f->bodies, 1.0, 0.0);
        status = perp_kkt_lu_setup(&f->lu, &f->kkt);
    }
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status,
                         status == PERP_STATUS_CAPACITY ? "the workspace is too small for %d contacts: reserve it"
                                                        : "no memory for %d contacts",
                         f->bodies.contact_count);
    }
    return PERP_STATUS_OK;
}

/* Memory and the problem on bodies; `taken` where it is one of this kind. */
static perp_status set_up(perp_friction_soft_workspace *f, const perp_contact_friction *problem, bool *taken,
                          perp_error *error)
{
    *taken = is_soft(problem);
    const perp_status status = *taken ? perp_friction_soft_set_up(f, problem, true, error) : PERP_STATUS_OK;
    if (*taken && status == PERP_STATUS_OK) {
        f->load = problem->system->g + f->bodies.n;
        f->nearer = 0.9;
        *taken = perp_friction_soft_take_inertia(f, NULL) && take_stiffness(f);
    }
    return status;
}

perp_status perp_friction_soft_reserve(const perp_contact_friction *problem, perp_friction_soft_workspace *workspace,
                                       perp_error *error)
{
    bool taken;
    workspace->kkt.may_grow = true;
    const perp_status status = set_up(workspace, problem, &taken, error);
    workspace->kkt.may_grow = false;
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void put_point(const perp_friction_soft_workspace *f, perp_convex_point *to)
{
    const perp_contact_qp *p = &f->bodies;
    perp_friction_soft_put_bodies(f, to);
    const double *block = f->block;
    for (int i = 0; i < p->contact_count; i++) {
        const int first = p->row_start[i], rows = p->row_start[i + 1] - first;
        perp_friction_soft_yield(rows, f->coupled[i], block, f->force + first, f->load + first, to->x + p->n + first);
        block += (ptrdiff_t)rows * rows;
        for (int r = first; r < first + rows; r++) {
            to->y[r] = f->force[r];
            if (p->lower) {
                to->y_lower[p->n + r] = to->y_upper[p->n + r] = 0.0;
            }
        }
    }
}

/* Does the class's residual take the point that was looked at for solved? It costs more than a step. */
static bool judge(const perp_friction_soft_workspace *f, const perp_friction_settings *settings,
                  perp_convex_point *solution, perp_friction_info *info)
{
    double near;
    put_point(f, solution);
    info->parts = perp_contact_friction_evaluate_with(f->given, solution, settings->relative ? 0.0 : 1.0, &near);
    info->residual = perp_contact_friction_residual_largest(info->parts);
    return info->residual <= settings->tolerance && near <= PERP_NEAR;
}

/* Goes on until steps no longer help, whatever the tolerance: Newton's last step gains more than what a caller that
 * iterates around it would have to. */
static bool run(perp_friction_soft_workspace *f, const perp_friction_settings *settings, perp_convex_point *solution,
                perp_friction_info *info)
{
    enum { MOST = 30 };
    const int most = settings->max_iterations > 0 ? settings->max_iterations : MOST;
    perp_friction_soft_start(f, settings->warm);
    double merit = perp_friction_soft_look(f, f->v, f->y), before = INFINITY, largest = 0.0;
    for (int k = 0; k <= most && isfinite(merit); k++) {
        largest = fmax(largest, merit); /* what forces came to: rounding is that of these */
        const bool settled = merit <= SOFT_ROUNDING * f->size ||
                             (merit <= SOFT_NEAR * fmax(largest, f->size) && merit > SOFT_HELPS * before);
        if ((settled || k == most) && judge(f, settings, solution, info)) {
            return true;
        }
        before = merit;
        if (k == most || (settings->cancel && *settings->cancel) || !perp_friction_soft_advance(f, &merit)) {
            return false;
        }
    }
    return false;
}

perp_status perp_friction_soft_solve(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                     perp_friction_soft_workspace *workspace, perp_convex_point *solution,
                                     perp_friction_info *info, perp_error *error)
{
    const perp_friction_settings chosen = settings ? *settings : perp_friction_settings_default();
    bool taken;
    *info = (perp_friction_info){
        .outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "soft", .tried_count = 1, .tried = {"soft"}};
    info->residual = INFINITY;
    perp_status status = PERP_CHECK_SIZE(perp_friction_settings, &chosen, error);
    status = status == PERP_STATUS_OK ? set_up(workspace, problem, &taken, error) : status;
    if (status != PERP_STATUS_OK || !taken) {
        return status;
    }
    workspace->iterations = workspace->factorisations = 0;
    if (run(workspace, &chosen, solution, info)) {
        info->outcome = PERP_OUTCOME_SOLVED;
        info->minimum_norm = true;
    }
    info->iterations = workspace->iterations;
    info->factorisations = workspace->factorisations;
    return PERP_STATUS_OK;
}
