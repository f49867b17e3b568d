/* comparison.h - inside of a comparison.
 *
 * A spec says all that tells one run from another. A job is the run of a spec, on a scene of its own that shares with
 * the caller's all but what the spec changes; jobs do not know of each other and are made on threads. The first jobs
 * are the runs that were asked for; behind them stand those in search of causes, each spec once. */
#ifndef PERP_SRC_COMPARE_COMPARISON_H
#define PERP_SRC_COMPARE_COMPARISON_H

#include <perp/compare.h>

#include "base/arena.h"

typedef struct compare_spec {
    const perp_rung *rung;
    perp_run_settings settings; /* the steps are a number */
    double stiffness;           /* of contacts, as a multiple of the scene's */
    double inertia;             /* of masses, likewise; weights stay */
    bool sharp;                 /* friction of `compliant` without gamma */
    bool position;              /* joints on springs are under position control */
    bool forgetful;             /* every step begins at rest */
} compare_spec;

typedef enum column_kind {
    COLUMN_STATE,   /* goes from step to step on a line */
    COLUMN_STEP,    /* belongs to a step as a whole */
    COLUMN_ROTATION /* one of the four numbers of a rotation, which are `first` to `first` + 3 */
} column_kind;

typedef struct compare_column {
    const char *name;
    column_kind kind;
    int first;
} compare_column;

typedef struct compare_job {
    const struct perp_comparison_memory *memory;
    compare_spec spec;
    perp_arena arena;
    perp_scene scene;
    perp_model *model;
    perp_quantities *quantities; /* while it runs */
    bool has_state;
    perp_state state;
    perp_run_result result;
    perp_status status;
    perp_error error;
    int before;     /* steps before the run that is observed, where it is one step at a time */
    int rows;       /* states that were seen */
    double *values; /* rows x columns */
} compare_job;

struct perp_comparison_memory {
    perp_allocator allocator;
    perp_arena arena;
    perp_compare_options options;
    const perp_scene *scene;
    bool springs; /* some joint is under impedance control */
    int column_count;
    compare_column *columns;
    struct quantity *quantities; /* by column */
    int job_count, job_capacity;
    compare_job **jobs;
};
typedef struct perp_comparison_memory compare_memory;

/* ---- compare_spec.c ---- */

compare_spec perp_spec_of(const perp_scene *scene, const perp_rung *rung, double h, int steps);
bool perp_spec_same(const compare_spec *a, const compare_spec *b);
/* The friction cone in effect. */
perp_cone perp_spec_cone(const compare_spec *s);
/* Each removes an assumption, if it can: false leaves the spec as it was. `avoid`: a rung not to turn into. */
bool perp_spec_shorten(compare_spec *s);
bool perp_spec_without_layer(compare_spec *s, bool springs);
bool perp_spec_onto_cone(compare_spec *s, perp_cone cone, bool springs, const perp_rung *avoid);
bool perp_spec_without_inertia(compare_spec *s);
/* Nor does motion go on by itself: there is none of full inertia. */
bool perp_spec_without_momentum(compare_spec *s);
bool perp_spec_stiff(compare_spec *s);
bool perp_spec_without_smoothing(compare_spec *s, const perp_scene *scene);
/* How the second differs from the first, in words: "32 rays"; at most `size` with the zero. */
void perp_spec_describe(const compare_spec *from, const compare_spec *to, char *text, size_t size);
/* The scene of a spec; false: out of memory. */
bool perp_spec_scene(const compare_spec *s, const perp_scene *scene, perp_arena *arena, perp_scene *made);

/* ---- compare_jobs.c ---- */

/* The job of a spec, old or new; -1: out of memory. */
int perp_jobs_add(compare_memory *m, const compare_spec *spec);
/* -1: there is none. */
int perp_jobs_find(const compare_memory *m, const compare_spec *spec);
/* Runs jobs `from` and up on threads. OUT_OF_MEMORY, CANCELLED. */
perp_status perp_jobs_run(compare_memory *m, int from, perp_error *error);
void perp_jobs_free(compare_memory *m);

/* ---- compare_track.c ---- */

/* The steps of `h` that end at t or before it. */
int perp_track_step(double h, double t);
double perp_track_value(const compare_job *job, int column, double t);
/* Of a and b, at t; NaN where either is not defined. */
double perp_track_difference(const compare_job *a, const compare_job *b, int column, double t);

/* Times that a pair is compared at: 0, h, .. count h. */
typedef struct compare_times {
    double h;
    int count; /* -1: one of the runs has no state */
} compare_times;
compare_times perp_track_times(const compare_job *a, const compare_job *b);

typedef struct compare_most {
    double size;
    int column, step; /* of the times; column -1: there is no difference */
} compare_most;
compare_most perp_track_most(const compare_job *a, const compare_job *b, compare_times times);
/* The step of the times at which some column differs by more than `least` first; -1: none. */
int perp_track_parting(const compare_job *a, const compare_job *b, compare_times times, double least);
/* From the smallest to the largest of both runs, of one column. */
double perp_track_range(const compare_job *a, const compare_job *b, int column);
/* The first contact whose modes differ, into `d`. OUT_OF_MEMORY. */
perp_status perp_track_part(const compare_job *a, const compare_job *b, compare_times times, perp_difference *d,
                            perp_error *error);

/* ---- compare_tests.c ---- */

typedef struct compare_trial {
    perp_assumption assumption;
    compare_spec spec[2];
    bool whole;  /* the assumption as such is removed, not made smaller by the step */
    int jobs[2]; /* -1: it was not made */
} compare_trial;

enum { MOST_TRIALS = 12 };

typedef struct compare_pair {
    int runs[2];
    compare_spec own[2]; /* of the runs */
    compare_times times;
    compare_most most;
    bool agree;
    int trial_count;
    compare_trial trials[MOST_TRIALS];
    bool joins;
    compare_trial joined;     /* several assumptions at once */
    perp_compare_test *tests; /* of the trials, then of `joined` */
    /* Of a choice among answers. */
    bool choice_known;
    int chooser; /* 0 or 1: of the pair; -1: neither has the other's motion among its answers */
    double choice_t;
    perp_second_motion second;
} compare_pair;

/* The trials of a pair, without jobs. */
void perp_trials_list(const compare_memory *m, compare_pair *pair);
/* All that had a part in it, or else all, removed together, into `joined`; false: there are not two. */
bool perp_trials_join(compare_pair *pair);
/* What came of a trial that was run. */
perp_status perp_trial_judge(const compare_memory *m, compare_pair *pair, const compare_trial *trial,
                             perp_compare_test *test, perp_error *error);

/* ---- compare_choice.c ---- */

/* Solves the step in which the runs part again. OUT_OF_MEMORY, CANCELLED. */
perp_status perp_choice_test(const compare_memory *m, compare_pair *pair, perp_error *error);

/* ---- compare_cause.c ---- */

perp_status perp_cause_tell(compare_memory *m, const compare_pair *pair, perp_difference *d, perp_error *error);
/* "qs-qp", or with its step where that tells it from others. */
void perp_run_title(const compare_memory *m, int run, char *text, size_t size);

#endif
