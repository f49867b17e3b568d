#include "solve_convex.h"

#include "solve_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct attempt {
    const perp_problem *problem;
    const perp_qp *qp; /* or NULL, and */
    const perp_cone_qp *cone_qp;
    int n, rows, equalities;
    perp_convex_point point; /* one block, from x on; no arrays for bounds that are not there */
    perp_convex_info info;
    double time_us;
} attempt;

static int rows_of_cones(const perp_cone_qp *p)
{
    int rows = 0;
    for (int k = 0; k < p->cones; k++) {
        rows += p->cone_rows[k];
    }
    return rows;
}

static perp_status attempt_create(const perp_problem *problem, attempt *t, perp_error *error)
{
    memset(t, 0, sizeof *t);
    t->problem = problem;
    if (problem->kind == PERP_PROBLEM_CONE_QP) {
        t->cone_qp = &problem->cone_qp;
        t->rows = rows_of_cones(t->cone_qp);
        t->equalities = t->cone_qp->equalities;
    } else {
        t->qp = &problem->qp;
        t->rows = t->qp->rows;
        t->equalities = t->qp->equalities;
    }
    t->n = perp_problem_size(problem);
    const size_t n = (size_t)t->n, rows = (size_t)t->rows, equalities = (size_t)t->equalities;
    double *block = calloc(3 * n + rows + equalities, sizeof *block);
    if (!block) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory");
    }
    t->point = (perp_convex_point){.x = block, .y = block + 3 * n, .y_equality = block + 3 * n + rows};
    if (t->qp) {
        t->point.y_lower = t->qp->lower ? block + n : NULL;
        t->point.y_upper = t->qp->upper ? block + 2 * n : NULL;
    }
    return PERP_STATUS_OK;
}

static perp_status solve(const perp_convex_settings *settings, perp_convex_workspace *workspace, attempt *t,
                         perp_error *error)
{
    perp_status status =
        t->qp ? perp_qp_reserve(t->qp, workspace, error) : perp_cone_qp_reserve(t->cone_qp, workspace, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const double start = solve_microseconds();
    status = t->qp ? perp_qp_solve(t->qp, settings, workspace, &t->point, &t->info, error)
                   : perp_cone_qp_solve(t->cone_qp, settings, workspace, &t->point, &t->info, error);
    t->time_us = solve_microseconds() - start;
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* Multipliers by the constraints they belong to, where there are any: "y of A = [..]". */
static void print_multipliers(const char *symbol, const attempt *t)
{
    const perp_convex_point *y = &t->point;
    const struct {
        const char *name;
        const double *values;
        int count;
    } lists[] = {{"A", y->y, t->qp ? t->rows : 0},
                 {"C", y->y_equality, t->equalities},
                 {"lower", y->y_lower, t->qp && t->qp->lower ? t->n : 0},
                 {"upper", y->y_upper, t->qp && t->qp->upper ? t->n : 0}};
    char head[32];
    for (int k = 0, first = 0; t->cone_qp && k < t->cone_qp->cones && k < SOLVE_LINES_SHOWN; k++) {
        snprintf(head, sizeof head, "%s of cone %d = ", symbol, k);
        solve_print_numbers(head, y->y + first, t->cone_qp->cone_rows[k]);
        first += t->cone_qp->cone_rows[k];
    }
    if (t->cone_qp && t->cone_qp->cones > SOLVE_LINES_SHOWN) {
        printf(".. %d more cones\n", t->cone_qp->cones - SOLVE_LINES_SHOWN);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i].count > 0) {
            snprintf(head, sizeof head, "%s of %s = ", symbol, lists[i].name);
            solve_print_numbers(head, lists[i].values, lists[i].count);
        }
    }
}

static void print_report(const attempt *t)
{
    const perp_convex_info *info = &t->info;
    const bool infeasible = info->outcome == PERP_OUTCOME_INFEASIBLE,
               unbounded = info->outcome == PERP_OUTCOME_UNBOUNDED;
    printf("%s of size %d: %s, method %s", perp_problem_kind_name(t->problem->kind), t->n,
           perp_outcome_name(info->outcome), info->method ? info->method : "-");
    printf(", %s %.3g", infeasible || unbounded ? "measure" : "residual",
           infeasible || unbounded ? info->certificate : perp_convex_residual_largest(info->residual));
    printf(", %d %s, %.3g us\n", info->iterations, info->iterations == 1 ? "iteration" : "iterations", t->time_us);
    solve_print_tried(info->tried, info->tried_count);
    if (info->outcome == PERP_OUTCOME_SOLVED) {
        solve_print_numbers("x = ", t->point.x, t->n);
        printf("objective = %.9g\n", info->objective + 0.0);
        print_multipliers("y", t);
    } else if (infeasible) {
        print_multipliers("farkas", t);
    } else if (unbounded) {
        solve_print_numbers("direction = ", t->point.x, t->n);
    }
}

static int print_json(const attempt *t, const perp_error *failure)
{
    const perp_convex_report report = {
        .qp = t->qp, .cone_qp = t->cone_qp, .info = &t->info, .point = &t->point, .time_us = t->time_us};
    return cli_write_json(perp_convex_json(failure ? NULL : &report, failure));
}

/* What the loader could not see: that H is indefinite is found while solving, and told where H stands. */
static int refuse(const perp_problem *problem, const char *file, perp_error *error)
{
    if (error->status != PERP_STATUS_BAD_INPUT || problem->hessian_line == 0) {
        return cli_refuse(error);
    }
    static perp_diagnostics diagnostics;
    perp_diagnostics_add(&diagnostics, PERP_SEVERITY_ERROR, file, problem->hessian_line, problem->hessian_column, "H",
                         "%s", error->message);
    perp_diagnostics_first_error(&diagnostics, error->status, error);
    cli_print_diagnostics(&diagnostics);
    return EXIT_BAD_INPUT;
}

int solve_convex(const perp_problem *problem, const perp_convex_settings *settings, const char *file, bool json)
{
    attempt t;
    perp_error error = {0};
    perp_convex_workspace *workspace = NULL;
    perp_status status = attempt_create(problem, &t, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_convex_workspace_create(NULL, &workspace, &error);
    }
    if (status == PERP_STATUS_OK) {
        status = solve(settings, workspace, &t, &error);
    }
    perp_convex_workspace_free(workspace);
    const bool answered = status == PERP_STATUS_OK;
    int code = answered ? EXIT_DONE : refuse(problem, file, &error), written = EXIT_DONE;
    if (json) {
        written = print_json(&t, answered ? NULL : &error);
    } else if (answered) {
        print_report(&t);
    }
    code = answered ? solve_explain(t.info.outcome, perp_convex_residual_largest(t.info.residual),
                                    "no x meets the constraints")
                    : code;
    free(t.point.x);
    return written == EXIT_DONE ? code : written;
}
