/* sweep_part.h - the rows of a sweep that are finished, in the order in which they were, in a file beside the result.
 *
 *   perp-sweep 1 PRINT CASES       of the sweep: its files, the version and the build
 *   3,0.25,...                     rows as in the result
 *   0,0,...
 *
 * A row is one write at the end of the file, so a program that is killed leaves whole rows and at most a piece of one
 * behind them, which is cut off when the sweep goes on. One program at a time has the file: it is locked. */
#ifndef PERP_SRC_PLAN_SWEEP_PART_H
#define PERP_SRC_PLAN_SWEEP_PART_H

#include "plan/sweep.h"

#include <sys/types.h>

typedef struct sweep_place {
    off_t at; /* -1: not finished */
    int length;
} sweep_place;

typedef struct sweep_part {
    char *path;
    perp_arena *arena;
    int descriptor; /* -1: closed */
    off_t end;
    int count;           /* rows that the sweep has, as far as it is known */
    int capacity;        /* of places: rows that were found may be of what is not known yet */
    sweep_place *places; /* by row; the arena's */
    int done, errors;
} sweep_part;

/* Opens PATH.part, with the rows that are there if `resume`, else empty. BAD_INPUT (of another sweep), IO,
 * OUT_OF_MEMORY. To be closed whatever is returned. */
perp_status perp_sweep_part_open(const perp_sweep *sweep, const char *path, bool resume, perp_arena *arena,
                                 sweep_part *part, perp_error *error);
/* Rows that the sweep has beyond those that it was opened with. OUT_OF_MEMORY. */
perp_status perp_sweep_part_expect(sweep_part *part, int more, perp_error *error);
static inline bool perp_sweep_part_has(const sweep_part *part, int number)
{
    return part->places[number].at >= 0;
}
/* A row that is there, into an empty one. IO, OUT_OF_MEMORY. */
perp_status perp_sweep_part_read(const sweep_part *part, int number, byte_row *row, perp_error *error);
/* Adds the row of a case. IO. */
perp_status perp_sweep_part_add(sweep_part *part, int index, const byte_row *row, bool failed, perp_error *error);
/* All rows in order, below the header, to PATH; the part is removed. */
perp_status perp_sweep_part_publish(const perp_sweep *sweep, sweep_part *part, const char *path, perp_error *error);
/* Only where it is this program's: opening it succeeded. */
void perp_sweep_part_remove(const sweep_part *part);
void perp_sweep_part_close(sweep_part *part);

#endif
