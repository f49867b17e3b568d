/* LU by rows, four columns at a time: the panel of four is eliminated first, exchanging whole rows, and then each row
 * below takes the four updates right of the panel in one contiguous pass, which loads and stores it once, not four
 * times. Every entry sees the same operations in the same order as without panels. */

#include "linalg/dense.h"
#include "linalg/dense_kernel.h"

/* The first of the largest entries, so that ties do not depend on anything else. */
static int find_pivot(int n, const double *a, int stride, int k)
{
    int where = k;
    double largest = fabs(perp_row_const(a, stride, k)[k]);
    for (int i = k + 1; i < n; i++) {
        const double entry = fabs(perp_row_const(a, stride, i)[k]);
        if (entry > largest) {
            largest = entry;
            where = i;
        }
    }
    return where;
}

enum { PANEL = 4 };

/* Eliminates columns begin .. end - 1 within themselves; returns the first row with a zero pivot, or -1. */
static int factor_panel(int n, double *a, int stride, int *pivots, int begin, int end)
{
    int zero_pivot = -1;
    for (int k = begin; k < end; k++) {
        const int p = find_pivot(n, a, stride, k);
        double *row = perp_row(a, stride, k);
        pivots[k] = p;
        if (p != k) {
            perp_dense_swap(n, row, perp_row(a, stride, p));
        }
        if (row[k] == 0.0) { /* so is all below it: nothing to eliminate */
            zero_pivot = zero_pivot < 0 ? k : zero_pivot;
            continue;
        }
        for (int i = k + 1; i < n; i++) {
            double *below = perp_row(a, stride, i);
            below[k] /= row[k];
            for (int j = k + 1; j < end; j++) {
                below[j] -= below[k] * row[j];
            }
        }
    }
    return zero_pivot;
}

/* Carries the elimination of a panel to the columns right of it. */
static void update_right(int n, double *a, int stride, int begin, int end)
{
    const int count = n - end; /* 0 for a panel narrower than PANEL, which is the last */
    for (int i = begin + 1; count > 0 && i < end; i++) {
        double *row = perp_row(a, stride, i);
        for (int k = begin; k < i; k++) {
            perp_dense_subtract(count, row[k], perp_row_const(a, stride, k) + end, row + end);
        }
    }
    for (int i = end; i < n; i++) {
        double *row = perp_row(a, stride, i);
        perp_dense_subtract_four(count, row + begin, perp_row_const(a, stride, begin) + end, stride, row + end);
    }
}

perp_status perp_lu_factor(int n, double *a, int stride, int *pivots, int *failed_row)
{
    assert(n >= 0 && (n == 0 || (a && pivots && stride >= n)));
    const int bad = perp_dense_first_bad_row(n, n, a, stride);
    if (bad >= 0) {
        return perp_dense_result(PERP_STATUS_BAD_INPUT, bad, failed_row);
    }
    int zero_pivot = -1;
    for (int begin = 0; begin < n; begin += PANEL) {
        const int end = begin + PANEL < n ? begin + PANEL : n;
        const int zero = factor_panel(n, a, stride, pivots, begin, end);
        zero_pivot = zero_pivot < 0 ? zero : zero_pivot;
        update_right(n, a, stride, begin, end);
    }
    const int overflow = perp_dense_first_bad_row(n, n, a, stride);
    const int failed = overflow >= 0 ? overflow : zero_pivot;
    return perp_dense_result(failed >= 0 ? PERP_STATUS_SINGULAR : PERP_STATUS_OK, failed, failed_row);
}

void perp_lu_solve(int n, const double *lu, int stride, const int *pivots, double *b)
{
    assert(n >= 0 && (n == 0 || (lu && pivots && b && stride >= n)));
    for (int k = 0; k < n; k++) {
        perp_dense_swap(1, b + k, b + pivots[k]);
    }
    for (int i = 1; i < n; i++) {
        b[i] -= perp_dense_dot(i, perp_row_const(lu, stride, i), b);
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = perp_row_const(lu, stride, i);
        b[i] = (b[i] - perp_dense_dot(n - i - 1, row + i + 1, b + i + 1)) / row[i];
    }
}

void perp_lu_solve_transposed(int n, const double *lu, int stride, const int *pivots, double *b)
{
    assert(n >= 0 && (n == 0 || (lu && pivots && b && stride >= n)));
    for (int i = 0; i < n; i++) {
        const double *row = perp_row_const(lu, stride, i);
        b[i] /= row[i];
        perp_dense_subtract(n - i - 1, b[i], row + i + 1, b + i + 1);
    }
    for (int i = n - 1; i > 0; i--) {
        perp_dense_subtract(i, b[i], perp_row_const(lu, stride, i), b);
    }
    for (int k = n - 1; k >= 0; k--) {
        perp_dense_swap(1, b + k, b + pivots[k]);
    }
}

void perp_lu_solve_many(int n, const double *lu, int stride, const int *pivots, perp_matrix_view b)
{
    assert(n >= 0 && b.rows == n && b.stride >= b.columns && (n == 0 || (lu && pivots && stride >= n)));
    for (int k = 0; k < n; k++) {
        if (pivots[k] != k) {
            perp_dense_swap(b.columns, perp_row(b.data, b.stride, k), perp_row(b.data, b.stride, pivots[k]));
        }
    }
    for (int i = 1; i < n; i++) {
        const double *row = perp_row_const(lu, stride, i);
        for (int k = 0; k < i; k++) {
            perp_dense_subtract(b.columns, row[k], perp_row_const(b.data, b.stride, k), perp_row(b.data, b.stride, i));
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = perp_row_const(lu, stride, i);
        double *x = perp_row(b.data, b.stride, i);
        for (int k = i + 1; k < n; k++) {
            perp_dense_subtract(b.columns, row[k], perp_row_const(b.data, b.stride, k), x);
        }
        perp_dense_divide(b.columns, row[i], x);
    }
}

int perp_lu_determinant(int n, const double *lu, int stride, const int *pivots, double *log_magnitude)
{
    assert(n >= 0 && (n == 0 || (lu && pivots && stride >= n)));
    int sign = 1;
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        const double pivot = perp_row_const(lu, stride, k)[k];
        if (pivot == 0.0) {
            sign = 0;
            sum = -INFINITY;
            break;
        }
        sign = (pivot < 0.0) != (pivots[k] != k) ? -sign : sign;
        sum += log(fabs(pivot));
    }
    if (log_magnitude) {
        *log_magnitude = sum;
    }
    return sign;
}

static double sum_of_magnitudes(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += fabs(x[i]);
    }
    return sum;
}

static int largest_entry(int n, const double *x)
{
    int where = 0;
    for (int i = 1; i < n; i++) {
        where = fabs(x[i]) > fabs(x[where]) ? i : where;
    }
    return where;
}

/* Replaces x by its signs; true if they differ from those in `signs`, which receives them. */
static bool take_signs(int n, double *x, double *signs)
{
    bool changed = false;
    for (int i = 0; i < n; i++) {
        x[i] = x[i] >= 0.0 ? 1.0 : -1.0;
        changed = changed || x[i] != signs[i];
        signs[i] = x[i];
    }
    return changed;
}

/* |A^-1|_1 from below (Higham 1988, algorithm 4.1, LAPACK's dlacn2): climbs over the vertices e_j of the unit ball of
 * the 1-norm along the subgradient A^-T sign(A^-1 x), and tries one alternating vector against cancellation. */
static double estimate_inverse_norm(int n, const double *lu, int stride, const int *pivots, double *work)
{
    double *x = work, *signs = work + n;
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / n;
        signs[i] = 0.0;
    }
    perp_lu_solve(n, lu, stride, pivots, x);
    double best = sum_of_magnitudes(n, x);
    for (int turn = 0, last = -1; turn < 5 && take_signs(n, x, signs); turn++) {
        perp_lu_solve_transposed(n, lu, stride, pivots, x);
        const int j = largest_entry(n, x);
        if (last >= 0 && fabs(x[j]) <= fabs(x[last])) {
            break;
        }
        for (int i = 0; i < n; i++) {
            x[i] = i == j ? 1.0 : 0.0;
        }
        perp_lu_solve(n, lu, stride, pivots, x);
        const double norm = sum_of_magnitudes(n, x);
        if (norm <= best) {
            break;
        }
        best = norm;
        last = j;
    }
    for (int i = 0; i < n; i++) {
        const double size = 1.0 + (n > 1 ? (double)i / (n - 1) : 0.0);
        x[i] = i % 2 ? -size : size;
    }
    perp_lu_solve(n, lu, stride, pivots, x);
    const double alternative = 2.0 * sum_of_magnitudes(n, x) / (3.0 * n);
    return alternative <= best ? best : alternative;
}

double perp_lu_reciprocal_condition(int n, const double *lu, int stride, const int *pivots, double norm_one,
                                    double *work)
{
    assert(n >= 0 && (n == 0 || (lu && pivots && work && stride >= n)));
    if (n == 0) {
        return 1.0;
    }
    const double inverse_norm = estimate_inverse_norm(n, lu, stride, pivots, work);
    if (!(inverse_norm < INFINITY) || !(norm_one < INFINITY) || norm_one == 0.0) {
        return 0.0;
    }
    const double rcond = 1.0 / inverse_norm / norm_one;
    return rcond < 1.0 ? rcond : 1.0;
}

double perp_matrix_norm_one(int rows, int columns, const double *a, int stride)
{
    assert(rows >= 0 && columns >= 0 && (rows == 0 || columns == 0 || (a && stride >= columns)));
    double largest = 0.0;
    for (int j = 0; j < columns; j++) {
        double sum = 0.0;
        for (int i = 0; i < rows; i++) {
            sum += fabs(perp_row_const(a, stride, i)[j]);
        }
        if (isnan(sum)) {
            return sum;
        }
        largest = sum > largest ? sum : largest;
    }
    return largest;
}
