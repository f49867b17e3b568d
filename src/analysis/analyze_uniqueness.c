/* Is the answer of the step, or of the instant, the only one? motion_ways.h has what is decided and how. */
#include "analysis/analysis_point.h"
#include "analysis/motion_forces.h"
#include "analysis/motion_ways.h"
#include "analysis/tolerances.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

/* ---- what is put together from islands --------------------------------------------------------------------------- */

/* Which verdict of two islands is that of both: later ones win. */
static int rank_of(perp_verdict verdict)
{
    static const perp_verdict order[] = {PERP_VERDICT_UNIQUE, PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES,
                                         PERP_VERDICT_UNKNOWN, PERP_VERDICT_BORDERLINE, PERP_VERDICT_NOT_UNIQUE};
    int rank = 0;
    while (order[rank] != verdict) {
        rank++;
    }
    return rank;
}

static perp_verdict worse(perp_verdict a, perp_verdict b)
{
    return rank_of(a) >= rank_of(b) ? a : b;
}

/* ---- one island -------------------------------------------------------------------------------------------------- */

typedef struct island_verdict {
    perp_verdict verdict, printed;
    double margin;
    const double *direction; /* n: of NOT_UNIQUE */
    bool both_ways;
} island_verdict;

typedef struct island_work {
    analysis_point *point;
    const contact_step *step;
    perp_arena *arena;     /* scratch */
    cone_program *program; /* likewise */
    const motion_problem *p;
} island_work;

typedef void way_builder(const motion_problem *p, const motion_point *point, double zero, way_rows *rows);

static perp_status decide(const island_work *work, way_builder *build, double zero, motion_ways *ways,
                          perp_error *error)
{
    way_rows rows = {.arena = work->arena, .n = work->p->n};
    build(work->p, &work->p->answer, zero, &rows);
    return perp_ways_decide(&rows, ways, error);
}

/* How far (of L) the answer can be moved along the direction with the same forces and still meets the law; 0: not far
 * enough to be told from it. */
static perp_status follow(const island_work *work, const double *direction, double sign, double *distance,
                          perp_error *error)
{
    enum { HALVINGS = 17 };
    const motion_problem *p = work->p;
    motion_point second = p->answer;
    double *u = PERP_ARENA_NEW(work->arena, double, (size_t)p->row_count);
    second.x = PERP_ARENA_NEW(work->arena, double, (size_t)p->n);
    if (!u || !second.x) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    double largest = 0.0;
    for (int k = 0; k < p->n; k++) {
        largest = fmax(largest, fabs(direction[k]));
    }
    const double before = perp_motion_residual(p, &p->answer, u);
    *distance = 0.0;
    double way = 1.0;
    for (int i = 0; i < HALVINGS && *distance == 0.0; i++, way *= 0.5) {
        for (int k = 0; k < p->n; k++) {
            second.x[k] = p->answer.x[k] + sign * way / largest * direction[k];
        }
        const double after = perp_motion_residual(p, &second, u);
        *distance = after <= SECOND_ANSWER && after <= before + SECOND_SLOPE * way ? way : 0.0;
    }
    return PERP_STATUS_OK;
}

/* A direction counts where another answer lies along it. */
static perp_status prove_second(const island_work *work, motion_ways *ways, island_verdict *v, perp_error *error)
{
    double forth = 0.0, back = 0.0;
    perp_status status = follow(work, ways->direction, 1.0, &forth, error);
    if (status == PERP_STATUS_OK) {
        status = follow(work, ways->direction, -1.0, &back, error);
    }
    if (forth == 0.0 && back > 0.0) {
        for (int k = 0; k < work->p->n; k++) {
            ways->direction[k] = -ways->direction[k];
        }
    }
    v->verdict = fmax(forth, back) >= SECOND_LEAST ? PERP_VERDICT_NOT_UNIQUE : PERP_VERDICT_BORDERLINE;
    v->both_ways = fmin(forth, back) >= SECOND_LEAST;
    v->direction = ways->direction;
    v->margin = fmax(forth, back);
    return status;
}

static bool has_friction(const motion_problem *p)
{
    bool any = false;
    for (int i = 0; i < p->contact_count; i++) {
        any = any || (p->contacts[i].mu > 0.0 && p->contacts[i].rows > 1);
    }
    return any;
}

static bool has_springs(const motion_problem *p)
{
    bool any = false;
    for (int i = 0; i < p->n * p->n; i++) {
        any = any || p->A[i] != 0.0;
    }
    return any;
}

/* Proposition 1 is about position-controlled bodies on the quadratic cone. */
static perp_status compare_printed(const island_work *work, island_verdict *v, perp_error *error)
{
    const motion_problem *p = work->p;
    if (p->law != MOTION_COULOMB || p->wide.count > 0 || has_springs(p) || p->equation_count > 0) {
        return PERP_STATUS_OK;
    }
    motion_ways ways;
    const perp_status status = decide(work, perp_ways_as_printed, COUNTS_AS_NONE, &ways, error);
    v->printed = ways.verdict == WAYS_NONE     ? PERP_VERDICT_UNIQUE
                 : ways.verdict == WAYS_UNSURE ? PERP_VERDICT_UNKNOWN
                                               : PERP_VERDICT_NOT_UNIQUE;
    return status;
}

static perp_status judge_island(const island_work *work, island_verdict *v, perp_error *error)
{
    motion_ways ways, wider;
    *v = (island_verdict){.verdict = PERP_VERDICT_UNKNOWN};
    perp_status status = decide(work, perp_ways_of_law, COUNTS_AS_NONE, &ways, error);
    status = status == PERP_STATUS_OK ? decide(work, perp_ways_of_law, MIGHT_BE_NONE, &wider, error) : status;
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const bool one = ways.verdict == WAYS_NONE, one_too = wider.verdict == WAYS_NONE;
    if (ways.verdict == WAYS_UNSURE || wider.verdict == WAYS_UNSURE || one != one_too) {
        v->verdict = PERP_VERDICT_BORDERLINE;
    } else if (!one) {
        status = prove_second(work, &ways, v, error);
    } else {
        const bool convex = work->p->law != MOTION_COULOMB || !has_friction(work->p);
        v->verdict = convex ? PERP_VERDICT_UNIQUE : PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES;
        v->margin = fmin(ways.margin, wider.margin);
    }
    return status == PERP_STATUS_OK ? compare_printed(work, v, error) : status;
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

/* Which contact of the analysis a record of the step is; -1: it is not listed any more. */
static int find_contact(const analysis_point *point, const perp_contact *contact)
{
    int found = -1;
    for (int i = 0; i < point->analysis->contact_count && found < 0; i++) {
        found = perp_contact_same(&point->analysis->contacts[i].contact, contact) ? i : -1;
    }
    return found;
}

static void put_range(const motion_problem *p, const motion_force_range *range, perp_force_range *to)
{
    for (int side = 0; side < 2; side++) {
        to->fn[side] = p->F * range->end[0][side];
        to->ft[0][side] = p->F * range->end[1][side];
        to->ft[1][side] = p->F * range->end[2][side];
    }
}

static perp_status put_forces(const island_work *work, perp_error *error)
{
    analysis_point *point = work->point;
    perp_uniqueness *u = &point->analysis->uniqueness;
    const motion_problem *p = work->p;
    motion_force_range *ranges = PERP_ARENA_NEW(work->arena, motion_force_range, (size_t)p->contact_count);
    if (!ranges) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    perp_status status =
        perp_motion_force_ranges(p, MIGHT_BE_NONE, work->program, work->arena, point->options.cancel, ranges, error);
    for (int i = 0; i < p->contact_count && status == PERP_STATUS_OK; i++) {
        const int contact = find_contact(point, &work->step->records[p->contacts[i].record].contact);
        if (contact >= 0) {
            perp_force_range *to = (perp_force_range *)(uintptr_t)&u->forces[u->force_count++];
            to->contact = contact;
            put_range(p, &ranges[i], to);
        }
        if (contact >= 0 && !ranges[i].found) {
            status = perp_analysis_reason(point, contact, error,
                                          "an end of a range of its force was not found, and counts as unbounded");
        }
    }
    return status;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* A direction as a velocity of the model whose displacement has 1 as its largest entry. */
static perp_status put_motion(analysis_point *point, const motion_problem *p, const island_verdict *v,
                              perp_error *error)
{
    perp_uniqueness *all = &point->analysis->uniqueness;
    double *motion = ANALYSIS_NEW(point, double, point->model->nv);
    double largest = 0.0;
    if (!motion) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    for (int k = 0; k < p->n; k++) {
        largest = fmax(largest, fabs(v->direction[k] * p->unit[k]));
    }
    for (int k = 0; k < p->n; k++) {
        motion[p->dof[k]] = v->direction[k] * p->unit[k] / (largest * p->h);
    }
    all->motion = motion;
    all->motion_both_ways = v->both_ways;
    return PERP_STATUS_OK;
}

static perp_status add_island(analysis_point *point, const motion_problem *p, const island_verdict *v, bool first,
                              perp_error *error)
{
    perp_uniqueness *all = &point->analysis->uniqueness;
    const perp_verdict before = first ? PERP_VERDICT_UNIQUE : all->verdict;
    all->verdict = worse(before, v->verdict);
    all->margin = first || all->verdict != before ? v->margin : fmin(all->margin, v->margin);
    if (first) {
        all->printed = v->printed;
    } else if (all->printed != PERP_VERDICT_UNKNOWN) {
        all->printed = v->printed == PERP_VERDICT_UNKNOWN ? v->printed : worse(all->printed, v->printed);
    }
    return v->verdict == PERP_VERDICT_NOT_UNIQUE && !all->motion ? put_motion(point, p, v, error) : PERP_STATUS_OK;
}

static perp_status judge_step(analysis_point *point, const contact_step *step, perp_error *error)
{
    perp_arena arena;
    perp_arena_init(&arena, &point->allocator);
    cone_program program;
    island_work work = {.point = point, .step = step, .arena = &arena, .program = &program};
    motion_problem *problems;
    int count;
    perp_uniqueness *u = &point->analysis->uniqueness;
    u->verdict = PERP_VERDICT_UNIQUE;
    u->margin = 1.0;
    u->forces = ANALYSIS_NEW(point, perp_force_range, step->system.contact_count);
    perp_status status = perp_cone_program_open(&program, &point->allocator, error);
    if (status == PERP_STATUS_OK && !u->forces) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    status = status == PERP_STATUS_OK ? perp_motion_problems(step, &arena, &problems, &count, error) : status;
    for (int i = 0; i < count && status == PERP_STATUS_OK; i++) {
        island_verdict verdict;
        work.p = &problems[i];
        status = judge_island(&work, &verdict, error);
        status = status == PERP_STATUS_OK ? add_island(point, &problems[i], &verdict, i == 0, error) : status;
        status = status == PERP_STATUS_OK && !point->options.verdicts_only ? put_forces(&work, error) : status;
    }
    perp_cone_program_close(&program);
    perp_arena_clear(&arena);
    return status;
}

/* ---- instants ---------------------------------------------------------------------------------------------------- */

static perp_status judge_instant(analysis_point *point, perp_error *error)
{
    const perp_run_result *instant = &point->instant;
    perp_uniqueness *u = &point->analysis->uniqueness;
    const bool set =
        instant->solution_count > 0 && instant->solutions[0].vertex_count + instant->solutions[0].ray_count > 0;
    if (instant->solution_count == 0) {
        return perp_analysis_reason(point, -1, error, "without a solution there is nothing that could be unique");
    }
    if (instant->solution_count > 1 || set) {
        u->verdict = PERP_VERDICT_NOT_UNIQUE;
        return PERP_STATUS_OK;
    }
    u->verdict = instant->partial ? PERP_VERDICT_UNKNOWN : PERP_VERDICT_UNIQUE;
    return instant->partial ? perp_analysis_reason(point, -1, error, "not all modes of the instant were tried")
                            : PERP_STATUS_OK;
}

perp_status perp_analyze_uniqueness(analysis_point *point, perp_error *error)
{
    if (point->rung->answer) {
        return judge_instant(point, error);
    }
    if (!point->rung->law || !point->rung->step) {
        return perp_analysis_reason(point, -1, error, "`%s` has no contact forces, and nothing to be unique",
                                    point->rung->name);
    }
    if (point->stepped != PERP_STATUS_OK) {
        return perp_analysis_reason(point, -1, error, "without a solution there is nothing that could be unique");
    }
    const contact_step *step = point->next->step.workspace;
    if (step->law->own_contacts || step->split) {
        return perp_analysis_reason(point, -1, error, "uniqueness of such a step is not known");
    }
    return judge_step(point, step, error);
}
