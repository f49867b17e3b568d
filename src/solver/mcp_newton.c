/* The cascade for nonlinear mcps. Each rung mends one way in which the one before it fails:
 *
 *   newton      crash phase, then semismooth Newton on the Fischer-Burmeister equations: fast where the Jacobian is
 *               regular enough.
 *   path        the linearised problem solved whole by Lemke's path: for Jacobians that are singular or not even P0
 *               (contact, games), where the merit has minima that are no solutions.
 *   proximal    F(z) + t (z - centre) with the centre moving along: implicit Euler steps of z' = -F(z) between the
 *               bounds. It walks over the hills of the merit where F itself points to a solution.
 *   restarted   without crash phase and with the penalised equations, whose merit has other minima; then all three
 *               from other points, the same on every run.
 *
 * The residual of the point decides whether a rung succeeded. If every rung fails, the point with the least residual
 * is returned. */
#include "base/settings_size.h"
#include "problem/checks.h"
#include "solver/mcp_newton.h"
#include "solver/tolerances.h"

#include "solver/method.h"

#include <math.h>
#include <string.h>

typedef struct cascade {
    perp_newton_core *c;
    perp_newton_end end; /* of the last attempt */
    bool limited;        /* a limit ended one of them */
} cascade;

static bool decided(const cascade *s)
{
    return s->c->best.residual <= s->c->settings->tolerance || s->end == PERP_NEWTON_CANCELLED;
}

static bool is_over(const cascade *s)
{
    return decided(s) || perp_newton_is_spent(s->c);
}

static int factorisations_of_all(const perp_newton_core *c)
{
    return c->settings->max_factorisations > 0 ? c->settings->max_factorisations : 3000;
}

static int iterations_of_one(const perp_newton_core *c)
{
    return c->settings->max_iterations > 0 ? c->settings->max_iterations : 200;
}

/* ---- rungs ------------------------------------------------------------------------------------------------------- */

static void attempt(cascade *s, const double *start, bool path)
{
    perp_newton_core *c = s->c;
    memcpy(c->now.z, start, (size_t)c->n * sizeof(double));
    s->end = path ? perp_newton_path_attempt(c, c->settings->tolerance, iterations_of_one(c))
                  : perp_newton_attempt(c, c->settings->tolerance, iterations_of_one(c));
    s->limited = s->limited || s->end == PERP_NEWTON_LIMIT;
}

static void run_newton(cascade *s, const double *start)
{
    attempt(s, start, false);
}

/* From the start, then from the best point that any attempt has seen. */
static void run_path(cascade *s, const double *start)
{
    attempt(s, start, true);
    if (!is_over(s) && s->c->best.residual < INFINITY) {
        memcpy(s->c->kept, s->c->best.z, (size_t)s->c->n * sizeof(double));
        attempt(s, s->c->kept, true);
    }
}

/* One step of the proximal walk from the centre; the point is now.z. */
static bool proximal_step(cascade *s, double weight, double tolerance)
{
    enum { NEWTON_STEPS = 12, PATH_STEPS = 6 };
    perp_newton_core *c = s->c;
    c->proximal = weight;
    memcpy(c->now.z, c->centre, (size_t)c->n * sizeof(double));
    s->end = perp_newton_attempt(c, tolerance, NEWTON_STEPS);
    if (s->end != PERP_NEWTON_SOLVED && s->end != PERP_NEWTON_CANCELLED && c->lemke) {
        memcpy(c->now.z, c->centre, (size_t)c->n * sizeof(double));
        s->end = perp_newton_path_attempt(c, tolerance, PATH_STEPS);
    }
    c->proximal = 0.0;
    return s->end == PERP_NEWTON_SOLVED;
}

/* The weight falls after every step, the faster the more have come easily, and grows after one that failed, as steps of
 * an integrator do. */
static void run_proximal(cascade *s, const double *start)
{
    enum { STEPS = 200, EASY = 4 };
    static const double FASTEST = 0.2;
    perp_newton_core *c = s->c;
    memcpy(c->centre, start, (size_t)c->n * sizeof(double));
    memcpy(c->now.z, start, (size_t)c->n * sizeof(double));
    if (!perp_newton_evaluate(c, &c->now) || !perp_newton_evaluate_jacobian(c, c->now.z)) {
        s->end = PERP_NEWTON_UNDEFINED;
        return;
    }
    const double size = perp_newton_jacobian_size(c), most = 1e8 * size;
    double weight = 2.0 * size, residual = c->now.residual, fall = FASTEST;
    for (int k = 0; k < STEPS && !is_over(s) && weight < most; k++) {
        const int before = c->iterations;
        const double tolerance =
            fmax(c->settings->tolerance * 0.1, fmin(PROXIMAL_STEP, PROXIMAL_STEP_OF_RESIDUAL * residual));
        if (proximal_step(s, weight, tolerance)) {
            memcpy(c->centre, c->now.z, (size_t)c->n * sizeof(double));
            residual = c->now.residual;
            weight *= fall;
            fall = c->iterations - before <= EASY ? fmax(FASTEST, fall * fall) : fall;
        } else {
            weight *= 4.0;
            fall = sqrt(fall);
        }
    }
}

/* Points to start from again: the middle of boxes, ones, and points around the first start, further and further off. */
static void make_start(perp_newton_core *c, int kind, const double *start, double *z)
{
    perp_random random = {(uint64_t)kind + 1};
    for (int i = 0; i < c->n; i++) {
        const double lower = c->lower[i], upper = c->upper[i];
        const bool box = lower > -INFINITY && upper < INFINITY;
        const double reach = pow(4.0, (double)(kind % 5) - 2.0), noise = perp_random_uniform(&random, -1.0, 1.0);
        if (kind == 0) {
            z[i] = box ? 0.5 * lower + 0.5 * upper : (upper < INFINITY ? upper - 1.0 : fmax(lower, -1e300) + 1.0);
            z[i] = !box && lower == -INFINITY && upper == INFINITY ? 0.0 : z[i];
        } else {
            const double wide = box ? fmin(upper - lower, 1.0 + fabs(start[i])) : 1.0 + fabs(start[i]);
            z[i] = start[i] + reach * wide * (lower > -INFINITY && !box ? fabs(noise) : noise);
        }
        z[i] = perp_newton_clamp(c, i, z[i]);
    }
}

/* From the first start without crash phase, and with the penalised equations, whose merit has other minima. */
static void run_otherwise(cascade *s, const double *start)
{
    s->c->crash = false;
    attempt(s, start, false);
    if (!is_over(s)) {
        s->c->penalise = 0.8;
        attempt(s, start, false);
    }
    s->c->crash = true;
    s->c->penalise = 1.0;
}

/* Each start has its share of what is left; of every four the first walks too. */
static void run_restarted(cascade *s, const double *start)
{
    enum { STARTS = 40 };
    perp_newton_core *c = s->c;
    const int all = c->allowance;
    run_otherwise(s, start);
    for (int kind = 0; kind < STARTS && !is_over(s) && c->n > 0; kind++) {
        c->allowance = c->factorisations + 1 + (all - c->factorisations) / (STARTS - kind);
        make_start(c, kind, start, c->kept);
        c->crash = kind % 2 == 0;
        attempt(s, c->kept, false);
        c->crash = true;
        if (!is_over(s) && c->lemke) {
            make_start(c, kind, start, c->kept);
            attempt(s, c->kept, true);
        }
        if (!is_over(s) && kind % 4 == 0) {
            make_start(c, kind, start, c->kept);
            run_proximal(s, c->kept);
        }
        c->allowance = all;
    }
}

typedef struct method {
    const char *name, *summary;
    void (*run)(cascade *s, const double *start);
    double share; /* of all factorisations that may be used up to its end, so that the next ones get their turn */
} method;

static const method methods[] = {
    {"newton", "crash phase, then semismooth Newton on the Fischer-Burmeister equations", run_newton, 0.2},
    {"path", "Lemke's path to a solution of the linearised problem, and a damped step towards it", run_path, 0.35},
    {"proximal", "F(z) + t (z - centre) with a moving centre and t falling to 0", run_proximal, 0.6},
    {"restarted", "the three from other points", run_restarted, 1.0},
};

enum { METHODS = sizeof methods / sizeof *methods };

int perp_mcp_newton_method_count(void)
{
    return METHODS;
}

const char *perp_mcp_newton_method_name(int index)
{
    return index >= 0 && index < METHODS ? methods[index].name : NULL;
}

const char *perp_mcp_newton_method_summary(int index)
{
    return index >= 0 && index < METHODS ? methods[index].summary : NULL;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Whether the problem is one, and of the workspace's size and pattern. */
static perp_status check(const perp_newton_core *c, const perp_nonlinear_mcp *problem,
                         const perp_mcp_newton_settings *settings, perp_error *error)
{
    if (!(settings->tolerance >= FINEST_TOLERANCE)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "the tolerance %g is below %g", settings->tolerance,
                         FINEST_TOLERANCE);
    }
    const perp_status status = perp_nonlinear_mcp_check(problem, error);
    if (status != PERP_STATUS_OK || problem->n == 0) {
        return status;
    }
    const bool has_pattern = problem->column_starts != NULL;
    if (has_pattern != c->has_pattern || (has_pattern ? problem->n != c->capacity : problem->n > c->capacity)) {
        return perp_fail(
            error, PERP_STATUS_CAPACITY, "the workspace is for %s Jacobians of size %d, this one has %s %d",
            c->has_pattern ? "sparse" : "dense", c->capacity, has_pattern ? "sparse" : "dense", problem->n);
    }
    const size_t n = (size_t)problem->n;
    if (has_pattern && (memcmp(problem->column_starts, c->column_starts, (n + 1) * sizeof(int)) != 0 ||
                        memcmp(problem->row_indices, c->row_indices, (size_t)c->column_starts[n] * sizeof(int)) != 0)) {
        return perp_fail(error, PERP_STATUS_CAPACITY, "the workspace is for Jacobians of another pattern");
    }
    for (int i = 0; settings->start && i < problem->n; i++) {
        if (!isfinite(settings->start[i])) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "entry %d of the start is %g", i, settings->start[i]);
        }
    }
    return PERP_STATUS_OK;
}

static void begin(perp_newton_core *c, const perp_nonlinear_mcp *problem, const perp_mcp_newton_settings *settings)
{
    c->problem = problem;
    c->settings = settings;
    c->n = problem->n;
    c->proximal = 0.0;
    c->penalise = 1.0;
    c->crash = true;
    c->factored_before = false;
    c->iterations = c->factorisations = c->evaluations = c->pivot_count = 0;
    for (int i = 0; i < c->n; i++) {
        c->lower[i] = problem->lower ? problem->lower[i] : 0.0;
        c->upper[i] = problem->upper ? problem->upper[i] : INFINITY;
        c->begin[i] = perp_newton_clamp(c, i, settings->start ? settings->start[i] : 0.0);
        c->best.z[i] = c->begin[i];
        c->best.f[i] = 0.0;
    }
    c->best.residual = c->n > 0 ? INFINITY : 0.0;
}

/* Variables that a bound holds go there exactly, if the residual bears it. */
static void settle_on_bounds(perp_newton_core *c)
{
    for (int i = 0; i < c->n; i++) {
        const double z = c->best.z[i], f = c->best.f[i];
        const bool low = f > z - c->lower[i], high = -f > c->upper[i] - z;
        c->trial.z[i] = low ? c->lower[i] : (high ? c->upper[i] : z);
    }
    const double before = c->best.residual;
    if (memcmp(c->trial.z, c->best.z, (size_t)c->n * sizeof(double)) != 0 && perp_newton_evaluate(c, &c->trial) &&
        c->trial.residual <= fmax(before, ON_BOUNDS * c->settings->tolerance)) {
        memcpy(c->best.z, c->trial.z, (size_t)c->n * sizeof(double));
        memcpy(c->best.f, c->trial.f, (size_t)c->n * sizeof(double));
        c->best.residual = c->trial.residual;
    }
}

static void deliver(cascade *s, perp_mcp_newton_solution *solution, perp_mcp_newton_info *info)
{
    perp_newton_core *c = s->c;
    if (c->n > 0 && c->best.residual <= c->settings->tolerance) {
        settle_on_bounds(c);
    }
    if (c->n > 0) {
        memcpy(solution->z, c->best.z, (size_t)c->n * sizeof(double));
        memcpy(solution->f, c->best.f, (size_t)c->n * sizeof(double));
    }
    info->residual = c->best.residual;
    info->outcome = c->best.residual <= c->settings->tolerance ? PERP_OUTCOME_SOLVED
                    : s->end == PERP_NEWTON_CANCELLED          ? PERP_OUTCOME_CANCELLED
                    : s->limited                               ? PERP_OUTCOME_ITERATION_LIMIT
                                                               : PERP_OUTCOME_ILL_CONDITIONED;
    info->iterations = c->iterations;
    info->factorisations = c->factorisations;
    info->evaluations = c->evaluations;
    info->pivots = c->pivot_count;
}

perp_status perp_mcp_newton(const perp_nonlinear_mcp *problem, const perp_mcp_newton_settings *settings,
                            perp_mcp_newton_workspace *workspace, perp_mcp_newton_solution *solution,
                            perp_mcp_newton_info *info, perp_error *error)
{
    const perp_mcp_newton_settings defaults = perp_mcp_newton_settings_default();
    const perp_mcp_newton_settings *own = settings ? settings : &defaults;
    memset(info, 0, sizeof *info);
    info->outcome = PERP_OUTCOME_ILL_CONDITIONED;
    info->residual = INFINITY;
    int only = -1;
    perp_status status = PERP_CHECK_SIZE(perp_mcp_newton_settings, own, error);
    status = status == PERP_STATUS_OK ? check(workspace, problem, own, error) : status;
    if (status == PERP_STATUS_OK && own->method) {
        status = perp_method_find(perp_mcp_newton_method_name, own->method, &only, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    begin(workspace, problem, own);
    const int most = factorisations_of_all(workspace);
    cascade s = {workspace, PERP_NEWTON_STALLED, false};
    for (int k = 0; k < METHODS; k++) {
        if ((only >= 0 && k != only) || (info->tried_count > 0 && (decided(&s) || workspace->factorisations >= most))) {
            continue;
        }
        const double before = workspace->best.residual;
        info->tried[info->tried_count++] = methods[k].name;
        workspace->allowance = only >= 0 ? most : 1 + (int)(methods[k].share * (double)(most - 1));
        if (!decided(&s)) {
            methods[k].run(&s, workspace->begin);
        }
        if (!info->method || workspace->best.residual < before) {
            info->method = methods[k].name;
        }
    }
    deliver(&s, solution, info);
    return PERP_STATUS_OK;
}
