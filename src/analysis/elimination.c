#include "analysis/elimination.h"

#include "analysis/tolerances.h"

#include <math.h>

/* Where the largest entry of a row is, of columns that are not taken. Most rows share nothing with the pivot's, so it
 * is looked for anew only in those that a step has changed, or whose own place was taken. */
typedef struct row_peak {
    double size;
    int column;
} row_peak;

static row_peak find_peak(const double *row, int n, const bool *taken)
{
    row_peak peak = {0.0, 0};
    for (int k = 0; k < n; k++) {
        if (!taken[k] && fabs(row[k]) > peak.size) {
            peak = (row_peak){fabs(row[k]), k};
        }
    }
    return peak;
}

static void swap_rows(double *a, row_peak *peaks, int n, int i, int k)
{
    const row_peak peak = peaks[i];
    peaks[i] = peaks[k];
    peaks[k] = peak;
    for (int c = 0; c < n && i != k; c++) {
        const double other = a[(ptrdiff_t)i * n + c];
        a[(ptrdiff_t)i * n + c] = a[(ptrdiff_t)k * n + c];
        a[(ptrdiff_t)k * n + c] = other;
    }
}

/* Makes the column that of a unit matrix, and looks for the peaks of rows that are still to come. */
static void reduce(double *a, row_peak *peaks, int n, int rows, int at, int column, const bool *taken)
{
    double *own = a + (ptrdiff_t)at * n;
    const double inverse = 1.0 / own[column];
    for (int k = 0; k < n; k++) {
        own[k] *= inverse;
    }
    for (int i = 0; i < rows; i++) {
        double *row = a + (ptrdiff_t)i * n;
        const double factor = i == at ? 0.0 : row[column];
        for (int k = 0; k < n && factor != 0.0; k++) {
            row[k] -= factor * own[k];
        }
        if (i > at && (factor != 0.0 || peaks[i].column == column)) {
            peaks[i] = find_peak(row, n, taken);
        }
    }
}

bool perp_eliminate(double *rows, int count, int n, perp_arena *arena, elimination *e)
{
    bool *taken = PERP_ARENA_NEW(arena, bool, (size_t)n);
    row_peak *peaks = PERP_ARENA_NEW(arena, row_peak, (size_t)count);
    *e = (elimination){.n = n, .a = rows, .least_kept = 1.0};
    e->pivot = PERP_ARENA_NEW(arena, int, (size_t)n);
    e->free_column = PERP_ARENA_NEW(arena, int, (size_t)n);
    if (!taken || !peaks || !e->pivot || !e->free_column) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        peaks[i] = find_peak(rows + (ptrdiff_t)i * n, n, taken);
    }
    while (e->rank < count && e->rank < n) {
        int row = e->rank;
        for (int i = e->rank + 1; i < count; i++) {
            row = peaks[i].size > peaks[row].size ? i : row;
        }
        const row_peak pivot = peaks[row];
        if (pivot.size <= RANK_ROUNDING) {
            e->largest_left = pivot.size;
            break;
        }
        e->least_kept = fmin(e->least_kept, pivot.size);
        taken[pivot.column] = true;
        e->pivot[e->rank] = pivot.column;
        swap_rows(rows, peaks, n, e->rank, row);
        reduce(rows, peaks, n, count, e->rank++, pivot.column, taken);
    }
    for (int k = 0; k < n; k++) {
        if (!taken[k]) {
            e->free_column[e->free_count++] = k;
        }
    }
    return true;
}

void perp_elimination_spread(const elimination *e, const double *z, double *x)
{
    for (int j = 0; j < e->free_count; j++) {
        x[e->free_column[j]] = z[j];
    }
    for (int i = 0; i < e->rank; i++) {
        double sum = 0.0;
        for (int j = 0; j < e->free_count; j++) {
            sum -= e->a[(ptrdiff_t)i * e->n + e->free_column[j]] * z[j];
        }
        x[e->pivot[i]] = sum;
    }
}
