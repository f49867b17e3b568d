#include "step/common/trust.h"

#include <stdio.h>
#include <string.h>

const char *perp_verdict_name(perp_verdict verdict)
{
    static const char *const names[] = {
        [PERP_VERDICT_UNKNOWN] = "unknown",
        [PERP_VERDICT_EXISTS] = "exists",
        [PERP_VERDICT_NONE] = "none",
        [PERP_VERDICT_UNIQUE] = "unique",
        [PERP_VERDICT_UNIQUE_AT_THESE_NORMAL_FORCES] = "unique-at-these-normal-forces",
        [PERP_VERDICT_NOT_UNIQUE] = "not-unique",
        [PERP_VERDICT_BORDERLINE] = "borderline",
        [PERP_VERDICT_VALID] = "valid",
        [PERP_VERDICT_INVALID] = "invalid",
        [PERP_VERDICT_NO_CONTACT] = "no-contact",
    };
    return names[verdict];
}

/* The first reason about this; reasons say in their first word what they are about. */
static const char *find_reason(const perp_step_trust *trust, const char *about)
{
    for (int i = 0; i < trust->reason_count; i++) {
        if (strncmp(trust->reasons[i], about, strlen(about)) == 0) {
            return trust->reasons[i];
        }
    }
    return "";
}

static void note_first(perp_trust_first *first, int step, double t, const perp_step_trust *trust, const char *about)
{
    enum { MOST = sizeof first->contacts / sizeof *first->contacts };
    if (first->met) {
        return;
    }
    *first = (perp_trust_first){.met = true, .step = step, .t = t, .from = trust->from};
    for (int i = 0; i < trust->contact_count && i < MOST; i++) {
        snprintf(first->contacts[first->contact_count++], sizeof *first->contacts, "%s", trust->contacts[i]);
    }
    snprintf(first->reason, sizeof first->reason, "%s", find_reason(trust, about));
}

void perp_trust_count(perp_trust_summary *summary, int step, double t, const perp_step_trust *trust)
{
    if (!trust) {
        return;
    }
    summary->steps++;
    summary->existence[trust->existence]++;
    summary->uniqueness[trust->uniqueness]++;
    summary->rigidity[trust->rigidity]++;
    if (trust->uniqueness == PERP_VERDICT_NOT_UNIQUE) {
        note_first(&summary->not_unique, step, t, trust, perp_verdict_name(PERP_VERDICT_NOT_UNIQUE));
    }
    if (trust->rigidity == PERP_VERDICT_INVALID) {
        note_first(&summary->invalid, step, t, trust, "rigidity:");
    }
}
