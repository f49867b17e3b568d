/* lcp_brute_force.h - all solutions of a small integer lcp by brute force, in exact arithmetic.
 *
 * For every set of positive z and every independent choice of rows that are zero, the one z with exactly that support
 * (a vertex) or the one direction (a ray) by fraction-free elimination in 128-bit integers; then for every one of the
 * 2^n complementary pieces its vertices and rays, and of the pieces those that no other contains. The caller fills B.n,
 * B.m and B.q and calls brute_force(). */
#ifndef PERP_TESTS_SOLVER_LCP_BRUTE_FORCE_H
#define PERP_TESTS_SOLVER_LCP_BRUTE_FORCE_H

#include "failing_allocator.h"

#include <math.h>

enum { N = 10, CORNERS = 4096, WORDS = CORNERS / 64 };

typedef __int128 wide;

/* ---- brute force ---------------------------------------------------------------------------------------------------
 */

typedef struct corner {
    unsigned z, w; /* supports */
    double point[N];
} corner;

typedef struct piece {
    uint64_t vertices[WORDS], rays[WORDS];
} piece;

typedef struct brute {
    int n, vertex_count, ray_count, piece_count;
    int m[N * N], q[N];
    corner vertices[CORNERS], rays[CORNERS];
    piece pieces[1 << N];
} brute;

static brute B; /* large, hence not on the stack */

/* Fraction-free Gauss-Jordan on a rows x width matrix, pivoting in the first `columns` columns. Returns the rank; row k
 * then has *d in column place[k], and 0 in the other pivots' columns. */
static int jordan(wide *a, int rows, int columns, int width, int *place, wide *d)
{
    int rank = 0;
    *d = 1;
    for (int c = 0; c < columns && rank < rows; c++) {
        int r = rank;
        while (r < rows && a[r * width + c] == 0) {
            r++;
        }
        if (r == rows) {
            continue;
        }
        for (int j = 0; j < width; j++) {
            const wide t = a[r * width + j];
            a[r * width + j] = a[rank * width + j];
            a[rank * width + j] = t;
        }
        const wide p = a[rank * width + c];
        for (int i = 0; i < rows; i++) {
            const wide f = a[i * width + c];
            for (int j = 0; j < width && i != rank; j++) {
                const wide x = p * a[i * width + j] - f * a[rank * width + j];
                a[i * width + j] = *d == 1 ? x : x / *d; /* exact */
            }
        }
        *d = p;
        place[rank++] = c;
    }
    return rank;
}

static void record(corner *list, int *count, corner c)
{
    for (int k = 0; k < *count; k++) {
        if (list[k].z == c.z && list[k].w == c.w) {
            return; /* corners with the same support are the same */
        }
    }
    assert_true(*count < CORNERS);
    list[(*count)++] = c;
}

/* x (of the support's columns, over d) as a corner if it is positive and no w is negative. `free_column` >= 0: a ray.
 */
static void offer(unsigned support, const int *columns, int count, const wide *x, wide d, bool ray)
{
    corner c = {.z = support};
    double largest = 0.0;
    for (int k = 0; k < count; k++) {
        if ((d > 0) != (x[k] > 0) || x[k] == 0) {
            return;
        }
        c.point[columns[k]] = (double)((long double)x[k] / (long double)d);
        largest = fmax(largest, c.point[columns[k]]);
    }
    for (int i = 0; i < B.n; i++) {
        wide w = ray ? 0 : (wide)B.q[i] * d;
        for (int k = 0; k < count; k++) {
            w += x[k] * B.m[i * B.n + columns[k]];
        }
        w = d > 0 ? w : -w;
        if (w < 0 || (w > 0 && support >> i & 1U)) {
            return;
        }
        c.w |= (unsigned)(w > 0) << i;
    }
    for (int i = 0; i < B.n && ray; i++) {
        c.point[i] /= largest;
    }
    if (ray) {
        record(B.rays, &B.ray_count, c);
    } else {
        record(B.vertices, &B.vertex_count, c);
    }
}

/* Solves the rows `zero` for the support; with too few independent rows, adds one more in every way that helps. */
static void solve_support(unsigned support, unsigned zero, int next, bool ray)
{
    wide a[N * (N + 1)], d, x[N];
    int columns[N], count = 0, rows = 0, place[N];
    for (int j = 0; j < B.n; j++) {
        if (support >> j & 1U) {
            columns[count++] = j;
        }
    }
    for (int i = 0; i < B.n; i++) {
        if (zero >> i & 1U) {
            for (int k = 0; k < count; k++) {
                a[rows * (count + 1) + k] = B.m[i * B.n + columns[k]];
            }
            a[rows * (count + 1) + count] = ray ? 0 : -B.q[i];
            rows++;
        }
    }
    const int rank = jordan(a, rows, count, count + 1, place, &d), wanted = ray ? count - 1 : count;
    for (int i = rank; i < rows; i++) {
        if (a[i * (count + 1) + count] != 0) {
            return; /* contradictory, and so with more rows */
        }
    }
    if (rank == wanted) {
        int open = 0; /* the column without a pivot */
        while (open < rank && place[open] == open) {
            open++;
        }
        for (int k = 0; k < rank; k++) {
            x[place[k]] = ray ? -a[k * (count + 1) + open] : a[k * (count + 1) + count];
        }
        if (ray) {
            x[open] = d;
        }
        offer(support, columns, count, x, d, ray);
        return;
    }
    for (int j = next; j < B.n && rank < wanted; j++) {
        if (!(zero >> j & 1U)) {
            /* a row that adds no rank is retried with each later one; those calls end at once or find the same corner
             */
            solve_support(support, zero | 1U << j, j + 1, ray);
        }
    }
}

static bool inside(const piece *a, const piece *b)
{
    for (int k = 0; k < WORDS; k++) {
        if (a->vertices[k] & ~b->vertices[k] || a->rays[k] & ~b->rays[k]) {
            return false;
        }
    }
    return true;
}

static void add_piece(const piece *p)
{
    for (int k = 0; k < B.piece_count; k++) {
        if (inside(p, &B.pieces[k])) {
            return;
        }
    }
    int kept = 0;
    for (int k = 0; k < B.piece_count; k++) {
        if (!inside(&B.pieces[k], p)) {
            B.pieces[kept++] = B.pieces[k];
        }
    }
    B.pieces[kept] = *p;
    B.piece_count = kept + 1;
}

static void brute_force(void)
{
    const unsigned all = 1U << B.n;
    B.vertex_count = B.ray_count = B.piece_count = 0;
    for (unsigned support = 0; support < all; support++) {
        solve_support(support, support, 0, false);
        if (support) {
            solve_support(support, support, 0, true);
        }
    }
    for (unsigned a = 0; a < all; a++) {
        piece p = {{0}, {0}};
        bool any = false;
        for (int k = 0; k < B.vertex_count; k++) {
            if (!(B.vertices[k].z & ~a) && !(B.vertices[k].w & a)) {
                p.vertices[k / 64] |= UINT64_C(1) << k % 64;
                any = true;
            }
        }
        for (int k = 0; k < B.ray_count && any; k++) {
            if (!(B.rays[k].z & ~a) && !(B.rays[k].w & a)) {
                p.rays[k / 64] |= UINT64_C(1) << k % 64;
            }
        }
        if (any) {
            add_piece(&p);
        }
    }
}

#endif
