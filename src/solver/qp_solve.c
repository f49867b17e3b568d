/* Dense convex problems: as contact qps, through the one engine; qps also by the dual active set. */
#include "solver/convex_core.h"

#include <limits.h>
#include <string.h>

typedef struct slice {
    unsigned char *memory; /* NULL: count only */
    size_t bytes;
} slice;

static void *cut(slice *s, size_t count, size_t size)
{
    void *start = s->memory ? s->memory + s->bytes : NULL;
    s->bytes += (count * size + 63) / 64 * 64;
    return start;
}

/* Sizes that the conversion and the points depend on. */
typedef struct dense_size {
    int n, rows, equalities;
    perp_contact_qp_size contact;
} dense_size;

/* A dense problem as a contact qp, with the points of the latter. */
typedef struct dense_memory {
    perp_contact_qp_arrays arrays;
    perp_convex_point warm, point;
} dense_memory;

static void cut_point(slice *s, const dense_size *size, perp_convex_point *point)
{
    point->x = cut(s, (size_t)size->n, sizeof(double));
    point->y = cut(s, (size_t)size->rows, sizeof(double));
    point->y_equality = cut(s, (size_t)size->equalities, sizeof(double));
    point->y_lower = cut(s, (size_t)size->n, sizeof(double));
    point->y_upper = cut(s, (size_t)size->n, sizeof(double));
}

static void lay_out(dense_memory *d, const dense_size *size, slice *s)
{
    const size_t n = (size_t)size->n, contacts = (size_t)size->contact.contacts;
    perp_contact_qp_arrays *a = &d->arrays;
    a->permutation = cut(s, n, sizeof(int));
    a->position = cut(s, n, sizeof(int));
    a->block_start = cut(s, (size_t)size->contact.blocks + 1, sizeof(int));
    a->hessian = cut(s, (size_t)size->contact.hessian, sizeof(double));
    a->g = cut(s, n, sizeof(double));
    a->row_start = cut(s, contacts + 1, sizeof(int));
    a->dof_start = cut(s, contacts + 1, sizeof(int));
    a->dofs = cut(s, (size_t)size->contact.dofs, sizeof(int));
    a->jacobian = cut(s, (size_t)size->contact.jacobian, sizeof(double));
    a->offset = cut(s, (size_t)size->contact.rows, sizeof(double));
    a->quadratic = cut(s, contacts, sizeof(bool));
    a->equality_start = cut(s, (size_t)size->equalities + 1, sizeof(int));
    a->equality_dofs = cut(s, (size_t)size->contact.equality_entries, sizeof(int));
    a->equality_values = cut(s, (size_t)size->contact.equality_entries, sizeof(double));
    a->lower = cut(s, n, sizeof(double));
    a->upper = cut(s, n, sizeof(double));
    cut_point(s, size, &d->warm);
    cut_point(s, size, &d->point);
}

static perp_status hold(perp_convex_workspace *c, const dense_size *size, dense_memory *d, perp_error *error)
{
    slice count = {NULL, 0};
    lay_out(d, size, &count);
    const perp_status status = perp_kkt_hold(&c->kkt, &c->conversion, count.bytes);
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status,
                         status == PERP_STATUS_CAPACITY
                             ? "the workspace is too small for a convex problem of %d unknowns and %d rows: reserve it"
                             : "no memory for a convex problem of %d unknowns and %d rows",
                         size->n, size->rows);
    }
    slice give = {c->conversion.data, 0};
    lay_out(d, size, &give);
    return PERP_STATUS_OK;
}

static dense_size size_of_qp(const perp_qp *p)
{
    return (dense_size){p->n, p->rows, p->equalities, perp_qp_as_contact_qp_size(p)};
}

static dense_size size_of_cone_qp(const perp_cone_qp *p)
{
    const perp_contact_qp_size size = perp_cone_qp_as_contact_qp_size(p);
    return (dense_size){p->n, size.rows, p->equalities, size};
}

/* ---- reserving -------------------------------------------------------------------------------------------------- */

/* The dual method keeps two n x n matrices and is for small problems: none beyond this. */
enum { DUAL_MOST = 400 };

static perp_status reserve_dual(perp_convex_workspace *c, const perp_qp *p, perp_error *error)
{
    if (p->n > DUAL_MOST || p->rows > 20 * DUAL_MOST ||
        (c->dual && p->n <= c->dual_n && p->rows <= c->dual_rows && p->equalities <= c->dual_equalities)) {
        return PERP_STATUS_OK;
    }
    perp_qp_dual_workspace_free(c->dual);
    c->dual = NULL;
    c->dual_n = p->n > c->dual_n ? p->n : c->dual_n;
    c->dual_rows = p->rows > c->dual_rows ? p->rows : c->dual_rows;
    c->dual_equalities = p->equalities > c->dual_equalities ? p->equalities : c->dual_equalities;
    return perp_qp_dual_workspace_create(c->dual_n, c->dual_rows, c->dual_equalities, &c->allocator, &c->dual, error);
}

perp_status perp_qp_reserve(const perp_qp *problem, perp_convex_workspace *workspace, perp_error *error)
{
    perp_status status = perp_qp_check(problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const dense_size size = size_of_qp(problem);
    dense_memory d;
    perp_contact_qp contact;
    workspace->kkt.may_grow = true;
    status = hold(workspace, &size, &d, error);
    if (status == PERP_STATUS_OK) {
        perp_qp_as_contact_qp(problem, &d.arrays, &contact);
        status = perp_convex_setup(workspace, &contact, error);
    }
    workspace->kkt.may_grow = false;
    return status == PERP_STATUS_OK ? reserve_dual(workspace, problem, error) : status;
}

perp_status perp_cone_qp_reserve(const perp_cone_qp *problem, perp_convex_workspace *workspace, perp_error *error)
{
    perp_status status = perp_cone_qp_check(problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const dense_size size = size_of_cone_qp(problem);
    dense_memory d;
    perp_contact_qp contact;
    workspace->kkt.may_grow = true;
    status = hold(workspace, &size, &d, error);
    if (status == PERP_STATUS_OK) {
        perp_cone_qp_as_contact_qp(problem, &d.arrays, &contact);
        status = perp_convex_setup(workspace, &contact, error);
    }
    workspace->kkt.may_grow = false;
    return status;
}

/* ---- solving ---------------------------------------------------------------------------------------------------- */

/* Multipliers move as they are, what is by unknown moves by the permutation. */
static void import_point(const dense_size *size, const int *permutation, const perp_convex_point *from,
                         perp_convex_point *to)
{
    const double *by_unknown[] = {from->x, from->y_lower, from->y_upper};
    double *target[] = {to->x, to->y_lower, to->y_upper};
    for (int v = 0; v < 3; v++) {
        for (int i = 0; i < size->n; i++) {
            target[v][i] = by_unknown[v] ? by_unknown[v][permutation[i]] : 0.0;
        }
    }
    for (int i = 0; i < size->rows; i++) {
        to->y[i] = from->y ? from->y[i] : 0.0;
    }
    for (int i = 0; i < size->equalities; i++) {
        to->y_equality[i] = from->y_equality ? from->y_equality[i] : 0.0;
    }
}

static void run(perp_convex_workspace *c, const dense_size *size, dense_memory *d, const perp_convex_settings *settings,
                perp_convex_info *info)
{
    perp_convex_settings inner = *settings;
    if (settings->warm) {
        import_point(size, d->arrays.permutation, settings->warm, &d->warm);
        inner.warm = &d->warm;
    }
    perp_convex_run(c, &inner, info);
    perp_convex_export(c, &c->best, &d->point);
}

/* A point's arrays that the caller left out are written to scratch: the classes' functions want what they need. */
static perp_convex_point complete(const perp_convex_point *solution, perp_convex_point *spare)
{
    return (perp_convex_point){solution->x, solution->y ? solution->y : spare->y,
                               solution->y_equality ? solution->y_equality : spare->y_equality,
                               solution->y_lower ? solution->y_lower : spare->y_lower,
                               solution->y_upper ? solution->y_upper : spare->y_upper};
}

static bool is_undecided(perp_outcome outcome)
{
    return outcome == PERP_OUTCOME_ITERATION_LIMIT || outcome == PERP_OUTCOME_ILL_CONDITIONED;
}

/* The dual method after the interior point: kept if it is the better one. */
static void try_dual(const perp_qp *problem, const perp_convex_settings *settings, perp_convex_workspace *c,
                     perp_convex_point *point, perp_convex_point *spare, perp_convex_info *info)
{
    perp_convex_info dual;
    perp_error unused;
    perp_convex_settings cold = *settings;
    cold.warm = NULL;
    if (!c->dual || !problem->h || problem->n > c->dual_n || problem->rows > c->dual_rows ||
        problem->equalities > c->dual_equalities ||
        perp_qp_dual(problem, &cold, c->dual, spare, &dual, &unused) != PERP_STATUS_OK) {
        return; /* not for it, or H is not definite */
    }
    if (info->tried_count < PERP_SOLVER_TRIED_MAX) {
        info->tried[info->tried_count++] = "dual";
    }
    info->iterations += dual.iterations;
    info->factorisations += dual.factorisations;
    if (is_undecided(dual.outcome)) {
        return;
    }
    info->method = "dual";
    info->outcome = dual.outcome;
    info->certificate = dual.certificate;
    info->residual = dual.residual;
    memcpy(point->x, spare->x, (size_t)problem->n * sizeof(double));
    memcpy(point->y, spare->y, (size_t)problem->rows * sizeof(double));
    memcpy(point->y_equality, spare->y_equality, (size_t)problem->equalities * sizeof(double));
    memcpy(point->y_lower, spare->y_lower, (size_t)problem->n * sizeof(double));
    memcpy(point->y_upper, spare->y_upper, (size_t)problem->n * sizeof(double));
}

static perp_status solve_dual_alone(const perp_qp *problem, const perp_convex_settings *settings,
                                    perp_convex_workspace *workspace, perp_convex_point *solution,
                                    perp_convex_info *info, perp_error *error)
{
    if (!workspace->dual) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the method `dual` is for at most %d unknowns: take ipm",
                         (int)DUAL_MOST);
    }
    return perp_qp_dual(problem, settings, workspace->dual, solution, info, error);
}

perp_status perp_qp_solve(const perp_qp *problem, const perp_convex_settings *settings,
                          perp_convex_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                          perp_error *error)
{
    const perp_convex_settings chosen = settings ? *settings : perp_convex_settings_default();
    *info = (perp_convex_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "ipm"};
    perp_status status = perp_convex_settings_check(&chosen, error);
    if (status == PERP_STATUS_OK) {
        status = perp_qp_check(problem, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (chosen.method && strcmp(chosen.method, "dual") == 0) {
        return solve_dual_alone(problem, &chosen, workspace, solution, info, error);
    }
    const dense_size size = size_of_qp(problem);
    dense_memory d;
    perp_contact_qp contact;
    status = hold(workspace, &size, &d, error);
    if (status == PERP_STATUS_OK) {
        perp_qp_as_contact_qp(problem, &d.arrays, &contact);
        status = perp_convex_prepare(workspace, &contact, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    run(workspace, &size, &d, &chosen, info);
    perp_convex_point point = complete(solution, &d.warm);
    perp_qp_from_contact_qp(problem, &d.arrays, &d.point, &point);
    if (!chosen.method && is_undecided(info->outcome)) {
        try_dual(problem, &chosen, workspace, &point, &d.point, info);
    }
    info->objective = perp_qp_objective(problem, point.x);
    return PERP_STATUS_OK;
}

perp_status perp_cone_qp_solve(const perp_cone_qp *problem, const perp_convex_settings *settings,
                               perp_convex_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                               perp_error *error)
{
    const perp_convex_settings chosen = settings ? *settings : perp_convex_settings_default();
    *info = (perp_convex_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "ipm"};
    perp_status status = perp_convex_settings_check(&chosen, error);
    if (status == PERP_STATUS_OK) {
        status = perp_cone_qp_check(problem, error);
    }
    if (status == PERP_STATUS_OK && chosen.method && strcmp(chosen.method, "dual") == 0) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "the method `dual` has no cones: take ipm or newton");
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const dense_size size = size_of_cone_qp(problem);
    dense_memory d;
    perp_contact_qp contact;
    status = hold(workspace, &size, &d, error);
    if (status == PERP_STATUS_OK) {
        perp_cone_qp_as_contact_qp(problem, &d.arrays, &contact);
        status = perp_convex_prepare(workspace, &contact, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    run(workspace, &size, &d, &chosen, info);
    perp_convex_point point = complete(solution, &d.warm);
    perp_cone_qp_from_contact_qp(problem, &d.arrays, &d.point, &point);
    info->objective = perp_cone_qp_objective(problem, point.x);
    return PERP_STATUS_OK;
}
