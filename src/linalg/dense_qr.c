/* A P = Q [T 0; 0 0] Z.
 *
 * Invariant after step k of the first phase: columns 0 .. k hold R on and above the diagonal and, below it, the tails
 * of the reflectors H_i = I - tau_i v v' with v = (0 .. 0, 1, tail); Q = H_0 H_1 .. ; norms[j] is the norm of what is
 * left of column j below row k.
 *
 * Second phase, only if rank < columns: the first `rank` rows [R11 R12] become [T 0] by reflectors from the right. That
 * of row i has its 1 at column i and its tail where R12 stood, contiguous in the row. [T 0] = [R11 R12] G_{r-1} .. G_0,
 * so Z = G_0 .. G_{r-1} and Z' x applies G_0 first. */
#include <perp/linalg.h>

#include "linalg/dense_kernel.h"

#include <float.h>

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The norm of n entries that stand `step` apart, without overflow or underflow on the way. */
static double safe_norm(int n, const double *x, int step)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double entry = fabs(x[(ptrdiff_t)i * step]);
        largest = entry > largest ? entry : largest;
    }
    if (largest == 0.0 || largest > DBL_MAX) {
        return largest;
    }
    int exponent = 0;
    if (largest < 0x1p-480 || largest > 0x1p480) {
        frexp(largest, &exponent);
    }
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double entry = x[(ptrdiff_t)i * step];
        const double scaled = exponent ? ldexp(entry, -exponent) : entry;
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}

/* Makes H = I - tau v v', v = (1, tail), with H (head, tail) = (beta, 0): writes beta to *head, v's tail over the tail,
 * and returns tau (0 for H = I). The sign of beta is opposite to that of head, so that head - beta does not cancel. */
static double make_reflector(double *head, int n, double *tail, int step)
{
    const double norm = safe_norm(n, tail, step);
    if (norm == 0.0) {
        return 0.0;
    }
    /* Near the subnormal numbers beta would carry few digits and H would not be orthogonal: work 2^200 higher. */
    const int lift = hypot(*head, norm) < 0x1p-960 ? 200 : 0;
    for (int i = 0; lift && i < n; i++) {
        tail[(ptrdiff_t)i * step] = ldexp(tail[(ptrdiff_t)i * step], lift);
    }
    const double alpha = ldexp(*head, lift);
    const double length = hypot(alpha, lift ? safe_norm(n, tail, step) : norm);
    const double beta = alpha > 0.0 ? -length : length;
    for (int i = 0; i < n; i++) {
        tail[(ptrdiff_t)i * step] /= alpha - beta;
    }
    *head = ldexp(beta, -lift);
    return (beta - alpha) / beta;
}

size_t perp_qr_memory_length(int rows, int columns)
{
    assert(rows >= 0 && columns >= 0);
    return 2 * (size_t)smaller(rows, columns) + 3 * (size_t)columns;
}

void perp_qr_init(perp_qr *qr, int rows, int columns, double *a, int stride, double *memory, int *permutation)
{
    assert(qr && rows >= 0 && columns >= 0 && stride >= columns);
    const int least = smaller(rows, columns);
    assert((least == 0 || a) && (columns == 0 || (memory && permutation)));
    qr->rows = rows;
    qr->columns = columns;
    qr->stride = stride;
    qr->rank = 0;
    qr->factors = a;
    qr->tau_left = memory;
    qr->tau_right = columns ? memory + least : memory;
    qr->permutation = permutation;
    qr->work = columns ? memory + 2 * least : memory;
}

static void exchange_columns(perp_qr *qr, int k, int p)
{
    for (int i = 0; i < qr->rows; i++) {
        double *row = perp_row(qr->factors, qr->stride, i);
        perp_dense_swap(1, row + k, row + p);
    }
    const int t = qr->permutation[k];
    qr->permutation[k] = qr->permutation[p];
    qr->permutation[p] = t;
}

/* Applies reflector k to the columns right of it: w = tau v' A, A -= v w, both by rows. */
static void reflect_columns(perp_qr *qr, int k, double *w)
{
    const int count = qr->columns - k - 1;
    const double tau = qr->tau_left[k];
    if (tau == 0.0 || count == 0) {
        return;
    }
    double *top = perp_row(qr->factors, qr->stride, k) + k + 1;
    for (int j = 0; j < count; j++) {
        w[j] = top[j];
    }
    for (int i = k + 1; i < qr->rows; i++) {
        const double *row = perp_row_const(qr->factors, qr->stride, i) + k;
        perp_dense_subtract(count, -row[0], row + 1, w);
    }
    for (int j = 0; j < count; j++) {
        w[j] *= tau;
        top[j] -= w[j];
    }
    for (int i = k + 1; i < qr->rows; i++) {
        double *row = perp_row(qr->factors, qr->stride, i) + k;
        perp_dense_subtract(count, row[0], w, row + 1);
    }
}

/* norms[j] without row k. The difference of squares loses digits each time; once what is left, compared with the last
 * norm computed afresh, is down to sqrt(eps), it is computed afresh (LAPACK's dlaqp2; Drmac and Bujanovic 2008). */
static void update_norms(const perp_qr *qr, int k, double *norms, double *fresh)
{
    for (int j = k + 1; j < qr->columns; j++) {
        if (norms[j] == 0.0) {
            continue;
        }
        const double *entry = perp_row_const(qr->factors, qr->stride, k) + j;
        const double ratio = fabs(*entry) / norms[j];
        const double left = ratio < 1.0 ? (1.0 - ratio) * (1.0 + ratio) : 0.0;
        const double since = norms[j] / fresh[j];
        if (left * since * since > 0x1p-26) {
            norms[j] *= sqrt(left);
        } else {
            const int below = qr->rows - k - 1;
            norms[j] = below ? safe_norm(below, entry + qr->stride, qr->stride) : 0.0;
            fresh[j] = norms[j];
        }
    }
}

static void factor_with_pivoting(perp_qr *qr)
{
    double *norms = qr->work, *fresh = qr->work + qr->columns, *w = qr->work + 2 * (size_t)qr->columns;
    for (int j = 0; j < qr->columns; j++) {
        qr->permutation[j] = j;
        norms[j] = qr->rows ? safe_norm(qr->rows, qr->factors + j, qr->stride) : 0.0;
        fresh[j] = norms[j];
    }
    for (int k = 0; k < smaller(qr->rows, qr->columns); k++) {
        int p = k;
        for (int j = k + 1; j < qr->columns; j++) {
            p = norms[j] > norms[p] ? j : p;
        }
        if (p != k) {
            exchange_columns(qr, k, p);
            norms[p] = norms[k];
            fresh[p] = fresh[k];
        }
        double *head = perp_row(qr->factors, qr->stride, k) + k;
        const int below = qr->rows - k - 1;
        qr->tau_left[k] = below ? make_reflector(head, below, head + qr->stride, qr->stride) : 0.0;
        reflect_columns(qr, k, w);
        update_norms(qr, k, norms, fresh);
    }
}

static int find_rank(const perp_qr *qr, double relative_tolerance)
{
    const int least = smaller(qr->rows, qr->columns);
    const int most = qr->rows > qr->columns ? qr->rows : qr->columns;
    const double relative = relative_tolerance > 0.0 ? relative_tolerance : most * DBL_EPSILON;
    int rank = 0;
    while (rank < least) {
        const double first = fabs(qr->factors[0]);
        const double entry = fabs(perp_row_const(qr->factors, qr->stride, rank)[rank]);
        if (!(entry > 0.0) || !(entry > relative * first)) {
            break;
        }
        rank++;
    }
    return rank;
}

static void eliminate_right_block(perp_qr *qr)
{
    const int rank = qr->rank, rest = qr->columns - rank;
    for (int i = rank - 1; i >= 0; i--) {
        double *row = perp_row(qr->factors, qr->stride, i);
        const double tau = rest ? make_reflector(row + i, rest, row + rank, 1) : 0.0;
        qr->tau_right[i] = tau;
        for (int p = 0; tau != 0.0 && p < i; p++) {
            double *above = perp_row(qr->factors, qr->stride, p);
            const double s = tau * (above[i] + perp_dense_dot(rest, above + rank, row + rank));
            above[i] -= s;
            perp_dense_subtract(rest, s, row + rank, above + rank);
        }
    }
}

perp_status perp_qr_factor(perp_qr *qr, double relative_tolerance)
{
    assert(qr && relative_tolerance < 1.0);
    qr->rank = 0;
    if (qr->columns == 0) {
        return PERP_STATUS_OK;
    }
    if (perp_dense_first_bad_row(qr->rows, qr->columns, qr->factors, qr->stride) >= 0) {
        return PERP_STATUS_BAD_INPUT;
    }
    factor_with_pivoting(qr);
    qr->rank = find_rank(qr, relative_tolerance);
    eliminate_right_block(qr);
    const bool finite = perp_dense_first_bad_row(qr->rows, qr->columns, qr->factors, qr->stride) < 0 &&
                        perp_dense_is_finite(smaller(qr->rows, qr->columns), qr->tau_left) &&
                        perp_dense_is_finite(qr->rank, qr->tau_right);
    return finite ? PERP_STATUS_OK : PERP_STATUS_SINGULAR;
}

static void reflect_vector(const perp_qr *qr, int k, double *x)
{
    double s = x[k];
    for (int i = k + 1; i < qr->rows; i++) {
        s += perp_row_const(qr->factors, qr->stride, i)[k] * x[i];
    }
    s *= qr->tau_left[k];
    x[k] -= s;
    for (int i = k + 1; i < qr->rows; i++) {
        x[i] -= s * perp_row_const(qr->factors, qr->stride, i)[k];
    }
}

void perp_qr_apply_q(const perp_qr *qr, double *x)
{
    for (int k = smaller(qr->rows, qr->columns) - 1; k >= 0; k--) {
        reflect_vector(qr, k, x);
    }
}

void perp_qr_apply_q_transposed(const perp_qr *qr, double *x)
{
    for (int k = 0; k < smaller(qr->rows, qr->columns); k++) {
        reflect_vector(qr, k, x);
    }
}

/* y := Z' y */
static void apply_z_transposed(const perp_qr *qr, double *y)
{
    const int rank = qr->rank, rest = qr->columns - rank;
    for (int i = 0; rest > 0 && i < rank; i++) {
        const double *tail = perp_row_const(qr->factors, qr->stride, i) + rank;
        const double s = qr->tau_right[i] * (y[i] + perp_dense_dot(rest, tail, y + rank));
        y[i] -= s;
        perp_dense_subtract(rest, s, tail, y + rank);
    }
}

/* x = P Z' [T^-1 (Q' b)_1 ; 0]: any other solution adds Z' [0 ; w], which is orthogonal to it. */
void perp_qr_solve(const perp_qr *qr, double *b, double *x)
{
    const int rank = qr->rank;
    double *y = qr->work;
    perp_qr_apply_q_transposed(qr, b);
    for (int i = rank - 1; i >= 0; i--) {
        const double *row = perp_row_const(qr->factors, qr->stride, i);
        y[i] = (b[i] - perp_dense_dot(rank - i - 1, row + i + 1, y + i + 1)) / row[i];
    }
    for (int i = rank; i < qr->columns; i++) {
        y[i] = 0.0;
    }
    apply_z_transposed(qr, y);
    for (int j = 0; j < qr->columns; j++) {
        x[qr->permutation[j]] = y[j];
    }
}

void perp_qr_null_space(const perp_qr *qr, double *basis, int basis_stride)
{
    const int rest = qr->columns - qr->rank;
    assert(basis_stride >= rest && (rest == 0 || basis));
    for (int c = 0; c < rest; c++) {
        double *y = qr->work;
        for (int j = 0; j < qr->columns; j++) {
            y[j] = j == qr->rank + c ? 1.0 : 0.0;
        }
        apply_z_transposed(qr, y);
        for (int j = 0; j < qr->columns; j++) {
            perp_row(basis, basis_stride, qr->permutation[j])[c] = y[j];
        }
    }
}
