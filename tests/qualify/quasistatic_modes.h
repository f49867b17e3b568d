/* quasistatic_modes.h - has a rigid step, or an instant, an answer at all? By trying the modes of all
 * contacts and limits, each pattern, and each set of patterns that is cut off as a whole, being refuted by Farkas. */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_MODES_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_MODES_H

#include "quasistatic_judge.h"
#include "quasistatic_law.h"

/* PROVED: there is none, with forces and motions up to 1e4 in units of F and L. DISPROVED: one was found, `distance`
 * away from meeting every row. CLOSE: neither, or there are too many contacts. Round cones are
 * taken a little wider: of them nothing is found, and what is refuted holds. */
quasistatic_finding quasistatic_judge_modes(const quasistatic_view *view, double most_work);

/* Some 1.5e8 are a second: to prove a claim, and to see that nothing is proved where there is an answer. */
static const double QUASISTATIC_MUCH_WORK = 4e8, QUASISTATIC_LITTLE_WORK = 3e7;

#endif
