/* Convex contact problems of bench/convex_generator.h, each of which carries the proof of what it is: solvable,
 * infeasible or unbounded. Every one is solved by its contacts from a cold start; then, by turns, from a warm start
 * near its solution, or in dense form.
 *
 * Answers are judged by convex_judge.h, not by the library. A case that fails is left as a problem file in
 * PERP_FAILURES_DIR, for `perp solve`. */
#include "convex_judge.h"
#include "sweep.h"
#include "sweep_measure.h"

#include "convex_generator.h"

#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOLERANCE 1e-8
enum { SOLVED_RAYS, SOLVED_CONES, INFEASIBLE, UNBOUNDED, COLUMNS = 8 };
enum { DENSE_WORK = 20000000 }; /* n^2 rows: beyond this the dense form takes too long for a sweep */

static const measure_column columns[COLUMNS] = {
    {"cases", false},      {"warm", false},      {"dense", false},   {"more than one method", false},
    {"least norm", false}, {"iterations", true}, {"residual", true}, {"certificate", true},
};

/* A point's arrays, grown as needed. */
typedef struct points {
    double *memory;
    perp_convex_point at;
} points;

typedef struct bench {
    convex_case *c;
    perp_convex_workspace *workspace;
    points solution, warm, dense;
} bench;

static void *need(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "sweep_convex: out of memory\n");
        exit(2);
    }
    return pointer;
}

static bench *the_bench(void)
{
    static bench b;
    perp_error error;
    if (!b.c) {
        b.c = convex_case_create();
        if (perp_convex_workspace_create(NULL, &b.workspace, &error) != PERP_STATUS_OK) {
            need(NULL);
        }
    }
    return &b;
}

/* All zero. `more` slacks beyond the contacts': a cone qp's bounds. */
static void size_point(points *p, const perp_contact_qp *q, int more)
{
    const size_t n = (size_t)q->n, slacks = (size_t)(q->slack_start[q->contact_count] + more);
    const size_t count = 3 * n + slacks + (size_t)q->equality_count + 1;
    p->memory = need(realloc(p->memory, count * sizeof *p->memory));
    memset(p->memory, 0, count * sizeof *p->memory);
    p->at.x = p->memory;
    p->at.y_lower = p->at.x + n;
    p->at.y_upper = p->at.y_lower + n;
    p->at.y = p->at.y_upper + n;
    p->at.y_equality = p->at.y + slacks;
}

/* Says what is wrong with an answer, if anything is. */
static void judge(const convex_case *c, const char *how, perp_status status, const perp_error *error,
                  const perp_convex_info *info, const perp_convex_point *point, sweep_case *result)
{
    static const perp_outcome expected[CONVEX_CLAIM_COUNT] = {PERP_OUTCOME_SOLVED, PERP_OUTCOME_INFEASIBLE,
                                                              PERP_OUTCOME_UNBOUNDED};
    if (status != PERP_STATUS_OK) {
        sweep_fail(result, "%s: refused: %s", how, error->message);
        return;
    }
    const double residual = judge_residual(&c->qp, point);
    if (info->outcome == PERP_OUTCOME_SOLVED && !(residual <= TOLERANCE)) {
        sweep_fail(result, "%s: falsely solved: residual %.3g", how, residual);
    }
    if (info->outcome != expected[c->claim]) {
        sweep_fail(result, "%s: n = %d, %d contacts, %s, %s, %s: %s instead of %s, residual %.3g, %d iterations", how,
                   c->qp.n, c->qp.contact_count, convex_case_has_cones(c) ? "cones" : "rays", c->family, c->curvature,
                   perp_outcome_name(info->outcome), perp_outcome_name(expected[c->claim]), residual, info->iterations);
        return;
    }
    double *row = measure_row(convex_case_has_cones(c) ? "cones" : "rays", columns, COLUMNS);
    measure_most(&row[5], info->iterations);
    row[3] += info->tried_count > 1;
    if (c->claim == CONVEX_SOLVABLE) {
        row[4] += info->minimum_norm;
        measure_most(&row[6], residual);
        return;
    }
    const double certificate =
        c->claim == CONVEX_INFEASIBLE ? judge_infeasible(&c->qp, point) : judge_unbounded(&c->qp, point->x);
    if (!(certificate <= TOLERANCE)) {
        sweep_fail(result, "%s: %s, but the certificate is off by %.3g", how, perp_outcome_name(info->outcome),
                   certificate);
    }
    measure_most(&row[7], certificate);
}

static void solve_contacts(bench *b, const char *how, const perp_convex_point *warm, sweep_case *result)
{
    perp_convex_settings settings = perp_convex_settings_default();
    perp_convex_info info = {0};
    perp_error error = {0};
    settings.warm = warm;
    size_point(&b->solution, &b->c->qp, 0);
    perp_status status = perp_contact_qp_reserve(&b->c->qp, b->workspace, &error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_qp_solve(&b->c->qp, &settings, b->workspace, &b->solution.at, &info, &error);
    }
    judge(b->c, how, status, &error, &info, &b->solution.at, result);
}

/* From the cold answer, moved by up to a part in a hundred. */
static void solve_warm(bench *b, uint64_t seed, int index, sweep_case *result)
{
    perp_random random = {sweep_mix(seed, index)};
    const perp_contact_qp *q = &b->c->qp;
    size_point(&b->warm, q, 0);
    const size_t count = 3 * (size_t)q->n + (size_t)(q->slack_start[q->contact_count] + q->equality_count);
    for (size_t i = 0; i < count; i++) {
        b->warm.memory[i] = b->solution.memory[i] * perp_random_uniform(&random, 0.99, 1.01);
    }
    solve_contacts(b, "warm", &b->warm.at, result);
    measure_row(convex_case_has_cones(b->c) ? "cones" : "rays", columns, COLUMNS)[1]++;
}

/* The multipliers of a cone qp's rows for bounds go back where they belong. */
static void bounds_from_rows(const perp_contact_qp *q, perp_convex_point *point)
{
    const double *next = point->y + q->slack_start[q->contact_count];
    for (int i = 0; i < q->n && q->lower; i++) {
        point->y_lower[i] = isfinite(q->lower[i]) ? *next++ : 0.0;
    }
    for (int i = 0; i < q->n && q->upper; i++) {
        point->y_upper[i] = isfinite(q->upper[i]) ? *next++ : 0.0;
    }
}

static void solve_dense(bench *b, sweep_case *result)
{
    const perp_contact_qp *q = &b->c->qp;
    perp_convex_info info = {0};
    perp_error error = {0};
    perp_status status;
    size_point(&b->dense, q, 2 * q->n);
    if (convex_case_has_cones(b->c)) {
        perp_cone_qp qp;
        convex_case_as_cone_qp(b->c, &qp);
        status = perp_cone_qp_reserve(&qp, b->workspace, &error);
        if (status == PERP_STATUS_OK) {
            status = perp_cone_qp_solve(&qp, NULL, b->workspace, &b->dense.at, &info, &error);
        }
        bounds_from_rows(q, &b->dense.at);
    } else {
        perp_qp qp;
        convex_case_as_qp(b->c, &qp);
        status = perp_qp_reserve(&qp, b->workspace, &error);
        if (status == PERP_STATUS_OK) {
            status = perp_qp_solve(&qp, NULL, b->workspace, &b->dense.at, &info, &error);
        }
    }
    judge(b->c, "dense", status, &error, &info, &b->dense.at, result);
    measure_row(convex_case_has_cones(b->c) ? "cones" : "rays", columns, COLUMNS)[2]++;
}

static void keep(const bench *b, uint64_t seed, int index, const char *reason)
{
    char path[600], comment[SWEEP_REASON + 200];
    mkdir(PERP_FAILURES_DIR, 0777);
    snprintf(path, sizeof path, "%s/convex-%llu-%d.yaml", PERP_FAILURES_DIR, (unsigned long long)seed, index);
    snprintf(comment, sizeof comment, "sweep_convex --seed %llu --first %d --count 1: %s", (unsigned long long)seed,
             index, reason);
    if (!convex_case_write(b->c, path, comment)) {
        fprintf(stderr, "sweep_convex: cannot write %s\n", path);
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    bench *b = the_bench();
    convex_case *c = b->c;
    convex_generator_make(c, seed, index);
    const bool cones = convex_case_has_cones(c);
    const double work = (double)c->qp.n * c->qp.n * c->qp.slack_start[c->qp.contact_count];
    result->kind = c->claim == CONVEX_INFEASIBLE  ? INFEASIBLE
                   : c->claim == CONVEX_UNBOUNDED ? UNBOUNDED
                   : cones                        ? SOLVED_CONES
                                                  : SOLVED_RAYS;
    if (!convex_case_proof_holds(c)) {
        sweep_fail(result, "the generator's proof does not hold");
    }
    solve_contacts(b, "cold", NULL, result);
    measure_row(cones ? "cones" : "rays", columns, COLUMNS)[0]++;
    if (index % 4 == 1 && !result->failed) {
        solve_warm(b, seed, index, result);
    } else if (index % 4 == 2 && work < DENSE_WORK) {
        solve_dense(b, result);
    }
    if (result->failed) {
        keep(b, seed, index, result->reason);
    }
}

static void show(uint64_t seed, int index)
{
    static const char *const claims[CONVEX_CLAIM_COUNT] = {"solvable", "infeasible", "unbounded"};
    bench *b = the_bench();
    convex_generator_make(b->c, seed, index);
    convex_case_write(b->c, "/dev/stdout", claims[b->c->claim]);
}

const sweep the_sweep = {
    .name = "convex",
    .checks = "contact qps and cone qps, n = 3 .. 200, up to 150 contacts: every proven solvable one is solved to 1e-8 "
              "(judged in long double), every infeasible and unbounded one is told with a certificate good to 1e-8, "
              "none is falsely solved",
    .full = 10000,
    .sample = 500,
    .chunk = 250,
    .kinds = {"solved with rays", "solved with cones", "infeasible", "unbounded"},
    .run = run,
    .show = show,
};
