/* tolerances.h - every tolerance of plan. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_PLAN_TOLERANCES_H
#define PERP_SRC_PLAN_TOLERANCES_H

/* of a step: a time that is so little before the end of a step means that step; t / h of a billion steps is rounded by
 * a tenth of it. */
static const double STEP_ROUNDING = 1e-6;

/* of an axis: how near a change of a refined output is found unless the sweep says otherwise; verdicts themselves are
 * rounded by about as much where a matrix is nearly singular. */
static const double CHANGE_NEAR = 1e-8;

#endif
