/* run_summary.h - what `perp run` says of a run in words. */
#ifndef PERP_CLI_RUN_SUMMARY_H
#define PERP_CLI_RUN_SUMMARY_H

#include "cli.h"

/* A contact at the end of a step; of equal ones the first. */
typedef struct contact_highlight {
    double size; /* of the gap, m, or of the force, N; 0: there is none */
    int a, b;    /* bodies */
    double t;
} contact_highlight;

/* The highest that convex friction lifted what slides, of equal ones the first. */
typedef struct highest_lift {
    perp_lift lift;
    double t;
} highest_lift;

typedef struct run_highlights {
    contact_highlight deepest; /* the least gap below 0 */
    contact_highlight largest; /* normal force */
    highest_lift highest;
} run_highlights;

/* `done`: the run came to its end, so that having no solution is its answer. */
void cli_print_run(const perp_model *model, const perp_state *state, const perp_run_result *result,
                   const run_highlights *seen, bool done);

#endif
