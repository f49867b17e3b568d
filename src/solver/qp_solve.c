/* Dense convex problems: as contact qps, through the one engine; qps also by the dual active set.
 *
 * What people write by hand may mix units: rows and unknowns whose entries differ by more than 16 are equilibrated
 * first, by powers of two, so that no digit changes. The answer is taken back to the problem's own units, judged there,
 * and given its least multipliers there; where it does not hold, the problem is solved as it stands. */
#include "problem/checks.h"
#include "problem/conversions.h"
#include "problem/convex_residual.h"
#include "problem/objectives.h"
#include "solver/convex_core.h"
#include "solver/qp_dual.h"
#include "solver/qp_dual_core.h"
#include "solver/slice.h"
#include "solver/tolerances.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- one view of both classes ----------------------------------------------------------------------------------- */

typedef struct dense_problem {
    const perp_qp *qp; /* one of the two */
    const perp_cone_qp *cone_qp;
    int n, rows, equalities;
    const double *offset, *target; /* of the cone qp and of both: borrowed */
    perp_contact_qp_size size;
} dense_problem;

static dense_problem view_qp(const perp_qp *p)
{
    return (dense_problem){.qp = p,
                           .n = p->n,
                           .rows = p->rows,
                           .equalities = p->equalities,
                           .target = p->d,
                           .size = perp_qp_as_contact_qp_size(p)};
}

static dense_problem view_cone_qp(const perp_cone_qp *p)
{
    const perp_contact_qp_size size = perp_cone_qp_as_contact_qp_size(p);
    return (dense_problem){.cone_qp = p,
                           .n = p->n,
                           .rows = size.rows,
                           .equalities = p->equalities,
                           .offset = p->b,
                           .target = p->d,
                           .size = size};
}

static void convert(const dense_problem *p, const perp_contact_qp_arrays *arrays, perp_contact_qp *contact)
{
    if (p->qp) {
        perp_qp_as_contact_qp(p->qp, arrays, contact);
    } else {
        perp_cone_qp_as_contact_qp(p->cone_qp, arrays, contact);
    }
}

static void convert_back(const dense_problem *p, const perp_contact_qp_arrays *arrays, const perp_convex_point *from,
                         const perp_convex_point *to)
{
    if (p->qp) {
        perp_qp_from_contact_qp(p->qp, arrays, from, to);
    } else {
        perp_cone_qp_from_contact_qp(p->cone_qp, arrays, from, to);
    }
}

/* A dense problem as a contact qp, with the points of the latter. */
typedef struct dense_memory {
    perp_contact_qp_arrays arrays;
    perp_convex_point warm, point;
    double *column, *row, *equation; /* powers of two: n (in the contact qp's order), rows, equalities */
    double *target;                  /* equalities: scaled */
} dense_memory;

static void cut_point(perp_slice *s, const dense_problem *p, perp_convex_point *point)
{
    point->x = perp_slice_cut(s, (size_t)p->n, sizeof(double));
    point->y = perp_slice_cut(s, (size_t)p->rows, sizeof(double));
    point->y_equality = perp_slice_cut(s, (size_t)p->equalities, sizeof(double));
    point->y_lower = perp_slice_cut(s, (size_t)p->n, sizeof(double));
    point->y_upper = perp_slice_cut(s, (size_t)p->n, sizeof(double));
}

static void lay_out(dense_memory *d, const dense_problem *p, perp_slice *s)
{
    const size_t n = (size_t)p->n, contacts = (size_t)p->size.contacts, e = (size_t)p->equalities;
    perp_contact_qp_arrays *a = &d->arrays;
    a->permutation = perp_slice_cut(s, n, sizeof(int));
    a->position = perp_slice_cut(s, n, sizeof(int));
    a->block_start = perp_slice_cut(s, (size_t)p->size.blocks + 1, sizeof(int));
    a->hessian = perp_slice_cut(s, (size_t)p->size.hessian, sizeof(double));
    a->g = perp_slice_cut(s, n, sizeof(double));
    a->row_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    a->dof_start = perp_slice_cut(s, contacts + 1, sizeof(int));
    a->dofs = perp_slice_cut(s, (size_t)p->size.dofs, sizeof(int));
    a->jacobian = perp_slice_cut(s, (size_t)p->size.jacobian, sizeof(double));
    a->offset = perp_slice_cut(s, (size_t)p->size.rows, sizeof(double));
    a->quadratic = perp_slice_cut(s, contacts, sizeof(bool));
    a->equality_start = perp_slice_cut(s, e + 1, sizeof(int));
    a->equality_dofs = perp_slice_cut(s, (size_t)p->size.equality_entries, sizeof(int));
    a->equality_values = perp_slice_cut(s, (size_t)p->size.equality_entries, sizeof(double));
    a->lower = perp_slice_cut(s, n, sizeof(double));
    a->upper = perp_slice_cut(s, n, sizeof(double));
    d->column = perp_slice_cut(s, n, sizeof(double));
    d->row = perp_slice_cut(s, (size_t)p->rows, sizeof(double));
    d->equation = perp_slice_cut(s, e, sizeof(double));
    d->target = perp_slice_cut(s, e, sizeof(double));
    cut_point(s, p, &d->warm);
    cut_point(s, p, &d->point);
}

static perp_status hold(perp_convex_workspace *c, const dense_problem *p, dense_memory *d, perp_error *error)
{
    perp_slice count = {NULL, 0};
    lay_out(d, p, &count);
    const perp_status status = perp_kkt_hold(&c->kkt, &c->conversion, count.bytes);
    if (status != PERP_STATUS_OK) {
        return perp_fail(error, status,
                         status == PERP_STATUS_CAPACITY
                             ? "the workspace is too small for a convex problem of %d unknowns and %d rows: reserve it"
                             : "no memory for a convex problem of %d unknowns and %d rows",
                         p->n, p->rows);
    }
    assert(c->conversion.data);
    perp_slice give = {c->conversion.data, 0};
    lay_out(d, p, &give);
    return PERP_STATUS_OK;
}

/* ---- equilibration ---------------------------------------------------------------------------------------------- */

static void raise_to(double *largest, double value)
{
    *largest = fabs(value) > *largest ? fabs(value) : *largest;
}

/* Largest entries of the scaled rows, equations and columns; `most` has room for all of them, in this order. A cone has
 * one scale. */
static void measure(const perp_contact_qp *q, const dense_memory *d, double *row, double *equation, double *column)
{
    const double *jacobian = q->jacobian, *h = q->hessian;
    for (int i = 0; i < q->contact_count; i++) {
        const int first = q->row_start[i], end = q->row_start[i + 1];
        const bool cone = q->quadratic && q->quadratic[i];
        for (int r = first; r < end; r++) {
            for (int k = q->dof_start[i]; k < q->dof_start[i + 1]; k++, jacobian++) {
                const double entry = *jacobian * d->row[r] * d->column[q->dofs[k]];
                raise_to(&row[cone ? first : r], entry);
                raise_to(&column[q->dofs[k]], entry);
            }
        }
        for (int r = first + 1; cone && r < end; r++) {
            row[r] = row[first];
        }
    }
    for (int i = 0; i < q->equality_count; i++) {
        for (int k = q->equality_start[i]; k < q->equality_start[i + 1]; k++) {
            const double entry = q->equality_values[k] * d->equation[i] * d->column[q->equality_dofs[k]];
            raise_to(&equation[i], entry);
            raise_to(&column[q->equality_dofs[k]], entry);
        }
    }
    for (int b = 0; h && b < q->block_count; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++, h++) {
                raise_to(&column[first + i], *h * d->column[first + i] * d->column[first + j]);
            }
        }
    }
}

/* Divides the scales by the roots of the largest entries; what has no entry keeps its scale. */
static void shrink(int n, double *most, double *scale)
{
    for (int i = 0; i < n; i++) {
        scale[i] = most[i] > 0.0 ? scale[i] / sqrt(most[i]) : scale[i];
        most[i] = 0.0;
    }
}

/* The nearest power of two; returns whether it is far from 1. */
static bool round_scales(int n, double *scale)
{
    enum { FAR = 4, MOST = 300 }; /* 2^4; exponents that no product of two can take out of range */
    bool far = false;
    for (int i = 0; i < n; i++) {
        int exponent = 0;
        frexp(scale[i], &exponent);
        exponent = exponent > MOST ? MOST : exponent < -MOST ? -MOST : exponent - 1;
        scale[i] = ldexp(1.0, exponent);
        far = far || exponent > FAR || exponent < -FAR;
    }
    return far;
}

/* Ruiz: rows and columns by the roots of their largest entries, a few times over. False where all is near 1 already.
 * Scratch: the point's arrays. */
static bool find_scales(const perp_contact_qp *q, dense_memory *d)
{
    enum { PASSES = 8 };
    const int n = q->n, e = q->equality_count, rows = q->contact_count > 0 ? q->row_start[q->contact_count] : 0;
    double *row = d->point.y, *equation = d->point.y_equality, *column = d->point.x;
    double *arrays[] = {d->row, d->equation, d->column}, *most[] = {row, equation, column};
    const int lengths[] = {rows, e, n};
    assert(row && equation && column && d->row && d->equation && d->column);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < lengths[k]; i++) {
            arrays[k][i] = 1.0;
            most[k][i] = 0.0;
        }
    }
    for (int pass = 0; pass < PASSES; pass++) {
        measure(q, d, row, equation, column);
        for (int k = 0; k < 3; k++) {
            shrink(lengths[k], most[k], arrays[k]);
        }
    }
    bool far = false;
    for (int k = 0; k < 3; k++) {
        far = round_scales(lengths[k], arrays[k]) || far;
    }
    return far;
}

/* Scales the converted problem in place: its arrays are ours. */
static void apply_scales(const dense_problem *p, dense_memory *d, perp_contact_qp *q)
{
    perp_contact_qp_arrays *a = &d->arrays;
    double *jacobian = a->jacobian, *h = a->hessian;
    for (int i = 0; i < q->contact_count; i++) {
        for (int r = q->row_start[i]; r < q->row_start[i + 1]; r++) {
            for (int k = q->dof_start[i]; k < q->dof_start[i + 1]; k++, jacobian++) {
                *jacobian *= d->row[r] * d->column[q->dofs[k]];
            }
            a->offset[r] = (p->offset ? p->offset[r] : a->offset[r]) * d->row[r];
        }
    }
    for (int i = 0; i < q->equality_count; i++) {
        for (int k = q->equality_start[i]; k < q->equality_start[i + 1]; k++) {
            a->equality_values[k] *= d->equation[i] * d->column[q->equality_dofs[k]];
        }
        d->target[i] = p->target[i] * d->equation[i];
    }
    for (int b = 0; q->hessian && b < q->block_count; b++) {
        const int first = q->block_start[b], size = q->block_start[b + 1] - first;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++, h++) {
                *h *= d->column[first + i] * d->column[first + j];
            }
        }
    }
    for (int i = 0; i < q->n; i++) {
        a->g[i] *= d->column[i];
        if (q->lower) {
            a->lower[i] /= d->column[i];
        }
        if (q->upper) {
            a->upper[i] /= d->column[i];
        }
    }
    q->offset = a->offset;
    q->equality_target = d->target;
}

/* The scaled problem's point in the units of the problem: x = column x^, y = row y^, multipliers of bounds over column.
 * A proof or a direction goes the same way. */
static void take_back(const perp_contact_qp *q, const dense_memory *d, const perp_convex_point *point)
{
    const int rows = q->contact_count > 0 ? q->row_start[q->contact_count] : 0;
    for (int i = 0; i < q->n; i++) {
        point->x[i] *= d->column[i];
        point->y_lower[i] /= d->column[i];
        point->y_upper[i] /= d->column[i];
    }
    for (int i = 0; i < rows; i++) {
        point->y[i] *= d->row[i];
    }
    for (int i = 0; i < q->equality_count; i++) {
        point->y_equality[i] *= d->equation[i];
    }
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

static perp_status reserve(const dense_problem *p, perp_convex_workspace *workspace, perp_error *error)
{
    dense_memory d;
    perp_contact_qp contact;
    workspace->kkt.may_grow = true;
    perp_status status = hold(workspace, p, &d, error);
    if (status == PERP_STATUS_OK) {
        convert(p, &d.arrays, &contact);
        status = perp_convex_setup(workspace, &contact, error);
    }
    workspace->kkt.may_grow = false;
    return status;
}

perp_status perp_qp_reserve(const perp_qp *problem, perp_convex_workspace *workspace, perp_error *error)
{
    perp_status status = perp_qp_check(problem, error);
    if (status == PERP_STATUS_OK) {
        const dense_problem p = view_qp(problem);
        status = reserve(&p, workspace, error);
    }
    return status == PERP_STATUS_OK ? reserve_dual(workspace, problem, error) : status;
}

perp_status perp_cone_qp_reserve(const perp_cone_qp *problem, perp_convex_workspace *workspace, perp_error *error)
{
    const perp_status status = perp_cone_qp_check(problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const dense_problem p = view_cone_qp(problem);
    return reserve(&p, workspace, error);
}

/* ---- solving ------------------------------------------------------------------------------------------------------
 */

/* Multipliers move as they are, what is by unknown moves by the permutation. */
static void import_point(const dense_problem *p, const int *permutation, const perp_convex_point *from,
                         perp_convex_point *to)
{
    const double *by_unknown[] = {from->x, from->y_lower, from->y_upper};
    double *target[] = {to->x, to->y_lower, to->y_upper};
    assert(to->x && to->y_lower && to->y_upper);
    for (int v = 0; v < 3; v++) {
        for (int i = 0; i < p->n; i++) {
            target[v][i] = by_unknown[v] ? by_unknown[v][permutation[i]] : 0.0;
        }
    }
    for (int i = 0; i < p->rows; i++) {
        to->y[i] = from->y ? from->y[i] : 0.0;
    }
    for (int i = 0; i < p->equalities; i++) {
        to->y_equality[i] = from->y_equality ? from->y_equality[i] : 0.0;
    }
}

/* Whether what the scaled problem gave, now in d->point, holds in the problem's own units, as which the workspace is
 * set up again; and the least multipliers in these. */
static bool holds(perp_convex_workspace *c, dense_memory *d, const perp_convex_settings *settings,
                  perp_convex_info *info)
{
    const perp_convex_view view = perp_contact_qp_view(c->problem);
    c->tolerance = settings->tolerance;
    perp_convex_import(c, &d->point, &c->trial);
    c->best_residual = INFINITY;
    const bool solved = perp_convex_judge(c, &c->trial);
    perp_convex_copy(c, &c->trial, &c->best);
    c->best_residual = c->judged;
    c->best_parts = c->judged_parts;
    if (info->outcome == PERP_OUTCOME_SOLVED && solved) {
        info->outcome = perp_convex_reject_far(c, info);
        perp_convex_export(c, &c->best, &d->point);
    }
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        info->minimum_norm = solved && settings->minimum_norm && perp_convex_minimum_norm(c) && c->best_is_least;
    } else if (info->outcome == PERP_OUTCOME_INFEASIBLE) {
        info->certificate = perp_convex_view_infeasibility(&view, &d->point, c->unit);
    } else if (info->outcome == PERP_OUTCOME_UNBOUNDED) {
        info->certificate = perp_convex_view_unboundedness(&view, d->point.x, c->unit);
    }
    info->residual = c->best_parts;
    perp_convex_export(c, &c->best, &d->point);
    return info->outcome == PERP_OUTCOME_SOLVED ? solved : info->certificate <= PROOF_GOOD;
}

/* The engine on the problem that is set up, into d->point; its counts are added to those before. */
static void run_engine(perp_convex_workspace *c, const perp_convex_settings *settings, dense_memory *d,
                       perp_convex_info *info)
{
    const int iterations = info->iterations, factorisations = info->factorisations;
    info->tried_count = 0;
    info->certificate = 0.0;
    perp_convex_run(c, settings, info);
    info->iterations += iterations;
    info->factorisations += factorisations;
    perp_convex_export(c, &c->best, &d->point);
}

/* The equilibrated problem, once at the tolerance and once below it; false where that does not decide, or is not
 * called for. The workspace is set up for the problem itself before and after. */
static bool run_scaled(perp_convex_workspace *c, const dense_problem *p, dense_memory *d, perp_contact_qp *contact,
                       const perp_convex_settings *settings, perp_convex_info *info)
{
    perp_convex_settings inner = *settings;
    inner.warm = NULL;
    inner.minimum_norm = false;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!find_scales(contact, d)) {
            return false;
        }
        apply_scales(p, d, contact);
        bool decided = false;
        if (perp_convex_setup(c, contact, NULL) == PERP_STATUS_OK) {
            run_engine(c, &inner, d, info);
            take_back(contact, d, &d->point);
            decided = !perp_convex_is_open(info->outcome);
        }
        convert(p, &d->arrays, contact);
        if (perp_convex_setup(c, contact, NULL) != PERP_STATUS_OK) {
            return false; /* cannot be: it was before */
        }
        if (info->outcome == PERP_OUTCOME_CANCELLED || (decided && holds(c, d, settings, info))) {
            return true;
        }
        inner.tolerance = fmax(EQUILIBRATED_TIGHTER * inner.tolerance, FINEST_TOLERANCE);
    }
    return false;
}

static void run(perp_convex_workspace *c, const dense_problem *p, dense_memory *d, perp_contact_qp *contact,
                const perp_convex_settings *settings, perp_convex_info *info)
{
    perp_convex_settings inner = *settings;
    if (!settings->method && run_scaled(c, p, d, contact, settings, info)) {
        return;
    }
    if (settings->warm) {
        import_point(p, d->arrays.permutation, settings->warm, &d->warm);
        inner.warm = &d->warm;
    }
    run_engine(c, &inner, d, info);
}

/* A point's arrays that the caller left out are written to scratch: the classes' functions want what they need. */
static perp_convex_point complete(const perp_convex_point *solution, perp_convex_point *spare)
{
    return (perp_convex_point){solution->x, solution->y ? solution->y : spare->y,
                               solution->y_equality ? solution->y_equality : spare->y_equality,
                               solution->y_lower ? solution->y_lower : spare->y_lower,
                               solution->y_upper ? solution->y_upper : spare->y_upper};
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
    if (perp_convex_is_open(dual.outcome)) {
        return;
    }
    info->method = "dual";
    info->outcome = dual.outcome;
    info->certificate = dual.certificate;
    info->residual = dual.residual;
    perp_qp_dual_copy_point(problem, spare, point);
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

/* Conversion, engine, and the dual method where that is for it. */
static perp_status solve(const dense_problem *p, const perp_convex_settings *settings, perp_convex_workspace *workspace,
                         perp_convex_point *solution, perp_convex_info *info, perp_error *error)
{
    perp_contact_qp contact;
    dense_memory d;
    perp_status status = hold(workspace, p, &d, error);
    if (status == PERP_STATUS_OK) {
        convert(p, &d.arrays, &contact);
        status = perp_convex_prepare(workspace, &contact, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    run(workspace, p, &d, &contact, settings, info);
    perp_convex_point point = complete(solution, &d.warm);
    convert_back(p, &d.arrays, &d.point, &point);
    if (p->qp && !settings->method && perp_convex_is_open(info->outcome)) {
        try_dual(p->qp, settings, workspace, &point, &d.point, info);
    }
    info->objective = p->qp ? perp_qp_objective(p->qp, point.x) : perp_cone_qp_objective(p->cone_qp, point.x);
    return PERP_STATUS_OK;
}

perp_status perp_qp_solve(const perp_qp *problem, const perp_convex_settings *settings,
                          perp_convex_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                          perp_error *error)
{
    perp_convex_settings chosen;
    perp_status status = perp_convex_begin(settings, &chosen, info, error);
    status = status ? status : perp_qp_check(problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    if (chosen.method && strcmp(chosen.method, "dual") == 0) {
        return solve_dual_alone(problem, &chosen, workspace, solution, info, error);
    }
    const dense_problem p = view_qp(problem);
    return solve(&p, &chosen, workspace, solution, info, error);
}

perp_status perp_cone_qp_solve(const perp_cone_qp *problem, const perp_convex_settings *settings,
                               perp_convex_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                               perp_error *error)
{
    perp_convex_settings chosen;
    perp_status status = perp_convex_begin(settings, &chosen, info, error);
    status = status ? status : perp_cone_qp_check(problem, error);
    if (status == PERP_STATUS_OK && chosen.method && strcmp(chosen.method, "dual") == 0) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "the method `dual` has no cones: take ipm or newton");
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const dense_problem p = view_cone_qp(problem);
    return solve(&p, &chosen, workspace, solution, info, error);
}
