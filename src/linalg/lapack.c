/* LAPACK behind one door. Nothing of LAPACKE's types shows in a header.
 *
 * A row-major matrix is the transpose of a column-major one of the same memory, so no matrix is transposed to please
 * LAPACK: a row-major lower triangle is a column-major upper one; A and A' have the same eigenvalues; A' = V S U' has
 * the factors of A exchanged; A x = b is solved with the factors of A' by a transposed solve. Only several right-hand
 * sides and eigenvectors are.
 *
 * The *_work variants are called: the plain ones take memory from malloc and read the environment (LAPACKE_NANCHECK).
 */
#include <perp/linalg.h>

#include "linalg/dense_kernel.h"

#include <lapacke.h>
#include <limits.h>
#include <pthread.h>

/* Weak: absent in a BLAS other than OpenBLAS, and then null. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern char *openblas_get_config(void) __attribute__((weak));

static void pin_to_one_thread(void)
{
    if (openblas_set_num_threads) {
        openblas_set_num_threads(1);
    }
}

static void enter_lapack(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pin_to_one_thread);
}

/* ---- scratch ---------------------------------------------------------------------------------------------------- */

typedef struct scratch {
    perp_allocator allocator;
    void *memory;
    double *reals;
    lapack_int *integers;
} scratch;

/* One block for `reals` doubles and `integers` integers. */
static perp_status scratch_take(scratch *s, const perp_allocator *allocator, size_t reals, size_t integers,
                                perp_error *error)
{
    s->allocator = allocator ? *allocator : perp_allocator_default();
    const size_t size = (reals + 1) * sizeof(double) + (integers + 1) * sizeof(lapack_int);
    s->memory = s->allocator.allocate(s->allocator.context, size);
    if (!s->memory) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of LAPACK scratch", size);
    }
    s->reals = s->memory;
    s->integers = (lapack_int *)(void *)(s->reals + reals + 1);
    return PERP_STATUS_OK;
}

static void scratch_return(scratch *s)
{
    s->allocator.release(s->allocator.context, s->memory);
}

/* LAPACK reports the scratch it wants as a double, and as an int it must fit. */
static perp_status workspace_length(double wanted, lapack_int *length, perp_error *error)
{
    if (!(wanted >= 1.0 && wanted < (double)INT_MAX)) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the matrix is too large for LAPACK's 32-bit sizes");
    }
    *length = (lapack_int)wanted;
    return PERP_STATUS_OK;
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

static perp_status refuse_not_finite(int bad_row, const char *name, perp_error *error)
{
    if (bad_row >= 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "row %d of the %s holds NaN or Inf", bad_row, name);
    }
    return PERP_STATUS_OK;
}

static perp_status refuse_overflow(bool finite, perp_error *error)
{
    return finite ? PERP_STATUS_OK
                  : perp_fail(error, PERP_STATUS_BAD_INPUT, "the matrix is so large that its result overflows");
}

/* info < 0 is a wrong argument: a bug of this file and not of the caller's. */
static perp_status iteration_status(lapack_int info, const char *routine, perp_error *error)
{
    assert(info >= 0);
    if (info != 0) {
        return perp_fail(error, PERP_STATUS_NOT_CONVERGED, "LAPACK's %s did not converge (info %d)", routine,
                         (int)info);
    }
    return PERP_STATUS_OK;
}

static void copy_packed(int rows, int columns, const double *a, int stride, double *packed)
{
    for (int i = 0; i < rows; i++) {
        const double *row = perp_row_const(a, stride, i);
        for (int j = 0; j < columns; j++) {
            perp_row(packed, columns, i)[j] = row[j];
        }
    }
}

/* to = from', from is rows x columns; both row-major and packed. */
static void transpose(int rows, int columns, const double *from, double *to)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            perp_row(to, rows, j)[i] = perp_row_const(from, columns, i)[j];
        }
    }
}

static size_t product(int a, int b)
{
    return (size_t)a * (size_t)b;
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------ */

perp_status perp_symmetric_eigen(int n, const double *a, int stride, double *values, double *vectors,
                                 const perp_allocator *allocator, perp_error *error)
{
    assert(n >= 0 && (n == 0 || (a && values && stride >= n)));
    perp_status status = refuse_not_finite(perp_dense_first_bad_lower_row(n, a, stride), "matrix", error);
    if (status != PERP_STATUS_OK || n == 0) {
        return status;
    }
    enter_lapack();
    const char job = vectors ? 'V' : 'N';
    double wanted = 0.0;
    lapack_int length = 0, integers = 0;
    LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, NULL, n, NULL, &wanted, -1, &integers, -1);
    status = workspace_length(wanted, &length, error);
    scratch s = {.memory = NULL};
    if (status == PERP_STATUS_OK) {
        status = scratch_take(&s, allocator, product(n, n) + (size_t)length, (size_t)integers, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    double *matrix = s.reals, *work = matrix + product(n, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            perp_row(matrix, n, i)[j] = j <= i ? perp_row_const(a, stride, i)[j] : 0.0;
        }
    }
    const lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, matrix, n, values, work, length, s.integers, integers);
    if (vectors) {
        transpose(n, n, matrix, vectors);
    }
    scratch_return(&s);
    status = iteration_status(info, "dsyevd", error);
    return status == PERP_STATUS_OK ? refuse_overflow(perp_dense_is_finite(n, values), error) : status;
}

perp_status perp_general_eigenvalues(int n, const double *a, int stride, double *real, double *imaginary,
                                     const perp_allocator *allocator, perp_error *error)
{
    assert(n >= 0 && (n == 0 || (a && real && imaginary && stride >= n)));
    perp_status status = refuse_not_finite(perp_dense_first_bad_row(n, n, a, stride), "matrix", error);
    if (status != PERP_STATUS_OK || n == 0) {
        return status;
    }
    enter_lapack();
    double wanted = 0.0;
    lapack_int length = 0;
    LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, NULL, n, NULL, NULL, NULL, 1, NULL, 1, &wanted, -1);
    status = workspace_length(wanted, &length, error);
    scratch s = {.memory = NULL};
    if (status == PERP_STATUS_OK) {
        status = scratch_take(&s, allocator, product(n, n) + (size_t)length, 0, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    double *matrix = s.reals, *work = matrix + product(n, n);
    copy_packed(n, n, a, stride, matrix);
    const lapack_int info =
        LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, matrix, n, real, imaginary, NULL, 1, NULL, 1, work, length);
    scratch_return(&s);
    status = iteration_status(info, "dgeev", error);
    const bool finite = perp_dense_is_finite(n, real) && perp_dense_is_finite(n, imaginary);
    return status == PERP_STATUS_OK ? refuse_overflow(finite, error) : status;
}

/* ---- singular values -------------------------------------------------------------------------------------------- */

/* The QR iteration (dgesvd) and not divide and conquer (dgesdd), which has failed to converge on finite matrices. The
 * column-major columns x rows matrix in this memory is A' = V S U': LAPACK's "u" is V, whose column-major memory is V'
 * row-major, and its "vt" is U', whose memory is U row-major. */
perp_status perp_singular_values(int rows, int columns, const double *a, int stride, perp_singular_arrays out,
                                 const perp_allocator *allocator, perp_error *error)
{
    const int least = rows < columns ? rows : columns;
    assert(least >= 0 && (least == 0 || (a && out.values && stride >= columns)));
    if (least == 0) {
        return PERP_STATUS_OK;
    }
    perp_status status = refuse_not_finite(perp_dense_first_bad_row(rows, columns, a, stride), "matrix", error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    enter_lapack();
    const char job_u = out.u ? 'S' : 'N', job_v = out.v_transposed ? 'S' : 'N';
    double wanted = 0.0;
    lapack_int length = 0;
    LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, job_v, job_u, columns, rows, NULL, columns, NULL, NULL, columns, NULL, least,
                        &wanted, -1);
    status = workspace_length(wanted, &length, error);
    scratch s = {.memory = NULL};
    if (status == PERP_STATUS_OK) {
        status = scratch_take(&s, allocator, product(rows, columns) + (size_t)length, 0, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    double *matrix = s.reals, *work = matrix + product(rows, columns);
    copy_packed(rows, columns, a, stride, matrix);
    const lapack_int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, job_v, job_u, columns, rows, matrix, columns,
                                                out.values, out.v_transposed, columns, out.u, least, work, length);
    scratch_return(&s);
    status = iteration_status(info, "dgesvd", error);
    return status == PERP_STATUS_OK ? refuse_overflow(perp_dense_is_finite(least, out.values), error) : status;
}

const char *perp_lapack_description(void)
{
    return openblas_get_config ? openblas_get_config() : "LAPACK";
}
