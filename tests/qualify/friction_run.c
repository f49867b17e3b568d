#include "friction_run.h"

#include "friction_judge.h"
#include "solver/friction_core.h"
#include "sweep_measure.h"

#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The judge's sums and the library's differ in their last bits. */
#define JUDGED (FRICTION_TOLERANCE * (1.0 + 1e-6))
enum { COLUMNS = 12, LOCAL_ROWS = 600 }; /* beyond these rows the local form takes too long for a sweep */

static const measure_column columns[COLUMNS] = {
    {"cases", false}, {"1e-6", false},      {"1e-8", false},    {"falsely solved", false}, {"warm", false},
    {"local", false}, {"fallbacks", false}, {"contacts", true}, {"factorisations", true},  {"residual", true},
    {"tried", false}, {"decided", false}, /* of rows that are lines of the cascade's schedule */
};
enum { CASES, ROUGHLY, WELL, FALSELY, WARM, LOCAL, FALLBACKS, CONTACTS, FACTORISATIONS, RESIDUAL, TRIED, DECIDED };

/* A point's arrays, grown as needed. */
typedef struct points {
    double *memory;
    size_t count;
    perp_convex_point at;
} points;

typedef struct bench {
    friction_case *c;
    perp_friction_workspace *workspace;
    points solution, warm;
    double *r, *u; /* local form */
} bench;

static void *need(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "friction_run: out of memory\n");
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

static void size_point(points *p, const perp_contact_qp *q)
{
    const size_t n = (size_t)q->n, rows = (size_t)q->row_start[q->contact_count];
    p->count = 3 * n + rows + (size_t)q->equality_count;
    p->memory = need(realloc(p->memory, (p->count + 1) * sizeof *p->memory));
    memset(p->memory, 0, p->count * sizeof *p->memory);
    p->at.x = p->memory;
    p->at.y_lower = p->at.x + n;
    p->at.y_upper = p->at.y_lower + n;
    p->at.y = p->at.y_upper + n;
    p->at.y_equality = p->at.y + rows;
}

/* Says what is wrong with an answer, if anything is. */
static void judge(const friction_case *c, const char *how, const perp_friction_info *info, double residual,
                  sweep_case *result)
{
    double *row = measure_row(c->family, columns, COLUMNS);
    if (info->outcome == PERP_OUTCOME_SOLVED && !(residual <= JUDGED)) {
        row[FALSELY]++;
        sweep_fail(result, "%s: falsely solved: residual %.3g, said to be %.3g", how, residual, info->residual);
    }
    if (info->outcome != PERP_OUTCOME_SOLVED) {
        sweep_miss(result, "%s: %s, %s, n = %d, %d contacts%s: %s, residual %.3g, %d factorisations, %d methods", how,
                   c->family, c->proof == FRICTION_KNOWN ? "known" : "reachable", c->system.n, c->system.contact_count,
                   c->planar ? " in the plane" : "", perp_outcome_name(info->outcome), residual, info->factorisations,
                   info->tried_count);
    }
    row[FALLBACKS] += info->tried_count > 1;
    measure_most(&row[FACTORISATIONS], info->factorisations);
    if (residual <= JUDGED) {
        measure_most(&row[RESIDUAL], residual);
    }
}

/* The judge's residual; infinite where the library refuses. */
static double solve_contacts(bench *b, const char *how, const perp_convex_point *warm, perp_friction_info *info,
                             sweep_case *result)
{
    perp_friction_settings settings = perp_friction_settings_default();
    perp_error error = {0};
    const friction_case *c = b->c;
    settings.tolerance = FRICTION_TOLERANCE;
    settings.warm = warm;
    *info = (perp_friction_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT};
    size_point(&b->solution, &c->system);
    perp_status status = perp_contact_friction_reserve(&c->problem, b->workspace, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_friction_solve(&c->problem, &settings, b->workspace, &b->solution.at, info, &error);
    }
    if (status != PERP_STATUS_OK) {
        sweep_fail(result, "%s: refused: %s", how, error.message);
        return INFINITY;
    }
    const friction_verdict verdict = judge_contact_friction(&c->problem, &b->solution.at);
    const double residual = judge_verdict_residual(&verdict);
    if (!judge_verdict_coherent(&verdict)) {
        sweep_fail(result, "%s: mechanics and residual differ: law %.3g, cone %.3g, approach %.3g, power %.3g", how,
                   verdict.law, verdict.cone, verdict.approach, verdict.power);
    }
    judge(c, how, info, residual, result);
    return residual;
}

/* From the cold answer, moved by up to a part in a hundred. */
static void solve_warm(bench *b, uint64_t seed, int index, sweep_case *result)
{
    perp_random random = {sweep_mix(seed, index)};
    perp_friction_info info;
    size_point(&b->warm, &b->c->system);
    for (size_t i = 0; i < b->warm.count; i++) {
        b->warm.memory[i] = b->solution.memory[i] * perp_random_uniform(&random, 0.99, 1.01);
    }
    solve_contacts(b, "warm", &b->warm.at, &info, result);
    measure_row(b->c->family, columns, COLUMNS)[WARM]++;
}

static void solve_local(bench *b, const perp_friction *local, sweep_case *result)
{
    const size_t size = (size_t)(local->contacts * local->dim) + 1;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info = {.outcome = PERP_OUTCOME_ITERATION_LIMIT};
    perp_error error = {0};
    b->r = need(realloc(b->r, size * sizeof *b->r));
    b->u = need(realloc(b->u, size * sizeof *b->u));
    settings.tolerance = FRICTION_TOLERANCE;
    perp_status status = perp_friction_reserve(local, b->workspace, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_friction_solve(local, &settings, b->workspace, b->r, b->u, &info, &error);
    }
    if (status != PERP_STATUS_OK) {
        sweep_fail(result, "local: refused: %s", error.message);
        return;
    }
    judge(b->c, "local", &info, judge_friction(local, b->r), result);
    measure_row(b->c->family, columns, COLUMNS)[LOCAL]++;
}

/* The library's residual and the judge's are two programs for one definition: at a point that solves nothing they are
 * the same but for rounding. */
static void compare_residuals(bench *b, uint64_t seed, int index, sweep_case *result)
{
    perp_random random = {sweep_mix(seed, -1 - index)};
    const perp_contact_qp *q = &b->c->system;
    size_point(&b->warm, q);
    for (size_t i = 0; i < b->warm.count; i++) {
        b->warm.memory[i] = perp_random_uniform(&random, -1.0, 2.0);
    }
    for (int i = 0; i < q->n; i++) { /* a bound that is not there has no force */
        b->warm.at.y_lower[i] = q->lower && isfinite(q->lower[i]) ? b->warm.at.y_lower[i] : 0.0;
        b->warm.at.y_upper[i] = q->upper && isfinite(q->upper[i]) ? b->warm.at.y_upper[i] : 0.0;
    }
    const friction_verdict judged = judge_contact_friction(&b->c->problem, &b->warm.at);
    const perp_contact_friction_residual said = perp_contact_friction_evaluate(&b->c->problem, &b->warm.at);
    const double pairs[3][2] = {
        {judged.balance, said.balance}, {judged.law, said.law}, {judged.constraint, said.constraint}};
    for (int k = 0; k < 3; k++) {
        if (!(fabs(pairs[k][0] - pairs[k][1]) <= 1e-9 * (1.0 + pairs[k][0]))) {
            sweep_fail(result, "the residual's part %d is %.12g, by the judge %.12g", k, pairs[k][1], pairs[k][0]);
        }
    }
}

/* What the lines of the schedule have done in all cases so far. */
static void count_lines(const perp_friction_workspace *f)
{
    for (int line = 0; line < PERP_FRICTION_LINES; line++) {
        double *row = measure_row(perp_friction_line_label(line), columns, COLUMNS);
        row[TRIED] = row[DECIDED] = 0.0;
        for (const perp_friction_workspace *g = f; g; g = g->island) {
            row[TRIED] += g->tally[line].tried;
            row[DECIDED] += g->tally[line].solved;
        }
    }
}

static void keep(bench *b, const friction_series *series, uint64_t seed, int index, const char *reason)
{
    char path[600], comment[SWEEP_REASON + 200];
    mkdir(PERP_FAILURES_DIR, 0777);
    snprintf(path, sizeof path, "%s/%s-%llu-%d.yaml", PERP_FAILURES_DIR, series->name, (unsigned long long)seed, index);
    snprintf(comment, sizeof comment, "sweep_%s --seed %llu --first %d --count 1: %s", series->name,
             (unsigned long long)seed, index, reason);
    if (!friction_case_write(b->c, path, comment)) {
        fprintf(stderr, "sweep_%s: cannot write %s\n", series->name, path);
    }
}

void friction_run_case(const friction_series *series, uint64_t seed, int index, sweep_case *result)
{
    bench *b = the_bench();
    perp_friction local;
    perp_friction_info info;
    series->make(b->c, seed, index);
    const int contacts = b->c->system.contact_count;
    double *row = measure_row(b->c->family, columns, COLUMNS);
    if (!judge_friction_proof(b->c)) {
        sweep_fail(result, "the generator's proof does not hold");
    }
    const double residual = solve_contacts(b, "cold", NULL, &info, result);
    row[CASES]++;
    row[ROUGHLY] += residual <= 1e-6;
    row[WELL] += residual <= JUDGED;
    measure_most(&row[CONTACTS], contacts);
    result->kind = residual <= JUDGED ? (info.tried_count > 1 ? FRICTION_SOLVED_BY_FALLBACK : FRICTION_SOLVED)
                   : residual <= 1e-6 ? FRICTION_SOLVED_ROUGHLY
                                      : FRICTION_NOT_SOLVED;
    if (index % 4 == 0) {
        compare_residuals(b, seed, index, result);
    } else if (index % 4 == 1 && !result->failed) {
        solve_warm(b, seed, index, result);
    } else if (index % 4 == 2 && contacts * 3 <= LOCAL_ROWS && friction_case_local(b->c, &local)) {
        solve_local(b, &local, result);
    }
    count_lines(b->workspace);
    if (result->failed) {
        keep(b, series, seed, index, result->reason);
    }
}

void friction_run_show(const friction_series *series, uint64_t seed, int index)
{
    bench *b = the_bench();
    series->make(b->c, seed, index);
    friction_case_write(b->c, "/dev/stdout", b->c->family);
}
