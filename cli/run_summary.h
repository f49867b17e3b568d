/* run_summary.h - what `perp run` says of a run in words. */
#ifndef PERP_CLI_RUN_SUMMARY_H
#define PERP_CLI_RUN_SUMMARY_H

#include "cli.h"

/* The deepest contact at the end of a step, of equal ones the first. */
typedef struct deepest_contact {
    double phi; /* m; 0: nothing overlapped */
    int a, b;   /* bodies */
    double t;
} deepest_contact;

/* The largest normal force at the end of a step, of equal ones the first. */
typedef struct largest_force {
    double fn; /* N; 0: there was none */
    int a, b;  /* bodies */
    double t;
} largest_force;

/* The highest that convex friction lifted what slides, of equal ones the first. */
typedef struct highest_lift {
    perp_lift lift;
    double t;
} highest_lift;

typedef struct run_highlights {
    deepest_contact deepest;
    largest_force largest;
    highest_lift highest;
} run_highlights;

/* `done`: the run came to its end, so that having no solution is its answer. */
void cli_print_run(const perp_model *model, const perp_state *state, const perp_run_result *result,
                   const run_highlights *seen, bool done);

#endif
