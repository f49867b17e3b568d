#include "solver/lcp_core.h"

#include "solver/slice.h"

#include <limits.h>

/* The largest n whose (n + 2)^2 doubles still have a size_t and whose indices still have an int on every machine. */
enum { LARGEST = 20000 };

static void lay_out(perp_lcp_workspace *c, perp_sizer *s, int n)
{
    const size_t length = (size_t)n + 2, square = length * length;
    double **matrices[] = {&c->columns, &c->h, &c->lu};
    double **vectors[] = {&c->q,        &c->range,      &c->row_scale, &c->col_scale, &c->sign, &c->origin,
                          &c->z,        &c->w,          &c->rate_z,    &c->rate_w,    &c->work, &c->work2,
                          &c->tie_rate, &c->tie_value,  &c->point,     &c->covering,  &c->kept, &c->lower,
                          &c->upper,    &c->start_sign, &c->farkas};
    int **integers[] = {&c->rows, &c->cols, &c->row_at, &c->col_at, &c->pivots, &c->ties, &c->basis, &c->warm};
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
        *matrices[k] = perp_sizer_take(s, square, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = perp_sizer_take(s, length, sizeof(double));
    }
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
        *integers[k] = perp_sizer_take(s, length, sizeof(int));
    }
    c->wide = perp_sizer_take(s, length, sizeof(long double));
    c->is_free = perp_sizer_take(s, length, sizeof(bool));
    c->start_z = perp_sizer_take(s, length, sizeof(bool));
}

perp_status perp_lcp_workspace_create(int n, const perp_allocator *allocator, perp_lcp_workspace **workspace,
                                      perp_error *error)
{
    *workspace = NULL;
    if (n < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a workspace for problems of size %d", n);
    }
    if (n > LARGEST) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "dense complementarity problems have at most %d unknowns, not %d",
                         LARGEST, n);
    }
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    perp_lcp_workspace *c = own.allocate(own.context, sizeof *c);
    if (!c) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a complementarity workspace");
    }
    *c = (perp_lcp_workspace){.capacity = n};
    perp_sizer count = {NULL, 0};
    lay_out(c, &count, n);
    if (perp_workspace_init(&c->memory, &own, count.bytes) != PERP_STATUS_OK) {
        own.release(own.context, c);
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for complementarity problems of size %d", n);
    }
    perp_sizer push = {&c->memory, 0};
    lay_out(c, &push, n);
    *workspace = c;
    return PERP_STATUS_OK;
}

void perp_lcp_workspace_free(perp_lcp_workspace *workspace)
{
    if (workspace) {
        const perp_allocator own = workspace->memory.allocator;
        perp_workspace_free(&workspace->memory);
        own.release(own.context, workspace);
    }
}
