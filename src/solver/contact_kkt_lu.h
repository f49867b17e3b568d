/* contact_kkt_lu.h - L U of contact systems whose weights are not symmetric, on the pattern of contact_kkt.h.
 *
 * Coulomb friction makes Omega_i unsymmetric, but not the pattern: order, supernodes and runs serve as they are. A
 * supernode has two panels of the same shape. The upper one holds rows of U by rows: its own square (L and U of that,
 * with rows exchanged for stability inside the square only) and, to the right, the columns of the runs. The lower one
 * holds minus L by columns, right of a square that is not used. The order of the supernodes is fixed, so pivots may be
 * poor: who uses the solution has to look at what it leaves.
 */
#ifndef PERP_SRC_SOLVER_CONTACT_KKT_LU_H
#define PERP_SRC_SOLVER_CONTACT_KKT_LU_H

#include "solver/contact_kkt.h"

typedef struct perp_kkt_lu {
    perp_kkt *kkt;   /* whose pattern this is; its panels become the upper ones */
    int *mirror;     /* by target: the entry where its transposed goes, in a square; -1: the same in the lower panel */
    int *pivots;     /* by place: the row of the square that it was exchanged with */
    double *base;    /* H and C, squares in full */
    double *lower;   /* panels */
    double *inverse; /* by place: 1 / U_kk */
    int mended;      /* pivots that were nothing but rounding, in the last factorisation */
    perp_kkt_buffer memory;
} perp_kkt_lu;

void perp_kkt_lu_free(perp_kkt_lu *lu);

/* After perp_kkt_analyse of `kkt` and perp_kkt_set_base. CAPACITY or OUT_OF_MEMORY as perp_kkt_hold. */
perp_status perp_kkt_lu_setup(perp_kkt_lu *lu, perp_kkt *kkt);

/* The matrix with `omega` (contacts of at most PERP_KKT_ROWS rows) and `diagonal`; overwrites kkt->panels. */
void perp_kkt_lu_assemble(perp_kkt_lu *lu, const perp_contact_qp *problem, const double *omega, const double *diagonal);
/* In place. A pivot below PIVOT_BELIEVED of its entry on the diagonal is taken for infinite, and counted. */
void perp_kkt_lu_factor(perp_kkt_lu *lu);
int perp_kkt_lu_sign(const perp_kkt_lu *lu);          /* of the determinant: 1 or -1 */
void perp_kkt_lu_solve(perp_kkt_lu *lu, double *rhs); /* by unknown, overwritten */

#endif
