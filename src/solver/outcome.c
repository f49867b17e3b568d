#include <perp/solver.h>

const char *perp_outcome_name(perp_outcome outcome)
{
    static const char *const names[PERP_OUTCOME_COUNT] = {
        [PERP_OUTCOME_SOLVED] = "solved",
        [PERP_OUTCOME_RAY] = "ray",
        [PERP_OUTCOME_INFEASIBLE] = "infeasible",
        [PERP_OUTCOME_UNBOUNDED] = "unbounded",
        [PERP_OUTCOME_ITERATION_LIMIT] = "iteration-limit",
        [PERP_OUTCOME_ILL_CONDITIONED] = "ill-conditioned",
        [PERP_OUTCOME_CANCELLED] = "cancelled",
    };
    return (unsigned)outcome < PERP_OUTCOME_COUNT ? names[outcome] : "unknown";
}
