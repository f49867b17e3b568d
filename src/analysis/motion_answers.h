/* motion_answers.h - all answers of an island of a step, where the law is Coulomb's on polygons or intervals, or
 * without friction: then the modes of its contacts and limits leave a linear problem each, and all are tried
 * (instant_cells.h).
 *
 * On the round cone in space no list of modes is complete. There it is asked only what all answers have in common:
 * their forces balance the load within their cones, and contacts and limits do no work beyond what the commands do.
 * Where that leaves one value for every normal force, what is true at the normal forces of one answer is true of all.
 */
#ifndef PERP_SRC_ANALYSIS_MOTION_ANSWERS_H
#define PERP_SRC_ANALYSIS_MOTION_ANSWERS_H

#include "analysis/motion_problem.h"
#include "step/instant/instant_sets.h"

typedef enum motion_search {
    SEARCH_NOT_TRIED, /* another law, a round cone in space, springs with an effort, or too many contacts */
    SEARCH_CUT,       /* it took too much work, or rounding decides: there may be others */
    SEARCH_COMPLETE
} motion_search;

typedef struct motion_answers {
    bool looked; /* else nothing below is known yet */
    motion_search search;
    int count;            /* convex sets of motions, none within another; mostly of one motion each */
    bool continuum;       /* one of them has more than one */
    motion_point *points; /* of each set the motion that is farthest from p->answer, or far, and forces with it */
} motion_answers;

typedef struct motion_searcher {
    contact_step *step; /* the one that `p` is an island of; its memory for islands is used */
    int island;
    double work;  /* entries of tables; some 1e9 in a second */
    bool printed; /* the printed proposition is compared too */
    perp_arena *arena;
    const volatile bool *cancel; /* may be NULL */
} motion_searcher;

/* OUT_OF_MEMORY, CANCELLED. */
perp_status perp_motion_answers(const motion_problem *p, const motion_searcher *by, motion_answers *answers,
                                perp_error *error);
/* Forces that make the motion x an answer, where the modes of contacts say all; `*found` false: there are none, or it
 * is not known. OUT_OF_MEMORY. */
perp_status perp_motion_at(const motion_problem *p, const motion_searcher *by, const double *x, motion_point *point,
                           bool *found, perp_error *error);
/* Have all answers the normal forces of p->answer, to `room` (F)? False: it is not known. OUT_OF_MEMORY. */
perp_status perp_motion_normals_are_known(const motion_problem *p, const motion_searcher *by, double room, bool *known,
                                          perp_error *error);

#endif
