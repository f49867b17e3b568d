#include "solver/lcp_scale.h"

#include "linalg/vector.h"
#include "solver/cell_dictionary.h"
#include "solver/tolerances.h"

/* The exponent of the largest |M_ij| 2^(r_i + c_j) in row (or column) `index`; `*any` false if all count as zero, which
 * is below 1e-15 of the largest entry: such a row is rounding, and scaling it up would make it count. */
static int largest_exponent(const perp_lcp_scaled *s, const double *m, int index, bool row, double least)
{
    int largest = INT32_MIN;
    for (int k = 0; k < s->n; k++) {
        const int i = row ? index : k, j = row ? k : index;
        if (fabs(m[i * s->n + j]) > least) {
            int e;
            frexp(m[i * s->n + j], &e);
            e += s->row_exponent[i] + s->column_exponent[j];
            largest = e > largest ? e : largest;
        }
    }
    return largest;
}

/* Ruiz' iteration on exponents: halves the distance of every row's and column's largest entry from 1. Returns the
 * magnitude up to which entries were left out. */
static double equilibrate(perp_lcp_scaled *s, const double *m)
{
    double least = 0.0;
    for (int i = 0; i < s->n * s->n; i++) {
        least = fmax(least, SCALING_ROUNDING * fabs(m[i]));
    }
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int side = 0; side < 2; side++) {
            int *exponent = side ? s->column_exponent : s->row_exponent;
            for (int i = 0; i < s->n; i++) {
                const int e = largest_exponent(s, m, i, side == 0, least);
                exponent[i] -= e == INT32_MIN ? 0 : e / 2;
            }
        }
    }
    return least;
}

/* Entries of the scaled problem are zero relative to their row where that exceeds 1, as in improving_column. */
static bool is_lossy(const perp_lcp_scaled *s, const perp_lcp *problem, double left_out)
{
    for (int i = 0; i < s->n; i++) {
        const double *row = s->m + i * s->n, *given = problem->m + i * s->n;
        const double size = fmax(1.0, perp_vector_largest(s->n, row));
        for (int j = 0; j < s->n; j++) {
            if (given[j] != 0.0 && (fabs(row[j]) <= CELL_ZERO * size || fabs(given[j]) <= left_out)) {
                return true;
            }
        }
        if (s->q[i] != 0.0 && fabs(s->q[i]) <= CELL_ZERO) {
            return true;
        }
    }
    return false;
}

perp_status perp_lcp_scale(perp_lcp_scaled *s, const perp_lcp *problem, perp_arena *arena)
{
    const size_t n = (size_t)problem->n;
    s->n = problem->n;
    s->m = PERP_ARENA_NEW(arena, double, n *n);
    s->q = PERP_ARENA_NEW(arena, double, n);
    s->row_exponent = PERP_ARENA_NEW(arena, int, n);
    s->column_exponent = PERP_ARENA_NEW(arena, int, n);
    if (!s->m || !s->q || !s->row_exponent || !s->column_exponent) {
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    const double left_out = equilibrate(s, problem->m);
    s->q_exponent = 0;
    for (int i = 0; i < s->n; i++) {
        int e;
        frexp(problem->q[i], &e);
        e += s->row_exponent[i];
        s->q_exponent = problem->q[i] != 0.0 && -e < s->q_exponent ? -e : s->q_exponent;
    }
    for (int i = 0; i < s->n; i++) {
        s->q[i] = ldexp(problem->q[i], s->row_exponent[i] + s->q_exponent);
        s->q[i] = fabs(s->q[i]) <= Q_NOISE ? 0.0 : s->q[i];
        for (int j = 0; j < s->n; j++) {
            s->m[i * s->n + j] = ldexp(problem->m[i * s->n + j], s->row_exponent[i] + s->column_exponent[j]);
            if (!isfinite(s->m[i * s->n + j])) {
                return PERP_STATUS_BAD_INPUT;
            }
        }
    }
    s->lossy = is_lossy(s, problem, left_out);
    return PERP_STATUS_OK;
}
