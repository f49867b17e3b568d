/* pmatrix_schur.h - the exact part of the P-matrix test: recursive Schur complements. */
#ifndef PERP_SRC_SOLVER_PMATRIX_SCHUR_H
#define PERP_SRC_SOLVER_PMATRIX_SCHUR_H

#include "solver/exact_minor.h"

enum { PERP_PMATRIX_SCHUR_LARGEST = 64 }; /* index sets are 64 bits */

typedef enum perp_pmatrix_schur_result {
    PERP_PMATRIX_SCHUR_POSITIVE,  /* every principal minor is positive */
    PERP_PMATRIX_SCHUR_OFFENDING, /* one is not */
    PERP_PMATRIX_SCHUR_UNDECIDED, /* too much of the work would need exact arithmetic */
    PERP_PMATRIX_SCHUR_CANCELLED,
    PERP_PMATRIX_SCHUR_OUT_OF_MEMORY
} perp_pmatrix_schur_result;

typedef struct perp_pmatrix_schur {
    int n;                  /* 3..PERP_PMATRIX_SCHUR_LARGEST */
    const double *original; /* n x n: what exact minors are taken of */
    const double *scaled;   /* n x n: the same with rows and columns scaled by powers of two; finite */
    perp_exact_minor *exact;
    const volatile bool *cancel; /* may be NULL */
    uint64_t offending;          /* result: bit i for row i */
} perp_pmatrix_schur;

perp_pmatrix_schur_result perp_pmatrix_schur_run(perp_pmatrix_schur *problem, perp_arena *arena);

#endif
