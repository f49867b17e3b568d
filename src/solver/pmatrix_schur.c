/* Recursive Schur complements (Tsatsomeros and Li): with m_11 the first diagonal entry, M(1) the matrix without its
 * first row and column and M/m_11 = M(1) - c b' / m_11 the Schur complement,
 *
 *     M is a P-matrix  iff  m_11 > 0 and both M(1) and M/m_11 are P-matrices,
 *
 * since det M[{1} + a] = m_11 det (M/m_11)[a]. A node of the recursion is a set S of pivots among the first k indices
 * (those not in S were deleted) and the block M[T]/M[S] of the trailing indices T = {k..n-1} of M[S + T]; its first
 * entry is det M[S + k] / det M[S]. Deleting moves a pointer and copies nothing; each level has one buffer for the
 * complement. Blocks of three rows are decided by their seven minors, which is where nearly all 2^n - 1 minors are.
 *
 * Rounding. Each block carries a bound `error` on |computed - exact| of its entries. A pivot p counts as positive only
 * if p > error. For a complement c - a b / p, with A >= |a|, B >= |b| in the pivot's column and row, C >= |c|, e the
 * bound of the block, l = p - e and u = 2^-53,
 *
 *     e' = e (1 + (A + B + e + A B / p) / l) + 8 u (C + A B / p).
 *
 * This bound is rigorous and grows geometrically with the depth even where the error does not. Where it is in the way
 * the block is computed afresh from the matrix, as R - X Q with X = P M[S]^-1 (P, Q, R the blocks beside and opposite
 * M[S]) by LU with pivoting: the exact block is R - X Q - (P - X M[S]) Y, Y = M[S]^-1 Q, whatever the error of X, so
 * that the last product, of a residual, bounds the error of leaving it out. What stays open after that is decided by an
 * exact determinant of the original matrix. Higher working precision throughout was not taken: it costs a factor of
 * five to ten in every node for the sake of very few.
 */
#include "linalg/dense.h"
#include "solver/pmatrix_schur.h"

#include "linalg/dense_kernel.h"
#include "solver/tolerances.h"

#include <float.h>
#include <string.h>

enum { BASE_ROWS = 3, FRESH_ROWS = 9 };

/* Some seconds each; beyond, the matrix is beyond double precision and the answer is `undecided`. */
static const int64_t FRESH_WORK = 10000000000;
static const int64_t EXACT_WORK = 1000000000;

static const double UNIT = 0.5 * DBL_EPSILON;
static const double UP = 1.0 + 64.0 * DBL_EPSILON; /* makes up for rounding in the bounds themselves */

typedef struct block {
    const double *a;
    int stride;
    int k;        /* trailing indices k..n-1 */
    uint64_t set; /* pivots so far */
    double error; /* of every entry, absolute */
    double size;  /* bounds the magnitude of every entry */
} block;

typedef struct search {
    perp_pmatrix_schur *problem;
    double *level[PERP_PMATRIX_SCHUR_LARGEST + 1]; /* (n - k)^2: complements */
    double *fresh[PERP_PMATRIX_SCHUR_LARGEST + 1]; /* (n - k)^2: blocks computed afresh at a node of level k */
    double *b, *x, *y;                             /* n x n each: factors of M[S], P M[S]^-1, M[S]^-1 Q */
    double *work;                                  /* 2 n */
    int *pivots, *indices;                         /* n */
    int64_t fresh_work;
} search;

/* ---- blocks computed afresh -------------------------------------------------------------------------------------- */

static int members(uint64_t set, int *indices)
{
    int count = 0;
    for (int i = 0; set >> i; i++) {
        if (set >> i & 1U) {
            indices[count++] = i;
        }
        if (i == 63) {
            break;
        }
    }
    return count;
}

/* Factors M[S] and solves for X (rows x count, row-major) and Y (count x rows). False if M[S] is singular to working
 * precision: the estimate of the condition number, seldom below the truth by more than a factor 3, is given a margin of
 * 1000. */
static bool solve_beside(search *s, const block *b, int count)
{
    const int n = s->problem->n, rows = n - b->k;
    const double *m = s->problem->scaled;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            s->b[i * count + j] = m[s->indices[i] * n + s->indices[j]];
        }
        memcpy(s->y + i * rows, m + s->indices[i] * n + b->k, (size_t)rows * sizeof(double));
    }
    const double norm = perp_matrix_norm_one(count, count, s->b, count);
    if (perp_lu_factor(count, s->b, count, s->pivots, NULL) != PERP_STATUS_OK ||
        perp_lu_reciprocal_condition(count, s->b, count, s->pivots, norm, s->work) < 1000.0 * count * DBL_EPSILON) {
        return false;
    }
    perp_lu_solve_many(count, s->b, count, s->pivots, (perp_matrix_view){s->y, count, rows, rows});
    for (int i = 0; i < rows; i++) {
        double *x = s->x + i * count;
        for (int j = 0; j < count; j++) {
            x[j] = m[(b->k + i) * n + s->indices[j]];
        }
        perp_lu_solve_transposed(count, s->b, count, s->pivots, x);
    }
    return true;
}

/* A bound on the sum of magnitudes of row i of P - X M[S], rounding of its evaluation included. */
static double residual_row(const search *s, const block *b, int i, int count)
{
    const int n = s->problem->n;
    const double *m = s->problem->scaled, *x = s->x + i * count;
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
        double r = m[(b->k + i) * n + s->indices[j]], size = fabs(r);
        for (int l = 0; l < count; l++) {
            const double product = x[l] * m[s->indices[l] * n + s->indices[j]];
            r -= product;
            size += fabs(product);
        }
        sum += fabs(r) + (count + 2) * UNIT * size;
    }
    return sum;
}

/* Replaces the block's entries and bounds; its error is infinite where that was not possible. */
static void compute_afresh(search *s, block *b)
{
    const int n = s->problem->n, rows = n - b->k, count = members(b->set, s->indices);
    const double *m = s->problem->scaled;
    double *a = s->fresh[b->k], largest_y = 0.0;
    b->a = a;
    b->stride = rows;
    b->size = b->error = INFINITY;
    memset(a, 0, (size_t)rows * (size_t)rows * sizeof(double));
    s->fresh_work += (int64_t)count * count * (count + 4 * rows) + 1;
    if (s->fresh_work > FRESH_WORK || !solve_beside(s, b, count)) {
        return;
    }
    for (int i = 0; i < count * rows; i++) {
        largest_y = fmax(largest_y, fabs(s->y[i]));
    }
    double size = 0.0, error = DBL_MIN;
    for (int i = 0; i < rows; i++) {
        const double left_out = 1.1 * largest_y * residual_row(s, b, i, count); /* 1.1: the error of Y itself */
        for (int j = 0; j < rows; j++) {
            double c = m[(b->k + i) * n + b->k + j], sum = fabs(c);
            for (int l = 0; l < count; l++) {
                const double product = s->x[i * count + l] * m[s->indices[l] * n + b->k + j];
                c -= product;
                sum += fabs(product);
            }
            a[i * rows + j] = c;
            size = fmax(size, fabs(c));
            error = fmax(error, UP * ((count + 2) * UNIT * sum + left_out));
        }
    }
    if (isfinite(size) && isfinite(error)) {
        b->size = size;
        b->error = error;
    }
}

/* ---- decisions -----------------------------------------------------------------------------------------------------
 */

static perp_pmatrix_schur_result decide_exactly(search *s, uint64_t set)
{
    perp_pmatrix_schur *p = s->problem;
    if (p->cancel && *p->cancel) {
        return PERP_PMATRIX_SCHUR_CANCELLED;
    }
    if (p->exact->work > EXACT_WORK) {
        return PERP_PMATRIX_SCHUR_UNDECIDED;
    }
    const int count = members(set, s->indices);
    switch (perp_exact_minor_sign(p->exact, p->original, p->n, s->indices, count, NULL)) {
    case PERP_EXACT_POSITIVE:
        return PERP_PMATRIX_SCHUR_POSITIVE;
    case PERP_EXACT_TOO_WIDE:
        return PERP_PMATRIX_SCHUR_UNDECIDED;
    default:
        p->offending = set;
        return PERP_PMATRIX_SCHUR_OFFENDING;
    }
}

/* For a pivot that is not surely positive. `*sure` says whether it is after all, by the block's own bound. */
static perp_pmatrix_schur_result decide_pivot(search *s, block *b, bool *sure)
{
    const uint64_t set = b->set | UINT64_C(1) << b->k;
    if (!(b->a[0] < -b->error)) { /* NaN counts as open */
        compute_afresh(s, b);
    }
    *sure = b->a[0] > b->error;
    if (*sure) {
        return PERP_PMATRIX_SCHUR_POSITIVE;
    }
    if (b->a[0] < -b->error) {
        s->problem->offending = set;
        return PERP_PMATRIX_SCHUR_OFFENDING;
    }
    return decide_exactly(s, set);
}

/* Whether all seven minors of a block of three rows, with entries up to `size`, exceed what rounding and the block's
 * error can do: two products of a 2 x 2 minor each err by 2 size error + error^2 + u size^2 and their difference by
 * 2 u size^2; likewise the six products of three factors. */
static bool surely_positive(const double *a, int stride, double error, double size)
{
    const double *r0 = a, *r1 = a + stride, *r2 = a + 2 * stride;
    const double two = UP * (4.0 * size * error + 2.0 * error * error + 5.0 * UNIT * size * size);
    const double three =
        UP * (6.0 * error * (3.0 * size * (size + error) + error * error) + 32.0 * UNIT * size * size * size);
    const double m01 = r0[0] * r1[1] - r0[1] * r1[0];
    const double m02 = r0[0] * r2[2] - r0[2] * r2[0];
    const double m12 = r1[1] * r2[2] - r1[2] * r2[1];
    const double det = r0[0] * m12 - r0[1] * (r1[0] * r2[2] - r1[2] * r2[0]) + r0[2] * (r1[0] * r2[1] - r1[1] * r2[0]);
    return (r0[0] > error) & (r1[1] > error) & (r2[2] > error) & (m01 > two) & (m02 > two) & (m12 > two) &
           (det > three);
}

static double largest_entry(const block *b, int rows)
{
    double largest = 0.0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            largest = fmax(largest, fabs(b->a[i * b->stride + j]));
        }
    }
    return largest;
}

static perp_pmatrix_schur_result decide_base(search *s, block *b)
{
    if (surely_positive(b->a, b->stride, b->error, b->size) ||
        surely_positive(b->a, b->stride, b->error, largest_entry(b, BASE_ROWS))) {
        return PERP_PMATRIX_SCHUR_POSITIVE;
    }
    compute_afresh(s, b);
    if (surely_positive(b->a, b->stride, b->error, b->size)) {
        return PERP_PMATRIX_SCHUR_POSITIVE;
    }
    for (uint64_t subset = 1; subset < 1U << BASE_ROWS; subset++) {
        const perp_pmatrix_schur_result r = decide_exactly(s, b->set | subset << b->k);
        if (r != PERP_PMATRIX_SCHUR_POSITIVE) {
            return r;
        }
    }
    return PERP_PMATRIX_SCHUR_POSITIVE;
}

/* ---- the recursion -------------------------------------------------------------------------------------------------
 */

/* M/m_11 of a block whose pivot exceeds its error. */
static block complement(search *s, const block *b)
{
    const int rows = s->problem->n - b->k, left = rows - 1;
    const double *a = b->a, pivot = a[0];
    double *to = s->level[b->k + 1], column = 0.0, row = 0.0;
    for (int j = 1; j < rows; j++) {
        row = fabs(a[j]) > row ? fabs(a[j]) : row;
    }
    for (int i = 1; i < rows; i++) {
        const double *from = a + i * b->stride, factor = from[0] / pivot;
        double *out = to + (i - 1) * left;
        column = fabs(from[0]) > column ? fabs(from[0]) : column;
        for (int j = 0; j < left; j++) {
            out[j] = from[j + 1] - factor * a[j + 1];
        }
    }
    const double product = column * row / pivot, low = pivot - b->error;
    block r = {to, left, b->k + 1, b->set | UINT64_C(1) << b->k, 0.0, UP * (b->size + product)};
    r.error = UP * (b->error * (1.0 + (column + row + b->error + product) / low) + 8.0 * UNIT * r.size);
    return r;
}

static perp_pmatrix_schur_result visit(search *s, block b)
{
    for (;;) {
        const int rows = s->problem->n - b.k;
        if (rows == BASE_ROWS) {
            return decide_base(s, &b);
        }
        if (rows >= FRESH_ROWS && s->problem->cancel && *s->problem->cancel) {
            return PERP_PMATRIX_SCHUR_CANCELLED;
        }
        if (rows == FRESH_ROWS && b.error > FRESH_ERROR * b.size) {
            block fresh = b;
            compute_afresh(s, &fresh);
            b = fresh.error < b.error ? fresh : b;
        }
        bool sure = b.a[0] > b.error;
        perp_pmatrix_schur_result r = PERP_PMATRIX_SCHUR_POSITIVE;
        if (!sure) {
            r = decide_pivot(s, &b, &sure);
        }
        if (r == PERP_PMATRIX_SCHUR_POSITIVE) {
            block child;
            if (sure) {
                child = complement(s, &b);
            } else { /* positive, but not to be divided by */
                child = (block){.k = b.k + 1, .set = b.set | UINT64_C(1) << b.k};
                compute_afresh(s, &child);
            }
            r = visit(s, child);
        }
        if (r != PERP_PMATRIX_SCHUR_POSITIVE) {
            return r;
        }
        b.a += b.stride + 1; /* delete the first row and column */
        b.k++;
    }
}

perp_pmatrix_schur_result perp_pmatrix_schur_run(perp_pmatrix_schur *problem, perp_arena *arena)
{
    assert(problem->n >= BASE_ROWS && problem->n <= PERP_PMATRIX_SCHUR_LARGEST);
    const size_t n = (size_t)problem->n;
    search s = {.problem = problem,
                .b = PERP_ARENA_NEW(arena, double, n *n),
                .x = PERP_ARENA_NEW(arena, double, n *n),
                .y = PERP_ARENA_NEW(arena, double, n *n),
                .work = PERP_ARENA_NEW(arena, double, 2 * n),
                .pivots = PERP_ARENA_NEW(arena, int, n),
                .indices = PERP_ARENA_NEW(arena, int, n)};
    bool all = s.b && s.x && s.y && s.work && s.pivots && s.indices;
    for (size_t k = 0; k <= n && all; k++) {
        s.level[k] = PERP_ARENA_NEW(arena, double, (n - k) * (n - k));
        s.fresh[k] = PERP_ARENA_NEW(arena, double, (n - k) * (n - k));
        all = s.level[k] && s.fresh[k];
    }
    if (!all) {
        return PERP_PMATRIX_SCHUR_OUT_OF_MEMORY;
    }
    /* Scaling by powers of two is exact but for entries that become subnormal. */
    block whole = {problem->scaled, problem->n, 0, 0, DBL_MIN, 0.0};
    whole.size = largest_entry(&whole, problem->n);
    return visit(&s, whole);
}
