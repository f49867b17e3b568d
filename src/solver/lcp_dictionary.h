/* lcp_dictionary.h - faces of {z >= 0, w = M z + q >= 0} by the simplex method on dictionaries.
 *
 * A dictionary writes n basic variables among z_1..z_n, w_1..w_n as affine functions of the others:
 *     x_row = b_row + sum_column a_(row, column) x_column.
 * Invariants between calls: b >= 0 (the point with all columns at 0 is a vertex of the face); `tight` holds the
 * variables that are fixed at 0; a tight variable is either gone (its column was dropped) or basic in a row of zeros,
 * which means that the others imply it. So the columns left are free coordinates of the face.
 *
 * Numbers are those of a scaled problem (perp_lcp_scaled), with entries about 1: ZERO below is an absolute tolerance.
 */
#ifndef PERP_SRC_SOLVER_LCP_DICTIONARY_H
#define PERP_SRC_SOLVER_LCP_DICTIONARY_H

#include <perp/problem.h>

#include "base/arena.h"

/* What counts as zero, for variables and for entries: far above rounding (1e-16 times the growth of some dozen pivots,
 * after which a dictionary is rebuilt) and far below the tolerance of 1e-8 on solutions. */
#define PERP_LCP_ZERO 1e-10

/* Variables: z_i is i, w_i is 64 + i, the artificial one of the first phase is 63. */
enum { PERP_LCP_W = 64, PERP_LCP_ARTIFICIAL = 63 };

typedef struct perp_lcp_variables {
    uint64_t z, w;
} perp_lcp_variables;

static inline bool perp_lcp_has(perp_lcp_variables set, int variable)
{
    return ((variable < PERP_LCP_W ? set.z : set.w) >> (variable & 63) & 1U) != 0;
}

static inline void perp_lcp_add(perp_lcp_variables *set, int variable)
{
    *(variable < PERP_LCP_W ? &set->z : &set->w) |= UINT64_C(1) << (variable & 63);
}

static inline bool perp_lcp_is_subset(perp_lcp_variables a, perp_lcp_variables b)
{
    return (a.z & ~b.z) == 0 && (a.w & ~b.w) == 0;
}

/* M' = R M D, q' = s R q with powers of two R, D (diagonal) and s, so that z = D z' / s and w = R^-1 w' / s: the same
 * signs and zeros. s keeps max |q'| <= 1 and does not enlarge a small q: q = 1e-15 beside M = 1 is zero. An entry of q'
 * up to 1e-15 is rounding, as a cosine of a right angle leaves, and is made zero. (The solutions for the q that was
 * given lie within a multiple of that change of those for the q taken: their set, as a function of q, is a union of
 * polyhedra, hence upper Lipschitz.) `lossy`: a larger entry of q, or any of M, that is not zero counts as zero (it is
 * below PERP_LCP_ZERO once scaled, or was left out of scaling), so that what is found may be the answer to another
 * problem. */
typedef struct perp_lcp_scaled {
    int n;
    double *m, *q;
    int *row_exponent, *column_exponent;
    int q_exponent;
    bool lossy;
} perp_lcp_scaled;

/* Memory comes from the arena; OUT_OF_MEMORY, or BAD_INPUT if the scaled entries overflow. */
perp_status perp_lcp_scale(perp_lcp_scaled *scaled, const perp_lcp *problem, perp_arena *arena);

typedef struct perp_lcp_dictionary {
    const perp_lcp_scaled *problem;
    int columns;   /* those left */
    int pivots;    /* since it was built from the problem */
    bool doubtful; /* an entry that counted as zero, though above rounding, may have changed an answer; stays set */
    perp_lcp_variables tight;
    double *a;   /* n rows, `stride` = n + 1 apart */
    double *b;   /* n */
    int *row;    /* n: variables */
    int *column; /* n + 1: variables */
} perp_lcp_dictionary;

typedef enum perp_lcp_lp {
    PERP_LCP_LP_YES,
    PERP_LCP_LP_NO,
    PERP_LCP_LP_TROUBLE /* pivots ran out, a rebuilt dictionary disagrees, or the answer is in doubt */
} perp_lcp_lp;

/* False without memory. */
bool perp_lcp_dictionary_create(perp_lcp_dictionary *d, const perp_lcp_scaled *problem, perp_arena *arena);
void perp_lcp_dictionary_copy(perp_lcp_dictionary *to, const perp_lcp_dictionary *from);

/* A first vertex of {z >= 0, M z + q >= 0}: YES, or NO if the set is empty. */
perp_lcp_lp perp_lcp_dictionary_start(perp_lcp_dictionary *d);

/* Makes `variable` tight; NO if it is positive on the whole face. */
perp_lcp_lp perp_lcp_dictionary_fix(perp_lcp_dictionary *d, int variable);

/* Whether `variable` is positive somewhere on the face; moves to another vertex on the way. */
perp_lcp_lp perp_lcp_dictionary_can_be_positive(perp_lcp_dictionary *d, int variable);

/* The dictionary of a basis, given by the z in it and the w in it, computed from the problem with complete pivoting,
 * with the variables of `tight` dropped. YES or TROUBLE. */
perp_lcp_lp perp_lcp_dictionary_build(perp_lcp_dictionary *d, perp_lcp_variables basis, perp_lcp_variables tight);

perp_lcp_variables perp_lcp_dictionary_basis(const perp_lcp_dictionary *d);

/* The row of a basic variable, -1 for others. */
int perp_lcp_dictionary_row(const perp_lcp_dictionary *d, int variable);

#endif
