/* Rates that are not unique, as one solution: instant_list.h. */
#include "step/instant/instant_list.h"

#include "step/common/run_result.h"
#include "step/common/tolerances.h"
#include "solver/tolerances.h"

#include <string.h>

static double unit_of(const double *unit, int k)
{
    return unit ? unit[k] : 1.0;
}

/* Rounding of a number that the search has in units of 1. */
static double clean(double x)
{
    return fabs(x) < RATE_ROUNDING ? 0.0 : x;
}

perp_status perp_instant_describe(const perp_instant_list *list, perp_instant_solution *solution,
                                  const perp_polyhedron *hull, double rate, const double *unit, perp_error *error)
{
    const contact_step *step = list->step;
    const int nv = step->model->nv;
    if (!perp_run_result_describe(list->result, solution, nv, hull->vertex_count, hull->ray_count)) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a solution");
    }
    for (int i = 0; i < hull->vertex_count + hull->ray_count; i++) {
        const int ray = i - hull->vertex_count;
        const double *from = ray < 0 ? hull->vertices + (ptrdiff_t)i * hull->n : hull->rays + (ptrdiff_t)ray * hull->n;
        double *to = ray < 0 ? solution->vertices + (ptrdiff_t)i * nv : solution->rays + (ptrdiff_t)ray * nv;
        double most = 0.0;
        if (ray < 0) { /* prescribed ones are the same in all */
            memcpy(to, solution->rate, (size_t)nv * sizeof *to);
        }
        for (int k = 0; k < step->free_count; k++) {
            const double value = unit_of(unit, k) * clean(from[k]);
            to[step->dof_of_free[k]] = ray < 0 ? rate * value : value;
            most = fmax(most, fabs(value));
        }
        for (int k = 0; k < nv && ray >= 0; k++) {
            to[k] /= most;
        }
    }
    return PERP_STATUS_OK;
}

/* ---- the smallest -------------------------------------------------------------------------------------------------
 */

/* The hull as rows of the rigid step's program: its facets, and its affine hull. */
static perp_status put_hull(cone_program *p, const perp_polyhedron *hull, double *rows, perp_error *error)
{
    const int n = hull->n;
    const perp_status status = perp_cone_program_begin(p, n, hull->facet_count, n, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < hull->facet_count; i++) {
        const double *a = hull->facets + (ptrdiff_t)i * (n + 1);
        double *row = perp_cone_program_cone(p, 1);
        for (int k = 0; k < n; k++) {
            row[k] = -a[k];
        }
        p->b[p->rows - 1] = a[n];
    }
    int count = hull->dimensions;
    memcpy(rows, hull->basis, (size_t)count * (size_t)n * sizeof *rows);
    for (int j = 0; j < n && count < n; j++) { /* what is across the basis, by Gram and Schmidt */
        double *across = rows + (ptrdiff_t)count * n, length = 0.0, target = 0.0;
        memset(across, 0, (size_t)n * sizeof *across);
        across[j] = 1.0;
        for (int i = 0; i < 2 * count; i++) {
            const double *b = rows + (ptrdiff_t)(i % count) * n;
            double part = 0.0;
            for (int k = 0; k < n; k++) {
                part += across[k] * b[k];
            }
            for (int k = 0; k < n; k++) {
                across[k] -= part * b[k];
            }
        }
        for (int k = 0; k < n; k++) {
            length += across[k] * across[k];
        }
        if (length < 0.25 / n) { /* of the unit vectors left one is at least as far outside */
            continue;
        }
        for (int k = 0; k < n; k++) {
            across[k] /= sqrt(length);
            target += across[k] * hull->origin[k];
        }
        memcpy(perp_cone_program_equation(p, target), across, (size_t)n * sizeof *across);
        count++;
    }
    return PERP_STATUS_OK;
}

/* The rate of least kinetic energy in the hull, into x (n); false: not found. */
static bool find_smallest(const perp_instant_list *list, const perp_polyhedron *hull, const double *unit, double *rows,
                          double *x, perp_error *error)
{
    rigid_step *s = list->step->own;
    const int n = hull->n;
    perp_convex_info info;
    if (put_hull(&s->program, hull, rows, error) != PERP_STATUS_OK) {
        return false;
    }
    perp_rigid_fill_metric(s, list->step);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            s->program.h[(ptrdiff_t)i * n + k] *= unit_of(unit, i) * unit_of(unit, k);
        }
    }
    if (perp_cone_program_solve_dual(&s->program, FINEST_TOLERANCE, &info, error) != PERP_STATUS_OK ||
        !(perp_convex_residual_largest(info.residual) <= SMALLEST_MET)) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        x[k] = clean(s->program.point.x[k]);
    }
    return true;
}

perp_status perp_instant_add_set(perp_instant_list *list, instant_cells *cells, const perp_polyhedron *hull,
                                 perp_error *error)
{
    const instant_cells_system *system = cells->system;
    const int n = hull->n, before = list->result->solution_count;
    double *x = perp_arena_push(&cells->arena, (size_t)n * ((size_t)n + 2), sizeof *x), *rate = x + n;
    if (!x) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for a solution");
    }
    perp_error own = {0};
    perp_status status = PERP_STATUS_OK;
    const bool smallest = find_smallest(list, hull, system->unit, rate + n, x, &own);
    for (int i = smallest ? -1 : 0; i < hull->vertex_count && list->result->solution_count == before; i++) {
        const double *from = i < 0 ? x : hull->vertices + (ptrdiff_t)i * n;
        for (int k = 0; k < n; k++) {
            rate[k] = system->rate * unit_of(system->unit, k) * from[k];
        }
        if (perp_instant_cells_at(cells, rate)) {
            list->point = &cells->point;
            status = list->add(list, &own);
            if (status == PERP_STATUS_OUT_OF_MEMORY || status == PERP_STATUS_CANCELLED) {
                break;
            }
        }
    }
    if (list->result->solution_count == before) {
        list->result->partial = true; /* not one of its rates could be met to tolerance */
        if (status != PERP_STATUS_OK && error) {
            *error = own;
        }
        return status;
    }
    return perp_instant_describe(list, &list->result->solutions[before], hull, system->rate, system->unit, error);
}
