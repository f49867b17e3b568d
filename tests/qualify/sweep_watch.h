/* sweep_watch.h - a run of random scenes watched: every step held against what its rung promises, every stop against
 * the judge.
 *
 * Shared by the sweeps of quasistatic, dynamic and compliant rungs, whose files say what they check besides. A sweep's
 * own struct begins with a sweep_watch; the table's first columns are WATCH_COLUMNS. */
#ifndef PERP_TESTS_QUALIFY_SWEEP_WATCH_H
#define PERP_TESTS_QUALIFY_SWEEP_WATCH_H

#include "quasistatic_judge.h"
#include "quasistatic_law.h"
#include "record_judge.h"
#include "sweep.h"
#include "sweep_measure.h"

/* run.tolerance's default: what a rung promises of its own law. */
static const double WATCH_TOLERANCE = 1e-8;

enum {
    WATCH_RUNS,
    WATCH_COMPLETED,
    WATCH_UNSUPPORTED,
    WATCH_INFEASIBLE,
    WATCH_NO_EQUILIBRIUM,
    WATCH_WEDGED,
    WATCH_TOLERANCE_MISSED,
    WATCH_NOT_CONVERGED,
    WATCH_OTHER,
    WATCH_CLOSE,
    WATCH_STEPS,
    WATCH_LOOSE,
    WATCH_SECOND,
    WATCH_UNMATCHED,
    WATCH_BALANCE,
    WATCH_COMPLEMENTARITY,
    WATCH_CONE,
    WATCH_LAW,
    WATCH_PENETRATION,
    WATCH_OWN /* the sweep's own columns begin here */
};
/* The head of a table, up to the name of the column that measures penetration. */
#define WATCH_COLUMNS(penetration)                                                                                     \
    {"runs", false}, {"completed", false}, {"unsupported-body", false}, {"infeasible", false},                         \
        {"no-equilibrium", false}, {"wedged", false}, {"tolerance", false}, {"not-converged", false},                  \
        {"other stops", false}, {"claims not judged", false}, {"steps", false}, {"loose", false},                      \
        {"second method", false}, {"law not looked at", false}, {"balance", true}, {"complementarity", true},          \
        {"cone", true}, {"law, judged", true},                                                                         \
    {                                                                                                                  \
        penetration, true                                                                                              \
    }

typedef struct sweep_watch sweep_watch;
struct sweep_watch {
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    sweep_case *result;
    double *row; /* of the table */
    /* By the sweep: with full inertia. Nothing needs support, and in an impact a contact's force is the unit that its
     * own rounding is of. */
    bool dynamic;
    /* By the sweep: proves `no-equilibrium`, from the step's begin. */
    quasistatic_finding (*judge_jam)(sweep_watch *w, const perp_state *state);

    quasistatic_view view;
    record_judge *records;
    double *q, *v; /* nq, nv: at the last step's end, by watch_remember */
    double t;
    perp_run_result run; /* by watch_run */
};

/* `memory`; ends the program where it is NULL. */
void *watch_need(void *memory);
/* The borrowed things must last. */
void watch_open(sweep_watch *w, const perp_model *model, const perp_rung *rung, const perp_run_settings *settings);
void watch_close(sweep_watch *w);

/* The run, with its counts in the row, and its stop, if it has one, judged: case `index` of the sweep. */
perp_status watch_run(sweep_watch *w, perp_observer *observer, void *context, int index);

/* By observers, of every step and the initial state: what is reported is what the states say (record_judge.h), in the
 * first steps and every tenth. */
void watch_reported(sweep_watch *w, int step, const perp_state *state, const perp_step_info *info);

/* ---- by observers, of a completed step ---- */

void watch_remember(sweep_watch *w, const perp_state *state);
/* Numbers are numbers, residuals below the tolerance, forces in their cones. */
void watch_records(const sweep_watch *w, const perp_state *state, const perp_step_info *info);
/* No contact deeper than `most`, m, but of two bodies that commands drive into each other. */
void watch_penetration(const sweep_watch *w, const perp_state *state, const perp_step_info *info, double most);
/* Forces and torques, gaps, cones and friction's direction by quasistatic_law.h; w->view is that of the step's begin,
 * w->q and w->t. */
void watch_law(sweep_watch *w, const perp_state *state, const perp_step_info *info);

#endif
