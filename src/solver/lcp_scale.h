/* lcp_scale.h - an lcp with entries near 1, which is what dictionaries work on (cell_dictionary.h). */
#ifndef PERP_SRC_SOLVER_LCP_SCALE_H
#define PERP_SRC_SOLVER_LCP_SCALE_H

#include <perp/problem.h>

#include "base/arena.h"

/* M' = R M D, q' = s R q with powers of two R, D (diagonal) and s, so that z = D z' / s and w = R^-1 w' / s: the same
 * signs and zeros. s keeps max |q'| <= 1 and does not enlarge a small q: q = 1e-15 beside M = 1 is zero. An entry of q'
 * up to 1e-15 is rounding, as a cosine of a right angle leaves, and is made zero. (The solutions for the q that was
 * given lie within a multiple of that change of those for the q taken: their set, as a function of q, is a union of
 * polyhedra, hence upper Lipschitz.) `lossy`: a larger entry of q, or any of M, that is not zero counts as zero (it is
 * below CELL_ZERO once scaled, or was left out of scaling), so that what is found may be the answer to another
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

#endif
