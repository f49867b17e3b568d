/* Has the step, or the instant, an answer? It has where one was found that meets the law. That it has none is said
 * where there is a proof only: multipliers (Farkas) or a complete search, which the steps themselves give as typed
 * failures. */
#include "analysis/analysis_point.h"

#include <string.h>

enum { COUNTED_MOST = 1000000 };

/* Codes of failures that are proofs (src/step/common/contact_step_error.c, src/step/rigid/rigid_step_modes.c). Bodies
 * that overlap at the start are refused by their depth alone, which says nothing of an answer. */
bool perp_analysis_proves_none(const perp_error *error)
{
    static const char *const proofs[] = {"unsupported-body", "no-equilibrium", "infeasible-command"};
    bool found = false;
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs && error->status == PERP_STATUS_INFEASIBLE; i++) {
        found = found || (error->code && strcmp(error->code, proofs[i]) == 0);
    }
    return found;
}

/* Islands do not know of each other: every answer of one goes with every answer of another. */
static perp_status count_answers(analysis_point *point, perp_error *error)
{
    perp_existence *e = &point->analysis->existence;
    const analysis_motions *m = &point->motions;
    const perp_status status = perp_analysis_motions(point, error);
    if (status != PERP_STATUS_OK || m->why_none) {
        return status;
    }
    double product = 1.0;
    bool complete = true, sets = false;
    for (int i = 0; i < m->count; i++) {
        const motion_answers *a = &m->answers[i];
        const bool convex = perp_motion_is_convex(&m->problems[i]);
        complete = complete && (convex || (a->search == SEARCH_COMPLETE && a->count > 0));
        product *= a->count > 0 ? a->count : 1;
        sets = sets || a->continuum;
    }
    e->complete = complete && product <= COUNTED_MOST;
    e->solutions = e->complete ? (int)product : -1;
    return e->complete && sets
               ? perp_analysis_reason(point, -1, error, "motions that go over into each other count as one solution")
               : PERP_STATUS_OK;
}

static perp_status of_step(analysis_point *point, perp_error *error)
{
    perp_existence *e = &point->analysis->existence;
    if (point->stepped == PERP_STATUS_OK) {
        e->verdict = PERP_VERDICT_EXISTS;
        return count_answers(point, error);
    }
    if (perp_analysis_proves_none(&point->why_not)) {
        *e = (perp_existence){.verdict = PERP_VERDICT_NONE, .solutions = 0, .complete = true};
        return perp_analysis_reason(point, -1, error, "no solution: %s", point->why_not.message);
    }
    return perp_analysis_reason(point, -1, error, "the step was not solved, which proves nothing: %s",
                                point->why_not.message);
}

/* ---- instants ---------------------------------------------------------------------------------------------------- */

static perp_status of_instant(analysis_point *point, perp_error *error)
{
    const perp_run_result *instant = &point->instant;
    perp_existence *e = &point->analysis->existence;
    e->solutions = instant->solution_count;
    e->complete = !instant->partial;
    if (instant->solution_count > 0) {
        e->verdict = PERP_VERDICT_EXISTS;
    } else if (e->complete) {
        e->verdict = PERP_VERDICT_NONE;
        return perp_analysis_reason(point, -1, error, "no solution%s%s",
                                    instant->why_none[0] ? ": " : ": all modes of the contacts were tried",
                                    instant->why_none);
    }
    return instant->left_out[0] ? perp_analysis_reason(point, -1, error, "%s", instant->left_out) : PERP_STATUS_OK;
}

perp_status perp_analyze_existence(analysis_point *point, perp_error *error)
{
    if (point->rung->step) {
        return of_step(point, error);
    }
    return point->rung->answer ? of_instant(point, error)
                               : perp_analysis_reason(point, -1, error, "`%s` only looks: there is nothing to solve",
                                                      point->rung->name);
}
