/* friction_sparse.h - the matrix B + G W of a local problem whose W has few blocks that are not zero.
 *
 * Contacts are the nodes of the pattern of contact_kkt.h, and each pair with W_ij or W_ji not zero is what couples two
 * of them; the factors are those of contact_kkt_lu.h. Their order is fixed but for rows of a supernode, so that
 * solutions are refined, and measured: a matrix that they do not serve is factored in full. */
#ifndef PERP_SRC_SOLVER_FRICTION_SPARSE_H
#define PERP_SRC_SOLVER_FRICTION_SPARSE_H

#include <perp/problem.h>

#include "solver/contact_kkt_lu.h"

/* Rows of contact i and columns of contact j. */
typedef struct perp_friction_block {
    int i, j;
    int offset, stride; /* where its first entry goes, and from a row of storage to the next */
    bool lower;         /* in the lower panels, and transposed */
} perp_friction_block;

typedef struct perp_friction_sparse {
    perp_kkt kkt;
    perp_kkt_lu lu;
    perp_kkt_buffer memory, map_memory;
    bool *coupled; /* contacts x contacts: blocks of W that are not zero */
    int contacts, m, block_count;
    const int *row_start; /* borrowed: of the scaled problem, as w */
    const double *w;      /* m x m */
    int *block_start;     /* contacts + 1 */
    perp_friction_block *blocks;
    int *dof_start, *dofs, *pair_start; /* of the pattern: pairs */
    double *values;                     /* blocks of W, nine entries apart */
    double *residual, *right;           /* m */
} perp_friction_sparse;

void perp_friction_sparse_init(perp_friction_sparse *sparse, const perp_allocator *allocator);
void perp_friction_sparse_free(perp_friction_sparse *sparse);

/* Whether it pays; borrows both arrays. CAPACITY or OUT_OF_MEMORY as perp_kkt_hold. Then, where it does, the pattern.
 */
perp_status perp_friction_sparse_look(perp_friction_sparse *sparse, int contacts, const int *row_start, const double *w,
                                      bool *suits);
perp_status perp_friction_sparse_setup(perp_friction_sparse *sparse, perp_error *error);

/* u = W r. */
void perp_friction_sparse_multiply(const perp_friction_sparse *sparse, const double *r, double *u);
/* B + G W, B and G by contact; then its solution, in place of the right-hand side; false where that is not
 * one to a relative 1e-6, and the right-hand side is as it was. */
void perp_friction_sparse_factor(perp_friction_sparse *sparse, const double *b, const double *g);
bool perp_friction_sparse_solve(perp_friction_sparse *sparse, const double *b, const double *g, double *x);

#endif
