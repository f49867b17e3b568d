/* mcp_brute_force.h - all solutions of a small integer mcp by brute force over its 3^n pieces, in exact arithmetic, and
 * random problems to try it on.
 *
 * A piece says of every variable whether it is at its lower bound (F_i >= 0), at its upper (F_i <= 0) or between
 * (F_i = 0); with equal bounds F_i is not asked for. Its corners are the points and directions that as many of its
 * equations and inequalities hold with equality as are needed to make them single. Lines (directions that change no
 * bounded z_i and no F_i that is asked for) are taken out by setting some z to 0, the same in every piece. Two pieces
 * meet in a face of both, so one contains the other iff its corners are among the other's.
 *
 * The caller fills B.n .. B.has_upper, for one by fill(), and calls brute_force(). */
#ifndef PERP_TESTS_SOLVER_MCP_BRUTE_FORCE_H
#define PERP_TESTS_SOLVER_MCP_BRUTE_FORCE_H

#include "lcp_test.h"

enum { N = 5, ROWS = 3 * N, CORNERS = 512, WORDS = CORNERS / 64, PIECES = 243 };

typedef __int128 wide;

/* ---- brute force ---------------------------------------------------------------------------------------------------
 */

/* x over d, d > 0, in lowest terms; a ray has d = 1. */
typedef struct corner {
    int64_t x[N], d;
} corner;

typedef struct piece {
    uint64_t vertices[WORDS], rays[WORDS];
} piece;

/* coefficients' z + constant = 0 (equation) or >= 0 */
typedef struct constraint {
    int64_t coefficient[N], constant;
    bool equation;
} constraint;

typedef struct brute {
    int n, m[N * N], q[N], lower[N], upper[N];
    bool has_lower[N], has_upper[N];
    bool held[N]; /* at 0, to take out the lines */
    int line_count;
    bool feasible; /* some point meets the bounds and all that is asked of F without complementarity */
    int vertex_count, ray_count, piece_count;
    corner vertices[CORNERS], rays[CORNERS];
    piece pieces[PIECES];
} brute;

static brute B; /* large, hence not on the stack */

typedef struct list {
    constraint items[ROWS + N];
    int count;
} list;

static bool is_fixed(int i)
{
    return B.has_lower[i] && B.has_upper[i] && B.lower[i] == B.upper[i];
}

/* sign (z_i - bound) */
static void add_bound(list *l, int i, int bound, int sign, bool equation)
{
    constraint c = {.constant = -sign * (int64_t)bound, .equation = equation};
    c.coefficient[i] = sign;
    l->items[l->count++] = c;
}

static void add_slack(list *l, int i, int sign, bool equation)
{
    constraint c = {.constant = sign * (int64_t)B.q[i], .equation = equation};
    for (int j = 0; j < B.n; j++) {
        c.coefficient[j] = sign * (int64_t)B.m[i * B.n + j];
    }
    l->items[l->count++] = c;
}

/* Fraction-free Gauss-Jordan on rows of width N + 1; returns the rank. Row k then has *d in column place[k]. */
static int jordan(wide a[][N + 1], int rows, int *place, wide *d)
{
    int rank = 0;
    *d = 1;
    for (int c = 0; c < B.n && rank < rows; c++) {
        int r = rank;
        while (r < rows && a[r][c] == 0) {
            r++;
        }
        if (r == rows) {
            continue;
        }
        for (int j = 0; j <= N; j++) {
            const wide t = a[r][j];
            a[r][j] = a[rank][j];
            a[rank][j] = t;
        }
        const wide p = a[rank][c];
        for (int i = 0; i < rows; i++) {
            const wide f = a[i][c];
            for (int j = 0; j <= N && i != rank; j++) {
                a[i][j] = (p * a[i][j] - f * a[rank][j]) / *d; /* exact */
            }
        }
        *d = p;
        place[rank++] = c;
    }
    return rank;
}

static wide gcd(wide a, wide b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        const wide t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* The place of the corner in its list, where it is added if it is new. */
static int record(corner *corners, int *count, const wide *x, wide d, bool ray)
{
    wide g = ray ? 0 : d;
    corner c = {.d = 1};
    for (int i = 0; i < B.n; i++) {
        g = gcd(g, x[i]);
    }
    for (int i = 0; i < B.n; i++) {
        c.x[i] = (int64_t)(x[i] / g);
    }
    c.d = ray ? 1 : (int64_t)(d / g);
    for (int k = 0; k < *count; k++) {
        if (memcmp(&corners[k], &c, sizeof c) == 0) {
            return k;
        }
    }
    assert_true(*count < CORNERS);
    corners[*count] = c;
    return (*count)++;
}

/* Whether x / d (a direction: d = 0) meets all; then it is put into the piece. */
static void offer(const list *l, piece *p, const wide *x, wide d, bool *any)
{
    for (int k = 0; k < l->count; k++) {
        wide value = d * l->items[k].constant;
        for (int j = 0; j < B.n; j++) {
            value += x[j] * l->items[k].coefficient[j];
        }
        if (value < 0 || (value != 0 && l->items[k].equation)) {
            return;
        }
    }
    if (d != 0) {
        const int k = record(B.vertices, &B.vertex_count, x, d, false);
        p->vertices[k / 64] |= UINT64_C(1) << k % 64;
        *any = true;
    } else {
        const int k = record(B.rays, &B.ray_count, x, 1, true);
        p->rays[k / 64] |= UINT64_C(1) << k % 64;
    }
}

/* The point or the direction that the chosen constraints leave, if they leave one. */
static void solve_chosen(const list *l, unsigned chosen, piece *p, bool *any)
{
    wide a[ROWS + N][N + 1] = {{0}}, d, x[N] = {0};
    int rows = 0, place[N];
    for (int k = 0; k < l->count; k++) {
        if (l->items[k].equation || chosen >> k & 1U) {
            for (int j = 0; j < B.n; j++) {
                a[rows][j] = l->items[k].coefficient[j];
            }
            a[rows++][N] = -l->items[k].constant;
        }
    }
    const int rank = jordan(a, rows, place, &d);
    if (rank == B.n) {
        for (int k = rank; k < rows; k++) {
            if (a[k][N] != 0) {
                return;
            }
        }
        for (int k = 0; k < rank; k++) {
            x[place[k]] = d > 0 ? a[k][N] : -a[k][N];
        }
        offer(l, p, x, d > 0 ? d : -d, any);
    } else if (rank == B.n - 1) {
        int open = 0; /* the column without a pivot */
        while (open < rank && place[open] == open) {
            open++;
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int k = 0; k < rank; k++) {
                x[place[k]] = -sign * a[k][open];
            }
            x[open] = sign * d;
            offer(l, p, x, 0, any);
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
    int kept = 0;
    for (int k = 0; k < B.piece_count; k++) {
        if (inside(p, &B.pieces[k])) {
            return;
        }
    }
    for (int k = 0; k < B.piece_count; k++) {
        if (!inside(&B.pieces[k], p)) {
            B.pieces[kept++] = B.pieces[k];
        }
    }
    B.pieces[kept] = *p;
    B.piece_count = kept + 1;
}

enum { AT_LOWER, BETWEEN, AT_UPPER };

/* False if a variable has no such bound. */
static bool constraints_of(const int *states, list *l)
{
    l->count = 0;
    for (int i = 0; i < B.n; i++) {
        if (B.held[i]) {
            add_bound(l, i, 0, 1, true);
        }
        if (is_fixed(i)) {
            add_bound(l, i, B.lower[i], 1, true);
            if (states[i] != BETWEEN) {
                return false;
            }
            continue;
        }
        if ((states[i] == AT_LOWER && !B.has_lower[i]) || (states[i] == AT_UPPER && !B.has_upper[i])) {
            return false;
        }
        if (B.has_lower[i]) {
            add_bound(l, i, B.lower[i], 1, states[i] == AT_LOWER);
        }
        if (B.has_upper[i]) {
            add_bound(l, i, B.upper[i], -1, states[i] == AT_UPPER);
        }
        add_slack(l, i, states[i] == AT_UPPER ? -1 : 1, states[i] == BETWEEN);
    }
    return true;
}

/* Holds the columns without a pivot when all that is asked for is eliminated; returns how many. `of_boxes`: F_i is
 * asked for where z_i has two bounds. */
static int hold_lines(bool of_boxes)
{
    wide a[ROWS + N][N + 1] = {{0}}, d;
    int rows = 0, place[N];
    bool pivots[N] = {false};
    for (int i = 0; i < B.n; i++) {
        if (B.has_lower[i] || B.has_upper[i]) {
            a[rows++][i] = 1;
        }
        const bool asked = !is_fixed(i) && (of_boxes || !B.has_lower[i] || !B.has_upper[i]);
        for (int j = 0; j < B.n && asked; j++) {
            a[rows][j] = B.m[i * B.n + j];
        }
        rows += asked;
    }
    const int rank = jordan(a, rows, place, &d);
    for (int k = 0; k < rank; k++) {
        pivots[place[k]] = true;
    }
    for (int i = 0; i < B.n; i++) {
        B.held[i] = !pivots[i];
    }
    return B.n - rank;
}

static int bits(unsigned x)
{
    int count = 0;
    for (; x; x &= x - 1) {
        count++;
    }
    return count;
}

/* The corners of what the constraints describe; false if it has no point. */
static bool find_corners(const list *l, piece *p)
{
    bool any = false;
    unsigned open = 0;
    for (int c = 0; c < l->count; c++) {
        open |= l->items[c].equation ? 0U : 1U << c;
    }
    *p = (piece){{0}, {0}};
    for (unsigned chosen = open;; chosen = (chosen - 1) & open) {
        if (bits(chosen) <= B.n) {
            solve_chosen(l, chosen, p, &any);
        }
        if (!chosen) {
            return any;
        }
    }
}

/* The bounds, and F_i >= 0, <= 0, = 0 where z_i has a lower bound, an upper one, none. */
static bool is_feasible(void)
{
    list l = {.count = 0};
    piece p;
    hold_lines(false);
    for (int i = 0; i < B.n; i++) {
        if (B.held[i]) {
            add_bound(&l, i, 0, 1, true);
        }
        if (B.has_lower[i]) {
            add_bound(&l, i, B.lower[i], 1, false);
        }
        if (B.has_upper[i]) {
            add_bound(&l, i, B.upper[i], -1, false);
        }
        if (!B.has_lower[i] || !B.has_upper[i]) {
            add_slack(&l, i, B.has_upper[i] ? -1 : 1, !B.has_lower[i] && !B.has_upper[i]);
        }
    }
    return find_corners(&l, &p);
}

static void brute_force(void)
{
    int all = 1;
    B.vertex_count = B.ray_count = 0;
    B.feasible = is_feasible();
    B.vertex_count = B.ray_count = B.piece_count = 0;
    B.line_count = hold_lines(true);
    for (int i = 0; i < B.n; i++) {
        all *= 3;
    }
    for (int k = 0; k < all; k++) {
        int states[N];
        list l;
        piece p;
        for (int i = 0, rest = k; i < B.n; i++, rest /= 3) {
            states[i] = rest % 3;
        }
        if (constraints_of(states, &l) && find_corners(&l, &p)) {
            add_piece(&p);
        }
    }
}

static case_of as_case(void)
{
    case_of c = new_case(B.n);
    for (int i = 0; i < B.n * B.n; i++) {
        c.m[i] = B.m[i];
    }
    for (int i = 0; i < B.n; i++) {
        c.q[i] = B.q[i];
        c.lower[i] = B.has_lower[i] ? (double)B.lower[i] : -INFINITY;
        c.upper[i] = B.has_upper[i] ? (double)B.upper[i] : INFINITY;
    }
    return c;
}

/* ---- random problems -----------------------------------------------------------------------------------------------
 */

static int integer(perp_random *random, int low, int high)
{
    return low + (int)(perp_random_bits(random) % (uint64_t)(high - low + 1));
}

enum kind { DENSE, SPARSE, LOW_RANK, PROGRAMME, ZERO, KINDS };

/* PROGRAMME: the conditions of a linear programme, [0 -A'; A 0], the multipliers free: a singular free block. */
static void fill(perp_random *random, enum kind kind, int n)
{
    int u[N * 2], v[N * 2];
    const int rank = integer(random, 1, 2), multipliers = integer(random, 1, n > 1 ? n / 2 : 1);
    B.n = n;
    for (int i = 0; i < n * 2; i++) {
        u[i] = integer(random, -2, 2);
        v[i] = integer(random, -2, 2);
    }
    for (int i = 0; i < n; i++) {
        B.q[i] = integer(random, -3, 3);
        for (int j = 0; j < n; j++) {
            int *x = &B.m[i * n + j];
            *x = kind == DENSE ? integer(random, -9, 9) : integer(random, 0, 2) ? 0 : integer(random, -1, 1);
            if (kind == LOW_RANK) {
                *x = u[2 * i] * v[2 * j] + (rank > 1 ? u[2 * i + 1] * v[2 * j + 1] : 0);
            } else if (kind == ZERO) {
                *x = i == j && integer(random, 0, 1) ? *x : 0;
            }
        }
        const int state = integer(random, 0, 9);
        B.lower[i] = integer(random, -2, 1);
        B.upper[i] = B.lower[i] + (state == 9 ? 0 : integer(random, 1, 3));
        B.has_lower[i] = state >= 3 && state != 4; /* free: 0, 1, 2; upper only: 4 */
        B.has_upper[i] = state >= 4 && state != 5 && state != 6;
    }
    for (int i = 0; i < n && kind == PROGRAMME; i++) {
        const bool multiplier = i >= n - multipliers;
        B.has_lower[i] = !multiplier;
        B.has_upper[i] = false;
        B.lower[i] = 0;
        for (int j = 0; j <= i; j++) {
            const bool same = multiplier == (j >= n - multipliers);
            B.m[i * n + j] = same ? 0 : integer(random, -1, 2);
            B.m[j * n + i] = -B.m[i * n + j];
        }
    }
}

/* q = F - M z for a solution z, F, so that there is one; often F_i = 0 at a bound. */
static void plant(perp_random *random)
{
    int z[N], f[N];
    for (int i = 0; i < B.n; i++) {
        const int side = integer(random, 0, 3);
        const bool low = B.has_lower[i] && side != 1, high = B.has_upper[i] && !low;
        z[i] = low ? B.lower[i] : high ? B.upper[i] : integer(random, -1, 1);
        f[i] = side == 0 ? 0 : low ? integer(random, 0, 1) : high ? -integer(random, 0, 1) : 0;
    }
    for (int i = 0; i < B.n; i++) {
        B.q[i] = f[i];
        for (int j = 0; j < B.n; j++) {
            B.q[i] -= B.m[i * B.n + j] * z[j];
        }
    }
}

#endif
