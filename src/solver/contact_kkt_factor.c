/* The supernodal L D L'. Rows are taken one after the other: with t = L D a row is found by a forward substitution with
 * the rows of L above it, t_ij = a_ij - sum_k t_ik l_jk, in which every inner loop is a dot product of two contiguous
 * rows, and no division. Two rows against four are taken together: eight sums that do not wait for each other. */
#include "linalg/dense_kernel.h"
#include "solver/contact_kkt.h"

#include <math.h>
#include <string.h>

typedef struct row_pair {
    const double *x0, *x1;
} row_pair;

/* sums[0..3] = x0 . y_c and sums[4..7] = x1 . y_c over n entries, y_c being rows `stride` apart. */
static inline void dot_two_by_four(int n, row_pair x, const double *y, int stride, double *sums)
{
    const double *y0 = y, *y1 = y + stride, *y2 = y1 + stride, *y3 = y2 + stride;
    perp_lanes s0 = {0.0, 0.0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    int k = 0;
    for (; k + 2 <= n; k += 2) {
        const perp_lanes a = perp_lanes_load(x.x0 + k), b = perp_lanes_load(x.x1 + k);
        perp_lanes c = perp_lanes_load(y0 + k);
        s0 += a * c;
        s4 += b * c;
        c = perp_lanes_load(y1 + k);
        s1 += a * c;
        s5 += b * c;
        c = perp_lanes_load(y2 + k);
        s2 += a * c;
        s6 += b * c;
        c = perp_lanes_load(y3 + k);
        s3 += a * c;
        s7 += b * c;
    }
    const perp_lanes all[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
    for (int c = 0; c < 8; c++) {
        sums[c] = all[c][0] + all[c][1];
    }
    if (k < n) {
        const double a = x.x0[k], b = x.x1[k];
        sums[0] += a * y0[k];
        sums[1] += a * y1[k];
        sums[2] += a * y2[k];
        sums[3] += a * y3[k];
        sums[4] += b * y0[k];
        sums[5] += b * y1[k];
        sums[6] += b * y2[k];
        sums[7] += b * y3[k];
    }
}

/* Columns j .. j + 3 of a row whose columns before j are done; `l` is entry (j, j) of L. */
static inline void finish_four(const double *sums, const double *l, int stride, double *t)
{
    const double *l1 = l + stride, *l2 = l1 + stride, *l3 = l2 + stride;
    t[0] -= sums[0];
    t[1] = t[1] - sums[1] - l1[0] * t[0];
    t[2] = t[2] - sums[2] - l2[0] * t[0] - l2[1] * t[1];
    t[3] = t[3] - sums[3] - l3[0] * t[0] - l3[1] * t[1] - l3[2] * t[2];
}

/* Columns 0 .. limit - 1 of one row, from column `from` on. */
static void substitute_one(const double *panel, int stride, int from, int limit, double *t)
{
    for (int j = from; j < limit; j++) {
        t[j] -= perp_dense_dot(j, t, panel + (ptrdiff_t)j * stride);
    }
}

static void substitute_two(const double *panel, int stride, int limit, double *t0, double *t1)
{
    double sums[8];
    int j = 0;
    for (; j + 4 <= limit; j += 4) {
        const double *l = panel + (ptrdiff_t)j * stride;
        dot_two_by_four(j, (row_pair){t0, t1}, l, stride, sums);
        finish_four(sums, l + j, stride, t0 + j);
        finish_four(sums + 4, l + j, stride, t1 + j);
    }
    substitute_one(panel, stride, j, limit, t0);
    substitute_one(panel, stride, j, limit, t1);
}

/* Turns t into l = t / D and returns t . l. */
static inline double scale_row(int n, const double *inverse, double *t)
{
    perp_lanes sum = {0.0, 0.0};
    int k = 0;
    for (; k + 2 <= n; k += 2) {
        const perp_lanes a = perp_lanes_load(t + k), l = a * perp_lanes_load(inverse + k);
        sum += a * l;
        *(perp_lanes *)(t + k) = l;
    }
    double total = sum[0] + sum[1];
    if (k < n) {
        const double l = t[k] * inverse[k];
        total += t[k] * l;
        t[k] = l;
    }
    return total;
}

/* `before` is the entry before this panel's own rows were taken off, `floor` what it was before any were: a pivot that
 * is nothing but their rounding, or has the wrong sign, belongs to a direction that the matrix does not see (rows of C
 * that depend on each other, say). It gets an infinite pivot: nothing moves along it. */
static inline void take_pivot(perp_kkt *kkt, int place, double *entry, double removed)
{
    static const double BELIEVED = 1e-15;
    const double floor = kkt->floor[place], before = fabs(*entry), pivot = *entry - removed;
    const double least = BELIEVED * (before > fabs(floor) ? before : fabs(floor));
    const bool believed = floor > 0.0 ? pivot > least : pivot < -least;
    kkt->mended += !believed;
    *entry = pivot;
    kkt->inverse[place] = believed || pivot != pivot ? 1.0 / pivot : 0.0; /* NaN goes on to the solution */
}

static void factor_diagonal(perp_kkt *kkt, double *panel, int width, int first)
{
    const double *inverse = kkt->inverse + first;
    for (int i = 0; i < width; i += 2) {
        double *row = panel + (ptrdiff_t)i * width, *next = row + width;
        if (i + 1 == width) {
            substitute_one(panel, width, 0, i, row);
            take_pivot(kkt, first + i, row + i, scale_row(i, inverse, row));
            return;
        }
        substitute_two(panel, width, i, row, next);
        take_pivot(kkt, first + i, row + i, scale_row(i, inverse, row));
        next[i] -= perp_dense_dot(i, next, row);
        take_pivot(kkt, first + i + 1, next + i + 1, scale_row(i + 1, inverse, next));
    }
}

/* The rows below: t is kept in `below`, l in the panel. */
static void factor_below(perp_kkt *kkt, double *panel, int width, int rows, int first)
{
    for (int i = width; i < rows; i += 2) {
        double *row = panel + (ptrdiff_t)i * width, *next = row + width;
        double *t = kkt->below + (ptrdiff_t)(i - width) * width;
        const bool two = i + 1 < rows;
        if (two) {
            substitute_two(panel, width, width, row, next);
        } else {
            substitute_one(panel, width, 0, width, row);
        }
        memcpy(t, row, (size_t)(two ? 2 : 1) * (size_t)width * sizeof *t);
        scale_row(width, kkt->inverse + first, row);
        if (two) {
            scale_row(width, kkt->inverse + first, next);
        }
    }
}

/* dest -= T L', T with `rows` and L with `columns` rows of `width` entries. */
static void subtract_product(int rows, int columns, int width, const double *t, const double *l, double *dest,
                             int stride)
{
    double sums[8];
    int i = 0;
    for (; i + 2 <= rows; i += 2) {
        const double *t0 = t + (ptrdiff_t)i * width, *t1 = t0 + width;
        double *d0 = dest + (ptrdiff_t)i * stride, *d1 = d0 + stride;
        int j = 0;
        for (; j + 4 <= columns; j += 4) {
            dot_two_by_four(width, (row_pair){t0, t1}, l + (ptrdiff_t)j * width, width, sums);
            for (int c = 0; c < 4; c++) {
                d0[j + c] -= sums[c];
                d1[j + c] -= sums[4 + c];
            }
        }
        for (; j < columns; j++) {
            const double *y = l + (ptrdiff_t)j * width;
            d0[j] -= perp_dense_dot(width, t0, y);
            d1[j] -= perp_dense_dot(width, t1, y);
        }
    }
    for (; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            dest[(ptrdiff_t)i * stride + j] -=
                perp_dense_dot(width, t + (ptrdiff_t)i * width, l + (ptrdiff_t)j * width);
        }
    }
}

/* What supernode `s` takes from its ancestors: for each run of columns all runs of rows from there on. */
static void update_ancestors(perp_kkt *kkt, int s, const double *panel, int width)
{
    const int end = kkt->super_runs[s + 1];
    for (int q = kkt->super_runs[s]; q < end; q++) {
        const perp_kkt_run *columns = &kkt->runs[q];
        const int k = columns->super, first = kkt->super_first[k], k_width = kkt->super_first[k + 1] - first;
        double *target = kkt->panels + kkt->panel_start[k] + (columns->place - first);
        const double *l = panel + (ptrdiff_t)columns->row * width;
        int walk = kkt->super_runs[k];
        for (int p = q; p < end; p++) {
            const perp_kkt_run *rows = &kkt->runs[p];
            int row = rows->place - first;
            if (rows->super != k) {
                while (kkt->runs[walk].place + kkt->runs[walk].length <= rows->place) {
                    walk++;
                }
                row = kkt->runs[walk].row + (rows->place - kkt->runs[walk].place);
            }
            subtract_product(rows->length, columns->length, width,
                             kkt->below + (ptrdiff_t)(rows->row - width) * width, l,
                             target + (ptrdiff_t)row * k_width, k_width);
        }
    }
}

void perp_kkt_factor(perp_kkt *kkt)
{
    kkt->mended = 0;
    for (int s = 0; s < kkt->super_count; s++) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first, rows = kkt->panel_rows[s];
        double *panel = kkt->panels + kkt->panel_start[s];
        factor_diagonal(kkt, panel, width, first);
        if (rows > width) {
            factor_below(kkt, panel, width, rows, first);
            update_ancestors(kkt, s, panel, width);
        }
    }
}

static void solve_forward(const perp_kkt *kkt, double *b)
{
    for (int s = 0; s < kkt->super_count; s++) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first;
        const double *panel = kkt->panels + kkt->panel_start[s];
        double *own = b + first;
        substitute_one(panel, width, 0, width, own);
        for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
            const perp_kkt_run *run = &kkt->runs[q];
            const double *l = panel + (ptrdiff_t)run->row * width;
            for (int r = 0; r < run->length; r++, l += width) {
                b[run->place + r] -= perp_dense_dot(width, l, own);
            }
        }
    }
}

static void solve_backward(const perp_kkt *kkt, double *b)
{
    for (int s = kkt->super_count - 1; s >= 0; s--) {
        const int first = kkt->super_first[s], width = kkt->super_first[s + 1] - first;
        const double *panel = kkt->panels + kkt->panel_start[s];
        double *own = b + first;
        for (int q = kkt->super_runs[s]; q < kkt->super_runs[s + 1]; q++) {
            const perp_kkt_run *run = &kkt->runs[q];
            const double *l = panel + (ptrdiff_t)run->row * width;
            for (int r = 0; r < run->length; r++, l += width) {
                perp_dense_subtract(width, b[run->place + r], l, own);
            }
        }
        for (int i = width - 1; i > 0; i--) {
            perp_dense_subtract(i, own[i], panel + (ptrdiff_t)i * width, own);
        }
    }
}

void perp_kkt_solve(perp_kkt *kkt, double *rhs)
{
    double *b = kkt->places;
    for (int i = 0; i < kkt->unknowns; i++) {
        b[kkt->position[i]] = rhs[i];
    }
    solve_forward(kkt, b);
    for (int i = 0; i < kkt->unknowns; i++) {
        b[i] *= kkt->inverse[i];
    }
    solve_backward(kkt, b);
    for (int i = 0; i < kkt->unknowns; i++) {
        rhs[i] = b[kkt->position[i]];
    }
}
