/* tolerances.h - every tolerance of model. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_MODEL_TOLERANCES_H
#define PERP_SRC_MODEL_TOLERANCES_H

/* rad^2: below, the derivative of a rotation vector is a series, as the closed form is 0/0 at zero. The series' next
 * term, square^4 / 47900160, times the square is below 1e-17. */
static const double ROTATION_SERIES = 1e-2;
/* rad: a driven turn that is shorter has no axis of its own but that of the angular velocity; what is left of whole
 * turns after rounding is less. */
static const double TURN_LEAST = 1e-9;

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

/* m or rad: a command that is beyond its joint's limits by less is at them; rounding of the command. */
static const double LIMIT_AS_WRITTEN = 1e-12;
/* m: a drive that starts within this of the stated pose agrees with it, as a number written with nine decimals does. */
static const double DRIVE_AS_WRITTEN = 1e-9;
/* m: a loop that is open by more at the start is worth a warning; anchors that are written with six decimals agree. */
static const double LOOP_OPEN = 1e-6;
/* of the unit: a number that is as near to a multiple of 5 or 22.5 is one, and may be meant in degrees. */
static const double WHOLE_MULTIPLE = 1e-9;

/* ---- Levenberg-Marquardt: loops, inverse kinematics -------------------------------------------------------------- */

/* m: the least reach of a loop, as the least size of a scene (contact). */
static const double LOOP_REACH_LEAST = 1e-3;
/* of the reach: a loop's gap below the first is rounding, and iterating ends; below the second the loop is closed. */
static const double LOOP_WANTED = 1e-14, LOOP_CLOSED = 1e-10;
/* of the mean square of a row: the damping that loops start with; what a step that does as promised divides it by. */
static const double MARQUARDT_FIRST = 1e-3, MARQUARDT_DROP = 1e-3;
/* of the mean square of a row: the least damping, a few roundings. Less changes nothing in the sum it is added to. */
static const double MARQUARDT_LEAST = 1e-15;
/* none, a cosine: an error that is as near to square to every column cannot be made smaller; rounding of the cosine. */
static const double IK_STATIONARY = 1e-13;

#endif
