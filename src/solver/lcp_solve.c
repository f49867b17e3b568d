/* The cascade: 0 <= M z + q _|_ z >= 0, and its relatives with free and boxed variables, by Lemke's method and by what
 * can mend its failures. Each rung mends one way in which the one before it fails:
 *
 *   lemke              one path, from the start and with the covering vector of the settings; ends in most cases
 *   lemke-refactored   the basis from the data after every few pivots, at three widths of tie: for a path that rounding
 * led astray lemke-covering     other covering vectors lead along other paths: for rays, and for paths through bad
 * bases lemke-restarted    other complementary bases as the start: for matrices (of bimatrix games, say) with which the
 *                      path from w = q ends on a ray whatever the covering vector
 *   lemke-regularised  M + eps I, eps shrinking: every path ends where M is only semidefinite or copositive. The answer
 *                      is always finished on M itself, from the basis that was found
 *
 * What each decides is counted in docs/lab/fallbacks.md.
 *
 * The residual of the point decides whether a rung succeeded. The cascade ends at a solution, at a proof that there is
 * none, or when it is cancelled. If every rung fails, the outcome and the point are those of the first: a ray, a limit
 * on pivots, or a basis too ill-conditioned.
 */
#include "base/settings_size.h"
#include "problem/checks.h"
#include "solver/lcp_core.h"
#include "solver/method.h"
#include "solver/tolerances.h"

#include <string.h>

typedef struct cascade {
    perp_lcp_workspace *c;
    perp_outcome outcome; /* of the last attempt */
    double residual;
} cascade;

static bool decided(const cascade *s)
{
    return s->outcome == PERP_OUTCOME_SOLVED || s->outcome == PERP_OUTCOME_INFEASIBLE ||
           s->outcome == PERP_OUTCOME_CANCELLED;
}

static void attempt(cascade *s, const perp_lemke_attempt *how)
{
    s->outcome = perp_lcp_attempt(s->c, how, &s->residual);
}

static void run_plain(cascade *s)
{
    const perp_lemke_attempt how = {perp_lemke_care_plain(), s->c->settings.covering, s->c->settings.warm_basis, false};
    attempt(s, &how);
}

/* A second ray is taken for one: three narrower looks at the same path would cost much and show the same. */
static void run_refactored(cascade *s)
{
    static const double ties[] = {1e-11, 1e-8, 1e-13}; /* of the largest q */
    const bool ray_before = s->outcome == PERP_OUTCOME_RAY;
    for (size_t k = 0; k < sizeof ties / sizeof *ties; k++) {
        const perp_lemke_care care = {.refresh_every = 16, .drift = REFACTORED_DRIFT, .tie = ties[k]};
        const perp_lemke_attempt how = {care, s->c->settings.covering, NULL, false};
        attempt(s, &how);
        if (decided(s) || (ray_before && s->outcome == PERP_OUTCOME_RAY)) {
            return;
        }
    }
}

/* Positive numbers between 1 and 2, or by the sizes of q or of the rows of M. */
static void make_covering(perp_lcp_workspace *c, int kind)
{
    const int n = c->data.n;
    perp_random random = {(uint64_t)kind};
    for (int i = 0; i < n; i++) {
        const double *row = c->data.m + (ptrdiff_t)i * n;
        double value = 1.0;
        if (kind == 1) {
            value = fabs(c->data.q[i]) + COVERING_LEAST * c->value_scale / c->row_scale[i];
        } else if (kind == 2) {
            value = c->value_scale / c->row_scale[i];
            for (int j = 0; j < n; j++) {
                value += fabs(row[j]);
            }
        } else if (kind > 2) {
            value = perp_random_uniform(&random, 1.0, kind % 2 ? 2.0 : 10.0) / c->row_scale[i];
        }
        c->covering[i] = value;
    }
}

/* Index i and the one it is coupled with most: the start of Lemke and Howson for games, whose M has no diagonal. */
static void make_pair(perp_lcp_workspace *c, int i)
{
    const int n = c->data.n;
    const double *m = c->data.m;
    int partner = i;
    double largest = fabs(m[(ptrdiff_t)i * n + i]);
    for (int j = 0; j < n; j++) {
        const double coupling = sqrt(fabs(m[(ptrdiff_t)i * n + j])) * sqrt(fabs(m[(ptrdiff_t)j * n + i]));
        if (coupling > largest) {
            largest = coupling;
            partner = j;
        }
    }
    memset(c->warm, 0, (size_t)n * sizeof(int));
    c->warm[i] = c->warm[partner] = 1;
}

enum { STARTS_ALL, STARTS_BY_Q, STARTS_RANDOM, STARTS_PAIRS = STARTS_RANDOM + 4, STARTS = STARTS_PAIRS + 12 };

/* All z; those whose q is negative; random halves; pairs. */
static void make_basis(perp_lcp_workspace *c, int kind)
{
    if (kind >= STARTS_PAIRS) {
        make_pair(c, (int)((int64_t)(kind - STARTS_PAIRS) * c->data.n / (STARTS - STARTS_PAIRS)));
        return;
    }
    perp_random random = {(uint64_t)kind};
    for (int i = 0; i < c->data.n; i++) {
        const bool coin = (perp_random_bits(&random) & 1) != 0;
        c->warm[i] = kind == STARTS_ALL || (kind == STARTS_BY_Q ? c->data.q[i] < 0.0 : coin) ? 1 : 0;
    }
}

static void run_restarted(cascade *s)
{
    for (int kind = 0; kind < STARTS && s->c->data.n > 0; kind++) {
        make_basis(s->c, kind);
        const perp_lemke_attempt how = {perp_lemke_care_plain(), NULL, s->c->warm, true};
        attempt(s, &how);
        if (decided(s)) {
            return;
        }
    }
}

static void run_covering(cascade *s)
{
    enum { KINDS = 6 };
    for (int kind = 0; kind < KINDS; kind++) {
        make_covering(s->c, kind);
        perp_lemke_attempt how = {perp_lemke_care_plain(), s->c->covering, NULL, false};
        how.care.refresh_every = 25;
        attempt(s, &how);
        if (decided(s)) {
            return;
        }
    }
}

/* perp_lcp_attempt judges on M, so a regularised basis that is also one of M needs no further pivot; from one that is
 * not, Lemke's method starts on M itself. */
static void run_regularised(cascade *s)
{
    static const double ladder[] = {/* eps */ 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12};
    perp_lcp_workspace *c = s->c;
    for (size_t k = 0; k < sizeof ladder / sizeof *ladder; k++) {
        perp_lemke_attempt how = {perp_lemke_care_plain(), NULL, NULL, false};
        how.care.regularise = ladder[k];
        how.care.refresh_every = 25;
        attempt(s, &how);
        if (s->outcome == PERP_OUTCOME_ILL_CONDITIONED) { /* it ended, but not on a basis of M */
            memcpy(c->warm, c->basis, (size_t)c->data.n * sizeof(int));
            how.care.regularise = 0.0;
            how.warm_basis = c->warm;
            attempt(s, &how);
        }
        if (decided(s)) {
            return;
        }
    }
}

typedef struct method {
    const char *name, *summary;
    void (*run)(cascade *s);
} method;

static const method methods[] = {
    {"lemke", "Lemke's method, ties broken lexicographically, basis kept as an updated inverse", run_plain},
    {"lemke-refactored", "the same with the basis inverted from the data every few pivots, at three widths of tie",
     run_refactored},
    {"lemke-covering", "the same with other covering vectors", run_covering},
    {"lemke-restarted", "the same from other complementary bases", run_restarted},
    {"lemke-regularised", "M + eps I with eps from 1e-2 down, finished on M itself from the basis found",
     run_regularised},
};

enum { METHODS = sizeof methods / sizeof *methods };

int perp_lcp_method_count(void)
{
    return METHODS;
}

const char *perp_lcp_method_name(int index)
{
    return index >= 0 && index < METHODS ? methods[index].name : NULL;
}

const char *perp_lcp_method_summary(int index)
{
    return index >= 0 && index < METHODS ? methods[index].summary : NULL;
}

/* The checks that every solve begins with; data and settings (NULL: the defaults) go into the workspace. */
static perp_status begin(perp_lcp_workspace *c, const perp_lcp_data *data, const perp_lcp_settings *given,
                         perp_lcp_info *info, perp_error *error)
{
    c->settings = given ? *given : perp_lcp_settings_default();
    const perp_lcp_settings *settings = &c->settings;
    memset(info, 0, sizeof *info);
    info->outcome = PERP_OUTCOME_ILL_CONDITIONED;
    info->residual = INFINITY;
    if (PERP_CHECK_SIZE(perp_lcp_settings, settings, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (data->n > c->capacity) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the workspace is for problems up to %d, this one has %d",
                         c->capacity, data->n);
    }
    if (!(settings->tolerance > 0.0)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is not positive", settings->tolerance);
    }
    if (settings->tolerance < FINEST_TOLERANCE) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is below %g, to which residuals are evaluated",
                         settings->tolerance, FINEST_TOLERANCE);
    }
    for (int i = 0; settings->covering && i < data->n; i++) {
        if (!(settings->covering[i] > 0.0 && settings->covering[i] < INFINITY)) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of the covering vector is %g, not positive", i,
                             settings->covering[i]);
        }
    }
    c->data = *data;
    c->unit = settings->relative ? 0.0 : 1.0;
    c->pivot_count = c->refresh_count = 0;
    return PERP_STATUS_OK;
}

static perp_status run(perp_lcp_workspace *c, perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const char *name = c->settings.method;
    int only = -1;
    const perp_status status = name ? perp_method_find(perp_lcp_method_name, name, &only, error) : PERP_STATUS_OK;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    cascade s = {c, PERP_OUTCOME_ILL_CONDITIONED, INFINITY};
    bool delivered = false;
    for (int k = 0; k < METHODS; k++) {
        if (only >= 0 && k != only) {
            continue;
        }
        info->tried[info->tried_count++] = methods[k].name;
        methods[k].run(&s);
        /* Of failures the first is kept: it is the one of the method and the covering vector that were asked for. */
        if (decided(&s) || !delivered) {
            info->method = methods[k].name;
            perp_lcp_deliver(c, s.outcome, s.residual, solution, info);
            delivered = true;
        }
        if (decided(&s)) {
            break;
        }
    }
    info->pivots = c->pivot_count;
    info->refactorisations = c->refresh_count;
    return PERP_STATUS_OK;
}

perp_status perp_lcp_solve(const perp_lcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                           perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const perp_lcp_data data = {problem->n, problem->m, problem->q, NULL, NULL};
    perp_status status = begin(workspace, &data, settings, info, error);
    status = status == PERP_STATUS_OK ? perp_lcp_check(problem, error) : status;
    return status == PERP_STATUS_OK ? run(workspace, solution, info, error) : status;
}

perp_status perp_mcp_solve(const perp_mcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                           perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const perp_lcp_data data = {problem->n, problem->m, problem->q, problem->lower, problem->upper};
    perp_status status = begin(workspace, &data, settings, info, error);
    status = status == PERP_STATUS_OK ? perp_mcp_check(problem, error) : status;
    return status == PERP_STATUS_OK ? run(workspace, solution, info, error) : status;
}

perp_status perp_mlcp_solve(const perp_mlcp *problem, const perp_lcp_settings *settings, perp_lcp_workspace *workspace,
                            perp_lcp_solution *solution, perp_lcp_info *info, perp_error *error)
{
    const perp_lcp_data data = {problem->n, problem->m, problem->q, workspace->lower, workspace->upper};
    perp_status status = begin(workspace, &data, settings, info, error);
    status = status == PERP_STATUS_OK ? perp_mlcp_check(problem, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_mcp mcp; /* its residual is that of the mlcp: the natural map of an unbounded variable is F */
    perp_mlcp_as_mcp(problem, workspace->lower, workspace->upper, &mcp);
    return run(workspace, solution, info, error);
}
