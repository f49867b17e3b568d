/* analyze_state.h - one analysis of a scene on the command line, and of the same scene with other values. */
#ifndef PERP_CLI_ANALYZE_STATE_H
#define PERP_CLI_ANALYZE_STATE_H

#include "cli.h"

typedef struct analyze_state {
    perp_scene *scene;
    perp_model *model;
    perp_sim *sim;
    perp_analysis *analysis; /* NULL: there is none */
    perp_diagnostics diagnostics;
    perp_error error; /* why there is none */
} analyze_state;

/* The scene with `settings`, at its state at time `at`, or at that of `from` where it is not NULL. To be closed
 * whatever it returns. */
perp_status cli_analyze_open(const cli_arguments *arguments, const cli_settings *settings, double at,
                             const analyze_state *from, unsigned certificates, analyze_state *out);
void cli_analyze_close(analyze_state *state);

/* analyze_threshold.c: `perp analyze --threshold`. */
typedef struct cli_threshold {
    const char *of;      /* "mu", or a path */
    const char *verdict; /* which one; NULL: all */
    double from, to;
} cli_threshold;

/* Reads --threshold, --range and --verdict; `of` is NULL where there is none. */
int cli_threshold_usage(const cli_arguments *arguments, cli_threshold *threshold);
/* Where verdicts flip, as JSON (to be freed) or, with `text` NULL, as lines on stdout. `state` is that of the scene. */
perp_status cli_threshold_find(const cli_arguments *arguments, const cli_threshold *threshold, double at,
                               const analyze_state *state, char **text, perp_error *error);

#endif
