/* tolerances.h - every tolerance of scene. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_SCENE_TOLERANCES_H
#define PERP_SRC_SCENE_TOLERANCES_H

/* of the entries: a matrix whose entries (i, j) and (j, i) differ by less is symmetric; and of the largest eigenvalue:
 * a least one that is negative by less is zero. Digits that a user left out make no more. */
static const double MATRIX_AS_WRITTEN = 1e-9;
/* of the largest eigenvalue, or moment: a least one within this of zero is zero: rounding of eigenvalues. */
static const double EIGENVALUE_ROUNDING = 1e-12;
/* of the largest moment: how far digits that a user left out may break a + b >= c of a flat part. */
static const double MOMENTS_AS_WRITTEN = 1e-6;
/* of its diagonal: a pivot of a mass matrix that keeps less is what rounding leaves of zero. */
static const double PIVOT_LEFT = 1e-14;
/* none: a quaternion is normalised silently if its length is off by less than the first, with a warning up to the
 * second, and refused beyond: six digits are as written, two are a mistake in a digit or another quantity. */
static const double QUATERNION_AS_WRITTEN = 1e-6, QUATERNION_WRONG = 1e-2;
/* m or rad: a command that starts within this of the joint's position agrees with it. */
static const double JOINT_AS_WRITTEN = 1e-9;
/* none: shares of a support's load that add up to less are refused: the load is divided by their sum. */
static const double SHARES_LEAST = 1e-50;
/* none: defaults of run.tolerance (on the residual of the step's own law) and compliance.gamma, as scene_yaml's keys
 * say. */
static const double RUN_TOLERANCE = 1e-8, COMPLIANCE_GAMMA = 1e-4;

#endif
