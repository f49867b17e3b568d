/* The cascade for Coulomb friction.
 *
 *   few           a few contacts of bodies with inertia: each exactly in turn, then Newton
 *   newton        from the previous step's solution, where there is one
 *   ipm, ipm-w    interior point with the shift in its matrix, ended by Newton, with bodies or in the forces alone
 *   islands       where that fails and the bodies are not all connected: each island on its own, by all that follows
 *   rest          from the least motion, bodies held near it
 *   gauss-seidel  contact by contact, then Newton with much damping
 *   smooth        continuation in a smoothing, around turning points
 *   shift         convex problems for every guess of the shift
 *   lemke         circles as polygons, and Newton from points of its paths
 *
 * Only the residual of the problem's class says "solved". */
#include "base/settings_size.h"
#include "linalg/dense_kernel.h"
#include "problem/natural_map.h"
#include "solver/friction_core.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct method_line {
    const char *name, *summary;
} method_line;

static const method_line METHODS[] = {
    {"few", "a few contacts, bodies with inertia: each solved exactly in turn, then Newton"},
    {"newton", "semismooth Newton from the given start: for the next step of a run, or a good guess"},
    {"ipm", "interior point with the friction shift in its matrix, on the structure of the bodies"},
    {"islands", "bodies that nothing connects each on their own, by all the other methods"},
    {"ipm-w", "the same in the forces alone: local problems, and problems with inertia and few contacts"},
    {"smooth", "smoothed projections, the smoothing followed to nothing around turning points"},
    {"shift", "fixed point over convex cone problems, then Newton: problems with bodies"},
    {"rest", "the same from the least motion, bodies held near it: above all problems without inertia"},
    {"lemke", "Lemke's pivots with polygons for circles, and Newton along the way: up to some 200 contacts"},
    {"gauss-seidel", "contact by contact, then Newton with much damping"},
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
    if (!(settings->tolerance >= 1e-12) || !(settings->tolerance <= DBL_MAX)) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "a tolerance of %g: it must be at least 1e-12",
                         settings->tolerance);
    }
    if (settings->max_iterations < 0 || settings->max_factorisations < 0) {
        return perp_fail(error, PERP_STATUS_BAD_INPUT, "at most %d iterations and %d factorisations",
                         settings->max_iterations, settings->max_factorisations);
    }
    bool known = !settings->method;
    for (int k = 0; !known && k < perp_friction_method_count(); k++) {
        known = strcmp(METHODS[k].name, settings->method) == 0;
    }
    if (!known) {
        return perp_fail(
            error, PERP_STATUS_BAD_INPUT,
            "there is no method `%s` for friction problems: few, newton, ipm, islands, ipm-w, smooth, shift, "
            "rest, lemke, gauss-seidel",
            settings->method);
    }
    return PERP_STATUS_OK;
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
        {"few", f->has_few, "a few contacts, inertia, and neither bounds nor equations", bodies ? "ipm" : "ipm-w"},
        {"ipm", bodies, "bodies", "ipm-w"},
        {"islands", bodies && f->island && f->islands.count > 1, "bodies that are not all connected",
         bodies ? "ipm" : "ipm-w"},
        {"shift", bodies, "bodies", "ipm-w"},
        {"rest", bodies, "bodies", "ipm-w"},
        {"lemke", f->has_lemke, "some 200 contacts at most", bodies ? "ipm" : "ipm-w"},
        {"ipm-w", f->has_dense, "inertia, not too many contacts, and no equations", "ipm"},
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
    void *blocks[] = {workspace->memory.data,       workspace->dense_memory.data, workspace->islands.memory.data,
                      workspace->lemke_memory.data, workspace->proof.memory.data, workspace->lifted.memory.data};
    perp_lcp_workspace_free(workspace->lemke);
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

/* `few` needs no memory of its own, but what it gives up needs that of the others. */
static void admit_few(perp_friction_workspace *f, int contacts, int unknowns)
{
    f->few_contacts = contacts > f->few_contacts ? contacts : f->few_contacts;
    f->few_unknowns = unknowns > f->few_unknowns ? unknowns : f->few_unknowns;
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
        admit_few(workspace, problem->contacts, 0);
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
        admit_few(workspace, problem->system->contact_count, problem->system->n);
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

/* Who is held at rest: what has neither inertia nor stiffness, first and with another rho and with many; or all. */
enum { FIRST, ALL, AGAIN, DRAW };
/* Starts of the interior point: few contacts are solved soonest from near, many from far inside. */
enum { UNIT = 0, LARGE = 1, SMALL = 2, FEW = 30 };

/* One of the interior points; the first is nearly always enough, the others start elsewhere or take more care. */
static bool run_ipm(perp_friction_workspace *f, const perp_friction_settings *settings, bool dense, int attempt)
{
    enum { ITERATIONS = 150 };
    static const perp_friction_attempt attempts[] = {
        {1.0, 1.0, 0.99, 0.8, 1, false, 0, 0.0}, {10.0, 10.0, 0.99, 0.8, 1, false, 0, 0.0},
        {0.1, 0.1, 0.99, 0.8, 1, false, 0, 0.0}, {10.0, 1.0, 0.9, 0.5, 3, false, 0, 0.0},
        {0.1, 1.0, 0.99, 0.8, 8, false, 0, 0.0}, {0.0, 0.0, 0.99, 0.8, 1, false, 0, 0.1},
        {0.0, 0.0, 0.9, 0.8, 3, false, 0, 0.01}, {30.0, 30.0, 0.9, 0.5, 8, false, 0, 0.0}};
    perp_friction_attempt chosen = attempts[attempt];
    chosen.iterations = settings->max_iterations > 0 ? settings->max_iterations : ITERATIONS;
    if (dense && !f->local && !perp_friction_make_dense(f)) {
        return false;
    }
    f->dense = dense;
    const bool solved = perp_friction_ipm(f, &chosen);
    f->dense = f->local != NULL;
    return solved;
}

static bool run_cascade(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info);

/* Each island by the whole cascade. The cap counts the work of one as its share of the whole. */
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
        inner.tolerance = fmax(0.1 * settings->tolerance, 1e-13);
        if (perp_friction_setup_contact(g, perp_friction_islands_take(&f->islands, k), NULL) != PERP_STATUS_OK) {
            return false; /* more fill than was reserved for */
        }
        perp_friction_reset(g, &inner);
        const bool solved = run_cascade(g, &inner, &ignored) || g->best_residual <= settings->tolerance;
        all = all && solved;
        perp_friction_export(g, &g->convex->best);
        const perp_contact_qp *q = &f->islands.system;
        memcpy(f->islands.point.x, g->point.x, (size_t)q->n * sizeof(double));
        memcpy(f->islands.point.y_lower, g->point.y_lower, (size_t)q->n * sizeof(double));
        memcpy(f->islands.point.y_upper, g->point.y_upper, (size_t)q->n * sizeof(double));
        memcpy(f->islands.point.y, g->point.y, (size_t)q->row_start[q->contact_count] * sizeof(double));
        memcpy(f->islands.point.y_equality, g->point.y_equality, (size_t)q->equality_count * sizeof(double));
        perp_friction_islands_give(&f->islands, &f->joined);
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

/* The methods after the first interior point, in the order of what they cost. */
typedef enum step_kind {
    STEP_IPM,
    STEP_SMOOTH,
    STEP_LEMKE,
    STEP_SHIFT,
    STEP_REST,
    STEP_GAUSS_SEIDEL,
    STEP_NEAR
} step_kind;

typedef struct fallback {
    const char *name;
    step_kind kind;
    int attempt; /* ipm, gauss-seidel: which */
    bool dense;
    double tau, eps;    /* smooth; tau: rho of lemke and rest, part of shift */
    int factorisations; /* at most, so that something is left for those that follow */
} fallback;

static bool applies(const perp_friction_workspace *f, const fallback *step)
{
    enum { SWEPT = 300 }; /* rows of a local problem, W not sparse, that Gauss-Seidel has time for */
    enum { DRAWN = 60 };  /* contacts: of 20 draws with more one in forty solves */
    switch (step->kind) {
    case STEP_IPM:
        return step->dense ? f->has_dense : !f->local;
    case STEP_LEMKE:
        return f->has_lemke;
    case STEP_SHIFT:
        return !f->local;
    case STEP_REST:
        return !f->local && (step->attempt == ALL || perp_friction_holds_some(f)) &&
               (step->attempt != DRAW || f->scaled.contact_count <= DRAWN);
    case STEP_GAUSS_SEIDEL:
        return !f->local || f->has_sparse || f->convex->m <= SWEPT;
    default:
        return true;
    }
}

/* With inertia half of the way: walls and wedges swing else; a fifth where they still do. */
static bool run_gauss_seidel(perp_friction_workspace *f, int attempt)
{
    static const perp_friction_sweeping sweepings[] = {
        {0.0, 0.0, 0.5, 6},  {10.0, 0.3, 1.0, 3}, {10.0, 0.1, 1.0, 2}, {10.0, 1.0, 1.0, 2},
        {10.0, 0.0, 1.0, 3}, {1.0, 0.0, 1.0, 2},  {0.0, 0.0, 0.2, 4},  {0.0, 0.0, 0.6, 6},
    };
    return perp_friction_gauss_seidel(f, &sweepings[attempt]);
}

static bool run_step(perp_friction_workspace *f, const perp_friction_settings *settings, const fallback *step)
{
    enum { LEMKE_DRAWS = 200, SHIFTS = 150, RESTS = 40, REST_DRAWS = 60 };
    switch (step->kind) {
    case STEP_IPM:
        return run_ipm(f, settings, step->dense, step->attempt);
    case STEP_SMOOTH:
        return perp_friction_smooth(f, step->tau, step->eps);
    case STEP_LEMKE:
        return perp_friction_lemke(f, step->tau, LEMKE_DRAWS);
    case STEP_SHIFT:
        return perp_friction_shift(f, &(perp_friction_shifting){step->tau, SHIFTS, 0.0, false, NULL});
    case STEP_REST:
        return step->attempt != DRAW ? perp_friction_shift(f, &(perp_friction_shifting){1.0, RESTS, step->tau,
                                                                                        step->attempt == ALL, NULL})
                                     : perp_friction_rest_drawn(f, REST_DRAWS);
    case STEP_GAUSS_SEIDEL:
        return run_gauss_seidel(f, step->attempt);
    default:
        return perp_friction_newton_near(f);
    }
}

static bool run_fallbacks(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info)
{
    static const fallback steps[] = {
        {"rest", STEP_REST, FIRST, false, 10.0, 0.0, 1000},
        {"rest", STEP_REST, ALL, false, 1.0, 0.0, 200},
        {"rest", STEP_REST, AGAIN, false, 1.0, 0.0, 1500},
        {"ipm", STEP_IPM, UNIT, false, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, LARGE, false, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, SMALL, false, 0.0, 0.0, 250},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 0, false, 0.0, 0.0, 1500},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 1, false, 0.0, 0.0, 1000},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 2, false, 0.0, 0.0, 700},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 3, false, 0.0, 0.0, 700},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 4, false, 0.0, 0.0, 700},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 5, false, 0.0, 0.0, 500},
        {"rest", STEP_REST, DRAW, false, 0.0, 0.0, 25000},
        {"smooth", STEP_SMOOTH, 0, false, 0.0, 0.0, 2000},
        {"smooth", STEP_SMOOTH, 0, false, 1.0, 0.1, 800},
        {"ipm-w", STEP_IPM, 3, true, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, 5, false, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, 6, false, 0.0, 0.0, 250},
        {"shift", STEP_SHIFT, 0, false, 1.0, 0.0, 800},
        {"shift", STEP_SHIFT, 0, false, 0.5, 0.0, 1500},
        {"shift", STEP_SHIFT, 0, false, 0.1, 0.0, 2000},
        {"lemke", STEP_LEMKE, 0, false, 0.0, 0.0, 6000},
        {"lemke", STEP_LEMKE, 0, false, 10.0, 0.0, 3000},
        {"lemke", STEP_LEMKE, 0, false, 1.0, 0.0, 3000},
        {"lemke", STEP_LEMKE, 0, false, 0.1, 0.0, 3000},
        {"ipm", STEP_IPM, 7, false, 0.0, 0.0, 250},
        {"ipm-w", STEP_IPM, 4, true, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, 5, false, 0.0, 0.0, 250},
        {"ipm", STEP_IPM, 6, false, 0.0, 0.0, 250},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 6, false, 0.0, 0.0, 1500},
        {"gauss-seidel", STEP_GAUSS_SEIDEL, 7, false, 0.0, 0.0, 1500},
        {"newton", STEP_NEAR, 0, false, 0.0, 0.0, 300},
    };
    const int cap = f->max_factorisations;
    bool solved = false;
    for (size_t k = 0; k < sizeof steps / sizeof *steps && !solved && !perp_friction_must_stop(f); k++) {
        const bool last = steps[k].kind == STEP_NEAR; /* `newton` alone has had its turn */
        if (!wants(settings, steps[k].name) || !(settings->method ? !last : applies(f, &steps[k]))) {
            continue;
        }
        note(info, steps[k].name);
        const bool limited = !settings->method && steps[k].factorisations < cap - f->factorisations;
        f->max_factorisations = limited ? f->factorisations + steps[k].factorisations : cap;
        solved = run_step(f, settings, &steps[k]);
        f->max_factorisations = cap;
    }
    return solved;
}

static bool run_cascade(perp_friction_workspace *f, const perp_friction_settings *settings, perp_friction_info *info)
{
    const bool warm = f->local ? settings->warm_r != NULL : settings->warm != NULL, chosen = settings->method != NULL;
    const char *first = f->local ? "ipm-w" : "ipm";
    const bool several = f->contact && f->island && f->islands.count > 1 && f->islands.given == f->contact;
    bool solved = false;
    if (wants(settings, "newton") && (warm || chosen)) {
        note(info, "newton");
        solved = run_newton(f, settings);
    }
    if (!solved && wants(settings, first) && !perp_friction_must_stop(f)) {
        note(info, first);
        solved = run_ipm(f, settings, f->local != NULL, f->scaled.contact_count > FEW ? LARGE : SMALL);
    }
    if (!solved && several && wants(settings, "islands") && !perp_friction_must_stop(f)) {
        note(info, "islands");
        return run_islands(f, settings);
    }
    return solved || run_fallbacks(f, settings, info);
}

void perp_friction_reset(perp_friction_workspace *f, const perp_friction_settings *settings)
{
    enum { FACTORISATIONS = 40000, ROWS = 24000000 }; /* rows of all of them together: a minute with 1,000 contacts */
    perp_convex_workspace *c = f->convex;
    const int affordable = ROWS / (c->m + 1), most = affordable < FACTORISATIONS ? affordable : FACTORISATIONS;
    f->best_residual = INFINITY;
    f->best_parts = (perp_contact_friction_residual){INFINITY, INFINITY, INFINITY};
    memset(c->best.x, 0, (size_t)c->n * sizeof(double));
    memset(c->best.y, 0, (size_t)c->m * sizeof(double));
    memset(c->best.z, 0, (size_t)c->e * sizeof(double));
    f->tolerance = settings->tolerance;
    f->unit = c->unit = settings->relative ? 0.0 : 1.0;
    f->cancel = settings->cancel;
    f->max_factorisations = settings->max_factorisations > 0 ? settings->max_factorisations : most;
    f->iterations = f->factorisations = 0;
    f->tau = f->eps = 0.0;
    f->smooth = 0.0;
    c->guessed = c->best_is_least = false; /* of the convex solver: what the last problem left does not count */
}

/* The answer is left in `point`. `known` solves the problem, and only forces of least norm are asked for; NULL: it is
 * to be solved. */
static void run(perp_friction_workspace *f, const perp_friction_settings *settings, const perp_convex_point *known,
                perp_friction_info *info)
{
    static const double NEARLY = 1e-3;
    perp_convex_workspace *c = f->convex;
    perp_friction_reset(f, settings);
    if (known) {
        perp_friction_import(f, known, &c->at);
    }
    if ((known && perp_friction_judge(f, &c->at)) || run_cascade(f, settings, info)) {
        info->outcome = PERP_OUTCOME_SOLVED;
        info->minimum_norm = settings->minimum_norm && perp_friction_minimum_norm(f);
    } else {
        memset(c->trial.x, 0, (size_t)c->n * sizeof(double)); /* zero may be the best point */
        memset(c->trial.y, 0, (size_t)c->m * sizeof(double));
        memset(c->trial.z, 0, (size_t)c->e * sizeof(double));
        perp_friction_judge(f, &c->trial);
        const bool cancelled = f->cancel && *f->cancel;
        const double proof = cancelled || settings->method ? INFINITY : perp_friction_prove_infeasible(f);
        info->certificate = proof < INFINITY ? proof : 0.0;
        info->outcome = cancelled                   ? PERP_OUTCOME_CANCELLED
                        : proof < INFINITY          ? PERP_OUTCOME_INFEASIBLE
                        : f->best_residual < NEARLY ? PERP_OUTCOME_ILL_CONDITIONED
                                                    : PERP_OUTCOME_ITERATION_LIMIT;
    }
    perp_friction_export(f, &c->best);
    info->residual = perp_contact_friction_residual_largest(f->best_parts);
    info->parts = f->best_parts;
    info->iterations += f->iterations;
    info->factorisations += f->factorisations;
}

/* The method `few`, before any set-up; what it needs is in `few`. */
static bool run_few(perp_friction_workspace *f, const perp_friction_settings *settings, const double *start,
                    perp_friction_info *info)
{
    perp_friction_few *few = &f->few;
    if (!f->has_few) {
        return false;
    }
    note(info, "few");
    const bool solved = perp_friction_few_solve(few, settings, start);
    info->outcome = solved ? PERP_OUTCOME_SOLVED : PERP_OUTCOME_ITERATION_LIMIT;
    info->residual = few->residual;
    info->parts = few->parts;
    info->iterations = few->iterations;
    info->factorisations = few->factorisations;
    info->minimum_norm = solved && settings->minimum_norm && perp_friction_few_is_unique(few);
    return solved;
}

static double residual_of(const perp_friction *problem, const double *r, const perp_friction_settings *settings)
{
    double near;
    return perp_friction_residual_with(problem, r, settings->relative ? 0.0 : 1.0, &near);
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
    info->residual = residual_of(problem, r, settings);
    info->parts = (perp_contact_friction_residual){0.0, info->residual, 0.0};
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
    const bool reserved = problem->contacts <= workspace->few_contacts,
               open = reserved && run_open(problem, &chosen, r, info);
    workspace->has_few =
        reserved && !open && wants(&chosen, "few") && perp_friction_few_take_local(&workspace->few, problem);
    if (!open && run_few(workspace, &chosen, chosen.warm_r, info)) {
        memcpy(r, workspace->few.force, (size_t)size * sizeof *r);
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
        info->residual = residual_of(problem, r, &chosen);
        info->parts = (perp_contact_friction_residual){0.0, info->residual, 0.0};
    }
    perp_friction_velocity(problem, r, u);
    if (!perp_dense_is_finite(size, u)) { /* forces that are finite, but overflow times W */
        memset(r, 0, (size_t)size * sizeof *r);
        perp_friction_velocity(problem, r, u);
        info->outcome = PERP_OUTCOME_ILL_CONDITIONED;
        info->minimum_norm = false;
        info->residual = residual_of(problem, r, &chosen);
        info->parts = (perp_contact_friction_residual){0.0, info->residual, 0.0};
    }
    return PERP_STATUS_OK;
}

static void copy_out(const double *from, int count, double *to)
{
    if (to) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
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
    perp_friction_few *few = &workspace->few;
    const perp_convex_point known = {.x = few->v, .y = few->force};
    workspace->has_few = p->contact_count <= workspace->few_contacts && p->n <= workspace->few_unknowns &&
                         wants(&chosen, "few") && perp_friction_few_take_contact(few, problem);
    const bool solved = run_few(workspace, &chosen, chosen.warm ? chosen.warm->y : NULL, info);
    if (solved && (info->minimum_norm || !chosen.minimum_norm)) {
        copy_out(few->v, p->n, solution->x);
        copy_out(few->force, p->row_start[p->contact_count], solution->y);
        copy_out(few->none, p->n, solution->y_lower);
        copy_out(few->none, p->n, solution->y_upper);
        return PERP_STATUS_OK;
    }
    status = set_up(workspace, problem, error);
    status = status == PERP_STATUS_OK ? perp_convex_check_definite(workspace->convex, error) : status;
    status = status == PERP_STATUS_OK ? check_method(workspace, chosen.method, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    run(workspace, &chosen, solved ? &known : NULL, info);
    copy_out(workspace->point.x, p->n, solution->x);
    copy_out(workspace->point.y, p->contact_count > 0 ? p->row_start[p->contact_count] : 0, solution->y);
    copy_out(workspace->point.y_equality, p->equality_count, solution->y_equality);
    copy_out(workspace->point.y_lower, p->n, solution->y_lower);
    copy_out(workspace->point.y_upper, p->n, solution->y_upper);
    return PERP_STATUS_OK;
}
