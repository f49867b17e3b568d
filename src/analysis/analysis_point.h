/* analysis_point.h - the state that is analysed, and what all certificates of it share.
 *
 * `next` has taken the step from that state, where there is one: a clone of the simulation that is analysed, or the run
 * itself that is certified step by step. `model` has what steers that simulation. Results live in `arena` until the
 * analysis is freed. */
#ifndef PERP_SRC_ANALYSIS_ANALYSIS_POINT_H
#define PERP_SRC_ANALYSIS_ANALYSIS_POINT_H

#include <perp/analysis.h>

#include "analysis/motion_answers.h"
#include "base/arena.h"

/* The step that was taken, as problems of its islands, and their answers where all can be found. */
typedef struct analysis_motions {
    bool made;
    perp_arena arena;
    contact_step *step;
    const char *why_none; /* NULL: there are `count` islands */
    int count;
    motion_problem *problems;
    motion_answers *answers;
} analysis_motions;

typedef struct analysis_point {
    perp_analyze_options options;
    perp_allocator allocator;
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    const perp_state *state;
    perp_kinematics *kinematics; /* at the state */
    perp_contact_model *contact_model;
    perp_contact_set *set; /* at the state */
    const perp_sim *next;  /* after the step; where it failed, or on rungs without steps, as the state is */
    bool by_hand;          /* what steered that step, or the state, is not known any more */
    perp_status stepped;   /* what became of the step; UNAVAILABLE: the rung has no steps */
    perp_error why_not;    /* of a step that failed */
    /* Of a rung that answers about an instant: its answers; else zero. */
    perp_run_result instant;
    bool cut;            /* a search ended before it had decided, as it had no more work: a longer one might */
    perp_sim *answering; /* of the rung `instant`, kept for many states; NULL: there is one state only */
    perp_arena *arena;
    perp_analysis *analysis; /* that is being filled */
    int reason_capacity;
    analysis_motions motions; /* of perp_analysis_motions */
} analysis_point;

/* Makes what is needed at any state of a run; point->options is set, all else zero. Closing is due whatever this
 * returns. `model` and `settings` are borrowed. */
perp_status perp_analysis_open(analysis_point *point, const perp_model *model, const perp_run_settings *settings,
                               const perp_allocator *allocator, perp_error *error);
void perp_analysis_close(analysis_point *point);
/* The analysis of point->state; `state`, `next`, `stepped`, `why_not` and `instant` are set. `info` has the contacts of
 * the step or of the first answer. */
perp_status perp_analysis_make(analysis_point *point, const perp_step_info *info, perp_analysis **analysis,
                               perp_error *error);

/* Each fills its part of point->analysis, which is zero before, and leaves a verdict UNKNOWN with a reason where it
 * cannot decide. They fail with OUT_OF_MEMORY or CANCELLED only. */
perp_status perp_analyze_existence(analysis_point *point, perp_error *error);
perp_status perp_analyze_uniqueness(analysis_point *point, perp_error *error);
perp_status perp_analyze_rigidity(analysis_point *point, perp_error *error);
perp_status perp_analyze_closure(analysis_point *point, perp_error *error);

/* Is a step that failed so proven to have no answer? */
bool perp_analysis_proves_none(const perp_error *error);
/* The run's settings as another rung takes them. */
perp_run_settings perp_analysis_settings(const analysis_point *point, const char *name);
/* Answers of the rung `name` ("instant", "instant-qs") at the state; the result is to be freed. */
perp_status perp_analysis_instant(const analysis_point *point, const char *name, perp_run_result *result,
                                  perp_error *error);
/* Fills point->motions, the first time. OUT_OF_MEMORY, CANCELLED. */
perp_status perp_analysis_motions(analysis_point *point, perp_error *error);
motion_searcher perp_analysis_searcher(analysis_point *point, int island, perp_arena *arena);
/* A sentence on a contact of the analysis, or on a verdict (-1). */
perp_status perp_analysis_reason(analysis_point *point, int contact, perp_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Zeroed memory that lasts as long as the analysis; NULL without memory. */
#define ANALYSIS_NEW(point, type, count) PERP_ARENA_NEW((point)->arena, type, (size_t)(count))

#endif
