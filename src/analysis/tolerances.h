/* tolerances.h - every tolerance of analysis. Each has its unit first, then what it decides and where it comes from. */
#ifndef PERP_SRC_ANALYSIS_TOLERANCES_H
#define PERP_SRC_ANALYSIS_TOLERANCES_H

/* m/s: a contact at its limit that moves faster slides, as the rungs tell the modes. */
static const double SLIDES_FROM = 1e-8;
/* m/s, m: a contact that opens, closes or slips more slowly is still, and one with a smaller gap is touching: a tenth
 * of SLIDES_FROM, and what a pose may be off by. */
static const double STILL = 1e-9, TOUCHING = 1e-9;
/* of what it is compared with (forces, the limit, mu): so little is what the solver's tolerance leaves. */
static const double SOLVER_LEAVES = 1e-6;
/* of the change: a flip is known when it is closed in to this and the floor below. */
static const double FLIP_RESOLUTION = 1e-7;
/* of mu or fn, or of 1 where mu is zero: the floor of the same, for changes near zero. */
static const double FLIP_FLOOR = 1e-9;
/* of fn: friction that is smaller has no direction, and the contact's own tangent stands for it. */
static const double LOAD_LEAST = 1e-9;

/* ---- certificates ------------------------------------------------------------------------------------------------ */

/* of F and L: forces, gaps and slips up to the first count as none, ten times what the law's tolerance leaves; a
 * verdict that is another one where numbers up to the second count as none is borderline. */
static const double COUNTS_AS_NONE = 1e-8, MIGHT_BE_NONE = 1e-6;
/* of rows whose largest entry is 1: a pivot below is rounding of those before. */
static const double RANK_ROUNDING = 1e-9;
/* of F L / L: a row of the balance whose largest entry is less is one of zeros. */
static const double ROW_NOTHING = 1e-14;
/* of 1: the largest sum of a cone's inequalities below 1 is 0 or 1. */
static const double SUM_ROUNDING = 1e-6;
/* of F and L: what the second answer may be off the law; and how much faster than by this of its distance. */
static const double SECOND_ANSWER = 1e-8, SECOND_SLOPE = 1e-5;
/* of the displacement of a step, of the distance between two: a motion that is farther than the first from the answer,
 * and off the law by no more than the second, is one of its own and no copy of the answer with errors. */
static const double MOTION_OF_ITS_OWN = 1e-2, MOTION_ERROR = 1e-4;
/* of F: on the programs whose ends are the ranges of forces; an end that is no farther from the answer is its own. */
static const double RANGE_MEETS = 1e-10, RANGE_ENDS_HERE = 1e-8;
/* of L / F: a motion beyond that proves no bound; errors of the balance would count so much. */
static const double RANGE_STEEPEST = 1e4;
/* of L: a second answer that is nearer is not told from the first. */
static const double SECOND_LEAST = 1e-5;
/* of the same: answers that are nearer are one. */
static const double SAME_ANSWER = 1e-7;
/* of F: so far normal forces may be from the answer's and are known. */
static const double SAME_NORMALS = 1e-7;
/* of a row whose largest entry is 1: what is left of an entry whose terms cancel. */
static const double ENTRY_NOTHING = 1e-12;
/* of the same: what a row is at the answer is this, or nothing, if it is less: ten times what cells take for 0. */
static const double ROW_MEETS = 1e-9;
/* of the motion: an answer that is nearer, where none is next to it at its normal forces, is the same. A hundred times
 * the violation below which it is not sure that a polyhedron is empty. */
static const double NEAR_ANSWER = 1e-5;
/* rad: an arc of slip that is smaller is not halved again. */
static const double ARC_LEAST = 1e-7;
/* of mu fn: friction on an arc may be so much inside of its chord, so that arcs whose chord is their tangent to
 * rounding are no contradiction. */
static const double CHORD_WIDER = 1e-8;

/* of the size of the smaller body: what is no farther apart touches, in the middle of a run whose next step has force
 * there. */
static const double TOUCHES_IN_A_RUN = 1e-4;

/* ---- rigidity ---------------------------------------------------------------------------------------------------- */

/* of a row's length: what is left of it beside rows that imply it. */
static const double ROW_IMPLIED = 1e-10;
/* of the largest: a singular value, or the real part of an eigenvalue, that is no more counts as zero. */
static const double MATRIX_ROUNDING = 1e-11;
/* of an eigenvalue's magnitude: an imaginary part that rounding makes of a double real one, its root. */
static const double DOUBLE_ROOT_ROUNDING = 1e-7;
/* of the terms compared, or of the largest root: rounding decides the stability of what is closer. */
static const double STABILITY_ROUNDING = 1e-9;
/* of an entry: dampers that are so near to being in proportion to springs are. */
static const double SAME_RATIO = 1e-12;
/* of kappa_min: how near the search for it comes. */
static const double KAPPA_RESOLUTION = 1e-10;
/* of what a normal force does to its own contact: D may be off by so much. */
static const double D_ROUNDING = 1e-12;
/* contacts: so many have their P-matrix test done exactly, which takes 2^n (5 ms). */
enum { PMATRIX_MOST = 20 };

/* ---- closure ----------------------------------------------------------------------------------------------------- */

/* of the body's size: contacts with a smaller gap touch, the most that a run's own steps leave; what is nearer than the
 * second and does not count is told. */
static const double CLOSURE_TOUCHES = 1e-5, CLOSURE_NEARLY_TOUCHES = 1e-3;
/* of the largest: motions that joints leave which are less do not count. */
static const double MOTION_RANK = 1e-9;
/* of the load: how well contact forces balance it; and how much larger than it they may be for that, where no bound on
 * them is known. */
static const double BALANCE_LEFT = 1e-9, WEIGHT_MOST = 1e8;
/* of a bound on weights: a target that needs as many as that is not beyond it. */
static const double WEIGHT_ROUNDING = 1e-9;
/* of its parts: a load that is left of them is rounding. */
static const double LOAD_ROUNDING = 1e-12;
/* of its terms: a sum of curvatures, or a product of a normal and a motion, that is less is 0. */
static const double CURVATURE_ROUNDING = 1e-9;
/* of its length: what is left of a generator beside others that it depends on. */
static const double GENERATOR_DEPENDS = 1e-13;
/* of 1: a pivot below, of corners of length 1, means that they span no plane. */
static const double FACET_FLAT = 1e-14;
/* of the largest unit wrench: products of unit wrenches and directions are rounded by less. */
static const double BALL_ROUNDING = 1e-13;
/* of a unit wrench: a ball that is smaller is none, and the cross that the polytope begins with has this size. */
static const double CROSS_SIZE = 1e-11;
/* of the radius: so close the ball of round cones is known. */
static const double ROUND_BALL = 1e-6;
/* of a unit wrench: closure by less is said to be nearly none. */
static const double MARGIN_LITTLE = 1e-6;

#endif
