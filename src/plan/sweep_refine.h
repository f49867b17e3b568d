/* sweep_refine.h - the cases that a refined sweep adds beside its grid: where outputs change between neighbours.
 *
 * Points have whole coordinates on the finest lattice, which halves the grid's cells `levels` times. A cell whose sides
 * show a change becomes four, and its middle and the middles of its sides are computed, until only finest cells show
 * one. Then every edge of a finest cell on which an output changes is halved further, by one worker, and gives a pair
 * of cases. What comes next depends on the rows that are finished and on nothing else, so a sweep that is interrupted
 * goes on with the same cases. */
#ifndef PERP_SRC_PLAN_SWEEP_REFINE_H
#define PERP_SRC_PLAN_SWEEP_REFINE_H

#include "plan/sweep_part.h"

/* What one worker does at a time: a point, one row; or an edge on which an output changes, two rows. */
typedef struct sweep_task {
    sweep_spot spot; /* with the number of its first row; of an edge: one end of it */
    double to[2];    /* the other end */
    int output;      /* that changes; -1: a point */
} sweep_task;

typedef struct sweep_tasks {
    int count;
    sweep_task *tasks;
    int rows; /* of each task */
} sweep_tasks;

typedef struct refine_point {
    uint64_t place; /* row by row, of one plane after the other */
    int number;
} refine_point;

typedef struct refine_cell {
    int plane, i, j, size; /* its lower left corner */
    bool changes;
} refine_cell;

typedef struct sweep_refine {
    const perp_sweep *sweep;
    perp_arena *arena;
    int width, height; /* of the lattice, points */
    int point_count, point_capacity;
    refine_point *points; /* by place */
    uint64_t *kinds;      /* by number, one of each refined output */
    int kind_count, kind_capacity;
    int cell_count, cell_capacity;
    refine_cell *cells; /* that are not halved any more, so far */
    char (*marks)[12];  /* by level */
    bool edges;         /* they are listed: nothing comes after them */
} sweep_refine;

perp_status perp_sweep_refine_begin(const perp_sweep *sweep, perp_arena *arena, sweep_refine *refine,
                                    perp_error *error);
/* The next tasks, when all before are finished; none: the sweep is whole. IO, OUT_OF_MEMORY, BAD_INPUT: too many. */
perp_status perp_sweep_refine_next(sweep_refine *refine, sweep_part *part, sweep_tasks *next, perp_error *error);
/* The two rows of an edge. As perp_sweep_row. */
perp_status perp_sweep_refine_edge(const perp_sweep *sweep, const sweep_task *task, const volatile bool *cancel,
                                   byte_row rows[2], bool failed[2], perp_error *error);

#endif
