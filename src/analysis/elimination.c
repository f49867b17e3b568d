#include "analysis/elimination.h"

#include "analysis/tolerances.h"

#include <math.h>

static double find_pivot(const double *a, int n, int from, int rows, const bool *taken, int *row, int *column)
{
    double largest = 0.0;
    for (int i = from; i < rows; i++) {
        for (int k = 0; k < n; k++) {
            if (!taken[k] && fabs(a[(ptrdiff_t)i * n + k]) > largest) {
                largest = fabs(a[(ptrdiff_t)i * n + k]);
                *row = i;
                *column = k;
            }
        }
    }
    return largest;
}

static void reduce(double *a, int n, int rows, int at, int row, int column)
{
    for (int k = 0; k < n; k++) {
        const double other = a[(ptrdiff_t)at * n + k];
        a[(ptrdiff_t)at * n + k] = a[(ptrdiff_t)row * n + k];
        a[(ptrdiff_t)row * n + k] = other;
    }
    double *own = a + (ptrdiff_t)at * n;
    const double inverse = 1.0 / own[column];
    for (int k = 0; k < n; k++) {
        own[k] *= inverse;
    }
    for (int i = 0; i < rows; i++) {
        const double factor = i == at ? 0.0 : a[(ptrdiff_t)i * n + column];
        for (int k = 0; k < n && factor != 0.0; k++) {
            a[(ptrdiff_t)i * n + k] -= factor * own[k];
        }
    }
}

bool perp_eliminate(double *rows, int count, int n, perp_arena *arena, elimination *e)
{
    bool *taken = PERP_ARENA_NEW(arena, bool, (size_t)n);
    *e = (elimination){.n = n, .a = rows, .least_kept = 1.0};
    e->pivot = PERP_ARENA_NEW(arena, int, (size_t)n);
    e->free_column = PERP_ARENA_NEW(arena, int, (size_t)n);
    if (!taken || !e->pivot || !e->free_column) {
        return false;
    }
    while (e->rank < count && e->rank < n) {
        int row = 0, column = 0;
        const double largest = find_pivot(rows, n, e->rank, count, taken, &row, &column);
        if (largest <= RANK_ROUNDING) {
            e->largest_left = largest;
            break;
        }
        e->least_kept = fmin(e->least_kept, largest);
        taken[column] = true;
        e->pivot[e->rank] = column;
        reduce(rows, n, count, e->rank++, row, column);
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
