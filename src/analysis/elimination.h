/* elimination.h - linear equations by Gauss-Jordan elimination with complete pivoting: which unknowns they give, and by
 * which others. */
#ifndef PERP_SRC_ANALYSIS_ELIMINATION_H
#define PERP_SRC_ANALYSIS_ELIMINATION_H

#include "base/arena.h"

/* With all equations met x[pivot[i]] = -sum_j a[i * n + free_column[j]] x[free_column[j]]. */
typedef struct elimination {
    int n, rank, free_count;
    double *a;        /* the first `rank` rows are reduced */
    int *pivot;       /* rank: by reduced row, its column */
    int *free_column; /* n - rank */
    double least_kept, largest_left;
} elimination;

/* Of rows x = 0, whose largest entries are about 1 and which are overwritten: entries up to RANK_ROUNDING count as 0.
 * Memory is the arena's; false without. */
bool perp_eliminate(double *rows, int count, int n, perp_arena *arena, elimination *e);
/* x for values z of the free columns. */
void perp_elimination_spread(const elimination *e, const double *z, double *x);

#endif
