/* Has the step, or the instant, an answer? It has where one was found that meets the law. That it has none is said
 * where there is a proof only: multipliers (Farkas) or a complete search, which the steps themselves give as typed
 * failures. */
#include "analysis/analysis_point.h"

#include <string.h>

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

static perp_status of_step(analysis_point *point, perp_error *error)
{
    perp_existence *e = &point->analysis->existence;
    if (point->stepped == PERP_STATUS_OK) {
        e->verdict = PERP_VERDICT_EXISTS;
        return PERP_STATUS_OK;
    }
    if (perp_analysis_proves_none(&point->why_not)) {
        *e = (perp_existence){.verdict = PERP_VERDICT_NONE, .solutions = 0, .complete = true};
        return perp_analysis_reason(point, -1, error, "no solution: %s", point->why_not.message);
    }
    return perp_analysis_reason(point, -1, error, "the step was not solved, which proves nothing: %s",
                                point->why_not.message);
}

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
