#include "solver/qp_dual_core.h"

/* n^2 doubles still have a size_t, and constraints of all kinds an int, on every machine. */
enum { LARGEST_N = 20000, LARGEST_ROWS = 10000000 };

typedef struct sizer {
    perp_workspace *memory; /* NULL: count only */
    size_t bytes;
} sizer;

static void *take(sizer *s, size_t count, size_t size)
{
    s->bytes += perp_workspace_bytes(count, size);
    return s->memory ? perp_workspace_push(s->memory, count, size) : NULL;
}

static void lay_out_point(const perp_qp_dual_workspace *c, sizer *s, perp_convex_point *point)
{
    point->x = take(s, (size_t)c->capacity_n, sizeof(double));
    point->y = take(s, (size_t)c->capacity_rows, sizeof(double));
    point->y_equality = take(s, (size_t)c->capacity_equalities, sizeof(double));
    point->y_lower = take(s, (size_t)c->capacity_n, sizeof(double));
    point->y_upper = take(s, (size_t)c->capacity_n, sizeof(double));
}

/* Asked once for the size and once for the arrays, so that the two cannot disagree. */
static void lay_out(perp_qp_dual_workspace *c, sizer *s)
{
    const size_t n = (size_t)c->capacity_n;
    const size_t total = (size_t)c->capacity_equalities + (size_t)c->capacity_rows + 2 * n;
    double **matrices[] = {&c->l, &c->jt, &c->r};
    double **vectors[] = {&c->x, &c->u, &c->d, &c->z, &c->step, &c->root, &c->defect_x, &c->defect_u};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        *matrices[k] = take(s, n * n, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = take(s, n, sizeof(double));
    }
    lay_out_point(c, s, &c->point);
    lay_out_point(c, s, &c->kept);
    c->wide = take(s, n, sizeof(long double));
    c->active = take(s, n, sizeof(int));
    c->wanted = take(s, n, sizeof(int));
    c->norm = take(s, total, sizeof(double));
    c->allowed = take(s, total, sizeof(double));
    c->chosen = take(s, total, sizeof(int));
    c->inside = take(s, total, sizeof(bool));
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
    sizer count = {NULL, 0};
    lay_out(c, &count);
    if (perp_workspace_init(&c->memory, &own, count.bytes) != PERP_STATUS_OK) {
        own.release(own.context, c);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for qps of %d unknowns and %d rows", n,
                         rows + equalities);
    }
    sizer push = {&c->memory, 0};
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
