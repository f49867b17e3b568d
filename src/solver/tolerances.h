/* tolerances.h - the tolerances of solvers of convex problems, LCPs, MCPs and friction problems, and of lists of all
 * solutions. Each has its unit first, then what it decides and where it comes from. "A residual" is that of the problem
 * class, "a measure" that of a proof that there is no solution (problem.h); both have no unit. Lists of values that are
 * tried one after the other stand where they are tried. */
#ifndef PERP_SRC_SOLVER_TOLERANCES_H
#define PERP_SRC_SOLVER_TOLERANCES_H

/* a residual: the least that may be asked for: it is evaluated to this, relative to the scale of the problem. */
static const double FINEST_TOLERANCE = 1e-12;
/* of the slope times the length: a step has to lower the value or merit by this (Armijo's usual constant). */
static const double SUFFICIENT = 1e-4;
/* of its entry on the diagonal: a pivot below is rounding; a few roundings of what was taken off. */
static const double PIVOT_BELIEVED = 1e-15;
/* of the largest entry of an LCP's matrix: entries below are rounding of others and scale no row. */
static const double SCALING_ROUNDING = 1e-15;

/* ---- convex problems: all methods -------------------------------------------------------------------------------- */

/* a residual or measure: below it nothing is gained by going on; FINEST_TOLERANCE, for every tolerance. */
static const double CONVEX_CLEAN = 1e-12;
/* of the tolerance: a point found on an active set with less is sure; with more, rows that all but touch may be wrong.
 */
static const double ROWS_SURE = 1e-4;
/* of the stiffness, or of 1 for equations: proximal terms at the start, square root of rounding: they make a singular
 * matrix regular and cost each pass as many digits as they are large. */
static const double PROXIMAL = 1e-8;
/* of the stiffness, or of 1: their least, where they still regularise: some hundred roundings. The barrier lets rho go
 * lower. */
static const double PROXIMAL_LEAST = 1e-13, BARRIER_RHO_LEAST = 1e-14;
/* of H's largest diagonal entry: a dof with less has no stiffness to scale by. */
static const double NO_STIFFNESS = 1e-14;
/* of the diagonal: added to a block that is tested for being semidefinite; its eigenvalues may be negative by less. */
static const double SEMIDEFINITE = 1e-10;
/* of the tolerance, and its least: what careful attempts go on to where the objective is still open. */
static const double SHARPER = 1e-4, SHARPEST = 1e-13;
/* of the tolerance: what the second attempt on an equilibrated problem is asked for. */
static const double EQUILIBRATED_TIGHTER = 1e-3;
/* of the tolerance: what a warm start of cones has to reach: a point that barely meets the tolerance may be far from
 * the solution. */
static const double WARM_SURE = 1e-2;
/* a residual: attempts that all came as near and did not meet the tolerance met an ill-conditioned problem. */
static const double CAME_NEAR = 1e-3;

/* ---- convex problems: interior point, barrier -------------------------------------------------------------------- */

/* of sqrt(scale of b, scale of g): how far slacks and forces are inside at least, at a cold and at a warm start. */
static const double INSIDE_COLD = 1e-8, INSIDE_WARM = 1e-10;
/* none: the least part of the centre that a step aims at. */
static const double CENTRING_LEAST = 1e-8;
/* errors: from the first on, rows are watched and, from the second on, a polish is tried, if they are settled; below
 * the third it is if hardly any row flickers. Below the fourth there is only rounding left. */
static const double IPM_WATCH = 1e-2, IPM_POLISH = 1e-3, IPM_NEARLY = 1e-8, IPM_CLEAN = 1e-15;
/* of the error: a polish that failed is tried again below this: wrong rows, which cost as much as ten iterations, are
 * wrong in the next iteration too. */
static const double POLISH_AGAIN = 1e-3;
/* a residual: Newton's method as a polish is given up above it (or ten times the error). */
static const double POLISH_ASTRAY = 1e-3;
/* of the scales of g and b: kappa of a barrier at which every problem is easy. */
static const double BARRIER_EASY = 1e-2;

/* ---- convex problems: semismooth Newton, augmented Lagrangian ---------------------------------------------------- */

/* of 1 / gamma: the softness of rows at the start. */
static const double NEWTON_SOFT = 1e-7;
/* a residual: Newton's point with less is at rounding. */
static const double NEWTON_CLEAN = 1e-14;
/* of the mean of gamma: 1 / weight of the penalty, and the proximal term. Each pass divides what is left by SOFT. */
static const double AUGMENTED_SOFT = 1e-8, AUGMENTED_RHO = 1e-7;
/* of 1 + max |b|: what a row must be violated by to join: above rounding. */
static const double AUGMENTED_JOIN = 1e-13;
/* residuals: rounding, and with which the rows are the right ones. */
static const double AUGMENTED_CLEAN = 1e-13, AUGMENTED_SURE = 1e-12;
/* of the slope at the start: where the derivative along a step counts as zero. */
static const double AUGMENTED_SLOPE = 1e-2;

/* ---- convex problems: least multipliers, proofs ------------------------------------------------------------------ */

/* of the largest column: columns below are rounding, which holds nothing. */
static const double COLUMN_LEAST = 1e-10;
/* of the value: what rounding of its terms may hide of a fall. */
static const double VALUE_NOISE = 1e-12;
/* of the columns: damping at the start, and its least and its most. */
static const double DAMPING = 1e-9, DAMPING_LEAST = 1e-11, DAMPING_MOST = 1.0;
/* of the load: gradients below the first use the factors of the last pass again; below the second v has no more digits,
 * and y is refined. */
static const double GRADIENT_SMALL = 1e-6, GRADIENT_ROUNDING = 1e-10;
/* of the largest force over gamma: a smaller slack is none. */
static const double NO_SLACK = 1e-9;
/* of the tolerance: what least multipliers may make of a residual that was less. */
static const double LEAST_ALLOWED = 1e-2;
/* a measure: a proof, as problem.h says: PERP_SIGNIFICANT of its terms. */
static const double PROOF_GOOD = 1e-8;
/* a measure: a proof that is as good is one for points of every size. */
static const double PROOF_EXACT = 1e-13;
/* of the largest column's terms: a column that is left with less, besides PERP_CANCELLED of its own, cancels. */
static const double PROOF_COLUMN = 1e-10;
/* of the fall: a direction along which x'Hx is more rises soon, as at every usual point. */
static const double DIRECTION_BENT = 1e-2;
/* a measure: evidence with more is not worth refining. */
static const double PROOF_HOPELESS = 1e-3;
/* of the gradient, which is 1: a change of the recession problem that is less ends its rounds: rounding. */
static const double RECESSION_CHANGE = 1e-14;

/* ---- dual active set --------------------------------------------------------------------------------------------- */

/* of the largest |x_i|: refinement whose last correction is less has died out: what long double leaves of sums. */
static const double DUAL_SETTLED = 1e-12;
/* of a row's terms: a violation by less may be rounding of x, which is refined first; a slack of less is none. */
static const double DUAL_FAINT = 1e-9;
/* of the tolerance: what the rounding of x may excuse of a violation. */
static const double DUAL_NOISE = 1e-3;
/* of the lengths of the normals: a smaller rate of a multiplier is rounding, and does not block. */
static const double DUAL_NO_RATIO = 1e-11;

/* ---- LCP: Lemke's method ----------------------------------------------------------------------------------------- */

/* of the largest q (scaled to 1): candidates within it are tied. Whether a problem is solved hardly depends on it
 * (docs/performance.md). */
static const double LEMKE_TIE = 1e-9;
/* of the row's unit and q: a tie that is wider would hide rows, and q is scaled row by row. */
static const double TIE_HIDES = 1e-3;
/* of the point's scale: an updated inverse that has drifted by more is computed afresh; the plain method's, and the
 * refactored one's. */
static const double LEMKE_DRIFT = 1e-10, REFACTORED_DRIFT = 1e-12;
/* of the largest rate: smaller rates do not block. */
static const double PIVOT_LEAST = 1e-8;
/* of the largest rate: the same where else there would be a ray. */
static const double PIVOT_TINY = 1e-11;
/* of the largest rate: smaller pivots are not trusted before a refresh. */
static const double PIVOT_SMALL = 1e-6;
/* of the largest rate of the tied: smaller ones do not leave. */
static const double PIVOT_OF_TIES = 1e-4;
/* of the largest: ratios of a perturbation that differ by less are tied still. */
static const double TIE_OF_PERTURBATION = 1e-10;
/* of the first direction: beyond it a given basis is of no use. */
static const double START_ERROR = 1e-6;
/* a residual: above it a few more pivots with narrow ties may bring digits. */
static const double LEMKE_CLEAN = 1e-11;
/* none, a reciprocal condition: a basis with more gives its point six digits. */
static const double REGULAR = 1e-10;
/* of the scale of the values: added to |q| where it is the covering vector, which has to be positive. */
static const double COVERING_LEAST = 1e-3;
/* none: a smaller product's error, or sum, may not be a double. */
static const double PRODUCT_LEAST = 1e-280;
/* of the sum's terms: a sum that is as clearly positive or negative needs no exact one. */
static const double CLEAR_SIGN = 1e-6;
/* of the number: a fraction of small integers that is as near to a double is what it was before rounding. */
static const double INTEGER_ACCURACY = 1e-13;

/* of entries and of q, both scaled to about 1: elimination of free variables leaves errors of some 1e-15. An entry
 * below the first is zero; a row of zeros with a right-hand side below the second is met, above the third contradicts,
 * and in between is left to the residual to judge. */
static const double ENTRY_ZERO = 1e-10, CONSISTENT = 1e-12, CONTRADICTION = 1e-7;
/* none, a weight: how little a variable with two bounds counts as the one that an equation goes to: a covering vector
 * can only push it one way. */
static const double TWO_BOUNDS = 1e-6;

/* ---- P-matrices -------------------------------------------------------------------------------------------------- */

/* of the diagonal: the margin with which the inequality of an H-matrix holds; far above the rounding of its check. */
static const double H_MARGIN = 1e-9;
/* a relative bound of errors: a block with a larger one is computed afresh: the six levels below it may then multiply
 * the bound by 1e6 and still leave pivots of 1e-6 decided. */
static const double FRESH_ERROR = 1e-12;
/* bits: above the rounding of a logarithm, so that a bound is rounded up. */
static const double BITS_ROUNDING = 1e-9;

/* ---- MCP: Newton's method ---------------------------------------------------------------------------------------- */

/* residuals: a proximal step is solved to the second of the residual before it, and to the first at least. */
static const double PROXIMAL_STEP = 1e-3, PROXIMAL_STEP_OF_RESIDUAL = 1e-2;
/* none: the least size of F', so that shifts relative to it are not zero. */
static const double JACOBIAN_LEAST = 1e-300;
/* residuals of the linearised problem: what is asked for, and what will do, as the next linearisation corrects it. */
static const double LINEARISED = 1e-11, LINEARISED_WILL_DO = 1e-6;
/* of the step's square: the merit has to fall along a direction by this. */
static const double DESCENT = 1e-10;
/* of F': perturbations of the matrix: after a short step, after none (a first and a next try), and the least that is
 * not zero. */
static const double SHIFT_SHORT = 1e-4, SHIFT_TRY = 1e-6, SHIFT_FAILED = 1e-2, SHIFT_LEAST = 1e-9;
/* of the merit: down the gradient it has to fall by this: more than rounding. */
static const double MERIT_FALL = 1e-12;
/* of the tolerance: what moving the last digits onto bounds may make of a residual that was less. */
static const double ON_BOUNDS = 1e-2;

/* ---- all solutions: dictionaries of affine functions --------------------------------------------------------------
 */

/* of entries and values of a table whose rows have largest entries near 1: what counts as zero; far above rounding and
 * far below the tolerance of 1e-8 on solutions. */
static const double CELL_ZERO = 1e-10;
/* of the row: rounding of an entry of a dictionary that was just built. What lies between this and CELL_ZERO counts as
 * zero, but an answer that rests on it is doubtful: in M = [-1 1; -1 1 + 2e-11] the difference of the rows is what
 * makes z = (5e10, 5e10) a solution of the LCP with q = (0, -1). */
static const double ENTRY_ROUNDING = 5e-13;
/* of the terms that an entry of a table is the sum of: what is less is rounding of them and made 0. */
static const double TABLE_ROUNDING = 1e-14;
/* of the table's values: a violation that is less is too small to say that there is no point: the root of rounding,
 * about, as a pivot of 1e-8 would leave it. */
static const double VIOLATION_SURE = 1e-7;
/* of the table's values: what a dictionary that is built afresh may be off by: two digits more than CELL_ZERO, which
 * points of the old one met. */
static const double REBUILT_OFF = 1e-8;
/* of the table's values: a value that counts as zero may not move a point by more where it is made 0: the tolerance on
 * solutions. */
static const double MOVED_MOST = 1e-8;
/* of the table's entries: a basis with a smaller pivot is singular: above rounding by the number of its terms. */
static const double CELL_PIVOT_LEAST = 1e-13;
/* of the table's values: rows that stop a column within it stop it at once; above the rounding of a step of 1. */
static const double CELL_TIE = 1e-12;
/* of a corner whose largest value is 1: what is less is on a plane. Smaller than CELL_ZERO because far vertices have a
 * small t, and the numbers come from a dictionary that was just built, with errors of some 1e-15. */
static const double CORNER_ON_PLANE = 1e-11;
/* of the largest scaled q: what is less is rounding, as a cosine of a right angle leaves it. */
static const double Q_NOISE = 1e-15;

/* ---- hulls of what linear programs answer -------------------------------------------------------------------------
 */

/* of the numbers: what goes less far beyond a facet is on it, and points that are nearer are one; ten times CELL_ZERO,
 * to which the answers are known. */
static const double BEYOND_FACET = 1e-9;
/* of inequalities whose largest coefficient is 1: a generator that misses by less is on it: CELL_ZERO. */
static const double HULL_TIGHT = 1e-10;
/* of a unit vector: with less outside of a span it is no direction to look in; some other unit vector has more. */
static const double DIRECTION_LEAST = 1e-3;
/* of a unit vector: a normal with less outside of the span of others depends on them: above BEYOND_FACET by what a
 * facet of points that are near to each other is tilted by it. */
static const double NORMALS_INDEPENDENT = 1e-7;
/* of the numbers: a point outside by less is inside: ten times BEYOND_FACET, as both polyhedra are off by that. */
static const double HULL_SAME = 1e-8;
/* ---- Coulomb friction: scaled so that forces and velocities are about 1 ------------------------------------------ */

/* none: contacts with a smaller coefficient have no friction: their normal row alone is kept. */
static const double FRICTIONLESS = 1e-8;
/* of 1 in the problem's units: data below counts as that: the residual does not look at it more closely. */
static const double LITTLE_DATA = 1e-3;
/* a velocity: a slip below has no direction; rounding of its terms. */
static const double SLIP_LEAST = 1e-14;
/* none: Newton's matrix is regularised by the second times the error, at most the third (with forces that are far from
 * unique the fourth), at least the first: below it factors of a singular matrix have no digits. */
static const double FRICTION_DAMPING_LEAST = 1e-11, FRICTION_DAMPING = 1e-2, FRICTION_DAMPING_MOST = 1e-4,
                    FRICTION_DAMPING_FAR = 1e-2;
/* errors: from which on the judge is asked: it costs as much as a product, and units differ from the scaled ones. */
static const double NEWTON_JUDGED = 1e-4, IPM_JUDGED = 1e-6, SMALL_JUDGED = 1e-7;
/* a residual: the best point is near a solution. */
static const double NEWTON_NEAR_BEST = 1e-4;
/* of the residual, and the least that it counts as: what a step may leave of its equations before it is refined. */
static const double STEP_LEFT = 1e-3, STEP_SIZE_LEAST = 1e-11;
/* none: proximal terms of the interior point: they cost a step fewer digits than it is asked for. */
static const double FRICTION_PROXIMAL = 1e-10;
/* none: the least part of the centre that a step of the interior point aims at. */
static const double FRICTION_CENTRING_LEAST = 1e-6;
/* errors: of a proximal step, at rounding; and the least that contacts give way by in one. */
static const double GIVE_ROUNDING = 1e-13, GIVE_LEAST = 1e-9;
/* a length along the curve of smoothed projections: a shorter step is given up. */
static const double SMOOTH_SHORTEST = 1e-6;
/* the smoothing at which its curve ends: rounding of the projections. */
static const double SMOOTH_LAST = 1e-13;
/* a residual: of the convex problems of bodies that are held; what is left over is rho times a motion. */
static const double REST_CONVEX = 1e-9;
/* an error: the held problem is solved. */
static const double REST_SETTLED = 1e-10;
/* of the diagonal of A: a smaller pivot is one of a body that has no inertia in some direction. */
static const double SMALL_DEFINITE = 1e-12;
/* of the diagonal of W: with a smaller pivot other forces may have the same velocities. */
static const double SMALL_UNIQUE = 1e-9;
/* a force: sweeps over a few contacts that change less have settled. */
static const double SMALL_SETTLED = 1e-13;
/* of the right-hand side: what a sparse solution may leave; a matrix with more is factored in full. */
static const double SPARSE_BELIEVED = 1e-6;
/* a residual: asked for before forces of least norm: what sticks is known by the last digits. */
static const double LEAST_SHARPER = 1e-14;

/* ---- friction of compliant contacts and of equal springs: forces, inertia and speeds are about 1 ----------------- */

/* of the largest entry of a contact's a: entries beside the diagonal below are rounding of axes that were turned. */
static const double COUPLING_ROUNDING = 1e-14;
/* of the squares of forces: a merit below is rounding (1e-13 of forces). */
static const double SOFT_ROUNDING = 1e-26;
/* of the squares of forces: below it a step that no longer helps ends the method, for contacts that give way (1e-8 of
 * forces), and for springs, whose rounds correct the rest. */
static const double SOFT_NEAR = 1e-16, SPRINGS_NEAR = 1e-13;
/* of the merit before: a step that leaves more has not helped; Newton's last ones gain a factor of 1e4 and more. */
static const double SOFT_HELPS = 1e-2;
/* of an equation's response: how far it may give way: it makes the matrix regular where equations say the same. */
static const double SOFT_EQUATION = 1e-14;
/* of the weight of an unknown without inertia or stiffness: what holds it where the round began. */
static const double SPRINGS_HOLD = 1e-4;
/* of mu fn: friction that is nearer to it slides, at the start. */
static const double SPRINGS_EDGE = 1e-7;
/* of a velocity: contacts that close by more begin stuck. */
static const double SPRINGS_TOUCH = 1e-6;
/* of a force: what is held by more from round to round, without end, is falling. */
static const double SPRINGS_FALL = 1e-6;

#endif
