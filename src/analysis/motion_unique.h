/* motion_unique.h - is the motion of an island's answer the only one?
 *
 * Near the answer, and with convex laws everywhere, motion_ways.h decides. With friction other normal forces may bring
 * other motions: that there are none is known where all modes were tried (motion_answers.h) and one answer was found,
 * or where no answer can have other normal forces. That there is another one is said only with that answer at hand,
 * which meets the law by a measure of its own (perp_motion_residual). */
#ifndef PERP_SRC_ANALYSIS_MOTION_UNIQUE_H
#define PERP_SRC_ANALYSIS_MOTION_UNIQUE_H

#include "analysis/motion_answers.h"

#include <perp/analysis.h>

typedef struct island_verdict {
    perp_verdict verdict, printed;
    double margin;
    const char *why;         /* what decided; a string constant */
    const double *direction; /* n: of NOT_UNIQUE, its largest entry is 1 */
    bool both_ways;
    double length;       /* of the direction, to the second answer */
    motion_point second; /* of NOT_UNIQUE */
    double second_residual;
} island_verdict;

/* Answers that were not looked for yet are, where no cheaper proof decides. */
perp_status perp_motion_judge(const motion_problem *p, const motion_searcher *by, motion_answers *answers,
                              island_verdict *verdict, perp_error *error);

#endif
