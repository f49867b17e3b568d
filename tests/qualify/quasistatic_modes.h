/* quasistatic_modes.h - has a rigid step, or an instant, in the plane an answer at all? By trying the modes of all
 * contacts and limits, each pattern, and each set of patterns that is cut off as a whole, being refuted by Farkas. */
#ifndef PERP_TESTS_QUALIFY_QUASISTATIC_MODES_H
#define PERP_TESTS_QUALIFY_QUASISTATIC_MODES_H

#include "quasistatic_judge.h"
#include "quasistatic_law.h"

/* PROVED: there is none, with forces and motions up to 1e4 in units of F and L. DISPROVED: one was found, `distance`
 * away from meeting every row. CLOSE: neither, or there are too many contacts, or friction in two directions. */
quasistatic_finding quasistatic_judge_modes(const quasistatic_view *view);

#endif
