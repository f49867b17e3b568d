/* judge_views.h - is an answer the only one, or chosen by chance? Two things that hold of every step whose answer is
 * chosen by the mechanics, and of others where `several` is counted:
 *
 * Views. From states along a run a few steps are taken again in the scene and in the same scene mirrored, turned (its
 * gravity too) and renumbered. They end alike. Both begin without a memory, so that a difference is one of the steps'
 * answers, not of rounding that has grown on the way; the second has the memory of the first.
 *
 * Steps. From such states a stretch is run with h and with h / 4. A step moves with the velocity at its end, which was
 * not that of all of its time: what is missed is at most h times the change of velocity, and the ends differ by a small
 * multiple of h times the spread of velocities within the stretch. A velocity that jumps to and fro, or that is another
 * one with every h, moves farther apart: by the stretch times the spread. */
#ifndef PERP_TESTS_QUALIFY_JUDGE_VIEWS_H
#define PERP_TESTS_QUALIFY_JUDGE_VIEWS_H

#include "scene_view.h"
#include "sweep.h"
#include "sweep_measure.h"

#include <perp/step.h>

/* Columns of a sweep's table, in this order. */
enum {
    JUDGE_VIEWS,         /* steps compared with a view's */
    JUDGE_VIEWS_OTHER,   /* the answers differ, and nothing says that there are several: failures */
    JUDGE_VIEWS_SEVERAL, /* they differ, and `several` was counted */
    JUDGE_VIEWS_MOST,    /* the largest difference of the former, of the scene's size or speed */
    JUDGE_STEPS,         /* stretches compared with h / 4, and as above; on convex rungs counted only */
    JUDGE_STEPS_OTHER,
    JUDGE_STEPS_SEVERAL,
    JUDGE_STEPS_MOST, /* over h times the spread of velocities */
    JUDGE_COLUMN_COUNT
};
#define JUDGE_COLUMNS                                                                                                  \
    {"views", false}, {"views differ", false}, {"views differ, several", false}, {"view's difference", true},          \
        {"h/4", false}, {"h/4 differs", false}, {"h/4 differs, several", false},                                       \
    {                                                                                                                  \
        "h/4's difference / h", true                                                                                   \
    }

enum { JUDGE_MOST_VIEWS = 3, JUDGE_MOST_STATES = 64 };

typedef struct judge_views {
    /* by the sweep */
    const perp_model *model;
    const perp_rung *rung;
    const perp_run_settings *settings;
    double length; /* m: the scene's size */
    bool dynamic;  /* velocities are compared too */
    sweep_case *result;
    double *row; /* the table's, at JUDGE_VIEWS */
    /* kept by judge_views_keep: where steps are taken again, and where stretches begin */
    int state_count;
    perp_state states[JUDGE_MOST_STATES];
    bool stretch[JUDGE_MOST_STATES];
} judge_views;

/* Keeps a state from which steps, or (`stretch`) also the stretch with h / 4, are judged; beyond the capacity none. */
void judge_views_keep(judge_views *j, const perp_state *state, bool stretch);
/* Judges from all of them, with the first `views` of: mirrored, turned, renumbered; 0: nothing. */
void judge_views_run(judge_views *j, int views);
void judge_views_close(judge_views *j);

#endif
