/* contact_kkt.h - the linear systems of contact problems: their pattern, assembly, factorisation and solution.
 *
 *     [ H + diag(d_x) + sum_i J_i' Omega_i J_i   C' ] [ x  ]   [ r_x ]
 *     [ C                                  diag(d_e) ] [ mu ] = [ r_e ]      d_x >= 0, d_e < 0
 *
 * H is block-diagonal by body or tree and semidefinite, J_i has the few columns that contact i depends on, Omega_i is
 * symmetric and semidefinite, and C has the rows that close loops. The matrix is quasidefinite: L D L' exists in any
 * order of elimination, with a D whose signs are known beforehand, and needs no pivoting. So the order is chosen for
 * sparsity alone, once for a pattern.
 *
 * A node is a block of H or a group of equations with equal columns. Nodes are eliminated by least degree (weighted by
 * size; equations only after the unknowns they bind, so that -1/d_e does not swamp what it is added to), which leaves a
 * robot's unknowns, coupled to everything, for last. Nodes with the same rows below them are joined to a supernode.
 *
 * Invariant: the places of a supernode are contiguous. Its panel is a dense matrix with `width` columns, its own rows
 * first and then those below, which come in runs: contiguous places within one further supernode. It is stored by
 * columns, each `panel_rows` long; of the own rows only the lower triangle means anything. Row r of the panel of an
 * ancestor is found by walking its runs beside ours, both being in order of place.
 */
#ifndef PERP_SRC_SOLVER_CONTACT_KKT_H
#define PERP_SRC_SOLVER_CONTACT_KKT_H

#include <perp/problem.h>

#include <stddef.h>

typedef struct perp_kkt_buffer {
    void *data;
    size_t bytes;
} perp_kkt_buffer;

/* A piece of the rows below a supernode. */
typedef struct perp_kkt_run {
    int place, length, super;
    int row; /* of the panel, where it begins */
} perp_kkt_run;

/* A piece of a contact's columns: contiguous unknowns of one node. */
typedef struct perp_kkt_segment {
    int column, length;
} perp_kkt_segment;

/* Where the product of two segments goes: columns of segment `a`, rows of segment `b`. */
typedef struct perp_kkt_target {
    int a, b;   /* segments, counted from the contact's first column */
    int offset; /* of the panel entry of their first unknowns */
    int stride; /* from a column to the next */
    int a_length, b_length;
} perp_kkt_target;

/* Contiguous unknowns among the columns of a contact, whatever their nodes. */
typedef struct perp_kkt_piece {
    int dof, length;
} perp_kkt_piece;

/* dest += A' U for matrices whose rows are contiguous. */
typedef struct perp_kkt_product {
    int rows, columns, count; /* of dest, and rows of A and U */
    const double *a, *u;
    double *dest;
    int a_stride, u_stride, stride;
} perp_kkt_product;

enum { PERP_KKT_ROWS = 24 }; /* rows of contacts, and pivots, that are taken at once */

typedef struct perp_kkt perp_kkt;

/* The same functions for different instruction sets, all with the same bits. */
typedef struct perp_kkt_kernel {
    void (*assemble)(perp_kkt *kkt, const perp_contact_qp *problem, const double *omega, const double *diagonal);
    void (*factor)(perp_kkt *kkt);
    void (*solve)(perp_kkt *kkt, double *rhs);
    void (*add_product)(const perp_kkt_product *product);
    /* out = sum_k x[k] rows_k, or out += this, for `count` rows of `columns` entries that follow each other */
    void (*combine)(int count, int columns, const double *x, const double *rows, bool add, double *out);
    /* omega = sum_k w[k] r_k r_k' of `contacts` contacts with three rows and four rays r_k, of which `squares` has the
     * products r_k r_k' */
    void (*weigh_squares)(int contacts, const double *w, const double *squares, double *omega);
    /* R J of a contact with three rows and four rays, and the transposed of this, whose rows are `stride` apart */
    void (*pack_four)(const double *rays, int columns, const double *jacobian, double *packed, double *transposed,
                      int stride);
} perp_kkt_kernel;

extern const perp_kkt_kernel perp_kkt_plain_kernel;
const perp_kkt_kernel *perp_kkt_best_kernel(void); /* for this processor */

struct perp_kkt {
    perp_allocator allocator;
    const perp_kkt_kernel *kernel;
    bool may_grow; /* else what does not fit is CAPACITY */

    int n, equalities, unknowns; /* unknowns = n + equalities */
    int node_count, block_count;
    int *node_start; /* node_count + 1, unknowns */
    int *node_of;    /* by unknown */
    int *position;   /* by unknown: its place in the order of elimination */

    int super_count;
    int *super_first;    /* super_count + 1: places */
    int *super_runs;     /* super_count + 1: runs */
    int *panel_start;    /* super_count + 1: entries */
    int *panel_rows;     /* by supernode */
    perp_kkt_run *runs;  /* of all supernodes */
    int *diagonal;       /* by unknown: its entry on the diagonal */
    int *equality_entry; /* by entry of C */

    int contact_count;
    int group_count;   /* contacts that follow each other and have the same columns */
    int *group_first;  /* group_count + 1: contacts */
    int *target_start; /* group_count + 1 */
    perp_kkt_target *targets;
    int *piece_start; /* group_count + 1 */
    perp_kkt_piece *pieces;
    int *packed_start; /* by group, in `packed`; -1: it is not there */
    double *packed;    /* a group's R J of slacks x columns, and the transposed of this */
    bool is_packed;    /* by the first set_base since the last analyse */

    int panel_length, longest_row; /* entries in all; the most rows of a panel, or columns of a contact */
    double *base;                  /* H and C */
    double *panels;                /* the matrix, then L and, on the diagonals, D */
    double *inverse;               /* by place: 1 / D */
    double *floor;                 /* by place: the diagonal as assembled, with the sign that its pivot must have */
    double *below;                 /* scratch, PERP_KKT_ROWS x longest_row: -D L' of some rows of L', or Omega J */
    double *places;                /* scratch: a vector in order of place */
    int mended;                    /* pivots that were not believed, in the last factorisation */

    perp_kkt_buffer pattern, scratch, structure, fill, numbers, products; /* memory behind all this */
    perp_kkt_buffer known_memory; /* what the pattern was made from, to be recognised again: `known_length` ints */
    size_t known_length;          /* 0: there is no pattern */
};

void perp_kkt_init(perp_kkt *kkt, const perp_allocator *allocator);
void perp_kkt_free(perp_kkt *kkt);

/* Pattern and order of elimination; nothing to do where the pattern is that of the last call. CAPACITY (or
 * OUT_OF_MEMORY, if it may grow) where memory does not suffice. */
perp_status perp_kkt_analyse(perp_kkt *kkt, const perp_contact_qp *problem, perp_error *error);

/* H (times `hessian_scale`, plus `identity` on the diagonal) and C, for the assemblies that follow; and R J of small
 * contacts, for products, unless a call since the last analyse has packed it: J and R are the same until then. */
void perp_kkt_set_base(perp_kkt *kkt, const perp_contact_qp *problem, double hessian_scale, double identity);

/* The matrix. `omega`: the Omega_i one after another, rows x rows each; `diagonal`: d_x and d_e, by unknown. */
void perp_kkt_assemble(perp_kkt *kkt, const perp_contact_qp *problem, const double *omega, const double *diagonal);

/* L D L' in place. A pivot below PIVOT_BELIEVED of its entry on the diagonal, or for an equation of what was taken off
 * from that, or of the wrong sign, is rounding: it is taken for infinite, and counted. Never fails; numbers that are
 * not finite show in the solution. */
void perp_kkt_factor(perp_kkt *kkt);

/* Overwrites the right-hand side (by unknown) by the solution. */
void perp_kkt_solve(perp_kkt *kkt, double *rhs);

/* Makes `buffer` hold `bytes`; contents are kept. */
perp_status perp_kkt_hold(perp_kkt *kkt, perp_kkt_buffer *buffer, size_t bytes);

#endif
