/* The spatial friction problems of sweep_friction that have a local form (no joint limits, no loops), solved by perp by
 * its contacts and by Siconos' NSGS, NSN-AC and ADMM in W, q (bench/siconos_friction.h says with which options), each
 * from zero and for about a tenth of a second and a millisecond a contact, at most half a second, which is tens to
 * hundreds of times what perp takes. All are judged by friction_judge.h: perp's point by its own form, and its forces
 * in the local form too, as Siconos' are. Times are processor times of the solvers alone, the fastest of three where
 * that is soon done, in seconds over all cases, failures included; neither what
 * reserves perp's memory nor what forms W is in them. "perp first": the problems that perp solves sooner than any of
 * them that do; "decades": the sum of log10 of the fastest of them over perp, over the "raced" problems that both
 * solve. */
#include "friction_generator.h"
#include "friction_judge.h"
#include "siconos_friction.h"
#include "sweep.h"
#include "sweep_measure.h"
#include "timing.h"

#include <perp/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUGH 1e-6
#define TOLERANCE 1e-8
#define LONG 0.05                         /* s: what is not repeated */
#define JUDGED (TOLERANCE * (1.0 + 1e-6)) /* the judge's sums and the library's differ in their last bits */
enum { PERP, PEERS = SICONOS_FRICTION_METHODS, SOLVERS = 1 + PEERS, REPETITIONS = 3 };
enum { CASES, AT_ROUGH, AT_TOLERANCE = AT_ROUGH + SOLVERS + 1, SECONDS = AT_TOLERANCE + SOLVERS + 2 };
enum { CLAIMED = SECONDS + SOLVERS, FIRST = CLAIMED + PEERS, RACED, DECADES, COLUMNS };
enum { ALL, SOME, PERP_ALONE, SICONOS_ALONE, NONE, OUT_OF_SCOPE };

/* "any" is any of Siconos' three. */
static const measure_column columns[COLUMNS] = {
    {"cases", false},        {"perp 1e-6", false},      {"NSGS 1e-6", false},    {"NSN-AC 1e-6", false},
    {"ADMM 1e-6", false},    {"any 1e-6", false},       {"perp 1e-8", false},    {"NSGS 1e-8", false},
    {"NSN-AC 1e-8", false},  {"ADMM 1e-8", false},      {"any 1e-8", false},     {"perp's r in W 1e-8", false},
    {"perp s", false},       {"NSGS s", false},         {"NSN-AC s", false},     {"ADMM s", false},
    {"NSGS claimed", false}, {"NSN-AC claimed", false}, {"ADMM claimed", false}, {"perp first", false},
    {"raced", false},        {"decades", false},
};

typedef struct bench {
    friction_case *c;
    perp_friction_workspace *workspace;
    double *memory, *r_local;
    perp_convex_point point;
} bench;

static void *need(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "sweep_friction_peers: out of memory\n");
        exit(2);
    }
    return pointer;
}

static bench *the_bench(void)
{
    static bench b;
    perp_error error;
    if (!b.c) {
        b.c = friction_case_create();
        if (perp_friction_workspace_create(NULL, &b.workspace, &error) != PERP_STATUS_OK) {
            need(NULL);
        }
    }
    return &b;
}

static void size_point(bench *b)
{
    const perp_contact_qp *q = &b->c->system;
    const size_t n = (size_t)q->n, rows = (size_t)q->row_start[q->contact_count];
    b->memory = need(realloc(b->memory, (n + rows + 1) * sizeof *b->memory));
    memset(b->memory, 0, (n + rows + 1) * sizeof *b->memory);
    b->point = (perp_convex_point){.x = b->memory, .y = b->memory + n};
    b->r_local = need(realloc(b->r_local, 3 * (size_t)q->contact_count * sizeof *b->r_local));
}

/* The residual that the judge finds; infinite where the library refuses. */
static double solve_perp(bench *b, double *row, double *seconds, sweep_case *result)
{
    const friction_case *c = b->c;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info = {.outcome = PERP_OUTCOME_ITERATION_LIMIT};
    perp_error error = {0};
    settings.tolerance = TOLERANCE;
    settings.minimum_norm = false; /* no peer gives it */
    perp_status status = perp_contact_friction_reserve(&c->problem, b->workspace, &error);
    *seconds = INFINITY;
    for (int k = 0; k < REPETITIONS && status == PERP_STATUS_OK && (k == 0 || *seconds < LONG); k++) {
        const double start = timing_processor();
        status = perp_contact_friction_solve(&c->problem, &settings, b->workspace, &b->point, &info, &error);
        *seconds = fmin(*seconds, timing_processor() - start);
    }
    row[SECONDS + PERP] += isfinite(*seconds) ? *seconds : 0.0;
    if (status != PERP_STATUS_OK) {
        sweep_fail(result, "refused: %s", error.message);
        return INFINITY;
    }
    const friction_verdict verdict = judge_contact_friction(&c->problem, &b->point);
    const double residual = judge_verdict_residual(&verdict);
    if (info.outcome == PERP_OUTCOME_SOLVED && !(residual <= JUDGED)) {
        sweep_fail(result, "falsely solved: residual %.3g", residual);
    }
    return residual;
}

static double solve_peer(bench *b, const perp_friction *local, siconos_friction_method method, double *row,
                         double *seconds)
{
    const double limit = fmin(0.5, 0.1 + 0.001 * local->contacts);
    const siconos_friction_request request = {method, TOLERANCE, limit, REPETITIONS, judge_friction};
    memset(b->r_local, 0, 3 * (size_t)local->contacts * sizeof *b->r_local);
    const siconos_friction_answer answer = siconos_friction_solve(local, &request, b->r_local);
    *seconds = answer.seconds;
    row[SECONDS + 1 + (int)method] += answer.seconds;
    row[CLAIMED + (int)method] += answer.claimed && !(answer.residual <= ROUGH);
    return answer.residual;
}

static int kind_of(const double *residuals)
{
    int peers = 0;
    for (int k = 1; k < SOLVERS; k++) {
        peers += residuals[k] <= JUDGED;
    }
    const bool perp = residuals[PERP] <= JUDGED;
    return perp && peers == PEERS ? ALL : perp && peers ? SOME : perp ? PERP_ALONE : peers ? SICONOS_ALONE : NONE;
}

static void race(const double *residuals, const double *seconds, double *row)
{
    double fastest = INFINITY;
    for (int k = 1; k < SOLVERS; k++) {
        fastest = residuals[k] <= JUDGED ? fmin(fastest, seconds[k]) : fastest;
    }
    if (!(residuals[PERP] <= JUDGED)) {
        return;
    }
    row[FIRST] += seconds[PERP] < fastest;
    if (isfinite(fastest)) {
        row[RACED]++;
        row[DECADES] += log10(fastest / seconds[PERP]);
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    bench *b = the_bench();
    perp_friction local;
    double residuals[SOLVERS], seconds[SOLVERS], best = INFINITY;
    friction_generator_make(b->c, seed, index);
    if (b->c->planar || !friction_case_local(b->c, &local)) {
        result->kind = OUT_OF_SCOPE;
        return;
    }
    double *row = measure_row(b->c->family, columns, COLUMNS);
    size_point(b);
    row[CASES]++;
    residuals[PERP] = solve_perp(b, row, &seconds[PERP], result);
    friction_case_to_local(b->c, b->point.y, b->r_local);
    row[AT_TOLERANCE + SOLVERS + 1] += judge_friction(&local, b->r_local) <= JUDGED;
    for (int k = 0; k < PEERS; k++) {
        residuals[1 + k] = solve_peer(b, &local, (siconos_friction_method)k, row, &seconds[1 + k]);
        best = fmin(best, residuals[1 + k]);
    }
    for (int k = 0; k <= SOLVERS; k++) {
        const double residual = k < SOLVERS ? residuals[k] : best;
        row[AT_ROUGH + k] += residual <= ROUGH;
        row[AT_TOLERANCE + k] += residual <= JUDGED;
    }
    race(residuals, seconds, row);
    result->kind = kind_of(residuals);
    if (result->kind == SICONOS_ALONE) {
        sweep_fail(result, "%s, %d contacts: residual %.3g, of Siconos' best %.3g", b->c->family,
                   b->c->system.contact_count, residuals[PERP], best);
    }
}

const sweep the_sweep = {
    .name = "friction_peers",
    .checks =
        "spatial friction problems with inertia beside Siconos' NSGS, NSN-AC and ADMM: none is falsely solved, and "
        "what any of them solves to 1e-8 perp does",
    .full = 10000,
    .sample = 20,
    .chunk = 50,
    .kinds = {"solved by all", "by perp and some of Siconos'", "by perp alone", "by Siconos alone", "by none",
              "not compared"},
    .run = run,
};
