/* The cascade for convex problems.
 *
 *   newton   from the previous step's solution, where there is one: convex_augmented.c for problems of rows,
 *            convex_newton.c for those with cones
 *   ipm      from nothing; ends on the active set by the same passes
 *   dual     (qp, strictly convex) a method of another kind, for what rounding has spoilt
 *
 * Only the residual of the problem's class says "solved". Where the interior point does not get there, the two proofs
 * are tried, each a convex problem that always has a solution. */
#include "base/settings_size.h"
#include "problem/checks.h"
#include "problem/objectives.h"
#include "solver/convex_core.h"
#include "solver/qp_dual.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct method_line {
    const char *name, *summary;
} method_line;

static const method_line METHODS[] = {
    {"newton", "semismooth Newton from the given start: for the next step of a run, or a good guess"},
    {"ipm", "interior point, polished on its active set: any convex problem, H may be zero"},
    {"dual", "dual active set: small qps with a positive definite H"},
};

int perp_convex_method_count(void)
{
    return (int)(sizeof METHODS / sizeof *METHODS);
}

const char *perp_convex_method_name(int index)
{
    return index >= 0 && index < perp_convex_method_count() ? METHODS[index].name : NULL;
}

const char *perp_convex_method_summary(int index)
{
    return index >= 0 && index < perp_convex_method_count() ? METHODS[index].summary : NULL;
}

static bool has_method(const char *name)
{
    for (int k = 0; k < perp_convex_method_count(); k++) {
        if (strcmp(METHODS[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

perp_status perp_convex_settings_check(const perp_convex_settings *settings, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_convex_settings, settings, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (!(settings->tolerance >= FINEST_TOLERANCE) || !(settings->tolerance <= DBL_MAX)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a tolerance of %g: it must be at least %g", settings->tolerance,
                         FINEST_TOLERANCE);
    }
    if (settings->max_iterations < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "at most %d iterations", settings->max_iterations);
    }
    if (settings->method && !has_method(settings->method)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no method `%s` for convex problems: newton, ipm, dual",
                         settings->method);
    }
    return PERP_STATUS_OK;
}

perp_status perp_convex_begin(const perp_convex_settings *settings, perp_convex_settings *chosen,
                              perp_convex_info *info, perp_error *error)
{
    *chosen = settings ? *settings : perp_convex_settings_default();
    *info = (perp_convex_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "ipm"};
    return perp_convex_settings_check(chosen, error);
}

/* ---- the workspace ---------------------------------------------------------------------------------------------- */

perp_status perp_convex_workspace_create(const perp_allocator *allocator, perp_convex_workspace **workspace,
                                         perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    *workspace = own.allocate(own.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a convex workspace");
    }
    **workspace = (perp_convex_workspace){.allocator = own, .unit = 1.0, .kernel = perp_slack_best_kernel()};
    perp_kkt_init(&(*workspace)->kkt, &own);
    return PERP_STATUS_OK;
}

void perp_convex_workspace_free(perp_convex_workspace *workspace)
{
    if (!workspace) {
        return;
    }
    const perp_allocator own = workspace->allocator;
    void *blocks[] = {workspace->memory.data, workspace->conversion.data};
    perp_kkt_free(&workspace->kkt);
    perp_qp_dual_workspace_free(workspace->dual);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        if (blocks[k]) {
            own.release(own.context, blocks[k]);
        }
    }
    own.release(own.context, workspace);
}

perp_status perp_contact_qp_reserve(const perp_contact_qp *problem, perp_convex_workspace *workspace, perp_error *error)
{
    const perp_status checked = perp_contact_qp_check(problem, error);
    if (checked != PERP_STATUS_OK) {
        return checked;
    }
    workspace->kkt.may_grow = true;
    const perp_status status = perp_convex_setup(workspace, problem, error);
    workspace->kkt.may_grow = false;
    return status;
}

/* ---- solving ---------------------------------------------------------------------------------------------------- */

static bool wants(const perp_convex_settings *settings, const char *method)
{
    return !settings->method || strcmp(settings->method, method) == 0;
}

static void note(perp_convex_info *info, const char *method)
{
    info->method = method;
    if (info->tried_count < PERP_SOLVER_TRIED_MAX) {
        info->tried[info->tried_count++] = method;
    }
}

/* Passes of an attempt: the caller's limit counts where it is lower, and always where the method is asked for alone. */
static int at_most(const perp_convex_settings *settings, int usual)
{
    const int limit = settings->max_iterations;
    return limit > 0 && (limit < usual || settings->method) ? limit : usual;
}

/* The warm start of problems of rows: first active are those that carried force in the last step. */
static bool start_from_rows(perp_convex_workspace *c, const perp_convex_settings *settings)
{
    enum { PASSES = 10, FEW = 6 }; /* more than m / FEW wrong rows: the interior point is cheaper */
    perp_convex_import(c, settings->warm, &c->at);
    for (int i = 0; i < c->m; i++) {
        c->active[i] = c->at.y[i] > 0.0;
    }
    return perp_convex_augmented(c, &c->at, at_most(settings, PASSES), c->m / FEW) &&
           c->best_residual <= fmax(ROWS_SURE * settings->tolerance, CONVEX_CLEAN);
}

/* The warm start of problems with cones; and from zero, where the method is asked for without a start. As a trial it
 * ends where it goes astray, and a point that barely meets the tolerance, which may be far from the solution, is left
 * to the interior point. */
static bool start_from_point(perp_convex_workspace *c, const perp_convex_settings *settings)
{
    enum { TRIAL = 16, ALONE = 50 };
    static const double ASTRAY = 1.0; /* a residual */
    static const perp_convex_point nothing = {0};
    const bool alone = settings->method != NULL;
    perp_convex_import(c, settings->warm ? settings->warm : &nothing, &c->at);
    if (alone) {
        return perp_convex_newton(c, &c->at, at_most(settings, ALONE), INFINITY);
    }
    return perp_convex_newton(c, &c->at, at_most(settings, TRIAL), ASTRAY) &&
           c->best_residual <= WARM_SURE * settings->tolerance;
}

static perp_outcome run_newton(perp_convex_workspace *c, const perp_convex_settings *settings)
{
    const bool rows = c->cone_count == 0;
    bool solved = rows && settings->warm && start_from_rows(c, settings);
    if (!solved && (!rows || settings->method)) {
        solved = start_from_point(c, settings);
    }
    c->iterations += c->passes;
    return solved                     ? PERP_OUTCOME_SOLVED
           : perp_convex_cancelled(c) ? PERP_OUTCOME_CANCELLED
                                      : PERP_OUTCOME_ITERATION_LIMIT;
}

/* The evidence took a place in `best`: its residual is that of what stands there now. */
static void settle(perp_convex_workspace *c)
{
    c->best_residual = 0.0; /* so that the judge does not replace it */
    perp_convex_judge(c, &c->best);
    c->best_residual = c->judged;
    c->best_parts = c->judged_parts;
}

/* The proof that perp_convex_prove_infeasible left in `at`. */
static void take_proof(perp_convex_workspace *c, double measure, perp_convex_info *info)
{
    info->certificate = measure;
    memcpy(c->best.y, c->at.y, (size_t)c->m * sizeof(double));
    memcpy(c->best.z, c->at.z, (size_t)c->e * sizeof(double));
    settle(c);
}

/* Infeasible by its proof, unbounded by a direction and a feasible point to go from; else it stays open. */
static perp_outcome prove(perp_convex_workspace *c, perp_outcome failure, perp_convex_info *info)
{
    bool feasible =
        c->best_parts.primal <= c->tolerance || (c->evidence_measure > PROOF_GOOD && perp_convex_seek_feasible(c));
    const double infeasible = feasible ? INFINITY : perp_convex_prove_infeasible(c, PROOF_GOOD, &feasible);
    if (infeasible <= PROOF_GOOD) {
        take_proof(c, infeasible, info);
        return PERP_OUTCOME_INFEASIBLE;
    }
    const double unbounded = feasible ? perp_convex_prove_unbounded(c) : INFINITY;
    if (unbounded <= PROOF_GOOD) {
        info->certificate = unbounded;
        memcpy(c->best.x, c->proof_direction, (size_t)c->n * sizeof(double));
        settle(c);
        return PERP_OUTCOME_UNBOUNDED;
    }
    return failure;
}

/* A point as far away as this is mostly feasible by the last digits of the data alone. If there is a proof for all that
 * is nearer, the proof is the better answer; without one, a point that other last digits would make infeasible is none.
 */
perp_outcome perp_convex_reject_far(perp_convex_workspace *c, perp_convex_info *info)
{
    static const double FAR = 1e7;
    double size = 0.0;
    for (int i = 0; i < c->n; i++) {
        size += fabs(c->best.x[i]);
    }
    if (size <= FAR * c->b_scale) {
        return PERP_OUTCOME_SOLVED;
    }
    bool found = false;
    const double infeasible = perp_convex_prove_infeasible(c, PROOF_GOOD, &found);
    if (!(infeasible * size >= 1.0 && infeasible <= PROOF_GOOD) && !(infeasible <= PROOF_EXACT)) {
        return perp_convex_rounding(c, c->best.x) <= c->tolerance ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ILL_CONDITIONED;
    }
    take_proof(c, infeasible, info);
    return PERP_OUTCOME_INFEASIBLE;
}

/* How far the objective may be from the least: what the complementarity and the dual residual leave open, over 1 +
 * |objective|. A small residual does not bound it where x is large. */
static double open_objective(perp_convex_workspace *c)
{
    const double gap = perp_convex_gap(c);
    double objective = 0.0;
    perp_convex_h(c, c->best.x, c->product2);
    for (int i = 0; i < c->n; i++) {
        objective += (0.5 * c->product2[i] + c->problem->g[i]) * c->best.x[i];
    }
    return gap / (1.0 + fabs(objective));
}

enum { ITERATIONS = 100 }; /* of an attempt */

/* The usual attempt, warm or not. */
static const perp_convex_attempt PLAIN = {ITERATIONS, false, 0.99, 1e-8, 1e-8, false};

/* What follows an attempt that has failed, in the order tried: different rather than better, as is what they fail on.
 */
static const perp_convex_attempt CAREFUL[] = {
    /* shorter steps stay nearer to the central path */
    {ITERATIONS, false, 0.9, 1e-8, 1e-8, false},
    /* weaker proximal terms hold the last digits up less */
    {ITERATIONS, false, 0.9, 1e-10, 1e-10, false},
    /* shorter still, unknowns held more than equations */
    {ITERATIONS, false, 0.7, 1e-7, 1e-9, false},
    /* hardly any proximal terms */
    {ITERATIONS, false, 0.9, 1e-12, 1e-12, false},
    /* strong ones: the matrix is far from singular */
    {ITERATIONS, false, 0.95, 1e-6, 1e-6, false},
    /* where x is free to go far, it does not */
    {ITERATIONS, false, 0.9, 1e-8, 1e-8, true},
};
enum { CAREFUL_COUNT = sizeof CAREFUL / sizeof *CAREFUL };

/* A point that meets the tolerance without a polish may be far from the solution: the first of the careful attempts go
 * on for more digits, until the objective is certain to the tolerance. The best point stays. */
static void sharpen(perp_convex_workspace *c)
{
    enum { COUNT = 3 };
    const double tolerance = c->tolerance;
    for (int k = 0; k < COUNT && c->best_residual > CONVEX_CLEAN && !perp_convex_cancelled(c); k++) {
        if (open_objective(c) <= 0.1 * tolerance) {
            break;
        }
        c->tolerance = fmax(SHARPER * tolerance, SHARPEST);
        perp_convex_ipm(c, &CAREFUL[k]);
        c->tolerance = tolerance;
    }
}

/* The interior point: from the last step's solution, from nothing, and where that fails and no proof says why, again
 * with more care. A caller's limit on iterations is for one attempt, and then there is but one. */
static perp_outcome run_ipm(perp_convex_workspace *c, const perp_convex_settings *settings, perp_convex_info *info)
{
    enum { WARM_ITERATIONS = 25 };
    const bool limited = settings->max_iterations > 0;
    const int most = limited ? settings->max_iterations : ITERATIONS;
    perp_convex_attempt plain = PLAIN;
    perp_outcome outcome = PERP_OUTCOME_ITERATION_LIMIT;
    if (settings->warm) {
        perp_convex_import(c, settings->warm, &c->at);
        plain.iterations = most < WARM_ITERATIONS ? most : WARM_ITERATIONS;
        plain.warm = true;
        outcome = perp_convex_ipm(c, &plain);
    }
    if (perp_convex_is_open(outcome)) {
        plain.iterations = most;
        plain.warm = false;
        outcome = perp_convex_ipm(c, &plain);
    }
    if (perp_convex_is_open(outcome) && !limited && perp_convex_loosen(c)) {
        outcome = perp_convex_ipm(c, &CAREFUL[0]);
    }
    if (outcome == PERP_OUTCOME_SOLVED && !limited) {
        sharpen(c);
    }
    if (perp_convex_is_open(outcome)) {
        outcome = prove(c, outcome, info);
    }
    for (int k = 0; k < CAREFUL_COUNT && perp_convex_is_open(outcome) && !limited; k++) {
        outcome = perp_convex_ipm(c, &CAREFUL[k]);
    }
    return perp_convex_is_open(outcome) && perp_convex_cancelled(c) ? PERP_OUTCOME_CANCELLED : outcome;
}

/* Zero may be the best point where nothing better was found, or nothing finite. */
static void offer_zero(perp_convex_workspace *c)
{
    perp_convex_zero(c, &c->trial);
    perp_convex_judge(c, &c->trial);
    if (!(c->best_residual < INFINITY)) {
        perp_convex_copy(c, &c->trial, &c->best);
    }
}

void perp_convex_forget(perp_convex_workspace *c, const perp_convex_settings *settings)
{
    c->best_residual = INFINITY;
    c->best_is_least = false;
    c->best_parts = (perp_convex_residual){INFINITY, INFINITY, INFINITY};
    perp_convex_zero(c, &c->best);
    c->tolerance = settings->tolerance;
    c->unit = settings->relative ? 0.0 : 1.0;
    c->cancel = settings->cancel;
    c->iterations = c->factorisations = c->passes = 0;
}

void perp_convex_fill_info(const perp_convex_workspace *c, perp_convex_info *info)
{
    info->residual = c->best_parts;
    info->iterations = c->iterations;
    info->factorisations = c->factorisations;
}

perp_outcome perp_convex_run(perp_convex_workspace *c, const perp_convex_settings *settings, perp_convex_info *info)
{
    perp_outcome outcome = PERP_OUTCOME_ITERATION_LIMIT;
    perp_convex_forget(c, settings);
    if (wants(settings, "newton") && (settings->warm || settings->method)) {
        note(info, "newton");
        outcome = run_newton(c, settings);
    }
    if (wants(settings, "ipm") && perp_convex_is_open(outcome)) {
        note(info, "ipm");
        outcome = run_ipm(c, settings, info);
    }
    if (outcome == PERP_OUTCOME_SOLVED) {
        outcome = perp_convex_reject_far(c, info);
    }
    if (outcome == PERP_OUTCOME_SOLVED && settings->minimum_norm) {
        info->minimum_norm = perp_convex_minimum_norm(c) && c->best_is_least;
    }
    const bool proven = outcome == PERP_OUTCOME_INFEASIBLE || outcome == PERP_OUTCOME_UNBOUNDED;
    if (perp_convex_is_open(outcome) || (!proven && !(c->best_residual < INFINITY))) {
        offer_zero(c);
    }
    if (outcome == PERP_OUTCOME_ITERATION_LIMIT && settings->max_iterations == 0 && c->best_residual < CAME_NEAR) {
        outcome = PERP_OUTCOME_ILL_CONDITIONED; /* all attempts came near and none met the tolerance */
    }
    info->outcome = outcome;
    perp_convex_fill_info(c, info);
    return outcome;
}

perp_status perp_convex_prepare(perp_convex_workspace *c, const perp_contact_qp *problem, perp_error *error)
{
    const perp_status status = perp_convex_setup(c, problem, error);
    return status == PERP_STATUS_OK ? perp_convex_check_definite(c, error) : status;
}

perp_status perp_contact_qp_solve(const perp_contact_qp *problem, const perp_convex_settings *settings,
                                  perp_convex_workspace *workspace, perp_convex_point *solution, perp_convex_info *info,
                                  perp_error *error)
{
    perp_convex_settings chosen;
    perp_status status = perp_convex_begin(settings, &chosen, info, error);
    status = status ? status : perp_contact_qp_check(problem, error);
    if (status == PERP_STATUS_OK && chosen.method && strcmp(chosen.method, "dual") == 0) {
        status = perp_fail(error, PERP_STATUS_BAD_INPUT, "the method `dual` is for dense qps: take ipm or newton");
    }
    if (status == PERP_STATUS_OK) {
        status = perp_convex_prepare(workspace, problem, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    perp_convex_run(workspace, &chosen, info);
    perp_convex_export(workspace, &workspace->best, solution);
    info->objective = perp_contact_qp_objective(problem, solution->x);
    return PERP_STATUS_OK;
}
