/* tolerances.h - every tolerance of problem. Each has its unit first, then what it decides and where it comes from.
 * Solvers judge by the same ones, so that the names have the prefix of what is shared. */
#ifndef PERP_SRC_PROBLEM_TOLERANCES_H
#define PERP_SRC_PROBLEM_TOLERANCES_H

/* of the matrix's largest entry: entries (i, j) and (j, i) that differ by less are equal, and a diagonal entry or minor
 * that is negative by less is zero; thousands of roundings, which products of a caller's matrices leave. */
static const double PERP_SYMMETRIC = 1e-12;
/* of unit + the row's constant: a solver asks for this besides its tolerance; see natural_map.h. It separates points
 * whose large terms cancel from those that solve the problem, and is not meant to be accurate. */
static const double PERP_NEAR = 1e-4;
/* of the largest entry of its row: an entry of A, C or H is known to this only; the cosine of a right angle is 6e-17.
 */
static const double PERP_DATA_ROUNDING = 0x1p-50;
/* of the absolute values of its terms: what has to vanish in a proof has to cancel to this. */
static const double PERP_CANCELLED = 1e-5;
/* of its terms and, where residuals have a unit, of its weights: what a proof has to be worth. Rows that contradict
 * each other by less are all met to the usual tolerance. */
static const double PERP_SIGNIFICANT = 1e-8;

#endif
