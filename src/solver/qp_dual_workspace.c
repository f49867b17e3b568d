#include "solver/qp_dual.h"
#include "solver/qp_dual_core.h"

#include "solver/slice.h"

/* n^2 doubles still have a size_t, and constraints of all kinds an int, on every machine. */
enum { LARGEST_N = 20000, LARGEST_ROWS = 10000000 };

static void lay_out_point(const perp_qp_dual_workspace *c, perp_sizer *s, perp_convex_point *point)
{
    point->x = perp_sizer_take(s, (size_t)c->capacity_n, sizeof(double));
    point->y = perp_sizer_take(s, (size_t)c->capacity_rows, sizeof(double));
    point->y_equality = perp_sizer_take(s, (size_t)c->capacity_equalities, sizeof(double));
    point->y_lower = perp_sizer_take(s, (size_t)c->capacity_n, sizeof(double));
    point->y_upper = perp_sizer_take(s, (size_t)c->capacity_n, sizeof(double));
}

static void lay_out(perp_qp_dual_workspace *c, perp_sizer *s)
{
    const size_t n = (size_t)c->capacity_n;
    const size_t total = (size_t)c->capacity_equalities + (size_t)c->capacity_rows + 2 * n;
    double **matrices[] = {&c->l, &c->set.jt, &c->set.r};
    double **vectors[] = {&c->set.x,      &c->set.u, &c->set.length, &c->along.d, &c->along.z,
                          &c->along.step, &c->root,  &c->defect_x,   &c->defect_u};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        *matrices[k] = perp_sizer_take(s, n * n, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = perp_sizer_take(s, n, sizeof(double));
    }
    lay_out_point(c, s, &c->point);
    c->wide = perp_sizer_take(s, n, sizeof(long double));
    c->set.active = perp_sizer_take(s, n, sizeof(int));
    c->wanted = perp_sizer_take(s, n, sizeof(int));
    c->norm = perp_sizer_take(s, total, sizeof(double));
    c->allowed = perp_sizer_take(s, total, sizeof(double));
    c->inside = perp_sizer_take(s, total, sizeof(bool));
}

perp_status perp_qp_dual_workspace_create(int n, int rows, int equalities, const perp_allocator *allocator,
                                          perp_qp_dual_workspace **workspace, perp_error *error)
{
    *workspace = NULL;
    if (n < 0 || rows < 0 || equalities < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a workspace for %d unknowns, %d rows and %d equalities", n,
                         rows, equalities);
    }
    if (n > LARGEST_N || rows > LARGEST_ROWS || equalities > LARGEST_ROWS) {
        return perp_fail(error, PERP_STATUS_CAPACITY,
                         "dense qps have at most %d unknowns and %d rows, not %d with %d rows and %d equalities",
                         LARGEST_N, LARGEST_ROWS, n, rows, equalities);
    }
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    perp_qp_dual_workspace *c = own.allocate(own.context, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a dual active set workspace");
    }
    *c = (perp_qp_dual_workspace){.capacity_n = n, .capacity_rows = rows, .capacity_equalities = equalities};
    perp_sizer count = {NULL, 0};
    lay_out(c, &count);
    if (perp_workspace_init(&c->memory, &own, count.bytes) != PERP_STATUS_OK) {
        own.release(own.context, c);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for qps of %d unknowns and %d rows", n,
                         rows + equalities);
    }
    perp_sizer push = {&c->memory, 0};
    lay_out(c, &push);
    *workspace = c;
    return PERP_STATUS_OK;
}

void perp_qp_dual_workspace_free(perp_qp_dual_workspace *workspace)
{
    if (workspace) {
        const perp_allocator own = workspace->memory.allocator;
        perp_workspace_free(&workspace->memory);
        own.release(own.context, workspace);
    }
}
