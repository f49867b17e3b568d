/* The friction problems without an answer of docs/friction-open.md, each with a cap on its work: whatever is said of
 * them is true. One that is solved within the cap is counted by its kind, so that it can be taken off the list. */
#include "friction_generator.h"
#include "friction_judge.h"
#include "sweep.h"

#include <perp/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN, SOLVED_NOW };
enum { CAP = 300 }; /* factorisations: a second of a large one */
#define TOLERANCE 1e-8
#define JUDGED (TOLERANCE * (1.0 + 1e-6)) /* the judge's sums and the library's differ in their last bits */

/* Of seed 1. */
static const int with_inertia[] = {522, 1925, 2263, 5261, 8089, 9948, 7324};
static const int quasistatic[] = {805, 1411, 1420};
enum {
    WITH_INERTIA = (int)(sizeof with_inertia / sizeof *with_inertia),
    ALL = WITH_INERTIA + (int)(sizeof quasistatic / sizeof *quasistatic)
};

static void make(friction_case *c, int index)
{
    if (index % ALL < WITH_INERTIA) {
        friction_generator_make(c, 1, with_inertia[index % ALL]);
    } else {
        friction_generator_make_quasistatic(c, 1, quasistatic[index % ALL - WITH_INERTIA]);
    }
}

static bool is_typed(perp_outcome outcome)
{
    return outcome == PERP_OUTCOME_ITERATION_LIMIT || outcome == PERP_OUTCOME_ILL_CONDITIONED;
}

static void judge(const friction_case *c, const perp_convex_point *point, const perp_friction_info *info,
                  sweep_case *result)
{
    const friction_verdict verdict = judge_contact_friction(&c->problem, point);
    const double residual = judge_verdict_residual(&verdict);
    const bool solved = info->outcome == PERP_OUTCOME_SOLVED;
    result->kind = solved ? SOLVED_NOW : OPEN;
    if (solved && !(residual <= JUDGED)) {
        sweep_fail(result, "%s: falsely solved: residual %.3g, said to be %.3g", c->family, residual, info->residual);
    }
    if (!solved && !is_typed(info->outcome)) {
        sweep_fail(result, "%s: has a solution, and is said to be %s", c->family, perp_outcome_name(info->outcome));
    }
    if (!isfinite(residual) || !(fabs(residual - info->residual) <= 1e-9 * (1.0 + residual))) {
        sweep_fail(result, "%s: the residual is %.12g, said to be %.12g", c->family, residual, info->residual);
    }
}

static void run(uint64_t seed, int index, sweep_case *result)
{
    (void)seed;
    friction_case *c = friction_case_create();
    perp_friction_workspace *workspace = NULL;
    perp_friction_settings settings = perp_friction_settings_default();
    perp_friction_info info;
    perp_error error = {0};
    make(c, index);
    const size_t n = (size_t)c->system.n, rows = (size_t)c->system.row_start[c->system.contact_count];
    double *memory = calloc(3 * n + rows + (size_t)c->system.equality_count + 1, sizeof *memory);
    perp_convex_point point = {.x = memory, .y_lower = memory + n, .y_upper = memory + 2 * n, .y = memory + 3 * n};
    point.y_equality = point.y + rows;
    settings.tolerance = TOLERANCE;
    settings.max_factorisations = CAP;
    if (!memory || perp_friction_workspace_create(NULL, &workspace, &error) != PERP_STATUS_OK ||
        perp_contact_friction_reserve(&c->problem, workspace, &error) != PERP_STATUS_OK ||
        perp_contact_friction_solve(&c->problem, &settings, workspace, &point, &info, &error) != PERP_STATUS_OK) {
        sweep_fail(result, "%s: refused: %s", c->family, error.message);
    } else {
        judge(c, &point, &info, result);
    }
    perp_friction_workspace_free(workspace);
    free(memory);
    friction_case_free(c);
}

static void show(uint64_t seed, int index)
{
    (void)seed;
    friction_case *c = friction_case_create();
    make(c, index);
    friction_case_write(c, "/dev/stdout", c->family);
    friction_case_free(c);
}

const sweep the_sweep = {
    .name = "friction_open",
    .checks = "the friction problems that are known to have no answer yet, at most 300 factorisations each: none is "
              "falsely solved or said to have no solution, and the residual is the one that is said",
    .full = ALL,
    .sample = 6,
    .chunk = 4,
    .kinds = {"not solved, and said so", "solved now"},
    .run = run,
    .show = show,
};
