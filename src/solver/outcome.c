#include <perp/solver.h>

#include "solver/method.h"

#include <string.h>

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

perp_status perp_method_find(const char *(*name_of)(int), const char *name, int *found, perp_error *error)
{
    perp_nearest nearest = perp_nearest_begin(name);
    for (*found = 0; name_of(*found); (*found)++) {
        if (strcmp(name, name_of(*found)) == 0) {
            return PERP_STATUS_OK;
        }
        perp_nearest_offer(&nearest, name_of(*found));
    }
    return nearest.name ? perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no method '%s': did you mean '%s'?", name,
                                    nearest.name)
                        : perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no method '%s'", name);
}
