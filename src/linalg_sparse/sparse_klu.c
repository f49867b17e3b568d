/* KLU behind an opaque handle.
 *
 * Invariant: `numeric` is non-null exactly when it holds factors of `values`, complete and finite, whose reciprocal
 * pivot growth is `growth` > 0. The pattern never changes after create. For n = 0, which KLU refuses, there are no KLU
 * objects and every operation is empty.
 *
 * KLU declares its input arrays without const though it does not write to them; they are our copies in any case. */
#include <perp/linalg_sparse.h>

#include <assert.h>
#include <klu.h>
#include <string.h>

/* A refactorisation is kept if its growth is at most this many times that of the last full one: three digits of the
 * sixteen are the price, at worst, of not choosing pivots anew. */
static const double growth_allowed = 1e3;

struct perp_sparse_lu {
    perp_allocator allocator;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int n;
    int nonzeros;
    int factorizations;
    int refactorizations;
    double growth;      /* reciprocal pivot growth of `numeric` */
    double full_growth; /* that of the last full factorisation */
    double *values;     /* nonzeros */
    int *column_starts; /* n + 1 */
    int *row_indices;   /* nonzeros */
};

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static perp_status check_column(const perp_sparse_matrix *a, int j, perp_error *error)
{
    const int begin = a->column_starts[j], end = a->column_starts[j + 1];
    for (int k = begin; k < end; k++) {
        const int row = a->row_indices[k];
        if (row < 0 || row >= a->n) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "column %d of the sparse matrix names row %d of %d", j, row,
                             a->n);
        }
        if (k > begin && row <= a->row_indices[k - 1]) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT,
                             "column %d of the sparse matrix names row %d after row %d: rows must increase", j, row,
                             a->row_indices[k - 1]);
        }
    }
    return PERP_STATUS_OK;
}

/* All starts are checked before any row index is read, so that a bad start cannot lead outside the arrays. */
static perp_status check_pattern(const perp_sparse_matrix *a, perp_error *error)
{
    if (a->n < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the sparse matrix has size %d", a->n);
    }
    if (a->n > 0 && a->column_starts[0] != 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the first column of the sparse matrix starts at %d, not at 0",
                         a->column_starts[0]);
    }
    for (int j = 0; j < a->n; j++) {
        if (a->column_starts[j + 1] < a->column_starts[j]) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "column %d of the sparse matrix ends before it starts", j);
        }
    }
    for (int j = 0; j < a->n; j++) {
        const perp_status status = check_column(a, j, error);
        if (status != PERP_STATUS_OK) {
            return status;
        }
    }
    return PERP_STATUS_OK;
}

static perp_status check_finite(const double *values, size_t count, const char *name, perp_error *error)
{
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(values[k])) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %zu of the %s is NaN or Inf", k, name);
        }
    }
    return PERP_STATUS_OK;
}

/* KLU_INVALID would be a bug of this file: the pattern was checked. */
static perp_status klu_failure(const perp_sparse_lu *lu, perp_error *error)
{
    const klu_common *common = &lu->common;
    assert(common->status != KLU_INVALID);
    if (common->status == KLU_OUT_OF_MEMORY) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the sparse factorisation");
    }
    if (common->status == KLU_TOO_LARGE) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the sparse factors exceed 32-bit sizes");
    }
    if (common->structural_rank >= 0 && common->structural_rank < lu->n) {
        return perp_fail(error, PERP_STATUS_SINGULAR, "the sparse matrix is singular: its pattern has rank %d of %d",
                         common->structural_rank, lu->n);
    }
    return perp_fail(error, PERP_STATUS_SINGULAR, "the sparse matrix is singular: no pivot for column %d",
                     common->singular_col);
}

/* ---- factorisation ---------------------------------------------------------------------------------------------- */

static void drop_factors(perp_sparse_lu *lu)
{
    if (lu->numeric) {
        klu_free_numeric(&lu->numeric, &lu->common);
    }
    lu->numeric = NULL;
    lu->growth = 0.0;
}

/* Sets lu->growth; false if the factors hold a zero or something that is not finite: a NaN on U's diagonal gives
 * rcond = 0, an infinite entry of U gives no growth > 0. */
static bool measure_factors(perp_sparse_lu *lu)
{
    const bool measured =
        klu_rcond(lu->symbolic, lu->numeric, &lu->common) && lu->common.status == KLU_OK && lu->common.rcond > 0.0 &&
        klu_rgrowth(lu->column_starts, lu->row_indices, lu->values, lu->symbolic, lu->numeric, &lu->common);
    lu->growth = measured ? lu->common.rgrowth : 0.0;
    return lu->growth > 0.0 && isfinite(lu->growth);
}

static perp_status factor_anew(perp_sparse_lu *lu, perp_error *error)
{
    drop_factors(lu);
    lu->numeric = klu_factor(lu->column_starts, lu->row_indices, lu->values, lu->symbolic, &lu->common);
    if (!lu->numeric || lu->common.status != KLU_OK) {
        const perp_status status = klu_failure(lu, error);
        drop_factors(lu);
        return status;
    }
    if (!measure_factors(lu)) {
        drop_factors(lu);
        return perp_fail(error, PERP_STATUS_SINGULAR, "the factors of the sparse matrix overflow");
    }
    lu->full_growth = lu->growth;
    lu->factorizations++;
    return PERP_STATUS_OK;
}

static bool refactor_with_old_pivots(perp_sparse_lu *lu)
{
    return lu->numeric &&
           klu_refactor(lu->column_starts, lu->row_indices, lu->values, lu->symbolic, lu->numeric, &lu->common) &&
           lu->common.status == KLU_OK && measure_factors(lu) && lu->growth * growth_allowed >= lu->full_growth;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

/* One block: the handle, then the values, the starts and the rows. */
static perp_sparse_lu *allocate_handle(const perp_sparse_matrix *a, perp_allocator allocator)
{
    const size_t n = (size_t)a->n, nonzeros = n ? (size_t)a->column_starts[n] : 0;
    const size_t header = (sizeof(perp_sparse_lu) + 15) / 16 * 16;
    unsigned char *block = allocator.allocate(allocator.context, header + nonzeros * sizeof(double) +
                                                                     (n + 1) * sizeof(int) + nonzeros * sizeof(int));
    if (!block) {
        return NULL;
    }
    perp_sparse_lu *lu = (perp_sparse_lu *)(void *)block;
    memset(lu, 0, sizeof *lu);
    lu->allocator = allocator;
    lu->n = a->n;
    lu->nonzeros = (int)nonzeros;
    lu->values = (double *)(void *)(block + header);
    lu->column_starts = (int *)(void *)(lu->values + nonzeros);
    lu->row_indices = lu->column_starts + n + 1;
    if (n > 0) {
        memcpy(lu->column_starts, a->column_starts, (n + 1) * sizeof(int));
    }
    if (nonzeros > 0) {
        memcpy(lu->values, a->values, nonzeros * sizeof(double));
        memcpy(lu->row_indices, a->row_indices, nonzeros * sizeof(int));
    }
    klu_defaults(&lu->common);
    return lu;
}

perp_status perp_sparse_lu_create(const perp_sparse_matrix *a, const perp_allocator *allocator, perp_sparse_lu **lu,
                                  perp_error *error)
{
    assert(a && lu);
    *lu = NULL;
    perp_status status = check_pattern(a, error);
    if (status == PERP_STATUS_OK && a->n > 0) {
        status = check_finite(a->values, (size_t)a->column_starts[a->n], "sparse matrix", error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_sparse_lu *made = allocate_handle(a, allocator ? *allocator : perp_allocator_default());
    if (!made) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the sparse matrix");
    }
    if (made->n > 0) {
        made->symbolic = klu_analyze(made->n, made->column_starts, made->row_indices, &made->common);
        status = made->symbolic ? factor_anew(made, error) : klu_failure(made, error);
    }
    if (status != PERP_STATUS_OK) {
        perp_sparse_lu_destroy(made);
        return status;
    }
    *lu = made;
    return PERP_STATUS_OK;
}

perp_status perp_sparse_lu_refactor(perp_sparse_lu *lu, const double *values, perp_error *error)
{
    assert(lu && (values || lu->nonzeros == 0));
    const perp_status status = check_finite(values, (size_t)lu->nonzeros, "sparse matrix", error);
    if (status != PERP_STATUS_OK || lu->n == 0) {
        return status;
    }
    memcpy(lu->values, values, (size_t)lu->nonzeros * sizeof(double));
    if (refactor_with_old_pivots(lu)) {
        lu->refactorizations++;
        return PERP_STATUS_OK;
    }
    return factor_anew(lu, error);
}

perp_status perp_sparse_lu_factor(perp_sparse_lu *lu, const double *values, perp_error *error)
{
    assert(lu && (values || lu->nonzeros == 0));
    const perp_status status = check_finite(values, (size_t)lu->nonzeros, "sparse matrix", error);
    if (status != PERP_STATUS_OK || lu->n == 0) {
        return status;
    }
    memcpy(lu->values, values, (size_t)lu->nonzeros * sizeof(double));
    return factor_anew(lu, error);
}

static perp_status solve(perp_sparse_lu *lu, bool transposed, int count, double *b, perp_error *error)
{
    assert(lu && count >= 0);
    if (lu->n == 0 || count == 0) {
        return PERP_STATUS_OK;
    }
    assert(b);
    if (!lu->numeric) {
        return perp_fail(error, PERP_STATUS_SINGULAR, "the sparse matrix has no factors: its last refactor failed");
    }
    const size_t length = (size_t)lu->n * (size_t)count;
    const perp_status status = check_finite(b, length, "right-hand side", error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const int done = transposed ? klu_tsolve(lu->symbolic, lu->numeric, lu->n, count, b, &lu->common)
                                : klu_solve(lu->symbolic, lu->numeric, lu->n, count, b, &lu->common);
    if (!done) {
        return klu_failure(lu, error);
    }
    if (check_finite(b, length, "solution", NULL) != PERP_STATUS_OK) {
        return perp_fail(error, PERP_STATUS_SINGULAR,
                         "the sparse matrix is so near a singular one that the solution overflows");
    }
    return PERP_STATUS_OK;
}

perp_status perp_sparse_lu_solve(perp_sparse_lu *lu, int count, double *b, perp_error *error)
{
    return solve(lu, false, count, b, error);
}

perp_status perp_sparse_lu_solve_transposed(perp_sparse_lu *lu, int count, double *b, perp_error *error)
{
    return solve(lu, true, count, b, error);
}

perp_status perp_sparse_lu_reciprocal_condition(perp_sparse_lu *lu, double *rcond, perp_error *error)
{
    assert(lu && rcond);
    *rcond = lu->n == 0 ? 1.0 : 0.0;
    if (lu->n == 0 || !lu->numeric) {
        return PERP_STATUS_OK;
    }
    if (!klu_condest(lu->column_starts, lu->values, lu->symbolic, lu->numeric, &lu->common)) {
        return klu_failure(lu, error);
    }
    const double condition = lu->common.condest;
    if (condition < INFINITY) { /* NaN and Inf leave 0 */
        *rcond = condition > 1.0 ? 1.0 / condition : 1.0;
    }
    return PERP_STATUS_OK;
}

perp_sparse_lu_info perp_sparse_lu_get_info(const perp_sparse_lu *lu)
{
    assert(lu);
    return (perp_sparse_lu_info){
        .nonzeros = lu->nonzeros,
        .nonzeros_l = lu->numeric ? lu->numeric->lnz : 0,
        .nonzeros_u = lu->numeric ? lu->numeric->unz : 0,
        .blocks = lu->symbolic ? lu->symbolic->nblocks : 0,
        .factorizations = lu->factorizations,
        .refactorizations = lu->refactorizations,
        .pivot_growth = lu->growth,
    };
}

void perp_sparse_lu_destroy(perp_sparse_lu *lu)
{
    if (!lu) {
        return;
    }
    drop_factors(lu);
    if (lu->symbolic) {
        klu_free_symbolic(&lu->symbolic, &lu->common);
    }
    const perp_allocator allocator = lu->allocator;
    allocator.release(allocator.context, lu);
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *perp_sparse_description(void)
{
    return "KLU " TEXT(KLU_MAIN_VERSION) "." TEXT(KLU_SUB_VERSION) "." TEXT(KLU_SUBSUB_VERSION);
}
