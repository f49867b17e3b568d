/* KLU behind the door of perp/linalg.h. */
#include <perp/linalg_sparse.h>

/* Factors of a matrix of this pattern that is regular whatever the pattern: so the ordering is found and KLU's memory
 * taken when the handle is made, and singular values later leave the handle in being. */
static perp_status create(int n, const int *column_starts, const int *row_indices, const perp_allocator *allocator,
                          void **handle, perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    const size_t nonzeros = n > 0 ? (size_t)column_starts[n] : 0;
    *handle = NULL;
    double *values = own.allocate(own.context, (nonzeros + 1) * sizeof(double));
    if (!values) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a sparse matrix of %zu entries", nonzeros);
    }
    for (int j = 0; j < n; j++) {
        const int count = column_starts[j + 1] - column_starts[j];
        for (int k = column_starts[j]; k < column_starts[j + 1]; k++) {
            values[k] = row_indices[k] == j ? 1.0 + (double)count : 1.0;
        }
    }
    const perp_sparse_matrix matrix = {n, column_starts, row_indices, values};
    perp_sparse_lu *lu = NULL;
    const perp_status status = perp_sparse_lu_create(&matrix, &own, &lu, error);
    own.release(own.context, values);
    *handle = lu;
    return status;
}

static perp_status factor(void *handle, const double *values, bool anew)
{
    return anew ? perp_sparse_lu_factor(handle, values, NULL) : perp_sparse_lu_refactor(handle, values, NULL);
}

static perp_status solve(void *handle, double *b)
{
    return perp_sparse_lu_solve(handle, 1, b, NULL);
}

static void destroy(void *handle)
{
    perp_sparse_lu_destroy(handle);
}

const perp_linear_solver *perp_sparse_linear_solver(void)
{
    static const perp_linear_solver door = {create, factor, solve, destroy};
    return &door;
}
