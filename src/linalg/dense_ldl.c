/* P A P' = L D L' with rook pivoting (Ashcraft, Grimes, Lewis 1998), the bounded relative of Bunch and Kaufman's: the
 * plain method searches one column and one row per step and is as stable in norm, but its L is unbounded, and then a
 * small pivot says nothing about a small eigenvalue. The search costs a few more columns per step.
 *
 * Unlike LAPACK's, exchanges reach the finished columns of L as well, so that one permutation describes P and a solve
 * runs over contiguous rows. */
#include <perp/linalg.h>

#include "linalg/dense_kernel.h"

/* (1 + sqrt 17) / 8 minimises the bound on growth over a 1 x 1 and a 2 x 2 step. */
static const double pivot_threshold = 0.64038820320220756873;

typedef struct pivot_choice {
    int size;   /* 1 or 2; 0 if column k is zero from its diagonal down */
    int first;  /* the row that goes to k (2 x 2 only) */
    int second; /* the row that goes to k + size - 1 */
} pivot_choice;

/* The row of the largest entry, without the diagonal, of row and column `index` of the trailing matrix that starts at
 * k; -1 (and *largest = 0) if all are zero. */
static int largest_off_diagonal(int n, const double *a, int stride, int k, int index, double *largest)
{
    int where = -1;
    *largest = 0.0;
    const double *row = perp_row_const(a, stride, index);
    for (int j = k; j < index; j++) {
        if (fabs(row[j]) > *largest) {
            *largest = fabs(row[j]);
            where = j;
        }
    }
    for (int i = index + 1; i < n; i++) {
        const double entry = fabs(perp_row_const(a, stride, i)[index]);
        if (entry > *largest) {
            *largest = entry;
            where = i;
        }
    }
    return where;
}

static pivot_choice choose_pivot(int n, const double *a, int stride, int k)
{
    double column_largest;
    int candidate = largest_off_diagonal(n, a, stride, k, k, &column_largest);
    const double diagonal = fabs(perp_row_const(a, stride, k)[k]);
    if (candidate < 0) {
        return (pivot_choice){diagonal > 0.0 ? 1 : 0, k, k};
    }
    if (diagonal >= pivot_threshold * column_largest) {
        return (pivot_choice){1, k, k};
    }
    /* The largest entry strictly grows from turn to turn, so the walk ends. */
    int previous = k;
    for (;;) {
        double row_largest;
        const int next = largest_off_diagonal(n, a, stride, k, candidate, &row_largest);
        if (fabs(perp_row_const(a, stride, candidate)[candidate]) >= pivot_threshold * row_largest) {
            return (pivot_choice){1, k, candidate};
        }
        if (next == previous || !(row_largest > column_largest)) {
            return (pivot_choice){2, previous, candidate};
        }
        previous = candidate;
        column_largest = row_largest;
        candidate = next;
    }
}

/* Exchanges rows and columns r and s of the trailing matrix and rows r and s of L. */
static void exchange(int n, double *a, int stride, int *pivots, int r, int s)
{
    if (r == s) {
        return;
    }
    if (r > s) {
        const int t = r;
        r = s;
        s = t;
    }
    double *row_r = perp_row(a, stride, r), *row_s = perp_row(a, stride, s);
    perp_dense_swap(r, row_r, row_s);
    perp_dense_swap(1, row_r + r, row_s + s);
    for (int i = r + 1; i < s; i++) {
        perp_dense_swap(1, perp_row(a, stride, i) + r, row_s + i);
    }
    for (int i = s + 1; i < n; i++) {
        double *row = perp_row(a, stride, i);
        perp_dense_swap(1, row + r, row + s);
    }
    const int t = pivots[r];
    pivots[r] = pivots[s];
    pivots[s] = t;
}

static void eliminate_one(int n, double *a, int stride, int k, double *column)
{
    const double d = perp_row(a, stride, k)[k];
    for (int i = k + 1; i < n; i++) {
        double *row = perp_row(a, stride, i);
        column[i] = row[k];
        row[k] /= d;
        perp_dense_subtract(i - k, row[k], column + k + 1, row + k + 1);
    }
}

/* With the block [d11 d21; d21 d22] scaled by its off-diagonal, which is its largest entry, nothing overflows that the
 * result does not force to: as in LAPACK's dsytf2. */
static void eliminate_two(int n, double *a, int stride, int k, double *first, double *second)
{
    const double d21 = perp_row(a, stride, k + 1)[k];
    const double p = perp_row(a, stride, k + 1)[k + 1] / d21;
    const double q = perp_row(a, stride, k)[k] / d21;
    const double t = 1.0 / (p * q - 1.0);
    for (int i = k + 2; i < n; i++) {
        double *row = perp_row(a, stride, i);
        first[i] = row[k];
        second[i] = row[k + 1];
        row[k] = t * (p * first[i] - second[i]) / d21;
        row[k + 1] = t * (q * second[i] - first[i]) / d21;
        perp_dense_subtract_two(i - k - 1, row[k], first + k + 2, row[k + 1], second + k + 2, row + k + 2);
    }
}

perp_status perp_ldl_factor(int n, double *a, int stride, int *pivots, double *work, int *failed_row)
{
    assert(n >= 0 && (n == 0 || (a && pivots && work && stride >= n)));
    const int bad = perp_dense_first_bad_lower_row(n, a, stride);
    if (bad >= 0) {
        return perp_dense_result(PERP_STATUS_BAD_INPUT, bad, failed_row);
    }
    for (int i = 0; i < n; i++) {
        pivots[i] = i;
    }
    int zero_pivot = -1;
    for (int k = 0; k < n;) {
        const pivot_choice pivot = choose_pivot(n, a, stride, k);
        if (pivot.size == 2) {
            exchange(n, a, stride, pivots, k, pivot.first);
            exchange(n, a, stride, pivots, k + 1, pivot.second);
            eliminate_two(n, a, stride, k, work, work + n);
            pivots[k] = -1 - pivots[k];
            pivots[k + 1] = -1 - pivots[k + 1];
            k += 2;
            continue;
        }
        if (pivot.size == 1) {
            exchange(n, a, stride, pivots, k, pivot.second);
            eliminate_one(n, a, stride, k, work);
        } else if (zero_pivot < 0) {
            zero_pivot = k;
        }
        k += 1;
    }
    const int overflow = perp_dense_first_bad_lower_row(n, a, stride);
    const int failed = overflow >= 0 ? overflow : zero_pivot;
    return perp_dense_result(failed >= 0 ? PERP_STATUS_SINGULAR : PERP_STATUS_OK, failed, failed_row);
}

/* y := D^-1 y */
static void solve_blocks(int n, const double *ldl, int stride, const int *pivots, double *y)
{
    for (int k = 0; k < n; k++) {
        const double *row = perp_row_const(ldl, stride, k);
        if (pivots[k] >= 0) {
            y[k] /= row[k];
            continue;
        }
        const double *next = perp_row_const(ldl, stride, k + 1);
        const double d21 = next[k], p = next[k + 1] / d21, q = row[k] / d21, determinant = p * q - 1.0;
        const double u = y[k] / d21, v = y[k + 1] / d21;
        y[k] = (p * u - v) / determinant;
        y[k + 1] = (q * v - u) / determinant;
        k++;
    }
}

static int original_row(int pivot)
{
    return pivot >= 0 ? pivot : -1 - pivot;
}

/* Block by block, because in the second row of a 2 x 2 block the entry beside the diagonal is D's and not L's. */
static void solve_column(int n, const double *ldl, int stride, const int *pivots, double *b, int step, double *y)
{
    for (int k = 0; k < n; k++) {
        y[k] = b[(ptrdiff_t)original_row(pivots[k]) * step];
    }
    for (int k = 0; k < n;) {
        const int size = pivots[k] >= 0 ? 1 : 2;
        for (int i = k; i < k + size; i++) {
            y[i] -= perp_dense_dot(k, perp_row_const(ldl, stride, i), y);
        }
        k += size;
    }
    solve_blocks(n, ldl, stride, pivots, y);
    for (int k = n; k > 0;) {
        if (pivots[k - 1] >= 0) {
            k -= 1;
            perp_dense_subtract(k, y[k], perp_row_const(ldl, stride, k), y);
        } else {
            k -= 2;
            perp_dense_subtract_two(k, y[k], perp_row_const(ldl, stride, k), y[k + 1],
                                    perp_row_const(ldl, stride, k + 1), y);
        }
    }
    for (int k = 0; k < n; k++) {
        b[(ptrdiff_t)original_row(pivots[k]) * step] = y[k];
    }
}

void perp_ldl_solve(int n, const double *ldl, int stride, const int *pivots, double *b, double *work)
{
    assert(n >= 0 && (n == 0 || (ldl && pivots && b && work && stride >= n)));
    solve_column(n, ldl, stride, pivots, b, 1, work);
}

void perp_ldl_solve_many(int n, const double *ldl, int stride, const int *pivots, perp_matrix_view b, double *work)
{
    assert(n >= 0 && b.rows == n && b.stride >= b.columns && (n == 0 || (ldl && pivots && work && stride >= n)));
    for (int c = 0; n > 0 && c < b.columns; c++) {
        solve_column(n, ldl, stride, pivots, b.data + c, b.stride, work);
    }
}

static void count_sign(perp_inertia *inertia, double value, double zero_tolerance)
{
    if (fabs(value) <= zero_tolerance) {
        inertia->zero++;
    } else if (value > 0.0) {
        inertia->positive++;
    } else {
        inertia->negative++;
    }
}

perp_inertia perp_ldl_inertia(int n, const double *ldl, int stride, const int *pivots, double zero_tolerance)
{
    assert(n >= 0 && zero_tolerance >= 0.0 && (n == 0 || (ldl && pivots && stride >= n)));
    perp_inertia inertia = {0, 0, 0};
    for (int k = 0; k < n; k++) {
        const double d11 = perp_row_const(ldl, stride, k)[k];
        if (pivots[k] >= 0) {
            count_sign(&inertia, d11, zero_tolerance);
            continue;
        }
        const double *next = perp_row_const(ldl, stride, k + 1);
        const double mean = 0.5 * d11 + 0.5 * next[k + 1];
        const double radius = hypot(0.5 * d11 - 0.5 * next[k + 1], next[k]);
        count_sign(&inertia, mean + radius, zero_tolerance);
        count_sign(&inertia, mean - radius, zero_tolerance);
        k++;
    }
    return inertia;
}
