/* tolerances.h - every tolerance of step. Each has its unit first, then what it decides and where it comes from. F and
 * L are the units of force and length of an island (contact_step.h), "the law's tolerance" is run.tolerance. */
#ifndef PERP_SRC_STEP_COMMON_TOLERANCES_H
#define PERP_SRC_STEP_COMMON_TOLERANCES_H

/* ---- what is reported; docs/models.md promises these ------------------------------------------------------------- */

/* of F: a contact with less force is open, a ray with less bears nothing; a tenth of what the law's tolerance leaves.
 */
static const double CARRIES = 1e-9;
/* of F: a balance that is missed by less is missed by rounding, which is no proof that nothing supports a body. */
static const double BALANCE_ROUNDING = 1e-10;
/* m/s: a contact that slips faster slides. Poses are known to 1e-9 m, so that slower is noise in steps of 0.1 s. */
static const double SLIPS = 1e-8;
/* of the limit: friction that is nearer to it is at its limit; a hundred times what the law's tolerance leaves. */
static const double AT_LIMIT = 1e-6;
/* of L, of the size of two bodies, or of a loop's reach: overlaps and open loops up to here are rounding of what people
 * write, and bodies as near touch. */
static const double DEEP = 1e-6;
/* m, m/s: at an instant a contact is closed, does not approach and does not slip up to here; what a pose is off by. */
static const double CLOSED = 1e-9;
/* of L: motions that differ by more are two answers, and a contact that moves by more slides; ten times what the law's
 * tolerance leaves. */
static const double TWO_MOTIONS = 1e-7;

/* ---- units of an island ------------------------------------------------------------------------------------------ */

/* m, N: the least L and F, so that what is relative to them is not relative to nothing. */
static const double LENGTH_LEAST = 1e-3, FORCE_LEAST = 1e-3;

/* ---- the step problem -------------------------------------------------------------------------------------------- */

/* of a point's velocity: a part of it that is less is rounding of the contact's axes, hundreds of roundings. */
static const double ROW_ROUNDING = 1e-13;
/* of the effort: a spring's force that is beyond it by less is at it by rounding. */
static const double EFFORT_ROUNDING = 1e-10;
/* of the law's tolerance: what solvers are asked for, so that choices among answers have room. */
static const double ASKED = 1e-3;
/* of the law's tolerance: the same of pivoting, which is exact to rounding or fails. */
static const double ASKED_OF_LCP = 1e-2;
/* of the squared lengths of rows: directions that are held by less than the root of this are free. */
static const double HELD = 1e-10;

/* ---- inertia: dynamic_drift.c ------------------------------------------------------------------------------------ */

/* of its square: a loop's row of which the others leave less says what they do. */
static const double LOOP_ROW_LEFT = 1e-12;
/* of the largest velocity: a fixed point that changes by less has settled; a few roundings. */
static const double DRIFT_SETTLED = 1e-15;

/* ---- why there is no answer: contact_step_error.c ---------------------------------------------------------------- */

/* of F: passes over the constraints that change less have settled. */
static const double FALL_SETTLED = 1e-12;
/* of L times the turn, or of a unit vector: a body that moves by less only turns. */
static const double ONLY_TURNS = 1e-6;
/* of the largest entry: entries of a direction below are rounding, and told as 0. */
static const double DIRECTION_ROUNDING = 1e-9;

/* ---- choices among answers: rigid_step_choice.c, convex_step_face.c ---------------------------------------------- */

/* of its normal part: a force that is nearer to its cone's edge is on it; ten times what the law's tolerance leaves. */
static const double ON_EDGE = 1e-7;
/* of L: smaller motions are none, and nothing is smaller than them. */
static const double AT_REST = 1e-14;
/* of L: a contact or limit that parts by less is closed, one that slips by less sticks. */
static const double MOVES = 1e-9;
/* of L: how far a direction is followed to see whether it leads to another motion. */
static const double A_LITTLE = 1e-4;

/* ---- rigid rungs ------------------------------------------------------------------------------------------------- */

/* of F: normal forces of a fixed point that change by less have settled; good enough where rounding keeps them from it.
 */
static const double FIXED_SETTLED = 1e-11, FIXED_LOOSE = 1e-9;
/* of L: a motion that changes by less from round to round has settled. */
static const double FIXED_STEADY = 1e-12;
/* of F and L: forces that are chosen for such a motion have to meet the law to this. */
static const double FIXED_LAW = 1e-12;
/* of the law's tolerance: how still motions of the springs' limit have to be. */
static const double SPRINGS_STILL = 1e-6;
/* a residual: what proofs and probes ask of the convex solver; their own margins are wider. */
static const double PROOF_ASKED = 1e-9;
/* of F and L: a proof that rests on rounding is none: some row is missed by at least this. */
static const double PROOF_GAP = 1e-7;
/* residuals: what is wanted of a point of a relaxation, and what is good enough to go on from. */
static const double RELAXED_FINE = 1e-10, RELAXED_COARSE = 1e-6;
/* of F and L: an item that violates its law by less meets it. */
static const double ITEM_MET = 1e-9;

/* ---- convex rungs ------------------------------------------------------------------------------------------------ */

/* of F and L: a point that is farther from the law is not worth another round from where it is. */
static const double SHARPEN_NEAR = 1e-5;
/* of the slip: where there is no gravity to compare with, lifts and overlaps below are none. */
static const double LIFT_OF_SLIP = 1e-3;
/* of L: overlaps that show, where steps are long. */
static const double OVERLAP_SHOWS = 1e-4;

/* ---- compliant contact ------------------------------------------------------------------------------------------- */

/* of the law's tolerance: what the solver is asked for, so that the whole settles within it. */
static const double ASKED_OF_COMPLIANT = 3e-2;
/* of the law's tolerance: an answer this good is not given another iterate. */
static const double SETTLED_WELL = 1e-2;
/* of the largest force: the least unit of forces; sums of such forces are rounded to 1e-8 of it. */
static const double STIFF_UNIT = 1e-4;
/* of the energy that there was, and of F L: less is no growth. */
static const double ENERGY_ROUNDING = 1e-12;

/* ---- answers at an instant --------------------------------------------------------------------------------------- */

/* of the units of rates and forces, or of themselves: numbers that differ by less are equal, less is none. */
static const double RATES_EQUAL = 1e-8;
/* of the unit of forces: an end of a range of forces that is farther by less is the force itself. */
static const double RANGE_ROUNDING = 1e-10;
/* of an equation's entries: a pivot below is rounding; what is left of an equation below the second is rounding, and
 * above the third it contradicts the others. */
static const double PIVOT_ROUNDING = 1e-10, EQUATION_ROUNDING = 1e-12, EQUATION_OFF = 1e-9;
/* of the unit of rates: a smaller entry is told as 0. */
static const double RATE_ROUNDING = 1e-13;
/* a residual: what the smallest rate of a set has to meet. */
static const double SMALLEST_MET = 1e-10;
/* of the motion's own time: how far differences look; truncation and rounding weigh alike. */
static const double MOTION_REACH = 2e-4;
/* of the time in which a drive changes: the same for drives. */
static const double DRIVE_REACH = 1e-3;
/* of the scene's size: how much farther contacts are looked for, so that differences find them again. */
static const double LOOK_BESIDE = 1e-2;

/* ---- warnings: run_lint.c ---------------------------------------------------------------------------------------- */

/* m^2: the least square of a joint's arm, so that a body at its axis has a stiffness. */
static const double ARM_SQUARE_LEAST = 1e-12;
/* of the share: what rounding may add to a lag that is just allowed. */
static const double LAG_ROUNDING = 1e-9;

/* of a spring's rate: what springs at their effort keep of it while the set of those at their limit is searched for, at
 * first, at least, and what becomes of it where the set is found. The answer is judged without it. */
static const double LIMIT_RATE = 1e-3, LIMIT_RATE_LEAST = 1e-12, LIMIT_RATE_FALL = 1e-2;

/* of the heaviest body's mass: what a foot counts in the smallest motion, where it follows the bodies; enough to keep
 * the metric definite. */
static const double FOOT_WEIGHT = 1e-6;

#endif
