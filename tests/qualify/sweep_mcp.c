/* Nonlinear mcps through the cascade of perp_mcp_newton: monotone ones and others, made from their solution, and
 * Stewart-Trinkle contact LCPs that carry the proof of a solution, by callback.
 *
 * "Solved" is judged here, not by the library: the natural map in long double, from F at the returned point. */
#include "sweep.h"
#include "sweep_measure.h"

#include "lcp_generator.h"

#include "../solver/mcp_made.h"

#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MONOTONE, CONTACT, OTHER, FAMILIES };
enum { MONOTONE_SOLVED, CONTACT_NEWTON, CONTACT_FALLBACK, OTHER_NEWTON, OTHER_FALLBACK, OTHER_OPEN };
enum { CONTACT_LARGEST = 100 };

static bool evaluate_contact(void *context, const double *z, double *f, double *jacobian)
{
    const lcp_case *c = context;
    for (int i = 0; i < c->n; i++) {
        f[i] = c->q[i];
        for (int j = 0; j < c->n; j++) {
            f[i] += c->m[i * c->n + j] * z[j];
        }
    }
    if (jacobian) {
        memcpy(jacobian, c->m, (size_t)(c->n * c->n) * sizeof(double));
    }
    return true;
}

static perp_nonlinear_mcp make_contact(uint64_t seed, int index)
{
    static lcp_case *c;
    c = c ? c : lcp_case_create();
    if (!c) {
        fprintf(stderr, "sweep_mcp: out of memory\n");
        exit(2);
    }
    lcp_case_make_sized(c, seed, index, true, 30 + index % (CONTACT_LARGEST - 29));
    double scale = 0.0;
    for (int i = 0; i < c->n; i++) {
        scale = fmax(scale, fabs(c->q[i]));
    }
    return (perp_nonlinear_mcp){.n = c->n, .evaluate = evaluate_contact, .context = c, .scale = scale};
}

/* Cases are numbered within their family, so that one of its own seeds makes each. */
static perp_nonlinear_mcp make(uint64_t seed, int index)
{
    static made m;
    const int family = index % FAMILIES, number = index / FAMILIES;
    if (family == CONTACT) {
        return make_contact(seed, number);
    }
    m = made_case(seed * 1000003 + (uint64_t)number, (made_shape)(number % MADE_SHAPES), family == MONOTONE);
    return made_problem(&m);
}

static double judge(const perp_nonlinear_mcp *p, const double *z)
{
    double f[CONTACT_LARGEST];
    long double worst = p->evaluate(p->context, z, f, NULL) ? 0.0L : INFINITY;
    for (int i = 0; i < p->n; i++) {
        const long double lower = p->lower ? p->lower[i] : 0.0, upper = p->upper ? p->upper[i] : INFINITY;
        const long double y = (long double)z[i] - f[i], mid = y < lower ? lower : (y > upper ? upper : y);
        const long double error = z[i] >= lower && z[i] <= upper ? fabsl(z[i] - mid) : INFINITY;
        worst = error <= worst ? worst : error; /* NaN too */
    }
    return (double)(worst / (1.0L + (long double)p->scale));
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    static perp_mcp_newton_workspace *workspace;
    const int family = index % FAMILIES;
    const perp_nonlinear_mcp largest = {.n = CONTACT_LARGEST, .evaluate = evaluate_contact}, p = make(seed, index);
    double z[CONTACT_LARGEST], f[CONTACT_LARGEST];
    perp_mcp_newton_solution solution = {z, f};
    perp_mcp_newton_info info;
    perp_error error = {0};
    if ((!workspace && perp_mcp_newton_workspace_create(&largest, NULL, NULL, &workspace, &error) != PERP_STATUS_OK) ||
        perp_mcp_newton(&p, NULL, workspace, &solution, &info, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "refused: %s", error.message);
        return;
    }
    const bool solved = info.outcome == PERP_OUTCOME_SOLVED, first = strcmp(info.method, "newton") == 0;
    const double residual = judge(&p, z);
    static const measure_column columns[2] = {{"solved", false}, {"not solved", false}};
    measure_row(info.method, columns, 2)[solved ? 0 : 1]++;
    if (solved && !(residual <= 1e-8 * (1.0 + 1e-6))) { /* the judge's z - F rounds otherwise */
        sweep_fail(result, "falsely solved: residual %.3g", residual);
    }
    if (!solved && family != OTHER) {
        sweep_fail(result, "%s, n = %d: %s, residual %.3g", family == CONTACT ? "contact" : "monotone", p.n,
                   perp_outcome_name(info.outcome), residual);
    }
    result->kind = family == MONOTONE  ? MONOTONE_SOLVED
                   : family == CONTACT ? (first ? CONTACT_NEWTON : CONTACT_FALLBACK)
                   : !solved           ? OTHER_OPEN
                                       : (first ? OTHER_NEWTON : OTHER_FALLBACK);
}

const sweep the_sweep = {
    .name = "mcp",
    .checks =
        "nonlinear mcps by callback, n = 1 .. 100: every monotone one and every contact problem is solved to 1e-8 "
        "(judged in long double), of the others, which are far from P0, none is falsely solved",
    .full = 30000,
    .sample = 300,
    .chunk = 300,
    .kinds = {"monotone", "contact, by Newton", "contact, by a fallback", "not monotone, by Newton",
              "not monotone, by a fallback", "not monotone: not solved"},
    .run = run,
};
