#include "step/rigid/cone_program.h"

#include "step/common/determined.h"
#include "solver/tolerances.h"

#include <string.h>

enum { DUAL_UNKNOWNS = 300, DUAL_ROWS = 6000 }; /* the dual active set is for small programs */

static perp_status hold(cone_program *p, perp_error *error)
{
    const size_t n = (size_t)p->max_n, rows = (size_t)p->max_rows, equations = (size_t)p->max_equations;
    const block_array arrays[] = {PERP_ARRAY(p->h, n * n),         PERP_ARRAY(p->g, n),
                                  PERP_ARRAY(p->a, rows * n),      PERP_ARRAY(p->b, rows),
                                  PERP_ARRAY(p->c, equations * n), PERP_ARRAY(p->d, equations),
                                  PERP_ARRAY(p->b_slack, rows),    PERP_ARRAY(p->d_slack, equations),
                                  PERP_ARRAY(p->cone_rows, rows),  PERP_ARRAY(p->point.x, n),
                                  PERP_ARRAY(p->point.y, rows),    PERP_ARRAY(p->point.y_equality, equations)};
    return perp_block_arrays(&p->allocator, &p->block, arrays, sizeof arrays / sizeof *arrays, error);
}

perp_status perp_cone_program_open(cone_program *p, const perp_allocator *allocator, perp_error *error)
{
    *p = (cone_program){.allocator = *allocator};
    return perp_convex_workspace_create(allocator, &p->solver, error);
}

void perp_cone_program_close(cone_program *p)
{
    perp_convex_workspace_free(p->solver);
    p->solver = NULL;
    perp_block_free(&p->allocator, &p->block);
}

perp_status perp_cone_program_begin(cone_program *p, int n, int max_rows, int max_equations, perp_error *error)
{
    if (!p->block.memory || n > p->max_n || max_rows > p->max_rows || max_equations > p->max_equations) {
        p->max_n = n > p->max_n ? n : p->max_n;
        p->max_rows = max_rows > p->max_rows ? max_rows : p->max_rows;
        p->max_equations = max_equations > p->max_equations ? max_equations : p->max_equations;
        const perp_status status = hold(p, error);
        if (status != PERP_STATUS_OK) {
            p->max_n = p->max_rows = p->max_equations = 0;
            return status;
        }
    }
    p->n = n;
    p->rows = p->cones = p->equations = p->max_iterations = 0;
    memset(p->h, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(p->g, 0, (size_t)n * sizeof(double));
    return PERP_STATUS_OK;
}

double *perp_cone_program_cone(cone_program *p, int rows)
{
    double *a = p->a + (ptrdiff_t)p->rows * p->n;
    memset(a, 0, (size_t)rows * (size_t)p->n * sizeof(double));
    memset(p->b + p->rows, 0, (size_t)rows * sizeof(double));
    memset(p->b_slack + p->rows, 0, (size_t)rows * sizeof(double));
    p->cone_rows[p->cones++] = rows;
    p->rows += rows;
    return a;
}

double *perp_cone_program_equation(cone_program *p, double target)
{
    double *c = p->c + (ptrdiff_t)p->equations * p->n;
    memset(c, 0, (size_t)p->n * sizeof(double));
    p->d_slack[p->equations] = 0.0;
    p->d[p->equations++] = target;
    return c;
}

bool perp_cone_program_is_determined(cone_program *p)
{
    bool determined = p->equations >= p->n;
    if (determined) {
        for (int e = 0; e < p->equations; e++) {
            perp_determined_add(p->n, p->n, NULL, p->c + (ptrdiff_t)e * p->n, p->h);
        }
        determined = perp_determined_is_one(p->n, p->h, NULL, NULL);
        memset(p->h, 0, (size_t)p->n * (size_t)p->n * sizeof(double));
    }
    return determined;
}

perp_status perp_cone_program_solve(cone_program *p, double tolerance, bool minimum_norm, perp_convex_info *info,
                                    perp_error *error)
{
    const perp_cone_qp problem = {.n = p->n,
                                  .h = p->h,
                                  .g = p->g,
                                  .cones = p->cones,
                                  .cone_rows = p->cone_rows,
                                  .a = p->a,
                                  .b = p->b,
                                  .equalities = p->equations,
                                  .c = p->c,
                                  .d = p->d};
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, tolerance);
    settings.minimum_norm = minimum_norm;
    settings.max_iterations = p->max_iterations;
    if (perp_cone_qp_solve(&problem, &settings, p->solver, &p->point, info, NULL) == PERP_STATUS_OK) {
        return PERP_STATUS_OK; /* large enough from before */
    }
    const perp_status status = perp_cone_qp_reserve(&problem, p->solver, error);
    return status == PERP_STATUS_OK ? perp_cone_qp_solve(&problem, &settings, p->solver, &p->point, info, error)
                                    : status;
}

perp_status perp_cone_program_solve_dual(cone_program *p, double tolerance, perp_convex_info *info, perp_error *error)
{
    if (p->n > DUAL_UNKNOWNS || p->rows > DUAL_ROWS) {
        return perp_cone_program_solve(p, tolerance, false, info, error);
    }
    const perp_qp problem = {.n = p->n,
                             .h = p->h,
                             .g = p->g,
                             .rows = p->rows,
                             .a = p->a,
                             .b = p->b,
                             .equalities = p->equations,
                             .c = p->c,
                             .d = p->d};
    perp_convex_settings settings = perp_convex_settings_default();
    settings.tolerance = fmax(FINEST_TOLERANCE, tolerance);
    settings.minimum_norm = false;
    settings.method = "dual";
    for (int i = 0; i < p->rows; i++) {
        p->b[i] = -p->b[i]; /* A x >= b there */
    }
    perp_status status = perp_qp_reserve(&problem, p->solver, error);
    if (status == PERP_STATUS_OK) {
        status = perp_qp_solve(&problem, &settings, p->solver, &p->point, info, error);
    }
    for (int i = 0; i < p->rows; i++) {
        p->b[i] = -p->b[i];
    }
    return status;
}
