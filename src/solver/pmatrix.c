/* P-matrices: every principal minor is positive, equivalently the lcp with this matrix has exactly one solution for
 * every q.
 *
 * Scaling rows and columns by positive numbers changes no sign of a minor. The tests work on D M D with powers of two D
 * that bring the diagonal to [1/2, 2), which keeps a definite symmetric part definite; the Schur complements on a
 * further scaling E^-1 (D M D) E that balances rows against columns. In order of cost:
 *
 *   minors    of one and two rows: not P at once where one is not positive.
 *   definite  x'M x > 0 for all x makes every principal minor positive. Proven by a Cholesky factorisation of the
 *             symmetric part less a multiple of the identity that exceeds its rounding: if L L' = A + E exists in
 *             floating point, |E| <= (n + 1) u trace(A) to first order, so A - 2 (n + 4) u trace(A) I having a factor
 *             proves A definite.
 *   h-matrix  if d > 0 exists with m_ii d_i > sum_j |m_ij| d_j, every principal submatrix is regular on the whole line
 *             from its diagonal to itself, so its determinant keeps the sign of the diagonal's. d solves <M> d = e with
 *             the comparison matrix <M>, its diagonal made a little smaller so that the inequality holds with a
 *             relative margin (d may range over many powers of ten, and then 1 is no margin), and is checked.
 *   schur     all minors, by recursive Schur complements, those in doubt decided exactly (pmatrix_schur.h): 2^n work,
 *             hence a limit on n.
 *
 * The diagonal comes first although a definite matrix passes it anyway: it is what the scaling needs.
 *
 * P and not P hold for the matrix as given, to the last bit. The verdict is `unknown` where n is beyond the limit and
 * no quick test decides, and where exact determinants would be too many or wider than exact_minor.h takes.
 *
 * P0 (all minors >= 0) and column sufficiency (x_i (M x)_i <= 0 for all i implies = 0 for all i) come for free from P,
 * which implies both, and from a negative minor, which excludes both. A minor that is zero decides neither.
 */
#include <perp/solver.h>

#include "base/settings_size.h"
#include "linalg/dense.h"
#include "linalg/dense_kernel.h"
#include "solver/pmatrix_schur.h"
#include "solver/tolerances.h"

#include <float.h>
#include <string.h>

typedef struct pmatrix {
    int n;
    const double *m; /* as given */
    double *scaled;  /* n x n */
    double *work;    /* n x n */
    double *vector;  /* n */
    int *pivots;     /* n */
    int *exponents;  /* n */
    bool scaled_is_finite;
    perp_exact_minor exact;
    perp_arena memory;
    perp_pmatrix_result *result;
} pmatrix;

/* ---- verdicts ------------------------------------------------------------------------------------------------------
 */

static bool say_p(pmatrix *p, const char *test)
{
    perp_pmatrix_result *r = p->result;
    r->verdict = PERP_PMATRIX_P;
    r->test = test;
    r->p0_known = r->p0 = true;
    r->column_sufficient_known = r->column_sufficient = true;
    return true;
}

/* `indices` (count of them) has a minor that is zero or negative; its value is computed here. False if the exact sign
 * is needed to say so (`proven` false) and is positive after all. */
static bool say_not_p(pmatrix *p, const char *test, const int *indices, int count, bool proven)
{
    perp_pmatrix_result *r = p->result;
    double value;
    const perp_exact_sign sign = perp_exact_minor_sign(&p->exact, p->m, p->n, indices, count, &value);
    if (!proven && (sign == PERP_EXACT_POSITIVE || sign == PERP_EXACT_TOO_WIDE)) {
        return false;
    }
    if (sign == PERP_EXACT_TOO_WIDE) { /* proven by bounds; the value by plain arithmetic */
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++) {
                p->work[i * count + j] = p->m[(ptrdiff_t)indices[i] * p->n + indices[j]];
            }
        }
        double magnitude = -INFINITY;
        perp_lu_factor(count, p->work, count, p->pivots, NULL);
        perp_lu_determinant(count, p->work, count, p->pivots, &magnitude);
        value = -exp(magnitude);
    }
    r->verdict = PERP_PMATRIX_NOT_P;
    r->test = test;
    r->minor_value = value;
    r->minor = 0;
    for (int i = 0; i < count && p->n <= 64; i++) {
        r->minor |= UINT64_C(1) << indices[i];
    }
    if (sign == PERP_EXACT_NEGATIVE || sign == PERP_EXACT_TOO_WIDE) {
        r->p0_known = r->column_sufficient_known = true;
    }
    return true;
}

/* ---- scaling -------------------------------------------------------------------------------------------------------
 */

static bool scale_diagonal(pmatrix *p)
{
    const int n = p->n;
    for (int i = 0; i < n; i++) {
        int e;
        frexp(p->m[(ptrdiff_t)i * n + i], &e);
        p->exponents[i] = -(e >= 0 ? e / 2 : -((1 - e) / 2)); /* - floor(e / 2) */
    }
    bool finite = true;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const ptrdiff_t at = (ptrdiff_t)i * n + j;
            p->scaled[at] = ldexp(p->m[at], p->exponents[i] + p->exponents[j]);
            finite = finite && isfinite(p->scaled[at]);
        }
    }
    return finite;
}

/* Osborne's balancing, E^-1 A E: minors and diagonal stay, large entries beside small ones shrink. */
static void balance(pmatrix *p)
{
    const int n = p->n;
    double *a = p->scaled;
    for (int sweep = 0; sweep < 8; sweep++) {
        for (int i = 0; i < n; i++) {
            double row = 0.0, column = 0.0;
            for (int j = 0; j < n; j++) {
                row += j == i ? 0.0 : fabs(a[(ptrdiff_t)i * n + j]);
                column += j == i ? 0.0 : fabs(a[(ptrdiff_t)j * n + i]);
            }
            if (!(row > 0.0 && column > 0.0 && isfinite(row) && isfinite(column))) {
                continue;
            }
            int row_exponent, column_exponent;
            frexp(row, &row_exponent);
            frexp(column, &column_exponent);
            const int e = (column_exponent - row_exponent) / 2;
            for (int j = 0; j < n && e; j++) {
                if (j != i) {
                    a[(ptrdiff_t)i * n + j] = ldexp(a[(ptrdiff_t)i * n + j], e);
                    a[(ptrdiff_t)j * n + i] = ldexp(a[(ptrdiff_t)j * n + i], -e);
                }
            }
        }
    }
}

/* ---- tests that take n^3 -------------------------------------------------------------------------------------------
 */

static bool diagonal_offends(pmatrix *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->m[(ptrdiff_t)i * p->n + i] <= 0.0) {
            return say_not_p(p, "minors", &i, 1, true);
        }
    }
    return false;
}

static bool pair_offends(pmatrix *p)
{
    const int n = p->n;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            const double *a = p->scaled;
            const double diagonal = a[(ptrdiff_t)i * n + i] * a[(ptrdiff_t)j * n + j];
            const double other = a[(ptrdiff_t)i * n + j] * a[(ptrdiff_t)j * n + i];
            const double error = 2.0 * DBL_EPSILON * (diagonal + fabs(other)) + DBL_MIN;
            if (diagonal - other > error) {
                continue;
            }
            if (say_not_p(p, "minors", (const int[]){i, j}, 2, diagonal - other < -error)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_definite(pmatrix *p)
{
    const int n = p->n;
    double trace = 0.0;
    for (int i = 0; i < n; i++) {
        trace += p->scaled[(ptrdiff_t)i * n + i];
    }
    const double shift = 2.0 * (n + 4) * DBL_EPSILON * trace;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            p->work[(ptrdiff_t)i * n + j] =
                0.5 * (p->scaled[(ptrdiff_t)i * n + j] + p->scaled[(ptrdiff_t)j * n + i]) - (i == j ? shift : 0.0);
        }
    }
    return perp_cholesky_factor(n, p->work, n, NULL) == PERP_STATUS_OK;
}

static bool is_h_matrix(pmatrix *p)
{
    const int n = p->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double x = p->scaled[(ptrdiff_t)i * n + j];
            p->work[(ptrdiff_t)i * n + j] = i == j ? (1.0 - H_MARGIN) * x : -fabs(x);
        }
        p->vector[i] = 1.0;
    }
    if (perp_lu_factor(n, p->work, n, p->pivots, NULL) != PERP_STATUS_OK) {
        return false;
    }
    perp_lu_solve(n, p->work, n, p->pivots, p->vector);
    for (int i = 0; i < n; i++) {
        if (!(p->vector[i] > 0.0 && isfinite(p->vector[i]))) {
            return false;
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            sum += j == i ? 0.0 : fabs(p->scaled[(ptrdiff_t)i * n + j]) * p->vector[j];
        }
        /* n products and sums of positive numbers: a relative error below (n + 2) u */
        if (!(p->scaled[(ptrdiff_t)i * n + i] * p->vector[i] > sum * (1.0 + 2.0 * (n + 2) * DBL_EPSILON) + DBL_MIN)) {
            return false;
        }
    }
    return true;
}

/* ---- the whole -----------------------------------------------------------------------------------------------------
 */

static perp_status no_memory(const pmatrix *p, perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for the P-matrix test of %d rows", p->n);
}

static perp_status reserve(pmatrix *p, const perp_allocator *allocator, perp_error *error)
{
    const size_t n = (size_t)p->n;
    perp_arena_init(&p->memory, allocator);
    p->scaled = PERP_ARENA_NEW(&p->memory, double, n *n);
    p->work = PERP_ARENA_NEW(&p->memory, double, n *n);
    p->vector = PERP_ARENA_NEW(&p->memory, double, n);
    p->pivots = PERP_ARENA_NEW(&p->memory, int, n);
    p->exponents = PERP_ARENA_NEW(&p->memory, int, n);
    const int capacity = p->n < 2 ? 2 : p->n < 64 ? p->n : 64;
    const bool all = p->scaled && p->work && p->vector && p->pivots && p->exponents &&
                     perp_exact_minor_init(&p->exact, capacity, &p->memory);
    return all ? PERP_STATUS_OK : no_memory(p, error);
}

/* Two rows always end here: the exact sign of their minor never needs more bits than there are. */
static bool quick_verdict(pmatrix *p)
{
    if (diagonal_offends(p)) {
        return true;
    }
    p->scaled_is_finite = scale_diagonal(p);
    if (!p->scaled_is_finite) {
        return false;
    }
    if (is_definite(p)) {
        return say_p(p, "definite");
    }
    if (pair_offends(p)) {
        return true;
    }
    if (is_h_matrix(p)) {
        return say_p(p, "h-matrix");
    }
    return p->n <= 2 && say_p(p, "minors");
}

static perp_status run_schur(pmatrix *p, const volatile bool *cancel, perp_error *error)
{
    balance(p);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)p->n * p->n; i++) {
        if (!isfinite(p->scaled[i])) {
            return PERP_STATUS_OK; /* unknown, as it stands */
        }
    }
    perp_pmatrix_schur schur = {p->n, p->m, p->scaled, &p->exact, cancel, 0};
    int indices[PERP_PMATRIX_SCHUR_LARGEST], count = 0;
    switch (perp_pmatrix_schur_run(&schur, &p->memory)) {
    case PERP_PMATRIX_SCHUR_POSITIVE:
        say_p(p, "schur");
        break;
    case PERP_PMATRIX_SCHUR_OFFENDING:
        for (int i = 0; i < p->n; i++) {
            if (schur.offending >> i & 1U) {
                indices[count++] = i;
            }
        }
        say_not_p(p, "schur", indices, count, true);
        break;
    case PERP_PMATRIX_SCHUR_UNDECIDED:
        break;
    case PERP_PMATRIX_SCHUR_CANCELLED:
        return perp_fail(error, PERP_STATUS_CANCELLED, "the P-matrix test was cancelled");
    case PERP_PMATRIX_SCHUR_OUT_OF_MEMORY:
        return no_memory(p, error);
    }
    return PERP_STATUS_OK;
}

perp_status perp_pmatrix_test(int n, const double *m, const perp_pmatrix_settings *settings,
                              const perp_allocator *allocator, perp_pmatrix_result *result, perp_error *error)
{
    const perp_pmatrix_settings chosen = settings ? *settings : perp_pmatrix_settings_default();
    const int limit = chosen.max_n < PERP_PMATRIX_SCHUR_LARGEST ? chosen.max_n : PERP_PMATRIX_SCHUR_LARGEST;
    *result = (perp_pmatrix_result){.verdict = PERP_PMATRIX_UNKNOWN, .test = "none"};
    if (PERP_CHECK_SIZE(perp_pmatrix_settings, &chosen, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (n < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a matrix cannot have %d rows", n);
    }
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n * n; i++) {
        if (!isfinite(m[i])) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry (%d, %d) of the matrix is not finite", (int)(i / n),
                             (int)(i % n));
        }
    }
    pmatrix p = {.n = n, .m = m, .result = result};
    const bool with_schur = n >= 3 && n <= limit;
    perp_status status = reserve(&p, allocator, error);
    if (status == PERP_STATUS_OK && chosen.cancel && *chosen.cancel) {
        status = perp_fail(error, PERP_STATUS_CANCELLED, "the P-matrix test was cancelled");
    } else if (status == PERP_STATUS_OK && !quick_verdict(&p) && with_schur && p.scaled_is_finite) {
        status = run_schur(&p, chosen.cancel, error);
    }
    perp_arena_clear(&p.memory);
    return status;
}
