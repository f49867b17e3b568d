/* What existence and uniqueness of a step share: its islands, and the search for all answers of each. */
#include "analysis/analysis_point.h"
#include "sim/sim.h"

motion_searcher perp_analysis_searcher(analysis_point *point, int island, perp_arena *arena)
{
    return (motion_searcher){.step = point->motions.step,
                             .island = island,
                             .work = point->options.work / (point->motions.count > 0 ? point->motions.count : 1),
                             .printed = !point->options.verdicts_only,
                             .arena = arena,
                             .cancel = point->options.cancel};
}

/* NULL: the step can be looked at. */
static const char *why_not(const analysis_point *point)
{
    const perp_rung *rung = point->rung;
    if (!rung->law || !rung->step) {
        return "the rung has no contact forces, and nothing to be unique";
    }
    if (point->stepped != PERP_STATUS_OK) {
        return "without a solution there is nothing that could be unique";
    }
    const contact_step *step = point->next->step.workspace;
    if (step->law->own_contacts) {
        return "the contacts of `compliant` are springs whose lengths depend on the pose at the step's end: that is no "
               "problem of which all answers can be told";
    }
    if (perp_motion_has_ellipsoid(step)) {
        return PERP_MOTION_ELLIPSOID;
    }
    return step->split ? "the step was split (run.substep_tolerance): each of its parts has a problem of its own"
                       : NULL;
}

perp_status perp_analysis_motions(analysis_point *point, perp_error *error)
{
    analysis_motions *m = &point->motions;
    if (m->made) {
        return PERP_STATUS_OK;
    }
    m->made = true;
    m->why_none = why_not(point);
    if (m->why_none) {
        return PERP_STATUS_OK;
    }
    m->step = point->next->step.workspace;
    perp_status status = perp_motion_problems(m->step, &m->arena, &m->problems, &m->count, error);
    m->answers = status == PERP_STATUS_OK ? PERP_ARENA_NEW(&m->arena, motion_answers, (size_t)m->count) : NULL;
    if (status == PERP_STATUS_OK && !m->answers) {
        status = perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an analysis");
    }
    for (int i = 0; i < m->count && status == PERP_STATUS_OK && !point->options.verdicts_only; i++) {
        const motion_searcher by = perp_analysis_searcher(point, i, &m->arena);
        status = perp_motion_answers(&m->problems[i], &by, &m->answers[i], error);
    }
    return status;
}
