#include "linalg/dense.h"
#include "step/common/determined.h"
#include "step/common/tolerances.h"

#include <math.h>
#include <string.h>

void perp_determined_add(int n, int count, const int *dofs, const double *values, double *square)
{
    double length = 0.0;
    for (int i = 0; i < count; i++) {
        length += values[i] * values[i];
    }
    for (int i = 0; i < count && length > 0.0; i++) {
        if (values[i] == 0.0) {
            continue;
        }
        const int own = dofs ? dofs[i] : i;
        const double part = values[i] / length;
        for (int k = 0; k <= i; k++) {
            const int other = dofs ? dofs[k] : k;
            const ptrdiff_t at = own > other ? (ptrdiff_t)own * n + other : (ptrdiff_t)other * n + own;
            square[at] += part * values[k];
        }
    }
}

/* The leading `rank` unknowns are held, and the next one moves with them: by how much each goes along. */
static void find_free_way(int n, int rank, const double *factor, const double *square, double *way)
{
    double most = 1.0;
    memset(way, 0, (size_t)n * sizeof *way);
    for (int i = 0; i < rank; i++) {
        way[i] = -square[(ptrdiff_t)rank * n + i];
    }
    perp_cholesky_solve(rank, factor, n, way);
    way[rank] = 1.0;
    for (int i = 0; i < rank; i++) {
        most = fmax(most, fabs(way[i]));
    }
    for (int i = 0; i <= rank; i++) {
        way[i] /= most;
    }
}

bool perp_determined_is_one(int n, double *square, double *copy, double *free_way)
{
    int failed = n;
    for (int i = 0; i < n; i++) {
        square[(ptrdiff_t)i * (n + 1)] *= 1.0 - HELD;
    }
    if (free_way) {
        memcpy(copy, square, (size_t)n * (size_t)n * sizeof *copy);
    }
    const bool one = perp_cholesky_factor(n, square, n, &failed) == PERP_STATUS_OK;
    if (!one && free_way) {
        find_free_way(n, failed, square, copy, free_way);
    }
    return one;
}

double perp_determined_probe(int i)
{
    static const double GOLDEN = 0.6180339887498949;
    const double part = GOLDEN * (i + 1) - floor(GOLDEN * (i + 1)) - 0.5;
    return part + (part < 0.0 ? -0.5 : 0.5);
}
