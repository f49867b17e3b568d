/* The cascade for Coulomb friction.
 *
 *   small         a few contacts of bodies with inertia: each exactly in turn, then Newton
 *   newton        from the previous step's solution, where there is one
 *   ipm, ipm-w    interior point with the shift in its matrix, ended by Newton, with bodies or in the forces alone
 *   the proofs    that there is no answer: most problems that have got here have none
 *   islands       where the bodies are not all connected: each island on its own, by all that follows
 *   the schedule  SCHEDULE below: what is left, by the starts that decide some of it
 *
 * Only the residual of the problem's class says "solved". */
#include "base/settings_size.h"
#include "linalg/dense_kernel.h"
#include "problem/checks.h"
#include "problem/friction_law.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"
#include "solver/method.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct method_line {
    const char *name, *summary;
} method_line;

static const method_line METHODS[] = {
    {"small", "a few contacts, bodies with inertia: each solved exactly in turn, then Newton"},
    {"newton", "semismooth Newton from the given start: for the next step of a run, or a good guess"},
    {"ipm", "interior point with the friction shift in its matrix, on the structure of the bodies"},
    {"islands", "bodies that nothing connects each on their own, by all the other methods"},
    {"ipm-w", "the same in the forces alone: local problems"},
    {"smooth", "smoothed projections, the smoothing followed to nothing around turning points"},
    {"rest", "fixed point over convex cone problems from the least motion: above all problems without inertia"},
    {"proximal", "implicit steps of forces that settle, each solved by Newton's method; then Newton"},
};

int perp_friction_method_count(void)
{
    return (int)(sizeof METHODS / sizeof *METHODS);
}

const char *perp_friction_method_name(int index)
{
    return index >= 0 && index < perp_friction_method_count() ? METHODS[index].name : NULL;
}

const char *perp_friction_method_summary(int index)
{
    return index >= 0 && index < perp_friction_method_count() ? METHODS[index].summary : NULL;
}

static perp_status check_settings(const perp_friction_settings *settings, perp_error *error)
{
    if (PERP_CHECK_SIZE(perp_friction_settings, settings, error) != PERP_STATUS_OK) {
        return PERP_STATUS_BAD_INPUT;
    }
    if (!(settings->tolerance >= FINEST_TOLERANCE) || !(settings->tolerance <= DBL_MAX)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a tolerance of %g: it must be at least %g", settings->tolerance,
                         FINEST_TOLERANCE);
    }
    if (settings->max_iterations < 0 || settings->max_factorisations < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "at most %d iterations and %d factorisations",
                         settings->max_iterations, settings->max_factorisations);
    }
    int found;
    return settings->method ? perp_method_find(perp_friction_method_name, settings->method, &found, error)
                            : PERP_STATUS_OK;
}

/* A method that cannot take the problem as it was set up is refused, with one that can. */
static perp_status check_method(const perp_friction_workspace *f, const char *method, perp_error *error)
{
    const bool bodies = !f->local;
    const struct {
        const char *name;
        bool can;
        const char *needs, *instead;
    } needs[] = {
        {"small", f->has_small, "a few contacts, inertia, and neither bounds nor equations", bodies ? "ipm" : "ipm-w"},
        {"ipm", bodies, "bodies", "ipm-w"},
        {"islands", bodies && f->island && f->islands.count > 1, "bodies that are not all connected",
         bodies ? "ipm" : "ipm-w"},
        {"rest", bodies, "bodies", "ipm-w"},
        {"ipm-w", !bodies, "forces alone", "ipm"},
    };
    for (size_t k = 0; method && k < sizeof needs / sizeof *needs; k++) {
        if (strcmp(method, needs[k].name) == 0 && !needs[k].can) {
            return perp_fail(error, PERP_STATUS_BAD_INPUT, "the method `%s` is for problems with %s: take %s", method,
                             needs[k].needs, needs[k].instead);
        }
    }
    return PERP_STATUS_OK;
}

/* ---- the workspace ---------------------------------------------------------------------------------------------- */

perp_status perp_friction_workspace_create(const perp_allocator *allocator, perp_friction_workspace **workspace,
                                           perp_error *error)
{
    const perp_allocator own = allocator ? *allocator : perp_allocator_default();
    *workspace = own.allocate(own.context, sizeof **workspace);
    if (!*workspace) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "no memory for a friction workspace");
    }
    **workspace = (perp_friction_workspace){.allocator = own};
    const perp_status status = perp_convex_workspace_create(&own, &(*workspace)->convex, error);
    if (status != PERP_STATUS_OK) {
        own.release(own.context, *workspace);
        *workspace = NULL;
        return status;
    }
    (*workspace)->lu.kkt = &(*workspace)->convex->kkt;
    perp_friction_sparse_init(&(*workspace)->sparse, &own);
    return PERP_STATUS_OK;
}

void perp_friction_workspace_free(perp_friction_workspace *workspace)
{
    if (!workspace) {
        return;
    }
    const perp_allocator own = workspace->allocator;
    void *blocks[] = {workspace->memory.data, workspace->dense_memory.data, workspace->islands.memory.data,
                      workspace->proof.memory.data, workspace->lifted.memory.data};
    perp_friction_workspace_free(workspace->island);
    perp_friction_workspace_free(workspace->lifted.solver);
    perp_kkt_lu_free(&workspace->lu);
    perp_friction_sparse_free(&workspace->sparse);
    perp_convex_workspace_free(workspace->convex);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        if (blocks[k]) {
            own.release(own.context, blocks[k]);
        }
    }
    own.release(own.context, workspace);
}

/* `small` needs no memory of its own, but what it gives up needs that of the others. */
static void admit_small(perp_friction_workspace *f, int contacts, int unknowns)
{
    f->small_contacts = contacts > f->small_contacts ? contacts : f->small_contacts;
    f->small_unknowns = unknowns > f->small_unknowns ? unknowns : f->small_unknowns;
}

perp_status perp_friction_reserve(const perp_friction *problem, perp_friction_workspace *workspace, perp_error *error)
{
    perp_status status = perp_friction_check(problem, error);
    if (status == PERP_STATUS_OK) {
        workspace->convex->kkt.may_grow = true;
        status = perp_friction_setup_local(workspace, problem, error);
        if (status == PERP_STATUS_OK) {
            status = perp_friction_local_proof_reserve(workspace);
            status = status == PERP_STATUS_OK ? perp_friction_local_least_reserve(workspace, problem) : status;
            status = status == PERP_STATUS_OK
                         ? status
                         : perp_fail(error, status, "no memory for what follows a friction problem's solution");
        }
        workspace->convex->kkt.may_grow = false;
    }
    if (status == PERP_STATUS_OK) {
        admit_small(workspace, problem->contacts, 0);
    }
    return status;
}

static perp_status set_up(perp_friction_workspace *f, const perp_contact_friction *problem, perp_error *error)
{
    const perp_status status = perp_friction_setup_contact(f, problem, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_status found = perp_friction_islands_find(&f->islands, &f->convex->kkt, problem);
    return found == PERP_STATUS_OK
               ? found
               : perp_fail(error, found, "the workspace is too small for the islands of %d bodies: reserve it",
                           problem->system->block_count);
}

/* Memory for each of several islands. */
static perp_status reserve_islands(perp_friction_workspace *f, perp_error *error)
{
    perp_status status = PERP_STATUS_OK;
    if (f->islands.count > 1 && !f->island) {
        status = perp_friction_workspace_create(&f->allocator, &f->island, error);
    }
    for (int k = 0; status == PERP_STATUS_OK && f->islands.count > 1 && k < f->islands.count; k++) {
        f->island->convex->kkt.may_grow = true;
        status = perp_friction_setup_contact(f->island, perp_friction_islands_take(&f->islands, k), error);
        f->island->convex->kkt.may_grow = false;
    }
    return status;
}

perp_status perp_contact_friction_reserve(const perp_contact_friction *problem, perp_friction_workspace *workspace,
                                          perp_error *error)
{
    perp_status status = perp_contact_friction_check(problem, error);
    if (status == PERP_STATUS_OK) {
        workspace->convex->kkt.may_grow = true;
        status = set_up(workspace, problem, error);
        workspace->convex->kkt.may_grow = false;
    }
    if (status == PERP_STATUS_OK) {
        admit_small(workspace, problem->system->contact_count, problem->system->n);
    }
    return status == PERP_STATUS_OK ? reserve_islands(workspace, error) : status;
}

/* ---- solving ---------------------------------------------------------------------------------------------------- */

static bool wants(const perp_friction_settings *settings, const char *method)
{
    return !settings->method || strcmp(settings->method, method) == 0;
}

static void note(perp_friction_info *info, const char *method)
{
    info->method = method;
    if (info->tried_count < PERP_SOLVER_TRIED_MAX) {
        info->tried[info->tried_count++] = method;
    }
}

/* From the warm start, or from zero where the method was asked for without one. */
static bool run_newton(perp_friction_workspace *f, const perp_friction_settings *settings)
{
    enum { WARM = 25, ALONE = 200 };
    perp_convex_workspace *c = f->convex;
    static const perp_convex_point nothing = {0};
    const perp_convex_point *warm = settings->warm ? settings->warm : &nothing;
    if (f->local) {
        warm = settings->warm_r ? &f->joined : &nothing;
    }
    if (f->local && settings->warm_r) {
        memcpy(f->joined.y, settings->warm_r, (size_t)f->local->contacts * (size_t)f->local->dim * sizeof(double));
    }
    perp_friction_import(f, warm, &c->at);
    const int most = settings->method ? ALONE : WARM;
    return perp_friction_newton(f, &c->at, settings->max_iterations > 0 ? settings->max_iterations : most);
}

/* Starts of the interior point: few contacts are solved soonest from near the border, many from far inside. */
enum { USUAL, OTHER, UNIT, NEAR_BEST, NEARER_BEST };

static bool run_ipm(perp_friction_workspace *f, const perp_friction_settings *settings, int start)
{
    enum { ITERATIONS = 150, FEW = 30 };
    static const double NEAR = 0.1, FAR = 10.0;
    const bool far = (f->scaled.contact_count > FEW) == (start == USUAL);
    const perp_friction_attempt attempt = {.start = start == UNIT ? 1.0
                                                    : far         ? FAR
                                                                  : NEAR,
                                           .most = start == NEARER_BEST ? 0.9 : 0.99,
                                           .least = 0.8,
                                           .lag = start == NEARER_BEST ? 3 : 1,
                                           .iterations =
                                               settings->max_iterations > 0 ? settings->max_iterations : ITERATIONS,
                                           .near = start == NEAR_BEST     ? 0.1
                                                   : start == NEARER_BEST ? 0.01
                                                                          : 0.0};
    return perp_friction_ipm(f, &attempt);
}

static bool run_first(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info);
static bool run_schedule(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info);

/* Each island by the whole cascade but the proofs, which were tried on all together. The cap counts the work of one as
 * its share of the whole. */
static bool run_islands(perp_friction_workspace *f, const perp_friction_settings *settings)
{
    perp_friction_workspace *g = f->island;
    perp_convex_workspace *c = f->convex;
    const double rows = f->scaled.row_start[f->scaled.contact_count] + 1.0;
    double work = 0.0;
    bool all = true;
    for (int k = 0; k < f->islands.count && !perp_friction_must_stop(f); k++) {
        perp_friction_info ignored = {.outcome = PERP_OUTCOME_ITERATION_LIMIT};
        perp_friction_settings inner = *settings;
        inner.method = NULL;
        inner.warm = NULL;
        inner.max_factorisations = f->max_factorisations - f->factorisations; /* shares add up to one */
        inner.tolerance = 0.1 * settings->tolerance;
        if (perp_friction_setup_contact(g, perp_friction_islands_take(&f->islands, k), NULL) != PERP_STATUS_OK) {
            return false; /* more fill than was reserved for */
        }
        perp_friction_reset(g, &inner);
        const bool solved = run_first(g, &inner, &ignored) || run_schedule(g, &inner, &ignored) ||
                            g->best_residual <= settings->tolerance;
        all = all && solved;
        perp_friction_export(g, &g->convex->best);
        perp_friction_islands_give(&f->islands, &g->point, &f->joined);
        work += g->factorisations * ((g->scaled.row_start[g->scaled.contact_count] + 1.0) / rows);
        f->iterations += g->iterations;
    }
    f->factorisations += (int)work;
    perp_friction_import(f, &f->joined, &c->at);
    if (perp_friction_judge(f, &c->at)) {
        return true;
    }
    return all && perp_friction_newton(f, &c->at, 10); /* the whole is judged in other units than its parts */
}

/* One start of one method. The counts of what each decides, on seeds that none was chosen on, are in docs/solvers.md.
 */
typedef struct fallback {
    enum { REST, REST_DRAWN, IPM, PROXIMAL_STEPS, SMOOTH, NEAR } kind;
    const char *label;
    int factorisations; /* at most, so that something is left for those that follow */
    perp_friction_resting rest;
    int start; /* of the interior point */
} fallback;

static const char *const METHOD_OF[] = {"rest", "rest", "ipm", "proximal", "smooth", "newton"};

static const fallback SCHEDULE[] = {
    {REST, "rest, rho 10", 1000, .rest = {10.0, 40, false, NULL}},
    {REST, "rest, all held", 200, .rest = {1.0, 40, true, NULL}},
    {REST, "rest, rho 1", 1500, .rest = {1.0, 40, false, NULL}},
    {IPM, "ipm, unit start", 250, .start = UNIT},
    {IPM, "ipm, the other start", 250, .start = OTHER},
    {.kind = PROXIMAL_STEPS, .label = "proximal", .factorisations = 8000},
    {.kind = SMOOTH, .label = "smooth", .factorisations = 2000},
    {IPM, "ipm, near the best", 250, .start = NEAR_BEST},
    {IPM, "ipm, nearer to it", 250, .start = NEARER_BEST},
    {.kind = REST_DRAWN, .label = "rest, drawn", .factorisations = 25000},
    {.kind = NEAR, .label = "newton, near the best", .factorisations = 300},
};
_Static_assert(sizeof SCHEDULE / sizeof *SCHEDULE == PERP_FRICTION_LINES, "a count for every line");

const char *perp_friction_line_label(int line)
{
    return line >= 0 && line < PERP_FRICTION_LINES ? SCHEDULE[line].label : NULL;
}

static bool applies(const perp_friction_workspace *f, const fallback *line)
{
    enum { DRAWN = 60 }; /* contacts: of 20 draws with more one in forty solves */
    switch (line->kind) {
    case REST:
        return !f->local && (line->rest.all || perp_friction_holds_some(f));
    case REST_DRAWN:
        return !f->local && perp_friction_holds_some(f) && f->scaled.contact_count <= DRAWN;
    case IPM:
        return !f->local;
    case PROXIMAL_STEPS: /* without inertia nothing says how fast a body moves while contacts give way */
        return f->local || !perp_friction_holds_some(f);
    case SMOOTH:
    case NEAR:
        return true;
    }
    return false;
}

static bool run_line(perp_friction_workspace *f, const perp_friction_settings *settings, const fallback *line)
{
    switch (line->kind) {
    case REST:
        return perp_friction_rest(f, &line->rest);
    case REST_DRAWN:
        return perp_friction_rest_drawn(f);
    case IPM:
        return run_ipm(f, settings, line->start);
    case PROXIMAL_STEPS:
        return perp_friction_proximal(f);
    case SMOOTH:
        return perp_friction_smooth(f);
    case NEAR:
        return perp_friction_newton_near(f);
    }
    return false;
}

static bool run_schedule(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info)
{
    const int cap = f->max_factorisations;
    bool solved = false;
    for (int k = 0; k < PERP_FRICTION_LINES && !solved && !perp_friction_must_stop(f); k++) {
        const fallback *line = &SCHEDULE[k];
        const char *method = METHOD_OF[line->kind];
        const bool asked = settings->method && line->kind != NEAR; /* `newton` alone has had its turn */
        if (!wants(settings, method) || !(settings->method ? asked : applies(f, line))) {
            continue;
        }
        note(info, method);
        const bool limited = !settings->method && line->factorisations < cap - f->factorisations;
        f->max_factorisations = limited ? f->factorisations + line->factorisations : cap;
        solved = run_line(f, settings, line);
        f->max_factorisations = cap;
        f->tally[k].tried++;
        f->tally[k].solved += solved ? 1 : 0;
    }
    return solved;
}

/* The methods that are nearly always enough. */
static bool run_first(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info)
{
    const bool warm = f->local ? settings->warm_r != NULL : settings->warm != NULL;
    const char *first = f->local ? "ipm-w" : "ipm";
    bool solved = false;
    if (wants(settings, "newton") && (warm || settings->method)) {
        note(info, "newton");
        solved = run_newton(f, settings);
    }
    if (!solved && wants(settings, first) && !perp_friction_must_stop(f)) {
        note(info, first);
        solved = run_ipm(f, settings, USUAL);
    }
    return solved;
}

static bool run_others(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info)
{
    const bool several = f->contact && f->island && f->islands.count > 1 && f->islands.given == f->contact;
    if (several && wants(settings, "islands") && !perp_friction_must_stop(f)) {
        note(info, "islands");
        return run_islands(f, settings);
    }
    return run_schedule(f, settings, info);
}

/* Before any search: +infinity where there is no proof. A method that was asked for is run in any case. */
static double prove(perp_friction_workspace *f, const perp_friction_settings *settings)
{
    if (settings->method || (f->cancel && *f->cancel)) {
        return INFINITY;
    }
    const double proof = perp_friction_prove_infeasible(f);
    f->convex->guessed = f->convex->best_is_least = false; /* that was said of the proof's problem */
    return proof;
}

void perp_friction_reset(perp_friction_workspace *f, const perp_friction_settings *settings)
{
    enum { FACTORISATIONS = 40000, ROWS = 24000000 }; /* rows of all of them together: a minute with 1,000 contacts */
    perp_convex_workspace *c = f->convex;
    const int affordable = ROWS / (c->m + 1), most = affordable < FACTORISATIONS ? affordable : FACTORISATIONS;
    f->best_residual = INFINITY;
    f->best_parts = (perp_contact_friction_residual){INFINITY, INFINITY, INFINITY};
    perp_friction_clear(f, &c->best);
    f->tolerance = settings->tolerance;
    f->unit = c->unit = settings->relative ? 0.0 : 1.0;
    f->cancel = settings->cancel;
    f->max_factorisations = settings->max_factorisations > 0 ? settings->max_factorisations : most;
    f->iterations = f->factorisations = 0;
    f->smooth = 0.0;
    c->guessed = c->best_is_least = false; /* of the convex solver: what the last problem left does not count */
}

/* The answer is left in `point`. `known` solves the problem, and only forces of least norm are asked for; NULL: it is
 * to be solved. */
static void run(perp_friction_workspace *f, const perp_friction_settings *settings, const perp_convex_point *known,
                perp_friction_info *info)
{
    perp_convex_workspace *c = f->convex;
    perp_friction_reset(f, settings);
    if (known) {
        perp_friction_import(f, known, &c->at);
    }
    double proof = INFINITY;
    bool solved = (known && perp_friction_judge(f, &c->at)) || run_first(f, settings, info);
    if (!solved) {
        proof = prove(f, settings);
        solved = !(proof < INFINITY) && run_others(f, settings, info);
    }
    if (solved) {
        info->outcome = PERP_OUTCOME_SOLVED;
        info->minimum_norm = settings->minimum_norm && perp_friction_minimum_norm(f);
    } else {
        perp_friction_clear(f, &c->trial); /* zero may be the best point */
        perp_friction_judge(f, &c->trial);
        info->certificate = proof < INFINITY ? proof : 0.0;
        info->outcome = f->cancel && *f->cancel        ? PERP_OUTCOME_CANCELLED
                        : proof < INFINITY             ? PERP_OUTCOME_INFEASIBLE
                        : f->best_residual < CAME_NEAR ? PERP_OUTCOME_ILL_CONDITIONED
                                                       : PERP_OUTCOME_ITERATION_LIMIT;
    }
    perp_friction_export(f, &c->best);
    info->residual = perp_contact_friction_residual_largest(f->best_parts);
    info->parts = f->best_parts;
    info->iterations += f->iterations;
    info->factorisations += f->factorisations;
}

/* The method `small`, before any set-up; what it needs is in `small`. */
static bool run_small(perp_friction_workspace *f, const perp_friction_settings *settings, const double *start,
                      perp_friction_info *info)
{
    perp_friction_small *small = &f->small;
    if (!f->has_small) {
        return false;
    }
    note(info, "small");
    const bool solved = perp_friction_small_solve(small, settings, start);
    info->outcome = solved ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ITERATION_LIMIT;
    info->residual = small->residual;
    info->parts = small->parts;
    info->iterations = small->iterations;
    info->factorisations = small->factorisations;
    info->minimum_norm = solved && settings->minimum_norm && perp_friction_small_is_unique(small);
    return solved;
}

static void put_residual(const perp_friction *problem, const double *r, const perp_friction_settings *settings,
                         perp_friction_info *info)
{
    double near;
    info->residual = perp_friction_residual_with(problem, r, settings->relative ? 0.0 : 1.0, &near);
    info->parts = (perp_contact_friction_residual){0.0, info->residual, 0.0};
}

/* No contact closes without forces: none act, which is where Newton would start. */
static bool run_open(const perp_friction *problem, const perp_friction_settings *settings, double *r,
                     perp_friction_info *info)
{
    bool open = wants(settings, "newton");
    for (int i = 0; open && i < problem->contacts; i++) {
        open = problem->q[(ptrdiff_t)i * problem->dim] >= 0.0;
    }
    if (!open) {
        return false;
    }
    note(info, "newton");
    memset(r, 0, (size_t)(problem->contacts * problem->dim) * sizeof *r);
    put_residual(problem, r, settings, info);
    info->outcome = info->residual <= settings->tolerance ? PERP_OUTCOME_SOLVED : info->outcome;
    info->minimum_norm = settings->minimum_norm;
    return info->outcome == PERP_OUTCOME_SOLVED;
}

perp_status perp_friction_solve(const perp_friction *problem, const perp_friction_settings *settings,
                                perp_friction_workspace *workspace, double *r, double *u, perp_friction_info *info,
                                perp_error *error)
{
    const perp_friction_settings chosen = settings ? *settings : perp_friction_settings_default();
    *info = (perp_friction_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "ipm-w"};
    perp_status status = check_settings(&chosen, error);
    if (status == PERP_STATUS_OK) {
        status = perp_friction_check(problem, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const int size = problem->contacts * problem->dim;
    const bool reserved = problem->contacts <= workspace->small_contacts,
               open = reserved && run_open(problem, &chosen, r, info);
    workspace->has_small =
        reserved && !open && wants(&chosen, "small") && perp_friction_small_take_local(&workspace->small, problem);
    if (!open && run_small(workspace, &chosen, chosen.warm_r, info)) {
        memcpy(r, workspace->small.force, (size_t)size * sizeof *r);
    } else if (!open) {
        status = perp_friction_setup_local(workspace, problem, error);
        status = status == PERP_STATUS_OK ? check_method(workspace, chosen.method, error) : status;
        if (status != PERP_STATUS_OK) {
            return status;
        }
        run(workspace, &chosen, NULL, info);
        memcpy(r, workspace->point.y, (size_t)size * sizeof *r);
    }
    if (info->outcome == PERP_OUTCOME_SOLVED && chosen.minimum_norm && !info->minimum_norm) {
        info->minimum_norm = perp_friction_local_least(workspace, problem, &chosen, r);
        put_residual(problem, r, &chosen, info);
    }
    perp_friction_velocity(problem, r, u);
    if (!perp_dense_is_finite(size, u)) { /* forces that are finite, but overflow times W */
        memset(r, 0, (size_t)size * sizeof *r);
        perp_friction_velocity(problem, r, u);
        info->outcome = PERP_OUTCOME_ILL_CONDITIONED;
        info->minimum_norm = false;
        put_residual(problem, r, &chosen, info);
    }
    return PERP_STATUS_OK;
}

static void copy_out(const double *from, int count, double *to)
{
    if (from && to) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
}

static void copy_point(const perp_contact_qp *p, const perp_convex_point *from, const perp_convex_point *to)
{
    copy_out(from->x, p->n, to->x);
    copy_out(from->y, p->contact_count > 0 ? p->row_start[p->contact_count] : 0, to->y);
    copy_out(from->y_equality, p->equality_count, to->y_equality);
    copy_out(from->y_lower, p->n, to->y_lower);
    copy_out(from->y_upper, p->n, to->y_upper);
}

perp_status perp_contact_friction_solve(const perp_contact_friction *problem, const perp_friction_settings *settings,
                                        perp_friction_workspace *workspace, perp_convex_point *solution,
                                        perp_friction_info *info, perp_error *error)
{
    const perp_friction_settings chosen = settings ? *settings : perp_friction_settings_default();
    *info = (perp_friction_info){.outcome = PERP_OUTCOME_ITERATION_LIMIT, .method = "ipm"};
    perp_status status = check_settings(&chosen, error);
    if (status == PERP_STATUS_OK) {
        status = perp_contact_friction_check(problem, error);
    }
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const perp_contact_qp *p = problem->system;
    perp_friction_small *small = &workspace->small;
    const perp_convex_point known = {small->v, small->force, NULL, small->none, small->none};
    workspace->has_small = p->contact_count <= workspace->small_contacts && p->n <= workspace->small_unknowns &&
                           wants(&chosen, "small") && perp_friction_small_take_contact(small, problem);
    const bool solved = run_small(workspace, &chosen, chosen.warm ? chosen.warm->y : NULL, info);
    if (solved && (info->minimum_norm || !chosen.minimum_norm)) {
        copy_point(p, &known, solution);
        return PERP_STATUS_OK;
    }
    status = set_up(workspace, problem, error);
    status = status == PERP_STATUS_OK ? perp_convex_check_definite(workspace->convex, error) : status;
    status = status == PERP_STATUS_OK ? check_method(workspace, chosen.method, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    run(workspace, &chosen, solved ? &known : NULL, info);
    copy_point(p, &workspace->point, solution);
    return PERP_STATUS_OK;
}
