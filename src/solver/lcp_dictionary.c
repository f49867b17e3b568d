#include "solver/lcp_dictionary.h"

#include <math.h>
#include <string.h>

/* Rounding left in a constant term after a pivot; made an exact zero so that degeneracy stays visible. */
static const double SNAP = 1e-13;

/* A least value between this and PERP_LCP_ZERO may be zero with slopes that were too small to follow: a problem of
 * masses that differ by 1e6 can have that. It is neither called zero nor taken as proof that there is no solution. */
static const double DOUBTFUL = 1e-7;

/* Rounding of an entry, relative to its row, between two rebuilds: up to 3e-12 was seen in random problems with rows
 * and columns scaled by 1e-2 to 1e2. What lies between this and PERP_LCP_ZERO counts as zero, but an answer that rests
 * on it is doubtful: in M = [-1 1; -1 1 + 2e-11] the difference of the rows is what makes z = (5e10, 5e10) a solution
 * for q = (0, -1). Smaller differences cannot be told from rounding. */
static const double ROUNDING = 5e-12;

/* Of q: see perp_lcp_scaled. */
static const double NOISE = 1e-15;

/* ---- scaling -------------------------------------------------------------------------------------------------------
 */

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
        least = fmax(least, 1e-15 * fabs(m[i]));
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
        double size = 1.0;
        for (int j = 0; j < s->n; j++) {
            size = fmax(size, fabs(row[j]));
        }
        for (int j = 0; j < s->n; j++) {
            if (given[j] != 0.0 && (fabs(row[j]) <= PERP_LCP_ZERO * size || fabs(given[j]) <= left_out)) {
                return true;
            }
        }
        if (s->q[i] != 0.0 && fabs(s->q[i]) <= PERP_LCP_ZERO) {
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
        s->q[i] = fabs(s->q[i]) <= NOISE ? 0.0 : s->q[i];
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

/* ---- dictionaries --------------------------------------------------------------------------------------------------
 */

bool perp_lcp_dictionary_create(perp_lcp_dictionary *d, const perp_lcp_scaled *problem, perp_arena *arena)
{
    const size_t n = (size_t)problem->n;
    *d = (perp_lcp_dictionary){.problem = problem};
    d->a = PERP_ARENA_NEW(arena, double, n *(n + 1));
    d->b = PERP_ARENA_NEW(arena, double, n);
    d->row = PERP_ARENA_NEW(arena, int, n);
    d->column = PERP_ARENA_NEW(arena, int, n + 1);
    return d->a && d->b && d->row && d->column;
}

static double *row_of(const perp_lcp_dictionary *d, int row)
{
    return d->a + row * (d->problem->n + 1);
}

void perp_lcp_dictionary_copy(perp_lcp_dictionary *to, const perp_lcp_dictionary *from)
{
    const int n = from->problem->n;
    to->columns = from->columns;
    to->pivots = from->pivots;
    to->tight = from->tight;
    for (int i = 0; i < n; i++) {
        memcpy(row_of(to, i), row_of(from, i), (size_t)from->columns * sizeof(double));
    }
    memcpy(to->b, from->b, (size_t)n * sizeof(double));
    memcpy(to->row, from->row, (size_t)n * sizeof(int));
    memcpy(to->column, from->column, (size_t)from->columns * sizeof(int));
}

perp_lcp_variables perp_lcp_dictionary_basis(const perp_lcp_dictionary *d)
{
    perp_lcp_variables basis = {0, 0};
    for (int i = 0; i < d->problem->n; i++) {
        perp_lcp_add(&basis, d->row[i]);
    }
    return basis;
}

int perp_lcp_dictionary_row(const perp_lcp_dictionary *d, int variable)
{
    for (int i = 0; i < d->problem->n; i++) {
        if (d->row[i] == variable) {
            return i;
        }
    }
    return -1;
}

static int column_of(const perp_lcp_dictionary *d, int variable)
{
    for (int j = 0; j < d->columns; j++) {
        if (d->column[j] == variable) {
            return j;
        }
    }
    return -1;
}

/* Exchanges the variables of a row and a column. */
static void pivot(perp_lcp_dictionary *d, int row, int column)
{
    const int n = d->problem->n;
    double *p = row_of(d, row);
    const double inverse = 1.0 / p[column];
    for (int j = 0; j < d->columns; j++) {
        p[j] *= -inverse;
    }
    p[column] = inverse;
    d->b[row] *= -inverse;
    for (int i = 0; i < n; i++) {
        double *a = row_of(d, i);
        const double factor = a[column];
        if (i == row || factor == 0.0) {
            continue;
        }
        a[column] = 0.0;
        for (int j = 0; j < d->columns; j++) {
            a[j] += factor * p[j];
        }
        d->b[i] += factor * d->b[row];
        d->b[i] = fabs(d->b[i]) <= SNAP ? 0.0 : d->b[i];
    }
    d->b[row] = fabs(d->b[row]) <= SNAP ? 0.0 : d->b[row];
    const int variable = d->row[row];
    d->row[row] = d->column[column];
    d->column[column] = variable;
    d->pivots++;
}

static void drop_column(perp_lcp_dictionary *d, int column)
{
    const int last = --d->columns;
    d->column[column] = d->column[last];
    for (int i = 0; i < d->problem->n; i++) {
        row_of(d, i)[column] = row_of(d, i)[last];
    }
}

static double row_size(const perp_lcp_dictionary *d, int row)
{
    double size = 1.0;
    for (int j = 0; j < d->columns; j++) {
        size = fmax(size, fabs(row_of(d, row)[j]));
    }
    return size;
}

/* A basic variable that is zero here becomes tight: it leaves for the largest entry of its row, or, where the row is
 * zero, stays as a row of zeros. A pivot in a row with b = 0 moves nothing, so its sign does not matter. */
static void retire_row(perp_lcp_dictionary *d, int row)
{
    double *a = row_of(d, row);
    const double least = PERP_LCP_ZERO * row_size(d, row);
    int largest = -1;
    for (int j = 0; j < d->columns; j++) {
        if (fabs(a[j]) > least && (largest < 0 || fabs(a[j]) > fabs(a[largest]))) {
            largest = j;
        }
    }
    perp_lcp_add(&d->tight, d->row[row]);
    d->b[row] = 0.0;
    if (largest >= 0) {
        pivot(d, row, largest);
        drop_column(d, largest);
    } else {
        memset(a, 0, (size_t)d->columns * sizeof(double));
    }
}

/* ---- the simplex method --------------------------------------------------------------------------------------------
 */

/* The row that stops `column` from growing, -1 if none does. Among ties the largest pivot, for accuracy; with `bland`
 * the lowest variable, which cannot cycle. `favoured` (a row or -1) wins every tie. */
static int blocking_row(const perp_lcp_dictionary *d, int column, int favoured, bool bland)
{
    double least = INFINITY;
    for (int pass = 0, best = -1;; pass++) {
        for (int i = 0; i < d->problem->n; i++) {
            const double slope = row_of(d, i)[column];
            if (slope >= -PERP_LCP_ZERO) {
                continue;
            }
            const double ratio = fmax(d->b[i], 0.0) / -slope;
            if (pass == 0) {
                least = fmin(least, ratio);
            } else if (ratio <= least * (1.0 + 1e-12) + 1e-15) {
                if (i == favoured) {
                    return i;
                }
                const bool better = best < 0 || (bland ? d->row[i] < d->row[best] : slope < row_of(d, best)[column]);
                best = better ? i : best;
            }
        }
        if (pass == 1 || least == INFINITY) {
            return best;
        }
    }
}

/* The column that changes the row's variable in the direction `sign` fastest (with `bland`: the lowest variable), -1 if
 * none does. */
static int improving_column(const perp_lcp_dictionary *d, int row, double sign, bool bland)
{
    const double *a = row_of(d, row), least = PERP_LCP_ZERO * row_size(d, row);
    int best = -1;
    for (int j = 0; j < d->columns; j++) {
        if (sign * a[j] > least &&
            (best < 0 || (bland ? d->column[j] < d->column[best] : sign * a[j] > sign * a[best]))) {
            best = j;
        }
    }
    return best;
}

/* Whether an entry that improving_column passed over could have changed the variable in that direction. */
static bool may_improve(const perp_lcp_dictionary *d, int row, double sign)
{
    const double *a = row_of(d, row), least = ROUNDING * row_size(d, row);
    for (int j = 0; j < d->columns; j++) {
        if (sign * a[j] > least) {
            return true;
        }
    }
    return false;
}

/* What lies in doubt may be rounding that pivots left: the same dictionary computed afresh has less. */
static bool can_be_rebuilt(const perp_lcp_dictionary *d)
{
    return d->pivots > 0 && perp_lcp_dictionary_row(d, PERP_LCP_ARTIFICIAL) < 0 &&
           column_of(d, PERP_LCP_ARTIFICIAL) < 0;
}

static perp_lcp_lp rebuild(perp_lcp_dictionary *d)
{
    return perp_lcp_dictionary_build(d, perp_lcp_dictionary_basis(d), d->tight);
}

static int pivot_limit(const perp_lcp_dictionary *d)
{
    return 1000 + 100 * d->problem->n;
}

static bool is_bland(const perp_lcp_dictionary *d, int pivots)
{
    return pivots > 20 + 4 * d->problem->n;
}

perp_lcp_lp perp_lcp_dictionary_fix(perp_lcp_dictionary *d, int variable)
{
    if (perp_lcp_has(d->tight, variable)) {
        return PERP_LCP_LP_YES;
    }
    for (int k = 0; k < pivot_limit(d); k++) {
        const int row = perp_lcp_dictionary_row(d, variable);
        if (row < 0) {
            perp_lcp_add(&d->tight, variable);
            drop_column(d, column_of(d, variable));
            return PERP_LCP_LP_YES;
        }
        const int column = d->b[row] > 0.0 ? improving_column(d, row, -1.0, is_bland(d, k)) : -1;
        if (column < 0 && d->b[row] > PERP_LCP_ZERO) {
            const bool doubt = may_improve(d, row, -1.0) || d->b[row] <= DOUBTFUL;
            if (doubt && can_be_rebuilt(d)) {
                if (rebuild(d) != PERP_LCP_LP_YES) {
                    return PERP_LCP_LP_TROUBLE;
                }
                continue;
            }
            d->doubtful = d->doubtful || may_improve(d, row, -1.0);
            return d->b[row] > DOUBTFUL ? PERP_LCP_LP_NO : PERP_LCP_LP_TROUBLE;
        }
        if (column < 0) {
            retire_row(d, row);
            return PERP_LCP_LP_YES;
        }
        pivot(d, blocking_row(d, column, row, is_bland(d, k)), column); /* `row` itself blocks at the latest */
    }
    return PERP_LCP_LP_TROUBLE;
}

perp_lcp_lp perp_lcp_dictionary_can_be_positive(perp_lcp_dictionary *d, int variable)
{
    if (perp_lcp_has(d->tight, variable)) {
        return PERP_LCP_LP_NO;
    }
    for (int k = 0; k < pivot_limit(d); k++) {
        const int row = perp_lcp_dictionary_row(d, variable);
        if (row >= 0 && d->b[row] > PERP_LCP_ZERO) {
            return PERP_LCP_LP_YES;
        }
        const int column = row < 0 ? column_of(d, variable) : improving_column(d, row, 1.0, is_bland(d, k));
        if (column < 0 && may_improve(d, row, 1.0) && can_be_rebuilt(d)) {
            if (rebuild(d) != PERP_LCP_LP_YES) {
                return PERP_LCP_LP_TROUBLE;
            }
            continue;
        }
        if (column < 0) {
            d->doubtful = d->doubtful || may_improve(d, row, 1.0);
            return PERP_LCP_LP_NO;
        }
        const int blocking = blocking_row(d, column, -1, is_bland(d, k));
        if (blocking < 0) {
            return PERP_LCP_LP_YES; /* unbounded */
        }
        pivot(d, blocking, column);
    }
    return PERP_LCP_LP_TROUBLE;
}

/* w = q + M z + e t with t large enough for w >= 0, then t is fixed at 0. */
perp_lcp_lp perp_lcp_dictionary_start(perp_lcp_dictionary *d)
{
    const int n = d->problem->n;
    int worst = -1;
    d->tight = (perp_lcp_variables){0, 0};
    d->columns = n + 1;
    d->pivots = 0;
    for (int i = 0; i < n; i++) {
        memcpy(row_of(d, i), d->problem->m + i * n, (size_t)n * sizeof(double));
        row_of(d, i)[n] = 1.0;
        d->b[i] = d->problem->q[i];
        d->row[i] = PERP_LCP_W + i;
        d->column[i] = i;
        if (d->b[i] < 0.0 && (worst < 0 || d->b[i] < d->b[worst])) {
            worst = i;
        }
    }
    d->column[n] = PERP_LCP_ARTIFICIAL;
    if (worst < 0) {
        d->columns = n;
        return PERP_LCP_LP_YES;
    }
    pivot(d, worst, n);
    const perp_lcp_lp answer = perp_lcp_dictionary_fix(d, PERP_LCP_ARTIFICIAL);
    d->tight = (perp_lcp_variables){0, 0};
    return answer;
}

/* ---- rebuilding ----------------------------------------------------------------------------------------------------
 */

/* The largest entry in a row whose variable must leave and a column whose variable must enter; false if there is none
 * left. `*size` is its magnitude. */
static bool largest_exchange(const perp_lcp_dictionary *d, perp_lcp_variables basis, int *row, int *column,
                             double *size)
{
    bool found = false;
    *size = 0.0;
    for (int i = 0; i < d->problem->n; i++) {
        for (int j = 0; j < d->columns && !perp_lcp_has(basis, d->row[i]); j++) {
            if (perp_lcp_has(basis, d->column[j]) && (!found || fabs(row_of(d, i)[j]) > *size)) {
                found = true;
                *row = i;
                *column = j;
                *size = fabs(row_of(d, i)[j]);
            }
        }
    }
    return found;
}

perp_lcp_lp perp_lcp_dictionary_build(perp_lcp_dictionary *d, perp_lcp_variables basis, perp_lcp_variables tight)
{
    const int n = d->problem->n;
    int row = 0, column = 0;
    double size;
    d->columns = n;
    d->tight = tight;
    for (int i = 0; i < n; i++) {
        memcpy(row_of(d, i), d->problem->m + i * n, (size_t)n * sizeof(double));
        d->b[i] = d->problem->q[i];
        d->row[i] = PERP_LCP_W + i;
        d->column[i] = i;
    }
    while (largest_exchange(d, basis, &row, &column, &size)) {
        if (size < 1e-13) {
            return PERP_LCP_LP_TROUBLE;
        }
        pivot(d, row, column);
    }
    for (int j = d->columns - 1; j >= 0; j--) {
        if (perp_lcp_has(tight, d->column[j])) {
            drop_column(d, j);
        }
    }
    for (int i = 0; i < n; i++) {
        if (fabs(d->b[i]) > PERP_LCP_ZERO && (d->b[i] < 0.0 || perp_lcp_has(tight, d->row[i]))) {
            return PERP_LCP_LP_TROUBLE;
        }
        if (perp_lcp_has(tight, d->row[i])) {
            d->b[i] = 0.0;
            memset(row_of(d, i), 0, (size_t)d->columns * sizeof(double));
        }
        d->b[i] = fmax(d->b[i], 0.0);
    }
    d->pivots = 0;
    return PERP_LCP_LP_YES;
}
