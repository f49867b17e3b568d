/* Is the answer of the step, or of the instant, the only one? motion_ways.h has what is decided and how. */
#include "analysis/analysis_point.h"
#include "analysis/motion_forces.h"
#include "analysis/motion_unique.h"
#include "analysis/tolerances.h"
#include "sim/sim.h"
#include "step/common/rung_cone.h"

#include <math.h>
#include <stdio.h>
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

typedef struct island_work {
    analysis_point *point;
    const motion_problem *p;
    perp_arena *arena;     /* scratch */
    cone_program *program; /* likewise */
} island_work;

static const perp_contact *contact_of(const island_work *work, int i)
{
    return &work->point->motions.step->records[work->p->contacts[i].record].contact;
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
        const int contact = find_contact(point, contact_of(work, i));
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
static bool put_motion(analysis_point *point, const motion_problem *p, const island_verdict *v)
{
    perp_uniqueness *all = &point->analysis->uniqueness;
    double *motion = ANALYSIS_NEW(point, double, point->model->nv);
    double largest = 0.0;
    for (int k = 0; k < p->n && p->dof[k] < point->model->nv; k++) { /* feet of supports come last */
        largest = fmax(largest, fabs(v->direction[k] * p->unit[k]));
    }
    for (int k = 0; k < p->n && motion && p->dof[k] < point->model->nv; k++) {
        motion[p->dof[k]] = v->direction[k] * p->unit[k] / (largest * p->h);
    }
    all->motion = motion;
    all->motion_both_ways = v->both_ways;
    all->motion_length = v->length * largest;
    all->second_residual = v->second_residual;
    return motion != NULL;
}

/* The forces of the second answer: those of other islands are as reported. */
static bool put_second(const island_work *work, const island_verdict *v)
{
    analysis_point *point = work->point;
    const perp_analysis *a = point->analysis;
    const motion_problem *p = work->p;
    double(*forces)[3] = perp_arena_push(point->arena, (size_t)a->contact_count, sizeof *forces);
    for (int i = 0; i < a->contact_count && forces; i++) {
        const perp_contact_record *r = &a->contacts[i];
        const double reported[3] = {r->fn, r->ft[0], r->ft[1]};
        memcpy(forces[i], reported, sizeof reported);
    }
    for (int i = 0; i < p->contact_count && forces; i++) {
        const int at = find_contact(point, contact_of(work, i));
        const motion_contact *c = &p->contacts[i];
        const double *r = v->second.r + c->row;
        for (int k = 0; k < 3 && at >= 0; k++) {
            forces[at][k] = k == 0 ? p->F * r[0] : 0.0;
            for (int j = 1; j < c->rows && k > 0; j++) {
                forces[at][k] += p->F * c->axis[k - 1][j - 1] * r[j];
            }
        }
    }
    point->analysis->uniqueness.second_forces = (const double(*)[3])forces;
    return forces != NULL;
}

static perp_status add_island(const island_work *work, const island_verdict *v, bool first, perp_error *error)
{
    analysis_point *point = work->point;
    perp_uniqueness *all = &point->analysis->uniqueness;
    const perp_verdict before = first ? PERP_VERDICT_UNIQUE : all->verdict;
    all->verdict = worse(before, v->verdict);
    all->margin = first || all->verdict != before ? v->margin : fmin(all->margin, v->margin);
    if (first) {
        all->printed = v->printed;
    } else if (all->printed != PERP_VERDICT_UNKNOWN) {
        all->printed = v->printed == PERP_VERDICT_UNKNOWN ? v->printed : worse(all->printed, v->printed);
    }
    if (v->verdict == PERP_VERDICT_NOT_UNIQUE && !all->motion &&
        !(put_motion(point, work->p, v) && put_second(work, v))) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    return PERP_STATUS_OK;
}

/* A longer search may say more than this one: of a certificate, whose work is little. */
static bool may_say_more(analysis_point *point, const motion_problem *p, const island_verdict *v)
{
    const bool open = v->verdict != PERP_VERDICT_UNIQUE && v->verdict != PERP_VERDICT_NOT_UNIQUE;
    const bool more = point->answering && open && !perp_motion_is_convex(p);
    point->cut = point->cut || more;
    return more;
}

/* Names one body of the island where there are several. */
static perp_status say_why(const island_work *work, const island_verdict *v, perp_error *error)
{
    analysis_point *point = work->point;
    const perp_model *model = point->model;
    char longer[80] = "";
    const int dof = work->p->n > 0 ? work->p->dof[0] : -1;
    int body = 0;
    while (body < model->body_count &&
           !(model->links[body].v_start <= dof && dof < model->links[body].v_start + model->links[body].v_count)) {
        body++;
    }
    const bool several = point->motions.count > 1 && body < model->body_count;
    if (may_say_more(point, work->p, v)) {
        snprintf(longer, sizeof longer, "; `perp analyze --at %.17g` looks longer", point->state->t);
    }
    return perp_analysis_reason(point, -1, error, "%s%s%s%s: %s%s", perp_verdict_name(v->verdict), several ? ", `" : "",
                                several ? model->scene->bodies[body].name : "", several ? "` and what it touches" : "",
                                v->why, longer);
}

static perp_status judge_islands(analysis_point *point, perp_arena *arena, cone_program *program, perp_error *error)
{
    const analysis_motions *m = &point->motions;
    perp_status status = PERP_STATUS_OK;
    for (int i = 0; i < m->count && status == PERP_STATUS_OK; i++) {
        const island_work work = {.point = point, .p = &m->problems[i], .arena = arena, .program = program};
        const motion_searcher by = perp_analysis_searcher(point, i, arena);
        island_verdict v;
        status = perp_motion_judge(work.p, &by, &m->answers[i], &v, error);
        status = status == PERP_STATUS_OK ? add_island(&work, &v, i == 0, error) : status;
        status = status == PERP_STATUS_OK ? say_why(&work, &v, error) : status;
        status = status == PERP_STATUS_OK && !point->options.verdicts_only ? put_forces(&work, error) : status;
    }
    return status;
}

static perp_status judge_step(analysis_point *point, perp_error *error)
{
    perp_arena arena;
    cone_program program;
    perp_uniqueness *u = &point->analysis->uniqueness;
    perp_arena_init(&arena, &point->allocator);
    u->verdict = PERP_VERDICT_UNIQUE;
    u->margin = 1.0;
    u->forces = ANALYSIS_NEW(point, perp_force_range, point->motions.step->system.contact_count);
    perp_status status = perp_cone_program_open(&program, &point->allocator, error);
    if (status == PERP_STATUS_OK && !u->forces) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    status = status == PERP_STATUS_OK ? judge_islands(point, &arena, &program, error) : status;
    perp_cone_program_close(&program);
    perp_arena_clear(&arena);
    perp_existence *e = &point->analysis->existence;
    if (u->verdict == PERP_VERDICT_UNIQUE && e->verdict == PERP_VERDICT_EXISTS) {
        e->solutions = 1;
        e->complete = true;
    }
    return status;
}

/* ---- instants ---------------------------------------------------------------------------------------------------- */

/* Rate j of all that are listed: of solutions, then of the first one's set its vertices and what its rays lead to. */
static bool listed_rate(const analysis_point *point, int j, double *rate)
{
    const perp_run_result *instant = &point->instant;
    const perp_instant_solution *first = &instant->solutions[0];
    const size_t nv = (size_t)point->model->nv;
    const int vertex = j - instant->solution_count, ray = vertex - first->vertex_count;
    if (ray >= first->ray_count) {
        return false;
    }
    const double *from = j < instant->solution_count ? instant->solutions[j].rate
                         : ray < 0                   ? first->vertices + (size_t)vertex * nv
                                                     : first->rays + (size_t)ray * nv;
    for (size_t k = 0; k < nv; k++) {
        rate[k] = from[k] + (ray >= 0 ? first->rate[k] : 0.0);
    }
    return true;
}

/* The way from the first solution to the rate that is farthest from it. */
static perp_status put_other_rate(analysis_point *point, perp_error *error)
{
    perp_uniqueness *u = &point->analysis->uniqueness;
    const double *first = point->instant.solutions[0].rate;
    const int nv = point->model->nv;
    double *motion = ANALYSIS_NEW(point, double, nv), *rate = ANALYSIS_NEW(point, double, nv);
    if (!motion || !rate) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    for (int j = 1; listed_rate(point, j, rate); j++) {
        double far = 0.0;
        for (int k = 0; k < nv; k++) {
            far = fmax(far, fabs(rate[k] - first[k]));
        }
        for (int k = 0; k < nv && far > u->motion_length; k++) {
            motion[k] = (rate[k] - first[k]) / far;
        }
        u->motion_length = fmax(u->motion_length, far);
    }
    u->motion = u->motion_length > 0.0 ? motion : NULL;
    return PERP_STATUS_OK;
}

/* Of answers that are not known to be all: has the first one's normal forces no other motion? With inertia no normal
 * forces have two accelerations: they solve a strictly convex problem. Without, `instant-qs` lists all velocities that
 * go with the forces where it looks for one solution only, as it does on round cones. */
static bool is_unique_at_its_forces(const analysis_point *point)
{
    const perp_instant_solution *first = &point->instant.solutions[0];
    bool round = false;
    for (int i = 0; i < first->contact_count; i++) {
        const perp_contact *c = &first->contacts[i].contact;
        round = round || (c->phi <= TOUCHING && c->friction > 0.0 && c->direction_count == 2);
    }
    return point->rung->inertia == PERP_RUNG_INERTIA_FULL ||
           (round && perp_rung_cone(point->rung, point->settings) == PERP_CONE_QUADRATIC);
}

static perp_status judge_instant(analysis_point *point, perp_error *error)
{
    const perp_run_result *instant = &point->instant;
    perp_uniqueness *u = &point->analysis->uniqueness;
    if (instant->solution_count == 0) {
        return perp_analysis_reason(point, -1, error, "without a solution there is nothing that could be unique");
    }
    const bool set = instant->solutions[0].vertex_count + instant->solutions[0].ray_count > 0;
    if (instant->solution_count > 1 || set) {
        u->verdict = PERP_VERDICT_NOT_UNIQUE;
        return put_other_rate(point, error);
    }
    if (!instant->partial) {
        u->verdict = PERP_VERDICT_UNIQUE;
        return PERP_STATUS_OK;
    }
    const bool at_these = is_unique_at_its_forces(point);
    u->verdict = at_these ? PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES : PERP_VERDICT_UNKNOWN;
    return perp_analysis_reason(point, -1, error, "%s: not all modes of the instant were tried%s",
                                perp_verdict_name(u->verdict),
                                at_these ? "; with these normal forces there is no other motion" : "");
}

perp_status perp_analyze_uniqueness(analysis_point *point, perp_error *error)
{
    if (point->rung->answer) {
        return judge_instant(point, error);
    }
    const perp_status status = perp_analysis_motions(point, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const char *why_none = point->motions.why_none;
    return why_none ? perp_analysis_reason(point, -1, error, "uniqueness is not decided: %s", why_none)
                    : judge_step(point, error);
}
