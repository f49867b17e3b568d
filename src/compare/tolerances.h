/* tolerances.h - every tolerance of compare. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_COMPARE_TOLERANCES_H
#define PERP_SRC_COMPARE_TOLERANCES_H

/* of the range of a quantity in both runs, of its unit: runs whose difference is no more agree. A hundred times what
 * the solvers' tolerance leaves in a step; and rounding, of what does not move at all. */
static const double AGREES = 1e-6, AGREES_AT_REST = 1e-12;
/* of the largest difference: one that is smaller by no more is as large, so that rounding does not choose the time
 * where two runs stay apart. */
static const double AS_LARGE = 1e-9;
/* of the largest difference: an assumption explains it where no more is left without it, and has a part in it where no
 * more is left. Steps an eighth as long leave an eighth of what goes with h. */
static const double EXPLAINED = 0.25, IN_PART = 0.75;
/* of the largest difference: what is more is told as having grown. */
static const double LARGER = 1.05;
/* of the largest difference: the first step that differs by more is where two runs part. */
static const double PARTS = 1e-5;

#endif
