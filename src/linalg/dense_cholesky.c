/* Cholesky by rows: row i of L needs only the rows above it, so every inner loop is a dot product of two contiguous
 * rows. Two rows are taken together against four finished ones: eight independent sums hide the latency of the adder,
 * and each reciprocal of a diagonal entry serves two rows. Why a reciprocal is safe here: a pivot is at least the least
 * subnormal, 2^-1074, so that 1 / L_jj <= 2^537. */

#include "linalg/dense.h"
#include "linalg/dense_kernel.h"

#include <float.h>

/* sums[r][c] = row r of x . row c of y, over n entries. */
static void dot_two_by_four(int n, const double *x0, const double *x1, const double *y, int stride, double sums[2][4])
{
    const double *y0 = y, *y1 = perp_row_const(y, stride, 1), *y2 = perp_row_const(y, stride, 2),
                 *y3 = perp_row_const(y, stride, 3);
    perp_lanes s00 = {0.0, 0.0}, s01 = s00, s02 = s00, s03 = s00, s10 = s00, s11 = s00, s12 = s00, s13 = s00;
    for (int k = 0; k < n; k += 2) { /* n is a multiple of 4 */
        const perp_lanes a = perp_lanes_load(x0 + k), b = perp_lanes_load(x1 + k);
        perp_lanes c = perp_lanes_load(y0 + k);
        s00 += a * c;
        s10 += b * c;
        c = perp_lanes_load(y1 + k);
        s01 += a * c;
        s11 += b * c;
        c = perp_lanes_load(y2 + k);
        s02 += a * c;
        s12 += b * c;
        c = perp_lanes_load(y3 + k);
        s03 += a * c;
        s13 += b * c;
    }
    sums[0][0] = s00[0] + s00[1];
    sums[0][1] = s01[0] + s01[1];
    sums[0][2] = s02[0] + s02[1];
    sums[0][3] = s03[0] + s03[1];
    sums[1][0] = s10[0] + s10[1];
    sums[1][1] = s11[0] + s11[1];
    sums[1][2] = s12[0] + s12[1];
    sums[1][3] = s13[0] + s13[1];
}

/* Columns j .. j + 3 of the rows x0 and x1, whose columns before j are done; `l` starts at row j. */
static void solve_two_by_four(int j, const double *l, int stride, double *x0, double *x1)
{
    double sums[2][4];
    dot_two_by_four(j, x0, x1, l, stride, sums);
    const double *l0 = l + j, *l1 = perp_row_const(l0, stride, 1), *l2 = perp_row_const(l0, stride, 2),
                 *l3 = perp_row_const(l0, stride, 3);
    const double r0 = 1.0 / l0[0], r1 = 1.0 / l1[1], r2 = 1.0 / l2[2], r3 = 1.0 / l3[3];
    double *x[2] = {x0 + j, x1 + j};
    for (int r = 0; r < 2; r++) {
        double *y = x[r];
        y[0] = (y[0] - sums[r][0]) * r0;
        y[1] = (y[1] - sums[r][1] - l1[0] * y[0]) * r1;
        y[2] = (y[2] - sums[r][2] - l2[0] * y[0] - l2[1] * y[1]) * r2;
        y[3] = (y[3] - sums[r][3] - l3[0] * y[0] - l3[1] * y[1] - l3[2] * y[2]) * r3;
    }
}

/* Columns from .. to - 1 of one row, and for to = its own index the row is then complete but for the diagonal. */
static void solve_row(const double *a, int stride, double *row, int from, int to)
{
    for (int j = from; j < to; j++) {
        const double *l = perp_row_const(a, stride, j);
        row[j] = (row[j] - perp_dense_dot(j, row, l)) / l[j];
    }
}

/* A NaN or Inf anywhere in the row makes its pivot NaN or infinite: no separate check of the input is needed. */
static bool take_pivot(double *row, int i)
{
    const double pivot = row[i] - perp_dense_dot(i, row, row);
    if (!(pivot > 0.0) || !(pivot <= DBL_MAX)) {
        return false;
    }
    row[i] = sqrt(pivot);
    return true;
}

perp_status perp_cholesky_factor(int n, double *a, int stride, int *failed_row)
{
    assert(n >= 0 && (n == 0 || (a && stride >= n)));
    for (int i = 0; i < n; i += 2) {
        double *row = perp_row(a, stride, i);
        double *next = i + 1 < n ? perp_row(a, stride, i + 1) : NULL;
        int j = 0;
        for (; next && j + 4 <= i; j += 4) {
            solve_two_by_four(j, perp_row_const(a, stride, j), stride, row, next);
        }
        solve_row(a, stride, row, j, i);
        if (!take_pivot(row, i)) {
            return perp_dense_result(PERP_STATUS_SINGULAR, i, failed_row);
        }
        if (next) {
            solve_row(a, stride, next, j, i + 1);
            if (!take_pivot(next, i + 1)) {
                return perp_dense_result(PERP_STATUS_SINGULAR, i + 1, failed_row);
            }
        }
    }
    return perp_dense_result(PERP_STATUS_OK, -1, failed_row);
}

void perp_cholesky_solve(int n, const double *l, int stride, double *b)
{
    assert(n >= 0 && (n == 0 || (l && b && stride >= n)));
    for (int i = 0; i < n; i++) {
        const double *row = perp_row_const(l, stride, i);
        b[i] = (b[i] - perp_dense_dot(i, row, b)) / row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = perp_row_const(l, stride, i);
        b[i] /= row[i];
        perp_dense_subtract(i, b[i], row, b);
    }
}

void perp_cholesky_solve_lower(int n, const double *l, int stride, perp_matrix_view b)
{
    assert(n >= 0 && b.rows == n && b.stride >= b.columns && (n == 0 || (l && stride >= n)));
    for (int i = 0; i < n; i++) {
        const double *row = perp_row_const(l, stride, i);
        double *x = perp_row(b.data, b.stride, i);
        for (int k = 0; k < i; k++) {
            perp_dense_subtract(b.columns, row[k], perp_row_const(b.data, b.stride, k), x);
        }
        perp_dense_divide(b.columns, row[i], x);
    }
}

static void solve_lower_transposed(int n, const double *l, int stride, perp_matrix_view b)
{
    assert(n >= 0 && b.rows == n && b.stride >= b.columns && (n == 0 || (l && stride >= n)));
    for (int i = n - 1; i >= 0; i--) {
        const double *row = perp_row_const(l, stride, i);
        double *x = perp_row(b.data, b.stride, i);
        perp_dense_divide(b.columns, row[i], x);
        for (int k = 0; k < i; k++) {
            perp_dense_subtract(b.columns, row[k], x, perp_row(b.data, b.stride, k));
        }
    }
}

void perp_cholesky_solve_many(int n, const double *l, int stride, perp_matrix_view b)
{
    perp_cholesky_solve_lower(n, l, stride, b);
    solve_lower_transposed(n, l, stride, b);
}
