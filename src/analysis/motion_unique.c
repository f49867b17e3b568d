#include "analysis/motion_unique.h"

#include "analysis/motion_only.h"
#include "analysis/motion_ways.h"
#include "analysis/tolerances.h"
#include "linalg/vector.h"

#include <string.h>

typedef struct judge {
    const motion_problem *p;
    const motion_searcher *by;
    perp_arena *arena;
    double *u;       /* scratch */
    double distance; /* L: what forces of F move the island by in a step, at most L: motions are told apart in it */
} judge;

static perp_status out_of_memory(perp_error *error)
{
    return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
}

/* ---- ways from the answer ---------------------------------------------------------------------------------------- */

typedef void way_builder(const motion_problem *p, const motion_point *point, double zero, way_rows *rows);

static perp_status decide(const judge *j, way_builder *build, double zero, motion_ways *ways, perp_error *error)
{
    way_rows rows = {.arena = j->arena, .n = j->p->n};
    build(j->p, &j->p->answer, zero, &rows);
    return perp_ways_decide(&rows, ways, error);
}

/* How far (of L) the answer can be moved along the direction (largest entry 1) with the same forces and still meets the
 * law; 0: not far enough to be told from it. */
static double follow(const judge *j, const double *direction, double sign, double *x, double *residual)
{
    enum { HALVINGS = 17 };
    const motion_problem *p = j->p;
    motion_point second = p->answer;
    const double before = perp_motion_residual(p, &p->answer, j->u);
    second.x = x;
    double way = 1.0;
    for (int i = 0; i < HALVINGS; i++, way *= 0.5) {
        for (int k = 0; k < p->n; k++) {
            x[k] = p->answer.x[k] + sign * way * direction[k];
        }
        *residual = perp_motion_residual(p, &second, j->u);
        if (*residual <= SECOND_ANSWER && *residual <= before + SECOND_SLOPE * way) {
            return way;
        }
    }
    return 0.0;
}

/* A direction counts where another answer lies along it. */
static perp_status prove_second(const judge *j, double *direction, island_verdict *v, perp_error *error)
{
    const motion_problem *p = j->p;
    const double largest = perp_vector_largest(p->n, direction);
    double *there = PERP_ARENA_NEW(j->arena, double, (size_t)p->n), residual[2];
    double *here = PERP_ARENA_NEW(j->arena, double, (size_t)p->n);
    if (!there || !here) {
        return out_of_memory(error);
    }
    for (int k = 0; k < p->n; k++) {
        direction[k] /= largest;
    }
    const double forth = follow(j, direction, 1.0, there, &residual[0]);
    const double back = follow(j, direction, -1.0, here, &residual[1]);
    const bool forwards = forth > 0.0 || back == 0.0;
    for (int k = 0; k < p->n; k++) {
        direction[k] = forwards ? direction[k] : -direction[k];
    }
    v->length = forwards ? forth : back;
    v->verdict = v->length >= SECOND_LEAST ? PERP_VERDICT_NOT_UNIQUE : PERP_VERDICT_BORDERLINE;
    v->why = v->verdict == PERP_VERDICT_NOT_UNIQUE
                 ? "a motion that costs nothing leads from the answer to another one, with the same forces"
                 : "a motion that might cost nothing leads to no other answer that can be told from this one";
    v->both_ways = fmin(forth, back) >= SECOND_LEAST;
    v->direction = direction;
    v->margin = v->length;
    v->second = p->answer;
    v->second.x = forwards ? there : here;
    v->second_residual = residual[forwards ? 0 : 1];
    return PERP_STATUS_OK;
}

/* On a round cone a way along the border of all motions may leave them at once. */
static perp_status look_inwards(const judge *j, island_verdict *v, perp_error *error)
{
    way_rows rows = {.arena = j->arena, .n = j->p->n};
    double *direction = PERP_ARENA_NEW(j->arena, double, (size_t)j->p->n);
    bool found = false;
    perp_ways_of_law(j->p, &j->p->answer, COUNTS_AS_NONE, &rows);
    if (!direction) {
        return out_of_memory(error);
    }
    const perp_status status = perp_ways_inwards(&rows, direction, &found, error);
    return status == PERP_STATUS_OK && found && perp_vector_largest(j->p->n, direction) > 0.0
               ? prove_second(j, direction, v, error)
               : status;
}

/* Mostly no number lies between the two, and both ask the same. */
static perp_status decide_both(const judge *j, motion_ways *ways, motion_ways *wider, perp_error *error)
{
    way_rows rows = {.arena = j->arena, .n = j->p->n}, other = rows;
    perp_ways_of_law(j->p, &j->p->answer, COUNTS_AS_NONE, &rows);
    perp_ways_of_law(j->p, &j->p->answer, MIGHT_BE_NONE, &other);
    const size_t count = (size_t)rows.count;
    const bool same = !rows.failed && !other.failed && rows.count == other.count &&
                      (count == 0 || (memcmp(rows.rows, other.rows, count * (size_t)rows.n * sizeof *rows.rows) == 0 &&
                                      memcmp(rows.equation, other.equation, count * sizeof *rows.equation) == 0));
    const perp_status status = perp_ways_decide(&rows, ways, error);
    *wider = *ways;
    return status == PERP_STATUS_OK && !same ? perp_ways_decide(&other, wider, error) : status;
}

static perp_status look_around(const judge *j, island_verdict *v, perp_error *error)
{
    motion_ways ways, wider;
    perp_status status = decide_both(j, &ways, &wider, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    const bool one = ways.verdict == WAYS_NONE, one_too = wider.verdict == WAYS_NONE;
    if (ways.verdict == WAYS_UNSURE || wider.verdict == WAYS_UNSURE || one != one_too) {
        v->verdict = PERP_VERDICT_BORDERLINE;
        v->why = "forces, gaps or slips of 1e-8 to 1e-6 of their units decide whether the answer can be moved";
        return PERP_STATUS_OK;
    }
    if (!one) {
        status = prove_second(j, ways.direction, v, error);
        return status == PERP_STATUS_OK && v->verdict == PERP_VERDICT_BORDERLINE ? look_inwards(j, v, error) : status;
    }
    v->verdict = PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES;
    v->why =
        "with these normal forces no motion can be added; other normal forces, with another motion, are not excluded";
    v->margin = fmin(ways.margin, wider.margin);
    return PERP_STATUS_OK;
}

/* ---- other normal forces ----------------------------------------------------------------------------------------- */

static double distance(const motion_problem *p, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < p->n; k++) {
        most = fmax(most, fabs(x[k] - p->answer.x[k]));
    }
    return most;
}

static perp_status take_second(const judge *j, const motion_point *second, island_verdict *v, perp_error *error)
{
    const motion_problem *p = j->p;
    double *direction = PERP_ARENA_NEW(j->arena, double, (size_t)p->n);
    if (!direction) {
        return out_of_memory(error);
    }
    const double length = distance(p, second->x);
    for (int k = 0; k < p->n; k++) {
        direction[k] = (second->x[k] - p->answer.x[k]) / length;
    }
    *v = (island_verdict){.verdict = PERP_VERDICT_NOT_UNIQUE,
                          .printed = v->printed,
                          .margin = fmin(1.0, length / j->distance),
                          .why = "other modes of the contacts, with other forces, are an answer too",
                          .direction = direction,
                          .length = length,
                          .second = *second,
                          .second_residual = perp_motion_residual(p, second, j->u)};
    return PERP_STATUS_OK;
}

/* Can no answer have other normal forces? Then what is true of the ways from this one is true of all. */
static perp_status look_at_normals(const judge *j, island_verdict *v, perp_error *error)
{
    bool known;
    const perp_status status = perp_motion_normals_are_known(j->p, j->by, SAME_NORMALS, &known, error);
    if (status == PERP_STATUS_OK && known) {
        v->verdict = PERP_VERDICT_UNIQUE;
        v->why = "no answer can have other normal forces, and with these no motion can be added";
    }
    return status;
}

/* What all answers say beyond the ways from one of them. */
static perp_status look_at_all(const judge *j, motion_answers *all, island_verdict *v, perp_error *error)
{
    const bool proof_first = !all->looked && v->verdict == PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES;
    perp_status status = proof_first ? look_at_normals(j, v, error) : PERP_STATUS_OK;
    if (status == PERP_STATUS_OK && !all->looked && v->verdict != PERP_VERDICT_UNIQUE) {
        status = perp_motion_answers(j->p, j->by, all, error);
    }
    if (status != PERP_STATUS_OK || v->verdict == PERP_VERDICT_UNIQUE) {
        return status;
    }
    int farthest = -1;
    double most = 0.0;
    for (int i = 0; i < all->count; i++) {
        const double far = distance(j->p, all->points[i].x);
        farthest = far > most ? i : farthest;
        most = fmax(most, far);
    }
    if (most > SECOND_LEAST * j->distance) {
        return take_second(j, &all->points[farthest], v, error);
    }
    if (v->verdict != PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES) {
        return PERP_STATUS_OK;
    }
    if (all->search == SEARCH_COMPLETE && all->count == 1 && !all->continuum) {
        v->verdict = most <= SAME_ANSWER * j->distance ? PERP_VERDICT_UNIQUE : PERP_VERDICT_BORDERLINE;
        v->why = "all modes of the contacts were tried, and leave this answer";
        return PERP_STATUS_OK;
    }
    status = proof_first ? status : look_at_normals(j, v, error);
    if (status != PERP_STATUS_OK || v->verdict == PERP_VERDICT_UNIQUE) {
        return status;
    }
    bool only;
    const double size = fmax(j->distance, perp_vector_largest(j->p->n, j->p->answer.x));
    status = perp_motion_is_only(j->p, j->by, NEAR_ANSWER * size, &only, error);
    if (status == PERP_STATUS_OK && only) {
        v->verdict = PERP_VERDICT_UNIQUE;
        v->why = "all modes of the contacts were tried, with slips in all directions, and leave this answer";
    }
    return status;
}

/* ---- the printed proposition ------------------------------------------------------------------------------------- */

static bool has_springs(const motion_problem *p)
{
    bool any = false;
    for (int i = 0; i < p->n * p->n; i++) {
        any = any || p->A[i] != 0.0;
    }
    return any;
}

/* Proposition 1 is about position-controlled bodies on the quadratic cone. */
static perp_status compare_printed(const judge *j, island_verdict *v, perp_error *error)
{
    const motion_problem *p = j->p;
    if (!j->by->printed || p->law != MOTION_COULOMB || p->wide.count > 0 || has_springs(p) || p->equation_count > 0) {
        return PERP_STATUS_OK;
    }
    motion_ways ways;
    const perp_status status = decide(j, perp_ways_as_printed, COUNTS_AS_NONE, &ways, error);
    v->printed = ways.verdict == WAYS_NONE     ? PERP_VERDICT_UNIQUE
                 : ways.verdict == WAYS_UNSURE ? PERP_VERDICT_UNKNOWN
                                               : PERP_VERDICT_NOT_UNIQUE;
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Springs that stand at their effort do not pull back; moved away from there they do, which a motion that is to be an
 * answer has to take notice of. */
static bool rests_on_efforts(const judge *j, const island_verdict *v)
{
    return v->verdict == PERP_VERDICT_NOT_UNIQUE && perp_springs_are_limited(j->by->step);
}

perp_status perp_motion_judge(const motion_problem *p, const motion_searcher *by, motion_answers *answers,
                              island_verdict *v, perp_error *error)
{
    judge j = {.p = p, .by = by, .arena = by->arena, .distance = 1.0};
    *v = (island_verdict){.verdict = PERP_VERDICT_UNKNOWN};
    j.u = PERP_ARENA_NEW(by->arena, double, (size_t)p->row_count);
    if (!j.u) {
        return out_of_memory(error);
    }
    for (int k = 0; k < p->n; k++) {
        j.distance = fmin(j.distance, 1.0 / fmax(1.0, p->A[(ptrdiff_t)k * (p->n + 1)]));
    }
    perp_status status = look_around(&j, v, error);
    const bool convex = perp_motion_is_convex(p);
    if (status == PERP_STATUS_OK && convex && v->verdict == PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES) {
        v->verdict = PERP_VERDICT_UNIQUE;
        v->why = p->law == MOTION_COULOMB ? "without friction the step is a convex problem, and no motion can be added"
                                          : "the step is a convex problem, and no motion can be added";
    } else if (status == PERP_STATUS_OK && !convex && v->verdict != PERP_VERDICT_NOT_UNIQUE) {
        status = look_at_all(&j, answers, v, error);
    }
    if (status == PERP_STATUS_OK && rests_on_efforts(&j, v)) {
        *v = (island_verdict){.verdict = PERP_VERDICT_UNKNOWN,
                              .why = "springs with an `effort` change their force where another motion was looked for"};
    }
    return status == PERP_STATUS_OK ? compare_printed(&j, v, error) : status;
}
