#include "problem/checks.h"
#include "solver/mcp_newton.h"

#include "solver/slice.h"

#include <limits.h>
#include <string.h>

/* The largest n whose n^2 entries still have indices on every machine; with a linear solver the pattern sets it. */
enum { LARGEST_DENSE = 20000 };

/* Entries of the Newton matrix on the pattern: those of the Jacobian and what its diagonal lacks. */
static size_t matrix_entries(const perp_nonlinear_mcp *p)
{
    size_t count = p->n > 0 ? (size_t)p->column_starts[p->n] : 0;
    for (int j = 0; j < p->n; j++) {
        bool has_diagonal = false;
        for (int k = p->column_starts[j]; k < p->column_starts[j + 1]; k++) {
            has_diagonal = has_diagonal || p->row_indices[k] == j;
        }
        count += has_diagonal ? 0 : 1;
    }
    return count;
}

static void lay_out_pattern(perp_newton_core *c, perp_sizer *s, const perp_nonlinear_mcp *p)
{
    const size_t n = (size_t)p->n, nonzeros = n ? (size_t)p->column_starts[n] : 0;
    c->column_starts = perp_sizer_take(s, n + 1, sizeof(int));
    c->row_indices = perp_sizer_take(s, nonzeros + 1, sizeof(int));
    if (c->door) {
        c->matrix_starts = perp_sizer_take(s, n + 1, sizeof(int));
        c->matrix_rows = perp_sizer_take(s, matrix_entries(p) + 1, sizeof(int));
        c->place = perp_sizer_take(s, nonzeros + 1, sizeof(int));
        c->diagonal = perp_sizer_take(s, n + 1, sizeof(int));
    }
}

static void lay_out(perp_newton_core *c, perp_sizer *s, const perp_nonlinear_mcp *p)
{
    const size_t n = (size_t)p->n, square = n * n;
    const size_t jacobian = c->has_pattern ? (n ? (size_t)p->column_starts[n] : 0) : square;
    if (c->has_pattern) {
        lay_out_pattern(c, s, p);
    }
    c->jacobian = perp_sizer_take(s, jacobian + 1, sizeof(double));
    c->matrix = perp_sizer_take(s, c->door ? matrix_entries(p) + 1 : square + 1, sizeof(double));
    c->pivots = perp_sizer_take(s, n + 1, sizeof(int));
    double **vectors[] = {&c->now.z,   &c->now.f,  &c->now.equation, &c->trial.z, &c->trial.f, &c->trial.equation,
                          &c->best.z,  &c->best.f, &c->lower,        &c->upper,   &c->centre,  &c->slope_z,
                          &c->slope_f, &c->step,   &c->gradient,     &c->begin,   &c->kept,    &c->work};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = perp_sizer_take(s, n + 1, sizeof(double));
    }
    if (p->n <= PERP_MCP_NEWTON_PATH_MAX_N) {
        c->linear_m = perp_sizer_take(s, square + 1, sizeof(double));
        c->linear_q = perp_sizer_take(s, n + 1, sizeof(double));
        c->linear_z = perp_sizer_take(s, n + 1, sizeof(double));
        c->linear_w = perp_sizer_take(s, n + 1, sizeof(double));
        c->basis = perp_sizer_take(s, n + 1, sizeof(int));
    }
}

/* The pattern with its diagonal, rows increasing. */
static void merge_diagonal(perp_newton_core *c, int n)
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        bool placed = false;
        c->matrix_starts[j] = count;
        for (int k = c->column_starts[j]; k <= c->column_starts[j + 1]; k++) {
            const bool end = k == c->column_starts[j + 1];
            if (!placed && (end || c->row_indices[k] >= j)) {
                placed = true;
                c->diagonal[j] = count;
                c->matrix_rows[count++] = j;
            }
            if (!end) {
                const bool on_diagonal = c->row_indices[k] == j;
                c->place[k] = on_diagonal ? c->diagonal[j] : count;
                c->matrix_rows[c->place[k]] = c->row_indices[k];
                count += on_diagonal ? 0 : 1;
            }
        }
    }
    c->matrix_starts[n] = count;
}

static perp_status fill(perp_newton_core *c, const perp_nonlinear_mcp *p, const perp_allocator *own, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    if (c->has_pattern) {
        memcpy(c->column_starts, p->column_starts, ((size_t)p->n + 1) * sizeof(int));
        memcpy(c->row_indices, p->row_indices, (size_t)p->column_starts[p->n] * sizeof(int));
    }
    if (c->door) {
        merge_diagonal(c, p->n);
        status = c->door->create(p->n, c->matrix_starts, c->matrix_rows, own, &c->factors, error);
    }
    if (status == PERP_STATUS_OK && p->n <= PERP_MCP_NEWTON_PATH_MAX_N) {
        status = perp_lcp_workspace_create(p->n, own, &c->lemke, error);
    }
    return status;
}

static perp_status check_shape(const perp_nonlinear_mcp *p, bool sparse, perp_error *error)
{
    perp_nonlinear_mcp shape = *p; /* the rest may change from solve to solve */
    shape.lower = shape.upper = NULL;
    shape.scale = 0.0;
    const perp_status status = perp_nonlinear_mcp_check(&shape, error);
    if (status == PERP_STATUS_OK && !sparse && p->n > LARGEST_DENSE) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "a dense Newton matrix has at most %d rows, not %d",
                         LARGEST_DENSE, p->n);
    }
    if (status == PERP_STATUS_OK && sparse && p->column_starts[p->n] > INT_MAX - p->n) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the Jacobian has too many entries: %d", p->column_starts[p->n]);
    }
    return status;
}

perp_status perp_mcp_newton_workspace_create(const perp_nonlinear_mcp *problem, const perp_linear_solver *linear_solver,
                                             const perp_allocator *allocator, perp_mcp_newton_workspace **workspace,
                                             perp_error *error)
{
    *workspace = NULL;
    const bool has_pattern = problem->n > 0 && problem->column_starts;
    perp_status status = check_shape(problem, has_pattern && linear_solver, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    perp_newton_core *c = own.allocate(own.context, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a Newton workspace");
    }
    *c = (perp_newton_core){
        .capacity = problem->n, .has_pattern = has_pattern, .door = has_pattern ? linear_solver : NULL};
    perp_sizer count = {NULL, 0};
    lay_out(c, &count, problem);
    if (perp_workspace_init(&c->memory, &own, count.bytes) != PERP_STATUS_OK) {
        own.release(own.context, c);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for nonlinear mcps of size %d", problem->n);
    }
    perp_sizer push = {&c->memory, 0};
    lay_out(c, &push, problem);
    status = fill(c, problem, &own, error);
    if (status != PERP_STATUS_OK) {
        perp_mcp_newton_workspace_free(c);
        return status;
    }
    *workspace = c;
    return PERP_STATUS_OK;
}

void perp_mcp_newton_workspace_free(perp_mcp_newton_workspace *workspace)
{
    if (workspace) {
        const perp_allocator own = workspace->memory.allocator;
        if (workspace->door) {
            workspace->door->destroy(workspace->factors);
        }
        perp_lcp_workspace_free(workspace->lemke);
        perp_workspace_free(&workspace->memory);
        own.release(own.context, workspace);
    }
}
